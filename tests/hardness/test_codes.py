"""SQ-DIM by codes and Johnson's bound against clique search and known code sizes."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import pytest

from hardness.check.kernel.core import prime
from hardness.check.kernel.hidden_sets import meeting
from hardness.lower.codes import best_code, polynomial_set
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Proof
from tests import closed

# A(n, m, t): the largest number of m-subsets of n places of pairwise overlap at most t, known.
SIZES = {
    (7, 3, 1): 7,  # the Fano plane
    (6, 3, 1): 4,
    (8, 3, 1): 8,
    (9, 3, 1): 12,
    (10, 3, 1): 13,
    (11, 3, 1): 17,
    (13, 3, 1): 26,
    (15, 3, 1): 35,
    (8, 4, 2): 14,
    (9, 4, 2): 18,
    (10, 4, 2): 30,
    (13, 4, 1): 13,  # the projective plane of order 3
    (16, 4, 1): 20,  # the affine plane of order 4
    (11, 5, 3): 66,
    (12, 6, 4): 132,  # Steiner systems of Witt
    (22, 6, 2): 77,
    (23, 7, 3): 253,
    (24, 8, 4): 759,
    (21, 5, 1): 21,
    (6, 2, 0): 3,
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
    """The code that is found for a profile, and the two ends of SQ-DIM that the kernel finds."""
    numbers = {"places": n, "chosen": len(values) - 1, "values": list(map(str, values))}
    proof = Proof({"kind": "hidden-set", **numbers, "noise": "0"}, {})
    code = best_code(Johnson.of(values, n))
    cited = proof.step("subsets"), proof.step("overlaps"), proof.step("code", **code)
    ((lower, at, _),) = proof.fact(proof.step("packing", *cited)).claims.values()
    assert int(at["upper"]) == closed.sq_dimension_most(closed.Johnson.of(values, n))
    return code, lower, int(at["upper"])


PROFILES = [
    lambda h, m: 1 if 2 * h <= m else -1,
    lambda h, m: (-1) ** h,
    lambda h, m: 1 if h % 3 == 0 else -1,
    lambda h, m: h * h,
    lambda h, m: Fraction(11 if h % 2 == 0 else -9, 10) if h < m else 1,
    lambda h, m: -1 if h == 1 else 1,
]


def largest(n, m, allowed):
    """The largest set of m-subsets of which any two are allowed, by clique search."""
    sets = [frozenset(s) for s in itertools.combinations(range(n), m)]
    graph = nx.Graph()
    graph.add_nodes_from(sets)
    graph.add_edges_from((a, b) for a, b in itertools.combinations(sets, 2) if allowed(len(a & b)))
    return nx.max_weight_clique(graph, weight=None)[1]


CLIQUES = [(5, 2), (6, 2), (6, 3), (7, 3), (5, 3), (6, 4), (8, 2), (7, 4), (7, 5), (8, 3), (8, 5)]


@pytest.mark.parametrize(("n", "m"), [*CLIQUES, (11, 2)])
def test_sq_dimension_brackets_what_clique_search_finds(n, m):
    sizes = {t: largest(n, m, lambda met, t=t: met <= t) for t in range(m)}
    for t, size in sizes.items():
        assert size <= meeting(n, m, t)
    for g in PROFILES:
        values = [g(h, m) for h in range(m + 1)]
        scheme = closed.Johnson.of(values, n)
        c = [v / scheme.norm for v in scheme.correlations]
        # Straight from the definition: N' members of correlation at most 1/N'.
        true = 1
        for wanted in range(2, scheme.size + 1):
            fitting = [t for t in range(m) if c[t] * wanted <= 1]
            if fitting and sizes[max(fitting)] >= wanted:
                true = wanted
        code, lower, upper = packed(values, n)
        assert code["size"] == lower <= true <= upper, (n, m, values)


@pytest.mark.parametrize(
    ("n", "m", "g"),
    [
        *((40, 4, PROFILES[1]), (200, 6, PROFILES[2]), (300, 5, PROFILES[5])),
        (1000, 10, lambda h, m: Fraction(11 if h % 2 == 0 else -9, 10) + (h > 5)),
        *((30, 28, PROFILES[0]), (5000, 3, lambda h, m: 10**6 * (-1) ** h + h)),
    ],
)
def test_codes_of_larger_families_hold(n, m, g):
    code, lower, upper = packed([g(h, m) for h in range(m + 1)], n)
    assert 1 <= code["size"] == lower <= upper <= math.comb(n, m)


def test_majority_of_twenty_in_a_thousand_has_sq_dimension_fifty():
    code, lower, upper = packed([1 if 2 * h <= 20 else -1 for h in range(21)], 1000)
    assert (lower, upper, code["overlap"]) == (50, 50, 0)
    assert len({j for s in code["data"] for j in s}) == 1000


@pytest.mark.parametrize(("q", "m", "t"), [(3, 3, 1), (5, 4, 1), (5, 5, 2), (7, 3, 2), (7, 6, 1)])
def test_polynomials_agree_in_at_most_their_degree(q, m, t):
    sets = [frozenset(polynomial_set(q, m, t, i)) for i in range(q ** (t + 1))]
    assert len(set(sets)) == len(sets)
    assert all(len(s) == m and s <= set(range(q * m)) for s in sets)
    assert max(len(a & b) for a, b in itertools.combinations(sets, 2)) <= t


def test_a_code_of_polynomials_is_used_where_it_is_the_largest():
    code, lower, _ = packed([100 * (-1) ** h + (h > 1) for h in range(4)], 3000)
    assert code["code"] == "reed-solomon"
    assert prime(code["data"])
    assert lower == code["size"] > 3000 // 3
