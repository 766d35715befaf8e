"""The table of the README is taken from docs/results.md, and running it gives it again."""

import tomllib
from pathlib import Path

import pytest

from hardness.bounds import certify
from hardness.learners import learner_spec
from hardness.oracles import Budget
from hardness.runs.registry import parse_learner
from hardness.runs.run import run
from instances import parse
from tests.conftest import script

ROOT = Path(__file__).parent.parent
QUICK = ("elimination", "lifted", "linear", "bruteforce", "bkw")


@pytest.fixture(scope="module")
def results():
    return script("benchmarks/results.py")


def lines(page):
    text = (ROOT / page).read_text()
    return [line for line in text.splitlines() if line.startswith("| `")]


def test_rows_of_the_readme_are_what_make_results_prints():
    printed = lines("docs/results.md")
    found = lines("README.md")
    assert len(printed) == 20
    assert len(found) > 5
    assert set(found) <= set(printed)


@pytest.mark.slow
def test_quick_rows_come_out_again(results):
    again = 0
    for group in tomllib.loads(results.FILE.read_text())["grid"]:
        family = parse(group["specs"])
        examples = group.get("budget", {}).get("examples", 700_000)
        for name in set(group["learners"]) & set(QUICK):
            learner = parse_learner(name)
            runs = [
                run(learner, family.instance(seed), Budget(examples=examples), seed=seed)
                for seed in range(5)
            ]
            bound = "none"
            if family.hardness.evidence == "exact":
                bound = results._bound(certify(family))
            row = (f"`{group['specs']}`", bound, *results._cell(learner_spec(learner), runs))
            assert f"| {' | '.join(row)} |" in lines("docs/results.md")
            again += 1
    assert again == 7
