"""The expectation of one query for every member of a symmetric family at once, exactly.

A query's mean is linear in the indicators of the label's values, and those are symmetric functions
of the hidden set: one Walsh-Hadamard transform of the query gives all members' means.
docs/adversary.md has the formula.
"""

import itertools
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq
from numpy.typing import NDArray

from hardness.kernels import walsh
from hardness.oracles.query import FactorQuery, StatisticalQuery
from instances.coded import CodedExamples
from instances.errors import UsageError
from instances.family import Secret
from instances.krawtchouk import coefficients
from instances.limits import require_memory
from instances.parity import Parity
from instances.symmetric import Symmetric, to_float

MOST = 26  # coordinates of z, and of both tokens together
_LOOKUPS = 1 << 28
_CHUNK = 1 << 16


class Means:
    """All members of a family, and what a query's expectation is for each of them.

    Raises UsageError where z has more than 26 coordinates or the members are too many.

    >>> from hardness.oracles import Character
    >>> from instances import parse
    >>> Means(parse("parity:d=4,m=2")).of(Character(subset=(1, 3))).tolist()
    [0.0, 0.5, 0.0]
    """

    def __init__(self, family: Symmetric) -> None:
        """List the members in lexicographic order."""
        _require_cube(family)
        if not can_follow(family):
            raise UsageError(
                f"{family.spec} has {family.size} members of {family.m} places: too many to follow "
                f"one by one, N 2^m may be up to {_LOOKUPS}"
            )
        require_memory(16 * family.size * (family.m + 4), f"the members of {family.spec}")
        self.family = family

    @cached_property
    def members(self) -> NDArray[np.int64]:
        """The members' places, (N, m), each in 1 .. d-1."""
        family = self.family
        flat = itertools.chain.from_iterable(itertools.combinations(range(1, family.d), family.m))
        found = np.fromiter(flat, np.int64, family.size * family.m)
        return found.reshape(family.size, family.m)

    def of(self, query: StatisticalQuery | FactorQuery) -> NDArray[np.float64]:
        """Compute E phi for every member: (N,), accurate to about 1e-13."""
        return self.with_reference(query)[0]

    def with_reference(
        self, query: StatisticalQuery | FactorQuery
    ) -> tuple[NDArray[np.float64], float]:
        """Compute E phi for every member, (N,), and the mean for who knows the family alone.

        For parities that is the mean with a fair coin in place of the unknown sign, as in the proof
        of the query bound; for other profiles the mean over all members.
        """
        out, coin = _means(self.family, query, self.members)
        return out, coin if isinstance(self.family, Parity) else float(out.mean())


def can_follow(family: Symmetric) -> bool:
    """Say whether every member's mean can be followed: d - 1 <= 26, N 2^m <= 2^28.

    >>> from instances import parse
    >>> can_follow(parse("parity:d=16,m=3")), can_follow(parse("parity:d=64,m=3"))
    (True, False)
    """
    return family.d - 1 <= MOST and family.size * 2**family.m <= _LOOKUPS


def mean_of(family: Symmetric, query: FactorQuery, secret: Secret) -> float:
    """Compute E phi for one member exactly, for up to 26 coordinates of z; raises UsageError."""
    _require_cube(family)
    family.require_member(secret)
    return float(_means(family, query, np.array([secret]))[0][0])


def _means(
    family: Symmetric, query: StatisticalQuery | FactorQuery, members: NDArray[np.int64]
) -> tuple[NDArray[np.float64], float]:
    """E phi for members (N, m), and its part that no member changes."""
    levels = sorted(set(family.values), reverse=True)
    require_memory(24 * (len(levels) + 1) << (family.d - 1), f"a query of {family.spec}")
    if isinstance(query, FactorQuery):
        tables, closed = _of_factor(family, query, levels), 0.0
    else:
        tables, closed = _of_tokens(family, query, levels)
    for table in tables:
        walsh.transform(table)
    tables /= 2.0 ** (family.d - 1)
    # The Fourier coefficients of 1[g(h) = v], v each level: (levels, m+1).
    indicators = np.array(
        [
            [to_float(c) for c in coefficients([fmpq(int(v == level)) for v in family.values])]
            for level in levels
        ]
    )
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


def _of_factor(
    family: Symmetric, query: FactorQuery, levels: list[Fraction]
) -> NDArray[np.float64]:
    """E[phi | z, g(h) = v] for each v, over z_1 .. z_(d-1) with z_0 = -1: (levels, 2^(d-1))."""
    noise, centre = float(family.noise), float(family.centre)
    count = 1 << (family.d - 1)
    tables = np.zeros((len(levels), count))
    for start in range(0, count, _CHUNK):
        index = np.arange(start, min(start + _CHUNK, count), dtype=np.uint64)
        z = (index << np.uint64(1) | np.uint64(1))[:, None]
        for row, level in zip(tables, map(float, levels), strict=True):
            for share, factor in ((1 - noise, level), (noise, 2 * centre - level)):
                if share:
                    part = query.of_factor(z, np.full(len(index), factor))
                    row[start : start + len(index)] += share * part
    return tables


def _of_tokens(
    family: Symmetric, query: StatisticalQuery, levels: list[Fraction]
) -> tuple[NDArray[np.float64], float]:
    """The same for a query of raw tokens, averaged over X_1; and its mean where z_0 = +1, halved.

    Raises UsageError for 2d > 26.
    """
    d = family.d
    if 2 * d > MOST:
        raise UsageError(
            f"d={d} given: a query of raw tokens is averaged over 4^d of them, 2d <= {MOST}; ask a "
            "Character, a Pool or a Factor of z and the label's factor"
        )
    tables = np.zeros((len(levels), 1 << (d - 1)))
    closed = 0.0
    place = {v: i for i, v in enumerate(family.levels)}
    first = np.arange(1 << d, dtype=np.uint64)

    def mean(words: NDArray[np.uint64], code: int) -> float:
        codes = np.full(len(first), code, np.uint8)
        return float(query.values(CodedExamples(family=family, words=words, codes=codes)).mean())

    for z in range(1 << d):
        words = np.stack([first, first ^ np.uint64(z)], axis=1)[..., None]
        if not z & 1:
            closed += mean(words, 0) / (1 << d)
            continue
        for row, level in zip(tables, levels, strict=True):
            row[z >> 1] = float(1 - family.noise) * mean(words, place[level])
            if family.noise:
                row[z >> 1] += float(family.noise) * mean(words, place[2 * family.centre - level])
    return tables, closed


def _require_cube(family: Symmetric) -> None:
    if family.d - 1 > MOST:
        raise UsageError(
            f"d={family.d} given: exact means of any query need d - 1 <= {MOST} coordinates"
        )


def secrets(members: NDArray[np.int64]) -> list[Secret]:
    """Turn rows of places into secrets."""
    return [tuple(int(j) for j in row) for row in members]
