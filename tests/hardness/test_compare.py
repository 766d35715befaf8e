import json

import pytest

from hardness.runs import Comparison, Cut, compare, values_of
from hardness.runs.comparison import specs_over
from instances import AlreadyExists, DamagedFile, UsageError
from instances.errors import ToolkitError


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6..10..2", ("queries", "elimination"), seeds=2)


def test_runs_are_all_there_in_order(small):
    assert len(small.runs) == 3 * 2 * 2
    assert [r.seed for r in small.runs[:2]] == [0, 1]
    assert small.values == (6, 8, 10)
    assert len(small.of("queries", 8)) == 2
    assert small.certificates[0].spec == "parity:d=6,m=2,noise=0,rho=3"


def test_results_read_back(small, tmp_path):
    small.save(tmp_path / "results.json")
    assert Comparison.load(tmp_path) == small
    with pytest.raises(AlreadyExists):
        small.save(tmp_path / "results.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["certificates"][0]["goal"]["claims"][1].update(value="9"),
        lambda d: d["certificates"].pop(),
        lambda d: d["runs"][0].pop("usage"),
        lambda d: d["runs"][0].update(outcome="great"),
        lambda d: d["terms"].update(tau="x"),
        lambda d: d.update(format="hardness-results/2"),
        lambda d: d["runs"].pop(),
        lambda d: d["runs"].append(d["runs"][0]),
        lambda d: d["runs"][0].update(learner="zzz"),
        lambda d: d["runs"][0].update(seed=1),
        lambda d: d["runs"][0].update(risk=7.0),
        lambda d: d["runs"][0].update(risk=3.9, risk_interval=[3.8, 4.0]),
        lambda d: d["runs"][0]["usage"].update(queries=10**400),
        lambda d: d["runs"][0]["usage"].update(examples=-5),
        lambda d: d["runs"][0]["usage"].update(seconds=float("inf")),
        lambda d: d.update(learners=["queries", "student"]),
        lambda d: d.update(specs=[], certificates=[], runs=[]),
        lambda d: d["specs"].__setitem__(1, d["specs"][0]),
        lambda d: d["specs"].reverse(),
        lambda d: d.update(more=1),
        lambda d: d.update(parameter="k"),
        lambda d: d.update(seeds=10**10),
        lambda d: d.update(command="\ud800"),
        lambda d: d["runs"][0].update(budget={"examples": 7}),
        lambda d: d["runs"][0].update(key="a"),
        lambda d: d.update(canonical=d["learners"]),
        lambda d: d.update(canonical=["a", "b", "c"]),
        lambda d: d["learners"].append(d["learners"][0]),
        lambda d: d["learners"].append("nosuch"),
        lambda d: d.update(runs={}),
    ],
)
def test_damaged_results_are_refused(small, tmp_path, change):
    data = json.loads(json.dumps(small.to_dict()))
    change(data)
    (tmp_path / "results.json").write_text(json.dumps(data))
    with pytest.raises(DamagedFile, match=r"results\.json") as found:
        Comparison.load(tmp_path)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("d=8..10", ("d", (8, 9, 10))),
        ("m=1..6..2", ("m", (1, 3, 5))),
        ("d=9", ("d", (9,))),
        ("d=9,4,9", ("d", (4, 9))),
    ],
)
def test_ranges(text, wanted):
    assert values_of(text) == wanted


@pytest.mark.parametrize(
    "text", ["d", "d=", "d=a..b", "d=9..8", "d=1..5..0", "=3", "d=1...3", "d=-1"]
)
def test_bad_ranges_are_refused(text):
    with pytest.raises(UsageError, match="--over"):
        values_of(text)


def test_a_parameter_replaces_what_the_spec_says():
    assert specs_over("parity-first", "m", (1, 2)) == [
        "parity:d=16,m=1,noise=0,rho=3",
        "parity:d=16,m=2,noise=0,rho=3",
    ]
    with pytest.raises(UsageError, match="parameters"):
        specs_over("parity:m=2", "k", (1,))
    with pytest.raises(UsageError, match="d - 1"):
        compare("parity:m=5", "d=4..8", ("elimination",))


def test_nothing_runs_before_everything_was_read(monkeypatch):
    monkeypatch.setattr("hardness.runs.planned.run", lambda *a, **k: pytest.fail("ran"))
    with pytest.raises(ToolkitError):
        compare("parity:m=2", "d=6..8", ("elimination", "elimniation"))
    with pytest.raises(UsageError):
        compare("parity:m=2", "d=6..8", ("elimination",), seeds=0)


def test_learners_named_twice_are_one_and_rows_are_not_mixed_up(tmp_path):
    names = ("lowdegree:degree=2", "lowdegree", "lowdegree:degree=1", "elimination")
    found = compare("parity:m=2", "d=6,8", names, seeds=1)
    assert found.learners == ("lowdegree:degree=2", "lowdegree:degree=1", "elimination")
    solved = {(c.learner.split(",")[0], c.value): c.solved for c in found.cells}
    assert solved[("lowdegree:degree=1", 8)] == 0
    assert solved[("lowdegree:degree=2", 8)] == solved[("elimination:checks=32", 8)] == 1
    found.save(tmp_path / "results.json")
    assert Comparison.load(tmp_path) == found


def test_one_size_that_cannot_be_done_costs_only_itself():
    with pytest.raises(Cut) as cut:
        compare("parity:m=3", "d=8,12,400", ("lowdegree:degree=4",), seeds=1)
    assert isinstance(cut.value.__cause__, ToolkitError)
    assert cut.value.partial.values == (8, 12)
    assert len(cut.value.partial.runs) == 2


def test_a_bound_that_says_nothing_is_no_number_and_one_that_says_something_is():
    rows = compare("parity:m=3", "d=8..9", ("elimination",), seeds=1)._rows()
    bounds = [row for row in rows if row["learner"] == "certified at least"]
    assert [(row["queries"], row["examples"], row["known"]) for row in bounds] == [
        ("vacuous", 5, "exact"),
        ("vacuous", 6, "exact"),
    ]
    rows = compare("parity:m=1", "d=3..4", ("elimination",), seeds=1)._rows()
    assert [row["known"] for row in rows if row["examples"] == "vacuous"][:1] == ["vacuous"]


def test_a_comparison_of_bounds_alone_has_a_table(tmp_path):
    found = compare("parity:m=3", "d=8..9", ())
    frame = found.to_frame()
    assert list(frame["spec"].unique()) == list(found.specs)
    assert len(frame) == sum(len(one.claims) for one in found.certificates)
    found.save(tmp_path / "b.csv")
    assert (tmp_path / "b.csv").read_text().count("sq-dimension,") == 2
