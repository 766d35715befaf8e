"""Optimal gradient-descent steps: exact optima against linear algebra, searches and samples."""

import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from hardness.icl.exact import exact_curves
from hardness.icl.spectra import loss_on, spectra
from hardness.icl.steps import (
    best_steps,
    chebyshev_steps,
    common_step,
    limit_loss,
    with_steps,
)
from hardness.icl.wishart import moments, rationals
from hardness.report.charts.icl import of_icl
from hardness.report.icl import steps_words
from instances.errors import UsageError
from tests.charts import said

CASES = [(20, 5, 0.0), (20, 5, 0.5), (5, 12, 0.0), (8, 3, 0.3)]


def by_normal_equations(n: int, d: int, layers: int, noise: float) -> Fraction:
    """The least loss by one Hankel solve: p = 1 - t q, quadratic in the coefficients of q."""
    m = rationals(n, d, 2 * layers)
    h = fmpq(*Fraction(noise).as_integer_ratio()) ** 2 / n
    rows = range(layers)
    matrix = fmpq_mat([[m[i + j + 2] + h * m[i + j + 1] for j in rows] for i in rows])
    right = fmpq_mat([[m[i + 1]] for i in rows])
    found = matrix.solve(right)
    value = d * (1 - sum((right[i, 0] * found[i, 0] for i in rows), fmpq(0)))
    return Fraction(int(value.p), int(value.q))


def test_best_steps_have_the_known_losses():
    losses = [float(best_steps(20, 5, layers).least) for layers in (1, 2, 3, 4)]
    assert [round(v, 5) for v in losses] == [1.15385, 0.36124, 0.13361, 0.05495]


@pytest.mark.parametrize(("n", "d", "noise"), CASES)
def test_the_least_loss_is_that_of_the_normal_equations(n, d, noise):
    for layers in range(1, 9):
        found = best_steps(n, d, layers, noise)
        assert found.least == by_normal_equations(n, d, layers, noise)
        assert found.polynomial[0] == 1
        assert len(found.polynomial) == layers + 1
        assert found.loss >= found.least


@pytest.mark.parametrize(("n", "d"), [(20, 5), (5, 12), (100, 80)])
def test_without_noise_all_roots_are_real_and_the_steps_reach_the_least_loss(n, d):
    for layers in (1, 2, 5, 10, 20):
        found = best_steps(n, d, layers)
        assert found.real
        assert np.all(np.diff(found.steps) > 0)
        assert found.steps[0] > 0
        assert float(found.loss / found.least - 1) < 1e-12


def test_the_least_loss_is_the_christoffel_function_at_zero():
    """min int p^2 dmu over p(0) = 1 is 1 / sum_k pi_k(0)^2, pi_k orthonormal for mu."""
    m, layers = moments(12, 7, 12), 6
    hankel = np.array([[float(m[i + j]) for j in range(layers + 1)] for i in range(layers + 1)])
    kernel = np.linalg.inv(hankel)[0, 0]
    assert np.isclose(7 / kernel, float(best_steps(12, 7, layers).least), rtol=1e-6)


def test_one_step_has_the_closed_form():
    """One layer: n / (n + d + 1 + s^2) and the loss d (d + 1 + s^2) / (n + d + 1 + s^2)."""
    for n, d, noise in CASES:
        found, square = best_steps(n, d, 1, noise), Fraction(noise) ** 2
        assert found.least == d * (d + 1 + square) / (n + d + 1 + square)
        assert np.isclose(found.steps[0], float(n / (n + d + 1 + square)))
        assert np.isclose(common_step(n, d, 1, noise).steps[0], found.steps[0])


def test_no_steps_nearby_are_better():
    for noise in (0.0, 1.0, 2.0):
        best = best_steps(20, 5, 4, noise)
        for i in range(4):
            for change in (0.99, 1.01):
                steps = [a * change if i == k else a for k, a in enumerate(best.steps)]
                assert with_steps(20, 5, steps, noise).loss > best.loss


def test_noise_that_leaves_no_real_roots_is_told():
    best = best_steps(20, 5, 6, 1.5)
    assert not best.real
    assert best.least < best.loss <= common_step(20, 5, 6, 1.5).loss + Fraction(1, 10**12)


def test_the_common_step_is_the_best_of_a_fine_grid():
    for n, d, noise in CASES:
        m = moments(n, d, 6)
        found = common_step(n, d, 3, noise)
        grid = np.linspace(0, 3 * found.steps[0], 3001)
        h = noise**2 / n
        losses = np.zeros_like(grid)
        for k in range(7):
            extra = h * (comb(6, k) - 2 * comb(3, k)) * float(m[k - 1]) if k else 0.0
            losses += (-grid) ** k * (comb(6, k) * float(m[k]) + extra)
        assert float(found.loss) <= d * losses.min() + 1e-12
        assert abs(found.steps[0] - grid[losses.argmin()]) <= 2 * grid[1]


def test_exact_losses_agree_with_samples():
    for noise in (0.0, 1.0):
        best = best_steps(60, 4, 3, noise)
        found = loss_on(spectra(60, 4, 20000, 1), [0.0] * 3, best.steps, 60, noise)
        assert abs(found.mean - float(best.loss)) < 4.5 * found.error


