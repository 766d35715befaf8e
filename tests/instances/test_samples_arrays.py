"""Samples as arrays: digits, frames, torch, the front door."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

import hardness
from instances import ToolkitError, UsageError, parse, write_folder
from instances.digits import digits, length, numbers
from instances.residues import dot

SALSA = "lwe:n=30,q=251,sigma=3,secret=binary,h=3"


@given(
    q=st.one_of(st.integers(2, 300), st.sampled_from([2**16, 842779, 2**48])),
    base=st.one_of(st.integers(2, 90), st.sampled_from([105348, 2**50, 10**30])),
    seed=st.integers(0, 99),
)
def test_digits_read_back_and_are_as_few_as_can_be(q, base, seed):
    values = np.random.default_rng(seed).integers(0, q, (5, 3))
    values[0, 0] = q - 1
    found = digits(values, base, q)
    many = length(base, q)
    assert found.shape == (5, 3 * many)
    assert base ** (many - 1) < q <= base**many
    assert (found >= 0).all()
    assert (found < min(base, q)).all()
    assert (numbers(found, base, q) == values).all()
    for row, tokens in zip(values.tolist(), found.tolist(), strict=True):
        for j, value in enumerate(row):
            own = tokens[j * many : (j + 1) * many]
            assert sum(d * base ** (many - 1 - i) for i, d in enumerate(own)) == value


def test_the_most_significant_digit_is_the_first():
    assert digits(np.array([105, 7]), 10, 251).tolist() == [1, 0, 5, 0, 0, 7]
    assert digits(np.array([249, 249]), 251, 251).tolist() == [249, 249]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: digits(np.array([[1], [251]]), 16, 251),
            r"a number 251 given at \[1, 0\]: 0 .. 250",
        ),
        (lambda: digits(np.array([-1]), 16, 251), r"a number -1 given at \[0\]"),
        (lambda: digits(np.array([1.0]), 16, 251), "an array of integers is needed"),
        (lambda: digits(np.array([1]), 1, 251), "a base=1 given"),
        (lambda: numbers(np.array([[3, 16]]), 16, 251), r"a digit 16 given at \[0, 1\]: 0 .. 15"),
        (lambda: numbers(np.array([[3, -1]]), 16, 251), "a digit -1 given"),
        (lambda: numbers(np.array([[1, 2, 3]]), 16, 251), "has 2 digits in base 16"),
        (lambda: numbers(np.array([[15, 15]]), 16, 251), "a number 255 given"),
    ],
)
def test_digits_out_of_range_are_refused(call, said):
    with pytest.raises(UsageError, match=said) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_the_front_door_gives_the_samples_of_specs_files_and_folders(tmp_path):
    found = hardness.samples(SALSA, 200, seed=1)
    instance = parse(SALSA).instance(1)
    assert (found.a.shape, found.b.shape, found.q) == ((200, 30), (200,), 251)
    assert abs(found.residuals(instance.hidden.secret)).max() < 20
    assert str(found) == f"200 samples of {SALSA}"
    found.save(tmp_path / "s.prefix")
    found.save(tmp_path / "s.npz")
    write_folder(tmp_path / "it", instance, 100)
    for one in (
        hardness.samples(tmp_path / "s.prefix", spec=SALSA),
        hardness.samples(str(tmp_path / "s.npz")),
        hardness.samples(instance.family, 200, seed=1),
    ):
        assert (one.a == found.a).all()
        assert (one.b == found.b).all()
    assert len(hardness.samples(tmp_path / "s.npz", 7)) == 7
    few = hardness.samples(tmp_path / "it")
    assert 20 < len(few) < 80
    assert abs(few.residuals(instance.hidden.secret)).max() < 20
    assert (hardness.samples(SALSA, 50, seed=1).a == found.a[:50]).all()
    assert (hardness.samples(SALSA, 50, seed=1).b == found.b[:50]).all()
    for arguments, said in [
        ((SALSA,), "give their count"),
        (("nice:m=1,k=2,d=4", 5), "lacks `linear_forms`"),
        ((tmp_path / "none.npz", 5), "no such file"),
    ]:
        with pytest.raises(UsageError, match=said):
            hardness.samples(*arguments)


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=3,q=17,sigma=2",
        "lwe:n=2,q=16,error=uniform,width=3",
        "lwr:n=4,q=16,p=4",
        "lpn:n=5,noise=0.2",
        "parity:d=6,m=2,noise=0.1",
        "window:n=3,q=8,parts=4,secret=binary",
    ],
)
def test_samples_are_drawn_from_the_law_that_the_family_states(spec):
    """A chi-squared test of all (a_0, code less that of <a, s>): a is uniform, e as stated."""
    instance, many = parse(spec).instance(2), 40_000
    found = hardness.samples(spec, many, seed=2)
    family = found.family
    secret = np.array(instance.family.to_linear(instance.hidden.secret))
    clean = family.table[found.a @ secret % family.q]
    levels = family.rounding.outcomes
    cells = found.a[:, 0] * levels + (found.codes - clean) % levels
    counts = np.bincount(cells, minlength=family.q * levels)
    chances = family.chances if family.errors else np.eye(levels)[0]
    expected = many * np.tile(chances, family.q) / family.q
    assert not counts[expected == 0].any()
    places = expected > 5
    statistic = ((counts - expected)[places] ** 2 / expected[places]).sum()
    assert statistic < chi2.isf(1e-6, places.sum())
    # And it is not blind: another secret is seen.
    other = (found.a @ np.roll(secret + 1, 1)) % family.q
    assert not np.isclose(found.codes - clean, found.codes - family.table[other]).all()


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=256,q=842791,sigma=3,secret=binary,h=20",  # the sizes of VERDE
        "lwe:n=64,q=281474976710597,sigma=3",
        "lwr:n=20,q=1048576,p=1024,secret=ternary",
        "window:n=20,q=1048576,parts=4",
    ],
)
def test_samples_of_a_large_q_need_no_table(spec, tmp_path):
    found = hardness.samples(spec, 300)
    secret = parse(spec).instance(0).hidden.secret
    if spec.startswith("window"):
        inside = dot(found.a, np.array(secret), found.q) < found.q // 4
        assert (found.codes == inside).all()
    elif spec.startswith("lwe"):
        residuals = found.residuals(secret)
        assert 2.5 < residuals.std() < 3.5
    else:
        residuals = found.residuals(secret)
        assert (residuals <= 0).all()
        assert (residuals > -1024).all()
    found.save(tmp_path / "x.prefix")
    again = hardness.samples(tmp_path / "x.prefix", spec=spec)
    assert (again.a == found.a).all()
    assert (again.codes == found.codes).all()


def test_tokens_and_a_frame_hold_a_and_b():
    found = hardness.samples(SALSA, 20)
    a, b = found.tokens(16)
    assert (a.shape, b.shape) == ((20, 60), (20, 2))
    assert (numbers(a, 16, 251) == found.a).all()
    assert (numbers(b, 16, 251)[:, 0] == found.b).all()
    frame = found.to_frame()
    assert list(frame.columns[-2:]) == ["a29", "b"]
    assert (frame.to_numpy() == np.column_stack([found.a, found.b])).all()


def test_torch_is_asked_for_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "torch.utils.data", None)
    with pytest.raises(ToolkitError, match=r"torch, which is not installed: pip install"):
        hardness.samples(SALSA, 3).torch()


@pytest.mark.plugins
def test_a_torch_dataset_gives_rows():
    torch = pytest.importorskip("torch")
    found = hardness.samples(SALSA, 40)
    rows = found.torch()
    assert len(rows) == 40
    a, b = rows[3]
    assert (a.dtype, b.dtype) == (torch.int64, torch.int64)
    assert (a.tolist(), int(b)) == (found.a[3].tolist(), int(found.b[3]))
    batch = next(iter(torch.utils.data.DataLoader(rows, batch_size=8)))
    assert batch[0].shape == (8, 30)


def test_digits_that_pass_64_bits_are_refused():
    with pytest.raises(UsageError, match="pass 64 bits"):
        numbers(np.array([[2**24, 5]]), 2**40, 2**48)
