"""What attacks see of a family: samples (a, <a, s> + e) mod q, and how many of them there are."""

import math
from dataclasses import dataclass
from math import log2

from instances.capabilities import LINEAR_SAMPLES
from instances.family import Family, require
from instances.linearsamples import LinearSamples

_LEAST_INFORMATION = 1e-20  # bits: float64 knows nothing of less


@dataclass(frozen=True, kw_only=True)
class Problem(LinearSamples):
    """A family as attacks see it; samples: how many labels there are, None for any number."""

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
    found = LINEAR_SAMPLES.need(family)
    require(
        found.information > _LEAST_INFORMATION,
        f"{family} given: labels do not depend on the secret: lower the error",
    )
    return Problem(**vars(found), samples=samples)
