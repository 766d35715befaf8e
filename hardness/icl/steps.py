"""Optimal gradient-descent steps: L layers of linear attention that leave the points as they are.

With P = 0, A_l = a_l I, sigma = task = I, the residual of the prediction is p(S) w with p(t) =
prod_l (1 - a_l t): the loss is d int p^2 + (s^2/n) ((p - 1)/t)^2 t dmu, mu the mean spectrum of S.
Its minimum over the polynomials with p(0) = 1 is, with h = s^2 / n and pi the orthogonal polynomial
of degree L for t dmu, p = (h + t pi(t) / pi(-h)) / (t + h); without noise p = pi / pi(0).
"""

from dataclasses import dataclass
from fractions import Fraction
from math import comb, cos, pi
from typing import Any

import numpy as np
from flint import fmpq_poly

from hardness.icl.orthogonal import monic
from hardness.icl.scalar import Objective, descend, fraction, loss_of, polynomials, ridge
from hardness.icl.wishart import rationals
from instances.errors import UsageError

MOST_LAYERS = 48


@dataclass(frozen=True, kw_only=True)
class Steps:
    """Steps a_1 <= .. <= a_L of gradient descent, as float64, and their loss, an exact rational."""

    n: int
    d: int
    noise: float
    steps: tuple[float, ...]
    loss: Fraction


@dataclass(frozen=True, kw_only=True)
class BestSteps(Steps):
    """The best steps: their loss is `least` but for their rounding, if all roots are real.

    polynomial is the residual of least loss, coefficients from t^0 up, least its loss, both exact.
    The steps are the inverses of its roots. With much noise some roots may not be real: then no
    real steps reach least, and these are the best that were found.
    """

    polynomial: tuple[Fraction, ...]
    least: Fraction
    real: bool


def best_steps(n: int, d: int, layers: int, noise: float = 0.0) -> BestSteps:
    """Find the steps of least loss over n points in dimension d, label noise of deviation `noise`.

    Raises UsageError for layers outside of 1 .. 48.

    >>> found = best_steps(20, 5, 1)
    >>> str(found.least), round(found.steps[0], 12), found.real
    ('15/13', 0.769230769231, True)
    """
    residual = best_polynomial(n, d, layers, noise)
    roots = _roots(residual)
    real = all(root.imag.is_zero() for root in roots)
    found = [1 / complex(root) for root in roots]
    steps = [a.real for a in found] if real else _best_real(n, d, noise, found)
    net = (residual - 1) / fmpq_poly([0, 1])
    return BestSteps(
        **vars(with_steps(n, d, steps, noise)),
        polynomial=tuple(fraction(c) for c in residual.coeffs()),
        least=loss_of(n, d, residual, net, noise),
        real=real,
    )


def best_polynomial(n: int, d: int, layers: int, noise: float = 0.0) -> fmpq_poly:
    """Return the residual polynomial of degree L with value 1 at 0 and least loss, exactly."""
    _check(layers)
    h, t = ridge(n, noise), fmpq_poly([0, 1])
    orthogonal = monic(rationals(n, d, 2 * layers)[1:], layers)
    return (h + t * orthogonal / orthogonal(-h)) / (t + h)


def with_steps(n: int, d: int, steps: list[float], noise: float = 0.0) -> Steps:
    """Evaluate the loss of given steps, exactly.

    >>> str(with_steps(20, 5, [0.5, 0.5]).loss)
    '261/320'
    """
    _check(len(steps))
    ordered = sorted(steps)
    value = loss_of(n, d, *polynomials([0.0] * len(ordered), ordered), noise)
    return Steps(n=n, d=d, noise=noise, steps=tuple(ordered), loss=value)


def common_step(n: int, d: int, layers: int, noise: float = 0.0) -> Steps:
    """Find the best step of plain gradient descent, the same in all layers.

    The loss is a polynomial in the step; all real zeros of its derivative are compared.
    """
    _check(layers)
    h, mu = ridge(n, noise), rationals(n, d, 2 * layers)
    loss = [(-1) ** k * comb(2 * layers, k) * m for k, m in enumerate(mu)]
    for k in range(1, 2 * layers + 1):
        loss[k] += h * (-1) ** k * (comb(2 * layers, k) - 2 * comb(layers, k)) * mu[k - 1]
    roots = _roots(fmpq_poly(loss).derivative())
    steps = [float(root.real) for root in roots if root.imag.is_zero()]
    return min(
        (with_steps(n, d, [step] * layers, noise) for step in steps), key=lambda found: found.loss
    )


def chebyshev_steps(layers: int, low: float, high: float) -> list[float]:
    """Return the steps of least largest residual on an interval [low, high], low > 0.

    >>> [round(a, 4) for a in chebyshev_steps(2, 0.25, 2.25)]
    [0.511, 1.842]
    """
    _check(layers)
    if not 0 < low <= high:
        raise UsageError(f"an interval from {low} to {high} given: 0 < low <= high is needed")
    angles = [(2 * k + 1) * pi / (2 * layers) for k in range(layers)]
    return sorted(2 / (high + low + (high - low) * cos(angle)) for angle in angles)


def limit_loss(ratio: float, layers: int) -> float:
    """Return the limit of the least loss divided by d: 1 / (1 + 1/c + .. + 1/c^L), c = d/n.

    >>> limit_loss(0.25, 1)
    0.2
    """
    _check(layers)
    _check_ratio(ratio)
    return 1 / sum(ratio**-k for k in range(layers + 1))


def _roots(polynomial: fmpq_poly) -> list[Any]:
    """Return all roots as isolating balls; a real one has an imaginary part of exactly 0."""
    found: Any = polynomial.complex_roots()
    return [root for root, times in found for _ in range(times)]


def _best_real(n: int, d: int, noise: float, steps: list[complex]) -> list[float]:
    """Polish three starts: the real parts of complex steps, these moved apart, a common step."""
    layers = len(steps)
    parts = np.array([a.real for a in steps])
    apart = parts + 0.1 * np.array([abs(a) * np.sign(a.imag) for a in steps])
    objective, still = Objective(n, d, layers, noise, layers), np.zeros(layers - 1)
    found = [
        descend(
            lambda a: objective.vector(np.append(still, a)),
            lambda a: objective.jacobian(np.append(still, a))[:, layers - 1 :],
            start,
        )
        for start in (parts, apart, np.full(layers, common_step(n, d, layers, noise).steps[0]))
    ]
    return [float(a) for a in min(found, key=lambda pair: pair[0])[1]]


def _check(layers: int) -> None:
    if not 1 <= layers <= MOST_LAYERS:
        raise UsageError(f"{layers} layers given: between 1 and {MOST_LAYERS} can be solved for")


def _check_ratio(ratio: float) -> None:
    if not 1e-3 <= ratio <= 1e3:
        raise UsageError(f"d/n = {ratio} given: between 0.001 and 1000 is needed")
