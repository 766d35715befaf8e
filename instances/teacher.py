"""A given layer that labels drawn tokens: a learner sees the examples, but not the layer.

The secret is the layer: the bits of its float64 numbers, theta and then w. The family is public and
contains no part of the layer.
"""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense
from instances.errors import UsageError
from instances.family import Hidden, Instance, Secret, require
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import OneOf, Range, later
from instances.streams import BitStream, generator, key
from instances.tokens import TokenLaw

_NUMBER_BYTES = 100  # memory of one number of the layer, stored in a secret
# Numbers of examples that estimate the mean label; this estimate defines the baseline.
_PILOT_EXAMPLES, _PILOT_NUMBERS, _MIN_EXAMPLES = 1 << 15, 1 << 23, 256

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Teacher(Dense):
    """Layers of m heads that are given, on k tokens of dimension d; raises UsageError out of range.

    constant: 1 if the last coordinate of every token is 1, for the biases of the layer. centre: the
    mean label (k, d), the baseline of the risk with a constant; None without, for baseline zero.

    >>> layer = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> instance = teach(layer)
    >>> str(instance.family), instance.examples(0, 5).y.shape
    ('teacher:m=1,k=2,d=4', (5, 2, 4))
    """

    name: ClassVar[str] = "teacher"
    example: ClassVar[str] = "teacher:m=2,k=2,d=16"
    about: ClassVar[str] = "your layer, which labels drawn tokens: `learn --teacher FILE`"
    easy: ClassVar[str] = (
        "the layer is given: `hardness inspect` measures the conditions of a theorem about layers "
        "that can be learned to a small error [CL24]"
    )
    default_learners: ClassVar[tuple[str, ...]] = (*Dense.default_learners[:3], "lifted", "linear")

    m: Annotated[int, Range(1, 1024, about="m, the heads,")]
    k: int
    d: int
    tokens: str = "gaussian"
    noise: Fraction = Fraction(0)
    constant: Annotated[int, OneOf((0, 1))] = later(0)
    centre: Array | None = field(default=None, init=False, repr=False, compare=False)

    def check(self) -> None:
        """Refuse tokens that have only the constant coordinate; raises UsageError."""
        require(self.d > self.constant, f"d must be at least 2 with a constant, got {self.d}")

    @property
    def law(self) -> TokenLaw:
        """The distribution of the tokens."""
        return TokenLaw(kind=self.tokens, d=self.d, constant=bool(self.constant))

    def known(self, x: NDArray[Any]) -> Array:
        """Return the baseline, the mean label; it is zero if tokens are symmetric about 0."""
        if self.centre is None:
            return super().known(x)
        return np.broadcast_to(self.centre, x.shape).copy()

    def draw(self, rng: np.random.Generator) -> NoReturn:
        """Raise UsageError, as the layer is given and not drawn."""
        raise UsageError(
            "a teacher is a layer of yours, it is not drawn: write hardness learn LEARNER "
            "--teacher layer.safetensors"
        )

    build = draw

    def layer(self, secret: Secret) -> AttentionLayer:
        """Read the layer of a secret."""
        count = 2 * self.m * self.d**2
        require(
            len(secret) == count and all(0 <= n < 1 << 64 for n in secret),
            f"a secret of {self} is {count} numbers of 64 bits",
        )
        return _layer_of_secret(secret, (2, self.m, self.d, self.d), bool(self.constant))


def teach(
    layer: AttentionLayer,
    tokens: str = "gaussian",
    k: int = 2,
    noise: Fraction = Fraction(0),
    seed: int = 0,
) -> Instance:
    """Make an instance that labels drawn tokens, boolean or gaussian, by a given layer.

    A layer with biases gets tokens whose last coordinate is always 1. seed: of tokens and noise.
    Raises UsageError for a layer of linear attention.
    """
    if layer.kind != "softmax":
        raise UsageError(
            f"a teacher must have softmax attention, got {layer.kind} attention; "
            "`hardness learn lifted linear:...` learns random ones without it"
        )
    family = Teacher(
        m=layer.m, k=k, d=layer.d, tokens=tokens, noise=noise, constant=int(layer.constant)
    )
    require_memory(_NUMBER_BYTES * 2 * layer.m * layer.d**2, f"the layer of {family} as a secret")
    if layer.constant:
        object.__setattr__(family, "centre", _centre(layer, family.law, k))
    both = np.stack([layer.theta, layer.w]).astype("<f8", copy=False)
    hidden = Hidden(
        secret=tuple(both.view("<u8").ravel().tolist()),
        seed=seed,
        nonce=generator(seed, "nonce", family.spec).bytes(32),
    )
    return Instance(family=family, hidden=hidden)


def _centre(layer: AttentionLayer, law: TokenLaw, k: int) -> Array:
    """Estimate the mean label (k, d) from tokens of a fixed seed."""
    count = max(_MIN_EXAMPLES, min(_PILOT_EXAMPLES, _PILOT_NUMBERS // (k * law.d)))
    return layer(law.draw(BitStream(key(0, "tokens", "mean label")), 0, count, k)).mean(axis=0)


@lru_cache(maxsize=1)  # it is needed for each block of examples
def _layer_of_secret(secret: Secret, shape: tuple[int, ...], constant: bool) -> AttentionLayer:
    theta, w = np.array(secret, "<u8").view("<f8").reshape(shape)
    return AttentionLayer(theta=theta, w=w, constant=constant)
