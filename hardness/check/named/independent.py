"""Re-derives certificates about named learners on LWE-style families.

What a certificate of statistical queries has to prove of N, the density and chi^2 is verified
there. Here it is put in the terms in which claims about kernels and gradients are verified.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.check.goal import right_about
from hardness.check.modular import ModularEvidence
from hardness.check.named import descent, kernel
from hardness.check.named.drawn import Drawn
from hardness.check.reading import fraction, refuse
from hardness.claims.independent import NO_DEGREE, QUANTITIES, SCOPE

_ABOUT = {"gd", "kernel", "low-degree"}
_MOST_BITS = 1 << 19  # of an exact power
_CLAIMS: dict[str, Callable[[Drawn, fmpq, dict[str, str]], str]] = {
    **kernel.CLAIMS,
    **descent.CLAIMS,
}


class IndependentEvidence:
    """What the evidence of such a certificate proves; raises Refuted where it does not."""

    words = QUANTITIES
    required = ("information-floor",)
    statistical = False
    scope = SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        rest = {key: v for key, v in evidence.items() if key not in ("about", "no_claim")}
        self._proved = ModularEvidence(spec, rest)
        self._members = Orthogonal(self._proved)
        self._about, silent = evidence["about"], evidence["no_claim"]
        if self._about != sorted(set(self._about)) or not set(self._about) <= _ABOUT:
            refuse(f"it must be about some of {', '.join(sorted(_ABOUT))}")
        if silent != {name: NO_DEGREE for name in self._about if name == "low-degree"}:
            refuse("what is without a claim, or the reason, is not what is known here")

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if name == "information-floor":
            return self._proved.statement(name, value, given)
        if name.partition("-")[0] not in self._about:
            refuse(f"{name} is claimed, and it is not what the certificate is about")
        return _CLAIMS[name](self._members, value, given)


class Orthogonal:
    """Members that are orthogonal where a is uniform, and the ends of its density."""

    def __init__(self, proved: ModularEvidence) -> None:
        """Take what the evidence proves."""
        self.size = proved.size
        self._family, self._square = proved.family, proved.square
        self._least, self._most = proved.least, proved.most

    @property
    def trace(self) -> fmpq:
        """No member has less than the least density for its squared norm."""
        return self.size * _exact(self._least)

    @property
    def scale(self) -> fmpq:
        """Risk is relative to norm 1, that for a uniform."""
        return fmpq(self.size)

    @property
    def spectrum(self) -> list[tuple[fmpq, int]]:
        """A Gram matrix of orthonormal functions and a density."""
        return [(_exact(self._most), self.size)]

    @property
    def drift(self) -> Fraction:
        """What chi^2 and the spread of a gradient over labels leave, on half of the tokens each.

        Of a vector in the unit ball: two points have the variance r (1-r) times the square of a
        distance of at most 2, more points none above the mean square.
        """
        rarest = self._family.rarest
        spread = rarest * (1 - rarest) * 2**2 if self._family.levels == 2 else Fraction(1)
        return self._most * (self._square / 2) * (spread / 2) / self.size

    @property
    def example(self) -> fmpq:
        """Half of the tokens are open, and chi^2 is what each of them tells."""
        return _exact(self._square) / 2

    def batch(self, batch: int) -> fmpq:
        """The squared norm of a law of a batch less the reference, where denser tokens count."""
        both = self._most.denominator * self._square.denominator * 2
        if batch * both.bit_length() > _MOST_BITS:
            refuse("the powers of this batch are too long to be computed")
        dense = _exact(self._most)
        return (dense * (1 + self.example)) ** batch - dense**batch

    def right(self, given: dict[str, str]) -> int:
        """How many members one hypothesis can have the given risk for."""
        return right_about(fraction(given["risk"]), self._most, self._least)


def _exact(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)
