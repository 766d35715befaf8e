"""SQ-DIM by codes and Johnson's bound against clique search and known code sizes."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import pytest
from flint import fmpq

from hardness.check import check, kernel
from hardness.lower import certify
from hardness.lower.codes import is_prime, johnson_bound, polynomial_set, sq_dimension
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Proof
from instances import parse
from tests.proofs import plain, refused, step

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


def test_johnson_bound_is_above_every_known_code_and_meets_the_designs():
    for place, size in SIZES.items():
        assert johnson_bound(*place) >= size, place
        assert (johnson_bound(*place) == size) == (place not in NOT_TIGHT), place


def test_the_bound_is_monotone():
    for n in range(1, 34):
        for m in range(1, n + 1):
            bounds = [johnson_bound(n, m, t) for t in range(m)]
            assert bounds == sorted(bounds)
            assert bounds[-1] == math.comb(n, m)


@pytest.mark.parametrize("m", range(1, 9))
def test_the_kernel_has_the_same_upper_end(m):
    """The least upper end that it takes is the maker's."""
    for n in range(m + 1, 34):
        for values in ([(-1) ** h for h in range(m + 1)], [h % 3 for h in range(m + 1)]):
            numbers = {"places": n, "chosen": m, "values": list(map(str, values)), "noise": "0"}
            proof = Proof({"kind": "hidden-set", **numbers}, {})
            members, overlaps = proof.step("subsets"), proof.step("overlaps")
            one = {"overlap": 0, "size": Fraction(1), "code": "disjoint", "data": None}
            cited = members, overlaps, proof.step("code", **one)
            upper = sq_dimension(Johnson.of(values, n)).upper
            proof.step("packing", *cited, upper=Fraction(upper))
            if upper > 1:
                with pytest.raises(kernel.Refused):
                    proof.step("packing", *cited, upper=Fraction(upper - 1))


def largest(n, m, allowed):
    """The largest set of m-subsets of which any two are allowed, by clique search."""
    sets = [frozenset(s) for s in itertools.combinations(range(n), m)]
    graph = nx.Graph()
    graph.add_nodes_from(sets)
    graph.add_edges_from((a, b) for a, b in itertools.combinations(sets, 2) if allowed(len(a & b)))
    return nx.max_weight_clique(graph, weight=None)[1]


@pytest.mark.parametrize(
    ("n", "m"),
    [
        (5, 2),
        (6, 2),
        (6, 3),
        (7, 3),
        (5, 3),
        (6, 4),
        (8, 2),
        (7, 4),
        (7, 5),
        (8, 3),
        (8, 5),
        (11, 2),
    ],
)
def test_sq_dimension_brackets_what_clique_search_finds(n, m):
    sizes = {t: largest(n, m, lambda met, t=t: met <= t) for t in range(m)}
    for t, size in sizes.items():
        assert size <= johnson_bound(n, m, t)
    profiles = [
        [1 if 2 * h <= m else -1 for h in range(m + 1)],
        [(-1) ** h for h in range(m + 1)],
        [1 if h % 3 == 0 else -1 for h in range(m + 1)],
        [h * h for h in range(m + 1)],
        [fmpq(11 if h % 2 == 0 else -9, 10) for h in range(m)] + [fmpq(1)],
        [-1 if h == 1 else 1 for h in range(m + 1)],
    ]
    for values in profiles:
        scheme = Johnson.of(values, n)
        c = [v / scheme.norm for v in scheme.correlations]
        # Straight from the definition: N' members of correlation at most 1/N'.
        true = 1
        for wanted in range(2, scheme.size + 1):
            fitting = [t for t in range(m) if c[t] * wanted <= 1]
            if fitting and sizes[max(fitting)] >= wanted:
                true = wanted
        found = sq_dimension(scheme)
        assert found.lower <= true <= found.upper, (n, m, values)
        require_code(scheme, found)


def require_code(scheme, found):
    """The code has its size, its overlap, and correlations that allow its size."""
    code, c = found.code, scheme.correlations
    assert found.lower == code.size
    if code.size > 1:
        assert c[code.t] * code.size <= scheme.norm
    if code.kind == "listed":
        sets = [frozenset(s) for s in code.sets]
        assert len(set(sets)) == code.size
        assert all(len(s) == scheme.m and s <= set(range(scheme.n)) for s in sets)
        assert all(len(a & b) <= code.t for a, b in itertools.combinations(sets, 2))


