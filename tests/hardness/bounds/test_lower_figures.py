from pathlib import Path

import pytest

from hardness.bounds.hidden_sets import Johnson
from hardness.report import figures
from hardness.report.charts.bounds import correlations, sda
from instances import parse
from tests.charts import points

SPEC = "profile:g=majority,d=9,m=3"


def numbers(name):
    return figures.rows_of(name, parse(SPEC))


def test_what_is_0_is_on_no_axis_of_logarithms():
    data = numbers("sda")
    shown = [row for row in data["rows"] if row["lower"] != "0"]
    drawn = [10**y for _, y in points(sda(data).axes[0])]
    assert 0 < len(shown) < len(data["rows"])
    assert drawn == pytest.approx([float(row["lower"]) for row in shown])


def test_the_numbers_are_those_of_the_family():
    scheme = Johnson.family(parse(SPEC))
    found = numbers("correlations")["rows"]
    assert found[-1]["correlation"] < 1.0, "no member is paired with itself"
    assert abs(sum(row["share"] for row in found) - 1) < 1e-12
    wanted = [float(c / scheme.norm) for c in scheme.correlations[:-1]]
    assert [row["correlation"] for row in found] == wanted


def test_correlations_that_are_sampled_say_within_which_radius(tmp_path):
    """Of functions of so many signs that their points are not enumerated."""
    from hardness.bounds.members import read_members

    path = tmp_path / "mine.py"
    path.write_text("import numpy as np\nd = 50\nfs = [lambda x, k=k: x[:, k] for k in range(4)]\n")
    data = figures.rows_of("correlations", read_members(f"{path}:fs"))
    assert data["confidence"] == 0.99
    found = max(abs(row["correlation"]) for row in data["rows"])
    assert 0 < found <= data["radius"] < 0.02
    assert "Sampled: all within 0.0" in correlations(data).caption
    path.write_text(path.read_text().replace("50", "8"))
    data = figures.rows_of("correlations", read_members(f"{path}:fs"))
    assert data["rows"] == [{"correlation": 0.0, "share": 1.0}]
    assert "Sampled" not in correlations(data).caption


def test_a_transcript_of_an_earlier_version_is_refused_with_what_serves_instead(hardness):
    Path("t.json").write_text('{"format": "hardness-transcript/1"}')
    refused = hardness("check", "t.json")
    assert refused.code == 1
    refused.one_line("the format 'hardness-transcript/1' is gone", "--oracle adversary")


FUNCTIONS = """
import itertools
import numpy as np

d = 6
threes = [lambda x, s=list(s): np.sign(x[:, s].sum(axis=1))
          for s in itertools.combinations(range(6), 3)]
real = [lambda x: x.sum(axis=1), lambda x: x[:, 0]]
"""


@pytest.mark.parametrize("name", ["correlations", "sda"])
def test_figures_of_functions_of_a_file(hardness, name):
    Path("mine.py").write_text(FUNCTIONS)
    made = hardness("figure", name, "mine.py:threes", "--out", "a.svg", "--json")
    assert made.code == 0
    assert made.json["members"] == 20
    assert Path("a.svg").stat().st_size > 2000
    found = made.json["rows"]
    if name == "correlations":  # of two overlaps: 1/4 for one place, 1/2 for two, 0 for none
        shares = {row["correlation"]: row["share"] for row in found}
        assert shares == pytest.approx({0.0: 10 / 190, 0.25: 90 / 190, 0.5: 90 / 190})
    else:
        certified = hardness("certify", "mine.py:threes", "--gamma", "0.5", "--json").json
        claims = {quantity: value for quantity, _, value in certified["claims"]}
        assert found[-1]["lower"] == claims["sda-all-subsets"]
