"""The primal attack: published figures, its least cost by trying everything, and what must hold."""

import csv
import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from hardness.cost.given import given as described
from hardness.cost.problem import problem, read
from hardness.cost.reduction import (
    DEFAULT,
    MATZOV,
    MODELS,
    ROUGH,
    Lattice,
    Setting,
    log_delta,
    log_norm,
)
from hardness.cost.usvp import Embedding, embedding, usvp
from instances import parse


def named(name, setting=ROUGH):
    return usvp(described(name).problem, setting)


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
    found = usvp(problem(parse(spec), samples), ROUGH)
    assert found.beta == beta
    assert abs(found.d - d) <= 1


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
    assert abs(named(name).rop - classical) <= 1
    assert abs(named(name, Setting(model=MODELS["adps16-quantum"])).rop - quantum) <= 1


@pytest.mark.parametrize(
    ("name", "classical", "quantum"),
    [  # FrodoKEM, proposal for standardisation, table A.7, primal
        ("frodokem-640", 150.8, 137.6),
        ("frodokem-976", 216.0, 196.7),
        ("frodokem-1344", 281.6, 256.3),
    ],
)
def test_frodo_in_its_own_convention(name, classical, quantum):
    beta = named(name).beta  # it counts beta calls, and more digits of the exponents
    assert math.log2(beta) + beta * math.log2(3 / 2) / 2 == pytest.approx(classical, abs=0.5)
    assert math.log2(beta) + beta * math.log2(13 / 9) / 2 == pytest.approx(quantum, abs=0.5)


# ---- by other ways

SCALINGS = np.array([0.5, 1 / 1.1, 1, 1.1, 2])


def least_block(n, q, error, secret, limit):
    """By trying every block size, every m, every count of secrets kept and many scalings."""
    m = np.arange(1, limit + 1)[:, None]
    kept = np.arange(n + 1)[None, :]
    d = m + n + 1
    allowed = m + n - kept <= limit
    for beta in range(2, n + limit + 2):
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
        ("lwe:n=20,q=1021,sigma=4", 60),
        ("lwe:n=50,q=2503,alpha=0.01", 130),
        ("lwe:n=60,q=3607,sigma=9,secret=gaussian,spread=12", 90),
        ("lwe:n=60,q=3607,sigma=9,secret=gaussian,spread=20", 100),
        ("lwe:n=60,q=3607,alpha=0.015,secret=ternary", 200),
    ],
)
def test_block_sizes_are_the_least_of_all_lattices(spec, samples):
    given = problem(parse(spec), samples)
    least = least_block(
        given.n, given.q, given.error.deviation, given.secret.deviation, given.samples
    )
    assert embedding(given).block() == least


def test_the_inequality_on_a_grid_in_long_arithmetic():
    mpmath.mp.dps = 40
    q, n, sigma = mpmath.mpf(3329), 512, mpmath.sqrt(mpmath.mpf(3) / 2)

    def succeeds(beta, m):
        b, d = mpmath.mpf(beta), m + n + 1
        delta = ((mpmath.pi * b) ** (1 / b) * b / (2 * mpmath.pi * mpmath.e)) ** (1 / (2 * (b - 1)))
        volume = (mpmath.mpf(q) ** m * sigma) ** (mpmath.mpf(1) / d)
        return mpmath.sqrt(b) * sigma <= delta ** (2 * beta - d - 1) * volume

    found = named("ml-kem-512")
    assert not any(succeeds(found.beta - 1, m) for m in range(1, 513))
    assert next(m for m in range(1, 513) if succeeds(found.beta, m)) == found.m


def lattices(*shapes):
    return st.builds(
        Embedding,
        n=st.integers(2, 120),
        ln_q=st.sampled_from([64, 251, 3329, 1 << 20]).map(math.log),
        ln_error=st.floats(-1.2, 3.7),
        ln_scale=st.floats(-3.9, 3.7),
        limit=st.integers(1, 300),
        shape=st.sampled_from(shapes),
    )


