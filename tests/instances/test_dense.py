"""Families whose labels are real numbers: random layers, hidden directions."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from instances import UsageError, parse
from instances.dense import _BLOCK
from instances.direction import Alternating, thresholds
from instances.random import Nice
from instances.streams import generator

SIGNS, NORMAL = "nice:m=2,k=3,d=70,noise=0.5", "nice:m=2,k=3,d=5,tokens=gaussian,noise=0.5"


def noise_of(instance, examples):
    """What noise did to the labels: (n, ...), of mean about zero."""
    family, secret = instance.family, instance.hidden.secret
    if family.name == "nice":
        return examples.y - instance.layer()(examples.x)
    clean = family.codes(secret, examples.words, np.zeros(len(examples), bool))
    return (clean != examples.codes) - 0.25 * family.open(examples.words)


@pytest.mark.parametrize("spec", [SIGNS, NORMAL, "parity:d=12,m=3,noise=0.25"])
def test_axes_share_neither_tokens_nor_noise(spec):
    """Else who remembers the examples would pass the evaluation."""
    instance = parse(spec).instance(0)
    seen, fresh = instance.examples(0, 2000), instance.examples(0, 2000, axis="evaluate")
    assert np.mean(seen.x == fresh.x) < 0.55
    a, b = (noise_of(instance, part).ravel() for part in (seen, fresh))
    assert np.std(a) > 0.2
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1


@pytest.mark.parametrize("spec", [SIGNS, NORMAL])
def test_labels_means_and_sizes_are_as_stated(spec):
    instance = parse(spec).instance(3)
    family, secret = instance.family, instance.hidden.secret
    examples = instance.examples(0, 40)
    for function in (family.label, family.mean):
        assert (function(secret, examples.x) == instance.layer()(examples.x)).all()
    stored = sum(tensor.nbytes for tensor in examples.tensors.values())
    assert family.bytes_per_example * 40 == stored


def test_every_head_is_drawn_from_the_secret():
    family = parse("nice:m=1,k=2,d=4")
    assert not np.allclose(family.layer((0,)).theta, family.layer((1,)).theta)
    for secret in ((), (-1,), (1 << 256,), (1, 2)):
        with pytest.raises(UsageError, match="one number of 256 bits"):
            family.layer(secret)


def spoilt(spec, name, change):
    """The tensors of some examples, one of them changed."""
    instance = parse(spec).instance(0)
    tensors = {key: value.copy() for key, value in instance.examples(0, 20).tensors.items()}
    tensors[name] = change(tensors[name])
    return instance.family, tensors


def put(value):
    def change(array):
        array[(3, *(-1,) * (array.ndim - 1))] = value
        return array

    return change


PARITY = "parity:d=70,m=3"


@pytest.mark.parametrize(
    ("spec", "name", "change", "said"),
    [
        (SIGNS, "words", put(1 << 63), "bits beyond coordinate"),
        (SIGNS, "words", lambda a: a.astype(np.int64), "does not hold"),
        (SIGNS, "y", lambda a: a.astype(np.float32), "does not hold"),
        (NORMAL, "x", put(np.inf), "tokens that are not finite"),
        (NORMAL, "y", put(np.nan), "labels that are not finite"),
        (PARITY, "words", put(1 << 63), "bits beyond coordinate"),
        (PARITY, "words", lambda a: a.astype(np.int64), "does not hold"),
        (PARITY, "codes", lambda a: a.astype(np.int64), "does not hold"),
        (PARITY, "codes", lambda a: a[:-1], "does not hold"),
        (PARITY, "codes", lambda a: np.full_like(a, 2), "a code of no level"),
        (PARITY, "codes", lambda a: np.ones_like(a), "where the label is known"),
    ],
)
def test_tensors_that_no_examples_have_are_refused(spec, name, change, said):
    family, tensors = spoilt(spec, name, change)
    with pytest.raises(ValueError, match=said):
        family.restore(tensors, 20)


# ---- random layers and their dials


def layer(spec, seed=0):
    return parse(spec).instance(seed).layer()


@pytest.mark.parametrize(
    ("spec", "norm"), [("nice:m=3,k=2,d=16,scale=1.5", 1.5), ("linear:m=3,k=2,d=16,scale=2", 2)]
)
def test_norms_and_attention_are_as_stated(spec, norm):
    family, found = parse(spec), layer(spec)
    assert np.linalg.norm(found.theta, axis=(1, 2)) == pytest.approx([norm] * 3)
    assert np.linalg.norm(found.w, axis=(1, 2)) == pytest.approx([4.0] * 3)
    assert found.kind == getattr(family, "kind", "softmax")
    assert (found.kind == "linear") == spec.startswith("linear")


def test_the_way_to_a_parity_is_a_straight_line_to_one():
    start, half, end = (
        Nice(m=3, k=2, d=9, parity=p).build(np.random.default_rng(4)) for p in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(half.theta, (start.theta + end.theta) / 2, atol=1e-12)
    np.testing.assert_allclose(half.w, (start.w + end.w) / 2, atol=1e-12)
    x = np.random.default_rng(0).choice([-1, 1], (4000, 2, 9))
    x[:, 1, 0] = -x[:, 0, 0]
    factor, z = end(x)[:, 0, 0] * x[:, 0, 0], x[:, 0] * x[:, 1]
    products = [np.mean(factor * z[:, s].prod(axis=1)) for s in combinations(range(1, 9), 3)]
    assert max(map(abs, products)) == pytest.approx(1.0)
    ends = [Nice(m=3, k=2, d=9, parity=1.0).build(np.random.default_rng(s)) for s in range(12)]
    assert {np.sign(one.w.sum()) for one in ends} == {-1.0, 1.0}


def test_examples_across_blocks_are_the_layer_plus_noise_however_they_are_cut():
    instance = parse("nice:m=2,k=3,d=5,tokens=gaussian,noise=0.5").instance(1)
    whole = instance.examples(_BLOCK - 30, 60)
    for start, count in ((_BLOCK - 30, 7), (_BLOCK - 3, 20), (_BLOCK + 29, 1)):
        part, first = instance.examples(start, count), start - _BLOCK + 30
        assert (part.y == whole.y[first : first + count]).all()
    many = instance.examples(0, 20_000)
    noise = (many.y - instance.layer()(many.x)).reshape(len(many), -1)
    np.testing.assert_allclose(np.cov(noise.T), 0.25 * np.eye(15), atol=0.02)
    np.testing.assert_allclose(noise.T @ many.x.reshape(noise.shape) / len(many), 0, atol=0.03)


def test_the_negative_of_every_layer_is_as_likely():
    family = parse("nice:m=2,k=2,d=4,parity=0,shared=1,trace=0.5")
    x = family.instance(0).examples(0, 20).x
    values = np.stack([family.instance(seed).layer()(x) for seed in range(400)])
    error = np.abs(values.mean(axis=0)) / (values.std(axis=0) / 20 + 1e-12)
    assert error.max() < 5
    assert (family.known(x) == 0).all()


# ---- hidden directions: coefficients that vanish, a layer that is its formula


SPECS = [
    "direction:m=1,d=4,noise=0.1",
    "direction:m=3,d=40",
    "direction:m=6,d=17,kappa=7",
    "direction:m=12,d=333,kappa=1000",
]


def coefficients(value, breaks, most):
    """E value(u) h_k(u), k <= most, by Gauss-Legendre on short pieces between breaks."""
    nodes, weights = np.polynomial.legendre.leggauss(40)
    inner = np.linspace(-13, 13, 521)
    ends = np.union1d(inner, breaks)
    half = np.diff(ends)[:, None] / 2
    u = (ends[:-1, None] + half * (nodes + 1)).ravel()
    w = (half * weights).ravel() * norm.pdf(u)
    h = [np.ones_like(u), u]
    for k in range(1, most):
        h.append((u * h[k] - np.sqrt(k) * h[k - 1]) / np.sqrt(k + 1))
    found = value(u)
    return np.array([w @ (found * one) for one in h[: most + 1]]), w @ found**2


def alternating(m, kappa=100.0):
    return Alternating(kappa=kappa, places=thresholds(m))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6, 7, 12, 24])
def test_coefficients_below_m_vanish_and_that_of_degree_m_does_not(m):
    found = alternating(m)
    g, square = coefficients(found.signs, found.places, m)
    assert np.abs(g[:m]).max() < 1e-12
    assert abs(g[m]) > 1e-4
    assert square == pytest.approx(1, abs=1e-12)


def test_thresholds_are_those_found_elsewhere_and_are_not_equally_spaced():
    assert thresholds(3) == pytest.approx((-1.17741, 0, 1.17741), abs=1e-5)
    assert thresholds(6)[3:] == pytest.approx((0.4263, 1.3041, 2.2849), abs=1e-4)
    equal = Alternating(kappa=10.0, places=(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5))
    g, _ = coefficients(equal.signs, equal.places, 6)
    assert np.abs(g[:6]).max() > 0.01


@pytest.mark.parametrize("spec", SPECS)
def test_the_layer_is_its_formula_and_its_signs_are_the_labels(spec):
    family = parse(spec)
    secret = family.instance(1).hidden.secret
    x = family.inputs(5, "examples", 0, 3000 if family.d < 100 else 300)
    assert (x[:, :, 0] == [1, -1]).all()
    wanted = family.computed(secret, x)
    scale = np.abs(wanted).max()
    assert (
        np.abs(family.layer(secret)(x) - wanted).max() < 1e-12 * scale * family.kappa / 100 + 1e-12
    )
    public = family.labelled(x, np.zeros(len(x)))
    show = (x[:, 0, 1] - x[:, 1, 1])[:, None] * [0.5, -0.5]
    found = (family.layer(secret)(x) - public)[:, :, 1] / show
    u = family.hidden(secret, x)
    other = np.sign(found[:, 0]) != family.response.signs(u)
    nearest = np.abs(u[:, None] - np.array(family.response.places)).min(axis=1)
    assert nearest[other].max(initial=0) < 4 / family.kappa**2
    itself = np.where(family.response.signs(u) > 0, x[:, :, 1].T, x[:, ::-1, 1].T).T
    assert (family.label(secret, x)[:, :, 1] == itself).all()
    rows = np.abs(family.mean(secret, x)[:, :, 1])
    assert (rows <= family.reach(secret) * np.abs(x[:, :, 1]).max(axis=1)[:, None] + 1e-12).all()


@pytest.mark.parametrize("m", [1, 2, 5, 12, pytest.param(24, marks=pytest.mark.weekly)])
def test_correlations_are_those_of_the_series_of_samples_and_of_equal_directions(m):
    family = parse(f"direction:m={m},d=6")
    found = family.response.sign_correlations
    few = np.array([-0.6, -0.1, 0.0, 0.3, 0.7])
    parts = coefficients(family.response.signs, family.response.places, 96)[0]
    series = np.polynomial.polynomial.polyval(few, parts**2)
    assert np.abs(found(few) - series).max() < 1e-12
    assert np.abs(found(np.array([-1.0, 1.0])) - [(-1.0) ** m, 1.0]).max() < 1e-12
    u, other = generator(m, "test").standard_normal((2, 200_000))
    for r in (0.9, 0.995, 0.9999):  # where the series is cut
        signs = [family.response.signs(v) for v in (u, r * u + np.sqrt(1 - r * r) * other)]
        assert abs(np.mean(signs[0] * signs[1]) - found(np.array([r]))[0]) < 0.012


def test_the_bound_on_other_signs_holds_and_is_not_loose():
    for m, kappa in ((4, 4.0), (5, 7.0)):
        found = alternating(m, kappa)
        u = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
        rate = (np.sign(found(u)) != found.signs(u)).mean()
        assert rate < found.misread < 20 * rate
    assert alternating(12).misread < 1e-11
    assert Alternating(kappa=4.0, places=(-0.01, 0.01)).misread == 1  # heads that cancel


@pytest.mark.parametrize("spec", ["direction:m=2,d=6,noise=0.1", "direction:m=4,d=7,kappa=8"])
def test_what_is_known_is_the_mean_over_directions(spec):
    family = parse(spec)
    x, total = family.inputs(0, "examples", 0, 400), 0.0
    for secret in range(3000):
        total = total + family.mean((secret,), x)
    apart = total / 3000 - family.known(x)
    assert np.abs(family.expected(x)).max() > 0.3
    assert np.sqrt((apart**2).mean()) < 0.01


def test_rounded_labels_are_flipped_at_the_rate_of_the_noise():
    family = parse("direction:m=3,d=8,noise=0.2")
    instance = family.instance(0)
    drawn = instance.examples(3, 20_000)
    clean = family.label(instance.hidden.secret, drawn.x)
    public = family.labelled(drawn.x, np.zeros(len(drawn)))
    flipped = np.abs(drawn.y - clean).max(axis=(1, 2)) > 1e-9
    assert abs(flipped.mean() - 0.2) < 0.015
    assert np.abs((drawn.y + clean - 2 * public)[flipped]).max() < 1e-12
