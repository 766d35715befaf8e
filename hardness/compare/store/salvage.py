"""The rows of a damaged store that are what was written, as their digests say."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice, product
from pathlib import Path
from typing import Any

from hardness.compare.store.codec import columns, references
from hardness.compare.store.image import Image
from hardness.compare.store.names import derived
from hardness.compare.store.records import sealed
from hardness.compare.store.schema import COLUMNS, NAMES

_BY_LENGTH: dict[int, list[str]] = {}
for _table, _columns in COLUMNS.items():
    _BY_LENGTH.setdefault(len(_columns), []).append(_table)
SHOWN = {  # tables by what they are called outside
    "run": "runs",
    "certificate": "certificates",
    "whole": "wholes",
    "part": "parts",
    "figure": "figures",
    "sweep": "sweeps",
}
_MOST_WAYS = 64  # of giving names to a record whose numbers stand for several
_KEY_BYTES = 16


@dataclass(frozen=True, kw_only=True)
class Found:
    """A record that is whole: its columns after id and digest, with names as texts."""

    table: str
    content: tuple[Any, ...]

    @property
    def record(self) -> dict[str, Any]:
        """The columns by name."""
        return dict(zip(columns(self.table), self.content, strict=True))


@dataclass(kw_only=True)
class Names:
    """Which texts the numbers of names stand for; several where an older page was kept too."""

    texts: dict[str, dict[int, set[str]]] = field(
        default_factory=lambda: {table: defaultdict(set) for table in NAMES}
    )


def salvage(path: Path, rejected: dict[str, int]) -> Iterator[Found]:
    """Yield what is whole in a damaged file and its log, the same row more than once at times.

    rejected: counts, by table, what looks like a record and is not what was written.
    """
    with Image(path) as image:
        names = _names(image)
        for number, values in image.records():
            if number is None or _is_name(names, number, values):
                continue
            tables = [t for t in _BY_LENGTH.get(len(values), ()) if t not in NAMES]
            tables = [t for t in tables if _shaped(t, values)]
            for table in tables:
                content = _whole(table, values, names)
                if content is not None:
                    yield Found(table=table, content=content)
                    break
            else:
                for table in tables[:1]:
                    rejected[table] = rejected.get(table, 0) + 1


def _names(image: Image) -> Names:
    """Read the names, off their tables and off the indices, which hold them a second time."""
    found = Names()
    for number, values in image.records():
        if number is None and len(values) == 3 and isinstance(values[2], int):
            for table in NAMES:
                _keep(found, table, values[2], values[0], values[1])
        elif number is not None:
            for table in _BY_LENGTH.get(len(values), ()):
                if table in NAMES:
                    _keep(found, table, number, values[1], values[2])
    return found


def _keep(found: Names, table: str, number: int, text: Any, digest: Any) -> None:
    if not isinstance(text, str) or not isinstance(digest, bytes):
        return
    try:
        whole = sealed(table, digest, (text, *derived(table, text)))
    except (LookupError, TypeError, ValueError, AttributeError):
        return  # the text of another kind of name
    if whole:
        found.texts[table][number].add(text)


def _whole(table: str, values: list[Any], names: Names) -> tuple[Any, ...] | None:
    """Return the columns of a record with its names, or None where no digest says it is whole."""
    refers = references(table)
    content = [values[1], *values[3:]]
    places = [i for i, column in enumerate(columns(table)) if column in refers]
    choices = [names.texts[columns(table)[i]].get(content[i], ()) for i in places]
    for texts in islice(product(*choices), _MOST_WAYS):
        for i, text in zip(places, texts, strict=True):
            content[i] = text
        if sealed(table, values[2], content):
            return tuple(content)
    return None


def _is_name(names: Names, number: int, values: list[Any]) -> bool:
    tables = [t for t in _BY_LENGTH.get(len(values), ()) if t in NAMES]
    return any(values[1] in names.texts[t].get(number, ()) for t in tables)


def _shaped(table: str, values: list[Any]) -> bool:
    """Say whether a record looks like one of a table: its first column and its digest."""
    first, digest = values[1], values[2]
    if not isinstance(digest, bytes) or len(digest) != 8:
        return False
    if COLUMNS[table][1] in ("key", "whole"):
        return isinstance(first, bytes) and len(first) == _KEY_BYTES
    return isinstance(first, str)


def listed(kept: dict[str, int]) -> str:
    """Write what was kept.

    >>> listed({"runs": 2, "wholes": 1, "parts": 0}), listed({})
    ('2 runs, 1 whole', 'nothing')
    """
    some = [f"{n} {name if n > 1 else name[:-1]}" for name, n in kept.items() if n]
    return ", ".join(some) or "nothing"


def survey(path: Path) -> dict[str, int]:
    """Count what `recover` would keep, by kind."""
    keys: dict[str, set[Any]] = {table: set() for table in SHOWN}
    for found in salvage(path, {}):
        if found.table in keys:
            keys[found.table].add(found.content[: 2 if found.table == "part" else 1])
    return {SHOWN[table]: len(found) for table, found in keys.items()}
