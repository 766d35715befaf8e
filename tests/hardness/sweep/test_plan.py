"""Plans: counts against what is listed, times against those of a store."""

import json
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from hardness.oracles import Budget
from hardness.report.sweep import plan_words
from hardness.runs.run import Run
from hardness.sweep.file import read_sweep, read_text
from hardness.sweep.plan import plan
from hardness.upper import Outcome

HEAD = 'format = "hardness-sweep/1"\nname = "x"\n'
EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "parities.toml"


def test_the_example_is_counted_as_it_is_listed():
    sweep = read_sweep(EXAMPLE)
    made = plan(sweep)
    listed = [cell.with_seed(s) for g in sweep.grids for cell in g.cells for s in g.seeds]
    climbs = sum(c.count for c in sweep.climbs)
    assert made.to_dict()["runs"] == len(listed) + climbs
    assert sum(p.runs for p in made.parts if p.learner != "certificates") == len(listed) + climbs
    assert len({job.key for job in listed}) == len(listed)
    assert made.certificates == len({job.spec for job in listed})
    most = sum(min(60, job.budget.seconds) for job in listed) + 60 * made.certificates + 15 * 5
    assert made.seconds == (0.0, most)


def test_a_plan_is_json_and_words_within_80_columns():
    text = HEAD + (
        "seeds = 3\nlearners = ['queries', 'bruteforce', {learner = 'mlp:rate=0.0123', "
        "over = {width = [16, 1234567]}}]\n"
        "[[runs]]\nspec = ['parity:m=3,d=8', 'parity:m=2,d=100']\nover = {noise = [0, 0.1]}\n"
        "[[runs]]\nspec = 'nice:m=1,k=2,d=4'\nlearners = ['trivial', 'elimination']\n"
        "[[climbs]]\nladder = 'parity-v1'\nlearners = ['queries']\n"
    )
    sweep = read_text(text, "x")
    made = plan(replace(sweep, limits=replace(sweep.limits, seconds=None)))
    assert json.loads(json.dumps(made.to_dict(), allow_nan=False))["job_seconds"] == [0.0, None]
    words = plan_words(made)
    assert max(map(len, words.splitlines())) <= 80
    for said in ("at most", "left out of runs 2: elimination", "not known"):
        assert said in words


def test_runs_of_a_store_are_taken_where_they_are_of_the_same_cell():
    text = HEAD + "seeds = 10\nlearners = ['queries']\n[budget]\nqueries = 500\n"
    sweep = read_text(text + "[[runs]]\nspec = ['parity:d=8,m=2', 'parity:d=9,m=2']\n", "x")
    one, other = sweep.grids[0].cells
    done = Run.read(one.do())

    def took(seconds, **other):
        usage = structs.replace(done.usage, seconds=seconds)
        return done.updated(usage=usage, **other)

    rows = [
        *map(took, (1.0, 2.0, 30.0)),
        took(99.0, outcome=Outcome.OVERDUE),
        took(99.0, spec=other.spec, budget=Budget(queries=501)),
        took(99.0, spec=other.spec, details=done.details | {"oracle": "exact"}),
    ]
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
