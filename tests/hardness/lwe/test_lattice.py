"""Attacks by lattices: parts of their formulas by enumeration and simulation."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import erf

from hardness.lwe.attacks.bdd import bdd
from hardness.lwe.attacks.dual import dual, dual_guess, dual_hybrid
from hardness.lwe.attacks.usvp import usvp
from hardness.lwe.decoding import Guesses, ln_babai
from hardness.lwe.estimate import LATTICE, estimate_all
from hardness.lwe.laws import cbd, sparse, uniform
from hardness.lwe.models import DEFAULT, MODELS, Setting
from hardness.lwe.parameters import parse_parameters
from hardness.lwe.sets import resolve_instance

MATZOV = MODELS["matzov"]


def test_babai_where_norms_are_cut_off():
    """Coordinates of a tail that is not reduced are right where the secret's entry is 0."""
    low, high, zero = 0.9, 2.5, 0.7
    u = 0.3 + 0.02 * np.arange(10, 200)
    norms = np.exp(np.clip(u, low, high))
    inside = erf(norms / math.sqrt(8))
    wide = erf(norms / math.sqrt(2))
    meeting = wide - math.sqrt(2 / math.pi) / norms * (1 - np.exp(-(norms**2) / 2))
    both = [np.where(u < low, np.minimum(p, zero), p) for p in (inside, meeting)]
    line = tuple(np.array(v) for v in (0.3, low, high))
    places = np.array(10.0), np.array(200.0)
    assert ln_babai(line, np.array(0.02), *places, zero) == pytest.approx(
        [np.log(p).sum() for p in both], rel=1e-5
    )


@pytest.mark.parametrize("name", ["ml-kem-512", "darmstadt-50-015", "frodokem-640"])
def test_a_head_that_stays_changes_nothing_and_a_tail_that_stays_costs(name):
    """Beside `usvp` of lattice-estimator under zgsa, whose block of Kyber512 is 406 too."""
    problem = resolve_instance(name).parameters
    settings = [Setting(model=MATZOV, shape=shape) for shape in ("gsa", "lgsa", "zgsa")]
    line, head, both = (usvp(problem, setting) for setting in settings)
    assert (line.beta, line.d) == (head.beta, head.d)
    assert line.beta <= both.beta <= line.beta + 5
    if name == "ml-kem-512":
        line, head, both = (bdd(problem, setting).rop for setting in settings)
        assert line == pytest.approx(head, abs=0.01)
        assert both == pytest.approx(line, abs=0.1)
    toy = parse_parameters("lwe:n=20,q=97,sigma=1,secret=ternary", samples=60)
    for one in estimate_all(toy, "x", settings[2:], tuple(LATTICE)).estimates:
        assert one.applies != one.name.startswith("dual")


def test_meeting_is_how_often_two_roundings_agree():
    rng = np.random.default_rng(5)
    r = 2.5
    y, x = rng.uniform(0, r, 400_000), rng.normal(size=400_000)
    agree = math.log(np.mean((y + x >= 0) & (y + x < r)))
    line = tuple(np.array(v) for v in (math.log(r), -1e300, 1e300))
    found = ln_babai(line, np.array(0.01), np.array(0.0), np.array(1.0), 0.5)[1]
    assert found == pytest.approx(agree, abs=0.006)


@pytest.mark.parametrize(
    ("law", "shares"),
    [
        (uniform(-1, 1, 97), [1 / 3] * 3),
        (cbd(2, 97), [1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16]),
        (sparse(uniform(-1, 1, 97), 40, 10), [0.125, 0.75, 0.125]),
        (sparse(uniform(0, 1, 97), 40, 4), [0.9, 0.1]),
    ],
)
def test_guesses_are_bounded_as_arikan_has_it(law, shares):
    for entries in (1, 3, 6):
        joint = np.array([math.prod(x) for x in itertools.product(shares, repeat=entries)])
        expected = float(np.sort(joint)[::-1] @ np.arange(1, len(joint) + 1))
        bound = 2 ** (entries * law.guesses)
        assert expected <= bound * (1 + 1e-9)
        assert expected >= bound / (1 + entries * math.log(len(shares)))


@pytest.mark.parametrize("secret", ["ternary,h=3", "binary,h=3", "[-1:1,1:2]", "[-3:1,1:1,2:1]"])
def test_the_rest_of_a_secret_is_as_wide_as_enumeration_has_it(secret):
    """Every secret of weight 3 among 7, with 4 coordinates out of the lattice."""
    one = parse_parameters(f"lwe:n=7,q=97,sigma=1,secret={secret}")
    law, zeta = one.secret, 4
    values = [0, *dict(law.counts)] if law.counts else range(law.low, law.high + 1)
    counts = dict(law.counts)
    secrets = [
        s
        for s in itertools.product(values, repeat=7)
        if np.count_nonzero(s) == 3 and all(s.count(v) == c for v, c in counts.items())
    ]
    guesses = Guesses(one)
    guesses.limit(60.0)
    for low in range(3):
        inside = [s for s in secrets if np.count_nonzero(s[:zeta]) == low]
        space, ln_prob = guesses.sets(np.array([zeta]), np.array([low]))
        assert math.exp(ln_prob[0]) == pytest.approx(
            np.mean([np.count_nonzero(s[:zeta]) <= low for s in secrets])
        )
        free = [  # before what the other coordinates leave is known
            s
            for s in itertools.product(values, repeat=zeta)
            if np.count_nonzero(s) <= low and all(s.count(v) <= c for v, c in counts.items())
        ]
        assert 2 ** space[0] == pytest.approx(len(free))
        deviation = math.exp(law.ln_deviation_without(7, zeta, low))
        assert deviation >= np.std([v for s in inside for v in s[zeta:]]) * (1 - 1e-9)


def test_published_points_of_scored_guesses_cost_no_less_than_the_least():
    """Printed in lattice-estimator's documentation of its `lwe_dual.dual_hybrid`."""
    for secret, beta, rop in (
        ("ternary,h=64", 170, 92.1),
        ("binary", 250, 103.2),
        ("cbd,spread=8", 288, 113.6),
        ("gaussian,spread=3", 297, 116.2),
    ):
        found = dual_guess(parse_parameters(f"lwe:n=1024,q=2^32,sigma=3,secret={secret}"), DEFAULT)
        assert rop - 0.9 < found.rop < rop
        assert found.beta == pytest.approx(beta, abs=4)


def test_hybrids_that_succeed_half_of_the_time_cost_no_more_than_the_dual_attack():
    for name in ("matzov", "adps16", "ablr21"):
        setting = Setting(model=MODELS[name])
        for spec in (
            *("ml-kem-768", "seal20-1024", "helib80-1024", "sparse-ternary-512-2^12-11"),
            *("frodokem-640", "lwe:n=256,q=7681,sigma=3.2,samples=1024"),
            "lwe:n=256,q=7681,sigma=3.2,secret=ternary,samples=1024",
            "lwe:n=16384,q=2^770,sigma=3.19,secret=ternary",
        ):
            one = resolve_instance(spec).parameters
            half = replace(setting, success=0.5)
            assert dual_hybrid(one.normal(), half).rop <= dual(one.normal(), setting).rop
