"""The measures of a family in one table, exactly.

Of hidden sets every member has the same ones, in closed form. Of another family with tables over z
they are those of one member.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.kernels.walsh import transform
from hardness.lower.gram import correlations
from hardness.lower.johnson import Johnson
from hardness.measures.approximate import approximate_values
from hardness.measures.function import (
    degree,
    leap,
    least_degree,
    level_weights,
    shares,
    stability,
    total_influence,
    weights,
)
from hardness.measures.words import NOTIONS, SCOPE, SCOPE_MEMBER, WEIGHTS
from instances.capabilities import CODED, FACTOR, SCHEME
from instances.coded import FactorTables
from instances.errors import ToolkitError
from instances.export import frame
from instances.family import Family, Secret, require
from instances.krawtchouk import coefficients
from instances.result import Result, TableRow
from instances.symmetric import Symmetric
from instances.text import exact
from instances.threshold import Rational, python_fraction, rational

if TYPE_CHECKING:
    from pandas import DataFrame

Known = Literal["exact", "float64", "not defined"]
_LONG = 20  # characters of a value that is shown in full
_MOST_SUM = 1 << 31  # its square is an int64, and by Parseval so is the sum of all squares
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

    def to_dict(self) -> dict[str, Any]:
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


@dataclass(frozen=True, kw_only=True, repr=False)
class Measures(Result):
    """The measures of a family, and its weight by degree: shares of the variance, k = 0 .. m.

    member: the one that they are of; None where all have the same.
    """

    spec: str
    rows: tuple[Measure, ...]
    weights: tuple[str, ...]
    scope: str = SCOPE
    member: Secret | None = None

    def value(self, name: str) -> str | None:
        """Return a measure's value; raises KeyError."""
        return {row.name: row.value for row in self.rows}[name]

    def _summary(self) -> tuple[str, list[TableRow]]:
        return f"Measures of {self.spec}", [
            {"measure": m.name, "value": _shown(m), "known": m.kind, "source": m.source}
            for m in self.rows
        ]

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame, one row a measure; values are exact, so texts."""
        return frame([m.to_dict() for m in self.rows])

    def to_dict(self) -> dict[str, Any]:
        """Write all rows, and the degrees that have weight."""
        return {
            "spec": self.spec,
            "member": None if self.member is None else list(self.member),
            "measures": [row.to_dict() for row in self.rows],
            "weights": [
                {"degree": k, "share": share, "decimal": decimal(share)}
                for k, share in enumerate(self.weights)
                if share != "0"
            ],
            "weights_meaning": WEIGHTS.meaning,
            "weights_source": WEIGHTS.source,
            "scope": self.scope,
        }


def _shown(found: Measure) -> str | None:
    """Write an exact value in full where it is short, and else say that six digits are about it."""
    if found.value is None or found.kind != "exact" or found.value == found.decimal:
        return found.decimal
    return found.value if len(found.value) <= _LONG else f"about {found.decimal}"


def measures(
    family: Family, sensitivity: Fraction = Fraction(1, 10), secret: Secret | None = None
) -> Measures:
    """Measure a family; sensitivity: the probability delta that a bit is flipped.

    secret: of the member that is measured where members differ, by default that of seed 0. Raises
    UsageError for a family without hidden sets and without tables over z, and for a delta out of
    [0, 1].

    >>> from instances import parse
    >>> found = measures(parse("parity:d=1000,m=21"))
    >>> [found.value(f"SQ-leap, {heads} heads") for heads in ("exact", "approximate")]
    ['21', '1']
    """
    require(
        0 <= sensitivity <= 1,
        f"sensitivity={sensitivity} given: a probability is needed, at least 0 and at most 1",
    )
    member = None
    if scheme := SCHEME.of(family):
        coded = CODED.of(family)
        # Of a map on top of one head, or of hardmax, softmax heads of a parity would say nothing.
        found = _of_sets(scheme, scheme.kind == "softmax" and not (coded and coded.outer_text))
    else:
        tables = FACTOR.need(family)
        member = family.instance(0).hidden.secret if secret is None else secret
        found = _of_member(tables, member)
    delta = rational(sensitivity)
    return Measures(
        spec=family.spec,
        rows=tuple(_row(name, value, delta, family) for name, value in found.rows(delta).items()),
        weights=tuple(map(_text, found.shares)),
        scope=SCOPE if member is None else SCOPE_MEMBER,
        member=member,
    )


@dataclass(frozen=True, kw_only=True)
class _Function:
    """What the measures of one function follow from: a reason, as text, where a number is missing.

    used: its values. weights, levels: of itself and of its level sets, by degree. influence: the
    largest of one bit. pairs: means of the correlations and of their squares, over all pairs of
    members. approximate: SQ-leap and leap of approximate heads, where these are measured.
    """

    size: int | None
    mean: Rational
    used: Sequence[Fraction]
    weights: list[Rational]
    levels: list[Rational]
    leap: int
    sq_leap: int
    influence: Rational
    pairs: tuple[Any, Any]
    exact_heads: bool = False
    approximate: tuple[int, int] | None = None

    @property
    def shares(self) -> list[Rational]:
        """The part of the variance that each degree has."""
        return shares(self.weights) if any(self.weights[1:]) else [fmpq(0)]

    @property
    def bias(self) -> Rational | str:
        """The mean with the two values written as +1 and -1."""
        values = set(self.used)
        if len(values) != 2:
            return f"{'g' if self.exact_heads else 'f'} takes {len(values)} values"
        high, low = rational(max(values)), rational(min(values))
        return (2 * self.mean - high - low) / (high - low)

    def rows(self, delta: Rational) -> dict[str, Any]:
        """All measures by name; text is the reason why there is none."""
        unknown, kept = "not known", 1 - 2 * delta
        found: dict[str, Any] = {
            "members": unknown if self.size is None else self.size,
            "log2 members": unknown if self.size is None else math.log2(self.size),
            "mean": self.mean,
            "variance": sum(self.weights[1:], fmpq(0)),
            "bias": self.bias,
            "degree": degree(self.weights),
            "information exponent": least_degree(self.weights),
            "leap": self.leap,
            "SQ-leap, exact heads" if self.exact_heads else "SQ-leap": self.sq_leap,
        }
        if self.approximate:
            found["SQ-leap, approximate heads"], found["leap, approximate heads"] = self.approximate
        found["average correlation"], found["cross-predictability"] = self.pairs
        return found | {
            "total influence": total_influence(self.weights),
            "largest influence": self.influence,
            "average sensitivity": 2 * total_influence(self.levels),
            "noise sensitivity": 1 - stability(self.levels, kept),
            "noise stability": stability(self.shares, kept),
        }


def _of_sets(family: Symmetric, softmax: bool) -> _Function:
    """A symmetric function, of every member: in closed form."""
    scheme, weight = Johnson.family(family), weights(family.fourier)
    levels, approximate = level_weights(family.values), None
    if softmax:
        near = approximate_values(family.values, family.rho)[0]
        found = level_weights(near), weights(coefficients(near))
        approximate = least_degree(found[0]), least_degree(found[1])
    return _Function(
        size=family.size,
        mean=family.fourier[0],
        used=family.values,
        weights=weight,
        levels=levels,
        leap=least_degree(weight),
        sq_leap=least_degree(levels),
        influence=total_influence(weight) / family.m,
        pairs=(scheme.average / scheme.norm, scheme.cross_predictability / scheme.norm**2),
        exact_heads=True,
        approximate=approximate,
    )


def _of_member(tables: FactorTables, secret: Secret) -> _Function:
    """The factor of one member, from its values over z as whole numbers."""
    family, n = tables.family, tables.n
    unit = math.lcm(*(v.denominator for v in family.levels))  # makes levels whole numbers
    whole = [int(v * unit) for v in family.levels]
    if max(map(abs, whole)) << n >= _MOST_SUM:
        raise ToolkitError(
            f"{family.spec[:200]}: sums of its levels over all z are beyond the 2^31 that are "
            "squared exactly: lower d"
        )
    codes = tables.codes(secret)
    there = np.unique(codes)
    sums = _transformed(np.array(whole, np.float64)[codes])  # 2^n unit f^(T)
    levels, some = [0] * (n + 1), np.zeros(1 << n, np.bool_)
    for code in there:
        found = _transformed((codes == code).astype(np.float64))
        levels = [a + b for a, b in zip(levels, _squares(found), strict=True)]
        some |= found != 0
    by_bit = [int((sums**2).reshape(-1, 2, 1 << j)[:, 1].sum()) for j in range(n)]
    scale = (unit << n) ** 2
    pairs: tuple[Any, Any]
    try:
        all_of_them = correlations(tables)
        pairs = float(all_of_them.mean()), float((all_of_them**2).mean())
    except ToolkitError as error:
        pairs = str(error), str(error)
    return _Function(
        size=tables.family.size,
        mean=fmpq(int(sums[0]), unit << n),
        used=[family.levels[i] for i in there],
        weights=[fmpq(v, scale) for v in _squares(sums)],
        levels=[fmpq(v, 4**n) for v in levels],
        leap=leap(np.flatnonzero(sums)),
        sq_leap=leap(np.flatnonzero(some)),
        influence=fmpq(max(by_bit), scale),
        pairs=pairs,
    )


def _transformed(values: NDArray[np.float64]) -> NDArray[np.int64]:
    transform(values)
    return values.astype(np.int64)


def _squares(sums: NDArray[np.int64]) -> list[int]:
    """Sum squares by the number of ones of the index: n + 1 whole numbers."""
    n = len(sums).bit_length() - 1
    ones, squares = np.bitwise_count(np.arange(len(sums))), sums**2
    return [int(squares[ones == k].sum()) for k in range(n + 1)]


def _row(name: str, value: Any, delta: Rational, family: Family) -> Measure:
    """Make a row: a string is the reason why there is no value, a float is no exact number."""
    kind: Known = "exact"
    shown, reason = None, None
    if isinstance(value, str):
        kind, reason = "not defined", value
    elif isinstance(value, float):
        kind, shown = "float64", repr(value)
    else:
        shown = _text(fmpq(value))
    given = {"delta": _text(delta)} if name.startswith("noise") else {}
    if name.endswith("approximate heads"):
        given = {"rho": str(SCHEME.need(family).rho)}
    return Measure(
        name=name,
        value=shown,
        kind=kind,
        parameters=given,
        meaning=NOTIONS[name].meaning,
        source=NOTIONS[name].source,
        reason=reason,
    )


def _text(value: Rational) -> str:
    return exact(python_fraction(value))


def decimal(value: str) -> str:
    """Write an integer or rational of any size in six digits.

    >>> decimal("1/3"), decimal("-7"), decimal("1" + "0" * 50), decimal("1/300000")
    ('0.333333', '-7', '1.00000e+50', '3.33333e-6')
    """
    top, _, bottom = value.partition("/")
    found = Decimal(top) / Decimal(bottom or 1)
    plain = not found or _PLAIN[0] <= abs(found) < _PLAIN[1]
    return f"{found:.6g}" if plain else f"{found:.5e}"
