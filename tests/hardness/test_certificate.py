"""Certificates of parities: accepted, and refused when something in them is changed."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.check.problems import hidden_set
from hardness.lower import BoundParameters, certify
from hardness.lower.hidden_sets import certify_hidden_sets, pose
from hardness.lower.proof import Proof
from instances import DamagedFile, Parity, parse, symmetric
from instances.errors import Refuted
from instances.families.parity import signs
from tests import closed
from tests.conftest import sealed
from tests.proofs import plain


@given(
    st.integers(2, 300),
    st.data(),
    st.fractions(0, Fraction(2, 5), max_denominator=20),
    st.fractions(Fraction(1, 500), 1, max_denominator=500),
    st.fractions(0, Fraction(4, 5), max_denominator=9),
    st.fractions(Fraction(1, 9), 1, max_denominator=9),
)
@settings(max_examples=60, deadline=None)
def test_any_terms_are_accepted_with_the_values_of_the_formulas(d, data, noise, tau, risk, success):
    family = Parity(d=d, m=data.draw(st.integers(1, min(d - 1, 12))), noise=noise)
    vstat = data.draw(st.integers(1, 10**5))
    terms = BoundParameters(tau=tau, vstat=vstat, risk=risk, success=success)
    made = certify(family, terms)
    assert len(check(plain(made)).statements) == 5
    assert made.value("pairwise-correlation") == "0"
    assert made.integer("sq-dimension") == family.size
    assert made.integer("information-floor") == closed.information_floor(family.size, terms)
    for name in ("stat", "vstat"):
        queries = closed.parity_queries(family.size, noise, terms, name)
        if queries is not None:
            assert made.integer(f"{name}-queries") == queries
        else:
            guess = Fraction(min(closed.orthogonal(terms), family.size), family.size)
            assert Fraction(made.value(f"{name}-success")) == guess


@pytest.mark.parametrize("spec", ["parity:d=1000,m=21", "parity:d=1000,m=20", "parity:d=5,m=4"])
def test_large_parities_and_single_members_are_accepted(spec):
    assert len(check(plain(certify(parse(spec)))).statements) == 5


def test_as_a_profile_it_says_the_same():
    family = parse("parity:d=12,m=4,noise=0.2")
    posed = pose(Proof(hidden_set(family), {"spec": family.spec}), orthogonal=False)
    made = certify_hidden_sets(posed, BoundParameters())
    assert check(plain(made)).spec == made.spec
    assert made.value("sq-dimension") == "330"


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    right = symmetric.exact_heads(signs(4), Fraction(3))
    moved = (replace(right[0], u=right[0].u * 2), *right[1:])
    monkeypatch.setattr(symmetric, "exact_heads", lambda values, rho: moved)
    with pytest.raises(Refuted, match="do not compute"):
        check(certify(parse("parity:d=12,m=4")).to_dict())


def test_long_rationals_are_accepted_as_they_are_made():
    noise = f"{10**36 + 7}/{10**37 + 9}"
    check(certify(parse(f"parity:d=12,m=3,noise={noise}")).to_dict())


def test_what_is_no_certificate_is_called_so():
    for data in ({}, {"format": "hardness-secret/1"}, {"format": 3}):
        with pytest.raises(DamagedFile, match="no certificate"):
            check(data)
    other = {**certify(parse("parity:d=8,m=3")).to_dict(), "format": "hardness-certificate/9"}
    with pytest.raises(DamagedFile, match="this version"):
        check(sealed(other))
