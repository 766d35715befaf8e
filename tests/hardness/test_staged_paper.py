"""The stages as the paper states them: the convex body by programs, the proxy, and the learner."""

import itertools

import numpy as np
import pytest
from scipy.linalg import eigh

from hardness.learners import Outcome
from hardness.learners.staged import StageFailed, agreement, constraints
from hardness.learners.staged.paper import Body, extract, least_epsilon, minimum_norm, support
from hardness.learners.staged.refine import refine_by_proxy
from hardness.oracles import Budget
from instances import AttentionLayer, UsageError, parse
from tests.planted import flagged, labelled, learn, measured, planted, true_span


def agreeing(rng, theta, agree, rows):
    """Constraints on which all heads' logits are within `agree` of their mean, and that mean."""
    m, d, _ = theta.shape
    x = rng.choice([-1.0, 1.0], size=(60 * rows, 2, d))
    u = np.einsum("na,nb->nab", x[:, 0], x[:, 0] - x[:, 1]).reshape(len(x), -1)
    logits = u @ theta.reshape(m, -1).T
    b = logits.mean(1)
    kept = np.flatnonzero((np.abs(logits - b[:, None]) <= agree).all(1) & u.any(1))[:rows]
    assert len(kept) == rows
    return u[kept], b[kept]


