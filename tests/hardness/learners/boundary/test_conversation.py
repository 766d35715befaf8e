"""A learner in a process of its own gives what it gives in process, bit for bit.

Where the conversation alone decides, its process is a thread.
"""

import os
import re
import signal
import subprocess
import sys
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import psutil
import pytest

from hardness.learners import Outcome, remote
from hardness.learners.boundary import descendants
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs import play, run
from hardness.runs.registry import parse_learner
from hardness.runs.run import attempt
from instances import parse, read_folder, write_folder
from tests.conftest import script
from tests.hardness.learners.boundary.driving import (
    LEARNERS,
    PLACES,
    bare,
    flat,
    foreign_learner,
    nothing_left,
)
from tests.waiting import wait_for

FAMILIES = [
    "parity:d=70,m=3,noise=0.1",
    "linear:m=4,k=3,d=6",
    "lwe:n=8,q=17,sigma=1",
    "profile:g=majority,d=32,m=5",
]


def in_process(name):
    """The same learner as a learner of ours, under the name that its coins are drawn by."""
    learner = getattr(script(LEARNERS / "well.py"), name)()
    learner.spec = f"well:{name}"
    return CoinsAsThere(learner)


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


def same(name, source, budget, **how):
    """Run a learner here and there; returns what was found there."""
    here, there = (
        run(learner, source, budget, 3, **how)
        for learner in (in_process(name), foreign_learner(f"well:{name}"))
    )
    if name == "Chooses":
        for one in ("tau", "oracle"):  # a learner in its own process may ask queries too
            del there.details[one]
    assert bare(there) == bare(here)
    return there


def queries(spec, oracle):
    instance = parse(spec).instance(3)
    there = same("Asks", instance, Budget(), oracle=oracle, tau=Fraction(1, 5))
    assert there.queries == len(flat(there.details)["answers"]) >= 3


def chosen_tokens(spec):
    """In pieces that are sent in several parts, with the same noise."""
    there = same("Chooses", parse(spec).instance(3), Budget(values=35_030))
    assert there.membership_queries == flat(there.details)["values"] >= 730
    assert flat(there.details)["refused"] == 3


@pytest.mark.parametrize(
    "spec", [*FAMILIES[:2], *(pytest.param(s, marks=pytest.mark.weekly) for s in FAMILIES[2:])]
)
def test_examples_in_any_pieces(spec):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "BATCH_BYTES", 1 << 14)  # some pieces come in several parts
        there = same("Sums", parse(spec).instance(3), Budget(examples=900))
    assert flat(there.details)["counts"][-1] == [528, 900]


def test_queries():
    for spec in ("parity:d=8,m=3,noise=0.1", "profile:g=majority,d=9,m=3"):
        queries(spec, "samples")
        queries(spec, "exact")
    queries(FAMILIES[2], "samples")


def test_chosen_tokens():
    chosen_tokens(FAMILIES[0])
    chosen_tokens("nice:m=1,k=2,d=4,noise=0.1,tokens=gaussian")
    short = run(foreign_learner("well:Chooses"), parse(FAMILIES[0]).instance(3), Budget(values=700))
    assert (short.outcome, short.membership_queries) == (Outcome.VALUES_SPENT, 30)


def test_chosen_tokens_that_nobody_can_label(tmp_path):
    chooses, family = foreign_learner("well:Chooses"), parse("parity:d=7,m=3")
    refused = play(chooses, family, Budget(), 3)
    assert refused.outcome is Outcome.COULD_NOT_RUN
    said = "a membership query was asked: the adversary answers statistical queries only"
    assert refused.details["reason"] == said
    write_folder(tmp_path / "it", family.instance(3), 50)
    (tmp_path / "it" / "secret.json").unlink()
    asked = run(chooses, read_folder(tmp_path / "it"), Budget(), 0)
    assert asked.outcome is Outcome.CRASHED
    assert "no secret part" in asked.details["message"]


def test_a_budget_of_values_is_kept_by_the_parent():
    imposes = foreign_learner("answers:Answers:what=imposes_values")
    found = run(imposes, parse("parity:d=7,m=3").instance(3), Budget(values=5), 0)
    assert (found.outcome, found.membership_queries) == (Outcome.VALUES_SPENT, 4)


def test_games():
    family = parse("parity:d=7,m=3")
    learners = in_process("Asks"), foreign_learner("well:Asks")
    here, there = (play(one, family, Budget(), 3) for one in learners)
    assert there.game_record == here.game_record


def test_a_query_shows_no_label(monkeypatch):
    """No array but tokens is sent; which factor an example has is not among them.

    Nor do the codes that a query of few samples is evaluated at tell which ones these have.
    """
    sent = []
    tell = remote.Conversation.tell

    def telling(self, message):
        sent.append(message)
        tell(self, message)

    monkeypatch.setattr(remote.Conversation, "tell", telling)
    instance = parse("parity:d=10,m=3").instance(3)
    found = run(foreign_learner("well:Asks"), instance, Budget(), 3)
    assert found.outcome is Outcome.LEARNED_NOTHING
    names = {name for message in sent for name in getattr(message, "arrays", {})}
    assert names == {"words", "x"}
    family = parse("lwe:n=4,q=97,sigma=1")
    sent.clear()
    run(foreign_learner("well:AsksAFew"), family.instance(3), Budget(), 3, tau=Fraction(1))
    codes = [message.codes for message in sent if getattr(message, "codes", [])]
    assert codes == [[*range(len(family.levels))]]


