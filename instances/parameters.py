"""Parameters of specs: fields of a frozen dataclass, declared with their range, written key=value.

A declaration such as Annotated[int, Range(1, 65536)] gives the refusal of other values, the help of
`families show` and the tables of the manual. A class inherits declarations of its bases.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, get_args, get_origin

from instances.errors import UsageError, unknown, withdrawn_names
from instances.numbers import parse, write
from instances.text import cut

End = int | Fraction | None
_POWER = 1 << 20  # powers of two are written as such from here on
_RUN_ON = re.compile(r"\s*[;\s]\s*(?=\w+\s*=)")  # in place of a comma
_ANNOTATED = re.compile(r"(?:\w+\.)?Annotated\[\s*([\w.]+)")


@dataclass(frozen=True)
class Range:
    """A range of numbers: from `least` to `most`, or strictly `above` and `below` its ends.

    about: what the parameter is, for the refusal. words: the range in words, in place of the ends.

    >>> Range(1, 65536).allowed, Range(above=0, most=1000).allowed
    ('between 1 and 65536', 'above 0 and at most 1000')
    >>> Range(0, below=Fraction(1, 2)).refusal("noise", Fraction(3, 4))
    'noise must be at least 0 and below 1/2, got 3/4'
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
            return f"between {_end_text(self.least)} and {_end_text(self.most)}"
        ends = {"at least": self.least, "above": self.above, "at most": self.most}
        ends["below"] = self.below
        return " and ".join(f"{word} {_end_text(v)}" for word, v in ends.items() if v is not None)

    def refusal(self, name: str, value: Any) -> str:
        """Say that a value is out of range, and what is allowed."""
        got = f"{name}={value}" if self.about else value
        return f"{self.about or name} must be {self.allowed}, got {got}"


@dataclass(frozen=True)
class OneOf:
    """A choice between some values.

    >>> OneOf(("boolean", "gaussian")).refusal("tokens", "odd")
    'tokens must be boolean or gaussian, got odd'
    """

    values: tuple[str | int, ...]

    def __contains__(self, value: Any) -> bool:
        return value in self.values

    @property
    def allowed(self) -> str:
        """The values in words."""
        *first, last = map(str, self.values)
        return f"{', '.join(first)} or {last}" if first else last

    def refusal(self, name: str, value: Any) -> str:
        """Say which words are allowed, and which of them replaces a word of a former version."""
        instead = withdrawn_names().get(f"value of {name}", {}).get(str(value))
        return f"{name} must be {self.allowed}, got {value}" + (f": {instead}" if instead else "")


def plain_type(annotation: Any) -> Any:
    """Return the type of an annotation, without its declared range.

    >>> plain_type(Annotated[int, Range(1)]), plain_type(Fraction)
    (<class 'int'>, <class 'fractions.Fraction'>)
    """
    if isinstance(annotation, str):  # the file imports annotations from __future__
        text = _ANNOTATED.match(annotation)
        return text[1] if text else annotation
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


@cache
def declared(kind: type[Any]) -> Mapping[str, Range | OneOf]:
    """Return the declared range of each field of a class, inherited ones too.

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
        except Exception:  # the text may name what only a type checker imports
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


def _end_text(value: int | Fraction) -> str:
    """Write an end of a range; a large power of two is written as a power.

    >>> _end_text(1 << 48), _end_text(Fraction(1, 2)), _end_text(65536)
    ('2^48', '1/2', '65536')
    """
    if isinstance(value, int) and value >= _POWER and not value & (value - 1):
        return f"2^{value.bit_length() - 1}"
    return write(value, ratio=True)


def split_list(text: str) -> list[str]:
    """Split a text at the commas outside of brackets.

    >>> split_list("g=[1,2],m=f(3,4)")
    ['g=[1,2]', 'm=f(3,4)']
    """
    ends, depth = [-1], 0
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            ends.append(place)
    if depth:
        raise UsageError(f"brackets do not match in '{cut(text, 100)}'")
    return [text[start + 1 : end].strip() for start, end in pairwise([*ends, len(text)])]


def key_values(text: str, subject: str, known: list[str]) -> dict[str, str]:
    """Read "key=value,key=value" with known keys, each at most once."""
    out: dict[str, str] = {}
    parts = split_list(text) if text.strip() else []
    apart = ",".join(_RUN_ON.sub(",", part) for part in parts)
    if apart != ",".join(parts):
        spec = f"{subject.replace(': ', ':')}:{apart}"
        raise UsageError(f"commas stand between parameters: write {cut(spec, 200)}")
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            raise UsageError(f"parameters of {subject} must be key=value, got '{cut(part, 100)}'")
        if name not in known:
            raise unknown(f"parameter of {subject}", name, known)
        if name in out:
            raise UsageError(f"{name} is given twice in {subject}")
        out[name] = value
    return out


def word(text: str, subject: str) -> str:
    """Read a plain word; raises UsageError."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", text):
        raise UsageError(
            f"{subject} must be a word of letters, digits, - and _, got {cut(text, 60)}; commas "
            "stand between keys, as in w=2,d=8"
        )
    return text


