"""The user's own Python files: path.py:Name:key=value,... gives a family, or functions on a cube.

A file is executed once in a process, under a module name of its own, and nothing of it is written
to disk: no bytecode, no copy. It is code, and runs with the rights of the user: only a
name that a user typed is ever executed, never one that stands in a file. What goes wrong in it is
one line that names it.
"""

import contextlib
import hashlib
import re
import sys
import traceback
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from instances.errors import UsageError, unknown
from instances.family import Family, require
from instances.lazy import advice
from instances.parameters import canonical, is_readable, parameters_of, split_list, taken
from instances.strict import one_line, shown

NAME = "a text of 1 to 300 characters that can be printed"
_ALLOWED = (
    "a Family; a list or tuple of functions; an object with `functions` and `d`; or something "
    "that gives one of these when called is needed"
)
_CORE = ("name", "revision", "example", "about", "label_text", "k", "d", "noise")
_BARE = "without arguments"
_PLAIN = re.compile(r"[a-z][a-z0-9-]{0,39}")
# The shortest path that a name follows: in a.py:b/c.py:Name the first .py: belongs to a folder.
_NAMED = re.compile(r"(?P<path>.*?\.py):(?P<name>[^\W\d]\w*)(?::(?P<rest>.*))?", re.DOTALL)
_modules: dict[tuple[str, str], types.ModuleType] = {}


@dataclass(frozen=True, kw_only=True, eq=False)
class Functions:
    """Functions on {-1,+1}^d from a file: each takes points (count, d), int8, to (count,) reals."""

    path: Path
    name: str
    sha256: str  # of the file
    d: int
    functions: tuple[Callable[[Any], Any], ...]
    names: tuple[str, ...]
    bound: float  # that their values are at most in size, as the file says: 1 where it does not

    def where(self, i: int) -> str:
        """Say which function is meant, for messages."""
        return f"{self.path}: {self.name}, function {i} ({self.names[i]})"

    def like(self, other: "Functions") -> bool:
        """Whether there are as many, with the same values at some points of what both have."""
        if len(self.functions) != len(other.functions):
            return False
        x = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (64, max(self.d, other.d)))
        x[0], x[1] = 1, -1
        for i in range(len(self.functions)):
            with guarded(self.where(i), "a function takes all points at once"):
                pair = [np.asarray(one.functions[i](x[:, : one.d].copy())) for one in (self, other)]
            if pair[0].tobytes() != pair[1].tobytes():
                return False
        return True


@dataclass(frozen=True, kw_only=True)
class Name:
    """A name in a user's Python file, with the parameters that stand behind it, as given."""

    path: Path
    name: str
    parameters: str

    @property
    def where(self) -> str:
        """What is meant, for messages."""
        return f"{self.path}: {self.name}"


def split(text: str) -> Name | None:
    """Read "path.py:Name" or "path.py:Name:key=value,..."; None for what names no Python file.

    Raises UsageError for a path without a name.

    >>> split("parity:d=8,m=3")
    >>> split("mine.py:Majority:d=9,m=3").parameters
    'd=9,m=3'
    """
    text = text.strip()
    found = _NAMED.fullmatch(text)
    if found:
        rest = (found["rest"] or "").strip()
        return Name(path=Path(found["path"]), name=found["name"], parameters=rest)
    if text.endswith(".py") or ".py:" in text:
        raise UsageError(
            f"'{text}' given: write path.py:Name, Name being defined in the file, or "
            "path.py:Name:key=value,..."
        )
    return None


def load(text: str, sha256: str | None = None) -> type[Family] | Family | Functions:
    """Execute a file, if it was not, and return what path.py:Name gives; raises UsageError.

    A Family that is a class stays one, if it has the types of a spec's parameters: `build` makes
    families of it. Anything else that can be called is, with the parameters. sha256: what the file
    has to have.
    """
    found = split(text)
    if found is None:
        raise UsageError(f"'{text}' given: path.py:Name is needed")
    folders = list(sys.path)
    try:
        return _loaded(found, sha256)
    finally:
        sys.path[:] = folders  # what is imported later is never looked for beside the file


