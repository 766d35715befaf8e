"""Hidden parities on three tokens: an open example shows two bits, and their product.

Tokens are uniform on {-1,+1}^(3 x d); coordinate 0 is public. Where all three tokens agree there
the label is 0. Else let o be the odd token, a and b the others, and chi_S(z) = prod_{j in S} z_j:

    Y[a, 0] = X[a, 0] chi_S(x_a * x_o), Y[b, 0] = X[b, 0] chi_S(x_b * x_o),
    Y[o, 0] = X[o, 0] chi_S(x_a * x_b),

and 0 in every other column. The first two bits are independent and fair; the third is their
product. With label noise eta each of the two is flipped with probability eta, independently, and
the third with them.
"""

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any, ClassVar

import numpy as np
from flint import fmpq_mat
from numpy.typing import NDArray

from instances.dense import Dense
from instances.errors import ToolkitError
from instances.families.parity import Parity, signs
from instances.family import Hardness, Secret
from instances.layer import AttentionLayer
from instances.questions import HiddenFunction
from instances.streams import BitStream
from instances.symmetric import MAX_SUM, HiddenSets, log, to_float
from instances.threshold import Head, Rational, rational

MOST_M = 6  # that float64 holds: sums of |a_i| are 92, 742, 2485 and 2e4 at m = 2 .. 5, rho = 2
_STEPS = 12  # slopes are -12/2 .. 12/2 times ln rho
_MARGIN = 4  # of a threshold beyond the p that occur: factors rho

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
    hardness = Hardness(
        evidence="exact",
        proved="orthogonal members, two bits an open example: exact for statistical queries",
        easy="linear algebra mod 2, no statistical-query algorithm, would learn it without noise",
    )

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
    def layer_heads(self) -> int:
        """One for each case of a row, and one more."""
        return len(cases(self.m)) + 1

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
        """Build the layer, of heads of several slopes on S."""
        return self.counting(secret)

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

        return HiddenFunction(
            places=self.d - 1,
            tokens=tokens,
            read=lambda x, y: x[:, 0, 0] * y[:, 0, 0],
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


def cases(m: int) -> list[tuple[bool, int, int]]:
    """List what a row sees of a set of m places: is it odd, and places where two others differ.

    The first of these is the odd token, where the row is not odd itself.

    >>> len(cases(2))
    15
    """
    both = list(itertools.product(range(m + 1), repeat=2))
    return [*((False, i, j) for i, j in both), *((True, i, j) for i, j in both if i <= j)]


@lru_cache(maxsize=32)
def three_token_heads(m: int, rho: Fraction) -> tuple[Head, ...]:
    """Solve for heads exactly, as many as cases and one more; amplitudes sum to 0.

    Theta = diag with a slope s on S and an offset on coordinate 0, W = a e_0 e_0^T. A token that
    differs from the row's own at h places of S has e^(-2 s h) times the attention of the row's own,
    and u times that where it differs at coordinate 0. So a head adds a (p - u)/(p + u) to the label
    times X[l,0], and a where the example is closed; p = (1 + x')/x where one token differs, at h
    places, and the other at h', and p = 1/(x + x') where both do, x = e^(-2 s h). Heads of several
    slopes, chosen by a linear program for a small sum of |a_i|, have amplitudes that float64 holds;
    these are then solved in rational arithmetic. Raises ToolkitError.

    >>> heads = three_token_heads(2, Fraction(2))
    >>> len(heads), sum(head.a for head in heads)
    (16, 0)
    """
    from scipy.optimize import linprog  # which few commands need

    base, log_rho, found = rational(rho), math.log(rho), cases(m)
    wanted = [*((-1) ** (i + j if odd else i) for odd, i, j in found), 0]

    def thresholds(steps: int) -> list[Rational]:
        """p of every case, at the slope steps/2 ln rho."""
        x = [base ** (-steps * h) for h in range(m + 1)]
        return [1 / (x[i] + x[j]) if odd else (1 + x[j]) / x[i] for odd, i, j in found]

    chosen: list[tuple[int, Rational]] = []
    columns = []
    for steps in (s for s in range(-_STEPS, _STEPS + 1) if s):
        logs = np.array([log(p) for p in thresholds(steps)])
        low, high = (int(np.floor(v / log_rho)) for v in (logs.min(), logs.max()))
        for q in range(low - _MARGIN, high + _MARGIN + 1):
            chosen.append((steps, base**q))
            columns.append(np.append(np.tanh((logs - q * log_rho) / 2), 1.0))
    grid = np.array(columns).T
    made = linprog(
        np.ones(2 * len(chosen)), A_eq=np.hstack([grid, -grid]), b_eq=wanted, bounds=(0, None)
    )
    if made.x is None:
        raise ToolkitError(f"no heads were found for m={m}, rho={rho}: take another rho")
    amplitudes = np.abs(made.x[: len(chosen)] - made.x[len(chosen) :])
    picked = [chosen[i] for i in np.sort(np.argsort(-amplitudes)[: len(wanted)])]
    responses = [[*((p - u) / (p + u) for p in thresholds(steps)), 1] for steps, u in picked]
    solved = fmpq_mat(responses).transpose().solve(fmpq_mat(len(wanted), 1, wanted))
    return tuple(
        Head(u=u, a=solved[i, 0], slope=Fraction(steps, 2)) for i, (steps, u) in enumerate(picked)
    )


def _odd(x: NDArray[Any]) -> NDArray[np.bool_]:
    """Which token alone has its sign at coordinate 0: (n, 3, d) -> (n, 3)."""
    signs = x[:, :, 0]
    return np.asarray(signs == -signs.sum(axis=1, keepdims=True))


def _labelled(x: NDArray[Any], signs: Array) -> Array:
    out = np.zeros(x.shape)
    out[:, :, 0] = x[:, :, 0] * signs
    return out
