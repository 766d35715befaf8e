"""Certify: pose a family's problem, find the witness, and have the checker's theorems claim.

What is hard to find, as codes, multipliers, factors and weights, is found in the modules beside.
What follows, `hardness.bounds.checker` computes here as it does when it checks a file.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.bounds import checker, directions, secret_laws
from hardness.bounds.certificate import Certificate, Claim, NoClaim
from hardness.bounds.checker import written
from hardness.bounds.checker.certificate import KINDS, claims_of
from hardness.bounds.checker.functions import MEMBERS
from hardness.bounds.checker.hidden_sets import vstat_gamma
from hardness.bounds.checker.theorem import Known, read_terms
from hardness.bounds.draws import require_uniform
from hardness.bounds.hidden_sets import Johnson, best_code, every_set
from hardness.bounds.learners import NamedLearner
from hardness.bounds.members import Members, of_family
from hardness.bounds.terms import BoundParameters
from instances.coded import Coded
from instances.errors import UsageError
from instances.family import Family, require
from instances.lwe import Modular, obstacle
from instances.spec import FAMILIES, built_in, parse

_SHARES = (2, 16, 1 << 10, 1 << 20)  # of a goal's success that are given away at most
_NO_SIGNS = (
    "its members are not known to take the values -1 and +1 alone, on points that are listed"
)
_SLOW = "takes too long"  # in what the checker says of numbers that are too large for it


@dataclass(frozen=True, kw_only=True)
class Posed:
    """A problem with what is known of its members, about which any terms may be asked.

    witness: what that needs; family: of residues, whose law of a secret it has.
    """

    spec: str
    problem: dict[str, Any]
    witness: dict[str, Any]
    parsed: Any
    known: Known
    family: Modular | None = None
    origin: dict[str, Any] | None = None

    def certificate(self, terms: dict[str, Any], witness: dict[str, Any]) -> Certificate:
        """Claim all that follows from a witness; raises checker.Refused."""
        claims, unproved = claims_of(
            self.problem["kind"], self.parsed, read_terms(terms), witness, self.known
        )
        return Certificate(
            spec=self.spec,
            problem=self.problem,
            terms=terms,
            witness=witness,
            claims=tuple(map(Claim.from_checker, claims)),
            unproved=unproved,
            origin=self.origin,
            posed=self.known,
        )


def certify(
    target: Family | Members,
    terms: BoundParameters | None = None,
    about: Sequence[NamedLearner] = (),
    centred: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Certificate:
    """Certify correlations, dimensions, query bounds and information floor, or named learners.

    Of a family by formulas if it has them; else, and of listed members, from all their values.
    about: kernels, gradient descent, low-degree polynomials, solvers of LWE: what follows of these
    instead. centred, progress: of listed members, as for `listed.tables_of`. Raises UsageError for
    a family with neither, more members than are enumerated, or a draw that is not uniform; NoClaim
    if nothing follows. [BFJKMR94, FGRVX17, CL24, Fan49, AS20, Hop18, BGMRR16]

    >>> from instances import parse
    >>> certify(parse("parity:d=1000,m=21")).value("sq-dimension")[:12]
    '155098380390'
    >>> certify(parse("profile:g=majority,d=1001,m=20")).value("sq-dimension")
    '50'
    >>> certify(parse("lwr:n=64,q=256,p=2,secret=binary,h=6")).value("sq-dimension")
    '74974368'
    """
    terms = terms or BoundParameters()
    if about:
        return certify_named(pose_for_learners(target, terms.success), about, terms)
    posed = pose(target, terms.success, centred, progress)
    return posed.certificate(terms.to_terms(), posed.witness | _witness(posed, terms))


def certified_problem(family: Family) -> tuple[Family, dict[str, Any]] | None:
    """Find the family that a certificate names, and its problem; None if no theorem is about it.

    A certificate names a family of the package: one of a user's file as it is written without that
    file. Raises UsageError for parameters of which nothing is proved.

    >>> from instances import parse
    >>> about, problem = certified_problem(parse("parity:d=8,m=3"))
    >>> about.spec, problem["values"]
    ('parity:d=8,m=3,noise=0,rho=3', ['1', '-1', '1', '-1'])
    """
    about = family.certified_as()
    problem = about.problem() if built_in(about) else None
    return (about, in_numbers(problem)) if problem else None


def in_numbers(data: Any) -> Any:
    """Write the fractions of a problem as a certificate holds them."""
    if isinstance(data, dict):
        return {key: in_numbers(value) for key, value in data.items()}
    if isinstance(data, list):
        return [in_numbers(value) for value in data]
    return written(data) if isinstance(data, Fraction) else data


def enumerated(family: Family, members: int | None = None) -> Members:
    """List the members of a family without formulas, or some of them.

    Raises UsageError for a family of which no bound is claimed, with those that have some.
    """
    require_uniform(family)
    if family.hardness.evidence == "none" and not isinstance(family, Coded):
        known = (n for n, k in FAMILIES.items() if parse(k.example).hardness.evidence == "exact")
        raise UsageError(
            f"no certificate for {family.name}: {family.hardness.summary}; lower bounds by "
            f"statistical queries are known of {', '.join(known)}, and of functions of a file of "
            "yours"
        )
    return of_family(family, members)


def pose(
    target: Family | Members,
    success: Fraction,
    centred: bool = False,
    progress: Callable[[int], None] = lambda done: None,
) -> Posed:
    """Pose the problem of a family, by its formulas or its tables, and find out about its members.

    success: the probability that is asked of learners, which says of how many members the law of a
    secret is bounded. Raises UsageError.
    """
    if isinstance(target, Members):
        return _pose_listed(target, centred, progress)
    certified = certified_problem(target)
    if certified is None:
        return _pose_listed(enumerated(target), centred, progress)
    require_uniform(target)
    family, problem = certified
    forms = family.linear_forms if problem["kind"] == "residues" else None
    witness = {"law": secret_laws.weights(forms, success)} if forms else {}
    sets = family.hidden_sets
    if sets is not None and not sets.characters and problem["kind"] == "hidden-set":
        parsed = checker.read_problem(problem)
        if parsed.parity:  # a profile that is a parity: its spectrum is claimed as of others
            witness = {"code": best_code(Johnson(problem=parsed))}
    try:
        return _posed(family.spec, problem, witness, family=forms)
    except checker.Refused as reason:
        raise UsageError(f"{family.spec}: {reason}: lower n, h or q") from reason


def _posed(spec: str, problem: dict[str, Any], witness: dict[str, Any], **more: Any) -> Posed:
    parsed = checker.read_problem(problem)
    known = KINDS[problem["kind"]].know(parsed, witness)
    return Posed(spec=spec, problem=problem, witness=witness, parsed=parsed, known=known, **more)


def _pose_listed(source: Members, centred: bool, progress: Callable[[int], None]) -> Posed:
    """Pose the problem of functions, by their tables; raises UsageError."""
    from hardness.bounds import listed

    spec, origin, problem = listed.problem_of(source, centred, progress)
    try:
        witness = listed.eigenvalue(problem)
        return _posed(spec, problem, witness, origin=origin)
    except checker.Refused as reason:
        raise UsageError(
            f"{source.path}: {reason}, once the mean of the members is taken away: leave "
            "--centred or the member out"
        ) from reason
    except OverflowError as error:
        raise UsageError(f"the values of {source.path} are too large: scale them down") from error


def _witness(posed: Posed, terms: BoundParameters) -> dict[str, Any]:
    """Find what the claims need beyond what is known of the members."""
    problem, known, kind = posed.parsed, posed.known, posed.problem["kind"]
    if kind == "hidden-set" and known.more is not None:
        scheme = Johnson(problem=problem)
        multipliers = every_set(scheme, terms.gamma)
        code = posed.witness.get("code") or best_code(scheme)
        witness = {"code": code, "sda": multipliers}
        if problem.levels == 2:
            gamma = vstat_gamma(problem, known.more, terms.vstat)
            witness["vstat"] = every_set(scheme, gamma)
        return witness
    if kind == "residues":
        _require_dense(posed, terms)
    if kind == "direction":
        drawn = directions.random_directions(problem)
        polynomials = {"polynomials": directions.polynomials(problem)}
        return polynomials if drawn["size"] == "1" else polynomials | {"random": drawn}
    if kind == "functions":
        from hardness.bounds import listed

        return listed.sets_of(known.more, terms.gamma)
    return {}


def _require_dense(posed: Posed, terms: BoundParameters) -> None:
    """Refuse a risk at which nothing follows, since a is far from uniform; raises UsageError."""
    least = posed.known.gram.least if posed.known.gram else Fraction(1)
    require(
        terms.risk < least,
        f"risk must be below {float(least):.3g}, the least density of a against uniform, "
        f"got {terms.risk}: raise bits",
    )


def pose_for_learners(target: Family | Members, success: Fraction) -> Posed:
    """Pose a problem about which named learners may be asked; raises NoClaim, UsageError."""
    if isinstance(target, Members):
        silent = f"no claim about {target.path}"
        try:
            posed = pose(target, success)
        except UsageError as error:
            raise NoClaim(f"{silent}: {_NO_SIGNS}") from error
        if posed.known.gram is None:
            raise NoClaim(f"{silent}: all members are the same function")
        if posed.parsed.levels != 2:
            raise NoClaim(f"{silent}: {_NO_SIGNS}")
        return posed
    forms = target.linear_forms
    if forms and (reason := obstacle(forms)):
        raise NoClaim(f"no claim about {forms.spec}: {reason}")
    require_uniform(target)
    if certified_problem(target):
        return pose(target, success)
    if target.factor is not None and target.size and target.size <= MEMBERS:
        return pose_for_learners(of_family(target), success)
    raise NoClaim(
        f"no claim about {target.name}: bounds on named learners are about parity, profile "
        "and hidden, whose members' correlations have a known spectrum, "
        "about lwr, lwe and lpn, whose members are independent, about "
        f"direction, and about {MEMBERS} members at most by tables of -1 and +1"
    )


def certify_named(
    posed: Posed, about: Sequence[NamedLearner], terms: BoundParameters
) -> Certificate:
    """Certify what follows of named learners.

    Those of which nothing follows are in `unproved` with the reason. Raises NoClaim if nothing
    follows of any, UsageError for numbers out of range.
    """
    if posed.problem["kind"] == "residues":
        _require_dense(posed, terms)
    for learner in about:
        learner.require(posed.parsed, posed.known.members)
    asked = {learner.about: learner.numbers for learner in about}
    data = {**terms.to_terms(), "about": asked}
    try:
        if "gd" in asked and posed.known.members.law is not None:
            posed = _with_rare_members(posed, data, terms)
        made = posed.certificate(data, posed.witness)
    except checker.Refused as reason:
        _require_quick(str(reason))
        raise NoClaim(str(reason)) from reason
    for why in made.unproved.values():
        _require_quick(why)
    return made


def _require_quick(why: str) -> None:
    """Refuse numbers that are too large to be computed with; raises UsageError."""
    require(_SLOW not in why, f"{why.removeprefix('no claim: ')}: lower it")


def _with_rare_members(posed: Posed, data: dict[str, Any], terms: BoundParameters) -> Posed:
    """Count the members again, by a law of which less is given away: the best of some.

    By the success that is claimed of gradient descent; if no number of steps is asked about, half
    of the goal's success is given away.
    """
    family, tried = posed.family, []
    if family is None:
        return posed
    alone = {**data, "about": {"gd": data["about"]["gd"]}}
    for share in _SHARES:
        witness = posed.witness | {"rare": secret_laws.weights(family, terms.success / share)}
        rare = _posed(posed.spec, posed.problem, witness, family=family)
        claims = rare.certificate(alone, witness).claims
        most = [claim.value for claim in claims if claim.quantity == "gd-noise-success"]
        tried.append((min(most, default=Fraction(0)), rare))
        if not most:
            break
    return min(tried, key=lambda pair: pair[0])[1]
