import flint
import numpy as np
import pytest

from hardness.icl.gram import Layers, loss_and_gradient, losses, residuals
from instances import UsageError
from instances.covariance import root
from instances.prompts import Prompts
from instances.streams import generator

D, N, L = 4, 7, 3
LAW = Prompts.named(D, N, "rotated(0.5,1,2,3)", "toeplitz(0.6)", 0.7)
WHITE = Prompts(n=N, sigma=np.eye(D), task=np.eye(D), noise=0.7)


@pytest.fixture(scope="module")
def layers():
    rng = generator(0, "layers")
    return Layers(p=0.3 * rng.normal(size=(L, D, D)), q=0.3 * rng.normal(size=(L, D, D)))


def attention(layers, x, y):
    """The definition: Z <- Z - (1/n) V Z M Z^T K Z on (d+1, n+1) prompts, one at a time."""
    out = []
    for points, labels in zip(x, y, strict=True):
        n = len(labels)
        z = np.vstack([points.T, np.append(labels, 0.0)])
        mask = np.diag(np.append(np.ones(n), 0.0))
        for p, q in zip(layers.p, layers.q, strict=True):
            value, key = np.eye(D + 1, dtype=p.dtype), np.zeros((D + 1, D + 1), p.dtype)
            value[:D, :D], key[:D, :D] = p, q
            z = z - value @ z @ mask @ z.T @ key @ z / n
        out.append(-z[-1, -1])
    return np.array(out)


def test_tokens_by_the_definition_and_gram_space_agree_with_noise(layers):
    """In balls of 300 bits: float64 loses digits to the cubes of three layers, each way others."""
    drawn = LAW.draw(0, "test", 0, 40)
    balls = np.frompyfunc(flint.arb, 1, 1)
    with flint.ctx.workprec(300):
        layers = Layers(p=balls(layers.p), q=balls(layers.q))
        x, y, w = balls(drawn.x), balls(drawn.y), balls(drawn.w)
        query, points = x[:, -1], x[:, :-1]
        said = layers.predict(x, y)
        defined = attention(layers, x, y)
        u, n = residuals(layers.p, layers.q, np.einsum("cni,cnj->cij", points, points) / N)
        noise = y - np.einsum("cni,ci->cn", points, w)
        short = np.einsum("ci,cij,cj->c", w, u, query)
        short += np.einsum("cn,cni,cij,cj->c", noise, points, n, query) / N
        assert (abs(said - defined) < 1e-60).all()
        assert (abs((w * query).sum(axis=1) - said - short) < 1e-60).all()
    assert np.abs(noise).max() > 0.5


def test_the_loss_given_the_points_is_that_of_sampled_tasks_queries_and_noise(layers):
    few = LAW.draw(0, "few", 0, 1)
    count, rng = 200_000, generator(0, "check")
    w = rng.standard_normal((count, D)) @ root(LAW.task, 0.5)
    query = rng.standard_normal((count, D)) @ root(LAW.sigma, 0.5)
    x = np.broadcast_to(few.x, (count, N + 1, D)).copy()
    x[:, -1] = query
    y = w @ few.x[0, :-1].T + LAW.noise * rng.standard_normal((count, N))
    squares = (layers.predict(x, y) - (w * query).sum(axis=1)) ** 2
    exact = losses(layers.p, layers.q, few.gram, LAW)[0]
    assert abs(squares.mean() - exact) < 4 * squares.std() / np.sqrt(count)
    assert squares.std() / np.sqrt(count) < 0.02 * exact


@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("free", ["both", "q"])
def test_gradients_are_those_of_a_complex_step(layers, noise, free):
    law = Prompts(n=N, sigma=LAW.sigma, task=LAW.task, noise=noise)
    grams = law.draw(0, "gradients", 0, 2500).gram  # more than one part
    p = layers.p if free == "both" else None
    loss, dp, dq = loss_and_gradient(p, layers.q, grams, law)
    assert loss == pytest.approx(losses(p, layers.q, grams, law).mean(), rel=1e-12)
    rng = generator(1, "directions")
    for _ in range(4):
        along_p, along_q = rng.normal(size=(2, L, D, D))
        moved = layers.q + 1e-30j * along_q
        shifted = None if p is None else p + 1e-30j * along_p
        found = losses(shifted, moved, grams, law).mean().imag / 1e-30
        assert found == pytest.approx((dp * along_p + dq * along_q).sum(), rel=1e-9)
    assert (dp[-1] == 0).all()
    assert (dp[:-1] == 0).all() == (p is None)


def test_one_layer_has_the_mean_of_the_closed_form(layers):
    q = layers.q[:1]
    a = q[0]  # the prediction is b^T Q x_query
    sigma, task, power = LAW.sigma, LAW.task, LAW.power + LAW.noise**2
    second = (N + 1) / N * sigma @ task @ sigma + power / N * sigma
    exact = np.trace(second @ a @ sigma @ a.T) - 2 * np.trace(task @ sigma @ a @ sigma) + LAW.power
    found = losses(None, q, LAW.draw(0, "many", 0, 60_000).gram, LAW)
    assert abs(found.mean() - exact) < 4 * found.std() / np.sqrt(len(found))
    assert found.std() / np.sqrt(len(found)) < 0.02 * exact


def test_whitening_changes_no_prediction_and_no_loss(layers):
    law = Prompts(n=N, sigma=LAW.sigma, task=root(LAW.sigma, -1.0), noise=0.7)
    drawn, white = law.draw(0, "white", 0, 30), layers.whitened(law.sigma)
    narrow = root(law.sigma, -0.5)
    said = layers.predict(drawn.x, drawn.y)
    assert np.allclose(white.predict(drawn.x @ narrow, drawn.y), said, rtol=1e-10, atol=1e-10)
    old = losses(layers.p, layers.q, drawn.gram, law)
    new = losses(white.p, white.q, narrow @ drawn.gram @ narrow, WHITE)
    assert np.allclose(old, new, rtol=1e-10)
    again = white.whitened(root(law.sigma, -1.0))
    assert np.allclose(again.p, layers.p)
    assert np.allclose(again.q, layers.q)


def test_shapes_that_disagree_are_refused():
    with pytest.raises(UsageError, match="both must be"):
        Layers(p=np.zeros((2, 3, 3)), q=np.zeros((3, 3, 3)))
    with pytest.raises(UsageError, match="both must be"):
        Layers(p=np.zeros((3, 3)), q=np.zeros((3, 3)))
