"""What sweeps cost beyond their runs, and what stops a larger one; prints docs/scale-tables.md.

Every number is measured in this run, or computed from such numbers as its row says. Nothing else
should run on the machine. It takes about a quarter of an hour.
"""

import json
import os
import platform
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from chaos import chaos
from timing import table

from hardness.runs.processes import HardLimits, Worker
from hardness.sweep import read_text, run_sweep
from hardness.sweep.cluster import engine_of
from hardness.sweep.drive import Driver
from hardness.sweep.export import export
from hardness.sweep.jobs import Finished
from hardness.sweep.pool import Engine, attempt, local
from hardness.sweep.store import Writer, create, read, reopen

SMALL = """
format = "hardness-sweep/1"
name = "small runs"
seeds = {seeds}
certify = false
[[runs]]
spec = "parity:m=3"
over = {{ d = [16, 24] }}
learners = ["elimination", "lowdegree"]
budget = {{ examples = 20_000 }}
"""
CORES, RUNS = 1000, 10**6  # of the arithmetic
# A job of no kind is refused as soon as it is read: all that is left is the engine.
NOTHING = json.dumps({"kind": "none"})
_JOBS, _AHEAD = 4000, 64


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def small_runs(folder: Path) -> tuple[list[str], float]:
    """Time the same 1000 runs in a loop here, on one worker and on two; seconds of one."""
    sweep = read_text(SMALL.format(seeds=250), "small")
    group = sweep.grids[0]
    jobs = [cell.with_seed(seed) for seed in group.seeds for cell in group.cells]
    for job in jobs[:8]:  # imports and compiled loops
        job.do()
    each: dict[tuple[str, str], float] = defaultdict(float)
    for job in jobs:
        each[job.spec, job.learner] += timed(job.do)[0]
    bare, count = sum(each.values()), len(jobs)
    one, two = (
        timed(partial(run_sweep, sweep, folder / f"small-{n}.db", jobs=n))[0] for n in (1, 2)
    )
    lines = [
        f"| one run: {learner} on {spec} | {1e3 * seconds / len(group.seeds):.1f} ms |"
        for (spec, learner), seconds in each.items()
    ]
    return [
        *lines,
        f"| {count} such runs, one after the other in one process | {bare:.1f} s |",
        f"| the same as a sweep on 1 worker, its start with it | {one:.1f} s |",
        f"| the same as a sweep on 2 workers | {two:.1f} s |",
        f"| efficiency of 2 workers against 1 | {one / (2 * two):.2f} |",
        f"| overhead a run on 1 worker | {1e3 * (one - bare) / count:.2f} ms |",
    ], bare / count


class Echo(Executor):
    """An executor that does nothing: it answers every job with a run that was done before."""

    def __init__(self, done: dict[str, Any]) -> None:
        self._done = done

    def submit(self, work: Any, /, payloads: list[str], limits: Any) -> Future[Any]:  # type: ignore[override]
        future: Future[Any] = Future()
        future.set_result([self._answer(json.loads(payload)) for payload in payloads])
        return future

    def _answer(self, job: dict[str, Any]) -> Finished:
        same = {name: job[name] for name in ("spec", "learner", "seed")}
        return Finished(result={**self._done, **same}, seconds=0.001)


