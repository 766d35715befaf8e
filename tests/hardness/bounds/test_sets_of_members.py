"""Sets of listed members that are near or far apart: found in time, and right where sums are long.

Which sets there are is known by construction.
"""

from fractions import Fraction

import networkx as nx
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


@pytest.mark.parametrize("seed", range(4))
def test_of_few_members_sq_dim_is_that_of_all_cliques(seed):
    rng = np.random.default_rng(seed)
    rows = rng.choice([-1, 1], size=(14, 16))
    products = rows @ rows.T
    found = independent_members(products)
    sizes = []
    for size in range(1, len(rows) + 1):
        near = (np.abs(products) * size <= 16) & ~np.eye(len(rows), dtype=bool)
        sizes += [size] * (max(map(len, nx.find_cliques(nx.from_numpy_array(near)))) >= size)
    assert len(found["chosen"]) == max(sizes) <= found["upper"]


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
