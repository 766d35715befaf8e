"""Caps: for each pair of members the largest N' at which one set may hold both.

A set of N' members counts for SQ-DIM if any two of them have |correlation| <= 1/N'. So a pair may
be in it exactly up to N' = floor(1/|correlation|), its cap. Whatever follows is about integers.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Caps = NDArray[np.int64]


def caps(correlations: NDArray[Any], radius: float = 0.0) -> tuple[Caps, Caps]:
    """Bound the caps of pairs from below and above: two (M, M), entries 1..M, M on the diagonal.

    correlations: (M, M) floats, each within `radius` of the true one and taken as it is otherwise.

    >>> caps(np.array([[1, 0.25], [0.25, 1]]))[0].tolist()
    [[2, 2], [2, 2]]
    >>> [c[0, 1] for c in caps(np.array([[1, 0.6], [0.6, 1]]), radius=0.1)]
    [np.int64(1), np.int64(2)]
    """
    size = np.abs(correlations)
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

    gram: (M, M) integers, numpy's or (dtype object) Python's of any size; the squared norms, above
    0, are on its diagonal.

    >>> found, correlations = exact_caps(np.array([[9, 3, 0], [3, 9, 3], [0, 3, 4]]))
    >>> found.tolist(), correlations[0].round(3).tolist()
    ([[3, 3, 3], [3, 3, 2], [3, 2, 3]], [1.0, 0.333, 0.0])
    """
    members = len(gram)
    norms, norm_of = np.unique(np.diagonal(gram), return_inverse=True)
    if len(norms) == 1 and gram.dtype != object:
        norm, size = norms[0], np.abs(gram)
        found = np.where(size > 0, np.minimum(norm // np.maximum(size, 1), members), members)
        return _diagonal(found), gram / norm
    values, value_of = np.unique(gram, return_inverse=True)
    # Symmetric families have few different entries: each is worked out once, in Python's integers.
    pair_of = norm_of[:, None] * len(norms) + norm_of
    codes, code_of = np.unique(
        pair_of * len(values) + value_of.reshape(gram.shape), return_inverse=True
    )
    code_of = code_of.reshape(gram.shape)
    whole, ratio = np.empty(len(codes), np.int64), np.empty(len(codes))
    for i, code in enumerate(codes.tolist()):
        pair, value = divmod(code, len(values))
        product = int(norms[pair // len(norms)]) * int(norms[pair % len(norms)])
        entry = int(values[value])
        # floor(sqrt(x)) = isqrt(floor(x))
        whole[i] = min(members, math.isqrt(product // entry**2)) if entry else members
        ratio[i] = math.copysign(math.sqrt(entry**2 / product), entry)
    return _diagonal(whole[code_of]), ratio[code_of]


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
