"""A comparison in a few numbers a learner and size, for the table, the figure and the page."""

from dataclasses import dataclass
from statistics import median
from typing import Literal

from hardness.compare.both import Comparison, Exponent, exponent
from hardness.upper import Outcome

Cost = Literal["queries", "examples", "seconds"]
COSTS: tuple[Cost, ...] = ("queries", "examples", "seconds")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The runs of one learner at one size: medians over the seeds."""

    value: int
    learner: str
    solved: int
    runs: int
    queries: float
    examples: float
    seconds: float
    risk: float | None
    outcome: str  # the most frequent one

    def cost(self, name: Cost) -> float:
        """Return the median use of a resource."""
        return float(getattr(self, name))


def cells(comparison: Comparison) -> list[Cell]:
    """Summarise every learner at every size, learners in the order asked."""
    out = []
    for learner in comparison.learner_names:
        for value in comparison.values:
            runs = comparison.of(learner, value)
            risks = [r.risk.value for r in runs if r.risk is not None]
            names = [r.outcome.value for r in runs]
            out.append(
                Cell(
                    value=value,
                    learner=learner,
                    solved=sum(r.outcome is Outcome.SOLVED for r in runs),
                    runs=len(runs),
                    queries=median(r.usage.queries for r in runs),
                    examples=median(r.usage.examples for r in runs),
                    seconds=median(r.usage.seconds for r in runs),
                    risk=median(risks) if risks else None,
                    outcome=max(names, key=names.count),
                )
            )
    return out


def short_name(comparison: Comparison, learner: str) -> str:
    """Shorten a learner's canonical name to what was asked for, as "student" or "student:rate=1".

    The canonical name stays in the results.
    """
    return comparison.learners[comparison.learner_names.index(learner)]


def fits(comparison: Comparison) -> dict[tuple[str, Cost], Exponent]:
    """Fit cost against the parameter where a learner solved every run at three sizes or more."""
    out: dict[tuple[str, Cost], Exponent] = {}
    every = cells(comparison)
    for learner in comparison.learner_names:
        solved = [c for c in every if c.learner == learner and c.solved == c.runs]
        for cost in COSTS:
            found = exponent([c.value for c in solved], [c.cost(cost) for c in solved])
            if found:
                out[learner, cost] = found
    return out


def bounds(comparison: Comparison, quantity: str) -> list[int]:
    """Return a certified value at every size."""
    return [int(c.value(quantity)) for c in comparison.certificates]
