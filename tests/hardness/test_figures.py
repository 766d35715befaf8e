"""Every figure: its rows, the artists that are drawn of them, and the files that are saved."""

import json
import math
import re
import subprocess
import sys
from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.figure import Figure
from msgspec.structs import replace

from hardness import estimate, figure, learn, read_runs
from hardness.learners import Outcome
from hardness.lwe.grid import grid
from hardness.report import style as styles
from hardness.report.charts.costs import attacks, attacks_rows
from hardness.report.charts.runs import both_sides, both_sides_rows
from hardness.report.figures import FIGURES, draw, rows_of
from hardness.report.style import (
    COLOURS,
    MARKERS,
    CaptionedFigure,
    legible_name,
    style_of,
    styles_of,
)
from hardness.runs import compare
from hardness.runs.registry import LEARNERS
from instances import UsageError, parse
from instances.disk import read_json
from instances.errors import DamagedFile, ToolkitError
from tests.charts import certified, drawn_values, legend, of, points, titles
from tests.sweeping import sweep_to
from tests.thresholds import thresholds

DOCS = Path(__file__).parents[2] / "docs/data"
STORED = ("icl-curves", "icl-steps", "stages")
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
def data(request, small, attacked, store):
    """The data of a figure, from a source of it or as the docs keep them, made once."""
    name = request.param
    if name in STORED:
        return name, read_json(DOCS / f"{name}.json")
    source = {
        **dict.fromkeys(("both-sides", "scaling"), small),
        **{"attacks": attacked, "phase": store},
    }.get(name)
    if name == "contours":
        over = ["n=64,80,96", "h=4,6,8"]
        source = grid("lwe:q=97,sigma=1,secret=binary", over, only=["brute-force"])
    elif name == "least":
        source = thresholds()
    return name, rows_of(name, source or parse(SPECS.get(name, "profile:g=majority,d=9,m=3")))


every = pytest.mark.parametrize("data", list(FIGURES), indirect=True, ids=str)


@every
def test_a_figure_draws_flat_rows_and_its_letters_are_outlines_or_text(data):
    name, found = data
    for row in found["rows"]:
        assert all(isinstance(v, str | int | float | bool | None) for v in row.values()), row
    json.dumps(found, allow_nan=False)
    drawn = draw(name, found, width=3.3)
    assert isinstance(drawn, Figure)
    assert drawn.get_figwidth() == 3.3
    assert drawn.rows == found["rows"]
    assert drawn.caption.endswith(".")
    panels = [ax for ax in drawn.axes if ax.get_label() != "<colorbar>"]
    assert panels
    for ax in panels:
        values = drawn_values(ax)
        assert len(values)
        assert np.isfinite(values).any()
        assert ax.get_xlabel() or name == "stages"
        assert ax.get_ylabel()
        low, high = sorted(ax.get_ylim())
        ticks = [y for y in ax.get_yticks() if low <= y <= high]
        assert len(ticks) >= 2 or len(ax.get_yticklabels()) >= 2
    texts = [text.get_text() for ax in drawn.axes for text in ax.texts]
    assert drawn.caption not in texts
    svg = drawn.file("svg")
    assert ElementTree.fromstring(svg).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"<text" not in svg  # letters are outlines: a reader needs no font
    texts = drawn.svg()
    assert "<text" in texts
    assert not {"nan", "NaN", "None"} & set(re.findall(r"[a-zA-Z]+", re.sub("<[^>]*>", " ", texts)))


@pytest.mark.parametrize("data", ["phase"], indirect=True, ids=str)
def test_a_file_of_every_kind_embeds_its_fonts_and_is_the_same_each_time(data):
    svg, pdf, png = (draw(*data).file(kind) for kind in ("svg", "pdf", "png"))
    assert svg == draw(*data).file("svg")
    assert pdf == draw(*data).file("pdf")
    assert pdf.startswith(b"%PDF")
    assert b"/FontFile2" in pdf  # TrueType
    assert png.startswith(bytes([137]) + b"PNG")


def test_a_figure_is_edited_and_drawn_into_axes_of_the_callers(small, tmp_path):
    drawn = figure("both-sides", small, width=3.3)
    assert isinstance(drawn, CaptionedFigure)
    drawn.axes[0].set_ylim(1, 1e6)
    drawn.savefig(tmp_path / "x.pdf")
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
    own = Figure()
    axes = own.subplots(1, 3)
    assert figure("both-sides", small, ax=axes) is own
    assert points(axes[0]) == points(drawn.axes[0])
    with pytest.raises(UsageError, match="ax must hold 3 axes, one a panel, got 1"):
        figure("both-sides", small, ax=own.axes[0])
    with pytest.raises(UsageError, match=r"width must be between 1 and 100 inches, got 0\.5"):
        figure("both-sides", small, width=0.5)
    assert "<figcaption>Costs of learners" in drawn._repr_html_()


