"""Oracles: what they answer, what they count, what they refuse; learners that choose tokens."""

import math
import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.learners import Outcome
from hardness.oracles import (
    Budget,
    Character,
    ExactOracle,
    ExampleOracle,
    Meter,
    Query,
    SampledOracle,
    Spent,
    ValueOracle,
)
from hardness.report.charts.runs import ONLY_LABEL_BOUND, both_sides, both_sides_rows
from hardness.report.comparison import comparison_words
from hardness.report.stress import stress_words
from hardness.runs import compare, run, stress
from hardness.runs.game import play
from hardness.runs.registry import LEARNERS, class_of, parse_learner, view_of
from hardness.runs.run import Run
from instances import Parity, ToolkitError, UsageError, parse, read_folder, write_folder
from instances.ladders import ladder_of
from tests.charts import of, points, titles
from tests.conftest import not_refused

TAU = Fraction(1, 10)
PARITY = Parity(d=9, m=2).instance(0)
FLIPS = parse_learner("flips")


def meter(**limits):
    return Meter(Budget(**limits))


def as_function(subset):
    """A character of z as a query of raw tokens."""

    def phi(x, y):
        z = x[:, 0] * x[:, 1]
        return (z[:, 0] < 0) * y[:, 0, 0] * x[:, 0, 0] * z[:, list(subset)].prod(axis=1)

    return phi


def test_packed_and_dense_queries_agree_example_by_example():
    examples = parse("parity:d=70,m=3,noise=0.1").instance(0).examples(0, 400)
    for subset in ((1, 2, 3), (65, 69), (5,)):
        dense = Query(phi=as_function(subset)).values(examples)
        assert (Character(subset=subset).values(examples) == dense).all()


def test_honest_answers_are_within_tau_from_fresh_samples_as_many_as_hoeffding_asks_for():
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
    oracle = SampledOracle(instance, TAU, meter())
    first = oracle.ask(Character(subset=(1, 3)))
    assert oracle.samples == oracle.meter.examples == math.ceil(200 * math.log(2e6))
    assert oracle.ask(Character(subset=(1, 3))) != first


def test_what_is_out_of_range_is_refused():
    sampled = SampledOracle(PARITY, TAU, meter())
    large = ExactOracle(parse("parity:d=14,m=2").instance(0), TAU, meter())
    cases = [
        ("2 y", lambda: sampled.ask(Query(phi=lambda x, y: 2 * y[:, 0, 0])), "allowed"),
        ("nan", lambda: sampled.ask(Query(phi=lambda x, y: np.full(len(x), np.nan))), "allowed"),
        ("y", lambda: sampled.ask(Query(phi=lambda x, y: y)), "shape"),
        ("d", lambda: large.ask(Query(phi=lambda x, y: x[:, 0, 0])), "d must be at most 13"),
        ("tau", lambda: ExactOracle(PARITY, Fraction(0), meter()), "tau"),
        ("examples", lambda: Budget(examples=0), "an integer of at least 1"),
        ("queries", lambda: Budget(queries=-1), "an integer of at least 1"),
        ("seconds", lambda: Budget(seconds=0.0), "above 0"),
    ]
    for name in ("seconds", "cpu_seconds"):
        for most in (float("inf"), 1e300, 1.1e9):  # no clock or timeout of a system holds these
            call = lambda name=name, most=most: Budget(**{name: most})  # noqa: E731
            cases += [(most, call, f"a budget of {name} must be"), (most, call, "at most 1e+09")]
    assert not_refused(UsageError, cases) == []


@given(st.integers(1, 50), st.lists(st.integers(1, 20), min_size=1, max_size=9))
def test_an_example_budget_is_never_passed(limit, draws):
    oracle = ExampleOracle(PARITY, meter(examples=limit))
    total = 0
    for count in draws:
        if total == limit:
            with pytest.raises(Spent):
                oracle.draw(count)
        else:
            total += len(oracle.draw(count))
    assert total == min(limit, sum(draws)) == oracle.meter.usage().examples


def test_budgets_are_never_passed_and_a_folder_ends(tmp_path):
    assert Budget(seconds=1e9).seconds == 1e9
    oracle = ExactOracle(PARITY, TAU, meter(queries=2))
    for _ in range(2):
        oracle.ask(Character(subset=(1, 2)))
    with pytest.raises(Spent) as spent:
        oracle.ask(Character(subset=(1, 2)))
    assert spent.value.resource == "queries"
    assert oracle.meter.usage().queries == 2
    oracle = ExampleOracle(write_folder(tmp_path / "x", PARITY, 10), meter())
    assert len(oracle.draw(7)) + len(oracle.draw(7)) == 10
    assert oracle.meter.usage().examples == 10
    with pytest.raises(Spent):
        oracle.draw(1)


