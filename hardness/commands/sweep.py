"""Sweeps: many runs named by a file, done into a store."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from shutil import get_terminal_size
from types import SimpleNamespace
from typing import Any

import click

from hardness.commands.options import (
    FILE,
    RESUME,
    containment_options,
    emit,
    printable,
    refuse_existing_output,
    say,
    shared,
)
from hardness.oracles import clock

_LOGGED = 30.0  # seconds between lines where stderr is no terminal


@click.group(short_help="Many runs, named by a file.")
def sweep() -> None:
    """Specs, learners, seeds and budgets of a TOML file: what they would cost, and doing them."""


@sweep.command("plan", short_help="What a sweep would do, and what that may take.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    help="The SQLite file of runs: times are taken from it where runs are the same.  [default: "
    "none, no times]",
)
@click.option("--yes", is_flag=True, help="Take more than 1e7 runs.")
@shared("force", out=FILE)
def plan_command(output: SimpleNamespace, file: Path, store: Path | None, yes: bool) -> None:
    """Count the runs of a sweep file, with times from a store that has them."""
    from hardness.report.sweep import plan_words
    from hardness.sweep.file import read_sweep, require_count
    from hardness.sweep.plan import plan
    from hardness.sweep.store import read

    refuse_existing_output(output)
    found = read_sweep(file)
    require_count(found, yes)
    with read(store) if store else nullcontext() as rows:
        made = plan(found, rows.runs() if rows else ())
    emit(output, made.to_dict(), plan_words(made), table=made)


@sweep.command(short_help="Do what a store does not hold yet.")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--store",
    type=click.Path(path_type=Path),
    required=True,
    help="The SQLite file of runs: made if new.",
)
@click.option("--resume", is_flag=True, help=f"{RESUME}: in a store that holds runs.")
@click.option(
    "--retry",
    type=click.Choice(["failed"]),
    help="Run again what failed: by the machine's doing, or by an error of your own learner.  "
    "[default: leave it]",
)
@click.option(
    "--engine",
    default="local",
    show_default=True,
    help="local; dask, processes here; dask:tls://HOST:PORT, a scheduler that is there (or tcp).",
)
@click.option("--yes", is_flag=True, help="Take more than 1e7 runs.")
@containment_options
@shared("jobs", "quiet")
@click.pass_context
def run(
    context: click.Context,
    output: SimpleNamespace,
    file: Path,
    store: Path,
    resume: bool,
    retry: str | None,
    engine: str,
    yes: bool,
) -> None:
    """Do the runs of a sweep file that a store does not hold yet.

    Progress goes to stderr, with --json in lines of JSON to stdout. Ctrl-C or SIGTERM writes what
    is finished and says how to go on.
    """
    from hardness.report.sweep_status import ended_json, ended_words, go_on
    from hardness.sweep import Interrupted, read_sweep, require_count, run_sweep
    from hardness.sweep.cluster import exposed
    from hardness.sweep.store import StoreGone, read
    from instances.errors import DamagedFile, ToolkitError

    if output.out:
        raise click.UsageError("sweep run writes to --store: leave out --out")
    wanted = read_sweep(file)
    require_count(wanted, yes)
    if said := exposed(engine):
        click.echo(printable(said), err=True)
    again = bool(retry)
    try:
        with _watching(output) as report:
            ended = run_sweep(wanted, store, engine, output.jobs, resume or again, again, report)
    except Interrupted as cut:
        why = cut.__cause__
        if isinstance(why, DamagedFile | StoreGone):  # which says itself what is kept
            raise why from cut
        said = f"{cut} and kept; go on with: {go_on(file, store, *_given(context, output))}"
        if isinstance(why, ToolkitError):
            raise type(why)(f"{why}; {said}") from cut
        raise click.Abort(f"interrupted: {said}") from cut
    with read(store) as found:
        counts = found.counts()
    if output.as_json:
        click.echo(json.dumps(ended_json(ended.progress, counts, ended.missing)))
    else:
        say(ended_words(store, ended.progress, counts, ended.missing))
    if ended.missing:
        sys.exit(1)


@sweep.command(short_help="How sweeps stand, also while they run.")
@click.argument("store", metavar="DB", type=click.Path(path_type=Path))
@shared("force", out=FILE)
def status(output: SimpleNamespace, store: Path) -> None:
    """Say how the sweeps of a store stand; a sweep that runs is not disturbed."""
    from hardness.report.store import outcome_rows
    from hardness.report.sweep_status import status_json, status_words
    from hardness.sweep.store import held, read

    refuse_existing_output(output)
    with read(store) as found:
        sweeps, counts = found.sweeps(), found.counts()
    writing = held(store)
    data = status_json(sweeps, counts, writing)
    text = status_words(store, sweeps, counts, writing)
    emit(output, data, text, table=outcome_rows(counts))


def _given(context: click.Context, output: SimpleNamespace) -> list[str]:
    """Return the options that were given, and that going on with the sweep wants again."""
    given = {"engine": "--engine", "jobs": "--jobs", "retry": "--retry"}
    said = {**context.params, **vars(output)}
    default = click.core.ParameterSource.DEFAULT
    asked = {n: o for n, o in given.items() if context.get_parameter_source(n) is not default}
    pairs = [text for name, option in asked.items() for text in (option, str(said[name]))]
    return pairs + [f"--{n}" for n in ("yes", "quiet") if said[n]]


@contextmanager
def _watching(output: SimpleNamespace) -> Iterator[Callable[[Any], None]]:
    """Report progress: one line that changes, or one line now and then; JSON once a second."""
    from hardness.report.progress import progress_json, progress_line

    quiet = output.quiet
    terminal = sys.stderr.isatty() and not quiet
    last = said = clock.now()
    width = 0

    def report(at: Any) -> None:
        nonlocal last, said, width
        now = clock.now()
        if now - last < 1:
            return
        last = now
        if output.as_json:
            click.echo(json.dumps(progress_json(at)))
        if terminal:
            line = printable(progress_line(at, get_terminal_size().columns - 1))
            click.echo("\r" + line.ljust(width), nl=False, err=True)
            width = len(line)
        elif not quiet and now - said >= _LOGGED:
            said = now
            click.echo(printable(progress_line(at)), err=True)

    try:
        yield report
    finally:
        if terminal and width:
            click.echo(f"\r{' ' * width}\r", nl=False, err=True)
