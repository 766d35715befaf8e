"""Tables of the staged learner, for docs/staged-tables.md: `make tables`.

Random layers, the same instances with other learners, dials, and what must be flagged. Seeds 0 to
7; the thresholds of the learner were chosen on seeds from 100.
"""

import os
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from statistics import median
from typing import Any

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances import parse

SEEDS = tuple(range(8))
SIZES = [
    ("nice:m=1,k=2,d=16", 4 * 16**2),
    ("nice:m=1,k=4,d=32", 4 * 32**2),
    ("nice:m=2,k=2,d=16", 20_000),
    ("nice:m=2,k=3,d=12", 60_000),
    ("nice:m=3,k=2,d=16", 200_000),
    ("nice:m=3,k=3,d=16", 300_000),
    ("nice:m=4,k=2,d=16", 200_000),
]
LEARNERS = ("staged", "levenberg", "student", "linear", "trivial")
BESIDE = ("nice:m=2,k=2,d=16", "nice:m=3,k=2,d=16", "nice:m=4,k=2,d=16")
DIALS = (
    "coherence=0.9",
    "coherence=0.99",
    "rank=1",
    "trace=0.9",
    "column=0.8",
    "ratio=10",
    "ratio=100",
    "wrank=1",
    "shared=0.9",
    "shared=1",
    "scale=0.5",
    "scale=8",
    "tokens=gaussian",
    "noise=0.1",
)
MUST_FLAG = [
    *((f"parity:d=16,m={m}", 20_000) for m in (2, 3, 4, 5)),
    ("nice:m=2,k=2,d=16,shared=1,signs=alternating", 20_000),
    ("nice:m=4,k=2,d=16,shared=1,signs=alternating", 80_000),
    ("nice:m=3,k=2,d=16,parity=0.9", 80_000),
    ("nice:m=3,k=2,d=16,parity=1", 20_000),
    ("nice:m=2,k=2,d=16", 300),
    ("nice:m=3,k=2,d=16", 2_000),
]
PAPER = ("nice:m=2,k=2,d=8", "nice:m=2,k=2,d=10", "nice:m=2,k=2,d=12")
Task = tuple[str, str, int, int]  # learner, spec, budget of examples, seed
Found = dict[Task, dict[str, Any]]


def fixed(spec: str, budget: int) -> str:
    return f"staged:examples={budget}"


def tasks() -> Iterator[Task]:
    for seed in SEEDS:
        for spec, budget in SIZES:
            yield fixed(spec, budget), spec, budget, seed
        for spec in BESIDE:
            for learner in LEARNERS:
                yield learner, spec, 1_000_000, seed
        for dial in DIALS:
            yield "staged", f"nice:m=2,k=2,d=16,{dial}", 80_000, seed
        for spec, budget in MUST_FLAG:
            yield "staged", spec, budget, seed
        for spec in PAPER:
            yield "staged:mode=paper", spec, 1_000_000, seed


def one(task: Task) -> tuple[Task, dict[str, Any]]:
    learner, spec, budget, seed = task
    limits = Budget(examples=budget, seconds=300)
    found = run(parse_learner(learner), parse(spec).instance(seed), limits, seed)
    return task, found.to_dict()


def of(found: Found, learner: str, spec: str, budget: int) -> list[dict[str, Any]]:
    return [found[learner, spec, budget, seed] for seed in SEEDS]


def before_polish(result: dict[str, Any]) -> float | None:
    errors = [e["error"] for e in result["details"]["errors"] if "polish" not in e["stage"]]
    return errors[-1] if errors else None


def flagged(result: dict[str, Any]) -> bool:
    return any(signal["flagged"] for signal in result["details"]["diagnosis"])


def size(values: list[float | None]) -> str:
    there = [v for v in values if v is not None]
    return f"{median(there):.1e}" if there else "–"


def risks(results: list[dict[str, Any]]) -> str:
    return f"{size([r['risk'] for r in results])} | {max(r['risk'] for r in results):.1e}"


def seconds(results: list[dict[str, Any]]) -> str:
    return f"{median(r['usage']['seconds'] for r in results):.1f}"


def examples(results: list[dict[str, Any]]) -> str:
    return f"{median(r['usage']['examples'] for r in results):.0f}"


