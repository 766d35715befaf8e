"""A sampled Gram matrix in blocks: a sweep that is killed half-way and resumed by block.

Run on its own, `gram_blocks.py MEMBERS SAMPLES` prints the rows. Peaks are those of the system
(VmHWM), looked at while it runs, so it runs on Linux only.
"""

import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np
from chaos import COMMAND, ENVIRONMENT, WORKER, end, tree

from hardness.kernels import onebit
from hardness.kernels.planes import planes, where_counts
from hardness.lower.verify import fresh
from hardness.sweep.gram import gram_cut
from hardness.sweep.store import read

SPEC = "parity:d=64,m=8"
WORKERS = 2
SWEEP = """
format = "hardness-sweep/1"
name = "a sampled Gram matrix"
[[grams]]
spec = "{spec}"
members = {members}
samples = {samples}
confidence = 0.99
"""
_LOOK = 0.25  # seconds
_CHUNK = 1 << 17  # tokens


def rows(members: int, samples: int) -> list[str]:
    """Measure it all: time, memory, what was done twice, and what the matrix says."""
    parts = gram_cut(SPEC, members, samples).parts
    with tempfile.TemporaryDirectory() as name:
        file, store = Path(name) / "gram.toml", Path(name) / "gram.db"
        file.write_text(SWEEP.format(spec=SPEC, members=members, samples=samples))
        first, worker, driver = watched(file, store, parts // 2)
        kept = len(indices(store))
        size = store.stat().st_size / 1e6
        second, *peaks = watched(file, store, parts + 1)
        with read(store) as found:
            (whole,) = found.artifacts()
    worker, driver = max(worker, peaks[0]), max(driver, peaks[1])
    said = whole.content
    stages = shares(members)
    total = sum(stages.values())
    return [
        f"| sampled Gram matrix, {members} members, {samples:.0e} samples, {parts} blocks, "
        f"{WORKERS} workers | {first + second:.0f} s: {first:.0f} s until the driver was killed "
        f"(SIGKILL) with {kept} blocks kept ({size:.0f} MB), {second:.0f} s for the others |",
        f"| its memory, at most | {worker:.0f} MB a worker, {driver:.0f} MB the driver, which puts "
        "it together |",
        f"| what it says | largest deviation {said['largest_deviation']:.2e}, radius "
        f"{said['radius']:.2e} at confidence {said['confidence']}, {said['samples_used']} samples "
        f"used, {said['disagreements']} of {said['pairs']} correlations disagree |",
        f"| a block of its first strip | {100 * stages['kernel'] / total:.0f} % in the one-bit "
        f"kernel, {rate(members, stages):.0f} Gop/s; "
        + ", ".join(f"{name} {100 * s / total:.1f} %" for name, s in stages.items())
        + " |",
    ]


def watched(file: Path, store: Path, wanted: int) -> tuple[float, float, float]:
    """Go on with a sweep, and kill its driver when so many parts are kept.

    Returns seconds, and the peaks in MB of a worker and of the driver.
    """
    start, peaks = time.monotonic(), [0.0, 0.0]
    command = [*COMMAND, "sweep", "run", str(file), "--store", str(store), "--resume"]
    process = subprocess.Popen(
        [*command, "--jobs", str(WORKERS)], env=ENVIRONMENT, stdout=subprocess.DEVNULL
    )
    while process.poll() is None:
        time.sleep(_LOOK)
        below = [pid for pid, line in tree(process.pid).items() if WORKER in line]
        peaks[0] = max(peaks[0], *map(megabytes, below), 0.0)
        peaks[1] = max(peaks[1], megabytes(process.pid))
        if store.exists() and len(indices(store)) >= wanted:
            end(process.pid)
    process.wait()
    return time.monotonic() - start, *peaks


def indices(store: Path) -> set[int]:
    """Say which parts a store holds; the sweep may be writing it."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=20) as base:
        return {number for (number,) in base.execute("SELECT number FROM parts")}


def megabytes(pid: int) -> float:
    """The peak resident memory of a process; 0 for one that is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(v.split()[1]) * 1024 / 1e6 for v in lines if v.startswith("VmHWM")), default=0)


def shares(members: int) -> dict[str, float]:
    """Time the stages of a block, on one chunk of its tokens: the least CPU seconds by name."""
    cut = gram_cut(SPEC, members, 1 << 24)
    family, chosen = cut.grams.family, cut.chosen
    draw, low = fresh(family, 0), np.array([v < 0 for v in family.values])
    out = np.zeros((min(cut.rows, members), members), np.int64)
    places = np.array(chosen)
    seconds = dict.fromkeys(("tokens", "planes", "members' bits", "kernel"), np.inf)
    for turn in range(6):
        times = [time.thread_time()]
        words = draw(0, _CHUNK)
        z = (words[:, 0] ^ words[:, 1])[family.open(words)]
        times.append(time.thread_time())
        table = planes(z, family.d)
        times.append(time.thread_time())
        bits = where_counts(table, places, low)
        if len(z) % 64:
            bits[:, -1] &= np.uint64((1 << len(z) % 64) - 1)
        times.append(time.thread_time())
        onebit.add_distances(bits, len(z), out)
        times.append(time.thread_time())
        if turn:  # the first warms
            for name, taken in zip(seconds, np.diff(times), strict=True):
                seconds[name] = min(seconds[name], float(taken))
    return seconds


def rate(members: int, stages: dict[str, float]) -> float:
    """Count the products of the first strip in 1e9 a second of its kernel."""
    cut = gram_cut(SPEC, members, 1 << 24)
    strip = min(cut.rows, members)
    pairs = strip * members - strip * (strip - 1) / 2
    return pairs * _CHUNK / 2 / stages["kernel"] / 1e9


if __name__ == "__main__":
    print("\n".join(rows(int(sys.argv[1]), int(float(sys.argv[2])))))
