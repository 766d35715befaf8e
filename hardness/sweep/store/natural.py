"""The natural order of names: numbers in them by their value."""

import re

_DIGITS = re.compile(r"([0-9]+)")


def natural(text: str) -> tuple[list[tuple[int, int, str]], str]:
    """Make the key that sorts names naturally; names that differ have keys that differ.

    >>> sorted(["d=10,m=2", "d=8,m=10", "d=8,m=2"], key=natural)
    ['d=8,m=2', 'd=8,m=10', 'd=10,m=2']
    """
    parts = [p for p in _DIGITS.split(text) if p]
    return [(1, int(p), "") if p.isdecimal() else (0, 0, p) for p in parts], text
