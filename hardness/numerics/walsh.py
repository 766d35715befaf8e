"""The Walsh-Hadamard transform of long vectors, in place.

The loops are compiled at first use, which takes some seconds, and cached on disk.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError

LARGEST_LEVELS = 26  # of 2^26 entries: 256 MiB of float32
_KINDS = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32))


def walsh_hadamard(values: NDArray[Any]) -> None:
    """Replace v by H v, H[i, j] = (-1)^popcount(i & j): (2^n,), or (rows, 2^n) row by row.

    H is not normalised, so two transforms multiply the vector by 2^n. Levels go from the nearest
    pairs to the farthest, with one addition or subtraction for each entry, so results have the same
    bits on every machine. A row takes n 2^n additions in one thread. Only int32 needs further
    memory, a byte for each entry. For long rows the time is about that of five passes over the row.
    Accepts float32, float64 and int32, n <= 26. Raises UsageError for other arguments, for arrays
    that are not contiguous or not writable, and for int32 rows whose absolute values sum to 2^31 or
    more, which could overflow.

    >>> values = np.array([1, 0, 2, 0], np.int32)
    >>> walsh_hadamard(values)
    >>> values.tolist()
    [3, 3, -1, -1]
    """
    flat = _checked(values)
    if len(flat):
        from hardness.numerics import _walsh_jit as compiled

        compiled.transform_runs(flat, values.shape[-1])


def _checked(values: NDArray[Any]) -> NDArray[Any]:
    """Return the entries as one flat view, if the transform takes them."""
    if values.dtype not in _KINDS:
        raise UsageError(f"Walsh-Hadamard transform of {values.dtype}: float32, float64 or int32")
    size = values.shape[-1] if values.ndim in (1, 2) else 0
    if size.bit_count() != 1 or size > 1 << LARGEST_LEVELS:
        takes = f"(2^n,) or (rows, 2^n), n at most {LARGEST_LEVELS}"
        raise UsageError(f"Walsh-Hadamard transform of shape {values.shape}: {takes}")
    if not values.flags.carray:
        raise UsageError("Walsh-Hadamard transform in place of an array not contiguous or writable")
    flat = values.reshape(-1)
    if values.dtype == np.int32 and len(flat):
        rows = flat.reshape(-1, size)
        above = rows.sum(axis=1, where=rows > 0, dtype=np.int64)
        heaviest = (2 * above - rows.sum(axis=1, dtype=np.int64)).max()
        if heaviest >= 1 << 31:
            raise UsageError(
                f"Walsh-Hadamard transform of int32 with absolute values summing to {heaviest}: "
                "at most 2^31 - 1, or the sums could overflow"
            )
    return flat