@settings(deadline=None, max_examples=60)
@given(lattices("gsa"), st.integers(2, 200))
def test_the_best_number_of_samples_is_the_best(lattice, beta):
    allowed = np.arange(max(1, beta - lattice.n - 1), lattice.limit + 1)
    best = lattice.margin(beta, allowed).max(initial=-math.inf)
    m = int(lattice.top(beta))
    assert (m < 0) == (best == -math.inf)
    assert m < 0 or lattice.margin(beta, m) == pytest.approx(best, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(lattices("gsa", "lgsa", "zgsa"))
def test_the_least_block_and_the_fewest_samples_are_the_least(lattice):
    m = np.arange(1, lattice.limit + 1)
    for beta in range(2, lattice.n + 2 + lattice.limit):
        succeed = (m + lattice.n + 1 >= beta) & (lattice.margin(beta, m) >= 0)
        if succeed.any():
            assert lattice.block() == beta
            assert lattice.fewest(beta) == m[np.argmax(succeed)]
            return
    assert lattice.block() is None


@pytest.mark.parametrize("name", MODELS)
def test_the_cost_is_the_least_of_all_block_sizes_and_samples(name):
    rng, model = np.random.default_rng(28), MODELS[name]
    for _ in range(15):
        n, limit = int(rng.integers(10, 130)), int(rng.integers(60, 260))
        given = read(
            f"lwe:n={n},q={rng.choice([257, 3329, 65537])},sigma={rng.uniform(0.5, 8):.3f},"
            f"secret={rng.choice(['binary', 'ternary', 'uniform'])}",
            samples=limit,
        )
        found = usvp(given, Setting(model=model))
        lattice = embedding(given)
        m, beta = np.arange(1, limit + 1)[:, None], np.arange(2, n + limit + 2)[None, :]
        able = (m + n + 1 >= beta) & (lattice.margin(beta, m) >= 0)
        costs = np.where(able, model.cost(beta, m + n + 1), math.inf)
        if found.applies:
            assert found.rop == pytest.approx(costs.min(), abs=1e-9)
            assert able[found.m - 1, found.beta - 2]
        else:
            assert not able.any() or "secrets" in found.reason


def test_a_larger_block_is_taken_where_it_costs_less():
    # the fit for large blocks is below the other one from 91 on
    given = read("lwe:n=155,q=3329,sigma=3,secret=ternary")
    least = usvp(given, ROUGH).beta
    assert 70 < least < 91
    assert usvp(given, Setting(model=MODELS["bdgl16"])).beta == 91


def test_larger_blocks_may_fail_where_smaller_ones_succeed():
    # blocks of 88 and more need a lattice of 88 dimensions, of which 85 samples leave too little
    lattice = embedding(problem(parse("lwr:n=32,q=1024,p=16"), 85))
    assert [beta for beta in range(49, 119) if lattice.succeeds(beta)] == [86, 87]
    assert lattice.block() == 86


# ---- shapes


@pytest.mark.parametrize("shape", ["gsa", "lgsa", "zgsa"])
@pytest.mark.parametrize(
    ("beta", "m", "tail", "ln_tail"),
    [(60, 400, 200, 0.0), (60, 90, 300, 0.7), (300, 900, 700, -1.0), (2, 30, 40, 0.0)],
)
def test_profiles_keep_the_volume_and_fall(shape, beta, m, tail, ln_tail):
    lattice = Lattice(m=m, tail=tail, ln_q=math.log(3329), ln_tail=ln_tail)
    profile = log_norm(shape, lattice, beta, np.arange(m + tail))[::-1]
    assert profile.sum() == pytest.approx(float(lattice.ln_volume), rel=1e-9)
    assert (np.diff(profile) <= 1e-12).all()
    slope = 2 * float(log_delta(beta))
    assert np.diff(profile).min() >= -slope - 1e-9
    low = ln_tail if shape == "zgsa" else -math.inf
    high = math.log(3329) if shape != "gsa" else math.inf
    assert profile.min() >= low - 1e-12
    assert profile.max() <= high + 1e-12
    last = brentq(
        lambda e: np.clip(e + slope * np.arange(m + tail), low, high).sum() - lattice.ln_volume,
        -slope * 2000 - 20,
        20,
    )
    expected = np.clip(last + slope * np.arange(m + tail), low, high)[::-1]
    assert profile == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["ml-kem-512", "darmstadt-50-015", "frodokem-640"])
