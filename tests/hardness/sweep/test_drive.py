"""Sweeps from end to end: whatever the engine, the order and the accidents, one table."""

import base64
import json
from concurrent.futures import BrokenExecutor
from dataclasses import replace
from random import Random

import pytest

from hardness.lower.verify import verify
from hardness.oracles import Budget
from hardness.runs.stress import stress
from hardness.sweep import Interrupted, drive, read_text
from hardness.sweep.export import export
from hardness.sweep.figures import merge_stores, phase
from hardness.sweep.gram import LayerPart
from hardness.sweep.pool import Aborted, Engine
from hardness.sweep.store import Writer, create, read
from hardness.upper import Outcome
from instances import parse
from instances.errors import AlreadyExists, ToolkitError
from instances.ladders import ladder_of
from tests.hardness.sweep.here import Here, sweep_here

SMALL = """
format = "hardness-sweep/1"
name = "small"
seeds = 3
[[runs]]
spec = "parity:m=2"
over = { d = [8, 10] }
learners = ["elimination", "lowdegree"]
budget = { examples = [60, 3000] }
"""


def exported(store):
    out = store.with_suffix(".csv")
    with read(store) as found:
        done = export(found, out, "csv", True, True)
    return out.read_bytes(), done


def test_every_run_stands_in_the_table_once(monkeypatch, tmp_path):
    ended, done = sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    assert ended.progress.total == ended.progress.finished == len(done) == len(set(done)) == 26
    assert ended.progress.planned["certificates"] == 2
    with read(tmp_path / "a.db") as found:
        assert sum(sum(n.values()) for n in found.counts().values()) == 24
        (row,) = found.sweeps()
        assert (row.state, row.name) == ("finished", "small")
        assert row.planned == row.done


@pytest.mark.parametrize("batch", [1, 7])
def test_what_is_finished_is_never_run_again(monkeypatch, tmp_path, batch):
    whole = tmp_path / "whole.db"
    sweep_here(monkeypatch, SMALL, whole)
    rng, store, all_done = Random(batch), tmp_path / "cut.db", []
    for _ in range(40):
        stop = KeyboardInterrupt() if rng.random() < 0.5 else BrokenExecutor("gone")
        engine = Here(stop=rng.randint(1, 6), error=stop)
        try:
            _, done = sweep_here(
                monkeypatch, SMALL, store, engine, batch, resume=True, jobs=rng.randint(1, 3)
            )
        except Interrupted:
            all_done += engine.done
            continue
        all_done += done
        break
    assert len(all_done) == len(set(all_done)) == 26
    assert exported(store)[0] == exported(whole)[0]


def test_a_store_with_runs_wants_resume(monkeypatch, tmp_path):
    sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    with pytest.raises(AlreadyExists, match="--resume"):
        sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    ended, done = sweep_here(monkeypatch, SMALL, tmp_path / "a.db", resume=True)
    assert (done, ended.progress.finished, ended.progress.total) == ([], 26, 26)
    with read(tmp_path / "a.db") as found:
        (figure,) = found.figures()
    assert (figure.name, len(figure.data["cells"])) == ("phase", 8)


def test_a_sweep_gone_on_with_keeps_when_it_began(monkeypatch, tmp_path):
    stop = Here(stop=3, error=KeyboardInterrupt())
    with pytest.raises(Interrupted):
        sweep_here(monkeypatch, SMALL, tmp_path / "a.db", stop)
    with read(tmp_path / "a.db") as found:
        (before,) = found.sweeps()
    sweep_here(monkeypatch, SMALL, tmp_path / "a.db", resume=True)
    with read(tmp_path / "a.db") as found:
        (after,) = found.sweeps()
    assert before.state == "interrupted"
    assert (after.started, after.state) == (before.started, "finished")
    assert after.updated > before.updated


def test_a_sweep_that_grew_does_what_is_new(monkeypatch, tmp_path):
    sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    more = SMALL.replace("seeds = 3", "seeds = 4").replace("[8, 10]", "[8, 10, 12]")
    _, done = sweep_here(monkeypatch, more, tmp_path / "a.db", resume=True)
    assert len(done) == 3 * 2 * 2 * 4 - 24 + 1  # and one more certificate


def test_groups_that_overlap_are_counted_once(monkeypatch, tmp_path):
    twice = SMALL + SMALL[SMALL.index("[[runs]]") :].replace("[8, 10]", "[10, 12]")
    ended, done = sweep_here(monkeypatch, twice, tmp_path / "a.db")
    assert ended.progress.total == ended.progress.finished == len(done) == 36 + 3
    assert len(set(done)) == len(done)


