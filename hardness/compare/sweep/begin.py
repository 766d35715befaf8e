"""The strands of a sweep on a store: what is to be done, less what is done."""

import secrets
import time
from dataclasses import replace

from hardness.compare.engines import Engine, Limits
from hardness.compare.jobs import CertificateJob, gram_cut
from hardness.compare.jobs.search import cut_search
from hardness.compare.store.rows import SweepRow
from hardness.compare.store.writer import Writer
from hardness.compare.stress import BITS
from hardness.compare.sweep.cells import Cell, cells
from hardness.compare.sweep.climbing import ClimbStrand
from hardness.compare.sweep.cutting import CutStrand
from hardness.compare.sweep.ledger import Ledger
from hardness.compare.sweep.record import Runs, Sweep
from hardness.compare.sweep.strands import CertificateStrand, Known, RunStrand, Strand
from hardness.compare.sweep.tally import Tally
from instances.limits import available_memory
from instances.spec import parse_stored


def begin(
    sweep: Sweep, writer: Writer, engine: Engine, retry: bool = False
) -> tuple[list[Strand], Tally, Ledger]:
    """Lay out what is left of a sweep; retry: runs that failed are run again."""
    failed = writer.failed()
    again = failed if retry else set()
    begun = writer.keys("run") | writer.keys("certificate") | writer.keys("whole")
    ledger = Ledger(writer, row(sweep, writer, engine), again)
    known = Known(begun=begun - again, failed=failed, look=ledger.look)
    tally = Tally(engine.slots)
    strands: list[Strand] = []
    for group in sweep.runs:
        if group.certify:
            strands.append(CertificateStrand(certificates(group), known, tally))
    for group in sweep.runs:
        strands += _runs(group, known, tally, writer)
    for climb in sweep.climbs:
        base = ledger.sweep.base_seeds[climb.title]
        strands.append(ClimbStrand(climb, base, known, tally, sweep.sha256))
    for gram in sweep.grams:
        cut = gram_cut(gram.spec, gram.members, gram.samples, gram.confidence, gram.seed)
        strands.append(CutStrand(cut, known, tally, writer))
    return strands, tally, ledger


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
            jobs.append(CertificateJob(spec=spec, terms=terms, revision=family.revision))
    return jobs


def hard_limits(limits: Limits, engine: Engine) -> Limits:
    """Fill in the limit of memory: a fair part of what is free, where the workers are here."""
    if limits.memory_bytes is not None or ":" in engine.name:
        return limits
    return replace(limits, memory_bytes=int(0.8 * available_memory() / engine.slots))


def _runs(group: Runs, known: Known, tally: Tally, writer: Writer) -> list[Strand]:
    """Runs one by one, and those that are searches of some hours in parts."""
    whole: list[Cell] = []
    strands: list[Strand] = []
    for cell in cells(group):
        job = cell.job(group.seeds[0])
        if cut_search(job) is None:
            whole.append(cell)
            continue
        for job in map(cell.job, group.seeds):
            cut = cut_search(job)
            assert cut is not None  # the seed has no say in how large a search is
            strands.append(CutStrand(cut, known, tally, writer, job))
    return [RunStrand(whole, group.seeds, known, tally), *strands]
