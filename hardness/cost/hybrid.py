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
from hardness.cost.record import SMALL_BLOCK, Estimate
from hardness.cost.reduction import Model, Setting, log_delta
from hardness.cost.success import SUCCESS, log_repetitions

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

GAP = 2.0**-10  # bits that the least cost found may be above the least
_LARGEST_BLOCK = 5000
_SOURCE = {
    "bdd": "PosVir21",
    "bdd_hybrid": "ACW19, PosVir21, LP11",
    "bdd_mitm_hybrid": "HG07, Wun19, LP11",
}
_SEARCH = "branch and bound over all beta, zeta, d, eta and weights"
_WORK = 1 << 23  # bounds of boxes, one a weight, after which a search doubles its gap
_PIECE = 1 << 19  # of them at a time
_MOST = 4000.0  # bits: costs above it are of no interest
_TRIED = 512  # boxes of which points are tried at a time
_LN2 = math.log(2)
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


def ln_babai(level: Array, slope: Array, first: Array, last: Array) -> Array:
    """Compute ln of the probabilities of Babai's rounding in coordinates j = first .. last - 1.

    Returns (..., 2): that all errors are within the box, and that two targets which differ by the
    error are rounded alike. The norms over the error's deviation are exp(level + slope j). Sums by
    Euler and Maclaurin's formula, whose next term is below slope^3/720.

    >>> norms = np.exp(0.5 + 0.01 * np.arange(40, 700))
    >>> both = ln_babai(np.array(0.5), np.array(0.01), np.array(40), np.array(700))
    >>> bool(abs(both[0] - np.log(erf(norms / math.sqrt(8))).sum()) < 1e-7)
    True
    """
    total = _integrals()
    found = np.zeros(2)
    for index, sign in ((first, 1.0), (last, -1.0)):
        u = np.clip(level + slope * index, _LOW, _HIGH)
        at, bent = -total(u, 1), -total(u, 2)
        h = np.asarray(slope)[..., None]
        found = found + sign * (total(u) / h + at / 2 - h * bent / 12)
    return np.where((last > first)[..., None], np.minimum(found, 0.0), 0.0)


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

    @cached_property
    def guesses(self) -> Guesses:
        """The sets of guesses that are cheap enough."""
        return Guesses(self.problem, self.largest, (2 if self.meet else 1) * self.most)

    @cached_property
    def ln_width(self) -> float:
        """ln of q over the error's deviation."""
        return self.problem.ln_q - math.log(_error(self.problem).deviation)

    @cached_property
    def ln_ratio(self) -> float:
        """ln of q over the scale of the secret, sigma_e/sigma_s."""
        return self.ln_width + math.log(self.problem.secret.deviation)

    @cached_property
    def blocks(self) -> Integers:
        """All block sizes whose reduction costs at most `most`."""
        sizes = np.arange(2, _LARGEST_BLOCK + 1)
        return sizes[self.model.cost(sizes, sizes) <= self.most]

    @cached_property
    def widest(self) -> int:
        """The largest d that can be of use."""
        n, rows = self.problem.n, self.problem.rows
        top = math.ceil(float(self.best_d(self.blocks[-1:], np.zeros(1))[0]))
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

    def best_d(self, beta: ArrayLike, zeta: ArrayLike) -> Array:
        """Compute the real d of the highest level, which falls on both sides of it."""
        k = self.problem.n - np.asarray(zeta)
        return np.sqrt(k * self.ln_ratio / log_delta(beta))

    def level(self, beta: ArrayLike, zeta: ArrayLike, d: ArrayLike) -> Array:
        """Compute c, ln of the last norm over the error's deviation."""
        k, d = self.problem.n - np.asarray(zeta), np.asarray(d)
        return self.ln_width - k * self.ln_ratio / d - (d - 1) * log_delta(beta)

    def least_eta(self, beta: Integers, level: Array) -> Integers:
        """Find the least eta that decodes, `widest` + 1 where none does.

        The shortest vector is the one that is looked for where (eta + 1)^(1/2) is at most the
        Gaussian heuristic of the last eta norms and the embedding's own, 1. What that asks of the
        level falls with eta for ln delta > 0.00054, block sizes up to 5000.
        """
        slope = log_delta(beta)
        low, high = np.ones_like(beta), np.full_like(beta, self.widest + 1)
        for _ in range(self.widest.bit_length() + 1):
            middle = (low + high) // 2
            done = middle >= high
            enough = done | (
                self.needs[np.minimum(middle, self.widest)] <= level + slope * (middle - 1)
            )
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
        top = np.ceil(self.best_d(beta, z1)).astype(int)
        d2 = np.minimum(d2, np.maximum(np.maximum(top, e2 + 1), np.maximum(beta, n - z1 + 1)))
        if rows is not None:
            d2 = np.minimum(d2, n - z1 + rows)
        if not self.meet:
            d = np.clip(self.best_d(beta, z2), d1, np.maximum(d1, d2))
            e1 = np.maximum(e1, self.least_eta(beta, self.level(beta, z2, d)))
            e2 = np.minimum(e2, d2 - 1)
        kept = (d1 <= d2) & (e1 <= e2)
        return np.stack([beta, z1, z2, d1, d2, e1, e2], axis=1)[kept]

    def bound(self, boxes: Integers) -> Costs:
        """Bound the costs in boxes from below, and exactly where they are points."""
        beta, z1, z2, d1, d2, e1, e2 = boxes.T
        d = np.clip(self.best_d(beta, z2), d1, d2)
        slope = 2 * log_delta(beta)
        parts = ln_babai(self.level(beta, z2, d), slope, e2, d1)
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

    def points(self, boxes: Integers) -> Integers:
        """Take a point in each box: the middle of zeta, its best d, the cheapest eta."""
        beta, z1, z2, d1, d2, e1, _ = boxes.T
        zeta = (z1 + z2) // 2
        d = np.clip(np.rint(self.best_d(beta, zeta)).astype(int), d1, d2)
        if not self.meet:
            least = np.maximum(e1, self.least_eta(beta, self.level(beta, zeta, d)))
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
        problem=problem.normal(),
        model=setting.model,
        meet=name == "bdd_mitm_hybrid",
        largest=zeta,
        success=setting.success,
    )
    point = np.array([beta, zeta, zeta, d, d, eta, eta])
    return _estimate(name, problem, attack, point, "one point")


