"""Runs as a table, the parameters of their specs, and what every execution of a run shares."""

import gc
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from hardness.runs.names import Value, whole
from instances import numbers
from instances.errors import UsageError
from instances.numbers import write
from instances.parameters import split_list
from instances.userfile import split

if TYPE_CHECKING:
    from pandas import DataFrame


COUNTED = ("none", "examples", "queries", "values")  # what ends a run everywhere alike
BUDGET = ("examples", "queries", "values", "seconds", "cpu_seconds", "memory_bytes")
_AT_ONCE = 256  # rows
_OF_OTHERS = ("family", "learner_name", "reproducible")  # columns that follow from another
_REPEATED = ("spec", "learner", "outcome", "limited_by")  # columns of few different values
# Columns of few different values together.
_SETTINGS = (
    *("machine", *(f"budget_{name}" for name in BUDGET)),
    *("oracle", "tau", "family_revision", "learner_revision"),
)
# The columns of a run in a table, in their order, before the parameters of specs.
COLUMNS = (
    *("learner", "spec", "seed", "passed", "solved", "outcome", "limited_by", "reproducible"),
    *("risk", "risk_low", "risk_high", "risk_confidence", "risk_examples", "risk_unclipped"),
    *("examples", "queries", "membership_queries", "seconds", "memory", "secret_recovered"),
    *("sandboxed", "machine", "key", "family", "learner_name"),
)


@contextmanager
def no_cycles() -> Iterator[None]:
    """Inside, objects are made without a look for cycles, of which runs have none: faster."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@no_cycles()
def runs_frame(runs: Iterable[Any]) -> "DataFrame":
    """Make the tidy table of runs: a row a run, in their order.

    After `COLUMNS` come the budgets, as `budget_examples`, how queries were answered (`oracle`,
    `tau`), revisions, and the parameters of specs under their own names: numbers as floats, else
    texts; what a run does not have is missing. A parameter that is called as another column is
    `param_NAME`.

    >>> from hardness.runs import compare
    >>> made = runs_frame(compare("parity:m=2", "d=6..8", ("elimination",), seeds=2).runs)
    >>> made.groupby("d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    import numpy as np
    import pandas as pd

    from instances.result import dtype

    def packed(values: Sequence[Any]) -> Any:
        """Pack numbers of one kind as an array; numpy reads None as NaN, which no JSON has."""
        kinds = set(map(type, values))
        if float in kinds and kinds <= {float, type(None)}:
            return np.array(values, np.float64)
        with suppress(OverflowError):
            if kinds == {int}:
                return np.array(values, np.int64)
        return values

    def column(parts: Sequence[Any]) -> Any:
        """Make a column of its parts, some packed; integers beside nothing stay integers."""
        kinds = {getattr(part, "dtype", object) for part in parts}
        if kinds == {np.dtype(np.float64)}:
            found = np.concatenate(parts)
            return pd.arrays.FloatingArray(found, np.isnan(found))
        if kinds == {np.dtype(np.int64)}:
            return pd.array(np.concatenate(parts), dtype="Int64")
        lists = (part.tolist() if isinstance(part, np.ndarray) else part for part in parts)
        values = [None if one != one else one for some in lists for one in some]
        return pd.array(values, dtype=dtype(values))

    limits = attrgetter(*BUDGET)

    def settings(row: Any) -> tuple[Any, ...]:
        """Give the values of `_SETTINGS`."""
        details, revisions = row.details, row.revisions
        answered = details.get("oracle"), details.get("tau")
        revised = revisions.get("family"), revisions.get("learner")
        return (row.machine, *limits(row.budget), *answered, *revised)

    indexes = {name: defaultdict[Any, int]() for name in (*_REPEATED, "settings")}
    for index in indexes.values():
        index.default_factory = index.__len__  # values are numbered as they come
    names = [name for name in COLUMNS if name not in (*_OF_OTHERS, "machine")]
    parts: dict[str, list[Any]] = {name: [] for name in names}
    places = {name: [np.empty(0, np.intp)] for name in indexes}
    get, left = attrgetter(*names), iter(runs)
    while some := list(islice(left, _AT_ONCE)):  # all of a few rows while they are in the cache
        read = dict(zip(names, zip(*map(get, some), strict=True), strict=True))
        for name, values in (read | {"settings": tuple(map(settings, some))}).items():
            if name in indexes:
                numbered = map(indexes[name].__getitem__, values)
                places[name].append(np.fromiter(numbered, np.intp, len(some)))
            else:
                parts[name].append(packed(values))
    taken = {name: np.concatenate(arrays) for name, arrays in places.items()}

    def few(name: str, change: Callable[[Any], Any] = lambda one: one) -> Any:
        """Make a column of what follows from values of which few differ: of each once."""
        return column([packed([*map(change, indexes[name])])]).take(taken[name])

    made: dict[str, Any] = dict.fromkeys((*COLUMNS, *_SETTINGS[1:])) | {
        "spec": few("spec"),
        "learner": few("learner"),
        "family": few("spec", lambda one: one.partition(":")[0]),
        "learner_name": few("learner", name_of),
        "outcome": few("outcome", lambda one: one.value),
        "limited_by": few("limited_by"),
        "reproducible": few("limited_by", COUNTED.__contains__),
    }
    made |= {name: few("settings", itemgetter(i)) for i, name in enumerate(_SETTINGS)}
    made["tau"] = few("settings", lambda one: _plain(tau_of(one[_SETTINGS.index("tau")])))
    made |= {name: column(parts[name]) for name in names if name not in indexes}
    specs = {spec: parameters_of(spec) for spec in indexes["spec"]}
    for name in dict.fromkeys(name for one in specs.values() for name in one):
        values = few("spec", lambda one: _plain(specs[one].get(name)))  # noqa: B023
        made[f"param_{name}" if name in made else name] = values
    return pd.DataFrame(made)


@lru_cache(64)
def tau_of(text: Any) -> Value | str | None:
    """Read the tolerance that a run holds as text; what is no number stays as it is.

    >>> tau_of("1/10"), tau_of("none")
    (Fraction(1, 10), 'none')
    """
    try:
        return None if text is None else whole(numbers.parse(str(text), Fraction, ""))
    except (UsageError, ZeroDivisionError):
        return str(text)


@lru_cache(1024)
def name_of(learner: str) -> str:
    """Name a learner without its parameters; one of a file by its file and what defines it.

    >>> [name_of(one) for one in ("mlp:steps=9", "my/two.py:Second:a=1", "decode:mlp:steps=9")]
    ['mlp', 'my/two.py:Second', 'decode:mlp']
    """
    first, _, rest = learner.partition(":")
    if first == "decode":
        return f"decode:{name_of(rest)}"
    try:
        file = split(learner)
    except UsageError:
        file = None
    return f"{file.path}:{file.name}" if file else first


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str) else float(value)


