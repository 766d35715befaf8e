"""Mathematics of the studies: predictions against programs that share no code with them."""

import itertools
from dataclasses import replace
from math import comb, pi, sqrt

import bodies
import in_context
import landscape
import numpy as np
import pytest
import queries
import rows
import softmax
import sources
import spectra
import stages
import sums
from scipy.optimize import linprog
from statement import exactly, find, load

from hardness.icl import onelayer
from hardness.icl.onelayer import least_loss, optimum
from hardness.icl.prompts import Prompts
from instances import parse
from tests.slopes import slopes_agree

RNG = np.random.default_rng
LAW = Prompts.named(3, 4, "rotated(1,2,5)", "toeplitz(0.5)", 0.7)


def cube(bits):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=bits)))


def isotropic(d, n, noise=0.0):
    return Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)


# Softmax layers.


def test_the_bias_of_the_first_estimate_is_that_of_all_inputs_enumerated():
    """Two tokens of eight signs: E[X^T J softmax(X Theta X^T) X] / k - I over all 2^16 inputs."""
    d, k, s = 8, 2, 2.0
    first, second = np.repeat(cube(d), 1 << d, axis=0), np.tile(cube(d), (1 << d, 1))
    rng, squares = RNG(1), []
    for _ in range(8):
        theta = rng.standard_normal((d, d))
        theta *= s / np.sqrt((theta**2).sum())
        out = np.zeros((len(first), d))
        for query in (first, second):
            weight = 1 / (1 + np.exp(-((query @ theta) * (first - second)).sum(axis=1)))[:, None]
            out += weight * first + (1 - weight) * second
        error = (first + second).T @ out / len(first) / k - np.eye(d)
        squares.append((error**2).sum() / d)
    assert sqrt(np.mean(squares)) == pytest.approx(sums.bias(k, d), rel=2 / d)
    drawn = np.exp(3 * RNG(0).standard_normal((100_000, 5)))
    weights = drawn / drawn.sum(axis=1, keepdims=True)
    assert sums.spread(3.0, 5) == pytest.approx(1 - (weights**2).sum(axis=1).mean(), abs=3e-3)


def test_the_distance_of_a_logit_from_normal_is_half_its_atom():
    found = sums.measure_logit_gaussian(d=8, theta="identity", seed=0)
    assert found.value == pytest.approx(comb(8, 4) / 2**9, abs=1e-12)
    x, y = RNG(0).standard_normal((2, 200_000, 8))
    size = 2 * np.linalg.norm(x, axis=1) * np.linalg.norm(x - y, axis=1)
    theta = RNG(1).standard_normal((100_000, 64))
    below = np.sort(np.abs(theta[:, 0]) / np.linalg.norm(theta, axis=1))
    near = np.searchsorted(below, 0.1 / size) / len(theta)
    assert sums.predict_logit_slices(0.1, "gaussian").high == pytest.approx(near.mean(), rel=0.03)


def test_the_rate_of_lucky_rows_is_the_density_at_zero_over_random_tokens():
    rng, epsilon, scale, d = RNG(0), 0.01, 2.0, 10
    for m, k in ((2, 2), (3, 2), (2, 3), (3, 3)):
        x = rng.standard_normal((100_000, k, d))
        apart = x[:, 1:] - x[:, :1]
        size = np.sum(x[:, 0] ** 2, axis=1) * scale**2 / d**2
        gram = size[:, None, None] * apart @ apart.swapaxes(1, 2)
        heads, q = np.eye(m - 1) + 1, (m - 1) * (k - 1)
        density = np.linalg.det(heads) ** (-(k - 1) / 2) * np.linalg.det(gram) ** (-(m - 1) / 2)
        brute = np.mean(density) * (2 * pi) ** (-q / 2) * (2 * epsilon) ** q
        assert rows.gaussian_rate(m, k, d, scale, epsilon) == pytest.approx(brute, rel=0.05)


