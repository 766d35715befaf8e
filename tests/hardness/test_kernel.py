"""The kernel alone: what it accepts in an empty directory, and what it has to refuse there."""

import subprocess
import sys
from fractions import Fraction

import pytest

from hardness.check import kernel
from hardness.lower.proof import Proof


def test_more_secrets_than_there_are_of_their_kind_are_refused():
    secret = {"kind": "ternary", "weight": 0, "most": 50}  # there are 8
    problem = {"kind": "residues", "n": 2, "q": 101, "bits": 40, "secret": secret,
               "labels": "residue", "parts": 101, "errors": None}  # fmt: skip
    with pytest.raises(kernel.Refused):
        Proof(problem, {"spec": "none"}).step("secrets")


def test_opposite_functions_are_correlated_in_absolute_value():
    problem = {"kind": "functions", "signs": 2, "tables": ["5", "a", "6"]}  # f, -f, g
    proof = Proof(problem, {"spec": "none"})
    said = proof.fact(proof.step("products")).claims["average-correlation"]
    assert said[0] == Fraction(5, 9)


def test_quotes_without_an_end_are_read_in_bounded_time(tmp_path):
    """200 KB; time grows with the square of it where the search for an end starts again."""
    (tmp_path / "quotes.json").write_text('\\"' * 100_000)
    asked = [sys.executable, "-I", "-S", kernel.__file__, "quotes.json"]
    done = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True, timeout=10)
    assert done.returncode == 3
