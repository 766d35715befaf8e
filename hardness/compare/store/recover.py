"""A damaged store recovered to a new one: every row that is what was written."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hardness.compare.store import codec
from hardness.compare.store.check import check
from hardness.compare.store.conflict import Conflict
from hardness.compare.store.draft import new_store
from hardness.compare.store.merge import latest, merge
from hardness.compare.store.reader import read
from hardness.compare.store.rows import FigureRow, RunRow, SweepRow
from hardness.compare.store.salvage import SHOWN, Found, salvage
from hardness.compare.store.writer import Writer
from instances.disk import refuse_existing
from instances.errors import DamagedFile, ToolkitError

_BATCH = 2000


@dataclass(frozen=True, kw_only=True)
class Recovered:
    """What was recovered and what was not, by kind; damaged: False where nothing was wrong.

    newer: what is to be said of a store of a version that this one does not read.
    rejected: what looked like a record and is not what was written; what lies on pages that are
    gone is in no count.
    """

    damaged: bool
    kept: dict[str, int]
    rejected: dict[str, int] = field(default_factory=dict)
    newer: str = ""

    def to_json(self) -> dict[str, Any]:
        """Write it."""
        return {"damaged": self.damaged, "kept": self.kept, "rejected": self.rejected}


def recover(path: Path, out: Path) -> Recovered:
    """Write what is whole in a damaged store to a new one; raises DamagedFile if that is nothing.

    A store in which nothing is wrong is copied.
    """
    refuse_existing(out)
    if _sound(path):
        merge(path, (), out)
        return Recovered(damaged=False, kept=_counted(out))
    newer, rejected = _newer(path), dict[str, int]()
    with new_store(out) as writer:
        _Rows(writer).take(path, rejected)
        if all(writer.tables.count(table) == 0 for table in SHOWN):
            raise DamagedFile(f"{path} holds nothing of a store: no row of it is what was written")
    named = {SHOWN.get(table, table): n for table, n in sorted(rejected.items())}
    return Recovered(damaged=True, kept=_counted(out), rejected=named, newer=newer)


def _sound(path: Path) -> bool:
    try:
        return check(path) is None
    except ToolkitError:
        return False


def _newer(path: Path) -> str:
    """Say that a store says it is of a newer version; nothing where it does not."""
    try:
        with read(path):
            return ""
    except DamagedFile:
        return ""
    except ToolkitError as error:
        return str(error)


def _counted(out: Path) -> dict[str, int]:
    with read(out) as store:
        found = store.summary()
    return {name: found[name] for name in SHOWN.values()}


class _Rows:
    """Takes rows as they are found, in any order, and the same one more than once."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.batch: list[RunRow] = []
        self.wholes: dict[bytes, tuple[Any, ...]] = {}
        self.figures: dict[str, tuple[FigureRow, float]] = {}
        self.sweeps: dict[str, SweepRow] = {}

    def take(self, path: Path, rejected: dict[str, int]) -> None:
        """Take all that is whole in a file."""
        take: dict[str, Callable[[Found], None]] = {
            "run": self._run,
            "whole": self._whole,
            "figure": self._figure,
            "sweep": self._sweep,
        }
        for found in salvage(path, rejected):
            take.get(found.table, self._plain)(found)
        self._flush()
        with self.writer.tables.transaction():
            lost = Counter(not self._put(key, whole) for key, whole in self.wholes.items())
            self.writer.tables.drop_orphans()
        if lost[True]:
            rejected["whole"] = rejected.get("whole", 0) + lost[True]
        latest(self.writer, self.figures.values(), self.sweeps.values())

    def _run(self, found: Found) -> None:
        self.batch.append(codec.to_run(found.record))
        if len(self.batch) == _BATCH:
            self._flush()

    def _flush(self) -> None:
        try:
            self.writer.write(self.batch)
        except Conflict:  # of an older page: the others of the batch are to stand
            for row in self.batch:
                self._one(row)
        self.batch = []

    def _one(self, row: RunRow) -> None:
        try:
            self.writer.write([row])
        except Conflict:
            return  # the newer page was read first

    def _whole(self, found: Found) -> None:
        self.wholes.setdefault(found.content[0], found.content)

    def _put(self, key: bytes, whole: tuple[Any, ...]) -> bool:
        names = json.loads(whole[codec.columns("whole").index("arrays")])
        there = self.writer.tables.array_names(key)
        if not set(names) <= there:
            return False
        self.writer.tables.replace("whole", whole)
        return True

    def _plain(self, found: Found) -> None:
        keys = 2 if found.table in ("part", "array") else 1
        with self.writer.tables.transaction():
            self.writer.tables.replace(found.table, found.content, keys)

    def _figure(self, found: Found) -> None:
        written = found.record["written"]
        figure = codec.to_figure(found.record)
        if figure.name not in self.figures or self.figures[figure.name][1] < written:
            self.figures[figure.name] = figure, written

    def _sweep(self, found: Found) -> None:
        sweep = codec.to_sweep(found.record)
        if sweep.sha256 not in self.sweeps or self.sweeps[sweep.sha256].updated < sweep.updated:
            self.sweeps[sweep.sha256] = sweep
