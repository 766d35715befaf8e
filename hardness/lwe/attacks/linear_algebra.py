"""Gaussian elimination on labels without error.

Idea: n samples are n linear equations.

Success: certain, if there is no error.

Cost: n^3 operations.

Searched: nothing.

Heuristics: none.

Source: [information]
"""

from math import log2

from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Estimate


def linear_algebra(parameters: LweParameters, _: Setting) -> Estimate:
    """Count n^3 operations on n samples.

    >>> from hardness.lwe.models import ROUGH
    >>> from hardness.lwe.parameters import parameters_of
    >>> from instances import parse
    >>> linear_algebra(parameters_of(parse("parity:d=65,m=7")), ROUGH).rop
    18.0
    """
    if parameters.error is not None:
        return Estimate(
            name="linear-algebra",
            kind="asymptotic formula",
            source="information",
            reason="the labels have errors or are rounded",
        )
    return Estimate(
        name="linear-algebra",
        kind="asymptotic formula",
        source="information",
        rop=3 * log2(parameters.n),
        mem=2 * log2(parameters.n),
        sample_bits=log2(parameters.n),
        search="nothing is free",
        note="n^3 operations on n samples",
    )
