"""What the tests of isolation share: foreign learners by name, runs at once, what is left after."""

import os
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hardness.compare import run
from hardness.compare.run import Run
from hardness.oracles import Budget
from hardness.upper import Outcome
from hardness.upper.isolated import Foreign, processes
from instances import parse

LEARNERS = Path(__file__).parent / "learners"
BUDGET = Budget(examples=1000, seconds=1.0, memory_bytes=160 << 20)
_NAMES = ("hardness-learner-", "left-", "taken-", "__")  # of what learners and runs make
SPEC, SEED = "parity:d=8,m=3", 5


@dataclass(frozen=True, kw_only=True)
class Case:
    """A learner, what its run must end with, and what the details must say."""

    learner: str
    outcome: Outcome
    says: dict[str, Any] = field(default_factory=dict, compare=False)
    budget: Budget = BUDGET

    @property
    def name(self) -> str:
        return self.learner.partition(":")[2]

    def __str__(self) -> str:
        return self.name


def foreign_learner(text: str) -> Foreign:
    """The learner `file:Class` of the folder of learners."""
    file, _, name = text.partition(":")
    path = LEARNERS / f"{file}.py"
    return Foreign(spec=text, text=f"{path}:{name}", file=path)


def one(case: Case) -> Run:
    return run(foreign_learner(case.learner), parse(SPEC).instance(SEED), case.budget, 0)


def at_once(cases: list[Case], workers: int = 6) -> dict[Case, Run]:
    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(cases, pool.map(one, cases), strict=True))


@contextmanager
def nothing_left() -> Iterator[None]:
    """Afterwards: no process, no zombie, no descriptor, no file that was not there before."""
    with tempfile.TemporaryDirectory() as own, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", own)  # others on this machine use the common one
        patch.setattr(tempfile, "tempdir", own)
        before = _there()
        yield
        after = _there()
        assert after == before, (before, after)


def _there() -> dict[str, Any]:
    folders = [Path(tempfile.gettempdir()), LEARNERS, Path("/dev/shm")]
    left = {str(p) for f in folders for p in f.glob("*") if p.name.startswith(_NAMES)}
    return {
        "processes": set(processes.below(os.getpid())),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "files": left,
    }


def bare(found: Run) -> dict[str, Any]:
    """What must not depend on who else runs, nor where: all but times, memory and confinement."""
    data = found.to_json()
    del data["usage"]["seconds"], data["usage"]["peak_bytes"]
    own = {"cpu_seconds", "startup_seconds", "confined", "sha256", "libraries", "predict_seconds"}
    return data | {"details": {k: v for k, v in data["details"].items() if k not in own}}
