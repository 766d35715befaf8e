"""Arrays of strangers: shape and size are refused before any number is read."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arrayfile import HEADER, SUFFIXES, Shape, array_file
from instances.errors import UsageError

_NUMBER = 16  # bytes of the longest number that is taken
_NAME = "predictions"


def read_predictions(path: Path, shape: Shape) -> NDArray[np.float64]:
    """Read finite numbers of a shape from .npy, .npz or .safetensors, as float64.

    An archive holds one array, or one called `predictions`. Raises UsageError for numbers of
    another shape or kind, DamagedFile for what is no such file or too long.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(f"{path} given: predictions are in .npy, .npz or .safetensors")
    with array_file(path, limit_of(shape)) as found:
        names = [_NAME] if _NAME in found.arrays else list(found.arrays)
        if len(names) != 1:
            raise UsageError(f"{path} holds {len(names)} arrays: one is wanted, or {_NAME!r}")
        one = found.arrays[names[0]]
        if one.shape != shape:
            raise UsageError(f"{path}: an array {one.shape} given: {shape} is wanted")
        return finite(one.read(), path)


def limit_of(shape: Shape) -> int:
    """Bound the bytes of a file of real numbers of a shape."""
    return _NUMBER * int(np.prod(shape, dtype=object)) + HEADER


def finite(found: NDArray[Any], what: Path | str) -> NDArray[np.float64]:
    """Turn real numbers into float64 and refuse what is not finite there; raises UsageError."""
    if found.dtype.kind not in "fiu":
        raise UsageError(f"{what}: {found.dtype} numbers given: real ones are wanted")
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(found, np.float64)
    if not np.isfinite(out).all():
        raise UsageError(f"{what}: predictions that are not finite in float64 given: mend them")
    return out
