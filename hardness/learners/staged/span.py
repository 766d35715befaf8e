"""Stage 5: the span of the Theta_i - Theta_j, and the number of heads.

Rows where the heads agree hardly vary in the directions Theta_i - Theta_j. So these directions are
the smallest generalised eigenvectors of the constraints' second moment against that of all rows. Up
to d = 32 both are matrices. Beyond, Lanczos' method needs only products with constraints. [Lan50]

Takes constraints; returns one direction less than the number of heads. The theorem finds the long
axes of a convex body instead (`paper.py`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from hardness.learners.fitting import Array, Data, Result, StageFailed, pieces
from hardness.learners.staged.hull import MATRIX_D, Constraints

_REPORTED_EIGENVALUES = 12
_MOST_HEADS = 8
_EXAMPLES = 20  # times d^2
_BATCH_BYTES = 1 << 25
_BASIS = 250  # vectors of a Lanczos basis; one basis is usually enough
_LANCZOS_EIGENVALUES = 5  # eigenvalues that Lanczos finds: for four heads and the gap
_VARIANCE_LIMIT = 1e-9  # relative to the largest: below this, directions are rounding errors
_EIGENVALUE_ACCURACY = 0.05  # relative accuracy of eigenvalues


@dataclass(frozen=True, kw_only=True, eq=False)
class Span(Result):
    """Orthonormal directions (heads-1, d, d) of the smallest eigenvalues, and the gap after these.

    gap: eigenvalue number `heads`, counted from 1, divided by the previous one; 1 for one head.
    """

    directions: Array
    gap: float
    heads: int


def span(system: Constraints, data: Data, heads: int = 0) -> Span:
    """Find the heads-1 smallest eigenvectors; heads=0: those below the largest gap.

    The gap gives at least two heads, and at most 8, or 5 beyond d = 32. So test for a single head
    before. Raises StageFailed for more heads than d^2, or d = 1.
    """
    d = data.d
    if max(heads, 2) > d * d:
        raise StageFailed("span", f"{max(heads, 2)} heads in dimension {d}: at most d^2 = {d * d}")
    if d <= MATRIX_D:
        values, vectors = _by_matrices(
            system, data, min(max(_REPORTED_EIGENVALUES, heads + 1), d * d)
        )
    else:
        values, vectors = _by_products(system, data, max(_LANCZOS_EIGENVALUES, heads + 1))
    values = np.maximum(
        values, d * d * np.finfo(float).eps
    )  # at least rounding errors; their mean is 1
    ratios = values[1:] / values[:-1]
    heads = heads or int(np.argmax(ratios[: min(_MOST_HEADS - 1, d * d // 2)])) + 2
    columns = np.linalg.qr(vectors[:, : heads - 1])[0]
    directions = np.ascontiguousarray(columns.T).reshape(heads - 1, d, d)
    gap = float(ratios[heads - 2]) if 1 < heads <= len(ratios) + 1 else 1.0
    measures, figures = {"heads": heads, "gap": gap}, {"eigenvalues": values.tolist()}
    rows = system.rows
    return Span(
        directions=directions, gap=gap, heads=heads, rows=rows, measures=measures, figures=figures
    )


def _by_matrices(system: Constraints, data: Data, count: int) -> tuple[Array, Array]:
    """Compute the `count` smallest eigenvalues and eigenvectors of matrices (d*d, d*d)."""
    second, rows = second_moment(system), row_moment(data)
    left, right = bases(data)
    if left.shape[1] == right.shape[1] == data.d:
        values, vectors = scipy.linalg.eigh(second, rows, subset_by_index=[0, count - 1])
        return values, vectors
    seen = np.kron(left, right)  # without directions that do not change any row
    pair, last = (seen.T @ second @ seen, seen.T @ rows @ seen), min(count, seen.shape[1]) - 1
    values, vectors = scipy.linalg.eigh(*pair, subset_by_index=[0, last])
    return values, seen @ vectors


def bases(data: Data) -> tuple[Array, Array]:
    """Return bases (d, r) of tokens and of their differences: rows depend on Theta between them."""
    x = data.x[: max(1, _BATCH_BYTES // (8 * data.k * data.d))]
    apart = x - x.mean(axis=1, keepdims=True)
    found = []
    for rows in (x, apart):
        flat = rows.reshape(-1, data.d)
        values, vectors = np.linalg.eigh(flat.T @ flat)
        found.append(vectors[:, values > _VARIANCE_LIMIT * values[-1]])
    return found[0], found[1]


def second_moment(system: Constraints) -> Array:
    """Return the weighted mean (d*d, d*d) of u_r u_r^T over the constraints."""
    size = system.left.shape[1] ** 2
    second = np.zeros((size, size))
    for rows in pieces(len(system), _BATCH_BYTES // (8 * size)):
        part = system.cut(rows)
        u = part.u * part.weights[:, None]
        second += u.T @ u
    return np.asarray(second / float(np.sum(system.weights**2)))


def row_moment(data: Data) -> Array:
    """Return the mean (d*d, d*d) of u u^T, u = vec(x_a (x_j - x_l)^T), over tokens a, j, l.

    It uses at most 20 d^2 examples. The sum over the tokens of an example is a Kronecker product
    X^T X (x) Xc^T Xc with centred tokens Xc, so the total is one matrix product.
    """
    d, k = data.d, data.k
    sums, count = np.zeros((d * d, d * d)), min(len(data), _EXAMPLES * d * d)
    for part in pieces(count, _BATCH_BYTES // (16 * d * d)):
        x = data.x[part]
        centred = x - x.mean(axis=1, keepdims=True)
        left, right = (np.reshape(z.swapaxes(1, 2) @ z, (len(x), d * d)) for z in (x, centred))
        sums += left.T @ right
    rearranged = sums.reshape(d, d, d, d).transpose(0, 2, 1, 3).reshape(d * d, d * d)
    total = 2 * rearranged / (count * k * (k - 1))
    # With few examples, or tokens of few values, some directions do not change any row.
    return np.asarray(total + 1e-9 * np.trace(total) / (d * d) * np.eye(d * d))


def _by_products(system: Constraints, data: Data, count: int) -> tuple[Array, Array]:
    """Compute the same by Lanczos' method, to 5 % of the `count` smallest eigenvalues."""
    d, size = data.d, data.d**2
    product, whiten = system.operator(), row_whitening(data)
    left, right = (part @ part.T for part in bases(data))
    thin = min(part.shape[1] for part in bases(data)) < d
    total = float(np.sum(system.weights**2))

    def projected(vector: Array) -> Array:
        return np.asarray((left @ vector.reshape(d, d) @ right).ravel())

    # Whitened by the law of tokens; tokens that span less are only projected onto their span.
    scaled = projected if thin else whiten

    def moment(vector: Array) -> Array:
        image = scaled(product.rmatvec(product.matvec(scaled(vector)))) / total
        return image + system.trace / total * (vector - projected(vector)) if thin else image

    start = projected(np.random.default_rng(0).standard_normal(size))
    operator = LinearOperator((size, size), matvec=moment, dtype=np.float64)
    try:
        values, vectors = eigsh(
            operator, count, which="SA", v0=start, ncv=_BASIS, tol=_EIGENVALUE_ACCURACY
        )
    except ArpackNoConvergence as error:
        raise StageFailed("span", "Lanczos' method finds no smallest eigenvalues") from error
    return values, np.stack([scaled(vector) for vector in vectors.T], axis=1)


