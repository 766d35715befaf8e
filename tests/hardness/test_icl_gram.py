"""L layers on the Gram matrices of prompts: tokens, gradients, losses, and what training finds."""

from statistics import NormalDist

import flint
import numpy as np
import pytest

from hardness.icl.gram import (
    Layers,
    evaluate,
    loss_and_gradient,
    losses,
    rare,
    residuals,
    sample,
    scalar_reference,
    stretched,
)
from hardness.icl.prompts import Prompts, root
from hardness.icl.train import curves, distance, train
from hardness.report.charts.icl import curves_rows, icl_curves
from hardness.report.icl import words
from instances.streams import generator
from tests.charts import legend
from tests.slopes import slopes_agree

D, N, L = 4, 7, 3
LAW = Prompts.named(D, N, "rotated(0.5,1,2,3)", "toeplitz(0.6)", 0.7)
WHITE = Prompts(n=N, sigma=np.eye(D), task=np.eye(D), noise=0.7)
PLAIN = Prompts.named(5, 20, "identity", "inverse", 0.0)
SKEWED = Prompts.named(3, 8, "rotated(0.1,1,10)", "inverse", 0.0)
FREE = Prompts.named(3, 8, "diag(1,2,3)", "toeplitz(0.5)", 0.3)


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


@pytest.mark.parametrize("noise", [0.0, 0.7])
@pytest.mark.parametrize("free", ["both", "q"])
def test_gradients_are_those_of_a_complex_step(layers, noise, free):
    law = Prompts(n=N, sigma=LAW.sigma, task=LAW.task, noise=noise)
    grams = law.draw(0, "gradients", 0, 2500).gram  # more than one part
    p = layers.p if free == "both" else None
    loss, dp, dq = loss_and_gradient(p, layers.q, grams, law)
    assert loss == pytest.approx(losses(p, layers.q, grams, law).mean(), rel=1e-12)

    def value(both):
        return losses(None if p is None else both[0], both[1], grams, law).mean()

    at = np.stack([layers.p, layers.q])
    slopes_agree(value, np.stack([dp, dq]), at, rel=1e-9, imaginary=True)
    assert (dp[-1] == 0).all()
    assert (dp[:-1] == 0).all() == (p is None)


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


@pytest.fixture(scope="module")
def trained():
    return train(PLAIN, 3, free="q", samples=1500, fresh=10_000)


@pytest.fixture(scope="module")
def small():
    return train(SKEWED, 2, samples=300, steps=60, restarts=2, fresh=1000)


def test_three_layers_of_steps_are_found_from_a_random_start(trained):
    loss, exact = trained.loss, trained.reference.loss
    assert exact == pytest.approx(0.13361, abs=5e-6)
    assert exact - 3 * loss.error < loss.value < 1.05 * exact
    assert trained.curve[0].loss > 4
    assert trained.training_loss < exact  # of its own sample: the fresh one is what counts
    assert trained.distance_q == pytest.approx([distance(np.array(q)) for q in trained.q])
    assert max(trained.distance_q) < 0.1
    levels = sorted(np.trace(q) / 5 for q in trained.q)
    known = sorted(q[0, 0] for q in scalar_reference(PLAIN, 3, "q").layers.q)
    assert levels == pytest.approx(known, rel=0.1)
    reach = NormalDist().inv_cdf(0.995) * loss.error
    assert loss.interval == pytest.approx((loss.value - reach, loss.value + reach), rel=1e-4)


def test_moving_the_points_as_well_goes_far_below_every_choice_of_steps():
    found = train(PLAIN, 2, samples=500, steps=120, fresh=5000)
    assert found.loss.value < 0.1 < 0.36124 / 3
    assert found.curve[-1].loss == pytest.approx(found.training_loss)


def test_the_control_variate_is_right_and_narrower():
    known = scalar_reference(SKEWED, 3, "q")
    grams = sample(SKEWED, 1, "judge", 40_000)
    bare = losses(known.layers.p, known.layers.q, grams, SKEWED)
    assert abs(bare.mean() - known.loss) < 4 * bare.std() / np.sqrt(len(bare))
    near = Layers(p=known.layers.p, q=known.layers.q * 1.02)
    found = evaluate(near, grams, SKEWED, known)
    assert found.error < 0.5 * found.plain_error
    assert abs(found.value - found.plain) < 4 * found.plain_error
    assert evaluate(known.layers, grams, SKEWED, known).value == pytest.approx(known.loss)
    assert evaluate(near, grams, SKEWED).value == found.plain


@pytest.mark.parametrize("kind", ["q", "both", "common"])
def test_scalar_layers_have_the_loss_that_is_said_with_noise_and_a_level(kind):
    sigma = SKEWED.sigma
    law = Prompts(n=8, sigma=sigma, task=2.5 * np.linalg.inv(sigma), noise=0.4)
    known = scalar_reference(law, 2, kind)
    grams = sample(law, 0, "level", 40_000)
    found = losses(known.layers.p, known.layers.q, grams, law)
    assert abs(found.mean() - known.loss) < 4 * found.std() / np.sqrt(len(found))
    assert scalar_reference(FREE, 2, kind) is None


