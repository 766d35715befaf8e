"""Hidden parities that one head computes, with a public piecewise-linear map on top.

Where z_0 = -1 the head's output is X[l,0] r(h), h the number of j in S with z_j = -1 and
r(h) = (x - 1)/(x + 1) at x = rho^(2h + 2), which rises with h from above 0 to below 1; where
z_0 = +1 it is X[l,0]. The odd map P through (r(h), (-1)^h), h = 0 .. m, and (1, A) makes it the
label of the parity on S. P is the same for all S: with it on top one head is as hard as m.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.errors import ToolkitError
from instances.families.parity import Parity
from instances.layer import AttentionLayer
from instances.layererror import LayerError, counting_error
from instances.threshold import Head, python_fraction, rational

_MOST = 1e-9  # of the error of P of the layer: where rounding does more, rho is refused

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Composed(Parity):
    """The family of all parities on m of d - 1 hidden coordinates, as P of one head.

    d, m, noise: as of Parity, whose labels these are; rho: e^(beta/2) of the head. Raises
    UsageError out of range, and ToolkitError for a layer that P would make wrong by over 1e-9.

    >>> family = Composed(d=8, m=3)
    >>> instance = family.instance(0)
    >>> drawn = instance.examples(0, 100)
    >>> off = np.abs(family.outer(instance.layer()(drawn.x)) - drawn.y)
    >>> instance.layer().m, bool((off < 1e-12).all())
    (1, True)
    """

    name: ClassVar[str] = "composed"
    example: ClassVar[str] = "composed:d=32,m=3"
    about: ClassVar[str] = "hidden parities as a public piecewise-linear map of one head"
    label_text: ClassVar[str] = (
        f"{Parity.label_text}; without noise they are P of the layer's output, P a public map"
    )
    outer_text: ClassVar[str] = "P, odd and piecewise linear, through (r(h), (-1)^h) and (1, A)"
    view = "one-head"
    scheme = characters = property(attrgetter("plain"))  # by layers of m heads, or m + 1

    d: int
    m: int
    noise: Fraction = Fraction(0)
    rho: Fraction = Fraction(17, 16)

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The one head, exactly."""
        return (Head(u=rational(self.rho) ** -2, a=rational(1)),)

    @property
    def known_constant(self) -> Fraction:
        """A of the parity."""
        return self.plain.known_constant

    @cached_property
    def nodes(self) -> tuple[tuple[Fraction, Fraction], ...]:
        """The points (r, P(r)) with r >= 0, exactly: 0, r(0) .. r(m), and 1."""
        (head,), base = self.heads, rational(self.rho)
        at = [python_fraction(head.response(base ** (2 * h))) for h in range(self.m + 1)]
        ends = (Fraction(0), Fraction(0)), (Fraction(1), self.known_constant)
        return (ends[0], *zip(at, self.values, strict=True), ends[1])

    def outer(self, y: Array) -> Array:
        """Apply P to every entry; beyond -1 and 1 it is constant."""
        at, values = np.array(self.nodes, np.float64).T
        return np.asarray(np.sign(y) * np.interp(np.abs(y), at, values))

    @cached_property
    def slope(self) -> Fraction:
        """The largest slope of P."""
        return max(abs((q - p) / (b - a)) for (a, p), (b, q) in pairwise(self.nodes))

    @cached_property
    def _error(self) -> float:
        """Bound the error of P of the layer in float64: its own and that of nodes, by the slope."""
        at = [r for r, _ in self.nodes[1:-1]]
        error = counting_error(*self.float_heads, at, Fraction(1))
        largest = max(1.0, abs(float(self.known_constant)))
        return float(self.slope) * (error + 2.0**-50) + 2.0**-49 * largest

    @property
    def layer_error(self) -> LayerError:
        """Bound the error of P of the layer in float64, whichever member."""
        self.require_float64()
        return LayerError(levels=self.levels, error=self._error)

    def layer_tolerance(self, layer: AttentionLayer) -> float:
        """Bound how far P of a member's layer may be from the label by rounding."""
        return self._error

    def require_float64(self) -> None:
        """Refuse a P that is too steep for float64; raises ToolkitError."""
        if self._error > _MOST:
            raise ToolkitError(
                f"{self.spec}: P has slopes up to {float(self.slope):.1e}, which make rounding "
                f"{self._error:.1e}, over {_MOST:.0e}: lower rho (17/16 is the least) or m; "
                "certificates are exact anyway"
            )
