from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from instances.families.parity import signs
from instances.steps import exact
from instances.symmetric import exact_heads
from instances.threshold import rational, solve


def evaluate(a, u, x):
    return sum((b * (x - v) / (x + v) for b, v in zip(a, u, strict=True)), fmpq(0))


@given(
    st.lists(st.fractions(-5, 5, max_denominator=9), min_size=2, max_size=7),
    st.data(),
)
def test_any_profile_any_points_exactly(profile, data):
    m = len(profile) - 1
    positive = st.fractions(Fraction(1, 9), 9, max_denominator=9)
    x = data.draw(st.lists(positive, min_size=m + 1, max_size=m + 1, unique=True))
    u = data.draw(st.lists(positive, min_size=m, max_size=m, unique=True))
    g, x, u = ([rational(v) for v in values] for values in (profile, x, u))
    a, c0 = solve(g, x, u)
    assert all(evaluate(a, u, p) == v + c0 for p, v in zip(x, g, strict=True))


@pytest.mark.parametrize("rho", [Fraction(2), Fraction(3), Fraction(5, 2)])
def test_parity_heads_are_exact_up_to_60(rho):
    exact_heads.cache_clear()
    for m in (*range(1, 12), 20, 21, 59, 60):
        heads = exact_heads(signs(m), rho)
        assert len(heads) == m + (m % 2 == 0)
        base = rational(rho)
        for h in range(m + 1):
            assert sum((k.response(base ** (2 * h)) for k in heads), fmpq(0)) == (-1) ** h
        assert sum((k.a for k in heads), fmpq(0)) != 0


@pytest.mark.parametrize(("beta", "low"), [(1.7, -3), (0.3, 5), (40.0, 0)])
def test_any_function_of_an_integer_at_a_beta_that_is_no_rational(beta, low):
    values = np.cos(np.arange(13.0) ** 2)
    assert np.abs(exact(values, low, beta)(low + np.arange(13)) - values).max() < 1e-9
