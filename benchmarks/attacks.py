"""Tables of attacks, estimates and training, for docs/attack-tables.md: `make attack-tables`.

Every attack runs alone on one core, on the instances of seeds 0 to 4.
"""

import os
import platform
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from collections.abc import Iterator

from hardness import estimate
from hardness.oracles import Budget
from hardness.runs import attack, run
from hardness.upper import parse_learner
from instances import parse
from instances.catalog import CATALOG
from instances.limits import readable_bytes

SEEDS = 5
ATTACKS = [
    ("lwe:n=256,q=3329,error=none", "modlinear"),
    ("lwr:n=64,q=256,p=2,secret=binary,h=6", "bruteforce"),
    ("lwe:n=80,q=113,sigma=3,secret=binary,h=6", "bruteforce:samples=48"),
    ("lpn:n=64,h=5,noise=0.1", "bruteforce"),
    ("lpn:n=64,h=5,noise=0.1", "restricted"),
    ("lwr:n=40,q=1024,p=4,secret=binary,h=6", "mitm"),
    ("parity:d=100,m=4,noise=0.1", "restricted"),
    ("parity:d=200,m=8,noise=0.02", "restricted"),
    ("parity:d=1000,m=10,noise=0.005", "restricted"),
    ("lwe:n=40,q=1009,error=uniform,width=2", "arora-ge"),
    ("lpn:n=32,noise=0.1", "bkw"),
    ("lwe:n=30,q=521,sigma=1.5", "primal"),
    ("lwe:n=40,q=1601,alpha=0.005", "primal:block=30"),
]
PLAIN = "mlp:optimizer=sgd,rate=0.1,batch=32"
TRAINING = [
    ("lwr:n=8,q=8,p=2,secret=binary,h=4", PLAIN),
    ("lwr:n=16,q=16,p=2,secret=binary,h=4", PLAIN),
    ("lwr:n=16,q=16,p=2,secret=binary,h=4", "mlp"),
    ("lwr:n=16,q=16,p=2,secret=binary,h=6", "mlp"),
]
PRINTS = (
    "| instance | attack | found | seconds, median | worst | examples | peak memory |",
    "|---|---|---|---|---|---|---|",
)


def attacks() -> Iterator[str]:
    yield from PRINTS
    for spec, name in ATTACKS:
        family = parse(spec)
        attack(name, family, seeds=1, first_seed=100)  # compiles, and is not counted
        found = attack(name, family, seeds=SEEDS, budget=Budget(seconds=600))
        worst = max(r.usage.seconds for r in found.runs)
        seconds, examples = found.median("seconds"), found.median("examples")
        yield (
            f"| `{spec}` | `{name}` | {found.recovered}/{found.judged} | {seconds:.2f} | "
            f"{worst:.2f} | {examples:.0f} | {readable_bytes(found.peak_bytes)} |"
        )


def training() -> Iterator[str]:
    yield "| instance | learner | steps | examples | seconds | risk, seeds 0 to 4 | solved |"
    yield "|---|---|---|---|---|---|---|"
    for spec, name in TRAINING:
        runs = [
            run(parse_learner(name), parse(spec).instance(s), Budget(seconds=600), s)
            for s in range(SEEDS)
        ]
        risks = [r.risk.value if r.risk else float("nan") for r in runs]
        solved = sum(r.outcome.value == "solved" for r in runs)
        steps = max(r.details["steps"] for r in runs)
        seconds = max(r.usage.seconds for r in runs)
        shown = ", ".join(f"{v:.2g}" for v in sorted(risks))
        examples = max(r.usage.examples for r in runs)
        yield (
            f"| `{spec}` | `{name}` | {steps} | {examples} | {seconds:.0f} | {shown} | "
            f"{solved}/{SEEDS} |"
        )


def estimates() -> Iterator[str]:
    yield "| name | least | rop | usvp: β | d | core-SVP |"
    yield "|---|---|---|---|---|---|"
    for name, entry in CATALOG.items():
        if not entry.spec.startswith(("lwe:", "lwr:")):
            continue
        least = estimate(name).least
        primal = estimate(name, attack="usvp", model="rough")["usvp"]
        cells = [least and least.name, least and least.rop, primal.beta, primal.d, primal.rop]
        yield f"| `{name}` | " + " | ".join(shown_cell(v) for v in cells) + " |"


def shown_cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.1f}"
    return "-" if value is None else str(value)


def main() -> None:
    print("# Tables of attacks\n")
    print(
        f"Printed by `make attack-tables` on {platform.system()} {platform.machine()}, Python "
        f"{platform.python_version()}: seconds are of that machine, one core, and everything else "
        "depends on the seeds alone. [LWE-style instances](lwe.md) says what the columns are.\n"
    )
    for title, said, rows in (
        (
            "Attacks",
            f"Instances of seeds 0 to {SEEDS - 1}. *found* counts the runs that recovered the "
            "whole secret; seconds count the drawing of examples and the search.",
            attacks(),
        ),
        (
            "A network that is trained",
            "Two layers of width 100, 60000 steps at most. A risk of 1 is nothing learned, 0 all.",
            training(),
        ),
        (
            "What named instances cost",
            "`hardness estimate NAME`: the least of all formulas, in log2 of operations, and the "
            "core-SVP figure of the primal attack; a dash says that the model does not speak.",
            estimates(),
        ),
    ):
        print(f"## {title}\n\n{said}\n")
        for row in rows:
            print(row)
            print(row, file=sys.stderr)
        print()


if __name__ == "__main__":
    main()
