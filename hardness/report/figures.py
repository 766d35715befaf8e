"""The figures of `hardness figure`: what each shows, its source, and the functions that draw it.

A figure NAME is an entry of `FIGURES` with two functions in one module of `charts`. The first makes
a small head and tidy rows from a result, the second draws them.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from instances.disk import damage_words
from instances.errors import DamagedFile, UsageError, unknown
from instances.result import Result

if TYPE_CHECKING:
    from hardness.bounds.members import Members
    from hardness.report.style import CaptionedFigure
    from instances.family import Family

Data = dict[str, Any]
_CHARTS, _STORED = "hardness.report.charts.", "hardness.report.stored:"
# Errors that missing or wrong fields of a file cause.
_FIELD_ERRORS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a figure is drawn from.

    command: writes the file or folder; empty if the figure is drawn from a SPEC. read: the function
    that reads it. kind: the class of a result that may be given instead. store: whether runs of a
    sweep may be given. members: whether functions of a file and layers in a folder may be given
    instead of a SPEC. Functions and classes are named MODULE:NAME, and imported when needed.
    """

    command: str = ""
    read: str = "instances.disk:read_json"
    kind: str = ""
    store: bool = False
    members: bool = False


_RESULT = "instances.result:Result"  # any result: the figure is drawn from its JSON
SPEC, MEMBERS = Source(), Source(members=True)
COMPARE = Source(
    command="compare ... --out DIR", read=_STORED + "comparison_of",
    kind="hardness.runs:Comparison", store=True,
)  # fmt: skip
THRESHOLDS = Source(
    command="least SPEC ... --out DIR", read=_STORED + "least_of",
    kind="hardness.runs.least:Least", store=True,
)  # fmt: skip
PLANE = Source(command="sweep FILE --out FILE.db", read=_STORED + "phase_of", store=True)
CURVES = Source(command="icl curves --out DIR", read=_STORED + "study_of", kind=_RESULT)
STEPS = Source(command="icl steps --out DIR", read=_STORED + "study_of", kind=_RESULT)
GRID = Source(command="estimate SPEC --over ... --over ... --out FILE", kind=_RESULT)
STAGED = Source(command="learn staged SPEC --out FILE", kind=_RESULT)


@dataclass(frozen=True)
class Entry:
    """A figure: what it shows, its source, and its module of `charts`.

    rows_by, drawn_by: the functions of the module that make its rows from the source, and draw
    them.
    """

    shows: str
    source: Source
    module: str
    rows_by: str
    drawn_by: str

    @property
    def takes(self) -> str:
        """A description of the argument SOURCE of this figure.

        >>> FIGURES["sda"].takes, FIGURES["stages"].takes
        ('a SPEC', 'what `hardness learn staged SPEC --out FILE` writes')
        """
        command = self.source.command
        return f"what `hardness {command}` writes" if command else "a SPEC"

    def rows(self, material: Any) -> Data:
        """Make its data, a small head and rows; material: what was read, or a tuple of several."""
        parts = material if isinstance(material, tuple) else (material,)
        data: Data = resolve_name(f"{_CHARTS}{self.module}:{self.rows_by}")(*parts)
        return data

    def draw(self, data: Data, *, ax: Any = None, width: float | None = None) -> "CaptionedFigure":
        """Draw its data, into the caller's axes or a new figure of a width in inches."""
        figure: CaptionedFigure = resolve_name(f"{_CHARTS}{self.module}:{self.drawn_by}")(
            data, ax=ax, width=width
        )
        return figure


FIGURES: dict[str, Entry] = {
    "both-sides": Entry("costs of learners next to certified bounds",
        COMPARE, "runs", "both_sides_rows", "both_sides"),
    "least": Entry("fewest examples or queries of learners next to certified bounds",
        THRESHOLDS, "runs", "least_rows", "least"),
    "phase": Entry("where learners solve, over two parameters, with certified bounds",
        PLANE, "phase", "phase_rows", "phase"),
    "scaling": Entry("costs with fitted power laws",
        COMPARE, "costs", "scaling_rows", "scaling"),
    "contours": Entry("costs of attacks over two parameters",
        GRID, "contours", "contours_rows", "contours"),
    "attacks": Entry("time of attacks next to estimates",
        COMPARE, "costs", "attacks_rows", "attacks"),
    "stages": Entry("what the stages of one run of staged saw",
        STAGED, "stages", "stages_rows", "stages"),
    "icl-curves": Entry("losses of linear attention by layers, trained and exact",
        CURVES, "icl", "curves_rows", "icl_curves"),
    "icl-steps": Entry("best steps of gradient descent by layers, exact",
        STEPS, "icl", "steps_rows", "icl_steps"),
    "correlations": Entry("correlation of two members, how often",
        MEMBERS, "bounds", "correlations_rows", "correlations"),
    "sda": Entry("statistical dimension, average correlation",
        MEMBERS, "bounds", "sda_rows", "sda"),
    "walsh": Entry("Walsh weight of an LWE-style member by degree",
        SPEC, "spectra", "walsh_rows", "walsh"),
}  # fmt: skip


