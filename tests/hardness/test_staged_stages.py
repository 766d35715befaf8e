"""Each stage by itself, on input whose answer is planted, and what no stage may depend on."""

import dataclasses
import itertools
import sys
from functools import cache

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.optimize import minimize

from hardness.learners.fitting import Data, columns, linearize, relative_error, repeated
from hardness.learners.levenberg import enough
from hardness.learners.staged import (
    StageFailed,
    agreement,
    constraints,
    hull,
    moment,
    net,
    polish,
    project,
    prune,
    refine,
    single,
    span,
)
from hardness.learners.staged.hull import Constraints
from hardness.learners.staged.progress import Progress
from hardness.learners.staged.span import row_whitening, second_moment
from hardness.oracles import Budget, ExampleOracle, Meter, Spent
from instances import AttentionLayer, UsageError, parse
from instances.layer import softmax_rows
from tests.conftest import not_refused
from tests.planted import labelled, off_span, planted, true_span
from tests.slopes import slopes_agree


@cache
def stages(m, k, d, n, noise=0.0, gaussian=False):
    """Everything up to the hull, and the truth."""
    layer = planted(m, d)
    data = labelled(layer, n, k, 0, noise, gaussian)
    first = moment(data)
    refined = refine(first.w, data)
    return layer, data, first, refined, hull(constraints(refined.agreement, data))


def far(w, layer):
    """How far an estimate is from the sum of the W_i, relative."""
    truth = layer.w.sum(axis=0)
    return np.linalg.norm(w - truth) / np.linalg.norm(truth)


def nearest(layer):
    """The point of the affine hull of the Theta_i of least norm."""
    true, flat = true_span(layer), layer.theta[0].ravel()
    return (flat - true @ (true.T @ flat)).reshape(layer.theta[0].shape)


def off_hull(centre, layer):
    """Distance of a point from the affine hull of the Theta_i, relative to their norm."""
    true, off = true_span(layer), (centre - layer.theta[0]).ravel()
    return np.linalg.norm(off - true @ (true.T @ off)) / np.linalg.norm(layer.theta[0])


# Stages 1 to 3


def test_moment_is_least_squares_on_the_sums_of_tokens():
    data = labelled(planted(2, 6), 500, 3)
    x, y = data.x.sum(axis=1), data.y.sum(axis=1)
    found = moment(data)
    with_one = np.concatenate([x, np.ones((len(x), 1))], axis=1)
    assert np.allclose(found.w, np.linalg.lstsq(with_one, y, rcond=None)[0][:-1])
    rows = data.y.reshape(-1, 6)
    square = np.sum(np.linalg.svd(rows)[1] ** 2) / len(rows) / 6
    assert found.measures["label_square"] == pytest.approx(square)
    assert found.measures["label_rank"] == 6


def test_too_few_examples_and_labels_of_zero_are_refused():
    data = labelled(planted(2, 8), 128)
    for count, needs, stage in ((31, 32, moment), (127, 128, lambda data: refine(np.eye(8), data))):
        with pytest.raises(StageFailed, match=f"at least {needs} are needed") as error:
            stage(data.cut(0, count))
        assert error.value.needs == needs
        stage(data.cut(0, needs))
    with pytest.raises(StageFailed, match="all labels are zero"):
        moment(Data(x=data.x, y=0 * data.y))


@pytest.mark.parametrize(("k", "d"), [(2, 5), (3, 5), (4, 6)])
def test_patterns_are_constrained_least_squares(k, d):
    rng = np.random.default_rng(k)
    data = Data(x=rng.normal(size=(3, k, d)), y=rng.normal(size=(3, k, d)))
    w = rng.normal(size=(d, d))
    found = agreement(w, data)
    assert np.allclose(found.patterns.sum(axis=-1), 1)
    z = data.x @ w
    pairs = [z[:, i] - z[:, j] for i in range(k) for j in range(k) if i != j]
    assert found.scale == pytest.approx(np.sqrt(np.mean(np.sum(np.square(pairs), axis=-1))))
    for e, a in itertools.product(range(3), range(k)):
        best = minimize(
            lambda v, e=e, a=a: np.sum((data.y[e, a] - v @ z[e]) ** 2),
            np.full(k, 1 / k),
            constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
            tol=1e-14,
        )
        assert np.allclose(found.patterns[e, a], best.x, atol=1e-5)
        assert found.residuals[e, a] * found.scale == pytest.approx(np.sqrt(best.fun))


