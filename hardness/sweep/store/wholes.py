"""The arrays of a job that was cut, as a file for numpy."""

import io
import zipfile
from pathlib import Path

import numpy as np

from hardness.runs.rows import WholeRow
from instances.disk import beside, refuse_existing
from instances.errors import DamagedFile, UsageError


def write_arrays(path: Path, whole: WholeRow, force: bool = False) -> dict[str, list[int]]:
    """Write arrays to an .npz file and return their shapes; raises AlreadyExists, UsageError."""
    if path.suffix != ".npz":
        raise UsageError(f"{path} given: arrays are written to a file whose name ends in .npz")
    refuse_existing(path, force)
    shapes = {name: _shape(name, content) for name, content in whole.arrays.items()}
    with beside(path) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_STORED) as archive:
        for name, content in sorted(whole.arrays.items()):
            # One date for all: equal arrays give equal files.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content)
    return shapes


def _shape(name: str, content: bytes) -> list[int]:
    try:
        return list(np.load(io.BytesIO(content), allow_pickle=False, mmap_mode=None).shape)
    except (ValueError, EOFError) as error:
        raise DamagedFile(f"the array {name} is none that numpy reads: {error}") from error
