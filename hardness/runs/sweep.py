"""Sweeps: grids of specs, learners, seeds and budgets, described by a TOML file or a dictionary.

    name = "hidden parities"
    seeds = 3                                # 0, 1, 2
    budget = { examples = 5_000_000, seconds = 10 }

    [[grid]]
    specs = ["parity:m=3"]
    over = { d = "8..20..2" }
    learners = ["queries", { learner = "lowdegree", over = { degree = [2, 3] } }]

Keys above the grids are defaults of every grid. Every mistake is reported in one line with its key.
No file that a sweep names is executed here: a user's learner is only a name until it runs, in a
process of its own.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec
from msgspec.structs import force_setattr

from hardness.bounds import BoundParameters
from hardness.learners import Learner, learner_spec
from hardness.learners.learner import innermost
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget
from hardness.runs.jobs import Job
from hardness.runs.names import numbers
from hardness.runs.registry import LEARNERS, OBJECTS, parse_learner
from hardness.runs.run import OracleName
from instances import disk
from instances.disk import one_line, quoted
from instances.errors import DamagedFile, UsageError, require, unknown
from instances.family import Family
from instances.limits import bytes_of
from instances.numbers import parse, write
from instances.parameters import key_values, parameter_fields, split_list
from instances.result import Result, TableRow
from instances.spec import kind_of, parse_stored, require_drawn, require_spec
from instances.userfile import split

FORMAT = "hardness-sweep/2"
MOST_RUNS = 10**6
_MOST_BYTES = 1 << 20
# A key of n parts takes tomllib n^2 steps.
_LONG_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A learner that does not support some specs of a grid: their number and the first reason."""

    grid: str
    learner: str
    specs: int
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {
            "grid": self.grid,
            "learner": self.learner,
            "specs": self.specs,
            "why": self.reason,
        }


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Each learner on each spec that it supports, with each seed and budget.

    title: the name in messages, "grid 1". cells: for each spec, learner and budget the job of the
    first seed, in the order of the file.
    """

    title: str
    cells: tuple[Job, ...]
    seeds: range | tuple[int, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def works(self) -> Iterator[Job]:
        """The jobs: all cells with the first seed, then with the second, and so on."""
        for seed in self.seeds:
            for cell in self.cells:
                yield msgspec.structs.replace(cell, seed=seed)


@dataclass(frozen=True, kw_only=True, repr=False)
class Sweep(Result):
    """A sweep: its grids in the order of the file.

    toml: the text of the file. source: the path of a file of runs. done: how many runs of the sweep
    that file holds, None if no file was read.

    >>> Sweep(name="empty", toml="").count
    0
    """

    name: str
    toml: str
    grids: tuple[Grid, ...] = ()
    source: str = ""
    done: int | None = None

    @property
    def count(self) -> int:
        """The number of runs."""
        return sum(len(grid.cells) * len(grid.seeds) for grid in self.grids)

    @property
    def works(self) -> list[Job]:
        """The jobs of all grids, each once."""
        jobs = (job for grid in self.grids for job in grid.works)
        return list(
            {(job.spec, job.learner, job.seed, job.budget, job.tau): job for job in jobs}.values()
        )

    def filed(self) -> dict[str, Any]:
        """Return what a file of runs stores as its request."""
        return {"format": FORMAT, "name": self.name, "toml": self.toml}

    def _rows(self) -> list[TableRow]:
        rows: list[TableRow] = []
        for grid in self.grids:
            for name in dict.fromkeys(cell.learner for cell in grid.cells):
                cells = [cell for cell in grid.cells if cell.learner == name]
                seconds = [cell.budget.seconds for cell in cells]
                most = None if None in seconds else len(grid.seeds) * sum(s or 0 for s in seconds)
                row = {"grid": grid.title, "learner": name, "specs": len({c.spec for c in cells})}
                rows.append({**row, "runs": len(cells) * len(grid.seeds), "at most s": most})
        return rows

    def to_dict(self) -> dict[str, Any]:
        """Return as JSON how many runs each grid has, and which learners are left out."""
        left_out = [learner.to_dict() for grid in self.grids for learner in grid.left_out]
        done = {} if self.done is None else {"file": self.source, "done": self.done}
        return {
            "name": self.name,
            "runs": self.count,
            **done,
            "parts": self._rows(),
            "left_out": left_out,
        }


def read_sweep(source: Path | Mapping[str, Any]) -> Sweep:
    """Read a sweep from its file or a dictionary; raises UsageError with the place of a mistake."""
    if not isinstance(source, Path):
        data = dict(source) if "grid" in source else _as_grid(source)
        return read_data(data, "the dictionary given", "")
    try:
        text = disk.read_text(source, _MOST_BYTES)
    except (DamagedFile, UsageError) as error:
        raise UsageError(
            f"{error}: a sweep file (TOML) is needed: docs/sweeps.md shows one"
        ) from error
    return read_text(text.removeprefix("\ufeff"), str(source)[:200])


def _as_grid(source: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the dictionary of a single grid into that of a sweep."""
    above = {"name", "format"}
    header = {name: value for name, value in source.items() if name in above}
    return {**header, "grid": [{name: v for name, v in source.items() if name not in above}]}


