"""The staged learner: Chen and Li's stages, which recover all heads of a layer. [CL24]

In the practical mode eigenvectors stand where the paper has a convex body. The projection, the
polish and the count of heads under noise are outside of its theorem.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hardness.learners.learner import SPENT, Hypothesis, Outcome, View, nothing
from hardness.learners.staged.diagnosis import diagnose
from hardness.learners.staged.paper import paper, refusal
from hardness.learners.staged.practical import SEVERAL_D, StagedPlan, forecast, practical
from hardness.learners.staged.runner import Runner, StageReport
from hardness.learners.staged.supply import Supply
from hardness.oracles import ExampleOracle, Spent
from instances.dense import Dense
from instances.family import Family, require

LARGEST_D = 256  # one head: 5 GiB, and six minutes
_SOLVED = 0.05  # held-out errors below it, with their uncertainty, are for the judge
MODES = {"practical": practical, "paper": paper}


@dataclass(frozen=True, kw_only=True)
class Staged:
    """Runs the stages in a mode; heads=0 and examples=0 are found out, polish=0 does without.

    mode: practical, the form that works best, with eigenvectors in place of the convex body and a
    polish that is no part of the theorem; or paper, the body itself (no polish at all).

    >>> from hardness.oracles import Budget, Meter
    >>> from instances import parse
    >>> oracle = ExampleOracle(parse("nice:m=1,k=2,d=8").instance(0), Meter(Budget()))
    >>> hypothesis = Staged().learn(oracle, np.random.default_rng(0))
    >>> hypothesis.details["heads"], hypothesis.details["error"] < 1e-15
    (1, True)
    """

    name: ClassVar[str] = "staged"
    revision: ClassVar[int] = 4
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "Chen and Li's stages with eigenvectors and a polish"

    mode: str = "practical"
    heads: int = 0
    examples: int = 0
    polish: int = 100

    def __post_init__(self) -> None:
        require(self.mode in MODES, f"mode={self.mode} given: {' or '.join(MODES)}")
        for name in ("heads", "examples", "polish"):
            value = getattr(self, name)
            require(value >= 0, f"{name}={value} given: it must be at least 0")

    def supports(self, family: Family) -> str | None:
        """All but linear attention: one head up to d=256, several to d=128; mode paper to d=16."""
        if family.kind == "linear":
            return "its stages are for softmax attention; `lifted` learns linear attention"
        if family.rows:
            return (
                "its stages read the labels of all tokens, and these are of the first alone: "
                "levenberg:heads=2 fits a layer to such"
            )
        if self.mode == "paper":
            return refusal(family.d, self.heads)
        most = SEVERAL_D if self.heads > 1 else LARGEST_D
        if family.d > most:
            return (
                f"d={family.d} is too large: examples grow as d^2 and seconds as d^4, so d is at "
                f"most {LARGEST_D} for one head and {SEVERAL_D} for several; `student` goes further"
            )
        return None

    def forecast(self, family: Family) -> str | None:
        """Say in a line what a run takes, where that is over a minute."""
        return forecast(family.k, family.d) if self.mode == "practical" else None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Run the stages until the hold-out error, the examples or the time are at their end."""
        family, run, supply = oracle.family, Runner(oracle.meter), Supply(oracle)
        plan = StagedPlan(
            heads=self.heads,
            examples=self.examples,
            polish=self.polish,
            noisy=family.noise > 0 or not family.noise_known,
            every=self.examples > 0 or not family.noise_known,
        )
        outcome = None
        try:
            ran_out = MODES[self.mode](plan, supply, run, rng)
            best = run.best
            if run.error > plan.goal and not (best and best.upper <= _SOLVED):
                outcome = self._ended(ran_out, run)
        except Spent as spent:
            outcome = SPENT[spent.resource]
        best, tokens, reports = run.best, supply.whitening, run.reports
        if tokens and not tokens.standard:
            first = reports[0].examples if reports else 0
            report = StageReport(
                name="tokens", seconds=0.0, examples=first, rows=0, measures=tokens.measures
            )
            reports.insert(0, report)
        real = family if isinstance(family, Dense) else None
        signals = diagnose(
            reports,
            k=family.k,
            error=run.error,
            upper=best.upper if best else np.inf,
            failed=run.failed,
            noise=float(real.noise) if real else 0.0,
            heads=self.heads,
        )
        details = run.to_dict() | {"diagnosis": [signal.to_dict() for signal in signals]}
        # The baseline may do better than a layer that explains nothing.
        if best is None or best.error >= 1 or tokens is None:
            return nothing(family, outcome, **details)
        layer = tokens.back(best.layer)
        return Hypothesis(predict=layer, outcome=outcome, details=details, layer=layer)

    @staticmethod
    def _ended(ran_out: bool, run: Runner) -> Outcome | None:
        """Say why a layer whose error is not small enough is the last."""
        if not run.meter.has_time():
            return Outcome.SECONDS_SPENT
        if ran_out:
            return Outcome.EXAMPLES_SPENT
        return Outcome.STAGE_FAILED if run.failed else None
