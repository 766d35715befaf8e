import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower.finite import Members
from hardness.lower.finite import gram as module
from hardness.lower.finite.caps import caps, exact_caps
from hardness.lower.finite.gram import enumerate_products, sample_products
from instances import TooLarge, UsageError, limits


def family(evaluate, names, n, bound=1.0):
    return Members(
        kind="functions",
        path="x",
        sha256="0" * 64,
        names=tuple(map(str, names)),
        d=n,
        n=n,
        outputs=1,
        bound=bound,
        evaluate=lambda x: np.asarray(evaluate(x), np.float64),
    )


def by_enumeration(evaluate, names, n):
    return enumerate_products(family(evaluate, names, n)).gram


def by_sampling(evaluate, names, n, samples, confidence, bound, seed=0):
    return sample_products(family(evaluate, names, n, bound), samples, confidence, seed)


def cube(n):
    """All points, by their index: bit j is 1 where coordinate j is -1."""
    return np.array([[1 - 2 * (i >> j & 1) for j in range(n)] for i in range(1 << n)])


def majority(subsets):
    return lambda x: np.array([np.sign(x[:, s].sum(axis=1)) for s in subsets])


def smooth(x):
    """Four functions whose values are no integers; one is small."""
    x = x.astype(float)
    a, b = x.sum(axis=1), x[:, 0] * x[:, -1]
    return np.array([np.tanh(a), np.exp(a / 7), 1e-6 * np.sin(a + b), np.cos(a) - b])


def exact_correlation(values, i, j):
    """In rational arithmetic up to the last step."""
    rows = [[Fraction(float(v)) for v in values[m]] for m in (i, j)]
    product = sum(a * b for a, b in zip(*rows, strict=True))
    norms = sum(a * a for a in rows[0]) * sum(b * b for b in rows[1])
    return math.copysign(math.sqrt(product**2 / norms), product)


@pytest.mark.parametrize(("n", "m"), [(5, 2), (6, 3), (8, 3), (7, 4)])
def test_enumeration_is_exact_on_integers(n, m):
    subsets = list(itertools.combinations(range(n), m))
    found = by_enumeration(majority(subsets), subsets, n)
    x = cube(n)
    values = [[int(np.sign(row[list(s)].sum())) for row in x] for s in subsets]
    for i, j in itertools.combinations_with_replacement(range(len(subsets)), 2):
        assert found.values[i, j] == sum(a * b for a, b in zip(values[i], values[j], strict=True))
    assert found.values.dtype == np.int64
    assert (found.exact, found.radius, found.correlation_radius) == (True, 0.0, 0.0)


def test_chunks_change_nothing(monkeypatch):
    subsets = list(itertools.combinations(range(9), 3))
    whole = by_enumeration(majority(subsets), subsets, 9)
    monkeypatch.setattr(module, "_CHUNK", 37)
    parts = by_enumeration(majority(subsets), subsets, 9)
    assert (whole.values == parts.values).all()
    late = by_enumeration(lambda x: np.where(x[:, 8:].T < 0, 1, 0.5), "a", 9)
    assert (late.exact, late.values.tolist()) == (False, [[0.625]])
    fine = by_enumeration(smooth, "abcd", 9)
    for i, j in itertools.combinations(range(4), 2):
        true = exact_correlation(smooth(cube(9)), i, j)
        assert abs(fine.correlations[i, j] - true) <= fine.correlation_radius


@pytest.mark.parametrize("n", [1, 4, 9])
def test_floats_are_within_their_radius(n):
    found = by_enumeration(smooth, "abcd", n)
    values = smooth(cube(n))
    assert not found.exact
    assert 0 < found.correlation_radius < 1e-11
    for i, j in itertools.combinations_with_replacement(range(4), 2):
        product = sum(
            Fraction(float(a)) * Fraction(float(b))
            for a, b in zip(values[i], values[j], strict=True)
        )
        assert abs(Fraction(float(found.values[i, j])) - product / 2**n) <= Fraction(found.radius)
        true = exact_correlation(values, i, j)
        assert abs(found.correlations[i, j] - true) <= found.correlation_radius


