"""The primal attack: s and e as the unique shortest vector of a lattice, by block reduction.

The lattice holds (e, nu s', sigma_e), which Kannan's embedding makes short: errors of samples, r
coordinates of the secret scaled by nu, and a last coordinate. n - r samples are spent on the other
coordinates of the secret, m more count. Its dimension is d = m + n + 1, its volume
q^m nu^r sigma_e. BKZ of block size beta finds the vector where its projection on the last block is
shorter than what would stand there: under the geometric series assumption (GSA) where

    sqrt(beta/d) ||(e, nu s', sigma_e)|| = sqrt(beta) sigma_e <= delta^(2 beta - d - 1) Vol^(1/d).

All that is free is at its best. Of all scalings those that make all coordinates of one size give
the most volume to a vector's length (inequality of the means): nu = sigma_e/sigma_s, and sigma_e
last. At a given d one sample more and one coordinate of the secret less multiply the volume by
1/nu: r = n from nu = 1 on; below it r is as small as the samples allow. [ADPS16, AGVW17; scaling
BG14, normal form ACPS09]

At a block size beta the m that succeed are an interval: d times the logarithm of right over left
is concave in m, and its top is known. So the least m is found by halving. It costs least, but for
models whose enumeration is cheaper from d > 3/2 beta on: the least m of those is tried too. Then
all block sizes are compared, from the least that succeeds to where one call of the oracle costs
more than the best attack. Where q-vectors stay at the head of a reduced basis, more samples never
hurt: what succeeds with m does with m + 1.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hardness.cost.problem import Problem
from hardness.cost.record import SMALL_BLOCK, Estimate
from hardness.cost.reduction import (
    Array,
    Lattice,
    Setting,
    log_delta,
    log_norm,
    roomy_dimension,
)

NAME, SOURCE = "usvp", "ADPS16, AGVW17"
_LARGEST_BLOCK = 1 << 24
_ALL_BELOW = 1 << 9  # block sizes up to which each is tried for the least
SMALL = "blocks too small for the vector to stand out"
_FIRST_SIZES = 8
_ROUNDING = 1e-9
_SEARCH = {
    "gsa": "block sizes: exhaustive; samples: concave",
    "lgsa": "block sizes: exhaustive; samples: monotone",
    "zgsa": "block sizes: exhaustive; samples: monotone",
    "cn11": "halving: assumes that larger blocks help, and samples up to the best number on a line",
}
_estimate = partial(Estimate, name=NAME, kind="heuristic model", source=SOURCE)

Counts = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """The lattices of a problem: n entries of the secret, scaled by nu, and samples mod q.

    ln_error: of the deviation of a coordinate; ln_scale: of nu; limit: samples at hand, None for
    any number. Block sizes and numbers of samples are integers or arrays of them.
    """

    n: int
    ln_q: float
    ln_error: float
    ln_scale: float
    limit: int | None
    shape: str = "gsa"

    def kept(self, m: ArrayLike) -> Counts:
        """Count the coordinates of the secret that stay beside m samples: for the most volume."""
        m = np.asarray(m, np.int64)
        if self.ln_scale >= 0:
            return np.full(m.shape, self.n)
        return np.zeros_like(m) if self.limit is None else np.maximum(0, m + self.n - self.limit)

    def lattice(self, m: ArrayLike) -> Lattice:
        """Describe the lattice of m samples before reduction."""
        scaled = self.kept(m) * self.ln_scale if self.ln_scale else 0.0
        tail = self.n + 1
        return Lattice(m=m, tail=tail, ln_q=self.ln_q, ln_tail=(scaled + self.ln_error) / tail)

    def margin(self, beta: ArrayLike, m: ArrayLike) -> Array:
        """Compute the logarithm of what stands at the last block over the projected target.

        The attack succeeds where it is at least 0. Where the shape says that what stands there is
        not reduced at all, a vector of the tail as it was given, it is negative.
        """
        lattice = self.lattice(m)
        stands = log_norm(self.shape, lattice, beta, np.subtract(beta, 1))
        margin = stands - np.log(beta) / 2 - self.ln_error
        if self.shape in ("gsa", "cn11"):
            return margin
        return np.where(stands > np.add(lattice.ln_tail, _ROUNDING), margin, -np.inf)

    def least(self, beta: ArrayLike) -> Counts:
        """Count the fewest samples that make the lattice as large as a block."""
        return np.maximum(1, np.asarray(beta, np.int64) - self.n - 1)

    def top(self, beta: ArrayLike) -> Counts:
        """Find the m of the largest margin under the GSA; -1 where d < beta for all.

        Where ln Vol = a d - b, d times the margin is concave in d, and the margin has its top at
        d^2 ln delta = b. There are two such ranges where r is 0 first and grows then.
        """
        low = self.least(beta)
        bend = (self.n + 1) * self.ln_q - self.ln_error
        ranges: list[tuple[int, int | None, float]]
        if self.ln_scale >= 0:
            ranges = [(1, self.limit, bend - self.n * self.ln_scale)]
        elif self.limit is None:
            ranges = [(1, None, bend)]
        else:
            turn = max(1, self.limit - self.n)
            rest = bend + (self.limit + 1) * self.ln_scale
            ranges = [(1, turn, bend), (turn, self.limit, rest)]
        found, best = np.full(low.shape, -1), np.full(low.shape, -np.inf)
        for start, end, bent in ranges:
            top = np.sqrt(max(0.0, bent) / log_delta(beta)) - self.n - 1
            for near in (np.floor(top), np.ceil(top)):
                m = np.maximum(np.maximum(start, low), near.astype(np.int64))
                if end is not None:
                    m = np.minimum(m, end)
                value = np.where(m >= low, self.margin(beta, np.maximum(m, 1)), -np.inf)
                found, best = np.where(value > best, m, found), np.maximum(value, best)
        return found

    def enough(self, beta: ArrayLike) -> Counts:
        """Count samples beyond which no q-vector more is reduced, or all at hand.

        A line from q down ends within the tail by then, or within as many vectors as q stands
        before the tail's length.
        """
        ln_tail = float(np.asarray(self.lattice(1).ln_tail))
        slope = 2 * log_delta(beta)
        span = max(0.0, self.ln_q - ln_tail)
        reach = np.maximum(np.sqrt(2 * (self.n + 1) * span / slope), span / slope) + 3
        most = np.maximum(self.least(beta), reach.astype(np.int64))
        if self.limit is None:
            return most
        return np.minimum(most, self.limit if self.ln_scale >= 0 else max(1, self.limit - self.n))

    def fewest(self, beta: ArrayLike) -> Counts:
        """Find the least m that block sizes succeed with; -1 where none does."""
        beta = np.asarray(beta, np.int64)
        low = self.least(beta)
        line = replace(self, shape="gsa")
        high = self.enough(beta) if self.shape in ("lgsa", "zgsa") else line.top(beta)
        able = high >= low
        high = np.maximum(high, low)
        able &= self.margin(beta, high) >= 0
        rest = self.shape in ("lgsa", "zgsa") and self.ln_scale < 0 and self.limit is not None
        found = np.where(able, self._halve(beta, low, high), -1)
        if not rest:
            return found
        assert self.limit is not None
        m = np.arange(max(1, self.limit - self.n), self.limit + 1)
        for i in np.flatnonzero(~able):
            succeed = (m >= low.flat[i]) & (self.margin(beta.flat[i], m) >= 0)
            found.flat[i] = m[np.argmax(succeed)] if succeed.any() else -1
        return found

    def _halve(self, beta: Counts, low: Counts, high: Counts) -> Counts:
        """Find where the margin is 0 and more first, which it is at `high`."""
        low, high = low - 1, high.copy()
        while (open_ := high - low > 1).any():
            middle = np.maximum((low + high) // 2, 1)
            succeed = self.margin(beta, middle) >= 0
            low = np.where(open_ & ~succeed, middle, low)
            high = np.where(open_ & succeed, middle, high)
        return high

    def block(self) -> int | None:
        """Find the least block size that succeeds; None for none.

        Up to 512 all are tried. Beyond, under the GSA, the margin rises with the block size where
        d > beta is best; from where d = beta is, d times the margin is concave.
        """
        if self.shape != "gsa":
            return self._shaped()
        largest = _LARGEST_BLOCK if self.limit is None else self.n + 1 + self.limit
        small = np.arange(2, min(_ALL_BELOW, largest) + 1)
        low, high = self.least(small), self.top(small)
        succeed = (high >= low) & (self.margin(small, np.maximum(high, low)) >= 0)
        if succeed.any():
            return int(small[np.argmax(succeed)])
        sizes = range(_ALL_BELOW, largest + 1)
        bound = bisect_left(sizes, True, key=lambda beta: int(self.top(beta)) == beta - self.n - 1)
        if bound and self.succeeds(sizes[bound - 1]):
            return sizes[bisect_left(sizes, True, hi=bound, key=self.succeeds)]
        whole = sizes[bound:]
        peak = bisect_left(whole, True, key=lambda beta: self.whole(beta + 1) <= self.whole(beta))
        found = bisect_left(whole[: peak + 1], True, key=self.succeeds)
        return whole[found] if found < len(whole[: peak + 1]) else None

    def succeeds(self, beta: int) -> bool:
        """Return whether some number of samples does for a block size."""
        return int(self.fewest(beta)) > 0

    def whole(self, beta: int) -> float:
        """Compute d times the margin of one block as large as the lattice, d = beta."""
        return float(beta * self.margin(beta, beta - self.n - 1))

    def _shaped(self) -> int | None:
        """Try block sizes in turn, from what the GSA needs: a flat head or tail raises nothing.

        Those under `cn11` are found by halving, as if they succeeded from the least on.
        """
        line = replace(self, shape="gsa").block()
        if line is None:
            return None
        if self.shape == "cn11":
            tried = range(2, min(2 * line + 64, self.n + 1 + (self.limit or _LARGEST_BLOCK)) + 1)
            found = bisect_left(tried, True, key=self.succeeds)
            return tried[found] if found < len(tried) else None
        largest = self.n + 1 + (self.limit or _LARGEST_BLOCK)
        start, step = max(2, line - 1), 8
        while start <= largest:
            sizes = np.arange(start, min(start + step, largest + 1))
            succeed = self.fewest(sizes) > 0
            if succeed.any():
                return int(sizes[np.argmax(succeed)])
            start, step = start + step, min(2 * step, 1 << 12)
        return None


def embedding(problem: Problem, shape: str = "gsa") -> Embedding:
    """Read off a problem what its lattices depend on."""
    assert problem.error is not None
    ln_error = problem.error.ln_deviation
    return Embedding(
        n=problem.n,
        ln_q=problem.ln_q,
        ln_error=ln_error,
        ln_scale=ln_error - problem.secret.ln_deviation,
        limit=problem.rows,
        shape=shape,
    )


def usvp(problem: Problem, setting: Setting) -> Estimate:
    """Estimate the primal attack by the unique shortest vector at its least cost. [ADPS16, AGVW17]

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import ROUGH
    >>> kyber = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> found = usvp(read(kyber, samples=512), ROUGH)
    >>> found.beta, found.m, found.d, round(found.rop, 2)
    (406, 485, 998, 118.55)
    """
    estimate = partial(_estimate, model=setting.model.name, shape=setting.shape)
    reason = _reason(problem)
    if reason:
        return estimate(reason=reason)
    lattice = embedding(problem, setting.shape)
    first = lattice.block()
    if first is None:
        return estimate(
            reason="no block size makes the planted vector stand out: the errors are too wide, or "
            "the samples too few"
        )
    return usvp_at(problem, setting, *_cheapest(lattice, setting, first))


def usvp_at(problem: Problem, setting: Setting, beta: int, m: int) -> Estimate:
    """Estimate the attack at a block size and a number of samples; a note says where it fails.

    >>> from hardness.cost.problem import read
    >>> from hardness.cost.reduction import ROUGH
    >>> kyber = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> found = usvp_at(read(kyber, samples=512), ROUGH, 405, 485)
    >>> round(found.rop, 2), found.note
    (118.26, 'blocks too small for the vector to stand out')
    """
    model = setting.model
    if reason := _reason(problem):
        return _estimate(model=model.name, shape=setting.shape, reason=reason)
    lattice = embedding(problem, setting.shape)
    d = m + problem.n + 1
    rop = float(model.cost(beta, d))
    spent = problem.n - int(lattice.kept(m))
    notes = []
    if lattice.margin(beta, m) < 0:
        notes.append(SMALL)
    if beta < SMALL_BLOCK:
        notes.append(
            "too small for this model, whose figures are of larger block sizes: expect lattice "
            "reduction to break it"
        )
    if spent:
        notes.append(f"{spent} of the samples make the secret as small as the error")
    return _estimate(
        model=model.name,
        shape=setting.shape,
        rop=rop,
        red=rop,
        beta=beta,
        delta=float(np.exp(log_delta(beta))),
        d=d,
        m=m,
        sample_bits=math.log2(m + spent),
        mem=float(model.memory(beta)),
        search=_SEARCH[setting.shape],
        note="; ".join(notes),
    )


def _cheapest(lattice: Embedding, setting: Setting, first: int) -> tuple[int, int]:
    """Return the block size and the samples of least cost, of all block sizes from `first` on.

    One call costs at least what it does in a lattice of any dimension; it rises with the block size
    from 128 on, and the whole is at least one call.
    """
    model, n = setting.model, lattice.n
    largest = n + 1 + lattice.limit if lattice.limit is not None else _LARGEST_BLOCK
    found, cost = (first, 0), math.inf
    start, end = first, first + _FIRST_SIZES - 1
    while start <= largest:
        sizes = np.arange(start, min(end, largest) + 1)
        low, roomy = lattice.least(sizes), roomy_dimension(sizes) - n - 1
        floor = np.minimum(
            model.cost(sizes, low + n + 1), model.cost(sizes, np.maximum(low, roomy) + n + 1)
        )
        sizes, roomy = sizes[floor < cost], roomy[floor < cost]
        fewest = lattice.fewest(sizes) if sizes.size else sizes
        for m in (fewest, np.maximum(fewest, roomy)):
            able = (fewest > 0) & (m <= (math.inf if lattice.limit is None else lattice.limit))
            able &= (m == fewest) | (lattice.margin(sizes, np.maximum(m, 1)) >= 0)
            costs = np.where(able, model.cost(sizes, np.maximum(m, 1) + n + 1), math.inf)
            if costs.size and costs.min() < cost:
                best = int(np.argmin(costs))
                found, cost = (int(sizes[best]), int(m[best])), float(costs[best])
        start, end = end + 1, max(128, end + 64)
        if model.call(np.array(float(start)), np.array(np.inf)) > cost:
            break
    return found


def _reason(problem: Problem) -> str:
    return problem.no_lattice or problem.no_rows or problem.too_few
