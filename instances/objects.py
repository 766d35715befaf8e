"""Classes of functions of a user that are given as objects: this process alone knows them."""

import hashlib
import inspect
import marshal
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from instances.catalog import catalog
from instances.family import Family, require
from instances.listedfunctions import ListedFunctions, class_of, made
from instances.numbers import write
from instances.parameters import arguments, is_readable, is_written, parameters_of
from instances.spec import FAMILIES, GIVEN, HERE, Named, kind_of
from instances.userfile import Functions, Origin


def spec_of_object(given: Any) -> str | None:
    """Return a spec for a class of a user, with which this process knows it; None for other things.

    given: a class or function that gives functions, functools.partial of one, an object of such a
    class, which keeps its parameters under their names, or a Family that no file has. Parameters
    may be missing. Raises UsageError for an object that cannot be made again.
    """
    value: Any = given
    told = dict[str, Any]()
    if isinstance(given, partial):
        require(not given.args, "a partial of places given: name its parameters, as w=3")
        value, told = given.func, given.keywords
        odd = [name for name, one in told.items() if not is_written(one)]
        said = f"a partial of {getattr(value, '__name__', value)} given: no spec writes its "
        require(not odd, f"{said}{', '.join(odd)}: numbers and words without a comma are needed")
    elif isinstance(given, Family):
        value = type(given)
    elif hasattr(given, "functions") and not isinstance(given, type):
        value = type(given)
        names = [f.name for f in parameters_of(value)]
        lacking = [name for name in names if not hasattr(given, name)]
        said = f"an object of {value.__name__} given: it does not keep {', '.join(lacking)}"
        require(not lacking, f"{said}: write self.{(lacking or [''])[0]} = ... in it")
        told = {name: getattr(given, name) for name in names}
    family = inspect.isclass(value) and issubclass(value, Family)
    usable = isinstance(value, type | FunctionType)
    known = family and (FAMILIES.get(value.name) is value or not is_readable(value))
    if not usable or known:
        return None
    name = value.name if family else value.__name__
    free = name not in {*FAMILIES, *GIVEN, *catalog()}
    require(free, f"{name} given: the name is taken: name it differently")
    source = Origin(path=Path("object"), name=name, sha256=_digest(value), value=value)
    held = HERE.get(name)
    if held is None or value not in (held.kind, getattr(held.kind, "origin", source).value):
        kind = value if family else class_of(source)
        HERE[name] = Named(entry="", path=source.path, sha256=source.sha256, kind=kind)
    if isinstance(given, Family):
        return given.spec
    pairs = (f"{n}={write(v)}" for n, v in told.items() if is_written(v))
    spec = ":".join(filter(None, (name, ",".join(pairs))))
    if value is type(given):
        again = functions_of(spec)
        require(
            again is not None and again.like(source.functions(told, given)),
            f"an object of {name} given: made again as {spec} it has other functions: let the "
            "parameters say which",
        )
    return spec


def functions_of(spec: str) -> Functions | None:
    """Make the functions of a spec of such a class; None for another. Raises UsageError."""
    name, _, rest = spec.strip().partition(":")
    kind = kind_of(name)
    if kind is None or not issubclass(kind, ListedFunctions):
        return None
    return made(kind.origin, tuple(arguments(kind, rest, name, kind.example).items()))


def _digest(value: Any) -> str:
    """Compute the SHA-256 of the text of a class with its bases, or of a function.

    Of its code where no text is kept; with numbers and words of a function around it.
    """
    digest = hashlib.sha256()
    for kind in (one for one in getattr(value, "__mro__", [value]) if one is not object):
        each = [v for v in (kind, *vars(kind).values()) if hasattr(v, "__code__")]
        try:
            digest.update(inspect.getsource(kind).encode())
        except (OSError, TypeError):
            digest.update(b"".join(marshal.dumps(one.__code__) for one in each))
        with suppress(ValueError):  # a cell may be empty
            cells = [cell.cell_contents for one in each for cell in one.__closure__ or ()]
            digest.update(repr([v for v in cells if isinstance(v, int | float | str)]).encode())
    return digest.hexdigest()
