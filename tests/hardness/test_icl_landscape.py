import numpy as np
import pytest

from hardness.icl import landscape, onelayer
from hardness.icl.roots import exact_dips
from hardness.icl.starts import ends
from hardness.icl.stationary import (
    curve,
    rank_one_loss,
    rank_one_margin,
    stationary,
    whitened,
)
from instances.covariance import root
from instances.errors import UsageError
from instances.prompts import Prompts

LAW = Prompts.named(3, 4, "rotated(1,2,5)", "toeplitz(0.5)", 0.7)


@pytest.fixture
def point():
    rng = np.random.default_rng(0)
    return 0.5 * rng.standard_normal(4), 0.3 * rng.standard_normal((4, 3))


def isotropic(d, n, noise=0.0):
    return Prompts(n=n, sigma=np.eye(d), task=np.eye(d), noise=noise)


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
    flat, h = landscape.pack(*point), 1e-6

    def slope(x):
        return landscape.pack(*landscape.full_gradient(LAW, *landscape.unpack(x)))

    def value(x):
        return landscape.full_loss(LAW, *landscape.unpack(x))

    units = np.eye(len(flat)) * h
    first = [(value(flat + e) - value(flat - e)) / (2 * h) for e in units]
    second = [(slope(flat + e) - slope(flat - e)) / (2 * h) for e in units]
    assert np.allclose(first, slope(flat), rtol=1e-6, atol=1e-6)
    assert np.allclose(second, landscape.full_hessian(LAW, *point), rtol=1e-6, atol=1e-6)


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


@pytest.mark.parametrize("j", [0, 1, 2])
def test_curves_are_least_losses_given_b(j):
    plain = whitened(LAW)
    u = np.logspace(-3, 3, 7)
    for value, at in zip(curve(LAW, j, u), u, strict=True):
        b = np.append(np.eye(3)[j] * at**0.5, 1)
        a = landscape.best_given(plain, b)
        assert landscape.full_loss(plain, b, a) == pytest.approx(value, rel=1e-12)
        along = landscape.full_gradient(plain, b, a)[0]
        assert np.abs(np.delete(along, [j, 3])).max() < 1e-12  # flips of signs change nothing
    assert curve(LAW, 0, np.array([1e12]))[0] == pytest.approx(rank_one_loss(LAW), rel=1e-6)


def test_the_sign_of_the_margin_is_that_of_the_hessian():
    seen = set()
    for d in range(1, 9):
        for n in (1, 3, 30):
            for noise in (0.0, 20.0):
                for task in (np.ones(d), 0.3 ** np.arange(d), 0.1 ** np.arange(d)):
                    law = Prompts(n=n, sigma=np.eye(d), task=np.diag(task), noise=noise)
                    end = next(p for p in stationary(law) if p.u is None and p.j == 0)
                    assert end.loss == pytest.approx(rank_one_loss(law))
                    if abs(rank_one_margin(law)) < 1e-6:
                        continue
                    assert end.negative == (rank_one_margin(law) < 0)
                    assert end.flat == (d if task[-1] == 1 else 1)
                    seen.add((end.minimum, d > 1))
    assert seen == {(True, False), (True, True), (False, True)}


@pytest.mark.parametrize(("d", "first"), [(3, 24), (4, 53), (5, 89), (6, 134)])
def test_isotropic_layers_have_a_spurious_minimum_from_some_length_on(d, first):
    for n in (first - 2, first - 1):
        assert not any(p.minimum for p in stationary(isotropic(d, n)))
    for n in (first, first + 1, 10 * first):
        found = [p for p in stationary(isotropic(d, n)) if p.minimum]
        assert [(p.negative, p.flat) for p in found] == [(0, d)]
        assert found[0].loss > onelayer.least(isotropic(d, n))


@pytest.mark.parametrize("d", range(1, 7))
@pytest.mark.parametrize("noise", [0.0, 0.5, 20.0])
def test_minima_on_the_curve_are_counted_exactly(d, noise):
    for n in (1, 2, 10, 100, 1000):
        law = isotropic(d, n, noise)
        assert exact_dips(law) == sum(bool(p.minimum) for p in stationary(law))
    assert exact_dips(LAW) is None


def test_random_starts_end_at_the_points_that_are_known():
    short = ends(isotropic(3, 10), 10, 0.1, 0)
    assert short.near(onelayer.least(isotropic(3, 10)), 3.0) == 10
    law = Prompts(n=20, sigma=np.diag([4.0, 1.0]), task=np.eye(2) / 2, noise=0.1)
    bad = [p for p in stationary(law) if p.minimum]
    found = ends(law, 20, 0.1, 0)
    at_best, at_bad = found.near(onelayer.least(law), law.power), found.near(bad[0].loss, law.power)
    assert len(bad) == 1
    assert at_best + at_bad == 20
    assert min(at_best, at_bad) > 2


def test_bad_requests(point):
    with pytest.raises(UsageError, match=r"b of shape \(3,\)"):
        landscape.full_loss(LAW, np.zeros(3), point[1])
    with pytest.raises(UsageError, match="d=9 given: random starts are run up to d = 8"):
        ends(isotropic(9, 20), 1, 0.1, 0)
    with pytest.raises(UsageError, match="scale 0"):
        ends(isotropic(2, 20), 1, 0, 0)


def test_whitening_and_turning_keep_the_loss(point):
    """sigma and the task do not commute in LAW; in the whitened law everything is diagonal."""
    b, a = point
    plain, half = whitened(LAW), root(LAW.sigma, 0.5)
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
