"""Each stage by itself, on input whose answer is planted, and what no stage may depend on."""

from functools import cache

import numpy as np
import pytest
from scipy.linalg import null_space

from hardness.oracles import Budget, ExampleOracle, Meter, Spent
from hardness.upper.staged.agreement import agreement
from hardness.upper.staged.constraints import Constraints, constraints
from hardness.upper.staged.data import Data
from hardness.upper.staged.hull import hull
from hardness.upper.staged.moment import moment
from hardness.upper.staged.refine import refine
from hardness.upper.staged.single import single
from hardness.upper.staged.span import second_moment, span
from hardness.upper.staged.stage import StageFailed
from hardness.upper.staged.supply import Supply
from instances import AttentionLayer, UsageError, parse


def heads(m, d, seed=0):
    theta, w = np.random.default_rng([seed, m, d]).normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    return theta, w


def tokens(n, k, d, law="boolean", seed=0):
    rng = np.random.default_rng([seed, n, k, d])
    return rng.choice([-1.0, 1.0], (n, k, d)) if law == "boolean" else rng.normal(size=(n, k, d))


def labelled(theta, w, x):
    return Data(x=x, y=AttentionLayer(theta=theta, w=w)(x))


@cache
def exact(m, d, rows=400, seed=0):
    """Log-ratios of rows of normal tokens on which all heads agree exactly, and the heads."""
    theta, _ = heads(m, d, seed)
    rng = np.random.default_rng([seed, m, d, 1])
    left = rng.normal(size=(rows, d))
    right = np.empty((rows, d))
    for r, x in enumerate(left):
        free = null_space(np.stack([x @ (one - theta[0]) for one in theta[1:]] or [np.zeros(d)]))
        right[r] = free @ (free.T @ rng.normal(size=d))
    b = np.einsum("ra,ab,rb->r", left, theta[0], right)
    ones = np.ones(rows)
    found = Constraints(left=left, right=right, b=b, weights=ones, residuals=0 * ones, rows=rows)
    return theta, found


def nearest_to_zero(theta):
    """The point of the affine hull of least norm."""
    flat = theta.reshape(len(theta), -1)
    along = (flat[1:] - flat[0]).T
    return (flat[0] - along @ np.linalg.lstsq(along, flat[0], rcond=None)[0]).reshape(
        theta[0].shape
    )


def off_span(directions, theta):
    """Sine of the largest angle between the span of the differences and the directions."""
    true = np.linalg.qr((theta[1:] - theta[0]).reshape(len(theta) - 1, -1).T)[0]
    found = directions.reshape(len(directions), -1)
    return np.linalg.norm(true - found.T @ (found @ true), 2)


def unit(matrix):
    return matrix / np.linalg.norm(matrix)


# Stage 1


def test_the_moment_is_exact_for_two_tokens_of_signs_and_diagonal_theta():
    rng = np.random.default_rng(0)
    theta = np.stack([np.diag(rng.normal(size=6)) for _ in range(3)])
    w = rng.normal(size=(3, 6, 6))
    found = moment(labelled(theta, w, tokens(24, 2, 6)))
    np.testing.assert_allclose(found.w, w.sum(axis=0), atol=1e-12)
    assert found.halves < 1e-12


# Stage 2


def test_labels_in_fewer_dimensions_than_tokens_agree_with_everything():
    """Why a rank of k - 1 is flagged: the residual is zero whatever the heads do."""
    theta, w = heads(3, 6)
    w[:, :, 2:] = 0
    for k, vacuous in ((2, False), (3, True), (4, True)):
        data = labelled(theta, w, tokens(100, k, 6, "gaussian"))
        found = moment(data)
        assert found.label_rank == 2
        assert (agreement(found.w, data).residuals.max() < 1e-6) == vacuous


# Stage 3


def test_halves_of_the_refined_sum_are_two_halves():
    """One of W, one of -W: together there is nothing, and the halves say so."""
    theta, w = heads(1, 6)
    first = labelled(theta, w, tokens(400, 2, 6, "gaussian"))
    turned = labelled(theta, -w, tokens(400, 2, 6, "gaussian", 1))
    both = Data(x=np.concatenate([first.x, turned.x]), y=np.concatenate([first.y, turned.y]))
    assert moment(both).halves > 1.5
    assert refine(w[0], both).halves > 1.5
    assert refine(w[0], first).halves < 0.1


# Stages 4 and 5


@pytest.mark.parametrize(("m", "d"), [(1, 4), (2, 4), (3, 6), (4, 6)])
def test_exact_log_ratios_determine_the_affine_hull_and_nothing_else(m, d):
    """The ridge moves the centre by at most itself over the least eigenvalue that is not zero.

    Rounding, n unknowns and a condition number c: n eps c of the first solution, its square and
    n eps sqrt(c), as of the constraints themselves, of the refined one.
    """
    theta, found = exact(m, d)
    around = hull(found, ridge=1e-10, accuracy=1e-15)
    values = np.linalg.eigvalsh(second_moment(found))
    shift = 1e-10 * values.mean()
    condition, unit = values[-1] / shift, d * d * np.finfo(float).eps
    relative = shift / values[m - 1] + (unit * condition) ** 2 + unit * np.sqrt(condition)
    nearest = nearest_to_zero(theta)
    assert np.linalg.norm(around.centre - nearest) < relative * np.linalg.norm(nearest)
    assert relative < 1e-7
    assert around.r2 > 1 - 1e-6
    assert (values[: m - 1] < unit * values[-1]).all()
    assert values[m - 1] > 1e-3
    if m > 1:
        along = span(found, Data(x=tokens(500, 2, d, "gaussian"), y=np.ones((500, 2, d))))
        assert along.heads == m
        assert along.gap > 1e6
        assert off_span(along.directions, theta) < 1e-5


