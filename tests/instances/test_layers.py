"""Layers by their formula: heads, cubic maps, exact heads, conditions, errors."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from instances import AttentionLayer, UsageError, parse
from instances import layer as layer_module
from instances.cubic import coefficients, evaluate, power
from instances.inspect import inspect_layer, off_lattice
from instances.symmetric import rational, solve
from tests.conftest import not_refused

WEIGHTS = {"softmax": softmax, "linear": lambda logits: logits}


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("m", "k", "d"), [(1, 1, 1), (1, 2, 3), (3, 4, 5), (2, 5, 2)])
def test_agrees_with_the_formula_row_by_row(kind, m, k, d):
    """One example, one head, one row at a time."""
    rng = np.random.default_rng(0)
    layer = AttentionLayer(
        theta=rng.normal(size=(m, d, d)), w=rng.normal(size=(m, d, d)), kind=kind
    )
    x, out = rng.normal(size=(7, k, d)), np.zeros((7, k, d))
    for n, row in np.ndindex(7, k):
        for theta, w in zip(layer.theta, layer.w, strict=True):
            out[n, row] += WEIGHTS[kind](x[n, row] @ theta @ x[n].T) @ x[n] @ w
    np.testing.assert_allclose(layer(x), out, atol=1e-12)


def test_batches_do_not_change_the_result(monkeypatch):
    """Up to rounding, which some kernels of BLAS do by the number of rows.

    A logit is off by at most 2 d eps |x| |Theta| |x|, a weight by twice that relative to itself,
    and an output, a sum of k d products, by that and k + d roundings of |x| |W|, in both results.
    """
    rng = np.random.default_rng(1)
    layer = AttentionLayer(theta=rng.normal(size=(2, 4, 4)), w=rng.normal(size=(2, 4, 4)))
    x = rng.normal(size=(50, 3, 4))
    whole = layer(x)
    monkeypatch.setattr(layer_module, "_BATCH_BYTES", 1000)
    size, eps = np.abs(x), np.finfo(float).eps
    logit = (size[:, None] @ np.abs(layer.theta) @ size[:, None].swapaxes(2, 3)).max()
    values = (size[:, None] @ np.abs(layer.w)).max(axis=2).sum(axis=1)[:, None]
    bound = 2 * eps * (2 * 2 * 4 * logit + 3 + 4) * values
    assert (np.abs(layer(x) - whole) <= bound).all()
    assert bound.max() < 1e-10


def test_huge_logits_do_not_overflow():
    layer = AttentionLayer(theta=1e6 * np.eye(2)[None], w=np.eye(2)[None])
    out = layer(np.array([[[1.0, 1.0], [-1.0, -1.0]]]))
    np.testing.assert_allclose(out, [[[1, 1], [-1, -1]]])


def test_what_is_no_layer_is_refused_in_one_line():
    def layer(theta, w=None, kind="softmax"):
        w = np.zeros(theta.shape) if w is None else w
        return lambda: AttentionLayer(theta=theta, w=w, kind=kind)(np.zeros((3, 2, 2)))

    one = np.zeros((1, 2, 2))
    wrong = (
        ("relu", layer(one, kind="relu"), "kind"),
        ("tokens", layer(np.zeros((1, 5, 5))), "tokens must have the shape"),
    )
    assert not_refused(UsageError, wrong) == []


def test_a_layer_cannot_be_changed():
    layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        layer.theta[0, 0, 0] = 1.0
    given = np.zeros((1, 2, 2))
    layer = AttentionLayer(theta=given, w=given)
    given[0, 0, 0] = 1.0
    assert not layer.theta.any()


# ---- linear attention as a cubic map, and its power


def heads(m, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((m, d, d)), rng.standard_normal((m, d, d))


def signs(k, d):
    return np.array(list(itertools.product((-1.0, 1.0), repeat=k * d))).reshape(-1, k, d)


def definition(theta, w, x):
    """By the formula, head by head and example by example."""
    return np.array([sum(a @ t @ a.T @ a @ v for t, v in zip(theta, w, strict=True)) for a in x])


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 3), (4, 3, 5), (20, 4, 2)])
def test_the_layer_is_its_cubic_map(m, k, d):
    theta, w = heads(m, d)
    x = np.random.default_rng(1).standard_normal((50, k, d))
    wanted = definition(theta, w, x)
    scale = np.abs(wanted).max()
    assert np.abs(evaluate(coefficients(theta, w), x) - wanted).max() < 1e-13 * scale


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 1), (2, 2, 3), (3, 3, 3), (2, 4, 2), (1, 2, 5)])
def test_power_on_signs_is_the_mean_over_all_of_them(m, k, d):
    theta, w = heads(m, d, seed=k)
    x = signs(k, d)
    wanted = (definition(theta, w, x) ** 2).sum() / len(x)
    assert power(coefficients(theta, w), k, "boolean") == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(("m", "k", "d"), [(1, 2, 1), (2, 2, 3), (3, 3, 2)])
def test_power_on_normal_tokens_is_that_of_quadrature(m, k, d):
    """Gauss-Hermite nodes of four points are exact up to degree 7, and a row has degree 6."""
    theta, w = heads(m, d, seed=k)
    nodes, weights = np.polynomial.hermite_e.hermegauss(4)
    weights = weights / weights.sum()
    x = np.array(list(itertools.product(nodes, repeat=k * d))).reshape(-1, k, d)
    mass = np.array(list(itertools.product(weights, repeat=k * d))).prod(axis=1)
    wanted = (mass * (definition(theta, w, x) ** 2).sum(axis=(1, 2))).sum()
    assert power(coefficients(theta, w), k, "gaussian") == pytest.approx(wanted, rel=1e-10)


# ---- conditions of fine print


def values(layer):
    conditions = inspect_layer(layer, "a layer").facts["fine_print"]
    return {(c["of"], c["name"]): c["value"] for c in conditions}


def test_values_by_their_definitions():
    rng = np.random.default_rng(0)
    theta, w = rng.normal(size=(2, 3, 7, 7))
    found = values(AttentionLayer(theta=theta, w=w))
    norms = [np.linalg.norm(t) for t in theta]
    cosines = [
        abs(np.trace(theta[i].T @ theta[j])) / norms[i] / norms[j]
        for i in range(3)
        for j in range(i)
    ]
    assert found["theta", "coherence"] == pytest.approx(max(cosines))
    ranks = [(s**2).sum() / s[0] ** 2 for s in map(np.linalg.svd, w, [False] * 3, [False] * 3)]
    assert found["w", "stable rank"] == pytest.approx(min(ranks))
    shares = [max((t[:, j] ** 2).sum() for j in range(7)) / n**2 for t, n in zip(theta, norms)]  # noqa: B905
    assert found["theta", "column"] == pytest.approx(max(shares))
    assert found["theta", "trace"] == pytest.approx(
        max(abs(np.trace(t)) / n for t, n in zip(theta, norms, strict=True))
    )
    assert found["theta", "norm ratio"] == pytest.approx(max(norms) / min(norms))
    whole = np.sqrt(sum(np.linalg.norm(v) ** 2 for v in w))
    assert found["w", "sum"] == pytest.approx(np.linalg.norm(w.sum(axis=0)) / whole)


@pytest.mark.parametrize(
    ("dial", "of", "condition", "value"),
    [
        ("coherence=0.95", "theta", "coherence", 0.95),
        ("rank=1", "theta", "stable rank", 1),
        ("trace=0.9", "theta", "trace", 3.6),
        ("column=0.8", "theta", "column", 0.8),
        ("ratio=100", "theta", "norm ratio", 100),
        ("scale=0.01", "theta", "size", 0.01),
        ("scale=100", "theta", "size", 100),
        ("shared=1", "w", "coherence", 1),
        ("lattice=1", "w", "off lattice", 0),
    ],
)
def test_every_dial_moves_what_it_says(dial, of, condition, value):
    found = values(parse(f"nice:m=2,k=2,d=16,{dial}").instance(0).layer())
    assert found[of, condition] == pytest.approx(value, abs=0.02)


def test_the_worst_head_counts_and_zeros_do_not():
    rng = np.random.default_rng(0)
    spread, lattice = rng.normal(size=(8, 8)), rng.choice([-1.0, 0.5, 1.0], (8, 8))
    theta = np.stack([spread, lattice])
    assert values(AttentionLayer(theta=theta, w=theta))["theta", "off lattice"] == 0
    few = np.where(rng.random((8, 8)) < 0.3, spread, 0.0)
    assert off_lattice(few) == off_lattice(few[few != 0][None])


def test_heads_of_zeros_and_single_heads_do_not_break_it():
    zero = np.zeros((1, 3, 3))
    named = {name for _, name in values(AttentionLayer(theta=zero, w=zero))}
    assert named == {"heads", "coherence", "sum"}
    one = np.eye(3)[None]
    assert values(AttentionLayer(theta=one, w=one))["theta", "coherence"] == 0.0


# ---- exact heads


def summed(a, u, x):
    return sum((b * (x - v) / (x + v) for b, v in zip(a, u, strict=True)), fmpq(0))


@given(st.lists(st.fractions(-5, 5, max_denominator=9), min_size=2, max_size=7), st.data())
def test_any_profile_any_points_exactly(profile, data):
    m = len(profile) - 1
    positive = st.fractions(Fraction(1, 9), 9, max_denominator=9)
    x = data.draw(st.lists(positive, min_size=m + 1, max_size=m + 1, unique=True))
    u = data.draw(st.lists(positive, min_size=m, max_size=m, unique=True))
    g, x, u = ([rational(v) for v in values] for values in (profile, x, u))
    a, c0 = solve(g, x, u)
    assert all(summed(a, u, p) == v + c0 for p, v in zip(x, g, strict=True))
