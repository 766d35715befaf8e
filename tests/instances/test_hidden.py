"""A parity among random heads: both parts, what is hidden, and what a learner is left with."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower import BoundParameters, certify, verify
from hardness.oracles import Budget
from hardness.report.run import run_words
from hardness.runs import run
from hardness.runs.risk import losses, measure
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
    hard, nice = family.plain.layer(secret[1:]), family.nice_part(secret)
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
    drawn = one.examples(0, 500)
    of_these = losses(one, drawn, predict(drawn.x))
    assert of_these.risk == pytest.approx(part**2)
    assert of_these.unclipped == pytest.approx(part**2)


def test_no_hypothesis_fits_more_members_than_is_certified_in_the_risk_of_a_run():
    """Brute force over sets, given the random heads, and over all tokens."""
    known, sets = rest(member(7, 1, 2))(EVERY), itertools.combinations(range(1, 4), 2)
    hidden = [SMALL.mean((7, *one), EVERY) - known for one in sets]
    for risk in (Fraction(1, 4), Fraction(11, 20), Fraction(9, 10)):
        steps = certify(SMALL, BoundParameters(risk=risk)).to_dict()
        says = next(c["says"] for c in steps["goal"]["claims"] if c["quantity"] == "stat-queries")
        most = int(says.rpartition("fits at most ")[2].partition(";")[0])
        found = 0
        for count, near in itertools.product((1, 2, 3), np.linspace(0, 1, 41)):
            h = near * sum(hidden[:count])  # members are alike: which of them does not matter
            risks = [((f - h) ** 2).sum() / (f**2).sum() for f in hidden]
            found = max(found, sum(one <= risk for one in risks))
        assert found == most


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
def test_the_risk_that_stays_is_the_hidden_part():
    """Of Adam; the random heads alone are learned."""
    found = run(parse_learner("student"), parse("hidden:d=16,hard=4,nice=4").instance(0), Budget())
    assert found.risk.low <= 1 <= found.risk.high < 1.3
    assert "(1 = knowing the random heads and no more, 0 = all)" in run_words(found)
    control = run(parse_learner("levenberg"), parse("nice:m=4,k=2,d=16").instance(0), Budget())
    assert control.outcome is Outcome.SOLVED
