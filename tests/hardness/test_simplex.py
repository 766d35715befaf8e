"""Exact linear programs against float64 and another exact solver; multipliers prove the value."""

from fractions import Fraction

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.lower.simplex import maximise


def exact(v):
    v = Fraction(v)
    return fmpq(v.numerator, v.denominator)


def require_optimal(objective, rows, right):
    """Primal and dual are feasible and meet, in exact arithmetic: both are optimal."""
    objective = [exact(v) for v in objective]
    rows, right = [[exact(v) for v in row] for row in rows], [exact(v) for v in right]
    found = maximise(objective, rows, right)
    assert len(found.x) == len(found.w) == len(objective)
    assert len(found.y) == len(rows)
    assert all(0 <= v <= 1 for v in found.x)
    for row, most in zip(rows, right, strict=True):
        assert sum((a * b for a, b in zip(row, found.x, strict=True)), fmpq(0)) <= most
    assert min([fmpq(0), *found.y, *found.w]) >= 0
    for i, gain in enumerate(objective):
        price = sum((y * row[i] for y, row in zip(found.y, rows, strict=True)), fmpq(0))
        assert price + found.w[i] >= gain
    dual = sum((a * b for a, b in zip(found.y, right, strict=True)), fmpq(0))
    primal = sum((a * b for a, b in zip(objective, found.x, strict=True)), fmpq(0))
    assert primal == found.value == dual + sum(found.w, fmpq(0))
    return found


@st.composite
def programs(draw, numbers, at_most=6):
    count, height = draw(st.integers(1, at_most)), draw(st.integers(0, at_most))
    row = st.lists(numbers, min_size=count, max_size=count)
    rows = draw(st.lists(row, min_size=height, max_size=height))
    right = draw(st.lists(numbers.map(abs), min_size=height, max_size=height))
    return draw(row), rows, right


# Also of few different numbers and many zeros: ties, degenerate vertices, redundant rows.
@given(
    programs(st.fractions(-20, 20, max_denominator=12))
    | programs(st.sampled_from([0, 0, 0, 1, -1, 1, 2]), at_most=9)
)
@settings(max_examples=120)
def test_multipliers_prove_the_value(program):
    require_optimal(*program)


def test_a_program_on_which_the_largest_coefficient_cycles():
    # Beale's example: every pivot of the cycle is degenerate.
    objective = [Fraction(3, 4), -150, Fraction(1, 50), -6]
    rows = [
        [Fraction(1, 4), -60, Fraction(-1, 25), 9],
        [Fraction(1, 2), -90, Fraction(-1, 50), 3],
        [0, 0, 1, 0],
    ]
    found = require_optimal(objective, rows, [0, 0, 1])
    assert found.value == fmpq(1, 20)


def test_no_rows_and_nothing_to_gain():
    assert maximise([fmpq(-1), fmpq(0)], [], []).value == 0
    assert maximise([fmpq(2), fmpq(3)], [], []).value == 5
    assert require_optimal([1, 1], [[1, 1], [1, 1], [2, 2]], [1, 1, 2]).value == 1
