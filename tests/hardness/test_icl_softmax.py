"""Softmax attention: the definition, gradients, its limits, and the study."""

import numpy as np
import pytest

from hardness.icl.onelayer import whitened
from hardness.icl.softmax import SoftmaxTransformer, gradient, losses
from hardness.icl.softmax_fit import fit, full
from hardness.icl.softmax_study import (
    Effort,
    _Sheet,
    bayes,
    best_linear,
    controls,
    points,
    references,
    softmax_study,
)
from hardness.report.charts.icl import of_icl
from hardness.report.icl import words
from instances.covariance import root
from instances.prompts import Prompts
from instances.streams import generator
from tests.charts import said
from tests.slopes import slopes_agree

SIGMA = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 0.7]])
TASK = np.array([[1.0, 0.0, 0.6], [0.0, 3.0, 0.2], [0.6, 0.2, 1.5]])  # does not commute with SIGMA
LAW = Prompts(n=6, sigma=SIGMA, task=TASK, noise=0.4)
UNIT = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))


def model(layers, heads, d, seed=0):
    rng = generator(seed, "test softmax", layers, heads)
    return SoftmaxTransformer(
        theta=0.5 * rng.standard_normal((layers, heads, d, d)),
        value=0.3 * rng.standard_normal((layers, heads, d, d)),
        scale=rng.standard_normal((layers, heads)),
    )


def slow(net, x, y):
    """The layers token by token on a prompt with one query: the definition with a mask."""
    n = len(y)
    x, y = x.copy(), np.append(y, 0.0)
    for theta, value, scale in zip(net.theta, net.value, net.scale, strict=True):
        new_x, new_y = x.copy(), y.copy()
        for j in range(n + 1):
            for t, p, c in zip(theta, value, scale, strict=True):
                e = np.array([np.exp(x[i] @ t @ x[j]) if i < n else 0.0 for i in range(n + 1)])
                a = e / e.sum()
                new_x[j] -= p @ (a @ x)
                new_y[j] -= c * (a @ y)
        x, y = new_x, new_y
    return -y[n]


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (1, 2), (2, 1), (3, 2)])
def test_predictions_are_those_of_the_definition(layers, heads):
    drawn, net = LAW.draw(0, "test", 0, 5), model(layers, heads, 3)
    expected = [slow(net, x, y) for x, y in zip(drawn.x, drawn.y, strict=True)]
    assert np.allclose(net.predict(drawn.x, drawn.y)[:, 0], expected, rtol=1e-12, atol=1e-12)


def test_queries_do_not_see_each_other():
    x, net = points(LAW, 0, "test", 4, 3), model(2, 2, 3)
    y = np.ones((4, LAW.n))
    alone = [net.predict(np.delete(x, [6, 8], axis=1), y), net.predict(x[:, :7], y)]
    every = net.predict(x, y)
    assert np.allclose(every[:, 1], alone[0][:, 0])
    assert np.allclose(every[:, 0], alone[1][:, 0])


@pytest.mark.parametrize(("layers", "heads"), [(1, 1), (1, 2), (3, 2)])
def test_gradients_are_differences(layers, heads):
    x, net = points(LAW, 1, "test", 5, 2), model(layers, heads, 3)
    (loss, slope), form = gradient(net, x, LAW), full(layers, heads, 3)
    z = form.nearest(net)
    assert loss == pytest.approx(net.losses(x, LAW).mean(), rel=1e-12)
    slope = slope @ form.basis
    slopes_agree(lambda z: form.model(z).losses(x, LAW).mean(), slope, z, ways=form.free)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_loss_given_x_is_the_mean_over_tasks_and_noise(layers):
    net, count = model(layers, 2, 3), 40_000
    x = np.repeat(LAW.draw(0, "test", 0, 1).x, count, axis=0)
    drawn = LAW.draw(1, "test", 0, count)
    clean = (x * drawn.w[:, None]).sum(axis=2)
    noise = LAW.noise * generator(0, "test noise").standard_normal((count, LAW.n))
    errors = (net.predict(x, clean[:, :-1] + noise)[:, 0] - clean[:, -1]) ** 2
    z = (errors.mean() - net.losses(x[:1], LAW)[0]) / (errors.std() / np.sqrt(count))
    assert abs(z) < 4


def test_whitening_changes_no_loss():
    white, net = whitened(LAW), model(3, 2, 3)
    x = points(white, 0, "test", 50, 2)
    values, basis = np.linalg.eigh(SIGMA)
    raw = x @ (basis * np.sqrt(values)) @ basis.T
    up, down = root(SIGMA, 0.5), root(SIGMA, -0.5)
    theta, value = down @ net.theta @ down, up @ net.value @ down
    there = SoftmaxTransformer(theta=theta, value=value, scale=net.scale)
    assert np.allclose(there.losses(raw, LAW), net.losses(x, white), rtol=1e-9)
    assert not np.allclose(
        there.losses(x @ np.linalg.cholesky(SIGMA).T, LAW), net.losses(x, white), rtol=1e-3
    )


def linear(x, n, p, q):
    """Weights of the labels of linear layers on points less their mean, by [ACDS23]'s rule."""
    tokens = x.copy()
    v, b = np.eye(n), np.zeros((n, len(x) - n))
    for pl, ql in zip(p, q, strict=True):
        keys = tokens[:n]
        a = (keys - keys.mean(axis=0)) @ ql @ tokens.T / n
        b, v = b + v @ a[:, n:], v - v @ a[:, :n]
        tokens = tokens - a.T @ keys @ pl.T
    return b


