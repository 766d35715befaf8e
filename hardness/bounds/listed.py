"""Witnesses for listed functions: tables, a factor of their Gram matrix, nearly orthogonal sets.

The checker computes the correlations of members; this module finds what the checker cannot.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.certificate import NoClaim
from hardness.bounds.checker import written
from hardness.bounds.checker.functions import (
    LARGEST,
    MEMBERS,
    SIGNS,
    VALUES,
    Products,
    products,
    read_problem,
)
from hardness.bounds.members import Members, digest_of, too_many
from instances import tokens
from instances.errors import UsageError
from instances.family import require
from instances.limits import require_memory
from instances.listedfunctions import NAME_TEXT, fits_name

MOST_COORDINATES = 26  # of cubes that are enumerated
MOST_BITS, _QUICK_BITS = 1 << 27, 1 << 25  # of tables; the smaller if values fit too
_BATCH_POINTS = 1 << 20
_EIGENVALUE_GRID = 1 << 30  # bounds on eigenvalues are multiples of 2^-30
# A bound on the eigenvalue is above it by 1/_FINE of it for up to _FEW members, else by 1/_COARSE.
_FEW, _FINE, _COARSE = 256, 1 << 28, 1 << 21
_ALTERNATIVE = (
    "`certify` proves what follows from exact tables; `hardness verify` shows sampled correlations"
)

Matrix = NDArray[np.float64]
Table = tuple[list[int], NDArray[Any]]  # signs that matter, values at their points


def problem_of(
    source: Members, centred: bool = False, progress: Callable[[int], None] = lambda done: None
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Pose the problem of listed functions by their tables; return spec, origin and problem.

    centred: whether members are taken without their mean. progress: called with the number of
    points evaluated since the last call. The spec is the name in the file, or else has the SHA-256
    of names and tables. Raises UsageError.
    """
    tables, names = tables_of(source, progress), list(source.names)
    origin = {"path": source.path, "sha256": source.sha256}
    origin |= {} if source.family_size is None else {"of": str(source.family_size)}
    require(
        all(map(fits_name, origin.values())), f"a name must be {NAME_TEXT}, got {source.path!r}"
    )
    problem = {"kind": "functions", "signs": source.n, "centred": centred, "tables": tables}
    digest = digest_of(names, problem)
    spec = f"{source.kind}:d={source.d},members={len(names)},sha256={digest}"
    return source.spec or spec, {"names": names, **origin}, problem


def eigenvalue(problem: dict[str, Any]) -> dict[str, Any]:
    """Find the witness of a bound on the largest eigenvalue; empty if all functions are equal.

    It is `top`, just above the eigenvalue, and the rounded Cholesky factor that `factor` makes.
    """
    known = products(read_problem(problem))[1]
    plain = np.array(known.plain, np.int64)
    if (plain == plain[0, 0]).all():
        return {}
    off, matrix = Fraction(len(plain) * known.off, known.unit), centre(plain / known.unit)
    true, gap = float(np.linalg.eigvalsh(matrix)[-1]), _FINE if len(matrix) <= _FEW else _COARSE
    above = true * (1 + 1 / gap) + float(off)
    top = Fraction(math.ceil(above * _EIGENVALUE_GRID) + 1, _EIGENVALUE_GRID)
    return {"eigenvalue": {"top": written(top), **factor(matrix, true, float(top - off))}}


def sets_of(known: Products, gamma: Fraction) -> dict[str, Any]:
    """Find the witnesses `apart`, for SQ-DIM, and `sda`, if all members have one norm."""
    from hardness.bounds.independent import independent_members  # loads networkx

    rows = np.array(known.rows, np.int64)
    witness: dict[str, Any] = {"apart": independent_members(rows)}
    if len(set(known.norms)) == 1:
        witness["sda"] = {"enough": written(enough_members(np.abs(rows), known.norms[0] * gamma))}
    return witness


# ---- tables


