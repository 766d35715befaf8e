"""The user's own Python files: path.py:Name gives a family, or functions on a cube.

A file is executed once in a process, under a module name of its own, and nothing of it is written
to disk: no bytecode, no copy. It is code, and runs with the rights of who runs the command: only a
name that a user typed is ever executed, never one that stands in a file. What goes wrong in it is
one line that names it.
"""

import contextlib
import hashlib
import sys
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, is_dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

from instances.errors import UsageError, unknown
from instances.family import Family

_ALLOWED = (
    "a Family; a list or tuple of functions; an object with `functions` and `d`; or something "
    "that gives one of these when called without arguments"
)
_FIELDS = ("name", "revision", "example", "about", "label_text")
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


def split(text: str) -> tuple[Path, str] | None:
    """Split "path.py:Name", or return None for what is no name in a Python file.

    >>> split("parity:d=8,m=3"), split("mine.py:majorities")[1]
    (None, 'majorities')
    """
    path, colon, name = text.strip().rpartition(":")
    if not colon:
        path, name = name, ""
    if not path.endswith(".py"):
        return None
    if not name.isidentifier():
        raise UsageError(f"'{text}' given: write path.py:Name, Name being defined in the file")
    return Path(path), name


def load(text: str) -> Family | Functions:
    """Execute a file, if it was not, and return what path.py:Name gives; raises UsageError."""
    found = split(text)
    if found is None:
        raise UsageError(f"'{text}' given: path.py:Name is needed")
    path, name = found
    module, digest = execute(path)
    given = named(module, name, str(path))
    value, called = given, False
    while not isinstance(value, Family | list | tuple) and not _has_functions(value):
        if called or not callable(value):
            raise UsageError(f"{path}: {name} is a {type(value).__name__}: {_ALLOWED} is needed")
        with guarded(f"{path}: {name}, called without arguments,"):
            value, called = value(), True
    if isinstance(value, Family):
        return _family(path, name, value)
    return _functions(path, name, digest, [value, given, module])


@contextlib.contextmanager
def guarded(what: str) -> Iterator[None]:
    """Run code of a user: what it prints goes to stderr, what it raises becomes a UsageError."""
    try:
        with contextlib.redirect_stdout(sys.stderr), np.errstate(all="ignore"):
            yield
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f.lineno for f in frames if f.filename in _paths()]
        line = f" in line {own[-1]}" if own else ""
        if isinstance(error, SyntaxError) and error.lineno:
            line = f" in line {error.lineno}"
        said = error.msg if isinstance(error, SyntaxError) else str(error)
        said = " ".join(said.split())[:200]
        raise UsageError(f"{what} raised {type(error).__name__}{line}: {said}") from error


def blame(error: BaseException) -> str | None:
    """Say in one line which line of a user's file raised, or None where none did."""
    own = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in _paths()]
    if not own:
        return None
    said = " ".join(str(error).split())[:200]
    last = own[-1]
    return (
        f"{last.filename}: {last.name} raised {type(error).__name__} in line {last.lineno}: {said}"
    )


def _paths() -> set[str]:
    return {str(module.__file__) for module in _modules.values()}


def named(module: types.ModuleType, name: str, where: str) -> Any:
    """Return what a module has under a name; raises UsageError with the nearest one."""
    space = vars(module)
    if name not in space:
        own = [n for n in space if not n.startswith("_")]
        raise UsageError(f"{where}: {unknown('name', name, own)}")
    return space[name]


def execute(path: Path) -> tuple[types.ModuleType, str]:
    """Execute a file, if it was not: its module and the SHA-256 of its text; raises UsageError.

    What it prints goes to stderr; its folder is the last place where modules are looked for.
    """
    try:
        there = path.is_file()
        source = path.read_bytes() if there else b""
    except (OSError, ValueError) as error:
        raise UsageError(f"{str(path)[:200]} cannot be read: {error}") from error
    if not there:
        raise UsageError(f"{str(path)[:200]} given: there is no such file")
    digest = hashlib.sha256(source).hexdigest()
    place = str(path.resolve())
    if (place, digest) in _modules:
        return _modules[place, digest], digest
    module = types.ModuleType(f"_hardness_user_{len(_modules)}")
    module.__file__ = str(path)
    _modules[place, digest] = module
    sys.modules[module.__name__] = module  # dataclasses look their module up there
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


def _has_functions(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "functions")


def _family(path: Path, name: str, value: Family) -> Family:
    """Refuse a family that commands would stumble over."""
    lacking = [f for f in (*_FIELDS, "d", "noise") if not hasattr(value, f)]
    if lacking or not is_dataclass(value):
        what = f"lacks {', '.join(lacking)}" if lacking else "is no frozen dataclass"
        raise UsageError(f"{path}: {name}: the family {type(value).__name__} {what}")
    return value


def _functions(path: Path, name: str, digest: str, places: list[Any]) -> Functions:
    """Collect functions, names, d and the bound, from the first place that says."""
    where = f"{path}: {name}"
    listed = places[0]
    functions = listed if isinstance(listed, list | tuple) else listed.functions
    if not isinstance(functions, list | tuple) or not functions:
        shown = "no functions" if not functions else f"a {type(functions).__name__}"
        raise UsageError(f"{where} gives {shown}: a list or tuple of at least 1 is needed")
    for i, f in enumerate(functions):
        if not callable(f):
            raise UsageError(f"{where}: member {i} is a {type(f).__name__}, no function")
    names = _names(where, functions, _first(places[:2], "names"))
    own = {getattr(f, "d", None): n for f, n in zip(functions, names, strict=True)}
    own.pop(None, None)
    d = _first(places, "d")
    if len(own) > 1 or (own and d is not None and d not in own):
        known = [f"{n} has d={k}" for k, n in list(own.items())[:2]]
        said = [f"d={d} is given"] if d is not None and d not in own else []
        raise UsageError(
            f"{where}: functions of different domains: {', '.join((said + known)[:2])}; "
            "all must have the same"
        )
    d = next(iter(own)) if d is None and own else d
    if not isinstance(d, Integral) or isinstance(d, bool) or d < 1:
        shown = "no d" if d is None else f"d={str(d)[:40]}"
        raise UsageError(f"{where} gives {shown}: say d = 8, at least 1, in the file or the object")
    bound = _first(places, "bound")
    bound = 1 if bound is None else bound
    if not isinstance(bound, Real) or not 0 < float(bound) < 1e100:
        raise UsageError(f"{where}: bound={str(bound)[:40]}: it must be above 0 and below 1e100")
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
    for place in places:
        if not isinstance(place, list | tuple):
            value = getattr(place, what, None)
            if value is not None:
                return value
    return None


def _names(where: str, functions: Any, names: Any) -> tuple[str, ...]:
    if names is None:
        found = [getattr(f, "__name__", "") for f in functions]
        good = len(set(found)) == len(found) and all(str(n).isidentifier() for n in found)
        return tuple(found) if good else tuple(f"f{i}" for i in range(len(found)))
    if not isinstance(names, list | tuple) or len(names) != len(functions):
        raise UsageError(f"{where}: names must be a list, one for each of {len(functions)}")
    seen: set[str] = set()
    for n in names:
        if not isinstance(n, str) or not n or len(n) > 200:
            raise UsageError(f"{where}: a name is {str(n)[:40]!r}: short texts are needed")
        if n in seen:
            raise UsageError(f"{where}: the name {n!r} is given twice: names must differ")
        seen.add(n)
    return tuple(names)
