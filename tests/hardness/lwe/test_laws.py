"""Laws that a user writes: by probabilities, by counts, by name."""

import cmath
import itertools
import math
import re

import numpy as np
import pytest

from hardness import estimate
from hardness.lwe.decoding import Guesses
from hardness.lwe.estimate import LATTICE, OTHERS, estimate_all
from hardness.lwe.laws import tuniform
from hardness.lwe.models import parse_setting
from hardness.lwe.parameters import parse_parameters
from instances.errors import UsageError

Q = 97


@pytest.mark.parametrize(
    ("words", "shares"),
    [
        ("[-1:1/4,0:1/2,1:1/4]", {-1: 0.25, 0: 0.5, 1: 0.25}),
        ("[3:.5,-2:0.5]", {-2: 0.5, 3: 0.5}),
        ("[5:1/3,7:1/3,20:1/3]", {5: 1 / 3, 7: 1 / 3, 20: 1 / 3}),
    ],
)
def test_a_law_by_probabilities_has_its_moments_entropy_and_guesses(words, shares):
    found = parse_parameters(f"lwe:n=6,q={Q},error={words},secret={words}")
    law, mean = found.secret, sum(v * p for v, p in shares.items())
    assert law == found.error
    assert law.mean == pytest.approx(mean)
    assert law.deviation**2 == pytest.approx(sum((v - mean) ** 2 * p for v, p in shares.items()))
    assert law.entropy == pytest.approx(-sum(p * math.log2(p) for p in shares.values()))
    assert law.guesses == pytest.approx(2 * math.log2(sum(map(math.sqrt, shares.values()))))
    wave = sum(p * cmath.exp(2j * math.pi * v / Q) for v, p in shares.items())
    assert math.exp(law.log_bias) == pytest.approx(abs(wave))
    assert (law.values, law.zero) == (len(shares), pytest.approx(shares.get(0, 0.0)))
    assert law.alphabet == len(shares.keys() - {0})
    assert found.size_bits == pytest.approx(6 * math.log2(len(shares)))
    assert found.information == pytest.approx(math.log2(Q) - law.entropy)


