"""What a learner has to achieve, and the least number of queries that an argument leaves it."""

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from hardness.check.reading import fraction, refuse
from hardness.claims.vacuous import WORD, vacuous
from hardness.claims.words import counted
from instances.text import shortened

_ONE = Fraction(1)  # the squared norm of members scaled to norm 1


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Members that have to be ruled out, on average, for a risk with a success probability."""

    size: int
    right: int
    risk: Fraction
    success: Fraction

    @staticmethod
    def read(
        given: dict[str, str],
        size: int,
        noise: Fraction | None,
        norm: Fraction,
        least: Fraction = _ONE,
        alike: int = 1,
    ) -> "Goal":
        """Read risk, success and noise, which is None where a claim does not depend on any.

        Without a success to reach, it is 1. norm: the largest Gram eigenvalue of members whose
        squared norms are at least `least`, of which `alike` may be fit for each one counted.
        """
        risk, success = fraction(given["risk"]), fraction(given.get("success", "1"))
        if noise is not None and fraction(given["noise"]) != noise:
            refuse("the noise is not that of the spec")
        if not 0 < success <= 1:
            refuse("success is not in (0, 1]")
        return Goal(
            size=size,
            right=alike * right_about(risk, norm, least),
            risk=risk,
            success=success,
        )

    def statement(self, name: str, value: fmpq, moves: Fraction, what: str) -> str:
        """Verify a claim on queries: how many are needed, or how little any number of them does.

        moves: the sum of the members' squared moves is at most so many squared tolerances, and each
        member that is ruled out has one of them or more. what: the queries, in words.
        """
        cap = moves.numerator // moves.denominator
        if name.endswith("-success"):
            return self._guessing(value, cap, what)
        return self._queries(name, value, cap, what)

    def _queries(self, name: str, value: fmpq, cap: int, what: str) -> str:
        """The least number of queries that rule out enough members, `cap` each, is `value`."""
        if value.q != 1 or value < 0:
            refuse("a number of queries is not a whole number")
        if not cap:
            refuse("no query rules out a member here, so there is no number of queries to claim")
        missing, least = self.success * self.size - self.right, int(value.p)
        if least * cap < missing:
            refuse(
                f"{shortened(least)} is not the least number of queries that the argument allows"
            )
        if least > 0 and (least - 1) * cap >= missing:
            refuse(
                f"{shortened(least)} queries are claimed, and fewer already rule out enough members"
            )
        return (
            f"at least {shortened(least)} {what} are needed in the worst case for relative risk "
            f"{self.risk} with success probability {self.success}{_marked(name, least)}"
        )

    def _guessing(self, value: fmpq, cap: int, what: str) -> str:
        """No query rules out a member, and `value` is the share that one hypothesis may fit."""
        if cap:
            refuse("queries may rule out members here, so success has no such bound")
        share = fmpq(min(self.right, self.size), self.size)
        if value != share:
            refuse("that is not the share of the members that one hypothesis may fit")
        return (
            f"any number of {what} rules out no member: relative risk {self.risk} has success "
            f"probability at most {shortened(self.right)}/{shortened(self.size)}"
        )

    def floor(self, value: int, levels: int) -> str:
        """Verify that `value` is the least n with K levels^n >= success N."""
        right, risk, success = self.right, self.risk, self.success
        if not 0 < success <= 1 or value < 0:
            refuse("success is not in (0, 1], or the floor is negative")
        if value > self.size.bit_length() or right * levels**value < success * self.size:
            refuse(f"{shortened(value)} is not the information floor")
        if value > 0 and right * levels ** (value - 1) >= success * self.size:
            refuse(f"{shortened(value)} is more than the information floor")
        examples = counted(value, "examples")
        mark = _marked("information-floor", value)
        return f"any learner needs at least {examples} for risk {risk} with success {success}{mark}"


def _marked(name: str, value: int) -> str:
    """Mark a bound that says nothing, as `certify` does."""
    return f": {WORD}" if vacuous(name, value) else ""


def right_about(risk: Fraction, norm: Fraction, least: Fraction = _ONE) -> int:
    """Return the largest K with K (least - risk) <= norm, least at most 1.

    >>> right_about(Fraction(1, 4), Fraction(1))
    1
    """
    if not 0 <= risk < least:
        refuse("risk is not in [0, 1), or not below the least density of a")
    quotient = norm / (least - risk)
    right = quotient.numerator // quotient.denominator
    if not right * (least - risk) <= norm < (right + 1) * (least - risk):
        refuse("the risk does not bound how many members a hypothesis is right about")
    return right


def check_floor(
    value: int,
    given: dict[str, str],
    size: int,
    norm: Fraction,
    levels: int,
    least: Fraction = _ONE,
    alike: int = 1,
) -> str:
    """The least n with K levels^n >= success N is `value`."""
    risk, success = fraction(given["risk"]), fraction(given["success"])
    return Goal(
        size=size, right=alike * right_about(risk, norm, least), risk=risk, success=success
    ).floor(value, levels)
