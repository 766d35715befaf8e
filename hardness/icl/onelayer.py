"""One layer of linear attention for in-context regression: loss and optimum in closed form.

The prediction is (1/n) sum_i y_i x_i^T A x_query with A (d, d): one step of gradient descent from
w = 0, preconditioned by A. Its loss is E (prediction - <w, x_query>)^2 over sigma, task and noise
of a `Prompts`; sigma and task need not commute. [ACDS23] gives the optimum for task = I and
task = sigma^-1. `study` compares it with a numerical minimum and with Monte Carlo over S.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.icl.gram import losses, sample
from hardness.icl.prompts import MOST_N, Matrix, OfLaw, Prompts, of_law, require_draws, root
from instances.errors import UsageError
from instances.limits import require_memory
from instances.streams import generator

Array = NDArray[np.float64]
_MAX_DENOMINATOR = 10**6  # the largest denominator of fractions that a float64 is read as
_MAX_ROUNDED_DENOMINATOR = 1000  # the same for a product of matrices, known only to 1e-9


def whitened(law: Prompts) -> Prompts:
    """Return the law of sigma^(-1/2) x: sigma = I, task sigma^(1/2) C sigma^(1/2), equal losses."""
    half = root(law.sigma, 0.5)
    task = half @ law.task @ half
    return Prompts(n=law.n, sigma=np.eye(law.d), task=(task + task.T) / 2, noise=law.noise)


def spread(law: Prompts) -> float:
    """Return t = (tr(sigma task) + noise^2) / n, the variance of a label divided by n."""
    return (law.power + law.noise**2) / law.n


def moment(law: Prompts) -> Array:
    """Return M = E g g^T, g = (1/n) sum_i y_i x_i, (d, d): (n+1)/n sigma task sigma + t sigma."""
    second = (law.n + 1) / law.n * law.sigma @ law.task @ law.sigma + spread(law) * law.sigma
    return np.asarray((second + second.T) / 2)


def loss(law: Prompts, a: Array) -> float:
    """Return L(A) = tr(A^T M A sigma) - 2 tr(sigma task sigma A) + tr(sigma task) for A (d, d).

    The sum of bias and variance has only nonnegative terms, so nothing cancels.

    >>> law = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))
    >>> loss(law, np.zeros((5, 5))), round(loss(law, optimum(law)) * 13, 12)
    (5.0, 15.0)
    """
    if np.shape(a) != law.sigma.shape:
        raise UsageError(f"A must have the shape ({law.d}, {law.d}), got {np.shape(a)}")
    wide, tall = _roots(law)
    step = tall @ law.sigma @ a @ wide
    bias = np.sum((step - tall @ wide) ** 2)
    return float(bias + np.sum(step**2) / law.n + spread(law) * np.sum((wide @ a @ wide) ** 2))


def gradient(law: Prompts, a: Array) -> Array:
    """Return the gradient of L at A, (d, d): 2 (M A - sigma task) sigma."""
    return np.asarray(2 * (moment(law) @ a - law.sigma @ law.task) @ law.sigma)


def eigenvalues(law: Prompts) -> Array:
    """Return the eigenvalues kappa of sigma task, (d,), the largest first; they determine L*."""
    tall = root(law.task, 0.5)
    return np.asarray(np.linalg.eigvalsh(tall @ law.sigma @ tall)[::-1])


def optimum(law: Prompts) -> Array:
    """Return A* = ((n+1)/n sigma + t task^-1)^-1, (d, d), symmetric: the unique minimiser of L.

    >>> optimum(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)))[0].round(12).tolist()
    [0.769230769231, 0.0, 0.0, 0.0, 0.0]
    """
    tall = root(law.task, 0.5)
    values, basis = np.linalg.eigh(tall @ law.sigma @ tall)  # without inverting sigma or the task
    turned = tall @ basis
    best = (turned / ((law.n + 1) / law.n * values + spread(law))) @ turned.T
    return np.asarray((best + best.T) / 2)


def least_loss(law: Prompts) -> float:
    """Return L* = sum_j kappa_j (kappa_j / n + t) / ((n+1)/n kappa_j + t), the least loss.

    >>> round(least_loss(Prompts(n=20, sigma=np.eye(5), task=np.eye(5))) * 13, 12)
    15.0
    """
    kappa, t = eigenvalues(law), spread(law)
    return float(np.sum(kappa * (kappa / law.n + t) / ((law.n + 1) / law.n * kappa + t)))


def exact_eigenvalues(law: Prompts) -> list[Fraction] | None:
    """Return the kappa as fractions if sigma and task are diagonal or inverse, else None.

    Entries are read as the simplest fractions with a denominator up to 10^6 that round to them, so
    0.1 is 1/10; if an entry is not rational, the result is None. For other matrices with
    sigma task = c I, c is read as a fraction with a denominator up to 1000, to within 1e-9.

    >>> exact_eigenvalues(Prompts(n=20, sigma=np.diag([0.1, 2.0]), task=np.eye(2)))
    [Fraction(1, 10), Fraction(2, 1)]
    """
    sides = [law.sigma, law.task]
    if not any(np.count_nonzero(side - np.diag(np.diag(side))) for side in sides):
        read = [[simple(float(v)) for v in np.diag(side)] for side in sides]
        products = [a * b for a, b in zip(*read, strict=True) if a is not None and b is not None]
        if len(products) == law.d:
            return products
    if not law.isotropic:
        return None
    # The inverse was computed in float64, and the level is the intended product. Less than one in a
    # thousand of all numbers is so close to such a simple fraction.
    level = law.power / law.d
    near = Fraction(level).limit_denominator(_MAX_ROUNDED_DENOMINATOR)
    return [near] * law.d if abs(float(near) - level) <= 1e-9 * level else None


def exact_least(law: Prompts) -> Fraction | None:
    """Return L* as a fraction if `exact_eigenvalues` and the noise are fractions, else None.

    For task = sigma^-1 without noise it is d (d + 1) / (n + d + 1).

    >>> exact_least(Prompts(n=20, sigma=np.eye(5), task=np.eye(5)))
    Fraction(15, 13)
    """
    if (known := _exact(law)) is None:
        return None
    kappa, total = known
    return sum((k * (k + total) / ((law.n + 1) * k + total) for k in kappa), Fraction())


def exact_multipliers(law: Prompts) -> list[Fraction] | None:
    """Return n kappa / ((n + 1) kappa + n t) as fractions: the share of a step in each direction.

    If all are the same number c, A* = c sigma^-1. Without noise, c = n / (n + d + 1) for
    task = sigma^-1.

    >>> exact_multipliers(Prompts(n=20, sigma=np.eye(2), task=np.eye(2)))
    [Fraction(20, 23), Fraction(20, 23)]
    """
    if (known := _exact(law)) is None:
        return None
    kappa, total = known
    return [law.n * k / ((law.n + 1) * k + total) for k in kappa]


def _exact(law: Prompts) -> tuple[list[Fraction], Fraction] | None:
    """Return kappa and n t, the variance of a label, if both are fractions."""
    kappa, noise = exact_eigenvalues(law), simple(law.noise)
    if kappa is None or noise is None:
        return None
    return kappa, sum(kappa, Fraction()) + noise**2


def simple(value: float) -> Fraction | None:
    """Return the simplest fraction with a denominator up to 10^6 that rounds to a float, or None.

    >>> simple(1 / 3), simple(2**0.5)
    (Fraction(1, 3), None)
    """
    near = Fraction(value).limit_denominator(_MAX_DENOMINATOR)
    return near if float(near) == value else None


@lru_cache(maxsize=8)
def _roots(law: Prompts) -> tuple[Array, Array]:
    return root(law.sigma, 0.5), root(law.task, 0.5)


_DEFAULT_NUMBERS = 1 << 23  # drawn for an estimate of no given samples: about a second
_CURVE_FACTORS = (0.125, 0.25, 0.5, 1, 2, 4, 8)  # factors of n for which the loss is shown


@dataclass(frozen=True, kw_only=True)
class Minimum:
    """The result of L-BFGS from a random start: the smallest loss found, and its gradient."""

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
    """A mean that is z standard errors above a value; z is None if all samples are equal."""

    z: float | None


@dataclass(frozen=True, kw_only=True)
class Direction:
    """An eigendirection v of sigma: the eigenvalue, and its product with v^T A* v."""

    eigenvalue: float
    multiplier: float


@dataclass(frozen=True, kw_only=True)
class AtLength:
    """The least losses for n points: one layer, in closed form, and the posterior mean."""

    n: int
    layer: float
    bayes: Sampled


class Optimum(OfLaw, frozen=True, kw_only=True, tag="icl optimum"):
    """Results for one layer on a law of prompts. Losses are squared errors.

    best, least: A* and L* in closed form. exact_multiplier: c if A* = c sigma^-1. gradient: the
    largest entry at A*. kappa: eigenvalues of sigma task. turned: the share of A* outside the
    eigendirections of sigma, in Frobenius norms.
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
    """Minimise the closed-form loss over A (d, d) from a random start, with its gradient.

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
    fitted = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
    least, slope = scale * float(fitted.fun), scale * float(np.abs(fitted.jac).max())
    difference, steps = least - least_loss(law), int(fitted.nit)
    return Minimum(loss=least, gradient=slope, steps=steps, seed=seed, difference=difference)


def integrated(law: Prompts, a: Array, samples: int, seed: int) -> Sampled:
    """Estimate L(A) from sampled S: a layer of `gram` with P = 0, Q = A."""
    grams = sample(law, seed, "one layer", samples)
    return _sampled(losses(None, a[None], grams, law), seed)


def compared(estimate: Sampled, value: float) -> Compared:
    """Compare an estimate with a value."""
    exact = estimate.error <= 1e-12 * abs(estimate.mean)
    return Compared(**vars(estimate), z=None if exact else (estimate.mean - value) / estimate.error)


def bayes(law: Prompts, samples: int, seed: int) -> Sampled:
    """Estimate the loss of the posterior mean given the prompt, ridge regression: E tr(sigma P).

    P = (task^-1 + n S / noise^2)^-1 is the posterior covariance. Without noise it projects onto the
    complement of the span of n points, and the loss is 0 for n >= d.
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

    samples: prompts of an estimate, at least 2; None for about a second, at most 20000.

    >>> found = study(Prompts(n=20, sigma=np.eye(2), task=np.eye(2)), samples=100)
    >>> found.exact, found.gradient < 1e-9, abs(found.numerical.difference) < 1e-10
    ('6/23', True, True)
    """
    if samples is not None and samples < 2:
        raise UsageError(f"samples must be at least 2 for a standard error, got {samples}")
    best, low, exact = optimum(law), least_loss(law), exact_least(law)
    directions, turned = _directions(law, best)
    multipliers, count = set(exact_multipliers(law) or []), samples or _affordable(law)
    require_draws(count, law.n, law.d)
    return Optimum(
        **of_law(law),
        seed=seed,
        isotropic=law.isotropic,
        kappa=eigenvalues(law).tolist(),
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
    pairs = zip(values.tolist(), (values * kept).tolist(), strict=True)
    directions = [Direction(eigenvalue=v, multiplier=c) for v, c in pairs]
    off = inside - np.diag(kept)
    turned = float(np.linalg.norm(off) / np.linalg.norm(inside))
    # If sigma is a multiple of I, every direction is an eigendirection.
    return directions, 0.0 if turned < 1e-12 else turned


def _curve(law: Prompts, samples: int, seed: int) -> list[AtLength]:
    """Compute losses for shorter and longer prompts, with a tenth of the samples for each."""
    lengths = sorted({min(MOST_N, max(1, round(law.n * factor))) for factor in _CURVE_FACTORS})
    curve = []
    for n in lengths:
        other = Prompts(n=n, sigma=law.sigma, task=law.task, noise=law.noise)
        count = max(2, min(samples, _affordable(other)) // 10)
        curve.append(AtLength(n=n, layer=least_loss(other), bayes=bayes(other, count, seed)))
    return curve


def _affordable(law: Prompts) -> int:
    """Return the number of prompts that can be drawn and decomposed in about a second."""
    draw = (law.n + 1) * law.d * (1 + law.d / 16)  # points are mixed column by column
    return int(np.clip(_DEFAULT_NUMBERS / (draw + 20 * law.d**2), 20, 20_000))
