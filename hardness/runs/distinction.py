"""What trials of a distinguisher say: a signed advantage, and how often a bit is predicted.

The advantage's interval subtracts the ends of Clopper and Pearson's intervals of both worlds
[CP34]. With two levels, written as y = +-1 and h in [-1, 1], who answers +1 with probability
(1 + h)/2 is right with probability 1/2 + E[hy]/2. As E(y - h)^2 = 1 - 2 E[hy] + E h^2 and E h^2 is
(E[hy])^2 at least, a loss L = E(y - h)^2 implies E[hy] >= 1 - sqrt(L), which h = (1 - sqrt(L)) y
attains, and which is (1 - L)/2 at least.
"""

import math
from dataclasses import dataclass
from typing import Any, Literal

from hardness.oracles import Usage

World = Literal["real", "uniform"]
WORLDS: tuple[World, World] = ("real", "uniform")


@dataclass(frozen=True, kw_only=True)
class Score:
    """What held-out examples say of a hypothesis.

    loss: squared, relative to that of who knows the family alone, on labels as they were drawn.
    agreement, bit_loss: the means of hy and of (y - h)^2 in +-1; None with more than two levels.
    """

    value: float  # compared with the threshold
    tested: int  # held-out examples with an unknown label part
    loss: float
    agreement: float | None
    bit_loss: float | None


@dataclass(frozen=True, kw_only=True)
class Play:
    """One trial: a world, a learner in it, and whether its hypothesis was accepted as real."""

    world: World
    accepted: bool
    score: Score
    outcome: str | None  # None for a learner that ran to its end
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class Distinction:
    """All trials of a learner, half of them in each world."""

    spec: str
    learner: str
    seed: int
    plays: tuple[Play, ...]
    confidence: float
    alarm: float
    heldout: int  # examples a trial, of which about half are tested

    def of(self, world: World) -> list[Play]:
        """Return the trials in one world."""
        return [play for play in self.plays if play.world == world]

    def accepted(self, world: World) -> int:
        """Count the trials of a world that were accepted as real."""
        return sum(play.accepted for play in self.of(world))

    def rate(self, world: World) -> float:
        """Return Pr[accept | world] as measured."""
        return self.accepted(world) / len(self.of(world))

    @property
    def threshold(self) -> float:
        """What a score must pass."""
        return threshold(self.alarm)

    @property
    def advantage(self) -> float:
        """Pr[accept | real] - Pr[accept | uniform] as measured, signed."""
        return self.rate("real") - self.rate("uniform")

    @property
    def interval(self) -> tuple[float, float]:
        """An interval for the advantage that holds at any number of trials."""
        real, uniform = (self.accepted(world) for world in WORLDS)
        return advantage_interval(real, uniform, len(self.plays) // 2, self.confidence)

    @property
    def accuracy(self) -> float | None:
        """How often randomised rounding was right on held-out labels; None above two levels."""
        mean = self._mean("agreement")
        return None if mean is None else 0.5 + mean / 2

    @property
    def accuracy_interval(self) -> tuple[float, float] | None:
        """An interval for the accuracy of these trials' hypotheses, averaged. [Hoe63]"""
        if self.accuracy is None:
            return None
        tested = sum(play.score.tested for play in self.of("real"))
        radius = math.sqrt(math.log(2 / (1 - self.confidence)) / (2 * tested))
        return max(0.0, self.accuracy - radius), min(1.0, self.accuracy + radius)

    @property
    def implied_accuracy(self) -> float | None:
        """The accuracy that the squared loss on the same labels implies at least."""
        loss = self._mean("bit_loss")
        return None if loss is None else implied_accuracy(loss)

    def _mean(self, name: Literal["agreement", "bit_loss"]) -> float | None:
        pairs = [(getattr(p.score, name), p.score.tested) for p in self.of("real")]
        if any(value is None for value, _ in pairs):
            return None
        return sum(v * n for v, n in pairs) / sum(n for _, n in pairs)

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON; the field names are a contract."""
        usages = [play.usage for play in self.plays]
        return {
            "spec": self.spec,
            "learner": self.learner,
            "seed": self.seed,
            "trials": len(self.plays),
            "accepted": {world: self.accepted(world) for world in WORLDS},
            "accept_real": self.rate("real"),
            "accept_uniform": self.rate("uniform"),
            "advantage": self.advantage,
            "interval": list(self.interval),
            "confidence": self.confidence,
            "method": "Clopper-Pearson for each world at (1 + confidence)/2",
            "threshold": self.threshold,
            "alarm": self.alarm,
            "heldout": self.heldout,
            "accuracy": self.accuracy,
            "accuracy_interval": self.accuracy_interval and list(self.accuracy_interval),
            "implied_accuracy": self.implied_accuracy,
            "usage": {
                "examples": sum(u.examples for u in usages),
                "seconds": sum(u.seconds for u in usages),
                "peak_bytes": max(u.peak_bytes for u in usages),
            },
            "plays": [_play_json(play) for play in self.plays],
        }


def threshold(alarm: float) -> float:
    """Return the score that coins pass with probability `alarm` at most: sqrt(2 ln(1/alarm)).

    >>> round(threshold(0.01), 3)
    3.035
    """
    return math.sqrt(2 * math.log(1 / alarm))


def implied_accuracy(loss: float) -> float:
    """Bound the accuracy of randomised rounding from below by the loss E(y - h)^2 in +-1.

    >>> implied_accuracy(1.0), implied_accuracy(0.25)
    (0.5, 0.75)
    """
    return max(0.0, 1 - math.sqrt(loss) / 2)


def advantage_interval(
    real: int, uniform: int, trials: int, confidence: float
) -> tuple[float, float]:
    """Bound the difference of two probabilities by accepted trials out of `trials` of each.

    The ends of Clopper and Pearson's intervals, each at (1 + confidence)/2, are subtracted: both
    hold with the confidence at least. [CP34]

    >>> low, high = advantage_interval(10, 0, 10, 0.95)
    >>> round(low, 2), high
    (0.29, 1.0)
    """
    from scipy.stats import binomtest

    def ends(count: int) -> tuple[float, float]:
        found = binomtest(count, trials).proportion_ci((1 + confidence) / 2, method="exact")
        return float(found.low), float(found.high)

    (r_low, r_high), (u_low, u_high) = ends(real), ends(uniform)
    return r_low - u_high, r_high - u_low


def _play_json(played: Play) -> dict[str, Any]:
    return {
        "world": played.world,
        "accepted": played.accepted,
        "score": played.score.value,
        "tested": played.score.tested,
        "loss": played.score.loss,
        "outcome": played.outcome,
        "examples": played.usage.examples,
        "seconds": played.usage.seconds,
    }
