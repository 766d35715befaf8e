"""What is cut from runs: comparisons over one parameter, planes over two, each chosen by its words.

Runs of a sweep say what their group of its file varies; of others that is read off their specs.
Nothing of a learner's or a family's file is executed: names in a store are data.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hardness.runs.certified import Certifier, terms_of
from hardness.runs.columns import numbers_of, parameters_of
from hardness.runs.comparison import Comparison
from hardness.runs.names import Value, brief_spec, short
from hardness.runs.rows import CertificateRow
from hardness.runs.run import Run
from instances.errors import UsageError
from instances.parameters import plain, split_list

Fixed = tuple[tuple[str, str], ...]  # names and values, each name once
_LISTED = 20  # choices in a message
_UNITS = {
    "examples": "{} examples",
    "queries": "{} queries",
    "values": "{} values",
    "seconds": "{} s",
    "cpu_seconds": "{} s of CPU",
    "memory_bytes": "{} bytes of memory",
    "oracle": "{} answers",
}
DIMENSIONS, WEIGHTS = ("d", "n"), ("m", "h")


def comparable(runs: Iterable[Run]) -> dict[Fixed, list[Run]]:
    """Group runs by all but spec, learner and seed: what may stand in one comparison.

    Runs of a group agree in family, its revision and the budget. Learners that ask queries agree in
    how these are answered; those that ask none stand with the answers that most of the others have.
    Of a learner of several revisions or files the latest stands with the others, earlier ones
    apart.
    """
    together: dict[Fixed, list[Run]] = {}
    for run in runs:
        budget = {k: "none" if v is None else plain(v) for k, v in vars(run.budget).items()}
        revision = ("family revision", str(run.revisions.get("family", "unknown")))
        fixed = (("family", run.spec.partition(":")[0]), *budget.items(), revision)
        together.setdefault(fixed, []).append(run)
    found: dict[Fixed, list[Run]] = {}
    for fixed, some in together.items():
        counted = Counter(filter(None, map(answers, some)))
        asked = min(counted, key=lambda one: (-counted[one], one)) if counted else ()
        by_learner: dict[str, Counter[tuple[int, str]]] = {}
        for run in some:
            by_learner.setdefault(run.learner, Counter())[version_of(run)] += 1
        latest = {
            name: min(c, key=lambda v: (-v[0], -c[v], v[1])) for name, c in by_learner.items()
        }
        for run in some:
            version = version_of(run)
            earlier = version != latest[run.learner]
            of = (("of", f"{run.learner} {version_words(version)}"),) if earlier else ()
            found.setdefault((*fixed, *(answers(run) or asked), *of), []).append(run)
    return found


def answers(run: Run) -> Fixed:
    """How queries of a run were answered; empty where its learner asks none."""
    said = {name: run.details[name] for name in ("oracle", "tau") if name in run.details}
    return tuple((name, str(value)) for name, value in said.items())


def version_of(run: Run) -> tuple[int, str]:
    """Tell a learner's revision, and of a user's learner the SHA-256 of its file."""
    return run.revisions.get("learner", -1), str(run.details.get("sha256", ""))


def version_words(version: tuple[int, str]) -> str:
    """Write a version, as "revision 1 4dadd984".

    >>> version_words((2, ""))
    'revision 2'
    """
    revision, origin = version
    return f"revision {revision}" + (f" {origin[:16]}" if origin else "")


@dataclass(frozen=True, kw_only=True)
class Part:
    """Some runs of a store, with all that is fixed in them by name.

    choice: the part of `fixed` that tells it from the others of its store, as "m=3,noise=0".
    """

    rows: tuple[Run, ...] = field(repr=False)
    fixed: Fixed
    choice: str = ""

    @property
    def words(self) -> str:
        """What tells it from the others, in words, as "m = 3, noise = 0, 5,000,000 examples"."""
        kept = split_choice(self.choice)
        return ", ".join(fixed_words(*pair) for pair in self.fixed if "=".join(pair) in kept)

    @property
    def free(self) -> tuple[str, ...]:
        """Names of which a choice may say anything, for they vary within it."""
        return ()


@dataclass(frozen=True, kw_only=True)
class Slice(Part):
    """Runs over one parameter; uncertified: why it has no certificates, empty where it has."""

    comparison: Comparison
    uncertified: str = ""

    @property
    def title(self) -> str:
        """Its spec, its sizes and what tells it from the others."""
        comparison = self.comparison
        low, high = plain(comparison.values[0]), plain(comparison.values[-1])
        sizes = low if low == high else f"{low} to {high}"
        told = f" ({self.words})" if self.choice else ""
        return f"{comparison.spec}, {comparison.parameter} = {sizes}{told}"


@dataclass(frozen=True, kw_only=True)
class Plane(Part):
    """Runs over two parameters: x as a dimension, y as a hidden weight, or any two that vary.

    y is empty, and ys (0,), where a spec has one number alone. specs: by (x, y), maybe not of all.
    number: of a diagram of some of its learners, where there are many.
    """

    x: str
    y: str
    xs: tuple[Value, ...]
    ys: tuple[Value, ...]
    specs: dict[tuple[Value, Value], str] = field(repr=False)
    number: int = 1

    @property
    def free(self) -> tuple[str, ...]:
        """Its axes."""
        return self.x, self.y

    @property
    def learners(self) -> tuple[str, ...]:
        """Canonical names of the learners, in the order of the runs."""
        return tuple(dict.fromkeys(row.learner for row in self.rows))


def slices(
    runs: Iterable[Run], certificates: Iterable[CertificateRow] | Certifier = ()
) -> tuple[Slice, ...]:
    """Cut runs into slices, each over one parameter: every run is in one of them.

    Runs of a group of a sweep are cut along one of its axes, others into `lines`; what lies on such
    a line and can be compared is in its slice. Raises DamagedFile for a certificate that is not
    that of its spec.

    >>> slices([])
    ()
    """
    made = certificates if isinstance(certificates, Certifier) else Certifier(certificates)
    found = [
        _slice(name, specs, by_spec, fixed, made)
        for fixed, by_spec, (name,), specs in _cut(
            runs, lambda specs, over: [((name,), line[0]) for name, line in lines(specs, over)]
        )
    ]
    return told_apart(found)


def planes(runs: Iterable[Run]) -> tuple[Plane, ...]:
    """Cut runs into planes, each over two parameters: every run is in one of them.

    >>> planes([])
    ()
    """
    found = [
        _plane(x, y, specs, by_spec, fixed)
        for fixed, by_spec, (x, y), specs in _cut(
            runs, lambda specs, over: [(axes(specs, over), spec) for spec in specs]
        )
    ]
    return told_apart(found)


_Free = tuple[str, ...]  # parameters that vary in a part
_Some = tuple[Fixed, dict[str, list[Run]], _Free, list[str]]


def _cut(
    runs: Iterable[Run], cut: Callable[[list[str], _Free], list[tuple[_Free, str]]]
) -> Iterator[_Some]:
    """Give what is fixed in a part, the comparable runs by spec, what is free, and its specs.

    cut: of specs and the axes of their group, what is free, each with a spec of the part.
    """
    for fixed, group in comparable(runs).items():
        by_spec: dict[str, list[Run]] = {}
        for run in group:
            by_spec.setdefault(run.spec, []).append(run)
        parts = {
            (free, _others(spec, *free)): None
            for over, specs in _by_axes(group)
            for free, spec in cut(specs, over)
        }
        for free, others in parts:
            names = [name for name in free if name]
            specs = [
                spec
                for spec in by_spec
                if _others(spec, *free) == others and {*names} <= {*numbers_of(spec)}
            ]
            specs.sort(key=lambda spec: [numbers_of(spec)[name] for name in names])
            yield fixed, by_spec, free, specs


def lines(specs: Sequence[str], over: Sequence[str] = ()) -> list[tuple[str, list[str]]]:
    """Part specs of one family into lines, each with the parameter that varies along it.

    They are cut along one parameter, of `over` where it is given: that with the longest line, d or
    n first. Where it is not, what stands alone there is cut again.

    >>> lines([f"parity:d={d},m={m}" for m in (2, 3) for d in (8, 6)])
    [('d', ['parity:d=6,m=2', 'parity:d=8,m=2']), ('d', ['parity:d=6,m=3', 'parity:d=8,m=3'])]
    """
    names = numbers_of(specs[0])
    declared = [name for name in over if name in names]
    cuts = {name: _along(specs, name) for name in declared or names}
    parameter = max(
        cuts,
        key=lambda name: (
            max(map(len, cuts[name])),
            name in DIMENSIONS,
            len({numbers_of(spec).get(name) for spec in specs}),
        ),
    )
    longest = max(map(len, cuts[parameter]))
    kept = [line for line in cuts[parameter] if declared or len(line) > 1 or longest == 1]
    placed = {spec for line in kept for spec in line}
    rest = [spec for spec in specs if spec not in placed]
    return [(parameter, line) for line in kept] + (lines(rest) if rest else [])


def axes(specs: Sequence[str], over: Sequence[str] = ()) -> tuple[str, str]:
    """Choose two parameters, of `over` first: d or n against m or h, else the longest ranges.

    >>> axes([f"parity:d={d},m=3,noise=0" for d in (8, 9)])
    ('d', 'm')
    >>> axes([f"parity:d={d},m=3,noise=0.{d}" for d in (1, 2)])
    ('d', 'noise')
    """
    counts = {name: len({numbers_of(s)[name] for s in specs}) for name in numbers_of(specs[0])}
    order = (*DIMENSIONS, *WEIGHTS)

    def rank(name: str) -> tuple[bool, bool, bool, int, int]:
        place = order.index(name) if name in order else len(order)
        varies = counts[name] < 2
        return varies, name not in over, name not in order, -counts[name], place

    best = sorted(counts, key=rank)[:2]
    best.sort(key=lambda name: (name not in DIMENSIONS, name in WEIGHTS, -counts[name]))
    return (best[0], best[1]) if len(best) == 2 else (best[0], "")


def _by_axes(runs: Iterable[Run]) -> list[tuple[tuple[str, ...], list[str]]]:
    """The specs of runs with numbers of the same names, by what their group of a sweep varies."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], dict[str, None]] = {}
    for run in runs:
        found.setdefault((run.axes, tuple(numbers_of(run.spec))), {})[run.spec] = None
    return [(over, list(specs)) for (over, _), specs in found.items()]


