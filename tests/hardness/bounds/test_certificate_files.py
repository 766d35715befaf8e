"""Certificates as objects and files: copies, damage, files of an earlier format, terms."""

import json
import pickle
from dataclasses import replace
from fractions import Fraction

import pytest

import hardness
from hardness.bounds import BoundParameters
from hardness.bounds.certificate import Certificate
from hardness.bounds.check import check
from instances import sets, symmetric
from instances.errors import DamagedFile, Refuted, UsageError
from instances.sets import signs
from tests.conftest import not_refused
from tests.proofs import plain

PROFILE, LISTED = "profile:g=majority,d=11,m=3", "docs/examples/majorities.py:threes"


def test_a_certificate_that_was_shown_can_be_pickled():
    made = hardness.certify(PROFILE)
    assert "majority" in repr(made)
    assert any(claim.formula for claim in made.claims)
    again = pickle.loads(pickle.dumps(made))
    assert (again, repr(again)) == (made, repr(made))


@pytest.mark.parametrize(
    ("source", "changed", "why"),
    [
        (PROFILE, {"spec": 1}, "its spec is not one line of printable"),
        (PROFILE, {"spec": []}, "its spec is not one line of printable"),
        (PROFILE, {"origin": {"path": "x"}}, "only listed functions have an origin"),
        (LISTED, {"origin": None}, "its origin is not an object with names"),
        (LISTED, {"origin": {"names": [], "path": "x", "sha256": "0"}}, "names are not as many"),
        (LISTED, {"origin": {"names": [1] * 56, "path": "x", "sha256": "0"}}, "is not text"),
        (LISTED, {"format": "hardness-certificate/2"}, "make it again by the command"),
    ],
)
def test_names_of_another_type_are_refused_when_a_file_is_loaded(tmp_path, source, changed, why):
    data = hardness.certify(source).to_dict()
    (tmp_path / "right.json").write_text(json.dumps(data))
    assert repr(Certificate.load(tmp_path / "right.json"))
    (tmp_path / "wrong.json").write_text(json.dumps(data | changed))
    with pytest.raises(DamagedFile, match=why) as refusal:
        Certificate.load(tmp_path / "wrong.json")
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"spec": 1, ', "a name stands twice in an object"),
        ('{"x": ' + 10**5 * "[" + 10**5 * "]" + ", ", "(maximum recursion|Stack overflow)"),
        ('{"x": 0.5, ', "the JSON number 0.5 is not an integer"),
        ('{"x": [' + 2_200_000 * "[]," + "0], ", "it holds over 4194304 values"),
    ],
)
def test_what_the_checker_would_not_read_is_not_loaded(tmp_path, text, why):
    whole = hardness.certify(PROFILE).to_json()
    (tmp_path / "x.json").write_text(text + whole.removeprefix("{"))
    for read in (Certificate.load, hardness.check):
        with pytest.raises(DamagedFile, match=f"cannot be read as JSON: .*{why}"):
            read(tmp_path / "x.json")


def test_what_stands_in_a_file_moves_no_cursor(tmp_path):
    made = hardness.certify(LISTED).to_dict()
    made["origin"]["names"] = ["\x1b[31m\u202e\x9b" for _ in made["origin"]["names"]]
    made["origin"]["path"] = "\x1b[31m\u202e\x9b"
    (tmp_path / "x.json").write_text(json.dumps(made))
    with pytest.raises(hardness.Refuted) as refusal:
        hardness.check(tmp_path / "x.json")
    for text in (str(refusal.value), repr(Certificate.load(tmp_path / "x.json"))):
        assert text.replace("\n", "").isprintable()


def test_large_parities_single_members_and_long_rationals_are_accepted():
    noise = f"{10**36 + 7}/{10**37 + 9}"
    for spec in ("d=1000,m=21", "d=1000,m=20", "d=5,m=4", f"d=12,m=3,noise={noise}"):
        assert len(check(plain(hardness.certify(f"parity:{spec}"))).certificate.claims) == 5


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    right = symmetric.exact_heads(signs(4), Fraction(3))
    moved = (replace(right[0], u=right[0].u * 2), *right[1:])
    monkeypatch.setattr(sets, "exact_heads", lambda values, rho: moved)
    with pytest.raises(Refuted, match="do not compute"):
        check(hardness.certify("parity:d=12,m=4").to_dict())


def test_what_is_no_certificate_is_called_so():
    for data in ({}, {"format": "hardness-secret/1"}, {"format": 3}):
        with pytest.raises(DamagedFile, match="not a certificate"):
            check(data)
    other = {**hardness.certify("parity:d=8,m=3").to_dict(), "format": "hardness-certificate/9"}
    with pytest.raises(DamagedFile, match="must be hardness-certificate/3, got"):
        check(other)


def test_terms_out_of_range_are_refused():
    ends = {"tau": (0, 2), "risk": (1,), "success": (0,)}
    cases = [({name: Fraction(v)}, name) for name, some in ends.items() for v in some]
    cases += [({"vstat": 0}, "t must"), ({"tau": 0.1}, "exact rational")]
    made = ((given, lambda given=given: BoundParameters(**given), word) for given, word in cases)
    assert not_refused(UsageError, made) == []
