"""What tests share: the command line in process, families small enough for brute force."""

import gc
import importlib.util
import itertools
import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

# As the command line does, before numpy: on a busy machine threads that wait for one another take
# twenty times as long as one of them alone.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# One core is the share of each of several processes: commands start no more workers untold.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.cpu_count = lambda: 1

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

import cli  # noqa: E402
from hardness.api import progress  # noqa: E402
from hardness.learners import remote  # noqa: E402
from hardness.oracles import Budget, clock  # noqa: E402
from hardness.runs.names import brief_spec  # noqa: E402
from hardness.runs.registry import parse_learner  # noqa: E402
from hardness.runs.run import Run, run  # noqa: E402
from instances.coded import CodedExamples  # noqa: E402
from instances.spec import FAMILIES, USER_FAMILIES, parse  # noqa: E402
from tests.waiting import NEVER  # noqa: E402

# These are loaded by processes of learners, and do harm: pytest must not import them itself.
collect_ignore_glob = ["hardness/learners/boundary/learners/*.py"]

# Tests that wait for processes of learners and workers: begun first, while others compute.
WAITING = (
    "tests/hardness/learners/boundary/",
    "tests/hardness/runs/test_jobs.py",
    "tests/test_newcomer.py",
)

# A busy machine is no failure; in CI the examples are the same in every run.
settings.register_profile(
    "here", deadline=None, max_examples=40, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("here")


def pytest_configure(config: pytest.Config) -> None:
    """One process of several has a temporary folder of its own, as have those that it starts.

    Some tests look there for what was left behind: nothing of a neighbour's may lie in it.
    """
    gc.disable()  # until all tests are collected: what is imported stays
    if hasattr(config, "workerinput"):
        own = tempfile.mkdtemp(prefix="hardness-tests-")
        tempfile.tempdir = os.environ["TMPDIR"] = own
        config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))
        _import_a_share(config)


def _import_a_share(config: pytest.Config) -> None:
    """Compile a share of the files first: others read from disk what one process has compiled.

    In a fresh clone to rewrite the asserts takes longer than all else before the first test.
    """
    root, mine = config.rootpath, int(config.workerinput["workerid"][2:])
    files = []
    for one in (root / given.partition("::")[0] for given in config.args):
        files += [one] if one.is_file() else sorted(one.rglob("test_*.py"))
    for path in files[mine :: config.workerinput["workercount"]]:
        with suppress(Exception, pytest.skip.Exception):  # said when they are collected
            import_module(".".join(path.relative_to(root).with_suffix("").parts))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put first those that wait."""
    items.sort(key=lambda item: not item.nodeid.startswith(WAITING))


def pytest_collection_finish() -> None:
    """Let no search for garbage go through all that stays until the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


@dataclass
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    def one_line(self, *words: str) -> None:
        """The error is one line and names these."""
        assert self.err.count("\n") == 1, self.err
        assert self.err.startswith("hardness: ")
        for word in words:
            assert word in self.err, self.err

    def reads_well(self) -> None:
        """Lines fit 80 columns, nothing is coloured, and specs are as short as they were given."""
        assert [line for line in self.out.splitlines() if len(line) > 80 or "\x1b" in line] == []
        words = [word.strip("`;,.:()") for word in self.out.split()]
        specs = {word for word in words if "=" in word and word.partition(":")[0] in FAMILIES}
        assert [spec for spec in specs if len(brief_spec(spec)) < len(spec)] == []


@pytest.fixture
def hardness(capfd, monkeypatch, tmp_path):
    """Run the command line in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> Answer:
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            cli.main([str(a) for a in arguments])
        found = capfd.readouterr()
        return Answer(left.value.code, found.out, found.err)

    return call


@pytest.fixture(autouse=True)
def _no_families_of_others():
    """What a test names as path.py:Name is forgotten behind it."""
    USER_FAMILIES.clear()


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    """Who ends has all the time it needs, and no machine is so slow that progress is reported."""
    monkeypatch.setattr(remote, "_LOAD_SECONDS", NEVER)
    monkeypatch.setattr(remote, "_PREDICT_SECONDS", NEVER)
    monkeypatch.setattr(progress, "_LOG_SECONDS", NEVER)


@pytest.fixture(autouse=True)
def _signals():
    """A command that was cut leaves signals ignored until its process ends: here others follow."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def ticks(monkeypatch):
    """Let the clock of this process move when somebody looks, by so many seconds each time."""

    def start(seconds: float) -> None:
        looks = itertools.count()
        monkeypatch.setattr(clock, "now", lambda: seconds * next(looks))

    return start


@pytest.fixture
def interruptible():
    """Commands heed an interrupt even where these tests do not, being started by a shell's &."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class ByHand:
    """What learners that are made by hand say of themselves."""

    name, revision, access, about = "by hand", 1, "examples", "for tests"

    def supports(self, family: Any) -> None:
        return None


def learn(learner: str, spec: str, seed: int = 0, **budget: Any) -> Run:
    """Run a learner on the instance of a spec that a seed gives, within a budget."""
    return run(parse_learner(learner), parse(spec).instance(seed), Budget(**budget), seed)


def script(path: str | Path) -> Any:
    """Load a file of Python by its path from the root, such as a script of benchmarks."""
    path = Path(__file__).parents[1] / path
    spec = importlib.util.spec_from_file_location(f"{path.stem}_made", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(path.parent))  # what scripts share
    spec.loader.exec_module(module)
    sys.path.remove(str(path.parent))
    return module


def with_bits(spec: str, bits: int) -> Any:
    """A family whose numbers mod q are written in so few bits that all tokens can be listed."""
    family = replace(parse(spec))
    vars(family)["length"] = bits
    return family


def every_token(d: int) -> np.ndarray:
    """All 4^d token pairs, packed (4^d, 2, 1)."""
    index = np.arange(4**d, dtype=np.uint64)
    return np.stack([index & np.uint64(2**d - 1), index >> np.uint64(d)], axis=1)[..., None]


def enumerate_mean(query: Any, family: Any, secret: Any) -> float:
    """E of a statistical query over all 4^d tokens, the label noise averaged: a second way."""
    words, total = every_token(family.d), 0.0
    opened, clean = family.open(words), family.codes(secret, words, np.zeros(len(words), bool))
    for code in range(len(family.levels)):
        codes = np.where(opened, code, 0).astype(family.code_type)
        examples = CodedExamples(family=family, words=words, codes=codes)
        weights = np.where(opened, family.channel[clean, code], code == 0)
        total += float(weights @ query.values(examples))
    return total / len(words)


def not_refused(
    error: type[Exception], cases: Iterable[tuple[object, Callable[[], object], str]]
) -> list[object]:
    """Call each case, (name, call, word): list those not ended by one line that has the word."""
    wrong: list[object] = []
    for name, call, word in cases:
        try:
            call()
        except error as refused:
            said = str(refused)
            if word not in said or "\n" in said:
                wrong.append((name, said))
        else:
            wrong.append((name, "taken"))
    return wrong
