"""Statistical queries: bounded functions of an example, asked for their expectation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from instances import tokens
from instances.errors import UsageError
from instances.family import Examples, Family, Secret

Function = Callable[[NDArray[Any], NDArray[np.float64]], NDArray[np.float64]]


class StatisticalQuery(Protocol):
    """A function phi of an example with values in [-1, 1]."""

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""


@dataclass(frozen=True, kw_only=True)
class Query:
    """Any phi(x, y) of tokens and labels (n, k, d) with values (n,) in [-1, 1].

    Raises UsageError when asked if a value is outside of [-1, 1].
    """

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


@dataclass(frozen=True, kw_only=True)
class Character:
    """The correlational query phi = y[0,0] x[0,0] 1[z_0 = -1] chi_T(z), on packed words."""

    subset: Secret

    def require(self, family: Family) -> None:
        """Refuse coordinates that the family does not have, and labels beyond [-1, 1]."""
        largest = max(map(abs, family.levels))
        if largest > 1:
            raise UsageError(
                f"{family.spec} has labels up to {largest}: a query's values must be in [-1, 1]; "
                "divide g by that"
            )
        if not all(0 <= j < family.d for j in self.subset):
            raise UsageError(f"coordinates {self.subset} given: 0..{family.d - 1} are allowed")

    def values(self, examples: Examples) -> NDArray[np.float64]:
        """Evaluate phi on examples: (n,)."""
        words = examples.words
        self.require(examples.family)
        mask = tokens.mask(self.subset, examples.family.d)
        folded = np.zeros(len(words), np.uint64)
        for j, part in enumerate(mask):
            if part:
                folded ^= (words[:, 0, j] ^ words[:, 1, j]) & part
        odd = np.bitwise_count(folded) & np.uint8(1)
        levels = np.array([float(v) for v in examples.family.levels])
        return examples.family.open(words) * (1.0 - 2.0 * odd) * levels[examples.codes]


def bounded(values: NDArray[np.float64], count: int) -> NDArray[np.float64]:
    """Refuse values that are not (count,) numbers in [-1, 1]; raises UsageError."""
    values = np.asarray(values, np.float64)
    if values.shape != (count,):
        raise UsageError(f"a query gave shape {values.shape} for {count} examples: ({count},)")
    largest = float(np.abs(values).max(initial=0.0))
    if not largest <= 1.0 + 1e-9:
        raise UsageError(f"a query gave the value {largest:g}: values in [-1, 1] are allowed")
    return values


def enumerate_mean(query: StatisticalQuery, family: Family, secret: Secret) -> float:
    """Compute E phi exactly over all 2^(2d) tokens, d <= 10; the label noise is averaged too.

    Raises UsageError for d > 10.
    """
    d = family.d
    if d > 10:
        raise UsageError(
            f"d={d} given: an exact answer to any query enumerates 4^d tokens, d <= 10"
        )
    eta = float(family.noise)
    total = 0.0
    for start in range(0, 1 << 2 * d, 1 << 14):
        index = np.arange(start, min(start + (1 << 14), 1 << 2 * d), dtype=np.uint64)
        words = np.stack([index & np.uint64((1 << d) - 1), index >> np.uint64(d)], axis=1)[
            ..., None
        ]
        for flipped, weight in ((False, 1 - eta), (True, eta)):
            if weight:
                flips = np.full(len(index), flipped)
                codes = family.codes(secret, words, flips)
                examples = Examples(family=family, words=words, codes=codes)
                total += weight * float(query.values(examples).sum())
    return total / 4**d
