"""One layer in closed form, and all its parameters: against samples, differences and searches."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.icl import evidence, landscape, onelayer
from hardness.icl.evidence import compared, study
from hardness.icl.landscape import curve, diagonal, ends, exact_dips, rank_one, stationary
from hardness.report.charts.icl import of_icl
from hardness.report.icl import words
from instances.covariance import root
from instances.prompts import Prompts
from tests.charts import said
from tests.slopes import slopes_agree

LAWS = {
    "isotropic": Prompts.named(5, 20, "identity", "inverse", 0.0),
    "inverse": Prompts.named(4, 7, "toeplitz(0.5)", "inverse", 0.3),
    "one point": Prompts.named(3, 1, "diag(1,2,4)", "identity", 0.0),
    "turned": Prompts.named(5, 20, "rotated(1,2,3,4,50)", "toeplitz(0.5)", 0.7),
    "thin": Prompts.named(4, 10, "diag(1,0.0001,0.00000001,0.00000000001)", "toeplitz(0.9)", 0.1),
}
LAW = Prompts.named(3, 4, "rotated(1,2,5)", "toeplitz(0.5)", 0.7)


@pytest.fixture(params=LAWS.values(), ids=LAWS.keys())
def law(request):
    return request.param


def elsewhere(law):
    best = onelayer.optimum(law)
    noise = np.random.default_rng(3).standard_normal(best.shape)
    return best + 0.3 * np.abs(best).max() * noise


def isotropic(d, n, noise=0.0):
    return Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)


def test_the_gradient_is_that_of_the_loss(law):
    narrow, at = root(law.sigma, -0.5), elsewhere(law)
    # In whitened coordinates, by steps as large as one likes: the loss is quadratic.
    slope = narrow @ onelayer.gradient(law, at) @ narrow
    there = np.linalg.solve(narrow, np.linalg.solve(narrow, at).T).T
    slopes_agree(lambda z: onelayer.loss(law, narrow @ z @ narrow), slope, there, step=1e-2)


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


def test_monte_carlo_agrees(law):
    for place in (onelayer.optimum, elsewhere):
        a = place(law)
        value = onelayer.loss(law, a)
        given = evidence.integrated(law, a, 10_000, 5)
        raw = evidence.raw(law, a, 10_000, 5)
        assert abs(compared(given, value).z) < 4
        assert abs(compared(raw, value).z) < 5
        assert given.error < raw.error / 2 or law.n == 1
        assert raw.kurtosis > 20
        assert abs(compared(given, 1.1 * value).z) > 4


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
    found = evidence.bayes(law, 4000, 0)
    assert abs(ridge.mean() - found.mean) < 4 * ridge.std() / 4000**0.5
    assert found.mean < onelayer.least(law)
    assert evidence.bayes(LAWS["isotropic"], 10, 0).mean == 0
    assert evidence.bayes(LAWS["one point"], 2000, 0).mean < onelayer.least(LAWS["one point"])


def test_bayes_of_few_points_is_what_they_do_not_span():
    law = Prompts.named(4, 2, "rotated(1,2,5,9)", "toeplitz(0.5)", 0.0)
    part = law.draw(3, "one layer", 0, 50)
    costs = []
    for x in part.x[:, :-1]:
        kept = law.task @ x.T @ np.linalg.solve(x @ law.task @ x.T, x @ law.task)
        costs.append(np.trace(law.sigma @ (law.task - kept)))
    assert evidence.bayes(law, 50, 3).mean == pytest.approx(np.mean(costs))


def test_large_dimensions():
    law = Prompts.named(256, 1000, "power(1)", "toeplitz(0.5)", 0.5)
    best = onelayer.optimum(law)
    assert np.abs(onelayer.gradient(law, best)).max() <= 1e-9
    assert onelayer.loss(law, best) == pytest.approx(onelayer.least(law), rel=1e-12)


def test_studies_say_how_each_number_is_known():
    for name in ("isotropic", "turned"):
        found = study(LAWS[name], samples=200, runs=3)
        text = words(found)
        assert ("= 15/13 (exact)" in text) == (name == "isotropic")
        assert f"z = {found.integrated.z:+.2f}" in text
        assert abs(found.numerical.difference) <= 1e-10
        assert found.gradient <= 1e-9
        assert "one layer, L*: closed form" in said("icl", of_icl(found.to_dict()))
        assert type(found).read(found.to_dict()) == found
        counted = "no spurious local minimum at all: exact root count" in text
        assert counted == (name == "isotropic")
        missed = words(found.updated(dips=1))
        assert "at all" not in missed
        assert ("exact root count has 1" in missed) == (not found.spurious)
    one = study(Prompts(n=5, sigma=np.eye(1), task=np.eye(1)), samples=100, runs=3)
    assert one.dips == 1  # the optimum, written in another way
    assert "at all: exact root count" in words(one)


@pytest.fixture
def point():
    rng = np.random.default_rng(0)
    return 0.5 * rng.standard_normal(4), 0.3 * rng.standard_normal((4, 3))


def test_the_loss_is_that_of_prompts(point):
    b, a = point
    part = LAW.draw(0, "landscape", 0, 200_000)
    z = np.concatenate([part.x[:, :-1], part.y[:, :, None]], axis=2)
    reads = np.einsum("cni,cnj,i->cj", z, z, b) / LAW.n
    off = reads @ a - part.w
    found = np.einsum("ci,ij,cj->c", off, LAW.sigma, off)
    exact = landscape.full_loss(LAW, b, a)
    assert abs(found.mean() - exact) < 4 * found.std() / 200_000**0.5


def test_gradient_and_hessian_by_differences(point):
    def value(x):
        return landscape.full_loss(LAW, *landscape.unpack(x))

    def slope(x):
        return landscape.pack(*landscape.full_gradient(LAW, *landscape.unpack(x)))

    flat = landscape.pack(*point)
    slopes_agree(value, slope(flat), flat)
    slopes_agree(slope, landscape.full_hessian(LAW, *point), flat, ways=len(flat))


def test_the_global_minimum_is_the_layer_of_a_alone(point):
    best = np.vstack([onelayer.optimum(LAW), np.zeros(3)])
    b, least = np.array([0, 0, 0, 1.0]), onelayer.least(LAW)
    assert landscape.full_loss(LAW, b, best) == pytest.approx(least)
    assert landscape.full_loss(LAW, 3 * b, best / 3) == pytest.approx(least)
    assert np.abs(landscape.pack(*landscape.full_gradient(LAW, b, best))).max() < 1e-12
    values = np.linalg.eigvalsh(landscape.full_hessian(LAW, b, best))
    assert np.sum(np.abs(values) < 1e-9 * values[-1]) == 1  # (c b, A / c)
    assert values[0] > -1e-9 * values[-1]
    assert np.allclose(landscape.best_given(LAW, b), best)
    b, a = point  # what theorem says: L of the effective matrix, and a penalty of at least 0
    effective = b[-1] * a[:-1] + np.outer(b[:-1], a[-1])
    assert landscape.full_loss(LAW, b, a) >= onelayer.loss(LAW, effective)
    for b in np.random.default_rng(1).standard_normal((200, 4)):
        assert landscape.full_loss(LAW, b, landscape.best_given(LAW, b)) >= least


def test_curves_are_least_losses_given_b():
    plain, u = diagonal(LAW), np.logspace(-3, 3, 7)
    for j, (i, at) in itertools.product(range(3), enumerate(u)):
        value, b = curve(LAW, j, u)[i], np.append(np.eye(3)[j] * at**0.5, 1)
        a = landscape.best_given(plain, b)
        assert landscape.full_loss(plain, b, a) == pytest.approx(value, rel=1e-12)
        along = landscape.full_gradient(plain, b, a)[0]
        assert np.abs(np.delete(along, [j, 3])).max() < 1e-12  # flips of signs change nothing
    assert curve(LAW, 0, np.array([1e12]))[0] == pytest.approx(rank_one(LAW).loss, rel=1e-6)


def test_the_sign_of_the_margin_is_that_of_the_hessian():
    seen = set()
    for d in range(1, 9):
        for n in (1, 3, 30):
            for noise in (0.0, 20.0):
                for task in (np.ones(d), 0.3 ** np.arange(d), 0.1 ** np.arange(d)):
                    law = Prompts(n=n, sigma=np.eye(d), task=np.diag(task), noise=noise)
                    end = next(p for p in stationary(law) if p.u is None and p.j == 0)
                    known = rank_one(law)
                    assert end.loss == pytest.approx(known.loss)
                    if abs(known.margin) < 1e-6:
                        continue
                    assert end.negative == (known.margin < 0)
                    assert end.minimum == (end.negative == 0)
                    assert end.flat == (d if task[-1] == 1 else 1)
                    seen.add((end.minimum, d > 1))
    assert seen == {(True, False), (True, True), (False, True)}


def test_minima_are_counted_exactly_and_spurious_from_some_length_on():
    for d, first in ((3, 24), (4, 53), (5, 89), (6, 134)):
        for n in (first - 2, first - 1, first, first + 1, 10 * first):
            law = isotropic(d, n)
            found = [p for p in stationary(law) if p.minimum]
            assert [(p.negative, p.flat) for p in found] == [(0, d)] * (n >= first), (d, n)
            assert all(p.loss > onelayer.least(law) for p in found)
    for d in range(1, 7):
        for noise in (0.0, 0.5, 20.0):
            for n in (1, 2, 10, 100, 1000):
                law = isotropic(d, n, noise)
                assert exact_dips(law) == sum(p.minimum for p in stationary(law)), (d, n, noise)
    assert exact_dips(LAW) is None


def test_random_starts_end_at_the_points_that_are_known():
    assert ends(isotropic(3, 10), 10, 0.1, 0).optimal == 10
    law = Prompts(n=20, sigma=np.diag([4.0, 1.0]), task=np.eye(2) / 2, noise=0.1)
    [bad] = [p for p in stationary(law) if p.minimum]
    found = ends(law, 20, 0.1, 0, [bad.loss])
    [trap] = found.spurious
    assert trap.loss == bad.loss
    assert found.optimal + trap.count == found.starts == 20
    assert min(found.optimal, trap.count) > 2


def test_whitening_and_turning_keep_the_loss(point):
    """sigma and the task do not commute in LAW; in the whitened law everything is diagonal."""
    b, a = point
    plain, half = diagonal(LAW), root(LAW.sigma, 0.5)
    values, basis = np.linalg.eigh(half @ LAW.task @ half)
    assert values[::-1] == pytest.approx(np.diag(plain.task))
    turn = half @ basis[:, ::-1]
    within = np.append(turn.T @ b[:-1], b[-1])
    layer = np.vstack([turn.T @ a[:-1], a[-1:]]) @ turn
    for size in (0.0, 1.0, 30.0):  # of the part that reads sum_i y_i^2
        scale = np.array([1, 1, 1, size])[:, None]
        wanted = landscape.full_loss(LAW, b, scale * a)
        assert landscape.full_loss(plain, within, scale * layer) == pytest.approx(wanted, rel=1e-12)


def test_every_direction_has_a_layer_of_rank_one_and_all_but_the_best_are_saddles():
    kappa = np.array([1.0, 0.7, 0.2])
    law = Prompts(n=50, sigma=np.eye(3), task=np.diag(kappa), noise=0.3)
    found = {p.j: p for p in stationary(law) if p.u is None}
    best = 51 / 50 * kappa + onelayer.spread(law)
    assert [found[j].loss for j in range(3)] == pytest.approx(kappa.sum() - kappa**2 / best)
    assert found[1].negative > 0
    assert found[2].negative > 0
    assert exact_dips(law) is None  # no rotation makes one curve of all
