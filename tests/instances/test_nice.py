from itertools import combinations

import numpy as np
import pytest

from hardness.oracles import Budget
from hardness.runs import run
from hardness.upper import Outcome, parse_learner
from instances import parse
from instances.dense import _BLOCK
from instances.families.nice import Nice


def layer(spec, seed=0):
    return parse(spec).instance(seed).layer()


@pytest.mark.parametrize(
    ("spec", "norm"),
    [
        ("nice:m=3,k=2,d=16,scale=1.5", 1.5),
        ("dial:tau=0.3,m=3,k=2,d=16", 0.3),
        ("linear:m=3,k=2,d=16,scale=2", 2),
    ],
)
def test_norms_and_attention_are_as_stated(spec, norm):
    family, found = parse(spec), layer(spec)
    assert np.linalg.norm(found.theta, axis=(1, 2)) == pytest.approx([norm] * 3)
    assert np.linalg.norm(found.w, axis=(1, 2)) == pytest.approx([4.0] * 3)
    assert found.kind == getattr(family, "kind", "softmax")
    assert (found.kind == "linear") == spec.startswith("linear")


def test_the_way_to_a_parity_is_a_straight_line_to_one():
    start, half, end = (
        Nice(m=3, k=2, d=9, parity=p).build(np.random.default_rng(4)) for p in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(half.theta, (start.theta + end.theta) / 2, atol=1e-12)
    np.testing.assert_allclose(half.w, (start.w + end.w) / 2, atol=1e-12)
    x = np.random.default_rng(0).choice([-1, 1], (4000, 2, 9))
    x[:, 1, 0] = -x[:, 0, 0]
    factor, z = end(x)[:, 0, 0] * x[:, 0, 0], x[:, 0] * x[:, 1]
    products = [np.mean(factor * z[:, s].prod(axis=1)) for s in combinations(range(1, 9), 3)]
    assert max(map(abs, products)) == pytest.approx(1.0)
    ends = [Nice(m=3, k=2, d=9, parity=1.0).build(np.random.default_rng(s)) for s in range(12)]
    assert {np.sign(one.w.sum()) for one in ends} == {-1.0, 1.0}


def test_examples_across_blocks_are_the_layer_plus_noise_however_they_are_cut():
    instance = parse("nice:m=2,k=3,d=5,tokens=gaussian,noise=0.5").instance(1)
    whole = instance.examples(_BLOCK - 30, 60)
    for start, count in ((_BLOCK - 30, 7), (_BLOCK - 3, 20), (_BLOCK + 29, 1)):
        part, first = instance.examples(start, count), start - _BLOCK + 30
        assert (part.y == whole.y[first : first + count]).all()
    many = instance.examples(0, 20_000)
    noise = (many.y - instance.layer()(many.x)).reshape(len(many), -1)
    np.testing.assert_allclose(np.cov(noise.T), 0.25 * np.eye(15), atol=0.02)
    np.testing.assert_allclose(noise.T @ many.x.reshape(noise.shape) / len(many), 0, atol=0.03)


def test_the_negative_of_every_layer_is_as_likely():
    family = parse("nice:m=2,k=2,d=4,parity=0,shared=1,signs=alternating,trace=0.5")
    x = family.instance(0).examples(0, 20).x
    values = np.stack([family.instance(seed).layer()(x) for seed in range(400)])
    error = np.abs(values.mean(axis=0)) / (values.std(axis=0) / 20 + 1e-12)
    assert error.max() < 5
    assert (family.known(x) == 0).all()


def test_powers_are_flagged_by_the_stage_that_counts_heads():
    instance = parse("nice:m=2,k=2,d=8,attention=power4").instance(0)
    found = run(parse_learner("staged:examples=20000,polish=20"), instance, Budget())
    assert found.outcome is Outcome.DEGENERATE
    assert "span" in found.details["failed"]
