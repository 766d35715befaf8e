"""Forged certificates: single changes of genuine ones, with every digest made to fit again.

`make forge` makes 100,000 of them over all kinds of certificate. What is accepted is derived again
in another way: by closed forms of the tests, and by enumeration of all points and of all sets of
members, for hidden sets, residues, listed functions and transcripts. It must give the same or
more. Of transcripts the change must be one that ACCEPTED explains. Of certificates the kernel
judges: claims must hold of the problem in the file, whatever family it is said to be about; and
half of the changes of problems and steps are followed by claims of all that it then finds proved.
"""

import argparse
import copy
import hashlib
import itertools
import json
import math
import os
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import networkx as nx
import numpy as np
from scipy.special import roots_chebyt as chebyshev
from scipy.special import roots_gegenbauer as gauss_gegenbauer
from scipy.stats import beta

from hardness.check import check, kernel
from hardness.lower import BoundParameters, certify, listed
from hardness.lower.learners import (
    BatchDescent,
    Kernel,
    LowDegree,
    NoisyDescent,
    RoundedDescent,
    WorstDescent,
    certify_named,
    certify_posed,
    pose_functions,
)
from hardness.lower.listed import certify_listed, digest_of
from hardness.lower.members import read_members
from hardness.lower.proof import Posed, Proof
from hardness.oracles import Budget, Character
from hardness.oracles.adversary import CertificateAdversary, ReferenceAdversary, StabbingAdversary
from hardness.oracles.budget import Meter
from hardness.oracles.query import Pool, Query
from instances import parse
from instances.errors import DamagedFile, Refuted, ToolkitError

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests import closed

Json = Any
Path_ = tuple[Any, ...]

SPECS = (
    "parity:d=6,m=2,noise=0.1",
    "parity:d=8,m=3",
    "profile:g=majority,d=7,m=2",
    "profile:g=[3,-1,-1,3],d=7,m=3,noise=0.2",
    "profile:g=parity+0.1*majority,d=7,m=2",
    "profile:g=[1,1,-1],d=6,m=2",
    "lwr:n=3,q=8,p=2,secret=binary",
    "lwr:n=3,q=8,p=4,secret=ternary",
    "lwr:n=3,q=8,p=2,secret=cbd,spread=1",
    "lwr:n=2,q=7,p=7",
    "lwe:n=2,q=7,error=cbd,eta=1",
    "lwe:n=2,q=23,sigma=1,secret=gaussian,spread=1",
    "lwe:n=2,q=8,error=uniform,width=2",
    "lwe:n=40,q=5,secret=gaussian,spread=1/4,error=none",
    "lpn:n=5,noise=0.1",
    "window:n=3,q=8,parts=4",
    "hardmax:d=7,m=2,g=majority",
    "parity_position:d=7,m=2,noise=0.1",
    "composed:d=7,m=2",
    "tokens3:d=7,m=2,noise=0.1",
    "hidden:d=7,hard=2,nice=1",
    "direction:m=3,d=32,noise=0.1",
    "direction:m=4,d=32,labels=raw",
)
# Laws that no family has: of q, n, how labels show it, how many entries are not 0, their law, and
# of the proof base, cut and weights.
LAWS: tuple[tuple[Any, ...], ...] = (
    (7, 3, "residue", 7, 0, [-1, ["1", "6", "3"]], "1/2", 1, [0, 1, 2]),
    (7, 4, "residue", 7, 2, [1, ["40", "20", "0", "1"]], "1/2", 0, [0, 1, 5]),
    (5, 8, "residue", 5, 0, [-1, ["1", "98", "1"]], "1/98", 1, [0, 1, 1]),
    (8, 2, "interval", 2, 0, [-2, ["1", "4", "6", "4", "1"]], "2/3", 1, [0, 1, 4, 4, 1]),
    (8, 4, "residue", 8, 0, [0, ["2", "3", "2"]], "3/4", 1, [0, 1]),
    (8, 3, "interval", 4, 2, None, "1", 0, []),
    (16, 3, "window", 4, 3, None, "1", 0, []),
    (7, 3, "window", 7, 2, [1, ["1", "1", "0", "1", "3"]], "1/3", 1, [1, 1, 1, 0]),
    (11, 2, "window", 11, 0, [-1, ["1", "1", "1"]], "1", 0, []),
    (64, 20, "interval", 8, 0, [-3, ["1", "6", "15", "20", "15", "6", "1"]], "3/4", 31,
     [0, 1, 4, 10, 10, 4, 1]),
)  # fmt: skip
BEYOND = ("hardmax", "parity_position", "composed", "tokens3", "hidden", "direction")
ASKED = (
    Kernel(features=3),
    NoisyDescent(steps=2, clip=Fraction(1), std=Fraction(3)),
    WorstDescent(steps=2, clip=Fraction(1), within=Fraction(3)),
    RoundedDescent(steps=1, clip=Fraction(1), grid=Fraction(9), parameters=2),
    BatchDescent(steps=1, batch=1, state_bits=1),
    LowDegree(degree=3, examples=4, sample_degree=2),
)
FUNCTIONS = """
import numpy as np

d = 3
signs = [lambda x: x[:, 0], lambda x: x[:, 1], lambda x: x[:, 0] * x[:, 2],
         lambda x: np.sign(x.sum(axis=1)), lambda x: x[:, 0] * x[:, 1]]
whole = [lambda x: x[:, 0], lambda x: x.sum(axis=1), lambda x: 2 * x[:, 1] + 1, lambda x: x[:, 2]]
pairs = [lambda x: x[:, 0] / 2, lambda x: x[:, 1] * x[:, 2] / 2, lambda x: (x[:, 0] == x[:, 1]) + 1]
"""


