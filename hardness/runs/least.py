"""Thresholds: the least number of examples, queries or values with which a learner succeeds.

Success need not be monotone in the budget, and a search that stops at the first success would be
biased by lucky runs. A threshold is therefore confirmed by three octaves in a row that pass. Each
search uses nested prefixes of the stream of one instance. It starts at the median octave of three
pilot searches, which are not counted. So the thresholds are independent and identically
distributed, in whatever order they are found, and order statistics bound their median exactly.
docs/least.md has the method.
"""

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import islice, product
from math import comb, isqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

import msgspec

from hardness.bounds import BoundParameters, Certificate
from hardness.bounds.quantities import NONE_ENOUGH, VACUOUS, vacuous
from hardness.learners import Outcome, learner_spec
from hardness.learners.learner import View
from hardness.oracles import Budget
from hardness.runs.certified import claims, number, query_bound
from hardness.runs.columns import parameters_of
from hardness.runs.comparison import certificates, distinct_learners, specs_over, values_of
from hardness.runs.growth import Scaling, scaling_of_least
from hardness.runs.jobs import Executor, Work, in_this_process, require_loaded
from hardness.runs.names import Value
from hardness.runs.record import Record, json_of
from hardness.runs.registry import fresh_learner, parse_learner, recorded_view
from hardness.runs.risk import SOLVED_BELOW, settled
from hardness.runs.run import Run, machine, require_support, run, versions
from instances.errors import UsageError
from instances.numbers import write
from instances.result import TableRow, frame
from instances.spec import parse_stored, require_drawn, spec_of

if TYPE_CHECKING:
    from pandas import DataFrame

Unit = Literal["examples", "queries", "values"]  # of budgets; seconds differ by machine
# How a run of a search ended. stopped: it failed, and had budget left. raised: the learner raised
# an exception or exited, which is a failure too. unknown: seconds, memory or the machine ended it,
# so it shows neither success nor failure.
TrialEnd = Literal["passed", "failed", "stopped", "raised", "unknown"]
# How a search ended. over: no success within the limit of a run, or of all its runs. unconfirmed:
# the limit of a run leaves no room for three octaves. own-limit: two octaves in a row stopped with
# budget left. no-answer: the end of some run was unknown.
SearchEnd = Literal["confirmed", "over", "unconfirmed", "own-limit", "no-answer"]
LEAST_SEEDS, SEEDS, PILOTS = 6, 15, 3
RUN_LIMITS: dict[Unit, int] = {"examples": 1 << 20, "queries": 1 << 14, "values": 1 << 20}
TOTAL_LIMIT = 10**8  # units in all runs of a learner at one size
_STEPS_PER_OCTAVE, _PASSES_IN_A_ROW = 4, 3
_ONE_SIDED = Fraction(1, 40)  # probability on either side of a confidence interval


def grid_point(step: int) -> int:
    """Return a number of the search grid, ceil(2^(step / 4)): four steps double it.

    >>> [grid_point(step) for step in (0, 4, 8, 9, 10, 11, 12)]
    [1, 2, 4, 5, 6, 7, 8]
    """
    return isqrt(isqrt((1 << step) - 1)) + 1


Bracket = tuple[int, int | None, SearchEnd]


