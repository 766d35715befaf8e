"""Stress tests: learners run on a ladder level by level, until each solves no instance of a level.

All learners get the same instances. Their seeds are derived from one base seed, which the operating
system draws unless it is given. Whoever knows the base seed can compute every secret, so a learner
must not know it.

A learner holds (passes) a level if a test shows that it solves more than half of the instances of
the level. The levels are tested in their order, each at the same significance, up to the first that
is not shown. Such tests in a fixed sequence make a wrong claim with the probability of one test
alone. [GS10]

A file holds the request and the runs; the levels that each learner passed are computed from them.
"""

import math
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

from msgspec import Meta, Struct, field

from hardness.bounds import BoundParameters, certify
from hardness.bounds.quantities import bound, vacuous
from hardness.learners import Outcome, learner_spec
from hardness.oracles import Budget
from hardness.oracles.statistical import samples_a_query
from hardness.runs.certified import claims, number, query_bound, success
from hardness.runs.columns import runs_frame
from hardness.runs.jobs import Executor, Job, in_this_process, require_loaded
from hardness.runs.names import labels, short_specs
from hardness.runs.record import Record
from hardness.runs.registry import LEARNERS, parse_learner, stored_name
from hardness.runs.risk import interval
from hardness.runs.run import Cost, Run
from instances.errors import UsageError
from instances.ladders import Ladder, Level
from instances.numbers import brief, write
from instances.result import TableRow
from instances.spec import parse_stored
from instances.streams import generator

if TYPE_CHECKING:
    from pandas import DataFrame

SIGNIFICANCE = Fraction(1, 20)
SEED_BITS = 63  # every file format of results stores such a number exactly
TERMS = BoundParameters(tau=Fraction(1, 10))
_MOST_SEEDS = 1000
FORMAT = "hardness-stress/4"


@dataclass(frozen=True)
class Trials:
    """The runs of one learner on one level, one for each seed."""

    spec: str
    trials: tuple[Run, ...]

    @property
    def solved(self) -> tuple[Run, ...]:
        """The runs that solved their instance in time; costs are medians over these."""
        return tuple(run for run in self.trials if run.solved)

    @property
    def passes(self) -> int:
        """The number of runs that solved their instance."""
        return len(self.solved)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval for the fraction of instances solved (Clopper and Pearson). [CP34]"""
        return interval(self.passes, len(self.trials))

    def cost(self, resource: Cost) -> float | None:
        """Return the median use of a resource by the solved runs; None if there are none."""
        used = [run.used(resource) for run in self.solved]
        return float(median(used)) if used else None

    @property
    def asked_values(self) -> bool:
        """Whether some run asked for labels of inputs of its choice."""
        return any(run.membership_queries for run in self.trials)

    @property
    def failures(self) -> dict[str, int]:
        """The number of runs that did not pass, by how they ended."""
        return dict(Counter(_end(t) for t in self._failed))

    @property
    def limits(self) -> dict[str, int]:
        """The number of runs that did not pass, by what limited them."""
        return dict(Counter(run.limited_by for run in self._failed if not _refused(run)))

    @property
    def not_run_reason(self) -> str | None:
        """Why the first run that could not be done was not done; None if all were."""
        return next((str(t.details.get("reason")) for t in self.trials if _refused(t)), None)

    @property
    def unsupported(self) -> bool:
        """Whether the learner reported in every run that it does not support the family."""
        return all(
            t.outcome is Outcome.COULD_NOT_RUN and t.details.get("stage") == "supports"
            for t in self.trials
        )

    @property
    def _failed(self) -> list[Run]:
        return [run for run in self.trials if not run.solved]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary of the runs as JSON, without the runs themselves."""
        return {
            "spec": self.spec,
            "trials": len(self.trials),
            "passes": self.passes,
            "interval": list(self.interval),
            "median_examples": self.cost("examples"),
            "median_queries": self.cost("queries"),
            **({"median_values": self.cost("values")} if self.asked_values else {}),
            "median_seconds": self.cost("seconds"),
            "failures": self.failures,
            "bound_by": self.limits,
        }