def tables_of(source: Members, progress: Callable[[int], None] = lambda done: None) -> Any:
    """Evaluate members at all points, and write their tables in the checker's form.

    Small tables of -1 and +1 are written as bits, others by the signs that a member depends on.
    Values that are not integers are multiplied by a common power of 2. Raises UsageError if there
    are no such tables.
    """
    count, n = len(source.names), source.n
    if source.outputs > 1:
        raise UsageError(f"{source.path} has {count} {source.kind}: {_ALTERNATIVE}")
    if count == 1:
        raise NoClaim(f"no claim about {source.path}: it has one member, which everyone knows")
    require(count <= MEMBERS, too_many(count, MEMBERS))
    require_memory(160 * count**2, f"a Gram matrix of {count} members")
    require(n <= MOST_COORDINATES, f"{source.path} has 2^{n} points: at most "
            f"2^{MOST_COORDINATES} are enumerated; {_ALTERNATIVE}")  # fmt: skip
    require_memory(40 << n, f"a table of 2^{n} points")
    tables: list[Table] = []
    points = None
    for i in range(count):
        parts = []
        for start in range(0, 1 << n, _BATCH_POINTS):
            if points is None or n > 20:
                points = _points(start, min(1 << n, start + _BATCH_POINTS), n)
            parts.append(source.evaluate_member(i, points))
            progress(len(parts[-1]))
        tables.append(_without_unused_signs(np.concatenate(parts), n))
        zero = not tables[-1][1].any()
        require(
            not zero, f"member {i} ({source.names[i]}) has the norm 0: it correlates with nothing"
        )
    signs = all((np.abs(values) == 1).all() for _, values in tables)
    size = sum(len(values) for _, values in tables)
    if signs and n <= SIGNS and count << n <= (_QUICK_BITS if size <= VALUES else MOST_BITS):
        return [_bits(table, n) for table in tables]
    require(size <= VALUES, f"{source.path} has {count} members: their tables have {size} "
            f"values, at most {VALUES} are held; {_ALTERNATIVE}")  # fmt: skip
    scale = next((k for k in range(31) if all(_are_integers(v * 2.0**k) for _, v in tables)), None)
    require(scale is not None, f"{source.path} has values that are neither integers nor "
            f"fractions of a few bits; {_ALTERNATIVE}")  # fmt: skip
    return [[on, (values * 2.0 ** (scale or 0)).astype(np.int64).tolist()] for on, values in tables]


def _points(start: int, stop: int, n: int) -> NDArray[np.int8]:
    """Return points start .. stop-1 of -1 and +1: (stop - start, n), in Fortran order."""
    index = np.arange(start, stop, dtype=np.uint64)
    points = np.asfortranarray(tokens.unpack(index[:, None], n))
    points.setflags(write=False)
    return points


def _without_unused_signs(values: NDArray[Any], n: int) -> Table:
    """Reduce a table (2^n,) to the signs on which it depends."""
    on = []
    for j in reversed(range(n)):
        halves = values.reshape(-1, 2, 1 << j)
        if (halves[:, 0] == halves[:, 1]).all():
            values = halves[:, 0].reshape(-1)
        else:
            on.append(j)
    return on[::-1], values.copy()


def _bits(table: Table, n: int) -> str:
    """Write a table of -1 and +1 at all 2^n points in hexadecimal."""
    on, values = table
    sides = [2 if j in on else 1 for j in reversed(range(n))]
    return bits(np.broadcast_to(values.reshape(sides), [2] * n).reshape(-1) < 0)


def bits(table: NDArray[np.bool_]) -> str:
    """Write truth values in hexadecimal: bit i is 1 if the value at point i is true."""
    return f"{int.from_bytes(np.packbits(table, bitorder='little').tobytes(), 'little'):x}"


def _are_integers(values: NDArray[Any]) -> bool:
    return bool((np.abs(values) < LARGEST).all() and (values == np.rint(values)).all())


# ---- eigenvalues


def centre(gram: Matrix) -> Matrix:
    """Return the inner products of functions minus their mean, from those of the functions."""
    rows = gram.mean(axis=1)
    centred = gram - rows[:, None] - rows[None, :] + rows.mean()
    return np.asarray((centred + centred.T) / 2)


def factor(matrix: Matrix, true: float, top: float) -> dict[str, Any]:
    """Round a Cholesky factor of x - matrix, x halfway from the largest eigenvalue to `top`.

    true: the eigenvalue. The scale is so large that rounding entries by up to 1/2 changes the
    product by less than top - x.
    """
    room = (top - true) / 2
    scale = math.ceil((len(matrix) + 4) * math.sqrt(top) / room)
    remainder = -matrix
    remainder.flat[:: len(matrix) + 1] += true + room
    lines = np.rint(np.linalg.cholesky(remainder) * scale)
    rows = [" ".join(f"{int(v):x}" for v in row[: i + 1]) for i, row in enumerate(lines)]
    return {"factor": rows, "scale": scale}


# ---- sets of members with large correlations


def enough_members(sizes: NDArray[np.int64], gamma: Fraction) -> int:
    """Find an s such that any s members or more have an average of at most gamma.

    It is the least s that a bound by row sums proves. sizes: (M, M), absolute inner products.
    gamma: in the same unit. The checker's `functions.every_set` has the proof.

    >>> enough_members(np.array([[4, 2, 0], [2, 4, 0], [0, 0, 4]]), Fraction(2))
    3
    """
    members = len(sizes)
    if int(sizes.max()) * members**2 >= 1 << 63:
        sizes = sizes.astype(object)  # sums are long integers
    sums = np.cumsum(-np.sort(-sizes, axis=1), axis=1)  # [i, s]: of the s + 1 closest to i

    def within(s: int) -> bool:
        largest = np.partition(sums[:, s - 1], members - s)[members - s :]
        return bool(sum(largest.tolist()) <= gamma * s**2)

    return 1 + bisect_left(range(1, members + 1), True, key=within)
