"""The page of a report in headless Chromium: what is seen, pressed, typed and downloaded."""

import csv
import io
import time
from dataclasses import replace

import pytest
from msgspec import structs

from hardness.report.page.build import report
from hardness.report.page.write import write
from hardness.report.plot import named
from hardness.runs import compare
from hardness.runs.names import short
from instances import parse
from tests.browser import CHROMIUM, DRIVER, Browser
from tests.reports import HOSTILE, SOLVED, hostile, material, row

pytestmark = pytest.mark.browser


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
def real():
    """Runs over two parameters, as those of a store."""
    learners = ("queries", "elimination", "lowdegree:degree=1")
    runs = [
        run
        for m in (2, 3)
        for run in compare(f"parity:m={m}", "d=8..16..2", learners, seeds=2).runs
    ]
    return write(report(material(runs)))


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


def test_the_downloaded_table_is_the_one_that_is_shown(opened, made):
    opened.type("[data-grid=runs] input", "solved lowdegree")
    opened.press("[data-grid=runs]", "CSV of these rows")
    rows = list(csv.DictReader(io.StringIO(opened.saved_file("runs.csv").decode())))
    wanted = made.runs[made.runs["learner"].eq("lowdegree") & made.runs["passed"].eq("yes")]
    for name in ("problem", "learner", "seed", "examples"):
        assert [one[name] for one in rows] == wanted[name].map(str).tolist()


@pytest.mark.parametrize("width", [420, 1280])
@pytest.mark.parametrize("which", ["real", "bad"])
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
