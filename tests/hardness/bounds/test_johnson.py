"""Correlations, spectra and codes of hidden sets, against closed forms and what is known.

Spectra by all points are in test_checker_values.py, SQ-DIM and SDA by all sets in test_claims.py.
"""

import itertools
import math
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.bounds import checker
from hardness.bounds.checker import hidden_sets
from hardness.bounds.checker.hidden_sets import meeting, prime
from hardness.bounds.hidden_sets import Johnson, best_code
from tests import closed


@given(st.data(), st.integers(1, 14), st.integers(1, 30))
@settings(max_examples=50)
def test_the_checker_has_what_fourier_weights_give(data, m, more):
    values = data.draw(
        st.lists(st.fractions(-9, 9, max_denominator=7), min_size=m + 1, max_size=m + 1)
    )
    if len(set(values)) == 1:
        return
    found, wanted = Johnson.of_values(values, m + more), closed.Johnson.of_values(values, m + more)
    assert found.size == wanted.size
    for name in ("norm", "average", "spread"):
        assert getattr(found, name) == getattr(wanted, name), name
    for name in ("correlations", "eigenvalues"):
        assert getattr(found, name) == getattr(wanted, name), name
    c = wanted.correlations
    steps = [b - a for a, b in itertools.pairwise(c)]
    assert c[0] == 0 <= min(steps)
    assert steps == sorted(steps)  # convex
    assert c[-2] < c[-1]
    mean = sum(math.comb(m, h) * v for h, v in enumerate(values)) / Fraction(2**m)
    square = sum(math.comb(m, h) * v * v for h, v in enumerate(values)) / Fraction(2**m)
    assert c[-1] == square - mean**2


def test_the_gram_matrix_of_one_member_is_its_norm():
    found = Johnson.of_values([0, 1, 2], 2)
    assert found.eigenvalues == [found.norm] == [found.average]
    assert found.size == 1


# A(n, m, t): the largest number of m-subsets of n places of pairwise overlap at most t, known.
SIZES = {
    (7, 3, 1): 7,  # the Fano plane
    (6, 3, 1): 4,
    (9, 3, 1): 12,
    (11, 3, 1): 17,
    (8, 4, 2): 14,
    (13, 4, 1): 13,  # the projective plane of order 3
    (12, 6, 4): 132,  # Steiner systems of Witt
    (23, 7, 3): 253,
    (24, 8, 4): 759,
    (7, 2, 0): 3,
    (7, 2, 1): 21,
    (5, 5, 3): 1,
}
NOT_TIGHT = {(11, 3, 1)}


def test_johnsons_bound_is_above_every_known_code_and_meets_the_designs():
    for place, size in SIZES.items():
        assert meeting(*place) >= size, place
        assert (meeting(*place) == size) == (place not in NOT_TIGHT), place


def test_it_grows_with_the_overlap_and_is_what_a_recursion_gives():
    for n in range(1, 34):
        for m in range(1, n + 1):
            bounds = [meeting(n, m, t) for t in range(m)]
            assert bounds == sorted(bounds)
            assert bounds[-1] == math.comb(n, m)
            assert bounds == [closed.johnson_bound(n, m, t) for t in range(m)]


def packed(values, n):
    """The code that is found for a profile, and the two ends of SQ-DIM that follow."""
    numbers = {"places": n, "chosen": len(values) - 1, "values": list(map(str, values))}
    problem = checker.read_problem({"kind": "hidden-set", **numbers, "noise": "0"})
    code = best_code(Johnson.of_values(values, n))
    known = hidden_sets.overlaps(problem)[0]
    claim = hidden_sets.packing(problem, hidden_sets.subsets(problem), known, code)
    upper = int(claim.parameters["upper"])
    assert upper == closed.sq_dimension_most(closed.Johnson.of_values(values, n))
    return code, claim.value, upper


def test_majority_of_twenty_in_a_thousand_has_sq_dimension_fifty():
    code, lower, upper = packed([1 if 2 * h <= 20 else -1 for h in range(21)], 1000)
    assert (lower, upper, code["overlap"]) == (50, 50, 0)
    assert code["sets"] == "disjoint"


def test_a_code_of_polynomials_is_used_where_it_is_the_largest():
    code, lower, _ = packed([100 * (-1) ** h + (h > 1) for h in range(4)], 3000)
    assert prime(code["sets"]["field"])
    assert lower == int(code["size"]) > 3000 // 3
