"""Moments of the Wishart spectrum and what is built of them, against other ways to the same."""

from fractions import Fraction
from functools import cache

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


@pytest.mark.parametrize(("n", "d"), SIZES)
def test_moments_are_those_of_the_loop_equations(n, d):
    found = moments(n, d, 16)
    assert found[0] == 1
    assert all(found[j] == by_loop_equations(n, d, j) for j in range(1, 17))


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
