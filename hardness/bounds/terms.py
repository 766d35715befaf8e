"""The parameters of a bound: the oracle's tolerance, and the goal of the learner."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from hardness.bounds.checker import written
from instances.family import require
from instances.parameters import Range, require_declared

_RATIONAL = ("tau", "risk", "success", "gamma")
_SHARE, _WHOLE = Range(above=0, most=1), Range(1)


@dataclass(frozen=True, kw_only=True)
class BoundParameters:
    """The parameters of a bound: the oracle's tolerance, and the goal of the learner.

    tau: tolerance of STAT. vstat: parameter t of VSTAT. risk: the relative risk that the learner
    must reach. success: the probability of reaching it, over the learner's randomness and the
    member. gamma: the average correlation of unit-norm members in SDA. Raises UsageError out of
    range.

    >>> BoundParameters(risk=Fraction(1, 10)).success
    Fraction(2, 3)
    """

    tau: Annotated[Fraction, _SHARE] = Fraction(1, 10)
    vstat: Annotated[int, _WHOLE] = 100
    risk: Annotated[Fraction, Range(0, below=1)] = Fraction(1, 4)
    success: Annotated[Fraction, _SHARE] = Fraction(2, 3)
    gamma: Annotated[Fraction, _SHARE] = Fraction(1, 20)

    def __post_init__(self) -> None:
        for name in _RATIONAL:
            require(
                isinstance(value := getattr(self, name), Fraction | int),
                f"{name} must be an exact rational such as Fraction(1, 10), got {value!r}",
            )
        require(isinstance(self.vstat, int), f"vstat must be an integer, got {self.vstat!r}")
        require_declared(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters for JSON, with rationals as strings."""
        exact = {name: str(getattr(self, name)) for name in _RATIONAL}
        return {**exact, "vstat": self.vstat}

    def to_terms(self) -> dict[str, Any]:
        """Return the parameters under the names of a certificate's terms, as strings.

        >>> BoundParameters().to_terms()["t"]
        '100'
        """
        return {"tau": written(self.tau), "t": written(self.vstat), "risk": written(self.risk),
                "success": written(self.success), "gamma": written(self.gamma)}  # fmt: skip
