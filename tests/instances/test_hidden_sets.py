"""Hidden sets on a pair of tokens: labels, layers, what is known, noise; by brute force.

Parities, any profile, by softmax and hardmax heads, and by one head with a map on top.
"""

import itertools
import json
import math

import numpy as np
import pytest

from hardness.check import check
from hardness.lower import certify, verify
from hardness.lower.measures import measures
from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import parse_learner
from instances import ToolkitError, UsageError, parse, tokens
from instances.errors import Refuted
from instances.families.composed import Composed
from instances.family import Hidden, Instance
from instances.inspect import inspect
from tests.conftest import every_token

PROFILES = ["majority", "threshold(2)", "mod(3)", "exactly(1)", "parity+0.1*majority", "h**2/9"]
SETS = [
    *(f"parity:d={d},m={m}" for d, m in ((2, 1), (4, 3), (5, 2), (5, 4))),
    "parity:d=5,m=3,noise=1/4",
    *(f"profile:g={g},d={d},m={m}" for g in PROFILES for d, m in ((4, 2), (5, 3))),
    *(f"profile:g={g},d=5,m=2,noise=1/5" for g in PROFILES),
    *(f"hardmax:d=6,m=4,g={g}" for g in ("parity", "majority", "[0,1,3,1,0]", "h/3")),
    *("composed:d=5,m=1", "composed:d=5,m=3,noise=0.1", "composed:d=5,m=2,rho=2"),
]


def listed(family):
    return list(itertools.combinations(range(1, family.d), family.m))


def by_hand(family, secret, z):
    """g(h), from z alone."""
    values = np.array([float(v) for v in family.plain.values])
    return values[(z[:, list(secret)] < 0).sum(axis=1)]


@pytest.mark.parametrize("spec", SETS)
def test_layer_formula_and_codes_agree_on_every_token(spec):
    family = parse(spec)
    words = every_token(family.d)
    x = tokens.unpack(words, family.d)
    z, quiet = x[:, 0] * x[:, 1], np.zeros(len(words), bool)
    assert list(family.members()) == listed(family)
    assert len(listed(family)) == family.size
    for secret in listed(family):
        label = family.label(secret, x)
        shown = family.outer(family.layer(secret)(x))
        assert np.abs(shown - label).max() <= min(1e-12, family.layer_error.error)
        assert (family.decode(x, family.codes(secret, words, quiet)) == label).all()
        psi = np.where(z[:, 0] > 0, float(family.known_constant), by_hand(family, secret, z))
        assert (label[:, :, 0] == x[:, :, 0] * psi[:, None]).all()
        assert not label[:, :, 1:].any()


@pytest.mark.parametrize("spec", [s for s in SETS if parse(s).size > 1])
def test_what_is_known_is_the_mean_over_members_and_its_risk_is_exact(spec):
    """Of parities it is 0: members are orthogonal then, and of norm 1."""
    family = parse(spec)
    words = every_token(family.d)
    x = tokens.unpack(words, family.d)
    means = np.array([family.mean(s, x) for s in listed(family)])
    rows, known = family.open(words), family.known(x)
    parity = spec.startswith(("parity", "composed"))
    wanted = family.labelled(x, np.zeros(len(x))) if parity else means.mean(axis=0)
    np.testing.assert_allclose(known, wanted, atol=1e-12)
    apart = (means - known)[:, rows].reshape(len(means), -1)
    gram = apart @ apart.T / rows.sum()
    np.testing.assert_allclose(np.diag(gram), family.trivial_risk, rtol=1e-10)
    if parity:
        assert np.abs(gram - family.trivial_risk * np.eye(family.size)).max() < 1e-13
    np.testing.assert_allclose(family.clip(x, means[0]), means[0], atol=1e-15)
    extreme = np.full(x.shape, 1e9)
    worst = ((family.clip(x, extreme) - family.clip(x, -extreme)) ** 2).sum(axis=(1, 2))
    assert worst.max() <= family.risk_bound * family.trivial_risk * (1 + 1e-12)


