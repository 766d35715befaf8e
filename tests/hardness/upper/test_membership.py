"""Learners by membership queries, as functions of given layers and as learners of instances."""

import itertools
import math
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom, norm

from hardness.oracles import Budget, Meter, ValueOracle
from hardness.runs import run
from hardness.runs.run import learn_once
from hardness.upper import Failed, Outcome, parse_learner
from hardness.upper.matching import match
from hardness.upper.membership import km
from hardness.upper.membership.asking import averaged, times_for_flips, times_for_normal
from hardness.upper.membership.flips import hidden_set
from hardness.upper.membership.logits import FITS
from hardness.upper.membership.multihead import heads
from hardness.upper.membership.onehead import on_reals, on_signs
from instances import AttentionLayer, parse
from instances.streams import generator

ROOT = Path(__file__).parents[3]


def learn(learner, spec, seed=0, **budget):
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


@dataclass
class Counted:
    """A function that counts the points it was asked about."""

    f: object
    count: int = 0

    def __call__(self, x):
        self.count += len(x)
        return self.f(x)


# Hidden sets.

PROFILES = [
    g
    for m, levels in ((1, 3), (2, 3), (3, 3), (4, 2), (5, 2))
    for g in itertools.product(range(levels), repeat=m + 1)
    if len(set(g)) > 1
]


@pytest.mark.parametrize("places", [5, 8])
def test_flips_find_the_set_of_every_profile(places):
    rng = generator(0, "test")
    for g in PROFILES:
        hidden = rng.choice(places, len(g) - 1, replace=False)
        values = np.array(g)
        f = Counted(lambda z, hidden=hidden, values=values: values[(z[:, hidden] < 0).sum(axis=1)])
        wanted = tuple(sorted(hidden.tolist()))
        assert hidden_set(f, places, rng) == wanted, (g, wanted)
        assert f.count <= 2 * places + places.bit_length() + 3
        if g[0] != g[1]:
            f.count = 0
            assert hidden_set(f, places, rng, first_step=True) == wanted
            assert f.count == places + 1
    assert hidden_set(lambda z: np.ones(len(z)), places, rng) is None


def test_a_parity_takes_d_values():
    found = learn("flips", "parity:d=1000,m=21", values=1001)
    assert (found.secret_recovered, found.outcome) == (True, Outcome.SOLVED)
    assert found.usage.values == 1000
    assert learn("flips", "parity:d=1000,m=21", values=999).outcome is Outcome.VALUES_SPENT


def test_majorities_of_answers_are_right_with_their_confidence():
    for noise, questions in ((0.1, 1000), (0.3, 50), (0.45, 10)):
        times = times_for_flips(questions, noise, 0.99)
        assert questions * binom.sf(math.ceil(times / 2) - 1, times, noise) <= 0.01
    for spec in ("parity:d=20,m=3,noise=0.3", "profile:g=exactly(2),d=12,m=4,noise=0.2"):
        found = [learn("flips", spec, seed) for seed in range(6)]
        assert all(one.secret_recovered for one in found)
        assert found[0].details["repetitions"] > 10


def test_a_set_of_another_size_is_no_members():
    oracle = ValueOracle(parse("parity:d=10,m=3").instance(0), Meter(Budget()))
    oracle.family = parse("parity:d=10,m=4")
    found = parse_learner("flips").learn(oracle, generator(0, "test"))
    assert (found.outcome, found.secret) == (Outcome.DEGENERATE, None)
    assert found.details["failed"] == "3 places change labels, of a set of 4"
    oracle.family = parse("parity:d=10,m=2")
    assert parse_learner("km").learn(oracle, generator(0, "test")).secret is None


# One head.

E = np.eye(16)
G = generator(1, "test").standard_normal((4, 16, 16))
HEADS = {
    "random": (G[0] / 8, G[1]),
    "row by column": (G[0] / 8, np.outer(E[3], E[5])),
    "rank one W": (G[0] / 8, np.outer(G[1, 0], G[1, 1])),
    "small rows of W": (G[0] / 8, np.diag([1.0] + [1e-3] * 15)),
    "skew Theta": ((G[0] - G[0].T) / 8, G[1]),
    "one entry": (2 * np.outer(E[1], E[2]) + np.eye(16) / 2, G[1]),
}


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("name", HEADS)
def test_a_head_takes_d_squared_and_d_values(name, k):
    theta, w = HEADS[name]
    layer = AttentionLayer(theta=theta[None], w=w[None])
    for read in (on_reals, on_signs):
        value = Counted(layer)
        found = read(value, k, 16, generator(2, "test"))
        assert value.count == 16**2 + 16
        assert np.abs(found.theta - theta).max() < 1e-12
        assert np.abs(found.w - w).max() < 1e-12
        assert found.misfit < 1e-12


