"""A contained learner reads the file of a user's family, and nothing else beside it."""

import shutil
from pathlib import Path

import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import ToolkitError, parse, read_folder, write_folder
from tests.hardness.upper.isolated.driving import LEVELS, contained, nothing_left

SIGNED = Path(__file__).parents[4] / "docs/examples/signed_majority.py"
LEARNER = """
from pathlib import Path

from hardness.upper import Hypothesis

class Reads:
    name, about, access, revision = "reads", "what can be read", "examples", 1

    def __init__(self, at):
        self.at = Path(__file__).parents[1] / at

    def supports(self, family):
        return None

    def learn(self, oracle, rng):
        def tried(path):
            try:
                return path.read_text()[:9] if path.is_file() else sorted(
                    p.name for p in path.iterdir()
                )
            except OSError as error:
                return type(error).__name__
        paths = ["signed.py", "notes.txt", "x/secret.json", "y/secret.json", "x", "."]
        found = {name: tried(self.at / name) for name in paths}
        oracle.draw(10)
        said = {"found": found, "members": oracle.family.size}
        return Hypothesis(predict=lambda x: 0.0 * x, details=said)
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a family, notes, and two instances with their secrets."""
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "learners").mkdir()
    (tmp_path / "learners/mine.py").write_text(LEARNER)
    shutil.copy(SIGNED, home / "signed.py")
    (home / "notes.txt").write_text("private")
    monkeypatch.chdir(home)
    family = parse("signed.py:SignedMajority:d=9,m=3")
    for name in ("x", "y"):
        write_folder(home / name, family.instance(0), 100)
    return home


@pytest.mark.parametrize("level", LEVELS[:2])
def test_it_reads_the_family_and_nothing_else_beside_it(home, level):
    learner = parse_learner("../learners/mine.py:Reads:at=home")
    with contained(level), nothing_left():
        done = run(learner, read_folder(home / "x"), Budget(), 0)
    assert done.outcome is not Outcome.NOT_LOADED, done.details
    said = done.details["reported"]
    found = said["found"]
    assert said["members"] == 448
    assert found["signed.py"] == SIGNED.read_text()[:9]
    for name in ("notes.txt", "x/secret.json", "y/secret.json"):
        assert found[name] in ("FileNotFoundError", "PermissionError"), (name, found)
    if level == "bubblewrap":
        assert found["."] == ["signed.py", "x"]
        assert found["x"] == []
    else:
        assert found["."] == found["x"] == "PermissionError"


def test_a_family_beside_a_secret_is_refused(home):
    shutil.copy(home / "x/secret.json", home)
    shutil.copy(home / "x/instance.json", home)
    for path in (home / "x").glob("examples*"):
        shutil.copy(path, home)
    learner = parse_learner("../learners/mine.py:Reads:at=home")
    with pytest.raises(ToolkitError, match=r"secret.json and signed.py: move one of the two"):
        run(learner, read_folder(home), Budget(), 0)


def test_a_family_that_does_not_load_is_no_run(home, monkeypatch):
    family = parse("signed-majority:d=9,m=3")
    text = (home / "signed.py").read_text()
    (home / "signed.py").write_text(text + "\n")
    done = run(parse_learner("../learners/mine.py:Reads:at=home"), family.instance(0), Budget(), 0)
    assert done.outcome is Outcome.NOT_LOADED
    assert "was changed meanwhile" in done.details["reason"]
