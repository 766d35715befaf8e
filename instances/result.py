"""Results of functions of `hardness`: they print as text, and become tables and files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from instances.arguments import located
from instances.text import TableRow as TableRow
from instances.text import result_caption, result_text, save_result

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDTH = 80


class Cited(str):
    """Keys of references; LaTeX output cites those of letters and digits alone."""


class Math(str):
    """A formula as text that has a LaTeX form too; the empty text means no formula."""

    latex: str

    def __new__(cls, text: str, latex: str) -> "Math":
        """Make the text and attach its LaTeX form."""
        formula = super().__new__(cls, text)
        formula.latex = latex
        return formula

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.latex)


class Displayed(Math):
    """A formula that LaTeX displays below the table, as it is too wide for a column."""


def frame(rows: Sequence[TableRow]) -> "DataFrame":
    """Make a DataFrame of rows; a column of integers with missing entries stays integer."""
    return columns({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def columns(values: Mapping[str, Sequence[Any]]) -> "DataFrame":
    """Make a DataFrame of columns, each with a type that holds its values exactly."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(v, dtype=dtype(v)) for name, v in values.items()})


def dtype(values: Sequence[Any]) -> Any:
    """Choose a column type that holds all values exactly; None is a missing value."""
    types = set(map(type, values))
    kinds = types - {type(None)}
    if kinds == {int}:
        return "Int64" if max(map(abs, filter(None, values)), default=0) < 2**63 else object
    if kinds in ({float}, {int, float}):  # as seconds, some written 60 and some 2.5
        return "Float64"
    if kinds == {bool}:
        return "bool" if kinds == types else object
    return "str" if kinds == {str} else object


def flat(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Lay a dictionary out as one row: nested names joined by dots, lists left out.

    >>> flat({"spec": "a", "usage": {"examples": 3}, "runs": [1, 2]})
    {'spec': 'a', 'usage.examples': 3}
    """
    row: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, Mapping):
            row |= flat(value, f"{prefix}{name}.")
        elif not isinstance(value, list | tuple):
            row[prefix + name] = value
    return row


class Result:
    """The result of a function of `hardness`: a frozen record that prints as text.

    A subclass defines `to_dict` and, if its table has several rows, `_rows`; it is declared with
    `@dataclass(repr=False)`. `hardness.report.words` registers the function that writes its text.
    """

    indent: ClassVar[int | None] = 1  # of its JSON when printed; None for one line

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as a dictionary for JSON."""
        raise NotImplementedError

    def filed(self) -> dict[str, Any]:
        """Return the dictionary that files store: without fields that follow from others."""
        return self.to_dict()

    def _rows(self) -> list[TableRow]:
        """Return the rows of the result's table."""
        return [flat(self.to_dict())]

    def caption(self) -> str:
        """Return the caption of the result's table, one line; empty if there is none."""
        return result_caption(self)

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame: one row a run, a claim, or another part of the result."""
        return frame(self._rows())

    def to_json(self) -> str:
        """Write the result as the text of a JSON file."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file: the whole result as .json, or its table as .csv, .parquet, .tex or .md.

        Raises AlreadyExists for an existing file unless `force`, and UsageError for another ending.
        """
        save_result(self, Path(located("path", path)), force)

    def text(self, width: int = _WIDTH, colour: bool = False) -> str:
        """Write the text that the command prints, in lines of at most `width` characters."""
        return result_text(self, width, colour)

    def require(self) -> None:
        """Raise ToolkitError if the result is a failure; by default none is."""

    def __repr__(self) -> str:
        return self.text() or super().__repr__()  # a part without text shows its fields

    def _repr_html_(self) -> str:
        """Show the text in a notebook, with markup escaped."""
        return f'<pre style="line-height: 1.3">{escape(repr(self))}</pre>'


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Result):
    """The result of a command without a record class of its own: data, a message and a table."""

    data: dict[str, Any]
    message: str
    rows: Sequence[TableRow] = ()
    about: str = ""  # the caption of its table

    def to_dict(self) -> dict[str, Any]:
        """Return the data."""
        return self.data

    def caption(self) -> str:
        """Return the caption of the table."""
        return self.about

    def _rows(self) -> list[TableRow]:
        """Return the rows; data that only lists things by name gives one row per name."""
        if not self.rows and len(self.data) == 1:
            [listed] = self.data.values()
            if isinstance(listed, Mapping) and all(isinstance(v, Mapping) for v in listed.values()):
                return [{"name": name, **flat(entry)} for name, entry in listed.items()]
        return list(self.rows) or super()._rows()
