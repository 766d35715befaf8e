"""What finite families are made of: functions of a user's file, or a folder of layers."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hardness.lower.finite.unions import Union, read_union
from instances.errors import UsageError
from instances.family import Family
from instances.files import load_layer
from instances.layer import AttentionLayer
from instances.userfile import Functions, guarded, load, split

_ENDINGS = (".npz", ".safetensors")
_TRIED = 64  # points on which members are asked twice


@dataclass(frozen=True, kw_only=True, eq=False)
class FiniteFamily:
    """Finitely many functions on the cube {-1,+1}^n, uniform, with `outputs` numbers at a point.

    evaluate: points (count, n), int8 -> (M, count * outputs), float64. bound: of the norm of the
    outputs of a member at any point. The inner product is E sum over outputs of the products.
    """

    kind: Literal["functions", "layers"]
    label: str  # path and hash, as in the spec of its certificate
    names: tuple[str, ...]
    d: int
    n: int
    outputs: int
    bound: float
    evaluate: Callable[[NDArray[np.int8]], NDArray[np.float64]]

    @property
    def spec(self) -> str:
        """The name of the family in its certificate."""
        return f"{self.kind}:d={self.d},members={len(self.names)},{self.label}"


def read_source(text: str) -> FiniteFamily | Union | None:
    """Read what `certify` is given: functions, layers, a list of specs, or None.

    None stands for what `instances.parse` or `instances.read_folder` read. Raises UsageError.

    >>> read_source("parity:d=8,m=3") is None
    True
    """
    if split(text) is not None:
        found = load(text)
        return None if isinstance(found, Family) else functions(found)
    path = Path(text.strip() or "?")
    try:
        folder = path.is_dir() and not (path / "instance.json").exists()
    except (OSError, ValueError):  # too long, or a character that no path may have
        return None
    if folder:
        return layers(path)
    return read_union(path) if path.suffix == ".specs" else None


def functions(given: Functions) -> FiniteFamily:
    """Make a family of the functions of a user's file."""

    def one(i: int, x: NDArray[np.int8]) -> NDArray[np.float64]:
        with guarded(given.where(i)):
            values = np.asarray(given.functions[i](x))
        if values.shape != (len(x),) or values.dtype.kind not in "biuf":
            raise UsageError(
                f"{given.where(i)} gives {values.dtype} of shape {values.shape} on points of "
                f"shape {x.shape}: real numbers ({len(x)},) are needed"
            )
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise UsageError(f"{given.where(i)} gives the value {bad}: values must be finite")
        return values

    def evaluate(x: NDArray[np.int8]) -> NDArray[np.float64]:
        points = x.copy()
        points.setflags(write=False)  # a function that writes on its points spoils the next one's
        return np.array([one(i, points) for i in range(len(given.functions))])

    x = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (_TRIED, given.d))
    x[0], x[-1] = 1, -1
    forth, back = evaluate(x), evaluate(x[::-1])[:, ::-1]
    half = evaluate(x[: len(x) // 2])
    differ = (forth != back).any(axis=1) | (forth[:, : len(x) // 2] != half).any(axis=1)
    if differ.any():
        raise UsageError(
            f"{given.where(int(differ.argmax()))} gives other values when the same points come "
            "in another order or number: a value must depend on its own point alone"
        )
    label = f"path={given.path.name}:{given.name},sha256={given.sha256}"
    return FiniteFamily(
        kind="functions",
        label=label,
        names=given.names,
        d=given.d,
        n=given.d,
        outputs=1,
        bound=given.bound,
        evaluate=evaluate,
    )


def layers(folder: Path) -> FiniteFamily:
    """Make a family of the layers in a folder, by name; raises UsageError, DamagedFile."""
    paths = sorted(p for p in folder.iterdir() if p.suffix in _ENDINGS and p.is_file())
    if not paths:
        raise UsageError(
            f"{folder} holds neither layers (*.safetensors, *.npz, as save_layer writes them) nor "
            "an instance of `hardness generate`"
        )
    found = [load_layer(p) for p in paths]
    for path, layer in zip(paths, found, strict=True):
        if layer.d != found[0].d:
            raise UsageError(
                f"{folder}: layers of different d: {paths[0].name} has d={found[0].d}, "
                f"{path.name} d={layer.d}; all must have the same"
            )
    d, digest = found[0].d, hashlib.sha256()
    for path, layer in zip(paths, found, strict=True):
        inside = hashlib.sha256(f"{layer.kind} {layer.theta.shape}".encode())
        inside.update(np.ascontiguousarray(layer.theta, "<f8").tobytes())
        inside.update(np.ascontiguousarray(layer.w, "<f8").tobytes())
        digest.update(f"{path.name} {inside.hexdigest()}\n".encode())

    def evaluate(x: NDArray[np.int8]) -> NDArray[np.float64]:
        pairs = x.reshape(len(x), 2, d)
        with np.errstate(all="ignore"):
            values = np.array([layer(pairs).reshape(-1) for layer in found])
        wrong = ~np.isfinite(values).all(axis=1)
        if wrong.any():
            raise UsageError(f"{paths[int(wrong.argmax())]} gives values beyond float64")
        return values

    return FiniteFamily(
        kind="layers",
        label=f"path={folder.resolve().name},sha256={digest.hexdigest()}",
        names=tuple(p.name for p in paths),
        d=d,
        n=2 * d,
        outputs=2 * d,
        bound=max(map(norm_bound, found)),
        evaluate=evaluate,
    )


def norm_bound(layer: AttentionLayer) -> float:
    """Bound the norm of a layer's output (2, d) on two tokens of -1 and +1.

    A row is sum_i p_i W_i with p_i a mix of the tokens: its entries are at most 1 in size, or for
    linear heads at most the sum of the row's two weights, each at most the sum of all |Theta_i|.

    >>> round(norm_bound(AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None])), 6)
    2.0
    """
    scale = np.ones(layer.m)
    if layer.kind == "linear":
        scale = 2 * np.abs(layer.theta).sum(axis=(1, 2))
    columns = (scale[:, None] * np.abs(layer.w).sum(axis=1)).sum(axis=0)
    return float(np.sqrt(2 * (columns**2).sum()) * (1 + 1e-9))
