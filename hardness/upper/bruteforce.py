"""Brute force: all secrets in turn, each given up as soon as a few samples speak against it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from hardness.kernels.supports import Best, Enumeration, Parities, SumsModQ, heads
from hardness.oracles import ExampleOracle
from hardness.upper.attack import needed
from hardness.upper.costs import MISS, costs, patience
from hardness.upper.learner import Hypothesis, Outcome, nothing
from hardness.upper.search import (
    as_linear,
    better,
    conclude,
    gather,
    only_linear,
    values_of,
    wanted,
)
from instances.family import Family, Secret, require
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples
from instances.tokens import pack

MOST = 1 << 44  # candidates: half a day or so
_STEP = 1 << 22  # candidates between looks at the clock: some 0.03 seconds


@dataclass(frozen=True, kw_only=True)
class BruteForce:
    """Tries every secret on `samples` samples (0: as many as it takes to be sure of one).

    start: the index of the first head to try (see hardness/kernels/supports.py), by which a search
    that ran out of time is taken up again.
    """

    name: ClassVar[str] = "bruteforce"
    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    about: ClassVar[str] = "all secrets of a small or sparse family, some 1e8 candidates a second"

    samples: int = 0
    start: int = 0

    def __post_init__(self) -> None:
        require(self.samples >= 0, f"samples={self.samples} given: at least 0")
        require(self.start >= 0, f"start={self.start} given: at least 0")

    def supports(self, family: Family) -> str | None:
        """Parities and LWE-style families of at most 2^44 secrets."""
        reason = only_linear(family)
        if reason:
            return reason
        size = as_linear(family).size
        if size > MOST:
            return f"it has 2^{math.log2(size):.1f} secrets, brute force takes at most 2^44"
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Go through the weights, and for each through the heads, until a secret is believed."""
        family = oracle.family
        linear = as_linear(family)
        found = gather(oracle, self.samples or needed(linear))
        search = enumeration(found)
        # Parities look at 64 samples at once.
        slow = max(1, patience(costs(found)) // (512 if linear.q == 2 else 8))
        tried = 0
        best: tuple[float, Secret] | None = None
        details: dict[str, Any] = {"candidates": linear.size, "samples": len(found)}
        for index, weight, first, count in steps(linear, search.values, self.start, slow):
            if not oracle.meter.has_time():
                details |= {
                    "start": index,
                    "steps": sum(heads(linear.n, w, search.values) for w in weights(linear)),
                    "tried": tried,
                }
                return nothing(family, Outcome.SECONDS_SPENT, **details)
            more, met = search.run(weight, first, count)
            tried += more
            best = better(best, found, vector(linear, met) if met else None)
            if best and best[0] >= wanted(linear):
                break
        return conclude(family, found, best and best[1], tried=tried, **details)


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
        step = max(1, _STEP * weight // (family.n * values * slow))
        for first in range(max(0, start - index), count, step):
            yield index + first, weight, first, min(step, count - first)
        index += count


def weights(family: Modular) -> Sequence[int]:
    """List the weights that a secret may have."""
    return (family.h,) if family.h else range(1, family.n + 1)


def enumeration(found: Samples) -> Enumeration:
    """Prepare the search through all vectors that could be the secret of samples."""
    family = found.family
    if family.q == 2:
        return Parities(
            columns=pack(1 - 2 * found.a.T),
            codes=pack(1 - 2 * found.codes),
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
