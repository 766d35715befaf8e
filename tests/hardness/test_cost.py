import cmath
import itertools
import json
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.lower import Estimates, estimate
from hardness.lower.cost.arora_ge import monomials
from hardness.lower.cost.attacks import ATTACKS
from hardness.lower.cost.bkw import costs
from hardness.lower.cost.meet_in_the_middle import halves
from hardness.lower.cost.primal import Embedding, embedding, log_delta
from hardness.lower.cost.problem import problem
from hardness.lower.cost.restricted_elimination import SPARE, best_size, trials_bits
from hardness.report.cost import estimate_words
from hardness.upper.attack import needed
from instances import ToolkitError, UsageError, parse
from instances.catalog import CATALOG, published_samples
from instances.independence import chi_square

PRIMAL = "primal-usvp"
NAMED = sorted(n for n, e in CATALOG.items() if e.source)


def named(name):
    return estimate(parse(name), published_samples(name))


# ---- published values


@pytest.mark.parametrize(
    ("spec", "samples", "beta", "d"),
    [  # lattice-estimator, commit 27a581bb of June 2026: LWE.estimate.rough, usvp
        ("ml-kem-512", 512, 406, 998),
        ("ml-kem-768", 768, 624, 1427),
        ("lightsaber", 512, 405, 1011),
        ("saber", 768, 649, 1496),
        ("frodokem-640", 656, 486, 1285),
        ("lwe:n=45,q=2027,alpha=0.015", 2025, 89, 181),
        ("lwe:n=50,q=2503,alpha=0.015", 2500, 107, 199),
        ("lwe:n=55,q=3037,alpha=0.02", 3025, 151, 238),
        ("lwe:n=60,q=3607,alpha=0.015", 3600, 143, 245),
        ("lwe:n=80,q=6421,alpha=0.015", 6400, 219, 330),
        ("lwe:n=256,q=3329,sigma=3,secret=binary,h=8", 1024, 127, 390),
        ("lwe:n=256,q=8209,sigma=3,secret=binary,h=8", 1024, 110, 394),
        ("lwe:n=512,q=4096,sigma=3,secret=ternary,h=11", 1024, 299, 736),
        ("lwe:n=1024,q=536870912,sigma=3,secret=ternary,h=12", 2048, 266, 1731),
        ("lwe:n=160,q=12289,sigma=3.2,secret=ternary", 640, 65, 321),
        ("lwe:n=256,q=7681,sigma=3.2,secret=ternary", 1024, 157, 493),
        ("lwe:n=256,q=7681,sigma=3.2", 1024, 197, 586),
    ],
)
def test_block_sizes_are_those_of_the_lattice_estimator(spec, samples, beta, d):
    found = estimate(parse(spec), samples)[PRIMAL]
    assert found.beta == beta
    assert abs(found.d - d) <= 1


def least_block(n, q, error, secret, limit):
    """By trying every block size, every m, every count of secrets kept and many scalings."""
    m = np.arange(1, limit + 1)[:, None]
    kept = np.arange(n + 1)[None, :]
    d = m + n + 1
    allowed = m + n - kept <= limit
    for beta in range(50, n + limit + 2):
        best = -math.inf
        for nu, last in itertools.product(error / secret * SCALINGS, error * SCALINGS):
            volume = (m * math.log(q) + kept * math.log(nu) + math.log(last)) / d
            errors = d - 1 - kept
            length = np.sqrt((errors * error**2 + kept * (nu * secret) ** 2 + last**2) / d)
            margin = (2 * beta - d - 1) * log_delta(beta) + volume - np.log(length)
            best = max(best, margin[allowed & (d >= beta)].max(initial=-math.inf))
        if best >= math.log(beta) / 2:
            return beta
    return None


SCALINGS = np.array([0.5, 1 / 1.1, 1, 1.1, 2])


