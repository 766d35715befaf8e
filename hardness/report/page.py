"""The page of a report: one static HTML file with the request, figures, bounds and runs.

It contains no scripts: figures are SVG, tables are HTML. It works offline, follows the reader's
choice of light or dark, and can be printed.
"""

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hardness.oracles import Budget
from hardness.report.claims import sentence
from hardness.report.figures import FIGURES
from hardness.report.stored import least_beside
from hardness.report.stress import certified_words, headline
from hardness.report.text import count
from hardness.runs import Comparison
from hardness.runs.certified import query_bound
from hardness.runs.groups import Line, Plane, over_one, over_two
from hardness.runs.least import Least
from hardness.runs.names import brief_spec, labels, short
from hardness.runs.results import Runs, read_runs
from hardness.runs.risk import SOLVED_BELOW
from hardness.runs.run import Run
from hardness.runs.stress import Stress
from instances import numbers
from instances.disk import damage, write_bytes, write_text
from instances.errors import DamagedFile
from instances.ladders import LADDERS, ladder_of
from instances.result import TableRow
from instances.spec import parse_stored

if TYPE_CHECKING:
    from pandas import DataFrame

    from hardness.report.style import CaptionedFigure

MOST_FIGURES = 6  # of a kind: a page with more would load slowly
_WIDTH = 4.6  # inches of a figure with two panels side by side, which fits a telephone
MOST_RUNS = 1000  # rows of the table of runs
_LEAST_SIZES = 5  # of a fit that gets a figure
_EXACT = 2**53  # integers below it are written with all digits


@dataclass(frozen=True, kw_only=True)
class Part:
    """A section of a page: a figure and the command that draws it, sentences, a table."""

    title: str
    figure: "CaptionedFigure | None" = field(default=None, repr=False)
    command: str = ""
    sentences: tuple[str, ...] = ()
    table: "DataFrame | None" = field(default=None, repr=False)
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Page:
    """The content of a page.

    Attributes:
        title: of the page.
        source: the file or folder that it describes.
        lead: sentences on the request and its result.
        parts: its sections in order.
        runs: number of runs.
        table: the first runs, a row each.
        commands: pairs of a description and the command that makes it again.
        versions: pairs of name and value: packages, machines, seeds.
    """

    title: str
    source: str
    lead: tuple[str, ...]
    parts: tuple[Part, ...]
    runs: int
    table: "DataFrame" = field(repr=False)
    commands: tuple[tuple[str, str], ...]
    versions: tuple[tuple[str, str], ...]

    @property
    def figures(self) -> int:
        """The number of its figures."""
        return sum(part.figure is not None for part in self.parts)


def page_of(path: Path) -> Page:
    """Make the page of what `compare`, `least`, `stress` or `sweep` wrote.

    Raises:
        DamagedFile: for a file that holds none of these.
    """
    result, source = read_runs(path), str(path)
    with damage(path):
        if isinstance(result, Runs):
            return _page_of_sweep(result, source)
        if isinstance(result, Stress):
            return page_of_stress(result, source)
        if isinstance(result, Comparison):
            return page_of_comparison(result, source, least_beside(path))
        if isinstance(result, Least):
            parts = list(_least_parts((result,), source))
            commands = [("the same thresholds", least_command(result))]
            page = _page(f"Thresholds of {result.spec}", source, (), parts, commands)
            return replace(page, runs=int(result.to_frame()["runs"].sum()))
    raise DamagedFile(
        f"{path} is no comparison, sweep, stress test or search of thresholds: of it `hardness "
        "report` prints a table, without --out"
    )


def page_of_comparison(
    comparison: Comparison, source: str = "results.json", thresholds: tuple[Least, ...] = ()
) -> Page:
    """Make the page of a comparison, and of thresholds if there are any.

    >>> from hardness.runs import compare
    >>> page = page_of_comparison(compare("parity:m=2", "d=6..8", ("elimination",), seeds=2), "out")
    >>> page.title, page.runs, [part.title for part in page.parts][:1]
    ('Both sides of parity:m=2', 6, ['parity:m=2, d = 6 to 8'])
    """
    line = Line(rows=comparison.runs, comparison=comparison, fixed=())
    parts = [*_line_parts(line, source), *_least_parts(thresholds, source)]
    commands = [("all of it", comparison.command)] if comparison.command else []
    title = f"Both sides of {comparison.spec}"
    return _page(title, source, comparison.runs, parts, commands)