@pytest.mark.slow
def test_drawing_leaves_the_settings_of_matplotlib_alone():
    code = (
        "import sys, hardness, matplotlib; before = dict(dict.items(matplotlib.rcParams));"
        "hardness.figure('sda', 'parity:d=9,m=2').file('svg');"
        "after = dict(dict.items(matplotlib.rcParams));"
        "print(before == after, 'matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]


@pytest.mark.parametrize("name", FIGURES)
def test_a_source_of_another_kind_is_refused_in_a_line(name, small, attacked, store, tmp_path):
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"format": "another/1"}')
    rows = tmp_path / "rows.json"
    rows.write_text(json.dumps({"figure": name, "rows": [{"x": 1}]}))
    entry = FIGURES[name]
    sources = [foreign, rows, *([] if entry.source.store else [store])]
    sources += [] if entry.source.kind == "hardness.runs:Comparison" else [small]
    for source in sources:
        with pytest.raises(ToolkitError) as refused:
            rows_of(name, source)
        assert isinstance(refused.value, UsageError | DamagedFile), source
        assert "\n" not in str(refused.value)


def test_a_run_of_another_learner_has_no_stages():
    with pytest.raises(DamagedFile, match="got one of pooled:pool=0"):
        figure("stages", learn("pooled", "parity:d=9,m=2"))


def test_names_are_short_and_in_one_line_and_no_formula():
    long = legible_name("a_long_project_learner_of_the_paper_final_version_two.py:nearest", 40)
    assert len(long) <= 41
    assert legible_name("a" + chr(10) + chr(0x202E) + "b") == "a??b"
    assert legible_name("some/where/own.py:Layer:d=8") == "own.py:Layer:d=8"
    assert legible_name("$x$") == r"\$x\$"


def test_runs_may_be_missing(small):
    for runs in (small.runs[4:], ()):
        found = both_sides_rows(replace(small, runs=runs))
        assert json.loads(json.dumps(found)) == found
        assert sum(row["kind"] == "run" for row in found["rows"]) == len(runs)
        assert draw("both-sides", found).axes[0].get_xlabel() == "d"


def test_a_line_breaks_where_not_all_seeds_solved_and_hollow_marks_stand_out():
    data = both_sides_rows(compare("parity:m=2", "d=6,8,10", ("queries",), seeds=2))
    for row in data["rows"]:
        if row.get("place") == 8 and row["kind"] in ("enough", "run"):
            row["solved"] = False
    panel = titles(both_sides(data))["Examples"]
    [line] = [one for one in panel.get_lines() if one.get_linestyle() == "-"]
    assert np.isnan(np.asarray(line.get_ydata(), float)).tolist() == [False, True, False]
    full, hollow = (
        one
        for one in panel.get_lines()
        if one.get_marker() == "o" and one.get_linestyle() == "None"
    )
    assert hollow.get_markerfacecolor() == "none"
    assert hollow.get_markersize() > full.get_markersize()


def test_marks_stand_at_the_values_filled_where_a_run_solved(small):
    panels = titles(both_sides(both_sides_rows(small)))
    for cost, title in (("queries", "Statistical queries"), ("examples", "Examples")):
        for name in small.learner_names:
            runs = [(v, run) for v in small.values for run in small.runs_of(name, v)]
            for solved in (True, False):
                wanted = [
                    (float(value), float(run.used(cost)))
                    for value, run in runs
                    if run.solved is solved and run.used(cost)
                ]
                at = points(panels[title], colour=of(name), filled=solved)
                assert at == sorted(wanted), (cost, name, solved)


def test_no_panel_of_queries_is_empty():
    """No learner asked any, and at d = 6, 7 the bound on queries is vacuous."""
    silent = compare("parity:m=2", "d=6,7", ("elimination",), seeds=1)
    assert both_sides_rows(silent)["costs"][0] == "risk"
    bounded = compare("parity:m=3", "d=24,25", ("elimination",), seeds=1)
    assert both_sides_rows(bounded)["costs"][0] == "queries"


def test_learners_of_one_fixed_budget_are_told_apart(small):
    """Marks of equal numbers are drawn side by side, and their data stay what they are."""
    data = both_sides_rows(small)
    for row in data["rows"]:
        if row["kind"] == "run":
            row["examples"] = 5000.0
    drawn = both_sides(data)
    drawn.draw_without_rendering()
    ax = titles(drawn)["Examples"]
    places = {}
    for line in ax.get_lines():
        if line.get_marker() in MARKERS:
            assert set(line.get_ydata()) == {5000.0}
            at = line.get_transform().transform(line.get_xydata())
            places.setdefault(line.get_color(), set()).update(np.round(at[:, 0], 2))
    first, second = places.values()
    assert not first & second


