"""Blum-Kalai-Wasserman: samples that agree on a block of coordinates are subtracted.

n coordinates fall into t blocks of b or less. Each of t - 1 tables cancels one block: it holds a
sample for each value of the block, up to sign. What is left has 2^(t-1) errors added up, of bias
beta = |E exp(2 pi i e/q)|^(2^(t-1)), and a Fourier transform over the last block of r coordinates
tells its part of the secret from 8 ln(q^r/epsilon)/beta^2 samples (Hoeffding, union bound). The
errors count as independent of one another and of a. [BKW03, LF06, ACFFP15, DTV15]
"""

import math
from math import log2

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate

NAME, SOURCE = "bkw", "BKW03, LF06, ACFFP15, DTV15"
FAILURE = 0.01
_MOST_BLOCKS = 1000  # 2^1000 errors: beyond float64


def costs(n: int, q: int, log_bias: float, block: int) -> tuple[float, float, float]:
    """Compute log2 of operations, samples and stored samples for blocks of b coordinates.

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


def bkw(problem: Problem) -> Estimate:
    """Estimate the plain attack with the block size of least cost.

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> round(bkw(problem(parse("lpn:n=32,noise=0.1"))).bits)
    17
    """
    errors = problem.errors
    reason = "no error: linear algebra does it" if errors is None else ""
    if errors is not None and errors.log_bias == -math.inf:
        reason = "errors are uniform mod q"
    if errors is None or reason:
        return Estimate(name=NAME, kind="asymptotic formula", source=SOURCE, reason=reason)
    n, q = problem.n, problem.q
    sizes = sorted({-(-n // count) for count in range(1, min(n, _MOST_BLOCKS) + 1)})
    block = min(sizes, key=lambda b: costs(n, q, errors.log_bias, b)[0])
    bits, samples, stored = costs(n, q, errors.log_bias, block)
    return Estimate(
        name=NAME,
        kind="asymptotic formula",
        source=SOURCE,
        bits=bits,
        sample_bits=samples + log2(problem.labels),
        memory_bits=stored,
        note=f"blocks of {block} coordinates, {-(-n // block) - 1} tables; memory counts samples "
        "of n + 1 numbers; secrets that are small or sparse are not made use of",
    )


def add(*bits: float) -> float:
    """Add numbers that are given by log2.

    >>> add(3.0, 3.0)
    4.0
    """
    top = max(bits)
    return top if math.isinf(top) else top + log2(sum(2 ** (b - top) for b in bits))
