"""Comparisons: learners beside certified bounds over the values of one parameter."""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import msgspec

from hardness.bounds import BoundParameters, Certificate, certify
from hardness.bounds.quantities import NONE_ENOUGH, WORD, vacuous
from hardness.learners import learner_spec
from hardness.oracles import Budget
from hardness.runs.cells import Cell, cell
from hardness.runs.certified import claims, number, query_bound
from hardness.runs.columns import numbers_of, runs_frame
from hardness.runs.growth import Scaling, scaling
from hardness.runs.names import Value, numbers
from hardness.runs.planned import Do, Planned, collect, cut_to, here, require_loaded, whole
from hardness.runs.record import Record
from hardness.runs.registry import parse_learner
from hardness.runs.run import Run, require_support
from instances.errors import DamagedFile, ToolkitError, UsageError, require
from instances.numbers import write
from instances.parameters import key_values, listed
from instances.result import TableRow
from instances.spec import kind_of, require_drawn, spec_of
from instances.spec import parse_stored as parse

if TYPE_CHECKING:
    from pandas import DataFrame

    Certificates = tuple[Certificate, ...]
else:
    Certificates = tuple[Any, ...]  # msgspec does not read them: `shaped` does

FORMAT = "hardness-results/3"
_MOST_RUNS = 100_000


