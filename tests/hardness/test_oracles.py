import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.oracles import (
    Budget,
    Character,
    Correlational,
    ExactOracle,
    ExampleOracle,
    Meter,
    Query,
    SampledOracle,
    Spent,
)
from instances import Parity, UsageError, parse, write_folder

TAU = Fraction(1, 10)


def meter(**limits):
    return Meter(Budget(**limits))


@pytest.mark.parametrize("noise", ["0", "0.2"])
def test_a_character_three_ways(noise):
    """By the closed form, by enumeration, and from samples."""
    instance = parse(f"parity:d=6,m=2,noise={noise}").instance(0)
    closed, sampled = ExactOracle(instance, TAU, meter()), SampledOracle(instance, TAU, meter())
    for subset in (
        (1, 2),
        (3, 5),
        (1, 2, 4),
        (4,),
        instance.hidden.secret,
        (0, *instance.hidden.secret),
    ):
        query = Character(subset=subset)
        exact = closed.ask(query)
        assert closed.ask(Query(phi=as_function(subset))) == pytest.approx(exact, abs=1e-12)
        assert abs(sampled.ask(query) - exact) <= TAU


def as_function(subset):
    def phi(x, y):
        z = x[:, 0] * x[:, 1]
        return (z[:, 0] < 0) * y[:, 0, 0] * x[:, 0, 0] * z[:, list(subset)].prod(axis=1)

    return phi


def test_packed_and_dense_queries_agree_example_by_example():
    examples = parse("parity:d=70,m=3,noise=0.1").instance(0).examples(0, 400)
    for subset in ((1, 2, 3), (65, 69), (5,)):
        dense = Query(phi=as_function(subset)).values(examples)
        assert (Character(subset=subset).values(examples) == dense).all()


def test_correlational_queries_are_y_times_h():
    instance = parse("parity:d=5,m=2").instance(0)

    def h(x):
        out = np.zeros(x.shape)
        z = x[:, 0] * x[:, 1]
        out[:, 0, 0] = (z[:, 0] < 0) * x[:, 0, 0] * z[:, 1] * z[:, 2]
        return out

    oracle = ExactOracle(instance, TAU, meter())
    assert oracle.ask(Correlational(h=h)) == oracle.ask(Character(subset=(1, 2)))


def test_honest_answers_are_within_tau():
    instance = parse("parity:d=9,m=2,noise=0.1").instance(3)
    oracle = SampledOracle(instance, Fraction(1, 20), meter())
    exact = ExactOracle(instance, TAU, meter())
    rng = np.random.default_rng(0)
    for _ in range(10):
        weights = rng.normal(size=(2, 9))

        def phi(x, y, weights=weights):
            return np.tanh((x * weights).sum(axis=(1, 2)) * y[:, 0, 0])

        query = Query(phi=phi)
        assert abs(oracle.ask(query) - exact.ask(query)) <= 0.05


def test_samples_a_query_are_hoeffdings():
    oracle = SampledOracle(parse("parity:d=9,m=2").instance(0), TAU, meter())
    oracle.ask(Character(subset=(1, 2)))
    assert oracle.samples == oracle.meter.examples == math.ceil(200 * math.log(2e6))


def test_every_query_takes_fresh_samples():
    oracle = SampledOracle(parse("parity:d=9,m=2").instance(0), TAU, meter())
    assert oracle.ask(Character(subset=(1, 3))) != oracle.ask(Character(subset=(1, 3)))


@pytest.mark.parametrize(
    ("phi", "word"),
    [
        (lambda x, y: 2 * y[:, 0, 0], "allowed"),
        (lambda x, y: np.full(len(x), np.nan), "allowed"),
        (lambda x, y: y, "shape"),
    ],
)
def test_queries_out_of_range_are_refused(phi, word):
    oracle = SampledOracle(parse("parity:d=9,m=2").instance(0), TAU, meter())
    with pytest.raises(UsageError, match=word):
        oracle.ask(Query(phi=phi))


def test_exact_answers_beyond_enumeration_are_refused():
    oracle = ExactOracle(parse("parity:d=11,m=2").instance(0), TAU, meter())
    with pytest.raises(UsageError, match="d <= 10"):
        oracle.ask(Query(phi=lambda x, y: x[:, 0, 0]))


@given(st.integers(1, 50), st.lists(st.integers(1, 20), min_size=1, max_size=9))
def test_an_example_budget_is_never_passed(limit, draws):
    oracle = ExampleOracle(parse("parity:d=9,m=2").instance(0), meter(examples=limit))
    total = 0
    for count in draws:
        if total == limit:
            with pytest.raises(Spent):
                oracle.draw(count)
        else:
            total += len(oracle.draw(count))
    assert total == min(limit, sum(draws)) == oracle.meter.usage().examples


def test_a_query_budget_is_never_passed():
    oracle = ExactOracle(parse("parity:d=9,m=2").instance(0), TAU, meter(queries=2))
    for _ in range(2):
        oracle.ask(Character(subset=(1, 2)))
    with pytest.raises(Spent) as spent:
        oracle.ask(Character(subset=(1, 2)))
    assert spent.value.resource == "queries"
    assert oracle.meter.usage().queries == 2


def test_a_folder_ends(tmp_path):
    folder = write_folder(tmp_path / "x", parse("parity:d=9,m=2").instance(0), 10)
    oracle = ExampleOracle(folder, meter())
    assert len(oracle.draw(7)) + len(oracle.draw(7)) == 10
    assert oracle.meter.usage().examples == 10
    with pytest.raises(Spent):
        oracle.draw(1)


def test_learning_and_judging_examples_differ():
    instance = parse("parity:d=70,m=2").instance(0)
    seen = {
        e.tobytes() for a in ("examples", "queries") for e in instance.examples(0, 2000, a).words
    }
    assert len(seen) == 4000
    assert not seen & {e.tobytes() for e in instance.examples(0, 2000, "evaluate").words}


def test_budgets_and_tolerances_out_of_range_are_refused():
    for limits in ({"examples": 0}, {"queries": -1}, {"seconds": 0.0}):
        with pytest.raises(UsageError, match=r"at least 1 is needed|above 0"):
            Budget(**limits)
    for most in (float("inf"), 1e300, 1.1e9):  # no clock or timeout of a system holds these
        for name in ("seconds", "cpu_seconds"):
            with pytest.raises(UsageError, match=rf"{name} given: .* at most 1e\+09"):
                Budget(**{name: most})
    assert Budget(seconds=1e9).seconds == 1e9
    with pytest.raises(UsageError, match="tau"):
        ExactOracle(Parity(d=4, m=1).instance(0), Fraction(0), meter())
