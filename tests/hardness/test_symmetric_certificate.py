"""Certificates of profiles: the bounds against brute force, forged ones against the checker."""

import copy
import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from hardness.check import check
from hardness.check.mixture import check_mixture
from hardness.check.scheme import Scheme, read_profile
from hardness.check.symmetric import short
from hardness.lower import BoundParameters, certify
from hardness.lower.johnson import Johnson
from hardness.lower.mixture import mixture_spread
from hardness.lower.sda import enough
from hardness.lower.symmetric import labelled_gamma, right_about
from instances import Profile, parse, tokens
from instances.errors import Refuted
from instances.parameters import Expression
from instances.symmetric import to_float
from tests.conftest import every_token, sealed

TWO = ["majority", "mod(3)", "exactly(1)", "parity", "[3,-1,3]", "[1,0,0]"]
MANY = ["h**2", "parity+0.1*majority", "[0,1,-2]", "(2*h-m)**2+h"]


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
        self.scheme = Johnson.family(self.family)
        self.fade = float(1 - 2 * self.family.noise)

    def general(self, when_high, when_low):
        """E_S phi for a query that is one of two functions of X by the label: (members,)."""
        middle = float(self.family.centre)
        out = 0
        for values, chance in zip(self.values, self.chances, strict=True):
            high = (values > middle) | ~self.open
            out = out + chance * np.where(high, when_high, when_low).mean(axis=1)
        return out

    def units(self):
        """Members less their mean, of norm 1 on open tokens."""
        part = (self.mean - self.mean.mean(axis=0))[:, self.open]
        return part / np.sqrt((part**2).mean(axis=1, keepdims=True))


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


TAUS = [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01]


@pytest.mark.parametrize("spec", ["d=4,m=1", "d=4,m=2", "d=5,m=2", "d=5,m=2,noise=1/5"])
@pytest.mark.parametrize("g", TWO + MANY)
def test_a_correlational_query_rules_out_no_more_than_the_eigenvalue_allows(g, spec):
    if g.startswith("[") and "m=1" in spec:
        g = "[2,-3]"
    case = Enumerated(f"profile:g={g},{spec}")
    allowed = case.fade**2 * to_float(case.scheme.spread) / 4
    rng, largest = np.random.default_rng(1), 0
    for h in extreme_queries(case, rng, -1, 1):
        answers = (case.mean * h).mean(axis=1)
        moved = answers - answers.mean()
        assert (moved**2).sum() <= allowed * (1 + 1e-9)
        largest = max(largest, (moved**2).sum())
        for tau in TAUS:
            assert (np.abs(moved) > tau).sum() <= allowed / tau**2 * (1 + 1e-9)
    assert largest > allowed / 4  # the bound is no accident


@pytest.mark.parametrize("spec", ["d=4,m=2", "d=5,m=2", "d=5,m=2,noise=1/5"])
@pytest.mark.parametrize("g", TWO)
def test_no_query_on_two_values_rules_out_more(g, spec):
    case = Enumerated(f"profile:g={g},{spec}")
    family = case.family
    half = float(max(family.values) - min(family.values)) / 2
    allowed = case.fade**2 * to_float(case.scheme.spread) / half**2 / 4
    rng, largest = np.random.default_rng(2), 0
    for part in extreme_queries(case, rng, -1, 1):
        other = [-part, rng.uniform(-1, 1, part.shape), np.abs(part), part * 0]
        for when_low in other:
            answers = case.general(part, when_low)
            moved = answers - answers.mean()
            assert (moved**2).sum() <= allowed * (1 + 1e-9)
            largest = max(largest, (moved**2).sum())
    assert largest > allowed / 4


@pytest.mark.parametrize("spec", ["d=4,m=2", "d=5,m=2", "d=5,m=2,noise=1/5"])
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
    table = np.array([to_float(c) for c in scheme.correlations])
    wanted = case.fade**2 * table[met] / half**2 / (2 * (1 - mu**2))
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    unit = 2 * (1 - mu**2) * half**2 / (case.fade**2 * table[-1])
    rng, most = np.random.default_rng(3), dict.fromkeys((1, 2, 3, 7, 20, 100, 1000, 10**5), 0)
    for t in most:
        gamma = labelled_gamma(family, scheme, t)
        assert abs(to_float(gamma) - unit / (3 * t)) < 1e-12
    caps = {t: max(enough(scheme, labelled_gamma(family, scheme, t)).enough - 1, 0) for t in most}
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


