import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import UsageError, tokens
from instances.streams import BitStream, generator, key


@given(st.integers(0, 2**70), st.lists(st.integers(1, 50), min_size=1, max_size=6))
def test_any_cutting_gives_the_same_words(start, pieces):
    stream = BitStream(key(3, "test"))
    whole = stream.words(start, sum(pieces))
    cut, at = [], start
    for piece in pieces:
        cut.append(stream.words(at, piece))
        at += piece
    assert (np.concatenate(cut) == whole).all()


def test_words_are_numpys_philox():
    found = BitStream((5, 6)).words(0, 9)
    assert (found == np.random.Philox(key=[5, 6]).random_raw(9)).all()


def test_axes_and_seeds_give_different_streams():
    keys = {key(s, *a) for s in (0, 1, 10**40) for a in ((), ("a",), ("a", "b"), ("ab",), ("a", 1))}
    assert len(keys) == 15
    assert generator(0, "a").integers(2**60) == generator(0, "a").integers(2**60)
    refusals = {
        "seed": lambda: key(-1),
        "at least 0": lambda: BitStream((0, 0)).words(-1, 2),
        "boolean": lambda: tokens.pack(np.array([[0, 1]])),
    }
    for said, refused in refusals.items():
        with pytest.raises(UsageError, match=said):
            refused()


def test_the_stream_does_not_change_between_versions():
    """Published instances depend on it."""
    assert key(0, "tokens", "examples") == (4273933465128778489, 11056312919070858047)


@given(st.integers(1, 200), st.integers(1, 5), st.integers(0, 2**32))
def test_packing_and_unpacking_are_inverse(d, k, seed):
    words = tokens.boolean(BitStream(key(seed)), 0, 6, k, d)
    x = tokens.unpack(words, d)
    assert x.shape == (6, k, d)
    assert set(np.unique(x)) <= {-1, 1}
    assert (tokens.pack(x) == words).all()


def test_bits_do_not_correlate_with_parities():
    x = tokens.unpack(tokens.boolean(BitStream(key(0)), 0, 40_000, 1, 70), 70)[:, 0]
    rng = np.random.default_rng(0)
    for size in (1, 2, 5, 30, 70):
        chosen = rng.choice(70, size, replace=False)
        assert abs(x[:, chosen].prod(axis=1).mean()) < 5 / 200


def test_gaussian_tokens_are_standard_normal():
    from scipy.stats import kstest

    x = tokens.gaussian(BitStream(key(2)), 0, 5000, 2, 4).ravel()
    assert np.isfinite(x).all()
    assert kstest(x, "norm").pvalue > 1e-4