def page_of_stress(stress: Stress, source: str) -> Page:
    """Make the page of a stress test: the levels that learners passed, and certified bounds."""
    name = stress.ladder.title
    part = Part(
        title=f"Levels of {name}",
        sentences=tuple(certified_words(stress)),
        table=frame(stress._rows()),
        note="How many instances each learner solved, level by level.",
    )
    again = stress_command(stress)
    commands = [("the runs, from their base seed", again)] if again else []
    lead = [headline(stress, attempt) for attempt in stress.attempts]
    drawn = "drawn from the operating system" if stress.drawn else "given"
    seeds = [("base seed", f"{stress.base_seed}, {drawn}: all seeds follow from it")]
    return _page(f"Levels of {name}", source, stress.runs, [part], commands, lead, seeds)


def _page_of_sweep(runs: Runs, source: str) -> Page:
    lines = sorted(over_one(runs.runs), key=lambda line: len(line.comparison.values) < 2)
    planes = over_two(runs.runs)
    parts = [part for line in lines[:MOST_FIGURES] for part in _line_parts(line, source)]
    parts += _phase_parts(planes[:MOST_FIGURES], source)
    hidden = max(0, len(lines) - MOST_FIGURES) + max(0, len(planes) - MOST_FIGURES)
    lead = [f"Not shown: {count(hidden, 'group')} of runs more, see --where."] if hidden else []
    lead += [] if runs.runs else ["There are no runs here."]
    again = shlex.join(["hardness", "sweep", runs.sweep_file or "SWEEP.toml", "--out", source])
    commands = [("the runs, from the file of the sweep", again)]
    return _page(runs.name or Path(source).name, source, runs.runs, parts, commands, lead)


def _page(
    title: str,
    source: str,
    runs: Sequence[Run],
    parts: Sequence[Part],
    commands: Sequence[tuple[str, str]],
    lead: Sequence[str] = (),
    versions: Sequence[tuple[str, str]] = (),
) -> Page:
    return Page(
        title=title,
        source=source,
        lead=(*_counted(runs), *lead),
        parts=tuple(parts),
        runs=len(runs),
        table=runs_table(runs[:MOST_RUNS]),
        commands=tuple(commands),
        versions=(*_versions(runs), *versions),
    )


def _counted(runs: Sequence[Run]) -> Iterator[str]:
    """Yield a sentence on the number of runs that solved their instance, if there are runs."""
    if not runs:
        return
    solved = Counter(run.learner for run in runs if run.solved)
    counts = Counter(run.learner for run in runs)
    names = brief_names(counts)
    each = ", ".join(f"{names[name]} {solved[name]} of {n}" for name, n in counts.items())
    yield (
        f"{sum(solved.values())} of {count(len(runs), 'run')} solved ({each}): the 95 % "
        f"interval of the relative risk lies below {SOLVED_BELOW}, within the budget."
    )


def _line_parts(line: Line, source: str) -> Iterator[Part]:
    """Yield the part of a line with its figure and table, and one of its growth if fitted."""
    comparison = line.comparison
    yield Part(
        title=line.title,
        figure=_drawn("both-sides", FIGURES["both-sides"].rows(comparison)),
        command=_command("both-sides", source, line.where),
        sentences=tuple(_bounds(line)),
        table=frame(comparison._rows()),
        note="Costs and risks are medians over seeds; a bound is of the size in its row.",
    )
    fitted = [fit for fit in comparison.scaling.fits if fit.law and len(fit.values) >= _LEAST_SIZES]
    if fitted:
        yield Part(
            title=f"Growth on {line.title}",
            figure=_drawn("scaling", FIGURES["scaling"].rows(comparison)),
            command=_command("scaling", source, line.where),
        )


