"""Hidden sets: labels, layers, what is known, noise; by brute force.

Alone and beside random heads."""

import itertools
import json
import math

import numpy as np
import pytest

from hardness.bounds import certify, verify
from hardness.bounds.check import check
from hardness.oracles import Character, Correlational, Factor, Pool, Query, Table
from hardness.oracles.means import listed, mean_of
from hardness.runs.risk import measure
from instances import ToolkitError, UsageError, parse, tokens
from instances.family import Hidden, Instance
from tests.conftest import every_token

PROFILES = ["majority", "threshold(2)", "mod(3)"]
LISTS = ["[1,-1,1/9]", "[1.1,-0.9,0.9,-1.1]", "[0,1,3,1,0]"]


SETS = [
    *(f"parity:d={d},m={m}" for d, m in ((2, 1), (4, 3), (5, 2), (5, 4))),
    "parity:d=5,m=3,noise=1/4",
    *(f"profile:g={g},d={d},m={m}" for g in PROFILES for d, m in ((4, 2), (5, 3))),
    *(f"profile:g={g},d=5,m=2,noise=1/5" for g in PROFILES),
    *(f"profile:g={g},d=6,m={g.count(',')},noise={e}" for g in LISTS for e in ("0", "1/5")),
]


def sets_of(family):
    return list(itertools.combinations(range(1, family.d), family.m))


def by_hand(family, secret, z):
    """g(h), from z alone."""
    values = np.array([float(v) for v in family.values])
    return values[(z[:, list(secret)] < 0).sum(axis=1)]


@pytest.mark.parametrize("spec", SETS)
def test_layer_formula_and_codes_agree_on_every_token(spec):
    family = parse(spec)
    words = every_token(family.d)
    x = tokens.unpack(words, family.d)
    z, quiet = x[:, 0] * x[:, 1], np.zeros(len(words), bool)
    assert list(family.members()) == sets_of(family)
    assert len(sets_of(family)) == family.size
    for secret in sets_of(family):
        label = family.label(secret, x)
        assert np.abs(family.layer(secret)(x) - label).max() <= 1e-12
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
    means = np.array([family.mean(s, x) for s in sets_of(family)])
    rows, known = family.open(words), family.known(x)
    parity = spec.startswith("parity")
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


@pytest.mark.parametrize("g", [*PROFILES, LISTS[2], "parity"])
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


@pytest.mark.parametrize(
    "spec",
    [
        *(f"parity:d=64,m={m}" for m in (1, 2, 8, 15, 16)),
        *("profile:d=41,m=4,g=[0,1/3,2/3,1,4/3]", "profile:g=majority,d=41,m=9"),
    ],
)
def test_the_layer_is_the_formula_at_unseen_sizes(spec):
    family = parse(spec)
    instance = family.instance(family.m)
    x, layer = instance.examples(0, 2000).x, instance.layer()
    assert layer.m == family.layer_heads
    label = family.label(instance.hidden.secret, x)
    error = np.abs(layer(x) - label).max()
    assert error <= family.layer_tolerance(layer) * (1 + 1e-12) <= 1e-9 * np.abs(label).max()


def test_heads_that_float64_cannot_hold_are_refused_and_their_certificate_is_not():
    family = parse("parity:d=64,m=30,rho=9/8")
    for work in (family.instance(0).layer, lambda: verify(family)):
        with pytest.raises(ToolkitError, match="raise rho"):
            work()
    check(json.loads(json.dumps(certify(family).to_dict())))


def test_a_secret_of_another_family_is_refused():
    for secret in ((0, 1), (1, 1), (1, 5), (1,)):
        with pytest.raises(UsageError, match="secret"):
            parse("parity:d=5,m=2").layer(secret)


# ---- queries, by all tokens


def queries(family):
    """A query of each kind, with its formula in z, the factor s, tokens and labels."""
    d, rng = family.d, np.random.default_rng(0)
    table, h = np.sign(rng.normal(size=(2, 1 << d - 1))), rng.normal(size=(2, d)) / 400
    sets, phi = ((1, 3), (1, 2), (2, 4)), lambda z, s: (0.5 + 0.5 * s) * z[:, 1] * z[:, 3]
    weigh = lambda x: x[:, :1, 1:2] * x[:, 1:, 3:4] * h  # noqa: E731
    look = lambda x, y: np.sign(y[:, 0, 0] + 0.1 * x[:, 1, 2]) * x[:, 0, 3]  # noqa: E731
    place = lambda z: (z[:, 1:] < 0) @ (1 << np.arange(d - 1))  # noqa: E731
    product = lambda z, *subset: z[:, list(subset)].prod(axis=1)  # noqa: E731
    return (
        (Character(subset=(1, 3)), lambda z, s, x, y: s * product(z, 1, 3)),
        (Character(subset=(0, 1, 3)), lambda z, s, x, y: s * product(z, 0, 1, 3)),
        (Pool(sets=sets), lambda z, s, x, y: s * np.sign(sum(product(z, *one) for one in sets))),
        (Factor(phi=phi, d=d), lambda z, s, x, y: (s != 0) * phi(z, s)),
        (Table(family=family, table=table),
         lambda z, s, x, y: (s != 0) * table[(s < 0).astype(int), place(z)]),
        (Correlational(h=weigh), lambda z, s, x, y: (y * weigh(x)).sum(axis=(1, 2))),
        (Query(phi=look), lambda z, s, x, y: look(x, y)),
    )  # fmt: skip


