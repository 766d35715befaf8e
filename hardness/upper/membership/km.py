"""All large Fourier coefficients of a function of signs, from its values at chosen points.

Goldreich and Levin, as Kushilevitz and Mansour use it. [GL89, KM93] f takes values in [-1, 1], with
noise perhaps, and f^(T) = E f(z) chi_T(z) over uniform z of n signs. At the 2^k points s + R J, J
all vectors of k bits, s and the n x k matrix R random mod 2, any two are independent and uniform.
There chi_T is chi_T(s) (-1)^<b, J> with b = R^T T, so B_b, the Walsh-Hadamard transform of the
values at b over 2^k, is f^(T) up to its sign and an error of variance at most (1 - f^(T)^2) / 2^k.
The same with place i of every point flipped gives B_b again times -1 where i is in T. So the signs
of n + 1 transforms spell out one T for each b; only b with |B_b| >= theta/2 are read, at most
4/theta^2 as sum B_b^2 <= 1.

By Chebyshev's inequality a T with |f^(T)| >= theta is missed with probability at most
q = (n + 4) (1/theta^2 - 1) / 2^k, and there are at most 1/theta^2 of them: all are in one of r
rounds but with probability q^r / theta^2. The coefficients of all candidates are then estimated on
fresh uniform points, each within theta/4 by Hoeffding's inequality, and those of at least 3/4 theta
are kept: none below theta/2 is.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.walsh import transform
from hardness.oracles import ValueOracle
from hardness.upper.learner import Hypothesis, member, nothing
from hardness.upper.membership.asking import read_values, require_confidence, too_many
from instances.capabilities import HIDDEN_FUNCTION
from instances.family import Family, require
from instances.questions import HiddenFunction

Array = NDArray[np.float64]
Signs = NDArray[np.int8]
Values = Callable[[Signs], Array]  # (n, places) -> (n,), in [-1, 1]

_BITS = 40  # of J at most, in plans
_SHOWN = 20  # coefficients in the details


@dataclass(frozen=True, kw_only=True)
class Km:
    """Finds all coefficients of at least theta, and predicts their sum.

    theta: in absolute value, of E[Y|X] over the largest level. Where the places of all that are
    found are as many as a family's members hide, that member is claimed.
    """

    name: ClassVar[str] = "km"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["values"]] = "values"
    about: ClassVar[str] = "all large Fourier coefficients by values: Kushilevitz and Mansour"

    theta: float = 0.25
    confidence: float = 0.99

    def __post_init__(self) -> None:
        require(0 < self.theta <= 1, f"theta={self.theta} given: above 0 and at most 1")
        require_confidence(self.confidence)

    def supports(self, family: Family) -> str | None:
        """Return None for functions of chosen signs with a plan of few values, or the reason."""
        hidden = HIDDEN_FUNCTION.of(family)
        if hidden is None:
            return HIDDEN_FUNCTION.missing(family)
        return too_many(self._plan(hidden).values, f"raise theta={self.theta:g}")

    def forecast(self, family: Family) -> str:
        """Say how many values it will ask."""
        plan = self._plan(HIDDEN_FUNCTION.need(family))
        return f"{plan.values:,} values, for all coefficients of at least {self.theta:g}"

    def learn(self, oracle: ValueOracle, rng: np.random.Generator) -> Hypothesis:
        """Find the coefficients and, if they show one, the member."""
        family = oracle.family
        hidden = HIDDEN_FUNCTION.need(family)
        plan = self._plan(hidden)
        kept = coefficients(lambda z: read_values(oracle, hidden, z) / hidden.largest, plan, rng)
        details: dict[str, Any] = {
            "coefficients": [
                [list(places), value] for places, value in list(kept.items())[:_SHOWN]
            ],
            "found": len(kept),
            "confidence": self.confidence,
            "values_planned": plan.values,
        }
        places = tuple(sorted(set(chain.from_iterable(kept))))
        if hidden.secret and places and hidden.size in (None, len(places)):
            return member(family, hidden.secret(places), **details)
        if not kept:
            return nothing(family, **details)
        return Hypothesis(
            predict=lambda x: hidden.labels(x, lambda z: hidden.largest * combined(kept, z)),
            details=details,
        )

    def _plan(self, hidden: HiddenFunction) -> "Plan":
        return Plan.of(hidden.places, self.theta, self.confidence)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many values it takes: rounds (places + 1) 2^bits, and samples.

    >>> Plan.of(places=40, theta=0.25, confidence=0.99)
    Plan(places=40, theta=0.25, bits=11, rounds=8, samples=6262)
    """

    places: int
    theta: float
    bits: int
    rounds: int
    samples: int

    @property
    def values(self) -> int:
        """The values in all."""
        return self.rounds * (self.places + 1 << self.bits) + self.samples

    @staticmethod
    def of(places: int, theta: float, confidence: float) -> "Plan":
        """Choose bits and rounds with the fewest values that reach the confidence."""
        failure = (1 - confidence) / 2  # of the rounds, and of the samples
        options = []
        for bits in range(_BITS + 1):
            missed = (places + 4) * (1 / theta**2 - 1) / 2**bits
            if missed < 1:
                wanted = math.log(1 / (failure * theta**2))
                rounds = max(1, math.ceil(wanted / -math.log(missed))) if missed else 1
                options.append((rounds << bits, bits, rounds))
        if not options:
            raise ValueError(f"theta = {theta:g} takes more than 2^{_BITS} points")
        _, bits, rounds = min(options)
        candidates = rounds * math.floor(4 / theta**2)
        samples = math.ceil(32 / theta**2 * math.log(2 * candidates / failure))
        return Plan(places=places, theta=theta, bits=bits, rounds=rounds, samples=samples)


