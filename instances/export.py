"""Tables in files and on stdout: CSV, LaTeX, Markdown, Parquet.

CSV and Parquet are for programs and hold every column. LaTeX and Markdown are for readers: the
rows that a result prints. Names of learners are names of files, so anybody's: none is a formula
of a spreadsheet, a command of LaTeX or markup.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from instances import numbers
from instances.errors import UsageError
from instances.text import TableRow, header, printable, shortened

if TYPE_CHECKING:
    from pandas import DataFrame

Format = Literal["json", "csv", "latex", "markdown", "parquet"]
FORMATS: tuple[Format, ...] = get_args(Format)
ENDINGS = dict(zip((".json", ".csv", ".tex", ".md", ".parquet"), FORMATS, strict=True))
# A byte-order mark and the wide forms of signs begin a formula in some spreadsheets.
_FORMULA = (*"=+-@\t\r\n", "\ufeff", *"\uff1d\uff0b\uff0d\uff20")
_RATIONAL = re.compile(r"[+-]?\d+(?:/\d+)?")
_LATEX = str.maketrans(
    {c: f"\\{c}" for c in "{}$&%#_"}
    | {"\\": r"\textbackslash ", "~": r"\textasciitilde ", "^": r"\textasciicircum "}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\u2265": r"$\geq$"}
    | {"\u221e": r"$\infty$", "\u2020": r"$\dagger$"}
    | {"\u2264": r"$\leq$", "\u2212": "$-$", "\u2026": r"\ldots{}", "\u2192": r"$\to$"}
)
_FOREIGN = re.compile(r"[^\x20-\u017f\u2013\u2014\u2018-\u201d]")  # what pdfLaTeX has no letters of
_LONG_TEXT = 24  # characters of a text that may stand in the caption alone
_COMMA = re.compile(r",(?! )")
_GREEK = re.compile(r"\b(tau|(?:epsilon|delta|eta)(?= = ))\b")
_FITTED = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
_LONG = r"(\d\.\d+)\.\.\.e(\d+) \(\d+ digits\)"  # first digits, cut: the dots say so
_INTEGERS = re.compile(rf"(?:\d+|{_LONG})(?:\.\.(?:\d+|{_LONG}))?")  # one, or an interval
_POWER = re.compile(r"(\d+)\^(\d+(?:\.\d+)?)")
_GROWTH = re.compile(r"([A-Za-z])\^(-?\d+\.\d+)( \[-?[\d.]+, -?[\d.]+\])?")  # and its interval
_NUMERIC = re.compile(
    r"(?:\\textless\{\})?\$?-?[\d.]+(?:\\ldots\\times10)?(?:\^\{[\d.]+\}\$)?|-"
    r"|\$(?:\\mathbf\{[\d.]+\}|[\d.]+\^\{\\dagger\})\$"
)
_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#@]|:(?=//)|(?<=www)\.)")
_KEYS = re.compile(r"[A-Za-z0-9]+(?:, [A-Za-z0-9]+)*")


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


Table = Any  # rows, or a result: what has `_rows` for readers, and `to_frame` for programs


def ending(path: Path) -> Format:
    """Return the format that the name of a file says; raises UsageError.

    >>> ending(Path("table.tex"))
    'latex'
    """
    found = ENDINGS.get(path.suffix.lower())
    if found is None:
        raise UsageError(f"{path} given: end its name in {', '.join(ENDINGS)}")
    return found


def form_of(path: Path) -> Format | None:
    """Return the format that the name of a file says, None for another name."""
    return ENDINGS.get(path.suffix.lower())


def write(
    path: Path, form: Format, data: Callable[[], dict[str, Any]], table: Table, force: bool = False
) -> None:
    """Write a result as a file: its dictionary as JSON, its table else; raises AlreadyExists."""
    from instances.disk import beside, refuse_existing, write_json, write_text

    if form == "json":
        write_json(path, data(), force=force)
    elif form == "parquet":
        from instances.lazy import require_extra

        require_extra("pyarrow", "a table in Parquet")
        refuse_existing(path, force)
        with beside(path) as draft:
            _stored(_frame_of(table)).to_parquet(draft, index=False)
    else:
        write_text(path, text(form, table), force=force)


def text(form: Format, table: Table) -> str:
    """Write a table as text in one of the formats that are text.

    >>> print(text("csv", [{"learner": "=1+1", "risk": Fraction(1, 4)}]), end="")
    learner,risk
    '=1+1,0.25
    >>> print(text("markdown", [{"learner": "a|b", "risk": None}]), end="")
    | learner | risk |
    | --- | --- |
    | a\\|b | - |
    """
    if form == "csv":
        return _csv(_frame_of(table))
    rows = list(table if isinstance(table, Sequence) else table._rows())
    if form == "latex":
        return _latex(rows, "" if isinstance(table, Sequence) else table.caption())
    lines = [header(rows), ["---"] * len(header(rows)), *_cells(rows)]
    escaped = ([_MARKUP.sub(r"\\\1", printable(one)) for one in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in escaped)


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


def cell(value: Any) -> Any:
    """Write a value for CSV: a text that a spreadsheet takes for a formula begins with '.

    >>> cell("=1+1.py:Mine"), cell("-1/7"), cell(-1.5), cell(None), cell(True)
    ("'=1+1.py:Mine", '-1/7', -1.5, '', 'true')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.startswith(_FORMULA) and not _RATIONAL.fullmatch(value):
        return f"'{value}"
    return value


