"""Hidden directions: coefficients that vanish, a layer that is its formula, labels by its signs."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from instances import parse
from instances.alternating import smooth, thresholds
from instances.streams import generator

SPECS = [
    "direction:m=1,d=4,noise=0.1",
    "direction:m=3,d=40,labels=raw",
    "direction:m=6,d=17,kappa=7",
    "direction:m=12,d=333,labels=raw,kappa=1000",
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


@pytest.mark.parametrize("m", [1, 2, 3, 4, 6, 7, 12, 24])
@pytest.mark.parametrize("kappa", [4.0, 30.0])
def test_coefficients_below_m_vanish_and_that_of_degree_m_does_not(m, kappa):
    found = smooth(m, kappa)
    for value in (found, found.signs):
        g, square = coefficients(value, found.places, m)
        assert np.abs(g[:m]).max() < 1e-12
        assert abs(g[m]) > 1e-4
        assert square == pytest.approx(1, abs=1e-12)


def test_thresholds_are_those_found_elsewhere_and_are_not_equally_spaced():
    assert thresholds(3) == pytest.approx((-1.17741, 0, 1.17741), abs=1e-5)
    assert thresholds(6)[3:] == pytest.approx((0.4263, 1.3041, 2.2849), abs=1e-4)
    equal = dataclasses.replace(smooth(6, 10.0), places=(-2.5, -1.5, -0.5, 0.5, 1.5, 2.5))
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
    rounded = dataclasses.replace(family, labels="rounded", noise=Fraction(0))
    wanted = family.labelled(x, np.sign(found[:, 0]))
    assert np.abs(rounded.label(secret, x) - wanted)[~other].max() < 1e-15 * scale
    rows = np.abs(family.mean(secret, x)[:, :, 1])
    assert (rows <= family.reach(secret) * np.abs(x[:, :, 1]).max(axis=1)[:, None] + 1e-12).all()


@pytest.mark.parametrize("m", [1, 2, 5, 12, 24])
def test_correlations_are_those_of_the_series_of_samples_and_of_equal_directions(m):
    family = parse(f"direction:m={m},d=6")
    found = family.response.sign_correlations
    few = np.array([-0.6, -0.1, 0.0, 0.3, 0.7])
    series = np.polynomial.polynomial.polyval(few, family.weights)
    assert np.abs(found(few) - series).max() < 1e-12
    assert np.abs(found(np.array([-1.0, 1.0])) - [(-1.0) ** m, 1.0]).max() < 1e-12
    u, other = generator(m, "test").standard_normal((2, 200_000))
    for r in (0.9, 0.995, 0.9999):  # where the series is cut
        signs = [family.response.signs(v) for v in (u, r * u + np.sqrt(1 - r * r) * other)]
        assert abs(np.mean(signs[0] * signs[1]) - found(np.array([r]))[0]) < 0.012


def test_the_bound_on_other_signs_holds_and_is_not_loose():
    for m, kappa in ((4, 4.0), (5, 10.0)):
        found = smooth(m, kappa)
        u = norm.ppf((np.arange(200_000) + 0.5) / 200_000)
        rate = (np.sign(found(u)) != found.signs(u)).mean()
        assert rate < found.misread < 20 * rate
    assert smooth(12, 100.0).misread < 1e-5
    good = smooth(4, 100.0)
    assert dataclasses.replace(good, amplitudes=(-1.0, 1.0, -1.3, 1.0)).misread > 1e-3
    assert dataclasses.replace(good, constant=-1.0).misread == 1  # no zero at some thresholds


@pytest.mark.parametrize(
    "spec", ["direction:m=2,d=6,noise=0.1", "direction:m=4,d=7,labels=raw,kappa=8"]
)
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
