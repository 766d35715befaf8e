"""Commands for many runs: compare, least, stress, attack, sweep."""

from typing import Any

import click

from hardness.cli.command import Command
from hardness.cli.options import (
    INTEGER,
    LEARNER,
    PATH,
    SEED,
    Words,
    argument,
    budget,
    flag,
    jobs,
    ladders,
    learners,
    option,
    samples_files,
    sandbox,
    seed,
    seeds,
    several,
    specs,
    tau,
)
from hardness.cli.output import output

_OVER = "Values of a parameter: d=8..20, d=8..20..4, d=8,12."
_kept = several(
    flag("--fresh", "Forget the runs at --out, where the same command goes on."),
    jobs,
    option("--backend", "Where the runs are done.", Words("local", "dask"), "local"),
    option("--scheduler", "Address of the scheduler of dask, tcp://HOST:PORT.", shown="none"),
)
_runs = output("Keep the runs in this folder; a FILE takes the table.", "folder")


def _learner(more: str, shown: str = "", required: bool = False) -> Any:
    return option(
        "--learner",
        f"{LEARNER}: {more}",
        complete=learners,
        shown=shown,
        many=True,
        required=required,
    )


@click.command(cls=Command, short_help="Learners and certified bounds, over sizes.")
@argument("source", "A SPEC without the parameter that varies.", specs)
@option("--over", _OVER, required=True)
@_learner("repeatable; none: bounds alone.", "a few that run on the family")
@seeds("", 3)
@tau
@seed
@_kept
@budget()
@_runs
def compare(source: str, over: str, **options: Any) -> Any:
    """Run learners over a range of sizes, next to the certified bounds.

    The same command goes on in the folder --out; `hardness report` and `hardness figure` draw it.
    """
    from hardness.api import comparing

    return comparing.compare(source, over, **options)


@click.command(cls=Command, short_help="The sample complexity of a learner.")
@argument("source", "A SPEC without the parameter that varies.", specs)
@_learner("repeatable.", required=True)
@option("--over", _OVER, shown="one size")
@seeds(": at least 6; three more are pilots", 15)
@option(
    "--unit",
    "What is counted; seconds differ by machine.",
    Words("examples", "queries", "values"),
    "examples",
)
@option("--total", "Limit of the unit over all runs of a learner at a size.", INTEGER, 10**8)
@tau
@seed
@_kept
@budget()
@_runs
def least(source: str, **options: Any) -> Any:
    """Find the smallest number of examples, queries or values with which a learner succeeds.

    Each seed's threshold is searched on nested prefixes of one instance's stream: doubling until
    three consecutive sizes succeed, then bisection. The median of the seeds has an exact interval.
    A run has at most --budget-examples, --budget-queries or --budget-values.
    """
    from hardness.api import comparing

    return comparing.least(source, **options)


@click.command(cls=Command, short_help="Which levels of a ladder does a learner pass?")
@_learner("repeatable; --list needs none.")
@option("--ladder", "A ladder by its name, or FILE.toml.", complete=ladders, shown="none")
@option(
    "--on",
    "A SPEC; repeatable: a ladder of your own, in this order.",
    complete=specs,
    shown="none",
    many=True,
)
@seeds(": for each level; at least 5 to pass one at 95 %", 5)
@option(
    "--reference",
    "A learner to compare with, or none; repeatable.",
    complete=learners,
    shown="those of the ladder",
    many=True,
)
@option("--seed", SEED, INTEGER, shown="of the operating system")
@flag("--list", "List the ladders, or the levels of --ladder.")
@_kept
@budget("that of the level", "that of the level")
@_runs
def stress(list: bool = False, **options: Any) -> Any:
    """Run learners on a ladder, level by level, until each solves no instance of one.

    Instances are fresh: their seeds come from the operating system, or from --seed. A --budget-...
    option replaces that of every level.
    """
    from hardness.api import comparing

    return comparing.ladders(options.get("ladder")) if list else comparing.stress(**options)


@click.command(cls=Command, short_help="Look for the secret, over seeds.")
@argument("source", "A SPEC, a folder or a file of samples.", specs, required=False)
@_learner("repeatable.", "all attacks that run on it, but for dual")
@samples_files()
@seeds(": of a SPEC", 3)
@seed
@_kept
@budget()
@_runs
def attack(source: str | None = None, **options: Any) -> Any:
    """Look for the secret of fresh instances of a SPEC, or of a folder or a file of samples.

    A file is a table of integers (.csv, .npy; n columns of A, then b), arrays A and b (.npz,
    .safetensors), or a Darmstadt challenge (.txt). Of a learner of labels, as mlp or yours, the
    secret is computed from what it learned: decode:LEARNER.
    """
    from hardness.api.attacks import attack as look

    return look(source, **options)


@click.command(cls=Command, short_help="Many runs, named by a file.")
@argument("file", "The sweep file (TOML).", type=PATH)
@flag("--dry-run", "Say what would be done, and do nothing.")
@_kept
@sandbox
@output("Keep the runs in this FILE.db.", "own")
def sweep(file: str, **options: Any) -> Any:
    """Do the runs of a sweep file that the file --out does not hold yet.

    What is done is kept at once, so the same command goes on where it stopped. On your dask
    cluster: --backend dask --scheduler tcp://HOST:PORT.
    """
    from hardness.api import sweeps

    if options.pop("force", False):
        raise click.UsageError("--out of sweep is never replaced: --fresh forgets its runs")
    return sweeps.sweep(file, **options)
