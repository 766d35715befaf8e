"""Bounds on members of two values, against all queries, hypotheses and sets of tiny families."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.check import check
from hardness.check.spectra import check_largest
from hardness.lower import BoundParameters, certify
from hardness.lower.finite import (
    How,
    Members,
    certify_finite,
    gram,
    of_family,
)
from hardness.lower.finite.known import Spread
from hardness.lower.finite.sda import all_subsets
from hardness.lower.finite.signs import vstat_cap, weighted_eigenvalue
from hardness.lower.finite.spectrum import UNIT, largest_eigenvalue
from hardness.lower.members import least_names
from hardness.lower.named import (
    Kernel,
    ListedMembers,
    NoisyDescent,
    RoundedDescent,
    WorstDescent,
    certify_named,
    certify_unknown,
)
from hardness.lower.record import Certificate
from hardness.report.certificate import certificate_words
from instances import parse
from instances.errors import Refuted, UsageError
from tests.conftest import sealed
from tests.proofs import plain, refused

TAUS = [Fraction(1, 10), Fraction(1, 4), Fraction(2, 5), Fraction(3, 5), Fraction(1)]


def family(table, names=None):
    """The functions whose values at point i, bit j set where coordinate j is -1, are given."""
    n = len(table[0]).bit_length() - 1
    rows = np.array(table, float)
    return Members(
        kind="functions", path="x", sha256="0" * 64, d=n, n=n, outputs=1, bound=float(rows.max()),
        names=tuple(names or (f"f{i}" for i in range(len(rows)))),
        evaluate=lambda x: rows[:, (x < 0) @ (1 << np.arange(n))],
    )  # fmt: skip


def made(table, terms=None, **how):
    return plain(certify_finite(family(table), terms, How(**how)))


def claims(data):
    return {one.quantity: one.value for one in Certificate.read(data).claims}


def tables(bits, seed=0, count=12):
    """Random families of 2 to 5 members, and some that are made on purpose."""
    points = 1 << bits
    rng = np.random.default_rng(seed)
    found = [rng.choice([-1, 1], (int(rng.integers(2, 6)), points)) for _ in range(count)]
    first = np.ones(points, int)
    apart = np.tile(first, (4, 1))
    apart[np.arange(4), np.arange(4)] = -1  # nearly the same everywhere
    parities = np.array([[1, -1] * (points // 2), [1, 1, -1, -1] * (points // 4)])
    return [*found, apart, parities, np.array([first, -first]), np.array([first, first, -first])]


def queries(points, values):
    """All queries of a point and a label with these values: (count, 2, points), label +1 first."""
    return np.array(list(itertools.product(values, repeat=2 * points))).reshape(-1, 2, points)


def means(phi, table):
    """E phi(x, f_i(x)), for all queries and members: (count, M)."""
    up = table > 0
    return (phi[:, :1] * up[None] + phi[:, 1:] * ~up[None]).mean(axis=2)


@pytest.mark.parametrize(("bits", "values"), [(2, (0, 0.25, 1)), (3, (0, 1))])
def test_no_query_to_vstat_rules_out_more_members_than_the_cap(bits, values):
    phi = queries(1 << bits, values)
    for table in tables(bits, seed=1):
        spread = Spread.of(table @ table.T / (1 << bits), 0.0)
        weighted = weighted_eigenvalue(table.astype(np.int8))
        p = means(phi, table)
        reference = p.mean(axis=1, keepdims=True)
        for t in (1, 2, 3, 5, 20, 400):
            told = np.abs(p - reference) > np.maximum(1 / t, np.sqrt(p * (1 - p) / t)) + 1e-12
            most = told.sum(axis=1).max()
            assert most <= vstat_cap(spread, weighted, BoundParameters(vstat=t))
            assert most <= vstat_cap(spread, None, BoundParameters(vstat=t))
        moves = ((p - reference) ** 2).sum(axis=1)
        reach = np.minimum(reference, 1 - reference)[:, 0] * weighted / UNIT / 2
        assert (moves <= reach + 1e-12).all()


def test_weights_make_a_difference():
    """Members that are +1 nearly everywhere: a query of small mean sees more of each."""
    table = 1 - 2 * np.eye(16, dtype=np.int8)
    spread = Spread.of(table @ table.T.astype(int) / 16, 0.0)
    assert spread.eigenvalue / UNIT == pytest.approx(1 / 4)
    assert weighted_eigenvalue(table) / UNIT == pytest.approx(2)
    assert vstat_cap(spread, None, BoundParameters(vstat=5)) == 1
    assert vstat_cap(spread, weighted_eigenvalue(table), BoundParameters(vstat=100)) == 300


def average(sizes, chosen):
    return Fraction(int(sizes[np.ix_(chosen, chosen)].sum()), int(sizes[0, 0]) * len(chosen) ** 2)


def test_sda_of_orthogonal_members():
    found = all_subsets(16 * np.eye(400, dtype=np.int64), Fraction(1, 20))
    assert (found.lower, found.upper, len(found.above)) == (21, 21, 19)


@pytest.mark.parametrize("size", [40, 1600])
def test_the_largest_eigenvalue_is_that_of_all(size):
    rng = np.random.default_rng(0)
    half = rng.normal(size=(size, 30))
    for matrix in (half @ half.T, np.eye(size), np.ones((size, size)) / size):
        true = float(np.linalg.eigvalsh(matrix)[-1])
        found = largest_eigenvalue(matrix)
        slack = 16 * size * np.finfo(float).eps * np.linalg.norm(matrix)
        assert abs(found - true) <= slack
        end = math.ceil((true + slack) * UNIT)
        check_largest(end, matrix, 0.0, slack)
        for wrong, why in ((end - 1 - round(2 * slack * UNIT), "larger"), (2 * end, "smaller")):
            with pytest.raises(Refuted, match=f"{why} than the one in the evidence"):
                check_largest(wrong, matrix, 0.0, slack)


TABLE = np.random.default_rng(4).choice([-1, 1], (24, 64))
BROKEN = [
    lambda d: d["evidence"]["spread"].update(eigenvalue=d["evidence"]["spread"]["mean"]),
    lambda d: d["evidence"]["spread"].update(least=d["evidence"]["spread"]["mean"]),
    lambda d: d["evidence"]["origin"].update(of="24"),
]


@pytest.mark.parametrize("change", BROKEN)
def test_broken_evidence_is_refused(change):
    data = made(TABLE, centred=True)
    check(data)
    change(data)
    with pytest.raises(Refuted):
        check(sealed(data))


def test_claims_about_two_values_are_refused_of_others():
    """The words of a family of signs, put under functions of which one has a third value."""
    real = TABLE.copy()
    real[0, 0] = 3
    signs, data = made(TABLE, centred=True), made(real)
    assert set(claims(data)) == {c for c in claims(signs) if not c.startswith(("s", "v", "i"))} | {
        "sq-dimension"
    }
    assert "correlational statistical-query learners only" in data["scope"]
    data["claims"] = signs["claims"]
    with pytest.raises(Refuted):
        check(sealed(data))
    data["scope"] = signs["scope"]
    with pytest.raises(Refuted, match="scope"):
        check(sealed(data))


def test_queries_are_about_the_functions_whatever_is_subtracted():
    """--centred changes correlations, and neither queries nor examples: so say both checkers."""
    one, two = claims(made(TABLE)), claims(made(TABLE, centred=True))
    for name in one:
        if "queries" in name or "floor" in name:
            assert one[name] == two[name]
    assert one["average-correlation"] != two["average-correlation"]


@pytest.mark.parametrize("table", [[[1, 1, -1, 1]] * 3, [[1, 1, 1, 1]], [[2, 2, 2, 2]] * 2])
def test_one_function_gives_no_bound_on_queries(table):
    data = made(table)
    assert not {c for c in claims(data) if "queries" in c or "success" in c or "floor" in c}
    assert "All members are the same function" in data["scope"]
    check(data)
    data["evidence"]["spread"] = {"eigenvalue": 1, "least": 1, "mean": 1}
    with pytest.raises(Refuted):
        check(sealed(data))


def test_a_constant_and_its_opposite_are_a_family():
    """One hypothesis fits none of them at risk 1/4; the bounds allow both, and say nothing."""
    data = made([[1] * 4, [-1] * 4], BoundParameters(tau=Fraction(1)))
    check(data)
    assert {claims(data)[c] for c in ("csq-queries", "vstat-queries", "information-floor")} == {"0"}


@pytest.mark.parametrize("eta", [0.0, 0.2])
def test_a_query_on_layers_is_one_on_factors_within_the_same_tolerance(eta):
    """Of all queries of (tokens, label) with values at the ends, d = 2 with z_0 = -1 on half."""
    x = np.array(list(itertools.product((1, -1), repeat=4))).reshape(-1, 2, 2)
    z = x[:, 0] * x[:, 1]
    table = np.array([[1, 1], [1, -1], [-1, 1]])  # by z_1 = +1, -1
    factor = np.where(z[:, 0] < 0, table[:, (z[:, 1] < 0).astype(int)], 0)
    label = x[:, 0, 0] * factor
    closed = z[:, 0] > 0
    spread = Spread.of(table @ table.T / 2, 0.0)
    rng = np.random.default_rng(5)
    for low in (-1, 0):
        phi = rng.choice([low, 1], (4000, 16, 3))  # at the label -1, 0, +1
        phi[:200] = np.sign(phi[:200, :1] + label[0][None, :, None] * [-1, 0, 1] + 0.5)
        phi[:200] = np.where(phi[:200] > 0, 1, low)
        at = np.take_along_axis
        clean, other = (
            np.stack([at(phi, s * y[None, :, None] + 1, 2)[..., 0] for y in label], 1)
            for s in (1, -1)
        )
        whole = (1 - eta) * clean + eta * other
        mean, known = whole.mean(axis=2), whole[:, :, closed].mean(axis=2)
        own = whole[:, :, ~closed].mean(axis=2)
        assert np.allclose(known, known[:, :1])
        assert np.allclose(mean, (known + own) / 2)
        moved = np.abs(mean - mean.mean(axis=1, keepdims=True))
        for tau in TAUS:
            assert (moved > float(tau)).sum(axis=1).max() <= spread.cap(tau)
        if low == 0:
            for t in (1, 3, 20, 400):
                half = np.maximum(1 / t, np.sqrt(own * (1 - own) / t)) / 2
                allowed = np.maximum(1 / t, np.sqrt(np.clip(mean * (1 - mean), 0, 1) / t))
                assert (half <= allowed + 1e-12).all()


def test_members_are_chosen_by_their_names():
    names = [f"f{i}" for i in range(30)]
    chosen = least_names(names, 7)
    assert chosen == sorted(chosen)
    assert {names[i] for i in chosen} == {
        names[::-1][i] for i in least_names(names[::-1], 7)
    }  # whatever the order
    with pytest.raises(UsageError, match="1 to the 30"):
        least_names(names, 31)


@pytest.mark.parametrize("spec", ["parity:d=7,m=2", "profile:g=majority,d=7,m=3,noise=0.1"])
def test_the_factor_of_a_label_is_a_family_of_functions(spec):
    built_in = parse(spec)
    data = json.loads(json.dumps(certify_finite(of_family(built_in)).to_dict()))
    assert data["about"]["spec"].startswith(f"factors:d=7,members={built_in.size},sha256=")
    assert data["about"]["names"][:2] == [
        ",".join(map(str, secret)) for secret in itertools.islice(built_in.members(), 2)
    ]
    check(data)
    z = np.array(list(itertools.product((1, -1), repeat=6)))
    table = np.array(
        [
            np.array([float(v) for v in built_in.values])[
                (z[:, [j - 1 for j in secret]] < 0).sum(axis=1)
            ]
            for secret in built_in.members()
        ]
    )
    direct = claims(made(table))
    assert claims(data) == direct
    # No more than what is known of the whole label, by the exact certificate.
    whole = certify(built_in)
    for name in ("stat-queries", "vstat-queries", "information-floor"):
        assert int(direct[name]) <= whole.integer(name)


def test_a_part_of_a_family_says_so():
    made = certify_finite(of_family(parse("parity:d=5,m=2"), 4))
    said = " ".join(certificate_words(made).split())
    assert "the factors of the label of parity:d=5,m=2,noise=0,rho=3 where z_0 = -1" in said
    assert "the 4 of 6 whose names have the least SHA-256" in said
    check(plain(made))
    refused(plain(made), lambda d: d["about"]["origin"].update(of="4"), "no larger")
    part = certify_finite(of_family(parse("parity:d=5,m=2"), 4), how=How(centred=True)).to_dict()
    assert part["evidence"]["origin"]["of"] == "6"
    assert any("larger family" in a for a in part["claims"][0]["assumptions"])
    check(part)
    del part["evidence"]["origin"]["of"]
    with pytest.raises(Refuted, match="words"):
        check(sealed(part))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("parity:d=25,m=12", "take smaller parameters"),
        ("parity:d=20,m=5", "at most 5000"),
        ("nice:m=1,k=2,d=4", "lacks `factor`"),
    ],
)
def test_a_family_without_few_members_is_one_line(spec, why):
    with pytest.raises(UsageError, match=why):
        of_family(parse(spec))


ABOUT = [
    Kernel(features=3),
    NoisyDescent(steps=2, clip=Fraction(1), std=Fraction(2)),
    WorstDescent(steps=1, clip=Fraction(1), within=Fraction(3)),
    RoundedDescent(steps=1, clip=Fraction(1), grid=Fraction(9), parameters=2),
]


def test_mean_gradients_are_no_farther_apart_than_the_bound():
    rng = np.random.default_rng(7)
    for table in tables(3, seed=7):
        unknown = ListedMembers.of_source(family(table))
        less = table - table.mean(axis=0)
        worst = np.linalg.svd(less)[2][:1].T
        for v in (rng.normal(size=(2, 8, 3)), np.stack([worst, -worst])):
            v = v / np.linalg.norm(v, axis=2).max()
            up = table > 0
            means = (up[:, :, None] * v[0] + ~up[:, :, None] * v[1]).mean(axis=1)
            apart = ((means - means.mean(axis=0)) ** 2).sum()
            assert apart <= float(unknown.drift) + 1e-12


@pytest.mark.parametrize("asked", ABOUT)
@pytest.mark.parametrize("basis", ["tables", "integers"])
def test_claims_about_named_learners_are_checked(asked, basis, monkeypatch):
    if basis == "integers":
        monkeypatch.setattr(gram, "TABLE_BYTES", 0)
    unknown = ListedMembers.of_source(family(TABLE))
    data = json.loads(json.dumps(certify_unknown(unknown, [asked]).to_dict()))
    assert len(check(data).statements) == len(data["claims"])
    for i, made_claim in enumerate(data["claims"]):
        other = json.loads(json.dumps(data))
        less = made_claim["quantity"].endswith("success")
        value = Fraction(made_claim["value"]) - Fraction(less, 100) + (not less)
        other["claims"][i]["value"] = str(value)
        with pytest.raises(Refuted):
            check(sealed(other))
    for change in (
        lambda e: e["eigenvalues"].__setitem__(0, e["eigenvalues"][0] - 9),
        lambda e: e["eigenvalues"].__setitem__(0, e["eigenvalues"][0] + 9),
        lambda e: e["eigenvalues"].pop(),
        lambda e: e["spread"].update(eigenvalue=e["spread"]["eigenvalue"] - 9),
        lambda e: e.update(centred=True),
        lambda e: e.update(no_claim={"gd": "no reason"}),
        lambda e: e.update(about=[]),
        lambda e: e.pop("eigenvalues"),
    ):
        other = json.loads(json.dumps(data))
        change(other["evidence"])
        with pytest.raises(Refuted):
            check(sealed(other))


def test_a_certificate_of_one_kind_is_none_of_another():
    unknown = ListedMembers.of_source(family(TABLE))
    data = plain(certify_unknown(unknown, ABOUT[:1]))
    tables = made(TABLE, centred=True)
    for one, two in ((data, tables), (tables, data)):
        refused(one, lambda d, two=two: d.update(claims=two["claims"]))
    refused(made(TABLE), lambda d: d.update(format=tables["format"]))


def test_factors_have_fewer_features_than_the_whole_label_asks():
    """Of the parity the mean of all members is known here, and nothing there."""
    built_in = parse("parity:d=7,m=3")
    unknown = ListedMembers.of_source(of_family(built_in))
    listed = certify_unknown(unknown, [Kernel(features=5)])
    whole = certify_named(built_in, [Kernel(features=5)])
    assert Fraction(listed.value("kernel-error")) <= Fraction(whole.value("kernel-error"))
    assert listed.integer("kernel-features") <= whole.integer("kernel-features")
