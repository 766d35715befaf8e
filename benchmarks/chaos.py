"""Kill drivers, workers and nannies of sweeps at random, and look at what becomes of the runs.

`python benchmarks/chaos.py --kills 50` does a sweep on an engine, once undisturbed and then again
and again while SIGKILL hits a process of it at random moments, until there were so many kills. It
checks after every kill that the store opens and has lost nothing that it held, and at the end of
every sweep that its export is, byte for byte, the one of the sweep that was left alone. Exits with
1 where that does not hold. Linux only: it finds processes by /proc.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

SWEEP = """
format = "hardness-sweep/1"
name = "chaos"
seeds = {seeds}
certify = true
[limits]
retries = 100
[[runs]]
spec = "parity:m=2"
over = {{ d = "10..18..4" }}
learners = ["elimination", "lowdegree", "queries", "student:steps=300"]
budget = {{ examples = [500, 4000] }}
[[climbs]]
rungs = ["parity:d=8,m=2", "parity:d=10,m=3"]
learners = ["lowdegree", "elimination"]
seeds = 5
seed = 7
budget = {{ examples = 5000 }}
"""
COMMAND = [sys.executable, "-m", "cli"]
# Who reaches a port of the cluster can run code here.
HERE = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
WORKER = "hardness-worker"  # how worker processes call themselves
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}


@dataclass
class Record:
    kills: Counter[str] = field(default_factory=Counter)
    finished: int = 0  # sweeps
    different: int = 0
    lost: int = 0  # rows
    twice: int = 0  # rows that were there and were written again
    problems: list[str] = field(default_factory=list)

    def row(self, engine: str) -> str:
        """Begin a row of a table."""
        kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(self.kills.items()))
        killed = f"{sum(self.kills.values())}: {kinds}"
        return f"| {engine} | {killed} | {self.finished} | {self.different} | {self.lost} |"

    def look(self, before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
        """Count rows that were there before and are not, or are others; returns those of now."""
        self.lost += len(before.keys() - now)
        self.twice += sum(now[key] != row for key, row in before.items() if key in now)
        return now


def hardness(*arguments: object) -> None:
    """Run a command of the toolkit to its end; raises ValueError where it fails."""
    command = [*COMMAND, *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, text=True, capture_output=True)
    if done.returncode:
        raise ValueError(done.stderr)


def tree(root: int) -> dict[int, str]:
    named = {}
    with suppress(psutil.NoSuchProcess):
        for process in psutil.Process(root).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                named[process.pid] = " ".join([process.name(), *process.cmdline()])
    return named


class Cluster:
    """A scheduler of dask and workers with nannies, each a process of the system."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.count = folder, workers
        file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", *HERE, "--port", "0", "--scheduler-file", file)
        self.address = ""
        while not self.address:  # the file is written in parts
            time.sleep(0.1)
            with suppress(FileNotFoundError, json.JSONDecodeError):
                self.address = json.loads(file.read_text())["address"]
        self.nannies: list[subprocess.Popen[bytes]] = []
        self.mend()

    def _start(self, *arguments: object) -> subprocess.Popen[bytes]:
        quiet = subprocess.DEVNULL
        command = [sys.executable, "-m", "distributed.cli.dask_" + str(arguments[0])]
        return subprocess.Popen(
            [*command, *map(str, arguments[1:])], env=ENVIRONMENT, stdout=quiet, stderr=quiet
        )

    def mend(self) -> None:
        self.nannies = [nanny for nanny in self.nannies if nanny.poll() is None]
        how = (*HERE, "--nthreads", "1", "--local-directory", self.folder)
        while len(self.nannies) < self.count:
            self.nannies.append(self._start("worker", self.address, *how))

    def close(self) -> None:
        for process in [*self.nannies, self.scheduler]:
            for pid in [*tree(process.pid), process.pid]:
                end(pid)
            process.wait()


