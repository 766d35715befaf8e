"""Spec strings: "parity:d=32,m=3" <-> family. The canonical form is the key of results.

A user's family has specs too, once the user has named its Python file: as path.py:Name in place of
a SPEC, or with the option --family. A name that is read from a file never causes code to run.
Worker processes receive the families that this process knows by value.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from numbers import Rational
from pathlib import Path
from types import FunctionType
from typing import Any

from instances.coded import Coded
from instances.disk import quoted
from instances.errors import UnknownFamily, UsageError, require, unknown, withdrawn
from instances.family import Family
from instances.lazy import Imported
from instances.listedfunctions import Functions, ListedFunctions, Origin, class_of, origin
from instances.numbers import write
from instances.parameters import (
    arguments,
    canonical,
    is_readable,
    is_written,
    parameters_of,
    require_declared,
)
from instances.userfile import USER_FILES, guarded, split

FAMILIES: Mapping[str, type[Family]] = Imported(
    "instances",  # built in: a new family is one line, its name and "module.Class"
    {
        "parity": "sets.Parity",
        "profile": "sets.Profile",
        "hidden": "random.Hidden",
        "nice": "random.Nice",
        "linear": "random.Linear",
        "direction": "direction.Direction",
        "teacher": "teacher.Teacher",
        "lwr": "lwe.Lwr",
        "lwe": "lwe.Lwe",
        "lpn": "lwe.Lpn",
    },
)
DATA_FAMILIES: Mapping[str, type[Family]] = Imported(
    "instances",  # families that specs name but of which no instance is drawn
    {"data": "owndata.OwnData"},
)
DATA_SUFFIXES = (".npz", ".safetensors")  # endings of files with a user's data
_REQUIRED_ATTRIBUTES = ("name", "revision", "example", "about", "label_text", "k", "d", "noise")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """An entry of catalog.toml: the spec that a short name stands for, and what it is for.

    samples: how many samples the published parameter set gives to an attacker; None for any number.
    source: a key in docs/references.md.
    """

    spec: str
    about: str
    samples: int | None = None
    source: str = ""


@cache
def catalog() -> Mapping[str, CatalogEntry]:
    """Return all entries of catalog.toml by their names.

    >>> catalog()["darmstadt-40-005"].spec, catalog()["saber"].samples
    ('lwe:n=40,q=1601,alpha=0.005', 768)
    """
    tables = tomllib.loads(Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8"))
    return {name: CatalogEntry(**table) for name, table in tables.items()}


@dataclass(frozen=True, kw_only=True)
class UserFamily:
    """A user's family: its class and where it is defined.

    sha256: the hash of its file; None for an object. defined: its name in that file.
    """

    kind: type[Family]
    path: Path
    sha256: str | None
    defined: str = ""


USER_FAMILIES: dict[str, UserFamily] = {}  # by name: the families that a user gave to this process


def parse(text: str) -> Family:
    """Read a spec, a catalog name, or a user's path.py:Name:key=value,...; raises UsageError.

    >>> parse("parity:m=3,d=32").spec
    'parity:d=32,m=3,noise=0,rho=3'
    """
    family = resolve(text)
    return family if isinstance(family, Family) else parse_stored(family)


def parse_stored(text: str) -> Family:
    """Read a spec from a file: like `parse`, but it may not name a Python file.

    >>> parse_stored("parity:m=3,d=32").name
    'parity'
    """
    name, colon, rest = text.strip().partition(":")
    if not colon and name in catalog():
        return parse_stored(catalog()[name].spec)
    kind = kind_of(name)
    if kind is None:
        if colon:
            if gone := withdrawn("family", name):
                raise UnknownFamily(gone)
            reason = unknown("family", name[:60], family_names())
            yours = "path.py:Name:key=value,.., or named by --family path.py:Name"
            raise UnknownFamily(f"{reason}; one of your own is {yours}")
        if Path(name).suffix in DATA_SUFFIXES:
            raise UsageError(
                f"SPEC must name a family, got {name[:200]}; `hardness learn` takes data of yours"
            )
        both = [*family_names(), *catalog()]
        raise unknown("family or catalog name", name, both, listed="`hardness families`")
    return _built(kind, rest, name in FAMILIES)


@lru_cache(8)  # few: tables of a family may be large
def _built(kind: type[Family], text: str, ours: bool) -> Family:
    """Make a family, or return the cached one: runs then share what it has computed."""
    family = kind(**arguments(kind, text, kind.name, kind.example))
    if ours:
        return family
    family.check()
    return _checked(family)


def spec_of(text: str) -> str:
    """Write path.py:Name:key=value,... as name:key=value,..., and register the family.

    Any other text is returned unchanged. Parameters may be missing. Raises UsageError for a family
    that no spec can name.
    """
    family = resolve(text, lacking=True)
    if isinstance(family, str):
        return family
    require_stored(family, "a spec is needed here")
    return family.spec


def kind_of(name: str) -> type[Family] | None:
    """Return the class of a built-in or user's family; None for an unknown name."""
    for built in (FAMILIES, DATA_FAMILIES):
        if name in built:
            return built[name]
    return USER_FAMILIES[name].kind if name in USER_FAMILIES else None


