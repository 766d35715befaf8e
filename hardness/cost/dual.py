"""Dual attacks: short vectors of the dual lattice, which tell samples of LWE from uniform ones.

A vector (x, y) with x^T A = y mod q makes <x, b> = <y, s> + <x, e>, small where x and y are short.
Lattice reduction finds such vectors for m samples and k coordinates of the secret. With y scaled by
sigma_s/sigma_e both parts weigh the same: dimension d = m + k, volume (q sigma_s/sigma_e)^k. From
vectors of length L the cosine of 2 pi <x, b>/q has the mean e^(-D/2), D = (2 pi sigma_e L/q)^2.
[MR09, Albrecht17, EJK20]

The hybrid [MATZOV22] leaves zeta + t = n - k coordinates out of the lattice: zeta of them are
guessed, t are found by a Fourier transform after switching to the modulus p. It needs

    N = e^D e^(t (pi sigma_s/p)^2/3) ln(2 T p^t)

vectors to succeed half of the time, T being the guesses of zeta coordinates, and costs the
reduction once and T (32^2 t p^(t+1) + 4 160 N) operations. That the values of wrong guesses are
independent is a heuristic; [DP23] shows where it fails.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from hardness.cost.problem import Law, Problem
from hardness.cost.record import Estimate
from hardness.cost.reduction import DEFAULT, Setting, log_delta

Array = NDArray[np.float64]

MULTIPLY, ADD = 2 * math.log2(32), math.log2(5 * 32)  # operations of 32-bit numbers [MATZOV22]
SUCCESS = 0.99  # of the distinguisher
_SUCCESS_FACTOR = math.log2(2 * ndtri(SUCCESS) ** 2)
_MANY = 2.0**14  # log2 of more vectors than any sieve holds
_LARGEST = 1 << 14  # block size
_WIDE = "secret and errors are so wide for q that no short vectors tell samples from uniform ones"
_CONTESTED = "wrong guesses are taken as independent, which [DP23] contests"
_EXACT_BITS, _MODULUS_STEP = 6, 1 / 32  # log2 of p: all up to 64, then in steps
_MOST_MODULI, _MOST_T, _MOST_ZETA = 512, 320, 160


@dataclass(frozen=True, kw_only=True)
class Dual:
    """The dual lattices of a problem whose secret is as narrow as its samples allow."""

    problem: Problem
    setting: Setting

    @cached_property
    def ln_scaled(self) -> float:
        """Compute ln(q sigma_s/sigma_e)."""
        secret, error = self.problem.secret, self.problem.error
        assert error is not None
        return self.problem.ln_q + math.log(secret.deviation) - math.log(error.deviation)

    @cached_property
    def ln_error(self) -> float:
        """Compute ln(2 pi sigma_e/q)."""
        assert self.problem.error is not None
        return math.log(2 * math.pi * self.problem.error.deviation) - self.problem.ln_q

    @property
    def rows(self) -> float:
        """How many samples there are."""
        return math.inf if self.problem.rows is None else self.problem.rows

    def shortest(self, beta: ArrayLike, k: ArrayLike) -> Array:
        """Find the d in which vectors are shortest: k/d ln(q sigma_s/sigma_e) = d ln delta."""
        beta, k = np.asarray(beta, float), np.asarray(k, float)
        best = np.rint(np.sqrt(k * max(0.0, self.ln_scaled) / log_delta(beta)))
        return np.minimum(np.maximum(best, k + 1), k + self.rows)

    def dimension(self, beta: ArrayLike, k: ArrayLike) -> Array:
        """Find that d, or the least that holds a block, even where samples do not suffice."""
        return np.maximum(self.shortest(beta, k), beta)

    def bits(self, beta: ArrayLike, d: ArrayLike, k: ArrayLike) -> Array:
        """Compute D/ln 2, log2 of the vectors that the noise asks for; infinity without samples."""
        beta, d, k = np.asarray(beta, float), np.asarray(d, float), np.asarray(k, float)
        ratio = self.setting.model.vectors(beta, d, 1.0).ln_ratio
        ln_length = ratio + (d - 1) * log_delta(beta) + k / d * self.ln_scaled
        found = np.exp(np.minimum(2 * (ln_length + self.ln_error), 700.0)) / math.log(2)
        return np.where(d - k <= self.rows, found, np.inf)

    def fewest(self, beta: ArrayLike, k: ArrayLike) -> Array:
        """Bound D/ln 2 from below, for all block sizes up to beta and lattices of k and more.

        More coordinates and smaller blocks make longer vectors, but for the rounding of the
        sieve's dimension: one more or less changes ln L by less than ln delta.
        """
        return self.bits(beta, self.shortest(beta, k), k) * (1 - 2 * log_delta(beta))

    def one(self, beta: ArrayLike, d: ArrayLike) -> tuple[Array, Array]:
        """Bound log2 of the cost of one vector, and of each of very many, in dimensions from d on.

        Costs rise with d, but where d = 3/2 beta lets enumeration be prepared in larger blocks.
        """
        model, beta, d = self.setting.model, np.asarray(beta, float), np.asarray(d, float)
        first = model.vectors(beta, d, 0.0).cost
        prepared = np.where(d <= 1.5 * beta, model.cost(beta, 2 * beta) - 2, np.inf)
        return np.minimum(first, prepared), model.vectors(beta, d, _MANY).cost - _MANY

    def blocks(self, rop: Callable[[Array, Array], Array]) -> tuple[Array, Array]:
        """Compute the cost in block sizes from 2 to where one call alone costs more than the least.

        rop: of a block size and a dimension, all n coordinates being in the lattice.
        """
        model, beta = self.setting.model, np.arange(2.0, 65)
        while True:
            found = rop(beta, self.dimension(beta, self.problem.n))
            least = found.min()
            call = np.minimum(
                model.call(beta[-1:], beta[-1:]), model.call(beta[-1:], 2 * beta[-1:])
            )
            if np.isinf(found[-1]) or call[0] > least or beta[-1] >= _LARGEST:
                return beta, found
            beta = np.arange(2.0, 2 * beta[-1] + 1)

    def open(self, beta: Array, k: float, noise: float, rop: float) -> Array:
        """Leave out block sizes in which no lattice of k coordinates or more costs at most rop.

        More coordinates make a larger lattice; the rounding of the sieve's dimension changes a
        price by less than half a bit.
        """
        first, each = self.one(beta, self.shortest(beta, k))
        return beta[np.maximum(first, each + self.fewest(beta, k) + noise) - 0.5 <= rop]


# ---- the distinguisher


def dual(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the distinguisher by short vectors of the dual lattice. [MR09, Albrecht17, EJK20]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
    >>> found = dual(kyber, DEFAULT)
    >>> found.beta, found.d, round(found.rop, 1)
    (423, 1014, 149.6)
    """
    reason = _reason(problem)
    if reason:
        return _none("dual", "MR09, Albrecht17, EJK20", reason)
    lattice = Dual(problem=problem.normal(), setting=setting)
    n = lattice.problem.n
    beta, rop = lattice.blocks(lambda beta, d: _distinguish(lattice, beta, d))
    least = float(rop.min())
    if not least < setting.model.cost(_LARGEST, _LARGEST):
        return _none("dual", "MR09, Albrecht17, EJK20", _WIDE)
    # Fewer samples than the shortest vectors have make a smaller lattice.
    most = lattice.dimension(beta, n)
    few = np.maximum(n + 1, beta)
    first, each = lattice.one(beta, few)
    enough = lattice.bits(beta, most, n) + _SUCCESS_FACTOR
    kept = np.flatnonzero(np.maximum(first, each + enough - 0.5) <= least)
    blocks = np.concatenate([np.full(int(most[i] - few[i]) + 1, beta[i]) for i in kept])
    sizes = np.concatenate([np.arange(few[i], most[i] + 1) for i in kept])
    best = int(np.argmin(_distinguish(lattice, blocks, sizes)))
    return dual_at(problem, setting, beta=int(blocks[best]), m=int(sizes[best]) - n)