@dataclass(frozen=True, kw_only=True)
class LadderAttempt:
    """The levels that one learner tried, from the bottom, each with all of its seeds.

    learner: the canonical name. name: as the user wrote it. reference: whether the learner is only
    there to compare with. unsupported: why it does not support the family of the next level, if
    that ended the attempt.
    """

    learner: str
    name: str
    reference: bool
    levels: tuple[Trials, ...] = ()
    unsupported: str | None = None

    @property
    def held(self) -> int:
        """The highest level that is passed with all below it, counted from 1; 0 for none."""
        return levels_passed([(t.passes, len(t.trials)) for t in self.levels])

    @property
    def touched(self) -> int:
        """The highest level with at least one solved instance, counted from 1; 0 for none."""
        return max((i for i, t in enumerate(self.levels, 1) if t.passes), default=0)

    @property
    def continues(self) -> bool:
        """Whether the learner tries the next level: it solved an instance of the last one."""
        return not self.unsupported and (not self.levels or self.levels[-1].passes > 0)

    def passes_text(self, level: int) -> str:
        """Write how many instances of a level were solved, as "3/5", "n/a" or "not run".

        "n/a" is for a level whose family the learner does not support.
        """
        if level <= len(self.levels):
            return f"{self.levels[level - 1].passes}/{len(self.levels[level - 1].trials)}"
        return "n/a" if self.unsupported and level == len(self.levels) + 1 else "not run"

    def to_dict(self) -> dict[str, Any]:
        """Return the summary of the attempt as JSON."""
        return {
            "learner": self.learner,
            "asked": self.name,
            "reference": self.reference,
            "held": self.held,
            "touched": self.touched,
            "unsupported": self.unsupported,
            "levels": [t.to_dict() for t in self.levels],
        }


def passes_needed(seeds: int) -> int | None:
    """Return how many of a level's instances must be solved to pass it; None for too few seeds.

    >>> passes_needed(5), passes_needed(10), passes_needed(4)
    (5, 9, None)
    """
    return next((k for k in range(seeds + 1) if _binomial_tail(k, seeds) <= SIGNIFICANCE), None)


def confidence(seeds: int) -> Fraction | None:
    """Return the exact confidence in all levels reported as passed; None for too few seeds.

    It is 1 minus the probability that a learner that solves half of all instances passes the level.

    >>> confidence(5), confidence(4)
    (Fraction(31, 32), None)
    """
    least = passes_needed(seeds)
    return None if least is None else 1 - _binomial_tail(least, seeds)


def levels_passed(levels: Sequence[tuple[int, int]]) -> int:
    """Count the levels passed from the bottom, up to the first that is not passed.

    levels: for each level, how many instances were solved, and of how many.

    >>> levels_passed([(5, 5), (5, 5), (4, 5), (5, 5)])
    2
    """
    count = 0
    for passes, trials in levels:
        least = passes_needed(trials)
        if least is None or passes < least:
            break
        count += 1
    return count


def _end(trial: Run) -> str:
    if _refused(trial):
        return "not run"
    return "solved too late" if trial.passed else trial.outcome.value


def _refused(trial: Run) -> bool:
    """Whether this machine could not do a run."""
    return trial.outcome is Outcome.COULD_NOT_RUN and trial.limited_by == "machine"


def _binomial_tail(passes: int, trials: int) -> Fraction:
    """Return P(Bin(trials, 1/2) >= passes) exactly."""
    return Fraction(sum(math.comb(trials, k) for k in range(passes, trials + 1)), 2**trials)


