"""What the commands print and write of fitted growth."""

import json
from pathlib import Path

import pytest

from hardness.lower import certify
from hardness.report.charts.costs import of_scaling
from hardness.runs import compare
from instances import UsageError, parse

COMPARE = (
    *["compare", "parity:m=2", "--over", "d=8,9,10,12,14", "--seeds", "3", "--jobs", "1"],
    *["--learner", "queries", "--learner", "elimination", "--learner", "lowdegree:degree=1"],
)


def test_compare_writes_growth_beside_what_is_certified(hardness):
    made = hardness(*COMPARE, "--out", "x")
    assert made.code == 0, made.err
    text = made.out.partition("growth over the sizes run, d = 8 to 14")[2]
    lines = {tuple(line.split()[:2]): line for line in text.splitlines()}
    assert "d^" in lines["queries", "queries"]
    assert any(line.startswith("lowdegree:degree=1: no fit") for line in text.splitlines())
    for quantity in ("sq-dimension", "stat-queries", "information-floor"):
        assert f"\n{quantity}" in text
    assert "degree m = 2 in d" in text
    assert "nothing of larger ones" in " ".join(text.split())

    table = Path("x/report.html").read_text(encoding="utf-8").partition("How costs grow")[2]
    assert "<td>d^" in table
    assert "no fit: 0 sizes count" in table
    assert "<td>sq-dimension</td>" in table

    assert "scaling" not in json.loads(Path("x/results.json").read_text())
    fits = hardness("report", "x", "--json").json["scaling"]["fits"]
    law = next(f for f in fits if f["cost"] == "queries")["law"]
    assert law["low"] < law["exponent"] < law["high"]
    assert hardness("figure", "scaling", "x", "--out", "a.svg").code == 0
    data = hardness("figure", "scaling", "x", "--json").json
    fitted = {row["cost"] for row in data["rows"] if row["kind"] == "law"}
    assert fitted == {"queries", "examples", "seconds"}
    laws = {row["quantity"] for row in data["rows"] if row["kind"] == "certified law"}
    assert laws == {"stat-queries", "information-floor"}


def test_a_figure_needs_sizes_above_0():
    found = compare("parity:d=8,m=2", "noise=0", ("queries",), seeds=1)
    with pytest.raises(UsageError, match="no noise above 0"):
        of_scaling(found)


def test_bounds_alone_over_a_range(hardness):
    spec = "profile:g=majority,m=3"
    found = hardness(*f"compare {spec} --over d=6..8 --learner none --out both".split())
    assert found.code == 0
    header, *rows = found.out.splitlines()[:4]
    assert header.split()[:2] == ["size", "sq-dimension"]
    for row, d in zip(rows, (6, 7, 8), strict=True):
        made = certify(parse(f"{spec},d={d}"))
        assert row.split()[:2] == [f"d={d}", made.value("sq-dimension")]
    data = json.loads(hardness(*["figure", "both-sides", "both", "--json"]).out)
    assert (data["costs"], {row["kind"] for row in data["rows"]}) == (
        ["queries", "examples"],
        {"certified"},
    )
    assert hardness("report", "both", "--out", "page.html").code == 0
    stored = json.loads(Path("both/results.json").read_text())
    Path("both/results.json").write_text(json.dumps({**stored, "certificates": []}))
    hardness("report", "both", "--out", "again.html").one_line("is damaged")