def _distinguish(lattice: Dual, beta: Array, d: Array) -> Array:
    count = lattice.bits(beta, d, lattice.problem.n) + _SUCCESS_FACTOR
    return lattice.setting.model.vectors(beta, d, count).cost


def dual_at(problem: Problem, setting: Setting, *, beta: int, m: int) -> Estimate:
    """Estimate the distinguisher for a block size and a number of samples."""
    lattice = Dual(problem=problem.normal(), setting=setting)
    d = lattice.problem.n + m
    count = float(lattice.bits(beta, d, lattice.problem.n)) + _SUCCESS_FACTOR
    vectors = setting.model.vectors(beta, d, count)
    return Estimate(
        name="dual",
        kind="heuristic model",
        source="MR09, Albrecht17, EJK20",
        rop=float(vectors.cost),
        red=float(vectors.cost),
        mem=float(setting.model.vectors(beta, d, 1.0).number + np.log2(vectors.sieve)),
        sample_bits=_labels(problem, lattice, m),
        prob=SUCCESS,
        delta=math.exp(float(log_delta(beta))),
        beta=beta,
        sieve=int(vectors.sieve),
        d=d,
        m=m,
        search="exhaustive in beta and m, up to the m of the shortest vectors",
        note=f"tells samples from uniform ones by 2^{max(0.0, count):.1f} short vectors",
        model=setting.model.name,
        shape="gsa",
    )


