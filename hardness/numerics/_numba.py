"""What all compiled loops use: how a loop is compiled, and the number of ones of a word."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # numba supplies the first argument, which its own types count


def compiled(loop: Callable[..., Any]) -> Any:
    """Compile a loop at its first call for the types of the arguments, without the GIL.

    What is compiled is kept on disk, if a folder can be written, and else for this process.
    """
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # numba found no folder for its cache
        return njit(nogil=True)(loop)


@_intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """Count the ones of a 64-bit word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@compiled
def lowest_one(word: Any) -> Any:
    """Return the place, 0 to 63, of the lowest one of a word that is not 0."""
    return np.int64(popcount((word & (~word + np.uint64(1))) - np.uint64(1)))