@dataclass(frozen=True, kw_only=True)
class Genuine:
    """A certificate or transcript as its maker writes it."""

    kind: str
    data: Json


def genuine() -> list[Genuine]:
    """Make a small one of every kind."""
    found = [("transcript", data) for data in _transcripts()]
    for spec in SPECS:
        family = parse(spec)
        for tau, t in ((Fraction(1, 10), 100), (Fraction(9, 10), 1)):
            made = certify(family, BoundParameters(tau=tau, vstat=t))
            found.append((family.name, made.to_dict()))
        for asked in ASKED:
            try:
                named = certify_named(family, [asked], BoundParameters())
            except ToolkitError:  # there is no claim about labels of more than two values
                continue
            found.append((f"{family.name} {asked.about}", named.to_dict()))
    found += [("laws", data) for data in _laws()]
    found += [("listed", data) for data in _listed()]
    found += [("listed named", data) for data in _listed_named()]
    return [Genuine(kind=kind, data=json.loads(json.dumps(data))) for kind, data in found]


def _laws() -> Iterator[Json]:
    for q, n, labels, parts, weight, entries, base, cut, weights in LAWS:
        problem = {"kind": "residues", "n": n, "q": q, "bits": 20, "labels": labels, "parts": parts,
                   "secret": {"weight": weight, "entries": entries}, "errors": None}  # fmt: skip
        for tau, t, success in (("1/2", "4", "2/3"), ("1", "1", "1/10")):
            proof = Proof(problem, {"spec": "none"})
            members = proof.step("secrets", base=base, cut=cut, weights=weights)
            laws = proof.step("laws", members)
            posed = Posed(proof=proof, members=members, gram=laws)
            asks = [posed.ask("stat", Fraction(tau)), posed.ask("vstat", Fraction(t))]
            bounds = posed.bounds(asks, BoundParameters(success=Fraction(success)))
            yield proof.certificate(members, laws, *bounds).to_dict()


def _listed() -> Iterator[Json]:
    """Functions by bits and by values, less their mean, of one norm and of others."""
    with tempfile.TemporaryDirectory() as name:
        mine = Path(name) / "mine.py"
        mine.write_text(FUNCTIONS)
        for members in ("signs", "whole", "pairs"):
            for centred in (False, True):
                source = read_members(f"{mine}:{members}")
                assert source is not None
                yield certify_listed(source, centred=centred).to_dict()
        with patch.multiple(listed, MOST_FACTORED=0):  # by weights, and as given
            source = read_members(f"{mine}:signs")
            assert source is not None
            yield certify_listed(source, BoundParameters(vstat=1000)).to_dict()


def _listed_named() -> Iterator[Json]:
    with tempfile.TemporaryDirectory() as name:
        mine = Path(name) / "mine.py"
        mine.write_text(FUNCTIONS)
        source = read_members(f"{mine}:signs")
        assert source is not None
        for asked in ASKED[:4]:
            yield certify_posed(pose_functions(source), [asked], BoundParameters()).to_dict()


def _transcripts() -> Iterator[Json]:
    rng = np.random.default_rng(0)
    sets = ((1, 2), (1, 3), (2, 4), (0, 1, 2), (3, 4), (1,), (1, 2, 3))
    for spec, kind in (
        ("parity:d=6,m=2,noise=0.1", ReferenceAdversary),
        ("parity:d=6,m=2", StabbingAdversary),
        ("parity:d=6,m=2", CertificateAdversary),
        ("profile:g=majority,d=6,m=2", ReferenceAdversary),
    ):
        game = kind(parse(spec), Fraction(1, 10), Meter(Budget()))
        for subset in sets:
            game.ask(Character(subset=subset))
        if kind is not CertificateAdversary:
            game.ask(Pool(sets=((1, 2), (3, 4), (1, 5))))
            game.ask(Query(phi=lambda x, y: x[:, 0, 1] * x[:, 1, 2] * np.sign(y[:, 0, 0])))
        yield game.transcript(game.draw(rng)).to_dict()


# Changes.


def places(data: Json, at: Path_ = ()) -> Iterator[Path_]:
    """Every part of the data but the digest, the whole excepted."""
    parts = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in parts:
        if at or key != "digest":
            yield (*at, key)
            if isinstance(value, dict | list):
                yield from places(value, (*at, key))


def general(data: Json, place: Path_) -> str:
    """Name a place by what stands there: claims by their quantity, other entries of lists by *."""
    words, here = [], data
    for key in place:
        here = here[key]
        if isinstance(key, int):
            claimed = words == ["goal", "claims"]
            key = here["quantity"] if claimed else here["rule"] if words == ["steps"] else "*"
        words.append(str(key))
    return "/".join(words)


def _rational(text: str) -> bool:
    return bool(re.fullmatch(r"-?\d+(/\d+)?", text))


def _swapped(text: str, rng: np.random.Generator) -> str:
    spots = [i for i in range(len(text) - 1) if text[i] != text[i + 1]]
    if not spots:
        return text + text[-1:]
    i = int(rng.choice(spots))
    return text[:i] + text[i + 1] + text[i] + text[i + 2 :]


