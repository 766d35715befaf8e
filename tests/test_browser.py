"""The page of a report in headless Chromium: what is seen, pressed, typed and downloaded."""

import base64
import csv
import io
import itertools
import os
from pathlib import Path

import pytest

from hardness.report.html.text import csv_of
from hardness.report.html.write import write
from hardness.report.parts.build import report_of_comparison
from hardness.report.phase import certified_queries
from hardness.runs import compare
from tests.browser import CHROMIUM, DRIVER, Browser
from tests.reports import HOSTILE, hostile, paper, report

pytestmark = pytest.mark.browser

WIDTHS = (360, 800, 1400)


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
    return report()


@pytest.fixture(scope="module")
def html(made):
    return write(made)


@pytest.fixture(scope="module")
def bad():
    return write(hostile())


@pytest.fixture(scope="module")
def compared():
    learners = ("queries", "elimination", "lowdegree:degree=1")
    return report_of_comparison(compare("parity:m=3", "d=8..16..2", learners, seeds=2), "out")


@pytest.fixture(scope="module")
def real(compared):
    return write(compared)


@pytest.fixture
def real_run(browser, real):
    browser.size(1400)
    browser.theme("light")
    browser.open("real", real)
    yield browser
    assert browser.errors() == []


@pytest.fixture
def opened(browser, html):
    browser.size(1400)
    browser.theme("light")
    browser.open("report", html)
    yield browser
    assert browser.errors() == []


def test_runs_are_sorted_by_number_and_by_text_and_what_is_missing_comes_last(opened, made):
    risks = [row[4] for row in made.runs.rows]
    opened.press("[data-grid=runs] thead", "risk")
    opened.press("[data-grid=runs]", "Show all")
    shown = opened.column("runs", 4)
    known = sorted(r for r in risks if r is not None)
    assert [float(text) for text in shown[: len(known)]] == pytest.approx(known, rel=1e-3)
    assert shown[len(known) :] == ["–"] * (len(risks) - len(known))
    opened.press("[data-grid=runs] thead", "risk")
    shown = opened.column("runs", 4)
    assert [float(t) for t in shown[: len(known)]] == pytest.approx(known[::-1], rel=1e-3)
    assert shown[-1] == "–"
    assert opened.js(
        "return [...document.querySelectorAll('[data-grid=runs] th[aria-sort]')]"
        ".map((h) => h.getAttribute('aria-sort'))"
    ) == ["descending"]
    opened.press("[data-grid=runs] thead", "spec")
    specs = opened.column("runs", 0)
    assert specs[0] == "parity:d=8,m=2"
    assert specs[-1] == "parity:d=12,m=2"  # as a number, not as a text


def test_filters_hide_what_does_not_match_and_count_the_rest(opened, made):
    opened.type("[data-grid=learners] input", "profile QUERIES d=9")
    assert opened.column("learners", 2) == ["profile:d=9,m=2"]
    assert opened.js(
        "return document.querySelector('[data-grid=learners] .count').textContent"
    ) == ("1 of 30 rows")
    opened.type("[data-grid=learners] input", "")
    values = opened.js(
        "return [...document.querySelectorAll('[data-grid=learners] select')]"
        ".map((s) => [s.parentElement.firstChild.data, [...s.options].map((o) => o.text)])"
    )
    assert values == [
        ["family", ["any", "parity", "profile"]],
        ["learner", ["any", "lowdegree:degree=2", "mine.py:Net", "queries"]],
    ]
    opened.type("[data-grid=learners] select", "1")
    assert set(opened.column("learners", 0)) == {"profile"}
    opened.press("[data-grid=learners] thead", "examples")
    shown = [int(t.replace(",", "")) for t in opened.column("learners", 6) if t != "–"]
    wanted = [r.examples for r in made.learners if r.spec.startswith("profile") and r.examples]
    assert shown == sorted(wanted)
    opened.type("[data-grid=runs] input", "no such run")
    assert opened.column("runs", 0) == []


def test_headings_sort_by_keyboard(opened):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    head = opened.driver.find_element("css selector", "[data-grid=runs] th:nth-child(3) button")
    head.send_keys(keys.ENTER)
    assert opened.column("runs", 2)[:3] == ["0", "1", "2"]
    head.send_keys(keys.SPACE)
    assert opened.column("runs", 2)[:3] == ["249", "248", "247"]