@pytest.mark.parametrize(
    ("spec", "samples"),
    [
        ("lwr:n=24,q=4096,p=8", 400),
        ("lwr:n=32,q=1024,p=16", 85),
        ("lwr:n=40,q=1024,p=16", 300),
        ("lwr:n=64,q=1024,p=8,secret=binary", 150),
        ("lwr:n=64,q=4096,p=32", 160),
        ("lwr:n=48,q=4096,p=16", 150),
        ("lwe:n=32,q=257,sigma=6", 80),
        ("lwe:n=50,q=2503,alpha=0.01", 130),
        ("lwe:n=60,q=3607,sigma=9,secret=gaussian,spread=12", 90),
        ("lwe:n=60,q=3607,sigma=9,secret=gaussian,spread=20", 100),
        ("lwe:n=60,q=3607,alpha=0.015,secret=ternary", 200),
    ],
)
def test_block_sizes_are_the_least_of_all_lattices(spec, samples):
    read = problem(parse(spec), samples)
    found = estimate(parse(spec), samples)[PRIMAL]
    least = least_block(read.n, read.q, read.errors.deviation, read.secret_deviation, samples)
    assert found.beta == least, found


@pytest.mark.parametrize(
    ("name", "classical", "quantum"),
    [
        ("ml-kem-512", 118, 107),  # Kyber, round 3, table 4
        ("ml-kem-768", 183, 166),
        ("ml-kem-1024", 256, 232),
        ("lightsaber", 118, 107),  # Saber, round 3, and the authors' page
        ("saber", 189, 172),
        ("firesaber", 260, 236),
    ],
)
def test_bits_are_the_published_ones(name, classical, quantum):
    found = named(name)[PRIMAL]
    assert abs(found.bits - classical) <= 1
    assert abs(found.quantum_bits - quantum) <= 1


@pytest.mark.parametrize(
    ("name", "classical", "quantum"),
    [  # FrodoKEM, proposal for standardisation, table A.7, primal
        ("frodokem-640", 150.8, 137.6),
        ("frodokem-976", 216.0, 196.7),
        ("frodokem-1344", 281.6, 256.3),
    ],
)
def test_frodo_in_its_own_convention(name, classical, quantum):
    beta = named(name)[PRIMAL].beta  # it counts beta calls, and more digits of the exponents
    assert math.log2(beta) + beta * math.log2(3 / 2) / 2 == pytest.approx(classical, abs=0.5)
    assert math.log2(beta) + beta * math.log2(13 / 9) / 2 == pytest.approx(quantum, abs=0.5)


# ---- the primal attack by other ways


def test_the_inequality_on_a_grid_in_long_arithmetic():
    mpmath.mp.dps = 40
    q, n, sigma = mpmath.mpf(3329), 512, mpmath.sqrt(mpmath.mpf(3) / 2)

    def succeeds(beta, m):
        b, d = mpmath.mpf(beta), m + n + 1
        delta = ((mpmath.pi * b) ** (1 / b) * b / (2 * mpmath.pi * mpmath.e)) ** (1 / (2 * (b - 1)))
        volume = (mpmath.mpf(q) ** m * sigma) ** (mpmath.mpf(1) / d)
        return mpmath.sqrt(b) * sigma <= delta ** (2 * beta - d - 1) * volume

    found = named("ml-kem-512")[PRIMAL]
    assert not any(succeeds(found.beta - 1, m) for m in range(1, 513))
    assert next(m for m in range(1, 513) if succeeds(found.beta, m)) == found.m


lattices = st.builds(
    Embedding,
    n=st.integers(2, 120),
    q=st.sampled_from([64, 251, 3329, 1 << 20]),
    error=st.floats(0.3, 40),
    scale=st.floats(0.02, 40),
    limit=st.integers(1, 300),
)


@settings(deadline=None, max_examples=60)
@given(lattices, st.integers(50, 200))
def test_the_best_number_of_samples_is_the_best(lattice, beta):
    allowed = [m for m in range(1, lattice.limit + 1) if m + lattice.n + 1 >= beta]
    best = max((lattice.margin(beta, m) for m in allowed), default=None)
    m = lattice.samples(beta)
    assert (m is None) == (best is None)
    assert m is None or lattice.margin(beta, m) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=60)
