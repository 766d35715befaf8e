import base64
import csv
import dataclasses
import gzip
import hashlib
import io
import json
import re
from fractions import Fraction
from html.parser import HTMLParser

import pytest

from hardness.report import both_sides, comparison_table, page
from hardness.report.html.write import SECTIONS, write
from hardness.report.parts.build import report_of_comparison
from hardness.runs import compare
from hardness.runs.cells import bounds, cells, enough
from tests.reports import hostile, report


@pytest.fixture(scope="module")
def small():
    return compare("parity:m=2", "d=6..10..2", ("queries", "lowdegree:degree=1"), seeds=3)


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.open = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text.append(data)


def test_the_figure_has_its_curves(small):
    text = both_sides(small).decode()
    assert all(title in text for title in ("Statistical queries", "Examples", "Time"))


def test_the_page_stands_alone_and_says_the_numbers(small):
    text = page(small)
    found = Page()
    found.feed(text)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 2  # its data and its own script
    assert not {"link", "iframe", "img", "object", "form"} & set(names)
    policy = next(a["content"] for tag, a in found.tags if tag == "meta" and "http-equiv" in a)
    own = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")
    outside = [v for _, a in found.tags for k, v in a.items() if k in ("src", "href") and v]
    assert all(v.startswith("#") for v in outside)
    assert not re.search(r"url\((?!#)", text)
    words = "".join(found.text)
    assert "Gaussian elimination" in words
    assert small.certificates[-1].value("sq-dimension") in words
    assert str(bounds(small, "stat-queries")[-1]) in words
    assert "hardness check certificate.json" in words


@pytest.mark.slow
def test_the_same_report_gives_the_same_page_on_any_number_of_processes(small, monkeypatch):
    monkeypatch.setattr("hardness.report.html.write._FEW", 1)
    made = report_of_comparison(small, "out")
    assert len(made.charts) > 1
    assert write(made, jobs=2) == write(made)


def test_what_is_embedded_is_read_back_whole(small):
    made = hostile()
    text = write(made)
    start = text.index('id="data">') + len('id="data">')
    data = json.loads(text[start : text.index("</script>", start)])
    for column, head in zip(data["runs"], made.runs.header, strict=True):
        cells = column.get("values") or [column["texts"][place] for place in column["places"]]
        assert column["name"] == head
        assert cells == [row[made.runs.header.index(head)] for row in made.runs.rows]
    chart = made.charts[0]
    kept = json.loads(gzip.decompress(base64.b64decode(data["charts"][0]["packed"])))
    rows = list(csv.reader(io.StringIO(kept["csv"])))
    assert len(rows) == 1 + len(chart.table.rows)
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)


def test_hostile_names_show_as_text(small):
    evil = '<script>alert("x")</script>'
    text = page(dataclasses.replace(small, spec=evil, command=evil))
    assert text.count("<script") == 2
    assert "&lt;script&gt;" in text
    text = write(hostile())
    found = Page()
    found.feed(text)
    names = [tag for tag, _ in found.tags]
    assert names.count("script") == 2
    assert not {"img", "iframe"} & set(names)
    assert not [k for _, given in found.tags for k in given if k.startswith("on")]
    assert not set("\u202e\u2066\u200b\x00") & set(text)
    assert text.encode()


def test_charts_of_every_section_are_laid_out():
    made = report()
    moved = [dataclasses.replace(made.charts[1], key=name, section=name) for name in SECTIONS]
    html = write(dataclasses.replace(made, charts=tuple(moved)))
    assert [html.count(f'id="figure-{name}"') for name in SECTIONS] == [1] * 5


def test_what_is_the_same_in_every_row_of_learners_is_said_once():
    made = dataclasses.replace(report(), charts=())
    html = write(made)
    assert "Every row has the same budget: <bdi" in html
    hidden = re.compile(r'<th scope="col"[^>]* hidden>\s*(\w+)')
    assert hidden.findall(html) == ["family", "budget", "answers"]
    first = dataclasses.replace(made.learners[0], budget="1 s")
    html = write(dataclasses.replace(made, learners=(first, *made.learners[1:])))
    assert "Every row has the same budget" not in html
    assert hidden.findall(html) == ["family", "answers"]


def test_costs_are_what_was_enough_for_the_success_of_the_bound(small):
    cell = cells(small)[0]
    used = sorted(r.usage.queries for r in small.of("queries", 6))
    assert cell.queries == used[1]
    assert enough([3], Fraction(2, 3)) == 3
    assert enough([1, 2, 3, 4], Fraction(1)) == 4


def test_the_table_shows_both_sides(small):
    lines = comparison_table(small).splitlines()
    assert len(lines) == 1 + 3 * 3
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("certified at least") for line in lines) == 3
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
    assert "no bound from below is claimed" in text
    assert "m = 1 to 2" in text
    assert "certified" not in comparison_table(found)
