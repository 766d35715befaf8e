"""The measures of a family in one table, exactly.

Of hidden sets every member has the same ones, in closed form. Of another family with tables over z
they are those of one member.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.claims.measures import MEMBER_NOTIONS, NOTIONS, SCOPE, SCOPE_MEMBER, WEIGHTS, Notion
from hardness.kernels.walsh import transform
from hardness.lower.grams import correlations
from hardness.lower.johnson import Johnson
from hardness.lower.record import text
from hardness.measures import (
    approximate_values,
    average_sensitivity,
    degree,
    leap_of_masks,
    least_degree,
    noise_sensitivity,
    shares,
    sq_leap,
    stability,
    total_influence,
    weights,
)
from instances.capabilities import CODED, FACTOR, SCHEME
from instances.coded import FactorTables
from instances.errors import ToolkitError
from instances.export import frame
from instances.family import Family, Secret, require
from instances.krawtchouk import coefficients
from instances.result import Result, TableRow
from instances.symmetric import Symmetric
from instances.threshold import Rational, rational

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
    delta = rational(sensitivity)
    if scheme := SCHEME.of(family):
        found = _Symmetric(family=scheme, delta=delta)
        # Of a map on top of one head, or of hardmax, softmax heads of a parity would say nothing.
        coded = CODED.of(family)
        others = scheme.kind != "softmax" or (coded and coded.outer_text)
        left_out = "approximate heads" if others else "-"
        rows = tuple(
            _row(name, of(found), found.parameters, NOTIONS)
            for name, of in _ROWS.items()
            if not name.endswith(left_out)
        )
        return Measures(spec=family.spec, rows=rows, weights=tuple(map(text, found.shares)))
    tables = FACTOR.need(family)
    member = family.instance(0).hidden.secret if secret is None else secret
    one = _Member(tables=tables, secret=member, delta=delta)
    rows = tuple(
        _row(name, of(one), one.parameters, MEMBER_NOTIONS) for name, of in _MEMBER_ROWS.items()
    )
    return Measures(
        spec=family.spec,
        rows=rows,
        weights=tuple(map(text, one.shares)),
        scope=SCOPE_MEMBER,
        member=member,
    )


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

    def parameters(self, name: str) -> dict[str, str]:
        """What a measure depends on besides the function."""
        if name.startswith("noise"):
            return {"delta": text(self.delta)}
        return {"rho": str(self.family.rho)} if name.endswith("approximate heads") else {}


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


@dataclass(frozen=True, kw_only=True)
class _Member:
    """What the measures of one member have in common: its values over z as whole numbers."""

    tables: FactorTables
    secret: Secret
    delta: Rational

    @cached_property
    def codes(self) -> NDArray[np.unsignedinteger]:
        return self.tables.codes(self.secret)

    @cached_property
    def unit(self) -> int:
        """What levels are multiplied by to be whole numbers."""
        return math.lcm(*(v.denominator for v in self.tables.family.levels))

    @cached_property
    def coefficients(self) -> NDArray[np.int64]:
        """2^n unit f^(T), exactly: (2^n,)."""
        whole = [int(v * self.unit) for v in self.tables.family.levels]
        if max(map(abs, whole)) << self.tables.n >= _MOST_SUM:
            raise ToolkitError(
                f"{self.tables.family.spec[:200]}: sums of its levels over all z are beyond the "
                "2^31 that are squared exactly: lower d"
            )
        return _transformed(np.array(whole, np.float64)[self.codes])

    @cached_property
    def weights(self) -> list[Rational]:
        return [fmpq(v, (self.unit << self.tables.n) ** 2) for v in _squares(self.coefficients)]

    @cached_property
    def shares(self) -> list[Rational]:
        return shares(self.weights) if any(self.weights[1:]) else [fmpq(0)]

    @cached_property
    def levels(self) -> tuple[list[Rational], NDArray[np.int64]]:
        """The weight of the level sets by degree, and the sets of coordinates that have any."""
        total, some = [0] * (self.tables.n + 1), np.zeros(1 << self.tables.n, np.bool_)
        for code in np.unique(self.codes):
            found = _transformed((self.codes == code).astype(np.float64))
            total = [a + b for a, b in zip(total, _squares(found), strict=True)]
            some |= found != 0
        return [fmpq(v, 4**self.tables.n) for v in total], np.flatnonzero(some)

    @property
    def bias(self) -> Rational | str:
        used = [self.tables.family.levels[i] for i in np.unique(self.codes)]
        if len(used) != 2:
            return f"f takes {len(used)} values"
        mean = fmpq(int(self.coefficients[0]), self.unit << self.tables.n)
        return (mean - rational(sum(used) / 2)) / rational((max(used) - min(used)) / 2)

    @property
    def largest_influence(self) -> Rational:
        squares = self.coefficients.astype(np.int64) ** 2
        sums = []
        for j in range(self.tables.n):
            sums.append(int(squares.reshape(-1, 2, 1 << j)[:, 1].sum()))
        return fmpq(max(sums), (self.unit << self.tables.n) ** 2)

    @cached_property
    def correlations(self) -> NDArray[np.float64] | str:
        """Those of all members, or why they are not computed."""
        try:
            return correlations(self.tables)
        except ToolkitError as error:
            return str(error)

    def correlated(self, power: int) -> float | str:
        """The mean of the correlations of all ordered pairs of members to a power."""
        found = self.correlations
        return found if isinstance(found, str) else float((found**power).mean())

    def parameters(self, name: str) -> dict[str, str]:
        """What a measure depends on besides the function."""
        return {"delta": text(self.delta)} if name.startswith("noise") else {}


def _transformed(values: NDArray[np.float64]) -> NDArray[np.int64]:
    transform(values)
    return values.astype(np.int64)


def _squares(sums: NDArray[np.int64]) -> list[int]:
    """Sum squares by the number of ones of the index: n + 1 whole numbers."""
    n = len(sums).bit_length() - 1
    degree, squares = np.bitwise_count(np.arange(len(sums))), sums**2
    return [int(squares[degree == k].sum()) for k in range(n + 1)]


_MEMBER_ROWS: dict[str, Callable[[_Member], Any]] = {
    "members": lambda of: "not known" if of.tables.size is None else of.tables.size,
    "log2 members": lambda of: "not known" if of.tables.size is None else math.log2(of.tables.size),
    "mean": lambda of: fmpq(int(of.coefficients[0]), of.unit << of.tables.n),
    "variance": lambda of: sum(of.weights[1:], fmpq(0)),
    "bias": lambda of: of.bias,
    "degree": lambda of: degree(of.weights),
    "information exponent": lambda of: least_degree(of.weights),
    "leap": lambda of: leap_of_masks(np.flatnonzero(of.coefficients)),
    "SQ-leap": lambda of: leap_of_masks(of.levels[1]),
    "average correlation": lambda of: of.correlated(1),
    "cross-predictability": lambda of: of.correlated(2),
    "total influence": lambda of: total_influence(of.weights),
    "largest influence": lambda of: of.largest_influence,
    "average sensitivity": lambda of: 2 * total_influence(of.levels[0]),
    "noise sensitivity": lambda of: 1 - stability(of.levels[0], 1 - 2 * of.delta),
    "noise stability": lambda of: stability(of.shares, 1 - 2 * of.delta),
}


def _row(
    name: str,
    value: Any,
    parameters: Callable[[str], dict[str, str]],
    notions: Mapping[str, Notion],
) -> Measure:
    """Make a row: a string is the reason why there is no value, a float is no exact number."""
    notion = notions[name]
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
        parameters=parameters(name),
        meaning=notion.meaning,
        source=notion.source,
        reason=reason,
    )


def decimal(value: str) -> str:
    """Write an integer or rational of any size in six digits.

    >>> decimal("1/3"), decimal("-7"), decimal("1" + "0" * 50), decimal("1/300000")
    ('0.333333', '-7', '1.00000e+50', '3.33333e-6')
    """
    top, _, bottom = value.partition("/")
    found = Decimal(top) / Decimal(bottom or 1)
    plain = not found or _PLAIN[0] <= abs(found) < _PLAIN[1]
    return f"{found:.6g}" if plain else f"{found:.5e}"
