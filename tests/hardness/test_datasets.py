"""Examples as plain arrays, made of specs."""

import itertools
import sys

import numpy as np
import pytest

from hardness import datasets
from hardness.datasets import make, stream, torch
from instances import ToolkitError, parse

SPECS = ["parity:d=70,m=3,noise=0.1", "lwr:n=4,q=8,p=4", "nice:m=2,k=3,d=4,noise=0.5"]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("numbers", [1, 500, 1 << 21])
def test_they_are_the_examples_of_the_instance_however_they_are_cut(spec, numbers, monkeypatch):
    monkeypatch.setattr(datasets, "_BATCH_NUMBERS", numbers)
    whole = parse(spec).instance(7).examples(0, 50)
    x, y = make(spec, 50, 7)
    assert (x.dtype, y.dtype) == (whole.x.dtype, np.float64)
    batches = itertools.islice(stream(spec, 20, 7), 3)
    streamed = [np.concatenate(parts)[:50] for parts in zip(*batches, strict=True)]
    for found in ((x, y), streamed):
        assert (found[0] == whole.x).all()
        assert (found[1] == whole.y).all()
    few, rest, few_y, _ = make(spec, 10, 7, test_samples=40)
    assert (np.concatenate([few, rest]) == x).all()
    assert (few_y == y[:10]).all()
    assert not np.array_equal(make(spec, 50, 8)[0], x)


@pytest.mark.parametrize(
    "spec", [*SPECS[:2], "profile:g=[1.1,-0.9,0.9],d=9,m=2", "lwe:n=3,q=17,sigma=1"]
)
@pytest.mark.parametrize("numbers", [1, 1 << 21])
def test_the_reduced_view_is_that_of_the_dense_examples(spec, numbers, monkeypatch):
    monkeypatch.setattr(datasets, "_BATCH_NUMBERS", numbers)
    family = parse(spec)
    z, s = make(spec, 40, 7, view="z")
    assert (z.dtype, s.dtype, z.shape, s.shape) == (np.int8, np.float64, (40, family.d - 1), (40,))
    x, y = make(spec, 300, 7)
    opened = x[:, 0, 0] != x[:, 1, 0]
    assert (z == (x[:, 0, 1:] * x[:, 1, 1:])[opened][:40]).all()
    rest = x[:, 0, 0] * (y - family.known(x))[:, 0, 0]
    assert np.allclose(s, rest[opened][:40], rtol=0, atol=1e-12)


@pytest.mark.parametrize("call", [make, stream, torch])
def test_what_cannot_be_made_is_one_line(call):
    for value in (1.5, "3", None, True, -1, float("nan")):
        for sizes in ((value, 0), (3, value)):
            with pytest.raises(ToolkitError, match="an integer of at least"):
                call("parity:d=8,m=3", *sizes)
    for spec, words in (("partiy:d=8", "did you mean 'parity'"), ("parity:d=8", "needs m")):
        with pytest.raises(ToolkitError, match=words):
            call(spec, 5)
    with pytest.raises(ToolkitError, match="of memory"):
        call("parity:d=8,m=3", 1 << 50)


def test_a_view_that_is_not_there_is_named():
    with pytest.raises(ToolkitError, match="nice lacks `coded`"):
        make("nice:m=2,k=2,d=4", 5, view="z")
    with pytest.raises(ToolkitError, match="view must be tokens or z, got reduced: it is called z"):
        make("parity:d=8,m=2", 5, view="reduced")


def test_without_the_extra_the_message_names_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ToolkitError, match=r"pip install 'hardness-toolkit\[torch\]'"):
        torch("parity:d=8,m=3", 5, 0)
