"""Left for rooms that go."""

import math
from fractions import Fraction

from flint import fmpq, fmpz

from hardness.check.problems import hidden_set as hidden_set
from hardness.lower.johnson import Johnson
from instances.errors import UsageError
from instances.symmetric import Symmetric
from instances.threshold import Rational, python_fraction, rational


def query_square(family: Symmetric, scheme: Johnson) -> Fraction:
    """Bound the squared moves of one query over all members, the values taken as -1 .. 1."""
    half = rational((max(family.values) - min(family.values)) / 2)
    return python_fraction((rational(1 - 2 * family.noise) / half) ** 2 * scheme.spread / 4)


def right_about(scheme: Johnson, risk: Fraction) -> int:
    """Bound how many members one hypothesis can have relative risk <= risk for.

    With unit vectors of largest Gram eigenvalue mu, K ((1 - risk + H)/2)^2 <= mu H for a hypothesis
    of squared norm H, so K <= mu/(1 - risk). The members here are less their mean.
    """
    return _floor(scheme.spread / (scheme.norm - scheme.average) / rational(1 - risk))


def labelled_gamma(family: Symmetric, scheme: Johnson, t: int) -> Rational:
    """Turn VSTAT(t) into the average of unit-norm correlations that one query cannot pass.

    As distributions of labelled examples, relative to labels that are coins of mean mu, two members
    of a two-valued profile have correlation (1 - 2 eta)^2 c / (2 (1 - mu^2)), the values written as
    +-1; a query to VSTAT(t) rules out only sets of average above 1/(3t) there.
    """
    half = rational((max(family.values) - min(family.values)) / 2)
    fade = rational(1 - 2 * family.noise)
    mu = fade * (family.fourier[0] - rational(family.centre)) / half
    return 2 * (1 - mu**2) * half**2 / (3 * t * fade**2 * scheme.norm)


def _floor(value: Rational) -> int:
    return int(value.p) // int(value.q)


def valencies(scheme: Johnson) -> list[fmpz]:
    """How many members are at each distance i = m - overlap from one: v_0 .. v_m."""
    n, m = scheme.n, scheme.m
    return [fmpz.bin_uiui(m, i) * fmpz.bin_uiui(n - m, i) for i in range(m + 1)]


def pair_events(scheme: Johnson, gamma: Rational) -> int:
    """Compute SDA(gamma) over pair events exactly; raises UsageError unless gamma is positive.

    >>> pair_events(Johnson.of([1, -1, 1, -1], n=15), fmpq(1, 10))
    6
    """
    gamma = fmpq(gamma)
    if gamma <= 0:
        raise UsageError(f"gamma={gamma} given: it must be above 0")
    size = fmpz(scheme.size)
    pairs, total = fmpz(0), fmpq(0)  # the closest pairs first, per member
    for value, count in zip(reversed(scheme.correlations), valencies(scheme), strict=True):
        c = value / scheme.norm
        if c < gamma:
            # N (total + x/N c) <= gamma (N pairs + x) for x pairs of this distance
            least = max(1, _ceiling(size * (total - gamma * pairs) / (gamma - c)))
            if least <= size * count:
                bad = int(size * pairs) + least - 1
                return math.isqrt((int(size) ** 2 - 1) // bad) if bad else int(size)
        elif total <= gamma * pairs and c == gamma and not pairs:
            return int(size)
        pairs += count
        total += c * count
    return int(size) if total <= gamma * pairs else 0


def _ceiling(value: Rational) -> int:
    return -((-int(value.p)) // int(value.q))
