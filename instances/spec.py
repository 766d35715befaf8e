"""Spec strings: "parity:d=32,m=3" <-> family. The canonical form is the key of results.

A family from a file has specs as well, from the moment that a user names the file: as path.py:Name
where a SPEC stands, with the option --family, or in the environment. The environment hands the name
to the processes that this one starts. What stands in a file is never executed because of its name.
"""

import copyreg
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from numbers import Rational
from pathlib import Path

from instances.catalog import CATALOG
from instances.coded import Coded
from instances.errors import UnknownFamily, UsageError, unknown
from instances.family import Family, require
from instances.lazy import Imported
from instances.parameters import build, canonical, is_readable
from instances.userfile import Functions, execute, guarded, load, origin, split
from instances.withdrawn import withdrawn

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
GIVEN: Mapping[str, type[Family]] = Imported(
    "instances",  # what processes know by a spec, though no instance of it is drawn
    {"data": "owndata.OwnData"},
)
OF_DATA = (".npz", ".safetensors")  # what names of files of it end in
VARIABLE = "HARDNESS_FAMILIES"  # path.py:Name, with ; between them
_PINNED = re.compile(r"@[0-9a-f]{64}$")


@dataclass(frozen=True, kw_only=True)
class Named:
    """A family from a file that a user named. entry: how the environment has it."""

    entry: str
    path: Path
    sha256: str
    kind: type[Family]


HERE: dict[str, Named] = {}  # classes that are given as objects, which this process alone knows


def parse(text: str) -> Family:
    """Read a spec, a catalog name, or path.py:Name:key=value,... of a user; raises UsageError.

    >>> parse("parity:m=3,d=32").spec
    'parity:d=32,m=3,noise=0,rho=3'
    """
    found = _named(text)
    return found if isinstance(found, Family) else parse_stored(found)


def parse_stored(text: str) -> Family:
    """Read a spec that stands in a file: as parse does, but no file is named by it.

    >>> parse_stored("parity:m=3,d=32").name
    'parity'
    """
    name, colon, rest = text.strip().partition(":")
    if not colon and name in CATALOG:
        return parse_stored(CATALOG[name].spec)
    kind = kind_of(name)
    if kind is None:
        if colon:
            if gone := withdrawn("family", name):
                raise UnknownFamily(gone)
            said = unknown("family", name[:60], known())
            raise UnknownFamily(f"{said}; name one of your own by --family path.py:Name")
        if Path(name).suffix in OF_DATA:
            raise UsageError(
                f"{name[:200]} given: a SPEC belongs there; `hardness learn` takes data of yours"
            )
        both = [*known(), *CATALOG]
        raise unknown("family or catalog name", name, both, listed="`hardness families`")
    return _built(kind, rest, name in FAMILIES)


@lru_cache(8)  # their tables may be large
def _built(kind: type[Family], text: str, ours: bool) -> Family:
    """Make a family once: runs on it share what it has computed, as a mean over its members."""
    found: Family = build(kind, text, kind.name, kind.example)
    return found if ours else _sound(found)


def spec_of(text: str) -> str:
    """Write path.py:Name:key=value,... as name:key=value,..., which is read from then on.

    Any other text is left as it is: a parameter may be missing. Raises UsageError for a family of
    which no spec can be written.
    """
    given = split(text)
    if given and origin(given).lacks(given.parameters):
        _hold(f"{given.path}:{given.name}")
        return ":".join(filter(None, (given.name, given.parameters)))
    found = _named(text)
    if isinstance(found, Family):
        require_stored(found, "a spec is needed here")
        return found.spec
    return found


def kind_of(name: str) -> type[Family] | None:
    """Return the class of a family, built in or named by a user; None for an unknown name."""
    for built in (FAMILIES, GIVEN):
        if name in built:
            return built[name]
    found = HERE.get(name) or named().get(name)
    return found.kind if found else None


def known() -> list[str]:
    """List the names of all families: those built in, then those that a user named."""
    return [*FAMILIES, *named(), *HERE]


def named() -> dict[str, Named]:
    """Return the families from files that the environment names, by their own names.

    Raises UsageError for a file that cannot be used, or that was changed since it was named.
    """
    return _keep(filter(None, map(str.strip, os.environ.get(VARIABLE, "").split(";"))))


def _keep(entries: Iterable[str]) -> dict[str, Named]:
    """Load families, and have this process and those that it starts know them by their names."""
    found: dict[str, Named] = {}
    for entry in entries:
        one = _loaded(entry if _PINNED.search(entry) else _entry(entry))
        name, other = one.kind.name, found.get(one.kind.name)
        if name in {*FAMILIES, *GIVEN, *CATALOG} or (other and other.kind is not one.kind):
            by = f" by {other.path}" if other else ""
            raise UsageError(
                f"{one.path} given: the name '{name}' is taken{by}: name it differently"
            )
        found[name] = one
    if found:  # with their digests: another process refuses another text
        os.environ[VARIABLE] = ";".join(one.entry for one in found.values())
    return found


def file_of(name: str) -> str | None:
    """Return the SHA-256 of the file that a user's family stands in; None for one built in.

    Of a class that is given as an object: of its text.
    """
    found = None if name in FAMILIES else HERE.get(name) or named().get(name)
    return found.sha256 if found else None


def built_in(family: Family) -> bool:
    """Return whether a family is one of those here, whose specs `check` knows how to read."""
    return FAMILIES.get(family.name) is type(family)


