"""The runs of one command, kept beside its output until it ends: --resume does what is missing."""

import hashlib
import json
import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from hardness.oracles import Budget
from hardness.runs.planned import Planned, here
from hardness.runs.rows import SweepRow
from hardness.runs.run import Run
from hardness.runs.stress import BITS
from hardness.sweep.drive import open_store, run_of
from hardness.sweep.jobs import RunJob, run_job
from hardness.sweep.pool import Engine, Limits, local
from hardness.sweep.store import Writer
from hardness.upper import parse_learner
from instances.errors import DamagedFile, ToolkitError, UsageError

_WARM = Budget(seconds=1.0)
_LIMITS = Limits(retries=0)


def unfinished(output: Path) -> Path:
    """Name the store that holds what an interrupted command has done.

    >>> unfinished(Path("out/climb.json"))
    PosixPath('out/climb.json.unfinished')
    """
    if output.name in ("", ".."):
        output = output.resolve()
    return output.with_name(f"{output.name}.unfinished")


def goes_on(output: Path | None, resume: bool) -> bool:
    """Return whether a command is taken up again: what it wrote when it was cut is replaced."""
    return resume and output is not None and unfinished(output).exists()


class Resumable:
    """Does planned runs on worker processes, or in this one; each is kept as it is done.

    kept: runs that are in the store, those of an earlier try with them.
    """

    def __init__(self, writer: Writer | None, row: SweepRow, jobs: int, stack: ExitStack) -> None:
        """Begin; the engine is started when it is needed, and ended by `stack`."""
        self._writer, self._row, self._jobs, self._stack = writer, row, jobs, stack
        self._engine: Engine | None = None
        self._known = set[str]()  # learners that the workers have loaded and compiled
        self.kept = len(writer.keys()) if writer else 0
        if writer:
            writer.write([], row)

    @property
    def base_seed(self) -> int:
        """The seed of a command that draws its own: that of the interrupted one, if there was."""
        found = self._row.base_seeds.get("")
        if not isinstance(found, int) or not 0 <= found < 1 << BITS:
            where = self._writer.path if self._writer else "the store"
            raise DamagedFile(
                f"{where} holds no base seed of the interrupted command: it was changed; remove it "
                "to begin anew"
            )
        return found

    def do(self, planned: Sequence[Planned]) -> Iterator[tuple[int, Run | ToolkitError]]:
        """Do runs: the index of each as it is done, with its run or why there is none."""
        jobs = [
            run_job(one.spec, parse_learner(one.learner), one.seed, one.budget, tau=one.tau)
            for one in planned
        ]
        left = []
        for index, job in enumerate(jobs):
            run = self._writer.run(job.key) if self._writer else None
            if run is None or self._writer is None:
                left.append(index)
            else:
                yield index, job.require_own(run, self._writer.path)
        if self._engine or min(self._jobs, len(left)) > 1:
            fresh = self._elsewhere([jobs[index] for index in left])
        else:
            fresh = here([planned[index] for index in left])
        for place, done in fresh:
            index = left[place]
            if isinstance(done, Run):
                done = replace(done, key=jobs[index].key)
                if self._writer:
                    self._writer.write([done])
                    self.kept += 1
            yield index, done

    def _elsewhere(self, jobs: Sequence[RunJob]) -> Iterator[tuple[int, Run | ToolkitError]]:
        engine = self._warmed(jobs)
        futures = {engine.submit([_payload(job)], _LIMITS): i for i, job in enumerate(jobs)}
        for future in as_completed(futures):
            index = futures[future]
            (finished,) = engine.collect(future, [_payload(jobs[index])])
            if finished.result is None:
                yield index, ToolkitError(finished.why)
            else:
                yield index, run_of(jobs[index], finished)

    def _warmed(self, jobs: Sequence[RunJob]) -> Engine:
        """Start the worker processes, and warm up learners: no time measured holds imports."""
        engine = self._engine or self._stack.enter_context(local(self._jobs))
        first = {job.learner: replace(job, seed=0, budget=_WARM) for job in reversed(jobs)}
        payloads = [
            _payload(job)
            for name, job in first.items()
            if job.origin is None and name not in self._known
        ]
        warmed = [engine.submit(payloads, _LIMITS) for _ in range(self._jobs if payloads else 0)]
        for future in warmed:
            engine.collect(future, payloads)
        self._known |= first.keys()
        self._engine = engine
        return engine


def _payload(job: RunJob) -> str:
    return json.dumps({"kind": job.kind, **job.to_dict()})


@contextmanager
def resumable(
    output: Path | None, command: dict[str, Any], jobs: int = 1, resume: bool = False
) -> Iterator[Resumable]:
    """Keep the runs of a command in a store beside its output until it ends without an exception.

    command: what was asked for, as JSON: another command does not go on where this one stopped.
    Raises AlreadyExists where an earlier try left runs and `resume` is not said, UsageError where
    they are of another command, and ToolkitError where no store can be written.
    """
    text = json.dumps(command, sort_keys=True, default=str)
    row = _row(command["command"], text, jobs)
    if output is None:
        if resume:
            raise UsageError("--resume given without --out: runs are kept beside what is written")
        with ExitStack() as stack:
            yield Resumable(None, row, jobs, stack)
        return
    path = unfinished(output)
    with ExitStack() as stack:
        writer = stack.enter_context(open_store(path, resume))
        earlier = writer.sweep(row.sha256)
        if earlier is None and not writer.empty:
            raise UsageError(
                f"{path} holds runs of another command than this: give the same options, or remove "
                "the file"
            )
        found = Resumable(writer, earlier or row, jobs, stack)
        try:
            yield found
        except BaseException:
            if found.kept:
                raise
            stack.close()
            path.unlink()
            raise
    path.unlink()


def _row(name: str, text: str, jobs: int) -> SweepRow:
    now = time.time()
    return SweepRow(
        name=name,
        sha256=hashlib.sha256(text.encode()).hexdigest(),
        text=text,
        engine="local",
        slots=jobs,
        state="running",
        planned={},
        done={},
        failed={},
        started=now,
        updated=now,
        base_seeds={"": secrets.randbits(BITS)},
    )
