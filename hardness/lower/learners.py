"""Certificates about named learners: kernels, gradient descent, low-degree polynomials.

The steps that the kernel takes are found here; what they prove, and in which words, is the kernel's
alone. docs/named-mathematics.md has the proofs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Protocol

from hardness.check import kernel
from hardness.lower.certificate import pose
from hardness.lower.members import Members, of_family
from hardness.lower.modular import require_dense, weights
from hardness.lower.proof import Posed
from hardness.lower.record import Certificate, NoClaim
from hardness.lower.terms import BoundParameters, misfit
from instances.capabilities import FACTOR, LINEAR_FORMS
from instances.coded import MOST_MEMBERS
from instances.errors import UsageError
from instances.family import Family, require
from instances.modular import Modular, obstacle
from instances.text import exact

_EXACT = "is needed: one exact mean of a function of its choice can name the member"
_NO_SIGNS = (
    "its members are not known to take the values -1 and +1 alone, on points that are listed"
)
_ON_OVERLAPS = (
    "a bound on polynomials of low degree needs correlations that depend on overlaps alone"
)
_NO_DEGREE = {
    "residues": "labels are functions of residues, and which of their bits a polynomial counts as "
    "degree, and what parts of such degrees rounded labels have, is another question, about which "
    "there is no theorem here",
    "functions": _ON_OVERLAPS,
    "direction": _ON_OVERLAPS,
}
_SHARES = (2, 16, 1 << 10, 1 << 20)  # of a goal's success that are given away at most
_SLOW = "takes too long"  # in what the kernel says of numbers that are too large for it


class Asked(Protocol):
    """A learner by its numbers."""

    about: ClassVar[str]  # "kernel", "gd", "low-degree" or "lwe"
    gives: ClassVar[bool]  # whether it serves to give away the members that are the likeliest

    def step(self, posed: Posed, terms: BoundParameters) -> int:
        """Take the step that claims what a bound says of it; raises kernel.Refused, NoClaim."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Regression on `features` functions of the tokens, chosen without labels; None for any number.

    Raises UsageError below 1.
    """

    about: ClassVar[str] = "kernel"
    gives: ClassVar[bool] = False

    features: int | None = None

    def __post_init__(self) -> None:
        reason = self.features is not None and misfit("features", self.features)
        require(not reason, str(reason))

    def step(self, posed: Posed, terms: BoundParameters) -> int:
        """Claim the least error of so many features, and how many the goal needs."""
        found = posed.proof.fact(posed.members)
        require(
            self.features is None or found.share or self.features <= found.count,
            f"features={self.features} given: 1 to {exact(found.count)} are "
            "allowed, the number of members; with all members as features the error is 0",
        )
        return posed.proof.step(
            "features",
            posed.members,
            posed.gram,
            features=self.features,
            risk=terms.risk,
            success=terms.success,
        )


@dataclass(frozen=True, kw_only=True)
class NoisyDescent:
    """Steps of any rule, each of which sees one mean gradient with normal noise on each coordinate.

    clip: the norm of each example's gradient at most; std: standard deviation of the noise; steps:
    None if only the number that is needed is asked for. Raises UsageError for numbers out of range.

    >>> from instances import parse
    >>> noisy = NoisyDescent(steps=10**6, clip=Fraction(1), std=Fraction(1))
    >>> certify_named(parse("parity:d=101,m=4"), [noisy]).value("gd-noise-steps")
    '27884246'
    """

    about: ClassVar[str] = "gd"
    gives: ClassVar[bool] = True

    clip: Fraction
    std: Fraction
    steps: int | None = None

    def __post_init__(self) -> None:
        for name, value, why in (
            ("clip", self.clip, "it bounds the norm of a gradient"),
            ("noise-std", self.std, f"some noise {_EXACT}"),
        ):
            right = isinstance(value, Fraction | int) and not misfit(name, value)
            require(right, f"{name}={value} given: a rational above 0 is needed; {why}")
        right = self.steps is None or not misfit("steps", self.steps)
        require(right, f"steps={self.steps} given: an integer of at least 1 is needed")

    def step(self, posed: Posed, terms: BoundParameters) -> int:
        """Claim how often so many steps succeed at most, and how many steps the goal needs."""
        means = posed.proof.step("gradients", posed.gram, clip=self.clip)
        pace = posed.proof.step("noisy", posed.members, means, std=self.std)
        more = {"success": terms.success, "steps": self.steps}
        return posed.proof.step("descent", posed.members, posed.fit(terms.risk), pace, **more)


@dataclass(frozen=True, kw_only=True)
class LowDegree:
    """Polynomials of degree <= `degree` in `examples` examples, each monomial on `sample_degree`.

    The degree counts bits of z and the label's unknown part; examples: None where only the number
    that is needed is asked for; sample_degree: how many different examples a monomial may look at,
    None for any number. Raises UsageError out of range.
    """

    about: ClassVar[str] = "low-degree"
    gives: ClassVar[bool] = False

    degree: int
    examples: int | None = None
    sample_degree: int | None = None

    def __post_init__(self) -> None:
        for name in ("degree", "examples", "sample_degree"):
            number = getattr(self, name)
            reason = number is not None and misfit(name, number)
            require(not reason, str(reason))
        most, given = self.examples, self.sample_degree
        require(
            most is None or given is None or given <= most,
            f"sample_degree={given} given: at most the number of examples is allowed",
        )

    def step(self, posed: Posed, terms: BoundParameters) -> int:
        """Claim how far such a polynomial tells labels from coins, and from how many examples."""
        problem = posed.proof.problem
        if problem["kind"] != "hidden-set":
            raise NoClaim(_NO_DEGREE[problem["kind"]])
        overlaps = posed.overlaps or posed.proof.step("overlaps")
        if self.examples is not None:
            most = self.examples * (problem["chosen"] + 1)
            require(
                self.degree <= most,
                f"degree={self.degree} given: up to examples * (m + 1) = {most} are allowed: "
                "the ratio has no parts of a higher degree",
            )
        return posed.proof.step(
            "low-degree",
            posed.members,
            overlaps,
            degree=self.degree,
            examples=self.examples,
            most=self.sample_degree,
        )


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A learner of `examples` examples as a solver of LWE with errors of at most `bound`. [BGMRR16]

    Raises UsageError below 1.

    >>> from instances import parse
    >>> chain, family = Chain(examples=5461, bound=3), parse("lwr:n=64,q=65536,p=2,secret=binary")
    >>> found = certify_named(family, [chain], BoundParameters(risk=Fraction(1, 5)))
    >>> round(float(found["lwe-probability"].value), 4)
    0.2696
    """

    about: ClassVar[str] = "lwe"
    gives: ClassVar[bool] = False

    examples: int
    bound: int

    def __post_init__(self) -> None:
        require(self.examples > 0, f"examples={self.examples} given: at least 1 is needed")
        require(self.bound > 0, f"error_bound={self.bound} given: at least 1 is needed")

    def step(self, posed: Posed, terms: BoundParameters) -> int:
        """Claim how often the solver succeeds; raises NoClaim of what is no residue."""
        if posed.proof.problem["kind"] != "residues":
            raise NoClaim("only labels that round residues, as those of lwr, come from LWE")
        return posed.proof.step(
            "lwe",
            posed.members,
            bound=self.bound,
            examples=self.examples,
            risk=terms.risk,
            success=terms.success,
        )


