"""README and docs are tests: every console block is run, every >>> example too.

In a block, a line `...` stands for any lines, and `…` within a line for anything. Where lines are
folded does not matter.
"""

import doctest
import json
import re
import runpy
import shlex
import shutil
from importlib import import_module
from pathlib import Path

import pytest

from hardness.runs.registry import LEARNERS
from instances.spec import FAMILIES
from tests.conftest import script

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)
FENCED = re.compile(r"^```.*?^```", re.M | re.S)
LINK = re.compile(r"\]\((?!https?://|#)([^)#]+)")


def called(page: Path) -> str:
    """The name of a page below the repository: pages of two folders may be called alike."""
    return str(page.relative_to(ROOT))


def blocks(page: Path) -> list[tuple[str, str]]:
    """Commands of a page and the output that each should give."""
    found: list[tuple[str, str]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], ""))
            else:
                command, output = found[-1]
                found[-1] = (command, output + line + "\n")
    return found


def fits(expected: str, shown: str) -> bool:
    """Words in their order: where a line is folded hangs on the width of numbers that vary.

    All places that the words so far can end at are followed at once: no backtracking.
    """
    ends = {0}
    for line in expected.splitlines():
        if line.strip() == "...":
            ends |= {i for i, c in enumerate(shown, 1) if c == "\n" and i > min(ends, default=i)}
            continue
        for word in line.split():
            ends = {q for p in ends for q in run(r"\s*", shown, p)}
            for n, part in enumerate(word.split("…")):
                ends = {q for p in ends for q in run(".*", shown, p)} if n else ends
                ends = {p + len(part) for p in ends if shown.startswith(part, p)}
            ends = {p for p in ends if shown[p : p + 1].isspace()}
        ends = {q for p in ends for q in run(r"\s+", shown, p)[1:]} if line.strip() else ends
    return len(shown) in ends


def run(of: str, shown: str, start: int) -> range:
    """The places from `start` to the end of the longest match there."""
    found = re.compile(of).match(shown, start)
    return range(start, found.end() + 1 if found else start)


def test_the_commands_of_the_questions_are_run_on_their_pages():
    rows = re.findall(r"^\| \[.*?\]\((.*?)\) \| `(.*)` \|$", PAGES[0].read_text(), re.M)
    assert len(rows) == 4
    for page, command in rows:
        assert command in dict(blocks(ROOT / page)), command


DEMO = "make demo"  # half a minute: by `make test-slow`
FOLLOWS = {"docs/reports.md": "docs/sweeps.md"}  # a page goes on in the folder of another
# Pages whose commands or examples take half a second or more: by `make test-slow`.
LONG = {
    *("docs/bounds-as-formulas.md", "docs/estimating.md", "docs/families/beyond.md"),
    *("docs/families/random-layers.md", "docs/in-context.md", "docs/least.md"),
    *("docs/membership.md", "docs/python.md", "docs/questions.md", "docs/reports.md"),
    *("docs/spectra.md", "docs/staged.md"),
    *(f"docs/learners/{name}.md" for name in ("attacks", "regression")),
    *("docs/finite.md", "docs/growth.md", "docs/lwe.md"),
    *("docs/tutorials/cryptanalyst.md", "docs/tutorials/learner-author.md"),
    *("docs/tutorials/theorist.md", "docs/tutorials/your-layer.md"),
    *("docs/tutorials/questions/my-class.md", "docs/tutorials/questions/my-layer.md"),
    "docs/tutorials/questions/how-many-examples.md",
}


def marked(pages):
    """Pages as cases of a test, those that take long by `make test-slow`."""
    marks = {page: [pytest.mark.slow] if called(page) in LONG else [] for page in pages}
    return [pytest.param(page, id=called(page), marks=marks[page]) for page in pages]


AS_DATA = {"--json", "--format", "query"}  # a paper outlives defaults; a cell is data


