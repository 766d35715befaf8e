"""The manual as `make docs` built it: `make test-docs` builds it first, and runs these."""

import doctest
import json
import re
from pathlib import Path

import click
import pytest

import cli
import hardness
from hardness.report.figures import FIGURES
from tests.conftest import script

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BUILT = ROOT / "build/docs"
SOURCES = [*DOCS.rglob("*.md"), *(DOCS / "notebooks").glob("*.ipynb")]
pytestmark = pytest.mark.docs


@pytest.fixture(scope="module")
def manual():
    """The built pages by their names, of a manual that is younger than its sources."""
    index = BUILT / "index.html"
    if not index.exists() or any(p.stat().st_mtime > index.stat().st_mtime for p in SOURCES):
        pytest.skip("the manual is not built, or older than its pages: make docs")
    return {str(p.relative_to(BUILT)): p.read_text(encoding="utf-8") for p in BUILT.rglob("*.html")}


def test_every_page_is_built(manual):
    for page in SOURCES:
        assert str(page.relative_to(DOCS).with_suffix(".html")) in manual


def test_formulas_are_formulas(manual):
    """A line of one that begins with + or > would make a list or a quotation of its end."""
    apart = r"<(pre|code|script|style)\b.*?</\1>|<(span|div) class=\"math.*?</\2>|<[^>]*>"
    for name, page in manual.items():
        text = re.sub(apart, "", page, flags=re.S)
        assert not re.search(r"\$[^$]*\$|\\[a-zA-Z]+\b", text), name


def test_nothing_is_loaded_from_elsewhere(manual):
    loaded = re.compile(r"<(?:script|img|iframe|source|link)\b[^>]*?\b(?:src|href)=\"([^\"]+)\"")
    for name, page in manual.items():
        for target in loaded.findall(page):
            assert not re.match(r"(https?:)?//", target), (name, target)
            if target.startswith("data:"):  # a picture in the page itself
                continue
            file = (BUILT / name).parent / target.partition("?")[0].partition("#")[0]
            assert file.exists(), (name, target)
    for sheet in BUILT.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"url\(['\"]?(https?:)?//|@import", text), sheet


def test_every_public_name_is_in_the_api(manual):
    for name in hardness.__all__:
        page = manual["api/hardness.html"]
        assert f'id="hardness.{name}"' in page or f'id="module-hardness.{name}"' in page, name


def test_every_command_and_option_is_on_the_page_of_commands(manual):
    def shown(command, *names):
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                yield "-".join([*names, parameter.opts[0].replace("--", "")])
        for name, below in getattr(command, "commands", {}).items():
            yield from shown(below, *names, name)

    wanted = [*shown(cli.cli, "hardness")]
    assert len(wanted) > 200
    assert [one for one in wanted if f"cmdoption-{one}" not in manual["commands.html"]] == []


def test_every_declared_parameter_is_on_the_page_of_parameters(manual):
    families, _, learners = manual["parameters.html"].partition('id="of-learners"')
    for page, kind in ((families, hardness.list_families), (learners, hardness.list_learners)):
        for name in (entry["name"] for entry in next(iter(kind("list").data.values()))):
            declared = kind("show", name).data["parameters"]
            section = re.split(rf"<h3>.*>{name}</span>", page)[1] if declared else ""
            rows = section.partition("</section>")[0]
            missing = [one["name"] for one in declared if f'">{one["name"]}</span>' not in rows]
            assert missing == [], name


def test_every_figure_and_picture_is_in_the_gallery(manual):
    page = manual["gallery.html"]
    assert [name for name in FIGURES if f'">{name}</span>' not in page] == []
    pictures = {path.name for path in (DOCS / "images").glob("*.svg")}
    assert pictures == set(re.findall(r'src="_images/([\w-]+\.svg)"', page))


def test_keys_lead_to_references(manual):
    assert 'href="../references.html#cl24"' in manual["api/extending.html"]
    assert 'id="cl24"' in manual["references.html"]


@pytest.mark.parametrize("book", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_are_shown_executed(manual, book):
    cells = json.loads(book.read_text(encoding="utf-8"))["cells"]
    printing = sum(
        "print(" in "".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"
    )
    shown = manual[f"notebooks/{book.stem}.html"]
    assert len(re.findall(r'class="output text_plain|class="output stream', shown)) >= printing
    assert "Traceback" not in shown


@pytest.mark.parametrize("book", sorted((DOCS / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_notebooks_give_what_they_hold(book):
    """Numbers with a fraction, such as seconds and rounding errors, differ between machines."""
    nbformat = pytest.importorskip("nbformat")
    maker = script("benchmarks/notebooks.py")
    stored = nbformat.read(book, 4)
    again = maker.execute(nbformat.read(book, 4))
    for held, given in zip(stored.cells, again.cells, strict=True):
        assert said(held) == said(given), held.source


def said(cell):
    """What a cell puts out as text, without numbers that have a fraction, and where lines fold."""
    texts = [
        one.get("text", one.get("data", {}).get("text/plain", ""))
        for one in cell.get("outputs", ())
    ]
    return " ".join(re.sub(r"-?\d+\.\d+(e[-+]?\d+)?", "#", "".join(texts)).split())


@pytest.mark.parametrize("file", sorted((DOCS / "extensions").glob("*.py")), ids=lambda p: p.stem)
def test_examples_of_the_extensions(file):
    pytest.importorskip("sphinx")
    assert doctest.testmod(script(file)).failed == 0