def certify_named(
    family: Family, asked: Sequence[Asked], terms: BoundParameters | None = None
) -> Certificate:
    """Certify what the bounds say about kernels, gradient descent or low-degree polynomials.

    As `certify_posed`, of the members of a family. [Fan49, AS20, Hop18]

    >>> from instances import parse
    >>> found = certify_named(parse("parity:d=101,m=4"), [Kernel(features=1000)])
    >>> found.value("kernel-error"), found.value("kernel-features")
    ('50912/50925', '1960612')
    """
    terms = terms or BoundParameters()
    found = pose_family(family, terms)
    giving = [one for one in asked if one.gives]
    if found.fact(found.members).law and giving:
        rare = _rarest(found, LINEAR_FORMS.need(family), giving[0], terms)
        return certify_posed(found, asked, terms, rare)
    return certify_posed(found, asked, terms)


def _rarest(found: Posed, family: Modular, one: Asked, terms: BoundParameters) -> Posed:
    """Count the members again, by a law of which less is given away: the best of some.

    By the success that is claimed of the learner; where it is not asked, half of the goal's.
    """
    proof, tried = found.proof, []
    for share in _SHARES:
        given, before = weights(family, terms.success / share), len(proof.steps)
        rare = replace(found, members=proof.step("secrets", **given))
        try:
            claims = found.fact(one.step(rare, terms)).claims
        except kernel.Refused:
            claims = {}
        proof.undo(len(proof.steps) - before)
        most = [v for name, (v, _, _) in claims.items() if name.endswith("-success")]
        tried.append((min(most, default=Fraction(0)), given))
        if not most:
            break
    best = min(tried, key=lambda pair: pair[0])[1]
    return replace(found, members=proof.step("secrets", **best))


