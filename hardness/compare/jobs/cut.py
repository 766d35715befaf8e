"""Large single jobs that are cut into parts, each a job of its own, and put together again.

Where parts begin and end belongs to the content of a job: neither workers nor clocks have a say.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Protocol

from hardness.compare.jobs.job import Job
from hardness.compare.store.rows import PartRow, WholeRow
from instances.errors import ToolkitError


class Cut(Protocol):
    """A job in parts 0 .. parts - 1."""

    kind: ClassVar[str]

    @property
    def key(self) -> str:
        """The content key of the whole job."""

    @property
    def label(self) -> str:
        """What progress is counted by."""

    @property
    def spec(self) -> str:
        """The family, in canonical form."""

    @property
    def parts(self) -> int:
        """How many parts there are."""

    def part(self, index: int) -> Job:
        """Make a part; it needs nothing but its own JSON."""

    def content(self, result: dict[str, Any]) -> bytes:
        """Turn the result of a part into what is kept of it."""

    def ends(self, content: bytes) -> bool:
        """Say whether no part after this one counts, if all before it are there too."""

    def assemble(self, parts: Iterator[PartRow]) -> WholeRow | dict[str, Any]:
        """Put together the parts, in the order of their index: a row, or the result of a job.

        It takes no more of them than it needs. Raises ToolkitError where one is missing.
        """


def settled(parts: int, ends: Mapping[int, bool]) -> bool:
    """Say whether enough parts are done: all, or all up to the first that ends the job.

    ends: by the index of those that are done, whether they end it.

    >>> settled(3, {0: False, 2: True}), settled(3, {0: False, 1: True})
    (False, True)
    """
    for index in range(parts):
        if index not in ends:
            return False
        if ends[index]:
            return True
    return True


def in_order(parts: Iterator[PartRow], whole: str) -> Iterator[bytes]:
    """Give the contents of parts 0, 1, ...; raises ToolkitError where the next is not there."""
    expected = 0
    for row in parts:
        if (row.whole, row.index) != (whole, expected):
            raise ToolkitError(
                f"part {row.index} of {row.whole} came where part {expected} of {whole} should: "
                "run the sweep again with --resume"
            )
        yield row.content
        expected += 1
    raise ToolkitError(f"part {expected} of {whole} is missing: run the sweep again with --resume")
