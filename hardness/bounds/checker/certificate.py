"""Certificates, and the claims that follow from problem, terms and witness, for each kind.

A certificate (format 3) is a JSON object of

    format    "hardness-certificate/3"
    spec      the name that its maker gives the family; it is not read here
    problem   a family of functions, by its numbers
    terms     tolerances, the goal of a learner, and perhaps learners by their names
    witness   data that is hard to find and easy to check: codes, multipliers, factors, weights
    claims    triples of a quantity, its parameters and its value

All claims are computed again from problem, terms and witness, and compared; none is trusted.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import directions, functions, hidden_sets, named, residues
from . import theorem as core
from .reading import Refused, fields, listed, need, written
from .theorem import Claim, Known, Number, Terms, Witness

FORMAT = "hardness-certificate/3"
Claimed = tuple[list[Claim], dict[str, str]]
_ON_OVERLAPS = "a bound on low-degree polynomials needs correlations that depend on overlaps alone"
_ON_RESIDUES = "no theorem here says how a polynomial's degree counts the bits of residues"


class Proved(NamedTuple):
    """The result: claims, reasons for named learners without a claim, and theorems used."""

    claims: list[Claim]
    unproved: dict[str, str]
    theorems: list[Callable[..., Any]]


# The module of each kind of problem, with read_problem, know and claims.
KINDS: dict[str, Any] = {"hidden-set": hidden_sets, "residues": residues, "direction": directions,
                         "functions": functions}  # fmt: skip
# The fields that a witness must have, and may have, if the terms name learners.
FIELDS: dict[str, tuple[set[str], set[str]]] = {
    "hidden-set": (set(), {"code"}), "residues": ({"law"}, {"rare"}), "direction": (set(), set()),
    "functions": ({"eigenvalue"}, set())}  # fmt: skip


def read_problem(problem: dict[str, Any]) -> Any:
    """Read a problem of any kind; raises Refused."""
    need(isinstance(problem, dict) and problem.get("kind") in KINDS, "the kind of problem")
    return KINDS[problem["kind"]].read_problem(problem)


def prove(problem: dict[str, Any], terms: dict[str, Any], witness: Witness) -> Proved:
    """Compute all claims that follow from a problem, terms and a witness; raises Refused.

    >>> parity = {"kind": "hidden-set", "places": 23, "chosen": 3,
    ...           "values": ["1", "-1", "1", "-1"], "noise": "0"}
    >>> terms = {"tau": "1/10", "t": "100", "risk": "1/4", "success": "2/3", "gamma": "1/20"}
    >>> [claim.value for claim in prove(parity, terms, {}).claims]
    [0, 1771, 48, 16, 11]
    """
    core.USED.clear()
    try:
        parsed, goal = read_problem(problem), core.read_terms(terms)
        known = KINDS[problem["kind"]].know(parsed, witness)
        claims, unproved = claims_of(problem["kind"], parsed, goal, witness, known)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise Refused(f"something is missing or malformed ({type(error).__name__})") from error
    return Proved(claims, unproved, [*core.USED])


def claims_of(kind: str, problem: Any, terms: Terms, witness: Witness, known: Known) -> Claimed:
    """The claims about a problem, and reasons for the named learners without a claim."""
    claims, unproved = list[Claim](), dict[str, str]()
    if not terms.about:
        return KINDS[kind].claims(problem, terms, witness, known), unproved
    fields(witness, FIELDS[kind][0], "the witness", FIELDS[kind][1])
    need(known.gram is not None, "no claim: all members are the same function")
    need(set(terms.about) <= {"kernel", "gd", "low-degree", "lwe"}, "a learner is not known")
    for name in terms.about:
        used = dict(core.USED)
        try:
            claims += _of_learner(name, kind, problem, terms, known)
        except Refused as reason:
            unproved[name] = str(reason)
            core.USED.clear()
            core.USED.update(used)
    need(bool(claims), "no claim: " + "; ".join(dict.fromkeys(unproved.values())))
    lwe = "lwe" in terms.about
    asked = [core.stat_rules_out(known.members, known.gram, terms.tau)] if lwe else []
    return claims + core.needed_by_learners(problem, terms, known, asked), unproved


def check(data: Any) -> Proved:
    """Compute the claims of a certificate again, and compare them; raises Refused."""
    need(isinstance(data, dict) and data.get("format") == FORMAT, f"its format is not {FORMAT}")
    names = {"format", "spec", "problem", "terms", "witness", "claims"}
    fields(data, names, "the certificate", {"origin"})
    need(isinstance(data["witness"], dict), "the witness is not an object")
    proved, claimed = prove(data["problem"], data["terms"], data["witness"]), listed(data["claims"])
    wanted = [claim_as_written(c.quantity, c.parameters, c.value) for c in proved.claims]
    for claim, right in zip(claimed, wanted, strict=False):
        need(claim == right, f"{right[0]} is not as claimed: it is {right[2]}, of {right[1]}")
    need(len(claimed) == len(wanted), f"{len(claimed)} claims are made, {len(wanted)} follow")
    return proved


def claim_as_written(quantity: str, parameters: Mapping[str, Any], value: Number) -> list[Any]:
    """Write a claim as the triple that a certificate contains."""
    put = {name: v if isinstance(v, str) else written(v) for name, v in parameters.items()}
    return [quantity, put, written(value)]


def _of_learner(name: str, kind: str, problem: Any, terms: Terms, known: Known) -> list[Claim]:
    if name == "kernel":
        return named.features(known.members, known.gram, terms)
    if name == "gd":
        return named.descent(known.rare or known.members, known.gram, terms)
    if name == "low-degree":
        need(kind == "hidden-set", _ON_RESIDUES if kind == "residues" else _ON_OVERLAPS)
        return hidden_sets.low_degree(problem, hidden_sets.overlaps(problem)[0], terms)
    need(kind == "residues", "only labels that round residues, as those of lwr, come from LWE")
    return [residues.lwe(problem, terms)]
