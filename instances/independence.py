"""Which members of an LWE-style family are independent: what makes families of them SQ-hard.

For a uniform on Z_q^n the pair <a, s>, <a, s'> is uniform on Z_q^2 where s and s' are different
points of a projective space: over a prime q, where neither is a multiple of the other; for q = 2^l,
where they are different mod 2. Where a half turn of Z_q swaps two labels, it is enough that neither
is an odd multiple of the other. docs/mathematics.md has the proofs.
"""

import math
from fractions import Fraction
from typing import Literal

from instances.family import Hardness, Secret
from instances.integers import Integers
from instances.modular import Modular

Rule = Literal["lines", "bits", "halves"]
WORDS: dict[Rule, str] = {
    "lines": "no multiples of each other mod q",
    "bits": "different mod 2",
    "halves": "no odd multiples of each other mod q",
}
MOST_ERRORS = 1 << 15
_LEAST_SPREAD = Fraction(1, 8)  # of a Gaussian secret: 1 and -1 are certainly drawn above


def rule(family: Modular) -> Rule:
    """Say which secrets of a family have independent members.

    >>> from instances import parse
    >>> [rule(parse(f"lwr:n=4,q={q},p={p},secret=binary")) for q, p in ((7, 7), (8, 4), (8, 2))]
    ['lines', 'bits', 'halves']
    """
    if family.q % 2:
        return "lines"
    return "halves" if family.turns and family.q > 2 else "bits"


def representative(family: Modular, secret: Secret) -> Secret:
    """Return what secrets have in common exactly where their members are not independent.

    >>> from instances import parse
    >>> family = parse("lwr:n=2,q=8,p=2,secret=uniform")
    >>> representative(family, (2, 3)), representative(family, (-2, -3))
    ((6, 1), (6, 1))
    """
    q = family.q
    if rule(family) == "bits":
        return tuple(v % 2 for v in secret)
    unit = next(v for v in secret if math.gcd(v, q) == 1)
    return tuple(v * pow(unit, -1, q) % q for v in secret)


def obstacle(family: Modular) -> str | None:
    """Say why nothing is certified about a family; None where it is."""
    if family.q % 2 and 2 * family.n * family.q > 1 << family.length:
        return (
            f"bits={family.length} leaves a far from uniform: take bits of at least "
            f"{(2 * family.n * family.q).bit_length()}"
        )
    if family.secret == "gaussian" and family.spread < _LEAST_SPREAD:
        return (
            f"secrets with spread={family.spread} are nearly all 0: take at least {_LEAST_SPREAD}"
        )
    if family.errors and len(family.errors.values) > MOST_ERRORS:
        return f"errors take more than {MOST_ERRORS} values: lower the error"
    if not chi_square(family):
        return "labels do not depend on the secret: lower the error"
    return None


def hardness_of(family: Modular, otherwise: str) -> Hardness:
    """Say what is known of a family: exact for statistical queries where members are independent.

    otherwise: what is to be said about all other algorithms.
    """
    reason = obstacle(family)
    if reason:
        return Hardness(evidence="assumption", why=f"{otherwise}; no certificate: {reason}")
    return Hardness(
        evidence="exact",
        why="independent members: exact for statistical queries, and lattice attacks ask none; "
        f"for all algorithms: {otherwise}",
    )


def chi_square(family: Modular) -> Fraction:
    """Compute the chi-square of a label against labels of no secret, t = <a, s> uniform, exactly.

    It is the mean over t of sum_c Pr[c | t]^2 / Pr[c], less 1: the number of levels less 1 where
    there is no error, else q sum_e Pr[e]^2 - 1.

    >>> from instances import parse
    >>> specs = ("lwr:n=4,q=16,p=4", "lwe:n=4,q=17,error=uniform,width=2")
    >>> [str(chi_square(parse(spec))) for spec in specs]
    ['3', '15/2']
    """
    if family.errors is None:
        return Fraction(family.outcomes - 1)
    folded = fold(family.errors, family.q)
    return family.q * sum((w * w for w in folded.values()), Fraction(0)) - 1


def fold(errors: Integers, q: int) -> dict[int, Fraction]:
    """Reduce a distribution mod q: probabilities by residue, without those that are 0.

    >>> from instances.integers import uniform
    >>> fold(uniform((0, 4)), 4)
    {0: Fraction(1, 1)}
    """
    out: dict[int, Fraction] = {}
    for value, weight in zip(errors.values, errors.weights, strict=True):
        out[value % q] = out.get(value % q, Fraction(0)) + weight
    return out
