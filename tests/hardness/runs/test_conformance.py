"""The check that authors of learners run: what it accepts, and what it finds."""

import pytest

from hardness.runs.conformance import conformance
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


class Picky(Base):
    def supports(self, family):
        return "nothing is good enough"


class Raising(Base):
    def learn(self, oracle, rng):
        print("before")
        raise RuntimeError("broken")


"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    (folder / "good.py").write_text(_GOOD)
    (folder / "bad.py").write_text(_BAD)
    return folder


def test_a_good_learner_conforms(files):
    found = conformance(f"{files}/good.py:good", _FAMILIES)
    assert found.conforms
    assert {one.level for one in found.findings} == {"ok"}
    told = {one.check: one.found for one in found.findings}
    assert "solved" in told["parity"]
    assert "not taken" in told["nice"]
    found.require()


@pytest.mark.parametrize(
    ("name", "check", "level", "said"),
    [
        ("Unseeded", "same seed, same result", "warning", "from rng"),
        ("Transductive", "parity", "failure", "randomised predictions (reason predictions of"),
        ("Brittle", "budget of 30", "warning", "too few"),
        ("Picky", "families", "failure", "takes none"),
        ("Raising", "parity", "failure", "RuntimeError, message broken"),
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


def test_what_cannot_be_checked_is_refused(files):
    for name, specs, said in (
        ("elimination", _FAMILIES, "built in"),
        (f"{files}/none.py:Mine", _FAMILIES, "no file"),
        (f"{files}/good.py:good", (), "at least one family"),
    ):
        with pytest.raises(UsageError, match=said):
            conformance(name, specs)
