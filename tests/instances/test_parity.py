import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from instances import CodedExamples, Parity, ToolkitError, UsageError, tokens
from tests.conftest import every_token


@pytest.mark.parametrize(("d", "m"), [(2, 1), (3, 2), (4, 2), (4, 3), (5, 1), (5, 4), (5, 3)])
def test_layer_formula_and_bits_agree_on_every_token(d, m):
    family = Parity(d=d, m=m)
    words = every_token(d)
    x = tokens.unpack(words, d)
    quiet = np.zeros(len(words), bool)
    for secret in itertools.combinations(range(1, d), m):
        label = family.label(secret, x)
        np.testing.assert_allclose(family.layer(secret)(x), label, atol=1e-13)
        assert (family.decode(x, family.codes(secret, words, quiet)) == label).all()
        z = x[:, 0] * x[:, 1]
        psi = np.where(z[:, 0] > 0, float(family.known_constant), z[:, list(secret)].prod(axis=1))
        assert (label[:, :, 0] == x[:, :, 0] * psi[:, None]).all()
        assert not label[:, :, 1:].any()


@pytest.mark.parametrize(("d", "m", "noise"), [(4, 2, Fraction(0)), (5, 3, Fraction(1, 4))])
def test_members_are_orthogonal_by_enumeration(d, m, noise):
    family = Parity(d=d, m=m, noise=noise)
    x = tokens.unpack(every_token(d), d)
    members = list(itertools.combinations(range(1, d), m))
    parts = np.array([(family.mean(s, x) - family.known(x)).ravel() for s in members])
    gram = parts @ parts.T / 4**d
    # half of the tokens are open, and trivial_risk is what one of those carries
    np.testing.assert_allclose(gram, np.eye(len(members)) * family.trivial_risk / 2, atol=1e-14)
    assert len(members) == family.size


@pytest.mark.parametrize("m", [1, 2, 3, 7, 8, 15, 16])
def test_layer_equals_formula_at_d_64(m):
    family = Parity(d=64, m=m)
    instance = family.instance(seed=m)
    x = instance.examples(0, 3000).x
    error = np.abs(instance.layer()(x) - family.label(instance.hidden.secret, x)).max()
    assert error <= 1e-12


@pytest.mark.parametrize("d", [5, 63, 64, 65, 130])
@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 5)])
def test_packed_and_dense_are_the_same_examples(d, noise):
    family = Parity(d=d, m=3, noise=noise)
    instance = family.instance(0)
    whole = instance.examples(0, 500)
    assert (tokens.pack(whole.x) == whole.words).all()
    again = CodedExamples(family=family, words=tokens.pack(whole.x), codes=whole.codes)
    assert (again.y == whole.y).all()
    cut = [instance.examples(s, n) for s, n in ((0, 1), (1, 200), (201, 299))]
    assert (np.concatenate([c.words for c in cut]) == whole.words).all()
    assert (np.concatenate([c.codes for c in cut]) == whole.codes).all()
    assert (np.concatenate([c.y for c in cut]) == whole.y).all()


def test_noise_flips_the_unknown_sign_alone_and_as_often_as_it_says():
    noisy, clean = Parity(d=20, m=4, noise=Fraction(1, 10)), Parity(d=20, m=4)
    secret = (2, 3, 5, 7)
    from instances.family import Hidden, Instance

    hidden = Hidden(secret=secret, seed=1, nonce=b"")
    a = Instance(family=noisy, hidden=hidden).examples(0, 40_000)
    b = Instance(family=clean, hidden=hidden).examples(0, 40_000)
    assert (a.words == b.words).all()
    wrong = a.codes != b.codes
    assert not wrong[~noisy.open(a.words)].any()
    rate = wrong.sum() / noisy.open(a.words).sum()
    assert abs(rate - 0.1) < 5 * math.sqrt(0.09 / 20_000)
    np.testing.assert_allclose(
        noisy.mean(secret, a.x[:9]), 0.8 * b.y[:9] + 0.2 * noisy.known(a.x[:9])
    )


def test_flips_do_not_depend_on_tokens_or_secret():
    family = Parity(d=40, m=3, noise=Fraction(1, 4))
    instance = family.instance(0)
    examples = instance.examples(0, 20_000)
    clean = family.codes(instance.hidden.secret, examples.words, np.zeros(20_000, bool))
    open_rows = family.open(examples.words)
    flipped = (clean ^ examples.codes)[open_rows] - 0.25
    x = examples.x[open_rows].reshape(len(flipped), -1)
    largest = np.abs(flipped @ x / len(flipped)).max() / math.sqrt(3 / 16 / len(flipped))
    assert largest < 5  # the most extreme of 80 correlations, in standard errors


def test_heads_that_float64_cannot_hold_are_refused_and_their_certificate_is_not():
    from hardness.check import check
    from hardness.lower import certify, verify

    family = Parity(d=64, m=30, rho=Fraction(9, 8))
    for work in (
        lambda: family.layer(tuple(range(1, 31))),
        family.response,
        lambda: verify(family),
    ):
        with pytest.raises(ToolkitError, match="raise rho"):
            work()
    check(certify(family).to_dict())


def test_a_known_label_does_not_leak():
    """Where everyone knows the label the packed bit is 0, whatever the secret."""
    family = Parity(d=10, m=3, noise=Fraction(1, 4))
    examples = family.instance(0).examples(0, 5000)
    assert not examples.codes[~family.open(examples.words)].any()


def test_secrets_are_uniform():
    family = Parity(d=5, m=2)
    counts: dict = {}
    rng = np.random.default_rng(0)
    for _ in range(6000):
        secret = family.draw(rng)
        counts[secret] = counts.get(secret, 0) + 1
    assert len(counts) == 6
    assert max(abs(c - 1000) for c in counts.values()) < 5 * math.sqrt(1000)


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"d": 1, "m": 1}, "at least 2"),
        ({"d": 4, "m": 4}, "d - 1"),
        ({"d": 4, "m": 0}, "between 1"),
        ({"d": 4, "m": 2, "noise": Fraction(1, 2)}, "below 1/2"),
        ({"d": 4, "m": 2, "noise": Fraction(-1, 9)}, "at least 0"),
        ({"d": 4, "m": 2, "rho": Fraction(1)}, "above 1"),
        ({"d": 999, "m": 500}, "exact heads"),
    ],
)
def test_refuses_parameters_out_of_range(given, word):
    with pytest.raises(UsageError, match=word):
        Parity(**given)


def test_refuses_a_secret_of_another_family():
    family = Parity(d=5, m=2)
    for secret in ((0, 1), (1, 1), (1, 5), (1,)):
        with pytest.raises(UsageError, match="secret"):
            family.layer(secret)


@pytest.mark.parametrize("other", [0, -3, 255, 1.5, 1j, math.nan])
def test_only_signs_are_packed(other):
    with pytest.raises(UsageError, match="other than -1 and"):
        tokens.pack(np.array([1, -1, other]))
