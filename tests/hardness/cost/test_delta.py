"""Root Hermite factors: the table that is stored, how it is used, and one value measured again."""

import csv
import importlib.util
import statistics
from pathlib import Path

import numpy as np
import pytest

from hardness.cost.reduction import FORMULA_FROM, log_delta

ROOT = Path(__file__).parents[3]
with (ROOT / "hardness/cost/delta.csv").open(encoding="utf-8") as _file:
    TABLE = [
        {name: float(value) for name, value in row.items()}
        for row in csv.DictReader(line for line in _file if not line.startswith("#"))
    ]


def test_block_sizes_are_those_of_the_plan_and_values_have_errors():
    assert [row["beta"] for row in TABLE] == [2, *range(5, 60, 5)]
    assert all(0 < row["error"] < 0.03 * row["log_delta"] for row in TABLE)
    assert all(row["log_first"] < row["log_delta"] for row in TABLE)


def test_values_up_to_45_are_those_measured_within_three_errors():
    for row in TABLE:
        if row["beta"] <= 45:
            off = float(log_delta(row["beta"])) - row["log_delta"]
            assert abs(off) <= 3 * row["error"]


def test_it_falls_strictly_and_joins_the_formula_without_a_jump():
    beta = np.arange(2, 200, 0.25)
    steps = np.diff(log_delta(beta))
    assert (steps < 0).all()
    below, above = log_delta(np.array([FORMULA_FROM - 1e-9, FORMULA_FROM]))
    assert below == pytest.approx(above, rel=1e-9)


@pytest.mark.lattice
def test_lll_gives_the_value_of_the_table_again():
    pytest.importorskip("fpylll")
    spec = importlib.util.spec_from_file_location("delta", ROOT / "benchmarks/delta.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    count = module.PLAN[2][0]
    found = [module.measured(2, module.Trial(i + 1).profile())[0] for i in range(count)]
    assert statistics.mean(found) == pytest.approx(TABLE[0]["log_delta"], abs=1e-6)
