"""The exact expectations of one query for all members of a family at once.

A query's mean is linear in the indicators of the label's levels. If members are symmetric functions
of a hidden set, one Walsh-Hadamard transform of the query gives the means of all members. If they
can be listed, one product with the table of their codes gives them. docs/adversary.md has the
formulas.
"""

import itertools
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.numerics.walsh import walsh_hadamard
from hardness.oracles.query import StatisticalQuery, Table
from instances.coded import Coded, CodedExamples
from instances.errors import UsageError
from instances.family import Family, Secret
from instances.limits import require_memory
from instances.sets import Symmetric
from instances.symmetric import coefficients, to_float

MAX_COORDINATES = 26  # coordinates of z, or of both tokens together
_MOST_LOOKUPS = 1 << 28  # numbers that are read for all members, N 2^m
_MOST_LISTED_CODES = 1 << 27  # codes of all members at all z
_BATCH_POINTS = 1 << 16  # points at which a query is evaluated at once
_CACHE_NUMBERS = 1 << 18  # numbers that fit into a core's cache
Values = NDArray[np.float64]


class Means:
    """All members of a symmetric family, and the expectation of a query for each of them.

    Raises UsageError if z has more than 26 coordinates or there are too many members.

    >>> from hardness.oracles import Character
    >>> from instances import parse
    >>> Means(parse("parity:d=4,m=2")).expectations(Character(subset=(1, 3))).tolist()
    [0.0, 0.5, 0.0]
    """

    def __init__(self, family: Symmetric) -> None:
        """List the members in lexicographic order."""
        require_cube(family)
        if not can_follow(family):
            raise UsageError(f"{family} has {family.size} members: too many to follow one by one")
        require_memory(16 * family.size * (family.m + 4), f"the members of {family}")
        self.family = family

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The hidden sets of all members: (N, m), entries in 1 .. d-1."""
        family = self.family
        flat = itertools.chain.from_iterable(itertools.combinations(range(1, family.d), family.m))
        found = np.fromiter(flat, np.int64, family.size * family.m)
        return found.reshape(family.size, family.m)

    def secret(self, row: int) -> Secret:
        """Return the hidden set of a member."""
        return tuple(self.members[row].tolist())

    def expectations(self, query: StatisticalQuery) -> Values:
        """Compute E phi for every member: (N,), accurate to about 1e-13."""
        return self.with_reference(query)[0]

    def with_reference(self, query: StatisticalQuery) -> tuple[Values, float]:
        """Compute E phi for every member, (N,), and the reference mean of the family.

        For parities the reference replaces the unknown sign by a fair random one, as in the proof
        of the query bound. For other profiles it is the mean over all members.
        """
        out, coin = _means(self.family, query, self.members)
        return out, coin if self.family.characters else float(out.mean())


class Listed:
    """All members of a family by their codes over all z, and any query's expectation for each.

    codes: (N, 2^(d-1)), without noise. Bit j - 1 of a column number is set if z_j = -1. Raises
    UsageError if members cannot be listed, are too many, or differ in number from the family's
    size.

    >>> from hardness.oracles import Character
    >>> from instances import parse
    >>> listed = Listed(parse("profile:g=majority,d=4,m=1"))
    >>> listed.secrets, listed.expectations(Character(subset=(2,))).tolist()
    (((1,), (2,), (3,)), [0.0, 0.5, 0.0])
    """

    def __init__(self, family: Family) -> None:
        if (reason := unlisted_reason(family)) is not None:
            raise UsageError(reason)
        self.family = coded = family.factor or family.refuse("factor")
        size, n = coded.size or 0, coded.d - 1
        self.secrets = coded.listed_members(size)
        require_memory(2 * coded.code_type.itemsize * size << n, f"the members of {family}")
        self.codes = np.empty((size, 1 << n), coded.code_type)
        words = coded.table_points(0, 1 << n)
        clean = np.zeros(len(words), np.bool_)
        for row, secret in zip(self.codes, self.secrets, strict=True):
            row[:] = coded.codes(secret, words, clean)
        if int(self.codes.max(initial=0)) >= len(self.family.levels):
            raise UsageError(f"{family}: `codes` gave {self.codes.max()}, beyond its levels")

    def secret(self, row: int) -> Secret:
        """Return the secret of a member."""
        return self.secrets[row]

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of members that have each code at each z: (levels, 2^(d-1))."""
        return self.count(np.arange(len(self.secrets)))

    def count(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Count the members among `rows` that have each code at each z: (levels, 2^(d-1))."""
        chosen, rest = self.codes[rows], range(1, len(self.family.levels))
        found = [np.count_nonzero(chosen == code, axis=0) for code in rest]
        return np.array([len(rows) - sum(found, np.zeros(chosen.shape[1], np.int64)), *found])

    def expectations(self, query: StatisticalQuery) -> Values:
        """Compute E phi for every member: (N,), accurate to about 1e-13."""
        tables, closed = mean_by_code(self.family, query)
        return closed + self._average(tables[None], self.codes)[:, 0]

    def of_tables(self, queries: Sequence[Table], rows: NDArray[np.intp]) -> Values:
        """Compute E phi of these queries for the members `rows`: (rows, queries)."""
        tables = np.array([mean_by_code(self.family, query)[0] for query in queries])
        return self._average(tables, self.codes[rows])

    def _average(self, tables: Values, codes: NDArray[Any]) -> Values:
        """Average tables (queries, levels, 2^(d-1)) at codes (M, 2^(d-1)); z_0 = +1 adds 0."""
        count, change = codes.shape[1], (tables[:, 1:] - tables[:, :1]).transpose(1, 2, 0)
        # Sums of small integers are exact in float32 too, which needs half the memory traffic.
        whole = 4 * count < 1 << 24 and bool((change == np.rint(change)).all())
        change = change.astype(np.float32 if whole else np.float64)
        out = np.tile(tables[:, 0].mean(axis=1), (len(codes), 1))
        each = max(1, _CACHE_NUMBERS // count)
        for start in range(0, len(codes), each):
            part = codes[start : start + each]
            for code, changed in enumerate(change, 1):
                has = part if len(change) == 1 else part == code
                out[start : start + each] += has.astype(change.dtype) @ changed / count
        return out / 2

    def with_reference(self, query: StatisticalQuery) -> tuple[Values, float]:
        """Compute E phi for every member, (N,), and the mean over all of them."""
        out = self.expectations(query)
        return out, float(out.mean())


@lru_cache(maxsize=1)
def listed(family: Family) -> Listed:
    """List the members of a family; the same family is not listed twice in a row.

    >>> from instances import parse
    >>> family = parse("profile:g=majority,d=4,m=1")
    >>> listed(family) is listed(family)
    True
    """
    return Listed(family)


def unlisted_reason(family: Family) -> str | None:
    """Return why the members of a family cannot be listed with their codes over z, or None.

    >>> from instances import parse
    >>> unlisted_reason(parse("lpn:n=20,noise=0.1"))[-59:]
    'on 2^20 points: at most 2^27 values are followed one by one'
    """
    if family.factor is None:
        return family.lacks("factor")
    if family.members() is None or family.size is None:
        return f"the members of {family.name} cannot be listed: give the family `members`"
    if family.size << family.d - 1 > _MOST_LISTED_CODES:
        return (
            f"{family} has {family.size} members on 2^{family.d - 1} points: at most 2^27 values "
            "are followed one by one"
        )
    return None


def follow(family: Family) -> Means | Listed:
    """Prepare the means of all members: by hidden sets, else by a list; raises UsageError.

    >>> from instances import parse
    >>> follow(parse("profile:g=majority,d=4,m=2")).secret(2)
    (2, 3)
    """
    return Means(family) if isinstance(family, Symmetric) else listed(family)


def can_follow(family: Family) -> bool:
    """Return whether the means of all members can be computed.

    Symmetric families need d - 1 <= 26 and N 2^m <= 2^28, others N 2^(d-1) <= 2^27.

    >>> from instances import parse
    >>> can_follow(parse("parity:d=16,m=3")), can_follow(parse("parity:d=64,m=3"))
    (True, False)
    """
    if not isinstance(family, Symmetric):
        return unlisted_reason(family) is None
    return family.d - 1 <= MAX_COORDINATES and family.size * 2**family.m <= _MOST_LOOKUPS


def require_cube(family: Symmetric) -> None:
    """Refuse a dimension that is too large for exact means; raises UsageError."""
    if family.d - 1 > MAX_COORDINATES:
        raise UsageError(f"d={family.d} is too large: exact means need d - 1 <= {MAX_COORDINATES}")


def mean_of(family: Coded, query: StatisticalQuery, secret: Secret) -> float:
    """Compute E phi for one member exactly; raises UsageError like `mean_by_code`."""
    if isinstance(family, Symmetric):
        require_cube(family)
        family.require_member(secret)
        return float(_means(family, query, np.array([secret]))[0][0])
    codes = (family.factor or family.refuse("factor")).table_codes(secret)
    tables, closed = mean_by_code(family, query)
    found = float(tables[codes, np.arange(len(codes))].mean())
    return closed + found / 2


def mean_by_code(family: Coded, query: StatisticalQuery) -> tuple[Values, float]:
    """Compute E[phi | z, code], averaged over label noise, and the part of E phi with z_0 = +1.

    The first has the shape (levels, 2^(d-1)), by codes without noise. Raises UsageError for a query
    of raw tokens if 2d > 26.
    """
    levels = len(family.levels)
    require_memory(24 * (levels + 1) << (family.d - 1), f"a query of {family}")
    if hasattr(query, "require"):
        query.require(family)
    if isinstance(query, Table):
        given, closed = query.table, 0.0
    elif hasattr(query, "of_factor"):
        given, closed = _of_factor(family, query), 0.0
    else:
        given, closed = _of_tokens(family, query)
    out = np.zeros_like(given)
    for row, chances in zip(out, family.channel, strict=True):
        for part, chance in zip(given, chances, strict=True):
            if chance:
                row += chance * part
    return out, closed


def _means(
    family: Symmetric, query: StatisticalQuery, members: NDArray[np.int64]
) -> tuple[Values, float]:
    """Compute E phi for members (N, m), and the part of it that all members share."""
    tables, closed = mean_by_code(family, query)
    for table in tables:
        walsh_hadamard(table)
    tables /= 2.0 ** (family.d - 1)
    # The Fourier coefficients of 1[g(h) = v], v each level: (levels, m+1).
    hits = [[fmpq(int(v == level)) for v in family.values] for level in family.levels]
    indicators = np.array([[to_float(c) for c in coefficients(hit)] for hit in hits])
    bits = 1 << (members - 1)
    out = np.full(len(bits), closed)
    fixed = closed + float(indicators[:, 0] @ tables[:, 0]) / 2
    for k in range(family.m + 1):
        if not indicators[:, k].any():
            continue
        combined = indicators[:, k] @ tables
        for places in itertools.combinations(range(family.m), k):
            out += combined[bits[:, places].sum(axis=1)] / 2
    return out, fixed


def _of_factor(family: Coded, query: Any) -> Values:
    """Evaluate phi for each level over z_1 .. z_(d-1) with z_0 = -1: (levels, 2^(d-1))."""
    count = 1 << (family.d - 1)
    tables = np.zeros((len(family.levels), count))
    for start in range(0, count, _BATCH_POINTS):
        index = np.arange(start, min(start + _BATCH_POINTS, count), dtype=np.uint64)
        z = (index << np.uint64(1) | np.uint64(1))[:, None]
        for row, factor in zip(tables, family.factors, strict=True):
            row[start : start + len(index)] = query.of_factor(z, np.full(len(index), factor))
    return tables


def _of_tokens(family: Coded, query: StatisticalQuery) -> tuple[Values, float]:
    """Compute the same for raw tokens, and the part of the mean with z_0 = +1; 2d <= 26."""
    d = family.d
    if 2 * d > MAX_COORDINATES:
        raise UsageError(f"d must be at most {MAX_COORDINATES // 2} for raw tokens, got {d}")
    levels, first = len(family.levels), np.arange(1 << d, dtype=np.uint64)
    tables = np.zeros((levels, 1 << (d - 1)))
    closed, each = 0.0, max(1, _BATCH_POINTS >> d)

    def mean(z: NDArray[np.uint64], code: int) -> Values:
        words = np.stack(np.broadcast_arrays(first, first ^ z[:, None]), axis=2).reshape(-1, 2, 1)
        codes = np.full(len(words), code, family.code_type)
        values = query.values(CodedExamples(family=family, words=words, codes=codes))
        return values.reshape(len(z), -1).mean(axis=1)

    for start in range(0, 1 << (d - 1), each):
        part = slice(start, min(start + each, 1 << (d - 1)))
        even = np.arange(part.start, part.stop, dtype=np.uint64) << np.uint64(1)
        closed += float(mean(even, 0).sum()) / (1 << d)
        for code in range(levels):
            tables[code, part] = mean(even | np.uint64(1), code)
    return tables, closed
