"""Attacks without lattices: their formulas by hand, by enumeration, by ranks and by a run."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from flint import nmod_mat

from hardness.lwe.attacks.arora import arora_gb, arora_ge, equations, monomial_bits, regularity
from hardness.lwe.attacks.bkw import code_sizes, coded_bkw, coded_costs, costs
from hardness.lwe.attacks.counted import (
    SPARE_SAMPLES,
    best_size,
    brute_force,
    linear_algebra,
    lucky_bits,
    meet_in_the_middle,
    near_matches,
)
from hardness.lwe.attacks.drop_and_solve import ln_zeros, log_trials
from hardness.lwe.laws import cbd, gaussian
from hardness.lwe.models import ROUGH
from hardness.lwe.parameters import parameters_of, parse_parameters
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
    found = parameters_of(family)
    law, h = found.secret, found.secret.weight or 0
    values = range(law.low, law.high + 1)
    secrets = [
        s
        for s in itertools.product(values, repeat=found.n)
        if (not h or sum(map(bool, s)) == h) and any(math.gcd(v, found.q) == 1 for v in s)
    ]
    assert 2 ** brute_force(found, ROUGH).rop == pytest.approx(len(secrets))


@pytest.mark.parametrize("error", ["none", "uniform,width=2"])
def test_both_tables_are_counted_and_the_smaller_is_kept(error):
    found = meet_in_the_middle(
        parse_parameters(f"lwe:n=9,q=61,error={error},secret=ternary,h=3"), ROUGH
    )
    left, right = 4 * 2, math.comb(5, 2) * 4
    chance = 4 * math.comb(5, 2) / math.comb(9, 3)  # of a split
    splits = math.ceil(math.log(0.01) / math.log(1 - chance))
    exact = math.log2((left + right) * splits)
    assert found.mem == pytest.approx(math.log2(left))
    assert found.rop == pytest.approx(exact) if error == "none" else found.rop > exact + 0.1


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


@pytest.mark.parametrize("rows", [None, 3])
@pytest.mark.parametrize(("left", "wrong", "q"), [(20, 16, 3329), (8, 3, 97), (300, 60, 2**40)])
def test_labels_are_the_best_of_all(left, wrong, q, rows):
    cost, bits, count = near_matches(left, math.log(wrong / q), math.log2(q), rows)
    every = {
        (j, k): k * math.log2(1 + wrong * 2**j / q) + np.logaddexp2(0, left - j * k)
        for j in range(1, int(math.log2(q)) + 1)
        for k in range((rows or 2 * left) + 1)
    }
    assert cost == pytest.approx(min(every.values()))
    assert every[bits, count] == pytest.approx(cost)


def test_the_size_of_a_restricted_elimination_is_the_best():
    for n, h, rate in ((64, 5, 0.1), (200, 8, 0.02), (1000, 10, 0.005), (12, 1, 0.3)):
        work = {
            k: math.log2(k**3 / math.comb(k, h)) - (k + SPARE_SAMPLES) * math.log2(1 - rate)
            for k in range(h, n + 1)
        }
        assert best_size(n, h, rate) == min(work, key=work.get)
    assert best_size(1000, 10, 0.005) in range(900, 1001)  # h/-ln(1 - rate) is beyond n
    assert best_size(40, 0, 0.1) == 40  # of unknown weight


@pytest.mark.parametrize("rows", [5, 6, 7, 9, None])
def test_trials_by_enumeration(rows):
    """Each trial draws places and rows, errors stay what they are: the least that suffices."""
    n, h, k, rate, success = 6, 2, 4, 0.1, 0.9
    spec = f"lwe:n={n},q=97,error=[0:{1 - rate},1:{rate}],secret=binary,h={h}"
    hit = sum(set(range(h)) <= set(c) for c in itertools.combinations(range(n), k))
    places, chances = hit / math.comb(n, k), {(1 - rate) ** (k + 1): 1.0}
    if rows:
        chances = {}
        for errors in itertools.product((0, 1), repeat=rows):
            drawn = list(itertools.combinations(errors, k + 1))
            lucky = sum(not any(e) for e in drawn) / len(drawn)
            share = math.prod(rate if e else 1 - rate for e in errors)
            chances[lucky] = chances.get(lucky, 0.0) + share
    reached = (
        trials
        for trials in range(1, 2000)
        if sum(p * (1 - (1 - places * lucky) ** trials) for lucky, p in chances.items()) >= success
    )
    expected = math.log2(next(reached, math.inf))
    assert lucky_bits(parse_parameters(spec, rows), k, 1, success) == pytest.approx(expected)


def test_errors_of_fixed_number_are_avoided_by_their_count():
    found = lucky_bits(parse_parameters("lwe:n=8,q=97,error=[1:3]", 20), 8, 2, 0.99)
    chance = math.comb(17, 10) / math.comb(20, 10)
    assert found == math.log2(math.ceil(math.log(0.01) / math.log1p(-chance)))
    assert lucky_bits(parse_parameters("lwe:n=8,q=97,error=[1:3]", 12), 8, 2, 0.99) == math.inf


@pytest.mark.parametrize(("n", "h", "zeta"), [(8, 2, 3), (9, 4, 5), (7, 1, 6), (6, 3, 0)])
def test_chances_of_zeros_by_enumeration(n, h, zeta):
    law = parse_parameters(f"lwe:n={n},q=97,sigma=1,secret=binary,h={h}").secret
    places = list(itertools.combinations(range(n), zeta))
    chance = sum(not set(p) & set(range(h)) for p in places) / len(places)
    assert math.exp(ln_zeros(law, n, zeta)) == pytest.approx(chance)
    often = 1 if chance >= 0.99 else math.ceil(math.log(0.01) / math.log(1 - chance))
    assert 2 ** log_trials(law, n, zeta) == pytest.approx(often)


KYBER = "lwe:n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3"


def test_plain_steps_add_up_by_hand():
    # n = 6, q = 2, blocks of 2: two tables of 4 samples of 7 bits, the second's pass the first
    bits, samples, stored = costs(6, 2, math.log(0.9), 2)
    fresh = 8 * math.log(4 / 0.01) / 0.9 ** (2 * 4)
    assert 2**samples == pytest.approx(2 * 4 + fresh)
    assert 2**stored == pytest.approx(2 * 4 + 4)
    assert 2**bits == pytest.approx(4 * 1 * 7 + fresh * 2 * 7 + 4 * 2)


def by_the_formula(found, b, words, test, k):
    """Return log2 of operations and of samples step by step, in the order that they are done."""
    n, q = found.n, found.q
    sizes = []
    while test + sum(sizes) < n:
        sizes.append(max(b, math.floor(b / (words / test + (len(sizes) + 1) / 2 * math.log(2, q)))))
    t, h = len(sizes), (q**b) / 2
    variance = k * 2**t * -found.error.log_bias * q**2 / (2 * math.pi**2)
    for i, size in enumerate(sizes, start=1):
        if size > b:
            variance += found.secret.deviation**2 * size * 2**i * q ** (2 - 2 * b / size) / 12
    if words < test:
        variance += found.secret.deviation**2 * test * q ** (2 - 2 * words / test) / 12
    fresh = 8 * math.log(q**words / 0.01) * math.exp(4 * math.pi**2 * variance / q**2)
    done, passing = t * h, t * h + fresh
    left = n
    plain = [size == b for size in sizes]
    if sizes:
        sizes[0] -= test + sum(sizes) - n
    for i in range(t, 0, -1):
        if not plain[i - 1]:
            done += 4 * sizes[i - 1] * passing
        passing -= h
        left -= sizes[i - 1]
        done += passing * (left + 1 if plain[i - 1] else left + sizes[i - 1])
    cells = q ** (words + 1)
    done += 4 * test * fresh + cells * (math.log2(cells) + 1)
    return math.log2(done), math.log2(t * h + fresh)


@pytest.mark.parametrize("spec", [KYBER, "lwe:n=30,q=97,sigma=1,secret=ternary"])
def test_costs_are_those_of_steps_one_by_one(spec):
    found = parse_parameters(spec)
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(200):
        b, words, k = (int(v) for v in rng.integers(1, [16, 16, 5]))
        test = int(rng.integers(words, min(found.n, words * 8) + 1))
        choice = [np.array([v]) for v in (b, words, test)]
        steps, _, *sizes = code_sizes(found.n, found.log2_q, *choice, 24)
        both = coded_costs(found, *choice[:2], steps, sizes, np.array([k]))
        ours = [float(v[0]) for v in both] if steps[0] <= 24 else [1e9]
        if max(ours) > 900:  # the other way needs floats for the samples themselves
            continue
        compared += 1
        assert ours == pytest.approx(by_the_formula(found, b, words, test, k), abs=1e-6)
    assert compared > 20


P = 10007


@pytest.mark.parametrize(("n", "degree"), [(3, 2), (4, 3), (2, 5), (5, 1)])
def test_monomials_by_enumeration(n, degree):
    powers = list(itertools.product(range(degree + 1), repeat=n))
    counts = [sum(p) for p in powers if 1 <= sum(p) <= degree]
    assert 2 ** monomial_bits(n, degree) == pytest.approx(len(counts), rel=1e-12)
    free = [p for p in powers if 1 <= sum(p) <= degree and max(p) <= 1]
    assert 2 ** monomial_bits(n, degree, binary=True) == pytest.approx(len(free), rel=1e-12)


def test_linear_equations_of_gaussians_take_a_range_that_all_samples_stay_within():
    found = arora_ge(parse_parameters("lwe:n=12,q=3329,sigma=2"), ROUGH)
    t = found.d // 2
    e = np.arange(-60, 61)
    shares = np.exp(-((e / 2) ** 2) / 2)
    tails = [shares[abs(e) > s].sum() / shares.sum() for s in (t - 1, t)]
    counts = [math.comb(13 + 2 * s, 12) - 1 for s in (t - 1, t)]
    assert (1 - tails[1]) ** counts[1] >= 0.99 > (1 - tails[0]) ** counts[0]


def macaulay_ends(n, degrees, rng):
    """Find the degree at which multiples of random forms fill all monomials, by ranks."""
    forms = []
    for degree in degrees:
        terms = [p for p in itertools.product(range(degree + 1), repeat=n) if sum(p) == degree]
        forms.append((degree, terms, rng.integers(0, P, len(terms))))
    for d in range(1, 30):
        place = {p: i for i, p in enumerate(_powers(n, d))}
        rows = []
        for degree, terms, values in forms:
            for shift in _powers(n, d - degree) if d >= degree else []:
                row = [0] * len(place)
                for term, value in zip(terms, values, strict=True):
                    row[place[tuple(np.add(term, shift))]] = int(value)
                rows.append(row)
        if rows and nmod_mat(rows, P).rank() == len(place):
            return d
    return None


def _powers(n, degree):
    return [p for p in itertools.product(range(degree + 1), repeat=n) if sum(p) == degree]


@pytest.mark.parametrize(
    ("n", "values", "degree", "count"),
    [(3, 2, 3, 1), (3, 3, 2, 2), (4, 2, 3, 2), (3, 4, 3, 3), (4, 3, 2, 4), (2, 5, 3, 2)],
)
def test_the_degree_of_regularity_is_where_random_forms_fill_all_monomials(
    n, values, degree, count
):
    rng = np.random.default_rng(n * 100 + values * 10 + degree)
    degrees = [values] * n + [degree] * count
    assert regularity(n, values, degree, count) == macaulay_ends(n, degrees, rng)


@pytest.mark.parametrize("law", [gaussian(3.0, 3329), gaussian(0.7, 3329), cbd(3, 3329)])
def test_all_errors_stay_within_t_with_the_probability_said(law):
    values = np.arange(law.low, law.high + 1)
    if law.kind == "cbd":
        shares = np.array([math.comb(6, 3 + v) / 64 for v in values])
    else:
        shares = np.exp(-((values / law.deviation) ** 2) / 2)
        shares /= shares.sum()
    degrees, logs = equations(law, 10**6)
    assert len(degrees)
    for degree, log in zip(degrees, logs, strict=True):
        count, tail = round(math.exp(log)), shares[abs(values) > degree // 2].sum()
        assert (1 - tail) ** count >= 0.99 - 1e-9
        assert count == 10**6 or (1 - tail) ** (count + 1) < 0.99 + 1e-9


def test_linear_equations_and_a_basis_agree_where_samples_abound():
    problem = parse_parameters("lwe:n=12,q=3329,error=uniform,width=3")
    assert arora_gb(problem, ROUGH).rop == pytest.approx(arora_ge(problem, ROUGH).rop, abs=0.02)


@pytest.mark.parametrize("spec", ["n=7,q=3,sigma=1", "n=2,q=3,sigma=1.5", "n=7,q=5,sigma=3"])
def test_coded_steps_are_priced_if_errors_are_as_wide_as_a_small_modulus(spec):
    assert coded_bkw(parse_parameters(f"lwe:{spec}").normal(), ROUGH).rank < 40


@pytest.mark.parametrize(("q", "success"), [(2, 0.5), (2, 0.95), (3, 0.9), (6, 0.9), (15, 0.8)])
def test_linear_algebra_asks_for_as_many_samples_as_have_full_rank(q, success):
    n, rng, tries = 8, np.random.default_rng(q), 400
    setting = replace(ROUGH, success=success)
    count = linear_algebra(parse_parameters(f"lwe:n={n},q={q},error=none"), setting).samples
    primes = [p for p in (2, 3, 5) if q % p == 0]
    full = 0
    for _ in range(tries):
        rows = rng.integers(0, q, (count, n)).tolist()
        full += all(nmod_mat(rows, p).rank() == n for p in primes)
    assert full >= success * tries
    if success > 0.5:  # n of them have not
        assert math.prod(1 - p**-i for p in primes for i in range(1, n + 1)) < success
