import json

import pytest

from hardness.report.figures import draw, numbers
from hardness.report.stress import certified_words, headline, stress_words
from hardness.runs.names import short_specs
from hardness.runs.stress import Stress, stress
from instances import DamagedFile
from instances.ladders import ladder_of

OWN = ladder_of(["parity:d=8,m=2", "parity:d=9,m=3", "parity:d=400,m=3"])


@pytest.fixture(scope="module")
def small():
    learners = ["lowdegree", "trivial", "lowdegree:degree=3"]
    return stress(learners, OWN, references=["elimination"])


def test_a_stress_test_reads_back_and_its_table_is_written(small, tmp_path):
    """Each rung with its spec, what is certified of it, and the seeds that each learner passed."""
    small.save(tmp_path / "x.json")
    found = Stress.load(tmp_path / "x.json")
    assert found == small
    assert found.not_run  # of degree 3 in 399 bits
    assert json.loads((tmp_path / "x.json").read_text()).keys() < small.to_dict().keys()
    assert Stress.read({k: v for k, v in small.to_dict().items() if k != "format"}) == small
    found.save(tmp_path / "x.tex")
    lines = (tmp_path / "x.tex").read_text().splitlines()
    assert lines[3].startswith("rung & parity & certified queries & lowdegree & trivial & ")
    assert lines[5].startswith("1 & d=8,m=2 & vacuous & 5/5 & 0/5 & ")
    assert lines[7].startswith("3 & d=400,m=3 & ")
    assert lines[7].split(" & ")[2] == str(small.certified[2].queries)
    assert lines[8].startswith("held at 96.88\\% &  &  & 1 & 0 & ")


def solve(run):
    run.update(outcome="solved", risk=0.0, risk_interval=[0.0, 0.0])


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d["learners"][0].update(asked="elimination"),
        lambda d: d["learners"].pop(),
        lambda d: d["learners"][0].update(asked=d["learners"][1]["asked"]),
        lambda d: d["learners"][1].update(asked="lowdegree:degree=2"),
        lambda d: d["runs"][0].update(attempts=1),
        lambda d: d["learners"].append(d["learners"][0]),
        lambda d: d["learners"].clear(),
        lambda d: d["runs"].pop(),
        lambda d: d.update(runs=d["runs"][:-5]),  # it stopped on a rung that it passed
        lambda d: d["runs"].append(d["runs"][0]),
        lambda d: d["runs"][0].update(seed=3),
        lambda d: d["runs"][0].update(spec="parity:d=9,m=2,noise=0,rho=3"),
        lambda d: d["runs"][0].update(outcome="great"),
        lambda d: d["runs"][0].update(risk=9.0, risk_interval=[9.0, 9.0]),
        lambda d: [solve(run) for run in d["runs"] if run["learner"] == "trivial"],
        lambda d: d["runs"][0].update(risk_examples=d["runs"][0]["risk_examples"] + 10**6),
        lambda d: d["runs"][0].update(risk_interval=[0.0, d["runs"][0]["risk"] + 1e-6]),
        lambda d: d["runs"][0].update(risk_unclipped="1"),
        lambda d: d["runs"][-1].update(secret_recovered=False),
        lambda d: d["runs"][-1]["details"].update(claimed_secret=[1, 2, 4]),
        lambda d: d["not_run"].pop(),
        lambda d: d.update(base_seed=d["base_seed"] + 1),
        lambda d: d.update(seed_source="the moon"),
        lambda d: d.update(seeds=4),
        lambda d: d.update(seeds=10**9),
        lambda d: d["budget"].update(examples=10),
        lambda d: d["ladder"].update(name="parity-v1"),
        lambda d: d["ladder"]["rungs"][0].update(seconds=1.0),
        lambda d: d["ladder"]["rungs"].pop(),
        lambda d: d["ladder"].update(name="p\u0430rity-v1"),  # a Cyrillic letter
        lambda d: d.update(format="hardness-stress/1"),
    ],
)
def test_forged_files_are_refused(small, tmp_path, change):
    data = json.loads(json.dumps(small.filed()))
    change(data)
    (tmp_path / "x.json").write_text(json.dumps(data))
    with pytest.raises(DamagedFile, match=r"x\.json") as found:
        Stress.load(tmp_path / "x.json")
    assert "\n" not in str(found.value)


