"""An engine that does jobs at once in this process, and what tests want to know of it."""

from concurrent.futures import Executor, Future
from contextlib import contextmanager

from hardness.runs import risk
from hardness.sweep import drive, read_text, run_sweep
from hardness.sweep.jobs import Finished, read_job
from hardness.sweep.pool import Engine


class Here(Executor):
    """Does each task as it is submitted; `stop` after so many raises what it is given."""

    def __init__(self, stop=None, error=None, failing=None):
        self.done, self.stop, self.error = [], stop, error
        self.sizes = []  # jobs of each task
        self.failing = failing or (lambda job: None)

    def submit(self, work, payloads, limits):
        future = Future()
        if self.stop is not None and len(self.done) >= self.stop:
            if isinstance(self.error, KeyboardInterrupt):
                raise self.error
            future.set_exception(self.error)
            return future
        self.sizes.append(len(payloads))
        results = []
        for payload in payloads:
            job = read_job(payload)
            self.done.append(job.key)
            failure = self.failing(job)
            if failure:
                how = {"failure": failure, "why": "as asked for", "attempts": 3}
            else:
                how = {"result": job.do()}
            results.append(Finished(seconds=0.01, **how))
        future.set_result(results)
        return future


def sweep_here(monkeypatch, text, store, executor=None, batch=1, **how):
    """Do a sweep in this process; returns how it ended and the keys of the jobs in their order.

    Runs are judged by an eighth of the usual examples.
    """
    executor = executor or Here()

    @contextmanager
    def here(name, jobs):
        yield Engine("local", executor, None, jobs, batch)

    monkeypatch.setattr(drive, "engine_of", here)
    monkeypatch.setattr(risk, "_EVALUATE", 2048)
    sweep = text if not isinstance(text, str) else read_text(text, "test")
    return run_sweep(sweep, store, **how), executor.done
