"""Re-derives claims about fixed features: sums of eigenvalues by their dual, not in order.

The sum of the N largest of some numbers is the least of N theta + sum (number - theta)_+ over
theta, attained at one of the numbers.
"""

from decimal import MIN_EMIN, ROUND_FLOOR, Context, Decimal, localcontext

from flint import fmpq

from hardness.check.named.drawn import Drawn
from hardness.check.reading import fraction, integer, refuse
from hardness.claims.words import counted


def error(members: Drawn, value: fmpq, given: dict[str, str]) -> str:
    """The error of so many features, averaged over all members."""
    features = integer(given["features"])
    if not 1 <= features <= members.size:
        refuse("there are fewer features than 1, or more than members")
    left = members.trace - _largest(members, features)
    if value * members.scale != max(left, fmpq(0)):
        refuse("the error is not what the largest eigenvalues leave")
    count = str(fmpq(features))  # of any number of digits
    if value == 0:
        return f"{counted(count, 'features')} may learn every member: the bound is vacuous"
    return (
        f"no regression on up to {counted(count, 'functions')} of the tokens, or "
        "kernel machine on as many inputs, all chosen without labels, has relative risk below "
        f"{_short(value)} on average over the members, before its predictions are clipped"
    )


def needed(members: Drawn, value: fmpq, given: dict[str, str]) -> str:
    """The least number of features for a risk on a share of the members."""
    risk, success = fraction(given["risk"]), fraction(given["success"])
    unit = fmpq(risk.numerator, risk.denominator) * members.scale
    if not (0 <= unit < members.trace and 0 < success <= 1):
        refuse("risk is not in [0, 1) or too large for the density, or success not in (0, 1]")
    if value.q != 1 or not 0 <= value <= members.size:
        refuse("the number of features is not an integer up to the number of members")
    wanted = fmpq(success.numerator, success.denominator) * (members.trace - unit)
    features = int(value.p)
    if _largest(members, features) < wanted:
        refuse(f"{value} features are not the least number that the eigenvalues allow")
    if features and _largest(members, features - 1) >= wanted:
        refuse(f"fewer than {value} features are not excluded by the eigenvalues")
    if value <= 1:
        return (
            "regression on fixed features, or a kernel machine: the bound is vacuous for relative "
            f"risk {risk} on a share {success} of the members"
        )
    return (
        f"a regression on fixed features, or a kernel machine, needs at least {value} features "
        f"or inputs for relative risk {risk}, before its predictions are clipped, on a share "
        f"{success} of the members"
    )


def _largest(members: Drawn, count: int) -> fmpq:
    """The sum of the `count` largest eigenvalues, each as often as it occurs."""
    return min(
        count * theta
        + sum((n * (value - theta) for value, n in members.spectrum if value > theta), fmpq(0))
        for theta in [fmpq(0), *(value for value, _ in members.spectrum)]
    )


CLAIMS = {"kernel-error": error, "kernel-features": needed}


def _short(value: fmpq) -> str:
    """A rational in (0, 1], cut down to six digits where it is long: what is said is a bound."""
    text = str(value)
    if len(text) <= 24:
        return text
    with localcontext(Context(prec=6, rounding=ROUND_FLOOR, Emin=MIN_EMIN)):
        return f"{Decimal(int(value.p)) / Decimal(int(value.q)):g}"
