"""A given layer that labels drawn tokens: a learner sees the examples, and not the layer.

The secret is the layer: the bits of its float64 numbers, theta and then w. Nothing of it stands in
the family, which is public.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Literal, NoReturn

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense
from instances.errors import UsageError
from instances.family import Hidden, Instance, Secret, require
from instances.heads import Heads
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.questions import Questions
from instances.streams import BitStream, generator, key
from instances.tokenlaw import NAMES, TokenLaw, law_of

_NUMBER_BYTES = 100  # of a number of the layer in a secret
# Examples that the mean label is estimated by. The risk is relative to what is estimated, exactly.
_PILOT, _PILOT_NUMBERS, _LEAST = 1 << 15, 1 << 23, 256

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Teacher(Dense):
    """Layers of m heads that are given, on k tokens of dimension d; raises UsageError out of range.

    tokens: boolean, gaussian, or given where `given` holds the law, which no spec can say. centre:
    the mean label (k, d) that the risk is relative to, where tokens have a mean; zero without.

    >>> layer = AttentionLayer(theta=np.eye(4)[None], w=np.eye(4)[None])
    >>> instance = teach(Heads.of(layer), law_of("gaussian", 4))
    >>> str(instance.family), instance.examples(0, 5).y.shape
    ('teacher:m=1,k=2,d=4', (5, 2, 4))
    """

    name: ClassVar[str] = "teacher"
    example: ClassVar[str] = "teacher:m=2,k=2,d=16"
    about: ClassVar[str] = "a layer of yours that labels drawn tokens: `learn --teacher FILE`"
    easy: ClassVar[str] = (
        "the layer is given: `hardness inspect` measures the conditions of a theorem about layers "
        "that can be learned to a small error [CL24]"
    )
    default_learners: ClassVar[tuple[str, ...]] = (*Dense.default_learners[:3], "lifted", "linear")

    m: int
    k: int
    d: int
    tokens: str = "gaussian"
    noise: Fraction = Fraction(0)
    given: TokenLaw | None = field(default=None, init=False, repr=False, compare=False)
    centre: Array | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.require_ranges(heads=1024, laws=(*NAMES, "given"))

    @property
    def law(self) -> TokenLaw:
        """The law of the tokens; raises UsageError where only its name is known."""
        if self.tokens == "given" and self.given is None:
            raise UsageError(
                "tokens=given: the law came from a file and is not in the spec, so no more tokens "
                "can be drawn: name the file again by --tokens"
            )
        return self.given or law_of(self.tokens, self.d)

    @property
    def token_text(self) -> str:
        """The law of the tokens in words."""
        return self.given.text if self.given else self.tokens

    @property
    def seen(self) -> tuple[Array, Array] | None:
        """Where tokens leave directions out: what they span, and what their differences do."""
        return self.given.seen(self.k) if self.given else None

    @property
    def questions(self) -> Questions:
        """Tokens of any law are real numbers, but for the constant coordinate of a layer's biases.

        Signs alone are those that boolean tokens are.
        """
        constant = self.given is not None and self.given.constant
        fixed = tuple((j, self.d - 1, 1.0) for j in range(self.k)) if constant else ()
        kind: Literal["boolean", "real"] = "boolean" if self.tokens == "boolean" else "real"
        return Questions(tokens=kind, fixed=fixed)

    def known(self, x: NDArray[Any]) -> Array:
        """Predict the mean label, which is zero where tokens and their negatives are as likely."""
        if self.centre is None:
            return super().known(x)
        return np.broadcast_to(self.centre, x.shape).copy()

    def draw(self, rng: np.random.Generator) -> NoReturn:
        """Refuse: nothing is drawn."""
        raise UsageError(
            "teacher given: a layer has to be given, it is not drawn: write hardness learn LEARNER "
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
        return _read(secret, (2, self.m, self.d, self.d))


def teach(
    heads: Heads, law: TokenLaw, k: int = 2, noise: Fraction = Fraction(0), seed: int = 0
) -> Instance:
    """Make an instance whose labels a given layer gives on tokens of a law.

    Biases of the layer stand in its last coordinate, and the tokens get it, always 1. seed: of
    tokens and noise. Raises UsageError for a layer and a law that do not fit, and for linear
    attention.
    """
    if heads.kind != "softmax":
        raise UsageError(
            f"a layer of {heads.kind} attention given: the layers of a teacher are of softmax "
            "attention; `hardness learn lifted linear:...` learns random ones without it"
        )
    if heads.constant:
        law = replace(law, constant=True)
    if law.d != heads.d:
        raise UsageError(f"tokens of dimension {law.d} given: the layer takes {heads.d}")
    if law.positions is not None and len(law.positions) != k:
        raise UsageError(f"k={k} given: there are positions for {len(law.positions)} tokens")
    family = Teacher(m=heads.m, k=k, d=heads.d, tokens=law.name, noise=noise)
    require_memory(_NUMBER_BYTES * 2 * heads.m * heads.d**2, f"the layer of {family} as a secret")
    layer = heads.layer()
    if law.name == "given":
        object.__setattr__(family, "given", law)
        object.__setattr__(family, "centre", _centre(layer, law, k))
    both = np.stack([layer.theta, layer.w]).astype("<f8", copy=False)
    hidden = Hidden(
        secret=tuple(both.view("<u8").ravel().tolist()),
        seed=seed,
        nonce=generator(seed, "nonce", family.spec).bytes(32),
    )
    return Instance(family=family, hidden=hidden)


def _centre(layer: AttentionLayer, law: TokenLaw, k: int) -> Array | None:
    """Estimate the mean label (k, d) from tokens of a fixed seed; None for tokens of mean zero."""
    if not law.mean(k).any():
        return None
    count = max(_LEAST, min(_PILOT, _PILOT_NUMBERS // (k * law.d)))
    return layer(law.draw(BitStream(key(0, "tokens", "mean label")), 0, count, k)).mean(axis=0)


@lru_cache(maxsize=1)  # asked for a block of examples at a time
def _read(secret: Secret, shape: tuple[int, ...]) -> AttentionLayer:
    theta, w = np.array(secret, "<u8").view("<f8").reshape(shape)
    return AttentionLayer(theta=theta, w=w)