def test_the_loss_is_that_of_layers_on_raw_prompts():
    """Run the layers token by token, labels and noise and query, and average."""
    n, d, noise = 12, 3, 0.7
    steps = best_steps(n, d, 2, noise).steps
    rng = np.random.default_rng(5)
    count = 40000
    x, w = rng.standard_normal((count, n + 1, d)), rng.standard_normal((count, d))
    target = np.einsum("cd,cd->c", x[:, -1], w)
    y = np.einsum("cnd,cd->cn", x, w)
    y[:, :-1] += noise * rng.standard_normal((count, n))
    y[:, -1] = 0.0
    for a in steps:
        sums = np.einsum("cn,cnd->cd", y[:, :-1], x[:, :-1]) / n
        y = y - a * np.einsum("cd,cnd->cn", sums, x)
    each = (-y[:, -1] - target) ** 2
    exact = float(with_steps(n, d, list(steps), noise).loss)
    assert abs(each.mean() - exact) < 4.5 * each.std() / count**0.5


def test_the_limit_of_many_points_is_approached():
    """Of Marchenko and Pastur's law: Chebyshev polynomials of the second kind. [MP67]"""
    for layers in (1, 2, 3):
        gaps, places = [], []
        for n in (80, 320, 1280):
            best = best_steps(n, n // 4, layers)
            gaps.append(float(best.least) / (n // 4) / limit_loss(0.25, layers) - 1)
            angles = np.pi * np.arange(1, layers + 1) / (layers + 1)
            limit = 1 / (1 + 0.25 + 2 * 0.5 * np.cos(angles))
            places.append(np.abs(np.array(best.steps) - limit).max())
        assert gaps[0] > gaps[1] > gaps[2] > 0
        assert gaps[2] < 0.05
        assert places[2] < places[0] / 4


def test_chebyshev_steps_have_equal_ripples():
    low, high, layers = 0.2, 3.0, 5
    steps = np.array(chebyshev_steps(layers, low, high))
    grid = np.linspace(low, high, 20001)
    residual = np.prod(1 - steps[:, None] * grid, axis=0)
    level = 1 / np.cosh(layers * np.arccosh((high + low) / (high - low)))
    assert np.isclose(np.abs(residual).max(), level, rtol=1e-9)
    assert np.isclose(np.prod(1 - steps * low), level)


def test_steps_refuse_what_they_cannot_do():
    with pytest.raises(UsageError, match="layers given"):
        best_steps(20, 5, 0)
    with pytest.raises(UsageError, match="noise=-1"):
        best_steps(20, 5, 1, -1.0)
    with pytest.raises(UsageError, match="interval"):
        chebyshev_steps(2, 0.0, 1.0)
    with pytest.raises(UsageError, match="d/n"):
        limit_loss(0.0, 2)
    with pytest.raises(UsageError, match="layers given"):
        exact_curves(20, 5, 21)


def test_curves_are_drawn_from_their_json():
    data = exact_curves(20, 5, 2, samples=5000)
    assert data["plusplus"][1]["loss"] < data["best"][1]["loss"] < data["common"][1]["loss"]
    assert data["best"][1]["loss"] < data["chebyshev"][1]["loss"]
    stored = json.loads(json.dumps(data))
    assert stored == data
    words = steps_words(stored)
    assert "0.36124" in words
    assert max(len(line) for line in words.splitlines()) <= 80
    assert "Exact loss against the number of layers" in said("icl", of_icl(stored))
    noisy = exact_curves(4, 6, 2, noise=3.0, samples=500)
    assert "label noise 3" in said("icl", of_icl(noisy))


def loss_of_matrices(flat, grams, h):
    """The loss of any A_1 .. A_L (d, d) averaged over given S (m, d, d), and its gradient."""
    d, size = grams.shape[1], len(grams)
    layers = flat.reshape(-1, d, d)
    left, net = [np.broadcast_to(np.eye(d), grams.shape)], np.zeros_like(grams)
    for a in layers:
        net = net - left[-1] @ a
        left.append(left[-1] - left[-1] @ a @ grams)
    residual = np.eye(d) + grams @ net
    value = (residual**2).sum() + h * (net * (grams @ net)).sum()
    to_net, to_left = 2 * grams @ (residual + h * net), np.zeros_like(grams)
    gradient = np.zeros_like(layers)
    for i in reversed(range(len(layers))):
        turned = left[i].transpose(0, 2, 1)
        gradient[i] = -(turned @ (to_net + to_left @ grams)).sum(axis=0)
        to_left = (
            to_left @ (np.eye(d) - layers[i] @ grams).transpose(0, 2, 1) - to_net @ layers[i].T
        )
    return value / size, gradient.ravel() / size


@pytest.mark.parametrize("noise", [0.0, 3.0])
def test_no_matrices_are_better_than_multiples_of_the_identity(noise):
    """Search over all matrices, d = 2, on spectra turned by angles that average exactly."""
    from scipy.optimize import minimize

    n, layers, h = 6, 2, noise**2 / 6
    values = spectra(n, 2, 60, 0)
    angles = np.arange(4 * layers + 3) * np.pi / (4 * layers + 3)
    turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    grams = np.einsum("ija,mj,kja->maik", turn, values, turn).reshape(-1, 2, 2)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(8):
        start = (np.eye(2) * rng.uniform(0.2, 1, (layers, 1, 1))).ravel()
        start += 0.4 * rng.standard_normal(start.shape)
        value, gradient = loss_of_matrices(start, grams, h)
        change = 1e-6 * rng.standard_normal(start.shape)
        slope = loss_of_matrices(start + change, grams, h)[0] - value
        assert np.isclose(slope, gradient @ change, rtol=1e-3, atol=1e-9)
        found.append(minimize(loss_of_matrices, start, (grams, h), jac=True, method="BFGS"))
    best = min(found, key=lambda result: result.fun).x.reshape(-1, 2, 2)
    level = np.trace(best, axis1=1, axis2=2)[:, None, None] / 2
    assert np.abs(best - level * np.eye(2)).max() < 1e-3
