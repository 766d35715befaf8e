"""The check that authors of learners run: what it accepts, and what it finds."""

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs.conformance import check_learner, conformance
from instances import ToolkitError, UsageError

_FAMILIES = ("parity:d=8,m=1", "nice:m=1,k=2,d=6")
_GOOD = """
import numpy as np
from hardness.learners.plugins import function

@function(view="z")
def good(z, s):
    weights = np.linalg.lstsq(z, s, rcond=None)[0]
    return lambda z: z @ weights
"""
_BAD = """
import os
import numpy as np

class Sloppy:
    access = "either"
    def learn(self, oracle, rng):
        if len(oracle.draw(100)) < 100:
            raise ValueError("too few")
        value = float.fromhex(os.urandom(4).hex())
        return lambda x: np.full(x.shape, value)

class Transductive(Sloppy):
    def learn(self, oracle, rng):
        oracle.draw(10)
        return lambda x: np.full(x.shape, len(x))

class Picky(Transductive):
    def supports(self, family):
        return "nothing is good enough"

class Raising(Sloppy):
    def learn(self, oracle, rng):
        print("before")
        raise RuntimeError("broken")
"""


@pytest.fixture(autouse=True)
def _no_hurry(monkeypatch):
    monkeypatch.setattr("hardness.runs.conformance._BUDGET", Budget(examples=1000))
    monkeypatch.setattr("hardness.runs.conformance._SECONDS", None)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("learners")
    (folder / "good.py").write_text(_GOOD)
    (folder / "bad.py").write_text(_BAD)
    return folder


def test_a_good_learner_conforms(files):
    found = conformance(f"{files}/good.py:good", _FAMILIES)
    assert found.conforms
    quick = "budget of a second"  # which a slow machine may not keep
    assert {one.level for one in found.findings if one.check != quick} == {"ok"}
    told = {one.check: one.message for one in found.findings}
    assert "solved" in told["parity"]
    assert "not taken" in told["nice"]
    found.require()


@pytest.mark.parametrize(
    ("name", "check", "said"),
    [
        ("Transductive", "parity", "invalid hypothesis (predictions of"),
        ("Picky", "families", "takes none"),
        ("Raising", "parity", "RuntimeError in learn, line"),
        ("Missing", "loads", "unknown name 'Missing'"),
    ],
)
def test_what_breaks_does_not_conform(files, name, check, said):
    found = conformance(f"{files}/bad.py:{name}", _FAMILIES[:1])
    worst = next(one for one in found.findings if one.check == check)
    assert (worst.level, said in worst.message) == ("failure", True), found.findings
    assert not found.conforms
    with pytest.raises(ToolkitError, match=check):
        found.require()


def test_what_makes_results_worth_less_is_a_warning(files):
    found = conformance(f"{files}/bad.py:Sloppy", _FAMILIES[:1])
    assert found.conforms
    warned = {one.check: one.message for one in found.findings if one.level == "warning"}
    assert "from rng" in warned["same seed, same result"]
    assert "too few" in warned["budget of 30"]


def test_what_cannot_be_checked_is_refused(files):
    for name, specs, said in (
        ("elimination", _FAMILIES, "built in"),
        (f"{files}/none.py:Mine", _FAMILIES, "no such file: "),
        (f"{files}/good.py:good", (), "at least one family"),
    ):
        with pytest.raises(UsageError, match=said):
            conformance(name, specs)


def test_an_object_is_checked_as_a_file_is():
    def mean(x, y):
        centre = y.mean(axis=0)
        return lambda x: np.broadcast_to(centre, x.shape)

    def broken(x, y):
        raise RuntimeError("broken")

    def blind(x, y):
        return lambda x: [0.0][len(x)]

    assert check_learner(mean, _FAMILIES[:1]).conforms
    for wrong, said in ((broken, "RuntimeError in learn: broken"), (blind, "in predict")):
        with pytest.raises(ToolkitError, match=said):
            check_learner(wrong, _FAMILIES[:1])
    with pytest.raises(UsageError, match="needed is a class"):
        check_learner(3)
