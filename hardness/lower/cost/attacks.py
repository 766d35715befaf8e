"""All attacks on a family, and what is known of statistical queries beside them."""

from collections.abc import Callable
from math import log2

from hardness.lower.certificate import certify
from hardness.lower.cost.arora_ge import arora_ge
from hardness.lower.cost.bkw import bkw
from hardness.lower.cost.brute_force import brute_force
from hardness.lower.cost.linear_algebra import linear_algebra
from hardness.lower.cost.meet_in_the_middle import meet_in_the_middle
from hardness.lower.cost.primal import primal
from hardness.lower.cost.problem import Problem, problem
from hardness.lower.cost.record import Estimate, Estimates
from hardness.lower.cost.restricted_elimination import restricted_elimination
from hardness.lower.record import Claim
from instances.errors import ToolkitError
from instances.family import Family, require

ATTACKS: tuple[Callable[[Problem], Estimate], ...] = (
    arora_ge,
    bkw,
    brute_force,
    linear_algebra,
    meet_in_the_middle,
    primal,
    restricted_elimination,
)
_ROUNDING = 1e-9
QUANTITIES = ("orthogonal-members", "sq-dimension", "stat-queries", "stat-success")


def estimate(family: Family, samples: int | None = None) -> Estimates:
    """Estimate what each attack costs on a family; raises UsageError for those without samples.

    samples: how many labels with z_0 = -1 the attacker may have; None for any number.

    >>> from instances import parse
    >>> found = estimate(parse("lwe:n=80,q=113,sigma=3,secret=binary,h=6"))
    >>> found.least.name, round(found.least.bits, 1)
    ('meet-in-the-middle', 15.9)
    """
    require(samples is None or samples >= 1, f"samples={samples} given: at least 1 is needed")
    read = problem(family, samples)
    queries, average, reason = _queries(family)
    return Estimates(
        spec=family.spec,
        samples=samples,
        estimates=tuple(_within(samples, attack(read)) for attack in ATTACKS),
        queries=queries,
        average=average,
        no_queries=reason,
    )


def _within(samples: int | None, found: Estimate) -> Estimate:
    """Refuse an attack that needs more labels than there are."""
    needed = found.sample_bits
    if samples is None or needed is None or needed <= log2(samples) + _ROUNDING:
        return found
    return Estimate(
        name=found.name,
        kind=found.kind,
        source=found.source,
        reason=f"needs {found.sample_words} samples, {samples} are given out",
    )


def _queries(family: Family) -> tuple[tuple[Claim, ...], str, str]:
    """Return what is certified, over which secrets it is averaged, and why nothing is certified."""
    try:
        certificate = certify(family)
    except ToolkitError as error:
        return (), "", str(error)
    claims = {claim.quantity: claim for claim in certificate.claims}
    counted = claims.get("orthogonal-members")
    average = "all secrets, each as likely as the others"
    if counted:
        part = counted.value != counted.parameters["upper"]
        average = "the members counted, each as likely as the others"
        average += ", not over all that the family draws" if part else ""
        average += f": {counted.meaning}"
    return tuple(claims[name] for name in QUANTITIES if name in claims), average, ""
