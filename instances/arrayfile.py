"""Files of arrays, .npz, .safetensors and .npy, read strictly: described first, then read.

Names, shapes, types and sizes are looked at before any number is read or any room is taken for one.
"""

import math
import os
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from instances.disk import require_format
from instances.errors import DamagedFile, ToolkitError
from instances.strict import Limits, loads, one_line, opened, shown

SUFFIXES = (".npz", ".safetensors", ".npy")
HEADER = 1 << 20  # bytes that a file may have beside its numbers
_META = Limits(size=1 << 22, printable=True)  # a claimed secret may stand in it
_MOST_ARRAYS = 64
_UNPACKED, _RATIO = 1 << 26, 100  # bytes that an archive may unpack to, at any size and by its own
_TYPES = {f"{name}{8 * n}": f"<{name.lower()}{n}" for name in "FIU" for n in (2, 4, 8)}
_TYPES |= {"I8": "i1", "U8": "u1", "BOOL": "?"}

Shape = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Described:
    """An array that was not read yet."""

    shape: Shape
    dtype: np.dtype[Any]
    read: Callable[[], NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class ArrayFile:
    """What a file of arrays holds; meta: our metadata, None where there is none."""

    arrays: dict[str, Described]
    meta: dict[str, Any] | None


def read_tensors(
    path: Path, kind: str, limit: int | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read arrays and their metadata; raises DamagedFile for a damaged or foreign file."""
    arrays, meta = read_arrays(path, limit)
    if meta is None:
        raise DamagedFile(f"{path} is damaged or not ours: it has no metadata 'hardness'")
    require_format(meta, kind, path)
    return arrays, meta


def read_arrays(
    path: Path, limit: int | None = None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any] | None]:
    """Read arrays and our metadata, None where there is none; raises DamagedFile."""
    with array_file(path, limit) as found:
        return {name: one.read() for name, one in found.arrays.items()}, found.meta


@contextmanager
def array_file(path: Path, limit: int | None = None) -> Iterator[ArrayFile]:
    """Open a file of arrays by the ending of its name; raises DamagedFile, also while it is open.

    limit: bytes, as it lies and unpacked; None: as long as it is, and 100 times that unpacked.
    """
    with opened(path, limit) as file, foreign(path):
        size = os.fstat(file.fileno()).st_size
        if path.suffix.lower() == ".npy":
            yield ArrayFile(arrays={"": _npy(lambda: file, size)}, meta=None)
        elif path.suffix.lower() == ".npz":
            room = max(_UNPACKED, _RATIO * size) if limit is None else limit
            with zipfile.ZipFile(file) as archive:
                yield _npz(archive, room)
        else:
            yield _safetensors(file, size)


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
    if len(members) < len(archive.infolist()) or len(members) > _MOST_ARRAYS:
        raise ValueError(f"two arrays have one name, or there are over {_MOST_ARRAYS}")
    total = sum(m.file_size for m in members.values())
    if total > room:
        raise ValueError(f"it unpacks to {total} bytes: at most {room} belong here")

    def described(member: zipfile.ZipInfo) -> Described:
        return _npy(lambda: archive.open(member), member.file_size)

    meta = None
    if "hardness" in members:
        stored = described(members.pop("hardness"))
        if stored.dtype.kind != "U" or stored.shape:
            raise ValueError("its metadata is no text")
        meta = _metadata(str(stored.read()))
    return ArrayFile(arrays={name: described(m) for name, m in members.items()}, meta=meta)


def _npy(start: Callable[[], IO[bytes]], size: int) -> Described:
    """Describe an array of NumPy's own format, of `size` bytes in all."""
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    file = start()
    version = np.lib.format.read_magic(file)
    if version not in readers:
        raise ValueError(f"version {version} of .npy is for records, which are not taken")
    shape, _, dtype = readers[version](file)
    if dtype.hasobject:
        raise ValueError("it holds objects, and pickled ones are not loaded")
    if dtype.kind not in "biufU" or dtype.itemsize > HEADER:
        raise ValueError(f"it holds {shown(str(dtype))} values: numbers are wanted")
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > size:
        raise ValueError(f"it has {size} bytes, too few for what it says it holds")

    def read() -> NDArray[Any]:
        again = start()
        again.seek(0)
        return np.lib.format.read_array(again, allow_pickle=False)

    return Described(shape=tuple(shape), dtype=dtype, read=read)


def _safetensors(file: IO[bytes], size: int) -> ArrayFile:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > min(HEADER + _META.size, size - 8):
        raise ValueError(f"its header claims {length} bytes")
    header = loads(file.read(length), _META)
    if not isinstance(header, dict) or len(header) > _MOST_ARRAYS + 1:
        raise ValueError(f"its header is no object, or of over {_MOST_ARRAYS} arrays")
    own = header.pop("__metadata__", {})
    if not isinstance(own, dict):
        raise ValueError("its metadata is no object")
    at, arrays = 0, {}
    for name, one in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        if set(one) != {"dtype", "shape", "data_offsets"} or one["dtype"] not in _TYPES:
            raise ValueError(f"{shown(name)} is not described as an array of numbers")
        dtype, shape = np.dtype(_TYPES[one["dtype"]]), tuple(one["shape"])
        if any(type(n) is not int or n < 0 for n in shape):
            raise ValueError(f"{shown(name)} has no shape")
        if one["data_offsets"] != [at, at + math.prod(shape) * dtype.itemsize]:
            raise ValueError(f"{shown(name)} does not lie where its shape says")
        read = partial(_lying, file, 8 + length + at, shape, dtype)
        arrays[name] = Described(shape=shape, dtype=dtype, read=read)
        at += math.prod(shape) * dtype.itemsize
    if 8 + length + at != size:
        raise ValueError(f"it has {size} bytes: its header describes {8 + length + at}")
    return ArrayFile(arrays=arrays, meta=_metadata(own["hardness"]) if "hardness" in own else None)


def _lying(file: IO[bytes], at: int, shape: Shape, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Read numbers from where they lie."""
    file.seek(at)
    return np.fromfile(file, dtype, math.prod(shape)).reshape(shape)


def _metadata(text: str) -> dict[str, Any]:
    found = loads(text, _META)
    if not isinstance(found, dict):
        raise ValueError("its metadata is no object")
    return found
