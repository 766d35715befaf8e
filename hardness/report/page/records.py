"""What a page shows, as data: tables are DataFrames, and words stand in the templates."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.lower import BoundParameters

Data = dict[str, Any]
Cell = str | int | float | None
Facts = dict[str, Any]  # what a sentence says, by the names that its template uses


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A figure: `hardness.report.figures.draw(name, data, ...)` draws it from its data alone.

    key: unique in a page, of a-z, 0-9 and -. choice: what tells it from the other charts of its
    section, as "m = 3, noise = 0"; one is shown at a time. facts: of its caption. command: draws it
    again from the source of the page.
    """

    key: str
    name: str
    section: str
    title: str
    data: Data = field(repr=False)
    command: str
    facts: Facts = field(default_factory=dict)
    choice: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table under a title, how it is known, and what is said beside it."""

    title: str
    table: "DataFrame" = field(repr=False)
    note: str = ""
    said: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Card:
    """A certificate: `claims` have quantity, value, kind, meaning and source.

    bounding: what its bounds on queries say. vacuous: quantities that say nothing. beside: what is
    known of attacks on the family. sizes: of the line of problems that it is the last of, a row
    each. command: certifies it again and checks it.
    """

    spec: str
    about: str  # the family, in a line
    claims: "DataFrame" = field(repr=False)
    terms: "BoundParameters"
    bounding: tuple[str, ...]
    vacuous: tuple[str, ...]
    scope: str
    beside: str
    assumptions: tuple[str, ...]
    sizes: "DataFrame" = field(repr=False)
    command: str


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A command that makes something of the page again; file, text: what the command needs."""

    makes: str
    command: str
    file: str = ""
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that a page says. facts: of its sentences, see `facts`. runs: one row a run, all of them.

    learners: a row a learner, problem, budget and way of asking, see `tables.learner_rows`.
    left_out: what is not shown, and how it is seen.
    """

    title: str
    source: str
    facts: Facts = field(repr=False)
    charts: tuple[Chart, ...]
    learners: "DataFrame" = field(repr=False)
    runs: "DataFrame" = field(repr=False)
    cards: tuple[Card, ...] = ()
    diagnoses: tuple[Section, ...] = ()
    growth: tuple[Section, ...] = ()
    paired: tuple[Section, ...] = ()
    rungs: Section | None = None
    reproduce: tuple[Reproduction, ...]
    provenance: tuple[tuple[str, str], ...]  # name, value: package, machines, seeds, sha256 of ...
    left_out: tuple[tuple[str, str], ...] = ()
