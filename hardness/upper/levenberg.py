"""Levenberg-Marquardt from random starts: a layer of the same architecture, fitted at once.

It has no guarantee. On random layers it needs fewer examples and less time than the learner that
has one.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from hardness.oracles import ExampleOracle, Spent
from hardness.upper.learner import SPENT, Hypothesis, Outcome, View, nothing
from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.polish import Polished, enough, polish
from instances.family import Examples, Family, require
from instances.layer import AttentionLayer
from instances.limits import require_memory

_AT_ONCE = 1 << 20  # numbers in the tokens of a batch
_SOLVED = 1e-20  # hold-out error: no other start can be better


@dataclass(frozen=True, kw_only=True)
class Levenberg:
    """Fits `heads` heads (0: as many as the family's layers have) to `examples` (0: enough).

    From `restarts` random starts, `steps` steps each; a fifth of the examples is held out, and the
    best on them is kept.
    """

    name: ClassVar[str] = "levenberg"
    revision: ClassVar[int] = 2
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "tokens"
    about: ClassVar[str] = "an attention layer fitted by Levenberg-Marquardt, random starts"

    heads: int = 0
    restarts: int = 4
    examples: int = 0
    steps: int = 100

    def __post_init__(self) -> None:
        for name in ("heads", "examples"):
            value = getattr(self, name)
            require(value >= 0, f"{name}={value} given: it must be at least 0")
        for name in ("restarts", "steps"):
            value = getattr(self, name)
            require(value >= 1, f"{name}={value} given: it must be at least 1")
        require(self.examples != 1, "examples=1 given: 2 are needed at least, one is held out")

    def supports(self, family: Family) -> str | None:
        """Any family but those of linear attention."""
        if family.kind == "linear":
            return "it fits softmax attention; `lifted` learns linear attention"
        if not (self.heads or family.layer_heads):
            return "nobody knows how many heads to fit: say levenberg:heads=2, or another number"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Draw all examples, then descend from each start."""
        family = oracle.family
        heads = self.heads or family.layer_heads
        wanted = self.examples or enough(heads, family.k, family.d) * 5 // 4 + 64
        drawn, outcome = collect(oracle, wanted, heads)
        if drawn is None or len(drawn) < 2:
            return nothing(family, outcome)
        cut = len(drawn) - max(1, len(drawn) // 5)
        data, held_out = drawn.cut(0, cut), drawn.cut(cut, len(drawn))
        best: Polished | None = None
        errors, steps = [], 0
        for _ in range(self.restarts):
            start = random_heads(rng, heads, data)
            end = polish(*start, data, held_out, self.steps, oracle.meter.left)
            errors.append(end.error)
            steps += end.steps
            if best is None or end.error < best.error:
                best = end
            if end.end == "stopped":
                outcome = Outcome.SECONDS_SPENT
            if end.end == "stopped" or end.error < _SOLVED:
                break
        assert best is not None  # there is at least one start
        layer = AttentionLayer(theta=best.theta, w=best.w)
        # Of the mean square of labels; then of what knowing their mean leaves, as a risk is.
        left = float(np.mean((held_out.y - data.y.mean(axis=0)) ** 2))
        scale = float(np.mean(held_out.y**2)) / left if left else 1.0
        return Hypothesis(
            predict=layer,
            outcome=outcome,
            details={
                "heads": heads,
                "starts": len(errors),
                "steps": steps,
                "training_error": best.history[-1],
                "held_out_error": best.error * scale,
                "end": best.end,
            },
            layer=layer,
        )


def collect(oracle: ExampleOracle, wanted: int, heads: int) -> tuple[Data | None, Outcome | None]:
    """Draw as many examples as are wanted, or as there are: then says why there are not more."""
    family = oracle.family
    tokens = 8 * wanted * family.k * (family.d * (4 * heads + 8) + 4 * heads * family.k)
    require_memory(
        tokens + 8 * heads * family.d**2 * (20 + heads),
        f"{wanted} examples and the derivatives of {heads} heads at d={family.d}",
    )
    batches: list[Examples] = []
    missing, outcome = wanted, None
    try:
        while missing:
            batches.append(oracle.draw(min(missing, max(1, _AT_ONCE // (family.k * family.d)))))
            missing -= len(batches[-1])
    except Spent as spent:
        outcome = SPENT[spent.resource]
    if not batches:
        return None, outcome
    x, y = (np.concatenate([getattr(b, name) for b in batches]) for name in ("x", "y"))
    return Data(x=x, y=y), outcome


def random_heads(rng: np.random.Generator, heads: int, data: Data) -> tuple[Array, Array]:
    """Draw Theta with logits of about 1, and W with outputs of the labels' size: (m, d, d) each."""
    shape = (heads, data.d, data.d)
    token = math.sqrt(float(np.mean(data.x**2))) or 1.0
    label = math.sqrt(float(np.mean(data.y**2)))
    theta = rng.normal(0.0, 1 / data.d / token**2, shape)
    w = rng.normal(0.0, label / token / math.sqrt(heads * data.d), shape)
    return theta, w
