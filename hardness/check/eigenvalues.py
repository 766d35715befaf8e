"""Eigenvalues that a certificate of listed functions takes as given: numpy finds no larger one.

The kernel bounds those of up to 1000 members, and of more where their row sums do. Here a Cholesky
factor in float64 of what a bound leaves shows that it holds, rounding included.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.check import kernel
from hardness.check.verdict import refuse

_EPS = float(np.finfo(np.float64).eps)
_POINTS = 1 << 13


def check_eigenvalues(problem: dict[str, Any]) -> None:
    """Refuse a problem where members less their mean have an eigenvalue above the one given.

    Raises Refuted, kernel.Refused.
    """
    posed = kernel.read_problem(problem)
    top, weighted = posed.given
    if top is not None:
        known = kernel.take(posed, {"rule": "products", "from": []}, [])
        less = np.array(known.plain, np.float64) / known.unit
        less -= less.mean(axis=0)
        less -= less.mean(axis=1)[:, None]
        off = len(less) * (known.off / known.unit + 4 * _EPS)  # correlations are at most 1
        _require_above(float(top) - off, less)
    if weighted is not None:
        if not posed.bits:
            refuse("an eigenvalue with weights is given, and no tables by bits")
        _require_above(float(weighted), _weighted(posed.n, posed.tables))


def _weighted(n: int, tables: list[int]) -> NDArray[np.float64]:
    """Members less their mean b, a point counting 1/(1 - |b|), by sums over points."""
    rows = [np.frombuffer(t.to_bytes(max(1, 1 << n >> 3), "little"), np.uint8) for t in tables]
    gram = np.zeros((len(rows), len(rows)))
    for start in range(0, len(rows[0]), _POINTS >> 3):
        part = np.stack([row[start : start + (_POINTS >> 3)] for row in rows])
        down = np.unpackbits(part, axis=1, bitorder="little")[:, : 1 << n].astype(np.float64)
        minus = down.sum(axis=0)
        fewer = np.minimum(minus, len(rows) - minus)
        told = fewer > 0
        less = (minus - len(rows) * down)[:, told] * np.sqrt(2 / (len(rows) * fewer[told]))
        gram += less @ less.T
    return gram / (1 << n)


def _require_above(top: float, matrix: NDArray[np.float64]) -> None:
    """Refuse unless top times the identity, less the matrix, has a Cholesky factor.

    A factor that float64 finds of B shows that B has no eigenvalue below minus (n+1) eps of its
    trace [Hig02, theorem 10.7], n its rows; sums over points are off by as many eps at most.
    """
    slack = _EPS * (2 * len(matrix) * len(matrix) * top + (_POINTS + 256) * float(np.trace(matrix)))
    rest = -(matrix + matrix.T) / 2
    rest.flat[:: len(rest) + 1] += top - slack
    try:
        np.linalg.cholesky(rest)
    except np.linalg.LinAlgError:
        refuse(f"numpy does not find that no eigenvalue is above {top:g}")
