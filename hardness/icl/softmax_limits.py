"""What softmax attention is compared with: linear attention, its own limits, the posterior mean.

Two heads (Theta, c) = (eps A, 1 / (2 eps)) and (-eps A, -1 / (2 eps)) tend with eps to linear
attention on centred points, and those are, after a rotation, n - 1 points: in all layers at once.
Training of one layer was seen to find such heads in [HPCY25].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hardness.icl.onelayer import least, optimum
from hardness.icl.softmax import losses
from instances.covariance import root
from instances.prompts import Prompts

Array = NDArray[np.float64]
LinearLoss = Callable[
    [int, int], float | None
]  # of n points and L layers, for the law's sigma and task


@dataclass(frozen=True, kw_only=True)
class Reference:
    """A loss to compare with; error is 0 where it is computed, not sampled."""

    name: str
    layers: int  # 0: not a model of layers
    loss: float
    error: float
    known: str


def whitened(law: Prompts) -> Prompts:
    """Return the law of sigma^(-1/2) x: sigma = I, task sigma^(1/2) C sigma^(1/2), equal losses."""
    half = root(law.sigma, 0.5)
    task = half @ law.task @ half
    return Prompts(n=law.n, sigma=np.eye(law.d), task=(task + task.T) / 2, noise=law.noise)


def controls(law: Prompts, x: Array) -> Array:
    """Losses less their exact means of one linear layer, on the points and on centred points.

    Returns (count, 2): control variates for whatever is estimated on x; sigma must be I.
    """
    n = law.n
    keys, queries = x[:, :n], x[:, n:].transpose(0, 2, 1)
    centred = keys - keys.mean(axis=1, keepdims=True)
    columns = []
    for held, count in ((keys, n), (centred, n - 1)):
        a, loss = best_linear(law, count)
        columns.append(losses(held @ (a @ queries) / count, x, law) - loss)
    return np.stack(columns, axis=1)


def best_linear(law: Prompts, n: int) -> tuple[Array, float]:
    """Return A* and the loss of one layer of linear attention over n points, sigma = I. [ACDS23]

    The prediction is (1/n) sum_i y_i x_i^T A x_q.

    >>> round(13 * best_linear(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)), 20)[1], 12)
    15.0
    """
    shorter = replace(law, n=n)
    return optimum(shorter), least(shorter)


def references(
    law: Prompts, layers: Sequence[int], x: Array, linear: LinearLoss | None = None
) -> list[Reference]:
    """Collect what needs no training; x are whitened prompts for the Bayes loss.

    Two opposite heads tend to linear attention on centred points, which is that of n - 1 points.
    One head may centre in its first layer and use the others as linear layers: (1 + 1/n) times
    their loss over n - 1 points, and s^2/n.
    """
    white, n = whitened(law), law.n
    found = [_closed("predicting 0", 0, white.power), bayes(white, x)]

    def of(count: int, depth: int) -> float | None:
        if depth == 1:
            return best_linear(white, count)[1]
        return None if linear is None else linear(count, depth)

    for depth in layers:
        known = "closed form" if depth == 1 else "best found"
        for name, value in (
            ("linear", of(n, depth)),
            ("two heads, limit", of(n - 1, depth)),
        ):
            if value is not None:
                found.append(_closed(name, depth, value, known))
        inner = of(n - 1, depth - 1) if depth > 1 else None
        if inner is not None:
            value = (1 + 1 / n) * inner + law.noise**2 / n
            how = "closed form" if depth == 2 else known
            found.append(_closed("one head, limit", depth, value, how))
    return found


def _closed(name: str, layers: int, loss: float, known: str = "closed form") -> Reference:
    return Reference(name=name, layers=layers, loss=loss, error=0.0, known=known)


def bayes(law: Prompts, x: Array) -> Reference:
    """Estimate the loss of the posterior mean, tr(sigma C_post), on the points of x (count, ., d).

    It is ridge regression with the task's covariance; without noise and with n >= d points it is 0.
    """
    if not law.noise and law.n >= law.d:
        return _closed("ridge (Bayes)", 0, 0.0, "exact")
    keys = x[:, : law.n]
    pulled = keys @ law.task  # (count, n, d)
    kernel = pulled @ keys.transpose(0, 2, 1) + law.noise**2 * np.eye(law.n)
    explained = pulled.transpose(0, 2, 1) @ np.linalg.solve(kernel, pulled)
    left = np.trace((law.task - explained) @ law.sigma, axis1=1, axis2=2)
    error = float(left.std() / np.sqrt(len(left)))
    return Reference(
        name="ridge (Bayes)", layers=0, loss=float(left.mean()), error=error, known="statistical"
    )
