"""Both sides over a range of sizes."""

import shlex
import sys
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
    go_on,
    progress,
    refuse_existing_results,
    resume_option,
    shared,
    spec_argument,
    tau_option,
    write_out,
)

PAGES = "Where to write: results and the page, to a folder."


def _once(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> str:
    """Take one range, where several would be taken for the last of them."""
    if len(given) > 1:
        raise click.UsageError(
            f"--over given {len(given)} times: compare varies one parameter; put further ranges in "
            "a sweep file: `hardness sweep plan FILE`"
        )
    return given[0]


@click.command(short_help="Learners beside certified bounds, over sizes.")
@spec_argument
@click.option(
    "--over",
    required=True,
    multiple=True,
    callback=_once,
    help="A parameter's range: d=8..20, d=8..20..4, d=8,12.",
)
@click.option(
    "--learner",
    "names",
    multiple=True,
    help=f"{LEARNER}: repeatable; none: bounds alone.  [default: a few that run on the family]",
    shell_complete=complete_learner,
)
@click.option("--seeds", type=POSITIVE, default=3, show_default=True, help=f"{SEEDS}.")
@tau_option
@budget_options
@resume_option
@shared(
    "seed",
    "jobs",
    "force",
    "quiet",
    out="Where to write: results and the page, to a folder.",
    table="folder",
)
def compare(
    output: SimpleNamespace,
    spec: str,
    over: str,
    names: tuple[str, ...],
    seeds: int,
    tau: Any,
    budget: Any,
    resume: bool,
) -> None:
    """Run learners over a range of sizes beside the certified bounds; --out writes a folder.

    What every seed passed is fitted: how costs grow over the sizes, beside the certified numbers.
    """
    from hardness.lower import BoundParameters
    from hardness.report.demo import write_results
    from hardness.report.scaling import comparison_words
    from hardness.runs import Cut, compare, distinct, usual, values_of
    from hardness.sweep.resumable import goes_on, resumable
    from instances.disk import new_folder
    from instances.errors import ToolkitError

    ours = ("results.json", "report.html", "figure.svg")
    output.force |= goes_on(output.out, resume)
    refuse_existing_results(output, ours)
    names = () if names == ("none",) else names or usual(spec, over)
    total = len(values_of(over)[1]) * len(distinct(names)) * seeds
    given = [one for one in sys.argv[1:] if one != "--resume"]
    command = shlex.join(["hardness", *given])
    terms = BoundParameters(tau=tau)
    asked = {
        "command": "compare",
        "spec": [spec, over],
        "learners": names,
        "seeds": [output.seed, seeds],
        "tau": str(tau),
        "budget": vars(budget),
    }

    def keep(found: Any) -> None:
        if output.written:
            write_out(output, found.to_dict(), found)
        elif output.out:
            with new_folder(output.out, force=output.force, ours=ours) as folder:
                write_results(folder, found, str(output.out))

    with resumable(output.out, asked, output.jobs, resume) as runs:
        try:
            with progress(total, "running learners", output) as bar:
                found = compare(
                    spec, over, names, seeds, output.seed, budget, terms, runs.do, command, bar
                )
        except Cut as cut:
            why, done = cut.__cause__, go_on(runs.kept, output)
            if output.out and cut.comparison.values:
                keep(cut.comparison)
                done = f"; {cut} and are kept in {output.out}{done}"
            if isinstance(why, ToolkitError):
                raise type(why)(f"{why}{done}") from cut
            raise click.Abort(f"interrupted{done}" if done else "") from cut
        keep(found)
    emit(output, found.to_dict(), comparison_words(found), write=False, table=found)


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
