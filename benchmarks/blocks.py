"""Predicted block sizes of the primal attack beside those that it took, for docs/estimate.md.

Each instance is attacked for two minutes with growing blocks, 10, 14, .., two tours each; the block
size in use when the secret came out is kept. The prediction is the least of the attack `usvp`.
"""

import statistics
import sys
from collections.abc import Iterator

from timing import table

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


def rows() -> Iterator[str]:
    for spec in SPECS:
        family = parse(spec)
        predicted = embedding(problem(family)).block()
        print(spec, predicted, file=sys.stderr, flush=True)
        found = attack(f"primal:block={LARGEST}", family, seeds=SEEDS, budget=Budget(seconds=120))
        taken = sorted(run.details["block"] for run in found.runs if run.outcome.value == "solved")
        seconds = statistics.median(run.usage.seconds for run in found.runs)
        yield (
            f"| `{spec}` | {predicted} | {', '.join(map(str, taken)) or '-'} | "
            f"{found.recovered}/{found.judged} | {seconds:.0f} |"
        )


if __name__ == "__main__":
    table("", "| instance | predicted | taken, each seed | found | seconds, median |", rows())
