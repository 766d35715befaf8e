"""How rows of docs/benchmarks.md are timed, and tables of the docs printed."""

import time
from collections.abc import Callable, Iterable


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the least seconds of several rounds, after one that warms."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def table(title: str, header: str, rows: Iterable[object]) -> None:
    """Print a table in Markdown, each row as soon as it is known: a text, or its cells."""
    print(f"\n## {title}\n\n{header}\n{'|---' * (header.count('|') - 1)}|")
    for row in rows:
        print(row if isinstance(row, str) else f"| {' | '.join(map(str, row))} |", flush=True)