def test_the_rate_on_signs_is_that_of_all_pairs_of_tokens_over_random_heads():
    rng, d, m, scale = RNG(1), 3, 3, 2.0
    theta = rng.standard_normal((4000, m, d, d))
    theta *= scale / np.sqrt(np.sum(theta**2, axis=(2, 3), keepdims=True))
    logits = np.einsum("ad,nmde,be->nmab", cube(d), theta, cube(d))
    logits -= np.einsum("nmaa->nma", logits)[..., None]
    most = np.abs(logits[:, 1:] - logits[:, :1]).max(axis=1)
    for epsilon in (0.001, 0.1, 1.0):
        shares = np.mean(most <= epsilon, axis=(1, 2))
        error = 4 * shares.std() / sqrt(len(shares)) + 1e-3 * shares.mean()
        assert abs(rows.boolean_rate(m, d, scale, epsilon) - shares.mean()) < error


def test_the_precision_of_a_certificate_is_that_of_its_model_drawn():
    rng, d, scale, n = RNG(3), 12, 2.0, 1_000_000
    apart = rng.binomial(d, 0.5, n)
    p = 1 / (1 + np.exp(-rng.standard_normal((2, n)) * scale * np.sqrt(4 * apart / d)))
    slope = np.mean(8 * p[0] * (1 - p[0]) * apart / d)
    length = (d - apart + apart * (p.sum(axis=0) - 1) ** 2) / d
    gap = np.abs(p[0] - p[1])
    square = 2 * apart / d * gap**2 + length * (slope * scale) ** 2 / (2 * d)
    best = np.argsort(square * rng.chisquare(d - 1, n))[: n // 1000]
    assert rows.precision(d, scale, True) == pytest.approx(np.mean(gap[best] <= 0.05), abs=0.05)
    z = rng.standard_normal((3, 500_000)) * scale * sqrt(2)  # tokens differ in half of the entries
    best = np.argsort(-np.abs(z.mean(axis=0)))[:15_000]
    drawn = np.mean((np.sign(z.mean(axis=0)) * z).min(axis=0)[best] >= np.log(19))
    assert rows.proxy_share(3, 400, scale, 0.0, 0.03)[0] == pytest.approx(drawn, abs=0.02)


def test_widths_and_spans_of_bodies_are_those_of_normal_constraints(monkeypatch):
    rng, n, times, widths = RNG(7), 49, 4, []
    monkeypatch.setattr(bodies, "_lengths", lambda d: np.ones(1))
    for _ in range(6):  # the least sum of multipliers
        u, g = rng.standard_normal((times * n, n)), rng.standard_normal(n)
        both = np.hstack([u.T, -u.T])
        widths.append(linprog(np.ones(2 * times * n), A_eq=both, b_eq=g / np.linalg.norm(g)).fun)
    wanted = bodies.half_width(7, times) / sqrt(2 / 3)
    assert np.mean(widths) == pytest.approx(wanted, rel=0.1)
    u = rng.standard_normal((times * 64, 64))
    wanted = sqrt(np.trace(np.linalg.inv(u.T @ u)) * 2 / 3 / 3)
    assert bodies.span_tangent(8, times, False) == pytest.approx(wanted, rel=0.1)
    for m, steps in ((2, 6), (3, 5), (4, 3)):  # nets
        every = itertools.product(range(-steps, steps + 1), repeat=m - 1)
        points = sum(sum(i * i for i in place) <= steps**2 for place in every)
        assert bodies.measure_net_size(m, steps, 0).value == comb(points, m)


def test_thresholds_are_searched_and_their_median_is_bounded(monkeypatch):
    for enough in (100, 5000):
        monkeypatch.setattr(stages, "learned", lambda _, at, n, e=enough: (None, float(n < e)))
        low, high, end = stages.bracket("staged", None, 0.05)
        assert (low < enough <= high, end) == (True, "confirmed")
    monkeypatch.setattr(stages, "learned", lambda learner, instance, n: (None, 1.0))
    over = stages.bracket("staged", None, 0.05)
    assert over == (1 << 16, None, "over")
    found = stages.median([over] * 6, "layers")
    assert (found.low, found.high) == (1 << 16, None)
    assert stages.predict_examples_counted("m=2,k=2", 9).low == max(2 * 2 * 9 / 2, 81 / 2)


# Spectra and queries.


def test_mean_weights_are_those_of_random_heads_by_sums_over_sets():
    d, scale, rng = 3, 2.0, RNG(3)
    x, found = cube(2 * d), []
    sets = [s for k in range(2 * d + 1) for s in itertools.combinations(range(2 * d), k)]
    characters = np.stack([x[:, s].prod(axis=1) for s in sets], axis=1) / len(x)
    for _ in range(800):
        theta, w = rng.standard_normal((2, d, d))
        theta *= scale / np.linalg.norm(theta)
        w *= sqrt(d) / np.linalg.norm(w)
        p = 1 / (1 + np.exp(-((x[:, :d] @ theta) * (x[:, :d] - x[:, d:])).sum(axis=1)))[:, None]
        heads = (p * x[:, :d] + (1 - p) * x[:, d:]) @ w
        squares = ((characters.T @ heads) ** 2).sum(axis=1) / d
        found.append(np.bincount([len(s) for s in sets], weights=squares, minlength=2 * d + 1))
    error, off = np.std(found, axis=0) / sqrt(800), np.mean(found, axis=0)
    assert (np.abs(off - spectra.weights(d, scale))[1::2] < 4 * error[1::2]).all()
    assert (np.abs(off - spectra.weights(d, 0.5 * scale))[1:4:2] > 4 * error[1:4:2]).any()


def test_weights_of_pairs_of_examples_are_unbiased():
    layer, x, rng = parse("nice:m=1,k=2,d=3").instance(1).layer(), cube(6), RNG(2)
    y = layer(x.reshape(-1, 2, 3))[:, 0]
    sets = list(itertools.combinations(range(6), 3))
    exact = sum(((x[:, s].prod(axis=1)[:, None] * y).mean(axis=0) ** 2).sum() for s in sets)
    chosen = [rng.integers(0, len(x), 60) for _ in range(200)]
    found = [spectra.unbiased(x[places], y[places], 3) for places in chosen]
    error = np.std(found) / sqrt(len(found))
    assert abs(np.mean(found) - exact) < 4 * error < 0.3 * exact


def test_the_error_of_frozen_units_is_that_of_least_squares_member_by_member():
    at, z, errors = {"spec": "parity:d=7,m=2", "features": 6}, cube(6), []
    found = queries.measure_kernel_bound(seed=0, **at)
    assert queries.predict_kernel_bound(**at).low == pytest.approx(1 - 7 / 15)
    for trial in range(40):
        units = np.tanh(
            z @ RNG(trial).standard_normal((6, 6)) / sqrt(6) + RNG(trial).normal(size=6)
        )
        for i, j in itertools.combinations(range(6), 2):
            target = z[:, i] * z[:, j]
            fit = units @ np.linalg.lstsq(units, target, rcond=None)[0]
            errors.append(((target - fit) ** 2).mean())
    assert abs(np.mean(errors) - found.value) < 0.05
    other = replace(load("queries")["sq-dimension"], settings=[{"d": 24, "m": 3}])
    wrong = replace(other, predict=lambda d, m: queries.predict_sq_dimension(d + 1, m))
    assert (find(other).verdict, find(wrong).verdict) == ("agrees", "fails")


# In context.


def prompts(n, d, count, noise=0.0, points=1.0):
    """Draw prompts by numpy alone: x (count, n, d), y (count, n), the query, and its target."""
    rng = RNG(7)
    x, w = rng.normal(size=(count, n, d)) * points**0.5, rng.normal(size=(count, d))
    new = rng.normal(size=(count, d)) * points**0.5
    y = np.einsum("cni,ci->cn", x, w) + noise * rng.normal(size=(count, n))
    return x, y, new, (w * new).sum(axis=1)


def test_shifts_and_ridge_are_those_of_a_step_on_prompts():
    n, d, c, noise = 12, 3, 1.7, 0.5
    x, y, new, target = prompts(n, d, 40_000, points=c)
    left = (n / (n + d + 1) * np.einsum("cn,cni,ci->c", y, x, new) / n - target) ** 2 / (d * c)
    predicted = sources.predict_shifted_prompts("covariates", n, d, c)
    assert predicted.low == pytest.approx(left.mean(), abs=4 * left.std() / 200)
    x, y, new, _ = prompts(n, d, 100_000, noise)
    second, right = x.swapaxes(1, 2) @ x / n, np.einsum("cn,cni->ci", y, x) / n
    w = np.linalg.solve(second + noise**2 / n * np.eye(d), right[..., None])[..., 0]
    ridge, step = (w * new).sum(axis=1), (right * new).sum(axis=1)
    apart = (ridge - (ridge * step).mean() / (step**2).mean() * step) ** 2 / d
    predicted = sources.predict_layers_to_ridge(n, d, 1, noise)
    assert predicted.low == pytest.approx(apart.mean(), abs=5 * apart.std() / sqrt(len(apart)))


def test_the_drop_comes_when_the_equations_of_the_layer_say():
    n, d, start, step = 20, 3, 1e-3, 1e-4
    v, u, time = (start * d**0.5) ** 0.5, (start / d**0.5) ** 0.5, 0.0  # U = u I, |U| = v
    g = 1 + (d + 1) / n
    while v * u < 0.5 / g:  # of the mean loss d (1 - 2 v u + (v u)^2 g), by its gradient
        slope = 2 * d * (v * u * g - 1)
        v, u, time = v - step * slope * u, u - step * slope * v / d, time + step
    assert sources.predict_abrupt_drop(n, d, start).low == pytest.approx(time, rel=2e-3)


def test_hessians_and_losses_on_random_cosines_are_those_of_prompts():
    n, d = 12, 2
    found = in_context.measure_layer_hessian(d=d, n=n, layers=1, order="rising", seed=0)
    assert found.value == pytest.approx(2 * (n + d + 1) / n)
    statement = replace(load("in_context")["layer-hessian"], measure=lambda **at: exactly(-0.1))
    assert find(statement).verdict == "fails"
    rng = RNG(1)
    x, new = rng.normal(size=(30_000, n, d)), rng.normal(size=(30_000, d))
    w, phase = rng.normal(size=(30_000, d)) / 2, rng.uniform(0, 2 * np.pi, 30_000)
    y = 2**0.5 * np.cos(np.einsum("cni,ci->cn", x, w) + phase[:, None])
    target = 2**0.5 * np.cos((w * new).sum(axis=1) + phase)
    guess = np.einsum("cn,cni,ci->c", y, x, new) / n
    error = ((guess * target).mean() / (guess**2).mean() * guess - target) ** 2
    predicted = in_context.predict_softmax_nonlinear(d, n, "cosines", "linear")
    assert predicted.low == pytest.approx(error.mean(), abs=4 * error.std() / sqrt(len(error)))


# Softmax attention.

POINTS = Prompts(n=6, sigma=np.eye(3), task=LAW.task, noise=0.4)


def drawn(count, queries, law=POINTS):
    return RNG(0).standard_normal((count, law.n + queries, law.d))


def model(layers, heads, d=3):
    rng = RNG(layers)
    theta, value = 0.4 * rng.standard_normal((2, layers, heads, d, d))
    return softmax.Model(theta, value, rng.standard_normal((layers, heads)))


def slow(net, x, y):
    """The layers token by token on a prompt with one query: the definition with a mask."""
    n = len(y)
    x, y = x.copy(), np.append(y, 0.0)
    for theta, value, scale in zip(*net, strict=True):
        new_x, new_y = x.copy(), y.copy()
        for j in range(n + 1):
            for t, p, c in zip(theta, value, scale, strict=True):
                e = np.array([np.exp(x[i] @ t @ x[j]) if i < n else 0.0 for i in range(n + 1)])
                new_x[j] -= p @ (e @ x) / e.sum()
                new_y[j] -= c * (e @ y) / e.sum()
        x, y = new_x, new_y
    return -y[n]


@pytest.mark.parametrize(("layers", "heads"), [(1, 2), (2, 1), (3, 2)])
def test_softmax_layers_are_those_of_the_definition_and_gradients_differences(layers, heads):
    net, x, y = model(layers, heads), drawn(4, 2), RNG(1).standard_normal((4, 6))
    expected = [slow(net, each[:7], labels) for each, labels in zip(x, y, strict=True)]
    found = (y[:, None] @ net.weights(x, 6))[:, 0, 0]
    assert np.allclose(found, expected, rtol=1e-12, atol=1e-12)
    family = softmax.form((layers, heads, 3), None, scalar=False)
    z = family.nearest(net)

    def loss(z):
        return softmax.losses(family.model(z).weights(x, 6), x, POINTS).mean()

    value, slope = softmax.gradient(net, x, POINTS)
    assert value == pytest.approx(loss(z), rel=1e-12)
    slopes_agree(loss, slope @ family.basis, z, ways=len(z))


def test_two_opposite_heads_tend_to_linear_attention_of_one_point_less():
    law = replace(POINTS, noise=0.0)
    x, shorter = drawn(30_000, 4), replace(law, n=5)
    found = softmax.controls(law, x)
    assert np.abs(found.mean(axis=0) / (found.std(axis=0) / sqrt(len(x)))).max() < 4
    q, eps = optimum(shorter) * 6 / 5, 1e-4
    theta = np.array([[eps * q, -eps * q]])
    net = softmax.Model(theta, 0 * theta, np.array([[0.5, -0.5]]) / eps)
    off = softmax.losses(net.weights(x[:2000], 6), x[:2000], law) - least_loss(shorter)
    assert np.abs(off - found[:2000, 1]).max() < 1e-5
    theta = np.stack([np.zeros((3, 3)), 1e-5 * q])[:, None]  # one head centres, then is linear
    value = np.stack([np.eye(3), np.zeros((3, 3))])[:, None]
    net = softmax.Model(theta, value, np.array([[1.0], [1e5]]))
    found = softmax.losses(net.weights(x, 6), x, law)
    bound = (1 + 1 / 6) * least_loss(shorter)
    assert abs(found.mean() - bound) < 4 * found.std() / sqrt(len(x))
    assert {name: loss for name, loss, _ in softmax.references(isotropic(5, 20), 1)} == {
        "linear": pytest.approx(15 / 13),
        "two heads, limit": pytest.approx(6 / 5),
    }


# All parameters of one layer.


def test_the_loss_in_all_parameters_is_that_of_prompts_with_its_slopes():
    b, a = 0.5 * RNG(0).standard_normal(4), 0.3 * RNG(1).standard_normal((4, 3))
    part = LAW.draw(0, "landscape", 0, 200_000)
    z = np.concatenate([part.x[:, :-1], part.y[:, :, None]], axis=2)
    off = np.einsum("cni,cnj,i->cj", z, z, b) / LAW.n @ a - part.w
    found = np.einsum("ci,ij,cj->c", off, LAW.sigma, off)
    exact = landscape.full_loss(LAW, b, a)
    assert abs(found.mean() - exact) < 4 * found.std() / 200_000**0.5

    def slope(x):
        return landscape.pack(*landscape.full_gradient(LAW, *landscape.unpack(x)))

    flat = landscape.pack(b, a)
    slopes_agree(lambda x: landscape.full_loss(LAW, *landscape.unpack(x)), slope(flat), flat)
    slopes_agree(slope, landscape.full_hessian(LAW, b, a), flat, ways=len(flat))
    best = np.vstack([optimum(LAW), np.zeros(3)])
    assert landscape.full_loss(LAW, np.eye(4)[3], best) == pytest.approx(onelayer.least_loss(LAW))


def test_curves_are_least_losses_given_b_and_minima_are_counted_exactly():
    plain, u = landscape.diagonal(LAW), np.logspace(-3, 3, 7)
    for j, (i, at) in itertools.product(range(3), enumerate(u)):
        b = np.append(np.eye(3)[j] * at**0.5, 1)
        value = landscape.full_loss(plain, b, landscape.best_given(plain, b))
        assert value == pytest.approx(landscape.curve(LAW, j, u)[i], rel=1e-12)
    for d, first in ((3, 24), (4, 53), (5, 89), (6, 134)):
        for n in (first - 1, first):
            points = [p for p in landscape.stationary(isotropic(d, n)) if not p.negative]
            assert [(p.negative, p.flat) for p in points] == [(0, d)] * (n >= first)
    for d, noise, n in itertools.product(range(1, 6), (0.0, 20.0), (1, 10, 1000)):
        law = isotropic(d, n, noise)
        points = landscape.stationary(law)
        assert landscape.exact_dips(law) == sum(not p.negative for p in points)
        end = next(p for p in points if p.u is None)
        assert end.loss == pytest.approx(d - 1 / ((n + 1 + d + noise**2) / n))


def test_random_starts_end_at_the_points_that_are_known():
    law = Prompts(n=20, sigma=np.diag([4.0, 1.0]), task=np.eye(2) / 2, noise=0.1)
    [bad] = [p.loss for p in landscape.stationary(law) if not p.negative]
    losses, moving = landscape.ends(law, 20)
    counts = [landscape.near(law, losses, loss) for loss in (onelayer.least_loss(law), bad)]
    assert (sum(counts), moving) == (20, 0)
    assert min(counts) > 2
