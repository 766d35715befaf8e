"""A ladder in a TOML file: a list of specs, each mistake one line."""

import pytest

from instances.errors import UsageError
from instances.ladders import ladder

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
        ("specs = []", "length >= 1"),
        ("specs = 3", "array"),
        (SPECS + "exmples = 9", "exmples"),
        (SPECS + "examples = 0", ">= 1"),
        (SPECS + "seconds = -1", "> 0"),
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
