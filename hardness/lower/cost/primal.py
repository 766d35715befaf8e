"""The primal attack: s and e as the unique shortest vector of a lattice, by block reduction.

The lattice holds (e, nu s', sigma_e), which Kannan's embedding makes short: errors of samples, r
coordinates of the secret scaled by nu, and a last coordinate. n - r samples are spent on the other
coordinates of the secret, m more count. Its dimension is d = m + n + 1, its volume
q^m nu^r sigma_e. Under the geometric series assumption BKZ of block size beta finds the vector
where its projection on the last block is shorter than what would stand there:

    sqrt(beta/d) ||(e, nu s', sigma_e)|| = sqrt(beta) sigma_e <= delta^(2 beta - d - 1) Vol^(1/d).

All that is free is at its best. Of all scalings those that make all coordinates of one size give
the most volume to a vector's length (inequality of the means): nu = sigma_e/sigma_s, and sigma_e
last. At a given d one sample more and one coordinate of the secret less multiply the volume by
1/nu: r = n from nu = 1 on; below it r is as small as the samples allow. Then d times the logarithm
of right over left is concave in d, so that m is found in closed form; and that logarithm rises with
beta where d is not beta itself, so that beta is found by halving.

The cost counts one call of a sieve in dimension beta ("core-SVP") and leaves out all factors that
are polynomial: it is meant to be low. [ADPS16, AGVW17; scaling BG14, normal form ACPS09]
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import partial

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import CLASSICAL, QUANTUM, SMALLEST_BLOCK, Estimate

NAME, SOURCE = "primal-usvp", "ADPS16, AGVW17, BDGL16, Laarhoven15"
MEMORY = 0.2075  # log2 of the vectors that a sieve holds, per dimension [BDGL16]
_LARGEST_BLOCK = 1 << 24
_estimate = partial(Estimate, name=NAME, kind="heuristic model", source=SOURCE)


@dataclass(frozen=True, kw_only=True)
class Embedding:
    """The lattices of a problem: n entries of the secret, scaled by `scale`, and samples mod q.

    error: the deviation of a coordinate; limit: samples at hand, None for any number.
    """

    n: int
    q: int
    error: float
    scale: float
    limit: int | None

    def kept(self, m: int) -> int:
        """Count the coordinates of the secret that stay beside m samples: for the most volume."""
        if self.scale >= 1:
            return self.n
        return 0 if self.limit is None else max(0, m + self.n - self.limit)

    def margin(self, beta: int, m: int) -> float:
        """Compute the logarithm of the right side over the left: at least 0 where it succeeds."""
        d = m + self.n + 1
        scaled = self.kept(m) * math.log(self.scale) + math.log(self.error)
        reach = (2 * beta - d - 1) * log_delta(beta) + (m * math.log(self.q) + scaled) / d
        return reach - math.log(beta) / 2 - math.log(self.error)

    def samples(self, beta: int) -> int | None:
        """Find the m of the largest margin; None where d < beta for all.

        Where ln Vol = a d - b the margin is concave in d or falling, with its top at
        d^2 ln delta = b. There are two such ranges where r is 0 first and grows then.
        """
        low = max(1, beta - self.n - 1)
        if self.limit is not None and self.limit < low:
            return None
        bend = (self.n + 1) * math.log(self.q) - math.log(self.error)
        log_scale = math.log(self.scale)
        ranges: list[tuple[int, int | None, float]]
        if self.scale >= 1:
            ranges = [(low, self.limit, bend - self.n * log_scale)]
        elif self.limit is None:
            ranges = [(low, None, bend)]
        else:
            turn = max(low, self.limit - self.n)
            rest = bend + (self.limit + 1) * log_scale
            ranges = [(low, turn, bend), (turn, self.limit, rest)]
        around = []
        for start, end, bent in ranges:
            top = math.sqrt(max(0.0, bent) / log_delta(beta)) - self.n - 1
            for m in (math.floor(top), math.ceil(top)):
                around.append(max(start, m if end is None else min(end, m)))
        return max(around, key=lambda m: self.margin(beta, m))

    def succeeds(self, beta: int) -> bool:
        """Return whether some number of samples does for a block size."""
        m = self.samples(beta)
        return m is not None and self.margin(beta, m) >= 0

    def block(self) -> int | None:
        """Find the least block size that succeeds; None for none, 49 for any below 50."""
        largest = _LARGEST_BLOCK if self.limit is None else self.n + 1 + self.limit
        sizes = range(SMALLEST_BLOCK - 1, largest + 1)
        bound = bisect_left(sizes, True, key=lambda beta: self.samples(beta) == beta - self.n - 1)
        if bound and self.succeeds(sizes[bound - 1]):
            return sizes[bisect_left(sizes, True, hi=bound, key=self.succeeds)]
        # From here on d = beta is best, and beta times the margin is concave in beta.
        whole = sizes[bound:]
        peak = bisect_left(whole, True, key=lambda beta: self.whole(beta + 1) <= self.whole(beta))
        found = bisect_left(whole[: peak + 1], True, key=self.succeeds)
        return whole[found] if found < len(whole[: peak + 1]) else None

    def whole(self, beta: int) -> float:
        """Compute d times the margin of one block as large as the lattice, d = beta."""
        return beta * self.margin(beta, beta - self.n - 1)

    def fewest(self, beta: int) -> int:
        """Find the least m that a block size succeeds with: those that do are an interval."""
        high = self.samples(beta)
        assert high is not None
        counts = range(max(1, beta - self.n - 1), high)
        return counts.start + bisect_left(counts, True, key=lambda m: self.margin(beta, m) >= 0)


def log_delta(beta: int) -> float:
    """Compute ln of the root Hermite factor of block size beta, 50 and more. [Chen13]

    delta = ((pi beta)^(1/beta) beta/(2 pi e))^(1/(2 (beta - 1))).

    >>> round(math.exp(log_delta(406)), 6)
    1.003941
    """
    inner = math.log(math.pi * beta) / beta + math.log(beta / (2 * math.pi * math.e))
    return inner / (2 * (beta - 1))


def primal(problem: Problem) -> Estimate:
    """Estimate the primal attack at its least block size. [ADPS16, AGVW17]

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> kyber = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> found = primal(problem(parse(kyber), samples=512))
    >>> found.beta, found.m, found.d, round(found.bits, 2)
    (406, 485, 998, 118.55)
    """
    reason = _reason(problem)
    if reason:
        return _estimate(reason=reason)
    count = None if problem.samples is None else problem.samples // problem.labels
    if count is not None and problem.n + 1 + count < SMALLEST_BLOCK:  # no block is larger
        return _small(d=problem.n + 1 + count, m=count, used=count * problem.labels)
    lattice = embedding(problem)
    beta = lattice.block()
    if beta is None:
        return _estimate(
            reason="no block size makes the planted vector stand out: the errors are too wide for "
            f"q = {problem.q}, or the samples too few"
        )
    m = lattice.fewest(beta)
    d = m + problem.n + 1
    spent = problem.n - lattice.kept(m)
    used = problem.labels * (m + spent)
    if beta < SMALLEST_BLOCK:
        return _small(d=d, m=m, used=used)
    notes = ["one call of a sieve, no polynomial factors"]
    if spent:
        notes.append(f"{spent} of the samples make the secret as small as the error")
    if problem.secrets.h:
        notes.append("hybrid attacks, which guess where a sparse secret is 0, are not counted")
    return _estimate(
        bits=CLASSICAL * beta,
        quantum_bits=QUANTUM * beta,
        beta=beta,
        d=d,
        m=m,
        sample_bits=math.log2(used),
        memory_bits=MEMORY * beta,
        note="; ".join(notes),
    )


def embedding(problem: Problem) -> Embedding:
    """Read off a problem what its lattices depend on."""
    assert problem.errors is not None
    error = problem.errors.deviation
    return Embedding(
        n=problem.n,
        q=problem.q,
        error=error,
        scale=error / problem.secret_deviation,
        limit=None if problem.samples is None else problem.samples // problem.labels,
    )


def _small(d: int, m: int, used: int) -> Estimate:
    return _estimate(
        d=d,
        m=m,
        sample_bits=math.log2(used),
        note="too small for this model, which says nothing below block size 50: expect lattice "
        "reduction to break it",
    )


def _reason(problem: Problem) -> str:
    if problem.q == 2:
        return "q = 2: a flip is as large as the modulus"
    if problem.errors is None:
        return "no error: linear algebra does it"
    if not problem.secret_deviation:
        return "there is one secret only"
    if problem.samples is not None and problem.samples < problem.labels:
        return f"one label in {problem.labels} makes a sample, {problem.samples} are given out"
    if problem.samples is not None and problem.samples < problem.unique:
        return f"{problem.samples} samples leave several secrets: {problem.unique} single one out"
    return ""
