"""Plans: counts against what is listed, times against those of a store."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hardness.oracles import Budget
from hardness.report.sweep import plan_words
from hardness.runs.run import Run
from hardness.sweep.file import read_sweep, read_text
from hardness.sweep.jobs import RunJob, run_job
from hardness.sweep.plan import plan
from hardness.upper import parse_learner
from instances.errors import UsageError

HEAD = 'format = "hardness-sweep/1"\nname = "x"\n'
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "parities.toml"


def test_the_example_is_counted_as_it_is_listed():
    sweep = read_sweep(EXAMPLE)
    made = plan(sweep)
    listed = [replace(cell, seed=s) for g in sweep.runs for cell in g.cells for s in g.seeds]
    climbs = sum(c.count for c in sweep.climbs)
    assert made.to_json()["runs"] == len(listed) + climbs
    assert sum(p.runs for p in made.parts if p.learner != "certificates") == len(listed) + climbs
    assert len({job.key for job in listed}) == len(listed)
    assert made.certificates == len({job.spec for job in listed})
    most = sum(min(60, job.budget.seconds) for job in listed) + 60 * made.certificates + 15 * 5
    assert made.seconds == (0.0, most)


def test_a_plan_is_json_and_words_within_80_columns():
    text = HEAD + (
        "seeds = 3\nlearners = ['queries', 'bruteforce', {learner = 'mlp:rate=0.0123', "
        "over = {width = [16, 1234567]}}]\n"
        "[[runs]]\nspec = ['parity:m=3', 'lwr:n=4,q=4,p=2']\nover = {noise = [0, 0.1]}\n"
        "[[runs]]\nspec = 'nice:m=1,k=2,d=4'\nlearners = ['trivial', 'elimination']\n"
        "[[grams]]\nspec = 'parity:d=64,m=8'\nmembers = 4096\nsamples = 1e8\n"
        "[[climbs]]\nladder = 'parity-v1'\nlearners = ['queries']\n"
    )
    text = text.replace("'parity:m=3', 'lwr:n=4,q=4,p=2'", "'parity:m=3,d=8', 'parity:m=2,d=100'")
    sweep = read_text(text, "x")
    made = plan(replace(sweep, limits=replace(sweep.limits, seconds=None)))
    assert json.loads(json.dumps(made.to_json(), allow_nan=False))["job_seconds"] == [0.0, None]
    words = plan_words(made)
    assert max(map(len, words.splitlines())) <= 80
    for said in ("1 Gram matrix", "at most", "left out of runs 2: elimination", "not known"):
        assert said in words


def row(job: RunJob, seconds: float, outcome: str = "solved") -> Run:
    data = job.do() | {"outcome": outcome}
    data["usage"] |= {"seconds": seconds, "peak_bytes": 10**8}
    return Run.from_json(data, job.budget, key=job.key)


def test_runs_of_a_store_are_taken_where_they_are_of_the_same_cell():
    text = HEAD + "seeds = 10\nlearners = ['queries']\n[budget]\nqueries = 500\n"
    sweep = read_text(text + "[[runs]]\nspec = ['parity:d=8,m=2', 'parity:d=9,m=2']\n", "x")
    learner, budget = parse_learner("queries"), Budget(queries=500)
    rows = [
        row(run_job("parity:d=8,m=2", learner, seed, budget), seconds)
        for seed, seconds in enumerate([1.0, 2.0, 30.0])
    ]
    rows.append(row(run_job("parity:d=8,m=2", learner, 3, budget), 99.0, "overdue"))
    rows.append(row(run_job("parity:d=9,m=2", learner, 0, Budget(queries=501)), 99.0))
    rows.append(row(run_job("parity:d=9,m=2", learner, 0, budget, "exact"), 99.0))
    made = plan(sweep, rows)
    part = made.parts[0]
    assert (part.cells, part.measured) == (2, 1)
    assert part.seconds == (20.0, 20.0 + 10 * 3600.0)
    assert "learning alone" in plan_words(made).replace("\n", " ")


def test_a_climb_is_bounded_by_its_rungs():
    text = HEAD + "[[climbs]]\nladder = 'parity-v1'\nlearners = ['elimination']\nseeds = 2\n"
    made = plan(read_text(text, "x"))
    rungs = made.parts[0].cells
    assert made.seconds == (0.0, 2 * 60.0 * rungs)
    assert made.parts[0].at_most


def test_grams_are_counted_in_parts_and_no_time_is_said_of_them():
    text = """
format = "hardness-sweep/1"
name = "g"
[[grams]]
spec = "parity:d=64,m=8"
members = 4096
samples = 100_000_000
"""
    made = plan(read_text(text, "test"))
    assert [one.parts for one in made.sweep.grams] == [25]
    said = plan_words(made)
    assert "25\nblocks" in said or "25 blocks" in said
    assert "< 0 s" not in said
    assert said.count("not estimated") == 2
    runs = '[[runs]]\nspec = "parity:d=8,m=2"\nlearners = ["trivial"]\nbudget = { seconds = 5 }\n'
    assert plan_words(plan(read_text(text + runs, "test"))).count(", and Gram matrices") == 1
    with pytest.raises(UsageError, match="members"):
        read_text(text.replace("4096", "70_000"), "test")
