"""Strict reading of certificates: exact numbers, restricted JSON, and refusals in one line."""

import json
import math
import re
from collections.abc import Callable, Set
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

DIGITS = 100_000  # characters of the longest number
HEXADECIMAL = 13_000  # bits from which an integer is written in hexadecimal
_INTEGER = "(?:[1-9][0-9]{0,3999}|0x[1-9a-f][0-9a-f]*)"
_RATIONAL = re.compile(f"(0|-?{_INTEGER})(?:/({_INTEGER}))?")
_RANGES: dict[str, Callable[[Fraction], bool]] = {
    "rational": lambda v: True,
    "share": lambda v: 0 < v <= 1,
    "risk": lambda v: 0 <= v < 1,
    "noise": lambda v: 0 <= 2 * v < 1,
    "above 0": lambda v: v > 0,
    "positive": lambda v: v >= 1 and v.denominator == 1,
}


class Refused(Exception):
    """The certificate does not prove what it claims; the text, printable and one line, says why."""

    def __init__(self, why: str) -> None:
        line = "".join(c if c.isprintable() else "?" for c in " ".join(why.split()))
        super().__init__(line[:300])


def need(condition: bool, why: str) -> None:
    """Refuse unless a condition holds."""
    if not condition:
        raise Refused(why)


def written(value: Fraction | int) -> str:
    """Write a number in canonical form: "p/q" in lowest terms, very long integers as "0x..".

    >>> written(Fraction(6, 4)), written(2**13000)[:6]
    ('3/2', '0x1000')
    """
    value = Fraction(value)
    parts = [value.numerator] if value.denominator == 1 else [value.numerator, value.denominator]
    return "/".join(f"{v:#x}" if v.bit_length() > HEXADECIMAL else str(v) for v in parts)


def read(kind: str, text: Any) -> Any:
    """Read a number in a range named in _RANGES; "positive" gives an int.

    >>> read("share", "2/3"), read("positive", "12")
    (Fraction(2, 3), 12)
    """
    need(isinstance(text, str) and len(text) <= DIGITS, "a number is not a string, or too long")
    match = _RATIONAL.fullmatch(text)
    need(match is not None, f"{text[:40]!r} is not an integer or p/q")
    value = Fraction(int(match[1], 0), int(match[2] or "1", 0))  # type: ignore[index]
    need(written(value) == text, f"{text[:40]!r} is not in lowest terms, or not spelt so")
    need(_RANGES[kind](value), f"{text[:40]} is out of range: {kind}")
    return value.numerator if kind == "positive" else value


def small(value: Any, low: int, high: int, what: str) -> int:
    """Read a JSON integer in a range."""
    need(type(value) is int and low <= value <= high, f"{what} is not in {low}..{high}")
    return int(value)


def listed(value: Any) -> list[Any]:
    """Read a JSON list."""
    need(type(value) is list, "a list is missing")
    return list(value)


def fields(value: Any, names: Set[str], what: str, optional: Set[str] = frozenset()) -> Any:
    """Read a JSON object that has the fields `names`, may have `optional`, and no others."""
    need(isinstance(value, dict), f"{what} is not an object")
    missing, unknown = sorted(names - set(value)), sorted(set(value) - names - optional)
    need(not missing, f"{what} lacks {', '.join(missing)}")
    need(not unknown, f"{what} has unknown fields: {', '.join(unknown)}")
    return value


def take(value: Any, what: str, **kinds: Any) -> list[Any]:
    """Read an object with exactly the fields of `kinds`; return their values in this order.

    A kind is a kind of `read`, a range of JSON integers, a function, or None for an unread value. A
    field whose kind is in a list may be missing; its value is then None.

    >>> take({"size": "4", "power": 2}, "it", size="positive", power=(1, 9), cosine=["share"])
    [4, 2, None]
    """
    optional, parts = {name for name, kind in kinds.items() if isinstance(kind, list)}, []
    fields(value, set(kinds) - optional, what, optional)
    for name, kind in kinds.items():
        part, kind = value.get(name), kind[0] if name in optional else kind
        if isinstance(kind, tuple) and name in value:
            part = small(part, kind[0], kind[1], name)
        elif kind is not None and name in value:
            part = read(kind, part) if isinstance(kind, str) else kind(part)
        parts.append(part)
    return parts


def rationals(texts: Any) -> list[Fraction]:
    """Read a list of rationals whose common denominator is not too long."""
    numbers, common = [read("rational", text) for text in listed(texts)], 1
    for number in numbers:
        common = math.lcm(common, number.denominator)
        need(common.bit_length() <= 1 << 15, "so long a common denominator takes too long")
    return numbers


def six_digits(value: Fraction, up: bool) -> Decimal:
    """Round a number to six digits, down or up."""
    context = Context(prec=6, rounding=ROUND_CEILING if up else ROUND_FLOOR)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def short(value: Fraction | int | str, up: bool = False) -> str:
    """Write a number; a long one by its first digits, rounded down or up. A text is unchanged.

    >>> short(Fraction(10**50, 3)), short(Fraction(10**50, 3), up=True)
    ('about 3.33333e+49', 'about 3.33334e+49')
    """
    text = value if isinstance(value, str) else written(value)
    return text if len(text) <= 40 else f"about {six_digits(Fraction(value), up):.5e}"


def load(text: str) -> Any:
    """Read JSON without floats, long numbers or repeated names; raises Refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in pairs}) == len(pairs), "a name stands twice in an object")
        return dict(pairs)

    def whole(number: str) -> int:
        right = number.lstrip("-").isdigit() and len(number) <= 20
        need(right, f"the JSON number {number[:40]} is not an integer, of at most 20 digits")
        return int(number)

    try:
        return json.loads(text, object_pairs_hook=once, parse_int=whole, parse_float=whole,
                          parse_constant=whole)  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise Refused(f"it is not JSON, or nested too deep ({error})") from None
