"""The measures of a family in one table, exactly.

Of hidden sets every member has the same ones, in closed form. Of another family with tables over z
they are those of one member.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

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

_LONG = 20  # characters of a value that is shown in full
_MOST_SUM = 1 << 31  # its square is an int64, and by Parseval so is the sum of all squares
_PLAIN = Decimal("0.0001"), Decimal(1000000)  # sizes that are written without an exponent
_SCOPE = (
    "All are of f(z) = g(h), where z_0 = -1 and without label noise: h is the number of -1 among "
    "the m hidden bits of z, which are uniform. Noise below 1/2 changes no degree, exponent, leap "
    "or SQ-leap. None is a bound on a learner: `hardness certify` has those."
)
_SCOPE_MEMBER = (
    "All are of the factor f of one member, a function of z_1 .. z_(d-1), where z_0 = -1 and "
    "without label noise. Others may have other measures. None is a bound on a learner: `hardness "
    "certify` has those."
)
WEIGHTS = "the part of the variance of f that sets T of k bits have"


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One number about a family: an integer or rational as a string, and how it is known."""

    name: str
    value: str | None  # None where it is not defined, for a reason
    kind: Literal["exact", "float64", "not defined"]
    parameters: dict[str, str]
    meaning: str
    source: str  # key in docs/references.md
    reason: str | None = None

    @property
    def decimal(self) -> str | None:
        """The value in six digits; None where there is no value."""
        return None if self.value is None else decimal(self.value)

    @property
    def shown(self) -> str | None:
        """An exact value in full where it is short; else six digits, and that they are about it."""
        if self.value is None or self.kind != "exact" or self.value == self.decimal:
            return self.decimal
        return self.value if len(self.value) <= _LONG else f"about {self.decimal}"

    def to_dict(self) -> dict[str, Any]:
        """Write the row."""
        return {"name": self.name, "value": self.value, "decimal": self.decimal, **vars(self)}


@dataclass(frozen=True, kw_only=True, repr=False)
class Measures(Result):
    """The measures of a family, and its weight by degree: shares of the variance, k = 0 .. m.

    member: the one that they are of; None where all have the same.
    """

    spec: str
    rows: tuple[Measure, ...]
    weights: tuple[str, ...]
    member: Secret | None = None

    _words: ClassVar[str] = "hardness.report.measures.measures_words"

    @property
    def scope(self) -> str:
        """What they are of."""
        return _SCOPE if self.member is None else _SCOPE_MEMBER

    def value(self, name: str) -> str | None:
        """Return a measure's value; raises KeyError."""
        return {row.name: row.value for row in self.rows}[name]

    def _rows(self) -> list[TableRow]:
        return [
            {"measure": m.name, "value": m.shown, "known": m.kind, "source": m.source}
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
            "weights_meaning": WEIGHTS,
            "weights_source": "ODo14",
            "scope": self.scope,
        }


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
    member, scheme, delta = None, SCHEME.of(family), rational(sensitivity)
    if scheme:
        coded = CODED.of(family)
        # Of a map on top of one head, or of hardmax, softmax heads of a parity would say nothing.
        softmax = scheme.kind == "softmax" and not (coded and coded.outer_text)
        found = _of_sets(scheme, softmax, delta)
    else:
        tables = FACTOR.need(family)
        member = family.instance(0).hidden.secret if secret is None else secret
        found = _of_member(tables, member, delta)
    return Measures(
        spec=family.spec,
        rows=tuple(filter(None, (one.row(name, found) for name, one in _NOTIONS.items()))),
        weights=tuple(map(str, found.shares)),
        member=member,
    )


