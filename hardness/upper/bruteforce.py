"""Brute force: all secrets in turn, each given up as soon as a few samples speak against it."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.kernels.supports import Best, Enumeration, Parities, SumsModQ, heads
from hardness.oracles import ExampleOracle
from hardness.upper.attack import needed
from hardness.upper.costs import MISS, costs, patience
from hardness.upper.learner import Hypothesis
from hardness.upper.search import (
    SecretSearch,
    better,
    conclude,
    gather,
    out_of_time,
    values_of,
    wanted,
)
from instances.capabilities import LINEAR_FORMS
from instances.family import Family, Secret
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples
from instances.tokens import pack

MOST = 1 << 44  # candidates: half a day or so
_STEP = 1 << 22  # candidates between looks at the clock: some 0.03 seconds


@dataclass(frozen=True, kw_only=True)
class BruteForce(SecretSearch):
    """Tries every secret; a step is a head (see hardness/kernels/supports.py)."""

    name: ClassVar[str] = "bruteforce"
    about: ClassVar[str] = "all secrets of a small or sparse family, some 1e8 candidates a second"

    def unfit(self, forms: Modular) -> str | None:
        """Return that there are more than 2^44 secrets, or None."""
        if forms.size > MOST:
            return f"it has 2^{math.log2(forms.size):.1f} secrets, brute force takes at most 2^44"
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Go through the weights, and for each through the heads, until a secret is believed."""
        search = Search.prepare(oracle, self.samples)
        end = search.run(self.start, search.heads, oracle.meter.has_time)
        if end.stopped is not None:
            details = search.details | {"tried": end.tried}
            return out_of_time(oracle.family, end.stopped, search.heads, **details)
        return search.conclude(oracle.family, end)