def search(start: int, limit: int) -> Generator[int, TrialEnd | None, Bracket]:
    """Search a threshold, beginning at n = 2^start.

    The generator yields n and is sent how the run within n ended. It is sent None if the limit of
    all runs together leaves no run within n. It halves n until a run fails or n = 1, and doubles n
    until three runs in a row pass. Then it bisects the grid between the last failure and the first
    of the three. It returns (low, high, end): the threshold is in (low, high]. high is None if no
    threshold up to `limit` is confirmed.

    >>> steps = search(3, 64)
    >>> n, tried = next(steps), []
    >>> try:
    ...     while tried.append(n) or True:
    ...         n = steps.send("passed" if n >= 6 else "failed")
    ... except StopIteration as stop:
    ...     tried, stop.value
    ([8, 4, 8, 16, 32, 6, 5], (5, 6, 'confirmed'))
    """
    octave = start
    end = yield 1 << octave
    while end == "passed" and octave:
        octave -= 1
        end = yield 1 << octave
    low, passes, before = 0, 0, None
    while True:
        if end is None or end == "unknown":
            return (low, None, "over") if end is None else (0, None, "no-answer")
        passes = passes + 1 if end == "passed" else 0
        if passes == _PASSES_IN_A_ROW:
            break
        if not passes:
            low = 1 << octave
            if end == before == "stopped":
                return low, None, "own-limit"
        octave += 1
        if 1 << octave > limit:
            return low, None, "unconfirmed" if passes else "over"
        before, end = end, (yield 1 << octave)
    above = _STEPS_PER_OCTAVE * (octave - _PASSES_IN_A_ROW + 1)
    below = above - _STEPS_PER_OCTAVE
    while above and above - below > 1:
        middle = (below + above) // 2
        end = yield grid_point(middle)
        if end == "unknown":
            return 0, None, "no-answer"
        if end is None:
            break
        below, above = (below, middle) if end == "passed" else (middle, above)
    return grid_point(below) if above else 0, grid_point(above), "confirmed"


class Trial(NamedTuple):
    """A run within n units: how it ended, and how many of the n it used."""

    n: int
    end: TrialEnd
    used: int


def trial(result: Run, unit: Unit, n: int) -> Trial:
    """Classify a run within n units: it passed if its risk is below 0.05, whatever its outcome."""
    end: TrialEnd = "failed"
    if result.passed:
        end = "passed"
    elif result.limited_by in ("seconds", "memory", "machine"):
        end = "unknown"
    elif result.outcome is Outcome.CRASHED:
        end = "raised"
    elif result.limited_by != unit:
        end = "stopped"
    return Trial(n, end, result.used(unit))


class Search(Work, frozen=True, kw_only=True):
    """The search for one threshold, of a learner on the instance of a seed.

    learner: its canonical name. budget: of each run; its limit of the unit is the largest n. total:
    the limit of the unit in all runs of the search. start: the octave to begin at. pilot: whether
    the search only gives an octave to the searches that count.
    """

    seed: Annotated[int, msgspec.Meta(ge=0)]
    unit: Unit
    budget: Budget
    total: Annotated[int, msgspec.Meta(ge=1)]
    start: Annotated[int, msgspec.Meta(ge=0)] = 0
    pilot: bool = False
    tau: Fraction = Fraction(1, 10)

    def lost(self, outcome: Outcome, why: str, seconds: float) -> "Threshold":
        """Make the threshold of a search that could not be done; its end is "no-answer"."""
        return self._ended((0, None, "no-answer"), (), seconds, why or outcome.value)

    def _ended(
        self,
        bracket: Bracket,
        trials: Sequence[Trial],
        seconds: float,
        lost: str = "",
        view: View | None = None,
    ) -> "Threshold":
        family, learner = parse_stored(self.spec), parse_learner(self.learner)
        return Threshold(
            search=self,
            trials=tuple(trials),
            low=bracket[0],
            high=bracket[1],
            end=bracket[2],
            seconds=seconds,
            lost=lost,
            revisions={"family": family.revision, "learner": learner.revision},
            versions=versions(),
            machine=machine(),
            view=view,
        )

    @property
    def run_limit(self) -> int:
        """The most units that one run may use."""
        return int(getattr(self.budget, self.unit))

    def do(self) -> "Threshold":
        """Do the runs of the search; raises ToolkitError if the learner cannot run."""
        learner, runs = fresh_learner(self.learner), list[Run]()
        instance = parse_stored(self.spec).instance(self.seed)

        def ask(n: int) -> Trial:
            within = replace(self.budget, **{self.unit: n})
            runs.append(run(learner, instance, within, self.seed, tau=self.tau, by=settled))
            return trial(runs[-1], self.unit, n)

        bracket, trials = follow(self, ask)
        view = runs[-1].view if runs else None
        return self._ended(bracket, [*trials.values()], sum(run.seconds for run in runs), view=view)