@dataclass(frozen=True, kw_only=True)
class _Function:
    """What the measures of one function follow from; text in place of a number says why not.

    used: its values. weights, levels: of itself and of its level sets, by degree. influence: the
    largest of one bit. pairs: means of the correlations and of their squares, over all pairs of
    members. rho: of exact heads; near: SQ-leap and leap of approximate ones, where these are
    measured. delta: how likely a bit is flipped.
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
    delta: Rational
    rho: Fraction | None = None
    near: tuple[int, int] | tuple[None, None] = (None, None)

    @cached_property
    def shares(self) -> list[Rational]:
        """The part of the variance that each degree has."""
        return shares(self.weights) if any(self.weights[1:]) else [fmpq(0)]

    @property
    def bias(self) -> Rational | str:
        """The mean with the two values written as +1 and -1."""
        values = set(self.used)
        if len(values) != 2:
            return f"{'g' if self.rho else 'f'} takes {len(values)} values"
        high, low = rational(max(values)), rational(min(values))
        return (2 * self.mean - high - low) / (high - low)


class _Notion(NamedTuple):
    """A measure in one sentence, its source, a key in docs/references.md, and how it is found.

    of: a number, text that says why there is none, or None for a function that has no such row.
    given: the parameters by which it is measured.
    """

    meaning: str
    source: str
    of: Callable[[_Function], Any]
    given: tuple[str, ...] = ()

    def row(self, name: str, function: _Function) -> Measure | None:
        """Measure a function; a number in float64 is no exact one."""
        value = self.of(function)
        if value is None:
            return None
        reason = value if isinstance(value, str) else None
        exact = not isinstance(value, float)
        return Measure(
            name=name,
            value=None if reason else str(fmpq(value)) if exact else repr(value),
            kind="not defined" if reason else "exact" if exact else "float64",
            parameters={each: str(getattr(function, each)) for each in self.given},
            meaning=self.meaning,
            source=self.source,
            reason=reason,
        )


_UNKNOWN = "not known"
_SQ_LEAP = (
    "the leap of the sets whose products of bits correlate with some function of the label: "
    "what general statistical queries see, as the leap is what correlational ones see",
    "JMS24",
)
_PAIRS = (
    "averaged over all ordered pairs of members, equal ones among them, centred and of unit norm"
)
# f^(T) = E f chi_T is the Walsh coefficient of f at the set T of bits of z.
_NOTIONS = {
    "members": _Notion("their number M", "information", lambda f: f.size or _UNKNOWN),
    "log2 members": _Notion(
        "the bits that name a member",
        "information",
        lambda f: math.log2(f.size) if f.size else _UNKNOWN,
    ),
    "mean": _Notion("E f = f^(empty set)", "ODo14", lambda f: f.mean),
    "variance": _Notion(
        "Var f = the sum of f^(T)^2 over the other sets T",
        "ODo14",
        lambda f: sum(f.weights[1:], fmpq(0)),
    ),
    "bias": _Notion(
        "E f with its larger value written as +1, the other as -1", "ODo14", lambda f: f.bias
    ),
    "degree": _Notion(
        "the size of the largest T with f^(T) not 0", "ODo14", lambda f: degree(f.weights)
    ),
    "information exponent": _Notion(
        "the size of the least T, not empty, with f^(T) not 0: below it the label correlates with "
        "no product of bits",
        "AGJ21",
        lambda f: least_degree(f.weights),
    ),
    "leap": _Notion(
        "the sets of Walsh coefficients that are not 0, in the best order: the most bits that one "
        "has and none before it",
        "ABM23",
        lambda f: f.leap,
    ),
    "SQ-leap, exact heads": _Notion(*_SQ_LEAP, lambda f: f.sq_leap if f.rho else None),
    "SQ-leap": _Notion(*_SQ_LEAP, lambda f: None if f.rho else f.sq_leap),
    "SQ-leap, approximate heads": _Notion(
        "the SQ-leap of the same heads, thresholds and steepness rho, with the weights "
        "(g(i)-g(i-1))/2 of infinitely steep heads in place of the exact solve",
        "JMS24",
        lambda f: f.near[0],
        ("rho",),
    ),
    "leap, approximate heads": _Notion(
        "the information exponent, which is the leap, of those heads: what correlational queries "
        "see of them",
        "ABM23",
        lambda f: f.near[1],
        ("rho",),
    ),
    "average correlation": _Notion(f"the correlation {_PAIRS}", "FGRVX17", lambda f: f.pairs[0]),
    "cross-predictability": _Notion(
        f"the squared correlation {_PAIRS}", "AS20", lambda f: f.pairs[1]
    ),
    "total influence": _Notion(
        "the sum of |T| f^(T)^2, in units of f squared",
        "ODo14",
        lambda f: total_influence(f.weights),
    ),
    "largest influence": _Notion(
        "the largest E Var f(z) over one bit alone", "ODo14", lambda f: f.influence
    ),
    "average sensitivity": _Notion(
        "the expected number of bits of which flipping one alone changes f",
        "ODo14",
        lambda f: 2 * total_influence(f.levels),
    ),
    "noise sensitivity": _Notion(
        "the probability that f changes when each bit is flipped with probability delta",
        "ODo14",
        lambda f: 1 - stability(f.levels, 1 - 2 * f.delta),
        ("delta",),
    ),
    "noise stability": _Notion(
        "the correlation of f before and after those flips: the sum over sets T, not empty, of "
        "(1 - 2 delta)^|T| f^(T)^2 / Var f",
        "ODo14",
        lambda f: stability(f.shares, 1 - 2 * f.delta),
        ("delta",),
    ),
}


def _of_sets(family: Symmetric, softmax: bool, delta: Rational) -> _Function:
    """A symmetric function, of every member: in closed form."""
    scheme, weight = Johnson.family(family), weights(family.fourier)
    levels, more = level_weights(family.values), dict[str, Any]()
    if softmax:
        near = approximate_values(family.values, family.rho)[0]
        of_near = level_weights(near), weights(coefficients(near))
        more = {"near": tuple(map(least_degree, of_near))}
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
        delta=delta,
        rho=family.rho,
        **more,
    )


def _of_member(tables: FactorTables, secret: Secret, delta: Rational) -> _Function:
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
        delta=delta,
    )


def _transformed(values: NDArray[np.float64]) -> NDArray[np.int64]:
    transform(values)
    return values.astype(np.int64)


def _squares(sums: NDArray[np.int64]) -> list[int]:
    """Sum squares by the number of ones of the index: n + 1 whole numbers."""
    n = len(sums).bit_length() - 1
    ones, squares = np.bitwise_count(np.arange(len(sums))), sums**2
    return [int(squares[ones == k].sum()) for k in range(n + 1)]


def decimal(value: str) -> str:
    """Write an integer or rational of any size in six digits.

    >>> decimal("1/3"), decimal("-7"), decimal("1" + "0" * 50), decimal("1/300000")
    ('0.333333', '-7', '1.00000e+50', '3.33333e-6')
    """
    top, _, bottom = value.partition("/")
    found = Decimal(top) / Decimal(bottom or 1)
    plain = not found or _PLAIN[0] <= abs(found) < _PLAIN[1]
    return f"{found:.6g}" if plain else f"{found:.5e}"