def test_what_fails_has_an_outcome_and_is_tried_again_when_asked(monkeypatch, tmp_path):
    ends = {0: "died", 1: "memory", 2: "overdue"}

    def failing(job):
        return ends.get(getattr(job, "seed", 9)) if "elim" in job.label else None

    store = tmp_path / "a.db"
    ended, _ = sweep_here(monkeypatch, SMALL, store, Here(failing=failing))
    assert ended.progress.failed == {"elimination:checks=32": 12}
    assert ended.missing == ()  # each has its row
    with read(store) as found:
        counts = found.counts()["elimination:checks=32"]
        rows = [r for r in found.runs() if r.learner.startswith("elim")]
    names = {o.value for o in (Outcome.CRASHED, Outcome.MEMORY_SPENT, Outcome.OVERDUE)}
    assert counts == dict.fromkeys(names, 4)
    assert all(not r.reproducible and r.attempts == 3 and r.details["why"] for r in rows)
    _, done = exported(store)
    assert (done.runs, done.left_out) == (12, 12)
    left, again = sweep_here(monkeypatch, SMALL, store, resume=True)
    assert again == []
    assert left.progress.failed == {"elimination:checks=32": 12}  # those of before, still
    _, again = sweep_here(monkeypatch, SMALL, store, resume=True, retry=True)
    assert len(again) == 12
    sweep_here(monkeypatch, SMALL, tmp_path / "b.db")
    assert exported(store)[0] == exported(tmp_path / "b.db")[0]


def test_a_certificate_that_fails_is_said_and_tried_again(monkeypatch, tmp_path):
    def failing(job):
        return "refused" if job.kind == "certificate" else None

    ended, _ = sweep_here(monkeypatch, SMALL, tmp_path / "a.db", Here(failing=failing))
    assert ended.missing == ("certificates: refused: as asked for",) * 2
    ended, done = sweep_here(monkeypatch, SMALL, tmp_path / "a.db", resume=True)
    assert (ended.missing, len(done)) == ((), 2)


def test_an_engine_that_is_told_to_stop_leaves_no_failures(monkeypatch, tmp_path):
    with pytest.raises(Interrupted):
        sweep_here(monkeypatch, SMALL, tmp_path / "a.db", Here(stop=5, error=Aborted("stop")))
    with read(tmp_path / "a.db") as found:
        assert found.sweeps()[0].state == "failed"
        assert found.sweeps()[0].failed == {}


def test_an_engine_that_has_lost_all_workers_is_not_waited_for_for_ever(monkeypatch, tmp_path):
    monkeypatch.setattr(drive, "_ASKED", -1.0)
    monkeypatch.setattr(drive, "_ALONE", -1.0)
    engine = Engine("dask:tcp://there", Here(), None, 0)
    with create(tmp_path / "a.db") as writer, pytest.raises(Interrupted) as cut:
        drive.drive(read_text(SMALL, "test"), writer, engine)
    assert "dask:tcp://there has had no workers for" in str(cut.value.__cause__)


def test_a_full_disk_ends_the_sweep_with_what_was_written(monkeypatch, tmp_path):
    real, calls = Writer.write, []

    def write(self, rows, sweep=None):
        calls.append(len(rows))
        if len(calls) == 3:
            raise ToolkitError("the disk is full")
        real(self, rows, sweep)

    monkeypatch.setattr(Writer, "write", write)
    monkeypatch.setattr("hardness.sweep.drive.PACE", 0.0)
    with pytest.raises(Interrupted) as cut:
        sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    assert str(cut.value.__cause__) == "the disk is full"
    assert calls[3:] == []
    with read(tmp_path / "a.db") as found:
        kept = sum(found.sweeps()[0].done.values())
        assert kept == sum(calls[:2])
    assert str(cut.value) == f"{kept} of 26 jobs are done"
    monkeypatch.setattr(Writer, "write", real)
    _, done = sweep_here(monkeypatch, SMALL, tmp_path / "a.db", resume=True)
    assert len(done) == 26 - kept


SPECS = ("parity:d=8,m=2", "parity:d=10,m=3", "parity:d=12,m=3")
CLIMB = """
format = "hardness-sweep/1"
name = "climb"
learners = ["lowdegree", "elimination"]
[[climbs]]
rungs = ["parity:d=8,m=2", "parity:d=10,m=3", "parity:d=12,m=3"]
seed = 7
budget = { examples = 3000 }
"""


def test_a_climb_is_that_of_stress(monkeypatch, tmp_path):
    sweep = read_text(CLIMB, "test")
    budget = sweep.climbs[0].budget
    ladder = replace(ladder_of(SPECS), name=sweep.climbs[0].ladder.name)
    wanted = stress(["lowdegree", "elimination"], ladder, base_seed=7, budget=budget)
    sweep_here(monkeypatch, CLIMB, tmp_path / "a.db", jobs=3)
    with read(tmp_path / "a.db") as found:
        climbed = next(f.data for f in found.figures() if f.name.startswith("climbs 1 of "))
        keys = {r.key for r in found.runs()}

    assert "median_seconds" not in json.dumps(climbed)
    left = ("median_seconds", "asked")

    def timeless(climbs):
        return json.loads(
            json.dumps(climbs), object_hook=lambda d: {k: v for k, v in d.items() if k not in left}
        )

    assert timeless(climbed["climbs"]) == timeless([c.to_json() for c in wanted.climbs])
    assert len(keys) == len(wanted.runs)


