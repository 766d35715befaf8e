"""The grammar of parameters: "key=value,key=value" <-> the fields of a frozen dataclass."""

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, field, fields, is_dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

from instances.errors import UsageError, unknown
from instances.numbers import parse, write
from instances.ranges import plain_type
from instances.text import cut

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT = re.compile(r"[+-]?([0-9]{1,20}\.[0-9]{0,20}|\.?[0-9]{1,20})([eE][+-]?[0-9]{1,3})?")


def split_list(text: str) -> list[str]:
    """Split at the commas that stand outside of brackets.

    >>> split_list("g=[1,2],m=f(3,4)")
    ['g=[1,2]', 'm=f(3,4)']
    """
    ends, depth = [-1], 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            ends.append(place)
    if depth:
        raise UsageError(f"'{cut(text, 100)}' given: its brackets do not match")
    return [text[start + 1 : end].strip() for start, end in pairwise([*ends, len(text)])]


def key_values(text: str, what: str, known: list[str]) -> dict[str, str]:
    """Read "key=value,key=value" with known keys, each at most once."""
    out: dict[str, str] = {}
    for part in split_list(text) if text.strip() else []:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"'{cut(part, 100)}' given in {what}: write key=value")
        if name not in known:
            raise unknown(f"parameter of {what}", name, known)
        if name in out:
            raise UsageError(f"{name} is given twice in {what}")
        out[name] = value
    return out


def word(text: str, what: str) -> str:
    """Read a plain word; raises UsageError."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", text):
        raise UsageError(
            f"{what}={cut(text, 60)} given: a plain word is needed: "
            "letters, digits, - and _; commas stand between keys, as in w=2,d=8"
        )
    return text


class Profiled(str):
    """A parameter that is a profile, in words or a list; the family reads it."""

    __slots__ = ()


class Value:
    """The type of a parameter of a class of a user, which is read as it looks."""


_READERS: dict[Any, Any] = {
    int: lambda text, what: parse(text, int, what),
    Fraction: lambda text, what: parse(text, Fraction, what),
    float: lambda text, what: parse(text, float, what),
    str: word,
    Profiled: lambda text, what: Profiled(text),
    Value: lambda text, what: _looks(text, what),
}
# By their names too: annotations are texts in a file that imports them from __future__.
_READERS |= {kind.__name__: reader for kind, reader in _READERS.items()}


def build(kind: type[Any], text: str, what: str, example: str) -> Any:
    """Make a frozen dataclass from "key=value,...", its fields being the keys allowed.

    Raises UsageError for unknown, missing, repeated or malformed parameters.
    """
    return kind(**arguments(kind, text, what, example))


def arguments(kind: type[Any], text: str, what: str, example: str) -> dict[str, Any]:
    """Read what `build` makes a dataclass of: its fields that are given, by their names."""
    declared = {f.name: f for f in listed(kind)}
    given = key_values(text, what, list(declared))
    missing = [n for n, f in declared.items() if f.default is MISSING and n not in given]
    if missing:
        raise UsageError(f"{what} needs {', '.join(missing)}: write {example}")
    return {n: _READERS[plain_type(declared[n].type)](v, f"{what}: {n}") for n, v in given.items()}


def listed(kind: Any) -> list[Field[Any]]:
    """List the fields that are given: those required, the class's own, then inherited ones.

    >>> from instances.lwe import Lwr
    >>> [f.name for f in listed(Lwr)][:4]
    ['n', 'q', 'p', 'secret']

    Of what calls a class of a user, `spec_fields`: those of that class.
    """
    if (own := getattr(kind, "spec_fields", None)) is not None:
        return list(own)
    own = inspect.get_annotations(kind if isinstance(kind, type) else type(kind))
    given = [f for f in fields(kind) if f.init]
    return sorted(given, key=lambda f: 0 if f.default is MISSING else 1 + (f.name not in own))


def is_readable(kind: type[Any]) -> bool:
    """Return whether a class is a dataclass whose fields have types that `build` reads."""
    return (is_dataclass(kind) or hasattr(kind, "spec_fields")) and all(
        plain_type(f.type) in _READERS for f in listed(kind)
    )


def taken(value: Callable[..., Any], text: str, where: str, given: int = 0) -> dict[str, Any]:
    """Read "key=value,..." as arguments that a class or function takes by name; raises UsageError.

    A value is an int, a float, true or false, or a word, as it looks. given: how many of the first
    arguments are not to be named.

    >>> taken(lambda d, rate, on: None, "d=9,rate=1e-3,on=true", "it")
    {'d': 9, 'rate': 0.001, 'on': True}
    """
    try:
        found = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where} does not say which parameters it takes: give none") from error
    known = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.VAR_KEYWORD for p in found):
        keys = [part.partition("=")[0].strip() for part in split_list(text)]
        known += [key for key in keys if key.isidentifier()]
    known = [name for name in known if name not in [p.name for p in found[:given]]]
    return {n: _looks(v, f"{where}: {n}") for n, v in key_values(text, where, known).items()}


def parameters_of(value: Any, given: Iterable[str] = ()) -> tuple[Field[Any], ...]:
    """List what a class or function takes by name as fields that `build` reads as they look.

    given: names that one of any names takes. A default that no spec writes is left out of it.

    >>> [f.name for f in parameters_of(lambda d, w=3, **more: None, ["w", "on"])]
    ['d', 'w', 'on']
    """
    try:
        found = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ()
    named = [p for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    shown = {p.name: MISSING if p.default is p.empty else p.default for p in named}
    if any(p.kind is p.VAR_KEYWORD for p in found):
        shown |= {name: None for name in given if name not in shown}
    made = list[Field[Any]]()
    for name, default in shown.items():
        more = {} if default is MISSING or is_written(default) else {"later": True}
        one: Any = field(default=default, metadata=more)
        one.name, one.type = name, Value
        made.append(one)
    return tuple(made)


def is_written(value: Any) -> bool:
    """Whether `write` writes a value as `Value` reads it.

    >>> is_written(3), is_written(0.5), is_written(None), is_written("a b")
    (True, True, False, False)
    """
    try:
        return bool(_looks(write(value), "") == value)
    except ValueError:  # a UsageError is one too
        return False


def _looks(text: str, what: str) -> int | float | bool | str:
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return word(text, what)


def later(default: Any) -> Any:
    """Declare a field that a released dataclass did not have: `canonical` omits it at its default.

    So what was stored keeps its name, and its seeds, which depend on the name.
    """
    return field(default=default, metadata={"later": True})


def canonical(record: Any, name: str) -> str:
    """Write a frozen dataclass as its canonical spec: defaults filled in, keys sorted."""
    shown = [f for f in listed(record) if "later" not in f.metadata or _differs(record, f)]
    return _written(record, name, sorted(shown, key=lambda f: f.name))


def brief(record: Any, name: str) -> str:
    """Write a frozen dataclass as a spec without its defaults, in the order of `listed`."""
    return _written(record, name, [f for f in listed(record) if _differs(record, f)])


def _differs(record: Any, field: Field[Any]) -> bool:
    return bool(_held(record, field.name) != field.default)


def _held(record: Any, name: str) -> Any:
    """The value of a parameter; one of a class of a user may have the name of something else."""
    return getattr(record, "spec_values", {}).get(name, getattr(record, name, None))


def _written(record: Any, name: str, shown: list[Field[Any]]) -> str:
    pairs = ",".join(f"{f.name}={write(_held(record, f.name))}" for f in shown)
    return f"{name}:{pairs}" if pairs else name
