"""Group runs of a sweep into figures: one family and budget, over one parameter or two.

The parameters that vary are read from the specs. No file of a learner or a family is executed,
since names in a file of runs are data.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from hardness.runs.certified import certify_all, terms_of
from hardness.runs.columns import (
    BUDGET,
    COLUMNS,
    numbers_of,
    parameters_of,
    runs_frame,
    tau_of,
)
from hardness.runs.comparison import Comparison
from hardness.runs.names import Value, brief_spec, short
from hardness.runs.run import Run
from instances.disk import one_line
from instances.errors import UsageError
from instances.numbers import write

_T = TypeVar("_T")
_K = TypeVar("_K", bound=Hashable)
Fixed = tuple[tuple[str, Value | str | None], ...]  # columns with the value that all runs have
DIMENSIONS, WEIGHTS = ("d", "n"), ("m", "h")


def where(runs: Iterable[Run], query: str | None) -> list[Run]:
    """Keep the runs for which a condition in pandas syntax is true; raises UsageError.

    The condition may use the columns of `to_frame`.

    >>> where([], "m == 3")
    []
    """
    kept = list(runs)
    if query is None or not kept:
        return kept
    frame = runs_frame(kept)
    try:
        return [kept[i] for i in frame.query(query, engine="python").index]
    except Exception as error:  # pandas and Python raise many kinds
        names = [str(n) for n in frame if n not in COLUMNS[3:]]
        reason, columns = one_line(error, 100), ", ".join([*names[3:], *names[:3]])[:300]
        raise UsageError(
            f"--where '{query[:100]}': {reason}: write a condition as \"m == 3\", over "
            f"{columns}, or another column of to_frame()"
        ) from error


def grouped(values: Iterable[_T], key: Callable[[_T], _K]) -> dict[_K, list[_T]]:
    """Group values by a key, in the order of the first of each."""
    groups: dict[_K, list[_T]] = {}
    for value in values:
        groups.setdefault(key(value), []).append(value)
    return groups


def answers(run: Run) -> Fixed:
    """Return oracle and tolerance of the queries of a run; empty if its learner asks none."""
    texts = {name: str(run.details[name]) for name in ("oracle", "tau") if name in run.details}
    return tuple((n, tau_of(text) if n == "tau" else text) for n, text in texts.items())


def version_of(run: Run) -> tuple[int, str]:
    """Return a learner's revision, and the SHA-256 of its file if a user wrote it."""
    return run.revisions.get("learner", -1), str(run.details.get("sha256", ""))


def comparable(runs: Iterable[Run]) -> dict[Fixed, list[Run]]:
    """Group runs that one comparison may contain: they differ in spec, learner and seed only.

    Runs of a group have the same family, family revision, budget, oracle and tolerance. Runs of
    learners that ask no queries are in every group of their family and budget. If a learner has
    several revisions or files, only the runs of the latest are kept.
    """

    def fixed_in(run: Run) -> Fixed:
        budget = ((f"budget_{name}", getattr(run.budget, name)) for name in BUDGET)
        return (("family", run.family), *budget, ("family_revision", run.revisions.get("family")))

    def newest(group: Iterable[Run]) -> tuple[int, str]:
        counts = Counter(map(version_of, group))
        return min(counts, key=lambda version: (-version[0], -counts[version], version[1]))

    groups: dict[Fixed, list[Run]] = {}
    for fixed, group in grouped(runs, fixed_in).items():
        learners = grouped(group, lambda run: run.learner)
        latest = {name: newest(trials) for name, trials in learners.items()}
        kept = [run for run in group if version_of(run) == latest[run.learner]]
        for answered in dict.fromkeys(filter(None, map(answers, kept))) or ((),):
            groups[*fixed, *answered] = [run for run in kept if answers(run) in (answered, ())]
    return groups


@dataclass(frozen=True, kw_only=True)
class Group:
    """Runs that can be compared, with the values that all of them have.

    where: the condition that selects them from the runs of their file. beside: the part of that
    condition that the spec of the comparison does not show.
    """

    rows: tuple[Run, ...] = field(repr=False)
    fixed: Fixed
    where: str = ""
    beside: str = ""

    @property
    def tau(self) -> Value | str | None:
        """The tolerance of queries; None if none were asked."""
        return dict(self.fixed).get("tau")


@dataclass(frozen=True, kw_only=True)
class Line(Group):
    """Runs over one parameter.

    uncertified: the reason why there are no certificates, empty if there are.
    """

    comparison: Comparison
    uncertified: str = ""

    @property
    def title(self) -> str:
        """Its spec, its sizes, and the condition that distinguishes it from other lines."""
        comparison = self.comparison
        low, high = write(comparison.values[0]), write(comparison.values[-1])
        sizes = low if low == high else f"{low} to {high}"
        condition = f" ({self.beside})" if self.beside else ""
        return f"{comparison.spec}, {comparison.parameter} = {sizes}{condition}"


