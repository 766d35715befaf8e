"""How the rows of docs/benchmarks.md are timed."""

import time
from collections.abc import Callable


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the least seconds of several rounds, after one that warms."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