@pytest.mark.parametrize("page", marked([page for page in PAGES if blocks(page)]))
def test_commands_print_what_the_page_says(hardness, page):
    if called(page) in FOLLOWS.values():
        pytest.skip("its commands are run for the page that follows it")
    shutil.copytree(ROOT / "docs/examples", "docs/examples")
    first = [ROOT / FOLLOWS[called(page)]] if called(page) in FOLLOWS else []
    for one in [*first, page]:
        for command, expected in blocks(one):
            if command != DEMO:
                program, *arguments = shlex.split(command)
                assert program == "hardness", command
                found = hardness(*arguments)
                prints(found, expected, f"{called(one)}: {command}")
                if not (AS_DATA & {*arguments}):
                    found.reads_well()


@pytest.mark.parametrize("script", ["collapse", pytest.param("dial", marks=pytest.mark.slow)])
def test_scripts_of_the_docs_draw_their_picture(hardness, monkeypatch, script):
    spec = "out" if script == "dial" else "linear:m=1,k=2,d=2"
    if script == "dial":
        wanted = "compare nice:m=1,k=2 --over d=2..3 --learner staged --seeds 1 --out out"
        assert hardness(*wanted.split()).code == 0
    monkeypatch.setattr("sys.argv", [script, spec, "drawn.svg"])
    runpy.run_path(str(ROOT / f"docs/examples/{script}.py"), run_name="__main__")
    text = Path("drawn.svg").read_text()
    assert text.count("<path") > 20
    assert any(word in text for word in ("Least squares on", "medians of 1 seeds"))


def prints(found, expected, what):
    # A page that shows nothing of what is refuted would not say that it is.
    assert found.code in ((0,) if expected.strip() == "..." else (0, 3)), f"{what}\n{found.err}"
    shown = f"{found.out}{found.err}".strip() + "\n"
    assert fits(expected, shown), f"{what}\n{shown}"


@pytest.mark.parametrize(
    ("expected", "these", "others"),
    [
        ("a\nb c\n", ["a\nb c\n", "a b\nc\n"], ["a\n", "a\nb c\nd\n", "a\nc b\n", "ab c\n", ""]),
        (
            "a\n...\nc\n",
            ["a\nc\n", "a\nb\nb b\nc\n"],
            ["a\nb\n", "b\nc\n", "a\nb c\n", "a\nc\nd\n"],
        ),
        ("a\n...\n", ["a\n", "a\nb\n"], ["b\na\n", "ab\n"]),
        ("a … 7\n", ["a 0.5 s 7\n", "a b\n7\n"], ["a b\nc 7\n", "a b 8\n", "b 5 7\n"]),
        ("a 0.1…,\n", ["a 0.15,\n"], ["a 0.25,\n", "a 0.15\n"]),
    ],
)
def test_what_stands_in_a_block_fits_what_it_stands_for_alone(expected, these, others):
    assert [shown for shown in these if not fits(expected, shown)] == []
    assert [shown for shown in others if fits(expected, shown)] == []


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_says(hardness, monkeypatch):
    prints(hardness("demo"), dict(blocks(PAGES[0]))[DEMO], DEMO)
    assert {path.name for path in Path("out").iterdir()} >= {"report.html", "results.json"}
    module = import_module("hardness.api.demo")
    monkeypatch.setattr(module, "OVER", "d=6")
    monkeypatch.setattr(module, "COUNTED", {})
    assert hardness("demo").code == 0  # what a demo made is made again


