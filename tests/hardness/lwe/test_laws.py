"""Laws that a user writes: by probabilities, by counts, by name."""

import itertools
import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hardness import estimate
from hardness.lwe.estimate import LATTICE, OTHERS, estimate_all
from hardness.lwe.laws import gaussian, tabled
from hardness.lwe.models import parse_setting
from hardness.lwe.parameters import parameters_of, parse_parameters
from instances import parse
from instances.errors import UsageError
from tests.laws import chi_square

Q = 97


def entries(words, n=16, h=0):
    """The values and probabilities of a law that is written in words."""
    kind, _, size = words.partition(",spread=")
    if kind.startswith("["):
        pairs = [part.split(":") for part in kind[1:-1].split(",")]
        table = {int(v): float(Fraction(p)) for v, p in pairs}
    elif kind == "gaussian":
        table = {v: math.exp(-((v / float(size)) ** 2) / 2) for v in range(-40, 41)}
    elif kind == "cbd":
        table = {
            v: math.comb(2 * int(size), int(size) + v) for v in range(-int(size), int(size) + 1)
        }
    elif kind == "tuniform":
        half = 2 ** int(size)
        table = {v: 1 / (2 - (abs(v) < half)) for v in range(-half, half + 1)}
    else:
        table = dict.fromkeys({"ternary": (-1, 0, 1), "range": range(-2, 4)}[kind], 1)
    if h:
        inside = sum(p for v, p in table.items() if v)
        table = {v: p * h / n / inside for v, p in table.items()} | {0: 1 - h / n}
    shares = np.array([*table.values()], float)
    return np.array([*table]), shares / shares.sum()


@pytest.mark.parametrize("h", [0, 5])
@pytest.mark.parametrize(
    "words",
    [
        *("gaussian,spread=1.5", "cbd,spread=3", "tuniform,spread=2", "range,spread=6", "ternary"),
        *("[-1:1/4,0:1/2,1:1/4]", "[3:.5,-2:0.5]", "[5:1/3,7:1/3,20:1/3]"),
    ],
)
def test_a_law_has_the_moments_entropy_guesses_and_bias_of_its_entries(words, h):
    """With h, the entries that are not 0 stand at random places."""
    found = parse_parameters(f"lwe:n=16,q={Q},sigma=1,secret={words},h={h}")
    law, (values, shares) = found.secret, entries(words, h=h)
    mean = shares @ values
    assert law.mean == pytest.approx(mean, abs=1e-9)
    assert law.deviation == pytest.approx(math.sqrt(shares @ (values - mean) ** 2))
    assert law.zero == pytest.approx(shares[values == 0].sum())
    assert law.entropy == pytest.approx(-(shares @ np.log2(shares)), rel=1e-3)
    if h:
        return
    assert law.guesses == pytest.approx(2 * math.log2(np.sqrt(shares).sum()), abs=1e-9)
    wave = abs(shares @ np.exp(2j * math.pi * values / Q))
    assert math.exp(law.log_bias) == pytest.approx(wave)
    if not words.startswith("gaussian"):
        assert (law.values, law.alphabet) == (len(values), np.count_nonzero(values))
        assert found.size_bits == pytest.approx(16 * math.log2(len(values)))
    if words.startswith("["):
        again = parse_parameters(f"lwe:n=16,q={Q},error={words},secret={words}")
        assert again.error == law
        assert again.information == pytest.approx(math.log2(Q) - law.entropy)


def test_wide_gaussians_are_guessed_as_their_table():
    for sigma in (0.3, 900.0):
        x = np.arange(-math.ceil(60 * sigma), math.ceil(60 * sigma) + 1.0)
        table = tabled("other", x, np.exp(-((x / sigma) ** 2) / 2), q=2**40)
        assert gaussian(sigma, 2**40).guesses == pytest.approx(table.guesses, abs=1e-3)


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


