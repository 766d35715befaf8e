"""Attacks on functions of <a, s> mod q: gather samples, propose secrets, conclude by evidence.

The evidence of samples for a secret is log2 of a ratio: the probability of their labels under the
secret, divided by that under uniform labels. Uniform labels reach L bits for a given secret with
probability at most 2^-L. So log2(secrets) + 30 bits confirm a secret: uniform labels confirm any
secret with probability at most 2^-30.

An attack is a class of the protocol of learners: `SecretSearch` for attacks that propose secrets,
`Attack` for those that solve for one. Its file can be read alone after this one.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.learners.learner import BuiltIn, Failed, Hypothesis, Outcome, View, member, nothing
from hardness.oracles import ExampleOracle, Spent
from instances.coded import require_coded
from instances.errors import UsageError
from instances.family import Family, Secret, require
from instances.limits import require_memory
from instances.lwe import Modular
from instances.parameters import Range
from instances.samples import Samples, samples

SPARE_BITS = 30  # of evidence, beyond log2 of the number of secrets
GUESS_BITS = 7  # of evidence, beyond log2 of the number of secrets, to name a guess
REJECTED = 2.0**-20  # the probability that a search rejects the true secret
COST_UNIT = 64  # parts of a bit
IMPOSSIBLE = (1 << 16) - 1  # the cost of a label of probability 0
_DEVIATIONS = 5  # standard deviations by which evidence may fall below its mean
_NO_INFORMATION = 1e-20  # bits of a sample, below which float64 cannot resolve them
_BATCH_EXAMPLES = 4096  # examples drawn at once
_SLOPES = 2.0 ** np.arange(-14, 5, 0.125)  # of Chernoff's bound


class Candidate(NamedTuple):
    """A secret of the family, n entries, centred, and the bits of evidence for it."""

    evidence: float
    secret: Secret


class Attack(BuiltIn):
    """A learner that searches for the secret of a family's linear forms."""

    view: ClassVar[View] = "z"
    needs: ClassVar[Literal["linear_forms", "noisy_parities"]] = "linear_forms"

    def supports(self, family: Family) -> str | None:
        """Return None for linear forms that it can attack, else the reason."""
        forms = family.linear_forms
        if forms is None or (self.needs == "noisy_parities" and not forms.noisy_parities):
            return family.lacks(self.needs)
        return self.unsupported_reason(forms)

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return why it cannot attack such linear forms, or None."""
        return None


@dataclass(frozen=True, kw_only=True)
class SecretSearch(Attack, ABC):
    """An attack that proposes secrets until the samples confirm one.

    samples: how many to draw; 0 for as many as confirm a secret.
    """

    revision: ClassVar[int] = 3
    computes_long: ClassVar[bool] = True

    samples: Annotated[int, Range(0)] = 0

    def learn(self, oracle: ExampleOracle, rng: np.random.Generator) -> Hypothesis:
        """Gather samples, compute the evidence of each proposed secret, and conclude."""
        forms = oracle.family.linear_forms or oracle.family.refuse("linear_forms")
        gathered, details, best = self.gather(oracle, forms), dict[str, Any](), None
        threshold = evidence_threshold(forms)
        for secret in self.candidates(gathered, details):
            best = better_candidate(best, gathered, secret)
            if best and best.evidence >= threshold:
                break
        return conclude(oracle.family, gathered, best, self.sample_count(forms), **details)

    def sample_count(self, forms: Modular) -> int:
        """Return the number of samples to draw if `samples` is 0."""
        return samples_to_confirm(forms)

    def gather(self, oracle: ExampleOracle, forms: Modular) -> Samples:
        """Draw the samples that give candidates and their evidence."""
        return gather(oracle, self.samples or self.sample_count(forms))

    @abstractmethod
    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret | None]:
        """Propose secrets; record details of the run in `details`."""


def gather(oracle: ExampleOracle, count: int) -> Samples:
    """Draw examples until there are `count` samples, or the budget of examples is spent.

    Raises Spent if there are none, or if another budget is spent; TooLarge if memory is short.
    """
    family, parts, missing = require_coded(oracle.family), list[Samples](), count
    forms = family.linear_forms or family.refuse("linear_forms")
    require_memory(3 * 8 * count * forms.n, f"{count} samples of {forms.spec}")
    try:
        while missing > 0 or not parts:
            parts.append(samples(oracle.draw(min(family.enough(missing) + 8, _BATCH_EXAMPLES))))
            missing -= len(parts[-1])
    except Spent as spent:
        if spent.resource != "examples" or not any(map(len, parts)):
            raise
    return Samples.join(parts).cut(0, count)


def gather_more(oracle: ExampleOracle, gathered: Samples, count: int, wanted: int) -> Samples:
    """Draw up to `count` samples in addition to those gathered, and return all.

    Raises Failed with EXAMPLES_SPENT if none is left: details name how many there are, and how
    many are `wanted`. Raises Spent if another budget is spent.
    """
    try:
        return Samples.join((gathered, gather(oracle, count)))
    except Spent as spent:
        if spent.resource != "examples":
            raise
        details = {"samples": len(gathered), "samples_wanted": wanted}
        raise Failed(Outcome.EXAMPLES_SPENT, details) from spent


def nonzero_values(family: Modular) -> tuple[int, ...]:
    """List the nonzero values of an entry of a secret, centred.

    >>> from instances import parse
    >>> nonzero_values(parse("lwr:n=4,q=8,p=2,secret=ternary"))
    (-1, 1)
    """
    return tuple(v for v in family.secrets.values if v)


def evidence_threshold(family: Modular) -> float:
    """Return the bits of evidence that confirm a secret.

    >>> from instances import parse
    >>> evidence_threshold(parse("lwr:n=64,q=256,p=2,secret=binary"))
    94.0
    """
    return math.log2(family.size) + SPARE_BITS


def samples_to_confirm(family: Modular) -> int:
    """Return how many samples confirm the true secret, even five deviations below the mean.

    Raises UsageError if labels do not depend on the secret.

    >>> from instances import parse
    >>> samples_to_confirm(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))
    58
    """
    mean = family.information
    unrelated = f"{family}: labels do not depend on the secret: lower the error"
    require(mean > _NO_INFORMATION, unrelated)
    weights = family.chances[family.chances > 0]
    bits = np.log2(weights * family.outcomes)
    deviation = math.sqrt(max(float(weights @ (bits - mean) ** 2), 0.0))
    spread = _DEVIATIONS * deviation
    root = (spread + math.sqrt(spread**2 + 4 * mean * evidence_threshold(family))) / (2 * mean)
    return math.ceil(root**2) + 1


def is_member(family: Modular, secret: Secret) -> bool:
    """Return whether n centred entries are a secret of the family, of its weight and kind.

    >>> from instances import parse
    >>> is_member(parse("lpn:n=3,noise=0.1,h=1"), (1, 1, 0))
    False
    """
    try:
        family.require_member(secret)
    except UsageError:
        return False
    return True


def better_candidate(
    best: Candidate | None, gathered: Samples, secret: Secret | None
) -> Candidate | None:
    """Return the better of two candidates by their evidence.

    A vector that is not a secret of the family is ignored, however well it fits, as the threshold
    of evidence depends on the number of members.
    """
    if secret is None or not is_member(gathered.family, secret):
        return best
    evidence = gathered.evidence(secret)
    least = best.evidence if best else -math.inf
    return Candidate(evidence, secret) if evidence > least else best


def conclude(
    family: Family, gathered: Samples, best: Candidate | None, sufficient: int = 0, **details: Any
) -> Hypothesis:
    """Claim the best candidate of a search if the samples confirm it.

    sufficient: how many samples the search needs to work well. With fewer, or too few to confirm a
    secret, the outcome is EXAMPLES_SPENT. A candidate that too few samples favour is named anyway,
    with `coins`: a bound on the probability that uniform labels favour some secret as much.
    """
    threshold, confirm = evidence_threshold(gathered.family), samples_to_confirm(gathered.family)
    details["samples"] = len(gathered)
    if best:
        details |= {"evidence": round(best.evidence, 2), "evidence_wanted": round(threshold, 2)}
        if best.evidence >= threshold:
            return member(family, family.from_linear(best.secret), **details)
    if len(gathered) >= max(confirm, sufficient):
        return nothing(family, Outcome.NO_CLAIM, **details)
    details["samples_wanted"] = max(confirm, sufficient)
    spare = best.evidence - threshold + SPARE_BITS if best else -math.inf
    if best and len(gathered) < confirm and spare >= GUESS_BITS:
        details["coins"] = 2.0**-spare
        secret = family.from_linear(best.secret)
        return member(family, secret, Outcome.EXAMPLES_SPENT, **details)
    return nothing(family, Outcome.EXAMPLES_SPENT, **details)


# ---- costs: evidence in integers, by which compiled searches reject a vector early


@dataclass(frozen=True, kw_only=True, eq=False)
class Costs:
    """Costs of samples, in parts of a bit: tables[rows[i], (shifts[i] + <a_i, s>) mod q].

    The cost of a label is log2 of p_max / p: p its probability, p_max the likeliest label's.

    tables: (rows, 2 q) uint16, each row repeated twice. limits: (N,) int64, the largest cost of the
    first i + 1 samples at which a vector is kept.
    """

    tables: NDArray[np.uint16]
    rows: NDArray[np.int64]
    shifts: NDArray[np.int64]
    limits: NDArray[np.int64]


def costs(gathered: Samples) -> Costs:
    """Tabulate the costs of samples.

    >>> from instances import parse
    >>> family = parse("lwr:n=4,q=8,p=2,secret=binary")
    >>> zeros = np.zeros((3, 4), np.int64)
    >>> table = costs(Samples(family=family, a=zeros, codes=zeros[:, 0]))
    >>> (table.tables[0] > 0).tolist()[:8], table.limits.tolist()
    ([False, False, False, False, True, True, True, True], [0, 0, 0])
    """
    family, q = gathered.family, gathered.family.q
    t = np.arange(q)
    if family.errors is None:
        bits = np.array([family.log_ratios(t, np.full(q, c)) for c in range(family.outcomes)])
        rows, shifts = gathered.codes, np.zeros(len(gathered), np.int64)
    else:
        bits = family.log_ratios(t, np.zeros(q, np.int64))[None]
        rows, shifts = np.zeros(len(gathered), np.int64), -gathered.codes % q
    best = bits.max(axis=1, keepdims=True, initial=0.0)
    scaled = np.minimum(COST_UNIT * (best - bits), IMPOSSIBLE - 1)
    table = np.rint(np.where(bits > -np.inf, scaled, IMPOSSIBLE)).astype(np.uint16)
    limits = np.zeros(len(gathered), np.int64)
    if family.errors is not None:
        from scipy.special import logsumexp  # linear algebra does not need it

        # Chernoff's bound on the true secret's cost after 1, 2, ... samples, up to REJECTED.
        likely, counts = family.chances > 0, np.arange(1, len(gathered) + 1)
        cost = table[0, -t % q][likely] / COST_UNIT
        moments = logsumexp(_SLOPES[:, None] * cost, axis=1, b=family.chances[likely])
        spare, bound = math.log(len(gathered) / REJECTED), counts * cost.max()
        for slope, moment in zip(
            _SLOPES, moments, strict=True
        ):  # each slope gives a line; take the minimum
            np.minimum(bound, (moment / slope) * counts + spare / slope, out=bound)
        limits = np.floor(COST_UNIT * bound).astype(np.int64)
    doubled = np.ascontiguousarray(np.tile(table, 2))
    return Costs(tables=doubled, rows=rows, shifts=shifts, limits=limits)
