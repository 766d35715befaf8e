"""Parities that are shown in another way, and hidden directions: what the kernel says of them."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import eval_gegenbauer

from hardness.check import check, kernel
from hardness.check.kernel import core, directions
from hardness.check.layers import check_layer
from hardness.lower import BoundParameters, certify
from hardness.lower.tolerances import of_members
from instances import parse
from instances.errors import Refuted
from tests.proofs import plain

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
def test_profiles_by_positions_have_the_overlaps_of_the_plain_and_four_times_the_moves(values):
    """Weighed by any constant plus a weighted sum of the signs; and by climbing queries."""
    given = {"kind": "hidden-set", "places": 5, "chosen": 3, "values": [*map(str, values)],
             "noise": "1/8"}  # fmt: skip
    steps = [{"rule": "subsets", "from": []}, {"rule": "overlaps", "from": []},
             {"rule": "johnson", "from": [1, 2]}]  # fmt: skip
    plain, shown = (
        kernel.prove(kernel.posed(p), steps) for p in (given, {**given, "view": "positions"})
    )
    assert plain[1].c == shown[1].c
    assert shown[2].moves == 4 * plain[2].moves
    rng = np.random.default_rng(0)
    z = np.array(list(itertools.product([1, -1], repeat=5)))
    sets = list(itertools.combinations(range(5), 3))
    g = np.array(values)[[(z[:, s] < 0).sum(axis=1) for s in map(list, sets)]] - np.mean(
        np.array(values)[(z[:, :3] < 0).sum(axis=1)]
    )
    weight = 2 + z @ rng.uniform(-0.3, 0.3, 5)
    wanted = [[2 * float(shown[1].c[len({*a} & {*b})]) for b in sets] for a in sets]
    assert np.abs((g * weight) @ g.T / len(z) - wanted).max() < 1e-12
    mean = 0.75 * (g - g.mean(axis=0)) / float((max(values) - min(values)) / 2)
    best = 0.0
    for _ in range(50):
        phi = rng.uniform(-1, 1, len(z))
        for _ in range(20):
            phi = np.sign((mean @ phi) @ mean + 1e-12)
        best = max(best, float(((mean @ phi / len(z)) ** 2).sum()))
    assert 0.5 * shown[2].moves < best <= shown[2].moves


def test_a_profile_by_positions_that_is_neither_odd_nor_even_is_refused():
    given = {"kind": "hidden-set", "places": 5, "chosen": 2, "values": ["1", "1", "-1"],
             "noise": "0", "view": "positions"}  # fmt: skip
    with pytest.raises(kernel.Refused, match="odd and even g"):
        kernel.prove(kernel.posed(given), [{"rule": "overlaps", "from": []}])
    kernel.prove(kernel.posed({**given, "view": "hardmax"}), [{"rule": "overlaps", "from": []}])


def direction(n, low, labels="two", noise="0"):
    return {"kind": "direction", "dimension": n, "degree": len(low), "low": low, "labels": labels,
            "noise": noise}  # fmt: skip


@pytest.mark.parametrize("n", [5, 30])
@pytest.mark.parametrize("g", [[0, 0, 0, 0.9, 0, 0.1], [0, 0, 1, 0], [0, 0.01, 0, 0, 0.99], [0, 1]])
def test_the_norm_of_directions_is_that_of_their_zonal_kernel(n, g):
    """Eigenvalues by Gegenbauer polynomials and quadrature (Funk and Hecke)."""
    r, weights = np.polynomial.legendre.leggauss(400)
    weights = weights * (1 - r**2) ** ((n - 3) / 2)
    weights /= weights.sum()
    values = sum(c * r**k for k, c in enumerate(g))
    zonal = [
        float(weights @ (values * eval_gegenbauer(k, n / 2 - 1, r)))
        / eval_gegenbauer(k, n / 2 - 1, 1.0)
        for k in range(len(g))
    ]
    m = next(k for k, c in enumerate(g) if c > 0.5)
    problem = kernel.posed(direction(n, [str(Fraction(str(c))) for c in g[:m]]))
    found = directions.sphere(problem)
    for true, bound in ((max(zonal), 1 - found.least), (max(zonal[1:]), found.top)):
        assert true * (1 - 1e-9) <= float(bound) <= 2.4 * true


def test_bounds_on_directions_grow_as_powers_of_the_dimension():
    """m = 4, 8, 12 at d = 1000: shares of n^2/3, n^4/105, n^6/10395, and explicit directions."""
    n = 998
    for m, double in ((4, 3), (8, 105), (12, 10395)):
        problem = direction(n, ["0"] * m)
        facts = kernel.prove(kernel.posed(problem), [
            {"rule": "directions", "from": []},
            {"rule": "sphere", "from": []},
            {"rule": "fit", "from": [1, 2], "risk": "1/4"},
            {"rule": "ask", "from": [2], "oracle": "stat", "term": "1/10"},
            {"rule": "queries", "from": [1, 3, 4], "success": "2/3"},
            {"rule": "information", "from": [1, 3], "success": "2/3"},
        ])  # fmt: skip
        top, rest = (float(directions.power_norm(n, k)) for k in (m, m + 1))
        assert 0.9 < top * n ** (m / 2) / double < 1
        assert 0.9 < rest * n ** (m / 2 + 1) / double / (m + 1) < 1
        ((value, _, text),) = facts[4].claims.values()
        assert abs(float(value) / ((2 / 3 - rest / (3 / 4 - top)) * 0.01 / rest) - 1) < 1e-3
        assert "of all directions" in text
    real = kernel.posed(direction(n, ["0"] * 4, "real"))
    with pytest.raises(kernel.Refused, match="real numbers"):
        core.information(real, facts[0], facts[2], Fraction(2, 3))


def test_a_number_of_a_norm_is_rounded_up_to_six_digits_and_at_most_1():
    for value in (Fraction(1, 3), Fraction(2, 3 * 10**50), Fraction(10**6 - 1, 10**7), Fraction(1)):
        found = directions.up(value)
        assert value <= found <= min(1, value * (1 + Fraction(1, 10**5)))
        assert len(str(int(found * 10 ** (6 + math.floor(-math.log10(found)))))) <= 7