# ---- the hybrid with a Fourier transform


@dataclass(frozen=True, kw_only=True)
class Splits:
    """Ways to split the secret, one an entry: zeta guessed, t transformed modulo p.

    noise: log2 of the factor to N that they bring. transform, table: log2 of the operations of the
    transforms, and of those of the tables for each vector.
    """

    zeta: Array
    t: Array
    p: Array
    noise: Array
    transform: Array
    table: Array

    def take(self, which: NDArray) -> "Splits":
        """Select some, by number or by a mask."""
        return Splits(**{name: value[which] for name, value in vars(self).items()})

    def within(self, rop: float) -> "Splits":
        """Leave out those that cost more than rop by themselves."""
        return self.take(np.maximum(self.transform, self.table) <= rop)


def split(problem: Problem, zeta: ArrayLike = 0, t: ArrayLike = 0, p: ArrayLike = 1) -> Splits:
    """Compute what ways to split the secret cost; t = 0 takes no transform."""
    zeta, t, p = (a.astype(float) for a in np.broadcast_arrays(zeta, t, p))
    guesses = zeta * guesses_bits(problem.secret)
    spread = t * (np.pi * problem.secret.deviation / p) ** 2 / 3
    noise = spread / math.log(2) + np.log2((guesses + t * np.log2(p) + 1) * math.log(2))
    with np.errstate(divide="ignore"):
        transform = guesses + MULTIPLY + np.log2(t) + (t + 1) * np.log2(p)
    return Splits(zeta=zeta, t=t, p=p, noise=noise, transform=transform, table=guesses + 2 + ADD)


def guesses_bits(law: Law) -> float:
    """Bound log2 of the expected guesses of entries, per entry: 2 log2 of the sum of sqrt(p(x)).

    Guesses come in the order of their probability. Laws that are neither Gaussian nor binomial
    count as if all values other than 0 were alike, which takes the most guesses. [Arikan96]

    >>> from hardness.cost.problem import gaussian, uniform
    >>> round(guesses_bits(uniform(0, 1, q=97)), 3), round(guesses_bits(gaussian(3.2, q=3329)), 3)
    (1.0, 4.004)
    """
    if law.kind == "gaussian" and law.weight is None and law.deviation > 0.7:
        return math.log2(math.sqrt(8 * math.pi) * law.deviation)
    if law.kind == "cbd" and law.weight is None:
        eta = law.high
        shares = [math.comb(2 * eta, i) / 4**eta for i in range(2 * eta + 1)]
        return 2 * math.log2(sum(math.sqrt(share) for share in shares))
    # At most: all values other than 0 alike.
    other = math.log2(law.alphabet) + math.log2(1 - law.zero) if law.zero < 1 else -math.inf
    zero = math.log2(law.zero) if law.zero else -math.inf
    return 2 * float(np.logaddexp2(zero / 2, other / 2))


