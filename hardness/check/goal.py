"""What a learner has to achieve, and the least number of queries that an argument leaves it."""

from dataclasses import dataclass
from fractions import Fraction

from hardness.check.reading import fraction, refuse
from hardness.claims.words import counted

_ONE = Fraction(1)  # the squared norm of members scaled to norm 1


@dataclass(frozen=True, kw_only=True)
class Goal:
    """Members that have to be ruled out, on average, for a risk with a success probability."""

    missing: Fraction
    words: str

    @staticmethod
    def read(
        given: dict[str, str],
        size: int,
        noise: Fraction | None,
        norm: Fraction,
        least: Fraction = _ONE,
    ) -> "Goal":
        """Read risk, success and noise, which is None where a claim does not depend on any.

        norm: the largest Gram eigenvalue of members whose squared norms are at least `least`.
        """
        risk, success = fraction(given["risk"]), fraction(given["success"])
        if noise is not None and fraction(given["noise"]) != noise:
            refuse("the noise is not that of the spec")
        if not 0 < success <= 1:
            refuse("success is not in (0, 1]")
        return Goal(
            missing=success * size - right_about(risk, norm, least),
            words=f"for relative risk {risk} with success probability {success}",
        )

    def require_least(self, value: int, ruled_out: Fraction) -> None:
        """The least whole number of queries that rule out what is missing is `value`."""
        if value < 0 or value * ruled_out < self.missing:
            refuse(f"{value} is not the least number of queries that the argument allows")
        if value > 0 and (value - 1) * ruled_out >= self.missing:
            refuse(f"{value} queries are claimed, and fewer already rule out enough members")


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
) -> str:
    """The least n with K levels^n >= success N is `value`."""
    risk, success = fraction(given["risk"]), fraction(given["success"])
    right = right_about(risk, norm, least)
    if not 0 < success <= 1 or value < 0:
        refuse("success is not in (0, 1], or the floor is negative")
    if value > size.bit_length() or right * levels**value < success * size:
        refuse(f"{value} is not the information floor")
    if value > 0 and right * levels ** (value - 1) >= success * size:
        refuse(f"{value} is more than the information floor")
    examples = counted(value, "examples")
    return f"any learner needs at least {examples} for risk {risk} with success {success}"
