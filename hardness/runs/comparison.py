"""Comparisons of learners and certified bounds over the values of one parameter."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import msgspec

from hardness.bounds import BoundParameters, Certificate
from hardness.bounds.quantities import NONE_ENOUGH, VACUOUS, vacuous
from hardness.learners import learner_spec
from hardness.learners.learner import View
from hardness.oracles import Budget
from hardness.runs.certified import certify_all, claims, number, query_bound
from hardness.runs.columns import numbers_of, runs_frame
from hardness.runs.growth import Scaling, scaling
from hardness.runs.jobs import Executor, Job, in_this_process, require_loaded, require_some
from hardness.runs.names import Value, numbers
from hardness.runs.record import Record
from hardness.runs.registry import parse_learner, stored_name
from hardness.runs.run import COSTS, Cost, Run, require_support
from instances.errors import UsageError, require
from instances.numbers import write
from instances.parameters import key_values, parameter_fields
from instances.result import TableRow
from instances.spec import kind_of, require_drawn, spec_of
from instances.spec import parse_stored as parse

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT = "hardness-results/4"
_MOST_RUNS = 100_000


@dataclass(frozen=True, kw_only=True)
class Cell:
    """The summary of the runs of one learner at one size.

    queries, examples, values, seconds, risk: medians of all runs, solved or not. enough: for each
    cost, the least amount that a fraction of the runs stayed within, solved or not. The fraction is
    the success probability of the certified bounds. outcome: the most frequent one.
    """

    value: Value
    learner: str
    view: View
    solved: int
    runs: int
    queries: float
    examples: float
    values: float
    seconds: float
    risk: float | None
    enough: dict[Cost, float]
    outcome: str


def cell(value: Value, runs: Sequence[Run], success: Fraction) -> Cell:
    """Summarise the runs, at least one, of a learner on the instances of a spec."""
    risks = [r.risk for r in runs if r.risk is not None]
    names = [r.outcome.value for r in runs]
    return Cell(
        value=value,
        learner=runs[0].learner,
        view=runs[0].view,
        solved=sum(run.solved for run in runs),
        runs=len(runs),
        queries=_median([r.queries for r in runs]),
        examples=_median([r.examples for r in runs]),
        values=_median([r.membership_queries for r in runs]),
        seconds=median(r.seconds for r in runs),
        enough={cost: cost_within((r.used(cost) for r in runs), success) for cost in COSTS},
        risk=median(risks) if risks else None,
        outcome=max(names, key=names.count),
    )


def _median(counts: Sequence[int]) -> float:
    """Return the median of counts, as an int if it is whole."""
    middle = median(counts)
    return int(middle) if middle == int(middle) else middle


def cost_within(costs: Iterable[float], fraction: Fraction) -> float:
    """Return the least cost that at least a fraction of the runs stayed within.

    >>> cost_within([5, 1, 9], Fraction(2, 3))
    5
    """
    ordered = sorted(costs)
    return ordered[math.ceil(fraction * len(ordered)) - 1]


class Comparison(Record, frozen=True, kw_only=True):
    """Runs and certificates over the values of one parameter.

    spec: as the user wrote it. specs: the canonical spec of each value. seed: the first one.
    canonical: names of the learners if they were read from runs. Certificates and the growth of
    costs are computed from these fields, once.
    """

    spec: str
    parameter: str
    specs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    learners: tuple[str, ...]
    seeds: Annotated[int, msgspec.Meta(ge=1)]
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    terms: BoundParameters
    command: str = ""
    budget: Budget  # of every run
    runs: tuple[Run, ...] = ()
    canonical: tuple[str, ...] = ()

    _format: ClassVar[str] = FORMAT
    _inside: ClassVar[str] = "results.json"
    _unfiled: ClassVar[tuple[str, ...]] = ("canonical",)

    @property
    def works(self) -> list[Job]:
        """The jobs of its runs, ordered by size, learner and seed."""
        return [
            Job(spec=spec, learner=learner, seed=seed, budget=self.budget, tau=self.terms.tau)
            for spec in self.specs
            for learner in self.learners
            for seed in range(self.seed, self.seed + self.seeds)
        ]

    def on(self, runs: Iterable[Run]) -> Self:
        """Return a copy with the given runs that belong to it, in the order of its jobs."""
        sizes = {spec: i for i, spec in enumerate(self.specs)}
        names = {name: i for i, name in enumerate(self.learner_names)}
        seeds = range(self.seed, self.seed + self.seeds)
        kept = [r for r in runs if r.spec in sizes and r.learner in names and r.seed in seeds]
        kept.sort(key=lambda run: (sizes[run.spec], names[run.learner], run.seed))
        return self.updated(runs=tuple(kept))

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each size; empty if some size has none."""
        return certificates(self.specs, self.terms)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values of the parameter, read from the specs."""
        return tuple(numbers_of(spec)[self.parameter] for spec in self.specs)

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order of `learners`."""
        return list(self.canonical) or [*map(stored_name, self.learners)]

    def runs_of(self, learner: str, value: Value) -> list[Run]:
        """Return the runs of a learner at a value of the parameter."""
        by_spec = self._by_learner.get(learner, {})
        return list(by_spec.get(self.specs[self.values.index(value)], ()))

    @cached_property
    def _by_learner(self) -> Mapping[str, Mapping[str, list[Run]]]:
        by_learner: dict[str, dict[str, list[Run]]] = {name: {} for name in self.learner_names}
        for run in self.runs:
            by_learner.setdefault(run.learner, {}).setdefault(run.spec, []).append(run)
        return by_learner

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The cell of each learner at each size where it ran, ordered by learner.

        In runs of a sweep, some learners may not have run at every size.
        """
        return tuple(
            cell(value, runs, self.terms.success)
            for learner in self.learner_names
            for value in self.values
            if (runs := self.runs_of(learner, value))
        )

    def bounds(self, quantity: str) -> list[int | None]:
        """Return the certified value at each size, None if no finite number of queries suffices.

        The list is empty if the quantity is not claimed at all sizes.
        """
        if not all(claims(one, quantity) for one in self.certificates):
            return []
        return [number(one, quantity, self.terms.success) for one in self.certificates]

    @cached_property
    def scaling(self) -> Scaling:
        """The fitted growth of costs and of certified numbers."""
        sizes = dict(zip(self.specs, self.values, strict=True))
        return scaling(self.parameter, self._by_learner, sizes, self.certificates)

    def by_size(self) -> Iterator[tuple[str, dict[str, int | None], list[Cell]]]:
        """Yield for each size its text, the certified values by quantity, and its cells.

        The quantities are the information-floor and the bound on queries, if there is one. Without
        an information-floor there are none.
        """
        names = (query_bound(self.certificates), "information-floor")
        bounds = {name: values for name in names if name and (values := self.bounds(name))}
        if "information-floor" not in bounds:
            bounds = {}
        for i, value in enumerate(self.values):
            certified = {name: values[i] for name, values in bounds.items()}
            cells = [cell for cell in self.cells if cell.value == value]
            yield f"{self.parameter}={write(value)}", certified, cells

    def _rows(self) -> list[TableRow]:
        names = dict(zip(self.learner_names, self.learners, strict=True))
        costs = ["queries", "examples", "values", "seconds", "risk"]
        if not any(cell.values for cell in self.cells):
            costs.remove("values")
        rows: list[TableRow] = []
        for size, certified, cells in self.by_size():
            for cell in cells:
                used = {cost: getattr(cell, cost) for cost in costs}
                used |= {c: used[c] or None for c in ("queries", "values") if c in costs}
                ends = {"solved": f"{cell.solved}/{cell.runs}", "known": "measured"}
                rows.append({"learner": names[cell.learner], "size": size, **used, **ends})
            if certified:
                bounds = {COST_OF[name]: certified_text(name, n) for name, n in certified.items()}
                known = "exact" if {*bounds.values()} - {VACUOUS} else VACUOUS
                row = {"learner": "certified at least", "size": size, **dict.fromkeys(costs)}
                rows.append({**row, **bounds, "solved": None, "known": known})
        return rows

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame: one row a run, or without runs one row a claim."""
        if self.certificates and not self.runs:
            import pandas as pd

            return pd.concat([one.to_frame() for one in self.certificates], ignore_index=True)
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the certificates and the fitted growth."""
        return {
            **self.filed(),
            "certificates": [one.to_dict() for one in self.certificates],
            "values": [v if isinstance(v, int) else write(v) for v in self.values],
            "scaling": self.scaling.to_dict(),
        }


COST_OF = {  # the cost of a run that each certified quantity bounds
    "stat-queries": "queries",
    "csq-queries": "queries",
    "information-floor": "examples",
}


def certified_text(quantity: str, value: int | None) -> int | str:
    """Return a certified value, "vacuous" for a trivial one, or "none enough" for None."""
    if value is None:
        return NONE_ENOUGH
    return VACUOUS if vacuous(quantity, value) else value


def distinct_learners(learners: tuple[str, ...]) -> tuple[str, ...]:
    """Drop repeated learners, whatever their spelling; keep the first name of each.

    >>> distinct_learners(("lowdegree", "lowdegree:degree=2", "student"))
    ('lowdegree', 'student')
    """
    named: dict[str, str] = {}
    for text in learners:
        named.setdefault(learner_spec(parse_learner(text)), text)
    return tuple(named.values())


def default_learners(spec: str, over: str) -> tuple[str, ...]:
    """Name the default learners that run on a family, for a command that names none.

    >>> default_learners("profile:g=majority,m=3", "d=8..10")
    ('queries', 'lowdegree', 'student')
    """
    family = parse(specs_over(spec_of(spec), *values_of(over))[0])
    return tuple(n for n in family.default_learners if not parse_learner(n).supports(family))


def values_of(text: str) -> tuple[str, tuple[Value, ...]]:
    """Read "d=8..20", "d=8..20..4", "d=8,12,16" or "coherence=0,0.5,0.9".

    >>> values_of("d=8..20..4")
    ('d', (8, 12, 16, 20))
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    values = numbers(rest, f"--over {name}") if equals and name else None
    if values is None:
        raise UsageError(
            f"--over {text}: write numbers as d=8..20, d=8..20..4, d=8,12,16 or trace=0,0.5"
        )
    return name, tuple(values[: _MOST_RUNS + 1])