# Stages 4 and 5


@pytest.mark.parametrize(
    ("m", "k", "d", "n", "noise", "gaussian", "fine", "off"),
    [
        (2, 2, 10, 8_000, 0.0, False, 2e-3, 0.02),
        (2, 2, 10, 8_000, 0.0, True, 2e-3, 0.02),
        (2, 2, 10, 8_000, 0.01, False, 5e-3, 0.03),
        (3, 2, 10, 15_000, 0.0, False, 6e-3, 0.12),
        (2, 3, 8, 20_000, 0.0, False, 3e-2, 0.09),
    ],
)
def test_stages_find_sum_hull_span_and_heads(m, k, d, n, noise, gaussian, fine, off):
    layer, data, first, refined, around = stages(m, k, d, n, noise, gaussian)
    assert 0.05 < far(first.w, layer) < 0.3
    assert far(refined.w, layer) < fine
    along = span(around.constraints, data)
    assert along.heads == m
    assert along.gap > 3
    values = along.figures["eigenvalues"]
    assert along.gap == pytest.approx(values[m - 1] / values[m - 2])
    assert off_span(along.directions, layer) < off
    assert off_hull(around.centre, layer) < off
    assert around.rows <= 40 * d * d // k
    if (m, k) == (2, 2):  # where rows count alike it is all much worse
        flat = dataclasses.replace(around.constraints, weights=np.ones(len(around.constraints)))
        assert off_span(span(flat, data, heads=2).directions, layer) > 3 * off
        assert off_hull(hull(flat).centre, layer) > 1.5 * off


def test_tokens_that_coincide_and_examples_that_repeat_tell_nothing_new():
    layer = planted(1, 4)
    x = labelled(layer, 64, gaussian=True).x
    twins = x.copy()
    twins[::2, 1] = twins[::2, 0]
    data = Data(x=twins, y=layer(twins))
    found = agreement(layer.w[0], data)
    assert np.allclose(found.patterns[::2], 0.5, atol=1e-2)
    taken = constraints(found, data)
    assert taken.right.any(axis=1).all()
    assert np.allclose(taken.u @ layer.theta[0].ravel(), taken.b, atol=1e-6)
    # Nor do examples that come again, be it but for rounding, or with their tokens turned round.
    often, turned = np.tile(x, (5, 1, 1)), np.concatenate([x, x[:, ::-1]])
    assert (~repeated(often @ np.random.default_rng(0).normal(size=(4, 4)))).sum() == 64

    def taken_from(x, rows=0):
        data = Data(x=x, y=layer(x))
        return np.sort(np.abs(constraints(agreement(1.1 * layer.w[0], data), data, rows).b))

    np.testing.assert_allclose(taken_from(often, 40), taken_from(x, 40))
    np.testing.assert_allclose(taken_from(turned), taken_from(x))


@cache
def exact(m, d, rows=400, seed=0):
    """Log-ratios of rows of normal tokens on which all heads agree exactly, and the heads."""
    layer = planted(m, d, seed)
    theta = layer.theta
    rng = np.random.default_rng([seed, m, d, 1])
    left = rng.normal(size=(rows, d))
    right = np.empty((rows, d))
    for r, x in enumerate(left):
        free = null_space(np.stack([x @ (one - theta[0]) for one in theta[1:]] or [np.zeros(d)]))
        right[r] = free @ (free.T @ rng.normal(size=d))
    b = np.einsum("ra,ab,rb->r", left, theta[0], right)
    ones = np.ones(rows)
    found = Constraints(left=left, right=right, b=b, weights=ones, residuals=0 * ones, rows=rows)
    return layer, found, labelled(layer, 500, gaussian=True)


