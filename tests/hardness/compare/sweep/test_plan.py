"""Plans: counts against what is listed, estimates against costs that are known."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.compare.jobs import RunJob, run_job
from hardness.compare.run import Run
from hardness.compare.store.rows import RunRow
from hardness.compare.sweep.cells import cells
from hardness.compare.sweep.estimate import Line, Point, chosen, costs, size
from hardness.compare.sweep.file import read_sweep, read_text
from hardness.compare.sweep.plan import plan
from hardness.compare.sweep.probe import probe
from hardness.oracles import Budget
from hardness.report.sweep import plan_words
from hardness.upper import parse_learner
from instances.errors import UsageError
from instances.spec import parse

HEAD = 'format = "hardness-sweep/1"\nname = "x"\n'
EXAMPLE = Path(__file__).parents[4] / "docs" / "examples" / "parities.toml"


def line(sizes, measured=None, most=60.0, runs=1):
    return Line(
        part=0, specs=[str(s) for s in sizes], sizes=sizes, runs=runs, most=most,
        job=lambda spec: None, measured=measured or {},
    )  # fmt: skip


def probed(seconds, cut=False):
    return Point(seconds=seconds, basis="probed", cut=cut)


def test_the_size_of_a_family_is_what_queries_cost():
    assert size(parse("parity:d=12,m=3")) == math.log2(math.comb(11, 3))
    assert size(parse("parity:d=1000,m=128")) > 500


def test_a_power_of_the_members_is_interpolated_exactly():
    sizes = [1.0, 2.5, 4.0, 7.0]
    truth = [0.01 * 2 ** (1.5 * x) for x in sizes]
    found = costs(line(sizes), {0: probed(truth[0]), 3: probed(truth[3])})
    assert [c.basis for c in found] == ["probed", "interpolated", "interpolated", "probed"]
    for cost, seconds in zip(found[1:3], truth[1:3], strict=True):
        assert math.isclose(math.sqrt(cost.low * cost.high), seconds)


def test_what_is_not_known_is_bounded_and_not_guessed():
    nothing = costs(line([1, 2]), {})
    assert [(c.low, c.high, c.basis) for c in nothing] == [(0.0, 60.0, "at most")] * 2
    cut = costs(line([1, 2, 3]), {0: probed(0.01), 2: probed(1.0, cut=True)})
    assert cut[1].basis == cut[2].basis == "at least"
    assert (cut[2].low, cut[2].high) == (1.0, 60.0)
    assert cut[1].high == 60.0
    beyond = costs(line([1, 2, 3]), {1: probed(0.5)})
    assert (beyond[0].low, beyond[0].basis) == (0.0, "interpolated")
    assert (beyond[2].high, beyond[2].basis) == (60.0, "at least")
    alone = costs(line([1, 2]), {1: probed(1.0, cut=True)})
    assert (alone[0].low, alone[0].high, alone[0].basis) == (0.0, 60.0, "at most")
    unbounded = costs(line([1, 2], most=math.inf), {0: probed(1.0, cut=True)})
    assert [c.high for c in unbounded] == [math.inf] * 2


POINTS = st.builds(probed, st.floats(1e-9, 1e4), st.booleans())


@given(
    st.lists(st.floats(0, 2000), min_size=1, max_size=8),
    st.dictionaries(st.integers(0, 7), POINTS),
    st.floats(1e-3, 1e6) | st.just(math.inf),
)
def test_ranges_are_ranges(sizes, known, most):
    sizes = sorted(sizes)
    found = costs(line(sizes, most=most), {i: p for i, p in known.items() if i < len(sizes)})
    assert len(found) == len(sizes)
    assert all(0 <= c.low <= c.high and not math.isnan(c.high) for c in found)


@given(st.lists(st.integers(1, 9), max_size=60))
def test_probes_are_spread_and_at_most_twenty(lengths):
    lines = [line([float(i) for i in range(n)]) for n in lengths]
    places = chosen(lines)
    total = sum(map(len, places))
    assert total <= 20
    assert all(len(set(p)) == len(p) <= 3 and set(p) <= set(range(n))
               for p, n in zip(places, lengths, strict=True))  # fmt: skip
    if len(lengths) <= 6:
        assert all({0, n - 1} <= set(p) for p, n in zip(places, lengths, strict=True))
    elif len(lengths) >= 20:
        assert total == 20


def test_what_is_measured_needs_no_probe():
    seen = {0: Point(seconds=1.0, basis="measured")}
    assert chosen([line([1, 2, 3], measured=seen)]) == [[1, 2]]


def test_the_example_is_counted_as_it_is_listed():
    sweep = read_sweep(EXAMPLE)
    made = plan(sweep, probe=0)
    listed = [cell.job(s) for g in sweep.runs for cell in cells(g) for s in g.seeds]
    climbs = sum(c.count for c in sweep.climbs)
    assert made.to_json()["runs"] == len(listed) + climbs
    assert sum(p.runs for p in made.parts if p.learner != "certificates") == len(listed) + climbs
    assert len({job.key for job in listed}) == len(listed)
    certified = {(job.spec, str(g.terms.tau)) for g in sweep.runs for job in listed}
    assert made.certificates == len(certified)
    assert made.probes == 0
    assert made.peak_bytes is None
    most = sum(min(60, job.budget.seconds) for job in listed) + 60 * made.certificates + 15 * 5
    assert made.seconds == (0.0, most)
    assert made.wall == (0.0, most)


def test_slots_share_the_work_but_not_the_longest_run():
    text = HEAD + "seeds = 10\nlearners = ['queries']\ncertify = false\n[budget]\nseconds = 8\n"
    sweep = read_text(text + "[[runs]]\nspec = 'parity:d=8,m=2'\n", "x")
    assert plan(sweep, probe=0, jobs=4).wall == (0.0, 80 / 4 + 8 * 3 / 4)


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
    made = plan(replace(sweep, limits=replace(sweep.limits, seconds=None)), probe=0)
    assert json.loads(json.dumps(made.to_json(), allow_nan=False))["job_seconds"] == [0.0, None]
    words = plan_words(made)
    assert max(map(len, words.splitlines())) <= 80
    for said in ("1 Gram matrix", "at most", "left out of runs 2: elimination", "not known"):
        assert said in words


def row(job: RunJob, seconds: float, bound="none") -> RunRow:
    data = job.do()
    data["usage"] |= {"seconds": seconds, "peak_bytes": 10**8}
    return RunRow(key=job.key, run=Run.from_json(data), budget=job.budget, bound=bound)


def test_runs_of_a_store_are_taken_where_they_are_of_the_same_cell():
    text = HEAD + "seeds = 10\nlearners = ['queries']\n[budget]\nqueries = 500\n"
    sweep = read_text(text + "[[runs]]\nspec = ['parity:d=8,m=2', 'parity:d=9,m=2']\n", "x")
    learner, budget = parse_learner("queries"), Budget(queries=500)
    rows = [
        row(run_job("parity:d=8,m=2", learner, seed, budget), seconds)
        for seed, seconds in enumerate([1.0, 2.0, 30.0])
    ]
    rows.append(row(run_job("parity:d=8,m=2", learner, 3, budget), 99.0, "machine"))
    rows.append(row(run_job("parity:d=9,m=2", learner, 0, Budget(queries=501)), 99.0))
    rows.append(row(run_job("parity:d=9,m=2", learner, 0, budget, "exact"), 99.0))
    made = plan(sweep, rows, probe=0)
    part = made.parts[0]
    assert part.basis == {"measured": 1, "at least": 1}
    assert part.path == (2.0 / 1.5, 3600.0)
    assert made.peak_bytes == 10**8
    assert "learning alone" in plan_words(made).replace("\n", " ")


def test_probes_are_real_runs_that_are_cut(monkeypatch):
    monkeypatch.setattr("hardness.compare.sweep.probe._LOADING", 60.0)
    learner, other = parse_learner("queries"), parse_learner("elimination")
    small, large = (run_job(f"parity:d={d},m=3", learner, 0, Budget()) for d in (8, 1000))
    quick, slow = probe([small, large, large], 0.5)  # none after one that was cut
    assert 0 < quick.seconds < 0.5
    assert not quick.cut
    assert quick.peak_bytes > 10**7
    assert (slow.seconds, slow.cut, slow.peak_bytes) == (0.5, True, None)
    refused = run_job("lwe:n=8,q=17,sigma=1", other, 0, Budget())
    assert "cannot run on" in probe([refused], 5)[0].why
    monkeypatch.setattr("hardness.compare.sweep.probe._LOADING", 0.0)
    assert probe([large, large], 0.1) == [replace(slow, seconds=0.1)]


def test_a_plan_with_probes():
    text = HEAD + "seeds = 10\nlearners = ['elimination']\ncertify = false\n"
    sweep = read_text(text + "[[runs]]\nspec = 'parity:m=2'\nover = {d = '8..12..2'}\n", "x")
    told = []
    made = plan(sweep, probe=20, progress=told.append)
    assert (made.probes, sum(told)) == (3, 3)
    assert made.parts[0].basis == {"probed": 3}
    assert 0 < made.seconds[0] < made.seconds[1] < 3600
    assert made.peak_bytes > 10**7


def test_a_climb_is_bounded_by_its_rungs():
    text = HEAD + "[[climbs]]\nladder = 'parity-v1'\nlearners = ['elimination']\nseeds = 2\n"
    made = plan(read_text(text, "x"), jobs=2)
    rungs = made.parts[0].cells
    assert made.seconds == (0.0, 2 * 60.0 * rungs)
    assert made.wall == (0.0, 60.0 * rungs + 30.0 * rungs)
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
    made = plan(read_text(text, "test"), probe=0)
    assert made.blocks == (25,)
    said = plan_words(made)
    assert "25\nblocks" in said or "25 blocks" in said
    assert "< 0 s" not in said
    assert said.count("not estimated") == 3
    runs = '[[runs]]\nspec = "parity:d=8,m=2"\nlearners = ["trivial"]\nbudget = { seconds = 5 }\n'
    assert plan_words(plan(read_text(text + runs, "test"), probe=0)).count("and Gram matrices") == 2
    with pytest.raises(UsageError, match="members"):
        read_text(text.replace("4096", "70_000"), "test")