def _others(spec: str, *without: str) -> Fixed:
    """Write the other parameters of a spec, in its order."""
    found = parameters_of(spec).items()
    return tuple((k, v if isinstance(v, str) else plain(v)) for k, v in found if k not in without)


def _along(specs: Iterable[str], name: str) -> list[list[str]]:
    """Group specs that differ in one number alone, each line in the order of its values."""
    found: dict[frozenset[tuple[str, str]], list[str]] = {}
    for spec in specs:
        if name in numbers_of(spec):
            found.setdefault(frozenset(_others(spec, name)), []).append(spec)
    return [sorted(line, key=lambda spec: numbers_of(spec)[name]) for line in found.values()]


def _slice(
    parameter: str,
    specs: Sequence[str],
    by_spec: dict[str, list[Run]],
    fixed: Fixed,
    certifier: Certifier,
) -> Slice:
    rows = tuple(row for spec in specs for row in by_spec[spec])
    terms, certificates, why = certifier.certify(specs, terms_of(dict(fixed).get("tau")))
    learners = tuple(dict.fromkeys(row.learner for row in rows))
    comparison = Comparison(
        spec=brief_spec(specs[0], parameter),
        parameter=parameter,
        budget=rows[0].budget,
        specs=tuple(specs),
        learners=tuple(short(name) for name in learners),
        canonical=learners,
        seeds=max(Counter((row.spec, row.learner) for row in rows).values()),
        terms=terms,
        runs=rows,
        certificates=certificates,
    )
    own = (*_others(specs[0], parameter), ("over", parameter))
    return Slice(
        rows=rows,
        fixed=(*fixed[:1], *own, *fixed[1:]),
        comparison=comparison,
        uncertified=why,
    )


