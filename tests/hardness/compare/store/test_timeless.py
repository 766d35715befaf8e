"""Two executions of a run agree in all that `timeless` keeps of them."""

from dataclasses import asdict

import pytest

from hardness.compare.run import run
from hardness.compare.store.timeless import timeless
from hardness.oracles import Budget
from hardness.upper import LEARNERS, parse_learner
from instances import parse

SMALL = {"levenberg": ":steps=3", "student": ":steps=20", "mlp": ":steps=20"}
SPECS = ("parity:d=8,m=2", "lwe:n=5,q=17,sigma=1", "lwr:n=8,q=16,p=2,secret=binary,h=4")


def learner_of(name):
    taken = set(LEARNERS[name].__dataclass_fields__)
    return parse_learner(name + (SMALL.get(name, "") if "steps" in taken else ""))


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_twice(name):
    learner = learner_of(name)
    spec = next(s for s in SPECS if learner.supports(parse(s)) is None)
    budget = Budget(examples=400, queries=400)
    one, other = (run(learner, parse(spec).instance(0), budget) for _ in range(2))
    assert timeless(one.to_json()["details"]) == timeless(other.to_json()["details"])
    assert (one.outcome, one.risk, one.secret_recovered) == (
        other.outcome,
        other.risk,
        other.secret_recovered,
    )
    same = ("examples", "queries")
    assert [asdict(one.usage)[n] for n in same] == [asdict(other.usage)[n] for n in same]
