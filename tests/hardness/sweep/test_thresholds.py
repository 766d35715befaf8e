"""Searches as jobs: of commands and sweeps, on workers, interrupted at any moment, the same."""

import csv
import json
import sys
from concurrent.futures import BrokenExecutor
from types import SimpleNamespace

import pytest

from hardness.learners import Outcome
from hardness.oracles import Budget
from hardness.report.charts.runs import least_rows
from hardness.report.export import text
from hardness.report.least import least_table
from hardness.report.page import page_of
from hardness.report.stored import least_of
from hardness.report.text import laid_out
from hardness.runs import Least, least
from hardness.runs.comparison import specs_over
from hardness.runs.least import Threshold
from hardness.runs.planned import Cut
from hardness.sweep import Interrupted, read_text
from hardness.sweep.plan import plan
from hardness.sweep.resumable import resumable, unfinished
from hardness.sweep.store import merge, read
from instances.errors import UsageError
from instances.result import Answer
from tests.hardness.sweep.here import Here, sweep_here
from tests.hardness.sweep.making import edit
from tests.reports import shown as shown_page

BUDGET = Budget(examples=512)
SWEEP = """
format = "hardness-sweep/1"
name = "least"
[[least]]
spec = "parity:m=2"
over = { d = [6, 8] }
learners = ["trivial"]
seeds = 6
budget = { examples = 512 }
"""


@pytest.fixture
def quick(monkeypatch):
    """Runs without learning: each instance has a threshold of its own; what was run, in order."""
    ran = []

    def run(learner, instance, budget, seed, tau, by):
        n, least = budget.examples, 10 + 13 * seed % 40
        ran.append((learner.name, instance.family.d, seed, n))
        usage = SimpleNamespace(examples=min(n, 300), seconds=0.0)
        bound = "examples" if n <= 300 else "none"
        end = Outcome.EXAMPLES_SPENT
        return SimpleNamespace(passed=n >= least, bound=bound, outcome=end, usage=usage)

    monkeypatch.setattr(sys.modules["hardness.runs.least"], "run", run)
    return ran


def found(**how) -> Least:
    return least("parity:m=2", "d=6,8", ("trivial",), 6, budget=BUDGET, **how)


def kept_beside(out, stop=None, resume=False) -> Least:
    """Find all as the verb does; what is done after `stop` searches is cut by Ctrl-C."""
    left = [stop]

    def cut(searches):
        for one in runs.do(searches):
            yield one
            left[0] = left[0] and left[0] - 1
            if left[0] == 0:
                raise KeyboardInterrupt

    with resumable(out, {"command": "least"}, resume=resume) as runs:
        return found(do=cut)


def test_a_command_interrupted_at_any_search_goes_on_with_the_same_result(quick, tmp_path):
    whole = found()
    once = len(quick)
    for stop in (1, 7, 11, 12, 17):
        del quick[:]
        out = tmp_path / f"{stop}.json"
        with pytest.raises(Cut) as cut:
            kept_beside(out, stop)
        partial = cut.value.partial
        assert (partial and len(partial.specs)) == (1 if stop >= 12 else None)
        with read(unfinished(out)) as store:
            assert store.summary()["thresholds"] == stop
        assert kept_beside(out, resume=True) == whole
        assert len(quick) == once  # none twice
        assert not unfinished(out).exists()
    backwards = found(do=lambda all: reversed([(i, one.do()) for i, one in enumerate(all)]))
    assert backwards == whole


def test_a_sweep_finds_what_the_verb_finds_wherever_it_is_cut(quick, monkeypatch, tmp_path):
    whole = found()
    wanted = sorted(map(comparable, (*whole.pilots, *whole.thresholds)))
    for stop in (1, 3, 14):
        store = tmp_path / f"{stop}.db"
        with pytest.raises(Interrupted):
            sweep_here(monkeypatch, SWEEP, store, Here(stop=stop, error=BrokenExecutor("gone")))
        ended, done = sweep_here(monkeypatch, SWEEP, store, resume=True)
        assert len(done) == 18 - stop
        assert ended.progress.planned == ended.progress.done == {"thresholds": 18}
        with read(store) as held:
            assert sorted(kept(held)) == wanted
            assert held.summary()["thresholds"] == 18
    merge(tmp_path / "1.db", [tmp_path / "14.db"], tmp_path / "both.db")
    with read(tmp_path / "both.db") as held:
        assert sorted(kept(held)) == wanted
        _, [(number,)] = held.query("SELECT count(*) FROM thresholds WHERE ended = 'confirmed'")
        assert number == 18


