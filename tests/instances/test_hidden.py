"""A parity among random heads: both parts, what is hidden, and what a learner is left with."""

import itertools

import numpy as np
import pytest

from hardness.lower import verify
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.risk import measure
from hardness.runs.share import hidden_share
from hardness.upper import Outcome, parse_learner
from instances import UsageError, parse
from instances.family import Instance

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
    hard, nice = family.twin.layer(secret[1:]), family.nice_part(secret)
    assert layer.m == family.layer_heads == hard.m + nice.m
    assert np.abs(layer(x) - family.label(secret, x)).max() < 1e-12
    assert np.abs(nice(x) + hard(x) - layer(x)).max() < 1e-12
    assert np.linalg.norm(nice.w, axis=(1, 2)) == pytest.approx([1.0] * nice.m)
    rows = np.sqrt((layer(x) ** 2).sum(axis=2))
    assert rows.max() <= family.reach(secret) * np.sqrt(family.d)


def test_hidden_parts_are_orthogonal_and_the_share_is_the_risk_of_all_else():
    """By brute force over all tokens."""
    one, other = member(7, 1, 2), member(7, 2, 3)
    parts = [
        SMALL.label(i.hidden.secret, EVERY) - SMALL.nice_part(i.hidden.secret)(EVERY)
        - SMALL.known(EVERY)
        for i in (one, other)
    ]  # fmt: skip
    assert abs((parts[0] * parts[1]).sum()) < 1e-9
    assert (parts[0] ** 2).sum(axis=(1, 2)).mean() == pytest.approx(1)
    whole = SMALL.mean(one.hidden.secret, EVERY) - SMALL.known(EVERY)
    exact = 1 / (whole**2).sum(axis=(1, 2)).mean()
    found = hidden_share(one)
    assert found.low <= exact <= found.high < 1.1 * found.low
    nice = SMALL.nice_part(one.hidden.secret)
    risk = measure(one, lambda x: nice(x) + SMALL.known(x))
    assert risk.low <= exact <= risk.high


def test_a_query_may_subtract_the_other_heads():
    """With the same random heads members differ as parities do, whatever the heads."""
    x = EVERY
    for number in (3, 4):
        moved = SMALL.label((number, 1, 2), x) - SMALL.label((number, 1, 3), x)
        twin = SMALL.twin.label((1, 2), x) - SMALL.twin.label((1, 3), x)
        assert np.abs(moved - twin).max() < 1e-12


def test_verification_tells_equal_sets_from_different_ones():
    family = parse("hidden:d=6,hard=2,nice=1,noise=0.5")
    found = verify(family, members=30, samples=20_000)  # of 10 sets: some are the same
    found.require()
    assert (np.abs(found.gram.gram - np.eye(30)) > 0.5).any()


def test_secrets_are_the_same_by_heads_and_set():
    assert SMALL.same((5, 1, 2), (5, 2, 1))
    assert not SMALL.same((5, 1, 2), (6, 1, 2))
    assert not SMALL.same((5, 1, 2), (5, 1, 3))
    for secret in ((5, 1), (-1, 1, 2), (5, 1, 4)):
        with pytest.raises(UsageError, match="secret"):
            SMALL.layer(secret)


def test_the_provable_learner_flags_what_it_leaves():
    learner, spec = parse_learner("staged:examples=1000,polish=10"), "hidden:d=10,hard=5,nice=2"
    found = run(learner, parse(spec).instance(0), Budget(examples=3000))
    assert found.outcome is Outcome.DEGENERATE
    assert "no gap among the eigenvalues" in found.details["failed"]
    flagged = {s["name"] for s in found.details["diagnosis"] if s["flagged"]}
    assert {"gap of the span", "hold-out error", "error over linear"} <= flagged


@pytest.mark.slow
def test_the_risk_that_stays_is_the_hidden_share():
    """Of Adam; the random heads alone are learned."""
    instance = parse("hidden:d=16,hard=4,nice=4").instance(0)
    found, share = run(parse_learner("student"), instance, Budget()), hidden_share(instance)
    assert found.risk.low <= share.low < share.high <= found.risk.high
    assert found.risk.high < 1.5 * share.value
    control = run(parse_learner("levenberg"), parse("nice:m=4,k=2,d=16").instance(0), Budget())
    assert control.outcome is Outcome.SOLVED


def test_out_of_range_is_refused():
    for text in ("hard=6", "nice=0", "weight=0", "nice=10", "weight=4"):
        given = {"hard": "hard=2", "nice": "nice=1"} | {text.partition("=")[0]: text}
        with pytest.raises(UsageError, match=text):
            parse("hidden:d=6," + ",".join(given.values()))
    with pytest.raises(UsageError, match="nothing but the hidden part"):
        hidden_share(parse("tokens3:d=6,m=2").instance(0))
