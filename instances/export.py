"""What tables are made of: rows as DataFrames, values that LaTeX writes in its own way."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from instances.text import TableRow

if TYPE_CHECKING:
    from pandas import DataFrame


class Cited(str):
    """Keys of references, which LaTeX cites where they are letters and digits alone."""


class Math(str):
    """A formula as text, which has it in LaTeX too; an empty one is none."""

    latex: str

    def __new__(cls, text: str, latex: str) -> "Math":
        """Hold both."""
        made = super().__new__(cls, text)
        made.latex = latex
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Math, (str(self), self.latex)


def frame(rows: Sequence[TableRow]) -> "DataFrame":
    """Make a DataFrame of rows, in which integers beside nothing stay integers."""
    return columns({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def columns(values: Mapping[str, Sequence[Any]]) -> "DataFrame":
    """Make a DataFrame of columns, each of a type in which no value changes."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(v, dtype=dtype(v)) for name, v in values.items()})


def dtype(values: Sequence[Any]) -> Any:
    """Choose the type of a column of which no value changes in it; None is missing."""
    given = [value for value in values if value is not None]
    kinds = {type(value) for value in given}
    if kinds == {int}:
        return "Int64" if max(map(abs, given)) < 2**63 else object
    if kinds in ({float}, {int, float}):  # of seconds, some as 60 and some as 2.5
        return "Float64"
    if kinds == {bool}:
        return "bool" if len(given) == len(values) else object
    return "str" if kinds == {str} else object


def flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Lay a dictionary out as one row: nested names joined by dots, lists left out.

    >>> flat({"spec": "a", "usage": {"examples": 3}, "runs": [1, 2]})
    {'spec': 'a', 'usage.examples': 3}
    """
    found: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list | tuple):
            found[prefix + name] = value
    return found
