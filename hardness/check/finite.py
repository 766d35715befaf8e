"""Re-derives the claims of a finite family's certificate.

Correlations come from truth tables by their Walsh-Hadamard spectra, or from specs by averages over
coins; where the file gives neither, its Gram matrix is taken as given: the verdict says so first.
A name ends with the SHA-256 of what stands for the members: specs, tables or products.
Members that were chosen are compared pair by pair. That no more of them exist follows from classes
of members, from eigenvalues, or from a search of the checker's own.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.check.cliques import has_clique
from hardness.check.domain import check_floats, check_integers
from hardness.check.goal import Goal
from hardness.check.matrices import check_radius, read_square
from hardness.check.pairs import Ends, FloatPairs, IntegerPairs, Pairs, UnionPairs
from hardness.check.reading import fraction, integer, listed, number, rational, refuse
from hardness.check.spec import read_family
from hardness.check.spectra import (
    UNIT,
    check_level,
    check_spread,
    check_upper_ends,
    check_weighted,
)
from hardness.check.subsets import average_of, closest_average, most_average
from hardness.check.tables import gram_of_tables, read_tables
from hardness.claims.finite import (
    MOST_COORDINATES,
    MOST_LISTED,
    MOST_MEMBERS,
    MOST_SPECS,
    MOST_SPECTRUM,
    quantities,
    scope,
)
from hardness.claims.words import digits
from instances.capabilities import SCHEME
from instances.limits import require_memory
from instances.strict import shown
from instances.threshold import python_fraction
from instances.userfile import NAME, fits_name

_SPEC = re.compile(
    r"(?P<kind>functions|layers|factors|specs):d=(?P<d>[1-9]\d{0,8}),members=(?P<members>[1-9]\d{0,8}),"
    r"sha256=(?P<sha256>[0-9a-f]{64})",
    re.ASCII,
)
_GRID = 10**9
_UNIT, _EXACT = 2.0**-53, 2**53
_FIELDS = {
    "specs": {"specs", "products"},
    "tables": {"names", "n", "outputs"},
    "integers": {"names", "n", "outputs", "gram", "signs"},
    "floats": {"names", "n", "outputs", "correlations", "radius"},
    "samples": {
        *("names", "n", "outputs", "correlations", "radius"),
        *("norms", "samples", "confidence", "bound", "seed"),
    },
}
_ASSUMED = {
    "specs": "",
    "tables": "",
    "integers": "the Gram matrix in the file",
    "floats": "the correlations in the file and their radius",
    "samples": "the sampled correlations in the file (confidence {})",
}


class FiniteMembers:
    """The members that a certificate holds, or what it holds of them; raises Refuted.

    pairs: their correlations, less their mean where centred. Of members -1 and +1 also
    correlations: (M, M), of the functions as they are; gram: the same as integers; tables: (M, 2^n)
    where there are any. same: whether they are one function.
    """

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec and against itself."""
        found = _SPEC.fullmatch(spec)
        if not found:
            refuse(f"{shown(spec, 80)} is not a canonical name of a finite family")
        self.kind: Any = found["kind"]
        self.d = int(found["d"])
        self.size, self.sha256 = int(found["members"]), found["sha256"]
        basis, given, centred = evidence["basis"], evidence["given"], evidence["centred"]
        if basis not in _FIELDS or (basis == "specs") != (self.kind == "specs"):
            refuse(f"its basis is {shown(basis)}")
        if set(given) != _FIELDS[basis] or type(centred) is not bool:
            refuse(
                f"what is given must be {', '.join(sorted(_FIELDS[basis]))}, "
                "or centred is neither true nor false"
            )
        origin = evidence["origin"]
        if set(origin) - {"of"} != {"path"} | ({"sha256"} if basis != "specs" else set()):
            refuse("its origin must be a path and, but for specs, the SHA-256 of what is there")
        chosen = "of" in origin
        if chosen and (basis == "specs" or not integer(origin["of"]) > self.size):
            refuse("the family that its members are chosen from is no larger")
        if not all(map(fits_name, origin.values())):
            refuse(f"a name of its origin is not {NAME}")
        self.evidence, self.basis, self.centred = evidence, basis, centred
        self.chosen = chosen
        self.statistical = basis == "samples"
        self.correlations: NDArray[np.float64] | None = None
        self.gram: NDArray[np.int64] | None = None
        self.tables: NDArray[np.float64] | None = None
        self.sizes: NDArray[np.int64] | None = None  # of their inner products, if of one norm
        self.same = False
        self.pairs = self._from_specs(given) if basis == "specs" else self._from_points(given)
        self.assumed = _ASSUMED[basis].format(given.get("confidence"))
        if basis == "integers" and self.correlations is not None:
            self.assumed += " and that its members are -1 and +1"

    def require_evidence(self, more: set[str]) -> None:
        """Refuse evidence of other fields than the members' and these."""
        wanted = {"basis", "centred", "given", "origin", *more}
        wanted |= {"tables"} if self.basis == "tables" else set()
        if set(self.evidence) != wanted:
            refuse(f"its evidence must be {', '.join(sorted(wanted))}")

    def said(self, statement: str) -> str:
        """Put before a statement what it is proved of, or given."""
        tables = "for the truth tables in the file: " if self.basis == "tables" else ""
        return (f"given {self.assumed}: " if self.assumed else tables) + statement

    # What is known of the correlations.

    def _from_specs(self, given: dict[str, Any]) -> Pairs:
        specs = listed(given["specs"])
        if hashlib.sha256("\n".join(specs).encode()).hexdigest() != self.sha256:
            refuse("the specs are not those of the certificate's name")
        if len(specs) > MOST_SPECS:
            refuse(f"there are over {MOST_SPECS} specs")
        profiles = []
        for text in specs:
            family = read_family(text, SCHEME)
            if family.d != self.d or family.noise:
                refuse(f"{text[:80]} has another d than {self.d}, or noise")
            profiles.append([fmpq(v.numerator, v.denominator) for v in family.values])
        if len({tuple(map(str, p)) for p in profiles}) != len(profiles) or not profiles:
            refuse("there are no specs, or two of the same functions")
        size = sum(math.comb(self.d - 1, len(p) - 1) for p in profiles)
        if size != self.size or size > MOST_LISTED:
            refuse(f"the specs have not {self.size} members, or over {MOST_LISTED}")
        require_memory(160 * size**2, f"the pairs of {size} members")
        pairs = UnionPairs(self.d - 1, profiles, self.centred)
        kinds = [(a, b) for a, b in pairs.products if a <= b]
        products = listed(given["products"])
        if [[*map(repr, p["families"])] for p in products] != [[*map(repr, k)] for k in kinds]:
            refuse("the products are not those of all pairs of specs")
        for one, kind in zip(products, kinds, strict=True):
            if set(one) != {"families", "values"} or type(one["families"]) is not list:
                refuse("a product must have families and values")
            if [rational(v) for v in listed(one["values"])] != pairs.products[kind]:
                refuse("the products of the evidence are not those of the specs")
        return pairs

    def _from_points(self, given: dict[str, Any]) -> Pairs:
        tables, names = self.evidence.get("tables", {}), listed(given["names"])
        text = json.dumps({"given": given, "tables": tables}, sort_keys=True, separators=(",", ":"))
        if hashlib.sha256(text.encode()).hexdigest() != self.sha256:
            refuse("what is given of the members is not what the certificate's name stands for")
        if len(names) != self.size or len(set(names)) != len(names) or len(names) > MOST_MEMBERS:
            refuse(f"there are not {self.size} members with different names, up to {MOST_MEMBERS}")
        if not all(map(fits_name, names)):
            refuse(f"the name of a member is not {NAME}")
        n, outputs = (self.d, 1) if self.kind != "layers" else (2 * self.d, 2 * self.d)
        if self.kind == "factors":
            n = number(given["n"], 1, MOST_COORDINATES, "the number of signs")
        for key, wanted in (("n", n), ("outputs", outputs)):
            number(given[key], wanted, wanted, f"{key} of {self.d} coordinates")
        if not self.statistical and n > MOST_COORDINATES:
            refuse(f"2^{n} points are not enumerated: at most 2^{MOST_COORDINATES} are")
        require_memory(200 * self.size**2, f"the pairs of {self.size} members")
        values = outputs << min(n, 64)  # of a member on all points, or more than can be
        if self.basis in ("tables", "integers"):
            gram = self._read_gram(given, tables, n, values)
            if int(np.diagonal(gram).max()) >= _EXACT:
                refuse("a norm is beyond what is added up exactly")
            self.same = bool((gram == gram[0, 0]).all())
            pairs = IntegerPairs(gram, self.centred)
            self.sizes = pairs.sizes if self.correlations is not None else None
            return pairs
        correlations = read_square(given["correlations"], self.size, 0, float)
        np.fill_diagonal(correlations, 1.0)
        radius = given["radius"]
        if type(radius) is not float or not 8 * _UNIT <= radius < math.inf:
            refuse("the radius is not a number, or less than rounding leaves")
        if self.statistical:
            check_radius(correlations, given, self.centred)
            # On the points that were drawn they are inner products, up to the rounding of sums.
            least, most = min(given["norms"]), given["bound"] ** 2
            rounding = (given["samples"] * outputs + 64 * self.size) * max(1.0, most / least)
            slack, values = 16 * _UNIT * rounding, min(values, given["samples"] * outputs)
        else:
            slack = radius
        check_floats(correlations, values, self.size * slack)
        return FloatPairs(correlations, radius)

    def _read_gram(
        self, given: dict[str, Any], tables: dict[str, Any], n: int, values: int
    ) -> NDArray[np.int64]:
        """Read the Gram matrix, or find it from the tables; see whether members are -1 and +1."""
        if self.basis == "tables":
            found = read_tables(tables, self.size, n)
            gram = gram_of_tables(found)
            signs = tables["encoding"] == "bits"
            self.tables = found if signs else None
        else:
            gram, signs = read_square(given["gram"], self.size, 1, int), given["signs"]
            check_integers(gram, values)
            if type(signs) is not bool:
                refuse("whether members are -1 and +1 is not said")
            odd = (gram - values) % 2 != 0
            if signs and (given["outputs"] > 1 or (np.diagonal(gram) != values).any() or odd.any()):
                refuse("members of -1 and +1 do not have this Gram matrix")
        if signs:
            self.correlations, self.gram = gram / values, gram
        return gram

    # What bounds queries and hypotheses.

    @cached_property
    def spread(self) -> tuple[int, int, int]:
        """Upper end of the eigenvalue, lower of the least norm, upper of the mean; verified."""
        if "spread" not in self.evidence:
            refuse("there is no claim about queries or examples: see its scope")
        if self.correlations is not None:
            return check_spread(self.evidence["spread"], self.correlations, 0.0)
        pairs = self.pairs
        return check_spread(self.evidence["spread"], pairs.correlations, pairs.radius)

    def goal(self, given: dict[str, str]) -> Goal:
        """Read risk and success, and count the members that one hypothesis can fit."""
        top, least, mean = self.spread
        risk = fraction(given["risk"])
        # A hypothesis fits K members only if K (least - risk mean) <= lambda.
        room = least - risk * mean
        right = min(self.size, math.floor(top / room)) if room > 0 else self.size
        return Goal(self.size, right, given)

    def floor(self, value: fmpq, given: dict[str, str]) -> str:
        """Verify the examples that any learner needs."""
        if integer(given["levels"]) != 2:
            refuse("a label takes one of 2 values")
        return self.goal(given).floor(_whole(value), 2)


