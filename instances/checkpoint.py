"""The heads of a layer from a file: of this project, of a user's arrays, of a model's checkpoint.

F(X) = sum_i softmax(X Theta_i X^T) X W_i has neither positions nor masks nor norms: what a model
has beside it is named in `Heads.left_out`, with what that means. Pickles are never loaded.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from instances.arrayfile import SUFFIXES, Described, array_file
from instances.errors import DamagedFile, UsageError
from instances.heads import Heads, Matrices
from instances.layer import LAYER, Kind
from instances.limits import require_memory
from instances.strict import Limits, read_json, shown

Array = NDArray[Any]
_MOST_ARRAYS = 20_000  # of a checkpoint
_CONFIG = Limits(size=1 << 22)
_INDEX = Limits(size=1 << 24)
_MODELS = ("model.safetensors.index.json", "model.safetensors")
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")

_MASK = "a causal mask: each token sees only those before it, F(X) lets each see all"
_RESIDUAL = "the residual connection and the feed-forward part, which follow"
_NORM_BEFORE = (
    "the {norm} before it: the tokens of F(X) are its outputs, not those of the layer before"
)
_ROTARY = (
    "rotary positions: they turn queries and keys by their places, so that Theta_i holds for two "
    "tokens at the same place only"
)
_LEARNED = "learned positions, which are added to the tokens of the first layer"


class _Layout(NamedTuple):
    """How a kind of model names its attention.

    before: matches what stands before a layer's number. parts: the projections of queries, keys,
    values and outputs, as (out, in); or the first three in one and the outputs, as (in, out).
    heads: the key of config.json.
    """

    name: str
    before: str
    parts: tuple[str, ...]
    heads: str
    left_out: tuple[str, ...]

    def matched(self, tensor: str) -> re.Match[str] | None:
        """Match the name of a tensor that each layer has: what stands before, and its number."""
        return re.fullmatch(
            rf"({self.before})(\d{{1,4}})\.{re.escape(self.parts[0])}\.weight", tensor
        )


_LAYOUTS = (
    _Layout(
        "GPT-2",
        r"(?:transformer\.)?h\.",
        ("attn.c_attn", "attn.c_proj"),
        "n_head",
        (_MASK, _NORM_BEFORE.format(norm="layer norm"), _LEARNED, _RESIDUAL),
    ),
    _Layout(
        "Llama",
        r"(?:[a-z_]+\.)*layers\.",
        tuple(f"self_attn.{part}_proj" for part in "qkvo"),
        "num_attention_heads",
        (_MASK, _NORM_BEFORE.format(norm="RMS norm"), _ROTARY, _RESIDUAL),
    ),
    _Layout(
        "BERT",
        r"(?:[a-z_]+\.)?encoder\.layer\.",
        tuple(f"attention.{p}" for p in ("self.query", "self.key", "self.value", "output.dense")),
        "num_attention_heads",
        (_LEARNED, _RESIDUAL + ", with their layer norms"),
    ),
)
_NORMED = "the norms of queries and keys (q_norm, k_norm): logits are of normed ones"


class _Tensors(dict[str, tuple[Path, Described]]):
    """Tensors by name, in one file or several; each is read when it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.converted: set[str] = set()

    def __call__(self, name: str, dimensions: int) -> Array:
        """Read a tensor; raises DamagedFile for one that is missing or has another shape."""
        if name not in self:
            raise DamagedFile(
                f"tensor {name} is missing: a model in several files is given by its folder or by "
                "its .safetensors.index.json"
            )
        path, one = self[name]
        if len(one.shape) != dimensions:
            raise DamagedFile(f"{path}: {name} has shape {one.shape}: {dimensions} axes are needed")
        if one.dtype.kind != "f":
            raise DamagedFile(
                f"{path}: {name} holds {one.dtype}: floating-point numbers are needed"
            )
        found = one.read()
        if one.stored or found.dtype == np.float16:
            self.converted.add(one.stored or "float16")
            found = found.astype(np.float32, copy=False)
        if not np.isfinite(found).all():
            raise DamagedFile(f"{path}: {name} has entries that are not finite")
        return found

    def maybe(self, name: str, dimensions: int = 1) -> Array | None:
        """Read a tensor that a layer may be without."""
        return self(name, dimensions) if name in self else None


