"""Sweeps: many runs named by a file, done into a store."""

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from hardness.verbs import progress
from hardness.verbs.ask import choice, cores, flag, path, text
from hardness.verbs.asks import FILE, JOBS, Containment
from hardness.verbs.command import verb
from instances.errors import DamagedFile, ToolkitError

if TYPE_CHECKING:
    from hardness.sweep import Ended
    from hardness.sweep.plan import Plan
    from instances.result import Answer

_DB = path("The file of a store.")(metavar="DB")
_SWEEP = path("The sweep file.")
_STORE = path("The SQLite file of runs", flag="--store")
_YES = flag("Take more than 1e7 runs.")


@verb("What a sweep would do, and what that may take.", out=FILE)
def plan(
    file: Annotated[Path, _SWEEP],
    *,
    store: Annotated[
        Path | None,
        _STORE("times are taken from it where runs are the same.", default="none, no times"),
    ] = None,
    yes: Annotated[bool, _YES] = False,
) -> "Plan":
    """Count the runs of a sweep file, with times from a store that has them."""
    from hardness.sweep.file import read_sweep, require_count
    from hardness.sweep.plan import plan as planned
    from hardness.sweep.store import read

    found = read_sweep(file)
    require_count(found, yes)
    with read(store) if store else nullcontext() as rows:
        return planned(found, rows.runs() if rows else ())


@verb("Do what a store does not hold yet.", place="own")
def sweep(
    file: Annotated[Path, _SWEEP],
    store: Annotated[Path, _STORE("made if new.")],
    *,
    resume: Annotated[
        bool, flag("Go on where it was interrupted: in a store that holds runs.")
    ] = False,
    retry: Annotated[
        Literal["failed"] | None,
        choice(
            "Run again what failed: by the machine's doing, or by an error of your own learner.",
            "failed",
            default="leave it",
        ),
    ] = None,
    engine: Annotated[
        str,
        text(
            "local; dask, processes here; dask:tls://HOST:PORT, a scheduler that is there (or tcp)."
        ),
    ] = "local",
    yes: Annotated[bool, _YES] = False,
    jobs: Annotated[int | None, JOBS] = None,
    **closed: Unpack[Containment],
) -> "Ended":
    """Do the runs of a sweep file that a store does not hold yet.

    Progress goes to stderr, with --json in lines of JSON to stdout. Ctrl-C or SIGTERM writes what
    is finished and says how to go on. The table of what comes back is that of the store.
    """
    from hardness.report.sweep_status import go_on
    from hardness.sweep import Interrupted, read_sweep, require_count, run_sweep
    from hardness.sweep.cluster import exposed
    from hardness.sweep.store import StoreGone

    wanted = read_sweep(file)
    require_count(wanted, yes)
    if said := exposed(engine):
        progress.note(said)
    again = bool(retry)
    try:
        with progress.watched() as report:
            return run_sweep(wanted, store, engine, cores(jobs), resume or again, again, report)
    except Interrupted as cut:
        why = cut.__cause__
        if isinstance(why, DamagedFile | StoreGone):  # which says itself what is kept
            raise why from cut
        given = {
            "--engine": None if engine == "local" else engine,
            "--jobs": jobs,
            "--retry": retry,
        }
        options = [text for n, v in given.items() if v is not None for text in (n, str(v))]
        options += ["--yes"] * yes + ["--quiet"] * (not progress.seen())
        said = f"{cut} and kept; go on with: {go_on(file, store, *options)}"
        if isinstance(why, ToolkitError):
            raise type(why)(f"{why}; {said}") from cut
        raise KeyboardInterrupt(f"interrupted: {said}") from cut


@verb("How sweeps stand, also while they run.", out=FILE)
def status(db: Annotated[Path, _DB]) -> "Answer":
    """Say how the sweeps of a store stand; a sweep that runs is not disturbed."""
    from hardness.report.store import outcome_rows
    from hardness.report.sweep_status import status_json, status_words
    from hardness.sweep.store import held, read
    from instances.result import Answer

    with read(db) as found:
        sweeps, counts = found.sweeps(), found.counts()
    writing = held(db)
    return Answer(
        data=status_json(sweeps, counts, writing),
        told=status_words(db, sweeps, counts, writing),
        rows=outcome_rows(counts),
    )
