"""Runs as a table, and the parameters of their specs."""

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


COUNTED = ("none", "examples", "queries", "values")  # ends of runs, equal on every machine
BUDGET = ("examples", "queries", "values", "seconds", "cpu_seconds", "memory_bytes")
_BATCH_ROWS = 256
_DERIVED = ("family", "learner_name", "reproducible")  # columns computed from another column
_REPEATED = ("spec", "learner", "outcome", "limited_by")  # columns with few different values
# Columns that have few different values, also as a tuple.
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
    """Disable the garbage collector in the block, which makes creating many runs faster.

    Runs have no reference cycles.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@no_cycles()
def runs_frame(runs: Iterable[Any]) -> "DataFrame":
    """Make the tidy table of runs: one row a run, in their order.

    After `COLUMNS` come budgets, as `budget_examples`, then `oracle` and `tau` of queries, then
    revisions, then the parameters of specs under their own names. Parameters are floats, or texts
    if they are not numbers. Values that a run does not have are missing. A parameter with the name
    of another column is `param_NAME`.

    >>> from hardness.runs import compare
    >>> frame = runs_frame(compare("parity:m=2", "d=6..8", ("elimination",), seeds=2).runs)
    >>> frame.groupby("d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    import numpy as np
    import pandas as pd

    from instances.result import dtype

    def packed(values: Sequence[Any]) -> Any:
        """Pack numbers of one type as an array; None among floats becomes NaN, which JSON lacks."""
        kinds = set(map(type, values))
        if float in kinds and kinds <= {float, type(None)}:
            return np.array(values, np.float64)
        with suppress(OverflowError):
            if kinds == {int}:
                return np.array(values, np.int64)
        return values

    def column(parts: Sequence[Any]) -> Any:
        """Join the parts of a column, of which some are packed; missing integers stay integers."""
        kinds = {getattr(part, "dtype", object) for part in parts}
        if kinds == {np.dtype(np.float64)}:
            floats = np.concatenate(parts)
            return pd.arrays.FloatingArray(floats, np.isnan(floats))
        if kinds == {np.dtype(np.int64)}:
            return pd.array(np.concatenate(parts), dtype="Int64")
        lists = (part.tolist() if isinstance(part, np.ndarray) else part for part in parts)
        values = [None if v != v else v for part in lists for v in part]  # v != v for NaN
        return pd.array(values, dtype=dtype(values))

    limits = attrgetter(*BUDGET)

    def settings(row: Any) -> tuple[Any, ...]:
        """Return the values of the columns `_SETTINGS`."""
        details, revisions = row.details, row.revisions
        answered = details.get("oracle"), details.get("tau")
        revised = revisions.get("family"), revisions.get("learner")
        return (row.machine, *limits(row.budget), *answered, *revised)

    indexes = {name: defaultdict[Any, int]() for name in (*_REPEATED, "settings")}
    for index in indexes.values():
        index.default_factory = index.__len__  # values are numbered in the order of their arrival
    names = [name for name in COLUMNS if name not in (*_DERIVED, "machine")]
    parts: dict[str, list[Any]] = {name: [] for name in names}
    places = {name: [np.empty(0, np.intp)] for name in indexes}
    get, rest = attrgetter(*names), iter(runs)
    while batch := list(islice(rest, _BATCH_ROWS)):  # few rows at a time stay in the CPU cache
        read = dict(zip(names, zip(*map(get, batch), strict=True), strict=True))
        for name, values in (read | {"settings": tuple(map(settings, batch))}).items():
            if name in indexes:
                numbered = map(indexes[name].__getitem__, values)
                places[name].append(np.fromiter(numbered, np.intp, len(batch)))
            else:
                parts[name].append(packed(values))
    positions = {name: np.concatenate(arrays) for name, arrays in places.items()}

    def few(name: str, change: Callable[[Any], Any] = lambda value: value) -> Any:
        """Make a column of changed values, calling `change` once for each different value."""
        return column([packed([*map(change, indexes[name])])]).take(positions[name])

    columns: dict[str, Any] = dict.fromkeys((*COLUMNS, *_SETTINGS[1:])) | {
        "spec": few("spec"),
        "learner": few("learner"),
        "family": few("spec", lambda spec: spec.partition(":")[0]),
        "learner_name": few("learner", name_of),
        "outcome": few("outcome", lambda outcome: outcome.value),
        "limited_by": few("limited_by"),
        "reproducible": few("limited_by", COUNTED.__contains__),
    }
    columns |= {name: few("settings", itemgetter(i)) for i, name in enumerate(_SETTINGS)}
    tau = _SETTINGS.index("tau")
    columns["tau"] = few("settings", lambda values: _plain(tau_of(values[tau])))
    columns |= {name: column(parts[name]) for name in names if name not in indexes}
    specs = {spec: parameters_of(spec) for spec in indexes["spec"]}
    for name in dict.fromkeys(name for parameters in specs.values() for name in parameters):
        values = few("spec", lambda spec: _plain(specs[spec].get(name)))  # noqa: B023
        columns[f"param_{name}" if name in columns else name] = values
    return pd.DataFrame(columns)


@lru_cache(64)
def tau_of(text: Any) -> Value | str | None:
    """Read the tolerance that a run stores as text; a text that is not a number stays as it is.

    >>> tau_of("1/10"), tau_of("none")
    (Fraction(1, 10), 'none')
    """
    try:
        return None if text is None else whole(numbers.parse(str(text), Fraction, ""))
    except (UsageError, ZeroDivisionError):
        return str(text)


@lru_cache(1024)
def name_of(learner: str) -> str:
    """Return the name of a learner without parameters; for one in a file as "path.py:Name".

    >>> [name_of(text) for text in ("mlp:steps=9", "my/two.py:Second:a=1", "decode:mlp:steps=9")]
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
    """Read the parameters of a spec, whether or not its family is known here.

    A value is a number only if it is written as in a canonical spec, so equal numbers are equal
    texts. A spec of another grammar, as "path.py:Name", is returned as its parameter `spec`.

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
    """Return the parameters of a spec that are numbers, or {"size": 1} if there are none."""
    values = {name: v for name, v in parameters_of(spec).items() if not isinstance(v, str)}
    return values or {"size": 1}


def _number(text: str) -> Value | str:
    try:
        number = whole(numbers.parse(text, Fraction, ""))
    except (UsageError, ZeroDivisionError):
        return text  # a word, as secret=binary
    return number if write(number) == text else text


@lru_cache(1024)
def natural(text: str) -> bytes:
    """Make a key that sorts texts with numbers by value; different texts have different keys.

    >>> sorted(["d=10,m=2", "d=8,m=10", "d=8,m=2"], key=natural)
    ['d=8,m=2', 'd=8,m=10', 'd=10,m=2']
    """

    def number(match: re.Match[str]) -> str:
        digits = match[0].lstrip("0")
        return f"\1{len(digits):06}{digits}"

    return f"{re.sub('[0-9]+', number, text)}\0{text}".encode()
