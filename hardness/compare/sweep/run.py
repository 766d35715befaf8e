"""A sweep file on a store and an engine, from its beginning or from where it stopped."""

from pathlib import Path

from hardness.compare.engines import engine_of
from hardness.compare.store import Writer, create, read, reopen
from hardness.compare.store.rows import Row
from hardness.compare.sweep.begin import begin, hard_limits
from hardness.compare.sweep.drive import Ended, Report, drive
from hardness.compare.sweep.figures import phase
from hardness.compare.sweep.record import Sweep
from instances.errors import AlreadyExists


def run_sweep(
    sweep: Sweep,
    store: Path,
    engine: str = "local",
    jobs: int = 1,
    resume: bool = False,
    retry: bool = False,
    report: Report = lambda progress: None,
) -> Ended:
    """Do what is left of a sweep; what the store holds is not run again.

    resume: go on in a store that holds runs. retry: runs that failed are run again. Raises
    AlreadyExists for such a store without it, ToolkitError where the store or the engine cannot be
    used, and Interrupted, with all that was finished in the store.
    """
    with engine_of(engine, jobs) as at, open_store(store, resume) as writer:
        earlier = writer.sweep(sweep.sha256)
        strands, tally, ledger = begin(sweep, writer, at, retry)

        def closing() -> list[Row]:
            if earlier and earlier.state == "finished" and not ledger.wrote:
                return []  # its figure is that of these runs
            with read(store) as found:
                return [phase(found.runs(), found.certificates())]

        limits = hard_limits(sweep.limits, at)
        return drive(strands, tally, ledger, at, limits, report, closing)


def open_store(path: Path, resume: bool) -> Writer:
    """Open a store to be written; raises AlreadyExists for one with runs, unless they are meant."""
    if not path.exists():
        return create(path)
    writer = reopen(path)
    if not resume and not writer.empty:
        writer.close()
        raise AlreadyExists(
            f"{path} holds runs: add --resume to do what is missing, or give another --store"
        )
    return writer
