"""Blum-Kalai-Wasserman: samples that agree on a block of coordinates are subtracted.

Idea: n coordinates fall into t blocks of b or less. Each of t - 1 tables cancels one block: it
holds a sample for each value of the block, up to sign. 2^(t-1) errors have added up in what is
left.

Success: a Fourier transform over the last r coordinates tells their secret, with probability S,
from 8 ln(q^r/(1 - S))/bias^2 samples, bias = |E exp(2 pi i e/q)|^(2^(t-1)) (Hoeffding, union
bound).

Cost: the entries of the tables that pass others, of the samples that pass all, and the transform.

Searched: all b.

Heuristics: errors count as independent of one another and of a. Secrets that are small or sparse
are not made use of.

Source: [BKW03, LF06, ACFFP15, DTV15]
"""

import math
from math import log2

import numpy as np

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack
from hardness.lwe.success import SUCCESS

_MOST_BLOCKS = 1000  # 2^1000 errors: beyond float64


@attack("bkw", "asymptotic formula", "BKW03, LF06, ACFFP15, DTV15")
def bkw(parameters: LweParameters, setting: Setting) -> Fields:
    """Estimate the attack with the block size of least cost.

    >>> from hardness.lwe.parameters import parameters_of
    >>> from hardness.lwe.models import ROUGH
    >>> from instances import parse
    >>> round(bkw(parameters_of(parse("lpn:n=32,noise=0.1")), ROUGH).rop)
    17
    """
    reason = no_bias(parameters)
    if reason or parameters.error is None:
        raise NoEstimate(reason)
    n = parameters.n
    sizes = sorted({-(-n // count) for count in range(1, min(n, _MOST_BLOCKS) + 1)})
    (bits, samples, stored), block = min(
        (costs(n, parameters.q, parameters.error.log_bias, size, setting.success), size)
        for size in sizes
    )
    return {
        "rop": bits,
        "mem": stored,
        "sample_bits": samples,
        "t": -(-n // block) - 1,
        "search": "exhaustive over block sizes",
        "note": f"blocks of {block} coordinates, {-(-n // block) - 1} tables; memory counts "
        "samples of n + 1 numbers; secrets that are small or sparse are not made use of",
    }


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


def no_bias(parameters: LweParameters) -> str:
    """Return why errors tell nothing, or are none; empty if they have a bias."""
    if parameters.error is None or not parameters.error.deviation:
        return "no error: linear algebra does it"
    return "errors are uniform mod q" if parameters.error.log_bias == -math.inf else ""