@dataclass(frozen=True, kw_only=True)
class LevelBounds:
    """The certified lower bounds of a level, to reach TERMS.risk with probability TERMS.success.

    evidence, reason: the basis of the family's hardness, in a word and in a sentence. quantity: the
    certified quantity of queries, None if no bound on queries is claimed. queries: how many of them
    a learner needs, with worst-case answers within TERMS.tau. floor: how many examples any learner
    needs. success: if no finite number of queries suffices, the success probability above which
    this holds.
    """

    spec: str
    evidence: str
    reason: str
    quantity: str | None = None
    queries: int | None = None
    floor: int | None = None
    success: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Return it as JSON, with integers as text."""
        values = {
            "spec": self.spec,
            "evidence": self.evidence,
            "why": self.reason,
            "asked": self.quantity,
            "queries": self.queries,
            "floor": self.floor,
            "success": self.success,
        }
        return {key: None if value is None else str(value) for key, value in values.items()}

    @property
    def queries_text(self) -> str:
        """Write the bound on queries: a number, "vacuous", "none enough", or "-" for no claim."""
        return "-" if self.quantity is None else bound(self.quantity, self.queries)

    @property
    def vacuous(self) -> bool:
        """Whether the bound on queries is trivial."""
        if self.quantity is None or self.queries is None:
            return False
        return vacuous(self.quantity, self.queries)


class Entrant(Struct, frozen=True, kw_only=True):
    """A learner of a stress test.

    name: as the user wrote it. reference: whether it is only there to compare with.
    """

    name: str = field(name="asked")
    reference: bool = False


class Stress(Record, frozen=True, kw_only=True):
    """The runs of several learners on one ladder.

    The attempt of each learner and the certified bounds are computed from them. budget: its limits
    replace those of every level. seed_source: whether the operating system drew the base seed.
    """

    ladder: Ladder
    learners: tuple[Entrant, ...]
    seeds: Annotated[int, Meta(ge=1, le=_MOST_SEEDS)]
    base_seed: Annotated[int, Meta(ge=0)]
    seed_source: Literal["operating system", "given"]
    budget: Budget
    runs: tuple[Run, ...] = ()

    _format: ClassVar[str] = FORMAT

    @cached_property
    def attempts(self) -> tuple[LadderAttempt, ...]:
        """The levels that each learner tried with all of its seeds, from the runs."""
        runs = {(run.learner, run.spec, run.seed, run.budget): run for run in self.runs}
        names = {entrant.name: stored_name(entrant.name) for entrant in self.learners}
        return self._try_levels(
            lambda jobs: [runs.get((names[j.learner], j.spec, j.seed, j.budget)) for j in jobs]  # type: ignore[attr-defined]
        )

    def _try_levels(self, executor: Executor) -> tuple[LadderAttempt, ...]:
        """Try the levels in order; an attempt ends before a level for which some run is None."""
        attempts = [
            LadderAttempt(
                learner=stored_name(entrant.name), name=entrant.name, reference=entrant.reference
            )
            for entrant in self.learners
        ]
        for _ in self.ladder.levels:
            planned = [self._plan_next_level(attempt) for attempt in attempts]
            runs = iter(executor([job for _, jobs in planned for job in jobs]))
            tried = [(attempt, jobs, [next(runs) for _ in jobs]) for attempt, jobs in planned]
            attempts = [
                replace(attempt, levels=(*attempt.levels, Trials(jobs[0].spec, tuple(trials))))
                if jobs and None not in trials
                else attempt
                for attempt, jobs, trials in tried
            ]
        return tuple(attempts)

    def _plan_next_level(self, attempt: LadderAttempt) -> tuple[LadderAttempt, list[Job]]:
        """Plan the runs of an attempt on its next level; no runs if the attempt has ended.

        If a built-in learner does not support the family, the attempt gets the reason. A learner
        that is not built in reports this only when it runs.
        """
        index = len(attempt.levels)
        if not attempt.continues or index == len(self.ladder.levels):
            return attempt, []
        spec = self.ladder.specs[index]
        limits = level_budget(self.ladder.levels[index], self.budget)
        if attempt.name.partition(":")[0] in LEARNERS:
            reason = parse_learner(attempt.name).supports(parse_stored(spec))
            if reason:
                return replace(attempt, unsupported=reason), []
        return attempt, [
            Job(spec=spec, learner=attempt.name, seed=seed, budget=limits, tau=TERMS.tau)
            for seed in instance_seeds(self.base_seed, spec, self.seeds)
        ]

    @cached_property
    def certified(self) -> tuple[LevelBounds, ...]:
        """The certified bounds of each level."""
        return tuple(map(certified_of, self.ladder.specs))

    @property
    def drawn(self) -> bool:
        """Whether the operating system drew the base seed."""
        return self.seed_source == "operating system"

    @property
    def confidence(self) -> Fraction | None:
        """The confidence that every level reported as passed is passed."""
        return confidence(self.seeds)

    def _rows(self) -> list[TableRow]:
        level, rows = self.confidence, self.level_rows()
        label = "passed (too few seeds)" if level is None else f"passed at {float(level):.2%}"
        last = [label, "", "", *(attempt.held for attempt in self.attempts)]
        return [*rows, dict(zip(rows[0], last, strict=True))]

    def level_rows(self) -> list[TableRow]:
        """Make a row for each level: the certified queries, and what each learner solved."""
        common, specs = short_specs(self.ladder)
        names = labels([attempt.name for attempt in self.attempts])
        return [
            {
                "level": level,
                common: spec,
                "certified queries": bounds.queries_text,
                **{
                    name: attempt.passes_text(level)
                    for name, attempt in zip(names, self.attempts, strict=True)
                },
            }
            for level, (spec, bounds) in enumerate(zip(specs, self.certified, strict=True), 1)
        ]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the attempts and the certified bounds."""
        return {
            **self.filed(),
            "passes_to_hold": passes_needed(self.seeds),
            "confidence": None if self.confidence is None else str(self.confidence),
            "terms": {n: str(getattr(TERMS, n)) for n in ("tau", "risk", "success")},
            "learners": [attempt.to_dict() for attempt in self.attempts],
            "certificates": [bounds.to_dict() for bounds in self.certified],
        }

    def on(self, runs: Iterable[Run]) -> Self:
        """Return a copy with the given runs that belong to it, ordered by learner and level."""
        return self._with_runs_of(self.updated(runs=tuple(runs)).attempts)

    def _with_runs_of(self, attempts: Iterable[LadderAttempt]) -> Self:
        trials = (run for attempt in attempts for level in attempt.levels for run in level.trials)
        return self.updated(runs=tuple(trials))

    def with_runs_by(self, executor: Executor) -> Self:
        """Return a copy with the runs that an executor does, level by level."""
        return self._with_runs_of(self._try_levels(executor))


