"""Statistical queries: bounded functions of an example whose expectation an oracle gives."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.coded import Coded, as_coded, require_coded
from instances.errors import UsageError, require
from instances.family import Examples, Family, Secret

Function = Callable[[NDArray[Any], NDArray[np.float64]], NDArray[np.float64]]


class StatisticalQuery(Protocol):
    """A function phi of an example with values in [-1, 1].

    If phi depends on z and the label's factor alone for z_0 = -1, and is 0 elsewhere, it also has
    `of_factor`: packed z (n, words) with z_0 = -1 and factors (n,) -> (n,).
    """

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """Any phi(x, y) of tokens and labels (n, k, d); values (n,) outside [-1, 1] are refused."""

    phi: Function

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        return bounded(self.phi(examples.x, examples.y), len(examples))


@dataclass(frozen=True, kw_only=True)
class Correlational:
    """A correlational query phi = <y, h(x)>, h: (n, k, d) -> (n, k, d), values in [-1, 1]."""

    h: Callable[[NDArray[Any]], NDArray[np.float64]]

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        products = np.sum(examples.y * self.h(examples.x), axis=(1, 2))
        return bounded(products, len(examples))


class _FactorQuery:
    def values(self: Any, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        self.require(examples.family)
        out = np.zeros(len(examples))  # 0 if z_0 = +1
        packed = as_coded(examples)
        rows = np.flatnonzero(packed.family.open(packed.words))
        words, factors = packed.words[rows], packed.family.factors[packed.codes[rows]]
        out[rows] = self.of_factor(words[:, 0] ^ words[:, 1], factors)
        return out


@dataclass(frozen=True, kw_only=True)
class Character(_FactorQuery):
    """The correlational query: the label's factor times chi_T(z) if z_0 = -1, else 0.

    It equals y[0,0] x[0,0] 1[z_0 = -1] chi_T(z) if labels are X[l,0] times their factor.
    """

    subset: Secret

    def require(self, family: Family) -> None:
        """Refuse coordinates outside the family's, and labels outside [-1, 1]."""
        largest = max(map(abs, require_coded(family).levels))
        if largest > 1:
            raise UsageError(
                f"{family} has labels up to {largest}: those of queries are in [-1, 1]"
            )
        if not all(0 <= j < family.d for j in self.subset):
            raise UsageError(f"coordinates must be between 0 and {family.d - 1}, got {self.subset}")

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate factor chi_T(z) on packed z (n, words), including z_0 = -1: (n,)."""
        return factor * character(z, self.subset)


@dataclass(frozen=True, kw_only=True)
class Pool(_FactorQuery):
    """The correlational query: the label's factor times sign(sum_T chi_T(z)), T in `sets`.

    It asks about many parities at once. The query is 0 if the sum is 0 or z_0 = +1.
    """

    sets: tuple[Secret, ...]

    def require(self, family: Family) -> None:
        """Refuse coordinates outside the family's, and labels outside [-1, 1]."""
        require(bool(self.sets), "a pool must have at least one set, got none")
        for subset in self.sets:
            Character(subset=subset).require(family)

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate factor sign(sum_T chi_T(z)) on packed z (n, words), z_0 = -1: (n,)."""
        total = np.zeros(len(z))
        for subset in self.sets:
            total += character(z, subset)
        return factor * np.sign(total)


@dataclass(frozen=True, kw_only=True)
class Factor(_FactorQuery):
    """Any phi(z, s) of z (n, d) of +-1 and the label's factor s (n,) if z_0 = -1, else 0.

    An oracle raises UsageError for values (n,) outside [-1, 1], and for another d. The query has
    all information of a label. It omits X_1, which has none.
    """

    phi: Function
    d: int

    def require(self, family: Family) -> None:
        """Refuse a family of another dimension; raises UsageError."""
        require(self.d == family.d, f"a query must have d={family.d}, as {family}, got {self.d}")

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Evaluate phi on packed z (n, words): (n,)."""
        return bounded(self.phi(tokens.unpack(z, self.d), factor), len(z))


@dataclass(frozen=True, kw_only=True, eq=False)
class Table(_FactorQuery):
    """Any phi of z and the label's code if z_0 = -1, else 0, given by its values.

    table: (levels, 2^(d-1)) in [-1, 1], with a row for each level, in the order of codes. Bit j - 1
    of a column number is set if z_j = -1. Raises UsageError for other tables.
    """

    family: Coded
    table: NDArray[np.float64]

    def __post_init__(self) -> None:
        wanted = (len(self.family.levels), 1 << self.family.d - 1)
        if self.table.shape != wanted:
            raise UsageError(f"a table must have the shape {wanted}, got {self.table.shape}")
        bounded(self.table.reshape(-1), self.table.size)

    def require(self, family: Family) -> None:
        """Refuse a family that is not the table's; raises UsageError."""
        require(family == self.family, f"a table must be the oracle's, got {self.family}")

    def of_factor(self, z: NDArray[np.uint64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
        """Look phi up for packed z (n, 1), z_0 = -1, and factors that are levels (n,): (n,)."""
        order = np.argsort(self.family.factors)
        sizes = self.family.factors[order]
        codes = order[np.searchsorted((sizes[1:] + sizes[:-1]) / 2, factor)]
        return np.asarray(self.table[codes, (z[:, 0] >> np.uint64(1)).astype(np.intp)])


def character(z: NDArray[np.uint64], subset: Secret) -> NDArray[np.float64]:
    """Evaluate chi_T on packed z (n, words): (n,) of +-1.

    >>> character(np.array([[0], [1], [3]], np.uint64), (0, 1)).tolist()
    [1.0, -1.0, 1.0]
    """
    folded = np.zeros(len(z), np.uint64)
    for j, part in enumerate(tokens.mask(subset, 64 * z.shape[1])):
        if part:
            folded ^= z[:, j] & part
    return np.asarray(1.0 - 2.0 * (np.bitwise_count(folded) & np.uint8(1)))


def bounded(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Refuse values that are not (count,) numbers in [-1, 1]; raises UsageError."""
    values = np.asarray(values, np.float64)
    if values.shape != (count,):
        raise UsageError(f"a query gave shape {values.shape} for {count} examples: ({count},)")
    largest = float(np.abs(values).max(initial=0.0))
    if not largest <= 1.0 + 1e-9:
        # The value itself could reveal more about the labels than an answer within tau.
        raise UsageError("a query gave a value outside of [-1, 1]: values in it are allowed")
    return values
