"""Members listed one by one: functions of a file, a folder of layers, tables of factors."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.bounds.checker.functions import MEMBERS
from instances.disk import digest
from instances.errors import UsageError
from instances.family import Family
from instances.files import load_layer
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.listedfunctions import NAME_TEXT, Functions, ListedFunctions, fits_name
from instances.spec import built_in, functions_of, resolve

_LAYER_SUFFIXES = (".npz", ".safetensors")
_LISTED_SECRETS = 1 << 20  # up to which all are listed, to choose some by name


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Finitely many functions on the uniform cube {-1,+1}^n, with `outputs` numbers at a point.

    spec: their name, if they have one. evaluate_member: maps the index of a member and points
    (count, n), int8, to real numbers (count * outputs,). bound: on the norm of the outputs at a
    point. The inner product is E of the sum over outputs of the products. family_size: the size of
    the family from which `choose_by_names` chose these members; None if they are all.
    """

    kind: Literal["functions", "layers", "factors"]
    path: str  # file name and name in the file, or the name of the folder
    sha256: str  # of the file, or of the layers
    names: tuple[str, ...]
    d: int
    n: int
    outputs: int
    bound: float
    evaluate_member: Callable[[int, NDArray[np.int8]], NDArray[Any]]
    family_size: int | None = None
    spec: str = ""

    def evaluate(self, x: NDArray[np.int8]) -> NDArray[np.float64]:
        """Evaluate all members at points: (M, count * outputs)."""
        return np.array([self.evaluate_member(i, x) for i in range(len(self.names))], np.float64)

    @property
    def label(self) -> str:
        """A name of the family that needs no evaluation; the points depend on it."""
        size = len(self.names)
        return f"{self.kind}:d={self.d},members={size},path={self.path},sha256={self.sha256}"


def choose_by_names(names: Sequence[str], members: int | None) -> list[int]:
    """Choose the members whose names have the smallest SHA-256; return indices in order.

    members: how many; None for all. Raises UsageError for more than there are.

    >>> choose_by_names(["a", "b", "c"], 2)
    [1, 2]
    """
    if members is None:
        return list(range(len(names)))
    if not 1 <= members <= len(names):
        raise UsageError(f"members must be between 1 and {len(names)}, got {members}")
    order = sorted(range(len(names)), key=lambda i: hashlib.sha256(names[i].encode()).digest())
    return sorted(order[:members])


def read_members(text: str, members: int | None = None, count: int | None = None) -> Members | None:
    """Read functions `path.py:Name` or a folder of layers; None for other specs and instances.

    The spec of functions that were named before is accepted too. members: how many functions
    `choose_by_names` chooses. count: at most so many functions or layers. Raises UsageError,
    DamagedFile.

    >>> read_members("parity:d=8,m=3") is None
    True
    """
    family = resolve(text)
    listed = functions_of(family) if isinstance(family, str) else None
    if listed:
        return functions(listed, min(count, len(listed.names)) if count else members)
    if family != text:
        return None
    path = Path(text.strip() or "?")
    try:
        folder = path.is_dir() and not (path / "instance.json").exists()
    except (OSError, ValueError):  # the name is too long, or has an invalid character
        return None
    return layers(path, count) if folder else None


def functions(source: Functions, members: int | None = None) -> Members:
    """Make members of a user's functions: all, or as many as `members` by `choose_by_names`."""
    chosen = choose_by_names(source.names, members)

    for i in chosen:
        source.require_pointwise(i)
    return Members(
        kind="functions",
        path=f"{source.origin.path.name}:{source.name}",
        sha256=source.sha256,
        names=tuple(source.names[i] for i in chosen),
        d=source.d,
        n=source.d,
        outputs=1,
        bound=source.bound,
        evaluate_member=lambda member, x: source.values(chosen[member], x),
        spec=source.name,
        family_size=None if len(chosen) == len(source.names) else len(source.names),
    )


