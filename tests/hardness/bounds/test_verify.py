"""Sampled correlations, the empirical SQ dimension, and layers against their formula."""

import itertools
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from hardness.bounds import certify, gram, verify
from hardness.bounds.gram import of_family, of_members, of_sets, sampled
from hardness.bounds.leap import leaps
from hardness.bounds.verify import check_stored, dimension
from instances import Parity, parse, sets, symmetric, tokens, write_folder
from instances.errors import Refuted, TooLarge, UsageError
from instances.files import read_folder
from instances.sets import Profile, signs
from tests.conftest import every_token
from tests.laws import representative
from tests.proofs import of_functions
from tests.truth import enumerated

MAJORITIES = str(Path(__file__).parents[3] / "docs/examples/majorities.py:threes")
SPECS = [  # beside those of tests/test_matrix.py
    *("parity:d=70,m=4,noise=0.1", "parity:d=3,m=2", "lwe:n=2,q=5,sigma=1"),
    *("profile:g=[3,3,-1,-1],d=20,m=3", "profile:g=[0,1/3,2/3,1],d=20,m=3"),
]


def smooth(x):
    x = x.astype(float)
    a, b = x.sum(axis=1), x[:, 0] * x[:, -1]
    return np.array([np.tanh(a), np.cos(a) - b, a / 8])


@pytest.mark.parametrize("g", ["parity", "majority", "[0,1,4]", "[3,3,-1]"])
def test_certified_correlations_are_those_over_all_tokens(g):
    family = parse(f"profile:g={g},d=5,m=2")
    members = tuple(itertools.combinations(range(1, 5), 2))
    words = every_token(5)
    opened = words[family.open(words)]
    sample = of_sets(family, members, lambda start, count: opened[start : start + count])
    found = sampled(sample, len(opened), 0.99)
    np.testing.assert_allclose(found.gram, sample.certified, atol=1e-13)
    clean = np.zeros(len(opened), np.bool_)
    values = np.array([family.factors[family.codes(s, opened, clean)] for s in members])
    np.testing.assert_allclose(sample.certified, np.corrcoef(values), atol=1e-13)


@pytest.mark.parametrize("spec", SPECS)
def test_right_families_agree(spec):
    found = verify(parse(spec), members=30, samples=20_000)
    found.require()
    assert found.agrees
    assert found.worst <= found.gram.radius
    assert found.layer.members > 0


@pytest.mark.parametrize(
    "spec", ["parity:d=20,m=2", "lpn:n=8,noise=0.1", "profile:g=[0,1,2],d=20,m=2"]
)
def test_the_radius_covers_as_often_as_it_says(spec):
    family = parse(spec)
    outside = [verify(family, 20, 1000, 0.5, seed=s).disagreements > 0 for s in range(24)]
    assert sum(outside) <= 12 + 3 * 6**0.5


def test_functions_are_covered_and_the_interval_is_no_wider_than_it_must_be(monkeypatch):
    """Correlations of every Gram matrix within the radius of the sampled one, by trying some."""
    family = of_functions(smooth, "abc", 8, bound=3)
    exact = of_members(family).certified
    monkeypatch.setattr(gram, "_ENUMERATED_VALUES", 0)  # so that norms are sampled too
    sample = of_members(family)
    for seed in range(20):
        found = sampled(of_members(family, seed), 100_000, 0.9)
        assert np.abs(found.gram - exact).max() <= found.radius
    samples = 400_000
    found = sampled(sample, samples, 0.99)
    x = np.array([sample.values(sample.draw(0, samples))])[0]
    means = x @ x.T / samples
    off = 9 * (2 * np.log(12 / 0.01) / samples) ** 0.5
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(300):
        noise = np.triu(rng.choice([-1, 1], (3, 3))) * off
        other = means + noise + np.triu(noise, k=1).T
        norms = np.sqrt(np.diagonal(other))
        correlations = np.clip(other / np.outer(norms, norms), -1, 1)
        np.fill_diagonal(correlations, 1)
        worst = max(worst, np.abs(correlations - found.gram).max())
    assert 0.98 * found.radius < worst <= found.radius


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize("head", [0, 2])
def test_a_moved_threshold_is_seen(monkeypatch, m, head):
    right = symmetric.exact_heads(signs(m), Fraction(3))
    moved = list(right)
    moved[head] = replace(right[head], u=right[head].u * 2)
    monkeypatch.setattr(sets, "exact_heads", lambda values, rho: tuple(moved))
    found = verify(Parity(d=24, m=m), members=50, samples=20_000)
    assert not found.layer.agrees
    with pytest.raises(Refuted, match=r"the layer of member \[\d+, "):
        found.require()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("parity:d=10,m=3", "label"),
        ("lwe:n=2,q=5,sigma=1", "mean"),
        ("hidden:d=8,hard=2,nice=1", "label"),
    ],
)
def test_a_layer_that_is_not_the_formula_is_named(monkeypatch, spec, name):
    family = parse(spec)
    right = getattr(type(family), name)
    monkeypatch.setattr(type(family), name, lambda self, s, x: right(self, s, x) + 1e-9)
    with pytest.raises(Refuted, match="label formula"):
        verify(family, members=5, samples=20_000).require()


