"""Laws that a user writes: by probabilities, by counts, or in the syntax of lattice-estimator."""

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
from hardness.lwe.peer import to_estimator_code
from hardness.lwe.sets import SETS, resolve_instance
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
    "sigma=1,secret=tuniform,spread=7": "256 values given with q=97",
    "sigma=1,secret=binary,h=65": "h=65 given with n=64",
    "sigma=1,secret=heap": "unknown secret 'heap'",
    "error=[1:9]": "without a number of samples",
    "error=ternary,weight=3": "without a number of samples",
    "error=[0:1/2,1:1/2],eta=2": "eta given with error=",
    "error=heap": "unknown error 'heap'",
    "error=cbd,eta=0": "a centred binomial takes 1 to 512",
    "sigma=0": "it must be above 0",
    "sigma=2^9999": "labels then say nothing",
    "sigma=1,samples=0": "samples=0 given: at least 1",
    "sigma=1,samples=-1": "samples=-1 given",
    "": "it needs sigma=... or alpha=...",
    "sigma=1,q=1": "q=1 given: an integer of 2 to 2^65536",
    "sigma=1,q=2^65537": "q=2^65537 given: an integer",
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


# ---- the syntax of lattice-estimator


def test_every_set_is_read_again_from_what_is_emitted():
    for name in SETS:
        code = to_estimator_code(resolve_instance(name).parameters)
        found = resolve_instance(code)
        assert to_estimator_code(found.parameters) == code
        assert found.parameters.rows == resolve_instance(name).parameters.rows
        again = resolve_instance(found.spec, found.parameters.samples)
        assert (again.parameters, again.spec) == (found.parameters, found.spec)


@pytest.mark.parametrize(
    ("secret", "words"),
    [
        ("CenteredBinomial(eta=3, n=64)", "cbd,spread=3"),
        ("DiscreteGaussian(3.19)", "gaussian,spread=3.19"),
        ("DiscreteGaussian(stddev=2**4/5, mean=0)", "gaussian,spread=3.2"),
        ("DiscreteGaussianAlpha(0.1, 97)", "gaussian,spread=3.869740119893897"),
        ("TUniform(3)", "tuniform,spread=3"),
        ("Binary", "binary"),
        ("Ternary", "ternary"),
        ("Uniform(a=-2, b=100 - 95)", "range,spread=-2..5"),
        ("UniformMod(97)", "uniform"),
        ("UniformMod(4)", "range,spread=-2..1"),
        ("SparseTernary(8)", "[-1:8,1:8]"),
        ("SparseTernary(8, 4, 64)", "[-1:4,1:8]"),
        ("SparseTernary(p=8, m=0, n=64)", "[1:8]"),
        ("Uniform(b=5, a=-2)", "range,spread=-2..5"),
        ("DiscreteGaussianAlpha(q=97, alpha=0.1)", "gaussian,spread=3.869740119893897"),
        ("SparseTernary(64, 8)", "[-1:8,1:8]"),  # its length first, as it was once
    ],
)
def test_the_syntax_of_the_peer_is_read(secret, words):
    found = resolve_instance(f"LWE.Parameters(64, 97, ND.{secret}, ND.TUniform(2), m=90, tag='x')")
    assert found.spec == f"lwe:n=64,q=97,error=tuniform,eta=2,secret={words}"
    assert found.parameters == parse_parameters(found.spec, 90)


