"""SQ-DIM of listed members from both ends, and the search for cliques that it stands on."""

import itertools

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.lower.clique import find_clique
from hardness.lower.dimension import Ends, caps

STEPS = 200_000


def ends(gram, steps=STEPS) -> Ends:
    found = Ends(caps=caps(gram))
    found.narrow(0)
    found.narrow(steps)
    return found


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


def require_proof(found: Ends, gram):
    """Members and classes prove both ends; none of the makers' code is used."""
    size = len(found.members)
    assert len(set(found.members)) == size
    assert all(together(gram, i, j, size) for i, j in itertools.combinations(found.members, 2))
    inside = [p for c in found.classes for p in itertools.combinations(c, 2)]
    assert len(found.classes) <= found.high
    assert sorted(itertools.chain(*found.classes)) == list(range(len(gram)))
    assert not any(together(gram, i, j, found.high + 1) for i, j in inside)


def random_gram(members, points, seed):
    values = np.random.default_rng(seed).choice([-1, 0, 1, 2], (members, points))
    values[:, 0] = 1
    return values @ values.T


@settings(max_examples=60)
@given(
    st.lists(
        st.lists(st.integers(-3, 3), min_size=4, max_size=4).filter(any), min_size=1, max_size=8
    )
)
def test_by_subsets_on_any_vectors(vectors):
    gram = np.array(vectors) @ np.array(vectors).T
    found = ends(gram)
    assert len(found.members) == by_subsets(gram) == found.most <= found.high
    require_proof(found, gram)


@pytest.mark.parametrize(("members", "points"), [(20, 6), (40, 9), (40, 60), (58, 16), (50, 400)])
def test_random_functions_by_networkx(members, points):
    gram = random_gram(members, points, seed=members * points)
    found = ends(gram)
    assert len(found.members) == by_networkx(gram) == found.most <= found.high
    require_proof(found, gram)


def test_questions_that_stay_open_leave_the_ends_open():
    gram = random_gram(60, 80, seed=1)
    true, short = ends(gram), ends(gram, steps=3)
    assert len(short.members) <= len(true.members) == true.most <= short.most <= short.high
    require_proof(short, gram)
    assert short.members == ends(gram, steps=3).members


def test_boundaries_are_compared_exactly():
    """A correlation of exactly 1/N', where float64 rounds it up, and one a little above."""
    for size in range(2, 60):
        gram = np.full((size, size), 1) + (size - 1) * np.eye(size, dtype=int)
        assert len(ends(gram).members) == size
        above = np.full((size, size), 10**9) + np.eye(size, dtype=int) * ((size - 1) * 10**9 - 1)
        assert ends(above).high == size - 1


def test_no_recursion_on_large_cliques():
    graph = ~np.eye(1500, dtype=np.bool_)
    graph[0, 1] = graph[1, 0] = False
    assert len(find_clique(graph, 1499, STEPS).members) == 1499
    assert find_clique(graph, 1500, STEPS).none
