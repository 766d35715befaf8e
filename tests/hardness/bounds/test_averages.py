"""Statistical dimension of hidden sets: every set of members, any multipliers.

What the checker accepts is true of all sets of small families, by enumeration; what makers find
for it is as good as linear programming and enumeration say.
"""

import itertools
import math
import re
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.bounds import BoundParameters, certify, checker, hidden_sets
from hardness.bounds.checker.hidden_sets import distances, every_set, overlaps, subsets
from hardness.bounds.checker.theorem import sda
from hardness.bounds.hidden_sets import Johnson
from hardness.bounds.simplex import maximise
from hardness.report.claims import sentence
from instances import parse
from tests import closed


class Case:
    """A family's members, and SDA's lower end."""

    def __init__(self, n, g):
        self.n, self.m = n, len(g) - 1
        self.count = math.comb(n, self.m)
        numbers = {"places": n, "chosen": self.m, "values": list(map(str, g)), "noise": "0"}
        self.problem = checker.read_problem({"kind": "hidden-set", **numbers})
        self.members, self.c = subsets(self.problem), overlaps(self.problem)[0]
        self.scheme, self.closed = Johnson.of_values(g, n), closed.Johnson.of_values(g, n)

    def least(self, gamma):
        """SDA over all sets at least, and of how many members no set exceeds gamma."""
        witness = hidden_sets.every_set(self.scheme, gamma)
        enough = every_set(self.problem, self.c, gamma, witness)
        claim = sda(self.members, gamma, enough)
        assert ("upper" in claim.parameters) == (gamma >= 1)
        return claim.value, enough

    def accepts(self, gamma, inner, average, caps, enough):
        """Whether the checker accepts multipliers."""
        witness = {
            "inner": [*map(checker.written, inner)],
            "average": checker.written(average),
            "caps": [*map(checker.written, caps)],
            "enough": checker.written(enough),
        }
        try:
            every_set(self.problem, self.c, gamma, witness)
        except checker.Refused:
            return False
        return True


class Listed(Case):
    """A small family with all its members: their Gram matrix, by all points."""

    def __init__(self, n, g):
        super().__init__(n, g)
        self.sets = list(itertools.combinations(range(n), self.m))
        points = list(itertools.product((0, 1), repeat=n))
        rows = [[Fraction(g[sum(point[i] for i in s)]) for point in points] for s in self.sets]
        mean = sum(rows[0]) / 2**n
        rows = [[v - mean for v in row] for row in rows]
        norm = sum(v * v for v in rows[0])
        self.gram = [
            [sum(map(Fraction.__mul__, a, b), Fraction(0)) / norm for b in rows] for a in rows
        ]

    def average(self, chosen):
        """The average over all ordered pairs of some members."""
        return sum(self.gram[i][j] for i in chosen for j in chosen) / len(chosen) ** 2


# What the checker accepts.

FAMILIES = [(5, (1, 1, -1)), (5, (0, 1, 4)), (5, (1, -1, -1, 1)), (4, (1, -1, 1))]


@cache
def largest_averages(family):
    """A family, and the largest average of its sets of each size."""
    case = Listed(*family)
    sets = [itertools.combinations(range(len(case.sets)), k + 1) for k in range(len(case.sets))]
    return case, [max(map(case.average, some)) for some in sets]