def test_samples_are_within_their_radius():
    n = 8
    subsets = list(itertools.combinations(range(n), 3))
    true = by_enumeration(majority(subsets), subsets, n)
    for seed in range(5):
        found = by_sampling(majority(subsets), subsets, n, 20_000, 0.99, 1, seed)
        entries = len(subsets) * (len(subsets) + 1) / 2
        hoeffding = math.sqrt(2 * math.log(2 * entries / 0.01) / 20_000)
        assert hoeffding <= found.radius <= hoeffding * (1 + 1e-6)
        assert np.abs(found.values - true.values / 2**n).max() <= found.radius
        assert np.abs(found.correlations - true.correlations).max() <= found.correlation_radius
        low, high = caps(found.correlations, found.correlation_radius)
        exact, _ = exact_caps(true.values)
        assert (low <= exact).all()
        assert (exact <= high).all()


@pytest.mark.parametrize(
    "evaluate",
    [
        lambda x: smooth(x)[[0, 1, 3]],
        lambda x: np.array([x[:, 0], 0.5 * x[:, 1] + 0.4 * x[:, 0]]),
        lambda x: np.array([x[:, 0], 0.5 * x[:, 1] - 0.4 * x[:, 0]]),
    ],
)
def test_sampled_correlations_hold_for_every_matrix_within_the_radius(evaluate):
    """The interval of the correlations, by trying matrices in the box of the samples."""
    size = len(evaluate(cube(6)))
    found = by_sampling(evaluate, range(size), 6, 400_000, 0.99, bound=3)
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(300):
        noise = np.triu(rng.choice([-1, 1], (size, size))) * found.radius
        other = found.values + noise + np.triu(noise, k=1).T
        if (np.diagonal(other) <= 0).any():
            continue
        norms = np.sqrt(np.diagonal(other))
        correlations = np.clip(other / np.outer(norms, norms), -1, 1)
        np.fill_diagonal(correlations, 1)
        worst = max(worst, np.abs(correlations - found.correlations).max())
    assert 0.99 * found.correlation_radius < worst <= found.correlation_radius


def test_sampling_takes_the_same_samples_in_any_chunks(monkeypatch):
    one = by_sampling(majority([(0, 1, 2), (0, 1, 3)]), "ab", 5, 5000, 0.9, 1)
    monkeypatch.setattr(module, "_CHUNK", 300)
    two = by_sampling(majority([(0, 1, 2), (0, 1, 3)]), "ab", 5, 5000, 0.9, 1)
    assert (one.values == two.values).all()


def test_integers_too_large_to_be_exact_have_a_radius():
    found = by_enumeration(lambda x: x.T.astype(np.int64) * 10**9, "abcd", 4)
    assert not found.exact
    assert found.radius > 0
    exact = by_enumeration(lambda x: x.T.astype(np.int64) * 10**7, "abcd", 4)
    assert exact.exact
    assert exact.values[0, 0] == 16 * 10**14


def never(x):
    raise AssertionError("computed before it was refused")


@pytest.mark.parametrize(
    ("evaluate", "words"),
    [
        (lambda x: np.array([x[:, 0], 0 * x[:, 0]]), r"member 1 \(two\) has the norm 0"),
        (lambda x: np.array([x[:, 0], 1e200 * x[:, 0]]), r"member 1 \(two\).*overflow"),
        (lambda x: np.array([x[:, 0], 1e-155 * x[:, 0]]), r"member 1 \(two\).*underflow"),
    ],
)
def test_refuses_values(evaluate, words):
    with pytest.raises(UsageError, match=words):
        by_enumeration(evaluate, ("one", "two"), 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: by_enumeration(never, "ab", 27), r"at most 2\^26"),
        (lambda: by_sampling(lambda x: x.T, "abc", 3, 5, 0.9, 1), "raise the samples"),
        (lambda: by_sampling(lambda x: 2 * x.T, "abc", 3, 10, 0.9, 1), "above the bound 1"),
    ],
)
def test_refuses(call, words):
    with pytest.raises(UsageError, match=words):
        call()


def test_refuses_what_does_not_fit(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1_000_000)
    with pytest.raises(TooLarge, match="5000 members"):
        by_enumeration(never, range(5000), 10)
    with pytest.raises(TooLarge, match="5000 members"):
        by_sampling(never, range(5000), 10, 10, 0.9, 1)
