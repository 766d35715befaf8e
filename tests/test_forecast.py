"""`hardness forecast`: attacks with the parameters of estimates, and what growing blocks meet."""

import json

import numpy as np
import pytest

import hardness as h
from hardness.cost.attacks import estimate
from hardness.cost.problem import read
from hardness.cost.progressive import _chance, _tour, found_by
from hardness.cost.reduction import CHENGU12
from hardness.runs.forecast import Forecasts, operations, planned
from hardness.upper import primal
from hardness.upper.learner import Outcome
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
    assert one.expected < one.beta
    (one,), _ = plan(TOY, "guess+usvp")
    assert (one.zeta, one.beta, round(one.repetitions, 1)) == (78, 2, 7.7)
    assert one.learner == f"primal:block=2,first=0,samples={one.m},start=3,step=1,zeta=78"
    assert one.tries() == pytest.approx(np.log(0.5) / np.log1p(-one.prob))
    assert one.tries(one.chance) > one.tries()
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
    assert "2/2/2" in said
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
        ([EASY, "--attack", "dual_mitm"], "no learner runs it"),
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


def test_a_changed_file_is_refused(tmp_path):
    found = h.forecast(EASY, attack="usvp", seeds=1, jobs=1)
    found.save(tmp_path / "f.json")
    whole = json.loads((tmp_path / "f.json").read_text())

    def changed(change):
        data = json.loads(json.dumps(whole))
        change(data["rows"][0])
        (tmp_path / "g.json").write_text(json.dumps(data))
        with pytest.raises(DamagedFile):
            Forecasts.load(tmp_path / "g.json")

    changed(lambda row: row.update(learner="primal"))
    changed(lambda row: row.update(prob=1.5))
    changed(lambda row: row.update(runs=[]))
    changed(lambda row: row["runs"][0]["details"].update(block="2"))
    changed(lambda row: row["runs"][0]["details"].update(claimed_secret=[1] * 12))


def test_an_operation_is_timed_by_a_reduction_of_known_cost():
    ticks = iter(range(10))
    found = operations("chengu12", lambda: float(next(ticks)))
    assert found["LLL"] == pytest.approx(1 / 2 ** float(CHENGU12.cost(2, 100)))


# Growing blocks


def test_a_tour_is_that_of_random_lattices():
    """It keeps the volume, ends where nothing changes, and raises none below the tail's length."""
    norms, shape = np.linspace(3.0, -1.0, 90), []
    for _ in range(400):
        norms = _tour(norms, 30, -1.0)
        assert norms.sum() == pytest.approx(90.0)
        assert norms.min() >= -1.0 - 1e-6
        shape.append(norms)
    assert np.abs(shape[-1] - shape[-2]).max() < 1e-3
    assert shape[0][0] < 3.0
    flat = np.zeros(40)
    assert _tour(flat, 20, 0.0).tolist() == flat.tolist()


@pytest.mark.parametrize("beta", [2, 3, 7, 12])
def test_the_chance_of_a_tour_is_that_of_its_definition(beta):
    """A vector is met where its projections on k, k + beta - 1, .. vectors are short, k <= beta."""
    d, rng = 23, np.random.default_rng(7)
    norms = np.linspace(0.2, 2.0, d) + rng.uniform(-0.2, 0.2, d)  # the last first
    drawn = np.cumsum(np.random.default_rng(1).standard_normal((1000, d)) ** 2, axis=1)

    def met(lengths):
        return any(
            all(lengths[k - 1] <= np.exp(2 * norms[k - 1]) for k in range(first, d + 1, beta - 1))
            for first in range(1, beta + 1)
        )

    exact = sum(map(met, drawn)) / 1000
    assert _chance(norms, beta, np.random.default_rng(1)) == exact
    assert 0 < exact < 1


def test_more_tours_and_smaller_errors_are_found_by_smaller_blocks():
    def half(sigma, tours):
        return np.argmax(found_by(read(f"lwe:n=40,q=1601,sigma={sigma}"), 90, 60, tours) >= 0.5)

    assert half(3.5, 2) < half(5, 2) <= half(5, 1)


@pytest.mark.lattice
@pytest.mark.parametrize(
    "spec", ["lwe:n=40,q=1601,alpha=0.005", "lwe:n=60,q=257,sigma=3,secret=binary"]
)
def test_growing_blocks_find_secrets_where_they_are_expected_to(spec):
    """The median of five seeds, at sizes where the estimate is far too high or says little."""
    found = h.forecast(spec, attack="usvp", seeds=5, jobs=1)
    assert abs(found.rows[0].measured("block") - found.rows[0].expected) <= 6
