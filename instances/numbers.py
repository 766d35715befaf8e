"""Numbers: read from a text, written exactly, and written for people.

All code that reads or writes integers of any size uses these functions, except the checker of
certificates: it imports none of the package and has two functions of its own.
"""

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext
from fractions import Fraction
from typing import Any, TypeVar

from instances.errors import UsageError

Number = TypeVar("Number", int, Fraction, float)

_MAX_DIGITS = 10**18
_RATIONAL = re.compile(
    r"[+-]?((\d{1,40}(\.\d{0,40})?|\.\d{1,40})(e[+-]?\d{1,2})?|\d{1,41}/0*[1-9]\d{0,40})",
    re.ASCII | re.IGNORECASE,
)
_POWER = re.compile(r"([1-9][0-9]{0,5})\^([+-]?[0-9]{1,3})", re.ASCII)
_RATIONAL_LIMIT = 10**41  # above the numerator and denominator of a rational
_ANY_SIZE = re.compile(r"(-?[0-9]+)(?:/([1-9][0-9]*))?", re.ASCII)
_WRITTEN_IN_FULL = 10**7  # integers below it


def parse(text: str, kind: type[Number], subject: str, any_size: bool = False) -> Number:
    """Read "20000", "2e4" or "2^16", and of rationals "0.1", "1/10" or "2^-15"; raises UsageError.

    An integer has up to 18 digits, and the parts of a rational up to 41. any_size: read a number of
    any size, but only in the form that `write` gives it. A float is the nearest to the rational.

    >>> parse("2e4", int, "steps"), parse("2^-3", Fraction, "noise"), parse("1/10", float, "tau")
    (20000, Fraction(1, 8), 0.1)
    """
    stripped = text.strip()
    value = _of_any_size(stripped) if any_size else _rational(stripped)
    integral = value is not None and value.denominator == 1 and "/" not in text and "." not in text
    if value is None or (kind is int and not (integral and (any_size or abs(value) < _MAX_DIGITS))):
        needed = "an integer such as 200 or 2e4" if kind is int else "a number such as 0.1 or 1/10"
        raise UsageError(f"{subject} must be {needed}, got {text[:60]}")
    return kind(value)


def write(value: Any, ratio: bool = False) -> str:
    """Write a number exactly: a terminating fraction as a decimal, any other as p/q.

    ratio: write no decimals. Other values, such as words and truth values, are written as text.
    Python's own conversion of integers refuses over 4300 digits and takes quadratic time. This
    function does not, so the limit of the interpreter can stay in force for foreign input.

    >>> write(Fraction(1, 40)), write(Fraction(1, 40), ratio=True), write(Fraction(1, 3))
    ('0.025', '1/40', '1/3')
    >>> write(0.5), len(write(10**5000)), write("odd")
    ('0.5', 5001, 'odd')
    """
    if isinstance(value, float):
        value = Fraction(repr(value))
    if isinstance(value, int) and abs(value) >= _MAX_DIGITS:
        from flint import fmpz  # `--help` needs none

        return str(fmpz(value).str())
    if not isinstance(value, Fraction):
        return str(value)
    if value.denominator == 1:
        return write(value.numerator)
    for digits in () if ratio else range(1, 41):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = write(abs(scaled.numerator)).rjust(digits + 1, "0")
            return f"{'-' * (value < 0)}{text[:-digits]}.{text[-digits:]}"
    return f"{write(value.numerator)}/{write(value.denominator)}"


def brief(value: Fraction | int, digits: int = 6, up: bool = False) -> str:
    """Write the first digits of a number, rounded down, or up if `up`, for an upper bound.

    An int below 10^7 is written in full, and a larger one with `digits` digits.

    >>> brief(455), brief(10**50, 3), brief(Fraction(2, 3)), brief(Fraction(2, 3), up=True)
    ('455', '1.00e50', '0.666666', '0.666667')
    """
    if isinstance(value, int) and value < _WRITTEN_IN_FULL:
        return write(value)
    with localcontext(Context(digits, ROUND_CEILING if up else ROUND_FLOOR, MIN_EMIN, MAX_EMAX)):
        rounded = Decimal(value.numerator) / Decimal(value.denominator)
        if isinstance(value, int):
            return f"{rounded:.{digits - 1}e}".replace("e+", "e")
        return f"{rounded:g}"


def outward(low: float, high: float, form: str, between: str = ", ") -> str:
    """Write an interval with ends in format `form`, rounded so that it contains the exact one.

    >>> outward(0.6915, 0.99, ".2f"), outward(-0.0123, 0.7, "+.2g", "..")
    ('0.69, 0.99', '-0.013..+0.7')
    """
    ends = []
    for value, rounding in ((low, ROUND_FLOOR), (high, ROUND_CEILING)):
        with localcontext(rounding=rounding):
            ends.append(format(float(format(Decimal(repr(float(value))), form)), form))
    return between.join(ends)


def _rational(text: str) -> Fraction | None:
    if power := _POWER.fullmatch(text):
        value = Fraction(int(power[1])) ** int(power[2])
    elif _RATIONAL.fullmatch(text):
        value = Fraction(text)
    else:
        return None
    return value if max(abs(value.numerator), value.denominator) < _RATIONAL_LIMIT else None


def _of_any_size(text: str) -> Fraction | None:
    from flint import fmpz

    match = _ANY_SIZE.fullmatch(text)
    return Fraction(int(fmpz(match[1])), int(fmpz(match[2] or "1"))) if match else None
