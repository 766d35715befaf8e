"""In how many samples +-1 functions differ, from packed bits: their Gram matrix.

Compiled at first use, which takes about a second, and kept on disk.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.limits import require_memory
from instances.tokens import words_per_token

_STRIP = 64  # members: their rows, 512 words at a time, lie in the second-level cache


def add_distances(bits: NDArray[np.uint64], samples: int, out: NDArray[np.int64]) -> None:
    """Add in how many samples the first members differ from all: out (rows, M), rows <= M.

    bits: (M, words), bit 1 where a member is -1: `instances.tokens.pack` makes them of +-1 values
    (M, samples). Entries below the diagonal are left as they were or are added to: they mean
    nothing. Where out was 0, samples - 2 out is the upper triangle of the sums of f_i f_j. Raises
    UsageError for bits that are not uint64 of ceil(samples / 64) words or not 0 beyond the last
    sample, and for another out; TooLarge where memory lacks.

    >>> out = np.zeros((1, 3), np.int64)
    >>> add_distances(np.array([[0b00], [0b01], [0b11]], np.uint64), 2, out)
    >>> out.tolist()
    [[0, 1, 2]]
    """
    if out.dtype != np.int64 or out.ndim != 2 or not len(out) <= out.shape[1] == len(bits):
        raise UsageError(
            f"distances of {len(bits)} members in {out.dtype} {out.shape}: int64 (rows, M) with at "
            "most M rows"
        )
    body, rest = _layout(bits, samples)
    from hardness.numerics import _sign_gram_jit as compiled

    for i in range(0, len(out), _STRIP):
        compiled.add(body, rest, out, i, min(len(out), i + _STRIP))


def _layout(bits: NDArray[Any], samples: int) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The bits as the compiled loop takes them: words in eights, the last few in a table apart."""
    if samples < 1:
        raise UsageError(f"one-bit Gram matrix over {samples} samples: at least 1")
    words = words_per_token(samples)
    if bits.dtype != np.uint64 or bits.ndim != 2 or bits.shape[1] != words:
        raise UsageError(
            f"one-bit Gram matrix over {samples} samples of {bits.dtype} {bits.shape}: "
            f"uint64 (M, {words})"
        )
    if samples % 64 and (bits[:, -1] >> np.uint64(samples % 64)).any():
        raise UsageError(f"one-bit Gram matrix over {samples} samples: bits beyond them are not 0")
    copied = 0 if bits.flags.c_contiguous else bits.nbytes
    require_memory(64 * len(bits) + copied, f"the bits of {len(bits)} members")
    from hardness.numerics import _sign_gram_jit as compiled

    whole = words - words % compiled.LANES
    rest = np.zeros((len(bits), compiled.LANES), np.uint64)
    rest[:, : words - whole] = bits[:, whole:]
    return np.ascontiguousarray(bits), rest
