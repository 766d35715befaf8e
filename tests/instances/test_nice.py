import json

import numpy as np
import pytest

from instances import DamagedFile, UsageError, files, parse, write_folder
from instances.dense import _BLOCK


def cosine(a, b):
    return float((a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b))


def layer(spec, seed=0):
    return parse(spec).instance(seed).layer()


def test_norms_are_as_stated():
    found = layer("nice:m=3,k=2,d=16,scale=1.5")
    np.testing.assert_allclose([np.linalg.norm(t) for t in found.theta], 1.5)
    np.testing.assert_allclose([np.linalg.norm(w) for w in found.w], 4.0)


def test_every_dial_moves_what_it_says():
    assert abs(cosine(*layer("nice:m=2,k=2,d=64").theta)) < 0.1
    assert cosine(*layer("nice:m=2,k=2,d=64,coherence=0.9").theta) == pytest.approx(0.9, abs=0.03)
    assert np.linalg.matrix_rank(layer("nice:m=2,k=2,d=16,rank=3").theta[0]) == 3
    assert np.linalg.matrix_rank(layer("nice:m=2,k=2,d=16,wrank=2").w[0]) == 2
    found = layer("nice:m=2,k=2,d=16,trace=0.5").theta[0]
    assert np.trace(found) / np.linalg.norm(found) / 4 == pytest.approx(0.5)
    found = layer("nice:m=2,k=2,d=16,column=0.7").theta[1]
    share = (found[:, 0] ** 2).sum() / (found**2).sum()
    assert share == pytest.approx(0.7)
    norms = [np.linalg.norm(t) for t in layer("nice:m=3,k=2,d=8,ratio=9").theta]
    assert max(norms) / min(norms) == pytest.approx(9)
    assert norms[1] == pytest.approx(2)
    one, two = layer("nice:m=2,k=2,d=8,shared=1,signs=alternating").w
    np.testing.assert_allclose(one, -two, atol=1e-15)
    one, two = layer("nice:m=2,k=2,d=64,shared=0.5").w
    assert cosine(one, two) == pytest.approx(0.5, abs=0.05)


def test_the_last_point_of_the_way_to_a_parity_is_one():
    instance = parse("nice:m=3,k=2,d=9,parity=1").instance(4)
    examples = instance.examples(0, 4000)
    z = examples.x[:, 0] * examples.x[:, 1]
    rows = z[:, 0] == -1
    factor = examples.y[rows, 0, 0] * examples.x[rows, 0, 0]
    np.testing.assert_allclose(np.abs(factor), 1.0, atol=1e-9)
    products = [
        np.mean(factor * z[rows, a] * z[rows, b] * z[rows, c])
        for a in range(1, 9)
        for b in range(a + 1, 9)
        for c in range(b + 1, 9)
    ]
    assert max(map(abs, products)) == pytest.approx(1.0)


def test_labels_are_the_layer_and_the_same_bits_for_any_cut():
    instance = parse("nice:m=2,k=3,d=5,tokens=gaussian").instance(1)
    whole = instance.examples(_BLOCK - 30, 60)
    np.testing.assert_allclose(whole.y, instance.layer()(whole.x), rtol=1e-12, atol=1e-12)
    for start, count in ((_BLOCK - 30, 7), (_BLOCK - 3, 20), (_BLOCK + 29, 1)):
        part = instance.examples(start, count)
        first = start - _BLOCK + 30
        assert (part.y == whole.y[first : first + count]).all()
        assert (part.x == whole.x[first : first + count]).all()


@pytest.mark.parametrize("tokens", ["boolean", "gaussian"])
def test_tokens_and_noise_have_the_stated_moments(tokens):
    spec = f"nice:m=1,k=2,d=8,tokens={tokens},noise=0.5"
    instance = parse(spec).instance(0)
    examples = instance.examples(0, 20_000)
    x = examples.x.astype(float)
    flat = x.reshape(len(x), -1)
    np.testing.assert_allclose(flat.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(np.cov(flat.T), np.eye(16), atol=0.06)
    noise = (examples.y - instance.layer()(x)).reshape(len(x), -1)
    np.testing.assert_allclose(np.cov(noise.T), 0.25 * np.eye(16), atol=0.02)
    np.testing.assert_allclose(noise.T @ flat / len(x), 0, atol=0.03)


def test_the_negative_of_every_layer_is_as_likely():
    family = parse("nice:m=2,k=2,d=4,parity=0,shared=1,signs=alternating,trace=0.5")
    x = family.instance(0).examples(0, 20).x
    values = np.stack([family.instance(seed).layer()(x) for seed in range(400)])
    error = np.abs(values.mean(axis=0)) / (values.std(axis=0) / 20 + 1e-12)
    assert error.max() < 5
    assert (family.known(x) == 0).all()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("nice:m=2,k=1,d=8", "k=1"),
        ("nice:m=0,k=2,d=8", "m=0"),
        ("nice:m=2,k=2,d=0", "d=0"),
        ("nice:m=2,k=2,d=8,tokens=ternary", "boolean or gaussian"),
        ("nice:m=2,k=2,d=8,coherence=1.5", "coherence=1.5"),
        ("nice:m=2,k=2,d=8,rank=9", "rank=9"),
        ("nice:m=2,k=2,d=8,ratio=0.5", "ratio=0.5"),
        ("nice:m=2,k=2,d=8,signs=minus", "signs=minus"),
        ("nice:m=2,k=2,d=8,parity=0.5", "odd m"),
        ("nice:m=3,k=3,d=8,parity=0.5", "k = 2"),
        ("nice:m=2,k=2,d=8,noise=-1", "noise=-1"),
        ("nice:m=2,k=2,d=8,scale=0", "scale=0"),
        ("nice:k=2,d=8", "needs m"),
        ("nice:m=2,k=2,d=8,noise=1001", "noise=1001"),
        ("nice:m=9,k=2,d=9,parity=0.5", "below d"),
        ("nice:m=65,k=2,d=8", "m=65"),
        ("nice:m=2,k=65,d=8", "k=65"),
        ("nice:m=2,k=2,d=8,wrank=9", "wrank=9"),
        ("linear:m=0,k=3,d=6", "between 1 and 1024"),
        ("linear:m=1,k=1,d=6", "attends to itself"),
        ("linear:m=1,k=2,d=65", "at most 64"),
        ("linear:m=1,k=2,d=6,scale=0", "above 0"),
        ("dial:tau=0,m=1,k=2,d=6", "above 0"),
        ("dial:m=1,k=2,d=6", "needs tau"),
    ],
)
def test_what_is_out_of_range_is_refused_in_one_line(spec, said):
    with pytest.raises(UsageError, match=said) as found:
        parse(spec)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("tokens", ["boolean", "gaussian"])
def test_impossible_references_are_refused(tokens, tmp_path):
    spec = f"nice:m=1,k=2,d=5,tokens={tokens}"
    write_folder(tmp_path / "x", parse(spec).instance(0), 20)
    path = tmp_path / "x" / "instance.json"
    data = json.loads(path.read_text())
    data["reference"]["y"][0][0][0] += 1e-3
    path.write_text(json.dumps(data))
    with pytest.raises(DamagedFile, match="reference"):
        files.read_folder(tmp_path / "x")
    data["reference"]["y"][0][0][0] = "x"
    path.write_text(json.dumps(data))
    with pytest.raises(DamagedFile, match=r"instance\.json"):
        files.read_folder(tmp_path / "x")
