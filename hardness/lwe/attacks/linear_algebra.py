"""Gaussian elimination on labels without error.

Idea: samples are linear equations.

Success: S. Of n + k of them n are independent mod a prime p, but for a chance below p^-k/(p - 1),
which is 2^(1-k) at most over all p, and 3^-k over odd ones: k is the least for the primes of q.

Cost: n^3 operations.

Searched: nothing.

Heuristics: none.

Source: [information]
"""

from math import ceil, log2

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack


@attack("linear-algebra", "asymptotic formula", "information")
def linear_algebra(parameters: LweParameters, setting: Setting) -> Fields:
    """Count n^3 operations on n samples and a few more.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parameters_of
    >>> from instances import parse
    >>> linear_algebra(parameters_of(parse("parity:d=65,m=7")), ROUGH).rop
    18.0
    """
    if parameters.error is not None:
        raise NoEstimate("the labels have errors or are rounded")
    misses = -log2(1 - setting.success)
    spare = ceil(misses / log2(3)) if parameters.q % 2 else ceil(misses) + 1
    return {
        "rop": 3 * log2(parameters.n),
        "mem": 2 * log2(parameters.n),
        "sample_bits": log2(parameters.n + spare),
        "search": "nothing is free",
        "note": f"n^3 operations; {spare} samples more than n, for n independent ones",
    }
