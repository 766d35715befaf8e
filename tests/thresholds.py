"""Thresholds of learners that pass from a number on, without a run."""

from types import SimpleNamespace

from hardness.oracles import Budget
from hardness.runs.curve import with_curve
from hardness.runs.least import Least, Search, Threshold, Trial, least, walk
from instances.spec import parse_stored

MOST = 4096


def from_which(spec: str, learner: str, seed: int) -> int:
    """Say from which n on a learner passes: lowdegree never."""
    return MOST if learner.startswith("lowdegree") else parse_stored(spec).d ** 2 + 7 * seed


def _done(searches):
    for i, one in enumerate(searches):
        least = from_which(one.spec, one.learner, one.seed)
        if isinstance(one, Search):
            ran = []

            def ask(n, least=least, ran=ran):
                ran.append(Trial(n, "passed" if n >= least else "failed", n))
                return ran[-1]

            walk(one, ask)
            used = sum(trial.n for trial in ran)
            yield i, Threshold(
                asked=one, tried=tuple(ran), examples=used, seconds=0.0, revisions={}, versions={},
                machine="none",
            )  # fmt: skip
        else:
            risk = min(1.0, least / (10 * one.budget.examples)) ** 2
            yield (
                i,
                SimpleNamespace(
                    risk=SimpleNamespace(value=risk), passed=one.budget.examples >= least
                ),
            )


def thresholds(over: str = "d=6,8,10,12,14", curve: bool = False, seeds: int = 9) -> Least:
    """Find them: of elimination n = d^2 + 7 seed, of lowdegree none up to the most."""
    names = ("elimination", "lowdegree")
    found = least("parity:m=2", over, names, seeds, budget=Budget(examples=MOST // 2), do=_done)
    return with_curve(found, _done) if curve else found