# Membership queries: labels of inputs that the learner chooses.

FAMILIES = (
    "parity:d=70,m=3,noise=0.2",
    "lpn:n=6,noise=0.2",
    "profile:g=majority,d=8,m=3,noise=0.2",
    "nice:m=2,k=3,d=4,noise=0.5,tokens=gaussian",
    "linear:m=2,k=3,d=4,noise=0.5",
)


def chosen(family, count, seed=0):
    rng = np.random.default_rng(seed)
    shape = (count, family.k, family.d)
    signs = family.token_text == "boolean"
    return rng.choice([-1, 1], shape) if signs else rng.normal(size=shape)


@pytest.mark.parametrize("spec", FAMILIES)
def test_answers_are_labels_with_fresh_noise_the_same_in_any_batching(spec):
    instance = parse(spec).instance(3)
    x = np.concatenate([chosen(instance.family, 150)] * 2)  # everything twice
    whole = ValueOracle(instance, meter()).value(x)
    piecewise = ValueOracle(instance, meter())
    cuts = np.split(np.arange(300), [1, 2, 2, 40, 41, 299])
    assert np.concatenate([piecewise.value(x[rows]) for rows in cuts]).tobytes() == whole.tobytes()
    assert piecewise.meter.values == 300
    # The noise of a place is the stream's: of its own axis, and another one for the same tokens.
    truth = instance.family.label(instance.hidden.secret, x)
    assert (np.abs(whole - truth).max(axis=(1, 2)) > 1e-9).any()
    assert (whole[:150] != whole[150:]).any()
    quiet = parse(re.sub("noise=[^,]*", "noise=0", spec)).instance(3)
    exact = ValueOracle(quiet, meter()).value(x)
    again = quiet.family.label(quiet.hidden.secret, x)
    assert exact == pytest.approx(again, abs=1e-11 * (1 + np.abs(again).max()))


def test_noise_has_its_rate_and_repetition_averages_it():
    instance = parse("parity:d=8,m=3,noise=0.2").instance(0)
    x = np.ones((1, 2, 8))
    x[0, 1, 0] = -1
    answers = ValueOracle(instance, meter()).value(np.repeat(x, 4000, axis=0))[:, 0, 0]
    truth = instance.family.label(instance.hidden.secret, x)[0, 0, 0]
    assert abs(np.mean(answers != truth) - 0.2) < 5 * np.sqrt(0.16 / 4000)
    first = instance.examples(0, 4000)  # their noise is another
    said = first.x[:, 0, 0] != first.x[:, 1, 0]
    flips = (first.y != instance.family.label(instance.hidden.secret, first.x)).any(axis=(1, 2))
    assert (flips[said] != (answers != truth)[said]).any()


def test_a_budget_of_values_is_kept_exactly_and_a_call_that_does_not_fit_costs_nothing():
    instance = parse("parity:d=8,m=3").instance(0)
    oracle = ValueOracle(instance, meter(values=10))
    oracle.value(chosen(instance.family, 7))
    for count in (4, 1000):
        with pytest.raises(Spent) as spent:
            oracle.value(chosen(instance.family, count))
        assert spent.value.resource == "values"
        assert oracle.meter.values == 7
    assert oracle.value(chosen(instance.family, 3)).shape == (3, 2, 8)
    assert oracle.value(np.ones((0, 2, 8))).shape == (0, 2, 8)
    assert oracle.meter.usage().values == 10
    assert oracle.meter.usage().examples == 0


def test_other_tokens_are_refused_in_one_line_and_cost_nothing():
    parity, real, placed = (
        ValueOracle(parse(spec).instance(0), meter())
        for spec in ("parity:d=8,m=3", "nice:m=1,k=2,d=4,tokens=gaussian", "direction:m=1,d=4")
    )
    table = [
        (parity, np.ones((3, 2, 7)), "numbers of shape (n, 2, 8), got float64 of shape (3, 2, 7)"),
        (parity, np.full((1, 2, 8), 0.5), "parity must be -1 or +1, got 0.5"),
        (parity, np.full((1, 2, 8), np.nan), "got nan"),
        (parity, np.ones((1, 2, 8), bool), "got bool of shape"),
        (real, np.full((1, 2, 4), np.inf), "at most 1e+100, got inf"),
        (real, np.full((1, 2, 4), 1j), "got complex128 of shape"),
        (placed, np.ones((1, 2, 4)), "coordinate 0 of token 2 must be -1, got 1"),
    ]
    cases = [(said, lambda at=at, x=x: at.value(x), said) for at, x, said in table]
    assert not_refused(UsageError, cases) == []
    assert parity.meter.values == real.meter.values == placed.meter.values == 0