def _letter(text: str, rng: np.random.Generator) -> str:
    i = int(rng.integers(len(text) + 1))
    new = "0123456789abcxyz=,:/*()+-.\n\x1b \u0663"[int(rng.integers(29))]
    return text[:i] + new + text[i + int(rng.integers(2)) :]


Change = Callable[[Any, np.random.Generator], Any]
_ANY: dict[str, Change] = {
    "null": lambda v, r: None,
    "listed": lambda v, r: [v],
    "true": lambda v, r: True,
}
_TEXT: dict[str, Change] = {
    "letter": _letter,
    "emptied": lambda v, r: "",
    "split": lambda v, r: list(v),
    **_ANY,
}
_RATIONAL: dict[str, Change] = {
    "+1": lambda v, r: str(Fraction(v) + 1),
    "-1": lambda v, r: str(Fraction(v) - 1),
    "*2": lambda v, r: str(Fraction(v) * 2),
    "/2": lambda v, r: str(Fraction(v) / 2),
    "near": lambda v, r: str(Fraction(v) * (1 + Fraction(1, int(r.integers(3, 10**6))))),
    "negated": lambda v, r: str(-Fraction(v)),
    "digits": _swapped,
    "unreduced": lambda v, r: f"{2 * Fraction(v).numerator}/{2 * Fraction(v).denominator}",
    "zeros": lambda v, r: "0" + v,
    "number": lambda v, r: int(v) if v.lstrip("-").isdigit() else float(Fraction(v)),
    "letter": _letter,
    **_ANY,
}
_WHOLE: dict[str, Change] = {
    "+1": lambda v, r: v + 1,
    "-1": lambda v, r: v - 1,
    "*2": lambda v, r: v * 2,
    "*10": lambda v, r: v * 10,
    "negated": lambda v, r: -v,
    "digits": lambda v, r: int(_swapped(str(abs(v)), r)),
    "float": lambda v, r: float(v),
    "text": lambda v, r: str(v),
    **_ANY,
}
_FLOAT: dict[str, Change] = {
    "next": lambda v, r: float(np.nextafter(v, np.inf if r.integers(2) else -np.inf)),
    "near": lambda v, r: v * (1 + 10.0 ** -int(r.integers(2, 15))),
    "+1": lambda v, r: v + 1,
    "*2": lambda v, r: v * 2,
    "negated": lambda v, r: -v,
    "int": lambda v, r: int(v),
    "text": lambda v, r: repr(v),
    "infinite": lambda v, r: float("inf"),
    "nan": lambda v, r: float("nan"),
    **_ANY,
}
_LIST: dict[str, Change] = {
    "removed": lambda v, r: _without(v, int(r.integers(len(v)))),
    "doubled": lambda v, r: [*v, v[int(r.integers(len(v)))]],
    "reordered": lambda v, r: [v[i] for i in r.permutation(len(v))],
    "object": lambda v, r: {str(i): x for i, x in enumerate(v)},
    "keys": lambda v, r: {x if isinstance(x, str) else str(x): 0 for x in v},
    **_ANY,
}
_OBJECT: dict[str, Change] = {
    "removed": lambda v, r: {k: x for k, x in v.items() if k != list(v)[int(r.integers(len(v)))]},
    "more": lambda v, r: {**v, "more": next(iter(v.values()))},
    "list": lambda v, r: list(v.values()),
    **_ANY,
}


def _without(values: list[Any], i: int) -> list[Any]:
    return values[:i] + values[i + 1 :]


def changes(value: Any) -> dict[str, Change]:
    """What can be done to a value."""
    if isinstance(value, str):
        return _RATIONAL if _rational(value) else _TEXT
    if isinstance(value, bool) or value is None:
        return {"turned": lambda v, r: not v, "zero": lambda v, r: 0, **_ANY}
    if isinstance(value, int):
        return _WHOLE
    if isinstance(value, float):
        return _FLOAT
    if not value:
        return _ANY
    return _LIST if isinstance(value, list) else _OBJECT


def resealed(data: Json, named: bool = True) -> Json:
    """Make all digests fit: of the whole, and that in the name of listed functions."""
    body = {k: v for k, v in data.items() if k != "digest"}
    about, problem = body.get("about"), body.get("problem")
    if named and isinstance(about, dict) and isinstance(problem, dict) and "names" in about:
        with suppress(LookupError):
            digest = digest_of(about["names"], problem)
            about["spec"] = str(about["spec"]).rpartition("=")[0] + "=" + digest
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    return {**body, "digest": hashlib.sha256(text.encode()).hexdigest()}


# What is true, found in another way than the checker's.


def falsehood(data: Json) -> str | None:
    """Say what of an accepted file is not so; None where all is, or more."""
    if data["format"].startswith("hardness-transcript"):
        return _false_transcript(data)
    return _false_proof(data)


_NEAR = Fraction(1, 10**9)
_ENDLESS = 10**10_000  # queries, where no number of them is enough
_EXACT = {
    *("pairwise-correlation", "largest-correlation", "average-correlation", "operator-norm"),
    *("second-eigenvalue", "cross-predictability", "low-degree-advantage"),
    "low-degree-advantage-open",
}


