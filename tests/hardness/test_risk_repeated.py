"""Hypotheses that are no function of tokens get no risk: the judge asks for tokens again."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import measure, run
from hardness.runs.risk import Repeated
from hardness.upper import Failed, Hypothesis, Outcome
from instances import parse

INSTANCE = parse("parity:d=8,m=3").instance(0)
FAMILY, SECRET = INSTANCE.family, INSTANCE.hidden.secret


def right(x):
    return FAMILY.mean(SECRET, x)


def mixed(x, wrong):
    """Be right but for some rows (n,), which get what everyone knows."""
    return np.where(wrong[:, None, None], FAMILY.known(x), right(x))


def a_coin_a_call(share, rng):
    """Be right in a call, or know the family alone with probability `share`: that is its risk."""
    return lambda x: mixed(x, np.full(len(x), rng.random() < share))


def judged(predict, examples=1000):
    try:
        return measure(INSTANCE, predict, examples)
    except Failed:
        return None


@pytest.mark.parametrize("share", [0.5, 0.05])
def test_the_interval_covers_the_coin_in_at_least_93_of_100_runs(share):
    """Of 200 runs with one coin a call: refused, or the interval holds the risk over the coins."""
    rng, missed = np.random.default_rng(1), 0
    for _ in range(200):
        found = judged(a_coin_a_call(share, rng), 4000)
        missed += found is not None and not found.low <= share <= found.high
    assert missed <= 0.07 * 200


def test_without_asking_again_a_coin_is_never_covered(monkeypatch):
    """What the test above would find if the judge believed a single call."""
    monkeypatch.setattr(Repeated, "same", lambda self, instance: True)
    rng = np.random.default_rng(1)
    found = [judged(a_coin_a_call(0.5, rng)) for _ in range(50)]
    assert not any(one.low <= 0.5 <= one.high for one in found)


def test_a_coin_that_was_tossed_while_learning_is_a_function():
    values = set()
    for seed in range(10):
        wrong = np.random.default_rng(seed).random() < 0.5
        values.add(judged(lambda x, wrong=wrong: mixed(x, np.full(len(x), wrong))).value)
    assert values == {0.0, 1.0}


class ACoinARow:
    def __init__(self, share):
        self.rng, self.share = np.random.default_rng(0), share

    def __call__(self, x):
        return mixed(x, self.rng.random(len(x)) < self.share)


class RightOnce:
    calls = 0

    def __call__(self, x):
        self.calls += 1
        return mixed(x, np.full(len(x), self.calls > 1))


class RightUntilItKnowsThem:
    """Right on tokens that it sees for the first time, wrong on what it remembers."""

    def __init__(self):
        self.seen = set()

    def __call__(self, x):
        names = [row.tobytes() for row in x]
        wrong = np.array([name in self.seen for name in names])
        self.seen.update(names)
        return mixed(x, wrong)


def right_in_large_batches(x):
    return mixed(x, np.full(len(x), len(x) < 100))


def a_coin_of_the_batch(x):
    return mixed(x, np.full(len(x), hash(x.tobytes()) % 2 == 0))


def right_on_the_first_of_a_batch(x):
    return mixed(x, np.arange(len(x)) > 0)


def relative_to_the_batch(x):
    return right(x) - right(x).mean(axis=0)


def right_but_for_single_pairs(x):
    return np.full(x.shape, np.nan) if len(x) == 1 else right(x)


def another_shape_for_single_pairs(x):
    return right(x)[0] if len(x) == 1 else right(x)


@pytest.mark.parametrize(
    "predict",
    [
        ACoinARow(0.5),
        ACoinARow(0.01),
        RightOnce(),
        RightUntilItKnowsThem(),
        right_in_large_batches,
        a_coin_of_the_batch,
        right_on_the_first_of_a_batch,
        relative_to_the_batch,
        right_but_for_single_pairs,
        another_shape_for_single_pairs,
    ],
)
def test_what_is_no_function_of_tokens_is_refused(predict):
    assert judged(predict, 16384) is None


@pytest.mark.parametrize(
    "spec", ["parity:d=8,m=3", "nice:m=2,k=2,d=8", "linear:m=1,k=2,d=4", "lpn:n=8,noise=0.1"]
)
def test_every_kind_of_risk_asks_again_and_rounding_is_no_coin(spec):
    instance = parse(spec).instance(0)
    calls = []

    def rounded(x):
        calls.append(len(x))
        noise = np.random.default_rng(len(calls)).standard_normal(x.shape)
        return instance.family.mean(instance.hidden.secret, x) * (1 + 1e-6 * noise)

    assert measure(instance, rounded, examples=2000).value < 1e-9
    assert calls[0] == 2000
    assert sum(calls) == 2250
    assert (min(calls), len(calls) <= 65) == (1, True)

    def moved(x):
        return rounded(x) + (len(x) < 30)

    with pytest.raises(Failed):
        measure(instance, moved, examples=2000)


def test_all_batches_of_long_tokens_are_asked_for_again(monkeypatch):
    """Where the tokens do not fit in one call, one that is wrong in a later call is found."""
    monkeypatch.setattr("hardness.runs.risk._BATCH_NUMBERS", 1 << 10)
    late = RightOnce()
    late.calls = -4  # right in the first five calls
    assert judged(late, 2000) is None


@dataclass(frozen=True, kw_only=True)
class Coin:
    """Knows the secret by its seed, and tosses one coin a call."""

    name: ClassVar[str] = "coin"
    revision: ClassVar[int] = 1
    access: ClassVar[str] = "examples"
    about: ClassVar[str] = "a coin a call"

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        return Hypothesis(predict=a_coin_a_call(0.5, rng), secret=SECRET)


def test_a_run_says_so_and_a_claimed_secret_is_judged_all_the_same():
    found = run(Coin(), INSTANCE, Budget())
    assert found.outcome is Outcome.RANDOMISED
    assert "mean over them" in found.outcome.advice
    assert found.risk is None
    assert "differ from one call to another" in found.details["reason"]
    assert found.secret_recovered  # it was claimed once: no coin can change it
    assert type(found).read(found.to_dict()) == found
