"""Intervals as they are printed."""

import random
import re
from decimal import Decimal
from pathlib import Path

import pytest

from instances.numbers import outward

LIBRARY = Path(__file__).parents[2] / "hardness"


@pytest.mark.parametrize("form", [".2f", ".4f", "+.3f", "z.2f", "+z.2f", ".1e", ".3g", ".5g"])
def test_a_printed_interval_contains_the_exact_one_and_is_not_much_wider(form):
    rng = random.Random(form)
    places = int(re.search(r"\.(\d)", form)[1])
    for _ in range(3000):
        size = 10 ** rng.uniform(-8, 4)
        low, high = sorted(rng.choice([0.0, 0.7, size, rng.random(), -size]) for _ in range(2))
        ends = outward(low, high, form).split(", ")
        printed = [Decimal(end) for end in ends]
        exact = [Decimal(repr(low)), Decimal(repr(high))]
        assert printed[0] <= exact[0] <= exact[1] <= printed[1], (low, high, ends)
        for shown, wanted in zip(printed, exact, strict=True):
            digits = places - form.endswith("g")
            unit = places if form.endswith("f") else digits - (wanted.adjusted() if wanted else 0)
            assert abs(shown - wanted) < Decimal(10) ** -unit


@pytest.mark.parametrize(
    ("ends", "form", "shown"),
    [
        ((0.6915, 1.0), ".2f", "0.69, 1.00"),
        ((0.4782, 0.99501), ".2f", "0.47, 1.00"),
        ((0.7, 0.7), ".2f", "0.70, 0.70"),  # what is written in so many places is not moved
        ((-0.401, -0.001), "+z.2f", "-0.41, +0.00"),
        ((0.0, 5e-324), ".4f", "0.0000, 0.0001"),
        ((float("-inf"), float("inf")), ".2f", "-inf, inf"),
    ],
)
def test_ends_are_rounded_outwards(ends, form, shown):
    assert outward(*ends, form) == shown


def test_no_interval_is_printed_by_another_function():
    """An end that a format rounds to the nearest may lie within the interval."""
    ends = r"\{[\w.\[\]'\"]*\b(low|high|interval)\b['\"\]\d\[]*:[+z]*\.\d"
    own = re.compile(ends + r"|format\(\*[\w.]*interval")
    for path in LIBRARY.rglob("*.py"):
        assert not own.search(path.read_text()), path


def test_a_run_prints_its_risk_within_a_rounded_interval(hardness):
    asked = ("learn", "lowdegree:degree=1", "parity:d=6,m=2")
    exact, shown = hardness(*asked, "--json").json, hardness(*asked).out
    low, high = map(float, re.search(r"in \[(\S+), (\S+)\] at", shown).groups())
    assert low <= exact["risk_low"] <= exact["risk_high"] <= high