def test_a_learner_by_values_runs_and_its_record_reads_back():
    instance = parse("parity:d=1000,m=21").instance(0)
    found = run(FLIPS, instance, Budget(values=1000))
    assert found.outcome is Outcome.SOLVED
    assert found.secret_recovered
    assert (found.membership_queries, found.examples, found.queries) == (1000, 0, 0)
    assert found.limited_by == "values"
    assert found.reproducible
    assert "tau" not in found.details
    assert Run.read(found.to_dict()) == found
    spent = run(FLIPS, instance, Budget(values=999))
    assert spent.outcome is Outcome.VALUES_SPENT
    assert (spent.limited_by, spent.membership_queries) == ("values", 0)
    assert "--budget-values" in spent.outcome.advice


def test_what_cannot_answer_says_so(tmp_path):
    family = parse("parity:d=8,m=3")
    with pytest.raises(ToolkitError, match="flips asks membership queries: the adversary answers"):
        play(FLIPS, family, Budget(), seed=0)
    assert run(
        FLIPS, write_folder(tmp_path / "x", family.instance(0), 10), Budget()
    ).secret_recovered
    (tmp_path / "x" / "secret.json").unlink()
    with pytest.raises(ToolkitError, match="flips asks for labels of inputs of its choice: the fo"):
        run(FLIPS, read_folder(tmp_path / "x"), Budget())


BINDS_NOBODY = "flips asks for labels of inputs of its choice: only the information floor binds it."


def test_comparisons_and_stress_tests_count_values_and_say_what_binds_nobody():
    made = compare("parity:m=2", "d=6..12..2", ("queries", "flips"), seeds=1)
    said = comparison_words(made)
    header, *rows = (line.split() for line in said.split("\n\n")[0].splitlines())
    assert header[2:6] == ["queries", "examples", "values", "seconds"]
    assert ["flips", "values", "-", "0", "8"] in [row[:5] for row in rows]
    assert BINDS_NOBODY in " ".join(said.split())
    pictured = both_sides_rows(made)
    assert pictured["costs"] == ["queries", "examples", "values", "seconds"]
    runs = [row for row in pictured["rows"] if row["kind"] == "run" and "values" in row]
    assert [row["values"] for row in runs if row["learner"].startswith("flips")] == [6, 8, 10, 12]
    drawn = both_sides(pictured)
    panel = titles(drawn)["Membership queries"]
    assert [y for _, y in points(panel, colour=of("flips"))] == [6, 8, 10, 12]
    assert ONLY_LABEL_BOUND in drawn.caption
    frame = made.to_frame()
    asked = frame[frame["learner"].str.startswith("flips")]["membership_queries"]
    assert asked.tolist() == [6, 8, 10, 12]
    other = compare("parity:m=2", "d=6..8", ("elimination",), seeds=1)
    assert "values" not in comparison_words(other).split("\n\n")[0]
    assert "values" not in both_sides_rows(other)["costs"]
    assert "binds" not in comparison_words(other)
    found = stress(["flips"], ladder_of(["parity:d=8,m=2", "parity:d=10,m=3"]), 5, base_seed=1)
    said = " ".join(stress_words(found).split())
    assert "1 5/5 0.47..1.00 0 0 8" in said
    assert said.count(BINDS_NOBODY) == 1
    assert found.attempts[0].levels[1].to_dict()["median_values"] == 10


def test_every_learner_has_a_class_and_sees_what_its_oracle_gives_and_the_manual_says():
    kinds = {"examples": {"tokens", "z", "nothing"}, "queries": {"queries"}, "values": {"values"}}
    page = (Path(__file__).parents[2] / "docs/learners.md").read_text()
    for name, learner in LEARNERS.items():
        assert view_of(name) in kinds[learner.access], name
        assert re.search(rf"^\| \[`{name}`\]\(\S+\) \| {view_of(name)} \|", page, re.M), name
    assert {class_of(name).name for name in LEARNERS} >= {
        *("statistical queries", "examples", "gradient", "lattice")
    }
    assert class_of("mine.py:Net") is None
    assert class_of("mine.py:Net", chose=True).bound_by == ("information-floor",)
    assert view_of("mlp:steps=5", parse("parity:d=8,m=2")) == "z"
    assert view_of("mlp:steps=5,view=tokens", parse("parity:d=8,m=2")) == "tokens"
    assert view_of("mlp:steps=5", parse("nice:m=1,k=2,d=4")) == "tokens"  # there is no z
    assert view_of("mine.py:Net", chose=True) == "values"


# The clock of budgets.


def test_a_budget_of_seconds_goes_by_the_clock(ticks):
    ticks(1.0)
    meter = Meter(Budget(seconds=2.5))
    meter.require_time()
    assert meter.has_time()
    with pytest.raises(Spent, match="seconds"):
        meter.require_time()
