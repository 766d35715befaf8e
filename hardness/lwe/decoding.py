"""Bounded distance decoding in a reduced lattice after guesses: the common part of three attacks.

zeta of the n entries of the secret are guessed. The other k = n - zeta entries and the errors of m
samples form a lattice with a scale xi = sigma_e/sigma_s. Its dimension is d = m + k and its volume
q^m xi^k. Each guess gives a target at distance sigma_e sqrt(d). BKZ-beta reduces the lattice once.
Under the geometric series assumption the Gram-Schmidt norms over sigma_e are exp(c + 2 j ln delta),
where j = 0 is the last one and c = ln(q/sigma_e) - k ln(q/xi)/d - (d - 1) ln delta.
"""

import math
from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline
from scipy.special import erf, gammaln

from hardness.lwe.models import (
    SMALL_BLOCK,
    Array,
    Integers,
    Lattice,
    Setting,
    cut_line,
    log_delta,
    roomy_dimension,
)
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate
from hardness.lwe.scan import evaluate, refine, scan, spread, window
from hardness.lwe.success import log_repetitions

_LARGEST_BLOCK = 5000
_MOST_BITS = 4000.0  # larger costs are not of interest
_LN2 = math.log(2)
# Up to these numbers, all pairs (beta, d) and all triples (beta, d, eta) are tried.
_LATTICES, _ETAS = 1 << 15, 1 << 17
_CHEAP = 40.0  # bits: below it the cheapest lattice is barely reduced
_TOY = 48  # for an n up to this, all guesses are tried
_CLOSE = 1e-9
_LOW, _HIGH = -40.0, 40.0  # ln of norms over sigma; above, rounding never fails
Priced = dict[str, Array]  # rop, red, svp, repetitions, space, ln_prob and eta of points
# Of arrays beta, zeta, weight, d, and of how far eta is above the least that decodes.
Price = Callable[..., Priced]
Point = tuple[int, ...]  # beta, zeta, weight, d, and how far eta is above the least that decodes
Line = tuple[Array, Array, Array]  # ln of the last norm, then lower and upper limit of the line


# ---- Babai's rounding


def _ln_inside(u: Array) -> Array:
    """Compute ln P[|x| < r/2] for a standard normal x, with r = exp(u)."""
    return np.log(erf(np.exp(u) / math.sqrt(8)))


def _ln_meeting(u: Array) -> Array:
    """Compute ln E[max(0, 1 - |x|/r)] for a standard normal x, with r = exp(u).

    It is the probability that y and y + x round to the same point, for y uniform in (0, r).
    """
    r = np.exp(u)
    wide = erf(r / math.sqrt(2)) + math.sqrt(2 / math.pi) / r * np.expm1(-(r**2) / 2)
    return np.log(np.where(r < 1e-2, r / math.sqrt(2 * math.pi), wide))


@lru_cache
def _integrals() -> CubicHermiteSpline:
    """Integrate `_ln_inside` and `_ln_meeting` from u to infinity by Gauss's rule: (..., 2)."""
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


def ln_babai(line: Line, slope: Array, first: Array, last: Array, zero: float) -> Array:
    """Compute ln of two probabilities of Babai's rounding in coordinates j = first .. last - 1.

    Returns (..., 2). The first is that all errors are within the box [LP11], the second that two
    targets that differ by the error round to the same point [Wun19]. line: (level, low, high); the
    norms over the error's deviation are exp(level + slope j), clipped to exp(low) .. exp(high). A
    norm clipped at exp(low) is not reduced: its coordinate is an entry of the secret, which is
    right if the entry is 0, with probability `zero`. Sums use the Euler–Maclaurin formula, whose
    next term is below slope^3/720.

    >>> norms = np.exp(0.5 + 0.01 * np.arange(40, 700))
    >>> line = np.array(0.5), np.array(-np.inf), np.array(np.inf)
    >>> both = ln_babai(line, np.array(0.01), np.array(40), np.array(700), 0.5)
    >>> bool(abs(both[0] - np.log(erf(norms / math.sqrt(8))).sum()) < 1e-7)
    True
    """
    total, last, (level, low, high) = _integrals(), np.maximum(first, last), line
    start = np.clip(np.ceil((low - level) / slope), first, last)
    end = np.clip(np.floor((high - level) / slope) + 1, start, last)
    u = np.clip(level + slope * np.stack(np.broadcast_arrays(start, end)), _LOW, _HIGH)
    h = np.asarray(slope)[..., None]
    sums = total(u) / h - total(u, 1) / 2 + h * total(u, 2) / 12
    logs = np.where((end > start)[..., None], np.minimum(sums[0] - sums[1], 0.0), 0.0)
    if not np.isfinite(low).any() or (low < _LOW).all():  # gsa: nothing is clipped
        return logs
    ends = (-total(np.clip(u, _LOW, _HIGH), 1) for u in (low, high))
    tail, head = (np.minimum(next(ends), math.log(max(zero, 1e-300))), next(ends))
    return logs + (start - first)[..., None] * tail + (last - end)[..., None] * head