@dataclass(frozen=True, kw_only=True)
class Plane(Group):
    """Runs over two parameters x and y that vary, as a dimension and the size of a hidden set.

    xs, ys: their values. specs: the spec at (x, y), for those pairs that have runs.
    """

    x: str
    y: str
    xs: tuple[Value, ...]
    ys: tuple[Value, ...]
    specs: dict[tuple[Value, Value], str] = field(repr=False)

    @property
    def learners(self) -> tuple[str, ...]:
        """Canonical names of the learners, in the order of the runs."""
        return tuple(dict.fromkeys(row.learner for row in self.rows))


_G = TypeVar("_G", bound=Group)


def over_one(runs: Iterable[Run]) -> tuple[Line, ...]:
    """List the lines of runs, each over one parameter; raises DamagedFile.

    >>> over_one([])
    ()
    """
    groups: dict[object, Line] = {}
    for fixed, group in comparable(runs).items():
        by_spec = grouped(group, lambda run: run.spec)
        for parameter, (first, *_) in lines([*by_spec]):
            others = _others(first, parameter)
            specs = [
                spec
                for spec in by_spec
                if parameter in numbers_of(spec) and _others(spec, parameter) == others
            ]
            groups[fixed, parameter, others] = _line(parameter, specs, by_spec, fixed)
    return with_conditions([*groups.values()])


def over_two(runs: Iterable[Run]) -> tuple[Plane, ...]:
    """List the planes of runs, each over two parameters that both vary.

    >>> over_two([])
    ()
    """
    kept_planes: list[Plane] = []
    for fixed, group in comparable(runs).items():
        x, y = axes([run.spec for run in group])
        both = (run for run in group if {x, y} <= {*numbers_of(run.spec)})
        by_others = grouped(both, lambda run: _others(run.spec, x, y))  # noqa: B023
        planes = (_plane(x, y, kept, fixed) for kept in by_others.values())
        kept_planes += [plane for plane in planes if min(len(plane.xs), len(plane.ys)) > 1]
    return with_conditions(kept_planes)


def single(groups: Sequence[_G], runs: Sequence[Run], source: str, query: str | None = None) -> _G:
    """Return the only group, of which a figure is drawn; raises UsageError for none or several.

    runs, query: the runs that were grouped, and the condition that selected them.
    """
    if len(groups) == 1:
        return groups[0]
    if not runs:
        raise UsageError(f"{source}: no runs are left to draw: sweep more, or widen --where")
    if not groups:
        raise UsageError(
            f"{source}: its runs are over one parameter, a phase diagram needs two: "
            "draw both-sides, or sweep over two parameters into a store"
        )
    before = f"({query}) and " if query else ""
    choices = " or ".join(f'--where "{before}{group.where}"' for group in groups[:2])
    raise UsageError(
        f"{source}: {len(groups)} figures can be drawn of its runs: choose one, as by {choices}"
    )