def test_a_store_of_thresholds_alone_is_shown_reported_drawn_and_exported(
    quick, monkeypatch, hardness, tmp_path
):
    """By the words, rows and records of the verb; of sizes that are finished."""
    whole, store = found(), tmp_path / "a.db"
    with pytest.raises(Interrupted):
        sweep_here(monkeypatch, SWEEP, store, Here(stop=14, error=BrokenExecutor("gone")))
    assert least_of(store)[0].specs == whole.specs[:1]
    sweep_here(monkeypatch, SWEEP, store, resume=True)
    (held,) = least_of(store)
    assert held.filed()["specs"] == list(whole.specs)
    assert [*map(comparable, held.thresholds)] == [*map(comparable, whole.thresholds)]
    assert Least.read({k: v for k, v in held.filed().items() if k != "format"}) == held
    table = least_table(held)
    laid = [row.split() for row in laid_out(table, 200).splitlines()]
    for line in ("store show a.db", "report a.db"):
        said = [row.split() for row in hardness(*line.split()).out.splitlines()]
        assert [row for row in said if row in laid] == laid, line
    shown = Answer(data={}, told="", rows=held._rows())
    assert hardness("store", "show", "a.db", "--format", "csv").out == text("csv", shown)
    drawn = hardness("figure", "least", "a.db", "--json").json
    assert drawn["rows"] == least_rows(held)["rows"]
    assert "--thresholds" in hardness("store", "export", "a.db", "--out", "a.csv").err
    assert hardness("store", "export", "a.db", "--thresholds", "--out", "a.csv").code == 0
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
    every = (*whole.pilots, *whole.thresholds)
    assert sorted((r["spec"], int(r["seed"]), int(r["high"])) for r in rows) == sorted(
        (one.asked.spec, one.asked.seed, one.high) for one in every
    )
    page = shown_page(page_of(store))
    assert sum(row[1:2] in (["d=6"], ["d=8"]) for row in page.rows) == 2
    assert "figure least" in page.words


def test_thresholds_of_two_versions_of_a_file_are_not_mixed(quick, monkeypatch, tmp_path):
    """The latest revision counts; of two files of one revision neither."""
    store = tmp_path / "a.db"
    sweep_here(monkeypatch, SWEEP, store)
    copy = (
        "INSERT INTO thresholds SELECT key || '{}', spec, family, parameters, learner, unit, low, "
        "high, ended, json_set(threshold, '$.revisions.learner', {}) FROM thresholds "
        "WHERE spec LIKE 'parity:d=6,%' AND length(key) = 32"
    )
    edit(store, copy.format("later", 2))
    (held,) = least_of(store)
    assert [one.revisions["learner"] for one in held.thresholds] == [2] * 6 + [1] * 6
    edit(store, copy.format("again", 2))
    assert [one.partition(",")[0] for one in least_of(store)[0].specs] == ["parity:d=8"]


def test_thresholds_over_two_parameters_are_a_line_for_each_of_the_fewer():
    text = SWEEP.replace("d = [6, 8]", "d = [6, 8, 10], m = [2, 3]").replace("parity:m=2", "parity")
    lines = read_text(text, "test").least
    assert [(one.spec, one.parameter, one.values) for one in lines] == [
        ("parity:m=2", "d", (6, 8, 10)),
        ("parity:m=3", "d", (6, 8, 10)),
    ]
    assert all(specs_over(one.spec, "d", one.values) == [*one.specs] for one in lines)


def kept(store):
    return [comparable(Threshold.read(row.threshold)) for row in store.rows("thresholds")]


def comparable(one):
    return json.dumps({**one.filed(), "seconds": 0}, sort_keys=True)


def test_a_search_whose_worker_dies_has_no_answer_and_is_tried_again(quick, monkeypatch, tmp_path):
    def failing(job):
        return "died" if job.asked.seed == 2 else None

    store = tmp_path / "a.db"
    ended, _ = sweep_here(monkeypatch, SWEEP, store, Here(failing=failing))
    assert ended.progress.failed == {"thresholds": 2}
    with read(store) as held:
        _, lost = held.query("SELECT low, high, ended FROM thresholds WHERE ended != 'confirmed'")
    assert lost == [(0, None, "no-answer")] * 2
    _, done = sweep_here(monkeypatch, SWEEP, store, resume=True)
    assert done == []
    _, done = sweep_here(monkeypatch, SWEEP, store, resume=True, retry=True)
    assert len(done) == 2
    with read(store) as held:
        assert sorted(kept(held)) == sorted(map(comparable, (*found().pilots, *found().thresholds)))


def test_a_plan_counts_searches_and_a_file_that_says_nothing_is_refused():
    two = SWEEP.replace('["trivial"]', '["trivial", "elimination"]')
    made = plan(read_text(two, "test"))
    assert [(part.learner, part.runs) for part in made.parts] == [
        ("least of trivial", 18),
        ("least of elimination:checks=32", 18),
    ]
    for old, new, said in (
        ("seeds = 6", "seeds = [0, 2, 4, 6, 8, 10]", "in a row"),
        ('"trivial"', '"flips"', "spends values"),
        ("examples = 512", "examples = [1, 2]", r"least\[1\].budget"),
        ("seeds = 6", 'unit = "seconds"', r"least\[1\].unit"),
    ):
        with pytest.raises(UsageError, match=said):
            read_text(SWEEP.replace(old, new), "test")
    small = SWEEP.replace("[6, 8]", "[6, 64]").replace("512", "8")
    with pytest.raises(UsageError, match="below 10, the certified floor"):
        read_text(small, "test")
