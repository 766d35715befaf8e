"""Learners that certificates speak of by their numbers: kernels, noisy descent, low degree, LWE.

What follows of them is computed by the checker. docs/named-mathematics.md has the proofs.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from hardness.bounds.checker import written
from hardness.bounds.checker.hidden_sets import HiddenSets
from hardness.bounds.checker.theorem import Members
from hardness.bounds.terms import misfit
from instances.family import require
from instances.numbers import write

_EXACT = "is needed: one exact mean of a function of its choice can name the member"


class NamedLearner(Protocol):
    """A learner by its numbers."""

    about: ClassVar[str]  # "kernel", "gd", "low-degree" or "lwe"

    @property
    def numbers(self) -> dict[str, str]:
        """Its numbers, as the terms of a certificate have them."""

    def require(self, problem: Any, members: Members) -> None:
        """Refuse numbers that do not go with a problem; raises UsageError."""


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """Regression on `features` functions of the tokens, chosen without labels; None for any number.

    Raises UsageError below 1.
    """

    about: ClassVar[str] = "kernel"

    features: int | None = None

    def __post_init__(self) -> None:
        reason = self.features is not None and misfit("features", self.features)
        require(not reason, str(reason))

    @property
    def numbers(self) -> dict[str, str]:
        """The number of features, if any."""
        return {} if self.features is None else {"features": written(self.features)}

    def require(self, problem: Any, members: Members) -> None:
        """Refuse more features than members; raises UsageError."""
        require(
            self.features is None or members.continuum or self.features <= members.count,
            f"features={self.features} given: 1 to {write(members.count)} are "
            "allowed, the number of members; with all members as features the error is 0",
        )


@dataclass(frozen=True, kw_only=True)
class NoisyDescent:
    """Steps of any rule, each of which sees one mean gradient with normal noise on each coordinate.

    clip: the norm of each example's gradient at most; std: standard deviation of the noise; steps:
    None if only the number that is needed is asked for. Raises UsageError for numbers out of range.

    >>> import hardness
    >>> noisy = NoisyDescent(steps=10**6, clip=Fraction(1), std=Fraction(1))
    >>> from hardness.bounds.certify import certify
    >>> from instances import parse
    >>> certify(parse("parity:d=101,m=4"), about=[noisy]).value("gd-noise-steps")
    '27884246'
    """

    about: ClassVar[str] = "gd"

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

    @property
    def numbers(self) -> dict[str, str]:
        """The clipped norm, the noise, and the number of steps, if any."""
        steps = {} if self.steps is None else {"steps": written(self.steps)}
        return {"clip": written(self.clip), "noise-std": written(self.std), **steps}

    def require(self, problem: Any, members: Members) -> None:
        """All its numbers go with every problem."""


@dataclass(frozen=True, kw_only=True)
class LowDegree:
    """Polynomials of degree <= `degree` in `examples` examples, each monomial on `sample_degree`.

    The degree counts bits of z and the label's unknown part; examples: None where only the number
    that is needed is asked for; sample_degree: how many different examples a monomial may look at,
    None for any number. Raises UsageError out of range.
    """

    about: ClassVar[str] = "low-degree"

    degree: int
    examples: int | None = None
    sample_degree: int | None = None

    def __post_init__(self) -> None:
        for name in ("degree", "examples", "sample_degree"):
            number = getattr(self, name)
            reason = number is not None and misfit(name, number)
            require(not reason, str(reason))
        examples, looked_at = self.examples, self.sample_degree
        require(
            examples is None or looked_at is None or looked_at <= examples,
            f"sample_degree={looked_at} given: at most the number of examples is allowed",
        )

    @property
    def numbers(self) -> dict[str, str]:
        """The degree, and the numbers of examples, if any."""
        names = ("degree", "examples", "sample_degree")
        numbers = {name: getattr(self, name) for name in names}
        return {name: written(v) for name, v in numbers.items() if v is not None}

    def require(self, problem: Any, members: Members) -> None:
        """Refuse a degree beyond that of the examples; raises UsageError."""
        if self.examples is not None and isinstance(problem, HiddenSets):
            most = self.examples * (problem.m + 1)
            require(
                self.degree <= most,
                f"degree={self.degree} given: up to examples * (m + 1) = {most} are allowed: "
                "the ratio has no parts of a higher degree",
            )


@dataclass(frozen=True, kw_only=True)
class Chain:
    """A learner of `examples` examples as a solver of LWE with errors of at most `bound`. [BGMRR16]

    Raises UsageError below 1.

    >>> from hardness.bounds.certify import certify
    >>> from hardness.bounds.terms import BoundParameters
    >>> from instances import parse
    >>> chain, family = Chain(examples=5461, bound=3), parse("lwr:n=64,q=65536,p=2,secret=binary")
    >>> made = certify(family, BoundParameters(risk=Fraction(1, 5)), about=[chain])
    >>> round(float(made["lwe-probability"].value), 4)
    0.2696
    """

    about: ClassVar[str] = "lwe"

    examples: int
    bound: int

    def __post_init__(self) -> None:
        require(self.examples > 0, f"examples={self.examples} given: at least 1 is needed")
        require(self.bound > 0, f"error_bound={self.bound} given: at least 1 is needed")

    @property
    def numbers(self) -> dict[str, str]:
        """The number of examples, and the bound on errors."""
        return {"examples": written(self.examples), "bound": written(self.bound)}

    def require(self, problem: Any, members: Members) -> None:
        """All its numbers go with every problem."""
