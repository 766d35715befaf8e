"""Pictures of the docs: all listed, drawn from what is stored, which their commands make."""

import importlib.util
import math
import re
import shlex
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hardness.report.figures import screen
from hardness.runs.columns import timeless
from instances.strict import read_json

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
_PASSING = ("machine", "versions", "scaling", "command", "rates", "peak_bytes")


def _module():
    found = importlib.util.spec_from_file_location("figures_made", ROOT / "benchmarks/figures.py")
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module
    found.loader.exec_module(module)
    return module


figures = _module()
PICTURES = figures.listed()
_FIRST = {(p.name, p.style): p for p in reversed(PICTURES)}  # of those drawn alike
DRAWN = [
    pytest.param(
        picture,
        id=Path(picture.image).stem,
        marks=[] if _FIRST[picture.name, picture.style] is picture else [pytest.mark.slow],
    )
    for picture in PICTURES
]


def test_every_picture_of_the_docs_is_listed():
    pages = [ROOT / "README.md", *DOCS.rglob("*.md")]
    shown = set()
    for page in pages:
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                shown.add((page.parent / link).resolve())
    files = {p.resolve() for p in (DOCS / "images").rglob("*") if p.is_file()}
    stored = {p.resolve() for p in (DOCS / "data").rglob("*.json")}
    wanted = {(DOCS / picture.image).resolve() for picture in PICTURES}
    assert shown == wanted
    assert files == wanted
    assert stored == {(DOCS / picture.source.file).resolve() for picture in PICTURES}
    assert sum(path.stat().st_size for path in stored) < 3_000_000


@pytest.mark.parametrize("picture", DRAWN)
def test_a_picture_is_drawn_from_its_stored_data(picture):
    assert ElementTree.fromstring(picture.drawn()).tag.endswith("svg")


@pytest.mark.parametrize(
    "picture",
    [p for p in PICTURES if p.source.quick],
    ids=lambda p: Path(p.image).stem,
)
def test_quick_sources_are_what_their_command_makes(hardness, picture):
    program, *arguments = shlex.split(picture.source.command)
    assert (program, picture.source.takes) == ("hardness", "stdout")
    made = _timeless(hardness(*arguments, "--quiet").json)
    stored = _timeless(read_json(DOCS / picture.source.file))
    assert _same(made, stored)
    assert not _same({**made, "spec": "another"}, stored)


def test_a_source_is_made_by_its_command():
    (parity,) = (p.source for p in PICTURES if p.image == "images/families/parity.svg")
    assert _same(_timeless(figures.made(parity)), _timeless(read_json(DOCS / parity.file)))


def _timeless(data):
    if isinstance(data, dict):
        return {k: _timeless(v) for k, v in timeless(data).items() if k not in _PASSING}
    return [_timeless(v) for v in data] if isinstance(data, list) else data


def _same(a, b):
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-9)
    return a == b


def test_no_source_names_a_folder_of_a_machine():
    for path in (DOCS / "data").rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'"[^"]*(/tmp|/home|/root|/work|/var|C:\\\\)', text), path


@pytest.mark.parametrize("picture", DRAWN)
def test_panels_stand_alone(picture):
    found = screen(picture.name, picture.data, "key")
    ids = [name for panel in found for name in re.findall(r'\bid="([^"]*)"', panel.svg)]
    assert len(ids) == len(set(ids))
    assert all(name.startswith("key") for name in ids)
    for panel in found:
        own = set(re.findall(r'\bid="([^"]*)"', panel.svg))
        used = set(re.findall(r'(?:href="|url\()#([^")]*)', panel.svg))
        assert used == own
        assert len(panel.svg) < 80_000
        root = ElementTree.fromstring(panel.svg)
        left, top, width, height = map(float, root.get("viewBox").split())
        assert (left, top) == (0, 0)
        assert (width, height) == pytest.approx((panel.width, panel.height), abs=0.01)
        shown = {int(n) for n in re.findall(r'data-series="(\d+)"', panel.svg)}
        assert shown <= set(range(len(panel.series)))
        for point in panel.points:
            assert 0 <= point.x <= panel.width
            assert 0 <= point.y <= panel.height
            assert -1 <= point.series < len(panel.series)
            assert " = " in point.text
        assert "#000000" not in panel.svg
        assert "DejaVu" not in panel.svg


@pytest.mark.parametrize("name", ["descent", "ladder", "icl-optimum", "map"])
def test_crowded_pictures_have_room_in_a_talk(name):
    (picture,) = (p for p in PICTURES if Path(p.image).stem == name)
    png = figures.draw(picture.name, picture.data, "png", "talk")  # no warning of axes without room
    width, height = (int.from_bytes(png[i : i + 4]) for i in (16, 20))
    assert (width, height) == (1920, 1080)


@pytest.mark.parametrize("name", ["descent", "icl-optimizers", "icl-optimum", "icl-train"])
def test_legends_of_a_talk_hide_no_words(name):
    from hardness.report import icl
    from hardness.report.canvas import render
    from hardness.report.figures import DRAWINGS

    (picture,) = (p for p in PICTURES if Path(p.image).stem == name)
    data, found = picture.data, []
    size, drawn = DRAWINGS.get(picture.name) or icl.drawing_of(data)

    def build(figure):
        drawn(figure, data)
        found.append(figure)

    render(size, "png", build, "talk")
    figure = found[0]
    figure.draw_without_rendering()
    legends = [axes.get_legend() for axes in figure.axes if axes.get_legend()]
    assert legends
    for axes in figure.axes:
        words = [axes.xaxis.label, axes.yaxis.label, axes.title]
        for box in (text.get_window_extent() for text in words if text.get_text()):
            assert not any(legend.get_window_extent().overlaps(box) for legend in legends)