def elsewhere(family: Family) -> str | None:
    """Return why no other process can read the spec of a family; None where they can."""
    if family.name in HERE:
        return f"{family.name} stands in no file that other processes read: name it path.py:Name"
    if kind_of(family.name) is not type(family):
        return "the family has no spec that the learner's process could read"
    return None


def require_stored(family: Family, what: str) -> None:
    """Refuse what reads the family's spec again, for a family that no spec names."""
    if family.name in HERE:
        raise UsageError(f"{elsewhere(family)}: {what}")
    if kind_of(family.name) is not type(family):
        raise UsageError(
            f"{family.name} given: a spec cannot name it, as its fields are not all integers, "
            f"numbers or words: {what}"
        )


def require_drawn(family: Family) -> Family:
    """Refuse data of a user, of which no instance is drawn, and return any other family."""
    if family.name in GIVEN:
        family.instance(0)
    return family


def files() -> list[Path]:
    """List the files of a user's families: what a process that is closed in has to read."""
    return [one.path for one in named().values()]


def _named(text: str) -> str | Family:
    """Name the family of path.py:Name: its spec, or itself where it has none; other text as is."""
    given = split(text)
    if given is None:
        return text
    found = load(text)
    if isinstance(found, Functions):
        _hold(f"{given.path}:{given.name}")
        return parse_stored(found.name)
    kind = found if isinstance(found, type) else type(found)
    if FAMILIES.get(kind.name) is not kind and is_readable(kind):
        _hold(text)
    if isinstance(found, Family):
        return _sound(found)
    return f"{kind.name}:{given.parameters}" if given.parameters else kind.name


def _hold(text: str) -> Named:
    """Have this process and those that it starts know what a text names."""
    one = _loaded(_entry(text))
    HERE.pop(one.kind.name, None)
    # A file that was edited and is named again is not the one that was named before.
    others = [o for o in named().values() if o.path != one.path or o.sha256 == one.sha256]
    _keep(dict.fromkeys([*(other.entry for other in others), one.entry]))
    return one


def _sound(family: Family) -> Family:
    """Return a family of a user; raises UsageError for one whose numbers would be wrong."""
    with guarded(f"{family.name[:60]}: the family"):
        size, spec = family.size, family.spec
        coded = family if isinstance(family, Coded) else None
        levels = coded.levels if coded else ()
        centre = coded.centre if coded and family.noise else 0
        shares = coded.shares if coded and coded.linear_forms is None else None

    def need(good: bool, said: str) -> None:
        require(good, f"{family.name} given: {said}")

    said = "its spec is not its name and fields: leave `spec` as it is"
    need(spec == canonical(family, family.name), said)
    counted = size is None or (isinstance(size, int) and size >= 1)
    need(counted, f"its size is {size!r:.60}: an int of at least 1, or None, is needed")
    if coded:
        noise, apart, count = family.noise, len(set(levels)), len(levels)
        rational = all(isinstance(v, Rational) for v in levels)
        need(rational, "its levels are not all integers or Fractions")
        need(coded.k == 2, f"k is {coded.k!r:.20}: labels that are codes are of two tokens")
        flips = f"noise is {noise!s:.20}: the rate of flips must be in [0, 1/2)"
        need(count != 2 or 0 <= noise < Fraction(1, 2), flips)
        said = f"it has {apart} different levels of {count}: at least 2 are needed"
        need(apart >= max(2, count), said)
        said = f"noise reflects levels at {centre}, which must give levels: leave noise out"
        need(not noise or {2 * centre - v for v in levels} <= set(levels), said)
    shared = shares is None or (len(shares) == len(levels) and sum(shares) == 1)
    need(shared, "its shares are not one for each level, 1 in sum")
    return family


def _entry(text: str) -> str:
    """Write path.py:Name:key=value,... with the whole path and the SHA-256 of the file."""
    given = split(text)
    if given is None or ";" in text:
        raise UsageError(f"'{text[:200]}' given: path.py:Name is needed, without ;")
    path = given.path.resolve()
    if ";" in str(path):
        raise UsageError(f"{str(path)[:200]} given: a path with ; names no family: move the file")
    sha256 = execute(given.path)[1]
    return ":".join(filter(None, (str(path), given.name, given.parameters))) + f"@{sha256}"


@cache
def _loaded(entry: str) -> Named:
    """Load what an entry of the environment names, of which it says the SHA-256."""
    text, _, sha256 = entry.rpartition("@")
    given = split(text)
    if given is None:
        raise UsageError(f"{text} given: path.py:Name is needed")
    source = origin(given, sha256)
    found = None if source.lacks(given.parameters) else load(text, sha256)
    if found is None or (isinstance(found, Functions) and not given.parameters):
        from instances.listedfunctions import class_of  # which few commands need

        found = class_of(source)
    kind = found if isinstance(found, type) else type(found)
    if not issubclass(kind, Family) or not is_readable(kind):
        raise UsageError(
            f"{text} given: a family is needed, its fields being integers, numbers or words"
        )
    copyreg.pickle(kind, _to_worker)
    return Named(entry=entry, path=given.path, sha256=sha256, kind=kind)


def _to_worker(family: Family) -> tuple[Callable[[str], Family], tuple[str]]:
    """Hand a family to another process by its spec: there is no module there to find it in."""
    return parse_stored, (family.spec,)
