import re

import numpy as np
import pytest
from scipy.special import softmax

from instances import AttentionLayer, UsageError
from instances import layer as layer_module

WEIGHTS = {
    "softmax": softmax,
    "linear": lambda logits: logits,
    "hardmax": lambda logits: (logits == logits.max()) / (logits == logits.max()).sum(),
    **{f"power{p}": lambda logits, p=p: logits**p / (logits**p).sum() for p in (2, 4, 8)},
}


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


@pytest.mark.parametrize("kind", [kind for kind in WEIGHTS if kind != "linear"])
def test_equal_logits_share_the_weight(kind):
    layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.eye(2)[None], kind=kind)
    assert layer(np.array([[[1.0, 2.0], [3.0, 4.0]]])).tolist() == [[[2.0, 3.0], [2.0, 3.0]]]


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


@pytest.mark.parametrize(
    ("theta", "w", "word"),
    [
        (np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), "(m, d, d)"),
        (np.zeros((1, 2, 2)), np.zeros((2, 2, 2)), "differ"),
        (np.full((1, 2, 2), np.nan), np.zeros((1, 2, 2)), "finite"),
        (np.zeros((0, 2, 2)), np.zeros((0, 2, 2)), "(m, d, d)"),
        (np.zeros((1, 2, 2)), np.zeros((1, 2, 2)), "kind"),
        (np.zeros((1, 5, 5)), np.zeros((1, 5, 5)), "tokens of shape"),
    ],
)
def test_refuses_what_is_no_layer(theta, w, word):
    with pytest.raises(UsageError, match=re.escape(word)):
        AttentionLayer(theta=theta, w=w, kind="relu" if word == "kind" else "softmax")(
            np.zeros((3, 2, 2))
        )


def test_a_layer_cannot_be_changed():
    layer = AttentionLayer(theta=np.zeros((1, 2, 2)), w=np.zeros((1, 2, 2)))
    with pytest.raises(ValueError, match="read-only"):
        layer.theta[0, 0, 0] = 1.0
    given = np.zeros((1, 2, 2))
    layer = AttentionLayer(theta=given, w=given)
    given[0, 0, 0] = 1.0
    assert not layer.theta.any()
