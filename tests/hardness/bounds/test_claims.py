"""Claims about families drawn at random: true, and no weaker than what is found in another way.

Enumeration and closed forms are those of tests/truth.py, by which forged claims are judged too.
"""

import math
from contextlib import suppress
from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import BoundParameters, certify, checker, hidden_sets
from hardness.bounds.certify import pose
from hardness.bounds.check import check
from hardness.bounds.checker.theorem import members_of_probability, probability_of_members
from hardness.bounds.learners import Kernel, LowDegree, NoisyDescent
from instances import parse
from instances.errors import ToolkitError, UsageError
from instances.streams import generator
from tests.proofs import of_tables, plain
from tests.truth import TooMany, blunt, falsehood, of_problem


def terms(rng):
    """Any terms, those at the ends too."""
    return BoundParameters(
        tau=Fraction(int(rng.integers(1, 31)), 30),
        vstat=int(10 ** rng.uniform(0, 4)),
        risk=Fraction(int(rng.integers(0, 9)), 9),
        success=Fraction(int(rng.integers(1, 10)), 9),
        gamma=Fraction(int(rng.integers(1, 41)), 40),
    )


def hidden(rng):
    """A parity, or a profile of two values or of many."""
    m = int(rng.integers(1, 5))
    d, noise = m + 1 + int(rng.integers(1, 8 - m)), rng.choice(["0", "0.1", "0.3", "0.45"])
    values = rng.choice([-1, 1, 0, 2] if rng.integers(2) else [-1, 1], m + 1)
    if rng.integers(2) == 0 or (values == (-1) ** np.arange(m + 1)).all():
        return parse(f"parity:d={d},m={m},noise={noise}")  # whose bounds are sharper
    g = str([int(v) for v in values]).replace(" ", "")
    return parse(f"profile:g={g},d={d},m={m},noise={noise}")


def parities(rng):
    """Of many places, with labels of any noise."""
    d = int(rng.integers(3, 301))
    m = int(rng.integers(1, min(d - 1, 13)))
    return parse(f"parity:d={d},m={m},noise={Fraction(int(rng.integers(0, 9)), 20)}")


def residues(rng):
    """Secrets of all laws, labels with and without errors."""
    n, kind = rng.integers(1, 5), rng.choice(["binary", "ternary", "uniform", "cbd", "gaussian"])
    spread = {"cbd": rng.integers(1, 5), "gaussian": rng.choice([0.125, 0.25, 0.5, 0.8])}
    heads = ("lwe:error=none", "lwr:p=2", "lwr:p=4", "lwe:error=cbd,eta=1",
             "lwe:error=uniform,width=2", "lwe:sigma=1", "lpn:noise=0.2")  # fmt: skip
    head, h = str(rng.choice(heads)), rng.choice([0, 0, rng.integers(0, n + 1)])
    if head.startswith("lpn"):
        return parse(f"{head},n={n},h={h}")
    q = rng.choice([2, 3, 4, 5, 7, 8, 11, 16, 32])
    spec = f"{head},n={n},q={q},secret={kind},h={h}"
    return parse(spec + (f",spread={spread[kind]}" if kind in spread else ""))


def signs(rng):
    """Functions of signs, some alike or opposite, or of whole numbers: (members, points)."""
    count, points = int(rng.integers(2, 8)), 1 << int(rng.integers(2, 5))
    chances = [0.5, 0.5] if rng.integers(3) else [0.15, 0.85]
    rows = rng.choice([-1, 1], (count, points), p=chances)
    for i in range(1, count):
        kind = rng.integers(0, 8)
        if kind < 2:
            rows[i] = rows[i - 1] * (1 - 2 * int(kind))
        if kind == 2:
            rows[i] = rng.choice([-1, 1])
    return rows


def whole(rng):
    rows = rng.integers(-3, 4, (int(rng.integers(2, 7)), 8))
    rows[:, 0] = 3
    rows = np.array([rng.permutation(rows[0]) for _ in rows]) if rng.integers(2) else rows
    return rows / (1 + rng.integers(2))


