"""The user's own Python files: what path.py:Name:key=value,... names, executed and blamed.

A file is executed once in a process, under a module name of its own, and nothing of it is written
to disk: no bytecode, no copy. It is code, and runs with the rights of the user: only a
name that a user typed is ever executed, never one that stands in a file. What goes wrong in it is
one line that names it. Other processes execute the same text if they find it, and else get what it
defines by value.
"""

import contextlib
import hashlib
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from io import BytesIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from instances.disk import one_line
from instances.errors import UsageError, require, unknown
from instances.lazy import advice

# The shortest path that a name follows: in a.py:b/c.py:Name the first .py: belongs to a folder.
_NAMED = re.compile(r"(?P<path>.*?\.py):(?P<name>[^\W\d]\w*)(?::(?P<rest>.*))?", re.DOTALL)
_INSTALLED = {*sys.stdlib_module_names, "hardness", "instances"}
_modules: dict[tuple[str, str], ModuleType] = {}  # by path and SHA-256
FILES: set[str] = set()  # whose code this process may run, as tracebacks name them


@dataclass(frozen=True, kw_only=True)
class FileName:
    """A name in a user's Python file, with the parameters that stand behind it."""

    path: Path
    name: str
    parameters: str

    @property
    def where(self) -> str:
        """What is meant, for messages."""
        return f"{self.path}: {self.name}"


def split(text: str) -> FileName | None:
    """Read "path.py:Name" or "path.py:Name:key=value,..."; None for what names no Python file.

    Raises UsageError for a path without a name.

    >>> split("parity:d=8,m=3")
    >>> split("mine.py:Majority:d=9,m=3").parameters
    'd=9,m=3'
    """
    text = text.strip()
    parts = _NAMED.fullmatch(text)
    if parts:
        rest = (parts["rest"] or "").strip()
        return FileName(path=Path(parts["path"]), name=parts["name"], parameters=rest)
    if text.endswith(".py") or ".py:" in text:
        raise UsageError(
            "what a file defines must be path.py:Name, Name being defined in the file, or "
            f"path.py:Name:key=value,..., got '{text}'"
        )
    return None


