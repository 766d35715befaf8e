"""Every secret in turn.

Idea: each candidate is compared with the samples.

Success: certain; the samples leave no other candidate with probability S, by the union bound.

Cost: one operation a candidate, an exact count.

Searched: nothing.

Heuristics: none.

Source: [information]
"""

from math import log2

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, attack


@attack("brute-force", "exact count", "information")
def brute_force(parameters: LweParameters, setting: Setting) -> Fields:
    """Count the candidates, exactly, and the labels that single one out.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parameters_of
    >>> from instances import parse
    >>> count = brute_force(parameters_of(parse("parity:d=101,m=4")), ROUGH)
    >>> round(2**count.rop), count.samples
    (3921225, 29)
    """
    return {
        "rop": parameters.size_bits,
        "space": parameters.size_bits,
        "mem": log2(max(1, parameters.n)),
        "sample_bits": log2(parameters.single(setting.success)),
        "search": "nothing is free",
        "note": "one operation a candidate; samples that leave no other candidate",
    }
