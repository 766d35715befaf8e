"""Re-derives the claims of a symmetric profile's certificate.

Correlations come from the profile's averages over fair coins, not from its Fourier coefficients;
eigenvalues from Eberlein polynomials in exact integers; a code is counted set by set; a linear
program is verified by its multipliers, inequality by inequality; an average over sets by counting
pairs.
"""

import itertools
import math
import re
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import fmpq, fmpz, fmpz_poly

from hardness.check.goal import Goal, check_floor
from hardness.check.layers import Layers, check_heads, check_members, read_layers
from hardness.check.parity import SPEC as PARITY
from hardness.check.reading import fraction, integer, number, rational, refuse
from hardness.claims.symmetric import QUANTITIES, SCOPE_MANY, SCOPE_TWO
from instances.expression import profile, spelling

_SPEC = re.compile(
    r"profile:d=(?P<d>[1-9]\d{0,17}),g=(?P<g>[^\s]{1,2000}),m=(?P<m>[1-9]\d{0,3}),noise=(?P<noise>[\d./]{1,90}),rho=(?P<rho>[\d./]{1,90})",
    re.ASCII,
)
_EVIDENCE = {
    *("rho", "heads", "A", "c0", "members", "values"),
    *("correlations", "eigenvalues", "code", "sda"),
}
_DUAL = {"gamma", "inner", "average", "caps", "enough"}
_MOST_SETS = 1 << 14

Claims = dict[str, Callable[[fmpq, dict[str, str]], str]]


