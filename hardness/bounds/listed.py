"""Listed functions: their tables, a factor of their matrix, sets that are far apart or near.

The checker computes their correlations; here is what is hard to find.
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

MOST_COORDINATES = 26  # of a cube that is enumerated
MOST_BITS, _QUICK_BITS = 1 << 27, 1 << 25  # of all tables
_CHUNK = 1 << 20
_GRID = 1 << 30  # of eigenvalues
_FEW, _FINE, _COARSE = 256, 1 << 28, 1 << 21  # members, and 1/how far above the true one
_SAMPLED = (
    "`certify` proves what follows from exact tables; `hardness verify` shows sampled correlations"
)

Matrix = NDArray[np.float64]
Table = tuple[list[int], NDArray[Any]]  # which signs, and the values at their points


def problem_of(
    source: Members, centred: bool = False, progress: Callable[[int], None] = lambda done: None
) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Pose the problem of functions, by their tables: how they are called, their origin, it.

    Members have the name that their file gives them, else the SHA-256 of their names and tables.
    Raises UsageError.
    """
    tables, names = tables_of(source, progress), list(source.names)
    origin = {"path": source.path, "sha256": source.sha256}
    origin |= {} if source.whole_size is None else {"of": str(source.whole_size)}
    require(
        all(map(fits_name, origin.values())), f"a name must be {NAME_TEXT}, got {source.path!r}"
    )
    problem = {"kind": "functions", "signs": source.n, "centred": centred, "tables": tables}
    digest = digest_of(names, problem)
    spec = f"{source.kind}:d={source.d},members={len(names)},sha256={digest}"
    return source.spec or spec, {"names": names, **origin}, problem


def eigenvalue(problem: dict[str, Any]) -> dict[str, Any]:
    """Find the witness of a bound on the largest eigenvalue; empty if all are the same function.

    It is a factor, rounded, of what a number just above the eigenvalue leaves.
    """
    known = products(read_problem(problem))[1]
    plain = np.array(known.plain, np.int64)
    if (plain == plain[0, 0]).all():
        return {}
    off, matrix = Fraction(len(plain) * known.off, known.unit), centre(plain / known.unit)
    true, gap = float(np.linalg.eigvalsh(matrix)[-1]), _FINE if len(matrix) <= _FEW else _COARSE
    top = Fraction(math.ceil((true * (1 + 1 / gap) + float(off)) * _GRID) + 1, _GRID)
    return {"eigenvalue": {"top": written(top), **factor(matrix, true, float(top - off))}}


def sets_of(known: Products, gamma: Fraction) -> dict[str, Any]:
    """Find members that are far apart, and how large sets of near ones are: two witnesses."""
    from hardness.bounds.independent import independent_members  # loads networkx

    rows = np.array(known.rows, np.int64)
    witness: dict[str, Any] = {"apart": independent_members(rows)}
    if len(set(known.norms)) == 1:
        witness["sda"] = {"enough": written(enough_members(np.abs(rows), known.norms[0] * gamma))}
    return witness


# Tables.


def tables_of(source: Members, progress: Callable[[int], None] = lambda done: None) -> Any:
    """Evaluate members at all points, and write their tables as the checker reads them.

    By bits where all values are -1 and +1 and the tables are small, else by the signs that members
    depend on. Values that are no integers are so times a power of 2, the same for all. Raises
    UsageError where there are no such tables.
    """
    count, n = len(source.names), source.n
    if source.outputs > 1:
        raise UsageError(f"{source.path} has {count} {source.kind}: {_SAMPLED}")
    if count == 1:
        raise NoClaim(f"no claim about {source.path}: it has one member, which everyone knows")
    require(count <= MEMBERS, too_many(count, MEMBERS))
    require_memory(160 * count**2, f"a Gram matrix of {count} members")
    require(n <= MOST_COORDINATES, f"{source.path} has 2^{n} points: at most "
            f"2^{MOST_COORDINATES} are enumerated; {_SAMPLED}")  # fmt: skip
    require_memory(40 << n, f"a table of 2^{n} points")
    tables: list[Table] = []
    points = None
    for i in range(count):
        parts = []
        for start in range(0, 1 << n, _CHUNK):
            if points is None or n > 20:
                points = _points(start, min(1 << n, start + _CHUNK), n)
            parts.append(source.evaluate_member(i, points))
            progress(len(parts[-1]))
        tables.append(_needed(np.concatenate(parts), n))
        zero = not tables[-1][1].any()
        require(
            not zero, f"member {i} ({source.names[i]}) has the norm 0: it correlates with nothing"
        )
    signs = all((np.abs(values) == 1).all() for _, values in tables)
    size = sum(len(values) for _, values in tables)
    if signs and n <= SIGNS and count << n <= (_QUICK_BITS if size <= VALUES else MOST_BITS):
        return [_bits(table, n) for table in tables]
    require(size <= VALUES, f"{source.path} has {count} members: their tables have {size} "
            f"values, at most {VALUES} are held; {_SAMPLED}")  # fmt: skip
    scale = next((k for k in range(31) if all(_whole(v * 2.0**k) for _, v in tables)), None)
    require(scale is not None, f"{source.path} has values that are neither integers nor "
            f"fractions of a few bits; {_SAMPLED}")  # fmt: skip
    return [[on, (values * 2.0 ** (scale or 0)).astype(np.int64).tolist()] for on, values in tables]


