"""Re-derives claims about fixed features: sums of eigenvalues by their dual, not in order.

The sum of the N largest of some numbers is at most N theta + sum (number - theta)_+ for every
theta, and equal at the N-th of them.
"""

from decimal import MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext

from flint import fmpq

from hardness.check.named.members import DrawnMembers
from hardness.check.reading import fraction, integer, refuse
from hardness.claims.words import counted
from instances.text import shortened


def error(members: DrawnMembers, value: fmpq, given: dict[str, str]) -> str:
    """The error of so many features, averaged over all members."""
    features = integer(given["features"])
    if features > members.size:
        refuse("there are more features than members")
    left = members.trace - _largest(members, features)
    if value * members.scale != max(left, fmpq(0)):
        refuse("the error is not what the largest eigenvalues leave")
    if value == 0:
        return f"{counted(features, 'features')} may learn every member: the bound is vacuous"
    return (
        f"no regression on up to {counted(features, 'functions')} of the {members.inputs}, or "
        "kernel machine on as many inputs, all chosen without labels, has relative risk below "
        f"{_short(value)} on average over the members, before its predictions are clipped"
    )


def needed(members: DrawnMembers, value: fmpq, given: dict[str, str]) -> str:
    """The least number of features for a risk on a share of the members."""
    risk, success = fraction(given["risk"]), fraction(given["success"])
    unit = fmpq(risk.numerator, risk.denominator) * members.scale
    if value.q != 1 or not 0 <= value <= members.size:
        refuse("the number of features is not an integer up to the number of members")
    wanted = fmpq(success.numerator, success.denominator) * max(members.least - unit, fmpq(0))
    features = int(value.p)
    if _largest(members, features) < wanted:
        refuse(
            f"{shortened(features)} features are not the least number that the eigenvalues allow"
        )
    if features and _largest(members, features - 1) >= wanted:
        refuse(f"fewer than {shortened(features)} features are not excluded by the eigenvalues")
    if value <= 1:
        return (
            "regression on fixed features, or a kernel machine: the bound is vacuous for relative "
            f"risk {risk} on a share {success} of the members"
        )
    return (
        "a regression on fixed features, or a kernel machine, needs at least "
        f"{shortened(features)} features or inputs for relative risk {risk}, before its "
        f"predictions are clipped, on a share {success} of the members"
    )


def _largest(members: DrawnMembers, count: int) -> fmpq:
    """The sum of the `count` largest eigenvalues, each as often as it occurs."""
    left = count
    theta = fmpq(0)
    for value, n in sorted(members.spectrum, reverse=True):
        left -= n
        if left <= 0:
            theta = max(value, theta)
            break
    return count * theta + sum(
        (n * (value - theta) for value, n in members.spectrum if value > theta), fmpq(0)
    )


CLAIMS = {"kernel-error": error, "kernel-features": needed}


def _short(value: fmpq) -> str:
    """A rational in (0, 1], cut down to six digits where it is long: what is said is a bound."""
    text = str(value)
    if len(text) <= 24:
        return text
    with localcontext(Context(prec=6, rounding=ROUND_FLOOR, Emin=MIN_EMIN)):
        return f"{Decimal(int(value.p)) / Decimal(int(value.q)):g}"
