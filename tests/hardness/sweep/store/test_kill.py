"""A writer that is killed at any moment loses nothing that it said was written."""

import os
import random
import signal
import time

from hardness.sweep.damage import check
from hardness.sweep.store import create, read, reopen
from tests.hardness.sweep.store.child import forked
from tests.hardness.sweep.store.making import key, made_run, sweep


def test_kill_at_random_moments(tmp_path):
    rng = random.Random(9)
    path, written, kept = tmp_path / "runs.db", set(), {}
    made = [made_run(i) for i in range(3000)]

    def work(out):
        while True:  # a moment may also be one of opening or of closing
            with reopen(path) if path.exists() else create(path) as writer:
                done = len(writer.finished())
                for i in range(done, done + 8):
                    writer.write([made[i]], sweep(updated=float(i)))
                    out.write(f"{i}\n")

    for _ in range(12):
        child, lines = forked(work)
        with lines:
            written.add(int(lines.readline()))
            time.sleep(rng.uniform(0, 0.08))
            os.kill(child, signal.SIGKILL)
            written |= {int(line) for line in lines if line.endswith("\n")}
        os.waitpid(child, 0)
        with read(path) as store:
            kept = {row.key: row for row in store.runs()}
        assert {key(i) for i in written} <= set(kept)
        assert len(kept) - len(written) <= 12  # at most one a kill: committed and not yet said
    assert all(kept[key(i)] == made[i] for i in written)
    with reopen(path) as writer:
        assert len(writer.finished()) == len(kept)
        assert writer.sweep(sweep().sha256).updated >= max(written)
    assert not check(path).damage
    litter = [name for name in os.listdir(tmp_path) if name != "runs.db"]
    assert not [name for name in litter if not name.startswith(".runs.db.")], litter