def row_whitening(data: Data) -> Callable[[Array], Array]:
    """Return the inverse square root of `row_moment`, on vec(Theta), for independent entries.

    The variance and kurtosis of entries are estimated from the data. For variance 1 the moment is
    (2 - 2/k) I + (2/k) F, where F is the fourth moment of a token. Its eigenspaces are the
    antisymmetric matrices, the symmetric ones with a zero diagonal, the diagonal ones of trace
    zero, and the multiples of the identity.
    """
    d, x = data.d, data.x[: max(1, _BATCH_BYTES // (8 * data.k * data.d))]
    square = float(np.mean(x**2)) ** 2
    kurtosis = float(np.mean(x**4)) / square
    base, weight = square * (2 - 2 / data.k), square * 2 / data.k
    off_diagonal, diagonals = base + 2 * weight, base + weight * (kurtosis - 1)
    identity = base + weight * (kurtosis - 1 + d)

    def whiten(flat: Array) -> Array:
        theta = flat.reshape(d, d)
        symmetric, antisymmetric = (theta + theta.T) / 2, (theta - theta.T) / 2
        diagonal = np.diag(symmetric)
        mean = float(diagonal.mean())
        out = antisymmetric / np.sqrt(base)
        out += (symmetric - np.diag(diagonal)) / np.sqrt(off_diagonal)
        out += np.diag((diagonal - mean) / np.sqrt(diagonals) + mean / np.sqrt(identity))
        return np.asarray(out.ravel())

    return whiten
