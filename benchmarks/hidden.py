"""The risk that stays on the family `hidden`: the table of docs/families/beyond.md.

Printed from the numbers of the figure hidden-share, docs/data/hidden-share.json, beside a control:
the random heads alone.
"""

import os
from collections.abc import Iterator
from pathlib import Path

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances import parse
from instances.strict import read_json

DATA = Path(__file__).parent.parent / "docs/data/hidden-share.json"
CONTROL = "nice:m=4,k=2,d=16"


def rows() -> Iterator[str]:
    found = read_json(DATA)
    learners = found["learners"]
    names = " | ".join(f"`{name}`" for name in learners)
    yield f"| `{found['parameter']}` | hidden share | {names} |"
    yield "| --- " * (2 + len(learners)) + "|"
    for cells in zip(*learners.values(), strict=True):
        one = cells[0]
        risks = [f"{c['risk']:.3f} in {c['low']:.3f} .. {c['high']:.3f}" for c in cells]
        yield f"| {one['value']} | {one['share']:.3f} | {' | '.join(risks)} |"
    control = run(parse_learner("levenberg"), parse(CONTROL).instance(0), Budget())
    if control.risk:
        said = f"{control.outcome.value}, risk {control.risk.value:.0e}"
        yield f"\nControl: `levenberg` on `{CONTROL}`: {said}, {control.usage.examples} examples"


if __name__ == "__main__":
    print("\n".join(rows()))