@pytest.mark.parametrize("g", [*PROFILES, "parity"])
def test_noise_reflects_a_value_in_the_middle_of_the_range(g):
    noisy, clean = (parse(f"profile:g={g},d=20,m=4{more}") for more in (",noise=1/4", ""))
    if g == "parity":
        noisy, clean = parse("parity:d=20,m=4,noise=1/4"), parse("parity:d=20,m=4")
    hidden = Hidden(secret=(2, 3, 5, 7), seed=1, nonce=b"")
    a, b = (Instance(family=f, hidden=hidden).examples(0, 40_000) for f in (noisy, clean))
    assert (a.words == b.words).all()
    rows = noisy.open(a.words)
    assert not a.codes[~rows].any()  # where everyone knows the label nothing is stored of it
    given_, wanted = (v.y[:, 0, 0] * v.x[:, 0, 0] for v in (a, b))
    assert (given_[~rows] == wanted[~rows]).all()
    reflected = np.isclose(given_, 2 * float(noisy.centre) - wanted)
    kept = np.isclose(given_, wanted)
    assert (reflected | kept)[rows].all()
    told = rows & (reflected != kept)
    flips = reflected[told] - 0.25
    error = math.sqrt(3 / 16 / told.sum())
    assert abs(flips.mean()) < 5 * error
    largest = np.abs(flips @ a.x[told].reshape(len(flips), -1) / len(flips)).max()
    assert largest < 5 * error  # flips do not depend on tokens: the most extreme of 40
    mean = noisy.mean(hidden.secret, a.x)
    assert np.abs((a.y - mean)[rows].mean()) < 0.03


@pytest.mark.parametrize("g", PROFILES)
def test_coefficients_by_enumeration(g):
    family = parse(f"profile:g={g},d=5,m=3,noise=1/10")
    words = every_token(5)
    x = tokens.unpack(words, 5)
    z = (x[:, 0] * x[:, 1]).astype(float)
    secret = (1, 3, 4)
    factor = family.mean(secret, x)[:, 0, 0] * x[:, 0, 0] * family.open(words)
    for size in range(6):
        for subset in itertools.combinations(range(5), size):
            wanted = (factor * z[:, list(subset)].prod(axis=1)).mean()
            assert abs(float(family.coefficient(secret, subset)) - wanted) < 1e-12


@pytest.mark.parametrize(
    "spec",
    [
        *(f"parity:d=64,m={m}" for m in (1, 2, 8, 15, 16)),
        *("composed:d=70,m=10,noise=0.1", "composed:d=130,m=21", "composed:d=90,m=66"),
        *("hardmax:d=41,m=4,g=h/3", "hardmax:d=41,m=40"),
        *("parity_position:d=71,m=4", "parity_position:d=130,m=21,w0=corner"),
        *(f"parity_position:d={d},m={m},w0=gaussian" for d, m in ((6, 3), (40, 9), (33, 12))),
        *("tokens3:d=40,m=3", "tokens3:d=9,m=5", "tokens3:d=5,m=4"),
    ],
)
def test_the_layer_is_the_formula_at_unseen_sizes(spec):
    family = parse(spec)
    instance = family.instance(family.m)
    x, layer = instance.examples(0, 2000).x, instance.layer()
    assert layer.m == family.layer_heads
    label = family.label(instance.hidden.secret, x)
    shown = layer(x) if family.name == "tokens3" else family.outer(layer(x))
    error = np.abs(shown - label).max()
    assert error <= family.layer_tolerance(layer) * (1 + 1e-12) <= 1e-9 * np.abs(label).max()
    bound = getattr(family, "layer_error", None)  # of labels of one column
    if bound and bound.error is not None:
        assert error <= bound.error
        assert bound.exact or family.m > 10


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("parity:d=64,m=30,rho=9/8", "raise rho"),
        *(("composed:d=90,m=67", "lower rho"), ("composed:d=40,m=8,rho=3", "lower rho")),
    ],
)
def test_heads_that_float64_cannot_hold_are_refused_and_their_certificate_is_not(spec, words):
    family = parse(spec)
    for work in (family.instance(0).layer, lambda: verify(family)):
        with pytest.raises(ToolkitError, match=words):
            work()
    check(json.loads(json.dumps(certify(family).to_dict())))


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        *(
            (f"hardmax:d=9,m=4,g={g}", f"profile:d=9,m=4,g={g}")
            for g in ("majority", "[0,1,3,1,0]")
        ),
        *((f"{name}:d=30,m=4", "parity:d=30,m=4") for name in ("hardmax", "composed")),
    ],
)
def test_the_certificate_of_another_layer_is_that_of_the_labels(spec, same):
    found, twin = certify(parse(spec)), certify(parse(same))
    assert [(c.quantity, c.value) for c in found.claims] == [
        (c.quantity, c.value) for c in twin.claims
    ]
    said = check(json.loads(json.dumps(found.to_dict())))
    assert said.checker == "the kernel"
    assert ("hardmax" if spec[0] == "h" else "One head") in said.conditions