def certificates(
    specs: tuple[str, ...], terms: BoundParameters, needed: bool = False
) -> tuple[Certificate, ...]:
    """Certify every size; an empty tuple if some size has no certificate.

    needed: raise UsageError with the reason instead.
    """
    made, why_not = certify_all(specs, terms)
    if why_not and needed:
        raise UsageError(why_not)
    return made


def specs_over(spec: str, parameter: str, values: tuple[Value, ...]) -> list[str]:
    """Return the canonical spec for each value of a parameter, which the spec may have already."""
    name, _, rest = spec.partition(":")
    if kind_of(name) is None:
        name, _, rest = parse(spec).spec.partition(":")
    keys = [field.name for field in parameter_fields(kind_of(name))]
    fixed = key_values(rest, name, keys)
    if parameter not in keys:
        has = f"the parameters {', '.join(keys)}" if keys else "no parameters"
        raise UsageError(f"--over {parameter}: {name} has {has}")
    families = list[Any]()
    for value in values:
        filled = {**fixed, parameter: write(value)}
        family = parse(f"{name}:" + ",".join(f"{k}={v}" for k, v in filled.items()))
        families.append(require_drawn(family))
    if len(families) > 1 and (first := getattr(families[0], "listed", None)):
        text = f"{name} has the same functions at {parameter}={write(values[0])} and "
        require(not first.like(families[1].listed), f"{text}{write(values[1])}: it does not use it")
    return [family.spec for family in families]


