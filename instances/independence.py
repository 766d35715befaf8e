"""Which members of an LWE-style family are independent: what makes them SQ-hard.

Two secrets are alike if one is a unit of Z_M times the other, mod M. Over a prime q M is q; for q =
2^l and labels of so many equal intervals of Z_q it is 2 q/intervals. For a uniform on
Z_q^n the labels of secrets that are not alike are independent. docs/mathematics.md has the proofs.
"""

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from instances.family import Secret
from instances.integers import Integers

if TYPE_CHECKING:
    from instances.modular import Modular

MOST_VALUES = 1 << 15
_LEAST_SPREAD = Fraction(1, 8)  # of a Gaussian secret: 1 and -1 are certainly drawn above


def modulus(family: "Modular") -> int:
    """Return M: secrets are alike if they are the same mod M up to a unit of Z_M.

    >>> from instances import parse
    >>> [modulus(parse(f"lwr:n=4,q={q},p={p},secret=binary")) for q, p in ((7, 7), (8, 4), (8, 2))]
    [7, 4, 8]
    """
    return family.q if family.q % 2 else 2 * family.q // family.intervals


def representative(family: "Modular", secret: Secret) -> Secret:
    """Return what alike secrets have in common, and no others.

    >>> from instances import parse
    >>> family = parse("lwr:n=2,q=8,p=2,secret=uniform")
    >>> representative(family, (2, 3)), representative(family, (-2, -3))
    ((6, 1), (6, 1))
    """
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)


def obstacle(family: "Modular") -> str | None:
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
    if family.errors and len(family.errors.values) > MOST_VALUES:
        return f"errors take more than {MOST_VALUES} values: lower the error"
    if (law := family.secrets.law) and len(law) > MOST_VALUES:
        return f"entries of the secret take more than {MOST_VALUES} values: lower the spread"
    if family.h and law and any(v % modulus(family) == 0 for v in law):
        return (
            f"h={family.h} with secret={family.secret}: no bound is known where one of the entries "
            f"that are not 0 is 0 mod {modulus(family)}; leave h out"
        )
    if family.labels == "layer" and not family.layer_error.exact:
        return (
            "labels=layer: that the layer rounded to its levels is the formula is "
            f"{family.layer_error}; take labels=formula"
        )
    if not chi_square(family):
        return "labels do not depend on the secret: lower the error"
    return None


def chi_square(family: "Modular") -> Fraction:
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
