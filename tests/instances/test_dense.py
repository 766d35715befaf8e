"""Families whose labels are real numbers, and what they share with those whose labels are codes."""

import numpy as np
import pytest

from instances import UsageError, parse

SIGNS, NORMAL = "nice:m=2,k=3,d=70,noise=0.5", "nice:m=2,k=3,d=5,tokens=gaussian,noise=0.5"


def noise_of(instance, examples):
    """What noise did to the labels: (n, ...), of mean about zero."""
    family, secret = instance.family, instance.hidden.secret
    if family.name == "nice":
        return examples.y - instance.layer()(examples.x)
    clean = family.codes(secret, examples.words, np.zeros(len(examples), bool))
    return (clean != examples.codes) - 0.25 * family.open(examples.words)


@pytest.mark.parametrize("spec", [SIGNS, NORMAL, "parity:d=12,m=3,noise=0.25"])
def test_axes_share_neither_tokens_nor_noise(spec):
    """Else who remembers the examples would pass the evaluation."""
    instance = parse(spec).instance(0)
    seen, fresh = instance.examples(0, 2000), instance.examples(0, 2000, axis="evaluate")
    assert np.mean(seen.x == fresh.x) < 0.55
    a, b = (noise_of(instance, part).ravel() for part in (seen, fresh))
    assert np.std(a) > 0.2
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.1


@pytest.mark.parametrize("spec", [SIGNS, NORMAL])
def test_labels_means_and_sizes_are_as_stated(spec):
    instance = parse(spec).instance(3)
    family, secret = instance.family, instance.hidden.secret
    examples = instance.examples(0, 40)
    for function in (family.label, family.mean):
        assert (function(secret, examples.x) == instance.layer()(examples.x)).all()
    stored = sum(tensor.nbytes for tensor in examples.tensors.values())
    assert family.bytes_per_example * 40 == stored


def test_every_head_is_drawn_from_the_secret():
    family = parse("nice:m=1,k=2,d=4")
    assert not np.allclose(family.layer((0,)).theta, family.layer((1,)).theta)
    for secret in ((), (-1,), (1 << 256,), (1, 2)):
        with pytest.raises(UsageError, match="one number of 256 bits"):
            family.layer(secret)


def spoilt(spec, name, change):
    """The tensors of some examples, one of them changed."""
    instance = parse(spec).instance(0)
    tensors = {key: value.copy() for key, value in instance.examples(0, 20).tensors.items()}
    tensors[name] = change(tensors[name])
    return instance.family, tensors


def put(value):
    def change(array):
        array[(3, *(-1,) * (array.ndim - 1))] = value
        return array

    return change


PARITY = "parity:d=70,m=3"


@pytest.mark.parametrize(
    ("spec", "name", "change", "said"),
    [
        (SIGNS, "words", put(1 << 63), "bits beyond coordinate"),
        (SIGNS, "words", lambda a: a.astype(np.int64), "does not hold"),
        (SIGNS, "y", lambda a: a.astype(np.float32), "does not hold"),
        (NORMAL, "x", put(np.inf), "tokens that are not finite"),
        (NORMAL, "y", put(np.nan), "labels that are not finite"),
        (PARITY, "words", put(1 << 63), "bits beyond coordinate"),
        (PARITY, "words", lambda a: a.astype(np.int64), "does not hold"),
        (PARITY, "codes", lambda a: a.astype(np.int64), "does not hold"),
        (PARITY, "codes", lambda a: a[:-1], "does not hold"),
        (PARITY, "codes", lambda a: np.full_like(a, 2), "a code of no level"),
        (PARITY, "codes", lambda a: np.ones_like(a), "where the label is known"),
    ],
)
def test_tensors_that_no_examples_have_are_refused(spec, name, change, said):
    family, tensors = spoilt(spec, name, change)
    with pytest.raises(ValueError, match=said):
        family.restore(tensors, 20)