def planned(
    learners: Sequence[str],
    ladder: Ladder,
    seeds: int = 5,
    base_seed: int | None = None,
    budget: Budget | None = None,
    references: Sequence[str] = (),
) -> Stress:
    """Plan a stress test, without runs yet; raises UsageError for wrong values or learners."""
    if not learners or not 1 <= seeds <= _MOST_SEEDS:
        raise UsageError(
            f"{len(learners)} learners, {seeds} seeds: at least one of each, at most "
            f"{_MOST_SEEDS} seeds, are needed"
        )
    if base_seed is not None and (type(base_seed) is not int or base_seed < 0):
        raise UsageError(f"base_seed={base_seed!r}: an integer of at least 0 is needed")
    named: dict[str, Entrant] = {}  # by canonical name: learners first, then other references
    for text, reference in [*((n, False) for n in learners), *((n, True) for n in references)]:
        name = learner_spec(parse_learner(text))
        named.setdefault(name, Entrant(name=text.strip(), reference=reference))
    return Stress(
        ladder=ladder,
        learners=tuple(named.values()),
        seeds=seeds,
        base_seed=secrets.randbits(SEED_BITS) if base_seed is None else base_seed,
        seed_source="operating system" if base_seed is None else "given",
        budget=budget or Budget(),
    )