def weighted_members(family):
    """Mean signs on all z with their mean over members, and the weighted matrix: by enumeration."""
    n, m = family.d - 1, family.m
    places = np.array(list(itertools.product((0, 1), repeat=n)))
    sets = np.array([[i in s for i in range(n)] for s in itertools.combinations(range(n), m)], int)
    plus = np.array([v > family.centre for v in family.values])
    signs = float(1 - 2 * family.noise) * np.where(plus, 1, -1)[sets @ places.T]
    mean = signs.mean(axis=0)
    split = np.ptp(signs, axis=0) > 1e-9
    moved = (signs - mean)[:, split] / np.sqrt(1 - np.abs(mean[split]))
    return signs, mean, moved, moved @ moved.T / len(places)


@pytest.mark.parametrize("noise", ["0", "1/5"])
@pytest.mark.parametrize("d", [3, 4, 5, 6, 7])
def test_no_query_to_vstat_moves_the_members_further_from_their_mixture(d, noise):
    """Every two-valued profile of d - 1 places, at queries that climb to the largest moves."""
    rng, largest = np.random.default_rng(5), []
    for m in range(1, d - 1):
        for g in itertools.product((1, -1), repeat=m + 1):
            if g[0] < 0 or min(g) > 0:
                continue
            family = parse(f"profile:g={str(list(g)).replace(' ', '')},d={d},m={m},noise={noise}")
            signs, mean, _, gram = weighted_members(family)
            spread = to_float(mixture_spread(family, Johnson.family(family)))
            np.testing.assert_allclose(np.linalg.eigvalsh(gram)[-1], spread, rtol=1e-9)
            starts = [*np.linalg.eigh(gram)[1].T[-2:], *rng.normal(size=(3, len(signs)))]
            for start in starts:
                pull, ratio = start, 0.0
                for _ in range(6):
                    total = 2 * pull @ (signs - mean)
                    high = (total > ratio * (1 + mean)).astype(float)
                    low = (-total > ratio * (1 - mean)).astype(float)
                    for when_high, when_low in (
                        (high, 0 * high),
                        (1 - high, 0 * high + 1),
                        (high, low),
                    ):
                        seen = when_high * (1 + signs) + when_low * (1 - signs)
                        for closed in (1 / 2, 0):
                            answers = closed + seen.mean(axis=1) / 4
                            reference = answers.mean()
                            moved, least = answers - reference, min(reference, 1 - reference)
                            assert (moved**2).sum() <= spread / 4 * least * (1 + 1e-9) + 1e-18
                            for t in (1, 3, 20, 1000):
                                width = np.sqrt(np.maximum(answers * (1 - answers), 0) / t)
                                out = np.abs(moved) > np.maximum(1 / t, width) + 1e-12
                                assert out.sum() <= 3 * t * spread / 4
                            if least > 1e-12:
                                pull, ratio = moved, (moved**2).sum() / least
                                largest.append(ratio / (spread / 4))
    assert max(largest) > 0.6  # the bound is no accident


@given(st.data(), st.integers(1, 9))
@settings(max_examples=60)
def test_the_weighted_eigenvalue_is_found_the_other_way_too(data, m):
    d = data.draw(st.integers(m + 2, 40))
    values = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=m + 1, max_size=m + 1))
    if len(set(values)) == 1:
        return
    noise = data.draw(st.fractions(0, Fraction(2, 5), max_denominator=9))
    family = Profile(g=Expression(str(values).replace(" ", "")), d=d, m=m, noise=noise)
    spread = mixture_spread(family, Johnson.family(family))
    scheme = Scheme(*read_profile(family.spec))
    check_mixture(scheme, spread, noise)
    with pytest.raises(Refuted, match="above the one of the mixture"):
        check_mixture(scheme, spread * (1 - fmpq(1, 2**50)), noise)


@pytest.mark.parametrize(
    ("spec", "t", "coin", "both"),
    [
        ("g=majority,d=1001,m=20", 100, 1, 12),  # the mean member is the better reference
        ("g=majority,d=1001,m=5", 100, 4, 13),
        ("g=parity,d=101,m=4,noise=0.1", 100, 27518, 54462),
        ("g=mod(3),d=101,m=6", 20, 52995, 52995),  # and here it is not
    ],
)
def test_the_better_reference_bounds_the_queries_to_vstat(spec, t, coin, both):
    made = certify(parse(f"profile:{spec}"), BoundParameters(vstat=t)).to_dict()
    check(made)
    (value,) = (c["value"] for c in made["claims"] if c["quantity"] == "vstat-queries")
    assert value == str(both)
    without = copy.deepcopy(made)
    without["evidence"]["mixture"] = None
    for one in without["claims"]:
        if one["quantity"] == "vstat-queries":
            one["value"] = str(coin)
    check(sealed(without))
    if coin < both:
        made["evidence"]["mixture"] = None
        with pytest.raises(Refuted, match="fewer already"):
            check(sealed(made))


