"""Certificates of finite families: what is known of their correlations, and what follows.

A query h with E||h||^2 <= 1 moves sum_i <f_i - mean, h>^2 <= lambda, by the largest eigenvalue of
the members less their mean. An adversary that answers <mean, h> within tau therefore lies about at
most lambda / tau^2 of them. docs/finite.md has the proofs.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from flint import fmpq
from numpy.typing import NDArray

from hardness.claims import finite as words_of
from hardness.claims.finite import Basis, quantities, scope
from hardness.lower.bounds import Terms
from hardness.lower.finite.graph import Bracket, Search
from hardness.lower.finite.known import Ends, Known, of_floats, of_integers
from hardness.lower.finite.products import MOST_COORDINATES, enumerate_products, sample_products
from hardness.lower.finite.sources import FiniteFamily
from hardness.lower.finite.unions import Union
from hardness.lower.record import Certificate, Claim, Kind, claim, text
from instances.errors import UsageError
from instances.parameters import plain

MOST_SPECTRUM = 3000  # members up to which eigenvalues are computed: it takes M^3
_QUICK_POINTS, _QUICK_VALUES = 22, 1 << 32

Method = Literal["enumeration", "sampling"]
_SPECS: tuple[words_of.Kind, Basis] = ("specs", "specs")


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

    def points(self, source: FiniteFamily | Union) -> int:
        """The number of points at which members are evaluated."""
        if isinstance(source, Union):
            return 0
        sampled = self.chosen(source) == "sampling"
        return self.samples if sampled else 1 << min(source.n, MOST_COORDINATES)

    def what(self, source: FiniteFamily | Union) -> str:
        """Say in words how the source is certified."""
        if isinstance(source, Union):
            return "a list of specs, certified by formulas"
        return f"{len(source.names)} {source.kind}, certified by {self.chosen(source)}"

    def chosen(self, family: FiniteFamily) -> Method:
        """The method that is used: enumeration where it is a matter of minutes at most."""
        if self.method:
            return self.method
        values = (len(family.names) * family.outputs) << min(family.n, MOST_COORDINATES + 1)
        quick = family.n <= _QUICK_POINTS and values <= _QUICK_VALUES
        return "enumeration" if quick else "sampling"


def options(source: FiniteFamily | Union | None, how: How) -> set[str]:
    """Name the options of `certify` that apply to a source only; None is a spec.

    >>> sorted(options(None, How()))
    ['gamma', 'vstat']
    """
    if source is None:
        return {"vstat", "gamma"}
    if isinstance(source, Union):
        return {"centred", "steps"}
    found = {"centred", "steps", "method"}
    return found | ({"samples", "confidence"} if how.chosen(source) == "sampling" else set())


def search_steps(members: int) -> int:
    """Choose a limit of steps with which a search takes seconds: a step costs more among more.

    >>> search_steps(56), search_steps(3000)
    (200000, 1000)
    """
    return max(1000, min(200_000, round(200_000 * (300 / members) ** 3)))


def certify_finite(
    source: FiniteFamily | Union,
    terms: Terms | None = None,
    how: How | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Certificate:
    """Certify the correlations, SQ-DIM and correlational queries of a finite family.

    Raises UsageError, TooLarge. [BFJKMR94, FGRVX17]

    >>> import numpy as np
    >>> from hardness.lower.finite.sources import FiniteFamily
    >>> family = FiniteFamily(kind="functions", label="path=x,sha256=0", names=("a", "b"), d=2, n=2,
    ...     outputs=1, bound=1.0, evaluate=lambda x: x.T.astype(float))
    >>> certify_finite(family).value("sq-dimension")
    '2'
    """
    terms, how = terms or Terms(), how or How()
    if isinstance(source, Union):
        known, given, tables = source.known(how.centred), _union_evidence(source), None
        kind, basis = _SPECS
    else:
        kind = source.kind
        basis, known, given, tables = _of_points(source, how, progress)
    steps = search_steps(len(known.low)) if how.steps is None else how.steps
    bracket = known.sq_dimension(steps)
    evidence: dict[str, Any] = {
        "basis": basis,
        "centred": how.centred,
        "given": given,
        "sha256": hashlib.sha256(_plain_json(given)).hexdigest(),
        "dimension": _dimension_evidence(bracket),
    }
    if tables:
        evidence["tables"] = tables
    words = quantities(kind, basis, how.centred)
    sampled = basis == "samples"
    more = {"confidence": plain(how.confidence)} if sampled else {}

    def stated(name: str, low: Any, high: Any | None, rest: dict[str, str]) -> Claim:
        upper = {} if high is None else {"upper": text(_flint(high))}
        known_as: Kind = "exact" if high is None or low == high else "interval"
        found: Kind = "statistical" if sampled else known_as
        return claim(words, name, _flint(low), {**upper, **rest, **more}, found)

    def ended(name: str, ends: Ends) -> Claim:
        return stated(name, *ends, {})

    members = {"members": str(known.members)}
    claims = [
        stated("sq-dimension", bracket.lower, bracket.upper, members),
        ended("largest-correlation", known.largest),
        ended("average-correlation", known.average),
    ]
    if known.members <= MOST_SPECTRUM:
        evidence["spread"] = known.spread.to_json()
        queries = known.spread.csq_queries(terms.tau, terms.risk, terms.success, known.members)
        goal = {k: str(getattr(terms, k)) for k in ("tau", "risk", "success")}
        claims.append(stated("csq-queries", queries, None, goal))
    return Certificate(
        spec=source.spec, claims=tuple(claims), scope=scope(how.centred), evidence=evidence
    )


def _of_points(
    family: FiniteFamily, how: How, progress: Callable[[int], None]
) -> tuple[Basis, Known, dict[str, Any], dict[str, Any] | None]:
    """Evaluate the members, and say what of it goes to the certificate."""
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
        return "samples", known, given, None
    gram, tables = enumerate_products(family, progress)
    if gram.kind == "exact":
        given["gram"] = _triangle(gram.values, 1)
        known = of_integers(gram.values, names, how.centred)
        return (
            ("tables", known, given, tables.to_json())
            if tables
            else ("integers", known, given, None)
        )
    known, _ = of_floats(gram, names, how.centred)
    return "floats", known, {**given, **_floats(known)}, None


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


def _dimension_evidence(found: Bracket) -> dict[str, Any]:
    """The chosen members, and why no more exist; a search is repeated, so its steps say nothing."""
    shown = found.evidence.to_json()
    if isinstance(found.evidence, Search):
        del shown["steps"]
    return {"members": list(found.members), "upper": shown}


def _plain_json(given: dict[str, Any]) -> bytes:
    return json.dumps(given, sort_keys=True, separators=(",", ":")).encode()


def _flint(value: Any) -> Any:
    return fmpq(value.numerator, value.denominator)