def dual_hybrid(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the dual attack that guesses and transforms a part of the secret. [MATZOV22]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import DEFAULT
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3", samples=512)
    >>> found = dual_hybrid(kyber, DEFAULT)
    >>> found.beta, found.zeta, found.t, found.p, round(found.rop, 1)
    (383, 17, 32, 5, 138.5)
    """
    reason = _reason(problem)
    if reason:
        return _none("dual_hybrid", "MATZOV22", reason)
    lattice = Dual(problem=problem.normal(), setting=setting)
    found = _least(lattice)
    if found is None:
        return _none("dual_hybrid", "MATZOV22", _WIDE)
    zeta, t, p, beta = found
    k = lattice.problem.n - zeta - t
    most = int(lattice.dimension(beta, k))
    m = np.arange(max(1.0, beta - k), most - k + 1)
    rop = _hybrid(lattice, beta, k + m, split(lattice.problem, zeta, t, p))
    return hybrid_at(problem, setting, beta=beta, zeta=zeta, t=t, p=p, m=int(m[np.argmin(rop)]))


def _least(lattice: Dual) -> tuple[int, int, int, int] | None:
    """Search zeta, t, p and beta for the least cost, m being that of the shortest vectors.

    A cost is at least that of a first vector, of all vectors by the least price of one, of the
    transforms, and of the tables. Coarse steps of beta give a cost to beat, then all splits and
    block sizes that these bounds leave are evaluated.
    """
    n = lattice.problem.n
    beta, rop = lattice.blocks(lambda beta, d: _hybrid(lattice, beta, d, split(lattice.problem)))
    least = float(rop.min())
    if not least < lattice.setting.model.cost(_LARGEST, _LARGEST):
        return None
    found = (0, 0, 1, int(beta[np.argmin(rop)]))
    splits = _splits(lattice.problem, least)
    for step in (8, 1):
        splits = splits.within(least)
        most = n - float(np.max(splits.zeta + splits.t))
        blocks = lattice.open(beta, most, splits.noise.min(), least)
        few = lattice.fewest(blocks[-1], n - splits.zeta - splits.t)
        splits = splits.take(splits.table + splits.noise + few <= least)
        outside, where = np.unique(splits.zeta + splits.t, return_inverse=True)
        for b in blocks[::step]:
            d = lattice.dimension(b, n - outside)
            first, each = lattice.one(b, d)
            count = lattice.bits(b, d, n - outside)[where] + splits.noise
            bound = np.maximum(first[where], each[where] + count)
            np.maximum(bound, splits.transform, out=bound)
            np.maximum(bound, splits.table + count, out=bound)
            kept = np.flatnonzero(bound < least) if step == 1 else np.argmin(bound, keepdims=True)
            if not kept.size:
                continue
            some = splits.take(kept)
            rop = _hybrid(lattice, b, d[where[kept]], some)
            best = int(np.argmin(rop))
            if rop[best] < least:
                least = float(rop[best])
                found = (int(some.zeta[best]), int(some.t[best]), int(some.p[best]), int(b))
    return found


def _splits(problem: Problem, rop: float) -> Splits:
    """List the ways to split the secret whose transform alone costs at most rop.

    A p beyond that from which on the noise rises again is of no use.
    """
    guesses = guesses_bits(problem.secret)
    noisy = math.log2(math.pi * problem.secret.deviation * math.sqrt(2 / 3 * math.log(2) * rop) + 2)
    most = max(1.0, min(noisy, (rop - MULTIPLY) / 2, problem.log2_q, 1000.0))
    step = max(_MODULUS_STEP, (most - _EXACT_BITS) / _MOST_MODULI)
    large = np.rint(2 ** np.arange(_EXACT_BITS, most, step))
    p = np.unique(np.append(np.arange(2.0, 1 + 2.0 ** min(most, _EXACT_BITS)), large))
    t = _steps(min(problem.n - 1, rop - MULTIPLY), _MOST_T)[1:]
    transform = MULTIPLY + np.log2(t)[:, None] + (t + 1)[:, None] * np.log2(p)
    row, column = np.nonzero(transform <= rop)
    t, p = np.append(0.0, t[row]), np.append(1.0, p[column])
    transform = np.append(0.0, transform[row, column])
    zeta = _steps(min(problem.n - 1, (rop - 2 - ADD) / guesses), _MOST_ZETA)
    row, column = np.nonzero((guesses * zeta)[:, None] + transform <= rop)
    kept = zeta[row] + t[column] < problem.n
    return split(problem, zeta[row[kept]], t[column[kept]], p[column[kept]])


def _steps(most: float, count: int) -> Array:
    """List 0 to most, at most, in equal steps where that would be more than count numbers."""
    most = max(0, int(most))
    return np.arange(0.0, most + 1, -(-most // count) or 1)


def _hybrid(lattice: Dual, beta: ArrayLike, d: Array, splits: Splits) -> Array:
    """Compute log2 of the operations of the hybrid."""
    k = lattice.problem.n - splits.zeta - splits.t
    count = lattice.bits(beta, d, k) + splits.noise
    red = lattice.setting.model.vectors(beta, d, count).cost
    guess = np.logaddexp2(splits.transform, splits.table + np.maximum(count, 0.0))
    return np.logaddexp2(red, guess)


def hybrid_at(
    problem: Problem, setting: Setting, *, beta: int, zeta: int, t: int, p: int, m: int
) -> Estimate:
    """Estimate the hybrid for a block size, a split of the secret and a number of samples."""
    lattice = Dual(problem=problem.normal(), setting=setting)
    splits = split(lattice.problem, zeta, t, p)
    k = lattice.problem.n - zeta - t
    d = k + m
    count = max(0.0, float(lattice.bits(beta, d, k) + splits.noise))
    vectors = setting.model.vectors(beta, d, count)
    guess = float(np.logaddexp2(splits.transform, splits.table + count))
    return Estimate(
        name="dual_hybrid",
        kind="heuristic model",
        source="MATZOV22",
        rop=float(np.logaddexp2(vectors.cost, guess)),
        red=float(vectors.cost),
        guess=guess,
        mem=float(np.logaddexp2(vectors.number + np.log2(vectors.sieve), t * math.log2(p))),
        sample_bits=_labels(problem, lattice, m),
        space=zeta * guesses_bits(lattice.problem.secret),
        prob=0.5,
        delta=math.exp(float(log_delta(beta))),
        beta=beta,
        sieve=int(vectors.sieve),
        zeta=zeta,
        d=d,
        m=m,
        p=p if t else None,
        t=t,
        search=f"exhaustive in beta, zeta, t and p, in steps beyond {_MOST_ZETA}, {_MOST_T} and "
        f"{1 << _EXACT_BITS}; m: of the shortest vectors, in the end exhaustive",
        note=f"2^{count:.1f} short vectors; {_CONTESTED}",
        model=setting.model.name,
        shape="gsa",
    )


def _labels(problem: Problem, lattice: Dual, m: int) -> float:
    spent = 0 if lattice.problem is problem else problem.n
    return math.log2(problem.labels * (m + spent))


def _none(name: str, source: str, reason: str) -> Estimate:
    return Estimate(name=name, kind="heuristic model", source=source, reason=reason)


def _reason(problem: Problem) -> str:
    if problem.q == 2:
        return "q = 2: a flip is as large as the modulus"
    if problem.error is None or not problem.error.deviation:
        return "no error: linear algebra does it"
    if not problem.secret.deviation:
        return "there is one secret only"
    if not math.isfinite(problem.normal().secret.deviation):
        return "the secret is as wide as q, and too few samples are left to make it narrow"
    if not Dual(problem=problem.normal(), setting=DEFAULT).ln_scaled > 0:
        return _WIDE
    if problem.rows == 0:
        return f"one label in {problem.labels} makes a sample, {problem.samples} are given out"
    return ""
