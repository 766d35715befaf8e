"""Leaps of symmetric functions against enumerations of the cube and of orders."""

import itertools

import numpy as np
import pytest
from flint import fmpq

from hardness.bounds.leap import leap, leaps, least_degree, level_weights, weights
from instances import parse
from instances.symmetric import coefficients


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


def every_union(system):
    """The least over all orders of the most new coordinates that a set has."""
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
    """By what orders have found so far."""
    _, h = cube(m)
    orders, apart = {}, 0
    for g in profiles(m):
        label = np.array(g)[h]
        found = exponent(g), sq_leap(g)
        apart += found[0] > found[1]
        for functions, value in zip((label[None], label_functions(label)), found, strict=True):
            system = tuple(seen(functions, m))
            if system not in orders:
                orders[system] = every_union(system)
            assert value == orders[system] == leap_of(system)
    assert apart or m < 4  # some profile of three values tells the two apart


def exponent(g):
    """The leap, from the coefficients."""
    return least_degree(weights(coefficients([fmpq(v) for v in g])))


def test_a_constant_has_no_leap():
    assert sq_leap([2, 2, 2]) == leap_of([]) == 0
    assert exponent([2, 2, 2]) == 0


def test_a_table_that_is_too_large_or_a_member_that_is_not_known_has_no_leaps():
    assert leaps(parse("lwr:n=4,q=16,p=4"), None) is None
    assert leaps(parse("lwr:n=4,q=16,p=4"), parse("lwr:n=4,q=16,p=4").instance(0).hidden.secret)
    large = parse("lwr:n=6,q=16,p=4")
    assert leaps(large, large.instance(0).hidden.secret) is None
    assert leaps(parse("nice:m=2,k=2,d=8"), None) is None