@pytest.mark.parametrize(("m", "d"), [(1, 4), (2, 4), (3, 6), (4, 6)])
def test_exact_log_ratios_determine_the_affine_hull_and_nothing_else(m, d):
    """The ridge moves the centre by at most itself over the least eigenvalue that is not zero.

    Rounding, n unknowns and a condition number c: n eps c of the first solution, its square and
    n eps sqrt(c), as of the constraints themselves, of the refined one.
    """
    layer, found, data = exact(m, d)
    around = hull(found, ridge=1e-10, accuracy=1e-15)
    values = np.linalg.eigvalsh(second_moment(found))
    shift = 1e-10 * values.mean()
    condition, unit = values[-1] / shift, d * d * np.finfo(float).eps
    relative = shift / values[m - 1] + (unit * condition) ** 2 + unit * np.sqrt(condition)
    point = nearest(layer)
    assert np.linalg.norm(around.centre - point) < relative * np.linalg.norm(point)
    assert relative < 1e-7
    assert (values[: m - 1] < unit * values[-1]).all()
    assert values[m - 1] > 1e-3
    if m > 1:
        along = span(found, data)
        assert along.heads == m
        assert along.gap > 1e6
        assert off_span(along.directions, layer) < 1e-5


def test_the_number_of_heads_may_be_given_and_has_bounds():
    _, found, data = exact(3, 6)
    for count in (1, 2, 20):
        along = span(found, data, heads=count)
        assert (along.heads, along.directions.shape) == (count, (count - 1, 6, 6))
    with pytest.raises(StageFailed, match="at most d"):
        span(found, data, heads=37)


def test_the_span_by_products_is_that_by_matrices(monkeypatch):
    _, data, _, _, around = stages(3, 2, 10, 15_000)
    by_matrices = span(around.constraints, data)
    monkeypatch.setattr(sys.modules["hardness.learners.staged.span"], "MATRIX_D", 8)
    by_products = span(around.constraints, data)
    assert by_products.heads == by_matrices.heads == 3
    assert by_products.gap == pytest.approx(by_matrices.gap, rel=0.3)
    one, other = (a.directions.reshape(2, -1) for a in (by_matrices, by_products))
    assert np.linalg.svd(one @ other.T, compute_uv=False).min() > 0.995


def test_the_law_of_all_rows_is_what_data_shows():
    x = np.random.default_rng(0).normal(0.0, 0.1, (20_000, 3, 4))
    data = Data(x=x, y=x)
    half = np.stack([row_whitening(data)(unit) for unit in np.eye(16)])
    shown = np.zeros((16, 16))
    for a, i, j in itertools.product(range(3), repeat=3):
        u = data.x[:, a, :, None] * (data.x[:, i] - data.x[:, j])[:, None]
        shown += np.tensordot(u, u, axes=(0, 0)).reshape(16, 16) / (18 * len(data))
    np.testing.assert_allclose(half @ shown @ half, np.eye(16), atol=0.07)


# A single head


@pytest.mark.parametrize(("k", "d", "gaussian"), [(2, 16, False), (3, 8, False), (4, 12, True)])
def test_a_single_head_is_exact_from_few_examples(k, d, gaussian):
    layer = planted(1, d)
    data = labelled(layer, 4 * d * d, k, gaussian=gaussian)
    stop = len(data) * 7 // 8
    held_out = data.cut(stop, len(data))
    found = single(moment(data), data.cut(0, stop), held_out)
    assert found.recognised
    assert found.error < 1e-20
    assert np.allclose(found.theta, layer.theta, atol=1e-8)
    assert np.allclose(found.w, layer.w, atol=1e-8)
    double = Data(x=held_out.x, y=2 * held_out.y)
    assert single(moment(data), data.cut(0, stop), double).error == pytest.approx(0.25)


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
def test_a_single_head_is_told_from_two(noise):
    for m in (1, 2):
        data = labelled(planted(m, 12, 2), 2_000, noise=noise)
        found = single(moment(data), data.cut(0, 1_800), data.cut(1_800, 2_000))
        assert found.recognised == (m == 1)
        assert (found.error > 0.1) == (m == 2)