TFHE = "n=630,q=2^32,sigma=131072,secret=range,spread=-1..0"
SPARSE = "n=512,q=3329,error=cbd,eta=3,secret=[-1:32,1:32]"
PUBLISHED = [  # lines as people publish them, and what they mean
    ("LWE.Parameters(n=2^12, q=2^80 - 2^20 + 1, Xs=ND.Binary, Xe=ND.DiscreteGaussian(3.2))",
     f"n=4096,q={2**80 - 2**20 + 1},sigma=3.2,secret=binary"),
    ("LWE.Parameters(n=10, q=2**10, Xs=ND.UniformMod(2**10), Xe=ND.UniformMod(2**10/2**6))",
     "n=10,q=1024,error=uniform,width=-8..7,secret=uniform"),
    ("LWE.Parameters(n=512, q=3329, Xs=ND.SparseTernary(n=512, p=64/2, m=64/2), "
     "Xe=ND.CenteredBinomial(3))", SPARSE),
    ("LWE.Parameters(512, 3329, ND.SparseTernary(512, p=32), ND.CenteredBinomial(3))", SPARSE),
    ("LWE.Parameters(512, 3329, ND.SparseTernary(32, n=512), ND.CenteredBinomial(3))", SPARSE),
    ("LWE.Parameters(512, 3329, ND.SparseTernary(p=32, m=None, n=512), ND.CenteredBinomial(3))",
     SPARSE),
    ("LWE.Parameters(n=1024, q=251, Xs=ND.SparseTernary(1024, 256//2), "
     "Xe=ND.SparseTernary(1024, 256//2), m=1024)",
     "n=1024,q=251,error=[-1:128,1:128],secret=[-1:128,1:128],samples=1024"),
    ("LWE.Parameters(n=1<<12, q=1<<85, Xs=ND.SparseTernary(1024), Xe=ND.DiscreteGaussian(3.2))",
     "n=4096,q=2^85,sigma=3.2,secret=[-1:1024,1:1024]"),
    ("LWE.Parameters(n=2**13, q=2**218, Xs=ND.Uniform(-1,1), "
     "Xe=ND.DiscreteGaussian(3.19, mean=0, n=None))", "n=8192,q=2^218,sigma=3.19,secret=ternary"),
    *((f"LWE.Parameters(n=512, q=3329, Xs=ND.CenteredBinomial(3), Xe=ND.CenteredBinomial(3), "
       f"m={endless})", "n=512,q=3329,error=cbd,eta=3,secret=cbd,spread=3")
      for endless in ("+Infinity", "infinity", "oo", "sage.all.oo", "math.inf")),
    ("LWE.Parameters(n=640, q=2**15, Xs=NoiseDistribution.DiscreteGaussian(2.8), "
     "Xe=nd.NoiseDistribution.DiscreteGaussian(2.8))",
     "n=640,q=32768,sigma=2.8,secret=gaussian,spread=2.8"),
    ("LWE.Parameters(n=3584, q=549824583172097, Xs=ND.DiscreteGaussian(2730, -4), "
     "Xe=ND.DiscreteGaussian(2730, -4), m=4608)",
     "n=3584,q=549824583172097,sigma=2730,secret=gaussian,spread=2730,samples=4608"),
    ('schemes.Kyber512 = LWEParameters(\n    n=2 * 256,\n    q=3329,\n'
     "    Xs=NoiseDistribution.CenteredBinomial(3),\n    Xe=NoiseDistribution.CenteredBinomial(3),"
     '\n    m=2 * 256,\n    tag="Kyber 512",\n)  # round 3', "ml-kem-512"),
    ("TFHE630 = LWEParameters(n=630, q=2 ** 32, Xs=ND.UniformMod(2), "
     "Xe=ND.DiscreteGaussian(stddev=2 ** (-15) * 2 ** 32))", TFHE),
    ("estimator.LWE.Parameters(630, 2^32, ND.UniformMod(2), ND.DiscreteGaussian(2^-15 * 2^32))",
     TFHE),
    ("LWE.Parameters(n=586, q=2**32, Xs=ND.Binary, Xe=ND.DiscreteGaussian(2 ** (-13.4) * 2**32))",
     f"n=586,q=2^32,sigma={2 ** -13.4 * 2**32},secret=binary"),
    ("LWE.Parameters(n=1024, q=2**25, Xs=ND.SparseTernary(32), "
     "Xe=ND.DiscreteGaussian(ND.stddevf(8)))",
     f"n=1024,q=2^25,sigma={8 / math.sqrt(2 * math.pi)},secret=[-1:32,1:32]"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), PUBLISHED)
def test_lines_as_people_publish_them_are_read(line, words):
    wanted = resolve_instance(words if words[:2] == "ml" else f"lwe:{words}")
    read, expected = resolve_instance(line).parameters, wanted.parameters
    assert read.error is not None
    assert expected.error is not None
    assert math.isclose(read.error.deviation, expected.error.deviation, rel_tol=1e-12)
    if read.error.deviation == expected.error.deviation:
        assert read == expected
    assert (read.n, read.q, read.secret) == (expected.n, expected.q, expected.secret)