def holds_layer(path: Path) -> bool:
    """Return whether a path is to be read by `read_heads`, and not as a folder of examples.

    >>> holds_layer(Path("layer.safetensors")), holds_layer(Path("parity:d=8,m=3"))
    (True, False)
    """
    if path.suffix in (*SUFFIXES, *_PICKLES) or path.name.endswith(".index.json"):
        return True
    return any((path / name).exists() for name in _MODELS)


def read_heads(path: Path, layer: int | None = None, heads: int | None = None) -> Heads:
    """Read the heads of one layer of attention from a file or a model's folder.

    path: .npz or .safetensors with theta and w, (m, d, d), or with q, k, v (m, d, r) and
    o (m, r, d), and biases; or a checkpoint in the layout of GPT-2, Llama or BERT, also in several
    files. layer: which layer of a checkpoint, from 0. heads: how many, where no config.json beside
    it says. Raises UsageError and DamagedFile.
    """
    if path.suffix in _PICKLES:
        raise UsageError(
            f"{path} given: pickles are not loaded, for they can run code; save the model as "
            "safetensors"
        )
    with ExitStack() as stack:
        tensors = _Tensors()
        kind: Any = "softmax"
        for file in _files(path):
            opened = stack.enter_context(array_file(file, most=_MOST_ARRAYS))
            if opened.meta and opened.meta.get("format") == LAYER:
                kind = opened.meta.get("kind")
                if kind not in get_args(Kind):
                    raise DamagedFile(f"{file}: kind {shown(kind)} of attention is not known")
            for name, one in opened.arrays.items():
                if name in tensors:
                    raise DamagedFile(f"{file}: tensor {name} stands in {tensors[name][0]} too")
                tensors[name] = (file, one)
        if not any(own <= tensors.keys() for own in ({"theta", "w"}, {"q", "k", "v", "o"})):
            return _of_checkpoint(path, tensors, layer, heads)
        if layer is not None:
            raise UsageError(f"layer {layer} given: {path} holds one layer, without a number")
        return _own_layer(path, tensors, kind)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        there = [path / name for name in _MODELS if (path / name).exists()]
        if not there:
            raise UsageError(f"{path} given: it has no model.safetensors and no index of its parts")
        return _files(there[0])
    if path.name.endswith(".index.json"):
        index = read_json(path, _INDEX)
        parts = index.get("weight_map")
        if not isinstance(parts, dict) or not parts:
            raise DamagedFile(f"{path} has no weight_map: it is no index of a model's files")
        names = sorted({str(part) for part in parts.values()})
        odd = [name for name in names if Path(name).name != name]
        if odd:
            raise DamagedFile(f"{path}: its parts must lie beside it, and {odd[0]!r} does not")
        return [path.parent / name for name in names]
    if path.suffix not in SUFFIXES or path.suffix == ".npy":
        raise UsageError(
            f"{path} given: a layer is read from .safetensors or .npz, or from a model's folder"
        )
    return [path]


def _own_layer(path: Path, tensors: _Tensors, kind: Any) -> Heads:
    try:
        if "theta" in tensors:
            theta, w = (Matrices(left=tensors(name, 3)) for name in ("theta", "w"))
            return Heads(theta=theta, w=w, kind=kind, source=str(path))
        parts = [tensors(name, 3) for name in "qkvo"]
        biases = (*(tensors.maybe(name, 2) for name in ("bq", "bk", "bv")), tensors.maybe("bo"))
        scale = tensors.maybe("scale", 0)
        factor = None if scale is None else float(scale)
        made = of_projections(parts, biases, factor, source=str(path))
    except UsageError as error:
        raise DamagedFile(f"{path}: {error}") from error
    unread = sorted(set(tensors) - {"q", "k", "v", "o", "bq", "bk", "bv", "bo", "scale"})
    if unread:
        raise UsageError(
            f"{path} holds {', '.join(unread)[:80]} beside q, k, v and o: biases are named bq, bk, "
            "bv and bo, and the factor of the logits scale"
        )
    return made


