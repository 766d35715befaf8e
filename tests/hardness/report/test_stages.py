"""The stages of a run of the staged learner, in words and drawn."""

import json

import pytest

from hardness.oracles import Budget
from hardness.report.charts.stages import stages_rows
from hardness.report.figures import draw, rows_of
from hardness.report.run import run_words
from hardness.report.stages import stage_words
from hardness.runs import run
from hardness.runs.registry import parse_learner
from instances import DamagedFile, parse
from tests.charts import points
from tests.conftest import not_refused


@pytest.fixture(scope="module")
def seen():
    return run(parse_learner("staged"), parse("nice:m=2,k=2,d=6").instance(0), Budget())


def test_words_have_every_stage_and_every_signal(seen):
    text = run_words(seen)
    for part in (*seen.details["stages"], *seen.details["diagnosis"]):
        assert part["name"] in text
    assert "eigenvalues [" not in text
    signals = [{**signal, "flagged": True} for signal in seen.details["diagnosis"]]
    text = stage_words({**seen.details, "diagnosis": signals})
    assert f"{len(signals)} of {len(signals)} signals flagged" in text
    assert text.count("FLAG") == len(signals)
    assert all(signal["advice"] in text for signal in signals)


def test_the_figure_has_the_numbers_of_the_run_and_is_drawn_from_its_file(seen, tmp_path):
    (tmp_path / "run.json").write_text(seen.to_json())
    data = rows_of("stages", tmp_path / "run.json")
    rows = {
        kind: [r for r in data["rows"] if r["kind"] == kind] for kind in ("eigenvalue", "residual")
    }
    assert data["heads"] == 2
    assert data["rows"][-1]["error"] == seen.details["errors"][-1]["error"]
    assert [row["value"] for row in rows["eigenvalue"]] == seen.details["eigenvalues"]
    assert [row["rows"] for row in rows["residual"]] == seen.details["residuals"]["counts"]
    drawn = draw("stages", data)
    heads, agreed, error = drawn.axes
    assert [y for _, y in points(heads)] == seen.details["eigenvalues"]
    counts = [row["rows"] for row in rows["residual"]]
    assert [bar.get_height() for bar in agreed.patches] == counts
    assert points(error)[-1][1] == pytest.approx(data["rows"][-1]["error"])
    assert "shows 2 heads" in drawn.caption


def test_other_files_are_refused(seen):
    def short(learner, **budget):
        return run(parse_learner(learner), parse("nice:m=2,k=2,d=6").instance(0), Budget(**budget))

    odd = json.loads(seen.to_json())
    odd["details"]["errors"] = [{"stage": "x"}]
    cases = [
        ("bare", short("staged", examples=5).to_dict(), "ended before the first stage"),
        (
            "format",
            {"format": "x"},
            "no run of the staged learner with its stages (`spec` is missing)",
        ),
        ("other", short("trivial").to_dict(), "figure stages draws a run of staged"),
        ("odd", odd, "no run of the staged learner with its stages (it lacks 'examples')"),
    ]
    cases = ((name, lambda data=data: stages_rows(data), word) for name, data, word in cases)
    assert not_refused(DamagedFile, cases) == []
