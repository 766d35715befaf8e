"""Sweeps and stores: many runs named by a file, done into a store, and what stores hold."""

from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from hardness.verbs import progress
from hardness.verbs.ask import choice, cores, flag, path, text
from hardness.verbs.asks import FILE, FORCE, JOBS, Sandboxed
from hardness.verbs.command import verb
from instances.errors import DamagedFile, ToolkitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardness.report.sweep import Queried
    from hardness.sweep import Ended
    from hardness.sweep.plan import Plan
    from instances.result import Answer

_DB = path("The file of a store.")
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
def run_sweep(
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
    **closed: Unpack[Sandboxed],
) -> "Ended":
    """Do the runs of a sweep file that a store does not hold yet.

    Progress goes to stderr, with --json in lines of JSON to stdout. Ctrl-C or SIGTERM writes what
    is finished and says how to go on. The table of what comes back is that of the store.
    """
    from hardness.report.sweep import go_on
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
    from hardness.report.sweep import outcome_rows, status_json, status_words
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


# Stores


@verb("What a store holds.", out=FILE)
def show(db: Annotated[Path, _DB]) -> "Answer":
    """Count what a store holds, by learner and outcome; also while a sweep writes it.

    As a table (.tex, .csv, .md) it has a row for each problem over its sizes and each learner.
    Thresholds of sizes that are finished are shown as by
    `hardness least`, which is also the table of a store without runs.
    """
    from hardness.report.stored import least_in
    from hardness.report.sweep import Held, store_words
    from hardness.sweep.store import read

    with read(db) as found:
        sweeps, summary = found.sweeps(), found.summary()  # a sweep that goes on has more by then
        least = least_in(found)
    return Held(
        data={**summary, "sweeps": [asdict(one) for one in sweeps]},
        told=store_words(str(db), summary, sweeps, least),
        db=db,
        least=least,
    )


_FORMATS = {"csv": "CSV", "json": "JSON", "parquet": "Parquet"}


@verb(
    "The runs as CSV, JSON or Parquet.",
    out="Where to write: a file .csv, .json or .parquet.  [required]",
    place="own",
    needs="--out FILE",
)
def export(
    db: Annotated[Path, _DB],
    out: Annotated[Path, path("A file.", flag="--out", writes=True)],
    *,
    format: Annotated[
        str | None, choice("Format.", *_FORMATS, default="as the name of --out ends")
    ] = None,
    comparable: Annotated[
        bool, flag("Without times, memory and machine, and without runs that these ended.")
    ] = False,
    thresholds: Annotated[bool, flag("The thresholds of [[least]] in place of the runs.")] = False,
    force: Annotated[bool, FORCE] = False,
) -> "Answer":
    """Write the runs of a store to --out in an order that depends on them alone.

    With --comparable the files of two stores with equal results are equal byte for byte. In CSV a
    text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    from hardness.report.stored_rows import export as write
    from hardness.report.stored_rows import export_thresholds
    from hardness.report.text import count
    from hardness.sweep.store import read
    from instances.result import Answer

    ending = out.suffix.lower().removeprefix(".")
    if not format and ending not in _FORMATS:
        raise UsageError(
            f"--out {out} given: end its name in .csv, .json or .parquet, or say --format"
        )
    form = format or ending
    what = "thresholds" if thresholds else "runs"
    with read(db) as found:
        held = found.summary()
        if not held[what] and (held["thresholds"] or thresholds):
            other = "add --thresholds" if held["thresholds"] else "leave out --thresholds"
            raise UsageError(f"{db} given: it holds no {what}: {other}")
        do = export_thresholds if thresholds else write
        done = do(found, out, form, comparable, force)  # type: ignore[arg-type]
    left = f", {done.left_out} not reproducible left out" if done.left_out else ""
    return Answer(
        data={what: done.rows, "left_out": done.left_out, "format": form, "out": str(out)},
        told=f"written: {out} ({_FORMATS[form]}): {count(done.rows, what[:-1])}{left}",
    )


@verb("Ask in SQL; nothing can be changed.", out="Where to write: the answer, to a file.")
def query(db: Annotated[Path, _DB], sql: Annotated[str, text("The question.")]) -> "Queried":
    """Answer one SELECT over the tables runs, certificates, thresholds and sweeps.

    Parameters of specs are read as parameters->>'d', those of learners as
    learner_parameters->>'degree': SELECT parameters->>'d' AS d, sum(passed) FROM runs GROUP BY d
    """
    from hardness.report.sweep import Queried
    from hardness.sweep.store import read

    with read(db) as found:
        names, rows = found.query(sql)
    return Queried(names=tuple(names), values=tuple(map(tuple, rows)))


@verb(
    "Put stores together to a new one.",
    out="Where to write: the new store.  [required]",
    place="own",
    needs="--out NEW.db",
)
def merge(
    db: Annotated[Path, _DB],
    others: Annotated["Sequence[Path]", path("More of them.", many=True)] = (),
    *,
    out: Annotated[Path, path("A new store.", writes=True)],
    force: Annotated[bool, FORCE(hidden=True)] = False,
) -> "Answer":
    """Write all that stores hold to the new store --out; contradictions are refused.

    With one store alone it is a copy of it, of this version.
    """
    from hardness.report.sweep import store_words
    from hardness.sweep.store import merge as put_together
    from hardness.sweep.store import read
    from instances.result import Answer

    if force:
        raise UsageError("store merge never replaces a store: leave out --force")
    put_together(db, others, out)
    with read(out) as found:
        summary, sweeps = found.summary(), found.sweeps()
    return Answer(data=summary, told="written: " + store_words(str(out), summary, sweeps))
