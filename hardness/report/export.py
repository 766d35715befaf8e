"""Tables in files and on stdout: CSV, LaTeX, Markdown, Parquet.

CSV and Parquet are for programs and have every column. LaTeX and Markdown are for readers and have
the rows that a result prints. A learner's name may be the name of any file. So texts are escaped,
and none becomes a formula of a spreadsheet, a command of LaTeX or markup.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from hardness.report.words import quotation
from instances import numbers
from instances.disk import atomic_write, refuse_existing, write_json, write_text
from instances.errors import UsageError
from instances.lazy import require_extra
from instances.result import Cited, Displayed, Math, Result, columns, dtype
from instances.text import cut, printable, shortened

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
_FOREIGN = re.compile(r"[^\x20-\u017f\u2013\u2014\u2018-\u201d]")  # characters pdfLaTeX lacks
_LONG_TEXT = 24  # a longer text that is equal in all rows may be in the caption only
_COMMA = re.compile(r",(?! )")
_UNBROKEN = re.compile(r"\b([0-9a-f]{64}|\d{20,})\b")  # a SHA-256, or a long number
_INDEX = re.compile(r"\b([A-Za-z])\\_(\w)\b(?!\.)")
_VSTAT = "max(1/t, sqrt(p(1-p)/t))", r"$\max(1/t, \sqrt{p(1-p)/t})$"  # its tolerance
_GREEK = re.compile(r"\b(tau|(?:epsilon|delta|eta)(?= = ))\b")
_FITTED = "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
_PACKAGES = {  # by the commands that need them
    "amsmath": r"\\(binom|operatorname|begin\{cases\})",
    "array": r"\\arraybackslash",
    "booktabs": r"\\toprule",
    "graphicx": r"\\resizebox",
}
_LINE, _FILLED, _EM = 72, 18, 0.5  # characters of a line, of a filled column, and ems of each
_LONG = r"(\d\.\d+)\.\.\.e(\d+) \(\d+ digits\)"  # a long number, written by its first digits
_INTEGERS = re.compile(rf"(?:\d+|{_LONG})(?:\.\.(?:\d+|{_LONG}))?")  # one, or an interval
_POWER = re.compile(r"(\d+)\^(\d+(?:\.\d+)?)")
_GROWTH = re.compile(r"([A-Za-z])\^(-?\d+\.\d+)( \[-?[\d.]+, -?[\d.]+\])?")  # and its interval
_NUMERIC = re.compile(
    r"(?:\\textless\{\})?\$?-?[\d.]+(?:\\ldots\\times10)?(?:\^\{[\d.]+\}\$)?|-"
    r"|\$(?:\\mathbf\{[\d.]+\}|[\d.]+\^\{\\dagger\})\$"
)
_MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#@]|:(?=//)|(?<=www)\.)")
_KEYS = re.compile(r"[A-Za-z0-9]+(?:, [A-Za-z0-9]+)*")


def save(result: Result, path: Path, force: bool = False) -> None:
    """Write a result in the format of the path's ending; raises UsageError, AlreadyExists."""
    form = ENDINGS.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"a table's file must end in {', '.join(ENDINGS)}, got {path}")
    write(path, form, result, force)


def write(path: Path, form: Format, result: Result, force: bool = False) -> None:
    """Write a file: the whole result as JSON, or its table; raises AlreadyExists."""
    if form == "json":
        write_json(path, result.filed(), force=force)
    elif form == "parquet":
        require_extra("pyarrow", "a table in Parquet")
        refuse_existing(path, force)
        with atomic_write(path) as draft:
            _stored(result.to_frame()).to_parquet(draft, index=False)
    else:
        write_text(path, text(form, result), force=force)


def text(form: Format, result: Result) -> str:
    """Return the table of a result in CSV, LaTeX or Markdown.

    >>> from instances.result import Answer
    >>> rows = [{"learner": "=1+1", "risk": Fraction(1, 4)}, {"learner": "a|b", "risk": None}]
    >>> answer = Answer(data={}, message="", rows=rows)
    >>> print(text("csv", answer), end="")
    learner,risk
    '=1+1,0.25
    a|b,
    >>> print(text("markdown", answer), end="")
    | learner   | risk   |
    |-----------|--------|
    | =1+1      | 1/4    |
    | a\\|b      | -      |
    """
    if form == "csv":
        written = result.to_frame().astype(object).map(lambda value: cell(_value(value)))
        return str(written.rename(columns=cell).to_csv(index=False, lineterminator="\n"))
    table = _rows(result)
    if form == "latex":
        body = "\n".join(filter(None, [_latex(table, result.caption()), quotation(result)]))
        used = [name for name, commands in _PACKAGES.items() if re.search(commands, body)]
        return f"% \\usepackage{{{','.join(used)}}}\n{body}"
    from tabulate import tabulate

    lines = [list(table), *table.map(_readable).itertuples(index=False)]
    head, *rows = [[_MARKUP.sub(r"\\\1", printable(part)) for part in line] for line in lines]
    return tabulate(rows, head, "github", disable_numparse=True) + "\n"


