"""Certificates of parities and of their views: values by formulas, queries by enumeration."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardness.check import check, kernel
from hardness.check.layers import check_layer
from hardness.lower import BoundParameters, certify
from hardness.lower.tolerances import of_members
from instances import DamagedFile, Parity, UsageError, parse, symmetric
from instances.errors import Refuted
from instances.families.parity import signs
from tests import closed
from tests.conftest import not_refused, sealed
from tests.proofs import plain


def test_large_parities_single_members_and_long_rationals_are_accepted():
    noise = f"{10**36 + 7}/{10**37 + 9}"
    for spec in ("d=1000,m=21", "d=1000,m=20", "d=5,m=4", f"d=12,m=3,noise={noise}"):
        assert len(check(plain(certify(parse(f"parity:{spec}")))).statements) == 5


def test_heads_that_leak_are_refused(monkeypatch):
    """A family whose first threshold moved: its own certificate does not check."""
    right = symmetric.exact_heads(signs(4), Fraction(3))
    moved = (replace(right[0], u=right[0].u * 2), *right[1:])
    monkeypatch.setattr(symmetric, "exact_heads", lambda values, rho: moved)
    with pytest.raises(Refuted, match="do not compute"):
        check(certify(parse("parity:d=12,m=4")).to_dict())


def test_what_is_no_certificate_is_called_so():
    for data in ({}, {"format": "hardness-secret/1"}, {"format": 3}):
        with pytest.raises(DamagedFile, match="no certificate"):
            check(data)
    other = {**certify(parse("parity:d=8,m=3")).to_dict(), "format": "hardness-certificate/9"}
    with pytest.raises(DamagedFile, match="this version"):
        check(sealed(other))


@given(st.integers(2, 40))
def test_a_hypothesis_is_right_about_as_many_members_as_stated_and_no_more(k):
    """The mean of K orthonormal functions has risk 1 - 1/K for each: the count is attained."""
    assert closed.orthogonal(BoundParameters(risk=1 - Fraction(1, k))) == k
    less = BoundParameters(risk=1 - Fraction(1, k) - Fraction(1, 10**9))
    assert closed.orthogonal(less) == k - 1
    rng = np.random.default_rng(k)
    for _ in range(20):
        h = rng.normal(size=k) * rng.uniform(0, 2) / math.sqrt(k)
        worst = ((np.eye(k) - h) ** 2).sum(axis=1).max()
        assert worst >= 1 - 1 / k - 1e-12


def test_vstat_lemma_on_a_grid():
    grid = np.linspace(0, 1, 401)
    p, reference = np.meshgrid(grid, grid)
    for t in (1, 2, 3, 10, 100, 1000):
        far = np.abs(p - reference) > np.maximum(1 / t, np.sqrt(p * (1 - p) / t))
        bound = np.minimum(reference, 1 - reference) / (3 * t)
        assert ((p - reference) ** 2 >= bound * (1 - 1e-12))[far].all()


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 8)])
@pytest.mark.parametrize("tau", [Fraction(1, 2), Fraction(1, 4), Fraction(1, 5), Fraction(1, 10)])
def test_no_query_rules_out_more_members_than_the_cap(noise, tau):
    """Signs of sums of characters on four places, and random tables, by enumeration."""
    z = 1 - 2 * ((np.arange(16)[:, None] >> np.arange(4)) & 1)
    members = np.array([z[:, list(s)].prod(axis=1) for s in itertools.combinations(range(4), 2)])
    rng, fade = np.random.default_rng(3), float(1 - 2 * noise)
    tables = [np.sign(rng.normal(size=(20_000, 6)) @ members), rng.choice([-1, 1], (20_000, 16))]
    moves = np.abs(np.concatenate(tables) @ members.T) / 16 * fade / 2
    most = (moves > float(tau) + 1e-12).sum(axis=1).max()
    family = Parity(d=5, m=2, noise=noise)
    assert most <= of_members(family, BoundParameters()).ruled_out(tau)
    if (noise, tau) == (0, Fraction(1, 5)):
        assert most == 4  # the bound allows 6.25, so 6


def test_terms_out_of_range_are_refused():
    ends = {"tau": (0, 2), "risk": (1,), "success": (0,)}
    cases = [({name: Fraction(v)}, name) for name, some in ends.items() for v in some]
    cases += [({"vstat": 0}, "t must"), ({"tau": 0.1}, "exact rational")]
    made = ((given, lambda given=given: BoundParameters(**given), word) for given, word in cases)
    assert not_refused(UsageError, made) == []


VIEWS = {
    "parity_position:d=11,m=3,noise=0.1": Fraction(16, 25),
    "composed:d=11,m=3,noise=0.1": Fraction(4, 25),
    "tokens3:d=11,m=3,noise=0.1": Fraction(27, 25),
    "hardmax:d=11,m=3,noise=0.1": Fraction(4, 25),
}


@pytest.mark.parametrize("spec", VIEWS)
def test_a_view_has_the_members_of_its_parity_and_a_cap_of_its_own(spec):
    terms = BoundParameters(tau=Fraction(1, 5))
    made, of_parity = (
        certify(parse(spec), terms),
        certify(parse("parity:d=11,m=3,noise=0.1"), terms),
    )
    assert check(plain(made)).checker == "the kernel"
    assert made.value("sq-dimension") == of_parity.value("sq-dimension") == "120"
    caps = math.floor(VIEWS[spec] * 25)
    assert made.value("stat-queries") == str(math.ceil(Fraction(80 - 1, caps)))
    assert of_members(parse(spec), terms).queries(Fraction(1, 5)) == made.integer("stat-queries")


@pytest.mark.parametrize(
    ("spec", "name"), [("tokens3", "heads"), ("composed", "nodes"), ("hardmax", "heads")]
)
def test_heads_that_compute_other_labels_are_refused(spec, name, monkeypatch):
    family = parse(f"{spec}:d=9,m=2")
    check_layer(family)
    kept = getattr(family, name)[1:]
    monkeypatch.setattr(type(family), name, property(lambda self: kept))
    with pytest.raises(Refuted, match="do not compute its labels"):
        check_layer(family)


@pytest.mark.parametrize("values", [[1, 1, -1, -1], [1, -1, -1, 1], [0, 1, 1, 2]])
def test_profiles_by_positions_have_the_overlaps_of_the_plain(values):
    """Weighed by any constant plus a weighted sum of the signs."""
    problem = {"kind": "hidden-set", "places": 5, "chosen": 3, "values": [*map(str, values)],
               "noise": "1/8", "view": "positions"}  # fmt: skip
    (overlaps,) = kernel.prove(kernel.read_problem(problem), [{"rule": "overlaps", "from": []}])
    z = np.array(list(itertools.product([1, -1], repeat=5)))
    sets = list(itertools.combinations(range(5), 3))
    g = np.array(values)[[(z[:, s] < 0).sum(axis=1) for s in map(list, sets)]]
    g = g - g.mean(axis=1)[:, None]
    weight = 2 + z @ np.random.default_rng(0).uniform(-0.3, 0.3, 5)
    wanted = [[2 * float(overlaps.c[len({*a} & {*b})]) for b in sets] for a in sets]
    assert np.abs((g * weight) @ g.T / len(z) - wanted).max() < 1e-12


def test_a_profile_by_positions_that_is_neither_odd_nor_even_is_refused():
    given = {"kind": "hidden-set", "places": 5, "chosen": 2, "values": ["1", "1", "-1"],
             "noise": "0", "view": "positions"}  # fmt: skip
    with pytest.raises(kernel.Refused, match="odd and even g"):
        kernel.prove(kernel.read_problem(given), [{"rule": "overlaps", "from": []}])
    kernel.prove(
        kernel.read_problem({**given, "view": "hardmax"}), [{"rule": "overlaps", "from": []}]
    )
