"""Files of arrays, .npz, .npy and .safetensors: described first, then read by NumPy or safetensors.

Sizes are looked at before any number is read or any room is taken for one.
"""

import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from instances.disk import require_format
from instances.errors import DamagedFile, ToolkitError
from instances.strict import one_line, opened, shown

if TYPE_CHECKING:
    from safetensors import safe_open

SUFFIXES = (".npz", ".safetensors", ".npy")
_UNPACKED, _RATIO = 1 << 26, 100  # bytes that an archive may unpack to, at any size and by its own
_NUMBERS = re.compile("BOOL|[FIU](8|16|32|64)")  # as safetensors calls types
_MOST_ITEM = 1 << 22  # bytes of a text: our metadata, in which a claimed secret may stand


@dataclass(frozen=True, kw_only=True)
class Described:
    """An array that was not read yet."""

    shape: tuple[int, ...]
    read: Callable[[], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class ArrayFile:
    """What a file of arrays holds; meta: our metadata, None where there is none."""

    arrays: dict[str, Described]
    meta: dict[str, Any] | None


def read_tensors(path: Path, kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read arrays and their metadata; raises DamagedFile for a damaged or foreign file."""
    arrays, meta = read_arrays(path)
    if meta is None:
        raise DamagedFile(f"{path} is damaged or not ours: it has no metadata 'hardness'")
    require_format(meta, kind, path)
    return arrays, meta


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any] | None]:
    """Read arrays and our metadata, None where there is none; raises DamagedFile."""
    with array_file(path) as found:
        return {name: one.read() for name, one in found.arrays.items()}, found.meta


@contextmanager
def array_file(path: Path) -> Iterator[ArrayFile]:
    """Open a file of arrays by the ending of its name; raises DamagedFile, at any time."""
    with opened(path) as file, foreign(path):
        size = os.fstat(file.fileno()).st_size
        if path.suffix.lower() == ".npy":
            yield ArrayFile(arrays={"": _npy(lambda: file, size)}, meta=None)
        elif path.suffix.lower() == ".npz":
            with zipfile.ZipFile(file) as archive:
                yield _npz(archive, max(_UNPACKED, _RATIO * size))
        else:
            from safetensors import safe_open

            with safe_open(path, "np") as tensors:
                names = tensors.keys()
                yield ArrayFile(
                    arrays={name: _tensor(tensors, name) for name in names},
                    meta=_metadata((tensors.metadata() or {}).get("hardness")),
                )


@contextmanager
def foreign(path: Path, said: str = "is damaged or not ours") -> Iterator[None]:
    """Turn what readers of damaged files raise, each its own, into one line: a DamagedFile."""
    try:
        yield
    except ToolkitError:
        raise
    except Exception as error:
        raise DamagedFile(f"{path} {said}: {one_line(error)}") from error


def _npz(archive: zipfile.ZipFile, room: int) -> ArrayFile:
    members = {m.filename.removesuffix(".npy"): m for m in archive.infolist()}
    if len(members) < len(archive.infolist()):
        raise ValueError("two arrays have one name")
    total = sum(m.file_size for m in members.values())
    if total > room:
        raise ValueError(f"it unpacks to {total} bytes: at most {room} belong here")
    found = {name: _npy(partial(archive.open, m), m.file_size) for name, m in members.items()}
    text = str(found.pop("hardness").read()) if "hardness" in found else None
    return ArrayFile(arrays=found, meta=_metadata(text))


def _npy(start: Callable[[], IO[bytes]], size: int) -> Described:
    """Describe an array of NumPy's own format, of `size` bytes in all."""
    file = start()
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0
    if version != (1, 0):
        header = np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    if dtype.hasobject:
        raise ValueError("it holds objects, and pickled ones are not loaded")
    if dtype.kind not in "biufU" or dtype.itemsize > _MOST_ITEM:
        raise ValueError(f"it holds {shown(str(dtype))} values: numbers are wanted")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"it has {size} bytes, too few for what it says it holds")

    def read() -> NDArray[Any]:
        again = start()
        again.seek(0)
        return np.lib.format.read_array(again, allow_pickle=False)

    return Described(shape=tuple(shape), read=read)


def _tensor(tensors: "safe_open", name: str) -> Described:
    """Describe an array of safetensors."""
    part = tensors.get_slice(name)
    if not _NUMBERS.fullmatch(part.get_dtype()):
        raise ValueError(f"{shown(name)} holds {part.get_dtype()} values: numbers are wanted")
    return Described(shape=tuple(part.get_shape()), read=partial(tensors.get_tensor, name))


def _metadata(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    found = msgspec.json.decode(text)
    if not isinstance(found, dict):
        raise ValueError("its metadata is no object")
    return found
