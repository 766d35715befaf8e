"""Three tokens: what an open example shows, the exact heads, and what one query can learn."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hardness.lower import verify
from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import ToolkitError, parse, write_folder
from instances.errors import Refuted
from instances.families.tokens3 import cases, three_token_heads

SMALL = parse("tokens3:d=4,m=2")
EVERY = np.array(list(itertools.product([-1, 1], repeat=12)), np.int8).reshape(-1, 3, 4)


def moves(signs):
    """What a query's mean may differ by from coins: functions (4096, 4) of point and two bits.

    signs: (n, 2), 0 where an example is closed.
    """
    bits = np.array(list(itertools.product([-1, 1], repeat=2)))
    shown = (signs[:, None, :] == bits[None]).all(axis=2)
    return (shown - 0.25) * signs[:, :1] ** 2 / len(signs)


def test_labels_are_parities_of_pairs_and_members_are_orthogonal():
    """By brute force over all tokens."""
    layers, rows = [], []
    for secret in SMALL.members():
        y = SMALL.label(secret, EVERY)
        for x, label in zip(EVERY[::7], y[::7], strict=True):
            odd = [i for i in range(3) if (x[:, 0] == x[i, 0]).sum() == 1]
            for i in range(3):
                others = odd if i not in odd else [j for j in range(3) if j != i]
                if i in odd:
                    z = x[others[0]] * x[others[1]]
                else:
                    z = x[i] * x[odd[0]] if odd else x[i] * 0
                assert label[i, 0] == x[i, 0] * z[list(secret)].prod()
        assert (y[:, :, 1:] == 0).all()
        layers.append(SMALL.layer(secret)(EVERY))
        assert np.abs(layers[-1] - y).max() < 1e-12
        rows.append(y.ravel())
    assert (np.array(rows) @ np.array(rows).T == 9 / 4 * len(EVERY) * np.eye(3)).all()


@pytest.mark.parametrize(("m", "rho"), [(1, 3), (2, 2), (3, 2)])
def test_heads_are_exact_in_rationals(m, rho):
    """Softmax weights row by row, of h and h' places that differ."""
    heads = three_token_heads(m, Fraction(rho))
    assert len(heads) == len(cases(m)) + 1
    base = Fraction(rho)
    for h, other in itertools.product(range(m + 1), repeat=2):
        for odd, wanted in (((1,), (-1) ** h), ((1, 2), (-1) ** (h + other))):
            total = Fraction(0)
            for head in heads:
                u, a = (Fraction(int(v.p), int(v.q)) for v in (head.u, head.a))
                weights = [Fraction(1), *(base ** (-2 * head.slope * n) for n in (h, other))]
                signs = [-1 if i in odd else 1 for i in range(3)]
                weights = [w * u if s < 0 else w for w, s in zip(weights, signs, strict=True)]
                total += a * sum(w * s for w, s in zip(weights, signs, strict=True)) / sum(weights)
            assert total == wanted
    assert sum(head.a for head in heads) == 0


def test_one_query_moves_a_member_by_nine_eighths_and_all_by_27_sixteenths_at_most():
    family = parse("tokens3:d=5,m=2")
    x = np.array(list(itertools.product([-1, 1], repeat=15)), np.int8).reshape(-1, 3, 5)
    signs = [family.hidden_signs(secret, x) for secret in family.members()]
    even = x[:, :, 0] == np.sign(x[:, :, 0].sum(axis=1, keepdims=True))
    first, last = even.argmax(axis=1), 2 - even[:, ::-1].argmax(axis=1)
    rows = np.arange(len(x))
    found = np.array([moves(np.stack([s[rows, first], s[rows, last]], axis=1)) for s in signs])
    flat = found.reshape(len(found), -1)
    assert np.abs(flat[0]).sum() == pytest.approx(9 / 8)
    rng = np.random.default_rng(0)
    best = 0.0
    for _ in range(40):
        weights = rng.standard_normal(len(flat))
        for _ in range(20):
            query = np.sign(weights @ flat)  # the best one for these weights
            weights = flat @ query
        best = max(best, float(weights @ weights))
        assert ((flat @ rng.uniform(-1, 1, flat.shape[1])) ** 2).sum() <= 27 / 16
    assert 81 / 64 - 1e-9 <= best <= 27 / 16


def test_noise_flips_two_bits_and_the_third_with_them():
    instance = parse("tokens3:d=6,m=2,noise=0.2").instance(0)
    drawn = instance.examples(0, 40_000)
    clean = instance.family.label(instance.hidden.secret, drawn.x)
    shown = (clean[:, :, 0] * drawn.y[:, :, 0])[clean.any(axis=(1, 2))]
    assert (shown.prod(axis=1) == 1).all()
    mean = instance.family.mean(instance.hidden.secret, drawn.x)
    fades = np.unique(np.abs(mean[:, :, 0]).round(12), axis=0)
    assert fades.tolist() == [[0, 0, 0], [0.36, 0.6, 0.6], [0.6, 0.36, 0.6], [0.6, 0.6, 0.36]]
    error = np.abs((drawn.y - mean).mean(axis=0)).max()
    assert error < 0.02
    odd = np.abs(np.abs(mean[:, :, 0]) - 0.36) < 1e-9
    agreed = (clean * drawn.y)[:, :, 0]
    assert agreed[odd].mean() == pytest.approx(0.36, abs=0.02)
    assert agreed[(clean[:, :, 0] != 0) & ~odd].mean() == pytest.approx(0.6, abs=0.02)


def test_sampling_agrees_and_refuses_signs_of_another_set(monkeypatch):
    family = parse("tokens3:d=6,m=2")
    found = verify(family, members=10, samples=20_000)
    found.require()
    assert 14_000 < found.gram.used < 16_000
    kind = type(family)
    right = kind.hidden_signs
    monkeypatch.setattr(kind, "hidden_signs", lambda self, s, x: right(self, (1, s[-1]), x))
    wrong = verify(family, members=10, samples=20_000)
    assert wrong.disagreements > 0
    assert not wrong.agrees


def test_the_provable_learner_flags_parallel_outputs():
    found = run(parse_learner("staged"), parse("tokens3:d=6,m=2").instance(0), Budget())
    assert found.outcome is Outcome.DEGENERATE
    assert "labels of rank 1" in str(found.details)


def test_heads_that_float64_cannot_hold_are_refused():
    with pytest.raises(ToolkitError, match="rho=2 for m up to 5"):
        parse("tokens3:d=20,m=7").instance(0).layer()


@pytest.mark.parametrize("noise", ["0", "0.1"])
def test_stored_labels_of_another_set_are_refused(tmp_path, monkeypatch, noise):
    instance = parse(f"tokens3:d=7,m=2,noise={noise}").instance(0)
    kind, other = type(instance.family), (1, 2)
    assert not instance.family.same(instance.hidden.secret, other)
    good = write_folder(tmp_path / "good", instance, 4000)
    verify(good.family, 5, 4000, folder=good).require()
    right = kind.stream

    def wrong(self, secret, seed, axis, start, count):
        return right(self, other if axis == "examples" else secret, seed, axis, start, count)

    monkeypatch.setattr(kind, "stream", wrong)
    folder = write_folder(tmp_path / "bad", instance, 4000)
    monkeypatch.undo()
    found = verify(folder.family, 5, 4000, folder=folder)
    assert found.stored.different > found.stored.allowed
    with pytest.raises(Refuted, match="stored labels"):
        found.require()
