"""LWE-style families as their specs say them: moduli, secrets, labels and errors.

The spec is read by its own fields; the family's code is not asked. Error counts are held against
the probabilities that the spec names, worked out here in exact or ball arithmetic.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import arb, ctx, fmpz, fmpz_poly

from hardness.check.reading import integer, number, refuse
from instances.parameters import fraction, plain

_KEYS = {
    "lwr": "beta bits h heads labels n p q secret spread",
    "lwe": "alpha beta bits error eta h heads labels n q secret sigma spread width",
    "lpn": "beta h heads labels n noise",
    "window": "beta bits h heads labels n parts q secret spread",
}
_SIZES = ("alpha", "beta", "noise", "sigma", "spread")
_WORDS = ("error", "heads", "labels", "secret")
_SECRETS = ("binary", "ternary", "uniform", "gaussian", "cbd")
_WHOLE = 1 << 64
_MOST_ERRORS = 1 << 15
_FLOAT = 1 << 16  # out of 2^64: what float64 may make of a Gaussian weight
_TAIL = 12  # standard deviations beyond which a Gaussian has less than 2^-100


@dataclass(frozen=True, kw_only=True)
class Residues:
    """A family of functions of <a, s> mod q.

    length: bits of a number; levels: of a label, the rarest with probability `rarest`; turns: two
    levels that a half turn of Z_q swaps; given: the values in the spec.
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
    turns: bool
    given: dict[str, Any]


def read_residues(spec: str) -> Residues:
    """Read a canonical spec; refuses what is none, or out of range."""
    name, _, rest = spec.partition(":")
    if name not in _KEYS or len(spec) > 2000:
        refuse(f"{spec[:80]!r} is no canonical spec of a family that is checked here")
    pairs = [part.partition("=") for part in rest.split(",")]
    if [key for key, _, _ in pairs] != _KEYS[name].split():
        refuse(f"{spec[:80]!r} is not in its canonical form")
    given = {key: _value(key, value) for key, _, value in pairs}
    if name == "lpn":
        given |= {"q": 2, "secret": "binary", "spread": Fraction(0), "bits": 0}
    n, q, h = given["n"], given["q"], given["h"]
    parts = given.get("p") or given.get("parts") or 0
    two = q & (q - 1) == 0
    sound = (
        1 <= n <= 1 << 16
        and 2 <= q <= 1 << 48
        and (two or fmpz(q).is_prime())
        and 0 <= h <= n
        and (name in ("lwe", "lpn") or (2 <= parts <= q and q % parts == 0))
        and given["secret"] in _SECRETS
        and bool(given["spread"]) == (given["secret"] in ("gaussian", "cbd"))
    )
    need = (q - 1).bit_length()
    bits = given["bits"] or (need if two else (n * q).bit_length() + 30)
    if not sound or not need <= bits <= 120 or (two and bits != need):
        refuse(f"{spec[:80]} is outside of the family's range")
    levels = {"lwr": parts, "lwe": q, "lpn": 2, "window": 2}[name]
    return Residues(
        name=name,
        n=n,
        q=q,
        h=h,
        secret=given["secret"],
        spread=given["spread"],
        length=bits,
        levels=levels,
        rarest=Fraction(1, parts if name == "window" else levels),
        turns=parts == 2,
        given=given,
    )


def _value(key: str, text: str) -> Any:
    if key in _WORDS:
        return text
    if key not in _SIZES:
        if not re.fullmatch(r"0|[1-9]\d{0,17}", text, re.ASCII):
            refuse(f"{key}={text[:40]} is no canonical integer")
        return int(text)
    value = fraction(text, key)
    if plain(value) != text or value < 0:
        refuse(f"{key}={text[:40]} is not in its canonical form")
    return value


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
    counts = [integer(count) for count in errors["counts"]]
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
        if not 0 <= noise < Fraction(1, 2):
            refuse("the noise is not in [0, 1/2)")
        flipped = math.floor(noise * _WHOLE)
        return (range(2), 2, lambda e: flipped if e else _WHOLE - flipped) if noise else None
    if family.name != "lwe":
        return None
    sizes = {"gaussian": ("sigma", "alpha"), "uniform": ("width",), "cbd": ("eta",), "none": ()}
    kind = given["error"]
    if kind not in sizes:
        refuse(f"error={kind[:40]} is not known")
    set_ones = [key for key in ("sigma", "alpha", "width", "eta") if given[key]]
    if len(set_ones) != (kind != "none") or not set(set_ones) <= set(sizes[kind]):
        refuse("the size of the errors is not one that their kind has")
    if kind == "none":
        return None
    if kind == "uniform":
        width = given["width"]
        values = range(-((width - 1) // 2), width // 2 + 1)
        return values, width, lambda e: _WHOLE // width
    if kind == "cbd":
        eta = number(given["eta"], 1, 64, "eta")
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
