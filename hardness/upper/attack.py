"""What attacks on functions of <a, s> mod q share: samples, and when a secret is believed."""

import math
from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np

from hardness.oracles import ExampleOracle
from hardness.upper.drawing import draw_open
from hardness.upper.learner import Hypothesis, View
from instances.capabilities import LINEAR_FORMS, NOISY_PARITIES, Capability
from instances.family import Family, Secret, require
from instances.modular import Modular
from instances.samples import Samples, samples

SPARE = 30  # bits of evidence beyond those that tell a secret from all others
_SURE = 5  # standard deviations by which samples may tell less than on average
_LEAST = 1e-20  # bits that a sample tells: float64 knows nothing of less


class Attack(ABC):
    """A learner that looks for the secret of the linear forms of a family, and for nothing else."""

    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "z"
    needs: ClassVar[Capability[Modular]] = LINEAR_FORMS

    def supports(self, family: Family) -> str | None:
        """Return None for linear forms that it can attack, or the reason."""
        return self.needs.missing(family) or self.unfit(self.needs.need(family))

    @abstractmethod
    def unfit(self, forms: Modular) -> str | None:
        """Return why it cannot attack such linear forms, or None."""

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Look for the secret; raises UsageError where the family lacks what it needs."""
        return self.attack(oracle, self.needs.need(oracle.family), rng)

    @abstractmethod
    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Look for the secret of linear forms by examples."""


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
        f"{family} given: labels do not depend on the secret: lower the error",
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
    """Return whether samples show a secret: coins do so for any one with a chance of 2^-SPARE.

    Samples favour a given secret over coins by L bits with probability 2^-L at most; there are
    family.size secrets.
    """
    return found.evidence(secret) >= math.log2(found.family.size) + SPARE


def no_lattice(forms: Modular) -> str | None:
    """Return why labels are no b = <a, s> + e mod q with a small error e, or None."""
    if forms.rounding.step is None or NOISY_PARITIES.of(forms) is not None:
        return "it needs labels that say about where <a, s> mod q is, of lwe or lwr"
    error = Samples.none(forms).error
    if error is None or len(error.values) == 1:
        return "its labels have no error: use modlinear"
    return None


def collect(oracle: ExampleOracle, count: int) -> Samples:
    """Draw examples until there are `count` samples; raises Spent where the budget ends first."""
    return Samples.join(draw_open(oracle, count, samples, every=True)).cut(0, count)
