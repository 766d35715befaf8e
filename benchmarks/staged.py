"""Tables of the staged learner, for docs/staged-tables.md: `make tables`.

Random layers, the same instances with other learners, dials, and what must be flagged. Seeds 0 to
7; the thresholds of the learner were chosen on seeds from 100. With `limits`, for
docs/staged-limits.md: what it takes at large d, and how it keeps a budget: `make limit-tables`.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

from timing import table

from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import parse

SEEDS = 8
MOST_EXAMPLES = 1_000_000
TWO_HEADS = "nice:m=2,k=2,d=16"
SIZES = {
    "nice:m=1,k=2,d=16": 4 * 16**2,
    "nice:m=1,k=4,d=32": 4 * 32**2,
    TWO_HEADS: 20_000,
    "nice:m=2,k=3,d=12": 60_000,
    "nice:m=3,k=2,d=16": 200_000,
    "nice:m=3,k=3,d=16": 300_000,
    "nice:m=4,k=2,d=16": 200_000,
}
LEARNERS = ("staged", "levenberg", "student", "linear", "trivial")
COMPARED_SPECS = (TWO_HEADS, "nice:m=3,k=2,d=16", "nice:m=4,k=2,d=16")
SETTINGS = "coherence=0.9 coherence=0.99 rank=1 trace=0.9 column=0.8 ratio=10 ratio=100 "
SETTINGS += "shared=0.9 shared=1 scale=0.5 scale=8 tokens=gaussian noise=0.1"
MUST_FLAG = {
    **{f"parity:d=16,m={m}": 20_000 for m in (2, 3, 4, 5)},
    "nice:m=3,k=2,d=16,parity=0.9": 80_000,
    "nice:m=3,k=2,d=16,parity=1": 20_000,
    TWO_HEADS: 300,
    "nice:m=3,k=2,d=16": 2_000,
}
PAGE = """\
# Tables of the staged learner

