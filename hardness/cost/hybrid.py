"""The primal attack by bounded distance decoding, alone and with coordinates of the secret guessed.

zeta of the n coordinates of the secret are guessed. The others, k = n - zeta, and m errors of
samples form with a scale xi = sigma_e/sigma_s a lattice of dimension d = m + k and volume
q^m xi^k, in which each guess gives a target at distance sigma_e sqrt(d). BKZ-beta reduces it once;
under the geometric series assumption the Gram-Schmidt norms over sigma_e are
exp(c + 2 j ln delta), counted from the last, j = 0, with

    c = ln(q/sigma_e) - k ln(q/xi)/d - (d - 1) ln delta.

A target is decoded by one call for a shortest vector of dimension eta + 1, Kannan's embedding of
its projection on the last eta vectors, and by Babai's rounding in the other d - eta coordinates
[PosVir21, ACW19]; or by Babai's alone, with the square root of the number of guesses, where guesses
meet in the middle [HG07, Wun19]. Guesses are tried by weight: all with at most w entries that are
not 0.

    repetitions (2^red + |S| svp), with probability P[at most w] P[Babai] (P[meeting]) each.

The least cost is found by branch and bound over (beta, zeta, d, eta), and all w at each: a box of
these is bounded from below by its cheapest reduction, its easiest lattice, its smallest set of
guesses, each taken on its own, and left out when that is more than a cost found already.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import log2
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicHermiteSpline
from scipy.special import erf, gammaln

from hardness.cost.problem import Law, Problem
from hardness.cost.record import SMALL_BLOCK, Estimate, cheapest_form
from hardness.cost.reduction import Lattice, Model, Setting, cut_line, log_delta, settled
from hardness.cost.success import SUCCESS, log_repetitions

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Line = tuple[Array, Array, Array]  # ln of the last norm, of those at which it is cut off

GAP = 2.0**-10  # bits that the least cost found may be above the least
_LARGEST_BLOCK = 5000
_SOURCE = {
    "bdd": "PosVir21",
    "bdd_hybrid": "ACW19, PosVir21, LP11",
    "bdd_mitm_hybrid": "HG07, Wun19, LP11",
}
_LOCAL = "local search in beta, zeta and d from the least under zgsa; all weights"
_SEARCH = "branch and bound over all beta, zeta, d, eta and weights"
_WORK = 1 << 23  # bounds of boxes, one a weight, after which a search doubles its gap
_PIECE = 1 << 19  # of them at a time
_MOST = 4000.0  # bits: costs above it are of no interest
_TRIED = 512  # boxes of which points are tried at a time
_LN2 = math.log(2)
_SIMULATED = 46  # the least block size that the Gaussian heuristic is taken for
_FAR = 1e300  # ln of norms that there are not
_LOW, _HIGH = -40.0, 40.0  # ln of norms over sigma: no rounding fails above


# ---- Babai's rounding


def _ln_inside(u: Array) -> Array:
    """Compute ln P[|x| < r/2] of a normal x, r = exp(u)."""
    return np.log(erf(np.exp(u) / math.sqrt(8)))


def _ln_meeting(u: Array) -> Array:
    """Compute ln of E[max(0, 1 - |x|/r)]: y and y + x are rounded alike, y uniform in (0, r)."""
    r = np.exp(u)
    wide = erf(r / math.sqrt(2)) + math.sqrt(2 / math.pi) / r * np.expm1(-(r**2) / 2)
    return np.log(np.where(r < 1e-2, r / math.sqrt(2 * math.pi), wide))


@lru_cache
def _integrals() -> CubicHermiteSpline:
    """Integrate both from u to infinity, as (..., 2): in cells, by Gauss's rule."""
    knots = np.linspace(_LOW, _HIGH, 1 + 40 * 80)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    step = knots[1] - knots[0]
    inside = knots[:-1, None] + step * (nodes + 1) / 2
    values = np.stack([_ln_inside(inside), _ln_meeting(inside)], axis=-1)
    cells = (step / 2) * np.einsum("j,ijc->ic", weights, values)
    tail = np.array([0.0, -math.sqrt(2 / math.pi) * math.exp(-_HIGH)])
    totals = np.concatenate([np.cumsum(cells[::-1], axis=0)[::-1], np.zeros((1, 2))]) + tail
    slopes = -np.stack([_ln_inside(knots), _ln_meeting(knots)], axis=-1)
    return CubicHermiteSpline(knots, totals, slopes)


