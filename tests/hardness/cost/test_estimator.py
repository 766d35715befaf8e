"""Estimates beside the values of lattice-estimator that tests/data keeps."""

import importlib.util
import math
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def _benchmark():
    spec = importlib.util.spec_from_file_location(
        "estimator_table", ROOT / "benchmarks/estimator.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


table = _benchmark()
ROWS = [*table.rows()]


def test_the_file_has_all_rows_but_clamped_ones():
    count = Counter(row.attack for row in ROWS)
    assert (count["usvp"], count["dual"], count["dual_hybrid"], len(ROWS)) == (204, 46, 93, 457)
    assert all(row.beta not in table.CLAMPED and math.isfinite(row.rop) for row in ROWS)


@pytest.mark.parametrize(
    ("attack", "share"), [("usvp", 1.0), ("bdd", 1.0), ("bdd_hybrid", 1.0), ("dual", 0.85)]
)
def test_the_formula_gives_the_figure_at_the_point_of_the_peer(attack, share):
    """Below 60 root Hermite factors are others. Six rows of `dual` take a sieve more here."""
    rows = [row for row in ROWS if row.attack == attack and row.beta >= table.SMALL]
    same = sum(abs(row.here - row.rop) <= 0.05 for row in rows)
    assert same >= share * len(rows)


def test_the_formula_of_the_peer_for_dual_hybrids_gives_its_figures_at_its_points():
    rows = [row for row in ROWS if row.attack == "dual_hybrid" and row.beta >= table.SMALL]
    compared = 0
    for row in rows:
        point = {key: row.at(key) for key in ("beta", "zeta", "t", "m")} | {"p": row.at("p") or 1}
        rop, count, guess = table.theirs(row.problem, row.setting, **point)
        assert count == pytest.approx(float(row.values["count"]), abs=0.06), row.name
        assert guess == pytest.approx(float(row.values["guess"]), abs=0.03), row.name
        if math.isfinite(rop) and float(row.values["sieve"]) <= row.problem.n - row.at(
            "zeta"
        ) - row.at("t") + row.at("m"):
            compared += 1
            assert rop == pytest.approx(row.rop, abs=0.05), row.name
    assert compared > 40


@pytest.mark.parametrize(
    ("name", "model", "reason"),
    [  # by its own formula our point costs more than its, or less
        ("Kyber512", "matzov", "formula"),
        ("LightSaber", "adps16", "search"),
    ],
)
def test_a_lower_estimate_is_laid_to_its_search_only_where_its_formula_is_lower_too(
    name, model, reason
):
    rows = [row for row in ROWS if (row.name, row.attack) == (name, "dual_hybrid")]
    found = table.compared(next(row for row in rows if row.setting.model.name == model))
    assert found.more < -table.BITS
    assert (found.there < found.row.rop - table.BITS) == (reason == "search")
    assert found.reason.startswith(f"{reason}: ")


def test_a_row_that_is_changed_is_seen_to_differ():
    row = next(row for row in ROWS if row.name == "Kyber512" and row.attack == "usvp")
    assert table.compared(row).agrees
    assert not table.compared(replace(row, rop=row.rop + 1)).agrees
    assert not table.compared(replace(row, beta=row.beta + 2)).agrees


def test_usvp_is_never_above_a_point_of_the_peer_that_succeeds():
    found = [table.compared(row) for row in ROWS if row.attack == "usvp"]
    above = [one for one in found if one.more > table.BITS]
    assert {one.reason.split(":")[0] for one in above} <= {"success", "small blocks"}
    line = [one for one in found if one.row.setting.shape == "gsa"]
    assert sum(one.agrees for one in line) >= 0.95 * len(line)


@pytest.mark.slow
def test_the_page_holds_what_is_printed_today():
    found = [table.compared(row) for row in ROWS]
    page = (ROOT / "docs/estimator-table.md").read_text(encoding="utf-8").splitlines()
    assert set(table.summary(found)) | set(table.differing(found)) <= set(page)
