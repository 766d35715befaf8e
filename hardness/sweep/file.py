"""Sweep files: TOML with specs, learners, seeds and budgets, read into a Sweep.

Every mistake is one line with the file and the key. Nothing that a file names is executed
here: a user's learner is known by its name until it runs, in a process of its own.
"""

import hashlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import inf, prod
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from hardness.lower import Terms
from hardness.lower.grams import grams_of
from hardness.oracles import Budget
from hardness.runs.ranges import numbers
from hardness.runs.run import OracleName
from hardness.sweep.pool import Limits
from hardness.upper import LEARNERS, Learner, learner_spec, parse_learner
from hardness.upper.isolated import Foreign
from instances.errors import DamagedFile, UsageError, unknown
from instances.family import Family
from instances.ladders import Ladder, ladder, ladder_of
from instances.limits import bytes_of
from instances.parameters import fraction, key_values, listed, plain, split_list
from instances.spec import kind_of, parse_stored
from instances.strict import one_line, read_bytes, shown
from instances.userfile import split

FORMAT = "hardness-sweep/1"
MOST_RUNS = 10**7  # without --yes
_MOST_BYTES = 1 << 20
_MOST_PAIRS = 10**6  # of a spec and a learner: they are listed
_MOST_BUDGETS = 1000
_MOST_TRIALS = 1000  # of a rung
_LONG_KEY = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){100}")
_LONG_NUMBER = re.compile(r"[0-9](?:_?[0-9]){1000}")


# What a file says, checked and with defaults in place.


@dataclass(frozen=True, kw_only=True)
class Runs:
    """Every learner on every spec, seed and budget.

    pairs: (spec, learner) that can run, canonical, in the order of the file. left_out: (learner,
    reason, number of specs) of those that cannot. certify: whether specs of families with exact
    evidence are certified too, for `terms`.
    """

    title: str  # as in messages: "runs 1"
    pairs: Sequence[tuple[str, str]]
    seeds: range | tuple[int, ...]
    budgets: tuple[Budget, ...]
    oracle: OracleName = "samples"
    tau: Fraction = Fraction(1, 10)
    certify: bool = True
    left_out: tuple[tuple[str, str, int], ...] = ()

    @property
    def terms(self) -> Terms:
        """What certificates are about."""
        return Terms(tau=self.tau)

    @property
    def count(self) -> int:
        """How many runs there are."""
        return len(self.pairs) * len(self.seeds) * len(self.budgets)