def cell(value: Any) -> Any:
    """Convert a value for CSV; a text that a spreadsheet would take for a formula gets a leading '.

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


def _rows(result: Result) -> "DataFrame":
    """Make a DataFrame of the rows that a result prints, with their values unchanged."""
    import pandas as pd

    return pd.DataFrame([dict(row) for row in result._rows()], dtype=object)


def _value(value: Any) -> Any:
    """Convert a value of a DataFrame to one that every file format can store."""
    import pandas as pd

    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, default=str)
    if isinstance(value, Fraction):
        return float(value)
    if pd.isna(value):
        return None
    return value.item() if hasattr(value, "item") else value


def _stored(table: "DataFrame") -> "DataFrame":
    """Convert columns of objects to one type each: text if an integer is beyond 64 bits."""
    stored = {}
    for name in table:
        values = [_value(value) for value in table[name]]
        if {type(value) for value in values} - {bool, type(None)} and dtype(values) is object:
            values = [None if value is None else str(value) for value in values]
        stored[str(name)] = values
    return columns(stored)


def _latex(table: "DataFrame", caption: str) -> str:
    """Write a tabular with the rules of booktabs, within a table if there is a caption.

    It is written by pandas, since tabulate would escape the formulas in cells. A column with the
    same long text in every row, as a spec, is left out if the caption has this text, and so are
    columns of formulas, which are displayed below. Texts are broken into several lines if the
    columns would be wider than a page.
    """
    import pandas as pd

    cells = table.map(_readable)
    first = {name: cells[name].iloc[0] for name in cells if cells[name].nunique() == 1}
    elsewhere = {n for n, part in first.items() if len(part) > _LONG_TEXT and part in caption}
    displayed = {n for n in table if any(isinstance(value, Displayed) for value in table[n])}
    # Next to displayed formulas, a column of conditions that no row has is left out too.
    elsewhere |= displayed | {n for n in table if displayed and table[n].isna().all()}
    kept = {str(n): [*map(_latex_cell, table[n], cells[n])] for n in table if n not in elsewhere}
    aligned = "".join(_aligned({n: [n, *cells[n]] for n in kept}, kept))
    written = (
        pd.DataFrame(kept, dtype="str")
        .rename(columns=_typeset)
        .to_latex(index=False, escape=False, column_format=aligned or None)
    )
    if caption:
        written = (
            f"\\begin{{table}}\n\\centering\\small\n\\caption{{{allowing_breaks(caption)}}}\n"
            f"\\smallskip\n{_FITTED}{written.rstrip()}}}\n\\end{{table}}\n"
        )
    return written


def _aligned(cells: Mapping[str, Sequence[str]], latex: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the alignment of each column: numbers right, and long texts filled if needed."""
    widths = {name: max(map(len, column)) for name, column in cells.items()}
    long = [n for n, w in widths.items() if w > _FILLED and not any("$" in v for v in latex[n])]
    room = _LINE - 2 * len(widths) - sum(w for n, w in widths.items() if n not in long)
    width = max(_FILLED, room // max(1, len(long)))
    return [
        rf">{{\raggedright\arraybackslash}}p{{{_EM * width:.1f}em}}"
        if name in long and widths[name] > width
        else "lr"[all(map(_NUMERIC.fullmatch, column))]
        for name, column in latex.items()
    ]


def allowing_breaks(text: str) -> str:
    """Write a text in LaTeX, in which specs may be broken after a comma and `code` is typewriter.

    >>> allowing_breaks("d=8,m=3 at tau = 1/10 of `tau_1.py`")
    'd=8,\\\\allowbreak m=3 at $\\\\tau$ = 1/10 of \\\\texttt{tau\\\\_1.py}'
    """
    parts = text.split("`") if text.count("`") % 2 == 0 else [text]
    for i, part in enumerate(parts):
        written = _COMMA.sub(r",\\allowbreak ", _typeset(part)) if part else ""
        if i % 2:
            parts[i] = f"\\texttt{{{written}}}"
        else:
            written = _INDEX.sub(r"$\1_\2$", _UNBROKEN.sub(_in_parts, written))
            parts[i] = _GREEK.sub(r"$\\\1$", written).replace(*_VSTAT)
    return "".join(parts)


def _in_parts(digits: re.Match[str]) -> str:
    return r"\allowbreak ".join(re.findall(".{1,16}", digits[0]))


def _latex_cell(value: Any, text: str) -> str:
    """Write a value in LaTeX; text: the value as readers see it."""
    if isinstance(value, Math):
        return f"${value.latex}$"
    cited = isinstance(value, Cited) and _KEYS.fullmatch(text)
    return f"\\cite{{{text}}}" if cited else _typeset(text)


def _typeset(text: str) -> str:
    """Write long numbers and powers as formulas, and escape the characters of LaTeX commands.

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
    """Write a value for readers on one line: "-" for None, a long number by its first digits.

    >>> _readable(None), _readable(0.123456), _readable(True), _readable(10**50)
    ('-', '0.1235', 'yes', '1.00000...e50 (51 digits)')
    """
    if value is None or value != value:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        return shortened(numbers.write(value), 20)
    return f"{value:.4g}" if isinstance(value, float) else cut(str(value), sys.maxsize)
