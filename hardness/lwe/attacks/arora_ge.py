"""Arora-Ge by linear algebra: errors out of w values make equations of degree w in the secret.

Idea: prod_v (b - <a, x> - v) = 0 at x = s, over a field; each monomial of degree up to w counts as
an unknown of linear equations.

Success: certain for bounded errors; Gaussian ones are taken within a range that holds all samples
with probability S.

Cost: the monomials, to the power omega = 2, the least possible.

Searched: the least range of Gaussian errors.

Heuristics: the equations are independent; omega = 2 is optimistic.

Source: [AG11]
"""

import math

import numpy as np

from hardness.lwe.attacks.arora_gb import OMEGA, equations, no_field
from hardness.lwe.models import Setting
from hardness.lwe.parameters import LweParameters
from hardness.lwe.record import Fields, NoEstimate, attack

STRASSEN = 2.807  # the exponent of linear algebra as it is done
_LARGE = 40.0


@attack("arora-ge", "asymptotic formula", "AG11")
def arora_ge(parameters: LweParameters, setting: Setting) -> Fields:
    """Count the monomials and raise them to the power omega = 2, which is optimistic.

    >>> from hardness.lwe.parameters import parse_parameters
    >>> from hardness.lwe.models import ROUGH
    >>> count = arora_ge(parse_parameters("lwe:n=40,q=1601,error=uniform,width=2"), ROUGH)
    >>> count.samples, round(count.rop, 1)
    (860, 19.5)
    """
    reason = no_field(parameters)
    if reason or parameters.error is None:
        raise NoEstimate(reason)
    binary = parameters.secret.values == 2
    degree = parameters.error.values
    if parameters.error.kind == "gaussian":  # t so large that all samples stay within it
        degrees, logs = equations(parameters.error, None, setting.success)
        every = zip(degrees.astype(int).tolist(), (logs / math.log(2)).tolist(), strict=True)
        degree = next(
            (w for w, bits in every if bits >= monomial_bits(parameters.n, w, binary)), parameters.q
        )
    if degree >= parameters.q:
        raise NoEstimate("every element of Z_q is an error")
    count = monomial_bits(parameters.n, degree, binary)
    return {
        "rop": OMEGA * count,
        "mem": 2 * count,
        "d": degree,
        "sample_bits": count,
        "search": "nothing is free",
        "note": f"2^{count:.1f} monomials of degree up to {degree}, to the power omega = "
        f"{OMEGA:g}, the least possible; with omega = {STRASSEN} it is 2^{STRASSEN * count:.1f}",
    }


def monomial_bits(n: int, degree: int, binary: bool = False) -> float:
    """Count monomials of degree 1 .. w in n unknowns: log2(C(n+w, w) - 1); square-free for bits.

    >>> round(2 ** monomial_bits(3, 2)), round(2 ** monomial_bits(3, 2, binary=True))
    (9, 6)
    """
    few, ln_many = min(n, degree), math.log(max(n, degree))
    ln_j = np.log(np.arange(1, few + 1))
    if binary:
        logs = np.cumsum(np.log(n - np.arange(few)) - ln_j)
        return float(np.logaddexp.reduce(logs)) / math.log(2)
    ln = float(np.sum(np.logaddexp(ln_many, ln_j) - ln_j))
    return (math.log(math.expm1(ln)) if ln < _LARGE else ln) / math.log(2)