def test_the_downloaded_table_is_the_one_that_is_shown(opened, made):
    opened.type("[data-grid=runs] input", "solved lowdegree")
    found = opened.download("", "CSV of these rows", "runs.csv").decode()
    rows = list(csv.reader(io.StringIO(found)))
    wanted = [r for r in made.runs.rows if r[1] == "lowdegree:degree=2" and r[3] == "solved"]
    assert rows[0] == list(made.runs.header)
    assert [row[:4] for row in rows[1:]] == [[str(one) for one in r[:4]] for r in wanted]
    assert [float(row[4]) for row in rows[1:] if row[4]] == [r[4] for r in wanted if r[4]]


@pytest.mark.parametrize("page", ["opened", "real_run"])
def test_figures_have_axes_with_numbers_and_marks(request, page):
    panels = request.getfixturevalue(page).js(
        "return [...document.querySelectorAll('figure.chart:not([hidden]) .panel')].map((p) => {"
        "const svg = p.querySelector('svg'); const box = svg.getBoundingClientRect();"
        "const of = (s) => [...svg.querySelectorAll(s)];"
        "return {w: box.width, h: box.height, label: p.getAttribute('aria-label'),"
        " ticks: of('text').filter((t) => /\\d/.test(t.textContent)).length,"
        " seen: of('text').every((t) => t.getBoundingClientRect().width > 0),"
        " marks: of('use, path').filter((t) => t.getBoundingClientRect().width > 2).length}})"
    )
    assert len(panels) >= 2
    for panel in panels:
        assert panel["w"] > 200
        assert panel["h"] > 100
        assert panel["ticks"] >= 4
        assert panel["seen"]
        assert panel["marks"] >= 5
        assert panel["label"]


def test_the_report_of_a_real_run_has_its_parts(real_run, compared):
    ids = real_run.js("return [...document.querySelectorAll('main > section')].map((e) => e.id)")
    assert ids == [
        *("summary", "both-sides", "phase", "learners", "runs", "certificates", "growth"),
        "reproduce",
    ]
    text = real_run.js("return document.body.innerText")
    for sentence in compared.summary:
        assert sentence in text
    assert "elimination learns from examples" in text  # one learner, so in the singular
    for claim in compared.cards[0].claims:
        assert claim.value in text
    assert len(real_run.column("runs", 0)) == len(compared.runs.rows) == 30
    real_run.shot("real")


def test_a_toggle_hides_a_learner_and_its_values(real_run):
    seen = (
        "return [...document.querySelectorAll('#both-sides .panel .series')]"
        ".map((g) => [g.dataset.series, g.getBoundingClientRect().width > 0])"
    )
    before = real_run.js(seen)
    number = real_run.js(
        "return [...document.querySelectorAll('#both-sides .legend button')]"
        ".findIndex((b) => b.textContent.trim() === 'elimination')"
    )
    assert number >= 0
    assert {shown for series, shown in before if series == str(number)} == {True}
    real_run.press("#both-sides", "elimination")
    after = real_run.js(seen)
    assert {shown for series, shown in after if series == str(number)} == {False}
    others = [one for one in before if one[0] != str(number)]
    assert [one for one in after if one[0] != str(number)] == others
    assert all("elimination" not in text for text in _walked(real_run, "#both-sides .panel", 60))
    real_run.press("#both-sides", "elimination")
    assert real_run.js(seen) == before


READING = "return document.querySelector('#both-sides .reading').textContent"


def _walked(browser, selector, steps):
    """What is read out while the arrow key goes through the marks of a panel."""
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    panel = browser.driver.find_elements("css selector", selector)[1]
    panel.send_keys(keys.HOME)
    heard = []
    for _ in range(steps):
        heard.append(
            browser.js("return document.querySelector('#both-sides .reading').textContent")
        )
        panel.send_keys(keys.ARROW_RIGHT)
        if heard[-1] in heard[:-1]:
            break
    panel.send_keys(keys.ESCAPE)
    return heard


def test_values_are_read_by_keys_and_by_pointer(real_run):
    heard = _walked(real_run, "#both-sides .panel", 60)
    assert len(heard) > 5
    assert any(text.startswith("elimination: d = 8, examples = ") for text in heard)
    chains = pytest.importorskip("selenium.webdriver").ActionChains(real_run.driver)
    mark = real_run.driver.find_element("css selector", "#both-sides .panel .series use")
    chains.move_to_element(mark).perform()
    tip = real_run.js(
        "return document.querySelector('#both-sides .tip:not([hidden])')?.textContent ?? ''"
    )
    assert tip.startswith("queries: d = ")


