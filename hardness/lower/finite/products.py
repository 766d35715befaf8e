"""One pass over the points of a finite family: inner products, and truth tables where they are few.

Functions with the values -1 and +1 are packed to bits and counted; others are multiplied in
float64, which is exact for integers of moderate size.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.kernels import onebit
from hardness.lower.finite.gram import Gram, of_cube, of_samples
from hardness.lower.finite.sources import FiniteFamily
from instances import tokens
from instances.errors import UsageError
from instances.limits import require_memory
from instances.streams import BitStream, key

MOST_COORDINATES = 26  # of a cube that is enumerated
MOST_MEMBERS = 4096  # their Gram matrix is part of the certificate
_CHUNK = 1 << 16
_VALUES = 1 << 22  # of all members on the points of one chunk
TABLE_BYTES = 1 << 22
_EXACT = 2**53
_TYPES = ("int8", "int16", "int32")

Progress = Callable[[int], None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Tables:
    """The values of all members on all points: (M, 2^n) as bits, 1 where -1, or as integers."""

    encoding: str  # bits, int8, int16 or int32, the latter little-endian
    rows: tuple[bytes, ...]

    def to_json(self) -> dict[str, Any]:
        """Write the tables as hexadecimal, with the SHA-256 of all rows one after the other."""
        digest = hashlib.sha256(b"".join(self.rows)).hexdigest()
        return {
            "encoding": self.encoding,
            "sha256": digest,
            "rows": [row.hex() for row in self.rows],
        }


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


def enumerate_products(
    family: FiniteFamily, progress: Progress = lambda done: None
) -> tuple[Gram, Tables | None]:
    """Sum the products of all pairs over the cube; with the truth tables where they are small.

    Raises UsageError for n above 26 and for a norm of 0, TooLarge before anything is computed.
    """
    n = family.n
    if n > MOST_COORDINATES:
        raise UsageError(
            f"--method enumeration given for 2^{n} points: at most 2^{MOST_COORDINATES} are "
            "enumerated; use --method sampling"
        )
    chunk = _room(family, 1 << n)
    sums, kept = _start(family), _Kept(family)
    for start in range(0, 1 << n, chunk):
        count = min(chunk, (1 << n) - start)
        index = np.arange(start, start + count, dtype=np.uint64)
        values = family.evaluate(tokens.unpack(index[:, None], n))
        sums.add(values)
        kept.add(values, sums)
        progress(count)
    terms = min(chunk, 1 << n) * family.outputs + -(-(1 << n) // chunk) + 1
    found = of_cube(sums.total, sums.whole, family.names, n, terms)
    return found, kept.tables(sums) if found.kind == "exact" else None


def sample_products(
    family: FiniteFamily,
    samples: int,
    confidence: float,
    seed: int,
    progress: Progress = lambda done: None,
) -> Gram:
    """Estimate the means of the products of all pairs from random points. [Hoe63]

    Raises UsageError for a value above the family's bound and for samples that are too few to tell
    a norm from 0.
    """
    if samples < 1 or not 0 < confidence < 1:
        raise UsageError(
            f"samples={samples}, confidence={confidence} given: at least 1, and between 0 and 1"
        )
    chunk = _room(family, samples)
    stream = BitStream(key(seed, "points", family.spec))
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
    return of_samples(sums.total, family.names, samples, confidence, family.bound, terms)


def _start(family: FiniteFamily) -> _Sums:
    size = len(family.names)
    return _Sums(size=size, bits=np.zeros((size, size), np.int64), rest=np.zeros((size, size)))


def _room(family: FiniteFamily, points: int) -> int:
    """Return the points of a chunk, or refuse what does not fit."""
    size = len(family.names)
    require_memory(160 * size**2, f"a Gram matrix of {size} members")
    if size > MOST_MEMBERS:
        raise UsageError(
            f"{size} members given: certificates hold Gram matrices of at most {MOST_MEMBERS}"
        )
    chunk = min(points, _CHUNK, max(1 << 8, _VALUES // (size * family.outputs)))
    require_memory(32 * size * chunk * family.outputs, f"values of {size} members")
    return chunk


class _Kept:
    """Collects truth tables, as long as they are integers of one number a point, and small."""

    def __init__(self, family: FiniteFamily) -> None:
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
            return Tables(encoding="bits", rows=tuple(row.tobytes() for row in packed))
        largest = int(np.abs(values.astype(np.int64)).max())
        name = next(t for t in _TYPES if largest <= np.iinfo(t).max)
        if values.size * np.dtype(name).itemsize > TABLE_BYTES:
            return None
        written = values.astype(np.dtype(name).newbyteorder("<"))
        return Tables(encoding=name, rows=tuple(row.tobytes() for row in written))

    @property
    def _points(self) -> int:
        return sum(part.shape[1] for part in self._parts)
