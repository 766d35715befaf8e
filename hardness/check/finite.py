"""Re-derives the claims of a finite family's certificate.

Correlations come from truth tables by their Walsh-Hadamard spectra, or from specs by averages over
coins; where the file gives neither, its Gram matrix is taken as given, and every statement says so.
Members that were chosen are compared pair by pair. That no more of them exist follows from classes
of members, from eigenvalues, or from a search of the checker's own.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from hardness.check.cliques import has_clique
from hardness.check.goal import Goal
from hardness.check.matrices import check_radius, read_square
from hardness.check.pairs import Ends, FloatPairs, IntegerPairs, Pairs, UnionPairs
from hardness.check.reading import fraction, integer, number, rational, refuse
from hardness.check.spectra import UNIT, check_level, check_spread, check_upper_ends
from hardness.check.tables import gram_of_tables
from hardness.claims.finite import quantities, scope
from instances.expression import profile, spelling
from instances.limits import require_memory

_SPEC = re.compile(
    r"(?P<kind>functions|layers|specs):d=(?P<d>[1-9]\d{0,8}),members=(?P<members>[1-9]\d{0,8}),"
    r"path=(?P<path>.{0,600}),sha256=(?P<sha256>[0-9a-f]{64})",
    re.ASCII | re.DOTALL,
)
_LISTED = re.compile(
    r"(parity|profile):d=(?P<d>[1-9]\d{0,8})(,g=(?P<g>[^\s]{1,2000}))?,m=(?P<m>[1-9]\d{0,2}),"
    r"noise=0,rho=[\d./]{1,90}",
    re.ASCII,
)
_GRID = 10**9
_SPECTRUM = 3000  # members up to which there is a bound on queries
_MOST_LISTED, _MOST_SPECS = 20_000, 200
_FIELDS = {
    "specs": {"specs", "products"},
    "tables": {"names", "n", "outputs", "gram"},
    "integers": {"names", "n", "outputs", "gram"},
    "floats": {"names", "n", "outputs", "correlations", "radius"},
    "samples": {
        *("names", "n", "outputs", "correlations", "radius"),
        *("norms", "samples", "confidence", "bound", "seed"),
    },
}
_GIVEN = {
    "specs": "",
    "tables": "for the truth tables in the file: ",
    "integers": "given the Gram matrix in the file: ",
    "floats": "given the correlations in the file and their radius: ",
    "samples": "given the sampled correlations in the file, with confidence {}: ",
}


class FiniteEvidence:
    """What the evidence of a finite family's certificate proves; raises Refuted where nothing."""

    required = ("sq-dimension",)

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec and against itself."""
        found = _SPEC.fullmatch(spec)
        if not found:
            refuse(f"{spec[:80]!r} is no canonical name of a finite family")
        self._kind, self._d = found["kind"], int(found["d"])
        self._size, self._sha256 = int(found["members"]), found["sha256"]
        basis, given, centred = evidence["basis"], evidence["given"], evidence["centred"]
        if basis not in _FIELDS or (basis == "specs") != (self._kind == "specs"):
            refuse(f"its basis is {str(basis)[:40]!r}")
        wanted = {"basis", "centred", "given", "sha256", "dimension"}
        wanted |= ({"tables"} if basis == "tables" else set()) | (
            {"spread"} if self._size <= _SPECTRUM else set()
        )
        if set(evidence) != wanted or set(given) != _FIELDS[basis] or type(centred) is not bool:
            refuse(f"its evidence must be {', '.join(sorted(wanted))}, and all that is given there")
        text = json.dumps(given, sort_keys=True, separators=(",", ":"))
        if hashlib.sha256(text.encode()).hexdigest() != evidence["sha256"]:
            refuse("what is given does not match its hash")
        self._evidence, self._basis, self._centred = evidence, basis, centred
        self.statistical = basis == "samples"
        self.scope = scope(centred)
        self.words = quantities(self._kind, basis, centred)  # type: ignore[arg-type]
        self._pairs = self._from_specs(given) if basis == "specs" else self._from_points(given)
        self._where = _GIVEN[basis].format(given.get("confidence"))

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if self.statistical and given["confidence"] != self._evidence["given"]["confidence"]:
            refuse("the confidence is not that of the evidence")
        claims: dict[str, Callable[[fmpq, dict[str, str]], str]] = {
            "sq-dimension": self._dimension,
            "largest-correlation": self._largest,
            "average-correlation": self._average,
            "csq-queries": self._csq,
        }
        return self._where + claims[name](value, given)

    # What is known of the correlations.

    def _from_specs(self, given: dict[str, Any]) -> Pairs:
        specs = given["specs"]
        if hashlib.sha256("\n".join(specs).encode()).hexdigest() != self._sha256:
            refuse("the specs are not those of the certificate's name")
        if len(specs) > _MOST_SPECS:
            refuse(f"there are over {_MOST_SPECS} specs")
        profiles = []
        for text in specs:
            found = _LISTED.fullmatch(text)
            if not found or int(found["d"]) != self._d or int(found["m"]) > min(128, self._d - 1):
                refuse(f"{text[:80]!r} is no canonical spec of a symmetric family of d={self._d}")
            g, m = found["g"], int(found["m"])
            if (g is None) != text.startswith("parity") or (g and spelling(g) != g):
                refuse(f"{text[:80]!r} is not in its canonical form")
            values = profile(g, m) if g else [Fraction((-1) ** h) for h in range(m + 1)]
            profiles.append([fmpq(v.numerator, v.denominator) for v in values])
        if len({tuple(map(str, p)) for p in profiles}) != len(profiles) or not profiles:
            refuse("there are no specs, or two of the same functions")
        size = sum(math.comb(self._d - 1, len(p) - 1) for p in profiles)
        if size != self._size or size > _MOST_LISTED:
            refuse(f"the specs have not {self._size} members, or over {_MOST_LISTED}")
        require_memory(160 * size**2, f"the pairs of {size} members")
        pairs = UnionPairs(self._d - 1, profiles, self._centred)
        kinds = [(a, b) for a, b in pairs.products if a <= b]
        if [p["families"] for p in given["products"]] != [list(k) for k in kinds]:
            refuse("the products are not those of all pairs of specs")
        for one, kind in zip(given["products"], kinds, strict=True):
            if set(one) != {"families", "values"} or any(type(a) is not int for a in kind):
                refuse("a product must have families and values")
            if [rational(v) for v in one["values"]] != pairs.products[kind]:
                refuse("the products of the evidence are not those of the specs")
        return pairs

    def _from_points(self, given: dict[str, Any]) -> Pairs:
        names = given["names"]
        if len(names) != self._size or len(set(names)) != len(names):
            refuse(f"there are not {self._size} members with different names")
        wanted = (self._d, 1) if self._kind == "functions" else (2 * self._d, 2 * self._d)
        if (given["n"], given["outputs"]) != wanted or type(given["n"]) is not int:
            refuse("the points are not those of d coordinates")
        require_memory(200 * self._size**2, f"the pairs of {self._size} members")
        if self._basis in ("tables", "integers"):
            gram = read_square(given["gram"], self._size, 1, int)
            if self._basis == "tables":
                again = gram_of_tables(self._evidence["tables"], self._size, self._d)
                if (again != gram).any():
                    refuse("the Gram matrix is not that of the truth tables")
            return IntegerPairs(gram, self._centred)
        correlations = read_square(given["correlations"], self._size, 0, float)
        np.fill_diagonal(correlations, 1.0)
        if type(given["radius"]) is not float:
            refuse("the radius is no number")
        if self.statistical:
            check_radius(correlations, given, self._centred)
        return FloatPairs(correlations, given["radius"])

    # The claims.

    def _dimension(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        shown = self._evidence["dimension"]
        if set(shown) != {"members", "upper"} or integer(given["members"]) != self._size:
            refuse("the dimension must have members and upper, of all members there are")
        chosen = [number(i, 0, self._size - 1, "a member") for i in shown["members"]]
        if len(chosen) != lower or chosen != sorted(set(chosen)) or not 1 <= lower <= upper:
            refuse("the members shown are not as many as SQ-DIM claims, in order")
        if not self._pairs.within(lower, True)[np.ix_(chosen, chosen)].all():
            refuse(f"two of the members shown may have a correlation above 1/{lower}")
        proof = shown["upper"]
        at = number(proof["at"], 2, self._size + 1, "the number that is ruled out")
        if at != upper + 1:
            refuse(f"what is ruled out is not {upper} + 1 members")
        why = {"colouring": self._colouring, "spectrum": self._spectrum, "search": self._search}
        said = why[proof["kind"]](at, proof)
        if lower == upper:
            return f"SQ-DIM of {self._size} members is exactly {lower}; no more, by {said}"
        return f"SQ-DIM of {self._size} members is between {lower} and {upper}; no more, by {said}"

    def _colouring(self, at: int, proof: dict[str, Any]) -> str:
        classes = proof["classes"]
        every = [number(i, 0, self._size - 1, "a member") for c in classes for i in c]
        if set(proof) != {"kind", "at", "classes"} or sorted(every) != list(range(self._size)):
            refuse("the classes do not hold every member once")
        if len(classes) >= at:
            refuse(f"there are not fewer than {at} classes")
        maybe = self._pairs.within(at, False) & ~np.eye(self._size, dtype=bool)
        if any(maybe[np.ix_(c, c)].any() for c in classes if len(c) > 1):
            refuse(f"two members of a class may have a correlation of at most 1/{at}")
        many = "one class" if len(classes) == 1 else f"{len(classes)} classes"
        return f"{many} of members too close"

    def _spectrum(self, at: int, proof: dict[str, Any]) -> str:
        if set(proof) != {"kind", "at", "level", "eigenvalues"} or self._size > _SPECTRUM:
            refuse("a spectrum must have a level and eigenvalues, of at most 3000 members")
        if len(proof["eigenvalues"]) != at:
            refuse(f"there are not {at} eigenvalues")
        pairs = self._pairs
        ends = check_upper_ends(proof["eigenvalues"], pairs.correlations, pairs.radius)
        check_level(proof["level"], ends)
        return "the eigenvalues"

    def _search(self, at: int, proof: dict[str, Any]) -> str:
        if set(proof) != {"kind", "at"}:
            refuse("a search must have nothing but what is ruled out")
        if has_clique(self._pairs.within(at, False), at):
            refuse(f"{at} members may have pairwise correlations of at most 1/{at}")
        return "a search"

    def _largest(self, value: fmpq, given: dict[str, str]) -> str:
        low, high = _python(value), fraction(given["upper"])
        square, ends = self._pairs.largest()
        if square is None:
            _check_ends(low, high, ends, "the largest correlation")
        elif not low**2 <= square <= high**2 or (low, high) != _root_ends(square):
            refuse("the largest correlation is not the one claimed")
        return f"two different members have correlation at most {_short(high)} in absolute value"

    def _average(self, value: fmpq, given: dict[str, str]) -> str:
        low, high = _python(value), fraction(given["upper"])
        exact, ends = self._pairs.average()
        if exact is None:
            _check_ends(low, high, ends, "the average correlation")
        elif (low, high) != (exact, exact):
            refuse("the average correlation is not the one claimed")
        between = f"{_short(low)}" if low == high else f"between {_short(low)} and {_short(high)}"
        return f"the average absolute correlation is {between}"

    def _csq(self, value: fmpq, given: dict[str, str]) -> str:
        if self._size > _SPECTRUM:
            refuse(f"there is no bound on queries for over {_SPECTRUM} members")
        tau, risk, success = (fraction(given[k]) for k in ("tau", "risk", "success"))
        if not (0 < tau <= 1 and 0 <= risk < 1 and 0 < success <= 1):
            refuse("tau, risk or success is out of range")
        pairs = self._pairs
        top, least, mean = check_spread(self._evidence["spread"], pairs.correlations, pairs.radius)
        # A hypothesis fits K members only if K (least - risk mean) <= lambda.
        room = least - risk * mean
        right = min(self._size, math.floor(top / room)) if room > 0 else self._size
        goal = Goal(
            missing=success * self._size - right,
            words=f"for relative risk {risk} with success probability {success}",
        )
        goal.require_least(_whole(value), Fraction(top, UNIT) / tau**2)
        return f"at least {value} correlational queries within {tau} must be allowed {goal.words}"


def _check_ends(low: Fraction, high: Fraction, ends: Ends, what: str) -> None:
    """Ends on a grid must hold what was found, and be the nearest that do."""
    step, slack = Fraction(1, _GRID), Fraction(1, 10**12)
    if _GRID % low.denominator or _GRID % high.denominator or not 0 <= low <= high <= 1:
        refuse(f"{what} is not between two multiples of 1/{_GRID} in 0..1")
    if low > max(ends[0], Fraction(0)) or high < min(ends[1], Fraction(1)):
        refuse(f"{what} may be outside of what is claimed")
    if low + step <= ends[0] - slack or high - step >= ends[1] + slack:
        refuse(f"{what} is known better than claimed")


def _root_ends(square: Fraction) -> tuple[Fraction, Fraction]:
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root**2 == square:
        return root, root
    low = Fraction(math.isqrt(math.floor(square * _GRID**2)), _GRID)
    return low, low + Fraction(1, _GRID)


def _whole(value: fmpq) -> int:
    if value.q != 1:
        refuse("an integer is needed")
    return int(value.p)


def _python(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _short(value: Fraction) -> str:
    text = str(value)
    return text if len(text) <= 12 else f"about {float(value):.6g}"
