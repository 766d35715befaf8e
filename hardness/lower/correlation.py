"""Correlations of members: exact by their overlap, and sampled from the heads on packed words."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.kernels import counts, onebit
from hardness.kernels.planes import planes, where_count
from hardness.lower.johnson import Johnson
from instances import tokens
from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Secret
from instances.limits import require_memory
from instances.symmetric import Symmetric, to_float
from instances.tokens import words_per_token

_CHUNK = 1 << 13
_CHUNK_WORDS = 1 << 19
_PLANES = 1 << 26
_OFF = 1e-9


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
        """Say whether the correlation is certainly at most `bound` in size."""
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


def exact_gram(family: Symmetric, members: tuple[Secret, ...]) -> NDArray[np.float64]:
    """Compute E[g(h_S) g(h_S')] of all pairs of members exactly: (M, M), not centred.

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
    return np.asarray(table[counts(masks, masks)])


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
    require_memory(40 * size**2 + 16 * size * _CHUNK, f"a Gram matrix of {size} members")


def sampled(
    family: Symmetric,
    members: tuple[Secret, ...],
    draw: Callable[[int, int], NDArray[np.uint64]],
    samples: int,
    confidence: float,
    progress: Callable[[int], None] = lambda done: None,
) -> SampledGram:
    """Estimate the Gram matrix of members from `samples` tokens that `draw(start, count)` gives.

    draw returns packed tokens (count, 2, words). Raises UsageError where no token has z_0 = -1,
    TooLarge where the matrix does not fit.
    """
    require_gram(len(members))
    table = family.response()
    # Bits will do only where the heads as they are have the two values of the profile.
    off = float(np.abs(table - [float(v) for v in family.values]).max())
    signs = family.two_valued and off < _OFF
    add: Adder = _Signs(family, members, off) if signs else _Values(family, members, table)
    bound = float(np.abs(table).max()) ** 2
    return gather(family, members, add, bound, draw, samples, confidence, progress)


class Adder(Protocol):
    """Adds up products of the values of members; `rounding` is what their mean is off by."""

    chunk: int  # samples at once
    rounding: float

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""

    def total(self) -> NDArray[np.float64]:
        """The sums so far: (M, M)."""


def gather(
    family: Coded,
    members: tuple[Secret, ...],
    add: Adder,
    bound: float,
    draw: Callable[[int, int], NDArray[np.uint64]],
    samples: int,
    confidence: float,
    progress: Callable[[int], None],
) -> SampledGram:
    """Let an adder see the tokens with z_0 = -1; no product may be above `bound` in size.

    Raises UsageError as `sampled` does.
    """
    if not 0 < confidence < 1:
        raise UsageError(f"confidence {confidence} given: it must be between 0 and 1")
    size, used = len(members), 0
    for start in range(0, samples, add.chunk):
        count = min(add.chunk, samples - start)
        words = draw(start, count)
        words = words[family.open(words)]
        if len(words):
            add.samples(words[:, 0] ^ words[:, 1])
        used += len(words)
        progress(count)
    if not used:
        raise UsageError(f"none of {samples} tokens has z_0 = -1: raise --samples")
    entries = size * (size + 1) / 2
    radius = bound * math.sqrt(2 * math.log(2 * entries / (1 - confidence)) / used)
    return SampledGram(
        members=members,
        gram=add.total() / used,
        radius=radius + add.rounding,
        confidence=confidence,
        samples=samples,
        used=used,
    )


class _Values:
    """Adds up products of the heads' values, whatever they are."""

    rounding = 0.0

    def __init__(
        self, family: Symmetric, members: tuple[Secret, ...], table: NDArray[np.float64]
    ) -> None:
        self._table = table
        self._masks = np.stack([tokens.mask(s, family.d) for s in members])
        self._gram = np.zeros((len(members), len(members)))
        self.chunk = max(64, min(_CHUNK, _CHUNK_WORDS // self._masks.shape[1]))

    def samples(self, z: NDArray[np.uint64]) -> None:
        values = self._table[counts(self._masks, z)]
        self._gram += values @ values.T

    def total(self) -> NDArray[np.float64]:
        return self._gram


class _Signs:
    """Adds up products of heads that have two values, as bits: B = middle + half s, s = +-1."""

    def __init__(self, family: Symmetric, members: tuple[Secret, ...], off: float) -> None:
        self._d, self._members = family.d, members
        self._low = np.array([v == min(family.values) for v in family.values])
        low, high = (float(end(family.values)) for end in (min, max))
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        # The heads in float64 are this far from the two values; products by as much again.
        self.rounding = off * (2 * max(abs(low), abs(high)) + off)
        self._products = np.zeros((len(members), len(members)), np.int64)
        self._sums = np.zeros(len(members), np.int64)
        self._used = 0
        self.chunk = max(64, min(1 << 16, _PLANES // family.d))

    def samples(self, z: NDArray[np.uint64]) -> None:
        rows, n = planes(z, self._d), len(z)
        bits = np.stack([where_count(rows, s, self._low) for s in self._members])
        if n % 64:
            bits[:, -1] &= np.uint64((1 << n % 64) - 1)
        self._products += onebit.gram(bits, n)
        self._sums += n - 2 * np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        self._used += n

    def total(self) -> NDArray[np.float64]:
        cross = self._sums[:, None] + self._sums[None, :]
        middle, half = self._middle, self._half
        return middle**2 * self._used + middle * half * cross + half**2 * self._products
