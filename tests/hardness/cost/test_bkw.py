import math
import tracemalloc

import numpy as np
import pytest

from hardness.cost.bkw import bounds, coded_bkw, coded_costs, codes, costs
from hardness.cost.problem import read
from hardness.cost.reduction import ROUGH

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
    found = read(spec)
    rng = np.random.default_rng(3)
    compared = 0
    for _ in range(200):
        b, words, k = (int(v) for v in rng.integers(1, [16, 16, 5]))
        test = int(rng.integers(words, min(found.n, words * 8) + 1))
        chosen = codes(found.n, found.log2_q, tuple(np.array([v]) for v in (b, words, test)), 24)
        ours = [float(v[0]) for v in coded_costs(found, chosen, k)] if chosen.steps.size else [1e9]
        if max(ours) > 900:  # the other way needs floats for the samples themselves
            continue
        compared += 1
        assert ours == pytest.approx(by_the_formula(found, b, words, test, k), abs=1e-6)
    assert compared > 20


@pytest.mark.parametrize(
    ("spec", "most"), [(KYBER, 24), ("lwe:n=300,q=5,sigma=1,secret=ternary", 8)]
)
def test_no_choice_of_a_box_is_below_its_bound(spec, most):
    found, rng = read(spec), np.random.default_rng(1)
    compared = 0
    for _ in range(400):
        middle = rng.integers([5, 5, 20], [40, 40, 200])
        width = rng.integers(1, [8, 8, 60])
        low, high = middle[:, None], (middle + width)[:, None]
        points = rng.integers(middle[:, None], (middle + width + 1)[:, None], (3, 50))
        points = points[:, points[1] <= points[2]]
        every = codes(found.n, found.log2_q, tuple(points), most)
        below, reach = bounds(found.n, found.log2_q, low, high, most)
        if not reach.size or not every.steps.size:
            assert not every.steps.size
            continue
        compared += 1
        for one, many in zip(
            coded_costs(found, below, 1), coded_costs(found, every, 1), strict=True
        ):
            assert one[0] <= many.min() + 1e-9
    assert compared > 50


@pytest.mark.parametrize(
    ("spec", "samples"),
    [
        ("lwe:n=65536,q=3,secret=ternary,sigma=1", None),
        ("lwe:n=65536,q=2^48,secret=uniform,sigma=1", None),
        ("lwe:n=131072,q=2^3104,secret=ternary,h=64,sigma=3.2", 131072),
    ],
)
def test_the_least_of_many_unknowns_takes_little_memory(spec, samples):
    found = read(spec, samples=samples)
    tracemalloc.start()
    least = coded_bkw(found, ROUGH)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6
    assert least.applies
    assert least.rop >= found.log2_q


def test_fewer_samples_never_help_and_a_normal_form_is_counted():
    spec = "lwe:n=40,q=1601,alpha=0.005"
    limits = (90, 120, 400, 1600, 10**6, 10**12, None)
    rops = [coded_bkw(read(spec, samples=m), ROUGH).rop for m in limits]
    assert rops == sorted(rops, reverse=True)
    small = "lwe:n=40,q=1601,sigma=8.005,secret=gaussian,spread=8.005"
    assert coded_bkw(read(small), ROUGH).rop < rops[-1]


def test_wide_moduli():
    large = coded_bkw(read("lwe:n=1024,q=2^881,sigma=3.2,secret=ternary,h=64"), ROUGH)
    assert large.applies
    assert large.rop > 881
