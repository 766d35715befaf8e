"""How far a layer of float64 may be from its formula, over all inputs, and what rounding mends.

Bounds are rigorous under two assumptions, which `ASSUMED` says: numbers are binary64, and exp and
tanh of the library are right to 4 ulp. Theta_i is diagonal and W_i = a_i e_0 e_0^T, so products
with zeros are exact. Sums may be added up in any order. docs/mathematics.md has the argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from flint import arb, ctx, fmpq
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ball = Any  # flint.arb: the package has no types
ASSUMED = "interval arithmetic; exp and tanh within 4 ulp"
_BITS = 192
_UNIT = arb(2) ** -53
_SOFTMAX = 24  # roundings: what two weights of a row and their sum or difference are off by
_CONSTANT = 12  # roundings: what a quotient by tanh is off by
_LEVEL = 4  # roundings: a level in float64, and the middle of two
_SUM = Fraction(1 + 2**-30)  # a sum in float64 of up to 2^20 positive numbers is off by less


@dataclass(frozen=True, kw_only=True)
class LayerError:
    """A bound over all inputs on |layer in float64 - formula|, beside half the gap of the levels.

    error: None where nothing is known, for the reason `why`.

    >>> print(LayerError(levels=(Fraction(1), Fraction(-1)), error=1e-12))  # doctest: +ELLIPSIS
    the formula on every input: error at most 1.0e-12, half a gap is 1 (...)
    """

    levels: tuple[Fraction, ...]
    error: float | None = None
    why: str = ""

    @property
    def half_gap(self) -> Fraction:
        """Half the distance of the two nearest levels, 0 where none are known.

        >>> LayerError(levels=(Fraction(1), Fraction(0), Fraction(-3))).half_gap
        Fraction(1, 2)
        """
        return min((b - a for a, b in pairwise(sorted(set(self.levels)))), default=Fraction(0)) / 2

    @property
    def exact(self) -> bool:
        """Whether the layer followed by rounding to the levels is the formula on every input."""
        return self.error is not None and self.error < self.half_gap

    def __str__(self) -> str:
        if self.error is None:
            return f"not claimed: {self.why}"
        said = "the formula on every input" if self.exact else "not claimed"
        gap = f"half a gap is {float(self.half_gap):.3g}"
        return f"{said}: error at most {_above(self.error)}, {gap} ({ASSUMED})"


def counting_error(
    slope: Array, offset: Array, a: Array, values: Sequence[Fraction], closed: Fraction
) -> float:
    """Bound the error of heads a_i tanh(slope_i h + offset_i), each h = 0 .. m by itself.

    slope, offset, a: (K,), the weights as the layer has them, slope_i that of each of m
    coordinates. values: the formula, (m + 1,); closed: the formula where z_0 = +1.

    >>> import math
    >>> log3 = math.log(3)
    >>> heads = np.array([log3]), np.array([-log3 / 2]), np.array([-2.0])
    >>> counting_error(*heads, values=[Fraction(1), Fraction(-1)], closed=Fraction(-2)) < 1e-13
    True
    """
    with ctx.workprec(_BITS):
        m, weights = len(values) - 1, [arb(float(v)) for v in a]
        heads = [
            (arb(float(s)), arb(float(o)), _gamma(m + 5) * (m * abs(float(s)) + abs(float(o))))
            for s, o in zip(slope, offset, strict=True)
        ]
        worst = (sum(weights) - _ball(closed)).abs_upper()
        for h, value in enumerate(values):
            found = sum(
                w * (s * h + o + arb(0, radius.abs_upper())).tanh()
                for w, (s, o, radius) in zip(weights, heads, strict=True)
            )
            worst = worst.max((found - _ball(value)).abs_upper())
        scale = _ball(max(abs(v) for v in (*values, closed)))
        total = sum(abs(w) for w in weights)
        return _float(worst + _evaluation(total, len(a)) + _LEVEL * _UNIT * scale)


def step_error(
    jumps: Fraction, largest: float, scale: Fraction, beta: float, spread: int, heads: int, d: int
) -> float:
    """Bound the error of saturated steps a_i tanh(beta (t - c_i)), for all weights of t at once.

    jumps: sum |a_i| at most; largest: of |a_i|; scale: of the levels; spread: the sum of the
    weights of t in size, and of the largest |c_i|; heads: how many; d: coordinates.
    """
    with ctx.workprec(_BITS):
        u, most = _UNIT, _ball(scale)
        slope, steps = arb(beta), _ball(jumps)
        radius = _gamma(d + 4) * slope * spread  # of a logit difference, halved
        missing = 2 * (2 * radius - slope).exp()  # 1 - tanh at distance 1/2 is at most this
        constant = most / (slope / 2).tanh() * (1 + _CONSTANT * u)
        saturation = 2 * arb(largest) * missing / (1 - (-2 * slope).exp()) + constant * missing
        saturation = saturation.min(2 * (steps + constant))  # no head is off by more than 2 |a_i|
        total = 2 * (steps + constant) * (1 + _gamma(heads))  # the last head undoes the sum
        stored = u * steps + (2 + _CONSTANT + _LEVEL) * u * most + _gamma(heads) * total
        return _float(saturation + stored + _evaluation(total, heads))


def sum_above(terms: Array) -> Fraction:
    """Bound the sum of at most 2^20 numbers of float64 that are not negative from above."""
    return Fraction(float(terms.sum())) * _SUM


def _evaluation(total: Ball, heads: int) -> Ball:
    """What evaluation adds: softmax and mixing in each head, then the sum over heads."""
    softmax = _SOFTMAX * _UNIT
    return total * (softmax + _gamma(heads + 1) * (1 + softmax))


def _gamma(n: int) -> Ball:
    """n u / (1 - n u): n roundings in a row."""
    return n * _UNIT / (1 - n * _UNIT)


def _ball(value: Fraction) -> Ball:
    return arb(fmpq(value.numerator, value.denominator))


def _float(value: Ball) -> float:
    """The next float64 above."""
    return float(np.nextafter(float(value.upper()), np.inf))


def _above(value: float) -> str:
    """Two digits, rounded up."""
    shown = f"{value:.1e}"
    return f"{value * 1.05:.1e}" if float(shown) < value else shown
