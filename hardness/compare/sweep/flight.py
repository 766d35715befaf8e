"""Jobs in the air: handed to an engine in tasks of one or several, and what comes back."""

import json
import time
from collections import deque
from collections.abc import Sequence
from queue import Empty, SimpleQueue

from hardness.compare.engines import Batch, Engine, Finished, Limits
from hardness.compare.jobs import Job
from hardness.compare.sweep.strands import Strand
from instances.errors import ToolkitError

_AHEAD = 2  # tasks for each slot: one at work, one waiting
_ASKED = 5.0  # seconds after which an engine is asked again how many slots it has
_ALONE = 600.0  # seconds without any, after which nobody is waited for

Sent = tuple[Strand, Job]
Landed = tuple[Strand, Job, Finished]


class Flight:
    """Tasks that an engine has; whatever becomes of one comes back through one queue.

    slots: how many jobs the engine did at once when it was last asked, at least 1. tasks: in the
    air.
    """

    def __init__(self, engine: Engine, limits: Limits) -> None:
        """Begin with none."""
        self._engine, self._limits = engine, limits
        self._back: SimpleQueue[tuple[Sequence[Sent], Sequence[str], Batch]] = SimpleQueue()
        self.slots = max(1, engine.slots)
        self._asked = self._seen = time.monotonic()
        self.tasks = 0
        self.landed: deque[Landed] = deque()  # come back, and not taken by the driver yet

    @property
    def room(self) -> bool:
        """Whether the engine should have more; raises ToolkitError where it lost all its slots."""
        if time.monotonic() - self._asked > _ASKED:  # workers of a cluster come and go
            there, self._asked = self._engine.slots, time.monotonic()
            self.slots = max(1, there)
            if there:
                self._seen = self._asked
            elif self._asked - self._seen > _ALONE:
                raise ToolkitError(
                    f"{self._engine.name} has had no workers for {_ALONE / 60:.0f} minutes: start "
                    "some and resume"
                )
        return self.tasks < _AHEAD * self.slots

    def send(self, jobs: Sequence[Sent]) -> None:
        """Hand jobs over as one task; raises ToolkitError where the engine takes none."""
        payloads = [json.dumps({"kind": job.kind, **job.to_json()}) for _, job in jobs]
        future = self._engine.submit(payloads, self._limits)
        self.tasks += 1
        future.add_done_callback(lambda done: self._back.put((jobs, payloads, done)))

    def land(self, timeout: float) -> None:
        """Wait for tasks to end, at most `timeout` seconds; all that have are in `landed`.

        Raises ToolkitError where the engine has lost them.
        """
        wait = timeout
        while self.tasks:
            try:
                jobs, payloads, future = self._back.get(block=wait > 0, timeout=wait or None)
            except Empty:
                break
            wait = 0.0
            self.tasks -= 1
            self._take(jobs, self._engine.collect(future, payloads))

    def rescue(self) -> None:
        """Take what has ended by now, after the engine was told to stop or has failed."""
        while self.tasks:
            try:
                jobs, payloads, future = self._back.get_nowait()
            except Empty:
                break
            self.tasks -= 1
            # Else it is neither done nor a failure: it is done again another time.
            if not future.cancelled() and future.exception() is None:
                self._take(jobs, self._engine.collect(future, payloads))

    def _take(self, jobs: Sequence[Sent], results: Sequence[Finished]) -> None:
        self.landed += [(s, j, f) for (s, j), f in zip(jobs, results, strict=True)]
