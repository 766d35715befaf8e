"""Sweep files: TOML with specs, learners, seeds and budgets, read into the jobs of a Sweep.

Every mistake is one line with the file and the key. Nothing that a file names is executed
here: a user's learner is known by its name until it runs, in a process of its own.

In order: what a sweep is; what may stand in a file, each table read by itself; how they make a
sweep; specs and learners over ranges of their parameters.
"""

import hashlib
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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
from hardness.runs.columns import numbers_of
from hardness.runs.least import PILOTS, SEEDS, TOTAL, Least, Unit, most_of, require_findable
from hardness.runs.names import brief_spec, numbers
from hardness.runs.processes import HardLimits
from hardness.runs.registry import LEARNERS, OBJECTS, parse_learner
from hardness.runs.run import OracleName
from hardness.sweep.jobs import CertificateJob, RunJob, run_job
from instances import disk
from instances.disk import one_line, shown
from instances.errors import DamagedFile, UsageError, require, unknown
from instances.family import Family
from instances.ladders import Ladder, ladder, ladder_of
from instances.limits import bytes_of
from instances.numbers import parse, write
from instances.parameters import key_values, listed, split_list
from instances.spec import file_of, kind_of, parse_stored, require_drawn, require_stored
from instances.userfile import split

FORMAT = "hardness-sweep/1"
MOST_RUNS = 10**7  # without --yes
_MOST_BYTES = 1 << 20
_MOST_CELLS = 10**6  # they are listed
_MOST_TRIALS = 1000  # of a rung
# A key of n parts takes tomllib n^2 steps.
_LONG_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A learner that does not take some specs of a group: how many, and the first reason."""

    learner: str
    specs: int
    reasons: int  # that differ
    why: str


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Every learner on every spec, seed and budget.

    title: as in messages, "runs 1". cells: the job of seed 0 for each spec, learner that takes it,
    and budget, in the order of the file. axes: the parameters of specs that `over` names.
    certificates: of the specs with exact evidence, unless the file wants none.
    """

    title: str
    cells: tuple[RunJob, ...]
    seeds: range | tuple[int, ...]
    axes: tuple[str, ...] = ()
    certificates: tuple[CertificateJob, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.cells) * len(self.seeds)


@dataclass(frozen=True, kw_only=True)
class Climbs:
    """Learners on a ladder: as `stress` does, each until it passes on none of a rung's seeds.

    base_seed: None to draw it from the operating system when the sweep starts. budget: stands in
    place of that of every rung.
    """

    title: str
    ladder: Ladder
    learners: tuple[str, ...]
    seeds: int
    base_seed: int | None
    budget: Budget

    @property
    def count(self) -> int:
        """How many runs there are at most."""
        return len(self.learners) * self.seeds * len(self.ladder.rungs)


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep: its groups in the order of the file, and the hard limits of every attempt.

    text: of the file.

    >>> Sweep(name="empty", text="").count
    0
    """

    name: str
    text: str
    grids: tuple[Grid, ...] = ()
    climbs: tuple[Climbs, ...] = ()
    least: tuple[Least, ...] = ()
    limits: HardLimits = field(default_factory=HardLimits)

    @property
    def sha256(self) -> str:
        """What a store knows the sweep by: the hash of its file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def named(self, group: Grid | Climbs) -> str:
        """Name one of its groups as a store does, among those of other sweeps."""
        return f"{group.title} of {self.sha256[:8]}"

    @property
    def count(self) -> int:
        """How many runs and searches there are, at most where some learners may stop climbing."""
        groups: tuple[Grid | Climbs, ...] = (*self.grids, *self.climbs)
        searches = (len(g.specs) * len(g.learners) * (g.seeds + PILOTS) for g in self.least)
        return sum(group.count for group in groups) + sum(searches)


def read_sweep(path: Path) -> Sweep:
    """Read a sweep file; raises UsageError with the file and the key of a mistake."""
    try:
        text = disk.read_text(path, _MOST_BYTES)
    except DamagedFile as error:
        raise UsageError(f"{error}: a sweep file (TOML) is needed, of a page or so") from error
    return read_text(text.removeprefix("\ufeff"), str(path)[:200])


