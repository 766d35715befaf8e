"""Checks of numbers, paths and arrays that Python callers pass; errors are one line."""

import math
import os
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from fractions import Fraction
from operator import index
from os import PathLike
from typing import TYPE_CHECKING, Any

from instances.errors import UsageError
from instances.text import cut

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NAME_BYTES, _PATH_BYTES = 255, 4095  # limits of Linux for a name and a path


def integral(name: str, value: Any, minimum: int) -> int:
    """Read an integer of any library, but no truth value; raises UsageError.

    >>> import numpy as np
    >>> integral("seeds", np.int64(3), 1)
    3
    """
    try:
        number = minimum - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        number = minimum - 1
    if number < minimum:
        raise refused(name, value, f"an integer of at least {minimum}")
    return number


def exact(name: str, value: Any) -> Fraction:
    """Read a number exactly: a float by its printed digits, a text as on the command line.

    Raises UsageError.

    >>> exact("tau", 0.1), exact("tau", "1/10")
    (Fraction(1, 10), Fraction(1, 10))
    """
    from instances import numbers

    return numbers.parse(_written(value, str), Fraction, name)


def real(name: str, value: Any) -> int | float:
    """Read a number as an int or float, for JSON; an int or a float is unchanged.

    Raises UsageError.

    >>> real("seconds", Fraction(5, 2)), real("seconds", 60)
    (2.5, 60)
    """
    if type(value) is float:
        return value
    number = exact(name, value)
    return number.numerator if type(value) is int else float(number)


def located(name: str, value: Any) -> str | PathLike[str]:
    """Return the path of a file; raises UsageError if the system cannot have such a path.

    >>> located("out", "a.json")
    'a.json'
    """
    try:
        encoded = b"" if isinstance(os.fspath(value), bytes) else os.fsencode(value)
    except (TypeError, UnicodeEncodeError):
        encoded = b""
    longest = max(map(len, encoded.split(os.fsencode(os.sep))))
    if not encoded or b"\0" in encoded or longest > _NAME_BYTES or len(encoded) > _PATH_BYTES:
        raise refused(name, value, "the path of a file")
    return value


def number_between(name: str, value: Any, above: float, below: float = math.inf) -> float:
    """Read a number strictly between two others; raises UsageError.

    >>> number_between("confidence", "99/100", 0, 1)
    0.99
    """
    number = float(exact(name, value)) if isinstance(value, str) else real(name, value)
    if not above < number < below:
        needed = f"above {above:g}" if below == math.inf else f"between {above:g} and {below:g}"
        raise refused(name, value, f"a number {needed}")
    return number


def one_of(name: str, value: Any, names: Sequence[str], cure: str = "") -> str:
    """Return a word if it is allowed; raises UsageError with the nearest allowed word.

    cure: advice for a word without a near one; {} in it is the word.

    >>> one_of("oracle", "exact", ("samples", "exact"))
    'exact'
    """
    if isinstance(value, str) and value in names:
        return value
    near = get_close_matches(str(value)[:40], names, n=1)
    meant = f": did you mean {near[0]}?" if near else cure and f": try {cure.format(value)}"
    raise refused(name, value, f"one of {', '.join(names)}", meant)


def text_argument(name: str, value: Any) -> str:
    """Return a text; raises UsageError for anything else."""
    if not isinstance(value, str):
        raise refused(name, value, "a text")
    return value


def switch(name: str, value: Any) -> bool:
    """Return True or False; raises UsageError for anything else."""
    if not isinstance(value, bool):
        raise refused(name, value, "True or False")
    return value


def real_array(name: str, value: Any, shape: str) -> "NDArray[Any]":
    """Read an array of real numbers with the axes of `shape`, none of them empty.

    Its type is unchanged. Raises UsageError, and TooLarge if memory cannot hold it in float64.

    >>> real_array("x", [[1, 2]], "(n, d)").shape
    (1, 2)
    """
    import numpy as np  # `--help` needs none

    from instances.limits import require_memory

    try:
        array = np.asarray(value)
    except ValueError as error:
        raise UsageError(f"{name} is ragged: an array {shape} is needed") from error
    except Exception as error:  # a tensor with its gradient, or on a GPU
        raise UsageError(f"{name} is no array: {cut(str(error), 120)}") from error
    if array.dtype.kind not in "biuf":
        content = "objects: ragged?" if array.dtype.kind == "O" else f"{array.dtype}"
        raise UsageError(f"{name} holds {content[:60]}: real numbers are needed")
    if array.ndim != shape.strip("(,)").count(",") + 1 or not array.size:
        raise UsageError(f"{name} must have the shape {shape}, no axis empty, got {array.shape}")
    require_memory(24 * array.size, f"{name} {array.shape} in float64")
    return array


def refused(name: str, value: Any, needed: str, more: str = "") -> UsageError:
    """Build the error for a value that is not allowed; more: what to do instead."""
    return UsageError(
        f"{name} must be {needed}, got {cut(_written(value, str), 60)}{cut(more, 120)}"
    )


def _written(value: Any, write: Callable[[Any], str]) -> str:
    try:
        return write(value)
    except ValueError:  # Python writes no integers of over 4300 digits
        return f"{type(value).__name__} of over 4300 digits"
