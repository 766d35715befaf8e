"""Functions that a user lists in a file or object, and the family of those with two values.

A user's class is called with the parameters of its spec. It must return the same functions whenever
it is called with the same parameters.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from numbers import Integral, Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from instances.coded import Coded
from instances.disk import quoted
from instances.errors import UsageError, require
from instances.family import Family, Secret
from instances.layer import AttentionLayer
from instances.limits import require_memory
from instances.parameters import is_readable, keyword_arguments, parameters_of
from instances.text import with_article
from instances.userfile import FileName, execute, guarded, named

NAME_TEXT = "a text of 1 to 300 characters that can be printed"
_ALLOWED = (
    "a Family; a list or tuple of functions; an object with `functions` and `d`; or something "
    "that gives one of these when called is needed"
)
_MOST_BITS = 20  # of a point: then a function has 2^20 values
_CACHED = 16  # specs of a class whose tables are kept
_PROBES = 64  # points on which two lists of functions are compared


@dataclass(frozen=True, kw_only=True, eq=False)
class Functions:
    """A user's functions on {-1,+1}^d: each maps points (count, d), int8, to (count,) reals."""

    origin: "Origin"
    name: str  # of the class, with its parameters
    d: int
    functions: tuple[Callable[[Any], Any], ...]
    names: tuple[str, ...]
    bound: float  # largest absolute value, as the file states; 1 by default

    def where(self, i: int) -> str:
        """Name function i, for messages."""
        return f"{self.origin.path}: {self.name}, function {i} ({self.names[i]})"

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file; for an object, of the values at some points."""
        return self.origin.sha256 or self.probed

    @cached_property
    def probed(self) -> str:
        """The SHA-256 of the values at 64 points; they extend the points of a smaller d."""
        signs = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (self.d, _PROBES))
        signs[:, 0], signs[:, 1] = 1, -1
        digest = hashlib.sha256()
        for i in range(len(self.functions)):
            digest.update(self.values(i, signs.T).tobytes())
        return digest.hexdigest()

    def values(self, i: int, points: NDArray[np.int8]) -> NDArray[Any]:
        """Evaluate a function: (count, d) -> (count,), finite real numbers; raises UsageError."""
        points = points.copy() if points.flags.writeable else points
        points.setflags(write=False)  # so that no function can change them
        where = self.where(i)
        with guarded(where, "a function takes all points at once: coordinate i is x[:, i]"):
            values = np.asarray(self.functions[i](points))
        require(
            values.shape == (len(points),) and values.dtype.kind in "biuf",
            f"{where} gives {values.dtype} of shape {values.shape} on points of shape "
            f"{points.shape}: real numbers ({len(points)},) are needed; coordinate i of all points "
            "is x[:, i]",
        )
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            bad = values[~np.isfinite(values)][0]
            raise UsageError(f"{where} gives the value {bad}: values must be finite")
        return values

    def require_pointwise(self, i: int) -> None:
        """Refuse a function whose value at a point depends on other points; raises UsageError."""
        x = np.random.default_rng(0).choice(np.array([-1, 1], np.int8), (_PROBES, self.d))
        x[0], x[-1] = 1, -1
        forth, back = self.values(i, x), self.values(i, x[::-1])[::-1]
        half = self.values(i, x[: _PROBES // 2])
        require(
            bool((forth == back).all() and (forth[: _PROBES // 2] == half).all()),
            f"{self.where(i)} gives other values when the same points come in another order or "
            "number: a value must depend on its own point alone",
        )

    def like(self, other: "Functions") -> bool:
        """Return whether both have equally many functions, with equal values at 64 points."""
        return len(self.functions) == len(other.functions) and self.probed == other.probed


@dataclass(frozen=True, kw_only=True, eq=False)
class Origin:
    """The user's class, function or object that gives functions or a family.

    sha256: of its file; None for an object. space: a namespace to look up `d`, `names` and `bound`,
    if the value does not have them.
    """

    path: Path
    name: str
    sha256: str | None
    value: Any
    space: Any = None

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of the origin within this process."""
        return self.path, self.name, self.sha256, id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def where(self) -> str:
        """The path and name, for messages."""
        return f"{self.path}: {self.name}"

    @property
    def is_family(self) -> bool:
        """Whether the value is a Family class whose parameters a spec can hold."""
        value = self.value
        return isinstance(value, type) and issubclass(value, Family) and is_readable(value)

    @property
    def needs_call(self) -> bool:
        """Whether the value has to be called to get functions or a family."""
        value = self.value
        return isinstance(value, type) or (callable(value) and not _is_answer(value))

    def called_with(self, text: str, lacking: bool) -> Any:
        """Call the value with parameters "key=value,..." and return the result; raises UsageError.

        lacking: whether parameters may be missing; the result is then None.
        """
        call = self.needs_call and text
        arguments = keyword_arguments(self.value, text, self.where) if call else {}
        fields = parameters_of(self.value) if self.needs_call else ()
        missing = [f.name for f in fields if f.default is MISSING and f.name not in arguments]
        if missing and lacking:
            return None
        written = ",".join(filter(None, (text, *(f"{name}=..." for name in missing))))
        name = f"{self.path}:{self.name}"
        require(not missing, f"{self.where} needs {', '.join(missing)}: write {name}:{written}")
        value = self.instantiate(arguments)
        wrong = f"{self.where} takes no parameters: it is of type {type(value).__name__}"
        require(self.needs_call or not text, wrong)
        return value

    def instantiate(self, arguments: dict[str, Any]) -> Any:
        """Call the value with arguments until it gives functions or a family; raises UsageError."""
        value, called = self.value, False
        while isinstance(value, type) or not _is_answer(value):
            kind = type(value).__name__
            require(callable(value) and not called, f"{self.where} is of type {kind}: {_ALLOWED}")
            given = ",".join(f"{k}={v}" for k, v in arguments.items())
            with guarded(
                f"{self.where}, called {f'with {given}' if given else 'without arguments'}"
            ):
                value, called = value(**arguments), True
        return value

    def functions(self, name: str, arguments: dict[str, Any], value: Any = None) -> Functions:
        """Collect the functions that it gives; raises UsageError if a second call gives others."""
        value = self.instantiate(arguments) if value is None else value
        require(not isinstance(value, Family), f"{self.where} gives a family: give all parameters")
        places = [value, SimpleNamespace(**arguments), self.value, self.space]
        functions = _collected(self, name, places)
        if self.needs_call:
            d = arguments.get("d", functions.d)
            wrong = f"{self.where}, called with d={d}, gives functions of d={functions.d}"
            require(
                d == functions.d, f"{wrong}: its parameter d must be their number of coordinates"
            )
            places[0] = self.instantiate(arguments)
            require(
                _collected(self, name, places).like(functions),
                f"{self.where} gives other functions when it is called again with the same "
                "parameters: draw at random from a seed that stands in it, and list in one order",
            )
        return functions