def of_projections(
    parts: Sequence[Array],
    biases: Sequence[Array | None] = (None,) * 4,
    scale: float | None = None,
    notes: Iterable[str] = (),
    **known: Any,
) -> Heads:
    """Make heads of projections: Theta_i = scale Q_i K_i^T and W_i = V_i O_i.

    parts: q, k, v (m, d, r) and o (m, r, d). biases: of q, k and v (m, r), of the output (d,).
    scale: of the logits, 1/sqrt(r) if None. known: other fields of the heads. Biases go through a
    coordinate d+1 of the tokens that is always 1: then d grows by one, and the last output is 0.
    That of k shows in no softmax and is left out.
    Raises UsageError for shapes that disagree.

    >>> rng = np.random.default_rng(0)
    >>> parts = (*rng.standard_normal((3, 2, 4, 3)), rng.standard_normal((2, 3, 4)))
    >>> made = of_projections(parts, (None, None, None, np.ones(4)))
    >>> made.d, made.notes[-1][:30]
    (5, 'biases stand in coordinate 5 o')
    """
    q, k, v, o = parts
    m, d, r = q.shape
    if k.shape != q.shape or v.shape[:2] != (m, d) or o.shape != (m, v.shape[2], d):
        raise UsageError(
            f"q {q.shape}, k {k.shape}, v {v.shape}, o {o.shape} do not fit: (m, d, r) for q, k "
            "and v, (m, r, d) for o"
        )
    said = [f"Theta_i = Q_i K_i^T {'/ sqrt(r)' if scale is None else f'* {scale:g}'}, r = {r}"]
    shapes = {"q": (m, r), "k": (m, r), "v": (m, v.shape[2]), "the output": (d,)}
    for (name, shape), bias in zip(shapes.items(), biases, strict=True):
        if bias is not None and bias.shape != shape:
            raise UsageError(f"bias of {name} of shape {bias.shape} given: {shape} is needed")
    bq, bk, bv, bo = biases
    if bk is not None:
        said.append("the bias of keys is left out: it adds one number to all logits of a token")
    right = o.transpose(0, 2, 1)
    constant = any(bias is not None for bias in (bq, bv, bo))
    if constant:
        q, k, v = (_with_row(part, b) for part, b in ((q, bq), (k, None), (v, bv)))
        right = np.concatenate([right, np.zeros_like(right[:, :1])], axis=1)
        if bo is not None:  # weights add up to 1, so that one head may add it
            v, right = _with_output(v, right, bo)
        said.append(
            f"biases stand in coordinate {d + 1} of the tokens, which is always 1: d = {d + 1}"
        )
    factor = q.dtype.type(r**-0.5 if scale is None else scale)
    return Heads(
        theta=Matrices(left=q * factor, right=k),
        w=Matrices(left=v, right=right),
        notes=(*said, *notes),
        constant=constant,
        **known,
    )


def _with_row(part: Array, bias: Array | None) -> Array:
    row = np.zeros_like(part[:, :1]) if bias is None else bias[:, None, :]
    return np.concatenate([part, row], axis=1)


def _with_output(v: Array, right: Array, bias: Array) -> tuple[Array, Array]:
    """Add the bias of the output to the first head, by one more direction of its values."""
    m, d, _ = v.shape
    more = np.zeros((2, m, d, 1), v.dtype)
    more[0, 0, -1, 0] = 1.0
    more[1, 0, : d - 1, 0] = bias
    return np.concatenate([v, more[0]], axis=2), np.concatenate([right, more[1]], axis=2)


