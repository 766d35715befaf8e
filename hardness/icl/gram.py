"""Linear transformers of L layers on prompts of linear regression, and their Gram form. [ACDS23]

A layer reads X (d, n+1), the query last, and a row y (n+1,) that starts with 0 at the query:

    X <- X - (1/n) P X M X^T Q X,    y <- y - (1/n) y M X^T Q X,    M = diag(1, .., 1, 0),

and the prediction is minus the last entry of y. With P = 0 the layers are steps of gradient descent
with the preconditioner Q. The effect of L layers depends on the prompt only through
S = (1/n) sum_i x_i x_i^T and b = (1/n) sum_i y_i x_i. The prediction is -b^T N x_query, with T = I
and N = 0 at the start and, layer by layer,

    G = T^T Q T,    W = S G,    N <- N - G - N W,    T <- T - P T W.

The target exceeds it by w^T U x_query + (1/n) sum_i noise_i x_i^T N x_query, where U = I + S N. The
loss for given S is tr(task U sigma U^T) + (noise^2/n) tr(S N sigma N^T), so only S needs sampling.
The loss is a polynomial in S whose degree grows like 3^L if points move. Prompts of probability
below 1e-6 may then dominate its mean. `evaluate` uses the scalar solution as a control variate.
`rare` draws points that are too large, and weights them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.icl.prompts import Prompts, require_draws, root
from hardness.icl.steps import MOST_LAYERS, MOST_SCALARS, best_scalars, best_steps, common_step
from instances.errors import UsageError, require
from instances.limits import require_memory

Array = NDArray[np.float64]
_BATCH_NUMBERS = 1 << 15  # numbers in a batch of matrices: intermediate results stay in cache


@dataclass(frozen=True, kw_only=True, eq=False)
class Layers:
    """L layers of linear attention, p and q (L, d, d); raises UsageError for other shapes.

    >>> step = Layers(p=np.zeros((1, 2, 2)), q=np.eye(2)[None])
    >>> x = np.array([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])
    >>> step.predict(x, np.array([[3.0, 1.0]])).tolist()  # (3 <x_1, x_q> + 1 <x_2, x_q>) / 2
    [2.5]
    """

    p: Array
    q: Array

    def __post_init__(self) -> None:
        shape = np.shape(self.q)
        if len(shape) != 3 or shape[1] != shape[2] or min(shape) < 1 or np.shape(self.p) != shape:
            raise UsageError(
                f"p and q must have one shape (L, d, d), got {np.shape(self.p)}, {shape}"
            )

    def predict(self, x: Array, y: Array) -> Array:
        """Predict <w, x_query> token by token: x (count, n+1, d), y (count, n) -> (count,)."""
        n, labels = y.shape[1], np.concatenate([y, np.zeros((len(y), 1))], axis=1)
        for p, q in zip(self.p, self.q, strict=True):
            points, keys = x[:, :-1], x @ q.T
            right = np.einsum("ci,cij->cj", labels[:, :-1], points) / n
            second = points.swapaxes(1, 2) @ points / n
            labels = labels - np.einsum("cij,cj->ci", keys, right)
            x = x - keys @ second @ p.T
        return np.asarray(-labels[:, -1])

    def whitened(self, sigma: Array) -> "Layers":
        """Return the same layers in coordinates sigma^{-1/2} x, where the covariance is I.

        P becomes sigma^{-1/2} P sigma^{1/2}, and Q becomes sigma^{1/2} Q sigma^{1/2}. Predictions
        do not change. The argument sigma^{-1} inverts the change of coordinates.
        """
        wide, narrow = root(sigma, 0.5), root(sigma, -0.5)
        return Layers(p=narrow @ self.p @ wide, q=wide @ self.q @ wide)


# The matrices of a layer for the backward pass: N and T before it, W, T W; None means T = I.
Steps = list[tuple[Array, Array | None, Array, Array]]


def _forward(p: Array | None, q: Array, grams: Array) -> tuple[Array, Array, Steps]:
    """Apply the layers to Gram matrices; return U and N, (count, d, d), and the steps.

    p: (L, d, d), or None for P = 0. q: (L, d, d). grams: (count, d, d), symmetric.
    """
    n: Any = np.zeros(grams.shape, np.result_type(grams, q))
    t: Any = None
    steps = []
    for layer, query in enumerate(q):
        g = query if t is None else t.swapaxes(1, 2) @ (query @ t)
        w = grams @ g
        tw = w if t is None else t @ w
        steps.append((n, t, w, tw))
        n = n - g - n @ w
        if p is not None and layer + 1 < len(q):  # the last P has no influence
            t = (np.eye(len(query)) if t is None else t) - p[layer] @ tw
    u = grams @ n + np.eye(q.shape[1])
    return u, n, steps


def _pullback(
    p: Array | None, q: Array, grams: Array, steps: Steps, du: Array, dn: Array | None
) -> tuple[Array, Array]:
    """Propagate gradients in U, and in N apart from U, back to p and q.

    du, dn: (count, d, d), gradients of a sum over Gram matrices. Returns two arrays (L, d, d).
    """
    back_n = grams @ du
    if dn is not None:
        back_n = back_n + dn
    dp, dq = np.zeros_like(q), np.zeros_like(q)
    back_t: Any = None
    for layer in reversed(range(len(q))):
        n, t, w, tw = steps[layer]
        dw = -(n.swapaxes(1, 2) @ back_n)
        if back_t is not None and p is not None:
            dp[layer] = -(back_t @ tw.swapaxes(1, 2)).sum(axis=0)
            d_tw = -(p[layer].T @ back_t)
            dw = dw + (d_tw if t is None else t.swapaxes(1, 2) @ d_tw)
            back_t = back_t + d_tw @ w.swapaxes(1, 2)
        dg = grams @ dw - back_n
        back_n = back_n - back_n @ w.swapaxes(1, 2)
        if t is None:
            dq[layer] = dg.sum(axis=0)
            continue
        dq[layer] = (t @ dg @ t.swapaxes(1, 2)).sum(axis=0)
        new = q[layer] @ (t @ dg.swapaxes(1, 2)) + q[layer].T @ (t @ dg)
        back_t = new if back_t is None else back_t + new
    return dp, dq


def residuals(p: Array | None, q: Array, grams: Array) -> tuple[Array, Array]:
    """Compute U and N of the module's docstring, (count, d, d) both."""
    return _forward(p, q, grams)[:2]


