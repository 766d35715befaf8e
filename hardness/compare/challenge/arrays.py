"""Arrays of strangers: shape and size are read and refused before any number is."""

import os
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from hardness.compare.challenge.canonical import require_size, strict
from instances.disk import read_arrays
from instances.errors import DamagedFile, ToolkitError, UsageError

HEADER = 1 << 20  # bytes that a file may have beside its numbers
_NUMBER = 16  # bytes of the longest number that is taken
_NAME = "predictions"

Shape = tuple[int, ...]


def read_predictions(path: Path, shape: Shape) -> NDArray[np.float64]:
    """Read finite numbers of a shape from .npy, .npz or .safetensors, as float64.

    An archive holds one array, or one called `predictions`. Raises UsageError for numbers of
    another shape or kind, DamagedFile for what is no such file or too long.
    """
    if path.suffix not in (".npy", ".npz", ".safetensors"):
        raise UsageError(f"{path} given: predictions are in .npy, .npz or .safetensors")
    require_size(path, _NUMBER * _count(shape) + HEADER)
    with foreign(path):
        if path.suffix == ".npy":
            with path.open("rb") as file:
                found = _npy(file, shape, path)
        elif path.suffix == ".npz":
            found = _npz(path, shape)
        else:
            found = _safetensors(path, shape)
    return finite(found, path)


def finite(found: NDArray[Any], what: Path | str) -> NDArray[np.float64]:
    """Turn real numbers into float64 and refuse what is not finite there; raises UsageError."""
    if found.dtype.kind not in "fiu":
        raise UsageError(f"{what}: {found.dtype} numbers given: real ones are wanted")
    with np.errstate(over="ignore"):
        out = np.ascontiguousarray(found, np.float64)
    if not np.isfinite(out).all():
        raise UsageError(f"{what}: predictions that are not finite in float64 given: mend them")
    return out


def require_npz(path: Path, limit: int) -> None:
    """Refuse an archive that unpacks to more than `limit` bytes; raises DamagedFile."""
    require_size(path, limit)
    if path.suffix != ".npz":
        return
    with foreign(path), zipfile.ZipFile(path) as archive:
        total = sum(member.file_size for member in archive.infolist())
    if total > limit:
        raise DamagedFile(f"{path} unpacks to {total} bytes: at most {limit} belong here")


def header(path: Path) -> dict[str, Any]:
    """Read the header of a .safetensors file, strictly; raises DamagedFile."""
    with foreign(path), path.open("rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        if length > min(HEADER, os.fstat(file.fileno()).st_size - 8):
            raise ValueError(f"its header claims {length} bytes")
        found = strict(file.read(length).decode("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("its header is no object")
        return found


@contextmanager
def foreign(path: Path) -> Iterator[None]:
    """Turn what readers of damaged files raise into one line; raises DamagedFile."""
    try:
        yield
    except ToolkitError:
        raise
    except Exception as error:  # zip, zlib, struct, numpy and Rust each have their own
        reason = " ".join(str(error).split())[:120] or type(error).__name__
        if "allow_pickle" in reason:
            reason = "it holds objects, which are not loaded"
        raise DamagedFile(f"{path} is damaged or not ours: {reason}") from error


def _count(shape: Shape) -> int:
    return int(np.prod(shape, dtype=object))


def _require(found: Shape, kind: np.dtype[Any], shape: Shape, path: Path) -> None:
    if found != shape:
        raise UsageError(f"{path}: an array {found} given: {shape} is wanted")
    if kind.kind not in "fiu":
        raise UsageError(f"{path}: {str(kind)[:40]} values given: real numbers are wanted")


def _npy(file: IO[bytes], shape: Shape, path: Path) -> NDArray[Any]:
    version = np.lib.format.read_magic(file)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version} of .npy is for records, which are not taken")
    found, _, kind = readers[version](file)
    _require(tuple(found), kind, shape, path)
    file.seek(0)
    return np.lib.format.read_array(file, allow_pickle=False)


def _npz(path: Path, shape: Shape) -> NDArray[Any]:
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        named = [m for m in members if m.filename == f"{_NAME}.npy"]
        chosen = named if named else members
        if len(chosen) != 1:
            raise UsageError(f"{path} holds {len(members)} arrays: one is wanted, or {_NAME!r}")
        limit = _NUMBER * _count(shape) + HEADER
        if chosen[0].file_size > limit:
            raise DamagedFile(f"{path} unpacks to over {limit} bytes: {shape} numbers are wanted")
        with archive.open(chosen[0]) as file:
            return _npy(file, shape, path)


def _safetensors(path: Path, shape: Shape) -> NDArray[Any]:
    names = [name for name in header(path) if name != "__metadata__"]
    chosen = [_NAME] if _NAME in names else names
    if len(chosen) != 1:
        raise UsageError(f"{path} holds {len(names)} arrays: one is wanted, or {_NAME!r}")
    arrays, _ = read_arrays(path)  # no longer than its size, which was looked at
    found = arrays[chosen[0]]
    _require(found.shape, found.dtype, shape, path)
    return found


def metadata(found: dict[str, Any]) -> dict[str, Any]:
    """Read the one JSON of metadata of a header; raises ValueError."""
    meta = found.get("__metadata__")
    if not isinstance(meta, dict) or set(meta) != {"hardness"}:
        raise ValueError("its metadata is not one JSON named 'hardness'")
    data = strict(meta["hardness"])
    if not isinstance(data, dict):
        raise ValueError("its metadata is no object")
    return data