def _loaded(found: Name, sha256: str | None) -> type[Family] | Family | Functions:
    source = origin(found, sha256)
    given = source.value
    if isinstance(given, type) and issubclass(given, Family) and is_readable(given):
        return _checked(found.where, given)
    told = source.called and found.parameters
    arguments = taken(given, told, found.where) if told else {}
    lacking = source.lacks(found.parameters)
    values = ",".join(filter(None, (found.parameters, *(f"{name}=..." for name in lacking))))
    said = f"{found.where} needs {', '.join(lacking)}: write {found.path}:{found.name}:{values}"
    require(not lacking, said)
    value = source.made(arguments)
    said = f"{found.where} takes no parameters: it is of type {type(value).__name__}"
    require(source.called or not found.parameters, said)
    if isinstance(value, Family):
        _checked(found.where, type(value))
        return value
    return source.functions(arguments, value)


@dataclass(frozen=True, kw_only=True, eq=False)
class Origin:
    """What gives functions or a family, perhaps when it is called: of a file, or an object.

    sha256: of the file, or of the text of the object's class. space: where `d`, `names` and
    `bound` may stand, if the object says nothing.
    """

    path: Path
    name: str
    sha256: str
    value: Any
    space: Any = None

    @property
    def where(self) -> str:
        """What is meant, for messages."""
        return f"{self.path}: {self.name}"

    @property
    def called(self) -> bool:
        """Whether it has to be called."""
        value = self.value
        given = isinstance(value, Family | list | tuple) or hasattr(value, "functions")
        return isinstance(value, type) or (callable(value) and not given)

    def lacks(self, told: str) -> list[str]:
        """List the parameters that a call needs beside those of a text, "key=value,..."."""
        keys = [part.partition("=")[0].strip() for part in split_list(told)]
        family = isinstance(self.value, type) and issubclass(self.value, Family)
        fields = parameters_of(self.value) if self.called and not family else ()
        return [f.name for f in fields if f.default is MISSING and f.name not in keys]

    def made(self, arguments: dict[str, Any]) -> Any:
        """Return what it gives, called with arguments; raises UsageError for what is no use."""
        value, called = self.value, False
        while isinstance(value, type) or not (
            isinstance(value, Family | list | tuple) or hasattr(value, "functions")
        ):
            kind = type(value).__name__
            require(callable(value) and not called, f"{self.where} is of type {kind}: {_ALLOWED}")
            shown = ",".join(f"{k}={v}" for k, v in arguments.items())
            with guarded(f"{self.where}, called {f'with {shown}' if shown else _BARE}"):
                value, called = value(**arguments), True
        return value

    def functions(self, arguments: dict[str, Any], value: Any = None) -> Functions:
        """Collect the functions that it gives; raises UsageError where they are others again."""
        value = self.made(arguments) if value is None else value
        require(not isinstance(value, Family), f"{self.where} gives a family: give all parameters")
        name = self.name
        if self.called:
            record = SimpleNamespace(spec_fields=parameters_of(self.value, arguments))
            record.spec_values = {f.name: f.default for f in record.spec_fields} | arguments
            name = canonical(record, name)
        places = [value, SimpleNamespace(**arguments), self.value, self.space]
        found = _functions(self.path, name, self.sha256, places)
        if self.called:
            d = arguments.get("d", found.d)
            said = f"{self.where}, called with d={d}, gives functions of d={found.d}"
            require(d == found.d, f"{said}: its parameter d must be their number of coordinates")
            places[0] = self.made(arguments)
            again = _functions(self.path, name, self.sha256, places)
            require(
                again.like(found),
                f"{self.where} gives other functions when it is called again with the same "
                "parameters: draw at random from a seed that stands in it, and list in one order",
            )
        return found


def origin(found: Name, sha256: str | None = None) -> Origin:
    """Execute a file, if it was not, and return what it has under a name; raises UsageError."""
    module, digest = execute(found.path, sha256)
    value = named(module, found.name, str(found.path))
    return Origin(path=found.path, name=found.name, sha256=digest, value=value, space=module)


