"""Sums of products of members over samples, of a strip of their Gram matrix or of all of it.

A strip is the products of the first members with all of them. Sums over samples that come in
parts are the sums of the parts, exactly where they are integers.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hardness.kernels import counts, onebit
from hardness.kernels.planes import planes, where_counts
from instances import tokens
from instances.coded import Coded
from instances.family import Secret
from instances.symmetric import Symmetric

Draw = Callable[[int, int], NDArray[np.uint64]]  # start, count -> packed tokens (count, 2, words)
Parts = dict[str, NDArray[Any]]  # sums by name, int64 or float64
CHUNK = 1 << 13
_CHUNK_WORDS = 1 << 19
_PLANES = 1 << 26
_NUMBERS = 1 << 24  # values at once: 128 MiB
_BITS = 1 << 29  # of members, over all tokens: half of them are used
_OFF = 1e-9


class GramAccumulator(Protocol):
    """Adds up products B_i B_j of the values of members, i among the first `rows`, j >= i.

    bound: no product is larger in size; rounding: what their mean is off by besides. whole:
    whether all sums are integers.
    """

    chunk: int  # samples at once
    rounding: float
    whole: bool

    @property
    def bound(self) -> float:
        """A bound on the size of a product."""

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""

    def parts(self) -> Parts:
        """The sums so far, by name; those of other samples may be added to them."""

    def value(self, parts: Parts, used: int) -> NDArray[np.float64]:
        """Compute sums of B_i B_j over `used` samples from parts: (rows, M), where j >= i."""


def overlap_adder(
    family: Symmetric, members: tuple[Secret, ...], rows: int | None = None
) -> GramAccumulator:
    """Choose how products of the first `rows` members, or of all, with all are added up.

    >>> from instances import parse
    >>> overlap_adder(parse("parity:d=8,m=2"), ((1, 2), (1, 3))).whole
    True
    """
    rows = len(members) if rows is None else rows
    table = family.response()
    # Bits will do only where the heads as they are have the two values of the profile.
    off = float(np.abs(table - [float(v) for v in family.values]).max())
    if family.two_valued and off < _OFF:
        return Signs(family, members, rows, off)
    return Values(family, members, rows, table)


class Evaluations:
    """Adds up products of the factors of members, evaluated by their formula."""

    rounding = 0.0
    whole = False

    def __init__(self, family: Coded, members: tuple[Secret, ...], rows: int) -> None:
        """Start at 0."""
        self._family, self._members = family, members
        self._sums = np.zeros((rows, len(members)))
        self.chunk = max(64, min(CHUNK, _NUMBERS // len(members)))

    @property
    def bound(self) -> float:
        """The largest level, squared."""
        return float(np.abs(self._family.factors).max()) ** 2

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""
        words = np.stack([z, np.zeros_like(z)], axis=1)
        clean = np.zeros(len(z), np.bool_)
        codes = np.stack([self._family.codes(s, words, clean) for s in self._members])
        values = self._family.factors[codes]
        self._sums += values[: len(self._sums)] @ values.T

    def parts(self) -> Parts:
        """The products (rows, M), 0 below the diagonal."""
        return {"products": np.triu(self._sums)}

    def value(self, parts: Parts, used: int) -> NDArray[np.float64]:
        """The products as they are."""
        return np.asarray(parts["products"], np.float64)


class Values:
    """Adds up products of the heads' values, whatever they are."""

    rounding = 0.0
    whole = False

    def __init__(
        self,
        family: Symmetric,
        members: tuple[Secret, ...],
        rows: int,
        table: NDArray[np.float64],
    ) -> None:
        """Start at 0; table: the heads' values B(0) .. B(m)."""
        self._table = table
        self._masks = np.stack([tokens.mask(s, family.d) for s in members])
        self._sums = np.zeros((rows, len(members)))
        fitting = min(_CHUNK_WORDS // self._masks.shape[1], _NUMBERS // len(members))
        self.chunk = max(64, min(CHUNK, fitting))

    @property
    def bound(self) -> float:
        """The largest value, squared."""
        return float(np.abs(self._table).max()) ** 2

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""
        values = self._table[counts(self._masks, z)]
        self._sums += values[: len(self._sums)] @ values.T

    def parts(self) -> Parts:
        """The products (rows, M), 0 below the diagonal."""
        return {"products": np.triu(self._sums)}

    def value(self, parts: Parts, used: int) -> NDArray[np.float64]:
        """The products as they are."""
        return np.asarray(parts["products"], np.float64)


class Signs:
    """Adds up products of heads that have two values, as bits: B = middle + half s, s = +-1.

    off: how far the heads in float64 are from the two values.
    """

    whole = True

    def __init__(
        self, family: Symmetric, members: tuple[Secret, ...], rows: int, off: float
    ) -> None:
        """Start at 0."""
        self._d, self._places = family.d, np.array(members, np.int64)
        self._low = np.array([v == min(family.values) for v in family.values])
        low, high = (float(end(family.values)) for end in (min, max))
        self._middle, self._half = (high + low) / 2, (high - low) / 2
        # The heads in float64 are this far from the two values; products by as much again.
        self.rounding = off * (2 * max(abs(low), abs(high)) + off)
        self._table = family.response()
        self._distances = np.zeros((rows, len(members)), np.int64)
        self._ones = np.zeros(len(members), np.int64)
        self._used = 0
        self.chunk = max(64, min(1 << 17, _PLANES // family.d, _BITS // len(members)))

    @property
    def bound(self) -> float:
        """The largest value of the heads, squared."""
        return float(np.abs(self._table).max()) ** 2

    def samples(self, z: NDArray[np.uint64]) -> None:
        """Add packed z (n, words)."""
        n = len(z)
        bits = where_counts(planes(z, self._d), self._places, self._low)
        if n % 64:
            bits[:, -1] &= np.uint64((1 << n % 64) - 1)
        onebit.add_distances(bits, n, self._distances)
        self._ones += np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        self._used += n

    def parts(self) -> Parts:
        """The products s_i s_j (rows, M), 0 below the diagonal, and the sums of s_j (M,)."""
        products = np.multiply(self._distances, -2)
        products += self._used
        return {"products": np.triu(products), "sums": self._used - 2 * self._ones}

    def value(self, parts: Parts, used: int) -> NDArray[np.float64]:
        """Sum B_i B_j = middle^2 + middle half (s_i + s_j) + half^2 s_i s_j."""
        products, sums = parts["products"], parts["sums"]
        middle, half = self._middle, self._half
        out = half**2 * products
        if middle:
            out += middle * half * (sums[: len(products), None] + sums[None, :])
            out += middle**2 * used
        return np.asarray(out, np.float64)