def losses(p: Array | None, q: Array, grams: Array, law: Prompts) -> Array:
    """Compute the expected loss for each Gram matrix: (count,)."""
    out = [_losses(*residuals(p, q, part), part, law)[0] for part in _parts(grams)]
    return np.concatenate(out)


def loss_and_gradient(
    p: Array | None, q: Array, grams: Array, law: Prompts, weights: Array | None = None
) -> tuple[float, Array, Array]:
    """Compute the mean of `losses`, and its gradients in p and q, (L, d, d) both.

    weights: (count,), those of the Gram matrices in the mean, for a rule of integration.
    """
    total: Any = 0.0
    dp, dq = np.zeros_like(q), np.zeros_like(q)
    shares = np.ones(len(grams)) if weights is None else weights
    for part, share in zip(_parts(grams), _parts(shares, grams.shape[1]), strict=True):
        u, n, steps = _forward(p, q, part)
        found, du, dn = _losses(u, n, part, law)
        total = total + (found if weights is None else share * found).sum()
        if weights is not None:
            du = share[:, None, None] * du
            dn = None if dn is None else share[:, None, None] * dn
        more_p, more_q = _pullback(p, q, part, steps, du, dn)
        dp += more_p
        dq += more_q
    count = len(grams) if weights is None else 1
    return total / count, dp / count, dq / count


def _losses(u: Array, n: Array, grams: Array, law: Prompts) -> tuple[Array, Array, Array | None]:
    """Compute the loss of each Gram matrix, and its gradients in U and in N."""
    cu = law.task @ u @ law.sigma
    out = (cu * u).sum(axis=(1, 2))
    if not law.noise:
        return out, 2 * cu, None
    level = law.noise**2 / law.n
    sn = grams @ n @ law.sigma
    return out + level * (sn * n).sum(axis=(1, 2)), 2 * cu, 2 * level * sn


