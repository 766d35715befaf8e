"""What people look at: the page of runs, figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hardness.api import sources
from hardness.api.limits import cores
from instances.arguments import located, one_of, switch, text_argument
from instances.errors import DamagedFile, UsageError

if TYPE_CHECKING:
    from os import PathLike

    from hardness.api.sources import Source
    from hardness.report.figures import Picture
    from hardness.runs import Comparison, Least, Stress
    from hardness.runs.results import Runs
    from instances.result import Answer, Result

    File = str | PathLike[str]


def report(
    source: "File",
    out: "File | None" = None,
    *,
    jobs: int | None = None,
    force: bool = False,
) -> "Comparison | Least | Stress | Runs | Answer":
    """Read runs again, or write one HTML file of all of them to `out`.

    source: what `compare`, `stress`, `least` or `sweep` wrote, a folder or a file. out: FILE.html,
    which works offline. Raises DamagedFile for another source, AlreadyExists unless forced.
    """
    from hardness.report.stored import record_of

    path = Path(located("source", source))
    try:
        if out is None:
            return record_of(path)
        return _page(path, Path(located("out", out)), cores(jobs), force)
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


def figure(
    name: str | None = None,
    source: "Source | Result | None" = None,
    out: "File | None" = None,
    *,
    format: Literal["svg", "pdf", "png"] | None = None,
    style: Literal["paper", "talk"] = "paper",
    where: str | None = None,
    beside: "File | None" = None,
    force: bool = False,
) -> "Picture | Answer":
    """Draw a figure of a SPEC, of what a function gave back, or of what a command wrote.

    name: of the figure, None to list them. out: FILE.svg, .pdf or .png; without it a notebook shows
    the picture, which `save` writes. format: of `out` if its name does not say it. style: "talk" is
    16:9 with larger letters. where: which runs of a sweep, as "m == 3". beside: a folder of
    `least`, for both-sides. Raises UsageError, DamagedFile, AlreadyExists unless forced.

    >>> figure("sda", "parity:d=40,m=4").to_dict()["spec"]
    'parity:d=40,m=4,noise=0,rho=3'
    """
    from dataclasses import replace

    from hardness.report.figures import FIGURES, Picture, known, listed, numbers
    from hardness.report.stored import comparison_of, least_of
    from hardness.runs import Comparison
    from instances.disk import refuse_existing, refuse_unwritable
    from instances.result import Answer

    if name is None:
        if source is not None or out:
            raise UsageError("figure needs a NAME: `hardness figure` lists them")
        every = {key: {"shows": one.shows, "source": one.takes} for key, one in FIGURES.items()}
        return Answer(data={"figures": every}, told=listed())
    known(text_argument("name", name))
    one_of("style", style, ("paper", "talk"))
    switch("force", force)
    where = None if where is None else text_argument("where", where)
    if format is not None:
        one_of("format", format, ("svg", "pdf", "png"))
    if source is None:
        raise UsageError(f"figure {name} needs a SOURCE: {FIGURES[name].takes}")
    path = None if out is None else Path(located("out", out))
    kind = _kind(path, format) if path else None
    if path:
        refuse_existing(path, force)
        refuse_unwritable(path)
    material = _material(name, source)
    if beside:
        if name != "both-sides" or not isinstance(material, Path | Comparison):
            raise UsageError("--beside only applies to both-sides of what `compare` made")
        runs = comparison_of(material, where) if isinstance(material, Path) else material
        material, where = (runs, *least_of(Path(located("beside", beside)))), None
    data = numbers(name, material, where)
    titles = (data.get(key) for key in ("spec", "about", "title"))
    of = str(next(filter(None, titles), sources.text_of(source) or type(source).__name__))
    made = Picture(name=name, of=of, data=data, look=style)
    if path:
        made.save(path, force=force, kind=kind)
    return replace(made, file=str(path)) if path else made


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
        raise UsageError(f"{out}: end its name in .svg, .pdf or .png, or give --format")
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
