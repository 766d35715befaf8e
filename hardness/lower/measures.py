"""The measures of a family of symmetric functions in one table, exactly."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from flint import fmpq

from hardness.claims.measures import NOTIONS, SCOPE, WEIGHTS
from hardness.lower.johnson import Johnson
from hardness.lower.record import text
from hardness.measures import (
    approximate_values,
    average_sensitivity,
    degree,
    least_degree,
    noise_sensitivity,
    shares,
    sq_leap,
    stability,
    total_influence,
    weights,
)
from instances.errors import UsageError
from instances.family import Family, require
from instances.krawtchouk import coefficients
from instances.spec import FAMILIES
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational

Known = Literal["exact", "float64", "not defined"]
_PLAIN = Decimal("0.0001"), Decimal(1000000)  # sizes that are written without an exponent


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One number about a family: an integer or rational as a string, and how it is known."""

    name: str
    value: str | None  # None where it is not defined, for a reason
    kind: Known
    parameters: dict[str, str]
    meaning: str
    source: str  # key in docs/references.md
    reason: str | None = None

    @property
    def decimal(self) -> str | None:
        """The value in six digits; None where there is no value."""
        return None if self.value is None else decimal(self.value)

    def to_json(self) -> dict[str, Any]:
        """Write the row."""
        return {
            "name": self.name,
            "value": self.value,
            "decimal": self.decimal,
            "kind": self.kind,
            "parameters": self.parameters,
            "meaning": self.meaning,
            "source": self.source,
            "reason": self.reason,
        }


@dataclass(frozen=True, kw_only=True)
class Measures:
    """The measures of a family, and its weight by degree: shares of the variance, k = 0 .. m."""

    spec: str
    rows: tuple[Measure, ...]
    weights: tuple[str, ...]
    scope: str = SCOPE

    def value(self, name: str) -> str | None:
        """Return a measure's value; raises KeyError."""
        return {row.name: row.value for row in self.rows}[name]

    def to_json(self) -> dict[str, Any]:
        """Write all rows, and the degrees that have weight."""
        return {
            "spec": self.spec,
            "measures": [row.to_json() for row in self.rows],
            "weights": [
                {"degree": k, "share": share, "decimal": decimal(share)}
                for k, share in enumerate(self.weights)
                if share != "0"
            ],
            "weights_meaning": WEIGHTS.meaning,
            "weights_source": WEIGHTS.source,
            "scope": self.scope,
        }


def measures(family: Family, sensitivity: Fraction = Fraction(1, 10)) -> Measures:
    """Measure a parity or a profile; sensitivity: the probability delta that a bit is flipped.

    Raises UsageError for another family, and for a delta out of [0, 1].

    >>> from instances import parse
    >>> found = measures(parse("parity:d=1000,m=21"))
    >>> [found.value(f"SQ-leap, {heads} heads") for heads in ("exact", "approximate")]
    ['21', '1']
    """
    require(
        0 <= sensitivity <= 1,
        f"sensitivity={sensitivity} given: a probability is needed, at least 0 and at most 1",
    )
    if not isinstance(family, Symmetric) or family.name not in FAMILIES:
        raise UsageError(
            f"{family.name} given: measures are of parity and profile; `hardness certify` and "
            "`hardness spectrum` say what is known of other families"
        )
    found = _Symmetric(family=family, delta=rational(sensitivity))
    rows = tuple(_row(found, name, of) for name, of in _ROWS.items())
    return Measures(spec=family.spec, rows=rows, weights=tuple(map(text, found.shares)))


@dataclass(frozen=True, kw_only=True)
class _Symmetric:
    """What the measures of a symmetric function have in common."""

    family: Symmetric
    delta: Rational

    @cached_property
    def scheme(self) -> Johnson:
        return Johnson.family(self.family)

    @cached_property
    def weights(self) -> list[Rational]:
        return weights(self.family.fourier)

    @cached_property
    def shares(self) -> list[Rational]:
        return shares(self.weights)

    @cached_property
    def approximate(self) -> list[Any]:
        return approximate_values(self.family.values, self.family.rho)[0]

    @property
    def bias(self) -> Rational | str:
        family = self.family
        if not family.two_valued:
            return f"g takes {len(set(family.values))} values"
        half = (max(family.values) - min(family.values)) / 2
        return (family.fourier[0] - rational(family.centre)) / rational(half)


_ROWS: dict[str, Callable[[_Symmetric], Any]] = {
    "members": lambda of: of.family.size,
    "log2 members": lambda of: math.log2(of.family.size),
    "mean": lambda of: of.family.fourier[0],
    "variance": lambda of: of.scheme.norm,
    "bias": lambda of: of.bias,
    "degree": lambda of: degree(of.weights),
    "information exponent": lambda of: least_degree(of.weights),
    # Leaps of symmetric functions are the least degrees: docs/named-mathematics.md has the proof.
    "leap": lambda of: least_degree(of.weights),
    "SQ-leap, exact heads": lambda of: sq_leap(of.family.values),
    "SQ-leap, approximate heads": lambda of: sq_leap(of.approximate),
    "leap, approximate heads": lambda of: least_degree(weights(coefficients(of.approximate))),
    "average correlation": lambda of: of.scheme.average / of.scheme.norm,
    "cross-predictability": lambda of: of.scheme.cross_predictability / of.scheme.norm**2,
    "total influence": lambda of: total_influence(of.weights),
    "largest influence": lambda of: total_influence(of.weights) / of.family.m,
    "average sensitivity": lambda of: average_sensitivity(of.family.values),
    "noise sensitivity": lambda of: noise_sensitivity(of.family.values, of.delta),
    "noise stability": lambda of: stability(of.shares, 1 - 2 * of.delta),
}


def _row(of: _Symmetric, name: str, measure: Callable[[_Symmetric], Any]) -> Measure:
    """Make a row: a string is the reason why there is no value, a float is no exact number."""
    value, notion = measure(of), NOTIONS[name]
    kind: Known = "exact"
    shown, reason = None, None
    if isinstance(value, str):
        kind, reason = "not defined", value
    elif isinstance(value, float):
        kind, shown = "float64", repr(value)
    else:
        shown = text(fmpq(value))
    return Measure(
        name=name,
        value=shown,
        kind=kind,
        parameters=_parameters(of, name),
        meaning=notion.meaning,
        source=notion.source,
        reason=reason,
    )


def _parameters(of: _Symmetric, name: str) -> dict[str, str]:
    if name.startswith("noise"):
        return {"delta": text(of.delta)}
    return {"rho": str(of.family.rho)} if name.endswith("approximate heads") else {}


def decimal(value: str) -> str:
    """Write an integer or rational of any size in six digits.

    >>> decimal("1/3"), decimal("-7"), decimal("1" + "0" * 50), decimal("1/300000")
    ('0.333333', '-7', '1.00000e+50', '3.33333e-6')
    """
    top, _, bottom = value.partition("/")
    found = Decimal(top) / Decimal(bottom or 1)
    plain = not found or _PLAIN[0] <= abs(found) < _PLAIN[1]
    return f"{found:.6g}" if plain else f"{found:.5e}"