class FiniteEvidence(FiniteMembers):
    """What the evidence of a finite family's certificate proves; raises Refuted where nothing."""

    def __init__(self, spec: str, evidence: dict[str, Any]) -> None:
        """Verify the evidence against the spec and against itself."""
        super().__init__(spec, evidence)
        signs = self.correlations is not None
        spread = self.size <= MOST_MEMBERS and not (self.same or self.statistical)
        fields = (
            ("sda", self.sizes is not None),
            ("spread", spread),
            ("weighted", signs and spread),
        )
        self.require_evidence({"dimension", *(key for key, there in fields if there)})
        self.required = ("sq-dimension", *(("information-floor",) if signs and spread else ()))
        self.scope = scope(self.basis, self.centred, signs, self.same)
        self.words = quantities(self.kind, self.basis, self.centred, signs, self.chosen)

    def statement(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        """Verify one claim and say it in the checker's own words."""
        if self.statistical and given["confidence"] != self.evidence["given"]["confidence"]:
            refuse("the confidence is not that of the evidence")
        claims: dict[str, Callable[[fmpq, dict[str, str]], str]] = {
            "sq-dimension": self._dimension,
            "largest-correlation": self._largest,
            "average-correlation": self._average,
            "sda-all-subsets": self._all_subsets,
            "sda-pair-events": self._pair_events,
            "information-floor": self.floor,
        }
        for oracle, verify in (("csq", self._csq), ("stat", self._csq), ("vstat", self._vstat)):
            for end in ("queries", "success"):
                claims[f"{oracle}-{end}"] = partial(verify, f"{oracle}-{end}")
        return self.said(claims[name](value, given))

    # The claims.

    def _dimension(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper = _whole(value), integer(given["upper"])
        shown = self.evidence["dimension"]
        if set(shown) != {"members", "upper"} or integer(given["members"]) != self.size:
            refuse("the dimension must have members and upper, of all members there are")
        chosen = [number(i, 0, self.size - 1, "a member") for i in listed(shown["members"])]
        if len(chosen) != lower or chosen != sorted(set(chosen)) or not 1 <= lower <= upper:
            refuse("the members shown are not as many as SQ-DIM claims, in order")
        if not self.pairs.within(lower, True)[np.ix_(chosen, chosen)].all():
            refuse(f"two of the members shown may have a correlation above 1/{lower}")
        proof = shown["upper"]
        at = number(proof["at"], 2, self.size + 1, "the number that is ruled out")
        if at != upper + 1:
            refuse(f"what is ruled out is not {upper} + 1 members")
        why = {"colouring": self._colouring, "spectrum": self._spectrum, "search": self._search}
        said = why[proof["kind"]](at, proof)
        if lower == upper:
            return f"SQ-DIM of {self.size} members is exactly {lower}; no more, by {said}"
        return f"SQ-DIM of {self.size} members is between {lower} and {upper}; no more, by {said}"

    def _colouring(self, at: int, proof: dict[str, Any]) -> str:
        classes = [listed(c) for c in listed(proof["classes"])]
        every = [number(i, 0, self.size - 1, "a member") for c in classes for i in c]
        if set(proof) != {"kind", "at", "classes"} or sorted(every) != list(range(self.size)):
            refuse("the classes do not hold every member once")
        if len(classes) >= at:
            refuse(f"there are not fewer than {at} classes")
        maybe = self.pairs.within(at, False) & ~np.eye(self.size, dtype=bool)
        if any(maybe[np.ix_(c, c)].any() for c in classes if len(c) > 1):
            refuse(f"two members of a class may have a correlation of at most 1/{at}")
        many = "one class" if len(classes) == 1 else f"{len(classes)} classes"
        return f"{many} of members too close"

    def _spectrum(self, at: int, proof: dict[str, Any]) -> str:
        if set(proof) != {"kind", "at", "level", "eigenvalues"} or self.size > MOST_SPECTRUM:
            refuse("a spectrum must have a level and eigenvalues, of at most 3000 members")
        if len(listed(proof["eigenvalues"])) != at:
            refuse(f"there are not {at} eigenvalues")
        pairs = self.pairs
        ends = check_upper_ends(proof["eigenvalues"], pairs.correlations, pairs.radius)
        check_level(proof["level"], ends)
        return "the eigenvalues"

    def _search(self, at: int, proof: dict[str, Any]) -> str:
        if set(proof) != {"kind", "at"}:
            refuse("a search must have nothing but what is ruled out")
        if has_clique(self.pairs.within(at, False), at):
            refuse(f"{at} members may have pairwise correlations of at most 1/{at}")
        return "a search"

    def _largest(self, value: fmpq, given: dict[str, str]) -> str:
        low, high = python_fraction(value), fraction(given["upper"])
        square, ends = self.pairs.largest()
        if square is None:
            _check_ends(low, high, ends, "the largest correlation")
        elif not low**2 <= square <= high**2 or (low, high) != _root_ends(square):
            refuse("the largest correlation is not the one claimed")
        most = _short(high, up=True)
        return f"two different members have correlation at most {most} in absolute value"

    def _average(self, value: fmpq, given: dict[str, str]) -> str:
        low, high = python_fraction(value), fraction(given["upper"])
        exact, ends = self.pairs.average()
        if exact is None:
            _check_ends(low, high, ends, "the average correlation")
        elif (low, high) != (exact, exact):
            refuse("the average correlation is not the one claimed")
        least, most = _short(low), _short(high, up=True)
        between = least if low == high else f"between {least} and {most}"
        return f"the average absolute correlation is {between}"

    def _all_subsets(self, value: fmpq, given: dict[str, str]) -> str:
        lower, upper, gamma = _whole(value), integer(given["upper"]), fraction(given["gamma"])
        above = [number(i, 0, self.size - 1, "a member") for i in listed(self.evidence["sda"])]
        if above != sorted(set(above)):
            refuse("the members of high average are not in order")
        sizes = self._required_sizes()
        if above and not average_of(sizes, above) > gamma:
            refuse(f"the members shown do not have an average above {gamma}")
        if upper != ((self.size - 1) // len(above) if above else self.size):
            refuse(f"{upper} is not the end that the members shown give")
        if lower > self.size:
            refuse("q is above the number of members")
        # Sets of at least N/q members are good, and the argument gives no more.
        if lower and not most_average(sizes, -(-self.size // lower)) <= gamma:
            refuse(f"sets of N/{lower} members may have an average above {gamma}")
        if lower < self.size and most_average(sizes, -(-self.size // (lower + 1))) <= gamma:
            refuse(f"{lower} is less than the argument gives")
        if lower == 0:
            return f"all members together may have an average correlation above {gamma}"
        return f"every set of N/{lower} members or more has average correlation at most {gamma}" + (
            "; no larger q will do" if lower == upper else f"; q = {upper + 1} will not do"
        )

    def _pair_events(self, value: fmpq, given: dict[str, str]) -> str:
        q, gamma, sizes = _whole(value), fraction(given["gamma"]), self._required_sizes()
        if not 0 <= q <= self.size:
            refuse("q is not between 0 and the number of members")
        if q and not closest_average(sizes, -(-(self.size**2) // q**2)) <= gamma:
            refuse(f"the closest N^2/{q}^2 pairs have average above gamma")
        if q < self.size and closest_average(sizes, -(-(self.size**2) // (q + 1) ** 2)) <= gamma:
            refuse(f"{q} is not the largest q: {q + 1} will do")
        if q == 0:
            return f"already all pairs together have average correlation above {gamma}"
        return (
            f"every set of N^2/{q}^2 pairs or more has average correlation at most {gamma}, and no "
            "larger q will do"
        )

    def _required_sizes(self) -> NDArray[np.int64]:
        if self.sizes is None:
            refuse("there is no claim about SDA for members of several norms")
        return self.sizes

    def _csq(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        tau = fraction(given["tau"])
        moves = Fraction(self.spread[0], UNIT) / tau**2
        csq = name.startswith("csq")
        what = f"correlational queries within {tau}" if csq else f"queries to STAT({tau})"
        return self.goal(given).statement(name, value, moves, what)

    def _vstat(self, name: str, value: fmpq, given: dict[str, str]) -> str:
        t, weighted = integer(given["t"]), self.evidence["weighted"]
        moves = Fraction(t, 2) ** 2 * Fraction(self.spread[0], UNIT)
        if self.tables is not None:
            weighted = check_weighted(weighted, self.tables)
            moves = min(moves, Fraction(3 * t, 2) * Fraction(weighted, UNIT))
        elif weighted is not None:
            refuse("without truth tables no weighted eigenvalue can be verified")
        return self.goal(given).statement(name, value, moves, f"queries to VSTAT({t})")


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


def _short(value: Fraction, up: bool = False) -> str:
    text = str(value)
    return text if len(text) <= 12 else f"about {digits(text, up)}"