@pytest.mark.parametrize("name", ["NTRUHPS2048509Enc", "schemes.Falcon512_SKR",
    "Dilithium2_MSIS_WkUnf", "NTRU.Parameters(n=200, q=7981, Xs=ND.Ternary, Xe=ND.Ternary)",
    "x = SISParameters(n=113, q=2048, length_bound=512, norm=2)"])  # fmt: skip
def test_ntru_and_sis_are_named_with_what_estimates_them(name):
    with pytest.raises(
        UsageError, match=r"is a problem of NTRU or SIS: .* SIS\.estimate"
    ) as refused:
        resolve_instance(name)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("FHEW", "500, 2**32, ND.Binary, ND.DiscreteGaussian(2**-15 * 2**32)"),
        ("Concrete_TFHE512", "512, 2**32, ND.Binary, ND.DiscreteGaussian(2**(-24.8) * 2**32)"),
        ("TFHE20_1024", "1024, 2**32, ND.Binary, ND.DiscreteGaussian(2**-26 * 2**32)"),
        ("CHHS_4096_82", "4096, 2**82, ND.SparseTernary(32), ND.DiscreteGaussian(3.19)"),
        ("HESv111024128ternary", "1024, 2**27, ND.UniformMod(3), ND.DiscreteGaussian(3), 1024"),
    ],
)
def test_schemes_of_the_peer_are_named_as_it_spells_them(name, code):
    named, written = (
        resolve_instance(name).parameters,
        resolve_instance(f"LWE.Parameters({code})").parameters,
    )
    assert (
        to_estimator_code(named).partition("Xe")[0] == to_estimator_code(written).partition("Xe")[0]
    )
    assert named.error.kind == written.error.kind == "gaussian"
    assert named.error.deviation == pytest.approx(written.error.deviation, rel=1e-6)
    assert named.samples == written.samples
    with pytest.raises(UsageError, match="did you mean 'kyber512'"):
        resolve_instance("Kyber513")


DEEP = (
    "2**2**40",
    "-" * 9000 + "97",
    "*".join(["2**131000"] * 500),
    "+".join(["2**131000"] * 90),
    "9" * 8000,
)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("n=64, q=97, Xs=__import__('os').system('x'), Xe=ND.Binary", "Xs=__import__"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(x)", "x is not read"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(1/0)", "1 / 0 is not read"),
        ("64, 97, ND.Binary, ND.DiscreteGaussian(3, 0.5)", "Xe has mean=0.5: it must be an int"),
        ("64, 97, ND.Binary, ND.Uniform(1)", "ND.Uniform(1) given: missing a required argument"),
        ("64, 97, ND.Binary, ND.Uniform(0.5, 1)", "a=0.5: it must be an integer"),
        ("64, 97, ND.Binary, ND.Binary(3)", "too many positional arguments"),
        ("64, 97, ND.Other(3), ND.Binary", "Xs=ND.Other(3)"),
        ("64, 97, ND.SparseTernary(8, n=63), ND.Binary", "Xs of n=63"),
        ("64, 97, ND.Binary", "missing a required argument: 'Xe'"),
        ("64.5, 97, ND.Binary, ND.Binary", "n, q and m are integers"),
        ("64, 97, ND.Binary, ND.Binary, q=97", "multiple values for argument 'q'"),
        ("64, 97, ND.Binary, ND.Binary).updated(m=3", "updated is not read"),
        ("64, 97, (", "LWE.Parameters(64"),
        *((f"64, {q}, ND.Binary, ND.Binary", "is not read") for q in DEEP),
        *(
            (f"64, 97, ND.Binary, {law}", "is not read")
            for law in ("a." * 900 + "b", "a" + "()" * 450, "ND.DiscreteGaussian(2**130000)")
        ),
        ("64, 7 % 3, ND.Binary, ND.Binary", "% is not read"),
        ("64, next_prime(90), ND.Binary, ND.Binary", "next_prime(90) is not read"),
        ("64, 97, ND.Binary, D(σ=3.00)", "Xe=D(σ=3.0) is not read"),
        ("64, 97, np.Binary, ND.Binary", "Xs=np.Binary is not read"),
        ("0, 97, ND.Binary, ND.Binary", "n=0 given"),
    ],
)
def test_anything_else_is_refused_in_one_line(code, said):
    with pytest.raises(UsageError) as refused:
        resolve_instance(f"LWE.Parameters({code})")
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
