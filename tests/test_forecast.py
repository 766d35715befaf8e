"""`hardness forecast`: attacks with the parameters of estimates, beside these."""

import json

import numpy as np
import pytest

import hardness as h
from hardness.cost.attacks import estimate
from hardness.cost.problem import read
from hardness.cost.reduction import CHENGU12
from hardness.runs.forecast import Forecasts, operations, planned
from hardness.upper import primal
from hardness.upper.learner import Outcome
from hardness.upper.primal import Primal
from instances import parse
from instances.errors import DamagedFile

EASY, TOY = "lwe:n=12,q=521,sigma=1.5", "lwe:n=128,q=251,sigma=3,secret=binary,h=4"
LINE = ["forecast", EASY, "--attack", "usvp", "--seeds", "3", "--jobs", "1"]


@pytest.fixture(autouse=True)
def timed(monkeypatch):
    """The machine is measured in one test alone."""
    told = {"LLL": 1e-9, "BKZ": 1e-9}
    monkeypatch.setattr("hardness.runs.forecast.operations", lambda model: told)


def plan(spec, *names):
    return planned([estimate(read(spec), spec, only=names)])


def test_the_parameters_of_an_estimate_reach_the_learner():
    """Of the attacks that guess too: 78 of 128 coordinates left out, some 2^7.7 tries."""
    (one,), _ = plan("lwe:n=50,q=2503,alpha=0.005", "usvp")
    assert (one.beta, one.m, one.d) == (45, 110, 161)
    assert one.learner == "primal:block=55,first=0,samples=110,start=3,step=1,zeta=0"
    (one,), _ = plan(TOY, "guess+usvp")
    assert (one.zeta, one.beta, round(one.repetitions, 1)) == (78, 2, 7.7)
    assert one.learner == f"primal:block=2,first=0,samples={one.m},start=3,step=1,zeta=78"
    assert one.m == Primal(zeta=78).count(parse(TOY))
    assert one.tries == pytest.approx(np.log(0.5) / np.log1p(-one.prob))
    (one,), _ = plan(TOY, "dual_guess")
    assert f"block={one.beta},first=0,samples={one.m}," in one.learner
    assert one.learner.endswith(f"weight=4,zeta={one.zeta}")


def test_what_was_run_stands_beside_what_was_estimated(hardness, tmp_path):
    found = hardness(*LINE, "--out", "f.json", "--json")
    [row] = found.json["rows"]
    assert "usvp: block 2 in dimension" in found.err  # said before a run starts
    assert (row["measured_block"], row["of_runs"]["runs"]) == (2, 3)
    kept = Forecasts.load(tmp_path / "f.json")
    assert [len(one.runs) for one in kept.rows] == [3]
    assert kept.rows[0].result.recovered == row["of_runs"]["recovered"]
    said = hardness(*LINE).out
    assert "2/2" in said
    assert "Where blocks grow" not in said  # LLL alone: the block measured is the one given
    over = hardness(*LINE[:1], "lwe:n=12,sigma=1.5", "--over", "q=521,1021", *LINE[2:], "--json")
    assert [row["spec"].partition("q=")[2][:4] for row in over.json["rows"]] == ["521,", "1021"]


def test_a_learner_that_never_finds_is_none_of_ten(hardness, monkeypatch):
    monkeypatch.setattr(primal, "believed", lambda found, secret: False)
    found = h.forecast(EASY, attack="usvp", jobs=1)
    [row] = found.to_dict()["rows"]
    assert (row["of_runs"]["recovered"], row["measured_block"]) == (0, None)
    assert row["measured_seconds"] is None
    assert row["of_runs"]["success_interval"] == pytest.approx([0, 1 - 0.025**0.1])
    said = " ".join(str(found).split())
    assert "0/10 0.00..0.31" in said
    assert Outcome.NOT_FOUND.value in said


def test_blocks_are_compared_where_they_grow():
    """Medians count what was not found as infinite; a block that was given is no measurement."""
    (run,) = h.attack(EASY, "primal", seeds=1, jobs=1).attacks[0].runs
    (grown,), _ = plan("lwe:n=60,q=257,sigma=3,secret=binary", "usvp")
    fixed = [one for name in ("guess+usvp", "dual_guess") for one in plan(TOY, name)[0]]

    def told(row, *blocks):
        runs = [
            run.updated(
                spec=row.spec,
                learner=row.learner,
                details={"block": block or 9, "tries": 1},
                secret_recovered=block > 0,
            )
            for block in blocks
        ]
        return row.updated(runs=tuple(runs))

    beta = grown.beta
    for blocks, middle in (((beta, beta + 3, 0), beta + 3), ((beta, 0), None), ((0, 0, 8), None)):
        assert told(grown, *blocks).measured("block") == middle
        assert told(grown, *blocks).near(beta) == bool(middle)
        assert (told(grown, *blocks).measured("seconds") is None) == (middle is None)
    rows = (told(grown, beta + 4), told(grown, beta - 3), *(told(one, one.beta) for one in fixed))
    every = Forecasts(model="chengu12", operation={"LLL": 1.0}, rows=rows, not_run={})
    assert "estimated one in 1 of 2" in " ".join(str(every).split())


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (["parity:d=8,m=2"], "a flip is as large as the modulus"),
        ([EASY, "--attack", "bdd"], "no learner runs it; take one of usvp, guess+usvp, dual_guess"),
        ([EASY, "--attack", "none"], "none"),
        ([EASY, "--model", "none"], "cost model"),
        ([EASY, "--seeds", "0"], "at least 1"),
        (["lwe:n=256,q=4096,sigma=3,secret=binary,h=3", "--attack", "usvp"], "at most 80 run here"),
        ([EASY, "--over", "n"], "--over"),
        (["nothing"], "nothing"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_line(hardness, line, why):
    found = hardness("forecast", *line, "--jobs", "1")
    assert found.code == 2, found.err
    found.one_line(why)


def test_a_file_with_a_value_out_of_range_is_refused(tmp_path):
    found = h.forecast(EASY, attack="usvp", seeds=1, jobs=1)
    found.save(tmp_path / "f.json")
    whole = json.loads((tmp_path / "f.json").read_text())

    whole["rows"][0]["prob"] = 1.5
    (tmp_path / "g.json").write_text(json.dumps(whole))
    with pytest.raises(DamagedFile, match=r"g\.json"):
        Forecasts.load(tmp_path / "g.json")


def test_an_operation_is_timed_by_a_reduction_of_known_cost():
    ticks = iter(range(10))
    found = operations("chengu12", lambda: float(next(ticks)))
    assert found["LLL"] == pytest.approx(1 / 2 ** float(CHENGU12.cost(2, 100)))
