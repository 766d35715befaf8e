"""What tests of workers look at: processes, descriptors, real runs."""

import os
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import resource_tracker
from pathlib import Path

from hardness.learners.boundary import below
from hardness.oracles import Budget
from hardness.runs.processes import HardLimits
from hardness.runs.registry import parse_learner
from hardness.sweep.jobs import run_job
from tests.hardness.sweep.misbehaving import bad
from tests.waiting import wait_for

NONE = HardLimits()


def payload_of(learner, budget=None, seed=0, spec="parity:d=8,m=2"):
    job = run_job(spec, parse_learner(learner), seed, budget or Budget())
    return job.payload()


def from_file(how):
    """A run of a learner from a file that does not end by itself."""
    file = Path(__file__).parents[1] / "learners" / "boundary" / "learners" / "misbehaves.py"
    return payload_of(f"{file}:Misbehaves:how={how}")


def done(engine, payloads, limits=NONE, size=1):
    parts = [payloads[i : i + size] for i in range(0, len(payloads), size)]
    engine.limits = limits
    tasks = [(engine.submit(part), part) for part in parts]
    return [one for task, part in tasks for one in engine.collect(task, part)]


def require_neighbours_unharmed(engine):
    """Have twenty jobs done, of which one dies, one hangs, one eats and one raises."""
    given = [bad("well", i) for i in range(20)]
    given[3], given[8], given[13] = bad("killed", 9), bad("hangs"), bad("eats", 400 << 20)
    given[17] = bad("raises", "ValueError: κόσμε")
    usual = HardLimits(memory_bytes=300 << 20)  # only who never ends has little time
    found = [
        *done(engine, given[:8], usual, size=4),
        *done(engine, given[8:9], replace(usual, seconds=0.3)),
        *done(engine, given[9:], usual, size=4),
    ]
    ends = {3: "died", 8: "overdue", 13: "memory", 17: "raised"}
    assert [f.failure for f in found] == [ends.get(i) for i in range(20)]
    assert [f.result["given"] for f in found if f.result] == [i for i in range(20) if i not in ends]


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def wait_until_gone(pids):
    wait_for(lambda: not any(map(alive, pids)))


@contextmanager
def nothing_left():
    """Inside, whatever is started must have ended and been collected, every descriptor closed."""
    resource_tracker.ensure_running()  # Python's own, one for as long as there is this process
    before = set(below(os.getpid())), len(os.listdir("/proc/self/fd"))
    yield
    assert (set(below(os.getpid())), len(os.listdir("/proc/self/fd"))) == before
