"""Distributions of tokens: signs or standard normal numbers, and a constant coordinate.

The k tokens of an example are independent. A distribution knows the length that no token exceeds,
or a bound on the tail of lengths (docs/mathematics.md, section 32). Draws are addressed by
position, as in `tokens`.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.errors import UsageError
from instances.streams import BitStream

Array = NDArray[np.float64]
NAMES = ("boolean", "gaussian")


@dataclass(frozen=True, kw_only=True)
class TokenLaw:
    """The distribution of the independent tokens of an example.

    kind: boolean, uniform on {-1, +1}, or gaussian, standard normal. free: how many coordinates are
    drawn. constant: whether a coordinate that is always 1 follows them, for the biases of a layer.

    >>> law = law_of("boolean", 3)
    >>> law.longest, law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    (3.0, dtype('int8'))
    """

    kind: str
    free: int
    constant: bool = False

    @property
    def d(self) -> int:
        """The dimension of a token, the constant with it."""
        return self.free + self.constant

    @property
    def text(self) -> str:
        """The distribution in words."""
        return self.kind + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 for plain signs."""
        drawn: NDArray[Any]
        if self.kind == "boolean":
            drawn = tokens.unpack(tokens.boolean(stream, start, count, k, self.free), self.free)
        else:
            drawn = tokens.gaussian(stream, start, count, k, self.free)
        if self.constant:
            drawn = np.concatenate([drawn, np.ones((count, k, 1))], axis=2)
        return drawn

    @property
    def longest(self) -> float | None:
        """The largest squared length of a token; None for normal tokens."""
        return float(self.d) if self.kind == "boolean" else None

    @property
    def tail(self) -> tuple[float, float, int]:
        """Numbers c, s, r: a token x has |x| <= c + s |z|, z standard normal in r dimensions."""
        return float(self.constant), 1.0, self.free

    @property
    def seen(self) -> tuple[Array, Array]:
        """Orthonormal bases (d, r) of what tokens span, and of what their differences span."""
        whole = np.eye(self.d)
        return whole, whole[:, : self.free]


@lru_cache(maxsize=16)
def law_of(name: str, d: int, constant: bool = False) -> TokenLaw:
    """Return a distribution of tokens of dimension d by its name; raises UsageError.

    constant: whether the last coordinate is always 1.
    """
    if name in NAMES:
        return TokenLaw(kind=name, free=d - constant, constant=constant)
    raise UsageError(f"tokens={name[:60]} given: boolean or gaussian")
