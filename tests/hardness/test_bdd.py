"""Decoding beside brute force, Babai's rounding beside its formula, guesses beside their count."""

import itertools
import math
import sys

import numpy as np
import pytest
from scipy.special import erf

from hardness.cost.hybrid import Guesses, ln_babai
from hardness.cost.problem import problem
from hardness.oracles import Budget, ExampleOracle, Meter
from hardness.runs.cells import interval
from hardness.runs.run import attempt
from hardness.upper import Outcome, bdd, parse_learner
from hardness.upper.bdd import Decoding, guesses
from hardness.upper.lattice import reduce
from instances import ToolkitError, parse
from instances.uniform import Uniform
from tests.conftest import Looks


def lattice(k, m, q, scale=1, seed=0):
    """A reduced basis of a q-ary lattice: k unknowns, m equations."""
    basis = np.zeros((k + m, k + m), np.int64)
    basis[:m, k:] = q * np.eye(m)
    basis[m:, :k] = scale * np.eye(k)
    basis[m:, k:] = np.random.default_rng(seed).integers(-(q // 2), q // 2 + 1, (k, m))
    ((_, reduced),) = reduce(basis, [], Meter(Budget()), seed)
    return reduced


def rounded(basis, target):
    """Babai's nearest plane as it is written down, a vector at a time: what is left."""
    orthogonal = []
    for row in basis.astype(float):
        for other in orthogonal:
            row = row - (row @ other) / (other @ other) * other
        orthogonal.append(row)
    for row, other in zip(basis[::-1], orthogonal[::-1], strict=True):
        target = target - round((target @ other) / (other @ other)) * row
    return target


@pytest.mark.parametrize("q", [97, 1 << 45])
def test_all_targets_at_once_are_rounded_as_one_by_one(q):
    basis, rng = lattice(3, 5, q), np.random.default_rng(1)
    near = rng.integers(-9, 10, (40, 8)) @ basis + rng.integers(-2, 3, (40, 8))
    which, left = Decoding(basis=basis).decode(near)
    assert which.tolist() == list(range(40))
    small = near - np.rint(near @ np.linalg.inv(basis)).astype(np.int64) @ basis
    np.testing.assert_array_equal(left, [rounded(basis, target) for target in small])


@pytest.mark.lattice
@pytest.mark.parametrize("d", [2, 5, 8])
def test_a_call_in_all_coordinates_finds_the_closest_vector(d):
    pytest.importorskip("fpylll", reason="the extra `lattice` is not installed")
    basis, rng = lattice(d // 2, d - d // 2, 31, seed=d), np.random.default_rng(d)
    steps = np.array(list(itertools.product((-1, 0, 1), repeat=d))) @ basis
    targets = rng.integers(-200, 201, (30, d))
    which, left = Decoding(basis=basis, eta=d, deviation=4).decode(targets)
    assert len(which) > 20  # others have no vector in the ball of nearly all errors
    for target, rest in zip(targets[which], left, strict=True):
        assert ((rounded(basis, target) - steps) ** 2).sum(axis=1).min() == (rest**2).sum()
        np.testing.assert_allclose(
            np.rint(s := (target - rest) @ np.linalg.inv(basis)), s, atol=1e-6
        )


def test_babai_is_right_as_often_as_the_product_formula_says():
    basis, rng, deviation = lattice(20, 30, 251, 2), np.random.default_rng(3), 6.0
    norms = abs(np.diag(np.linalg.qr(basis.T.astype(float))[1])) / deviation
    errors = np.rint(rng.normal(0, deviation, (4000, len(basis)))).astype(np.int64)
    targets = errors + rng.integers(-3, 4, errors.shape) @ basis
    _, left = Decoding(basis=basis).decode(targets)
    low, high = interval(int((left == errors).all(axis=1).sum()), len(errors))
    assert low < np.prod(erf(norms / math.sqrt(8))) < high
    assert high - low < 0.05
    level, slope = np.polynomial.polynomial.polyfit(np.arange(len(norms)), np.log(norms[::-1]), 1)
    line = np.array(level), np.array(slope), np.array(0), np.array(len(norms))
    series = ln_babai(*line, np.array(-np.inf), np.array(np.inf), 0.5)[0]
    assert low - 0.1 < math.exp(series) < high + 0.1  # norms are no geometric series


@pytest.mark.lattice
def test_errors_that_are_longer_than_the_way_to_other_vectors_are_refused():
    pytest.importorskip("fpylll", reason="the extra `lattice` is not installed")
    basis = lattice(20, 30, 251, 2)
    wide = Decoding(basis=basis, eta=40, deviation=100.0)
    assert len(wide.decode(np.zeros((3, 50), np.int64))[0]) == 0


def attack(learner, source, meter=None, seed=0):
    oracle = ExampleOracle(source, meter or Meter(Budget()))
    return attempt(parse_learner(learner), oracle, seed)[0]


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        ("bdd", "lwe:n=16,q=521,sigma=1.5"),
        ("bdd", "lwe:n=16,q=512,sigma=1.5"),
        ("bdd", "lwe:n=14,q=512,error=uniform,width=4,secret=ternary"),
        ("bdd", "lwr:n=12,q=256,p=64"),
        ("bdd:zeta=30", "lwe:n=50,q=521,sigma=3,secret=binary,h=3"),
        ("bdd:zeta=30,weight=2", "lwe:n=50,q=521,sigma=3,secret=binary,h=3"),
        ("bdd:zeta=4,weight=3", "lwe:n=20,q=512,sigma=2,secret=ternary"),
        ("bdd:zeta=6,weight=3", "lwe:n=16,q=2048,sigma=2,secret=cbd,spread=1"),
        ("bdd:zeta=8,weight=2", "lwr:n=20,q=512,p=64,secret=binary,h=6"),
        ("bdd:zeta=2,weight=1", "lwe:n=6,q=61,sigma=0.5,h=4"),  # in the normal form
        ("bdd:zeta=2,weight=2", "lwe:n=5,q=64,sigma=0.5,secret=gaussian,spread=2"),
    ],
)
def test_planted_secrets_are_found_by_planes_alone_and_none_in_coins(learner, spec):
    for seed in range(2):
        instance = parse(spec).instance(seed)
        found = attack(learner, instance, seed=seed)
        assert (found.secret, found.outcome) == (instance.hidden.secret, None), found.details
        zeta = parse_learner(learner).zeta
        assert found.details["zeta"] == zeta
        assert found.details["tries"] >= 1
    if not zeta:
        none = attack(learner, Uniform(family=parse(spec), seed=0))
        assert (none.secret, none.outcome) == (None, Outcome.NOT_FOUND)


@pytest.mark.parametrize("spec", ["lwe:n=9,q=11,sigma=1,secret=ternary,h=4", "toy-128"])
def test_guesses_are_all_of_their_weight_and_as_many_as_estimated(spec):
    family, zeta = parse(spec), 6
    values = tuple(v for v in family.secrets.values if v)
    space, _ = Guesses(problem(family), zeta, 40.0).of(np.array([zeta]))
    for weight in range(4):
        listed = set()
        for at, what in guesses(zeta, weight, values, 7):
            assert len(at) <= 7
            for places, given in zip(at.tolist(), what.tolist(), strict=True):
                assert not {*given} - {*values}
                listed.add(
                    tuple(dict(zip(places, given, strict=True)).get(i, 0) for i in range(zeta))
                )
        every = itertools.product((0, *values), repeat=zeta)
        assert listed == {g for g in every if sum(map(bool, g)) <= weight}
        assert 2 ** space[0, weight] == pytest.approx(len(listed))


def test_a_search_goes_on_at_its_try_and_finds_the_same_in_any_chunks(monkeypatch):
    learner, spec = "bdd:zeta=40,weight=1,samples=24", "lwe:n=64,q=251,sigma=3,secret=binary,h=4"
    for seed in range(2):
        instance = parse(spec).instance(seed)
        whole = attack(learner, instance)
        assert whole.secret == instance.hidden.secret
        assert whole.details["tries"] > 2
        assert whole.details["dimension"] == 64 - 40 + 24
        assert whole.details["guesses"] == 41
        monkeypatch.setattr(bdd, "_WORK", 1)
        assert attack(learner, instance).details == whole.details
        looks, first, tried = 50, 0, 0
        while True:
            part = attack(f"{learner},first={first}", instance, Looks(looks))
            tried += part.details["tries"]
            if part.outcome is not Outcome.SECONDS_SPENT:
                break
            assert part.details["first"] == tried
            first, looks = tried, looks + 20
        assert (part.secret, tried) == (whole.secret, whole.details["tries"])
        monkeypatch.undo()


@pytest.mark.lattice
def test_calls_for_closest_vectors_find_what_planes_alone_do_not():
    pytest.importorskip("fpylll", reason="the extra `lattice` is not installed")
    instance = parse("lwe:n=30,q=1601,alpha=0.006").instance(0)
    assert attack("bdd:samples=65", instance).secret is None
    for eta in (20, 40):  # without pruning and with it
        assert attack(f"bdd:samples=65,eta={eta}", instance).secret == instance.hidden.secret


def test_without_the_extra_planes_alone_decode(monkeypatch):
    monkeypatch.setitem(sys.modules, "fpylll", None)
    instance = parse("lwe:n=10,q=521,sigma=1.5").instance(0)
    assert attack("bdd", instance).secret == instance.hidden.secret
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[lattice\]'"):
        attack("bdd:eta=20", instance)