@pytest.mark.parametrize("page", marked([page for page in PAGES if ">>> " in page.read_text()]))
def test_python_examples_run(page, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # some write files
    Path("docs").symlink_to(ROOT / "docs")
    tests = doctest.DocTestParser().get_doctest(
        page.read_text(encoding="utf-8").replace("```", "\n"), {}, page.name, str(page), 0
    )
    assert doctest.DocTestRunner().run(tests).failed == 0


def markdown(page):
    """The text of a page, or of all cells of a notebook that are text."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".md":
        return text
    cells = json.loads(text)["cells"]
    return "\n\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")


def test_links_lead_somewhere_and_headings_are_told_apart():
    for page in [*PAGES, *(ROOT / "docs").rglob("*.ipynb")]:
        for target in LINK.findall(markdown(page)):
            assert (page.parent / target).exists(), f"{called(page)} links to {target}"
    for page in PAGES:
        headings = re.findall(r"^#+ .*", FENCED.sub("", markdown(page)), re.M)
        assert sum(heading.startswith("# ") for heading in headings) == 1, called(page)
        assert len(headings) == len(set(headings)), called(page)


@pytest.mark.parametrize("name", ["mathematics", "named-mathematics", "in-context-mathematics"])
def test_no_two_lemmas_or_theorems_of_a_page_have_one_number(name):
    page = (ROOT / f"docs/{name}.md").read_text()
    stated = re.findall(r"^\*\*(?:Lemma|Theorem|Proposition) ([A-Z]|\d+)\b", page, re.M)
    assert len(stated) > 8
    assert len(set(stated)) == len(stated), [n for n in stated if stated.count(n) > 1]
    named = re.findall(r"(?<!\] )(?:Lemma|Theorem)s? ([A-Z]|\d+)\b(?: and (\d+)\b)?", page)
    assert {number for pair in named for number in pair if number} <= set(stated)


def test_every_page_is_reached_from_the_index():
    reached, found = set(), [ROOT / "docs/index.md"]
    while found:
        page = found.pop()
        reached.add(page)
        links = LINK.findall(page.read_text(encoding="utf-8")) if page.suffix == ".md" else []
        found += {(page.parent / link).resolve() for link in links} - reached
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")]
    assert [called(page) for page in pages if page not in reached] == []


def test_every_promise_names_tests_that_exist():
    rows = re.findall(r"^\| \d+ \|.*\|$", (ROOT / "docs/promises.md").read_text(), re.M)
    assert len(rows) == 17
    assert all("`tests/" in row or LINK.search(row) for row in rows)
    for file, name in re.findall(
        r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/promises.md").read_text()
    ):
        assert f"def {name}(" in (ROOT / file).read_text(), (file, name)


@pytest.mark.parametrize(("folder", "names"), [("families", FAMILIES), ("learners", LEARNERS)])
def test_every_family_and_learner_has_its_section(folder, names):
    pages = "".join(page.read_text() for page in (ROOT / "docs" / folder).glob("*.md"))
    assert sorted(re.findall(r"^## `([a-z0-9_-]+)`$", pages, re.M)) == sorted(names)


@pytest.mark.parametrize("book", sorted((ROOT / "docs").rglob("*.ipynb")), ids=called)
def test_notebooks_hold_outputs_of_no_one_machine(book):
    text = book.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert not re.search(r"/(home|tmp|root|work|Users)/|Traceback", text)
    notebook = json.loads(text)
    assert (notebook["nbformat"], set(notebook["metadata"])) == (4, {"kernelspec", "language_info"})
    assert {cell["cell_type"] for cell in notebook["cells"]} == {"markdown", "code"}
    for cell in notebook["cells"]:
        assert cell["metadata"] == {}
        if cell["cell_type"] == "code":
            compile("".join(cell["source"]), called(book), "exec")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == [*range(1, len(code) + 1)]
    assert sum(bool(cell["outputs"]) for cell in code) > len(code) / 2


def test_the_notebook_of_the_front_door_is_its_page():
    maker = script("benchmarks/notebooks.py")
    wanted = maker.cells(maker.PAGE.read_text(encoding="utf-8"))
    stored = json.loads(maker.FRONT.read_text(encoding="utf-8"))["cells"]
    assert [(c["cell_type"], "".join(c["source"])) for c in stored] == wanted, "make notebooks"
    assert sum(kind == "code" for kind, _ in wanted) == 22


def test_every_source_has_its_reference():
    keys = set(re.findall(r"\b[A-Z][A-Za-z]+\d\d\b", (ROOT / "docs/references.md").read_text()))
    for path in [*(ROOT / "hardness").rglob("*.py"), *(ROOT / "instances").rglob("*.py")]:
        for group in re.findall(r"\[((?:[A-Z][A-Za-z]+\d\d(?:, )?)+)\]", path.read_text()):
            assert set(group.split(", ")) <= keys, (path, group)
        for key in re.findall(r'(?<!_)source="(?!FILE"|SPEC")(\w+)"', path.read_text()):
            assert key in (ROOT / "docs/references.md").read_text(), (path, key)
