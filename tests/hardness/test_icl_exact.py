"""Exact losses of scalar layers: moments, best steps and GD++ against other ways to the same."""

import itertools
from fractions import Fraction
from functools import cache
from math import comb

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from scipy.integrate import quad
from scipy.stats import chi2

from hardness.icl.steps import (
    Objective,
    best_scalars,
    best_steps,
    chebyshev_steps,
    common_step,
    degree,
    descend,
    exact_curves,
    exact_loss,
    limit_loss,
    polynomials,
    with_steps,
)
from hardness.icl.wishart import gauss, loss_on, moments, spectra
from hardness.report.charts.icl import steps_rows
from tests.slopes import slopes_agree

CASES = [(20, 5, 0.0), (20, 5, 0.5), (5, 12, 0.0), (8, 3, 0.3)]


def number(value):
    return int(value.p) / int(value.q)


def by_loop_equations(n: int, d: int, j: int) -> fmpq:
    """m_j by integration by parts: E of products of traces, over all partitions of j."""

    @cache
    def mean(parts: tuple[int, ...]) -> int:
        if not parts:
            return 1
        a, rest = parts[0], parts[1:]

        def join(others: tuple[int, ...], *powers: int) -> int:
            kept = (*others, *(p for p in powers if p))
            return d ** powers.count(0) * mean(tuple(sorted(kept, reverse=True)))

        total = (n + a - 1) * join(rest, a - 1)
        total += sum(join(rest, r, a - 1 - r) for r in range(a - 1))
        for i, b in enumerate(rest):
            total += 2 * b * join(rest[:i] + rest[i + 1 :], a + b - 1)
        return total

    return fmpq(mean((j,)), d * n**j)


def test_moments_are_those_of_the_loop_equations():
    for n, d in [(20, 5), (5, 20), (1, 1), (1, 4), (4, 1), (2, 2), (3, 7), (11, 4)]:
        found = moments(n, d, 16)
        assert found[0] == 1
        assert all(found[j] == by_loop_equations(n, d, j) for j in range(1, 17)), (n, d)


def test_gauss_rules_have_the_moments():
    for n, d, count in [(20, 5, 21), (5, 20, 21), (100, 40, 15), (1, 1, 12)]:
        nodes, weights = gauss(n, d, count)
        assert (weights > 0).all()
        top = nodes.max()
        for j, moment in enumerate(moments(n, d, 2 * count - 1)):
            found = weights @ (nodes / top) ** j
            assert np.isclose(found, number(moment) / top**j, rtol=1e-12)


def test_samples_agree_where_tails_are_light():
    values = spectra(30, 6, 5000, 0)
    for j, moment in enumerate(moments(30, 6, 5)):
        each = (values**j).mean(axis=1)
        assert abs(each.mean() - number(moment)) <= 4.5 * each.std() / len(each) ** 0.5 + 1e-12
    for noise in (0.0, 1.0):
        best = best_steps(60, 4, 3, noise)
        mean, error = loss_on(spectra(60, 4, 5000, 1), [0.0] * 3, best.steps, 60, noise)
        assert abs(mean - float(best.loss)) < 4.5 * error
    found = best_scalars(200, 2, 2, noise=0.5)
    mean, error = loss_on(spectra(200, 2, 5000, 0), found.p, found.q, 200, 0.5)
    assert abs(mean - float(found.loss)) < 4.5 * error


def by_normal_equations(n: int, d: int, layers: int, noise: float) -> Fraction:
    """The least loss by one Hankel solve: p = 1 - t q, quadratic in the coefficients of q."""
    m = moments(n, d, 2 * layers)
    h = fmpq(*Fraction(noise).as_integer_ratio()) ** 2 / n
    rows = range(layers)
    matrix = fmpq_mat([[m[i + j + 2] + h * m[i + j + 1] for j in rows] for i in rows])
    right = fmpq_mat([[m[i + 1]] for i in rows])
    found = matrix.solve(right)
    value = d * (1 - sum((right[i, 0] * found[i, 0] for i in rows), fmpq(0)))
    return Fraction(int(value.p), int(value.q))


@pytest.mark.parametrize(("n", "d", "noise"), CASES)
def test_the_least_loss_is_that_of_the_normal_equations(n, d, noise):
    for layers in range(1, 9):
        found = best_steps(n, d, layers, noise)
        assert found.least == by_normal_equations(n, d, layers, noise)
        assert found.polynomial[0] == 1
        assert len(found.polynomial) == layers + 1
        assert found.loss >= found.least
    # One layer: n / (n + d + 1 + s^2) and the loss d (d + 1 + s^2) / (n + d + 1 + s^2).
    one, square = best_steps(n, d, 1, noise), Fraction(noise) ** 2
    assert one.least == d * (d + 1 + square) / (n + d + 1 + square)
    assert np.isclose(one.steps[0], float(n / (n + d + 1 + square)))
    assert np.isclose(common_step(n, d, 1, noise).steps[0], one.steps[0])


def test_without_noise_all_roots_are_real_and_the_steps_reach_the_least_loss():
    for n, d in [(20, 5), (5, 12), (100, 80)]:
        for layers in (1, 2, 5, 10, 20):
            found = best_steps(n, d, layers)
            assert found.real
            assert np.all(np.diff(found.steps) > 0)
            assert found.steps[0] > 0
            assert float(found.loss / found.least - 1) < 1e-12


def test_noise_leaves_no_real_roots_and_other_steps_are_searched():
    best = best_steps(20, 5, 4, 2.0)
    for i, change in itertools.product(range(4), (0.99, 1.01)):
        steps = [a * change if i == k else a for k, a in enumerate(best.steps)]
        assert with_steps(20, 5, steps, 2.0).loss > best.loss
    told = best_steps(20, 5, 6, 1.5)  # noise leaves no real roots
    assert not told.real
    assert told.least < told.loss <= common_step(20, 5, 6, 1.5).loss + Fraction(1, 10**12)


