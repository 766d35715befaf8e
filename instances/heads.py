"""The heads of a layer by their factors, so that a layer of a model is measured without d x d.

Theta_i = left_i right_i^T, of rank r: nothing here forms a matrix of d x d unless it was given one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.errors import UsageError
from instances.layer import AttentionLayer, Kind
from instances.limits import require_memory

Array = NDArray[Any]
_GRAM = 1 << 27  # numbers of a part of a Gram matrix
_SHOWN = 1 << 18  # entries of a head that are looked at one by one
_MOST, _MOST_SINGLE = 1e140, 1e7  # entries, in float64 and float32, whose Gram matrices are finite


@dataclass(frozen=True, kw_only=True, eq=False)
class Matrices:
    """m matrices of (d, d): left_i right_i^T, both factors (m, d, r), or left_i alone, (m, d, d).

    Raises UsageError for shapes that disagree and for entries that are not finite.

    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.standard_normal((2, 3, 8, 2))
    >>> found = Matrices(left=left, right=right)
    >>> whole = Matrices(left=left @ right.transpose(0, 2, 1))
    >>> bool(np.allclose(found.products, whole.products))
    True
    """

    left: Array
    right: Array | None = None

    def __post_init__(self) -> None:
        parts = [self.left] if self.right is None else [self.left, self.right]
        most = _MOST ** (1 / len(parts)) if self.left.dtype.itemsize > 4 else _MOST_SINGLE
        for part in parts:
            if part.ndim != 3 or not part.size or part.dtype.kind != "f":
                raise UsageError(f"heads of shape {part.shape} given: (m, d, r) is needed")
            if not np.isfinite(part).all():
                raise UsageError("heads have entries that are not finite")
            size = float(np.abs(part).max())
            if size and not 1 / most <= size <= most:
                raise UsageError(
                    f"heads of {part.dtype} with entries up to {size:.1g} given: between "
                    f"{1 / most:g} and {most:g} their squares can be computed: scale them"
                )
        _, d, r = self.left.shape
        if self.right is None and r != d:
            raise UsageError(f"heads of shape {self.left.shape} given: (m, d, d) is needed")
        if self.right is not None and self.right.shape != self.left.shape:
            raise UsageError(f"factors {self.left.shape} and {self.right.shape} differ in shape")

    @property
    def shape(self) -> tuple[int, int]:
        """The number of matrices and their dimension."""
        return self.left.shape[0], self.left.shape[1]

    @cached_property
    def products(self) -> NDArray[np.float64]:
        """The Frobenius inner products of all pairs, (m, m)."""
        m = len(self.left)
        if self.right is None:
            flat = self.left.reshape(m, -1)
            return np.asarray(flat @ flat.T, np.float64)
        _, d, r = self.left.shape
        parts = [part.transpose(1, 0, 2).reshape(d, m * r) for part in (self.left, self.right)]
        found = np.empty((m, m))
        step = max(1, _GRAM // (m * r * r))  # heads at a time
        for start in range(0, m, step):
            rows = slice(start * r, (start + step) * r)
            left, right = (part[:, rows].T @ part for part in parts)
            blocks = (left * right).reshape(-1, r, m, r)
            found[start : start + step] = blocks.sum(axis=(1, 3), dtype=np.float64)
        return (found + found.T) / 2

    @property
    def norms(self) -> NDArray[np.float64]:
        """The Frobenius norms, (m,)."""
        return np.sqrt(np.maximum(np.diag(self.products), 0.0))

    @cached_property
    def cosines(self) -> NDArray[np.float64]:
        """The cosines of all pairs, (m, m); 0 for a matrix of zeros."""
        sizes = np.where(self.norms > 0, self.norms, 1.0)
        return np.asarray(self.products / np.outer(sizes, sizes))

    @cached_property
    def singular_values(self) -> NDArray[np.float64]:
        """The singular values of each that may differ from 0, the largest first, (m, r).

        To about 1e-8 of the largest.
        """
        if self.right is None:
            return np.asarray(np.linalg.svd(self.left, compute_uv=False), np.float64)
        # Their squares are the eigenvalues of S (R^T R) S, where S S = L^T L.
        left, right = (np.asarray(part, np.float64) for part in (self.left, self.right))
        values, vectors = np.linalg.eigh(left.transpose(0, 2, 1) @ left)
        root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
        inner = root.transpose(0, 2, 1) @ (right.transpose(0, 2, 1) @ right) @ root
        return np.sqrt(np.maximum(np.linalg.eigvalsh(inner)[:, ::-1], 0.0))

    @property
    def stable_ranks(self) -> NDArray[np.float64]:
        """The squares of Frobenius over spectral norms, (m,); 0 for a matrix of zeros."""
        return _over(self.norms, self.singular_values[:, 0]) ** 2

    @cached_property
    def traces(self) -> NDArray[np.float64]:
        """The sizes of the traces over the Frobenius norms, (m,); 0 for a matrix of zeros."""
        if self.right is None:
            found = np.asarray(np.trace(self.left, axis1=1, axis2=2), np.float64)
        else:
            found = np.einsum("mdr,mdr->m", self.left, self.right, dtype=np.float64)
        return _over(np.abs(found), self.norms)

    @cached_property
    def columns(self) -> NDArray[np.float64]:
        """The largest share of the squared norm that one column has, (m,)."""
        if self.right is None:
            found = np.asarray((self.left**2).sum(axis=1), np.float64)
        else:
            inner = self.left.transpose(0, 2, 1) @ self.left
            found = np.einsum("mdr,mdr->md", self.right @ inner, self.right, dtype=np.float64)
        return _over(found.max(axis=1), self.norms**2)

    def entries(self, head: int) -> NDArray[np.float64]:
        """Return the entries of a matrix, or of evenly spaced rows of a large one: (rows, d)."""
        d = self.shape[1]
        rows = np.linspace(0, d - 1, min(d, max(1, _SHOWN // d))).astype(int)
        if self.right is None:
            return np.asarray(self.left[head][rows], np.float64)
        return np.asarray(self.left[head][rows] @ self.right[head].T, np.float64)

    def times(self, x: Array, head: int) -> Array:
        """Multiply (n, d) by a matrix from the right: (n, d)."""
        if self.right is None:
            return np.asarray(x @ self.left[head])
        return np.asarray((x @ self.left[head]) @ self.right[head].T)

    def dense(self) -> NDArray[np.float64]:
        """Form the matrices, (m, d, d); raises TooLarge."""
        m, d = self.shape
        if self.right is None:
            return np.asarray(self.left, np.float64)
        require_memory(24 * m * d * d, f"{m} heads of {d} x {d}")
        return np.asarray(self.left @ self.right.transpose(0, 2, 1), np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Heads:
    """The heads of a layer F(X) = sum_i softmax(X Theta_i X^T) X W_i, and what F leaves out.

    source: where they come from, in words. notes: how they follow from what was given. left_out:
    what the model has beside F(X), each with what that means. constant: whether biases stand in
    the last coordinate, which every token has to hold as 1. Raises UsageError for shapes that
    disagree.

    >>> made = Heads.of(AttentionLayer(theta=np.eye(2)[None], w=np.eye(2)[None]))
    >>> made.m, made.d, made.layer().kind
    (1, 2, 'softmax')
    """

    theta: Matrices
    w: Matrices
    kind: Kind = "softmax"
    source: str = ""
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    constant: bool = False

    def __post_init__(self) -> None:
        if self.theta.shape != self.w.shape:
            raise UsageError(
                f"Theta has {self.theta.shape[0]} heads of dimension {self.theta.shape[1]}, "
                f"W {self.w.shape[0]} of {self.w.shape[1]}: they must be the same"
            )

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate (n, k, d) tokens to (n, k, d) outputs."""
        return self.layer()(x)

    @classmethod
    def of(cls, layer: AttentionLayer) -> "Heads":
        """Take a layer as it is."""
        return cls(theta=Matrices(left=layer.theta), w=Matrices(left=layer.w), kind=layer.kind)

    @property
    def m(self) -> int:
        """The number of heads."""
        return self.theta.shape[0]

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return self.theta.shape[1]

    def layer(self) -> AttentionLayer:
        """Form the layer with its matrices of (m, d, d); raises TooLarge."""
        return AttentionLayer(theta=self.theta.dense(), w=self.w.dense(), kind=self.kind)


def _over(values: NDArray[np.float64], by: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.divide(values, by, out=np.zeros(len(values)), where=by > 0)