def test_labels_with_other_correlations_are_refused_and_the_pair_named(monkeypatch):
    right, order = gram.count_common_ones, np.arange(50)
    order[7] = 3

    def swapped(masks, words):  # of the points, not of the members with each other
        return right(masks if words is masks else masks[order], words)

    monkeypatch.setattr(gram, "count_common_ones", swapped)
    found = verify(parse("parity:d=24,m=3"), members=50, samples=20_000)
    assert found.disagreements == 1
    with pytest.raises(Refuted, match=r"worst pair is \[\d+, .*\] and \[\d+, "):
        found.require()


def test_members_that_are_not_independent_are_seen(monkeypatch):
    monkeypatch.setattr("hardness.bounds.gram.representative", lambda family, s: s)
    found = verify(parse("lwr:n=3,q=8,p=2,secret=ternary"), members=26, samples=40_000)
    assert found.disagreements >= 13
    with pytest.raises(Refuted, match="worst pair"):
        found.require()


@pytest.mark.parametrize(
    "spec", ["profile:g=majority,d=9,m=3", "parity:d=9,m=2", "lpn:n=4,noise=0"]
)
def test_members_of_the_empirical_dimension_are_apart(spec):
    """So that the SQ dimension is no smaller, but for one in a hundred samples."""
    family, failed = parse(spec), 0
    for seed in range(10):
        sample = of_family(family, 60, seed)
        made = sampled(sample, 4000, 0.99)
        found = dimension(made.gram, made.radius)
        exact = np.abs(sample.certified[np.ix_(found, found)]) - np.eye(len(found))
        failed += bool(exact.max() > 1 / len(found))
        assert len(set(found)) == len(found) >= 2
        apart = np.abs(made.gram[np.ix_(found, found)]) - 9 * np.eye(len(found)) + made.radius
        assert apart.max() <= 1 / len(found)
    assert failed <= 2


def test_the_empirical_dimension_is_exact_where_correlations_are():
    """Against trying all sets of members."""
    subsets = list(itertools.combinations(range(6), 3))
    majority = of_functions(lambda x: np.sign([x[:, s].sum(axis=1) for s in subsets]), subsets, 6)
    exact = np.abs(of_members(majority).certified)
    assert len(dimension(exact - 1e-12, 0.0)) == enumerated(exact, "sq-dimension", 0)


def test_functions_of_a_file_and_layers(hardness, tmp_path):
    shown = hardness("verify", MAJORITIES, "--json").json
    assert shown["largest"]["enumerated"] == pytest.approx(0.5)
    assert (shown["members"], shown["agrees"], shown["layer"]) == (56, True, None)
    assert shown["sq_dimension"]["bounds_queries"] is False
    assert len(shown["sq_dimension"]["members"]) == shown["sq_dimension"]["empirical"] == 3
    some = hardness("verify", MAJORITIES, "--members", "9").out
    assert "45 of 9 members" in some
    assert "no bound on queries" in some
    (tmp_path / "real.py").write_text(
        "import numpy as np\nd, bound = 40, 2\n"
        "waves = [lambda x, k=k: np.cos(k * x[:, :9].sum(axis=1)) for k in (1, 2, 3)]\n"
    )
    real = hardness("verify", "real.py:waves", "--json").json
    assert real["largest"] == {"sampled": real["largest"]["sampled"], "certified": None}
    family = parse("nice:m=1,k=2,d=3")
    (tmp_path / "layers").mkdir()
    for i in range(4):
        family.instance(i).layer().save(tmp_path / "layers" / f"{i}.npz")
    found = hardness("verify", "layers", "--json").json
    assert (found["members"], found["agrees"]) == (4, True)
    assert found["largest_deviation"] <= found["radius"]