def test_a_base_seed_that_is_drawn_is_kept(monkeypatch, tmp_path):
    drawn = CLIMB.replace("seed = 7\n", "")
    stop = Here(stop=4, error=KeyboardInterrupt())
    with pytest.raises(Interrupted):
        sweep_here(monkeypatch, drawn, tmp_path / "a.db", stop)
    with read(tmp_path / "a.db") as found:
        before = found.sweeps()[0].base_seeds
    _, done = sweep_here(monkeypatch, drawn, tmp_path / "a.db", resume=True)
    with read(tmp_path / "a.db") as found:
        assert found.sweeps()[0].base_seeds == before
    assert not set(done) & set(stop.done)
    sweep_here(monkeypatch, drawn, tmp_path / "b.db")
    with read(tmp_path / "b.db") as found:
        assert found.sweeps()[0].base_seeds != before


def test_climbs_and_runs_share_what_they_both_ask_for(monkeypatch, tmp_path):
    alone, done = sweep_here(monkeypatch, CLIMB, tmp_path / "a.db")
    with read(tmp_path / "a.db") as found:
        seeds = [r.seed for r in found.runs() if r.spec.startswith("parity:d=8")][:5]
    both = (
        CLIMB
        + f"""
[[runs]]
spec = "parity:d=8,m=2"
seeds = {seeds}
certify = false
budget = {{ examples = 3000, seconds = 60.0 }}
"""
    )
    for jobs in (1, 3):
        ended, again = sweep_here(monkeypatch, both, tmp_path / f"{jobs}.db", jobs=jobs)
        assert sorted(again) == sorted(done)
        assert ended.progress.total == alone.progress.total


GRAM = """
format = "hardness-sweep/1"
name = "gram"
[[grams]]
spec = "parity:d=16,m=3"
members = 40
samples = 20000
confidence = 0.99
seed = 3
"""


def test_a_sampled_matrix_says_what_verify_says(monkeypatch, tmp_path):
    sweep_here(monkeypatch, GRAM, tmp_path / "a.db")
    wanted = verify(parse("parity:d=16,m=3"), members=40, samples=20000, confidence=0.99, seed=3)
    with read(tmp_path / "a.db") as found:
        (whole,) = found.artifacts()
        assert list(found.parts()) == []
    for name in ("agrees", "radius", "largest_deviation", "samples_used", "disagreements"):
        assert whole.content[name] == wanted.to_json()[name]
    _, done = sweep_here(monkeypatch, GRAM, tmp_path / "a.db", resume=True)
    assert done == []


def test_what_the_clock_cut_is_no_success_and_what_the_machine_ended_is_no_run(
    monkeypatch, tmp_path
):
    def failing(job):
        return {0: "died"}.get(getattr(job, "seed", 9))

    sweep_here(monkeypatch, SMALL, tmp_path / "a.db", Here(failing=failing))
    with read(tmp_path / "a.db") as found:
        (figure,) = found.figures()
        rows = list(found.runs())
    cells = {
        (c["spec"][:10], c["learner"][:4], c["budget"]["examples"]): c for c in figure.data["cells"]
    }
    one = cells["parity:d=8", "elim", 3000]
    assert (one["runs"], one["solved"], one["not_run"], one["timed"]) == (2, 2, 1, 0)
    assert one["interval"] == pytest.approx([0.0943, 1.0], abs=1e-4)
    timed = [replace(r, outcome=Outcome.SECONDS_SPENT) for r in rows if r.seed]
    again = phase([replace(r, risk=None) for r in timed], []).data["cells"]
    assert all((c["runs"], c["solved"], c["timed"]) == (2, 0, 2) for c in again)


@pytest.mark.parametrize(("slots", "batch", "most"), [(1, 1, 1), (1, 99, 50), (20, 99, 99)])
def test_short_jobs_share_tasks_as_a_scheduler_needs(monkeypatch, tmp_path, slots, batch, most):
    many = SMALL.replace("seeds = 3", "seeds = 120").replace("[60, 3000]", "[60]")
    many = many.replace('"elimination", "lowdegree"', '"trivial"')
    engine = Here()  # says that each job took 0.01 s
    monkeypatch.setattr("hardness.sweep.drive._RATE", 2)
    sweep_here(monkeypatch, many, tmp_path / "a.db", engine, batch, jobs=slots)
    assert sum(engine.sizes) == 2 * 120 + 2
    assert max(engine.sizes) == most


