"""What the tests of isolation share: foreign learners by name, runs at once, what is left after."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from hardness.learners import Outcome, boundary
from hardness.learners.remote import SubprocessLearner
from hardness.oracles import Budget
from hardness.runs import run
from hardness.runs.run import Run
from instances import parse

LEARNERS = Path(__file__).parent / "learners"
UNTIMED = Budget(examples=1000, memory_bytes=160 << 20)
BUDGET = replace(UNTIMED, seconds=0.2)  # for who never ends
_NAMES = ("hardness-learner-", "left-", "taken-", "__")  # of what learners and runs make
SPEC, SEED = "parity:d=8,m=3", 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """A learner, what its run must end with, and what the details must say."""

    learner: str
    outcome: Outcome
    says: dict[str, Any] = field(default_factory=dict, compare=False)
    budget: Budget = UNTIMED

    @property
    def name(self) -> str:
        return self.learner.rpartition("=")[2]


def foreign_learner(text: str) -> SubprocessLearner:
    """The learner `file:Class` or `file:Class:key=value` of the folder of learners."""
    file, _, name = text.partition(":")
    path = LEARNERS / f"{file}.py"
    return SubprocessLearner(spec=text, text=f"{path}:{name}", file=path)


PLACES = [
    pytest.param(
        True,
        marks=pytest.mark.skipif(bool(why := boundary.unavailable()), reason=str(why)),
        id="sandbox",
    ),
    pytest.param(False, id="no sandbox"),
]


@contextmanager
def placed(sandboxed: bool) -> Iterator[None]:
    """Run what is in the block in a sandbox, or as where bubblewrap is not installed."""
    with pytest.MonkeyPatch.context() as patch:
        if sandboxed:
            patch.setenv(boundary.SANDBOX, "1")
        else:
            patch.delenv(boundary.SANDBOX, raising=False)
            patch.setattr(boundary, "unavailable", lambda: "bubblewrap is not installed")
        yield


def one(case: Case) -> Run:
    return run(foreign_learner(case.learner), parse(SPEC).instance(SEED), case.budget, 0)


def at_once(cases: list[Case], workers: int = 6) -> dict[Case, Run]:
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(cases, pool.map(one, cases), strict=True))


@contextmanager
def nothing_left(where: str | None = None) -> Iterator[None]:
    """Afterwards: no process, no zombie, no descriptor, no file that was not there before."""
    with tempfile.TemporaryDirectory(dir=where) as own, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", own)  # others on this machine use the common one
        patch.setattr(tempfile, "tempdir", own)
        boundary.end_idle_children()
        before = _there()
        yield
        boundary.end_idle_children()
        after = _there()
        # What an earlier test left to the collector may be closed meanwhile.
        assert all(after[kind] <= before[kind] for kind in before), (before, after)


def _there() -> dict[str, Any]:
    folders = [Path(tempfile.gettempdir()), LEARNERS, Path("/dev/shm")]
    left = {str(p) for f in folders for p in f.glob("*") if p.name.startswith(_NAMES)}
    return {
        "processes": {p.pid for p in psutil.Process().children(recursive=True)},
        "descriptors": len(os.listdir("/proc/self/fd")),
        "files": left,
    }


def bare(found: Run) -> dict[str, Any]:
    """What must not depend on who else runs, nor where: all but times, memory and confinement."""
    data = found.to_dict()
    del data["seconds"], data["memory"], data["sandboxed"]
    own = {"startup_seconds", "process", "sha256", "predict_seconds"}
    details = flat(data["details"])
    return data | {"details": {k: v for k, v in details.items() if k not in own | {"libraries"}}}


def flat(details: dict[str, Any]) -> dict[str, Any]:
    """What a learner reports beside what is known of its run."""
    return {k: v for k, v in details.items() if k != "reported"} | details.get("reported", {})
