"""A comparison in a few numbers a learner and size, and what is certified of every size."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import TYPE_CHECKING, Literal

from hardness.oracles import Usage
from hardness.runs.certified import claims
from hardness.runs.certified import number as certified
from hardness.runs.ranges import Value
from hardness.upper.classes import view_of
from hardness.upper.learner import View
from instances.errors import UsageError
from instances.spec import parse_stored

if TYPE_CHECKING:
    from hardness.runs.comparison import Comparison

Cost = Literal["queries", "examples", "values", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "values", "seconds")
BOUNDS = ("sq-dimension", "stat-queries", "vstat-queries", "csq-queries", "information-floor")


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


def cells(comparison: "Comparison") -> list[Cell]:
    """Summarise every learner at every size where it ran, learners in the order asked."""
    out, success = [], comparison.terms.success
    for learner in comparison.learner_names:
        for value, spec in zip(comparison.values, comparison.specs, strict=True):
            runs = comparison.of(learner, value)
            if not runs:  # of a slice of a store, where not every learner ran at every size
                continue
            risks = [r.risk.value for r in runs if r.risk is not None]
            names = [r.outcome.value for r in runs]
            out.append(
                Cell(
                    value=value,
                    learner=learner,
                    view=seen(learner, spec, runs[0].usage),
                    solved=sum(run.solved for run in runs),
                    runs=len(runs),
                    queries=_median([r.usage.queries for r in runs]),
                    examples=_median([r.usage.examples for r in runs]),
                    values=_median([r.usage.values for r in runs]),
                    seconds=median(r.usage.seconds for r in runs),
                    enough={
                        cost: enough((getattr(r.usage, cost) for r in runs), success)
                        for cost in COSTS
                    },
                    risk=median(risks) if risks else None,
                    outcome=max(names, key=names.count),
                )
            )
    return out


def seen(learner: str, spec: str, usage: Usage) -> View:
    """Name what a learner saw of a problem, of which the family need not be installed here.

    >>> used = Usage(examples=9, queries=0, seconds=1.0, peak_bytes=0)
    >>> seen("mlp", "parity:d=8,m=2", used), seen("mlp", "gone:d=9", used)
    ('z', 'z')
    """
    try:
        family = parse_stored(spec)
    except UsageError:
        family = None
    return view_of(learner, family, usage)


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


def bounds(comparison: "Comparison", quantity: str) -> list[int | None]:
    """Return a certified value at every size; empty where it is not claimed of all sizes.

    None where no number of queries is enough.
    """
    if not all(claims(one, quantity) for one in comparison.certificates):
        return []
    wanted = comparison.terms.success
    return [certified(one, quantity, wanted) for one in comparison.certificates]