def family_names() -> list[str]:
    """List the names of all families, built-in ones first, then the user's."""
    return [*FAMILIES, *USER_FAMILIES]


def register(family: UserFamily) -> None:
    """Register a user's family under its name, replacing another user's family of that name.

    Raises UsageError for a name that is built in.
    """
    name = family.kind.name
    if name in {*FAMILIES, *DATA_FAMILIES, *catalog()}:
        raise UsageError(f"the name '{name}' of {family.path} is taken: name it differently")
    USER_FAMILIES[name] = family


@contextmanager
def user_families(texts: Iterable[str]) -> Iterator[None]:
    """Register families path.py:Name while the context lasts, for the option --family."""
    before = dict(USER_FAMILIES)
    USER_FAMILIES.clear()
    try:
        for text in texts:
            others = dict(USER_FAMILIES)
            family = resolve(text, lacking=True)
            name = family.name if isinstance(family, Family) else family.partition(":")[0]
            if name not in USER_FAMILIES:
                raise UsageError(
                    "a family of a file must be path.py:Name, its fields integers, numbers or "
                    f"words, got {text}"
                )
            if name in others and others[name] != USER_FAMILIES[name]:
                raise UsageError(
                    f"the name '{name}' of {USER_FAMILIES[name].path} is taken by "
                    f"{others[name].path}: name it differently"
                )
        USER_FAMILIES.update({**before, **USER_FAMILIES})
        yield
    finally:
        USER_FAMILIES.clear()
        USER_FAMILIES.update(before)


def file_of(name: str) -> str | None:
    """Return the SHA-256 of a user family's file; None for an object or a built-in family."""
    return USER_FAMILIES[name].sha256 if name in USER_FAMILIES else None


def built_in(family: Family) -> bool:
    """Return whether a family is built in, so that `check` can read its spec."""
    return FAMILIES.get(family.name) is type(family)


def require_spec(family: Family, subject: str) -> None:
    """Refuse a family that no spec can name; `subject` says what needs the spec."""
    if kind_of(family.name) is not type(family):
        raise UsageError(
            f"no spec can name {family.name}, as its fields are not all integers, "
            f"numbers or words: {subject}"
        )


def require_stored(family: Family, subject: str) -> None:
    """Refuse a family that a later process could not make again: without file or spec."""
    if family.name in USER_FAMILIES and USER_FAMILIES[family.name].sha256 is None:
        raise UsageError(f"{family.name} stands in no file: name it path.py:Name: {subject}")
    require_spec(family, subject)


def require_drawn(family: Family) -> Family:
    """Return the family; raises UsageError for a user's data, of which no instance is drawn."""
    if family.name in DATA_FAMILIES:
        family.instance(0)
    return family


def resolve(text: str, lacking: bool = False) -> Family | str:
    """Register the family of path.py:Name:key=value,... and return it, or the spec to be parsed.

    Any other text is returned unchanged. lacking: whether parameters may be missing. Raises
    UsageError.
    """
    reference = split(text)
    if reference is None:
        return text
    source, parameters = origin(reference), reference.parameters
    value: Any = source.value
    if not source.is_family:
        value = source.called_with(parameters, lacking)
        value = value if isinstance(value, Family) else class_of(source)
    kind: type[Family] = value if isinstance(value, type) else type(value)
    _require_complete(reference.where, kind)
    if FAMILIES.get(kind.name) is not kind and is_readable(kind):
        path, digest = reference.path.resolve(), source.sha256
        register(UserFamily(kind=kind, path=path, sha256=digest, defined=reference.name))
    if isinstance(value, Family):
        return _checked(value)
    return f"{kind.name}:{parameters}" if parameters else kind.name


def _require_complete(where: str, kind: type[Family]) -> None:
    """Refuse a user's family that lacks attributes which commands need."""
    if hasattr(kind, "spec_fields"):
        return  # a class of functions: its family is made here
    own: list[str] = [f.name for f in fields(kind)] if is_dataclass(kind) else []
    lacking = [name for name in _REQUIRED_ATTRIBUTES if name not in own and not hasattr(kind, name)]
    lacking += sorted(kind.__abstractmethods__)
    what = f"lacks {', '.join(lacking)}" if lacking else "is no frozen dataclass"
    require(not lacking and is_dataclass(kind), f"{where}: the family {kind.__name__} {what}")

    def line(value: Any) -> bool:
        return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()

    needed: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "name": ("small letters, digits and -", lambda v: line(v) and _NAME.fullmatch(v)),
        "about": ("one printable line", line),
        "label_text": ("one printable line", line),
        "example": ("a spec of the family", lambda v: line(v) and v.split(":")[0] == kind.name),
        "revision": ("an integer of at least 1", lambda v: type(v) is int and v >= 1),
    }
    for name, (words, good) in needed.items():
        value = getattr(kind, name)
        require(good(value), f"{where}: its {name} is {quoted(value)}: {words} is needed")


