"""The laws of secrets of small LWE-style families, by enumeration."""

import itertools
import math
from collections import Counter
from fractions import Fraction

from instances.integers import Integers
from instances.modular import Modular, modulus

Law = dict[tuple[int, ...], Fraction]


def entry(family: Modular) -> dict[int, Fraction]:
    """The probabilities of one entry, of one that is not 0 where the weight is fixed."""
    q, kind = family.q, family.secret
    if kind == "uniform":
        values = range(-(q // 2), q - q // 2)
    elif kind in ("binary", "ternary"):
        values = range(0 if kind == "binary" else -1, 2)
    else:
        drawn: Integers = family.secrets.entries
        drawn = drawn.without_zero() if family.h else drawn
        return dict(zip(drawn.values, drawn.weights, strict=True))
    kept = [v for v in values if v or not family.h]
    return dict.fromkeys(kept, Fraction(1, len(kept)))


def vectors(family: Modular) -> Law:
    """The probabilities of all secrets, reduced mod M, of which one entry is a unit."""
    one, m, many = entry(family), modulus(family), family.h or family.n
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


def orthogonal(family: Modular) -> bool:
    """Whether members with secrets different mod M are orthogonal, if alike too."""
    found = family.rounding
    return found.outcomes == found.parts and (family.q % 2 == 1 or modulus(family) == 4)


def representative(family: Modular, secret: tuple[int, ...]) -> tuple[int, ...]:
    """What secrets that are alike have in common, and no others."""
    m = modulus(family)
    unit = next(v for v in secret if math.gcd(v, m) == 1)
    return tuple(v * pow(unit, -1, m) % m for v in secret)


def chi_square(family: Modular) -> Fraction:
    """Of a label against labels of no secret: the mean over t of sum Pr[c|t]^2/Pr[c] - 1."""
    if family.errors is None:
        return Fraction(family.rounding.outcomes - 1)
    folded: Counter[int] = Counter()
    for value, weight in zip(family.errors.values, family.errors.weights, strict=True):
        folded[value % family.q] += weight
    return family.q * sum((w * w for w in folded.values()), Fraction(0)) - 1


def members(family: Modular) -> Law:
    """The same of what is orthogonal: vectors mod M, or classes of those that are alike."""
    found = vectors(family)
    if orthogonal(family):
        return found
    out: Law = Counter()
    for secret, weight in found.items():
        out[representative(family, secret)] += weight
    return out


def least(law: Law, success: Fraction) -> int:
    """How many of the likeliest have the probability."""
    total = Fraction(0)
    for count, weight in enumerate(sorted(law.values(), reverse=True), 1):
        total += weight
        if total >= success:
            return count
    raise AssertionError("the law does not add up")


def likeliest(law: Law, count: int) -> Fraction:
    """The probability of so many of them."""
    return sum(sorted(law.values(), reverse=True)[:count], Fraction(0))


def by_types(one: dict[int, Fraction], many: int, success: Fraction) -> int:
    """The least number of vectors of independent entries with the probability: by their types.

    The vectors without an entry above 0 in absolute value are left out, as for a prime modulus.
    """
    rows: Counter[Fraction] = Counter()
    merged: Counter[Fraction] = Counter(one.values())  # how many values have each probability
    chances = sorted(merged)

    def compositions(left: int, kinds: int) -> list[tuple[int, ...]]:
        if kinds == 1:
            return [(left,)]
        return [(i, *rest) for i in range(left + 1) for rest in compositions(left - i, kinds - 1)]

    for type_ in compositions(many, len(chances)):
        count, chance, left = 1, Fraction(1), many
        for times, p in zip(type_, chances, strict=True):
            count *= math.comb(left, times) * merged[p] ** times
            chance *= p**times
            left -= times
        rows[chance] += count
    rows[one[0] ** many] -= 1
    missing, found = success * (1 - one[0] ** many), 0
    for chance, count in sorted(rows.items(), reverse=True):
        if count * chance >= missing:
            return found + math.ceil(missing / chance)
        missing, found = missing - count * chance, found + count
    raise AssertionError("the law does not add up")
