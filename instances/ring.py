"""Samples of a ring: a = (a_1, .., a_k), polynomials of degree below m, and b = sum a_i s_i + e.

Products are mod x^m + 1: k side by side have the coefficients C s, row 0 of C being (a_0, -a_(m-1),
.., -a_1) for each, and each row x times the one before. So m rows are m samples, not independent.
[LPR10]
"""

import math

import numpy as np
from numpy.typing import NDArray

from instances.limits import require_memory

_SURE = 40  # bits by which rows are seen to be rotations
_LOOKED_AT = 64  # rows by which one degree is told from another
Ints = NDArray[np.int64]


def expand(a: Ints, m: int, q: int) -> Ints:
    """Write the rows of polynomials side by side, (N, k m), by which s is multiplied: (N m, k m).

    Raises TooLarge.

    >>> expand(np.array([[1, 2]]), 2, 7).tolist()  # (1 + 2x)(s_0 + s_1 x) mod x^2 + 1
    [[1, 5], [2, 1]]
    """
    require_memory(16 * m * a.size, f"{len(a)} times {m} samples")
    i, j = np.ogrid[:m, :m]
    rows = a.reshape(len(a), -1, m)[:, :, (i - j) % m] * np.where(j > i, -1, 1)  # (N, k, m, m)
    return rows.transpose(0, 2, 1, 3).reshape(-1, a.shape[1]) % q


def degree(a: Ints, q: int) -> int:
    """Find the m of whose ring the first rows of A, (N, n), are; 0 where they are no rotations.

    >>> degree(expand(np.array([[71, 905, 8, 2**40]]), 2, 2**48), 2**48)
    2
    """
    n, rows = a.shape[1], math.ceil(_SURE / (a.shape[1] * math.log2(q))) + 1
    if len(a) < rows or not a[0].any():
        return 0
    fit = [m for m in range(n, rows - 1, -1) if n % m == 0]
    fit = [m for m in fit if any(map(np.all, _turns(a[:rows], m, q)))]
    return min(fit, key=lambda m: int(_wrong(a[:_LOOKED_AT], m, q).sum()), default=0)


def broken(a: Ints, m: int, q: int) -> int | None:
    """Find the first row that is no rotation of the one before, in blocks of m; None for none."""
    wrong = _wrong(a, m, q)
    return int(wrong.argmax()) + 1 if wrong.any() else None


def _wrong(a: Ints, m: int, q: int) -> NDArray[np.bool_]:
    """Return whether each row but the first is no rotation, where one should be: (N - 1,)."""
    within = np.arange(1, len(a)) % m > 0  # and no next polynomials begin there
    return min((within & ~way for way in _turns(a, m, q)), key=np.count_nonzero)


def _turns(a: Ints, m: int, q: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each row is x times the one before, and 1/x times: (N - 1,) each."""
    parts = a.reshape(len(a), -1, m)
    turned = np.concatenate([-parts[:, :, -1:] % q, parts[:, :, :-1]], axis=2)
    on, back = turned[:-1] == parts[1:], turned[1:] == parts[:-1]
    return on.all(axis=(1, 2)), back.all(axis=(1, 2))
