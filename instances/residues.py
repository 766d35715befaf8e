"""Residues mod q, and vectors of them in the bits of tokens.

Coordinate 1 + j L + b of z = X_1 * X_2 is -1 where bit b of a_j is 1. L bits give a number, which
is reduced mod q.
"""

from collections.abc import Iterator
from itertools import count
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value", int, NDArray[np.int64])
_BATCH_NUMBERS = 1 << 16  # numbers of a batch


def centred(value: Value, q: int) -> Value:
    """Reduce mod q to -q/2 .. (q-1)/2.

    >>> centred(7, 8), centred(4, 8), centred(3, 8)
    (-1, -4, 3)
    """
    return (value + q // 2) % q - q // 2


def is_power_of_two(q: int) -> bool:
    """Return whether q is 1, 2, 4, ..."""
    return q > 0 and not q & (q - 1)


def is_prime(q: int) -> bool:
    """Return whether q is prime, by a proof.

    >>> is_prime(3329), is_prime(3328)
    (True, False)
    """
    from flint import fmpz  # not needed for q = 2^L

    return bool(fmpz(q).is_prime())


def next_prime(q: int) -> int:
    """Find the smallest prime above q.

    >>> next_prime(12)
    13
    """
    return next(filter(is_prime, count(q + 1)))


def factors(q: int) -> tuple[tuple[int, int], ...]:
    """Factor q: ascending primes with their exponents.

    >>> factors(842779), factors(16)
    (((7, 1), (120397, 1)), ((2, 4),))
    """
    from flint import fmpz

    return tuple((int(p), int(exponent)) for p, exponent in sorted(fmpz(q).factor()))


def dot(a: NDArray[np.int64], s: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Compute <a, s> mod q: (N, n), (n,) -> (N,), a in 0 .. q-1, exact for q up to 2^48.

    >>> dot(np.array([[1, 2]]), np.array([-1, 3]), 7).tolist()
    [5]
    """
    s = centred(s, q)
    if sum(map(abs, s.tolist())) * (q - 1) < 1 << 53:  # an upper bound on the sum of products
        return (a.astype(np.float64) @ s.astype(np.float64)).astype(np.int64) % q
    return np.array([sum(map(int.__mul__, row, s.tolist())) % q for row in a.tolist()], np.int64)


def read(words: NDArray[np.uint64], n: int, length: int, q: int) -> NDArray[np.int64]:
    """Read the vectors a from packed tokens (N, 2, words): (N, n), in 0 .. q-1.

    >>> read(np.array([[[0b11010], [0]]], np.uint64), n=2, length=2, q=4).tolist()
    [[1, 3]]
    """
    powers = np.array([pow(2, b, q) for b in range(length)], np.float64)
    out = np.empty((len(words), n), np.int64)
    for rows, bits in _bits(words, n * length):
        out[rows] = bits.reshape(len(bits), n, length) @ powers
    return out % q


def weigh(words: NDArray[np.uint64], weights: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum the weights (n L,) of the bits that are 1 in packed tokens (N, 2, words): (N,).

    >>> weigh(np.array([[[0b11010], [0]]], np.uint64), np.array([1, 2, 5, -9])).tolist()
    [-3]
    """
    out = np.empty(len(words), np.int64)
    for rows, bits in _bits(words, len(weights)):
        out[rows] = bits @ weights.astype(np.float64)
    return out


def _bits(words: NDArray[np.uint64], n: int) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Read the n bits of z in batches: the rows of a batch, and their bits (rows, n)."""
    batch = max(1, _BATCH_NUMBERS // (n + 1))
    for start in range(0, len(words), batch):
        rows = slice(start, start + batch)
        octets = np.ascontiguousarray(words[rows, 0] ^ words[rows, 1], "<u8").view(np.uint8)
        bits = np.unpackbits(octets, axis=-1, bitorder="little")[:, 1 : n + 1]
        yield rows, bits.astype(np.float64)


def write(a: NDArray[np.int64], length: int, q: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Write vectors of Z_q (N, n) in bits (N, n L), least first.

    Each entry becomes a uniformly random one of the L-bit numbers that are equal to it mod q.

    >>> write(np.array([[1, 2]]), 2, 4, np.random.default_rng(0)).tolist()
    [[1, 0, 0, 1]]
    """
    multiples = ((1 << length) - 1 - a) // q  # how many other L-bit numbers are a mod q
    numbers = a + q * rng.integers(0, multiples, endpoint=True)
    bits = (numbers[:, :, None] >> np.arange(length)) & 1
    return bits.reshape(len(a), a.shape[1] * length).astype(np.uint8)