RARE = """import numpy as np
d, bound = 40, {bound}
pair = [
    lambda x, k=k: np.where((x[:, :{signs}] == 1).all(axis=1), {value}, x[:, -k]) for k in (1, 2)
]
"""


def test_a_bound_that_a_file_states_is_a_condition_of_the_confidence(hardness, tmp_path):
    """Two functions that are 3000 together, with chance 2^-22: samples do not see it."""
    (tmp_path / "rare.py").write_text(RARE.format(bound=1, signs=22, value=3000))
    asked = ("verify", "rare.py:pair", "--samples", 20_000)
    words = " ".join(hardness(*asked).out.split())
    condition = "if |f(x)| <= 1 for every member f and every point x, which samples cannot show"
    assert f"(99%; Hoeffding, union bound over all entries) {condition} largest" in words
    assert "statistical (99%, under the same condition)" in words
    shown = hardness(*asked, "--json").json
    assert shown["condition"] == condition
    both = 3000**2 / 2**22
    assert both / (1 + both) > shown["largest"]["sampled"] + 9 * shown["radius"]
    # With a true bound the radius covers the truth, and a larger value that is drawn is refused.
    (tmp_path / "seen.py").write_text(RARE.format(bound=3, signs=2, value=3))
    seen = hardness("verify", "seen.py:pair", "--json").json
    assert "<= 3 " in seen["condition"]
    assert abs(seen["largest"]["sampled"] - 9 / (9 + 3)) <= seen["radius"]
    (tmp_path / "more.py").write_text(RARE.format(bound=1, signs=2, value=3))
    assert "has the value 3, above the bound 1" in hardness("verify", "more.py:pair").err


def test_a_bound_by_construction_is_not_a_condition(hardness):
    """Families here, layers by their weights, and functions on all points, which are few."""
    for source in ("parity:d=40,m=2", MAJORITIES):
        assert hardness("verify", source, "--samples", 2000, "--json").json["condition"] is None
    for spec in ("nice:m=1,k=2,d=3,tokens=boolean", "hidden:d=8,hard=2,nice=1"):
        assert verify(parse(spec), members=5, samples=20_000).gram.condition == ""
    nice = parse("nice:m=1,k=2,d=3,tokens=boolean")
    mine = type("Mine", (type(nice),), {"name": "mine"})(m=1, k=2, d=3)  # as a file may have one
    assert (of_family(nice, 2, 0).stated, of_family(mine, 2, 0).stated) == (False, True)
    layers = gram.of_members(replace(of_functions(lambda x: x[:, :2].T, "ab", 40), kind="layers"))
    assert not layers.stated


def test_real_labels_are_sampled_where_tokens_are_bounded():
    found = verify(parse("nice:m=1,k=2,d=3,tokens=boolean"), members=5, samples=200_000)
    found.require()
    assert found.worst is None
    assert found.gram.radius < 1
    with pytest.raises(UsageError, match="tokens=boolean"):
        verify(parse("nice:m=1,k=2,d=3,tokens=gaussian"), members=5, samples=1000)


@pytest.mark.parametrize(
    ("evaluate", "words"),
    [
        (lambda x: np.array([x[:, 0], 0 * x[:, 0]]), r"member 1 \(two\) has the norm 0"),
        (lambda x: np.array([x[:, 0], 1e200 * x[:, 0]]), r"member 1 \(two\).*overflow"),
    ],
)
def test_refuses_values(evaluate, words):
    with pytest.raises(UsageError, match=words):
        verify(of_functions(evaluate, ("one", "two"), 4, bound=1e300))


