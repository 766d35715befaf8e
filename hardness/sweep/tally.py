"""Counting a sweep: what is planned, done and failed by label, and how long the rest will take."""

from collections import Counter
from dataclasses import dataclass

_PATIENCE = 2.0  # seconds that an estimate may be late


@dataclass(frozen=True, kw_only=True)
class Progress:
    """A sweep at a moment: jobs by label (a learner, or the kind of what is computed)."""

    planned: dict[str, int]
    done: dict[str, int]
    failed: dict[str, int]
    elapsed: float  # seconds
    remaining: float | None  # seconds, estimated; None while nothing is known

    @property
    def total(self) -> int:
        """All jobs."""
        return sum(self.planned.values())

    @property
    def finished(self) -> int:
        """Those that are done, failed ones with them."""
        return sum(self.done.values())


class Tally:
    """Counts jobs, and means of their seconds.

    >>> tally = Tally(slots=2)
    >>> tally.plan("a", 6, done=2); tally.add("a", 1.5)
    >>> tally.at(2.0).done, tally.at(2.0).remaining
    ({'a': 3}, 2.25)
    """

    def __init__(self, slots: int) -> None:
        """Start with nothing; slots: jobs at once."""
        self.slots = slots
        self._planned: Counter[str] = Counter()
        self._done: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._seconds: Counter[str] = Counter()
        self._timed: Counter[str] = Counter()

    def plan(self, label: str, count: int, done: int = 0, failed: int = 0) -> None:
        """Count jobs that are planned, those of them done before, and those that failed then.

        Below 0: undo.
        """
        self._planned[label] += count
        self._done[label] += done
        self._failed[label] += failed

    def add(self, label: str, seconds: float, failed: bool = False) -> None:
        """Count a job that was done now."""
        self._done[label] += 1
        self._failed[label] += failed
        self._seconds[label] += seconds  # type: ignore[assignment]
        self._timed[label] += 1

    def mean(self, label: str) -> float | None:
        """Mean seconds of a job of a label, of any where none of it was timed; None without any."""
        timed = self._timed[label]
        if timed:
            return self._seconds[label] / timed
        total = sum(self._timed.values())
        return sum(self._seconds.values()) / total if total else None

    def at(self, elapsed: float, quiet: float = 0.0) -> Progress:
        """Sum up. quiet: seconds since a job ended; more than is left means that means mislead.

        >>> tally = Tally(slots=1)
        >>> tally.plan("gram", 2); tally.add("gram", 0.5)
        >>> tally.at(1.0, quiet=0.1).remaining, tally.at(9.0, quiet=8.5).remaining
        (0.5, None)
        """
        missing = {label: n - self._done[label] for label, n in self._planned.items()}
        each = {label: self.mean(label) for label, n in missing.items() if n > 0}
        left = sum(missing[label] * mean for label, mean in each.items() if mean is not None)
        left /= self.slots
        known = None not in each.values() and (not each or quiet <= left + _PATIENCE)
        return Progress(
            planned=dict(self._planned),
            done={label: self._done[label] for label in self._planned},
            failed={label: n for label, n in self._failed.items() if n},
            elapsed=elapsed,
            remaining=left if known else None,
        )