def _bounds(line: Line) -> Iterator[str]:
    """Yield the certified bounds at the largest size, or the reason why there are none."""
    certificates = line.comparison.certificates
    if not certificates:
        # Raises UsageError for a user's family that is not named here: it may have bounds.
        parse_stored(line.comparison.specs[0])
        yield f"No bound is certified: {line.uncertified or 'the family has none'}."
        return
    last = certificates[-1]
    names = (query_bound([last]), "information-floor")
    for claim in last.claims:
        if claim.quantity in names and not claim.vacuous:
            yield f"Proved for {brief_spec(last.spec)}: {sentence(last, claim)}."


def _phase_parts(planes: Iterable[Plane], source: str) -> Iterator[Part]:
    for plane in planes:
        data = FIGURES["phase"].rows(plane)
        yield Part(
            title=f"Where learners solve {data['spec']}",
            figure=_drawn("phase", data),
            command=_command("phase", source, plane.where),
        )


def _least_parts(thresholds: tuple[Least, ...], source: str) -> Iterator[Part]:
    if not thresholds:
        return
    first = thresholds[0]
    data = FIGURES["least"].rows(thresholds) if first.parameter else {}
    yield Part(
        title=f"Fewest examples or queries: {first.spec}",
        figure=_drawn("least", data) if data else None,
        command=_command("least", source, "") if data else "",
        table=frame([row for least in thresholds for row in least._rows()]),
        note="The median over instances lies in the interval.",
    )


def _drawn(name: str, data: Any) -> "CaptionedFigure":
    return FIGURES[name].draw(data, width=_WIDTH)


def _command(name: str, source: str, where: str) -> str:
    """Write the command that draws a figure again, quoted for a shell."""
    choice = ["--where", where] if where else []
    return shlex.join(["hardness", "figure", name, source, *choice, "--out", f"{name}.pdf"])


def stress_command(stress: Stress) -> str:
    """Write the command that runs the same instances again; empty if there is none."""
    ladder, words = stress.ladder, ["hardness", "stress"]
    for attempt in stress.attempts:
        words += ["--reference" if attempt.reference else "--learner", attempt.name]
    if not any(attempt.reference for attempt in stress.attempts):
        words += ["--reference", "none"]
    if ladder.name in LADDERS:
        words += ["--ladder", ladder.name]
    elif ladder == ladder_of(ladder.specs):
        words += [word for spec in ladder.specs for word in ("--on", brief_spec(spec))]
    else:  # a file with budgets of its own, which no option names
        return ""
    words += ["--seeds", str(stress.seeds), "--seed", str(stress.base_seed)]
    return shlex.join([*words, *_budget_options(stress.budget)])


def least_command(thresholds: Least) -> str:
    """Write the command that searches the same thresholds again."""
    words = ["hardness", "least", thresholds.spec]
    if thresholds.parameter:
        values = ",".join(numbers.write(v) for v in thresholds.values if v is not None)
        words += ["--over", f"{thresholds.parameter}={values}"]
    words += [word for learner in thresholds.learners for word in ("--learner", learner)]
    words += [
        "--unit",
        thresholds.unit,
        "--seeds",
        str(thresholds.seeds),
        "--seed",
        str(thresholds.seed),
    ]
    words += ["--total", str(thresholds.total)]
    words += ["--tau", str(thresholds.tau)] if thresholds.unit == "queries" else []
    return shlex.join([*words, *_budget_options(thresholds.budget)])


def _budget_options(budget: Budget) -> list[str]:
    """Write the limits of a budget as options of a command."""
    options = {"cpu_seconds": "cpu", "memory_bytes": "memory"}
    return [
        word
        for name, value in vars(budget).items()
        if value is not None
        for word in (f"--budget-{options.get(name, name)}", numbers.write(value))
    ]


