"""Columns of a terminal: how many there are, how many a text takes, and folding it to fit.

What a line is, its writer says by a mark: a row of a table, which is not folded, or a word that is
shown in colour. Marks take no column and are never printed.
"""

import os
import re
import sys
import unicodedata

from instances.text import printable

PLAIN = 80
_LABEL = re.compile(r" *\S(?:.{0,16}?\S)?\s{2,}(?=\S)")  # "outcome  ", "           ", "layer    "
_WORD = re.compile(r"(?:`[^`]+`|\S)+")  # a command in backticks is one word
_TITLE = 5  # words
_OUTSIDE = re.compile(r" +(?![^\[\]]*\])|(?<=\u200b)")  # not within the brackets of an interval
_SOFT = "\u200b"  # where a word may be broken that fits nowhere: of no width, and never printed
ROW = "\x1f"  # begins a line that table() has fitted
_BOLD, _GOOD, _BAD, _FAINT, _END = "\x01\x02\x03\x04\x05"
_STYLES = dict(zip((_BOLD, _GOOD, _BAD, _FAINT, _END), ("1", "32", "31", "2", "0"), strict=True))
_MARKS = "".join((ROW, *_STYLES))
_UNMARKED = str.maketrans("", "", _MARKS)
_COLOURED = str.maketrans({ROW: "", **{m: f"\x1b[{code}m" for m, code in _STYLES.items()}})
_INSIDE = re.compile(r"(?<=[,:])(?=[A-Za-z])|(?<=[a-z]-)(?=[a-z])")


def screen() -> int:
    """Return the columns that stdout has: those of a terminal, 80 at least; 80 where it is none."""
    try:
        if sys.stdout.isatty():
            return max(PLAIN, os.get_terminal_size(sys.stdout.fileno()).columns)
    except (OSError, ValueError):  # closed, or a terminal that does not say
        return PLAIN
    return PLAIN


def colours() -> bool:
    """Return whether stdout is a terminal that shows colour, and the user has not said no.

    NO_COLOR set to anything and TERM=dumb say no (https://no-color.org).
    """
    return (
        sys.stdout.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM", "dumb") != "dumb"
    )


def bold(text: str) -> str:
    """Mark the header of a table."""
    return f"{_BOLD}{text}{_END}"


def good(text: str) -> str:
    """Mark a word that says that all is well: green on a terminal."""
    return f"{_GOOD}{text}{_END}"


def bad(text: str) -> str:
    """Mark a word that says that something is not: red on a terminal."""
    return f"{_BAD}{text}{_END}"


def faint(text: str) -> str:
    """Mark a word that stands where there is nothing to say: dim on a terminal."""
    return f"{_FAINT}{text}{_END}"


def laid_out(told: str, width: int, colour: bool = False) -> str:
    """Fold a text to a width; of what others wrote nothing steers the terminal.

    >>> laid_out(good("agrees"), 80), laid_out(good("agrees"), 80, colour=True)
    ('agrees', '\\x1b[32magrees\\x1b[0m')
    """
    found = folded(printable(told, "\n" + _MARKS), width)
    return found.translate(_COLOURED if colour else _UNMARKED)


def taken(text: str) -> int:
    """Return the columns that a text takes: two for wide characters, none for those that combine.

    >>> taken("risk"), taken("格子"), taken("e" + chr(0x301))
    (4, 4, 1)
    """
    text = text.translate(_UNMARKED)
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def pad(text: str, width: int, right: bool = False) -> str:
    """Fill a text with spaces to a width in columns, on its left for numbers."""
    space = " " * (width - taken(text))
    return space + text if right else text + space


def parts(cell: str) -> list[str]:
    """Split a cell where it may be broken: at spaces, but not within [low, high].

    >>> parts("d^2.1 [1.9, 2.3]")
    ['d^2.1', '[1.9, 2.3]']
    """
    return _OUTSIDE.split(cell)


def breakable(cell: str) -> str:
    """Allow breaks within the words of a cell: after a comma or colon of a spec, after a hyphen.

    >>> parts(breakable("lowdegree:degree=2,oversample=9"))[1].rstrip(chr(0x200B))
    'degree=2,'
    """
    return _INSIDE.sub(_SOFT, cell)


def fill(words: list[str], width: int, start: str = "", further: str = "") -> list[str]:
    """Put words on lines of a width, none of them broken; a word that is wider stands alone.

    >>> fill(["one", "two", "three"], 8)
    ['one two', 'three']
    """
    lines, line, empty = [], start, True
    for word in words:
        if empty:
            line, empty = line + word, False
        elif taken(line) + (not line.endswith(_SOFT)) + taken(word) <= width:
            line += word if line.endswith(_SOFT) else " " + word
        else:
            lines.append(line)
            line = further + word
    return [one.replace(_SOFT, "") for one in (*lines, line)]


def folded(text: str, width: int) -> str:
    """Fold lines that are too wide, what follows below what stands after a line's label.

    The row of a table, which table() has fitted, stays as it is, as does a word that is too wide
    by itself.

    >>> print(folded("outcome  solved: the whole interval of the risk lies below 0.05", 40))
    outcome  solved: the whole interval of
             the risk lies below 0.05
    """
    return "\n".join(_folded(line, width) for line in text.split("\n"))


def _folded(line: str, width: int) -> str:
    if ROW in line or taken(line) <= width:
        return line
    label = _LABEL.match(line)
    start = label[0] if label else line[: len(line) - len(line.lstrip())]
    rest = line[len(start) :]
    further = " " * (len(start) if label else len(start) + 2)
    words = _WORD.findall(rest)
    if len(words) <= _TITLE and any(taken(word) > width - len(further) for word in words):
        return line  # "LEARNER on SPEC, seed 0" with a long spec: in pieces it is no easier to read
    return "\n".join(fill(words, width, start, further))
