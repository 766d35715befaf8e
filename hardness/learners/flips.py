"""A hidden set by single flips: about as many values as there are places.

f(z) = g(h) for a g that is not constant and h = #{j in S: z_j = -1}. Say z and z' differ in place j
alone, z_j = +1 and z'_j = -1, and f(z) != f(z'). Then j is in S, z has some h with g(h) != g(h+1),
and z' has h + 1. Of another place i ask z with i flipped where z_i = +1: if i is in S the value is
g(h+1), else g(h). Where z_i = -1 ask z' with i flipped: if i is in S the value is g(h), else
g(h+1). Either way one value tells, whatever else g does.

Such a pair is found on a path from all +1 to all -1 that flips one place after the other: h goes
through 0 .. m on it, so values on it differ, and between two that differ bisection finds a step.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import BuiltIn, Hypothesis, Outcome, member, nothing
from hardness.oracles import ValueOracle
from instances.coded import Coded, HiddenSet, require_coded
from instances.family import Family
from instances.parameters import Range

Signs = NDArray[np.int8]
Array = NDArray[np.float64]
Ask = Callable[[Signs], Array]  # (n, places) -> (n,)

_MAX_VALUES = 1 << 26  # values of a run: minutes
_NUMBERS = 1 << 22  # in the tokens of a call


@dataclass(frozen=True, kw_only=True)
class Flips(BuiltIn):
    """Flips one place after the other; noisy answers are asked again, and the majority counts.

    confidence: that all majorities are right.
    """

    name: ClassVar[str] = "flips"
    access: ClassVar[Literal["values"]] = "values"
    about: ClassVar[str] = "a hidden set by single flips of chosen inputs: about d values"

    confidence: Annotated[float, Range(above=0, below=1)] = 0.99

    def supports(self, family: Family) -> str | None:
        """Return None for hidden sets, or the reason."""
        if not isinstance(family, Coded):
            return family.lacks("coded")
        if (hidden := family.hides) is None:
            return "its members are no functions of how many places of a hidden set are -1"
        values = most_questions(hidden, family.d - 1) * self._times(hidden, family)
        if values <= _MAX_VALUES:
            return None
        return (
            f"it would ask {values:.3g} values, at most {_MAX_VALUES} are asked: "
            f"noise={float(family.noise):g} is too near to 1/2"
        )

    def learn(self, oracle: ValueOracle, rng: np.random.Generator) -> Hypothesis:
        """Find the set; one of another size than the family hides is no member's."""
        family = require_coded(oracle.family)
        hidden = family.hides or family.refuse("hidden_sets")
        times = self._times(hidden, family)
        ask = partial(decided_values, oracle, family, times)
        found = hidden_set(ask, family.d - 1, rng, hidden.first_step)
        details: dict[str, Any] = {"repetitions": times}
        if family.noise:
            details["confidence"] = self.confidence
        if found is None or hidden.size not in (None, len(found)):
            failed = f"{len(found or ())} places change labels, of a set of {hidden.size}"
            return nothing(family, Outcome.STAGE_FAILED, reason=failed, **details)
        return member(family, hidden.secret(found), **details)

    def _times(self, hidden: HiddenSet, family: Coded) -> int:
        questions = most_questions(hidden, family.d - 1)
        return times_for_flips(questions, float(family.noise), self.confidence)


def times_for_flips(questions: int, noise: float, confidence: float) -> int:
    """Count how often to ask so that the majority is right on all questions.

    An answer is wrong with probability noise < 1/2, independently; at least half of n are with
    probability at most (2 sqrt(noise (1 - noise)))^n. [Hoe63, theorem 1]

    >>> times_for_flips(1000, 0.1, 0.99), times_for_flips(1000, 0.0, 0.99)
    (23, 1)
    """
    if not noise:
        return 1
    rate = -math.log(2 * math.sqrt(noise * (1 - noise)))
    return math.ceil(math.log(questions / (1 - confidence)) / rate)


def decided_values(oracle: ValueOracle, family: Coded, times: int, z: Signs) -> Array:
    """Ask so many times; of the two values that noise leaves the more frequent counts: (n,)."""
    low, high, total = np.full(len(z), np.inf), np.full(len(z), -np.inf), np.zeros(len(z))
    most = max(1, _NUMBERS // z.size)  # times at once
    for first in range(0, times, most):
        again = min(most, times - first)
        values = read_values(oracle, family, np.tile(z, (again, 1))).reshape(again, len(z))
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        total += values.sum(axis=0)
    return np.where(2 * total > times * (low + high), high, low)


def read_values(oracle: ValueOracle, family: Coded, z: Signs) -> Array:
    """Ask once for the factor of labels at each of the points z (n, places): (n,)."""
    out, at_once = np.empty(len(z)), max(1, _NUMBERS // family.chosen(z[:1]).size)
    for start in range(0, len(z), at_once):
        x = family.chosen(z[start : start + at_once])
        out[start : start + at_once] = family.nearest_level(x, oracle.value(x))
    return out


def most_questions(hidden: HiddenSet, places: int) -> int:
    """The most values that `hidden_set` asks."""
    return places + 1 if hidden.first_step else 2 * places + places.bit_length() + 3


def hidden_set(
    f: Ask, places: int, rng: np.random.Generator, first_step: bool = False
) -> tuple[int, ...] | None:
    """Find S, its places counted from 0, by values of f; None where f is constant on the path.

    first_step: g(0) != g(1) is known, and places + 1 values do. Else as many more as it takes to
    meet another value than g(0) on a random path, and log2(places).

    >>> asked = lambda z: (z[:, [2, 5]] == -1).sum(axis=1) % 2
    >>> hidden_set(asked, 8, np.random.default_rng(0), first_step=True)
    (2, 5)
    """
    if first_step:
        low = np.ones(places, np.int8)
        flipped = np.where(np.eye(places, dtype=np.bool_), -low, low)
        values = f(np.concatenate([low[None], flipped]))
        return tuple(np.flatnonzero(values[1:] != values[0]).tolist()) or None
    order = rng.permutation(places)
    start = _step(f, order)
    if start is None:
        return None
    ends = _path(order, np.array([start, start + 1]))
    others = np.delete(np.arange(places), order[start])
    raised = (ends[0, others] == -1).astype(np.intp)  # these are flipped in z'
    asked = ends[raised]
    asked[np.arange(len(others)), others] *= -1
    base = f(ends)
    inside = others[f(asked) != base[raised]]
    return tuple(sorted([int(order[start]), *inside.tolist()]))


def _path(order: NDArray[np.intp], lengths: NDArray[np.intp]) -> Signs:
    """The points of the path with so many places flipped: (n,) -> (n, places)."""
    rank = np.argsort(order)
    return np.where(rank[None] < lengths[:, None], -1, 1).astype(np.int8)


def _step(f: Ask, order: NDArray[np.intp]) -> int | None:
    """Find t such that f differs between t and t + 1 places flipped."""

    def at(length: int) -> float:
        return float(f(_path(order, np.array([length])))[0])

    places, base = len(order), at(0)
    seen = [0]  # lengths with the value at 0
    for length in _spread(places):
        if at(length) != base:
            same, other = max(s for s in seen if s < length), length
            break
        seen.append(length)
    else:
        return None
    while other - same > 1:
        middle = (same + other) // 2
        if at(middle) == base:
            same = middle
        else:
            other = middle
    return same


def _spread(places: int) -> list[int]:
    """1 .. places in an order that is spread out at any time: the whole, halves, quarters, ..."""
    order, step = [places], 1
    while step < places:
        step *= 2
    while step > 1:
        order += range(step // 2, places, step)
        step //= 2
    return order