@lru_cache(4096)
def parameters_of(spec: str) -> dict[str, Value | str]:
    """Read the parameters of a spec as data, whether or not its family is known here.

    Numbers are those that are written as canonical specs write them: equal ones are equal texts.
    A spec of another grammar, as one from a file, is its own parameter `spec`.

    >>> parameters_of("parity:d=8,noise=1/3,g=[1,2]"), parameters_of("mine.py:Family")
    ({'d': 8, 'noise': Fraction(1, 3), 'g': '[1,2]'}, {'spec': 'mine.py:Family'})
    """
    rest = spec.partition(":")[2]
    try:
        pairs = [part.partition("=") for part in split_list(rest)]
    except UsageError:
        pairs = []
    texts = {key: value for key, _, value in pairs if key and value}
    if ",".join(f"{key}={value}" for key, value in texts.items()) != rest:
        return {"spec": spec}
    return {key: _number(value) for key, value in texts.items()}


def numbers_of(spec: str) -> dict[str, Value]:
    """Take the parameters of a spec that are numbers; "size", 1, where there are none."""
    found = {name: v for name, v in parameters_of(spec).items() if not isinstance(v, str)}
    return found or {"size": 1}


def _number(text: str) -> Value | str:
    try:
        number = whole(numbers.parse(text, Fraction, ""))
    except (UsageError, ZeroDivisionError):
        return text  # a word, as secret=binary
    return number if write(number) == text else text


@lru_cache(1024)
def natural(text: str) -> bytes:
    """Make a key that sorts names with numbers in them by their value; texts keep keys apart.

    >>> sorted(["d=10,m=2", "d=8,m=10", "d=8,m=2"], key=natural)
    ['d=8,m=2', 'd=8,m=10', 'd=10,m=2']
    """

    def number(match: re.Match[str]) -> str:
        digits = match[0].lstrip("0")
        return f"\1{len(digits):06}{digits}"

    return f"{re.sub('[0-9]+', number, text)}\0{text}".encode()
