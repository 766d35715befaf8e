"""Certificates of parities and of their views: values by formulas, queries by enumeration."""

from dataclasses import replace
from fractions import Fraction

import pytest

from hardness.bounds import BoundParameters, certify
from hardness.bounds.check import check
from instances import DamagedFile, UsageError, parse, sets, symmetric
from instances.errors import Refuted
from instances.sets import signs
from tests.conftest import not_refused
from tests.proofs import plain


def test_large_parities_single_members_and_long_rationals_are_accepted():
    noise = f"{10**36 + 7}/{10**37 + 9}"
    for spec in ("d=1000,m=21", "d=1000,m=20", "d=5,m=4", f"d=12,m=3,noise={noise}"):
        assert len(check(plain(certify(parse(f"parity:{spec}")))).certificate.claims) == 5


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    right = symmetric.exact_heads(signs(4), Fraction(3))
    moved = (replace(right[0], u=right[0].u * 2), *right[1:])
    monkeypatch.setattr(sets, "exact_heads", lambda values, rho: moved)
    with pytest.raises(Refuted, match="do not compute"):
        check(certify(parse("parity:d=12,m=4")).to_dict())


def test_what_is_no_certificate_is_called_so():
    for data in ({}, {"format": "hardness-secret/1"}, {"format": 3}):
        with pytest.raises(DamagedFile, match="not a certificate"):
            check(data)
    other = {**certify(parse("parity:d=8,m=3")).to_dict(), "format": "hardness-certificate/9"}
    with pytest.raises(DamagedFile, match="this version"):
        check(other)


def test_terms_out_of_range_are_refused():
    ends = {"tau": (0, 2), "risk": (1,), "success": (0,)}
    cases = [({name: Fraction(v)}, name) for name, some in ends.items() for v in some]
    cases += [({"vstat": 0}, "t must"), ({"tau": 0.1}, "exact rational")]
    made = ((given, lambda given=given: BoundParameters(**given), word) for given, word in cases)
    assert not_refused(UsageError, made) == []
