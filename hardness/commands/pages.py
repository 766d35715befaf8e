"""What people look at: the demo, the page of a comparison, figures."""

from pathlib import Path
from types import SimpleNamespace

import click

from hardness.commands.options import common, complete_spec, early, emit, progress, target


@click.command(short_help="The main job on small sizes: certify to picture.")
@common
def demo(to: SimpleNamespace) -> None:
    """Do the main job on small sizes: certify, verify, learn, compare, draw."""
    from hardness.report.demo import demo, runs
    from hardness.report.words import demo_words

    out = to.out or Path("out")
    with progress(runs(), "running learners", to) as bar:
        made = demo(out, seed=to.seed, jobs=to.jobs, force=to.force, progress=bar)
    files = [str(out / name) for name in ("report.html", "results.json")]
    data = {
        "certificate": made.certificate.to_json(),
        "verification": made.verification.to_json(),
        "runs": [run.to_json() for run in made.comparison.runs],
        "files": files,
    }
    emit(to, data, f"{demo_words(made)}\nwritten: {', '.join(files)}", write=False)


@click.command(short_help="Write the page of a comparison.")
@click.argument("source", type=click.Path(path_type=Path))
@common
def report(to: SimpleNamespace, source: Path) -> None:
    """Write the page of a comparison: SOURCE is the folder of `compare` or its results.json."""
    from hardness.compare import read_comparison
    from hardness.report import page
    from instances.disk import write_text

    if to.out is None:
        raise click.UsageError("report needs --out FILE")
    early(to)
    found = read_comparison(source)
    write_text(to.out, page(found), force=to.force)
    data = {"source": str(source), "report": str(to.out), "runs": len(found.runs)}
    emit(to, data, f"{to.out}: {len(found.runs)} runs", write=False)


FIGURES = (
    "correlations",
    "eigenvalues",
    "sda",
    "adversary",
    "stages",
    "dial",
    "risks",
    "scaling",
    "attacks",
    "training",
    "walsh",
    "portrait",
    "collapse",
    "heads",
    "map",
    "descent",
    "stress",
    "icl",
)
OF_A_SPEC = (
    "correlations",
    "eigenvalues",
    "sda",
    "walsh",
    "portrait",
    "collapse",
    "heads",
    "descent",
)


@click.command(short_help=f"Draw one of {', '.join(FIGURES)}.")
@click.argument("name", type=click.Choice(FIGURES))
@click.argument("source", shell_complete=complete_spec)
@common
def figure(to: SimpleNamespace, name: str, source: str) -> None:
    """Draw a figure of a SPEC, or of a file.

    correlations, eigenvalues, sda, walsh, portrait, collapse, heads, descent: SOURCE is a SPEC.
    adversary: a transcript. stages: the file of `hardness learn staged SPEC --out FILE`. dial: the
    folder of a `compare` with the learner staged. risks, scaling: that of any `compare`. attacks,
    training: that of a `compare` of an LWE-style family. map: that of `hardness map`. stress: that
    of `hardness stress`. icl: that of `hardness icl`.
    --out FILE.svg, .png or .pdf holds the picture; --json prints the numbers in it.
    """
    from hardness.report.figures import draw, numbers
    from instances.disk import write_bytes

    if to.out is None and not to.as_json:
        raise click.UsageError("figure needs --out FILE.svg, .png or .pdf, or --json")
    kind = to.out.suffix.lstrip(".").lower() if to.out else "svg"
    if kind not in ("svg", "png", "pdf"):
        raise click.UsageError(f"--out {to.out} given: a name that ends in .svg, .png or .pdf")
    early(to)
    data = numbers(name, target(source)[0] if name in OF_A_SPEC else Path(source))
    if to.out:
        write_bytes(to.out, draw(name, data, kind), force=to.force)
    emit(to, data, f"{to.out}: {name} of {data.get('spec', source)}", write=False)
