"""The layer: F(X) = sum_i softmax(X Theta_i X^T) X W_i, or without the softmax."""

import inspect
import sys
from dataclasses import dataclass
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from instances.arguments import located, real_array
from instances.errors import UsageError
from instances.limits import require_memory

Kind = Literal["softmax", "linear"]
LAYER = "hardness-layer/1"  # of files
_BATCH_BYTES = 1 << 25


@dataclass(frozen=True, kw_only=True, eq=False)
class AttentionLayer:
    """A multi-head attention layer with theta and w of shape (m, d, d), float64. [CL24]

    kind: softmax, or linear, where the attention weights are the logits. constant: whether the last
    coordinate of every token is 1, to carry biases. Raises UsageError for shapes that disagree,
    for entries that are not finite, and for an unknown kind.

    >>> layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None])
    >>> layer(np.array([[[1, -1], [1, 1]]])).tolist()
    [[[1.0, 0.0], [1.0, 0.0]]]
    """

    theta: NDArray[np.float64]
    w: NDArray[np.float64]
    kind: Kind = "softmax"
    constant: bool = False

    def __post_init__(self) -> None:
        for name in ("theta", "w"):
            array = np.array(getattr(self, name), np.float64, order="C")
            if array.ndim != 3 or array.shape[1] != array.shape[2] or not array.size:
                raise UsageError(f"{name} must have the shape (m, d, d), got {array.shape}")
            if not np.isfinite(array).all():
                raise UsageError(f"{name} has entries that are not finite")
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        if self.theta.shape != self.w.shape:
            raise UsageError(f"theta {self.theta.shape} and w {self.w.shape} differ in shape")
        if self.kind not in get_args(Kind):
            raise UsageError(f"kind must be {' or '.join(get_args(Kind))}, got {self.kind!r}")

    @classmethod
    def from_qkvo(
        cls,
        q: ArrayLike,
        k: ArrayLike,
        v: ArrayLike,
        o: ArrayLike,
        *,
        bq: ArrayLike | None = None,
        bk: ArrayLike | None = None,
        bv: ArrayLike | None = None,
        bo: ArrayLike | None = None,
        scale: float | None = None,
    ) -> "AttentionLayer":
        """Make a layer from matrices that act as x W: Theta_i = scale Q_i K_i^T, W_i = V_i O_i.

        Biases other than 0 need a constant coordinate: the layer then takes tokens of d + 1
        numbers, the last of which is 1, and its last output is 0.

        Parameters
        ----------
        q, k : array of shape (m, d, r)
            Projections of queries and keys, one matrix per head.
        v : array of shape (m, d, s)
            Projections of values.
        o : array of shape (m, s, d)
            Projections of the outputs.
        bq, bk : array of shape (m, r), optional
            Biases of queries and keys. The bias of the keys adds one number to all logits of a
            token, so it changes no output.
        bv : array of shape (m, s), optional
            Biases of values.
        bo : array of shape (d,), optional
            Bias of the output.
        scale : float, optional
            Factor of the logits; 1/sqrt(r) by default.

        Returns
        -------
        AttentionLayer
            The layer of m heads.

        Raises
        ------
        UsageError
            For shapes that disagree.

        Examples
        --------
        >>> q, k, v, o = np.random.default_rng(0).standard_normal((4, 2, 3, 3))
        >>> layer = AttentionLayer.from_qkvo(q, k, v, o)
        >>> bool(np.allclose(layer.theta, q @ k.transpose(0, 2, 1) / np.sqrt(3)))
        True
        >>> layer.d, AttentionLayer.from_qkvo(q, k, v, o, bo=np.ones(3)).d
        (3, 4)
        """
        q, k, v, o = (
            real_array(name, part, "(m, r, d)" if name == "o" else "(m, d, r)").astype(np.float64)
            for name, part in {"q": q, "k": k, "v": v, "o": o}.items()
        )
        if scale is not None and not isinstance(scale, Real):
            raise UsageError(f"scale must be a number, got {scale!r}")
        (m, d, r), s = q.shape, v.shape[2]
        if k.shape != q.shape or v.shape[:2] != (m, d) or o.shape != (m, s, d):
            raise UsageError(
                f"q {q.shape}, k {k.shape}, v {v.shape}, o {o.shape} do not fit: (m, d, r) for q "
                "and k, (m, d, s) for v, (m, s, d) for o"
            )
        shapes = {"bq": (bq, (m, r)), "bk": (bk, (m, r)), "bv": (bv, (m, s)), "bo": (bo, (d,))}
        biases = {name: np.zeros(shape) for name, (_, shape) in shapes.items()}
        for name, (bias, shape) in shapes.items():
            if bias is not None:
                biases[name] = real_array(name, bias, "(d,)" if name == "bo" else "(m, r)")
            if biases[name].shape != shape:
                raise UsageError(f"{name} must have the shape {shape}, got {biases[name].shape}")
        require_memory(48 * m * (d + 1) ** 2, f"{m} heads of {d} x {d}")
        constant = any(biases[name].any() for name in ("bq", "bv", "bo"))
        if constant:
            q, v = (
                np.concatenate([part, biases[name][:, None]], axis=1)
                for part, name in ((q, "bq"), (v, "bv"))
            )
            k = np.pad(k, ((0, 0), (0, 1), (0, 0)))
            o = np.pad(o, ((0, 0), (0, 0), (0, 1)))
        with np.errstate(over="ignore", invalid="ignore"):  # refused below
            w = v @ o
            theta = q @ k.transpose(0, 2, 1) * (r**-0.5 if scale is None else float(scale))
        if constant:  # attention weights sum to 1, so the first head can add the output bias
            w[0, -1, :-1] += biases["bo"]
        return cls(theta=theta, w=w, constant=constant)

    @classmethod
    def from_torch(cls, module: Any) -> "AttentionLayer":
        """Make a layer from a torch.nn.MultiheadAttention: self-attention in evaluation mode.

        Parameters
        ----------
        module : torch.nn.MultiheadAttention
            Or a module with a method `layer()` that returns theta and w, tensors or arrays
            (m, d, d) each. Biases go into a constant coordinate, see `from_qkvo`.

        Returns
        -------
        AttentionLayer
            With the module's heads.

        Raises
        ------
        UsageError
            For another module, for one that adds a token (`add_bias_kv`, `add_zero_attn`), and
            for one whose keys or values have another size.
        """
        torch = sys.modules.get("torch")  # a module exists only if torch is imported
        if inspect.ismethod(layer_method := getattr(module, "layer", None)):
            parts = layer_method()
            try:
                theta, w = (_numbers(part) for part in parts)
                return cls(theta=theta, w=w)
            except (TypeError, ValueError) as error:
                raise UsageError(
                    f"{type(module).__name__}.layer() must return theta and w, tensors or arrays "
                    f"(m, d, d): {error}"
                ) from error
        if torch is None or not isinstance(module, torch.nn.MultiheadAttention):
            raise UsageError(
                f"module must be a torch.nn.MultiheadAttention, got {type(module).__name__}; take "
                "AttentionLayer.from_qkvo(q, k, v, o) for other layers, or add a method layer()"
            )
        if module.in_proj_weight is None:
            raise UsageError(
                "MultiheadAttention must have no kdim and vdim: keys and values are those of x"
            )
        if module.bias_k is not None or module.add_zero_attn:
            raise UsageError(
                "MultiheadAttention must have neither add_bias_kv nor add_zero_attn: the layer "
                "F(X) has no token of its own"
            )

        m, d = module.num_heads, module.embed_dim
        # nn.Linear stores (out, in) and computes x W^T; rows are grouped by head.
        q, k, v = _numbers(module.in_proj_weight).reshape(3, m, d // m, d).transpose(0, 1, 3, 2)
        o = _numbers(module.out_proj.weight).T.reshape(m, d // m, d)
        biases = (module.in_proj_bias, module.out_proj.bias)
        joined, bo = (None if bias is None else _numbers(bias) for bias in biases)
        bq, bk, bv = (None,) * 3 if joined is None else joined.reshape(3, m, d // m)
        return cls.from_qkvo(q, k, v, o, bq=bq, bk=bk, bv=bv, bo=bo)

    @property
    def m(self) -> int:
        """The number of heads."""
        return int(self.theta.shape[0])

    @property
    def d(self) -> int:
        """The dimension of a token."""
        return int(self.theta.shape[1])

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write theta and w to a .npz or .safetensors file, which `hardness inspect` reads.

        Raises UsageError for another ending, and AlreadyExists for an existing file unless `force`.
        """
        from instances.arrayfile import write_tensors
        from instances.disk import refuse_existing

        where = Path(located("path", path))
        if where.suffix not in (".npz", ".safetensors"):
            raise UsageError(f"a layer's file must end in .npz or .safetensors, got {path}")
        refuse_existing(where, force)
        meta = {"format": LAYER, "kind": self.kind} | ({"constant": True} if self.constant else {})
        write_tensors(where, {"theta": self.theta, "w": self.w}, meta, mode=0o600)

    def __call__(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate (n, k, d) tokens to (n, k, d) outputs, in batches of bounded memory."""
        x = np.asarray(x)
        if x.ndim != 3 or x.shape[2] != self.d:
            raise UsageError(f"tokens must have the shape (n, k, {self.d}), got {x.shape}")
        out = np.empty(x.shape, np.float64)
        n, k, d = x.shape
        batch = max(1, _BATCH_BYTES // (8 * k * (3 * d + 2 * k)))
        for start in range(0, n, batch):
            part = slice(start, start + batch)
            out[part] = self._forward(x[part].astype(np.float64))
        return out

    def _forward(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        flat = x.reshape(-1, self.d)  # so that one matrix product serves all examples
        out = np.zeros_like(flat)
        rows = [x[:, j] for j in range(x.shape[1])]
        for theta, w in zip(self.theta, self.w, strict=True):
            # There are few tokens: sums over them are faster than a small product per example.
            queries = (flat @ theta).reshape(x.shape)
            weights = np.stack([np.einsum("nkd,nd->nk", queries, row) for row in rows], axis=-1)
            weights = softmax_rows(weights) if self.kind == "softmax" else weights
            mixed = weights[:, :, :1] * rows[0][:, None]
            for j, row in enumerate(rows[1:], 1):
                mixed += weights[:, :, j : j + 1] * row[:, None]
            out += mixed.reshape(-1, self.d) @ w
        return out.reshape(x.shape)


def _numbers(part: Any) -> NDArray[np.float64]:
    """Convert a tensor of torch on any device, or an array, to float64."""
    return np.asarray(part.detach().cpu().double() if hasattr(part, "detach") else part, np.float64)


def softmax_rows(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Softmax over the last axis, shifted by the row's maximum so that nothing overflows.

    Equals scipy.special.softmax(logits, axis=-1).

    >>> softmax_rows(np.array([[1000.0, 1000.0]])).tolist()
    [[0.5, 0.5]]
    """
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True))
