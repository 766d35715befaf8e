"""What must hold of costs whatever the parameters: they grow with n and sigma; bad input."""

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from hardness import estimate
from hardness.lwe.estimate import estimate_attack
from hardness.lwe.models import DEFAULT, ROUGH
from hardness.lwe.parameters import parse_parameters
from hardness.lwe.scan import scan, spread

CLOSE = 0.2  # bits: scans end near the least
secrets = st.sampled_from(["binary", "ternary", "cbd,spread=2", "gaussian,spread=3", "uniform"])
moduli = st.sampled_from(["521", "3329", "12289", "2^20", "2^32"])


def rank(attack, n, q, sigma, secret, setting=DEFAULT):
    spec = f"lwe:n={n},q={q},sigma={sigma:.4f},secret={secret}"
    return estimate_attack(attack, parse_parameters(spec), setting).rank


@pytest.mark.parametrize("attack", ["usvp", "bdd", "dual"])
@settings(deadline=None, max_examples=8)
@drawn(
    st.integers(60, 700),
    st.integers(1, 200),
    moduli,
    st.floats(0.7, 6),
    st.floats(1.01, 4),
    secrets,
)
def test_costs_grow_with_the_dimension_and_the_errors(attack, n, more, q, sigma, wider, secret):
    for setting in (DEFAULT, ROUGH):
        least = rank(attack, n, q, sigma, secret, setting) - CLOSE
        assert rank(attack, n + more, q, sigma, secret, setting) >= least
        assert rank(attack, n, q, sigma * wider, secret, setting) >= least


def test_a_scan_finds_the_least_of_a_bowl_and_keeps_to_its_axes():
    def bowl(x, y, z):
        return (x - 300.0) ** 2 + (y - x // 3) ** 2 + abs(z - 7)

    axes = spread(1, 1000, 6), spread(0, 400, 5), spread(0, 5, 2)
    assert scan(bowl, *axes)[0] == (300, 100, 5)


def test_a_secret_of_thousands_of_values_is_not_certified_beside():
    found = estimate("lwe:n=64,q=12289,sigma=1/3,secret=gaussian,spread=500", attack="brute-force")
    assert "take 8629 values" in found.no_queries