def execute(path: Path) -> tuple[ModuleType, str]:
    """Execute a file, if its text was not: its module and the SHA-256; raises UsageError.

    What it prints goes to stderr; its folder is the last place where modules are looked for.
    """
    try:
        require(path.is_file(), f"no such file: {str(path)[:200]}")
        source = path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, UsageError):
            raise
        raise UsageError(f"{str(path)[:200]} cannot be read: {error}") from error
    key = (str(path.resolve()), hashlib.sha256(source).hexdigest())
    if key in _modules:
        return _modules[key], key[1]
    loader = SourceFileLoader(f"_hardness_user_{len(_modules)}", key[0])
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    module.__dict__["print"] = _aside
    _modules[key] = sys.modules[loader.name] = module  # dataclasses look their module up there
    FILES.add(str(path))
    if str(path.resolve().parent) not in sys.path:
        sys.path.append(str(path.resolve().parent))  # last: it hides nothing that is installed
    written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with guarded(f"{path}: executing it"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = loader.source_to_code(source, str(path))
            # What importing it would do, but of the very text that has the SHA-256.
            # Only a name that the user typed comes here, never one that stands in a file.
            exec(code, module.__dict__)
    except BaseException:
        del _modules[key], sys.modules[loader.name]
        raise
    finally:
        sys.dont_write_bytecode = written
    return module, key[1]


def forget() -> None:
    """Have `execute` execute every file anew from here on."""
    _modules.clear()


def named(space: ModuleType, name: str, where: str) -> Any:
    """Return what a module has under a name; raises UsageError with the nearest one."""
    values = vars(space)
    if name not in values:
        own = [n for n, value in values.items() if not n.startswith("_") and value is not _aside]
        raise UsageError(f"{where}: {unknown('name', name, own)}")
    return values[name]


def pickled(value: Any, subject: str) -> bytes:
    """Pickle for a process that has none of the user's modules; raises UsageError for what has not.

    subject: is named in the message.
    """
    import cloudpickle

    modules = [sys.modules.get(kind.__module__) for kind in type(value).__mro__]
    classes = {file for file in map(_own_file, modules) if file}
    folders = {Path(path).parent for path in (*(path for path, _ in _modules), *FILES, *classes)}
    for module in list(sys.modules.values()) if folders - {Path()} else ():
        if (file := _own_file(module)) and folders & {*Path(file).parents}:
            cloudpickle.register_pickle_by_value(module)

    class Pickler(cloudpickle.CloudPickler):
        dispatch_table = cloudpickle.CloudPickler.dispatch_table.new_child(
            {cached_property: _reduced, type(_own_file): _cache_reduced}
        )

    stream = BytesIO()
    try:
        Pickler(stream).dump(value)
        return stream.getvalue()
    except Exception as error:  # whatever an object of a user raises
        raise UsageError(
            f"{subject} cannot be handed to another process: {one_line(error, 200)}"
        ) from error


def _reduced(value: Any) -> Any:
    """Say how a cached property is made again: that of Python 3.11 holds a lock."""
    return _cached, (value.func, value.attrname)


@lru_cache(1024)
def _own_file(module: Any) -> str | None:
    """Name the file of a module that is a user's and not installed; None for any other."""
    name, file = str(getattr(module, "__name__", "")), getattr(module, "__file__", None)
    installed = name.partition(".")[0] in _INSTALLED or "site-packages" in str(file)
    return file if isinstance(file, str) and not installed else None


def _cache_reduced(value: Any) -> Any:
    """Say how a function with a cache is made again: by its own name it is not found elsewhere."""
    if value.__module__ == "__main__" or _own_file(sys.modules.get(value.__module__)):
        limits = value.cache_parameters()
        return _cache_made, (value.__wrapped__, limits["maxsize"], limits["typed"])
    return value.__reduce__()


def _cache_made(function: Any, size: int | None, typed: bool) -> Any:
    return lru_cache(size, typed)(function)


def _cached(function: Any, name: str) -> Any:
    value = cached_property(function)
    value.__set_name__(object, name)
    return value


def _aside(*values: Any, **how: Any) -> None:
    """Print as a user's file does at any time: to stderr, as stdout may be JSON."""
    print(*values, **{"file": sys.stderr, **how})


# ---- errors in a user's code


@contextlib.contextmanager
def guarded(subject: str, hint: str = "") -> Iterator[None]:
    """Run code of a user: what it prints goes to stderr, what it raises becomes a UsageError.

    hint: what is added where its types or values do not fit.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr), np.errstate(all="ignore"):
            yield
    except (Exception, SystemExit) as error:
        place, message = _place(error), str(error)
        number = place and place.lineno
        if isinstance(error, SyntaxError):
            number, message = error.lineno or number, error.msg
        message = " ".join(message.split())[:200]
        extra = advice(error.name or "") if isinstance(error, ModuleNotFoundError) else None
        message += f": {extra}" if extra else ""
        message += f"; {hint}" if hint and isinstance(error, TypeError | ValueError) else ""
        reason = f"{type(error).__name__}: {message}" if message else type(error).__name__
        line = f", in line {number}" if number else ""
        raise UsageError(f"{reason} ({subject}{line})") from error


def blame(error: BaseException) -> str | None:
    """Say in one line which line of a user's file raised, or None where none did."""
    if (place := _place(error)) is None:
        return None
    raised = f"{type(error).__name__} in line {place.lineno}: {one_line(error, 200)}"
    return f"{place.filename}: {place.name} raised {raised}"


def misfit(error: BaseException) -> str | None:
    """Say in one line that a user's file is in use where something else raised; None without."""
    message = f"{type(error).__name__}: {one_line(error, 200)}"
    files = ", ".join(sorted(FILES))
    return f"{files}: something defined there does not fit: {message}" if files else None


def _place(error: BaseException) -> traceback.FrameSummary | None:
    """Find the last call of a user's file on the way to an error."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in FILES]
    return frames[-1] if frames else None
