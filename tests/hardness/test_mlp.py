import json

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from hardness.upper.trained import evaluate, gradient, initial
from instances import parse


def learn(learner, spec, seed=0, **budget):
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


@pytest.mark.parametrize("outputs", [1, 3])
def test_gradients_are_those_of_the_loss(outputs):
    rng = np.random.default_rng(0)
    theta = initial(rng, 6, 5, outputs).astype(np.float64)
    z, values = rng.choice([-1.0, 1.0], (40, 6)), rng.normal(size=(40, outputs))
    loss, slope = gradient(theta, z, values)

    def value(at):
        return float(((evaluate(at, z, outputs) - values) ** 2).sum(axis=1).mean())

    assert loss == pytest.approx(value(theta), rel=1e-12)
    for i in range(len(theta)):
        step = np.zeros_like(theta)
        step[i] = 1e-6
        between = (value(theta + step) - value(theta - step)) / 2e-6
        assert slope[i] == pytest.approx(between, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        ("mlp:steps=1000", "parity:d=9,m=2"),
        ("mlp:steps=1500", "lpn:n=8,h=2,noise=0.1"),
        ("mlp:steps=1000,optimizer=sgd,rate=0.2", "parity:d=9,m=1"),
        ("mlp:steps=1000,optimizer=momentum,rate=0.02", "parity:d=9,m=1"),
        ("mlp:steps=2000,rate=0.01", "lwr:n=4,q=8,p=2,secret=binary,h=2"),
    ],
)
def test_small_instances_are_learned(learner, spec):
    found = learn(learner, spec)
    assert found.outcome is Outcome.SOLVED
    assert found.risk.value < 0.05


def test_real_labels_are_fitted_whole():
    found = learn("mlp:steps=3000", "dial:tau=0.1,m=1,k=2,d=4,tokens=gaussian")
    assert found.risk.high < 0.1


def test_runs_are_reproducible_and_every_example_is_used_once():
    one, two = (learn("mlp:steps=300,batch=50", "lwr:n=4,q=8,p=2", seed=3) for _ in range(2))
    assert one.details == two.details
    assert one.risk == two.risk
    assert one.details["trained_on"] == 300 * 50
    # Half of the examples have a label to learn from.
    assert 1.8 < one.usage.examples / one.details["trained_on"] < 2.2


def test_the_curve_holds_steps_examples_and_relative_losses():
    found = learn("mlp:steps=1500", "parity:d=9,m=2")
    curve = found.details["curve"]
    steps, examples, losses = map(list, zip(*curve, strict=True))
    assert steps == sorted(set(steps))
    assert steps[0] == 1
    assert steps[-1] == found.details["steps"]
    assert examples == [256 * s for s in steps]
    assert 0.5 < losses[0] < 10
    assert losses[-1] < 0.1
    json.dumps(found.to_dict(), allow_nan=False)


def test_training_that_diverges_says_so():
    found = learn("mlp:optimizer=sgd,rate=90,steps=200", "parity:d=8,m=2")
    assert found.outcome is Outcome.DIVERGED
    assert found.risk.value == pytest.approx(1.0)
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.clocks
@pytest.mark.parametrize(
    ("budget", "outcome"),
    [({"examples": 5000}, Outcome.EXAMPLES_SPENT), ({"seconds": 5.0}, Outcome.SECONDS_SPENT)],
)
def test_a_spent_budget_is_an_outcome(budget, outcome, ticks):
    ticks(0.1)
    found = learn("mlp", "lwr:n=16,q=16,p=2,secret=binary,h=4", **budget)
    assert found.outcome is outcome
    assert found.usage.examples <= budget.get("examples", 10**9)