@pytest.mark.parametrize("family", FAMILIES, ids=str)
@given(data=st.data())
def test_no_multipliers_prove_what_is_not_so(family, data):
    case, by_size = largest_averages(family)
    weight = st.fractions(0, 9, max_denominator=4)
    gamma = data.draw(st.sampled_from([Fraction(1, 20), Fraction(1, 4), Fraction(2, 5)]))
    inner = data.draw(st.lists(weight, max_size=min(case.m, case.n - case.m)))
    average = data.draw(weight)
    n, m = case.n, case.m
    table, c = distances(n, m), case.c

    def caps(inner, average):
        return [
            table[i][0] * (1 + average * (c[m - i] / c[m] - gamma))
            + sum(y * e for y, e in zip(inner, table[i][1:], strict=False))
            for i in range(1, m + 1)
        ]

    least = [max(Fraction(0), cap) for cap in caps(inner, average)]
    given = {"gamma": gamma, "inner": inner, "average": average}
    largest = max((k for k, most in enumerate(by_size, 1) if most > gamma), default=0)
    taken = [
        k
        for k in range(1, len(case.sets) + 2)
        if case.accepts(**given, caps=least, enough=Fraction(k))
    ]
    assert min(taken) > largest
    # What would do if multipliers could be negative.
    every = {"gamma": gamma, "enough": Fraction(len(case.sets))}
    wrong = [(inner, -1 - average), *(([*inner[:k], -y - 1], average) for k, y in enumerate(inner))]
    for y, u in wrong:
        enough = [max(Fraction(0), cap) for cap in caps(y, u)]
        assert not case.accepts(inner=y, average=u, caps=enough, **every)
    if min(caps(inner, average)) < 0:
        assert not case.accepts(**given, caps=caps(inner, average), enough=every["enough"])
    for i, cap in enumerate(least):
        if cap:
            less = [*least[:i], cap * Fraction(99, 100), *least[i + 1 :]]
            assert not case.accepts(**given, caps=less, enough=Fraction(len(case.sets)))


# What makers find.


@given(st.integers(1, 7), st.integers(1, 60), st.data())
@settings(max_examples=60)
def test_the_lower_end_is_that_of_linear_programming(m, more, data):
    values = data.draw(st.lists(st.integers(-3, 3), min_size=m + 1, max_size=m + 1))
    gamma = data.draw(st.fractions(Fraction(1, 500), 1, max_denominator=500))
    if len(set(values)) == 1:
        return
    case = Case(m + more, values)
    least, enough = case.least(gamma)
    assert least == ((case.count - 1) // (enough - 1) if enough > 1 else case.count)
    assert (least == 0) == (case.closed.average / case.closed.norm > gamma)
    largest = closed.largest_set(case.closed, gamma)
    assert largest * (1 - 1e-6) <= enough <= 1 + largest * (1 + 1e-6)


def test_a_family_whose_average_is_gamma_itself_has_a_dimension_of_at_least_one():
    case = Case(2, (1, -1))  # two orthogonal members: their average is 1/2
    assert case.least(Fraction(1, 2))[0] == 1


def test_a_lower_end_is_called_one():
    made = certify(parse("profile:g=majority,d=12,m=3"), BoundParameters(gamma=Fraction(1, 4)))
    claim = made["sda-all-subsets"]
    assert (claim.kind, claim.value, claim.upper) == ("lower end", 1, 1)
    assert sentence(made, claim).startswith("SDA at gamma = 1/4 is at least 1: ")
    assert re.search(r"^sda-all-subsets +at least 1 .* lower end \[", str(made), re.M)
    assert [row["value"] for row in made._rows() if row["quantity"] == claim.quantity] == [
        "at least 1"
    ]


def test_majority_of_twenty_in_a_thousand():
    """The sets with place 0 that meet {1,2,3,4} are too correlated for an SDA(1/20) of 676."""
    case = Case(1000, [1 if 2 * h <= 20 else -1 for h in range(21)])
    assert (case.count - 1) // (math.comb(999, 19) - math.comb(995, 19)) == 675
    assert 500 <= case.least(Fraction(1, 20))[0] <= 675


def require_optimal(objective, rows, right):
    """Primal and dual are feasible and meet, in exact arithmetic: both are optimal."""
    found = maximise(objective, rows, right)
    assert len(found.x) == len(found.w) == len(objective)
    assert len(found.y) == len(rows)
    assert all(0 <= v <= 1 for v in found.x)
    for row, most in zip(rows, right, strict=True):
        assert sum((a * b for a, b in zip(row, found.x, strict=True))) <= most
    assert min([0, *found.y, *found.w]) >= 0
    for i, gain in enumerate(objective):
        price = sum((y * row[i] for y, row in zip(found.y, rows, strict=True)))
        assert price + found.w[i] >= gain
    dual = sum((a * b for a, b in zip(found.y, right, strict=True)))
    primal = sum((a * b for a, b in zip(objective, found.x, strict=True)))
    assert primal == found.value == dual + sum(found.w)
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
@settings(max_examples=60)
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
    assert found.value == Fraction(1, 20)
