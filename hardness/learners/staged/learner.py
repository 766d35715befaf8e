"""The staged learner: Chen and Li's stages, which recover all heads of a layer. [CL24]

In the practical mode eigenvectors stand where the paper has a convex body. The projection, the
polish and the count of heads under noise are outside of its theorem.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hardness.learners.fitting import StageFailed
from hardness.learners.learner import BuiltIn, Hypothesis, Outcome, View
from hardness.learners.staged.paper import refusal, run_as_published
from hardness.learners.staged.practical import SEVERAL_D, Settings, run_practical
from hardness.learners.staged.progress import Progress
from hardness.oracles import ExampleOracle
from instances.family import Family
from instances.parameters import OneOf, Range

LARGEST_D = 256  # one head: 5 GiB, and six minutes
_SOLVED = 0.05  # held-out errors below it, with their uncertainty, are for the judge
MODES = {"practical": run_practical, "paper": run_as_published}


@dataclass(frozen=True, kw_only=True)
class Staged(BuiltIn):
    """Runs the stages in a mode; heads=0 and examples=0 are found out, polish=0 does without.

    The `error` in the details is that of the layer that does best on held-out examples, so it is a
    little too small; the risk of a run is measured on fresh ones.

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
    revision: ClassVar[int] = 6
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "Chen and Li's stages with eigenvectors and a polish"
    computes_long: ClassVar[bool] = True

    mode: Annotated[str, OneOf((*MODES,))] = "practical"
    heads: Annotated[int, Range(0)] = 0
    examples: Annotated[int, Range(0)] = 0
    polish: Annotated[int, Range(0)] = 100

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

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Run the stages until the hold-out error or the examples are at their end."""
        family, progress = oracle.family, Progress(oracle, self.heads)
        settings = Settings(
            heads=self.heads,
            examples=self.examples,
            polish=self.polish,
            noisy=family.noise > 0 or not family.noise_known,
            use_all=self.examples > 0 or not family.noise_known,
        )
        ran_out = False
        try:
            ran_out = MODES[self.mode](settings, progress, rng)
        except StageFailed as failed:
            progress.failed, ran_out = failed, progress.exhausted
        best, outcome = progress.best, None
        if not best or (best.error > settings.goal and best.upper > _SOLVED):
            spent = Outcome.STAGE_FAILED if progress.failed else None
            outcome = Outcome.EXAMPLES_SPENT if ran_out else spent
        return progress.hypothesis(outcome)
