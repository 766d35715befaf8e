"""What sweeps cost beyond their runs, and what would stop a larger one; prints docs/scale-tables.md.

Every number is measured in this run, or computed from such numbers as its row says. Nothing else
should run on the machine.
"""

import os
import time
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import json

from hardness.compare.engines import Engine
from hardness.compare.jobs.cells import cells
from hardness.compare.store import create, read
from hardness.compare.sweep import read_text, run_sweep
from hardness.compare.sweep.begin import begin
from hardness.compare.sweep.drive import drive

SMALL = """
format = "hardness-sweep/1"
name = "1000 small runs"
seeds = 250
certify = false
[[runs]]
spec = "parity:m=3"
over = { d = [16, 24] }
learners = ["elimination", "lowdegree"]
budget = { examples = 20_000 }
"""
MANY = """
format = "hardness-sweep/1"
name = "a million"
seeds = 250_000
certify = false
[[runs]]
spec = "parity:m=3"
over = { d = [16, 24] }
learners = ["elimination", "lowdegree"]
budget = { examples = 20_000 }
"""


def small_runs(folder: Path) -> tuple[list[str], float]:
    """Time the same 1000 runs in a loop here, on one worker and on two."""
    sweep = read_text(SMALL, "small")
    jobs = [cell.job(seed) for cell in cells(sweep.runs[0]) for seed in sweep.runs[0].seeds]
    jobs[0].do()  # imports
    start = time.perf_counter()
    for job in jobs:
        job.do()
    bare = time.perf_counter() - start
    times = {}
    for workers in (1, 2):
        store = folder / f"small-{workers}.db"
        start = time.perf_counter()
        run_sweep(sweep, store, jobs=workers)
        times[workers] = time.perf_counter() - start
    count = len(jobs)
    each = bare / count
    return [
        f"| {count} small runs in a loop, no sweep | {bare:.1f} s, {1e3 * each:.1f} ms a run |",
        f"| the same as a sweep, 1 worker | {times[1]:.1f} s |",
        f"| the same as a sweep, 2 workers | {times[2]:.1f} s |",
        f"| efficiency of 2 workers against 1 | {times[1] / (2 * times[2]):.2f} |",
        f"| overhead a run, 1 worker, its start with it | {1e3 * (times[1] - bare) / count:.2f} ms |",
    ], each


class Echo(Executor):
    """An executor that does nothing: it answers with a run that was done before."""

    def __init__(self, result: dict[str, Any]) -> None:
        """result: a run as JSON."""
        self._result = result

    def submit(self, work: Any, /, payloads: list[str], limits: Any) -> Future[Any]:  # type: ignore[override]
        """Answer at once."""
        future: Future[Any] = Future()
        out = []
        for payload in payloads:
            job = json.loads(payload)
            result = {**self._result, "spec": job["spec"], "learner": job["learner"]}
            out.append({"key": "", "result": {**result, "seed": job["seed"]}, "seconds": 0.001})
        future.set_result(out)
        return future


def a_million(folder: Path) -> list[str]:
    """Put a million runs that take no time through the driver into a store, and read it."""
    sweep = read_text(MANY, "many")
    job = next(iter(cells(sweep.runs[0]))).job(0)
    store = folder / "many.db"
    start = time.perf_counter()
    with create(store) as writer:
        engine = Engine(name="echo", executor=Echo(job.do()), slots=2, batch=1, abort=lambda: None)
        strands, tally, ledger = begin(sweep, writer, engine)
        planned = time.perf_counter() - start
        drive(strands, tally, ledger, engine, sweep.limits)
    whole = time.perf_counter() - start
    size = store.stat().st_size
    start = time.perf_counter()
    with read(store) as reader:
        reader.sweeps()
        counts = reader.counts()
    status = time.perf_counter() - start
    count = sum(n for found in counts.values() for n in found.values())
    return [
        f"| {count} runs through the driver into a store | {count / (whole - planned):.0f} runs/s |",
        f"| planning them: keys, and which are there | {planned:.1f} s |",
        f"| the store | {size / 1e6:.0f} MB, {size / count:.0f} bytes a run |",
        f"| `sweep status` of it, opened and read | {status:.2f} s |",
    ]


def store_alone(folder: Path) -> list[str]:
    """Write runs into a store in transactions of one, twenty and a thousand."""
    lines = []
    with create(folder / "warm.db") as writer:
        pass
    job = next(iter(cells(read_text(MANY, "many").runs[0]))).job(0)
    finished = Finished(key=job.key, result=job.do())
    for size, count in ((1, 2_000), (20, 40_000), (1000, 200_000)):
        rows = [
            replace(run_row(job, finished), key=f"{i:032x}", run=replace(RUN, seed=i))
            for i in range(count)
        ]
    return lines
