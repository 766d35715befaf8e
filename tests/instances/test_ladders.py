"""Published ladders, ladders of specs, and ladders in a TOML file: each mistake one line."""

import pytest

from instances import UsageError, parse
from instances.ladders import LADDERS, Ladder, Level, ladder, ladder_of

# A published ladder never changes: where this fails, give the new one a new name.
DIGESTS = {
    "parity-v1": "c7f943d190678f28b366585fccb66344316e14c782b6b8708804adca4fa65d41",
    "noisy-parity-v1": "dca153f48cf74330721c16dc7bf9b1f3e4b581ad311740f1fa100d815de94a49",
    "lwr-v1": "11c7507b54a50467c8cb23fd9780cc583791711e5614943056a95dda07a9eda6",
    "nice-v1": "9222bdc1ddb3489c0fe9b66e47c5e0abcd741b89b29c280ab468cecda14446e5",
    "beyond-v3": "2cbf7a8cbb0d2d16683b9f662eafa11e22223c39bb6dc31c394bbddd0f4f2feb",
    "linear-v1": "417913e4c62c24a789f1d70b815fb9d9c2eb51c9c14d294902c1e762c957318b",
}


def test_published_ladders_stay_as_they_are():
    assert {name: one.digest for name, one in LADDERS.items()} == DIGESTS
    assert all(len(set(one.specs)) == len(one.specs) for one in LADDERS.values())


def test_what_a_ladder_asks_is_in_its_digest():
    def of(**changes):
        asked = {"spec": "parity:d=8,m=2", "examples": 9, "seconds": 1.0} | changes
        return Ladder(name="x", about="", levels=(Level(**asked),)).digest

    assert of() == of(spec="parity:m=2,d=8,noise=0") == of(about="other words")
    changed = [{"spec": "parity:d=8,m=3"}, {"examples": 10}, {"seconds": 2.0}]
    assert len({of(), *(of(**change) for change in changed)}) == 4


def test_ladders_of_ones_own():
    one = ladder_of(["parity:d=8,m=2", "parity-first"])
    assert [parse(spec).m for spec in one.specs] == [2, 3]
    assert one.levels[0].examples is None
    with pytest.raises(UsageError, match="is given twice"):
        ladder_of(["parity:d=8,m=2", "parity:m=2,d=8"])
    with pytest.raises(UsageError, match="no such file"):
        ladder_of(["mine.py:Family"])
    with pytest.raises(UsageError, match="at least one"):
        ladder_of([])
    with pytest.raises(UsageError, match=r"unknown ladder 'parity': did you mean 'parity-v1'\?"):
        ladder("parity")


# ---- in a file


SPECS = 'specs = ["parity:d=8,m=2", "parity:d=9,m=3"]\n'


def test_a_file_is_a_list_of_specs_with_a_budget(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(SPECS + 'examples = 900\nreferences = ["lowdegree"]\n')
    found = ladder(str(path))
    assert found.specs == ("parity:d=8,m=2,noise=0,rho=3", "parity:d=9,m=3,noise=0,rho=3")
    assert {(one.examples, one.seconds) for one in found.levels} == {(900, 60.0)}
    assert found.references == ("lowdegree",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "specs"),
        ("specs = []", "specs: a list that is not empty is needed"),
        ("specs = 3", "specs: a list is needed, not an integer"),
        (SPECS + "exmples = 9", "exmples"),
        (SPECS + "examples = 0", "examples: an integer of at least 1 is needed"),
        (SPECS + "seconds = -1", "seconds: a number above 0 is needed"),
        ('specs = ["parity:d=8,m=9"]', "m must be|m="),
        ('specs = ["parity:d=8,m=2", "parity:m=2,d=8"]', "given twice"),
        ("specs = [", "Invalid value"),
    ],
)
def test_a_mistake_is_one_line_with_the_file(tmp_path, text, said):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=said) as no:
        ladder(str(path))
    assert str(path) in str(no.value)
    assert "\n" not in str(no.value)


def test_a_file_that_is_not_there_is_one_line(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        ladder(str(tmp_path / "gone.toml"))
