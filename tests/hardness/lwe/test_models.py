"""Models of lattice reduction: the figures of their papers, and the properties they have."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from hardness.lwe.models import MODELS, Lattice, log_delta, log_norm, roomy_dimension


def test_the_root_hermite_factor_falls_strictly():
    log = log_delta(np.linspace(2, 3000, 30_000))
    assert (np.diff(log) < 0).all()
    assert (np.diff(log_delta(np.arange(2, 5001))) < 0).all()
    assert math.exp(log_delta(40)) == pytest.approx(1.01295)


@pytest.mark.parametrize(
    ("beta", "delta"), [(85, 1.01), (106, 1.009), (133, 1.008), (168, 1.007), (216, 1.006)]
)
def test_the_root_hermite_factor_is_that_of_chen(beta, delta):
    assert math.exp(log_delta(beta)) == pytest.approx(delta, abs=2e-4)


@pytest.mark.parametrize(
    ("name", "beta", "d", "log2"),
    [
        ("adps16", 406, 998, 0.292 * 406),
        ("adps16-quantum", 406, 998, 0.265 * 406),
        ("adps16-paranoid", 406, 998, 0.2075 * 406),
        ("chaloy21", 406, 998, 0.2570 * 406),
        ("bdgl16", 406, 998, 0.292 * 406 + 16.4 + math.log2(8 * 998)),
        ("laamospol14", 406, 998, 0.265 * 406 + 16.4 + math.log2(8 * 998)),
        # [Kyber21], section 5.2: 2^151.5 gates, with beta = 413 and d = 1025.
        ("kyber", 413, 1025, 151.5),
    ],
)
def test_costs_are_those_of_the_papers(name, beta, d, log2):
    assert MODELS[name].cost(beta, d) == pytest.approx(log2, abs=1)


@pytest.mark.parametrize("name", MODELS)
def test_costs_rise_with_the_block_size_and_the_dimension(name):
    model = MODELS[name]
    beta = np.arange(2, 900)
    # The two fits of BDGL16 do not meet.
    rises = np.diff(model.call(beta.astype(float), np.array(4000.0))) >= -1e-9
    assert rises[(beta[1:] != 91) | (name != "bdgl16")].all()
    d = np.arange(300, 4000)
    grows = np.diff(model.cost(300, d)) >= 0
    cheaper = np.isin(name, ["abfksw20", "ablr21"]) & (d[1:] == roomy_dimension(300))
    assert (grows | cheaper).all()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [0.0, 3.0, 41.5, 90.0])
def test_as_many_vectors_come_as_were_asked_for(name, count):
    model = MODELS[name]
    found = model.vectors(300, 1200, count)
    assert found.number >= count - 1e-12
    assert found.cost >= model.cost(300, 1200)
    assert 0 <= found.ln_ratio < 1


# ---- shapes, and the simulator


@pytest.mark.parametrize("shape", ["gsa", "lgsa", "zgsa"])
@pytest.mark.parametrize(
    ("beta", "m", "tail", "ln_tail"),
    [(60, 400, 200, 0.0), (60, 90, 300, 0.7), (300, 900, 700, -1.0), (2, 30, 40, 0.0)],
)
def test_profiles_keep_the_volume_and_fall(shape, beta, m, tail, ln_tail):
    lattice = Lattice(m=m, tail=tail, ln_q=math.log(3329), ln_tail=ln_tail)
    profile = log_norm(shape, lattice, beta, np.arange(m + tail))[::-1]
    assert profile.sum() == pytest.approx(float(lattice.ln_volume), rel=1e-9)
    assert (np.diff(profile) <= 1e-12).all()
    slope = 2 * float(log_delta(beta))
    assert np.diff(profile).min() >= -slope - 1e-9
    low = ln_tail if shape == "zgsa" else -math.inf
    high = math.log(3329) if shape != "gsa" else math.inf
    assert profile.min() >= low - 1e-12
    assert profile.max() <= high + 1e-12
    last = brentq(
        lambda e: np.clip(e + slope * np.arange(m + tail), low, high).sum() - lattice.ln_volume,
        -slope * 2000 - 20,
        20,
    )
    expected = np.clip(last + slope * np.arange(m + tail), low, high)[::-1]
    assert profile == pytest.approx(expected, abs=1e-6)