# ---- guesses


class Guesses:
    """Sets of guesses of zeta coordinates: all guesses with at most w entries that are not 0.

    Their numbers and hypergeometric probabilities are tabulated when a zeta is first used.
    """

    def __init__(self, parameters: LweParameters) -> None:
        """Prepare the empty guess only; call `limit` for larger sets."""
        law, self.n = parameters.secret, parameters.n
        expected = round(self.n * (1 - law.zero))  # weight of independent entries
        self._ln_factorials = gammaln(np.arange(1.0, self.n + 2))
        self._weight, self._law = expected if law.weight is None else law.weight, law
        self.limit(0.0)

    def limit(self, bits: float) -> None:
        """Prepare sets of up to 2^bits guesses; their weights are at most `columns` - 1."""
        # One more entry that is not 0 adds at least so many bits.
        each = 1.0 if self._law.counts else math.log2(max(self._law.alphabet, 2))
        self.columns = 1 + min(self.n - 1, self._weight, int(bits / each))
        self._signs = self._law.log2_signs(self.columns - 1) * _LN2
        self._row = np.full(self.n + 1, -1)
        self._tables = np.empty((0, 2, self.columns))

    def sets(self, zeta: Integers, weight: Integers) -> tuple[Array, Array]:
        """Return log2 of the number of guesses up to a weight, and ln of their probability.

        The number is infinite if there is no such set, or if it is above the limit.
        """
        if len(missing := np.unique(zeta[self._row[zeta] < 0])):
            self._row[missing] = len(self._tables) + np.arange(len(missing))
            self._tables = np.concatenate([self._tables, self._tabulate(missing[:, None])])
        row, column = self._row[zeta], np.clip(weight, 0, self.columns - 1)
        space = np.where(weight < self.columns, self._tables[row, 0, column], np.inf)
        return space, np.where(weight < 0, -np.inf, self._tables[row, 1, column])

    def _choose(self, n: ArrayLike, k: ArrayLike) -> Array:
        f, n, k = self._ln_factorials, np.asarray(n), np.asarray(k)
        logs = f[n] - f[np.clip(k, 0, n)] - f[np.clip(n - k, 0, n)]
        return np.where((k >= 0) & (k <= n), logs, -np.inf)

    def _tabulate(self, zeta: Integers) -> Array:
        w = np.arange(self.columns)
        ways = self._choose(zeta, w)
        rest = self._choose(self.n - zeta, self._weight - w)
        shares = ways + rest - self._choose(self.n, self._weight)
        table = np.logaddexp.accumulate(np.stack([ways + self._signs, shares], axis=1), axis=2)
        table[:, 0] /= _LN2
        table[:, 0][w > zeta] = np.inf
        table[:, 1] = np.minimum(table[:, 1], 0.0)
        return table


# ---- lattices


