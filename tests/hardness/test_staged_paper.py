import itertools

import numpy as np
import pytest
from scipy.linalg import eigh

from hardness.upper.staged.body import (
    Body,
    EmptyBody,
    extract,
    least_epsilon,
    minimum_norm,
    support,
)
from instances import UsageError


def heads(rng, m, d):
    theta, w = rng.normal(size=(2, m, d, d))
    theta *= 2 / np.linalg.norm(theta, axis=(1, 2), keepdims=True)
    w *= np.sqrt(d) / np.linalg.norm(w, axis=(1, 2), keepdims=True)
    return theta, w


def planted(rng, theta, agree, rows):
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
def test_the_minimum_norm_point_is_the_projection_of_zero(seed):
    """x is it exactly when <x, y - x> >= 0 for all y in K: a linear program proves it."""
    body = small(seed)
    x = minimum_norm(body)
    assert body.contains(x)
    assert np.sum(x * support(body, -x)) == pytest.approx(np.sum(x * x), abs=1e-9)
    assert np.linalg.norm(x) > 0.1


def test_the_minimum_norm_is_zero_where_zero_is_inside():
    body = Body(u=np.eye(4), b=np.zeros(4), epsilon=0.1, bound=1.0)
    assert not minimum_norm(body).any()


@pytest.mark.parametrize("seed", range(3))
def test_the_least_epsilon_is_where_the_body_becomes_empty(seed):
    rng = np.random.default_rng(seed)
    u, b = rng.normal(size=(30, 4)), rng.normal(size=30)
    least, point = least_epsilon(u, b, 2.0)
    just = Body(u=u, b=b, epsilon=1.001 * least, bound=2.0)
    assert just.contains(point)
    assert just.contains(minimum_norm(just), 1e-6)
    below = Body(u=u, b=b, epsilon=0.999 * least, bound=2.0)
    for ask in (minimum_norm, lambda body: support(body, np.eye(2))):
        with pytest.raises(EmptyBody, match=f"with epsilon={least:.3g} one does"):
            ask(below)


@pytest.mark.parametrize(("m", "d"), [(2, 6), (2, 8), (3, 8)])
def test_the_body_holds_the_heads_and_its_long_axes_are_their_span(m, d):
    rng = np.random.default_rng(m * d)
    theta, _ = heads(rng, m, d)
    agree = 0.1 if m == 2 else 0.5
    u, b = planted(rng, theta, agree, 4 * d * d)
    body = Body(u=u, b=b, epsilon=agree, bound=4.0)
    assert all(body.contains(t) for t in theta)
    assert not body.contains(theta[0] + 0.2 * rng.normal(size=(d, d)))
    axes = extract(body, m, rng)
    assert axes.widths[m - 2] > 3 * axes.widths[m - 1]
    found = axes.directions[: m - 1].reshape(m - 1, -1)
    np.testing.assert_allclose(found @ found.T, np.eye(m - 1), atol=1e-9)
    truth = np.linalg.qr((theta[1:] - theta[0]).reshape(m - 1, -1).T)[0]
    eigenvectors = eigh(u.T @ u)[1][:, : m - 1]
    for other in (truth, eigenvectors):
        assert np.linalg.svd(found @ other, compute_uv=False).min() > 0.99
    assert extract(body, 1, rng, climbs=0).widths[0] <= axes.widths[0] * 1.001


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"u": np.ones((3, 5))}, r"\(R, d\*d\)"),
        ({"b": np.ones(2)}, "at least one row"),
        ({"u": np.full((3, 4), np.nan)}, "not finite"),
        ({"epsilon": -0.1}, "at least 0"),
        ({"bound": 0.0}, "above 0"),
        ({"u": np.ones((3, 81))}, "up to d=8"),
    ],
)
def test_bad_bodies_are_refused(change, word):
    given = {"u": np.ones((3, 4)), "b": np.ones(3), "epsilon": 0.1, "bound": 1.0}
    with pytest.raises(UsageError, match=word):
        Body(**given | change)
    body = Body(**given)
    with pytest.raises(UsageError, match="1 to 4 axes"):
        extract(body, 5, np.random.default_rng(0))
