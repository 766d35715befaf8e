"""Hidden sets that two-token layers show by positions, with any public output matrix W_0.

Coordinate 0 of a token is its position: +1 in token 1 and -1 in token 2, in every example. So
z = X_1 * X_2 has z_0 = -1 always, a head has a free bias, and W_i = a_i W_0 for any W_0. With
A = sum_i a_i the layer is, exactly,

    F_1 = A/2 (x_1 + x_2) W_0 + g(h)/2 (x_1 - x_2) W_0,

and F_2 the same with - in the middle. Given z, E|(x_1 - x_2) W_0|^2 is a constant plus a weighted
sum of the z_j. Where all g(h), or no g(h), change their sign with z, a product of two members has
the mean 0 with every z_j: correlations are those without the weights. docs/families/beyond.md
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.families.parity import Parities
from instances.family import require
from instances.layer import AttentionLayer
from instances.layererror import LayerError
from instances.limits import require_memory
from instances.parameters import Expression
from instances.questions import Questions
from instances.streams import BitStream, key
from instances.symmetric import Counting, Expressed, Shown, listed

MATRICES = ("identity", "corner", "gaussian")
_UNIT = 2.0**-20  # of entries of W_0: sums of them are exact in float64, in any order

Array = NDArray[np.float64]


class Positions(Counting):
    """The view: every example shows g(h) through W_0, which is the field w0.

    w0: identity, corner (e_0 e_0^T) or gaussian (entries N(0, 1), rounded to multiples of 2^-20, a
    function of d alone). g is even, g(m - h) = g(h), or odd but for a constant.
    """

    view = "positions"
    label_text: ClassVar[str] = (
        "bit j of a token is 1 where coordinate j is -1; coordinate 0 is +1 in token 1, -1 in "
        "token 2; Y[l] = A/2 (X_1 + X_2) W_0 + levels[code]/2 (X_l - X_other) W_0"
    )
    open_share: ClassVar[Fraction] = Fraction(1)
    questions = Questions(tokens="boolean", fixed=((0, 0, 1), (1, 0, -1)))

    w0: str

    def require_range(self) -> None:
        """Refuse parameters out of range; raises UsageError."""
        super().require_range()
        require(self.w0 in MATRICES, f"w0={self.w0} given: one of {', '.join(MATRICES)}")
        back = self.values[::-1]
        sums = {a + b for a, b in zip(self.values, back, strict=True)}
        require(
            back == self.values or len(sums) == 1,
            f"{self.name} given: g(m - h) must be g(h) for every h, or g(m - h) + g(h) the same; "
            "the majority is for an odd m",
        )

    @property
    def proved_as(self) -> Shown:
        """The same hidden sets by positions: a family of a user is certified as a profile."""
        if type(self) in (ParityPosition, ProfilePosition):
            return Shown(self.plain, "positions", self)
        g, noise = listed(self).g, self.noise
        about = ProfilePosition(g=g, d=self.d, m=self.m, noise=noise, rho=self.rho, w0=self.w0)
        return Shown(self.plain, "positions", about)

    def placed(self, words: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Write the positions into packed tokens: coordinate 0 is +1 in token 1, -1 in token 2."""
        out = words.copy()
        out[:, 0, 0] &= ~np.uint64(1)
        out[:, 1, 0] |= np.uint64(1)
        return out

    @cached_property
    def matrix(self) -> Array:
        """W_0, (d, d)."""
        require_memory(16 * self.d**2, f"W_0 of {self.spec}")
        if self.w0 == "gaussian":
            stream = BitStream(key(0, "w0", self.d))
            drawn = tokens.gaussian(stream, 0, self.d, 1, self.d)[:, 0]
            return np.asarray(np.rint(drawn / _UNIT) * _UNIT)
        return np.diag(self._diagonal)

    @cached_property
    def _diagonal(self) -> Array:
        """The diagonal of W_0 where it has nothing else."""
        return np.ones(self.d) if self.w0 == "identity" else np.eye(self.d)[0]

    def outputs(self, a: Array) -> Array:
        """Make the W_i = a_i W_0: (heads, d, d)."""
        return a[:, None, None] * self.matrix

    def _halves(self, x: NDArray[Any]) -> tuple[Array, Array]:
        """Evaluate (x_1 + x_2)/2 W_0 and (x_1 - x_2)/2 W_0: (n, 2, d) -> (n, d) each."""
        first, second = np.asarray(x, np.float64).transpose(1, 0, 2)
        both = (first + second) / 2, (first - second) / 2
        if self.w0 == "gaussian":
            return both[0] @ self.matrix, both[1] @ self.matrix
        return both[0] * self._diagonal, both[1] * self._diagonal

    def labelled(self, x: NDArray[Any], factor: NDArray[Any]) -> Array:
        """Turn factors into labels: (n, 2, d), (n,) -> (n, 2, d)."""
        common, apart = self._halves(x)
        common *= float(self.known_constant)
        apart *= np.asarray(factor)[:, None]
        return np.stack([common + apart, common - apart], axis=1)

    def factor_of(self, x: NDArray[Any], y: Array) -> Array:
        """Project labels on those of some factor: (n, 2, d) -> (n,)."""
        apart = self._halves(x)[1]
        along = ((y[:, 0] - y[:, 1]) * apart).sum(axis=1)
        return np.asarray(along / (2 * (apart**2).sum(axis=1)))

    def clip(self, x: NDArray[Any], y: Array) -> Array:
        """Project on the segment of labels that E[Y|X] may be."""
        return self.labelled(x, np.clip(self.factor_of(x, y), *self.ends))

    @cached_property
    def _rows(self) -> Array:
        """The squared norms of the rows of W_0, (d,)."""
        if self.w0 == "gaussian":
            return np.asarray((self.matrix**2).sum(axis=1))
        return self._diagonal**2

    @property
    def power(self) -> float:
        """E |x_1 - x_2|^2 / 2 through W_0: the squared norm that a factor of 1 gives a label."""
        return float(self._rows.sum() + self._rows[0])

    @property
    def trivial_risk(self) -> float:
        """E ||F - known||^2: what a relative risk of 1 stands for."""
        _ = super().trivial_risk  # which refuses a family in which nothing is hidden
        return (1 - 2 * float(self.noise)) ** 2 * float(self.unknown_variance) * self.power

    @cached_property
    def risk_bound(self) -> float:
        """The largest relative loss of a clipped prediction on one pair of tokens, or more.

        That of a factor, times the largest |x_1 - x_2|^2 through W_0 over `power`.
        """
        largest = float(self._rows.sum())  # where the rows are orthogonal
        if self.w0 == "gaussian":
            rows = float(np.sqrt(self._rows).sum())
            largest = min(rows**2, float(np.linalg.norm(self.matrix, 2)) ** 2 * self.d)
        return super().risk_bound * 2 * largest / self.power

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound how far a member's layer may be from the formula by rounding.

        1e-12 of the size of a label up to sum |a_i| = 200, and in proportion above.
        """
        size = float(np.abs(self.matrix).sum(axis=0).max())
        return 1e-12 * size * max(self.scale, self.sum_abs_a / 200)

    @property
    def layer_error(self) -> LayerError:
        """Claim nothing: the bound is for labels of one column."""
        return LayerError(levels=self.levels, why="a bound is known for labels of one column only")


@dataclass(frozen=True, kw_only=True)
class ParityPosition(Parities, Positions):
    """The family of all parities on m of d - 1 hidden coordinates, seen through W_0.

    d, m, noise, rho: as of Parity; w0: as of Positions. Raises UsageError out of range.

    >>> family = ParityPosition(d=8, m=3)
    >>> family.spec, family.size
    ('parity_position:d=8,m=3,noise=0,rho=3,w0=identity', 35)
    >>> examples = family.instance(0).examples(0, 100)
    >>> bool((abs(family.instance(0).layer()(examples.x) - examples.y) < 1e-12).all())
    True
    """

    name: ClassVar[str] = "parity_position"
    example: ClassVar[str] = "parity_position:d=32,m=3,w0=gaussian"
    about: ClassVar[str] = "hidden parities shown in every example, positions, any output matrix"
    label_text: ClassVar[str] = Positions.label_text.replace("levels[code]", "(1 - 2 code)")

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)
    w0: str = "identity"

    def __post_init__(self) -> None:
        self.require_range()


@dataclass(frozen=True, kw_only=True)
class ProfilePosition(Expressed, Positions):
    """The family of g(h) for all sets of m of d - 1 hidden coordinates, seen through W_0.

    g, d, m, noise, rho: as of Profile, g even or odd; w0: as of Positions. Raises UsageError out of
    range.
    """

    name: ClassVar[str] = "profile_position"
    example: ClassVar[str] = "profile_position:g=majority,d=32,m=5"
    about: ClassVar[str] = "even or odd functions of m hidden coordinates, shown by positions"

    g: Expression
    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(3)
    w0: str = "identity"

    def __post_init__(self) -> None:
        self.require_range()
        self.require_profile()
