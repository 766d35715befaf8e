"""Predicted block sizes of the primal attack beside those that it took, for docs/estimate.md.

Each instance is attacked for two minutes with growing blocks, 10, 14, .., two tours each; the block
size in use when the secret came out is kept. The prediction is the least of the attack `usvp`.
"""

import os
import statistics
import sys

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hardness.cost.problem import problem
from hardness.cost.usvp import embedding
from hardness.oracles import Budget
from hardness.runs import attack
from instances import parse

SEEDS = 3
LARGEST = 50
SPECS = [
    "lwe:n=40,q=1601,alpha=0.005",
    "lwe:n=45,q=2027,alpha=0.004",
    "lwe:n=90,q=3329,sigma=3,secret=ternary",
    "lwe:n=90,q=1009,sigma=1",
    "lwe:n=45,q=2027,alpha=0.005",
    "lwe:n=40,q=1601,alpha=0.007",
]


def main() -> None:
    print("| instance | predicted | taken, each seed | found | seconds, median |")
    print("|---|---|---|---|---|")
    for spec in SPECS:
        family = parse(spec)
        predicted = embedding(problem(family)).block()
        print(spec, predicted, file=sys.stderr, flush=True)
        found = attack(f"primal:block={LARGEST}", family, seeds=SEEDS, budget=Budget(seconds=120))
        taken = sorted(run.details["block"] for run in found.runs if run.outcome.value == "solved")
        seconds = statistics.median(run.usage.seconds for run in found.runs)
        print(
            f"| `{spec}` | {predicted} | {', '.join(map(str, taken)) or '-'} | "
            f"{found.recovered}/{found.judged} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
