"""Loading a learner from a file or an installed package: here its code is executed.

Only a name that the user gave comes here, and in the end only in a process of its own.
"""

import functools
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any, cast

from hardness.upper.learner import Learner
from hardness.upper.plugins.adapt import Adapted, adapt, called
from hardness.upper.plugins.function import Function, described, takes_examples
from hardness.upper.plugins.names import PluginName, installed, plugin
from instances.errors import UsageError, unknown
from instances.extras import advice
from instances.parameters import arguments, is_readable, key_values, split_list, word
from instances.userfile import execute, guarded, named

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_FLOAT = re.compile(r"[+-]?([0-9]{1,20}\.[0-9]{0,20}|\.?[0-9]{1,20})([eE][+-]?[0-9]{1,3})?")


def load(text: str) -> Learner:
    """Load the learner of "path.py:Name:key=value,..." or of an entry point; raises UsageError.

    Its file is executed, or its package imported. The SHA-256 of the file is its `digest`.
    """
    name = plugin(text)
    if name is None:
        raise UsageError(f"'{text}' given: path.py:Name is needed, or the name of an entry point")
    if name.kind == "file":
        value, where, digest = _from_file(name)
    else:
        value, where, digest = _from_entry(name)
    learner = adapt(_made(value, name.parameters, where), where)
    return cast(Learner, replace(cast(Adapted, learner), spec=text.strip(), digest=digest))


def _from_file(name: PluginName) -> tuple[Any, str, str | None]:
    path = Path(name.place)
    with _naming_extras():
        module, digest = execute(path)
    return named(module, name.attribute, str(path)), f"{path}: {name.attribute}", digest


def _from_entry(name: PluginName) -> tuple[Any, str, str | None]:
    entries = installed()
    found = [entry for entry in entries if entry.name == name.place]
    if not found:
        raise unknown("learner of an installed package", name.place, {e.name for e in entries})
    entry = found[0]
    where = f"{name.place} ({entry.value} of {entry.distribution} {entry.version})"
    if entry.problem:
        raise UsageError(f"{where} cannot be used: {entry.problem}")
    module, _, attribute = (part.strip() for part in entry.value.partition(":"))
    with _naming_extras(), guarded(f"{where}: importing it"):
        value = importlib.import_module(module)
    for part in attribute.split("."):
        if not hasattr(value, part):
            known = [name for name in vars(value) if not name.startswith("_")]
            raise UsageError(f"{where}: {unknown('name', part, known)}")
        value = getattr(value, part)
    return value, where, None


class _naming_extras:
    """Add how to install it to the error for an extra's library that is not there."""

    def __enter__(self) -> None:
        """Nothing to take."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        """Look at what the error came from."""
        cause = error.__cause__ if isinstance(error, UsageError) else None
        if isinstance(cause, ModuleNotFoundError) and cause.name:
            advised = advice(cause.name)
            if advised:
                raise UsageError(f"{error}: {advised}") from cause


def _made(value: Any, text: str, where: str) -> Any:
    """Give a class, a factory or a function its parameters; what has none is left as it is."""
    if isinstance(value, Function) and text:
        return replace(value, train=_made(value.train, text, where))
    if inspect.isclass(value) and is_dataclass(value) and is_readable(value):
        example = f"{where.replace(': ', ':')}:key=value,..."
        return called(value, where, **arguments(value, text, where, example))
    if not text:
        return value
    if not callable(value) or not (inspect.isclass(value) or inspect.isroutine(value)):
        raise UsageError(
            f"{where} is {described(value)}, so '{text}' cannot be given to it: only a class or a "
            "function takes parameters"
        )
    given = {n: _value(v, f"{where}: {n}") for n, v in _pairs(value, text, where).items()}
    if inspect.isroutine(value) and takes_examples(value):
        return functools.update_wrapper(functools.partial(value, **given), value)
    return called(value, where, **given)


def _pairs(value: Callable[..., Any], text: str, where: str) -> dict[str, str]:
    """Read "key=value,..." whose keys are arguments that a class or function takes by name."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where} does not say which parameters it takes: give none") from error
    known = [p.name for p in found if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if any(p.kind is p.VAR_KEYWORD for p in found):
        keys = [part.partition("=")[0].strip() for part in split_list(text)]
        known += [key for key in keys if key.isidentifier()]
    if not inspect.isclass(value) and takes_examples(value):
        known = [n for n in known if n not in list(inspect.signature(value).parameters)[:2]]
    return key_values(text, where, known)


def _value(text: str, what: str) -> int | float | bool | str:
    """Read an int, a float, true or false, or a word.

    >>> [_value(text, "key") for text in ("3", "1e-3", "true", "relu")]
    [3, 0.001, True, 'relu']
    """
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    return word(text, what)