def test_the_common_step_is_the_best_of_a_fine_grid():
    for n, d, noise in CASES:
        m = moments(n, d, 6)
        found = common_step(n, d, 3, noise)
        grid = np.linspace(0, 3 * found.steps[0], 3001)
        losses = np.zeros_like(grid)
        for k in range(7):
            extra = (comb(6, k) - 2 * comb(3, k)) * number(m[k - 1]) if k else 0.0
            losses += (-grid) ** k * (comb(6, k) * number(m[k]) + noise**2 / n * extra)
        assert float(found.loss) <= d * losses.min() + 1e-12
        assert abs(found.steps[0] - grid[losses.argmin()]) <= 2 * grid[1]


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
    x, w, noise = rng.standard_normal((n + 1, d)), rng.standard_normal(d), rng.standard_normal(n)
    y = np.append(x[:-1] @ w + noise, 0.0)
    gram = x[:-1].T @ x[:-1] / n

    def at(polynomial):
        value = np.zeros((d, d))
        for c in reversed(polynomial.coeffs()):
            value = value @ gram + number(c) * np.eye(d)
        return value

    for p in (rng.uniform(0.1, 0.4, layers), np.zeros(layers)):
        q = rng.uniform(0.1, 0.4, layers)
        residual, net = polynomials(p.tolist(), q.tolist())
        assert residual.degree() == (degree(layers) if p.any() else layers)
        expected = w @ x[-1] - w @ at(residual) @ x[-1] - (noise @ x[:-1] / n) @ at(net) @ x[-1]
        assert np.isclose(raw_prediction(x, y, p, q), expected, rtol=1e-9)


def test_the_objective_is_the_exact_loss_and_its_derivatives_are_right():
    rng = np.random.default_rng(0)
    for layers, noise in ((1, 0.0), (2, 0.7), (3, 0.0), (4, 0.4)):
        objective = Objective(20, 5, layers, noise, degree(layers))
        c, q = rng.uniform(0.1, 0.3, layers - 1), rng.uniform(0.3, 0.8, layers)
        x, p = np.append(c, q), [*(c / q[:-1]).tolist(), 0.0]
        value = (objective(x)[0] ** 2).sum()
        assert np.isclose(value, float(exact_loss(20, 5, p, q.tolist(), noise)), rtol=1e-11)
        slopes_agree(lambda x, o=objective: o(x)[0], objective(x)[1], x, ways=len(x))


def test_no_random_start_finds_better_scalars():
    losses = [float(best_scalars(20, 5, layers).loss) for layers in (1, 2, 3)]
    assert losses[0] == pytest.approx(15 / 13, rel=1e-12)
    assert losses[1] < 0.0578
    assert losses[2] < 0.001 < 0.002 < float(best_steps(20, 5, 3).least)
    objective, rng = Objective(20, 5, 3, 0.0, degree(3)), np.random.default_rng(3)
    found = [descend(objective, np.exp(rng.normal(-0.5, 0.8, 5)))[0] for _ in range(40)]
    assert losses[2] * (1 - 1e-9) <= min(found) <= losses[2] * (1 + 1e-6)


def test_the_loss_in_one_and_two_dimensions_is_that_of_the_density():
    """Tails and all: integrate over the density of the eigenvalues, without moments."""

    def square(v):
        return np.polynomial.polynomial.polyval(v / n, u) ** 2

    n = 20
    found = best_scalars(n, 1, 3)
    u = [number(c) for c in polynomials(found.p, found.q)[0].coeffs()]
    closely = {"epsabs": 0, "epsrel": 1e-9, "limit": 400}
    one = quad(lambda v: square(v) * chi2.pdf(v, n), 0, 300, **closely)[0]
    assert one == pytest.approx(float(found.loss), rel=1e-7)

    found = best_scalars(n, 2, 2)
    u = [number(c) for c in polynomials(found.p, found.q)[0].coeffs()]
    # In dimension 2: density ~ (ab)^((n-3)/2) e^(-(a+b)/2) |a - b|, on a grid of a > b.
    a, b = np.meshgrid(*(np.linspace(1e-9, 150, 1501),) * 2, indexing="ij")
    log = (n - 3) / 2 * np.log(a * b) - (a + b) / 2
    weight = np.exp(log - log.max()) * np.abs(a - b)
    two = (weight * (square(a) + square(b))).sum() / weight.sum()
    assert two == pytest.approx(float(found.loss), rel=1e-4)


def test_studies_order_the_models_and_say_what_is_not_known():
    found = exact_curves(20, 5, 2, samples=500)
    assert found.plusplus[1].loss < found.best[1].loss < found.common[1].loss
    assert found.best[1].loss < found.chebyshev[1].loss
    noisy = exact_curves(4, 6, 2, noise=3.0, samples=500)  # n < d: no bulk for Chebyshev steps
    assert noisy.chebyshev == noisy.limit == []
    x = np.random.default_rng(1).normal(size=(4000, 4, 6))
    ridge = np.linalg.inv(np.eye(6) + np.swapaxes(x, 1, 2) @ x / 3.0**2)  # what the labels leave
    assert noisy.floor == pytest.approx(np.trace(ridge, axis1=1, axis2=2).mean(), rel=0.02)
    assert "label noise 3" in steps_rows(noisy.to_dict())["title"]
    assert noisy.to_frame()["way"].tolist() == ["common"] * 2 + ["best"] * 2 + ["plusplus"] * 2
