"""Transforms, Gram matrices and systems over GF(2), compared with plain numpy."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard

from hardness.numerics.gf2 import LinearSystem
from hardness.numerics.sign_gram import add_sign_gram
from hardness.numerics.walsh import walsh_hadamard
from instances import limits, tokens
from instances.errors import TooLarge, UsageError
from tests.conftest import not_refused

KINDS = [np.float32, np.float64, np.int32]


def butterfly(values):
    """The transform in the same order of levels, so float sums round alike."""
    values = values.copy()
    half = 1
    while half < values.shape[-1]:
        pairs = values.reshape(-1, 2, half)
        pairs[:] = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], 1)
        half *= 2
    return values


def draw(kind, shape, seed=0):
    rng = np.random.default_rng(seed)
    if kind == np.int32:
        return rng.integers(-1000, 1001, shape, np.int32)
    return rng.standard_normal(shape).astype(kind)


@pytest.mark.parametrize("kind", KINDS)
def test_walsh_is_the_product_with_the_hadamard_matrix(kind):
    for n in range(7):
        values = np.arange(1, 2**n + 1).astype(kind)  # whole numbers: exact in every kind
        expected = hadamard(2**n).astype(np.int64) @ values.astype(np.int64)
        walsh_hadamard(values)
        assert (values == expected).all(), n


@pytest.mark.parametrize("kind", KINDS)
def test_walsh_has_the_bits_of_plain_butterflies_row_by_row(kind):
    long = [2**n for n in range(17, 21)] if kind == np.float32 else []
    batches = [(0, 8), (1, 1), (5, 4), (3, 256), (7, 512), (9, 4096), (3, 2**15)]
    for shape in [2**n for n in range(17)] + long + batches:
        values = draw(kind, shape)
        rows = [butterfly(row) for row in np.atleast_2d(values)]
        expected = np.array(rows, kind).reshape(shape)
        walsh_hadamard(values)
        assert values.tobytes() == expected.tobytes(), shape


@pytest.mark.parametrize("kind", KINDS)
def test_walsh_starts_anywhere_in_a_line_of_the_cache(kind):
    """Long steps take whole lines of 64 bytes, and the entries before and after them by one."""
    size, lanes = 2**17, 64 // np.dtype(kind).itemsize
    values = draw(kind, size)
    expected = butterfly(values)
    for start in range(lanes):
        whole = np.zeros(size + lanes, kind)
        part = whole[start : start + size]
        part[:] = values
        walsh_hadamard(part)
        assert part.tobytes() == expected.tobytes(), start
        assert not whole[:start].any(), start
        assert not whole[start + size :].any(), start


def read_only(values):
    values.flags.writeable = False
    return values


def test_walsh_refuses_in_one_line():
    table = [
        (np.zeros(3, np.float32), "shape (3,)"),
        (np.zeros((2, 12), np.float64), "shape (2, 12)"),
        (np.broadcast_to(np.float32(0), (2**27,)), "n at most 26"),
        (np.zeros(8, np.int64), "int64"),
        (np.zeros(8, ">f4"), ">f4"),
        (np.zeros((2, 2, 2), np.float32), "shape"),
        (np.zeros(16, np.float32)[::2], "contiguous"),
        (read_only(np.zeros(8, np.float32)), "writable"),
    ]
    cases = [(said, lambda v=v: walsh_hadamard(v), said) for v, said in table]
    assert not_refused(UsageError, cases) == []


def test_walsh_refuses_whole_numbers_that_could_overflow_and_leaves_them():
    fits = np.array([2**31 - 5, -1, 1, 2], np.int32)
    walsh_hadamard(fits)
    assert fits.tolist() == [2**31 - 3, 2**31 - 5, 2**31 - 9, 2**31 - 3]
    for values in ([2**31 - 4, -1, 1, 2], [-(2**31), 0], [2**30, 2**30]):
        row = np.array([[0] * len(values), values], np.int32)
        with pytest.raises(UsageError, match="overflow"):
            walsh_hadamard(row)
        assert row[1].tolist() == values


def signs(members, samples, seed=0):
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (members, samples))


def product(values):
    exact = values.astype(np.float64)  # sums below 2^53
    return (exact @ exact.T).astype(np.int64)


def gram(bits, samples):
    """The upper triangle of the sums of products of all members."""
    out = np.zeros((len(bits), len(bits)), np.int64)
    add_sign_gram(bits, samples, out)
    return out


def test_gram_is_the_product_of_the_signs():
    sizes = [(m, n) for m in (1, 5, 64, 131) for n in (1, 64, 65, 1000)]
    sizes += [(70, 64 * words - 7) for words in (7, 8, 9, 15, 16, 17, 255, 256, 257, 511, 520)]
    sizes += [(m, 640) for m in (2, 3, 4, 6, 7, 127, 128, 129, 130, 133, 260)]
    for members, samples in sizes:
        values = signs(members, samples)
        found = gram(tokens.pack(values), samples)
        assert (found == np.triu(product(values))).all(), (members, samples)


def test_gram_takes_any_layout_and_leaves_its_input():
    values = signs(9, 640)
    bits = tokens.pack(values)
    before = bits.copy()
    read_only(bits)
    for one in (bits, np.asfortranarray(bits)):
        assert (gram(one, 640) == np.triu(product(values))).all()
    assert (bits == before).all()


def test_gram_is_refused_in_one_line():
    table = [
        (np.array([[1], [2**63]], np.uint64), 63, "beyond"),
        (np.zeros((2, 1), np.uint64), 65, "uint64 (M, 2)"),
        (np.zeros((2, 1), np.int64), 64, "int64"),
        (np.zeros(2, np.uint64), 64, "uint64 (2,): at least 1"),
        (np.zeros((2, 0), np.uint64), 0, "at least 1"),
    ]
    cases = [(said, lambda bits=bits, n=n: gram(bits, n), said) for bits, n, said in table]
    one = np.zeros((2, 1), np.uint64)
    cases += [
        (out.shape, lambda out=out: add_sign_gram(one, 64, out), "at most M rows")
        for out in (np.zeros((3, 2), np.int64), np.zeros((2, 2)), np.zeros((1, 3), np.int64))
    ]
    cases += [
        (out.strides, lambda out=out: add_sign_gram(one, 64, out), "contiguous and writable")
        for out in (np.zeros((2, 4), np.int64)[:, ::2], read_only(np.zeros((2, 2), np.int64)))
    ]
    assert not_refused(UsageError, cases) == []


def test_gram_is_refused_where_memory_does_not_hold_their_bits(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 10)
    with pytest.raises(TooLarge, match="the bits of 1000 functions"):
        add_sign_gram(np.zeros((1000, 1), np.uint64), 64, np.zeros((1, 1000), np.int64))


def test_gram_of_a_strip_adds_up_and_leaves_what_is_below_the_diagonal():
    for rows in (0, 1, 4, 63, 64, 70, 131):
        for samples in (1, 64, 1000):
            values = signs(131, 2 * samples)
            before = np.arange(rows * 131).reshape(rows, 131)
            out = before.copy()
            for part in (values[:, :samples], values[:, samples:]):
                add_sign_gram(tokens.pack(part), samples, out)
            wanted = before + np.triu(product(values)[:rows])
            assert (out == wanted).all(), (rows, samples)


def test_the_compiler_is_imported_only_where_it_is_used():
    public = ["gf2", "sign_gram", "sparse_search", "walsh"]
    modules = ", ".join(f"hardness.numerics.{name}" for name in public)
    code = f"import sys, {modules}; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_compiled_loops_run_where_no_cache_can_be_written():
    code = (
        "import numpy as np\n"
        "from hardness.numerics.sign_gram import add_sign_gram\n"
        "from hardness.numerics.walsh import walsh_hadamard\n"
        "v = np.array([1.0, 0, 0, 0])\n"
        "walsh_hadamard(v)\n"
        "out = np.zeros((1, 2), np.int64)\n"
        "add_sign_gram(np.array([[1], [2]], np.uint64), 2, out)\n"
        "print(v.tolist(), out.tolist())\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": "/dev/null/none"}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert found.stdout.strip() == "[1.0, 1.0, 1.0, 1.0] [[2, -2]]", found.stderr


def dense_rank(rows):
    rows = rows.copy() % 2
    rank = 0
    for column in range(rows.shape[1]):
        pivot = next((i for i in range(rank, len(rows)) if rows[i, column]), None)
        if pivot is None:
            continue
        rows[[rank, pivot]] = rows[[pivot, rank]]
        below = np.flatnonzero(rows[:, column])
        rows[below[below != rank]] ^= rows[rank]
        rank += 1
    return rank


@given(st.integers(1, 140), st.integers(1, 40), st.integers(0, 2**32), st.integers(1, 5))
def test_a_consistent_system_is_solved_however_it_is_fed(unknowns, equations, seed, parts):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 2, (equations, unknowns))
    secret = rng.integers(0, 2, unknowns)
    bits = (rows @ secret % 2).astype(np.uint8)
    system = LinearSystem(unknowns)
    for some in np.array_split(np.arange(equations), parts):
        assert system.add_equations(tokens.pack(1 - 2 * rows[some]), bits[some]) == 0
    assert system.rank == dense_rank(rows)
    assert (rows @ system.solution() % 2 == bits).all()
    if system.rank == unknowns:
        assert (system.solution() == secret).all()


@given(st.integers(1, 70), st.integers(0, 2**32))
def test_contradictions_are_counted(unknowns, seed):
    rows = np.random.default_rng(seed).integers(0, 2, (unknowns + 30, unknowns))
    packed = tokens.pack(1 - 2 * rows)
    system = LinearSystem(unknowns)
    good = np.zeros(len(rows), np.uint8)
    assert system.add_equations(packed, good) == 0
    assert system.add_equations(packed[:5], good[:5] + 1) == 5
    assert (rows @ system.solution() % 2 == 0).all()