def test_a_claim_that_is_no_secret_is_none():
    instance = parse("lwr:n=3,q=8,p=8").instance(3)
    found = run(foreign_learner("well:ClaimsZero"), instance, Budget())
    assert found.outcome is Outcome.LEARNED_NOTHING
    assert not found.secret_recovered


def test_budgets_are_held():
    asks = foreign_learner("well:AsksForever")
    for budget, outcome in (
        (Budget(queries=5), Outcome.QUERIES_SPENT),
        (Budget(seconds=0.2), Outcome.SECONDS_SPENT),
    ):
        found = run(asks, parse("parity:d=10,m=3").instance(3), budget, 0)
        assert found.outcome is outcome
        assert found.queries == (budget.queries or found.queries)


def test_a_folder_without_its_secret(tmp_path):
    instance = parse("parity:d=10,m=3").instance(3)
    write_folder(tmp_path / "it", instance, 500)
    (tmp_path / "it" / "secret.json").unlink()
    folder = read_folder(tmp_path / "it")
    there = same("Eliminates", folder, Budget())
    assert there.outcome is Outcome.UNJUDGED
    assert tuple(there.details["claimed_secret"]) == instance.hidden.secret
    asks = run(foreign_learner("well:AsksForever"), folder, Budget(), 0)
    assert asks.outcome is Outcome.CRASHED
    assert "no secret part" in asks.details["message"]


def test_an_oracle_without_queries_says_so():
    instance = parse("parity:d=10,m=3").instance(3)
    oracle = ExampleOracle(instance, Meter(Budget()))
    hypothesis, _ = attempt(foreign_learner("well:AsksForever"), oracle, 0)
    assert hypothesis.outcome is Outcome.COULD_NOT_RUN


def gone(pid):
    """This process may have adopted what a command leaves."""
    with suppress(OSError):
        os.waitpid(pid, os.WNOHANG)
    return not psutil.pid_exists(pid)


@pytest.mark.parametrize("sandboxed", PLACES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(number, sandboxed, tmp_path, interruptible):
    """Not the learner, in a sandbox nothing that it started, whatever ends the command."""
    how, processes = ("daemon_then_sleep", 4) if sandboxed else ("prints_then_sleeps", 1)
    learner = f"{LEARNERS / 'misbehaves.py'}:Misbehaves:how={how}"
    told = [sys.executable, "-c", "import cli; cli.main()", "learn", learner, "parity:d=10,m=3"]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    environment |= {} if sandboxed else {"PATH": ""}  # without bwrap
    silent = dict.fromkeys(["stdout", "stderr"], subprocess.DEVNULL)
    with nothing_left(), subprocess.Popen(told, env=environment, **silent) as started:
        wait_for(lambda: started.poll() is not None or len(descendants(started.pid)) >= processes)
        assert started.poll() is None
        there = descendants(started.pid)
        wait_for(lambda: sandboxed or os.stat(f"/proc/{there[0]}/fd/1").st_size)  # it learns
        started.send_signal(number)
        started.wait()
        wait_for(lambda: all(map(gone, there)))
        if number != signal.SIGKILL or sandboxed:  # else the scratch folder stays
            wait_for(lambda: not list(tmp_path.iterdir()))


ROUND_AND_ROUND = """
from hardness.learners import nothing
from hardness.oracles import Epochs, Spent

class Around:
    name, about, access, revision = "around", "", "examples", 1

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        seen, again = [], Epochs(oracle, 3, rng)
        try:
            while True:
                seen.append(len(again.draw(20)))
        except Spent:
            return nothing(oracle.family, epochs=again.epoch, seen=sum(seen))
"""


def test_a_learner_from_a_file_may_go_round_its_examples_in_epochs(tmp_path):
    (tmp_path / "mine.py").write_text(ROUND_AND_ROUND)
    learner = parse_learner(f"{tmp_path / 'mine.py'}:Around")
    done = run(learner, parse("parity:d=8,m=2").instance(0), Budget(examples=50))
    assert done.examples == 50
    assert done.details["reported"] == {"epochs": 3, "seen": 150}


def test_a_learner_of_this_package_ends_with_a_command_that_is_killed(interruptible):
    """Whatever it is at: here it is stopped, and sees nothing of its connection."""
    options = ["bruteforce", "lwe:n=30,q=521,sigma=1,secret=binary", "--budget-memory", "4GB"]
    told = [sys.executable, "-c", "import cli; cli.main()", "learn", *options]
    silent = dict.fromkeys(["stdout", "stderr"], subprocess.DEVNULL)
    with nothing_left(), subprocess.Popen(told, **silent) as started:
        wait_for(lambda: started.poll() is not None or descendants(started.pid))
        [child] = descendants(started.pid)
        limits = Path(f"/proc/{child}/limits")  # set once it is bound to its parent
        wait_for(lambda: not re.search(r"Max data size +unlimited", limits.read_text()))
        os.kill(child, signal.SIGSTOP)
        started.kill()
        started.wait()
        try:
            wait_for(lambda: gone(child))
        finally:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
