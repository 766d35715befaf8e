"""Statistical dimension of symmetric families against every subset and every set of pairs."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.lower import sda
from hardness.lower.johnson import Johnson
from hardness.lower.sda import all_subsets, enough, largest_correlated, pair_events
from instances import UsageError


def profiles(m):
    return [
        [1 if 2 * h <= m else -1 for h in range(m + 1)],
        [(-1) ** h for h in range(m + 1)],
        [1 if h % 3 == 0 else -1 for h in range(m + 1)],
        [h * h for h in range(m + 1)],
        [fmpq(11 if h % 2 == 0 else -9, 10) for h in range(m)] + [fmpq(1)],
        [-1 if h == 1 else 1 for h in range(m + 1)],
        [(2 * h - m) ** 2 for h in range(m + 1)],
        [int(h == m) for h in range(m + 1)],
    ]


def schemes(n, m):
    return [Johnson.of(values, n) for values in profiles(m) if len(set(values)) > 1]


def whole(scheme):
    """Correlations scaled to norm 1, times a common denominator: whole numbers."""
    c = [v / scheme.norm for v in scheme.correlations]
    scale = math.lcm(*(int(v.q) for v in c))
    return [int(v * scale) for v in c], scale


def overlaps(n, m):
    sets = [frozenset(s) for s in itertools.combinations(range(n), m)]
    return np.array([[len(a & b) for b in sets] for a in sets])


def heaviest(matrix):
    """For each size, the largest sum of entries over all sets of members: by all 2^N sets."""
    count = len(matrix)
    total, size = np.zeros(1, np.int64), np.zeros(1, np.int8)
    for i in range(count):  # the sets with largest member i are the sets before, with i added
        row = np.zeros(1, np.int64)
        for j in range(i):
            row = np.concatenate([row, row + matrix[i, j]])
        total = np.concatenate([total, total + matrix[i, i] + 2 * row])
        size = np.concatenate([size, size + 1])
    out = np.full(count + 1, np.iinfo(np.int64).min)
    np.maximum.at(out, size, total)
    return [int(v) for v in out]


def true_sda(best, scale, gamma, size):
    """The definition: the largest q up to N for which every set of N/q members or more is good."""
    good = [True] + [Fraction(best[s], scale * s * s) <= gamma for s in range(1, size + 1)]
    for q in range(size, 0, -1):
        if all(good[s] for s in range(1, size + 1) if s * q >= size):
            return q
    return 0


def gammas(best, scale, size):
    """Values at which something changes, and beside them."""
    found = {Fraction(best[s], scale * s * s) for s in range(1, size + 1)}
    near = {v + step for v in found for step in (Fraction(1, 10**9), -Fraction(1, 10**9))}
    more = {Fraction(1, k) for k in (1, 2, 3, 5, 8, 13, 20, 100)}
    return sorted(v for v in found | near | more if v > 0)


@pytest.mark.parametrize(
    ("n", "m"), [(6, 2), (6, 3), (6, 4), (5, 2), (5, 3), (6, 1), (6, 5), (2, 1)]
)
@pytest.mark.parametrize("truncated", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_bracket_holds_over_every_subset(n, m, truncated, monkeypatch):
    if truncated:  # what m > 48 does: one inequality of Delsarte alone, no fixed places
        monkeypatch.setattr(sda, "_MANY", 0)
        monkeypatch.setattr(sda, "_FEW", 1)
    met, exact, all_ = overlaps(n, m), 0, 0
    for scheme in schemes(n, m):
        c, scale = whole(scheme)
        best = heaviest(np.array(c)[met])
        for gamma in gammas(best, scale, scheme.size):
            level = fmpq(gamma.numerator, gamma.denominator)
            found, true = all_subsets(scheme, level), true_sda(best, scale, gamma, scheme.size)
            assert found.lower <= true <= found.upper, (gamma, found)
            bad = [s for s in range(1, scheme.size + 1) if best[s] > gamma * scale * s * s]
            assert found.below.enough > max(bad, default=0)
            assert (found.lower == 0) == (true == 0) == (found.upper == 0)
            assert pair_events(scheme, level) <= true
            if gamma >= 1:
                assert found.lower == true == scheme.size
            require_multipliers(scheme, found.below)
            exact, all_ = exact + found.exact, all_ + 1
    assert exact > all_ / 4


def require_multipliers(scheme, below):
    """The inequalities of docs/mathematics.md, section 17, at distances that occur."""
    if below.gamma >= 1:
        return
    n, m = scheme.n, scheme.m
    table = sda.distance_eigenvalues(n, m, len(below.inner))
    assert min([below.average, *below.inner, *below.caps]) >= 0
    for i in range(1, m + 1):
        v, c = math.comb(m, i) * math.comb(n - m, i), scheme.correlations[m - i] / scheme.norm
        inner = sum((y * table[i][k] for k, y in enumerate(below.inner, 1)), fmpq(0))
        assert below.caps[i - 1] - inner - below.average * v * (c - below.gamma) >= v
    most = 1 + sum(below.inner, fmpq(0)) + sum(below.caps, fmpq(0))
    most += below.average * (1 - below.gamma)
    assert below.average > 0
    assert below.enough >= most or below.enough > scheme.size


@pytest.mark.parametrize(("n", "m"), [(5, 2), (6, 3), (7, 4), (8, 2), (7, 5)])
def test_eigenvalues_of_the_distance_graphs(n, m):
    met, rank = overlaps(n, m), min(m, n - m)
    table = sda.distance_eigenvalues(n, m, rank)
    for i in range(m + 1):
        wanted = np.linalg.eigvalsh((met == m - i).astype(float))
        mult = [math.comb(n, k) - (math.comb(n, k - 1) if k else 0) for k in range(rank + 1)]
        found = np.sort(np.repeat([float(int(v)) for v in table[i]], mult))
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(7, 3), (8, 4), (6, 4)])
def test_the_sets_that_contain_and_meet_have_the_average_that_is_said(n, m):
    sets = [frozenset(s) for s in itertools.combinations(range(n), m)]
    for scheme in schemes(n, m):
        for a in range(m):
            block = sda._Block.of(scheme, a)
            for k in range(n - a + 1):
                for j in range(m - a + 1):
                    fixed, others = set(range(a)), set(range(a, a + k))
                    chosen = [s for s in sets if fixed <= s and len(s & others) >= j]
                    assert block.size(k, j) == len(chosen)
                    if not chosen:
                        continue
                    counts = np.bincount(
                        [len(s & t) for s in chosen for t in chosen], minlength=m + 1
                    )
                    total = sum(
                        (int(v) * c for v, c in zip(counts, scheme.correlations, strict=True)),
                        fmpq(0),
                    )
                    assert block.average(k, j) * scheme.norm * len(chosen) ** 2 == total
                    if k:
                        found = block.average(k, j)
                        near = int(found.p) / int(found.q)
                        assert abs(block.estimate(k, j) - near) < 1e-9


@pytest.mark.parametrize(("n", "m"), [(6, 2), (6, 3), (5, 3), (7, 2), (2, 1), (4, 3)])
def test_pair_events_by_sorting_all_pairs(n, m):
    met = overlaps(n, m)
    for scheme in schemes(n, m):
        c, scale = whole(scheme)
        pairs = np.sort(np.array(c)[met].ravel())[::-1]
        sums = np.cumsum(pairs)
        size = scheme.size
        worst = {Fraction(int(v), scale * (r + 1)) for r, v in enumerate(sums)}
        near = {v + s for v in worst for s in (Fraction(1, 10**9), -Fraction(1, 10**9))}
        for gamma in sorted(v for v in worst | near | {Fraction(1, 7), Fraction(1)} if v > 0):
            true = 0
            for q in range(1, size + 1):
                least = -(-(size**2) // q**2)
                if int(sums[least - 1]) <= gamma * scale * least:
                    true = q
            assert pair_events(scheme, fmpq(gamma.numerator, gamma.denominator)) == true


@given(st.integers(1, 7), st.integers(1, 60), st.data())
@settings(max_examples=60)
def test_ends_never_cross(m, more, data):
    values = data.draw(st.lists(st.integers(-3, 3), min_size=m + 1, max_size=m + 1))
    gamma = data.draw(st.fractions(Fraction(1, 500), 1, max_denominator=500))
    if len(set(values)) == 1:
        return
    scheme = Johnson.of(values, m + more)
    level = fmpq(gamma.numerator, gamma.denominator)
    found = all_subsets(scheme, level)
    assert found.lower <= found.upper
    average = scheme.average / scheme.norm
    assert (found.lower == 0) == (found.upper == 0) == (average > level)
    assert (pair_events(scheme, level) == 0) == (average > level)
    if found.above:
        assert found.above.average > level
    require_multipliers(scheme, found.below)


def test_a_family_whose_average_is_gamma_itself_has_a_dimension_of_at_least_one():
    scheme = Johnson.of([1, -1], n=2)  # two orthogonal members: their average is 1/2
    found = all_subsets(scheme, fmpq(1, 2))
    assert (found.lower, found.upper) == (1, 1)
    assert pair_events(scheme, fmpq(1, 2)) == 1


def test_gamma_of_one_and_more_allows_everything_and_zero_is_refused():
    scheme = Johnson.of([1, -1, -1], n=6)
    for gamma in (fmpq(1), fmpq(3, 2)):
        assert all_subsets(scheme, gamma).lower == pair_events(scheme, gamma) == 15
        assert largest_correlated(scheme, gamma) is None
        assert enough(scheme, gamma).enough == 1
    for what in (all_subsets, pair_events):
        with pytest.raises(UsageError, match="above 0"):
            what(scheme, fmpq(0))


def majority(n, m):
    return Johnson.of([1 if 2 * h <= m else -1 for h in range(m + 1)], n)


def test_majority_of_twenty_in_a_thousand():
    """The sets with place 0 that meet {1,2,3,4} are too correlated for an SDA(1/20) of 676."""
    scheme, gamma = majority(1000, 20), fmpq(1, 20)
    block = sda._Block.of(scheme, 1)
    count = math.comb(999, 19) - math.comb(995, 19)
    assert block.size(4, 1) == count
    assert block.average(4, 1) > gamma
    # The same average by pairs: overlaps within {1..4} and outside, one place in common.
    total = fmpq(0)
    for one, two in itertools.product(range(1, 5), repeat=2):
        for inside in range(min(one, two) + 1):
            near = math.comb(4, one) * math.comb(one, inside) * math.comb(4 - one, two - inside)
            for outside in range(min(19 - one, 19 - two) + 1):
                far = math.comb(995, 19 - one) * math.comb(19 - one, outside)
                far *= math.comb(995 - 19 + one, 19 - two - outside)
                total += near * far * scheme.correlations[1 + inside + outside]
    assert total == block.average(4, 1) * scheme.norm * count**2
    assert (scheme.size - 1) // count == 675
    found = all_subsets(scheme, gamma)
    assert found.lower <= found.upper <= 675
    assert found.lower >= 500


@pytest.mark.slow
def test_majority_of_a_hundred_in_a_hundred_thousand_runs():
    found = all_subsets(majority(10**5, 100), fmpq(1, 20))
    assert 10**18 < found.lower <= found.upper
    assert len(found.below.inner) == 32
