"""Adam against SGD: rules of descent, sampled gradients, races, tails of noise, the study."""

import math
from statistics import median

import numpy as np
import pytest

from hardness.icl import gram
from hardness.icl.descent import Adam, Momentum, Sign, State, clipped
from hardness.icl.optimizers import AUTHORS_RATE, METHODS, Course, optimizers, race, tails
from hardness.icl.sampled import batch, loss_and_gradient, predict, sample
from hardness.report.charts.icl import draw_icl, of_icl
from hardness.report.icl import words
from instances.prompts import Prompts
from tests.charts import rows_of, said
from tests.slopes import slopes_agree

LAW = Prompts.named(3, 5, "rotated(1,2,0.5)", "toeplitz(0.3)", 0.3)
PLAIN = Prompts(n=20, sigma=np.eye(5), task=np.eye(5))


def walk(rule, gradients):
    state, steps = State(), []
    for gradient in gradients:
        state, step = rule(state, gradient)
        steps.append(step)
    return np.array(steps)


@pytest.fixture(scope="module")
def gradients():
    return np.random.default_rng(0).standard_normal((6, 4))


def test_momentum_is_a_weighted_sum_of_all_gradients(gradients):
    weights = np.array([[0.7 ** (t - s) if s <= t else 0.0 for s in range(6)] for t in range(6)])
    assert np.allclose(walk(Momentum(rate=0.3, decay=0.7), gradients), -0.3 * weights @ gradients)
    assert np.allclose(walk(Momentum(rate=0.3, decay=0.0), gradients), -0.3 * gradients)


def test_adam_is_a_ratio_of_weighted_means(gradients):
    def mean(decay, values):
        weights = np.array([[decay ** (t - s) * (s <= t) for s in range(6)] for t in range(6)])
        return weights @ values / weights.sum(axis=1, keepdims=True)

    expected = -0.1 * mean(0.9, gradients) / (np.sqrt(mean(0.99, gradients**2)) + 1e-3)
    found = walk(Adam(rate=0.1, first=0.9, second=0.99, eps=1e-3), gradients)
    assert np.allclose(found, expected)


def test_adam_and_sign_descent_do_not_see_the_scale_of_gradients(gradients):
    for rule in (Adam(rate=0.1), Sign(rate=0.1)):
        assert np.allclose(walk(rule, gradients), walk(rule, 1e4 * gradients), atol=1e-5)
    for rule in (Adam(rate=0.1, first=0.0, second=0.0), Sign(rate=0.1, decay=0.0)):
        assert np.allclose(walk(rule, gradients), -0.1 * np.sign(gradients), atol=1e-6)


def test_clipping_shortens_and_keeps_the_direction(gradients):
    for limit in (0.1, 1.0, 100.0, math.inf):
        short = clipped(gradients, limit)
        assert np.linalg.norm(short) == pytest.approx(min(limit, np.linalg.norm(gradients)))
        assert (short * gradients >= 0).all()


def layers(count, d, seed=1):
    return 0.4 * np.random.default_rng(seed).standard_normal((count, 2, d, d))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_predictions_are_those_of_the_layers_token_by_token(count):
    theta, drawn = layers(count, 3), LAW.draw(0, "test", 0, 20)
    expected = gram.Layers(p=theta[:, 0], q=theta[:, 1]).predict(drawn.x, drawn.y)
    found = predict(theta, batch(drawn.x, drawn.y, drawn.target))
    assert np.allclose(found, expected, rtol=1e-10)
    data = sample(LAW, np.random.default_rng(2), 40)
    slopes_agree(lambda x: loss_and_gradient(x, data)[0], loss_and_gradient(theta, data)[1], theta)


def test_the_mean_of_sampled_losses_is_the_exact_one():
    theta, count = layers(2, 3, 5) / 2, 40_000
    data = sample(LAW, np.random.default_rng(5), count)
    errors = (predict(theta, data) - data.target) ** 2
    fresh = sample(LAW, np.random.default_rng(6), count).grams.transpose(2, 0, 1)
    exact = gram.losses(theta[:, 0], theta[:, 1], np.ascontiguousarray(fresh), LAW)
    spread = math.sqrt((errors.var() + exact.var()) / count)
    assert abs(errors.mean() - exact.mean()) < 4 * spread
    assert spread < 0.05 * exact.mean()


def test_heavy_tailed_points_have_the_norms_they_should():
    # |x|^2 ~ Gamma(k, sqrt(2 d / k)): mean sqrt(2 d k), variance 2 d; k = d / 2 is Gaussian
    for shape, mean in ((0.1, 1.0), (2.5, 5.0)):
        data = sample(PLAIN, np.random.default_rng(7), 40_000, shape)
        squares = (data.query**2).sum(axis=0)
        assert abs(squares.mean() - mean) < 4 * math.sqrt(10 / 40_000)
        assert squares.var() == pytest.approx(10, rel=0.3)
    plain = sample(PLAIN, np.random.default_rng(8), 40_000).query
    assert np.quantile(squares, 0.9) == pytest.approx(np.quantile((plain**2).sum(0), 0.9), rel=0.03)


TWO = Prompts(n=12, sigma=np.eye(2), task=np.eye(2))
SMALL = Course(law=TWO, layers=2, steps=60, batch=40, marks=6, evaluate=300)