def test_errors_that_are_all_the_same_are_none():
    found = parse_parameters(f"lwe:n=20,q={Q},error=[3:40],secret=binary", 40)
    assert found.error is None
    assert estimate_all(found, "x")["linear-algebra"].applies


def test_almost_certain_success_has_an_estimate_and_certain_success_none():
    sparse = parse_parameters("lwe:n=40,q=3329,sigma=3,secret=ternary,h=4")
    certain = parse_setting("default", None, 1 - 1e-12)
    assert math.isfinite(estimate_all(sparse, "x", (certain,), ("dual_guess",)).least.rop)
    with pytest.raises(UsageError, match=r"from 0\.5 to 1 - 1e-12"):
        estimate("toy-80", success="0.9999999999999999")


def test_a_secret_that_is_always_0_is_found_as_soon_as_samples_are_read(recwarn):
    found = estimate_all(parse_parameters("lwe:n=20,q=97,sigma=1,secret=gaussian,spread=1e-7"), "x")
    assert found.least.rop == pytest.approx(math.log2(20 * found.least.samples))
    assert not recwarn.list


def test_a_law_of_many_values_is_read():
    words = ",".join(f"{value}:1/9000" for value in range(9000))
    assert parse_parameters(f"lwe:n=8,q=2^20,sigma=3,secret=[{words}]").secret.values == 9000


def test_laws_of_moduli_beyond_floats_are_read():
    spec = "lwe:n=2,q=2^60000,sigma=2^59000,secret=tuniform,spread=0"
    assert parse_parameters(spec).error.ln_deviation == pytest.approx(59000 * math.log(2))
    rounded = parse_parameters("lwr:n=2,q=2^881+1,p=2^881-5").error
    assert (rounded.log_bias, rounded.zero) == (0.0, 1.0)
    assert rounded.ln_deviation == pytest.approx(math.log(6 * 2 / 12) / 2 - 881 * math.log(2) / 2)
    near = parse_parameters("lwr:n=2,q=2^200+1,p=2^198-3").error  # a cosine has no digits of it
    angle = math.pi / 2**198
    assert near.log_bias == pytest.approx(-(angle**2) / 6 * (1 - 1 / 16))


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


@pytest.mark.parametrize(
    "spec", ["lwe:n=3,q=5,sigma=3.5", "lwe:n=3,q=2,sigma=1.5", "lpn:n=5,noise=0.4999999"]
)
def test_information_keeps_its_digits_near_uniform_errors(spec):
    """It is near half of chi^2 there, which is exact."""
    family = parse(spec)
    half = float(chi_square(family)) / (2 * math.log(2))
    assert half < 1e-6
    assert family.information == pytest.approx(half, rel=1e-3, abs=0)
    assert parameters_of(family).information == pytest.approx(half, rel=1e-3, abs=0)


def exact_bias(values, weights, q):
    """ln |E exp(2 pi i e/q)|, to 60 digits."""
    with mpmath.workdps(60):
        pairs = zip(values, weights, strict=True)
        turns = (w * mpmath.expjpi(mpmath.mpf(2 * v) / q) for v, w in pairs)
        return float(mpmath.log(abs(mpmath.fsum(turns))))


def rounded_bias(width, q):
    """ln of sin(pi w/q)/(w sin(pi/q)), where float64 has no digits of 1 less it left."""
    with mpmath.workdps(60):
        turn = mpmath.pi / q
        return float(mpmath.log(mpmath.sin(width * turn) / (width * mpmath.sin(turn))))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=4,q=64,sigma=0.2",
        "lwe:n=4,q=1048576,error=uniform,width=64",
        "lwe:n=4,q=31,sigma=7",
        "lwe:n=4,q=29,error=cbd,eta=20",
        *(f"lwr:n=4,q={1 << 44},p={(1 << 44) // width}" for width in (2, 64, 1 << 20)),
    ],
)
def test_the_bias_keeps_its_digits_near_no_error(spec):
    family = parse(spec)
    found = parameters_of(family)
    if spec.startswith("lwr"):
        expected = rounded_bias(found.error.values, found.q)
    else:
        weights = [mpmath.mpf(c) / 2**64 for c in family.errors.counts]
        expected = exact_bias(family.errors.values, weights, family.q)
    assert found.error.log_bias == pytest.approx(expected, rel=1e-9, abs=0)
    assert found.information == pytest.approx(family.information)


