"""How far a learner climbed: its trials on each rung, and the rungs it holds with confidence.

A learner holds a rung where it is shown to pass on more than half of its instances. Rungs are
tested in their order, each at the same level, up to the first that is not shown: the procedure in
a fixed sequence, whose chance of any wrong claim is that of one test alone. [GS10]
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import median
from typing import Any, Literal

from hardness.oracles import Budget
from hardness.runs.run import Run
from hardness.upper import Outcome

LEVEL = Fraction(1, 20)


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """A trial that could not be run, and why: it counts as not passed."""

    spec: str
    learner: str
    seed: int
    why: str


Trial = Run | Refusal


@dataclass(frozen=True, kw_only=True)
class Trials:
    """The trials of one learner on one rung, within a budget."""

    spec: str
    budget: Budget
    trials: tuple[Trial, ...]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The trials that were run."""
        return tuple(t for t in self.trials if isinstance(t, Run))

    @property
    def solved(self) -> tuple[Run, ...]:
        """The runs that passed, in time: a cost is the cost of these."""
        return tuple(run for run in self.runs if run.solved)

    @property
    def passes(self) -> int:
        """How many trials passed."""
        return len(self.solved)

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds at 95 % on the share of instances passed (Clopper and Pearson). [CP34]"""
        from scipy.stats import binomtest

        found = binomtest(self.passes, len(self.trials)).proportion_ci(0.95, "exact")
        return float(found.low), float(found.high)

    def cost(self, resource: Literal["examples", "queries", "seconds"]) -> float | None:
        """Return the median use of a resource by the runs that passed; None where none did."""
        used = [getattr(run.usage, resource) for run in self.solved]
        return float(median(used)) if used else None

    @property
    def failures(self) -> dict[str, int]:
        """How the trials that did not pass ended, with their numbers."""
        return dict(Counter(_end(t) for t in self._failed))

    @property
    def bounds(self) -> dict[str, int]:
        """What bound the runs that did not pass, with their numbers."""
        failed = [t for t in self._failed if isinstance(t, Run)]
        return dict(Counter(run.bound for run in failed))

    @property
    def why(self) -> str | None:
        """Why a trial could not be run, of the first that could not."""
        return next((t.why for t in self.trials if isinstance(t, Refusal)), None)

    @property
    def unsupported(self) -> bool:
        """Whether the learner does not take the family, as it said in every trial."""
        return all(isinstance(t, Run) and t.outcome is Outcome.UNSUPPORTED for t in self.trials)

    @property
    def _failed(self) -> list[Trial]:
        solved = self.solved
        return [t for t in self.trials if t not in solved]

    def to_json(self) -> dict[str, Any]:
        """Write what follows from the trials, without the runs themselves."""
        return {
            "spec": self.spec,
            "trials": len(self.trials),
            "passes": self.passes,
            "interval": list(self.interval),
            "median_examples": self.cost("examples"),
            "median_queries": self.cost("queries"),
            "median_seconds": self.cost("seconds"),
            "failures": self.failures,
            "bound_by": self.bounds,
        }


@dataclass(frozen=True, kw_only=True)
class Climb:
    """The rungs that one learner tried, from the bottom, each with all of its seeds.

    asked: the learner as it was named. reference: whether it stands beside others to compare with.
    unsupported: why it does not take the family of the next rung, where that ended the climb.
    """

    learner: str
    asked: str
    reference: bool
    rungs: tuple[Trials, ...]
    unsupported: str | None = None

    @property
    def held(self) -> int:
        """The highest rung held, from 1; 0 for none: with confidence, all rungs up to it are."""
        return held([(t.passes, len(t.trials)) for t in self.rungs])

    @property
    def touched(self) -> int:
        """The highest rung with at least one pass, from 1; 0 for none."""
        return max((i for i, t in enumerate(self.rungs, 1) if t.passes), default=0)

    @property
    def climbing(self) -> bool:
        """Whether the learner goes on: it passed at least once on the last rung it tried."""
        return not self.unsupported and (not self.rungs or self.rungs[-1].passes > 0)

    def to_json(self) -> dict[str, Any]:
        """Write the summary of a climb."""
        return {
            "learner": self.learner,
            "asked": self.asked,
            "reference": self.reference,
            "held": self.held,
            "touched": self.touched,
            "unsupported": self.unsupported,
            "rungs": [t.to_json() for t in self.rungs],
        }


def needed(seeds: int) -> int | None:
    """Return how many of a rung's seeds must pass to hold it; None where all are too few.

    >>> needed(5), needed(10), needed(4)
    (5, 9, None)
    """
    return next((k for k in range(seeds + 1) if _tail(k, seeds) <= LEVEL), None)


def confidence(seeds: int) -> Fraction | None:
    """Return the exact confidence that all rungs said to be held are; None for too few seeds.

    It is 1 less the chance that a learner which passes on half of the instances is said to hold.

    >>> confidence(5), confidence(4)
    (Fraction(31, 32), None)
    """
    least = needed(seeds)
    return None if least is None else 1 - _tail(least, seeds)


def held(rungs: Sequence[tuple[int, int]]) -> int:
    """Count the rungs held from the bottom: of each, how many trials passed and how many were.

    >>> held([(5, 5), (5, 5), (4, 5), (5, 5)])
    2
    """
    count = 0
    for passes, trials in rungs:
        least = needed(trials)
        if least is None or passes < least:
            break
        count += 1
    return count


def _end(trial: Trial) -> str:
    if isinstance(trial, Refusal):
        return "not run"
    return "solved too late" if trial.passed else trial.outcome.value


def _tail(passes: int, trials: int) -> Fraction:
    """The chance of at least so many passes where each has chance 1/2, exactly."""
    return Fraction(sum(math.comb(trials, k) for k in range(passes, trials + 1)), 2**trials)
