"""Attacks without lattices: secrets, halves, trials and guesses by enumeration and by a run."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.cost.combinatorial import (
    SPARE,
    brute_force,
    halves,
    linear_algebra,
    meet_in_the_middle,
    near_matches,
    trials_bits,
)
from hardness.cost.guessing import guess, without
from hardness.cost.problem import problem, read
from hardness.cost.reduction import ROUGH
from instances import parse


@pytest.mark.parametrize(
    "spec",
    [
        "lwr:n=5,q=8,p=2,secret=binary,h=2",
        "lwe:n=3,q=5,sigma=1,secret=ternary",
        "lwe:n=2,q=7,sigma=1",
        "lpn:n=6,noise=0.1",
        "parity:d=8,m=3",
    ],
)
def test_brute_force_counts_the_secrets(spec):
    family = parse(spec)
    found = problem(family)
    law, h = found.secret, found.secret.weight or 0
    values = range(law.low, law.high + 1)
    secrets = [
        s
        for s in itertools.product(values, repeat=found.n)
        if (not h or sum(map(bool, s)) == h) and any(math.gcd(v, found.q) == 1 for v in s)
    ]
    assert 2 ** brute_force(found, ROUGH).rop == pytest.approx(len(secrets))


@pytest.mark.parametrize(("n", "h", "alphabet"), [(6, 3, 1), (7, 2, 2), (5, 0, 2), (4, 0, 1)])
def test_halves_by_enumeration(n, h, alphabet):
    left, right, tries = (2**bits for bits in halves(n, h, alphabet))
    values = range(alphabet + 1)
    weight = lambda s: sum(map(bool, s))  # noqa: E731
    first = [s for s in itertools.product(values, repeat=n // 2) if not h or weight(s) == h // 2]
    second = [
        s for s in itertools.product(values, repeat=n - n // 2) if not h or weight(s) == h - h // 2
    ]
    assert (left, right) == pytest.approx((len(first), len(second)))
    if h:
        splits = list(itertools.combinations(range(n), n // 2))
        good = sum(len(set(split) & set(range(h))) == h // 2 for split in splits)
        assert tries == pytest.approx(len(splits) / good)


@pytest.mark.parametrize(("q", "wrong", "bits"), [(64, 5, 3), (61, 4, 2), (97, 10, 2), (16, 3, 1)])
def test_lookups_and_matches_by_enumeration(q, wrong, bits):
    # a sum x with an error of 0 .. W: the labels of x - W .. x are looked up
    part = lambda x: x % q * 2**bits // q  # noqa: E731
    seen = [{part(x - e) for e in range(wrong + 1)} for x in range(q)]
    lookups = Fraction(sum(map(len, seen)), q)
    assert lookups == 1 + Fraction(wrong * 2**bits, q)
    matches = Fraction(sum(part(y) in labels for labels in seen for y in range(q)), q * q)
    assert float(matches) == pytest.approx(float(lookups / 2**bits), rel=0.03 if q % 2 else 1e-12)


@pytest.mark.parametrize("error", ["none", "uniform,width=2"])
def test_both_tables_are_counted_and_the_smaller_is_kept(error):
    found = meet_in_the_middle(read(f"lwe:n=9,q=61,error={error},secret=ternary,h=3"), ROUGH)
    left, right = 4 * 2, math.comb(5, 2) * 4
    chance = 4 * math.comb(5, 2) / math.comb(9, 3)  # of a split
    splits = math.ceil(math.log(0.01) / math.log(1 - chance))
    exact = math.log2((left + right) * splits)
    assert found.mem == pytest.approx(math.log2(left))
    assert found.rop == pytest.approx(exact) if error == "none" else found.rop > exact + 0.1


def test_what_can_hardly_be_matched_and_what_is_large():
    wide = meet_in_the_middle(read("lwe:n=4,q=17,error=uniform,width=16"), ROUGH)
    assert wide.rop == pytest.approx(4 * math.log2(17), abs=0.1)  # as brute force
    pairs = meet_in_the_middle(read("lwe:n=2,q=5,error=uniform,width=4,secret=binary"), ROUGH)
    assert "every pair" in pairs.note
    few = meet_in_the_middle(read("lwe:n=9,q=61,sigma=1,secret=binary", samples=2), ROUGH)
    assert few.sample_bits > 1  # more than there are: refused by whoever asks
    large = meet_in_the_middle(read("lwe:n=32768,q=2^881,sigma=3.2,secret=ternary"), ROUGH)
    assert large.rop == pytest.approx(16384 * math.log2(3) + 1, abs=0.1)


def test_a_meeting_in_the_middle_that_is_run_costs_what_is_said():
    # Counts of a real one: n = 6 ternary, q = 257, errors in 0 .. 3
    rng = np.random.default_rng(5)
    n, q, wrong = 6, 257, 3
    left = 3 * math.log2(3)
    cost, bits, count = near_matches(left, math.log(wrong / q), math.log2(q), None)
    halves_ = np.array(list(itertools.product((-1, 0, 1), repeat=3)))
    work = []
    for _ in range(300):
        a, s = rng.integers(q, size=(count, n)), rng.integers(-1, 2, n)
        b = (a @ s + rng.integers(0, wrong + 1, count)) % q
        table = (halves_ @ a[:, :3].T) % q * 2**bits // q
        done = 0
        for second in (b - halves_ @ a[:, 3:].T) % q:
            labels = [
                {int((x - e) % q * 2**bits // q) for e in range(wrong + 1)} for x in second.tolist()
            ]
            done += math.prod(map(len, labels))
            fits = np.array(
                [[v in one for v, one in zip(row, labels, strict=True)] for row in table.tolist()]
            )
            done += int(fits.all(1).sum())
        work.append(done / len(halves_))
    error = np.std(work) / math.sqrt(len(work))
    assert abs(np.mean(work) - 2**cost) < 4 * error + 0.03 * 2**cost


# ---- elimination, of noisy bits


def test_trials_by_enumeration():
    n, h, k, rate = 8, 2, 5, 0.25
    hit = sum(set(range(h)) <= set(c) for c in itertools.combinations(range(n), k))
    chance = hit / math.comb(n, k) * (1 - rate) ** (k + SPARE)
    assert trials_bits(n, h, k, rate) == pytest.approx(-math.log2(chance))


def test_linear_algebra_takes_as_many_samples_as_unknowns():
    assert linear_algebra(read("lwe:n=9,q=61,error=none"), ROUGH).samples == 9


# ---- guesses in front of any attack


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
    for words, values in (("ternary", 3), ("cbd,spread=2", 5), ("range,spread=4", 4)):
        law = read(f"lwe:n=30,q=97,sigma=1,secret={words}").secret
        assert guess(law, 30, 8).trials == pytest.approx(8 * math.log2(values))


def test_what_is_left_is_a_problem_of_fewer_unknowns():
    whole = read("lwe:n=64,q=3329,sigma=3,secret=ternary,h=8")
    left, again = without(whole, 24), read("lwe:n=40,q=3329,sigma=3,secret=ternary,h=8")
    assert left.size_bits == pytest.approx(again.size_bits)
    assert left.secret.deviation == pytest.approx(again.secret.deviation)
    assert left.secret.entropy == pytest.approx(again.secret.entropy)
    dense = without(read("lwe:n=64,q=3329,sigma=3,secret=ternary"), 24)
    assert dense.size_bits == pytest.approx(40 * math.log2(3))
