"""The loss of L layers: exact references, fresh Gram matrices, and what rare prompts add.

The loss is a polynomial in S whose degree grows like 3^L when the points move: prompts of one in a
million and rarer may carry its mean. `evaluate` has the scalar solution as a control variate;
`rare` draws points that are too large, and weighs them.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from hardness.icl import steps
from hardness.icl.gram import Array, Layers, losses
from hardness.icl.prompts import Prompts, require_draws, root
from instances.errors import UsageError
from instances.limits import require_memory

Kind = Literal["q", "both", "common"]
_AT_ONCE = 1 << 20  # numbers in the tokens of a batch
_LEVELS = 8  # of stretching; the last is to reach eigenvalues of twice the usual size
_DEVIATES = 2.5758  # of a normal law: 99 % lie within


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """Layers whose loss is known exactly, float64, and how: the control variate."""

    layers: Layers
    loss: float
    method: str


def scalar_reference(law: Prompts, layers: int, kind: Kind) -> Reference | None:
    """Return the best scalar layers Q_l = q_l sigma^-1, P_l = p_l I with their exact loss.

    kind: "q", gradient descent with optimal steps (P = 0); "common", with one step for all layers;
    "both", GD++. None where nothing exact is known: a task other than a multiple of sigma^-1, or
    more layers than can be solved for.
    """
    if not law.isotropic or layers > (steps.MOST_SCALARS if kind == "both" else steps.MOST_LAYERS):
        return None
    level = law.power / law.d  # tasks of covariance level * sigma^-1: the loss scales with it
    noise = law.noise / level**0.5
    searches = {"q": steps.best_steps, "common": steps.common_step, "both": steps.best_scalars}
    best = searches[kind](law.n, law.d, layers, noise)
    inverse, eye = root(law.sigma, -1.0), np.eye(law.d)
    return Reference(
        layers=Layers(
            p=np.array(best.p)[:, None, None] * eye, q=np.array(best.q)[:, None, None] * inverse
        ),
        loss=float(best.loss) * level,
        method="best scalar minimum found, its loss exact"
        if kind == "both"
        else "exact: rational arithmetic",
    )


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A mean over `samples` Gram matrices: value with its standard error, statistical.

    With a control variate the value is its exact loss plus the mean difference; plain and
    plain_error are those of the bare mean, whose tails are heavy.
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
    if count < 1:
        raise UsageError(f"{count} Gram matrices asked for: at least 1 is needed")
    require_draws(count, law.n, law.d)
    require_memory(8 * (3 * count * law.d**2 + 4 * _AT_ONCE), f"{count} Gram matrices at d={law.d}")
    step = max(1, _AT_ONCE // ((law.n + 1) * law.d))
    parts = (
        law.draw(seed, axis, start + done, min(step, count - done)).gram
        for done in range(0, count, step)
    )
    return np.concatenate(list(parts))


def evaluate(
    layers: Layers, grams: Array, law: Prompts, reference: Reference | None = None
) -> Estimate:
    """Estimate the loss of layers on Gram matrices that they were not trained on.

    Raises UsageError for fewer than 2 of them.
    """
    if len(grams) < 2:
        raise UsageError(f"samples must be at least 2 for a standard error, got {len(grams)}")
    found = losses(layers.p, layers.q, grams, law)
    plain, plain_error = _mean(found)
    value, error = plain, plain_error
    if reference is not None:
        known = reference.layers
        difference, error = _mean(found - losses(known.p, known.q, grams, law))
        value = reference.loss + difference
    return Estimate(
        value=value,
        error=error,
        plain=plain,
        plain_error=plain_error,
        samples=len(grams),
        control=None if reference is None else reference.loss,
        interval=(value - _DEVIATES * error, value + _DEVIATES * error),
    )


@dataclass(frozen=True, kw_only=True)
class Rare:
    """The loss by importance sampling: value, standard error, the share of the heaviest sample."""

    value: float
    error: float
    share: float  # of one sample in the value: near 1, value is a rough lower bound
    samples: int


def stretched(law: Prompts, seed: int, axis: str, count: int) -> tuple[Array, Array]:
    """Draw Gram matrices of stretched points, with weights that make means those of the law.

    Points of sample i are stretched by sqrt(c_k), k = i mod 8, c_k = exp(k sqrt(2/(nd))); its
    weight is the law's density against the mixture of all eight in the shares that were drawn, the
    balance heuristic: weighted means are unbiased for every count. [VG95]
    """
    logs = np.arange(_LEVELS) * np.sqrt(2 / (law.n * law.d))
    grams = sample(law, seed, axis, count)
    level = np.arange(count) % _LEVELS
    grams = grams * np.exp(logs)[level, None, None]
    size = np.einsum("cij,ij->c", grams, np.linalg.inv(law.sigma))
    exponents = -law.n * law.d / 2 * logs - law.n / 2 * np.expm1(-logs) * size[:, None]
    shares = np.bincount(level, minlength=_LEVELS) / count
    with np.errstate(over="ignore"):  # a weight below float64 is 0
        return grams, 1 / (np.exp(exponents) @ shares)


def rare(layers: Layers, law: Prompts, seed: int, count: int) -> Rare:
    """Estimate the loss from stretched points, which meet rare prompts often.

    A value well above that of `evaluate` says that the mean is carried by prompts that plain
    sampling, and training on plain samples, never met.
    """
    grams, weights = stretched(law, seed, "stretched", count)
    found = weights * losses(layers.p, layers.q, grams, law)
    value, error = _mean(found)
    share = float(found.max() / found.sum()) if value > 0 else 1.0
    return Rare(value=value, error=error, share=share, samples=count)


def _mean(values: Array) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
