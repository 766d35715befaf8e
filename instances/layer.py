"""The layer: F(X) = sum_i softmax(X Theta_i X^T) X W_i, or with other attention than softmax."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.errors import UsageError

Kind = Literal["softmax", "linear", "hardmax", "power2", "power4", "power8"]
LAYER = "hardness-layer/1"  # of files
_BATCH_BYTES = 1 << 25


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionLayer:
    """A multi-head attention layer with theta and w of shape (m, d, d), float64. [CL24]

    kind: what becomes of logits, see `attention`. Raises UsageError for shapes that disagree,
    entries that are not finite, an unknown kind.

    >>> layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None])
    >>> layer(np.array([[[1, -1], [1, 1]]])).tolist()
    [[[1.0, 0.0], [1.0, 0.0]]]
    """

    theta: NDArray[np.float64]
    w: NDArray[np.float64]
    kind: Kind = "softmax"

    def __post_init__(self) -> None:
        for name in ("theta", "w"):
            given = np.array(getattr(self, name), np.float64, order="C")
            if given.ndim != 3 or given.shape[1] != given.shape[2] or not given.size:
                raise UsageError(f"{name} of shape {given.shape} given: it must be (m, d, d)")
            if not np.isfinite(given).all():
                raise UsageError(f"{name} has entries that are not finite")
            given.setflags(write=False)
            object.__setattr__(self, name, given)
        if self.theta.shape != self.w.shape:
            raise UsageError(f"theta {self.theta.shape} and w {self.w.shape} differ in shape")
        if self.kind not in get_args(Kind):
            raise UsageError(f"kind {self.kind!r} given: it must be one of {get_args(Kind)}")

    @property
    def m(self) -> int:
        """The number of heads."""
        return int(self.theta.shape[0])

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return int(self.theta.shape[1])

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write theta and w as .npz or .safetensors, which `hardness inspect` reads.

        Raises UsageError for another ending, AlreadyExists for a file that is there, unless forced.
        """
        from instances.arguments import located
        from instances.disk import refuse_existing, write_tensors

        where = Path(located("path", path))
        if where.suffix not in (".npz", ".safetensors"):
            raise UsageError(f"{path} given: end its name in .npz or .safetensors")
        refuse_existing(where, force)
        meta = {"format": LAYER, "kind": self.kind}
        write_tensors(where, {"theta": self.theta, "w": self.w}, meta, mode=0o600)

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate (n, k, d) tokens to (n, k, d) outputs, in batches of bounded memory."""
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[2] != self.d:
            raise UsageError(f"tokens of shape {x.shape} given: (n, k, {self.d}) is needed")
        out = np.empty(x.shape, np.float64)
        n, k, d = x.shape
        batch = max(1, _BATCH_BYTES // (8 * k * (3 * d + 2 * k)))
        for start in range(0, n, batch):
            part = slice(start, start + batch)
            out[part] = self._forward(x[part].astype(np.float64))
        return out

    def _forward(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = x.reshape(-1, self.d)  # one matrix product for all examples, not one for each
        out = np.zeros_like(flat)
        for theta, w in zip(self.theta, self.w, strict=True):
            weights = attention(pair_products((flat @ theta).reshape(x.shape), x), self.kind)
            out += mix_tokens(weights, x).reshape(-1, self.d) @ w
        return out.reshape(x.shape)


def pair_products(left: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inner products of rows, (n, k, d) and (n, k, d) -> (n, k, k): equals left @ x^T by example.

    >>> pair_products(np.ones((1, 2, 3)), np.ones((1, 2, 3))).tolist()
    [[[3.0, 3.0], [3.0, 3.0]]]
    """
    # k is small: sums over tokens are faster than a small matrix product for each example.
    return np.stack([np.einsum("nkd,nd->nk", left, x[:, j]) for j in range(x.shape[1])], axis=-1)


def mix_tokens(weights: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted sums of tokens, (n, k, k) and (n, k, d) -> (n, k, d): weights @ x by example.

    >>> mix_tokens(np.full((1, 2, 2), 0.5), np.array([[[1.0], [3.0]]])).tolist()
    [[[2.0], [2.0]]]
    """
    out = weights[:, :, :1] * x[:, None, 0]
    for j in range(1, x.shape[1]):
        out += weights[:, :, j : j + 1] * x[:, None, j]
    return out


def attention(logits: NDArray[np.float64], kind: Kind) -> NDArray[np.float64]:
    """Turn logits (.., k) into attention weights, over the last axis.

    linear: the logits. hardmax: all weight on the largest, shared by those that are equal. power2,
    power4, power8: in proportion to that power of the logits, equal where all of them are 0.

    >>> logits = np.array([[1.0, -2.0]])
    >>> attention(logits, "hardmax").tolist(), attention(logits, "power2").tolist()
    ([[1.0, 0.0]], [[0.2, 0.8]])
    """
    if kind == "softmax":
        return softmax_rows(logits)
    if kind == "linear":
        return logits
    if kind == "hardmax":
        chosen = (logits == logits.max(axis=-1, keepdims=True)).astype(np.float64)
    else:
        sizes = np.abs(logits)
        largest = sizes.max(axis=-1, keepdims=True)
        scaled = np.divide(sizes, largest, out=np.ones_like(sizes), where=largest > 0)
        chosen = scaled ** int(kind.removeprefix("power"))
    return np.asarray(chosen / chosen.sum(axis=-1, keepdims=True))


def softmax_rows(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax over the last axis, shifted by the row's maximum so that nothing overflows.

    Equals scipy.special.softmax(logits, axis=-1).

    >>> softmax_rows(np.array([[1000.0, 1000.0]])).tolist()
    [[0.5, 0.5]]
    """
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))
