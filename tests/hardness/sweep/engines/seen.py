"""What tests of engines look at: processes, descriptors, misbehaving jobs."""

import json
import os
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from hardness.oracles import Budget
from hardness.sweep.engines import Limits, Slot
from hardness.sweep.jobs import run_job
from hardness.upper import parse_learner
from hardness.upper.isolated.init import below

COMMAND = (sys.executable, "-P", str(Path(__file__).with_name("misbehaving.py")))
NONE = Limits(retries=0)


def bad(does, given=None):
    return json.dumps({"kind": "bad", "does": does, "given": given})


def runs(count=6):
    """Payloads of real runs: examples, queries, a learner whose budget ends."""
    made = [
        run_job("parity:d=8,m=2", parse_learner("lowdegree"), 0, Budget(examples=400)),
        run_job("parity:d=16,m=2", parse_learner("elimination"), 1, Budget(examples=2000)),
        run_job("parity:d=8,m=2", parse_learner("queries"), 2, Budget(queries=200)),
    ]
    return [json.dumps({"kind": job.kind, **job.to_json()}) for job in made * (count // 3)]


def timeless(finished):
    """Return what must not depend on who did a run."""
    result = json.loads(json.dumps(finished.result))
    for name in ("seconds", "peak_bytes"):
        result["usage"].pop(name)
    return finished.key, finished.failure, without_times(result)


def without_times(value):
    if isinstance(value, dict):
        return {
            k: without_times(v) for k, v in value.items() if not k.endswith(("seconds", "times"))
        }
    return [without_times(v) for v in value] if isinstance(value, list) else value


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def gone(pids, within=5.0):
    until = time.monotonic() + within
    while any(map(alive, pids)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(alive, pids))


@contextmanager
def nothing_left():
    """Inside, whatever is started must have ended and been collected, every descriptor closed."""
    before = set(below(os.getpid())), len(os.listdir("/proc/self/fd"))
    yield
    assert (set(below(os.getpid())), len(os.listdir("/proc/self/fd"))) == before


@contextmanager
def slot():
    one = Slot(COMMAND)
    try:
        yield one
    finally:
        one.close()
