"""Families whose labels are real numbers: dense tokens and labels, boolean or gaussian.

A member is a layer of random weights. Its secret is the 256 random bits that the weights are drawn
from, unless the family defines it otherwise. Label noise is normal with mean 0, independent in
every entry.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.family import Examples, Family, Hardness, Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import OneOf, Range
from instances.streams import BitStream, generator, key
from instances.tokens import TokenLaw

Norm = Annotated[float, Range(above=0, most=1000, about="the norm of Theta_i")]
_BLOCK = 1024  # examples whose labels are computed together, wherever a stream is cut
_CHOSEN_BLOCK = 32  # the same for inputs that a learner chooses, often one at a time


@dataclass(frozen=True, kw_only=True, eq=False)
class DenseExamples(Examples):
    """Labelled examples: tokens (n, k, d), int8 or float64, and labels (n, k, d), float64."""

    family: "Dense"
    x: NDArray[Any]
    y: NDArray[np.float64]

    @cached_property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """The arrays to store: x, packed as words if it is boolean, and y."""
        if self.family.tokens == "boolean":
            return {"words": tokens.pack(self.x), "y": self.y}
        return {"x": self.x, "y": self.y}


class Dense(Family):
    """A family of layers; a subclass defines the fields below and `build`, for random weights.

    A subclass with other secrets defines `draw` and `layer_of`. It may define `label` by a formula,
    `reach` if heads cancel, and `disturbed`, `mean` and `error_rate` for another noise.
    """

    label_text: ClassVar[str] = (
        "F(X) = sum_i softmax(X Theta_i X^T) X W_i, plus noise * N(0,1) in every entry; stored in "
        "float64"
    )
    easy: ClassVar[str] = "it may be easy"  # what learns the family
    default_learners: ClassVar[tuple[str, ...]] = ("staged", "levenberg", "student", "linear")
    m: int  # heads
    k: Annotated[int, Range(2, 64, about="k, the number of tokens (one alone attends to itself),")]
    d: Annotated[int, Range(1, 4096)]
    tokens: Annotated[str, OneOf(("boolean", "gaussian"))]
    noise: Annotated[
        Fraction,
        Range(
            0,
            1000,
            about="the standard deviation of the label noise",
            words="at least 0 and at most 1000",
        ),
    ]

    @property
    def hardness(self) -> Hardness:
        """No lower bound is known."""
        nothing = "no bound from below is claimed"
        return Hardness(evidence="none", proved=nothing, easy=self.easy)

    def build(self, rng: np.random.Generator) -> AttentionLayer:
        """Draw the layer of a member whose secret is 256 bits."""
        raise NotImplementedError(f"{type(self).__name__} gives neither `build` nor `layer_of`")

    @property
    def layer_heads(self) -> int:
        """The number of heads, m."""
        return self.m

    @property
    def size(self) -> int | None:
        """None, as members are a continuum."""
        return None

    @property
    def token_text(self) -> str:
        """The distribution of the tokens, in words."""
        return self.law.text

    @property
    def law(self) -> TokenLaw:
        """The distribution of the tokens."""
        return TokenLaw(kind=self.tokens, d=self.d)

    @property
    def bytes_per_example(self) -> int:
        """The bytes of the labels in float64 and of the tokens, packed or in float64."""
        token = 8 * (tokens.words_per_token(self.d) if self.tokens == "boolean" else self.d)
        return self.k * (token + 8 * self.d)

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw 256 bits."""
        return (int.from_bytes(rng.bytes(32), "little"),)

    def layer(self, secret: Secret) -> AttentionLayer:
        """Return the layer of a secret, from a cache if it was made before."""
        require_memory(64 * self.layer_heads * self.d**2, f"the layer of {self.spec}")
        return _dense_layer(self, secret)

    def layer_of(self, secret: Secret) -> AttentionLayer:
        """Make the layer of a secret: by default its 256 bits seed the weights."""
        return self.build(generator(self.number(secret), "weights", self.name))

    def number(self, secret: Secret) -> int:
        """Return the 256-bit number of a secret; raises UsageError for other secrets."""
        good = len(secret) == 1 and 0 <= secret[0] < 1 << 256
        require(good, "a secret of this family is one number of 256 bits")
        return secret[0]

    def reach(self, secret: Secret) -> float:
        """Bound rows of F - `beside`, divided by the length of the longest token in `reached`."""
        return row_reach(self.layer(secret))

    @property
    def reached(self) -> tuple[slice, TokenLaw]:
        """The token coordinates whose length `reach` is relative to, and their law: here, all."""
        return slice(None), self.law

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound how far rounding may take a member's layer from `computed`."""
        return 1e-12 * max(1.0, row_reach(layer) / 200)

    @property
    def error_rate(self) -> float:
        """A bound on the probability that noise changes a label: normal noise changes every one."""
        return float(self.noise > 0)

    def mean(self, secret: Secret, x: NDArray[Any]) -> NDArray[np.float64]:
        """Evaluate F = E[Y|X], the layer: (n, k, d) -> (n, k, d)."""
        return self.layer(secret)(x)

    label = mean

    def known(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Return the baseline, zero: a layer and its negative have the same probability."""
        return np.zeros(x.shape, np.float64)

    def stream(self, secret: Secret, seed: int, axis: str, start: int, count: int) -> DenseExamples:
        """Draw examples start .. start+count-1 of a stream, labelled in whole blocks."""
        shape = (count, self.k, self.d)
        noise = BitStream(key(seed, "noise", axis))
        x = np.empty(shape, np.int8 if self.tokens == "boolean" else np.float64)
        y = np.empty(shape)
        # Rounding depends on the shape of a product: whole blocks round alike for any cut.
        for first, inner, outer in _blocks(start, start + count, _BLOCK):
            drawn = self.inputs(seed, axis, first, _BLOCK)
            x[outer], y[outer] = drawn[inner], self.label(secret, drawn)[inner]
            if self.noise:
                y[outer] = self.disturbed(x[outer], y[outer], noise, first + inner.start)
        return DenseExamples(family=self, x=x, y=y)

    def disturbed(
        self, x: NDArray[Any], y: NDArray[np.float64], stream: BitStream, start: int
    ) -> NDArray[np.float64]:
        """Add label noise to examples from `start` on: here, normal in every entry."""
        return y + float(self.noise) * tokens.gaussian(stream, start, len(y), self.k, self.d)

    def questions(self, x: Any) -> NDArray[Any]:
        """Check tokens that a learner chose; entries of `fixed` must have their value."""
        return tokens.chosen(x, self, self.tokens == "boolean", self.fixed)

    @property
    def fixed(self) -> tuple[tuple[int, int, float], ...]:
        """Token, coordinate and value of the entries that are the same in all examples."""
        return tuple((j, self.d - 1, 1.0) for j in range(self.k)) if self.law.constant else ()

    def answers(
        self, secret: Secret, seed: int, start: int, x: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Label inputs that a learner chose, in whole blocks of the stream, and add noise."""
        y = np.empty(x.shape)
        for _, inner, outer in _blocks(start, start + len(x), _CHOSEN_BLOCK):
            block = np.repeat(x[outer][:1], _CHOSEN_BLOCK, axis=0)
            block[inner] = x[outer]
            y[outer] = self.label(secret, block)[inner]
        if self.noise:
            y = self.disturbed(x, y, BitStream(key(seed, "noise", "values")), start)
        return y

    def inputs(self, seed: int, axis: str, start: int, count: int) -> NDArray[Any]:
        """Draw the tokens of examples start .. start+count-1 of a stream, without labels."""
        return self.law.draw(BitStream(key(seed, "tokens", axis)), start, count, self.k)

    def restore(self, tensors: dict[str, NDArray[Any]], count: int) -> DenseExamples:
        """Make examples from stored tokens and labels; raises ValueError for invalid ones."""
        shape, packed = (count, self.k, self.d), self.tokens == "boolean"
        width = tokens.words_per_token(self.d)
        drawn, y = tokens.stored(
            tensors,
            self.d,
            words=(np.uint64, (count, self.k, width)) if packed else None,
            x=None if packed else (np.float64, shape),
            y=(np.float64, shape),
        )
        x = tokens.unpack(drawn, self.d) if packed else drawn
        for name, values in (("tokens", x), ("labels", y)):
            if not np.isfinite(values).all():
                raise ValueError(f"has {name} that are not finite")
        return DenseExamples(family=self, x=x, y=y)


def require_dense(family: Family) -> Dense:
    """Return a family as one with real labels; raises UsageError for others."""
    return family if isinstance(family, Dense) else family.refuse("real_labels")


def _blocks(start: int, stop: int, size: int) -> Iterator[tuple[int, slice, slice]]:
    """Cover start .. stop-1 by whole blocks: the first index, slice in the block, slice in all."""
    for first in range(start - start % size, stop, size):
        low, high = max(start, first), min(stop, first + size)
        yield first, slice(low - first, high - first), slice(low - start, high - start)


def row_reach(layer: AttentionLayer) -> float:
    """Return sum |W_i|_op: a row of a softmax layer is at most this times the longest token."""
    return float(sum(np.linalg.norm(w, 2) for w in layer.w))


@lru_cache(maxsize=8)
def _dense_layer(family: Dense, secret: Secret) -> AttentionLayer:
    return family.layer_of(secret)
