"""The dual attack: its sums against brute force, reduced samples, and no claim without a secret."""

import itertools
import math
import runpy
from pathlib import Path

import numpy as np
import pytest

from hardness.attacks.dual import Dual, ReducedSamples, Sums, lattice
from hardness.attacks.lattice import reduce
from hardness.learners import Outcome
from hardness.runs.registry import parse_learner
from instances import ToolkitError, limits, parse
from instances.samples import draw_samples
from tests.conftest import learn

SPARSE = "lwe:n=40,q=113,sigma=2,secret=binary,h=4"
TERNARY = "lwe:n=30,q=257,sigma=2,secret=ternary,h=4"
ROOT = Path(__file__).parents[2]


def drawn(spec, count=60, seed=0):
    instance = parse(spec).instance(seed)
    secret = instance.family.to_linear(instance.hidden.secret)
    return draw_samples(instance, count), np.array(secret)


# ---- rows and sums


def test_all_vectors_of_the_lattice_are_rows_with_their_columns():
    a = np.random.default_rng(0).integers(0, 97, (6, 4))
    basis, scale = lattice(a, 97, 3.0)
    *_, (_, short) = reduce(basis, [], 0)
    x, y = short[:, :6] / scale.numerator, short[:, 6:] / scale.denominator
    assert (x == x.round()).all()
    assert (y == y.round()).all()
    assert not ((x @ a - y) % 97).any()
    volume = scale.numerator**6 * (97 * scale.denominator) ** 4
    assert math.isclose(abs(np.linalg.det(short.astype(float))), volume, rel_tol=1e-9)
    assert scale == 3


@pytest.mark.parametrize("spec", [SPARSE, TERNARY, "lwe:n=12,q=64,sigma=1,secret=binary"])
def test_sums_are_those_of_brute_force_over_all_guesses(spec):
    found, _ = drawn(spec)
    made, out = Dual(zeta=7, vectors=80).reduced(found)
    sums = Sums(made, out)
    mean = found.family.secrets.moments[0]
    start = np.where(np.isin(np.arange(found.family.n), out), 0, round(2 * mean) / 2)
    values = [v for v in found.family.secrets.values if v]
    every = {}
    for weight in range(4):
        for places in itertools.combinations(out.tolist(), weight):
            for entries in itertools.product(values, repeat=weight):
                guess = [0] * found.family.n
                for place, value in zip(places, entries, strict=True):
                    guess[place] = value
                off = made.b - made.a @ (start + guess)
                every[tuple(guess)] = sums.weights @ np.cos(2 * np.pi / found.q * off)
    ranked = sorted(every.values(), reverse=True)
    best = sums.best(3)
    assert [score for score, _ in best] == pytest.approx(ranked[: len(best)], abs=1e-3)
    assert all(every[guess] == pytest.approx(score, abs=1e-3) for score, guess in best)
    assert len(every) == Dual(zeta=7, weight=3).guesses(found.family)


# ---- reduced samples


def test_rows_make_samples_of_the_same_secret_and_errors_keep_to_the_law():
    found, secret = drawn(SPARSE, 200)
    rows = np.random.default_rng(0).integers(-9, 10, (150, 200))
    made = ReducedSamples.combine(found, rows)
    assert not ((rows @ found.a - made.a) % found.q).any()
    assert not ((rows @ found.b - made.b) % found.q).any()
    assert abs(made.a).max() <= found.q // 2
    lengths = np.sqrt((rows**2).sum(axis=1))
    assert made.deviation == pytest.approx(found.error.deviation * lengths)
    few = ReducedSamples.combine(found, rows // 5)
    off = (few.b - few.a @ secret + found.q / 2) % found.q - found.q / 2
    assert 0.8 < np.sqrt(((off / few.deviation) ** 2).mean()) < 1.2
    made, out = Dual(zeta=10, vectors=400).reduced(found)
    assert set(np.argsort(made.spread)[-10:]) == set(out)


def test_a_mean_that_is_not_0_is_taken_out():
    found, secret = drawn("lwr:n=8,q=64,p=16,secret=binary", 300)
    made = ReducedSamples.combine(found, np.eye(300, dtype=np.int64)[1:] + np.eye(300)[:299])
    off = ((made.b - made.a @ secret + 32) % 64 - 32) / made.deviation
    assert abs(off.mean()) < 0.2
    assert off.std() == pytest.approx(1, abs=0.2)


# ---- the attack


@pytest.mark.parametrize(
    ("learner", "spec"),
    [
        ("dual", "lwe:n=8,q=263,sigma=1,secret=gaussian,spread=1"),
        ("dual:zeta=12,weight=3", TERNARY),
        ("dual:zeta=8,weight=8", "lwr:n=16,q=256,p=64,secret=binary"),
        *(
            pytest.param(*one, marks=pytest.mark.weekly)
            for one in (
                ("dual", "lwe:n=10,q=254,sigma=2,secret=ternary"),
                ("dual:zeta=20,weight=3", SPARSE),
            )
        ),
    ],
)
def test_planted_secrets_are_found(learner, spec):
    for seed in range(2):
        found = learn(learner, spec, seed)
        assert found.secret_recovered, found.details
        assert found.outcome is Outcome.SOLVED


def test_a_toy_setting_falls_to_guesses_of_four_entries_on_few_samples():
    found = learn("dual:zeta=64,weight=4", "toy-80")
    assert found.secret_recovered
    assert found.details["samples"] < 80
    assert found.examples < 200


def test_a_lattice_asks_for_its_memory(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 20)
    with pytest.raises(ToolkitError, match="a lattice of dimension 341 needs"):
        learn("dual:samples=300", SPARSE)


@pytest.mark.parametrize(
    ("learner", "spec", "said"),
    [
        ("dual", "lwe:n=8,q=97,sigma=1", "at most 33 values: try primal"),
        ("dual", "parity:d=12,m=3", "lwe or lwr"),
        ("dual:zeta=90", "toy-80", "zeta must be at most n = 80, got 90"),
        ("dual:zeta=80,weight=30", "toy-80", "guesses, at most 2^36"),
    ],
)
def test_what_it_cannot_do_it_says_before_it_starts(learner, spec, said):
    assert said in parse_learner(learner).supports(parse(spec))


# ---- what the estimates assume


@pytest.mark.weekly
def test_real_short_vectors_do_what_dual_estimates_assume():
    measure = runpy.run_path(str(ROOT / "docs/examples/dual_vectors.py"))["measure"]
    rows = [measure("lwe:n=50,q=521,sigma=3,secret=binary", 20, 2, 1600, s) for s in range(8)]
    mean = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
    for name, off in (
        ("mean cosine of the right guess / e^(-D/2)", 0.1),
        ("deviation of wrong scores", 0.01),
        ("wrong scores above 4 / as of a normal law", 0.3),
        ("right guess is the best", 0.0),
    ):
        assert mean[name] == pytest.approx(1, abs=off), name
    assert mean["all vectors / the model's first"] < 1  # vectors are no longer than the model's
