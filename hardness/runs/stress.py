"""Stress tests: learners try a ladder level by level, until each solves no instance of one.

Every learner gets the same instances. Their seeds come from one base seed, drawn from the operating
system unless it is given: who knows it can compute every secret, so a learner must not.

A learner holds a level where it is shown to pass on more than half of its instances. Levels are
tested in their order, each at the same level, up to the first that is not shown: the procedure in
a fixed sequence, whose chance of any wrong claim is that of one test alone. [GS10]

A file holds what was asked and the runs; how far each learner attempted follows from them.
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

from msgspec import Meta, Struct

from hardness.bounds import BoundParameters, certify
from hardness.bounds.quantities import bound, vacuous
from hardness.learners import Outcome, learner_spec
from hardness.oracles import Budget
from hardness.oracles.statistical import samples_a_query
from hardness.runs.certified import claims, number, query_bound, success
from hardness.runs.columns import runs_frame
from hardness.runs.jobs import Do, Job, here, require_loaded
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

LEVEL = Fraction(1, 20)
BITS = 63  # of a seed: such a number is kept exactly by every store of results
TERMS = BoundParameters(tau=Fraction(1, 10))
_MOST_SEEDS = 1000
FORMAT = "hardness-stress/4"


@dataclass(frozen=True)
class Trials:
    """The trials of one learner on one level."""

    spec: str
    trials: tuple[Run, ...]

    @property
    def solved(self) -> tuple[Run, ...]:
        """The runs that passed, in time: a cost is the cost of these."""
        return tuple(run for run in self.trials if run.solved)

    @property
    def passes(self) -> int:
        """How many trials passed."""
        return len(self.solved)

    @property
    def interval(self) -> tuple[float, float]:
        """Bounds at 95 % on the share of instances passed (Clopper and Pearson). [CP34]"""
        return interval(self.passes, len(self.trials))

    def cost(self, resource: Cost) -> float | None:
        """Return the median use of a resource by the runs that passed; None where none did."""
        used = [run.used(resource) for run in self.solved]
        return float(median(used)) if used else None

    @property
    def valued(self) -> bool:
        """Whether some run asked labels of inputs of its choice."""
        return any(run.membership_queries for run in self.trials)

    @property
    def failures(self) -> dict[str, int]:
        """How the trials that did not pass ended, with their numbers."""
        return dict(Counter(_end(t) for t in self._failed))

    @property
    def bounds(self) -> dict[str, int]:
        """What bound the runs that did not pass, with their numbers."""
        return dict(Counter(run.limited_by for run in self._failed if not _refused(run)))

    @property
    def why(self) -> str | None:
        """Why a trial could not be run, of the first that could not."""
        return next((str(t.details.get("reason")) for t in self.trials if _refused(t)), None)

    @property
    def unsupported(self) -> bool:
        """Whether the learner does not take the family, as it said in every trial."""
        return all(
            t.outcome is Outcome.COULD_NOT_RUN and t.details.get("stage") == "supports"
            for t in self.trials
        )

    @property
    def _failed(self) -> list[Run]:
        return [run for run in self.trials if not run.solved]

    def to_dict(self) -> dict[str, Any]:
        """Write what follows from the trials, without the runs themselves."""
        return {
            "spec": self.spec,
            "trials": len(self.trials),
            "passes": self.passes,
            "interval": list(self.interval),
            "median_examples": self.cost("examples"),
            "median_queries": self.cost("queries"),
            **({"median_values": self.cost("values")} if self.valued else {}),
            "median_seconds": self.cost("seconds"),
            "failures": self.failures,
            "bound_by": self.bounds,
        }


@dataclass(frozen=True, kw_only=True)
class LadderAttempt:
    """The levels that one learner tried, from the bottom, each with all of its seeds.

    asked: the learner as it was named. reference: whether it stands beside others to compare with.
    unsupported: why it does not take the family of the next level, where that ended the attempt.
    """

    learner: str
    asked: str
    reference: bool
    levels: tuple[Trials, ...] = ()
    unsupported: str | None = None

    @property
    def held(self) -> int:
        """The highest level held, from 1; 0 for none: with confidence, all levels up to it are."""
        return held([(t.passes, len(t.trials)) for t in self.levels])

    @property
    def touched(self) -> int:
        """The highest level with at least one pass, from 1; 0 for none."""
        return max((i for i, t in enumerate(self.levels, 1) if t.passes), default=0)

    @property
    def continues(self) -> bool:
        """Whether the learner goes on: it passed at least once on the last level it tried."""
        return not self.unsupported and (not self.levels or self.levels[-1].passes > 0)

    def shown(self, level: int) -> str:
        """Write how many seeds of a level passed: n/a where its family is not taken."""
        if level <= len(self.levels):
            return f"{self.levels[level - 1].passes}/{len(self.levels[level - 1].trials)}"
        return "n/a" if self.unsupported and level == len(self.levels) + 1 else "not run"

    def to_dict(self) -> dict[str, Any]:
        """Write the summary of an attempt."""
        return {
            "learner": self.learner,
            "asked": self.asked,
            "reference": self.reference,
            "held": self.held,
            "touched": self.touched,
            "unsupported": self.unsupported,
            "levels": [t.to_dict() for t in self.levels],
        }


def needed(seeds: int) -> int | None:
    """Return how many of a level's seeds must pass to hold it; None where all are too few.

    >>> needed(5), needed(10), needed(4)
    (5, 9, None)
    """
    return next((k for k in range(seeds + 1) if _tail(k, seeds) <= LEVEL), None)


def confidence(seeds: int) -> Fraction | None:
    """Return the exact confidence that all levels said to be held are; None for too few seeds.

    It is 1 less the chance that a learner which passes on half of the instances is said to hold.

    >>> confidence(5), confidence(4)
    (Fraction(31, 32), None)
    """
    least = needed(seeds)
    return None if least is None else 1 - _tail(least, seeds)


def held(levels: Sequence[tuple[int, int]]) -> int:
    """Count the levels held from the bottom: of each, how many trials passed and how many were.

    >>> held([(5, 5), (5, 5), (4, 5), (5, 5)])
    2
    """
    count = 0
    for passes, trials in levels:
        least = needed(trials)
        if least is None or passes < least:
            break
        count += 1
    return count


def _end(trial: Run) -> str:
    if _refused(trial):
        return "not run"
    return "solved too late" if trial.passed else trial.outcome.value


def _refused(trial: Run) -> bool:
    """Whether a trial could not be run here."""
    return trial.outcome is Outcome.COULD_NOT_RUN and trial.limited_by == "machine"


def _tail(passes: int, trials: int) -> Fraction:
    """The chance of at least so many passes where each has chance 1/2, exactly."""
    return Fraction(sum(math.comb(trials, k) for k in range(passes, trials + 1)), 2**trials)


@dataclass(frozen=True, kw_only=True)
class LevelBounds:
    """What is certified of a level: None where no bound is claimed, and why.

    queries: that a learner by `asked` must be allowed, worst answers within TERMS.tau; floor: the
    examples that any learner must be; both to reach TERMS.risk with chance TERMS.success over
    the member. success: where no number of queries is enough for that chance, the one above
    which none is.
    """

    spec: str
    evidence: str
    why: str
    asked: str | None = None
    queries: int | None = None
    floor: int | None = None
    success: str | None = None

    def to_dict(self) -> dict[str, str | None]:
        """Write it as JSON, large integers as text."""
        return {n: None if v is None else str(v) for n, v in vars(self).items()}

    @property
    def shown(self) -> str:
        """Write the bound on queries: "vacuous", "none enough", or - where none is claimed."""
        return "-" if self.asked is None else bound(self.asked, self.queries)

    @property
    def vacuous(self) -> bool:
        """Whether the bound on queries says nothing."""
        if self.asked is None or self.queries is None:
            return False
        return vacuous(self.asked, self.queries)


class Entrant(Struct, frozen=True, kw_only=True):
    """A learner as it was named; reference: beside others, to compare with."""

    asked: str
    reference: bool = False


class Stress(Record, frozen=True, kw_only=True):
    """The runs of several learners on one ladder; the levels that they passed follow, and bounds.

    budget: what overrides the levels' own. seed_source: whether the base seed came from the
    operating system.
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
        runs = {(one.learner, one.spec, one.seed, one.budget): one for one in self.runs}
        names = {one.asked: stored_name(one.asked) for one in self.learners}
        return self.attempted(
            lambda jobs: [runs.get((names[j.learner], j.spec, j.seed, j.budget)) for j in jobs]  # type: ignore[attr-defined]
        )

    def attempted(self, do: Do) -> tuple[LadderAttempt, ...]:
        """Try the levels in order; a learner stands still where a run is None."""
        attempts = [
            LadderAttempt(learner=stored_name(one.asked), asked=one.asked, reference=one.reference)
            for one in self.learners
        ]
        for _ in self.ladder.levels:
            tries = [self.next(attempt) for attempt in attempts]
            runs = iter(do([job for _, jobs in tries for job in jobs]))
            tried = [(attempt, jobs, [next(runs) for _ in jobs]) for attempt, jobs in tries]
            attempts = [
                replace(attempt, levels=(*attempt.levels, Trials(jobs[0].spec, tuple(trials))))
                if jobs and None not in trials
                else attempt
                for attempt, jobs, trials in tried
            ]
        return tuple(attempts)

    def next(self, attempt: LadderAttempt) -> tuple[LadderAttempt, list[Job]]:
        """Plan the runs of the level that an attempt tries next; none where it ends, which it says.

        A learner that is not built in says what it does not take when it runs, so none of its
        attempts ends without a trial.
        """
        at = len(attempt.levels)
        if not attempt.continues or at == len(self.ladder.levels):
            return attempt, []
        spec, limits = self.ladder.specs[at], level_budget(self.ladder.levels[at], self.budget)
        if attempt.asked.partition(":")[0] in LEARNERS:
            reason = parse_learner(attempt.asked).supports(parse_stored(spec))
            if reason:
                return replace(attempt, unsupported=reason), []
        return attempt, [
            Job(spec=spec, learner=attempt.asked, seed=seed, budget=limits, tau=TERMS.tau)
            for seed in instance_seeds(self.base_seed, spec, self.seeds)
        ]

    @cached_property
    def certified(self) -> tuple[LevelBounds, ...]:
        """What is certified of each level."""
        return tuple(map(certified_of, self.ladder.specs))

    @property
    def drawn(self) -> bool:
        """Whether the base seed came from the operating system."""
        return self.seed_source == "operating system"

    @property
    def confidence(self) -> Fraction | None:
        """The confidence that every level reported as held is held."""
        return confidence(self.seeds)

    def _rows(self) -> list[TableRow]:
        sure, rows = self.confidence, self.level_rows()
        label = "passed (too few seeds)" if sure is None else f"passed at {float(sure):.2%}"
        last = [label, "", "", *(attempt.held for attempt in self.attempts)]
        return [*rows, dict(zip(rows[0], last, strict=True))]

    def level_rows(self) -> list[TableRow]:
        """Lay out the levels: what is certified, and how many seeds each learner passed."""
        common, specs = short_specs(self.ladder)
        names = labels([attempt.asked for attempt in self.attempts])
        return [
            {
                "level": level,
                common: spec,
                "certified queries": one.shown,
                **{
                    name: attempt.shown(level)
                    for name, attempt in zip(names, self.attempts, strict=True)
                },
            }
            for level, (spec, one) in enumerate(zip(specs, self.certified, strict=True), 1)
        ]

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame of its runs: one row a run."""
        return runs_frame(self.runs)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON with what follows: attempts, what is certified."""
        return {
            **self.filed(),
            "passes_to_hold": needed(self.seeds),
            "confidence": None if self.confidence is None else str(self.confidence),
            "terms": {n: str(getattr(TERMS, n)) for n in ("tau", "risk", "success")},
            "learners": [attempt.to_dict() for attempt in self.attempts],
            "certificates": [one.to_dict() for one in self.certified],
        }

    def on(self, runs: Iterable[Run]) -> Self:
        """Hold those of some runs that are its own: learner by learner, level by level."""
        return self._with_runs_of(self.updated(runs=tuple(runs)).attempts)

    def _with_runs_of(self, attempts: Iterable[LadderAttempt]) -> Self:
        trials = (run for attempt in attempts for level in attempt.levels for run in level.trials)
        return self.updated(runs=tuple(trials))

    def done(self, do: Do) -> Self:
        """Try the levels by runs that are done."""
        return self._with_runs_of(self.attempted(do))