def ln_babai(
    level: Array, slope: Array, first: Array, last: Array, low: Array, high: Array, zero: float
) -> Array:
    """Compute ln of the probabilities of Babai's rounding in coordinates j = first .. last - 1.

    Returns (..., 2): that all errors are within the box, and that two targets which differ by the
    error are rounded alike. The norms over the error's deviation are exp(level + slope j), but
    exp(low) and exp(high) where that is beyond them. What is cut off at exp(low) is not reduced:
    such a coordinate is one of the secret, which is right with its probability of 0. Sums by Euler
    and Maclaurin's formula, whose next term is below slope^3/720.

    >>> norms = np.exp(0.5 + 0.01 * np.arange(40, 700))
    >>> line = np.array(0.5), np.array(0.01), np.array(40), np.array(700)
    >>> both = ln_babai(*line, np.array(-np.inf), np.array(np.inf), 0.5)
    >>> bool(abs(both[0] - np.log(erf(norms / math.sqrt(8))).sum()) < 1e-7)
    True
    """
    total, last = _integrals(), np.maximum(first, last)
    start = np.clip(np.ceil((low - level) / slope), first, last)
    end = np.clip(np.floor((high - level) / slope) + 1, start, last)
    found = np.zeros(2)
    for index, sign in ((start, 1.0), (end, -1.0)):
        u = np.clip(level + slope * index, _LOW, _HIGH)
        at, bent = -total(u, 1), -total(u, 2)
        h = np.asarray(slope)[..., None]
        found = found + sign * (total(u) / h + at / 2 - h * bent / 12)
    found = np.where((end > start)[..., None], np.minimum(found, 0.0), 0.0)
    ends = (-total(np.clip(u, _LOW, _HIGH), 1) for u in (low, high))
    tail, head = (np.minimum(next(ends), math.log(max(zero, 1e-300))), next(ends))
    return found + (start - first)[..., None] * tail + (last - end)[..., None] * head


# ---- guesses


class Guesses:
    """Sets of guesses of zeta coordinates: all with at most w entries that are not 0.

    Their numbers and probabilities are tabulated for the zeta that are asked for.
    """

    def __init__(self, problem: Problem, zeta: int, most: float) -> None:
        """Tabulate sets of up to 2^most guesses of up to so many coordinates."""
        law, self.n = problem.secret, problem.n
        usual = round(self.n * (1 - law.zero))  # of independent entries
        self._factorials = gammaln(np.arange(1.0, self.n + 2))
        self._weight = usual if law.weight is None else law.weight
        each = 1.0 if law.counts else log2(max(law.alphabet, 2))  # bits of weight 1 at least
        self.columns = 1 + min(zeta, self._weight, int(most / each))
        self._signs = law.log2_signs(self.columns - 1) * _LN2
        self._at = np.full(self.n + 1, -1)
        self._tables = np.empty((0, 2, self.columns))

    def _choose(self, n: Integers, k: Integers) -> Array:
        f = self._factorials
        found = f[n] - f[np.clip(k, 0, n)] - f[np.clip(n - k, 0, n)]
        return np.where((k >= 0) & (k <= n), found, -np.inf)

    def of(self, zeta: Integers) -> tuple[Array, Array]:
        """Return log2 of the numbers and ln of the probabilities, (len(zeta), weights) each."""
        missing = np.unique(zeta[self._at[zeta] < 0])
        if len(missing):
            self._at[missing] = len(self._tables) + np.arange(len(missing))
            self._tables = np.concatenate([self._tables, self._rows(missing)])
        rows = self._tables[self._at[zeta]]
        return rows[:, 0], rows[:, 1]

    def _rows(self, zeta: Integers) -> Array:
        zeta = zeta[:, None]
        w = np.arange(self.columns)
        ways = self._choose(zeta, w)
        rest = self._choose(self.n - zeta, self._weight - w)
        shares = ways + rest - self._choose(np.array(self.n), np.array(self._weight))
        both = np.stack([ways + self._signs, shares], axis=1)
        found = np.logaddexp.accumulate(both, axis=2)
        found[:, 0] /= _LN2
        found[:, 0][w > zeta] = np.inf
        found[:, 1] = np.minimum(found[:, 1], 0.0)
        return found


