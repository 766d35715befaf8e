from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from instances import UsageError
from instances.families.parity import signs
from instances.symmetric import exact_heads, to_float
from instances.threshold import rational, solve, solve_log


def evaluate(a, u, x):
    return sum((b * (x - v) / (x + v) for b, v in zip(a, u, strict=True)), fmpq(0))


def response(a, log_u, log_x):
    return np.tanh((log_x[:, None] - log_u) / 2) @ a


def geometric(m, rho):
    base = rational(rho)
    return [base ** (2 * h) for h in range(m + 1)], [base ** (2 * i - 1) for i in range(1, m + 1)]


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


@pytest.mark.parametrize("m", [1, 2, 5, 16, 60, 100])
def test_float64_in_the_log_domain_agrees_with_the_exact_solve(m):
    x, u = geometric(m, Fraction(3))
    a, c0 = solve([fmpq((-1) ** h) for h in range(m + 1)], x, u)
    log_x, log_u = 2 * np.log(3) * np.arange(m + 1), np.log(3) * (2 * np.arange(1, m + 1) - 1)
    alternating = (-1.0) ** np.arange(m + 1)
    fast, offset = solve_log(alternating, log_x, log_u)
    exact = np.array([to_float(v) for v in a])
    np.testing.assert_allclose(fast, exact, rtol=2e-12)
    assert abs(offset - to_float(c0)) < 1e-10
    np.testing.assert_allclose(response(fast, log_u, log_x), alternating + offset, atol=1e-9)


def test_float64_at_a_beta_that_is_no_rational_and_a_profile_that_does_not_alternate():
    m, beta = 12, 1.7
    log_x, log_u = beta * np.arange(m + 1), beta * (np.arange(1, m + 1) - 0.5)
    majority = np.where(np.arange(m + 1) <= m / 2, 1.0, -1.0)
    a, c0 = solve_log(majority, log_x, log_u)
    np.testing.assert_allclose(response(a, log_u, log_x), majority + c0, atol=1e-9)


def test_refuses_thresholds_that_repeat_or_are_not_positive():
    with pytest.raises(UsageError, match="distinct"):
        solve([fmpq(1)] * 3, [fmpq(1), fmpq(2), fmpq(3)], [fmpq(1), fmpq(1)])
    with pytest.raises(UsageError, match="positive"):
        solve([fmpq(1)] * 2, [fmpq(1), fmpq(0)], [fmpq(1)])
    with pytest.raises(UsageError, match="need"):
        solve([fmpq(1)] * 2, [fmpq(1), fmpq(2)], [fmpq(1), fmpq(3)])
