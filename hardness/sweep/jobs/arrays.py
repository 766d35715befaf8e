"""Arrays as bytes, without pickle: .npy for one, .npz for several."""

import io
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.errors import ToolkitError

_SMALL = 1 << 31


def npy(values: NDArray[Any]) -> bytes:
    """Write an array as a .npy file; integers as int32 where that holds them.

    >>> np.load(io.BytesIO(npy(np.arange(3)))).dtype
    dtype('int32')
    """
    out = io.BytesIO()
    if values.dtype == np.int64 and np.abs(values).max(initial=0) < _SMALL:
        values = values.astype(np.int32)
    np.lib.format.write_array(out, np.asarray(values, order="C"), allow_pickle=False)
    return out.getvalue()


def pack(arrays: dict[str, NDArray[Any]]) -> bytes:
    """Write arrays as a .npz file, lightly compressed: the same bytes for the same arrays.

    >>> unpack(pack({"a": np.arange(3)}))["a"].tolist()
    [0, 1, 2]
    """
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, values in arrays.items():
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), npy(values), zipfile.ZIP_DEFLATED, 1)
    return out.getvalue()


def unpack(content: bytes) -> dict[str, NDArray[Any]]:
    """Read what `pack` wrote; raises ToolkitError for bytes that are damaged."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise ToolkitError(f"arrays that were kept are damaged: {error}") from error
