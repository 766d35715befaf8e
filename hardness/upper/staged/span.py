"""Stage 5: the span of the Theta_i - Theta_j, and the number of heads.

Rows where the heads agree hardly vary in the directions Theta_i - Theta_j: these are the smallest
generalised eigenvectors of the constraints' second moment against that of all rows.
"""

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from hardness.upper.staged.data import Array, Data
from hardness.upper.staged.hull import Hull
from hardness.upper.staged.stage import StageFailed

_SHOWN = 12
_MOST_HEADS = 8
_EXAMPLES = 20  # times d^2
_BATCH_BYTES = 1 << 25


@dataclass(frozen=True, kw_only=True, eq=False)
class Span:
    """Orthonormal directions (heads-1, d, d), the smallest eigenvalues, and the gap after them.

    gap: eigenvalue number `heads` over the one before it, counted from 1; 1 for a single head.
    """

    eigenvalues: Array
    directions: Array
    gap: float
    heads: int


def span(found: Hull, data: Data, heads: int = 0) -> Span:
    """Find the heads-1 smallest eigenvectors; heads=0: as many as lie below the largest gap.

    That gap speaks for at least two heads, and at most 8 of them: rule out a single one before.
    Raises StageFailed for more heads than d^2, or d = 1.
    """
    d = data.d
    if max(heads, 2) > d * d:
        raise StageFailed("span", f"{max(heads, 2)} heads in dimension {d}: at most d^2 = {d * d}")
    shown = min(max(_SHOWN, heads + 1), d * d)
    values, vectors = scipy.linalg.eigh(
        found.second_moment, row_moment(data), subset_by_index=[0, shown - 1]
    )
    values = np.maximum(values, np.finfo(float).eps * values[-1])
    ratios = values[1:] / values[:-1]
    heads = heads or int(np.argmax(ratios[: min(_MOST_HEADS - 1, d * d // 2)])) + 2
    directions = np.linalg.qr(vectors[:, : heads - 1])[0].T.reshape(heads - 1, d, d)
    return Span(
        eigenvalues=values,
        directions=np.ascontiguousarray(directions),
        gap=float(ratios[heads - 2]) if 1 < heads <= len(ratios) + 1 else 1.0,
        heads=heads,
    )


def row_moment(data: Data) -> Array:
    """Return the mean (d*d, d*d) of u u^T, u = vec(x_a (x_j - x_l)^T), over tokens a, j, l.

    From at most 20 d^2 examples. Summed over tokens an example's share is a Kronecker product,
    X^T X (x) Xc^T Xc with Xc the centred tokens, so that the sum is one matrix product.
    """
    d, k = data.d, data.k
    sums = np.zeros((d * d, d * d))
    count = min(len(data), _EXAMPLES * d * d)
    batch = max(1, _BATCH_BYTES // (16 * d * d))
    for start in range(0, count, batch):
        x = data.x[start : min(start + batch, count)]
        centred = x - x.mean(axis=1, keepdims=True)
        left, right = (np.reshape(z.swapaxes(1, 2) @ z, (len(x), d * d)) for z in (x, centred))
        sums += left.T @ right
    rearranged = sums.reshape(d, d, d, d).transpose(0, 2, 1, 3).reshape(d * d, d * d)
    total = 2 * rearranged / (count * k * (k - 1))
    # Few examples or tokens of few values leave directions that no row sees.
    return np.asarray(total + 1e-9 * np.trace(total) / (d * d) * np.eye(d * d))
