"""Losses of small layers integrated exactly: Gauss rules on Gram matrices, second derivatives."""

import numpy as np
from scipy.special import roots_genlaguerre, roots_hermitenorm
from statement import Array

from hardness.icl.gram import loss_and_gradient
from hardness.icl.prompts import Prompts


def cubature(n: int, d: int, degree: int) -> tuple[Array, Array]:
    """Give Gram matrices S (K, d, d) and weights (K,) that integrate exactly, not sampled.

    Means of polynomials of a degree in the entries of S, x ~ N(0, I_d), are exact up to float64:
    n S is T T^T with T lower triangular, chi-square below the root on its diagonal and normal below
    it, each on its own Gauss rule. [Mui82, GW69]

    >>> grams, weights = cubature(20, 3, 4)
    >>> round(float(weights @ grams[:, 0, 1] ** 2), 12)  # of 1 / n
    0.05
    """
    below = np.tril_indices(d, -1)
    squares = [roots_genlaguerre(degree // 2 + 1, (n - i) / 2 - 1) for i in range(d)]
    axes = [(np.sqrt(2 * x), w) for x, w in squares]
    axes += [roots_hermitenorm(degree + 1)] * len(below[0])
    count = int(np.prod([len(x) for x, _ in axes]))
    root = np.zeros((count, d, d))
    places = [(i, i) for i in range(d)] + list(zip(*below, strict=True))
    grid = np.meshgrid(*(x for x, _ in axes), indexing="ij")
    for (i, j), x in zip(places, grid, strict=True):
        root[:, i, j] = x.ravel()
    weights = np.ones(1)
    for _, w in axes:
        weights = np.multiply.outer(weights, w / w.sum()).ravel()
    return root @ root.swapaxes(1, 2) / n, weights


def hessian(p: Array | None, q: Array, grams: Array, law: Prompts, weights: Array) -> Array:
    """Compute the second derivatives in q, then in all of p but the last: symmetric.

    They are exact up to rounding: gradients are polynomials, taken at a point that is shifted by
    an imaginary number too small for its square to count.
    """
    free = q.size + (0 if p is None else p[1:].size)
    rows, shift = [], 1e-30
    for i in range(free):
        moved = np.zeros(2 * q.size, complex)
        moved[i] = 1j * shift
        in_q, in_p = moved.reshape(2, *q.shape)
        at = None if p is None else p + in_p
        _, dp, dq = loss_and_gradient(at, q + in_q, grams, law, weights)
        rows.append(np.concatenate([dq.ravel(), dp.ravel()])[:free].imag / shift)
    found = np.array(rows)
    return np.asarray((found + found.T) / 2)
