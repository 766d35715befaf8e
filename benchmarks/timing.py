"""Timing of rows of docs/benchmarks.md, and printing of tables of the docs.

Modules imported after this one use one thread of BLAS, unless the environment sets another number.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def bests(*works: Callable[[], object], rounds: int = 5) -> list[float]:
    """Return the smallest seconds of each, timed in turns so that other load affects all alike."""
    times: list[list[float]] = [[] for _ in works]
    for turn in range(rounds + 1):
        for work, record in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            if turn:  # the first turn is a warm-up
                record.append(time.perf_counter() - start)
    return [min(record) for record in times]


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the smallest seconds of several rounds after a warm-up."""
    return bests(work, rounds=rounds)[0]


def table(title: str, header: str, rows: Iterable[str | Iterable[object]]) -> None:
    """Print a table in Markdown, row by row; a row is a text or a sequence of cells."""
    heading = f"## {title}\n\n" if title else ""
    print(f"\n{heading}{header}\n{'|---' * (header.count('|') - 1)}|")
    for row in rows:
        print(row if isinstance(row, str) else f"| {' | '.join(map(str, row))} |", flush=True)


def hardness(*arguments: object, cwd: Path | None = None) -> str:
    """Run a command of the toolkit and return its output."""
    command = [str(Path(sys.executable).with_name("hardness")), *map(str, arguments)]
    done = subprocess.run(command, cwd=cwd, check=True, text=True, stdout=subprocess.PIPE)
    return done.stdout