def asked(rng):
    """Numbers of a named learner."""
    few, many = (int(10 ** rng.uniform(0, top)) for top in (1, 4))
    clip, off = Fraction(1, int(rng.integers(1, 9))), Fraction(int(rng.integers(1, 40)), 8)
    steps = few if rng.integers(4) else None
    return (
        Kernel(features=few),
        NoisyDescent(steps=steps, clip=clip, std=off),
        LowDegree(degree=few, examples=many if rng.integers(3) else None),
    )[int(rng.integers(5)) // 2]  # the last has no claim about many families


def of_family(draw):
    return lambda rng: certify(draw(rng), terms(rng))


def of_learner(draw):
    return lambda rng: certify(draw(rng), terms(rng), [asked(rng)])


KINDS = {
    "hidden": of_family(hidden),
    "parities": of_family(parities),
    "residues": of_family(residues),
    "functions": lambda rng: certify(of_tables(signs(rng)), terms(rng)),
    "whole": lambda rng: certify(of_tables(whole(rng)), terms(rng), centred=bool(rng.integers(2))),
    "hidden, learners": of_learner(hidden),
    "residues, learners": of_learner(residues),
    "functions, learners": lambda rng: certify(of_tables(signs(rng)), terms(rng), [asked(rng)]),
}


def wrong(data):
    """What is false of an accepted certificate, or weaker than it could be."""
    assert check(data).certificate.claims
    return [(data["spec"], one) for one in (falsehood(data), *blunt(data)) if one]


@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_true_and_no_weaker_than_they_could_be(kind):
    found, made = [], 0
    for seed in range(40):
        try:
            data = plain(KINDS[kind](generator(seed, "claims", kind)))
        except ToolkitError:  # numbers out of range, or no theorem
            continue
        with suppress(TooMany):
            found += wrong(data)
            made += 1
    assert found == []
    assert made > 15


def test_claims_about_sets_of_very_many_places_are_true(monkeypatch):
    """What m > 48 does, on few: one inequality of Delsarte alone, and no fixed places."""
    monkeypatch.setattr(hidden_sets, "_LARGE_M", 0)
    monkeypatch.setattr(hidden_sets, "_KEPT_INEQUALITIES", 1)
    made = 0
    for seed in range(30):
        with suppress(UsageError):
            data = plain(KINDS["hidden"](generator(seed, "claims", "many places")))
            checker.check(data)
            assert falsehood(data) is None
            made += 1
    assert made > 15


LARGER = [
    "profile:g=mod(3),d=31,m=6,noise=0.1",
    "parity:d=21,m=4,noise=0.1",
    "lwr:n=64,q=256,p=2,secret=binary,h=6",
    "lwr:n=5,q=16,p=2,secret=uniform,h=2",
    "lwr:n=6,q=64,p=8,secret=cbd,spread=3,h=3",
    "lwr:n=4,q=7,p=7,secret=ternary",
    "lwe:n=40,q=1601,alpha=0.005",
    "lwe:n=3,q=17,sigma=1",
    "lwe:n=9,q=3329,error=cbd,eta=2,secret=gaussian,spread=3,h=4",
    "lwe:n=9,q=64,error=uniform,width=3,secret=ternary,h=2",
    "lwe:n=6,q=31,error=none,secret=binary",
    "lpn:n=64,noise=0.1",
    "lpn:n=20,noise=0,h=4",
    "lwr:n=5,q=2,p=2,secret=uniform,h=2",
    "lwe:n=5,q=257,error=none,secret=cbd,spread=40,h=2",
    "lwr:n=3,q=4096,p=2,secret=cbd,spread=40",
    "direction:m=4,d=32,noise=0.1",
]


def test_claims_about_larger_families_are_true_and_no_weaker_than_closed_forms():
    found = []
    for spec in LARGER:
        for terms in (BoundParameters(), BoundParameters(tau=Fraction(1, 50), vstat=1000)):
            found += wrong(plain(certify(parse(spec), terms)))
    assert found == []


def test_no_law_has_fewer_members_of_the_probability_than_are_certified():
    """Never above the truth, and never more than five times below it."""
    found, made = [], 0
    for seed in range(120):
        rng = generator(seed, "laws")
        try:
            family, success = residues(rng), Fraction(int(rng.integers(1, 21)), 20)
            posed = pose(family, success)
        except ToolkitError:
            continue
        truth, members = of_problem(posed.problem), posed.known.members
        made += 1
        wanted = truth.law.needed(success)
        certified = members_of_probability(members, success)
        as_one = 1 if truth.alone else truth.law.units
        right = certified <= wanted <= 5 * as_one * math.ceil(certified)
        right &= all(truth.law.held(n) <= probability_of_members(members, n) for n in (1, 2, 7))
        if not right or (members.law is None and len(truth.law.tiers) > 1):
            found.append(family.spec)
    assert found == []
    assert made > 60