def test_one_head_where_logits_are_large_and_where_there_are_none():
    theta, w = G[:2, :6, :6]
    for size, read in ((1e6, on_reals), (5.0, on_signs)):
        value = Counted(AttentionLayer(theta=size * theta[None], w=w[None]))
        found = read(value, 3, 6, generator(0, "test"))
        assert np.abs(found.theta / size - theta).max() < 1e-14 * found.amplified
        assert value.count > 42  # some were asked again
    with pytest.raises(Failed) as failed:
        on_signs(AttentionLayer(theta=500 * theta[None], w=w[None]), 3, 6, generator(0, "test"))
    assert "logits are too large" in failed.value.details["failed"]
    nothing = Counted(AttentionLayer(theta=theta[None], w=0 * w[None]))
    for read in (on_reals, on_signs):
        assert not read(nothing, 3, 6, generator(0, "test")).w.any()
    assert nothing.count == 12


@pytest.mark.parametrize("rank", [0, 1, 3])
def test_a_theta_of_low_rank_takes_fewer_values(rank):
    d = 16
    theta = G[0][:, :rank] @ G[1][:rank] / 8
    value = Counted(AttentionLayer(theta=theta[None], w=G[2][None]))
    found = on_reals(value, 3, d, generator(0, "test"))
    assert (found.rank, value.count) == (rank, d + (2 * rank + 1) * d)
    assert np.abs(found.theta - theta).max() < 1e-11


def test_two_heads_are_not_taken_for_one():
    layer = AttentionLayer(theta=G[:2] / 8, w=G[2:])
    with pytest.raises(Failed, match="a stage failed"):
        on_reals(layer, 2, 16, generator(0, "test"))
    assert on_signs(layer, 2, 16, generator(0, "test")).misfit > 100 * FITS


def test_noise_is_averaged_on_signs_and_drowned_on_real_tokens():
    assert 500 * 2 * norm.sf(0.01 / (0.2 / times_for_normal(500, 0.2, 0.01, 0.9) ** 0.5)) <= 0.1
    instance = parse("nice:m=1,k=2,d=4,noise=0.2").instance(0)
    x = instance.examples(0, 7).x
    oracle = ValueOracle(instance, Meter(Budget()))
    means = averaged(oracle, x, 4000)
    assert oracle.meter.values == 28_000
    assert np.abs(means - instance.layer()(x)).max() < 5 * 0.2 / 4000**0.5
    found = learn("onehead:accuracy=0.03", "nice:m=1,k=2,d=4,noise=0.2")
    assert found.outcome is Outcome.SOLVED
    assert 0 < max(found.details["truth"]["theta_errors"]) < 0.2
    for learner, m in (("onehead", 1), ("multihead", 2)):
        found = learn(learner, f"nice:m={m},k=3,d=4,tokens=gaussian,noise=10")
        assert max(found.details["truth"]["theta_errors"]) < 1e-9


# Several heads.