class Decoding:
    """The lattices of a problem, in units of the error, for arrays of beta, zeta and d."""

    def __init__(self, parameters: LweParameters, setting: Setting) -> None:
        """Take from the parameters what all lattices have; raises NoEstimate if there are none."""
        self.parameters, self.model, self.shape = parameters, setting.model, setting.shape
        self.success = setting.success
        self.n = parameters.n
        self.rows = math.inf if parameters.rows is None else parameters.rows
        reason = parameters.no_lattice or parameters.too_few
        if reason or parameters.error is None:
            raise NoEstimate(reason)
        self.ln_width = parameters.ln_q - parameters.error.ln_deviation
        self.ln_ratio = self.ln_width + parameters.secret.ln_deviation  # ln(q/xi)
        if self.ln_width <= math.log(2 * math.pi * math.e) / 2 or self.ln_ratio <= 0:
            raise NoEstimate("the errors are too wide for q")

    def blocks(self, bits: float) -> Integers:
        """List block sizes of a coarse grid for which one block costs at most 2^bits."""
        sizes = np.arange(2, min(_LARGEST_BLOCK, self.widest) + 1)
        sizes = sizes[self.model.cost(sizes, sizes) <= bits]
        few = np.linspace(2, sizes.max(initial=2), 48).astype(np.int64)
        return np.unique(np.append(few, (19, 20)))  # where models of sieves begin

    @cached_property
    def widest(self) -> int:
        """The largest useful dimension d."""
        top = int(self.best_dimension(np.array(_LARGEST_BLOCK), np.array(0)))
        return int(min(max(top, self.n + 1, _LARGEST_BLOCK), self.n + self.rows))

    def best_dimension(self, beta: Integers, zeta: Integers) -> Integers:
        """Return the dimension with the largest last norms: d^2 = k ln(q/xi)/ln delta.

        If the tail is clipped, the last norms do not change from d = k + ln(q/xi)/(4 ln delta) on,
        while the head grows.
        """
        k, log = self.n - zeta, log_delta(beta)
        best = np.sqrt(k * self.ln_ratio / log)
        if self.shape != "gsa":
            half = self.ln_ratio / log / 4
            best = np.where((self.shape == "zgsa") & (k > half), k + half, best) + 2
        d = np.maximum(np.maximum(np.ceil(best), k + 1), beta)
        return np.minimum(d, k + self.rows).astype(np.int64)

    def valid(self, beta: Integers, zeta: Integers, d: Integers) -> Array:
        """Return whether a lattice of this dimension exists and contains a block of size beta."""
        k = self.n - zeta
        return (beta <= d) & (d > k) & (d <= k + self.rows)

    def line(self, beta: Integers, zeta: Integers, d: Integers) -> Line:
        """Compute the line of the Gram-Schmidt norms after reduction."""
        k, ln_tail = self.n - zeta, self.ln_width - self.ln_ratio
        lattice = Lattice(m=d - k, tail=k, ln_q=self.ln_width, ln_tail=ln_tail)
        return cut_line(self.shape, lattice, beta)

    @cached_property
    def _needs(self) -> Array:
        """The least mean logarithm of the last eta norms with which they decode, by eta."""
        eta = np.arange(float(1 << self.widest.bit_length()))
        size = eta + 1
        return (size * np.log(size * math.pi) / 2 - gammaln(size / 2 + 1)) / np.maximum(eta, 1)

    @cached_property
    def _calls(self) -> tuple[Array, Integers]:
        """log2 of the cost of a call in the last eta vectors, and the cheapest eta from each on."""
        size = np.maximum(np.arange(self.widest + 2.0) + 1, 2)
        calls = self.model.cost(size, size)
        least = np.minimum.accumulate(calls[::-1])[::-1]
        eta = np.where(calls <= least, np.arange(len(least)), len(least))
        return calls, np.minimum.accumulate(eta[::-1])[::-1]

    @cached_property
    def least_calls(self) -> Array:
        """log2 of the cheapest call in the last eta or more vectors, by eta."""
        return self._calls[0][np.minimum(self._calls[1], self.widest + 1)]

    def call(self, eta: Integers) -> Array:
        """Return log2 of the cost of a call for a shortest vector in dimension eta + 1."""
        return self._calls[0][eta]

    def last_block(self, beta: Integers, line: Line, more: Integers) -> Integers:
        """Find the cheapest eta that is at least `more` above the least eta that decodes.

        The result is above `widest` if none decodes. The last eta norms, with the norm 1 of the
        embedding, decode if the Gaussian heuristic of this block is at least sqrt(eta + 1), the
        length of the embedded vector. The block must also reach above a flat tail, whose norms
        count as if the line continued there. The least eta is found bit by bit: the condition is
        monotone in eta for ln delta > 0.00054, that is, for block sizes up to 5000.
        """
        last, low, high = line
        slope, head = log_delta(beta), np.array(np.inf)
        if self.shape != "gsa":
            last = np.where(np.isfinite(last), last, 0.0)
            head = np.floor((high - last) / (2 * slope)) + 1
        short = np.zeros_like(beta)  # the largest block known not to decode
        for bit in range(self.widest.bit_length() - 1, -1, -1):
            eta = short + (1 << bit)
            mean = last + slope * (eta - 1)
            if self.shape != "gsa":  # the head is clipped at `high`
                cut = np.maximum(0, eta - head)
                mean -= cut * (last + slope * (2 * eta - cut - 1) - high) / eta
                mean = np.where(last + 2 * slope * (eta - 1) > low + 1e-9, mean, -np.inf)
            short = short + ((self._needs[eta] > mean) << bit)
        return self._calls[1][np.minimum(short + 1 + more, self.widest + 1)]

    def room(self, zeta: Integers, d: Integers) -> Array:
        """Compute log2 of the number of targets of which about one decodes by chance.

        It is the volume of the lattice over that of a ball with the radius of the error.
        """
        ln_ball = d / 2 * np.log(math.pi * d) - gammaln(d / 2 + 1)
        return (d * self.ln_width - (self.n - zeta) * self.ln_ratio - ln_ball) / _LN2

    def babai(self, beta: Integers, line: Line, first: Integers, d: Integers) -> Array:
        """Compute `ln_babai` for the coordinates first .. d - 1 of the lattices."""
        zero = self.parameters.secret.zero
        return ln_babai(line, 2 * log_delta(beta), first.astype(float), d.astype(float), zero)


