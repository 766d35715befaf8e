"""From which tolerance on a bound says something: the same formula as the certificate's."""

from fractions import Fraction
from pathlib import Path

import pytest

import hardness
from hardness.claims import vacuous
from hardness.lower.tolerances import Tolerances, of_certificate
from hardness.report.charts.bounds import of_queries
from instances import parse

SPECS = (
    "parity:d=8,m=3",
    "parity:d=8,m=2,noise=1/8",
    "profile:g=majority,d=16,m=3",
    "profile:g=[0,1,2],d=12,m=2",
    "lwr:n=8,q=16,p=2,secret=binary,h=4",
    "docs/examples/majorities.py:threes",
)


@pytest.mark.parametrize("spec", SPECS)
def test_the_first_tolerance_is_the_first_at_which_certify_says_something(spec):
    made = hardness.certify(spec)
    quantities = {one.quantity for one in made.claims} & {"stat-queries", "csq-queries"}
    assert quantities
    for quantity in quantities:
        found = of_certificate(made, quantity)
        assert str(found.queries(Fraction(1, 10))) == made.value(quantity)
        first = found.first()
        assert not said_nothing(spec, quantity, first)
        step = next(Fraction(1, 10**k) for k in range(2, 9) if first > Fraction(1, 10 ** (k - 1)))
        assert said_nothing(spec, quantity, first - step)


def said_nothing(spec, quantity, tau):
    """Whether the claim about queries, or about success in its place, is vacuous."""
    names = (quantity, quantity.replace("queries", "success"))
    [claim] = [c for c in hardness.certify(spec, tau=tau).claims if c.quantity in names]
    return vacuous(claim.quantity, claim.value)


def test_there_is_none_where_one_hypothesis_fits_every_member():
    found = Tolerances(square=Fraction(2), right=5, size=5, wanted=Fraction(10, 3))
    assert found.first() is None


def test_certify_says_from_where_a_vacuous_bound_says_something(hardness):
    said = " ".join(hardness("certify", "parity:d=8,m=3").out.split())
    assert "rules out at most 25 of 35 members, and a hypothesis fits at most 1; vacuous" in said
    assert "not vacuous from tau = 0.15 on" in said
    assert "vacuous" not in hardness("certify", "parity:d=32,m=5").out
    listed = Path(__file__).parents[2] / "docs/examples/majorities.py"
    said = " ".join(hardness("certify", f"{listed}:threes", "--centred").out.split())
    assert "at most 56 of 56 members, and a hypothesis fits at most 7; vacuous" in said
    assert "not vacuous from tau = 0.51 on" in said


def test_where_no_member_has_to_be_ruled_out_no_number_is_drawn(monkeypatch):
    one = Tolerances(square=Fraction(1, 100), right=3, size=4, wanted=Fraction(8, 3))
    monkeypatch.setattr("hardness.report.charts.bounds.bound_of", lambda family, terms: one)
    found = of_queries(parse("parity:d=16,m=3"))
    assert set(found["queries"]) == {""}
    assert found["first"] is None
