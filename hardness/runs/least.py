"""The least examples, queries or values by which a learner solves instances: thresholds, medians.

Success need not be monotone in what a learner may spend, and a search that stops at the first
success counts its luck. A threshold is confirmed by three octaves that pass in a row; each is found
on nested prefixes of one instance's stream, from an octave that three pilots gave, which are not
counted. So thresholds are independent and alike in law, whoever finds them in whatever order, and
order statistics bound their median exactly. docs/least.md has the method.
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
from hardness.bounds.quantities import NONE_ENOUGH, WORD, vacuous
from hardness.learners import Outcome, learner_spec
from hardness.learners.learner import View
from hardness.oracles import Budget
from hardness.runs.certified import claims, number, query_bound
from hardness.runs.columns import parameters_of
from hardness.runs.comparison import certificates, distinct, specs_over, values_of
from hardness.runs.growth import Scaling, scaling_of_least
from hardness.runs.jobs import Do, Work, here, require_loaded
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
# Of a run; stopped: it failed, and had budget left. raised: the learner raised or exited, a failure
# too. unknown: seconds, memory or the machine ended it, which says nothing.
How = Literal["passed", "failed", "stopped", "raised", "unknown"]
# Of a search; over: no success within the most of a run, or of all its runs. unconfirmed: the most
# leaves no room for three octaves. own-limit: two octaves in a row stopped with budget left.
End = Literal["confirmed", "over", "unconfirmed", "own-limit", "no-answer"]
LEAST_SEEDS, SEEDS, PILOTS = 6, 15, 3
MOST: dict[Unit, int] = {"examples": 1 << 20, "queries": 1 << 14, "values": 1 << 20}  # of a run
TOTAL = 10**8  # of all runs of a learner at a size
_OCTAVE, _IN_A_ROW = 4, 3
_TAIL = Fraction(1, 40)  # on either side of an interval


def size(place: int) -> int:
    """Give a point of the grid, ceil(2^(place / 4)): four to an octave.

    >>> [size(place) for place in (0, 4, 8, 9, 10, 11, 12)]
    [1, 2, 4, 5, 6, 7, 8]
    """
    return isqrt(isqrt((1 << place) - 1)) + 1


Bracket = tuple[int, int | None, End]


def search(start: int, limit: int) -> Generator[int, How | None, Bracket]:
    """Search a threshold from an octave: yields n, is sent how the run within n ended, or None.

    None: what all runs together may spend is spent. Octaves down to a failure, or to n = 1; up to
    three that pass in a row; then quarters between the failure and the first of the three. Returns
    (low, high], where high is None where there is no threshold up to `limit`, with why.

    >>> steps = search(3, 64)
    >>> n, asked = next(steps), []
    >>> try:
    ...     while asked.append(n) or True:
    ...         n = steps.send("passed" if n >= 6 else "failed")
    ... except StopIteration as stop:
    ...     asked, stop.value
    ([8, 4, 8, 16, 32, 6, 5], (5, 6, 'confirmed'))
    """
    octave = start
    how = yield 1 << octave
    while how == "passed" and octave:
        octave -= 1
        how = yield 1 << octave
    low, passes, before = 0, 0, None
    while True:
        if how is None or how == "unknown":
            return (low, None, "over") if how is None else (0, None, "no-answer")
        passes = passes + 1 if how == "passed" else 0
        if passes == _IN_A_ROW:
            break
        if not passes:
            low = 1 << octave
            if how == before == "stopped":
                return low, None, "own-limit"
        octave += 1
        if 1 << octave > limit:
            return low, None, "unconfirmed" if passes else "over"
        before, how = how, (yield 1 << octave)
    above = _OCTAVE * (octave - _IN_A_ROW + 1)
    below = above - _OCTAVE
    while above and above - below > 1:
        middle = (below + above) // 2
        how = yield size(middle)
        if how == "unknown":
            return 0, None, "no-answer"
        if how is None:
            break
        below, above = (below, middle) if how == "passed" else (middle, above)
    return size(below) if above else 0, size(above), "confirmed"


class Trial(NamedTuple):
    """A run within a budget of n: how it ended, and how much of the n it used."""

    n: int
    how: How
    used: int


def trial(result: Run, unit: Unit, n: int) -> Trial:
    """Judge a run by its risk, whatever its outcome is called."""
    how: How = "failed"
    if result.passed:
        how = "passed"
    elif result.limited_by in ("seconds", "memory", "machine"):
        how = "unknown"
    elif result.outcome is Outcome.CRASHED:
        how = "raised"
    elif result.limited_by != unit:
        how = "stopped"
    return Trial(n, how, result.used(unit))


class Search(Work, frozen=True, kw_only=True):
    """A threshold that is to be found, from an octave; the learner by its canonical name.

    budget: of a run, with the most of the unit and what else ends one. total: the most of the unit
    in all its runs.
    """

    seed: Annotated[int, msgspec.Meta(ge=0)]
    unit: Unit
    budget: Budget
    total: Annotated[int, msgspec.Meta(ge=1)]
    start: Annotated[int, msgspec.Meta(ge=0)] = 0
    pilot: bool = False
    tau: Fraction = Fraction(1, 10)

    def lost(self, outcome: Outcome, why: str, seconds: float) -> "Threshold":
        """Make the threshold of a search that could not be done: no answer."""
        return self._ended((0, None, "no-answer"), (), seconds, why or outcome.value)

    def _ended(
        self,
        bracket: Bracket,
        tried: Sequence[Trial],
        seconds: float,
        lost: str = "",
        view: View | None = None,
    ) -> "Threshold":
        made = {"family": parse_stored(self.spec), "learner": parse_learner(self.learner)}
        return Threshold(
            asked=self,
            tried=tuple(tried),
            low=bracket[0],
            high=bracket[1],
            end=bracket[2],
            seconds=seconds,
            lost=lost,
            revisions={name: one.revision for name, one in made.items()},  # type: ignore[attr-defined]
            versions=versions(),
            machine=machine(),
            view=view,
        )

    @property
    def most(self) -> int:
        """The most of the unit that a run may spend."""
        return int(getattr(self.budget, self.unit))

    def do(self) -> "Threshold":
        """Run what the search asks for; raises ToolkitError where it cannot be."""
        learner, runs = fresh_learner(self.learner), list[Run]()
        instance = parse_stored(self.spec).instance(self.seed)

        def ask(n: int) -> Trial:
            within = replace(self.budget, **{self.unit: n})
            runs.append(run(learner, instance, within, self.seed, tau=self.tau, by=settled))
            return trial(runs[-1], self.unit, n)

        found, tried = walk(self, ask)
        view = runs[-1].view if runs else None
        return self._ended(found, [*tried.values()], sum(one.seconds for one in runs), view=view)


def walk(plan: Search, ask: Callable[[int], Trial]) -> tuple[Bracket, dict[int, Trial]]:
    """Follow a search with the runs that it asks for, each n once.

    A pilot takes what says nothing for a failure: it gives an octave, and claims nothing.
    """
    tried: dict[int, Trial] = {}

    def ended(n: int) -> How | None:
        if n not in tried:
            if sum(one.used for one in tried.values()) + n > plan.total:
                return None
            tried[n] = ask(n)
        how = tried[n].how
        return "failed" if plan.pilot and how == "unknown" else how

    steps = search(plan.start, plan.most)
    n = next(steps)
    while True:
        try:
            n = steps.send(ended(n))
        except StopIteration as stop:
            return stop.value, tried


class Threshold(Record, frozen=True, kw_only=True):
    """The least n of one instance and learner seed: in (low, high].

    tried: all runs in their order. low: the largest n below it, 0 where none is; high: the
    threshold on the grid, None where none was confirmed; end: how the search ended. seconds: of all
    runs. lost: why its worker did not end it. view: what the learner saw, None if nothing ran.
    """

    asked: Search
    tried: tuple[Trial, ...]
    low: Annotated[int, msgspec.Meta(ge=0)]
    high: Annotated[int, msgspec.Meta(ge=1)] | None
    end: End
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    lost: str = ""
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str
    view: View | None = None

    @property
    def octave(self) -> int:
        """The octave from which the next search had best begin: of the threshold, or the last."""
        if self.high:
            return (self.high - 1).bit_length()
        failed = max((one.n for one in self.tried if one.how != "passed"), default=0)
        return min(failed.bit_length(), self.asked.most.bit_length() - 1)


Search.result = Threshold


@cache
def rank(seeds: int) -> tuple[int, Fraction]:
    """Give r and the confidence with which the r-th of each side bound a median: exact.

    r is the largest with P(Bin(seeds, 1/2) <= r - 1) <= 1/40; 0 where there is none.

    >>> rank(15)[0], round(float(rank(15)[1]), 3), rank(5)[0]
    (4, 0.965, 0)
    """
    r, tail = 0, Fraction(0)
    while (more := tail + Fraction(comb(seeds, r), 2**seeds)) <= _TAIL:
        r, tail = r + 1, more
    return r, 1 - 2 * tail


@dataclass(frozen=True)
class LeastCell:
    """The thresholds of one learner at one size; value: None where there is one size.

    floor: the certified number beside them, None where none is claimed, "none enough" where no
    number is.
    """

    value: Value | None
    spec: str
    learner: str
    thresholds: tuple[Threshold, ...]
    floor: int | str | None

    @property
    def view(self) -> View:
        """What its learner saw."""
        known = next((one.view for one in self.thresholds if one.view), None)
        return known or recorded_view(
            self.learner, self.spec, self.thresholds[0].asked.unit == "queries"
        )

    def _sorted(self, side: str) -> list[Any]:
        ends = [getattr(one, side) for one in self.thresholds]
        return sorted(ends, key=lambda n: (n is None, n))

    @property
    def least(self) -> int | None:
        """The median threshold, on the grid: half of the instances have one up to it.

        None where half have none.
        """
        return self._sorted("high")[(len(self.thresholds) - 1) // 2]

    @property
    def interval(self) -> tuple[int, int | None]:
        """(low, high] of the median, with `confidence`; None without an end."""
        r = rank(len(self.thresholds))[0]
        return self._sorted("low")[r - 1], self._sorted("high")[-r]

    @property
    def confidence(self) -> Fraction:
        """With which the interval holds the median, exactly."""
        return rank(len(self.thresholds))[1]

    @property
    def range(self) -> tuple[int, int | None]:
        """(low, high] of all."""
        return self._sorted("low")[0], self._sorted("high")[-1]

    @property
    def ends(self) -> Counter[End]:
        """How many searches ended how."""
        return Counter(one.end for one in self.thresholds)

    @property
    def ratio(self) -> float | None:
        """The median threshold over the floor, where there are both."""
        floor = self.floor if isinstance(self.floor, int) else 0
        return self.least / floor if self.least and floor else None

    @property
    def runs(self) -> int:
        """All runs of its thresholds; those of pilots are not among them."""
        return sum(len(one.tried) for one in self.thresholds)

    @property
    def seconds(self) -> float:
        """Seconds of these runs."""
        return sum(one.seconds for one in self.thresholds)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, without the thresholds."""
        names = "value spec learner floor confidence ends least interval range ratio runs seconds"
        return {name: json_of(getattr(self, name)) for name in names.split()}