def of_family(family: Family, members: int | None = None) -> Members:
    """Make members of the factors of a family's labels: all, or `members` by `choose_by_names`.

    A user's functions are returned as they are. Else a member is a function of z_1 .. z_(d-1),
    given by its table and named by its secret. Raises UsageError if the family has no such
    tables, or its members cannot be listed; TooLarge if the tables do not fit in memory.

    >>> from instances import parse
    >>> of_family(parse("parity:d=5,m=2")).names[:2]
    ('1,2', '1,3')
    """
    if isinstance(family, ListedFunctions):
        return functions(family.listed, members)
    coded = family.factor or family.refuse("factor")
    secrets = coded.listed_members(_LISTED_SECRETS)
    names = [",".join(map(str, secret)) for secret in secrets]
    if not all(map(fits_name, names)) or len(set(names)) < len(names):
        raise UsageError(
            f"{family.spec[:200]}: its secrets are the names of its members, and as text "
            f"each must be different and {NAME_TEXT}: write them as short tuples of integers"
        )
    chosen = choose_by_names(names, members)
    if len(chosen) > MEMBERS:
        raise UsageError(too_many(len(chosen), MEMBERS))
    require_memory(9 * len(chosen) << coded.d - 1, f"the tables of {len(chosen)} members")
    tables = [_as_int8_if_exact(coded.factor_table(secrets[i])) for i in chosen]

    def evaluate(i: int, z: NDArray[np.int8]) -> NDArray[Any]:
        return tables[i][(z < 0) @ (1 << np.arange(coded.d - 1))]

    return Members(
        kind="factors",
        path=family.spec,
        sha256=hashlib.sha256(family.spec.encode()).hexdigest(),
        names=tuple(names[i] for i in chosen),
        d=family.d,
        n=coded.d - 1,
        outputs=1,
        bound=max(float(np.abs(table).max()) for table in tables),
        evaluate_member=evaluate,
        family_size=None if len(chosen) == len(names) else len(names),
        spec="" if built_in(family) else family.spec,
    )


def too_many(members: int, limit: int) -> str:
    """Say that there are too many members, and what to do."""
    return (
        f"members must be at most {limit} in a certificate, got {members}; --members {limit} "
        "certifies the uniform draw from those that their names choose"
    )


def digest_of(names: Sequence[str], problem: dict[str, Any]) -> str:
    """Compute the SHA-256 of the names and tables of listed functions, for their spec."""
    return digest({"names": names, "signs": problem["signs"], "tables": problem["tables"]})


def _as_int8_if_exact(table: NDArray[np.float64]) -> NDArray[np.int8] | NDArray[np.float64]:
    small = table.astype(np.int8)
    return small if (small == table).all() else table


def layers(folder: Path, count: int | None = None) -> Members:
    """Make members of the layers in a folder; raises UsageError, DamagedFile.

    count: at most so many layers, chosen by `choose_by_names`.
    """
    paths = sorted(p for p in folder.iterdir() if p.suffix in _LAYER_SUFFIXES and p.is_file())
    if not paths:
        raise UsageError(
            f"{folder} holds neither layers (*.safetensors, *.npz, as AttentionLayer.save writes "
            "them) nor an instance of `hardness generate`"
        )
    for path in paths:
        if not fits_name(path.name):
            raise UsageError(f"{path!r}: a name is {NAME_TEXT}: rename it")
    if count and len(paths) > count:
        paths = [paths[i] for i in choose_by_names([path.name for path in paths], count)]
    read = [load_layer(p) for p in paths]
    for path, layer in zip(paths, read, strict=True):
        if layer.d != read[0].d:
            raise UsageError(
                f"{folder}: layers of different d: {paths[0].name} has d={read[0].d}, "
                f"{path.name} d={layer.d}; all must have the same"
            )
    d, digest = read[0].d, hashlib.sha256()
    for path, layer in zip(paths, read, strict=True):
        inside = hashlib.sha256(f"{layer.kind} {layer.theta.shape}".encode())
        inside.update(np.ascontiguousarray(layer.theta, "<f8").tobytes())
        inside.update(np.ascontiguousarray(layer.w, "<f8").tobytes())
        digest.update(f"{path.name} {inside.hexdigest()}\n".encode())

    def evaluate(i: int, x: NDArray[np.int8]) -> NDArray[Any]:
        with np.errstate(all="ignore"):
            values = read[i](x.reshape(len(x), 2, d)).reshape(-1)
        if not np.isfinite(values).all():
            raise UsageError(f"{paths[i]} gives values beyond float64")
        return values

    return Members(
        kind="layers",
        path=folder.resolve().name,
        sha256=digest.hexdigest(),
        names=tuple(p.name for p in paths),
        d=d,
        n=2 * d,
        outputs=2 * d,
        bound=max(map(norm_bound, read)),
        evaluate_member=evaluate,
    )


def norm_bound(layer: AttentionLayer) -> float:
    """Bound the norm of a layer's output (2, d) on two tokens of -1 and +1.

    A row of the output is sum_i p_i W_i, where p_i is a combination of the tokens. Entries of p_i
    are at most 1 in size for softmax heads. For linear heads they are at most the sum of two
    attention weights, each of which is at most the sum of all entries |Theta_i|.

    >>> round(norm_bound(AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None])), 6)
    2.0
    """
    scale = np.ones(layer.m)
    if layer.kind == "linear":
        scale = 2 * np.abs(layer.theta).sum(axis=(1, 2))
    columns = (scale[:, None] * np.abs(layer.w).sum(axis=1)).sum(axis=0)
    return float(np.sqrt(2 * (columns**2).sum()) * (1 + 1e-9))
