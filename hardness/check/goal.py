"""What learners need where the large checker knows how many members there are: by the kernel."""

from fractions import Fraction
from types import SimpleNamespace

from flint import fmpq

from hardness.check import kernel
from hardness.check.kernel import core
from hardness.check.reading import fraction, refuse
from instances.threshold import python_fraction

_ONE = Fraction(1)  # the squared norm of members scaled to norm 1


class Goal:
    """Members that have to be ruled out, on average, for a risk with a success probability.

    right: how many of the `size` members one hypothesis can fit; given: a claim's parameters, of
    which `risk` and `success` are read, 1 where a claim does not depend on it.
    """

    def __init__(self, size: int, right: int, given: dict[str, str]) -> None:
        self._members = kernel.Fact("members", count=size)
        self._fit = kernel.Fact("fit", most=right, risk=fraction(given["risk"]))
        self._success = fraction(given.get("success", "1"))
        self.right = right

    def statement(self, name: str, value: fmpq, moves: Fraction, what: str) -> str:
        """Verify a claim on queries: how many are needed, or how little any number of them does.

        moves: the sum of the members' squared moves is at most so many squared tolerances, and each
        member that is ruled out has one of them or more. what: the queries, in words.
        """
        oracle = name.partition("-")[0]
        most = moves.numerator // moves.denominator
        cap = kernel.Fact("cap", most=most, name=oracle, what=what, at={})
        return _said(name, value, core.queries(None, self._members, self._fit, cap, self._success))

    def floor(self, value: int, levels: int) -> str:
        """Verify that `value` is the least n with K levels^n >= success N."""
        labels = SimpleNamespace(levels=levels)
        found = core.information(labels, self._members, self._fit, self._success)
        return _said("information-floor", fmpq(value), found)


def _said(name: str, value: fmpq, found: kernel.Fact) -> str:
    if name not in found.claims:
        refuse(f"there is no {name} here, but {' and '.join(found.claims)}")
    proved, _, text = found.claims[name]
    if python_fraction(value) != proved:
        refuse(f"{name} is not as claimed: {text}")
    return text


def right_about(risk: Fraction, norm: Fraction, least: Fraction = _ONE) -> int:
    """Return the largest K with K (least - risk) <= norm, least at most 1.

    >>> right_about(Fraction(1, 4), Fraction(1))
    1
    """
    if not 0 <= risk < least:
        refuse("risk is not in [0, 1), or not below the least density of a")
    quotient = norm / (least - risk)
    return quotient.numerator // quotient.denominator
