"""Certificates of finite families: what is known of their correlations, and what follows.

A query h with E||h||^2 <= 1 moves sum_i <f_i - mean, h>^2 <= lambda, by the largest eigenvalue of
the members less their mean. An adversary that answers <mean, h> within tau therefore lies about at
most lambda / tau^2 of them. Where labels have two values every statistical query is of this kind.
docs/finite.md has the proofs.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

from flint import fmpq
from numpy.typing import NDArray

from hardness.claims import finite as words_of
from hardness.claims.finite import (
    MOST_COORDINATES,
    MOST_MEMBERS,
    MOST_SPECTRUM,
    Basis,
    quantities,
    scope,
)
from hardness.lower.bounds import BoundParameters, information_floor, query_claim
from hardness.lower.finite.gram import Tables, enumerate_products, sample_products
from hardness.lower.finite.graph import Bracket, Colouring
from hardness.lower.finite.known import Known, Spread, of_floats, of_integers
from hardness.lower.finite.sda import all_subsets, pair_events
from hardness.lower.finite.signs import vstat_cap, weighted_eigenvalue
from hardness.lower.finite.spectrum import UNIT
from hardness.lower.finite.unions import Union, read_union
from hardness.lower.members import Members, read_members
from hardness.lower.proof import Proof
from hardness.lower.record import Certificate, Claim, Kind, claim, text
from instances.errors import UsageError
from instances.family import require
from instances.parameters import plain
from instances.userfile import NAME, fits_name

_QUICK_POINTS, _QUICK_VALUES = 22, 1 << 32
MOST_PROVEN, MOST_SIGNS = 64, 20  # members and signs that the kernel takes

Method = Literal["enumeration", "sampling"]


def read_source(text: str, members: int | None = None) -> Members | Union | None:
    """Read what `certify` is given: functions, layers, a list of specs, or None.

    members: how many functions are chosen, by `least_names`. None stands for what
    `instances.parse` or `instances.read_folder` read. Raises UsageError.

    >>> read_source("parity:d=8,m=3") is None
    True
    """
    path = Path(text.strip() or "?")
    return read_members(text, members) or (read_union(path) if path.suffix == ".specs" else None)


@dataclass(frozen=True, kw_only=True)
class How:
    """How a finite family is to be certified.

    centred: subtract the mean of the members first. method: None chooses by size. steps: limit of
    each clique search, None chooses by size: fewer for more members. samples, confidence: of
    sampling. Raises UsageError out of range.
    """

    centred: bool = False
    method: Method | None = None
    samples: int = 200_000
    confidence: Fraction = Fraction(99, 100)
    steps: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1:
            raise UsageError(
                f"confidence={plain(self.confidence)} given: it must be between 0 and 1"
            )
        if self.samples < 1 or (self.steps is not None and self.steps < 0):
            raise UsageError(
                f"samples={self.samples}, steps={self.steps} given: at least 1, and at least 0"
            )

    def points(self, source: Members | Union) -> int:
        """The number of points at which members are evaluated."""
        if isinstance(source, Union):
            return 0
        sampled = self.chosen(source) == "sampling"
        return self.samples if sampled else 1 << min(source.n, MOST_COORDINATES)

    def what(self, source: Members | Union) -> str:
        """Say in words how the source is certified."""
        if isinstance(source, Union):
            return "a list of specs, certified by formulas"
        return f"{len(source.names)} {source.kind}, certified by {self.chosen(source)}"

    def chosen(self, family: Members) -> Method:
        """The method that is used: enumeration where it is a matter of minutes at most."""
        if self.method:
            return self.method
        values = (len(family.names) * family.outputs) << min(family.n, MOST_COORDINATES + 1)
        quick = family.n <= _QUICK_POINTS and values <= _QUICK_VALUES
        return "enumeration" if quick else "sampling"


def options(source: Members | Union | None, how: How) -> set[str]:
    """Name the options of `certify` that apply to a source only; None is a spec.

    >>> sorted(options(None, How()))
    ['gamma', 'vstat']
    """
    if source is None:
        return {"vstat", "gamma"}
    if isinstance(source, Union):
        return {"centred", "steps"}
    found = {"centred", "steps", "method"} | (set() if source.kind == "layers" else {"members"})
    if how.chosen(source) == "sampling":
        return found | {"samples", "confidence"}
    return found | ({"vstat", "gamma"} if source.outputs == 1 else set())


def search_steps(members: int) -> int:
    """Choose a limit of steps with which a search takes seconds: a step costs more among more.

    >>> search_steps(56), search_steps(3000), search_steps(5000)
    (200000, 1000, 0)
    """
    if members > MOST_SPECTRUM:
        return 0
    return max(1000, min(200_000, round(200_000 * (300 / members) ** 3)))


def certify_finite(
    source: Members | Union,
    terms: BoundParameters | None = None,
    how: How | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Certificate:
    """Certify the correlations, SQ-DIM, SDA, queries and examples of a finite family.

    SDA, queries that are not correlational and examples where all members take the values -1 and
    +1 alone.

    Raises UsageError, TooLarge. [BFJKMR94, FGRVX17]

    >>> import numpy as np
    >>> from hardness.lower.members import Members
    >>> family = Members(kind="functions", path="x", sha256="0" * 64, names=("a", "b"), d=2,
    ...     n=2, outputs=1, bound=1.0, one=lambda i, x: x[:, i])
    >>> certify_finite(family).value("sq-dimension")
    '2'
    """
    terms, how = terms or BoundParameters(), how or How()
    if isinstance(source, Union):
        known = source.known(how.centred)
        found = Found(
            kind="specs",
            basis="specs",
            known=known,
            given=_union_evidence(source),
            spread=known.spread if known.members <= MOST_MEMBERS else None,
        )
        spec, origin = source.spec, {"path": source.name}
    else:
        found = of_points(source, how, progress)
        spec, origin = found.spec(source), found.origin(source)
    known = found.known
    steps = search_steps(len(known.low)) if how.steps is None else how.steps
    bracket = known.sq_dimension(steps)
    if not isinstance(source, Union):
        proof = proof_of(source, found, how, bracket)
        if proof:
            return _by_steps(proof, found, bracket, terms)
    evidence: dict[str, Any] = {
        **found.evidence,
        "centred": how.centred,
        "origin": origin,
        "dimension": {"members": list(bracket.members), "upper": bracket.evidence.to_dict()},
    }
    words = quantities(found.kind, found.basis, how.centred, found.signs, "of" in origin)
    sampled = found.basis == "samples"
    more = {"confidence": plain(how.confidence)} if sampled else {}

    def stated(name: str, low: Any, high: Any | None, rest: dict[str, str]) -> Claim:
        upper = {} if high is None else {"upper": text(_flint(high))}
        known_as: Kind = "exact" if high is None or low == high else "interval"
        kind: Kind = "statistical" if sampled else known_as
        return claim(words, name, _flint(low), {**upper, **rest, **more}, kind)

    claims = [
        stated("sq-dimension", bracket.lower, bracket.upper, {"members": str(known.members)}),
        stated("largest-correlation", *known.largest, {}),
        stated("average-correlation", *known.average, {}),
    ]
    if found.signs and known.products is not None:
        sda, at = all_subsets(known.products, terms.gamma), {"gamma": str(terms.gamma)}
        evidence["sda"] = list(sda.above)
        claims.append(stated("sda-all-subsets", sda.lower, sda.upper, at))
        events = pair_events(known.products, terms.gamma)
        claims.append(stated("sda-pair-events", events, None, at))
    if found.spread is not None:
        evidence["spread"] = found.spread.to_dict()
        right = found.spread.right_about(terms.risk, known.members)
        reach = {"risk": str(terms.risk), "success": str(terms.success)}
        cap, goal = found.spread.cap(terms.tau), {"tau": str(terms.tau), **reach}
        claims.append(query_claim(words, "csq", cap, right, known.members, goal))
        if found.signs:
            weighted = weighted_eigenvalue(found.tables.signs) if found.tables else None
            evidence["weighted"] = weighted
            claims.append(query_claim(words, "stat", cap, right, known.members, goal))
            cap, goal = vstat_cap(found.spread, weighted, terms), {"t": str(terms.vstat)}
            claims.append(query_claim(words, "vstat", cap, right, known.members, goal | reach))
            least = information_floor(known.members, terms, right)
            claims.append(claim(words, "information-floor", least, reach | {"levels": "2"}))
    return Certificate(
        spec=spec,
        claims=tuple(claims),
        scope=scope(found.basis, how.centred, found.signs, found.same),
        evidence=evidence,
    )


def proof_of(family: Members, found: "Found", how: How, bracket: Bracket) -> Proof | None:
    """Pose the problem of a few functions of -1 and +1; None for what the kernel does not take.

    It takes 2 to 64 of them, on up to 20 signs, by tables, and SQ-DIM from above by classes.
    """
    few = 2 <= len(family.names) <= MOST_PROVEN and family.n <= MOST_SIGNS and family.outputs == 1
    classes = isinstance(bracket.evidence, Colouring)
    if not (few and classes and found.signs and found.tables and found.spread) or how.centred:
        return None
    tables = [f"{int.from_bytes(row, 'little'):x}" for row in found.tables.rows]
    problem = {"kind": "functions", "signs": family.n, "tables": tables}
    names = list(family.names)
    digest = digest_of({"names": names, "problem": problem}, None)
    spec = f"{family.kind}:d={family.d},members={len(names)},sha256={digest}"
    return Proof(problem, {"spec": spec, "names": names, "origin": found.origin(family)})


def _by_steps(
    proof: Proof, found: "Found", bracket: Bracket, terms: BoundParameters
) -> Certificate:
    """Prove what the kernel takes about a few functions of -1 and +1."""
    spread, tables, products = found.spread, found.tables, found.known.products
    if spread is None or tables is None or products is None:
        raise ValueError("members have no tables")
    members = proof.step("products")
    dimension = proof.step(
        "apart",
        members,
        chosen=list(bracket.members),
        classes=bracket.evidence.to_dict()["classes"],
        upper=Fraction(bracket.upper),
    )
    above = all_subsets(products, terms.gamma).above
    sums = proof.step("sums", members, gamma=terms.gamma, above=list(above))
    top = Fraction(spread.eigenvalue + 1, UNIT)
    gram = proof.step("spread", members, top=top)
    asked = [proof.step("ask", gram, oracle=oracle, term=terms.tau) for oracle in ("csq", "stat")]
    weighted = weighted_eigenvalue(tables.signs) + 1
    least = Fraction(terms.vstat) ** 2 * top / 4
    if 3 * terms.vstat * Fraction(weighted, 2 * UNIT) < least:
        finer = proof.step("weighted", members, top=Fraction(weighted, UNIT))
        asked.append(proof.step("ask", finer, oracle="vstat", term=Fraction(terms.vstat)))
    else:
        asked.append(proof.step("ask", gram, oracle="vstat-least", term=Fraction(terms.vstat)))
    fit = proof.step("fit", members, gram, risk=terms.risk)
    bounds = [proof.step("queries", members, fit, one, success=terms.success) for one in asked]
    bounds.append(proof.step("information", members, fit, success=terms.success))
    return proof.certificate(dimension, members, sums, *bounds)


@dataclass(frozen=True, kw_only=True, eq=False)
class Found:
    """What is known of the members, and what of it goes to the certificate.

    spread: of the members whose queries are counted, those of two values as they are; None where
    they are all the same function, too many, or sampled.
    """

    kind: words_of.Kind
    basis: Basis
    known: Known
    given: dict[str, Any]
    spread: Spread | None
    tables: Tables | None = None
    signs: bool = False
    same: bool = False

    @property
    def evidence(self) -> dict[str, Any]:
        """What the certificate holds of the members."""
        tables = {"tables": self.tables.to_dict()} if self.tables else {}
        return {"basis": self.basis, "given": self.given, **tables}

    def spec(self, family: Members) -> str:
        """Name the members by what the certificate holds of them."""
        digest = digest_of(self.given, self.evidence.get("tables"))
        return f"{family.kind}:d={family.d},members={len(family.names)},sha256={digest}"

    def origin(self, family: Members) -> dict[str, str]:
        """Say where the members are from; raises UsageError where that is no name."""
        found = {"path": family.path, "sha256": family.sha256}
        found |= {} if family.of is None else {"of": str(family.of)}
        require(all(map(fits_name, found.values())), f"{family.path!r} given: a name is {NAME}")
        return found


def of_points(
    family: Members, how: How, progress: Callable[[int], None] = lambda done: None
) -> Found:
    """Evaluate the members on all points, or on a sample."""
    names = family.names
    given: dict[str, Any] = {"names": list(names), "n": family.n, "outputs": family.outputs}
    if how.chosen(family) == "sampling":
        gram = sample_products(family, how.samples, float(how.confidence), how.seed, progress)
        known, norms = of_floats(gram, names, how.centred)
        given |= {
            **_floats(known),
            "norms": norms.tolist(),
            "samples": how.samples,
            "confidence": plain(how.confidence),
            "bound": family.bound,
            "seed": how.seed,
        }
        return Found(kind=family.kind, basis="samples", known=known, given=given, spread=None)
    products = enumerate_products(family, progress)
    gram, tables, signs = products.gram, products.tables, products.signs
    if not gram.exact:
        known, _ = of_floats(gram, names, how.centred)
        return Found(
            kind=family.kind,
            basis="floats",
            known=known,
            given=given | _floats(known),
            spread=known.spread,
        )
    if tables is None:
        given |= {"gram": _triangle(gram.values, 1), "signs": signs}
    known = of_integers(gram.values, names, how.centred)
    same = bool((gram.values == gram.values[0, 0]).all())
    spread = known.spread if not (signs and how.centred) else Spread.of(gram.correlations, 0.0)
    return Found(
        kind=family.kind,
        basis="tables" if tables else "integers",
        known=known,
        given=given,
        tables=tables,
        signs=signs,
        same=same,
        spread=None if same else spread,
    )


def _floats(known: Known) -> dict[str, Any]:
    return {"correlations": _triangle(known.correlations, 0), "radius": known.radius}


def _triangle(values: NDArray[Any], more: int) -> list[list[Any]]:
    """The rows below the diagonal, with it where `more` is 1."""
    return [row[: i + more].tolist() for i, row in enumerate(values)]


def _union_evidence(union: Union) -> dict[str, Any]:
    return {
        "specs": list(union.specs),
        "products": [
            {"families": [a, b], "values": [text(v) for v in row]}
            for (a, b), row in union.products.items()
            if a <= b
        ],
    }


def digest_of(given: dict[str, Any], tables: dict[str, Any] | None) -> str:
    """Compute the SHA-256 that names members given by tables, or by their products alone."""
    text = json.dumps(
        {"given": given, "tables": tables or {}}, sort_keys=True, separators=(",", ":")
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _flint(value: Any) -> Any:
    return fmpq(value.numerator, value.denominator)
