"""A run as a row of plain columns: there, back, what every execution shares, and the order."""

import contextlib
import json
import math
import re
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from hardness.runs.names import Value, whole
from instances import numbers
from instances.errors import UsageError
from instances.numbers import write
from instances.parameters import split_list

if TYPE_CHECKING:
    from pandas import DataFrame

Record = dict[str, Any]  # a row of a table by its columns

# The columns of a run, in the order of the table `runs` and of exports, with what they hold.
# `values` is a word of SQL, and of DataFrames: the column of a run's values is `values_asked`.
_KINDS = {
    "key spec family parameters learner learner_name learner_parameters": "text",
    "seed budget_examples budget_queries budget_values": "int",
    "budget_seconds budget_cpu_seconds": "float",
    "budget_memory_bytes": "int",
    "outcome": "text",
    "passed reproducible": "bool",
    "bound": "text",
    "risk risk_low risk_high risk_confidence": "float",
    "risk_examples": "int",
    "risk_unclipped": "float",
    "examples queries values_asked": "int",
    "secret_recovered": "bool",
    "details": "text",
    "family_revision learner_revision": "int",
    "seconds": "float",
    "peak_bytes attempts": "int",
    "machine versions sweep_group axes": "text",
}
COLUMNS = {name: kind for names, kind in _KINDS.items() for name in names.split()}
JSON = ("parameters", "learner_parameters", "details", "versions")
# Columns that differ from one execution of a run to the next.
PASSING = ("seconds", "peak_bytes", "attempts", "machine", "versions", "sweep_group", "axes")
BUDGET = ("examples", "queries", "values", "seconds", "cpu_seconds", "memory_bytes")
# Columns that stand in parts of a run's JSON; the others are names of it, or follow from it.
_PARTS = {
    **{f"budget_{name}": ("budget", name) for name in BUDGET},
    **{name: ("usage", name) for name in ("examples", "queries", "seconds", "peak_bytes")},
    "values_asked": ("usage", "values"),
    **{f"{name}_revision": ("revisions", name) for name in ("family", "learner")},
}
_SAME = (
    *("spec", "learner", "seed", "outcome", "secret_recovered", "machine", "key", "attempts"),
    *("risk", "risk_confidence", "risk_examples", "risk_unclipped"),
)
_NAME = re.compile(r"[A-Za-z][\w-]*")
compact = json.JSONEncoder(separators=(",", ":"), allow_nan=False, sort_keys=True).encode


class Row(Protocol):
    """A run, of which a table is made."""

    @property
    def spec(self) -> str:
        """Of its problem."""

    @property
    def details(self) -> dict[str, Any]:
        """What its learner said."""

    @property
    def solved(self) -> bool:
        """Whether it passed in time."""

    def record(self) -> Record:
        """Lay it out in columns."""


def record_of(data: dict[str, Any], own: Record) -> Record:
    """Lay out the JSON of a run in columns: plain values, and JSON as text where one has parts.

    own: columns that are no part of its JSON.
    """
    (family, parameters), (learner, given) = named(data["spec"]), named(data["learner"])
    low, high = data["risk_interval"] or (None, None)
    found = {
        **data,
        **{name: data[part].get(inner) for name, (part, inner) in _PARTS.items()},
        **{"family": family, "parameters": parameters},
        **{"learner_name": learner, "learner_parameters": given},
        **{"risk_low": low, "risk_high": high},
        **{name: compact(data[name]) for name in ("details", "versions")},
        **own,
    }
    return {name: found[name] for name in COLUMNS}


