"""Pair events against their definition, and the inequalities between them and the ratio."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import fmpq

from hardness.lower.named import NoClaim, Ratio, Unknown
from hardness.lower.named.ratio import (
    Overlaps,
    average_bound,
    dimension,
    ratio_bound,
    sample_ratio,
    worst_average,
)
from instances import parse
from instances.errors import UsageError
from instances.streams import generator


def random_case(rng):
    """A family of random signs and noise; open examples, or those of a layer."""
    n = int(rng.integers(3, 15))
    m = int(rng.integers(1, n))
    signs = [int(s) for s in rng.choice([1, -1], m + 1)]
    signs[0], signs[-1] = 1, -1
    if rng.random() < 0.3:
        signs = [(-1) ** h for h in range(m + 1)]
    noise = Fraction(int(rng.integers(0, 10)), 20)
    unknown = Unknown.of(parse(f"profile:g={signs},d={n + 1},m={m},noise={noise}".replace(" ", "")))
    overlaps = Overlaps.of(unknown)
    return unknown, overlaps.thinned(fmpq(1, 2)) if rng.random() < 0.5 else overlaps


def cases(count, *axes):
    rng = generator(11, "events", *axes)
    for _ in range(count):
        yield rng, *random_case(rng)


def by_values(unknown, thinned):
    """x of every ordered pair of members, from the chances of (z, s) under each."""
    family, n = unknown.family, unknown.scheme.n
    fade = 1 - 2 * family.noise
    signs = [(v - family.centre) / unknown.half for v in family.values]
    members = list(itertools.combinations(range(n), unknown.scheme.m))
    points = list(itertools.product((0, 1), repeat=n))
    means = [[fade * signs[sum(z[j] for j in s)] for z in points] for s in members]
    mu = sum(means[0]) / len(points)
    found = []
    for a in means:
        for b in means:
            total = Fraction(0)
            for s in (1, -1):  # the density over the null less 1 is s (p - mu)/(1 + s mu)
                products = sum((p - mu) * (q - mu) for p, q in zip(a, b, strict=True))
                total += products / (1 + s * mu) / 2
            found.append(total / len(points) / (2 if thinned else 1))
    return sorted(found, reverse=True)


@pytest.mark.parametrize("thinned", [False, True])
@pytest.mark.parametrize(
    "spec",
    [
        "profile:g=majority,d=6,m=3,noise=1/10",
        "profile:g=[1,-1,-1],d=6,m=2",
        "profile:g=[3,1,3,1],d=6,m=3,noise=1/4",
        "parity:d=6,m=2,noise=1/5",
    ],
)
def test_pair_events_against_all_pairs(spec, thinned):
    unknown = Unknown.of(parse(spec))
    overlaps = Overlaps.of(unknown)
    overlaps = overlaps.thinned(fmpq(1, 2)) if thinned else overlaps
    pairs = by_values(unknown, thinned)
    size = unknown.size
    assert len(pairs) == size**2
    for q in range(1, size + 1):
        count = math.ceil(Fraction(size**2, q**2))
        wanted = sum(pairs[:count], Fraction(0)) / count
        assert Fraction(str(worst_average(overlaps, size, q))) == wanted
    for exponent in (1, 2, 5):
        wanted = sum(x**exponent for x in pairs) / size**2
        assert Fraction(str(overlaps.mean_power(exponent))) == wanted


def test_the_dimension_is_the_largest_q_of_a_small_worst_average():
    for rng, unknown, overlaps in cases(60, "dimension"):
        size, most = unknown.size, overlaps.correlations[-1]
        level = most * int(rng.integers(1, 60)) / 50
        found = dimension(unknown, overlaps, level)
        small = [worst_average(overlaps, size, q) <= level for q in range(1, min(size, 400) + 1)]
        assert found == sum(small) or found > 400
        assert small == sorted(small, reverse=True)
        assert found == size or worst_average(overlaps, size, found + 1) > level


def test_the_ratio_of_a_sample_degree_is_that_of_every_degree_in_z():
    for rng, unknown, overlaps in cases(40, "degree"):
        examples, k = int(rng.integers(1, 50)), int(rng.integers(1, 5))
        opened = Overlaps.of(unknown)
        share = overlaps.correlations[-1] / opened.correlations[-1]
        ratio = Ratio.of(unknown, (unknown.scheme.m + 1) * k, k).thinned(share)
        assert sample_ratio(overlaps, examples, k) == ratio.advantage(examples)


def draw(rng, unknown):
    examples = int(10 ** rng.uniform(0, 4))
    k = int(rng.integers(1, min(examples, 6) + 1))
    q = min(unknown.size, max(1, int(unknown.size ** rng.uniform(0, 1))))
    return examples, k, q


def test_a_small_ratio_gives_a_large_dimension():
    weakened = violated = 0
    for rng, unknown, overlaps in cases(200, "ratio"):
        examples, k, q = draw(rng, unknown)
        ratio = sample_ratio(overlaps, examples, k)
        worst = worst_average(overlaps, unknown.size, q) ** k
        bound = average_bound(ratio, examples, k, q)
        violated += worst > bound
        weakened += worst > bound / k**k  # the factor k left out
        # the same as SDA(n / (k (q eps)^(2/k))) >= q, at a rational level just above
        level = Fraction(str(bound)) if k == 1 else Fraction(float(bound) ** (1 / k) * (1 + 1e-9))
        level = fmpq(level.numerator, level.denominator)
        assert dimension(unknown, overlaps, level) >= q
    assert violated == 0
    assert weakened > 0


def test_a_large_dimension_gives_a_small_ratio():
    weakened = violated = 0
    for rng, unknown, overlaps in cases(200, "dimension of ratio"):
        examples, k, q = draw(rng, unknown)
        level = worst_average(overlaps, unknown.size, q)  # the least at which SDA >= q
        if rng.random() < 0.5:
            level = level * int(rng.integers(10, 40)) / 10
        assert dimension(unknown, overlaps, level) >= q
        ratio = sample_ratio(overlaps, examples, k)
        bound = ratio_bound(overlaps, unknown.size, level, q, examples, k)
        violated += ratio > bound
        weakened += ratio > bound * fmpq(9, 10)
    assert violated == 0
    assert weakened > 0


def test_bad_requests_are_refused():
    unknown = Unknown.of(parse("parity:d=8,m=2"))
    overlaps = Overlaps.of(unknown)
    for q in (0, unknown.size + 1):
        with pytest.raises(UsageError, match="number of members"):
            worst_average(overlaps, unknown.size, q)
        with pytest.raises(UsageError, match="number of members"):
            ratio_bound(overlaps, unknown.size, fmpq(1, 9), q, 5, 2)
    with pytest.raises(UsageError, match="sample_degree"):
        average_bound(fmpq(1), 3, 4, 2)
    with pytest.raises(UsageError, match="gamma"):
        dimension(unknown, overlaps, fmpq(0))
    with pytest.raises(NoClaim):
        Overlaps.of(Unknown.of(parse("profile:g=h**2,d=9,m=3")))