@pytest.mark.parametrize("spec", ["d=60,m=49", "d=1000001,m=1"])
def test_the_mixture_of_too_large_a_family_is_left_out(spec):
    family = parse(f"profile:g=exactly(1),{spec}")
    data = certify(family).to_dict()
    assert data["evidence"]["mixture"] is None
    check(data)
    data["evidence"]["mixture"] = "1"
    with pytest.raises(Refuted, match="too many places"):
        check(sealed(data))


def test_a_query_may_single_out_a_value_where_there_are_more_than_two():
    """d - 1 general queries find the set where more correlational ones are certified."""
    case = Enumerated("profile:g=parity+0.01*majority,d=5,m=2")
    z = [tokens.unpack(every_token(5), 5)[:, :, j].prod(axis=1) for j in range(5)]
    single = np.isclose(case.values[0], 0.99) & case.open  # the value at h = 2 alone
    for j in range(1, 5):
        answers = (single * z[j]).mean(axis=1)
        assert answers.tolist() == [-1 / 8 if j in s else 0 for s in case.secrets]
    # The answers are as far apart for every d: a tolerance of 1/17 is fine enough.
    large = parse("profile:g=parity+0.01*majority,d=1001,m=2")
    made = certify(large, BoundParameters(tau=Fraction(1, 17)))
    assert int(made.value("csq-queries")) > 2 * 1000
    names = {claim.quantity for claim in made.claims}
    assert "csq-queries" in names
    assert not names & {"stat-queries", "vstat-queries"}


@pytest.mark.parametrize("g", ["majority", "parity+0.1*majority", "h**2"])
@pytest.mark.parametrize("scaled", ["10*({})", "({})/7", "1000-({})", "({})+3"])
def test_query_bounds_do_not_depend_on_the_units_of_the_labels(g, scaled):
    counts = []
    for text in (g, scaled.format(g)):
        made = certify(
            parse(f"profile:g={text},d=301,m=5,noise=0.1"), BoundParameters(tau=Fraction(1, 17))
        )
        check(made.to_dict())
        names = {"csq-queries", "stat-queries"} & {c.quantity for c in made.claims}
        counts.append({name: made.value(name) for name in names})
    assert counts[0] == counts[1]
    assert int(counts[0]["csq-queries"]) > 1


@pytest.mark.parametrize("spec", ["d=5,m=2", "d=6,m=2,noise=1/10", "d=6,m=3", "d=5,m=3"])
@pytest.mark.parametrize("g", ["majority", "mod(3)", "exactly(1)", "parity", "h**2"])
def test_one_hypothesis_fits_at_most_k_members(g, spec):
    case = Enumerated(f"profile:g={g},{spec}")
    units = case.units()
    gram = units @ units.T / units.shape[1]
    size = len(gram)
    rng = np.random.default_rng(4)
    mixes = [np.array(row) for row in itertools.product((0, 1), repeat=min(size, 10))]
    mixes = [np.pad(row.astype(float), (0, size - len(row))) for row in mixes if row.any()]
    mixes += list(rng.normal(size=(100, size))) + list(np.linalg.eigh(gram)[1].T)
    mixes += list((rng.random((100, size)) < 0.5).astype(float))
    risks = [Fraction(k, 20) for k in range(20)]
    caps = {risk: right_about(case.scheme, risk) for risk in risks}
    best = dict.fromkeys(risks, 0)
    for mix in mixes:
        inner, norm = gram @ mix, mix @ gram @ mix
        if norm < 1e-12:
            continue
        scale = np.arange(1, 25)[:, None] / 10 / math.sqrt(norm)
        relative = 1 - 2 * scale * inner + scale**2 * norm
        fit = (relative[None] <= np.array(risks, float)[:, None, None] - 1e-9).sum(axis=2)
        best = {risk: max(best[risk], int(row.max())) for risk, row in zip(risks, fit, strict=True)}
    assert all(best[risk] <= caps[risk] for risk in risks), (best, caps)
    assert best[risks[-1]] >= 2


