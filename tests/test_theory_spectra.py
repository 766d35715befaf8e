"""Predicted spectra of layers, by enumeration of all points with numpy alone; and the verdicts."""

import itertools
import math

import numpy as np
import pytest
from msgspec.structs import replace

from hardness.theory import find, statement
from hardness.theory.spectra import limit, unbiased, weights
from instances import parse


def points(bits):
    return np.array(list(itertools.product([1.0, -1.0], repeat=bits)))


def alone(d, scale, layers):
    """Weights of random heads on two tokens, over d, by numpy and sums over sets: no library."""
    rng, x = np.random.default_rng(3), points(2 * d)
    first, second = x[:, :d], x[:, d:]
    sets = [s for k in range(2 * d + 1) for s in itertools.combinations(range(2 * d), k)]
    characters = np.stack([x[:, s].prod(axis=1) for s in sets], axis=1) / len(x)
    found = []
    for _ in range(layers):
        theta, w = rng.standard_normal((2, d, d))
        theta *= scale / np.linalg.norm(theta)
        w *= math.sqrt(d) / np.linalg.norm(w)
        logit = ((first @ theta) * (first - second)).sum(axis=1)
        p = 1 / (1 + np.exp(-logit))[:, None]
        squares = ((characters.T @ ((p * first + (1 - p) * second) @ w)) ** 2).sum(axis=1) / d
        found.append(np.bincount([len(s) for s in sets], weights=squares, minlength=2 * d + 1))
    return np.array(found)


@pytest.mark.parametrize(("d", "scale"), [(2, 1.0), (3, 2.0), (4, 6.0)])
def test_mean_weights_are_those_of_random_heads_by_a_program_of_numpy_alone(d, scale):
    found = alone(d, scale, 800)
    error = found.std(axis=0, ddof=1) / math.sqrt(len(found))
    off = np.abs(found.mean(axis=0) - weights(d, scale))
    assert (off[1::2] < 4 * error[1::2]).all()
    assert (found[:, ::2] < 1e-24).all()
    assert (np.abs(found.mean(axis=0) - weights(d, 0.5 * scale))[1:4:2] > 4 * error[1:4:2]).any()


def test_total_weight_and_its_limit_follow_from_the_mean_square_of_tanh():
    grid = np.linspace(-12, 12, 20001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    for scale in (0.5, 2.0):
        tanh = np.tanh(scale * grid / math.sqrt(2))
        square = np.trapezoid(tanh**2 * density, grid)
        assert limit(2, scale) == pytest.approx(1 / (1 + square), rel=1e-6)
        third = np.trapezoid(grid * tanh * density, grid) ** 2 / 2  # half a Hermite coefficient^2
        far = weights(16, scale, 3)
        near = weights(8, scale, 3)
        assert 2 * far[1] - near[1] == pytest.approx(0.5, abs=0.01)
        assert 2 * far[3] - near[3] == pytest.approx(third, abs=0.01)
    rng = np.random.default_rng(0)
    for k, scale in ((3, 1.0), (6, 2.0)):
        raw = np.exp(scale * rng.standard_normal((200_000, k)))
        q = (raw[:, 0] / raw.sum(axis=1)) ** 2
        error = 4 * q.std() / math.sqrt(len(q)) / q.mean()
        assert limit(k, scale) == pytest.approx(1 / (k * k * q.mean()), rel=error)


def test_weights_of_pairs_of_examples_are_unbiased():
    layer = parse("nice:m=1,k=2,d=3").instance(1).layer()
    x = points(6)
    y = layer(x.reshape(-1, 2, 3))[:, 0]
    sets = list(itertools.combinations(range(6), 3))
    exact = sum(((x[:, s].prod(axis=1)[:, None] * y).mean(axis=0) ** 2).sum() for s in sets)
    rng = np.random.default_rng(2)
    found = []
    for _ in range(200):
        chosen = rng.integers(0, len(x), 60)
        found.append(unbiased(x[chosen], y[chosen], 3))
    error = np.std(found) / math.sqrt(len(found))
    assert abs(np.mean(found) - exact) < 4 * error < 0.3 * exact


def test_verdicts_change_where_a_prediction_or_a_measurement_is_wrong():
    few = [{"spec": "nice:m=1,k=2,d=5", "degree": k} for k in (1, 3)]
    decay = replace(statement("walsh-decay"), settings=few)
    assert find(decay).verdict == "agrees at 1 of 2"

    def wrong(spec, degree):
        return decay.predict(spec=spec.replace("d=5", "d=5,scale=1"), degree=degree)

    assert find(replace(decay, predict=wrong)).verdict == "fails"
    odd = replace(statement("walsh-parity"), settings=[{"spec": "nice:m=1,k=3,d=3"}])
    assert find(odd).verdict == "agrees"
    assert find(replace(odd, measure=lambda spec, seed: decay.measure(few[0]["spec"], 1, seed))
                ).verdict == "fails"  # fmt: skip