def test_a_race_is_the_rules_step_by_step():
    rules = [Momentum(rate=0.05), Adam(rate=0.02)]
    laps = race(SMALL, rules, 3, "a")
    alone = race(SMALL, rules[1:], 3, "a")[0]
    assert alone.losses == laps[1].losses  # whoever else runs
    assert SMALL.at == [0, 10, 20, 30, 40, 50, 60]
    assert np.array_equal(laps[0].path[0], laps[1].path[0])
    assert laps[0].losses[0] == laps[1].losses[0]
    assert all(lap.losses[-1] < lap.losses[0] / 2 for lap in laps)
    grams = SMALL.held_out(3, "curves", 300)
    theta = laps[0].path[-1]
    exact = gram.losses(theta[:, 0], theta[:, 1], grams, SMALL.law).mean()
    assert laps[0].losses[-1] == pytest.approx(exact)
    assert race(SMALL, rules, 4, "a")[0].losses != laps[0].losses
    assert race(SMALL, rules, 3, "b")[0].losses != laps[0].losses


def test_clipped_momentum_moves_at_most_the_rate_over_one_minus_decay():
    course = Course(law=SMALL.law, layers=2, steps=20, batch=20, marks=20, evaluate=10, clip=0.1)
    path = race(course, [Momentum(rate=0.05, decay=0.5)], 0, "a")[0].path
    moves = np.sqrt(((path[1:] - path[:-1]) ** 2).sum(axis=(1, 2, 3, 4)))
    assert moves.max() <= 0.05 * 0.1 / 0.5 + 1e-12
    assert moves[-1] > 0


def test_noise_of_gaussian_gradients_is_gaussian_and_that_of_one_prompt_is_not():
    theta = SMALL.start(0, "a")
    one = tails(theta, SMALL.law, 1, 600, 0, "t")
    many = tails(theta, SMALL.law, 3000, 200, 0, "t")
    assert one.kurtosis > 3 * one.gaussian_kurtosis
    assert many.kurtosis == pytest.approx(many.gaussian_kurtosis, rel=0.3)
    assert one.quantiles[0] == one.gaussian[0] == 1.0
    assert one.relative > 10 * many.relative  # as 1 / sqrt(batch)
    assert one.shares[-1] == pytest.approx(1 / 600)
    assert one.ratios == sorted(one.ratios)


@pytest.fixture(scope="module")
def found():
    chosen = {"methods": ("sgd", "adam", "sign"), "rates": (0.005, 0.02, 0.05, 50.0)}
    return optimizers(SMALL, seeds=3, tuning=2, draws=20, references={"best": 0.01}, **chosen)


def test_rates_are_chosen_on_tuning_seeds_and_reported_on_others(found):
    for method in found.methods:
        assert [t.rate for t in method.tried] == [0.005, 0.02, 0.05, 50.0]
        best = min(method.tried, key=lambda t: median(t.losses))
        assert method.tuned.rate == best.rate
        assert method.authors.rate == AUTHORS_RATE == 0.02
        assert len(method.tuned.losses) == 3
        assert not set(method.tuned.losses) & {v for t in method.tried for v in t.losses}
        assert method.tried[-1].diverged == 2
        assert method.tried[0].diverged == 0
        for error, loss in zip(method.authors.errors, method.authors.losses, strict=True):
            assert 0 < error < loss


def test_reported_runs_can_be_run_again_and_are_compared_and_weighed(found):
    sgd, adam, _ = found.methods
    lap = race(SMALL, [METHODS["sgd"][1](0.02)], 0, "report 1")[0]
    assert lap.losses == sgd.authors.curves[1]
    for at, ratios in found.factors.items():
        assert list(ratios) == ["adam", "sign"]
        pairs = zip(sgd.shown[at].losses, adam.shown[at].losses, strict=True)
        assert ratios["adam"] == [a / b for a, b in pairs]
    for shown in (shown for method in found.methods for shown in method.shown.values()):
        assert len(shown.rare) == len(shown.losses) == 3
        for rare, loss, error in zip(shown.rare, shown.losses, shown.errors, strict=True):
            assert abs(rare.value - loss) < 5 * (rare.error + error)  # small layers


def test_json_words_and_figure_hold_the_numbers(found):
    data, told = found.to_dict(), words(found)
    assert type(found).read(data) == found
    for part in ("rate 0.02", "tuned", "sgd / adam", "!", "start, one prompt", "best: 0.01"):
        assert part in told
    assert "typical prompts alone" not in told
    assert "Gradient noise" in said("icl", of_icl(data))
    data["methods"][1]["tuned"]["rare"][0]["value"] = 9 * data["methods"][1]["tuned"]["losses"][0]
    carried = words(type(found).read(data))
    assert "typical prompts alone" in carried
    assert all(len(line) <= 80 for line in carried.splitlines())


def test_runs_that_overflow_are_drawn_and_said():
    sizes = {"layers": 3, "steps": 30, "batch": 10, "marks": 3, "evaluate": 10}
    course = Course(law=SMALL.law, clip=math.inf, **sizes)
    found = optimizers(course, methods=("sgd",), rates=(30.0,), seeds=1, tuning=1, draws=0)
    assert found.methods[0].tuned.losses == [None]
    assert found.methods[0].tried[0].diverged == found.methods[0].tuned.diverged == 1
    assert found.clip is None
    assert "overflow" in words(found)
    data = of_icl(found.to_dict())
    assert "tuned rates, sgd" in said("icl", data)
    assert max(row["y"] for row in rows_of(draw_icl(data)) if row.get("y")) <= 3 * found.power