def read_text(text: str, where: str) -> Sweep:
    """Read the text of a sweep file; `where` is its name in messages.

    >>> lines = ['format = "hardness-sweep/1"', 'name = "few"', "[[runs]]", 'spec = "parity:m=2"']
    >>> lines += ['over = {d = "8..10"}', 'learners = ["queries"]', "seeds = 5"]
    >>> read_text(chr(10).join(lines), "few.toml").count
    15
    """
    try:
        return _sweep(_convert(_parsed(text), _File), text)
    except UsageError as error:
        raise UsageError(f"{where}: {one_line(error, 900)}") from error


def require_count(sweep: Sweep, yes: bool = False) -> None:
    """Refuse a sweep of over 1e7 runs unless `yes`; raises UsageError with the number."""
    if sweep.count > MOST_RUNS and not yes:
        raise UsageError(
            f"{sweep.name[:60]}: {sweep.count} runs asked for, over {MOST_RUNS}: ask for fewer "
            "sizes, seeds or learners, or say --yes"
        )


# Reading, and the place of a mistake


def _parsed(text: str) -> dict[str, Any]:
    """Parse TOML, its numbers exactly."""
    if _LONG_KEY.search(text):
        raise UsageError("a key of over 100 parts given: sweep files have none")
    try:
        data = tomllib.loads(text, parse_float=_decimal)
    except RecursionError as error:
        raise UsageError("its values are nested too deep for a sweep file") from error
    except ValueError as error:  # which says the line and the column
        raise UsageError(f"{one_line(error)[:200]}: mend the TOML") from error
    if data.get("format") != FORMAT:
        given = shown(data["format"]) if "format" in data else "nothing"
        raise UsageError(f'format: {given} given: this version reads format = "{FORMAT}"')
    return data


def _decimal(text: str) -> int | float:
    """Read a TOML float, 1e5 as an integer; raises ValueError for digits that no float holds."""
    value = float(text)
    if isfinite(value) and Decimal(text) != Decimal(repr(value)):
        raise ValueError(f"{text[:40]} given: a number of over 15 digits is written as a text")
    return int(value) if value.is_integer() and abs(value) < 1e18 else value


class _Misplaced(UsageError):
    """A mistake with its key, "runs[1].seeds", where lists are counted from 1."""

    def __init__(self, key: str, said: object) -> None:
        super().__init__(f"{key}: {said}" if key else said)
        self.key, self.said = key, said

    def within(self, key: str) -> "_Misplaced":
        """Say it with the key of what it stands in."""
        return _Misplaced(f"{key}.{self.key}".replace(".[", "[").strip("."), self.said)


@contextmanager
def _at(key: str) -> Iterator[None]:
    """Say the key of a mistake that is found inside."""
    try:
        yield
    except _Misplaced as error:
        raise error.within(key) from error
    except UsageError as error:
        raise _Misplaced(key, error) from error