def planned(
    learners: Sequence[str],
    ladder: Ladder,
    seeds: int = 5,
    base_seed: int | None = None,
    budget: Budget | None = None,
    references: Sequence[str] = (),
) -> Stress:
    """Plan a stress test, without runs; raises UsageError for what cannot be."""
    if not learners or not 1 <= seeds <= _MOST_SEEDS:
        raise UsageError(
            f"{len(learners)} learners, {seeds} seeds: at least one of each, at most "
            f"{_MOST_SEEDS} seeds, are needed"
        )
    if base_seed is not None and (type(base_seed) is not int or base_seed < 0):
        raise UsageError(f"base_seed={base_seed!r}: an integer of at least 0 is needed")
    named: dict[str, Entrant] = {}  # those asked for before references
    for text, reference in [*((n, False) for n in learners), *((n, True) for n in references)]:
        name = learner_spec(parse_learner(text))
        named.setdefault(name, Entrant(asked=text.strip(), reference=reference))
    return Stress(
        ladder=ladder,
        learners=tuple(named.values()),
        seeds=seeds,
        base_seed=secrets.randbits(BITS) if base_seed is None else base_seed,
        seed_source="operating system" if base_seed is None else "given",
        budget=budget or Budget(),
    )


def stress(
    learners: Sequence[str], ladder: Ladder, *args: Any, do: Do = here, **options: Any
) -> Stress:
    """Try a ladder with learners; a budget's limits stand in place of those of every level.

    args, options: what `planned` takes. do: who does the jobs; the result does not depend on it,
    nor on the order of learners, seconds and memory apart. Raises UsageError before anything runs.

    >>> from instances.ladders import ladder_of
    >>> found = stress(["lowdegree"], ladder_of(["parity:d=8,m=2", "parity:d=8,m=3"]), base_seed=1)
    >>> found.attempts[0].held, found.attempts[0].touched, found.confidence
    (1, 1, Fraction(31, 32))
    """
    return done(planned(learners, ladder, *args, **options), do)


