"""Moments of the Wishart spectrum and what is built of them, against other ways to the same."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from flint import fmpq

from hardness.icl.orthogonal import gauss, monic, recurrence
from hardness.icl.spectra import spectra
from hardness.icl.wishart import moments, rationals
from instances.errors import UsageError

SIZES = [(20, 5), (5, 20), (1, 1), (1, 4), (4, 1), (2, 2), (3, 7), (11, 4)]


def by_loop_equations(n: int, d: int, j: int) -> Fraction:
    """m_j by integration by parts: E of products of traces, over all partitions of j."""

    @cache
    def mean(parts: tuple[int, ...]) -> int:
        if not parts:
            return 1
        a, rest = parts[0], parts[1:]

        def join(others: tuple[int, ...], *powers: int) -> int:
            kept = (*others, *(p for p in powers if p))
            return d ** powers.count(0) * mean(tuple(sorted(kept, reverse=True)))

        total = (n + a - 1) * join(rest, a - 1)
        total += sum(join(rest, r, a - 1 - r) for r in range(a - 1))
        for i, b in enumerate(rest):
            total += 2 * b * join(rest[:i] + rest[i + 1 :], a + b - 1)
        return total

    return Fraction(mean((j,)), d * n**j)


def by_pairings(n: int, d: int, j: int) -> Fraction:
    """m_j by Isserlis' theorem entry by entry: every product of normal entries, counted."""
    double = {0: 1, 2: 1, 4: 3, 6: 15}
    total = 0
    for points in product(range(n), repeat=j):
        for places in product(range(d), repeat=j):
            powers: dict[tuple[int, int], int] = {}
            for k in range(j):
                for entry in ((points[k], places[k]), (points[k], places[(k + 1) % j])):
                    powers[entry] = powers.get(entry, 0) + 1
            total += prod(double.get(p, 0) for p in powers.values())
    return Fraction(total, d * n**j)


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_moments_are_those_of_the_loop_equations(n, d):
    found = moments(n, d, 16)
    assert found[0] == 1
    assert all(found[j] == by_loop_equations(n, d, j) for j in range(1, 17))


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (1, 3), (2, 2), (3, 2), (2, 3)])
def test_moments_are_those_of_all_pairings(n, d):
    assert all(moments(n, d, 3)[j] == by_pairings(n, d, j) for j in (1, 2, 3))


def test_moments_of_low_order_are_the_known_polynomials():
    n, d = 37, 12
    third = n * n + 3 * n * d + d * d + 3 * n + 3 * d + 4
    fourth = n**3 + 6 * n * n * d + 6 * n * d * d + d**3
    fourth += 6 * n * n + 17 * n * d + 6 * d * d + 21 * n + 21 * d + 20
    known = (1, 1, Fraction(n + d + 1, n), Fraction(third, n**2), Fraction(fourth, n**3))
    assert moments(n, d, 4) == known


def test_moments_in_one_dimension_are_those_of_a_chi_square():
    n, most = 7, 60
    for j, moment in enumerate(moments(n, 1, most)):
        assert moment == Fraction(prod(n + 2 * i for i in range(j)), n**j)


def test_moments_swap_points_and_dimensions():
    n, d = 9, 4
    for j, (one, other) in enumerate(zip(moments(n, d, 40), moments(d, n, 40), strict=True)):
        assert j == 0 or one * d * n**j == other * n * d**j


def test_moments_agree_with_samples():
    values = spectra(30, 6, 20000, 0)
    for j, moment in enumerate(moments(30, 6, 5)):
        each = (values**j).mean(axis=1)
        error = each.std() / len(each) ** 0.5
        assert abs(each.mean() - float(moment)) <= 4.5 * error + 1e-12


def test_moments_refuse_what_they_cannot_do():
    for n, d, most in ((0, 1, 2), (1, 0, 2), (1, 1, -1), (1, 1, 1000)):
        with pytest.raises(UsageError, match=r"^(n=|moments up to)"):
            moments(n, d, most)


def test_orthogonal_polynomials_are_orthogonal():
    mu = rationals(20, 5, 20)
    for degree in range(1, 11):
        coefficients = monic(mu, degree).coeffs()
        assert coefficients[-1] == 1
        for shift in range(degree):
            assert sum((c * mu[k + shift] for k, c in enumerate(coefficients)), fmpq(0)) == 0


def test_the_recurrence_of_a_known_measure():
    """The moments 1 / (j + 1) are those of [0, 1]: shifted Legendre polynomials."""
    a, b = recurrence([fmpq(1, j + 1) for j in range(20)], 10)
    assert a == [fmpq(1, 2)] * 10
    assert b == [fmpq(1)] + [fmpq(k * k, 4 * (4 * k * k - 1)) for k in range(1, 10)]


@pytest.mark.parametrize(("n", "d", "count"), [(20, 5, 41), (5, 20, 41), (100, 40, 30), (1, 1, 12)])
def test_gauss_rules_have_the_moments(n, d, count):
    rule = gauss(n, d, count)
    assert (rule.weights > 0).all()
    top = rule.nodes.max()
    for j, moment in enumerate(moments(n, d, 2 * count - 1)):
        assert np.isclose(rule.mean((rule.nodes / top) ** j), float(moment) / top**j, rtol=1e-12)
