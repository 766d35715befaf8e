"""The problem that a family's spec poses, in the numbers that the checker reads.

Makers pose it, and a certificate has to pose that of the spec that it names.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb, ctx

from hardness.bounds.checker import written
from instances.alternating import Alternating, density, hermite
from instances.capabilities import (
    CHARACTERS,
    HIDDEN_DIRECTION,
    LINEAR_FORMS,
    PROVED_AS,
    SCHEME,
)
from instances.disk import digest
from instances.family import Family, require
from instances.lwe import Modular, obstacle
from instances.spec import built_in
from instances.symmetric import Symmetric

if TYPE_CHECKING:
    from instances.families.direction import Direction

Json = dict[str, Any]
Ball = Any  # flint.arb: the package has no types
_BITS = 160
_SLACK = arb(2) ** -60  # of a coefficient: float64 leaves more


def certified_problem(family: Family) -> tuple[Family, Callable[[], Json]] | None:
    """Find what a family's certificate is about, and how to pose it; None for other families.

    It is about hidden sets, residues or a direction: of the family itself, or of what it has as one
    of its capabilities. Raises UsageError for a family of which nothing is certified.

    >>> from instances import parse
    >>> about, problem = certified_problem(parse("parity:d=8,m=3"))
    >>> about.spec, problem()["values"]
    ('parity:d=8,m=3,noise=0,rho=3', ['1', '-1', '1', '-1'])
    """
    if (sets := PROVED_AS.of(family)) and built_in(family):
        return family, lambda: {**hidden_set(sets), "view": "among-others"}
    if (parities := CHARACTERS.of(family)) and built_in(parities):
        return parities, lambda: hidden_set(parities)
    if scheme := SCHEME.of(family):
        return scheme, lambda: hidden_set(scheme)
    if (forms := LINEAR_FORMS.of(family)) and built_in(forms):
        reason = obstacle(forms)
        require(not reason, f"{forms} given: {reason}")
        return forms, lambda: residues(forms)
    if (hidden := HIDDEN_DIRECTION.of(family)) and built_in(hidden):
        return hidden, lambda: direction(hidden)
    return None


def hidden_set(family: Symmetric) -> Json:
    """The places, how many of them are hidden, and what the labels make of them."""
    return {
        "kind": "hidden-set",
        "places": family.d - 1,
        "chosen": family.m,
        "values": [written(Fraction(v)) for v in family.values],
        "noise": written(family.noise),
    }


def digest_of(names: list[str], problem: Json) -> str:
    """Compute the SHA-256 of the names and tables of listed functions, which names them."""
    return digest({"names": names, "signs": problem["signs"], "tables": problem["tables"]})


def residues(family: Modular) -> Json:
    """The moduli, the laws of secrets and errors, and the labels.

    >>> from instances import parse
    >>> residues(parse("lwr:n=64,q=256,p=2,secret=binary,h=6"))["secret"]
    {'weight': 6, 'entries': [1, ['1']]}
    """
    drawn, law = family.errors, family.secrets.law
    counts = law and [str(law.get(v, 0)) for v in range(min(law), max(law) + 1)]
    return {
        "kind": "residues",
        "n": family.n,
        "q": family.q,
        "bits": family.length,
        "secret": {"weight": family.h, "entries": law and [min(law), counts]},
        "labels": "residue" if family.interval == 1 else "interval",
        "parts": family.outcomes,
        "errors": drawn and [drawn.values[0], [str(count) for count in drawn.counts]],
    }


def direction(family: "Direction") -> Json:
    """The dimensions, and bounds on the low Hermite coefficients of what the labels show."""
    return {
        "kind": "direction",
        "dimension": family.d - 2,
        "low": [written(v) for v in low_squares(family)],
        "noise": written(family.noise),
    }


def low_squares(family: "Direction") -> list[Fraction]:
    """Bound g_0^2 .. g_(m-1)^2 of the sign that the labels show.

    >>> from instances import parse
    >>> [float(v) < 1e-30 for v in low_squares(parse("direction:m=3,d=16"))]
    [True, True, True]
    """
    response, m = family.response, family.m
    with ctx.workprec(_BITS):
        # What is even or odd with m, exactly, has no coefficients of the other degrees.
        return [
            _above((abs(_step(response, k)) + _SLACK) ** 2) if (m - k) % 2 == 0 else Fraction(0)
            for k in range(m)
        ]


def _step(response: Alternating, k: int) -> Ball:
    """E s h_k of the signs in closed form: each place t adds 2 (-1)^.. E 1[u > t] h_k."""
    total = arb(0) if k else arb((-1) ** len(response.places))
    for i, t in enumerate(map(arb, response.places)):
        jump = 2 * (-1) ** (len(response.places) - 1 - i)
        above = density(t) * hermite(k, t)[k - 1] if k else (t / arb(2).sqrt()).erfc() / 2
        total += jump * above
    return total / arb(k).fac().sqrt()


def _above(value: Ball) -> Fraction:
    """Round up to three digits."""
    size = math.floor(math.log10(float(value.upper()))) - 2
    digits = int((value * arb(10) ** -size).upper().ceil().unique_fmpz())
    return Fraction(digits) * Fraction(10) ** size