class Profiled(str):
    """The type of a parameter that is a profile, a name or a list; the family parses it."""

    __slots__ = ()


class Value:
    """The type of a parameter of a user's class: its text decides whether it is a number."""


_READERS: dict[Any, Any] = {
    int: lambda text, what: parse(text, int, what),
    Fraction: lambda text, what: parse(text, Fraction, what),
    float: lambda text, what: parse(text, float, what),
    str: word,
    Profiled: lambda text, what: Profiled(text),
    Value: lambda text, what: _read_literal(text, what),
}
# Also by name: `from __future__ import annotations` makes annotations texts.
_READERS |= {kind.__name__: reader for kind, reader in _READERS.items()}


def arguments(kind: type[Any], text: str, subject: str, example: str) -> dict[str, Any]:
    """Read "key=value,..." as values of the fields of a frozen dataclass, by field name.

    Raises UsageError for unknown, missing, repeated or malformed parameters.
    """
    known = {f.name: f for f in parameter_fields(kind)}
    texts = key_values(text, subject, list(known))
    values = {
        n: _READERS[plain_type(known[n].type)](v, f"{subject}: {n}") for n, v in texts.items()
    }
    required = [n for n, f in known.items() if f.default is MISSING]
    if missing := [n for n in required if n not in texts]:

        def read(spec: str) -> None:
            kind(**arguments(kind, spec.rpartition(":")[2], subject, example))

        proposal = completed(subject.replace(": ", ":"), texts, required, example, read)
        raise UsageError(f"{subject} needs {', '.join(missing)}{proposal}")
    return values


def completed(
    name: str,
    texts: dict[str, str],
    required: Sequence[str],
    example: str,
    read: Callable[[str], object],
) -> str:
    """Propose a valid spec with the given parameters, or refer to the example if none is found.

    Missing parameters have the values of the example, then 2, then 1. read: raises an error for a
    spec that is not valid.

    >>> from instances.spec import parse
    >>> completed("parity", {"m": "9"}, ["d", "m"], "parity:d=32,m=3", parse)
    ': write parity:m=9,d=32'
    >>> completed("parity", {"d": "1"}, ["d", "m"], "parity:d=32,m=3", parse)
    ', as in parity:d=32,m=3'
    """
    pairs = (part.partition("=") for part in split_list(example.rpartition(":")[2]))
    usual = {key: value for key, _, value in pairs}
    missing = {key: usual.get(key, "2") for key in required if key not in texts}
    small = ({k: n if v.isdecimal() else v for k, v in missing.items()} for n in "21")
    for added in (missing, usual, *small):
        values = texts | {key: value for key, value in added.items() if key not in texts}
        if values.keys() >= {*required}:
            spec = f"{name}:{','.join(f'{key}={value}' for key, value in values.items())}"
            with suppress(Exception):  # a user's class may raise any
                read(spec)
                return f": write {spec}"
    return f", as in {example}"


def parameter_fields(kind: Any) -> list[Field[Any]]:
    """List the fields that a spec may set: required ones, the class's own, then inherited ones.

    >>> from instances.lwe import Lwr
    >>> [f.name for f in parameter_fields(Lwr)][:4]
    ['n', 'q', 'p', 'secret']

    A family made from a user's class has `spec_fields`, the parameters of that class.
    """
    if (spec_fields := getattr(kind, "spec_fields", None)) is not None:
        return list(spec_fields)
    own = inspect.get_annotations(kind if isinstance(kind, type) else type(kind))
    readable = [f for f in fields(kind) if f.init]
    return sorted(readable, key=lambda f: 0 if f.default is MISSING else 1 + (f.name not in own))


