"""Named learners of listed functions, by their Gram matrix, against brute force."""

import json
from fractions import Fraction

import numpy as np
import pytest

from hardness.check import check
from hardness.lower import BoundParameters
from hardness.lower.members import of_family
from hardness.lower.named import (
    Kernel,
    ListedMembers,
    NoClaim,
    NoisyDescent,
    RoundedDescent,
    WorstDescent,
    certify_named,
    certify_unknown,
)
from instances import parse
from instances.errors import Refuted
from tests.conftest import sealed
from tests.hardness.test_listed import RISKS, family, members, tables

TABLE = np.random.default_rng(4).choice([-1, 1], (24, 64))


@pytest.mark.parametrize("seed", range(24))
def test_claims_about_named_learners_by_brute_force(seed):
    table = family(seed)
    less = table - table.mean(axis=0)
    features = 1 + seed % len(table)
    asked = (Kernel(features=features), WorstDescent(steps=3, clip=Fraction(1), within=Fraction(1)))
    try:
        unknown = ListedMembers.of_source(members(table))
    except NoClaim:
        assert not less.any()
        return
    made = certify_unknown(unknown, asked, BoundParameters(risk=RISKS[seed % 3]))
    check(made.to_dict())
    values = {c.quantity: Fraction(c.value) for c in made.claims}
    # The best features by singular vectors: their mean error, and how many members they serve.
    basis = np.linalg.svd(less.astype(float), full_matrices=False)[2]
    scale = (less**2).mean()
    errors = [
        ((less - less @ basis[:n].T @ basis[:n]) ** 2).mean(axis=1) / scale
        for n in range(len(basis) + 1)
    ]
    assert values["kernel-error"] <= errors[min(features, len(basis))].mean() + 1e-9
    served = [(e <= float(RISKS[seed % 3]) + 1e-9).mean() for e in errors]
    enough = next(n for n, share in enumerate(served) if share >= 2 / 3)
    assert values["kernel-features"] <= enough


ABOUT = [
    Kernel(features=3),
    NoisyDescent(steps=2, clip=Fraction(1), std=Fraction(2)),
    WorstDescent(steps=1, clip=Fraction(1), within=Fraction(3)),
    RoundedDescent(steps=1, clip=Fraction(1), grid=Fraction(9), parameters=2),
]


def test_mean_gradients_are_no_farther_apart_than_the_bound():
    rng = np.random.default_rng(7)
    for table in tables(3, seed=7):
        unknown = ListedMembers.of_source(members(table))
        less = table - table.mean(axis=0)
        worst = np.linalg.svd(less)[2][:1].T
        for v in (rng.normal(size=(2, 8, 3)), np.stack([worst, -worst])):
            v = v / np.linalg.norm(v, axis=2).max()
            up = table > 0
            means = (up[:, :, None] * v[0] + ~up[:, :, None] * v[1]).mean(axis=1)
            apart = ((means - means.mean(axis=0)) ** 2).sum()
            assert apart <= float(unknown.drift) + 1e-12


@pytest.mark.parametrize("asked", ABOUT)
def test_claims_about_named_learners_are_checked(asked):
    unknown = ListedMembers.of_source(members(TABLE))
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


def test_factors_have_fewer_features_than_the_whole_label_asks():
    """Of the parity the mean of all members is known here, and nothing there."""
    built_in = parse("parity:d=7,m=3")
    unknown = ListedMembers.of_source(of_family(built_in))
    listed = certify_unknown(unknown, [Kernel(features=5)])
    whole = certify_named(built_in, [Kernel(features=5)])
    assert Fraction(listed.value("kernel-error")) <= Fraction(whole.value("kernel-error"))
    assert listed.integer("kernel-features") <= whole.integer("kernel-features")