def read_text(text: str, where: str) -> Sweep:
    """Read the text of a sweep file; `where` is its name in messages.

    >>> lines = ["[[grid]]", 'specs = "parity:m=2"', 'over = {d = "8..10"}']
    >>> lines += ['learners = ["queries"]', "seeds = 5"]
    >>> read_text(chr(10).join(lines), "few.toml").count
    15
    """
    try:
        data = _parsed(text)
    except UsageError as error:
        raise UsageError(f"{where}: {one_line(error, 900)}") from error
    return read_data(data, where, text)


def read_data(data: Mapping[str, Any], where: str, text: str) -> Sweep:
    """Read the content of a sweep file.

    where: the name of the file in messages. text: the TOML text, stored with the runs.
    """
    try:
        if old := next((name for name in _WITHDRAWN_KEYS if name in data), None):
            raise UsageError(f"{old}: {_WITHDRAWN_KEYS[old]}")
        if data.get("format", FORMAT) != FORMAT:
            raise UsageError(f'format: {quoted(data["format"])}: this version reads "{FORMAT}"')
        file = _convert(data, _File)
        grids = list[Grid]()
        for i, table in enumerate(file.grid, 1):
            with _at(f"grid[{i}]"):
                grids.append(_grid(table, file, f"grid {i}"))
        sweep = Sweep(name=file.name or Path(where).stem, toml=text, grids=tuple(grids))
        require(
            sweep.count <= MOST_RUNS,
            f"{sweep.count} runs asked for, over {MOST_RUNS}: ask for fewer sizes, seeds or "
            "learners, or write several files",
        )
        return sweep
    except UsageError as error:
        raise UsageError(f"{where}: {one_line(error, 900)}") from error


_WITHDRAWN_KEYS = {  # keys of earlier versions, with what to write instead
    "runs": "write [[grid]] with specs = [...] in place of [[runs]] with spec",
    "climbs": "`hardness stress` runs ladders: a file of a sweep has grids alone",
    "least": "`hardness least` finds thresholds: a file of a sweep has grids alone",
    "limits": "a run has its budget, and a worker that dies costs one more try: leave limits out",
    "certify": "certificates are made when they are asked for: leave certify out",
}


# Reading a file, and the key of a mistake


def _parsed(text: str) -> dict[str, Any]:
    """Parse TOML; a number with more digits than float64 keeps is refused."""
    if _LONG_KEY.search(text):
        raise UsageError("a key of over 100 parts: sweep files have none")
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except RecursionError as error:
        raise UsageError("its values are nested too deep for a sweep file") from error
    except ValueError as error:  # its text has the line and the column
        raise UsageError(f"{one_line(error)[:200]}: mend the TOML") from error


def _decimal(text: str) -> int | float:
    """Read a TOML float, and 1e5 as an integer; raises ValueError for more digits than float64."""
    value = float(text)
    if isfinite(value) and Decimal(text) != Decimal(repr(value)):
        raise ValueError(f"{text[:40]}: a number of over 15 digits is written as a text")
    return int(value) if value.is_integer() and abs(value) < 1e18 else value


class _Misplaced(UsageError):
    """A mistake with its key, as "grid[1].seeds"; lists are counted from 1."""

    def __init__(self, key: str, reason: object) -> None:
        super().__init__(f"{key}: {reason}" if key else reason)
        self.key, self.reason = key, reason

    def within(self, key: str) -> "_Misplaced":
        """Return the mistake with the key of the table around it in front of its own."""
        return _Misplaced(f"{key}.{self.key}".replace(".[", "[").strip("."), self.reason)


