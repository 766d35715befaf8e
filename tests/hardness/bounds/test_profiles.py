"""Certificates of profiles: what their bounds say of any query and hypothesis, by brute force."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.bounds import BoundParameters, Johnson, certify, checker, hidden_sets
from hardness.bounds.certify import pose
from hardness.bounds.check import check
from hardness.bounds.checker.hidden_sets import every_set
from hardness.report.claims import sentence
from instances import parse, tokens
from instances.sets import profile, spelling
from tests import closed
from tests.conftest import every_token

TWO = ["majority", "mod(3)", "[1,-1,1]", "parity", "[3,-1,3]", "[1,0,0]"]
MANY = ["[0,1,4]", "[1.1,-0.9,0.9]", "[0,1,-2]", "[4,1,6]"]


class Enumerated:
    """A small family by all its tokens: values of labels and their chances, for every member."""

    def __init__(self, spec):
        self.family = parse(spec)
        d = self.family.d
        words = every_token(d)
        x = tokens.unpack(words, d)
        self.secrets = list(itertools.combinations(range(1, d), self.family.m))
        self.open = self.family.open(words)
        clean = np.array([self.family.label(s, x)[:, 0, 0] * x[:, 0, 0] for s in self.secrets])
        centre, eta = float(self.family.centre), float(self.family.noise)
        reflected = np.where(self.open, 2 * centre - clean, clean)
        self.values = [clean, reflected]
        self.chances = [1 - eta, eta]
        self.mean = (1 - eta) * clean + eta * reflected  # E[factor | X]: (members, tokens)
        self.scheme = closed.Johnson.family(self.family)
        self.fade = float(1 - 2 * self.family.noise)

    def general(self, when_high, when_low):
        """E_S phi for a query that is one of two functions of X by the label: (members,)."""
        middle = float(self.family.centre)
        out = 0
        for values, chance in zip(self.values, self.chances, strict=True):
            high = (values > middle) | ~self.open
            out = out + chance * np.where(high, when_high, when_low).mean(axis=1)
        return out


def members_ruled_out(family, t):
    """How many a query to VSTAT(t) rules out, by the sets of too large an average."""
    posed = pose(family, Fraction(2, 3))
    gamma = closed.labelled_gamma(family, closed.Johnson.family(family), t)
    witness = hidden_sets.every_set(Johnson.family(family), gamma)
    known = posed.known
    return every_set(posed.parsed, known.more, gamma, witness) - 1


def extreme_queries(case, rng, low, high, count=60):
    """Functions of X that look at members: signs of sums of them, and random ones."""
    parts = case.mean - case.mean.mean(axis=0)
    top = np.linalg.eigh(parts @ parts.T)[1]
    size = len(parts)
    sums = [row @ parts for row in rng.normal(size=(count, size))]
    sums += [column @ parts for column in top.T]
    sums += [row @ parts for row in (rng.random((count, size)) < 2 / size).astype(float)]
    sums += list(parts)
    for total in sums:
        yield np.where(total > 0, high, low)
        peak = np.abs(total).max()
        if peak:
            yield low + (high - low) * (total / peak + 1) / 2
    for _ in range(count):
        yield rng.uniform(low, high, parts.shape[1])


@pytest.mark.parametrize("spec", ["d=4,m=1", "d=4,m=2", "d=5,m=2,noise=1/5"])
@pytest.mark.parametrize("g", TWO + MANY)
def test_a_query_moves_members_no_further_than_the_eigenvalue_allows(g, spec):
    """A correlational one; of two values, any function of tokens and label."""
    if g.startswith("[") and "m=1" in spec:
        g = "[2,-3]"
    case = Enumerated(f"profile:g={g},{spec}")
    values, rng, largest = case.family.values, np.random.default_rng(1), 0
    allowed = case.fade**2 * float(case.scheme.spread) / 4
    half = float(max(values) - min(values)) / 2
    for h in extreme_queries(case, rng, -1, 1):
        asked = [((case.mean * h).mean(axis=1), allowed)]
        if case.family.two_valued:
            for low in (-h, rng.uniform(-1, 1, h.shape), np.abs(h), h * 0):
                asked.append((case.general(h, low), allowed / half**2))
        for answers, square in asked:
            moved = answers - answers.mean()
            assert (moved**2).sum() <= square * (1 + 1e-9)
            largest = max(largest, (moved**2).sum() / square)
    assert largest > 1 / 4  # the bound is no accident


@pytest.mark.parametrize("spec", ["d=4,m=2", "d=5,m=2,noise=1/5"])
@pytest.mark.parametrize("g", TWO)
def test_a_query_to_vstat_rules_out_only_correlated_members(g, spec):
    case = Enumerated(f"profile:g={g},{spec}")
    family, scheme = case.family, case.scheme
    middle, half = float(family.centre), float(max(family.values) - min(family.values)) / 2
    signs = np.where(case.open, (case.mean - middle) / half, 0)  # E[sign | X] with noise
    mu = signs[:, case.open].mean()
    assert abs(signs[:, case.open].mean(axis=1) - mu).max() < 1e-12  # the same for all members
    # The correlation of labelled distributions, by enumeration of tokens and labels.
    ratio = [
        np.where(case.open, (1 + b * signs) / (1 + b * mu) - 1, 0) * np.sqrt((1 + b * mu) / 2)
        for b in (1, -1)
    ]
    found = sum(r @ r.T for r in ratio) / signs.shape[1]
    sets = [set(s) for s in case.secrets]
    met = np.array([[len(a & b) for b in sets] for a in sets])
    table = np.array([float(c) for c in scheme.correlations])
    wanted = case.fade**2 * table[met] / half**2 / (2 * (1 - mu**2))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    unit = 2 * (1 - mu**2) * half**2 / (case.fade**2 * table[-1])
    rng, most = np.random.default_rng(3), dict.fromkeys((1, 2, 3, 7, 20, 100, 1000, 10**5), 0)
    for t in most:
        gamma = closed.labelled_gamma(family, scheme, t)
        assert abs(float(gamma) - unit / (3 * t)) < 1e-12
    caps = {t: members_ruled_out(family, t) for t in most}
    for part in extreme_queries(case, rng, 0, 1, count=10):
        for scale in (1, 0.3, 0.02):
            for when_low in (1 - part, part * 0, 1 - part * 0):
                answers = case.general(scale * part, scale * when_low)
                weight = np.where(
                    case.open,
                    scale * ((1 + mu) * part + (1 - mu) * when_low) / 2,
                    scale * part,
                )
                reference = weight.mean()
                for t in most:
                    spread = np.sqrt(np.maximum(answers * (1 - answers), 0) / t)
                    out = np.abs(answers - reference) > np.maximum(1 / t, spread) + 1e-12
                    most[t] = max(most[t], int(out.sum()))
                    if out.any():
                        average = found[np.ix_(out, out)].mean()
                        assert average > 1 / (3 * t) - 1e-12
    assert all(most[t] <= caps[t] for t in most), (most, caps)
    assert most[10**5] == len(sets)  # a fine oracle rules out all members at once


def test_a_query_may_single_out_a_value_where_there_are_more_than_two():
    """d - 1 general queries find the set where more correlational ones are certified."""
    case = Enumerated("profile:g=[1.01,-0.99,0.99],d=5,m=2")
    z = [tokens.unpack(every_token(5), 5)[:, :, j].prod(axis=1) for j in range(5)]
    single = np.isclose(case.values[0], 0.99) & case.open  # the value at h = 2 alone
    for j in range(1, 5):
        answers = (single * z[j]).mean(axis=1)
        assert answers.tolist() == [-1 / 8 if j in s else 0 for s in case.secrets]
    # The answers are as far apart for every d: a tolerance of 1/17 is fine enough.
    large = parse("profile:g=[1.01,-0.99,0.99],d=1001,m=2")
    made = certify(large, BoundParameters(tau=Fraction(1, 17)))
    assert int(made.value("csq-queries")) > 2 * 1000
    names = {claim.quantity for claim in made.claims}
    assert "csq-queries" in names
    assert not names & {"stat-queries", "vstat-queries"}


@pytest.mark.parametrize("g", ["majority", "[1.1,-0.9,1.1,-1.1,0.9,-1.1]", "[0,1,4,9,16,25]"])
@pytest.mark.parametrize(("factor", "more"), [(10, 0), (Fraction(1, 7), 0), (-1, 1000), (1, 3)])
def test_query_bounds_do_not_depend_on_the_units_of_the_labels(g, factor, more):
    counts, values = [], profile(g, 5)
    for text in (g, spelling(factor * v + more for v in values)):
        made = certify(
            parse(f"profile:g={text},d=301,m=5,noise=0.1"), BoundParameters(tau=Fraction(1, 17))
        )
        check(made.to_dict())
        names = {"csq-queries", "stat-queries"} & {c.quantity for c in made.claims}
        counts.append({name: made.value(name) for name in names})
    assert counts[0] == counts[1]
    assert int(counts[0]["csq-queries"]) > 1


def test_a_bound_is_rounded_to_its_own_side():
    for value in (Fraction(10**400, 3), Fraction(-2, 3 * 10**400), 10**50 - 1, 10**50, 10**50 + 1):
        down, up = (checker.short(value, up=up).removeprefix("about ") for up in (False, True))
        assert Fraction(down) <= value <= Fraction(up)
        assert abs(Fraction(up) - Fraction(down)) <= abs(Fraction(value)) / 10**5
    made = certify(parse("hidden:d=12,hard=3,nice=1"))
    assert "one rules out at most 25 of 165 members" in sentence(made, made.claims[2])
    large = certify(parse("parity:d=10000,m=40"))
    for claim in large.claims:
        if claim.quantity.endswith("-queries"):
            least = sentence(large, claim).partition("at least about ")[2].partition(" ")[0]
            assert Fraction(least) <= claim.value < Fraction(least) * Fraction(1.0001)
