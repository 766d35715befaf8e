"""Layers whose matrices are multiples of the identity: P_l = p_l I, Q_l = q_l I, sigma = task = I.

All that happens to the prompt is a function of S: with g_0 = 1, U_0 = 1, N_0 = 0, c_l = p_l q_l,
    N_{l+1} = N_l - q_l U_l g_l,  U_{l+1} = U_l (1 - q_l S g_l) = 1 + S N_{l+1},
    g_{l+1} = g_l (1 - c_l S g_l)^2,
S g_l is the covariance of the points that enter layer l, U_L w the residual of the prediction and
the loss is E tr U_L^2 + (s^2/n) E tr(S N_L^2). The last p has no influence. [ACDS23]
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from flint import fmpq, fmpq_poly
from numpy.typing import NDArray

from hardness.icl.orthogonal import gauss
from hardness.icl.wishart import rationals
from instances.errors import UsageError

Array = NDArray[np.float64]
MOST_DEGREE = 100


def degree(layers: int) -> int:
    """Return the degree of U_L in S when no p_l is 0: (3^L - 1) / 2."""
    return int((3**layers - 1) // 2)


def exact_loss(
    n: int, d: int, p: Sequence[float], q: Sequence[float], noise: float = 0.0
) -> Fraction:
    """Evaluate the loss of scalars p, q (L,) over n points in dimension d, as a rational.

    The scalars are taken as the float64 that they are. Raises UsageError for more than 100 powers
    of S.

    >>> str(exact_loss(20, 5, [0], [Fraction(10, 13)]))
    '15/13'
    """
    if len(p) != len(q) or not len(q):
        raise UsageError(f"{len(p)} scalars p and {len(q)} q given: one of each a layer is needed")
    residual, net = polynomials(p, q)
    return loss_of(n, d, residual, net, noise)


def polynomials(p: Sequence[float], q: Sequence[float]) -> tuple[fmpq_poly, fmpq_poly]:
    """Return U_L and N_L as polynomials in S."""
    t, g, u, net = (fmpq_poly(c) for c in ([0, 1], [1], [1], [0]))
    for a, b in zip(p, q, strict=True):
        if u.degree() + g.degree() + 1 > MOST_DEGREE:
            raise UsageError(
                f"{len(q)} layers given: their residual has a degree above {MOST_DEGREE} in S; "
                "take at most 4 layers, or p = 0"
            )
        turned = fmpq_poly([exact(b)]) * g
        net, u = net - u * turned, u * (1 - t * turned)
        g = g * (1 - fmpq_poly([exact(a)]) * t * turned) ** 2
    return u, net


def loss_of(n: int, d: int, residual: fmpq_poly, net: fmpq_poly, noise: float = 0.0) -> Fraction:
    """Integrate d (U^2 + (s^2/n) t N^2) over the mean spectrum, exactly."""
    integrand = residual**2 + fmpq_poly([ridge(n, noise)]) * fmpq_poly([0, 1]) * net**2
    mu = rationals(n, d, integrand.degree())
    total = sum((c * m for c, m in zip(integrand.coeffs(), mu, strict=True)), fmpq(0))
    return fraction(d * total)


def ridge(n: int, noise: float) -> fmpq:
    """Return s^2 / n exactly; raises UsageError for a value that is not a standard deviation."""
    if not 0 <= noise <= 1000:
        raise UsageError(f"noise={noise} given: at least 0 and at most 1000 is needed")
    return exact(noise) ** 2 / n


def exact(value: float | Fraction) -> fmpq:
    """Turn a number into a rational without rounding."""
    return fmpq(*Fraction(value).as_integer_ratio())


def fraction(value: fmpq) -> Fraction:
    """Turn a rational of flint into one of Python."""
    return Fraction(int(value.p), int(value.q))


class Objective:
    """The square root of the loss as a vector, with its derivatives, on a Gauss rule.

    The parameters are (c_0 .. c_{L-2}, q_0 .. q_{L-1}); as the rule is exact for the degree of U^2,
    the squared norm of the vector is the loss up to float64.
    """

    def __init__(self, n: int, d: int, layers: int, noise: float, power: int) -> None:
        rule = gauss(n, d, power + 1)
        self.layers = layers
        self.t = rule.nodes
        self.scale = np.sqrt(d * rule.weights)
        self.noisy = np.sqrt(float(fraction(ridge(n, noise))) * np.maximum(self.t, 0)) * self.scale

    def vector(self, x: Array) -> Array:
        """Return the vector (2 K,) whose squared norm is the loss."""
        return self._run(x)[0]

    def jacobian(self, x: Array) -> Array:
        """Return its derivatives (2 K, 2 L - 1), forward through the layers."""
        return self._run(x)[1]

    def _run(self, x: Array) -> tuple[Array, Array]:
        t, cs, qs = self.t, np.append(x[: self.layers - 1], 0.0), x[self.layers - 1 :]
        g, u, net = np.ones_like(t), np.ones_like(t), np.zeros_like(t)
        dg, du, dnet = (np.zeros((len(x), len(t))) for _ in range(3))
        for layer, (c, q) in enumerate(zip(cs, qs, strict=True)):
            own, factor, shrink = self.layers - 1 + layer, 1 - q * t * g, 1 - c * t * g
            dnet -= q * (du * g + u * dg)
            dnet[own] -= u * g
            du = du * factor - q * u * t * dg
            du[own] -= u * t * g
            net, u = net - q * u * g, u * factor
            dg = dg * shrink * (shrink - 2 * c * t * g)
            if layer < self.layers - 1:
                dg[layer] -= 2 * t * g**2 * shrink
            g = g * shrink**2
        vector = np.concatenate([self.scale * u, self.noisy * net])
        return vector, np.concatenate([self.scale * du, self.noisy * dnet], axis=1).T


def descend(
    vector: Callable[[Array], Array], jacobian: Callable[[Array], Array], start: Array
) -> tuple[float, Array]:
    """Find a local minimum of a squared norm by Levenberg and Marquardt's method: value, place."""
    from scipy.optimize import least_squares

    found = least_squares(
        vector, start, jacobian, method="lm", xtol=1e-13, ftol=1e-13, gtol=1e-15, max_nfev=400
    )
    return float(2 * found.cost), np.asarray(found.x)
