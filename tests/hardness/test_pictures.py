"""Pictures of the docs: all listed, drawn from what is stored, which their commands make."""

import math
import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from hardness.report.figures import draw
from instances.disk import read_json
from tests.conftest import script
from tests.sweeping import timeless

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
_PASSING = ("machine", "versions", "scaling", "command", "rates", "memory")


PICTURES = script("benchmarks/figures.py").listed()


def test_every_picture_of_the_docs_is_listed():
    shown = set()
    for page in (ROOT / "README.md", *DOCS.rglob("*.md")):
        for link in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            if "://" not in link:
                shown.add((page.parent / link).resolve())
    wanted = {picture.file.resolve() for picture in PICTURES}
    assert shown == wanted
    assert {p.resolve() for p in (DOCS / "images").rglob("*") if p.is_file()} == wanted
    stored = {p.resolve() for p in (DOCS / "data").rglob("*") if p.is_file()}
    assert stored == {picture.data.resolve() for picture in PICTURES if picture.figure}
    assert len(PICTURES) <= 24


@pytest.mark.slow
@pytest.mark.parametrize(
    "picture", [p for p in PICTURES if p.figure], ids=lambda picture: picture.image
)
def test_a_picture_is_drawn_from_its_stored_data(picture):
    """Its caption, which stands in the file too, is made of these data."""
    drawn = draw(picture.figure, read_json(picture.data))
    assert _described(drawn.file("svg")) == _described(picture.file.read_bytes())
    assert drawn.rows == read_json(picture.data)["rows"]


def _described(svg):
    """Give the caption in a file, and how many elements of each kind are drawn in it."""
    root = ElementTree.fromstring(svg)
    [about] = [e.text for e in root.iter("{http://purl.org/dc/elements/1.1/}description")]
    return about, Counter(e.tag for e in root.iter())


@pytest.mark.parametrize(
    "picture", [p for p in PICTURES if p.quick], ids=lambda picture: picture.image
)
def test_quick_numbers_are_what_their_command_makes(hardness, picture):
    made = _timeless(hardness(*picture.command, "--quiet").json)
    assert made.pop("caption")
    stored = _timeless(read_json(picture.data))
    assert _same(made, stored)
    assert not _same({**made, "spec": "another"}, stored)


@pytest.mark.slow
def test_numbers_are_made_in_a_scratch_folder():
    (sda,) = (p for p in PICTURES if p.image == "sda")
    assert _same(_timeless(sda.made_again()), _timeless(read_json(sda.data)))


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


def test_no_numbers_name_a_folder_of_a_machine():
    for path in (DOCS / "data").rglob("*.json"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'"[^"]*(/tmp|/home|/root|/work|/var|C:\\\\)', text), path
