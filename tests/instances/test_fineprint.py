import numpy as np
import pytest

from instances import AttentionLayer, parse
from instances.fineprint import fine_print, off_lattice
from instances.heads import Heads


def lights(spec, seed=0):
    return {
        (c.of, c.name): c.light for c in fine_print(Heads.of(parse(spec).instance(seed).layer()))
    }


def values(layer):
    return {(c.of, c.name): c.value for c in fine_print(Heads.of(layer))}


def test_values_by_their_definitions():
    rng = np.random.default_rng(0)
    theta, w = rng.normal(size=(2, 3, 7, 7))
    found = values(AttentionLayer(theta=theta, w=w))
    norms = [np.linalg.norm(t) for t in theta]
    cosines = [
        abs(np.trace(theta[i].T @ theta[j])) / norms[i] / norms[j]
        for i in range(3)
        for j in range(i)
    ]
    assert found["theta", "coherence"] == pytest.approx(max(cosines))
    ranks = [(s**2).sum() / s[0] ** 2 for s in map(np.linalg.svd, w, [False] * 3, [False] * 3)]
    assert found["w", "stable rank"] == pytest.approx(min(ranks))
    shares = [max((t[:, j] ** 2).sum() for j in range(7)) / n**2 for t, n in zip(theta, norms)]  # noqa: B905
    assert found["theta", "column"] == pytest.approx(max(shares))
    assert found["theta", "trace"] == pytest.approx(
        max(abs(np.trace(t)) / n for t, n in zip(theta, norms, strict=True))
    )
    assert found["theta", "norm ratio"] == pytest.approx(max(norms) / min(norms))
    whole = np.sqrt(sum(np.linalg.norm(v) ** 2 for v in w))
    assert found["w", "sum"] == pytest.approx(np.linalg.norm(w.sum(axis=0)) / whole)


@pytest.mark.parametrize("seed", range(5))
def test_random_layers_are_green(seed):
    assert set(lights("nice:m=3,k=2,d=16", seed).values()) == {"green"}


@pytest.mark.parametrize(
    ("dial", "of", "condition", "value"),
    [
        ("coherence=0.95", "theta", "coherence", 0.95),
        ("rank=1", "theta", "stable rank", 1),
        ("trace=0.9", "theta", "trace", 3.6),
        ("column=0.8", "theta", "column", 0.8),
        ("ratio=100", "theta", "norm ratio", 100),
        ("scale=0.01", "theta", "size", 0.01),
        ("scale=100", "theta", "size", 100),
        ("wrank=1", "w", "stable rank", 1),
        ("shared=1", "w", "coherence", 1),
        ("shared=1,signs=alternating", "w", "sum", 0),
        ("lattice=1", "w", "off lattice", 0),
    ],
)
def test_every_dial_moves_what_it_says_and_turns_its_light_red(dial, of, condition, value):
    found = fine_print(Heads.of(parse(f"nice:m=2,k=2,d=16,{dial}").instance(0).layer()))
    one = next(c for c in found if (c.of, c.name) == (of, condition))
    assert one.value == pytest.approx(value, abs=0.02)
    assert one.light == "red"


def test_the_worst_head_counts_and_zeros_do_not():
    rng = np.random.default_rng(0)
    spread, lattice = rng.normal(size=(8, 8)), rng.choice([-1.0, 0.5, 1.0], (8, 8))
    theta = np.stack([spread, lattice])
    assert values(AttentionLayer(theta=theta, w=theta))["theta", "off lattice"] == 0
    few = np.where(rng.random((8, 8)) < 0.3, spread, 0.0)
    assert off_lattice(few) == off_lattice(few[few != 0][None])


def test_heads_of_zeros_and_single_heads_do_not_break_it():
    zero = np.zeros((1, 3, 3))
    assert {c.name for c in fine_print(Heads.of(AttentionLayer(theta=zero, w=zero)))} == {
        "heads",
        "coherence",
        "sum",
    }
    one = np.eye(3)[None]
    assert values(AttentionLayer(theta=one, w=one))["theta", "coherence"] == 0.0
