"""Samples (a, <a, s> + e) mod q that labels of a family give: what attacks on it see of it.

Nothing here tabulates Z_q: moduli go up to 2^48.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray

from instances.integers import Integers, bernoulli
from instances.secrets import Secrets

_SMALL_ANGLE = 1e-3
_ROUNDING = 1e-10


@dataclass(frozen=True, kw_only=True)
class Errors:
    """What is known of an error: its standard deviation, how many values mod q it takes, its bias.

    log_bias: ln |E exp(2 pi i e/q)|, 0 for no error and minus infinity for a uniform one. kind,
    law: what sort of distribution it is, and the distribution where it is listed.
    """

    deviation: float
    values: int
    log_bias: float
    kind: str = "uniform"
    law: Integers | None = None


@dataclass(frozen=True, kw_only=True)
class LinearSamples:
    """Secrets, errors (None where there are none) and what a label says of <a, s>.

    size: the number of secrets. information: the bits that one label tells of <a, s> at most.
    noise: the rate of flips, for q = 2. labels: how many labels with z_0 = -1 make one sample, on
    average.
    """

    size: int
    secrets: Secrets
    errors: Errors | None
    information: float
    noise: Fraction = Fraction(0)
    labels: int = 1


def of_flips(size: int, secrets: Secrets, noise: Fraction) -> LinearSamples:
    """Describe bits <a, s> mod 2 that are flipped with a rate.

    >>> from instances import parse
    >>> parse("parity:d=33,m=3,noise=0.25").linear_samples.errors.values
    2
    """
    from scipy.special import xlog1py

    rate, x = float(noise), 1 - 2 * float(noise)
    errors = None
    if rate:
        deviation = math.sqrt(rate * (1 - rate))
        bias = math.log1p(-2 * rate)
        errors = Errors(
            deviation=deviation, values=2, log_bias=bias, kind="flips", law=bernoulli(noise)
        )
    capacity = xlog1py(1 + x, x) + xlog1py(1 - x, -x)  # with all its digits near 1/2 too
    return LinearSamples(
        size=size,
        secrets=secrets,
        errors=errors,
        information=float(capacity) / math.log(4),
        noise=noise,
    )


def uniform_errors(width: int, q: int) -> Errors | None:
    """Describe `width` values in a row: |E exp| = sin(pi width/q) / (width sin(pi/q))."""
    if width == 1:
        return None
    deviation = math.sqrt((width**2 - 1) / 12)
    angle = math.pi * width / q
    if width == q:
        log_bias = -math.inf
    elif angle < _SMALL_ANGLE:  # the quotient loses its digits there
        log_bias = -2 * (math.pi * deviation / q) ** 2
    else:
        log_bias = math.log(math.sin(angle) / (width * math.sin(math.pi / q)))
    return Errors(deviation=deviation, values=width, log_bias=log_bias)


def errors_of(found: Integers | None, q: int, kind: str) -> Errors | None:
    """Describe errors of a distribution on the integers."""
    if found is None or len(found.values) == 1:
        return None
    angles = 2 * np.pi * (np.array(found.values) - found.mean) / q
    share = _shares(found)
    missing = 2 * float(share @ np.sin(angles / 2) ** 2)  # 1 - the cosine's mean, all its digits
    square = (1 - missing) ** 2 + float(share @ np.sin(angles)) ** 2
    if missing < _SMALL_ANGLE:
        log_bias = math.log1p(-missing)
    elif square > _ROUNDING**2:
        log_bias = math.log(square) / 2
    else:  # the sum is rounding there; wide errors of these kinds are nearly Gaussian
        log_bias = -2 * (math.pi * found.deviation / q) ** 2
    values = min(q, len(found.values))
    return Errors(deviation=found.deviation, values=values, log_bias=log_bias, kind=kind, law=found)


def _shares(found: Integers) -> NDArray[np.float64]:
    return np.array(found.counts, np.float64) / 2.0**64


def told(found: Integers | None, q: int) -> float:
    """Compute the bits that <a, s> + e tells of <a, s>, uniform: log2 q less the entropy of e.

    With x = q Pr[e] - 1 it is the mean of (1 + x) ln(1 + x) - x over Z_q, in bits: terms of one
    sign, which keep their digits where errors are nearly uniform.
    """
    from scipy.special import xlog1py

    if found is None:
        return log2(q)
    residues, place = np.unique(np.array(found.values, np.int64) % q, return_inverse=True)
    x = q * np.bincount(place, weights=_shares(found)) - 1
    terms = xlog1py(1 + x, x) - x
    return (float(terms.sum()) + q - len(residues)) / (q * math.log(2))


def binary_entropy(rate: float) -> float:
    """Compute the entropy of a coin in bits.

    >>> binary_entropy(0.5), binary_entropy(0.0)
    (1.0, 0.0)
    """
    if not 0 < rate < 1:
        return 0.0
    return -rate * log2(rate) - (1 - rate) * log2(1 - rate)