def _points(start: int, stop: int, n: int) -> NDArray[np.int8]:
    """Points of -1 and +1, (stop - start, n), a coordinate at a time in memory."""
    index = np.arange(start, stop, dtype=np.uint64)
    points = np.asfortranarray(tokens.unpack(index[:, None], n))
    points.setflags(write=False)
    return points


def _needed(values: NDArray[Any], n: int) -> Table:
    """Leave out the signs on which a table does not depend, the last first."""
    on = []
    for j in reversed(range(n)):
        halves = values.reshape(-1, 2, 1 << j)
        if (halves[:, 0] == halves[:, 1]).all():
            values = halves[:, 0].reshape(-1)
        else:
            on.append(j)
    return on[::-1], values.copy()


def _bits(table: Table, n: int) -> str:
    """Write a table of -1 and +1 at all points as hexadecimal."""
    on, values = table
    sides = [2 if j in on else 1 for j in reversed(range(n))]
    return bits(np.broadcast_to(values.reshape(sides), [2] * n).reshape(-1) < 0)


def bits(table: NDArray[np.bool_]) -> str:
    """Write a table as the checker reads it: bit i is 1 where it is so at point i."""
    return f"{int.from_bytes(np.packbits(table, bitorder='little').tobytes(), 'little'):x}"


def _whole(values: NDArray[Any]) -> bool:
    return bool((np.abs(values) < LARGEST).all() and (values == np.rint(values)).all())


# Eigenvalues.


def centre(gram: Matrix) -> Matrix:
    """The inner products of functions less their mean."""
    rows = gram.mean(axis=1)
    less = gram - rows[:, None] - rows[None, :] + rows.mean()
    return np.asarray((less + less.T) / 2)


def factor(matrix: Matrix, true: float, top: float) -> dict[str, Any]:
    """Round a Cholesky factor of what a number between an eigenvalue and `top` leaves.

    Of all entries that are rounded by up to 1/2 the products add up to less than what is left.
    """
    room = (top - true) / 2
    scale = math.ceil((len(matrix) + 4) * math.sqrt(top) / room)
    rest = -matrix
    rest.flat[:: len(matrix) + 1] += true + room
    lines = np.rint(np.linalg.cholesky(rest) * scale)
    rows = [" ".join(f"{int(v):x}" for v in row[: i + 1]) for i, row in enumerate(lines)]
    return {"factor": rows, "scale": scale}


# Sets of members that are near.


def enough_members(sizes: NDArray[np.int64], gamma: Fraction) -> int:
    """Find how many members are enough for an average of at most gamma.

    sizes: (M, M), inner products in absolute value; gamma: in their unit. See `every_set` of the
    checker.

    >>> enough_members(np.array([[4, 2, 0], [2, 4, 0], [0, 0, 4]]), Fraction(2))
    3
    """
    members = len(sizes)
    if int(sizes.max()) * members**2 >= 1 << 63:
        sizes = sizes.astype(object)  # sums are long integers
    sums = np.cumsum(-np.sort(-sizes, axis=1), axis=1)  # of the closest s + 1 to each member

    def within(s: int) -> bool:
        most = np.partition(sums[:, s - 1], members - s)[members - s :]
        return bool(sum(most.tolist()) <= gamma * s**2)

    return 1 + bisect_left(range(1, members + 1), True, key=within)