def listed() -> str:
    """List the figures and what each shows, grouped by their source."""
    lines = ["hardness figure NAME SOURCE --out FILE.svg, .pdf or .png", ""]
    heads = {False: "a SPEC", True: "the file or folder that a command wrote"}
    for of_file, head in heads.items():
        commands = {name: entry.source.command for name, entry in FIGURES.items()}
        lines.append(f"SOURCE is {head}:")
        for command in dict.fromkeys(c for c in commands.values() if bool(c) is of_file):
            lines += [f"  `hardness {command}`"] if command else []
            names = [name for name in FIGURES if commands[name] == command]
            lines += [f"    {name:13} {FIGURES[name].shows}" for name in names]
        lines.append("")
    return "\n".join(lines).rstrip()


def figure_named(name: str) -> Entry:
    """Return the figure of a name; raises UsageError with the nearest name."""
    if name not in FIGURES:
        raise unknown("figure", name, list(FIGURES))
    return FIGURES[name]


def draw(name: str, data: Data, *, ax: Any = None, width: float | None = None) -> "CaptionedFigure":
    """Draw the figure of a name from its data; raises as its function does."""
    return figure_named(name).draw(data, ax=ax, width=width)


def rows_of(
    name: str, source: "Family | Members | Path | Result", query: str | None = None
) -> Data:
    """Collect the data of a figure from a family, its members, a file or folder, or a result.

    Args:
        name: of the figure.
        source: what it is drawn from.
        query: which runs of a sweep are drawn, as "m == 3 and noise == 0".

    Returns:
        A small head, and "rows": flat dictionaries.

    Raises:
        UsageError: for a source of another kind.
        DamagedFile: for a file that does not hold what is needed.
    """
    from hardness.runs.cache import is_cache
    from hardness.runs.results import Runs

    if isinstance(source, Runs) and source.source:  # returned by `read_runs`
        source = Path(source.source)
    figure, of_store = figure_named(name), isinstance(source, Path) and is_cache(source)
    if of_store and not figure.source.store:
        drawn = ", ".join(key for key, entry in FIGURES.items() if entry.source.store)
        raise UsageError(
            f"{source} holds runs of a sweep, of which {drawn} are drawn; figure {name} is "
            f"of {figure.takes}"
        )
    if query is not None and not figure.source.store:
        raise UsageError(f"--where only applies to runs of a sweep, and {name} is drawn of none")
    if not isinstance(source, Path):
        return figure.rows(_material(name, figure, source))
    if not source.exists():
        raise UsageError(f"no such file: {source}: figure {name} needs {figure.takes}")
    if not figure.source.command:
        raise UsageError(
            f"figure {name} is of a SPEC or path.py:Name, not of a file such as a certificate: "
            f"give what `certify` was given, not {source}"
        )
    read = resolve_name(figure.source.read)
    material = read(source, query) if figure.source.store else read(source)
    try:
        return figure.rows(material)
    except (UsageError, DamagedFile) as error:
        raise type(error)(f"{source}: {error}") from error
    except _FIELD_ERRORS as error:
        if not isinstance(material, dict):
            raise
        raise DamagedFile(
            f"{source} has nothing to draw as {name} ({damage_words(error)}): figure {name} needs "
            f"{figure.takes}"
        ) from error


def _material(name: str, figure: Entry, source: Any) -> Any:
    """Return what the rows of a figure are made from, given a family, members or a result."""
    if isinstance(source, Result):
        kind = figure.source.kind
        if not kind or not isinstance(source, resolve_name(kind)):
            raise UsageError(
                f"figure {name} is of {figure.takes}, not of a {type(source).__name__}"
            )
        return json.loads(source.to_json()) if kind == _RESULT else source
    if figure.source.members:
        from hardness.bounds.members import of_family
        from instances.coded import Coded

        if isinstance(source, Coded) and source.hidden_sets is None and source.factor:
            return of_family(source)
    return source
