import itertools
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.lower.clique import find_clique
from hardness.lower.finite.caps import caps, exact_caps
from hardness.lower.finite.graph import Bracket, bracket
from hardness.lower.finite.spectrum import UNIT, Spectrum, refute, upper_ends

STEPS = 200_000


def sq_dimension(correlations, radius=0.0, steps=STEPS) -> Bracket:
    return bracket(*caps(correlations, radius), steps, lambda: upper_ends(correlations, radius))


def sq_dimension_exact(gram, steps=STEPS) -> Bracket:
    found, correlations = exact_caps(gram)
    return bracket(found, found, steps, lambda: upper_ends(correlations))


def together(gram, i, j, size):
    """Whether |correlation| <= 1/size: G_ij^2 size^2 <= G_ii G_jj, in Python's integers."""
    return int(gram[i][j]) ** 2 * size**2 <= int(gram[i][i]) * int(gram[j][j])


def by_subsets(gram):
    """SQ-DIM by its definition: all subsets, the largest first."""
    for size in range(len(gram), 1, -1):
        for chosen in itertools.combinations(range(len(gram)), size):
            if all(together(gram, i, j, size) for i, j in itertools.combinations(chosen, 2)):
                return size
    return 1


def graph_at(gram, size):
    graph = nx.Graph()
    graph.add_nodes_from(range(len(gram)))
    pairs = itertools.combinations(range(len(gram)), 2)
    graph.add_edges_from((i, j) for i, j in pairs if together(gram, i, j, size))
    return graph


def by_networkx(gram):
    """SQ-DIM by networkx's cliques, from N' = 2 upwards: the predicate is monotone."""
    size = 1
    while size < len(gram):
        if nx.max_weight_clique(graph_at(gram, size + 1), weight=None)[1] <= size:
            break
        size += 1
    return size


def proves(found: Bracket, gram) -> bool:
    """Whether members and evidence prove both ends; none of the makers' code is used."""
    members = found.members
    if len(set(members)) != found.lower or not set(members) <= set(range(len(gram))):
        return False
    if not all(together(gram, i, j, found.lower) for i, j in itertools.combinations(members, 2)):
        return False
    evidence = found.evidence.to_dict()
    size = evidence["at"]
    if size != found.upper + 1:
        return False
    if evidence["kind"] == "colouring":
        inside = [p for c in evidence["classes"] for p in itertools.combinations(c, 2)]
        return (
            len(evidence["classes"]) < size
            and sorted(itertools.chain(*evidence["classes"])) == list(range(len(gram)))
            and not any(together(gram, i, j, size) for i, j in inside)
        )
    if evidence["kind"] == "spectrum":
        norms = [math.sqrt(gram[i][i]) for i in range(len(gram))]
        matrix = [
            [gram[i][j] / norms[i] / norms[j] for j in range(len(gram))] for i in range(len(gram))
        ]
        own = np.sort(np.linalg.svd(np.array(matrix), compute_uv=False))[::-1]
        ends = [Fraction(u, UNIT) for u in evidence["eigenvalues"]]
        w = Fraction(evidence["level"], UNIT)
        left = sum(min(u, w) * (2 * w - min(u, w)) for u in ends)
        return (
            len(ends) == size
            and all(u >= value for u, value in zip(ends, own, strict=False))
            and left < 2 * w * size - size - 1 + Fraction(1, size)
        )
    return max(map(len, nx.find_cliques(graph_at(gram, size))), default=0) < size


def random_gram(members, points, seed):
    values = np.random.default_rng(seed).choice([-1, 0, 1, 2], (members, points))
    values[:, 0] = 1
    return values @ values.T


def majorities(n, m):
    """Majorities of all m-subsets of n bits, 0 at a tie, by enumeration of the cube."""
    points = np.array(list(itertools.product((-1, 1), repeat=n)))
    subsets = list(itertools.combinations(range(n), m))
    values = np.array([np.sign(points[:, s].sum(axis=1)) for s in subsets])
    return values @ values.T


def rays(d):
    """All vectors of -1, 0, 1 up to their sign."""
    found = [v for v in itertools.product((-1, 0, 1), repeat=d) if any(v)]
    return np.array([v for v in found if next(x for x in v if x) > 0])


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any), min_size=1, max_size=8
    )
)
def test_by_subsets_on_any_vectors(vectors):
    gram = np.array(vectors) @ np.array(vectors).T
    found = sq_dimension_exact(gram)
    assert found.lower == found.upper == by_subsets(gram)
    assert proves(found, gram)


@pytest.mark.parametrize(
    ("members", "points"), [(20, 6), (40, 9), (40, 60), (58, 16), (58, 64), (50, 400)]
)
def test_random_functions_by_networkx(members, points):
    gram = random_gram(members, points, seed=members * points)
    found = sq_dimension_exact(gram)
    assert found.lower == found.upper
    assert found.lower == by_networkx(gram)
    assert proves(found, gram)


