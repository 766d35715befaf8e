"""The page of a report in headless Chromium: what is seen, pressed, typed and downloaded."""

import base64
import csv
import io
import itertools
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from hardness.report.charts.phase import budgets, needed
from hardness.report.page.build import report, report_of
from hardness.report.page.write import write
from hardness.report.plot import named
from hardness.runs import compare
from hardness.runs.names import short
from hardness.runs.stress import stress
from instances import parse
from instances.ladders import ladder_of
from tests.browser import CHROMIUM, DRIVER, Browser
from tests.reports import HOSTILE, SOLVED, hostile, material, row

pytestmark = pytest.mark.browser

WIDTHS = (420, 800, 1280)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    pytest.importorskip("selenium", reason="needs the extra `browser`")
    if not (CHROMIUM and DRIVER):
        pytest.skip("needs chromium and chromedriver: Debian's chromium and chromium-driver")
    started = Browser(tmp_path_factory.mktemp("browser"))
    yield started
    started.driver.quit()


@pytest.fixture(scope="module")
def made():
    """Runs by hand, of three learners on ten problems."""
    runs = []
    for i in range(250):
        learner = ("queries", "lowdegree:degree=2", "mine.py:Net")[i % 3]
        used = {"examples": 1000 * i, "queries": 0 if i % 3 else 7 * i + 1}
        spec = f"{('parity:', 'profile:g=majority,')[i % 2]}d={8 + i % 5},m=2"
        usage = structs.replace(SOLVED.usage, **used)
        runs.append(row(parse(spec).spec, learner, i, solved=i % 2 == 0, usage=usage))
    return replace(report(material(runs)), charts=())


@pytest.fixture(scope="module")
def html(made):
    return write(made)


@pytest.fixture(scope="module")
def bad():
    return write(hostile())


@pytest.fixture(scope="module")
def compared():
    """Runs over two parameters, as those of a store."""
    learners = ("queries", "elimination", "lowdegree:degree=1")
    runs = [
        run
        for m in (2, 3)
        for run in compare(f"parity:m={m}", "d=8..16..2", learners, seeds=2).runs
    ]
    return report(material(runs))


@pytest.fixture(scope="module")
def real(compared):
    return write(compared)


@pytest.fixture(scope="module")
def climbed(tmp_path_factory):
    """Three learners on a ladder as given, one of them stopped by it."""
    path = tmp_path_factory.mktemp("climb") / "x.json"
    asked = ladder_of(["parity:d=8,m=1", "parity:d=16,m=2", "parity:d=24,m=3"])
    stress(["elimination", "queries", "trivial"], asked, base_seed=1).save(path)
    return write(report_of(path))


@pytest.fixture
def real_run(browser, real):
    browser.size(1280)
    browser.open("real", real).drawn()
    yield browser
    assert browser.errors() == []


@pytest.fixture
def opened(browser, html):
    browser.size(1280)
    browser.open("report", html).drawn()
    yield browser
    assert browser.errors() == []


def test_runs_are_sorted_by_number_and_by_text_and_what_is_missing_comes_last(opened, made):
    known = sorted(made.runs["queries"].dropna())
    for wanted, way in ((known, "ascending"), (known[::-1], "descending")):
        opened.press("[data-grid=runs] thead", "queries")
        opened.press("[data-grid=runs]", "Show all")
        shown = opened.column("runs", "queries")
        assert [int(text) for text in shown[: len(known)]] == wanted
        assert set(shown[len(known) :]) == {"–"}
        assert opened.js(
            "return [...document.querySelectorAll('[data-grid=runs] th[aria-sort]')]"
            ".map((h) => h.getAttribute('aria-sort'))"
        ) == [way]
    opened.press("[data-grid=runs] thead", "problem")
    opened.press("[data-grid=runs]", "Show all")
    specs = opened.column("runs", "problem")
    assert specs[0] == "parity:d=8,m=2"
    assert specs[124] == "parity:d=12,m=2"  # as a number, not as a text


def test_filters_hide_what_does_not_match_and_count_the_rest(opened):
    opened.type("[data-grid=learners] input", "parity QUERIES d=10")
    assert opened.column("learners", "problem") == ["parity:d=10,m=2"]
    count = "return document.querySelector('[data-grid=learners] .count').textContent"
    assert opened.js(count) == "1 of 30 rows"
    opened.type("[data-grid=learners] input", "")
    assert opened.js(count) == "30 rows"
    opened.type("[data-grid=runs] input", "no such run")
    assert opened.column("runs", "problem") == []