def done(plan: Stress, do: Do = here) -> Stress:
    """Do a planned stress test; raises UsageError for learners that do not load."""
    require_loaded((one.asked for one in plan.learners), plan.ladder.specs[0])
    return plan.done(do)


def instance_seeds(base: int, spec: str, seeds: int) -> tuple[int, ...]:
    """Derive the seeds of a level's instances from the base seed: numbers below 2^63.

    >>> instance_seeds(1, "parity:d=8,m=3", 2)[:1] == instance_seeds(1, "parity:d=8,m=3", 1)
    True
    """
    spec = parse_stored(spec).seed_spec
    return tuple(
        int(generator(base, "stress", spec, trial).integers(1 << BITS)) for trial in range(seeds)
    )


def too_few_queries(learners: Iterable[str], ladder: Ladder, budget: Budget) -> list[str]:
    """Say which query learners a given budget of examples stops below a certified number.

    >>> from instances.ladders import ladder_of
    >>> asked = ladder_of(["parity:d=8,m=1", "parity:d=24,m=3"])
    >>> too_few_queries(["queries", "elimination"], asked, Budget(examples=50_000))[0][:50]
    'queries: 50000 examples are at most 17 queries, an'
    """
    if budget.examples is None:
        return []
    each = samples_a_query(TERMS.tau)
    most = budget.examples // each
    names = [name for name in learners if parse_learner(name).access == "queries"]
    every = enumerate(map(certified_of, ladder.specs), 1) if names else ()
    above = [(level, one.queries) for level, one in every if (one.queries or 0) > most]
    return [
        f"{name}: {budget.examples} examples are at most {most} queries, and the certified number "
        f"on level {level} is {brief(queries, 3)}: raise --budget-examples or leave it out"
        for name in names
        for level, queries in above[:1]
        if queries is not None
    ]


