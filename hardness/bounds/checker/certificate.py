"""What a certificate is, and what follows from it: each kind of problem, from members to claims.

A certificate (format 3) is a JSON object of

    format    "hardness-certificate/3"
    spec      how its maker calls the family, which is not read here
    problem   a family of functions, by its numbers
    terms     tolerances, the goal of a learner, and perhaps learners by their names
    witness   what is hard to find and easy to check: codes, multipliers, factors, weights
    claims    triples of a quantity, its parameters and its value

All claims are computed again from problem, terms and witness, and compared. Nothing else in the
file is trusted.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import directions, functions, hidden_sets, named, residues
from . import theorem as core
from .reading import Refused, fields, listed, need, refuse, written
from .theorem import Claim, Known, Number, RuledOut, Terms

FORMAT = "hardness-certificate/3"
Witness = dict[str, Any]
_ON_OVERLAPS = "a bound on low-degree polynomials needs correlations that depend on overlaps alone"
_ON_RESIDUES = "no theorem here says how a polynomial's degree counts the bits of residues"


class Proved(NamedTuple):
    """What follows: claims, named learners of which none follows and why, theorems used."""

    claims: list[Claim]
    unproved: dict[str, str]
    theorems: list[Callable[..., Any]]


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
        refuse(f"something is missing or malformed ({type(error).__name__})")
    return Proved(claims, unproved, [*core.USED])


def claims_of(
    kind: str, problem: Any, terms: Terms, witness: Witness, known: Known
) -> tuple[list[Claim], dict[str, str]]:
    """All that is claimed of a problem, and of which named learners nothing is, and why."""
    if not terms.about:
        return KINDS[kind].claim(problem, terms, witness, known), {}
    fields(witness, KINDS[kind].needed, "the witness", KINDS[kind].optional)
    need(known.gram is not None, "no claim: all members are the same function")
    claims, unproved = list[Claim](), dict[str, str]()
    need(set(terms.about) <= {"kernel", "gd", "low-degree", "lwe"}, "a learner is not known")
    for name in terms.about:
        try:
            claims += _of_learner(name, kind, problem, terms, known)
        except Refused as reason:
            unproved[name] = str(reason)
    need(bool(claims), "no claim: " + "; ".join(dict.fromkeys(unproved.values())))
    if "lwe" in terms.about:
        return claims + claims_of_learners(problem, terms, known), unproved
    return claims + _learners(problem, terms, known, []), unproved


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
    """Write a claim as a certificate has it."""
    put = {name: v if isinstance(v, str) else written(v) for name, v in parameters.items()}
    return [quantity, put, written(value)]


def _learners(problem: Any, terms: Terms, known: Known, asked: list[RuledOut]) -> list[Claim]:
    """Bound the queries of each kind that is asked, and the examples, that learners need."""
    general = known.gram.general or all(query.oracle == "csq" for query in asked)
    need(general, "there is no bound on general queries here")
    fits = core.hypothesis_fits(known.members, known.gram, terms.risk)
    claims = [core.queries_needed(query, known.members, fits, terms) for query in asked]
    if problem.levels is not None:
        claims.append(core.information_floor(problem.levels, known.members, fits, terms))
    return claims


def claims_of_learners(problem: Any, terms: Terms, known: Known) -> list[Claim]:
    """The queries to STAT(tau), and the examples, that a learner needs."""
    need(known.gram is not None, "all members are the same function")
    stat = core.stat_rules_out(known.members, known.gram, terms.tau)
    return _learners(problem, terms, known, [stat])


def _of_learner(name: str, kind: str, problem: Any, terms: Terms, known: Known) -> list[Claim]:
    if name == "kernel":
        return named.features(known.members, known.gram, terms)
    if name == "gd":
        members = known.rare or known.members
        fits = core.hypothesis_fits(members, known.gram, terms.risk)
        return named.descent(members, known.gram, fits, terms)
    if name == "low-degree":
        need(kind == "hidden-set", _ON_RESIDUES if kind == "residues" else _ON_OVERLAPS)
        overlaps = known.more or hidden_sets.overlaps(problem)[0]
        return hidden_sets.low_degree(problem, overlaps, terms)
    need(kind == "residues", "only labels that round residues, as those of lwr, come from LWE")
    return [residues.lwe(problem, terms)]


def _know_hidden_sets(problem: hidden_sets.HiddenSets, witness: Witness) -> Known:
    members = hidden_sets.subsets(problem)
    if problem.parity and not witness:
        return Known(members, *hidden_sets.characters(problem, members))
    overlaps, near = hidden_sets.overlaps(problem)
    gram, spectrum = hidden_sets.johnson(problem, members, overlaps)
    return Known(members, gram, near + spectrum, more=overlaps)


def _claim_hidden_sets(problem: Any, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    members, gram, two = known.members, known.gram, problem.levels == 2
    stat = core.stat_rules_out(members, gram, terms.tau)
    if known.more is None:
        asked = [stat, core.vstat_rules_out(members, gram, terms.t)]
        return known.claims + _learners(problem, terms, known, asked)
    fields(witness, {"code", "sda"} | ({"vstat"} if two else set()), "the witness")
    packed = hidden_sets.packing(problem, members, known.more, witness["code"])
    enough = hidden_sets.every_set(problem, members, known.more, terms.gamma, witness["sda"])
    sda = hidden_sets.sda(members, terms.gamma, enough)
    asked = [] if problem.view else [core.stat_rules_out(members, gram, terms.tau, "csq")]
    if two:
        few = hidden_sets.vstat_rules_out_fewer(
            problem, members, known.more, terms.t, witness["vstat"]
        )
        asked += [stat, few]
    return [*known.claims, packed, sda, *_learners(problem, terms, known, asked)]


def _know_residues(problem: residues.Residues, witness: Witness) -> Known:
    members, counted = residues.secrets(problem, witness["law"])
    gram, claims = residues.laws(problem, members)
    rare = residues.secrets(problem, witness["rare"])[0] if "rare" in witness else None
    return Known(members, gram, counted + claims, rare)


def _claim_residues(problem: Any, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    fields(witness, {"law"}, "the witness")
    asked = [core.stat_rules_out(known.members, known.gram, terms.tau),
             core.vstat_rules_out(known.members, known.gram, terms.t)]  # fmt: skip
    return known.claims + _learners(problem, terms, known, asked)


def _claim_directions(problem: Any, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    fields(witness, {"polynomials"}, "the witness", {"random"})
    sets = [directions.polynomials(problem, witness["polynomials"])]
    if "random" in witness:
        sets.insert(0, directions.random_directions(problem, witness["random"]))
    members, gram = known.members, known.gram
    vstat = core.vstat_rules_out(members, gram, terms.t)
    within = core.vstat_rules_out_at_least_one_over_t(members, gram, terms.t)
    fewer = within if within.members <= vstat.members else vstat
    asked = [core.stat_rules_out(members, gram, terms.tau), fewer]
    return known.claims + sets + _learners(problem, terms, known, asked)


def know_functions(problem: functions.Functions, witness: Witness) -> Known:
    """What is known of listed functions: their inner products, and a bound on eigenvalues."""
    members, products, claims = functions.products(problem)
    gram = None
    if any(v != products.plain[0][0] for row in products.plain for v in row):
        gram = functions.spread(problem, members, products, witness["eigenvalue"])
    return Known(members, gram, claims, more=products)


def _claim_functions(problem: Any, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    members, products, gram = known.members, known.more, known.gram
    one_norm = len(set(products.norms)) == 1
    names = [("eigenvalue", gram), ("apart", True), ("sda", one_norm)]
    fields(witness, {name for name, there in names if there}, "the witness")
    claims = [functions.apart(members, products, witness["apart"]), *known.claims]
    if one_norm:
        claims.append(functions.sda(members, products, terms.gamma, witness["sda"]))
    if gram is None:
        return claims
    asked = [core.stat_rules_out(members, gram, terms.tau, "csq")]
    if problem.two:
        asked.append(core.stat_rules_out(members, gram, terms.tau))
        asked.append(core.vstat_rules_out_at_least_one_over_t(members, gram, terms.t))
    return claims + _learners(problem, terms, known, asked)


class Kind(NamedTuple):
    """How a problem is read, what is known of its members, and what is claimed of learners.

    needed, optional: fields of the witness if named learners are asked about.
    """

    read_problem: Callable[[dict[str, Any]], Any]
    know: Callable[[Any, Witness], Known]
    claim: Callable[[Any, Terms, Witness, Known], list[Claim]]
    needed: set[str]
    optional: set[str]


KINDS = {
    "hidden-set": Kind(hidden_sets.read_problem, _know_hidden_sets, _claim_hidden_sets,
                       set(), {"code"}),
    "residues": Kind(residues.read_problem, _know_residues, _claim_residues, {"law"}, {"rare"}),
    "direction": Kind(directions.read_problem, lambda posed, _: Known(*directions.sphere(posed)),
                      _claim_directions, set(), set()),
    "functions": Kind(functions.read_problem, know_functions, _claim_functions,
                      {"eigenvalue"}, set()),
}  # fmt: skip
