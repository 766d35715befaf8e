"""Random tiny families, with repeats, negatives and constants: every claim against brute force.

Nothing of the makers or of the checker is used for what is compared with.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hardness.lower.older import numbers
from scipy.optimize import linprog

from hardness.check import check
from hardness.lower import BoundParameters
from hardness.lower.finite import Members, certificate, certify_finite
from hardness.lower.named import Kernel, ListedMembers, NoClaim, WorstDescent, certify_unknown

RISKS = (Fraction(1, 10), Fraction(1, 4), Fraction(3, 5))


def family(seed):
    """A table of 2 to 8 functions of -1 and +1 on 4 to 16 points, some alike: (M, points)."""
    rng = np.random.default_rng(seed)
    members, bits = int(rng.integers(2, 9)), int(rng.integers(2, 5))
    table = rng.choice([-1, 1], (members, 1 << bits), p=[0.5, 0.5] if seed % 3 else [0.15, 0.85])
    for i in range(1, members):
        kind = rng.integers(0, 8)
        if kind < 2:
            table[i] = table[i - 1] * (1 - 2 * int(kind))
        if kind == 2:
            table[i] = rng.choice([-1, 1])
    return table


def listed(table):
    bits = table.shape[1].bit_length() - 1
    return Members(
        kind="functions", path="x", sha256="0" * 64, d=bits, n=bits, outputs=1, bound=1.0,
        names=tuple(f"f{i}" for i in range(len(table))),
        evaluate=lambda x: table[:, (x < 0) @ (1 << np.arange(bits))].astype(float),
    )  # fmt: skip


def most_told_apart(less, tau):
    """The most members that one query with values in [-1, 1] moves by over tau from the mean."""
    members, points = less.shape
    for size in range(members, 0, -1):
        for chosen in itertools.combinations(range(members), size):
            for signs in itertools.product((1, -1), repeat=size - 1):
                rows = less[list(chosen)] * np.array((1, *signs))[:, None] / points
                # The largest t with <s_i u_i, phi> >= t for all of them.
                matrix = np.hstack([-rows, np.ones((size, 1))])
                bounds = [(-1, 1)] * points + [(None, None)]
                found = linprog([*[0] * points, -1], matrix, np.zeros(size), bounds=bounds)
                if -found.fun > tau + 1e-9:
                    return size
    return 0


def most_fitted(table, risk):
    """How many members a hypothesis that a descent finds has risk at most `risk` for."""
    scale = ((table - table.mean(axis=0)) ** 2).mean()
    best = 0
    for size in range(1, len(table) + 1):
        for chosen in itertools.combinations(table, size):
            rows = np.array(chosen, float)
            guess = rows.mean(axis=0)
            for step in range(60):  # towards the farthest: the smallest ball
                far = ((rows - guess) ** 2).mean(axis=1).argmax()
                guess = guess + (rows[far] - guess) / (step + 2)
            fits = (((table - guess) ** 2).mean(axis=1) <= float(risk) * scale).sum()
            best = max(best, int(fits))
    return best


def largest(members, good):
    """The largest q of 0 .. members with `good(q)`, where 0 always is."""
    return max((q for q in range(1, members + 1) if good(q)), default=0)


@pytest.mark.parametrize("seed", range(24))
def test_every_claim_by_brute_force(seed):
    table = family(seed)
    members, points = table.shape
    risk, tau, gamma = RISKS[seed % 3], Fraction(1 + seed % 5, 6), Fraction(1 + seed % 4, 5)
    terms = BoundParameters(risk=risk, tau=tau, gamma=gamma, success=Fraction(1))
    made = certify_finite(listed(table), terms)
    check(made.to_dict())
    claimed = {c.quantity: c for c in made.claims}
    sizes = np.abs(table @ table.T)

    def pairs(chosen, limit):
        return all(sizes[i, j] <= limit for i, j in itertools.combinations(chosen, 2))

    dimension = largest(
        members,
        lambda q: any(
            pairs(chosen, points / q) for chosen in itertools.combinations(range(members), q)
        ),
    )
    assert made.integer("sq-dimension") <= dimension
    assert dimension <= int(claimed["sq-dimension"].parameters["upper"])
    averages = [
        Fraction(int(sizes[np.ix_(chosen, chosen)].sum()), points * len(chosen) ** 2)
        for size in range(1, members + 1)
        for chosen in itertools.combinations(range(members), size)
    ]
    counts = [math.comb(members, size) for size in range(1, members + 1)]
    worst = [
        max(averages[sum(counts[:k]) : sum(counts[: k + 1])], default=Fraction(0))
        for k in range(members)
    ]
    whole = largest(members, lambda q: max(worst[-(-members // q) - 1 :]) <= gamma)
    assert made.integer("sda-all-subsets") <= whole
    assert whole <= int(claimed["sda-all-subsets"].parameters["upper"])
    closest = np.sort(sizes.ravel())[::-1].cumsum().tolist()
    events = largest(
        members,
        lambda q: all(
            closest[k - 1] <= gamma * points * k
            for k in range(-(-(members**2) // q**2), members**2 + 1)
        ),
    )
    assert made.integer("sda-pair-events") == events
    less = table - table.mean(axis=0)
    if not less.any():
        assert not {c for c in claimed if "queries" in c or "floor" in c}
        return
    right = most_fitted(table, risk)
    # Where labels tell nothing the best hypothesis fits `right` of them; n bits, 2^n times that.
    assert 2 ** made.integer("information-floor") < 2 * max(1, Fraction(members, right))
    if members <= 4:
        told = most_told_apart(less, float(tau))
        if "stat-queries" in claimed:
            least = -(-(members - right) // told) if told else math.inf
            assert made.integer("stat-queries") <= least
        else:
            assert told == 0
            assert Fraction(claimed["stat-success"].value) >= Fraction(right, members)


def test_kernel_and_large_checker_prove_the_same_numbers(monkeypatch):
    proven = 0
    for seed in range(60):
        terms = BoundParameters(
            tau=Fraction(1 + seed % 9, 10),
            vstat=(1, 3, 10, 100)[seed % 4],
            risk=Fraction(seed % 5, 6),
            gamma=Fraction(1 + seed % 6, 7),
        )
        one = certify_finite(listed(family(seed)), terms)
        proven += "steps" in one.evidence
        with monkeypatch.context() as patch:
            patch.setattr(certificate, "proof_of", lambda *_: None)
            two = certify_finite(listed(family(seed)), terms)
        assert numbers(one) == numbers(two)
        for made in (one, two):
            check(made.to_dict())
    assert proven > 30


@pytest.mark.parametrize("seed", range(24))
def test_claims_about_named_learners_by_brute_force(seed):
    table = family(seed)
    less = table - table.mean(axis=0)
    features = 1 + seed % len(table)
    asked = (Kernel(features=features), WorstDescent(steps=3, clip=Fraction(1), within=Fraction(1)))
    try:
        unknown = ListedMembers.of_source(listed(table))
    except NoClaim:
        assert not less.any()
        return
    made = certify_unknown(unknown, asked, BoundParameters(risk=RISKS[seed % 3]))
    check(made.to_dict())
    values = {c.quantity: Fraction(c.value) for c in made.claims}
    # The best features by singular vectors: their mean error, and how many members they serve.
    basis = np.linalg.svd(less.astype(float), full_matrices=False)[2]
    scale = (less**2).mean()
    errors = [
        ((less - less @ basis[:n].T @ basis[:n]) ** 2).mean(axis=1) / scale
        for n in range(len(basis) + 1)
    ]
    assert values["kernel-error"] <= errors[min(features, len(basis))].mean() + 1e-9
    served = [(e <= float(RISKS[seed % 3]) + 1e-9).mean() for e in errors]
    enough = next(n for n, share in enumerate(served) if share >= 2 / 3)
    assert values["kernel-features"] <= enough