def test_a_budget_of_queries_moves_what_is_certified_infeasible(real_run, compared):
    chart = next(one for one in compared.charts if one.name == "phase")
    grid = [(i, j) for i, line in enumerate(chart.data["certified"]) for j in range(len(line))]
    found = [certified_queries(chart.data, i, j) for i, j in grid]
    certified = [int(one) for one in found if one is not None]
    assert len(certified) == 4  # of five: one query is what any learner may ask
    drawn = (
        "return [...document.querySelectorAll('#phase .bound')]"
        ".filter((p) => p.getAttribute('d')).length"
    )
    said = "return document.querySelector('#phase .budget .count').textContent"
    real_run.type("#phase .budget input", "0")
    assert real_run.js(said).startswith(f"{len(certified)} of {len(certified)} ")
    assert real_run.js(drawn.replace("bound", "halo")) == 3  # seen on dark cells too
    assert real_run.js(drawn) == 3  # hatched for the one learner that asks; an edge for each other
    budget = sorted(certified)[0]
    above = sum(value > budget for value in certified)
    assert 0 < above < len(certified)
    real_run.type("#phase .budget input", str(budget))
    assert real_run.js(said).startswith(f"{above} of ")
    assert real_run.js(drawn) == 3
    real_run.type("#phase .budget input", "1e30")
    assert real_run.js(said).startswith("0 of ")
    assert real_run.js(drawn) == 0
    real_run.type("#phase .budget input", "many")
    assert real_run.js(said) == "a whole number, as 1000000 or 1e6"


def test_a_bound_that_is_toggled_off_stays_off_at_another_budget(real_run):
    seen = (
        "return [...document.querySelectorAll('#phase .bound')]"
        ".filter((p) => p.getBoundingClientRect().width > 0).length"
    )
    real_run.type("#phase .budget input", "1")
    assert real_run.js(seen) > 0
    real_run.press("#phase", "certified infeasible")
    assert real_run.js(seen) == 0
    real_run.type("#phase .budget input", "0")
    assert real_run.js(seen) == 0
    real_run.press("#phase", "certified infeasible")
    assert real_run.js(seen) > 0


@pytest.mark.parametrize("width", WIDTHS)
def test_letters_of_figures_can_be_read(real_run, width):
    real_run.size(width)
    small = real_run.js(
        "const figures = [...document.querySelectorAll('figure.chart')];"
        "figures.forEach((f) => (f.hidden = false));"
        "return figures.flatMap((f) => [...f.querySelectorAll('.panel svg')].flatMap((s) => {"
        " const scale = s.getBoundingClientRect().width / s.viewBox.baseVal.width;"
        " return [...s.querySelectorAll('text')].map((t) =>"
        "  [f.dataset.key, t.textContent, scale * parseFloat(getComputedStyle(t).fontSize)])}))"
        ".filter((found) => found[2] < 9)"
    )
    assert small == []


def test_one_slice_is_shown_at_a_time(opened):
    shown = (
        "return [...document.querySelectorAll('figure.chart')].filter((f) => f.offsetHeight)"
        ".map((f) => f.dataset.key)"
    )
    assert opened.js(shown) == ["both-sides-1"]
    opened.type(".chooser select", "both-sides-2")
    assert opened.js(shown) == ["both-sides-2"]


def test_downloads_are_the_figure_of_a_paper_and_its_data(opened, made):
    chart = made.charts[0]
    assert opened.download(chart.key, "SVG", f"{chart.key}.svg").decode() == paper(chart)
    assert opened.download(chart.key, "CSV", f"{chart.key}.csv").decode() == csv_of(chart.table)
    png = opened.download(chart.key, "PNG", f"{chart.key}.png")
    from PIL import Image

    picture = Image.open(io.BytesIO(png)).convert("L")
    assert picture.width > 2000
    dark = sum(picture.histogram()[:100])
    assert 0.001 < dark / (picture.width * picture.height) < 0.5
    assert picture.getpixel((2, 2)) == 255


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("which", ["real", "bad"])
def test_the_page_does_not_scroll_sideways(browser, request, which, width):
    browser.size(width)
    browser.theme("light")
    browser.open(which, request.getfixturevalue(which))
    assert browser.js("return document.documentElement.scrollWidth") <= width
    wide = browser.js(
        "const own = '.scroll, svg, .long, .reading, pre';"
        "return [...document.querySelectorAll('main *')].filter((e) => !e.closest(own) &&"
        " e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 200))"
    )
    assert wide == []
    browser.shot(f"{which}-{width}")
    assert browser.errors() == []


