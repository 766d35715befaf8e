"""Integers beyond the 4300 digits at which Python's own conversions stop: certified and checked."""

import json
import resource
import subprocess
import sys

import pytest
from flint import fmpz

from hardness.check import check
from hardness.lower import certify
from instances import parse
from instances.errors import Refuted
from instances.parameters import whole
from instances.text import decimal, shortened
from tests.conftest import sealed

LONG = ["lwr:n=2000,q=16384,p=2", "lwe:n=1500,q=1099511627791,sigma=3"]


@pytest.mark.parametrize("spec", LONG)
@pytest.mark.parametrize("about", [[], ["--about", "all"]])
def test_what_certify_writes_check_accepts(hardness, spec, about):
    made = hardness("certify", spec, *about, "--out", "c.json")
    assert made.code == 0, made.err
    found = hardness("check", "c.json")
    assert found.code == 0, found.err
    for out in (made.out, found.out):
        assert "digits)" in out
        assert max(map(len, out.split())) < 200  # nobody reads 8000 digits
    said = json.loads(hardness("check", "c.json", "--json").out)
    assert said["accepted"]


def test_one_more_of_so_many_is_refused():
    data = certify(parse(LONG[0])).to_dict()
    assert check(data).statements
    for claim in data["claims"]:
        if len(claim["value"]) > 4300:
            before, claim["value"] = claim["value"], decimal(whole(claim["value"]) + 1)
            with pytest.raises(Refuted, match="digits\\)"):
                check(sealed(data))
            claim["value"] = before
    check(sealed(data))


@pytest.mark.parametrize("value", ["7" * 3_999_999, "1/" + "7" * 3_000_000])
def test_millions_of_digits_are_refused_in_seconds(tmp_path, value):
    """Not in the minutes of a time that grows with the square of the digits."""
    data = certify(parse(LONG[0])).to_dict()
    for claim in data["claims"]:
        claim["value"] = value
    (tmp_path / "c.json").write_text(json.dumps(sealed(data)))
    found = subprocess.run(
        [sys.executable, "-m", "cli", "check", str(tmp_path / "c.json")],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (20, 20)),
    )
    assert found.returncode == 3, found.stderr[-300:]
    assert found.stderr.count("\n") == 1
    assert len(found.stderr) < 500


def test_integers_are_written_and_read_as_python_would():
    for value in (0, -1, 455, 10**60, 7**5000, -(3**9999)):
        text = str(fmpz(value).str())
        assert decimal(value) == text
        assert whole(text) == value
    assert shortened(10**59) == str(10**59)
    assert shortened(10**60) == "1.00000...e60 (61 digits)"
    assert whole(decimal(7**1_000_000)) == 7**1_000_000