def test_a_head_that_stays_changes_nothing_and_a_tail_that_stays_costs(name):
    line, head, both = (
        named(name, Setting(model=MATZOV, shape=s)) for s in ("gsa", "lgsa", "zgsa")
    )
    assert (line.beta, line.d) == (head.beta, head.d)
    assert line.beta <= both.beta <= line.beta + 5


def test_simulated_bases_need_somewhat_larger_blocks():
    line, settled = (
        named("ml-kem-512", DEFAULT),
        named("ml-kem-512", Setting(model=MATZOV, shape="cn11")),
    )
    # [Kyber21], section 5.2, has 413 by simulation, where luck with the projection counts too
    assert line.beta < 413 <= settled.beta <= 420
    lattice = embedding(problem(parse("ml-kem-512"), 512), "cn11")
    assert [lattice.succeeds(beta) for beta in range(settled.beta - 12, settled.beta + 12)] == (
        [False] * 12 + [True] * 12
    )


# ---- what must hold


def rank(setting=ROUGH, **given):
    found = usvp(read("lwe:" + ",".join(f"{k}={v}" for k, v in given.items())), setting)
    return found.rank if found.applies else math.inf


@settings(deadline=None, max_examples=40)
@given(
    st.integers(10, 900),
    st.integers(1, 200),
    st.fractions(Fraction(1, 2), 20, max_denominator=8),
    st.fractions(Fraction(1, 8), 4, max_denominator=8),
    st.sampled_from(["uniform", "binary", "ternary"]),
    st.sampled_from([ROUGH, DEFAULT]),
)
def test_the_primal_attack_is_harder_at_larger_n_and_sigma(n, more, sigma, wider, secret, setting):
    sigma, wider = float(sigma), float(wider)
    here = rank(setting, n=n, q=3329, sigma=sigma, secret=secret)
    assert rank(setting, n=n + more, q=3329, sigma=sigma, secret=secret) >= here
    assert rank(setting, n=n, q=3329, sigma=sigma + wider, secret=secret) >= here


def test_a_larger_modulus_never_makes_it_harder():
    # found so by users of lattice-estimator, whose search is local: its issue 142
    costs = [rank(DEFAULT, n=1024, q=f"2^{k}", sigma=3.2, secret="ternary") for k in range(12, 200)]
    assert (np.diff(costs) <= 0).all()


def test_fewer_samples_never_help():
    family = parse("ml-kem-512")
    found = [usvp(problem(family, m), DEFAULT) for m in (300, 400, 486, 512, 10_000, None)]
    costs = [e.rop for e in found]
    assert costs == sorted(costs, reverse=True)
    assert costs[0] > costs[2] == costs[-1]


def test_a_uniform_secret_goes_to_normal_form():
    # n samples are spent, and the secret is distributed as the error afterwards
    given = read("lwe:n=60,q=3607,alpha=0.02", samples=700)
    whole, small = usvp(given, ROUGH), usvp(given.normal(), ROUGH)
    assert (small.beta, small.d) == (whole.beta, whole.d)
    assert whole.samples == small.samples + 60
    unlimited = read("lwe:n=60,q=3607,alpha=0.02")
    assert usvp(unlimited, ROUGH).d == usvp(unlimited.normal(), ROUGH).d == whole.d