def bracket(low: int, high: int | None) -> str:
    """Write (low, high].

    >>> bracket(64, 91), bracket(64, None)
    ('(64, 91]', '(64, ∞)')
    """
    return f"({low}, ∞)" if high is None else f"({low}, {high}]"


class Least(Record, frozen=True, kw_only=True):
    """Thresholds of learners over sizes, and the certified lower bounds.

    spec: as asked; parameter: that varies, empty where there is one size; specs: canonical, one a
    size. seed: the first; the pilots have those after the counted ones. budget, total: of a run,
    and of all runs of a learner at a size. tau: of queries, and of the bound on them. pilots,
    thresholds: size by size, learners in the order asked, by seed.
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
        """What the floors are about: risk 0.05 with a chance of 0.45.

        A run passes where its risk is below 0.05 with 95 % confidence: at a median of thresholds
        half of them do, and the risk is below 0.05 for all but one in twenty.
        """
        success = Fraction(1, 2) - Fraction(1, 20)
        return BoundParameters(tau=self.tau, risk=Fraction(str(SOLVED_BELOW)), success=success)

    @cached_property
    def values(self) -> tuple[Value | None, ...]:
        """The values of the parameter; None where there is one size."""
        found = (parameters_of(spec).get(self.parameter) for spec in self.specs)
        return tuple(None if isinstance(value, str) else value for value in found)

    @cached_property
    def learner_names(self) -> list[str]:
        """Canonical names of the learners, in the order asked."""
        return [learner_spec(parse_learner(one)) for one in self.learners]

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """One a size; none where no bound is claimed for one of them."""
        return certificates(self.specs, self.terms)

    @property
    def most(self) -> int:
        """The most of the unit that a run may spend."""
        return int(getattr(self.budget, self.unit))

    @property
    def quantity(self) -> str:
        """What is certified in the unit: for any learner, or for worst answers to queries."""
        if self.unit == "queries":
            return query_bound(self.certificates)
        floor, every = "information-floor", self.certificates
        claimed = self.unit == "examples" and every and all(claims(one, floor) for one in every)
        return floor if claimed else ""

    @cached_property
    def floors(self) -> tuple[int | str | None, ...]:
        """The certified number of every size, also one that is vacuous; None where none is."""
        if not self.quantity:
            return (None,) * len(self.specs)
        every = (number(one, self.quantity, self.terms.success) for one in self.certificates)
        return tuple(NONE_ENOUGH if value is None else value for value in every)

    def searches(self, pilot: bool) -> list[Search]:
        """List what is to be found in its order; those that count begin at the median of pilots."""
        first, many = (self.seed + self.seeds, PILOTS) if pilot else (self.seed, self.seeds)
        every = list[Search]()
        for i, (spec, learner) in enumerate(product(self.specs, self.learner_names)):
            octaves = sorted(one.octave for one in self.pilots[PILOTS * i : PILOTS * (i + 1)])
            every += [
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
                for seed in range(first, first + many)
            ]
        return every

    def searched(self, do: Do) -> Self:
        """Do its searches, the pilots first."""
        piloted = self.updated(pilots=tuple(do(self.searches(pilot=True))))
        return piloted.updated(thresholds=tuple(do(piloted.searches(pilot=False))))

    def on(self, every: Iterable[Threshold]) -> Self:
        """Hold, of thresholds in any order, those of the sizes that lack none."""
        held, whole = {one.asked: one for one in every}, list[Self]()
        for spec in self.specs:
            with suppress(KeyError):
                size = self.updated(specs=(spec,))
                whole.append(size.searched(lambda works: [held[one] for one in works]))  # type: ignore[index]
        return self.updated(
            specs=tuple(one.specs[0] for one in whole),
            pilots=tuple(pilot for one in whole for pilot in one.pilots),
            thresholds=tuple(found for one in whole for found in one.thresholds),
        )

    @cached_property
    def cells(self) -> tuple[LeastCell, ...]:
        """Every learner at every size, size by size."""
        left = iter(self.thresholds)
        return tuple(
            LeastCell(value, spec, name, tuple(islice(left, self.seeds)), floor)
            for spec, value, floor in zip(self.specs, self.values, self.floors, strict=True)
            for name in self.learner_names
        )

    @cached_property
    def scaling(self) -> Scaling:
        """How thresholds and certified numbers grow."""
        return scaling_of_least(self)

    def _rows(self) -> list[TableRow]:
        names = dict(zip(self.learner_names, self.learners, strict=True))
        ends = [end for end in get_args(End)[1:] if any(one.ends[end] for one in self.cells)]
        return [
            {
                "learner": names[one.learner],
                "size": self.size_of(one),
                "unit": self.unit,
                "least": one.least,
                "interval": bracket(*one.interval),
                "range": bracket(*one.range),
                **{end: one.ends[end] for end in ends},  # those that some search had
                "floor": self.floor_of(one),
                "ratio": None if self.floor_of(one) == WORD else one.ratio,
                "runs": one.runs,
                "seconds": one.seconds,
            }
            for one in self.cells
        ]

    def floor_of(self, cell: LeastCell) -> int | str | None:
        """Give what is certified of a cell: its number, or in words that it says nothing."""
        if isinstance(cell.floor, int) and vacuous(self.quantity, cell.floor):
            return WORD
        return cell.floor

    def size_of(self, cell: LeastCell) -> str:
        """Write the size of a cell."""
        return cell.spec if cell.value is None else f"{self.parameter}={write(cell.value)}"

    def to_frame(self) -> "DataFrame":
        """Make the tidy pandas DataFrame: one row a threshold."""
        told = ("low", "high", "end", "seconds")
        return frame(
            [
                {
                    "learner": cell.learner,
                    "spec": cell.spec,
                    **({f"param_{self.parameter}": cell.value} if self.parameter else {}),
                    "seed": one.asked.seed,
                    "unit": self.unit,
                    **{name: getattr(one, name) for name in told},
                    "runs": len(one.tried),
                    "floor": self.floor_of(cell),
                }
                for cell in self.cells
                for one in cell.thresholds
            ]
        )

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with what follows for every learner at every size."""
        cells = [one.to_dict() for one in self.cells]
        return {**self.filed(), "cells": cells, "scaling": self.scaling.to_dict()}