def small(seed):
    """A body of 9 constraints on (2, 2) matrices, with a point inside."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(9, 4))
    return Body(u=u, b=u @ [1, 0.5, -1, 0.2] + rng.uniform(-0.2, 0.2, 9), epsilon=0.3, bound=1.5)


def crowded(seed):
    """Boolean tokens make a constraint the sum of others, a linear layer makes them all exact."""
    layer = AttentionLayer(theta=np.eye(8)[None] / np.sqrt(2), w=planted(1, 8, seed).w)
    data = labelled(layer, 3000, seed=seed)
    found = constraints(agreement(layer.w[0], data), data, 640)
    u, b = found.u * found.weights[:, None], found.b * found.weights
    return Body(u=u, b=b, epsilon=1.25e-6, bound=8.0)


@pytest.mark.parametrize("seed", range(4))
def test_support_points_are_the_best_vertices(seed):
    body = small(seed)
    normals = np.vstack([body.u, -body.u, np.eye(4), -np.eye(4)])
    limits = np.concatenate([body.b + body.epsilon, body.epsilon - body.b, np.full(8, body.bound)])
    vertices = [
        np.linalg.solve(normals[list(active)], limits[list(active)])
        for active in itertools.combinations(range(len(normals)), 4)
        if abs(np.linalg.det(normals[list(active)])) > 1e-9
    ]
    inside = np.array([v for v in vertices if body.contains(v.reshape(2, 2))])
    for direction in np.random.default_rng(seed).normal(size=(5, 2, 2)):
        best = support(body, direction)
        assert body.contains(best)
        assert np.sum(best * direction) == pytest.approx((inside @ direction.reshape(-1)).max())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("make", [small, crowded])
def test_the_minimum_norm_point_is_the_projection_of_zero(make, seed):
    """x is it exactly when <x, y - x> >= 0 for all y in K: a linear program proves it."""
    body = make(seed)
    x = minimum_norm(body)
    assert body.contains(x)
    assert np.sum(x * support(body, -x)) == pytest.approx(np.sum(x * x), abs=1e-9)
    assert np.linalg.norm(x) > 0.1


def test_the_minimum_norm_is_zero_where_zero_is_inside():
    body = Body(u=np.eye(4), b=np.zeros(4), epsilon=0.1, bound=1.0)
    assert not minimum_norm(body).any()
    with pytest.raises(UsageError, match="between 1 and 4, the axes"):
        extract(body, 5, np.random.default_rng(0))


@pytest.mark.parametrize("seed", range(3))
def test_the_least_epsilon_is_where_the_body_becomes_empty(seed):
    rng = np.random.default_rng(seed)
    u, b = rng.normal(size=(30, 4)), rng.normal(size=30)
    least, point = least_epsilon(u, b, 2.0)
    just = Body(u=u, b=b, epsilon=1.001 * least, bound=2.0)
    assert just.contains(point)
    assert just.contains(minimum_norm(just), 1e-6)
    below = Body(u=u, b=b, epsilon=0.999 * least, bound=2.0)
    for query in (minimum_norm, lambda body: support(body, np.eye(2))):
        with pytest.raises(StageFailed, match=f"with epsilon={least:.3g} one does"):
            query(below)


@pytest.mark.parametrize(("m", "d"), [(2, 6), (3, 8)])
def test_the_body_holds_the_heads_and_its_long_axes_are_their_span(m, d):
    rng = np.random.default_rng(m * d)
    layer = planted(m, d)
    agree = 0.1 if m == 2 else 0.5
    u, b = agreeing(rng, layer.theta, agree, 4 * d * d)
    body = Body(u=u, b=b, epsilon=agree, bound=4.0)
    assert all(body.contains(t) for t in layer.theta)
    assert not body.contains(layer.theta[0] + 0.2 * rng.normal(size=(d, d)))
    directions, widths = extract(body, m, rng)
    assert widths[m - 2] > 3 * widths[m - 1]
    found = directions[: m - 1].reshape(m - 1, -1)
    np.testing.assert_allclose(found @ found.T, np.eye(m - 1), atol=1e-9)
    for other in (true_span(layer), eigh(u.T @ u)[1][:, : m - 1]):
        assert np.linalg.svd(found @ other, compute_uv=False).min() > 0.99
    assert extract(body, 1, rng, climbs=0)[1][0] <= widths[0] * 1.001


def test_a_proxy_needs_enough_rows():
    layer = planted(2, 8)
    with pytest.raises(UsageError, match="300 examples are too few: at least 1778"):
        refine_by_proxy(layer.theta[0], labelled(layer, 300))


@pytest.mark.parametrize(
    ("m", "d", "n", "given"),
    [(1, 6, 6_000, 0), pytest.param(2, 8, 10_000, 2, marks=pytest.mark.weekly)],
)
def test_the_stages_as_stated_learn_small_layers(m, d, n, given):
    spec = f"nice:m={m},k=2,d={d}"
    found, used = learn(spec, m, Budget(examples=n), mode="paper", heads=given)
    assert found.details["heads"] == m
    assert used == n
    fresh = parse(spec).instance(m).examples(0, 2000, "evaluate")
    error = np.sum((found.predict(fresh.x) - fresh.y) ** 2) / np.sum(fresh.y**2)
    assert error < 1e-2
    assert found.details["error"] == pytest.approx(error, rel=0.3)
    stages = found.details["stages"]
    names = ["moment", "crude body", "proxy", "refined body", "span", "net"]
    assert [stage["name"] for stage in stages] == names
    assert stages[-1]["measures"]["error"] < 0.1 * stages[0]["measures"]["error"]
    assert not flagged(found.details["diagnosis"])
    seen = {signal["name"] for signal in found.details["diagnosis"]}
    assert {"gap of the span", "hold-out error"} <= seen or m == 1


def test_the_number_of_heads_is_where_the_widths_of_a_loose_body_fall_most():
    """As far as the widths tell it: at d = 5 they say more than the two of the layer."""
    found, _ = learn("nice:m=2,k=2,d=5", 1, mode="paper", examples=6000)
    widths = np.array(found.details["widths"])
    falls = (widths[:-1] / widths[1:]) ** 2
    (heads,) = measured(found, "span", "heads")
    assert heads == np.argmax(falls) + 2
    assert measured(found, "span", "gap") == [pytest.approx(falls.max())]
    assert measured(found, "net", "heads")[0] in (1, heads)


def test_the_stages_as_stated_say_how_many_examples_they_need():
    found, _ = learn("nice:m=2,k=2,d=8", 0, Budget(examples=30), mode="paper")
    assert found.outcome is Outcome.EXAMPLES_SPENT
    assert found.details["needs"] == 32
    assert "examples" in flagged(found.details["diagnosis"])


def test_a_layer_that_is_linear_is_no_trouble_to_the_programs():
    """Theta_i = c I attends alike in all heads on every row: the body is a single point."""
    found, _ = learn("nice:m=2,k=2,d=6,trace=1", 1, mode="paper", heads=2, examples=4000)
    assert found.details["error"] < 1e-3
