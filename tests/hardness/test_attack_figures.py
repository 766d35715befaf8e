"""The figures of attacks and of training: their rows against the runs and the estimates."""

import dataclasses
import math

import pytest

from hardness import estimate
from hardness.oracles import Usage
from hardness.report.charts.costs import draw_attacks, draw_training, of_attacks, of_training
from hardness.runs import compare
from hardness.upper import Outcome
from instances import UsageError, parse
from instances.errors import DamagedFile
from tests.charts import panels_of, rows_of

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
    assert (data["values"], data["parameter"], data["spec"], data["seeds"]) == (
        *(["3", "4"], "n", SPEC, 3),
    )
    columns = ("learner", "value", "seconds", "solved", "runs")
    measured = [tuple(map(row.get, columns)) for row in data["rows"] if row["kind"] == "measured"]
    assert measured == [
        *(("bruteforce", "3", 2.0, 3, 3), ("bruteforce", "4", 4.0, 3, 3)),
        *((MLP, "3", 4.0, 0, 3), (MLP, "4", 8.0, 0, 3)),
    ]
    data["rows"][0] |= {"solved": 1, "runs": 2}  # half of them are not most
    left, right = panels_of(draw_attacks(data))
    shown = [(row["learner"], row["seconds"], row["most"]) for row in rows_of(left)]
    assert shown == [
        *(("bruteforce", 2.0, False), ("bruteforce", 4.0, True)),
        *((MLP, 4.0, False), (MLP, 8.0, False)),
    ]
    assert all("estimated" in row["learner"] for row in rows_of(right))


def test_estimates_are_those_of_each_size(small):
    rows = [row for row in of_attacks(small)["rows"] if row["kind"] == "estimated"]
    found = {(row["attack"], row["value"]): row["bits"] for row in rows}
    assert found["brute-force", "3"] == math.log2(7)
    assert found["brute-force", "4"] == math.log2(15)
    for value, spec in zip(("3", "4"), small.specs, strict=True):
        asked = tuple(name for name, size in found if size == value)
        assert {(one.name, value): one.rop for one in estimate(spec, attack=asked).estimates} == {
            key: bits for key, bits in found.items() if key[1] == value
        }


def test_training_keeps_the_curves_of_the_runs_and_draws_what_a_loss_implies(small):
    data = of_training(small)
    kept = [
        (plain, i, *point)
        for plain, value in zip(("3", "4"), small.values, strict=True)
        for i, run in enumerate(small.of(small.learner_names[1], value))
        for point in run.details["curve"]
    ]
    columns = ("value", "run", "step", "examples", "loss")
    assert [tuple(map(row.get, columns)) for row in data["rows"]] == kept
    losses = (1.0, 0.25, 0.0, 4.0)
    own = {"learner": MLP, "value": "3", "run": 0, "examples": 1}
    data["rows"] = [{**own, "step": 1 + i, "loss": loss} for i, loss in enumerate(losses)]
    (chart,) = panels_of(draw_training(data))
    drawn = [row for row in rows_of(chart) if "step" in row]
    assert [row["advantage"] for row in drawn] == [0.0, 0.25, 0.5, -0.5]
    assert {row["series"] for row in drawn} == {f"{MLP}, n=3"}


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