@pytest.mark.parametrize(
    ("words", "counts"),
    [("[-1:1,1:3]", {-1: 1, 1: 3}), ("[2:2]", {2: 2}), ("[-3:1,1:1,2:2]", {-3: 1, 1: 1, 2: 2})],
)
def test_counts_are_those_of_all_arrangements(words, counts):
    n = 6
    found, values = parse_parameters(f"lwe:n={n},q={Q},sigma=1,secret={words}"), [0, *counts]
    every = [
        s
        for s in itertools.product(values, repeat=n)
        if all(s.count(v) == c for v, c in counts.items())
    ]
    assert 2**found.size_bits == pytest.approx(len(every))
    assert found.unique_bits == pytest.approx(math.log2(len(every)))
    law, entries = found.secret, [v for s in every for v in s]
    mean = sum(entries) / len(entries)
    assert (law.mean, law.weight) == (pytest.approx(mean), sum(counts.values()))
    assert law.deviation**2 == pytest.approx(sum((v - mean) ** 2 for v in entries) / len(entries))
    assert law.alphabet == len(counts)
    zeta, most = 4, min(law.weight, 4)
    guesses = Guesses(found)
    guesses.limit(60.0)
    space, ln_prob = guesses.sets(np.full(most + 1, zeta), np.arange(most + 1))
    for w in range(most + 1):
        some = {s[:zeta] for s in every if sum(map(bool, s[:zeta])) <= w}
        free = {  # the same sets before what the other coordinates leave is known
            s
            for s in itertools.product(values, repeat=zeta)
            if sum(map(bool, s)) <= w and all(s.count(v) <= c for v, c in counts.items())
        }
        share = sum(sum(map(bool, s[:zeta])) <= w for s in every) / len(every)
        assert 2 ** space[w] == pytest.approx(len(free))
        assert math.exp(ln_prob[w]) == pytest.approx(share)
        assert some <= free
    split = estimate_all(found, "x", only=("meet-in-the-middle",))["meet-in-the-middle"]
    tables = {  # of halves that hold a half of each count, and of all together
        sum(
            all(s.count(v) == c for v, c in zip(counts, left, strict=True))
            for s in itertools.product(values, repeat=n // 2)
        )
        for left in itertools.product(*({c // 2, -(-c // 2)} for c in counts.values()))
        if sum(left) == sum(counts.values()) // 2
    }
    assert any(2**split.mem == pytest.approx(table) for table in tables)
    assert math.isfinite(split.rop)


def test_halves_hold_both_signs_of_the_shortest_secret():
    found = parse_parameters(f"lwe:n=2,q={Q},sigma=1,secret=[-1:1,1:1]")
    split = estimate_all(found, "x", only=("meet-in-the-middle",))["meet-in-the-middle"]
    assert split.mem == 0.0
    assert math.isfinite(split.rop)


def test_errors_that_are_all_the_same_are_none():
    found = parse_parameters(f"lwe:n=20,q={Q},error=[3:40],secret=binary", 40)
    assert found.error is None
    assert estimate_all(found, "x")["linear-algebra"].applies


def test_almost_certain_success_has_an_estimate_and_certain_success_none():
    sparse = parse_parameters("lwe:n=40,q=3329,sigma=3,secret=ternary,h=4")
    certain = parse_setting("default", None, 1 - 1e-12)
    assert math.isfinite(estimate_all(sparse, "x", (certain,), ("dual_guess",)).least.rop)
    with pytest.raises(UsageError, match=r"from 0\.5 to 1 - 1e-12"):
        parse_setting("default", None, 0.9999999999999999)


def test_a_secret_that_is_always_0_is_found_as_soon_as_samples_are_read(recwarn):
    found = estimate_all(parse_parameters("lwe:n=20,q=97,sigma=1,secret=gaussian,spread=1e-7"), "x")
    assert found.least.rop == pytest.approx(math.log2(20 * found.least.samples))
    assert not recwarn.list


def test_a_law_of_many_values_is_read():
    words = ",".join(f"{value}:1/9000" for value in range(9000))
    assert parse_parameters(f"lwe:n=8,q=2^20,sigma=3,secret=[{words}]").secret.values == 9000


def test_long_counts_take_little_memory():
    found = parse_parameters("lwe:n=32768,q=2^881,sigma=3.19,secret=[-1:10000,1:10923]")
    places = math.comb(32768, 20923) * math.comb(20923, 10000)
    assert found.size_bits == pytest.approx(math.log2(places))


def test_laws_of_moduli_beyond_floats_are_read():
    spec = "lwe:n=2,q=2^60000,sigma=2^59000,secret=tuniform,spread=0"
    assert parse_parameters(spec).error.ln_deviation == pytest.approx(59000 * math.log(2))
    rounded = parse_parameters("lwr:n=2,q=2^881+1,p=2^881-5").error
    assert (rounded.log_bias, rounded.zero) == (0.0, 1.0)
    assert rounded.ln_deviation == pytest.approx(math.log(6 * 2 / 12) / 2 - 881 * math.log(2) / 2)
    near = parse_parameters(
        "lwr:n=2,q=2^200+1,p=2^198-3"
    ).error  # below what a cosine's digits tell
    angle = math.pi / 2**198
    assert near.log_bias == pytest.approx(-(angle**2) / 6 * (1 - 1 / 16))


def test_tuniform_is_its_table():
    values = range(-4, 5)
    shares = [1 / 16 if abs(v) == 4 else 1 / 8 for v in values]
    listed = ",".join(f"{v}:{p}" for v, p in zip(values, shares, strict=True))
    table = parse_parameters(f"lwe:n=9,q={Q},sigma=1,secret=[{listed}]").secret
    law = tuniform(2, Q)
    for name in ("mean", "deviation", "low", "high", "zero", "entropy", "guesses", "log_bias"):
        assert getattr(law, name) == pytest.approx(getattr(table, name), abs=1e-12), name
    assert table.values == law.values


@pytest.mark.parametrize(
    ("words", "same"),
    [
        ("secret=[-1:1/3,0:1/3,1:1/3]", "secret=ternary"),
        ("secret=[0:1/2,1:1/2]", "secret=binary"),
        ("secret=[1:9]", "secret=binary,h=9"),
        ("secret=range,spread=-1..1,h=12", "secret=ternary,h=12"),
    ],
)
def test_every_attack_costs_what_it_does_by_the_usual_name_of_a_law(words, same):
    spec = "lwe:n=60,q=3329,sigma=3"
    ours, usual = (
        estimate_all(parse_parameters(f"{spec},{one}", 400), "x") for one in (words, same)
    )
    assert len(ours.estimates) == len({**LATTICE, **OTHERS})
    for one, other in zip(ours.estimates, usual.estimates, strict=True):
        assert one.rop == pytest.approx(other.rop, abs=2e-3), one.name
        assert one.reason == other.reason


REFUSED = {  # what stands beside n=64 and q=97, and what the line says
    "sigma=1,secret=[0:1/2,1:1/4]": "probabilities with the sum 3/4: it has to be 1",
    "sigma=1,secret=[0:3/2,1:-1/2]": "probabilities above 0 are needed",
    "sigma=1,secret=[0:5,1:3]": "counts are of values other than 0",
    "sigma=1,secret=[1:3,1:4]": "a value stands there twice",
    "sigma=1,secret=[1:60,2:5]": "counts of 65 entries given",
    "sigma=1,secret=[1:0]": "counts of 0 entries given",
    "sigma=1,secret=[]": "write [-1:1/4,0:1/2,1:1/4] for probabilities",
    "sigma=1,secret=[x:1/2,1:1/2]": "an integer such as 200",
    "sigma=1,secret=[0:1/2,97:1/2]": "values further apart than q=97 allows",
    "sigma=1,secret=[1:9],h=3": "h=3 given with counts",
    "sigma=1,secret=[1:9],spread=3": "with spread",
    "sigma=1,secret=range,spread=3..3": "at least 2 values",
    "sigma=1,secret=tuniform,spread=7": "the 257 values -2^7 .. 2^7",
    "sigma=1,secret=binary,h=65": "h=65 given with n=64",
    "sigma=1,secret=heap": "unknown secret 'heap'",
    "error=[1:9]": "which counts errors: give --samples",
    "error=ternary,weight=3": "weight",
    "error=ternary,eta=3": "error=ternary given with eta: it needs no size",
    "error=[0:1/2,1:1/2],eta=2": "given with eta: it needs no size",
    "error=heap": "unknown error 'heap'",
    "error=cbd,eta=0": "a centred binomial takes 1 to 512",
    "sigma=0": "it must be above 0",
    "sigma=2^9999": "labels then say nothing",
    "sigma=1,samples=0": "samples=0 given: at least 1",
    "sigma=1,samples=-1": "samples=-1 given",
    "sigma=1,samples=2^60000": "0 to 2^1000",
    "sigma=-2^60000": "it must be above 0",
    "": "it needs sigma=... or alpha=...",
    "sigma=1,q=1": "q must be an integer of 2 to 2^65536",
    "sigma=1,q=2^65537": "q must be an integer",
    "sigma=1,q=2^100000": "q must be an integer",
    "sigma=1e400": "sigma must be a number such as 0.1 or 1/10, got 1e400",
    "sigma=1,n=0": "n=0 given: between 1 and 1048576",
    "sigma=1,n=1048577": "n=1048577 given",
}


@pytest.mark.parametrize(("words", "said"), REFUSED.items())
def test_a_law_or_size_that_is_none_is_refused_in_one_line(words, said):
    sizes = {"n": "64", "q": "97"} | dict(re.findall(r"\b([nq])=([0-9^]+)", words))
    others = re.sub(r",[nq]=[0-9^]+", "", words)
    spec = f"lwe:n={sizes['n']},q={sizes['q']}{',' if others else ''}{others}"
    with pytest.raises(UsageError) as refused:
        estimate(spec, attack="usvp")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
