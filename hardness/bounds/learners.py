"""Learners that certificates speak of by their numbers: kernels, noisy descent, low degree, LWE.

What follows of them is computed by the checker. docs/named-mathematics.md has the proofs.
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

_CALLED = {"std": "noise-std"}  # what the terms of a certificate call a number
_WHOLE = Range(1, words="an integer of at least 1")


@dataclass(frozen=True, kw_only=True)
class NamedLearner:
    """A learner by its numbers, each an integer or an exact rational, or None.

    Raises UsageError for numbers out of range.
    """

    about: ClassVar[str]  # "kernel", "gd", "low-degree" or "lwe"

    def __post_init__(self) -> None:
        kind: Any = type(self)  # of which mypy asks no hash
        for name, allowed in declared(kind).items():
            value, called = getattr(self, name), _CALLED.get(name, name)
            exact = value is None or isinstance(value, Fraction | int)
            require(exact, f"{called} must be an integer or an exact rational, got {value}")
            require(value is None or value in allowed, allowed.refusal(called, value))

    @property
    def numbers(self) -> dict[str, str]:
        """Its numbers, as the terms of a certificate have them."""
        named = {_CALLED.get(name, name): value for name, value in vars(self).items()}
        return {name: written(value) for name, value in named.items() if value is not None}

    def require(self, problem: Any, members: Members) -> None:
        """Refuse numbers that do not go with a problem; raises UsageError."""


@dataclass(frozen=True, kw_only=True)
class Kernel(NamedLearner):
    """Regression on `features` functions of the tokens, chosen without labels; None for any number.

    Raises UsageError below 1.
    """

    about: ClassVar[str] = "kernel"

    features: Annotated[int | None, _WHOLE] = None

    def require(self, problem: Any, members: Members) -> None:
        """Refuse more features than members; raises UsageError."""
        require(
            self.features is None or members.continuum or self.features <= members.count,
            f"features must be between 1 and {write(members.count)}, the number of members, got "
            f"{self.features}; with all members as features the error is 0",
        )


@dataclass(frozen=True, kw_only=True)
class NoisyDescent(NamedLearner):
    """Steps of any rule, each of which sees one mean gradient with normal noise on each coordinate.

    clip: the norm of each example's gradient at most; std: standard deviation of the noise, without
    which one exact mean of a function of its choice can name the member; steps: None if only the
    number that is needed is asked for. Raises UsageError for numbers out of range.

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
    steps: Annotated[int | None, _WHOLE] = None


@dataclass(frozen=True, kw_only=True)
class LowDegree(NamedLearner):
    """Polynomials of degree <= `degree` in `examples` examples, each monomial on `sample_degree`.

    The degree counts bits of z and the label's unknown part; examples: None where only the number
    that is needed is asked for; sample_degree: how many different examples a monomial may look at,
    None for any number. Raises UsageError out of range.
    """

    about: ClassVar[str] = "low-degree"

    degree: Annotated[int, _WHOLE]
    examples: Annotated[int | None, Range(1, 10**1000, words="an integer from 1 to 10^1000")] = None
    sample_degree: Annotated[int | None, _WHOLE] = None

    def require(self, problem: Any, members: Members) -> None:
        """Refuse a degree beyond that of the examples; raises UsageError."""
        if self.examples is None:
            return
        require(
            self.sample_degree is None or self.sample_degree <= self.examples,
            f"sample_degree must be at most the {self.examples} examples, got {self.sample_degree}",
        )
        if isinstance(problem, HiddenSets):
            most = self.examples * (problem.m + 1)
            require(
                self.degree <= most,
                f"degree must be at most examples * (m + 1) = {most}, got {self.degree}: "
                "the ratio has no parts of a higher degree",
            )


@dataclass(frozen=True, kw_only=True)
class Chain(NamedLearner):
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

    examples: Annotated[int, _WHOLE]
    bound: Annotated[int, Range(1, about="error_bound")]
