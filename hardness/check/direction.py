"""Hidden directions: the problem that a spec poses, and bounds on its low Hermite coefficients.

They are found in another way than makers do: of signs by quadrature between the thresholds, of sums
of heads by the trapezoidal rule, with the error that follows from a strip about the line.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import acb, arb, ctx, fmpq

from hardness.check.kernel import written
from hardness.check.reading import fraction, listed, refuse
from hardness.check.spec import read_family
from instances.alternating import Alternating
from instances.capabilities import HIDDEN_DIRECTION

if TYPE_CHECKING:
    pass

Ball = Any  # flint.arb: the package has no types
_BITS, _END = 160, 15
_CLOSE = arb(2) ** -80  # of an integral
_STRIP = 50  # e^-50: what the rule may be off by, times the size on the edges of the strip


def check_direction(spec: str, problem: dict[str, Any]) -> None:
    """Hold a problem against the spec of its family; raises Refuted.

    Its bounds on squared coefficients may be larger than those that are found here, not smaller.
    """
    family = read_family(spec, HIDDEN_DIRECTION)
    rounded = family.labels == "rounded"
    wanted = {
        "kind": "direction",
        "dimension": family.d - 2,
        "degree": family.m,
        "low": problem["low"],
        "labels": "two" if rounded else "real",
        "noise": written(family.noise if rounded else Fraction(0)),
    }
    low = [fraction(text) for text in listed(problem["low"])]
    if problem != wanted or len(low) != family.m:
        refuse("its problem is not that of its spec")
    found = family.response
    _require_mirrored(found)
    with ctx.workprec(_BITS):
        squares = _squares_of_signs(found) if rounded else _squares_of_heads(found)
        for k in range(family.m % 2, family.m, 2):
            if not squares[k] <= arb(fmpq(low[k].numerator, low[k].denominator)):
                refuse(f"the squared Hermite coefficient of degree {k} may be above its bound")


def _require_mirrored(found: Alternating) -> None:
    """Refuse what is not even or odd with m, exactly: of the other degrees there is nothing."""
    odd = len(found.places) % 2
    mirrored = [-t for t in reversed(found.places)] == list(found.places)
    heads = [a if odd else -a for a in reversed(found.amplitudes)] == list(found.amplitudes)
    if not (mirrored and heads and (not odd or found.constant == 0)):
        refuse("its thresholds and amplitudes are not mirrored at 0")


def _squares_of_signs(found: Alternating) -> list[Ball]:
    """Integrate polynomials over the pieces between thresholds, from the right.

    Beyond the last end what is left out is at most Pr[|u| > end]^1/2, by Cauchy-Schwarz.
    """
    ends = [arb(-_END), *map(arb, found.places), arb(_END)]
    left = (arb(_END) / arb(2).sqrt()).erfc().sqrt()
    squares = []
    for k in range(len(found.places)):
        weighed, total = _weighed(k), arb(0)
        for i in range(len(ends) - 1):
            sign = (-1) ** (len(ends) - 2 - i)
            piece = acb.integral(weighed, ends[i], ends[i + 1], abs_tol=_CLOSE)
            total += sign * piece.real / (2 * arb.pi()).sqrt()
        total += arb(0, left.upper())
        squares.append(abs(total).upper() ** 2)
    return squares


def _weighed(k: int) -> Callable[[Ball, bool], Ball]:
    return lambda u, _: _hermite(u, k)[k] * (-u * u / 2).exp()


def _squares_of_heads(found: Alternating) -> list[Ball]:
    """Sum over a grid: coefficients squared, over the mean square, bounded from above.

    The integral over the line of f, analytic in |Im u| <= a, is h sum f(n h) up to (J+ + J-) /
    (e^(2 pi a/h) - 1), J the integrals of |f| along the edges [TW14]. With a = pi/(2 kappa) heads
    have size 1 there, |tanh(x + i pi/4)| = 1; the rest is `_edge`. On the line what is beyond the
    end is at most 2/end e^(-end^2/4) for each h_k phi, by Cramer's inequality, |h_k(u)| <= 1.09
    e^(u^2/4), and less for the square.
    """
    m = len(found.places)
    size = sum((abs(arb(a)) for a in found.amplitudes), abs(arb(found.constant)))
    half, strip = arb(found.kappa) / 2, arb.pi() / (2 * arb(found.kappa))
    width = arb((2 * arb.pi() * strip / _STRIP).lower())
    sums, square = [arb(0)] * m, arb(0)
    heads = [(arb(a), arb(t)) for a, t in zip(found.amplitudes, found.places, strict=True)]
    last = int(float(_END / width)) + 1
    for n in range(last + 1):  # what is summed is even
        u = n * width
        value = sum((a * (half * (u - t)).tanh() for a, t in heads), arb(found.constant))
        weight = (2 if n else 1) * width * (-u * u / 2).exp() / (2 * arb.pi()).sqrt() * value
        h = _hermite(u, m - 1)
        for k in range(m % 2, m, 2):
            sums[k] += weight * h[k]
        square += weight * value
    rule = 1 / ((2 * arb.pi() * strip / width).exp() - 1)
    end = arb(_END)
    beyond = arb("1.09") * 2 / end * (-end * end / 4).exp()
    lowest = square - size**2 * (2 * (strip**2 / 2).exp() * rule + beyond)
    return [
        ((abs(total) + size * (2 * _edge(strip, k) * rule + beyond)).upper() ** 2 / lowest).upper()
        for k, total in enumerate(sums)
    ]


def _edge(strip: Ball, k: int) -> Ball:
    """Bound the integral of |h_k phi| along an edge: e^(a^2/2) E|h_k(x + i a)|^2 ^1/2.

    h_k(x + y) = sum_j (k!/j!)^1/2 y^(k-j) / (k-j)! h_j(x), so the mean is a sum of squares.
    """
    terms = (
        arb(k).fac() / arb(j).fac() * strip ** (2 * (k - j)) / arb(k - j).fac() ** 2
        for j in range(k + 1)
    )
    return (strip**2 / 2).exp() * sum(terms, arb(0)).sqrt()


def _hermite(u: Any, most: int) -> list[Any]:
    """Normalised Hermite polynomials h_0 .. h_most."""
    h = [u * 0 + 1, u]
    for k in range(1, most):
        h.append((u * h[k] - arb(k).sqrt() * h[k - 1]) / arb(k + 1).sqrt())
    return h