def _checked(family: Family) -> Family:
    """Return a user's family; raises UsageError if its size, levels, noise or shares are wrong."""
    require_declared(family)  # also if its class replaces `__post_init__`
    with guarded(f"{family.name[:60]}: the family"):
        size, spec = family.size, family.spec
        coded = family if isinstance(family, Coded) else None
        levels = coded.levels if coded else ()
        centre = coded.centre if coded and family.noise else 0
        shares = coded.shares if coded and coded.linear_forms is None else None

    def need(good: bool, message: str) -> None:
        require(good, f"{family.name}: {message}")

    wrong = "its spec is not its name and fields: leave `spec` as it is"
    need(spec == canonical(family, family.name), wrong)
    counted = size is None or (isinstance(size, int) and size >= 1)
    need(counted, f"its size is {size!r:.60}: an int of at least 1, or None, is needed")
    if coded:
        noise, apart, count = family.noise, len(set(levels)), len(levels)
        rational = all(isinstance(v, Rational) for v in levels)
        need(rational, "its levels are not all integers or Fractions")
        need(coded.k == 2, f"k is {coded.k!r:.20}: labels that are codes are of two tokens")
        flips = f"noise is {noise!s:.20}: the rate of flips must be in [0, 1/2)"
        need(count != 2 or 0 <= noise < Fraction(1, 2), flips)
        wrong = f"it has {apart} different levels of {count}: at least 2 are needed"
        need(apart >= max(2, count), wrong)
        wrong = f"noise reflects levels at {centre}, which must give levels: leave noise out"
        need(not noise or {2 * centre - v for v in levels} <= set(levels), wrong)
    shared = shares is None or (len(shares) == len(levels) and sum(shares) == 1)
    need(shared, "its shares are not one for each level, 1 in sum")
    return family


# ---- classes of functions and families that are given as objects, without a file


def spec_of_object(thing: Any) -> str | None:
    """Register a user's class and return a spec for it; None for other things.

    thing: a class or function that gives functions, a functools.partial of one, an object of such a
    class that keeps its parameters under their names, or a Family without a file. Parameters may be
    missing. Raises UsageError for an object that its spec does not make again.
    """
    value, parameters = _kind_and_parameters(thing)
    family = inspect.isclass(value) and issubclass(value, Family)
    known = family and (FAMILIES.get(value.name) is value or not is_readable(value))
    usable = isinstance(value, type | FunctionType)
    if known or not usable:
        return None
    name = value.name if family else value.__name__
    source = Origin(path=Path("object"), name=name, sha256=None, value=value)
    kind = kind_of(name)
    if value not in (kind, getattr(getattr(kind, "origin", None), "value", None)):
        file = getattr(sys.modules.get(value.__module__), "__file__", None)
        USER_FILES.update(filter(None, [file]))
        kind = value if family else class_of(source)
        register(UserFamily(kind=kind, path=source.path, sha256=None))
    if isinstance(thing, Family):
        return thing.spec
    pairs = ",".join(f"{n}={write(v)}" for n, v in parameters.items() if is_written(v))
    spec = f"{name}:{pairs}" if pairs else name
    if value is type(thing):
        again = functions_of(spec)
        require(
            again is not None and again.like(source.functions(spec, parameters, thing)),
            f"an object of {name} has other functions when made again as {spec}: let the "
            "parameters say which",
        )
    return spec


def _kind_and_parameters(thing: Any) -> tuple[Any, dict[str, Any]]:
    """Return the class or function that made an object, and its parameters by name."""
    if isinstance(thing, partial):
        require(not thing.args, "a partial must name its parameters, as w=3")
        name = getattr(thing.func, "__name__", thing.func)
        odd = ", ".join(key for key, value in thing.keywords.items() if not is_written(value))
        wrong = f"no spec can write {odd} of a partial of {name}"
        require(not odd, f"{wrong}: numbers and words without a comma are needed")
        return thing.func, thing.keywords
    if isinstance(thing, Family):
        return type(thing), {}
    if isinstance(thing, type) or not hasattr(thing, "functions"):
        return thing, {}
    names = [f.name for f in parameters_of(type(thing))]
    lacking = [name for name in names if not hasattr(thing, name)]
    wrong = f"an object of {type(thing).__name__} does not keep {', '.join(lacking)}"
    require(not lacking, f"{wrong}: write self.{(lacking or [''])[0]} = ... in it")
    return type(thing), {name: getattr(thing, name) for name in names}


def functions_of(spec: str) -> Functions | None:
    """Make the functions of a spec of a user's class; None for other specs. Raises UsageError."""
    name, _, rest = spec.strip().partition(":")
    kind = kind_of(name)
    if kind is None or not issubclass(kind, ListedFunctions):
        return None
    return kind(**arguments(kind, rest, name, kind.example)).listed
