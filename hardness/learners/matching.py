"""Which found head is which true one: a layer is the same under every order of its heads."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from instances.errors import UsageError
from instances.layer import AttentionLayer

Array = NDArray[np.float64]
OFF = 0.25  # the largest relative error of a head that counts as found


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Found heads beside the true ones.

    heads: for each true head the number of the found one, None where there are too few. theta,
    w: ||found - true||_F / ||true||_F for each true head, None for one without a partner, absolute
    where the true one is 0. spare: the found heads that are left over.
    """

    heads: tuple[int | None, ...]
    theta: tuple[float | None, ...]
    w: tuple[float | None, ...]
    spare: tuple[int, ...]

    @property
    def identified(self) -> bool:
        """Whether every true head was found, with no relative error above a quarter."""
        return all(error is not None and error <= OFF for error in (*self.theta, *self.w))

    def to_dict(self) -> dict[str, Any]:
        """Write the matching as JSON."""
        return {
            "heads": list(self.heads),
            "theta_errors": list(self.theta),
            "w_errors": list(self.w),
            "spare": list(self.spare),
        }


def match(learned: AttentionLayer, truth: AttentionLayer) -> Matching:
    """Pair the heads so that the sum of their relative errors is least. [Kuh55]

    If the last coordinate of every token is 1, the differences of tokens are 0 there. So no label
    shows the last column of a Theta, nor the last row of a W but in the sum over heads, and these
    are not compared. Raises UsageError for layers of different dimensions.

    >>> truth = AttentionLayer(theta=np.stack([np.eye(2), np.ones((2, 2))]), w=np.ones((2, 2, 2)))
    >>> swapped = AttentionLayer(theta=truth.theta[::-1], w=truth.w)
    >>> match(swapped, truth).heads
    (1, 0)
    """
    if learned.d != truth.d:
        raise UsageError(f"two layers must have one dimension, got {learned.d} and {truth.d}")
    shown = truth.d - truth.constant
    theta = distances(learned.theta[:, :, :shown], truth.theta[:, :, :shown])
    w = distances(learned.w[:, :shown], truth.w[:, :shown])
    rows, partners = linear_sum_assignment(theta + w)
    pairs = {int(i): int(j) for i, j in zip(rows, partners, strict=True)}
    return Matching(
        heads=tuple(pairs.get(i) for i in range(truth.m)),
        theta=tuple(float(theta[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        w=tuple(float(w[i, pairs[i]]) if i in pairs else None for i in range(truth.m)),
        spare=tuple(j for j in range(learned.m) if j not in pairs.values()),
    )


def distances(learned: Array, truth: Array) -> Array:
    """Relative Frobenius distances, (f, d, d) and (t, d, d) -> (t, f)."""
    out = np.array([[np.linalg.norm(a - b) for a in learned] for b in truth])
    norms = np.linalg.norm(truth, axis=(1, 2))
    return np.asarray(out / np.where(norms > 0, norms, 1.0)[:, None])
