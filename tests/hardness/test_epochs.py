"""Several epochs over the same examples."""

from contextlib import suppress

import numpy as np
import pytest

from hardness.oracles import Budget, Epochs, ExampleOracle, Meter, Spent
from hardness.runs import run
from hardness.upper import Outcome, learner_spec, parse_learner, trained
from hardness.upper.trained import initial
from instances import parse, read_folder, write_folder


def keys(examples):
    """One number for each example."""
    parts = [t.reshape(len(examples), -1).astype(np.float64) for t in examples.tensors.values()]
    return [hash(row.tobytes()) for row in np.concatenate(parts, axis=1)]


@pytest.mark.parametrize(
    "spec", ["parity:d=24,m=3", "nice:m=1,k=2,d=12,tokens=boolean", "nice:m=1,k=3,d=6"]
)
@pytest.mark.parametrize("stored", [False, True])
def test_each_epoch_gives_the_same_examples_in_another_order(spec, stored, tmp_path):
    source, meter = parse(spec).instance(0), Meter(Budget(examples=None if stored else 50))
    if stored:
        source = write_folder(tmp_path / "folder", source, 50)
    oracle = Epochs(ExampleOracle(source, meter), 3, np.random.default_rng(1))
    order = []
    with suppress(Spent):
        while len(order) <= 150:
            order += keys(oracle.draw(20))
    assert (len(order), meter.examples, oracle.epoch, oracle.ended) == (150, 50, 3, True)
    first, second, third = order[:50], order[50:100], order[100:]
    assert len(set(first)) == 50
    assert set(first) == set(second) == set(third)
    assert first != second != third


def test_one_epoch_is_the_oracle_itself():
    meter = Meter(Budget(examples=7))
    instance, rng = parse("parity:d=8,m=2").instance(0), np.random.default_rng(0)
    oracle = Epochs(ExampleOracle(instance, meter), 1, rng)
    assert oracle.draw(9).agrees(instance.examples(0, 7))
    with pytest.raises(Spent):
        oracle.draw(1)
    assert not oracle.ended
    assert rng.random() == np.random.default_rng(0).random()


def test_nothing_to_go_round():
    oracle = ExampleOracle(parse("parity:d=8,m=2").instance(0), Meter(Budget(examples=1)))
    oracle.draw(1)
    with pytest.raises(Spent):
        Epochs(oracle, 5, np.random.default_rng(0)).draw(1)


@pytest.mark.parametrize("learner", ["mlp:steps=1000,rate=0.01,batch=64", "student:batch=64"])
def test_epochs_solve_what_one_does_not_and_count_each_example_once(learner):
    instance, limit = parse("parity:d=7,m=1").instance(0), Budget(examples=600)
    once, often, again = (
        run(parse_learner(f"{learner}{more}"), instance, limit)
        for more in (",epochs=1", ",epochs=60", ",epochs=60")
    )
    assert (once.outcome, once.details["epochs"]) == (Outcome.EXAMPLES_SPENT, 1)
    assert often.outcome is Outcome.SOLVED
    assert 1 < often.details["epochs"] <= 60
    assert once.usage.examples == often.usage.examples == 600
    assert often.risk == again.risk


def test_a_folder_without_its_secret_is_not_judged(tmp_path):
    write_folder(tmp_path / "folder", parse("parity:d=7,m=1").instance(0), 300)
    (tmp_path / "folder" / "secret.json").unlink()
    found = run(parse_learner("student:epochs=3"), read_folder(tmp_path / "folder"), Budget())
    assert (found.outcome, found.risk) == (Outcome.UNJUDGED, None)
    assert (found.usage.examples, found.details["epochs"]) == (300, 3)


def test_learners_of_one_epoch_keep_their_names_and_so_their_coins():
    assert learner_spec(parse_learner("student")) == (
        "student:batch=256,heads=0,optimizer=adam,rate=0.01,steps=4000"
    )
    assert "epochs" not in learner_spec(parse_learner("student:epochs=1"))
    assert parse_learner(learner_spec(parse_learner("mlp:epochs=2"))).epochs == 2


def test_mlp_goes_round_until_what_is_held_out_is_learned_no_better():
    """Its early stop is of the seed alone: no clock, and no number of epochs that is to be said."""
    source, limit = parse("parity:d=7,m=1").instance(0), Budget(examples=600)
    found, again = (run(parse_learner("mlp:batch=64,rate=0.01"), source, limit) for _ in range(2))
    assert found.outcome is Outcome.SOLVED
    assert found.usage.examples == 600
    assert 1 < found.details["epochs"] < 2000  # 60 000 steps would be 15 000 epochs
    assert 0 <= found.details["held_out_error"] < 0.05
    assert found.risk == again.risk
    assert found.details == again.details


def test_an_oracle_gives_again_what_was_drawn_and_counts_it_once():
    oracle = ExampleOracle(parse("parity:d=8,m=2").instance(0), Meter(Budget()))
    drawn = oracle.draw(9)
    assert oracle.again().agrees(drawn)
    assert oracle.meter.examples == 9


def test_mlp_goes_on_from_its_first_round(monkeypatch):
    made = []
    monkeypatch.setattr(trained, "initial", lambda *given: made.append(given) or initial(*given))
    found = run(parse_learner("mlp:steps=200"), parse("parity:d=8,m=2").instance(0),
                Budget(examples=2000))  # fmt: skip
    assert found.details["epochs"] > 1
    assert len(made) == 1