class Comparison(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Runs and certificates over the values of one parameter.

    spec: as asked; specs: canonical, one a value. certificates: one a value, none where no bound is
    claimed. canonical: names of the learners, where a store says them. How costs grow and how
    learners stand to one another follow from the runs, and are computed once.
    """

    spec: str
    parameter: str
    specs: tuple[str, ...]
    learners: tuple[str, ...]
    seeds: Annotated[int, msgspec.Meta(ge=1)]
    terms: BoundParameters
    command: str = ""
    budget: Budget  # of every run
    certificates: Certificates = ()
    runs: tuple[Run, ...] = ()
    canonical: tuple[str, ...] = ()

    _format: ClassVar[str] = FORMAT
    _inside: ClassVar[str] = "results.json"
    _unfiled: ClassVar[tuple[str, ...]] = ("canonical",)
    _follows: ClassVar[tuple[str, ...]] = ("values", "scaling")
    _parts: ClassVar[dict[str, type[Record]]] = {"runs": Run}

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values of the parameter, as the specs say them."""
        return tuple(numbers_of(spec)[self.parameter] for spec in self.specs)

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order asked."""
        return list(self.canonical) or [learner_spec(parse_learner(one)) for one in self.learners]

    def of(self, learner: str, value: Value) -> list[Run]:
        """Return the runs of a learner at a value of the parameter."""
        found = self._by_learner.get(learner, {})
        return list(found.get(self.specs[self.values.index(value)], ()))

    @cached_property
    def _by_learner(self) -> Mapping[str, Mapping[str, list[Run]]]:
        found: dict[str, dict[str, list[Run]]] = {name: {} for name in self.learner_names}
        for one in self.runs:
            found.setdefault(one.learner, {}).setdefault(one.spec, []).append(one)
        return found

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """Every learner at every size where it ran in a few numbers, learners in the order asked.

        Of a slice of a store not every learner ran at every size.
        """
        return tuple(
            cell(value, runs, self.terms.success)
            for learner in self.learner_names
            for value in self.values
            if (runs := self.of(learner, value))
        )

    def bounds(self, quantity: str) -> list[int | None]:
        """Return a certified value at every size; empty where it is not claimed of all sizes.

        None where no number of queries is enough.
        """
        if not all(claims(one, quantity) for one in self.certificates):
            return []
        return [number(one, quantity, self.terms.success) for one in self.certificates]

    @cached_property
    def scaling(self) -> Scaling:
        """How costs and certified numbers grow."""
        sizes = dict(zip(self.specs, self.values, strict=True))
        return scaling(self.parameter, self._by_learner, sizes, self.certificates)

    def by_size(self) -> Iterator[tuple[str, dict[str, int | None], list[Cell]]]:
        """Give each size as text, with the cells there and what is certified by its quantity.

        Certified are the floor of examples and the bound on queries, where there is one; nothing
        where there is no floor.
        """
        names = (query_bound(self.certificates), "information-floor")
        found = {name: values for name in names if name and (values := self.bounds(name))}
        known = found if names[1] in found else {}
        for i, value in enumerate(self.values):
            certified = {name: values[i] for name, values in known.items()}
            here = [one for one in self.cells if one.value == value]
            yield f"{self.parameter}={write(value)}", certified, here

    def _rows(self) -> list[TableRow]:
        names = dict(zip(self.learner_names, self.learners, strict=True))
        costs = ["queries", "examples", "values", "seconds", "risk"]
        if not any(one.values for one in self.cells):
            costs.remove("values")
        rows: list[TableRow] = []
        for size, certified, every in self.by_size():
            for one in every:
                found = {cost: getattr(one, cost) for cost in costs}
                found |= {c: found[c] or None for c in ("queries", "values") if c in costs}
                said = {"solved": f"{one.solved}/{one.runs}", "known": "measured"}
                rows.append({"learner": names[one.learner], "size": size, **found, **said})
            if certified:
                told = {BOUND[name]: worded(name, n) for name, n in certified.items()}
                known = "exact" if {*told.values()} - {WORD} else WORD
                row = {"learner": "certified at least", "size": size, **dict.fromkeys(costs)}
                rows.append({**row, **told, "solved": None, "known": known})
        return rows

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame: one row a run; where there is none, one row a claim."""
        if self.certificates and not self.runs:
            import pandas as pd

            return pd.concat([one.to_frame() for one in self.certificates], ignore_index=True)
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON with what follows: fitted growth, and learners compared in pairs."""
        return {
            **self.filed(),
            "values": [v if isinstance(v, int) else write(v) for v in self.values],
            "scaling": self.scaling.to_dict(),
        }

    @classmethod
    def shaped(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Read the certificates too; raises ValueError for parts that are not of one comparison."""
        fields = super().shaped(data)
        specs, runs, certificates = fields["specs"], fields["runs"], fields["certificates"]
        if len(certificates) not in (0, len(specs)):
            raise ValueError("certificates: one a spec is needed, or none")
        if missing := [run["spec"] for run in runs if run["spec"] not in specs]:
            raise ValueError(f"a run is on {missing[0]}, which is none of the specs")
        parameter, whole_spec = fields["parameter"], fields["spec"]
        if missing := [spec for spec in specs if parameter not in numbers_of(spec)]:
            raise ValueError(f"parameter: {missing[0]} has no {parameter}")
        if kind_of(whole_spec.partition(":")[0]) is not None:
            sizes = tuple(numbers_of(spec)[parameter] for spec in specs)
            if specs_over(whole_spec, parameter, sizes) != list(specs):
                raise ValueError(f"spec: {whole_spec} has other specs over {parameter}")
        names = fields.get("canonical") or [
            learner_spec(parse_learner(text)) for text in fields["learners"]
        ]
        if missing := [run["learner"] for run in runs if run["learner"] not in names]:
            raise ValueError(f"a run is of {missing[0]}, which is none of the learners")
        try:
            return {**fields, "certificates": [*map(Certificate.read, certificates)]}
        except DamagedFile as error:  # the file is named where it is read
            raise UsageError(f"certificates: {error}") from error


BOUND = {
    "stat-queries": "queries",
    "csq-queries": "queries",
    "information-floor": "examples",
}


def worded(quantity: str, value: int | None) -> int | str:
    """Give what is certified, or the words for what says nothing and for no number at all."""
    if value is None:
        return NONE_ENOUGH
    return WORD if vacuous(quantity, value) else value


def distinct(learners: tuple[str, ...]) -> tuple[str, ...]:
    """Drop learners that were named before, in whatever spelling.

    >>> distinct(("lowdegree", "lowdegree:degree=2", "student"))
    ('lowdegree', 'student')
    """
    named: dict[str, str] = {}
    for text in learners:
        named.setdefault(learner_spec(parse_learner(text)), text)
    return tuple(named.values())


def usual(spec: str, over: str) -> tuple[str, ...]:
    """Name a few learners that run on a family, for who names none.

    >>> usual("profile:g=majority,m=3", "d=8..10")
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
    found = numbers(rest, f"--over {name}") if equals and name else None
    if found is None:
        raise UsageError(
            f"--over {text} given: write numbers as d=8..20, d=8..20..4, d=8,12,16 or trace=0,0.5"
        )
    return name, tuple(found[: _MOST_RUNS + 1])


def certificates(
    specs: tuple[str, ...], terms: BoundParameters, needed: bool = False
) -> tuple[Certificate, ...]:
    """Certify every size; none where a bound is not claimed for one of them, or cannot be had.

    needed: raise ToolkitError there instead, with the reason.
    """
    families = [parse(one) for one in specs]
    try:
        for family in families:
            if family.hardness.evidence != "exact":
                raise UsageError(f"{family} given: {family.hardness.why}")
        return tuple(certify(family, terms) for family in families)
    except ToolkitError:
        if needed:
            raise
        return ()


def specs_over(spec: str, parameter: str, values: tuple[Value, ...]) -> list[str]:
    """Fill a parameter's values into a spec, whether or not it stands there already."""
    name, _, rest = spec.partition(":")
    if kind_of(name) is None:
        name, _, rest = parse(spec).spec.partition(":")
    keys = [field.name for field in listed(kind_of(name))]
    given = key_values(rest, name, keys)
    if parameter not in keys:
        has = f"the parameters {', '.join(keys)}" if keys else "no parameters"
        raise UsageError(f"--over {parameter}: {name} has {has}")
    found = list[Any]()
    for value in values:
        filled = {**given, parameter: write(value)}
        one = parse(f"{name}:" + ",".join(f"{k}={v}" for k, v in filled.items()))
        found.append(require_drawn(one))
    if len(found) > 1 and (first := getattr(found[0], "given", None)):
        said = f"{name} has the same functions at {parameter}={write(values[0])} and "
        require(not first.like(found[1].given), f"{said}{write(values[1])}: it does not use it")
    return [one.spec for one in found]


def compare(
    spec: str,
    over: str,
    learners: tuple[str, ...],
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    terms: BoundParameters | None = None,
    do: Do = here,
    command: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> Comparison:
    """Run every learner on every size and seed, and certify every size; no learner: certify alone.

    do: who does the runs; the result does not depend on it, seconds apart. Raises UsageError
    before anything runs, and Cut, with what was finished, on Ctrl-C or where a run could not be
    done.
    """
    terms, spec, budget = terms or BoundParameters(), spec_of(spec), budget or Budget()
    parameter, values = values_of(over)
    specs = tuple(specs_over(spec, parameter, values))
    learners = distinct(learners)
    if seeds < 1:
        raise UsageError(f"{seeds} seeds given: at least one is needed")
    if len(specs) * len(learners) * seeds > _MOST_RUNS:
        raise UsageError(
            f"over {_MOST_RUNS} runs asked for: ask for fewer sizes, learners or seeds"
        )
    for learner in map(parse_learner, learners):
        for one in specs:
            require_support(learner, parse(one))
    require_loaded(learners, specs[0])
    planned = Comparison(
        spec=spec,
        parameter=parameter,
        specs=specs,
        learners=learners,
        seeds=seeds,
        terms=terms,
        certificates=certificates(specs, terms, needed=not learners),
        command=command,
        budget=budget,
    )
    tasks = [
        Planned(spec=one, learner=learner, seed=seed, budget=budget, tau=terms.tau)
        for one in specs
        for learner in learners
        for seed in range(first_seed, first_seed + seeds)
    ]
    done: dict[int, Run] = {}
    with cut_to(lambda: _finished(planned, done), len(specs)):
        collect(do, tasks, done, progress)
    return _finished(planned, done)


def _finished(planned: Comparison, done: dict[int, Run]) -> Comparison:
    """Put runs, by their place among all, into a comparison that has none: whole sizes alone."""
    kept = whole(len(planned.specs), len(planned.learners) * planned.seeds, done)
    return planned.updated(
        specs=tuple(planned.specs[i] for i in kept),
        runs=tuple(chain.from_iterable(kept.values())),
        certificates=tuple(planned.certificates[i] for i in kept if planned.certificates),
    )
