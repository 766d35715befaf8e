"""What attacks on LWE-style instances share: samples, and when a secret is believed."""

import math

import numpy as np

from hardness.oracles import ExampleOracle
from instances.family import Family, Secret, require
from instances.modular import Modular
from instances.samples import Samples, as_modular, samples

SPARE = 30  # bits of evidence beyond those that tell a secret from all others
_SURE = 5  # standard deviations by which samples may tell less than on average
_LEAST = 1e-20  # bits that a sample tells: float64 knows nothing of less
_AT_ONCE = 4096  # examples: the clock is looked at between draws


def only_modular(family: Family) -> str | None:
    """Say why an attack on LWE-style instances cannot run on another family."""
    if isinstance(family, Modular):
        return None
    return f"it attacks LWE-style instances (lwr, lwe, lpn, window), not {family.name}"


def needed(family: Modular) -> int:
    """Count the samples by which a secret is believed: it takes log2(secrets) + SPARE bits.

    They tell so many even where they tell five standard deviations less than on average. Raises
    UsageError where labels do not depend on the secret.

    >>> from instances import parse
    >>> needed(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))
    58
    """
    bits = math.log2(family.size) + SPARE
    mean = family.information
    require(
        mean > _LEAST,
        f"{family.spec} given: labels do not depend on the secret: lower the error",
    )
    return enough(bits, mean, _deviation(family))


def enough(bits: float, mean: float, deviation: float) -> int:
    """Count the samples that tell so many bits, even five standard deviations below the mean.

    mean, deviation: of the bits that one sample tells.

    >>> enough(64, 1.0, 0.0)
    65
    """
    spread = _SURE * deviation
    root = (spread + math.sqrt(spread**2 + 4 * mean * bits)) / (2 * mean)
    return math.ceil(root**2) + 1


def _deviation(family: Modular) -> float:
    """The standard deviation of the bits that a sample tells for the true secret."""
    if family.errors is None:
        weights = np.bincount(family.table, minlength=len(family.levels)) / family.q
        weights = weights[weights > 0]
        bits = -np.log2(weights)
    else:
        weights = family.chances[family.chances > 0]
        bits = np.log2(weights * family.q)
    return math.sqrt(max(float(weights @ (bits - family.information) ** 2), 0.0))


def believed(found: Samples, secret: Secret) -> bool:
    """Say whether samples show a secret: coins do so for any one with a chance of 2^-SPARE.

    Samples favour a given secret over coins by L bits with probability 2^-L at most; there are
    family.size secrets.
    """
    return found.evidence(secret) >= math.log2(found.family.size) + SPARE


def collect(oracle: ExampleOracle, count: int) -> Samples:
    """Draw examples until there are `count` samples; raises Spent where the budget ends first."""
    family = as_modular(oracle.family)
    parts: list[Samples] = []
    missing = count
    while missing > 0:
        oracle.meter.require_time()
        drawn = samples(oracle.draw(min(2 * missing + 8, _AT_ONCE)))
        parts.append(drawn)
        missing -= len(drawn)
    found = Samples(
        family=family,
        a=np.concatenate([part.a for part in parts]),
        codes=np.concatenate([part.codes for part in parts]),
    )
    return found.cut(0, count)