def test_a_climb_asks_queries_as_stress_does(monkeypatch, tmp_path):
    text = CLIMB.replace('"lowdegree", "elimination"', '"queries"').replace("3000", "400_000")
    wanted = stress(["queries"], ladder_of(SPECS), base_seed=7, budget=Budget(examples=400_000))
    sweep_here(monkeypatch, text, tmp_path / "a.db")
    with read(tmp_path / "a.db") as found:
        ours = sorted((r.spec, r.seed, r.usage.queries) for r in found.runs())
    assert ours == sorted((r.spec, r.seed, r.usage.queries) for r in wanted.runs)
    assert any(queries for *_, queries in ours)


def test_a_climb_goes_on_from_what_is_retried(monkeypatch, tmp_path):
    store = tmp_path / "a.db"

    def failing(job):
        return "died" if "elim" in job.label else None

    sweep_here(monkeypatch, CLIMB, store, Here(failing=failing))
    with read(store) as found:
        assert found.counts()["elimination:checks=32"] == {"crashed": 5}
    _, done = sweep_here(monkeypatch, CLIMB, store, resume=True)
    assert done == []
    sweep_here(monkeypatch, CLIMB, store, resume=True, retry=True)
    sweep_here(monkeypatch, CLIMB, tmp_path / "b.db")
    assert exported(store)[0] == exported(tmp_path / "b.db")[0]
    with read(store) as one, read(tmp_path / "b.db") as other:
        assert [f.data for f in one.figures()] == [f.data for f in other.figures()]


def test_a_matrix_of_residues_has_the_radius_of_verify(monkeypatch, tmp_path):
    spec = "lwe:n=4,q=7,sigma=1,secret=ternary,bits=6"
    text = GRAM.replace("parity:d=16,m=3", spec).replace("members = 40", "members = 12")
    sweep_here(monkeypatch, text, tmp_path / "a.db")
    wanted = verify(parse(spec), members=12, samples=20000, confidence=0.99, seed=3).to_json()
    with read(tmp_path / "a.db") as found:
        (whole,) = found.artifacts()
    assert whole.content["radius"] == wanted["radius"]
    assert whole.content["agrees"] is wanted["agrees"] is True


def test_a_layer_that_differs_is_no_agreement(monkeypatch, tmp_path):
    real = LayerPart.do

    def wrong(self):
        given = json.loads(base64.b64decode(real(self)["content"]))
        told = json.dumps({**given, "agrees": False, "error": 1.0})
        return {"content": base64.b64encode(told.encode()).decode()}

    monkeypatch.setattr(LayerPart, "do", wrong)
    sweep_here(monkeypatch, GRAM, tmp_path / "a.db")
    with read(tmp_path / "a.db") as found:
        (whole,) = found.artifacts()
    assert whole.content["agrees"] is False
    assert whole.content["disagreements"] == 0


def test_a_sweep_with_nothing_to_do_leaves_its_figure(monkeypatch, tmp_path):
    def dated():
        with read(tmp_path / "a.db") as found:
            return [(figure, figure.written) for figure in found.figures()]

    sweep_here(monkeypatch, SMALL, tmp_path / "a.db")
    before = dated()
    monkeypatch.setattr("hardness.sweep.drive.phase", lambda *_: 1 / 0)
    sweep_here(monkeypatch, SMALL, tmp_path / "a.db", resume=True)
    assert dated() == before
    more = SMALL.replace("seeds = 3", "seeds = 4")
    with pytest.raises(ZeroDivisionError):
        sweep_here(monkeypatch, more, tmp_path / "a.db", resume=True)


LEARNERS = 'learners = ["lowdegree", "elimination"]\n'


def test_stores_put_together_have_the_figure_of_all_runs_and_both_climbs(monkeypatch, tmp_path):
    other = CLIMB.replace("seed = 7", "seed = 8")
    sweep_here(
        monkeypatch,
        SMALL + CLIMB[CLIMB.index("[[climbs]]") :].replace("rungs", LEARNERS + "rungs"),
        tmp_path / "a.db",
    )
    sweep_here(monkeypatch, other, tmp_path / "b.db")
    merge_stores(tmp_path / "a.db", [tmp_path / "b.db"], tmp_path / "c.db")
    with read(tmp_path / "c.db") as found:
        figures = {f.name: f.data for f in found.figures()}
        runs = list(found.runs())
    assert sum(name.startswith("climbs 1 of ") for name in figures) == 2
    cells = {(r.spec, r.learner, str(r.budget)) for r in runs}
    assert len(figures["phase"]["cells"]) == len(cells)
    assert sum(cell["runs"] for cell in figures["phase"]["cells"]) == len(runs)