def guess_sizes(n: int) -> Integers:
    """List numbers of guessed entries for a coarse grid.

    >>> guess_sizes(6).tolist()
    [0, 1, 2, 3, 4, 5]
    """
    return np.unique(np.append(np.linspace(0, n - 1, 28).astype(np.int64), n - spread(1, n, 5)))


def search(
    lattice: Decoding, price: Price, guesses: Guesses | None = None, root: int = 1
) -> Point | None:
    """Find the point of least cost; None if no lattice decodes.

    First beta, zeta and weight are scanned, each at the best dimension. Then two searches alternate
    until neither improves: over all beta, d and eta after a fixed guess, and over all guesses near
    the best one. For small n, all lattices are searched after every guess. Costs below 2^40 are a
    step function, so there all zeta, weights and d are also scanned after LLL. The cost without
    guesses bounds block sizes and, to the power `root`, the number of guesses.

    price: computes the costs of arrays of points.
    """
    n, none = lattice.n, np.zeros(1, np.int64)
    most = min(_MOST_BITS, 4.0 * lattice.parameters.size_bits + 64)
    best: tuple[Point, float] = (2, 0, 0, n + 1, 0), most
    starts: list[Point] = []

    def cost_at_best_d(beta: Integers, zeta: Integers, weight: Integers) -> Array:
        d = lattice.best_dimension(beta, zeta)
        return price(beta, zeta, weight, d, np.zeros_like(beta))["rop"]

    def cost_after_lll(zeta: Integers, weight: Integers, m: Integers) -> Array:
        two, least = np.full_like(zeta, 2), np.zeros_like(zeta)
        return price(two, zeta, weight, n - zeta + m, least)["rop"]

    def improved(point: Point, bits: float) -> bool:
        nonlocal best
        lower = bits < best[1] - _CLOSE
        best = (point, bits) if lower else best
        return lower

    def scanned(*axes: Integers) -> tuple[int, ...]:
        point, bits = scan(cost_at_best_d, *axes, few=8)
        starts.append((*point, int(lattice.best_dimension(*map(np.array, point[:2]))), 0))
        improved(starts[-1], bits)
        return point

    def search_lattices(zeta: int, weight: int) -> bool:
        guess = np.array([zeta]), np.array([weight])
        each = float(guesses.sets(*guess)[0][0]) / root if guesses else 0.0
        return improved(*all_lattices(lattice, price, (zeta, weight, each), best[1], root < 2))

    scanned(lattice.blocks(best[1]), none, none)
    search_lattices(0, 0)
    if guesses and n > 1:
        guesses.limit(root * best[1])
        tried = spread(0, guesses.columns - 1, 7, dense=4)
        beta, zeta, weight = scanned(lattice.blocks(best[1]), guess_sizes(n), tried)
        near = np.linspace(max(2, 0.85 * beta - 4), 1.1 * beta + 4, 24).astype(np.int64)
        out = np.linspace(0.7 * zeta, min(n - 1, 1.3 * zeta + 8), 24).astype(np.int64)
        weights = window(weight, 3, 0, guesses.columns - 1)  # costs have a local minimum at each
        _, zeta, weight = scanned(np.unique(near), np.unique(out), weights)
        if best[1] < _CHEAP:  # fewer samples may be cheaper, and costs are a step function
            few = spread(1, min(lattice.rows, lattice.widest), 24)
            (z, w, m), _ = scan(cost_after_lll, guess_sizes(n), tried, few, few=24)
            starts.append((2, z, w, n - z + m, 0))
        tops = n - 1, guesses.columns - 1
        ends = np.array([(2, 0, 0, 2, 0), (_LARGEST_BLOCK, *tops, lattice.widest, 1 << 10)])
        lower = True
        while lower:
            lower = search_lattices(zeta, weight)
            lower |= improved(*all_guesses(lattice, price, guesses, *best))
            start = np.array([*starts, best[0]])
            steps = np.tile(
                [4, min(4, tops[0]), min(1, tops[1]), max(16, best[0][3] // 64), 8], (len(start), 1)
            )
            lower |= improved(*refine(lambda *axes: price(*axes)["rop"], start, steps, ends))
            starts = []
            _, zeta, weight, *_ = best[0]
        if n <= _TOY:
            pairs = [(z, w) for z in range(n) for w in range(min(z, tops[1]) + 1)]
            space, ln_prob = guesses.sets(*np.array(pairs).T)
            least = log_repetitions(ln_prob, lattice.success) + space / root
            for i in np.argsort(least):
                if least[i] < best[1]:
                    search_lattices(*pairs[i])
    return best[0] if best[1] < most else None


def all_lattices(
    lattice: Decoding, price: Price, guess: tuple[int, int, float], bound: float, last: bool
) -> tuple[Point, float]:
    """Find the least cost over all beta, d and eta after one guess, if it is below a bound.

    guess: zeta, weight, and log2 of the targets of a try. last: whether there is a last block.
    Points are left out if their reduction or their call alone costs more than the bound, also with
    the least number of tries. If there are very many lattices, only every i-th d is tried, and
    likewise for eta; the best point is then refined.
    """
    (zeta, weight, each), calls, reduce = guess, lattice.least_calls, lattice.model.cost
    largest = int(np.searchsorted(calls, bound - each, "right")) - 1 if last else 0
    beta = np.arange(2, min(_LARGEST_BLOCK, lattice.widest) + 1)
    low, top = np.maximum(beta, lattice.n - zeta + 1), lattice.best_dimension(beta, np.array(zeta))
    cheapest = np.minimum(reduce(beta, low), reduce(beta, np.maximum(low, roomy_dimension(beta))))
    beta, low, top = (v[(cheapest <= bound) & (low <= top)] for v in (beta, low, top))

    def least_eta(beta: Integers, d: Integers) -> Integers:
        zero = np.zeros_like(beta)
        return lattice.last_block(beta, lattice.line(beta, zero + zeta, d), zero) if last else zero

    def priced(beta: Integers, d: Integers, more: Integers) -> Priced:
        return price(beta, np.full_like(beta, zeta), np.full_like(beta, weight), d, more)

    able = least_eta(beta, top) <= np.minimum(largest, top - 1)
    beta, low, top = beta[able], low[able], top[able]
    stride = 1 + int((top - low + 1).sum()) // _LATTICES
    run, place = _runs((top - low) // stride + 1)
    beta, d = beta[run], top[run] - stride * place
    least = least_eta(beta, d)
    able = (least <= np.minimum(largest, d - 1)) & (reduce(beta, d) <= bound)
    beta, d, least = beta[able], d[able], least[able]
    most = np.minimum(largest, d - 1) - least
    tries = priced(beta, d, most)["repetitions"]
    if last:
        most = np.minimum(most, np.searchsorted(calls, bound - each - tries, "right") - 1 - least)
    able = (tries + reduce(beta, d) <= bound) & (most >= 0)
    beta, d, most = beta[able], d[able], most[able]
    skip = 1 + int((most + 1).sum()) // _ETAS
    run, place = _runs(most // skip + 1)
    if not len(run):
        return (2, 0, 0, lattice.n + 1, 0), math.inf
    points = np.stack([beta[run], d[run], skip * place], axis=1)
    rop = evaluate(lambda *axes: priced(*axes)["rop"], points)
    bits, (b, dim, more) = float(rop.min()), (int(v) for v in points[rop.argmin()])
    point = (b, zeta, weight, dim, more)
    if max(stride, skip) == 1 or bits == math.inf:
        return point, bits
    steps = np.array([[4, 0, 0, 4 * stride, 4 * skip if last else 0]])
    tops = (_LARGEST_BLOCK, zeta, weight, lattice.widest, 1 << 10)
    ends = np.array([(2, zeta, weight, 2, 0), tops])
    return refine(lambda *axes: price(*axes)["rop"], np.array([point]), steps, ends)


def all_guesses(
    lattice: Decoding, price: Price, guesses: Guesses, point: Point, bits: float
) -> tuple[Point, float]:
    """Find the least cost over zeta and weights near a point, at its beta and a few d and eta."""
    beta, zeta, weight, d, more = point
    n, best = lattice.n, (point, bits)
    near = window(zeta, max(64, n // 16), 0, n - 1, max(1, n // 512))
    z, w = np.meshgrid(near, window(weight, 16, 0, guesses.columns - 1), indexing="ij")
    z, w = z[w <= z], w[w <= z]
    b = np.full_like(z, beta)
    top = lattice.best_dimension(b, z)
    for dim in (top, np.minimum(top, n - z + d - (n - zeta))):
        for last in {0, more}:
            rop = price(b, z, w, dim, np.full_like(z, last))["rop"]
            i = int(rop.argmin())
            if rop[i] < best[1]:
                best = (beta, int(z[i]), int(w[i]), int(dim[i]), last), float(rop[i])
    return best


def _runs(counts: Integers) -> tuple[Integers, Integers]:
    """Enumerate groups of given sizes: return the group of each entry, and its index in the group.

    >>> [v.tolist() for v in _runs(np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]]
    """
    run = np.repeat(np.arange(len(counts)), counts)
    return run, np.arange(len(run)) - (np.cumsum(counts) - counts)[run]


def decoded(
    lattice: Decoding, price: Price, guesses: Guesses | None = None, root: int = 0
) -> Fields:
    """Return the fields of the estimate of an attack at its least cost.

    root: targets are the `root`-th root of the guesses; if it is 2 they are stored, 0 without
    guesses. Raises NoEstimate if no lattice decodes.
    """
    point = search(lattice, price, guesses, max(1, root))
    if point is None:
        reason = "no lattice and block size decode: the errors are too wide, or the samples too few"
        raise NoEstimate(reason)
    beta, zeta, weight, d, _ = point
    costs = {key: float(v[0]) for key, v in price(*(np.array([v]) for v in point)).items()}
    if not math.isfinite(costs["rop"]):
        raise NoEstimate("more guesses than the lattice tells apart")
    eta, m = int(costs["eta"]), d - (lattice.n - zeta)
    notes = [f"at most {weight} of {zeta} guessed coordinates are not 0"] if zeta else []
    if beta < SMALL_BLOCK:
        notes.append("block sizes below 50, of which cost models say little")
    stored = costs["space"] / root if root > 1 else 0.0
    return {
        **{key: costs[key] for key in ("rop", "red", "svp", "repetitions", "space")},
        "mem": max(float(lattice.model.memory(max(beta, eta + 1))), stored),
        "sample_bits": lattice.parameters.label_bits(m),
        "prob": math.exp(costs["ln_prob"]),
        "delta": math.exp(float(log_delta(beta))),
        "beta": beta,
        "eta": eta,
        "zeta": zeta,
        "weight": weight if zeta else None,
        "d": d,
        "m": m,
        "search": "scan of beta, zeta, d, eta; all weights" if zeta else "all beta, d and eta",
        "note": "; ".join(notes),
    }
