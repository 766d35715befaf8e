"""Both sides over a range of sizes."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    FOLDER,
    LEARNER,
    POSITIVE,
    SEEDS,
    budget_options,
    complete_learner,
    emit,
    progress,
    refuse_existing_results,
    shared,
    spec_argument,
    write_out,
)


@click.command("map", short_help="The map of noisy parity: examples against time.")
@spec_argument
@click.option(
    "--learner",
    "names",
    multiple=True,
    help=f"{LEARNER}: repeatable.  [default: those worth a run]",
    shell_complete=complete_learner,
)
@click.option("--seeds", type=POSITIVE, default=3, show_default=True, help=f"{SEEDS}.")
@budget_options
@shared("seed", "force", "quiet", out=FOLDER, table="folder")
def noisy_map(
    output: SimpleNamespace, spec: str, names: tuple[str, ...], seeds: int, budget: Any
) -> None:
    """Draw bounds and algorithms for a noisy parity: examples against seconds, runs as points.

    Rates are measured first, then learners run one after another, so --jobs changes nothing. --out
    writes a folder with results.json and map.svg.
    """
    from hardness.report.charts.parity_map import of_map
    from hardness.report.figures import draw
    from hardness.report.parity_map_words import map_words
    from hardness.runs.noisy_parity import noisy_map
    from instances.disk import (
        new_folder,
        write_bytes,
        write_json,
    )
    from instances.spec import parse

    ours = ("results.json", "map.svg")
    refuse_existing_results(output, ours)
    with progress(len(names) * seeds or 4 * seeds, "running learners", output) as bar:
        found = noisy_map(parse(spec), names, seeds, output.seed, budget, bar)
    if output.written:
        write_out(output, found.to_dict(), found)
    elif output.out:
        with new_folder(output.out, force=output.force, ours=ours) as folder:
            write_json(folder / "results.json", found.to_dict())
            write_bytes(folder / "map.svg", draw("map", of_map(found)))
    written = f"\n\nwritten: {output.out}" if output.out else ""
    emit(output, found.to_dict(), map_words(found) + written, write=False, table=found)
