"""What a family is, and what an instance of it is: a public part and a secret part.

A family is a set of functions indexed by a secret, with a token distribution and a label noise.
It never knows which secret was drawn; an Instance does.
"""

import hashlib
import json
import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.errors import UsageError
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import canonical
from instances.streams import BitStream, generator, key

Secret = tuple[int, ...]
REFERENCE_EXAMPLES = 8
_ASK_ABOVE_BYTES = 1 << 28


@dataclass(frozen=True, kw_only=True)
class Hardness:
    """How hard a family is known to be, and why."""

    evidence: Literal["exact", "assumption", "none"]
    why: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Examples:
    """Labelled examples of a two-token family, packed; x and y are the dense view of the same.

    words: (n, k, words) uint64, a bit is 1 where the token is -1. codes: (n,) uint8, which of the
    family's levels the unknown part of each label has, and 0 where the label is known to everyone.
    For two levels it is one bit, 1 for the smaller level.
    """

    family: "Family"
    words: NDArray[np.uint64]
    codes: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def x(self) -> NDArray[np.int8]:
        """The tokens, (n, k, d), -1 or +1."""
        return tokens.unpack(self.words, self.family.d)

    @cached_property
    def y(self) -> NDArray[np.float64]:
        """The labels, (n, k, d), float64."""
        return self.family.decode(self.x, self.codes)

    def cut(self, start: int, stop: int) -> "Examples":
        """Return examples start .. stop-1."""
        return Examples(
            family=self.family, words=self.words[start:stop], codes=self.codes[start:stop]
        )


class Family(ABC):
    """A family of two-token attention layers: a frozen dataclass, its fields the spec's keys."""

    name: ClassVar[str]
    revision: ClassVar[int]  # raised when the output changes
    example: ClassVar[str]  # a spec
    about: ClassVar[str]  # one line
    label_text: ClassVar[str]  # how labels follow from tokens and codes, for readers of files
    k: ClassVar[int] = 2

    d: int  # dimension of a token
    noise: Fraction  # probability that the unknown sign of a label is flipped

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of members, exactly."""

    @property
    @abstractmethod
    def layer_heads(self) -> int:
        """The number of heads of a member's layer, a public number."""

    @property
    @abstractmethod
    def hardness(self) -> Hardness:
        """What is known about how hard the family is."""

    @abstractmethod
    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a secret uniformly."""

    @abstractmethod
    def layer(self, secret: Secret) -> AttentionLayer:
        """Build the attention layer of a member."""

    @abstractmethod
    def label(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate a member's noiseless label by its formula: (n, k, d) -> (n, k, d)."""

    @abstractmethod
    def mean(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F = E[Y|X], what a learner is measured against: (n, k, d)."""

    @abstractmethod
    def known(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate the best prediction of who knows the family and not the secret: (n, k, d)."""

    @abstractmethod
    def clip(self, x: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project predictions on the interval that everyone knows E[Y|X] lies in."""

    @abstractmethod
    def codes(
        self, secret: Secret, words: NDArray[np.uint64], flips: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        """Compute the codes of the labels of packed tokens (n, k, words): (n,)."""

    @abstractmethod
    def open(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Say where the label of packed tokens has an unknown part: (n, k, words) -> (n,)."""

    @abstractmethod
    def decode(self, x: NDArray[Any], codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Turn tokens and codes into labels: (n, k, d)."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Fraction, ...]:
        """The values that the unknown part of a label can take, as codes number them."""

    @property
    @abstractmethod
    def trivial_risk(self) -> float:
        """E ||F - known||^2 on open tokens, F = E[Y|X]: what a relative risk of 1 stands for."""

    @property
    @abstractmethod
    def risk_bound(self) -> float:
        """The largest relative loss of a clipped prediction on one open token pair."""

    @property
    def spec(self) -> str:
        """The canonical spec: defaults filled in, keys sorted."""
        return canonical(self, self.name)

    def instance(self, seed: int) -> "Instance":
        """Draw the instance of a seed: reproducible by who knows the seed, and so not secret."""
        hidden = Hidden(
            secret=self.draw(generator(seed, "secret", self.spec)),
            seed=seed,
            nonce=generator(seed, "nonce", self.spec).bytes(32),
        )
        return Instance(family=self, hidden=hidden)


@dataclass(frozen=True, kw_only=True)
class Hidden:
    """The secret part of an instance."""

    secret: Secret = field(repr=False)
    seed: int = field(repr=False)
    nonce: bytes = field(repr=False)

    def commitment(self, what: Literal["secret", "seed"]) -> str:
        """Commit to the secret or the seed: SHA-256(nonce || its JSON), in hexadecimal."""
        value = list(self.secret) if what == "secret" else self.seed
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
        """The part that may be given away."""
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

        The same examples however the stream is cut; streams of different axes are independent.
        """
        family, seed = self.family, self.hidden.seed
        size = 3 * count * family.k * tokens.words_per_token(family.d) * 8
        if size > _ASK_ABOVE_BYTES:
            require_memory(size, f"{count} examples of {family.spec} at once")
        words = tokens.boolean(
            BitStream(key(seed, "tokens", axis)), start, count, family.k, family.d
        )
        if family.noise:
            uniform = BitStream(key(seed, "noise", axis)).words(start, count)
            flips = uniform < np.uint64(math.floor(family.noise * 2**64))
        else:
            flips = np.zeros(count, np.bool_)
        return Examples(
            family=family, words=words, codes=family.codes(self.hidden.secret, words, flips)
        )


class Source(Protocol):
    """Where examples come from: an instance, which never ends, or a folder, which does."""

    @property
    def family(self) -> Family:
        """The family of the instance."""

    def examples(self, start: int, count: int) -> Examples:
        """Return examples start .. start+count-1, or as many of them as there are."""


def require(condition: bool, message: str) -> None:
    """Refuse a parameter that is out of range; raises UsageError."""
    if not condition:
        raise UsageError(message)
