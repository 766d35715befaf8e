"""Re-derives the claims of a certificate of an LWE-style family.

What the spec says is read in residues.py. What is done here: decide from the moduli when two
members are independent; count such members in another way than the makers do; bound the density of
a; and verify every bound as an inequality between rationals, never by the formula that made it.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from flint import fmpq, fmpz

from hardness.check.goal import Goal, check_floor
from hardness.check.reading import fraction, integer, rational, refuse
from hardness.check.residues import Residues, read_residues, square
from hardness.claims.modular import QUANTITIES, SCOPE
from instances.text import shortened
from instances.threshold import python_fraction

_EVIDENCE = {"modulus", "meaning", "members", "labels", "errors", "chi_square", "density"}
_MOST_REACH = 1000

Claims = dict[str, Callable[[int, dict[str, str]], str]]


class ModularEvidence:
    """What the evidence of an LWE-style certificate proves; raises Refuted where it does not."""

    words = QUANTITIES
    required = ("orthogonal-members", "information-floor")
    statistical = False
    assumed = ""
    scope = SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        family = self.family = read_residues(spec)
        if set(evidence) != _EVIDENCE:
            refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}")
        self._members_of(family, evidence)
        labels = {"levels": str(family.levels), "rarest": str(family.rarest)}
        if evidence["labels"] != labels:
            refuse("the labels of the evidence are not those of the spec")
        self.square = square(family, evidence["errors"])
        if fraction(evidence["chi_square"]) != self.square or self.square <= 0:
            refuse("chi^2 of the evidence is not that of its errors, or 0")
        if not isinstance(evidence["density"], list) or len(evidence["density"]) != 2:
            refuse("the density of the evidence must have two ends")
        self.least, self.most = (fraction(end) for end in evidence["density"])
        _check_density(family, self.least, self.most)

    def _members_of(self, family: Residues, evidence: dict[str, Any]) -> None:
        """Decide from the moduli which members are orthogonal, and count them."""
        self._modulus = _modulus(family)
        self._differ = family.levels == family.parts and (family.q % 2 == 1 or self._modulus == 4)
        what = "different" if self._differ else "no multiples of each other by a unit"
        self._meaning = f"{what} mod {self._modulus}"
        if (evidence["modulus"], evidence["meaning"]) != (str(self._modulus), self._meaning):
            refuse("which members are orthogonal is not what the moduli say")
        vectors, units, reach = _count(family, self._modulus)
        self.alike = units if self._differ else 1
        self.size = vectors if self._differ else -(-vectors // units)
        wanted = {"secret": family.secret, "reach": reach, "alike": str(self.alike)}
        if evidence["members"] != wanted or type(evidence["members"]["reach"]) is not int:
            refuse("the members of the evidence are not those of the spec")

    @property
    def unlike(self) -> int:
        """How many members, at least, of which no two are alike."""
        return -(-self.size // self.alike)

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        queries = {"stat": self._stat, "vstat": self._vstat}
        oracle = name.partition("-")[0]
        if oracle in queries:
            return queries[oracle](name, value, given)
        if value.q != 1:
            refuse(f"{name} is not an integer")
        claims: Claims = {
            "orthogonal-members": self._members,
            "pairwise-correlation": self._correlation,
            "sq-dimension": self._dimension,
            "information-floor": self._floor,
        }
        return claims[name](int(value.p), given)

    def _members(self, value: int, given: dict[str, str]) -> str:
        if value != self.size:
            refuse(
                f"{shortened(value)} is not the number of {self.family.secret} secrets that are "
                "counted"
            )
        self._check_secrets(given)
        if integer(given["alike"]) != self.alike:
            refuse(f"{self.alike} of the members may be multiples of each other")
        labels = "orthogonal" if self.alike > 1 else "independent"
        return (
            f"{shortened(value)} secrets are {self._meaning}: any two of them have {labels} labels "
            "where a is uniform"
        )

    def _check_secrets(self, given: dict[str, str]) -> None:
        """Entries are residues of the kind: place by place, or h places and their entries."""
        family = self.family
        kinds = {"binary": 1, "ternary": 2}
        other = fmpz(min(kinds.get(family.secret, family.q - 1), family.q - 1))
        most = fmpz.bin_uiui(family.n, family.h) * other**family.h
        if not family.h:
            most = (other + 1) ** family.n - 1
        if rational(given["upper"]) != most:
            refuse("the bound on the number of secrets is not that of the spec")

    @property
    def _between(self) -> Fraction:
        """A Gram matrix of two members has eigenvalues between the ends of the density."""
        return (self.most - self.least) / (self.most + self.least)

    def _correlation(self, value: int, given: dict[str, str]) -> str:
        upper = python_fraction(rational(given["upper"]))
        if value != 0 or upper * (self.most + self.least) != self.most - self.least:
            refuse("the largest correlation is not between 0 and what the density allows")
        if not upper:
            return "any two of the members that are not alike have correlation exactly 0"
        return (
            f"any two of the members that are not alike have correlation at most {float(upper):.3g}"
        )

    def _dimension(self, value: int, given: dict[str, str]) -> str:
        self._check_secrets(given)
        if not 1 <= value <= self.unlike or value * self._between > 1:
            refuse(f"{shortened(value)} members of small enough correlation are not shown")
        if value < self.unlike and (value + 1) * self._between <= 1:
            refuse(f"{shortened(value)} is less than the argument gives for SQ-DIM")
        if integer(given["upper"]) == value:
            how = "orthogonal" if not self._between else "of small enough correlation"
            count = shortened(value)
            return f"SQ-DIM is exactly {count}: all members are {how}, and there are no more"
        return f"SQ-DIM is at least {shortened(value)}"

    def _goal(self, given: dict[str, str]) -> Goal:
        return Goal.read(given, self.size, None, self.most, self.least, self.alike)

    def _stat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        tau, goal = fraction(given["tau"]), self._goal(given)
        # The variance of a function in [-1,1] is largest for one of two values, on a set of codes
        # as close to half of their probability as can be.
        levels, rarest = self.family.levels, self.family.rarest
        part = rarest if levels == 2 else Fraction(levels // 2, levels)
        kappa = self.most * self.square * part * (1 - part)
        return goal.statement(name, value, kappa / tau**2, f"queries to STAT({tau})")

    def _vstat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        t, goal = integer(given["t"]), self._goal(given)
        each = self.most * self.square * (1 - self.family.rarest)
        return goal.statement(name, value, Fraction(3 * t, 2) * each, f"queries to VSTAT({t})")

    def _floor(self, value: int, given: dict[str, str]) -> str:
        levels = self.family.levels
        if integer(given["levels"]) != levels:
            refuse(f"a label takes one of {levels} values")
        return check_floor(value, given, self.size, self.most, levels, self.least, self.alike)


def _modulus(family: Residues) -> int:
    """A prime itself; of a power of two what a label does not see of the top: 2 q/parts."""
    return family.q if family.q % 2 else 2 * (family.q // family.parts)


def _drawn(family: Residues) -> int:
    """6 standard deviations have a probability far above 2^-64, as have all |x| <= 32 of cbd."""
    if family.secret == "gaussian":
        return max(1, int(6 * family.spread))
    return min(int(family.spread), 32) if family.secret == "cbd" else 1


def _count(family: Residues, modulus: int) -> tuple[int, int, int]:
    """Count secrets mod the modulus: all, less those without a unit; units that may join two.

    Third, what bounds the size of their entries, 0 for nothing.
    """
    n, h, bound = family.n, family.h, _drawn(family)
    if family.secret == "binary":
        return int(fmpz.bin_uiui(n, h) if h else fmpz(2) ** n - 1), 1, 0
    if family.secret == "uniform":
        bound = family.q
    whole = 2 * bound >= modulus - 1
    low = modulus // 2 if whole else bound
    # Units and other residues among -low .. low; of all of them where both ends are the same.
    if modulus % 2:
        units, others = 2 * low, 1
    else:
        units, others = low + low % 2, 2 * (low // 2) + 1
        if whole:
            units, others = modulus // 2, modulus // 2
    reach = 0 if whole else bound
    if not h:
        vectors = fmpz(units + others) ** n - fmpz(others) ** n
    else:
        zero = modulus < family.q and bound >= modulus  # as a multiple of the modulus
        every, dull = fmpz(units + others - 1), fmpz(others - 1)
        ways = (fmpz.bin_uiui(n, j) * (every**j - dull**j) for j in range(1 if zero else h, h + 1))
        vectors = sum(ways, fmpz(0))
    small = bound
    while small and 2 * small**2 >= modulus:
        small = min(small - 1, math.isqrt(modulus))
    small = min(small, _MOST_REACH)
    if family.secret in ("gaussian", "cbd") and small:
        # With their negatives, which alone are alike.
        pairs = fmpz.bin_uiui(n, h) * _primitive(n, h, small, {})
        if pairs * units > 2 * vectors:
            return int(pairs), 2, small
    return int(vectors), units, reach


def _primitive(n: int, h: int, bound: int, known: dict[int, fmpz]) -> fmpz:
    """All vectors, less those of each greatest common divisor above 1."""
    if bound not in known:
        every = fmpz(2 * bound) ** h if h else fmpz(2 * bound + 1) ** n - 1
        parts = (_primitive(n, h, bound // g, known) for g in range(2, bound + 1))
        known[bound] = every - sum(parts, fmpz(0))
    return known[bound]


def _check_density(family: Residues, least: Fraction, most: Fraction) -> None:
    """n residues, each of floor(M/q) or ceil(M/q) of M = 2^L numbers: q of them over M, n times."""
    if family.q % 2 == 0:
        if (least, most) != (1, 1):
            refuse("a is exactly uniform for an even modulus")
        return
    numbers = fmpz(1) << family.length
    rest = int(numbers % family.q)
    low, high = family.n * rest, family.n * (family.q - rest)
    whole = int(numbers)
    if least != Fraction(whole - low, whole) or most != Fraction(whole, whole - high):
        refuse("the density of the evidence is not that of numbers mod q")
    each = numbers // family.q * family.q
    n = family.n
    # Bernoulli's inequality, seen to hold here.
    if each**n * least.denominator < numbers**n * least.numerator:
        refuse("a is less dense than the evidence says")
    if (each + family.q) ** n * most.denominator > numbers**n * most.numerator:
        refuse("a is denser than the evidence says")
