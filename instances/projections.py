"""A layer by its projections: of arrays, and as torch and models name and store them.

nn.Linear stores (out, in): of `q_proj.weight` queries are X W^T. Bare arrays, `Wq` or `q`, are
those of X W. Shapes show a transposed one where they differ; a module is evaluated and held against
F(X), which shows any.
"""

import copy
import pickle
import re
import warnings
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arrayfile import Described, foreign
from instances.errors import DamagedFile, UsageError
from instances.heads import Heads, Matrices
from instances.lazy import require_extra
from instances.limits import require_memory
from instances.strict import one_line, opened

Array = NDArray[Any]
Biases = Sequence[Array | None]
# What queries are called: then keys, values, and what outputs may be called beside them.
_APART = {
    "q_proj": ("k_proj", "v_proj", "o_proj", "out_proj"),
    "query": ("key", "value", "out", "output", "dense"),
    "to_q": ("to_k", "to_v", "to_out.0", "to_out"),
    "Wq": ("Wk", "Wv", "Wo"),
    "W_q": ("W_k", "W_v", "W_o"),
    "q": ("k", "v", "o"),  # arrays alone: T5, whose logits have no scale, writes q.weight
}
_JOINED = {"in_proj": ("out_proj",), "qkv": ("proj", "out_proj"), "c_attn": ("c_proj",)}
_STARTS = re.compile(rf"((?:.*\.)?)({'|'.join((*_APART, *_JOINED))})(\.weight|_weight|)")
_COUNTS = ("num_heads", "n_heads", "n_head", "num_attention_heads", "nhead", "heads")
_UNSEEN = (
    "what a state does not show: a mask, positions, or another scale of the logits than that above"
)
_SAME = 1e-9  # of the largest output: rounding, in float64
_EXAMPLES, _TOKENS = 4, 5  # on which a module is evaluated


