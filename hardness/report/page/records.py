"""The parts of a report as frozen records: numbers are numbers, and nothing is laid out yet."""

from dataclasses import dataclass, field
from typing import Any

Cell = str | int | float | None


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of equal length under a header whose names carry their units, as "seconds (s)"."""

    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure: `hardness.report.figures.draw(name, data, ...)` draws it from its data alone.

    key: unique in a report, of a-z, 0-9 and -. section: "both-sides", "phase", "climbs", "stages"
    or "scaling". choice: what tells it from the other charts of its section, as "m = 3, noise = 0";
    one is shown at a time. command: draws it again from the source of the report.
    """

    key: str
    name: str
    section: str
    title: str
    caption: str
    data: dict[str, Any] = field(repr=False)
    command: str
    choice: str = ""


@dataclass(frozen=True, kw_only=True)
class LearnerRow:
    """The runs of a learner on a spec within a budget; costs are medians over the runs that passed.

    [low, high] is of Clopper and Pearson, at 95 %, for the chance that a run passes. risk: median,
    None where none was measured. asked: "exact answers", "tau 1/10", ...: what else a run hangs on.
    view: what the learner sees: tokens, z, queries, values, or examples for one from a file.
    """

    learner: str
    spec: str
    view: str
    budget: str
    asked: str
    runs: int
    passed: int
    low: float
    high: float
    examples: float | None
    queries: float | None
    seconds: float | None
    risk: float | None
    outcome: str  # the most frequent one
    values: float | None = None


@dataclass(frozen=True, kw_only=True)
class Claimed:
    """A claim of a certificate: its value as text, how it is known, in words, and its source."""

    quantity: str
    value: str
    kind: str
    meaning: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Card:
    """A certificate: what it claims, what that means and what it does not mean."""

    spec: str
    about: str  # the family, in a line
    claims: tuple[Claimed, ...]
    means: tuple[str, ...]
    not_means: tuple[str, ...]
    assumptions: tuple[str, ...]
    command: str  # certifies it again and checks it
    others: Table = Table(header=(), rows=())  # certificates of its smaller sizes, a row each


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What the provable learner said of itself over the runs on a spec: signals and their limits.

    signals: name, runs that measured it, runs in which it was flagged, median, limit, advice.
    """

    spec: str
    learner: str
    runs: int
    passed: int
    signals: Table
    advice: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    """Learners side by side: two by two on the same instances, or rung by rung.

    note: how it is known.
    """

    title: str
    table: Table
    note: str


@dataclass(frozen=True, kw_only=True)
class Growth:
    """Fitted exponents of a slice of the runs, with what was not fitted and why."""

    title: str
    fits: Table
    left_out: tuple[str, ...]
    note: str


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A command that makes something of the report again, and what it makes.

    file, text: of a file that the command needs, as the source holds it; empty where it needs none.
    """

    makes: str
    command: str
    file: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a report says. summary: sentences with their numbers, the most important first.

    Of these the first few, `leading`, say what was run, what is certified, and what is partial or
    not said. rungs: of a stress test. runs: one row a run, all of them.
    """

    title: str
    source: str
    about: str
    summary: tuple[str, ...]
    scope: tuple[str, ...]  # what the numbers do not say, at length
    charts: tuple[Chart, ...]
    learners: tuple[LearnerRow, ...]
    runs: Table = field(repr=False)
    cards: tuple[Card, ...]
    diagnoses: tuple[Diagnosis, ...]
    growth: tuple[Growth, ...]
    paired: tuple[SideBySide, ...]
    reproduce: tuple[Reproduction, ...]
    provenance: tuple[tuple[str, str], ...]  # name, value: package, machines, seeds, sha256 of ...
    leading: int = 3
    rungs: SideBySide | None = None
    left_out: tuple[str, ...] = ()  # what is not shown, why, and the command that shows it