def follow(plan: Search, ask: Callable[[int], Trial]) -> tuple[Bracket, dict[int, Trial]]:
    """Do a search: return its bracket and its trials by n.

    ask: does the run within n, and is called once for each n. A pilot counts a run of unknown end
    as a failure, since it only gives an octave.
    """
    trials: dict[int, Trial] = {}

    def end_of(n: int) -> TrialEnd | None:
        if n not in trials:
            if sum(trial.used for trial in trials.values()) + n > plan.total:
                return None
            trials[n] = ask(n)
        end = trials[n].end
        return "failed" if plan.pilot and end == "unknown" else end

    steps = search(plan.start, plan.run_limit)
    n = next(steps)
    while True:
        try:
            n = steps.send(end_of(n))
        except StopIteration as stop:
            return stop.value, trials


class Threshold(Record, frozen=True, kw_only=True):
    """The threshold of a learner on one instance, known to be in (low, high].

    trials: all runs in their order. low: the largest n tried below the threshold, or 0. high: the
    threshold on the grid, None if none was confirmed. end: how the search ended. seconds: of all
    runs. lost: why the search was not done. view: what the learner saw, None if nothing ran.
    """

    search: Search = msgspec.field(name="asked")
    trials: tuple[Trial, ...] = msgspec.field(name="tried")
    low: Annotated[int, msgspec.Meta(ge=0)]
    high: Annotated[int, msgspec.Meta(ge=1)] | None
    end: SearchEnd
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    lost: str = ""
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str
    view: View | None = None

    @property
    def octave(self) -> int:
        """The octave for the next search to begin at: of the threshold, or above the failures."""
        if self.high:
            return (self.high - 1).bit_length()
        failed = max((trial.n for trial in self.trials if trial.end != "passed"), default=0)
        return min(failed.bit_length(), self.search.run_limit.bit_length() - 1)


Search.result = Threshold


@cache
def rank(seeds: int) -> tuple[int, Fraction]:
    """Return r and the exact confidence of the interval from the r-th smallest to the r-th largest.

    The interval is for the median of `seeds` independent values. r is the largest with
    P(Bin(seeds, 1/2) <= r - 1) <= 1/40, or 0 if there is none.

    >>> rank(15)[0], round(float(rank(15)[1]), 3), rank(5)[0]
    (4, 0.965, 0)
    """
    r, tail = 0, Fraction(0)
    while (more := tail + Fraction(comb(seeds, r), 2**seeds)) <= _ONE_SIDED:
        r, tail = r + 1, more
    return r, 1 - 2 * tail


