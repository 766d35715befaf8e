import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower import exact, exact_gram, sampled, verify
from instances import Parity, parse, symmetric, write_folder
from instances.errors import Refuted, TooLarge
from instances.families.parity import signs
from tests.conftest import every_token


def test_correlations_exact_enumerated_and_sampled_agree():
    family = Parity(d=5, m=2)
    members = tuple(itertools.combinations(range(1, 5), 2))
    words = every_token(5)
    whole = sampled(family, members, lambda s, n: words[s : s + n], len(words), 0.99)
    certified = [[float(exact(family, a, b).value) for b in members] for a in members]
    np.testing.assert_allclose(whole.gram, certified, atol=1e-13)
    assert (exact_gram(family, members) == certified).all()
    assert whole.used == len(words) // 2


@pytest.mark.parametrize("spec", ["parity:d=24,m=3", "parity:d=70,m=4,noise=0.1", "parity:d=3,m=2"])
def test_right_families_agree(spec):
    found = verify(parse(spec), members=60, samples=40_000)
    assert found.agrees
    found.require()
    assert found.worst <= found.gram.radius


def test_the_radius_covers_as_often_as_it_says():
    family = parse("parity:d=30,m=3")
    outside = [verify(family, 20, 2000, 0.5, seed=s).disagreements > 0 for s in range(60)]
    assert sum(outside) <= 30 + 3 * 15**0.5


@pytest.mark.parametrize("m", [3, 4])
@pytest.mark.parametrize("head", [0, 2])
def test_a_moved_threshold_is_seen_and_the_pair_named(monkeypatch, m, head):
    right = symmetric.exact_heads(signs(m), Fraction(3))
    moved = list(right)
    moved[head] = replace(right[head], u=right[head].u * 2)
    monkeypatch.setattr(symmetric, "exact_heads", lambda values, rho: tuple(moved))
    found = verify(Parity(d=24, m=m), members=50, samples=20_000)
    assert not found.agrees
    assert not found.layer.agrees
    with pytest.raises(Refuted, match=r"worst pair is \[\d+, .*\] and \[\d+, "):
        found.require()


def test_a_layer_that_is_not_the_formula_is_named(monkeypatch):
    right = Parity.label
    monkeypatch.setattr(Parity, "label", lambda self, s, x: right(self, s, x) + 1e-9)
    with pytest.raises(Refuted, match="label formula"):
        verify(Parity(d=10, m=3), members=5, samples=20_000).require()


def test_a_folder_is_read_back_and_its_labels_checked(tmp_path):
    instance = parse("parity:d=30,m=3,noise=0.1").instance(0)
    folder = write_folder(tmp_path / "x", instance, 30_000)
    found = verify(folder.family, 40, 100_000, folder=folder)
    assert found.agrees
    assert found.gram.samples == 30_000
    assert found.gram.members[0] == instance.hidden.secret
    assert found.stored.examples == 30_000
    assert 1200 < found.stored.different < 1800


def test_a_folder_with_labels_of_another_member_is_refused(tmp_path, monkeypatch):
    from instances.coded import CodedExamples
    from instances.family import Instance

    right = Instance.examples

    def wrong(self, start, count, axis="examples"):
        found = right(self, start, count, axis)
        if axis != "examples":
            return found
        flips = np.zeros(count, bool)
        return CodedExamples(
            family=self.family,
            words=found.words,
            codes=self.family.codes((1, 2, 3), found.words, flips),
        )

    monkeypatch.setattr(Instance, "examples", wrong)
    folder = write_folder(tmp_path / "x", parse("parity:d=30,m=3").instance(0), 1000)
    found = verify(folder.family, 10, 1000, folder=folder)
    with pytest.raises(Refuted, match="stored labels"):
        found.require()


def test_a_gram_matrix_beyond_memory_is_refused():
    with pytest.raises(TooLarge, match="Gram matrix"):
        verify(parse("parity:d=1000,m=21"), members=200_000, samples=10)