def pairs(p, q, eps):
    """Two opposite heads for every linear layer."""
    return SoftmaxTransformer(
        theta=np.stack([eps * q, -eps * q], axis=1),
        value=np.stack([p, -p], axis=1) / (2 * eps),
        scale=np.tile([0.5 / eps, -0.5 / eps], (len(q), 1)),
    )


def test_opposite_heads_tend_to_linear_attention_on_centred_points():
    rng = generator(3, "test")
    p, q = 0.3 * rng.standard_normal((2, 3, 3, 3)) + 0.3 * np.eye(3)
    x = points(LAW, 0, "test", 1, 2)
    expected = linear(x[0], LAW.n, p, q)
    gaps = [np.abs(pairs(p, q, e).weights(x, LAW.n)[0] - expected).max() for e in (1e-2, 1e-3)]
    assert gaps[1] < 1e-5
    assert 50 < gaps[0] / gaps[1] < 200


def test_the_limit_of_two_heads_is_the_linear_loss_of_one_point_less():
    assert best_linear(UNIT, 20)[1] == pytest.approx(15 / 13, rel=1e-12)
    assert best_linear(UNIT, 19)[1] == pytest.approx(6 / 5, rel=1e-12)
    law = whitened(LAW)
    x = points(law, 0, "test", 30_000, 4)
    found = controls(law, x)
    assert np.abs(found.mean(axis=0) / (found.std(axis=0) / np.sqrt(len(x)))).max() < 4
    a = best_linear(law, law.n - 1)[0] * law.n / (law.n - 1)
    net = pairs(np.zeros((1, 3, 3)), a[None], 1e-4)
    limit = best_linear(law, law.n - 1)[1]
    assert np.abs(net.losses(x[:2000], law) - limit - found[:2000, 1]).max() < 1e-5


def test_one_head_may_centre_and_then_be_linear():
    law = Prompts(n=8, sigma=np.eye(3), task=TASK, noise=0.4)
    a = best_linear(law, 7)[0] * 8 / 7
    eps = 1e-5
    net = SoftmaxTransformer(
        theta=np.stack([np.zeros((3, 3)), eps * a])[:, None],
        value=np.stack([np.eye(3), np.zeros((3, 3))])[:, None],
        scale=np.array([[1.0], [1 / eps]]),
    )
    x = points(law, 0, "test", 20_000, 4)
    found = net.losses(x, law)
    bound = next(r for r in references(law, [2], x[:100]) if r.name == "one head, limit")
    assert bound.loss == pytest.approx(9 / 8 * best_linear(law, 7)[1] + 0.4**2 / 8)
    assert abs(found.mean() - bound.loss) < 4 * found.std() / np.sqrt(len(x))


def test_no_training_beats_the_posterior_mean():
    law = whitened(Prompts(n=4, sigma=SIGMA, task=TASK, noise=0.4))
    x = points(law, 0, "test", 1000, 2)
    pulled = x[:, :4] @ law.task
    kernel = pulled @ x[:, :4].transpose(0, 2, 1) + law.noise**2 * np.eye(4)
    ridge = np.linalg.solve(kernel, pulled @ x[:, 4:].transpose(0, 2, 1))
    least = losses(ridge, x, law).mean()
    assert bayes(law, x).loss == pytest.approx(least, rel=0.1)
    form = full(2, 2, 3)
    z = form.nearest(model(2, 2, 3))
    found = fit(form, law, x, z, np.ones(form.free), 40)
    assert least < found.loss < gradient(form.model(z), x, law)[0]
    assert bayes(UNIT, x).loss == 0


def test_a_study_finds_the_order_of_the_models():
    effort = Effort(prompts=200, queries=4, steps=25, starts=2, evaluation=2000)
    study = softmax_study(UNIT, layers=(1,), outputs=("1/n", "free"), effort=effort)
    found = {(t.layers, t.heads, t.output): t.best for t in study.trained}
    assert found[1, 1, "1/n"].loss == pytest.approx(4.63, abs=0.1)
    assert found[1, 1, "free"].loss == pytest.approx(2.133, abs=0.06)
    assert found[1, 2, "free"].loss == pytest.approx(1.2, abs=0.03)
    assert found[1, 2, "free"].error < 0.005
    pair = next(t for t in study.trained if (t.layers, t.heads, t.output) == (1, 2, "free"))
    assert study.limit(pair) == pytest.approx(1.2)
    assert type(study).read(study.to_dict()) == study
    assert "output of free scale" in said("icl", of_icl(study.to_dict()))
    assert "two heads, limit" in words(study)


def test_estimates_are_on_prompts_of_their_own_with_their_standard_error():
    sheet = _Sheet(UNIT, Effort(prompts=20, queries=2, evaluation=400), 0)
    assert not np.intersect1d(sheet.fresh, sheet.wide).size
    one = np.eye(5)[None, None]
    model = SoftmaxTransformer(theta=0.1 * one, value=one, scale=np.ones((1, 1)))
    found = sheet.estimate(model)
    design = np.column_stack([np.ones(400), controls(UNIT, sheet.fresh)])
    each = model.losses(sheet.fresh, UNIT)
    fit, rest, *_ = np.linalg.lstsq(design, each)
    assert found.loss == pytest.approx(fit[0])
    assert found.error == pytest.approx(np.sqrt(rest[0]) / 400)
