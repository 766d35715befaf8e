"""Ranges of numbers as text: "8..20", "8..20..4", "8..1024..*2", "8,12,16", "0,0.5"."""

import re
from fractions import Fraction

from instances.errors import UsageError
from instances.parameters import fraction

Value = int | Fraction  # of a parameter

_NUMBER = r"[0-9]{1,18}"
_LIST = re.compile(rf"{_NUMBER}([./]{_NUMBER})?(,{_NUMBER}([./]{_NUMBER})?)*", re.ASCII)
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.(\*?)({_NUMBER}))?", re.ASCII)


def numbers(text: str, what: str) -> range | tuple[Value, ...] | None:
    """Read numbers in growing order, a range of steps not materialised; None for other text.

    what: what they are of, for messages. Raises UsageError for an empty range and a step of 0.

    >>> numbers("1..1000000000", "d"), numbers("8..64..*2", "d"), numbers("1/2,0.25,1", "noise")
    (range(1, 1000000001), (8, 16, 32, 64), (Fraction(1, 4), Fraction(1, 2), 1))
    """
    text = text.strip()
    if _LIST.fullmatch(text):
        return tuple(sorted({whole(fraction(v, what)) for v in text.split(",")}))
    found = _RANGE.fullmatch(text)
    if not found:
        return None
    low, high, times, step = int(found[1]), int(found[2]), found[3], int(found[4] or 1)
    if step < 1 or (times and (step < 2 or low < 1)):
        least = "a factor of at least 2, from at least 1," if times else "a step of at least 1"
        raise UsageError(f"{what}={text} given: {least} is needed")
    values = range(low, high + 1, step)
    if not values:
        raise UsageError(f"{what}={text} given: the range is empty")
    if not times:
        return values
    powers = [low]
    while powers[-1] * step <= high:
        powers.append(powers[-1] * step)
    return tuple(powers)


def whole(value: Fraction) -> Value:
    """Write a whole number as an int.

    >>> whole(Fraction(4, 2)), whole(Fraction(1, 2))
    (2, Fraction(1, 2))
    """
    return int(value) if value.denominator == 1 else value
