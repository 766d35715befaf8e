"""Parts of all compiled loops: the compilation, prefetching, and counts of ones in a word."""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # numba supplies the first argument, which its own types count


def compiled(loop: Callable[..., Any]) -> Any:
    """Compile a loop at its first call for the types of the arguments, without the GIL.

    The compiled code is cached on disk, or only in this process if no folder can be written.
    """
    try:
        return njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # numba found no folder for its cache
        return njit(nogil=True)(loop)


def emit_fetch(builder: Any, place: Any) -> None:
    """Emit a prefetch of the cache line at an address; any address is allowed."""
    byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
    prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
    # 0: to read; 3: into the nearest cache; 1: data.
    builder.call(prefetch, [builder.bitcast(place, byte), number(0), number(3), number(1)])


@_intrinsic
def popcount(typing: Any, word: Any) -> Any:
    """Count the ones of a 64-bit word."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@compiled
def lowest_one(word: Any) -> Any:
    """Return the position, 0 to 63, of the lowest one of a nonzero word."""
    return np.int64(popcount((word & (~word + np.uint64(1))) - np.uint64(1)))
