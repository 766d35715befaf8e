"""The equations of Arora and Ge, a column for each monomial of the secret. [AG11]

y = c - <a, s> mod q is one of 0 .. w-1. Over a prime q the product of (y - v) vanishes, which has
degree w in s. For q = 2^l residues are no field and that product is even anyway; divided by w! it
is a binomial coefficient, and C(y, w) mod 2 = [z^w] (1+z)^c (1+z)^(-<a,s>) over GF(2) vanishes. It
has degree w in the bits of s if bit b counts for 2^b, since (1+z)^(2^b) = 1 + z^(2^b).
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Field:
    """Equations over a prime field, w < q: C(n+w, w) - 1 monomials of degree 1 .. w.

    >>> found = Field(n=2, w=2, q=17)
    >>> found.monomials, found.singles
    (5, [0, 2])
    >>> rows, right = found(np.array([[3, 5]]), np.array([4]))  # (4 - 3x - 5y)(3 - 3x - 5y) = 0
    >>> rows.tolist(), right.tolist()
    ([[13, 9, 16, 15, 8]], [5])
    """

    n: int
    w: int
    q: int

    @property
    def monomials(self) -> int:
        """The number of unknowns of the linear equations."""
        return math.comb(self.n + self.w, self.w) - 1

    @property
    def singles(self) -> list[int]:
        """Which unknowns are the entries of the secret."""
        return [math.comb(i + self.w, self.w) - 1 for i in range(self.n)]

    def __call__(
        self, a: NDArray[np.int64], c: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Write the equations of samples: (N, n), (N,) -> (N, monomials), (N,), mod q.

        The unknown of a monomial is it times its multinomial coefficient, which is 1 for entries.
        """
        columns, degrees = np.ones((len(a), 1), np.int64), np.zeros(1, np.int64)
        for i in range(self.n):
            more, degree = columns, degrees
            while len(degree):
                more = more[:, degree < self.w] * a[:, i : i + 1] % self.q
                degree = degree[degree < self.w] + 1
                columns = np.concatenate([columns, more], axis=1)
                degrees = np.concatenate([degrees, degree])
        columns = columns * self._powers(c)[:, degrees] % self.q
        return columns[:, 1:], -columns[:, 0] % self.q

    def _powers(self, c: NDArray[np.int64]) -> NDArray[np.int64]:
        """The coefficients of the product of c - v - t by powers of t: (N,) -> (N, w+1)."""
        out = np.zeros((len(c), self.w + 1), np.int64)
        out[:, 0] = 1
        for v in range(self.w):
            lower = np.pad(out[:, :-1], ((0, 0), (1, 0)))
            out = (out * ((c - v) % self.q)[:, None] - lower) % self.q
        return out


@dataclass(frozen=True, kw_only=True)
class Bits:
    """Equations over GF(2) for q a power of two above w; the lowest `depth` bits of s are unknown.

    >>> found = Bits(n=3, w=2, depth=2)
    >>> found.monomials, found.singles  # a bit of the units, pairs of such, bits of the twos
    (9, [0, 1, 2, 4, 5, 8])
    """

    n: int
    w: int
    depth: int

    @property
    def monomials(self) -> int:
        """The number of unknowns: sets of bits of a weight up to w, but the empty one."""
        return self._counts[-1] - 1

    @property
    def singles(self) -> list[int]:
        """Which unknowns are bits: those of entry 0, from the lowest, then those of entry 1 ..."""
        return [count - 1 for count in self._counts[:-1]]

    def __call__(
        self, a: NDArray[np.int64], c: NDArray[np.int64]
    ) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """Write the equations of samples: (N, n), (N,) -> packed (N, words), bits (N,)."""
        period = 1 << self.w.bit_length()
        # A polynomial of degree up to w is a number, its coefficient of z^j in bit j.
        power = np.array([self._power(x) for x in range(period)], np.uint64)
        columns, weights = power[c % period][:, None], np.zeros(1, np.int64)
        for k, weight in enumerate(self._weights):
            factor = power[-weight * a[:, k // self.depth] % period] ^ np.uint64(1)
            light = weights + weight <= self.w
            columns = np.concatenate([columns, self._times(columns[:, light], factor)], axis=1)
            weights = np.concatenate([weights, weights[light] + weight])
        bits = ((columns >> np.uint64(self.w)) & np.uint64(1)).astype(np.uint8)
        return _pack(bits[:, 1:]), bits[:, 0]

    @cached_property
    def _weights(self) -> list[int]:
        return [1 << b for _ in range(self.n) for b in range(self.depth)]

    @cached_property
    def _counts(self) -> list[int]:
        """The number of sets of the first 0, 1, 2, ... bits, the empty one among them."""
        sizes = [1] + [0] * self.w  # by weight
        out = [1]
        for weight in self._weights:
            sizes = [s + (sizes[j - weight] if j >= weight else 0) for j, s in enumerate(sizes)]
            out.append(sum(sizes))
        return out

    def _power(self, x: int) -> int:
        """(1+z)^x mod 2 up to z^w: by Lucas, z^j where the bits of j are among those of x."""
        return sum(1 << j for j in range(self.w + 1) if not j & ~x)

    def _times(self, left: NDArray[np.uint64], right: NDArray[np.uint64]) -> NDArray[np.uint64]:
        out = np.zeros_like(left)
        for j in range(self.w + 1):
            bit = (right >> np.uint64(j)) & np.uint64(1)
            out ^= (left << np.uint64(j)) * bit[:, None]
        return out & np.uint64((1 << (self.w + 1)) - 1)


def _pack(bits: NDArray[np.uint8]) -> NDArray[np.uint64]:
    padded = np.pad(bits, ((0, 0), (0, -bits.shape[1] % 64)))
    octets = np.packbits(padded, axis=1, bitorder="little")
    return np.ascontiguousarray(octets).view("<u8").astype(np.uint64)
