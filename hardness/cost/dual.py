"""Dual attacks: short vectors of the dual lattice, which tell samples of LWE from uniform ones.

A vector (x, y) with x^T A = y mod q makes <x, b> = <y, s> + <x, e>, small where x and y are short.
Lattice reduction finds such vectors for m samples and k coordinates of the secret. With y scaled by
sigma_s/sigma_e both parts weigh the same: dimension d = m + k, volume (q sigma_s/sigma_e)^k. From
vectors of length L the cosine of 2 pi <x, b>/q has the mean e^(-D/2), D = (2 pi sigma_e L/q)^2.
[MR09, Albrecht17, EJK20]

The hybrid [MATZOV22] leaves zeta + t = n - k coordinates out of the lattice: zeta of them are
guessed, t are found by a Fourier transform after switching to the modulus p. It needs

    N = e^D e^(t (pi sigma_s/p)^2/3) (sqrt(2 ln(T p^t/(1 - S))) + z)^2/2

vectors to succeed with probability S, whose normal quantile is z, T being the guesses of zeta
coordinates: of half ln(2 T p^t) times the powers. It costs the reduction once and
T (32^2 t p^(t+1) + 4 160 N) operations. That the values of wrong guesses are independent is a
heuristic; [DP23] shows where it fails.

Guesses of zeta coordinates are scored one by one [EJK20], sparse secrets by guesses of at
most w entries that are not 0, |S| in all, and the lattice has the n - zeta others. It needs

    N = 8 e^D (ln |S| - ln ln(1/P))

vectors to be right with probability P, and 2 N |S| operations: a guess comes from one with an
entry less by an addition for each vector, and its cosine is added up.

The hybrid by meeting in the middle [CHHS19] splits zeta coordinates in halves, labels each by the
signs of sums <x, b> and <y, s>, and matches the labels; a sparse secret has few entries that are
not 0 in each half, or others are taken out.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from hardness.cost.combinatorial import log2_binomial
from hardness.cost.problem import Problem
from hardness.cost.record import Estimate, cheapest_form
from hardness.cost.reduction import DEFAULT, Setting, log_delta
from hardness.cost.success import SUCCESS, log_repetitions, log_single, log_told

Array = NDArray[np.float64]

MULTIPLY, ADD = 2 * math.log2(32), math.log2(5 * 32)  # operations of 32-bit numbers [MATZOV22]
TABLE = 2 + ADD  # to enter a vector's value
_MOST_LN = 700.0  # of a float64
_MANY = 2.0**14  # log2 of more vectors than any sieve holds
_LARGEST = 1 << 14  # block size
_SOURCE = {
    "dual": "MR09, Albrecht17, EJK20",
    "dual_hybrid": "MATZOV22, Arikan96",
    "dual_guess": "EJK20, Arikan96",
    "dual_mitm": "CHHS19",
}
_WIDE = "secret and errors are so wide for q that no short vectors tell samples from uniform ones"
_EXACT_BITS, _MODULUS_STEP = 6, 1 / 32  # log2 of p: all up to 64, then in steps
_LEAST = 1e-9  # bits of a guess
_MOST_MODULI, _MOST_T, _MOST_ZETA = 512, 320, 160


@dataclass(frozen=True, kw_only=True)
class Dual:
    """The dual lattices of a problem whose secret is as narrow as its samples allow.

    shift, of its methods: ln by which the secret is wider in the lattice than as a whole.
    """

    problem: Problem
    setting: Setting

    @cached_property
    def ln_scaled(self) -> float:
        """Compute ln(q sigma_s/sigma_e)."""
        secret, error = self.problem.secret, self.problem.error
        assert error is not None
        return self.problem.ln_q + secret.ln_deviation - error.ln_deviation

    @cached_property
    def ln_error(self) -> float:
        """Compute ln(2 pi sigma_e/q)."""
        assert self.problem.error is not None
        return math.log(2 * math.pi) + self.problem.error.ln_deviation - self.problem.ln_q

    @property
    def rows(self) -> float:
        """How many samples there are."""
        return math.inf if self.problem.rows is None else self.problem.rows

    def shortest(self, beta: ArrayLike, k: ArrayLike, shift: ArrayLike = 0.0) -> Array:
        """Find the d in which vectors are shortest: k/d ln(q sigma_s/sigma_e) = d ln delta."""
        beta, k = np.asarray(beta, float), np.asarray(k, float)
        scaled = np.maximum(0.0, np.add(self.ln_scaled, shift))
        best = np.rint(np.sqrt(k * scaled / log_delta(beta)))
        return np.minimum(np.maximum(best, k + 1), k + self.rows)

    def dimension(self, beta: ArrayLike, k: ArrayLike, shift: ArrayLike = 0.0) -> Array:
        """Find that d, or the least that holds a block, even where samples do not suffice."""
        return np.maximum(self.shortest(beta, k, shift), beta)

    def bits(self, beta: ArrayLike, d: ArrayLike, k: ArrayLike, shift: ArrayLike = 0.0) -> Array:
        """Compute D/ln 2, log2 of the vectors that the noise asks for; infinity without samples."""
        beta, d, k = np.asarray(beta, float), np.asarray(d, float), np.asarray(k, float)
        ratio = self.setting.model.vectors(beta, d, 1.0).ln_ratio
        scaled = np.add(self.ln_scaled, shift)
        ln_length = ratio + (d - 1) * log_delta(beta) + k / d * scaled
        needed = np.exp(np.minimum(2 * (ln_length + self.ln_error), _MOST_LN)) / math.log(2)
        return np.where(d - k <= self.rows, needed, np.inf)

    def fewest(self, beta: ArrayLike, k: ArrayLike, shift: ArrayLike = 0.0) -> Array:
        """Bound D/ln 2 from below, for all block sizes up to beta and lattices of k and more.

        More coordinates and smaller blocks make longer vectors, but for the rounding of the
        sieve's dimension: one more or less changes ln L by less than ln delta.
        """
        d = self.shortest(beta, k, shift)
        return self.bits(beta, d, k, shift) * (1 - 2 * log_delta(beta))

    def one(self, beta: ArrayLike, d: ArrayLike) -> tuple[Array, Array]:
        """Bound log2 of the cost of one vector, and of each of very many, in dimensions from d on.

        Costs rise with d, but where d = 3/2 beta lets enumeration be prepared in larger blocks.
        """
        model, beta, d = self.setting.model, np.asarray(beta, float), np.asarray(d, float)
        first = model.vectors(beta, d, 0.0).cost
        prepared = np.where(d <= 1.5 * beta, model.cost(beta, 2 * beta) - 2, np.inf)
        return np.minimum(first, prepared), model.vectors(beta, d, _MANY).cost - _MANY

    def blocks(self, rop: Callable[[Array, Array], Array]) -> tuple[Array, float]:
        """List block sizes from 2 to where one call alone costs more than the least, and that.

        rop: of a block size and a dimension, all n coordinates being in the lattice.
        """
        model, beta = self.setting.model, np.arange(2.0, 65)
        while True:
            found = rop(beta, self.dimension(beta, self.problem.n))
            last = beta[-1:]
            call = np.minimum(model.call(last, last), model.call(last, 2 * last))
            if np.isinf(found[-1]) or call[0] > found.min() or last[0] >= _LARGEST:
                return beta, float(found.min())
            beta = np.arange(2.0, 2 * last[0] + 1)


@dataclass(frozen=True, kw_only=True)
class Ways:
    """Ways to take a part of the secret out of the lattice, one an entry of every array.

    zeta: how many coordinates are guessed. tries: log2 of how often all is repeated, with others.
    shift: as of Dual.
    """

    zeta: Array
    tries: Array
    shift: Array

    @property
    def outside(self) -> Array:
        """How many coordinates are not in the lattice."""
        return self.zeta

    def take(self, which: NDArray) -> Self:
        """Select some, by number or by a mask."""
        arrays = {n: v[which] for n, v in vars(self).items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)

    def count(self, bits: Array) -> Array:
        """Compute log2 of the vectors that are needed, of D/ln 2."""
        raise NotImplementedError

    def guess(self, bits: Array) -> Array:
        """Compute log2 of the operations of one try beside the reduction."""
        raise NotImplementedError

    def floor(self, first: Array, each: Array, bits: Array) -> Array:
        """Bound log2 of the cost from below by those of one vector, of each, and D/ln 2."""
        red = np.maximum(first, each + self.count(bits))
        return np.maximum(red, self.guess(bits)) + self.tries

    def stored(self, bits: Array) -> Array:
        """Compute log2 of what is stored beside the vectors."""
        return np.full(np.shape(bits), -np.inf)

    def bits(self, lattice: Dual, beta: ArrayLike, d: ArrayLike) -> Array:
        """Compute D/ln 2 of the lattices of what is not taken out."""
        return lattice.bits(beta, d, lattice.problem.n - self.outside, self.shift)

    def rop(self, lattice: Dual, beta: ArrayLike, d: ArrayLike) -> Array:
        """Compute log2 of the cost."""
        bits = self.bits(lattice, beta, d)
        red = lattice.setting.model.vectors(beta, d, self.count(bits)).cost
        return np.logaddexp2(red, self.guess(bits)) + self.tries


def search(lattice: Dual, ways: Ways, beta: Array, least: float) -> tuple[int, int]:
    """Find the block size and the way of the least cost, m being that of the shortest vectors.

    least: a cost that is reached. Costs at every eighth block size are bounds between them: log2 of
    the cost of one vector and of each is concave in beta, but for the rounding of the sieve's
    dimension, less than half a bit, and for dips where a model's fits change places, which are
    those of any lattice, or where one block is all of it; and vectors get shorter. What the bounds
    leave is evaluated.
    """
    n = lattice.problem.n
    found = (int(beta[0]), 0)

    def evaluate(b: float, some: NDArray) -> None:
        nonlocal least, found
        part = ways.take(some)
        rop = part.rop(lattice, b, lattice.dimension(b, n - part.outside, part.shift))
        best = int(np.argmin(rop))
        if rop[best] <= least:
            least, found = float(rop[best]), (int(b), int(some[best]))

    unlike, where = np.unique(ways.outside + 1j * ways.shift, return_inverse=True)
    k, shift = n - unlike.real, unlike.imag
    edges = np.unique(np.append(beta[::8], beta[-1]))[:, None]
    sizes = lattice.dimension(edges, k, shift)
    first, each = lattice.one(edges, sizes)
    bits = lattice.fewest(edges, k, shift)
    ends = np.minimum(np.arange(len(edges)) + 1, len(edges) - 1)
    whole = lattice.one(edges, edges), (sizes > edges) & (sizes <= edges)[ends]
    fits = lattice.one(beta, lattice.dimension(beta, k[0], shift[0]))
    at = np.searchsorted(beta, edges[:, 0])

    def between(price: Array, fit: Array, one: Array) -> Array:
        dip = np.minimum(fit[at], fit[at[ends]]) - np.minimum.reduceat(fit, at)
        least = np.minimum(price, price[ends])
        least = np.where(whole[1], np.minimum(least, one), least)
        return least - 0.5 - np.maximum(dip, 0.0)[:, None]

    ends_of = zip((first, each), fits, whole[0], strict=True)
    bounds = *(between(*price) for price in ends_of), bits[ends]

    def left(some: NDArray) -> tuple[NDArray, NDArray]:
        """Leave out ways, and block sizes, that cost more than the least."""
        cheap = np.flatnonzero(bounds[0].min(axis=1) <= least)
        floor = ways.take(some).floor(*(a[cheap].min(axis=0)[where[some]] for a in bounds))
        return some[floor <= least], cheap

    some, cheap = left(np.arange(len(where)))
    few = some[:: 1 + len(some) // 1000]
    sample = ways.take(few)
    for i in cheap[::2]:  # a cost to beat
        floor = sample.floor(*(a[i, where[few]] for a in (first, each, bits)))
        if floor.min() <= least:
            evaluate(edges[i, 0], few[[np.argmin(floor)]])
    some, cheap = left(some)
    kept, index = ways.take(some), where[some]

    def floor_of(i: int) -> Array:
        return kept.floor(*(a[i, index] for a in bounds))

    for floor, i in sorted((floor_of(i).min(), i) for i in cheap):
        if floor > least:
            break
        near = some[floor_of(i) <= least]
        part = ways.take(near)
        inside, place = np.unique(where[near], return_inverse=True)
        last = beta[-1] + 1 if ends[i] == i else edges[ends[i], 0]
        inner = beta[(beta >= edges[i]) & (beta < last)][:, None]
        d = lattice.dimension(inner, k[inside], shift[inside])
        prices = [*lattice.one(inner, d), lattice.bits(inner, d, k[inside], shift[inside])]
        for b, *price in zip(inner[:, 0], *prices, strict=True):
            below = part.floor(*(a[place] for a in price)) <= least
            if below.any():
                evaluate(b, near[below])
    return found


def _least(
    problem: Problem,
    setting: Setting,
    ways: Callable[[Problem, float], Ways],
    at: Callable[[Ways, int, int], Estimate],
    name: str,
) -> Estimate:
    """Find the way of least cost, in the end over all m up to that of the shortest vectors.

    ways: lists those whose guesses cost 2^rop at most, the first with all of the secret in the
    lattice. at: estimates one with a block size and m.
    """
    if reason := _reason(problem):
        return _none(name, reason)
    lattice = Dual(problem=problem, setting=setting)
    none = ways(lattice.problem, 0.0).take(np.array([0]))
    beta, rop = lattice.blocks(partial(none.rop, lattice))
    if not rop < setting.model.cost(_LARGEST, _LARGEST):
        return _none(name, _WIDE)
    some = ways(lattice.problem, rop)
    block, way = search(lattice, some, beta, rop)
    best = some.take(np.array([way]))
    k = lattice.problem.n - float(best.outside[0])
    top = float(lattice.dimension(block, k, best.shift)[0])
    d = np.arange(max(k + 1, block), top + 1)
    found = at(best, block, int(d[np.argmin(best.rop(lattice, block, d))] - k))
    whole = _told_apart(problem, replace(setting, success=SUCCESS))  # its best m may be another
    return min(found, at(none, whole.beta or 2, whole.m or 1), key=lambda e: e.rank)


def _at(
    name: str, problem: Problem, setting: Setting, ways: Ways, beta: int, m: int, **more: Any
) -> Estimate:
    """Estimate an attack for one way, a block size and a number of samples."""
    lattice = Dual(problem=problem, setting=setting)
    d = lattice.problem.n - int(ways.outside[0]) + m
    if beta > d:
        return _none(name, f"blocks of {beta} given: the lattice has dimension {d}")
    if m > lattice.rows:
        return _none(name, f"m={m} given: there are {lattice.rows} samples")
    bits, tries = ways.bits(lattice, beta, d), float(ways.tries[0])
    count, guess, stored = (float(f(bits)[0]) for f in (ways.count, ways.guess, ways.stored))
    vectors = setting.model.vectors(beta, d, count)
    said = {"zeta": int(ways.zeta[0]), "standing": "contested", **more}
    return Estimate(
        name=name,
        kind="heuristic model",
        source=_SOURCE[name],
        rop=float(ways.rop(lattice, beta, np.array([float(d)]))[0]),
        red=float(vectors.cost) + tries,
        guess=guess + tries,
        mem=float(np.logaddexp2(vectors.number + np.log2(vectors.sieve), stored)),
        sample_bits=problem.label_bits(m),
        prob=setting.success,
        delta=math.exp(float(log_delta(beta))),
        beta=beta,
        sieve=int(vectors.sieve),
        d=d,
        m=m,
        model=setting.model.name,
        shape="gsa",
        **{"note": f"2^{max(0.0, count):.1f} short vectors", **said},
    )


# ---- the distinguisher


@dataclass(frozen=True, kw_only=True)
class Told(Ways):
    """The one way to leave all of the secret in the lattice, and tell samples from others."""

    success: float

    def count(self, bits: Array) -> Array:
        """Compute log2 of the vectors that are needed, of D/ln 2."""
        return bits + log_told(self.success)

    def guess(self, bits: Array) -> Array:
        """Compute log2 of the operations to add their values up."""
        return self.count(bits) + TABLE


def _told(success: float) -> Told:
    return Told(zeta=np.zeros(1), tries=np.zeros(1), shift=np.zeros(1), success=success)


@cheapest_form
def dual(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the distinguisher by short vectors of the dual lattice. [MR09, Albrecht17, EJK20]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
    >>> found = dual(kyber, DEFAULT)
    >>> found.beta, found.d, round(found.rop, 1)
    (423, 1014, 149.6)
    """
    return _told_apart(problem, setting)