How well does [`staged`](staged.md) learn, and from how many examples? Printed by `make tables`:
medians over the instances of seeds 0 to 7, one core a run. *error* is the relative squared error on
fresh examples without noise, *before polish* the error on held-out examples.
"""
SIZE = "nice:m={},k=2,d={}"
# The slowest first.
LARGE_LAYERS = [(2, 128), (1, 256), (1, 128), (2, 64), (1, 64), (2, 32), (1, 32)]
BUDGETS = [
    *(("staged", "nice:m=2,k=2,d=64", seconds) for seconds in (5, 20)),
    ("staged", "nice:m=2,k=2,d=128", 30),
    ("staged", "nice:m=1,k=2,d=256", 60),
    ("staged", "nice:m=2,k=10,d=12", 20),
    ("staged:heads=8", "nice:m=4,k=3,d=16", 20),
    ("staged:mode=paper", "nice:m=2,k=2,d=12", 5),
    ("staged:mode=paper", "nice:m=2,k=2,d=16", 20),
]
Task = tuple[str, str, int]  # learner, spec, budget of examples
Result = dict[str, Any]  # a run


def _size(values: list[float]) -> str:
    return f"{median(values):.1e}" if values else "–"


def _heads(results: list[Result]) -> int:
    return parse(results[0]["spec"]).layer_heads


def _before_polish(results: list[Result]) -> str:
    errors = [[e for e in r["details"]["errors"] if "polish" not in e["stage"]] for r in results]
    return "–" if _heads(results) == 1 else _size([e[-1]["error"] for e in errors if e])


def _flags(result: Result) -> list[str]:
    return [signal["name"] for signal in result["details"]["diagnosis"] if signal["flagged"]]


def _good(results: list[Result], goal: float = 0.0) -> str:
    limit = goal or (1e-15 if _heads(results) == 1 else 1e-20)
    count = f"{sum(r['risk'] <= limit for r in results)}/8"
    return count if goal else f"{count} within {limit:.0e}"


COLUMNS: dict[str, Callable[[list[Result]], object]] = {
    "examples": lambda runs: f"{median(r['examples'] for r in runs):.0f}",
    "before polish": _before_polish,
    "error": lambda runs: _size([r["risk"] for r in runs]),
    "worst": lambda runs: f"{max(r['risk'] for r in runs):.1e}",
    "good": _good,
    "≤ 1e-20": lambda runs: _good(runs, 1e-20),
    "heads right": lambda runs: f"{sum(r['details']['heads'] == _heads(runs) for r in runs)}/8",
    "flagged": lambda runs: f"{sum(map(bool, map(_flags, runs)))}/8",
    "error > 0.1 and silent": lambda runs: sum(r["risk"] > 0.1 and not _flags(r) for r in runs),
    "signals": lambda runs: ", ".join(sorted({name for r in runs for name in _flags(r)})),
    "seconds": lambda runs: f"{median(r['seconds'] for r in runs):.1f}",
    "peak memory": lambda runs: f"{max(r['memory'] for r in runs) / 2**30:.2f} GiB",
}
# Title, header, and rows: their names, and the runs that they show.
TABLES: list[tuple[str, str, dict[str, Task]]] = [
    (
        "Random layers, examples given",
        "layer | examples | before polish | error | worst | good | heads right | flagged "
        "| seconds | peak memory",
        {f"`{spec}`": (f"staged:examples={n}", spec, n) for spec, n in SIZES.items()},
    ),
    (
        "Compared with other learners, each with as many examples as it asks for",
        "layer | learner | examples | error | worst | ≤ 1e-20 | seconds",
        {
            f"`{spec}` | `{name}`": (name, spec, MOST_EXAMPLES)
            for spec in COMPARED_SPECS
            for name in LEARNERS
        },
    ),
    (
        f"Dials at `{TWO_HEADS}`, at most 80000 examples",
        "dial | examples | before polish | error | worst | heads right | flagged",
        {f"`{dial}`": ("staged", f"{TWO_HEADS},{dial}", 80_000) for dial in SETTINGS.split()},
    ),
    (
        "What must be flagged",
        "instances | examples | error | worst | flagged | error > 0.1 and silent | signals",
        {f"`{spec}` | {n}": ("staged", spec, n) for spec, n in MUST_FLAG.items()},
    ),
    (
        "The stages as the paper states them, `staged:mode=paper`",
        "layer | examples | error | worst | heads right | flagged | seconds",
        {
            f"`{s}`": ("staged:mode=paper", s, MOST_EXAMPLES)
            for s in (SIZE.format(2, d) for d in (8, 10, 12))
        },
    ),
]


def seeded(task: Task, seed: int) -> Result:
    learner, spec, budget = task
    limits = Budget(examples=budget, seconds=300)
    return run(parse_learner(learner), parse(spec).instance(seed), limits, seed).to_dict()


def timed(learner: str, spec: str, seconds: float | None) -> tuple[Result, float]:
    """Run once; return the result and the processor seconds."""
    start = time.process_time()
    made = run(parse_learner(learner), parse(spec).instance(0), Budget(seconds=seconds), 0)
    return made.to_dict(), time.process_time() - start


def size_row(m: int, d: int, made: Result, processor: float) -> Iterable[object]:
    yield from (m, d, made["examples"], f"{made['risk']:.1e}", f"{processor:.0f}")
    yield f"{made['memory'] / 2**30:.1f} GiB"


def budget_row(learner: str, spec: str, seconds: float, made: Result) -> Iterable[object]:
    details = made["details"]
    yield from (f"`{learner}`", f"`{spec}`", seconds, f"{made['seconds']:.1f}")
    yield from (made["outcome"], details["stages"][-1]["name"] if details["stages"] else "-")
    yield f"{details['error']:.1e}" if details["error"] is not None else "-"


def limits() -> None:
    with ProcessPoolExecutor(2) as pool:
        sizes = {at: pool.submit(timed, "staged", SIZE.format(*at), None) for at in LARGE_LAYERS}
        budgets = [(task, pool.submit(timed, *task)) for task in BUDGETS]
        print(
            "# Limits of the staged learner\n\nPrinted by `make limit-tables`: seed 0, one core "
            f"a run, two at a time.\n{platform.machine()}, Python {platform.python_version()}."
        )
        table(
            "Large dimensions\n\nTwo tokens, no budget; *error* is measured on fresh examples.",
            "| heads | d | examples | error | processor seconds | peak memory |",
            (size_row(*at, *sizes[at].result()) for at in sorted(LARGE_LAYERS)),
        )
        table(
            "Budgets of seconds\n\nSeconds of wall time; *error* is measured on held-out examples.",
            "| learner | layer | budget | used | outcome | last stage | error |",
            (budget_row(*task, future.result()[0]) for task, future in budgets),
        )


def main() -> None:
    tasks = [task for _, _, rows in TABLES for task in rows.values() for _ in range(SEEDS)]
    with ProcessPoolExecutor() as pool:
        results = pool.map(seeded, tasks, [*range(SEEDS)] * (len(tasks) // SEEDS))
        print(f"{PAGE}{platform.machine()}, ", end="")
        print(f"Python {platform.python_version()}, {os.cpu_count()} runs at a time.")
        for title, header, rows in TABLES:
            names = header.split(" | ")
            cells = []
            for label in rows:
                runs = [next(results) for _ in range(SEEDS)]
                left = names[label.count(" | ") + 1 :]
                cells.append((label, *(COLUMNS[name](runs) for name in left)))
            table(title, f"| {header} |", cells)


if __name__ == "__main__":
    limits() if sys.argv[1:] == ["limits"] else main()