def runs_table(runs: Iterable[Run]) -> "DataFrame":
    """Make a table of runs, a row each: what was run, how it ended, what it cost."""
    runs = list(runs)
    names = brief_names(run.learner for run in runs)
    specs = {spec: brief_spec(spec) for spec in dict.fromkeys(run.spec for run in runs)}
    return frame(
        [
            {
                "problem": specs[run.spec],
                "learner": names[run.learner],
                "seed": str(run.seed),
                "outcome": run.outcome.value,
                "risk": run.risk if run.risk is not None else None,
                "examples": run.examples,
                "queries": run.queries or None,
                "values": run.membership_queries or None,
                "seconds": run.seconds,
                "limited by": run.limited_by if run.limited_by != "none" else None,
            }
            for run in runs
        ]
    )


def brief_names(learners: Iterable[str]) -> dict[str, str]:
    """Return names of learners without defaults and without folders, by canonical name."""
    canonical = list(dict.fromkeys(learners))
    return dict(zip(canonical, labels([short(name) for name in canonical]), strict=True))


def frame(rows: Sequence[TableRow]) -> "DataFrame":
    """Make a table of texts and numbers, without empty columns."""
    from pandas import DataFrame

    table = DataFrame(list(rows), dtype=object)
    return table.loc[:, (table.notna() & (table != "")).any()] if len(table) else table


def _versions(runs: Sequence[Run]) -> Iterator[tuple[str, str]]:
    """Yield names and values of packages, machines and seeds, with numbers of runs if several."""
    yield "page made by", "hardness " + version("hardness-toolkit")
    counts: dict[str, Counter[str]] = {}
    for run in runs:
        counts.setdefault("machine", Counter())[run.machine] += 1
        for name, version_text in run.versions.items():
            counts.setdefault(name, Counter())[version_text] += 1
        if "process" in run.details:
            process = str(run.details["process"])
            counts.setdefault(f"process of {run.learner}", Counter())[process] += 1
    for name, values in counts.items():
        several = len(values) > 1
        texts = (f"{v} ({count(n, 'run')})" if several else v for v, n in values.most_common())
        yield name, ", ".join(texts)
    if runs:
        seeds = {run.seed for run in runs}
        yield "seeds", f"{len(seeds)}, from {min(seeds)} to {max(seeds)}"


def cell(value: Any) -> str:
    """Write a cell of a table: exact integers, other numbers with four digits, – for None.

    >>> cell(1234567), cell(0.0123456), cell(None), cell("d=8"), cell(2.0)
    ('1,234,567', '0.01235', '–', 'd=8', '2')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if value == int(value) and abs(value) < _EXACT:
        return f"{int(value):,}" if abs(value) >= 10_000 else str(int(value))
    return f"{value:.4g}"


def render(page: Page) -> str:
    """Write a page as HTML; all texts are escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )

    def table(rows: "DataFrame") -> Markup:
        return Markup(rows.map(cell).to_html(index=False, border=0, justify="left"))

    def svg(figure: "CaptionedFigure") -> Markup:
        return Markup(figure.svg())

    environment.filters.update(svg=svg, table=table)
    text = (files("hardness.report") / "page.html").read_text(encoding="utf-8")
    return environment.from_string(text).render(page=page)


def save(
    folder: Path,
    comparison: Comparison,
    name: str,
    force: bool = False,
    thresholds: tuple[Least, ...] = (),
) -> None:
    """Write results.json, figure.svg and report.html into a folder.

    name: of the folder in the commands of the page. Thresholds, if there are any, are written to
    least-UNIT.json and least.svg.
    """
    comparison.save(folder / "results.json", force=force)
    drawn = FIGURES["both-sides"].draw(FIGURES["both-sides"].rows(comparison))
    write_bytes(folder / "figure.svg", drawn.file("svg"), force=force)
    for least in thresholds:
        least.save(folder / f"least-{least.unit}.json", force=force)
    if thresholds:
        figure = FIGURES["least"].draw(FIGURES["least"].rows(thresholds))
        write_bytes(folder / "least.svg", figure.file("svg"), force=force)
    html = render(page_of_comparison(comparison, name, thresholds))
    write_text(folder / "report.html", html, force=force)
