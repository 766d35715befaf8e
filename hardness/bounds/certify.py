"""Certify: pose a family's problem, find a witness, and derive claims by the checker's theorems.

The other modules of this folder find the witness: codes, multipliers, factors and weights. The
claims are computed by `hardness.bounds.checker`, by the same functions that check a file.
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

_GRANTED_SHARES = (2, 16, 1 << 10, 1 << 20)  # success / share is granted, at most
_NO_SIGNS = (
    "its members are not known to take the values -1 and +1 alone, on points that are listed"
)
_TOO_SLOW = "takes too long"  # in the checker's refusals of numbers that are too large


@dataclass(frozen=True, kw_only=True)
class PosedProblem:
    """A problem with the known facts about its members, from which claims follow for any terms.

    witness: the part of the witness that these facts need. family: for residues, the family with
    the distribution of the secret.
    """

    spec: str
    problem: dict[str, Any]
    witness: dict[str, Any]
    parsed: Any
    known: Known
    family: Modular | None = None
    origin: dict[str, Any] | None = None

    def certificate(self, terms: dict[str, Any], witness: dict[str, Any]) -> Certificate:
        """Make the certificate of all claims that follow from a witness; raises checker.Refused."""
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

    A family with formulas is certified by these; any other, and listed members, by all values.
    about: named learners (kernels, gradient descent, low-degree polynomials, solvers of LWE) to
    certify instead. centred, progress: for listed members, see `listed.problem_of`. Raises
    UsageError for a family without formulas and values, for too many members, and for a draw that
    is not uniform; NoClaim if nothing follows. [BFJKMR94, FGRVX17, CL24, Fan49, AS20, Hop18,
    BGMRR16]

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
    """Return the family that a certificate names, and its problem; None if no theorem applies.

    A certificate names a built-in family; a user's family is named by an equal built-in one. Raises
    UsageError for parameters about which nothing is proved.

    >>> from instances import parse
    >>> about, problem = certified_problem(parse("parity:d=8,m=3"))
    >>> about.spec, problem["values"]
    ('parity:d=8,m=3,noise=0,rho=3', ['1', '-1', '1', '-1'])
    """
    about = family.certified_as()
    problem = about.problem() if built_in(about) else None
    return (about, with_written_fractions(problem)) if problem else None


def with_written_fractions(data: Any) -> Any:
    """Replace the fractions of a problem by texts, as in a certificate."""
    if isinstance(data, dict):
        return {key: with_written_fractions(value) for key, value in data.items()}
    if isinstance(data, list):
        return [with_written_fractions(value) for value in data]
    return written(data) if isinstance(data, Fraction) else data


def enumerated(family: Family, members: int | None = None) -> Members:
    """List the members of a family without formulas; members: how many, None for all.

    Raises UsageError for a family without bounds; the message names families with bounds.
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
) -> PosedProblem:
    """Pose the problem of a family, by formulas or tables, and derive the facts about its members.

    success: the success probability asked of learners; the bound on the distribution of a secret
    is chosen for it. Raises UsageError.
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
        if parsed.parity:  # a profile that is a parity gets the claims of profiles
            witness = {"code": best_code(Johnson(problem=parsed))}
    try:
        return _pose_problem(family.spec, problem, witness, family=forms)
    except checker.Refused as reason:
        raise UsageError(f"{family.spec}: {reason}: lower n, h or q") from reason


def _pose_problem(
    spec: str, problem: dict[str, Any], witness: dict[str, Any], **fields: Any
) -> PosedProblem:
    """Read a problem, derive what is known of its members, and set further fields."""
    parsed = checker.read_problem(problem)
    known = KINDS[problem["kind"]].know(parsed, witness)
    return PosedProblem(
        spec=spec, problem=problem, witness=witness, parsed=parsed, known=known, **fields
    )


def _pose_listed(source: Members, centred: bool, progress: Callable[[int], None]) -> PosedProblem:
    """Pose the problem of listed functions by their tables; raises UsageError."""
    from hardness.bounds import listed

    spec, origin, problem = listed.problem_of(source, centred, progress)
    try:
        witness = listed.eigenvalue(problem)
        return _pose_problem(spec, problem, witness, origin=origin)
    except checker.Refused as reason:
        raise UsageError(
            f"{source.path}: {reason}, once the mean of the members is taken away: leave "
            "--centred or the member out"
        ) from reason
    except OverflowError as error:
        raise UsageError(f"the values of {source.path} are too large: scale them down") from error


def _witness(posed: PosedProblem, terms: BoundParameters) -> dict[str, Any]:
    """Find the part of the witness that the claims need beyond `posed.witness`."""
    problem, known, kind = posed.parsed, posed.known, posed.problem["kind"]
    if kind == "hidden-set" and known.products is not None:
        scheme = Johnson(problem=problem)
        multipliers = every_set(scheme, terms.gamma)
        code = posed.witness.get("code") or best_code(scheme)
        witness = {"code": code, "sda": multipliers}
        if problem.levels == 2:
            gamma = vstat_gamma(problem, known.products, terms.vstat)
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

        return listed.sets_of(known.products, terms.gamma)
    return {}


def _require_dense(posed: PosedProblem, terms: BoundParameters) -> None:
    """Refuse a risk at which nothing follows, as a is too far from uniform; raises UsageError."""
    least = posed.known.gram.least if posed.known.gram else Fraction(1)
    require(
        terms.risk < least,
        f"risk must be below {float(least):.3g}, the least density of a against uniform, "
        f"got {terms.risk}: raise bits",
    )


def pose_for_learners(target: Family | Members, success: Fraction) -> PosedProblem:
    """Pose a problem for claims about named learners; raises NoClaim, UsageError."""
    if isinstance(target, Members):
        no_claim = f"no claim about {target.path}"
        try:
            posed = pose(target, success)
        except UsageError as error:
            raise NoClaim(f"{no_claim}: {_NO_SIGNS}") from error
        if posed.known.gram is None:
            raise NoClaim(f"{no_claim}: all members are the same function")
        if posed.parsed.levels != 2:
            raise NoClaim(f"{no_claim}: {_NO_SIGNS}")
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
    posed: PosedProblem, about: Sequence[NamedLearner], terms: BoundParameters
) -> Certificate:
    """Certify the claims about named learners.

    Learners about which nothing follows are in `unproved`, with the reason. Raises NoClaim if
    nothing follows about any of them, and UsageError for numbers out of range.
    """
    if posed.problem["kind"] == "residues":
        _require_dense(posed, terms)
    for learner in about:
        learner.require(posed.parsed, posed.known.members)
    learners = {learner.about: learner.numbers for learner in about}
    data = {**terms.to_terms(), "about": learners}
    try:
        if "gd" in learners and posed.known.members.law is not None:
            posed = _with_rare_members(posed, data, terms)
        certificate = posed.certificate(data, posed.witness)
    except checker.Refused as refusal:
        _refuse_too_slow(str(refusal))
        raise NoClaim(str(refusal)) from refusal
    for reason in certificate.unproved.values():
        _refuse_too_slow(reason)
    return certificate


def _refuse_too_slow(reason: str) -> None:
    """Raise UsageError if the checker's reason is that numbers are too large to compute with."""
    require(_TOO_SLOW not in reason, f"{reason.removeprefix('no claim: ')}: lower it")


def _with_rare_members(
    posed: PosedProblem, data: dict[str, Any], terms: BoundParameters
) -> PosedProblem:
    """Count the members again, by a law that grants less success for the likeliest members.

    Among `_GRANTED_SHARES` the one with the least success claimed of gradient descent is chosen.
    Without a number of steps there is no such claim, and at most half of the goal is granted.
    """
    family, candidates = posed.family, []
    if family is None:
        return posed
    descent = {**data, "about": {"gd": data["about"]["gd"]}}
    for share in _GRANTED_SHARES:
        witness = posed.witness | {"rare": secret_laws.weights(family, terms.success / share)}
        rare = _pose_problem(posed.spec, posed.problem, witness, family=family)
        claims = rare.certificate(descent, witness).claims
        bounds = [claim.value for claim in claims if claim.quantity == "gd-noise-success"]
        candidates.append((min(bounds, default=Fraction(0)), rare))
        if not bounds:
            break
    return min(candidates, key=lambda pair: pair[0])[1]
