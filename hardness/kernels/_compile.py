"""Compiling a loop once: kept on disk where a folder can be written, else for this process."""

from collections.abc import Callable
from typing import Any

from numba import njit


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that lets go of the interpreter; at its first call, for its types."""
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba found no folder for its cache: compile anew in every process
        return njit(nogil=True)(function)
