"""Streams of bits, laws of tokens: cuts leave no trace, moments are as stated."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instances import UsageError, tokens
from instances.streams import BitStream, generator, key
from instances.tokens import TokenLaw


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
        "must be -1 and \\+1": lambda: tokens.pack(np.array([[0, 1]])),
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


# ---- laws of tokens


D, K = 4, 3
LAWS = {
    "boolean": TokenLaw(kind="boolean", d=D),
    "gaussian": TokenLaw(kind="gaussian", d=D),
    "constant": TokenLaw(kind="gaussian", d=D + 1, constant=True),
    "signs and a constant": TokenLaw(kind="boolean", d=D + 1, constant=True),
}
MANY = 20_000


def draws(law, count=MANY, start=0):
    return law.draw(BitStream((3, 4)), start, count, K)


@pytest.mark.parametrize("name", LAWS)
def test_moments_are_those_of_what_is_drawn(name):
    law = LAWS[name]
    x = draws(law).astype(float)
    assert x.shape == (MANY, K, law.d)
    mean, covariance = np.zeros((K, law.d)), np.eye(law.d)
    if law.constant:
        mean[:, -1], covariance[-1, -1] = 1.0, 0.0
    apart = x - mean
    size = np.sqrt(np.diag(covariance))
    assert (np.abs(apart.mean(axis=0)) <= 5 * size / MANY**0.5 + 1e-12).all()
    flat = apart.reshape(MANY, -1)
    wanted = np.kron(np.eye(K), covariance)  # the tokens are independent
    spread = np.sqrt((flat[:, :, None] * flat[:, None, :]).var(axis=0) / MANY)
    assert (np.abs(flat.T @ flat / MANY - wanted) <= 5.5 * spread + 1e-9).all()


@pytest.mark.parametrize("name", LAWS)
def test_examples_are_the_same_however_the_stream_is_cut(name):
    whole = draws(LAWS[name], 100)
    for start, count in ((0, 1), (17, 50), (99, 1)):
        part = draws(LAWS[name], count, start)
        assert np.allclose(part, whole[start : start + count], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("name", LAWS)
def test_no_token_is_longer_and_tails_are_bounded(name):
    law = LAWS[name]
    x = draws(law).astype(float)
    longest = (x**2).sum(axis=2).max(axis=1)
    if law.longest is not None:
        assert longest.max() == law.longest
        return
    from scipy.stats import chi2

    offset, rank = float(law.constant), law.free
    seen = []
    for b in (0.0, 1.0, 2.0, 3.0):
        cut = (offset + b) ** 2
        bound = K * (offset + rank**0.5) ** 2 * chi2.sf(b * b, rank + 2)
        seen.append(float((longest * (longest > cut)).mean()))
        assert seen[-1] <= bound
    assert seen[1] > 0  # it was about something