def _convert(data: Any, kind: Any) -> Any:
    """Hold a value against a type; raises UsageError with the key of what does not fit."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        said, _, place = str(error).partition(" - at `$")
        steps = _STEP.findall(place)
        key = "".join(f".{name}" if name else f"[{int(index) + 1}]" for name, index in steps)
        found = error.__cause__
        if isinstance(found, _Misplaced):  # of a table that read itself
            raise found.within(key) from error
        given = reduce(lambda inner, step: inner[step[0] or int(step[1])], steps, data)
        if odd := _UNKNOWN.search(said):
            key += f".{odd[1][:40]}"
            said = str(unknown("key", odd[1][:40], sorted(_keys(steps))))
        elif not isinstance(given, dict | list):
            said = f"{shown(given)} given: {said}"
        if wrong := _OTHER.fullmatch(said):
            wanted, got = ([_PLAIN.get(k, k) for k in one.split(" | ")] for one in wrong.groups())
            said = f"{' or '.join(one for one in wanted if one)} is needed, not {got[0]}"
        if lacking := _MISSING.fullmatch(said):
            said = f'{lacking[1]} is missing: write {lacking[1]} = "..."'
        said = said.removeprefix("Object ").replace(" | null", "")
        raise _Misplaced(key.strip("."), said) from error


_STEP = re.compile(r"\.([^.\[`]+)|\[([0-9]+)\]")
_OTHER = re.compile(r"Expected `([^`]*)`, got `([^`]*)`")
_PLAIN = {
    "str": "a text", "int": "an integer", "float": "a number", "bool": "true or false",
    "array": "a list", "object": "a table", "null": "",
}  # fmt: skip
_MISSING = re.compile(r"Object missing required field `([^`]*)`")
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)


# What may stand in a file: its tables and their keys. What a type does not say a table reads itself

_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_Some = msgspec.Meta(min_length=1)
_None = Literal["none"]
# Exact where it is a text, as "1/10".
_Number = Annotated[int, msgspec.Meta(ge=-(10**18), le=10**18)] | float | str
_Values = _Number | Annotated[list[_Number], _Some]
_Over = Annotated[dict[str, Any], _Some]  # of _Values
_Axis = Sequence[Any]  # values of a parameter: a range is not made a list
_Counts = _Count | Annotated[list[_Count | _None], _Some] | _None
_Times = _Seconds | Annotated[list[_Seconds | _None], _Some] | _None
_Sizes = _Count | str | Annotated[list[_Count | str], _Some]


def _seeds(given: Any) -> range | tuple[int, ...]:
    """Read seeds: 5 for 0..4, "3..7", or a list."""
    if isinstance(given, list):
        return tuple(dict.fromkeys(given))
    if not isinstance(given, str):
        return range(given)
    found = numbers(given, "seeds") or ()
    if not found or not (isinstance(found, range) or all(isinstance(v, int) for v in found)):
        raise UsageError(f"{shown(given)} given: a range such as 3..7 is needed")
    return found  # type: ignore[return-value]


def _over(given: Mapping[str, Any]) -> dict[str, _Axis]:
    """Read the values of parameters: each a range or a list as text, or a list of values."""
    found: dict[str, _Axis] = {}
    for name, values in given.items():
        with _at(name[:40]):
            found[name] = _axis(_convert(values, _Values), name)
    return found


def _axis(given: Any, name: str) -> _Axis:
    if isinstance(given, str):
        found = numbers(given, name)
        if found is not None:
            return found
        if ".." in given:
            raise UsageError(f"{shown(given)} given: write 8..20, 8..20..4, 8..64..*2 or a list")
    several = given if isinstance(given, list) else [given]
    every = [split_list(one) if isinstance(one, str) else [_exact(one, name)] for one in several]
    return tuple(value for some in every for value in some)


def _exact(given: Any, what: str) -> Fraction:
    """Read a number exactly as it is written: 0.1 is 1/10."""
    if isinstance(given, str) or not isfinite(given):
        return parse(str(given), Fraction, what)
    return Fraction(str(given))


def _size(given: Any) -> Any:
    """Read numbers of bytes, "2GB" or an integer; "none" is no limit."""
    if isinstance(given, list):
        return [_size(one) for one in given]
    if isinstance(given, int) or given == "none":
        return given
    return bytes_of(given[:1000], "a size of")


def _oracle(given: str) -> str:
    if given not in get_args(OracleName):
        raise unknown("oracle", given[:40], get_args(OracleName))
    return given


_READERS = {
    "seeds": _seeds,
    "over": _over,
    "memory": _size,
    "oracle": _oracle,
    "tau": lambda given: BoundParameters(tau=_exact(given, "tau")).tau,
}


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            given, read = getattr(self, name), _READERS.get(name)
            if read and given is not None:
                with _at(name):
                    force_setattr(self, name, read(given))


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
        """The values of every limit that is given, by its name in a Budget; None for "none"."""
        found = {}
        for name in self.__struct_fields__:
            given = getattr(self, name)
            if given is not None:
                listed = dict.fromkeys(given if isinstance(given, list) else [given])
                where = "memory_bytes" if name == "memory" else name
                found[where] = [None if one == "none" else one for one in listed]
        return found


class _Group(_Table, frozen=True):
    seeds: _Count | str | Annotated[list[_Natural], _Some] | None = None
    learners: Annotated[list[_Line | _Varied], _Some] | _Line | _Varied | None = None
    budget: _Limited = _Limited()


class _Shared(_Group, frozen=True):
    tau: _Number | None = None
    oracle: _Line | None = None
    certify: bool | None = None


class _Runs(_Shared, frozen=True, kw_only=True):
    spec: _Line | Annotated[list[_Line], _Some]
    over: _Over | None = None


class _Climb(_Group, frozen=True):
    ladder: _Line | None = None
    rungs: list[_Line] | None = None
    seed: _Natural | None = None


class _Least(_Group, frozen=True, kw_only=True):
    spec: _Line | Annotated[list[_Line], _Some]
    over: _Over | None = None
    unit: Unit = "examples"
    total: _Count = TOTAL
    tau: _Number | None = None


class _Hard(_Table, frozen=True):
    seconds: _Seconds | None = None
    memory: _Count | str | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=100)] = 2


class _File(_Shared, frozen=True, kw_only=True):
    format: str
    name: _Line
    limits: _Hard = _Hard()
    runs: list[_Runs] = []
    climbs: list[_Climb] = []
    least: list[_Least] = []


_TABLES: dict[str, type[_Table]] = {
    "": _File, "runs": _Runs, "climbs": _Climb, "least": _Least, "limits": _Hard,
    "budget": _Limited, "learners": _Varied,
}  # fmt: skip


def _keys(steps: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Name the keys of the table that a place leads to."""
    table = next((name for name, _ in reversed(steps) if name), "")
    return _TABLES[table].__struct_fields__


