"""Thresholds of learners that pass from a number on, without a run."""

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.runs.least import Least, Search, Threshold, Trial, follow, least
from hardness.runs.run import Run
from instances.spec import parse_stored

MOST = 4096


def from_which(spec: str, learner: str, seed: int) -> int:
    """Say from which n on a learner passes: lowdegree never."""
    return MOST if learner.startswith("lowdegree") else parse_stored(spec).d ** 2 + 7 * seed


def _done(searches):
    return [*_made(searches)]


def _made(searches):
    for one in searches:
        least = from_which(one.spec, one.learner, one.seed)
        if isinstance(one, Search):
            ran = []

            def ask(n, least=least, ran=ran):
                ran.append(Trial(n, "passed" if n >= least else "failed", n))
                return ran[-1]

            (low, high, end), _ = follow(one, ask)
            yield Threshold(
                search=one, trials=tuple(ran), low=low, high=high, end=end, seconds=0.0,
                revisions={}, versions={}, machine="none",
            )  # fmt: skip
        else:
            n = one.budget.examples
            value = min(1.0, least / (10 * n)) ** 2
            high = value + (0.03 if n >= least else 0.9)
            yield Run(
                spec=one.spec, learner=one.learner, seed=one.seed, budget=one.budget,
                outcome=Outcome.EXAMPLES_SPENT, secret_recovered=None, details={}, revisions={},
                risk=value, risk_low=0.0, risk_high=high, risk_confidence=0.95, risk_examples=4096,
                examples=n, queries=0, seconds=0.0, memory=0, versions={},
                machine="none",
            )  # fmt: skip


def thresholds(over: str = "d=6,8,10,12,14", seeds: int = 9) -> Least:
    """Find them: of elimination n = d^2 + 7 seed, of lowdegree none up to the most."""
    names = ("elimination", "lowdegree")
    return least(
        "parity:m=2", over, names, seeds, budget=Budget(examples=MOST // 2), executor=_done
    )
