"""A learner in a process of its own gives what it gives in process, bit for bit."""

import importlib.util
import os
import signal
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction

import numpy as np
import psutil
import pytest

from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import play, run
from hardness.runs.run import attempt
from hardness.upper import Outcome
from hardness.upper.isolated import init, watch
from hardness.upper.isolated import learner as subprocess_learner
from hardness.upper.isolated.messages import Channel
from instances import parse, read_folder, write_folder
from tests.hardness.upper.isolated.driving import (
    LEARNERS,
    bare,
    flat,
    foreign_learner,
    nothing_left,
)
from tests.waiting import wait_for

FAMILIES = [
    "parity:d=70,m=3,noise=0.1",
    "profile:g=majority,d=32,m=5",
    "lwe:n=8,q=17,sigma=1",
    "linear:m=4,k=3,d=6",
]


def in_process(name):
    """The same learner as a learner of ours, under the name that its coins are drawn by."""
    place = importlib.util.spec_from_file_location("well", LEARNERS / "well.py")
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    learner = getattr(module, name)()
    learner.spec = f"well:{name}"
    return learner


def pair(name, source, budget, **how):
    return [
        run(learner, source, budget, 3, **how)
        for learner in (CoinsAsThere(in_process(name)), foreign_learner(f"well:{name}"))
    ]


class CoinsAsThere:
    """Hands a learner the coins that its process would be given."""

    def __init__(self, learner):
        self._learner = learner

    def __getattr__(self, name):
        return getattr(self._learner, name)

    def learn(self, oracle, rng):
        key = [int(rng.integers(2**63)), int(rng.integers(2**63))]
        coins = np.random.Generator(np.random.Philox(key=np.array(key, np.uint64)))
        return self._learner.learn(oracle, coins)


@pytest.mark.parametrize("spec", FAMILIES)
def test_examples_in_any_pieces(spec, monkeypatch):
    monkeypatch.setattr(subprocess_learner, "SENT", 1 << 14)  # some pieces come in several parts
    here, there = pair("Sums", parse(spec).instance(3), Budget(examples=900))
    assert bare(there) == bare(here)
    assert flat(there.details)["counts"][-1] == [528, 900]


@pytest.mark.parametrize("spec", FAMILIES[:3])
@pytest.mark.parametrize("oracle", ["samples", "exact"])
def test_queries(spec, oracle, monkeypatch):
    family = parse(spec.replace("d=70", "d=8").replace("d=32,m=5", "d=9,m=3"))
    if oracle == "exact" and family.d > 10:
        pytest.skip("an exact answer enumerates 4^d tokens, which is refused above d = 10")
    here, there = pair("Asks", family.instance(3), Budget(), oracle=oracle, tau=Fraction(1, 5))
    assert bare(there) == bare(here)
    assert there.usage.queries == len(flat(there.details)["answers"]) >= 3


@pytest.mark.parametrize("spec", [FAMILIES[0], "nice:m=1,k=2,d=4,noise=0.1,tokens=gaussian"])
def test_chosen_tokens(spec):
    """In pieces that are sent in several parts, with the same noise."""
    instance = parse(spec).instance(3)
    here, there = pair("Chooses", instance, Budget(values=35_030))
    for name in ("tau", "oracle"):  # a learner in its own process may ask queries too
        del there.details[name]
    assert bare(there) == bare(here)
    assert there.usage.values == flat(there.details)["values"] >= 730
    assert flat(there.details)["refused"] == 3
    short = run(foreign_learner("well:Chooses"), instance, Budget(values=700), 3)
    assert (short.outcome, short.usage.values) == (Outcome.VALUES_SPENT, 30)


def test_chosen_tokens_that_nobody_can_label(tmp_path):
    chooses, family = foreign_learner("well:Chooses"), parse("parity:d=7,m=3")
    refused = play(chooses, family, Budget(), 3)
    assert refused.outcome is Outcome.UNSUPPORTED
    said = "a membership query was asked: the adversary answers statistical queries only"
    assert refused.details["reason"] == said
    write_folder(tmp_path / "it", family.instance(3), 50)
    (tmp_path / "it" / "secret.json").unlink()
    asked = run(chooses, read_folder(tmp_path / "it"), Budget(), 0)
    assert asked.outcome is Outcome.RAISED
    assert "no secret part" in asked.details["message"]


def test_a_budget_of_values_is_kept_by_the_parent():
    imposes = foreign_learner("tampers:ImposesValues")
    found = run(imposes, parse("parity:d=7,m=3").instance(3), Budget(values=5), 0)
    assert (found.outcome, found.usage.values) == (Outcome.VALUES_SPENT, 4)


@pytest.mark.parametrize("strategy", ["adversary", "stabbing"])
def test_games(strategy):
    family = parse("parity:d=7,m=3")
    learners = CoinsAsThere(in_process("Asks")), foreign_learner("well:Asks")
    here, there = (play(one, family, Budget(), 3, strategy=strategy) for one in learners)
    assert there.transcript.to_dict() == here.transcript.to_dict()


