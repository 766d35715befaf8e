"""Commands that are interrupted: what they keep, and what --resume makes of it."""

import json
import subprocess
import sys

import pytest

from hardness.oracles import Budget
from hardness.runs.planned import Planned
from hardness.sweep.resumable import resumable, unfinished
from hardness.sweep.store import create
from instances.errors import AlreadyExists, UsageError
from tests.hardness.sweep.making import edit

BUDGET = Budget(examples=5000)
ASKED = {"command": "test", "seeds": 4}


def wanted(seeds=4):
    return [
        Planned(spec="parity:d=8,m=2", learner=name, seed=seed, budget=BUDGET)
        for name in ("elimination", "trivial")
        for seed in range(seeds)
    ]


def done(output, asked=ASKED, jobs=1, resume=False, stop=None, seeds=4):
    found = {}
    with resumable(output, asked, jobs, resume) as runs:
        for index, run in runs.do(wanted(seeds)):
            found[index] = run
            if len(found) == stop:
                raise KeyboardInterrupt
    return found


def test_a_store_of_an_interrupted_command_is_not_overwritten(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        done(tmp_path / "out", stop=1)
    with pytest.raises(AlreadyExists, match="add --resume"):
        done(tmp_path / "out")
    with pytest.raises(UsageError, match="another command"):
        done(tmp_path / "out", asked=ASKED | {"seeds": 5}, resume=True)
    assert len(done(tmp_path / "out", resume=True)) == 8


def test_a_result_is_written_before_it_is_printed_and_not_replaced_by_resume(hardness, tmp_path):
    command = [*COMMANDS["stress"].split(), "--out", "x.json", "--jobs", "1"]
    with open("/dev/full", "w") as full:
        printed = [sys.executable, "-m", "cli", *command]
        assert subprocess.run(printed, stdout=full, stderr=subprocess.PIPE).returncode == 1
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]
    kept = (tmp_path / "x.json").read_bytes()
    hardness(*command, "--resume").one_line("x.json exists")
    assert (tmp_path / "x.json").read_bytes() == kept


def test_nothing_is_kept_of_what_did_nothing(tmp_path):
    with pytest.raises(KeyboardInterrupt), resumable(tmp_path / "out", ASKED):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    unfinished(tmp_path / "out").unlink(missing_ok=True)
    create(unfinished(tmp_path / "out")).close()  # as a kill -9 at the start leaves it
    assert len(done(tmp_path / "out")) == 8
    with pytest.raises(UsageError, match="--resume given without --out"):
        done(None, resume=True)


def interrupt(monkeypatch, after):
    """Have Ctrl-C come in the middle of the run after so many; returns what notes each of them."""
    once, noted = Planned.do, []

    def do(one):
        if len(noted) == after:
            raise KeyboardInterrupt
        noted.append((one.spec, one.learner, one.seed))
        return once(one)

    monkeypatch.setattr(Planned, "do", do)
    return noted


def timeless(data):
    """Leave out what differs between two executions, at any depth."""
    passing = ("seconds", "peak_bytes", "median_seconds", "command", "scaling")
    if isinstance(data, dict):
        return {k: timeless(v) for k, v in data.items() if k not in passing}
    return [timeless(v) for v in data] if isinstance(data, list) else data


COMMANDS = {
    "stress": "stress --learner elimination --on parity:d=8,m=2 --on parity:d=12,m=3 "
    "--reference trivial --seeds 3 --seed 7",
    "attack": "attack parity:d=12,m=3 --learner elimination --learner bruteforce --seeds 3",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_and_resume_give_what_was_asked_for(hardness, tmp_path, monkeypatch, name):
    command = [*COMMANDS[name].split(), "--jobs", "1", "--out"]
    assert hardness(*command, tmp_path / "whole").code == 0
    with monkeypatch.context() as patch:
        before = interrupt(patch, 2)
        cut = hardness(*command, tmp_path / "cut")
    assert cut.code == 130
    assert "are kept: the same command with --resume goes on" in cut.err
    after = interrupt(monkeypatch, -1)
    assert hardness(*command, tmp_path / "cut", "--resume").code == 0
    assert not set(before) & set(after)  # nothing is done twice
    whole, again = (json.loads((tmp_path / n).read_text()) for n in ("whole", "cut"))
    assert timeless(again) == timeless(whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cut", "whole"]


def test_a_drawn_seed_is_that_of_the_interrupted_command(hardness, tmp_path, monkeypatch):
    command = ["stress", "--learner", "elimination", "--on", "parity:d=8,m=2", "--jobs", "1"]
    command += ["--out", "s.json"]
    with monkeypatch.context() as patch:
        interrupt(patch, 2)
        assert hardness(*command).code == 130
    # The rung was not finished, so that no file of results stands there yet.
    assert [p.name for p in tmp_path.iterdir()] == ["s.json.unfinished"]
    kept = (tmp_path / "s.json.unfinished").read_bytes()
    edit(tmp_path / "s.json.unfinished", "UPDATE sweeps SET climbs = '{'")
    refused = hardness(*command, "--resume")
    assert refused.code == 1
    refused.one_line("s.json.unfinished", "damaged")
    (tmp_path / "s.json.unfinished").write_bytes(kept)
    assert hardness(*command, "--resume").code == 0
    found = json.loads((tmp_path / "s.json").read_text())
    assert (found["seed_source"], len(found["runs"])) == ("operating system", 5)
