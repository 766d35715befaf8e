"""Jobs in the air: handed to an engine in tasks of one or several, and what comes back."""

import json
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import asdict
from queue import Empty, SimpleQueue
from typing import Any

from hardness.compare.engines import Engine, Finished, Limits, attempt
from hardness.compare.jobs import Job
from hardness.compare.sweep.strands import Strand
from instances.errors import ToolkitError

_AHEAD = 2  # tasks for each slot: one at work, one waiting

Sent = tuple[Strand, Job]


class Flight:
    """Tasks that an engine has; whatever becomes of one comes back through one queue."""

    def __init__(self, engine: Engine, limits: Limits) -> None:
        """Begin with none."""
        self._engine, self._limits = engine, asdict(limits)
        self._back: SimpleQueue[tuple[Sequence[Sent], Future[Any]]] = SimpleQueue()
        self.tasks = 0

    @property
    def room(self) -> bool:
        """Whether the engine should have more."""
        return self.tasks < _AHEAD * self._engine.slots

    def send(self, jobs: Sequence[Sent]) -> None:
        """Hand jobs over as one task; raises ToolkitError where the engine takes none."""
        payloads = [json.dumps({"kind": job.kind, **job.to_json()}) for _, job in jobs]
        try:
            future = self._engine.executor.submit(attempt, payloads, self._limits)
        except (RuntimeError, OSError) as error:
            raise gone(self._engine.name, error) from error
        self.tasks += 1
        future.add_done_callback(lambda done: self._back.put((jobs, done)))

    def back(self, timeout: float) -> list[tuple[Strand, Job, Finished]]:
        """Wait for tasks to end, at most `timeout` seconds, and return all that have.

        Raises ToolkitError where the engine has lost them.
        """
        ended: list[tuple[Strand, Job, Finished]] = []
        wait = timeout
        while self.tasks:
            try:
                jobs, future = self._back.get(timeout=wait) if wait else self._back.get_nowait()
            except Empty:
                break
            self.tasks -= 1
            wait = 0.0
            try:
                results = future.result()
            except (CancelledError, Exception) as error:
                raise gone(self._engine.name, error) from error
            ended += [
                (strand, job, Finished.from_json(result))
                for (strand, job), result in zip(jobs, results, strict=True)
            ]
        return ended


def gone(name: str, error: BaseException) -> ToolkitError:
    """Say that an engine has failed."""
    said = " ".join(str(error).split())[:200]
    return ToolkitError(f"the engine {name} was lost: {type(error).__name__} {said}".rstrip())