def _parts(grams: Array, d: int = 0) -> Iterator[Array]:
    step = max(1, _BATCH_NUMBERS // (d or grams.shape[1]) ** 2)
    for start in range(0, len(grams), step):
        yield grams[start : start + step]


Kind = Literal["q", "both", "common"]
_BATCH_TOKENS = 1 << 20  # numbers in the tokens of a batch
_STRETCH_LEVELS = 8  # the last one reaches eigenvalues of about twice the usual size
_NORMAL_QUANTILE = 2.5758  # a normal variable is within so many deviations with probability 99 %


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Layers with an exact loss, in float64, and the method: the control variate."""

    layers: Layers
    loss: float
    method: str


def scalar_reference(law: Prompts, layers: int, kind: Kind) -> Reference | None:
    """Return the best scalar layers Q_l = q_l sigma^-1, P_l = p_l I with their exact loss.

    kind: "q", gradient descent with optimal steps (P = 0); "common", with one step for all layers;
    "both", GD++. None if the exact loss is unknown: for a task that is not a multiple of sigma^-1,
    or for too many layers.
    """
    if not law.isotropic or layers > (MOST_SCALARS if kind == "both" else MOST_LAYERS):
        return None
    level = law.power / law.d  # tasks of covariance level * sigma^-1: the loss scales with it
    noise = law.noise / level**0.5
    searches = {"q": best_steps, "common": common_step, "both": best_scalars}
    best = searches[kind](law.n, law.d, layers, noise)
    inverse, eye = root(law.sigma, -1.0), np.eye(law.d)
    p, q = (np.array(scalars)[:, None, None] for scalars in (best.p, best.q))
    searched = "best scalar minimum found, its loss exact"
    method = searched if kind == "both" else "exact: rational arithmetic"
    best_layers = Layers(p=p * eye, q=q * inverse)
    return Reference(layers=best_layers, loss=float(best.loss) * level, method=method)


@dataclass(frozen=True)
class Estimate:
    """A mean over `samples` Gram matrices: value with its standard error, statistical.

    With a control variate the value is its exact loss plus the mean difference. plain and
    plain_error are the mean without it, which has heavy tails, and its standard error.
    """

    value: float
    error: float
    plain: float
    plain_error: float
    samples: int
    control: float | None  # the exact loss of the control variate
    interval: tuple[float, float]  # from the central limit theorem
    confidence: float = 0.99


def sample(law: Prompts, seed: int, axis: str, count: int, start: int = 0) -> Array:
    """Draw the Gram matrices S of prompts start, start + 1, .. of a named stream: (count, d, d)."""
    require(count >= 1, f"{count} Gram matrices asked for: at least 1 is needed")
    require_draws(count, law.n, law.d)
    require_memory(
        8 * (3 * count * law.d**2 + 4 * _BATCH_TOKENS), f"{count} Gram matrices at d={law.d}"
    )
    step = max(1, _BATCH_TOKENS // ((law.n + 1) * law.d))
    starts = range(0, count, step)
    parts = [law.draw(seed, axis, start + s, min(step, count - s)).gram for s in starts]
    return np.concatenate(parts)


def evaluate(
    layers: Layers, grams: Array, law: Prompts, reference: Reference | None = None
) -> Estimate:
    """Estimate the loss of layers on at least 2 fresh Gram matrices; raises UsageError."""
    require(len(grams) >= 2, f"samples must be at least 2 for a standard error, got {len(grams)}")
    found, samples, control = losses(layers.p, layers.q, grams, law), len(grams), None
    value, error = plain, plain_error = _mean(found)
    if reference is not None:
        known, control = reference.layers, reference.loss
        difference, error = _mean(found - losses(known.p, known.q, grams, law))
        value = control + difference
    within = (value - _NORMAL_QUANTILE * error, value + _NORMAL_QUANTILE * error)
    return Estimate(value, error, plain, plain_error, samples, control, within)


@dataclass(frozen=True, kw_only=True)
class Rare:
    """The loss by importance sampling: value, standard error, the share of the heaviest sample."""

    value: float
    error: float
    share: float  # if it is near 1, the value is only a rough lower bound
    samples: int


def stretched(law: Prompts, seed: int, axis: str, count: int) -> tuple[Array, Array]:
    """Draw Gram matrices of stretched points, with weights that make means unbiased. [VG95]

    Points of sample i are stretched by sqrt(c_k), k = i mod 8, c_k = exp(k sqrt(2/(nd))). The
    weight is the law's density divided by that of the mixture of all eight in the shares drawn, the
    balance heuristic. Weighted means are then unbiased for every count.
    """
    logs = np.arange(_STRETCH_LEVELS) * np.sqrt(2 / (law.n * law.d))
    grams = sample(law, seed, axis, count)
    level = np.arange(count) % _STRETCH_LEVELS
    grams = grams * np.exp(logs)[level, None, None]
    size = np.einsum("cij,ij->c", grams, np.linalg.inv(law.sigma))
    exponents = -law.n * law.d / 2 * logs - law.n / 2 * np.expm1(-logs) * size[:, None]
    shares = np.bincount(level, minlength=_STRETCH_LEVELS) / count
    with np.errstate(over="ignore"):  # a weight below float64 is 0
        return grams, 1 / (np.exp(exponents) @ shares)


def rare(layers: Layers, law: Prompts, seed: int, count: int) -> Rare:
    """Estimate the loss from stretched points, among which rare prompts are frequent.

    If the value is far above that of `evaluate`, prompts dominate the mean that neither `evaluate`
    nor training has sampled.
    """
    grams, weights = stretched(law, seed, "stretched", count)
    found = weights * losses(layers.p, layers.q, grams, law)
    value, error = _mean(found)
    share = float(found.max() / found.sum()) if value > 0 else 1.0
    return Rare(value=value, error=error, share=share, samples=count)


def _mean(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
