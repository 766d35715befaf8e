"""Jobs that were cut: their parts in any order, put together when enough of them are there."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hardness.compare.jobs import Job
from hardness.compare.store.rows import PartRow, Row
from hardness.compare.sweep.strands import Known
from hardness.compare.sweep.tally import Tally


class Cut(Protocol):
    """A job in parts, each a job of its own; what they give is put together in their order."""

    key: str
    label: str
    parts: int

    def part(self, index: int) -> Job:
        """Return one part."""

    def content(self, result: dict[str, Any]) -> bytes:
        """Pack what a part gave, for the store."""

    def settled(self, parts: dict[int, bytes]) -> bool:
        """Say whether no part is needed beyond these."""

    def assemble(self, parts: Iterator[PartRow]) -> Row:
        """Put the parts together, read one at a time."""


class CutStrand:
    """The parts of one job that was cut."""

    def __init__(
        self,
        cut: Cut,
        known: Known,
        tally: Tally,
        parts: Callable[[str], Iterator[PartRow]],
    ) -> None:
        """Begin with the parts that were kept; parts(key) reads them from the store."""
        self._cut, self._parts = cut, parts
        self.wanted = known.begin(cut.key)
        kept = parts(cut.key) if self.wanted else iter(())
        self._have = {part.index: cut.mark(part.content) for part in kept}
        done = len(self._have) if self.wanted else cut.parts
        tally.plan(cut.label, cut.parts, done=done)
        self._tally, self._next = tally, 0
        self.failed = False

    def next(self) -> Job | None:
        """Return the next part that is not there."""
        while self.wanted and not self.failed and self._next < self._cut.parts:
            index, self._next = self._next, self._next + 1
            if index not in self._have:
                return self._cut.part(index)
        return None
