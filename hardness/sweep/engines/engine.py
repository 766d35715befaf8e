"""An engine: an executor of `concurrent.futures`, and what is known of it."""

from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

from hardness.sweep.engines.attempt import attempt
from hardness.sweep.engines.finished import Aborted, Finished, Limits
from instances.errors import ToolkitError

Batch = Future[list[dict[str, Any]]]


class Engine:
    """Jobs on any executor whose workers are threads or processes, here or elsewhere.

    name: as in messages and in a store. executor: where `attempt` is submitted to. batch: how many
    jobs one task may usefully hold where they are short, 1 where a task costs next to nothing.
    """

    def __init__(self, name: str, executor: Executor, slots: int, batch: int = 1) -> None:
        """slots: how many jobs it does at once."""
        self.name, self.executor, self.batch = name, executor, batch
        self._slots, self._stopped = slots, False

    @property
    def slots(self) -> int:
        """How many jobs it does at once, now."""
        return self._slots

    def submit(self, payloads: Sequence[str], limits: Limits) -> Batch:
        """Hand over jobs as one task; `collect` takes its future. Raises ToolkitError.

        payloads: {"kind": ..., **job.to_json()} as texts.
        """
        try:
            return self.executor.submit(attempt, list(payloads), dict(vars(limits)))
        except Exception as error:
            raise self._lost(error) from error

    def collect(self, future: Batch, payloads: Sequence[str]) -> list[Finished]:
        """Take what became of the jobs of a task, in their order; raises ToolkitError.

        Aborted where it was told to stop; another where the engine itself is gone.
        """
        try:
            return [Finished.from_json(one) for one in future.result()]
        except Exception as error:  # a task that was cancelled too
            if self._stopped or isinstance(error, Aborted):
                raise Aborted(f"{self.name} was told to stop") from error
            return self._died(error, payloads)

    def abort(self) -> None:
        """Drop what waits and end what runs; nothing can be submitted after it."""
        self._stopped = True
        self.executor.shutdown(wait=False, cancel_futures=True)

    def _died(self, error: BaseException, payloads: Sequence[str]) -> list[Finished]:
        """Say what an exception of a task means for its jobs; raises what it means for all."""
        raise self._lost(error) from error

    def _lost(self, error: BaseException) -> ToolkitError:
        if isinstance(error, BrokenExecutor):
            return ToolkitError(f"a worker process of {self.name} was killed: run it again")
        said = " ".join(str(error).split())[:300]
        return ToolkitError(f"{self.name} failed: {type(error).__name__}: {said}")
