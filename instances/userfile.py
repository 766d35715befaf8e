"""The user's Python files, named as path.py:Name:key=value,...: execution and errors.

A process executes a file once, under its own module name, and writes nothing to disk: no bytecode,
no copy. The code runs with the rights of the user. Only a name that the user typed is executed,
never one that was read from a file. An error in it becomes one line that names the file. Other
processes execute the same text if they find it, and else receive what it defines by value.
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
USER_FILES: set[str] = set()  # files whose code this process may run, as named in tracebacks


@dataclass(frozen=True, kw_only=True)
class FileName:
    """A name in a user's Python file, with the text of the parameters after it."""

    path: Path
    name: str
    parameters: str

    @property
    def where(self) -> str:
        """The path and name, for messages."""
        return f"{self.path}: {self.name}"


def split(text: str) -> FileName | None:
    """Read "path.py:Name" or "path.py:Name:key=value,..."; None for any other text.

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
    """Execute a file, once per text; return its module and SHA-256. Raises UsageError.

    Its output goes to stderr, and its folder becomes the last entry of `sys.path`.
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
    module.__dict__["print"] = _print_to_stderr
    _modules[key] = sys.modules[loader.name] = module  # dataclasses look their module up there
    USER_FILES.add(str(path))
    if str(path.resolve().parent) not in sys.path:
        sys.path.append(str(path.resolve().parent))  # last: it hides nothing that is installed
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with guarded(f"{path}: executing it"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code = loader.source_to_code(source, str(path))
            # Like an import, but of the very text that was hashed.
            # Only names that the user typed come here, never names read from a file.
            exec(code, module.__dict__)
    except BaseException:
        del _modules[key], sys.modules[loader.name]
        raise
    finally:
        sys.dont_write_bytecode = before
    return module, key[1]


def forget() -> None:
    """Make `execute` execute every file again."""
    _modules.clear()


def named(space: ModuleType, name: str, where: str) -> Any:
    """Return the value of a name in a module; raises UsageError with the nearest name."""
    values = vars(space)
    if name not in values:
        public = [
            n
            for n, value in values.items()
            if not n.startswith("_") and value is not _print_to_stderr
        ]
        raise UsageError(f"{where}: {unknown('name', name, public)}")
    return values[name]


def pickled(value: Any, subject: str) -> bytes:
    """Pickle a value, with the user's modules by value; raises UsageError if it cannot.

    subject: what the message names.
    """
    import cloudpickle

    modules = [sys.modules.get(kind.__module__) for kind in type(value).__mro__]
    classes = {file for file in map(_own_file, modules) if file}
    paths = (*(path for path, _ in _modules), *USER_FILES, *classes)
    folders = {Path(path).parent for path in paths}
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
    except Exception as error:  # a user's object may raise anything
        raise UsageError(
            f"{subject} cannot be handed to another process: {one_line(error, 200)}"
        ) from error


def _reduced(value: Any) -> Any:
    """Reduce a cached property to its function and name: in Python 3.11 it has a lock."""
    return _cached, (value.func, value.attrname)


@lru_cache(1024)
def _own_file(module: Any) -> str | None:
    """Return the file of a user's module; None for an installed or built-in one."""
    name, file = str(getattr(module, "__name__", "")), getattr(module, "__file__", None)
    installed = name.partition(".")[0] in _INSTALLED or "site-packages" in str(file)
    return file if isinstance(file, str) and not installed else None


def _cache_reduced(value: Any) -> Any:
    """Reduce a user's cached function to its parts: its name is unknown to other processes."""
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


def _print_to_stderr(*values: Any, **options: Any) -> None:
    """Serve as `print` in a user's file: write to stderr, as stdout may be JSON."""
    print(*values, **{"file": sys.stderr, **options})


# ---- errors in a user's code


@contextlib.contextmanager
def guarded(subject: str, hint: str = "") -> Iterator[None]:
    """Run a user's code: its output goes to stderr, its errors become UsageErrors.

    hint: text that is added to a TypeError or ValueError.
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
    """Say in one line which line of a user's file raised an error; None if none did."""
    if (place := _place(error)) is None:
        return None
    raised = f"{type(error).__name__} in line {place.lineno}: {one_line(error, 200)}"
    return f"{place.filename}: {place.name} raised {raised}"


def misfit(error: BaseException) -> str | None:
    """Say in one line that a user's file may have caused an error; None if none is in use."""
    message = f"{type(error).__name__}: {one_line(error, 200)}"
    files = ", ".join(sorted(USER_FILES))
    return (
        f"{files}: something there probably does not fit, else hardness has a bug: {message}"
        if files
        else None
    )


def _place(error: BaseException) -> traceback.FrameSummary | None:
    """Find the last frame of an error's traceback that lies in a user's file."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in USER_FILES]
    return frames[-1] if frames else None
