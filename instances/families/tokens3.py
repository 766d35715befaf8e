"""Hidden parities on three tokens: an open example shows two bits, and their product.

Tokens are uniform on {-1,+1}^(3 x d); coordinate 0 is public. Where all three tokens agree there
the label is 0. Else let o be the odd token, a and b the others, and chi_S(z) = prod_{j in S} z_j:

    Y[a, 0] = X[a, 0] chi_S(x_a * x_o), Y[b, 0] = X[b, 0] chi_S(x_b * x_o),
    Y[o, 0] = X[o, 0] chi_S(x_a * x_b),

and 0 in every other column. The first two bits are independent and fair; the third is their
product. With label noise eta each of the two is flipped with probability eta, independently, and
the third with them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.dense import Dense
from instances.errors import ToolkitError
from instances.families.parity import Parity, signs
from instances.family import Hardness, Secret
from instances.hiddenfunction import HiddenFunction
from instances.layer import AttentionLayer
from instances.streams import BitStream
from instances.symmetric import MAX_SUM, HiddenSets, log, to_float
from instances.threetokens import Head, heads_needed, three_token_heads

MOST_M = 6  # that float64 holds: sums of |a_i| are 92, 742, 2485 and 2e4 at m = 2 .. 5, rho = 2

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Tokens3(HiddenSets, Dense):
    """All parities on m of d - 1 hidden coordinates, on three tokens.

    noise: flip probability in [0, 1/2). rho: slopes of the heads are multiples of ln(rho)/2. Raises
    UsageError out of range.

    >>> Tokens3(d=8, m=2).instance(0).examples(0, 5).y.shape
    (5, 3, 8)
    """

    name: ClassVar[str] = "tokens3"
    example: ClassVar[str] = "tokens3:d=8,m=2"
    about: ClassVar[str] = "hidden parities on three tokens: two bits an example"
    label_text: ClassVar[str] = (
        "where the tokens agree at coordinate 0, 0; else Y[l,0] = X[l,0] * chi, chi the parity on "
        "S of the product of token l and the odd one, for the odd one of the other two; all other "
        "columns are 0"
    )
    k = 3
    tokens = "boolean"
    default_learners: ClassVar[tuple[str, ...]] = ("student", "levenberg", "staged", "linear")
    view = "three-tokens"

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        self.require_range()

    @property
    def values(self) -> tuple[Fraction, ...]:
        """Those of a parity."""
        return signs(self.m)

    @cached_property
    def plain(self) -> Parity:
        """The parities on two tokens that have the same hidden sets and noise."""
        return Parity(d=self.d, m=self.m, noise=self.noise)

    @property
    def hardness(self) -> Hardness:
        """Members are exactly orthogonal."""
        return Hardness(
            evidence="exact",
            why="orthogonal members, two bits an open example: exact for statistical queries; "
            "linear algebra mod 2, no statistical-query algorithm, would learn it without noise",
        )

    @property
    def layer_heads(self) -> int:
        """One for each case of a row, and one more."""
        return heads_needed(self.m)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The exact heads; raises ToolkitError where float64 does not hold them."""
        total = math.inf
        if self.m <= MOST_M:
            found = three_token_heads(self.m, self.rho)
            total = sum(abs(to_float(head.a)) for head in found)
            if total <= MAX_SUM:
                return found
        raise ToolkitError(
            f"{self.spec}: sum |a_i| of its heads is above {MAX_SUM:.0e}, too much for a float64 "
            "layer: take rho=2 for m up to 5, rho=1.5 for m=6; labels and certificates are exact "
            "anyway"
        )

    def made(self, secret: Secret) -> AttentionLayer:
        """Build the layer: Theta_i = diag, with a slope on S; W_i = a_i e_0 e_0^T."""
        self.require_member(secret)
        theta = np.zeros((self.layer_heads, self.d, self.d))
        w = np.zeros_like(theta)
        for i, head in enumerate(self.heads):
            theta[i, secret, secret] = head.steps / 2 * math.log(self.rho)
            theta[i, 0, 0], w[i, 0, 0] = -log(head.u) / 2, to_float(head.a)
        return AttentionLayer(theta=theta, w=w)

    def label(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the formula without noise."""
        return _labelled(x, self.hidden_signs(secret, x))

    def mean(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate F = E[Y|X]: noise fades a bit by 1 - 2 eta, the product by its square."""
        fade = float(1 - 2 * self.noise)
        return _labelled(x, self.hidden_signs(secret, x) * np.where(_odd(x), fade**2, fade))

    @property
    def hidden_function(self) -> HiddenFunction:
        """The parity: tokens 1 and 2 are all +1, token 3 is odd and z, and row 1 shows it."""

        def tokens(z: NDArray[np.int8]) -> NDArray[np.int8]:
            x = np.ones((len(z), 3, self.d), np.int8)
            x[:, 2, 0], x[:, 2, 1:] = -1, z
            return x

        def labels(x: NDArray[Any], f: Callable[[NDArray[np.int8]], Array]) -> Array:
            odd = _odd(x)
            with_odd = x * np.where(odd[:, :, None], x, 1).prod(axis=1, keepdims=True)
            signs = f(with_odd[:, :, 1:].reshape(-1, self.d - 1).astype(np.int8)).reshape(-1, 3)
            product = np.where(odd, 1.0, signs).prod(axis=1, keepdims=True)
            return _labelled(x, np.where(odd, product, signs) * odd.any(axis=1, keepdims=True))

        return HiddenFunction(
            places=self.d - 1,
            tokens=tokens,
            read=lambda x, y: x[:, 0, 0] * y[:, 0, 0],
            labels=labels,
            largest=1.0,
            noise=float(self.noise),
            secret=lambda places: tuple(j + 1 for j in places),
            size=self.m,
            first_step=True,
        )

    def hidden_signs(self, secret: Secret, x: NDArray[Any]) -> Array:
        """Evaluate the signs of all three rows: (n, 3, d) -> (n, 3), 0 where nothing is shown.

        Of all three, so that correlations are those of the labels.
        """
        self.require_member(secret)
        own = x[:, :, list(secret)].prod(axis=2, dtype=x.dtype).astype(np.float64)
        odd = _odd(x)
        of_odd = (own * odd).sum(axis=1, keepdims=True)  # 0 where no token is odd
        return np.asarray(np.where(odd, own.prod(axis=1, keepdims=True), own) * of_odd)

    def reach(self, secret: Secret) -> float:
        """Rows are of length 1 at most, all tokens of length sqrt(d)."""
        return 1 / math.sqrt(self.d)

    @property
    def error_rate(self) -> float:
        """The probability that one of two bits is flipped."""
        return float(1 - (1 - self.noise) ** 2)

    def disturbed(self, x: NDArray[Any], y: Array, stream: BitStream, start: int) -> Array:
        """Flip the two bits, the first that of the first token that is not odd."""
        drawn = stream.words(2 * start, 2 * len(y)).reshape(-1, 2)
        flips = np.where(drawn < np.uint64(math.floor(self.noise * 2**64)), -1.0, 1.0)
        odd = _odd(x)
        place = np.minimum(np.cumsum(~odd, axis=1) - 1, 1).clip(0)
        factor = np.where(
            odd, flips.prod(axis=1, keepdims=True), np.take_along_axis(flips, place, axis=1)
        )
        return np.asarray(y * factor[:, :, None])


def _odd(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Which token alone has its sign at coordinate 0: (n, 3, d) -> (n, 3)."""
    signs = x[:, :, 0]
    return np.asarray(signs == -signs.sum(axis=1, keepdims=True))


def _labelled(x: NDArray[Any], signs: Array) -> Array:
    out = np.zeros(x.shape)
    out[:, :, 0] = x[:, :, 0] * signs
    return out
