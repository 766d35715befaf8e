"""The loss of one layer in all its parameters, exact: b (d+1,) and A (d+1, d).

Of the matrices P and Q of a layer only b, the last row of P, and A, the first d columns of Q,
matter: the prediction is b^T G A x_query with G = (1/n) sum_i z_i z_i^T, z_i = (x_i, y_i)
(up to sign, [ACDS23]). b = (0, 1), A = (A*; 0) is the layer of `onelayer`. The loss is quadratic
in b and in A, so its Hessian is exact too. (c b, A / c) is the same layer for every c.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from hardness.icl.onelayer import Array, moment, spread
from instances.errors import UsageError
from instances.prompts import Prompts


def second_moment(law: Prompts, middle: Array) -> Array:
    """Return E[G D G] for a symmetric D (d+1, d+1): a linear map, equal to its own adjoint.

    >>> law = Prompts(n=20, sigma=np.eye(2), task=np.eye(2))
    >>> second_moment(law, np.diag([0.0, 0.0, 1.0])).round(9).tolist()
    [[1.15, 0.0, 0.0], [0.0, 1.15, 0.0], [0.0, 0.0, 8.8]]
    """
    n, sigma = law.n, law.sigma
    inner, column, corner = middle[:-1, :-1], middle[:-1, -1], middle[-1, -1]
    _, labels, mixed, fourth = _moments(law)
    found = np.empty((law.d + 1, law.d + 1))
    found[:-1, :-1] = (n + 1) / n * sigma @ inner @ sigma + np.sum(sigma * inner) / n * sigma
    found[:-1, :-1] += corner * labels
    found[:-1, -1] = found[-1, :-1] = (mixed + labels) @ column
    found[-1, -1] = np.sum(labels * inner) + corner * fourth
    return found


def full_loss(law: Prompts, b: Array, a: Array) -> float:
    """Return E (b^T G A x_query - <w, x_query>)^2 for b (d+1,), A (d+1, d).

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> b, a = np.eye(6)[5], np.vstack([np.eye(5) / 1.3, np.zeros(5)])
    >>> round(full_loss(law, b, a) * 13, 9)
    15.0
    """
    b, a = _shaped(law, b, a)
    quadratic = np.sum((second_moment(law, np.outer(b, b)) @ a) * (a @ law.sigma))
    return float(quadratic - 2 * np.sum(_pull(law, b) * a) + law.power)


def full_gradient(law: Prompts, b: Array, a: Array) -> tuple[Array, Array]:
    """Return the gradients of the loss in b, (d+1,), and in A, (d+1, d).

    >>> law = Prompts(n=20, sigma=np.eye(2), task=np.eye(2))
    >>> [g.shape for g in full_gradient(law, np.ones(3), np.ones((3, 2)))]
    [(3,), (3, 2)]
    """
    b, a = _shaped(law, b, a)
    cross = _moments(law)[0]
    push = np.append(cross @ a[-1], np.sum(cross * a[:-1]))
    in_b = 2 * (second_moment(law, a @ law.sigma @ a.T) @ b - push)
    in_a = 2 * (second_moment(law, np.outer(b, b)) @ a @ law.sigma - _pull(law, b))
    return in_b, in_a


def full_hessian(law: Prompts, b: Array, a: Array) -> Array:
    """Return the Hessian in (b, A row by row), ((d+1)^2, (d+1)^2).

    >>> law = Prompts(n=20, sigma=np.eye(1), task=np.eye(1))
    >>> full_hessian(law, np.zeros(2), np.zeros((2, 1))).tolist()[0]
    [0.0, 0.0, 0.0, -2.0]
    """
    b, a = _shaped(law, b, a)
    size, sigma = law.d + 1, law.sigma
    found = np.empty((size**2, size**2))
    found[:size, :size] = 2 * second_moment(law, a @ sigma @ a.T)
    found[size:, size:] = np.kron(2 * second_moment(law, np.outer(b, b)), sigma)
    for i, unit in enumerate(np.eye(size)):
        turn = np.outer(unit, b)
        row = 2 * (second_moment(law, turn + turn.T) @ a @ sigma - _pull(law, unit))
        found[i, size:] = found[size:, i] = row.ravel()
    return found


def best_given(law: Prompts, b: Array) -> Array:
    """Return the one A (d+1, d) of least loss for b (d+1,), not 0.

    >>> law = Prompts(n=20, sigma=np.eye(1), task=np.eye(1))
    >>> best_given(law, np.array([0.0, 2.0])).round(6).tolist()
    [[0.454545], [0.0]]
    """
    right = np.linalg.solve(law.sigma, _pull(law, np.asarray(b)).T).T
    return np.asarray(np.linalg.solve(second_moment(law, np.outer(b, b)), right))


def pack(b: Array, a: Array) -> Array:
    """Put b and A into one vector, ((d+1)^2,).

    >>> pack(np.ones(2), np.zeros((2, 1))).tolist()
    [1.0, 1.0, 0.0, 0.0]
    """
    return np.concatenate([b, np.ravel(a)])


def unpack(flat: NDArray[np.float64]) -> tuple[Array, Array]:
    """Take b (d+1,) and A (d+1, d) out of a vector.

    >>> [part.shape for part in unpack(np.zeros(9))]
    [(3,), (3, 2)]
    """
    size = round(len(flat) ** 0.5)
    return flat[:size], flat[size:].reshape(size, size - 1)


@lru_cache(maxsize=8)
def _moments(law: Prompts) -> tuple[Array, Array, Array, float]:
    """Return sigma task sigma, E g g^T, E h S and E h^2, with g = S w + .., h = sum_i y_i^2 / n."""
    n, product = law.n, law.sigma @ law.task
    variance = n * spread(law)  # of a label
    cross = product @ law.sigma
    mixed = variance * law.sigma + 2 / n * cross
    fourth = (1 + 2 / n) * (variance**2 + 2 * float(np.sum(product * product.T)))
    return cross, moment(law), mixed, fourth


def _pull(law: Prompts, b: Array) -> Array:
    """Return E[G b w^T] sigma: the loss is linear in A along it."""
    cross = _moments(law)[0]
    return np.vstack([b[-1] * cross, cross @ b[:-1]])


def _shaped(law: Prompts, b: Array, a: Array) -> tuple[Array, Array]:
    b, a = np.asarray(b, np.float64), np.asarray(a, np.float64)
    if b.shape != (law.d + 1,) or a.shape != (law.d + 1, law.d):
        raise UsageError(
            f"b of shape {b.shape} and A of shape {a.shape} given: d = {law.d} needs "
            f"({law.d + 1},) and ({law.d + 1}, {law.d})"
        )
    return b, a
