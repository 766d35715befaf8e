"""Gram matrices of finite families by one pass over the points, and truth tables of few of them.

Functions with the values -1 and +1 are packed to bits and counted; others are multiplied in
float64, which is exact for integers of moderate size. A point of the cube {-1, +1}^n has an index:
bit j is 1 where coordinate j is -1.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.claims.finite import MOST_COORDINATES, MOST_FLOATS, MOST_MEMBERS
from hardness.kernels import onebit
from hardness.lower.members import Members, too_many
from instances import tokens
from instances.errors import UsageError
from instances.limits import require_memory
from instances.streams import BitStream, key

TABLE_BYTES = 1 << 22
_TYPES = ("int8", "int16", "int32")
_CHUNK = 1 << 16
_VALUES = 1 << 22  # of all members on the points of one chunk
_EXACT = 2**53  # integers below are exact in float64
_UNIT = 2.0**-53
_LEAST = 1e-280  # a mean square below may be wrong by underflow

Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Gram:
    """Inner products of all pairs of members, and how well they are known.

    values: (M, M). int64: sums over all points, exact. float64: means, each within `radius` of the
    true one. correlation_radius: the same for `correlations`. Of samples both hold with the
    confidence that was asked for, for all pairs at once, else always.
    """

    values: NDArray[Any]
    radius: float = 0.0
    correlation_radius: float = 0.0

    @property
    def exact(self) -> bool:
        """Whether the values are exact."""
        return self.values.dtype.kind == "i"

    @property
    def correlations(self) -> NDArray[np.float64]:
        """The inner products of the members divided by their norms, (M, M), 1 on the diagonal."""
        return normalised(self.values)


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The values of all members on all points: (M, 2^n) as bits, 1 where -1, or as integers."""

    encoding: str  # bits, int8, int16 or int32, the latter little-endian
    rows: tuple[bytes, ...]
    points: int

    @property
    def signs(self) -> NDArray[np.int8]:
        """The values of tables of bits: (M, points) of -1 and +1."""
        octets = np.frombuffer(b"".join(self.rows), np.uint8).reshape(len(self.rows), -1)
        bits = np.unpackbits(octets, axis=1, count=self.points, bitorder="little")
        return 1 - 2 * bits.view(np.int8)

    def to_dict(self) -> dict[str, Any]:
        """Write the tables as hexadecimal."""
        return {"encoding": self.encoding, "rows": [row.hex() for row in self.rows]}


@dataclass(frozen=True, kw_only=True, eq=False)
class Products:
    """Inner products of all pairs; tables, if small; signs: whether all values are -1 or +1."""

    gram: Gram
    tables: Tables | None
    signs: bool


@dataclass(kw_only=True)
class _Sums:
    """Sums of products so far: integers from bits, floats from the rest."""

    size: int
    bits: NDArray[np.int64]
    rest: NDArray[np.float64]
    whole: bool = True
    signs: bool = True

    def add(self, values: NDArray[np.float64]) -> None:
        """Add the products of values (M, count)."""
        signs = bool((np.abs(values) == 1).all())
        if signs:
            self.bits += onebit.gram(tokens.pack(values), values.shape[1])
        else:
            self.signs = False
            self.whole = self.whole and bool((values == np.rint(values)).all())
            with np.errstate(over="ignore", invalid="ignore", under="ignore"):
                self.rest += values @ values.T

    @property
    def total(self) -> NDArray[np.float64]:
        return self.rest + self.bits


