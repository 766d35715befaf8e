"""Is a matrix a Gram matrix of functions on so many points? Semidefinite, of rank at most that.

What floats cannot tell is asked exactly: of up to 100 members by the signs of the characteristic
polynomial, whose roots are real; of up to 1000 by a rank mod a prime, which is never too large.
"""

import numpy as np
from flint import fmpz_mat, nmod_mat
from numpy.typing import NDArray

from hardness.check.reading import refuse

_EPS = float(np.finfo(np.float64).eps)
_PRIME = (1 << 61) - 1
_MOST_EXACT, _MOST_MODULAR = 100, 1000


def check_integers(gram: NDArray[np.int64], points: int) -> None:
    """Refuse integers (M, M) that are no inner products on so many points.

    >>> check_integers(np.array([[2, 1], [1, 2]]), 2)
    >>> check_integers(np.eye(40, dtype=np.int64), 4)
    Traceback (most recent call last):
    instances.errors.Refuted: certificate refused: no functions on 4 points have a matrix of rank 40
    """
    size, squares = len(gram), np.diagonal(gram).astype(np.float64)
    if not (squares > 0).all():
        refuse("a member has a norm that is not above 0")
    norms = np.sqrt(squares)
    certain = check_floats(gram / norms[:, None] / norms[None, :], points, 0.0)
    if certain == size:
        return
    if size <= _MOST_EXACT:
        found = fmpz_mat(gram.tolist()).charpoly().coeffs()
        if any((-1) ** (size - i) * c < 0 for i, c in enumerate(found)):
            _not_semidefinite()
        rank = size - next(i for i, c in enumerate(found) if c)
    elif size <= _MOST_MODULAR:
        rank = nmod_mat(size, size, gram.ravel().tolist(), _PRIME).rank()
    else:
        return
    if rank > points:
        _no_such_rank(points, rank)


def check_floats(correlations: NDArray[np.float64], points: int, slack: float) -> int:
    """Refuse correlations (M, M) that are none; their eigenvalues are right to within `slack`.

    Returns how many of the eigenvalues are certainly above 0.

    >>> check_floats(np.array([[1.0, -1.0], [-1.0, 1.0]]), 1, 1e-9)
    1
    """
    size = len(correlations)
    # LAPACK's eigenvalues are within a few eps of the norm, times a modest polynomial of the size.
    slack += 16 * size * _EPS * float(np.linalg.norm(correlations))
    values = np.linalg.eigvalsh((correlations + correlations.T) / 2)
    if values[0] < -slack:
        _not_semidefinite()
    certain = int((values > slack).sum())
    if certain > points:
        _no_such_rank(points, certain)
    return certain


def _not_semidefinite() -> None:
    refuse("the inner products are those of no functions: their matrix has an eigenvalue below 0")


def _no_such_rank(points: int, rank: int) -> None:
    refuse(f"no functions on {points} points have a matrix of rank {rank}")
