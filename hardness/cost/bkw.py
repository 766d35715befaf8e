"""Blum-Kalai-Wasserman: samples that agree on a block of coordinates are subtracted.

Plain: n coordinates fall into t blocks of b or less. Each of t - 1 tables cancels one block: it
holds a sample for each value of the block, up to sign. What is left has 2^(t-1) errors added up, of
bias beta = |E exp(2 pi i e/q)|^(2^(t-1)), and a Fourier transform over the last block of r
coordinates tells its part of the secret from 8 ln(q^r/epsilon)/beta^2 samples (Hoeffding, union
bound). The errors count as independent of one another and of a. [BKW03, LF06, ACFFP15, DTV15]

Coded: small secrets need no exact cancelling. The i-th step from the end maps N_i coordinates to
the q^b words of a lattice code, and samples of one word are subtracted. What is left of a
coordinate has variance 2^i q^(2 (1 - b/N_i))/12 in the end. Lengths are the largest that keep it
below that of the test, sigma_set^2 = q^(2 (1 - l/n_test))/12:

    N_i = b / (l/n_test + (i/2) log_q 2),    b where that is less: a plain step without a remainder.

The last n_test coordinates go to a code of q^l words, where a Fourier transform finds the secret
from M samples. A sum of k signed samples is a sample too, so that m of them give C(m, k) 2^(k-1),
of k times the variance [Lyu05]. With h = (q^b - 1)/2 samples in each table, up to sign,

    m = t h + M,    M = 8 ln(q^l/epsilon) exp(4 pi^2 sigma^2/q^2),
    sigma^2 = k 2^t sigma_e^2 + sigma_s^2 q^2/12 r,
    r = n_test q^(-2 l/n_test) + sum_i N_i 2^i q^(-2b/N_i).

Operations: a plain step subtracts the coordinates
that are left and the label; step i from the end decodes N_i coordinates of M + i h samples, at 4
operations each, and subtracts all that are left of M + (i - 1) h; the transform takes q^(l+1)
((l + 1) log2 q + 1). [GJS15] To that we add one operation for each entry of a table.
"""

import math
from dataclasses import dataclass
from functools import partial
from math import log2

import numpy as np
from numpy.typing import NDArray

from hardness.cost.problem import Problem
from hardness.cost.record import Estimate
from hardness.cost.reduction import Array, Setting

FAILURE = 0.01
_MOST_BLOCKS = 1000  # 2^1000 errors: beyond float64
_MOST_CELLS = 2_000_000
_MOST_TERMS = 256
_FEW = 128
_CLOSE = 1e-9

Counts = NDArray[np.int64]