def test_the_map_on_one_head_is_odd_public_and_has_a_node_for_every_value():
    family = parse("composed:d=12,m=4")
    at, values = zip(*family.nodes, strict=True)
    assert list(values) == [0, 1, -1, 1, -1, 1, family.known_constant]
    assert list(at) == sorted(at)
    assert at[0] == 0 < at[1]
    assert at[-2] < 1 == at[-1]
    # tanh of what the head's logits are, an independent way to the responses
    steps = np.log(float(family.rho)) * (np.arange(5) + 1)
    assert np.allclose([float(r) for r in at[1:-1]], np.tanh(steps), rtol=1e-14)
    y = np.linspace(-1, 1, 401)
    assert (family.outer(-y) == -family.outer(y)).all()
    mapped = family.outer(np.array([float(r) for r in at]))
    assert abs(mapped - [float(v) for v in values]).max() < 1e-13
    slopes = np.abs(np.diff(family.outer(y))).max() * 200
    assert slopes <= float(family.slope) * (1 + 1e-9)


def test_sampling_refuses_the_head_without_its_map():
    class Bare(Composed):
        def outer(self, y):
            return y

    with pytest.raises(Refuted, match="differs"):
        verify(Bare(d=9, m=2), members=4, samples=2000).require()


def test_what_is_said_of_the_layer_is_said_of_one_head():
    family = parse("composed:d=9,m=3")
    facts = inspect(family, family.instance(0)).facts
    assert facts["heads"] == len(facts["layer"]["heads"]) == 1
    assert "sum_abs_a" not in facts
    assert "P, odd and piecewise linear" in facts["on_top"]
    assert not [row for row in measures(family).rows if "approximate heads" in row.name]
    learner = parse_learner("levenberg:restarts=1,examples=400,steps=3")
    assert "truth" not in run(learner, family.instance(0), Budget()).details  # labels are mapped
    solved = run(parse_learner("elimination"), family.instance(0), Budget())
    assert solved.secret_recovered
    assert solved.risk.high < 0.05


def test_secrets_are_uniform():
    family, counts, rng = parse("parity:d=5,m=2"), {}, np.random.default_rng(0)
    for _ in range(6000):
        secret = family.draw(rng)
        counts[secret] = counts.get(secret, 0) + 1
    assert len(counts) == 6
    assert max(abs(c - 1000) for c in counts.values()) < 5 * math.sqrt(1000)


def test_a_secret_of_another_family_is_refused():
    for secret in ((0, 1), (1, 1), (1, 5), (1,)):
        with pytest.raises(UsageError, match="secret"):
            parse("parity:d=5,m=2").layer(secret)