@dataclass(frozen=True, kw_only=True)
class End:
    """What a search through some heads came to.

    best: the best secret by its evidence, the first of those, with it. stopped: the head that was
    not reached, where the time was over.
    """

    tried: int = 0
    best: tuple[float, Secret] | None = None
    stopped: int | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Search:
    """The search through all secrets on given samples: any heads of it, alone or in turn.

    slow: how many times as long as usual a candidate takes.
    """

    family: Modular
    found: Samples
    enumeration: Enumeration
    slow: int

    @staticmethod
    def prepare(oracle: ExampleOracle, count: int) -> "Search":
        """Draw `count` samples (0: as many as it takes); raises Spent as `gather` does."""
        forms = LINEAR_FORMS.need(oracle.family)
        found = gather(oracle, count or needed(forms))
        # Parities look at 64 samples at once.
        slow = max(1, patience(costs(found)) // (512 if forms.q == 2 else 8))
        return Search(family=forms, found=found, enumeration=enumeration(found), slow=slow)

    @property
    def heads(self) -> int:
        """How many heads there are, of all weights."""
        values = self.enumeration.values
        return sum(heads(self.family.n, w, values) for w in weights(self.family))

    @property
    def details(self) -> dict[str, Any]:
        """What is said about every search."""
        return {"candidates": self.family.secrets.size, "samples": len(self.found)}

    def parts(self, size: int) -> Iterator[tuple[int, int]]:
        """Cut the search into parts of `size` whole steps: heads start .. stop-1 of each."""
        return parts(self.family, self.enumeration.values, self.slow, size)

    def run(self, start: int, stop: int, has_time: Callable[[], bool] = lambda: True) -> End:
        """Try all secrets with heads start .. stop-1, in steps, until one is believed.

        start and stop are the ends of steps, or of the search.
        """
        tried, best = 0, None
        for index, weight, first, count in steps(
            self.family, self.enumeration.values, start, self.slow
        ):
            if index >= stop:
                break
            if not has_time():
                return End(tried=tried, best=best, stopped=index)
            more, met = self.enumeration.run(weight, first, count)
            tried += more
            best = better(best, self.found, vector(self.family, met) if met else None)
            if self.believes(best):
                break
        return End(tried=tried, best=best)

    def believes(self, best: tuple[float, Secret] | None) -> bool:
        """Return whether a search may end with the best secret so far."""
        return best is not None and best[0] >= wanted(self.family)

    def add(self, end: End, tried: int, met: Secret | None) -> End:
        """Go on from the end of some heads with that of those that follow: the best secret there.

        Where `end` has a secret that is believed, nothing later counts.
        """
        if self.believes(end.best):
            return end
        return End(tried=end.tried + tried, best=better(end.best, self.found, met))

    def conclude(self, family: Family, end: End) -> Hypothesis:
        """Judge the end of the whole search of a family."""
        secret = end.best and end.best[1]
        return conclude(family, self.found, secret, tried=end.tried, **self.details)


def steps(
    family: Modular, values: int, start: int, slow: int = 1
) -> Iterator[tuple[int, int, int, int]]:
    """Cut the search into steps between looks at the clock: index, weight, first head, heads.

    slow: how many times as long as usual a candidate takes.

    >>> from instances import parse
    >>> list(steps(parse("lpn:n=4,noise=0.1"), 1, 2))
    [(2, 2, 1, 2), (4, 3, 0, 3), (7, 4, 0, 1)]
    """
    index = 0
    for weight in weights(family):
        count = heads(family.n, weight, values)
        step = _heads(family, weight, values, slow)
        for first in range(max(0, start - index), count, step):
            yield index + first, weight, first, min(step, count - first)
        index += count


def parts(family: Modular, values: int, slow: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut the search into parts of `size` whole steps, the last shorter: heads start .. stop-1.

    >>> from instances import parse
    >>> list(parts(parse("lpn:n=4,noise=0.1"), 1, 1, 3))
    [(0, 7), (7, 8)]
    """
    start = index = 0
    room = size
    for weight in weights(family):
        count, first = heads(family.n, weight, values), 0
        step = _heads(family, weight, values, slow)
        while first < count:
            taken = min(room, -(-(count - first) // step))
            first = min(count, first + taken * step)
            room -= taken
            if not room:
                yield start, index + first
                start, room = index + first, size
        index += count
    if start < index:
        yield start, index


def _heads(family: Modular, weight: int, values: int, slow: int) -> int:
    """Count the heads of a step."""
    return max(1, _STEP * weight // (family.n * values * slow))


def weights(family: Modular) -> Sequence[int]:
    """List the weights that a secret may have."""
    return (family.h,) if family.h else range(1, family.n + 1)


def enumeration(found: Samples) -> Enumeration:
    """Prepare the search through all vectors that could be the secret of samples."""
    family = found.family
    if family.q == 2:
        bits = np.argsort(family.table)[found.codes]  # <a, s> + e, which a window's codes reverse
        return Parities(
            columns=pack(1 - 2 * found.a.T),
            codes=pack(1 - 2 * bits),
            limits=_differences(found),
        )
    values = np.array(values_of(family), np.int64)
    require_memory(24 * len(values) * found.a.size, f"the multiples of samples of {family.spec}")
    of = costs(found)
    return SumsModQ(
        columns=values[:, None, None] * found.a.T % family.q,
        tables=of.tables,
        rows=of.rows,
        shifts=of.shifts,
        limits=of.limits,
    )


def vector(family: Modular, found: Best) -> Secret:
    """Write out the entries of a vector."""
    values = values_of(family)
    out = [0] * family.n
    for place, number in found.entries:
        out[place] = values[number]
    return tuple(out)


def _differences(found: Samples) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Bound the errors after 1, 2, ... words but for MISS in all."""
    from scipy.stats import binom

    ends = np.minimum(np.arange(64, len(found) + 64, 64), len(found))
    if found.family.errors is None:
        return np.zeros(len(ends), np.int64)
    rate = float(found.family.chances[1])
    return np.asarray(binom.isf(MISS / len(ends), ends, rate), np.int64)
