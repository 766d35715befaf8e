"""How often runs of one kind solved their instances, and at which cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median

from hardness.runs.run import Run

CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Tally:
    """Runs, those that solved in time, and those that the machine ended, which say nothing.

    [low, high] is of Clopper and Pearson, at 95 %, for the chance that a run solves: low as if none
    of those that the machine ended had, high as if all had. Costs are medians of the runs that
    solved, None where none did. [CP34]
    """

    runs: int
    solved: int
    lost: int
    low: float
    high: float
    examples: float | None
    queries: float | None
    values: float | None
    seconds: float | None


def tally(runs: Sequence[Run]) -> Tally:
    """Count runs of one kind."""
    solved = [run.usage for run in runs if run.solved]
    lost = sum(run.bound == "machine" for run in runs)
    return Tally(
        runs=len(runs),
        solved=len(solved),
        lost=lost,
        low=interval(len(solved), len(runs))[0],
        high=interval(len(solved) + lost, len(runs))[1],
        examples=median(one.examples for one in solved) if solved else None,
        queries=median(one.queries for one in solved) if solved else None,
        values=median(one.values for one in solved) if solved else None,
        seconds=median(one.seconds for one in solved) if solved else None,
    )


@lru_cache(4096)
def interval(passes: int, runs: int) -> tuple[float, float]:
    """Bound the chance of passing at 95 %, after Clopper and Pearson. [CP34]

    >>> [round(end, 3) for end in interval(3, 3)]
    [0.292, 1.0]
    """
    from scipy.special import betaincinv  # scipy.stats takes seconds to import

    tail = (1 - CONFIDENCE) / 2
    low = betaincinv(passes, runs - passes + 1, tail) if passes else 0.0
    high = betaincinv(passes + 1, runs - passes, 1 - tail) if passes < runs else 1.0
    return float(low), float(high)
