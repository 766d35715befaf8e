import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.lower import BoundParameters, certify
from instances import UsageError, parse
from tests import closed


@given(st.integers(2, 40))
def test_a_hypothesis_is_right_about_as_many_members_as_stated_and_no_more(k):
    """The mean of K orthonormal functions has risk 1 - 1/K for each: the count is attained."""
    assert closed.orthogonal(BoundParameters(risk=1 - Fraction(1, k))) == k
    less = BoundParameters(risk=1 - Fraction(1, k) - Fraction(1, 10**9))
    assert closed.orthogonal(less) == k - 1
    rng = np.random.default_rng(k)
    for _ in range(20):
        h = rng.normal(size=k) * rng.uniform(0, 2) / math.sqrt(k)
        worst = ((np.eye(k) - h) ** 2).sum(axis=1).max()
        assert worst >= 1 - 1 / k - 1e-12


def test_vstat_lemma_on_a_grid():
    grid = np.linspace(0, 1, 401)
    p, reference = np.meshgrid(grid, grid)
    for t in (1, 2, 3, 10, 100, 1000):
        far = np.abs(p - reference) > np.maximum(1 / t, np.sqrt(p * (1 - p) / t))
        bound = np.minimum(reference, 1 - reference) / (3 * t)
        assert ((p - reference) ** 2 >= bound * (1 - 1e-12))[far].all()


def test_a_query_rules_out_a_whole_number_of_members():
    """tau = 9/10: more than a member can move; 179 queries were claimed of 56 members."""
    wide = BoundParameters(tau=Fraction(9, 10))
    made = certify(parse("parity:d=9,m=3"), wide)
    assert made.value("stat-success") == "1/56"  # one of 56, by a guess
    assert "stat-queries" not in {claim.quantity for claim in made.claims}


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 8)])
@pytest.mark.parametrize("tau", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 5), Fraction(1, 10)])
def test_no_query_rules_out_more_members_than_the_cap(noise, tau):
    """Signs of sums of characters on four places, and random tables, by enumeration."""
    z = 1 - 2 * ((np.arange(16)[:, None] >> np.arange(4)) & 1)
    members = np.array([z[:, list(s)].prod(axis=1) for s in itertools.combinations(range(4), 2)])
    rng, fade = np.random.default_rng(3), float(1 - 2 * noise)
    tables = [np.sign(rng.normal(size=(20_000, 6)) @ members), rng.choice([-1, 1], (20_000, 16))]
    moves = np.abs(np.concatenate(tables) @ members.T) / 16 * fade / 2
    most = (moves > float(tau) + 1e-12).sum(axis=1).max()
    assert most <= closed.parity_cap(noise, BoundParameters(tau=tau))
    if (noise, tau) == (0, Fraction(1, 5)):
        assert most == 4  # the bound allows 6.25, so 6


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"tau": Fraction(0)}, "tau"),
        ({"tau": Fraction(2)}, "tau"),
        ({"risk": Fraction(1)}, "risk"),
        ({"success": Fraction(0)}, "success"),
        ({"vstat": 0}, "t must"),
        ({"tau": 0.1}, "exact rational"),
    ],
)
def test_refuses_terms_out_of_range(given, word):
    with pytest.raises(UsageError, match=word):
        BoundParameters(**given)