def _told_apart(problem: Problem, setting: Setting) -> Estimate:
    reason = _reason(problem)
    if reason:
        return _none("dual", reason)
    lattice = Dual(problem=problem, setting=setting)
    n = lattice.problem.n
    way = _told(setting.success)
    beta, least = lattice.blocks(partial(way.rop, lattice))
    if not least < setting.model.cost(_LARGEST, _LARGEST):
        return _none("dual", _WIDE)
    # Fewer samples than the shortest vectors have make a smaller lattice.
    most = lattice.dimension(beta, n)
    few = np.maximum(n + 1, beta)
    first, each = lattice.one(beta, few)
    enough = way.count(lattice.bits(beta, most, n))
    kept = np.flatnonzero(np.maximum(first, each + enough - 0.5) <= least)
    blocks = np.concatenate([np.full(int(most[i] - few[i]) + 1, beta[i]) for i in kept])
    sizes = np.concatenate([np.arange(few[i], most[i] + 1) for i in kept])
    best = int(np.argmin(way.rop(lattice, blocks, sizes)))
    return dual_at(problem, setting, beta=int(blocks[best]), m=int(sizes[best]) - n)


def dual_at(problem: Problem, setting: Setting, *, beta: int, m: int) -> Estimate:
    """Estimate the distinguisher for a block size and a number of samples."""
    search = "exhaustive in beta and m, up to the m of the shortest vectors"
    more = {"zeta": None, "standing": "published", "search": search}
    found = _at("dual", problem, setting, _told(setting.success), beta, m, **more)
    return replace(found, note=found.note and f"tells samples from uniform ones by {found.note}")


