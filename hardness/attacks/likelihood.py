"""What it costs a candidate to explain samples, in whole numbers, and when to give it up early."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from instances.samples import Samples

UNIT = 64  # parts of a bit
IMPOSSIBLE = (1 << 16) - 1
MISS = 2.0**-20  # the chance that the true secret is given up early
_SLOPES = 2.0 ** np.arange(-14, 5, 0.125)


@dataclass(frozen=True, kw_only=True, eq=False)
class Costs:
    """Costs of samples, in parts of a bit: tables[rows[i], (shifts[i] + <a_i, s>) mod q].

    tables: (rows, 2 q) uint16, each row twice. limits: (N,) int64, what the first i + 1 samples may
    cost.
    """

    tables: NDArray[np.uint16]
    rows: NDArray[np.int64]
    shifts: NDArray[np.int64]
    limits: NDArray[np.int64]

    def cut(self, start: int, stop: int) -> "Costs":
        """Return the costs of samples start .. stop-1."""
        return Costs(
            tables=self.tables,
            rows=self.rows[start:stop],
            shifts=self.shifts[start:stop],
            limits=self.limits[: stop - start],
        )


def costs(found: Samples) -> Costs:
    """Tabulate log2 of how much less likely a label is than the likeliest one could be.

    >>> from instances import parse
    >>> of = costs(_few(parse("lwr:n=4,q=8,p=2,secret=binary")))
    >>> (of.tables[0] > 0).tolist()[:8], of.limits.tolist()
    ([False, False, False, False, True, True, True, True], [0, 0, 0])
    """
    family, q = found.family, found.family.q
    t = np.arange(q)
    if family.errors is None:
        bits = np.array([family.log_ratios(t, np.full(q, c)) for c in range(family.outcomes)])
        rows, shifts = found.codes, np.zeros(len(found), np.int64)
    else:
        bits = family.log_ratios(t, np.zeros(q, np.int64))[None]
        rows, shifts = np.zeros(len(found), np.int64), -found.codes % q
    best = bits.max(axis=1, keepdims=True, initial=0.0)
    whole = np.where(bits > -np.inf, np.minimum(UNIT * (best - bits), IMPOSSIBLE - 1), IMPOSSIBLE)
    table = np.rint(whole).astype(np.uint16)
    return Costs(
        tables=np.ascontiguousarray(np.tile(table, 2)),
        rows=rows,
        shifts=shifts,
        limits=_limits(found, table[0, -t % q]),
    )


def patience(of: Costs) -> int:
    """Count the samples that a vector which is no secret takes to be given up, about.

    >>> from instances import parse
    >>> patience(costs(_few(parse("lwr:n=4,q=8,p=2,secret=binary"))))
    1
    """
    each = of.tables[:, : of.tables.shape[1] // 2].mean(axis=1)[of.rows]
    given_up = np.cumsum(each) > of.limits
    return int(np.argmax(given_up)) + 1 if given_up.any() else len(of.rows)


def _few(family):  # type: ignore[no-untyped-def]
    return Samples(family=family, a=np.zeros((3, family.n), np.int64), codes=np.zeros(3, np.int64))


def _limits(found: Samples, by_error: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Bound by Chernoff what the true secret costs after 1, 2, ... samples but for MISS in all."""
    family, many = found.family, np.arange(1, len(found) + 1)
    if family.errors is None:
        return np.zeros(len(found), np.int64)
    likely = family.chances > 0
    cost = by_error[likely] / UNIT
    moments = logsumexp(_SLOPES[:, None] * cost, axis=1, b=family.chances[likely])
    spare = math.log(len(found) / MISS)
    bound = many * cost.max()
    for slope, moment in zip(_SLOPES, moments, strict=True):  # a line each: the least of them all
        np.minimum(bound, (moment / slope) * many + spare / slope, out=bound)
    return np.floor(UNIT * bound).astype(np.int64)
