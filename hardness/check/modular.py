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
from hardness.check.scheme import python_fraction
from hardness.claims.modular import QUANTITIES, SCOPE

_EVIDENCE = {"rule", "meaning", "members", "labels", "errors", "chi_square", "density"}
_MEANING = {
    "lines": "no multiples of each other mod q",
    "bits": "different mod 2",
    "halves": "no odd multiples of each other mod q",
}
_MOST_REACH = 1000

Claims = dict[str, Callable[[int, dict[str, str]], str]]


class ModularEvidence:
    """What the evidence of an LWE-style certificate proves; raises Refuted where it does not."""

    words = QUANTITIES
    required = ("independent-members", "information-floor")
    statistical = False
    scope = SCOPE

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        family = self.family = read_residues(spec)
        if set(evidence) != _EVIDENCE:
            refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}")
        self._rule = _rule(family)
        if (evidence["rule"], evidence["meaning"]) != (self._rule, _MEANING[self._rule]):
            refuse("the rule of independence is not that of the moduli")
        reach = _reach(family, self._rule)
        wanted = {"secret": family.secret, "reach": reach}
        if evidence["members"] != wanted or type(evidence["members"]["reach"]) is not int:
            refuse("the members of the evidence are not those of the spec")
        self.size = _count(family, self._rule, reach)
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

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if value.q != 1:
            refuse(f"{name} is not an integer")
        claims: Claims = {
            "independent-members": self._members,
            "pairwise-correlation": self._correlation,
            "sq-dimension": self._dimension,
            "stat-queries": self._stat,
            "vstat-queries": self._vstat,
            "information-floor": self._floor,
        }
        return claims[name](int(value.p), given)

    def _members(self, value: int, given: dict[str, str]) -> str:
        if value != self.size:
            refuse(f"{value} is not the number of {self.family.secret} secrets that are counted")
        self._check_secrets(given)
        return (
            f"{value} secrets are {_MEANING[self._rule]}: any two of them have independent labels "
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
            return "any two of the members have correlation exactly 0"
        return f"any two of the members have correlation at most {float(upper):.3g}"

    def _dimension(self, value: int, given: dict[str, str]) -> str:
        self._check_secrets(given)
        if not 1 <= value <= self.size or value * self._between > 1:
            refuse(f"{value} members of correlation at most 1/{value} are not shown")
        if value < self.size and (value + 1) * self._between <= 1:
            refuse(f"{value} is less than the argument gives for SQ-DIM")
        if integer(given["upper"]) == value:
            how = "orthogonal" if not self._between else "of small enough correlation"
            return f"SQ-DIM is exactly {value}: all members are {how}, and there are no more"
        return f"SQ-DIM is at least {value}"

    def _goal(self, given: dict[str, str]) -> Goal:
        return Goal.read(given, self.size, None, self.most, self.least)

    def _stat(self, value: int, given: dict[str, str]) -> str:
        tau, goal = fraction(given["tau"]), self._goal(given)
        if not 0 < tau <= 1:
            refuse("tau is not in (0, 1]")
        # The variance of a function in [-1,1] is largest for one of two values, on a set of codes
        # as close to half of their probability as can be.
        levels, rarest = self.family.levels, self.family.rarest
        part = rarest if levels == 2 else Fraction(levels // 2, levels)
        kappa = self.most * self.square * part * (1 - part)
        goal.require_least(value, kappa / tau**2)
        return f"at least {value} queries to STAT({tau}) must be allowed {goal.words}"

    def _vstat(self, value: int, given: dict[str, str]) -> str:
        t, goal = integer(given["t"]), self._goal(given)
        if t < 1:
            refuse("t is below 1")
        each = self.most * self.square * (1 - self.family.rarest)
        goal.require_least(value, Fraction(3 * t, 2) * each)
        return f"at least {value} queries to VSTAT({t}) must be allowed {goal.words}"

    def _floor(self, value: int, given: dict[str, str]) -> str:
        levels = self.family.levels
        if integer(given["levels"]) != levels:
            refuse(f"a label takes one of {levels} values")
        return check_floor(value, given, self.size, self.most, levels, self.least)


def _rule(family: Residues) -> str:
    """Over a field lines; a half turn of two labels leaves odd frequencies; else what is mod 2."""
    if family.q % 2:
        return "lines"
    return "halves" if family.turns and family.q > 2 else "bits"


def _reach(family: Residues, rule: str) -> int:
    """The largest B <= 1000 with 2 B^2 < q that entries are certainly drawn of; 0: no limit."""
    if rule == "bits" or family.secret in ("binary", "uniform"):
        return 0
    found = _drawn(family)
    while 2 * found**2 >= family.q:
        found = min(found - 1, math.isqrt(family.q))
    return min(found, _MOST_REACH)


def _drawn(family: Residues) -> int:
    """6 standard deviations have a probability far above 2^-64, as have all |x| <= 32 of cbd."""
    if family.secret == "gaussian":
        if not Fraction(1, 8) <= family.spread <= 1 << 16:
            refuse("the spread of the secret is out of range")
        return max(1, int(6 * family.spread))
    if family.secret == "cbd" and not (family.spread.denominator == 1 and 1 <= family.spread <= 64):
        refuse("the spread of the secret is out of range")
    return min(int(family.spread), 32) if family.secret == "cbd" else 1


def _count(family: Residues, rule: str, reach: int) -> int:
    """Count secrets one class at a time, by their leading entry, odd places or divisors."""
    n, h, q = family.n, family.h, family.q
    chosen = fmpz.bin_uiui(n, h)
    if rule == "bits" or family.secret == "binary":
        if not h:
            return int(sum((fmpz(2) ** j for j in range(n)), fmpz(0)))  # by the last odd place
        even = {"binary": False, "ternary": False, "uniform": q > 2}
        free = rule == "bits" and even.get(family.secret, _drawn(family) > 1)
        ways = (fmpz.bin_uiui(n, j) for j in range(1 if free else h, h + 1))
        return int(sum(ways, fmpz(0)))
    if family.secret == "uniform" and rule == "lines":
        return int(chosen * fmpz(q - 1) ** (h - 1) if h else (fmpz(q) ** n - 1) // (q - 1))
    if family.secret == "uniform":
        if not h:  # the points of a projective space over Z_q lie q/2 over each one mod 2
            return int((fmpz(2) ** n - 1) * fmpz(q // 2) ** (n - 1))
        odd = (
            fmpz.bin_uiui(h, j) * fmpz(q // 2) ** (j - 1) * fmpz(q // 2 - 1) ** (h - j)
            for j in range(1, h + 1)
        )
        return int(chosen * sum(odd, fmpz(0)))
    return int(chosen * _primitive(n, h, reach, {}) // 2)


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
    if 2 * family.n * family.q > whole:
        refuse("a is too far from uniform")
    if least != Fraction(whole - low, whole) or most != Fraction(whole, whole - high):
        refuse("the density of the evidence is not that of numbers mod q")
    each = numbers // family.q * family.q
    n = family.n
    # Bernoulli's inequality, seen to hold here.
    if each**n * least.denominator < numbers**n * least.numerator:
        refuse("a is less dense than the evidence says")
    if (each + family.q) ** n * most.denominator > numbers**n * most.numerator:
        refuse("a is denser than the evidence says")
