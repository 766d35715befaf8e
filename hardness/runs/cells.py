"""Runs of one kind in a few numbers: of a learner at a size, and how many solved their instance."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from statistics import median
from typing import Literal

from hardness.learners.learner import View
from hardness.runs.classes import view_of
from hardness.runs.names import Value
from hardness.runs.run import Run
from instances.errors import UsageError
from instances.spec import parse_stored

Cost = Literal["queries", "examples", "values", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "values", "seconds")
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The runs of one learner at one size.

    Queries, examples, values, seconds and the risk are medians of all runs, solved or not. enough:
    of each cost the least that a fraction of the runs stayed within, solved or not: the success
    probability that the certified bound is about.
    """

    value: Value
    learner: str
    view: View
    solved: int
    runs: int
    queries: float
    examples: float
    values: float
    seconds: float
    risk: float | None
    enough: dict[Cost, float]
    outcome: str  # the most frequent one


def cell(value: Value, runs: Sequence[Run], success: Fraction) -> Cell:
    """Summarise the runs of a learner on the instances of a spec; there is at least one."""
    risks = [r.risk for r in runs if r.risk is not None]
    names = [r.outcome.value for r in runs]
    return Cell(
        value=value,
        learner=runs[0].learner,
        view=seen(
            runs[0].learner,
            runs[0].spec,
            bool(runs[0].queries),
            bool(runs[0].membership_queries),
        ),
        solved=sum(run.solved for run in runs),
        runs=len(runs),
        queries=_median([r.queries for r in runs]),
        examples=_median([r.examples for r in runs]),
        values=_median([r.membership_queries for r in runs]),
        seconds=median(r.seconds for r in runs),
        enough={cost: enough((r.used(cost) for r in runs), success) for cost in COSTS},
        risk=median(risks) if risks else None,
        outcome=max(names, key=names.count),
    )


def seen(learner: str, spec: str, asked: bool = False, chose: bool = False) -> View:
    """Name what a learner saw of a problem, of which the family need not be installed here.

    asked, chose: whether it asked queries, or for labels of tokens of its choice.

    >>> seen("mlp", "parity:d=8,m=2"), seen("mlp", "gone:d=9")
    ('z', 'z')
    """
    try:
        family = parse_stored(spec)
    except UsageError:
        family = None
    return view_of(learner, family, asked, chose)


def _median(counts: Sequence[int]) -> float:
    """Return the median of counts: an integer where it is one."""
    found = median(counts)
    return int(found) if found == int(found) else found


def enough(costs: Iterable[float], fraction: Fraction) -> float:
    """Return the least cost that at least a fraction of the runs stayed within.

    >>> enough([5, 1, 9], Fraction(2, 3))
    5
    """
    ordered = sorted(costs)
    return ordered[math.ceil(fraction * len(ordered)) - 1]


@lru_cache(4096)
def interval(passes: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Bound the chance of passing, at 95 % where nothing else is said (Clopper, Pearson). [CP34]

    >>> [round(end, 3) for end in interval(3, 3)]
    [0.292, 1.0]
    """
    from scipy.special import betaincinv  # scipy.stats takes seconds to import

    tail = (1 - confidence) / 2
    low = betaincinv(passes, runs - passes + 1, tail) if passes else 0.0
    high = betaincinv(passes + 1, runs - passes, 1 - tail) if passes < runs else 1.0
    return float(low), float(high)
