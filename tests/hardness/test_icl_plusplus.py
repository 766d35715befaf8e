"""GD++ with scalars: exact losses against raw tokens, densities and other searches."""

import numpy as np
import pytest

from hardness.icl.plusplus import best_scalars
from hardness.icl.scalar import Objective, degree, descend, exact_loss, polynomials
from hardness.icl.spectra import loss_on, spectra
from hardness.icl.steps import best_steps
from instances.errors import UsageError


def raw_prediction(x, y, p, q):
    """Layers of linear attention on raw tokens: x (n+1, d) with the query last, y (n+1,)."""
    n = len(x) - 1
    for a, b in zip(p, q, strict=True):
        attention = b * x[:-1] @ x.T / n  # of each token to the n points
        x, y = x - a * attention.T @ x[:-1], y - y[:-1] @ attention
    return -y[-1]


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_polynomials_are_what_layers_do_to_raw_prompts(layers):
    rng = np.random.default_rng(layers)
    n, d = 7, 3
    p, q = rng.uniform(0.1, 0.4, layers), rng.uniform(0.1, 0.4, layers)
    residual, net = polynomials(p.tolist(), q.tolist())
    assert residual.degree() == degree(layers)
    x, w, noise = rng.standard_normal((n + 1, d)), rng.standard_normal(d), rng.standard_normal(n)
    y = np.append(x[:-1] @ w + noise, 0.0)
    gram = x[:-1].T @ x[:-1] / n

    def at(polynomial):
        value = np.zeros((d, d))
        for c in reversed(polynomial.coeffs()):
            value = value @ gram + int(c.p) / int(c.q) * np.eye(d)
        return value

    expected = w @ x[-1] - w @ at(residual) @ x[-1] - (noise @ x[:-1] / n) @ at(net) @ x[-1]
    assert np.isclose(raw_prediction(x, y, p, q), expected, rtol=1e-9)


def test_the_objective_is_the_exact_loss_and_its_derivatives_are_right():
    rng = np.random.default_rng(0)
    for layers, noise in ((1, 0.0), (2, 0.7), (3, 0.0), (4, 0.4)):
        objective = Objective(20, 5, layers, noise, degree(layers))
        c, q = rng.uniform(0.1, 0.3, layers - 1), rng.uniform(0.3, 0.8, layers)
        x = np.append(c, q)
        p = [*(c / q[:-1]).tolist(), 0.0]
        value = (objective.vector(x) ** 2).sum()
        assert np.isclose(value, float(exact_loss(20, 5, p, q.tolist(), noise)), rtol=1e-11)
        for i, column in enumerate(objective.jacobian(x).T):
            step = np.zeros_like(x)
            step[i] = 1e-6
            change = (objective.vector(x + step) - objective.vector(x - step)) / 2e-6
            assert np.allclose(column, change, rtol=1e-6, atol=1e-8)


def test_gdpp_beats_the_best_steps_and_reaches_the_figures():
    losses = [float(best_scalars(20, 5, layers).loss) for layers in (1, 2, 3)]
    assert losses[0] == pytest.approx(15 / 13, rel=1e-12)
    assert losses[1] < 0.0578
    assert losses[2] < 0.001 < 0.002 < float(best_steps(20, 5, 3).least)


def test_no_random_start_finds_better():
    best = float(best_scalars(20, 5, 3).loss)
    objective, rng = Objective(20, 5, 3, 0.0, degree(3)), np.random.default_rng(3)
    found = [
        descend(objective.vector, objective.jacobian, np.exp(rng.normal(-0.5, 0.8, 5)))[0]
        for _ in range(40)
    ]
    assert min(found) >= best * (1 - 1e-9)
    assert min(found) <= best * (1 + 1e-6)


def test_the_loss_in_one_and_two_dimensions_is_that_of_the_density():
    """Tails and all: integrate over the density of the eigenvalues, without moments."""
    from scipy.integrate import quad
    from scipy.stats import chi2

    n = 20
    found = best_scalars(n, 1, 3)
    u = [int(c.p) / int(c.q) for c in polynomials(found.p, found.q)[0].coeffs()]
    one = quad(
        lambda v: np.polynomial.polynomial.polyval(v / n, u) ** 2 * chi2.pdf(v, n),
        0,
        300,
        epsabs=0,
        epsrel=1e-9,
        limit=400,
    )[0]
    assert one == pytest.approx(float(found.loss), rel=1e-7)

    found = best_scalars(n, 2, 2)
    u = [int(c.p) / int(c.q) for c in polynomials(found.p, found.q)[0].coeffs()]
    # In dimension 2: density ~ (ab)^((n-3)/2) e^(-(a+b)/2) |a - b|, on a grid of a > b.
    a, b = np.meshgrid(*(np.linspace(1e-9, 150, 1501),) * 2, indexing="ij")
    log = (n - 3) / 2 * np.log(a * b) - (a + b) / 2
    weight = np.exp(log - log.max()) * np.abs(a - b)
    square = [np.polynomial.polynomial.polyval(v / n, u) ** 2 for v in (a, b)]
    two = (weight * (square[0] + square[1])).sum() / weight.sum()
    assert two == pytest.approx(float(found.loss), rel=1e-4)


def test_samples_agree_where_tails_are_light():
    found = best_scalars(200, 2, 2, noise=0.5)
    sampled = loss_on(spectra(200, 2, 10000, 0), found.p, found.q, 200, 0.5)
    assert abs(sampled.mean - float(found.loss)) < 4.5 * sampled.error


def test_scalars_refuse_what_they_cannot_do():
    with pytest.raises(UsageError, match="5 layers given"):
        best_scalars(20, 5, 5)
    with pytest.raises(UsageError, match="one of each"):
        exact_loss(20, 5, [0.0], [0.5, 0.5])
    with pytest.raises(UsageError, match="degree above"):
        exact_loss(20, 5, [0.1] * 5, [0.5] * 5)
    with pytest.raises(UsageError, match="at least 2 samples"):
        loss_on(spectra(20, 5, 1, 0), [0.0], [0.5], 20)
