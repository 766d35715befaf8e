"""Samples to attention examples and back: nothing is lost, and tokens are uniform."""

import numpy as np
import pytest
from scipy.stats import chi2

from instances import parse, read_folder, residues
from instances.errors import DamagedFile, ToolkitError, UsageError
from instances.files import write_public_folder
from instances.residues import dot
from instances.samples import Samples, samples, to_attention

SPECS = [
    "lwr:n=4,q=16,p=4",
    "lwr:n=4,q=16,p=2,secret=binary,h=2",
    "lwe:n=3,q=17,sigma=1",
    "lwe:n=3,q=521,sigma=1",
    "lpn:n=20,noise=0.2",
    "window:n=4,q=8,parts=4",
]


def fresh(spec, count, seed=0):
    """Samples with a uniform on Z_q^n, made without any attention example."""
    family, rng = parse(spec), np.random.default_rng(seed)
    a = rng.integers(0, family.q, (count, family.n))
    secret = family.draw(rng)
    errors = rng.choice([0, 0, 1], count) if family.errors else 0
    codes = family.table[(a @ np.array(secret) + errors) % family.q]
    return Samples(family=family, a=a, codes=codes)


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize(("count", "at_once"), [(1, 1 << 24), (2, 1 << 24), (300, 1000), (40, 1)])
def test_forward_then_backward_returns_all_samples_in_order(spec, count, at_once, monkeypatch):
    monkeypatch.setattr("instances.samples._NUMBERS", at_once)
    given = fresh(spec, count)
    made = to_attention(given, seed=5)
    back = samples(made)
    assert (back.a == given.a).all()
    assert (back.codes == given.codes).all()
    again = made.family.restore(made.tensors, len(made))  # nothing where labels are known
    assert again.agrees(made)
    factor = (made.x * made.y)[:, 0, 0]
    opened = made.x[:, 0, 0] != made.x[:, 1, 0]
    assert (factor[~opened] == 0).all()
    levels = np.array([float(v) for v in made.family.levels])
    assert np.abs(factor[opened] - levels[given.codes]).max() < 1e-15
    assert not made.y[:, :, 1:].any()


def test_the_same_seed_makes_the_same_examples_and_another_others():
    given = fresh(SPECS[0], 50)
    assert to_attention(given, 1).agrees(to_attention(given, 1))
    assert not to_attention(given, 1).agrees(to_attention(given, 2))


@pytest.mark.parametrize(
    "spec", ["lwr:n=2,q=4,p=2", "lwr:n=1,q=16,p=4", "lwe:n=1,q=3,sigma=0.5,bits=6"]
)
def test_tokens_are_uniform(spec):
    family = parse(spec)
    made = to_attention(fresh(spec, 60_000), seed=3)
    # Every cell of (z_0, bits, X_1) is as frequent as another: a chi-squared test of all of them.
    first, z = made.words[:, 0, 0], made.words[:, 0, 0] ^ made.words[:, 1, 0]
    for cells in (z, z ^ (first << np.uint64(0)), first):
        counts = np.bincount(cells.astype(np.int64), minlength=1 << family.d)
        expected = len(made) / (1 << family.d)
        statistic = float(((counts - expected) ** 2 / expected).sum())
        assert statistic < chi2.isf(1e-6, (1 << family.d) - 1)
    joint = np.bincount((z * np.uint64(4) + first % np.uint64(4)).astype(np.int64))
    expected = len(made) / (4 << family.d)
    assert ((joint - expected) ** 2 / expected).sum() < chi2.isf(1e-6, (4 << family.d) - 1)


def test_a_biased_a_is_seen_by_the_same_test():
    given = fresh("lwr:n=1,q=16,p=4", 20_000)
    biased = Samples(family=given.family, a=given.a & 14, codes=given.codes)
    made = to_attention(biased, seed=0)
    z = made.words[:, 0, 0] ^ made.words[:, 1, 0]
    counts = np.bincount(z.astype(np.int64), minlength=32)
    expected = len(made) / 32
    assert ((counts - expected) ** 2 / expected).sum() > chi2.isf(1e-6, 31)


def test_a_number_mod_a_prime_is_written_as_a_uniform_one_of_its_writings():
    a = np.full((30_000, 1), 2)
    found = residues.write(a, 4, 5, np.random.default_rng(0)) @ (1 << np.arange(4))
    assert set(found.tolist()) == {2, 7, 12}
    assert np.abs(np.bincount(found)[[2, 7, 12]] / 30_000 - 1 / 3).max() < 0.015


def test_examples_of_nobodys_secret_make_a_folder_without_one(tmp_path):
    given = fresh("lwe:n=3,q=521,sigma=1", 100)
    made = to_attention(given, seed=0)
    for tensors in ("npz", "safetensors"):
        folder = write_public_folder(tmp_path / tensors, made, tensors)
        assert folder.instance is None
        assert folder.public.commitments == {}
        assert folder.examples(0, len(made)).agrees(made)
        assert (samples(folder.examples(0, 10_000)).codes == given.codes).all()
    few = write_public_folder(tmp_path / "few", to_attention(given.cut(0, 1), seed=0))
    assert len(few.public.reference) == min(few.count, 8)
    (tmp_path / "npz" / "secret.json").write_text('{"format": "hardness-secret/1"}')
    with pytest.raises(DamagedFile):
        read_folder(tmp_path / "npz")


def test_codes_of_many_levels_stand_in_a_folder(tmp_path):
    from instances import write_folder

    instance = parse("lwe:n=2,q=1601,sigma=2").instance(0)
    folder = write_folder(tmp_path / "x", instance, 20)
    assert folder.instance is not None
    assert folder.examples(0, 20).agrees(instance.examples(0, 20))


def test_a_large_q_is_refused():
    assert parse("lwe:n=65536,q=65521,sigma=2").length <= 62  # a number fits into a word
    wide = parse("lwe:n=2,q=281474976710597,sigma=2")
    given = Samples(family=wide, a=np.zeros((1, 2), np.int64), codes=np.zeros(1, np.int64))
    with pytest.raises(ToolkitError, match="need q of at most 65536"):
        to_attention(given, 0)


@pytest.mark.parametrize("q", [2, 17, 3329, (1 << 24) - 3, 1 << 26, (1 << 48) - 59])
def test_inner_products_are_exact_at_any_modulus(q):
    rng = np.random.default_rng(0)
    a, s = q - 1 - rng.integers(0, 2, (20, 30)), rng.integers(0, 2, 30) - 1
    expected = [sum(x * y for x, y in zip(row, s.tolist(), strict=True)) % q for row in a.tolist()]
    assert dot(a, s, q).tolist() == expected
    a, s = rng.integers(0, q, (20, 30)), rng.integers(-(q // 2), q // 2 + 1, 30)
    expected = [sum(x * y for x, y in zip(row, s.tolist(), strict=True)) % q for row in a.tolist()]
    assert dot(a, s, q).tolist() == expected


def test_labels_of_a_window_do_not_place_the_inner_product():
    given = fresh("window:n=4,q=8,parts=4", 5)
    with pytest.raises(UsageError, match="do not say where"):
        _ = given.b