@contextlib.contextmanager
def guarded(what: str, hint: str = "") -> Iterator[None]:
    """Run code of a user: what it prints goes to stderr, what it raises becomes a UsageError.

    hint: what is added where its types or values do not fit.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr), np.errstate(all="ignore"):
            yield
    except (Exception, SystemExit) as error:
        place, said = _place(error), str(error)
        number = place and place.lineno
        if isinstance(error, SyntaxError):
            number, said = error.lineno or number, error.msg
        said = " ".join(said.split())[:200]
        extra = advice(error.name or "") if isinstance(error, ModuleNotFoundError) else None
        said += f": {extra}" if extra else ""
        said += f"; {hint}" if hint and isinstance(error, TypeError | ValueError) else ""
        reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
        line = f", in line {number}" if number else ""
        raise UsageError(f"{reason} ({what}{line})") from error


def misfit(error: BaseException) -> str | None:
    """Say in one line that a user's file is in use where something else raised; None without."""
    said = f"{type(error).__name__}: {one_line(error, 200)}"
    files = ", ".join(sorted(_paths()))
    return f"{files}: something that is given there does not fit: {said}" if files else None


def blame(error: BaseException) -> str | None:
    """Say in one line which line of a user's file raised, or None where none did."""
    last, kind, said = _place(error), type(error).__name__, one_line(error, 200)
    return last and f"{last.filename}: {last.name} raised {kind} in line {last.lineno}: {said}"


def _place(error: BaseException) -> traceback.FrameSummary | None:
    """Find the last call of a user's file on the way to an error."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in _paths()]
    return own[-1] if own else None


def _paths() -> set[str]:
    return {str(module.__file__) for module in _modules.values()}


def named(module: types.ModuleType | type, name: str, where: str) -> Any:
    """Return what a module or class has under a name; raises UsageError with the nearest one."""
    space = vars(module)
    if name not in space:
        own = [n for n, value in space.items() if not n.startswith("_") and value is not _aside]
        raise UsageError(f"{where}: {unknown('name', name, own)}")
    return space[name]


def execute(path: Path, sha256: str | None = None) -> tuple[types.ModuleType, str]:
    """Execute a file, if it was not: its module and the SHA-256 of its text; raises UsageError.

    What it prints goes to stderr; its folder is the last place where modules are looked for.
    sha256: of the text that is wanted; any other is refused.
    """
    try:
        there = path.is_file()
        source = path.read_bytes() if there else b""
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]} cannot be read: {error}") from error
    if not there:
        raise UsageError(f"{str(path)[:200]} given: there is no such file")
    digest = hashlib.sha256(source).hexdigest()
    if sha256 not in (None, digest):
        raise UsageError(f"{path} was changed meanwhile: start again")
    place = str(path.resolve())
    if (place, digest) in _modules:
        return _modules[place, digest], digest
    module = types.ModuleType(f"_hardness_user_{len(_modules)}")
    module.__file__ = str(path)
    _modules[place, digest] = module
    sys.modules[module.__name__] = module  # dataclasses look their module up there
    vars(module)["print"] = _aside
    if str(path.resolve().parent) not in sys.path:
        sys.path.append(str(path.resolve().parent))  # last: it hides nothing that is installed
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with guarded(f"{path}: executing it"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = compile(source, str(path), "exec")
            # What importing it would do, but no bytecode is left beside a file that is not ours.
            # Only a name that the user typed comes here, never one that stands in a file.
            exec(code, vars(module))
    except BaseException:
        del _modules[place, digest], sys.modules[module.__name__]
        raise
    finally:
        sys.dont_write_bytecode = written
    return module, digest


def _aside(*values: Any, **how: Any) -> None:
    """Print as a user's file does at any time: to stderr, as stdout may be JSON."""
    print(*values, **{"file": sys.stderr, **how})


