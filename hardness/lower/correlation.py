"""Correlations of members: exact by their overlap, and sampled from the heads on packed words."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hardness.kernels import counts
from hardness.lower.johnson import Johnson
from hardness.lower.sums import CHUNK, Draw, GramAccumulator, overlap_adder
from instances import tokens
from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Secret
from instances.limits import require_memory
from instances.symmetric import Symmetric, to_float
from instances.tokens import words_per_token


@dataclass(frozen=True, kw_only=True)
class Correlation:
    """The correlation of two centred members, scaled to norm 1, known to within a radius.

    >>> Correlation(value=Fraction(0), radius=0.0, method="exact").at_most(0.1)
    True
    """

    value: Fraction
    radius: float  # absolute; 0 only in exact arithmetic
    method: Literal["exact", "interval", "statistical"]

    def at_most(self, bound: float) -> bool:
        """Return whether the correlation is certainly at most `bound` in size."""
        return abs(self.value) + self.radius <= bound


def exact(family: Symmetric, first: Secret, second: Secret) -> Correlation:
    """Correlate two members exactly: c(t)/c(m), t the size of their overlap.

    >>> from instances import parse
    >>> exact(parse("profile:g=majority,d=8,m=3"), (1, 2, 3), (3, 4, 5)).value
    Fraction(1, 4)
    """
    for secret in (first, second):
        family.require_member(secret)
    scheme = Johnson.family(family)
    value = scheme.correlations[len(set(first) & set(second))] / scheme.norm
    return Correlation(value=Fraction(int(value.p), int(value.q)), radius=0.0, method="exact")


def exact_gram(
    family: Symmetric, members: tuple[Secret, ...], rows: int | None = None
) -> NDArray[np.float64]:
    """Compute E[g(h_S) g(h_S')] of all pairs of members exactly: (M, M), not centred.

    With `rows`, of the first members and all: (rows, M).

    >>> from instances import parse
    >>> exact_gram(parse("parity:d=8,m=2"), ((1, 2), (1, 3))).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    for secret in members:
        family.require_member(secret)
    scheme = Johnson.family(family)
    table = np.array([to_float(family.fourier[0] ** 2 + c) for c in scheme.correlations])
    size, width = len(members), words_per_token(family.d)
    masks = np.concatenate([tokens.mask(s, family.d) for s in members]).reshape(size, width)
    return np.asarray(table[counts(masks[:rows], masks)])


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledGram:
    """Sampled correlations of some members, all known to within `radius` at once.

    gram: (M, M), entry (i, j) the mean of B_i B_j over the tokens with z_0 = -1, B the factor that
    the heads compute there. With probability at least `confidence` every entry is within `radius`
    of its expectation: Hoeffding's inequality and a union bound over the M(M+1)/2 entries.
    """

    members: tuple[Secret, ...]
    gram: NDArray[np.float64]
    radius: float
    confidence: float
    samples: int  # drawn
    used: int  # with z_0 = -1
    inequality: str = "Hoeffding, union bound over all entries"


def require_gram(size: int) -> None:
    """Refuse a Gram matrix that does not fit in memory; raises TooLarge."""
    require_memory(40 * size**2 + 16 * size * CHUNK, f"a Gram matrix of {size} members")


def sampled(
    family: Symmetric,
    members: tuple[Secret, ...],
    draw: Draw,
    samples: int,
    confidence: float,
    progress: Callable[[int], None] = lambda done: None,
) -> SampledGram:
    """Estimate the Gram matrix of members from `samples` tokens that `draw(start, count)` gives.

    draw returns packed tokens (count, 2, words). Raises UsageError where no token has z_0 = -1,
    TooLarge where the matrix does not fit.
    """
    require_gram(len(members))
    return gather(
        family, members, overlap_adder(family, members), draw, samples, confidence, progress
    )


def gather(
    family: Coded,
    members: tuple[Secret, ...],
    add: GramAccumulator,
    draw: Draw,
    samples: int,
    confidence: float,
    progress: Callable[[int], None],
) -> SampledGram:
    """Let an adder of all members see `samples` tokens; raises UsageError as `sampled` does."""
    require_confidence(confidence)
    used = feed(family, add, draw, 0, samples, progress)
    require_used(used, samples)
    gram = add.value(add.parts(), used) / used
    return SampledGram(
        members=members,
        gram=np.triu(gram) + np.triu(gram, 1).T,
        radius=deviation(add, len(members), used, confidence),
        confidence=confidence,
        samples=samples,
        used=used,
    )


def feed(
    family: Coded,
    add: GramAccumulator,
    draw: Draw,
    start: int,
    count: int,
    progress: Callable[[int], None] = lambda done: None,
) -> int:
    """Let an adder see those of the tokens start .. start+count-1 with z_0 = -1: how many."""
    used = 0
    for first in range(start, start + count, add.chunk):
        few = min(add.chunk, start + count - first)
        words = draw(first, few)
        words = words[family.open(words)]
        if len(words):
            add.samples(words[:, 0] ^ words[:, 1])
        used += len(words)
        progress(few)
    return used


def deviation(add: GramAccumulator, members: int, used: int, confidence: float) -> float:
    """Bound by how much every mean of `used` products is off, all at once. [Hoe63]"""
    entries = members * (members + 1) / 2
    return add.bound * math.sqrt(2 * math.log(2 * entries / (1 - confidence)) / used) + add.rounding


def require_confidence(confidence: float) -> None:
    """Refuse what is no confidence; raises UsageError."""
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} given: it must be between 0 and 1")


def require_used(used: int, samples: int) -> None:
    """Refuse to divide by no samples; raises UsageError."""
    if not used:
        raise UsageError(f"none of {samples} tokens has z_0 = -1: raise --samples")