@contextmanager
def _at(key: str) -> Iterator[None]:
    """Put a key in front of the message of a mistake that is raised in the block."""
    try:
        yield
    except _Misplaced as error:
        raise error.within(key) from error
    except UsageError as error:
        raise _Misplaced(key, error) from error


def _convert(data: Any, kind: Any) -> Any:
    """Convert a value to a type; raises UsageError with the key of a part that does not fit.

    Messages of msgspec are rewritten in the words of a TOML file.
    """
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        message, _, path = str(error).partition(" - at `$")
        steps = _STEP.findall(path)
        key = "".join(f".{name}" if name else f"[{int(index) + 1}]" for name, index in steps)
        cause = error.__cause__
        if isinstance(cause, _Misplaced):  # raised by `_Table.__post_init__`
            raise cause.within(key) from error
        value = reduce(lambda inner, step: inner[step[0] or int(step[1])], steps, data)
        if odd := _UNKNOWN.search(message):
            key += f".{odd[1][:40]}"
            message = str(unknown("key", odd[1][:40], sorted(_keys(steps))))
        elif lacking := _MISSING.fullmatch(message):
            message = f"{lacking[1]} is missing: write {lacking[1]} = [...]"
        else:
            quotation = "" if isinstance(value, dict | list) else f"{quoted(value)}: "
            message = quotation + disk.in_words(message)
        raise _Misplaced(key.strip("."), message) from error


_STEP = re.compile(r"\.([^.\[`]+)|\[([0-9]+)\]")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)


# The tables of a file and their keys. A value that its type does not describe fully is read by one
# of `_READERS` when its table is made.

_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_NotEmpty = msgspec.Meta(min_length=1)
_None = Literal["none"]
# A text, as "1/10", is read exactly.
_Number = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)] | float | str
_Values = _Number | Annotated[list[_Number], _NotEmpty]
_Over = Annotated[dict[str, Any], _NotEmpty]  # of _Values
_Axis = Sequence[Any]  # values of a parameter; a range stays a range
_Counts = _Count | Annotated[list[_Count | _None], _NotEmpty] | _None
_Times = _Seconds | Annotated[list[_Seconds | _None], _NotEmpty] | _None
_Sizes = _Count | str | Annotated[list[_Count | str], _NotEmpty]


def _seeds(value: Any) -> range | tuple[int, ...]:
    """Read seeds: 5 for 0..4, "3..7", or a list."""
    if isinstance(value, list):
        return tuple(dict.fromkeys(value))
    if not isinstance(value, str):
        return range(value)
    read = numbers(value, "seeds") or ()
    if not read or not (isinstance(read, range) or all(isinstance(v, int) for v in read)):
        raise UsageError(f"{quoted(value)}: a range such as 3..7 is needed")
    return read  # type: ignore[return-value]


def _over(value: Mapping[str, Any]) -> dict[str, _Axis]:
    """Read the values of each parameter: a range or a list as text, or a list of values."""
    read: dict[str, _Axis] = {}
    for name, values in value.items():
        with _at(name[:40]):
            read[name] = _axis(_convert(values, _Values), name)
    return read


def _axis(value: Any, name: str) -> _Axis:
    if isinstance(value, str):
        read = numbers(value, name)
        if read is not None:
            return read
        if ".." in value:
            raise UsageError(f"{quoted(value)}: write 8..20, 8..20..4, 8..64..*2 or a list")
    several = value if isinstance(value, list) else [value]
    parts = [split_list(v) if isinstance(v, str) else [_exact(v, name)] for v in several]
    return tuple(item for part in parts for item in part)


def _exact(value: Any, name: str) -> Fraction:
    """Read a number exactly as it is written, so 0.1 as 1/10."""
    if isinstance(value, str) or not isfinite(value):
        return parse(str(value), Fraction, name)
    return Fraction(str(value))


def _size(value: Any) -> Any:
    """Read one or several numbers of bytes: "2GB", an integer, or "none" for no limit."""
    if isinstance(value, list):
        return [_size(part) for part in value]
    if isinstance(value, int) or value == "none":
        return value
    return bytes_of(value[:1000], "a size of")


def _oracle(value: str) -> str:
    if value not in get_args(OracleName):
        raise unknown("oracle", value[:40], get_args(OracleName))
    return value


