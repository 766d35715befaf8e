"""Sweeps: many runs named by a file."""

from pathlib import Path
from types import SimpleNamespace

import click

from hardness.commands.options import common, early, emit, progress
from hardness.commands.sweeping import run, status


@click.group(short_help="Many runs, named by a file.")
def sweep() -> None:
    """Specs, learners, seeds and budgets of a TOML file: what they would cost, and doing them."""


@sweep.command("plan", short_help="What a sweep would do, and what that may take.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="A store with runs whose times are taken where they are the same.",
)
@click.option(
    "--probe",
    type=click.FloatRange(min=0, max=3600),
    default=1.0,
    show_default=True,
    help="Seconds that each of at most 20 real runs may take; 0 for none.",
)
@click.option("--yes", is_flag=True, help="Plan over 1e7 runs too.")
@common
def plan_command(
    to: SimpleNamespace, file: Path, store: Path | None, probe: float, yes: bool
) -> None:
    """Count the runs of a sweep file, and estimate their cost and memory before any starts."""
    from hardness.compare.sweep.estimate import MOST_PROBES
    from hardness.compare.sweep.file import read_sweep, require_count
    from hardness.compare.sweep.plan import plan
    from hardness.report.sweep import plan_words

    early(to)
    found = read_sweep(file)
    require_count(found, yes)
    rows = None
    if store:
        from hardness.compare.store.reader import read

        rows = read(store).runs()
    with progress(MOST_PROBES, "probing", to) as bar:
        made = plan(found, rows, probe, to.jobs, bar)
    emit(to, made.to_json(), plan_words(made))


sweep.add_command(run)
sweep.add_command(status)
