"""Certificates of profiles: what their bounds say of any query and hypothesis, by brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import BoundParameters, certify, checker
from hardness.bounds.certify import pose
from hardness.bounds.check import check
from hardness.report.claims import sentence
from instances import parse, tokens
from instances.sets import profile, spelling
from tests.conftest import every_token


@pytest.mark.parametrize("g", ["majority", "[0,1,4]", "[1.1,-0.9,0.9]", "[0,1,-2]"])
def test_a_correlational_query_moves_members_no_further_than_the_eigenvalue_allows(g):
    """By all tokens: signs of sums of members, of eigenvectors, and of members alone."""
    family = parse(f"profile:g={g},d=5,m=2,noise=1/5")
    x = tokens.unpack(every_token(5), 5)
    factors = np.array([family.mean(s, x)[:, 0, 0] * x[:, 0, 0] for s in family.members()])
    parts = factors - factors.mean(axis=0)
    sums = np.random.default_rng(1).normal(size=(60, len(parts)))
    sums = np.vstack([sums, np.linalg.eigh(parts @ parts.T)[1].T, np.eye(len(parts))])
    moved = np.sign(sums @ parts) @ parts.T / len(x)
    half = float(max(family.values) - min(family.values)) / 2
    allowed = float(pose(family, Fraction(2, 3)).known.gram.moves) * half**2
    assert allowed / 4 < (moved**2).sum(axis=1).max() <= allowed * (1 + 1e-9)


def test_a_query_may_single_out_a_value_where_there_are_more_than_two():
    """d - 1 general queries find the set where more correlational ones are certified."""
    family, words = parse("profile:g=[1.01,-0.99,0.99],d=5,m=2"), every_token(5)
    z, clean = tokens.unpack(words, 5).prod(axis=1), np.zeros(len(words), np.bool_)
    for j, secret in itertools.product(range(1, 5), family.members()):
        codes = family.codes(secret, words, clean)
        single = (family.factors[codes] == 0.99) & family.open(words)  # the value at h = 2 alone
        assert (single * z[:, j]).mean() == (-1 / 8 if j in secret else 0)
    # The answers are as far apart for every d: a tolerance of 1/17 is fine enough.
    large = parse("profile:g=[1.01,-0.99,0.99],d=1001,m=2")
    made = certify(large, BoundParameters(tau=Fraction(1, 17)))
    assert int(made.value("csq-queries")) > 2 * 1000
    names = {claim.quantity for claim in made.claims}
    assert "csq-queries" in names
    assert not names & {"stat-queries", "vstat-queries"}


@pytest.mark.parametrize("g", ["majority", "[1.1,-0.9,1.1,-1.1,0.9,-1.1]", "[0,1,4,9,16,25]"])
@pytest.mark.parametrize(("factor", "more"), [(10, 0), (Fraction(1, 7), 0), (-1, 1000), (1, 3)])
def test_query_bounds_do_not_depend_on_the_units_of_the_labels(g, factor, more):
    counts, values = [], profile(g, 5)
    for text in (g, spelling(factor * v + more for v in values)):
        made = certify(
            parse(f"profile:g={text},d=301,m=5,noise=0.1"), BoundParameters(tau=Fraction(1, 17))
        )
        check(made.to_dict())
        names = {"csq-queries", "stat-queries"} & {c.quantity for c in made.claims}
        counts.append({name: made.value(name) for name in names})
    assert counts[0] == counts[1]
    assert int(counts[0]["csq-queries"]) > 1


def test_a_bound_is_rounded_to_its_own_side():
    for value in (Fraction(10**400, 3), Fraction(-2, 3 * 10**400), 10**50 - 1, 10**50, 10**50 + 1):
        down, up = (checker.short(value, up=up).removeprefix("about ") for up in (False, True))
        assert Fraction(down) <= value <= Fraction(up)
        assert abs(Fraction(up) - Fraction(down)) <= abs(Fraction(value)) / 10**5
    made = certify(parse("hidden:d=12,hard=3,nice=1"))
    assert "a query eliminates at most 25 of 165 members" in sentence(made, made.claims[2])
    large = certify(parse("parity:d=10000,m=40"))
    for claim in large.claims:
        if claim.quantity.endswith("-queries"):
            least = sentence(large, claim).partition("at least about ")[2].partition(" ")[0]
            assert Fraction(least) <= claim.value < Fraction(least) * Fraction(1.0001)