def _checked(where: str, kind: type[Family]) -> type[Family]:
    """Refuse a family that commands would stumble over."""
    own: list[str] = [f.name for f in fields(kind)] if is_dataclass(kind) else []
    lacking = [name for name in _CORE if name not in own and not hasattr(kind, name)]
    lacking += sorted(kind.__abstractmethods__)
    what = f"lacks {', '.join(lacking)}" if lacking else "is no frozen dataclass"
    require(not lacking and is_dataclass(kind), f"{where}: the family {kind.__name__} {what}")

    def line(value: Any) -> bool:
        return isinstance(value, str) and 0 < len(value) <= 1000 and value.isprintable()

    needed: dict[str, tuple[str, Callable[[Any], Any]]] = {
        "name": ("small letters, digits and -", lambda v: line(v) and _PLAIN.fullmatch(v)),
        "about": ("one printable line", line),
        "label_text": ("one printable line", line),
        "example": ("a spec of the family", lambda v: line(v) and v.split(":")[0] == kind.name),
        "revision": ("an integer of at least 1", lambda v: type(v) is int and v >= 1),
    }
    for name, (words, good) in needed.items():
        value = getattr(kind, name)
        require(good(value), f"{where}: its {name} is {shown(value)}: {words} is needed")
    return kind


def _functions(path: Path, name: str, digest: str, places: list[Any]) -> Functions:
    """Collect functions, names, d and the bound, from the first place that says."""
    where, listed = f"{path}: {name}", places[0]
    functions = listed if isinstance(listed, list | tuple) else listed.functions
    gives = "no functions" if not functions else f"a {type(functions).__name__}"
    good = isinstance(functions, list | tuple) and len(functions) > 0
    require(good, f"{where} gives {gives}: a list or tuple of at least 1 is needed")
    for i, f in enumerate(functions):
        require(callable(f), f"{where}: member {i} is of type {type(f).__name__}, no function")
    names = _names(where, functions, _first(places[:-1], "names"))
    d, bound = _first(places, "d"), _first(places, "bound")
    own = {getattr(f, "d", None): n for f, n in zip(functions, names, strict=True)}
    own.pop(None, None)
    domains = [f"d={d} is given"] if d is not None and own and d not in own else []
    domains += [f"{n} has d={k}" for k, n in own.items()]
    require(
        len(domains) < 2,
        f"{where}: functions of different domains: {', '.join(domains[:2])}; all must have the "
        "same",
    )
    d = next(iter(own)) if d is None and own else d
    require(
        isinstance(d, Integral) and not isinstance(d, bool) and int(d) >= 1,
        f"{where} gives {'no d' if d is None else f'd={str(d)[:40]}'}: say the number of "
        "coordinates, for example d = 8, in the file or the object",
    )
    bound = 1 if bound is None else bound
    require(
        isinstance(bound, Real) and 0 < float(bound) < 1e100,
        f"{where}: bound={str(bound)[:40]}: it must be above 0 and below 1e100",
    )
    return Functions(
        path=path,
        name=name,
        sha256=digest,
        d=int(d),
        functions=tuple(functions),
        names=names,
        bound=float(bound),
    )


def _first(places: list[Any], what: str) -> Any:
    said = (getattr(p, what, None) for p in places if not isinstance(p, list | tuple))
    return next((value for value in said if value is not None), None)


def fits_name(text: Any) -> bool:
    """Whether something may be the name of a member.

    >>> fits_name("maj-3"), fits_name("maj\\n3"), fits_name("")
    (True, False, False)
    """
    return isinstance(text, str) and 0 < len(text) <= 300 and text.isprintable()


def _names(where: str, functions: Any, names: Any) -> tuple[str, ...]:
    if names is None:
        found = [getattr(f, "__name__", "") for f in functions]
        good = len(set(found)) == len(found) and all(str(n).isidentifier() for n in found)
        return tuple(found) if good else tuple(f"f{i}" for i in range(len(found)))
    listed = isinstance(names, list | tuple) and len(names) == len(functions)
    require(listed, f"{where}: names must be a list, one for each of {len(functions)}")
    for n in names:
        require(fits_name(n), f"{where}: a name is {shown(n)}: {NAME} is needed")
    twice = next((n for n, times in Counter(names).items() if times > 1), None)
    require(twice is None, f"{where}: the name {twice!r} is given twice: names must differ")
    return tuple(names)
