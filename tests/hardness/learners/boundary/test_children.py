"""Children that are used again: the same results, budgets kept, what was offered stands."""

import threading
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from hardness.learners import Outcome, boundary, remote
from hardness.learners.learner import Hypothesis, member
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.registry import LEARNERS, parse_learner
from instances import parse
from instances.errors import ToolkitError
from tests.conftest import ByHand
from tests.hardness.learners.boundary.driving import nothing_left

UNHURRIED = 10**6  # seconds that no run takes: it runs in a child all the same
LONG = (
    ("levenberg", "nice:m=2,k=2,d=8"),
    ("staged", "nice:m=1,k=2,d=6"),
    ("lifted", "linear:m=1,k=2,d=4"),
    ("bruteforce", "lwe:n=6,q=17,sigma=1,secret=binary"),
    ("primal", "lwe:n=8,q=97,sigma=1"),
    ("decode:levenberg", "parity:d=8,m=1"),
)


@pytest.mark.parametrize(("learner", "spec"), LONG)
def test_a_run_in_a_child_is_the_run_here(learner, spec):
    """Of one child, which the others have used before."""
    instance, made = parse(spec).instance(1), parse_learner(learner)
    assert made.computes_long
    here = run(made, instance, Budget(examples=2000), 1)
    there = run(made, instance, Budget(examples=2000, seconds=UNHURRIED), 1)
    assert (there.outcome, there.risk) == (here.outcome, here.risk)
    assert untimed(there.details) == untimed(here.details)
    assert there.examples == here.examples
    if here.layer:
        np.testing.assert_array_equal(there.layer.theta, here.layer.theta)


def untimed(details):
    if isinstance(details, dict):
        return {k: untimed(v) for k, v in details.items() if k != "seconds"}
    return [untimed(one) for one in details] if isinstance(details, list | tuple) else details


@dataclass(frozen=True)
class Endless(ByHand):
    """Offers what it has, if anything, and computes for ever without a draw."""

    computes_long: ClassVar[bool] = True

    offers: str = ""
    then: str = "goes on"

    def learn(self, oracle, rng):
        family = oracle.family
        if self.offers == "a secret":
            oracle.meter.offer(member(family, (1, 2), steps=np.int64(7), of=(1, 2)))
        elif self.offers:  # a function of its own, which stays in the child
            oracle.meter.offer(Hypothesis(predict=lambda x: 0.0 * x))
        if self.then == "raises":
            raise ToolkitError("no more")
        if self.then == "takes memory":
            return [np.ones(1 << 24) for _ in range(1 << 20)]
        while True:
            time.sleep(1)


class AtOnce(threading.Timer):
    """A deadline of a run that is over as soon as it begins; others, as of imports, are kept."""

    def start(self):
        if self.interval == UNHURRIED + remote._GRACE_SECONDS:
            self.function()
        else:
            super().start()


TAKES = ("nice:m=2,k=2,d=8", "linear:m=1,k=2,d=4", "lwe:n=6,q=17,sigma=1,secret=binary")
TAKES += ("lwe:n=8,q=97,sigma=1", "lwr:n=6,q=8,p=4", "lpn:n=8,noise=0.1", "parity:d=8,m=2")


MORE = [
    pytest.param(name, marks=pytest.mark.weekly)
    for name, kind in LEARNERS.items()
    if getattr(kind, "computes_long", None) is True and name != "staged"
]


@pytest.mark.parametrize("name", ["decode:bruteforce", "staged", *MORE])
def test_whoever_computes_long_keeps_its_seconds(name, monkeypatch):
    """The deadline is injected: the child is ended when it is told to learn, however fast it is."""
    monkeypatch.setattr(threading, "Timer", AtOnce)
    learner = parse_learner(name)
    spec = next(spec for spec in TAKES if not learner.supports(parse(spec)))
    found = run(learner, parse(spec).instance(1), Budget(examples=500, seconds=UNHURRIED), 1)
    assert found.outcome is Outcome.SECONDS_SPENT
    assert "from outside" in found.details["ended"]


INSTANCE = parse("parity:d=8,m=2").instance(0)


@pytest.mark.parametrize("offers", ["a secret", "a function"])
def test_what_was_offered_stands_where_the_time_ends_a_run(offers, monkeypatch):
    monkeypatch.setattr(remote, "_GRACE_SECONDS", 0.0)
    with nothing_left():
        found = run(Endless(offers=offers), INSTANCE, Budget(seconds=0.5))
    assert found.outcome is Outcome.SECONDS_SPENT
    claimed = (*found.details.get("claimed_secret", ()),)
    assert claimed == ((1, 2) if offers == "a secret" else ())
    if claimed:
        assert (found.details["steps"], found.details["of"]) == (7, (1, 2))  # as they were


def test_what_a_learner_raises_in_a_child_is_raised_here_and_memory_is_a_budget():
    with pytest.raises(ToolkitError, match="no more"):
        run(Endless(then="raises"), INSTANCE, Budget(seconds=UNHURRIED))
    budget = Budget(memory_bytes=512 << 20)
    found = run(Endless(offers="a secret", then="takes memory"), INSTANCE, budget)
    assert found.outcome is Outcome.MEMORY_SPENT
    assert found.details["claimed_secret"] == [1, 2]


KEEPS = """
import os, sys, numpy as np
import beside
SEEN = []
def keeps(x, y, rng):
    SEEN.append(1); beside.SEEN.append(1)
    told = [len(SEEN), len(beside.SEEN), len(os.listdir(".")), len(os.environ.get("LEFT", ""))]
    told.append(sys.getrecursionlimit())
    os.environ["LEFT"] = "left"
    sys.setrecursionlimit(5000)
    os.makedirs("made/deep")
    open("made/deep/checkpoint", "w").close()
    np.seterr(all="raise")
    made = sum(told) + rng.random() + np.random.rand()
    return lambda x: 0 * x + made
"""


def test_nothing_that_a_run_leaves_in_its_child_changes_the_next(tmp_path):
    (tmp_path / "keeps.py").write_text(KEEPS)
    (tmp_path / "beside.py").write_text("SEEN = []\n")
    learner = parse_learner(f"{tmp_path}/keeps.py:keeps")
    boundary.end_idle_children()
    runs = [run(learner, INSTANCE, Budget(examples=50), 1) for _ in range(3)]
    assert len(boundary._idle) == 1
    assert len({found.risk for found in runs}) == 1
    [first] = (child._first.pid for child in boundary._idle.values())
    (tmp_path / "keeps.py").write_text(KEEPS + "\n# another file: another child\n")
    run(learner, INSTANCE, Budget(examples=50), 1)
    assert first in (pids := [child._first.pid for child in boundary._idle.values()])
    assert len(pids) == 2


BARS = """
import builtins
from tqdm import tqdm
def bars(x, y):
    builtins.bar = tqdm(range(3))  # that is never closed: its thread goes on
    return lambda x: 0 * x
"""


def test_a_bar_of_tqdm_leaves_its_child_to_the_next_run(tmp_path):
    (tmp_path / "bars.py").write_text(BARS)
    learner = parse_learner(f"{tmp_path}/bars.py:bars")
    boundary.end_idle_children()
    pids = set()
    for _ in range(2):
        found = run(learner, INSTANCE, Budget(examples=50), 1)
        assert found.outcome is Outcome.LEARNED_NOTHING, found.details
        pids |= {child._first.pid for child in boundary._idle.values()}
    assert len(pids) == 1
