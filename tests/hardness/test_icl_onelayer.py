import itertools
import json
from fractions import Fraction

import numpy as np
import pytest

from hardness.icl import evidence, onelayer
from hardness.icl.optimum_study import study
from hardness.report.charts.icl import of_icl
from hardness.report.icl import optimum_words
from instances.covariance import root
from instances.errors import UsageError
from instances.prompts import Prompts
from tests.charts import said

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
    slope = onelayer.gradient(law, at)
    for way in np.random.default_rng(0).standard_normal((5, law.d, law.d)):
        step = narrow @ way @ narrow * 1e-4
        # The loss is quadratic: a central difference has no error but rounding.
        found = onelayer.loss(law, at + step) - onelayer.loss(law, at - step)
        assert found == pytest.approx(2 * np.sum(slope * step), rel=1e-6, abs=1e-11 * law.power)


def test_the_closed_form_is_the_minimum(law):
    best = onelayer.optimum(law)
    least = onelayer.least(law)
    assert np.abs(onelayer.gradient(law, best)).max() <= 1e-9
    assert onelayer.loss(law, best) == pytest.approx(least, abs=1e-12 * law.power)
    assert abs(evidence.numerical(law, 1).loss - least) <= 1e-10
    assert least < onelayer.loss(law, 1.01 * best)
    m = onelayer.moment(law)
    assert np.allclose(m @ best, law.sigma @ law.task, rtol=1e-7)
    trace = law.power - np.trace(law.sigma @ best @ law.sigma @ law.task)
    assert least == pytest.approx(trace, rel=1e-9)


@pytest.mark.parametrize("place", [onelayer.optimum, elsewhere])
def test_monte_carlo_agrees(law, place):
    a = place(law)
    value = onelayer.loss(law, a)
    given = evidence.integrated(law, a, 20_000, 5)
    raw = evidence.raw(law, a, 20_000, 5)
    assert abs(given.z(value)) < 4
    assert abs(raw.z(value)) < 5
    assert given.error < raw.error / 2 or law.n == 1
    assert raw.kurtosis > 20
    assert abs(given.z(1.1 * value)) > 4


def test_the_loss_given_s_is_the_mean_over_task_noise_and_query():
    law, gram = LAWS["turned"], LAWS["turned"].draw(0, "x", 0, 1).gram[0]
    a, rng = elsewhere(law), np.random.default_rng(0)
    w = rng.standard_normal((400_000, 5)) @ root(law.task, 0.5)
    error = rng.standard_normal((400_000, 5)) @ root(gram, 0.5) * law.noise / law.n**0.5
    query = rng.standard_normal((400_000, 5)) @ root(law.sigma, 0.5)
    found = (((w @ gram + error) @ a - w) * query).sum(axis=1) ** 2
    exact = evidence.given_gram(law, a, gram[None])[0]
    assert abs(found.mean() - exact) < 4 * found.std() / 400_000**0.5


def test_exact_values():
    for d, n in itertools.product((1, 2, 5, 9), (1, 20)):
        law = Prompts.named(d, n, "power(1)", "inverse", 0.0)
        assert onelayer.exact_least(law) == Fraction(d * (d + 1), n + d + 1)
        assert onelayer.exact_multipliers(law) == [Fraction(n, n + d + 1)] * d
        assert onelayer.least(law) == pytest.approx(d * (d + 1) / (n + d + 1), rel=1e-13)
    assert str(onelayer.exact_least(LAWS["isotropic"])) == "15/13"
    noisy = Prompts.named(3, 4, "diag(0.1,1/3,2)", "diag(1,2,3)", 0.1)
    assert float(onelayer.exact_least(noisy)) == pytest.approx(onelayer.least(noisy), rel=1e-14)
    assert onelayer.exact_least(LAWS["turned"]) is None
    irrational = Prompts.named(2, 4, "diag(1,2)", "identity", 2**0.5)
    assert onelayer.exact_least(irrational) is None