def is_readable(kind: type[Any]) -> bool:
    """Return whether a class is a dataclass whose fields have types that `arguments` reads."""
    return (is_dataclass(kind) or hasattr(kind, "spec_fields")) and all(
        plain_type(f.type) in _READERS for f in parameter_fields(kind)
    )


def keyword_arguments(
    value: Callable[..., Any], text: str, where: str, positional: int = 0
) -> dict[str, Any]:
    """Read "key=value,..." as arguments that a class or function takes by name; raises UsageError.

    The text of a value decides whether it is an int, a float, true or false, or a word.
    positional: how many of the first arguments may not be named.

    >>> keyword_arguments(lambda d, rate, on: None, "d=9,rate=1e-3,on=true", "it")
    {'d': 9, 'rate': 0.001, 'on': True}
    """
    keys = [part.partition("=")[0].strip() for part in split_list(text)]
    first = [*inspect.signature(value).parameters][:positional] if positional else []
    fields = parameters_of(value, filter(str.isidentifier, keys))
    known = [f.name for f in fields if f.name not in first]
    return {n: _read_literal(v, f"{where}: {n}") for n, v in key_values(text, where, known).items()}


def parameters_of(value: Any, names: Iterable[str] = ()) -> tuple[Field[Any], ...]:
    """List the named parameters of a class or function as fields of type `Value`.

    names: further names, for one that takes **keywords. A default that no spec can write is marked
    `later`, so that specs omit it.

    >>> [f.name for f in parameters_of(lambda d, w=3, **more: None, ["w", "on"])]
    ['d', 'w', 'on']
    """
    try:
        signature = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return ()
    named = [p for p in signature if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    defaults = {p.name: MISSING if p.default is p.empty else p.default for p in named}
    if any(p.kind is p.VAR_KEYWORD for p in signature):
        defaults |= {name: None for name in names if name not in defaults}
    parameters = list[Any]()
    for name, default in defaults.items():
        metadata = {} if default is MISSING or is_written(default) else {"later": True}
        parameters.append(field(default=default, metadata=metadata))
        parameters[-1].name, parameters[-1].type = name, Value
    return tuple(parameters)


def is_written(value: Any) -> bool:
    """Return whether a spec can hold a value: written and read again, it is the same.

    >>> is_written(3), is_written(0.5), is_written(None), is_written("a b")
    (True, True, False, False)
    """
    try:
        return bool(_read_literal(write(value), "") == value)
    except ValueError:  # a UsageError is one too
        return False


def _read_literal(text: str, subject: str) -> int | float | bool | str:
    for kind in (int, float):
        with suppress(UsageError):
            return parse(text, kind, subject)
    return text.lower() == "true" if text.lower() in ("true", "false") else word(text, subject)


def later(default: Any) -> Any:
    """Declare a field that was added after a release: `canonical` omits it at its default.

    Stored specs thus keep their text, and with it their seeds, which depend on the text.
    """
    return field(default=default, metadata={"later": True})


def canonical(record: Any, name: str) -> str:
    """Write a frozen dataclass as its canonical spec: defaults filled in, keys sorted."""
    by_name = sorted(parameter_fields(record), key=lambda f: f.name)
    return _spec_text(record, name, by_name, lambda f: "later" in f.metadata)


def brief(record: Any, name: str) -> str:
    """Write a frozen dataclass as a spec without its defaults, in the order of `parameter_fields`.

    Defaults of a user's class are written, as only its file defines them.
    """
    rooms = ("instances", "hardness")
    bases = [c for c in type(record).__mro__ if c.__module__.partition(".")[0] in rooms]
    known = {name for base in bases for name in inspect.get_annotations(base)}
    return _spec_text(record, name, parameter_fields(record), lambda f: f.name in known)


def _spec_text(
    record: Any, name: str, parameters: list[Field[Any]], omitted: Callable[[Field[Any]], bool]
) -> str:
    """Write a spec; omitted: whether a parameter is left out at its default."""
    given = getattr(record, "spec_values", {})  # a user's class may use these names otherwise
    values = (
        (f, given[f.name] if f.name in given else getattr(record, f.name)) for f in parameters
    )
    pairs = [f"{f.name}={write(v)}" for f, v in values if not omitted(f) or v != f.default]
    return f"{name}:{','.join(pairs)}" if pairs else name