class Tensors(dict[str, tuple[Path, Described]]):
    """Tensors by name, in one file or several; each is read when it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.converted: set[str] = set()

    @classmethod
    def of(cls, state: Mapping[str, Any], where: str) -> "Tensors":
        """Take arrays, or tensors of torch, by their names; raises UsageError for ragged ones."""
        found = cls()
        found.update({str(name): (Path(where), _described(v)) for name, v in state.items()})
        return found

    def __call__(self, name: str, dimensions: int) -> Array:
        """Read a tensor; raises DamagedFile for one that is missing or has another shape."""
        if name not in self:
            raise DamagedFile(
                f"tensor {name} is missing: a model in several files is given by its folder or by "
                "its .safetensors.index.json"
            )
        path, one = self[name]
        if len(one.shape) != dimensions or 0 in one.shape:
            raise DamagedFile(f"{path}: {name} has shape {one.shape}: {dimensions} axes are needed")
        if one.dtype.kind != "f":
            raise DamagedFile(
                f"{path}: {name} holds {one.stored or one.dtype}: floating-point numbers are needed"
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


def _described(value: Any) -> Described:
    if not hasattr(value, "detach"):
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise UsageError(f"a ragged {type(value).__name__} given: arrays are needed") from error
        return Described(shape=array.shape, dtype=array.dtype, read=lambda: array)
    kind, half = str(value.dtype).removeprefix("torch."), str(value.dtype) == "torch.bfloat16"
    fits = half or kind in ("float16", "float32", "float64")
    if value.is_meta or str(value.layout) != "torch.strided":
        kind, fits = f"no dense {kind}", False
    return Described(
        shape=tuple(value.shape),
        dtype=np.dtype("f4" if fits else "V1"),  # floating point, of whatever size, or no numbers
        read=lambda: (value.float() if half else value).detach().cpu().numpy(),
        stored="" if fits and not half else kind,
    )


def torch_tensors(path: Path) -> Tensors:
    """Read the tensors that torch.save wrote, by weights alone: no code in the file runs.

    A state, or a dictionary that holds one. Raises UsageError for anything else, DamagedFile, and
    ToolkitError where torch is not installed.
    """
    torch = require_extra("torch", f"{path}")
    with opened(path) as file, foreign(path), zipfile.ZipFile(file) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > 2 * path.stat().st_size + (1 << 20):
            raise ValueError(f"it unpacks to {size} bytes: torch.save packs nothing")
    state = None
    with foreign(path), suppress(pickle.UnpicklingError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's, of what it is about to give up
        state = torch.load(path, map_location="cpu", weights_only=True)
    for name in ("state_dict", "model_state_dict", "model", ""):  # within what trainers keep
        inner = state.get(name, state) if isinstance(state, dict) else {}
        inner = inner if isinstance(inner, dict) else {}
        if any(hasattr(v, "detach") for v in inner.values()):  # a scale may be a number
            kept = {n: v for n, v in inner.items() if hasattr(v, "detach") or n == "scale"}
            return Tensors.of(kept, str(path))
    raise UsageError(
        f"{path} given: it holds no tensors by name. A pickled module is not loaded, for that can "
        "run code: torch.save(module.state_dict(), FILE)"
    )


def of_projections(
    parts: Sequence[Array],
    biases: Biases = (None,) * 4,
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


def by_heads(
    parts: Sequence[Array], biases: Biases, count: int, where: str
) -> tuple[list[Array], list[Array | None]]:
    """Split q (d, h r), k (d, g r), v (d, g s) and o (h s, e) by their h heads, with their biases.

    The g groups of keys and values are repeated. Gives (h, d, r), (h, d, r), (h, d, s), (h, s, e).
    Raises UsageError for heads that do not divide the columns, DamagedFile for other shapes.
    """
    d, width = parts[0].shape
    keys, values, inner = parts[1].shape[1], parts[2].shape[1], len(parts[3])
    if width % count:
        raise UsageError(f"{count} heads given: they do not divide {width} columns of queries")
    r = width // count
    groups = max(keys // r, 1)
    if keys % r or count % groups or values % groups or inner != count * (values // groups):
        raise DamagedFile(
            f"{where}: keys of {keys} columns and values of {values} do not fit {count} heads of "
            f"{r}"
        )
    require_memory(12 * count * d * r * parts[0].dtype.itemsize, where)

    def split(part: Array, pieces: int) -> Array:
        found = np.moveaxis(part.reshape(*part.shape[:-1], pieces, -1), -2, 0)
        return np.repeat(found, count // pieces, axis=0)

    pieces = (count, groups, groups)
    *own, bo = biases
    return (
        [*map(split, parts[:3], pieces), parts[3].reshape(count, inner // count, -1)],
        [*(None if b is None else split(b, p) for b, p in zip(own, pieces, strict=True)), bo],
    )


def _fitting(
    names: Sequence[str], parts: Sequence[Array], biases: Biases, flip: bool
) -> list[Array] | None:
    """Give q (d, h r), k, v and o (h s, e) as in x W; None where shapes disagree.

    Names of a weight are those of nn.Linear, (out, in). flip: all the other way round.
    """
    own = [p if n.endswith("weight") is flip else p.T for n, p in zip(names, parts, strict=True)]
    out = own.pop() if len(own) % 2 == 0 else None
    if len(own) == 1:
        if own[0].shape[1] % 3:
            return None
        own = np.split(own[0], 3, axis=1)
    q, k, v = own
    width = v.shape[1] * q.shape[1] // k.shape[1]
    o = np.eye(width, dtype=v.dtype) if out is None else out
    fits = len(q) == len(k) == len(v) >= o.shape[1] and q.shape[1] % k.shape[1] == 0
    for bias, part in zip(biases, (q, k, v, o), strict=True):
        fits &= bias is None or len(bias) == part.shape[1]
    return [q, k, v, o] if fits and len(o) == width else None


def _start(tensors: Tensors, where: str, layer: int | None) -> re.Match[str]:
    """Find the one place of attention under a name of the field; raises UsageError."""
    found = [m for name in tensors if (m := _STARTS.fullmatch(name)) and (m[2] != "q" or not m[3])]
    if layer is not None:
        found = [m for m in found if re.findall(r"\d+", m[1])[-1:] == [str(layer)]]
    if not found:
        numbered = "" if layer is None else f" of number {layer}"
        raise UsageError(
            f"{where} given: it holds neither theta and w, nor q, k, v and o, nor attention"
            f"{numbered} under a name of torch or of GPT-2, Llama or BERT, but "
            f"{', '.join(sorted(tensors))[:80] or 'nothing'}"
        )
    if len(found) > 1:
        places = ", ".join(f"{m[1]}{m[2]}" for m in found)[:200]
        raise UsageError(f"{where} holds {places}: choose one by its number, --layer, or save it")
    if f"{found[0][1]}bias_k" in tensors:
        raise UsageError(
            f"{where}: bias_k and bias_v are one more token to attend to, which F(X) has not"
        )
    return found[0]


def _bias(name: str) -> str:
    """Name the bias beside a weight: q_proj.bias, in_proj_bias; of arrays bq, b_Q."""
    if name.endswith("weight"):
        return name.removesuffix("weight") + "bias"
    return re.sub(r"[Ww]?([^.]+)$", r"b\1", name)


def of_names(
    tensors: Tensors,
    where: str,
    layer: int | None,
    heads: int | None,
    module: Any = None,
    scale: float | None = None,
) -> Heads:
    """Make heads of projections under names of the field, held against the module if one is given.

    scale: of the logits where no tensor says it, as in `of_projections`. Raises UsageError and
    DamagedFile, and UsageError for a module that is not F(X) of them.
    """
    start = _start(tensors, where, layer)
    before, stem, kind = start.groups()
    apart = _APART.get(stem, ())
    names = [f"{before}{one}{kind}" for one in (stem, *apart[:2])]
    called = _JOINED.get(stem) or apart[2:]
    outs = [f"{before}{one}{end}" for one in called for end in (".weight", "")]
    outs += [f"{before.removesuffix('self.')}output.dense.weight"]  # BERT's, beside its `self`
    alone = not (there := [name for name in outs if name in tensors][:1])
    names += there
    parts = [tensors(name, 2) for name in names]
    places = [_bias(name) for name in names]
    if kind == "_weight" and apart:  # nn.MultiheadAttention
        places[:3] = [f"{before}in_proj_bias"]
    read = [tensors.maybe(name) for name in places]
    bo = None if alone else read.pop()
    if len(read) == 1:
        read = [None] * 3 if read[0] is None else [*np.array_split(read[0], 3)]
    biases = [b if b is not None and b.any() else None for b in (*read, bo)]  # 0 adds nothing
    rest = sorted(set(tensors) - {*names, *places, "scale"})
    flips = [flip for flip in (False, True) if _fitting(names, parts, biases, flip)]
    if not flips:
        shapes = ", ".join(f"{n} {p.shape}" for n, p in zip(names, parts, strict=True))
        raise DamagedFile(
            f"{where}: {shapes} do not fit together, nor with their biases, as queries, keys and "
            "values of one X and outputs of at most as many numbers"
        )
    if alone and module is None and (more := [n for n in rest if len(tensors[n][1].shape) > 1]):
        raise UsageError(
            f"{where}: no projection of outputs has a name that is known here, and there is "
            f"{more[0]}: if it is that, name it {outs[0]}"
        )
    with suppress(AttributeError):
        module = module.get_submodule(before.rstrip("."))
    own = (getattr(module, name, None) for name in _COUNTS)
    count = heads or next((n for n in own if type(n) is int), module and 1)
    if not count:
        raise UsageError(f"{where}: the number of heads is not known: give --heads")
    number = tensors.maybe("scale", 0)
    scale = scale if number is None else float(number)

    def reading(flip: bool, scale: float | None) -> Heads:
        fitting = _fitting(names, parts, biases, flip) or []
        (*inner, o), (*bs, bo) = by_heads(fitting, biases, count, where)
        linear = names[0].endswith("weight") is not flip
        said = f"{names[0]} {parts[0].shape} is read as "
        said += "(out, in), as nn.Linear stores it: x W^T" if linear else "x W"
        said += ", the other way than it is named" if flip else ", by its name"
        notes = [said if flips[1:] else said.rpartition(",")[0] + ", by the shapes"]
        if not apart:
            notes.append("it holds q, k and v one after another, each with all its heads")
        if alone:
            notes.append("no projection of outputs: those of the heads stand side by side")
        if zeros := len(fitting[0]) - o.shape[2]:
            o = np.pad(o, ((0, 0), (0, 0), (0, zeros)))
            bo = None if bo is None else np.pad(bo, (0, zeros))
            notes.append(f"outputs of fewer numbers: the last {zeros} of F(X) are 0")
        groups = fitting[1].shape[1] * count // fitting[0].shape[1]
        if groups < count:
            notes.append(f"{groups} groups of keys and values serve {count} heads")
        notes += [f"read as float32: stored as {kind}" for kind in sorted(tensors.converted)]
        left = [f"what else is there: {', '.join(rest)[:200]}"] if rest else []
        return of_projections(
            (*inner, o),
            (*bs, bo),
            scale,
            notes,
            source=f"{before.rstrip('.')} of {where}".removeprefix(" of "),
            left_out=tuple(left if module else [*left, _UNSEEN]),
        )

    if module is None:
        return reading(flips[0], scale)
    scales = scale, 1.0, parts[0].shape[-1] ** -0.5
    return held_against(module, (reading(*how) for how in product(flips, scales)), where)


def held_against(module: Any, readings: Iterable[Heads], where: str) -> Heads:
    """Return the first reading whose F(X) is what a module gives on random tokens, which is said.

    The module is copied, to float64 and the CPU, and not to be trained (dropout). Raises
    UsageError where it is none of them, and where it takes or gives other than tokens.
    """
    rest = "its state_dict() is read as it is, without this comparison"
    gaps, failed = [], []
    for heads in readings:
        x = np.random.default_rng(0).standard_normal((_EXAMPLES, _TOKENS, heads.d - heads.constant))
        given = np.concatenate([x, np.ones((*x.shape[:2], 1))], 2) if heads.constant else x
        try:
            out = _outputs(module, x)
            gap = float(np.abs(heads(given)[..., : out.shape[-1]] - out).max())
        except Exception as error:  # tokens of another length, perhaps
            failed.append(f"with tokens {x.shape} it fails: {one_line(error)}")
            gap, out = np.inf, x
        gaps.append(gap / (float(np.abs(out).max()) or 1.0))
        if gaps[-1] <= _SAME:
            said = f"F(X) is what the module gives on {_EXAMPLES * _TOKENS} random tokens, to "
            said += f"{gaps[-1]:.0e} of the largest"
            if gaps[1:]:
                off = f"be off by {gaps[0]:.2g}" if gaps[0] < np.inf else "not take its tokens"
                said += f"; by its names, and 1/sqrt(r), it would {off}"
            return replace(heads, notes=(*heads.notes, said))
    if len(failed) == len(gaps):
        raise UsageError(f"{where} given: {failed[0]}; {rest}")
    raise UsageError(
        f"{where} given: it is not F(X) of its matrices: outputs differ by {min(gaps):.2g} of the "
        "largest at least, as stored, transposed and with other scales; F(X) has no mask, "
        f"positions, norms or residual connection, and heads are said by heads=; {rest}"
    )


def _outputs(module: Any, x: Array) -> Array:
    """Evaluate a module of torch on tokens (n, k, d) in float64."""
    torch = require_extra("torch", "a module")
    inner, given = copy.deepcopy(module).double().cpu().eval(), torch.from_numpy(x)
    with torch.no_grad():
        if isinstance(inner, torch.nn.MultiheadAttention):
            inner.batch_first = True  # says only in which order it takes them
            out = inner(given, given, given, need_weights=False)
        else:
            out = inner(given)
    found = np.asarray((out[0] if isinstance(out, tuple) else out).numpy())
    if found.shape[:2] != x.shape[:2] or found.ndim != 3 or found.shape[2] > x.shape[2]:
        raise ValueError(f"it gives {found.shape}")
    return found
