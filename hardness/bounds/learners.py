"""Named learners of certificates, by their numbers: kernels, noisy descent, low degree, LWE.

The checker computes the bounds on them. docs/named-mathematics.md has the proofs.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar

from hardness.bounds.checker import written
from hardness.bounds.checker.hidden_sets import HiddenSets
from hardness.bounds.checker.theorem import Members
from instances.family import require
from instances.numbers import write
from instances.parameters import Range, declared

_TERM_NAMES = {"std": "noise-std"}  # names in a certificate, if they differ
_POSITIVE_INTEGER = Range(1, words="an integer of at least 1")


@dataclass(frozen=True, kw_only=True)
class NamedLearner:
    """A class of learners, given by numbers: integers, exact rationals, or None.

    Raises UsageError for numbers out of range.
    """

    about: ClassVar[str]  # "kernel", "gd", "low-degree" or "lwe"

    def __post_init__(self) -> None:
        kind: Any = type(self)  # `Any`, as mypy misses that a class can be hashed
        for name, allowed in declared(kind).items():
            value, term = getattr(self, name), _TERM_NAMES.get(name, name)
            exact = value is None or isinstance(value, Fraction | int)
            require(exact, f"{term} must be an integer or an exact rational, got {value}")
            require(value is None or value in allowed, allowed.refusal(term, value))

    @property
    def numbers(self) -> dict[str, str]:
        """The numbers that are set, as texts, by their names in a certificate."""
        named = {_TERM_NAMES.get(name, name): value for name, value in vars(self).items()}
        return {name: written(value) for name, value in named.items() if value is not None}

    def require(self, problem: Any, members: Members) -> None:
        """Refuse numbers that do not fit a problem; raises UsageError. Here: none."""


@dataclass(frozen=True, kw_only=True)
class Kernel(NamedLearner):
    """Regression on `features` functions of the tokens, chosen without labels.

    features: None to ask only how many are needed.

    Raises UsageError below 1.
    """

    about: ClassVar[str] = "kernel"

    features: Annotated[int | None, _POSITIVE_INTEGER] = None

    def require(self, problem: Any, members: Members) -> None:
        """Refuse more features than members; raises UsageError."""
        require(
            self.features is None or members.continuum or self.features <= members.count,
            f"features must be between 1 and {write(members.count)}, the number of members that "
            f"the certificate counts, got {self.features}",
        )


@dataclass(frozen=True, kw_only=True)
class NoisyDescent(NamedLearner):
    """Descent by any rule; each step sees one mean gradient with normal noise on each coordinate.

    clip: the largest norm of an example's gradient. std: the standard deviation of the noise;
    without noise one exact mean of a chosen function can identify the member. steps: None to ask
    only how many are needed. Raises UsageError for numbers out of range.

    >>> import hardness
    >>> noisy = NoisyDescent(steps=10**6, clip=Fraction(1), std=Fraction(1))
    >>> from hardness.bounds.certify import certify
    >>> from instances import parse
    >>> certify(parse("parity:d=101,m=4"), about=[noisy]).value("gd-noise-steps")
    '27884246'
    """

    about: ClassVar[str] = "gd"

    clip: Annotated[Fraction, Range(above=0, about="what bounds the norm of a gradient")]
    std: Annotated[Fraction, Range(above=0, about="the noise, as an exact mean names the member,")]
    steps: Annotated[int | None, _POSITIVE_INTEGER] = None


@dataclass(frozen=True, kw_only=True)
class LowDegree(NamedLearner):
    """Polynomials of degree <= `degree` in `examples` examples, each monomial on `sample_degree`.

    The degree counts bits of z and the label's unknown part. examples: None to ask only how many
    are needed. sample_degree: the number of different examples in a monomial, None for any. Raises
    UsageError out of range.
    """

    about: ClassVar[str] = "low-degree"

    degree: Annotated[int, _POSITIVE_INTEGER]
    examples: Annotated[int | None, Range(1, 10**1000, words="an integer from 1 to 10^1000")] = None
    sample_degree: Annotated[int | None, _POSITIVE_INTEGER] = None

    def require(self, problem: Any, members: Members) -> None:
        """Refuse a degree above that of any polynomial in the examples; raises UsageError."""
        if self.examples is None:
            return
        require(
            self.sample_degree is None or self.sample_degree <= self.examples,
            f"sample_degree must be at most the {self.examples} examples, got {self.sample_degree}",
        )
        if isinstance(problem, HiddenSets):
            largest = self.examples * (problem.m + 1)
            require(
                self.degree <= largest,
                f"degree must be at most examples * (m + 1) = {largest}, got {self.degree}: "
                "the ratio has no parts of a higher degree",
            )


@dataclass(frozen=True, kw_only=True)
class Chain(NamedLearner):
    """The reduction from a learner with `examples` examples to a solver of LWE. [BGMRR16]

    bound: the largest absolute error of the LWE samples.

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

    examples: Annotated[int, _POSITIVE_INTEGER]
    bound: Annotated[int, Range(1, about="error_bound")]
