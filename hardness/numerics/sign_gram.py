"""Gram matrices of functions with values -1 and +1, from packed bits.

The loops are compiled at the first call, which takes some seconds, and cached on disk.
"""

import numpy as np
from numpy.typing import NDArray

from instances.errors import UsageError
from instances.limits import require_memory
from instances.tokens import words_per_token

_SCRATCH = 1 << 19  # bytes of packed rows, at most


def add_sign_gram(bits: NDArray[np.uint64], samples: int, out: NDArray[np.int64]) -> None:
    """Add to out[i, j], for i <= j, the sum over the samples of f_i f_j: out (rows, M), rows <= M.

    bits: (M, words), words = ceil(samples / 64), bit 1 if a function is -1: `instances.tokens.pack`
    makes them of values (M, samples). Entries below the diagonal stay as they are, so sums over
    parts of the samples add up. Takes rows M words / 2 operations on words, in one thread.
    Raises UsageError if bits are not uint64 (M, words) or not 0 beyond the last sample, or if out
    is not int64 in C order with at most M rows of M; TooLarge if memory lacks.

    >>> out = np.zeros((2, 3), np.int64)
    >>> add_sign_gram(np.array([[0b00], [0b01], [0b11]], np.uint64), 2, out)
    >>> out.tolist()
    [[2, 0, -2], [0, 2, 0]]
    """
    fits = out.ndim == 2 and len(out) <= out.shape[1] == len(bits)
    if out.dtype != np.int64 or not fits or not out.flags.carray:
        raise UsageError(
            f"Gram matrix of {len(bits)} functions in {out.dtype} {out.shape}: int64 (rows, M) "
            "with at most M rows, contiguous and writable"
        )
    words = words_per_token(samples)
    if samples < 1 or bits.dtype != np.uint64 or bits.ndim != 2 or bits.shape[1] != words:
        raise UsageError(
            f"Gram matrix over {samples} samples of {bits.dtype} {bits.shape}: at least 1, "
            f"uint64 (M, {words})"
        )
    if samples % 64 and (bits[:, -1] >> np.uint64(samples % 64)).any():
        raise UsageError(f"Gram matrix over {samples} samples: bits beyond them are not 0")
    copied = 0 if bits.flags.c_contiguous else bits.nbytes
    require_memory(_SCRATCH + copied, f"the bits of {len(bits)} functions")
    from hardness.numerics import _sign_gram_jit as compiled

    bits, scratch = np.ascontiguousarray(bits), compiled.new_scratch()
    for start in range(0, len(out), compiled.STRIP):
        stop = min(len(out), start + compiled.STRIP)
        compiled.add_sign_gram(bits, samples, out, start, stop, scratch)