@dataclass(frozen=True, kw_only=True)
class Climb:
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
class Gram:
    """A sampled Gram matrix of members of a family, in blocks of members and samples."""

    title: str
    spec: str
    members: int
    samples: int
    confidence: float
    seed: int


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """A sweep: its groups in the order of the file, and the hard limits of every attempt.

    >>> Sweep(name="empty", text="").count
    0
    """

    name: str
    text: str  # of the file
    runs: tuple[Runs, ...] = ()
    climbs: tuple[Climb, ...] = ()
    grams: tuple[Gram, ...] = ()
    limits: Limits = field(default_factory=Limits)

    @property
    def sha256(self) -> str:
        """What a store knows the sweep by: the hash of its file's text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def count(self) -> int:
        """How many runs there are, at most where some learners may stop climbing."""
        return sum(g.count for g in self.runs) + sum(g.count for g in self.climbs)


# What may stand in a file: its tables and their keys.

_Line = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
_Natural = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
_Seconds = Annotated[float, msgspec.Meta(gt=0, le=1e9)]
_None = Literal["none"]
_Number = int | float | str  # exact where it is a text, as "1/10"
_Seeds = _Count | str | Annotated[list[_Natural], msgspec.Meta(min_length=1)]
_Values = _Number | Annotated[list[_Number], msgspec.Meta(min_length=1)]
_Over = Annotated[dict[str, Any], msgspec.Meta(min_length=1)]  # of _Values


class _Table(msgspec.Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    pass


class _Varied(_Table, frozen=True, kw_only=True):
    learner: _Line
    over: _Over | None = None


_Learners = Annotated[list[_Line | _Varied], msgspec.Meta(min_length=1)] | _Line | _Varied


class _Budget(_Table, frozen=True):
    examples: _Count | list[_Count | _None] | _None | None = None
    queries: _Count | list[_Count | _None] | _None | None = None
    seconds: _Seconds | list[_Seconds | _None] | _None | None = None
    cpu_seconds: _Seconds | list[_Seconds | _None] | _None | None = None
    memory: int | str | list[int | str] | None = None


class _Shared(_Table, frozen=True):
    tau: _Number | None = None
    oracle: _Line | None = None
    seeds: _Seeds | None = None
    learners: _Learners | None = None
    certify: bool | None = None
    budget: _Budget = _Budget()


class _Runs(_Shared, frozen=True, kw_only=True):
    spec: _Line | Annotated[list[_Line], msgspec.Meta(min_length=1)]
    over: _Over | None = None


class _Climb(_Table, frozen=True):
    ladder: _Line | None = None
    rungs: list[_Line] | None = None
    learners: _Learners | None = None
    seeds: _Seeds | None = None
    seed: _Natural | None = None
    budget: _Budget = _Budget()


class _Gram(_Table, frozen=True, kw_only=True):
    spec: _Line
    members: Annotated[int, msgspec.Meta(ge=2, le=1 << 16)]  # 9 GB when it is put together
    samples: _Count
    confidence: Annotated[float, msgspec.Meta(gt=0, lt=1)] = 0.99
    seed: _Natural = 0


class _Limits(_Table, frozen=True):
    seconds: _Seconds | None = None
    memory: int | str | None = None
    retries: Annotated[int, msgspec.Meta(ge=0, le=100)] = 2


class _File(_Shared, frozen=True, kw_only=True):
    format: str
    name: _Line
    limits: _Limits = _Limits()
    runs: list[_Runs] = []
    climbs: list[_Climb] = []
    grams: list[_Gram] = []


_KEYS = {k for kind in (_File, _Runs, _Climb, _Gram, _Limits, _Budget, _Varied)
         for k in kind.__struct_fields__}  # fmt: skip


# Reading.


def read_sweep(path: Path) -> Sweep:
    """Read a sweep file; raises UsageError with the file and the key of a mistake."""
    name = str(path)[:200]
    try:
        data = read_bytes(path, _MOST_BYTES)
    except DamagedFile as error:
        raise UsageError(f"{error}: a sweep file (TOML) is needed, of a page or so") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise UsageError(f"{name}: line {line}: it is no UTF-8 text, as TOML must be") from error
    return read_text(text, name)


def read_text(text: str, where: str) -> Sweep:
    """Read the text of a sweep file; `where` is its name in messages.

    >>> lines = ['format = "hardness-sweep/1"', 'name = "few"', "[[runs]]", 'spec = "parity:m=2"']
    >>> lines += ['over = {d = "8..10"}', 'learners = ["queries"]', "seeds = 5"]
    >>> read_text(chr(10).join(lines), "few.toml").count
    15
    """
    try:
        return _sweep(_typed(_parsed(text)), text)
    except UsageError as error:
        path = getattr(error, "path", ())
        key = f"{_named(path)}: " if path else ""
        raise UsageError(f"{where}: {key}{one_line(error, 900)}") from error


def require_count(sweep: Sweep, yes: bool = False) -> None:
    """Refuse a sweep of over 1e7 runs unless `yes`; raises UsageError with the number."""
    if sweep.count > MOST_RUNS and not yes:
        raise UsageError(
            f"{sweep.name[:60]}: {sweep.count} runs asked for, over {MOST_RUNS}: ask for fewer "
            "sizes, seeds or learners, or say --yes"
        )


def _parsed(text: str) -> dict[str, Any]:
    """Parse TOML, its numbers exactly."""
    if _LONG_KEY.search(text):
        raise UsageError("a key of over 100 parts given: sweep files have none such")
    if found := _LONG_NUMBER.search(text):
        line = text.count("\n", 0, found.start()) + 1
        raise UsageError(f"line {line}: a number of over 1000 digits given")
    try:
        return tomllib.loads(text, parse_float=_decimal)
    except RecursionError as error:
        raise UsageError("its values are nested too deep for a sweep file") from error
    except ValueError as error:  # which says the line and the column
        raise UsageError(f"{one_line(error)[:200]}: mend the TOML") from error


def _typed(data: dict[str, Any]) -> _File:
    """Hold the tables of a file against what may stand in one."""
    stated = data.get("format", FORMAT)
    if "format" not in data:
        raise UsageError(f'format = "{FORMAT}" must stand in the file')
    if stated != FORMAT:
        raise _Misplaced(f"{shown(stated)} given: this version reads {FORMAT!r}", ("format",))
    found: _File = _convert(data, _File)
    if not (found.runs or found.climbs or found.grams):
        raise UsageError("there is no group: write [[runs]], [[climbs]] or [[grams]]")
    return found


def _convert(data: Any, kind: Any) -> Any:
    """Hold a value against a type; raises UsageError with the path of what is none."""
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        said, _, place = _WORDS.sub("", str(error)).partition(" - at `$")
        path = tuple(int(n) if n else key for key, n in _STEP.findall(place))
        given = reduce(lambda inner, step: inner[step], path, data)
        if not isinstance(given, dict | list):
            said = f"{shown(given)} given: {said}"
        if key := _UNKNOWN.search(said):
            path, said = (*path, key[1]), str(unknown("key", key[1][:40], sorted(_KEYS)))
        raise _Misplaced(said, path) from error


_WORDS = re.compile(r" \| null|^Object (?=missing)")
_STEP = re.compile(r"\.([^.\[`]+)|\[([0-9]+)\]")
_UNKNOWN = re.compile(r"unknown field `(.*)`$", re.DOTALL)


class _Misplaced(UsageError):
    """A mistake at a key; `path` leads to it through tables and lists."""

    def __init__(self, said: str, path: tuple[str | int, ...]) -> None:
        super().__init__(said)
        self.path = path


@contextmanager
def _at(*path: str | int) -> Iterator[None]:
    """Put a key before the path of any mistake that is found within."""
    try:
        yield
    except UsageError as error:
        raise _Misplaced(str(error), (*path, *getattr(error, "path", ()))) from error


def _named(path: Sequence[str | int]) -> str:
    """Write the name of a key; groups and elements of lists are counted from 1.

    >>> _named(("runs", 1, "budget", "examples"))
    'runs[2].budget.examples'
    """
    out = ""
    for step in path:
        plain_word = isinstance(step, str) and re.fullmatch(r"[\w-]{1,40}", step, re.ASCII)
        part = f"[{step + 1}]" if isinstance(step, int) else step if plain_word else shown(step)
        out += f".{part}" if out and isinstance(step, str) else part
    return out


def _sweep(file: _File, text: str) -> Sweep:
    """Make what a file says; defaults are read even where every group says otherwise."""
    _seeds(file.seeds), _tau(file.tau), _budgets(file.budget)
    runs, climbs, grams = [], [], []
    for i, one in enumerate(file.runs):
        with _at("runs", i):
            runs.append(_runs(one, file, f"runs {i + 1}"))
    for i, two in enumerate(file.climbs):
        with _at("climbs", i):
            climbs.append(_climb(two, file, f"climbs {i + 1}"))
    for i, three in enumerate(file.grams):
        with _at("grams", i):
            grams.append(_gram(three, f"grams {i + 1}"))
    sweep = Sweep(
        name=file.name, text=text, runs=tuple(runs), climbs=tuple(climbs), grams=tuple(grams)
    )
    with _at("limits", "memory"):
        limits = Limits(
            seconds=file.limits.seconds or usual_seconds(sweep),
            memory_bytes=_size(file.limits.memory),
            retries=file.limits.retries,
        )
    return replace(sweep, limits=limits)


def _runs(group: _Runs, top: _File, title: str) -> Runs:
    tau, seeds = _tau(group.tau, top.tau), _seeds(group.seeds, top.seeds)
    oracle = group.oracle or top.oracle or "samples"
    certify = top.certify if group.certify is None else group.certify
    if oracle not in get_args(OracleName):
        said = str(unknown("oracle", oracle[:40], get_args(OracleName)))
        raise _Misplaced(said, ("oracle",))
    budgets = _budgets(top.budget, group.budget)
    named = _learners(group.learners, top.learners)
    axes = _axes(group.over)
    specs = group.spec if isinstance(group.spec, list) else [group.spec]
    wide = len(specs) * prod(map(len, axes.values()))
    if wide * len(named) > _MOST_PAIRS:
        raise _Misplaced(
            f"{wide} specs x {len(named)} learners, {wide * len(named) * len(seeds)} runs, given: "
            f"at most {_MOST_PAIRS} pairs of a spec and a learner stand in a group",
            ("over",),
        )
    pairs: dict[tuple[str, str], None] = {}
    refused: Counter[tuple[str, str]] = Counter()
    seen = set[str]()
    for i, spec in enumerate(specs):
        with _at("spec", *(() if isinstance(group.spec, str) else (i,))):
            _refuse_file(spec)
        with _at(*(("over",) if axes else ("spec", i) if len(specs) > 1 else ("spec",))):
            for family in _families(spec, axes):
                if family.spec in seen:
                    continue
                seen.add(family.spec)
                for name, learner in named.items():
                    if reason := learner.supports(family):
                        refused[name, reason] += 1
                    else:
                        pairs[family.spec, name] = None
    if not pairs:
        why_not = [f"{name.partition(':')[0]}: {why}" for name, why in refused]
        raise UsageError(f"nothing can run: {'; '.join(why_not[:3])}")
    return Runs(
        title=title,
        pairs=tuple(pairs),
        seeds=seeds,
        budgets=budgets,
        oracle="exact" if oracle == "exact" else "samples",
        tau=tau,
        certify=certify is not False,
        left_out=tuple((name, why, count) for (name, why), count in refused.items()),
    )


def _climb(group: _Climb, top: _File, title: str) -> Climb:
    """Read [[climbs]]: rungs have budgets of their own, so that the default one is not theirs."""
    budgets = _budgets(group.budget)
    if len(budgets) > 1:
        said = "a climb has one budget: write [[climbs]] for each of them"
        raise _Misplaced(said, ("budget",))
    count = len(_seeds(group.seeds, top.seeds, 5))
    if count > _MOST_TRIALS:
        said = f"{count} seeds of a rung given: at most {_MOST_TRIALS}"
        raise _Misplaced(said, ("seeds",))
    chosen = _ladder(group)
    named = _learners(group.learners, top.learners)
    first = parse_stored(chosen.specs[0])
    reasons = {name: learner.supports(first) for name, learner in named.items()}
    if all(reasons.values()):
        said = next(f"{name}: {why}" for name, why in reasons.items())
        raise UsageError(f"no learner can run on the first rung, {first.spec}: {said}")
    return Climb(
        title=title,
        ladder=chosen,
        learners=tuple(named),
        seeds=count,
        base_seed=group.seed,
        budget=budgets[0],
    )


def _ladder(group: _Climb) -> Ladder:
    if group.ladder is not None and group.rungs is None:
        with _at("ladder"):
            return ladder(group.ladder)
    if group.rungs is None or group.ladder is not None:
        raise UsageError("a climb needs `ladder` or `rungs`, one of the two")
    for i, spec in enumerate(group.rungs):
        with _at("rungs", i):
            _refuse_file(spec)
            parse_stored(spec)
    with _at("rungs"):
        return ladder_of(group.rungs)


def _gram(group: _Gram, title: str) -> Gram:
    """Read [[grams]]: families of parities, profiles and LWE-style ones."""
    with _at("spec"):
        _refuse_file(group.spec)
        family = parse_stored(group.spec)
        grams_of(family)
    if family.size is not None and group.members > family.size:
        said = f"{group.members} given: at most the {family.size} members of {family.spec[:80]}"
        raise _Misplaced(said, ("members",))
    return Gram(
        title=title,
        spec=family.spec,
        members=group.members,
        samples=group.samples,
        confidence=group.confidence,
        seed=group.seed,
    )


def usual_seconds(sweep: Sweep) -> float:
    """Choose the hard limit of an attempt: 4 times the most seconds of any budget, and 60 more.

    At least an hour where some run has no budget of seconds, or a Gram matrix is asked for.
    """
    given = [b.seconds for group in sweep.runs for b in group.budgets]
    for one in sweep.climbs:
        given += [one.budget.seconds or rung.seconds for rung in one.ladder.rungs]
    most = 4 * max((s for s in given if s is not None), default=0.0) + 60
    return max(3600.0, most) if None in given or not given or sweep.grams else most


# Specs and learners over ranges of their parameters.

_Axes = dict[str, Sequence[Any]]  # values by parameter: a range is not made a list


def _axes(over: _Over | None) -> _Axes:
    """Read the values of every parameter under `over`."""
    found: _Axes = {}
    for key, given in (over or {}).items():
        with _at("over", key):
            found[key] = _values(_convert(given, _Values), key)
    return found


def _values(given: Any, key: str) -> Sequence[Any]:
    """Read the values of one parameter: a range or a list as text, or a list of values."""
    if isinstance(given, str):
        found = numbers(given, key)
        if found is not None:
            return found
        if ".." in given:
            raise UsageError(f"{shown(given)} given: write 8..20, 8..20..4, 8..64..*2 or a list")
    listed = given if isinstance(given, list) else [given]
    every = [split_list(one) if isinstance(one, str) else [_exact(one, key)] for one in listed]
    return tuple(value for some in every for value in some)


def _filled(axes: _Axes) -> Iterator[dict[str, str]]:
    """List the values of every parameter together, the last one varying first."""
    for chosen in product(*axes.values()):
        yield {key: plain(value) for key, value in zip(axes, chosen, strict=True)}


def _refuse_file(spec: str) -> None:
    if split(spec) is not None:
        raise UsageError(
            f"'{spec[:200]}' given: no file is executed that a sweep names: give --family "
            "path.py:Name, and here the family's own name"
        )


def _families(spec: str, axes: _Axes) -> Iterator[Family]:
    """Make the families of a spec over its axes; raises UsageError for the first that is none."""
    if not axes:
        yield parse_stored(spec)
        return
    name, _, rest = spec.partition(":")
    if kind_of(name) is None:  # of the catalog
        name, _, rest = parse_stored(spec).spec.partition(":")
    kind: Any = kind_of(name)
    for chosen in _filled(axes):
        yield parse_stored(_with(name, rest, [f.name for f in listed(kind)], chosen))


def _with(name: str, rest: str, keys: list[str], chosen: dict[str, str]) -> str:
    """Write a name with its own parameters and chosen ones; raises UsageError for unknown ones."""
    for key in chosen:
        if key not in keys:
            raise _Misplaced(str(unknown(f"parameter of {name}", key[:40], keys)), (key,))
    every = {**key_values(rest, name, keys), **chosen}
    return f"{name}:{','.join(f'{key}={value}' for key, value in every.items())}"


def _learners(own: _Learners | None, default: _Learners | None) -> dict[str, Learner]:
    """Make the learners of a group by their canonical names, each once."""
    given = default if own is None else own
    if given is None:
        raise UsageError("learners is missing: write learners = [...]")
    found: dict[str, Learner] = {}
    for i, one in enumerate(given if isinstance(given, list) else [given]):
        with _at("learners", i):
            text, over = (one, None) if isinstance(one, str) else (one.learner, one.over)
            axes = _axes(over)
            if prod(map(len, axes.values())) > _MOST_PAIRS:
                raise UsageError(f"over {_MOST_PAIRS} learners given: ask for fewer values")
            with _at(*(("over",) if axes else ())):
                for chosen in _filled(axes):
                    learner = _learner(text, chosen)
                    found[learner_spec(learner)] = learner
    return found


def _learner(text: str, chosen: dict[str, str]) -> Learner:
    """Make a learner; a file that it is named by must be there, and nothing of it is executed."""
    from hardness.upper.plugins.names import plugin

    name, _, rest = text.partition(":")
    if chosen and name in LEARNERS:
        text = _with(name, rest, [f.name for f in listed(LEARNERS[name])], chosen)
    elif chosen:
        named = plugin(text)
        more = ",".join(f"{key}={value}" for key, value in chosen.items())
        text += ("," if named and named.parameters else ":") + more
    learner = parse_learner(text)
    if isinstance(learner, Foreign) and learner.file and not learner.file.is_file():
        raise UsageError(
            f"'{text[:200]}' given: there is no file {learner.file}: name it relative to the "
            "folder that the sweep is started in"
        )
    return learner


# Numbers.


def _tau(own: Any, default: Any = None) -> Fraction:
    given = default if own is None else own
    with _at("tau"):
        return Terms(tau=Fraction(1, 10) if given is None else _exact(given, "tau")).tau


def _seeds(own: Any, default: Any = None, usual: int = 1) -> range | tuple[int, ...]:
    """Read seeds: 5 for 0..4, "3..7", or a list."""
    given = default if own is None else own
    if isinstance(given, list):
        return tuple(dict.fromkeys(given))
    if not isinstance(given, str):
        return range(given or usual)
    with _at("seeds"):
        found = numbers(given, "seeds") or ()
        if not found or not all(isinstance(v, int) for v in found[:1000]):
            raise UsageError(f"{shown(given)} given: a range such as 3..7 is needed")
        return found  # type: ignore[return-value]


def _budgets(*tables: _Budget) -> tuple[Budget, ...]:
    """List every combination of limits; a later table's take the place of an earlier one's."""
    lists: dict[str, tuple[Any, ...]] = {}
    for table in tables:
        for key in table.__struct_fields__:
            given = getattr(table, key)
            if given is None:
                continue
            every = dict.fromkeys(given if isinstance(given, list) else [given])
            with _at("budget", key):
                values = tuple(_size(one) if key == "memory" else one for one in every)
            lists["memory_bytes" if key == "memory" else key] = values
    count = prod(map(len, lists.values()))
    if not 0 < count <= _MOST_BUDGETS:
        said = f"{count} budgets given: at least 1 and at most {_MOST_BUDGETS} of a group"
        raise _Misplaced(said, ("budget",))
    return tuple(
        Budget(**{k: None if v == "none" else v for k, v in zip(lists, chosen, strict=True)})
        for chosen in product(*lists.values())
    )


def _size(given: Any) -> Any:
    """Read a number of bytes, "2GB" or an integer; "none" is no limit."""
    return (
        bytes_of(given[:1000], "a size of") if isinstance(given, str) and given != "none" else given
    )


def _exact(given: Any, what: str) -> Fraction:
    """Read a number exactly as it is written: 0.1 is 1/10."""
    if isinstance(given, str) or given != given or abs(given) == inf:
        return fraction(str(given), what)
    return Fraction(str(given))


def _decimal(text: str) -> int | float:
    """Read a TOML float, 1e5 as an integer."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < 1e18 else value
