"""Both sides: learners and certified bounds over a range of one parameter."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial

from hardness.lower import Certificate, Terms, certify
from hardness.oracles import Budget
from hardness.runs.processes import execute
from hardness.runs.ranges import Value, numbers
from hardness.runs.run import Run, run
from hardness.runs.warm import warm
from hardness.upper import learner_spec, parse_learner
from instances.errors import ToolkitError, UnknownFamily, UsageError
from instances.parameters import key_values, plain
from instances.spec import kind_of, spec_of
from instances.spec import parse_stored as parse

_MAX_RUNS = 100_000


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Runs and certificates over the values of one parameter."""

    spec: str  # as asked
    parameter: str
    values: tuple[Value, ...]
    specs: tuple[str, ...]  # canonical, one a value
    learners: tuple[str, ...]
    seeds: int
    terms: Terms
    runs: tuple[Run, ...]
    certificates: tuple[Certificate, ...]  # one a value, none where no bound is claimed
    command: str = ""
    budget: Budget | None = None  # of every run; None where it is not known
    canonical: tuple[str, ...] = ()  # names of the learners, where a store says them

    def of(self, learner: str, value: Value) -> list[Run]:
        """Return the runs of a learner at a value of the parameter."""
        return list(self._cells.get((learner, self.specs[self.values.index(value)]), ()))

    @cached_property
    def _cells(self) -> dict[tuple[str, str], list[Run]]:
        found: dict[tuple[str, str], list[Run]] = {}
        for one in self.runs:
            found.setdefault((one.learner, one.spec), []).append(one)
        return found

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order asked."""
        return list(self.canonical) or [learner_spec(parse_learner(one)) for one in self.learners]


class Cut(Exception):
    """A comparison was cut, by Ctrl-C or by what could not be done: its cause says which.

    `comparison` holds the sizes that were finished, maybe none, out of `sizes`.
    """

    def __init__(self, comparison: Comparison, sizes: int) -> None:
        super().__init__(f"{len(comparison.values)} of {sizes} sizes were finished")
        self.comparison = comparison
        self.sizes = sizes


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
    return name, tuple(found[: _MAX_RUNS + 1])


def certificates(specs: tuple[str, ...], terms: Terms) -> tuple[Certificate, ...]:
    """Certify every size, or none where a family claims no bound or has too many members."""
    try:
        return require_certificates(specs, terms)
    except UnknownFamily:
        raise
    except ToolkitError:
        return ()


def require_certificates(specs: tuple[str, ...], terms: Terms) -> tuple[Certificate, ...]:
    """Certify every size; raises ToolkitError where that cannot be done for one of them."""
    families = [parse(one) for one in specs]
    for family in families:
        if family.hardness.evidence != "exact":
            raise UsageError(f"{family.spec} given: {family.hardness.why}")
    return tuple(certify(family, terms) for family in families)


def specs_over(spec: str, parameter: str, values: tuple[Value, ...]) -> list[str]:
    """Fill a parameter's values into a spec, whether or not it stands there already."""
    name, _, rest = spec.partition(":")
    if kind_of(name) is None:
        name, _, rest = parse(spec).spec.partition(":")
    keys = list(kind_of(name).__dataclass_fields__)  # type: ignore[union-attr]
    given = key_values(rest, name, keys)
    if parameter not in keys:
        raise UsageError(f"--over {parameter}: {name} has the parameters {', '.join(keys)}")
    return [
        parse(
            f"{name}:" + ",".join(f"{k}={v}" for k, v in {**given, parameter: plain(value)}.items())
        ).spec
        for value in values
    ]


def compare(
    spec: str,
    over: str,
    learners: tuple[str, ...],
    seeds: int = 3,
    first_seed: int = 0,
    budget: Budget | None = None,
    terms: Terms | None = None,
    jobs: int = 1,
    command: str = "",
    progress: Callable[[int], None] = lambda done: None,
) -> Comparison:
    """Run every learner on every size and seed, and certify every size; no learner: certify alone.

    The result does not depend on `jobs`, seconds apart. Raises UsageError before anything runs, and
    Cut, with what was finished, on Ctrl-C or where a run could not be done.
    """
    terms, budget = terms or Terms(), budget or Budget()
    parameter, values = values_of(over)
    spec = spec_of(spec)
    specs = specs_over(spec, parameter, values)
    learners = distinct(learners)
    _require_runs(specs, learners, seeds, jobs)
    certify_all = certificates if learners else require_certificates
    certified = certify_all(tuple(specs), terms)
    tasks = [
        (one, name, seed, budget, terms.tau)
        for one in specs
        for name in learners
        for seed in range(first_seed, first_seed + seeds)
    ]
    runs: list[Run | None] = [None] * len(tasks)

    def finished() -> Comparison:
        """The sizes of which every run is there."""
        each = len(tasks) // len(specs)
        kept = [i for i in range(len(specs)) if None not in runs[i * each : (i + 1) * each]]
        return Comparison(
            spec=spec,
            parameter=parameter,
            values=tuple(values[i] for i in kept),
            specs=tuple(specs[i] for i in kept),
            learners=learners,
            seeds=seeds,
            terms=terms,
            runs=tuple(r for i in kept for r in runs[i * each : (i + 1) * each] if r is not None),
            certificates=tuple(certified[i] for i in kept if certified),
            command=command,
            budget=budget,
        )

    try:
        for index, found in execute(_one, tasks, jobs, partial(warm, specs[0], learners)):
            runs[index] = found
            progress(1)
    except (KeyboardInterrupt, ToolkitError) as error:
        raise Cut(finished(), len(specs)) from error
    return finished()


def _require_runs(specs: list[str], learners: tuple[str, ...], seeds: int, jobs: int) -> None:
    """Refuse what cannot be run; raises UsageError."""
    if seeds < 1 or jobs < 1:
        raise UsageError("at least one seed and one job are needed")
    if len(specs) * len(learners) * seeds > _MAX_RUNS:
        raise UsageError(f"over {_MAX_RUNS} runs asked for: ask for fewer sizes, learners or seeds")
    for learner in map(parse_learner, learners):
        reason = learner.supports(parse(specs[0]))
        if reason:
            raise UsageError(f"{learner.name} cannot run on {specs[0]}: {reason}")


Task = tuple[str, str, int, Budget, Fraction]


def _one(task: Task) -> Run:
    spec, learner, seed, budget, tau = task
    return run(parse_learner(learner), parse(spec).instance(seed), budget, seed=seed, tau=tau)
