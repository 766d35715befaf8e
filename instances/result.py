"""What functions of `hardness` give back: it prints in words, and goes into a table or a file."""

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
        return type(self), (str(self), self.latex)


class Displayed(Math):
    """A formula that LaTeX displays below the table, as it is too wide for a column."""


def frame(rows: Sequence[TableRow]) -> "DataFrame":
    """Make a DataFrame of rows, in which integers beside nothing stay integers."""
    return columns({name: [row[name] for row in rows] for name in (rows[0] if rows else ())})


def columns(values: Mapping[str, Sequence[Any]]) -> "DataFrame":
    """Make a DataFrame of columns, each of a type in which no value changes."""
    import pandas as pd

    return pd.DataFrame({name: pd.Series(v, dtype=dtype(v)) for name, v in values.items()})


def dtype(values: Sequence[Any]) -> Any:
    """Choose the type of a column of which no value changes in it; None is missing."""
    every = set(map(type, values))
    kinds = every - {type(None)}
    if kinds == {int}:
        return "Int64" if max(map(abs, filter(None, values)), default=0) < 2**63 else object
    if kinds in ({float}, {int, float}):  # of seconds, some as 60 and some as 2.5
        return "Float64"
    if kinds == {bool}:
        return "bool" if kinds == every else object
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
    """What a function of `hardness` gives back: a frozen record that prints well.

    A subclass gives `to_dict` and, if it has more than one row, `_rows`; it is declared with
    `@dataclass(repr=False)`. `hardness.report.words` has the function that writes it for people.
    """

    indent: ClassVar[int | None] = 1  # of its JSON where it is printed; None for one line

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as a dictionary that JSON can hold."""
        raise NotImplementedError

    def filed(self) -> dict[str, Any]:
        """Give what its files hold: all of it, less what follows from the rest."""
        return self.to_dict()

    def _rows(self) -> list[TableRow]:
        """Give the rows of a table in a paper."""
        return [flat(self.to_dict())]

    def caption(self) -> str:
        """Say in one line what its table in a paper holds; empty where there is nothing to say."""
        return result_caption(self)

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of it: one row a run, a claim, or what else it is made of."""
        return frame(self._rows())

    def to_json(self) -> str:
        """Write it as the text of a JSON file."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file: all of it as .json; as a table .csv, .parquet, .tex (LaTeX) or .md.

        Raises AlreadyExists for a file that is there, unless forced, and UsageError for a name
        that ends otherwise.
        """
        save_result(self, Path(located("path", path)), force)

    def text(self, width: int = _WIDTH, colour: bool = False) -> str:
        """Write it for people, as the command prints it, in lines of a width."""
        return result_text(self, width, colour)

    def require(self) -> None:
        """Raise ToolkitError where what it says is a failure; most results have none."""

    def __repr__(self) -> str:
        return self.text() or super().__repr__()  # a part: its fields

    def _repr_html_(self) -> str:
        """Show it in a notebook: its words, in which nothing is markup."""
        return f'<pre style="line-height: 1.3">{escape(repr(self))}</pre>'


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Result):
    """What a verb answers that is no record of its own: data, words for people, and a table."""

    data: dict[str, Any]
    told: str
    rows: Sequence[TableRow] = ()
    about: str = ""  # the caption of its table

    def to_dict(self) -> dict[str, Any]:
        """Give the data."""
        return self.data

    def caption(self) -> str:
        """Give what it is about."""
        return self.about

    def _rows(self) -> list[TableRow]:
        """Give the rows; of data that lists things by name, and nothing else, one each."""
        if not self.rows and len(self.data) == 1:
            [listed] = self.data.values()
            if isinstance(listed, Mapping) and all(isinstance(v, Mapping) for v in listed.values()):
                return [{"name": name, **flat(one)} for name, one in listed.items()]
        return list(self.rows) or super()._rows()
