"""Membership queries: labels of tokens that the learner chooses."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from hardness.oracles import Budget, Meter, Spent, Usage, ValueOracle
from hardness.report.charts.runs import FREE, draw_both_sides, of_both_sides
from hardness.report.comparison import comparison_words
from hardness.report.stress import stress_words
from hardness.runs import compare, run, stress
from hardness.runs.game import play
from hardness.runs.run import Run
from hardness.upper import Outcome, classes, registry
from hardness.upper.classes import class_of, view_of
from hardness.upper.learner import member
from instances import ToolkitError, UsageError, parse, write_folder
from instances.ladders import ladder_of
from instances.questions import Questions

FAMILIES = (
    "parity:d=70,m=3,noise=0.2",
    "lpn:n=6,noise=0.2",
    "profile:g=majority,d=8,m=3,noise=0.2",
    "nice:m=2,k=3,d=4,noise=0.5,tokens=gaussian",
    "dial:d=5,m=1,k=2,tau=2,noise=0.5",
    "linear:m=2,k=3,d=4,noise=0.5",
)


@dataclass(frozen=True, kw_only=True)
class Flips:
    """A parity by one base point and d - 1 single flips."""

    name: ClassVar[str] = "flips"
    access: ClassVar[str] = "values"
    revision: ClassVar[int] = 1
    about: ClassVar[str] = "flips"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        family = oracle.family
        x = np.ones((family.d, 2, family.d), np.int8)
        x[:, 1, 0] = -1  # where labels say something
        for j in range(1, family.d):
            x[j, 1, j] = -1
        factor = oracle.value(x)[:, 0, 0]
        return member(family, tuple(int(j) for j in np.flatnonzero(factor != factor[0])))


def chosen(family, count, seed=0):
    rng = np.random.default_rng(seed)
    shape = (count, family.k, family.d)
    boolean = family.questions.tokens == "boolean"
    return rng.choice([-1, 1], shape) if boolean else rng.normal(size=shape)


def oracle_of(instance, **limits):
    return ValueOracle(instance, Meter(Budget(**limits)))


@pytest.mark.parametrize("spec", FAMILIES)
def test_answers_are_labels_with_fresh_noise_the_same_in_any_batching(spec):
    instance = parse(spec).instance(3)
    x = np.concatenate([chosen(instance.family, 150)] * 2)  # everything twice
    whole = oracle_of(instance).value(x)
    piecewise = oracle_of(instance)
    cuts = np.split(np.arange(300), [1, 2, 2, 40, 41, 299])
    assert np.concatenate([piecewise.value(x[rows]) for rows in cuts]).tobytes() == whole.tobytes()
    assert piecewise.meter.values == 300
    # The noise of a place is the stream's: of its own axis, and another one for the same tokens.
    truth = instance.family.label(instance.hidden.secret, x)
    moved = np.abs(whole - truth).max(axis=(1, 2)) > 1e-9
    assert moved.any()
    assert (whole[:150] != whole[150:]).any()
    quiet = parse(re.sub("noise=[^,]*", "noise=0", spec)).instance(3)
    exact = ValueOracle(quiet, Meter(Budget())).value(x)
    again = quiet.family.label(quiet.hidden.secret, x)
    assert exact == pytest.approx(again, abs=1e-11 * (1 + np.abs(again).max()))


def test_noise_has_its_rate_and_repetition_averages_it():
    instance = parse("parity:d=8,m=3,noise=0.2").instance(0)
    x = np.ones((1, 2, 8))
    x[0, 1, 0] = -1
    answers = oracle_of(instance).value(np.repeat(x, 4000, axis=0))[:, 0, 0]
    truth = instance.family.label(instance.hidden.secret, x)[0, 0, 0]
    assert abs(np.mean(answers != truth) - 0.2) < 5 * np.sqrt(0.16 / 4000)
    first = instance.examples(0, 4000)  # their noise is another
    said = first.x[:, 0, 0] != first.x[:, 1, 0]
    flips = (first.y != instance.family.label(instance.hidden.secret, first.x)).any(axis=(1, 2))
    assert (flips[said] != (answers != truth)[said]).any()


def test_a_budget_is_kept_exactly_and_a_call_that_does_not_fit_costs_nothing():
    instance = parse("parity:d=8,m=3").instance(0)
    oracle = oracle_of(instance, values=10)
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


@pytest.mark.parametrize(
    ("spec", "x", "said"),
    [
        ("parity:d=8,m=3", np.ones((3, 2, 7)), r"shape (3, 2, 7) given: (n, 2, 8) is needed"),
        ("parity:d=8,m=3", np.ones((2, 8)), "(n, 2, 8) is needed"),
        ("parity:d=8,m=3", np.full((1, 2, 8), 0.5), "an entry 0.5 given: parity takes -1 and +1"),
        ("parity:d=8,m=3", np.full((1, 2, 8), 3, np.int8), "an entry 3 given"),
        ("parity:d=8,m=3", np.full((1, 2, 8), np.nan), "an entry nan given"),
        ("parity:d=8,m=3", np.ones((1, 2, 8), bool), "of type bool given"),
        ("parity:d=8,m=3", [[1], [1, 2]], "(n, 2, 8) is needed"),
        (
            "nice:m=1,k=2,d=4",
            np.full((1, 2, 4), np.inf),
            "an entry inf given: numbers up to 1e+100",
        ),
        ("nice:m=1,k=2,d=4", np.full((1, 2, 4), 1j), "of type complex128 given"),
        ("nice:m=1,k=2,d=4", np.full((1, 2, 4), "a"), "of type <U1 given"),
    ],
)
def test_other_tokens_are_refused_in_one_line_and_cost_nothing(spec, x, said):
    spec += ",tokens=gaussian" if spec.startswith("nice") else ""
    oracle = oracle_of(parse(spec).instance(0))
    with pytest.raises(UsageError, match=re.escape(said)) as error:
        oracle.value(x)
    assert "\n" not in str(error.value)
    assert oracle.meter.values == 0


def test_public_entries_are_held():
    family = parse("parity:d=8,m=3")
    asked = Questions(tokens="real", fixed=((0, 0, 1), (1, 0, -1)))
    x = np.ones((3, 2, 8))
    x[:, 1, 0] = -1
    assert (asked.checked(x, family) == x).all()
    x[2, 1, 0] = 1
    with pytest.raises(UsageError, match="1 in coordinate 0 of token 2 given: it is -1 here"):
        asked.checked(x, family)


def test_a_learner_by_values_runs_and_its_record_reads_back():
    instance = parse("parity:d=1000,m=21").instance(0)
    found = run(Flips(), instance, Budget(values=1000))
    assert found.outcome is Outcome.SOLVED
    assert found.secret_recovered
    assert (found.usage.values, found.usage.examples, found.usage.queries) == (1000, 0, 0)
    assert found.bound == "values"
    assert found.reproducible
    assert "tau" not in found.details
    assert Run.read(found.to_dict()).usage == found.usage
    spent = run(Flips(), instance, Budget(values=999))
    assert spent.outcome is Outcome.VALUES_SPENT
    assert spent.bound == "values"
    assert spent.usage.values == 0
    assert "--budget-values" in spent.outcome.advice


def test_who_cannot_answer_says_so(tmp_path):
    family = parse("parity:d=8,m=3")
    with pytest.raises(ToolkitError, match="flips asks membership queries: the adversary answers"):
        play(Flips(), family, Budget(), seed=0)
    made = write_folder(tmp_path / "made", family.instance(0))
    assert run(Flips(), made, Budget()).secret_recovered
    write_folder(tmp_path / "public", family.instance(0), 10)
    (tmp_path / "public" / "secret.json").unlink()
    from instances import read_folder

    with pytest.raises(
        ToolkitError, match="flips asks for labels of tokens of its choice: the fol"
    ):
        run(Flips(), read_folder(tmp_path / "public"), Budget())
    with pytest.raises(UsageError, match="nobody knows other labels of your data"):
        run(Flips(), data(), Budget())


def data():
    from instances.owndata import split

    drawn = parse("nice:m=1,k=2,d=4").instance(0).examples(0, 100)
    return split(drawn.x, drawn.y)


@pytest.fixture
def flips(monkeypatch):
    monkeypatch.setattr(registry, "LEARNERS", {**registry.LEARNERS, "flips": Flips})
    monkeypatch.setattr(classes, "LEARNERS", registry.LEARNERS)


def test_a_comparison_has_a_column_of_values_and_says_what_binds_nobody(flips):
    made = compare("parity:m=2", "d=6..12..2", ("queries", "flips"), seeds=1)
    said = comparison_words(made)
    header, *rows = (line.split() for line in said.split("\n\n")[0].splitlines())
    assert header[2:6] == ["queries", "examples", "values", "seconds"]
    assert ["flips", "values", "-", "0", "8"] in [row[:5] for row in rows]
    free = "flips asks for labels of tokens of its choice: only the information floor binds it."
    assert free in " ".join(said.split())
    assert "flips    values" in said
    assert "d^1.00" in said
    assert {(r.learner, r.usage.values > 0) for r in made.runs} >= {("flips", True)}
    pictured = of_both_sides(made)
    assert pictured["costs"] == ["queries", "examples", "values", "seconds"]
    runs = [row for row in pictured["rows"] if row["kind"] == "run" and row["learner"] == "flips"]
    assert [row["values"] for row in runs] == [6, 8, 10, 12]
    shown = str(draw_both_sides(pictured))
    assert "Membership queries" in shown
    assert FREE in shown
    frame = made.to_frame()
    assert frame[frame["learner"] == "flips"]["values_asked"].tolist() == [6, 8, 10, 12]
    assert [row.get("values") for row in made._rows()[1:3]] == [6, None]


def test_without_such_a_learner_nothing_is_said_of_values():
    made = compare("parity:m=2", "d=6..8", ("elimination",), seeds=1)
    assert "values" not in comparison_words(made).split("\n\n")[0]
    assert "values" not in of_both_sides(made)["costs"]
    assert "binds" not in comparison_words(made)


def test_a_stress_test_counts_values(flips):
    made = stress(["flips"], ladder_of(["parity:d=8,m=2", "parity:d=10,m=3"]), 5, base_seed=1)
    said = " ".join(stress_words(made).split())
    assert "1 5/5 0.48..1.00 0 0 8" in said
    assert (
        said.count(
            "flips asks for labels of tokens of its choice: only the information floor binds it."
        )
        == 1
    )
    assert made.climbs[0].rungs[1].to_dict()["median_values"] == 10


def test_every_learner_has_a_class():
    assert {class_of(name).name for name in registry.LEARNERS} >= {
        *("statistical queries", "examples", "gradient", "lattice")
    }
    assert class_of("mine.py:Net") is None
    assert class_of("mine.py:Net", chose=True).bound_by == ("information-floor",)


def test_what_a_learner_sees_is_what_its_oracle_gives_and_what_the_manual_says():
    kinds = {"examples": {"tokens", "z", "nothing"}, "queries": {"queries"}, "values": {"values"}}
    page = (Path(__file__).parents[2] / "docs/learners.md").read_text()
    for name, learner in registry.LEARNERS.items():
        assert view_of(name) in kinds[learner.access], name
        assert re.search(rf"^\| \[`{name}`\]\(\S+\) \| {view_of(name)} \|", page, re.M), name
    assert view_of("mlp:steps=5", parse("parity:d=8,m=2")) == "z"
    assert view_of("mlp:steps=5", parse("nice:m=1,k=2,d=4")) == "tokens"  # there is no z
    asked = Usage(examples=0, queries=0, values=3, seconds=0.1, peak_bytes=0)
    assert view_of("mine.py:Net", usage=asked) == "values"
