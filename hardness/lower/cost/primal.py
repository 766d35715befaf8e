"""The primal attack: s and e as the unique shortest vector of a lattice, by block reduction.

The lattice of m samples has dimension d = m + n + 1 and volume q^m nu^n, the secret scaled by
nu = sigma_e/sigma_s so that all coordinates of the short vector are of one size. Under the
geometric series assumption BKZ of block size beta finds it where its projection on the last block
is shorter than what would stand there:

    sqrt(beta) sigma_e <= delta^(2 beta - d - 1) Vol^(1/d).

The cost counts one call of a sieve in dimension beta ("core-SVP") and leaves out all factors that
are polynomial: it is meant to be low. [ADPS16, AGVW17; scaling BG14]
"""

import math
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
    """A lattice to be attacked: n entries of the secret, scaled by `scale`, and samples mod q.

    error: the deviation of a coordinate; limit: samples at hand, None for any number; spent:
    samples that went into making the secret small.
    """

    n: int
    q: int
    error: float
    scale: float
    limit: int | None
    spent: int = 0

    def margin(self, beta: int, m: int) -> float:
        """Compute the logarithm of the right side over the left: at least 0 where it succeeds."""
        d = m + self.n + 1
        volume = (m * math.log(self.q) + self.n * math.log(self.scale)) / d
        reach = (2 * beta - d - 1) * log_delta(beta) + volume
        return reach - math.log(beta) / 2 - math.log(self.error)

    def samples(self, beta: int) -> int | None:
        """Find the number of samples of the largest margin; None where d < beta for all.

        The margin is concave in d or falling, with its top at d^2 ln delta = (n+1) ln q - n ln nu.
        """
        low = max(1, beta - self.n - 1)
        if self.limit is not None and self.limit < low:
            return None
        bend = (self.n + 1) * math.log(self.q) - self.n * math.log(self.scale)
        top = math.sqrt(max(0.0, bend) / log_delta(beta)) - self.n - 1
        high = math.inf if self.limit is None else self.limit
        around = [int(max(low, min(high, m))) for m in (math.floor(top), math.ceil(top))]
        return max(around, key=lambda m: self.margin(beta, m))

    def succeeds(self, beta: int) -> bool:
        """Say whether some number of samples does for a block size."""
        m = self.samples(beta)
        return m is not None and self.margin(beta, m) >= 0

    def block(self) -> int | None:
        """Find the least block size that succeeds; None for none, 49 for any below 50."""
        low = high = SMALLEST_BLOCK - 1
        while not self.succeeds(high):
            low, high = high + 1, 2 * high
            if high > _LARGEST_BLOCK:
                return None
            if self.limit is not None and high > self.n + 1 + self.limit:
                high = self.n + 1 + self.limit
                if low > high or not self.succeeds(high):
                    return None
        while low < high:
            middle = (low + high) // 2
            if self.succeeds(middle):
                high = middle
            else:
                low = middle + 1
        return high

    def fewest(self, beta: int) -> int:
        """Find the fewest samples that a block size succeeds with."""
        high = self.samples(beta)
        assert high is not None
        low = max(1, beta - self.n - 1)
        while low < high:
            middle = (low + high) // 2
            if self.margin(beta, middle) >= 0:
                high = middle
            else:
                low = middle + 1
        return high


def log_delta(beta: int) -> float:
    """Compute ln of the root Hermite factor of block size beta, 50 and more. [Chen13]

    delta = ((pi beta)^(1/beta) beta/(2 pi e))^(1/(2 (beta - 1))).

    >>> round(math.exp(log_delta(406)), 6)
    1.003941
    """
    inner = math.log(math.pi * beta) / beta + math.log(beta / (2 * math.pi * math.e))
    return inner / (2 * (beta - 1))


def primal(problem: Problem) -> Estimate:
    """Estimate the primal attack, with the secret as it is or in normal form. [ADPS16, AGVW17]

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> kyber = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"
    >>> found = primal(problem(parse(kyber), samples=512))
    >>> found.beta, found.m, found.d, round(found.bits, 2)
    (406, 486, 999, 118.55)
    """
    reason = _reason(problem)
    if reason:
        return _estimate(reason=reason)
    count = None if problem.samples is None else problem.samples // problem.labels
    if count is not None and problem.n + 1 + count < SMALLEST_BLOCK:  # no block is larger
        return _small(d=problem.n + 1 + count, m=count, used=count * problem.labels)
    found = [(block, e) for e in embeddings(problem) if (block := e.block()) is not None]
    if not found:
        return _estimate(
            reason="no block size makes the planted vector stand out: the errors are too wide for "
            f"q = {problem.q}, or the samples too few"
        )
    beta, embedding = min(found, key=lambda pair: (pair[0], pair[1].spent))
    m = embedding.fewest(beta)
    d = m + embedding.n + 1
    used = problem.labels * (m + embedding.spent)
    if beta < SMALLEST_BLOCK:
        return _small(d=d, m=m, used=used)
    notes = ["one call of a sieve, no polynomial factors"]
    if embedding.spent:
        notes.append(f"{embedding.spent} of the samples make the secret as small as the error")
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


def embeddings(problem: Problem) -> tuple[Embedding, ...]:
    """List the lattices of a problem: the secret as it is, and in normal form. [BG14, ACPS09]

    Solving n samples for the secret leaves a problem whose secret is distributed as the errors.
    """
    assert problem.errors is not None
    n, q, error = problem.n, problem.q, problem.errors.deviation
    limit = None if problem.samples is None else problem.samples // problem.labels
    scale = error / problem.secret_deviation
    plain = Embedding(n=n, q=q, error=error, scale=scale, limit=limit)
    rest = None if limit is None else limit - n
    if scale >= 1 or (rest is not None and rest < 1):
        return (plain,)
    return (plain, Embedding(n=n, q=q, error=error, scale=1.0, limit=rest, spent=n))


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