def test_moduli_of_hundreds_of_digits():
    # lattice-estimator on HESv2's set of 2^15: block size 325, dimension 63434
    found = usvp(read("lwe:n=32768,q=2^868,sigma=3.19,secret=ternary"), DEFAULT)
    assert abs(found.beta - 325) <= 5
    wide = usvp(read("lwe:n=32768,q=2^5000,sigma=3.19"), DEFAULT)
    assert wide.beta < found.beta


def test_small_block_sizes_are_flagged():
    found = usvp(read("lwe:n=40,q=1601,alpha=0.005", samples=1600), DEFAULT)
    assert 2 <= found.beta < 50
    assert "too small for this model" in found.note


def test_reasons_why_it_does_not_apply():
    assert "too wide" in usvp(read("lwe:n=20,q=17,sigma=10"), ROUGH).reason
    assert "leave several secrets" in usvp(problem(parse("ml-kem-512"), 5), ROUGH).reason
    assert "linear algebra" in usvp(read("lwe:n=20,q=17,error=none"), ROUGH).reason
    few = problem(parse("window:n=1,q=16,parts=8,secret=binary"), 5)
    assert "one label in 8" in usvp(few, ROUGH).reason


def test_a_corrupted_margin_is_seen():
    given = problem(parse("ml-kem-512"), 512)
    wrong = replace(embedding(given), ln_error=embedding(given).ln_error + 0.01)
    assert wrong.block() > embedding(given).block()


# ---- against the public tool, row by row


def rows():
    path = Path(__file__).parents[2] / "data" / "estimator.csv"
    with open(path, encoding="utf-8") as file:
        yield from csv.DictReader(line for line in file if not line.startswith("#"))


PEER = [row for row in rows() if row["attack"] == "usvp" and row["rop"]]


def test_models_cost_what_the_public_tool_says_at_its_own_points():
    off = [
        float(MODELS[row["model"]].cost(int(row["beta"]), int(row["d"]))) - float(row["rop"])
        for row in PEER
    ]
    assert len(off) == 218
    assert np.abs(off).max() < 1e-3


def test_sieves_give_the_public_tools_vectors_at_its_own_points():
    count = 0
    for row in rows():
        if row["attack"] != "dual_hybrid" or not row["red"]:
            continue
        n = int(re.search(r"n=(\d+)", row["spec"])[1]) if "n=" in row["spec"] else None
        if n is None:
            continue
        d = int(row["m"]) + n - int(row["zeta"] or 0) - int(row["t"] or 0)
        found = MODELS[row["model"]].vectors(int(row["beta"]), d, float(row["count"]))
        assert float(found.cost) == pytest.approx(float(row["red"]), abs=1e-3), row
        assert int(found.sieve) == int(row["sieve"])
        count += 1
    assert count > 80


def test_least_costs_are_those_of_the_public_tool():
    # Rows at its clamp (block sizes 40 and 41) left out. What differs: its zgsa falls off a cliff
    # to the tail where samples are few, which saves dimensions; two searches of it end in a local
    # minimum; below 60 the root Hermite factors are others.
    allowed = {("darmstadt-45-0.005", "gsa"), ("darmstadt-80-0.015", "gsa")}
    allowed |= {("uniform-30-521", "gsa"), ("uniform-100-2053", "gsa")}
    different = []
    for row in (row for row in PEER if int(row["beta"]) > 41):
        given = problem_of(row)
        found = usvp(given, Setting(model=MODELS[row["model"]], shape=row["shape"]))
        near = abs(found.beta - int(row["beta"])) <= 1
        if not (near and abs(found.rop - float(row["rop"])) <= 0.5):
            different.append((row["set"], row["shape"]))
            if row["shape"] == "zgsa":
                assert near, row
                assert found.rop > float(row["rop"])
            else:
                assert different[-1] in allowed, (row, found.beta, found.rop)
    assert len(different) <= 13


def problem_of(row):
    samples = int(row["samples"]) if row["samples"] else None
    return (
        problem(parse(row["spec"]), samples)
        if ":" not in row["spec"]
        else read(row["spec"], samples)
    )