# How they make a sweep


def _sweep(file: _File, text: str) -> Sweep:
    """Make what a file says."""
    if not (file.runs or file.climbs or file.least):
        raise UsageError("there is no group: write [[runs]], [[climbs]] or [[least]]")
    common, grids = _learners(file.learners) if file.learners else None, list[Grid]()
    for i, one in enumerate(file.runs, 1):
        with _at(f"runs[{i}]"):
            grids.append(_grid(one, file, common, f"runs {i}"))
        if sum(len(group.cells) for group in grids) > _MOST_CELLS:
            raise UsageError(
                f"at most {_MOST_CELLS} of a spec, a learner and a budget stand in a file: "
                "ask for fewer, or write several files"
            )
    climbs = list[Climbs]()
    for i, group in enumerate(file.climbs, 1):
        with _at(f"climbs[{i}]"):
            climbs.append(_climbs(group, file, common, f"climbs {i}"))
    least = list[Least]()
    for i, few in enumerate(file.least, 1):
        with _at(f"least[{i}]"):
            least += _thresholds(few, file, common)
    sweep = Sweep(
        name=file.name, text=text, grids=tuple(grids), climbs=tuple(climbs), least=tuple(least)
    )
    limits = HardLimits(
        seconds=file.limits.seconds or usual_seconds(sweep),
        memory_bytes=file.limits.memory,  # type: ignore[arg-type]  # a size that was read
        retries=file.limits.retries,
    )
    return replace(sweep, limits=limits)


def _first(*given: Any) -> Any:
    """Take what a group says, else what stands above all groups, else what is usual."""
    return next(one for one in given if one is not None)


def _named(group: _Group, common: dict[str, Learner] | None) -> dict[str, Learner]:
    found = _learners(group.learners) if group.learners else common
    if found is None:
        raise UsageError("learners is missing: write learners = [...]")
    return found


