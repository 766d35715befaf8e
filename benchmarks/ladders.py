"""Learners of others on the ladder parity-v1, for docs/ladder-tables.md: `make ladder-tables`.

Runs `hardness stress` on the examples of docs/examples, of scikit-learn and torch, with a fixed
seed, so that the table is printed the same again.
"""

import os
import platform
import time
from pathlib import Path
from typing import Any

from timing import hardness, table

from hardness.runs.stress import LadderAttempt, Stress, Trials
from instances.ladders import ladder

ROOT = Path(__file__).parent.parent
SEED = 2026
LEARNERS = (
    "nearest.py:nearest",
    "sklearn_learners.py:LogisticRegression",
    "sklearn_learners.py:SVC",
    "sklearn_learners.py:HistGradientBoosting",
    "sklearn_learners.py:MLPRegressor",
    "torch_mlp.py:Mlp",
)

INTRODUCTION = f"""\
# Learners on the ladder parity-v1

Printed by `make ladder-tables`: what `hardness stress --ladder parity-v1` finds of the learners in
`docs/examples/` and of built-in ones, with `--seed {SEED}` and the ladder's own budgets.
[What it means to pass a level](ladders.md). The ladder has {{levels}} levels.

*Passes*: the highest level up to which the learner, with confidence 31/32 for each learner alone,
solves more than half of the instances of every level. *Solved once*: the highest level on
which any of five seeds was solved. Costs are medians of the solved runs on the level passed.
"""
END = """\
The seconds of a level (60) are wall time on this machine. If *seconds spent* is printed,
a faster machine may pass more levels. Otherwise learners ended by themselves, or without
examples. Seconds are the time of learning; predicting is measured separately.
"""


def row(attempt: LadderAttempt) -> str:
    held, touched = attempt.held, attempt.touched
    name = attempt.name.removeprefix("docs/examples/")
    top: Trials | None = attempt.levels[held - 1] if held else None
    shown = "-" if top is None else f"{_cost(top.cost('examples'))} | {_cost(top.cost('seconds'))}"
    spec = ladder("parity-v1").levels[held - 1].spec if held else "none"
    above = attempt.levels[held] if len(attempt.levels) > held else None
    ends = "the ladder's end" if above is None else _ends(above)
    return f"| `{name}` | {held} | `{spec}` | {shown} | {touched} | {ends} |"


def _ends(above: Trials) -> str:
    said = ", ".join(f"{n} {what}" for what, n in above.failures.items())
    return f"{above.passes}/{len(above.trials)} passed; {said}"


def _cost(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def libraries(attempts: tuple[LadderAttempt, ...]) -> str:
    found: dict[str, Any] = {}
    for run in (run for attempt in attempts for trials in attempt.levels for run in trials.trials):
        found |= run.details.get("reported", {}).get("libraries", {})
    return ", ".join(f"{name} {version}" for name, version in sorted(found.items()))


def main() -> None:
    started = time.monotonic()
    out = ROOT / "out/ladder.json"
    call = [*f"stress --ladder parity-v1 --seed {SEED} --force --quiet --out".split(), str(out)]
    named = [f"--learner=docs/examples/{name}" for name in LEARNERS]
    hardness(*call, *named, cwd=ROOT)
    found = Stress.load(out)
    print(INTRODUCTION.format(levels=len(found.ladder.levels)), end="")
    header = "| learner | passes | spec | examples | seconds | solved once | on the next level |"
    for reference, title in ((False, "Learners of others"), (True, "Built-in learners")):
        table(title, header, (row(one) for one in found.attempts if one.reference is reference))
    print(f"\n{END}")
    print(f"{platform.machine()}, Python {platform.python_version()}, {libraries(found.attempts)};")
    print(f"{os.cpu_count()} processes; {(time.monotonic() - started) / 60:.0f} minutes in all.")


if __name__ == "__main__":
    main()