def test_rounding_to_any_p_is_measured():
    found = parse_parameters("lwr:n=4,q=3329,p=1000")
    v = np.arange(3329)
    error = (np.round(v * 1000 / 3329) * 3329 / 1000 - v + 1664) % 3329 - 1664
    assert found.error.deviation == pytest.approx(error.std(), rel=0.05)
    assert found.information == pytest.approx(math.log2(1000))


REFUSED = {  # what stands beside n=64 and q=97, and what the line says
    "sigma=1,secret=[0:1/2,1:1/4]": "probabilities with the sum 3/4: it has to be 1",
    "sigma=1,secret=[0:3/2,1:-1/2]": "probabilities above 0 are needed",
    "sigma=1,secret=[0:5,1:3]": "counts are of values other than 0",
    "sigma=1,secret=[1:3,1:4]": "a value stands there twice",
    "sigma=1,secret=[1:60,2:5]": "counts of 65 entries",
    "sigma=1,secret=[1:0]": "counts of 0 entries",
    "sigma=1,secret=[]": "write [-1:1/4,0:1/2,1:1/4] for probabilities",
    "sigma=1,secret=[x:1/2,1:1/2]": "an integer such as 200",
    "sigma=1,secret=[0:1/2,97:1/2]": "values further apart than q=97 allows",
    "sigma=1,secret=[1:9],h=3": "h=3 with counts",
    "sigma=1,secret=[1:9],spread=3": "with spread",
    "sigma=1,secret=range,spread=3..3": "at least 2 values",
    "sigma=1,secret=tuniform,spread=7": "the 257 values -2^7 .. 2^7",
    "sigma=1,secret=binary,h=65": "h=65 with n=64",
    "sigma=1,secret=heap": "unknown secret 'heap'",
    "sigma=1,secret=range": "secret=range with no size: it needs spread=...",
    "sigma=1,q=5,secret=gaussian,spread=3": "q=5 with secret=gaussian",
    "error=[1:9]": "which counts errors: give --samples",
    "error=ternary,weight=3": "unknown parameter of lwe 'weight'",
    "sigma=1,eta=2": "error=gaussian with sigma, eta",
    "error=ternary,eta=3": "error=ternary with eta: it needs no size",
    "error=[0:1/2,1:1/2],eta=2": "with eta: it needs no size",
    "error=heap": "unknown error 'heap'",
    "error=cbd,eta=0": "a centred binomial takes 1 to 512",
    "sigma=0": "it must be above 0",
    "sigma=2^9999": "labels then say nothing",
    "sigma=1,samples=0": "samples=0: at least 1",
    "sigma=1,samples=-1": "samples=-1: 0 to 2^1000",
    "sigma=1,samples=2^60000": "0 to 2^1000",
    "sigma=-2^60000": "it must be above 0",
    "": "error=gaussian with no size: it needs sigma=... or alpha=...: add sigma=2",
    "sigma=1,q=1": "q must be an integer of 2 to 2^65536",
    "sigma=1,q=2^65537": "q must be an integer",
    "sigma=1e400": "sigma must be a number such as 0.1 or 1/10, got 1e400",
    "sigma=1,n=0": "n=0: between 1 and 1048576",
    "sigma=1,n=1048577": "n=1048577: between 1",
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


def test_errors_are_no_part_of_rounding():
    with pytest.raises(UsageError, match="sigma with lwr"):
        estimate("lwr:n=64,q=3329,p=7,sigma=2", attack="usvp")