def table(runs: Iterable[Row]) -> "DataFrame":
    """Make the tidy table of runs: a row a run, in their order, with the run itself as `run`.

    Its columns are those of a store's table `runs`, but for JSON, and `solved`: passed in time.
    Parameters of specs are columns `param_d`, ..., exact: an int or a Fraction where the spec
    writes a number, else its text; what a run does not have is missing. Leave `run` out before
    `to_parquet`, and write Fractions as floats.

    >>> from hardness.runs import compare
    >>> found = table(compare("parity:m=2", "d=6..8", ("elimination",), seeds=2).runs)
    >>> found.groupby("param_d")["solved"].mean().tolist()
    [1.0, 1.0, 1.0]
    """
    from instances.result import columns

    rows = list(runs)
    records = [row.record() for row in rows]
    specs = {row.spec: parameters_of(row.spec) for row in rows}
    names = dict.fromkeys(name for one in specs.values() for name in one)
    values: dict[str, list[Any]] = {
        **{name: [one[name] for one in records] for name in COLUMNS if name not in JSON},
        "family": [row.spec.partition(":")[0] for row in rows],
        **{f"param_{name}": [specs[row.spec].get(name) for row in rows] for name in names},
        "solved": [row.solved for row in rows],
        "oracle": [row.details.get("oracle") for row in rows],
        "tau": [row.details.get("tau") for row in rows],
        "run": rows,
    }
    return columns(values)


def runs_frame(runs: Iterable[Row]) -> "DataFrame":
    """Make the tidy table without its column of runs: plain values alone, as files hold them."""
    found = table(runs).drop(columns="run")
    first = [name for name in ("learner", "spec", "seed", "passed") if name in found]
    return found[[*first, *(name for name in found if name not in first)]]


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


_BOOLS = {0: False, 1: True}


def exact(record: Record) -> Record:
    """Give the integers and bools of a run back their types; raises LookupError for no bool."""
    found = dict(record)
    for name, kind in COLUMNS.items():
        if kind == "bool" and found[name] is not None:
            found[name] = _BOOLS[found[name]]
        elif kind == "int" and isinstance(found[name], str):
            found[name] = int(found[name])
    return found


def data_of(record: Record) -> dict[str, Any]:
    """Give what `Run.read` takes of the columns of a run; raises LookupError or ValueError."""
    found: dict[str, Any] = {"budget": {}, "usage": {}, "revisions": {}}
    for name, (part, inner) in _PARTS.items():
        if record[name] is not None:
            found[part][inner] = record[name]
    ends = None if record["risk"] is None else (record["risk_low"], record["risk_high"])
    return {
        **{name: record[name] for name in _SAME},
        **found,
        "risk_interval": ends,
        "details": msgspec.json.decode(record["details"]),
        "versions": _versions(record["versions"]),
        "group": record["sweep_group"] or "",
        "axes": record["axes"].split(",") if record["axes"] else (),
    }


_versions = lru_cache(64)(msgspec.json.decode)


def comparable(record: Record) -> Record:
    """Leave what is the same wherever and whenever a run is executed."""
    found = {name: value for name, value in record.items() if name not in PASSING}
    return {**found, "details": compact(timeless(msgspec.json.decode(record["details"])))}


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


_PASSES = re.compile("(.*_)?(seconds|bytes)|times|printed|pid|process|libraries")


@lru_cache(1024)
def named(text: str) -> tuple[str, str]:
    """Take "name:key=value,..." apart into name and JSON; other texts, as a file's, are kept whole.

    >>> named("parity:d=8,m=2,noise=0.1,rho=1/3")
    ('parity', '{"d":8,"m":2,"noise":0.1,"rho":"1/3"}')
    """
    name, _, rest = text.partition(":")
    try:
        pairs = [part.partition("=") for part in split_list(rest)] if rest else []
    except UsageError:  # brackets that do not match: no list of parameters
        return text, "{}"
    if not _NAME.fullmatch(name) or not all(equals for _, equals, _ in pairs):
        return text, "{}"
    return name, compact({key: _value(value) for key, _, value in pairs})


def _value(text: str) -> int | float | str:
    """Read a number that JSON holds exactly enough; anything else stays a text."""
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            value = kind(text)
            return value if abs(value) < 2**63 and math.isfinite(value) else text
    return text


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
