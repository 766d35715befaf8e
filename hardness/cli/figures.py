"""Commands for what people look at: report, figure."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import NUMBER, PATH, argument, option, specs
from hardness.cli.output import output


def _names() -> list[str]:
    from hardness.report.figures import FIGURES

    return list(FIGURES)


@click.command(cls=Command, short_help="The page or the table of runs that were made.")
@argument("source", "The folder or the file.", type=PATH)
@output(
    "Write the page to this FILE.html.  [default: print the table]",
    "page",
    endings=(".html", ".htm", ""),
)
def report(source: str, **options: Any) -> Any:
    """Print the table of runs again, or write one HTML file of all of them with --out.

    SOURCE is what `compare`, `stress`, `least` or `sweep` wrote, a folder or a file. The page works
    offline, and opens in any browser.
    """
    from hardness.api import figures

    return figures.report(source, **options)


@click.command(cls=Command, short_help="Draw a figure, as svg, pdf or png.")
@argument("name", "Its name.", _names, required=False)
@argument("source", "What it is drawn from.", specs, required=False)
@option(
    "--width",
    "Width in inches; a column of a paper is 3.3 wide.",
    NUMBER,
    shown="that of the figure",
)
@option(
    "--where",
    "Which runs of a sweep: a condition of pandas over the parameters of specs.",
    shown="all, if they fit in one figure",
    metavar='"m == 3"',
)
@option(
    "--beside",
    "A folder of `least`, shown in place of what runs spent.",
    PATH,
    shown="both-sides shows runs alone",
)
@output("Write the picture to FILE.svg, .pdf or .png.  [required without --json]", "own")
def figure(name: str | None = None, source: str | None = None, **options: Any) -> Any:
    """Draw the figure NAME of SOURCE: a SPEC, or the file or folder that a command wrote.

    Without NAME: list the figures, with what each shows and what it is drawn from. --out FILE.svg,
    .pdf or .png holds the picture, and the caption is printed; --json prints the data drawn. In
    Python `hardness.figure` gives an object of matplotlib.
    """
    from hardness.api import figures
    from hardness.report.figures import figure_named

    if name is None:
        if "out" in options:
            raise click.UsageError("figure needs a NAME: `hardness figure` lists them")
        return figures.list_figures()
    entry = figure_named(name)
    if source is None:
        raise click.UsageError(f"figure {name} needs a SOURCE: {entry.takes}")
    if not ("out" in options or click.get_current_context().params["as_json"]):
        raise click.UsageError("figure needs --out FILE.svg, .pdf or .png, or --json")
    return figures.figure_file(name, source, **options)
