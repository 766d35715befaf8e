"""The values that a parameter may have, declared with its type: Annotated[int, Range(1, 65536)].

A declaration makes the refusal of other values, the help of `families show`, and the tables of the
manual. A class inherits what it does not declare anew.
"""

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from instances.errors import UsageError
from instances.numbers import write

End = int | Fraction | None
_POWER = 1 << 20  # powers of two are written as such from here on
_ANNOTATED = re.compile(r"(?:\w+\.)?Annotated\[\s*([\w.]+)")


@dataclass(frozen=True)
class Range:
    """Numbers from `least` to `most`, and those ends of a range that are not in it.

    about: what the parameter is, for the refusal. words: the range, where its ends do not say all.

    >>> Range(1, 65536).allowed, Range(above=0, most=1000).allowed
    ('between 1 and 65536', 'above 0 and at most 1000')
    >>> Range(0, below=Fraction(1, 2)).refusal("noise", Fraction(3, 4))
    'noise=3/4 given: noise must be at least 0 and below 1/2'
    """

    least: End = None
    most: End = None
    above: End = None
    below: End = None
    about: str = ""
    words: str = ""

    def __contains__(self, value: Any) -> bool:
        return (
            (self.least is None or bool(value >= self.least))
            and (self.most is None or bool(value <= self.most))
            and (self.above is None or bool(value > self.above))
            and (self.below is None or bool(value < self.below))
        )

    @property
    def allowed(self) -> str:
        """The range in words."""
        if self.words:
            return self.words
        if self.least is not None and self.most is not None:
            return f"between {_end(self.least)} and {_end(self.most)}"
        ends = {"at least": self.least, "above": self.above, "at most": self.most}
        ends["below"] = self.below
        return " and ".join(f"{word} {_end(end)}" for word, end in ends.items() if end is not None)

    def refusal(self, name: str, value: Any) -> str:
        """Say what is wrong with a value out of range, and what is allowed."""
        return f"{name}={value} given: {self.about or name} must be {self.allowed}"


@dataclass(frozen=True)
class OneOf:
    """One of some words.

    >>> OneOf(("boolean", "gaussian")).refusal("tokens", "odd")
    'tokens=odd given: boolean or gaussian'
    """

    values: tuple[str | int, ...]

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    @property
    def allowed(self) -> str:
        """The words."""
        *first, last = map(str, self.values)
        return f"{', '.join(first)} or {last}" if first else last

    def refusal(self, name: str, value: Any) -> str:
        """Say which words are allowed."""
        return f"{name}={value} given: {self.allowed}"


def plain_type(annotation: Any) -> Any:
    """Return a type without what is declared with it.

    >>> plain_type(Annotated[int, Range(1)]), plain_type(Fraction)
    (<class 'int'>, <class 'fractions.Fraction'>)
    """
    if isinstance(annotation, str):  # of a file that imports annotations from __future__
        text = _ANNOTATED.match(annotation)
        return text[1] if text else annotation
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


@cache
def declared(kind: type[Any]) -> Mapping[str, Range | OneOf]:
    """Return what a class and those that it derives from declare of each of its fields.

    >>> from instances.lwe import Lwr
    >>> declared(Lwr)["n"].allowed
    'between 1 and 65536'
    """
    if not is_dataclass(kind):
        return {}
    ranges = dict[str, Range | OneOf]()
    for base in reversed(kind.__mro__):
        try:
            annotations = inspect.get_annotations(base, eval_str=True)
        except Exception:  # texts that name what only a type checker imports
            annotations = inspect.get_annotations(base)
        for name, annotation in annotations.items():
            for value in getattr(annotation, "__metadata__", ()):
                if isinstance(value, Range | OneOf):
                    ranges[name] = value
    return {field.name: ranges[field.name] for field in fields(kind) if field.name in ranges}


def require_declared(record: Any) -> None:
    """Refuse a dataclass with a value that its class does not declare; raises UsageError."""
    kind: Any = type(record)
    for name, allowed in declared(kind).items():
        if (value := getattr(record, name)) not in allowed:
            raise UsageError(allowed.refusal(name, value))


def _end(value: int | Fraction) -> str:
    """Write an end of a range, a large power of two as one.

    >>> _end(1 << 48), _end(Fraction(1, 2)), _end(65536)
    ('2^48', '1/2', '65536')
    """
    if isinstance(value, int) and value >= _POWER and not value & (value - 1):
        return f"2^{value.bit_length() - 1}"
    return write(value, ratio=True)
