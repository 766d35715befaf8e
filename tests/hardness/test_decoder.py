"""Any learner as an attack: the secret falls out of what it learned, and of nothing else."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng as _rng

import hardness as h
from hardness.attacks.decoder import Decoder
from hardness.learners import Outcome
from hardness.learners.learner import Failed, Hypothesis
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.attack import as_attack
from hardness.runs.jobs import _origin
from hardness.runs.names import short
from hardness.runs.registry import parse_learner
from instances import parse
from tests.conftest import ByHand

SPECS = (
    "lwr:n=64,q=64,p=2,secret=binary",
    "lwr:n=16,q=64,p=8,secret=binary",
    "lwr:n=16,q=64,p=2,secret=ternary",
    "lwe:n=12,q=97,sigma=2,secret=cbd,spread=2",
    "lpn:n=32,noise=0.1",
)


class Planted(ByHand):
    """Has learned a member but for a share of the points, wherever `wrong` says."""

    view = "z"

    def __init__(self, instance, wrong):
        self.instance, self.wrong = instance, wrong

    def learn(self, oracle, rng):
        def predict(x):
            z = x[:, 0] * x[:, 1]
            sign = np.where(self.wrong(z), -1, 1)[:, None, None]
            return self.instance.family.mean(self.instance.hidden.secret, x) * sign

        return Hypothesis(predict=predict)


class Plane(Planted):
    """Has learned a plane that has nothing to do with the labels."""

    def learn(self, oracle, rng):
        plane = rng.normal(size=oracle.family.d)

        def predict(x):
            out = np.zeros(x.shape)
            out[:, :, 0] = (x[:, 0] * np.sign((x[:, 0] * x[:, 1]) @ plane)[:, None])[:, :1]
            return out

        return Hypothesis(predict=predict)


def by_chance(share):
    """Errors that look random: by a hash of the point."""

    def wrong(z):
        words = np.packbits(z > 0, axis=1)
        coins = [hashlib.blake2b(row.tobytes(), digest_size=4).digest() for row in words]
        return np.array([int.from_bytes(c, "big") for c in coins]) < share * 2**32

    return wrong


def on_purpose(share):
    """Errors that are chosen: the points on one side of a plane."""

    def wrong(z):
        heights = (z[:, 1:] @ _rng(5).normal(size=z.shape[1] - 1)) ** 2
        return heights < np.quantile(heights, share)

    return wrong


def decoded(instance, wrong, family=None, seed=0):
    oracle = ExampleOracle(family or instance, Meter(Budget()))
    return Decoder(learner=Planted(instance, wrong)).learn(oracle, _rng(seed))


@pytest.mark.parametrize("spec", SPECS)
def test_a_secret_falls_out_at_65_percent_by_chance_and_80_percent_on_purpose(spec):
    instance = parse(spec).instance(1)
    for wrong in (by_chance(0.0), by_chance(0.35 if "n=64" not in spec else 0.3), on_purpose(0.2)):
        found = decoded(instance, wrong)
        assert found.outcome is None
        assert instance.family.same(found.secret, instance.hidden.secret)
        assert found.details["evidence"] >= found.details["evidence_wanted"]
        assert found.details["points"] > 0


@pytest.mark.parametrize("spec", ["lwr:n=4,q=4,p=2", "lwr:n=4,q=8,p=2"])
def test_entries_of_half_of_q_have_one_sign_and_tell_no_others(spec):
    family = parse(spec)
    for seed in range(4):
        instance = family.instance(seed)
        found = decoded(instance, by_chance(0.0), seed=seed)
        assert family.same(found.secret, instance.hidden.secret)


def test_what_cannot_be_read_off_is_refused_before_it_is_learned():
    for spec, why in (
        ("lwr:n=4,q=128,p=2", "up to 32"),
        ("profile:g=majority,d=8,m=2", "linear_forms"),
    ):
        assert why in parse_learner("decode:mlp").supports(parse(spec))
    assert parse_learner("decode:mlp").supports(parse("lwr:n=4,q=7,p=7,secret=binary")) is None


class Slow(Planted):
    """Predicts, and all its time is over; says when it is let go of."""

    closed = 0

    def learn(self, oracle, rng):
        found = super().learn(oracle, rng)

        def predict(x):
            oracle.meter.restart()
            oracle.meter._start -= 10.0
            return found.predict(x)

        def close():
            self.closed += 1
            return {}

        return replace(found, predict=predict, close=close)


def test_reading_keeps_to_the_budget_of_seconds():
    instance = parse("lwr:n=64,q=64,p=2,secret=binary").instance(0)
    meter = Meter(Budget(seconds=5.0))
    found = Decoder(learner=Slow(instance, by_chance(0.0))).learn(
        ExampleOracle(instance, meter), _rng(0)
    )
    assert found.outcome is Outcome.SECONDS_SPENT
    assert found.secret is None
    assert found.details["points"] == 128  # asked once, and not 64 times more


class Offering(Planted):
    """Offers what it has, and draws until its examples are spent."""

    def learn(self, oracle, rng):
        oracle.meter.offer(super().learn(oracle, rng))
        while True:
            oracle.draw(64)


def test_what_a_learner_offered_is_read_if_its_examples_are_spent():
    instance = parse("lwr:n=16,q=64,p=8,secret=binary").instance(0)
    oracle = ExampleOracle(instance, Meter(Budget(examples=400)))
    found = Decoder(learner=Offering(instance, by_chance(0.0))).learn(oracle, _rng(0))
    assert instance.family.same(found.secret, instance.hidden.secret)
    assert found.details["learner_outcome"] == Outcome.EXAMPLES_SPENT.value


def test_what_fails_while_it_is_asked_is_let_go_of():
    instance = parse("lwr:n=8,q=16,p=2,secret=binary").instance(0)

    def broken(z):
        raise Failed(Outcome.CRASHED, {})

    learner = Slow(instance, broken)
    with pytest.raises(Failed):
        Decoder(learner=learner).learn(ExampleOracle(instance, Meter(Budget())), _rng(0))
    assert learner.closed == 1


@pytest.mark.parametrize(
    "runs", [pytest.param(20, id="few"), pytest.param(700, marks=pytest.mark.weekly, id="many")]
)
def test_no_secret_is_claimed_that_is_not_there(runs, monkeypatch):
    """Of coins, of hypotheses that learned nothing, of labels of another secret."""
    monkeypatch.setattr("hardness.attacks.decoder._POINTS", (64, 256))
    family = parse("lwr:n=6,q=16,p=2,secret=binary")
    for seed in range(runs):
        instance, other = family.instance(seed), family.instance(seed + 10_000)
        if family.same(instance.hidden.secret, other.hidden.secret):
            continue
        half = decoded(instance, by_chance(0.5), seed=seed)
        assert (half.secret, half.outcome) == (None, Outcome.NO_CLAIM)
        assert decoded(other, by_chance(0.0), family=instance, seed=seed).secret is None
        oracle = ExampleOracle(instance, Meter(Budget()))
        assert Decoder(learner=Plane(instance, None)).learn(oracle, _rng(seed)).secret is None


def test_attack_reads_the_secret_off_learners_built_in_and_from_a_file(hardness):
    mine = Path(__file__).parents[2] / "docs/examples/nearest.py"
    line = f"attack parity:d=8,m=2 --learner {mine}:nearest --learner lowdegree --seeds 2 --jobs 1"
    found = hardness(*line.split(), "--json")
    assert found.code == 0
    for one in found.json["attacks"]:
        assert one["learner"].startswith("decode:")
        assert one["recovered"] == 2
    runs = found.json["attacks"][0]["runs"]
    assert all(run["details"]["points"] > 0 for run in runs)  # lowdegree claims it itself


def test_attacks_stay_what_they_are_and_others_are_told_apart():
    family = parse("parity:d=8,m=2")
    assert as_attack("elimination", family) == "elimination"
    assert as_attack("lowdegree:degree=2", family) == "decode:lowdegree:degree=2"
    assert as_attack("queries", family) == "queries"
    assert as_attack("staged", parse("nice:m=2,k=2,d=8")) == "staged"
    assert parse_learner("decode:mlp:steps=5").spec.startswith("decode:mlp:")
    with pytest.raises(h.ToolkitError, match="unknown learner 'foo'"):
        parse_learner("decode:foo")


def test_a_file_that_a_decoder_asks_is_known_by_its_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learner = "decode:mine.py:Mine"
    Path("mine.py").write_text("one = 1")
    before = _origin(parse_learner(learner))
    Path("mine.py").write_text("one = 2")
    assert before is not None
    assert before != _origin(parse_learner(learner))


def test_a_decoder_is_named_without_defaults_and_not_without_a_learner(hardness):
    assert short(parse_learner("decode:mlp:steps=5").spec) == "decode:mlp:steps=5"
    for line in ("learn decode parity:d=8,m=2", "learners show decode", "learners show decode:"):
        found = hardness(*line.split())
        assert found.code == 2
        assert "decode:mlp" in found.err


class Claims(Planted):
    """Claims a secret, right or wrong, of a hypothesis that knows nothing."""

    def learn(self, oracle, rng):
        return replace(Plane.learn(self, oracle, rng), secret=self.wrong)


def test_a_claim_of_the_learner_itself_is_weighed():
    family = parse("lwr:n=6,q=16,p=2,secret=binary")
    instance, oracle = family.instance(0), lambda: ExampleOracle(instance, Meter(Budget()))
    right = instance.hidden.secret
    found = Decoder(learner=Claims(instance, right)).learn(oracle(), _rng(0))
    assert (found.secret, found.outcome, found.details["points"]) == (right, None, 0)
    assert found.details["evidence"] >= found.details["evidence_wanted"]
    for wrong in (right[::-1], right[:-1]):
        found = Decoder(learner=Claims(instance, wrong)).learn(oracle(), _rng(0))
        assert (found.secret, found.outcome) == (None, Outcome.NO_CLAIM)
