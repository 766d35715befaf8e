"""Brute force: all secrets in turn, each given up as soon as a few samples speak against it."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hardness.attacks.core import (
    Candidate,
    SecretSearch,
    better,
    conclude,
    gather,
    needed,
    out_of_time,
    values_of,
    wanted,
)
from hardness.attacks.likelihood import MISS, costs, patience
from hardness.learners.learner import Hypothesis
from hardness.numerics.sparse_search import (
    CheapestVector,
    ModularSearch,
    ParitySearch,
    SparseSearch,
    count_heads,
)
from hardness.oracles import ExampleOracle
from instances.family import Secret
from instances.limits import require_memory
from instances.lwe import Modular
from instances.samples import Samples, samples
from instances.tokens import pack

MOST = 1 << 44  # candidates: half a day or so
_STEP = 1 << 22  # candidates between looks at the clock: some 0.03 seconds


@dataclass(frozen=True, kw_only=True)
class BruteForce(SecretSearch):
    """Tries every secret; a step is a head (see hardness/numerics/sparse_search.py)."""

    name: ClassVar[str] = "bruteforce"
    about: ClassVar[str] = "all secrets of a small or sparse family, some 1e8 candidates a second"

    def unfit(self, forms: Modular) -> str | None:
        """Return that there are more than 2^44 secrets, or None."""
        if forms.size > MOST:
            return f"it has 2^{math.log2(forms.size):.1f} secrets, brute force takes at most 2^44"
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Go through the weights, and for each through the heads, until a secret is believed."""
        found = gather(oracle, self.samples or needed(forms), samples)
        every = enumeration(found)
        # Parities look at 64 samples at once.
        slow = max(1, patience(costs(found)) // (512 if forms.q == 2 else 8))
        details: dict[str, Any] = {"candidates": forms.secrets.size, "samples": len(found)}
        tried = 0
        best: Candidate = None
        for index, weight, first, count in _steps(forms, every.values, self.start, slow):
            if not oracle.meter.has_time():
                total = sum(count_heads(forms.n, w, every.values) for w in weights(forms))
                return out_of_time(oracle.family, index, total, tried=tried, **details)
            more, met = every.run(weight, first, count)
            tried += more
            best = better(best, found, _vector(forms, met) if met else None)
            if best and best[0] >= wanted(forms):
                break
        return conclude(oracle.family, found, best and best[1], tried=tried, **details)


def _steps(
    family: Modular, values: int, start: int, slow: int
) -> Iterator[tuple[int, int, int, int]]:
    """Cut the heads from `start` on into steps: index, weight, first head of the weight, heads.

    slow: how many times as long as usual a candidate takes.
    """
    index = 0
    for weight in weights(family):
        count = count_heads(family.n, weight, values)
        step = max(1, _STEP * weight // (family.n * values * slow))
        for first in range(max(0, start - index), count, step):
            yield index + first, weight, first, min(step, count - first)
        index += count


def weights(family: Modular) -> Sequence[int]:
    """List the weights that a secret may have."""
    return (family.h,) if family.h else range(1, family.n + 1)


def enumeration(found: Samples) -> SparseSearch:
    """Prepare the search through all vectors that could be the secret of samples."""
    family = found.family
    if family.q == 2:
        return ParitySearch(
            columns=pack(1 - 2 * found.a.T),
            codes=pack(1 - 2 * found.b),
            limits=_differences(found),
        )
    values = np.array(values_of(family), np.int64)
    require_memory(24 * len(values) * found.a.size, f"the multiples of samples of {family.spec}")
    return ModularSearch(values[:, None, None] * found.a.T % family.q, **vars(costs(found)))


def _vector(family: Modular, found: CheapestVector) -> Secret:
    values, out = values_of(family), [0] * family.n
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
