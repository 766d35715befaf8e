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
from itertools import product
from math import comb, isqrt
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self, get_args

import msgspec
import numpy as np

from hardness.bounds import BoundParameters, Certificate
from hardness.bounds.quantities import NONE_ENOUGH, WORD, vacuous
from hardness.learners import Learner, Outcome, learner_spec
from hardness.oracles import Budget
from hardness.runs.certified import claims, number, query_bound
from hardness.runs.columns import parameters_of
from hardness.runs.comparison import certificates, distinct, specs_over, values_of
from hardness.runs.growth import Scaling, fit, grown
from hardness.runs.jobs import Do, Work, here, require_loaded
from hardness.runs.names import Value
from hardness.runs.record import Record, json_of
from hardness.runs.registry import fresh_learner, parse_learner
from hardness.runs.risk import SOLVED_BELOW, settled
from hardness.runs.run import Run, machine, run, versions
from instances.errors import UsageError
from instances.family import Family
from instances.numbers import write
from instances.result import TableRow, frame
from instances.spec import parse_stored, require_drawn, spec_of
from instances.streams import BitStream, key

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
_AUDITED = (-_OCTAVE, _OCTAVE // 2, _OCTAVE, 2 * _OCTAVE)  # from a threshold: half to four times
_TAIL = Fraction(1, 40)  # on either side of an interval


def size(place: int) -> int:
    """Give a point of the grid, ceil(2^(place / 4)): four to an octave.

    >>> [size(place) for place in (0, 4, 8, 9, 10, 11, 12)]
    [1, 2, 4, 5, 6, 7, 8]
    """
    return isqrt(isqrt((1 << place) - 1)) + 1


def place_of(n: int) -> int:
    """Give the last place of the grid with a point.

    >>> all(size(place_of(size(place))) == size(place) for place in range(60))
    True
    """
    return (n**4).bit_length() - 1


Bracket = tuple[int, int | None, End]


def search(start: int, most: int) -> Generator[int, How | None, Bracket]:
    """Search a threshold from an octave: yields n, is sent how the run within n ended, or None.

    None: what all runs together may spend is spent. Octaves down to a failure, or to n = 1; up to
    three that pass in a row; then quarters between the failure and the first of the three. Returns
    (low, high], where high is None where there is no threshold up to `most`, with why.

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
        if 1 << octave > most:
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


def trial(found: Run, unit: Unit, n: int) -> Trial:
    """Judge a run by its risk, whatever its outcome is called."""
    how: How = "failed"
    if found.passed:
        how = "passed"
    elif found.limited_by in ("seconds", "memory", "machine"):
        how = "unknown"
    elif found.outcome is Outcome.CRASHED:
        how = "raised"
    elif found.limited_by != unit:
        how = "stopped"
    return Trial(n, how, found.used(unit))


def audited(high: int) -> tuple[int, ...]:
    """Give the points at which a threshold is audited: half, sqrt 2, 2 and 4 times it.

    >>> audited(32), audited(1)
    ((16, 46, 64, 128), (2, 4))
    """
    places = (place_of(high) + step for step in _AUDITED)
    return tuple(dict.fromkeys(n for place in places if place >= 0 and (n := size(place)) != high))


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
        family, learner = parse_stored(self.spec), parse_learner(self.learner)
        return Threshold(
            asked=self,
            tried=(),
            seconds=seconds,
            lost=why or outcome.value,
            revisions={"family": family.revision, "learner": learner.revision},
            versions=versions(),
            machine=machine(),
        )

    @property
    def most(self) -> int:
        """The most of the unit that a run may spend."""
        return int(getattr(self.budget, self.unit))

    def do(self) -> "Threshold":
        """Run what the search asks for; raises ToolkitError where it cannot be."""
        family, learner = parse_stored(self.spec), fresh_learner(self.learner)
        instance, runs = family.instance(self.seed), list[Run]()

        def ask(n: int) -> Trial:
            within = replace(self.budget, **{self.unit: n})
            runs.append(run(learner, instance, within, self.seed, tau=self.tau, by=settled))
            return trial(runs[-1], self.unit, n)

        tried = walk(self, ask)[1]
        return Threshold(
            asked=self,
            tried=tuple(tried.values()),
            seconds=sum(one.seconds for one in runs),
            revisions={"family": family.revision, "learner": learner.revision},
            versions=versions(),
            machine=machine(),
        )


def walk(asked: Search, ask: Callable[[int], Trial]) -> tuple[Bracket, dict[int, Trial]]:
    """Follow a search with the runs that it asks for, each n once, and audit what it confirmed.

    A pilot is not audited, and takes what says nothing for a failure: it gives an octave, and
    claims nothing.
    """
    tried: dict[int, Trial] = {}

    def ended(n: int) -> How | None:
        if n not in tried:
            if sum(one.used for one in tried.values()) + n > asked.total:
                return None
            tried[n] = ask(n)
        how = tried[n].how
        return "failed" if asked.pilot and how == "unknown" else how

    steps = search(asked.start, asked.most)
    n = next(steps)
    while True:
        try:
            n = steps.send(ended(n))
        except StopIteration as stop:
            found: Bracket = stop.value
            break
    for n in audited(found[1]) if found[1] and not asked.pilot else ():
        ended(n)
    return found, tried


class Threshold(Record, frozen=True, kw_only=True):
    """The least n of one instance and learner seed: in (low, high], which follow from its runs.

    tried: all runs in their order, those of the audit last. seconds: of all. lost: why its worker
    did not end it.
    """

    asked: Search
    tried: tuple[Trial, ...]
    seconds: Annotated[float, msgspec.Meta(ge=0)]
    lost: str = ""
    revisions: dict[str, int]
    versions: dict[str, str]
    machine: str

    @cached_property
    def _bracket(self) -> Bracket:
        if self.lost:
            return 0, None, "no-answer"
        left = iter(self.tried)
        found, tried = walk(self.asked, lambda n: next(left))
        if (*tried.values(),) != self.tried or any(n != one.n for n, one in tried.items()):
            raise ValueError
        return found

    @property
    def low(self) -> int:
        """The largest n that is below the threshold: 0 where none is."""
        return self._bracket[0]

    @property
    def high(self) -> int | None:
        """The threshold on the grid; None where none was confirmed."""
        return self._bracket[1]

    @property
    def end(self) -> End:
        """How the search ended."""
        return self._bracket[2]

    @property
    def audit(self) -> tuple[Trial, ...]:
        """The runs at half, sqrt 2, 2 and 4 times the threshold that said something."""
        ran = {one.n: one for one in self.tried if one.how != "unknown"}
        return tuple(ran[n] for n in audited(self.high) if n in ran) if self.high else ()

    @property
    def relapses(self) -> int:
        """How many of the audit contradict that more is never worse: failures above, luck below."""
        return sum((one.how == "passed") is (one.n < (self.high or 0)) for one in self.audit)

    @property
    def octave(self) -> int:
        """The octave from which the next search had best begin: of the threshold, or the last."""
        if self.high:
            return (self.high - 1).bit_length()
        failed = max((one.n for one in self.tried if one.how != "passed"), default=0)
        return min(failed.bit_length(), self.asked.most.bit_length() - 1)

    def to_dict(self) -> dict[str, Any]:
        """Write it as JSON, with what it found."""
        return {**self.filed(), "low": self.low, "high": self.high, "end": self.end}


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


@dataclass(frozen=True, kw_only=True)
class LeastCell:
    """The thresholds of one learner at one size; value: None where there is one size.

    floor: the certified number beside them, None where none is claimed, "none enough" where no
    number is.
    """

    value: Value | None
    spec: str
    learner: str
    thresholds: tuple[Threshold, ...]
    pilots: tuple[Threshold, ...]
    floor: int | str | None

    def _sorted(self, side: str) -> list[Any]:
        ends = [getattr(one, side) for one in self.thresholds]
        return sorted(ends, key=lambda n: (n is None, n))

    @property
    def least(self) -> int | None:
        """The median threshold, on the grid: half of the instances have one up to it.

        None where half have none.
        """
        found: int | None = self._sorted("high")[(len(self.thresholds) - 1) // 2]
        return found

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
    def relapses(self) -> tuple[int, int]:
        """Runs of the audits that contradict that more is never worse, and all of them."""
        every = self.thresholds
        return sum(one.relapses for one in every), sum(len(one.audit) for one in every)

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
        of = ("value", "spec", "learner", "floor", "confidence", "ends")
        return {name: json_of(getattr(self, name)) for name in (*of, *_TOLD)}


_TOLD = ("least", "interval", "range", "relapses", "ratio", "runs", "seconds")


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
    specs: tuple[str, ...]
    learners: tuple[str, ...]
    seeds: Annotated[int, msgspec.Meta(ge=LEAST_SEEDS)]
    seed: Annotated[int, msgspec.Meta(ge=0)] = 0
    unit: Unit
    budget: Budget
    total: Annotated[int, msgspec.Meta(ge=1)]
    tau: Fraction = Fraction(1, 10)
    pilots: tuple[Threshold, ...] = ()
    thresholds: tuple[Threshold, ...] = ()

    _format: ClassVar[str] = "hardness-least/2"
    _kept: ClassVar[str] = "searches"

    @property
    def terms(self) -> BoundParameters:
        """What the floors are about: risk .05 with a chance of .45.

        A run passes where its risk lies below .05 with 95 % confidence: at a median of thresholds
        half of them do, and the risk is below .05 for all but one in twenty.
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
    def share(self) -> int:
        """The most of the unit that all runs of a search may spend."""
        return self.total // (self.seeds + PILOTS)

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

    def searches_of(
        self, spec: str, learner: str, pilots: Sequence[Threshold] | None = None
    ) -> list[Search]:
        """List the searches of a learner at a size by seed: its pilots, or those that count.

        Those that count begin at the median of what the pilots say.
        """
        first, many, start = self.seed + self.seeds, PILOTS, 0
        if pilots is not None:
            first, many = self.seed, self.seeds
            start = sorted(one.octave for one in pilots)[PILOTS // 2]
        return [
            Search(
                spec=spec,
                learner=learner,
                seed=seed,
                unit=self.unit,
                budget=self.budget,
                total=self.share,
                start=start,
                pilot=pilots is None,
                tau=self.tau,
            )
            for seed in range(first, first + many)
        ]

    def searches(self, pilot: bool) -> list[Search]:
        """List what is to be found in its order; those that count begin where their pilots say."""
        return [
            one
            for i, cell in enumerate(product(self.specs, self.learner_names))
            for one in self.searches_of(
                *cell, None if pilot else self.pilots[PILOTS * i : PILOTS * (i + 1)]
            )
        ]

    def on(self, every: Iterable[Threshold]) -> Self:
        """Hold, of thresholds in any order, those of the sizes that lack none."""
        done = {one.asked: one for one in every}
        whole: dict[str, tuple[list[Threshold], list[Threshold]]] = {}
        for spec in self.specs:
            pilots, counted = list[Threshold](), list[Threshold]()
            with suppress(KeyError):
                for name in self.learner_names:
                    said = [done[one] for one in self.searches_of(spec, name)]
                    pilots += said
                    counted += [done[one] for one in self.searches_of(spec, name, said)]
                whole[spec] = pilots, counted
        return self.updated(
            specs=tuple(whole),
            pilots=tuple(one for pilots, _ in whole.values() for one in pilots),
            thresholds=tuple(one for _, counted in whole.values() for one in counted),
        )

    @cached_property
    def cells(self) -> tuple[LeastCell, ...]:
        """Every learner at every size, size by size."""
        sizes = zip(self.specs, self.values, self.floors, strict=True)
        places = ((size, name) for size in sizes for name in self.learner_names)
        return tuple(
            LeastCell(
                value=value,
                spec=spec,
                learner=name,
                thresholds=self.thresholds[self.seeds * i : self.seeds * (i + 1)],
                pilots=self.pilots[PILOTS * i : PILOTS * (i + 1)],
                floor=floor,
            )
            for i, ((spec, value, floor), name) in enumerate(places)
        )

    @cached_property
    def scaling(self) -> Scaling:
        """How thresholds and certified numbers grow."""
        return _scaling(self)

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
                "relapses": "{}/{}".format(*one.relapses),
                **{end: one.ends[end] for end in ends},  # those that some search had
                "floor": self.floor_of(one),
                "ratio": None if self.floor_of(one) == WORD else one.ratio,
                **{name: getattr(one, name) for name in ("runs", "seconds")},
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
        told = ("low", "high", "end", "relapses", "seconds")
        return frame(
            [
                {
                    "learner": cell.learner,
                    "spec": cell.spec,
                    **({f"param_{self.parameter}": cell.value} if self.parameter else {}),
                    "seed": one.asked.seed,
                    "unit": self.unit,
                    **{name: getattr(one, name) for name in told},
                    "audited": len(one.audit),
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


def _specs(spec: str, parameter: str, values: Sequence[Value | None]) -> list[str]:
    """Give the spec of every value; of no parameter the spec itself."""
    if not parameter:
        return [require_drawn(parse_stored(spec)).spec]
    return specs_over(spec, parameter, tuple(v for v in values if v is not None))


def _scaling(found: Least) -> Scaling:
    """Fit the thresholds of every learner over the sizes where every instance has one.

    What is fitted is the geometric middle of each (low, high], which is off by half of it at most.
    """
    floors = {v or 0: n for v, n in zip(found.values, found.floors, strict=True)}
    numbers = {value: n for value, n in floors.items() if isinstance(n, int)}
    certified = {found.quantity: numbers} if found.quantity and len(numbers) == len(floors) else {}
    fits = []
    for learner in found.learner_names:
        of = {one.value or 0: one for one in found.cells if one.learner == learner}
        reasons = {
            value: f"{never} of {found.seeds} instances have no threshold"
            if (never := sum(not one.high for one in cell.thresholds))
            else None
            if value > 0
            else "a power law needs a value above 0"
            for value, cell in of.items()
        }
        brackets = {
            value: np.log([(max(one.low, 0.5), one.high or 0) for one in of[value].thresholds])
            for value, reason in reasons.items()
            if not reason
        }
        middles = {value: np.exp(ends.mean(axis=1)) for value, ends in brackets.items()}
        off = {value: float(np.diff(ends).mean() / 2) for value, ends in brackets.items()}
        stream = BitStream(
            key(found.seed, "scaling", found.specs[0], found.parameter, learner, found.unit)
        )
        needed = "each with the threshold of every instance"
        fits.append(fit(learner, found.unit, middles, reasons, certified, stream, needed, off))
    return grown(found.specs[0], found.parameter, fits, certified)


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
    spec, budget = spec_of(spec), most_of(budget or Budget(), unit)
    parameter, values = values_of(over) if over else ("", ())
    found = Least(
        spec=spec,
        parameter=parameter,
        specs=tuple(_specs(spec, parameter, values)),
        learners=distinct(learners),
        seeds=seeds,
        seed=first_seed,
        unit=unit,
        budget=budget,
        total=total,
        tau=tau,
    )
    require_findable(found)
    return found


def least(
    spec: str,
    over: str | None,
    learners: tuple[str, ...],
    seeds: int = SEEDS,
    first_seed: int = 0,
    unit: Unit = "examples",
    budget: Budget | None = None,
    total: int = TOTAL,
    tau: Fraction = Fraction(1, 10),
    do: Do = here,
) -> Least:
    """Find the threshold of every learner on every size and seed, three pilots for each first.

    do: who does the searches; the result does not depend on it, seconds apart. Raises UsageError
    before anything runs.
    """
    asked = planned(spec, over, learners, seeds, first_seed, unit, budget, total, tau)
    return done(asked, do)


def done(asked: Least, do: Do = here) -> Least:
    """Do planned searches; raises UsageError for learners that do not load."""
    require_loaded(asked.learners, asked.specs[0])
    asked = asked.updated(pilots=tuple(do(asked.searches(pilot=True))))
    return asked.updated(thresholds=tuple(do(asked.searches(pilot=False))))


def most_of(budget: Budget, unit: Unit) -> Budget:
    """Give a budget the most of the unit that a run may spend, where it says none."""
    said = getattr(budget, unit) is not None
    return budget if said else replace(budget, **{unit: MOST[unit]})


def cannot(learner: Learner, family: Family, unit: Unit) -> str | None:
    """Say why a learner has no threshold of the unit on a family, if it has none."""
    access = learner.access
    if access not in ("either", unit) and (access, unit) != ("queries", "examples"):
        return f"{learner.name} spends {access}: ask for its least {access}, not {unit}"
    reason = learner.supports(family)
    return f"{learner.name} cannot run on {family}: {reason}" if reason else None


def require_findable(planned: Least) -> None:
    """Refuse what says nothing or cannot run, before anything does: raises UsageError."""
    unit, most, share = planned.unit, planned.most, planned.share
    if planned.seeds < LEAST_SEEDS:
        raise UsageError(
            f"{planned.seeds} seeds given: at least {LEAST_SEEDS} are needed, for fewer bound no "
            "median with 95 %"
        )
    if not most >= 1 << (_IN_A_ROW - 1) <= share:
        raise UsageError(
            f"at most {most} {unit} a run, and {share} a search, given: 4 are the least by which a "
            "threshold can be confirmed"
        )
    for learner, spec in product(map(parse_learner, planned.learners), planned.specs):
        if reason := cannot(learner, parse_stored(spec), unit):
            raise UsageError(reason)
    for spec, floor in zip(planned.specs, planned.floors, strict=True):
        if unit == "examples" and isinstance(floor, int) and most < floor:
            raise UsageError(
                f"at most {most} examples a run given: below {floor}, the certified floor of "
                f"{spec}, no learner has a threshold"
            )
