"""Correlations, spectra, codes and SQ-DIM of hidden sets against matrices and clique search."""

import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check.kernel.core import prime
from hardness.check.kernel.hidden_sets import meeting
from hardness.lower.codes import best_code, polynomial_set
from hardness.lower.johnson import Johnson
from hardness.lower.proof import Proof
from instances import parse
from instances.symmetric import to_float
from instances.threshold import python_fraction
from tests import closed

SMALL = [
    *((n, m) for n in range(1, 33) for m in range(1, n) if math.comb(n, m) <= 500),
    (500, 1),
    (60, 59),
]


def profiles(m):
    """Values at h = 0 .. m: monotone, not monotone, without a linear part, of many values."""
    return {
        "majority": [1 if 2 * h <= m else -1 for h in range(m + 1)],
        "parity": [(-1) ** h for h in range(m + 1)],
        "mod": [1 if h % 3 == 0 else -1 for h in range(m + 1)],
        "even": [(2 * h - m) ** 2 for h in range(m + 1)],  # its g^_1 is 0
        "many": [Fraction(h * h - 3 * h, 7) + (-1) ** h for h in range(m + 1)],
        "one": [int(h == m) for h in range(m + 1)],
    }


def members(n, m):
    """The indicator matrix of all m-subsets: (C(n,m), n)."""
    out = np.zeros((math.comb(n, m), n))
    for row, chosen in enumerate(itertools.combinations(range(n), m)):
        out[row, chosen] = 1
    return out


def gram(scheme):
    """The Gram matrix over all members, not scaled."""
    chosen = members(scheme.n, scheme.m)
    table = np.array([to_float(c) for c in scheme.correlations])
    return table[np.rint(chosen @ chosen.T).astype(int)]


@pytest.mark.parametrize("m", range(1, 6))
@pytest.mark.parametrize("n", [6, 8])
def test_correlations_by_enumeration_of_all_points(n, m):
    z = np.array(list(itertools.product((0, 1), repeat=n)))
    chosen = members(n, m)
    for name, values in profiles(m).items():
        if len(set(values)) == 1:
            continue
        scheme = Johnson.of(values, n)
        table = np.array([float(v) for v in values])
        f = table[(z @ chosen.T).astype(int)]
        f = f - f.mean(axis=0)
        np.testing.assert_allclose(f.T @ f / len(z), gram(scheme), atol=1e-11, err_msg=name)
        mean = f.mean(axis=1)
        assert abs((mean**2).mean() - to_float(scheme.average)) < 1e-12
        rest = f - mean[:, None]
        top = np.linalg.eigvalsh(rest.T @ rest / len(z)).max()
        assert abs(top - to_float(scheme.spread)) < 1e-9 * (1 + top)
        norms = (rest**2).mean(axis=0)
        np.testing.assert_allclose(norms, to_float(scheme.norm - scheme.average), atol=1e-11)


def test_the_spectrum_is_that_of_the_matrix_for_every_small_family():
    names = list(profiles(1))
    for count, (n, m) in enumerate(SMALL):
        for offset in range(1 if math.comb(n, m) > 60 else len(names)):
            name = names[(count + offset) % len(names)]
            values = profiles(m)[name]
            if len(set(values)) == 1:
                continue
            scheme = Johnson.of(values, n)
            matrix = gram(scheme)
            wanted = np.linalg.eigvalsh(matrix)[::-1]
            found = np.repeat([to_float(v) for v in scheme.eigenvalues], scheme.multiplicities)
            assert len(found) == len(wanted) == scheme.size
            scale = to_float(scheme.eigenvalues[0])
            np.testing.assert_allclose(found, wanted, atol=1e-9 * scale, err_msg=f"{name} {n} {m}")
            assert abs(matrix.mean() - to_float(scheme.average)) < 1e-10 * scale
            cross = to_float(scheme.cross_predictability)
            assert abs((matrix**2).mean() - cross) < 1e-10 * (1 + cross)


@given(st.data(), st.integers(1, 14), st.integers(1, 30))
@settings(max_examples=80)
def test_the_kernel_has_what_fourier_weights_give(data, m, more):
    values = data.draw(
        st.lists(st.fractions(-9, 9, max_denominator=7), min_size=m + 1, max_size=m + 1)
    )
    if len(set(values)) == 1:
        return
    found, wanted = Johnson.of(values, m + more), closed.Johnson.of(values, m + more)
    for name in ("size", "multiplicities"):
        assert getattr(found, name) == getattr(wanted, name), name
    for name in ("norm", "average", "spread", "cross_predictability"):
        assert python_fraction(getattr(found, name)) == getattr(wanted, name), name
    for name in ("weights", "correlations", "eigenvalues"):
        assert list(map(python_fraction, getattr(found, name))) == getattr(wanted, name), name
    c = wanted.correlations
    steps = [b - a for a, b in itertools.pairwise(c)]
    assert c[0] == 0 <= min(steps)
    assert steps == sorted(steps)  # convex
    assert c[-2] < c[-1]
    mean = sum(math.comb(m, h) * v for h, v in enumerate(values)) / Fraction(2**m)
    square = sum(math.comb(m, h) * v * v for h, v in enumerate(values)) / Fraction(2**m)
    assert c[-1] == square - mean**2


@pytest.mark.parametrize("g", ["majority", "mod(3)", "h**2-h/3", "exactly(2)", "(2*h-m)**2"])
@pytest.mark.parametrize(("d", "m"), [(5, 3), (9, 3), (12, 9), (30, 6), (8, 6)])
def test_what_no_one_knows_of_a_label_is_its_variance_less_that_of_the_mean_member(g, d, m):
    family = parse(f"profile:g={g},d={d},m={m}")
    scheme = Johnson.family(family)
    assert python_fraction(scheme.norm - scheme.average) == family.unknown_variance


def test_the_gram_matrix_of_one_member_is_its_norm():
    found = Johnson.of([0, 1, 2], 2)
    assert found.eigenvalues == [found.norm] == [found.average]
    assert (found.size, found.multiplicities) == (1, [1])


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
