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
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from chaos import chaos
from engines import of_dask, of_workers
from timing import table

from hardness.sweep import read_text, run_sweep
from hardness.sweep.drive import Driver
from hardness.sweep.export import export
from hardness.sweep.jobs import Finished
from hardness.sweep.pool import Engine
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


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Do something once: its seconds, and what came of it."""
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
    each: Counter[tuple[str, str]] = Counter()
    for job in jobs:
        each[job.spec, job.learner] += timed(job.do)[0]
    bare, count = sum(each.values()), len(jobs)
    one, two = (
        timed(lambda n=n: run_sweep(sweep, folder / f"small-{n}.db", jobs=n))[0] for n in (1, 2)
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
        """done: a run as JSON."""
        self._done = done

    def submit(self, work: Any, /, payloads: list[str], limits: Any) -> Future[Any]:  # type: ignore[override]
        """Answer at once."""
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
        engine = Engine("echo", Echo(done), None, 64)
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
    """Write runs into a store in transactions of one, twenty and a thousand."""
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


def arithmetic(each: float, rate: float, size: float, dask: list[str]) -> list[str]:
    """Compute what 1000 cores and a million runs would ask of one driver."""
    single, batched, tasks = (float(row.split("|")[2].split()[0].replace(",", "")) for row in dask)
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


def kills(engine: str, count: int) -> str:
    """Kill processes of sweeps at random."""
    found = chaos(count, engine, 0, 8, 2.0)
    return f"{found.row(engine)} {len(found.problems)} |"


def main() -> None:
    """Print the page."""
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
        (kills(engine, 50) for engine in ("local", "dask")),
    )


if __name__ == "__main__":
    main()