def enumerated(n: int, values: tuple[Fraction, ...], name: str, gamma: float) -> float | None:
    """Find a quantity of a hidden set by its members at all points; None for others."""
    if n > 10 or math.comb(n, len(values) - 1) > 80:
        return None
    gram = _members(n, values)
    size, off = len(gram), np.abs(gram - np.diag(np.diagonal(gram)))
    away = np.eye(size) - 1 / size
    match name:
        case "pairwise-correlation" | "largest-correlation":
            return float(off.max())
        case "average-correlation":
            return float(gram.mean())
        case "operator-norm":
            return float(np.linalg.eigvalsh(gram)[-1])
        case "second-eigenvalue":
            return float(np.linalg.eigvalsh(away @ gram @ away)[-1])
        case "cross-predictability":
            return float((gram**2).mean())
        case "sq-dimension" if size <= 20:
            return next(k for k in range(size, 0, -1) if _clique(off <= 1 / k + 1e-12) >= k)
        case "sda-all-subsets" if size <= 20:
            averages = _averages(n, values)
            good = [s for s in range(1, size + 1) if max(averages[s:]) <= gamma + 1e-12]
            # Sets of at least N/q members: those of ceil(N/q) and more.
            return max((q for q in range(1, size + 1) if -(-size // q) in good), default=0)
        case "sda-pair-events":
            worst = np.sort(gram.ravel())[::-1].cumsum() / np.arange(1, size**2 + 1)
            held = [
                q for q in range(1, size + 1) if worst[-(-(size**2) // q**2) - 1] <= gamma + 1e-12
            ]
            return max(held, default=0)
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
def _averages(n: int, values: tuple[Fraction, ...]) -> list[float]:
    """The largest average correlation of sets of each size, 0 .. N, over all sets."""
    gram = _members(n, values)
    out = [-1.0] * (len(gram) + 1)
    for start in range(1, 1 << len(gram), 1 << 14):
        masks = np.arange(start, min(start + (1 << 14), 1 << len(gram)))
        rows = (masks[:, None] >> np.arange(len(gram)) & 1).astype(np.float64)
        sizes = rows.sum(axis=1)
        found = ((rows @ gram) * rows).sum(axis=1) / sizes**2
        for size in set(sizes.astype(int).tolist()):
            out[size] = max(out[size], float(found[sizes == size].max()))
    return out


def _clique(near: Any) -> int:
    graph = nx.from_numpy_array(near & ~np.eye(len(near), dtype=bool))
    return max(map(len, nx.find_cliques(graph)))


# Of certificates of format 2: from their problem alone, whatever they are said to be about.


def _false_proof(data: Json) -> str | None:
    problem = data["problem"]
    kinds = {"hidden-set": _Hidden, "residues": Residues, "direction": _Direction}
    truth: Any = kinds.get(problem["kind"], _Listed)(problem)
    for claim in data["goal"]["claims"]:
        name, terms, value = claim["quantity"], claim["terms"], Fraction(_read(claim["value"]))
        upper = Fraction(_read(terms["upper"])) if "upper" in terms else value
        low, high = truth.ends(name, terms)
        less = name.endswith(("-success", "-at-most"))  # less claims more
        if value < low if less else value > low + _NEAR:
            return f"{name} is claimed as {value}, it is {low}"
        if "upper" in terms and upper < high - _NEAR:
            return f"{name} is claimed as at most {upper}, it is {high}"
        if name in _EXACT and not value - _NEAR <= low <= upper + _NEAR:
            return f"{name} is claimed as {value}, it is {low}"
    return None


def _read(text: str) -> Fraction:
    parts = [int(part, 0) for part in text.split("/")]
    return Fraction(*parts)


def _needed(name: str, terms: Json, size: int, levels: int, fits: int, caps: list[int]) -> Any:
    """What the theorem gives of so many members, with the least number that is ruled out."""
    if name == "information-floor":
        goal = BoundParameters(success=Fraction(terms["success"]))
        assert terms["levels"] == str(levels), "labels have other values"
        return (found := closed.information_floor(size, goal, fits, levels)), found
    if name.endswith("-success"):
        assert min(caps) == 0, "a query rules out members"
        return Fraction(min(fits, size), size), 0
    assert name.endswith("-queries"), f"nothing is known of {name}"
    least = closed.least_queries(min(caps), Fraction(terms["success"]) * size - fits)
    return (_ENDLESS if least is None else least), 0


class _Hidden:
    """Hidden sets, by their members at all points, or by the makers' formulas."""

    def __init__(self, problem: Json) -> None:
        self.n, self.values = problem["places"], tuple(_read(v) for v in problem["values"])
        noise, ends = _read(problem["noise"]), (max(self.values), min(self.values))
        self.half, self.fade = (ends[0] - ends[1]) / 2, 1 - 2 * noise
        self.scheme = closed.Johnson.of(self.values, self.n)
        m = len(self.values) - 1
        self.family: Any = SimpleNamespace(values=self.values, noise=noise, centre=sum(ends) / 2)
        self.mixed = m <= 48 and self.n * (m + 4) ** 2 <= 3 * 10**6  # a proof by the mean member
        self.parity = self.values == tuple(
            map(Fraction, ((-1) ** h for h in range(len(self.values))))
        )
        view = problem.get("view")
        self.alone = view in (None, "hardmax", "one-head")
        self.square, self.part, self.levels = _SHOWN.get(
            view, (1 / 4, 1 / 2, len(set(self.values)))
        )
        assert self.parity or view not in _SHOWN, "what is no parity is not shown so"

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        gamma = _read(terms["gamma"]) if "gamma" in terms else Fraction(0)
        found = enumerated(self.n, self.values, name, float(gamma))
        if found is not None:
            return Fraction(found), Fraction(found)
        scheme = self.scheme
        match name:
            case "pairwise-correlation" | "largest-correlation":
                least, norm = scheme.correlations[-2], scheme.norm
                return (value := least / norm), value
            case "average-correlation":
                return (value := scheme.average / scheme.norm), value
            case "operator-norm":
                return (value := scheme.operator_norm / scheme.norm), value
            case "second-eigenvalue":
                return (value := scheme.spread / scheme.norm), value
            case "cross-predictability":
                return (value := scheme.cross_predictability / scheme.norm**2), value
            case "sq-dimension":
                if self.parity:
                    return scheme.size, scheme.size
                return (value := closed.sq_dimension_most(scheme)), value
            case "sda-all-subsets":
                at_least, at_most = self.bad(gamma)
                size = scheme.size
                return (size - 1) // at_least if at_least else size, (size - 1) // max(at_most, 1)
            case "sda-pair-events":
                return (value := closed.pair_events(scheme, gamma)), value
        risk = _read(terms.get("risk", "0"))
        less = scheme.norm - scheme.average
        fits = math.floor(scheme.spread / less / (1 - risk))
        fits = min(fits, math.floor(1 / (1 - risk))) if self.parity else fits
        if name.startswith("low-degree"):
            assert self.alone, "labels show more"
            return _ratio(name, terms, scheme, 2 * self.unit)
        if name.startswith(("kernel", "gd")):
            assert self.alone or name.startswith("gd"), "labels show more"
            assert len(set(self.values)) == 2 or name.startswith("kernel"), "labels are many"
            return _learned(name, terms, self.members(fits))
        levels = self.levels
        caps = [] if name == "information-floor" else self.caps(name.partition("-")[0], terms)
        return _needed(name, terms, scheme.size, levels, fits, caps)

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
        square = self.fade**2 * (Fraction(self.square) if self.parity else square)
        n, m = self.n, len(self.values) - 1
        pairs = [math.comb(m, t) * math.comb(n - m, m - t) for t in range(m + 1)]
        row = [(v, self.unit * c) for v, c in zip(pairs, scheme.correlations, strict=True)]
        if self.parity:
            row = [(1, self.fade**2 * Fraction(self.part) * (3 if self.levels == 4 else 1))]
        counted = zip(values, scheme.multiplicities[1:], strict=True)
        return SimpleNamespace(
            tiers=[(Fraction(1, scheme.size), scheme.size)], fits=fits, square=square, row=row,
            dense=1, spectrum=sorted(counted, reverse=True), public=0, least=less, scale=less,
        )  # fmt: skip

    def caps(self, oracle: str, terms: Json) -> list[int]:
        """What each argument says that one query rules out."""
        square = (self.fade / self.half) ** 2 * self.scheme.spread / 4
        if self.parity:
            square = self.fade**2 * Fraction(self.square)
        assert oracle == "csq" or len(set(self.values)) == 2, "labels have more than two values"
        if oracle != "vstat":
            return [math.floor(square / _read(terms["tau"]) ** 2)]
        t = int(terms["t"])
        if self.levels == 4 or self.part == 1:  # of two bits three moves are added up
            weight = Fraction(3 * self.part) if self.levels == 4 else Fraction(1, 2)
            fades = [3 * t * self.fade**2 * weight, t**2 * square / 4]
            return [math.floor(value) for value in fades]
        out = [math.floor(Fraction(3 * t, 4) * self.fade**2)] if self.parity else []
        out += [math.floor(t**2 * square / 4)]
        if self.mixed:
            spread = closed.mixture_spread(self.family, self.scheme) * (1 - Fraction(1, 2**40))
            out.append(math.floor(Fraction(3 * t, 4) * spread))
        gamma = closed.labelled_gamma(self.family, self.scheme, t)
        if self.scheme.size <= 20:
            averages = _averages(self.n, self.values)
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

    def held(most: Fraction) -> Fraction:
        total, left = Fraction(0), min(most, Fraction(size))
        for chance, count in tiers:
            total, left = total + chance * min(count, left), left - min(count, left)
        return total

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
    regime, steps = name.split("-")[1], int(given.get("steps", 0))
    if regime == "within":
        most = (given["clip"] / given["within"]) ** 2 * of.square
        most = most if size == 1 else Fraction(math.floor(most))
        if name.endswith("-success"):
            return held(of.fits + steps * most) * (1 if len(tiers) == 1 else near), 0
        assert most, "no number of steps is enough"
        least = 0
        while held(of.fits + least * most) < given["success"]:
            least += max(
                1, math.floor((given["success"] - held(of.fits + least * most)) * size / most / 2)
            )
        while least and held(of.fits + (least - 1) * most) >= given["success"]:
            least -= 1
        return least, 0
    chances, needed = [], []
    for chance, more in parts:
        sure = min(Fraction(1), more + chance * of.fits)
        if regime == "noise":
            pace, bend = given["clip"] ** 2 * of.square * chance / (2 * given["noise-std"]) ** 2, 1
        elif regime == "grid":
            pace = given["parameters"] * (given["clip"] / given["grid"]) ** 2 * of.square * chance
            bend = 10**30
        else:
            batch, bits = int(given["batch"]), int(min(given["state-bits"], 10**4))
            assert batch <= 10**4, "such a batch is not derived again"
            whole = of.dense**batch * sum(v * ((1 + c) ** batch - 1) for v, c in of.row)
            pace, bend = min(Fraction(1), whole * (2**bits - 1) * chance / 4), 14
        grown = pace * steps * min(steps, bend)
        chances.append(sure + min(Fraction(1), _rooted(grown)) * near if sure < 1 else Fraction(1))
        missing = max(Fraction(0), given.get("success", Fraction(0)) - sure) ** 2
        few = math.isqrt(math.ceil(missing / pace) - 1) + 1 if missing else 0
        needed.append(few if few <= bend else math.ceil(missing / pace / bend))
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


# What a query's squared moves add up to, the share of open examples, and the labels of one.
_SHOWN = {"positions": (1.0, 1.0, 2), "three-tokens": (27 / 16, 3 / 4, 4)}


class _Direction:
    """Hidden directions: norms by Gegenbauer polynomials and quadrature, pairs by the beta law."""

    def __init__(self, problem: Json) -> None:
        self.n, self.m, self.two = (
            problem["dimension"],
            problem["degree"],
            problem["labels"] == "two",
        )
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
            assert self.two
            square, one = Fraction(self.fade**2 * self.rest * (1 - 1e-9)), [(Fraction(1), 1)]
            return _learned(name, terms, SimpleNamespace(tiers=one, fits=fits, square=square))
        if name == "information-floor":
            assert self.two
            assert terms["levels"] == "2"
            wanted = float(_read(terms["success"]) / fits) * (1 + 1e-9)
            return max(0, math.ceil(math.log2(wanted))), 0
        oracle, moves = name.partition("-")[0], self.fade**2 * self.rest
        assert oracle == "csq" or self.two, "real labels have no bound on general queries"
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
        self.problem, self.n, self.q, self.h = (
            problem, problem["n"], problem["q"], problem["secret"]["weight"],
        )  # fmt: skip
        parts, window = problem["parts"], problem["labels"] == "window"
        self.modulus = self.q if self.q % 2 else 2 * self.q // parts
        self.levels, self.rarest = 2 if window else parts, Fraction(1, parts)
        alone = not window or parts == 2  # each part has a label of its own
        self.alone = alone and (self.modulus == 4 or (self.q % 2 == 1 and parts == self.q))
        self.law = _law(json.dumps([problem["secret"], self.n, self.q, self.modulus, self.alone]))
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
                row=[(1, self.square / 2)], dense=most, spectrum=[(most * law.alike, unlike)],
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
        return (max(0, math.ceil(Fraction(missing, cap))) if cap else 10**99), 0


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
        return found if left <= 0 else self.size

    def held(self, most: int) -> Fraction:
        """The probability of so many members, the likeliest."""
        total, left = Fraction(0), most
        for chance, count in self.tiers:
            total, left = total + chance * min(count, left), left - min(count, left)
        return total


@cache
def _law(text: str) -> _Law:
    secret, n, q, m, alone = json.loads(text)
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
    secrets = math.comb(n, h) * len(kinds) ** h if h else len(kinds) ** n - (0 in kinds)
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
    if problem["labels"] == "window":
        law = np.stack([law[:, 0], law[:, 1:].sum(axis=1)], axis=1)
    law /= law.sum(axis=1, keepdims=True)
    law = (law / law.mean(axis=0) - 1) * np.sqrt(law.mean(axis=0))
    rows = law[points @ np.array(some).T % q].transpose(1, 0, 2).reshape(len(some), -1)
    gram = rows @ rows.T
    return nx.number_connected_components(nx.from_numpy_array(np.abs(gram) > 1e-9))


class _Listed:
    """Listed functions, at all points of the signs that they depend on, and by all sets of them."""

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
        self.rows, self.given, count = rows, problem["given"] or [None, None], len(rows)
        self.two = bool((abs(rows) == 1).all())
        self.plain = self._correlations(rows)
        if problem["centred"]:
            rows = count * rows - rows.sum(axis=0)
        gram = [[int(v) for v in row] for row in rows @ rows.T]
        self.squares = [[Fraction(v * v, gram[i][i] * gram[j][j]) for j, v in enumerate(row)]
                        for i, row in enumerate(gram)]  # fmt: skip
        self.sizes = np.sqrt(np.array(self.squares, float))
        if not self.two:
            self.plain = self._correlations(rows)

    @staticmethod
    def _correlations(rows: np.ndarray) -> np.ndarray:
        gram = (rows @ rows.T).astype(float)
        return gram / np.sqrt(np.outer(np.diagonal(gram), np.diagonal(gram)))

    def ends(self, name: str, terms: Json) -> tuple[Any, Any]:
        """The value, at most, and its upper end, at least."""
        size = len(self.squares)
        if name == "sq-dimension":
            found = _dimension(self.squares)
            return found, found
        if name.startswith("sda-"):
            found = _sda(self.sizes, name, Fraction(terms["gamma"]))
            return found, found
        if name in ("largest-correlation", "average-correlation"):
            off = self.sizes - np.eye(size)
            mean = float(off.max() if name[0] == "l" else self.sizes.mean())
            return mean, mean
        away = np.eye(size) - 1 / size
        less = away @ self.plain @ away
        top = self._top(less, 0)
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
            moves = min(t * t * top / 4, 3 * t * self._weighted() / 2 if self.two else math.inf)
        else:
            moves = top / float(Fraction(terms["tau"])) ** 2
        cap = math.floor(moves * (1 + 1e-12))
        if name.endswith("-success"):
            return (1.0 if cap else right / size), 0.0
        found = max(0, math.ceil((wanted - right) / cap)) if cap else math.inf
        return found, found

    def _top(self, matrix: np.ndarray, which: int) -> float:
        if self.given[which]:  # claims are then about members that have no larger one
            return float(Fraction(self.given[which]))
        return float(np.linalg.eigvalsh(matrix)[-1])

    def _weighted(self) -> float:
        mean = self.rows.mean(axis=0)
        told = np.abs(mean) < 1
        less = (self.rows - mean)[:, told] / np.sqrt(1 - np.abs(mean[told]))
        return self._top(less @ less.T / self.rows.shape[1], 1)


def _dimension(squares: list[list[Fraction]]) -> int:
    """The largest k with k members that are within 1/k of each other."""
    for k in range(len(squares), 1, -1):
        near = np.array([[v * k * k <= 1 for v in row] for row in squares])
        for chosen in itertools.combinations(range(len(squares)), k):
            if all(near[i, j] for i, j in itertools.combinations(chosen, 2)):
                return k
    return 1


def _sda(sizes: np.ndarray, name: str, gamma: Fraction) -> int:
    """By all sets of members, or by the closest pairs."""
    size, most = len(sizes), float(gamma) + 1e-12
    if name == "sda-pair-events":
        worst = np.sort(sizes.ravel())[::-1].cumsum() / np.arange(1, size**2 + 1)
        held = [q for q in range(1, size + 1) if worst[-(-(size**2) // q**2) - 1] <= most]
        return max(held, default=0)
    bad = 0
    for k in range(1, size + 1):
        for chosen in itertools.combinations(range(size), k):
            bad = k if sizes[np.ix_(chosen, chosen)].mean() > most else bad
    return (size - 1) // bad if bad else size


def _false_transcript(data: Json) -> str | None:
    """Play every query again by the sum over all points of z."""
    family: Any = parse(data["spec"])
    members = list(itertools.combinations(range(1, family.d), family.m))
    points = 1 - 2 * np.array(list(itertools.product((0, 1), repeat=family.d - 1)))
    values = np.array([float(v) for v in family.values])
    centre = float(family.centre)
    factors = []
    for subset in members:
        count = (points[:, [j - 1 for j in subset]] < 0).sum(axis=1)
        factors.append(centre + float(1 - 2 * family.noise) * (values[count] - centre))
    alive = np.ones(len(members), bool)
    for entry in data["queries"]:
        means = _means(entry["query"], points, np.array(factors))
        before, alive = alive, alive & (np.abs(means - entry["answer"]) <= Fraction(data["tau"]))
        out, left = int(before.sum() - alive.sum()), int(alive.sum())
        if (entry["ruled_out"], int(entry["alive"])) != (out, left):
            return f"{entry['ruled_out']} members are ruled out, it is {out}"
    if int(data["members"]) != len(members) or not alive[members.index(tuple(data["secret"]))]:
        return "the secret does not fit the answers"
    return None


def _means(query: Json, points: np.ndarray, factors: np.ndarray) -> np.ndarray:
    if query["kind"] == "given":
        return np.array(query["means"])

    def character(subset: list[int]) -> np.ndarray:
        sign = -1 if 0 in subset else 1
        return sign * points[:, [j - 1 for j in set(subset) if j]].prod(axis=1)

    if query["kind"] == "character":
        values = character(query["subset"])
    else:
        values = np.sign(sum(character(s) for s in query["sets"]))
    return factors @ values / len(points) / 2  # half of the tokens are open


# Why a change of a transcript may be accepted: by its place and the change.

ACCEPTED: tuple[tuple[str, str], ...] = (
    (
        "(secret.*|tau .*)",
        "another member that fits every answer, or a tolerance that rules out the same members",
    ),
    (
        "queries( |/[*]/(query|answer)).*",
        "other queries, answers or given means that rule out as many as the file says",
    ),
    ("spec letter", "another family in which the game is as right"),
)


def explained(place: str, change: str) -> str | None:
    """Find why a change of a transcript may be accepted; None where no reason is known."""
    for where, why in ACCEPTED:
        if re.fullmatch(where, f"{place} {change}"):
            return why
    return None


class TooMany(Exception):
    """A law has too many vectors to be enumerated."""


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """A change that was made, and what became of it."""

    kind: str
    place: str
    change: str
    accepted: bool
    seconds: float
    fault: str | None  # of an accepted one
    left: bool = False  # too large to be derived again


def forge(count: int, seed: int, sources: list[Genuine]) -> Iterator[Forgery]:
    """Make so many forgeries, one source after the other, all places of a source alike."""
    rng = np.random.default_rng(seed)
    spots = []
    for one in sources:
        by_name: dict[str, list[Path_]] = {}
        for place in places(one.data):
            by_name.setdefault(general(one.data, place), []).append(place)
        spots.append(list(by_name.items()))
    # Those about named learners are many: all others have three turns for each of theirs.
    turns = [i for i, one in enumerate(sources) for _ in range(1 if " " in one.kind else 3)]
    made = 0
    while made < count:
        for one, there in ((sources[i], spots[i]) for i in turns):
            name, found = there[int(rng.integers(len(there)))]
            place = found[int(rng.integers(len(found)))]
            data = copy.deepcopy(one.data)
            here = _at(data, place[:-1])
            old = here[place[-1]]
            ways = changes(old)
            way = list(ways)[int(rng.integers(len(ways)))]
            here[place[-1]] = ways[way](old, rng)
            if repr(here[place[-1]]) == repr(old):
                continue
            if place[0] in ("problem", "steps") and rng.integers(2):
                data, way = refitted(data), f"{way}, claims too"
            data = resealed(data, named=place != ("about", "spec"))
            made += 1
            yield _tried(one.kind, name, way, data)
            if made == count:
                return


def every(sources: list[Genuine]) -> Iterator[Forgery]:
    """Make every change of every place, once for all places of a name, and leave out every key."""
    rng, done = np.random.default_rng(0), set()
    for one in sources:
        for place in places(one.data):
            name = general(one.data, place)
            if (one.kind, name) in done:
                continue
            done.add((one.kind, name))
            for way, new in _every_change(_at(one.data, place), rng):
                data = copy.deepcopy(one.data)
                _at(data, place[:-1])[place[-1]] = new
                yield _tried(one.kind, name, way, resealed(data, named=place != ("about", "spec")))
                if place[0] in ("problem", "steps"):
                    yield _tried(one.kind, name, f"{way}, claims too", resealed(refitted(data)))


def _at(data: Json, place: Path_) -> Any:
    for key in place:
        data = data[key]
    return data


def _every_change(old: Any, rng: np.random.Generator) -> Iterator[tuple[str, Any]]:
    for way, change in changes(old).items():
        if isinstance(old, dict) and way == "removed":
            yield from ((way, {k: v for k, v in old.items() if k != key}) for key in old)
        elif repr(new := change(old, rng)) != repr(old):
            yield way, new


def refitted(data: Json) -> Json:
    """Claim what the kernel finds proved by steps that were changed, in its words, if it does."""
    try:
        posed = kernel.read_problem(data["problem"])
        facts = kernel.prove(posed, data["steps"])
    except (kernel.Refused, *_MALFORMED):
        return data
    claims = {}
    for step, fact in enumerate(facts, 1):
        for name, (value, terms, says) in fact.claims.items():
            value = kernel.written(value)
            claims[name] = {"quantity": name, "value": value, "terms": terms, "step": step}
            claims[name]["says"] = says
    goal = {"conditions": posed.conditions, "claims": list(claims.values())}
    return {**data, "goal": goal}


_MALFORMED = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def _tried_proof(kind: str, place: str, change: str, data: Json) -> Forgery:
    """By the kernel alone: what the file says of its problem is true, whatever its name."""
    start, accepted, fault, left = time.perf_counter(), True, None, False
    try:
        lines = kernel.check(data)
    except kernel.Refused:
        accepted, lines = False, []
    seconds = time.perf_counter() - start
    if accepted:
        try:
            fault = falsehood(data)
        except TooMany:
            left = True
        except (AssertionError, ToolkitError, *_MALFORMED) as error:
            fault = f"it cannot be derived again: {error!r}"
        if not all(line.isprintable() for line in lines):
            fault = "its verdict has characters that cannot be printed"
    try:
        check(data)
        fault = fault if accepted else "`check` accepts what the kernel refuses"
    except (Refuted, DamagedFile):
        pass
    return Forgery(
        kind=kind,
        place=place,
        change=change,
        accepted=accepted,
        seconds=seconds,
        fault=fault,
        left=left,
    )


def _tried(kind: str, place: str, change: str, data: Json) -> Forgery:
    if data.get("format") == kernel.FORMAT:
        return _tried_proof(kind, place, change, data)
    start, accepted, fault = time.perf_counter(), True, None
    try:
        said = check(data)
    except (Refuted, DamagedFile):
        accepted = False
    seconds = time.perf_counter() - start
    if accepted:
        lines = (said.spec, said.assumed, *said.statements)
        try:
            fault = falsehood(data)
        except (AssertionError, ToolkitError, LookupError, TypeError, ValueError) as error:
            fault = f"it cannot be derived again: {error}"
        if not all(line.isprintable() for line in lines):
            fault = "its verdict has characters that cannot be printed"
        if fault is None and explained(place, change) is None:
            fault = "no reason is known why it may be accepted"
    return Forgery(
        kind=kind, place=place, change=change, accepted=accepted, seconds=seconds, fault=fault
    )


_DERIVED = "what a certificate says of its problem, derived again"


def main(arguments: list[str] | None = None) -> int:
    """Print how many were refused and accepted of each kind; 3 where one was accepted wrongly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    tried: Counter[str] = Counter()
    accepted: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    why: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    for one in forge(asked.count, asked.seed, genuine()):
        tried[one.kind] += 1
        accepted[one.kind] += one.accepted
        seconds[one.kind] += one.seconds
        if one.fault:
            faults[f"{one.kind}: {one.place} {one.change}: {one.fault}"] += 1
        elif one.accepted:
            known = explained(one.place, one.change)
            again = "not derived again: too many vectors" if one.left else _DERIVED
            why[known or again] += 1
    for kind, count in sorted(tried.items()):
        each = 1000 * seconds[kind] / count
        print(f"{kind:<22} {count:>7} forged {accepted[kind]:>6} accepted {each:8.2f} ms each")
    print(f"{'all':<22} {tried.total():>7} forged {accepted.total():>6} accepted")
    for reason, count in why.most_common():
        print(f"{count:>7}  {reason}")
    for fault, count in faults.most_common():
        print(f"{count:>7}  WRONG  {fault}")
    return 3 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