_READERS = {
    "seeds": _seeds,
    "over": _over,
    "memory": _size,
    "oracle": _oracle,
    "tau": lambda value: BoundParameters(tau=_exact(value, "tau")).tau,
}


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value, read = getattr(self, name), _READERS.get(name)
            if read and value is not None:
                with _at(name):
                    force_setattr(self, name, read(value))


class _Varied(_Table, frozen=True, kw_only=True):
    learner: _Line
    over: _Over | None = None


class _Limited(_Table, frozen=True):
    examples: _Counts | None = None
    queries: _Counts | None = None
    values: _Counts | None = None
    seconds: _Times | None = None
    cpu_seconds: _Times | None = None
    memory: _Sizes | None = None

    @property
    def axes(self) -> dict[str, list[Any]]:
        """The values of each limit in the table, by its name in a Budget; None for "none"."""
        axes = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if value is not None:
                values = dict.fromkeys(value if isinstance(value, list) else [value])
                field = "memory_bytes" if name == "memory" else name
                axes[field] = [None if limit == "none" else limit for limit in values]
        return axes


class _Shared(_Table, frozen=True):
    seeds: _Count | str | Annotated[list[_Natural], _NotEmpty] | None = None
    learners: Annotated[list[_Line | _Varied], _NotEmpty] | _Line | _Varied | None = None
    budget: _Limited = _Limited()
    tau: _Number | None = None
    oracle: _Line | None = None


class _Grid(_Shared, frozen=True, kw_only=True):
    specs: _Line | Annotated[list[_Line], _NotEmpty]
    over: _Over | None = None


class _File(_Shared, frozen=True, kw_only=True):
    format: str = FORMAT
    name: _Line | None = None
    grid: Annotated[list[_Grid], _NotEmpty]


_TABLES: dict[str, type[_Table]] = {
    "": _File, "grid": _Grid, "budget": _Limited, "learners": _Varied,
}  # fmt: skip


