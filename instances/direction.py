"""Gaussian tokens with a hidden direction: a sign of <w, x_1 - x_2> without low Hermite parts.

Coordinate 0 is the public position, +1 in the first token and -1 in the second. All others are
standard normal, and u = <w, x_1 - x_2>/sqrt(2) for the hidden unit vector w, which is 0 at
coordinates 0 and 1. Heads Theta_i = (kappa/sqrt(2)) e_0 w^T - (kappa t_i/2) e_0 e_0^T, W_i = a_i
e_1 e_1^T mix coordinate 1 of both tokens by G(u) = sum_i a_i tanh(kappa (u - t_i)/2), to which one
more head adds 1 for an even m. A label is this layer with the sign of G for G: coordinate 1 of the
token itself or of the other one.

`thresholds` are the m points at which a function of values -1 and +1 must change its sign to have
no Hermite coefficient below degree m [HR65]. The a_i alternate between -1 and +1. So the sign is an
even or odd function, like m, and +1 for large u. Thresholds are computed in ball arithmetic and
rounded to float64 once, so that every machine has the same.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
from flint import arb, arb_mat, ctx
from numpy.typing import NDArray

from instances.dense import Dense
from instances.family import Hardness, Secret
from instances.layer import AttentionLayer
from instances.parameters import Range
from instances.streams import BitStream, generator
from instances.tokens import TokenLaw

Array = NDArray[np.float64]
Ball = Any  # flint.arb: the package has no types
MAX_M = 24  # thresholds
_BITS = 160
_NEWTON_TOLERANCE = arb(2) ** -100  # Newton's method ends with a step below it
_INTERVAL = arb(2) ** -40  # the first half-width of an interval about a threshold
_CELLS = 1 << 11  # of the integral over a quarter turn
_ROUNDING = arb(2) ** -60  # added to a coefficient; less than float64 resolves
_SATURATED = 20.0  # tanh of it is 1 in float64


@dataclass(frozen=True, kw_only=True)
class Alternating:
    """A sign that alternates at thresholds, and its approximation by heads of slope kappa.

    places: the thresholds, in increasing order.

    >>> g = Alternating(kappa=100.0, places=thresholds(3))
    >>> u = np.array([-2.0, -1.0, 1.0, 2.0])
    >>> g.signs(u).tolist(), g(u).round(6).tolist()
    ([-1.0, 1.0, -1.0, 1.0], [-1.0, 1.0, -1.0, 1.0])
    """

    kappa: float
    places: tuple[float, ...]

    @property
    def amplitudes(self) -> tuple[float, ...]:
        """The a_i, alternating between -1 and +1; the last is +1."""
        return tuple(float((-1) ** i) for i in reversed(range(len(self.places))))

    @property
    def constant(self) -> float:
        """The constant added to the sum of heads: 1 for an even number of heads, else 0."""
        return 1.0 - len(self.places) % 2

    def signs(self, u: Array) -> Array:
        """Evaluate the sign: (...) -> (...), of values -1 and +1."""
        passed = np.searchsorted(np.array(self.places), u, side="right")
        return np.where((len(self.places) - passed) % 2, -1.0, 1.0)

    def __call__(self, u: Array) -> Array:
        """Evaluate the sum of heads and the constant: (...) -> (...)."""
        out = np.full(u.shape, self.constant)
        for t, a in zip(self.places, self.amplitudes, strict=True):
            out += a * np.tanh(self.kappa * (u - t) / 2)
        return out

    def sign_correlations(self, r: Array) -> Array:
        """Compute E s(u) s(u') to 1e-7 for the sign s and standard normal u, u' of correlation r.

        E s = 0, and by d Pr[u > a, u' > b]/dr = phi_2(a, b) the derivative in the angle asin r is
        sum_ij (-1)^(i-j) 2/pi exp(-(t_i^2 - 2 r t_i t_j + t_j^2) / (2 - 2 r^2)). It is even or odd.

        >>> g = Alternating(kappa=100.0, places=(0.0,))
        >>> g.sign_correlations(np.array([-1.0, 0.5])).round(7).tolist()
        [-1.0, 0.3333333]
        """
        from scipy.interpolate import CubicHermiteSpline  # which few commands need

        angles = np.linspace(0, math.pi / 2, 2 * _CELLS + 1)
        sine, square, slopes = np.sin(angles), 2 * np.cos(angles) ** 2, np.zeros(2 * _CELLS + 1)
        for i, a in enumerate(self.places):
            for j, b in enumerate(self.places):
                size = 2 / math.pi * (-1) ** (i - j)
                slopes += size * np.exp(-((a - b) ** 2) / square - a * b / (1 + sine))
        cells = (slopes[:-1:2] + 4 * slopes[1::2] + slopes[2::2]) * angles[2] / 6
        values = np.concatenate([[0.0], np.cumsum(cells)])
        spline = CubicHermiteSpline(angles[::2], values, slopes[::2])
        signs = np.where(r < 0, -1.0, 1.0) ** len(self.places)
        return np.asarray(signs * spline(np.arcsin(np.minimum(np.abs(r), 1.0))))

    @property
    def misread(self) -> float:
        """An upper bound, of two digits, on Pr[the sum of heads has another sign than `signs`].

        Times prod (x + e^(kappa t_i)) it is a polynomial of degree m in x = e^(kappa u), so it has
        at most m zeros: one in each interval about a threshold at whose ends its signs differ.

        >>> 0 < Alternating(kappa=100.0, places=thresholds(4)).misread < 1e-11
        True
        """
        total = arb(0)
        room = min((b - a for a, b in pairwise(self.places)), default=1.0) / 2
        with ctx.workprec(_BITS):
            for i, t in enumerate(map(arb, self.places)):
                sign, near = (-1) ** (len(self.places) - i - 1), _INTERVAL
                while not (self._ball(t + near) * sign > 0 > self._ball(t - near) * sign):
                    near *= 2
                    if near >= room:
                        return 1.0  # the intervals may overlap
                least = (abs(t) - near).max(arb(0))
                total += 2 * near * density(least)
            bound = float(total.upper())
            scale = math.floor(math.log10(bound)) - 1
            return float(f"{math.floor(bound / 10.0**scale) + 1}e{scale}")

    @cached_property
    def low_squares(self) -> tuple[Fraction, ...]:
        """Bound the squares of the Hermite coefficients of `signs` of degree 0 .. m - 1.

        >>> [float(v) < 1e-30 for v in Alternating(kappa=100.0, places=thresholds(3)).low_squares]
        [True, True, True]
        """
        m = len(self.places)
        with ctx.workprec(_BITS):
            # The sign is exactly even or odd, like m: coefficients of the other degrees are 0.
            sizes = (abs(_coefficient(k, self.places)) / arb(k).fac().sqrt() for k in range(m))
            bounds = [(size + _ROUNDING) ** 2 for size in sizes]
            return tuple(
                _rounded_up(bound) if (m - k) % 2 == 0 else Fraction(0)
                for k, bound in enumerate(bounds)
            )

    def _ball(self, u: Ball) -> Ball:
        heads = [(arb(self.kappa) * (u - t) / 2).tanh() for t in self.places]
        return self.constant + _dot(map(arb, self.amplitudes), heads)


@lru_cache(maxsize=64)
def thresholds(m: int) -> tuple[float, ...]:
    """Find the m thresholds, in increasing order, by Newton's method.

    They are t_1 .. t_r > 0, their negatives, and 0 for an odd m: r equations in r unknowns.

    >>> [round(t, 4) for t in thresholds(4)]
    [-1.5947, -0.509, 0.509, 1.5947]
    """
    with ctx.workprec(_BITS):
        odd, start = m % 2, 0.97 * np.polynomial.hermite.hermgauss(m)[0]
        t, step = [arb(float(v)) for v in start if v > 1e-9], arb(1)
        signs = [4 * (-1) ** (len(t) - i) for i in range(1, len(t) + 1)]
        while t and not step < _NEWTON_TOLERANCE:
            places = (*(-v for v in reversed(t)), *([arb(0)] * odd), *t)
            missing = [[-_coefficient(k, places)] for k in range(odd, m, 2)]
            slopes = [
                [-sign * density(v) * hermite(k, v)[k] for v, sign in zip(t, signs, strict=True)]
                for k in range(odd, m, 2)
            ]
            moves = arb_mat(slopes).solve(arb_mat(missing))
            step = max(abs(moves[i, 0]).mid() for i in range(len(t)))
            t = [(v + moves[i, 0]).mid() for i, v in enumerate(t)]
        right = [float(v) for v in t]
    return (*(-v for v in reversed(right)), *([0.0] * odd), *right)


def hermite(highest: int, u: Ball) -> list[Ball]:
    """Evaluate the monic Hermite polynomials H_0 .. H_highest: E H_j H_k = k! where j = k, else 0.

    >>> hermite(3, arb(2))[3]
    2.00000000000000
    """
    h = [u * 0 + 1, u]
    for k in range(1, highest):
        h.append(u * h[k] - k * h[k - 1])
    return h[: highest + 1]


def density(u: Ball) -> Ball:
    """Evaluate the standard normal density."""
    return (-u * u / 2).exp() / (2 * arb.pi()).sqrt()


def _coefficient(k: int, places: Sequence[Any]) -> Ball:
    """Compute E s H_k for the sign s that changes at `places` and is 1 beyond the last.

    A place t contributes +-2 phi(t) H_(k-1)(t), and for k = 0 +-2 times the mass above it.
    """
    t, last = [arb(v) for v in places], len(places) - 1
    jumps = [2 * (-1) ** (last - i) for i in range(len(t))]
    if k == 0:
        return (-1) ** len(t) + _dot(jumps, [(v / arb(2).sqrt()).erfc() / 2 for v in t])
    return _dot(jumps, [density(v) * hermite(k, v)[k - 1] for v in t])


def _rounded_up(value: Ball) -> Fraction:
    """Round a positive number up to three digits."""
    size = math.floor(math.log10(float(value.upper()))) - 2
    digits = int((value * arb(10) ** -size).upper().ceil().unique_fmpz())
    return Fraction(digits) * Fraction(10) ** size


def _dot(left: Iterable[Ball | int], right: Iterable[Ball]) -> Ball:
    return sum((a * b for a, b in zip(left, right, strict=True)), arb(0))


@dataclass(frozen=True, kw_only=True)
class Direction(Dense):
    """Layers whose labels hide a direction in d - 2 dimensions; raises UsageError out of range.

    m: the sign of G changes m times and has no Hermite coefficient below degree m. Labels contain
    this sign. noise: the rate at which it is flipped. kappa: the slope of the heads.

    >>> instance = Direction(m=4, d=16).instance(0)
    >>> instance.layer().m, instance.examples(0, 5).y.shape
    (5, (5, 2, 16))
    """

    name: ClassVar[str] = "direction"
    revision: ClassVar[int] = 2
    example: ClassVar[str] = "direction:m=4,d=16"
    about: ClassVar[str] = "gaussian tokens with a hidden direction, no low Hermite coefficients"
    label_text: ClassVar[str] = (
        "Y[l,1] = X[l,1] if the sign of G is +1, else X[3-l,1], l = 1, 2, and 0 elsewhere; float64"
    )
    k = 2
    tokens = "gaussian"
    token_text: ClassVar[str] = "gaussian with positions"
    former: ClassVar[tuple[str, ...]] = ("labels=rounded",)

    m: Annotated[int, Range(1, MAX_M, about="m, the changes of sign,")]
    d: Annotated[int, Range(4, 4096, about="d, with two public coordinates,")]
    noise: Annotated[
        Fraction, Range(0, below=Fraction(1, 2), about="the rate at which labels are flipped")
    ] = Fraction(0)
    kappa: Annotated[float, Range(4, 1000, about="the slope of the heads")] = 100.0

    @cached_property
    def response(self) -> Alternating:
        """The function G of u, and its sign."""
        return Alternating(kappa=self.kappa, places=thresholds(self.m))

    def problem(self) -> dict[str, Any]:
        """The dimension, bounds on the low Hermite coefficients of the sign, and the noise."""
        return {
            "kind": "direction",
            "dimension": self.d - 2,
            "low": list(self.response.low_squares),
            "noise": self.noise,
        }

    hardness = Hardness(
        evidence="exact",
        proved="over a uniform direction any query on labels moves little: exact for statistical "
        "queries; of other algorithms nothing is said",
    )

    def hidden_signs(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the sign of G, which every label contains: (n, 2, d) -> (n, 1)."""
        return self.response.signs(self.hidden(secret, x))[:, None]

    def sign_correlations(self, members: tuple[Secret, ...]) -> Array:
        """Correlate signs of members by the cosines of their directions: (M, M)."""
        rows = np.stack([self.direction(secret) for secret in members])
        out = self.response.sign_correlations(rows @ rows.T)
        np.fill_diagonal(out, 1.0)
        return out

    @property
    def layer_heads(self) -> int:
        """The number of heads: m, and a constant head if m is even."""
        return self.m + (self.m % 2 == 0)

    def inputs(self, seed: int, axis: str, start: int, count: int) -> NDArray[Any]:
        """Draw tokens: standard normal but for coordinate 0, the position, which is +1 or -1."""
        drawn = super().inputs(seed, axis, start, count)
        drawn[:, :, 0] = 1.0, -1.0
        return drawn

    fixed = ((0, 0, 1.0), (1, 0, -1.0))  # the positions

    def direction(self, secret: Secret) -> Array:
        """Return the w of a secret: (d,), a uniform unit vector in coordinates 2 .. d-1."""
        return _direction(self.d, self.number(secret))

    def layer_of(self, secret: Secret) -> AttentionLayer:
        """Put a head at each threshold; for an even m, one that attends to its own token."""
        response, w = self.response, self.direction(secret)
        theta = np.zeros((self.layer_heads, self.d, self.d))
        values = np.zeros_like(theta)
        theta[: self.m, 0] = self.kappa / math.sqrt(2) * w
        theta[: self.m, 0, 0] = [-self.kappa * t / 2 for t in response.places]
        values[: self.m, 1, 1] = response.amplitudes
        theta[self.m :, 0, 0], values[self.m :, 1, 1] = _SATURATED, response.constant
        return AttentionLayer(theta=theta, w=values)

    def hidden(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Compute u of tokens: (n, 2, d) -> (n,)."""
        return np.asarray((x[:, 0] - x[:, 1]) @ self.direction(secret) / math.sqrt(2))

    def computed(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate by its formula the function of the layer: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.response(self.hidden(secret, x)))

    def label(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the labels without noise: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.response.signs(self.hidden(secret, x)))

    def mean(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate F = E[Y|X], with the sign times 1 - 2 noise."""
        return self.labelled(x, self._fade * self.response.signs(self.hidden(secret, x)))

    def known(self, x: NDArray[Any]) -> Array:
        """Evaluate the baseline, the mean of F over all directions: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.expected(x))

    def expected(self, x: NDArray[Any]) -> Array:
        """Average the noisy sign over all directions, 0 for odd m: (n, 2, d) -> (n,)."""
        if self.m % 2:
            return np.zeros(len(x))
        from scipy.special import betainc  # which few commands need

        square = np.maximum(((x[:, 0] - x[:, 1])[:, 2:] ** 2).sum(axis=1), 1e-300)
        response, out = self.response, np.ones(len(x))
        steps = zip(response.places, response.amplitudes, strict=True)
        for t, height in list(steps)[self.m // 2 :]:
            inside = betainc(0.5, (self.d - 3) / 2, np.minimum(1, 2 * t * t / square))
            out -= 2 * height * inside  # at t and at -t
        return self._fade * out

    @property
    def _fade(self) -> float:
        return float(1 - 2 * self.noise)

    def labelled(self, x: NDArray[Any], values: Array) -> Array:
        """Make labels of tokens with numbers (n,) in place of G: (n, 2, d) -> (n, 2, d)."""
        out = np.zeros(x.shape)
        weight = (1 + values[:, None]) / 2  # of the token itself
        out[:, :, 1] = weight * x[:, :, 1] + (1 - weight) * x[:, ::-1, 1]
        return out

    def disturbed(self, x: NDArray[Any], y: Array, stream: BitStream, start: int) -> Array:
        """Flip labels of examples from `start` on at the rate of the noise."""
        flips = stream.words(start, len(y)) < np.uint64(math.floor(self.noise * 2**64))
        return np.where(flips[:, None, None], 2 * self.labelled(x, np.zeros(len(x))) - y, y)

    @property
    def error_rate(self) -> float:
        """The rate of flips."""
        return float(self.noise)

    def reach(self, secret: Secret) -> float:
        """Return 1, as a row is at most the larger of the two entries that the layer reads."""
        return 1.0

    @property
    def reached(self) -> tuple[slice, TokenLaw]:
        """Coordinate 1, which alone bounds the labels, and its distribution."""
        return slice(1, 2), TokenLaw(kind="gaussian", d=1)

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound the rounding error, which grows with the slope of the heads."""
        return super().layer_tolerance(layer) * max(1.0, self.kappa / 100)


@lru_cache(maxsize=1024)
def _direction(d: int, secret: int) -> Array:
    drawn = generator(secret, "weights", Direction.name).standard_normal(d)
    drawn[:2] = 0.0
    direction = np.asarray(drawn / np.linalg.norm(drawn))
    direction.setflags(write=False)
    return direction