def certify_posed(
    posed: Posed, asked: Sequence[Asked], terms: BoundParameters, rare: Posed | None = None
) -> Certificate:
    """Certify what the bounds say about named learners, of members of any kind.

    rare: the same members by a law that gives fewer of the likeliest away, for learners of whom
    that is the better one. Where several learners are asked about, those of which there is no claim
    are named in it with the reason; raises NoClaim where there is none about any, UsageError for
    numbers out of range.
    """
    require(bool(asked), "no learner given: kernel, gd or low-degree is needed")
    wanted, silent = list[int](), dict[str, str]()
    for one in asked:
        try:
            wanted.append(one.step(rare if one.gives and rare else posed, terms))
        except kernel.Refused as reason:
            require(_SLOW not in str(reason), f"{one} given: {reason}; lower it")
            silent[one.about] = str(reason)
        except NoClaim as reason:
            silent[one.about] = str(reason)
    if not wanted:
        raise NoClaim("no claim: " + "; ".join(dict.fromkeys(silent.values())))
    if silent:
        posed.proof.about["no_claim"] = silent
    stat = [posed.ask("stat", terms.tau)] if any(one.about == "lwe" for one in asked) else []
    return posed.proof.certificate(*wanted, *posed.bounds(stat, terms))


def pose_family(family: Family, terms: BoundParameters) -> Posed:
    """Pose the problem of a family, and count its members; raises NoClaim, UsageError."""
    forms = LINEAR_FORMS.of(family)
    if forms and (reason := obstacle(forms)):
        raise NoClaim(f"no claim: {forms.spec} given: {reason}")
    found = pose(family, terms.success)
    if found:
        if found.proof.problem["kind"] == "residues":
            require_dense(found, terms)
        return found
    if FACTOR.of(family) is not None and family.size and family.size <= MOST_MEMBERS:
        return pose_functions(of_family(family))
    raise NoClaim(
        f"no claim: {family.name} given: bounds on named learners are about parity, profile "
        "and hidden, whose members' correlations have a known spectrum, "
        "about lwr, lwe and lpn, whose members are independent, about "
        f"direction, and about {MOST_MEMBERS} members at most by tables of -1 and +1"
    )


def pose_functions(source: Members) -> Posed:
    """Pose members by their tables of -1 and +1; raises NoClaim for others."""
    silent = f"no claim: {source.path} given"
    try:
        found = pose(source, Fraction(1))
    except UsageError as error:
        raise NoClaim(f"{silent}: {_NO_SIGNS}") from error
    if found is None:
        raise NoClaim(f"{silent}: all members are the same function")
    if not found.proof.parsed.two:
        raise NoClaim(f"{silent}: {_NO_SIGNS}")
    return found
