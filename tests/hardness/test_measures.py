"""Measures of symmetric functions against enumerations of the cube, of orders, of members."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq

from hardness.lower.measures import measures
from hardness.measures.approximate import approximate_values
from hardness.measures.function import (
    degree,
    leap,
    least_degree,
    level_weights,
    stability,
    total_influence,
    weights,
)
from hardness.report.measures import measures_words
from instances import parse
from instances.errors import UsageError
from instances.krawtchouk import coefficients
from instances.layer import AttentionLayer
from instances.threshold import rational

SPECS = [
    "parity:d=7,m=1",
    "parity:d=7,m=2",
    "parity:d=7,m=3,noise=0.1",
    "parity:d=5,m=4",
    "profile:g=majority,d=7,m=3",
    "profile:g=majority,d=7,m=4",
    "profile:g=h**2,d=7,m=3",
    "profile:g=mod(3),d=7,m=4",
    "profile:g=[0,2,1,1],d=7,m=3",
    "profile:g=exactly(2),d=7,m=5,noise=1/3",
    "profile:g=[1/2,4,1/2,1/2],d=6,m=3",
]


def leap_of(system):
    """The leap of sets that are given as tuples."""
    return leap(np.array([sum(1 << j for j in s) for s in system], np.int64))


def sq_leap(values):
    return least_degree(level_weights(values))


def profiles(m, values=(0, 1, 2)):
    """All profiles that are not constant."""
    return [g for g in itertools.product(values, repeat=m + 1) if len(set(g)) > 1]


def cube(m):
    """Points z of {-1,+1}^m, (2^m, m), and how many of each are -1."""
    points = np.array(list(itertools.product([1, -1], repeat=m)))
    return points, np.count_nonzero(points == -1, axis=1)


def sets(m):
    """All sets that are not empty."""
    return [s for k in range(1, m + 1) for s in itertools.combinations(range(m), k)]


def seen(functions, m):
    """The sets T for which some function, (f, 2^m) integers, correlates with chi_T."""
    points, _ = cube(m)
    return [s for s in sets(m) if (functions @ points[:, s].prod(axis=1)).any()]


def label_functions(label):
    """Every function of a label into {0, 1}, on the cube."""
    values = sorted(set(label.tolist()))
    subsets = itertools.chain.from_iterable(
        itertools.combinations(values, k) for k in range(1, len(values) + 1)
    )
    return np.array([np.isin(label, s) for s in subsets], np.int64)


def every_order(system):
    """The least over all orders of the most new coordinates of a set, order by order."""
    best = math.inf
    for order in itertools.permutations(map(set, system)):
        found, worst = set(), 0
        for one in order:
            worst = max(worst, len(one - found))
            found |= one
        best = min(best, worst)
    return best


def every_union(system, known=frozenset()):
    """The same by what an order has found so far: orders of one union go on alike."""
    masks = [sum(1 << j for j in s) for s in system]
    full = 0
    for mask in masks:
        full |= mask
    best = {full: 0}
    for state in range(full - 1, -1, -1):
        left = [mask for mask in masks if mask & ~state]
        best[state] = min(max((m & ~state).bit_count(), best[state | m]) for m in left)
    return best[0]


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5])
def test_leaps_are_the_least_over_all_orders_of_sets(m):
    """Order by order where there are few sets; else by what orders have found so far."""
    _, h = cube(m)
    orders, apart = {}, 0
    for g in profiles(m):
        label = np.array(g)[h]
        found = measured(g)[0], sq_leap(g)
        apart += found[0] > found[1]
        for functions, value in zip((label[None], label_functions(label)), found, strict=True):
            system = tuple(seen(functions, m))
            if system not in orders:
                orders[system] = every_union(system)
                assert m > 3 or every_order(system) == orders[system]
            assert value == orders[system] == leap_of(system)
    assert apart or m < 4  # some profile of three values tells the two apart


def measured(g):
    """Leap and degree from the coefficients."""
    weight = weights(coefficients([fmpq(v) for v in g]))
    return least_degree(weight), degree(weight)


@pytest.mark.parametrize("eta", [Fraction(1, 10), Fraction(2, 5)])
def test_label_noise_changes_no_set_that_is_seen(eta):
    """A noisy label is g or its reflection: weigh both, for every function of what is seen."""
    m = 3
    _, h = cube(m)
    for g in profiles(m, (0, 1, 3)):
        top = max(g) + min(g)  # v is reflected to top - v
        label = np.array(g)[h]
        levels = sorted(set(g) | {top - v for v in g})
        flips = int(eta * eta.denominator)
        noisy = np.array(
            [(eta.denominator - flips) * (label == v) + flips * (top - label == v) for v in levels]
        )
        assert seen(noisy, m) == seen(label_functions(label), m)


@pytest.mark.parametrize("delta", [Fraction(0), Fraction(1, 10), Fraction(1, 2), Fraction(5, 7)])
def test_noise_sensitivity_by_all_flips(delta):
    for m in (1, 2, 3, 4):
        points, h = cube(m)
        flipped = (points[:, None, :] != points[None, :, :]).sum(axis=2)
        chance = np.array([delta**k * (1 - delta) ** (m - k) for k in range(m + 1)], object)
        for g in profiles(m)[:: 1 + 3 * (m == 4)]:
            label = np.array(g)[h]
            changed = label[:, None] != label[None, :]
            brute = (chance[flipped] * changed).sum() / 2**m
            assert 1 - stability(level_weights(g), rational(1 - 2 * delta)) == rational(brute)
            covariance = (chance[flipped] * (label[:, None] * label[None, :])).sum() / 2**m
            weight = weights(coefficients([fmpq(v) for v in g]))
            assert stability(weight, rational(1 - 2 * delta)) == rational(covariance)


def test_sensitivity_influence_and_weights_by_enumeration():
    for m in (1, 2, 3, 4):
        points, h = cube(m)
        for g in profiles(m):
            label = np.array(g)[h]
            weight = weights(coefficients([fmpq(v) for v in g]))
            table = label.reshape((2,) * m)
            turned = [np.flip(table, axis=i) for i in range(m)]
            changes = sum(int((table != t).sum()) for t in turned)
            assert 2 * total_influence(level_weights(g)) == fmpq(changes, 2**m)
            rises = [int(((table - t) ** 2).sum()) for t in turned]
            assert len(set(rises)) == 1  # every hidden bit has the same influence
            assert total_influence(weight) == fmpq(sum(rises), 4 * 2**m)
            for k in range(m + 1):
                found = [
                    int(label @ points[:, s].prod(axis=1)) if s else int(label.sum())
                    for s in itertools.combinations(range(m), k)
                ]
                assert weight[k] == fmpq(sum(v * v for v in found), 4**m)
            assert sum(level_weights(g), fmpq(0)) == 1


@pytest.mark.parametrize("spec", SPECS)
def test_correlations_of_all_members(spec):
    """Gram matrix of the centred members on all points, in integers."""
    family = parse(spec)
    n, m = family.d - 1, family.m
    points, _ = cube(n)
    scale = math.lcm(*(v.denominator for v in family.values))
    g = np.array([int(v * scale) for v in family.values])
    members = np.array(
        [g[(points[:, s] == -1).sum(axis=1)] for s in itertools.combinations(range(n), m)], object
    )
    members = members * 2**n - members.sum(axis=1, keepdims=True)
    gram = members @ members.T
    size, norm = len(members), int(gram[0, 0])
    found = measures(family)
    assert found.value("members") == str(size)
    assert float(found.value("log2 members")) == pytest.approx(math.log2(size))
    assert Fraction(found.value("average correlation")) == Fraction(int(gram.sum()), size**2 * norm)
    squares = Fraction(int((gram**2).sum()), size**2 * norm**2)
    assert Fraction(found.value("cross-predictability")) == squares
    values = [family.values[h] for h in cube(m)[1]]
    flips = (cube(m)[0][:, None, :] != cube(m)[0][None, :, :]).sum(axis=2)
    mean = sum(values) / 2**m
    variance = sum((v - mean) ** 2 for v in values) / 2**m
    assert (found.value("mean"), found.value("variance")) == (str(mean), str(variance))
    chance = np.array([Fraction(9 ** (m - k), 10**m) for k in range(m + 1)], object)[flips]
    less = np.array([v - mean for v in values], object)
    assert Fraction(found.value("noise stability")) == less @ chance @ less / 2**m / variance
    if family.two_valued:
        signs = [1 if v == max(values) else -1 for v in values]
        assert found.value("bias") == str(Fraction(sum(signs), 2**m))
        half = (max(values) - min(values)) / 2
        assert Fraction(found.value("total influence")) == half**2 * Fraction(
            found.value("average sensitivity")
        )
    assert sum(map(Fraction, found.weights)) == 1


def approximate_layer(family, secret):
    """The heads of the family with the weights of infinitely steep ones."""
    rho, m = float(family.rho), family.m
    theta = np.zeros((m, family.d, family.d))
    w = np.zeros_like(theta)
    for i in range(1, m + 1):
        theta[i - 1, secret, secret] = math.log(rho)
        theta[i - 1, 0, 0] = -(2 * i - 1) * math.log(rho) / 2
        w[i - 1, 0, 0] = (family.values[i] - family.values[i - 1]) / 2
    return AttentionLayer(theta=theta, w=w)


@pytest.mark.parametrize(
    "spec",
    [
        *(f"parity:d=7,m={m}" for m in range(1, 7)),
        "parity:d=7,m=5,rho=3/2",
        "profile:g=majority,d=7,m=5",
        "profile:g=exactly(2),d=7,m=4",
        "profile:g=h**2,d=7,m=4,rho=2",
    ],
)
def test_approximate_heads_are_those_of_a_real_layer(spec):
    """Run the layer on all z with z_0 = -1, and find by its labels alone what queries see."""
    family = parse(spec)
    secret = tuple(range(1, family.m + 1))
    points, h = cube(family.m)
    x = np.ones((len(points), 2, family.d))
    x[:, 1, 0] = -1
    x[:, 1, 1 : family.m + 1] = points
    label = approximate_layer(family, secret)(x)[:, 0, 0]
    numerators, bottom = approximate_values(family.values, family.rho)
    offset = float(family.values[0] + family.values[-1]) / 2
    formula = np.array([int(v) / int(bottom) for v in numerators])
    assert np.abs(label + offset - formula[h]).max() < 1e-13
    rounded = np.round(label * 1e10).astype(np.int64)
    levels = np.array([rounded == v for v in sorted(set(rounded.tolist()))], np.int64)
    system = seen(levels, family.m)
    found = measures(family)
    assert found.value("SQ-leap, approximate heads") == str(leap_of(system))
    low = [
        s for s in sets(family.m) if abs((label @ points[:, s].prod(axis=1)) / len(points)) > 1e-9
    ]
    assert found.value("leap, approximate heads") == str(leap_of(low))


@pytest.mark.parametrize("m", [1, 2, 3, 4, 9, 10])
def test_approximate_heads_of_a_parity_leak_the_least_degree_they_can(m):
    """Symmetric thresholds make B~(m - h) = (-1)^m B~(h): even m ties h and m - h, and no more."""
    g = [Fraction((-1) ** h) for h in range(m + 1)]
    for rho in (Fraction(17, 16), Fraction(3), Fraction(16)):
        found, _ = approximate_values(g, rho)
        assert found[::-1] == [(-1) ** m * v for v in found]
        assert len(set(found)) == (m + 1 if m % 2 else m // 2 + 1)
        assert sq_leap(found) == (1 if m % 2 else 2)
        assert sq_leap(g) == m


def test_what_a_reflection_keeps_and_what_delta_is():
    plain, noisy = (measures(parse(f"parity:d=20,m=5,noise={eta}")) for eta in ("0", "0.4"))
    assert plain.rows == noisy.rows
    found = measures(parse("parity:d=20,m=5"), Fraction(1, 3))
    assert found.value("noise sensitivity") == str((1 - Fraction(1, 3) ** 5) / 2)
    assert found.value("noise stability") == str(Fraction(1, 3) ** 5)
    for wrong in (Fraction(-1, 10), Fraction(11, 10)):
        with pytest.raises(UsageError, match="probability"):
            measures(parse("parity:d=20,m=5"), wrong)
    with pytest.raises(UsageError, match="lacks `factor`"):
        measures(parse("lwr:n=32,q=16,p=2"))


def test_words_say_which_queries_are_told_apart():
    words = {spec: " ".join(measures_words(measures(parse(spec))).split()) for spec in SPECS}
    assert "SQ-leap 1 is below its leap 2" in words["profile:g=[0,2,1,1],d=7,m=3"]
    assert "bias: not defined: g takes 3 values" in words["profile:g=[0,2,1,1],d=7,m=3"]
    assert "Its SQ-leap is its leap, 3" in words["parity:d=7,m=3,noise=0.1"]
    assert "without the exact solve have SQ-leap 1" in words["parity:d=7,m=3,noise=0.1"]
    assert "without the exact solve have SQ-leap 2" in words["parity:d=5,m=4"]
    assert "without the exact" not in words["profile:g=majority,d=7,m=3"]
    for other in ("composed:d=7,m=3", "hardmax:d=7,m=3"):  # their layers have no such heads
        said = " ".join(measures_words(measures(parse(other))).split())
        assert "Its SQ-leap is its leap, 3" in said
        assert "approximate heads" not in said


@pytest.mark.parametrize(
    "spec",
    [
        "parity:d=100000000000000000,m=40",
        "profile:g=majority,d=100001,m=101",
        pytest.param(
            "profile:g=h**3/7,d=100000000000000000,m=128,rho=255/16", marks=pytest.mark.slow
        ),
        "profile:g=h**3/7,d=100000000000000000,m=32,rho=255/16",
    ],
)
def test_large_families(spec):
    """Checked against float64 where the exact numbers have hundreds of digits."""
    family = parse(spec)
    found = measures(family)
    assert max(map(len, measures_words(found).splitlines())) <= 80
    bits = sum(math.log2((family.d - 1 - i) / (i + 1)) for i in range(family.m))
    assert float(found.value("log2 members")) == pytest.approx(bits, rel=1e-12)
    assert found.value("average correlation").startswith("1/") == (family.name == "parity")
    if "majority" in spec:
        central = Fraction(math.comb(100, 50), 2**100)
        assert found.value("largest influence") == str(central)


def test_a_constant_has_no_leap():
    assert sq_leap([2, 2, 2]) == leap_of([]) == 0
    assert measured([2, 2, 2]) == (0, 0)


def test_a_value_that_is_called_exact_is_written_in_full_or_as_about():
    shown = {row["measure"]: row for row in measures(parse("profile:g=majority,d=8,m=3"))._rows()}
    exact = {m.name: m for m in measures(parse("profile:g=majority,d=8,m=3")).rows}
    assert shown["average correlation"]["known"] == "exact"
    for name, row in shown.items():
        if exact[name].kind == "exact":
            assert row["value"] == exact[name].value
    large = measures(parse("parity:d=1000,m=21"))
    about = [row["value"] for row in large._rows() if "e+" in str(row["value"])]
    assert about
    assert all(value.startswith("about ") for value in about)