def test_headings_sort_by_keyboard(opened):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    head = opened.driver.find_element("css selector", "[data-grid=learners] th:nth-child(4) button")
    head.send_keys(keys.ENTER)
    assert opened.column("learners", "passed")[:2] == ["0", "0"]
    head.send_keys(keys.SPACE)
    assert opened.column("learners", "passed")[-2:] == ["0", "0"]


def test_the_downloaded_table_is_the_one_that_is_shown(opened, made):
    opened.type("[data-grid=runs] input", "solved lowdegree")
    opened.press("[data-grid=runs]", "CSV of these rows")
    rows = list(csv.DictReader(io.StringIO(opened.saved_file("runs.csv").decode())))
    wanted = made.runs[made.runs["learner"].eq("lowdegree") & made.runs["passed"].eq("yes")]
    for name in ("problem", "learner", "seed", "examples"):
        assert [one[name] for one in rows] == wanted[name].map(str).tolist()


def test_the_page_of_real_runs_has_its_parts(real_run, compared):
    ids = real_run.js("return [...document.querySelectorAll('main > section')].map((e) => e.id)")
    assert ids == [
        *("both-sides", "summary", "phase", "learners", "certificates", "growth", "runs"),
        "reproduce",
    ]
    real_run.js("for (const d of document.querySelectorAll('details')) d.open = true")
    text = real_run.js("return document.body.innerText")
    for value in compared.cards[0].claims["value"]:
        assert value in text
    assert len(real_run.column("runs", "problem")) == len(compared.runs) == 60
    real_run.shot("real")


FADED = (
    "return [...document.querySelectorAll('#both-sides figure:not([hidden])"
    " .mark-symbol.role-mark path')].map((p) => [p.getAttribute('stroke'),"
    " Number(p.getAttribute('opacity'))])"
)


def test_the_legend_picks_a_learner_and_marks_say_their_values(real_run):
    assert {opacity for _, opacity in real_run.js(FADED)} == {1}
    chains = pytest.importorskip("selenium.webdriver").ActionChains
    (label,) = [
        one
        for one in real_run.driver.find_elements(
            "css selector", "#both-sides .role-legend-label text"
        )
        if one.text == "elimination"
    ]
    real_run.js("scrollTo(0, 0)")
    chains(real_run.driver).click(label).perform()
    real_run.settled()
    seen = real_run.js(FADED)
    colours = {colour for colour, opacity in seen if opacity == 1}
    assert len(colours) == 1
    assert {opacity for colour, opacity in seen if colour not in colours} == {0.06}
    marks = "#both-sides .mark-symbol.role-mark path[opacity='1']"
    mark = real_run.driver.find_element("css selector", marks)
    chains(real_run.driver).move_to_element(mark).perform()
    real_run.settled()
    told = real_run.js(
        "return [...document.querySelectorAll('#vg-tooltip-element.visible tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent.trim()))"
    )
    assert ["learner", "elimination"] in told
    assert ["solved", "true"] in told


def test_a_slider_of_budgets_moves_what_is_certified_infeasible(real_run, compared):
    data = next(one for one in compared.charts if one.name == "phase").data
    hatched = (
        "return [...document.querySelectorAll('#phase .mark-symbol.role-mark path')]"
        ".filter((p) => p.getAttribute('stroke') === '#B0590A'"
        " && !p.getAttribute('stroke-dasharray')?.includes('4')).length"
    )
    counts = []
    for step, budget in enumerate(budgets(data)):
        real_run.type("#phase .vega-bind input", str(step))
        real_run.settled()
        counts.append(real_run.js(hatched))
        assert counts[-1] == sum(number > budget for number in needed(data).values())
        said = real_run.js("return document.querySelector('#phase .drawing').textContent")
        assert f"budget of queries: {budget}" in said
    assert len(set(counts)) > 2
    assert counts[-1] == 0


