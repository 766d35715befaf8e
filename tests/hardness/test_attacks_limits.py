"""Attacks where there is little: few samples, little time, no error, secrets that are one."""

import pytest

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from hardness.upper.costs import costs, patience
from instances import parse
from instances.samples import samples
from instances.streams import generator
from instances.uniform import Uniform


@pytest.mark.parametrize("spec", ["lwe:n=8,q=61,alpha=0.005,secret=binary", "lwr:n=4,q=13,p=13"])
@pytest.mark.parametrize("examples", [1, 8])
def test_halves_meet_on_as_few_samples_as_there_are(spec, examples):
    for seed in range(2):
        instance = parse(spec).instance(seed)
        found = run(parse_learner("mitm"), instance, Budget(examples=examples), seed)
        assert found.outcome is Outcome.EXAMPLES_SPENT


@pytest.mark.clocks
def test_the_list_of_half_secrets_stops_where_time_is_over(ticks):
    """Ten million half secrets: the clock is looked at again and again while they are written."""
    ticks(0.1)
    family = parse("lwe:n=30,q=16,error=cbd,eta=1,secret=ternary")
    oracle = ExampleOracle(family.instance(0), Meter(Budget(seconds=0.9, examples=60)))
    found = parse_learner("mitm").learn(oracle, generator(0, "test"))
    assert found.outcome is Outcome.SECONDS_SPENT
    assert found.details["start"] == 0
    assert found.details["tried"] == 0


@pytest.mark.parametrize(("q", "parts"), [(31, 31), (8, 8)])
def test_secrets_of_one_function_are_one_member(q, parts):
    """Whether <a, s> is 0 does not tell s from its multiples by units."""
    family = parse(f"window:n=3,q={q},parts={parts},h=2")
    for seed in range(2):
        found = run(parse_learner("bruteforce"), family.instance(seed), Budget(), seed)
        assert found.outcome is Outcome.SOLVED
        assert found.risk.value == 0
        assert found.secret_recovered is True
    assert not family.same((1, 2, 0), (1, 3, 0))
    assert not parse("window:n=3,q=16,parts=8").same((1, 3, 0), (3, 9 - 16, 0))


@pytest.mark.clocks
def test_what_is_no_member_is_not_claimed():
    """Coins favour one of 2^28 vectors by more than any of the 28 members."""
    family = parse("parity:d=29,m=1,noise=0.1")
    for seed in range(6):
        source = Uniform(family=family, seed=seed)
        oracle = ExampleOracle(source, Meter(Budget(examples=100)))
        found = parse_learner("bkw").learn(oracle, generator(seed, "test"))
        assert found.secret is None or len(found.secret) == family.m


@pytest.mark.clocks
def test_arora_ge_does_not_start_what_would_not_end(ticks):
    """A part of its elimination takes a second: the whole would take over ten."""
    ticks(1.0)
    family = parse("lwe:n=4,q=251,sigma=2,secret=gaussian,spread=1,h=1")
    found = run(parse_learner("arora-ge:errors=13"), family.instance(0), Budget(seconds=10), 0)
    assert found.outcome is Outcome.SECONDS_SPENT


@pytest.mark.clocks
@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("bruteforce", "lwe:n=32,q=3,sigma=1,secret=cbd,spread=1,h=5"),
        ("mitm", "lpn:n=24,noise=0.4"),
    ],
)
def test_steps_between_looks_at_the_clock_are_shorter_where_labels_tell_little(name, spec, ticks):
    """A candidate is given up after thousands of samples, not ten: so fewer are tried at once."""
    ticks(0.1)
    family = parse(spec)
    source = Uniform(family=family, seed=1)
    oracle = ExampleOracle(source, Meter(Budget(seconds=2)))
    found = parse_learner(name).learn(oracle, generator(0, "test"))
    assert found.outcome is Outcome.SECONDS_SPENT
    clear = parse("lwr:n=24,q=64,p=4,secret=binary,h=6")
    patient, quick = (
        patience(costs(samples(f.instance(0).examples(0, 9000)))) for f in (family, clear)
    )
    assert patient > 100 > 10 > quick
    assert found.details["steps"] > 500
