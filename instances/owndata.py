"""Data of a user: labelled examples of an unknown function, from arrays or a file.

Nobody drew them from a family of layers, so there is no secret, no fresh example and no bound on
the labels. A part is held out; a learner sees the rest alone.
"""

import math
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np
from numpy.typing import NDArray

from instances.arguments import real_array
from instances.arrayfile import array_file
from instances.dense import Dense, DenseExamples
from instances.errors import UsageError
from instances.files import EXAMPLES, Held, content_hash
from instances.limits import require_memory
from instances.parameters import later
from instances.ranges import OneOf, Range
from instances.spec import OF_DATA
from instances.streams import generator

_HOLD_OUT, _LEAST = 0.2, 2  # the share that is held out, and how many examples at least
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

    d: Annotated[int, Range(1)]
    k: Annotated[int, Range(2, about="k, the number of tokens (one alone attends to itself),")]
    tokens: Annotated[str, OneOf(("boolean", "real"))] = "real"
    rows: Annotated[int, OneOf((0, 1))] = later(0)  # type: ignore[misc]

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

    source: the file, empty for arrays. repeated: how many of the held-out examples have tokens that
    stand in the other part too.
    """

    hold_out: DenseExamples
    source: str
    seed: int
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
            "sha256": [content_hash(part) for part in (self.held, self.hold_out)],
        }


def split(x: Any, y: Any, seed: int = 0, source: str = "") -> Split:
    """Check tokens x (n, k, d) and labels y, and hold out a fifth of the examples.

    y: (n, k, d), or of the first token alone (n, 1, e), whose other outputs are 0, or (n,), one
    each. Which ones are held out, the seed decides. Numbers of any real type become float64.
    Raises UsageError.

    >>> rng = np.random.default_rng(0)
    >>> made = split(rng.normal(size=(100, 2, 3)), rng.normal(size=(100, 2, 3)))
    >>> made.family.spec, len(made.held), len(made.hold_out)
    ('data:d=3,k=2,tokens=real', 80, 20)
    """
    prefix = f"{source}: " if source else ""
    with suppress(ValueError):  # ragged
        y = y if np.ndim(y) != 1 else np.reshape(y, (-1, 1, 1))
    x, y = (_numbers(prefix, name, values) for name, values in (("x", x), ("y", y)))
    n, k, d = x.shape
    rows, outputs = y.shape[1:]
    if len(y) != n or ((rows, outputs) != (k, d) and (rows > 1 or outputs > d)):
        raise UsageError(
            f"{prefix}x {x.shape} and y {y.shape} given: labels have the tokens' shape, or "
            "(n, 1, e) or (n,) if they are of the first token alone"
        )
    y = np.pad(y, ((0, 0), (0, k - rows), (0, d - outputs)))
    count = round(_HOLD_OUT * n)
    if count < _LEAST:
        raise UsageError(
            f"{prefix}{n} examples given: a fifth of them is held out, and at least {_LEAST} are "
            f"needed there: give {5 * _LEAST} examples or more"
        )
    boolean = bool((np.abs(x) == 1).all())
    family = OwnData(d=d, k=k, tokens="boolean" if boolean else "real", rows=int(rows < k))
    order = generator(seed, "hold-out").permutation(n)
    tokens = x.astype(np.int8) if boolean else x
    training, held_out = (
        DenseExamples(family=family, x=tokens[rows], y=y[rows])
        for rows in (np.sort(order[count:]), np.sort(order[:count]))
    )
    for part, which in ((training, "learned from"), (held_out, "held out")):
        if np.abs(part.y).max() < 1 / _LARGEST:
            raise UsageError(f"{prefix}the labels of all examples that are {which} are zero")
    seen = {row.tobytes() for row in training.x}
    return Split.of(
        Path(source or "."),
        training,
        hold_out=held_out,
        source=source,
        seed=seed,
        repeated=sum(row.tobytes() in seen for row in held_out.x),
    )


def read_data(path: Path, seed: int = 0) -> Split:
    """Read x and y, as in `split`, from a .npz or .safetensors; raises UsageError, DamagedFile."""
    with array_file(path) as file:
        if not {"x", "y"} <= file.arrays.keys():
            held = ", ".join(file.arrays)[:80] or "nothing"
            raise UsageError(
                f"{path} holds {held}: x and y, both (n, k, d), are wanted; a layer goes with "
                "--teacher"
            )
        for name in "xy":
            shape = file.arrays[name].shape
            require_memory(24 * math.prod(shape), f"{path}: {name} {shape}")
        return split(file.arrays["x"].read(), file.arrays["y"].read(), seed, str(path))


def is_data(path: Path) -> bool:
    """Return whether a file is for `read_data`; samples of LWE are not, nor files of ours.

    Raises DamagedFile, and UsageError for examples of an instance, which belong into their folder.
    """
    if path.suffix not in OF_DATA:
        return False
    with array_file(path) as file:
        if file.meta is not None:
            if file.meta.get("format") == EXAMPLES:
                raise UsageError(f"{path} is part of an instance: give its folder")
            return False
        return not {"a", "b"} <= {name.lower() for name in file.arrays}


def _numbers(prefix: str, name: str, values: Any) -> NDArray[np.float64]:
    """Read an array (n, k, d) of real numbers, as float64."""
    array = real_array(f"{prefix}{name}", values, "(n, k, d)")
    if name == "x" and array.shape[1] < 2:
        raise UsageError(
            f"{prefix}{name} of shape {array.shape} given: k = 1, and a single token attends to "
            "itself alone: at least 2 are needed"
        )
    value = np.ascontiguousarray(array, np.float64)
    wrong = ~np.isfinite(value)
    if wrong.any():
        first = int(np.flatnonzero(wrong.any(axis=(1, 2)))[0])
        raise UsageError(
            f"{prefix}{name} has {int(wrong.sum())} entries that are not finite, the first in "
            f"example {first}: leave such examples out"
        )
    most = float(np.abs(value).max())
    if most and not 1 / _LARGEST <= most <= _LARGEST:
        raise UsageError(
            f"{prefix}{name} has entries up to {most:.1g}: between {1 / _LARGEST:g} and "
            f"{_LARGEST:g} squares stay within float64: scale them"
        )
    return value
