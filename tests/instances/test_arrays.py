"""Examples as plain arrays, made of specs."""

import itertools

import numpy as np
import pytest

import instances.arrays
from instances import (
    ToolkitError,
    dataset,
    make_examples,
    make_reduced,
    parse,
    stream,
)

SPECS = ["parity:d=70,m=3,noise=0.1", "lwr:n=4,q=8,p=4", "nice:m=2,k=3,d=4,noise=0.5"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("numbers", [1, 500, 1 << 21])
def test_they_are_the_examples_of_the_instance_however_they_are_cut(spec, numbers, monkeypatch):
    monkeypatch.setattr(instances.arrays, "_NUMBERS", numbers)
    count = 50
    whole = parse(spec).instance(7).examples(0, count)
    x, y = make_examples(spec, count, 7)
    assert x.dtype == whole.x.dtype
    assert (x == whole.x).all()
    assert (y == whole.y).all()
    assert y.dtype == np.float64
    few = make_examples(spec, 10, 7)
    assert (few[0] == x[:10]).all()
    assert (few[1] == y[:10]).all()
    assert not np.array_equal(make_examples(spec, count, 8)[0], x)
    batches = list(itertools.islice(stream(spec, 20, 7), 3))
    assert (np.concatenate([batch[0] for batch in batches])[:count] == x).all()
    assert (np.concatenate([batch[1] for batch in batches])[:count] == y).all()


@pytest.mark.parametrize(
    "spec", [*SPECS[:2], "profile:g=[1.1,-0.9,0.9],d=9,m=2", "lwe:n=3,q=17,sigma=1"]
)
@pytest.mark.parametrize("numbers", [1, 1 << 21])
def test_the_reduced_view_is_that_of_the_dense_examples(spec, numbers, monkeypatch):
    monkeypatch.setattr(instances.arrays, "_NUMBERS", numbers)
    family = parse(spec)
    z, s = make_reduced(spec, 40, 7)
    assert (z.dtype, s.dtype, z.shape, s.shape) == (np.int8, np.float64, (40, family.d - 1), (40,))
    x, y = make_examples(spec, 300, 7)
    opened = x[:, 0, 0] != x[:, 1, 0]
    assert (z == (x[:, 0, 1:] * x[:, 1, 1:])[opened][:40]).all()
    rest = x[:, 0, 0] * (y - family.known(x))[:, 0, 0]
    assert np.allclose(s, rest[opened][:40], rtol=0, atol=1e-12)
    assert (make_reduced(spec, 15, 7)[0] == z[:15]).all()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: make_examples("partiy:d=8", 5, 0), "did you mean 'parity'"),
        *(
            (
                (lambda make=make, given=given: make("parity:d=8,m=3", *given)),
                "an integer of at least",
            )
            for make in (make_examples, make_reduced, stream)
            for value in (1.5, "3", None, True, -1, float("nan"))
            for given in ((value, 0), (3, value))
        ),
        (lambda: make_examples("parity:d=8,m=3", 1 << 50, 0), "of memory"),
        (lambda: make_reduced("nice:m=2,k=2,d=4", 5, 0), "it lacks `coded`"),
        (lambda: stream("parity:d=8,m=3", 0, 0), "batch=0 given"),
        (lambda: stream("parity:d=8", 5, 0), "needs m"),
        (lambda: dataset("parity:d=8,m=3", -1, 0), r"n=-1 given|hardness-toolkit\[torch\]"),
    ],
)
def test_what_cannot_be_made_is_one_line(call, words):
    with pytest.raises(ToolkitError, match=words):
        call()


def test_without_the_extra_the_message_names_the_command(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[torch\]'"):
        dataset("parity:d=8,m=3", 5, 0)
