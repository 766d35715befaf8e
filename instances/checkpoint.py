"""The heads of a layer from a file: of this project, of a user's arrays, of a model's checkpoint.

F(X) = sum_i softmax(X Theta_i X^T) X W_i has neither positions nor masks nor norms: what a model
has beside it is named in `Heads.left_out`, with what that means. Pickles are never loaded.
"""

import re
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from instances.arrayfile import SUFFIXES, array_file
from instances.errors import DamagedFile, UsageError
from instances.heads import Heads, Matrices
from instances.layer import LAYER, Kind
from instances.projections import Tensors, held_against, of_names, of_projections, torch_tensors
from instances.strict import Limits, read_json, shown

_MOST_ARRAYS = 20_000  # of a checkpoint
_CONFIG = Limits(size=1 << 22)
_INDEX = Limits(size=1 << 24)
_MODELS = ("model.safetensors.index.json", "model.safetensors")
_TORCH = (".pt", ".pth")
_PICKLES = (".bin", ".ckpt", ".pkl")

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

    before: matches what stands before a layer's number. first, last: the projections of queries and
    outputs. heads: the key of config.json.
    """

    name: str
    before: str
    first: str
    last: str
    heads: str
    left_out: tuple[str, ...]

    def matched(self, tensor: str) -> re.Match[str] | None:
        """Match the name of a tensor that each layer has: what stands before, and its number."""
        return re.fullmatch(rf"({self.before})(\d{{1,4}})\.{re.escape(self.first)}\.weight", tensor)


_LAYOUTS = (
    _Layout(
        "GPT-2",
        r"(?:transformer\.)?h\.",
        "attn.c_attn",
        "attn.c_proj",
        "n_head",
        (_MASK, _NORM_BEFORE.format(norm="layer norm"), _LEARNED, _RESIDUAL),
    ),
    _Layout(
        "Llama",
        r"(?:[a-z_]+\.)*layers\.",
        "self_attn.q_proj",
        "self_attn.o_proj",
        "num_attention_heads",
        (_MASK, _NORM_BEFORE.format(norm="RMS norm"), _ROTARY, _RESIDUAL),
    ),
    _Layout(
        "BERT",
        r"(?:[a-z_]+\.)?encoder\.layer\.",
        "attention.self.query",
        "attention.output.dense",
        "num_attention_heads",
        (_LEARNED, _RESIDUAL + ", with their layer norms"),
    ),
)
_NORMED = "the norms of queries and keys (q_norm, k_norm): logits are of normed ones"


def holds_layer(path: Path) -> bool:
    """Return whether a path is to be read by `read_heads`, and not as a folder of examples.

    >>> holds_layer(Path("layer.safetensors")), holds_layer(Path("parity:d=8,m=3"))
    (True, False)
    """
    if path.suffix in (*SUFFIXES, *_TORCH, *_PICKLES) or path.name.endswith(".index.json"):
        return True
    return any((path / name).exists() for name in _MODELS)


def is_layer(given: Any) -> bool:
    """Return whether something is for `heads_of`: a module of torch, or a dictionary.

    >>> is_layer({}), is_layer("layer.npz")
    (True, False)
    """
    return isinstance(given, Mapping) or callable(getattr(given, "state_dict", None))


def read_heads(path: Path, layer: int | None = None, heads: int | None = None) -> Heads:
    """Read the heads of one layer of attention from a file or a model's folder.

    path: .npz, .safetensors, or a state that torch.save wrote, .pt or .pth: with theta and w,
    (m, d, d), with q, k, v (m, d, r) and o (m, r, d), and biases, or with projections under names
    of the field; or a checkpoint in the layout of GPT-2, Llama or BERT, also in several files.
    layer: which layer of a checkpoint, from 0. heads: how many, where nothing in it says so. Raises
    UsageError and DamagedFile.
    """
    if path.suffix in _PICKLES:
        raise UsageError(
            f"{path} given: pickles are not loaded, for they can run code; save the model as "
            "safetensors"
        )
    if path.suffix in _TORCH:
        return _of_tensors(path, torch_tensors(path), "softmax", layer, heads)
    with ExitStack() as stack:
        tensors = Tensors()
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
        return _of_tensors(path, tensors, kind, layer, heads)


def heads_of(given: Any, layer: int | None = None, heads: int | None = None) -> Heads:
    """Read the heads of a module of torch, or of a dictionary of its arrays, as from a file.

    A module is evaluated on tokens and held against F(X): a transposed reading, another scale and
    what F(X) has not show there. Raises UsageError and DamagedFile.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> state = {f"{p}_proj.weight": rng.standard_normal((6, 6)) for p in "qkvo"}
    >>> heads_of(state, heads=2).notes[1]
    'q_proj.weight (6, 6) is read as (out, in), as nn.Linear stores it: x W^T, by its name'
    """
    if isinstance(given, Mapping):
        where = "the arrays given"
        return _of_tensors(Path(where), Tensors.of(given, where), "softmax", layer, heads)
    where = type(given).__name__
    state = {n: v.double() for n, v in given.state_dict().items() if hasattr(v, "double")}
    tensors = Tensors.of(state, where)
    return _of_tensors(Path(where), tensors, "softmax", layer, heads, given)


def _of_tensors(
    path: Path,
    tensors: Tensors,
    kind: Any,
    layer: int | None,
    heads: int | None,
    module: Any = None,
) -> Heads:
    stacks = {"q", "k", "v", "o"} <= tensors.keys() and len(tensors["q"][1].shape) != 2
    if stacks or {"theta", "w"} <= tensors.keys():
        if layer is not None:
            raise UsageError(f"layer {layer} given: {path} holds one layer, without a number")
        made = _own_layer(path, tensors, kind)
        return held_against(module, [made], str(path)) if module else made
    starts: dict[int, str] = {}
    for layout in () if module else _LAYOUTS:  # a module shows what it has beside them
        starts = {int(match[2]): match[1] for match in filter(None, map(layout.matched, tensors))}
        other = layout.last.replace("o_proj", "out_proj")  # the names of torch, not of Llama
        own = other == layout.last or not any(n.endswith(f"{other}.weight") for n in tensors)
        if starts and own:
            return _of_checkpoint(path, tensors, layer, heads, layout, starts)
    return of_names(tensors, str(path), layer, heads, module)


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


def _own_layer(path: Path, tensors: Tensors, kind: Any) -> Heads:
    try:
        if "theta" in tensors:
            theta, w = (Matrices(left=tensors(name, 3)) for name in ("theta", "w"))
            rest = ", ".join(sorted(set(tensors) - {"theta", "w"}))[:200]
            left = (f"what else is there: {rest}",) if rest else ()
            return Heads(theta=theta, w=w, kind=kind, source=str(path), left_out=left)
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


def _of_checkpoint(
    path: Path,
    tensors: Tensors,
    layer: int | None,
    heads: int | None,
    layout: _Layout,
    starts: dict[int, str],
) -> Heads:
    if layer is None:
        numbers = sorted(starts)
        raise UsageError(
            f"{path} is a checkpoint in the layout of {layout.name}: choose one of its "
            f"{len(numbers)} layers by --layer {numbers[0]} .. {numbers[-1]}"
        )
    if layer not in starts:
        raise UsageError(f"layer {layer} given: {path} has {min(starts)} .. {max(starts)}")
    beside = (path if path.is_dir() else path.parent) / "config.json"
    config = read_json(beside, _CONFIG) if path.exists() and beside.exists() else {}
    before = f"{starts[layer]}{layer}."
    first, last = (f"{before}{part}.weight" for part in (layout.first, layout.last))
    tensors(last, 2)  # where it is missing it stands in another file
    count = _heads(config if heads is None else {layout.heads: heads}, layout.heads)
    scale = _scale(config, tensors[first][1].shape[0] // count, layer)
    made = of_names(tensors, f"layer {layer} of {path}", layer, count, scale=scale)
    normed = f"{first.removesuffix('q_proj.weight')}q_norm.weight" in tensors
    return replace(
        made,
        source=f"layer {layer} of {path}, in the layout of {layout.name}",
        left_out=(*layout.left_out, _NORMED) if normed else layout.left_out,
    )


def _heads(config: dict[str, Any], name: str) -> int:
    heads = config.get(name)
    if heads is None:
        raise UsageError(
            "the number of heads is not known: put the model's config.json beside it, or give "
            "--heads"
        )
    if type(heads) is not int or heads < 1:
        raise DamagedFile(f"config.json: {name} is {heads!r}, no number above 0")
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
