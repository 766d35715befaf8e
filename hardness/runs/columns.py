"""Runs as a table, the parameters of their specs, and what every execution of a run shares."""

import gc
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from functools import lru_cache
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

    rows = list(runs)

    def column(values: Sequence[Any]) -> Any:
        kinds = set(map(type, values))
        if kinds in ({float}, {float, type(None)}):  # numpy reads None as NaN, which no JSON has
            found = np.array(values, np.float64)
            return pd.arrays.FloatingArray(found, np.isnan(found))
        with suppress(OverflowError):
            if kinds == {int}:
                return pd.array(np.array(values, np.int64), dtype="Int64")
        return pd.array(values, dtype=dtype(values))

    def each(name: str) -> list[Any]:
        return list(map(attrgetter(name), rows))

    def few(values: list[Any]) -> Callable[..., Any]:
        """Take values of which few differ: what makes columns of them looks at each once."""
        different = list(dict.fromkeys(values))
        index = {value: i for i, value in enumerate(different)}
        places = np.fromiter(map(index.__getitem__, values), np.intp, len(values))
        return lambda change=lambda one: one: column(list(map(change, different))).take(places)

    ended = each("limited_by")
    outcome, end, spec, learner = map(few, (each("outcome"), ended, each("spec"), each("learner")))
    limits = few(list(map(attrgetter(*BUDGET), each("budget"))))
    made: dict[str, Any] = dict.fromkeys(COLUMNS)
    made |= {
        "spec": spec(),
        "learner": learner(),
        "family": spec(lambda one: one.partition(":")[0]),
        "learner_name": learner(name_of),
        "outcome": outcome(lambda one: one.value),
        "limited_by": end(),
        "reproducible": end(COUNTED.__contains__),
        "solved": column([row.ended_well(by) for row, by in zip(rows, ended, strict=True)]),
        "machine": few(each("machine"))(),
    }
    for name in (one for one in COLUMNS if made[one] is None):
        made[name] = column(each(name))
    made |= {f"budget_{name}": limits(itemgetter(i)) for i, name in enumerate(BUDGET)}
    made["oracle"] = few([row.details.get("oracle") for row in rows])()
    made["tau"] = few([row.details.get("tau") for row in rows])(lambda tau: _plain(tau_of(tau)))
    for name in ("family", "learner"):
        made[f"{name}_revision"] = few([row.revisions.get(name) for row in rows])()
    for name in dict.fromkeys(
        name for one in dict.fromkeys(each("spec")) for name in parameters_of(one)
    ):
        values = spec(lambda one: _plain(parameters_of(one).get(name)))  # noqa: B023
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


def timeless(details: Any) -> Any:
    """Leave out times, memory and what the machine says, at any depth.

    >>> timeless({"steps": 3, "fit_seconds": 0.1, "stages": [{"name": "a", "seconds": 1.0}]})
    {'steps': 3, 'stages': [{'name': 'a'}]}
    """
    if isinstance(details, dict):
        return {k: timeless(v) for k, v in details.items() if not _PASSES.fullmatch(k)}
    if isinstance(details, list | tuple):
        return [timeless(value) for value in details]
    return details


_PASSES = re.compile("(.*_)?(seconds|bytes)|memory|times|printed|pid|process|libraries")


@lru_cache(1024)
def natural(text: str) -> bytes:
    """Make a key that sorts names with numbers in them by their value; texts keep keys apart.

    >>> sorted(["d=10,m=2", "d=8,m=10", "d=8,m=2"], key=natural)
    ['d=8,m=2', 'd=8,m=10', 'd=10,m=2']
    """

    def number(found: re.Match[str]) -> str:
        digits = found[0].lstrip("0")
        return f"\1{len(digits):06}{digits}"

    return f"{re.sub('[0-9]+', number, text)}\0{text}".encode()
