import json

import pytest

from hardness.oracles import Budget
from hardness.report.charts.stages import of_stages
from hardness.report.figures import draw, numbers
from hardness.report.run import run_words
from hardness.report.stages import stage_words
from hardness.runs import run
from hardness.upper import parse_learner
from instances import DamagedFile, parse

SPEC = "nice:m=2,k=2,d=6"


@pytest.fixture(scope="module")
def found():
    return run(parse_learner("staged"), parse(SPEC).instance(0), Budget(examples=20_000))


def test_the_numbers_are_those_of_the_run(found):
    data = of_stages(json.loads(json.dumps(found.to_dict())))
    assert data["heads"] == 2
    rows = {k: [r for r in data["rows"] if r["kind"] == k] for k in ("eigenvalue", "residual")}
    assert data["rows"][-1]["error"] == found.details["errors"][-1]["error"]
    assert rows["eigenvalue"][1]["value"] / rows["eigenvalue"][0]["value"] > 1.5
    assert sum(row["rows"] for row in rows["residual"]) > 1000


def test_words_have_every_stage_and_every_signal(found):
    text = run_words(found)
    for stage in found.details["stages"]:
        assert stage["name"] in text
    for signal in found.details["diagnosis"]:
        assert signal["name"] in text
    assert "eigenvalues [" not in text
    flagged = dict(found.details)
    flagged["diagnosis"] = [{**s, "flagged": True} for s in flagged["diagnosis"]]
    assert "FLAG" in stage_words(flagged)
    assert flagged["diagnosis"][0]["advice"] in stage_words(flagged)


def test_the_figure_is_drawn_from_its_file(found, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps(found.to_dict()))
    svg = draw("stages", numbers("stages", tmp_path / "run.json"), "svg").decode()
    assert all(s in svg for s in ("Eigenvalues: how many heads", "2 heads: gap", "accepted"))


def test_other_files_are_refused(found, tmp_path):
    bare = run(parse_learner("staged"), parse("nice:m=2,k=2,d=6").instance(0), Budget(examples=5))
    with pytest.raises(DamagedFile, match="ended before the first stage"):
        of_stages(bare.to_dict())
    with pytest.raises(DamagedFile, match="staged"):
        of_stages({"format": "x"})
    other = run(parse_learner("trivial"), parse(SPEC).instance(0), Budget())
    with pytest.raises(DamagedFile, match="staged"):
        of_stages(other.to_dict())
    data = json.loads(json.dumps(found.to_dict()))
    data["details"]["errors"] = [{"stage": "x"}]
    with pytest.raises(DamagedFile, match="staged"):
        of_stages(data)
