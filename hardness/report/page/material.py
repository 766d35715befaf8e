"""What a page is made of, as data: runs over a parameter, certificates, sweeps; what it shows.

Tables are DataFrames, and words stand in the templates.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.report.stored import least_beside
from hardness.runs import Comparison, Least
from hardness.runs.cache import NAME
from hardness.runs.certified import Certifier
from hardness.runs.columns import table
from hardness.runs.groups import Line, Plane, over_one, over_two
from hardness.runs.results import Runs, read_runs
from hardness.runs.stress import Stress
from instances.disk import opened
from instances.errors import DamagedFile

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.bounds import BoundParameters


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
    rungs: tuple[Section, ...] = ()
    least: tuple[Section, ...] = ()
    reproduce: tuple[Reproduction, ...]
    provenance: tuple[tuple[str, str], ...]  # name, value: package, machines, seeds, sha256 of ...
    left_out: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Material:
    """All that a page says follows from this. runs: one tidy table, a row a run.

    store: whether it is of a sweep, of this name. climbs: stress tests by the names of their
    figures. command: made a comparison. least: thresholds, by name, or those beside a comparison.
    """

    source: str
    runs: "DataFrame" = field(repr=False)
    sha256: str = ""
    lines: tuple[Line, ...] = field(default=(), repr=False)
    planes: tuple[Plane, ...] = field(default=(), repr=False)
    certifier: Certifier = field(default_factory=Certifier, repr=False)
    store: bool = False
    name: str = ""
    climbs: dict[str, Stress] = field(default_factory=dict, repr=False)
    command: str = ""
    stress: Stress | None = None
    least: Mapping[str, tuple[Least, ...]] = field(default_factory=dict, repr=False)


def material_of(path: Path) -> Material:
    """Read what a page is of: what `compare`, `stress`, `least` or `sweep` wrote.

    Raises DamagedFile.
    """
    found = read_runs(path)
    file = next((path / n for n in (NAME, "results.json") if (path / n).is_file()), path)
    sha256 = digest(file)
    if isinstance(found, Runs):
        return of_sweep(found, str(path), sha256)
    if isinstance(found, Stress):
        return of_stress_test(found, str(path), sha256)
    if isinstance(found, Comparison):
        return of_comparison(found, str(path), sha256, least_beside(path))
    raise DamagedFile(f"{path} is of a {type(found).__name__}, of which there is no page")


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal; raises DamagedFile."""
    with opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_comparison(
    comparison: Comparison, source: str, sha256: str = "", least: tuple[Least, ...] = ()
) -> Material:
    """Take a comparison, and thresholds beside it."""
    runs = table(comparison.runs)
    return Material(
        source=source,
        sha256=sha256,
        runs=runs,
        lines=(Line(rows=comparison.runs, comparison=comparison, fixed=()),),
        command=comparison.command,
        least={"": least} if least else {},
    )


def of_stress_test(found: Stress, source: str, sha256: str = "") -> Material:
    """Take a stress test, of which all is one figure and its rungs."""
    return Material(
        source=source,
        sha256=sha256,
        runs=table(found.runs),
        climbs={found.ladder.title: found},
        stress=found,
    )


def of_sweep(found: Runs, source: str, sha256: str = "") -> Material:
    """Take the runs of a sweep."""
    runs, certifier = table(found.runs), Certifier()
    return Material(
        source=source,
        sha256=sha256,
        runs=runs,
        lines=over_one(runs["run"], certifier),
        planes=over_two(runs["run"]),
        certifier=certifier,
        store=True,
        name=found.name,
    )
