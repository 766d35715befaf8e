import json
from statistics import NormalDist

import numpy as np
import pytest

from hardness.icl.curves import curves
from hardness.icl.descent import Ending, adam, lbfgs
from hardness.icl.evaluate import evaluate, rare, sample, stretched
from hardness.icl.gram import Layers, losses
from hardness.icl.scalars import scalar_reference
from hardness.icl.train import distance, thinned, train
from hardness.report.charts.icl import of_icl
from hardness.report.icl import curves_words, train_words, with_error
from instances import UsageError
from instances.prompts import Prompts
from tests.charts import said

LAW = Prompts.named(5, 20, "identity", "inverse", 0.0)
SKEWED = Prompts.named(3, 8, "rotated(0.1,1,10)", "inverse", 0.0)
FREE = Prompts.named(3, 8, "diag(1,2,3)", "toeplitz(0.5)", 0.3)


@pytest.fixture(scope="module")
def trained():
    return train(LAW, 3, free="q", samples=1500, fresh=30_000)


@pytest.fixture(scope="module")
def small():
    return train(SKEWED, 2, samples=300, steps=60, restarts=2, fresh=1000)


def test_three_layers_of_steps_are_found_from_a_random_start(trained):
    loss, exact = trained.loss, trained.reference.loss
    assert exact == pytest.approx(0.13361, abs=5e-6)
    assert exact - 3 * loss.error < loss.value < 1.05 * exact
    assert trained.best.curve[0]["loss"] > 4
    assert trained.best.loss < exact  # of its own sample: the fresh one is what counts
    white = trained.layers.whitened(LAW.sigma)
    assert max(distance(q) for q in white.q) < 0.1
    levels = sorted(np.trace(q) / 5 for q in white.q)
    known = sorted(q[0, 0] for q in trained.reference.layers.q)
    assert levels == pytest.approx(known, rel=0.1)


def test_moving_the_points_as_well_goes_far_below_every_choice_of_steps():
    found = train(LAW, 3, samples=1000, steps=250, fresh=10_000)
    assert found.loss.value < 2.5e-3 < 0.13361 / 50
    assert found.best.curve[-1]["loss"] == pytest.approx(found.best.loss)


def test_the_control_variate_is_right_and_narrower(trained):
    law = SKEWED
    known = scalar_reference(law, 3, "q")
    grams = sample(law, 1, "judge", 40_000)
    bare = losses(known.layers.p, known.layers.q, grams, law)
    assert abs(bare.mean() - known.loss) < 4 * bare.std() / np.sqrt(len(bare))
    near = Layers(p=known.layers.p, q=known.layers.q * 1.02)
    found = evaluate(near, grams, law, known)
    assert found.error < 0.5 * found.plain_error
    assert abs(found.value - found.plain) < 4 * found.plain_error
    assert found.interval[0] < found.value < found.interval[1]
    assert evaluate(known.layers, grams, law, known).value == pytest.approx(known.loss)
    assert evaluate(near, grams, law).value == found.plain


@pytest.mark.parametrize("kind", ["q", "both", "common"])
def test_scalar_layers_have_the_loss_that_is_said_with_noise_and_a_level(kind):
    sigma = SKEWED.sigma
    law = Prompts(n=8, sigma=sigma, task=2.5 * np.linalg.inv(sigma), noise=0.4)
    known = scalar_reference(law, 2, kind)
    grams = sample(law, 0, "level", 40_000)
    found = losses(known.layers.p, known.layers.q, grams, law)
    assert abs(found.mean() - known.loss) < 4 * found.std() / np.sqrt(len(found))
    assert scalar_reference(FREE, 2, kind) is None


def test_whitened_and_raw_descents_start_as_one_and_end_as_one(small):
    raw = train(SKEWED, 2, whiten=False, samples=300, steps=60, restarts=2, fresh=1000)
    for one, other in zip(small.runs, raw.runs, strict=True):
        assert one.curve[0]["loss"] == pytest.approx(other.curve[0]["loss"], rel=1e-9)
        assert one.curve[0]["q"] == pytest.approx(other.curve[0]["q"], rel=1e-6)
    steps = train(SKEWED, 1, free="q", samples=300, fresh=100)
    raw = train(SKEWED, 1, free="q", whiten=False, samples=300, fresh=100)
    assert np.allclose(steps.layers.q, raw.layers.q, rtol=1e-3, atol=1e-5)
    assert steps.best.steps < raw.best.steps  # a condition number of 100 slows the descent


def test_adam_learns_on_fresh_batches_and_runs_are_reproducible():
    found, again = (
        train(SKEWED, 2, free="q", method="adam", samples=32, steps=300, rate=0.05, fresh=2000)
        for _ in range(2)
    )
    known = scalar_reference(SKEWED, 2, "q").loss
    assert known - 4 * found.loss.error < found.loss.value < 1.2 * known
    assert found.loss == again.loss
    assert (found.layers.q == again.layers.q).all()
    assert found.best.evaluations == 300
    other = train(SKEWED, 2, free="q", method="adam", samples=32, steps=300, seed=1, fresh=50)
    assert not np.allclose(other.layers.q, found.layers.q)


