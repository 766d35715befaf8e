"""Reports and figures: the page of runs, and figures of results."""

from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from hardness.api import sources
from instances.arguments import located, number_between, switch, text_argument
from instances.errors import DamagedFile, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.api.sources import Source
    from hardness.report.style import CaptionedFigure
    from hardness.runs import Comparison, Least, Stress
    from hardness.runs.results import Runs
    from instances.result import Answer, Result

    File = str | PathLike[str]


def report(
    source: "File",
    out: "File | None" = None,
    *,
    force: bool = False,
) -> "Comparison | Least | Stress | Runs | Answer":
    """Read runs again, or write one HTML page of all of them.

    Parameters
    ----------
    source : path
        The folder or file that `compare`, `stress`, `least` or `sweep` wrote.
    out : path, optional
        The page, FILE.html, which works offline.
    force : bool
        Replace it.

    Returns
    -------
    Comparison, Least, Stress, Attacks, Run, Runs or Answer
        What was read; with `out` what was written.

    Raises
    ------
    UsageError
        If there is no such file, or for a folder without runs.
    DamagedFile
        For a file of another kind.
    AlreadyExists
        If `out` exists and `force` is not given.
    """
    from hardness.runs.results import read_runs

    path = Path(located("source", source))
    try:
        if out is None:
            result: Comparison | Least | Stress | Runs = read_runs(path)
            return result
        return _page(path, Path(located("out", out)), force)
    except (DamagedFile, UsageError) as error:
        raise type(error)(
            f"{error}; a report is of what `hardness compare`, `least`, `stress` or `sweep` wrote"
        ) from error


def _page(source: Path, out: Path, force: bool) -> "Answer":
    from hardness.report.page import page_of, render
    from instances.disk import write_text
    from instances.result import Answer

    page = page_of(source)
    html = render(page)
    write_text(out, html, force=force)
    data = {
        "source": str(source),
        "report": str(out),
        "title": page.title,
        "runs": page.runs,
        "figures": page.figures,
        "bytes": len(html.encode()),
    }
    return Answer(data=data, message=f"{out}: {page.runs} runs")


def figure(
    name: str,
    source: "Source | Result",
    *,
    ax: Any = None,
    width: float | None = None,
    where: str | None = None,
    beside: "File | Least | None" = None,
) -> "CaptionedFigure":
    """Draw a figure as an object of matplotlib, which one edits and saves.

    Parameters
    ----------
    name : str
        Which figure; `hardness figure` lists them.
    source : str, Family, Result or path
        A SPEC or family, what a function gave back, or the file or folder of a command.
    ax : Axes or array of them, optional
        Axes to draw into, as many as the figure has panels. A new figure if it is not given.
    width : number, optional
        Of a new figure, in inches. A column of a paper is 3.3 wide.
    where : str, optional
        Which runs of a sweep, as "m == 3".
    beside : Least or path, optional
        What `least` gave back or wrote, shown in both-sides in place of what runs spent.

    Returns
    -------
    CaptionedFigure
        A `matplotlib.figure.Figure` with `caption`, and `rows`, the data drawn. With `ax` it is
        the figure of these, which has neither.

    Raises
    ------
    UsageError
        For a source of another kind, or axes of another number.
    DamagedFile
        For a file that does not hold what is drawn.

    Examples
    --------
    >>> drawn = figure("sda", "parity:d=40,m=4", width=3.3)
    >>> _ = drawn.axes[0].set_title("SDA of parities")
    >>> drawn.get_size_inches().tolist()[0]
    3.3
    """
    from hardness.report.figures import draw

    return draw(name, _data(name, source, where, beside), ax=ax, width=_inches(width))


def list_figures() -> "Answer":
    """List the figures: what each shows, and what it is drawn from."""
    from hardness.report.figures import FIGURES, listed
    from instances.result import Answer

    entries = {n: {"shows": entry.shows, "source": entry.takes} for n, entry in FIGURES.items()}
    return Answer(data={"figures": entries}, message=listed())


def figure_file(
    name: str,
    source: "Source | Result",
    out: "File | None" = None,
    *,
    width: float | None = None,
    where: str | None = None,
    beside: "File | None" = None,
    force: bool = False,
) -> "Answer":
    """Draw a figure into a file, and give its caption and the data drawn.

    Arguments are those of `figure`. out: FILE.svg, .pdf or .png. Raises AlreadyExists unless
    forced.
    """
    from hardness.report.figures import figure_named
    from instances.disk import refuse_existing, refuse_unwritable, write_bytes
    from instances.result import Answer

    entry = figure_named(text_argument("name", name))
    force, inches = switch("force", force), _inches(width)
    path = None if out is None else Path(located("out", out))
    kind = _kind(path) if path else ""
    if path:
        refuse_existing(path, force)
        refuse_unwritable(path)
    data = _data(name, source, where, beside)
    drawn = entry.draw(data, width=inches)
    if path:
        write_bytes(path, drawn.file(kind), force=force)
    caption = fill(drawn.caption, 80)
    data = {"figure": name, **data, "caption": drawn.caption}
    return Answer(data=data, message=f"{path}\n\n{caption}" if path else caption)


def _inches(width: float | None) -> float | None:
    return None if width is None else number_between("width", width, 0)


def _kind(out: Path) -> str:
    """Return the format by the ending of --out; raises UsageError for another ending."""
    kind = out.suffix.lstrip(".").lower()
    if kind not in ("svg", "pdf", "png"):
        raise UsageError(f"--out must end in .svg, .pdf or .png, got {out}")
    return kind


def _data(name: str, source: Any, where: str | None, beside: Any) -> dict[str, Any]:
    """Collect the data of a figure from whatever its source is."""
    from hardness.report.figures import figure_named, rows_of
    from hardness.report.stored import comparison_of, least_of
    from hardness.runs import Comparison, Least

    entry = figure_named(text_argument("name", name))
    where = None if where is None else text_argument("where", where)
    if source is None:
        raise UsageError(f"figure {name} needs a SOURCE: {entry.takes}")
    material = _material(name, source)
    if beside is None:
        return rows_of(name, material, where)
    if name != "both-sides" or not isinstance(material, Path | Comparison):
        raise UsageError("--beside only applies to both-sides of what `compare` made")
    runs = comparison_of(material, where) if isinstance(material, Path) else material
    is_least = isinstance(beside, Least)
    thresholds = (beside,) if is_least else least_of(Path(located("beside", beside)))
    return entry.rows((runs, *thresholds))


def _material(name: str, source: Any) -> Any:
    """Return what a figure is drawn from: a result, a path, listed members, or a family."""
    from hardness.bounds.members import read_members
    from hardness.report.figures import FIGURES
    from instances.result import Result

    if isinstance(source, Result):
        return source
    entry, given = FIGURES[name], sources.functions(source)
    if entry.source.command or (Path(given).suffix == ".json" and Path(given).is_file()):
        return Path(located("source", source))
    if entry.source.members and given and (listed := read_members(given)):
        return listed
    return sources.target(source)[0]
