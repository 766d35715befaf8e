"""LWE-style families as their specs say them: moduli, secrets, labels and errors.

The family says what its parameters are and whether they are in range, nothing else. Error counts
are held against the probabilities that the spec names, worked out here in exact or ball arithmetic.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpz_poly

from hardness.check.reading import integer, listed, number, refuse
from hardness.check.spec import read_family
from instances.capabilities import LINEAR_FORMS
from instances.independence import obstacle

_WHOLE = 1 << 64
_MOST_ERRORS = 1 << 15
_FLOAT = 1 << 16  # out of 2^64: what float64 may make of a Gaussian weight
_TAIL = 12  # standard deviations beyond which a Gaussian has less than 2^-100


@dataclass(frozen=True, kw_only=True)
class Residues:
    """A family of functions of <a, s> mod q.

    length: bits of a number; levels: of a label, the rarest with probability `rarest`; parts: of
    Z_q in a row that labels tell apart at most; given: the values in the spec.
    """

    name: str
    n: int
    q: int
    h: int
    secret: str
    spread: Fraction
    length: int
    levels: int
    rarest: Fraction
    parts: int
    given: dict[str, Any]


def read_residues(spec: str) -> Residues:
    """Read a canonical spec; refuses one of which nothing is certified."""
    family = read_family(spec, LINEAR_FORMS)
    reason = obstacle(family)
    if reason:
        refuse(f"certify refuses its family: {reason}")
    n, q = family.n, family.q
    given = {f.name: getattr(family, f.name) for f in fields(family)}
    parts = given.get("p") or given.get("parts") or 0
    need = (q - 1).bit_length()
    levels = {"lwr": parts, "lwe": q, "lpn": 2, "window": 2}[family.name]
    return Residues(
        name=family.name,
        n=n,
        q=q,
        h=family.h,
        secret=family.secret,
        spread=family.spread,
        length=family.bits or (need if q & (q - 1) == 0 else (n * q).bit_length() + 30),
        levels=levels,
        rarest=Fraction(1, parts if family.name == "window" else levels),
        parts=parts or q,
        given=given,
    )


def square(family: Residues, errors: dict[str, Any] | None) -> Fraction:
    """Verify the error counts and return chi^2: q Pr[e = e' mod q] - 1, or levels - 1."""
    expected = _probabilities(family)
    if expected is None:
        if errors is not None:
            refuse("there are errors in the evidence, and none in the spec")
        return Fraction(family.levels - 1)
    if not isinstance(errors, dict) or set(errors) != {"least", "counts"}:
        refuse("the errors of the evidence must have least and counts")
    least = number(errors["least"], -(1 << 40), 1 << 40, "the least error")
    counts = [integer(count) for count in listed(errors["counts"])]
    if not 1 <= len(counts) <= _MOST_ERRORS or min(counts) < 1 or sum(counts) != _WHOLE:
        refuse("the error counts are not positive, too many, or do not add up to 2^64")
    support, slack, weight = expected
    found = {least + i: count for i, count in enumerate(counts)}
    if not set(found) <= set(support):
        refuse("an error of the evidence is not possible")
    for value in support:
        if abs(found.get(value, 0) - weight(value)) > slack:
            refuse(f"the errors of the evidence are not those of the spec, as at {value}")
    # e - e' has the distribution of counts times counts reversed; multiples of q count.
    product = fmpz_poly(counts) * fmpz_poly(counts[::-1])
    middle = len(counts) - 1
    equal = sum(int(product[i]) for i in range(middle % family.q, 2 * middle + 1, family.q))
    return Fraction(family.q * equal, _WHOLE**2) - 1


def _probabilities(family: Residues) -> tuple[range, int, Callable[[int], int]] | None:
    """The values of errors, 2^64 times their probabilities, and how far counts may be off."""
    given = family.given
    if family.name == "lpn":
        noise = given["noise"]
        flipped = math.floor(noise * _WHOLE)
        return (range(2), 2, lambda e: flipped if e else _WHOLE - flipped) if noise else None
    if family.name != "lwe":
        return None
    kind = given["error"]
    if kind == "none":
        return None
    if kind == "uniform":
        width = given["width"]
        values = range(-((width - 1) // 2), width // 2 + 1)
        return values, width, lambda e: _WHOLE // width
    if kind == "cbd":
        eta = given["eta"]
        binomial = lambda e: math.comb(2 * eta, eta + e) * _WHOLE // 4**eta  # noqa: E731
        return range(-eta, eta + 1), 2 * eta + 1, binomial
    return _gaussian(given["sigma"] or given["alpha"] * family.q)


def _gaussian(sigma: Fraction) -> tuple[range, int, Callable[[int], int]]:
    """Weights exp(-x^2/(2 sigma^2)) over their sum, in ball arithmetic of 128 bits."""
    most = math.ceil(_TAIL * sigma) + 1
    if most > _MOST_ERRORS:
        refuse("the errors take too many values")
    with ctx.workprec(128):
        scale = arb(-(sigma.denominator**2)) / (2 * sigma.numerator**2)
        weights = [(scale * x * x).exp() for x in range(most + 1)]
        whole = weights[0] + 2 * sum(weights[1:], arb(0))
        counts = [int((_WHOLE * w / whole).mid().floor().fmpz()) for w in weights]
    return range(-most, most + 1), _FLOAT, lambda x: counts[abs(x)]