@given(lattices)
def test_the_least_block_and_the_fewest_samples_are_the_least(lattice):
    every = range(49, lattice.n + 2 + lattice.limit)
    least = next((beta for beta in every if lattice.succeeds(beta)), None)
    assert lattice.block() == least
    if least is not None:
        low = max(1, least - lattice.n - 1)
        assert lattice.fewest(least) == next(
            m for m in range(low, lattice.limit + 1) if lattice.margin(least, m) >= 0
        )


def test_larger_blocks_may_fail_where_smaller_ones_succeed():
    # blocks of 88 and more need a lattice of 88 dimensions, of which 85 samples leave too little
    lattice = embedding(problem(parse("lwr:n=32,q=1024,p=16"), 85))
    assert [beta for beta in range(49, 119) if lattice.succeeds(beta)] == [86, 87]
    assert lattice.block() == 86


def rank(**given):
    found = estimate(parse("lwe:" + ",".join(f"{k}={v}" for k, v in given.items())))[PRIMAL]
    return found.rank if found.applies else math.inf


@settings(deadline=None, max_examples=40)
@given(
    st.integers(10, 900),
    st.integers(1, 200),
    st.fractions(Fraction(1, 2), 20, max_denominator=8),
    st.fractions(Fraction(1, 8), 4, max_denominator=8),
    st.sampled_from(["uniform", "binary", "ternary"]),
)
def test_the_primal_attack_is_harder_at_larger_n_and_sigma(n, more, sigma, wider, secret):
    here = rank(n=n, q=3329, sigma=sigma, secret=secret)
    assert rank(n=n + more, q=3329, sigma=sigma, secret=secret) >= here
    assert rank(n=n, q=3329, sigma=sigma + wider, secret=secret) >= here


def test_fewer_samples_never_help():
    family = parse("ml-kem-512")
    ranks = [estimate(family, m)[PRIMAL] for m in (300, 400, 486, 512, 10_000, None)]
    betas = [e.beta for e in ranks]
    assert betas == sorted(betas, reverse=True)
    assert betas[0] > betas[2] == betas[-1]


def test_a_uniform_secret_goes_to_normal_form():
    # n samples are spent, and the secret is distributed as the error afterwards
    whole = estimate(parse("lwe:n=60,q=3607,alpha=0.02"))[PRIMAL]
    small = estimate(parse("lwe:n=60,q=3607,alpha=0.02,secret=gaussian,spread=72.14"))[PRIMAL]
    assert (small.beta, small.d) == (whole.beta, whole.d)
    assert whole.samples == small.samples + 60


def test_below_fifty_nothing_is_claimed():
    found = named("darmstadt-40-005")
    primal = found[PRIMAL]
    assert primal.applies
    assert (primal.beta, primal.bits, primal.quantum_bits) == (None, None, None)
    assert "too small" in primal.note
    assert found.least == primal
    assert "below 50" in estimate_words(found)


def test_errors_that_are_too_wide_are_no_target():
    found = estimate(parse("lwe:n=20,q=17,sigma=10"))[PRIMAL]
    assert "too wide" in found.reason
    assert "leave several secrets" in estimate(parse("ml-kem-512"), 5)[PRIMAL].reason


# ---- counts by brute force


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
    entries = found.secrets.entries
    values = entries.values if entries else range(found.q)
    h = found.secrets.h
    secrets = [
        s
        for s in itertools.product(values, repeat=found.n)
        if (not h or sum(map(bool, s)) == h) and any(math.gcd(v, found.q) == 1 for v in s)
    ]
    assert 2 ** estimate(family)["brute-force"].bits == pytest.approx(len(secrets))
    spread = np.array(secrets, float)
    if not h and entries:  # the sample leaves out secrets without a unit
        spread = np.array(list(itertools.product(values, repeat=found.n)), float)
    if entries:
        assert found.secret_deviation == pytest.approx(spread.std())


