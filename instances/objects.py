"""Classes of functions of a user that are given as objects, without a file."""

import inspect
import sys
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from instances.errors import require
from instances.family import Family
from instances.listedfunctions import Functions, ListedFunctions, Origin, class_of
from instances.numbers import write
from instances.parameters import arguments, is_readable, is_written, parameters_of
from instances.spec import FAMILIES, OwnFamily, kind_of, know
from instances.userfile import FILES


def spec_of_object(given: Any) -> str | None:
    """Return a spec for a class of a user, which this process knows then; None for other things.

    given: a class or function that gives functions, functools.partial of one, an object of such a
    class, which keeps its parameters under their names, or a Family that no file has. Parameters
    may be missing. Raises UsageError for an object that cannot be made again.
    """
    value, parameters = _parts(given)
    family = inspect.isclass(value) and issubclass(value, Family)
    known = family and (FAMILIES.get(value.name) is value or not is_readable(value))
    usable = isinstance(value, type | FunctionType)
    if known or not usable:
        return None
    name = value.name if family else value.__name__
    source = Origin(path=Path("object"), name=name, sha256=None, value=value)
    kind = kind_of(name)
    if value not in (kind, getattr(getattr(kind, "origin", None), "value", None)):
        FILES.update(filter(None, [getattr(sys.modules.get(value.__module__), "__file__", None)]))
        know(OwnFamily(kind=value if family else class_of(source), path=source.path, sha256=None))
    if isinstance(given, Family):
        return given.spec
    pairs = ",".join(f"{n}={write(v)}" for n, v in parameters.items() if is_written(v))
    spec = f"{name}:{pairs}" if pairs else name
    if value is type(given):
        again = functions_of(spec)
        require(
            again is not None and again.like(source.functions(spec, parameters, given)),
            f"an object of {name} given: made again as {spec} it has other functions: let the "
            "parameters say which",
        )
    return spec


def _parts(given: Any) -> tuple[Any, dict[str, Any]]:
    """Return the class or function behind an object, and the parameters that it was made with."""
    if isinstance(given, partial):
        require(not given.args, "a partial of places given: name its parameters, as w=3")
        name = getattr(given.func, "__name__", given.func)
        odd = ", ".join(key for key, value in given.keywords.items() if not is_written(value))
        wrong = f"a partial of {name} given: no spec writes its {odd}"
        require(not odd, f"{wrong}: numbers and words without a comma are needed")
        return given.func, given.keywords
    if isinstance(given, Family):
        return type(given), {}
    if isinstance(given, type) or not hasattr(given, "functions"):
        return given, {}
    names = [f.name for f in parameters_of(type(given))]
    lacking = [name for name in names if not hasattr(given, name)]
    wrong = f"an object of {type(given).__name__} given: it does not keep {', '.join(lacking)}"
    require(not lacking, f"{wrong}: write self.{(lacking or [''])[0]} = ... in it")
    return type(given), {name: getattr(given, name) for name in names}


def functions_of(spec: str) -> Functions | None:
    """Make the functions of a spec of such a class; None for another. Raises UsageError."""
    name, _, rest = spec.strip().partition(":")
    kind = kind_of(name)
    if kind is None or not issubclass(kind, ListedFunctions):
        return None
    return kind(**arguments(kind, rest, name, kind.example)).given