def _keys(steps: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the keys of the table at a path; steps: pairs of a key and a list index as text."""
    table = next((name for name, _ in reversed(steps) if name), "")
    return _TABLES[table].__struct_fields__


# From tables to grids


def _first_set(*values: Any) -> Any:
    """Return the first value that is not None: of the grid, of the file, or the default."""
    return next(value for value in values if value is not None)


def _grid(grid: _Grid, file: _File, title: str) -> Grid:
    """Make a grid from its table and the defaults of the file."""
    names = _first_set(grid.learners, file.learners, ())
    if not names:
        raise UsageError("learners is missing: write learners = [...]")
    learners, tau = _learners(names), _first_set(grid.tau, file.tau, Fraction(1, 10))
    seeds = _first_set(grid.seeds, file.seeds, range(1))
    limits, axes = file.budget.axes | grid.budget.axes, grid.over or {}
    specs = [grid.specs] if isinstance(grid.specs, str) else grid.specs
    spec_count = len(specs) * prod(map(len, axes.values()))
    budget_count = prod(map(len, limits.values()))
    if (count := spec_count * len(learners) * budget_count * len(seeds)) > MOST_RUNS:
        raise _Misplaced(
            "over",
            f"{spec_count} specs x {len(learners)} learners x {budget_count} budgets x "
            f"{len(seeds)} seeds, {count} runs: at most {MOST_RUNS}",
        )
    oracle = _first_set(grid.oracle, file.oracle, "samples")
    budgets = [
        Budget(**dict(zip(limits, chosen, strict=True))) for chosen in product(*limits.values())
    ]
    cells, refused = list[Job](), dict[str, list[str]]()
    for family in _families(grid.specs, axes):
        for name, learner in learners.items():
            if reason := learner.supports(family):
                refused.setdefault(name, []).append(reason)
                continue
            cells += [
                Job(
                    spec=family.spec,
                    learner=name,
                    seed=seeds[0],
                    budget=budget,
                    oracle=oracle,
                    tau=tau,
                )
                for budget in budgets
            ]
    if not cells:
        why_not = [f"{name.partition(':')[0]}: {reasons[0]}" for name, reasons in refused.items()]
        raise UsageError(f"nothing can run: {'; '.join(why_not[:3])}")
    left_out = (
        LeftOut(grid=title, learner=name, specs=len(reasons), reason=reasons[0])
        for name, reasons in refused.items()
    )
    return Grid(title=title, cells=tuple(cells), seeds=seeds, left_out=tuple(left_out))


def _filled(axes: Mapping[str, _Axis], subject: str) -> Iterator[dict[str, str]]:
    """Yield every combination of the values of the parameters, as texts; the last varies first.

    subject: what the combinations are, for the message if there are too many.
    """
    if prod(map(len, axes.values())) > MOST_RUNS:
        raise UsageError(f"over {MOST_RUNS} {subject}: ask for fewer values")
    for chosen in product(*axes.values()):
        yield {name: write(value) for name, value in zip(axes, chosen, strict=True)}


def _stored(spec: str) -> Family:
    """Make the family of a spec; raises UsageError for a spec that would execute a file."""
    if split(spec) is not None:
        raise UsageError(
            f"'{spec[:200]}': no file is executed that a sweep names: give --family "
            "path.py:Name, and here the family's own name"
        )
    family = require_drawn(parse_stored(spec))
    require_spec(family, "a sweep names it")
    return family


def _families(named: str | list[str], axes: Mapping[str, _Axis]) -> Iterator[Family]:
    """Yield the family of each spec at each point of the axes, without repetition.

    Raises UsageError for a wrong spec.
    """
    seen = set[str]()
    for i, spec in enumerate([named] if isinstance(named, str) else named, 1):
        key = "specs" if isinstance(named, str) else f"specs[{i}]"
        with _at("over" if axes and split(spec) is None else key):
            if axes and kind_of(spec.partition(":")[0]) is None:  # a name of the catalog
                name, _, rest = _stored(spec).spec.partition(":")
                fixed = (pair for pair in split_list(rest) if pair.partition("=")[0] not in axes)
                spec = f"{name}:{','.join(fixed)}"
            for chosen in _filled(axes, "specs"):
                family = _stored(_with(spec, kind_of(spec.partition(":")[0]), chosen))
                if family.spec not in seen:
                    seen.add(family.spec)
                    yield family


def _with(text: str, kind: Any, chosen: dict[str, str]) -> str:
    """Add chosen parameters to "name:key=value"; raises UsageError for a key `kind` lacks."""
    if not chosen:
        return text
    name, _, rest = text.partition(":")
    keys = [parameter.name for parameter in parameter_fields(kind)]
    for key in chosen:
        if key not in keys:
            raise unknown(f"parameter of {name}", key[:40], keys)
    pairs = key_values(rest, name, keys)
    for key in chosen.keys() & pairs.keys():
        raise UsageError(f"{key} stands in {text[:80]} and in over: give it once")
    pairs |= chosen
    return f"{name}:{','.join(f'{key}={value}' for key, value in pairs.items())}"


def _learners(named: Any) -> dict[str, Learner]:
    """Make the learners of a table, each once, by their canonical names."""
    learners: dict[str, Learner] = {}
    for i, entry in enumerate(named if isinstance(named, list) else [named], 1):
        with _at(f"learners[{i}]"):
            varied = isinstance(entry, _Varied)
            text, axes = (entry.learner, entry.over or {}) if varied else (entry, {})
            with _at("over" if axes else ""):
                made = [_learner(text, chosen) for chosen in _filled(axes, "learners")]
            learners |= {learner_spec(learner): learner for learner in made}
    return learners


def _learner(text: str, chosen: dict[str, str]) -> Learner:
    """Make a learner with chosen parameters; its file must exist, but is not executed."""
    if kind := LEARNERS.get(text.partition(":")[0]):
        text = _with(text, kind, chosen)
    elif chosen:
        require(text not in OBJECTS, f"'{text}' is an object: it has no parameters to vary")
        named = split(text)
        pairs = split_list(named.parameters) if named else ()
        for key in chosen.keys() & {pair.partition("=")[0] for pair in pairs}:
            raise UsageError(f"{key} stands in {text[:80]} and in over: give it once")
        more = ",".join(f"{key}={value}" for key, value in chosen.items())
        text += ("," if named and named.parameters else ":") + more
    learner = parse_learner(text)
    inner = innermost(learner)
    if isinstance(inner, SubprocessLearner) and not inner.file.is_file():
        raise UsageError(
            f"'{text[:200]}': there is no file {inner.file}: name it relative to the "
            "folder that the sweep is started in"
        )
    return learner
