"""The theorems of the checker by brute force at tiny sizes: every query, every hypothesis.

A law of an example is a vector over cells, open points with their labels and one cell for all that
is closed. Which members one query can rule out together is a linear program for each set of members
and each choice of signs; queries to VSTAT are all functions with the values 0 and 1. A hypothesis
fits members together if a ball of the allowed radius holds them.
"""

import itertools
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from scipy.optimize import linprog

from hardness.bounds import checker
from hardness.bounds.checker.hidden_sets import vstat_gamma, vstat_rules_out_fewer
from hardness.bounds.checker.theorem import (
    hypothesis_fits,
    stat_rules_out,
    vstat_rules_out,
    vstat_rules_out_at_least_one_over_t,
)
from hardness.bounds.hidden_sets import Johnson, every_set
from tests.hardness.bounds.test_named_learners import hidden, listed, residues

SMALL = {
    "parity 3 1": hidden("1 -1", 3),
    "parity 4 2": hidden("1 -1 1", 4, "1/10"),
    "and 3 2": hidden("1 1 -1", 3),
    "majority 5 1": hidden("3 -1", 5, "1/5"),
    "lpn": residues(2, 2, bits=1, errors=(0, [str(3 << 62), str(1 << 62)])),
    "lwr": residues(2, 4, 2, "1 1", bits=2),
    "lwe": residues(2, 3, 0, "1 1", bits=6),
    "functions": listed(3, "7/4", "aa", "cc", "f0", "96", "e8"),
}
every = pytest.mark.parametrize("name", SMALL)


@cache
def least_move(name, signs):
    """How far one query in [-1, 1] moves each of some members at least, to their signs' sides."""
    small = SMALL[name]
    lines = np.array(signs)[:, None] * (small.laws - small.reference)
    lines = lines[np.array(signs) != 0]
    margin = np.concatenate([-lines, np.ones((len(lines), 1))], axis=1)
    bounds = [(-1, 1)] * lines.shape[1] + [(None, None)]
    goal = np.zeros(lines.shape[1] + 1)
    goal[-1] = -1
    return -linprog(goal, A_ub=margin, b_ub=np.zeros(len(lines)), bounds=bounds).fun


def most_ruled_out(name, tau):
    """The most members of which one query in [-1, 1] moves each by more than tau, by programs."""
    best = 0
    for signs in itertools.product((0, 1, -1), repeat=len(SMALL[name].laws)):
        some = [sign for sign in signs if sign]
        if len(some) > best and some[0] > 0 and least_move(name, signs) > tau + 1e-9:
            best = len(some)
    return best


@every
def test_no_query_to_stat_rules_out_more_members_than_the_theorem_says(name):
    rows, _, members, gram = SMALL[name].alone
    assert len(rows) == members.count <= 6
    reached = 0
    for tau in (Fraction(1, 20), Fraction(1, 5), Fraction(1, 3), Fraction(1, 2)):
        most = stat_rules_out(members, gram, tau).value
        true = most_ruled_out(name, float(tau))
        assert true <= most, tau
        reached += true == min(most, members.count)
    assert reached, "the theorem is sharp at some tolerance"


def most_ruled_out_by_vstat(rows, reference, t):
    """The most members that one query of values 0 and 1, or a fraction of one, rules out."""
    cells, rng = rows.shape[1], np.random.default_rng(5)
    queries = rng.integers(0, 2, (20_000, cells))
    if cells <= 13:
        queries = np.array(list(itertools.product((0, 1), repeat=cells)))
    queries = np.concatenate([queries, queries * rng.random((len(queries), 1))])
    means, fixed = queries @ rows.T, (queries @ reference)[:, None]
    off = np.abs(means - fixed) > np.maximum(1 / t, np.sqrt(means * (1 - means) / t)) + 1e-12
    return int(off.sum(axis=1).max())


@every
def test_no_query_to_vstat_rules_out_more_members_than_the_theorems_say(name):
    rows, reference, members, gram = SMALL[name].alone
    ruled_out = 0
    for t in (2, 5, 20, 100):
        true = most_ruled_out_by_vstat(rows, reference, t)
        bounds = [vstat_rules_out_at_least_one_over_t(members, gram, t).value]
        if gram.moves01 is not None:
            bounds.append(vstat_rules_out(members, gram, t).value)
        assert true <= min(bounds), t
        ruled_out += true
    assert ruled_out


@pytest.mark.parametrize(
    "case", [hidden("1 1 -1", 3), hidden("3 -1 3 3", 4), hidden("1 1 -1 -1", 5, "1/10")]
)
def test_no_query_to_vstat_rules_out_a_set_of_so_small_an_average(case):
    """Against labels that are coins of the mean of all."""
    rows, problem, c = case.laws, checker.read_problem(case.problem), case.known.products
    coin = np.tile(rows[:, 1:].reshape(-1, 2).mean(axis=0), rows.shape[1] // 2)
    reached = 0
    for t in (1, 2, 5, 20, 100, 10**5):
        witness = every_set(Johnson(problem=problem), vstat_gamma(problem, c, t))
        true = most_ruled_out_by_vstat(rows, np.append(0.5, coin), t)
        assert true <= vstat_rules_out_fewer(problem, c, t, witness).value, t
        reached = max(reached, true)
    assert reached == len(rows)  # a fine oracle rules out all members at once


@every
def test_no_hypothesis_fits_more_members_than_the_theorem_says(name):
    means, weights = SMALL[name].functions, SMALL[name].chances
    _, _, members, gram = SMALL[name].alone
    for risk in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
        most = hypothesis_fits(members, gram, risk)
        for size in range(int(most) + 1, len(means) + 1):
            for some in itertools.combinations(means, size):
                wide = float(risk * gram.scale) * (1 + 1e-6)
                assert any(radius > wide for radius in balls(np.array(some), weights)), risk


def balls(points, weights):
    """Squared radii that the least ball around points has at least, by its dual problem."""
    share = np.full(len(points), 1 / len(points))
    squares = (points**2 * weights).sum(axis=1)
    for step in range(3000):
        centre = share @ points
        yield share @ squares - (centre**2 * weights).sum()
        far = ((points - centre) ** 2 * weights).sum(axis=1).argmax()
        share *= (step + 1) / (step + 2)
        share[far] += 1 / (step + 2)


def test_a_weaker_theorem_would_be_seen():
    """With a tenth of the moves the bound would be broken: the brute force finds it."""
    name, tau = "parity 3 1", Fraction(1, 5)
    assert most_ruled_out(name, float(tau)) > SMALL[name].known.gram.moves / 10 / tau**2
