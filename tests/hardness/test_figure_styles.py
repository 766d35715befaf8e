import json
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from hardness.report.charts.chart import named
from hardness.report.charts.costs import of_risks
from hardness.report.charts.runs import draw_both_sides, of_both_sides
from hardness.report.charts.style import COLOURS, SHAPES, style_of, styles_of
from hardness.report.figures import FIGURES, draw
from hardness.runs import compare
from hardness.upper import LEARNERS
from tests.charts import rows_of, said


def _light(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("colour", COLOURS)
def test_colours_are_seen_on_white(colour):
    assert _contrast(colour, "#ffffff") >= 3


# What a colour is seen as, of linear red, green and blue: Machado, Oliveira and Fernandes 2009.
_SEEN = {
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)


def _lab(colour, seen):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    xyz = np.array(_XYZ) @ np.clip(np.array(seen) @ linear, 0, 1) / (0.95047, 1, 1.08883)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", _SEEN)
def test_colours_are_told_apart_by_the_colour_blind(blindness):
    seen = [_lab(colour, _SEEN[blindness]) for colour in COLOURS]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) >= 22
    closer = [_lab(colour, _SEEN["protanopia"]) for colour in ("#D55E00", "#9A7500")]
    assert np.linalg.norm(closer[0] - closer[1]) < 3  # which the names of the colours do not show


def test_no_two_built_in_learners_look_the_same():
    from hardness.report import style as styles

    assert set(styles._BUILT_IN) == set(LEARNERS)
    assert len({style_of(name) for name in LEARNERS}) == len(LEARNERS)
    assert all(style_of(name).shape in SHAPES for name in LEARNERS)


def test_a_learner_keeps_its_style_whoever_stands_beside_it():
    first = styles_of(["queries", "student"])
    second = styles_of(["x.py:A", "student", "queries", "elimination"])
    assert first["student"] == second["student"] == style_of("student:steps=3")
    assert first["queries"] == second["queries"]
    assert styles_of(["x.py:A"])["x.py:A"] == style_of("folder/x.py:A:width=3")
    six = ["queries", "elimination", *(f"x.py:{name}" for name in "ABCD")]
    assert len({one.colour for one in styles_of(six).values()}) == 6
    assert len({one.shape for one in styles_of(six).values()}) == 6
    both = styles_of(["lowdegree:degree=2", "lowdegree:degree=1"])
    assert both["lowdegree:degree=1"] == style_of("lowdegree")
    assert both["lowdegree:degree=2"].colour == style_of("lowdegree").colour
    every = styles_of([f"f{i}.py:Net" for i in range(19)] + list(LEARNERS))
    assert len(set(every.values())) == len(every)


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6,8", ("queries", "lowdegree:degree=1"), seeds=2)


def test_runs_may_be_missing(small):
    for runs in (small.runs[4:], ()):
        data = of_both_sides(replace(small, runs=runs))
        assert json.loads(json.dumps(data)) == data
        assert sum(row["kind"] == "run" for row in data["rows"]) == len(runs)
        assert "d" in said("both-sides", data)


def test_points_say_the_values(small):
    chart = draw_both_sides(of_both_sides(small))
    rows = [row for row in rows_of(chart) if row["kind"] == "run"]
    found = {(row["learner"], row["place"], row["examples"]) for row in rows}
    assert found == {
        (one, float(value), run.usage.examples)
        for one, name in zip(small.learners, small.learner_names, strict=True)
        for value in small.values
        for run in small.of(name, value)
    }
    layers = chart["concat"][1]["layer"]
    shown = [one["encoding"]["tooltip"] for one in layers if "tooltip" in one["encoding"]]
    assert {"field": "examples", "title": "number of examples"} in shown[0]


HOSTILE = ("$x$_{", "_a.py:N", "אבג\u202e<script>", "a" * 5000, "q\"'&<>", "\n\x00\x1b")


def test_hostile_names_are_drawn(small):
    data = of_both_sides(small)
    rows = data["rows"]
    for name, other in zip(HOSTILE[::2], HOSTILE[1::2], strict=True):
        data["spec"] = data["parameter"] = other
        of = dict(zip(small.learners, (name, other), strict=True))
        data["rows"] = [
            {**row, "learner": of[row["learner"]]} for row in rows if row["kind"] != "certified"
        ]
        drawn = draw("both-sides", data)
        assert b"<script" not in drawn
        assert len(drawn) < 60_000
        assert "d" in said("both-sides", data)


def test_a_talk_fills_a_screen(small):
    png = draw("both-sides", of_both_sides(small), "png", "talk")
    width, height = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
    assert (width, height) == (1920, 1080)
    assert draw("both-sides", of_both_sides(small), "pdf").startswith(b"%PDF")


def test_figures_are_listed_and_formats_are_read(hardness):
    listed = hardness("figure")
    assert listed.code == 0
    assert all(name in listed.out for name in FIGURES)
    assert max(map(len, listed.out.splitlines())) <= 80
    spec = "parity:d=8,m=3"
    assert hardness("figure", "sda", spec, "--out", "a", "--format", "pdf").code == 0
    assert hardness("figure", "sda", spec, "--out", "a.PNG", "--style", "talk").code == 0
    bad = hardness("figure", "sda", spec, "--out", "a.svg", "--format", "png")
    assert bad.code == 2
    bad.one_line("a.svg", "png")
    missing = hardness("figure", "sda")
    assert missing.code == 2
    missing.one_line("SPEC")


def test_names_that_are_cut_stay_different():
    long = "a_long_project_{}_learner_of_the_paper_final.py:nearest"
    names = {named(long.format(name)) for name in ("first", "other", "first" + chr(10))}
    assert len(names) == 3
    assert all(len(name) <= 40 and name.isprintable() for name in names)


def test_risks_of_sizes_that_a_learner_lacks(small):
    data = of_risks(replace(small, runs=small.runs[:-2]))
    said("risks", data)
    assert [row["runs"] for row in data["rows"]] == [2, 2, 2, 0]
    assert data["rows"][-1]["risk"] is None


def test_risks_count_late_runs_as_not_solved(small):
    late = [replace(run, budget=replace(run.budget, seconds=1e-9)) for run in small.runs]
    rows = of_risks(replace(small, runs=tuple(late)))["rows"]
    assert {row["solved"] for row in rows} == {0}
