"""Linear attention is a cubic map: F(X)[a] = sum_{p,j,l} x_ap S_jl T[p,j,l], S = X^T X.

T[p,j,l] is the part of sum_i Theta_i[p,j] W_i[l] that is symmetric in j and l. The outputs depend
on T alone, for any number of heads.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def coefficients(theta: Array, w: Array) -> Array:
    """Compute T from the heads: two arrays (m, d, d) -> (d, d, d, d), symmetric in j and l.

    >>> coefficients(np.eye(1)[None], np.full((1, 1, 1), 3.0)).ravel().tolist()
    [3.0]
    """
    d = theta.shape[1]
    product = theta.reshape(len(theta), -1).T @ w.reshape(len(w), -1)
    full = product.reshape(d, d, d, d)
    return np.asarray((full + full.transpose(0, 2, 1, 3)) / 2)


def evaluate(cubic: Array, x: Array) -> Array:
    """Evaluate the cubic map on tokens: (n, k, d) -> (n, k, d), equal to the layer's outputs.

    >>> x = np.array([[[2.0], [1.0]]])
    >>> evaluate(np.ones((1, 1, 1, 1)), x).ravel().tolist()
    [10.0, 5.0]
    """
    d = x.shape[2]
    gram = (x.transpose(0, 2, 1) @ x).reshape(len(x), d * d)
    # Sum over j and l first: it gives one (d, d) matrix for all tokens of an example.
    by_pair = cubic.transpose(1, 2, 0, 3).reshape(d * d, d * d)
    return np.asarray(x @ (gram @ by_pair).reshape(-1, d, d))


def power(cubic: Array, k: int, tokens: str) -> float:
    """Compute E||F(X)||^2 over all k rows, exactly, for boolean or gaussian tokens.

    With C the part of T that is symmetric in all three places, (tr C)_p = sum_j C[p,j,j] and t_p =
    sum_j T[p,j,j], a row of gaussian tokens has 6 |C|^2 + |3 tr C + (k-1) t|^2 + 2 (k-1) |T|^2; see
    docs/mathematics.md, section 34.

    >>> power(np.ones((1, 1, 1, 1)), 2, "gaussian"), power(np.ones((1, 1, 1, 1)), 2, "boolean")
    (48.0, 8.0)
    """
    swapped = cubic.transpose(1, 0, 2, 3)
    common = (cubic + swapped + cubic.transpose(2, 1, 0, 3)) / 3
    trace = np.einsum("pjjc->pc", cubic)
    others = k - 1
    if tokens == "gaussian":
        linear = 3 * np.einsum("pjjc->pc", common) + others * trace
        row = 6 * _square(common) + _square(linear) + 2 * others * _square(cubic)
        return k * row
    pairs = np.einsum("ppjc->jc", cubic) - np.einsum("pppc->pc", cubic)  # over p other than j
    linear = k * trace + 2 * pairs
    unequal = ~np.eye(len(cubic), dtype=bool)
    apart = unequal[:, :, None] & unequal[:, None, :] & unequal[None, :, :]
    row = 6 * _square(common[apart]) + _square(linear) + 2 * others * _square(cubic[:, unequal])
    return k * row


def reach(cubic: Array) -> float:
    """Bound rows: |F(X)[a]| <= reach |x_a| |S|_F, by the largest singular value of T.

    >>> reach(np.full((1, 1, 1, 1), 3.0))
    3.0
    """
    flat = cubic.reshape(-1, cubic.shape[3])
    return float(np.linalg.norm(flat, 2))


def _square(values: Array) -> float:
    return float((values**2).sum())