A, B = generator(3, "test").standard_normal((2, 3, 8, 8))
Z = np.zeros((8, 8))
MANY = {  # theta, w and how many heads are found for k = 2 and 3
    "equal Theta": ([A[0], A[0]], B[:2], (1, 1)),
    "a constant head": ([A[0], A[1], Z], B, (3, 3)),
    "constant heads alone": ([Z, Z], B[:2], (1, 1)),
    "opposite Theta": ([A[0], -A[0]], B[:2], (2, None)),
    "rank one": ([np.outer(a[0], a[1]) for a in A], [np.outer(b[0], b[1]) for b in B], (3, 3)),
    "nearly equal Theta": ([A[0], A[0] + 1e-4 * A[1]], B[:2], (2, 2)),
    "very unequal sizes": ([1e-2 * A[0], 1e2 * A[1]], [B[0], 1e-2 * B[1]], (2, 2)),
    "no output": (A, [Z, Z, Z], (1, 1)),
    "equal W": (A[:2], [B[0], B[0]], (None, None)),
    "opposite W": (A[:2], [B[0], -B[0]], (None, None)),
    "dependent W": (A, [B[0], B[1], B[0] + B[1]], (None, None)),
    "parallel Theta": ([A[0], 2 * A[0]], B[:2], (None, None)),
    "shared rows of Theta": ([np.outer(A[0, 0], a[1]) for a in A], B, (None, None)),
}


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("name", MANY)
def test_heads_that_look_alike_are_one_or_are_flagged(name, k):
    theta, w, counts = MANY[name]
    layer = AttentionLayer(theta=np.array(theta), w=np.array(w))
    value, count = Counted(layer), counts[k - 2]
    if count is None:
        with pytest.raises(Failed) as failed:
            heads(value, k, 8, generator(0, "test"))
        assert failed.value.outcome is Outcome.DEGENERATE
        assert failed.value.details["failed"]
        return
    found = heads(value, k, 8, generator(0, "test"))
    assert len(found.w) == count
    x = generator(4, "test").standard_normal((200, k, 8))
    same = AttentionLayer(theta=found.theta, w=found.w)
    assert np.abs(same(x) - layer(x)).max() < 1e-8
    assert value.count <= 9 * 8**2
    if count == len(theta) and (name, k) not in (("opposite Theta", 2), ("a constant head", 2)):
        errors = match(same, layer)
        assert max(errors.theta + errors.w) < 1e-8


def test_heads_too_near_to_be_told_apart_are_one_or_are_flagged():
    x = generator(4, "test").standard_normal((200, 2, 8))
    for apart, seed in itertools.product((3e-6, 1e-6, 3e-7, 1e-7), range(4)):
        theta = np.array([A[0], A[0] + apart * A[1], A[2]])
        layer = AttentionLayer(theta=theta, w=B)
        try:
            found = heads(layer, 2, 8, generator(seed, "test"))
        except Failed:
            continue
        same = AttentionLayer(theta=found.theta, w=found.w)
        assert np.abs(same(x) - layer(x)).max() < 100 * FITS * np.abs(B).max()


# Fourier coefficients.


def test_all_large_coefficients_are_found_and_no_small_ones():
    rng = generator(5, "test")
    exact = rng.standard_normal(1 << 10) * (rng.random(1 << 10) < 0.02)
    exact[0] = 0.3
    table = np.zeros(1 << 10)
    points = 1 - 2 * (np.arange(1 << 10)[:, None] >> np.arange(10) & 1).astype(np.int8)
    sets = [tuple(np.flatnonzero(row < 0).tolist()) for row in points]
    for places, value in zip(sets, exact, strict=True):
        table += value * points[:, places].prod(axis=1)
    size = np.abs(table).max()
    table, exact = table / size, dict(zip(sets, exact / size, strict=True))

    def f(z):
        return table[(z < 0) @ (1 << np.arange(10))]

    plan = km.Plan.of(10, 0.1, 0.99)
    value = Counted(f)
    found = km.coefficients(value, plan, rng)
    assert value.count == plan.values
    assert {s for s, v in exact.items() if abs(v) >= 0.1} <= set(found)
    assert all(abs(exact[s]) >= 0.05 and abs(exact[s] - v) <= 0.025 for s, v in found.items())
    assert len(found) > 2
    z = points[:50]
    wanted = sum(v * z[:, s].prod(axis=1) for s, v in found.items())
    assert np.abs(km.combined(found, z) - wanted).max() < 1e-12


def test_a_quarter_at_forty_with_its_confidence():
    rng = generator(6, "test")
    plan = km.Plan.of(40, 0.25, 0.99)
    sets = [tuple(sorted(rng.choice(40, size, replace=False).tolist())) for size in (0, 1, 3, 20)]
    weights = np.array([0.25, -0.25, 0.25, -0.25])
    for _ in range(3):
        coins = Counted(  # answers of -1 and +1 whose mean is a sum of four characters
            lambda z: np.where(
                rng.random(len(z))
                < (1 + sum(w * z[:, s].prod(axis=1) for w, s in zip(weights, sets, strict=True)))
                / 2,
                1.0,
                -1.0,
            )
        )
        found = km.coefficients(coins, plan, rng)
        assert set(found) == set(sets)
        assert all(abs(found[s] - w) <= 1 / 16 for s, w in zip(sets, weights, strict=True))
        assert coins.count == plan.values < 700_000
    assert km.coefficients(lambda z: rng.choice([-1.0, 1.0], len(z)), plan, rng) == {}