def coefficients(f: Values, plan: Plan, rng: np.random.Generator) -> dict[tuple[int, ...], float]:
    """Find all T with |f^(T)| >= theta, and none below theta/2, each within theta/4.

    With the plan's confidence. T is a tuple of places, counted from 0; the largest come first.

    >>> chi = lambda z: z[:, [1, 4]].prod(axis=1).astype(float)
    >>> plan = Plan.of(places=6, theta=0.5, confidence=0.99)
    >>> coefficients(chi, plan, np.random.default_rng(0))
    {(1, 4): 1.0}
    """
    found: set[tuple[int, ...]] = set()
    for _ in range(plan.rounds):
        found |= _candidates(f, plan, rng)
    z = rng.integers(2, size=(plan.samples, plan.places), dtype=np.int8) * -2 + 1
    values = f(z)
    kept = {}
    for subset in sorted(found):
        estimate = float((values * z[:, subset].prod(axis=1)).mean())
        if abs(estimate) >= 3 / 4 * plan.theta:
            kept[subset] = estimate
    return dict(sorted(kept.items(), key=lambda item: (-abs(item[1]), item[0])))


def _candidates(f: Values, plan: Plan, rng: np.random.Generator) -> set[tuple[int, ...]]:
    """One round: a T for each large b."""
    places, count = plan.places, 1 << plan.bits
    numbers = np.arange(count)[:, None] >> np.arange(plan.bits) & 1  # J, the lowest bit first
    matrix = rng.integers(2, size=(plan.bits, places))
    shift = rng.integers(2, size=places)
    z = (1 - 2 * ((numbers @ matrix + shift) & 1)).astype(np.int8)
    base = _transformed(f(z))
    large = np.flatnonzero(np.abs(base) >= plan.theta / 2)
    inside = np.zeros((len(large), places), np.bool_)
    for place in range(places):
        z[:, place] *= -1
        inside[:, place] = _transformed(f(z))[large] * base[large] < 0
        z[:, place] *= -1
    return {tuple(np.flatnonzero(row).tolist()) for row in inside}


def _transformed(values: Array) -> Array:
    out = np.ascontiguousarray(values, np.float64)
    transform(out)
    return out / len(out)


def combined(found: dict[tuple[int, ...], float], z: Signs) -> Array:
    """Evaluate sum f^(T) chi_T(z): (n, places) -> (n,)."""
    out = np.zeros(len(z))
    for subset, value in found.items():
        out += value * z[:, subset].prod(axis=1)
    return out