@given(st.data(), st.integers(1, 8))
@settings(max_examples=80)
def test_any_profile_and_terms_are_accepted(data, m):
    d = data.draw(st.integers(m + 2, 4 * m + 12))
    values = data.draw(st.lists(st.sampled_from([-1, 1, 0, 2]), min_size=m + 1, max_size=m + 1))
    if len(set(values)) == 1:
        return
    g = Expression(str(values).replace(" ", ""))
    noise = data.draw(st.fractions(0, Fraction(2, 5), max_denominator=9))
    family = Profile(g=g, d=d, m=m, noise=noise)
    terms = BoundParameters(
        tau=data.draw(st.fractions(Fraction(1, 50), 1, max_denominator=50)),
        vstat=data.draw(st.integers(1, 10**5)),
        risk=data.draw(st.fractions(0, Fraction(8, 9), max_denominator=9)),
        success=data.draw(st.fractions(Fraction(1, 9), 1, max_denominator=9)),
        gamma=data.draw(st.fractions(Fraction(1, 200), 1, max_denominator=200)),
    )
    made = certify(family, terms)
    found = check(json.loads(json.dumps(made.to_dict())))
    assert len(found.statements) == (12 if len(set(values)) == 2 else 10)
    assert not any("N/0" in line or "inf" in line for line in found.statements)


@pytest.mark.parametrize("d", [12, 60])  # for few members K is counted less well than there
@pytest.mark.parametrize("m", [1, 2, 5])
@pytest.mark.parametrize("noise", ["0", "1/5"])
def test_the_parity_profile_says_no_more_than_the_parity_family(d, m, noise):
    if m > d - 2:
        return
    terms = BoundParameters(tau=Fraction(1, 20), vstat=50)
    one = certify(parse(f"parity:d={d},m={m},noise={noise}"), terms)
    two = certify(parse(f"profile:g=parity,d={d},m={m},noise={noise}"), terms)
    assert one.value("sq-dimension") == two.value("sq-dimension")
    assert one.value("information-floor") == two.value("information-floor")
    for name in ("stat-queries", "vstat-queries"):
        assert int(two.value(name)) <= int(one.value(name)) + 1  # K may differ by little
    assert two.value("second-eigenvalue") == two.value("operator-norm") == "1"


def test_noise_adds_no_level_to_the_information_floor():
    quiet, noisy = (
        certify(parse(f"profile:g=h**2,d=60,m=5,noise={noise}")) for noise in ("0", "1/5")
    )
    assert quiet.value("information-floor") == noisy.value("information-floor")
    assert {c.parameters.get("levels") for c in noisy.claims} == {None, "6"}


def test_numbers_of_any_size_are_printed_as_numbers():
    assert short(fmpq(3, 7)) == "3/7"
    assert short(fmpq(10**400, 3)) == "about 3.33333e+399"
    assert short(fmpq(-2, 3 * 10**400)) == "about -6.66667e-401"
    assert short(fmpq(10**30 + 1, 10**20)) == "about 1.00000e+10"


# Forgery.

TERMS = BoundParameters(gamma=Fraction(2, 5), vstat=3, tau=Fraction(1, 20))
SPECS = ["profile:g=majority,d=8,m=3,noise=0.1", "profile:g=h**2,d=9,m=3,noise=1/5"]


def made(spec=SPECS[0]):
    return json.loads(json.dumps(certify(parse(spec), TERMS).to_dict()))


def replace(data, path, value):
    forged = copy.deepcopy(data)
    node = forged
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return forged


SET = [[0, 1, 2], [0, 1, 3]]