def origin(reference: FileName) -> Origin:
    """Execute a file, once per text, and return what a name in it refers to; raises UsageError."""
    folders = list(sys.path)
    try:
        module, sha256 = execute(reference.path)
    finally:
        sys.path[:] = folders  # later imports do not search the file's folder
    value = named(module, reference.name, str(reference.path))
    space = SimpleNamespace(**{n: getattr(module, n, None) for n in ("d", "names", "bound")})
    return Origin(path=reference.path, name=reference.name, sha256=sha256, value=value, space=space)


def _is_answer(value: Any) -> bool:
    """Return whether a value is a family, a list of functions, or an object with `functions`."""
    return isinstance(value, Family | list | tuple) or hasattr(value, "functions")


def _collected(origin: Origin, name: str, places: list[Any]) -> Functions:
    """Collect functions, names, d and bound, each from the first of `places` that has it."""
    where, listed = f"{origin.path}: {name}", places[0]
    functions = listed if isinstance(listed, list | tuple) else listed.functions
    gives = "no functions" if not functions else with_article(type(functions).__name__)
    good = isinstance(functions, list | tuple) and len(functions) > 0
    require(good, f"{where} gives {gives}: a list or tuple of at least 1 is needed")
    for i, f in enumerate(functions):
        require(callable(f), f"{where}: member {i} is of type {type(f).__name__}, no function")
    names = _names(where, functions, _first(places[:-1], "names"))
    d, bound = _first(places, "d"), _first(places, "bound")
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
        origin=origin,
        name=name,
        d=int(d),
        functions=tuple(functions),
        names=names,
        bound=float(bound),
    )


def _first(places: list[Any], name: str) -> Any:
    values = (getattr(p, name, None) for p in places if not isinstance(p, list | tuple))
    return next((value for value in values if value is not None), None)


def fits_name(text: Any) -> bool:
    """Return whether something may be the name of a member.

    >>> fits_name("maj-3"), fits_name("maj\\n3"), fits_name("")
    (True, False, False)
    """
    return isinstance(text, str) and 0 < len(text) <= 300 and text.isprintable()


def _names(where: str, functions: Any, names: Any) -> tuple[str, ...]:
    if names is None:
        defined = [getattr(f, "__name__", "") for f in functions]
        good = len(set(defined)) == len(defined) and all(str(n).isidentifier() for n in defined)
        return tuple(defined) if good else tuple(f"f{i}" for i in range(len(defined)))
    listed = isinstance(names, list | tuple) and len(names) == len(functions)
    require(listed, f"{where}: names must be a list, one for each of {len(functions)}")
    for n in names:
        require(fits_name(n), f"{where}: a name is {quoted(n)}: {NAME_TEXT} is needed")
    twice = next((n for n, times in Counter(names).items() if times > 1), None)
    require(twice is None, f"{where}: the name {twice!r} is given twice: names must differ")
    return tuple(names)