def enumerate_products(family: Members, progress: Progress = lambda done: None) -> Products:
    """Sum the products of all pairs over the cube.

    Raises UsageError for n above 26 and for a norm of 0, TooLarge before anything is computed.
    """
    n = family.n
    if n > MOST_COORDINATES:
        raise UsageError(
            f"--method enumeration given for 2^{n} points: at most 2^{MOST_COORDINATES} are "
            "enumerated; use --method sampling"
        )
    chunk = _room(family, 1 << n, MOST_MEMBERS)
    sums, kept = _start(family), _Kept(family)
    for start in range(0, 1 << n, chunk):
        count = min(chunk, (1 << n) - start)
        index = np.arange(start, start + count, dtype=np.uint64)
        values = family.evaluate(tokens.unpack(index[:, None], n))
        sums.add(values)
        kept.add(values, sums)
        progress(count)
    terms = min(chunk, 1 << n) * family.outputs + -(-(1 << n) // chunk) + 1
    found = _of_cube(sums.total, sums.whole, family.names, n, terms)
    if not found.exact:
        _require_few(family, MOST_FLOATS)
    return Products(
        gram=found,
        tables=kept.tables(sums) if found.exact else None,
        signs=found.exact and sums.signs and family.outputs == 1,
    )


def sample_products(
    family: Members,
    samples: int,
    confidence: float,
    seed: int,
    progress: Progress = lambda done: None,
) -> Gram:
    """Estimate the means of the products of all pairs from random points. [Hoe63]

    Raises UsageError for a value above the family's bound and for samples that are too few to tell
    a norm from 0.
    """
    chunk = _room(family, samples, MOST_FLOATS)
    stream = BitStream(key(seed, "points", family.label))
    sums = _start(family)
    for start in range(0, samples, chunk):
        count = min(chunk, samples - start)
        words = tokens.boolean(stream, start, count, 1, family.n)[:, 0]
        values = family.evaluate(tokens.unpack(words, family.n))
        norms = np.sqrt((values.reshape(sums.size, count, -1) ** 2).sum(axis=2))
        above = (norms > family.bound).any(axis=1)
        if above.any():
            i = int(above.argmax())
            raise UsageError(
                f"member {i} ({family.names[i]}) has the value {norms[i].max():g}, above the bound "
                f"{family.bound:g}: say in the file what they are at most, as bound = ..."
            )
        sums.add(values)
        progress(count)
    terms = min(chunk, samples) * family.outputs - (-samples // chunk) + 1
    return _of_samples(sums.total, family.names, samples, confidence, family.bound, terms)


def _start(family: Members) -> _Sums:
    size = len(family.names)
    return _Sums(size=size, bits=np.zeros((size, size), np.int64), rest=np.zeros((size, size)))


def _room(family: Members, points: int, most: int) -> int:
    """Return the points of a chunk, or refuse what does not fit."""
    size = len(family.names)
    require_memory(160 * size**2, f"a Gram matrix of {size} members")
    _require_few(family, most)
    chunk = min(points, _CHUNK, max(1 << 8, _VALUES // (size * family.outputs)))
    require_memory(32 * size * chunk * family.outputs, f"values of {size} members")
    return chunk


def _require_few(family: Members, most: int) -> None:
    if len(family.names) > most:
        raise UsageError(too_many(len(family.names), most))


class _Kept:
    """Collects truth tables, as long as they are integers of one number a point, and small."""

    def __init__(self, family: Members) -> None:
        self._cells = len(family.names) << family.n
        self._parts: list[NDArray[np.int32]] = []
        self._open = family.outputs == 1 and self._cells <= 8 * TABLE_BYTES

    def add(self, values: NDArray[np.float64], sums: _Sums) -> None:
        fits = sums.signs or self._cells <= TABLE_BYTES
        if self._open and sums.whole and fits and (np.abs(values) < 2**31).all():
            kind = np.int8 if (np.abs(values) < 128).all() else np.int32
            self._parts.append(values.astype(kind))
        else:
            self._open, self._parts = False, []

    def tables(self, sums: _Sums) -> Tables | None:
        """The tables, if they were kept and are at most 4 MiB as they are written."""
        if not self._open or float(np.diagonal(sums.total).max()) * self._points >= _EXACT:
            return None
        values = np.concatenate(self._parts, axis=1)
        if sums.signs:
            packed = np.packbits(values < 0, axis=1, bitorder="little")
            rows = tuple(row.tobytes() for row in packed)
            return Tables(encoding="bits", rows=rows, points=self._points)
        largest = int(np.abs(values.astype(np.int64)).max())
        name = next(t for t in _TYPES if largest <= np.iinfo(t).max)
        if values.size * np.dtype(name).itemsize > TABLE_BYTES:
            return None
        written = values.astype(np.dtype(name).newbyteorder("<"))
        rows = tuple(row.tobytes() for row in written)
        return Tables(encoding=name, rows=rows, points=self._points)

    @property
    def _points(self) -> int:
        return sum(part.shape[1] for part in self._parts)


def _of_samples(
    sums: NDArray[np.float64],
    members: tuple[str, ...],
    samples: int,
    confidence: float,
    bound: float,
    terms: int,
) -> Gram:
    """Make the Gram matrix of sums (M, M) over samples, added with `terms` roundings each.

    bound: of a member's norm at any point. Raises UsageError where a norm may be 0.
    """
    gram = sums / samples
    radius = _hoeffding(len(sums), samples, confidence, bound) + _gamma(terms + 1) * 2 * bound**2
    norms = np.diagonal(gram)
    if (norms <= radius).any():
        i = int(norms.argmin())
        raise UsageError(
            f"{member_name(members, i)} has the mean square {norms[i]:.4g}, known to within "
            f"{radius:.4g}, so it may be 0: raise the samples or leave it out"
        )
    return Gram(
        values=gram,
        radius=radius,
        correlation_radius=spread(gram, radius),
    )


def _hoeffding(size: int, samples: int, confidence: float, bound: float) -> float:
    """Bound how far all means of products of `size` members are off at once. [Hoe63]"""
    entries = size * (size + 1) / 2
    return bound**2 * math.sqrt(2 * math.log(2 * entries / (1 - confidence)) / samples)


def member_name(members: tuple[str, ...], i: int) -> str:
    """Name a member, for messages."""
    return f"member {i} ({members[i]})"


def _gamma(terms: int) -> float:
    """Bound the relative rounding of a sum of products, in any order of adding [Hig02].

    For `terms` roundings on the way of each product: |error| <= gamma * sum |products|, and that
    sum is at most the product of the norms, by Cauchy and Schwarz.
    """
    return terms * _UNIT / (1 - terms * _UNIT)


def _of_cube(
    sums: NDArray[Any],
    whole: bool,
    members: tuple[str, ...],
    n: int,
    terms: int,
) -> Gram:
    """Make the Gram matrix of sums over 2^n points, added with at most `terms` roundings each."""
    norms = np.diagonal(sums)
    if not np.isfinite(norms).all():
        i = int(np.argmin(np.isfinite(norms)))
        raise UsageError(f"{member_name(members, i)} has squares that overflow: scale it down")
    if (norms == 0).any():
        i = int(np.argmax(norms == 0))
        raise UsageError(f"{member_name(members, i)} has the norm 0: it correlates with nothing")
    # Integers: by Cauchy and Schwarz no partial sum is above the largest norm, so all are exact.
    if whole and norms.max() < _EXACT:
        return Gram(values=sums.astype(np.int64))
    means = sums / (1 << n)
    if (np.diagonal(means) < _LEAST).any():
        i = int(np.diagonal(means).argmin())
        raise UsageError(f"{member_name(members, i)} has squares that underflow: scale it up")
    gamma = _gamma(terms + 3)
    # An entry is off by at most gamma sqrt(g_ii g_jj), a norm by the factor 1 +- gamma: so their
    # quotient by 2 gamma / (1 - gamma) at most, and a few roundings of its own.
    return Gram(
        values=means,
        radius=float(gamma * np.diagonal(means).max() / (1 - gamma)),
        correlation_radius=2 * gamma / (1 - gamma) + 8 * _UNIT,
    )


def normalised(values: NDArray[Any]) -> NDArray[np.float64]:
    """Divide inner products (M, M) by the norms: 1 on the diagonal."""
    norms = np.sqrt(np.diagonal(values).astype(np.float64))
    found = values / np.outer(norms, norms)
    np.fill_diagonal(found, 1.0)
    return found


def spread(gram: NDArray[np.float64], radius: float) -> float:
    """How far the true correlations may be from those of `gram`, each entry within a radius.

    Interval arithmetic: entry / (norm norm), each of the three at the end that is worst.
    """
    norms = np.diagonal(gram)
    least, most = np.sqrt(norms - radius), np.sqrt(norms + radius)
    smallest, largest = np.outer(least, least), np.outer(most, most)
    found = normalised(gram)
    high, low = gram + radius, gram - radius
    high = np.minimum(np.where(high > 0, high / smallest, high / largest), 1.0)
    low = np.maximum(np.where(low < 0, low / smallest, low / largest), -1.0)
    off = np.maximum(high - found, found - low)
    np.fill_diagonal(off, 0.0)  # 1, whatever the norm is
    return float(off.max()) * (1 + 1e-12) + 8 * _UNIT
