"""An upper end of SQ-DIM from the eigenvalues of the correlation matrix.

Let k members have pairwise |correlation| <= 1/k, and let A be their correlation matrix, with
eigenvalues a_1 >= .. >= a_k. Let u_1 >= u_2 >= .. be upper ends of the eigenvalues of the matrix of
all members.

- a_i <= u_i, by Cauchy's interlacing, as A is a principal submatrix [HJ13].
- sum a_i = tr A = k, and sum a_i^2 = sum of all squared entries <= k + k(k-1)/k^2 = k + 1 - 1/k.
- For any w and a <= u, with m = min(u, w): a^2 - 2wa >= m^2 - 2wm, since x^2 - 2wx falls up to w.

Adding the last line over i = 1..k gives k + 1 - 1/k >= sum a_i^2 >= 2wk - sum m_i (2w - m_i). Where
this is false for some w, there are no such k members:

    (*)  sum m_i (2w - m_i) < 2wk - k - 1 + 1/k

If the u_i reach k in sum, take the water level w, with sum m_i = k: then the a_i could be the m_i,
so no other w does better. If not, (*) holds for all large w. Both bounds of Gershgorin,
1/k <= a_i <= 2 - 1/k, follow from the two sums, and k <= rank from the first of them: neither would
add anything.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNIT = 1 << 30
_ALL = 1500  # members up to which computing all eigenvalues is as quick as the largest alone
_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, kw_only=True)
class Spectrum:
    """No `at` members have pairwise |correlation| <= 1/at: by the eigenvalues and a level w.

    >>> Spectrum(at=3, level=2 * UNIT, eigenvalues=(2 * UNIT, UNIT, 0)).holds
    True
    >>> Spectrum(at=2, level=2 * UNIT, eigenvalues=(2 * UNIT, UNIT)).holds
    False
    """

    at: int
    level: int  # w, in units of 2^-30
    eigenvalues: tuple[int, ...]  # upper ends of the `at` largest, falling, in units of 2^-30

    @property
    def holds(self) -> bool:
        """Whether the inequality (*) holds, in integers: that the ends are ends is not asked."""
        k, w = self.at, self.level
        least = [min(u, w) for u in self.eigenvalues]
        left = sum(m * (2 * w - m) for m in least)
        return k * left < 2 * w * UNIT * k**2 - UNIT**2 * (k * (k + 1) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Write the evidence as JSON."""
        return {
            "kind": "spectrum",
            "at": self.at,
            "level": self.level,
            "eigenvalues": list(self.eigenvalues),
        }


def upper_ends(correlations: NDArray[np.float64], radius: float = 0.0) -> tuple[int, ...]:
    """Bound the eigenvalues of the true correlations (M, M) from above: falling, in UNIT.

    correlations: each off the diagonal within `radius` of the true one.

    >>> [u / UNIT for u in upper_ends(np.array([[1, 0.5], [0.5, 1]]))]
    [1.5000000009313226, 0.5000000009313226]
    """
    size = len(correlations)
    given = (correlations + correlations.T) / 2
    np.fill_diagonal(given, 1.0)
    # Weyl [HJ13]: eigenvalues move by at most the norm of what is added. Errors of up to e in the
    # entries add (M-1) e at most, a row sum. Rounding of the entries adds a few eps ||C||_F, and
    # LAPACK's eigenvalues are those of C + D, ||D|| <= p(M) eps ||C|| with p modest, where
    # 4 M is generous. 16 M eps ||C||_F is more than twice all that: others' values fit below too.
    error = radius + float(np.abs(correlations - correlations.T).max()) / 2
    rounding = 16 * size * float(np.finfo(np.float64).eps * np.linalg.norm(given))
    margin = (size - 1) * error + rounding
    found = np.linalg.eigvalsh(given)[::-1]
    # Rounded up to a grid much coarser than the rounding: the same integers on most machines.
    return tuple(math.ceil((value + margin) * UNIT) for value in found.tolist())


def centred_ends(correlations: NDArray[np.float64]) -> tuple[int, ...]:
    """Bound the eigenvalues of members of norm 1 less their mean from above: falling, in UNIT.

    correlations: (M, M), exact but for rounding.

    >>> [round(u / UNIT, 6) for u in centred_ends(np.eye(3))]
    [1.0, 1.0, 0.0]
    """
    rows = correlations.mean(axis=1)
    less = correlations - rows[:, None] - rows[None, :] + rows.mean()
    rounding = 64 * len(less) * _EPS * float(np.linalg.norm(correlations))
    found = np.linalg.eigvalsh((less + less.T) / 2)[::-1]
    return tuple(math.ceil((value + rounding) * UNIT) for value in found.tolist())


def largest_eigenvalue(matrix: NDArray[np.float64]) -> float:
    """Return the largest eigenvalue of a symmetric matrix, to within 16 M eps of its norm.

    As `numpy.linalg.eigvalsh(matrix)[-1]`. Of a large matrix Lanczos' method finds it, and that no
    other is larger is seen by a Cholesky factor.

    >>> round(largest_eigenvalue(np.array([[1, 0.5], [0.5, 1]])), 12)
    1.5
    """
    size = len(matrix)
    if size > _ALL:
        from scipy.linalg import LinAlgError, cholesky
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        start = np.random.default_rng(0).normal(size=size)
        try:
            found = float(eigsh(matrix, 1, which="LA", v0=start, return_eigenvectors=False)[0])
            rest = -matrix
            rest.flat[:: size + 1] += found + 16 * size * _EPS * float(np.linalg.norm(matrix))
            cholesky(rest, lower=True, overwrite_a=True, check_finite=False)
            return found
        except (ArpackNoConvergence, LinAlgError):
            pass  # the largest ones are too close to each other: compute all
    return float(np.linalg.eigvalsh(matrix)[-1])


def refute(ends: tuple[int, ...], low: int, high: int) -> Spectrum | None:
    """Return the refutation of the least k in low..high that the eigenvalues refute.

    >>> refute((3 * UNIT, 0, 0), 2, 3).at
    2
    """
    values = np.array(ends, np.float64) / UNIT
    for k in range(max(low, 2), min(high, len(ends)) + 1):
        level = _level(values[:k])
        if _falls_short(values[:k], level):
            found = Spectrum(at=k, level=math.ceil(level * UNIT), eigenvalues=ends[:k])
            if found.holds:
                return found
    return None


def _level(values: NDArray[np.float64]) -> float:
    """The w with sum min(u_i, w) = k; where the u_i do not reach k, one large enough for (*)."""
    k = len(values)
    short = k - float(values.sum())
    if short > 0:
        return max(float(values[0]), (k + 1) / short) + 1
    # With the j largest cut at w: j w + (sum of the others) = k, the first j with w >= the next.
    rest = np.append(np.cumsum(values[::-1])[::-1][1:], 0.0)
    levels = (k - rest) / np.arange(1, k + 1)
    following = np.append(values[1:], -math.inf)
    return float(levels[np.argmax(levels >= following)])


def _falls_short(values: NDArray[np.float64], level: float) -> bool:
    """Whether (*) may hold, in floats: the integers decide."""
    k = len(values)
    least = np.minimum(values, level)
    return bool((least * (2 * level - least)).sum() < 2 * level * k - k - 1 + 1 / k + 1e-6 * k)