def _plane(
    x: str, y: str, specs: Sequence[str], by_spec: dict[str, list[Run]], fixed: Fixed
) -> Plane:
    numbers = {spec: numbers_of(spec) for spec in specs}
    places = {(one[x], one[y] if y else 0): spec for spec, one in numbers.items()}
    return Plane(
        rows=tuple(row for spec in specs for row in by_spec[spec]),
        fixed=(*fixed[:1], *_others(specs[0], x, y), *fixed[1:]),
        x=x,
        y=y,
        xs=tuple(sorted({place[0] for place in places})),
        ys=tuple(sorted({place[1] for place in places})),
        specs=places,
    )


def fixed_words(name: str, value: str) -> str:
    """Write one fixed quantity in words.

    >>> fixed_words("m", "3"), fixed_words("examples", "5000000"), fixed_words("over", "d")
    ('m = 3', '5,000,000 examples', 'over d')
    """
    if name in ("family", "over"):
        return value if name == "family" else f"over {value}"
    if value == "none" and name in _UNITS:
        return f"no limit of {name.replace('_', ' ')}"
    shown = f"{int(value):,}" if value.isdecimal() else value
    return _UNITS[name].format(shown) if name in _UNITS else f"{name} = {value}"


_P = TypeVar("_P", bound=Part)