def planned(
    spec: str,
    over: str | None,
    learners: tuple[str, ...],
    seeds: int = SEEDS,
    first_seed: int = 0,
    unit: Unit = "examples",
    budget: Budget | None = None,
    total: int = TOTAL,
    tau: Fraction = Fraction(1, 10),
) -> Least:
    """Plan searches, without thresholds; raises UsageError for what says nothing or cannot run."""
    spec, budget = spec_of(spec), budget or Budget()
    if getattr(budget, unit) is None:
        budget = replace(budget, **{unit: MOST[unit]})
    parameter, values = values_of(over) if over else ("", ())
    every = (
        specs_over(spec, parameter, values) if over else [require_drawn(parse_stored(spec)).spec]
    )
    found = Least(
        spec=spec,
        parameter=parameter,
        specs=tuple(every),
        learners=distinct(learners),
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
    if not found.most >= 1 << (_IN_A_ROW - 1) <= share:
        raise UsageError(
            f"at most {found.most} {unit} a run, and {share} a search: 4 are the "
            "least by which a threshold can be confirmed"
        )
    for learner, one in product(map(parse_learner, found.learners), found.specs):
        access = learner.access
        if access not in ("either", unit) and (access, unit) != ("queries", "examples"):
            raise UsageError(
                f"{learner.name} spends {access}: ask for its least {access}, not {unit}"
            )
        require_support(learner, parse_stored(one))
    for one, floor in zip(found.specs, found.floors, strict=True):
        if unit == "examples" and isinstance(floor, int) and found.most < floor:
            raise UsageError(
                f"at most {found.most} examples a run: below {floor}, the certified floor "
                f"of {one}, no learner has a threshold"
            )
    return found


def least(
    spec: str,
    over: str | None,
    learners: tuple[str, ...],
    *args: Any,
    do: Do = here,
    **options: Any,
) -> Least:
    """Find the threshold of every learner on every size and seed, three pilots for each first.

    args, options: what `planned` takes. do: who does the searches; the result does not depend on
    it, seconds apart. Raises UsageError before anything runs.
    """
    return done(planned(spec, over, learners, *args, **options), do)


def done(plan: Least, do: Do = here) -> Least:
    """Do planned searches; raises UsageError for learners that do not load."""
    require_loaded(plan.learners, plan.specs[0])
    return plan.searched(do)