def test_rows_that_agree_up_to_noise_are_no_head_whose_logits_explain_too_little():
    """Logits that are not linear: patterns leave noise alone, and the head up to twice as much."""
    layer, ratios = planted(1, 12, 2), []
    for noise in (0.04, 0.03):
        rng = np.random.default_rng(0)
        x = rng.choice([-1.0, 1.0], (2_000, 2, 12))
        logits = (x @ layer.theta[0]) @ x.swapaxes(1, 2)
        y = softmax_rows(logits + np.maximum(logits, 0) / 2) @ x @ layer.w[0]
        data = Data(x=x, y=y + noise * rng.normal(size=x.shape))
        found = single(moment(data), data.cut(0, 1_800), data.cut(1_800, 2_000))
        assert found.measures["evenness"] > 0.95
        ratios.append(found.error / found.measures["noise"])
        assert found.recognised == (ratios[-1] < 2)
    assert 1.5 < ratios[0] < 2 < ratios[1] < 3


# Stage 6 and the polish


def near_hull(layer, sine=0.0, seed=0):
    """The affine hull of a layer's heads, every direction turned by an angle of a given sine."""
    m, d = layer.m, layer.d
    rng = np.random.default_rng([seed, m, d, 1])
    along, centre = true_span(layer).T, nearest(layer).ravel()
    basis = np.linalg.qr(np.vstack([along, centre, rng.normal(size=(m, d * d))]).T)[0].T
    turned = np.sqrt(1 - sine**2) * along + sine * basis[m : 2 * m - 1]
    turned = np.linalg.qr(rng.normal(size=(m - 1, m - 1)))[0] @ turned
    moved = centre + sine / 2 * np.linalg.norm(centre) * basis[-1]
    return moved.reshape(d, d), turned.reshape(m - 1, d, d)


def fitted(found, data, validation):
    start = net(*found, data, validation, np.random.default_rng(0))
    return start, project(*found, start.leaders, data, validation)


@pytest.mark.parametrize(("k", "gaussian"), [(2, False), (3, True)])
def test_the_jacobian_is_that_of_the_layer_and_the_adjoint_is_its_adjoint(k, gaussian):
    layer = planted(3, 5)
    rng = np.random.default_rng(1)
    data = labelled(layer, 7, k, gaussian=gaussian)
    x, at = columns(data.x), np.stack([layer.theta, layer.w])
    here = linearize(*at, x)
    np.testing.assert_allclose(here.value, columns(layer(data.x)), atol=1e-13)
    units = np.eye(at.size).reshape(-1, *at.shape)
    slopes = np.stack([here.product(*unit).ravel() for unit in units], axis=1)
    slopes_agree(lambda at: linearize(*at, x).value, slopes, at)
    cotangent = rng.normal(size=here.value.shape)
    back = np.stack(here.adjoint(cotangent)).ravel()
    np.testing.assert_allclose(back, cotangent.ravel() @ slopes, atol=1e-12)


@pytest.mark.parametrize(
    ("m", "k", "d", "sine", "error"),
    [(2, 2, 12, 0.03, 2e-3), (3, 2, 10, 0.1, 1e-2), (3, 3, 8, 0.12, 2e-2), (4, 2, 8, 0.2, 3e-2)],
)
def test_heads_are_found_from_a_hull_that_is_off(m, k, d, sine, error):
    layer = planted(m, d)
    data, validation = labelled(layer, enough(m, k, d), k), labelled(layer, 300, k, 1)
    start, projected = fitted(near_hull(layer, sine), data, validation)
    assert projected.error < min(error, start.error)
    end = polish(projected.theta, projected.w, data, validation)
    assert end.error < 1e-27
    assert end.end == "exact"
    for part in (start, projected, end):
        fit = AttentionLayer(theta=part.theta, w=part.w)
        seen = relative_error(fit(validation.x), validation.y)
        assert part.error == pytest.approx(seen, rel=1e-6, abs=1e-27)


