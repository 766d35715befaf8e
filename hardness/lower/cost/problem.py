"""What attacks see of a family: samples (a, <a, s> + e) mod q, secrets and errors of a known kind.

Nothing here tabulates Z_q: moduli go up to 2^48.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py

from instances.errors import UsageError
from instances.family import Family, require
from instances.integers import Integers
from instances.lpn import Lpn
from instances.lwe import Lwe
from instances.lwr import Lwr
from instances.parity import Parity
from instances.secrets import Secrets
from instances.window import Window

_SMALL_ANGLE = 1e-3
_ROUNDING = 1e-10
_LEAST_INFORMATION = 1e-20  # bits: float64 knows nothing of less


@dataclass(frozen=True, kw_only=True)
class Errors:
    """What is known of an error: its standard deviation, how many values mod q it takes, its bias.

    log_bias: ln |E exp(2 pi i e/q)|, 0 for no error and minus infinity for a uniform one.
    """

    deviation: float
    values: int
    log_bias: float


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A family as attacks see it.

    information: the bits that one label tells of <a, s> at most. labels: how many labels with
    z_0 = -1 make one sample, on average. samples: how many labels there are; None for any number.
    errors: None where there is none.
    """

    size: int
    secrets: Secrets
    errors: Errors | None
    information: float
    noise: Fraction = Fraction(0)  # the rate of flips, for q = 2
    labels: int = 1
    samples: int | None = None

    @property
    def n(self) -> int:
        """The dimension of a and s."""
        return self.secrets.n

    @property
    def q(self) -> int:
        """The modulus."""
        return self.secrets.q

    @property
    def alphabet(self) -> int:
        """How many values other than 0 an entry of the secret takes."""
        entries = self.secrets.entries
        return self.q - 1 if entries is None else sum(v != 0 for v in entries.values)

    @property
    def secret_deviation(self) -> float:
        """The standard deviation of an entry, about its mean: a known mean can be taken off."""
        secrets = self.secrets
        if secrets.entries is None:
            return secrets.rms
        if not secrets.h:
            return secrets.entries.deviation
        mean = secrets.h / self.n * secrets.entries.without_zero().mean
        return math.sqrt(max(0.0, secrets.rms**2 - mean**2))

    @property
    def unique(self) -> int:
        """The labels that leave one candidate secret on average: log2 size / information."""
        return math.ceil(log2(max(2, self.size)) / self.information)


def problem(family: Family, samples: int | None = None) -> Problem:
    """Read off a family what attacks need; raises UsageError for families without samples.

    >>> from instances import parse
    >>> found = problem(parse("lwr:n=512,q=8192,p=1024,secret=cbd,spread=5"))
    >>> found.errors.values, round(found.errors.deviation, 3)
    (8, 2.291)
    """
    if isinstance(family, Parity):
        secrets = Secrets(kind="binary", n=family.d - 1, q=2, h=family.m)
        errors, information, labels = _flips(family.noise), _capacity(family.noise), 1
    elif isinstance(family, Lpn):
        secrets = family.secrets
        errors, information, labels = _flips(family.noise), _capacity(family.noise), 1
    elif isinstance(family, Lwr):
        secrets = family.secrets
        errors, information, labels = _uniform(family.q // family.p, family.q), log2(family.p), 1
    elif isinstance(family, Lwe):
        secrets = family.secrets
        errors, labels = _errors(family.errors, family.q), 1
        information = _told(family.errors, family.q)
    elif isinstance(family, Window):
        # Labels that are 1 are samples with <a, s> in 0 .. q/parts - 1: LWE, given b.
        secrets, labels = family.secrets, family.parts
        errors = _uniform(family.q // family.parts, family.q)
        information = _binary_entropy(1 / family.parts)
    else:
        raise UsageError(
            f"{family.name} given: costs are estimated for lwr, lwe, lpn, window and parity"
        )
    require(
        information > _LEAST_INFORMATION,
        f"{family.spec} given: labels do not depend on the secret: lower the error",
    )
    return Problem(
        size=family.size,
        secrets=secrets,
        errors=errors,
        information=information,
        noise=family.noise,
        labels=labels,
        samples=samples,
    )


def _flips(noise: Fraction) -> Errors | None:
    rate = float(noise)
    if not rate:
        return None
    deviation = math.sqrt(rate * (1 - rate))
    return Errors(deviation=deviation, values=2, log_bias=math.log1p(-2 * rate))


def _uniform(width: int, q: int) -> Errors | None:
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


def _errors(found: Integers | None, q: int) -> Errors | None:
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
    return Errors(deviation=found.deviation, values=values, log_bias=log_bias)


def _shares(found: Integers) -> NDArray[np.float64]:
    return np.array(found.counts, np.float64) / 2.0**64


def _told(found: Integers | None, q: int) -> float:
    """Compute the bits that <a, s> + e tells of <a, s>, uniform: log2 q less the entropy of e.

    With x = q Pr[e] - 1 it is the mean of (1 + x) ln(1 + x) - x over Z_q, in bits: terms of one
    sign, which keep their digits where errors are nearly uniform.
    """
    if found is None:
        return log2(q)
    residues, place = np.unique(np.array(found.values, np.int64) % q, return_inverse=True)
    x = q * np.bincount(place, weights=_shares(found)) - 1
    terms = xlog1py(1 + x, x) - x
    return (float(terms.sum()) + q - len(residues)) / (q * math.log(2))


def _capacity(noise: Fraction) -> float:
    """Compute 1 - H(noise), with all its digits near 1/2 too."""
    x = 1 - 2 * float(noise)
    return float(xlog1py(1 + x, x) + xlog1py(1 - x, -x)) / math.log(4)


def _binary_entropy(rate: float) -> float:
    if not 0 < rate < 1:
        return 0.0
    return -rate * log2(rate) - (1 - rate) * log2(1 - rate)
