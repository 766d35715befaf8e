"""Families and their instances: an instance has a public part and a secret part.

A family is a set of functions indexed by a secret, with a token distribution and a label noise.
It does not store which secret was drawn; an Instance does.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.errors import require as require
from instances.layer import AttentionLayer, Kind
from instances.limits import require_memory
from instances.parameters import brief, canonical, require_declared
from instances.streams import generator

if TYPE_CHECKING:
    from instances.coded import Coded
    from instances.lwe import Modular
    from instances.sets import Symmetric

Secret = tuple[int, ...]
HiddenSigns = Callable[[Secret, NDArray[Any]], NDArray[np.float64]]
REFERENCE_EXAMPLES = 8
_UNCHECKED_BYTES = 1 << 28  # draws up to this size do not look at the free memory
_LABEL_TOLERANCE = 1e-9  # relative: labels computed on other machines differ by rounding
OFFERS = {  # what a command may need from a family, and which families offer it
    "coded": "labels that are codes of a few levels, on two tokens of -1 and +1: take parity, "
    "profile, lwr, lwe or lpn, or derive from instances.coded.Coded",
    "factor": "the labels' unknown factor as a table over z: take a family whose labels are codes, "
    "as parity, with d - 1 up to 26",
    "real_labels": "labels that are the outputs of a layer, as real numbers: take nice or linear, "
    "or derive from instances.dense.Dense",
    "hidden_sets": "hidden sets of one size, whose correlations depend on their overlap alone: "
    "take parity or profile, or derive from instances.sets.Symmetric",
    "linear_forms": "labels that are functions of <a, s> mod q: take lwr, lwe, lpn or parity, or "
    "derive from instances.lwe.Modular",
    "noisy_parities": "labels that are parities of hidden bits, right or flipped at one rate: take "
    "parity or lpn",
    "questions": "labels of inputs that a learner chooses: take a family of drawn layers, or give "
    "yours `questions` and `answers`",
}


@dataclass(frozen=True, kw_only=True)
class Hardness:
    """How hard a family is known to be, and why.

    proved: for which learners hardness is proved without an assumption, or that nothing is proved.
    assumption: the assumption under which all algorithms are slow. easy: what learns the family
    nevertheless. The last two may be empty.
    """

    evidence: Literal["exact", "assumption", "none"]
    proved: str
    assumption: str = ""
    easy: str = ""

    @property
    def summary(self) -> str:
        """The fields `proved`, `assumption` and `easy` in one sentence."""
        on_all = f"for all algorithms: the assumption that {self.assumption}"
        more = [on_all] * bool(self.assumption) + [self.easy] * bool(self.easy)
        return (": " if self.evidence == "none" else "; ").join([self.proved, *more])


class Examples(ABC):
    """Labelled examples: a frozen dataclass of a family and arrays with one row per example.

    x: the tokens, (n, k, d), int8 where they are -1 or +1, else float64. y: the labels, (n, k, d).
    """

    family: "Family"
    x: NDArray[Any]
    y: NDArray[np.float64]

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the examples, by field name."""
        names = (field.name for field in fields(cast(Any, self)) if field.name != "family")
        return {name: getattr(self, name) for name in names}

    @property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays that files of examples hold, by name."""
        return self.arrays

    def __len__(self) -> int:
        return len(next(iter(self.arrays.values())))

    def cut(self, start: int, stop: int) -> Self:
        """Return examples start .. stop-1."""
        parts = {name: value[start:stop] for name, value in self.arrays.items()}
        return replace(cast(Any, self), **parts)

    def agrees(self, other: "Examples") -> bool:
        """Return whether both hold the same examples; real numbers may differ by rounding."""
        return self.arrays.keys() == other.arrays.keys() and all(
            np.allclose(
                mine, value, _LABEL_TOLERANCE, _LABEL_TOLERANCE * (1 + np.abs(value).max(initial=0))
            )
            if value.dtype.kind == "f" and mine.shape == value.shape
            else np.array_equal(mine, value)
            for mine, value in zip(self.arrays.values(), other.arrays.values(), strict=True)
        )


class Family(ABC):
    """A family of attention layers: a frozen dataclass, its fields the spec's keys.

    The abstract methods are the core that every family gives. All else that bounds, learners and
    figures use has a default: None, or a value computed from the core.
    """

    name: ClassVar[str]
    revision: ClassVar[int] = 1  # raised when the same seed gives other examples
    former: ClassVar[tuple[str, ...]] = ()  # parameters of earlier specs; seeds depend on them
    example: ClassVar[str]  # a spec
    about: ClassVar[str]  # one line
    label_text: ClassVar[str]  # how labels follow from what is stored, for readers of files

    k: int  # number of tokens
    d: int  # dimension of a token
    noise: Fraction  # of the labels; each family defines its meaning
    noise_known: ClassVar[bool] = True  # False for a user's data, whose labels may have any noise
    rows: ClassVar[int] = 0  # for a user's data: only the first `rows` tokens have labels; 0: all

    def __post_init__(self) -> None:
        """Refuse parameters that are out of range or do not fit each other."""
        require_declared(self)
        self.check()

    def check(self) -> None:  # noqa: B027 - most families refuse none
        """Refuse parameters that do not fit each other; raises UsageError. Here: none."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The exact number of members; None for a continuum."""

    @property
    def kind(self) -> Kind:
        """The kind of attention of the layers: softmax or linear."""
        return "softmax"

    @property
    @abstractmethod
    def token_text(self) -> str:
        """The distribution of the tokens, in words."""

    @property
    @abstractmethod
    def layer_heads(self) -> int:
        """The number of heads of a member's layer, which is public; 0 if it is unknown."""

    @property
    @abstractmethod
    def hardness(self) -> Hardness:
        """What is known about how hard the family is."""

    @property
    @abstractmethod
    def bytes_per_example(self) -> int:
        """The bytes of memory and disk that one example needs."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret."""

    def same(self, first: Secret, second: Secret) -> bool:
        """Return whether two secrets give the same member: the same function of the tokens."""
        return first == second

    @abstractmethod
    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the attention layer of a member."""

    @abstractmethod
    def label(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate a member's noiseless label by its formula: (n, k, d) -> (n, k, d)."""

    def computed(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate by its formula the function that the layer computes: (n, k, d) -> (n, k, d)."""
        return self.label(secret, x)

    @abstractmethod
    def mean(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F = E[Y|X], with which predictions are compared: (n, k, d) -> (n, k, d)."""

    @abstractmethod
    def known(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the baseline, a prediction from the family alone: (n, k, d)."""

    beside_text: ClassVar[str] = ""  # what `beside` evaluates, in words

    def beside(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the part of F that the baseline is given although it is secret; 0 by default.

        The baseline of a relative risk knows the family and this part.
        """
        return np.zeros(x.shape, np.float64)

    @abstractmethod
    def stream(self, secret: Secret, seed: int, axis: str, start: int, count: int) -> Examples:
        """Return examples start .. start+count-1 of a stream, however it is cut."""

    @abstractmethod
    def restore(self, tensors: dict[str, NDArray[Any]], count: int) -> Examples:
        """Make `count` examples from stored tensors; raises ValueError if they do not fit."""

    @property
    def spec(self) -> str:
        """The canonical spec: defaults filled in, keys sorted."""
        return canonical(self, self.name)

    def __str__(self) -> str:
        """Write the spec for people: without parameters at their defaults."""
        return brief(self, self.name)

    def members(self) -> Iterator[Secret] | None:
        """List the secrets of all members, each member once, in an order that never changes.

        None if they cannot be listed. The list may be too long to be read to its end.
        """
        return None

    def sign_correlations(self, members: tuple[Secret, ...]) -> NDArray[np.float64]:
        """Return the correlations of members' hidden signs: (M, M), by default the identity."""
        return np.eye(len(members))

    def problem(self) -> dict[str, Any] | None:
        """Return the problem of a certificate in the checker's form, numbers as int or Fraction.

        None if no theorem applies except the one on listed functions. Raises UsageError for
        parameters about which nothing is proved.
        """
        return None

    def certified_as(self) -> "Family":
        """The family that the certificate names, with the same labels: by default this family."""
        return self

    @property
    def factor(self) -> "Coded | None":
        """The family itself, if labels are codes and their unknown factor is a table over z."""
        return None

    @property
    def hidden_sets(self) -> "Symmetric | None":
        """The family of hidden sets that the labels depend on, perhaps among other heads."""
        return None

    @property
    def linear_forms(self) -> "Modular | None":
        """The family of functions of <a, s> mod q that has the same labels."""
        return None

    # Checks tokens (n, k, d) that a learner chooses, for `answers`; None: it may not choose any.
    questions: Callable[[Any], NDArray[Any]] | None = None

    # Signs that examples reveal and that differ between members, if labels are not codes.
    hidden_signs: HiddenSigns | None = None

    def lacks(self, offer: str) -> str:
        """Say in one line that the family does not offer something, and which families do.

        >>> from instances import parse
        >>> parse("nice:m=1,k=2,d=4").lacks("hidden_sets")[:50]
        'nice lacks `hidden_sets`, hidden sets of one size,'
        """
        return f"{self.name} lacks `{offer}`, {OFFERS[offer]}"

    def refuse(self, offer: str) -> NoReturn:
        """Raise UsageError: the family does not offer what is needed."""
        raise UsageError(self.lacks(offer))

    def to_linear(self, secret: Secret) -> Secret:
        """Write a member's secret as the vector s of `linear_forms`: n entries."""
        return secret

    def from_linear(self, s: Secret) -> Secret:
        """Write a vector s of `linear_forms` as a secret of this family."""
        return s

    def answers(
        self, secret: Secret, seed: int, start: int, x: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Label inputs (n, k, d) that a learner chose, with noise start .. start+n-1 of a stream.

        The stream has the axis "values". The answers do not depend on batching.
        """
        self.refuse("questions")

    @property
    def default_learners(self) -> tuple[str, ...]:
        """The learners that a comparison runs by default, if they support the family."""
        return ("trivial",)

    @property
    def seed_spec(self) -> str:
        """The spec that seeds depend on: it has the parameters of earlier specs too."""
        name, _, rest = self.spec.partition(":")
        pairs = sorted([*rest.split(","), *self.former])
        return f"{name}:{','.join(pairs)}" if self.former else self.spec

    def instance(self, seed: int) -> "Instance":
        """Draw the instance of a seed. Anyone who knows the seed can draw it again."""
        spec = self.seed_spec
        hidden = Hidden(
            secret=tuple(map(int, self.draw(generator(seed, "secret", spec)))),
            seed=seed,
            nonce=generator(seed, "nonce", spec).bytes(32),
        )
        return Instance(family=self, hidden=hidden)


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The secret part of an instance."""

    secret: Secret = field(repr=False)
    seed: int = field(repr=False)
    nonce: bytes = field(repr=False)

    def commitment(self, part: Literal["secret", "seed"]) -> str:
        """Commit to the secret or the seed: SHA-256(nonce || its JSON), in hexadecimal."""
        value = list(self.secret) if part == "secret" else self.seed
        return hashlib.sha256(self.nonce + json.dumps(value).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class Public:
    """The public part of an instance: what a learner may see before it asks for examples."""

    family: Family
    commitments: dict[str, str]
    reference: Examples  # a few labelled examples by which a secret part is recognised


@dataclass(frozen=True, kw_only=True)
class Instance:
    """One member of a family, with its random streams.

    >>> from instances.spec import parse
    >>> instance = parse("parity:d=8,m=3").instance(seed=0)
    >>> instance.examples(0, 100).x.shape
    (100, 2, 8)
    """

    family: Family
    hidden: Hidden

    @cached_property
    def public(self) -> Public:
        """The part that may be published."""
        return Public(
            family=self.family,
            commitments={w: self.hidden.commitment(w) for w in ("secret", "seed")},
            reference=self.examples(0, REFERENCE_EXAMPLES, axis="reference"),
        )

    def layer(self) -> AttentionLayer:
        """Build the instance's attention layer."""
        return self.family.layer(self.hidden.secret)

    def examples(self, start: int, count: int, axis: str = "examples") -> Examples:
        """Return examples start .. start+count-1 of a named stream of the instance.

        They do not depend on how the stream is cut; streams of different axes are independent.
        """
        family = self.family
        require_examples(family, count)
        return family.stream(self.hidden.secret, self.hidden.seed, axis, start, count)

    def values(self, start: int, x: NDArray[Any]) -> NDArray[np.float64]:
        """Return labels of chosen inputs (n, k, d), with noise start .. start+n-1 of its stream."""
        require_examples(self.family, len(x))
        return self.family.answers(self.hidden.secret, self.hidden.seed, start, x)


class Source(Protocol):
    """A source of examples: an instance, which is endless, or a folder, which is finite."""

    @property
    def family(self) -> Family:
        """The family of the instance."""

    def examples(self, start: int, count: int) -> Examples:
        """Return examples start .. start+count-1, fewer if the source ends before."""


def require_examples(family: Family, count: int) -> None:
    """Refuse to draw more examples than fit in memory at once; raises TooLarge."""
    size = 3 * count * family.bytes_per_example
    if size > _UNCHECKED_BYTES:
        require_memory(size, f"{count} examples of {family.spec} at once")
