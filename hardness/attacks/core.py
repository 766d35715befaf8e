"""What attacks on functions of <a, s> mod q share: samples, and when a secret is believed.

Hidden parities and LPN are one: noisy linear equations over GF(2), packed.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sized
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import Hypothesis, Outcome, View, member, nothing
from hardness.oracles import ExampleOracle, Spent
from instances.coded import as_coded, require_coded
from instances.errors import UsageError
from instances.family import Examples, Family, Secret, require
from instances.lwe import Modular
from instances.samples import Samples
from instances.tokens import mask

SPARE = 30  # bits of evidence beyond those that tell a secret from all others
WORTH_SAYING = 7  # bits beyond those that tell a secret from all others: coins, one in 128
_SURE = 5  # standard deviations by which samples may tell less than on average
_LEAST = 1e-20  # bits that a sample tells: float64 knows nothing of less
_AT_ONCE = 4096  # examples: the clock is looked at between draws

Part = TypeVar("Part", bound=Sized)
Candidate = tuple[float, Secret] | None  # the best candidate by its evidence, with it


class Evidence(Protocol):
    """Samples that tell for or against a secret."""

    @property
    def family(self) -> Modular:
        """The family they are of."""

    def __len__(self) -> int: ...

    def evidence(self, secret: Secret, /) -> float:
        """Compute the bits by which they favour a secret over labels that are coins."""


class Attack(ABC):
    """A learner that looks for the secret of the linear forms of a family, and for nothing else."""

    revision: ClassVar[int] = 1
    access: ClassVar[Literal["examples", "queries"]] = "examples"
    view: ClassVar[View] = "z"
    needs: ClassVar[Literal["linear_forms", "noisy_parities"]] = "linear_forms"

    def supports(self, family: Family) -> str | None:
        """Return None for linear forms that it can attack, or the reason."""
        forms = family.linear_forms
        if forms is None or (self.needs == "noisy_parities" and not forms.noisy_parities):
            return family.lacks(self.needs)
        return self.unfit(forms)

    def unfit(self, forms: Modular) -> str | None:
        """Return why it cannot attack such linear forms, or None."""
        return None

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Look for the secret; raises UsageError where the family lacks what it needs."""
        forms = oracle.family.linear_forms or oracle.family.refuse("linear_forms")
        return self.attack(oracle, forms, rng)

    @abstractmethod
    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Look for the secret of linear forms by examples."""


@dataclass(frozen=True, kw_only=True)
class SecretSearch(Attack):
    """An attack in steps, on `samples` samples (0: as many as it takes to be sure of a secret).

    start: the index of the first step, by which a search that ran out of time is taken up again.
    """

    revision: ClassVar[int] = 2

    samples: int = 0
    start: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            require(given >= 0, f"{field.name}={given} given: at least 0")


def gather(
    oracle: ExampleOracle,
    count: int,
    read: Callable[[Examples], Part],
    *,
    every: bool = False,
) -> Part:
    """Draw examples until `read` keeps `count` of them, or the budget of examples is over.

    read: gives a dataclass, every field but `family` an array with a row an example. Raises Spent
    where there are none, or where the time is over; with `every` also where there are fewer.
    """
    parts: list[Any] = []
    missing, family = count, require_coded(oracle.family)
    try:
        while missing > 0 or not parts:
            oracle.meter.require_time()
            parts.append(read(oracle.draw(min(family.enough(missing) + 8, _AT_ONCE))))
            missing -= len(parts[-1])
    except Spent as spent:
        if every or spent.resource != "examples" or not any(map(len, parts)):
            raise
    names = [field.name for field in fields(parts[0]) if field.name != "family"]
    rows = {n: np.concatenate([getattr(part, n) for part in parts])[:count] for n in names}
    joined: Part = replace(parts[0], **rows)
    return joined


def values_of(family: Modular) -> tuple[int, ...]:
    """List what an entry of a secret can be beyond 0, centred.

    >>> from instances import parse
    >>> values_of(parse("lwr:n=4,q=8,p=2,secret=ternary"))
    (-1, 1)
    """
    return tuple(v for v in family.secrets.values if v)


def wanted(family: Modular) -> float:
    """Count the bits of evidence from which a secret is believed.

    Samples favour a given secret over coins by L bits with probability 2^-L at most: coins do so
    for any of them with a chance of 2^-SPARE.
    """
    return math.log2(family.size) + SPARE


def believed(found: Evidence, secret: Secret) -> bool:
    """Return whether samples tell enough for a secret: n entries, centred."""
    return found.evidence(secret) >= wanted(found.family)


def needed(family: Modular) -> int:
    """Count the samples by which a secret is believed: it takes log2(secrets) + SPARE bits.

    They tell so many even where they tell five standard deviations less than on average. Raises
    UsageError where labels do not depend on the secret.

    >>> from instances import parse
    >>> needed(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))
    58
    """
    mean = family.information
    require(mean > _LEAST, f"{family} given: labels do not depend on the secret: lower the error")
    weights = family.chances[family.chances > 0]
    bits = np.log2(weights * family.outcomes)
    return enough(wanted(family), mean, math.sqrt(max(float(weights @ (bits - mean) ** 2), 0.0)))


def enough(bits: float, mean: float, deviation: float) -> int:
    """Count the samples that tell so many bits, even five standard deviations below the mean.

    mean, deviation: of the bits that one sample tells.

    >>> enough(64, 1.0, 0.0)
    65
    """
    spread = _SURE * deviation
    root = (spread + math.sqrt(spread**2 + 4 * mean * bits)) / (2 * mean)
    return math.ceil(root**2) + 1


def no_lattice(forms: Modular) -> str | None:
    """Return why labels are no b = <a, s> + e mod q with a small error e, or None."""
    if forms.noisy_parities:
        return "it needs labels that say about where <a, s> mod q is, of lwe or lwr"
    error = Samples.none(forms).error
    if error is None or len(error.values) == 1:
        return "its labels have no error: use modlinear"
    return None


def better(best: Candidate, found: Samples, met: Secret | None) -> Candidate:
    """Return the better of two candidates by their evidence; none without a unit."""
    if met is None or not any(map(found.family.secrets.is_unit, met)):
        return best
    evidence = found.evidence(met)
    return best if best and best[0] >= evidence else (evidence, met)


def is_member(family: Modular, secret: Secret) -> bool:
    """Return whether n entries, centred, are a secret of the family: of its weight and kind.

    >>> from instances import parse
    >>> is_member(parse("lpn:n=3,noise=0.1,h=1"), (1, 1, 0))
    False
    """
    try:
        family.require_member(secret)
    except UsageError:
        return False
    return True


def conclude(
    family: Family,
    found: Evidence,
    best: Secret | None,
    missed: Outcome = Outcome.NO_CLAIM,
    **details: Any,
) -> Hypothesis:
    """Judge the best candidate of a search by samples, if there is one: n entries, centred.

    What is no member is no secret, however well it fits: evidence is weighed against their number.
    Where the samples are too few to be sure, it is given back with outcome EXAMPLES_SPENT and
    `coins`, a bound on the chance that labels which are coins favour any secret as much.
    """
    bits, need = wanted(found.family), needed(found.family)
    details["samples"] = len(found)
    evidence = -math.inf
    if best is not None and is_member(found.family, best):
        evidence = found.evidence(best)
    if best is not None and evidence > -math.inf:
        details |= {"evidence": round(evidence, 2), "evidence_wanted": round(bits, 2)}
        if evidence >= bits:
            return member(family, family.from_linear(best), **details)
    if len(found) >= need:
        return nothing(family, missed, **details)
    details["samples_wanted"] = need
    if best is not None and evidence >= bits - SPARE + WORTH_SAYING:
        details["coins"] = 2.0 ** (bits - SPARE - evidence)
        return member(family, family.from_linear(best), Outcome.EXAMPLES_SPENT, **details)
    return nothing(family, Outcome.EXAMPLES_SPENT, **details)


def out_of_time(family: Family, start: int, steps: int, **details: Any) -> Hypothesis:
    """End a search whose time was over before step `start` of all its steps."""
    return nothing(family, Outcome.SECONDS_SPENT, start=start, steps=steps, **details)


@dataclass(frozen=True, kw_only=True, eq=False)
class Equations:
    """Equations <a, s> + e = b: words (N, words), bit j + 1 being a_j; codes (N,), the bits b.

    >>> from instances import parse
    >>> instance = parse("parity:d=20,m=3,noise=0.1").instance(0)
    >>> found = equations(instance.examples(0, 400))
    >>> bits = instance.family.to_linear(instance.hidden.secret)
    >>> bool(found.errors(bits) < 0.2 * len(found))
    True
    """

    family: Modular
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    def errors(self, bits: Secret) -> int:
        """Count the equations that a secret of n bits fails."""
        support = tuple(j + 1 for j, bit in enumerate(bits) if bit)
        folded = np.bitwise_xor.reduce(self.words & mask(support, self.family.d), axis=1)
        return int(((np.bitwise_count(folded) & 1) ^ self.codes).sum())

    def evidence(self, bits: Secret) -> float:
        """Compute the bits by which the equations favour a secret over labels that are coins."""
        wrong, rate = self.errors(bits), float(self.family.noise)
        if wrong and not rate:
            return -math.inf
        right = (len(self) - wrong) * math.log2(2 * (1 - rate))
        return right + (wrong * math.log2(2 * rate) if wrong else 0)


def equations(examples: Examples) -> Equations:
    """Keep the examples whose label is unknown; raises UsageError without `noisy_parities`."""
    family = examples.family.linear_forms
    if family is None or not family.noisy_parities:
        examples.family.refuse("noisy_parities")
    packed = as_coded(examples)
    opened = family.open(packed.words)
    words = packed.words[opened, 0] ^ packed.words[opened, 1]
    words[:, 0] &= ~np.uint64(1)
    return Equations(family=family, words=words, codes=packed.codes[opened].astype(np.uint8))
