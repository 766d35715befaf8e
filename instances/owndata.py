"""Data of a user: labelled examples of an unknown function, from arrays or a file.

Nobody drew them from a family of layers, so there is no secret, no fresh example and no bound on
the labels. A part is held out; a learner sees the rest alone.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from instances.arguments import real_array
from instances.arrayfile import array_file, foreign
from instances.dense import Dense, DenseExamples
from instances.errors import UsageError
from instances.family import require
from instances.files import EXAMPLES, Held, content_hash
from instances.lazy import require_extra
from instances.limits import require_memory
from instances.parameters import later
from instances.spec import OF_DATA
from instances.streams import generator
from instances.strict import opened

HOLD_OUT = 0.2  # the share that is held out
LEAST_HELD_OUT = 10  # examples; of fewer no interval is worth the name
_LARGEST = 1e100  # entries, and its inverse: their squares stay within float64


@dataclass(frozen=True, kw_only=True)
class OwnData(Dense):
    """What a learner is told of a user's data: k tokens of d numbers, and labels of that shape.

    rows: how many tokens have labels, the first; 0: all. The labels of the others are 0. tokens:
    boolean where all entries are -1 or +1, else real. Nothing is known of the labels, nor of their
    noise. A spec names it, for learners in other processes.
    """

    name: ClassVar[str] = "data"
    example: ClassVar[str] = "data:d=16,k=2"
    about: ClassVar[str] = "labelled examples of a user, of an unknown function"
    label_text: ClassVar[str] = "given by a user"
    easy: ClassVar[str] = "nothing is known of data of a user"
    noise: ClassVar[Fraction] = Fraction(0)  # type: ignore[misc]
    noise_known: ClassVar[bool] = False
    m: ClassVar[int] = 0  # type: ignore[misc]
    questions: ClassVar[None] = None  # nobody knows other labels

    d: int
    k: int
    tokens: str = "real"
    rows: int = later(0)  # type: ignore[misc]

    def __post_init__(self) -> None:
        require(self.d >= 1, f"d={self.d} given: d must be at least 1")
        require(
            self.k >= 2,
            f"k={self.k} given: a single token attends to itself alone, at least 2 are needed",
        )
        require(self.rows in (0, 1), f"rows={self.rows} given: 0, for all tokens, or 1")
        require(self.tokens in ("boolean", "real"), f"tokens={self.tokens} given: boolean or real")

    def draw(self, rng: np.random.Generator) -> NoReturn:
        """Refuse: there is no secret, and nobody knows a layer."""
        raise UsageError(
            f"{self} is data of yours, and no instance is drawn of it: give `hardness learn` the "
            "file"
        )

    build = draw


@dataclass(frozen=True, kw_only=True, eq=False)
class Split(Held):
    """A user's data in two parts: `held` is what a learner sees, `hold_out` what it is judged by.

    source: the file, empty for arrays. notes: what was converted, in words. repeated: how many of
    the held-out examples have tokens that stand in the other part too.
    """

    hold_out: DenseExamples
    source: str
    seed: int
    notes: tuple[str, ...]
    repeated: int

    def to_dict(self) -> dict[str, Any]:
        """Say what the data is, as JSON."""
        return {
            "source": self.source,
            "examples": len(self.held) + len(self.hold_out),
            "training": len(self.held),
            "held_out": len(self.hold_out),
            "seed": self.seed,
            "repeated": self.repeated,
            "notes": list(self.notes),
            "sha256": [content_hash(part) for part in (self.held, self.hold_out)],
        }


def split(
    x: Any, y: Any, share: float = HOLD_OUT, seed: int = 0, source: str = "", notes: Any = ()
) -> Split:
    """Check tokens x (n, k, d) and labels y, and hold out a share of the examples.

    y: (n, k, d), or of the first token alone (n, 1, e), whose other outputs are 0, or (n,), one
    each. Which ones are held out, the seed decides. Numbers of any real type become float64.
    Raises UsageError.

    >>> rng = np.random.default_rng(0)
    >>> made = split(rng.normal(size=(100, 2, 3)), rng.normal(size=(100, 2, 3)))
    >>> made.family.spec, len(made.held), len(made.hold_out)
    ('data:d=3,k=2,tokens=real', 80, 20)
    """
    said = f"{source}: " if source else ""
    with suppress(ValueError):  # ragged
        y = y if np.ndim(y) != 1 else np.reshape(y, (-1, 1, 1))
    (x, *of_x), (y, *of_y) = (_numbers(said, name, one) for name, one in (("x", x), ("y", y)))
    n, k, d = x.shape
    rows, outputs = y.shape[1:]
    if len(y) != n or ((rows, outputs) != (k, d) and (rows > 1 or outputs > d)):
        raise UsageError(
            f"{said}x {x.shape} and y {y.shape} given: labels have the tokens' shape, or (n, 1, e) "
            "or (n,) where they are of the first token alone"
        )
    y = np.pad(y, ((0, 0), (0, k - rows), (0, d - outputs)))
    count = round(share * n) if 0 < share < 1 else 0
    if count < LEAST_HELD_OUT or count >= n:
        raise UsageError(
            f"{said}{n} examples given, {count} of them to hold out: at least {LEAST_HELD_OUT} are "
            "needed there, and some to learn from: give more examples, or another share"
        )
    boolean = bool((np.abs(x) == 1).all())
    family = OwnData(d=d, k=k, tokens="boolean" if boolean else "real", rows=int(rows < k))
    order = generator(seed, "hold-out").permutation(n)
    tokens = x.astype(np.int8) if boolean else x
    parts = [
        DenseExamples(family=family, x=tokens[rows], y=y[rows])
        for rows in (np.sort(order[count:]), np.sort(order[:count]))
    ]
    for part, which in zip(parts, ("learned from", "held out"), strict=True):
        if np.abs(part.y).max() < 1 / _LARGEST:
            raise UsageError(f"{said}the labels of all examples that are {which} are zero")
    training, held_out = parts
    seen = {row.tobytes() for row in training.x}
    return Split.of(
        Path(source or "."),
        training,
        hold_out=held_out,
        source=source,
        seed=seed,
        notes=(*notes, *of_x, *of_y),
        repeated=sum(row.tobytes() in seen for row in held_out.x),
    )


def read_data(
    path: Path,
    labels: str | PathLike[str] | None = None,
    share: float = HOLD_OUT,
    seed: int = 0,
) -> Split:
    """Read a user's data and hold out a share of it; raises UsageError, DamagedFile.

    .npz and .safetensors hold x and y, (n, k, d). The labels of a .npy stand in another one. A
    .parquet has a row a token, with columns example, x0, x1, ... and y0, y1, ...
    """
    if labels is not None and path.suffix != ".npy":
        raise UsageError(f"{path} given with labels in a file of their own: that is for .npy")
    if path.suffix == ".parquet":
        return split(*_of_rows(path), share, seed, str(path))
    places = {"x": (path, "x"), "y": (path, "y")}
    if path.suffix == ".npy":
        if labels is None:
            raise UsageError(f"{path} given: tokens need their labels, --labels FILE.npy")
        places = {"x": (path, ""), "y": (Path(labels), "")}
        if Path(labels).suffix != ".npy":
            raise UsageError(f"{labels} given: the labels of a .npy stand in a .npy too")
    arrays, notes = {}, []
    for name, (place, key) in places.items():
        with array_file(place) as found:
            one = found.arrays.get(key)
            if one is None:
                held = ", ".join(found.arrays)[:80] or "nothing"
                raise UsageError(
                    f"{place} holds {held}: x and y, both (n, k, d), are wanted; a layer goes with "
                    "--teacher"
                )
            require_memory(24 * math.prod(one.shape), f"{place}: {name} {one.shape}")
            arrays[name] = one.read()
    return split(arrays["x"], arrays["y"], share, seed, str(path), notes)


def is_data(path: Path, labels: object = None) -> bool:
    """Return whether a file is for `read_data`; samples of LWE are not, nor files of ours.

    Raises DamagedFile, and UsageError for examples of an instance, which belong into their folder.
    """
    if path.suffix not in OF_DATA:
        return False
    if path.suffix == ".parquet" or labels is not None:
        return True
    with array_file(path) as found:
        if found.meta is not None:
            if found.meta.get("format") == EXAMPLES:
                raise UsageError(f"{path} is part of an instance: give its folder")
            return False
        names = {name.lower() for name in found.arrays}
        return not {"a", "b"} <= names and (names != {""} or len(found.arrays[""].shape) == 3)


def _numbers(said: str, name: str, given: Any) -> tuple[Any, ...]:
    """Read an array (n, k, d) of real numbers, as float64; then what was converted, if it was."""
    found = real_array(f"{said}{name}", given, "(n, k, d)")
    if name == "x" and found.shape[1] < 2:
        raise UsageError(
            f"{said}{name} of shape {found.shape} given: k = 1, and a single token attends to "
            "itself alone: at least 2 are needed"
        )
    value = np.ascontiguousarray(found, np.float64)
    wrong = ~np.isfinite(value)
    if wrong.any():
        first = int(np.flatnonzero(wrong.any(axis=(1, 2)))[0])
        raise UsageError(
            f"{said}{name} has {int(wrong.sum())} entries that are not finite, the first in "
            f"example {first}: leave such examples out"
        )
    most = float(np.abs(value).max())
    if most and not 1 / _LARGEST <= most <= _LARGEST:
        raise UsageError(
            f"{said}{name} has entries up to {most:.1g}: between {1 / _LARGEST:g} and "
            f"{_LARGEST:g} squares stay within float64: scale them"
        )
    return value, *(() if found.dtype == value.dtype else (_converted(name, str(found.dtype)),))


def _converted(name: str, kind: str) -> str:
    return f"{name} was {kind} and is read as float64"


def _of_rows(path: Path) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read x and y, (n, k, d) each, from rows of single tokens."""
    parquet = require_extra("pyarrow.parquet", "tokens in Parquet")
    with opened(path) as file, foreign(path, "cannot be read as Parquet"):
        table = parquet.ParquetFile(file)
        names = table.schema_arrow.names
        counted = {side: [f"{side}{j}" for j in range(len(names))] for side in "xy"}
        columns = {side: [one for one in all_ if one in names] for side, all_ in counted.items()}
        d = len(columns["x"])
        if "example" not in names or not d or len(columns["y"]) != d:
            raise UsageError(
                f"{path} has the columns {', '.join(names)[:80]}: example, x0, x1, ... and as many "
                "y0, y1, ... are wanted, in a row a token"
            )
        rows = table.metadata.num_rows
        require_memory(48 * rows * d, f"{path}: {rows} rows")
        found = table.read(columns=["example", *columns["x"], *columns["y"]])
        labels = found["example"].combine_chunks().dictionary_encode()
        if labels.null_count:
            raise UsageError(f"{path}: {labels.null_count} rows name no example")
        index = np.asarray(labels.indices)
        sizes = np.bincount(index)
        if not rows:
            raise UsageError(f"{path} has no rows: a row a token is wanted")
        if sizes.min() != sizes.max():
            few, many = (labels.dictionary[int(f(sizes))] for f in (np.argmin, np.argmax))
            raise UsageError(
                f"{path} is ragged: example {str(few)[:20]} has {sizes.min()} tokens, example "
                f"{str(many)[:20]} {sizes.max()}: all need as many"
            )
        order = np.argsort(index, kind="stable")
        sides = []
        for side in columns.values():
            read = [found[name].to_numpy() for name in side]
            for name, column in zip(side, read, strict=True):
                if column.dtype.kind not in "biuf":
                    raise UsageError(
                        f"{path}: column {name} holds {found[name].type}: numbers are wanted"
                    )
            sides.append(np.stack(read, axis=1)[order].reshape(len(sizes), -1, d))
        return sides[0], sides[1]
