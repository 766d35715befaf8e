"""The bound on a float layer's error over all inputs, against layers evaluated on all inputs."""

import itertools

import numpy as np
import pytest

from hardness.check import check
from hardness.lower import certify
from instances import parse
from instances.errors import Refuted, UsageError
from instances.layer import AttentionLayer
from instances.layererror import counting_error
from instances.symmetric import Symmetric
from tests.conftest import sealed

CLAIMED = [
    "parity:d=7,m=3",
    "parity:d=7,m=6,rho=3/2",
    "profile:g=majority,d=7,m=5",
    "profile:g=h**2/7,d=7,m=4,noise=0.1",
    "profile:g=h*10**20,d=6,m=3",
    "lwr:n=2,q=8,p=2,labels=layer",
    "lwr:n=2,q=8,p=4,beta=5",
    "lwr:n=2,q=8,p=8,secret=ternary,beta=81/2",
    "lwr:n=1,q=5,p=5,bits=6",
    "window:n=2,q=8,parts=4",
    "lpn:n=6,noise=0,beta=2",
    "lwe:n=2,q=8,error=none",
]
NOT_CLAIMED = [
    "profile:g=parity+1/1000000000000000*majority,d=7,m=3",  # levels nearer than rounding
    "lwr:n=3,q=4,p=2,beta=1",
    "lwr:n=2,q=16,p=16,beta=2",
]


def cube(d):
    """Tokens with every z, and every X_1 for small d."""
    z = np.array(list(itertools.product([1, -1], repeat=d)), np.int8)
    first = np.repeat(z, len(z), axis=0) if d <= 6 else np.random.default_rng(0).permutation(z)
    z = np.tile(z, (len(first) // len(z), 1))
    return np.stack([first, first * z], axis=1)


@pytest.mark.parametrize("spec", CLAIMED + NOT_CLAIMED)
def test_no_input_passes_the_bound_and_where_it_is_claimed_rounding_mends_all(spec):
    family, x = parse(spec), cube(parse(spec).d)
    assert family.layer_error.exact == (spec in CLAIMED)
    said = "the formula on every input" if spec in CLAIMED else "not claimed"
    assert str(family.layer_error).startswith(f"{said}: error at most")
    for seed in range(4):
        secret = family.draw(np.random.default_rng(seed))
        found, wanted = family.layer(secret)(x), family.label(secret, x)
        assert np.abs(found - wanted).max() <= family.layer_error.error
        opened = x[:, 0, 0] != x[:, 1, 0]
        factor = (x * found)[opened][:, :, 0]
        nearest = family.factors[np.abs(factor[..., None] - family.factors).argmin(axis=-1)]
        mended = (nearest == (x * wanted)[opened][:, :, 0]).all()
        assert mended or spec not in CLAIMED


def test_nothing_is_claimed_of_layers_that_are_no_levels():
    for spec in ("lwe:n=2,q=17,sigma=1", "lpn:n=6,noise=0.1", "lwr:n=2,q=8,p=2,heads=exact"):
        assert parse(spec).layer_error.error is None


@pytest.mark.parametrize("spec", ["parity:d=9,m=3", "profile:g=majority,d=9,m=4"])
def test_the_bound_is_of_the_weights_that_the_layer_has(spec):
    family = parse(spec)
    assert isinstance(family, Symmetric)
    layer = family.layer(tuple(range(1, family.m + 1)))
    heads = layer.theta[:, 1, 1], layer.theta[:, 0, 0], layer.w[:, 0, 0]
    values = family.values, family.known_constant
    assert counting_error(*heads, *values) == family.layer_error.error
    x, secret = cube(9), tuple(range(1, family.m + 1))
    for k in range(3):
        changed = [np.array(v) for v in heads]
        changed[k][2] += 5
        theta, w = np.array(layer.theta), np.array(layer.w)
        theta[:, secret, secret] = changed[0][:, None]
        theta[:, 0, 0], w[:, 0, 0] = changed[1:]
        found = np.abs(AttentionLayer(theta=theta, w=w)(x) - family.label(secret, x)).max()
        bound = counting_error(*changed, *values)
        assert found <= bound <= found * (1 + 1e-9)
        assert bound > family.layer_error.half_gap


@pytest.mark.parametrize("rest", ["heads=exact", "beta=40"])
def test_labels_by_a_layer_are_certified_where_it_is_bounded_only(rest):
    # Both lines are of families that the bound is not shown for: no bound at all, and too large.
    spec = f"lwr:n=4,q=16,p=2,labels=layer,{rest}"
    if rest != "heads=exact":
        spec = f"lwr:n=65536,q=65536,p=65536,labels=layer,{rest}"
    family = parse(spec)
    with pytest.raises(UsageError, match="labels=layer: that the layer rounded"):
        certify(family)
    plain = parse(spec.replace("labels=layer", "labels=formula"))
    assert family.hardness.evidence == "assumption"
    assert plain.hardness.evidence == "exact"


def test_check_refuses_labels_by_a_layer_that_is_not_bounded():
    made = certify(parse("lwr:n=4,q=16,p=2,heads=exact")).to_dict()
    check(made)
    made["about"]["spec"] = made["about"]["spec"].replace("labels=formula", "labels=layer")
    with pytest.raises(Refuted, match="labels=layer: that the layer rounded"):
        check(sealed(made))
    check(certify(parse("lwr:n=4,q=16,p=2,labels=layer")).to_dict())


def test_inspect_and_certify_say_which_output_they_are_about(hardness):
    found = hardness("inspect", "lwr:n=2,q=16,p=16,beta=2", "--json")
    assert found.json["half_gap"] < found.json["layer_error"] < 1
    assert found.json["rounded_layer"].startswith("not claimed: error at most")
    said = " ".join(hardness("certify", "parity:d=8,m=3").out.split())
    assert "about the layer followed by rounding to the public levels where" in said
    refused = hardness("certify", "lwr:n=4,q=16,p=2,labels=layer,heads=exact")
    assert refused.code == 2
    refused.one_line("labels=layer", "take labels=formula")