def stress(
    learners: Sequence[str],
    ladder: Ladder,
    *args: Any,
    executor: Executor = in_this_process,
    **options: Any,
) -> Stress:
    """Run learners on a ladder; the limits of a budget replace those of every level.

    args, options: what `planned` takes. executor: does the jobs. Except for seconds and memory, the
    result depends neither on it nor on the order of learners. Raises UsageError before anything
    runs.

    >>> from instances.ladders import ladder_of
    >>> tested = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> tested.attempts[0].held, tested.attempts[0].touched, tested.confidence
    (1, 1, Fraction(31, 32))
    """
    return run_planned(planned(learners, ladder, *args, **options), executor)


def run_planned(plan: Stress, executor: Executor = in_this_process) -> Stress:
    """Do the runs of a planned stress test; raises UsageError for a learner that does not load."""
    require_loaded((entrant.name for entrant in plan.learners), plan.ladder.specs[0])
    return plan.with_runs_by(executor)


def instance_seeds(base: int, spec: str, seeds: int) -> tuple[int, ...]:
    """Derive the seeds of a level's instances from the base seed: numbers below 2^63.

    >>> instance_seeds(1, "parity:d=8,m=3", 2)[:1] == instance_seeds(1, "parity:d=8,m=3", 1)
    True
    """
    spec = parse_stored(spec).seed_spec
    return tuple(
        int(generator(base, "stress", spec, trial).integers(1 << SEED_BITS))
        for trial in range(seeds)
    )


def too_few_queries(learners: Iterable[str], ladder: Ladder, budget: Budget) -> list[str]:
    """Warn of query learners that the budget of examples stops below the certified queries.

    Returns a line for each of them, with the lowest such level.

    >>> from instances.ladders import ladder_of
    >>> ladder = ladder_of(["parity:d=8,m=1", "parity:d=24,m=3"])
    >>> too_few_queries(["queries", "elimination"], ladder, Budget(examples=50_000))[0][:50]
    'queries: 50000 examples are at most 17 queries, an'
    """
    if budget.examples is None:
        return []
    most = budget.examples // samples_a_query(TERMS.tau)
    names = [name for name in learners if parse_learner(name).access == "queries"]
    levels = enumerate(map(certified_of, ladder.specs), 1) if names else ()
    above = [(level, bounds.queries) for level, bounds in levels if (bounds.queries or 0) > most]
    return [
        f"{name}: {budget.examples} examples are at most {most} queries, and the certified number "
        f"on level {level} is {brief(queries, 3)}: raise --budget-examples or leave it out"
        for name in names
        for level, queries in above[:1]
        if queries is not None
    ]


def level_budget(level: Level, over: Budget) -> Budget:
    """Return the budget of a level, with its limits replaced by those set in `over`.

    >>> level_budget(Level(spec="parity:d=8,m=3", examples=99, seconds=5.0), Budget(seconds=1.0))
    Budget(examples=99, queries=None, values=None, seconds=1.0, cpu_seconds=None, memory_bytes=None)
    """
    limits = {f.name: getattr(over, f.name) for f in fields(over)}
    usual = Budget(examples=level.examples, seconds=level.seconds)
    return replace(usual, **{name: value for name, value in limits.items() if value is not None})


def certified_of(spec: str) -> LevelBounds:
    """Certify what is claimed of the family of a level; raises UsageError for a wrong spec."""
    family = parse_stored(spec)
    hardness = family.hardness
    if hardness.evidence != "exact":
        return LevelBounds(spec=family.spec, evidence=hardness.evidence, reason=hardness.summary)
    certificate = certify(family, TERMS)
    quantity = query_bound([certificate]) or None
    queries = number(certificate, quantity, TERMS.success) if quantity else None
    most = success(certificate, quantity) if quantity else None
    floor = "information-floor"
    return LevelBounds(
        spec=family.spec,
        evidence="exact",
        reason=hardness.summary,
        quantity=quantity,
        queries=queries,
        floor=certificate.integer(floor) if claims(certificate, floor) else None,
        success=write(most, ratio=True) if most and queries is None else None,
    )
