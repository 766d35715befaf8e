"""What is known from tables over z alone, against what is known of hidden sets by formulas."""

from dataclasses import dataclass

import pytest

from hardness.lower import certify, verify
from hardness.lower.measures import measures
from instances import parse
from instances.symmetric import Profile


@dataclass(frozen=True, kw_only=True)
class Tabled(Profile):
    """A profile of which only the tables over z are known."""

    name = "tabled"
    scheme = None


def tabled(g):
    return Tabled(g=parse(f"profile:g={g},d=7,m=3").g, d=7, m=3)


def test_verification_by_tables_agrees_and_looks_at_the_layer():
    for g in ("majority", "h**2"):
        found = verify(tabled(g), 30, 20_000)
        found.require()
        assert found.layer.members == 4


@pytest.mark.parametrize("g", ["majority", "exactly(2)", "h**2", "parity"])
def test_measures_of_tables_are_those_of_hidden_sets(g):
    found, wanted = measures(tabled(g)), measures(parse(f"profile:g={g},d=7,m=3"))
    values = {row.name: row.value for row in wanted.rows}
    values["SQ-leap"] = values["SQ-leap, exact heads"]
    for row in found.rows:
        if row.kind == "float64":
            exact = {one.name: one.decimal for one in wanted.rows}[row.name]
            assert float(row.value) == pytest.approx(float(exact), abs=1e-5)
        else:
            assert row.value == values[row.name], row.name
    assert found.weights[: len(wanted.weights)] == wanted.weights
    assert set(found.weights[len(wanted.weights) :]) <= {"0"}


def test_a_family_of_hidden_sets_has_the_certificate_of_its_profile():
    class Mine(Profile):
        """Under a name of its own."""

        name = "mine"

    profile = parse("profile:g=[1,1,-1],d=8,m=2")
    made = certify(Mine(g=profile.g, d=8, m=2))
    assert made.to_dict() == certify(profile).to_dict()
