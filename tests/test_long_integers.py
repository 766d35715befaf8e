"""Integers beyond the 4300 digits at which Python's own conversions stop: certified and checked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from flint import fmpz

from hardness.bounds import Certificate, checker
from hardness.bounds.certify import certify
from hardness.bounds.check import check
from instances import numbers, parse
from instances.numbers import write
from instances.text import shortened
from tests.proofs import claimed, plain, refused

LONG = ["lwr:n=2000,q=16384,p=2", "lwe:n=1500,q=1099511627791,sigma=3"]


@pytest.mark.parametrize("spec", LONG)
@pytest.mark.parametrize("about", [[], ["--about", "all"]])
def test_what_certify_writes_check_accepts(hardness, spec, about):
    made = hardness("certify", spec, *about, "--out", "c.json")
    assert made.code == 0, made.err
    found = hardness("check", "c.json")
    assert found.code == 0, found.err
    assert "~" in made.out
    assert "--json has every digit" in made.out
    for out in (made.out, found.out):
        assert max(map(len, out.split())) < 200  # nobody reads 8000 digits
    assert hardness("check", "c.json", "--json").json["accepted"]
    loaded = Certificate.load("c.json")
    assert max(one.value for one in loaded.claims) > 10**4300
    assert loaded.to_dict() == json.loads(Path("c.json").read_text())


def test_one_more_of_so_many_is_refused():
    data = plain(certify(parse(LONG[0])))
    assert check(data).certificate.claims
    long = [name for name, _, value in data["claims"] if len(value) > 3600]
    assert len(long) == 4
    for name in long:
        value = int(claimed(data, name)[2], 16)
        for other in (checker.written(value + 1), write(value)):
            refused(data, lambda d, n=name, v=other: claimed(d, n).__setitem__(2, v), "as claimed")


def test_millions_of_digits_are_refused(hardness, tmp_path):
    data, names = plain(certify(parse(LONG[0]))), [tmp_path / f"{i}.json" for i in range(3)]
    for name, value in zip(
        names, ("7" * 3_999_999, "1/" + "7" * 3_000_000, "0x" + "7" * 1_999_000), strict=True
    ):
        data["claims"][0][2] = data["terms"]["t"] = value
        name.write_text(json.dumps(data))
    found = hardness("check", names[0])  # the same checker: of one file
    assert found.code == 3
    bare = [sys.executable, Path(checker.__file__).parent, *names]
    alone = subprocess.run(bare, capture_output=True, text=True, check=False)
    assert alone.returncode == 3, alone.stderr[-300:]
    for said, files in ((found.err, 1), (alone.stderr, 3)):
        assert said.count("\n") == files
        assert max(map(len, said.splitlines())) < 500


def test_integers_are_written_and_read_as_python_would():
    for value in (0, -1, 455, 10**60, 7**5000, -(3**9999)):
        text = str(fmpz(value).str())
        assert write(value) == text
        assert numbers.parse(text, int, "x", any_size=True) == value
    assert shortened(write(10**59)) == str(10**59)
    assert shortened(write(10**60)) == "1.00000...e60 (61 digits)"
    assert numbers.parse(write(7**1_000_000), int, "x", any_size=True) == 7**1_000_000