def a_million(folder: Path) -> tuple[list[str], float, float]:
    """Put a million runs that take no time through the driver into a store, and read it.

    Returns runs a second and bytes a run with the rows.
    """
    sweep = read_text(SMALL.format(seeds=RUNS // 4), "a million")
    store, done = folder / "million.db", sweep.grids[0].cells[0].do()
    seen: list[float] = []

    def drive(writer: Writer) -> None:
        engine = Engine("echo", Echo(done), lambda texts, limits: [], 64)
        Driver(sweep, writer, engine).drive(lambda _: seen.append(time.perf_counter()))

    start = time.perf_counter()
    with create(store) as writer:
        drive(writer)
    planned = seen[0] - start  # with the first writing
    rate = RUNS / (time.perf_counter() - start - planned)
    size = store.stat().st_size / RUNS

    def look() -> Any:
        with read(store) as found:
            return found.sweeps(), found.counts()

    times, looked = zip(*(timed(look) for _ in range(3)), strict=True)
    assert sum(sum(n.values()) for n in looked[0][1].values()) == RUNS, looked[0][0]
    checked, writer = timed(lambda: reopen(store))
    with writer:
        resumed, _ = timed(lambda: drive(writer))
    with read(store) as found:
        exported, _ = timed(lambda: export(found, folder / "million.csv", "csv", True))
    return (
        [
            f"| {RUNS:.0e} runs: planned, their keys made | {planned:.1f} s |",
            f"| through the driver into a store, by one process | {rate:.0f} runs/s |",
            f"| the store | {size * RUNS / 1e6:.0f} MB, {size:.0f} bytes a run |",
            f"| `sweep status` of it: opened and read, worst of 3 | {max(times):.2f} s |",
            f"| opened to go on: every page checked | {checked:.1f} s |",
            f"| what is missing found, nothing being so | {resumed:.1f} s |",
            f"| `store export --comparable` to CSV | {exported:.1f} s |",
        ],
        rate,
        size,
    )


def store_alone(folder: Path) -> list[str]:
    job = read_text(SMALL.format(seeds=1), "small").grids[0].cells[0]
    row = job.row(Finished(result=job.do()))
    lines = []
    for size, count in ((1, 1000), (20, 20_000), (1000, 200_000)):
        rows = [row.updated(key=f"{i:032x}", seed=i) for i in range(count)]
        with create(folder / f"by-{size}.db") as writer:
            start = time.perf_counter()
            for first in range(0, count, size):
                writer.write(rows[first : first + size])
            rate = count / (time.perf_counter() - start)
        lines.append(
            f"| the store alone, transactions of {size} finished runs | {rate:.0f} runs/s |"
        )
    return lines


def of_workers() -> list[tuple[str, str]]:
    starts = []
    for _ in range(3):
        worker, start = Worker(), time.perf_counter()
        attempt(worker, NOTHING, HardLimits())
        starts.append(time.perf_counter() - start)
        held = psutil.Process(worker.pid).memory_info().rss
        worker.close()
    rows = [
        ("start of a worker, with its imports, least of 3", f"{min(starts):.2f} s"),
        ("resident memory of a worker that has done nothing", f"{held / 2**20:.0f} MiB"),
    ]
    for jobs in (1, 2):
        with local(jobs) as engine:
            through(engine, 40, 1)
            each = through(engine, _JOBS, 1)
        title = f"local, {jobs} worker{'s' * (jobs > 1)}: wall clock a job, {_JOBS:,} no-op jobs"
        rows.append((title, f"{1e3 * each:.2f} ms"))
    return rows


def of_dask(tasks: int) -> list[tuple[str, str]]:
    start = time.perf_counter()
    with engine_of("dask", 3) as engine:
        rows = [("start of a dask cluster of 3 workers", f"{time.perf_counter() - start:.1f} s")]
        through(engine, 400, engine.batch)
        for size in (1, engine.batch):
            each = through(engine, _JOBS, size)
            title = f"dask, 3 workers, {size} to a task: wall clock a job, {_JOBS:,} no-op jobs"
            rows.append((title, f"{1e3 * each:.2f} ms"))
        for count in sorted({min(10_000, tasks), tasks}):
            start = time.perf_counter()
            futures = engine.executor._client.map(abs, range(count), pure=False)  # type: ignore[attr-defined]
            submitted = time.perf_counter() - start
            engine.executor._client.gather(futures)  # type: ignore[attr-defined]
            rate = count / (time.perf_counter() - start)
            del futures
            title = f"dask, {count:,} no-op tasks at once: through the scheduler"
            rows.append((title, f"{rate:,.0f} tasks/s, submitted in {submitted:.1f} s"))
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


def arithmetic(each: float, rate: float, size: float, dask: list[tuple[str, str]]) -> list[str]:
    """Compute what 1000 cores and a million runs would ask of one driver."""
    single, batched, tasks = (float(said.split()[0].replace(",", "")) for _, said in dask)
    wanted = CORES / each
    least = CORES / rate
    scheduler = CORES / tasks
    return [
        f"| runs a second that {CORES} cores end, of {1e3 * each:.0f} ms each | {wanted:.0f} |",
        f"| of them that one driver takes | {rate:.0f}: {CORES} cores are busy from "
        f"{1e3 * least:.0f} ms a run on |",
        f"| tasks a second that the scheduler of dask takes | {tasks:.0f}: from "
        f"{1e3 * scheduler:.0f} ms a task on, which holds several short runs |",
        f"| a run on dask, alone in its task, in a full one | {single:.1f} ms, {batched:.2f} ms "
        f"of the driver: {CORES} cores are busy from {CORES * single / 1e3:.1f} s, "
        f"{CORES * batched / 1e3:.2f} s a run on |",
        f"| a store of {RUNS:.0e} such runs | {size * RUNS / 1e6:.0f} MB |",
        f"| {RUNS:.0e} runs of 10 s on {CORES} cores | {RUNS * 10 / CORES / 3600:.1f} h; the "
        f"driver takes {CORES / 10:.0f} runs a second, {100 * CORES / 10 / rate:.1f} % of its "
        "rate |",
    ]


def main() -> None:
    tasks = int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small, each = small_runs(folder)
        alone = store_alone(folder)
        million, rate, size = a_million(folder)
    slots, dask = of_workers(), of_dask(tasks)
    print(
        f"# Sweeps in numbers\n\nPrinted by `make scale-tables` on {os.cpu_count()} cores of "
        f"{platform.machine()}, Python\n{platform.python_version()}. What they mean stands in "
        "[past this machine](scale.md)."
    )
    measured = "| what | measured |"
    table("Runs, and what a sweep adds", measured, small)
    table("The store", measured, [*alone, *million])
    table("Engines", measured, [*slots, *dask])
    table(
        f"{CORES} cores and {RUNS:.0e} runs, by arithmetic\n\nEach line follows from those above.",
        "| what | computed |",
        arithmetic(each, rate, size, [dask[1], dask[2], dask[-1]]),
    )
    table(
        "Killed at random\n\nA sweep of some hundred runs and a climb, again and again, while "
        "SIGKILL hits a process of it.",
        "| engine | kills | sweeps ended | exports that differ | finished runs lost "
        "| other trouble |",
        (
            f"{found.row(engine)} {len(found.problems)} |"
            for engine in ("local", "dask")
            for found in [chaos(50, engine, 0, 8, 2.0)]
        ),
    )


if __name__ == "__main__":
    main()