# ---- the hybrid with a Fourier transform


@dataclass(frozen=True, kw_only=True)
class Splits(Ways):
    """Ways to split the secret, one an entry: zeta guessed, t transformed modulo p.

    noise: log2 of the factor to N that they bring. transform, table: log2 of the operations of the
    transforms, and of those of the tables for each vector.
    """

    t: Array
    p: Array
    noise: Array
    transform: Array
    table: Array

    @property
    def outside(self) -> Array:
        """How many coordinates are not in the lattice."""
        return self.zeta + self.t

    def count(self, bits: Array) -> Array:
        """Compute log2 of the vectors that are needed, of D/ln 2."""
        return np.maximum(bits + self.noise, 0.0)

    def guess(self, bits: Array) -> Array:
        """Compute log2 of the operations of all transforms and tables."""
        return np.logaddexp2(self.transform, self.table + self.count(bits))

    def stored(self, bits: Array) -> Array:
        """Compute log2 of the entries of a table."""
        return self.t * np.log2(self.p)


def split(
    problem: Problem,
    zeta: ArrayLike = 0,
    t: ArrayLike = 0,
    p: ArrayLike = 1,
    success: float = SUCCESS,
) -> Splits:
    """Compute what ways to split the secret cost; t = 0 takes no transform."""
    zeta, t, p = (a.astype(float) for a in np.broadcast_arrays(zeta, t, p))
    guesses = zeta * problem.secret.guesses
    ln_turn = math.log(math.pi) + problem.secret.ln_deviation - np.log(p)
    spread = t * np.exp(np.minimum(2 * ln_turn, _MOST_LN)) / 3
    noise = spread / math.log(2) + log_single(guesses + t * np.log2(p), success)
    with np.errstate(divide="ignore"):
        transform = guesses + MULTIPLY + np.log2(t) + (t + 1) * np.log2(p)
    none, table = np.zeros(zeta.shape), guesses + TABLE
    ways = {"zeta": zeta, "tries": none, "shift": none, "t": t, "p": p}
    return Splits(**ways, noise=noise, transform=transform, table=table)