def table(title: str, header: str, rows: Iterator[str]) -> None:
    print(f"\n## {title}\n\n{header}\n{'|---' * (header.count('|') - 1)}|")
    print("\n".join(rows))


def size_rows(found: Found) -> Iterator[str]:
    for spec, budget in SIZES:
        results, heads = of(found, fixed(spec, budget), spec, budget), parse(spec).layer_heads
        goal = 1e-15 if heads == 1 else 1e-20
        before = "–" if heads == 1 else size([before_polish(r) for r in results])
        yield (
            f"| `{spec}` | {examples(results)} | {before} | {risks(results)} "
            f"| {sum(r['risk'] <= goal for r in results)}/8 within {goal:.0e} "
            f"| {sum(r['details']['heads'] == heads for r in results)}/8 "
            f"| {sum(map(flagged, results))}/8 | {seconds(results)} "
            f"| {max(r['usage']['peak_bytes'] for r in results) / 2**30:.2f} GiB |"
        )


def beside_rows(found: Found) -> Iterator[str]:
    for spec in BESIDE:
        for learner in LEARNERS:
            results = of(found, learner, spec, 1_000_000)
            yield (
                f"| `{spec}` | `{learner}` | {examples(results)} | {risks(results)} "
                f"| {sum(r['risk'] <= 1e-20 for r in results)}/8 | {seconds(results)} |"
            )


def dial_rows(found: Found) -> Iterator[str]:
    for dial in DIALS:
        results = of(found, "staged", f"nice:m=2,k=2,d=16,{dial}", 80_000)
        yield (
            f"| `{dial}` | {examples(results)} | {size([before_polish(r) for r in results])} "
            f"| {risks(results)} | {sum(r['details']['heads'] == 2 for r in results)}/8 "
            f"| {sum(map(flagged, results))}/8 |"
        )


def flag_rows(found: Found) -> Iterator[str]:
    for spec, budget in MUST_FLAG:
        results = of(found, "staged", spec, budget)
        signals = [s for r in results for s in r["details"]["diagnosis"] if s["flagged"]]
        silent = sum(r["risk"] > 0.1 and not flagged(r) for r in results)
        yield (
            f"| `{spec}` | {budget} | {risks(results)} | {sum(map(flagged, results))}/8 | {silent} "
            f"| {', '.join(sorted({s['name'] for s in signals}))} |"
        )


def paper_rows(found: Found) -> Iterator[str]:
    for spec in PAPER:
        results = of(found, "staged:mode=paper", spec, 1_000_000)
        yield (
            f"| `{spec}` | {examples(results)} | {risks(results)} "
            f"| {sum(r['details']['heads'] == 2 for r in results)}/8 "
            f"| {sum(map(flagged, results))}/8 | {seconds(results)} |"
        )


def main() -> None:
    found: Found = {}
    todo = list(tasks())
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for i, (task, result) in enumerate(pool.map(one, todo, chunksize=1)):
            found[task] = result
            print(f"{i + 1}/{len(todo)} {task} {result['risk']:.1e}", file=sys.stderr)
    print(
        "# Tables of the staged learner\n\nPrinted by `make tables`: medians over the instances "
        "of seeds 0 to 7, one core a run.\nThe error is the relative squared error on fresh "
        f"examples, noise left out; before the polish on held-out ones.\n{platform.machine()}, "
        f"Python {platform.python_version()}, {os.cpu_count()} runs at a time."
    )
    table(
        "Random layers, examples given",
        "| layer | examples | before polish | error | worst | good | heads right | flagged "
        "| seconds | peak memory |",
        size_rows(found),
    )
    table(
        "Beside other learners, each with as many examples as it asks for",
        "| layer | learner | examples | error | worst | ≤ 1e-20 | seconds |",
        beside_rows(found),
    )
    table(
        "Dials at `nice:m=2,k=2,d=16`, at most 80000 examples",
        "| dial | examples | before polish | error | worst | heads right | flagged |",
        dial_rows(found),
    )
    table(
        "What must be flagged",
        "| instances | examples | error | worst | flagged | error > 0.1 and silent | signals |",
        flag_rows(found),
    )
    table(
        "The stages as the paper states them, `staged:mode=paper`",
        "| layer | examples | error | worst | heads right | flagged | seconds |",
        paper_rows(found),
    )


if __name__ == "__main__":
    main()
