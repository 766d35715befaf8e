"""What is true of a problem of a certificate, found in another way than the kernel's and makers'.

By closed forms, and by enumeration of all points and of all sets of members, for hidden sets,
residues, listed functions and directions: from the problem alone.
"""

import itertools
import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
from scipy.special import roots_chebyt as chebyshev
from scipy.special import roots_gegenbauer as gauss_gegenbauer
from scipy.stats import beta

from tests import closed

Json = Any


class TooMany(Exception):
    """A law has too many vectors to be enumerated."""


_NEAR = Fraction(1, 10**9)
_ENDLESS = 10**10_000  # queries, where no number of them is enough
_EXACT = {
    *("pairwise-correlation", "largest-correlation", "average-correlation", "operator-norm"),
    *("second-eigenvalue", "cross-predictability", "low-degree-advantage"),
    "low-degree-advantage-open",
}


def enumerated(sizes: np.ndarray, name: str, gamma: float) -> float | None:
    """Find a quantity of members by |correlations| of all pairs; None where it has no such sense.

    SQ-DIM and SDA by all sets of members: of at most 20.
    """
    size, most = len(sizes), gamma + 1e-12
    off = sizes - np.diag(np.diagonal(sizes))
    match name:
        case "pairwise-correlation" | "largest-correlation":
            return float(off.max())
        case "average-correlation":
            return float(sizes.mean())
        case "cross-predictability":
            return float((sizes**2).mean())
        case "operator-norm":
            return float(np.linalg.eigvalsh(sizes)[-1])
        case "second-eigenvalue":
            away = np.eye(size) - 1 / size
            return float(np.linalg.eigvalsh(away @ sizes @ away)[-1])
        case "sq-dimension" if size <= 20:
            return _dimension(size, off.tobytes())
        case "sda-all-subsets" if size <= 20:
            averages = _averages(size, sizes.tobytes())
            good = [s for s in range(1, size + 1) if max(averages[s:]) <= most]
            # Sets of at least N/q members: those of ceil(N/q) and more.
            return max((q for q in range(1, size + 1) if -(-size // q) in good), default=0)
    return None


@cache
def _members(n: int, profile: tuple[Fraction, ...]) -> Any:
    """The Gram matrix of all members less the mean of g, scaled to norm 1."""
    points = np.array(list(itertools.product((0, 1), repeat=n)))
    values = np.array([float(v) for v in profile])
    sets = itertools.combinations(range(n), len(profile) - 1)
    rows = np.array([values[points[:, list(s)].sum(axis=1)] for s in sets])
    rows -= rows.mean(axis=1, keepdims=True)
    rows /= np.sqrt((rows**2).mean(axis=1, keepdims=True))
    return rows @ rows.T / rows.shape[1]


@cache
def _averages(count: int, matrix: bytes) -> list[float]:
    """The largest average correlation of sets of each size, 0 .. N, over all sets."""
    gram = np.frombuffer(matrix).reshape(count, count)
    out = [-1.0] * (count + 1)
    for start in range(1, 1 << count, 1 << 14):
        masks = np.arange(start, min(start + (1 << 14), 1 << count))
        rows = (masks[:, None] >> np.arange(count) & 1).astype(np.float64)
        sizes = rows.sum(axis=1)
        found = ((rows @ gram) * rows).sum(axis=1) / sizes**2
        for size in set(sizes.astype(int).tolist()):
            out[size] = max(out[size], float(found[sizes == size].max()))
    return out


@cache
def _dimension(count: int, matrix: bytes) -> int:
    """The largest k with k members of pairwise correlations of at most 1/k, by all cliques."""
    off, apart = np.frombuffer(matrix).reshape(count, count), ~np.eye(count, dtype=bool)
    for k in range(count, 1, -1):
        graph = nx.from_numpy_array((off <= 1 / k + 1e-12) & apart)
        if max(map(len, nx.find_cliques(graph))) >= k:
            return k
    return 1


# Of certificates: from their problem alone, whatever they are said to be about.


def falsehood(data: Json) -> str | None:
    """Say what of an accepted file is not so; None where all is, or more."""
    for name, _, value, upper, low, high in _compared(data):
        less = name.endswith(("-success", "-at-most"))  # less claims more
        if value < low if less else value > low + _NEAR:
            return f"{name} is claimed as {value}, it is {low}"
        if upper is not None and upper < high - _NEAR:
            return f"{name} is claimed as at most {upper}, it is {high}"
        end = value if upper is None else upper
        if name in _EXACT and not value - _NEAR <= low <= end + _NEAR:
            return f"{name} is claimed as {value}, it is {low}"
    return None


_BRACKETED = {"sq-dimension", "sda-all-subsets", "random-members"}


def of_problem(problem: Json) -> Any:
    """Find what is true of members, and whether claims should be no weaker: `sharp`."""
    kinds = {"hidden-set": _Hidden, "residues": Residues, "direction": _Direction}
    return kinds.get(problem["kind"], _Listed)(problem)


def blunt(data: Json) -> list[str]:
    """Name the claims of a certificate that are weaker than what is found here, but rounded."""
    weak, truth = [], of_problem(data["problem"])
    parity = getattr(truth, "parity", False)
    if parity and "code" in data["witness"]:
        return []  # a profile is not known to be a parity, of which one fewer is fitted
    for name, terms, value, _, low, _ in _compared(data) if truth.sharp else ():
        if name.startswith("kernel") and (parity or isinstance(truth, _Listed)):
            continue  # one feature more may be needed; of listed ones the top eigenvalue counts
        if name == "vstat-queries" and int(terms["t"]) < 100:
            continue  # where 1/t is what counts, more is true
        if name in _BRACKETED and getattr(truth, "large", True):
            continue
        less, room = name.endswith(("-success", "-at-most")), 1 + Fraction(1, 10**5)
        if value > low * room + _NEAR if less else (value + _NEAR) * room < low:
            weak.append(f"{name} is claimed as {value}, it is {low}")
    return weak


def _compared(data: Json) -> Iterator[tuple[str, Json, Fraction, Fraction | None, Any, Any]]:
    """Yield of each claim its terms, value and upper end, and the value and end found here."""
    truth = of_problem(data["problem"])
    for name, terms, value in data["claims"]:
        upper = _read(terms["upper"]) if "upper" in terms else None
        yield name, terms, _read(value), upper, *truth.ends(name, terms)


def _read(text: str) -> Fraction:
    parts = [int(part, 0) for part in text.split("/")]
    return Fraction(*parts)


def _needed(name: str, terms: Json, size: int, levels: int, fits: int, caps: list[int]) -> Any:
    """What the theorem gives of so many members, with the least number that is ruled out."""
    success = Fraction(terms["success"]) if "success" in terms else Fraction(0)
    if name == "information-floor":
        assert terms["levels"] == str(levels), "labels have other values"
        return (found := closed.information_floor(size, success, fits, levels)), found
    if name.endswith("-success"):
        assert min(caps) == 0, "a query rules out members"
        return Fraction(min(fits, size), size), 0
    assert name.endswith("-queries"), f"nothing is known of {name}"
    least = closed.least_queries(min(caps), success * size - fits)
    return (_ENDLESS if least is None else least), 0


class _Hidden:
    """Hidden sets, by their members at all points, or by the makers' formulas."""

    sharp = True

    def __init__(self, problem: Json) -> None:
        self.n, self.values = problem["places"], tuple(_read(v) for v in problem["values"])
        noise, ends = _read(problem["noise"]), (max(self.values), min(self.values))
        self.half, self.fade = (ends[0] - ends[1]) / 2, 1 - 2 * noise
        self.scheme = closed.Johnson.of_values(self.values, self.n)
        self.large = self.scheme.size > 20
        self.family: Any = SimpleNamespace(values=self.values, noise=noise, centre=sum(ends) / 2)
        self.parity = all(v == (-1) ** h for h, v in enumerate(self.values))
        self.alone, self.levels = "view" not in problem, len(set(self.values))

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        gamma = _read(terms["gamma"]) if "gamma" in terms else Fraction(0)
        scheme, small = self.scheme, self.n <= 10 and self.scheme.size <= 80
        if small and (found := enumerated(self.gram, name, float(gamma))) is not None:
            return Fraction(found), Fraction(found)
        exact = {
            **dict.fromkeys(
                ("pairwise-correlation", "largest-correlation"), scheme.correlations[-2]
            ),
            "average-correlation": scheme.average,
            "operator-norm": scheme.eigenvalues[0],
            "second-eigenvalue": scheme.spread,
            "cross-predictability": scheme.cross_predictability / scheme.norm,
        }
        if name in exact:
            return (value := exact[name] / scheme.norm), value
        if name == "sq-dimension":
            most = scheme.size if self.parity else closed.sq_dimension_most(scheme)
            return most, most
        if name == "sda-all-subsets":
            at_least, at_most = self.bad(gamma)
            size = scheme.size
            return (size - 1) // at_least if at_least else size, (size - 1) // max(at_most, 1)
        risk = _read(terms.get("risk", "0"))
        fits = closed.right_about(scheme, risk)
        fits = min(fits, math.floor(1 / (1 - risk))) if self.parity else fits
        if name.startswith("low-degree"):
            assert self.alone, "labels show more"
            return _ratio(name, terms, scheme, 2 * self.unit)
        if name.startswith(("kernel", "gd")):
            assert self.alone or name.startswith("gd"), "labels show more"
            assert len(set(self.values)) == 2 or name.startswith("kernel"), "labels are many"
            return _learned(name, terms, self.members(fits))
        caps = [] if name == "information-floor" else self.caps(name.partition("-")[0], terms)
        return _needed(name, terms, scheme.size, self.levels, fits, caps)

    @property
    def gram(self) -> np.ndarray:
        """Correlations of all pairs of members, none of them negative."""
        return _members(self.n, self.values)

    def bad(self, gamma: Fraction) -> tuple[int, int]:
        """Between what sizes the largest set of too large an average is, by linear programming."""
        scheme = self.scheme
        if scheme.average / scheme.norm > gamma:
            return scheme.size, scheme.size
        largest = closed.largest_set(scheme, gamma)
        return max(0, math.ceil(largest * (1 - 1e-7)) - 1), math.floor(largest * (1 + 1e-7))

    @property
    def unit(self) -> Fraction:
        """What a correlation is as one of laws of an example, relative to coins of its mean."""
        m = len(self.values) - 1
        mean = sum(math.comb(m, h) * v for h, v in enumerate(self.values)) / 2**m
        mean -= self.family.centre
        mean *= self.fade / self.half
        return Fraction(self.fade**2 / (2 * self.half**2 * (1 - mean**2)))

    def members(self, fits: int) -> Any:
        """What bounds on named learners follow from."""
        scheme = self.scheme
        values = scheme.eigenvalues[1:]
        less = scheme.norm - scheme.average
        square = max(values) / (4 * self.half**2)
        square = self.fade**2 * (Fraction(1, 4) if self.parity else square)
        counted = zip(values, scheme.multiplicities[1:], strict=True)
        return SimpleNamespace(
            tiers=[(Fraction(1, scheme.size), scheme.size)], fits=fits, square=square,
            spectrum=sorted(counted, reverse=True), public=0, least=less, scale=less,
        )  # fmt: skip

    def caps(self, oracle: str, terms: Json) -> list[int]:
        """What each argument says that one query rules out."""
        square = (self.fade / self.half) ** 2 * self.scheme.spread / 4
        if self.parity:
            square = self.fade**2 / 4
        assert oracle == "csq" or len(set(self.values)) == 2, "labels have more than two values"
        if oracle != "vstat":
            return [math.floor(square / _read(terms["tau"]) ** 2)]
        t = int(terms["t"])
        out = [math.floor(Fraction(3 * t, 4) * self.fade**2)] if self.parity else []
        out += [math.floor(t**2 * square / 4)]
        gamma = closed.labelled_gamma(self.family, self.scheme, t)
        if self.scheme.size <= 20:
            averages = _averages(self.scheme.size, self.gram.tobytes())
            far = [s for s, value in enumerate(averages) if value > float(gamma) + 1e-12]
            return [*out, max(far, default=0)]
        return [*out, self.bad(gamma)[0]]


def _learned(name: str, terms: Json, of: Any) -> tuple[Any, Any]:
    """What is said of kernels and gradient descent, by the law of members, exactly.

    tiers: how likely each of so many is, the likeliest first. Those above some chance are given to
    the learner: of all that may be, the chance that is best for the claim. chances: how likely a
    member is at most, and what is given away, where it is vectors that are given and not members.
    """
    given = {k: _read(v) for k, v in terms.items() if v != "any"}
    size, near = sum(count for _, count in of.tiers), 1 - Fraction(1, 10**10)
    tiers = of.tiers if len(of.tiers) == 1 else [(_digits(c), count) for c, count in of.tiers]
    lost = [Fraction(0), *itertools.accumulate(c * count for c, count in tiers)]
    parts = getattr(of, "chances", None) or [
        (chance, more) for (chance, _), more in zip(tiers, lost, strict=False)
    ]

    if name.startswith("kernel"):
        sums = [(v, n) for v, n in of.spectrum if v]
        if name == "kernel-error":
            left, best, found = int(given["features"]), [], Fraction(0)
            assert left <= size, "there are more features than members"
            left += of.public
            for value, count in sums:
                found, left = found + min(count, left) * value, left - min(count, left)
            for chance, more in parts:
                best.append(((1 - more) * of.least - chance * found) / of.scale)
            return max(Fraction(0), *best) * (1 if len(tiers) == 1 else 2 - near), 0
        wanted, left = Fraction(0), given["success"]
        for chance, count in tiers:
            here = min(Fraction(count), max(Fraction(0), left / chance))
            here = here if len(tiers) == 1 else Fraction(math.ceil(here))
            wanted, left = wanted + here, left - here * chance
        wanted *= max(Fraction(0), of.least - given["risk"] * of.scale)
        used = 0
        for value, count in sums:
            here = min(count, max(0, math.ceil(wanted / value)))
            used, wanted = used + here, wanted - here * value
        return max(0, used - of.public), 0
    steps = int(given.get("steps", 0))
    chances, needed = [], []
    for chance, more in parts:
        sure = min(Fraction(1), more + chance * of.fits)
        pace = given["clip"] ** 2 * of.square * chance / (2 * given["noise-std"]) ** 2
        grown = pace * steps
        chances.append(sure + min(Fraction(1), _rooted(grown)) * near if sure < 1 else Fraction(1))
        missing = max(Fraction(0), given.get("success", Fraction(0)) - sure) ** 2
        needed.append(math.ceil(missing / pace))
    if name.endswith("-success"):
        return min(Fraction(1), *chances) * near, 0
    return max(needed), 0


def _digits(value: Fraction) -> Fraction:
    """The first digits of a probability."""
    places = 30 + value.denominator.bit_length() * 3 // 10
    return Fraction(math.floor(value * 10**places), 10**places)


def _rooted(value: Fraction) -> Fraction:
    """A root of a number, from below."""
    return Fraction(math.isqrt(math.floor(value * 10**60)), 10**30)


def _ratio(name: str, terms: Json, scheme: Any, unit: Fraction) -> tuple[Any, Any]:
    """The low-degree ratio less 1, powers of polynomials one after the other, in fractions."""
    n, m = scheme.n, scheme.m
    given = {k: int(_read(v)) for k, v in terms.items() if v != "any"}
    degree = given["degree"]
    assert degree <= 200, "such a degree is not derived again"
    share = unit if name.endswith("-open") else unit / 2
    sums = [Fraction(0)] * (min(degree // 2, given.get("sample_degree", degree)) + 1)
    for t in range(1, m + 1):
        pairs = Fraction(math.comb(m, t) * math.comb(n - m, m - t), math.comb(n, m))
        first = {a + 1: share * math.comb(t, a) * scheme.weights[a] for a in range(1, t + 1)}
        power = {0: Fraction(1)}
        for i in range(1, len(sums)):
            grown: dict[int, Fraction] = {}
            for (e, v), (f, w) in itertools.product(power.items(), first.items()):
                if e + f <= degree and w:
                    grown[e + f] = grown.get(e + f, Fraction(0)) + v * w
            power = grown
            sums[i] += pairs * sum(power.values(), Fraction(0))

    def whole(examples: int) -> Fraction:
        return sum((math.comb(examples, i) * v for i, v in enumerate(sums) if i), Fraction(0))

    if "examples" not in given and "advantage" in name:
        assert not any(sums), "some number of examples is enough"
        return 0, 0
    if "advantage" in name:
        return (value := whole(given["examples"])), value
    assert any(sums), "no number of examples is enough"
    few, enough = 0, 1
    while whole(enough) < 1:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if whole(middle) >= 1 else (middle, enough)
    return enough, enough


class _Direction:
    """Hidden directions: norms by Gegenbauer polynomials and quadrature, pairs by the beta law."""

    sharp = True

    def __init__(self, problem: Json) -> None:
        self.n, self.m = problem["dimension"], len(problem["low"])
        self.low = [float(_read(v)) for v in problem["low"]]
        self.exact = [_read(v) for v in problem["low"]]
        self.fade = 1 - 2 * float(_read(problem["noise"]))
        r, weights = gauss_gegenbauer(200, self.n / 2 - 1) if self.n > 2 else chebyshev(200)
        weights = weights / weights.sum()
        shapes = [np.ones_like(r), r, (self.n * r**2 - 1) / (self.n - 1)]  # zonal harmonics
        norms = [[float(weights @ (r**k * one)) for one in shapes] for k in range(self.m + 2)]
        parts = [*self.low, 1.0]
        self.norm = sum(g * max(norms[k]) for k, g in enumerate(parts))
        self.rest = sum(g * max(norms[k][1:]) for k, g in enumerate(self.low) if k)
        self.rest += max(*norms[self.m][1:], *norms[self.m + 1][1:])

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        if name == "operator-norm-at-most":  # at most 1, as squares add up to 1
            return Fraction(min(self.norm, 1.0) * (1 - 1e-9)), 0
        if name == "second-eigenvalue-at-most":
            return Fraction(min(self.rest, 1.0) * (1 - 1e-9)), 0
        if name == "random-members":
            return self.drawn(float(_read(terms["probability"]))), 0
        if name == "sq-dimension-at-least":
            return self.listed(), 0
        room = 1 - Fraction(self.norm) - _read(terms["risk"])
        fits = Fraction(self.rest) / room if room > 0 else Fraction(1)
        if name.startswith("gd"):
            square, one = Fraction(self.fade**2 * self.rest * (1 - 1e-9)), [(Fraction(1), 1)]
            return _learned(name, terms, SimpleNamespace(tiers=one, fits=fits, square=square))
        if name == "information-floor":
            assert terms["levels"] == "2"
            wanted = float(_read(terms["success"]) / fits) * (1 + 1e-9)
            return max(0, math.ceil(math.log2(wanted))), 0
        oracle, moves = name.partition("-")[0], self.fade**2 * self.rest
        assert not name.endswith("-success"), "a query rules out some"
        cap = moves / float(_read(terms.get("tau", "1"))) ** 2
        if oracle == "vstat":
            t = int(terms["t"])
            cap = min(3 * t * self.fade**2 * self.norm / 2, t**2 * moves / 4)
        least = (float(_read(terms["success"])) - float(fits)) / cap
        return max(0, math.ceil(least * (1 + 1e-9))), 0

    def listed(self) -> int:
        """The most polynomials over a prime field that are far enough apart."""
        best = 1
        for q in range(2, self.n + 1):
            points = min(q, self.n // q)
            for degree in range(points if all(q % p for p in range(2, q)) else 0):
                r = Fraction(degree, points)
                near = sum(g * r**k for k, g in enumerate(self.exact)) + r**self.m
                best = max(best, min(q ** (degree + 1), math.floor(1 / near) if near else q))
        return best

    def drawn(self, sure: float) -> Fraction:
        """The most random directions that are near to none of the others so surely."""
        cosines = np.linspace(0, 1, 4001)[1:-1]
        pairs = np.maximum(1e-200, beta.sf(cosines**2, 1 / 2, (self.n - 1) / 2))
        near = sum(g * cosines**k for k, g in enumerate(self.low)) + cosines**self.m
        sizes = np.minimum(np.sqrt(2 * (1 - sure) / pairs) + 1, 1 / near)
        return Fraction(math.floor(float(sizes.max()) * (1 + 1e-3)) + 1)


class Residues:
    """Residues: members and their law by all vectors, or by all kinds of them where n is larger."""

    def __init__(self, problem: Json) -> None:
        self.problem, self.n, self.q, parts = problem, *(problem[k] for k in ("n", "q", "parts"))
        self.modulus = self.q if self.q % 2 else 2 * self.q // parts
        self.levels, self.rarest = parts, Fraction(1, parts)
        self.alone = self.modulus == 4 or (self.q % 2 == 1 and parts == self.q)
        self.law = _law(json.dumps([problem["secret"], self.n, self.q, self.modulus, self.alone]))
        even, uniform = len(self.law.tiers) == 1, problem["secret"]["entries"] is None
        self.sharp, self.large = even and (self.alone or uniform), False
        numbers, rest = 1 << problem["bits"], (1 << problem["bits"]) % self.q
        self.density = Fraction(1), Fraction(1)
        if self.q % 2:
            off = Fraction(self.n * rest, numbers), Fraction(self.n * (self.q - rest), numbers)
            self.density = 1 - off[0], 1 / (1 - off[1])
        self.square = Fraction(self.levels - 1)
        if problem["errors"] is not None:
            first, counts = problem["errors"]
            errors: Counter[int] = Counter()
            for e, count in enumerate(counts, first):
                errors[e % self.q] += int(count)
            self.square = self.q * Fraction(sum(c * c for c in errors.values()), 1 << 128) - 1

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        """What a claim is at most, and its upper end at least."""
        law, (least, most) = self.law, self.density
        apart = (most - least) / (most + least)
        if name == "orthogonal-members":
            assert int(terms["alike"]) >= law.alike, "more members are alike"
            seen = _orthogonal(json.dumps(self.problem))
            return min(law.size, law.size if seen is None else seen), law.secrets
        if name == "pairwise-correlation":
            return 0, apart
        if name == "sq-dimension":
            unlike = -(-law.size // law.alike)
            return min(unlike, math.floor(1 / apart) if apart else unlike), law.secrets
        room = least - _read(terms.get("risk", "0"))
        fits = law.alike * math.floor(most / room) if room > 0 else law.size
        if name == "information-floor":
            assert terms["levels"] == str(self.levels), "labels have other values"
            wanted, n = law.needed(_read(terms["success"])), 0
            while fits * self.levels**n < wanted:
                n += 1
            return n, n
        if name.startswith(("kernel", "gd")):
            sole = self.alone or law.units == 1 or len(law.tiers) == 1
            if not (sole or law.chances):
                raise TooMany
            drift = self.rarest * (1 - self.rarest) if self.levels == 2 else Fraction(1, 4)
            unlike = -(-law.size // law.alike)
            members = SimpleNamespace(
                tiers=law.tiers, chances=law.chances, fits=fits,
                square=most * self.square * drift,
                spectrum=[(most * law.alike, unlike)],
                public=1, least=least, scale=1,
            )  # fmt: skip
            return _learned(name, terms, members)
        even = Fraction(self.levels % 2, self.levels**2)
        spread = 4 * self.rarest * (1 - self.rarest) if self.levels == 2 else 1 - even
        moves, weight = most * self.square * spread / 4, most * self.square * (1 - self.rarest) / 2
        if "tau" in terms:
            cap = math.floor(moves / _read(terms["tau"]) ** 2)
        else:
            t = int(terms["t"])
            cap = min(math.floor(3 * t * weight), math.floor(t**2 * moves / 4))
        if name.endswith("-success"):
            assert cap == 0, "a query rules out members"
            return law.held(fits), 0
        assert name.endswith("-queries"), f"nothing is known of {name}"
        missing = law.needed(_read(terms["success"])) - fits
        return (max(0, math.ceil(Fraction(missing, cap))) if cap else _ENDLESS), 0


@dataclass(frozen=True, kw_only=True)
class _Law:
    """Of members by how likely they are: exactly, or none likelier than it is."""

    tiers: list[tuple[Fraction, int]]  # the likeliest first: probability of each, how many
    size: int
    alike: int
    secrets: int
    units: int
    chances: list[tuple[Fraction, Fraction]]  # where members are vectors: see _learned

    def needed(self, success: Fraction) -> int:
        """The least number of members with such a probability."""
        found, left = 0, success
        for chance, count in self.tiers:
            here = min(count, max(0, math.ceil(left / chance)))
            found, left = found + here, left - here * chance
            if left <= 0:
                return found
        return self.size

    def held(self, most: int) -> Fraction:
        """The probability of so many members, the likeliest."""
        total, left = Fraction(0), most
        for chance, count in self.tiers:
            total, left = total + chance * min(count, left), left - min(count, left)
        return total


@cache
def _law(text: str) -> _Law:
    secret, n, q, m, alone = json.loads(text)
    if n > 100:  # minutes, where a certificate takes a millisecond
        raise TooMany
    h, entries = secret["weight"], secret["entries"]
    drawn = dict.fromkeys(range(bool(h), q), 1)
    if entries is not None:
        drawn = {v: int(c) for v, c in enumerate(entries[1], entries[0]) if int(c)}
    if entries is None and not h:
        mass = Counter(dict.fromkeys(range(m), 1))
    elif entries is None:
        mass = Counter({v: q // m - (v == 0) for v in range(m)})
    else:
        mass = Counter()
        for v, count in drawn.items():
            mass[v % m] += count
    kinds = {v % q for v in drawn}
    dull = sum(math.gcd(v, q) > 1 for v in kinds)  # all secrets have a unit among their entries
    secrets = (math.comb(n, h) if h else 1) * (len(kinds) ** (h or n) - dull ** (h or n))
    units = [v for v in mass if mass[v] and math.gcd(v, m) == 1]
    vectors: list[list[int]] = []
    if m**n <= 5000:
        vectors = _by_vectors(n, h, m, mass, units, alone)
        found, size = Counter(map(sum, vectors)), len(vectors)
    else:
        found, size = _by_kinds(n, h, mass, units), _size(n, h, mass, units)
        if entries is None and not alone:  # each has as many multiples by a unit
            found = {one * len(units): count // len(units) for one, count in found.items()}
            size //= len(units)
    whole = sum(mass.values()) ** (h or n)
    whole -= sum(count for v, count in mass.items() if v not in units) ** (h or n)
    whole *= math.comb(n, h) if h else 1
    tiers = [(Fraction(one, whole), count) for one, count in sorted(found.items())[::-1]]
    alike = len(units) if alone else 1
    chances = [
        (_digits(Fraction(max(sum(v for v in one if v <= most) for one in vectors), whole)),
         Fraction(sum(v for one in vectors for v in one if v > most), whole))
        for most in sorted({v for one in vectors for v in one}, reverse=True)
    ]  # fmt: skip
    return _Law(
        tiers=tiers, size=size, alike=alike, secrets=secrets, units=len(units), chances=chances
    )


def _by_vectors(
    n: int, h: int, m: int, mass: Counter[int], units: list[int], alone: bool
) -> list[list[int]]:
    """How often each vector of each member is drawn: vectors mod m, or all multiples of one."""
    some = set(units)
    seen: dict[tuple[int, ...], list[int]] = {}
    for vector in itertools.product(range(m), repeat=n):
        if some.isdisjoint(vector):
            continue
        one = _drawn(vector, h, mass)
        if one:
            turns = [1] if alone else [u for u in range(m) if math.gcd(u, m) == 1]
            first = min(tuple(u * v % m for v in vector) for u in turns)
            seen.setdefault(first, []).append(one)
    return list(seen.values())


def _drawn(vector: tuple[int, ...], h: int, mass: Counter[int]) -> int:
    """How often a vector is drawn: with h, in all ways to place entries that are not 0 mod q."""
    zeros = vector.count(0)
    others = math.prod(mass[v] for v in vector if v)
    if not h:
        return others * mass[0] ** zeros
    more = h - (len(vector) - zeros)
    return others * math.comb(zeros, more) * mass[0] ** more if more >= 0 else 0


def _size(n: int, h: int, mass: Counter[int], units: list[int]) -> int:
    """How many vectors are drawn at all."""
    some, dull = (len([v for v in mass if v and mass[v] and (all_ or v not in units)])
                  for all_ in (True, False))  # fmt: skip
    if not h:
        return (some + (mass[0] > 0)) ** n - (dull + (mass[0] > 0)) ** n
    return sum(
        math.comb(n, j) * (some**j - dull**j)
        for j in range(1, h + 1)
        if j == h or mass[0]
    )  # fmt: skip


def _by_kinds(n: int, h: int, mass: Counter[int], units: list[int]) -> Counter[int]:
    """The same without a list of vectors, by the products of masses that are not of 0.

    Of many products those of little mass are left out, and others rounded down.
    """
    some, dull = Counter[int](), Counter[int]()
    for v, count in mass.items():
        if v and count:
            (some if v in units else dull)[count] += 1
    having, lacking, out = Counter[int](), Counter({1: 1}), Counter[int]()
    for j in range(1, (h or n) + 1):
        having = _few(_times(having, some) + _times(having, dull) + _times(lacking, some))
        lacking = _few(_times(lacking, dull))
        rest = (h or n) - j
        ways = mass[0] ** rest * (math.comb(n - j, rest) if h else 1)
        for one, count in having.items() if ways else ():
            out[one * ways] += count * math.comb(n, j)
    return out


def _times(one: Counter[int], other: Counter[int]) -> Counter[int]:
    out: Counter[int] = Counter()
    for a, some in one.items():
        for b, more in other.items():
            out[a * b] += some * more
    return out


def _few(found: Counter[int], most: int = 1000) -> Counter[int]:
    if len(found) <= most:
        return found
    out: Counter[int] = Counter()
    for one, count in found.items():
        digits = max(0, one.bit_length() - 10)
        out[one >> digits << digits] += count
    kept = sorted(out.items(), key=lambda item: -item[0] * item[1])[:most]
    return Counter(dict(kept))


@cache
def _orthogonal(text: str) -> int | None:
    """How many secrets with a unit among their entries have orthogonal laws, at least."""
    problem = json.loads(text)
    n, q, parts, secret = (problem[k] for k in ("n", "q", "parts", "secret"))
    if q**n > 600:
        return None
    h, entries = secret["weight"], secret["entries"]
    values = {v % q for v in range(bool(h), q)}
    if entries is not None:
        values = {v % q for v, c in enumerate(entries[1], entries[0]) if int(c)}
        values |= {0} if h else set()
    elif h:
        values |= {0}
    points = np.array(list(itertools.product(range(q), repeat=n)))
    some = [s for s in itertools.product(sorted(values), repeat=n)
            if any(math.gcd(v, q) == 1 for v in s) and h in (0, n - s.count(0))]  # fmt: skip
    law = np.zeros((q, parts))
    for first, counts, *_ in [problem["errors"] or (0, ["1"])]:
        for i, count in enumerate(counts):
            for t in range(q):
                law[t, (t + first + i) % q * parts // q] += int(count)
    law /= law.sum(axis=1, keepdims=True)
    law = (law / law.mean(axis=0) - 1) * np.sqrt(law.mean(axis=0))
    rows = law[points @ np.array(some).T % q].transpose(1, 0, 2).reshape(len(some), -1)
    gram = rows @ rows.T
    return nx.number_connected_components(nx.from_numpy_array(np.abs(gram) > 1e-9))


class _Listed:
    """Listed functions, at all points of the signs that they depend on, and by all sets of them."""

    sharp, large = True, False

    def __init__(self, problem: Json) -> None:
        tables, n = problem["tables"], problem["signs"]
        if isinstance(tables[0], str):
            octets = [int(t, 16).to_bytes(max(1, 1 << n >> 3), "little") for t in tables]
            bits = np.unpackbits(np.array([[*row] for row in octets], np.uint8), axis=1,
                                 bitorder="little")[:, : 1 << n]  # fmt: skip
            rows = 1 - 2 * bits.astype(np.int64)
        else:
            used = sorted({j for on, _ in tables for j in on})
            points = list(itertools.product((0, 1), repeat=len(used)))
            rows = np.array([
                [values[sum(p[used.index(j)] << k for k, j in enumerate(on))] for p in points]
                for on, values in tables
            ], object)  # fmt: skip
        self.rows, count = rows, len(rows)
        self.two = bool((abs(rows) == 1).all())
        self.plain = self._correlations(rows)
        if problem["centred"]:
            rows = count * rows - rows.sum(axis=0)
        self.sizes = abs(self._correlations(rows))
        if not self.two:
            self.plain = self._correlations(rows)

    @staticmethod
    def _correlations(rows: np.ndarray) -> np.ndarray:
        gram = (rows @ rows.T).astype(float)
        return gram / np.sqrt(np.outer(np.diagonal(gram), np.diagonal(gram)))

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        """The value, at most, and its upper end, at least."""
        size = len(self.sizes)
        known = enumerated(self.sizes, name, float(Fraction(terms.get("gamma", "0"))))
        if known is not None:
            return known, known
        away = np.eye(size) - 1 / size
        less = away @ self.plain @ away
        top = float(np.linalg.eigvalsh(less)[-1])
        if name.startswith(("gd", "kernel")):
            assert self.two
            norms, risk = np.diagonal(less), float(Fraction(terms.get("risk", "0")))
            room = norms.min() - risk * norms.mean()
            fits = min(size, math.floor(top / room * (1 + 1e-9))) if room > 0 else size
            values = np.linalg.eigvalsh(less)[::-1].clip(0)
            members = SimpleNamespace(
                tiers=[(Fraction(1, size), size)], fits=fits, square=Fraction(top * (1 - 1e-9)),
                spectrum=[(Fraction(v * (1 - 1e-9)), 1) for v in values], public=0,
                least=Fraction(norms.mean() if name == "kernel-error" else norms.min()),
                scale=Fraction(norms.mean()),
            )  # fmt: skip
            return _learned(name, terms, members)
        room = np.diagonal(less).min() - float(Fraction(terms["risk"])) * np.diagonal(less).mean()
        right = min(size, math.floor(top / room * (1 + 1e-12))) if room > 0 else size
        wanted = Fraction(terms.get("success", 1)) * size
        if name == "information-floor":
            floor = next(n for n in range(size + 1) if max(right, 1) * 2**n >= wanted)
            return floor, floor
        if name.startswith("vstat"):
            t = int(terms["t"])
            moves = t * t * top / 4
        else:
            moves = top / float(Fraction(terms["tau"])) ** 2
        cap = math.floor(moves * (1 + 1e-12))
        if name.endswith("-success"):
            return (1.0 if cap else right / size), 0.0
        found = max(0, math.ceil((wanted - right) / cap)) if cap else math.inf
        return found, found