# ---- the lattices, and what boxes of parameters cost at least


class Costs(NamedTuple):
    """What boxes cost at least, each (boxes,): what a point costs where a box is one.

    rop, red, svp, repetitions, space: as of an Estimate. ln_prob: of one repetition.
    """

    rop: Array
    red: Array
    svp: Array
    repetitions: Array
    space: Array
    ln_prob: Array
    weight: Integers


@dataclass(frozen=True, kw_only=True)
class Attack:
    """The attack on a problem, with up to `largest` guessed coordinates and `most` bits of cost.

    meet: whether guesses meet in the middle. Boxes of its parameters are (boxes, 7): beta, and both
    ends, included, of zeta, d and eta; eta is 0 where guesses meet.
    """

    problem: Problem
    model: Model
    meet: bool
    largest: int
    most: float = _MOST
    success: float = SUCCESS
    shape: str = "gsa"

    @cached_property
    def guesses(self) -> Guesses:
        """The sets of guesses that are cheap enough."""
        return Guesses(self.problem, self.largest, (2 if self.meet else 1) * self.most)

    @cached_property
    def ln_width(self) -> float:
        """ln of q over the error's deviation."""
        return self.problem.ln_q - _error(self.problem).ln_deviation

    @cached_property
    def ln_ratio(self) -> float:
        """ln of q over the scale of the secret, sigma_e/sigma_s."""
        return self.ln_width + self.problem.secret.ln_deviation

    @cached_property
    def blocks(self) -> Integers:
        """All block sizes whose reduction costs at most `most`."""
        sizes = np.arange(2, _LARGEST_BLOCK + 1)
        return sizes[self.model.cost(sizes, sizes) <= self.most]

    @cached_property
    def widest(self) -> int:
        """The largest d that can be of use."""
        n, rows = self.problem.n, self.problem.rows
        top = int(self.useful(self.blocks[-1:], np.zeros(1))[0])
        top = max(top, n + 1, int(self.blocks[-1]))
        return top if rows is None else min(top, n + rows)

    @cached_property
    def calls(self) -> Array:
        """log2 of a call for a shortest vector, by eta."""
        size = np.maximum(np.arange(self.widest + 1.0) + 1, 2)
        return self.model.cost(size, size)

    @cached_property
    def cheapest(self) -> Integers:
        """The eta of the cheapest call, of those from each eta on."""
        least = np.minimum.accumulate(self.calls[::-1])[::-1]
        own = np.where(self.calls <= least, np.arange(len(least)), len(least))
        return np.minimum.accumulate(own[::-1])[::-1]

    @cached_property
    def needs(self) -> Array:
        """The level that eta needs, by eta, less what the slope of the norms gives it."""
        eta = np.arange(1.0, self.widest + 1)
        size = eta + 1
        ln_ball = size / 2 * math.log(math.pi) - gammaln(size / 2 + 1)
        return np.append(np.inf, (ln_ball + size * np.log(size) / 2) / eta)

    @cached_property
    def bounds(self) -> Array:
        """What eta and all below it need at least: needs that fall, as norms rise."""
        return self.needs if self.shape == "gsa" else np.minimum.accumulate(self.needs)

    def useful(self, beta: ArrayLike, zeta: ArrayLike) -> Integers:
        """Find the d beyond which norms from the last fall, or stay as a flat head grows."""
        best, k = self.best_d(beta, zeta), self.problem.n - np.asarray(zeta)
        if self.shape == "gsa":
            return np.ceil(best).astype(int)
        half = self.ln_ratio / log_delta(beta) / 4  # of the line from q down to the tail
        flat = (self.shape != "lgsa") & (k > half)
        return np.ceil(np.where(flat, k + half, best)).astype(int) + 2

    def highest(self, beta: Integers, zeta: Integers, low: Integers, high: Integers) -> Line:
        """Compute the line of the highest norms of d from low to high.

        Where heads are cut off, norms counted from the last never fall as a sample is added, nor
        as a coordinate of the secret is left out: what is cut off there is the longest, and the
        shortest of a cut tail.
        """
        if self.shape == "gsa":
            d = np.clip(self.best_d(beta, zeta), low, np.maximum(low, high))
            return self.level(beta, zeta, d), np.array(-_FAR), np.array(_FAR)
        return cut_line(self.shape, self.lattice(zeta, np.maximum(low, high)), beta)

    def lattice(self, zeta: Integers, d: Integers) -> Lattice:
        """Describe the lattice before reduction, lengths over the error's deviation."""
        k, ln_tail = self.problem.n - zeta, self.ln_width - self.ln_ratio
        return Lattice(m=d - k, tail=k, ln_q=self.ln_width, ln_tail=ln_tail)

    def best_d(self, beta: ArrayLike, zeta: ArrayLike) -> Array:
        """Compute the real d of the highest level, which falls on both sides of it."""
        k = self.problem.n - np.asarray(zeta)
        return np.sqrt(k * self.ln_ratio / log_delta(beta))

    def level(self, beta: ArrayLike, zeta: ArrayLike, d: ArrayLike) -> Array:
        """Compute c, ln of the last norm over the error's deviation."""
        k, d = self.problem.n - np.asarray(zeta), np.asarray(d)
        return self.ln_width - k * self.ln_ratio / d - (d - 1) * log_delta(beta)

    def decodes(self, beta: Integers, line: Line, eta: Integers, needs: Array) -> NDArray[np.bool_]:
        """Return whether a block of the last eta norms decodes, and reaches above a flat tail.

        The shortest vector is the one that is looked for where (eta + 1)^(1/2) is at most the
        Gaussian heuristic of the last eta norms and the embedding's own, 1. Those of a flat tail
        count as if the line went on there.
        """
        last, low, high = line
        slope = 2 * log_delta(beta)
        end = np.clip(np.floor((high - last) / slope) + 1, 0, eta)
        inner = end * (last + slope * (end - 1) / 2)
        mean = (inner + (eta - end) * high) / np.maximum(eta, 1)
        return (needs[eta] <= mean) & (last + slope * (eta - 1) > low + 1e-9)

    def least_eta(self, beta: Integers, line: Line, needs: Array) -> Integers:
        """Find the least eta that decodes, `widest` + 1 where none does.

        What that asks of the level of a line falls with eta for ln delta > 0.00054, block sizes up
        to 5000; where the line is cut off, `bounds` fall, and find what no eta is below.
        """
        low, high = np.ones_like(beta), np.full_like(beta, self.widest + 1)
        for _ in range(self.widest.bit_length() + 1):
            middle = (low + high) // 2
            done = middle >= high
            enough = done | self.decodes(beta, line, np.minimum(middle, self.widest), needs)
            low, high = np.where(enough, low, middle + 1), np.where(enough, middle, high)
        return high

    def room(self, zeta: Integers, d: Integers) -> Array:
        """Compute log2 of how many targets are decoded before one is by chance, at least 0.

        It is the lattice's volume over that of a ball of the error's size, and rises with both.
        """
        ln_ball = d / 2 * np.log(math.pi * d) - gammaln(d / 2 + 1)
        k = self.problem.n - zeta
        return (d * self.ln_width - k * self.ln_ratio - ln_ball) / _LN2

    def tighten(self, boxes: Integers) -> Integers:
        """Leave out what no lattice has, and d above both eta + 1 and that of the highest level.

        A larger d costs more there, and lowers all norms counted from the last.
        """
        beta, z1, z2, d1, d2, e1, e2 = boxes.T
        n, rows = self.problem.n, self.problem.rows
        d1 = np.maximum(d1, np.maximum(beta, n - z2 + 1))
        top = self.useful(beta, z1)
        d2 = np.minimum(d2, np.maximum(np.maximum(top, e2 + 1), np.maximum(beta, n - z1 + 1)))
        if rows is not None:
            d2 = np.minimum(d2, n - z1 + rows)
        kept = d1 <= d2
        if not self.meet:
            line = self.highest(beta, z2, d1, d2)
            point = (z1 == z2) & (d1 == d2) & (e1 == e2) & (self.shape != "gsa")
            kept &= ~point | self.decodes(beta, line, np.minimum(e1, self.widest), self.needs)
            e1 = np.maximum(e1, self.least_eta(beta, line, self.bounds))
            e2 = np.minimum(e2, d2 - 1)
            kept &= e1 <= e2
        return np.stack([beta, z1, z2, d1, d2, e1, e2], axis=1)[kept]

    def bound(self, boxes: Integers) -> Costs:
        """Bound the costs in boxes from below, and exactly where they are points."""
        beta, z1, z2, d1, d2, e1, e2 = boxes.T
        parts = self.babai(beta, z2, d1, d2, e2)
        red = self.model.cost(beta, d1)
        red = red + np.minimum(0.0, self.model.call(beta, d2) - self.model.call(beta, d1))
        one = 2 * np.log2(np.maximum(d1 - e2, 1))
        space, ln_guessed = self.guesses.of(z1)
        ln_prob = ln_guessed + parts[:, :1]
        if self.meet:
            ln_prob[:, 1:] += parts[:, 1:]
            tried = space / 2
        else:
            eta = np.where(e1 == e2, e1, self.cheapest[e1])
            one = np.logaddexp2(one, self.calls[eta])
            tried = space
        svp = tried + one[:, None]
        repetitions = log_repetitions(ln_prob, self.success)
        rop = repetitions + np.logaddexp2(red[:, None], svp)
        rop = np.where(space <= self.room(z2, d2)[:, None], rop, np.inf)
        w = rop.argmin(axis=1)
        at = np.arange(len(w)), w
        again = repetitions[at]
        return Costs(rop[at], again + red, again + svp[at], again, space[at], ln_prob[at], w)

    def babai(
        self, beta: Integers, zeta: Integers, d1: Integers, d2: Integers, eta: Integers
    ) -> Array:
        """Compute ln of the probabilities of coordinates eta .. d1 - 1 at the highest norms."""
        if self.shape != "cn11":
            last, low, high = self.highest(beta, zeta, d1, d2)
            first, end = eta.astype(float), d1.astype(float)
            zero = self.problem.secret.zero
            return ln_babai(last, 2 * log_delta(beta), first, end, low, high, zero)
        every = zip(beta, zeta, d2, eta, strict=True)
        u = [np.clip(self.norms(b, z, d)[e:], _LOW, _HIGH) for b, z, d, e in every]
        return np.array([[_ln_inside(one).sum(), _ln_meeting(one).sum()] for one in u])

    def norms(self, beta: int, zeta: int, d: int) -> Array:
        """Simulate ln of the norms at a point, the last first."""
        k, ln_tail = self.problem.n - int(zeta), self.ln_width - self.ln_ratio
        return settled(int(d) - k, k, self.ln_width, ln_tail, int(beta))

    def near(self, start: Integers) -> Integers | None:
        """Move from a point while steps in beta, zeta or d lower the cost, and halve the steps."""
        best, steps = math.inf, np.array([16, self.largest / 8, 64])
        point, start[0] = None, max(start[0], _SIMULATED)
        while (steps >= 1).any():
            moved = start[[0, 1, 3]] + np.vstack(
                [np.zeros(3), *np.kron(np.diag(steps), [[1], [-1]])]
            )
            some = [p for p in map(self.at, *moved.astype(int).T) if p is not None]
            costs = self.costs(np.array(some)) if some else np.array([math.inf])
            if costs.min() >= best:
                steps /= 2
            else:
                best, point = float(costs.min()), some[int(costs.argmin())]
                start = point
        return point

    def at(self, beta: int, zeta: int, d: int) -> Integers | None:
        """Choose the eta of a point by its norms; None for a lattice or a block that is none."""
        k, rows, eta = self.problem.n - zeta, self.problem.rows, 0
        if not (
            _SIMULATED <= beta <= d
            and 0 <= zeta <= self.largest
            and k < d <= k + (rows or self.widest)
        ):
            return None
        if not self.meet:
            norms = self.norms(beta, zeta, d)[:-1]
            mean = np.cumsum(norms) / np.arange(1, d)
            able = np.flatnonzero(self.needs[1:d] <= mean[: self.widest]) + 1
            if not len(able):
                return None
            eta = int(able[np.argmin(self.calls[able])])
        return np.array([beta, zeta, zeta, d, d, eta, eta])

    def points(self, boxes: Integers) -> Integers:
        """Take a point in each box: the middle of zeta, its best d, the cheapest eta."""
        beta, z1, z2, d1, d2, e1, _ = boxes.T
        zeta = (z1 + z2) // 2
        best = np.rint(self.best_d(beta, zeta)).astype(int)
        d = np.clip(best if self.shape == "gsa" else self.useful(beta, zeta), d1, d2)
        if not self.meet:
            line = self.highest(beta, zeta, d, d)
            least = np.maximum(e1, self.least_eta(beta, line, self.needs))
            e1 = self.cheapest[np.minimum(least, self.widest)]
            zeta = np.where(least > self.widest, -1, zeta)
        return np.stack([beta, zeta, zeta, d, d, e1, e1], axis=1)[zeta >= 0]

    def costs(self, boxes: Integers) -> Array:
        """Bound the costs in boxes from below, some at a time."""
        count = max(1, _PIECE // self.guesses.columns)
        pieces = range(0, len(boxes), count)
        return np.concatenate([self.bound(boxes[at : at + count]).rop for at in pieces])

    def least(self) -> tuple[Integers | None, float]:
        """Find the point of least cost by branch and bound, None for none, and by what gap at most.

        The gap is GAP bits, and doubles with every _WORK bounds.
        """
        if self.shape == "cn11":
            point, _ = replace(self, shape="zgsa").least()
            point = None if point is None else self.near(point)
            return point, 0.0
        best, point, gap, work = self.most, None, GAP, 0
        one = np.ones_like(self.blocks)
        eta, last = (0 * one, 0 * one) if self.meet else (one, self.widest * one)
        boxes = np.stack(
            [self.blocks, 0 * one, self.largest * one, one, self.widest * one, eta, last], axis=1
        )
        while len(boxes := self.tighten(boxes)):
            low = self.costs(boxes)
            work += len(boxes) * self.guesses.columns
            order = np.argsort(low, kind="stable")
            order = order[low[order] < best - gap]
            spread = order[:: 1 + len(order) // _TRIED]
            tried = self.tighten(self.points(boxes[np.append(order[:_TRIED], spread)]))
            if len(tried):
                found = self.costs(tried)
                if found.min() < best:
                    best, point = float(found.min()), tried[found.argmin()]
            gap = GAP * 2.0 ** (work // _WORK)
            boxes = _halves(boxes[order[low[order] < best - gap]])
        return point, gap


def _halves(boxes: Integers) -> Integers:
    """Halve each box where it is widest, by what its parameters change in a cost; drop points."""
    _, z1, z2, d1, d2, e1, e2 = boxes.T
    bits = np.stack([0.3 * (z2 - z1), 2 * np.log2(d2 / d1), 0.3 * (e2 - e1)], axis=1)
    split = bits.argmax(axis=1)
    wide = bits.max(axis=1, initial=0.0) > 0
    boxes, split = boxes[wide], split[wide]
    at = np.arange(len(boxes))
    low, high = 1 + 2 * split, 2 + 2 * split
    middle = (boxes[at, low] + boxes[at, high]) // 2
    left, right = boxes.copy(), boxes.copy()
    left[at, high] = middle
    right[at, low] = middle + 1
    return np.concatenate([left, right])


# ---- estimates


@cheapest_form
def bdd(problem: Problem, setting: Setting) -> Estimate:
    """Estimate bounded distance decoding: reduction, then one call in a smaller block. [PosVir21]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
    >>> found = bdd(kyber, DEFAULT)
    >>> found.beta, found.eta, found.d, round(found.rop, 2)
    (389, 422, 1005, 140.2)
    """
    return _least("bdd", problem, setting, meet=False, guess=False)


@cheapest_form
def bdd_hybrid(problem: Problem, setting: Setting) -> Estimate:
    """Estimate decoding behind guesses of zeta coordinates, each decoded on its own. [ACW19]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> sparse = read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> found = bdd_hybrid(sparse, DEFAULT)
    >>> found.beta, found.zeta, round(found.rop, 1)
    (211, 405, 111.4)
    """
    return _least("bdd_hybrid", problem, setting, meet=False, guess=True)


@cheapest_form
def bdd_mitm_hybrid(problem: Problem, setting: Setting) -> Estimate:
    """Estimate Babai's rounding behind guesses that meet in the middle. [HG07, Wun19]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> sparse = read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64")
    >>> found = bdd_mitm_hybrid(sparse, DEFAULT)
    >>> found.beta, found.zeta, round(found.rop, 1)
    (198, 528, 109.3)
    """
    return _least("bdd_mitm_hybrid", problem, setting, meet=True, guess=True)


def decode_at(
    name: str, problem: Problem, setting: Setting, *, beta: int, zeta: int, d: int, eta: int
) -> Estimate:
    """Estimate one of these attacks at given parameters, eta 0 where guesses meet in the middle.

    The weight of guesses is the best; eta is taken as it is given, whether it decodes or not.
    """
    reason = _reason(problem, setting)
    if reason:
        return _none(name, reason)
    attack = Attack(
        problem=problem,
        model=setting.model,
        meet=name == "bdd_mitm_hybrid",
        largest=zeta,
        success=setting.success,
        shape=setting.shape,
    )
    point = np.array([beta, zeta, zeta, d, d, eta, eta])
    return _estimate(name, problem, attack, point, "one point")


def _least(name: str, problem: Problem, setting: Setting, *, meet: bool, guess: bool) -> Estimate:
    reason = _reason(problem, setting)
    if reason:
        return _none(name, reason)
    attack = Attack(
        problem=problem,
        model=setting.model,
        meet=meet,
        largest=0,
        success=setting.success,
        shape=setting.shape,
    )
    point, gap = attack.least()
    if guess and problem.n > 1:
        most = _MOST if point is None else float(attack.bound(point[None]).rop[0])
        more = replace(attack, largest=problem.n - 1, most=most)
        other, wider = more.least()
        gap = max(gap, wider)
        if other is not None:
            attack, point = more, other
    if point is None:
        return _none(
            name,
            "no lattice and block size decode: the errors are too wide, or the samples too few",
        )
    search = f"{_SEARCH}, to {gap:.1g} bits" if gap else _LOCAL
    return _estimate(name, problem, attack, point, search)


def _estimate(
    name: str, problem: Problem, attack: Attack, point: Integers, search: str
) -> Estimate:
    beta, zeta, _, d, _, eta, _ = (int(v) for v in point)
    cost = attack.bound(point[None])
    if not math.isfinite(cost.rop[0]):
        return _none(name, "more guesses than the lattice tells apart")
    m = d - (problem.n - zeta)
    space = float(cost.space[0])
    memory = float(attack.model.memory(max(beta, eta + 1)))
    notes = []
    if zeta:
        notes.append(f"at most {int(cost.weight[0])} of {zeta} guessed coordinates are not 0")
    if beta < SMALL_BLOCK:
        notes.append("block sizes below 50, of which cost models say little")
    return Estimate(
        name=name,
        kind="heuristic model",
        source=_SOURCE[name],
        rop=float(cost.rop[0]),
        red=float(cost.red[0]),
        svp=float(cost.svp[0]),
        mem=max(memory, space / 2) if attack.meet else memory,
        sample_bits=problem.label_bits(m),
        repetitions=float(cost.repetitions[0]),
        space=space,
        prob=math.exp(float(cost.ln_prob[0])),
        delta=math.exp(float(log_delta(beta))),
        beta=beta,
        eta=eta,
        zeta=zeta,
        weight=int(cost.weight[0]) if zeta else None,
        d=d,
        m=m,
        search=search,
        note="; ".join(notes),
        model=attack.model.name,
        shape=attack.shape,
    )


def _none(name: str, reason: str) -> Estimate:
    return Estimate(name=name, kind="heuristic model", source=_SOURCE[name], reason=reason)


def _reason(problem: Problem, setting: Setting) -> str:
    if problem.no_lattice:
        return problem.no_lattice
    if reason := problem.no_rows or problem.too_few:
        return reason
    attack = Attack(problem=problem, model=setting.model, meet=False, largest=0)
    if attack.ln_width <= math.log(2 * math.pi * math.e) / 2 or attack.ln_ratio <= 0:
        return "the errors are too wide for q"
    return ""


def _error(problem: Problem) -> Law:
    assert problem.error is not None
    return problem.error
