"""Certify a family: pose its problem, count its members, claim what follows of them."""

from collections.abc import Callable
from fractions import Fraction

from hardness.check.problems import subject
from hardness.lower import directions, hidden_sets, listed, modular
from hardness.lower.draws import require_uniform
from hardness.lower.members import Members, of_family
from hardness.lower.proof import Posed, Proof
from hardness.lower.record import Certificate
from hardness.lower.terms import BoundParameters
from instances.capabilities import CHARACTERS, CODED, FACTOR, LINEAR_FORMS, PROVED_AS
from instances.errors import UsageError
from instances.family import Family
from instances.spec import FAMILIES, built_in, parse

_MAKERS = {
    "hidden-set": hidden_sets.certify_hidden_sets,
    "residues": modular.certify_residues,
    "direction": directions.certify_directions,
}


def certify(
    what: Family | Members,
    terms: BoundParameters | None = None,
    centred: bool = False,
    steps: int | None = None,
    progress: Callable[[int], None] = lambda done: None,
) -> Certificate:
    """Certify correlations, dimensions, query bounds and information floor.

    Of a family by formulas where it has them; else, and of listed members, from all their values.
    centred, steps, progress: of listed members, as for `certify_listed`. Raises UsageError for a
    family with neither, more members than are enumerated, or a draw that is not uniform.
    [BFJKMR94, FGRVX17, CL24]

    >>> from instances import parse
    >>> certify(parse("parity:d=1000,m=21")).value("sq-dimension")[:12]
    '155098380390'
    >>> certify(parse("profile:g=majority,d=1001,m=20")).value("sq-dimension")
    '50'
    >>> certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6")).value("sq-dimension")
    '74974368'
    """
    terms = terms or BoundParameters()
    if not isinstance(what, Members):
        if found := pose(what, terms.success):
            return _MAKERS[found.proof.problem["kind"]](found, terms)
        what = of_family(what)
    return listed.certify_listed(what, terms, centred, steps, progress)


def enumerated(family: Family, members: int | None = None) -> Members | None:
    """The members of a family without formulas, or some of them; None of one with formulas.

    Raises UsageError for a family of which no bound is claimed, with those that have some.
    """
    if subject(family):
        return None
    require_uniform(family)
    if family.hardness.evidence == "none" and CODED.of(family) is FACTOR.of(family) is None:
        known = (n for n, k in FAMILIES.items() if parse(k.example).hardness.evidence == "exact")
        raise UsageError(
            f"{family.name} given: {family.hardness.why}; lower bounds by statistical queries are "
            f"known of {', '.join(known)}, and of functions of a file of yours"
        )
    return of_family(family, members)


def pose(family: Family | Members, success: Fraction) -> Posed | None:
    """Take the steps about the members of a family with formulas, or about listed ones.

    None for other families, and for listed members that are all the same function. success: the
    probability that is asked of learners, which says of how many members the law of a secret is
    bounded. Raises UsageError for a family of which nothing is claimed.
    """
    if isinstance(family, Members):
        return listed.grams(*listed.pose(family))
    require_uniform(family)
    known = subject(family)
    if known is None:
        return None
    about, problem = known[0], known[1]()
    proof = Proof(problem, {"spec": about.spec})
    if problem["kind"] == "residues":
        return modular.pose(proof, LINEAR_FORMS.need(about), success)
    if problem["kind"] == "direction":
        return directions.pose(proof)
    sets = PROVED_AS.of(about) or about
    return hidden_sets.pose(proof, bool(CHARACTERS.of(sets)) and built_in(sets))
