import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.linalg import hadamard

from hardness.kernels import onebit, walsh
from instances import limits, tokens
from instances.errors import TooLarge, UsageError

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
@pytest.mark.parametrize("n", range(7))
def test_walsh_is_the_product_with_the_hadamard_matrix(kind, n):
    values = np.arange(1, 2**n + 1).astype(kind)  # whole numbers: exact in every kind
    expected = hadamard(2**n).astype(np.int64) @ values.astype(np.int64)
    walsh.transform(values)
    assert (values == expected).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", range(17))
def test_walsh_has_the_bits_of_plain_butterflies(kind, n):
    values = draw(kind, 2**n)
    expected = butterfly(values)
    walsh.transform(values)
    assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize("n", [17, 18, 19, 20])
def test_walsh_of_long_vectors(n):
    values = draw(np.float32, 2**n)
    expected = butterfly(values)
    walsh.transform(values)
    assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "shape", [(0, 8), (1, 1), (5, 4), (3, 256), (7, 512), (9, 4096), (3, 2**15)]
)
def test_walsh_of_batches_is_that_of_the_rows(kind, shape):
    values = draw(kind, shape)
    expected = np.array([butterfly(row) for row in values], kind).reshape(shape)
    walsh.transform(values)
    assert values.tobytes() == expected.tobytes()


def test_walsh_takes_a_part_of_an_array_and_leaves_the_rest():
    whole = draw(np.float32, 3 + 2**12 + 5)
    expected = whole.copy()
    expected[3:-5] = butterfly(expected[3:-5])
    walsh.transform(whole[3:-5])
    assert whole.tobytes() == expected.tobytes()


def read_only(values):
    values.flags.writeable = False
    return values


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros(3, np.float32), "length 3"),
        (np.zeros(0, np.float32), "length 0"),
        (np.zeros((2, 12), np.float64), "length 12"),
        (np.broadcast_to(np.float32(0), (2**27,)), "length 134217728: at most 2\\^26"),
        (np.zeros(8, np.int64), "int64"),
        (np.zeros(8, np.complex128), "complex128"),
        (np.zeros(8, ">f4"), ">f4"),
        (np.zeros((2, 2, 2), np.float32), "shape"),
        (np.zeros((), np.float32), "shape"),
        (np.zeros(16, np.float32)[::2], "contiguous"),
        (np.zeros((4, 8), np.float32).T, "contiguous"),
        (read_only(np.zeros(8, np.float32)), "writable"),
        (np.frombuffer(bytearray(33), np.float32, 8, 1), "contiguous"),
    ],
)
def test_walsh_refuses_in_one_line(values, said):
    with pytest.raises(UsageError, match=said) as refusal:
        walsh.transform(values)
    assert "\n" not in str(refusal.value)


def test_walsh_refuses_whole_numbers_that_could_overflow_and_leaves_them():
    fits = np.array([2**31 - 5, -1, 1, 2], np.int32)
    walsh.transform(fits)
    assert fits.tolist() == [2**31 - 3, 2**31 - 5, 2**31 - 9, 2**31 - 3]
    for values in ([2**31 - 4, -1, 1, 2], [-(2**31), 0], [2**30, 2**30]):
        row = np.array([[0] * len(values), values], np.int32)
        with pytest.raises(UsageError, match="overflow"):
            walsh.transform(row)
        assert row[1].tolist() == values


def signs(members, samples, seed=0):
    return np.random.default_rng(seed).choice(np.array([-1, 1], np.int8), (members, samples))


GRAMS = [onebit.gram, onebit.gram_parallel]


def product(values):
    return values.astype(np.int64) @ values.T.astype(np.int64)


@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("members", [1, 5, 64, 131])
@pytest.mark.parametrize("samples", [1, 64, 65, 1000])
def test_gram_is_the_product_of_the_signs(gram, members, samples):
    values = signs(members, samples)
    found = gram(tokens.pack(values), samples)
    assert found.dtype == np.int64
    assert (found == product(values)).all()


@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize("words", [511, 512, 513, 520, 1024, 1029])
def test_gram_of_many_samples(gram, words):
    values = signs(70, 64 * words - 7)
    exact = values.astype(np.float64)  # sums below 2^53
    assert (gram(tokens.pack(values), 64 * words - 7) == exact @ exact.T).all()


def test_gram_takes_any_layout_and_leaves_its_input():
    values = signs(9, 640)
    bits = tokens.pack(values)
    before = bits.copy()
    read_only(bits)
    assert (onebit.gram(bits, 640) == product(values)).all()
    assert (onebit.gram(np.asfortranarray(bits), 640) == product(values)).all()
    assert (bits == before).all()


@pytest.mark.parametrize("gram", GRAMS)
@pytest.mark.parametrize(
    ("bits", "samples", "said"),
    [
        (np.array([[1], [2**63]], np.uint64), 63, "beyond"),
        (np.array([[0, 2]], np.uint64), 65, "beyond"),
        (np.zeros((2, 1), np.uint64), 65, r"uint64 \(M, 2\)"),
        (np.zeros((2, 2), np.uint64), 64, r"uint64 \(M, 1\)"),
        (np.zeros((2, 1), np.int64), 64, "int64"),
        (np.zeros(2, np.uint64), 64, r"uint64 \(2,\): uint64"),
        (np.zeros((2, 0), np.uint64), 0, "at least 1"),
    ],
)
def test_gram_refuses_in_one_line(gram, bits, samples, said):
    with pytest.raises(UsageError, match=said) as refusal:
        gram(bits, samples)
    assert "\n" not in str(refusal.value)


def test_gram_refuses_what_memory_does_not_hold(monkeypatch):
    monkeypatch.setattr(limits, "available_memory", lambda: 1 << 20)
    with pytest.raises(TooLarge, match="Gram matrix of 1000 members"):
        onebit.gram(np.zeros((1000, 1), np.uint64), 64)


def test_the_compiler_is_imported_only_where_it_is_used():
    code = "import sys, hardness.kernels; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_kernels_run_where_no_cache_can_be_written():
    code = (
        "import numpy as np\n"
        "from hardness.kernels import onebit, walsh\n"
        "v = np.array([1.0, 0, 0, 0])\n"
        "walsh.transform(v)\n"
        "print(v.tolist(), onebit.gram(np.array([[1], [2]], np.uint64), 2).tolist())\n"
    )
    env = {**os.environ, "NUMBA_CACHE_DIR": "/dev/null/none"}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert found.stdout.strip() == "[1.0, 1.0, 1.0, 1.0] [[2, -2], [-2, 2]]", found.stderr


@pytest.mark.parametrize("rows", [0, 1, 4, 63, 64, 70, 131])
@pytest.mark.parametrize("samples", [1, 64, 1000])
def test_distances_of_a_strip_add_up(rows, samples):
    values = signs(131, 2 * samples)
    out = np.zeros((rows, 131), np.int64)
    for part in (values[:, :samples], values[:, samples:]):
        onebit.add_distances(tokens.pack(part), samples, out)
    assert (np.triu(2 * samples - 2 * out) == np.triu(product(values)[:rows])).all()


@pytest.mark.parametrize(
    "out", [np.zeros((3, 2), np.int64), np.zeros((2, 2)), np.zeros((1, 3), np.int64)]
)
def test_distances_refuse_what_is_no_strip(out):
    with pytest.raises(UsageError, match="at most M rows"):
        onebit.add_distances(np.zeros((2, 1), np.uint64), 64, out)
