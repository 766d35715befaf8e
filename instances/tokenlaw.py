"""Laws of tokens: signs and normal ones, moved by their positions, with a constant.

The k tokens of an example are independent. Every law knows its moments, and either the length that
no token exceeds or what the tail of its lengths is bounded by (docs/mathematics.md, section 24).
Draws are addressed by position, as in `tokens`.
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
_ROUNDING = 1e-6  # relative: eigenvalues below its square are those of rounding
_ABOVE = 1e-9  # relative: what sums in another order may differ by, and more
_SEEN = 1e-9  # of the largest singular value: directions below it are those of rounding


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenLaw:
    """The law of an example: independent tokens, moved by positions (k, d), with a constant 1.

    kind: boolean, uniform on {-1, +1}^d, or gaussian: standard normal, or with `spread` (d, d) for
    its covariance and `root` for the symmetric root of that. free: the dimension without the
    constant. constant: whether a coordinate that is always 1 follows the others, as layers with
    biases need it.

    >>> law = law_of("boolean", 3)
    >>> law.mean(2).tolist(), law.longest(2), law.draw(BitStream((1, 2)), 0, 5, 2).dtype
    ([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]], 3.0, dtype('int8'))
    """

    kind: str
    free: int
    spread: Array | None = None
    root: Array | None = None
    positions: Array | None = None
    constant: bool = False

    @property
    def d(self) -> int:
        """The dimension of a token, the constant with it."""
        return self.free + self.constant

    @property
    def text(self) -> str:
        """The law in words."""
        said = f"{self.kind} with positions" if self.positions is not None else self.kind
        return said + (" and a constant coordinate" if self.constant else "")

    def draw(self, stream: BitStream, start: int, count: int, k: int) -> NDArray[Any]:
        """Draw examples start .. start+count-1: (count, k, d), int8 for plain signs."""
        drawn: NDArray[Any]
        if self.kind == "boolean":
            drawn = tokens.unpack(tokens.boolean(stream, start, count, k, self.free), self.free)
        else:
            drawn = tokens.gaussian(stream, start, count, k, self.free)
            drawn = drawn if self.root is None else drawn @ self.root
        if self.positions is not None:
            drawn = drawn + self.positions
        if self.constant:
            drawn = np.concatenate([drawn, np.ones((count, k, 1))], axis=2)
        return drawn

    def mean(self, k: int) -> Array:
        """The mean of each of k tokens, (k, d)."""
        moved = self._moves(k)
        return np.concatenate([moved, np.ones((k, 1))], axis=1) if self.constant else moved

    @property
    def covariance(self) -> Array:
        """The covariance of every token about its own mean, (d, d)."""
        return np.asarray(np.pad(self._free_covariance, (0, int(self.constant))))

    @property
    def _free_covariance(self) -> Array:
        """The same without the constant."""
        return np.eye(self.free) if self.spread is None else self.spread

    def longest(self, k: int) -> float | None:
        """The largest squared length of a token, to rounding from above; None where none is."""
        if self.kind != "boolean":
            return None
        found = float(((np.abs(self._moves(k)) + 1) ** 2).sum(axis=-1).max()) + self.constant
        return found if self.positions is None else found * (1 + _ABOVE)

    def _moves(self, k: int) -> Array:
        """What positions add to each of k tokens, (k, d) without the constant."""
        return np.zeros((k, self.free)) if self.positions is None else self.positions

    def tail(self, k: int) -> tuple[float, float, int]:
        """Numbers c, s, r with |x_j| <= c + s |z|, z standard normal in r dimensions.

        c is the length of the longest mean, s^2 the largest eigenvalue of the covariance, r its
        rank.
        """
        values = np.linalg.eigvalsh(self._free_covariance)
        rank = int(np.sum(values > _ROUNDING**2 * values[-1])) if values[-1] > 0 else 0
        offset = np.sqrt((self.mean(k) ** 2).sum(axis=1).max())
        return float(offset), float(np.sqrt(max(values[-1], 0.0))), rank

    def seen(self, k: int) -> tuple[Array, Array]:
        """Orthonormal bases (d, r) of what k tokens span, and of what their differences do."""
        spread, means = self.covariance, self.mean(k)
        whole = np.concatenate([_half(spread), means])
        return _span(whole), _span(np.concatenate([_half(spread), means[1:] - means[:1]]))


def _half(covariance: Array) -> Array:
    """Rows (d, d) whose Gram matrix is the covariance."""
    values, vectors = np.linalg.eigh(covariance)
    there = values > _ROUNDING**2 * max(values[-1], 1e-300)
    return np.asarray((vectors * np.sqrt(np.where(there, values, 0.0))).T)


def _span(rows: Array) -> Array:
    """An orthonormal basis (d, r) of rows (n, d)."""
    _, sizes, vectors = np.linalg.svd(rows, full_matrices=False)
    return np.ascontiguousarray(vectors[sizes > _SEEN * max(sizes[0], 1e-300)].T)


@lru_cache(maxsize=16)
def law_of(name: str, d: int, constant: bool = False) -> TokenLaw:
    """Return a law of tokens of dimension d by its name; raises UsageError.

    constant: whether the last coordinate is always 1.
    """
    if name in NAMES:
        return TokenLaw(kind=name, free=d - constant, constant=constant)
    raise UsageError(f"tokens={name[:60]} given: boolean or gaussian")