def _of_checkpoint(path: Path, tensors: _Tensors, layer: int | None, heads: int | None) -> Heads:
    starts: dict[int, str] = {}
    for layout in _LAYOUTS:
        matched = filter(None, map(layout.matched, tensors))
        if starts := {int(match[2]): match[1] for match in matched}:
            break
    else:
        known = ", ".join(layout.name for layout in _LAYOUTS)
        raise UsageError(
            f"{path} given: it holds neither theta and w, nor q, k, v and o, nor attention in the "
            f"layout of {known}"
        )
    if layer is None:
        numbers = sorted(starts)
        raise UsageError(
            f"{path} is a checkpoint in the layout of {layout.name}: choose one of its "
            f"{len(numbers)} layers by --layer {numbers[0]} .. {numbers[-1]}"
        )
    if layer not in starts:
        raise UsageError(f"layer {layer} given: {path} has {min(starts)} .. {max(starts)}")
    beside = (path if path.is_dir() else path.parent) / "config.json"
    config = read_json(beside, _CONFIG) if beside.exists() else {}
    names = [f"{starts[layer]}{layer}.{part}" for part in layout.parts]
    parts, biases = _projections(tensors, names)
    count = _heads(config if heads is None else {layout.heads: heads}, layout.heads, parts[0])
    (d, width), columns = parts[0].shape, parts[1].shape[1]
    r = width // count
    groups = columns // r
    if columns % r or parts[2].shape != parts[1].shape or count % max(groups, 1):
        raise DamagedFile(
            f"{names[0]}: keys of {columns} columns and values of {parts[2].shape[1]} do not fit "
            f"{count} heads of {r}"
        )
    require_memory(12 * count * d * r * parts[0].dtype.itemsize, f"layer {layer} of {path}")

    def by_head(part: Array) -> Array:
        """Split the last axis by heads, groups repeated: (.., h r) -> (h, .., r)."""
        split = np.moveaxis(part.reshape(*part.shape[:-1], -1, r), -2, 0)
        return np.repeat(split, count // len(split), axis=0)

    *inner, bo = biases
    notes = [f"{groups} groups of keys and values serve {count} heads"] if count > groups else []
    notes += [f"read as float32: it is stored as {kind}" for kind in sorted(tensors.converted)]
    normed = f"{names[0].removesuffix('q_proj')}q_norm.weight" in tensors
    return of_projections(
        (*map(by_head, parts[:3]), parts[3].reshape(count, r, d)),
        (*(None if bias is None else by_head(bias) for bias in inner), bo),
        _scale(config, r, layer),
        notes,
        source=f"layer {layer} of {path}, in the layout of {layout.name}",
        left_out=(*layout.left_out, _NORMED) if normed else layout.left_out,
    )


def _projections(tensors: _Tensors, names: list[str]) -> tuple[list[Array], list[Array | None]]:
    """Read q (d, h r), k and v (d, g r) for g groups, o (h r, d), and their biases."""
    parts = [tensors(f"{name}.weight", 2) for name in names]
    biases = [tensors.maybe(f"{name}.bias") for name in names]
    if len(names) == 4:
        return [part.T for part in parts], biases
    joined, bias = parts[0], biases[0]
    if joined.shape != (len(joined), 3 * len(joined)):
        raise DamagedFile(f"{names[0]}.weight of shape {joined.shape}: (d, 3 d) is needed")
    own = [None] * 3 if bias is None else np.split(bias, 3)
    return [*np.split(joined, 3, axis=1), parts[1]], [*own, biases[1]]


def _heads(config: dict[str, Any], name: str, queries: Array) -> int:
    heads, width = config.get(name), queries.shape[1]
    if heads is None:
        raise UsageError(
            "the number of heads is not known: put the model's config.json beside it, or give "
            "--heads"
        )
    if type(heads) is not int or heads < 1:
        raise DamagedFile(f"config.json: {name} is {heads!r}, no number above 0")
    if width % heads:
        raise UsageError(f"{heads} heads given: they do not divide {width} columns of queries")
    return heads


def _scale(config: dict[str, Any], r: int, layer: int) -> float | None:
    """The scale of the logits, where a configuration says another than 1/sqrt(r)."""
    for name in ("query_pre_attn_scalar", "attention_multiplier"):
        value = config.get(name)
        if isinstance(value, int | float) and value > 0:
            return float(value) ** -0.5 if name == "query_pre_attn_scalar" else float(value)
    usual = float(r**-0.5)
    scale = 1.0 if config.get("scale_attn_weights", True) is False else usual
    if config.get("scale_attn_by_inverse_layer_idx") is True:
        scale /= layer + 1
    return None if scale == usual else scale