@pytest.mark.parametrize(("n", "h", "alphabet"), [(6, 3, 1), (7, 2, 2), (5, 0, 2), (4, 0, 1)])
def test_halves_by_enumeration(n, h, alphabet):
    left, right, tries = halves(n, h, alphabet)
    values = range(alphabet + 1)
    weight = lambda s: sum(map(bool, s))  # noqa: E731
    first = [s for s in itertools.product(values, repeat=n // 2) if not h or weight(s) == h // 2]
    second = [
        s for s in itertools.product(values, repeat=n - n // 2) if not h or weight(s) == h - h // 2
    ]
    assert (left, right) == (len(first), len(second))
    if h:
        splits = list(itertools.combinations(range(n), n // 2))
        good = sum(len(set(split) & set(range(h))) == h // 2 for split in splits)
        assert tries == Fraction(len(splits), good)


@pytest.mark.parametrize(("n", "degree"), [(3, 2), (4, 3), (2, 5), (5, 1)])
def test_monomials_by_enumeration(n, degree):
    powers = list(itertools.product(range(degree + 1), repeat=n))
    assert monomials(n, degree) == sum(1 <= sum(p) <= degree for p in powers)
    assert monomials(n, degree, binary=True) == sum(
        1 <= sum(p) <= degree and max(p) <= 1 for p in powers
    )


def test_trials_by_enumeration_and_the_best_size_by_search():
    n, h, k, rate = 8, 2, 5, 0.25
    hit = sum(set(range(h)) <= set(c) for c in itertools.combinations(range(n), k))
    chance = hit / math.comb(n, k) * (1 - rate) ** (k + SPARE)
    assert trials_bits(n, h, k, rate) == pytest.approx(-math.log2(chance))
    for n, h, rate in (
        (64, 5, 0.1),
        (100, 4, 0.1),
        (200, 8, 0.02),
        (1000, 10, 0.005),
        (12, 1, 0.3),
    ):
        work = {k: trials_bits(n, h, k, rate) + 3 * math.log2(k) for k in range(h, n + 1)}
        assert best_size(n, h, rate) == min(work, key=work.get)
    assert best_size(1000, 10, 0.005) in range(900, 1001)  # h/-ln(1 - rate) is beyond n
    assert best_size(40, 0, 0.1) == 40


def test_bkw_adds_up_by_hand():
    # n = 6, q = 2, blocks of 2: two tables of 4 samples of 7 bits, the second's pass the first
    bits, samples, stored = costs(6, 2, math.log(0.9), 2)
    fresh = 8 * math.log(4 / 0.01) / 0.9 ** (2 * 4)
    assert 2**samples == pytest.approx(2 * 4 + fresh)
    assert 2**stored == pytest.approx(2 * 4 + 4)
    assert 2**bits == pytest.approx(4 * 1 * 7 + fresh * 2 * 7 + 4 * 2)


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=4,q=17,sigma=1",
        "lwe:n=4,q=31,error=uniform,width=4",
        "lwe:n=4,q=64,error=cbd,eta=2",
        "lwe:n=4,q=3329,sigma=0.8",
        "lwr:n=4,q=64,p=4",
        "lwr:n=4,q=8,p=2",
        "lpn:n=4,noise=0.1",
        "window:n=4,q=16,parts=4",
    ],
)
def test_bias_and_information_by_sums_over_all_residues(spec):
    family = parse(spec)
    found = problem(family)
    assert found.information == pytest.approx(family.information)
    if spec.startswith(("lwr", "window")):
        chances = np.zeros(found.q)
        chances[: found.errors.values] = 1 / found.errors.values
    else:
        chances = family.chances
    waves = (c * cmath.exp(2j * math.pi * v / found.q) for v, c in enumerate(chances))
    assert math.exp(found.errors.log_bias) == pytest.approx(abs(sum(waves)))
    assert found.errors.values == (chances > 0).sum()


# ---- which attacks apply


@pytest.mark.parametrize(
    ("spec", "applied"),
    [
        ("parity:d=20,m=3", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("parity:d=20,m=3,noise=0.1", {"brute-force", "bkw", "restricted-elimination"}),
        ("lpn:n=20,noise=0.1", {"brute-force", "bkw", "restricted-elimination"}),
        ("lpn:n=20,noise=0", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("lwr:n=20,q=64,p=2", {"brute-force", "bkw", PRIMAL}),
        ("lwr:n=20,q=64,p=8", {"brute-force", "bkw", "meet-in-the-middle", PRIMAL}),
        ("lwr:n=20,q=17,p=17", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        (
            "lwe:n=60,q=101,sigma=1",
            {"arora-ge", "brute-force", "bkw", "meet-in-the-middle", PRIMAL},
        ),
        ("lwe:n=60,q=128,sigma=1", {"brute-force", "bkw", "meet-in-the-middle", PRIMAL}),
        ("lwe:n=20,q=101,error=none", {"brute-force", "linear-algebra", "meet-in-the-middle"}),
        ("window:n=60,q=64,parts=8", {"brute-force", "bkw", "meet-in-the-middle", PRIMAL}),
    ],
)
def test_attacks_apply_where_they_should(spec, applied):
    found = estimate(parse(spec))
    assert {e.name for e in found.estimates if e.applies} == applied
    assert found.least.name in applied
    assert all(e.rank >= found.least.rank for e in found.estimates if e.applies)
    assert all(e.bits is None and e.beta is None for e in found.estimates if not e.applies)
    if "linear-algebra" in applied and parse(spec).size > 1 << 20:
        assert found.least.name == "linear-algebra"


def test_few_samples_rule_attacks_out():
    found = named("ml-kem-512")
    for name in ("bkw", "arora-ge"):
        assert found[name].reason.startswith("needs 2^")
    free = estimate(parse("ml-kem-512"))
    assert free["bkw"].applies
    assert free["arora-ge"].applies
    exact = estimate(parse("lwe:n=40,q=1601,error=uniform,width=2"), 860)
    assert exact["arora-ge"].applies
    less = estimate(parse("lwe:n=40,q=1601,error=uniform,width=2"), 859)
    assert less["arora-ge"].reason == "needs 860 samples, 859 are given out"


def test_a_window_needs_more_labels_for_the_same_lattice():
    window = estimate(parse("window:n=90,q=256,parts=16"))[PRIMAL]
    rounding = estimate(parse("lwr:n=90,q=256,p=16"))[PRIMAL]
    assert (window.beta, window.m) == (rounding.beta, rounding.m)
    assert window.samples == 16 * rounding.samples


def test_statistical_queries_stand_apart():
    found = estimate(parse("parity:d=64,m=5,noise=0.1"))
    assert {c.quantity for c in found.queries} == {"sq-dimension", "stat-queries"}
    assert "statistical-queries" not in {e.name for e in found.estimates}
    assert not found.no_queries
    text = estimate_words(found)
    assert "sq-dimension = 7028847" in text
    assert "averaged over all secrets" in " ".join(text.split())
    without = estimate(parse("window:n=20,q=64,parts=8"))
    assert bool(without.queries) != bool(without.no_queries)


@pytest.mark.parametrize(
    ("spec", "rule", "part"),
    [
        ("lwe:n=8,q=17,sigma=1", "different mod 17", False),
        ("lwr:n=16,q=64,p=4", "no multiples by a unit mod 32", True),
        ("lwr:n=64,q=256,p=2,secret=binary,h=6", "no multiples by a unit mod 256", False),
    ],
)
def test_what_binds_queries_says_over_which_secrets_it_is_averaged(spec, rule, part):
    found = estimate(parse(spec))
    assert f"are {rule}," in found.average
    assert ("not over all that the family draws" in found.average) is part
    assert found.average in " ".join(estimate_words(found).split())
    assert found.to_dict()["statistical_queries"]["average"] == found.average


# ---- records and words


@pytest.mark.parametrize("name", NAMED)
def test_named_sets_have_sources_estimates_and_words(name):
    found = named(name)
    assert isinstance(found, Estimates)
    body = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert set(body) == {"spec", "samples", "estimates", "least", "statistical_queries"}
    assert len(body["estimates"]) == len(ATTACKS)
    assert body["least"] in body["estimates"]
    for estimated in body["estimates"].values():
        assert {"bits", "beta", "d", "m", "samples", "memory_bits", "kind"} <= set(estimated)
        assert estimated["applies"] == (estimated["reason"] == "")
        assert estimated["bits"] is None or estimated["bits"] >= 0
    lines = estimate_words(found).splitlines()
    assert all(len(line) <= 100 for line in lines[1:])  # the spec is as long as it is
    assert f"least: {found.least.name}" in "\n".join(lines)


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["lwe", "lwr"]),
    st.sampled_from([1, 2, 3, 40, 65536]),
    st.sampled_from([2, 3, 4, 251, 1 << 16, 1 << 48]),
    st.sampled_from(["binary", "ternary", "uniform"]),
    st.sampled_from([0, 1]),
)
def test_parameters_at_the_ends_of_their_ranges_give_finite_numbers(kind, n, q, secret, h):
    rest = "sigma=1" if kind == "lwe" else f"p={2 if q % 2 == 0 else q}"
    try:
        family = parse(f"{kind}:n={n},q={q},secret={secret},h={h},{rest}")
    except ToolkitError:
        return
    found = estimate(family)
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.least
    assert estimate_words(found)


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=3,q=5,sigma=3.5",
        "lwe:n=3,q=4,sigma=3",
        "lwe:n=3,q=2,sigma=1.5",
        "lpn:n=5,noise=0.4999999",
    ],
)
def test_information_keeps_its_digits_near_uniform_errors(spec):
    """It is near half of chi^2 there, which is exact."""
    family = parse(spec)
    half = float(chi_square(family)) / (2 * math.log(2))
    assert half < 1e-6
    assert family.information == pytest.approx(half, rel=1e-3, abs=0)
    assert problem(family).information == pytest.approx(half, rel=1e-3, abs=0)


@pytest.mark.parametrize("errors", ["q=5,sigma=9", "q=2,error=cbd,eta=9"])
def test_labels_that_tell_nothing_are_refused(errors):
    family = parse(f"lwe:n=3,secret=binary,{errors}")
    for count in (estimate, needed):
        with pytest.raises(UsageError, match="labels do not depend on the secret"):
            count(family)


def test_too_few_labels_for_one_sample():
    found = estimate(parse("window:n=1,q=16,parts=8,secret=binary"), samples=5)["primal-usvp"]
    assert "one label in 8" in found.reason


def exact_bias(values, weights, q):
    """ln |E exp(2 pi i e/q)|, to 60 digits."""
    with mpmath.workdps(60):
        pairs = zip(values, weights, strict=True)
        turns = (w * mpmath.expjpi(mpmath.mpf(2 * v) / q) for v, w in pairs)
        return float(mpmath.log(abs(mpmath.fsum(turns))))


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=4,q=64,sigma=0.2",
        "lwe:n=4,q=65537,sigma=3",
        "lwe:n=4,q=1048576,error=uniform,width=2",
        "lwe:n=4,q=1048576,error=uniform,width=64",
        "lwe:n=4,q=31,sigma=7",
        "lwe:n=4,q=29,error=cbd,eta=20",
    ],
)
def test_the_bias_keeps_its_digits_near_no_error(spec):
    family = parse(spec)
    weights = [mpmath.mpf(c) / 2**64 for c in family.errors.counts]
    expected = exact_bias(family.errors.values, weights, family.q)
    assert problem(family).errors.log_bias == pytest.approx(expected, rel=1e-9, abs=0)


@pytest.mark.parametrize("width", [2, 64, 1 << 20])
def test_the_bias_of_rounding_to_many_parts(width):
    """sin(pi w/q)/(w sin(pi/q)), where float64 has no digits of 1 less it left."""
    q = 1 << 44
    found = problem(parse(f"lwr:n=4,q={q},p={q // width}"))
    with mpmath.workdps(60):
        turn = mpmath.pi / q
        expected = float(mpmath.log(mpmath.sin(width * turn) / (width * mpmath.sin(turn))))
    assert found.errors.log_bias == pytest.approx(expected, rel=1e-9, abs=0)


def test_restricted_elimination_needs_its_equations_and_those_that_check():
    read = problem(parse("parity:d=50,m=3,noise=0.1"))
    found = estimate(parse("parity:d=50,m=3,noise=0.1"))["restricted-elimination"]
    assert found.samples == found.d + SPARE + read.unique
    clean = estimate(parse("parity:d=50,m=3"))["restricted-elimination"]
    assert clean.reason.startswith("no noise")
    odd = estimate(parse("lwe:n=4,q=17,error=none"))["restricted-elimination"]
    assert odd.reason == "q is not 2"


def test_bkw_takes_the_best_of_all_block_sizes():
    for spec in ("lpn:n=40,noise=0.2", "lwe:n=12,q=31,sigma=1"):
        family = parse(spec)
        read, found = problem(family), estimate(family)["bkw"]
        bits = [
            costs(family.n, family.q, read.errors.log_bias, b)[0] for b in range(1, family.n + 1)
        ]
        assert found.bits == pytest.approx(min(bits))


@pytest.mark.parametrize("error", ["none", "uniform,width=2"])
def test_meet_in_the_middle_counts_both_tables_and_keeps_the_smaller(error):
    found = estimate(parse(f"lwe:n=9,q=61,error={error},secret=ternary,h=3"))["meet-in-the-middle"]
    left, right = 4 * 2, math.comb(5, 2) * 4
    splits = math.comb(9, 3) / (4 * math.comb(5, 2))
    assert found.bits == pytest.approx(math.log2((left + right) * splits))
    assert found.memory_bits == math.log2(left)
    assert ("lookups are not counted" in found.note) == (error != "none")


def test_arora_ge_stores_a_matrix_of_its_monomials():
    found = estimate(parse("lwe:n=9,q=61,error=uniform,width=3"))["arora-ge"]
    assert found.memory_bits == found.bits == pytest.approx(2 * math.log2(monomials(9, 3)))
    assert found.samples == monomials(9, 3)


def test_arora_ge_counts_monomials_of_a_large_degree_by_logarithms():
    found = estimate(parse("lwe:n=5,q=65537,error=uniform,width=5000"))["arora-ge"]
    assert found.bits == pytest.approx(2 * math.log2(math.comb(5005, 5)))
    bits = estimate(parse("lwe:n=5,q=65537,error=uniform,width=5000,secret=binary"))["arora-ge"]
    assert bits.bits == pytest.approx(10)


def test_a_lattice_too_small_for_the_model_ranks_where_the_model_ends():
    easy = estimate(parse("lwe:n=6,q=31,sigma=1,secret=binary"))
    assert easy[PRIMAL].bits is None
    assert easy[PRIMAL].rank == pytest.approx(0.292 * 50)
    assert easy.least.name == "meet-in-the-middle"
    assert easy.least.bits < 14.6
    hard = estimate(parse("lwe:n=20,q=521,sigma=1.5"))
    assert hard[PRIMAL].bits is None
    assert hard.least.name == PRIMAL
    assert all(e.bits > 14.6 for e in hard.estimates if e.applies and e.name != PRIMAL)


def test_the_samples_at_hand_are_enough_for_who_needs_as_many():
    family = parse("lwe:n=9,q=61,error=none")
    assert estimate(family, samples=9)["linear-algebra"].applies
    assert not estimate(family, samples=8)["linear-algebra"].applies
    assert estimate(family, samples=1).least is None
    with pytest.raises(UsageError, match="samples=0 given: at least 1"):
        estimate(family, samples=0)


def test_the_table_for_a_paper_names_the_set_and_has_no_sentences():
    from instances.export import text

    lines = text("latex", estimate(parse("ml-kem-512"), 512)).splitlines()
    assert r"\begin{tabular}{llrrrrrrl}" in lines
    rows = [line.split(" & ") for line in lines if line.startswith("ml-kem-512")]
    assert next(row[1:3] for row in rows) == ["primal-usvp", "118.6"]
    assert [float(row[2]) for row in rows] == sorted(float(row[2]) for row in rows)
    assert "no estimate" not in "".join(lines)
    small = text("latex", estimate(parse("lwe:n=30,q=521,sigma=1.5,secret=binary")))
    assert "$2^{20.9}$" in small
    assert r"\textless{}50" in small
