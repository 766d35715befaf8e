"""What the staged learner takes at large d, and how it keeps a budget: `make limit-tables`."""

import platform
import time
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Any

from timing import table

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances import parse

SIZES = [(2, 128), (1, 256), (1, 128), (2, 64), (1, 64), (2, 32), (1, 32)]  # the longest first
BUDGETS = [
    ("staged", "nice:m=2,k=2,d=64", 5),
    ("staged", "nice:m=2,k=2,d=64", 20),
    ("staged", "nice:m=2,k=2,d=128", 30),
    ("staged", "nice:m=1,k=2,d=256", 60),
    ("staged", "nice:m=2,k=10,d=12", 20),
    ("staged:heads=8", "nice:m=4,k=3,d=16", 20),
    ("staged:mode=paper", "nice:m=2,k=2,d=12", 5),
    ("staged:mode=paper", "nice:m=2,k=2,d=16", 20),
]


Measured = tuple[dict[str, Any], float]  # a run and its processor seconds


def measured(learner: str, spec: str, seconds: float | None) -> Measured:
    start = time.process_time()
    found = run(parse_learner(learner), parse(spec).instance(0), Budget(seconds=seconds), 0)
    return found.to_dict(), time.process_time() - start


def size_row(m: int, d: int, found: dict[str, Any], processor: float) -> str:
    usage = found["usage"]
    return (
        f"| {m} | {d} | {usage['examples']} | {found['risk']:.1e} | {processor:.0f} "
        f"| {usage['peak_bytes'] / 2**30:.1f} GiB |"
    )


def budget_row(learner: str, spec: str, seconds: float, found: dict[str, Any]) -> str:
    details = found["details"]
    last = details["stages"][-1]["name"] if details["stages"] else "-"
    error = f"{details['error']:.1e}" if details["error"] is not None else "-"
    return (
        f"| `{learner}` | `{spec}` | {seconds} | {found['usage']['seconds']:.1f} "
        f"| {found['outcome']} | {last} | {error} |"
    )


def main() -> None:
    with ProcessPoolExecutor(2) as pool:
        sizes: dict[tuple[int, int], Future[Measured]] = {
            (m, d): pool.submit(measured, "staged", f"nice:m={m},k=2,d={d}", None) for m, d in SIZES
        }
        budgets = [(one, pool.submit(measured, *one)) for one in BUDGETS]
        print(
            "# Limits of the staged learner\n\nPrinted by `make limit-tables`: seed 0, one core "
            f"a run, two at a time.\n{platform.machine()}, Python {platform.python_version()}."
        )
        table(
            "Large dimensions\n\nTwo tokens, no budget; the error is that on fresh examples.",
            "| heads | d | examples | error | processor seconds | peak memory |",
            (size_row(m, d, *sizes[m, d].result()) for m, d in sorted(SIZES)),
        )
        table(
            "Budgets of seconds\n\nSeconds of the clock; the error is that on held-out examples.",
            "| learner | layer | budget | used | outcome | last stage | error |",
            (budget_row(*one, future.result()[0]) for one, future in budgets),
        )


if __name__ == "__main__":
    main()
