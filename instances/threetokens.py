"""Heads of softmax attention on three tokens that compute a hidden parity exactly.

The tokens agree at coordinate 0, which is closed, or one of them is odd there. Theta = diag with a
slope s on the hidden set S and an offset on coordinate 0, W = a e_0 e_0^T. A token that differs
from the row's own at h places of S has e^(-2 s h) times the attention of the row's own token, and u
times that where it differs at coordinate 0. So a head adds a (p - u)/(p + u) to the label times
X[l,0], and a where the example is closed; p = (1 + x')/x where one token differs, at h places, and
the other at h', and p = 1/(x + x') where both do, x = e^(-2 s h). Heads of several slopes, chosen
by a linear program for a small sum of |a_i|, have amplitudes that float64 holds; their amplitudes
are then solved in rational arithmetic.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import fmpq, fmpq_mat

from instances.errors import ToolkitError
from instances.symmetric import log
from instances.threshold import Rational, rational

_STEPS = 12  # slopes are -12/2 .. 12/2 times ln rho
_MARGIN = 4  # of a threshold beyond the p that occur: factors rho


@dataclass(frozen=True, kw_only=True)
class Case:
    """What a row sees: it alone is odd, or not; places of S at which the others differ from it.

    first: of the odd token, where the row is not odd itself.
    """

    alone: bool
    first: int
    second: int

    @property
    def value(self) -> int:
        """The label over the row's own X[l,0]."""
        return (-1) ** (self.first + self.second if self.alone else self.first)

    def threshold(self, rho: Rational, steps: int) -> Rational:
        """Compute p, at the slope steps/2 ln rho."""
        x, other = rho ** (-steps * self.first), rho ** (-steps * self.second)
        return 1 / (x + other) if self.alone else (1 + other) / x


@dataclass(frozen=True, kw_only=True)
class Head:
    """A head: slope steps/2 ln rho on S, threshold u, amplitude a."""

    steps: int
    u: Rational
    a: Rational


def cases(m: int) -> list[Case]:
    """List the (m+1)^2 + (m+1)(m+2)/2 cases of hidden sets of m places.

    >>> len(cases(2))
    15
    """
    each = range(m + 1)
    open_rows = [Case(alone=False, first=i, second=j) for i in each for j in each]
    return open_rows + [Case(alone=True, first=i, second=j) for i in each for j in each if i <= j]


def heads_needed(m: int) -> int:
    """Count the heads: one a case, and one so that closed examples have the label 0.

    >>> heads_needed(2), heads_needed(3)
    (16, 27)
    """
    return len(cases(m)) + 1


@lru_cache(maxsize=32)
def three_token_heads(m: int, rho: Fraction) -> tuple[Head, ...]:
    """Solve for the heads exactly; the amplitudes sum to 0. Raises ToolkitError.

    >>> heads = three_token_heads(2, Fraction(2))
    >>> len(heads), sum(head.a for head in heads)
    (16, 0)
    """
    from scipy.optimize import linprog  # which few commands need

    found, base, log_rho = cases(m), rational(rho), math.log(rho)
    wanted = [*(case.value for case in found), 0]
    chosen: list[tuple[int, Rational]] = []
    columns = []
    for steps in (s for s in range(-_STEPS, _STEPS + 1) if s):
        logs = np.array([log(case.threshold(base, steps)) for case in found])
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
    rows = []
    for case in found:
        points = [(case.threshold(base, steps), u) for steps, u in picked]
        rows.append([(p - u) / (p + u) for p, u in points])
    rows.append([fmpq(1)] * len(picked))
    solved = fmpq_mat(rows).solve(fmpq_mat(len(wanted), 1, wanted))
    return tuple(Head(steps=steps, u=u, a=solved[i, 0]) for i, (steps, u) in enumerate(picked))