def costs(n: int, q: int, log_bias: float, block: int) -> tuple[float, float, float]:
    """Compute log2 of operations, samples and stored samples of plain steps, b coordinates each.

    >>> [round(v, 1) for v in costs(16, 2, math.log(0.8), 16)]
    [20.0, 7.6, 16.0]
    """
    count = -(-n // block)
    last = n - (count - 1) * block
    if count > _MOST_BLOCKS:
        return math.inf, math.inf, math.inf
    table = block * log2(q) - (q > 2)
    spread = log2(8 * (last * math.log(q) - math.log(FAILURE)))
    fresh = spread - 2 ** (count - 1) * 2 * log_bias / math.log(2)
    transform = last * log2(q) + log2(max(1.0, last * log2(q)))
    if count == 1:
        return add(fresh, transform), fresh, last * log2(q)
    # A sample for the table of block i passes i tables, a last one all of them; n + 1 numbers each.
    filling = table + log2(max(1.0, (count - 1) * (count - 2) / 2)) + log2(n + 1)
    passing = fresh + log2((count - 1) * (n + 1))
    stored = table + log2(count - 1)
    return (
        add(filling, passing, transform),
        add(stored, fresh),
        add(stored, last * log2(q)),
    )


def add(*bits: float) -> float:
    """Add numbers that are given by log2.

    >>> add(3.0, 3.0)
    4.0
    """
    return float(np.logaddexp2.reduce(bits))


def bkw(problem: Problem, _: Setting) -> Estimate:
    """Estimate the plain attack with the block size of least cost.

    >>> from hardness.cost.problem import problem
    >>> from hardness.cost.reduction import ROUGH
    >>> from instances import parse
    >>> round(bkw(problem(parse("lpn:n=32,noise=0.1")), ROUGH).rop)
    17
    """
    estimate = partial(
        Estimate, name="bkw", kind="asymptotic formula", source="BKW03, LF06, ACFFP15, DTV15"
    )
    reason = _reason(problem)
    if reason or problem.error is None:
        return estimate(reason=reason)
    n, q = problem.n, problem.q
    sizes = sorted({-(-n // count) for count in range(1, min(n, _MOST_BLOCKS) + 1)})
    block = min(sizes, key=partial(_operations, n, q, problem.error.log_bias))
    bits, samples, stored = costs(n, q, problem.error.log_bias, block)
    return estimate(
        rop=bits,
        mem=stored,
        sample_bits=samples + log2(problem.labels),
        t=-(-n // block) - 1,
        search="exhaustive over block sizes",
        note=f"blocks of {block} coordinates, {-(-n // block) - 1} tables; memory counts samples "
        "of n + 1 numbers; secrets that are small or sparse are not made use of",
    )


def _operations(n: int, q: int, log_bias: float, block: int) -> float:
    return costs(n, q, log_bias, block)[0]


def _reason(problem: Problem) -> str:
    if problem.error is None:
        return "no error: linear algebra does it"
    return "errors are uniform mod q" if problem.error.log_bias == -math.inf else ""


# ---- with lattice codes


@dataclass(frozen=True, kw_only=True)
class Codes:
    """Choices of b, l and n_test, arrays (k,), with the least number t of steps that cancel all.

    per_table, per_sample: operations for each of the h samples of a table, and for each of the M
    that pass all. noise: what codes add to the variance, in units of sigma_s^2 q^2/12.
    """

    block: Counts
    words: Counts
    test: Counts
    steps: Counts
    plain: Counts
    per_table: Array
    per_sample: Array
    noise: Array

    def __getitem__(self, chosen: "NDArray[np.bool_] | slice") -> "Codes":
        return Codes(**{name: value[chosen] for name, value in vars(self).items()})


def codes(n: int, log2_q: float, choices: tuple[Counts, Counts, Counts], most: int) -> Codes:
    """Count steps and operations of choices (b, l, n_test), which are left out above `most` steps.

    >>> found = codes(512, math.log2(3329), (np.array([14]), np.array([13]), np.array([64])), 30)
    >>> int(found.steps[0]), int(found.plain[0]), round(float(found.noise[0] * 3329**2 / 1e6))
    (16, 0, 180)
    """
    block, words, test = choices
    steps = np.full(block.shape, -1)
    length = test.astype(float)  # coordinates of the test and of codes up to the i-th
    per_table, per_sample = np.zeros(block.shape), 4.0 * test  # the test decodes all that pass
    plain, found = np.zeros_like(block), np.zeros((3, len(block)))
    ln_q = log2_q * math.log(2)
    noise = np.where(words < test, test * np.exp(-2 * words / test * ln_q), 0.0)
    alive = np.arange(len(block))
    for i in range(most + 1):
        if i:
            b, r = block[alive], words[alive] / test[alive]
            size = np.maximum(b, np.floor(b / (r + i / (2 * log2_q)) + _CLOSE))
            exact = size == b
            before = length[alive]
            length[alive] = before + size
            plain[alive] += exact
            left = np.where(exact, before + 1, before + size)
            decoded = np.where(exact, 0.0, 4 * size)
            per_table[alive] += 1 + i * decoded + (i - 1) * left
            per_sample[alive] += decoded + left
            added = np.where(exact, 0.0, np.exp(i * math.log(2) - 2 * b / size * ln_q))
            noise[alive] += size * added
        done = alive[length[alive] >= n]
        if done.size:
            # The last code is made shorter by what is too much: all that is left then is, too.
            excess = length[done] - n
            steps[done] = i
            is_coded = plain[done] < i
            shorter = 4 * excess * is_coded
            found[0, done] = per_table[done] - excess * i * (i - 1) / 2 - shorter
            found[1, done] = per_sample[done] - excess * (i - 1 + is_coded) - shorter
            found[2, done] = noise[done]
            alive = alive[length[alive] < n]
        if not alive.size:
            break
    every = Codes(
        block=block,
        words=words,
        test=test,
        steps=steps,
        plain=plain,
        per_table=found[0],
        per_sample=found[1],
        noise=found[2],
    )
    return every[steps >= 0]


def coded_costs(problem: Problem, found: Codes, terms: "int | Counts") -> tuple[Array, Array]:
    """Compute log2 of operations, and of the samples m, each a sum of `terms` of the problem's.

    Codes are of a problem in normal form; what bringing it there takes is not counted.

    >>> from hardness.cost.problem import read
    >>> kyber = read("lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3")
    >>> choices = np.array([14]), np.array([13]), np.array([64])
    >>> rop, samples = coded_costs(kyber, codes(512, kyber.log2_q, choices, 30), 26)
    >>> round(float(rop[0]), 2), round(float(samples[0]), 2)
    (178.76, 166.81)
    """
    assert problem.error is not None
    bits, steps = problem.log2_q, found.steps.astype(float)
    with np.errstate(over="ignore", divide="ignore"):
        rounding = math.pi**2 / 3 * np.exp(2 * _ln_deviation(problem) + np.log(found.noise))
        ln_fresh = np.log(8 * (found.words * problem.ln_q - math.log(FAILURE))) + rounding
        ln_fresh += np.exp(_ln_loss(problem) + np.log(terms) + steps * math.log(2))
        fresh = ln_fresh / math.log(2)
        table = found.block * bits - (problem.q > 2)
        transform = (found.words + 1) * bits
        transform += np.log2(transform + 1)
        passed = np.logaddexp2(table + np.log2(found.per_table), fresh + np.log2(found.per_sample))
        return np.logaddexp2(passed, transform), np.logaddexp2(table + np.log2(steps), fresh)


def _ln_loss(problem: Problem) -> float:
    """Compute ln of -2 ln |E exp(2 pi i e/q)|, which a float may round to 0: 4 pi^2 sigma^2/q^2."""
    assert problem.error is not None
    if problem.error.log_bias:
        return math.log(-2 * problem.error.log_bias)
    return 2 * (math.log(2 * math.pi * problem.error.deviation) - problem.ln_q)


def _ln_deviation(problem: Problem) -> float:
    """Compute ln of an entry's standard deviation; where that is no float, of Z_q."""
    deviation = problem.secret.deviation
    if math.isfinite(deviation):
        return math.log(deviation) if deviation else -math.inf
    return problem.ln_q - math.log(12) / 2


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums of k signed samples, of which there are C(rows, k) 2^(k-1); rows: None for any number.

    spent: n where samples were spent on the normal form, else 0.
    """

    rows: int | None
    spent: int

    @property
    def number(self) -> Array:
        """Log2 of the sums of 1, 2, .. samples, as long as there are more of them."""
        if self.rows is None:
            return np.array([math.inf])
        k = np.arange(1, max(1, min(_MOST_TERMS, 2 * self.rows // 3)) + 1)
        growth = np.log2((self.rows - k + 1) / k) + 1
        found: Array = np.cumsum(growth) - 1
        return found

    @property
    def most(self) -> int:
        """The largest k that is tried."""
        return _MOST_TERMS if self.rows is None else len(self.number)

    def used(self, terms: Counts, samples: Array) -> Array:
        """Compute log2 of how many samples make 2^samples sums: (rows/k)^k 2^(k-1) are enough."""
        needed = np.log2(terms) + (samples - terms + 1) / terms
        needed = np.where(terms == 1, samples, needed)
        return needed if self.rows is None else np.minimum(needed, log2(self.rows))

    def first(self, samples: Array) -> Counts:
        """Find the least k that gives 2^samples sums; one more than there are numbers if none."""
        found: Counts = np.searchsorted(self.number, samples - _CLOSE) + 1
        return found


@dataclass(frozen=True, kw_only=True)
class _Best:
    """The choice of least cost: its place among codes, k, and log2 of operations and samples."""

    rop: float
    codes: Codes
    terms: int
    used: float


def _best(problem: Problem, found: Codes, sums: _Sums, bound: float = math.inf) -> _Best | None:
    """Find the cheapest of choices up to a bound, each with the k that costs least.

    More terms cost more but for the normal form, which takes samples times n + 1 times
    n/(b - 1): they are added until nothing but that could be saved.
    """
    terms = np.ones(found.block.shape, np.int64)
    while True:  # noise and samples grow with k: to the least that suffices
        free, samples = coded_costs(problem, found, terms)
        kept = (free <= bound) & (terms <= sums.most)
        found, free, samples, terms = found[kept], free[kept], samples[kept], terms[kept]
        enough = np.maximum(terms, sums.first(samples))
        if (enough == terms).all():
            break
        terms = enough
    if not found.block.size:
        return None
    best: _Best | None = None
    while True:
        able = (sums.first(samples) <= terms) & (terms <= sums.most) & np.isfinite(free)
        if not able.any():
            return best
        used = sums.used(terms, samples)
        rop = free
        if sums.spent:
            rounds = np.ceil(problem.n / np.maximum(1, found.block - 1))
            rop = np.logaddexp2(free, used + log2(problem.n + 1) + np.log2(rounds))
        rop = np.where(able, rop, np.inf)
        place = int(np.argmin(rop))
        if best is None or rop[place] < best.rop:
            chosen = found[place : place + 1]
            best = _Best(
                rop=float(rop[place]),
                codes=chosen,
                terms=int(terms[place]),
                used=float(used[place]),
            )
        if best.rop <= free.min() + _CLOSE:
            return best
        terms = terms + 1
        free, samples = coded_costs(problem, found, terms)


def coded_bkw(problem: Problem, _: Setting) -> Estimate:
    """Estimate the attack with lattice codes: b, l, n_test and k of least cost. [GJS15, Lyu05]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import ROUGH
    >>> kyber = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> found = coded_bkw(read(kyber, samples=512), ROUGH)
    >>> round(found.rop, 1)
    178.6
    """
    estimate = partial(
        Estimate, name="coded-bkw", kind="heuristic model", source="GJS15, Lyu05, DTV15, BKW03"
    )
    reason = _reason(problem)
    reason = reason or ("q = 2: codes over bits are others" if problem.q == 2 else "")
    if reason or problem.error is None:
        return estimate(reason=reason)
    if problem.samples is not None and (not problem.rows or problem.samples < problem.unique):
        return estimate(
            reason=f"{problem.samples} samples leave several secrets, {problem.unique} single one "
            "out"
        )
    normal = problem.normal()
    spent = 0 if normal is problem else problem.n
    sums = _Sums(rows=normal.rows, spent=spent)
    best, whole = _cheapest(normal, sums)
    if best is None:
        return estimate(reason="no block size gets by with the samples, nor with sums of them")
    b, words, test, steps = (
        int(v[0]) for v in (best.codes.block, best.codes.words, best.codes.test, best.codes.steps)
    )
    table = b * normal.log2_q - 1
    stored = add(table + log2(steps), (words + 1) * normal.log2_q) if steps else table
    plain = int(best.codes.plain[0])
    notes = [
        f"b = {b}, {plain} plain and {steps - plain} coded steps, l = {words}, n_test = {test}; "
        "memory counts samples and cells of the transform"
    ]
    if best.terms > 1:
        notes.append(f"samples are sums of {best.terms}, which count as independent")
    if spent:
        notes.append(f"{spent} samples make the secret as small as the error")
    return estimate(
        rop=best.rop,
        mem=stored,
        sample_bits=log2(problem.labels) + add(best.used, log2(max(1, spent))),
        t=steps,
        search="b, l and n_test: exhaustive; t: the least is best"
        if whole
        else "b and n_test: exhaustive; l: from b - 3 to b + 2; t: the least is best",
        note="; ".join(notes),
    )


def _cheapest(problem: Problem, sums: _Sums) -> tuple[_Best | None, bool]:
    """Find the cheapest of all choices, and whether all were tried.

    A few choices give a bound, and it what b, l, t and l/n_test the cheapest may have: tables and
    transforms cost at least their entries, and M samples must not cost more.
    """
    n, bits = problem.n, problem.log2_q
    b = np.unique(np.geomspace(1, n, 96).astype(np.int64))
    test = np.unique(np.geomspace(1, n, 96).astype(np.int64))
    few = np.array([(x, max(1, x - 1), y) for x in b for y in test if y >= x - 1], np.int64).T
    bound = n * bits + 64
    first = _best(problem, _codes(problem, few, bound), sums)
    if first is None and n > _FEW:
        return None, False
    bound = bound if first is None else first.rop
    chosen, whole = _promising(problem, bound)
    second = _best(problem, _codes(problem, chosen, bound), sums, bound)
    return second or first, whole


def _codes(problem: Problem, choices: Counts, rop: float) -> Codes:
    return codes(problem.n, problem.log2_q, tuple(choices), _most_steps(problem, rop))


def _most_steps(problem: Problem, rop: float) -> int:
    """Count the steps whose errors need 2^rop samples."""
    return max(0, math.floor(log2(rop * math.log(2)) - _ln_loss(problem) / math.log(2)))


def _promising(problem: Problem, rop: float) -> tuple[Counts, bool]:
    """List (b, l, n_test), (3, k), that may cost less than 2^rop; whether that is all of them."""
    n, bits = problem.n, problem.log2_q
    most = _most_steps(problem, rop)
    b = np.arange(1, max(1, min(n, math.floor((rop + 1) / bits))) + 1)
    words = np.arange(1, max(1, min(n, math.floor(rop / bits) - 1)) + 1)
    whole = len(b) * len(words) * n <= _MOST_CELLS
    kept = []
    for x in b.tolist():
        near = words if whole else words[(words >= x - 3) & (words <= x + 2)]
        for y in near.tolist():
            test = np.arange(y, n + 1)
            r = y / test
            reach = test + most * x + 2 * bits * x * np.log1p(most / (2 * bits * r))
            with np.errstate(over="ignore"):
                noise = math.pi**2 / 3 * np.exp(2 * (_ln_deviation(problem) - r * problem.ln_q))
            test = test[(reach >= n) & ((noise * test <= rop * math.log(2)) | (r == 1))]
            if test.size:
                kept.append(np.array([np.full_like(test, x), np.full_like(test, y), test]))
    return (np.concatenate(kept, axis=1) if kept else np.zeros((3, 0), np.int64)), whole