def test_the_optimum_for_task_identity_in_the_eigenbasis():
    law = Prompts.named(5, 20, "rotated(1,2,3,4,50)", "identity", 0.0)
    values, basis = np.linalg.eigh(law.sigma)
    expected = (basis / (21 / 20 * values + values.sum() / 20)) @ basis.T
    assert np.allclose(onelayer.optimum(law), expected, rtol=0, atol=1e-13)


def test_the_bayes_predictor_is_ridge_and_no_layer_beats_it():
    law = LAWS["inverse"]
    part = law.draw(0, "one layer", 0, 4000)
    x, y = part.x[:, :-1], part.y
    inner = np.linalg.inv(law.task) + law.n * part.gram / law.noise**2
    w = np.linalg.solve(inner, (x * y[:, :, None]).sum(axis=1)[:, :, None])[:, :, 0]
    ridge = np.einsum(
        "ci,ij,cj->c", w / law.noise**2 - part.w, law.sigma, w / law.noise**2 - part.w
    )
    found = evidence.bayes(law, 4000, 0)
    assert abs(ridge.mean() - found.mean) < 4 * ridge.std() / 4000**0.5
    assert found.mean < onelayer.least(law)
    assert evidence.bayes(LAWS["isotropic"], 10, 0).mean == 0
    assert evidence.bayes(LAWS["one point"], 2000, 0).mean < onelayer.least(LAWS["one point"])


def test_large_dimensions():
    law = Prompts.named(256, 1000, "power(1)", "toeplitz(0.5)", 0.5)
    best = onelayer.optimum(law)
    assert np.abs(onelayer.gradient(law, best)).max() <= 1e-9
    assert onelayer.loss(law, best) == pytest.approx(onelayer.least(law), rel=1e-12)


def test_bad_requests():
    with pytest.raises(UsageError, match=r"A of shape \(2, 2\) given: d = 5"):
        onelayer.loss(LAWS["isotropic"], np.eye(2))
    for samples in (0, 1):
        with pytest.raises(UsageError, match=f"samples={samples} given: at least 2"):
            study(LAWS["isotropic"], samples=samples)


@pytest.mark.parametrize("name", ["isotropic", "turned"])
def test_words_and_figure(name):
    result = study(LAWS[name], samples=200, runs=3)
    data = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    text = optimum_words(result.to_dict())
    assert max(map(len, text.splitlines())) <= 80
    assert ("= 15/13 (exact)" in text) == (name == "isotropic")
    assert f"z = {result.integrated.z(result.least):+.2f}" in text
    assert abs(data["numerical"]["difference"]) <= 1e-10
    assert data["gradient"] <= 1e-9
    assert "one layer, L*: closed form" in said("icl", of_icl(data))


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


def test_an_exact_root_count_is_claimed_only_where_it_has_none():
    data = study(LAWS["isotropic"], samples=100).to_dict()
    assert "no spurious local minimum at all: exact root count" in optimum_words(data)
    missed = optimum_words({**data, "dips": 1})
    assert "at all" not in missed
    assert "exact root count has 1" in missed
    one = study(Prompts(n=5, sigma=np.eye(1), task=np.eye(1)), samples=100).to_dict()
    assert one["dips"] == 1  # the optimum, written in another way
    assert "at all: exact root count" in optimum_words(one)


def test_bayes_of_few_points_is_what_they_do_not_span():
    law = Prompts.named(4, 2, "rotated(1,2,5,9)", "toeplitz(0.5)", 0.0)
    part = law.draw(3, "one layer", 0, 50)
    costs = []
    for x in part.x[:, :-1]:
        kept = law.task @ x.T @ np.linalg.solve(x @ law.task @ x.T, x @ law.task)
        costs.append(np.trace(law.sigma @ (law.task - kept)))
    assert evidence.bayes(law, 50, 3).mean == pytest.approx(np.mean(costs))
