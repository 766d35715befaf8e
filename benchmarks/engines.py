"""What engines cost: a job, a worker, a task of dask; each number as measured in this run.

`python benchmarks/engines.py [TASKS]` prints a markdown table; TASKS go through the scheduler.
"""

import json
import sys
import time

import psutil
from timing import table

from hardness.runs.processes import HardLimits, Worker
from hardness.sweep.cluster import engine_of
from hardness.sweep.pool import Engine, attempt, local

# A job of no kind is refused as soon as it is read: all that is left is the engine.
NOTHING = json.dumps({"kind": "none"})
_JOBS, _AHEAD = 4000, 64


def overhead(tasks: int = 20_000) -> list[str]:
    """Measure every row of the table. tasks: no-op ones through the scheduler of dask."""
    return [*of_workers(), *of_dask(tasks)]


def of_workers() -> list[str]:
    """Measure a worker's start and memory, and jobs on one and two of them."""
    starts = []
    for _ in range(3):
        worker, start = Worker(), time.perf_counter()
        attempt(worker, NOTHING, HardLimits())
        starts.append(time.perf_counter() - start)
        held = psutil.Process(worker.pid).memory_info().rss
        worker.close()
    rows = [
        row("start of a worker, with its imports, least of 3", f"{min(starts):.2f} s"),
        row("resident memory of a worker that has done nothing", f"{held / 2**20:.0f} MiB"),
    ]
    for jobs in (1, 2):
        with local(jobs) as engine:
            through(engine, 40, 1)
            each = through(engine, _JOBS, 1)
        title = f"local, {jobs} worker{'s' * (jobs > 1)}: wall clock a job, {_JOBS:,} no-op jobs"
        rows.append(row(title, f"{1e3 * each:.2f} ms"))
    return rows


def of_dask(tasks: int) -> list[str]:
    """Measure tasks of a cluster made here with 3 workers."""
    start = time.perf_counter()
    with engine_of("dask", 3) as engine:
        rows = [row("start of a dask cluster of 3 workers", f"{time.perf_counter() - start:.1f} s")]
        through(engine, 400, engine.batch)
        for size in (1, engine.batch):
            each = through(engine, _JOBS, size)
            title = f"dask, 3 workers, {size} to a task: wall clock a job, {_JOBS:,} no-op jobs"
            rows.append(row(title, f"{1e3 * each:.2f} ms"))
        for count in sorted({min(10_000, tasks), tasks}):
            start = time.perf_counter()
            futures = engine.executor._client.map(abs, range(count), pure=False)  # type: ignore[attr-defined]
            submitted = time.perf_counter() - start
            engine.executor._client.gather(futures)  # type: ignore[attr-defined]
            rate = count / (time.perf_counter() - start)
            del futures
            title = f"dask, {count:,} no-op tasks at once: through the scheduler"
            rows.append(row(title, f"{rate:,.0f} tasks/s, submitted in {submitted:.1f} s"))
    return rows


def through(engine: Engine, jobs: int, size: int) -> float:
    """Send no-op jobs through an engine, `size` to a task: seconds of wall clock for each."""
    start, waiting = time.perf_counter(), []
    payloads = [NOTHING] * size
    for _ in range(0, jobs, size):
        waiting.append(engine.submit(payloads))
        if len(waiting) > _AHEAD:
            engine.collect(waiting.pop(0), payloads)
    for task in waiting:
        engine.collect(task, payloads)
    return (time.perf_counter() - start) / (-(-jobs // size) * size)


def row(what: str, measured: str) -> str:
    return f"| {what} | {measured} |"


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    table("", "| what | measured |", overhead(*given))
