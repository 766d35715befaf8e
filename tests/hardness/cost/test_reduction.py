"""Models of lattice reduction: the figures of their papers, and the properties they have."""

import math

import numpy as np
import pytest

from hardness.cost.reduction import (
    MATZOV,
    MODELS,
    free_dimensions,
    log_delta,
    roomy_dimension,
)


def test_the_root_hermite_factor_falls_strictly_and_has_no_jump():
    beta = np.linspace(2, 3000, 30_000)
    log = log_delta(beta)
    assert (np.diff(log) < 0).all()
    assert np.abs(np.diff(log)).max() < 4e-4
    assert math.isclose(log_delta(60 - 1e-9), log_delta(60), rel_tol=1e-6)


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
def test_arrays_are_the_numbers_one_by_one(name):
    model = MODELS[name]
    beta, d = np.array([[2, 10, 40], [61, 150, 700]]), np.array([[41], [1500]])
    costs, many = model.cost(beta, d), model.vectors(beta, d, 30.0)
    assert costs.shape == (2, 3)
    for i, j in np.ndindex(2, 3):
        at = int(beta[i, j]), int(d[i, 0])
        assert costs[i, j] == model.cost(*at)
        one = model.vectors(*at, 30.0)
        for field in ("ln_ratio", "cost", "number", "sieve"):
            values = np.broadcast_to(getattr(many, field), (2, 3))
            assert values[i, j] == getattr(one, field), field


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [0.0, 3.0, 41.5, 90.0])
def test_as_many_vectors_come_as_were_asked_for(name, count):
    model = MODELS[name]
    found = model.vectors(300, 1200, count)
    assert found.number >= count - 1e-12
    assert found.cost >= model.cost(300, 1200)
    assert 0 <= found.ln_ratio < 1


def test_the_last_sieve_costs_about_what_the_reduction_costs():
    beta = np.arange(150, 700)
    reduction, both = MATZOV.cost(beta, 1500), MATZOV.vectors(beta, 1500, 1.0).cost
    assert (both - reduction > 0.6).all()
    assert (both - reduction <= 1.2).all()


def test_quantum_models_cost_no_more():
    beta = np.arange(95, 900)
    for quantum, classical in [
        ("adps16-quantum", "adps16"),
        ("laamospol14", "bdgl16"),
        ("chaloy21", "adps16-quantum"),
    ]:
        assert MODELS[quantum].quantum
        assert (MODELS[quantum].cost(beta, 2000) <= MODELS[classical].cost(beta, 2000)).all()


def test_dimensions_for_free_leave_a_sieve_that_grows():
    beta = np.arange(2, 2000)
    left = beta - free_dimensions(beta)
    assert (left > 0).all()
    assert (np.diff(left) > 0).all()
