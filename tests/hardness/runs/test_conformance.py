"""The check that authors of learners run: what it accepts, and what it finds."""

import pytest

from hardness.runs.conformance import Conformance, conformance
from instances import ToolkitError, UsageError

_FAMILIES = ("parity:d=8,m=1", "nice:m=1,k=2,d=6")
_GOOD = """
import numpy as np
from hardness.upper.plugins import function

@function(view="reduced")
def good(z, s):
    weights = np.linalg.lstsq(z, s, rcond=None)[0]
    return lambda z: z @ weights
"""
_BAD = """
import os
import time

import numpy as np


class Base:
    access = "either"

    def predict(self, x):
        return np.zeros(x.shape)

    def learn(self, oracle, rng):
        oracle.draw(10)
        return self.predict


class Unseeded(Base):
    def learn(self, oracle, rng):
        value = float.fromhex(os.urandom(4).hex())
        return lambda x: np.full(x.shape, value)


class Transductive(Base):
    def predict(self, x):
        return np.full(x.shape, len(x))


class Brittle(Base):
    def learn(self, oracle, rng):
        if len(oracle.draw(100)) < 100:
            raise ValueError("too few")
        return self.predict


class NeedsMany(Base):
    def predict(self, x):
        if len(x) < 2:
            raise ValueError("a batch is needed")
        return np.zeros(x.shape)


class Picky(Base):
    def supports(self, family):
        return "nothing is good enough"


class Raising(Base):
    def learn(self, oracle, rng):
        print("before")
        raise RuntimeError("broken")


class Littering(Base):
    def learn(self, oracle, rng):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        return self.predict
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    (folder / "good.py").write_text(_GOOD)
    (folder / "bad.py").write_text(_BAD)
    return folder


def _levels(found: Conformance) -> dict[str, str]:
    return {one.check: one.level for one in found.findings}


def test_a_good_learner_conforms(files):
    found = conformance(f"{files}/good.py:good", _FAMILIES)
    assert found.conforms
    assert set(_levels(found).values()) == {"ok"}
    assert "solved" in next(f.found for f in found.findings if f.check == "parity")
    assert "not taken" in next(f.found for f in found.findings if f.check == "nice")
    found.require()


@pytest.mark.parametrize(
    ("name", "check", "level", "said"),
    [
        ("Unseeded", "same seed, same result", "warning", "from rng"),
        (
            "Transductive",
            "parity",
            "failure",
            "randomised predictions (reason predictions of the same",
        ),
        ("Brittle", "budget of 30", "warning", "too few"),
        ("NeedsMany", "parity", "failure", "ValueError, message a batch is needed"),
        ("Picky", "families", "failure", "takes none"),
        ("Raising", "parity", "failure", "RuntimeError, message broken"),
        ("Littering", "parity", "warning", "left 1 processes"),
        ("Missing", "loads", "failure", "unknown name 'Missing'"),
    ],
)
def test_what_is_wrong_is_found(files, name, check, level, said):
    found = conformance(f"{files}/bad.py:{name}", _FAMILIES[:1])
    worst = next(one for one in found.findings if one.check == check)
    assert (worst.level, said in worst.found) == (level, True), found.findings
    assert found.conforms is (level != "failure")
    if level == "failure":
        with pytest.raises(ToolkitError, match=check):
            found.require()


def test_only_learners_of_ones_own_are_checked(files):
    with pytest.raises(UsageError, match="built in"):
        conformance("elimination")
    with pytest.raises(UsageError, match="no file"):
        conformance(f"{files}/none.py:Mine")


def test_no_specs_check_nothing(tmp_path):
    (tmp_path / "mine.py").write_text("def L(x, y): ...")
    with pytest.raises(UsageError, match="at least one family"):
        conformance(f"{tmp_path / 'mine.py'}:L", ())