@pytest.mark.parametrize("m", [2, 3])
def test_exact_means_are_those_of_all_tokens(m):
    """s is the factor of a label, 0 where none shows."""
    family, secret = parse(f"parity:d=5,m={m},noise=0.1"), (1, 3, 4)[:m]
    x = tokens.unpack(every_token(5), 5).astype(float)
    z, members = x[:, 0] * x[:, 1], listed(family)
    clean, opened = z[:, list(secret)].prod(axis=1), z[:, 0] < 0
    for query, formula in queries(family):
        wanted = 0.0
        for sign, chance in ((1, 0.9), (-1, 0.1)):
            y = np.zeros(x.shape)
            factor = np.where(opened, sign * clean, float(family.known_constant))
            y[:, :, 0] = x[:, :, 0] * factor[:, None]
            wanted += chance * formula(z, opened * sign * clean, x, y).mean()
        found = members.expectations(query)[members.secrets.index(secret)]
        assert found == pytest.approx(wanted, abs=1e-12)
        assert mean_of(family, query, secret) == pytest.approx(wanted, abs=1e-12)


# ---- beside random heads


SMALL = parse("hidden:d=4,hard=2,nice=2")
EVERY = np.array(list(itertools.product([-1, 1], repeat=8)), np.int8).reshape(-1, 2, 4)


def member(number, *chosen):
    """The instance of a secret."""
    hidden = SMALL.instance(0).hidden
    return Instance(family=SMALL, hidden=type(hidden)(
        secret=(number, *chosen), seed=hidden.seed, nonce=hidden.nonce))  # fmt: skip


@pytest.mark.parametrize("spec", ["hidden:d=20,hard=4,nice=3", "hidden:d=6,hard=5,nice=1,rho=2"])
def test_the_layer_is_both_parts(spec):
    instance = parse(spec).instance(2)
    family, secret = instance.family, instance.hidden.secret
    x, layer = instance.examples(0, 500).x, instance.layer()
    hard, nice = family.hidden_sets.layer(secret[1:]), family.nice_part(secret)
    assert layer.m == family.layer_heads == hard.m + nice.m
    assert np.abs(layer(x) - family.label(secret, x)).max() < 1e-12
    assert np.abs(nice(x) + hard(x) - layer(x)).max() < 1e-12
    assert np.linalg.norm(nice.w, axis=(1, 2)) == pytest.approx([1.0] * nice.m)
    rows = np.sqrt(((layer(x) - family.beside(secret, x)) ** 2).sum(axis=2))
    assert rows.max() <= family.reach(secret) * np.sqrt(family.d) * (1 + 1e-12)


def test_hidden_parts_are_orthogonal():
    """By brute force over all tokens."""
    one, other = member(7, 1, 2), member(7, 2, 3)
    parts = [
        SMALL.label(i.hidden.secret, EVERY) - SMALL.nice_part(i.hidden.secret)(EVERY)
        - SMALL.known(EVERY)
        for i in (one, other)
    ]  # fmt: skip
    assert abs((parts[0] * parts[1]).sum()) < 1e-9
    assert (parts[0] ** 2).sum(axis=(1, 2)).mean() == pytest.approx(1)


def rest(instance):
    """A prediction by all that is known but the hidden set."""
    return lambda x: SMALL.nice_part(instance.hidden.secret)(x) + SMALL.known(x)


@pytest.mark.parametrize("part", [0.0, 0.5, 1.0])
def test_a_risk_is_relative_to_the_hidden_part(part):
    """By brute force over all tokens; 1 is that of knowing all random heads."""
    one = member(7, 1, 2)

    def predict(x):
        return (1 - part) * SMALL.mean(one.hidden.secret, x) + part * rest(one)(x)

    lost = (predict(EVERY) - SMALL.mean(one.hidden.secret, EVERY)) ** 2
    apart = SMALL.mean(one.hidden.secret, EVERY) - rest(one)(EVERY)
    exact = lost.sum() / (apart**2).sum()
    assert exact == pytest.approx(part**2)
    found = measure(one, predict)
    assert found.low <= exact <= found.high <= exact + 0.2


def test_secrets_are_the_same_by_heads_and_set():
    assert SMALL.same((5, 1, 2), (5, 2, 1))
    assert not SMALL.same((5, 1, 2), (6, 1, 2))
    assert not SMALL.same((5, 1, 2), (5, 1, 3))
    for secret in ((5, 1), (-1, 1, 2), (5, 1, 4)):
        with pytest.raises(UsageError, match="secret"):
            SMALL.layer(secret)
