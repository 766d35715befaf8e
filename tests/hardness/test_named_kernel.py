"""Fixed features and kernels: the bound by brute force, attained, and never beaten."""

import itertools
import json
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import fmpq

from hardness.check import check
from hardness.lower import BoundParameters
from hardness.lower.named import (
    Kernel,
    NoClaim,
    Unknown,
    certify_named,
    filled,
    least_error,
    least_features,
)
from instances import parse
from instances.errors import Refuted, UsageError
from instances.streams import generator
from instances.symmetric import to_float
from tests.conftest import sealed

SPECS = [
    "parity:d=8,m=3",
    "parity:d=7,m=5",
    "profile:g=majority,d=12,m=5",
    "profile:g=majority,d=13,m=4,noise=0.1",
    "profile:g=threshold(2),d=9,m=6",
    "profile:g=mod(3),d=11,m=4",
    "profile:g=h**2,d=10,m=3",
    "profile:g=parity+0.1*majority,d=10,m=5,noise=0.2",
]


def cube(n):
    return 1 - 2 * ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1)


def unknown_functions(family):
    """All members less what is known, where z_0 = -1: (M, 2^n), by the formula."""
    n, values = family.d - 1, np.array([float(v) for v in family.values])
    minus = cube(n) < 0
    members = np.array(
        [values[minus[:, list(s)].sum(axis=1)] for s in itertools.combinations(range(n), family.m)]
    )
    known = 0.0 if family.name == "parity" else members.mean(axis=0)
    return members - known


@pytest.mark.parametrize("spec", SPECS)
def test_bound_is_the_sum_of_the_largest_eigenvalues_of_the_gram_matrix(spec):
    family = parse(spec)
    unknown, functions = Unknown.of(family), unknown_functions(family)
    assert len(functions) == unknown.size <= 792
    values = np.sort(np.linalg.eigvalsh(functions @ functions.T / functions.shape[1]))[::-1]
    errors = 1 - np.cumsum(values) / values.sum()
    for features in {1, 2, 3, unknown.size // 3, unknown.size - 1, unknown.size, *filled(unknown)}:
        assert to_float(least_error(unknown, features)) == pytest.approx(
            errors[features - 1], abs=1e-12
        )


def average_error(functions, features):
    """The error of the best combinations of features (N, points), averaged, relative."""
    basis, sizes, _ = np.linalg.svd(features.T, full_matrices=False)
    basis = basis[:, sizes > 1e-9 * sizes[0]]
    left = functions.T - basis @ (basis.T @ functions.T)
    return float((left**2).sum() / (functions**2).sum())


@pytest.mark.parametrize("spec", SPECS)
def test_bound_is_attained_by_sums_over_supersets(spec):
    family = parse(spec)
    unknown, functions = Unknown.of(family), unknown_functions(family)
    members = list(itertools.combinations(range(family.d - 1), family.m))
    first = int(family.name != "parity")
    for j, count in enumerate(filled(unknown), start=first):
        features = np.array(
            [
                functions[[set(t) <= set(s) for s in members]].sum(axis=0)
                for t in itertools.combinations(range(family.d - 1), j)
            ]
        )
        assert count == comb(family.d - 1, j) - first
        positive = [
            n for value, n in zip(unknown.eigenvalues, unknown.multiplicities, strict=True) if value
        ]
        assert np.linalg.matrix_rank(features, tol=1e-7) == min(count, sum(positive))
        wanted = to_float(least_error(unknown, count))
        assert average_error(functions, features) == pytest.approx(wanted, abs=1e-10)


def test_clipped_combinations_beat_the_bound_so_it_is_not_about_them():
    # Ten functions whose combinations, clipped to -1..1, are all 20 parities of 3 of 6 places: the
    # sign rank of a family is far below its dimension.
    labels = unknown_functions(parse("parity:d=7,m=3"))
    rng = generator(0, "sign rank")
    factors = [rng.normal(size=(20, 10)), rng.normal(size=(10, 64))]
    moments = [[np.zeros_like(f), np.zeros_like(f)] for f in factors]
    for step in range(1, 1501):  # Adam on the logistic loss
        margin = np.clip(labels * (factors[0] @ factors[1]), -50, 50)
        pull = -labels / (1 + np.exp(margin))
        for part, slope in enumerate((pull @ factors[1].T, factors[0].T @ pull)):
            first, second = moments[part]
            first += 0.1 * (slope - first)
            second += 0.001 * (slope**2 - second)
            scaled = np.sqrt(second / (1 - 0.999**step)) + 1e-8
            factors[part] -= 0.05 * first / (1 - 0.9**step) / scaled
    predicted = factors[0] @ factors[1]
    bound = to_float(least_error(Unknown.of(parse("parity:d=7,m=3")), 10))
    assert bound == 0.5
    assert ((np.clip(1e6 * predicted, -1, 1) - labels) ** 2).mean() < 0.1
    assert average_error(labels, factors[1]) >= bound - 1e-12


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("goal", [("1/4", "2/3"), ("0", "1"), ("1/2", "1/10"), ("99/100", "1")])
def test_needed_features_are_the_least_that_the_error_allows(spec, goal):
    unknown = Unknown.of(parse(spec))
    risk, success = map(Fraction, goal)
    found = least_features(unknown, risk, success)
    share = success * (1 - risk)
    wanted = fmpq(share.numerator, share.denominator)
    assert 1 - least_error(unknown, found) >= wanted
    assert found == 1 or 1 - least_error(unknown, found - 1) < wanted


def test_more_features_than_members_are_refused():
    unknown = Unknown.of(parse("parity:d=9,m=3"))
    with pytest.raises(UsageError, match="features=57 given: 1 to 56 are allowed"):
        least_error(unknown, 57)
    with pytest.raises(UsageError, match="features=0 given"):
        Kernel(features=0)
    assert least_error(unknown, 56) == 0


@pytest.mark.parametrize("spec", SPECS)
def test_certificate_is_accepted(spec):
    found = certify_named(parse(spec), [Kernel(features=5)], BoundParameters(risk=Fraction(1, 2)))
    statements = check(json.loads(json.dumps(found.to_dict()))).statements
    assert len(statements) == 3


@pytest.mark.parametrize("spec", ["hardmax:d=8,m=3", "composed:d=8,m=3"])
def test_claims_are_about_labels_whatever_layer_computes_them(spec):
    terms = BoundParameters(risk=Fraction(1, 2))
    found = certify_named(parse(spec), [Kernel(features=5)], terms)
    assert found == certify_named(parse("parity:d=8,m=3"), [Kernel(features=5)], terms)


def test_a_family_without_such_bounds_has_no_claim():
    with pytest.raises(NoClaim, match="no claim: nice given"):
        certify_named(parse("nice:m=2,k=2,d=8"), [Kernel(features=5)])


def test_a_certificate_without_a_claim_needs_a_reason_that_is_known():
    data = json.loads(
        json.dumps(certify_named(parse("profile:g=h**2,d=6,m=3"), [Kernel()]).to_dict())
    )
    data["evidence"]["no_claim"] = {"kernel": None}
    data["claims"] = [c for c in data["claims"] if c["quantity"] == "information-floor"]
    with pytest.raises(Refuted, match="no reason known"):
        check(sealed(data))
