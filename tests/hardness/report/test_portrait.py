"""Portraits of families against brute force: counts, sums and softmax written out anew."""

import json
import math

import numpy as np
import pytest

from hardness.report.figures import numbers
from instances import parse
from instances.errors import UsageError
from tests.charts import said
from tests.test_matrix import SPECS as MATRIX

SMALL = {
    "parity": "parity:d=8,m=4,noise=0.1",
    "profile": "profile:g=majority,d=8,m=3",
    "nice": "nice:m=2,k=3,d=5",
    "dial": "dial:tau=0.3,m=2,k=2,d=4",
    "linear": "linear:m=2,k=3,d=4",
    "lwr": "lwr:n=3,q=8,p=4,secret=ternary",
    "lwe": "lwe:n=2,q=7,sigma=1,bits=6,secret=ternary",
    "lpn": "lpn:n=5,noise=0.1",
    "window": "window:n=3,q=8,parts=4,secret=binary,h=2",
}
SMALL = {parse(spec).name: spec for spec in MATRIX} | SMALL


@pytest.fixture(scope="module", params=SMALL)
def portrait(request):
    family = parse(SMALL[request.param])
    return family, numbers("portrait", family)


def test_every_family_has_a_portrait_that_draws(portrait):
    _, data = portrait
    assert json.loads(json.dumps(data)) == data
    assert "member of seed 0" in said("portrait", data)


@pytest.mark.parametrize("name", ["parity", "profile"])
def test_a_profile_is_counted_and_its_heads_add_up(name):
    family = parse(SMALL[name])
    data = numbers("portrait", family)
    for h, (formula, mean) in enumerate(zip(data["formula"], data["mean"], strict=True)):
        truth = (-1) ** h if name == "parity" else (1 if 2 * h <= family.m else -1)
        assert formula == truth
        assert mean == pytest.approx((1 - 2 * data["noise"]) * truth)
    np.testing.assert_allclose(data["layer"], data["formula"], atol=1e-8)
    np.testing.assert_allclose(data["layer_known"], data["known"], rtol=1e-8)
    np.testing.assert_allclose(np.sum(data["heads"], axis=0), data["sum"], atol=1e-6)
    whole = [data["at"].index(h) for h in data["h"]]
    np.testing.assert_allclose([data["sum"][i] for i in whole], data["formula"], atol=1e-7)


def test_rows_of_three_tokens_show_the_parity_of_places():
    data = numbers("portrait", parse("tokens3:d=7,m=3"))
    for which, most in (("even", 3), ("odd", 6)):
        assert {place for place, _ in data[which]} == set(range(most + 1))
        assert all(abs(factor - (-1) ** place) < 1e-8 for place, factor in data[which])


@pytest.mark.parametrize("name", ["lwr", "lwe", "lpn", "window"])
def test_labels_of_residues_are_those_of_the_definition(name):
    family = parse(SMALL[name])
    data, q = numbers("portrait", family), family.q
    level = {
        "lwr": lambda u: 1 - 2 * (4 * u // q) / 3,
        "lwe": lambda u: 2 * u / q - 1,
        "lpn": lambda u: (-1) ** u,
        "window": lambda u: float(u < q / 4),
    }[name]
    reach = range(-12, 13)
    chances = {0: 1.0}
    if name == "lwe":
        density = {e: math.exp(-(e**2) / 2) for e in reach}
        chances = {e: v / sum(density.values()) for e, v in density.items()}
    if name == "lpn":
        chances = {0: 0.9, 1: 0.1}
    for u in range(q):
        first = sum(p * level((u + e) % q) for e, p in chances.items())
        second = sum(p * level((u + e) % q) ** 2 for e, p in chances.items())
        assert data["formula"][u] == pytest.approx(level(u))
        assert data["mean"][u] == pytest.approx(first, abs=1e-7)
        spread = math.sqrt(max(second - first**2, 0))
        assert data["deviation"][u] == pytest.approx(spread, abs=1e-4)
    assert sum(data["share"]) == pytest.approx(1)
    np.testing.assert_allclose(data["steps"], data["wanted"], atol=1e-7)
    for t, factor in data["layer"]:
        assert factor == pytest.approx(data["mean"][t % q], abs=1e-7)
        assert data["share"][t - data["t"][0]] > 0


@pytest.mark.parametrize("name", ["nice", "dial"])
def test_attention_weights_lie_on_a_softmax(name):
    family = parse(SMALL[name])
    data = numbers("portrait", family)
    layer = family.instance(0).layer()
    squares = np.sum(np.square(data["theta"]), axis=1)
    np.testing.assert_allclose(squares, np.sum(layer.theta**2, axis=(1, 2)), rtol=1e-8)
    assert sum(data["share"]) <= 1 + 1e-6
    edges = np.array(data["edges"])
    for i, middle in enumerate(data["middle"]):
        if middle is None:
            continue
        assert 0 < data["low"][i] <= middle <= data["high"][i] < 1
        # The others of the row add up to minus the logit: by convexity no weight is larger than
        # where they are all alike; with two tokens they are.
        k, ends = family.k, edges[i : i + 2]
        most = 1 / (1 + (k - 1) * np.exp(-ends * k / (k - 1)))
        assert data["high"][i] <= most[1] + 1e-8
        if k == 2:
            assert data["low"][i] >= most[0] - 1e-8
    assert data["deviation"] == pytest.approx(
        {"dial": 0.3 / math.sqrt(2), "nice": 2 * math.sqrt(2 / 3)}[name], rel=0.2
    )


def test_linear_attention_grows_with_the_cube():
    data = numbers("portrait", parse(SMALL["linear"]))
    for scale, value in zip(data["scales"], data["linear"], strict=True):
        assert value == pytest.approx(data["linear"][4] * scale**3, rel=1e-7)
    assert data["softmax"][-1] < data["linear"][-1]


def test_a_layer_too_large_is_refused():
    with pytest.raises(UsageError, match="too many for a portrait"):
        numbers("portrait", parse("lwe:n=8,q=17,sigma=1"))


def test_the_layer_of_a_direction_lies_on_its_curve():
    family = parse("direction:m=4,d=9,kappa=8")
    data = numbers("portrait", family)
    u, shown = np.transpose(data["layer"])
    np.testing.assert_allclose(np.interp(u, data["u"], data["sum"]), shown, atol=2e-3)
    changes = np.flatnonzero(np.diff(data["sign"]))
    np.testing.assert_allclose(np.array(data["u"])[changes], family.response.places, atol=0.01)
    assert max(data["weight"][:4]) < 1e-12 < 0.05 < data["weight"][4]
    assert sum(data["weight"]) < 1