def test_marks_of_five_learners_stand_between_the_edges():
    """At the first and the last size too, where they are moved aside: with their radius."""
    stored = Path(__file__).parents[2] / "docs/data/both-sides.json"
    drawn = draw("both-sides", read_json(stored))
    drawn.draw_without_rendering()
    for ax in drawn.axes:
        for line in ax.get_lines():
            if line.get_marker() in MARKERS:
                radius = line.get_markersize() / 2 * drawn.dpi / 72
                x = line.get_transform().transform(line.get_xydata())[:, 0]
                assert ax.bbox.x0 < x.min() - radius
                assert x.max() + radius < ax.bbox.x1


def test_a_risk_of_0_is_drawn_at_a_marked_floor():
    rows = [
        {"kind": "run", "learner": "mlp", "place": d, "seed": 0, "solved": True, "risk": risk}
        | {"examples": 10.0, "seconds": 1.0}
        for d, risk in ((4.0, 0.0), (6.0, 1e-5), (8.0, 1.0))
    ]
    data = {"spec": "x", "parameter": "d", "seeds": 1, "places": [4.0, 6.0, 8.0], "rows": rows}
    data |= {"costs": ["risk", "examples"], "tau": "1/10", "risk": "1/4", "success": "2/3"}
    drawn = both_sides(data)
    ax = drawn.axes[0]
    (_, floor), *rest = points(ax, colour=of("mlp"))
    assert rest == [(6.0, 1e-5), (8.0, 1.0)]
    assert 0 < floor < 1e-5
    drawn.draw_without_rendering()
    labels = {t.get_text(): t.get_position()[1] for t in ax.get_yticklabels()}
    assert labels["0"] == pytest.approx(floor)
    assert [line.get_ydata()[0] for line in ax.get_lines() if line.get_linestyle() == ":"] == [
        floor
    ]


HOSTILE = ("$x$_{", "_a.py:N", "אבג\u202e<script>", "a" * 5000, "q\"'&<>", "\n\x00\x1b")


def test_hostile_names_are_drawn(small):
    data = both_sides_rows(small)
    rows = data["rows"]
    for name, other in zip(HOSTILE[::2], HOSTILE[1::2], strict=True):
        data["spec"] = data["parameter"] = other
        renamed = dict(zip(small.learners, (name, other), strict=True))
        data["rows"] = [
            {**row, "learner": renamed[row["learner"]]}
            for row in rows
            if row["kind"] != "certified"
        ]
        drawn = both_sides(data)
        assert len(legend(drawn)) == 2
        assert "<script" not in drawn._repr_html_()  # which holds the picture
        assert len(drawn.file("svg")) < 300_000


def test_the_command_lists_and_draws_and_prints_the_caption(hardness):
    listed = hardness("figure")
    assert listed.code == 0
    assert all(name in listed.out for name in FIGURES)
    assert max(map(len, listed.out.splitlines())) <= 80
    spec = "parity:d=8,m=3"
    made = hardness("figure", "sda", spec, "--out", "a.PNG", "--width", "3.3")
    assert made.code == 0
    assert made.out.startswith("a.PNG\n\nStatistical dimension with average correlation")
    assert hardness("figure", "sda", spec, "--out", "a.svg").code == 0
    assert Path("a.svg").read_bytes() == figure("sda", spec).file("svg")
    rows = hardness("figure", "sda", spec, "--json").json
    assert rows["rows"] == figure("sda", spec).rows
    assert hardness("figure", "sda", spec, "--out", "a.svg").code == 1
    assert hardness("figure", "sda", spec, "--out", "a.svg", "--force").code == 0


def test_seconds_of_attacks_are_those_that_two_of_three_runs_stayed_within(attacked):
    """1, 2, 4 times the learner's place and the size's; hollow where not most are solved."""
    runs = []
    for i, run in enumerate(attacked.runs):
        place = 1 + attacked.learner_names.index(run.learner)
        seconds = float(2 ** (i % 3) * place * (1 + attacked.specs.index(run.spec)))
        outcome = Outcome.SOLVED if place == 1 else Outcome.PARTIAL
        runs.append(replace(run, seconds=seconds, outcome=outcome))
    data = attacks_rows(replace(attacked, runs=tuple(runs)))
    assert (data["values"], data["parameter"], data["spec"]) == (["3", "4"], "n", LWR)
    columns = ("learner", "value", "seconds", "solved", "runs")
    measured = [tuple(map(row.get, columns)) for row in data["rows"] if row["kind"] == "measured"]
    assert measured == [
        *(("bruteforce", "3", 2.0, 3, 3), ("bruteforce", "4", 4.0, 3, 3)),
        *((MLP, "3", 4.0, 0, 3), (MLP, "4", 8.0, 0, 3)),
    ]
    data["rows"][0] |= {"solved": 1, "runs": 2}  # half of them are not most
    drawn = attacks(data)
    left, right = drawn.axes
    assert points(left, filled=True) == [(4.0, 4.0)]
    assert points(left, filled=False) == [(3.0, 2.0), (3.0, 4.0), (4.0, 8.0)]
    estimated = [row for row in data["rows"] if row["kind"] == "estimated"]
    assert points(right) == sorted((float(row["value"]), row["bits"]) for row in estimated)
    assert same_color(right.get_lines()[0].get_color(), of("bruteforce")) or len(right.lines) > 1
    assert "brute-force (estimated)" in legend(drawn)


