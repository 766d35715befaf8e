"""LWE-style families as their specs say them: moduli, secrets, labels and errors.

The family says what its parameters are and whether they are in range, nothing else. The problem
that a certificate poses has to be that of its spec; the laws of secrets and errors are held against
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
from instances.modular import Modular, obstacle
from instances.threshold import python_fraction

_WHOLE = Fraction(1)
_ROUNDED = Fraction(1, 1 << 64)
_FLOAT = Fraction(1, 1 << 48)
_MOST_VALUES = 1 << 15
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
    if "entries" not in problem["secret"]:
        refuse("its secret has no law, as in earlier versions: make the certificate again")
    given = {f.name: getattr(family, f.name) for f in fields(family)}
    n, q, need = family.n, family.q, (family.q - 1).bit_length()
    parts = given.get("p") or given.get("parts") or q
    labels = "window" if family.name == "window" else "residue" if parts == q else "interval"
    wanted = {
        "kind": "residues",
        "n": n,
        "q": q,
        "bits": family.bits or (need if q & (q - 1) == 0 else (n * q).bit_length() + 30),
        "secret": {"weight": family.h, "entries": problem["secret"]["entries"]},
        "labels": labels,
        "parts": parts,
        "errors": problem["errors"],
    }
    if problem != wanted:
        refuse("its problem is not that of its spec")
    _hold("errors", problem["errors"], _errors(family, given))
    _hold("entries", problem["secret"]["entries"], _entries(family))


Law = tuple[range, Callable[[int], Fraction], Fraction]


def _hold(what: str, given: Any, expected: Law | None) -> None:
    """Hold a law against that of a spec: its values, their probabilities, what rounding divides.

    A probability is rounded to a multiple of 2^-64, the likeliest takes what the others leave, and
    float64 makes the weights of a Gaussian: 2^-48 of a probability is far more than it may be off.
    """
    if (expected is None) != (given is None):
        refuse(f"there are {what} in the problem and none in its spec, or the other way round")
    if expected is None:
        return
    if len(listed(given)) != 2:
        refuse(f"its {what} are not the least one and counts")
    least = number(given[0], -(1 << 40), 1 << 40, f"the least of {what}")
    found = {least + i: integer(count) for i, count in enumerate(listed(given[1]))}
    support, chance, part = expected
    if min(found.values(), default=-1) < 0 or not {v for v in found if found[v]} <= set(support):
        refuse(f"a value of its {what} is not possible")
    whole, rounded = sum(found.values()), len(support) * _ROUNDED / part
    for value in support:
        off = abs(Fraction(found.get(value, 0), whole or 1) - chance(value))
        if off > rounded + chance(value) * _FLOAT:
            refuse(f"the {what} of the problem are not those of its spec, as at {value}")


def _errors(family: Modular, given: dict[str, Any]) -> Law | None:
    """The law of errors that a spec names; None for none."""
    if family.name == "lpn":
        noise = given["noise"]
        return (range(2), lambda e: noise if e else 1 - noise, _WHOLE) if noise else None
    if family.name != "lwe" or given["error"] == "none":
        return None
    if given["error"] == "uniform":
        width = given["width"]
        return _alike(range(-((width - 1) // 2), width // 2 + 1))
    if given["error"] == "cbd":
        return _binomial(given["eta"])
    return _gaussian(given["sigma"] or given["alpha"] * family.q)


def _entries(family: Modular) -> Law | None:
    """The law of an entry of the secret that a spec names; None for all of Z_q alike."""
    kind, spread = family.secret, family.spread
    if kind == "uniform":
        return None
    if kind in ("binary", "ternary"):
        values, chance, _ = _alike(range(0 if kind == "binary" else -1, 2))
    else:
        values, chance, _ = _gaussian(spread) if kind == "gaussian" else _binomial(int(spread))
    if not family.h:
        return values, chance, _WHOLE
    part = 1 - chance(0)
    return values, lambda v: chance(v) / part if v else Fraction(0), part


def _alike(values: range) -> Law:
    return values, lambda v: Fraction(1, len(values)), _WHOLE


def _binomial(eta: int) -> Law:
    values = range(-eta, eta + 1)
    return values, lambda v: Fraction(math.comb(2 * eta, eta + v), 4**eta), _WHOLE


def _gaussian(sigma: Fraction) -> Law:
    """Weights exp(-x^2/(2 sigma^2)) over their sum, in ball arithmetic of 128 bits."""
    most = math.ceil(_TAIL * sigma) + 1
    if most > _MOST_VALUES:
        refuse("a normal law takes too many values")
    with ctx.workprec(128):
        scale = arb(-(sigma.denominator**2)) / (2 * sigma.numerator**2)
        weights = [(scale * x * x).exp() for x in range(most + 1)]
        whole = weights[0] + 2 * sum(weights[1:], arb(0))
        chances = [python_fraction((w / whole).mid().fmpq()) for w in weights]
    return range(-most, most + 1), lambda x: chances[abs(x)], _WHOLE