def end(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def workers(driver: int, cluster: Cluster | None) -> dict[int, str]:
    """Find what is below the driver, or the nannies, with the command lines."""
    roots = [nanny.pid for nanny in cluster.nannies] if cluster else [driver]
    return {pid: line for root in roots for pid, line in tree(root).items()}


def await_workers(driver: subprocess.Popen[str], cluster: Cluster | None) -> None:
    """Wait until jobs are being done, at most twenty seconds."""
    for _ in range(200):
        below = workers(driver.pid, cluster)
        if driver.poll() is not None or any(WORKER in line for line in below.values()):
            return
        time.sleep(0.1)


def victim(rng: random.Random, driver: int, cluster: Cluster | None) -> tuple[str, int] | None:
    """Choose a kind of process at random, then one of them."""
    kinds: dict[str, list[int]] = {"driver": [driver]}
    if cluster:
        kinds["nanny"] = [nanny.pid for nanny in cluster.nannies]
    below = workers(driver, cluster)
    kinds["worker"] = [pid for pid, line in below.items() if WORKER in line]
    if cluster:
        spawned = [pid for pid, line in below.items() if "spawn_main" in line]
        kinds["dask worker"] = [pid for pid in spawned if pid not in kinds["worker"]]
    there = {kind: pids for kind, pids in kinds.items() if pids}
    kind = rng.choice(sorted(there))
    return kind, rng.choice(sorted(there[kind]))


def held(store: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=20)) as base:
        base.row_factory = sqlite3.Row
        return {row["key"]: tuple(row) for row in base.execute("SELECT * FROM runs")}


def exported(store: Path) -> bytes:
    to = store.with_suffix(".csv")
    hardness("store", "export", store, "--comparable", "--out", to, "--force")
    return to.read_bytes()


def disturbed(
    file: Path, store: Path, engine: list[str], cluster: Cluster | None, wanted: int,
    rng: random.Random, record: Record, whole: bytes, pause: float,
) -> None:  # fmt: skip
    """Do a sweep while it is being killed, until it ends."""
    before: dict[str, Any] = {}
    while True:
        driver = subprocess.Popen(
            [*COMMAND, "sweep", "run", str(file), "--store", str(store), "--resume", *engine],
            env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        alive = True
        if rng.random() < 0.8:  # else it may be hit while it begins
            await_workers(driver, cluster)
        while alive and sum(record.kills.values()) < wanted:
            try:
                driver.wait(rng.uniform(0.2, pause))
                break
            except subprocess.TimeoutExpired:
                pass
            found = victim(rng, driver.pid, cluster)
            if found and end(found[1]):
                record.kills[found[0]] += 1
                alive = found[0] != "driver"
            if cluster:
                cluster.mend()
            if store.exists():
                before = record.look(before, held(store))
        said = driver.communicate()[1]
        if alive and driver.returncode == 0:
            break
        if alive:
            record.problems.append(f"exit {driver.returncode}: {said[-300:]}")
            if len(record.problems) > 20:
                return
    record.look(before, held(store))
    record.finished += 1
    record.different += exported(store) != whole


def chaos(kills: int, engine: str, seed: int, seeds: int, pause: float) -> Record:
    """Kill until it is enough; every sweep that was begun is also ended."""
    rng, record = random.Random(seed), Record()
    with tempfile.TemporaryDirectory(prefix="hardness-chaos-") as name:
        folder = Path(name)
        file = folder / "chaos.toml"
        file.write_text(SWEEP.format(seeds=seeds))
        hardness("sweep", "run", file, "--store", folder / "alone.db", "--jobs", 2)
        whole = exported(folder / "alone.db")
        cluster = Cluster(folder, 3) if engine == "dask" else None
        where = ["--engine", f"dask:{cluster.address}"] if cluster else ["--jobs", "2"]
        try:
            while sum(record.kills.values()) < kills and not record.problems:
                store = folder / f"{record.finished}.db"
                disturbed(file, store, where, cluster, kills, rng, record, whole, pause)
        finally:
            if cluster:
                cluster.close()
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--engine", choices=["local", "dask"], default="local")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seeds", type=int, default=12, help="of every cell of the sweep")
    parser.add_argument("--pause", type=float, default=2.0, help="longest, between kills")
    given = parser.parse_args()
    found = chaos(**vars(given))
    print("| engine | kills | sweeps ended | exports that differ | runs lost | done twice |")
    print("|---|---|---|---|---|---|")
    print(f"{found.row(given.engine)} {found.twice} |")
    for problem in found.problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if found.different or found.lost or found.twice or found.problems else 0)


if __name__ == "__main__":
    main()