def test_names_of_learners_in_a_file_are_text(small, tmp_path):
    """A learner of a file that is not there, and would be executed if anything were."""
    (tmp_path / "bomb.py").write_text("raise SystemExit('executed')")
    data = json.loads(json.dumps(small.filed()))
    name = f"{tmp_path}/bomb.py:Learner"
    data["learners"][1].update(asked=name)
    for run in data["runs"]:
        if run["learner"] == "trivial":
            run["learner"] = name
    (tmp_path / "x.json").write_text(json.dumps(data))
    found = Stress.load(tmp_path / "x.json")
    assert found.climbs[1].asked == name
    assert name in stress_words(found)


def test_words_fit_and_say_what_is_held(small):
    text = stress_words(small)
    assert all(len(line) <= 100 for line in text.splitlines())
    assert headline(small, small.climbs[0]).startswith(
        "lowdegree climbs your ladder to rung 1 of 3, parity:d=8,m=2: with confidence 96.88 %"
    )
    assert "trivial holds no rung" in text
    assert "Not run: " in headline(small, small.climbs[2])
    assert "drawn from the operating system" in text
    assert str(small.base_seed) in text
    assert certified_words(small)[0].startswith("rungs 1 to 2: the query bound is vacuous.")
    assert certified_words(small)[1].startswith(
        "rung 3: any statistical-query learner needs at least "
    )
    assert "elimination" in certified_words(small)[1]


def test_what_is_certified_is_said_of_every_rung():
    """Also of those that a learner holds, with the number of each."""
    found = stress(["elimination"], ladder_of([f"parity:d={d},m=3" for d in (8, 16, 32)]), 5)
    assert found.climbs[0].held == 3
    numbers = ", ".join(str(one.queries) for one in found.certified[1:])
    said = " ".join(certified_words(found))
    assert f"rungs 2 to 3: any statistical-query learner needs at least {numbers} (rung by" in said


def test_assumptions_and_no_claims_are_said():
    own = ladder_of(["nice:m=1,k=2,d=4", "lwr:n=4,q=5,p=5,bits=3", "parity:d=8,m=2"])
    found = stress(["trivial"], own, 1)
    kinds = [one.evidence for one in found.certified]
    lines = certified_words(found)
    assert kinds == ["none", "assumption", "exact"]
    assert lines[0].startswith("rung 1: no claim. No bound from below is claimed")
    assert lines[1].startswith("rung 2: no certificate. ")
    assert lines[2].startswith("rung 3: the query bound is vacuous.")
    assert "Fewer than 5 seeds hold nothing" in stress_words(found)


def test_the_figure_is_drawn_from_numbers(small, tmp_path):
    small.save(tmp_path / "x.json")
    data = numbers("stress", tmp_path / "x.json")
    assert data == json.loads(json.dumps(data))
    assert [row["held"] for row in data["rows"] if "held" in row] == [1, 0, 2, 3]
    assert draw("stress", data, "png")[:4] == b"\x89PNG"
    assert short_specs(OWN) == ("parity", ["d=8,m=2", "d=9,m=3", "d=400,m=3"])


def test_what_is_said_of_a_rung_is_not_said_of_another():
    """Elimination learns parities fast, and neither noisy ones nor learning with rounding."""
    own = ladder_of(["parity:d=8,m=2", "parity:d=8,m=2,noise=0.1", "lwr:n=4,q=4,p=2,secret=binary"])
    lines = certified_words(stress(["trivial"], own, 1))
    assert [line.partition(":")[0] for line in lines] == ["rung 1", "rung 2", "rung 3"]
    assert ["learns it fast" in line for line in lines] == [True, False, False]
    assert "parity with noise is hard" in lines[1]
    assert "learning with rounding is hard" in lines[2]


def test_several_learners_are_each_said_to_hold_alone(small):
    assert "of each learner alone" in " ".join(stress_words(small).split())
    one = small.on(small.climbs[1:2]).updated(learners=small.learners[1:2])
    assert "of each learner alone" not in " ".join(stress_words(one).split())
    assert "1.25 times its seconds" in " ".join(stress_words(one).split())


def test_bounds_on_two_kinds_of_queries_are_two_lines():
    from hardness.report.charts.ladder import draw_stress, of_stress

    own = ladder_of(["parity:d=16,m=3", "profile:g=h,d=64,m=3", "parity:d=20,m=3"])
    data = of_stress(stress(["trivial"], own, 1))
    asked = [row["quantity"] for row in data["rows"] if row.get("cost") == "queries"]
    assert asked == ["stat-queries", "csq-queries", "stat-queries"]
    told = draw_stress(data)["title"]["subtitle"]
    assert sum("to STAT(1/10)" in one for one in told) == 1
    assert sum("on correlations" in one for one in told) == 1