def test_one_slice_is_shown_at_a_time(real_run):
    shown = (
        "return [...document.querySelectorAll('#both-sides figure')].filter((f) => f.offsetHeight)"
        ".map((f) => f.dataset.key)"
    )
    assert real_run.js(shown) == ["both-sides-1"]
    real_run.type("#both-sides .chooser select", "both-sides-2")
    assert real_run.js(shown) == ["both-sides-2"]
    real_run.drawn()


def test_a_chart_is_saved_as_svg_and_png(real_run):
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        real_run.js(
            "const menu = document.querySelector('#both-sides .vega-embed details');"
            "menu.open = true; const link = [...menu.querySelectorAll('a')]"
            ".find((a) => a.textContent.includes(arguments[0]));"
            "link.dispatchEvent(new MouseEvent('mousedown', { bubbles: true }));"
            "setTimeout(() => link.click(), 1500)",
            kind,
        )
        assert real_run.saved_file(f"both-sides-1.{kind.lower()}").startswith(begins)


def test_dark_is_as_the_reader_has_it_in_pictures_too_and_what_is_saved_is_not(browser, real):
    """Text on paper has a contrast of 7 at least, and white of a picture is the paper."""
    browser.size(1280)
    try:
        browser.dark(True)
        browser.open("dark", real).drawn()
        told = browser.js(
            "const of = (e, name) => getComputedStyle(e)[name];"
            "const rgb = (text) => text.match(/[0-9.]+/g).slice(0, 3).map(Number);"
            "const [body, page] = [document.body, document.documentElement];"
            "const svgs = [...document.querySelectorAll('.drawing svg.marks, .drawing > svg')];"
            "return [rgb(of(page, 'backgroundColor')), rgb(of(body, 'color')),"
            " svgs.map((svg) => of(svg, 'filter'))]"
        )
        browser.shot("real-dark")
    finally:
        browser.dark(False)
    paper, ink, filters = told
    assert contrast(paper, ink) > 7
    assert set(filters) == {"invert(0.93) hue-rotate(180deg)"}
    assert {round(255 * (1 - 0.93))} == set(paper)


def contrast(one, other):
    """Of two colours, after WCAG."""

    def light(colour):
        parts = [c / 255 for c in colour]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["real", "bad", "climbed"])
def test_the_page_does_not_scroll_sideways(browser, request, which, width):
    browser.size(width)
    browser.open(which, request.getfixturevalue(which)).drawn()
    assert browser.js("return document.documentElement.scrollWidth") <= width
    wide = browser.js(
        "const own = '.scroll, svg, .long, pre, .drawing';"
        "return [...document.querySelectorAll('main *')].filter((e) => !e.closest(own) &&"
        " e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 200))"
    )
    assert wide == []
    small = browser.js(
        "return [...document.querySelectorAll('.drawing svg')].flatMap((s) => {"
        " const box = s.getBoundingClientRect();"
        " if (!box.width) return [];"
        " return [...s.querySelectorAll('text')].map((t) => [t.textContent,"
        "  box.width / s.viewBox.baseVal.width * parseFloat(t.getAttribute('font-size') ?? 10)])})"
        ".filter((found) => found[1] < 8)"
    )
    assert small == []
    browser.shot(f"{which}-{width}")
    assert browser.errors() == []


def test_rungs_fit_a_screen_and_first_columns_stay_on_a_small_one(browser, climbed):
    browser.size(1280)
    browser.open("climbed", climbed).drawn()
    fits = (
        "return [...document.querySelectorAll('#rungs .scroll, #learners .grid .scroll')]"
        ".map((s) => [s.scrollWidth <= s.clientWidth, s.scrollHeight <= s.clientHeight])"
    )
    assert browser.js(fits) == [[True, True], [True, True]]
    assert browser.js("return document.querySelectorAll('li.said').length") > 3
    browser.size(420)
    browser.open("climbed", climbed).drawn()
    moved = browser.js(
        "const s = document.querySelector('#learners .grid .scroll'); s.scrollLeft = 200;"
        "const left = (e) => e.getBoundingClientRect().left - s.getBoundingClientRect().left;"
        "return [s.scrollLeft, ...[...s.querySelectorAll('td:first-child')].map(left)]"
    )
    assert moved[0] > 100
    assert set(map(round, moved[1:])) == {0}
    assert browser.errors() == []


