"""What is drawn of thresholds is what their record says; growth is fitted to what is known."""

import itertools
import math

import numpy as np
import pytest

from hardness.report.charts.runs import ARROW, draw_both_sides, of_both_sides, of_least
from hardness.report.comparison import scaling_words
from hardness.report.figures import draw, numbers
from hardness.report.page.build import report_of, save
from hardness.runs import compare
from instances import UsageError
from instances.numbers import outward
from tests.charts import panels_of, rows_of, said, texts
from tests.reports import page_of
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
    (panel,) = panels_of(draw_both_sides(of_least(found)))
    rows = rows_of(panel)
    marks = {r["place"]: r for r in rows if r.get("learner") == "elimination"}
    assert list(marks) == SIZES
    for cell, (d, row) in zip(found.cells[::2], marks.items(), strict=True):
        assert (row["examples"], row["low"], row["high"]) == (cell.least, *cell.interval)
        by_hand = _sorted(d)
        assert row["low"] < by_hand[1] <= by_hand[-2] <= row["high"]
        assert row["examples"] / 2**0.26 < by_hand[4] <= row["examples"]
    floors = {r["place"]: int(r["value"]) for r in rows if r.get("learner") == "certified"}
    assert floors == {v: n for v, n in zip(found.values, found.floors, strict=True) if n > 2}
    told = said("least", of_least(found))
    assert "median of 9 instances" in told
    assert "(96.1%)" in told
    assert "elimination, lowdegree: z, the product of the tokens" in told
    assert "risk 1/20, success 9/20" in told
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
    drawn = " ".join(texts((tmp_path / "figure.svg").read_bytes()))
    assert "certified: risk 1/20" in drawn
    assert "\\caption{Least examples" in hardness("report", "paper", "--format", "latex").out
    assert hardness("report", "paper").out == made.out


def test_a_censored_cell_is_an_arrow_and_no_point(found):
    data = of_least(found)
    assert {row["least"] for row in data["rows"] if row.get("learner") == "lowdegree"} == {None}
    (panel,) = panels_of(draw_both_sides(data))
    layers = [one for one in panel["layer"] if "mark" in one and one["mark"] != "rule"]
    layers = [one for one in layers if "values" in one.get("data", {})]
    drawn = [
        (one["mark"]["type"], one["mark"].get("shape"), [r["examples"] for r in own])
        for one in layers
        if (own := [r for r in one["data"]["values"] if r.get("learner") == "lowdegree"])
        if any(r["examples"] or r["low"] for r in own)
    ]
    assert drawn == [("point", ARROW, [MOST // 2] * len(SIZES))]
    assert "arrows: more" in said("least", data)
    assert draw("least", data) != draw("least", of_least(found.updated(learners=("elimination",),
        **{n: tuple(t for t in getattr(found, n) if t.asked.learner.startswith("elimination"))
           for n in ("pilots", "thresholds")})))  # fmt: skip


def test_both_sides_shows_thresholds_in_the_place_of_what_runs_spent(found):
    made = compare("parity:m=2", "d=6,8,10", ("elimination", "queries"), seeds=1)
    bare, both = of_both_sides(made), of_both_sides(made, found)
    kept = [r for r in both["rows"] if r["kind"] in ("run", "enough")]
    assert kept == [r for r in bare["rows"] if r["kind"] in ("run", "enough")]
    panels = {one["title"]: rows_of(one) for one in panels_of(draw_both_sides(both))}
    of = [r for r in panels["Examples"] if r.get("learner") == "elimination"]
    assert {r["kind"] for r in of if r.get("examples")} == {"least"}
    assert {r["kind"] for r in panels["Time"] if r.get("learner") == "elimination"} >= {"run"}
    assert {r["kind"] for r in panels["Examples"] if r.get("learner") == "queries"} >= {"run"}
    with pytest.raises(UsageError, match="beside others of the same SPEC"):
        of_both_sides(compare("parity:m=3", "d=6,8", ("trivial",), seeds=1), found)
    with pytest.raises(UsageError, match="over no parameter given"):
        of_least(found.updated(parameter=""))


def test_a_command_draws_both_sides_with_thresholds_beside(found, hardness, tmp_path):
    made = compare("parity:m=2", "d=6,8,10", ("elimination",), seeds=1)
    made.save(tmp_path / "runs.json")
    found.save(tmp_path / "least.json")
    drawn = hardness("figure", "both-sides", "runs.json", "--beside", "least.json", "--json")
    assert drawn.json["rows"] == of_both_sides(made, found)["rows"]
    other = hardness("figure", "scaling", "runs.json", "--beside", "least.json", "--json")
    assert (other.code, other.err.count("\n")) == (2, 1)
    assert "it is of both-sides" in other.err


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
    assert "lowdegree: no fit: 0 sizes count, 4 are needed" in words
    few = thresholds("d=6,8,10").scaling.fits[0]
    assert few.no_fit == "3 sizes count, 4 are needed, each with the threshold of every instance"


def test_a_page_shows_thresholds_in_a_table_with_the_numbers_of_the_picture(found, tmp_path):
    made = compare("parity:m=2", "d=6,8", ("trivial",), seeds=1)
    save(tmp_path, made, "out", thresholds=(found,))
    page = page_of(report_of(tmp_path))
    rows = [row for row in page.rows if row[:1] in (["elimination"], ["lowdegree"])]
    told = [row for row in rows if row[1:2] and row[1].startswith("d=")]
    wanted = found._rows()
    assert [row[:2] for row in told] == [[one["learner"], one["size"]] for one in wanted]
    for row, one in zip(told, wanted, strict=True):
        shown = f"{one['least']}" if one["least"] is not None else "–"
        assert row[2:6] == ["examples", shown, one["interval"], one["range"]]
    assert f"hardness figure least {tmp_path}" in page.words
    assert numbers("least", tmp_path)["rows"] == of_least(found)["rows"]