def test_hostile_names_are_text_and_nothing_runs(browser, bad):
    browser.size(1000)
    browser.theme("light")
    browser.open("bad", bad)
    browser.press("[data-grid=runs]", "Show all")
    browser.js("for (const d of document.querySelectorAll('details')) d.open = true")
    assert browser.js("return window.__hacked") is None
    assert browser.js("return document.querySelectorAll('img, iframe, object').length") == 0
    assert browser.js("return document.querySelectorAll('script').length") == 2
    text = browser.js("return document.body.innerText")
    for name in HOSTILE[:5]:
        assert name in text
    for seen in ("‹U+202E›", "‹U+200B›", "‹U+0000›", "‹U+DCFF›", "__proto__", "constructor"):
        assert seen in text
    assert not set("\u202e\u2066\u200b\x00") & set(text)
    assert "W" * 10_000 in text
    assert browser.errors() == []


def test_the_page_is_whole_without_its_script(browser, html):
    browser.size(1000)
    browser.theme("light")
    browser.cdp("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open("still", html)
        root = browser.cdp("DOM.getDocument", depth=0)["root"]["nodeId"]

        def found(selector):
            return browser.cdp("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"]

        assert len(found("figure.chart:not([hidden]) svg")) >= 4
        assert len(found("[data-grid=learners] tbody tr")) == 30
        assert len(found("[data-grid=runs] tbody tr")) == 100
        assert not found("button")
        box = browser.cdp("DOM.getBoxModel", nodeId=found("figure.chart svg")[-1])["model"]
        assert box["width"] > 100
    finally:
        browser.cdp("Emulation.setScriptExecutionDisabled", value=False)


CONTRAST = """
const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgb = (colour) => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = colour;
  probe.fillRect(0, 0, 1, 1); return [...probe.getImageData(0, 0, 1, 1).data]; };
const light = ([r, g, b]) => { const f = (v) => { v /= 255;
  return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b); };
const behind = (e) => { for (; e; e = e.parentElement) {
  const c = rgb(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; }
  return rgb(getComputedStyle(document.documentElement).getPropertyValue("background-color")); };
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05); };
const low = [];
for (const e of document.querySelectorAll("body *")) {
  if (e.closest("svg, script, .off") || !e.offsetWidth) continue;
  if (![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
  const r = ratio(rgb(getComputedStyle(e).color), behind(e));
  if (r < 4.5) low.push([e.outerHTML.slice(0, 100), r]);
}
for (const e of document.querySelectorAll("svg.swatch[fill^='#']")) {
  const r = ratio(rgb(e.getAttribute("fill")), behind(e.parentElement));
  if (e.getBoundingClientRect().width && r < 3) low.push([e.outerHTML.slice(0, 100), r]);
}
for (const e of document.querySelectorAll(".panel svg text")) {
  const r = ratio(rgb(getComputedStyle(e).fill), behind(e.closest(".panel")));
  if (e.getBoundingClientRect().width && r < 4.5) low.push([e.textContent, r]);
}
return low;
"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_and_marks_have_contrast(opened, theme):
    opened.theme(theme)
    opened.js("for (const d of document.querySelectorAll('details')) d.open = true")
    paper = opened.js("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 255, 255)", "dark": "rgb(23, 24, 27)"}[theme]
    assert opened.js(CONTRAST) == []
    opened.shot(f"report-{theme}")


def test_the_theme_is_the_readers(opened):
    colour = "return getComputedStyle(document.body).backgroundColor"
    before = opened.js(colour)
    opened.press("body", "Dark page")
    assert opened.js(colour) != before
    opened.press("body", "Light page")
    assert opened.js(colour) == before


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
    ids = opened.js("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
    assert len(ids) == len(set(ids))


def test_it_prints_on_paper(opened):
    printed = opened.cdp("Page.printToPDF", preferCSSPageSize=True, printBackground=True)["data"]
    assert base64.b64decode(printed)[:5] == b"%PDF-"
    if kept := os.environ.get("HARDNESS_SCREENSHOTS"):
        (Path(kept) / "report.pdf").write_bytes(base64.b64decode(printed))
    opened.theme("light", media="print")
    for gone in ("nav", ".controls", ".downloads", ".theme", ".command button"):
        assert opened.js("return document.querySelector(arguments[0]).offsetHeight", gone) == 0
