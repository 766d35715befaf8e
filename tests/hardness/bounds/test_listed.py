"""Listed functions: what follows of their tables, against brute force and numpy."""

import itertools
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from hardness.bounds import certify, checker
from hardness.bounds.certificate import Certificate
from hardness.bounds.certify import pose
from hardness.bounds.check import check
from hardness.bounds.checker.functions import MEMBERS, inner_products, spread
from hardness.bounds.independent import independent_members
from hardness.bounds.members import choose_by_names, of_family
from hardness.report.certificate import certificate_words
from instances import parse
from instances.errors import UsageError
from tests.proofs import of_tables, plain, refused


def made(table, terms=None, **how):
    return plain(certify(of_tables(table), terms, **how))


def claims(data):
    """Both ends of each quantity."""
    return {one.quantity: (str(one.value), str(one.upper)) for one in Certificate.read(data).claims}


@pytest.mark.parametrize("centred", [False, True])
def test_what_is_claimed_depends_on_values_and_norms(centred):
    rng = np.random.default_rng(0)
    two, one_norm = rng.choice([-1, 1], (7, 8)), [rng.permutation([0, 0, 1, 2]) for _ in range(5)]
    for rows, alike in ((two, True), (one_norm, True), (two * np.arange(1, 8)[:, None], False)):
        found = claims(made(rows, centred=centred))
        assert ("sda-all-subsets" in found) == (alike and not centred)
        assert bool({"stat-queries", "stat-success"} & set(found)) == (rows is two)


def test_queries_are_about_the_functions_whatever_is_subtracted():
    """Centred members have other correlations, and neither other queries nor examples."""
    table = np.random.default_rng(4).choice([-1, 1], (24, 64))
    one, two = claims(made(table)), claims(made(table, centred=True))
    for name in one:
        if "queries" in name or "floor" in name:
            assert one[name] == two[name]
    assert one["average-correlation"] != two["average-correlation"]


@pytest.mark.parametrize("table", [[[1, 1, -1, 1]] * 3, [[2, 2, 2, 2]] * 2, [[1, 2], [3, 6]]])
def test_one_function_gives_no_bound_on_queries(table):
    data = made(table)
    assert not {c for c in claims(data) if "queries" in c or "success" in c or "floor" in c}
    check(data)


# Where members are from.


def test_members_are_chosen_by_their_names():
    names = [f"f{i}" for i in range(30)]
    chosen = choose_by_names(names, 7)
    assert chosen == sorted(chosen)
    assert {names[i] for i in chosen} == {
        names[::-1][i] for i in choose_by_names(names[::-1], 7)
    }  # whatever the order
    with pytest.raises(UsageError, match="between 1 and 30"):
        choose_by_names(names, 31)


@pytest.mark.parametrize("spec", ["parity:d=7,m=2", "profile:g=majority,d=7,m=3,noise=0.1"])
def test_the_factor_of_a_label_is_a_family_of_functions(spec):
    built_in = parse(spec)
    data = plain(certify(of_family(built_in)))
    assert data["spec"].startswith(f"factors:d=7,members={built_in.size},sha256=")
    secrets = list(built_in.members())
    assert data["origin"]["names"] == [",".join(map(str, secret)) for secret in secrets]
    check(data)
    z = np.array(list(itertools.product((1, -1), repeat=6)))[:, ::-1]
    values = np.array([float(v) for v in built_in.values])
    table = [values[(z[:, [j - 1 for j in secret]] < 0).sum(axis=1)] for secret in secrets]
    direct = claims(made(np.array(table)))
    assert claims(data) == direct
    # No more than what is known of the whole label, by the exact certificate.
    whole = certify(built_in)
    for name in ("stat-queries", "vstat-queries", "information-floor"):
        assert int(direct[name][0]) <= whole.integer(name)


def test_a_part_of_a_family_says_so():
    made = certify(of_family(parse("parity:d=5,m=2"), 4))
    said = " ".join(certificate_words(made).split())
    assert "the factors of the label of parity:d=5,m=2,noise=0,rho=3 where z_0 = -1" in said
    assert "the 4 of 6 whose names have the least SHA-256" in said
    check(plain(made))
    refused(plain(made), lambda d: d["origin"].update(of="4"), "no larger")


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("parity:d=25,m=12", "take smaller parameters"),
        ("parity:d=20,m=5", "at most 1000"),
        ("nice:m=1,k=2,d=4", "lacks `factor`"),
    ],
)
def test_a_family_without_few_members_is_one_line(spec, why):
    with pytest.raises(UsageError, match=why):
        of_family(parse(spec))


def together(gram, i, j, size):
    """Whether |correlation| <= 1/size: G_ij^2 size^2 <= G_ii G_jj, in Python's integers."""
    return int(gram[i][j]) ** 2 * size**2 <= int(gram[i][i]) * int(gram[j][j])


def by_networkx(gram):
    """SQ-DIM by networkx's cliques, from N' = 2 upwards: the predicate is monotone."""
    pairs = list(itertools.combinations(range(len(gram)), 2))
    for size in range(2, len(gram) + 1):
        graph = nx.Graph([(i, j) for i, j in pairs if together(gram, i, j, size)])
        if not graph or nx.max_weight_clique(graph, weight=None)[1] < size:
            return size - 1
    return len(gram)


def random_gram(members, points, seed):
    values = np.random.default_rng(seed).choice([-1, 0, 1, 2], (members, points))
    values[:, 0] = 1
    return values @ values.T


@pytest.mark.parametrize(("members", "points"), [(20, 6), (40, 9), (50, 400)])
def test_members_that_are_apart_are_as_many_as_there_can_be(members, points):
    gram = random_gram(members, points, seed=members * points)
    witness = independent_members(gram)
    assert len(witness["chosen"]) == by_networkx(gram) <= witness["upper"]
    assert len(witness["classes"]) <= witness["upper"]


def test_no_factor_shows_less_than_the_largest_eigenvalue():
    """Of an exact eigenvalue, 1: factors of what a number below it leaves."""
    table = np.array([[1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]])
    posed = pose(of_tables(table), Fraction(1))
    problem, known, rng = posed.parsed, posed.known, np.random.default_rng(0)
    assert inner_products(problem)[1] == 4
    for scale in (1, 10, 1000, 10**6):
        for _ in range(30):
            lines = np.tril(rng.integers(-scale, scale + 1, (3, 3)))
            rows = [" ".join(f"{v:x}" for v in line[: i + 1]) for i, line in enumerate(lines)]
            witness = {"top": "999/1000", "factor": rows, "scale": scale}
            with pytest.raises(checker.Refused, match="may be above top"):
                spread(problem, known.members, known.products, witness)


def test_more_members_than_are_certified_are_refused():
    table = np.random.default_rng(0).choice([-1, 1], (MEMBERS + 1, 16))
    with pytest.raises(UsageError, match="at most 1000 in a certificate"):
        certify(of_tables(table))
