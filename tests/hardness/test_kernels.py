import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.kernels import System, counts
from instances import tokens


def dense_rank(rows):
    rows = rows.copy() % 2
    rank = 0
    for column in range(rows.shape[1]):
        pivot = next((i for i in range(rank, len(rows)) if rows[i, column]), None)
        if pivot is None:
            continue
        rows[[rank, pivot]] = rows[[pivot, rank]]
        for i in range(len(rows)):
            if i != rank and rows[i, column]:
                rows[i] ^= rows[rank]
        rank += 1
    return rank


@given(st.integers(1, 140), st.integers(1, 40), st.integers(0, 2**32), st.integers(1, 5))
def test_a_consistent_system_is_solved_however_it_is_fed(unknowns, equations, seed, parts):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (equations, unknowns))
    secret = rng.integers(0, 2, unknowns)
    bits = (rows @ secret % 2).astype(np.uint8)
    system = System(unknowns)
    for some in np.array_split(np.arange(equations), parts):
        packed = tokens.pack(1 - 2 * rows[some])
        assert system.add(packed, bits[some]) == 0
    assert system.rank == dense_rank(rows)
    assert (rows @ system.solution() % 2 == bits).all()
    if system.rank == unknowns:
        assert (system.solution() == secret).all()


@given(st.integers(1, 70), st.integers(0, 2**32))
def test_contradictions_are_counted(unknowns, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (unknowns + 30, unknowns))
    packed = tokens.pack(1 - 2 * rows)
    system = System(unknowns)
    good = np.zeros(len(rows), np.uint8)
    assert system.add(packed, good) == 0
    assert system.add(packed[:5], good[:5] + 1) == 5
    assert (rows @ system.solution() % 2 == 0).all()


@pytest.mark.parametrize("d", [3, 64, 100])
def test_counts_are_those_of_dense_vectors(d):
    rng = np.random.default_rng(0)
    masks, words = rng.integers(0, 2, (5, d)), rng.integers(0, 2, (40, d))
    found = counts(tokens.pack(1 - 2 * masks), tokens.pack(1 - 2 * words))
    assert (found == masks @ words.T).all()
