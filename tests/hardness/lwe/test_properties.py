"""What must hold of costs whatever the parameters: they grow with n and sigma; bad input."""

import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

from hardness.lwe.estimate import estimate_all, estimate_attack
from hardness.lwe.models import DEFAULT, ROUGH, parse_setting
from hardness.lwe.parameters import parse_parameters
from hardness.lwe.scan import scan, spread
from instances.errors import UsageError

CLOSE = 0.2  # bits: scans end near the least
secrets = st.sampled_from(["binary", "ternary", "cbd,spread=2", "gaussian,spread=3", "uniform"])
moduli = st.sampled_from(["521", "3329", "12289", "2^20", "2^32"])
growing = pytest.mark.parametrize("attack", ["usvp", "bdd", "dual"])


def rank(attack, n, q, sigma, secret, setting=DEFAULT):
    spec = f"lwe:n={n},q={q},sigma={sigma:.4f},secret={secret}"
    return estimate_attack(attack, parse_parameters(spec), setting).rank


@growing
@settings(deadline=None, max_examples=15)
@drawn(st.integers(60, 700), st.integers(1, 200), moduli, st.floats(0.7, 6), secrets)
def test_costs_grow_with_the_dimension(attack, n, more, q, sigma, secret):
    for setting in (DEFAULT, ROUGH):
        least = rank(attack, n, q, sigma, secret, setting)
        assert rank(attack, n + more, q, sigma, secret, setting) >= least - CLOSE


@growing
@settings(deadline=None, max_examples=15)
@drawn(st.integers(60, 700), moduli, st.floats(0.7, 6), st.floats(1.01, 4), secrets)
def test_costs_grow_with_the_errors(attack, n, q, sigma, wider, secret):
    least = rank(attack, n, q, sigma, secret)
    assert rank(attack, n, q, sigma * wider, secret) >= least - CLOSE


@settings(deadline=None, max_examples=10)
@drawn(st.integers(4, 300), moduli, st.floats(0.7, 6), secrets)
def test_the_least_is_at_most_brute_force(n, q, sigma, secret):
    spec = f"lwe:n={n},q={q},sigma={sigma:.4f},secret={secret}"
    every = estimate_all(parse_parameters(spec), spec)
    assert every.least.rank <= every["brute-force"].rank


def test_a_scan_finds_the_least_of_a_bowl_and_keeps_to_its_axes():
    def bowl(x, y, z):
        return (x - 300.0) ** 2 + (y - x // 3) ** 2 + abs(z - 7)

    axes = spread(1, 1000, 6), spread(0, 400, 5), spread(0, 5, 2)
    assert scan(bowl, *axes)[0] == (300, 100, 5)


@pytest.mark.parametrize(
    ("text", "samples", "word"),
    [
        ("lwe:n=64,q=1,sigma=1", None, "q=1 given"),
        ("lwe:n=64,q=97,sigma=0", None, "must be above 0"),
        ("lwe:n=64,q=97,sigma=1,secret=binary,h=65", None, "h=65"),
        ("lwe:n=64,q=97,sigma=-1", None, "above 0"),
        ("lwe:n=2^60,q=97,sigma=1", None, "n must be an integer"),
        ("lwe:n=64,q=2^99999,sigma=1", None, "q must be an integer"),
        ("lwe:n=64,q=97,sigma=1e400", None, "got 1e400"),
        ("lwe:n=64,q=97,sigma=1,secret=none", None, "unknown secret"),
        ("lwe:n=64,q=97,error=sometimes", None, "unknown error"),
        ("lwe:n=64,q=97,sigma=1", 0, "samples=0 given"),
    ],
)
def test_bad_input_is_refused_in_one_line(text, samples, word):
    with pytest.raises(UsageError) as refused:
        estimate_all(parse_parameters(text, samples), text)
    assert word in str(refused.value)
    assert "\n" not in str(refused.value)


def test_unknown_models_and_shapes_are_refused():
    for name, shape in (("sieve", None), ("matzov", "cn11")):
        with pytest.raises(UsageError, match="unknown"):
            parse_setting(name, shape)
