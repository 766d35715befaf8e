"""Files of arrays, .npz, .npy and .safetensors: NumPy and safetensors read and write them.

Nothing is ever unpickled. Metadata of the toolkit is a JSON object under the name "hardness".
"""

import json
import os
import re
from io import BufferedReader
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import numpy as np
from numpy.typing import NDArray

from instances.disk import atomic_write, one_line, opened, quoted
from instances.errors import DamagedFile, ToolkitError
from instances.limits import require_memory

SUFFIXES = (".npz", ".safetensors", ".npy")
_UNPACK_BYTES, _UNPACK_RATIO = 1 << 26, 100  # limits of an archive: the larger of both counts


def write_tensors(
    path: Path, tensors: dict[str, NDArray[Any]], meta: dict[str, Any], mode: int = 0o666
) -> None:
    """Write arrays with metadata as JSON, in the format of the name's ending."""
    # safetensors saves the memory of an array: it must be in C order.
    arrays = {name: np.ascontiguousarray(array) for name, array in tensors.items()}
    text = json.dumps(meta, sort_keys=True)
    with atomic_write(path, mode) as draft:
        if path.suffix.lower() == ".npz":
            with draft.open("wb") as out:
                np.savez(out, hardness=np.array(text), **arrays)  # type: ignore[arg-type]
        else:
            from safetensors import SafetensorError
            from safetensors.numpy import save_file

            try:
                save_file(arrays, draft, metadata={"hardness": text})
            except SafetensorError as error:  # also if the disk is full
                raise ToolkitError(f"{path} cannot be written: {error}") from error


def read_arrays(path: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any] | None]:
    """Read the arrays of a file by name, and the toolkit's metadata or None.

    The array of a .npy has an empty name. Raises DamagedFile, and TooLarge unless the free memory
    can hold the arrays three times, as later computations need.
    """
    try:
        with opened(path) as file:
            arrays, text = _arrays(path, file)
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                kind = {"U": "texts", "c": "complex numbers"}.get(array.dtype.kind, array.dtype)
                raise ValueError(
                    f"{quoted(name) if name else 'it'} holds {kind}: real numbers are wanted"
                )
        return arrays, None if text is None else msgspec.json.decode(text, type=dict[str, Any])
    except ToolkitError:
        raise
    except Exception as error:  # each library has its own for a damaged file
        reason = one_line(error)
        if "allow_pickle" in reason:  # an option of NumPy that nobody should turn on
            reason = "it holds objects, and pickled ones are not loaded"
        raise DamagedFile(f"{path} is damaged or not ours: {reason}") from error


def _arrays(path: Path, file: BufferedReader) -> tuple[dict[str, NDArray[Any]], str | None]:
    """Read arrays and the text of the metadata; errors of NumPy and safetensors pass through."""
    size = os.fstat(file.fileno()).st_size
    if path.suffix.lower() == ".npz":
        with ZipFile(file) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > (limit := max(_UNPACK_BYTES, _UNPACK_RATIO * size)):
            raise ValueError(f"it unpacks to {unpacked} bytes: at most {limit} belong here")
        require_memory(3 * unpacked, str(path))
        with np.lib.npyio.NpzFile(file, allow_pickle=False) as archive:
            if len(set(archive.files)) < len(archive.files):
                raise ValueError("two arrays have one name")
            arrays = dict(archive)
        return arrays, str(arrays.pop("hardness")) if "hardness" in arrays else None
    require_memory(3 * size, str(path))
    if path.suffix.lower() == ".npy":
        return {"": np.lib.format.read_array(file, allow_pickle=False)}, None
    from safetensors import safe_open

    with safe_open(path, "np") as tensors:
        arrays = {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118
        return arrays, (tensors.metadata() or {}).get("hardness")


def read_rows(path: Path, rows: dict[int, str], separator: str | None) -> NDArray[np.float64]:
    """Read lines of as many numbers each, (rows, columns); raises DamagedFile.

    rows: the lines by their number in the file, from 1; none is empty.
    """
    try:
        return np.loadtxt(list(rows.values()), delimiter=separator, ndmin=2, comments=None)
    except ValueError as error:
        why = re.sub(
            "could not convert string (.*) to float64", r"\1 is no number", one_line(error)
        )
        why = why.partition(";")[0]
        if row := re.search("at row ([0-9]+)", why):  # NumPy counts rows from 0, changes from 1
            place = [*rows][int(row[1]) - ("changed" in why)]
            why = why.replace(row[0], f"on line {place}")
        raise DamagedFile(f"{path}: lines of as many numbers each are wanted: {why}") from error
