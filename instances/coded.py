"""Two-token families whose labels carry one unknown code each: packed tokens, packed labels.

Tokens are uniform on {-1,+1}^(2 x d). What a label says beyond what everyone knows is one of a few
levels, where it says anything: its code.
"""

import math
from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.errors import UsageError
from instances.family import Examples, Family, Secret
from instances.streams import BitStream, key


@dataclass(frozen=True, kw_only=True, eq=False)
class CodedExamples(Examples):
    """Labelled examples of a two-token family, packed; x and y are the dense view of the same.

    words: (n, k, words) uint64, a bit is 1 where the token is -1. codes: (n,) uint8, or uint16 for
    more than 256 levels, which of the family's levels the unknown part of each label has, and 0
    where the label is known to everyone.
    For parities it is one bit, 1 for the smaller level.
    """

    family: "Coded"
    words: NDArray[np.uint64]
    codes: NDArray[np.unsignedinteger[Any]]

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

    @property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """words and codes."""
        return {"words": self.words, "codes": self.codes}

    def cut(self, start: int, stop: int) -> "CodedExamples":
        """Return examples start .. stop-1."""
        return CodedExamples(
            family=self.family, words=self.words[start:stop], codes=self.codes[start:stop]
        )

    def agrees(self, other: Examples) -> bool:
        """Say whether both are the same, bit for bit."""
        mine = isinstance(other, CodedExamples)
        return mine and all(np.array_equal(v, other.tensors[n]) for n, v in self.tensors.items())


class Coded(Family):
    """A family of two-token layers, its labels given by codes of public levels."""

    k = 2

    @property
    def token_text(self) -> str:
        """Uniform on -1 and +1."""
        return "boolean"

    @property
    def bytes_per_example(self) -> int:
        """Packed words and one code."""
        return self.k * tokens.words_per_token(self.d) * 8 + self.code_type.itemsize

    @property
    def code_type(self) -> np.dtype[Any]:
        """The type of a code: uint8, or uint16 for more than 256 levels."""
        return np.dtype(np.uint8 if len(self.levels) <= 256 else np.uint16)

    @abstractmethod
    def clip(self, x: NDArray[Any], y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Project predictions on the interval that everyone knows E[Y|X] lies in."""

    @abstractmethod
    def codes(
        self, secret: Secret, words: NDArray[np.uint64], errors: NDArray[Any]
    ) -> NDArray[np.unsignedinteger[Any]]:
        """Compute the codes of the labels of packed tokens (n, k, words): (n,).

        errors: (n,), what label noise does to each, as `disturb` draws it; zeros for none.
        """

    @abstractmethod
    def open(self, words: NDArray[np.uint64]) -> NDArray[np.bool_]:
        """Say where the label of packed tokens has an unknown part: (n, k, words) -> (n,)."""

    @abstractmethod
    def decode(
        self, x: NDArray[Any], codes: NDArray[np.unsignedinteger[Any]]
    ) -> NDArray[np.float64]:
        """Turn tokens and codes into labels: (n, k, d)."""

    @property
    @abstractmethod
    def levels(self) -> tuple[Fraction, ...]:
        """The values that the unknown part of a label can take, as codes number them."""

    @cached_property
    def factors(self) -> NDArray[np.float64]:
        """The levels in float64, by code: X[l, 0] times one of them is a label."""
        return np.array([float(v) for v in self.levels])

    @property
    def shares(self) -> tuple[Fraction, ...] | None:
        """The chance of each level where it is unknown; None where it depends on the tokens."""
        return None

    @abstractmethod
    def expected(self, words: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Evaluate the factor of `known` on packed open tokens: (n, k, words) -> (n,)."""

    @property
    @abstractmethod
    def trivial_risk(self) -> float:
        """E ||F - known||^2 on open tokens, F = E[Y|X]: what a relative risk of 1 stands for."""

    @property
    @abstractmethod
    def risk_bound(self) -> float:
        """The largest relative loss of a clipped prediction on one open token pair."""

    def stream(
        self, secret: Secret, seed: int, axis: str, start: int, count: int
    ) -> "CodedExamples":
        """Draw packed tokens and errors, and compute the codes."""
        words = tokens.boolean(BitStream(key(seed, "tokens", axis)), start, count, self.k, self.d)
        errors = self.disturb(BitStream(key(seed, "noise", axis)), start, count)
        return CodedExamples(family=self, words=words, codes=self.codes(secret, words, errors))

    def disturb(self, stream: BitStream, start: int, count: int) -> NDArray[Any]:
        """Draw what label noise does to examples start .. start+count-1: here, flips."""
        if not self.noise:
            return np.zeros(count, np.bool_)
        return stream.words(start, count) < np.uint64(math.floor(self.noise * 2**64))

    def restore(self, tensors: dict[str, NDArray[Any]], count: int) -> "CodedExamples":
        """Check words and codes: shapes, spare bits, codes of no level."""
        words, codes = tensors.get("words"), tensors.get("codes")
        width = tokens.words_per_token(self.d)
        if (
            words is None
            or codes is None
            or words.dtype != np.uint64
            or codes.dtype != self.code_type
            or words.shape != (count, self.k, width)
            or codes.shape != (count,)
        ):
            raise ValueError(f"does not hold the {count} examples it should")
        spare = 64 * width - self.d
        if (words[:, :, -1] >> np.uint64(64 - spare)).any() if spare else False:
            raise ValueError(f"has bits beyond coordinate d - 1 = {self.d - 1}")
        if (codes >= np.where(self.open(words), len(self.levels), 1)).any():
            raise ValueError("has a code of no level, or one where the label is known")
        return CodedExamples(family=self, words=words, codes=codes)


def as_coded(examples: Examples) -> CodedExamples:
    """Narrow examples to packed ones; raises UsageError for others."""
    if not isinstance(examples, CodedExamples):
        raise UsageError(
            f"{examples.family.spec} given: only families whose labels are codes go here"
        )
    return examples


def require_coded(family: Family) -> Coded:
    """Narrow a family to one whose labels are codes; raises UsageError for another."""
    if not isinstance(family, Coded):
        raise UsageError(f"{family.spec} given: only families whose labels are codes go here")
    return family