@pytest.mark.parametrize(
    ("n", "m", "g"),
    [
        (40, 4, lambda h, m: (-1) ** h),
        (200, 6, lambda h, m: 1 if h % 3 == 0 else -1),
        (1000, 10, lambda h, m: fmpq(11 if h % 2 == 0 else -9, 10) + (h > 5)),
        (300, 5, lambda h, m: -1 if h == 2 else 1),
        (30, 28, lambda h, m: 1 if 2 * h <= m else -1),
        (5000, 3, lambda h, m: fmpq(10**6 * (-1) ** h + h)),
    ],
)
def test_codes_of_larger_families_hold(n, m, g):
    scheme = Johnson.of([g(h, m) for h in range(m + 1)], n)
    found = sq_dimension(scheme)
    assert 1 <= found.lower <= found.upper <= scheme.size
    require_code(scheme, found)


def test_majority_of_twenty_in_a_thousand_has_sq_dimension_fifty():
    found = sq_dimension(Johnson.of([1 if 2 * h <= 20 else -1 for h in range(21)], n=1000))
    assert found.exact
    assert found.lower == 50
    assert found.code.t == 0
    assert len({j for s in found.code.sets for j in s}) == 1000


def test_parity_has_all_members():
    scheme = Johnson.of([(-1) ** h for h in range(6)], n=30)
    found = sq_dimension(scheme)
    assert found.exact
    assert found.lower == scheme.size == math.comb(30, 5)
    assert found.code.kind == "all"


@pytest.mark.parametrize(("q", "m", "t"), [(3, 3, 1), (5, 4, 1), (5, 5, 2), (7, 3, 2), (7, 6, 1)])
def test_polynomials_agree_in_at_most_their_degree(q, m, t):
    sets = [frozenset(polynomial_set(q, m, t, i)) for i in range(q ** (t + 1))]
    assert len(set(sets)) == len(sets)
    assert all(len(s) == m and s <= set(range(q * m)) for s in sets)
    assert max(len(a & b) for a, b in itertools.combinations(sets, 2)) <= t


def test_a_code_of_polynomials_is_used_where_it_is_the_largest():
    scheme = Johnson.of([fmpq(100 * (-1) ** h + (h > 1)) for h in range(4)], n=3000)
    found = sq_dimension(scheme)
    assert found.code.kind == "reed-solomon"
    assert is_prime(found.code.q)
    assert found.code.q * scheme.m <= scheme.n
    assert scheme.m <= found.code.q
    assert found.lower <= found.code.q ** (found.code.t + 1)
    ratio = scheme.correlations[found.code.t] / scheme.norm
    assert Fraction(int(ratio.p), int(ratio.q)) <= Fraction(1, found.lower)


@pytest.mark.parametrize("spec", ["profile:g=majority,d=5001,m=2", "profile:g=h**2,d=200001,m=5"])
def test_many_disjoint_sets_are_not_listed_and_check(spec):
    data = plain(certify(parse(spec)))
    found = step(data, "code")
    assert found["code"] == "disjoint"
    assert any("SQ-DIM" in line for line in check(data).statements)
    more = str(int(found["size"]) + 1)
    refused(data, lambda d: step(d, "code").update(size=more), "step 4: ")


def test_polynomials_need_a_prime_that_is_large_enough():
    data = plain(certify(parse("profile:g=[100,-100,101,-99],d=3001,m=3")))
    check(data)
    found = step(data, "code")
    assert (found["code"], found["data"]) == ("reed-solomon", 997)
    size, degree = int(found["size"]), found["overlap"]
    assert 1 <= degree < 2
    wrong = [
        {"data": 999, "size": "999"},  # no prime
        {"data": 1009, "size": "997"},  # 3 * 1009 places
        {"data": 2, "size": "4"},  # below m
        {"size": str(997 ** (degree + 1) + 1)},
        {"overlap": 0, "size": str(size)},
        {"data": "997"},
    ]
    for change in wrong:
        refused(data, lambda d, c=change: step(d, "code").update(c), "step 4: ")
