import itertools
import math

import pytest

from hardness.cost.elimination import (
    SPARE,
    best_size,
    linear_algebra,
    restricted_elimination,
    trials_bits,
)
from hardness.cost.problem import problem, read
from hardness.cost.reduction import ROUGH
from instances import parse


def test_trials_by_enumeration():
    n, h, k, rate = 8, 2, 5, 0.25
    hit = sum(set(range(h)) <= set(c) for c in itertools.combinations(range(n), k))
    chance = hit / math.comb(n, k) * (1 - rate) ** (k + SPARE)
    assert trials_bits(n, h, k, rate) == pytest.approx(-math.log2(chance))


@pytest.mark.parametrize(
    ("n", "h", "rate"),
    [(64, 5, 0.1), (100, 4, 0.1), (200, 8, 0.02), (1000, 10, 0.005), (12, 1, 0.3)],
)
def test_the_best_size_by_trying_all(n, h, rate):
    work = {k: trials_bits(n, h, k, rate) + 3 * math.log2(k) for k in range(h, n + 1)}
    assert best_size(n, h, rate) == min(work, key=work.get)


def test_a_best_size_beyond_n_and_one_of_unknown_weight():
    assert best_size(1000, 10, 0.005) in range(900, 1001)  # h/-ln(1 - rate) is beyond n
    assert best_size(40, 0, 0.1) == 40


def test_elimination_applies_where_it_should():
    noisy = problem(parse("parity:d=20,m=3,noise=0.1"))
    clean = problem(parse("parity:d=20,m=3"))
    assert restricted_elimination(noisy, ROUGH).applies
    assert "no noise" in restricted_elimination(clean, ROUGH).reason
    assert "errors or are rounded" in linear_algebra(noisy, ROUGH).reason
    assert linear_algebra(clean, ROUGH).applies
    odd = restricted_elimination(read("lwe:n=4,q=17,error=none"), ROUGH)
    assert odd.reason == "q is not 2"


def test_linear_algebra_takes_as_many_samples_as_unknowns():
    assert linear_algebra(read("lwe:n=9,q=61,error=none"), ROUGH).samples == 9
