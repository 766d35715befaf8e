"""The table of what binds whom: its numbers that are certified, and its best learners."""

import re
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from hardness.bounds import certify
from hardness.oracles import Budget
from hardness.runs.names import brief_spec
from hardness.runs.registry import CLASSES, parse_learner
from hardness.runs.run import run
from instances import parse
from instances.spec import FAMILIES
from tests.conftest import script

ROOT = Path(__file__).parents[3]
made = script("benchmarks/binding.py")
BASE, LOST = (
    run(parse_learner(name), parse("parity:d=8,m=2").instance(0), Budget())
    for name in ("elimination", "trivial")
)


def row(learner, cost, solved=True):
    return replace(BASE if solved else LOST, learner=learner, examples=cost, queries=cost)


def test_every_certified_number_of_the_page_is_certified_again():
    lines = (ROOT / "docs/binding.md").read_text().splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if re.match(r"\| `[a-z_0-9]+:", line)]
    swept = tomllib.loads((ROOT / "docs/examples/binding.toml").read_text())["grid"]
    names = [one["specs"] for one in swept]
    specs = [spec for one in names for spec in ([one] if isinstance(one, str) else one)]
    assert {spec.partition(":")[0] for spec in specs} == set(FAMILIES) - {"teacher"}
    assert {line[0] for line in rows} == {f"`{brief_spec(parse(one).spec)}`" for one in specs}
    for spec, *cells in rows:
        family = parse(spec.strip("`"))
        proof = certify(family) if family.hardness.evidence == "exact" else None
        wanted = [made.certified(of, proof, Fraction(2, 3)) for of in CLASSES.values()]
        assert [cell.rpartition("; ")[2] for cell in cells] == wanted, spec


@pytest.mark.parametrize(
    ("runs", "best"),
    [
        ([row("student", 9)] * 3 + [row("mlp", 7)] * 3, "`mlp` 7, 3/3"),
        (
            [row("student", 9)] * 3 + [row("mlp", 7)] + [row("mlp", 7, False)] * 2,
            "`student` 9, 3/3",
        ),
        ([row("mlp", 7)] + [row("mlp", 7, False)] * 2, "`mlp` 7, 1/3"),
        ([row("mlp", 7, False)], "`mlp`, risk 1.00, 0/1"),
        ([row("trivial", 7, False)], "not tried"),
    ],
)
def test_the_best_learner_solved_at_the_least_median_cost(runs, best):
    assert made.measured(CLASSES["gradient"], runs, parse("parity:d=8,m=2")) == best


def test_a_problem_that_no_learner_takes_is_said_to_be_so():
    family = parse("profile:g=majority,d=16,m=4")
    assert made.measured(CLASSES["lattice"], [], family) == "no learner takes it"