@pytest.mark.parametrize(("k", "gaussian"), [(2, True), (3, True), (4, False)])
def test_the_polish_ends_at_the_floor_of_the_noise(k, gaussian):
    """The excess over the noise is that of least squares: parameters / numbers, relative."""
    m, d, n, noise = 2, 6, 2000, 0.05
    layer = planted(m, d)
    data, validation = (
        labelled(layer, n, k, seed, noise, gaussian) for seed, n in ((0, n), (1, 1000))
    )
    rng = np.random.default_rng(0)
    start = (part * (1 + 0.3 * rng.normal(size=part.shape)) for part in (layer.theta, layer.w))
    end = polish(*start, data, validation)
    assert end.end == "flat"
    clean = labelled(layer, 1000, k, 1, 0.0, gaussian)
    excess = relative_error(AttentionLayer(theta=end.theta, w=end.w)(clean.x), clean.y)
    expected = noise**2 * 2 * m * d * d / (n * k * d) / np.mean(clean.y**2)
    assert 0.5 < excess / expected < 2
    floor = noise**2 / np.mean(validation.y**2)
    assert end.error == pytest.approx(floor, rel=0.1)


def test_the_polish_bears_heads_that_are_alike_or_nothing_and_labels_of_zero():
    layer = planted(2, 6)
    data = labelled(layer, 300)
    for w in (0.0, 1.0):
        theta = np.stack([layer.theta[0]] * 2)
        end = polish(theta, w * np.stack([layer.w[0]] * 2), data, data, steps=5)
        assert np.isfinite(end.theta).all()
        before = AttentionLayer(theta=theta, w=w * np.stack([layer.w[0]] * 2))(data.x)
        assert end.error <= relative_error(before, data.y)
    layer = planted(2, 5)
    for n in (1, 5, 40):
        for data in (labelled(layer, n), Data(x=np.ones((n, 2, 5)), y=np.zeros((n, 2, 5)))):
            _, projected = fitted(near_hull(layer), data, data)
            end = polish(projected.theta, projected.w, data, data, steps=5)
            assert np.isfinite(end.theta).all()
            assert np.isfinite(end.w).all()


# Spare heads


LAYER, OTHER, THREE = planted(2, 6), planted(1, 6, 1), planted(3, 6)
HEADS = np.concatenate([LAYER.theta, OTHER.theta, OTHER.theta])
VALUES = np.concatenate([LAYER.w, OTHER.w, -OTHER.w])
SPARE = {  # heads as they are found, and how many matter
    "nothing": (HEADS[:3], np.concatenate([LAYER.w, 0 * OTHER.w]), 2),
    "merged": (HEADS[[0, 1, 0]], np.stack([VALUES[0] - OTHER.w[0], VALUES[1], VALUES[2]]), 2),
    "cancelling": (HEADS, VALUES, 2),
    "weak": (THREE.theta, THREE.w * [[[1]], [[1]], [[0.1]]], 3),
}


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("kind", SPARE)
def test_spare_heads_are_taken_out_and_no_weak_one(kind, noise):
    theta, w, heads = SPARE[kind]
    data = labelled(AttentionLayer(theta=theta, w=w), 3000, noise=noise)
    parts = data.cut(0, 2000), data.cut(2000, 3000)
    if noise and kind != "weak":
        fit = polish(theta, w, *parts, steps=20)
        theta, w = fit.theta, fit.w
    found = prune(theta, w, *parts, steps=20)
    assert len(found.theta) == heads
    assert found.offered == (kind != "weak")
    assert found.error < (1e-20 if noise == 0 else 1.2 * noise**2 / np.mean(data.y**2))


