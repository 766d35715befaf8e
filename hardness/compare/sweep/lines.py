"""Where the keys of a TOML text stand: the line of each, which tomllib does not keep."""

import re
import tomllib
from contextlib import suppress
from dataclasses import dataclass, field

Path = tuple[str | int, ...]  # keys, and indices of arrays from 0

_BLANK = re.compile(r"(?:[ \t\r\n]++|#[^\n]*+)*+")
_SPACE = re.compile(r"[ \t]*+")
_PART = re.compile(r"""[A-Za-z0-9_-]++|"(?:\\.|[^"\\\n])*+"|'[^'\n]*+'""")
_TEXT = re.compile(
    r'"""(?:\\.|[^\\"]|"(?!""))*+"{3,5}'
    r"|'''(?:[^']|'(?!''))*+'{3,5}"
    r'|"(?!"")(?:\\.|[^"\\\n])*+"'
    r"|'(?!'')[^'\n]*+'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]++")  # a number, a date, true or false


@dataclass(frozen=True)
class Lines:
    """The line of every key, from 1, of its first place.

    last: the key or table that was being read where the reading ended. pair: the last key that was
    given a value outside of any value, and the line where it was.
    """

    at: dict[Path, int] = field(default_factory=dict)
    last: Path = ()
    pair: tuple[Path, int] = ((), 1)

    def of(self, path: Path) -> int:
        """Return the line of a key; that of what it stands in where it has none of its own.

        >>> locate("a = 1").of(("b",))
        1
        """
        return next((self.at[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.at), 1)


def locate(text: str) -> Lines:
    """Find the line of every key, table and element of an array: (keys and indices from 0).

    For what is no TOML it gives what stands before it, and `last` names the key that holds it.
    Raises RecursionError for values nested too deep.

    >>> found = locate("[[a]]" + chr(10) + "x.y = [1, {z = 2}]" + chr(10) + "[[a]]")
    >>> found.of(("a", 0, "x", "y", 1, "z")), found.of(("a", 1))
    (2, 3)
    """
    scanner = _Scanner(text)
    with suppress(_Unreadable):  # what tomllib refused: it says why, this says where
        scanner.document()
    return Lines(scanner.at, scanner.last, scanner.pair)


class _Unreadable(Exception):
    """What stands here is not what TOML has here."""


class _Scanner:
    """Reads a text from its start, with `place` the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.line, self.counted = text, 0, 1, 0
        self.at: dict[Path, int] = {}
        self.last: Path = ()
        self.pair: tuple[Path, int] = ((), 1)
        self.indices: dict[Path, int] = {}  # of arrays of tables: the table that is open

    def document(self) -> None:
        """Read headers and pairs up to the end."""
        table: Path = ()
        self._take(_BLANK)
        while self.place < len(self.text):
            if self._next("[["):
                keys = self._key("]]")
                array = (*self._open(keys[:-1]), keys[-1])
                self.indices[array] = self.indices.get(array, -1) + 1
                table = (*array, self.indices[array])
                self._note(table)
            elif self._next("["):
                table = self._open(self._key("]"))
                self._note(table)
            else:
                path = self._named(table)
                self.pair = path, self.line
                self._value(path)
                self.last = table
            self._take(_BLANK)

    def _named(self, table: Path) -> Path:
        """Read the key of a pair up to its value."""
        path = table + self._key("=")
        self._note(path, len(table))
        return path

    def _value(self, path: Path) -> None:
        """Read a value with all that stands in it; one call a level, as deep as tomllib goes."""
        self._take(_SPACE)
        if self._next("["):
            for index in range(len(self.text)):
                self._take(_BLANK)
                if self._next("]"):
                    return
                self._note((*path, index))
                self._value((*path, index))
                self._take(_BLANK)
                self._next(",")
        elif self._next("{"):
            while True:
                self._take(_BLANK)
                if self._next("}"):
                    return
                self._value(self._named(path))
                self._take(_BLANK)
                self._next(",")
        elif self.text.startswith(('"', "'"), self.place):
            self._need(_TEXT)
        else:
            self._need(_PLAIN)

    def _key(self, end: str) -> Path:
        """Read a dotted key and what must stand behind it."""
        parts: list[str] = []
        while True:
            self._take(_SPACE)
            part = self._need(_PART)
            quoted = part[0] in "\"'"
            try:
                parts.append(tomllib.loads(f"k = {part}")["k"] if quoted else part)
            except ValueError as error:
                raise _Unreadable from error
            self._take(_SPACE)
            if self._next(end):
                return tuple(parts)
            if not self._next("."):
                raise _Unreadable

    def _open(self, keys: Path) -> Path:
        """Name the table that a header means: of an array of tables the one that is open."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            path = (*path, self.indices[path]) if path in self.indices else path
        return path

    def _note(self, path: Path, above: int = 0) -> None:
        """Note the line of a key, and of the tables above it that dots and headers make."""
        self.line += self.text.count("\n", self.counted, self.place)
        self.counted = self.place
        for length in range(above + 1, len(path) + 1):
            self.at.setdefault(path[:length], self.line)
        self.last = path

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return found[0] if found else ""

    def _need(self, pattern: re.Pattern[str]) -> str:
        taken = self._take(pattern)
        if not taken:
            raise _Unreadable
        return taken

    def _next(self, mark: str) -> bool:
        if not self.text.startswith(mark, self.place):
            return False
        self.place += len(mark)
        return True
