"""Every figure: its rows, and the picture that is drawn of these alone."""

import json
import math
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace

from hardness import estimate, figure, learn
from hardness.learners import Outcome
from hardness.lwe.grid import grid
from hardness.report import style as styles
from hardness.report.charts.costs import draw_attacks, of_attacks
from hardness.report.charts.runs import draw_both_sides, of_both_sides
from hardness.report.figures import FIGURES, described, draw, numbers
from hardness.report.plot import Axis, named, panels, plot
from hardness.report.style import COLOURS, SHAPES, style_of, styles_of
from hardness.runs import compare
from hardness.runs.registry import LEARNERS
from instances import UsageError, parse
from instances.disk import read_json
from instances.errors import DamagedFile, ToolkitError
from tests.charts import panels_of, rows_of, said, texts
from tests.sweeping import sweep_to
from tests.thresholds import thresholds

DOCS = Path(__file__).parents[2] / "docs/data"
STORED = {
    "icl": "icl-steps",
    "stages": "stages",
}
SPECS = {"walsh": "lwr:n=4,q=16,p=2,secret=binary,h=3"}
LWR, MLP = "lwr:q=8,p=2,secret=binary", "mlp:width=8,steps=20,batch=16"
SWEEP = """
    name = "small"
    seeds = 2
    [[grid]]
    specs = "parity"
    over = { d = [8, 20, 40], m = [2, 3] }
    learners = ["queries", "trivial"]
    budget = { queries = 20 }
"""


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6,8", ("queries", "lowdegree:degree=1"), seeds=2)


@pytest.fixture(scope="module")
def attacked():
    return compare(LWR, "n=3,4", ("bruteforce", MLP), seeds=3)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return sweep_to(tmp_path_factory.mktemp("figures") / "small.db", SWEEP)


@pytest.fixture(scope="module")
def data(request, small, attacked, store, tmp_path_factory):
    """The data of a figure, from a source of it or as the docs keep them, made once."""
    name = request.param
    if name in STORED:
        return name, read_json(DOCS / f"{STORED[name]}.json")
    source = {
        **dict.fromkeys(("both-sides", "scaling"), small),
        **{"attacks": attacked, "phase": store},
    }.get(name)
    if name == "contours":
        over = ["n=64,80,96", "h=4,6,8"]
        source = grid("lwe:q=97,sigma=1,secret=binary", over, only=["brute-force"])
    elif name == "least":
        source = thresholds()
    return name, numbers(name, source or parse(SPECS.get(name, "profile:g=majority,d=9,m=3")))


every = pytest.mark.parametrize("data", list(FIGURES), indirect=True, ids=str)


@every
def test_a_figure_is_flat_rows_that_draw_it_again(data, tmp_path):
    """Axes have two ticks, and no panel is empty."""
    name, found = data
    assert found["figure"] == name
    assert found["rows"]
    for row in found["rows"]:
        assert all(isinstance(v, str | int | float | bool | None) for v in row.values()), row
    text = json.dumps(found, allow_nan=False)
    (tmp_path / "rows.json").write_text(text)
    assert numbers(name, tmp_path / "rows.json") == found
    picture = draw(name, found)
    assert picture == draw(name, json.loads(text))
    assert not {"NaN", "undefined", "null"} & set(" ".join(texts(picture)).split())
    root = ElementTree.fromstring(picture)
    axes = [e for e in root.iter() if "role-axis-label" in e.get("class", "").split()]
    assert axes
    assert all(sum(any(text.itertext()) for text in axis) >= 2 for axis in axes)
    chart = described(name, found)
    assert all(rows_of(panel) for panel in (panels_of(chart) if "concat" in chart else [chart]))


@pytest.mark.parametrize("name", FIGURES)
def test_a_source_of_another_kind_is_refused_in_a_line(name, small, attacked, store, tmp_path):
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"format": "another/1"}')
    other = "phase" if name == "sda" else "sda"
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps({"figure": other, "rows": [{"x": 1}]}))
    damaged = tmp_path / "damaged.json"
    damaged.write_text(json.dumps({"figure": name, "rows": [{"x": 1}]}))
    figure = FIGURES[name]
    sources = [foreign, rows, damaged, *([] if figure.source.store else [store])]
    sources += [] if figure.source.given == "hardness.runs:Comparison" else [small]
    for source in sources:
        with pytest.raises(ToolkitError) as refused:
            numbers(name, source)
        assert isinstance(refused.value, UsageError | DamagedFile), source
        assert "\n" not in str(refused.value)


def test_a_picture_names_all_endings(tmp_path):
    drawn = figure("sda", "parity:d=9,m=2")
    with pytest.raises(DamagedFile, match="a run of pooled:pool=0 given"):
        figure("stages", learn("pooled", "parity:d=9,m=2"))
    with pytest.raises(UsageError, match=r"\.svg, \.pdf, \.png, \.json"):
        drawn.save(tmp_path / "k.xyz")


