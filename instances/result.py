"""What the toolkit gives back: it prints in a few lines, and goes into a table, JSON or a file."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from instances.arguments import located
from instances.export import ending, flat, frame, write
from instances.text import TableRow as TableRow
from instances.text import cut, header, printable, readable, text_lines

if TYPE_CHECKING:
    from pandas import DataFrame

_WIDTH = 80
_HTML_ROWS, _HTML_CELL = 100, 300


class Result:
    """What a function of `hardness` gives back: a frozen record that prints well.

    In a notebook it shows as a table. A subclass gives `to_dict` and `_summary`, and is declared
    with `@dataclass(repr=False)`.
    """

    _words: ClassVar[str] = ""  # "module.function" that writes it for people
    _printed = 8  # rows
    indent: ClassVar[int | None] = 1  # of its JSON where it is printed; None for one line

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as a dictionary that JSON can hold."""
        raise NotImplementedError

    def _summary(self) -> tuple[str, list[TableRow]]:
        """Say what it is in one line, and what matters of it as the rows of a table."""
        raise NotImplementedError

    def _rows(self) -> list[TableRow]:
        """Give the rows of a table in a paper: those that print, unless it has a wider one."""
        return self._summary()[1]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of it: one row a run, a claim, or what else it is made of."""
        return frame(self._summary()[1])

    def to_json(self) -> str:
        """Write it as the text of a JSON file."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file: all of it as .json; as a table .csv, .parquet, .tex (LaTeX) or .md.

        Raises AlreadyExists for a file that is there, unless forced, and UsageError for a name
        that ends otherwise.
        """
        where = Path(located("path", path))
        write(where, ending(where), self.to_dict, self, force)

    def text(self, width: int = _WIDTH) -> str:
        """Write it for people, as the command prints it, in lines of a width."""
        module, _, name = self._words.rpartition(".")
        told = getattr(import_module(module), name)(self)
        return str(import_module("hardness.report.text").laid_out(told, width))

    def require(self) -> None:
        """Raise ToolkitError where what it says is a failure; most results have none."""

    def __repr__(self) -> str:
        if self._words:
            return self.text()
        title, rows = self._summary()
        return "\n".join([cut(title, _WIDTH), *text_lines(rows, self._printed)])

    def _repr_html_(self) -> str:
        """Show it in a notebook: its words, in which nothing is markup; or a table."""
        if self._words:
            return f'<pre style="line-height: 1.3">{escape(self.text())}</pre>'
        title, rows = self._summary()
        head = "".join(f"<th>{escape(printable(name))}</th>" for name in header(rows))
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(cut(readable(v), _HTML_CELL))}</td>" for v in row.values())
            + "</tr>"
            for row in rows[:_HTML_ROWS]
        )
        more = f"<p>… and {len(rows) - _HTML_ROWS} more</p>" if len(rows) > _HTML_ROWS else ""
        caption = f"<caption>{escape(cut(title, _HTML_CELL))}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


@dataclass(frozen=True, kw_only=True, repr=False)
class Answer(Result):
    """What a verb answers that is no record of its own: data, words for people, and a table."""

    data: dict[str, Any]
    told: str
    rows: Sequence[TableRow] = ()

    _words: ClassVar[str] = "instances.result.answer_words"

    def to_dict(self) -> dict[str, Any]:
        """Give the data."""
        return self.data

    def _rows(self) -> list[TableRow]:
        return list(self.rows) or [flat(self.data)]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame of the table."""
        return frame(self._rows())


def answer_words(found: Answer) -> str:
    """Write it for people."""
    return found.told
