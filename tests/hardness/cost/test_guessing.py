import itertools
import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from hardness.cost.arora_ge import arora_gb
from hardness.cost.guessing import guess, guessed, least, without
from hardness.cost.problem import read
from hardness.cost.record import Estimate
from hardness.cost.reduction import DEFAULT, ROUGH
from hardness.cost.usvp import usvp


def count(problem, _, bits=1.5):
    """Cost 2^(bits n), an attack that does not look at the secret."""
    return Estimate(name="count", kind="exact count", source="none", rop=bits * problem.n)


@pytest.mark.parametrize(("n", "h", "zeta"), [(8, 2, 3), (9, 4, 5), (7, 1, 6), (6, 3, 0)])
def test_chances_of_zeros_by_enumeration(n, h, zeta):
    found = guess(read(f"lwe:n={n},q=97,sigma=1,secret=binary,h={h}").secret, n, zeta)
    places = list(itertools.combinations(range(n), zeta))
    missed = sum(not set(p) & set(range(h)) for p in places)
    assert 2**-found.rarity == pytest.approx(missed / len(places))
    chance = missed / len(places)
    often = 1 if chance >= 0.99 else math.ceil(math.log(0.01) / math.log(1 - chance))
    assert 2**found.repetitions == pytest.approx(often)


def test_of_independent_entries_all_values_are_guessed():
    """Nobody knows how many are 0: redrawing places need never find zeta of them."""
    ternary = read("lwe:n=30,q=97,sigma=1,secret=ternary").secret
    assert guess(ternary, 30, 8).trials == pytest.approx(8 * math.log2(3))
    cbd = read("lwe:n=30,q=97,sigma=1,secret=cbd,spread=2").secret
    assert guess(cbd, 30, 8).trials == pytest.approx(8 * math.log2(5))
    narrow = read("lwe:n=100,q=31,sigma=2,secret=gaussian,spread=0.4")
    assert "more than brute-force" in guessed(arora_gb, narrow, ROUGH).reason
    shifted = read("lwe:n=30,q=97,sigma=1,secret=range,spread=4").secret
    assert guess(shifted, 30, 8).trials == pytest.approx(16)


def test_what_is_left_is_a_problem_of_fewer_unknowns():
    whole = read("lwe:n=64,q=3329,sigma=3,secret=ternary,h=8")
    left, again = without(whole, 24), read("lwe:n=40,q=3329,sigma=3,secret=ternary,h=8")
    assert left.size_bits == pytest.approx(again.size_bits)
    assert left.secret.deviation == pytest.approx(again.secret.deviation)
    assert left.secret.entropy == pytest.approx(again.secret.entropy)
    dense = without(read("lwe:n=64,q=3329,sigma=3,secret=ternary"), 24)
    assert dense.size_bits == pytest.approx(40 * math.log2(3))


@pytest.mark.parametrize("seed", range(50))
def test_the_least_is_that_of_all(seed):
    rng = np.random.default_rng(seed)
    most = int(rng.integers(2, 60))
    low = int(rng.integers(1, most))
    trials = np.cumsum(rng.exponential(size=most + 1) ** 2)
    cost = np.cumsum(rng.exponential(size=most + 1) ** 2)
    cost[int(rng.integers(low + 1, most + 2)) :] = math.inf
    every = {n: trials[most - n] + cost[n] for n in range(low, most + 1)}
    found = least(most, low, lambda zeta: float(trials[zeta]), lambda n: float(cost[n]))
    assert every[found] == pytest.approx(min(every.values()))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=40,q=3329,sigma=3,secret=binary,h=4",
        "lwe:n=40,q=3329,sigma=3,secret=ternary,h=9",
        "lwe:n=24,q=3329,sigma=2,secret=cbd,spread=1",
        "lwe:n=24,q=3329,sigma=2,secret=ternary",
    ],
)
@pytest.mark.parametrize("attack", [arora_gb, count, partial(count, bits=0.2)])
def test_every_number_of_guesses_is_compared(spec, attack):
    problem = read(spec, samples=500)
    found = guessed(attack, problem, ROUGH)
    low = (problem.secret.weight or 0) + 1
    both = attack is arora_gb and problem.secret.weight  # may fail: each at the root
    often = 0.99**0.5 if both else 0.99
    setting = replace(ROUGH, success=often)
    every = [
        guess(problem.secret, problem.n, zeta, often).trials
        + attack(without(problem, zeta), setting if zeta else ROUGH).rank
        for zeta in range(problem.n - low + 1)
    ]
    if not problem.secret.weight and min(every) >= problem.size_bits:
        assert "more than brute-force" in found.reason
        return
    assert found.rop == pytest.approx(min(every))
    assert found.rop <= attack(problem, ROUGH).rank
    assert every[found.zeta] == pytest.approx(found.rop)


def test_repetitions_are_those_of_the_lattice_estimator():
    # commit 27a581bb, arora-gb: zeta, prop, repetitions
    rows = [(128, 10, 87, 4.942113e-06, 931820), (256, 8, 215, 2.332358e-07, 19744694)]
    for n, h, zeta, chance, repetitions in rows:
        law = read(f"lwe:n={n},q=3329,sigma=3,secret=binary,h={h}").secret
        found = guess(law, n, zeta)
        assert 2**-found.rarity == pytest.approx(chance, rel=1e-5)
        assert 2**found.repetitions == pytest.approx(repetitions, abs=1)


def test_where_nothing_is_guessed():
    wide = guessed(count, read("lwe:n=20,q=97,sigma=2"), ROUGH)
    assert (wide.zeta, wide.rop) == (0, 30)
    wider = guessed(count, read("lwe:n=20,q=997,sigma=2"), ROUGH)
    assert "too many to guess" in wider.reason
    few = guessed(count, read("lwe:n=20,q=97,sigma=2,secret=binary", samples=2), ROUGH)
    assert "leave several secrets" in few.reason
    ring = guessed(arora_gb, read("lwe:n=64,q=64,sigma=1,secret=binary,h=8"), ROUGH)
    assert ring.name == "guess+arora-gb"
    assert "no prime" in ring.reason


@pytest.mark.parametrize(
    ("spec", "samples"),
    [
        ("lwe:n=128,q=3329,sigma=3,secret=binary,h=10", 512),
        ("lwe:n=96,q=2^20,sigma=3.2,secret=ternary,h=16", None),
        ("lwe:n=90,q=257,sigma=3,secret=binary", 400),
        ("lwe:n=90,q=257,sigma=2,secret=cbd,spread=2", 90),
    ],
)
@pytest.mark.parametrize("setting", [ROUGH, DEFAULT])
def test_the_primal_attack_behind_a_guess_is_at_its_least(spec, samples, setting):
    problem = read(spec, samples=samples)
    found = guessed(usvp, problem, setting)
    low = (problem.secret.weight or 0) + 1
    rest = range(problem.n - low + 1)
    costs = [usvp(without(problem, zeta), setting).rank for zeta in rest]
    assert costs == sorted(costs, reverse=True)  # which the bounds take for granted
    trials = [guess(problem.secret, problem.n, zeta).trials for zeta in rest]
    assert found.rop == pytest.approx(min(map(sum, zip(costs, trials, strict=True))))