class SymmetricEvidence:
    """What the evidence of a profile's certificate proves; raises Refuted where it does not."""

    words = QUANTITIES
    required = ("information-floor",)
    statistical = False

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec."""
        self._family, self._values = read_profile(spec)
        self._two = len(set(self._values)) == 2
        self.scope = SCOPE_TWO if self._two else SCOPE_MANY
        if set(evidence) != _EVIDENCE | ({"vstat"} if self._two else set()):
            refuse(f"its evidence must be {', '.join(sorted(_EVIDENCE))}, vstat for two values")
        if len(set(self._values)) < 2 or self._family.chosen >= self._family.ground:
            refuse("there is nothing hidden: one value or one member")
        if [rational(v) for v in evidence["values"]] != self._values:
            refuse("the values of the evidence are not those of g")
        check_members(self._family, evidence["members"])
        check_heads(self._family, evidence, self._values, "profile")
        if [rational(c) for c in evidence["correlations"]] != self._c:
            refuse("the correlations of the evidence are not those of the profile")
        if [rational(v) for v in evidence["eigenvalues"]] != self._eigenvalues:
            refuse("the eigenvalues of the evidence are not those of the correlations")
        self._evidence = evidence

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        claims: Claims = {
            "largest-correlation": self._largest,
            "average-correlation": self._average,
            "operator-norm": self._norm,
            "second-eigenvalue": self._second,
            "cross-predictability": self._cross,
            "sq-dimension": self._dimension,
            "sda-all-subsets": self._all_subsets,
            "sda-pair-events": self._pair_events,
            "csq-queries": self._csq,
            "stat-queries": self._stat,
            "vstat-queries": self._vstat,
            "information-floor": self._floor,
        }
        return claims[name](value, given)

    # What is derived from the profile alone.

    @cached_property
    def _mean(self) -> fmpq:
        """The mean of g(h) over fair coins."""
        return over_coins(self._values)[-1][0]

    @cached_property
    def _c(self) -> list[fmpq]:
        """c(t): t places in common, the other m - t of each averaged out by coins of their own."""
        m = self._family.chosen
        averages = over_coins(self._values)
        out = []
        for t in range(m + 1):
            inner = averages[m - t]  # i -> E g(i + heads of m - t coins)
            total = sum((fmpz.bin_uiui(t, i) * inner[i] ** 2 for i in range(t + 1)), fmpq(0))
            out.append(total / fmpz(2) ** t - self._mean**2)
        return out

    @cached_property
    def _distances(self) -> list[list[fmpz]]:
        """E_i(k), the eigenvalues of the graph of distance i, by the other Eberlein formula."""
        n, m = self._family.ground, self._family.chosen
        return [
            [
                sum(
                    (
                        (-1) ** (i - h)
                        * fmpz.bin_uiui(m - h, i - h)
                        * fmpz.bin_uiui(m - k, h)
                        * fmpz.bin_uiui(n - m + h - k, h)
                        for h in range(min(i, m - k) + 1)
                    ),
                    fmpz(0),
                )
                for k in range(min(m, n - m) + 1)
            ]
            for i in range(m + 1)
        ]

    @cached_property
    def _eigenvalues(self) -> list[fmpq]:
        m = self._family.chosen
        return [
            sum((self._c[m - i] * row[k] for i, row in enumerate(self._distances)), fmpq(0))
            for k in range(len(self._distances[0]))
        ]

    @property
    def _unit_norm(self) -> Fraction:
        """The largest Gram eigenvalue of the members less their mean, scaled to norm 1."""
        norm = self._c[-1] - self._eigenvalues[0] / self._family.size
        return _python(self._spread / norm)

    @property
    def _spread(self) -> fmpq:
        return max(self._eigenvalues[1:])

    @property
    def _valencies(self) -> list[fmpz]:
        return [row[0] for row in self._distances]

    @property
    def _multiplicities(self) -> list[fmpz]:
        n = self._family.ground
        counts = [fmpz.bin_uiui(n, j) for j in range(len(self._eigenvalues))]
        return [a - b for a, b in zip(counts, [fmpz(0), *counts], strict=False)]

    # The claims.

    def _largest(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, max(self._c[:-1]) / self._c[-1], "the largest correlation")
        return f"two different members have correlation at most {value}"

    def _average(self, value: fmpq, _: dict[str, str]) -> str:
        pairs = sum((c * v for c, v in zip(self._c[::-1], self._valencies, strict=True)), fmpq(0))
        _equal(value * self._family.size, pairs / self._c[-1], "the average correlation")
        return f"the average correlation is {_short(value)}"

    def _norm(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, max(self._eigenvalues) / self._c[-1], "the operator norm")
        return f"the largest eigenvalue is {_short(value)}"

    def _second(self, value: fmpq, _: dict[str, str]) -> str:
        _equal(value, self._spread / self._c[-1], "the second eigenvalue")
        return f"less the mean member, the largest eigenvalue is {_short(value)}"

    def _cross(self, value: fmpq, _: dict[str, str]) -> str:
        # The average of c^2 over pairs, by overlaps; the makers take it from the spectrum.
        squares = sum(
            (c**2 * v for c, v in zip(self._c[::-1], self._valencies, strict=True)), fmpq(0)
        )
        _equal(value * self._family.size, squares / self._c[-1] ** 2, "the cross-predictability")
        return f"the cross-predictability is {_short(value)}"

    def _dimension(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        code = self._evidence["code"]
        if lower < 1 or integer(code["size"]) != lower:
            refuse("the code does not have as many sets as SQ-DIM claims")
        t = number(code["overlap"], 0, self._family.chosen - 1, "the overlap of the code")
        self._check_code(code, t, lower)
        if lower > 1 and self._c[t] * lower > self._c[-1]:
            refuse(f"sets of overlap {t} have correlations above 1/{lower}")
        # More than `upper` members need overlaps at which correlations are at most 1/(upper + 1).
        fitting = [t for t in range(self._family.chosen) if self._c[t] * (upper + 1) <= self._c[-1]]
        most = _johnson(self._family.ground, self._family.chosen, fitting[-1]) if fitting else 1
        if upper < lower or most > upper:
            refuse(f"more than {upper} members of small enough overlap are not ruled out")
        if self._loose(upper, most):
            refuse(f"{upper} is more than the argument gives for SQ-DIM from above")
        if lower == upper:
            return f"SQ-DIM is exactly {lower}: a {code['kind']} code, and no larger one may count"
        return f"SQ-DIM is between {lower} and {upper}; so many sets are exhibited: {lower}"

    def _loose(self, upper: int, most: int) -> bool:
        """Whether one member less is ruled out too."""
        if upper <= 1 or most >= upper:
            return False
        m = self._family.chosen
        fitting = [t for t in range(m) if self._c[t] * upper <= self._c[-1]]
        least = _johnson(self._family.ground, m, fitting[-1]) if fitting else 1
        return least < upper

    def _check_code(self, code: dict[str, Any], t: int, size: int) -> None:
        n, m = self._family.ground, self._family.chosen
        kind = code["kind"]
        fields = {"kind", "overlap", "size"}
        if kind == "listed":
            if set(code) != fields | {"sets"} or len(code["sets"]) != size:
                refuse("a listed code must give all its sets")
            if size > _MOST_SETS:
                refuse(f"a code of more than {_MOST_SETS} sets is not checked set by set")
            masks = []
            for members in code["sets"]:
                places = {number(j, 0, n - 1, "a place of a set") for j in members}
                if len(places) != m or len(members) != m:
                    refuse(f"a set of the code does not have {m} different places")
                masks.append(sum(1 << j for j in places))
            for one, two in itertools.combinations(masks, 2):
                if (one & two).bit_count() > t:
                    refuse(f"two sets of the code have an overlap above {t}")
        elif kind == "all":
            if set(code) != fields or t != m - 1 or size > self._family.size:
                refuse(f"there are only {self._family.size} sets, of overlap up to {m - 1}")
        elif kind == "reed-solomon":
            q = number(code["q"], 2, n, "q of a Reed-Solomon code")
            prime = all(q % p for p in range(2, math.isqrt(q) + 1))
            # Two polynomials of degree at most t over a field agree in at most t of m places.
            if set(code) != fields | {"q"} or not (prime and m <= q and q * m <= n):
                refuse("a Reed-Solomon code needs a prime q with m <= q and q m <= n")
            if size > q ** (t + 1):
                refuse(f"there are only q^{t + 1} polynomials of degree at most {t}")
        else:
            refuse(f"{str(kind)[:40]!r} is no kind of code that is checked here")

    def _all_subsets(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        sda, gamma = self._evidence["sda"], rational(given["gamma"])
        if set(sda) != {"below", "above"}:
            refuse("a bracket of SDA needs both ends: one good set says nothing about every set")
        if gamma <= 0 or rational(sda["below"]["gamma"]) != gamma:
            refuse("gamma of the evidence is not that of the claim")
        size, bad = self._family.size, self._check_dual(sda["below"]) - 1
        if lower != (size if bad == 0 else (size - 1) // bad):
            refuse(f"{lower} is not the largest q for which N/q members are more than {bad}")
        if upper != self._check_above(sda["above"], gamma) or lower > upper:
            refuse(f"{upper} is not the end that the correlated sets of the evidence give")
        if upper == 0:
            return f"already all members together have average correlation above {gamma}"
        if lower == 0:
            refuse("0 says that all members together have a larger average, and this is not shown")
        return f"every set of N/{lower} members or more has average correlation at most {gamma}" + (
            "; no larger q will do" if lower == upper else f"; q = {upper + 1} will not do"
        )

    def _check_dual(self, dual: dict[str, Any]) -> int:
        """Verify the multipliers inequality by inequality; return what they prove enough.

        For the inner distribution a of a set of s members: a_0 = 1, 0 <= a_i <= v_i, sum a = s, and
        1 + sum_i a_i E_i(k)/v_i >= 0 for every k. [Del73]
        """
        if set(dual) != _DUAL:
            refuse(f"a bound on every set must have {', '.join(sorted(_DUAL))}")
        m, gamma = self._family.chosen, rational(dual["gamma"])
        y, w = [rational(v) for v in dual["inner"]], [rational(v) for v in dual["caps"]]
        u, enough = rational(dual["average"]), integer(dual["enough"])
        if len(y) > len(self._eigenvalues) - 1 or len(w) != m or min([u, *y, *w]) < 0:
            refuse("multipliers are missing, too many, or negative")
        for i in range(1, m + 1):
            v, c = self._valencies[i], self._c[m - i] / self._c[-1]
            inner = sum((a * self._distances[i][k] for k, a in enumerate(y, 1)), fmpq(0))
            if gamma < 1 and w[i - 1] - inner - u * v * (c - gamma) < v:
                refuse(f"the multipliers do not bound sets with members at distance {i}")
        # Sets of average above gamma have fewer than `most` members, or at most that many if the
        # average has no multiplier; for gamma >= 1 there are none.
        most = 1 + sum(y, fmpq(0)) + sum(w, fmpq(0)) + u * (1 - gamma)
        good = enough >= most if u > 0 else enough > most
        if gamma >= 1:
            good = enough >= 1
        if not (good or enough > self._family.size) or enough < 1:
            refuse(f"sets of {enough} members are not shown to have average at most gamma")
        return enough

    def _check_above(self, above: dict[str, Any] | None, gamma: fmpq) -> int:
        """Count the pairs of the sets exhibited; return the end that they give."""
        n, m = self._family.ground, self._family.chosen
        if above is None:
            return self._family.size
        if set(above) != {"fixed", "block", "met", "size"}:
            refuse("the correlated sets must say fixed, block, met and size")
        a = number(above["fixed"], 0, m - 1, "fixed")
        k = number(above["block"], 0, n - a, "block")
        j = number(above["met"], 0, m, "met")
        size = integer(above["size"])
        if a == k == j == 0:  # any `size` members: their pairs of equal ones make 1/size
            if not 1 <= size <= self._family.size or not gamma * size < 1:
                refuse(f"{size} members do not have average above gamma by their equal pairs alone")
        else:
            count, total = self._pairs(n - a, m - a, a, k, j)
            if count != size:
                refuse(f"the correlated sets are {count}, not {size}")
            if total <= gamma * self._c[-1] * fmpq(count) ** 2:
                refuse("the average correlation of the sets exhibited is not above gamma")
        return (self._family.size - 1) // size

    def _pairs(self, n: int, m: int, a: int, k: int, j: int) -> tuple[int, fmpq]:
        """Count sets that meet a block of k in at least j, and add c(a + overlap) over pairs."""

        def overlaps(ground: int, one: int, two: int) -> fmpz_poly:
            return fmpz_poly(
                [
                    fmpz.bin_uiui(one, p) * fmpz.bin_uiui(ground - one, two - p)
                    if 0 <= two - p <= ground - one
                    else 0
                    for p in range(min(one, two) + 1)
                ]
            )

        places = [b for b in range(j, min(k, m) + 1) if m - b <= n - k]
        total, count = fmpq(0), fmpz(0)
        for one in places:
            sets = fmpz.bin_uiui(k, one) * fmpz.bin_uiui(n - k, m - one)
            count += sets
            met = fmpz_poly([0])
            for two in places:
                met += overlaps(k, one, two) * overlaps(n - k, m - one, m - two)
            total += sets * sum((met[t] * self._c[a + t] for t in range(met.degree() + 1)), fmpq(0))
        return int(count), total

    def _pair_events(self, value: fmpq, given: dict[str, str]) -> str:
        q, gamma = _whole(value), rational(given["gamma"])
        if gamma <= 0:
            refuse("gamma is not above 0")
        size = self._family.size
        if not 0 <= q <= size:
            refuse("q is not between 0 and the number of members")
        # The worst events take the closest pairs first: r pairs for q, and fewer for q + 1.
        if q and not self._closest(-(-(size**2) // q**2)) <= gamma:
            refuse(f"the closest N^2/{q}^2 pairs have average above gamma")
        if q < size and self._closest(-(-(size**2) // (q + 1) ** 2)) <= gamma:
            refuse(f"{q} is not the largest q: {q + 1} will do")
        if q == 0:
            return f"already all pairs together have average correlation above {gamma}"
        return (
            f"every set of N^2/{q}^2 pairs or more has average correlation at most {gamma}, and no "
            "larger q will do"
        )

    def _closest(self, pairs: int) -> fmpq:
        """The average correlation of the `pairs` closest ordered pairs of members."""
        left, total = fmpz(pairs), fmpq(0)
        for c, v in zip(self._c[::-1], self._valencies, strict=True):
            taken = min(left, v * self._family.size)
            total += c * taken
            left -= taken
        return total / (self._c[-1] * pairs)

    def _goal(self, given: dict[str, str]) -> Goal:
        return Goal.read(given, self._family.size, self._family.noise, self._unit_norm)

    def _csq(self, value: fmpq, given: dict[str, str]) -> str:
        tau, goal = _tolerance(given), self._goal(given)
        fade = 1 - 2 * self._family.noise
        goal.require_least(_whole(value), fade**2 * _python(self._spread) / (4 * tau**2))
        return f"at least {value} correlational queries within {tau} are needed {goal.words}"

    def _stat(self, value: fmpq, given: dict[str, str]) -> str:
        if not self._two:
            refuse("there is no bound on general queries for labels of more than two values")
        tau, goal = _tolerance(given), self._goal(given)
        fade = 1 - 2 * self._family.noise
        signs = _python(self._spread / self._half**2)
        goal.require_least(_whole(value), fade**2 * signs / (4 * tau**2))
        return f"at least {value} queries to STAT({tau}) are needed {goal.words}"

    @property
    def _half(self) -> fmpq:
        """Half the distance of the two values."""
        return (max(self._values) - min(self._values)) / 2

    def _vstat(self, value: fmpq, given: dict[str, str]) -> str:
        if not self._two:
            refuse("there is no bound on general queries for labels of more than two values")
        t, goal, dual = integer(given["t"]), self._goal(given), self._evidence["vstat"]
        if t < 1:
            refuse("t is below 1")
        enough = self._check_dual(dual)
        # gamma unit-norm correlation is gamma (1-2 eta)^2 c(m)/half^2 / (2 (1 - mu^2)) of labelled
        # distributions, mu the mean of a label as +-1: it must reach 1/(3t) and not pass it.
        fade = 1 - 2 * self._family.noise
        faded = fmpq(fade.numerator, fade.denominator)
        mu = faded * (self._mean - (max(self._values) + min(self._values)) / 2) / self._half
        labelled = faded**2 * self._c[-1] / self._half**2 / (2 * (1 - mu**2))
        if rational(dual["gamma"]) * labelled * 3 * t != 1:
            refuse("gamma of the evidence is not what VSTAT(t) stands for")
        goal.require_least(_whole(value), Fraction(max(enough - 1, 1)))
        return f"at least {value} queries to VSTAT({t}) are needed {goal.words}"

    def _floor(self, value: fmpq, given: dict[str, str]) -> str:
        levels = len(set(self._values))  # once it is known which labels the noise reflects
        if integer(given["levels"]) != levels:
            refuse(f"a label takes one of {levels} values")
        return check_floor(_whole(value), given, self._family.size, self._unit_norm, levels)


def read_profile(spec: str) -> tuple[Layers, list[fmpq]]:
    """Read a canonical spec of a profile or a parity, and the values g(0) .. g(m)."""
    if spec.startswith("parity:"):
        family = read_layers(spec, PARITY.fullmatch(spec))
        return family, [fmpq((-1) ** h) for h in range(family.chosen + 1)]
    found = _SPEC.fullmatch(spec)
    family = read_layers(spec, found)
    g = found["g"] if found else ""
    if spelling(g) != g:
        refuse(f"{spec[:80]!r} is not in its canonical form")
    return family, [fmpq(v.numerator, v.denominator) for v in profile(g, family.chosen)]


def over_coins(values: list[fmpq]) -> list[list[fmpq]]:
    """Average over coins one after the other: entry [r][i] is E g(i + heads of r coins)."""
    table = [values]
    while len(table[-1]) > 1:
        table.append([(a + b) / 2 for a, b in itertools.pairwise(table[-1])])
    return table


def _johnson(n: int, m: int, t: int) -> int:
    """Johnson's bound on m-subsets of n places of overlap at most t, from t = 0 upwards. [Joh62]"""
    if t >= m:
        return int(fmpz.bin_uiui(n, m))
    bound = None
    for step in range(t, -1, -1):  # A(n-step, m-step, t-step), the smallest first
        ground, weight, overlap = n - step, m - step, t - step
        new = ground // weight if bound is None else ground * bound // weight
        if weight**2 > ground * overlap:
            new = min(new, ground * (weight - overlap) // (weight**2 - ground * overlap))
        bound = max(1, min(new, int(fmpz.bin_uiui(ground, weight))))
    return bound or 1


def _equal(value: fmpq, wanted: fmpq, what: str) -> None:
    if value != wanted:
        refuse(f"{what} is not the one claimed")


def _whole(value: fmpq) -> int:
    if value.q != 1:
        refuse("an integer is needed")
    return int(value.p)


def _python(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _tolerance(given: dict[str, str]) -> Fraction:
    tau = fraction(given["tau"])
    if not 0 < tau <= 1:
        refuse("tau is not in (0, 1]")
    return tau


def _short(value: fmpq) -> str:
    """A rational, or six of its digits where it is long."""
    text = str(value)
    if len(text) <= 40:
        return text
    with localcontext(Context(prec=6, Emax=MAX_EMAX, Emin=MIN_EMIN)):  # eigenvalues pass 1e308
        return f"about {Decimal(int(value.p)) / Decimal(int(value.q)):g}"