def test_under_noise_every_removal_is_polished_and_the_best_kept(monkeypatch):
    """The cheapest removal by least squares may be the wrong one after the polish."""
    layer = planted(2, 5)
    data = labelled(layer, 2000, noise=0.1)
    parts = data.cut(0, 1200), data.cut(1200, 2000)
    w = np.stack([0.8 * layer.w[0], layer.w[1], 0.2 * layer.w[0]])
    start = polish(layer.theta[[0, 1, 0]], w, *parts)
    polished = []

    def worse_for_the_first(*given):
        polished.append(polish(*given))
        return dataclasses.replace(polished[-1], error=1.0) if len(polished) == 1 else polished[-1]

    module = sys.modules["hardness.learners.staged.polish"]
    monkeypatch.setattr(module, "polish", worse_for_the_first)
    found = prune(start.theta, start.w, *parts, steps=30, rough=0.1)
    assert len(found.theta) == 2
    assert len(polished) >= 3  # two removals, and the better of them again
    assert found.error == polished[2].error < 0.02


def test_without_noise_a_fit_that_is_off_says_nothing_of_spare_heads():
    """Two wrong heads of which one does as well: labels that are exact say both are wrong."""
    layer = planted(3, 6)
    data = labelled(layer, 3000)
    parts = data.cut(0, 2000), data.cut(2000, 3000)
    theta, w = layer.theta.mean(axis=0), layer.w.sum(axis=0)
    wrong = np.stack([theta] * 2), np.stack([w / 2] * 2)
    assert len(prune(*wrong, *parts, steps=5, noisy=False).theta) == 2
    assert len(prune(*wrong, *parts, steps=5, noisy=True).theta) == 1


# What the stages read

ONES = np.ones((4, 2, 3))
NO_EXAMPLES = [
    (np.ones((4, 1, 3)), np.ones((4, 1, 3)), "k = 1 token given"),
    (np.nan * ONES, ONES, "tokens have entries"),
    (ONES, np.inf * ONES, "labels have entries"),
    (1e200 * ONES, ONES, "beyond 1e+100"),
]


def test_what_are_no_examples_is_refused_in_one_line():
    cases = ((word, lambda x=x, y=y: Data(x=x, y=y), word) for x, y, word in NO_EXAMPLES)
    assert not_refused(UsageError, cases) == []
    x = np.ones((2, 2, 2))
    data = Data(x=x, y=x)
    x[0, 0, 0] = 2.0  # the caller's array is not locked
    with pytest.raises(ValueError, match="read-only"):
        data.x[0, 0, 0] = 3.0


def test_what_is_held_out_is_held_out(monkeypatch):
    source = parse("nice:m=1,k=2,d=30").instance(0)
    oracle = ExampleOracle(source, Meter(Budget(examples=400)))
    progress = Progress(oracle)
    whole = source.examples(0, 400).x
    for asked, there in ((80, 80), (300, 300), (120, 120), (900, 400)):
        progress.draw(asked)
        assert len(progress.held_out) == there // 8
        assert (np.concatenate([progress.data.x, progress.held_out.x]) == whole[:there]).all()
        assert progress.exhausted == (asked > 400)
    oracle = ExampleOracle(parse("nice:m=1,k=2,d=2").instance(0), Meter(Budget()))
    progress = Progress(oracle)
    progress.draw(40_000)
    assert (len(progress.data), len(progress.held_out)) == (35_904, 4_096)

    # Time that is over is not taken for examples that are gone.
    def over(count):
        raise Spent("seconds")

    monkeypatch.setattr(oracle, "draw", over)
    with pytest.raises(Spent, match="seconds"):
        progress.draw(40_001)
    progress.draw(20)
    assert len(progress.data) == 18
