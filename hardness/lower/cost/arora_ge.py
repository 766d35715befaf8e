"""Arora-Ge: errors from a set of w values make polynomial equations of degree w in the secret.

prod_v (b - <a, x> - v) = 0 at x = s, over a field. Every monomial becomes an unknown, and
linear algebra solves for them. [AG11]
"""

import math
from math import lgamma, log2

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate
from instances.residues import is_prime

NAME, SOURCE = "arora-ge", "AG11"
OMEGA, STRASSEN = 2.0, 2.807  # exponents of linear algebra: what may be hoped for, what is done
_COUNTED = 4096  # a degree up to which monomials are counted exactly


def monomials(n: int, degree: int, binary: bool = False) -> int:
    """Count monomials of degree 1 .. w in n unknowns: C(n+w, w) - 1; square-free ones for bits.

    >>> monomials(3, 2), monomials(3, 2, binary=True)
    (9, 6)
    """
    if binary:
        return sum(math.comb(n, i) for i in range(1, min(n, degree) + 1))
    return math.comb(n + degree, degree) - 1


def arora_ge(problem: Problem) -> Estimate:
    """Count the monomials and raise them to the power omega = 2, which is optimistic.

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> found = arora_ge(problem(parse("lwe:n=40,q=1601,error=uniform,width=2")))
    >>> found.samples, round(found.bits, 1)
    (860, 19.5)
    """
    reason = _reason(problem)
    if reason or problem.errors is None:
        return Estimate(name=NAME, kind="asymptotic formula", source=SOURCE, reason=reason)
    n, degree = problem.n, problem.errors.values
    binary = problem.secrets.kind == "binary"
    count = _bits(n, degree, binary)
    return Estimate(
        name=NAME,
        kind="asymptotic formula",
        source=SOURCE,
        bits=OMEGA * count,
        d=degree,
        sample_bits=count + log2(problem.labels),
        memory_bits=2 * count,
        note=f"2^{count:.1f} monomials of degree up to {degree}, to the power omega = {OMEGA:g}, "
        f"the least possible; with omega = {STRASSEN} it is 2^{STRASSEN * count:.1f}",
    )


def _bits(n: int, degree: int, binary: bool) -> float:
    if degree <= _COUNTED:
        return log2(monomials(n, degree, binary))
    whole = (lgamma(n + degree + 1) - lgamma(degree + 1) - lgamma(n + 1)) / math.log(2)
    return min(whole, n) if binary else whole


def _reason(problem: Problem) -> str:
    if problem.errors is None:
        return "no error: linear algebra does it"
    if not is_prime(problem.q):
        return (
            f"q = {problem.q} is no prime: only polynomials over Z_q are counted, and the attack "
            "solves others there, for the lowest bits"
        )
    if problem.errors.values >= problem.q:
        return "every element of Z_q is an error"
    return ""
