"""What people look at: the demo, the page of a comparison, figures."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    complete_spec,
    emit,
    progress,
    refuse_existing_output,
    shared,
)

KINDS = ("svg", "pdf", "png")
LOOKS = ("paper", "talk")


def complete_figure(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of figures."""
    from hardness.report.figures import FIGURES

    return [name for name in FIGURES if name.startswith(text)]


@click.command(short_help="The main job on small sizes: certify to picture.")
@shared("seed", "jobs", "force", "quiet", out="Where to write: a folder.  [default: out]")
def demo(output: SimpleNamespace) -> None:
    """Do the main job on small sizes: certify, verify, learn, compare, draw."""
    from hardness.report.demo import demo, runs
    from hardness.report.demo_words import demo_words

    out = output.out or Path("out")
    with progress(runs(), "running learners", output) as bar:
        made = demo(out, seed=output.seed, jobs=output.jobs, force=output.force, progress=bar)
    files = [str(out / name) for name in ("report.html", "results.json")]
    data = {
        "certificate": made.certificate.to_dict(),
        "verification": made.verification.to_dict(),
        "runs": [run.to_dict() for run in made.comparison.runs],
        "files": files,
    }
    emit(output, data, f"{demo_words(made)}\nwritten: {', '.join(files)}", write=False)


@click.command(short_help="The page or the table of runs that were made.")
@click.argument("source", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "csv", "latex", "markdown"]),
    help="Format: of the table that is printed without --out.  [default: text]",
)
@shared("jobs", "force", out="Where to write: the page, FILE.html.  [default: print the table]")
def report(output: SimpleNamespace, source: Path, form: str | None) -> None:
    """Print the table of runs again, or write one HTML file of all of them with --out.

    SOURCE is the folder of `compare`, its results.json, or the file of `stress`; of a page, a store
    of `sweep run` too. The page works offline, and opens in any browser.
    """
    from instances.errors import DamagedFile

    if output.out and form:
        raise click.UsageError(f"--out and --format {form} given: --out writes a page, as HTML")
    if output.out and output.out.suffix.lower() in _NO_PAGES:
        raise click.UsageError(f"--out {output.out} given: a report is HTML: give FILE.html")
    refuse_existing_output(output)
    try:
        if output.out:
            _page(output, source)
        else:
            _printed(output, source, form or "text")
    except DamagedFile as error:
        raise DamagedFile(
            f"{error}; a report is of a folder of `hardness compare`, its results.json, a store, "
            "or the file of `hardness stress`"
        ) from error


_NO_PAGES = (".pdf", ".svg", ".png", ".json", ".csv", ".db", ".tex", ".md", ".parquet")


def _page(output: SimpleNamespace, source: Path) -> None:
    from hardness.report.page.build import report_of
    from hardness.report.page.write import write
    from instances.disk import write_text

    made = report_of(source)
    html = write(made, output.jobs)
    write_text(output.out, html, force=output.force)
    data = {
        "source": str(source),
        "report": str(output.out),
        "title": made.title,
        "runs": len(made.runs.rows),
        "charts": [chart.key for chart in made.charts],
        "certificates": len(made.cards),
        "bytes": len(html.encode()),
    }
    emit(output, data, f"{output.out}: {len(made.runs.rows)} runs", write=False)


def _printed(output: SimpleNamespace, source: Path, form: str) -> None:
    """Print what `stress` or `compare` printed of these runs."""
    from hardness.report.scaling import comparison_words
    from hardness.report.source import is_store, is_stress
    from hardness.report.stress import stress_words
    from hardness.runs import Comparison, Stress

    if is_store(source):
        raise click.UsageError(
            f"report {source} needs --out FILE.html: `hardness store export` writes the table of "
            "a store"
        )
    found: Any = (Stress if is_stress(source) else Comparison).load(source)
    text = stress_words(found) if isinstance(found, Stress) else comparison_words(found)
    output.form = "json" if output.as_json else form
    emit(output, found.to_dict(), text, write=False, table=found)


@click.command(short_help="Draw a figure, as svg, pdf or png.")
@click.argument("name", required=False, shell_complete=complete_figure)
@click.argument("source", required=False, shell_complete=complete_spec)
@click.option(
    "--format",
    "kind",
    type=click.Choice(KINDS),
    help="Format.  [default: as the name of --out ends]",
)
@click.option(
    "--style",
    "look",
    type=click.Choice(LOOKS),
    default="paper",
    show_default=True,
    help="talk: 16:9, larger letters and lines.",
)
@click.option(
    "--slice",
    "choice",
    metavar="m=3,noise=0",
    help="Which part of a store, where it has several.  [default: it must have one]",
)
@shared("force", out="Where to write: FILE.svg, .pdf or .png.  [required without --json]")
def figure(
    output: SimpleNamespace,
    name: str | None,
    source: str | None,
    kind: str | None,
    look: Any,
    choice: str | None,
) -> None:
    """Draw the figure NAME of SOURCE: a SPEC, or the file or folder that a command wrote.

    Without NAME: list the figures, with what each shows and what it is drawn from. --out FILE.svg,
    .pdf or .png holds the picture; --json prints the numbers in it.
    """
    from hardness.front import figured
    from hardness.report.figures import FIGURES, draw, known
    from hardness.runs.names import brief_spec
    from instances.disk import write_bytes

    if name is None:
        listed = {key: {"shows": e.shows, "source": e.takes} for key, e in FIGURES.items()}
        return emit(output, {"figures": listed}, _listed(), write=False)
    entry = known(name)
    if source is None:
        raise click.UsageError(f"figure {name} needs a SOURCE: {entry.takes}")
    if output.out is None and not output.as_json:
        raise click.UsageError("figure needs --out FILE.svg, .pdf or .png, or --json")
    kind = _kind(output.out, kind)
    refuse_existing_output(output)
    data = figured(name, source, choice)
    if output.out:
        write_bytes(output.out, draw(name, data, kind, look), force=output.force)
    emit(
        output, data, f"{output.out}: {name} of {brief_spec(data.get('spec', source))}", write=False
    )


def _listed() -> str:
    from hardness.report.figures import FIGURES

    lines = ["hardness figure NAME SOURCE --out FILE.svg, .pdf or .png", ""]
    heads = {False: "a SPEC", True: "the file or folder that a command wrote"}
    for of_file, head in heads.items():
        chosen = {name: e for name, e in FIGURES.items() if bool(e.made) is of_file}
        lines.append(f"SOURCE is {head}:")
        for made in dict.fromkeys(e.made for e in chosen.values()):
            lines += [f"  `hardness {made}`"] if made else []
            lines += [f"    {name:13} {e.shows}" for name, e in chosen.items() if e.made == made]
        lines.append("")
    return "\n".join(lines).rstrip()


def _kind(out: Path | None, asked: str | None) -> str:
    """Take the format from the ending of --out, or from --format where that says none."""
    if out is None:
        return asked or "svg"
    ending = out.suffix.lstrip(".").lower()
    if ending in KINDS and asked not in (None, ending):
        raise click.UsageError(
            f"--out {out} ends in .{ending}, and --format says {asked}: leave --format out, or "
            f"give a name that ends in .{asked}"
        )
    if ending not in KINDS and asked is None:
        raise click.UsageError(
            f"--out {out} given: a name that ends in .svg, .png or .pdf, or add --format"
        )
    return asked or ending
