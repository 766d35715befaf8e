"""Gaussian tokens with a hidden direction: a function of <w, x_1 - x_2> without low Hermite parts.

Coordinate 0 is the public position, +1 in the first token and -1 in the second; all others are
standard normal, and u = <w, x_1 - x_2>/sqrt(2) for the hidden unit vector w, which is 0 at
coordinates 0 and 1. Heads Theta_i = (kappa/sqrt(2)) e_0 w^T - (kappa t_i/2) e_0 e_0^T, W_i = a_i
e_1 e_1^T make labels that are public but for G(u) = sum_i a_i tanh(kappa (u - t_i)/2), to which one
more head adds a constant for an even m.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.alternating import MOST, Alternating, smooth
from instances.dense import Dense
from instances.family import Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.questions import Questions
from instances.ranges import Range
from instances.streams import BitStream, generator
from instances.tokenlaw import TokenLaw, law_of

Array = NDArray[np.float64]
_SATURATED = 20.0  # tanh of it is 1 in float64
_TERMS = 4 * MOST  # coefficients that are shown


@dataclass(frozen=True, kw_only=True)
class Direction(Dense):
    """Layers whose labels hide a direction in d - 2 dimensions; raises UsageError out of range.

    m: G has m changes of sign, mean square 1 and no Hermite coefficient below degree m. Labels have
    the sign of G for G, which noise flips at a rate. kappa: the slope of the heads.

    >>> instance = Direction(m=4, d=16).instance(0)
    >>> instance.layer().m, instance.examples(0, 5).y.shape
    (5, (5, 2, 16))
    """

    name: ClassVar[str] = "direction"
    example: ClassVar[str] = "direction:m=4,d=16"
    about: ClassVar[str] = "gaussian tokens with a hidden direction, no low Hermite coefficients"
    label_text: ClassVar[str] = (
        "Y[l,1] = A/2 (X_1 + X_2)[1] + (-1)^l/2 G (X_2 - X_1)[1], l = 1, 2, and 0 elsewhere, with "
        "-1 or +1 for G; in float64"
    )
    k = 2
    tokens = "gaussian"
    token_text: ClassVar[str] = "gaussian with positions"
    former: ClassVar[tuple[str, ...]] = ("labels=rounded",)

    m: Annotated[int, Range(1, MOST, about="m, the changes of sign,")]
    d: Annotated[int, Range(4, 4096, about="d, with two public coordinates,")]
    noise: Annotated[
        Fraction, Range(0, below=Fraction(1, 2), about="the rate at which labels are flipped")
    ] = Fraction(0)
    kappa: Annotated[float, Range(4, 1000, about="the slope of the heads")] = 100.0

    @property
    def response(self) -> Alternating:
        """G, and its sign."""
        return smooth(self.m, self.kappa)

    def problem(self) -> dict[str, Any]:
        """The dimensions, and bounds on the low Hermite coefficients of what the labels show."""
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
        """Evaluate the sign of G, which every example shows: (n, 2, d) -> (n, 1)."""
        return self.response.signs(self.hidden(secret, x))[:, None]

    def sign_correlations(self, members: tuple[Secret, ...]) -> Array:
        """Correlate signs of members by the cosines of their directions: (M, M)."""
        rows = np.stack([self.direction(one) for one in members])
        out = self.response.sign_correlations(rows @ rows.T)
        np.fill_diagonal(out, 1.0)
        return out

    @cached_property
    def weights(self) -> Array:
        """The squares of g_k = sum_i 2 (-1)^(m-i) phi(t_i) h_(k-1)(t_i) / sqrt(k), k <= 96."""
        t = np.array(self.response.places)
        density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        jumps = 2 * (-1.0) ** np.arange(self.m - 1, -1, -1) * density
        h, last, found = np.ones(self.m), np.zeros(self.m), [0.0]
        for k in range(1, _TERMS + 1):
            found.append(float(jumps @ h) ** 2 / k)
            h, last = (t * h - math.sqrt(k - 1) * last) / math.sqrt(k), h
        return np.array(found)

    @property
    def layer_heads(self) -> int:
        """m, and one that is constant for an even m."""
        return self.m + (self.m % 2 == 0)

    def inputs(self, seed: int, axis: str, start: int, count: int) -> NDArray[Any]:
        """Draw tokens: standard normal but for coordinate 0, the position, which is +1 or -1."""
        drawn = super().inputs(seed, axis, start, count)
        drawn[:, :, 0] = 1.0, -1.0
        return drawn

    @property
    def questions(self) -> Questions:
        """Real numbers, but for the positions."""
        return Questions(tokens="real", fixed=((0, 0, 1.0), (1, 0, -1.0)))

    def direction(self, secret: Secret) -> Array:
        """Draw the w of a secret, (d,): uniform where it may be."""
        require(
            len(secret) == 1 and 0 <= secret[0] < 1 << 256,
            "a secret of this family is one number of 256 bits",
        )
        return _direction(self.d, secret[0])

    def made(self, secret: Secret) -> AttentionLayer:
        """Put a head at each threshold; for an even m, one that attends to its own token."""
        found, w = self.response, self.direction(secret)
        theta = np.zeros((self.layer_heads, self.d, self.d))
        values = np.zeros_like(theta)
        theta[: self.m, 0] = self.kappa / math.sqrt(2) * w
        theta[: self.m, 0, 0] = [-self.kappa * t / 2 for t in found.places]
        values[: self.m, 1, 1] = found.amplitudes
        theta[self.m :, 0, 0], values[self.m :, 1, 1] = _SATURATED, found.constant
        return AttentionLayer(theta=theta, w=values)

    def hidden(self, secret: Secret, x: NDArray[Any]) -> Array:
        """u of tokens: (n, 2, d) -> (n,)."""
        return np.asarray((x[:, 0] - x[:, 1]) @ self.direction(secret) / math.sqrt(2))

    def computed(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate by the formula what the layer computes: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.response(self.hidden(secret, x)))

    def label(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the labels without noise: (n, 2, d) -> (n, 2, d)."""
        return self.labelled(x, self.response.signs(self.hidden(secret, x)))

    def mean(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate F = E[Y|X]: the sign drawn towards 0 by 1 - 2 noise."""
        return self.labelled(x, self._fade * self.response.signs(self.hidden(secret, x)))

    def known(self, x: NDArray[Any]) -> Array:
        """Average over all directions: for an even m a function of the length of x_1 - x_2."""
        return self.labelled(x, self.expected(x))

    def expected(self, x: NDArray[Any]) -> Array:
        """Average what stands for G over all directions: (n, 2, d) -> (n,)."""
        if self.m % 2:
            return np.zeros(len(x))
        from scipy.special import betainc  # which few commands need

        square = np.maximum(((x[:, 0] - x[:, 1])[:, 2:] ** 2).sum(axis=1), 1e-300)
        response, out = self.response, np.ones(len(x))
        heights = np.sign(response.amplitudes)
        for t, height in list(zip(response.places, heights, strict=True))[self.m // 2 :]:
            inside = betainc(0.5, (self.d - 3) / 2, np.minimum(1, 2 * t * t / square))
            out -= 2 * height * inside  # at t and at -t
        return self._fade * out

    @property
    def _fade(self) -> float:
        return float(1 - 2 * self.noise)

    def labelled(self, x: NDArray[Any], values: Array) -> Array:
        """Put numbers (n,) where G stands in the labels of tokens: (n, 2, d) -> (n, 2, d)."""
        out = np.zeros(x.shape)
        half = values * (x[:, 0, 1] - x[:, 1, 1]) / 2
        out[:, :, 1] = (self._share * (x[:, 0, 1] + x[:, 1, 1]) / 2)[:, None]
        out[:, 0, 1] += half
        out[:, 1, 1] -= half
        return out

    @cached_property
    def _share(self) -> float:
        """A, the sum of all amplitudes."""
        found = self.response
        return math.fsum((*found.amplitudes, found.constant if self.m % 2 == 0 else 0.0))

    def disturbed(self, x: NDArray[Any], y: Array, stream: BitStream, start: int) -> Array:
        """Flip labels of examples from `start` on at the rate of the noise."""
        flips = stream.words(start, len(y)) < np.uint64(math.floor(self.noise * 2**64))
        return np.where(flips[:, None, None], 2 * self.labelled(x, np.zeros(len(x))) - y, y)

    @property
    def error_rate(self) -> float:
        """The rate of flips."""
        return float(self.noise)

    def reach(self, secret: Secret) -> float:
        """Bound rows by A or 1 times the larger of both entries that are read."""
        return max(abs(self._share), 1.0)

    @property
    def reached(self) -> tuple[slice, TokenLaw]:
        """Coordinate 1 alone is read."""
        return slice(1, 2), law_of("gaussian", 1)

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Rounding grows with the slope of the heads."""
        return super().layer_tolerance(layer) * max(1.0, self.kappa / 100)


@lru_cache(maxsize=1024)
def _direction(d: int, secret: int) -> Array:
    drawn = generator(secret, "weights", Direction.name).standard_normal(d)
    drawn[:2] = 0.0
    found = np.asarray(drawn / np.linalg.norm(drawn))
    found.setflags(write=False)
    return found
