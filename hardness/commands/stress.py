"""Learners on ladders: how far each climbs."""

from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    FILE,
    LEARNER,
    POSITIVE,
    SEEDS,
    complete_learner,
    complete_spec,
    emit,
    given_seed,
    go_on,
    override_options,
    progress,
    refuse_existing_output,
    resume_option,
    shared,
    write_out,
)


def complete_ladder(context: click.Context, parameter: click.Parameter, text: str) -> list[str]:
    """Complete names of ladders."""
    from instances.ladders import LADDERS

    return [name for name in LADDERS if name.startswith(text)]


@click.command(short_help="How far does a learner climb a ladder?")
@click.option(
    "--learner",
    "names",
    multiple=True,
    help=f"{LEARNER}: repeatable; --list needs none.",
    shell_complete=complete_learner,
)
@click.option("--ladder", "name", help="A ladder by its name.", shell_complete=complete_ladder)
@click.option(
    "--on",
    "specs",
    multiple=True,
    help="A SPEC; repeatable: a ladder of your own, in this order.",
    shell_complete=complete_spec,
)
@click.option("--list", "listing", is_flag=True, help="List the ladders, or the rungs of --ladder.")
@click.option(
    "--seeds",
    type=POSITIVE,
    default=5,
    show_default=True,
    help=f"{SEEDS}: of each rung; 5 are the least by which a rung can be held at 95 %.",
)
@click.option(
    "--reference",
    "references",
    multiple=True,
    help="A learner to stand beside, or none; repeatable.  [default: those of the ladder]",
    shell_complete=complete_learner,
)
@override_options
@resume_option
@shared("seed", "jobs", "force", "quiet", out=FILE, seed="of the operating system")
@click.pass_context
def stress(
    context: click.Context,
    output: SimpleNamespace,
    names: tuple[str, ...],
    name: str | None,
    specs: tuple[str, ...],
    listing: bool,
    seeds: int,
    references: tuple[str, ...],
    budget: Any,
    resume: bool,
) -> None:
    """Let learners climb a ladder until each passes on none of the seeds of a rung.

    Instances are fresh: their seeds come from the operating system, or from --seed. A --budget-...
    option stands in place of that of every rung.
    """
    from hardness.front import one_ladder
    from hardness.report.stress import stress_words
    from hardness.runs.stress import Interrupted, stress, too_few_queries
    from hardness.sweep.resumable import goes_on, resumable
    from hardness.upper import parse_learner
    from hardness.upper.isolated import SubprocessLearner
    from hardness.upper.isolated.contain import require_out_of_reach
    from instances.errors import ToolkitError
    from instances.ladders import ladder, ladder_of

    if listing:
        refuse_existing_output(output)
        return _list(output, name)
    if not names:
        raise click.UsageError("stress needs --learner NAME, or --list")
    one_ladder(name, specs)
    output.force |= goes_on(output.out, resume)
    refuse_existing_output(output)
    chosen = ladder(name) if name else ladder_of(specs)
    beside = () if references == ("none",) else references or chosen.references
    total = (len(names) + len(beside)) * len(chosen.rungs) * seeds
    seed = given_seed(context, output)
    asked = {
        "command": "stress",
        "ladder": chosen.to_dict(),
        "learners": [*names, *beside],
        "seeds": seeds,
        "seed": seed,
        "budget": vars(budget),
    }
    drawn = seed is None
    if drawn and output.out:
        for learner in map(parse_learner, (*names, *beside)):
            if isinstance(learner, SubprocessLearner):
                require_out_of_reach(learner.file, output.out)
    if not output.quiet:
        for line in too_few_queries((*names, *beside), chosen, budget):
            click.echo(f"hardness: {line}", err=True)
    with resumable(output.out, asked, output.jobs, resume) as runs:
        try:
            with progress(total, "climbing", output) as bar:
                base = runs.base_seed if drawn else seed
                found = stress(names, chosen, seeds, base, budget, runs.do, bar, beside, drawn)
        except Interrupted as cut:
            found, why = cut.stress, cut.__cause__
            kept = go_on(runs.kept, output)
            if found.runs and output.out:
                write_out(output, found.to_dict(), found)
                kept = f"; {cut} and are kept in {output.out}{kept}"
            elif found.runs:
                emit(output, found.to_dict(), stress_words(found), table=found)
            if isinstance(why, ToolkitError):
                raise type(why)(f"{why}{kept}") from cut
            raise click.Abort(f"interrupted{kept}" if kept else "") from cut
        write_out(output, found.to_dict(), found)
    emit(output, found.to_dict(), stress_words(found), write=False, table=found)


def _list(output: SimpleNamespace, name: str | None) -> None:
    """List the ladders, or the rungs of one."""
    from hardness.report.stress import ladder_words, ladders_table
    from instances.ladders import LADDERS, ladder

    if name:
        chosen = ladder(name)
        data = chosen.to_dict()
        return emit(output, data, ladder_words(chosen), table=data["rungs"])
    data = {"ladders": [one.to_dict() for one in LADDERS.values()]}
    rows = [
        {"name": one.name, "rungs": len(one.rungs), "about": one.about} for one in LADDERS.values()
    ]
    return emit(output, data, ladders_table(tuple(LADDERS.values())), table=rows)
