"""Two learners on the same instances: an exact test of which solves more, and how risks differ.

Runs of two learners with equal spec, seed and budget share an instance; sizes are pooled. Were both
equally good, each would have solved half of the instances that one alone solved: McNemar's test
[McN47], with the exact two-sided p-value of the binomial distribution, corrected for the number of
pairs of learners [Hol79]. The mean difference of relative risks has an interval of the paired
percentile bootstrap [Efr79], which is approximate.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.oracles import Budget
from hardness.runs.run import Run
from hardness.upper import Outcome

LEVEL = 0.05
LEAST_DISCORDANT = 6  # with 5, the smallest p-value is 2^-4
LEAST_RISKS = 15  # by simulation, intervals at 95 % then cover at 92 % or more
_RESAMPLES = 1999
_AT_ONCE = 1 << 22  # resampled risks in memory

Instance = tuple[str, int, Budget]


@dataclass(frozen=True, kw_only=True)
class Paired:
    """Two learners on the instances that both ran.

    first_only, second_only: how many one solved in time and the other did not. left_out: instances
    on which the machine ended one of them, or that one does not take. p: exact and two-sided.
    p_corrected: for all pairs of learners at once. risk_difference: mean relative risk of the first
    less that of the second, over the risk_instances where both have one; risk_interval: at 95 %,
    None below `LEAST_RISKS` instances and where the difference is the same on all.
    """

    first: str
    second: str
    instances: int
    first_only: int
    second_only: int
    left_out: int
    p: float
    p_corrected: float
    risk_instances: int
    risk_difference: float | None
    risk_interval: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        """The learner shown to solve more, by the corrected p-value; else "cannot tell"."""
        if self.p_corrected > LEVEL:
            return "cannot tell"
        return self.first if self.first_only > self.second_only else self.second

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {**asdict(self), "verdict": self.verdict}


def paired(runs: Iterable[Run], about: Collection[str] | None = None) -> tuple[Paired, ...]:
    """Compare every two learners that ran on common instances; each ran once on an instance.

    about: learners of which at least one is in every pair, where not all pairs are wanted.

    >>> from hardness.runs import compare
    >>> found = compare("parity:m=2", "d=6..12", ("elimination", "trivial"), seeds=1)
    >>> [one] = paired(found.runs)
    >>> one.first_only, one.second_only, one.p, one.verdict
    (7, 0, 0.015625, 'elimination:checks=32')
    """
    by_learner: dict[str, dict[Instance, Run]] = {}
    for run in runs:
        by_learner.setdefault(run.learner, {})[run.spec, run.seed, run.budget] = run
    found = [
        _paired([(mine[key], theirs[key]) for key in mine if key in theirs])
        for (one, mine), (other, theirs) in combinations(by_learner.items(), 2)
        if mine.keys() & theirs.keys() and (about is None or {one, other} & set(about))
    ]
    corrected = holm([one.p for one in found])
    return tuple(replace(one, p_corrected=p) for one, p in zip(found, corrected, strict=True))


def _paired(pairs: Sequence[tuple[Run, Run]]) -> Paired:
    kept = [pair for pair in pairs if all(map(_says_something, pair))]
    solved = [(mine.solved, theirs.solved) for mine, theirs in kept]
    first_only, second_only = solved.count((True, False)), solved.count((False, True))
    differences = np.array([a.risk.value - b.risk.value for a, b in kept if a.risk and b.risk])
    return Paired(
        first=pairs[0][0].learner,
        second=pairs[0][1].learner,
        instances=len(kept),
        first_only=first_only,
        second_only=second_only,
        left_out=len(pairs) - len(kept),
        p=mcnemar(first_only, second_only),
        p_corrected=1.0,
        risk_instances=len(differences),
        risk_difference=float(differences.mean()) if len(differences) else None,
        risk_interval=_interval(differences),
    )


def _says_something(run: Run) -> bool:
    """Whether a run tells of its learner: the machine did not end it, and the family is taken."""
    return run.bound != "machine" and run.outcome is not Outcome.UNSUPPORTED


def mcnemar(first_only: int, second_only: int) -> float:
    """Return the exact two-sided p-value of instances that one learner alone solved. [McN47]

    Equals statsmodels' `mcnemar(..., exact=True)`.

    >>> mcnemar(5, 0), mcnemar(6, 0), mcnemar(0, 0)
    (0.0625, 0.03125, 1.0)
    """
    from scipy.special import bdtr

    fewer, both = min(first_only, second_only), first_only + second_only
    return min(1.0, 2 * float(bdtr(fewer, both, 0.5)))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number: each holds whatever the others are. [Hol79]

    >>> holm([0.01, 0.5, 0.02]), holm([])
    ([0.03, 0.5, 0.04], [])
    """
    corrected, least = [1.0] * len(p_values), 0.0
    for turn, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        least = max(least, min(1.0, (len(p_values) - turn) * p_values[place]))
        corrected[place] = least
    return corrected


def _interval(differences: NDArray[np.float64]) -> tuple[float, float] | None:
    """Bound the mean difference at 95 % by the paired percentile bootstrap. [Efr79]

    Equals `scipy.stats.bootstrap` of the pairs with the same generator.
    """
    count = len(differences)
    if count < LEAST_RISKS or np.ptp(differences) == 0:
        return None
    rng, block = np.random.default_rng(0), max(1, _AT_ONCE // count)
    blocks = [min(block, _RESAMPLES - start) for start in range(0, _RESAMPLES, block)]
    means = [differences[rng.integers(count, size=(n, count))].mean(axis=1) for n in blocks]
    low, high = np.quantile(np.concatenate(means), [LEVEL / 2, 1 - LEVEL / 2])
    return float(low), float(high)