def _least(name: str, problem: Problem, setting: Setting, *, meet: bool, guess: bool) -> Estimate:
    reason = _reason(problem, setting)
    if reason:
        return _none(name, reason)
    normal = problem.normal()
    attack = Attack(
        problem=normal, model=setting.model, meet=meet, largest=0, success=setting.success
    )
    point, gap = attack.least()
    if guess and normal.n > 1:
        most = _MOST if point is None else float(attack.bound(point[None]).rop[0])
        more = replace(attack, largest=normal.n - 1, most=most)
        other, wider = more.least()
        gap = max(gap, wider)
        if other is not None:
            attack, point = more, other
    if point is None:
        return _none(
            name,
            "no lattice and block size decode: the errors are too wide, or the samples too few",
        )
    return _estimate(name, problem, attack, point, f"{_SEARCH}, to {gap:.1g} bits")


def _estimate(
    name: str, problem: Problem, attack: Attack, point: Integers, search: str
) -> Estimate:
    beta, zeta, _, d, _, eta, _ = (int(v) for v in point)
    cost = attack.bound(point[None])
    if not math.isfinite(cost.rop[0]):
        return _none(name, "more guesses than the lattice tells apart")
    m = d - (problem.n - zeta)
    spent = 0 if attack.problem is problem else problem.n
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
        sample_bits=math.log2(problem.labels * (m + spent)),
        repetitions=float(cost.repetitions[0]),
        space=space,
        prob=math.exp(float(cost.ln_prob[0])),
        delta=math.exp(float(log_delta(beta))),
        beta=beta,
        eta=eta,
        zeta=zeta,
        d=d,
        m=m,
        search=search,
        note="; ".join(notes),
        model=attack.model.name,
        shape="gsa",
    )


def _none(name: str, reason: str) -> Estimate:
    return Estimate(name=name, kind="heuristic model", source=_SOURCE[name], reason=reason)


def _reason(problem: Problem, setting: Setting) -> str:
    if problem.no_lattice:
        return problem.no_lattice
    if setting.shape != "gsa":
        return f"shape {setting.shape} given: its probabilities are worked out for gsa alone"
    if not math.isfinite(problem.normal().secret.deviation):
        return "the secret is as wide as q, and too few samples are left to make it narrow"
    if reason := problem.no_rows or problem.too_few:
        return reason
    attack = Attack(problem=problem.normal(), model=setting.model, meet=False, largest=0)
    if attack.ln_width <= math.log(2 * math.pi * math.e) / 2 or attack.ln_ratio <= 0:
        return "the errors are too wide for q"
    return ""


def _error(problem: Problem) -> Law:
    assert problem.error is not None
    return problem.error