def test_the_number_of_heads_may_be_given_and_has_bounds():
    _, found = exact(3, 6)
    data = Data(x=tokens(500, 2, 6, "gaussian"), y=np.ones((500, 2, 6)))
    for count in (2, 5, 20):
        along = span(found, data, heads=count)
        assert along.heads == count
        assert along.directions.shape == (count - 1, 6, 6)
        flat = along.directions.reshape(count - 1, -1)
        np.testing.assert_allclose(flat @ flat.T, np.eye(count - 1), atol=1e-9)
    alone = span(found, data, heads=1)
    assert (alone.gap, alone.directions.shape) == (1.0, (0, 6, 6))
    assert span(found, data, heads=2).gap < 1e3 < span(found, data, heads=3).gap
    with pytest.raises(StageFailed, match="at most d"):
        span(found, data, heads=37)


# A single head


def test_the_error_of_a_single_head_is_that_on_the_hold_out():
    theta, w = heads(1, 6)
    data = labelled(theta, w, tokens(600, 2, 6, "gaussian"))
    other = Data(x=data.x[:100], y=2 * data.y[:100])
    assert single(moment(data).w, data, other).error == pytest.approx(0.25)


# What does not matter


@cache
def run_through(kind):
    """Stages 1 to 5 on one layer: as it is, its heads in another order, or its tokens."""
    theta, w = heads(3, 10)
    x = tokens(15_000, 2, 10)
    order = [2, 0, 1] if kind == "heads" else [0, 1, 2]
    data = labelled(theta[order], w[order], x)
    if kind == "tokens":
        data = Data(x=data.x[:, ::-1], y=data.y[:, ::-1])
    first = moment(data)
    refined = refine(first.w, data)
    found = constraints(refined.agreement, data)
    return first, refined, hull(found), span(found, data)


@pytest.mark.parametrize("kind", ["heads", "tokens"])
def test_the_order_of_heads_and_of_tokens_does_not_matter(kind):
    (first, refined, around, along), again = run_through(""), run_through(kind)
    np.testing.assert_allclose(again[0].w, first.w, atol=1e-10)
    np.testing.assert_allclose(again[1].w, refined.w, atol=1e-8)
    np.testing.assert_allclose(again[2].centre, around.centre, atol=1e-5)
    assert again[3].heads == along.heads == 3
    one, other = (a.directions.reshape(2, -1) for a in (along, again[3]))
    assert np.linalg.svd(one @ other.T, compute_uv=False).min() > 1 - 1e-6


def test_what_is_held_out_is_held_out():
    source = parse("nice:m=1,k=2,d=30").instance(0)
    supply = Supply(ExampleOracle(source, Meter(Budget(examples=400))))
    whole = source.examples(0, 400).x
    for asked, there in ((80, 80), (300, 300), (120, 120), (900, 400)):
        data, held_out = supply.take(asked)
        assert len(held_out) == there // 8
        assert (np.concatenate([data.x, held_out.x]) == whole[:there]).all()
        assert supply.exhausted == (asked > 400)


def test_no_more_than_4096_examples_are_held_out():
    source = parse("nice:m=1,k=2,d=2").instance(0)
    data, held_out = Supply(ExampleOracle(source, Meter(Budget()))).take(40_000)
    assert (len(data), len(held_out)) == (35_904, 4_096)


def test_time_that_is_over_is_not_taken_for_examples_that_are_gone():
    source = parse("nice:m=1,k=2,d=8").instance(0)
    oracle = ExampleOracle(source, Meter(Budget()))
    supply = Supply(oracle)
    supply.take(20)

    def late(count):
        raise Spent("seconds")

    oracle.draw = late
    with pytest.raises(Spent, match="seconds"):
        supply.take(40)
    assert len(supply.take(20)[0]) == 18


@pytest.mark.parametrize(
    ("x", "y", "said"),
    [
        (np.ones((4, 2, 3)), np.ones((4, 3, 2)), "differ in shape"),
        (np.ones((4, 2, 3)), np.ones((5, 2, 3)), "differ in shape"),
        (np.ones((4, 1, 3)), np.ones((4, 1, 3)), "k = 1 token given"),
        (np.ones((4, 2)), np.ones((4, 2)), r"must be \(n, k, d\)"),
        (np.ones((0, 2, 3)), np.ones((0, 2, 3)), r"must be \(n, k, d\)"),
        (np.full((4, 2, 3), np.nan), np.ones((4, 2, 3)), "tokens have entries"),
        (np.ones((4, 2, 3)), np.full((4, 2, 3), np.inf), "labels have entries"),
    ],
)
def test_what_are_no_examples_is_refused_in_one_line(x, y, said):
    with pytest.raises(UsageError, match=said) as found:
        Data(x=x, y=y)
    assert "\n" not in str(found.value)