def test_a_query_shows_no_label(monkeypatch):
    """No array but tokens is sent; which factor an example has is not among them."""
    sent = []
    tell = Channel.tell

    def telling(self, message, until=None, arrays=None):
        sent.append(set(arrays or {}))
        tell(self, message, until, arrays)

    monkeypatch.setattr(Channel, "tell", telling)
    instance = parse("parity:d=10,m=3").instance(3)
    found = run(foreign_learner("well:Asks"), instance, Budget(), 3)
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert set().union(*sent) == {"words", "z", "x"}  # x: what is predicted on in the end


def test_a_query_of_few_samples_shows_no_levels_of_theirs(monkeypatch):
    sent = []
    tell = Channel.tell

    def telling(self, message, until=None, arrays=None):
        sent.append(message.get("factors"))
        tell(self, message, until, arrays)

    monkeypatch.setattr(Channel, "tell", telling)
    family = parse("lwe:n=4,q=97,sigma=1")
    run(foreign_learner("well:AsksAFew"), family.instance(3), Budget(), 3, tau=Fraction(1))
    assert [factors for factors in sent if factors] == [[float(v) for v in family.levels]]


@pytest.mark.clocks
def test_a_pool_of_many_sets_ends_with_the_time(monkeypatch, ticks):
    evaluated = []
    character = subprocess_learner.character
    monkeypatch.setattr(
        subprocess_learner, "character", lambda *given: evaluated.append(1) or character(*given)
    )
    ticks(0.01)
    family = parse("parity:d=12,m=3")
    found = run(
        foreign_learner("well:ManySets"), family.instance(3), Budget(seconds=10.0), oracle="exact"
    )
    assert found.outcome is Outcome.SECONDS_SPENT
    assert 0 < len(evaluated) < 2000  # of 4096


def test_a_claim_that_is_no_secret_is_none():
    found = run(
        foreign_learner("well:ClaimsZero"), parse("window:n=3,q=8,parts=8").instance(3), Budget()
    )
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert not found.secret_recovered


@pytest.mark.clocks
@pytest.mark.parametrize(
    ("name", "budget", "outcome"),
    [
        ("ends:Loop", Budget(seconds=0.5), Outcome.SECONDS_SPENT),
        ("ends:Loop", Budget(cpu_seconds=0.5), Outcome.CPU_SPENT),
        ("takes:BitByBit", Budget(memory_bytes=120 << 20), Outcome.MEMORY_SPENT),
        ("takes:AllExamples", Budget(examples=777), Outcome.EXAMPLES_SPENT),
        ("well:AsksForever", Budget(queries=5), Outcome.QUERIES_SPENT),
        ("well:AsksForever", Budget(seconds=0.5), Outcome.SECONDS_SPENT),
    ],
)
def test_budgets_are_held(name, budget, outcome):
    found = run(foreign_learner(name), parse("parity:d=10,m=3").instance(3), budget, 0)
    assert found.outcome is outcome
    assert found.usage.examples == (budget.examples or found.usage.examples)
    assert found.usage.queries == (budget.queries or found.usage.queries)


@pytest.mark.clocks
def test_processor_time_is_held_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(watch, "_EVERY", 1e6)
    found = run(
        foreign_learner("ends:Loop"), parse(FAMILIES[0]).instance(3), Budget(cpu_seconds=0.3)
    )
    assert found.outcome is Outcome.CPU_SPENT


def test_a_folder_without_its_secret(tmp_path):
    instance = parse("parity:d=10,m=3").instance(3)
    write_folder(tmp_path / "it", instance, 500)
    (tmp_path / "it" / "secret.json").unlink()
    folder = read_folder(tmp_path / "it")
    here, there = pair("Eliminates", folder, Budget())
    assert bare(there) == bare(here)
    assert there.outcome is Outcome.UNJUDGED
    assert tuple(there.details["claimed_secret"]) == instance.hidden.secret
    asks = run(foreign_learner("well:AsksForever"), folder, Budget(), 0)
    assert asks.outcome is Outcome.RAISED
    assert "no secret part" in asks.details["message"]


def test_an_oracle_without_queries_says_so():
    instance = parse("parity:d=10,m=3").instance(3)
    oracle = ExampleOracle(instance, Meter(Budget()))
    hypothesis, _ = attempt(foreign_learner("well:AsksForever"), oracle, 0)
    assert hypothesis.outcome is Outcome.UNSUPPORTED


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(number, tmp_path, interruptible):
    """Neither learner nor guard, nor their folder, whatever ends the command."""
    command = [sys.executable, "-c", "import cli; cli.main()", "learn"]
    learner = f"{LEARNERS / 'ends.py'}:DaemonThenSleep"
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with (
        nothing_left(),
        subprocess.Popen(
            [*command, learner, "parity:d=10,m=3"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as started,
    ):
        wait_for(lambda: len(init.below(started.pid)) >= 3)  # guard, learner, daemon
        there = init.below(started.pid)
        started.send_signal(number)
        started.wait()
        wait_for(lambda: not any(map(psutil.pid_exists, there)))
        for pid in there:  # this process adopts what the command leaves
            with suppress(OSError):
                os.waitpid(pid, 0)
        wait_for(lambda: not list(tmp_path.iterdir()))
