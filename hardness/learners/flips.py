"""A hidden set by single flips: about as many values as there are places.

f(z) = g(h) for a g that is not constant and h = #{j in S: z_j = -1}. Let z and z' differ in place j
alone, z_j = +1 and z'_j = -1, and let f(z) != f(z'). Then j is in S, z has some h with g(h) !=
g(h+1), and z' has h + 1. For another place i with z_i = +1, ask z with i flipped: the value is
g(h+1) if i is in S, else g(h). For z_i = -1, ask z' with i flipped: the value is g(h) if i is in S,
else g(h+1). So one value decides, for any g.

Such a pair lies on a path from all +1 to all -1 that flips one place after the other: h takes the
values 0 .. m on it, so values of f differ, and bisection between two different ones finds a step.
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

_MAX_VALUES = 1 << 26  # of a run, which then takes minutes
_BATCH_NUMBERS = 1 << 22  # in the tokens of one call


@dataclass(frozen=True, kw_only=True)
class Flips(BuiltIn):
    """Flips one place after the other; with noise it asks repeatedly and takes the majority.

    confidence: the probability that all majorities are right.
    """

    name: ClassVar[str] = "flips"
    access: ClassVar[Literal["values"]] = "values"
    about: ClassVar[str] = "a hidden set by single flips of chosen inputs: about d values"

    confidence: Annotated[float, Range(above=0, below=1)] = 0.99

    def supports(self, family: Family) -> str | None:
        """Return None for hidden sets, else the reason."""
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
        """Find the hidden set; a set of another size than the family's is a failure."""
        family = require_coded(oracle.family)
        hidden = family.hides or family.refuse("hidden_sets")
        times = self._times(hidden, family)
        ask = partial(decided_values, oracle, family, times)
        places = hidden_set(ask, family.d - 1, rng, hidden.first_step)
        details: dict[str, Any] = {"repetitions": times}
        if family.noise:
            details["confidence"] = self.confidence
        if places is None or hidden.size not in (None, len(places)):
            reason = f"{len(places or ())} places change labels, of a set of {hidden.size}"
            return nothing(family, Outcome.STAGE_FAILED, reason=reason, **details)
        return member(family, hidden.secret(places), **details)

    def _times(self, hidden: HiddenSet, family: Coded) -> int:
        questions = most_questions(hidden, family.d - 1)
        return times_for_flips(questions, float(family.noise), self.confidence)


def times_for_flips(questions: int, noise: float, confidence: float) -> int:
    """Return how often to ask each question so that all majorities are right.

    An answer is wrong with probability noise < 1/2, independently. At least half of n are wrong
    with probability at most (2 sqrt(noise (1 - noise)))^n. [Hoe63, theorem 1]

    >>> times_for_flips(1000, 0.1, 0.99), times_for_flips(1000, 0.0, 0.99)
    (23, 1)
    """
    if not noise:
        return 1
    rate = -math.log(2 * math.sqrt(noise * (1 - noise)))
    return math.ceil(math.log(questions / (1 - confidence)) / rate)


def decided_values(oracle: ValueOracle, family: Coded, times: int, z: Signs) -> Array:
    """Ask for each point `times` times, and return the more frequent of its two values: (n,)."""
    low, high, total = np.full(len(z), np.inf), np.full(len(z), -np.inf), np.zeros(len(z))
    at_once = max(1, _BATCH_NUMBERS // z.size)  # repetitions in a call
    for first in range(0, times, at_once):
        count = min(at_once, times - first)
        values = read_values(oracle, family, np.tile(z, (count, 1))).reshape(count, len(z))
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        total += values.sum(axis=0)
    return np.where(2 * total > times * (low + high), high, low)


def read_values(oracle: ValueOracle, family: Coded, z: Signs) -> Array:
    """Ask once for the label's factor at each point z (n, places): (n,)."""
    out, at_once = np.empty(len(z)), max(1, _BATCH_NUMBERS // family.chosen(z[:1]).size)
    for start in range(0, len(z), at_once):
        x = family.chosen(z[start : start + at_once])
        out[start : start + at_once] = family.nearest_level(x, oracle.value(x))
    return out


def most_questions(hidden: HiddenSet, places: int) -> int:
    """Return the largest number of values that `hidden_set` asks for."""
    return places + 1 if hidden.first_step else 2 * places + places.bit_length() + 3


def hidden_set(
    f: Ask, places: int, rng: np.random.Generator, first_step: bool = False
) -> tuple[int, ...] | None:
    """Find S, its places counted from 0, by values of f; None if f is constant on the path.

    first_step: whether g(0) != g(1) is known; then places + 1 values suffice. Else it takes further
    values: on a random path until one is not g(0), then log2(places) to find the step.

    >>> f = lambda z: (z[:, [2, 5]] == -1).sum(axis=1) % 2
    >>> hidden_set(f, 8, np.random.default_rng(0), first_step=True)
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
    end = (ends[0, others] == -1).astype(np.intp)  # 1: the place is flipped in z', 0: in z
    points = ends[end]
    points[np.arange(len(others)), others] *= -1
    base = f(ends)
    inside = others[f(points) != base[end]]
    return tuple(sorted([int(order[start]), *inside.tolist()]))


def _path(order: NDArray[np.intp], lengths: NDArray[np.intp]) -> Signs:
    """Return the points of the path with given numbers of flipped places: (n,) -> (n, places)."""
    rank = np.argsort(order)
    return np.where(rank[None] < lengths[:, None], -1, 1).astype(np.int8)


def _step(f: Ask, order: NDArray[np.intp]) -> int | None:
    """Find a t such that f differs between t and t + 1 flipped places; None if there is none."""

    def at(length: int) -> float:
        return float(f(_path(order, np.array([length])))[0])

    places, base = len(order), at(0)
    equal = [0]  # lengths at which f has its value at 0
    for length in _spread_order(places):
        if at(length) != base:
            same, other = max(s for s in equal if s < length), length
            break
        equal.append(length)
    else:
        return None
    while other - same > 1:
        middle = (same + other) // 2
        if at(middle) == base:
            same = middle
        else:
            other = middle
    return same


def _spread_order(places: int) -> list[int]:
    """Return 1 .. places in an evenly spreading order: the whole, halves, quarters, ..."""
    order, step = [places], 1
    while step < places:
        step *= 2
    while step > 1:
        order += range(step // 2, places, step)
        step //= 2
    return order
