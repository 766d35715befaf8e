"""The secret of a challenge is never where a participant's learner can read it."""

import os
import shutil

import pytest

from hardness.oracles import Budget
from hardness.runs import challenge as lib
from hardness.runs.challenge import submit as submit_module
from hardness.upper import parse_learner
from hardness.upper.isolated import contain
from instances import ToolkitError, UsageError, parse

SPEC = "parity:d=16,m=3"
LEARNER = """
import numpy as np

def zeros(x, y):
    return lambda x: np.zeros(x.shape)
"""


@pytest.fixture(autouse=True)
def anywhere(monkeypatch):
    """What is asked here does not hang on bubblewrap being there."""
    monkeypatch.setenv(contain.CONTAIN, "off")


@pytest.fixture
def made(tmp_path):
    """A challenge as docs/challenges.md lays it out: public, owner and learners apart."""
    (tmp_path / "learners/ann").mkdir(parents=True)
    (tmp_path / "learners/ann/mine.py").write_text(LEARNER)
    return lib.create(tmp_path / "public", tmp_path / "owner/secret.json", parse(SPEC), 50, 30)


def submit(made, file):
    return lib.by_learner(made, "ann", parse_learner(f"{file}:zeros"), Budget(seconds=20))


def test_folders_that_are_apart_are_fine(made, tmp_path):
    submission, outcome, _ = submit(made, tmp_path / "learners/ann/mine.py")
    assert (submission.predictions.shape, outcome) == ((30, 2, 16), None)


def beside(folder, secret):
    shutil.copy(secret, folder / "secret.json")


def below(folder, secret):
    (folder / "data/more").mkdir(parents=True)
    shutil.copy(secret, folder / "data/more/notes.txt")


def hard_link(folder, secret):
    os.link(secret, folder / "weights.bin")


def symbolic_link(folder, secret):
    (folder / "weights.bin").symlink_to(secret)


def written_otherwise(folder, secret):
    (folder / "all.txt").write_text("Mine:\n" + secret.read_text().replace(", ", ",\n   "))


@pytest.mark.parametrize("lay", [beside, below, hard_link, symbolic_link, written_otherwise])
def test_a_secret_that_a_learner_could_read_is_refused(made, tmp_path, lay):
    folder = tmp_path / "learners/ann"
    lay(folder, tmp_path / "owner/secret.json")
    with pytest.raises(ToolkitError, match="is the secret of this challenge") as refused:
        submit(made, folder / "mine.py")
    assert "\n" not in str(refused.value)


def test_a_learner_beside_the_secret_is_refused_by_any_name(made, tmp_path):
    (tmp_path / "owner/mine.py").write_text(LEARNER)
    (tmp_path / "link.py").symlink_to(tmp_path / "owner/mine.py")
    (tmp_path / "owners").symlink_to(tmp_path / "owner")
    for file in ("owner/mine.py", "link.py", "owners/mine.py", "learners/../owner/mine.py"):
        with pytest.raises(ToolkitError, match="is the secret of this challenge"):
            submit(made, tmp_path / file)
    (tmp_path / "mine.py").write_text(LEARNER)
    with pytest.raises(ToolkitError, match=r"owner/secret\.json is the secret of this challenge"):
        submit(made, tmp_path / "mine.py")


def test_what_is_no_secret_of_this_challenge_does_no_harm(made, tmp_path):
    folder = tmp_path / "learners/ann"
    lib.create(folder / "other/public", folder / "other/secret.json", parse(SPEC), 20, 30)
    shutil.copytree(tmp_path / "public", folder / "public")
    os.mkfifo(folder / "pipe")
    (folder / "gone").symlink_to(tmp_path / "nowhere")
    (folder / "loop").symlink_to(folder)
    assert submit(made, folder / "mine.py")[1] is None


def test_a_folder_of_too_many_files_is_refused(made, tmp_path, monkeypatch):
    monkeypatch.setattr("hardness.runs.challenge.reach._MOST", 3)
    folder = tmp_path / "learners/ann"
    for name in "abc":
        (folder / name).touch()
    with pytest.raises(UsageError, match="holds over 3 files"):
        submit(made, folder / "mine.py")


def test_learners_of_the_toolkit_have_no_folder(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "owner")
    found, _, _ = lib.by_learner(made, "ann", parse_learner("elimination"), Budget())
    assert found.predictions is not None


@pytest.mark.parametrize("level", ["bubblewrap", "landlock", "off"])
def test_a_challenge_runs_learners_in_bubblewrap_or_as_the_user_says(
    made, tmp_path, monkeypatch, level
):
    monkeypatch.setattr(contain, "level", lambda: level)
    monkeypatch.setattr(submit_module, "learn_once", started)
    words = "bubblewrap alone" if level == "landlock" else "it starts"
    with pytest.raises(ToolkitError, match=words):
        submit(made, tmp_path / "learners/ann/mine.py")


def started(*_):
    raise ToolkitError("it starts")
