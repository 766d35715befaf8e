"""Integers as digits in a base, the tokens that networks for LWE read and write. [LWACL23]"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arguments import integral
from instances.errors import UsageError


def length(base: int, q: int) -> int:
    """The least number of digits that writes every number below q.

    >>> length(16, 251), length(81, 251), length(2, 256)
    (2, 2, 8)
    """
    base, digits, most = integral("a base", base, 2), 1, 1
    while (most := most * base) < q:
        digits += 1
    return digits


def digits(values: NDArray[Any], base: int, q: int) -> NDArray[np.int64]:
    """Write numbers 0 .. q-1 as digits, the most significant first: (.., n) -> (.., n length).

    Raises UsageError for a base below 2 and for numbers out of range.

    >>> digits(np.array([[250, 3]]), 16, 251).tolist()
    [[15, 10, 0, 3]]
    """
    many = length(base, q)
    found = _within("a number", values, q, "q")
    powers = np.array([base**i for i in reversed(range(many))], np.int64)
    out = found[..., None] // powers % min(base, q)
    return out.reshape(*found.shape[:-1], found.shape[-1] * many)


def numbers(tokens: NDArray[Any], base: int, q: int) -> NDArray[np.int64]:
    """Read digits back: (.., n length) -> (.., n), the inverse of `digits`.

    Raises UsageError for digits out of range, and where they write q or more, as those of a network
    may.

    >>> numbers(np.array([[15, 10, 0, 3]]), 16, 251).tolist()
    [[250, 3]]
    """
    many = length(base, q)
    if min(base, q) ** many > 1 << 63:
        raise UsageError(f"base {base} given: {many} of its digits pass 64 bits, take a lower one")
    found = _within("a digit", tokens, base, "the base")
    if found.shape[-1] % many:
        raise UsageError(
            f"tokens {found.shape} given: a number below q={q} has {many} digits in base {base}"
        )
    out = np.zeros((*found.shape[:-1], found.shape[-1] // many), np.int64)
    for place in range(many):
        out = out * min(base, q) + found[..., place::many]
    return _within("a number", out, q, "q")


def _within(what: str, given: NDArray[Any], bound: int, name: str) -> NDArray[np.int64]:
    """Refuse what is no array of integers 0 .. bound-1."""
    found = np.asarray(given)
    if found.dtype.kind not in "iu" or not found.ndim:
        raise UsageError(f"{found.dtype} {found.shape} given: an array of integers is needed")
    wrong = (found < 0) | (found >= bound)
    if wrong.any():
        place = np.unravel_index(int(wrong.argmax()), wrong.shape)
        where = ", ".join(map(str, place))
        raise UsageError(
            f"{what} {found[place]} given at [{where}]: 0 .. {bound - 1} are below {name}={bound}"
        )
    return found.astype(np.int64)