def _grid(group: _Runs, file: _File, common: dict[str, Learner] | None, title: str) -> Grid:
    learners, tau = _named(group, common), _first(group.tau, file.tau, Fraction(1, 10))
    seeds = _first(group.seeds, file.seeds, range(1))
    limits, axes = file.budget.axes | group.budget.axes, group.over or {}
    specs = [group.spec] if isinstance(group.spec, str) else group.spec
    wide, budgets = len(specs) * prod(map(len, axes.values())), prod(map(len, limits.values()))
    if (count := wide * len(learners) * budgets) > _MOST_CELLS:
        raise _Misplaced(
            "over",
            f"{wide} specs x {len(learners)} learners x {budgets} budgets, "
            f"{count * len(seeds)} runs, given: at most {_MOST_CELLS} of a spec, a learner and a "
            "budget stand in a group",
        )
    oracle = _first(group.oracle, file.oracle, "samples")
    certify = _first(group.certify, file.certify, True)
    first, *more = _budgets(limits)
    cells, certificates = list[RunJob](), list[CertificateJob]()
    refused: dict[str, list[str]] = {}
    for family in _families(group.spec, axes):
        before = len(cells)
        for learner in learners.values():
            if reason := learner.supports(family):
                refused.setdefault(learner_spec(learner), []).append(reason)
                continue
            job = run_job(family, learner, 0, first, oracle=oracle, tau=tau)
            cells += [job, *(msgspec.structs.replace(job, budget=budget) for budget in more)]
        if certify and len(cells) > before and family.hardness.evidence == "exact":
            certificates.append(
                CertificateJob(
                    spec=family.spec,
                    terms=BoundParameters(tau=tau),
                    revision=family.revision,
                    file=file_of(family.name),
                )
            )
    if not cells:
        why_not = [f"{name.partition(':')[0]}: {why[0]}" for name, why in refused.items()]
        raise UsageError(f"nothing can run: {'; '.join(why_not[:3])}")
    return Grid(
        title=title,
        cells=tuple(cells),
        seeds=seeds,
        axes=tuple(axes),
        certificates=tuple(certificates),
        left_out=tuple(
            LeftOut(learner=name, specs=len(why), reasons=len(set(why)), why=why[0])
            for name, why in refused.items()
        ),
    )


def _climbs(group: _Climb, file: _File, common: dict[str, Learner] | None, title: str) -> Climbs:
    """Read [[climbs]]: rungs have budgets of their own, so that the default one is not theirs."""
    learners = _named(group, common)
    budget, *more = _budgets(group.budget.axes)
    if more:
        raise _Misplaced("budget", "a climb has one budget: write [[climbs]] for each of them")
    count = len(_first(group.seeds, file.seeds, range(5)))
    if count > _MOST_TRIALS:
        raise _Misplaced("seeds", f"{count} of a rung given: at most {_MOST_TRIALS}")
    chosen = _ladder(group)
    first = parse_stored(chosen.specs[0])
    reasons = [f"{name}: {why}" for name, one in learners.items() if (why := one.supports(first))]
    if len(reasons) == len(learners):
        raise UsageError(f"no learner can run on the first rung, {first.spec}: {reasons[0]}")
    return Climbs(
        title=title,
        ladder=chosen,
        learners=tuple(learners),
        seeds=count,
        base_seed=group.seed,
        budget=budget,
    )


def _thresholds(group: _Least, file: _File, common: dict[str, Learner] | None) -> Iterator[Least]:
    """Read [[least]], whose budget is of a run: over one parameter, for all values of others."""
    budget, *more = _budgets(group.budget.axes)
    if more:
        raise _Misplaced("budget", "a search has one budget: write [[least]] for each of them")
    seeds = _first(group.seeds, file.seeds, range(SEEDS))
    if [*seeds] != [*range(seeds[0], seeds[0] + len(seeds))]:
        raise _Misplaced("seeds", "they are needed in a row: write how many, or the first and last")
    over, lines = group.over or {}, dict[str, list[str]]()
    longest = max(over, key=lambda name: len(over[name]), default="")
    for family in _families(group.spec, over):
        size = numbers_of(family.spec).get(longest)
        rest = family.spec if size is None else brief_spec(family.spec, longest)
        lines.setdefault(rest, []).append(family.spec)
    for rest, specs in lines.items():
        found = Least(
            spec=rest,
            parameter="" if [rest] == specs else longest,
            specs=tuple(specs),
            learners=tuple(_named(group, common)),
            seeds=len(seeds),
            seed=seeds[0],
            unit=group.unit,
            budget=most_of(budget, group.unit),
            total=group.total,
            tau=_first(group.tau, file.tau, Fraction(1, 10)),
        )
        require_findable(found)
        yield found


def _ladder(group: _Climb) -> Ladder:
    if (group.ladder is None) is (group.rungs is None):
        raise UsageError("a climb needs `ladder` or `rungs`, one of the two")
    if group.ladder is not None:
        with _at("ladder"):
            return ladder(group.ladder)
    rungs = group.rungs or []
    for i, spec in enumerate(rungs, 1):
        with _at(f"rungs[{i}]"):
            _stored(spec)
    with _at("rungs"):
        return ladder_of(rungs)