@cheapest_form
def dual_hybrid(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the dual attack that guesses and transforms a part of the secret. [MATZOV22]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
    >>> found = dual_hybrid(kyber, DEFAULT)
    >>> found.beta, found.zeta, found.t, found.p, round(found.rop, 1)
    (384, 15, 34, 5, 138.7)
    """
    ways = partial(_splits, success=setting.success)
    return _least(problem, setting, ways, partial(_hybrid, problem, setting), "dual_hybrid")


def _splits(problem: Problem, rop: float, success: float) -> Splits:
    """List the ways to split the secret whose transform alone costs at most rop.

    A p beyond that from which on the noise rises again is of no use.
    """
    guesses = problem.secret.guesses
    ln_wrong = rop * math.log(2) - math.log1p(-success)
    enough = ln_wrong + ndtri(success) * math.sqrt(ln_wrong / 2)
    ln_noisy = math.log(math.pi) + problem.secret.ln_deviation + math.log(2 / 3 * enough) / 2
    noisy = float(np.logaddexp(ln_noisy, math.log(2))) / math.log(2)
    most = max(1.0, min(noisy, (rop - MULTIPLY) / 2, problem.log2_q, 1000.0))
    step = max(_MODULUS_STEP, (most - _EXACT_BITS) / _MOST_MODULI)
    large = np.rint(2 ** np.arange(_EXACT_BITS, most, step))
    p = np.unique(np.append(np.arange(2.0, 1 + 2.0 ** min(most, _EXACT_BITS)), large))
    t = _steps(min(problem.n - 1, rop - MULTIPLY), _MOST_T)[1:]
    transform = MULTIPLY + np.log2(t)[:, None] + (t + 1)[:, None] * np.log2(p)
    row, column = np.nonzero(transform <= rop)
    t, p = np.append(0.0, t[row]), np.append(1.0, p[column])
    transform = np.append(0.0, transform[row, column])
    zeta = _steps(min(problem.n - 1, (rop - TABLE) / max(guesses, _LEAST)), _MOST_ZETA)
    row, column = np.nonzero((guesses * zeta)[:, None] + transform <= rop)
    kept = zeta[row] + t[column] < problem.n
    return split(problem, zeta[row[kept]], t[column[kept]], p[column[kept]], success)


def _steps(most: float, count: int) -> Array:
    """List 0 to most, at most, in equal steps where that would be more than count numbers."""
    most = max(0, int(most))
    return np.arange(0.0, most + 1, -(-most // count) or 1)


def hybrid_at(
    problem: Problem, setting: Setting, *, beta: int, zeta: int, t: int, p: int, m: int
) -> Estimate:
    """Estimate the hybrid for a block size, a split of the secret and a number of samples."""
    ways = split(problem, [zeta], [t], [p], setting.success)
    return _hybrid(problem, setting, ways, beta, m)


def _hybrid(problem: Problem, setting: Setting, ways: Any, beta: int, m: int) -> Estimate:
    t = int(ways.t[0])
    more = {
        "space": float(ways.zeta[0] * problem.secret.guesses),
        "p": int(ways.p[0]) if t else None,
        "t": t,
        "search": f"exhaustive in beta, zeta, t and p, in steps beyond {_MOST_ZETA}, {_MOST_T} and "
        f"{1 << _EXACT_BITS}; m: of the shortest vectors, in the end exhaustive",
    }
    return _at("dual_hybrid", problem, setting, ways, beta, m, **more)


# ---- the hybrid that scores guesses


@dataclass(frozen=True, kw_only=True)
class Scored(Ways):
    """Ways to guess, one an entry: zeta coordinates, `fewest` to `most` of them not 0.

    space: log2 of the guesses, all with at most so many. part: the probability that scores tell.
    """

    fewest: Array
    most: Array
    space: Array
    part: float

    def count(self, bits: Array) -> Array:
        """Compute log2 of the vectors that are needed, of D/ln 2."""
        ln_guesses = self.space * math.log(2) - math.log(-math.log(self.part))
        return bits + 3 + np.log2(ln_guesses)

    def guess(self, bits: Array) -> Array:
        """Compute log2 of the operations of all scores."""
        return 1 + self.space + self.count(bits)


def scored(problem: Problem, zeta: Array, rop: float, success: float = SUCCESS) -> Scored:
    """List the ways for numbers of coordinates whose guesses are at most 2^rop.

    Of independent entries the likeliest are guessed first, until they are right. [Arikan96] Of a
    sparse secret the coordinates are drawn until `fewest` to `most` of them are not 0: the lattice
    has the rest, whose weight is that of the secret less `fewest` at most.
    """
    law, n, h = problem.secret, problem.n, problem.secret.weight
    if h is None:
        zeta = zeta[zeta * law.guesses <= rop]
        none, space = np.zeros(zeta.shape), zeta * law.guesses
        kept = {"zeta": zeta, "tries": none, "shift": none, "fewest": none, "most": zeta}
        return Scored(**kept, space=space, part=success)
    part, found = math.sqrt(success), []
    each, square = law.mean * n / h, law.rms**2 * n / h  # of an entry that is not 0
    signs = law.log2_signs(int(min(h, zeta.max(initial=0), rop)))  # of w are 2^w sets and more
    for one in zeta:
        w = np.arange(min(len(signs), int(one) + 1) + 0.0)
        places = log2_binomial(one, w)
        space = np.logaddexp2.accumulate(places + signs[: len(w)])
        share = np.exp2(places + log2_binomial(n - one, h - w) - log2_binomial(n, h))
        v, w = np.triu_indices(len(w))
        inside = np.cumsum(share)[w] - np.append(0.0, np.cumsum(share))[v]
        rest = np.minimum(1.0, (h - v) / (n - one))
        if each:  # beyond it a larger share varies less
            rest = np.minimum(rest, square / (2 * each**2))
        kept = (space[w] <= rop) & (inside > 0) & (v < h)
        with np.errstate(divide="ignore"):
            shift = np.log(square * rest - (each * rest) ** 2) / 2 - law.ln_deviation
            tries = log_repetitions(np.log(np.minimum(inside, 1.0)), part)
        found.append([np.full(kept.sum(), one), *(a[kept] for a in (tries, shift, v, w, space[w]))])
    names = ("zeta", "tries", "shift", "fewest", "most", "space")
    columns = zip(names, map(np.concatenate, zip(*found, strict=True)), strict=True)
    return Scored(**dict(columns), part=part)


@cheapest_form
def dual_guess(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the dual attack that scores guesses of a part of the secret. [EJK20]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> found = dual_guess(read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64"), DEFAULT)
    >>> found.beta, found.zeta, round(found.rop, 1)
    (213, 364, 108.9)
    """

    def ways(given: Problem, rop: float) -> Scored:
        return scored(given, _steps(given.n - 1, _MOST_ZETA), rop, setting.success)

    return _least(problem, setting, ways, partial(_scored, problem, setting), "dual_guess")


def guess_at(
    problem: Problem, setting: Setting, *, beta: int, zeta: int, fewest: int, most: int, m: int
) -> Estimate:
    """Estimate it for a block size, coordinates, how many are not 0, and samples."""
    ways = scored(problem, np.array([float(zeta)]), math.inf, setting.success)
    chosen = (ways.fewest == fewest) & (ways.most == most)
    return _scored(problem, setting, ways.take(chosen) if len(chosen) > 1 else ways, beta, m)


def _scored(problem: Problem, setting: Setting, ways: Any, beta: int, m: int) -> Estimate:
    zeta, low, high = (int(v[0]) for v in (ways.zeta, ways.fewest, ways.most))
    found = _at(
        "dual_guess",
        problem,
        setting,
        ways,
        beta,
        m,
        repetitions=float(ways.tries[0]),
        space=float(ways.space[0]),
        search=f"exhaustive in beta, weights and zeta, in steps beyond {_MOST_ZETA}; m: of the "
        "shortest vectors, in the end exhaustive",
    )
    said = f"{found.note}; {low} to {high} of {zeta} guessed coordinates are not 0"
    sparse = found.applies and problem.secret.weight is not None
    return replace(found, note=said, weight=high) if sparse else found


# ---- the hybrid by meeting in the middle

_ODD = np.arange(1, 12, 2)


def label_price(bits: ArrayLike) -> Array:
    """Compute -log2 of the probability that a sum mod q keeps its sign under the errors.

    bits: D/ln 2, with D = (2 pi sigma'/q)^2 of errors of deviation sigma'. By the Fourier series of
    the sign it is 1/2 + 4/pi^2 sum over odd j of e^(-D j^2/2)/j^2; of small errors 2 E|e|/q change
    the sign.

    >>> [round(float(price), 4) for price in label_price([0.001, 1.0, 100.0])]
    [0.0097, 0.3427, 1.0]
    """
    bits = np.asarray(bits, float)
    ratio = np.minimum(np.sqrt(bits * math.log(2)) / (2 * math.pi), 0.1)
    series = (np.exp2(-bits[..., None] * _ODD**2 / 2) / _ODD**2).sum(axis=-1)
    kept = np.where(ratio < 0.1, 1 - ratio * math.sqrt(8 / math.pi), 0.5 + 4 / math.pi**2 * series)
    return -np.log2(kept)


@dataclass(frozen=True, kw_only=True)
class Halves(Ways):
    """Ways to meet in the middle, one an entry: zeta coordinates, `most` not 0 in either half.

    left, right: log2 of the halves. part: the probability of success of each of three: sets,
    labels, scores.
    """

    most: Array
    left: Array
    right: Array
    part: float

    def single(self) -> Array:
        """Compute log2 of the factor by which vectors single the right one out of all pairs."""
        return log_single(self.left + self.right, self.part)

    def count(self, bits: Array) -> Array:
        """Compute log2 of the vectors that are needed, of D/ln 2: each set of sums has its own.

        Sets that share few vectors keep all their signs together, or not at all.
        """
        return np.maximum(bits + self.single(), np.log2(self.label(bits) + 1) + self.kept(bits))

    def kept(self, bits: Array) -> Array:
        """Compute log2 of the sets of sums, until the right pair keeps all signs of one."""
        return log_repetitions(-self.label(bits) * label_price(bits) * math.log(2), self.part)

    def guess(self, bits: Array) -> Array:
        """Compute log2 of the operations of sums for labels, and of tests of matches.

        Labels are the signs of so many sums that all matches cost about what they do: every match
        is tested with all vectors. Sums are exchanged until the right pair keeps all its signs.
        """
        count, label = bits + self.single(), self.label(bits)
        sums = np.logaddexp2(self.left, self.right) + np.log2(label + 1)
        matches = self.right + np.minimum(count, np.log2(self.left + 1))
        return ADD + self.kept(bits) + np.logaddexp2(sums, matches)

    def label(self, bits: Array) -> Array:
        """Compute how many sums label a half."""
        return self.left + np.maximum(bits + self.single() - np.log2(self.left + 1), 0.0)

    def stored(self, bits: Array) -> Array:
        """Compute log2 of the labels of a half."""
        return self.left + np.log2(self.label(bits) + 1)


def halves(problem: Problem, zeta: Array, rop: float, success: float = SUCCESS) -> Halves:
    """List the ways for numbers of coordinates, of at most 2^rop entries a half.

    Sparse secrets have one for each weight.
    """
    part = success ** (1 / 3)
    first, second = zeta // 2, zeta - zeta // 2
    law, n = problem.secret, problem.n
    if law.weight is None or law is problem.error:  # the weight is among samples then
        bits, none = math.log2(law.alphabet + 1), np.zeros(zeta.shape)
        kept = {"zeta": zeta, "tries": none, "shift": none, "most": second}
        found = Halves(**kept, left=first * bits, right=second * bits, part=part)
        return found.take(found.right <= rop)
    h, most = law.weight, np.arange(min(law.weight, int(second.max())) + 1.0)
    few = 1.0 if law.counts else math.log2(law.alphabet + 1)
    most = most[most * few <= rop]  # a half has as many coordinates
    signs = law.log2_signs(int(most[-1]))
    places = [log2_binomial(half[:, None], most) for half in (first, second)]
    left, right = (np.logaddexp2.accumulate(place + signs[: len(most)], axis=1) for place in places)
    rest = h - most[:, None] - most  # weight outside the halves
    outside = log2_binomial(n - zeta[:, None, None], rest) - log2_binomial(n, h)
    joint = np.exp2(places[0][:, :, None] + places[1][:, None, :] + outside)
    share = np.diagonal(joint.cumsum(axis=1).cumsum(axis=2), axis1=1, axis2=2)
    some = (most <= second[:, None]) & (right <= rop) & (share > 0)
    return Halves(
        zeta=np.broadcast_to(zeta[:, None], some.shape)[some],
        most=np.broadcast_to(most, some.shape)[some],
        left=left[some],
        right=right[some],
        tries=log_repetitions(np.log(np.minimum(share[some], 1.0)), part),
        shift=np.zeros(int(some.sum())),
        part=part,
    )


@cheapest_form
def dual_mitm(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the dual attack that finds a part of the secret by meeting in the middle. [CHHS19]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> found = dual_mitm(read("lwe:n=1024,q=2^25,sigma=3.19,secret=ternary,h=64"), DEFAULT)
    >>> found.beta, found.zeta, round(found.rop, 1)
    (209, 483, 108.7)
    """

    def ways(given: Problem, rop: float) -> Halves:
        return halves(given, _steps(given.n - 1, _MOST_ZETA), rop, setting.success)

    return _least(problem, setting, ways, partial(_mitm, problem, setting), "dual_mitm")


def _mitm(problem: Problem, setting: Setting, ways: Any, beta: int, m: int) -> Estimate:
    more = {
        "repetitions": float(ways.tries[0]),
        "space": float((ways.left + ways.right)[0]),
        "search": f"exhaustive in beta, weights and zeta, in steps beyond {_MOST_ZETA}; m: of the "
        "shortest vectors, in the end exhaustive",
        "note": f"at most {int(ways.most[0])} of each half of the {int(ways.zeta[0])} coordinates "
        "are not 0",
    }
    return _at("dual_mitm", problem, setting, ways, beta, m, **more)


def _none(name: str, reason: str) -> Estimate:
    return Estimate(name=name, kind="heuristic model", source=_SOURCE[name], reason=reason)


def _reason(problem: Problem) -> str:
    if problem.no_lattice:
        return problem.no_lattice
    if not Dual(problem=problem, setting=DEFAULT).ln_scaled > 0:
        return _WIDE
    return problem.no_rows