# The largest number of m-subsets of n with pairwise overlap at most t = 0, 1, ..: tables of
# constant-weight codes, A(n, 2(m-t), m).
CODES = {
    (6, 2): [3, 15],
    (6, 3): [2, 4, 20],
    (7, 3): [2, 7, 35],
    (8, 3): [2, 8, 56],
    (8, 4): [2, 2, 14, 70],
    (9, 3): [3, 12, 84],
    (10, 3): [3, 13, 120],
}


@pytest.mark.parametrize(("n", "m"), CODES)
def test_majorities_by_the_formula_of_johnson_families(n, m):
    """SQ-DIM = max over t of min(A(n, m, overlap <= t), floor(c(m)/c(t)))."""
    gram = majorities(n, m)
    first = [set(s) for s in itertools.combinations(range(n), m)]
    by_overlap = {len(first[0] & s): int(gram[0][i]) for i, s in enumerate(first)}
    size = max(
        min(most, by_overlap[m] // by_overlap[t]) if by_overlap.get(t) else most
        for t, most in enumerate(CODES[n, m])
        if t in by_overlap
    )
    found = sq_dimension_exact(gram)
    assert found.lower == found.upper == size
    assert proves(found, gram)
    if len(gram) < 60:
        assert by_networkx(gram) == size


def test_the_eigenvalues_prove_what_colouring_does_not():
    """Rays of three dimensions: more than three colours, and at most three are orthogonal."""
    for d in (3, 4, 5):
        gram = rays(d) @ rays(d).T
        found = sq_dimension_exact(gram, steps=0)
        assert isinstance(found.evidence, Spectrum)
        assert (found.lower, found.upper) == (d, d)
        assert proves(found, gram)
        floats = sq_dimension(exact_caps(gram)[1], radius=1e-9, steps=0)
        assert (floats.lower, floats.upper) == (d, d)


@pytest.mark.parametrize("k", range(2, 30))
def test_the_condition_on_eigenvalues_is_tight(k):
    """k vectors of pairwise correlation 1/k, or -1/k, are not refuted; a little less room is."""
    for sign in (1, -1):
        matrix = np.full((k, k), sign / k)
        np.fill_diagonal(matrix, 1.0)
        ends = upper_ends(matrix)
        assert refute(ends, k, k) is None
        smaller = (*ends[:-1], ends[-1] - UNIT // 1000)
        assert refute(smaller, k, k).at == k
        assert refute(upper_ends(np.where(np.eye(k), 1.0, matrix * 1.001)), k, k).at == k


def test_ends_of_eigenvalues_hold_for_every_matrix_within_the_radius():
    rng = np.random.default_rng(3)
    for seed in range(20):
        true = exact_caps(random_gram(15, 9, seed))[1]
        own = np.sort(np.linalg.svd(true, compute_uv=False))[::-1]
        for radius in (0.0, 1e-3, 0.1):
            for sign in (1, np.sign(true), np.triu(rng.choice([-1, 1], true.shape))):
                noise = np.triu(np.broadcast_to(radius * sign, true.shape), k=1)
                ends = upper_ends(true - noise - noise.T, radius)
                assert (np.array(ends) / UNIT >= own).all()
                # The two triangles may differ, within the same radius.
                assert (np.array(upper_ends(true - noise, radius)) / UNIT >= own).all()
    # Orthogonal members are within the radius, and would be refuted without it.
    matrix = np.where(np.eye(4), 1.0, 0.26)
    assert refute(upper_ends(matrix), 4, 4).at == 4
    assert sq_dimension(matrix, 0.26).upper == 4
    # All of radius is needed: 1 + (M-1) r is reached.
    assert upper_ends(np.eye(5), 0.1)[0] >= UNIT * 1.4
    assert sq_dimension(np.eye(5), 0.1).lower == sq_dimension(np.eye(5), 0.1).upper == 5


def test_brackets_hold_for_every_matrix_within_the_radius():
    rng = np.random.default_rng(7)
    for seed in range(30):
        gram = random_gram(9, 12, seed)
        true = exact_caps(gram)[1]
        radius = float(rng.choice([1e-12, 0.01, 0.1]))
        noise = np.triu(rng.uniform(-radius, radius, true.shape), k=1)
        found = sq_dimension(true + noise + noise.T, radius * (1 + 1e-9))
        size = by_subsets(gram)
        assert found.lower <= size <= found.upper
        for i, j in itertools.combinations(found.members, 2):
            assert together(gram, i, j, found.lower)


def test_open_questions_leave_the_bracket_open():
    gram = random_gram(60, 80, seed=1)
    true = sq_dimension_exact(gram)
    short = sq_dimension_exact(gram, steps=3)
    assert short.lower <= true.lower == true.upper <= short.upper
    assert short.lower < short.upper
    assert proves(short, gram)
    assert short == sq_dimension_exact(gram, steps=3)


def test_boundaries_are_compared_exactly():
    """A correlation of exactly 1/N', where float64 rounds it up, and one a little above."""
    for size in range(2, 60):
        gram = np.full((size, size), 1) + (size - 1) * np.eye(size, dtype=int)
        assert sq_dimension_exact(gram).lower == size
        above = np.full((size, size), 10**30) + ((size - 1) * 10**30 - 1) * np.eye(
            size, dtype=object
        )
        assert sq_dimension_exact(above.astype(object)).upper == size - 1
    third = np.array([[1, 1 / 3], [1 / 3, 1]])
    assert caps(third)[0][0, 1] == 2  # as there are two members
    for value in (1 / 3, 1 / 49, 1 / 7, 0.1, 0.125):
        matrix = np.eye(60) + value * (1 - np.eye(60))
        low, high = caps(matrix)
        assert low[0, 1] == high[0, 1] == math.floor(1 / Fraction(value))
        low, high = caps(matrix, radius=1e-12)
        assert low[0, 1] < high[0, 1]


def test_two_triangles_that_differ_by_rounding_are_both_allowed_for():
    for matrix in ([[1, 0.5], [0.5 + 1e-12, 1]], [[1, 0.5 + 1e-12], [0.5, 1]]):
        low, high = caps(np.array(matrix))
        assert (low[0, 1], high[0, 1]) == (low[1, 0], high[1, 0]) == (1, 2)
        found = sq_dimension(np.array(matrix))
        assert found.lower < found.upper


def test_integers_of_any_size():
    gram = random_gram(12, 9, seed=5)
    wanted = sq_dimension_exact(gram)
    for scale in (1, 10**9, 10**200):
        scaled = gram.astype(object) * scale
        assert sq_dimension_exact(scaled).lower == wanted.lower
    mixed = np.array([[2, 1], [1, np.int64(2)]], dtype=object)
    assert sq_dimension_exact(mixed).lower == 2
    # int64 whose products do not fit in int64
    assert (exact_caps(gram * 10**16)[0] == exact_caps(gram)[0]).all()


def random_graph(size, density, seed):
    drawn = np.triu(np.random.default_rng(seed).random((size, size)) < density, k=1)
    return drawn | drawn.T


def johnson(n, m, overlap):
    subsets = [set(s) for s in itertools.combinations(range(n), m)]
    return np.array([[a != b and len(a & b) <= overlap for b in subsets] for a in subsets])


def require_clique(graph, found):
    assert len(set(found.members)) == len(found.members)
    assert all(graph[i, j] for i, j in itertools.combinations(found.members, 2))
    if found.colouring:
        assert sorted(v for c in found.colouring for v in c) == list(range(len(graph)))
    for members in found.colouring:
        assert not any(graph[i, j] for i, j in itertools.combinations(members, 2))


GRAPHS = [random_graph(n, p, n) for n in (1, 2, 9, 30, 60) for p in (0.1, 0.5, 0.8)] + [
    johnson(6, 3, 1),
    johnson(8, 2, 0),
    johnson(7, 3, 1),
    johnson(8, 3, 1),
    np.zeros((4, 4), np.bool_),
    np.ones((50, 50), np.bool_),
]


@pytest.mark.parametrize("graph", GRAPHS)
def test_cliques_are_found_where_networkx_finds_them(graph):
    bare = graph & ~np.eye(len(graph), dtype=np.bool_)
    size = nx.max_weight_clique(nx.from_numpy_array(bare), weight=None)[1]
    for wanted in range(1, min(len(graph), size + 3) + 1):
        asked = find_clique(graph, wanted, STEPS)
        require_clique(bare, asked)
        assert (len(asked.members) >= wanted) == (wanted <= size)
        assert asked.none == (wanted > size)
        assert asked == find_clique(graph, wanted, STEPS)


def test_a_search_stops_after_its_steps():
    graph = johnson(10, 4, 1)  # A(10, 6, 4) = 5
    short, long = find_clique(graph, 6, steps=10), find_clique(graph, 6, STEPS)
    require_clique(graph, short)
    assert (short.none, long.none) == (False, True)
    assert len(short.members) <= 5


def test_no_recursion_on_large_cliques():
    graph = ~np.eye(1500, dtype=np.bool_)
    graph[0, 1] = graph[1, 0] = False
    assert len(find_clique(graph, 1499, STEPS).members) == 1499
    assert find_clique(graph, 1500, STEPS).none
