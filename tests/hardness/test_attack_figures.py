"""The figures of attacks: their numbers against the runs and the estimates, and what is drawn."""

import dataclasses
import math

import pytest

from hardness import estimate
from hardness.oracles import Usage
from hardness.report.charts.costs import draw_attacks, draw_training, of_attacks, of_training
from hardness.report.figures import draw, numbers
from hardness.runs import compare, read_comparison, write_comparison
from hardness.upper import Outcome
from instances import UsageError, parse
from instances.errors import DamagedFile

SPEC = "lwr:q=8,p=2,secret=binary"
MLP = "mlp:width=8,steps=20,batch=16"


@pytest.fixture(scope="module")
def small():
    return compare(SPEC, "n=3,4", ("bruteforce", MLP), seeds=3)


@pytest.fixture(scope="module")
def timed(small):
    """The same with seconds that are known: 1, 2, 4 times the learner's place and the size's."""
    runs = []
    for i, run in enumerate(small.runs):
        place = 1 + small.learner_names.index(run.learner)
        size = 1 + small.specs.index(run.spec)
        usage = Usage(
            examples=1, queries=0, seconds=float(2 ** (i % 3) * place * size), peak_bytes=1
        )
        outcome = Outcome.SOLVED if place == 1 else Outcome.PARTIAL
        runs.append(dataclasses.replace(run, usage=usage, outcome=outcome))
    return dataclasses.replace(small, runs=tuple(runs))


def test_seconds_are_those_that_two_of_three_runs_stayed_within(timed):
    data = of_attacks(timed)
    assert data["values"] == ["3", "4"]
    assert (data["parameter"], data["spec"], data["seeds"]) == ("n", SPEC, 3)
    assert list(data["measured"]) == ["bruteforce", MLP]
    first, second = data["measured"].values()
    assert [cell["seconds"] for cell in first] == [2.0, 4.0]
    assert [cell["seconds"] for cell in second] == [4.0, 8.0]
    assert [(cell["solved"], cell["runs"]) for cell in first + second] == [(3, 3)] * 2 + [
        (0, 3)
    ] * 2


def test_estimates_are_those_of_each_size(small):
    data = of_attacks(small)
    for i, spec in enumerate(small.specs):
        for one in estimate(spec, attack=tuple(data["estimated"])).estimates:
            assert data["estimated"][one.name][i] == one.rop
    assert data["estimated"]["brute-force"] == [math.log2(7), math.log2(15)]
    assert "restricted-elimination" not in data["estimated"]


def test_marks_are_hollow_where_most_runs_did_not_solve(timed):
    data = of_attacks(timed)
    data["measured"]["bruteforce"][0] |= {"solved": 1, "runs": 2}  # half of them are not most
    left, right = draw_attacks(data)["concat"]
    rows = left["data"]["values"]
    assert [(row["series"], row["value"], row["seconds"]) for row in rows] == [
        *(("bruteforce", "3", 2.0), ("bruteforce", "4", 4.0)),
        *((MLP, "3", 4.0), (MLP, "4", 8.0)),
    ]
    assert [row["most"] for row in rows] == [False, True, False, False]
    assert left["layer"][-1]["encoding"]["fillOpacity"] == {
        "condition": {"test": "datum.most", "value": 1},
        "value": 0,
    }
    bits = [row["bits"] for row in right["data"]["values"] if row["series"].startswith("brute")]
    assert bits == [math.log2(7), math.log2(15)]


def test_an_estimate_that_is_missing_at_a_size_leaves_a_gap(timed):
    data = of_attacks(timed) | {"estimated": {"bkw": [None, 7.0]}}
    assert draw_attacks(data)["concat"][1]["data"]["values"] == [
        {"series": "bkw (estimated)", "value": "4", "bits": 7.0}
    ]


def test_training_keeps_the_curves_of_the_runs(small):
    data = of_training(small)
    assert [(c["learner"], c["value"]) for c in data["curves"]] == [(MLP, "3"), (MLP, "4")]
    for curve, value in zip(data["curves"], small.values, strict=True):
        runs = small.of(small.learner_names[1], value)
        assert curve["runs"] == [r.details["curve"] for r in runs]


def test_training_draws_the_advantage_that_a_loss_implies(small):
    data = of_training(small)
    points = [[1, 16, 1.0], [10, 160, 0.25], [20, 320, 0.0], [21, 340, 4.0]]
    data["curves"] = [dict(data["curves"][0], runs=[points, points])]
    (chart,) = draw_training(data)["concat"]
    rows = chart["layer"][-1]["data"]["values"]
    assert [row["advantage"] for row in rows] == [0.0, 0.25, 0.5, -0.5] * 2
    assert {(row["series"], row["run"]) for row in rows} == {(f"{MLP}, n=3", i) for i in (0, 1)}


def test_a_damaged_curve_is_refused(small):
    for point in ([1, 2], [1, 16, "low"], [1, 16, math.nan], "curve", [1, 16, -1.0]):
        runs = [dataclasses.replace(r, details={**r.details, "curve": [point]}) for r in small.runs]
        with pytest.raises(DamagedFile, match="training curve"):
            of_training(dataclasses.replace(small, runs=tuple(runs)))


def test_training_needs_a_curve_and_labels_that_are_a_fair_bit(small):
    runs = tuple(r for r in small.runs if r.learner.startswith("bruteforce"))
    with pytest.raises(UsageError, match="no run in these results kept a training curve"):
        of_training(dataclasses.replace(small, runs=runs))
    for spec in ("lwr:n=3,q=8,p=4", "window:n=3,q=8,parts=4", "profile:d=8,m=3,g=majority"):
        odd = dataclasses.replace(small, specs=(small.specs[0], parse(spec).spec))
        with pytest.raises(UsageError, match="two equally likely levels"):
            of_training(odd)


@pytest.mark.parametrize("name", ["attacks", "training"])
def test_the_figures_are_drawn_from_a_file(small, tmp_path, name):
    path = tmp_path / "results.json"
    write_comparison(path, small)
    data = numbers(name, path)
    assert data == {"attacks": of_attacks, "training": of_training}[name](read_comparison(path))
    svg = draw(name, data, "svg").decode()
    titles = {"attacks": ("Measured", "Estimated"), "training": ("better than a coin",)}
    assert all(title in svg for title in titles[name])