def told_apart(parts: Sequence[_P]) -> tuple[_P, ...]:
    """Give each part its choice: the shortest run of what is fixed in it that no other has.

    >>> parts = [Part(rows=(), fixed=(("m", m), ("noise", "0"))) for m in "23"]
    >>> [(one.choice, one.words) for one in told_apart(parts)]
    [('m=2', 'm = 2'), ('m=3', 'm = 3')]
    """
    every = [dict(one.fixed) for one in parts]
    found = []
    for one in parts:
        same, kept = every, []
        for name, value in one.fixed:
            agree = [other for other in same if other.get(name) == value]
            if len(agree) < len(same):
                kept.append(f"{name}={value}")
                same = agree
        found.append(replace(one, choice=",".join(kept) or "=".join(one.fixed[0])))
    return tuple(found)


def chosen(parts: Sequence[_P], choice: str | None, source: str) -> _P:
    """Return the part that a choice as "m=3,noise=0" is true of; raises UsageError for no such.

    A part of which it is the whole choice comes before others.
    """
    found = list(parts)
    if choice is not None:
        wanted = [pair.partition("=") for pair in split_choice(choice)]
        pairs = [(name.strip(), value.strip()) for name, _, value in wanted]
        found = [one for one in parts if one.choice == choice.strip()] or [
            one for one in parts if all(pair in one.fixed or pair[0] in one.free for pair in pairs)
        ]
    if len(found) == 1:
        return found[0]
    if not parts:
        raise UsageError(f"{source} given: the store holds no runs to draw: run a sweep into it")
    said = f"{source} holds {len(found)} slices: give one with --slice"
    if choice is not None:
        count = f"is true of {len(found)} slices" if found else "is true of no slice"
        said = f"--slice '{choice[:100]}' given, which {count} of {source}: give one"
    listed = found or list(parts)
    shown = "; ".join(f"'{one.choice}'" for one in listed[:_LISTED])
    more = f"; and {len(listed) - _LISTED} more" if len(listed) > _LISTED else ""
    raise UsageError(f"{said}, of {shown}{more}")


def split_choice(choice: str) -> list[str]:
    """Split "m=3,g=[1,2]" at its commas; one part where its brackets do not match."""
    try:
        return split_list(choice)
    except UsageError:
        return [choice]
