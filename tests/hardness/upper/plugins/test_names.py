import sys

import pytest

from hardness.upper import LEARNERS
from hardness.upper.plugins import installed, load, plugin
from instances import UsageError


@pytest.mark.parametrize(
    ("text", "place", "attribute", "parameters"),
    [
        ("mine.py:Name", "mine.py", "Name", ""),
        (" mine.py:Name:a=1,b=c ", "mine.py", "Name", "a=1,b=c"),
        ("C:\\work\\my.dir\\mine.py:Name:a=1", "C:\\work\\my.dir\\mine.py", "Name", "a=1"),
        ("C:/mine.py:Name", "C:/mine.py", "Name", ""),
        ("/a:b/c.d/mine.py:Name", "/a:b/c.d/mine.py", "Name", ""),
        ("old.py:d/mine.py:Name", "old.py:d/mine.py", "Name", ""),
        ("a.py/mine.py:Name", "a.py/mine.py", "Name", ""),
        ("mine.py:Name:file=b.py:c", "mine.py", "Name", "file=b.py:c"),
        ("mine.py:Größe", "mine.py", "Größe", ""),
        ("theirs", "theirs", "", ""),
        ("their-own.learner:a=1", "their-own.learner", "", "a=1"),
    ],
)
def test_names_are_read(text, place, attribute, parameters):
    found = plugin(text)
    assert (found.place, found.attribute, found.parameters) == (place, attribute, parameters)
    assert found.kind == ("file" if ".py" in place else "entry")


@pytest.mark.parametrize("text", ["mine.py", "mine.py:", "mine.py:9x", "a/mine.py:a b", "x.py:-"])
def test_a_file_without_a_name_is_refused(text):
    with pytest.raises(UsageError, match=r"write path\.py:Name"):
        plugin(text)


@pytest.mark.parametrize("text", ["", " ", ":a=1", "a/b", "two words", "-x"])
def test_what_is_no_name_at_all(text):
    assert plugin(text) is None
    with pytest.raises(UsageError, match=r"path\.py:Name is needed"):
        load(text)


def package(folder, name, entries, code=""):
    info = folder / f"{name}-1.5.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
    (info / "entry_points.txt").write_text(f"[hardness.learners]\n{entries}\n")
    (folder / f"{name}_code.py").write_text(code)


GOOD = """
def mean(x, y):
    '''The mean label.'''
    return lambda new: new * 0.0

class Space:
    class Inner:
        def learn(self, oracle, rng):
            return lambda new: new * 0.0
"""


@pytest.fixture
def packages(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    package(tmp_path, "good", "theirs = good_code:mean\nnested = good_code:Space.Inner", GOOD)
    package(tmp_path, "raises", "broken = raises_code:Learner", "raise OSError('no\\nluck')")
    package(tmp_path, "malformed", "odd = not a value\nstaged = malformed_code:mean", GOOD)
    package(tmp_path, "twice", "double = good_code:mean\nlost = good_code:maen", GOOD)
    package(tmp_path, "again", "double = good_code:mean", GOOD)
    package(tmp_path, "damaged", "this is no entry")
    package(tmp_path, "py", "x.py = good_code:mean")
    yield
    for name in ("good_code", "raises_code"):
        sys.modules.pop(name, None)


def test_installed_learners_are_listed_and_none_is_imported(packages):
    found = {(e.name, e.distribution): e for e in installed(LEARNERS)}
    problems = {name: entry.problem for (name, _), entry in found.items()}
    assert problems["theirs"] is None
    assert problems["nested"] is None
    assert problems["broken"] is None  # it is not imported to see
    assert "not of the form module:attribute" in problems["odd"]
    assert problems["staged"] == "the name 'staged' is a built-in learner's"
    assert found["double", "twice"].problem == found["double", "again"].problem
    assert problems["double"] == "the name 'double' is given 2 times, by again, twice"
    assert "no plain word" in problems["x.py"]
    assert "entry_points.txt cannot be read" in problems["?"]
    assert found["theirs", "good"].version == "1.5"
    assert found["theirs", "good"].value == "good_code:mean"
    assert "good_code" not in sys.modules
    names = [e.name for e in installed()]
    assert names == sorted(names)


def test_an_installed_learner_is_loaded(packages):
    assert load("theirs").about == "The mean label."
    assert load("nested").name == "Inner"
    assert load("theirs").digest is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("theris", "did you mean 'theirs'?"),
        (
            "broken",
            r"broken \(raises_code:Learner of raises 1.5\): importing it raised OSError.*no",
        ),
        ("odd", "cannot be used: its value 'not a value'"),
        ("double", "is given 2 times"),
        ("lost", r"unknown name 'maen': did you mean 'mean'\? known: [A-Za-z]"),
    ],
)
def test_what_is_wrong_with_one_is_one_line(packages, text, words):
    with pytest.raises(UsageError, match=words) as caught:
        load(text)
    assert "\n" not in str(caught.value)