def test_estimates_are_those_of_each_size(attacked):
    rows = [row for row in attacks_rows(attacked)["rows"] if row["kind"] == "estimated"]
    found = {(row["attack"], row["value"]): row["bits"] for row in rows}
    assert found["brute-force", "3"] >= math.log2(7)  # more, where reading the samples costs more
    assert found["brute-force", "4"] >= math.log2(15)
    for value, spec in zip(("3", "4"), attacked.specs, strict=True):
        asked = tuple(name for name, size in found if size == value)
        made = {(one.name, value): one.rop for one in estimate(spec, attack=asked).estimates}
        assert made == {key: bits for key, bits in found.items() if key[1] == value}


def test_runs_that_were_read_are_drawn_as_their_file(store):
    assert rows_of("phase", read_runs(store)) == rows_of("phase", store)


def test_the_phase_diagram_shows_shares_and_the_edge_of_what_is_certified(store):
    data = rows_of("phase", store)
    drawn = draw("phase", data)
    panels = [ax for ax in drawn.axes if ax.get_images()]
    assert [ax.get_title(loc="left") for ax in panels] == ["queries", "trivial"]
    needed = {(r["x"], r["y"]): int(r["queries"]) for r in data["rows"] if r["kind"] == "certified"}
    above = {at: n > data["query_budget"] for at, n in needed.items()}
    for ax in panels:
        cells = [r for r in data["rows"] if r.get("learner") == ax.get_title(loc="left")]
        image = ax.get_images()[0].get_array()
        for cell in cells:
            at = data["ys"].index(cell["y"]), data["xs"].index(cell["x"])
            assert image[at] == cell["passed"] / cell["runs"]
        (line,) = ax.collections
        sides = {tuple(np.mean(path.vertices, axis=0)) for path in line.get_paths()}
        wanted = set()
        for (x, y), over in above.items():
            i, j = data["xs"].index(x), data["ys"].index(y)
            for di, dj in ((1, 0), (0, 1)):
                if i + di < len(data["xs"]) and j + dj < len(data["ys"]):
                    beside = data["xs"][i + di], data["ys"][j + dj]
                    if over != above[beside]:
                        wanted.add((i + di / 2, j + dj / 2))
        assert wanted
        assert sides == wanted
    solid, dashed = (ax.collections[0].get_linestyle()[0][1] for ax in panels)
    assert (solid, dashed is not None) == (None, True)  # the bound is about the first alone
    for budgeted, least in ((True, "the budget"), (False, f"{data['query_budget']:,}")):
        (legend,) = draw("phase", data | {"budget_given": budgeted}).legends
        assert f"more queries than {least}" in legend.get_texts()[0].get_text()
    assert "in the worst case over answers within 1/10" in drawn.caption


def test_certified_lines_are_drawn_at_their_values(small):
    found = compare("parity:m=2", "d=12..24..4", ("trivial",), seeds=1)
    panels = titles(both_sides(both_sides_rows(found)))
    bounds = found.bounds("information-floor")
    assert certified(panels["Examples"]) == [
        [(float(v), float(n)) for v, n in zip(found.values, bounds, strict=True) if n > 2]
    ]


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
    assert all(style_of(name).marker in MARKERS for name in LEARNERS)


def test_a_learner_keeps_its_style_whoever_stands_beside_it():
    first = styles_of(["queries", "student"])
    second = styles_of(["x.py:A", "student", "queries", "elimination"])
    assert first["student"] == second["student"] == style_of("student:steps=3")
    assert first["queries"] == second["queries"]
    assert styles_of(["x.py:A"])["x.py:A"] == style_of("folder/x.py:A:width=3")
    six = ["queries", "elimination", *(f"x.py:{name}" for name in "ABCD")]
    assert len({one.colour for one in styles_of(six).values()}) == 6
    assert len({one.marker for one in styles_of(six).values()}) == 6
    both = styles_of(["lowdegree:degree=2", "lowdegree:degree=1"])
    assert both["lowdegree:degree=1"] == style_of("lowdegree")
    assert both["lowdegree:degree=2"].colour == style_of("lowdegree").colour
    every = styles_of([f"f{i}.py:Net" for i in range(42 - len(LEARNERS))] + list(LEARNERS))
    assert len(set(every.values())) == len(every)
