"""The grammar of parameters: "key=value,key=value" <-> the fields of a frozen dataclass."""

import re
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

from instances.errors import UsageError, unknown

_NUMBER = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40}|\d{1,41}/\d{1,41})", re.ASCII)


def split_list(text: str) -> list[str]:
    """Split at the commas that stand outside of brackets.

    >>> split_list("g=[1,2],m=f(3,4)")
    ['g=[1,2]', 'm=f(3,4)']
    """
    parts, depth = [""], 0
    for character in text:
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    if depth:
        raise UsageError(f"'{text}' given: its brackets do not match")
    return [part.strip() for part in parts]


def key_values(text: str, what: str, known: list[str]) -> dict[str, str]:
    """Read "key=value,key=value" with known keys, each at most once."""
    out: dict[str, str] = {}
    for part in split_list(text) if text.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"'{part}' given in {what}: write key=value")
        if name not in known:
            raise unknown(f"parameter of {what}", name, known)
        if name in out:
            raise UsageError(f"{name} is given twice in {what}")
        out[name] = value
    return out


def fraction(text: str, what: str) -> Fraction:
    """Read an exact rational, "0.1" or "1/10"; raises UsageError.

    >>> fraction("0.1", "noise")
    Fraction(1, 10)
    """
    if not _NUMBER.fullmatch(text.strip()) or text.strip().rstrip("0").endswith("/"):
        raise UsageError(f"{what}={text} given: a number such as 0.1 or 1/10 is needed")
    return Fraction(text.strip().rstrip("."))


def integer(text: str, what: str) -> int:
    """Read an integer; raises UsageError."""
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text.strip()):
        raise UsageError(f"{what}={text} given: an integer is needed")
    return int(text)


def number(text: str, what: str) -> float:
    """Read a number as float64; raises UsageError."""
    return float(fraction(text, what))


def word(text: str, what: str) -> str:
    """Read a plain word; raises UsageError."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", text):
        raise UsageError(f"{what}={text} given: a plain word is needed")
    return text


class Expression(str):
    """A parameter that is an expression; the family reads it."""

    __slots__ = ()


_READERS: dict[Any, Any] = {
    int: integer,
    Fraction: fraction,
    float: number,
    str: word,
    Expression: lambda text, what: Expression(text),
}


def build(kind: type[Any], text: str, what: str, example: str) -> Any:
    """Make a frozen dataclass from "key=value,...", its fields being the keys allowed.

    Raises UsageError for unknown, missing, repeated or malformed parameters.
    """
    return kind(**arguments(kind, text, what, example))


def arguments(kind: type[Any], text: str, what: str, example: str) -> dict[str, Any]:
    """Read what `build` makes a dataclass of: its fields that are given, by their names."""
    declared = {f.name: f for f in fields(kind)}
    given = key_values(text, what, list(declared))
    missing = [n for n, f in declared.items() if f.default is MISSING and n not in given]
    if missing:
        raise UsageError(f"{what} needs {', '.join(missing)}: write {example}")
    return {n: _READERS[declared[n].type](v, f"{what}: {n}") for n, v in given.items()}


def is_readable(kind: type[Any]) -> bool:
    """Say whether the types of all fields of a dataclass are ones that `build` reads."""
    return all(f.type in _READERS for f in fields(kind))


def canonical(record: Any, name: str) -> str:
    """Write a frozen dataclass as its canonical spec: defaults filled in, keys sorted."""
    values = {f.name: plain(getattr(record, f.name)) for f in fields(record)}
    pairs = ",".join(f"{k}={values[k]}" for k in sorted(values))
    return f"{name}:{pairs}" if pairs else name


def brief(record: Any, name: str) -> str:
    """Write a frozen dataclass as a spec without its defaults, in the order of its fields."""
    shown = [f for f in fields(record) if getattr(record, f.name) != f.default]
    pairs = ",".join(f"{f.name}={plain(getattr(record, f.name))}" for f in shown)
    return f"{name}:{pairs}" if pairs else name


def plain(value: Any) -> str:
    """Write a parameter: a terminating fraction as a decimal, any other as p/q.

    >>> plain(Fraction(1, 40)), plain(Fraction(1, 3)), plain(0.5)
    ('0.025', '1/3', '0.5')
    """
    if isinstance(value, float):
        return plain(Fraction(repr(value)))
    if not isinstance(value, Fraction):
        return str(value)
    for digits in range(41):
        scaled = value * 10**digits
        if scaled.denominator == 1:
            text = str(abs(scaled.numerator)).rjust(digits + 1, "0")
            cut = len(text) - digits
            sign = "-" if value < 0 else ""
            return sign + text[:cut] + ("." + text[cut:] if digits else "")
    return str(value)
