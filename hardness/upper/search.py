"""What searches for a secret share: their samples, what they enumerate, what they end with."""

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

from hardness.oracles import ExampleOracle
from hardness.upper.attack import SPARE, Attack, needed
from hardness.upper.drawing import draw_open
from hardness.upper.learner import Hypothesis, Outcome, member, nothing
from instances.errors import UsageError
from instances.family import Family, Secret, require
from instances.modular import Modular
from instances.samples import Samples, samples

WORTH_SAYING = 7  # bits beyond those that tell a secret from all others: coins, one in 128


class Evidence(Protocol):
    """Samples that tell for or against a secret."""

    @property
    def family(self) -> Modular:
        """The family they are of."""

    def __len__(self) -> int: ...

    def evidence(self, secret: Secret, /) -> float:
        """Compute the bits by which they favour a secret over labels that are coins."""


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


def values_of(family: Modular) -> tuple[int, ...]:
    """List what an entry of a secret can be beyond 0, centred.

    >>> from instances import parse
    >>> values_of(parse("lwr:n=4,q=8,p=2,secret=ternary"))
    (-1, 1)
    """
    return tuple(v for v in family.secrets.values if v)


def gather(oracle: ExampleOracle, count: int) -> Samples:
    """Draw examples until there are `count` samples, or the budget of examples is over.

    Raises Spent where there are none, or where the time is over.
    """
    return Samples.join(draw_open(oracle, count, samples)).cut(0, count)


def wanted(family: Modular) -> float:
    """Count the bits of evidence from which a secret is believed."""
    return math.log2(family.size) + SPARE


def better(
    best: tuple[float, Secret] | None, found: Samples, met: Secret | None
) -> tuple[float, Secret] | None:
    """Return the better of two candidates by their evidence, with it; none without a unit."""
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
    missed: Outcome = Outcome.NOT_FOUND,
    **details: Any,
) -> Hypothesis:
    """Judge the best candidate of a search, if there is one: n entries, centred.

    What is no member is no secret, however well it fits: evidence is weighed against their number.
    Where the samples are too few to be sure, it is given back with outcome EXAMPLES_SPENT and
    `coins`, a bound on the chance that labels which are coins favour any secret as much.
    """
    bits = wanted(found.family)
    if best is not None and not is_member(found.family, best):
        best = None
    details["samples"] = len(found)
    evidence = -math.inf if best is None else found.evidence(best)
    if best is not None and evidence > -math.inf:
        details |= {"evidence": round(evidence, 2), "evidence_wanted": round(bits, 2)}
    if best is not None and evidence >= bits:
        return member(family, family.from_linear(best), **details)
    if len(found) >= needed(found.family):
        return nothing(family, missed, **details)
    details["samples_wanted"] = needed(found.family)
    if best is not None and evidence >= bits - SPARE + WORTH_SAYING:
        coins = 2.0 ** (bits - SPARE - evidence)
        secret = family.from_linear(best)
        return member(family, secret, Outcome.EXAMPLES_SPENT, coins=coins, **details)
    return nothing(family, Outcome.EXAMPLES_SPENT, **details)


def out_of_time(family: Family, start: int, steps: int, **details: Any) -> Hypothesis:
    """End a search whose time was over before step `start` of all its steps."""
    return nothing(family, Outcome.SECONDS_SPENT, start=start, steps=steps, **details)
