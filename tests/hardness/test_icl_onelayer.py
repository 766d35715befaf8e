"""One layer in closed form: against samples, differences and searches."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.icl import onelayer
from hardness.icl.onelayer import compared, study
from hardness.icl.prompts import Prompts, root
from hardness.report.icl import words
from tests.slopes import slopes_agree

LAWS = {
    "isotropic": Prompts.named(5, 20, "identity", "inverse", 0.0),
    "inverse": Prompts.named(4, 7, "toeplitz(0.5)", "inverse", 0.3),
    "one point": Prompts.named(3, 1, "diag(1,2,4)", "identity", 0.0),
    "turned": Prompts.named(5, 20, "rotated(1,2,3,4,50)", "toeplitz(0.5)", 0.7),
    "thin": Prompts.named(4, 10, "diag(1,0.0001,0.00000001,0.00000000001)", "toeplitz(0.9)", 0.1),
}


@pytest.fixture(params=LAWS.values(), ids=LAWS.keys())
def law(request):
    return request.param


def elsewhere(law):
    best = onelayer.optimum(law)
    noise = np.random.default_rng(3).standard_normal(best.shape)
    return best + 0.3 * np.abs(best).max() * noise


def test_the_gradient_is_that_of_the_loss(law):
    narrow, at = root(law.sigma, -0.5), elsewhere(law)
    # In whitened coordinates, by steps as large as one likes: the loss is quadratic.
    slope = narrow @ onelayer.gradient(law, at) @ narrow
    there = np.linalg.solve(narrow, np.linalg.solve(narrow, at).T).T
    slopes_agree(lambda z: onelayer.loss(law, narrow @ z @ narrow), slope, there, step=1e-2)


def test_the_closed_form_is_the_minimum(law):
    best = onelayer.optimum(law)
    least = onelayer.least_loss(law)
    assert np.abs(onelayer.gradient(law, best)).max() <= 1e-9
    assert onelayer.loss(law, best) == pytest.approx(least, abs=1e-12 * law.power)
    assert abs(onelayer.numerical(law, 1).loss - least) <= 1e-10
    assert least < onelayer.loss(law, 1.01 * best)
    m = onelayer.moment(law)
    assert np.allclose(m @ best, law.sigma @ law.task, rtol=1e-7)
    trace = law.power - np.trace(law.sigma @ best @ law.sigma @ law.task)
    assert least == pytest.approx(trace, rel=1e-9)


def test_monte_carlo_agrees(law):
    for place in (onelayer.optimum, elsewhere):
        a = place(law)
        value = onelayer.loss(law, a)
        given = onelayer.integrated(law, a, 10_000, 5)
        assert abs(compared(given, value).z) < 4
        part = law.draw(6, "raw prompts", 0, 10_000)  # heavy tails: a wider allowance
        step = (part.x[:, :-1] * part.y[:, :, None]).sum(axis=1) / law.n
        errors = (np.einsum("ci,ij,cj->c", step, a, part.x[:, -1]) - part.target) ** 2
        assert abs(errors.mean() - value) < 5 * errors.std() / 100
        assert abs(compared(given, 1.1 * value).z) > 4


def test_exact_values():
    for d, n in itertools.product((1, 2, 5, 9), (1, 20)):
        law = Prompts.named(d, n, "power(1)", "inverse", 0.0)
        assert onelayer.exact_least(law) == Fraction(d * (d + 1), n + d + 1)
        assert onelayer.exact_multipliers(law) == [Fraction(n, n + d + 1)] * d
        assert onelayer.least_loss(law) == pytest.approx(d * (d + 1) / (n + d + 1), rel=1e-13)
    assert str(onelayer.exact_least(LAWS["isotropic"])) == "15/13"
    noisy = Prompts.named(3, 4, "diag(0.1,1/3,2)", "diag(1,2,3)", 0.1)
    assert float(onelayer.exact_least(noisy)) == pytest.approx(
        onelayer.least_loss(noisy), rel=1e-14
    )
    assert onelayer.exact_least(LAWS["turned"]) is None
    irrational = Prompts.named(2, 4, "diag(1,2)", "identity", 2**0.5)
    assert onelayer.exact_least(irrational) is None


def test_levels_that_are_no_simple_fraction_are_not_called_exact():
    for level in (2**0.5, np.pi, 0.123456789):
        law = Prompts(n=20, sigma=np.eye(3), task=level * np.eye(3))
        assert onelayer.exact_least(law) is None
        assert onelayer.exact_multipliers(law) is None
    for sigma in ("rotated(1,3,7)", "diag(0.7,3,11)", "toeplitz(0.5)"):
        law = Prompts.named(3, 20, sigma, "inverse", 0.0)
        assert onelayer.exact_least(law) == Fraction(3 * 4, 24)
    law = Prompts(n=20, sigma=np.eye(3), task=0.3 * np.eye(3))
    assert onelayer.exact_least(law) == Fraction(3, 10) * Fraction(3 * 4, 24)


def test_the_bayes_predictor_is_ridge_and_no_layer_beats_it():
    law = LAWS["inverse"]
    part = law.draw(0, "one layer", 0, 4000)
    x, y = part.x[:, :-1], part.y
    inner = np.linalg.inv(law.task) + law.n * part.gram / law.noise**2
    w = np.linalg.solve(inner, (x * y[:, :, None]).sum(axis=1)[:, :, None])[:, :, 0]
    ridge = np.einsum(
        "ci,ij,cj->c", w / law.noise**2 - part.w, law.sigma, w / law.noise**2 - part.w
    )
    found = onelayer.bayes(law, 4000, 0)
    assert abs(ridge.mean() - found.mean) < 4 * ridge.std() / 4000**0.5
    assert found.mean < onelayer.least_loss(law)
    assert onelayer.bayes(LAWS["isotropic"], 10, 0).mean == 0
    assert onelayer.bayes(LAWS["one point"], 2000, 0).mean < onelayer.least_loss(LAWS["one point"])


def test_bayes_of_few_points_is_what_they_do_not_span():
    law = Prompts.named(4, 2, "rotated(1,2,5,9)", "toeplitz(0.5)", 0.0)
    part = law.draw(3, "one layer", 0, 50)
    costs = []
    for x in part.x[:, :-1]:
        kept = law.task @ x.T @ np.linalg.solve(x @ law.task @ x.T, x @ law.task)
        costs.append(np.trace(law.sigma @ (law.task - kept)))
    assert onelayer.bayes(law, 50, 3).mean == pytest.approx(np.mean(costs))


def test_studies_say_how_each_number_is_known():
    for name in ("isotropic", "turned"):
        found = study(LAWS[name], samples=200)
        text = words(found)
        assert ("= 15/13 (exact)" in text) == (name == "isotropic")
        assert f"z = {found.integrated.z:+.2f}" in text
        assert abs(found.numerical.difference) <= 1e-10
        assert found.gradient <= 1e-9