def planned(
    spec: str,
    over: str,
    learners: tuple[str, ...],
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    terms: BoundParameters | None = None,
    command: str = "",
) -> Comparison:
    """Plan a comparison, without runs yet.

    Raises UsageError for values out of range, a learner that cannot run, or, without learners, a
    size that has no certificate.
    """
    terms, spec, budget = terms or BoundParameters(), spec_of(spec), budget or Budget()
    parameter, values = values_of(over)
    specs = tuple(specs_over(spec, parameter, values))
    learners = distinct_learners(learners)
    if seeds < 1:
        raise UsageError(f"{seeds} seeds: at least one is needed")
    if len(specs) * len(learners) * seeds > _MOST_RUNS:
        raise UsageError(
            f"over {_MOST_RUNS} runs asked for: ask for fewer sizes, learners or seeds"
        )
    for learner in map(parse_learner, learners):
        for size in specs:
            require_support(learner, parse(size))
    if not learners:
        certificates(specs, terms, needed=True)
    return Comparison(
        spec=spec,
        parameter=parameter,
        specs=specs,
        learners=learners,
        seeds=seeds,
        seed=first_seed,
        terms=terms,
        command=command,
        budget=budget,
    )


def compare(
    spec: str,
    over: str,
    learners: tuple[str, ...],
    *args: Any,
    executor: Executor = in_this_process,
    **options: Any,
) -> Comparison:
    """Run each learner at each size and seed, next to certified bounds; with no learner, no runs.

    args, options: what `planned` takes. executor: does the jobs; the result does not depend on it,
    except for seconds. Raises UsageError before anything runs, and ToolkitError if no run could be
    done.
    """
    return run_planned(planned(spec, over, learners, *args, **options), executor)


def run_planned(plan: Comparison, executor: Executor = in_this_process) -> Comparison:
    """Do the runs of a planned comparison; raises UsageError for a learner that does not load."""
    require_loaded(plan.learners, plan.specs[0])
    runs = executor(plan.works)
    require_some(runs)
    return plan.updated(runs=tuple(runs))