def test_a_panel_of_one_size_has_two_ticks_and_one_without_rows_is_none():
    rows = [{"learner": "mlp", "d": 8, "cost": 5}]
    for scale in ("linear", "log", "whole"):
        one = plot(rows, x=Axis("d", scale=scale), y=Axis("cost", scale=scale), by="learner")
        axes = [one["encoding"][axis]["axis"].get("values", [0, 1]) for axis in "xy"]
        assert all(len(ticks) >= 2 for ticks in axes)
    lost = [{"learner": "mlp", "d": 8, "cost": value} for value in (0, None, math.inf, math.nan)]
    log = {"x": Axis("d"), "y": Axis("cost", scale="log"), "by": "learner"}
    assert plot(lost, **log) == {}
    assert len(panels(plot(rows, **log), plot(lost, **log), title="one")["concat"]) == 1


def test_names_that_are_cut_stay_different():
    long = "a_long_project_{}_learner_of_the_paper_final.py:nearest"
    names = {named(long.format(name)) for name in ("first", "other", "first" + chr(10))}
    assert len(names) == 3
    assert all(len(name) <= 40 and name.isprintable() for name in names)
    assert named("some/where/own.py:Layer:d=8 and /x/y.py:Net") == "own.py:Layer:d=8 and y.py:Net"


def test_runs_may_be_missing(small):
    for runs in (small.runs[4:], ()):
        data = of_both_sides(replace(small, runs=runs))
        assert json.loads(json.dumps(data)) == data
        assert sum(row["kind"] == "run" for row in data["rows"]) == len(runs)
        assert "d" in said("both-sides", data)


def test_points_say_the_values(small):
    chart = draw_both_sides(of_both_sides(small))
    rows = [row for row in rows_of(chart) if row["kind"] == "run"]
    assert {(row["learner"], row["place"], row["examples"]) for row in rows} == {
        (one, float(value), run.usage.examples)
        for one, name in zip(small.learners, small.learner_names, strict=True)
        for value in small.values
        for run in small.of(name, value)
    }


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


def test_figures_are_listed_and_drawn_from_rows_and_formats_are_read(hardness):
    listed = hardness("figure")
    assert listed.code == 0
    assert all(name in listed.out for name in FIGURES)
    assert max(map(len, listed.out.splitlines())) <= 80
    spec = "parity:d=8,m=3"
    assert hardness("figure", "sda", spec, "--out", "a", "--format", "pdf").code == 0
    assert hardness("figure", "sda", spec, "--out", "a.PNG", "--style", "talk").code == 0
    Path("rows.json").write_text(hardness("figure", "sda", spec, "--json").out)
    assert hardness("figure", "sda", "rows.json", "--out", "again.svg").code == 0
    assert hardness("figure", "sda", spec, "--out", "once.svg").code == 0
    assert Path("again.svg").read_bytes() == Path("once.svg").read_bytes()


def test_seconds_of_attacks_are_those_that_two_of_three_runs_stayed_within(attacked):
    """1, 2, 4 times the learner's place and the size's; hollow where not most are solved."""
    runs = []
    for i, run in enumerate(attacked.runs):
        place = 1 + attacked.learner_names.index(run.learner)
        seconds = float(2 ** (i % 3) * place * (1 + attacked.specs.index(run.spec)))
        outcome = Outcome.SOLVED if place == 1 else Outcome.PARTIAL
        runs.append(replace(run, usage=replace(run.usage, seconds=seconds), outcome=outcome))
    data = of_attacks(replace(attacked, runs=tuple(runs)))
    assert (data["values"], data["parameter"], data["spec"]) == (["3", "4"], "n", LWR)
    columns = ("learner", "value", "seconds", "solved", "runs")
    measured = [tuple(map(row.get, columns)) for row in data["rows"] if row["kind"] == "measured"]
    assert measured == [
        *(("bruteforce", "3", 2.0, 3, 3), ("bruteforce", "4", 4.0, 3, 3)),
        *((MLP, "3", 4.0, 0, 3), (MLP, "4", 8.0, 0, 3)),
    ]
    data["rows"][0] |= {"solved": 1, "runs": 2}  # half of them are not most
    left, right = panels_of(draw_attacks(data))
    assert [(row["seconds"], row["most"]) for row in rows_of(left)] == [
        *((2.0, False), (4.0, True), (4.0, False), (8.0, False)),
    ]
    assert all("estimated" in row["learner"] for row in rows_of(right))


def test_estimates_are_those_of_each_size(attacked):
    rows = [row for row in of_attacks(attacked)["rows"] if row["kind"] == "estimated"]
    found = {(row["attack"], row["value"]): row["bits"] for row in rows}
    assert found["brute-force", "3"] >= math.log2(7)  # more, where reading the samples costs more
    assert found["brute-force", "4"] >= math.log2(15)
    for value, spec in zip(("3", "4"), attacked.specs, strict=True):
        asked = tuple(name for name, size in found if size == value)
        made = {(one.name, value): one.rop for one in estimate(spec, attack=asked).estimates}
        assert made == {key: bits for key, bits in found.items() if key[1] == value}


# Colours, marks and lines: seen on white, told apart by everybody, and a learner's own.


def _light(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one, other):
    low, high = sorted((_light(one), _light(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_are_seen_on_white():
    assert [colour for colour in COLOURS if _contrast(colour, "#ffffff") < 3] == []


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
    every = styles_of([f"f{i}.py:Net" for i in range(42 - len(LEARNERS))] + list(LEARNERS))
    assert len(set(every.values())) == len(every)