def test_whitened_and_raw_descents_end_as_one():
    raw, white = (
        train(SKEWED, 1, free="q", whiten=whiten, samples=300, fresh=100)
        for whiten in (False, True)
    )
    assert np.allclose(white.q, raw.q, rtol=1e-3, atol=1e-5)
    # A condition number of 100 slows the descent.
    assert white.runs[0].steps < raw.runs[0].steps


def test_the_best_of_several_starts_is_judged_on_a_stream_of_its_own(small):
    assert small.training_loss == min(run.loss for run in small.runs)
    assert len({run.loss for run in small.runs}) == 2
    white = Layers(p=np.array(small.p), q=np.array(small.q))
    layers = white.whitened(root(SKEWED.sigma, -1.0))
    fresh = sample(SKEWED, 0, "fresh", 1000)
    assert small.loss.plain == pytest.approx(losses(layers.p, layers.q, fresh, SKEWED).mean())
    assert not np.intersect1d(fresh, sample(SKEWED, 0, "train", 1000)).size


def test_runs_are_reproducible_and_say_how_they_end():
    chosen = {"free": "q", "samples": 32, "fresh": 50}
    found, again = (train(SKEWED, 2, **chosen) for _ in range(2))
    assert (found.loss, found.q) == (again.loss, again.q)
    assert not np.allclose(train(SKEWED, 2, seed=1, **chosen).q, found.q)
    (short,) = train(SKEWED, 2, steps=3, **chosen).runs
    assert (short.steps, short.ended) == (3, "steps spent")
    assert (found.runs[0].ended, found.runs[0].steps) == ("converged", found.curve[-1].step)


def test_stretched_points_have_the_means_of_the_law_and_meet_rare_prompts():
    law = Prompts(n=8, sigma=SKEWED.sigma, task=SKEWED.task, noise=0.4)
    known = scalar_reference(law, 2, "q")
    found = rare(known.layers, law, 0, 40_000)
    assert abs(found.value - known.loss) < 4 * found.error < 0.1 * known.loss
    assert found.share < 0.05
    grams, weights = stretched(law, 0, "mean", 40_000)
    mean = (weights[:, None, None] * grams).mean(axis=0)
    assert np.allclose(mean, law.sigma, atol=0.03 * law.sigma.max())
    layers = Layers(p=known.layers.p + 3 * np.eye(3), q=known.layers.q)  # of no use but its tail
    grams = sample(law, 0, "plain", 2000)
    assert rare(layers, law, 0, 2000).value > evaluate(layers, grams, law).value


def test_weights_of_few_stretched_points_are_unbiased():
    """Means of 1 and of tr(sigma^-1 S) over many small samples, where 8 does not divide a count."""
    law = Prompts.named(2, 6, "diag(1,3)", "identity", 0.0)
    for count in (3, 12):
        found = []
        for seed in range(1000):
            grams, weights = stretched(law, seed, "few", count)
            size = np.einsum("cii,i->c", grams, 1 / np.diag(law.sigma)) / 2
            found.append([weights.mean(), (weights * size).mean()])
        error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
        assert (np.abs(np.mean(found, axis=0) - 1) <= 4 * error + 1e-12).all()


def test_studies_say_what_is_known(small, trained):
    for found in (small, trained):
        assert f"{found.reference.loss:.6g}" in words(found)
    unknown = train(FREE, 2, samples=200, steps=30, fresh=500)
    assert unknown.reference is None
    assert unknown.loss.value == unknown.loss.plain < FREE.power
    assert "no reference" in words(unknown)


def test_curves_have_exact_and_sampled_points():
    found = curves(SKEWED, 2, samples=200, steps=40, fresh=2000)
    losses = {(p.name, p.layers): p.loss for p in found.points}
    assert len(losses) == 10
    for layers in (1, 2):
        assert losses["optimal steps", layers] <= losses["one step size", layers]
        assert losses["GD++ scalars", layers] <= losses["optimal steps", layers] * (1 + 1e-9)
    assert losses["optimal steps", 1] == pytest.approx(3 * 4 / 12)
    assert all((p.error is None) == (p.interval is None) for p in found.points)
    assert "GD++ scalars, exact" in legend(icl_curves(curves_rows(found.to_dict())))
    alone = curves(FREE, 1, samples=50, steps=5, fresh=100)
    assert {point.name for point in alone.points} == {"trained, P = 0", "trained P, Q"}
    assert "There is no reference: scalar curves" in words(alone)
    drawn = icl_curves(curves_rows(alone.to_dict()))
    assert not any("exact" in name for name in legend(drawn))