def level_budget(level: Level, over: Budget) -> Budget:
    """Give a level's budget, its limits replaced by those that are given.

    >>> level_budget(Level(spec="parity:d=8,m=3", examples=99, seconds=5.0), Budget(seconds=1.0))
    Budget(examples=99, queries=None, values=None, seconds=1.0, cpu_seconds=None, memory_bytes=None)
    """
    given = {f.name: getattr(over, f.name) for f in fields(over)}
    own = Budget(examples=level.examples, seconds=level.seconds)
    return replace(own, **{name: value for name, value in given.items() if value is not None})


def certified_of(spec: str) -> LevelBounds:
    """Certify a level as far as its family can be; raises UsageError for a spec that is none."""
    family = parse_stored(spec)
    known = family.hardness
    if known.evidence != "exact":
        return LevelBounds(spec=family.spec, evidence=known.evidence, why=known.summary)
    made = certify(family, TERMS)
    asked = query_bound([made]) or None
    queries = number(made, asked, TERMS.success) if asked else None
    most = success(made, asked) if asked else None
    return LevelBounds(
        spec=family.spec,
        evidence="exact",
        why=known.summary,
        asked=asked,
        queries=queries,
        floor=made.integer("information-floor") if claims(made, "information-floor") else None,
        success=write(most, ratio=True) if most and queries is None else None,
    )