def test_too_few_samples_and_a_matrix_beyond_memory_are_refused():
    wide = of_functions(lambda x: x[:, :2].T, "ab", 40)
    with pytest.raises(UsageError, match="raise the samples"):
        verify(wide, samples=5)
    with pytest.raises(UsageError, match=r"member 1 \(b\).* above the bound 1: say in the file"):
        verify(of_functions(lambda x: x[:, :2].T * [[1], [3]], "ab", 40))
    with pytest.raises(UsageError, match="confidence must be between 0 and 1, got 1"):
        verify(wide, confidence=1)
    with pytest.raises(TooLarge, match="Gram matrix"):
        verify(parse("parity:d=1000,m=21"), members=200_000, samples=10)
    assert of_members(wide).certified is None


def test_a_layer_that_is_too_large_is_left_out_and_said_to_be():
    from hardness.report.certificate import verification_words

    found = verify(parse("lwe:n=40,q=1601,alpha=0.005"), members=10, samples=2000)
    found.require()
    assert found.layer.members == 0
    assert "not checked" in verification_words(found)


@pytest.mark.parametrize(
    "spec",
    [
        "parity:d=30,m=3,noise=0.1",
        "lwe:n=3,q=17,sigma=1",
        "lwr:n=4,q=16,p=4,secret=binary",
        "hidden:d=8,hard=2,nice=1",
    ],
)
def test_a_folder_is_read_back_and_its_labels_checked(tmp_path, spec):
    instance = parse(spec).instance(1)
    family, secret = instance.family, instance.hidden.secret
    folder = write_folder(tmp_path / "x", instance, 20_000)
    found = verify(folder.family, 20, 100_000, folder=folder)
    found.require()
    assert (found.gram.samples, found.stored.examples) == (20_000, 20_000)
    first = found.gram.members[0]
    assert first == secret or representative(family, first) == representative(family, secret)
    rate = (family if spec.startswith("l") else parse(spec)).error_rate
    assert bool(found.stored.different) == bool(rate)
    # Hoeffding, one-sided, where there are errors at all.
    checked = check_stored(folder, secret, 0.9)
    opened = int(family.open(folder.examples(0, 20_000).words).sum()) if rate else 0
    slack = (opened * np.log(1 / (1 - 0.9)) / 2) ** 0.5
    assert checked.allowed == pytest.approx(rate * opened + slack)
    stranger = next(
        s for s in map(family.draw, map(np.random.default_rng, range(9))) if s != secret
    )
    assert not check_stored(folder, stranger, 0.9).agrees
    (tmp_path / "x" / "secret.json").unlink()
    found = verify(family, 20, 1000, folder=read_folder(tmp_path / "x"))
    assert (found.stored, found.unchecked) == (None, 20_000)


@dataclass(frozen=True, kw_only=True)
class Tabled(Profile):
    """A profile of which only the tables over z are known."""

    name = "tabled"
    scheme = None


def tabled(g):
    return Tabled(g=parse(f"profile:g={g},d=7,m=3").g, d=7, m=3)


@pytest.mark.parametrize("g", ["majority", "[1,1,-1,1]", "[0,1,4,9]", "parity", "[0,2,1,1]"])
def test_leaps_of_tables_are_those_of_hidden_sets(g):
    assert leaps(tabled(g), (1, 2, 3)) == leaps(parse(f"profile:g={g},d=7,m=3"))


def test_a_family_of_hidden_sets_has_the_certificate_of_its_profile():
    class Mine(Profile):
        """Under a name of its own."""

        name = "mine"

    profile = parse("profile:g=[1,1,-1],d=8,m=2")
    made = certify(Mine(g=profile.g, d=8, m=2))
    assert made.to_dict() == certify(profile).to_dict()


def test_counts_are_those_of_dense_vectors():
    rng = np.random.default_rng(0)
    for d in (3, 64, 100):
        masks, words = rng.integers(0, 2, (5, d)), rng.integers(0, 2, (40, d))
        found = gram.count_common_ones(tokens.pack(1 - 2 * masks), tokens.pack(1 - 2 * words))
        assert (found == masks @ words.T).all()