@dataclass(frozen=True)
class LeastCell:
    """The thresholds of one learner at one size.

    value: of the parameter that varies, None if none does. floor: the certified lower bound. It is
    None if none is claimed, and "none enough" if no finite number suffices.
    """

    value: Value | None
    spec: str
    learner: str
    thresholds: tuple[Threshold, ...]
    floor: int | str | None

    @property
    def view(self) -> View:
        """What its learner saw."""
        recorded = next((one.view for one in self.thresholds if one.view), None)
        return recorded or recorded_view(
            self.learner, self.spec, self.thresholds[0].search.unit == "queries"
        )

    def _sorted(self, side: Literal["low", "high"]) -> list[Any]:
        """Return one end of all brackets in growing order, None (no upper end) last."""
        ends = [getattr(threshold, side) for threshold in self.thresholds]
        return sorted(ends, key=lambda n: (n is None, n))

    @property
    def least(self) -> int | None:
        """The median threshold, on the grid; None if half of the instances have no threshold."""
        return self._sorted("high")[(len(self.thresholds) - 1) // 2]

    @property
    def interval(self) -> tuple[int, int | None]:
        """Ends of the interval (low, high] for the median, at `confidence`; None: no upper end."""
        r = rank(len(self.thresholds))[0]
        return self._sorted("low")[r - 1], self._sorted("high")[-r]

    @property
    def confidence(self) -> Fraction:
        """The exact confidence with which the interval contains the median."""
        return rank(len(self.thresholds))[1]

    @property
    def range(self) -> tuple[int, int | None]:
        """The least low and the largest high of all thresholds; None: no upper end."""
        return self._sorted("low")[0], self._sorted("high")[-1]

    @property
    def ends(self) -> Counter[SearchEnd]:
        """The number of searches with each end."""
        return Counter(threshold.end for threshold in self.thresholds)

    @property
    def ratio(self) -> float | None:
        """The median threshold divided by the floor; None if one of them is missing."""
        floor = self.floor if isinstance(self.floor, int) else 0
        return self.least / floor if self.least and floor else None

    @property
    def runs(self) -> int:
        """The number of runs of its searches, without pilots."""
        return sum(len(threshold.trials) for threshold in self.thresholds)

    @property
    def seconds(self) -> float:
        """Seconds of the runs of its searches, without pilots."""
        return sum(one.seconds for one in self.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON, without the thresholds themselves."""
        names = "value spec learner floor confidence ends least interval range ratio runs seconds"
        return {name: json_of(getattr(self, name)) for name in names.split()}


def bracket(low: int, high: int | None) -> str:
    """Write the interval (low, high]; high is None for infinity.

    >>> bracket(64, 91), bracket(64, None)
    ('(64, 91]', '(64, ∞)')
    """
    return f"({low}, ∞)" if high is None else f"({low}, {high}]"


class Least(Record, frozen=True, kw_only=True):
    """Thresholds of learners over sizes, and the certified lower bounds.

    spec: as the user wrote it. parameter: the one that varies, empty if there is one size. specs:
    the canonical spec of each size. seed: the first of the counted seeds; pilots use the seeds
    after them. budget: of each run. total: units in all runs of a learner at one size. tau: the
    tolerance of queries, and of the bound on them. pilots, thresholds: ordered by size, learner
    and seed.
    """

    spec: str
    parameter: str = ""
    specs: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    learners: tuple[str, ...]
    seeds: Annotated[int, msgspec.Meta(ge=LEAST_SEEDS)]
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    unit: Unit
    budget: Budget
    total: Annotated[int, msgspec.Meta(ge=1)]
    tau: Fraction = Fraction(1, 10)
    pilots: tuple[Threshold, ...] = ()
    thresholds: tuple[Threshold, ...] = ()

    _format: ClassVar[str] = "hardness-least/3"
    _kept: ClassVar[str] = "searches"

    @property
    def terms(self) -> BoundParameters:
        """The terms of the certified floors: risk 0.05 with probability 0.45.

        A run passes if its risk is below 0.05 with 95 % confidence. At the median threshold half of
        the runs pass, and the measurement is wrong with probability 0.05 at most: 1/2 - 1/20.
        """
        success = Fraction(1, 2) - Fraction(1, 20)
        return BoundParameters(tau=self.tau, risk=Fraction(str(SOLVED_BELOW)), success=success)

    @cached_property
    def values(self) -> tuple[Value | None, ...]:
        """The value of the parameter at each size; None if no parameter varies."""
        values = (parameters_of(spec).get(self.parameter) for spec in self.specs)
        return tuple(None if isinstance(value, str) else value for value in values)

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order of `learners`."""
        return [learner_spec(parse_learner(name)) for name in self.learners]

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of each size; empty if some size has none."""
        return certificates(self.specs, self.terms)

    @property
    def run_limit(self) -> int:
        """The most units that one run may use."""
        return int(getattr(self.budget, self.unit))

    @property
    def quantity(self) -> str:
        """The certified quantity that is counted in the unit; empty if none is claimed.

        For examples it binds any learner, for queries those with worst-case answers.
        """
        if self.unit == "queries":
            return query_bound(self.certificates)
        floor = "information-floor"
        claimed = self.certificates and all(claims(one, floor) for one in self.certificates)
        return floor if self.unit == "examples" and claimed else ""

    @cached_property
    def floors(self) -> tuple[int | str | None, ...]:
        """The certified number at each size, even if it is vacuous; None if none is claimed."""
        if not self.quantity:
            return (None,) * len(self.specs)
        values = (number(one, self.quantity, self.terms.success) for one in self.certificates)
        return tuple(NONE_ENOUGH if value is None else value for value in values)

    def searches(self, pilot: bool) -> list[Search]:
        """List the pilot searches, or those that count, which begin at the pilots' median octave.

        They are ordered by size, learner and seed.
        """
        first, count = (self.seed + self.seeds, PILOTS) if pilot else (self.seed, self.seeds)
        planned = list[Search]()
        for i, (spec, learner) in enumerate(product(self.specs, self.learner_names)):
            octaves = sorted(one.octave for one in self.pilots[PILOTS * i : PILOTS * (i + 1)])
            planned += [
                Search(
                    spec=spec,
                    learner=learner,
                    seed=seed,
                    unit=self.unit,
                    budget=self.budget,
                    total=self.total // (self.seeds + PILOTS),
                    start=0 if pilot else octaves[PILOTS // 2],
                    pilot=pilot,
                    tau=self.tau,
                )
                for seed in range(first, first + count)
            ]
        return planned

    def searched(self, executor: Executor) -> Self:
        """Return a copy with the results of its searches; the pilots are done first."""
        piloted = self.updated(pilots=tuple(executor(self.searches(pilot=True))))
        return piloted.updated(thresholds=tuple(executor(piloted.searches(pilot=False))))

    def on(self, thresholds: Iterable[Threshold]) -> Self:
        """Return a copy with the sizes of which all thresholds are given, in any order.

        A size with a missing threshold is left out, so a file of an interrupted command is read.
        """
        by_search, complete = {one.search: one for one in thresholds}, list[Self]()
        for spec in self.specs:
            with suppress(KeyError):
                size = self.updated(specs=(spec,))
                complete.append(size.searched(lambda works: [by_search[job] for job in works]))  # type: ignore[index]
        return self.updated(
            specs=tuple(size.specs[0] for size in complete),
            pilots=tuple(pilot for size in complete for pilot in size.pilots),
            thresholds=tuple(one for size in complete for one in size.thresholds),
        )

    @cached_property
    def cells(self) -> tuple[LeastCell, ...]:
        """The cell of each learner at each size, ordered by size."""
        thresholds = iter(self.thresholds)
        return tuple(
            LeastCell(value, spec, name, tuple(islice(thresholds, self.seeds)), floor)
            for spec, value, floor in zip(self.specs, self.values, self.floors, strict=True)
            for name in self.learner_names
        )

    @cached_property
    def scaling(self) -> Scaling:
        """How thresholds and certified numbers grow."""
        return scaling_of_least(self)

    def _rows(self) -> list[TableRow]:
        names = dict(zip(self.learner_names, self.learners, strict=True))
        # A column for each end other than "confirmed" that some search had.
        ends = [
            end for end in get_args(SearchEnd)[1:] if any(cell.ends[end] for cell in self.cells)
        ]
        return [
            {
                "learner": names[cell.learner],
                "size": self.size_of(cell),
                "unit": self.unit,
                "least": cell.least,
                "interval": bracket(*cell.interval),
                "range": bracket(*cell.range),
                **{end: cell.ends[end] for end in ends},
                "floor": self.floor_of(cell),
                "ratio": None if self.floor_of(cell) == VACUOUS else cell.ratio,
                "runs": cell.runs,
                "seconds": cell.seconds,
            }
            for cell in self.cells
        ]

    def floor_of(self, cell: LeastCell) -> int | str | None:
        """Return the certified number of a cell, or the word "vacuous" for a trivial one."""
        if isinstance(cell.floor, int) and vacuous(self.quantity, cell.floor):
            return VACUOUS
        return cell.floor

    def size_of(self, cell: LeastCell) -> str:
        """Write the size of a cell, as "d=8"; its spec if no parameter varies."""
        return cell.spec if cell.value is None else f"{self.parameter}={write(cell.value)}"

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame: one row a threshold."""
        columns = ("low", "high", "end", "seconds")
        return frame(
            [
                {
                    "learner": cell.learner,
                    "spec": cell.spec,
                    **({f"param_{self.parameter}": cell.value} if self.parameter else {}),
                    "seed": threshold.search.seed,
                    "unit": self.unit,
                    **{name: getattr(threshold, name) for name in columns},
                    "runs": len(threshold.trials),
                    "floor": self.floor_of(cell),
                }
                for cell in self.cells
                for threshold in cell.thresholds
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON, with the cell of each learner at each size and the fitted growth."""
        cells = [cell.to_dict() for cell in self.cells]
        return {**self.filed(), "cells": cells, "scaling": self.scaling.to_dict()}


def planned(
    spec: str,
    over: str | None,
    learners: tuple[str, ...],
    seeds: int = SEEDS,
    first_seed: int = 0,
    unit: Unit = "examples",
    budget: Budget | None = None,
    total: int = TOTAL_LIMIT,
    tau: Fraction = Fraction(1, 10),
) -> Least:
    """Plan the searches, without thresholds yet.

    Raises UsageError if a learner cannot run, or if no threshold could be found within the limits.
    """
    spec, budget = spec_of(spec), budget or Budget()
    if getattr(budget, unit) is None:
        budget = replace(budget, **{unit: RUN_LIMITS[unit]})
    parameter, values = values_of(over) if over else ("", ())
    specs = (
        specs_over(spec, parameter, values) if over else [require_drawn(parse_stored(spec)).spec]
    )
    plan = Least(
        spec=spec,
        parameter=parameter,
        specs=tuple(specs),
        learners=distinct_learners(learners),
        seeds=seeds,
        seed=first_seed,
        unit=unit,
        budget=budget,
        total=total,
        tau=tau,
    )
    if seeds < LEAST_SEEDS:
        raise UsageError(
            f"{seeds} seeds: at least {LEAST_SEEDS} are needed, for fewer bound no median with 95 %"
        )
    share = total // (seeds + PILOTS)
    if not plan.run_limit >= 1 << (_PASSES_IN_A_ROW - 1) <= share:
        raise UsageError(
            f"at most {plan.run_limit} {unit} a run, and {share} a search: 4 are the "
            "least by which a threshold can be confirmed"
        )
    for learner, size in product(map(parse_learner, plan.learners), plan.specs):
        access = learner.access
        if access not in ("either", unit) and (access, unit) != ("queries", "examples"):
            raise UsageError(
                f"{learner.name} spends {access}: ask for its least {access}, not {unit}"
            )
        require_support(learner, parse_stored(size))
    for size, floor in zip(plan.specs, plan.floors, strict=True):
        if unit == "examples" and isinstance(floor, int) and plan.run_limit < floor:
            raise UsageError(
                f"at most {plan.run_limit} examples a run: below {floor}, the certified floor "
                f"of {size}, no learner has a threshold"
            )
    return plan


def least(
    spec: str,
    over: str | None,
    learners: tuple[str, ...],
    *args: Any,
    executor: Executor = in_this_process,
    **options: Any,
) -> Least:
    """Find the threshold of each learner at each size and seed, after three pilots.

    args, options: what `planned` takes. executor: does the searches; the result does not depend on
    it, except for seconds. Raises UsageError before anything runs.
    """
    return run_planned(planned(spec, over, learners, *args, **options), executor)


def run_planned(plan: Least, executor: Executor = in_this_process) -> Least:
    """Do planned searches; raises UsageError for a learner that does not load."""
    require_loaded(plan.learners, plan.specs[0])
    return plan.searched(executor)
