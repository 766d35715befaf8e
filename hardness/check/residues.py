"""LWE-style families as their specs say them: moduli, secrets, labels and errors.

The family says what its parameters are and whether they are in range, nothing else. The problem
that a certificate poses has to be that of its spec; the probabilities of errors are held against
those that the spec names, worked out here in exact or ball arithmetic.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from typing import Any

from flint import arb, ctx

from hardness.check.reading import integer, listed, number, refuse
from hardness.check.spec import read_family
from instances.capabilities import LINEAR_FORMS
from instances.independence import obstacle
from instances.modular import Modular

_WHOLE = 1 << 64
_MOST_ERRORS = 1 << 15
_FLOAT = 1 << 16  # out of 2^64: what float64 may make of a Gaussian weight
_KINDS = {"gaussian": "wide", "cbd": "wide", **{k: k for k in ("binary", "ternary", "uniform")}}
_TAIL = 12  # standard deviations beyond which a Gaussian has less than 2^-100


def read_residues(spec: str) -> Modular:
    """Read a canonical spec; refuses one of which nothing is certified."""
    family = read_family(spec, LINEAR_FORMS)
    reason = obstacle(family)
    if reason:
        refuse(f"certify refuses its family: {reason}")
    return family


def check_residues(family: Modular, problem: dict[str, Any]) -> None:
    """Hold a problem against a family; raises Refuted for another one."""
    given = {f.name: getattr(family, f.name) for f in fields(family)}
    n, q, need = family.n, family.q, (family.q - 1).bit_length()
    parts = given.get("p") or given.get("parts") or q
    labels = "window" if family.name == "window" else "residue" if parts == q else "interval"
    wanted = {
        "kind": "residues",
        "n": n,
        "q": q,
        "bits": family.bits or (need if q & (q - 1) == 0 else (n * q).bit_length() + 30),
        "secret": {"kind": _KINDS[family.secret], "weight": family.h, "most": _drawn(family)},
        "labels": labels,
        "parts": parts,
        "errors": problem["errors"],
    }
    if problem != wanted:
        refuse("its problem is not that of its spec")
    _check_errors(family, given, problem["errors"])


def _drawn(family: Modular) -> int:
    """6 standard deviations have a probability far above 2^-64, as have all |x| <= 32 of cbd."""
    if family.secret == "gaussian":
        return min(family.q, max(1, int(6 * family.spread)))
    if family.secret == "cbd":
        return min(family.q, int(family.spread), 32)
    return family.q if family.secret == "uniform" else 1


def _check_errors(family: Modular, given: dict[str, Any], errors: Any) -> None:
    """Hold the probabilities of errors against those that a spec names."""
    expected = _probabilities(family, given)
    if (expected is None) != (errors is None):
        refuse("there are errors in the problem and none in its spec, or the other way round")
    if expected is None:
        return
    if len(listed(errors)) != 2:
        refuse("its errors are not the least one and counts")
    first, counts = errors
    least = number(first, -(1 << 40), 1 << 40, "the least error")
    support, slack, weight = expected
    found = {least + i: integer(count) for i, count in enumerate(listed(counts))}
    if not set(found) <= set(support):
        refuse("an error of the problem is not possible")
    for value in support:
        if abs(found.get(value, 0) - weight(value)) > slack:
            refuse(f"the errors of the problem are not those of its spec, as at {value}")


def _probabilities(
    family: Modular, given: dict[str, Any]
) -> tuple[range, int, Callable[[int], int]] | None:
    """The values of errors, 2^64 times their probabilities, and how far counts may be off."""
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
