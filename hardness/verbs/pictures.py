"""What people look at: the page of runs, figures."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

from hardness.verbs import sources
from hardness.verbs.ask import Ask, number, path, text, thing
from hardness.verbs.asks import FORCE, specs
from hardness.verbs.command import verb
from instances.arguments import located
from instances.errors import DamagedFile, UsageError

if TYPE_CHECKING:
    from hardness.report.style import CaptionedFigure
    from hardness.runs import Comparison, Least, Stress
    from hardness.runs.results import Runs
    from hardness.verbs.sources import Source
    from instances.result import Answer, Result


def _figures() -> list[str]:
    """Name the figures."""
    from hardness.report.figures import FIGURES

    return list(FIGURES)


def _named(_: str, given: Any) -> str:
    """Return the name of a figure; raises UsageError with the nearest name."""
    from hardness.report.figures import known

    known(str(given))
    return str(given)


@verb(
    "The page or the table of runs that were made.",
    out="Where to write: the page, FILE.html.  [default: print the table]",
    place="page",
    endings=(".html", ".htm", ""),
)
def report(
    source: Annotated[Path, path("The folder or the file.")],
    out: Annotated[Path | None, path("FILE.html.", flag="--out", writes=True)] = None,
    *,
    force: Annotated[bool, FORCE] = False,
) -> "Comparison | Least | Stress | Runs | Answer":
    """Print the table of runs again, or write one HTML file of all of them with --out.

    SOURCE is what `compare`, `stress`, `least` or `sweep` wrote, a folder or a file. The page works
    offline, and opens in any browser.
    """
    from hardness.report.stored import record_of

    try:
        return _page(source, out, force) if out else record_of(source)
    except DamagedFile as error:
        raise DamagedFile(
            f"{error}; a report is of what `hardness compare`, `least`, `stress` or `sweep` wrote"
        ) from error


def _page(source: Path, out: Path, force: bool) -> "Answer":
    from hardness.report.page import page_of, render
    from instances.disk import write_text
    from instances.result import Answer

    made = page_of(source)
    html = render(made)
    write_text(out, html, force=force)
    data = {
        "source": str(source),
        "report": str(out),
        "title": made.title,
        "runs": made.runs,
        "figures": made.figures,
        "bytes": len(html.encode()),
    }
    return Answer(data=data, told=f"{out}: {made.runs} runs")


def figure(
    name: str,
    source: Any,
    *,
    ax: Any = None,
    width: float | None = None,
    where: str | None = None,
    beside: Any = None,
) -> "CaptionedFigure":
    """Draw a figure as an object of matplotlib, which one edits and saves.

    Args:
        name: which figure; `hardness figure` lists them.
        source: a SPEC or family, what a function gave back, or the file or folder of a command.
        ax: axes to draw into, as many as the figure has panels; none: a new figure.
        width: of a new figure, in inches; a column of a paper is 3.3 wide.
        where: which runs of a store, as "m == 3".
        beside: what `least` gave back or wrote, shown in both-sides in place of what runs spent.

    Returns:
        A `matplotlib.figure.Figure` with `caption`, and `rows`, the data drawn. With `ax` it is the
        figure of these, which has neither.

    Raises:
        UsageError: for a source of another kind, or axes of another number.
        DamagedFile: for a file that does not hold what is drawn.

    >>> drawn = figure("sda", "parity:d=40,m=4", width=3.3)
    >>> _ = drawn.axes[0].set_title("SDA of parities")
    >>> drawn.get_size_inches().tolist()[0]
    3.3
    """
    from hardness.report.figures import draw

    return draw(name, _data(name, source, where, beside), ax=ax, width=width)


@verb(
    "Draw a figure, as svg, pdf or png.",
    out="Where to write: FILE.svg, .pdf or .png.  [required without --json]",
    place="own",
    needs="--out FILE.svg, .pdf or .png, or --json",
)
def draw_figure(
    name: Annotated[str | None, Ask("Its name.", _named, complete=_figures)] = None,
    source: Annotated["Source | Result | None", thing("What it is drawn from.", specs)] = None,
    out: Annotated[Path | None, path("A file.", flag="--out", writes=True)] = None,
    *,
    width: Annotated[
        float | None,
        number("Width in inches; a column of a paper is 3.3 wide.", default="that of the figure"),
    ] = None,
    where: Annotated[
        str | None,
        text(
            "Which runs of a sweep: a condition of pandas over the parameters of specs.",
            metavar='"m == 3"',
            default="all, if they stand in one figure",
        ),
    ] = None,
    beside: Annotated[
        Path | None,
        path(
            "A folder of `least`, in the place of what runs spent.",
            flag="--beside",
            default="both-sides shows runs alone",
        ),
    ] = None,
    force: Annotated[bool, FORCE] = False,
) -> "Answer":
    """Draw the figure NAME of SOURCE: a SPEC, or the file or folder that a command wrote.

    Without NAME: list the figures, with what each shows and what it is drawn from. --out FILE.svg,
    .pdf or .png holds the picture, and the caption is printed; --json prints the data drawn. In
    Python `hardness.figure` gives an object of matplotlib.
    """
    from hardness.report.figures import FIGURES, listed
    from instances.disk import write_bytes
    from instances.result import Answer

    if name is None:
        if source is not None or out:
            raise UsageError("figure needs a NAME: `hardness figure` lists them")
        every = {key: {"shows": one.shows, "source": one.takes} for key, one in FIGURES.items()}
        return Answer(data={"figures": every}, told=listed())
    if source is None:
        raise UsageError(f"figure {name} needs a SOURCE: {FIGURES[name].takes}")
    kind = _kind(out) if out else ""
    data = _data(name, source, where, beside)
    drawn = FIGURES[name].draw(data, width=width)
    if out:
        write_bytes(out, drawn.file(kind), force=force)
    told = f"{out}\n\n{fill(drawn.caption, 80)}" if out else drawn.caption
    return Answer(data={"figure": name, **data, "caption": drawn.caption}, told=told)


def _kind(out: Path) -> str:
    """Take the format from the ending of --out."""
    kind = out.suffix.lstrip(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise UsageError(f"--out must end in .svg, .pdf or .png, got {out}")
    return kind


def _data(name: str, source: Any, where: str | None, beside: Any) -> dict[str, Any]:
    """Collect the data of a figure from whatever its source is."""
    from hardness.report.figures import known, rows_of
    from hardness.report.stored import comparison_of, least_of
    from hardness.runs import Comparison, Least

    entry, material = known(name), _material(name, source)
    if beside is None:
        return rows_of(name, material, where)
    if name != "both-sides" or not isinstance(material, Path | Comparison):
        raise UsageError("--beside only applies to both-sides of what `compare` made")
    runs = comparison_of(material, where) if isinstance(material, Path) else material
    thresholds = (beside,) if isinstance(beside, Least) else least_of(Path(beside))
    return entry.rows((runs, *thresholds))


def _material(name: str, source: Any) -> Any:
    """Read what a figure is drawn from where it is no file: a family, its members, a result."""
    from hardness.bounds.members import read_members
    from hardness.report.figures import known
    from instances.result import Result

    if isinstance(source, Result):
        return source
    entry, given = known(name), sources.functions(source)
    if entry.source.made or (Path(given).suffix == ".json" and Path(given).is_file()):
        return Path(located("source", source))
    if entry.source.members and given and (listed := read_members(given)):
        return listed
    return sources.target(source)[0]
