"""What people look at: the page of runs, figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from hardness.verbs import sources
from hardness.verbs.ask import Ask, choice, cores, path, text, thing
from hardness.verbs.asks import FORCE, JOBS, specs
from hardness.verbs.command import verb
from instances.arguments import located
from instances.errors import DamagedFile, UsageError

if TYPE_CHECKING:
    from hardness.report.figures import Picture
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
    jobs: Annotated[int | None, JOBS] = None,
    force: Annotated[bool, FORCE] = False,
) -> "Comparison | Least | Stress | Runs | Answer":
    """Print the table of runs again, or write one HTML file of all of them with --out.

    SOURCE is what `compare`, `stress`, `least` or `sweep` wrote, a folder or a file. The page works
    offline, and opens in any browser.
    """
    from hardness.report.stored import record_of

    try:
        return _page(source, out, cores(jobs), force) if out else record_of(source)
    except DamagedFile as error:
        raise DamagedFile(
            f"{error}; a report is of what `hardness compare`, `least`, `stress` or `sweep` wrote"
        ) from error


def _page(source: Path, out: Path, jobs: int, force: bool) -> "Answer":
    from hardness.report.page.build import report_of
    from hardness.report.page.write import write
    from instances.disk import write_text
    from instances.result import Answer

    made = report_of(source)
    html = write(made, jobs)
    write_text(out, html, force=force)
    data = {
        "source": str(source),
        "report": str(out),
        "title": made.title,
        "runs": len(made.runs),
        "charts": [chart.key for chart in made.charts],
        "certificates": len(made.cards),
        "bytes": len(html.encode()),
    }
    return Answer(data=data, told=f"{out}: {len(made.runs)} runs")


@verb(
    "Draw a figure, as svg, pdf or png.",
    out="Where to write: FILE.svg, .pdf or .png.  [required without --json]",
    place="own",
    needs="--out FILE.svg, .pdf or .png, or --json",
)
def figure(
    name: Annotated[str | None, Ask("Its name.", _named, complete=_figures)] = None,
    source: Annotated["Source | Result | None", thing("What it is drawn from.", specs)] = None,
    out: Annotated[Path | None, path("A file.", flag="--out", writes=True)] = None,
    *,
    format: Annotated[
        str | None,
        choice("Format.", *("svg", "pdf", "png"), default="as the name of --out ends"),
    ] = None,
    style: Annotated[
        Literal["paper", "talk"],
        choice("talk: 16:9, larger letters and lines.", *("paper", "talk")),
    ] = "paper",
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
) -> "Picture | Answer":
    """Draw the figure NAME of SOURCE: a SPEC, or the file or folder that a command wrote.

    Without NAME: list the figures, with what each shows and what it is drawn from. --out FILE.svg,
    .pdf or .png holds the picture; --json prints the numbers in it. From Python SOURCE is also what
    a function gave back, and without `out` a notebook shows the picture, which `save` writes.

    >>> figure("sda", "parity:d=40,m=4").to_dict()["spec"]
    'parity:d=40,m=4,noise=0,rho=3'
    """
    from dataclasses import replace

    from hardness.report.figures import FIGURES, Picture, listed, numbers
    from hardness.report.stored import comparison_of, least_of
    from hardness.runs import Comparison
    from instances.result import Answer

    if name is None:
        if source is not None or out:
            raise UsageError("figure needs a NAME: `hardness figure` lists them")
        every = {key: {"shows": one.shows, "source": one.takes} for key, one in FIGURES.items()}
        return Answer(data={"figures": every}, told=listed())
    if source is None:
        raise UsageError(f"figure {name} needs a SOURCE: {FIGURES[name].takes}")
    kind = _kind(out, format) if out else None
    material = _material(name, source)
    if beside:
        if name != "both-sides" or not isinstance(material, Path | Comparison):
            raise UsageError("--beside given: it is of both-sides of what `compare` made")
        runs = comparison_of(material, where) if isinstance(material, Path) else material
        material, where = (runs, *least_of(beside)), None
    data = numbers(name, material, where)
    known = (data.get(key) for key in ("spec", "about", "title"))
    of = str(next(filter(None, known), sources.text_of(source) or type(source).__name__))
    made = Picture(name=name, of=of, data=data, look=style)
    if out:
        made.save(out, force=force, kind=kind)
    return replace(made, file=str(out)) if out else made


def _kind(out: Path, asked: str | None) -> str:
    """Take the format from the ending of --out, or from --format where that says none."""
    from hardness.report.figures import KINDS

    ending = out.suffix.lstrip(".").lower()
    if ending in KINDS and asked not in (None, ending):
        raise UsageError(
            f"--out {out} ends in .{ending}, and --format says {asked}: leave --format out, or "
            f"give a name that ends in .{asked}"
        )
    if ending not in KINDS and asked is None:
        raise UsageError(f"{out} given: end its name in .svg, .pdf or .png, or give --format")
    return asked or ending


def _material(name: str, source: Any) -> Any:
    """Read what a figure is drawn from where it is no file: a family, its members, a result."""
    from hardness.bounds.members import read_members
    from hardness.report.figures import FIGURES
    from instances.result import Result

    if isinstance(source, Result):
        return source
    entry, given = FIGURES[name], sources.functions(source)
    if entry.source.made or (Path(given).suffix == ".json" and Path(given).is_file()):
        return Path(located("source", source))
    if entry.source.members and given and (listed := read_members(given)):
        return listed
    return sources.target(source)[0]