class ListedFunctions(Coded):
    """A family of listed functions of z_1 .. z_(d-1) with values -1 and +1; secret (i,) is one.

    `class_of` makes a subclass for each user's class; the spec has the parameters of that class.
    The user's d is d - 1 here, as z_0 marks informative tokens. No attention layer is known for
    these functions: `layer` raises UsageError.
    """

    noise = Fraction(0)
    layer_heads = 0  # unknown
    origin: ClassVar[Origin]
    spec_fields: ClassVar[tuple[Field[Any], ...]]

    def __init__(self, **parameters: Any) -> None:
        """Make the functions that the user's class gives for parameters; raises UsageError."""
        defaults = {f.name: f.default for f in self.spec_fields if f.default is not MISSING}
        self.spec_values: Mapping[str, Any] = defaults | parameters
        self.listed = self.origin.functions(self.spec, parameters)
        self.d = self.listed.d + 1

    def check(self) -> None:
        """Refuse functions that are not two-valued, or too many points."""
        _tables(self.listed)

    def __eq__(self, other: object) -> bool:
        """Compare classes and parameters."""
        return type(self) is type(other) and vars(self)["spec_values"] == vars(other)["spec_values"]

    def __hash__(self) -> int:
        """Hash the spec."""
        return hash(self.spec)

    @property
    def size(self) -> int:
        """The number of functions."""
        return len(self.listed.functions)

    def members(self) -> Any:
        """List the members in the order of the file."""
        return ((i,) for i in range(self.size))

    def draw(self, rng: np.random.Generator) -> Secret:
        """Draw a member uniformly."""
        return (int(rng.integers(self.size)),)

    def code(self, secret: Secret, z: NDArray[np.int8]) -> NDArray[np.bool_]:
        """Look up the values of a member at points z: (n, d) -> (n,), True for -1."""
        values: NDArray[np.bool_] = _tables(self.listed)[secret[0]]
        return values[(z[:, 1:] < 0) @ (1 << np.arange(self.d - 1))]

    def _factor_tables(self) -> Iterator[NDArray[np.float64]]:
        return (np.where(row, -1.0, 1.0) for row in _tables(self.listed))

    def layer(self, secret: Secret) -> AttentionLayer:
        """Raise UsageError, as no layer is known."""
        raise UsageError("no attention layer is known that has the labels of functions of a file")


@lru_cache(_CACHED)
def class_of(origin: Origin) -> type[ListedFunctions]:
    """Make the family class of a user's class or function, with the same name."""
    fields = parameters_of(origin.value) if origin.needs_call else ()
    needed = (f"{f.name}={8 if f.name == 'd' else 2}" for f in fields if f.default is MISSING)
    about = (getattr(origin.value, "__doc__", None) or "").strip().splitlines()
    doc = about[0] if origin.needs_call and about and about[0].isprintable() else ""
    space = {
        "name": origin.name,
        "example": ":".join(filter(None, (origin.name, ",".join(needed)))),
        "about": doc or "two-valued functions of a user's file",
        "origin": origin,
        "spec_fields": fields,
    }
    return type(origin.name, (ListedFunctions,), space)


@lru_cache(_CACHED)
def _tables(functions: Functions) -> NDArray[np.bool_]:
    """Tabulate functions: (N, 2^n), True for -1.

    Bit j - 1 of a column index is 1 where z_j = -1. Raises UsageError for values other than -1 and
    +1, and for two equal functions.
    """
    n, count = functions.d, len(functions.functions)
    require(n <= _MOST_BITS, f"d must be at most {_MOST_BITS} for functions of a file, got {n}")
    require_memory(2 * count << n, f"the tables of {count} functions")
    places = np.arange(1 << n)
    points = (1 - 2 * (places[:, None] >> np.arange(n) & 1)).astype(np.int8)
    points.setflags(write=False)
    rows = np.empty((count, 1 << n), np.bool_)
    first_with: dict[bytes, int] = {}  # the first function with a table, by its SHA-256
    for i in range(count):
        functions.require_pointwise(i)
        values = functions.values(i, points)
        require(
            bool((np.abs(values) == 1).all()),
            f"{functions.where(i)} is not -1 or +1 at each of 2^{n} points: queries are of "
            "such functions; `hardness certify` takes all",
        )
        rows[i] = values < 0
        before = first_with.setdefault(hashlib.sha256(rows[i].tobytes()).digest(), i)
        require(
            before == i, f"{functions.where(i)} is the function {functions.names[before]} again"
        )
    return rows
