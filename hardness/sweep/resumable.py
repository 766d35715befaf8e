"""The runs of one command, kept beside its output until it ends: --resume does what is missing."""

import json
import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from hardness.runs.least import Threshold
from hardness.runs.planned import here, warm
from hardness.runs.rows import SweepRow
from hardness.runs.run import Run
from hardness.runs.stress import BITS
from hardness.sweep.jobs import RunJob, SearchJob, job_of, read_job
from hardness.sweep.pool import Engine, answer, local
from hardness.sweep.store import Writer, opened
from instances.errors import ToolkitError, UsageError

_PACE = 0.2  # seconds that are waited at once


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
        self.kept = len(writer.finished()) if writer else 0
        if writer:
            writer.write([], row)

    @property
    def base_seed(self) -> int:
        """The seed of a command that draws its own: that of the interrupted one, if there was."""
        return int(self._row.climbs[""]["base_seed"])

    def do(self, planned: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Do runs or searches: the index of each as it is done, with what came of it or why not."""
        left = list[tuple[int, RunJob | SearchJob]]()
        for index, one in enumerate(planned):
            job = job_of(one)
            if self._writer and (held := _held(self._writer, job)):
                yield index, held
            else:
                left.append((index, job))
        if self._engine or min(self._jobs, len(left)) > 1:
            done = self._elsewhere([job for _, job in left])
        else:
            done = here([planned[index] for index, _ in left])
        for place, found in done:
            index, job = left[place]
            if not isinstance(found, ToolkitError):
                row: Any = job.kept(found)
                if self._writer:
                    self._writer.write([row])
                    self.kept += 1
                found = row if isinstance(row, Run) else found
            yield index, found

    def _elsewhere(self, jobs: Sequence[RunJob | SearchJob]) -> Iterator[tuple[int, Any]]:
        """Do jobs on worker processes: the place of each as it is done."""
        engine = self._engine or self._stack.enter_context(local(self._jobs, _warmed))
        self._engine, left = engine, deque(jobs)
        places = {id(job): place for place, job in enumerate(jobs)}
        while left or engine.flying:
            while left and engine.room:
                engine.send([left.popleft()])
            engine.land(_PACE)
            while engine.landed:
                job, finished = engine.landed.popleft()
                place = places[id(job)]
                failed = finished.result is None
                yield place, ToolkitError(finished.why) if failed else jobs[place].found(finished)


def _held(store: Writer, job: RunJob | SearchJob) -> Run | Threshold | None:
    """Find what a store holds of a job."""
    row = store.row(job.table, job.key)
    return job.held(row, store.path) if row else None


def _warmed(payload: str) -> dict[str, Any]:
    """Do a job on a worker that its learner is warm on: no time that is measured holds imports."""
    job = read_job(payload)
    assert isinstance(job, RunJob | SearchJob)
    warm(job.spec, (job.learner,))
    return answer(payload)


@contextmanager
def resumable(
    output: Path | None, command: dict[str, Any], jobs: int = 1, resume: bool = False
) -> Iterator[Resumable]:
    """Keep the runs of a command in a store beside its output until it ends without an exception.

    command: what was asked for, as JSON: another command does not go on where this one stopped.
    Raises AlreadyExists where an earlier try left runs and `resume` is not said, UsageError where
    they are of another command, and ToolkitError where no store can be written.
    """
    row = SweepRow(
        name=command["command"],
        text=json.dumps(command, sort_keys=True, default=str),
        engine="local",
        slots=jobs,
        climbs={"": {"base_seed": secrets.randbits(BITS)}},
    )
    if output is None and resume:
        raise UsageError("--resume given without --out: runs are kept beside what is written")
    with ExitStack() as stack:
        if output is None:
            yield Resumable(None, row, jobs, stack)
            return
        path = unfinished(output)
        writer = stack.enter_context(opened(path, resume))
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
