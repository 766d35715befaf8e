"""Examples as arrays: made of specs, and a user's own, read, checked and split."""

import itertools

import numpy as np
import pytest

import instances.arrays
from hardness.verbs.sources import own_data
from instances import (
    DamagedFile,
    ToolkitError,
    UsageError,
    dataset,
    make_examples,
    make_reduced,
    parse,
    stream,
)
from instances.files import save_layer
from instances.layer import AttentionLayer
from instances.owndata import read_data, split
from instances.spec import parse_stored

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


# ---- data of a user


RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 3, 4))
Y = RNG.normal(size=X.shape)
HOLED = np.where(np.arange(X.size).reshape(X.shape) == 50, np.nan, X)


def written(folder, **arrays):
    np.savez(folder / "data.npz", **arrays)
    return folder / "data.npz"


@pytest.mark.parametrize("kind", ["float16", "float32", "int32", "bool", "float64"])
@pytest.mark.parametrize("ending", ["npz", "safetensors"])
def test_files_give_what_arrays_give(tmp_path, kind, ending):
    from safetensors.numpy import save_file

    x, path = (X > 0 if kind == "bool" else 3 * X).astype(kind), tmp_path / f"x.{ending}"
    if ending == "npz":
        np.savez(path, x=x, y=np.asfortranarray(Y))
    else:
        save_file({"x": x, "y": Y}, path)
    read = read_data(path, seed=3)
    made = split(x, Y, seed=3)
    for part in ("held", "hold_out"):
        one, other = getattr(read, part), getattr(made, part)
        assert np.array_equal(one.x, other.x)
        assert np.array_equal(one.y, other.y)
        assert one.x.dtype == one.y.dtype == np.float64


def test_the_seed_alone_says_which_examples_are_held_out():
    one, same, other = (split(X, Y, seed) for seed in (0, 0, 1))
    assert np.array_equal(one.hold_out.x, same.hold_out.x)
    assert not np.array_equal(one.hold_out.x, other.hold_out.x)
    for made in (one, other):
        rows = (
            np.concatenate([made.held.x, made.hold_out.x]),
            np.concatenate([made.held.y, made.hold_out.y]),
        )
        assert (len(made.held), len(made.hold_out), made.repeated) == (80, 20, 0)
        order = [int(np.flatnonzero((x == X).all(axis=(1, 2)))[0]) for x in rows[0]]
        assert sorted(order) == list(range(100))
        assert np.array_equal(rows[1], Y[order])
    twice = split(np.tile(X[:50], (2, 1, 1)), Y)
    seen = [(x == twice.held.x).all(axis=(1, 2)).any() for x in twice.hold_out.x]
    assert twice.repeated == sum(seen)
    assert twice.repeated > 0


def test_a_learner_in_another_process_reads_the_family_and_its_examples():
    for x, tokens in ((X, "real"), (np.sign(X), "boolean")):
        made = split(x, Y)
        family = parse_stored(made.family.spec)
        assert family == made.family == parse(f"data:d=4,k=3,tokens={tokens}")
        again = family.restore(made.held.tensors, len(made.held))
        assert again.agrees(made.held)
        assert again.x.dtype == (np.int8 if tokens == "boolean" else np.float64)
    with pytest.raises(UsageError, match="no instance is drawn"):
        family.instance(0)


@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        (X, Y[:, :, :3], "labels have the tokens' shape"),
        (X, Y[:50], "labels have the tokens' shape"),
        (HOLED, Y, "x has 1 entries that are not finite, the first in example 4"),
        (X, HOLED, "y has 1 entries"),
        (X * 1e200, Y, "scale them"),
        (X, 0 * Y, "are zero"),
        (X[:7], Y[:7], "give 10 examples or more"),
        (X + 1j, Y, "complex128: real numbers"),
        ([X[0], X[1][:2]], Y, "ragged"),
        (X.astype(str), Y, "real numbers"),
    ],
)
def test_arrays_that_are_no_data_are_refused_in_one_line(x, y, words):
    with pytest.raises(UsageError, match=words) as refused:
        own_data((x, y), 0)
    assert "\n" not in str(refused.value)


def test_files_that_hold_something_else_are_refused(tmp_path):
    def refused(words, error=UsageError, **arrays):
        with pytest.raises(error, match=words):
            own_data(written(tmp_path, **arrays), 0)

    refused("holds x: x and y", x=X)
    refused("holds inputs, targets: x and y", inputs=X, targets=Y)
    refused("pickled ones are not loaded", DamagedFile, x=np.array([X[0], None], object), y=Y)
    assert own_data(written(tmp_path, a=np.ones((4, 3), int), b=np.ones(4, int)), 0) is None
    (tmp_path / "junk.npz").write_bytes(b"junk")
    with pytest.raises(DamagedFile, match="not ours"):
        own_data(tmp_path / "junk.npz", 0)
    save_layer(tmp_path / "layer.npz", AttentionLayer(theta=X[:1, :3, :3], w=X[:1, :3, :3]))
    assert own_data(tmp_path / "layer.npz", 0) is None  # `target` says what it is
    for source in ("parity:d=8,m=2", tmp_path):
        assert own_data(source, 0) is None
    with pytest.raises(UsageError, match=r"a pair \(x, y\)"):
        own_data([X], 0)
