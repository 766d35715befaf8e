"""The theorems of the checker by brute force at tiny sizes: every query, every hypothesis.

A law of an example is a vector over cells, open points with their labels and one cell for all that
is closed. Which members one query can rule out together is a linear program for each set of members
and each choice of signs; queries to VSTAT are all functions with the values 0 and 1. A hypothesis
fits members together if a ball of the allowed radius holds them.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from hardness.bounds import checker
from hardness.bounds.checker.certificate import KINDS
from hardness.bounds.checker.theorem import (
    hypothesis_fits,
    stat_rules_out,
    vstat_rules_out,
    vstat_rules_out_at_least_one_over_t,
)
from hardness.bounds.listed import eigenvalue

HALF = {"kind": "hidden-set", "noise": "0"}
PROBLEMS = {
    "parity 3 1": {**HALF, "places": 3, "chosen": 1, "values": ["1", "-1"]},
    "parity 4 2": {**HALF, "places": 4, "chosen": 2, "values": ["1", "-1", "1"], "noise": "1/10"},
    "and 3 2": {**HALF, "places": 3, "chosen": 2, "values": ["1", "1", "-1"]},
    "majority 5 1": {**HALF, "places": 5, "chosen": 1, "values": ["3", "-1"], "noise": "1/5"},
    "lpn": {
        "kind": "residues", "n": 2, "q": 2, "bits": 1, "labels": "residue", "parts": 2,
        "secret": {"weight": 0, "entries": None},
        "errors": [0, [str(3 << 62), str(1 << 62)]],
    },
    "lwr": {
        "kind": "residues", "n": 1, "q": 8, "bits": 3, "labels": "interval", "parts": 2,
        "secret": {"weight": 0, "entries": None}, "errors": None,
    },
    "lwe": {
        "kind": "residues", "n": 2, "q": 3, "bits": 6, "labels": "residue", "parts": 3,
        "secret": {"weight": 0, "entries": [0, ["1", "1"]]}, "errors": None,
    },
    "functions": {
        "kind": "functions", "signs": 3, "centred": False, "tables": ["aa", "cc", "f0", "96", "e8"],
    },
}  # fmt: skip
LAW = {"base": "1", "cut": 0, "weights": []}


def known(problem):
    """What the checker knows of the members of a problem."""
    witness = {"hidden-set": {}, "residues": {"law": LAW}}.get(problem["kind"])
    if witness is None:
        witness = eigenvalue(problem)
    parsed = checker.read_problem(problem)
    return parsed, KINDS[problem["kind"]].know(parsed, witness)


def laws(problem):
    """Laws of an example, a row for each member, that of the reference, and mean labels."""
    parsed, _ = known(problem)
    make = {"hidden-set": of_hidden_sets, "residues": of_residues, "functions": of_functions}
    return make[problem["kind"]](parsed)


def of_hidden_sets(problem):
    points = np.array(list(itertools.product((0, 1), repeat=problem.n)))
    values = sorted(set(problem.g))
    rows, means = [], []
    for chosen in itertools.combinations(range(problem.n), problem.m):
        label = np.array([values.index(problem.g[h]) for h in points[:, list(chosen)].sum(axis=1)])
        right, wrong = np.eye(2)[label], np.eye(2)[1 - label]
        noise = float(problem.noise)
        rows.append(((1 - noise) * right + noise * wrong).ravel() / len(points))
        means.append(np.array([float(v) for v in values])[label])
    rows, means = np.array(rows), np.array(means)
    reference = np.full(rows.shape[1], 1 / rows.shape[1]) if problem.parity else rows.mean(axis=0)
    if not problem.parity:
        means = means - means.mean(axis=0)
    return closed(rows), closed(reference[None])[0], means, np.full(len(points), 1 / len(points))


def of_residues(problem):
    n, q, parts = problem.n, problem.q, problem.levels
    points = np.array(list(itertools.product(range(q), repeat=n)))
    whole = 1 << problem.bits
    entry = np.array([sum(v % q == r for v in range(whole)) for r in range(q)]) / whole
    weights = entry[points].prod(axis=1)
    entries = list(problem.entries or range(q))
    errors = {0: Fraction(1)}
    if problem.errors:
        errors = {e: Fraction(c, 1 << 64) for e, c in problem.errors.items()}
    units = [v for v in range(problem.modulus) if math.gcd(v, problem.modulus) == 1]
    members = {}
    for secret in itertools.product(entries, repeat=n):
        if any(math.gcd(v, q) == 1 for v in secret):
            folded = tuple(v % problem.modulus for v in secret)
            if not problem.differ:
                folded = min(tuple(u * v % problem.modulus for v in folded) for u in units)
            members.setdefault(folded, secret)
    rows = []
    for secret in members.values():
        cells = np.zeros((len(points), parts))
        for e, probability in errors.items():
            t = (points @ np.array(secret) + e) % q
            cells[np.arange(len(points)), t * parts // q] += float(probability)
        rows.append(cells)
    rows = np.array(rows)
    reference = np.full((len(points), parts), 1 / parts) * weights[:, None]
    laws = (rows * weights[None, :, None]).reshape(len(rows), -1)
    return closed(laws), closed(reference.reshape(1, -1))[0], None, None


def of_functions(problem):
    count = 1 << problem.n
    values = np.array(
        [[1 - 2 * (table >> i & 1) for i in range(count)] for table in problem.tables]
    )
    rows = np.stack([values == 1, values == -1], axis=2).reshape(len(values), -1) / count
    centred = values - values.mean(axis=0)
    return rows, rows.mean(axis=0), centred, np.full(count, 1 / count)


def closed(rows):
    """Half of all examples are closed: one cell, the same for all."""
    return np.concatenate([rows / 2, np.full((len(rows), 1), 0.5)], axis=1)


def most_ruled_out(rows, reference, tau):
    """The most members of which one query in [-1, 1] moves each by more than tau, by programs."""
    moves, best = rows - reference, 0
    for signs in itertools.product((0, 1, -1), repeat=len(rows)):
        some = [i for i, sign in enumerate(signs) if sign]
        if len(some) <= best or signs[some[0]] < 0:
            continue
        lines = np.array([signs[i] * moves[i] for i in some])
        margin = np.concatenate([-lines, np.ones((len(some), 1))], axis=1)
        bounds = [(-1, 1)] * lines.shape[1] + [(None, None)]
        goal = np.zeros(lines.shape[1] + 1)
        goal[-1] = -1
        found = linprog(goal, A_ub=margin, b_ub=np.zeros(len(some)), bounds=bounds)
        if -found.fun > tau + 1e-9:
            best = len(some)
    return best


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_query_to_stat_rules_out_more_members_than_the_theorem_says(name):
    rows, reference, *_ = laws(PROBLEMS[name])
    members, gram = known(PROBLEMS[name])[1].members, known(PROBLEMS[name])[1].gram
    assert len(rows) <= 6
    reached = 0
    for tau in (Fraction(1, 20), Fraction(1, 5), Fraction(1, 3), Fraction(1, 2)):
        most = stat_rules_out(members, gram, tau).value
        true = most_ruled_out(rows, reference, float(tau))
        assert true <= most, tau
        reached += true == min(most, members.count)
    assert reached, "the theorem is sharp at some tolerance"


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_query_to_vstat_rules_out_more_members_than_the_theorems_say(name):
    rows, reference, *_ = laws(PROBLEMS[name])
    members, gram = known(PROBLEMS[name])[1].members, known(PROBLEMS[name])[1].gram
    cells = rows.shape[1]
    rng = np.random.default_rng(5)
    queries = np.array(list(itertools.product((0, 1), repeat=cells))) if cells <= 13 else None
    if queries is None:
        queries = rng.integers(0, 2, (20_000, cells))
    queries = np.concatenate([queries, queries * rng.random((len(queries), 1))])
    means, fixed = queries @ rows.T, (queries @ reference)[:, None]
    ruled_out = 0
    for t in (2, 5, 20, 100):
        off = np.abs(means - fixed) > np.maximum(1 / t, np.sqrt(means * (1 - means) / t)) + 1e-12
        true = int(off.sum(axis=1).max())
        bounds = [vstat_rules_out_at_least_one_over_t(members, gram, t).value]
        if gram.moves01 is not None:
            bounds.append(vstat_rules_out(members, gram, t).value)
        assert true <= min(bounds), t
        ruled_out += true
    assert ruled_out


@pytest.mark.parametrize("name", [name for name in PROBLEMS if not name.startswith("l")])
def test_no_hypothesis_fits_more_members_than_the_theorem_says(name):
    _, _, means, weights = laws(PROBLEMS[name])
    members, gram = known(PROBLEMS[name])[1].members, known(PROBLEMS[name])[1].gram
    for risk in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)):
        most = hypothesis_fits(members, gram, risk)
        for size in range(int(most) + 1, len(means) + 1):
            for some in itertools.combinations(means, size):
                assert ball(np.array(some), weights) > float(risk * gram.scale) * (1 + 1e-6), risk


def ball(points, weights):
    """The squared radius of the least ball around points, from below, by its dual problem."""
    share = np.full(len(points), 1 / len(points))
    squares = (points**2 * weights).sum(axis=1)
    best = 0.0
    for step in range(3000):
        centre = share @ points
        best = max(best, share @ squares - (centre**2 * weights).sum())
        far = ((points - centre) ** 2 * weights).sum(axis=1).argmax()
        share *= (step + 1) / (step + 2)
        share[far] += 1 / (step + 2)
    return best


def test_a_weaker_theorem_would_be_seen():
    """With a tenth of the moves the bound would be broken: the brute force finds it."""
    rows, reference, *_ = laws(PROBLEMS["parity 3 1"])
    tau = Fraction(1, 5)
    members, gram = known(PROBLEMS["parity 3 1"])[1].members, known(PROBLEMS["parity 3 1"])[1].gram
    assert most_ruled_out(rows, reference, float(tau)) > gram.moves / 10 / tau**2
    assert members.count == len(rows)