def test_hostile_names_are_text_and_nothing_runs(browser, bad):
    browser.size(1280)
    browser.open("bad", bad).drawn()
    browser.press("[data-grid=runs]", "Show all")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    text = browser.js("return document.body.innerText")
    for name in HOSTILE[:5]:
        assert name in text
    for seen in ("‹U+202E›", "‹U+200B›", "‹U+0000›", "__proto__", "constructor"):
        assert seen in text
    assert not set("\u202e\u2066\u200b\x00") & set(text)
    assert "W" * 10_000 in text
    legend = browser.js(
        "return [...document.querySelectorAll('.role-legend-label text')]"
        ".map((t) => t.textContent.trim())"
    )
    assert set(legend) >= {named(short(name)).strip() for name in HOSTILE}
    chains = pytest.importorskip("selenium.webdriver").ActionChains
    marks = browser.driver.find_elements("css selector", ".mark-symbol.role-mark path")
    tips = set()
    for mark in marks[:: max(1, len(marks) // 40)]:
        chains(browser.driver).move_to_element(mark).perform()
        tips.add(
            browser.js("return document.getElementById('vg-tooltip-element')?.innerText ?? ''")
        )
    assert len(tips) > 5
    assert browser.js("return window.__hacked") is None
    assert browser.js("return document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.js("return document.querySelectorAll('body script').length") == 3
    assert browser.errors() == []


def test_nothing_outside_is_asked_for_and_nothing_is_evaluated(browser, real):
    browser.size(1280)
    browser.open("real", real).drawn()
    assert browser.js("return performance.getEntriesByType('resource').map((e) => e.name)") == []
    browser.js("setTimeout(() => { try { (0, eval)('1') } catch { window.__refused = true } })")
    browser.settled()
    assert browser.js("return window.__refused") is True
    browser.errors()  # of this eval, which the policy refuses


STILL = (
    "figure.chart .drawing > svg",
    "figure.chart",
    "[data-grid=learners] tbody tr",
    "[data-grid=runs] tbody tr",
    "button",
)


def seen_without_scripts(browser):
    """How often each of STILL occurs, and the widths of the drawings in pixels.

    With scripts off the driver cannot tell when a page is loaded, and a page that still loads
    throws the numbers of its nodes away: then it is looked at again, from its root.
    """
    from selenium.common.exceptions import WebDriverException

    for tries in range(50):
        try:
            root = browser.cdp("DOM.getDocument", depth=0)["root"]["nodeId"]
            found = {
                one: browser.cdp("DOM.querySelectorAll", nodeId=root, selector=one)["nodeIds"]
                for one in STILL
            }
            boxes = [browser.cdp("DOM.getBoxModel", nodeId=one) for one in found[STILL[0]]]
            if len(found["[data-grid=runs] tbody tr"]) == 60:
                break
        except WebDriverException:
            if tries == 49:
                raise
        time.sleep(0.1)
    return [len(found[one]) for one in STILL], [box["model"]["width"] for box in boxes]


def test_the_page_is_whole_without_its_script(browser, real):
    browser.size(1000)
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open("still", real)
        (drawings, charts, learners, runs, buttons), widths = seen_without_scripts(browser)
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)
    assert drawings == charts >= 4
    assert (learners, runs, buttons) == (30, 60, 0)
    assert min(widths) > 300


def test_controls_have_names_and_headings_are_in_order(opened):
    unnamed = opened.js(
        "return [...document.querySelectorAll('button, input, select, [tabindex=\"0\"]')]"
        ".filter((e) => !(e.textContent.trim() || e.getAttribute('aria-label')"
        " || e.closest('label')?.textContent.trim())).map((e) => e.outerHTML)"
    )
    assert unnamed == []
    levels = opened.js(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map((h) => Number(h.tagName[1]))"
    )
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_it_prints_on_paper(real_run):
    printed = real_run.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
    assert base64.b64decode(printed)[:5] == b"%PDF-"
    if kept := os.environ.get("HARDNESS_SCREENSHOTS"):
        (Path(kept) / "report.pdf").write_bytes(base64.b64decode(printed))
    real_run.cdp("Emulation.setEmulatedMedia", media="print")
    for gone in (".controls", ".chooser"):
        assert real_run.js("return document.querySelector(arguments[0]).offsetHeight", gone) == 0
    real_run.cdp("Emulation.setEmulatedMedia", media="")
