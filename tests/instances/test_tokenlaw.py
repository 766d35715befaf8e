"""Laws of tokens: what is drawn against the moments, lengths and tails that the law states."""

from dataclasses import replace

import numpy as np
import pytest

from instances import DamagedFile, UsageError
from instances.arrayfile import read_arrays
from instances.streams import BitStream
from instances.tokenlaw import given_law, law_of, read_law

RNG = np.random.default_rng(0)
D, K = 4, 3
MIXED = RNG.normal(size=(D, D))
WORDS, PLACES = RNG.normal(size=(5, D)), RNG.normal(size=(K, D))
SHARES = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
THIN = MIXED[:2].T @ MIXED[:2]  # of rank 2
LAWS = {
    "boolean": law_of("boolean", D),
    "gaussian": law_of("gaussian", D),
    "words": given_law({"embedding": WORDS}, D),
    "shares": given_law({"embedding": WORDS, "frequencies": SHARES, "positions": PLACES}, D, K),
    "correlated": given_law({"covariance": MIXED @ MIXED.T, "mean": np.arange(D)}, D),
    "thin": given_law({"covariance": THIN, "positions": PLACES}, D),
    "places": given_law({"positions": PLACES}, D),
    "signs": replace(law_of("boolean", D), positions=PLACES),
    "point": given_law({"covariance": np.zeros((D, D)), "mean": np.ones(D)}, D),
    "constant": replace(given_law({"embedding": WORDS, "positions": PLACES}, D), constant=True),
}
MANY = 20_000


def draws(law, count=MANY, start=0):
    return law.draw(BitStream((3, 4)), start, count, K)


@pytest.mark.parametrize("name", LAWS)
def test_moments_are_those_of_what_is_drawn(name):
    law = LAWS[name]
    x = draws(law).astype(float)
    assert x.shape == (MANY, K, law.d)
    apart = x - law.mean(K)
    size = np.sqrt(np.diag(law.covariance))
    assert (np.abs(apart.mean(axis=0)) <= 5 * size / MANY**0.5 + 1e-12).all()
    flat = apart.reshape(MANY, -1)
    wanted = np.kron(np.eye(K), law.covariance)  # the tokens are independent
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
    most = law.longest(K)
    if most is not None:
        assert longest.max() <= most
        assert longest.max() == pytest.approx(most)  # and it is reached
        return
    from scipy.stats import chi2

    offset, spread, rank = law.tail(K)
    seen = []
    for b in (0.0, 1.0, 2.0, 3.0):
        cut = (offset + spread * b) ** 2
        bound = K * (offset + spread * rank**0.5) ** 2 * chi2.sf(b * b, rank + 2)
        seen.append(float((longest * (longest > cut)).mean()))
        assert seen[-1] <= bound
    assert seen[1] > 0  # it was about something


def test_what_tokens_span_and_what_their_differences_do():
    spans = {name: [part.shape[1] for part in law.seen(K)] for name, law in LAWS.items()}
    assert spans == {
        **{name: [D, D] for name in LAWS},
        "shares": [D, D],
        "point": [1, 0],
        "constant": [D + 1, D],
    }
    law = LAWS["constant"]
    tokens, differences = law.seen(K)
    x = draws(law, 500)
    apart = (x[:, :1] - x[:, 1:]).reshape(-1, law.d)
    assert np.allclose(apart @ differences @ differences.T, apart)
    assert np.allclose(x @ tokens @ tokens.T, x)


def test_rounding_spans_nothing():
    for seed in range(20):
        turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(9, 9)))[0][:, :6]
        law = given_law({"covariance": turn @ turn.T}, 9)
        assert [part.shape[1] for part in law.seen(K)] == [6, 6]


def test_a_law_from_a_file_is_that_of_its_arrays(tmp_path):
    np.savez(tmp_path / "law.npz", embedding=WORDS, frequencies=SHARES, positions=PLACES)
    np.save(tmp_path / "words.npy", WORDS)
    found = read_law(tmp_path / "law.npz", D, K)
    assert (draws(found) == draws(LAWS["shares"])).all()
    assert found.sha256 == LAWS["shares"].sha256 != read_law(tmp_path / "words.npy", D).sha256
    assert read_arrays(tmp_path / "words.npy")[0].keys() == {""}
    assert found.text == "vocabulary of 5 words with positions"
    with pytest.raises(DamagedFile, match=r"law\.npz: positions of shape \(3, 4\) given: \(2, 4\)"):
        read_law(tmp_path / "law.npz", D, 2)


BAD = {
    "frequency -0.5 of word 1 given": {"embedding": WORDS, "frequencies": [0.5, -0.5, 0.5, 0.5, 0]},
    "frequencies that sum to 12 given": {"embedding": WORDS, "frequencies": [5, 1, 2, 3, 1]},
    r"frequencies of shape \(3,\) given: \(5,\)": {"embedding": WORDS, "frequencies": [1, 0, 0]},
    "frequencies given without embedding": {"frequencies": SHARES},
    r"entries 1 at \(0, 1\) and 0 at \(1, 0\) given: it must be symmetric": {
        "covariance": np.eye(D) + np.eye(D, k=1) * (np.arange(D) == 0)[:, None]
    },
    "an eigenvalue of -1 given": {"covariance": np.diag([1, 1, 1, -1])},
    r"covariance of shape \(3, 4\)": {"covariance": np.ones((3, 4))},
    "embedding has entries that are not finite": {"embedding": np.full((3, D), np.nan)},
    "tokens of dimension 3 given: the layer takes 4": {"embedding": np.ones((5, 3))},
    r"mean of shape \(2,\)": {"covariance": np.eye(D), "mean": [1, 2]},
    "mean given without covariance": {"embedding": WORDS, "mean": np.ones(D)},
    "one of the two": {"embedding": WORDS, "covariance": np.eye(D)},
    "arrays weights given": {"embedding": WORDS, "weights": WORDS},
    "no arrays given": {},
    r"embedding of shape \(0, 4\)": {"embedding": np.ones((0, D))},
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_no_law_is_refused_in_one_line(message):
    with pytest.raises(UsageError, match=message) as raised:
        given_law(BAD[message], D)
    assert "\n" not in str(raised.value)
