"""Caps: for each pair of members the largest N' at which one set may hold both.

A set of N' members counts for SQ-DIM if any two of them have |correlation| <= 1/N'. So a pair may
be in it exactly up to N' = floor(1/|correlation|), its cap. Whatever follows is about integers.
"""

import math
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.limits import require_memory

Caps = NDArray[np.int64]
_ROUNDING = 1e-9  # what a correlation may be above 1, or a matrix asymmetric, by rounding
_BYTES = 64  # per pair, in all that is held at once


def caps(correlations: NDArray[Any], radius: float = 0.0) -> tuple[Caps, Caps]:
    """Bound the caps of pairs from below and above: two (M, M), entries 1..M, M on the diagonal.

    correlations: (M, M) floats, each within `radius` of the true one and taken as it is otherwise.
    Raises UsageError where they are no correlations, TooLarge where the caps do not fit.

    >>> caps(np.array([[1, 0.25], [0.25, 1]]))[0].tolist()
    [[2, 2], [2, 2]]
    >>> [c[0, 1] for c in caps(np.array([[1, 0.6], [0.6, 1]]), radius=0.1)]
    [np.int64(1), np.int64(2)]
    """
    given = require_correlations(correlations, radius)
    size = np.abs(given)
    if not radius:
        low = high = _whole(size)
    else:
        # Rounded outwards, so that the true correlation is between the two.
        low = _whole(np.nextafter(size + radius, math.inf))
        high = _whole(np.maximum(np.nextafter(size - radius, -math.inf), 0.0))
    # Both (i, j) and (j, i) were given: they may differ by rounding.
    return _diagonal(np.minimum(low, low.T)), _diagonal(np.maximum(high, high.T))


def exact_caps(gram: NDArray[Any]) -> tuple[Caps, NDArray[np.float64]]:
    """Return the caps and the correlations of an integer Gram matrix, the caps exactly.

    gram: (M, M) integers, numpy's or (dtype object) Python's of any size; the squared norms are on
    its diagonal. Raises UsageError where it is no Gram matrix.

    >>> found, correlations = exact_caps(np.array([[9, 3, 0], [3, 9, 3], [0, 3, 4]]))
    >>> found.tolist(), correlations[0].round(3).tolist()
    ([[3, 3, 3], [3, 3, 2], [3, 2, 3]], [1.0, 0.333, 0.0])
    """
    given = np.asarray(gram)
    members = _square(given, "a Gram matrix")
    if given.dtype.kind not in "iu" and not all(isinstance(v, Integral) for v in given.flat):
        raise UsageError("a Gram matrix of integers is needed: use sq_dimension for floats")
    if not (given == given.T).all():
        raise UsageError("the Gram matrix given is not symmetric")
    norms, norm_of = np.unique(np.diagonal(given), return_inverse=True)
    if int(norms[0]) <= 0:
        raise UsageError(
            f"member {int(np.argmax(norm_of == 0))} has the squared norm {norms[0]}: "
            "it must be above 0"
        )
    values, value_of = np.unique(given, return_inverse=True)
    # Symmetric families have few different entries: each is worked out once, in Python's integers.
    pair_of = norm_of[:, None] * len(norms) + norm_of
    codes, code_of = np.unique(
        pair_of * len(values) + value_of.reshape(given.shape), return_inverse=True
    )
    code_of = code_of.reshape(given.shape)
    whole, ratio = np.empty(len(codes), np.int64), np.empty(len(codes))
    for i, code in enumerate(codes.tolist()):
        pair, value = divmod(code, len(values))
        product = int(norms[pair // len(norms)]) * int(norms[pair % len(norms)])
        entry = int(values[value])
        if entry**2 > product:
            a, b = np.argwhere(code_of == i)[0].tolist()
            raise UsageError(
                f"members {a} and {b} have the inner product {entry}, above the product of their "
                "norms: this is no Gram matrix"
            )
        # floor(sqrt(x)) = isqrt(floor(x))
        whole[i] = min(members, math.isqrt(product // entry**2)) if entry else members
        ratio[i] = math.copysign(math.sqrt(entry**2 / product), entry)
    return _diagonal(whole[code_of]), ratio[code_of]


def require_correlations(correlations: NDArray[Any], radius: float) -> NDArray[np.float64]:
    """Return correlations (M, M) as float64, or refuse what cannot be; raises UsageError.

    >>> require_correlations(np.eye(2), 0.0).shape
    (2, 2)
    """
    given = np.asarray(correlations)
    _square(given, "a correlation matrix")
    if given.dtype.kind not in "iuf":
        raise UsageError(f"correlations of type {given.dtype} given: real numbers are needed")
    given = given.astype(np.float64)
    if not 0 <= radius < math.inf:
        raise UsageError(f"radius {radius} given: it must be at least 0 and finite")
    if not np.isfinite(given).all():
        a, b = np.argwhere(~np.isfinite(given))[0].tolist()
        raise UsageError(f"the correlation of members {a} and {b} is {given[a, b]}")
    slack = radius + _ROUNDING
    for wrong, what in (
        (np.abs(given) > 1 + slack, "above 1 in size"),
        (np.abs(given - given.T) > 2 * slack, "not that of the same two in the other order"),
        (np.diag(np.abs(np.diagonal(given) - 1) > slack), "not 1"),
    ):
        if wrong.any():
            a, b = np.argwhere(wrong)[0].tolist()
            raise UsageError(f"the correlation {given[a, b]} of members {a} and {b} is {what}")
    return given


def _square(given: NDArray[Any], what: str) -> int:
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not len(given):
        raise UsageError(f"{what} of shape {given.shape} given: (M, M) is needed, M at least 1")
    require_memory(_BYTES * len(given) ** 2, f"the graph of {len(given)} members")
    return len(given)


def _whole(size: NDArray[np.float64]) -> Caps:
    """Round 1/size down to 1..M; a float is a rational, and this is exact for it."""
    values, of = np.unique(size, return_inverse=True)
    most = len(size)
    found = [most if not q else max(1, min(most, p // q)) for q, p in map(_ratio, values)]
    return np.array(found, np.int64)[of.reshape(size.shape)]


def _ratio(value: np.float64) -> tuple[int, int]:
    return float(value).as_integer_ratio()


def _diagonal(found: Caps) -> Caps:
    np.fill_diagonal(found, len(found))
    return found
