"""The laws of secrets and errors of LWE-style families: as specs name them, and by enumeration."""

import itertools
import math
from collections import Counter
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from instances.lwe import Modular, modulus
from instances.symmetric import python_fraction

Law = dict[tuple[int, ...], Fraction]


def vectors(family: Modular) -> Law:
    """The probabilities of all secrets, reduced mod M, of which one entry is a unit."""
    m, many = modulus(family), family.h or family.n
    one = named_entries(family) or alike(range(bool(family.h), family.q))
    out: Law = Counter()
    for places in itertools.combinations(range(family.n), many):
        for values in itertools.product(one, repeat=many):
            if any(math.gcd(v, family.q) == 1 for v in values):
                secret = [0] * family.n
                for place, value in zip(places, values, strict=True):
                    secret[place] = value % m
                out[tuple(secret)] += math.prod(one[v] for v in values)
    whole = sum(out.values())
    return {secret: weight / whole for secret, weight in out.items()}


def representative(family: Modular, secret: tuple[int, ...]) -> tuple[int, ...]:
    """What secrets that are alike have in common, and no others."""
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)


def chi_square(family: Modular) -> Fraction:
    """Of a label against labels of no secret: the mean over t of sum Pr[c|t]^2/Pr[c] - 1."""
    if family.errors is None:
        return Fraction(family.outcomes - 1)
    counts = family.errors.residues(family.q).values()
    return family.q * sum(Fraction(c, 2**64) ** 2 for c in counts) - 1


def named_entries(family: Modular) -> dict[int, Fraction] | None:
    """The law of an entry of the secret that a spec names, not 0 where the weight is fixed.

    None for all of Z_q alike.
    """
    kind, spread = family.secret, family.spread
    if kind == "uniform":
        return None
    if kind == "gaussian":
        law = gaussian(Fraction(spread))
    elif kind == "cbd":
        law = binomial(int(spread))
    else:
        law = alike(range(0 if kind == "binary" else -1, 2))
    if family.h:
        part = 1 - law.pop(0)
        law = {value: chance / part for value, chance in law.items()}
    return law


def named_errors(family: Any) -> dict[int, Fraction] | None:
    """The law of errors that a spec names; None for none."""
    if family.name == "lpn":
        return {0: 1 - family.noise, 1: family.noise} if family.noise else None
    if family.name != "lwe" or family.error == "none":
        return None
    if family.error == "uniform":
        return alike(range(-((family.width - 1) // 2), family.width // 2 + 1))
    if family.error == "cbd":
        return binomial(family.eta)
    return gaussian(Fraction(family.sigma or family.alpha * family.q))


def alike(values: range) -> dict[int, Fraction]:
    """Each value as likely."""
    return dict.fromkeys(values, Fraction(1, len(values)))


def binomial(eta: int) -> dict[int, Fraction]:
    """Differences of two sums of eta coins."""
    return {v: Fraction(math.comb(2 * eta, eta + v), 4**eta) for v in range(-eta, eta + 1)}


def gaussian(sigma: Fraction) -> dict[int, Fraction]:
    """Weights exp(-x^2/(2 sigma^2)) over their sum, in ball arithmetic of 128 bits."""
    most = math.ceil(12 * sigma) + 1  # beyond is less than 2^-100
    with ctx.workprec(128):
        scale = arb(-(sigma.denominator**2)) / (2 * sigma.numerator**2)
        weights = [(scale * x * x).exp() for x in range(most + 1)]
        whole = weights[0] + 2 * sum(weights[1:], arb(0))
        chances = [python_fraction((w / whole).mid().fmpq()) for w in weights]
    return {x: chances[abs(x)] for x in range(-most, most + 1)}
