"""What is drawn of thresholds is what their record says; growth is fitted to what is known."""

import itertools
import math

import numpy as np
import pytest

from hardness.report.charts.runs import both_sides, both_sides_rows, least_rows
from hardness.report.comparison import scaling_words
from hardness.report.figures import draw
from hardness.runs import compare
from instances import UsageError
from instances.numbers import outward
from tests.charts import certified, of, points, titles
from tests.thresholds import MOST, from_which, thresholds

SIZES = [6, 8, 10, 12, 14]


@pytest.fixture(scope="module")
def found():
    return thresholds()


def _sorted(d, learner="elimination"):
    """What is known by hand: from which n on the nine instances pass."""
    return sorted(from_which(f"parity:d={d:g},m=2", learner, seed) for seed in range(9))


def test_medians_intervals_and_floors_are_drawn_as_the_record_has_them(found):
    """Nine seeds: the second of each side, and the fifth."""
    drawn = draw("least", least_rows(found))
    [panel] = drawn.axes
    assert [x for x, _ in points(panel, colour=of("elimination"))] == SIZES
    [bars] = panel.containers
    ends = [sorted(seg[:, 1]) for seg in bars.lines[2][0].get_segments()]
    marks = zip(found.cells[::2], points(panel, colour=of("elimination")), ends, strict=True)
    for cell, (d, y), (low, high) in marks:
        assert (y, low, high) == (cell.least, *cell.interval)
        by_hand = _sorted(d)
        assert low < by_hand[1] <= by_hand[-2] <= high
        assert y / 2**0.26 < by_hand[4] <= y
    floors = {v: n for v, n in zip(found.values, found.floors, strict=True) if n > 2}
    assert [dict(line) for line in certified(panel)] == [floors]
    told = drawn.caption
    assert "median of 9 instances" in told
    assert "(96.1%)" in told
    assert "elimination, lowdegree: z, the product of the tokens" in told
    assert "relative risk 1/20 with probability 9/20" in told
    law, floor = found.scaling.fits[0].law, found.scaling.certified[0].exponent
    assert f"elimination d^{law.exponent:.2f} [{outward(law.low, law.high, '.2f')}]" in told
    assert f"certified d^{floor:.2f}" in told


def test_a_folder_gives_the_figure_and_the_table_of_a_paper(hardness, tmp_path):
    line = "least parity:m=2 --over d=8,9 --learner elimination --seeds 6 --jobs 1 --out paper"
    made = hardness(*line.split())
    assert made.code == 0, made.err
    for kind in ("pdf", "svg"):
        assert hardness("figure", "least", "paper", "--out", f"figure.{kind}").code == 0
    assert (tmp_path / "figure.pdf").read_bytes().startswith(b"%PDF")
    assert b"relative risk 1/20" in (tmp_path / "figure.svg").read_bytes()
    assert "\\caption{Least examples" in hardness("report", "paper", "--format", "latex").out
    assert hardness("report", "paper").out == made.out


def test_a_censored_cell_is_an_arrow_and_no_point(found):
    data = least_rows(found)
    assert {row["least"] for row in data["rows"] if row.get("learner") == "lowdegree"} == {None}
    drawn = draw("least", data)
    [panel] = drawn.axes
    assert points(panel, colour=of("lowdegree")) == []
    assert sorted(arrow.xy for arrow in panel.texts) == [(d, MOST // 2) for d in SIZES]
    assert "Arrows: more" in drawn.caption


def test_both_sides_shows_thresholds_in_the_place_of_what_runs_spent(found):
    made = compare("parity:m=2", "d=6,8,10", ("elimination", "queries"), seeds=1)
    bare, both = both_sides_rows(made), both_sides_rows(made, found)
    kept = [r for r in both["rows"] if r["kind"] in ("run", "enough")]
    assert kept == [r for r in bare["rows"] if r["kind"] in ("run", "enough")]
    panels = titles(both_sides(both))
    medians = [(cell.value, cell.least) for cell in found.cells if cell.least]
    assert points(panels["Examples"], colour=of("elimination")) == medians
    runs = [run for run in made.runs if run.learner.startswith("elimination")]
    times = {y for _, y in points(panels["Time"], colour=of("elimination"))}
    assert times == {run.seconds for run in runs}
    assert len(points(panels["Examples"], colour=of("queries"))) == 3
    with pytest.raises(UsageError, match="beside others of the same SPEC"):
        both_sides_rows(compare("parity:m=3", "d=6,8", ("trivial",), seeds=1), found)
    with pytest.raises(UsageError, match=r"parity:m=2 is one size, .* run least with --over"):
        least_rows(found.updated(parameter=""))


def test_a_command_draws_both_sides_with_thresholds_beside(found, hardness, tmp_path):
    made = compare("parity:m=2", "d=6,8,10", ("elimination",), seeds=1)
    made.save(tmp_path / "runs.json")
    found.save(tmp_path / "least.json")
    drawn = hardness("figure", "both-sides", "runs.json", "--beside", "least.json", "--json")
    assert drawn.json["rows"] == both_sides_rows(made, found)["rows"]
    other = hardness("figure", "scaling", "runs.json", "--beside", "least.json", "--json")
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "--beside only applies to both-sides" in other.err


def test_growth_is_fitted_to_middles_where_every_instance_has_one(found):
    known, never = found.scaling.fits
    logs = [
        np.mean([math.log(math.sqrt(t.low * t.high)) for t in cell.thresholds])
        for cell in found.cells[::2]
    ]
    slope = np.polyfit(np.log(SIZES), logs, 1)[0]
    assert known.law.exponent == pytest.approx(slope)
    assert known.law.low < slope < known.law.high
    widths = [np.mean([math.log(t.high / t.low) for t in c.thresholds]) for c in found.cells[::2]]
    for signs in itertools.product((-0.5, 0.5), repeat=len(SIZES)):  # anywhere in the brackets
        other = np.polyfit(np.log(SIZES), logs + signs * np.array(widths), 1)[0]
        assert known.law.low - 1e-9 < other < known.law.high + 1e-9
    floors = np.polyfit(np.log(SIZES), np.log([float(n) for n in found.floors]), 1)[0]
    assert known.certified_exponent == pytest.approx(floors)
    assert (never.law, never.values) == (None, ())
    assert never.left_out[0] == (6, "9 of 9 instances have no threshold")
    words = scaling_words(found)
    assert "growth of the least over the sizes run, d = 6 to 14, where every instance" in words
    assert f"d^{slope:.2f} [" in words
    assert "lowdegree: no fit: 0 sizes count, 5 are needed" in words
    few = thresholds("d=6,8,10").scaling.fits[0]
    assert few.no_fit == "3 sizes count, 5 are needed, each with the threshold of every instance"
