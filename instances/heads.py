"""Sizes of the matrices of heads: norms, cosines, ranks, traces."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

Array = NDArray[np.float64]
_SHOWN = 1 << 18  # entries of a head that are looked at one by one
_MOST = 1e140  # entries whose Gram matrices are finite in float64


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrices:
    """m matrices (m, d, d); raises UsageError for entries whose squares cannot be computed.

    >>> found = Matrices(values=np.stack([np.eye(2), np.ones((2, 2))]))
    >>> found.norms.tolist(), found.stable_ranks.round(9).tolist()
    ([1.4142135623730951, 2.0], [2.0, 1.0])
    """

    values: Array

    def __post_init__(self) -> None:
        size = float(np.abs(self.values).max())
        if size and not 1 / _MOST <= size <= _MOST:
            raise UsageError(
                f"heads with entries up to {size:.1g} given: between {1 / _MOST:g} and {_MOST:g} "
                "their squares can be computed: scale them"
            )

    @cached_property
    def products(self) -> Array:
        """The Frobenius inner products of all pairs, (m, m)."""
        flat = self.values.reshape(len(self.values), -1)
        return np.asarray(flat @ flat.T)

    @property
    def norms(self) -> Array:
        """The Frobenius norms, (m,)."""
        return np.sqrt(np.maximum(np.diag(self.products), 0.0))

    @cached_property
    def cosines(self) -> Array:
        """The cosines of all pairs, (m, m); 0 for a matrix of zeros."""
        sizes = np.where(self.norms > 0, self.norms, 1.0)
        return np.asarray(self.products / np.outer(sizes, sizes))

    @property
    def stable_ranks(self) -> Array:
        """The squares of Frobenius over spectral norms, (m,); 0 for a matrix of zeros."""
        return _over(self.norms, np.linalg.norm(self.values, 2, axis=(1, 2))) ** 2

    @property
    def traces(self) -> Array:
        """The sizes of the traces over the Frobenius norms, (m,); 0 for a matrix of zeros."""
        return _over(np.abs(np.trace(self.values, axis1=1, axis2=2)), self.norms)

    @property
    def columns(self) -> Array:
        """The largest share of the squared norm that one column has, (m,)."""
        return _over((self.values**2).sum(axis=1).max(axis=1), self.norms**2)

    def entries(self, head: int) -> Array:
        """Return the entries of a matrix, or of evenly spaced rows of a large one: (rows, d)."""
        d = self.values.shape[1]
        return self.values[head][np.linspace(0, d - 1, min(d, max(1, _SHOWN // d))).astype(int)]


def _over(values: Array, by: Array) -> Array:
    return np.divide(values, by, out=np.zeros(len(values)), where=by > 0)