def test_how_descents_end():
    def bowl(x):
        return float(x @ x), 2 * x

    assert lbfgs(bowl, np.ones(2), 0, lambda *a: False)[1] is Ending.STEPS_SPENT
    assert lbfgs(bowl, np.ones(2), 50, lambda *a: True)[1] is Ending.STOPPED
    assert adam(lambda t, x: bowl(x), np.ones(2), 9, 0.1, lambda *a: True)[1] is Ending.STOPPED
    assert (
        adam(lambda t, x: (np.inf, x), np.ones(2), 9, 0.1, lambda *a: False)[1] is Ending.DIVERGED
    )
    assert all(ended.advice for ended in Ending)
    curve = [{"step": i} for i in range(5000)]
    assert thinned(curve)[0] == curve[0]
    assert thinned(curve)[-1] == curve[-1]
    assert len(thinned(curve)) <= 200


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


@pytest.mark.parametrize("count", [1, 3, 12, 20])
def test_weights_of_few_stretched_points_are_unbiased(count):
    """Means of 1 and of tr(sigma^-1 S) over many small samples, where 8 does not divide a count."""
    law = Prompts.named(2, 6, "diag(1,3)", "identity", 0.0)
    found = []
    for seed in range(1500):
        grams, weights = stretched(law, seed, "few", count)
        size = np.einsum("cii,i->c", grams, 1 / np.diag(law.sigma)) / 2
        found.append([weights.mean(), (weights * size).mean()])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(np.mean(found, axis=0) - 1) <= 4 * error + 1e-12).all()


def test_without_a_reference_it_says_so():
    found = train(FREE, 2, samples=200, steps=30, fresh=500)
    assert found.reference is None
    assert found.loss.value == found.loss.plain
    assert found.loss.value < FREE.power
    assert "no reference" in train_words(found.to_dict())


def test_words_and_figures_are_drawn_from_json(small, trained):
    for found in (small, trained):
        words = train_words(json.loads(json.dumps(found.to_dict())))
        assert f"{found.reference.loss:.6g}" in words
        assert max(map(len, words.splitlines())) <= 80
    data = json.loads(json.dumps(small.to_dict()))
    assert "from I" in said("icl", of_icl(data))


def test_curves_have_exact_and_sampled_points():
    found = curves(SKEWED, 2, samples=200, steps=40, fresh=2000)
    losses = {(p.name, p.layers): p.loss for p in found.points}
    assert len(losses) == 10
    for layers in (1, 2):
        assert losses["optimal steps", layers] <= losses["one step size", layers]
        assert losses["GD++ scalars", layers] <= losses["optimal steps", layers] * (1 + 1e-9)
    assert losses["optimal steps", 1] == pytest.approx(3 * 4 / 12)
    assert all((p.error is None) == (p.interval is None) for p in found.points)
    data = json.loads(json.dumps(found.to_dict()))
    words = curves_words(data)
    assert "GD++ scalars" in words
    assert max(map(len, words.splitlines())) <= 80
    assert "GD++ scalars, exact" in said("icl", of_icl(data))


def test_curves_without_exact_points():
    data = curves(FREE, 1, samples=50, steps=5, fresh=100).to_dict()
    assert {point["name"] for point in data["points"]} == {"trained, P = 0", "trained P, Q"}
    assert "no reference" in curves_words(data)
    assert "exact" not in said("icl", of_icl(data))


def test_numbers_with_errors():
    assert with_error(1.0, 0.2) == "1.0(2)"
    assert with_error(25.0, 3.2) == "25(3)"
    assert with_error(0.1, 0.2) == "0.1"
    assert with_error(1.14e-5, 9.6e-7) == "1.1(1)e-05"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layers": 0}, "layers=0"),
        ({"layers": 2, "restarts": 0}, "restarts=0"),
        ({"layers": 2, "rate": 0.0}, "rate=0.0"),
        ({"layers": 2, "seconds": 0.0}, "seconds=0.0"),
        ({"layers": 2, "samples": -1}, "samples=-1"),
        ({"layers": 2, "samples": 5, "steps": 1, "fresh": 1}, "standard error"),
    ],
)
def test_numbers_out_of_range_are_refused(options, message):
    with pytest.raises(UsageError, match=message):
        train(SKEWED, **options)
    with pytest.raises(UsageError, match="between 1 and 8"):
        curves(SKEWED, 9)


def test_losses_are_judged_on_a_stream_of_their_own(small):
    layers = small.layers
    fresh = sample(SKEWED, 0, "fresh", 1000)
    assert small.loss.plain == losses(layers.p, layers.q, fresh, SKEWED).mean()
    assert not np.intersect1d(fresh, sample(SKEWED, 0, "train", 1000)).size


def test_intervals_of_99_percent_are_those_of_the_normal_law(trained):
    low, high = trained.loss.interval
    reach = NormalDist().inv_cdf(0.995) * trained.loss.error
    assert (high - low) / 2 == pytest.approx(reach, rel=1e-4)
    assert trained.loss.to_dict()["confidence"] == 0.99
