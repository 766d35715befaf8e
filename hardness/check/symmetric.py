"""Re-derives the claims of a symmetric profile's certificate, each in the words of the checker.

What follows from the profile is in scheme.py, what its evidence shows in codes.py and sda.py.
"""

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.check.codes import check_code, most_members
from hardness.check.goal import Goal, check_floor
from hardness.check.layers import check_heads, check_members
from hardness.check.mixture import check_mixture
from hardness.check.reading import fraction, integer, listed, number, rational, refuse
from hardness.check.scheme import Scheme, read_profile
from hardness.check.sda import check_above, check_dual, closest
from hardness.claims.symmetric import QUANTITIES, SCOPE_MANY, SCOPE_TWO
from instances.threshold import python_fraction

_EVIDENCE = {
    *("rho", "heads", "A", "c0", "members", "values"),
    *("correlations", "eigenvalues", "code", "sda"),
}

Claims = dict[str, Callable[[fmpq, dict[str, str]], str]]


class SymmetricEvidence:
    """What the evidence of a profile's certificate proves; raises Refuted where it does not."""

    words = QUANTITIES
    required = ("information-floor",)
    statistical = False
    assumed = ""

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        self._scheme = Scheme(*read_profile(spec))
        self._family, self._values = self._scheme.family, self._scheme.values
        self._two = len(set(self._values)) == 2
        self.scope = SCOPE_TWO if self._two else SCOPE_MANY
        if set(evidence) != _EVIDENCE | ({"vstat", "mixture"} if self._two else set()):
            fields = ", ".join(sorted(_EVIDENCE))
            refuse(f"its evidence must be {fields}, for two values also vstat and mixture")
        if len(set(self._values)) < 2 or self._family.chosen >= self._family.ground:
            refuse("there is nothing hidden: one value or one member")
        if [rational(v) for v in listed(evidence["values"])] != self._values:
            refuse("the values of the evidence are not those of g")
        check_members(self._family, evidence["members"])
        check_heads(self._family, evidence, self._values, "profile")
        if [rational(c) for c in listed(evidence["correlations"])] != self._scheme.c:
            refuse("the correlations of the evidence are not those of the profile")
        if [rational(v) for v in listed(evidence["eigenvalues"])] != self._scheme.eigenvalues:
            refuse("the eigenvalues of the evidence are not those of the correlations")
        self._evidence = evidence

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        queries = {"csq": self._csq, "stat": self._stat, "vstat": self._vstat}
        oracle = name.partition("-")[0]
        if oracle in queries:
            return queries[oracle](name, value, given)
        claims: Claims = {
            "largest-correlation": self._largest,
            "average-correlation": self._average,
            "operator-norm": self._norm,
            "second-eigenvalue": self._second,
            "cross-predictability": self._cross,
            "sq-dimension": self._dimension,
            "sda-all-subsets": self._all_subsets,
            "sda-pair-events": self._pair_events,
            "information-floor": self._floor,
        }
        return claims[name](value, given)

    def _largest(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, max(self._scheme.c[:-1]) / self._scheme.c[-1], "the largest correlation")
        return f"two different members have correlation at most {value}"

    def _average(self, value: fmpq, _: dict[str, str]) -> str:
        pairs = sum(
            (c * v for c, v in zip(self._scheme.c[::-1], self._scheme.valencies, strict=True)),
            fmpq(0),
        )
        _equal(value * self._family.size, pairs / self._scheme.c[-1], "the average correlation")
        return f"the average correlation is {short(value)}"

    def _norm(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, max(self._scheme.eigenvalues) / self._scheme.c[-1], "the operator norm")
        return f"the largest eigenvalue is {short(value)}"

    def _second(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, self._scheme.spread / self._scheme.c[-1], "the second eigenvalue")
        return f"less the mean member, the largest eigenvalue is {short(value)}"

    def _cross(self, value: fmpq, _: dict[str, str]) -> str:
        # The average of c^2 over pairs, by overlaps; the makers take it from the spectrum.
        squares = sum(
            (c**2 * v for c, v in zip(self._scheme.c[::-1], self._scheme.valencies, strict=True)),
            fmpq(0),
        )
        _equal(
            value * self._family.size, squares / self._scheme.c[-1] ** 2, "the cross-predictability"
        )
        return f"the cross-predictability is {short(value)}"

    def _dimension(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        code = self._evidence["code"]
        if lower < 1 or integer(code["size"]) != lower:
            refuse("the code does not have as many sets as SQ-DIM claims")
        t = number(code["overlap"], 0, self._family.chosen - 1, "the overlap of the code")
        check_code(self._scheme, code, t, lower)
        if lower > 1 and self._scheme.c[t] * lower > self._scheme.c[-1]:
            refuse(f"sets of overlap {t} have correlations above 1/{lower}")
        most = most_members(self._scheme, upper + 1)
        if upper < lower or most > upper:
            refuse(f"more than {upper} members of small enough overlap are not ruled out")
        if upper > 1 and most < upper and most_members(self._scheme, upper) < upper:
            refuse(f"{upper} is more than the argument gives for SQ-DIM from above")
        if lower == upper:
            return f"SQ-DIM is exactly {lower}: a {code['kind']} code, and no larger one may count"
        return f"SQ-DIM is between {lower} and {upper}; so many sets are exhibited: {lower}"

    def _all_subsets(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        sda, gamma = self._evidence["sda"], rational(given["gamma"])
        if set(sda) != {"below", "above"}:
            refuse("a bracket of SDA needs both ends: one good set says nothing about every set")
        if rational(sda["below"]["gamma"]) != gamma:
            refuse("gamma of the evidence is not that of the claim")
        size, bad = self._family.size, check_dual(self._scheme, sda["below"]) - 1
        if lower != (size if bad == 0 else (size - 1) // bad):
            refuse(f"{lower} is not the largest q for which N/q members are more than {bad}")
        if upper != check_above(self._scheme, sda["above"], gamma) or lower > upper:
            refuse(f"{upper} is not the end that the correlated sets of the evidence give")
        if upper == 0:
            return f"already all members together have average correlation above {gamma}"
        if lower == 0:
            refuse("0 says that all members together have a larger average, and this is not shown")
        return f"every set of N/{lower} members or more has average correlation at most {gamma}" + (
            "; no larger q will do" if lower == upper else f"; q = {upper + 1} will not do"
        )

    def _pair_events(self, value: fmpq, given: dict[str, str]) -> str:
        q, gamma = _whole(value), rational(given["gamma"])
        size = self._family.size
        if not 0 <= q <= size:
            refuse("q is not between 0 and the number of members")
        # The worst events take the closest pairs first: r pairs for q, and fewer for q + 1.
        if q and not closest(self._scheme, -(-(size**2) // q**2)) <= gamma:
            refuse(f"the closest N^2/{q}^2 pairs have average above gamma")
        if q < size and closest(self._scheme, -(-(size**2) // (q + 1) ** 2)) <= gamma:
            refuse(f"{q} is not the largest q: {q + 1} will do")
        if q == 0:
            return f"already all pairs together have average correlation above {gamma}"
        return (
            f"every set of N^2/{q}^2 pairs or more has average correlation at most {gamma}, and no "
            "larger q will do"
        )

    def _goal(self, given: dict[str, str]) -> Goal:
        return Goal.read(given, self._family.size, self._family.noise, self._scheme.unit_norm)

    def _csq(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        tau = fraction(given["tau"])
        return self._moved(name, value, given, f"correlational queries within {tau}")

    def _stat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        if not self._two:
            refuse("there is no bound on general queries for labels of more than two values")
        return self._moved(name, value, given, f"queries to STAT({fraction(given['tau'])})")

    def _moved(self, name: str, value: fmpq, given: dict[str, str], what: str) -> str:
        """Verify what queries within tau can do, the values of g scaled to -1 .. 1."""
        fade = 1 - 2 * self._family.noise
        scaled = python_fraction(self._scheme.spread / self._scheme.half**2)
        moves = fade**2 * scaled / (4 * fraction(given["tau"]) ** 2)
        return self._goal(given).statement(name, value, moves, what)

    def _vstat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        if not self._two:
            refuse("there is no bound on general queries for labels of more than two values")
        t, goal, dual = integer(given["t"]), self._goal(given), self._evidence["vstat"]
        enough = check_dual(self._scheme, dual)
        # gamma unit-norm correlation is gamma (1-2 eta)^2 c(m)/half^2 / (2 (1 - mu^2)) of labelled
        # distributions, mu the mean of a label as +-1: it must reach 1/(3t) and not pass it.
        fade = 1 - 2 * self._family.noise
        faded = fmpq(fade.numerator, fade.denominator)
        mu = (
            faded
            * (self._scheme.mean - (max(self._values) + min(self._values)) / 2)
            / self._scheme.half
        )
        labelled = faded**2 * self._scheme.c[-1] / self._scheme.half**2 / (2 * (1 - mu**2))
        if rational(dual["gamma"]) * labelled * 3 * t != 1:
            refuse("gamma of the evidence is not what VSTAT(t) stands for")
        cap = Fraction(enough - 1)
        if self._evidence["mixture"] is not None:
            weighted = rational(self._evidence["mixture"])
            check_mixture(self._scheme, weighted, self._family.noise)
            cap = min(cap, 3 * t * python_fraction(weighted) / 4)
        return goal.statement(name, value, cap, f"queries to VSTAT({t})")

    def _floor(self, value: fmpq, given: dict[str, str]) -> str:
        levels = len(set(self._values))  # once it is known which labels the noise reflects
        if integer(given["levels"]) != levels:
            refuse(f"a label takes one of {levels} values")
        return check_floor(_whole(value), given, self._family.size, self._scheme.unit_norm, levels)


def _equal(value: fmpq, wanted: fmpq, what: str) -> None:
    if value != wanted:
        refuse(f"{what} is not the one claimed")


def _whole(value: fmpq) -> int:
    if value.q != 1:
        refuse("an integer is needed")
    return int(value.p)


def short(value: fmpq) -> str:
    """A rational, or six of its digits where it is long."""
    text = str(value)
    if len(text) <= 40:
        return text
    with localcontext(Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)):  # eigenvalues pass 1e308
        return f"about {Decimal(int(value.p)) / Decimal(int(value.q)):g}"