def _frame_of(table: Table) -> "DataFrame":
    return frame(table) if isinstance(table, Sequence) else table.to_frame()


def _value(value: Any) -> Any:
    """Give a value of a DataFrame as one that any file holds."""
    import pandas as pd

    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str)
    if isinstance(value, Fraction):
        return float(value)
    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _stored(found: "DataFrame") -> "DataFrame":
    """Give columns of objects one type each: text where an integer is beyond 64 bits."""
    stored = {}
    for name in found:
        values = [_value(value) for value in found[name]]
        if {type(value) for value in values} - {bool, type(None)} and dtype(values) is object:
            values = [None if value is None else str(value) for value in values]
        stored[str(name)] = values
    return columns(stored)


def _csv(found: "DataFrame") -> str:
    written = found.astype(object).map(lambda value: cell(_value(value)))
    return str(written.rename(columns=cell).to_csv(index=False, lineterminator="\n"))


def _latex(rows: Sequence[TableRow], caption: str) -> str:
    """Write a tabular with the rules of booktabs, in a table where it has a caption.

    A long text that is the same in every row, as a spec, and stands in the caption is left out.
    """
    import pandas as pd

    cells = _cells(rows)
    same = [len(line[0]) > _LONG_TEXT and {*line} <= {line[0]} for line in zip(*cells, strict=True)]
    kept = [i for i, one in enumerate(same) if not (one and cells[0][i] in caption)]
    lines = [
        [
            f"${values[i].latex}$"
            if isinstance(values[i], Math)
            else f"\\cite{{{line[i]}}}"
            if isinstance(values[i], Cited) and _KEYS.fullmatch(line[i])
            else _typeset(line[i])
            for i in kept
        ]
        for line, values in zip(cells, (list(row.values()) for row in rows), strict=True)
    ]
    names = header(rows)
    table = pd.DataFrame(lines, columns=[_typeset(names[i]) for i in kept], dtype="str")
    aligned = "".join(
        "r" if all(map(_NUMERIC.fullmatch, column)) else "l" for column in zip(*lines, strict=True)
    )
    found = table.to_latex(index=False, escape=False, column_format=aligned or None)
    if not caption:
        return f"% \\usepackage{{booktabs}}\n{found}"
    said = _GREEK.sub(r"$\\\1$", _COMMA.sub(r",\\allowbreak ", _typeset(caption)))
    return (
        f"% \\usepackage{{booktabs,graphicx}}\n\\begin{{table}}\n\\centering\\small\n"
        f"\\caption{{{said}}}\n{_FITTED}{found.rstrip()}}}\n\\end{{table}}\n"
    )


def _typeset(text: str) -> str:
    """Write a number's first digits and a power in formulas; escape what LaTeX reads as a command.

    >>> _typeset("1.55098...e43 (44 digits)"), _typeset("2^20.9")
    ('$1.55098\\\\ldots\\\\times10^{43}$', '$2^{20.9}$')
    >>> _typeset("a_1"), _typeset("[3cm]x.py:f")
    ('a\\\\_1', '{}[3cm]x.py:f')
    """
    if _INTEGERS.fullmatch(text):
        return re.sub(_LONG, r"$\1\\ldots\\times10^{\2}$", text)
    if power := _POWER.fullmatch(text):
        return f"${power[1]}^{{{power[2]}}}$"
    if law := _GROWTH.fullmatch(text):
        return f"${law[1]}^{{{law[2]}}}${law[3] or ''}"
    escaped = _FOREIGN.sub("?", printable(text).translate(_LATEX))
    return f"{{}}{escaped}" if escaped.startswith(("[", "*")) else escaped  # `\\` takes arguments


def _readable(value: Any) -> str:
    """Write a value for a reader: - for nothing, a long number by its first digits.

    >>> _readable(None), _readable(0.123456), _readable(True), _readable(10**50)
    ('-', '0.1235', 'yes', '1.00000...e50 (51 digits)')
    """
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return shortened(numbers.write(value), 20)
    return f"{value:.4g}" if isinstance(value, float) else printable(str(value))


def _cells(rows: Sequence[TableRow]) -> list[list[str]]:
    return [[" ".join(_readable(value).split("\n")) for value in row.values()] for row in rows]