def lines(specs: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Divide specs of one family into lines, each with the parameter that varies along it.

    Lines follow the parameter with the longest line, d or n first. Specs that are alone on their
    line are divided again.

    >>> lines([f"parity:d={d},m={m}" for m in (2, 3) for d in (8, 6)])
    [('d', ['parity:d=6,m=2', 'parity:d=8,m=2']), ('d', ['parity:d=6,m=3', 'parity:d=8,m=3'])]
    """
    cuts = {name: _along(specs, name) for name in numbers_of(specs[0])}
    parameter = max(cuts, key=lambda n: (max(map(len, cuts[n])), n in DIMENSIONS, len(cuts[n])))
    longest = max(map(len, cuts[parameter]))
    kept = [line for line in cuts[parameter] if len(line) > 1]
    placed = {spec for line in kept for spec in line}
    rest = [spec for spec in specs if spec not in placed]
    if longest == 1:  # each spec is a line of its own
        return [(max(numbers_of(each), key=DIMENSIONS.__contains__), [each]) for each in specs]
    return [(parameter, line) for line in kept] + (lines(rest) if rest else [])


def axes(specs: Sequence[str]) -> tuple[str, str]:
    """Choose two parameters that vary: d or n against m or h, else the longest ranges.

    >>> axes([f"parity:d={d},m=3,noise=0" for d in (8, 9)])
    ('d', 'm')
    >>> axes([f"parity:d={d},m=3,noise=0.{d}" for d in (1, 2)])
    ('d', 'noise')
    """
    counts = {name: len({numbers_of(s).get(name) for s in specs}) for name in numbers_of(specs[0])}
    order = (*DIMENSIONS, *WEIGHTS)

    def rank(name: str) -> tuple[bool, bool, int, int]:
        place = order.index(name) if name in order else len(order)
        return counts[name] < 2, name not in order, -counts[name], place

    best = sorted(counts, key=rank)[:2]
    best.sort(key=lambda name: (name not in DIMENSIONS, name in WEIGHTS, -counts[name]))
    return best[0], best[-1]


def _others(spec: str, *without: str) -> Fixed:
    """Return the parameters of a spec except those named in `without`, in their order."""
    return tuple((k, v) for k, v in parameters_of(spec).items() if k not in without)


def _along(specs: Iterable[str], name: str) -> list[list[str]]:
    """Group specs that differ in one number only, each group in the order of its values."""
    by_others = grouped((s for s in specs if name in numbers_of(s)), lambda s: _others(s, name))
    return [sorted(line, key=lambda spec: numbers_of(spec)[name]) for line in by_others.values()]


def _line(
    parameter: str,
    specs: Sequence[str],
    by_spec: dict[str, list[Run]],
    fixed: Fixed,
) -> Line:
    specs = sorted(specs, key=lambda spec: numbers_of(spec)[parameter])
    rows = tuple(row for spec in specs for row in by_spec[spec])
    terms = terms_of(dict(fixed).get("tau"))
    why = certify_all(specs, terms)[1]
    learners = tuple(dict.fromkeys(row.learner for row in rows))
    comparison = Comparison(
        spec=brief_spec(specs[0], parameter),
        parameter=parameter,
        budget=rows[0].budget,
        specs=tuple(specs),
        learners=tuple(short(name) for name in learners),
        canonical=learners,
        seeds=max(Counter((row.spec, row.learner) for row in rows).values()),
        seed=min(row.seed for row in rows),
        terms=terms,
        runs=rows,
    )
    in_common = (*fixed[:1], *_others(specs[0], parameter), *fixed[1:])
    return Line(rows=rows, fixed=in_common, comparison=comparison, uncertified=why)


def _plane(x: str, y: str, runs: Sequence[Run], fixed: Fixed) -> Plane:
    numbers = {run.spec: numbers_of(run.spec) for run in runs}
    specs = {(values[x], values[y]): spec for spec, values in numbers.items()}
    xs, ys = (tuple(sorted({point[i] for point in specs})) for i in (0, 1))
    return Plane(
        rows=tuple(sorted(runs, key=lambda run: (numbers[run.spec][x], numbers[run.spec][y]))),
        fixed=(*fixed[:1], *_others(runs[0].spec, x, y), *fixed[1:]),
        x=x,
        y=y,
        xs=xs,
        ys=ys,
        specs=specs,
    )


def _clause(name: str, value: Value | str | None) -> str:
    """Write the condition that a column has a value, in pandas syntax.

    For oracle and tau it is also true for runs without queries.

    >>> _clause("m", 3), _clause("secret", "binary"), _clause("budget_examples", None)
    ('m == 3', "secret == 'binary'", 'budget_examples.isna()')
    """
    column = name if name.isidentifier() else f"`{name}`"
    if value is None:
        return f"{column}.isna()"
    text = repr(value) if isinstance(value, str) else write(value)
    if name in ("oracle", "tau"):
        return f"({column} == {text} or {column}.isna())"
    return f"{column} == {text}"


def with_conditions(groups: Sequence[_G]) -> tuple[_G, ...]:
    """Return copies of groups with conditions that distinguish each from all others.

    A clause is added for each fixed value, in their order, that excludes some remaining group.

    >>> groups = [Group(rows=(), fixed=(("m", m), ("noise", 0))) for m in (2, 3)]
    >>> [group.where for group in with_conditions(groups)]
    ['m == 2', 'm == 3']
    """
    all_fixed, named = [dict(group.fixed) for group in groups], []
    for group in groups:
        remaining, clauses = all_fixed, dict[str, str]()
        for name, value in group.fixed:
            agree = [other for other in remaining if other.get(name, ...) == value]
            if len(agree) < len(remaining):
                remaining, clauses[name] = agree, _clause(name, value)
        in_spec = {"family", *(name for run in group.rows[:1] for name in parameters_of(run.spec))}
        beside = (clause for name, clause in clauses.items() if name not in in_spec)
        where = " and ".join(clauses.values())
        named.append(replace(group, where=where, beside=" and ".join(beside)))
    return tuple(named)