def test_fewer_rounds_than_planned_miss_as_often_as_the_bound_allows():
    rng = generator(7, "test")
    plan = replace(km.Plan.of(8, 0.5, 0.99), bits=7, rounds=1)
    missed = (8 + 4) * 3 / 2**7  # 0.28
    sets = [(0,), (1, 2), (3,), (1, 2, 0, 3)]  # (a + b + c - a b c)/2 is -1 or 1

    def f(z):
        a, b, c = z[:, 0], z[:, 1] * z[:, 2], z[:, 3]
        return (a + b + c - a * b * c) / 2.0

    runs = [km.coefficients(f, plan, rng) for _ in range(100)]
    assert np.mean([tuple(sorted(s)) not in r for r in runs for s in sets]) <= missed


def test_characters_that_are_found_show_the_member():
    for spec in (
        *("parity:d=41,m=3", "parity:d=21,m=5,noise=0.1"),
        *("profile:g=majority,d=21,m=5", "lpn:n=12,noise=0.1"),
    ):
        found = learn("km", spec)
        assert found.secret_recovered, spec
        assert found.usage.values == found.details["values_planned"]
        forecast = parse_learner("km").forecast(parse(spec))
        assert forecast.startswith(f"{found.usage.values:,} values")


@pytest.mark.parametrize(
    "spec",
    [
        "parity:d=9,m=3,noise=0.1",
        "parity_position:d=9,m=2,w0=gaussian,noise=0.1",
        "composed:d=9,m=3",
        "profile:g=h**2,d=9,m=3",
        "tokens3:d=6,m=2,noise=0.1",
    ],
)
def test_a_hidden_function_is_what_labels_show(spec):
    instance = parse(spec).instance(0)
    family, secret = instance.family, instance.hidden.secret
    hidden = family.hidden_function
    z = generator(0, "test").choice(np.array([-1, 1], np.int8), (300, hidden.places))
    x = hidden.tokens(z)
    values = hidden.read(x, family.label(secret, x))
    assert np.abs(values).max() <= hidden.largest
    inside = np.array(secret) - 1
    counts = (z[:, inside] < 0).sum(axis=1)
    assert all(len(set(values[counts == h])) == 1 for h in set(counts))
    assert hidden.secret(tuple(inside.tolist())) == secret
    noisy = hidden.read(x, instance.values(0, x))
    assert np.mean(noisy != values) == pytest.approx(hidden.noise, abs=0.07)
    drawn = instance.examples(0, 200).x  # with f as it is labels are those without noise
    profile = {h: values[counts == h][0] for h in set(counts)}
    labels = hidden.labels(
        drawn, lambda z: np.array([profile[h] for h in (z[:, inside] < 0).sum(axis=1)])
    )
    assert np.abs(labels - family.label(secret, drawn)).max() < 1e-12


def test_a_function_that_is_no_members_is_predicted_by_its_characters():
    found = learn("km:theta=0.2", "lwr:n=3,q=8,p=2,secret=binary")
    assert found.secret_recovered is None
    assert found.details["found"] > 1
    assert found.risk.high < 1


def test_the_table_of_values_is_what_runs_take():
    page = (ROOT / "docs/membership.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| `(\S+)` \| (\d+) \| (\S+) \| (\S+) \|$", page, re.M)
    assert len(listed) > 8
    for learner, spec, values, ratio, error in listed:
        instance = parse(spec).instance(0)
        found, usage = learn_once(parse_learner(learner), instance, Budget(values=int(values)))
        assert usage.values == int(values)
        assert f"{int(values) / parse(spec).d ** 2:.2f}" == ratio
        errors = match(found.layer, instance.layer())
        assert max(errors.theta + errors.w) < 100 * float(error) < 1e-8
        assert found.layer.m == instance.family.layer_heads