def usual_seconds(sweep: Sweep) -> float:
    """Choose the hard limit of an attempt: 4 times the most seconds of any budget, and 60 more.

    At least an hour where some run has no budget of seconds.
    """
    given = {job.budget.seconds for group in sweep.grids for job in group.cells}
    for one in sweep.climbs:
        given |= {one.budget.seconds or rung.seconds for rung in one.ladder.rungs}
    given |= {None for _ in sweep.least}  # of many runs
    most = 4 * max((s for s in given if s is not None), default=0.0) + 60
    return max(3600.0, most) if None in given or not given else most


def _budgets(limits: Mapping[str, _Axis]) -> Iterator[Budget]:
    """List every combination of limits."""
    for chosen in product(*limits.values()):
        yield Budget(**dict(zip(limits, chosen, strict=True)))


# Specs and learners over ranges of their parameters


def _filled(axes: Mapping[str, _Axis], what: str) -> Iterator[dict[str, str]]:
    """List the values of every parameter together, the last one varying first."""
    if prod(map(len, axes.values())) > _MOST_CELLS:
        raise UsageError(f"over {_MOST_CELLS} {what} given: ask for fewer values")
    for chosen in product(*axes.values()):
        yield {name: write(value) for name, value in zip(axes, chosen, strict=True)}


def _stored(spec: str) -> Family:
    """Make the family of a spec; raises UsageError for one that would execute a file."""
    if split(spec) is not None:
        raise UsageError(
            f"'{spec[:200]}' given: no file is executed that a sweep names: give --family "
            "path.py:Name, and here the family's own name"
        )
    family = require_drawn(parse_stored(spec))
    require_stored(family, "a store keeps runs by the SHA-256 of its file")
    return family


def _families(given: str | list[str], axes: Mapping[str, _Axis]) -> Iterator[Family]:
    """Make the families of specs over the axes, each once; raises UsageError for a wrong one."""
    seen = set[str]()
    for i, spec in enumerate([given] if isinstance(given, str) else given, 1):
        place = "spec" if isinstance(given, str) else f"spec[{i}]"
        with _at("over" if axes and split(spec) is None else place):
            if axes and kind_of(spec.partition(":")[0]) is None:  # of the catalog
                spec = _stored(spec).spec
            for chosen in _filled(axes, "specs"):
                family = _stored(_with(spec, kind_of(spec.partition(":")[0]), chosen))
                if family.spec not in seen:
                    seen.add(family.spec)
                    yield family


def _with(text: str, kind: Any, chosen: dict[str, str]) -> str:
    """Write "name:key=value" with chosen values of a class; raises UsageError for unknown keys."""
    if not chosen:
        return text
    name, _, rest = text.partition(":")
    keys = [one.name for one in listed(kind)]
    for key in chosen:
        if key not in keys:
            raise unknown(f"parameter of {name}", key[:40], keys)
    every = {**key_values(rest, name, keys), **chosen}
    return f"{name}:{','.join(f'{key}={value}' for key, value in every.items())}"


def _learners(given: Any) -> dict[str, Learner]:
    """Make learners by their canonical names, each once."""
    found: dict[str, Learner] = {}
    for i, one in enumerate(given if isinstance(given, list) else [given], 1):
        with _at(f"learners[{i}]"):
            text, axes = (one, {}) if isinstance(one, str) else (one.learner, one.over or {})
            with _at("over" if axes else ""):
                every = [_learner(text, chosen) for chosen in _filled(axes, "learners")]
            found |= {learner_spec(one): one for one in every}
    return found


def _learner(text: str, chosen: dict[str, str]) -> Learner:
    """Make a learner; a file that it is named by must be there, and nothing of it is executed."""
    if kind := LEARNERS.get(text.partition(":")[0]):
        text = _with(text, kind, chosen)
    elif chosen:
        named = split(text)
        more = ",".join(f"{key}={value}" for key, value in chosen.items())
        text += ("," if named and named.parameters else ":") + more
    require(text not in OBJECTS, f"'{text}' stands in no file: name it as path.py:Name")
    learner = parse_learner(text)
    asked = innermost(learner)
    if isinstance(asked, SubprocessLearner) and not asked.file.is_file():
        raise UsageError(
            f"'{text[:200]}' given: there is no file {asked.file}: name it relative to the "
            "folder that the sweep is started in"
        )
    return learner
