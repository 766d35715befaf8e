"""Statements of papers on prompts: predictions against programs that share no code with them."""

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.theory import Predicted, find, statement


def small(name, **at):
    """Give a statement at one small setting."""
    one = statement(name)
    return replace(one, settings=[{**one.settings[0], **at}])


def otherwise(found, one, value):
    """Judge what was found, as if another value had been predicted."""
    said, seen = Predicted(low=value, high=value), found.points[0].measured
    return find(replace(one, predict=lambda **at: said, measure=lambda **at: seen)).verdict


def prompts(n, d, count, noise=0.0, points=1.0, task=1.0, query=1.0):
    """Draw prompts by numpy alone: x (count, n, d), y (count, n), the query, and its target."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(count, n, d)) * points**0.5
    w = rng.normal(size=(count, d)) * task**0.5
    new = rng.normal(size=(count, d)) * (points * query) ** 0.5
    y = np.einsum("cni,ci->cn", x, w) + noise * rng.normal(size=(count, n))
    return x, y, new, (w * new).sum(axis=1)


def test_the_share_left_under_a_shift_is_that_of_a_step_on_prompts():
    n, d, c = 12, 3, 1.7
    for shift, scale in (
        ("task", {"task": c}),
        ("query", {"query": c}),
        ("covariates", {"points": c}),
    ):
        x, y, new, target = prompts(n, d, 40_000, **scale)
        step = n / (n + d + 1) * np.einsum("cn,cni,ci->c", y, x, new) / n
        left = (step - target) ** 2 / (d * c)
        one = small("shifted-prompts", shift=shift, n=n, d=d, c=c)
        error = left.std() / len(left) ** 0.5
        assert one.predictions[0].low == pytest.approx(left.mean(), abs=4 * error), shift
        found = find(one)
        assert found.verdict != "fails", shift
        tolerant = otherwise(found, one, 1 - n / (n + d + 1))
        assert (tolerant == "fails") is (shift == "covariates")


def test_layers_lie_off_ridge_by_their_loss_less_its_own():
    n, d, noise = 10, 2, 0.5
    x, y, new, _ = prompts(n, d, 100_000, noise)
    second, right = x.swapaxes(1, 2) @ x / n, np.einsum("cn,cni->ci", y, x) / n
    penalty = noise**2 / n * np.eye(d)
    ridge = (np.linalg.solve(second + penalty, right[..., None])[..., 0] * new).sum(axis=1)
    step = (right * new).sum(axis=1)
    a = (ridge * step).mean() / (step**2).mean()  # the best step for the target too
    apart = (ridge - a * step) ** 2 / d
    one = small("layers-to-ridge", n=n, d=d, noise=noise, layers=1)
    error = apart.std() / len(apart) ** 0.5
    assert one.predictions[0].low == pytest.approx(apart.mean(), abs=5 * error)
    found = find(one)
    assert (found.verdict, otherwise(found, one, 0.8 * apart.mean())) == ("cannot tell", "fails")


def test_the_drop_comes_when_the_equations_of_the_layer_say():
    n, d, start, step = 20, 3, 1e-3, 1e-4
    v, u, time = (start * d**0.5) ** 0.5, (start / d**0.5) ** 0.5, 0.0  # U = u I, |U| = v
    g = 1 + (d + 1) / n
    while v * u < 0.5 / g:  # of the mean loss d (1 - 2 v u + (v u)^2 g), by its gradient
        slope = 2 * d * (v * u * g - 1)
        v, u, time = v - step * slope * u, u - step * slope * v / d, time + step
    one = small("abrupt-drop", n=n, d=d, start=start)
    assert one.predictions[0].low == pytest.approx(time, rel=2e-3)
    assert one.predictions[0].high > one.predictions[0].low
    quick = small("abrupt-drop", n=n, d=d, start=0.1)
    found, predicted = find(quick), quick.predictions[0]
    assert (found.verdict, otherwise(found, quick, 0.9 * predicted.low)) == ("agrees", "fails")
