"""The page of a report as HTML: whole, alone, and with nothing in it that runs but its own."""

import base64
import dataclasses
import hashlib
import json
import re
from fractions import Fraction
from html.parser import HTMLParser
from statistics import median

import pytest

from hardness.report import both_sides, comparison_table, page
from hardness.report.charts.chart import named
from hardness.report.page.build import report_of_comparison
from hardness.report.page.write import SECTIONS, write
from hardness.runs import compare
from hardness.runs.cells import bounds, cells, enough
from tests.reports import HOSTILE, hostile, report


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6..10..2", ("queries", "lowdegree:degree=1"), seeds=3)


class Page(HTMLParser):
    """What stands in a page: tags, texts that are shown, and its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.text, self.scripts, self.within = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.within = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.within = ""

    def handle_data(self, data):
        if self.within == "script":
            self.scripts[-1] += data
        else:
            self.text.append(data)

    @property
    def data(self):
        return json.loads(self.scripts[0])


def test_the_figure_has_its_curves(small):
    text = both_sides(small).decode()
    assert all(title in text for title in ("Statistical queries", "Examples", "Time"))


def test_the_page_stands_alone_and_says_the_numbers(small):
    text = page(small)
    found = Page(text)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 3  # its data, what draws, and its own script
    assert not {"link", "iframe", "img", "object", "form"} & set(names)
    policy = next(a["content"] for tag, a in found.tags if tag == "meta" and "http-equiv" in a)
    digests = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        for script in found.scripts[1:]
    ]
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    assert policy.startswith(f"default-src 'none'; script-src {hashes}; style-src")
    assert "unsafe-eval" not in policy
    outside = [v for _, a in found.tags for k, v in a.items() if k in ("src", "href") and v]
    assert all(v.startswith("#") for v in outside)
    words = "".join(found.text)
    assert "elimination" in words
    assert small.certificates[-1].value("sq-dimension") in words
    assert str(bounds(small, "stat-queries")[-1]) in words
    assert "hardness check certificate.json" in words
    shown = [text.index(part) for part in ("<h1", "<figure", 'class="said"', 'id="learners"')]
    assert shown == sorted(shown)  # the figure is first, then three sentences, then tables
    assert text.count('class="said"') == 3


def test_a_description_asks_for_nothing_outside(small):
    for text in (page(small), write(hostile())):
        for description in Page(text).data["charts"].values():
            assert not {"url", "href"} & set(_keys(description))


def _keys(data):
    if isinstance(data, dict):
        yield from data
    for one in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from _keys(one)


@pytest.mark.slow
def test_the_same_report_gives_the_same_page_on_any_number_of_processes(small):
    made = report()
    charts = [dataclasses.replace(made.charts[0], key=f"k-{i}") for i in range(8)]
    made = dataclasses.replace(made, charts=tuple(charts))
    assert write(made, jobs=2) == write(made)


def test_ids_are_of_one_element_each(small):
    made = compare("parity:m=2", "d=6..9", ("elimination", "queries"), seeds=2)
    ids = re.findall(
        r'\bid="([^"]*)"', write(report_of_comparison(made, "x")).partition("<script")[0]
    )
    assert len(ids) == len(set(ids))


def test_what_is_embedded_is_read_back_whole():
    made = hostile()
    for column in Page(write(made)).data["tables"]["runs"]:
        cells = column.get("values") or [column["texts"][place] for place in column["places"]]
        wanted = [row[made.runs.header.index(column["name"])] for row in made.runs.rows]
        assert len(cells) == len(wanted)
        known = [one for one in wanted if not isinstance(one, str) or one.isprintable()]
        assert [c for c, w in zip(cells, wanted, strict=True) if w in known] == known


def test_hostile_names_show_as_text(small):
    evil = '<script>alert("x")</script>'
    text = page(dataclasses.replace(small, spec=evil, command=evil))
    assert [tag for tag, _ in Page(text).tags].count("script") == 3
    assert "&lt;script&gt;" in text
    text = write(hostile())
    found = Page(text)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 3
    assert not {"img", "iframe"} & set(names)
    assert not [k for _, given in found.tags for k in given if k.startswith("on")]
    own = text.replace(found.scripts[1], "")
    assert not set("\u202e\u2066\u200b\x00") & set(own)
    assert text.encode()
    legends = json.dumps(found.data["charts"], ensure_ascii=False)
    assert all(json.dumps(named(name), ensure_ascii=False)[1:-1] in legends for name in HOSTILE)


def test_charts_of_every_section_are_laid_out():
    made = report()
    moved = [dataclasses.replace(made.charts[1], key=name, section=name) for name in SECTIONS]
    html = write(dataclasses.replace(made, charts=tuple(moved)))
    assert [html.count(f'data-key="{name}"') for name in SECTIONS] == [1] * 5


def test_what_is_the_same_in_every_row_is_said_once():
    made = dataclasses.replace(report(), charts=())
    html = write(made)
    assert "budget</bdi> <b>200,000 examples</b>" in html
    heads = [column["name"] for column in Page(html).data["tables"]["learners"]]
    assert "budget" not in heads
    first = dataclasses.replace(made.learners[0], budget="1 s")
    html = write(dataclasses.replace(made, learners=(first, *made.learners[1:])))
    assert "budget</bdi> <b>" not in html
    assert "budget" in [column["name"] for column in Page(html).data["tables"]["learners"]]


def test_costs_are_what_was_enough_for_the_success_of_the_bound(small):
    cell = cells(small)[0]
    used = sorted(r.usage.queries for r in small.of("queries", 6))
    assert cell.enough["queries"] == used[1]
    assert cell.queries == median(used)  # of tables
    assert enough([3], Fraction(2, 3)) == 3
    assert enough([1, 2, 3, 4], Fraction(1)) == 4


def test_the_table_shows_both_sides(small):
    lines = comparison_table(small).splitlines()
    assert len(lines) == 1 + 3 * 3
    assert max(map(len, lines)) <= 80
    assert sum(line.endswith("certified") for line in lines) == 3
    assert "learned nothing" in comparison_table(small)


def test_the_page_of_a_profile_does_not_speak_of_parities():
    learners = ("lowdegree:degree=1",)
    html = page(compare("profile:g=majority,m=3", "d=8,9", learners, seeds=1))
    assert "any symmetric function" in html
    assert "hidden parities" not in html


def test_a_family_without_bounds_has_a_page_and_a_figure_of_risks():
    found = compare("nice:k=2,d=4", "m=1,2", ("trivial", "linear"), seeds=1)
    assert not found.certificates
    text = page(found)
    assert "No bound on queries is certified for these problems." in text
    assert "No bound is drawn; its families have none." in text
    assert 'data-key="risks-1"' in text
    assert "certified" not in comparison_table(found)