@pytest.mark.parametrize(
    "change",
    [
        # One good or one bad set says nothing about every set.
        lambda d: d["evidence"]["sda"].update(below=SET),
        lambda d: d["evidence"]["sda"].update(below={"sets": SET}),
        lambda d: d["evidence"]["sda"].update(below=dict(d["evidence"]["sda"]["above"])),
        lambda d: d["evidence"]["sda"].update(
            below={"gamma": "2/5", "fixed": 0, "block": 1, "met": 1, "size": "15"}
        ),
        lambda d: d["evidence"]["sda"]["below"].update(sets=SET),
        lambda d: d["evidence"]["sda"].update(above=d["evidence"]["sda"]["below"]),
        lambda d: d["evidence"]["sda"].update(sets=SET),
        lambda d: d["evidence"]["sda"]["above"].update(block=7, met=3),
        lambda d: d["evidence"]["sda"]["above"].update(block=-1),
        lambda d: d["evidence"]["sda"]["below"].update(inner=["0"] * 3),
        lambda d: d["evidence"]["sda"]["below"].update(inner=["0"] * 9),
        lambda d: d["evidence"]["sda"]["below"].update(inner=["-1"] * 3),
        lambda d: d["evidence"]["sda"]["below"].update(d["evidence"]["vstat"]),
        lambda d: d["evidence"]["vstat"].update(d["evidence"]["sda"]["below"]),
        lambda d: d["evidence"].update(mixture="2"),  # it is 2.56 here
        # Codes.
        lambda d: d["evidence"]["code"].update(kind="reed-solomon", q=7),
        lambda d: d["evidence"]["code"].update(kind="greedy"),
        lambda d: d["evidence"]["code"].update(overlap=2),
        lambda d: d["evidence"]["code"].update(overlap=0),
        lambda d: d["evidence"]["code"]["sets"].append([4, 5, 6]),
        lambda d: d["evidence"]["code"]["sets"][0].append(0),
        lambda d: d["evidence"]["code"]["sets"].__setitem__(1, d["evidence"]["code"]["sets"][0]),
        # Parameters.
        lambda d: d["claims"][6]["parameters"].update(subsets="pair events"),
        lambda d: d["claims"][6]["parameters"].update(normalisation="none"),
        lambda d: d["claims"][7]["parameters"].update(subsets="all"),
        lambda d: d["claims"][8]["parameters"].update(range="[-1,1]"),
        # Words, kind and scope.
        lambda d: d["claims"][6].update(
            kind={"exact": "interval"}.get(d["claims"][6]["kind"], "exact")
        ),
        lambda d: d["claims"][6].update(meaning=d["claims"][7]["meaning"]),
        lambda d: d["claims"][8].update(meaning=d["claims"][9]["meaning"]),
        lambda d: d["claims"][8].update(assumptions=d["claims"][8]["assumptions"][:-1]),
        lambda d: d["claims"][8].update(quantity="stat-queries"),
        lambda d: d.update(scope=made(SPECS[1])["scope"]),
        # The family.
        lambda d: d.update(spec=d["spec"].replace("majority", "mod(3)")),
        lambda d: d.update(spec=d["spec"].replace("majority", "(majority)")),
        lambda d: d.update(spec=d["spec"].replace("noise=0.1", "noise=0")),
        lambda d: d.update(spec=d["spec"].replace("d=8", "d=9")),
        lambda d: d.update(spec=d["spec"].replace("d=8", "d=4")),
        lambda d: d.update(spec=d["spec"].replace("majority", "h+")),
        lambda d: d.update(spec=d["spec"].replace("profile", "parity")),
        lambda d: d["evidence"].update(values=["-1", "-1", "1", "1"]),
    ],
)
def test_a_forged_certificate_is_refused(change):
    data = made()
    before = json.dumps(data)
    change(data)
    assert json.dumps(data) != before
    with pytest.raises(Refuted) as found:
        check(sealed(data))
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: (
                d["evidence"]["sda"]["above"].update(block=2, met=1, size="25"),
                d["claims"][6].update(kind="exact"),
                d["claims"][6]["parameters"].update(upper="1"),
            ),
            "not above gamma",
        ),
        (
            lambda d: d["evidence"].update(code={"kind": "disjoint", "size": "4", "overlap": 0}),
            "no 4 disjoint sets",
        ),
        (lambda d: d["claims"][7].update(value="0"), "1 will do"),
    ],
)
def test_a_bound_that_its_evidence_does_not_give_is_refused(change, words):
    data = made()
    change(data)
    with pytest.raises(Refuted, match=words):
        check(sealed(data))


def test_claims_about_general_queries_are_refused_for_many_values():
    two, many = made(), made(SPECS[1])
    for one in two["claims"]:
        if one["quantity"] in ("stat-queries", "vstat-queries"):
            forged = copy.deepcopy(many)
            forged["claims"].append({**one, "parameters": {**one["parameters"], "noise": "1/5"}})
            with pytest.raises(Refuted, match="more than two values"):
                check(sealed(forged))
    forged = {**many, "scope": two["scope"]}
    with pytest.raises(Refuted, match="scope"):
        check(sealed(forged))


def test_a_lower_end_of_zero_needs_all_members_to_be_too_correlated():
    data = made()
    for one in data["claims"]:
        if one["quantity"] == "sda-all-subsets":
            one["value"] = "0"
            one["kind"] = "interval"
    data["evidence"]["sda"]["below"]["enough"] = "36"  # more than there are: nothing to prove
    with pytest.raises(Refuted, match="larger average"):
        check(sealed(data))
