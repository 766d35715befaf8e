"""One layer of linear attention, studied: its optimum, and the evidence for it.

Evidence is a numerical minimum and Monte Carlo. The loss given S = (1/n) sum_i x_i x_i^T is known
exactly: w, the query and label noise are integrated out, and only S is sampled.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from hardness.icl import onelayer
from hardness.icl.evaluate import sample
from hardness.icl.gram import losses
from hardness.icl.onelayer import Array, gradient, least_loss, loss, square
from hardness.icl.prompts import MOST_N, Prompts, require_draws, root
from hardness.icl.study import Matrix, OfLaw, of_law
from instances.errors import UsageError
from instances.limits import require_memory
from instances.streams import generator

_NUMBERS = 1 << 23  # drawn for an estimate where the number of samples is left open: a second or so
_CURVE = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # of n, beside which the loss is shown


@dataclass(frozen=True, kw_only=True)
class Minimum:
    """What L-BFGS ended with, from a random start: the least loss found, and its gradient."""

    loss: float
    gradient: float  # largest entry, in whitened coordinates
    steps: int
    seed: int
    difference: float  # the loss minus L*


@dataclass(frozen=True, kw_only=True)
class Sampled:
    """A mean over independent samples, and its standard error."""

    mean: float
    error: float
    samples: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class Compared(Sampled):
    """A mean, and how many standard errors it is above a value.

    z: None where the samples do not differ but for rounding.
    """

    z: float | None


@dataclass(frozen=True, kw_only=True)
class Direction:
    """An eigendirection of sigma: its eigenvalue, and v^T A* v times it, 1 for sigma^-1."""

    eigenvalue: float
    multiplier: float


@dataclass(frozen=True, kw_only=True)
class AtLength:
    """Least losses with n points: of one layer, closed form, and of the posterior mean."""

    n: int
    layer: float
    bayes: Sampled


class Optimum(OfLaw, frozen=True, kw_only=True, tag="icl optimum"):
    """What is known of one layer on a law of prompts. Losses are squared errors.

    best, least: A* and L*, closed form. exact_multiplier: c of A* = c sigma^-1, where it is that.
    gradient: the largest entry at A*. kappa: eigenvalues of sigma task. turned: the share of A*
    outside of the eigendirections of sigma, Frobenius norms.
    """

    isotropic: bool
    kappa: list[float]
    best: Matrix
    least: float
    exact: str | None
    exact_multiplier: str | None
    gradient: float
    directions: list[Direction]
    turned: float
    numerical: Minimum
    integrated: Compared
    curve: list[AtLength]


def numerical(law: Prompts, seed: int) -> Minimum:
    """Minimise the closed-form loss over A (d, d) from a random start, knowing the gradient alone.

    In the coordinates sigma^1/2 A sigma^1/2 the condition number is below n + 2, for any law.
    """
    from scipy.optimize import minimize

    require_memory(8 * 40 * law.d**2, f"a numerical minimum at d={law.d}")
    narrow, scale = root(law.sigma, -0.5), law.power

    def value(flat: Array) -> tuple[float, Array]:
        a = narrow @ flat.reshape(law.d, law.d) @ narrow
        return loss(law, a) / scale, (narrow @ gradient(law, a) @ narrow).ravel() / scale

    start = generator(seed, "icl", "one layer", "start").standard_normal(law.d**2)
    options: Any = {"ftol": 0.0, "gtol": 1e-11, "maxiter": 2000, "maxfun": 4000}
    found = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    return Minimum(
        loss=scale * float(found.fun),
        gradient=scale * float(np.abs(found.jac).max()),
        steps=int(found.nit),
        seed=seed,
        difference=scale * float(found.fun) - least_loss(law),
    )


def integrated(law: Prompts, a: Array, samples: int, seed: int) -> Sampled:
    """Estimate L(A) from sampled S: a layer of `gram` with P = 0, Q = A."""
    grams = sample(law, seed, "one layer", samples)
    return _sampled(losses(None, square(law, a)[None], grams, law), seed)


def compared(estimate: Sampled, value: float) -> Compared:
    """Set an estimate beside a value."""
    exact = estimate.error <= 1e-12 * abs(estimate.mean)
    return Compared(**vars(estimate), z=None if exact else (estimate.mean - value) / estimate.error)


def bayes(law: Prompts, samples: int, seed: int) -> Sampled:
    """Estimate the loss of the posterior mean given the prompt, ridge regression: E tr(sigma P).

    P = (task^-1 + n S / noise^2)^-1 is the posterior covariance; without noise it projects on
    what n points do not span, and the loss is 0 from n = d on.
    """
    tall = root(law.task, 0.5)
    values, basis = np.linalg.eigh(tall @ sample(law, seed, "one layer", samples) @ tall)
    turned = np.swapaxes(basis, 1, 2) @ (tall @ law.sigma @ tall)
    cost = (turned * np.swapaxes(basis, 1, 2)).sum(axis=2)
    if law.noise:
        left = law.noise**2 / (law.noise**2 + law.n * np.maximum(values, 0))
    else:
        left = (np.arange(law.d) < law.d - law.n).astype(np.float64)
    return _sampled((cost * left).sum(axis=1), seed)


def _sampled(values: Array, seed: int) -> Sampled:
    error = float(values.std(ddof=1) / np.sqrt(len(values)))
    return Sampled(mean=float(values.mean()), error=error, samples=len(values), seed=seed)


def study(law: Prompts, samples: int | None = None, seed: int = 0) -> Optimum:
    """Collect closed forms, a numerical minimum and Monte Carlo of one layer.

    samples: prompts of an estimate, at least 2; None for as many as take a second, 20000 at most.

    >>> found = study(Prompts(n=20, sigma=np.eye(2), task=np.eye(2)), samples=100)
    >>> found.exact, found.gradient < 1e-9, abs(found.numerical.difference) < 1e-10
    ('6/23', True, True)
    """
    if samples is not None and samples < 2:
        raise UsageError(f"samples must be at least 2 for a standard error, got {samples}")
    best, low, exact = onelayer.optimum(law), least_loss(law), onelayer.exact_least(law)
    directions, turned = _directions(law, best)
    multipliers = set(onelayer.exact_multipliers(law) or [])
    count = samples or _affordable(law)
    require_draws(count, law.n, law.d)
    return Optimum(
        **of_law(law),
        seed=seed,
        isotropic=law.isotropic,
        kappa=onelayer.eigenvalues(law).tolist(),
        best=best.tolist(),
        least=low,
        exact=None if exact is None else str(exact),
        exact_multiplier=str(multipliers.pop()) if len(multipliers) == 1 else None,
        gradient=float(np.abs(gradient(law, best)).max()),
        directions=directions,
        turned=turned,
        numerical=numerical(law, seed),
        integrated=compared(integrated(law, best, count, seed), low),
        curve=_curve(law, count, seed),
    )


def _directions(law: Prompts, best: Array) -> tuple[list[Direction], float]:
    values, basis = np.linalg.eigh(law.sigma)
    inside = basis.T @ best @ basis
    kept = np.diag(inside)
    found = [
        Direction(eigenvalue=float(v), multiplier=float(v * k))
        for v, k in zip(values, kept, strict=True)
    ]
    off = inside - np.diag(kept)
    turned = float(np.linalg.norm(off) / np.linalg.norm(inside))
    # Where sigma is a multiple of I its eigendirections are any.
    return found, 0.0 if turned < 1e-12 else turned


def _curve(law: Prompts, samples: int, seed: int) -> list[AtLength]:
    """Losses at shorter and longer prompts, with a tenth of the samples for each."""
    lengths = sorted({min(MOST_N, max(1, round(law.n * factor))) for factor in _CURVE})
    found = []
    for n in lengths:
        other = Prompts(n=n, sigma=law.sigma, task=law.task, noise=law.noise)
        count = max(2, min(samples, _affordable(other)) // 10)
        found.append(AtLength(n=n, layer=least_loss(other), bayes=bayes(other, count, seed)))
    return found


def _affordable(law: Prompts) -> int:
    """As many prompts as can be drawn, and decomposed, in a second or so."""
    draw = (law.n + 1) * law.d * (1 + law.d / 16)  # points are mixed column by column
    return int(np.clip(_NUMBERS / (draw + 20 * law.d**2), 20, 20_000))
