"""The table of the README: `make results` runs docs/examples/results.toml and prints it.

No budget of the file holds seconds and no time is printed, so that the table is the same again.
"""

import tempfile
import tomllib
from itertools import groupby
from pathlib import Path
from statistics import median

from timing import hardness, table  # isort: skip

from hardness.bounds import BoundParameters, Certificate
from hardness.report.text import bound, shown_risk
from hardness.runs.certified import Certifier
from hardness.runs.registry import view_of
from hardness.runs.results import Runs, read_runs
from hardness.runs.run import Run
from instances.spec import parse_stored

ROOT = Path(__file__).parent.parent
FILE = ROOT / "docs/examples/results.toml"
INTRODUCTION = """# Both sides in one table

Who solves what, next to the certified bounds? Printed by `make results`: the runs of
[docs/examples/results.toml](examples/results.toml), five instances of each problem.

- *certified queries*: with fewer queries, no statistical-query learner reaches relative risk 1/4
  with probability 2/3, in the worst case over answers within 1/10; "none": no bound is claimed.
- *sees*: [the input of the learner](learners.md#what-a-learner-sees).
- *solved*: runs whose whole 95 % interval of the risk lies below 0.05.
- *risk*, *examples*, *queries*: medians. Risk 1 means that nothing was learned, 0 everything. If a
  learner asks queries, examples are what the oracle drew to answer them, 2902 for each.

`mlp` is a ReLU network with one hidden layer, `student` an attention layer; Adam trains both. On
`parity:d=24,m=3`, `mlp` from the tokens has 512 hidden units and makes up to 15,000 steps on
200,000 examples; from z it has 100 hidden units and uses each example once.
"""
HEAD = ("problem", "certified queries", "learner", "sees", "solved", "risk", "examples", "queries")


def rows(kept: Runs, asked: dict[str, str]) -> list[tuple[str, ...]]:
    made = {spec: Certifier().one(spec, BoundParameters()) for spec in asked}
    certified = {spec: _bound(one) for spec, one in made.items() if isinstance(one, Certificate)}
    found = [(run.spec, run.learner, run) for run in kept.runs]
    cells = {
        key: [run for _, _, run in group] for key, group in groupby(found, lambda each: each[:2])
    }
    order = sorted(cells, key=lambda key: list(asked).index(key[0]))
    return [
        (f"`{asked[spec]}`", certified.get(spec, "none"), *_cell(learner, cells[spec, learner]))
        for spec, learner in order
    ]


def _bound(certificate: Certificate) -> str:
    if all(claim.quantity != "stat-queries" for claim in certificate.claims):
        return "no number"
    found = bound("stat-queries", certificate.integer("stat-queries"))
    return f"{int(found):,}" if found.isdecimal() else found


def _cell(name: str, runs: list[Run]) -> tuple[str, ...]:
    solved = sum(run.outcome.value == "solved" for run in runs)
    ends = sorted({run.outcome.value for run in runs} - {"solved"})
    risks = [run.risk for run in runs if run.risk is not None]
    queries = median(run.queries for run in runs)
    return (
        f"`{name.partition(':')[0]}`",
        view_of(name, parse_stored(runs[0].spec), bool(runs[0].queries)),
        f"{solved}/{len(runs)}" + (f", {', '.join(ends)}" if ends else ""),
        _shown(median(risks)),
        f"{median(run.examples for run in runs):,.0f}",
        f"{queries:,.0f}" if queries else "-",
    )


def _shown(risk: float) -> str:
    """Write a risk; what is rounding alone differs from one processor to the next."""
    return "< 1e-20" if 0 < risk < 1e-20 else shown_risk(risk)


def main() -> None:
    grids = tomllib.loads(FILE.read_text())["grid"]
    asked = {parse_stored(grid["specs"]).spec: grid["specs"] for grid in grids}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "results.db"
        hardness("sweep", FILE, "--out", path, "--quiet")
        print(INTRODUCTION, end="")
        table("", f"| {' | '.join(HEAD)} |", rows(read_runs(path), asked))


if __name__ == "__main__":
    main()
