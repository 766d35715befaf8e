"""Sets of listed members that are near or far apart: found in time, and right where sums are long.

Which sets there are is known by construction.
"""

from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import checker
from hardness.bounds.checker import functions
from hardness.bounds.independent import independent_members
from hardness.bounds.listed import eigenvalue, sets_of


def test_of_three_to_the_forty_largest_cliques_some_are_looked_at():
    """Groups of three that are near, all else orthogonal: any choice of one each is a clique."""
    group = np.full((3, 3), 9) + np.eye(3, dtype=int)
    found = independent_members(np.kron(np.eye(40, dtype=int), group))
    assert len(found["chosen"]) == found["upper"] == 40


def test_sums_of_more_than_63_bits_are_right():
    """31 conjunctions, times 2^25: the same sets as of the conjunctions themselves."""
    points = np.arange(32)
    tables = [np.where((points & g) == g, -1, 1) for g in range(1, 32)]
    terms = {"tau": "1/10", "t": "100", "risk": "1/4", "success": "2/3", "gamma": "1/2"}
    made = []
    for scale in (1, 1 << 25):
        rows = [[list(range(5)), (scale * t).tolist()] for t in tables]
        problem = {"kind": "functions", "signs": 5, "centred": False, "tables": rows}
        known = functions.products(checker.read_problem(problem))[1]
        witness = sets_of(known, Fraction(1, 2))
        proved = checker.prove(problem, terms, eigenvalue(problem) | witness)
        made.append([c for c in proved.claims if c.quantity == "sda-all-subsets"])
    assert made[0] == made[1]


def known(*tables, signs=2):
    """The products of functions of two signs: by their bits, or their values at the four points."""
    rows = [t if isinstance(t, str) else [list(range(signs)), t] for t in tables]
    problem = {"kind": "functions", "signs": signs, "centred": False, "tables": rows}
    return functions.products(functions.read_problem(problem))


def refused(theorem, *arguments):
    with pytest.raises(checker.Refused):
        theorem(*arguments)


def test_correlations_of_one_norm_are_exact_and_of_others_between_close_ends():
    """0, 1 and 3 of four signs are turned: correlations 1/2, -1/2 and 0."""
    values = {claim.quantity: (claim.value, claim.parameters) for claim in known("0", "1", "7")[2]}
    assert values["largest-correlation"] == (Fraction(1, 2), {})
    assert values["average-correlation"] == (Fraction(5, 9), {})
    largest, average = known([1, -1, 1, -1], [3, -1, 1, -3], [5, 5, 5, 5])[2]
    true = 2 / 5**0.5  # of x and 2 x + y; constants are orthogonal to both
    for claim, exact in ((largest, true), (average, (3 + 2 * true) / 9)):
        assert float(claim.value) <= exact <= float(claim.parameters["upper"])
        assert claim.parameters["upper"] - claim.value <= Fraction(2, 10**9)


def test_a_set_that_may_be_above_gamma_is_not_ruled_out():
    half = Fraction(1, 2)
    equal, orthogonal = known("6", "6")[:2], known("6", "a")[:2]
    refused(functions.every_set, *equal, half, {"enough": "2"})
    assert functions.every_set(*equal, half, {"enough": "3"}) == 3
    assert functions.every_set(*orthogonal, half, {"enough": "2"}) == 2  # 1/2 is not above 1/2
    refused(functions.every_set, *orthogonal, Fraction(49, 100), {"enough": "2"})
    some = known("6", "6", "a")[:2]  # the nearest two have the average 1, others 1/2
    for gamma in (half, Fraction(4, 5)):
        refused(functions.every_set, *some, gamma, {"enough": "2"})


@pytest.mark.parametrize(
    ("chosen", "classes", "upper"),
    [
        ([], [[0, 1], [2]], 2),
        ([0, 0], [[0, 1], [2]], 2),
        ([0, 1], [[0, 1], [2]], 2),
        ([0], [[0], [1], [2]], 2),
        ([0], [[0, 1, 2]], 1),
        ([0], [[0, 1]], 2),
        ([0], [[0, 1], [1, 2]], 2),
        ([0, 2], [[0, 1], [2]], 1),
    ],
)
def test_classes_that_show_nothing_are_refused(chosen, classes, upper):
    """Two members are equal, the third is orthogonal to both: SQ-DIM is 2."""
    members, products, _ = known("6", "6", "a")
    right = {"chosen": [0, 2], "classes": [[0, 1], [2]], "upper": 2}
    assert functions.apart(members, products, right).value == 2
    wrong = {"chosen": chosen, "classes": classes, "upper": upper}
    refused(functions.apart, members, products, wrong)


def test_two_members_of_a_class_are_nearer_than_a_set_allows():
    """A correlation of 1/2 is within 1/2: the two are a set of two."""
    members, products, _ = known("0", "1")
    assert functions.apart(members, products, {"chosen": [0, 1], "classes": [[0], [1]], "upper": 2})
    wrong = {"chosen": [0], "classes": [[0, 1]], "upper": 1}
    refused(functions.apart, members, products, wrong)
    members, products, _ = known("0", "3", "5", signs=3)  # 1/2 is above 1/3
    wrong = {"chosen": [0, 1, 2], "classes": [[0], [1], [2]], "upper": 3}
    refused(functions.apart, members, products, wrong)


def test_rounded_correlations_leave_a_slack():
    """Of two members less their mean the eigenvalue is twice an entry, exactly: a factor of 0."""
    problem = {"kind": "functions", "signs": 2, "centred": False,
               "tables": [[[0, 1], [1, -1, 1, -1]], [[0, 1], [3, -1, 1, -3]]]}  # fmt: skip
    parsed = functions.read_problem(problem)
    members, products, _ = functions.products(parsed)
    [[entry, _], _] = functions.less_mean(products.plain)
    entry, off = Fraction(entry, 4 * products.unit), Fraction(1, products.unit)
    for top, right in ((2 * entry + 2 * off, True), (2 * entry + 2 * off - off / 100, False)):
        witness = {"top": checker.written(top), "factor": ["0", "0"], "scale": 1}
        if right:
            gram = functions.spread(parsed, members, products, witness)
            assert (gram.least, gram.scale, gram.mean) == (
                entry - 3 * off,
                entry + off,
                entry - off,
            )
            assert gram.spectrum == [(top, 1), (0, 1)]
        else:
            refused(functions.spread, parsed, members, products, witness)


def test_functions_by_their_bits_and_by_their_values_are_the_same():
    """Of three signs, one of which a function does not depend on; twice as large is no sign."""
    terms = {"tau": "1/10", "t": "100", "risk": "1/4", "success": "2/3", "gamma": "1/2"}
    by_values = [
        [[0, 2], [1, -1, -1, 1]],
        [[0, 1, 2], [1, 1, 1, -1, 1, -1, -1, -1]],
        [[1], [1, -1]],
    ]
    made = []
    for tables in (["5a", "e8", "cc"], by_values):
        problem = {"kind": "functions", "signs": 3, "centred": False, "tables": tables}
        products = functions.products(checker.read_problem(problem))[1]
        witness = eigenvalue(problem) | sets_of(products, Fraction(1, 2))
        made.append(checker.prove(problem, terms, witness).claims)
    assert made[0] == made[1]
    assert any(claim.quantity.startswith("stat-") for claim in made[0])
    assert functions.read_problem(problem).levels == 2
    twice = [[on, [2 * value for value in values]] for on, values in by_values]
    assert functions.read_problem({**problem, "tables": twice}).levels is None
