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
from functools import cached_property, partial
from math import log2

import numpy as np
from numpy.typing import NDArray

from hardness.cost.problem import Problem
from hardness.cost.record import Estimate, cheapest_form
from hardness.cost.reduction import Array, Setting
from hardness.cost.success import SUCCESS

_MOST_BLOCKS = 1000  # 2^1000 errors: beyond float64
_MOST_TERMS = 1 << 16
_SOME = 24  # values of b and n_test that are tried first
_BATCH = 2048  # boxes that are halved at a time
_CELLS = 200_000  # steps times choices that are held at a time
_MOST_WORK = 4_000_000  # steps times boxes in all
_CLOSE = 1e-9

Counts = NDArray[np.int64]


def costs(
    n: int, q: int, log_bias: float, block: int, success: float = SUCCESS
) -> tuple[float, float, float]:
    """Compute log2 of operations, samples and stored samples of plain steps, b coordinates each.

    >>> [round(v, 1) for v in costs(16, 2, math.log(0.8), 16)]
    [20.0, 7.6, 16.0]
    """
    count = -(-n // block)
    last = n - (count - 1) * block
    if count > _MOST_BLOCKS:
        return math.inf, math.inf, math.inf
    table = block * log2(q) - (q > 2)
    spread = log2(8 * (last * math.log(q) - math.log1p(-success)))
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


def bkw(problem: Problem, setting: Setting) -> Estimate:
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
    n = problem.n
    sizes = sorted({-(-n // count) for count in range(1, min(n, _MOST_BLOCKS) + 1)})
    found = {
        block: costs(n, problem.q, problem.error.log_bias, block, setting.success)
        for block in sizes
    }
    block = min(sizes, key=lambda size: found[size][0])
    bits, samples, stored = found[block]
    return estimate(
        rop=bits,
        mem=stored,
        sample_bits=samples,
        t=-(-n // block) - 1,
        search="exhaustive over block sizes",
        note=f"blocks of {block} coordinates, {-(-n // block) - 1} tables; memory counts samples "
        "of n + 1 numbers; secrets that are small or sparse are not made use of",
    )


def _reason(problem: Problem) -> str:
    if problem.error is None or not problem.error.deviation:
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
    i, b, _, length = _walk(log2_q, choices[0], choices[1] / choices[2], choices[2], most)
    block, words, test = choices
    ln_q = log2_q * math.log(2)
    exact = length[1:] - length[:-1] == b
    steps = (length < n).sum(0)
    done = i <= steps
    size = np.diff(length, axis=0)
    decoded = np.where(exact, 0.0, 4 * size)
    left = np.where(exact, length[:-1] + 1, length[1:])
    plain = (done & exact).sum(0)
    with np.errstate(over="ignore"):
        added = np.where(exact, 0.0, size * np.exp(i * math.log(2) - 2 * b / size * ln_q))
    noise = np.where(words < test, test * np.exp(-2 * words / test * ln_q), 0.0)
    # The last code is made shorter by what is too much: all that is left then is, too.
    ends = np.minimum(steps, most)
    excess = np.take_along_axis(length, ends[None], 0)[0] - n
    is_coded = plain < steps
    shorter = 4 * excess * is_coded
    every = Codes(
        block=block,
        words=words,
        test=test,
        steps=steps,
        plain=plain,
        per_table=(done * (1 + i * decoded + (i - 1) * left)).sum(0)
        - excess * steps * (steps - 1) / 2
        - shorter,
        per_sample=4.0 * test
        + (done * (decoded + left)).sum(0)
        - excess * np.maximum(0, steps - 1 + is_coded)
        - shorter,
        noise=noise + (done * added).sum(0),
    )
    return every[steps <= most]


def _walk(
    log2_q: float, block: Counts, ratio: Array, test: Counts, most: int
) -> tuple[Array, Array, Array, Array]:
    """Return i, b, l/n_test + (i/2) log_q 2, each (t, k) or less, and the lengths up to step i."""
    i = np.arange(1.0, most + 1)[:, None]
    b = np.asarray(block, float)
    r = ratio + i / (2 * log2_q)
    size = np.maximum(b, np.floor(b / r + _CLOSE))
    return i, b, r, np.cumsum(np.vstack([np.asarray(test, float)[None], size]), axis=0)


def bounds(n: int, log2_q: float, low: Counts, high: Counts, most: int) -> tuple[Codes, Counts]:
    """Bound codes of all choices of boxes (b, l, n_test), (3, k) each, from below.

    Returned with them are the boxes of which some choice may cancel all in `most` steps. Lengths
    N_i grow with b and n_test and fall with l: the number of steps is least in one corner of a box,
    lengths in the opposite one. The last code may be shorter by less than N_t: what is left after
    step i is at least what was before it, before step i - 1 if step i may be plain, and what the
    first code takes to decode is not counted.

    >>> low, high = np.array([[14], [13], [64]]), np.array([[15], [14], [70]])
    >>> found, _ = bounds(512, math.log2(3329), low, high, 30)
    >>> int(found.steps[0]), bool(found.per_table[0] > 3e4)
    (13, True)
    """
    ln_q = log2_q * math.log(2)
    _, _, _, longest = _walk(log2_q, high[0], low[1] / high[2], high[2], most)
    steps = (longest < n).sum(0)
    i, b, r, length = _walk(log2_q, low[0], np.minimum(1.0, high[1] / low[2]), low[2], most)
    size, before = np.diff(length, axis=0), length[:-1]
    coded = b >= r * (b + 1)  # in all of the box
    done = i <= steps
    earlier = np.vstack([np.zeros_like(before[:1]), before[:-1]])
    left = np.where(coded, before, earlier)
    decoded = np.where(coded & (i > 1), 4 * size, 0.0)
    with np.errstate(over="ignore", divide="ignore"):
        exponent = i * math.log(2) - 2 * ln_q / np.maximum(1.0, 1 / r - 1 / b)
        added = np.where(coded, size * np.exp(exponent), 0.0)
    noise = np.where(high[1] < low[2], low[2] * np.exp(-2 * high[1] / low[2] * ln_q), 0.0)
    found = Codes(
        block=low[0],
        words=low[1],
        test=low[2],
        steps=steps,
        plain=np.zeros_like(steps),
        per_table=(done * (1 + i * decoded + (i - 1) * left)).sum(0),
        per_sample=4.0 * low[2] + (done * (decoded + left)).sum(0),
        noise=noise + (done * added).sum(0),
    )
    reach = steps <= most
    return found[reach], np.flatnonzero(reach)


def coded_costs(
    problem: Problem, found: Codes, terms: "int | Counts", success: float = SUCCESS
) -> tuple[Array, Array]:
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
        rounding = math.pi**2 / 3 * np.exp(2 * problem.secret.ln_deviation + np.log(found.noise))
        ln_fresh = np.log(8 * (found.words * problem.ln_q - math.log1p(-success))) + rounding
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
    return 2 * (math.log(2 * math.pi) + problem.error.ln_deviation - problem.ln_q)


@dataclass(frozen=True, kw_only=True)
class _Sums:
    """Sums of k signed samples, of which there are C(rows, k) 2^(k-1); rows: None for any number.

    spent: n where samples were spent on the normal form, else 0. success: of the whole attack.
    """

    rows: int | None
    spent: int
    success: float

    @cached_property
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


def _fewest_terms(
    problem: Problem, found: Codes, sums: _Sums, bound: float
) -> tuple[Codes, Array, Array, Counts, Counts]:
    """Give the choices within a bound the least k: their costs, samples, k and places."""
    terms = np.ones(found.block.shape, np.int64)
    place = np.arange(len(terms))
    while True:  # noise and samples grow with k: to the least that suffices
        free, samples = coded_costs(problem, found, terms, sums.success)
        kept = (free <= bound) & (terms <= sums.most)
        found, place = found[kept], place[kept]
        free, samples, terms = free[kept], samples[kept], terms[kept]
        enough = np.maximum(terms, sums.first(samples))
        if (enough == terms).all():
            return found, free, samples, terms, place
        terms = enough


def _best(problem: Problem, found: Codes, sums: _Sums, bound: float = math.inf) -> _Best | None:
    """Find the cheapest of choices up to a bound, each with the k that costs least.

    More terms cost more but for the normal form, which takes samples times n + 1 times
    n/(b - 1): they are added until nothing but that could be saved, or not even that.
    """
    found, free, samples, terms = _fewest_terms(problem, found, sums, bound)[:4]
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
        if best.rop <= free.min() + _CLOSE or ((terms > samples + 1) | (free >= best.rop)).all():
            return best
        terms = terms + 1
        free, samples = coded_costs(problem, found, terms, sums.success)


@cheapest_form
def coded_bkw(problem: Problem, setting: Setting) -> Estimate:
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
    if problem.too_few or problem.rows == 0:
        return estimate(reason=problem.too_few or problem.no_rows)
    spent = problem.spent
    sums = _Sums(rows=problem.rows, spent=spent, success=setting.success)
    best, gap = _cheapest(problem, sums)
    if best is None:
        reason = f"not reachable with {problem.samples} samples, nor with sums of them"
        return estimate(reason=reason)
    b, words, test, steps = (
        int(v[0]) for v in (best.codes.block, best.codes.words, best.codes.test, best.codes.steps)
    )
    table = b * problem.log2_q - 1
    stored = add(table + log2(steps), (words + 1) * problem.log2_q) if steps else table
    plain = int(best.codes.plain[0])
    notes = [
        f"b = {b}, {plain} plain and {steps - plain} coded steps, l = {words}, n_test = {test}; "
        "memory counts samples and cells of the transform"
    ]
    if best.terms > 1:
        notes.append(f"samples are sums of {best.terms}, which count as independent")
    if spent:
        notes.append(f"{spent} samples make the secret as small as the error")
    needed = add(best.used, log2(spent)) if spent else best.used
    if problem.rows is not None:
        needed = min(needed, problem.label_bits(problem.rows))
    return estimate(
        rop=best.rop,
        mem=stored,
        sample_bits=needed,
        t=steps,
        search="b, l, n_test and t: "
        + ("exhaustive, by bounds" if gap <= _CLOSE else f"at most {gap:.2g} bits above the least"),
        note="; ".join(notes),
    )


def _cheapest(problem: Problem, sums: _Sums) -> tuple[_Best | None, float]:
    """Find the cheapest of all choices by branch and bound, and how many bits less may be.

    Boxes of b, l and n_test are halved, those of the lowest bounds first, until no bound is below
    the best or the work is done that is allowed. Tables and transforms cost at least their entries.
    """
    n, bits = problem.n, problem.log2_q
    some = np.unique(np.geomspace(1, n, _SOME).astype(np.int64))
    few = np.array([(x, max(1, x - 1), y) for x in some for y in some if y >= x - 1], np.int64).T
    best = _tried(problem, few, sums, n * bits + 64)
    rop = best.rop if best else n * bits + 64
    top = [min(n, (rop + 1) / bits), min(n, rop / bits - 1), n]
    low = np.ones((3, 1), np.int64)
    high = np.maximum(1, np.array(top).astype(np.int64))[:, None]
    floor, work = np.zeros(1), 0
    while floor.size and work < _MOST_WORK:
        most = _most_steps(problem, rop)
        batch = max(16, min(_BATCH, _CELLS // (most + 1)))
        order = (
            np.argpartition(floor, batch)[:batch] if floor.size > batch else np.arange(len(floor))
        )
        one, two = low[:, order], high[:, order]
        low, high = np.delete(low, order, 1), np.delete(high, order, 1)
        floor = np.delete(floor, order)
        one, two = _halved(one, two, bits)
        work += (most + 2) * one.shape[1]
        alone = (one == two).all(0)
        middle = (one + two) // 2
        middle[2] = np.maximum(middle[2], middle[1])
        better = _tried(problem, middle, sums, rop)
        if better and (best is None or better.rop < best.rop):
            best, rop = better, better.rop
        one, two = one[:, ~alone], two[:, ~alone]
        below, reach = bounds(n, bits, one, two, most)
        _, free, _, _, place = _fewest_terms(problem, below, sums, rop)
        kept = reach[place]
        low = np.concatenate([low, one[:, kept]], axis=1)
        high = np.concatenate([high, two[:, kept]], axis=1)
        floor = np.concatenate([floor, free])
        open_ = floor < rop - _CLOSE
        low, high, floor = low[:, open_], high[:, open_], floor[open_]
    return best, rop - float(floor.min(initial=rop))


def _halved(low: Counts, high: Counts, bits: float) -> tuple[Counts, Counts]:
    """Halve boxes across what changes costs most; those with n_test < l are left out."""
    width = (high - low) * bits
    width = np.array([width[0], width[1], bits * high[1] * np.log(high[2] / low[2])])
    axis = np.where(high > low, width, -1.0).argmax(0)
    columns = np.arange(low.shape[1])
    middle = (low[axis, columns] + high[axis, columns]) // 2
    left, right = high.copy(), low.copy()
    left[axis, columns] = middle
    right[axis, columns] = np.minimum(middle + 1, high[axis, columns])
    alone = (low == high).all(0)
    one = np.concatenate([low, right[:, ~alone]], axis=1)
    two = np.concatenate([left, high[:, ~alone]], axis=1)
    possible = two[2] >= one[1]
    return one[:, possible], two[:, possible]


def _tried(problem: Problem, choices: Counts, sums: _Sums, bound: float) -> _Best | None:
    """Find the cheapest of choices, some at a time."""
    most = _most_steps(problem, bound)
    step = max(16, _CELLS // (most + 1))
    best: _Best | None = None
    for start in range(0, choices.shape[1], step):
        part = choices[:, start : start + step]
        chosen = codes(problem.n, problem.log2_q, (part[0], part[1], part[2]), most)
        found = _best(problem, chosen, sums, best.rop if best else bound)
        if found and (best is None or found.rop < best.rop):
            best = found
    return best


def _most_steps(problem: Problem, rop: float) -> int:
    """Count the steps whose errors need 2^rop samples."""
    return max(0, math.floor(log2(rop * math.log(2)) - _ln_loss(problem) / math.log(2)))
