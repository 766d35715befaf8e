"""A sweep file on a store and an engine, from its beginning or from where it stopped."""

import secrets
import time
from dataclasses import replace
from pathlib import Path

from hardness.runs.rows import Row, SweepRow
from hardness.runs.stress import BITS
from hardness.sweep.cells import cells
from hardness.sweep.cluster import engine_of
from hardness.sweep.drive import Ended, Report, WriteBuffer, drive
from hardness.sweep.figures import phase
from hardness.sweep.file import Runs, Sweep
from hardness.sweep.gram import gram_cut
from hardness.sweep.jobs import CertificateJob
from hardness.sweep.pool import Engine, Limits
from hardness.sweep.sources import (
    CertificateSource,
    ClimbSource,
    GramSource,
    JobSource,
    Known,
    RunSource,
)
from hardness.sweep.store import Writer, create, read, reopen
from hardness.sweep.tally import Tally
from instances.errors import AlreadyExists
from instances.limits import available_memory
from instances.spec import file_of, parse_stored


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
        sources, tally, buffer = begin(sweep, writer, at, retry)

        def closing() -> list[Row]:
            if earlier and earlier.state == "finished" and not buffer.wrote:
                return []  # its figure is that of these runs
            with read(store) as found:
                return [phase(found.runs(), found.certificates())]

        limits = hard_limits(sweep.limits, at)
        return drive(sources, tally, buffer, at, limits, report, closing)


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


def begin(
    sweep: Sweep, writer: Writer, engine: Engine, retry: bool = False
) -> tuple[list[JobSource], Tally, WriteBuffer]:
    """Lay out what is left of a sweep; retry: runs that failed are run again."""
    failed = writer.failed()
    again = failed if retry else set()
    begun = writer.keys("run") | writer.keys("certificate") | writer.keys("whole")
    buffer = WriteBuffer(writer, row(sweep, writer, engine), again)
    known = Known(begun=begun - again, failed=failed, look=buffer.look)
    tally = Tally(engine.slots)
    sources: list[JobSource] = []
    for group in sweep.runs:
        if group.certify:
            sources.append(CertificateSource(certificates(group), known, tally))
    for group in sweep.runs:
        sources.append(RunSource(list(cells(group)), group.seeds, known, tally))
    for climb in sweep.climbs:
        base = buffer.sweep.base_seeds[climb.title]
        sources.append(ClimbSource(climb, base, known, tally, sweep.sha256))
    for gram in sweep.grams:
        cut = gram_cut(gram.spec, gram.members, gram.samples, gram.confidence, gram.seed)
        sources.append(GramSource(cut, known, tally, writer))
    return sources, tally, buffer


def row(sweep: Sweep, writer: Writer, engine: Engine) -> SweepRow:
    """Write down a sweep before it begins: base seeds are drawn once, and kept."""
    earlier = writer.sweep(sweep.sha256)
    drawn = earlier.base_seeds if earlier else {}
    seeds = {
        climb.title: drawn.get(climb.title, secrets.randbits(BITS))
        if climb.base_seed is None
        else climb.base_seed
        for climb in sweep.climbs
    }
    now = time.time()
    return SweepRow(
        name=sweep.name,
        sha256=sweep.sha256,
        text=sweep.text,
        engine=engine.name,
        slots=engine.slots,
        state="running",
        planned={},
        done={},
        failed={},
        started=earlier.started if earlier else now,
        updated=now,
        base_seeds=seeds,
    )


def certificates(group: Runs) -> list[CertificateJob]:
    """List the certificates of a group: of every spec of which a bound is proved."""
    jobs: list[CertificateJob] = []
    for spec in dict.fromkeys(spec for spec, _ in group.pairs):
        family = parse_stored(spec)
        if family.hardness.evidence == "exact":
            terms = group.terms
            jobs.append(
                CertificateJob(
                    spec=spec, terms=terms, revision=family.revision, file=file_of(family.name)
                )
            )
    return jobs


def hard_limits(limits: Limits, engine: Engine) -> Limits:
    """Fill in the limit of memory: a fair part of what is free, where the workers are here."""
    if limits.memory_bytes is not None or ":" in engine.name:
        return limits
    return replace(limits, memory_bytes=int(0.8 * available_memory() / engine.slots))
