"""Samples of rings: products by brute force, layouts, what is no ring, attacks on them."""

import json
import runpy
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hardness as front
from instances import ToolkitError, ring
from instances.samples import read_samples
from instances.spec import parse

ROOT = Path(__file__).parents[2]
SPEC = "lwe:n=16,q=842779,sigma=3,secret=binary,h=3"
write = runpy.run_path(str(ROOT / "docs/examples/ring_samples.py"))["write"]


def product(a, s, q):
    """a s mod x^n + 1 and q, coefficient by coefficient."""
    n, out = len(a), [0] * len(a)
    for i, x in enumerate(a):
        for j, y in enumerate(s):
            out[(i + j) % n] += (-1 if i + j >= n else 1) * int(x) * int(y)
    return [v % q for v in out]


@given(
    q=st.sampled_from([2, 6, 7, 97, 842779, 2**48]),
    m=st.sampled_from([2, 3, 5, 8, 16]),
    k=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_rows_multiplied_by_a_secret_are_the_product_of_polynomials(q, m, k, seed):
    rng = np.random.default_rng(seed)
    a, s = rng.integers(0, q, (3, k * m)), rng.integers(-4, 5, k * m)
    rows = ring.expand(a, m, q)
    assert rows.min() >= 0
    assert rows.max() < q
    parts = a.reshape(3, k, m), s.reshape(k, m)
    wanted = [[product(x, y, q) for x, y in zip(row, parts[1], strict=True)] for row in parts[0]]
    assert ((rows.astype(object) @ s) % q == np.sum(wanted, axis=1).reshape(-1) % q).all()
    assert ring.broken(rows, m, q) is ring.broken(rows[::-1], m, q) is None
    if m * k * np.log2(q) * (m - 1) >= 48:
        assert ring.degree(rows, q) == ring.degree(rows[::-1], q) == m
    assert ring.degree(rng.permutation(rows.T).T[:, ::-1], q) in (0, *range(2, m * k + 1))
    assert ring.degree(rng.integers(0, q, rows.shape), q) == 0
    assert ring.degree(np.zeros_like(rows), q) == 0


@pytest.mark.parametrize(
    ("spec", "digest"),
    [
        ("lwe:n=30,q=251,sigma=3,secret=binary,h=3", "a0495c54439da1fa"),
        ("lwr:n=8,q=64,p=4,secret=ternary", "7b33e4d99b865700"),
        ("lwe:n=6,q=65521,error=cbd,eta=2", "1d309dd8f90bc20a"),
    ],
)
def test_independent_samples_are_those_of_earlier_versions(spec, digest):
    assert front.samples(spec, 200, seed=3).digest.startswith(digest)


@pytest.mark.parametrize(("spec", "m"), [(SPEC, 16), (SPEC, 8), ("lpn:n=80,noise=0.1", 80)])
def test_samples_of_a_ring_are_generated(hardness, spec, m):
    found = front.samples(spec, 50, ring=m, seed=2)
    assert (found.ring, len(found)) == (m, 50)
    assert (front.samples(spec, 21, ring=m, seed=2).a == found.a[:21]).all()
    assert not (front.samples(spec, 50, ring=m, seed=3).a == found.a).all()
    assert front.samples(spec, 50).ring == 0
    secret = parse(spec).instance(2).hidden.secret
    if found.q > 2:
        assert 1.5 < found.residuals(secret).std() < 4.5
    for name in ("r.npz", "s.prefix"):
        said = hardness(*f"generate {spec} --samples 50 --ring {m} --seed 2 --out {name}".split())
        assert (said.code, Path(name).exists()) == (0, True)
        again = front.samples(name, spec=spec)
        assert ((again.a == found.a).all(), again.ring) == (True, m)
        assert (again.codes == found.codes).all()


def polynomials(folder, rank=1):
    """A file of b in the layout of the benchmark, and arrays: a (3, n), b (3, m), secret."""
    path, secret = write(folder, degree=16 // rank, rank=rank, weight=3, rows=3)
    return path, np.load(path.parents[1] / "orig_A.npy"), np.load(path), secret


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_layouts_of_polynomials_of_matrices_and_of_rows_are_the_same_samples(rank, tmp_path):
    path, a, b, secret = polynomials(tmp_path, rank)
    m, family = 16 // rank, parse(SPEC)
    np.savez(tmp_path / "whole.npz", A=a, b=b, ring=m)
    found = read_samples(tmp_path / "whole.npz", family)
    if rank == 1:  # of a lower degree b may as well be of several secrets
        np.savez(tmp_path / "whole.npz", A=a, b=b)
        assert (read_samples(path, family).a == found.a).all()
    else:
        with pytest.raises(ToolkitError, match=r"as of b\[:, 0\].* and ring=m"):
            read_samples(path, family)
    assert (found.ring, found.a.shape, found.b.shape) == (m, (3 * m, 16), (3 * m,))
    assert abs(found.residuals(tuple(secret.tolist()))).max() < 18
    np.savez(tmp_path / "matrices.npz", A=found.a.reshape(3, m, 16), b=b)
    np.savez(tmp_path / "back.npz", A=found.a.reshape(3, m, 16)[:, ::-1], b=b[:, ::-1])
    np.savetxt(tmp_path / "rows.csv", np.column_stack([found.a, found.b]), "%d", ",")
    for name in ("whole.npz", "matrices.npz", "back.npz", "rows.csv"):
        again = read_samples(tmp_path / name, family)
        assert again.ring == m
        order = np.arange(3 * m).reshape(3, m)[:, :: -1 if name == "back.npz" else 1].reshape(-1)
        assert ((again.a[order] == found.a).all(), (again.b[order] == found.b).all()) == (True,) * 2
    np.savez(tmp_path / "one.npz", A=found.a[:1], b=found.b[:1])  # one sample has no structure
    assert read_samples(tmp_path / "one.npz", family).ring == 0


def altered(values, place, value):
    values = values.copy()
    values[place] = value
    return values


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda a, b: (a, b[:, :7]), "m, a divisor of 16"),
        (lambda a, b: (a, b[:, :8]), "with ring=m"),
        (lambda a, b: (a, b[:2]), "polynomials"),
        (lambda a, b: (a, b[..., None]), "polynomials"),
        (lambda a, b: (a[:, :8], b), "polynomials"),
        (lambda a, b: (a[:0], b[:0]), "N > 0"),
        (lambda a, b: (a, np.array(3)), "polynomials"),
        (lambda a, b: (a[0], np.array(3)), "polynomials"),
        (lambda a, b: (altered(a, (1, 2), 842779), b), "row 1: a has 842779"),
        (lambda a, b: (a, altered(b, (2, 0), -1)), "row 2: b has -1"),
        (lambda a, b: (a, b + 0.5), "integers are wanted"),
        (lambda a, b: (ring.expand(a, 16, 842779).reshape(3, 16, 16)[:, ::2], b), "polynomials"),
        (lambda a, b: (altered(ring.expand(a, 16, 842779).reshape(3, 16, 16), (1, 4, 0), 5), b),
         "row 20: it is no rotation"),
        (lambda a, b: (np.arange(768).reshape(3, 16, 16), b), "row 1: it is no rotation"),
        (lambda a, b: (altered(ring.expand(a, 16, 842779), (40, 0), 5), b.reshape(-1)),
         r"row 40: it is no rotation of the one before, as rows of the ring x\^16 \+ 1"),
        (lambda a, b: (ring.expand(a, 16, 842779)[3:], b.reshape(-1)[3:]), "row 13: .* whole bl"),
    ],
)  # fmt: skip
def test_what_is_no_ring_is_refused_in_one_line(change, word, tmp_path):
    _, a, b, _ = polynomials(tmp_path / "made")
    a, b = change(a, b)
    np.savez(tmp_path / "x.npz", A=a, b=b)
    with pytest.raises(ToolkitError, match=word) as said:
        read_samples(tmp_path / "x.npz", parse(SPEC))
    assert "\n" not in str(said.value)
    assert len(str(said.value)) < 400


@given(st.data())
def test_arrays_of_any_shape_are_read_or_refused(tmp_path_factory, data):
    shape = st.lists(st.sampled_from([0, 1, 2, 3, 4, 8, 16]), max_size=4)
    path = tmp_path_factory.mktemp("any") / "x.npz"
    rows = data.draw(shape)  # half of what is drawn for A may go with these, and is then read
    a = np.zeros(data.draw(st.sampled_from([[*rows[:1], 16], [*rows, 16]]) | shape), np.int64)
    b = np.zeros(rows, np.int64)
    more = data.draw(st.sampled_from([{}, *({"ring": v} for v in (4, 8, 16, 3.5, [8], -1))]))
    np.savez(path, A=a, b=b, **more)
    with suppress(ToolkitError):
        assert read_samples(path, parse(SPEC)).a.shape == (b.size, 16)


@pytest.mark.parametrize("stated", [8, 5, -1, 2.5, [16]])
def test_another_ring_than_is_stated_is_refused(stated, tmp_path):
    _, a, b, _ = polynomials(tmp_path / "made")
    rows, independent = ring.expand(a, 16, 842779), np.arange(48 * 16).reshape(48, 16) ** 2
    for one, right in ((a, b), (rows.reshape(3, 16, 16), b), (rows, b[:].reshape(-1))):
        np.savez(tmp_path / "x.npz", A=one, b=right, ring=stated)
        with pytest.raises(ToolkitError, match="its rows are of 16"):
            read_samples(tmp_path / "x.npz", parse(SPEC))
    np.savez(tmp_path / "x.npz", A=independent, b=b.reshape(-1), ring=stated)
    with pytest.raises(ToolkitError, match="its rows are of none"):
        read_samples(tmp_path / "x.npz", parse(SPEC))


def test_samples_of_a_ring_are_no_independent_tokens_and_said_to_be_what_they_are(hardness):
    path, _, _, secret = polynomials("made")
    of = ("--spec", SPEC)
    refused = hardness("reduce", "lwr-to-attention", str(path), *of, "--out", "made.d")
    assert (refused.code, Path("made.d").exists()) == (2, False)
    refused.one_line("samples of the ring x^16 + 1")
    few = "lwe:n=4,q=257,sigma=1,secret=binary"
    assert hardness(*f"generate {few} --samples 60 --ring 4 --out few.npz".split()).code == 0
    for words in ("certify few.npz", "verify few.npz --members 3", "bound few.npz --tau 0.1"):
        found = hardness(*words.split())
        assert (found.code, found.out) == (2, ""), words
        found.one_line("samples of the ring x^4 + 1 given: they are not independent")
    assert "x^16 + 1, which no estimate uses" in hardness("estimate", str(path), *of).out
    found = hardness("attack", str(path), *of, "--learner", "mitm", "--learner", "modlinear")
    assert "samples of the ring x^16 + 1, which no attack here uses" in found.out
    attacked = hardness("attack", str(path), *of, "--learner", "mitm", "--json")
    [run] = json.loads(attacked.out)["attacks"][0]["runs"]
    assert run["details"]["claimed_secret"] == secret.tolist()
    assert run["details"]["ring"] == "x^16 + 1"
    for words, code, said in (
        (f"generate {SPEC} --samples 50 --ring 5 --out x.npz", 2, "divides n=16"),
        (f"generate {SPEC} --samples 50 --ring 1 --out x.npz", 2, "at least 2"),
        (f"generate {SPEC} --ring 16 --out x.npz", 2, "without --samples"),
        (f"estimate {path} --spec {SPEC} --over h=3,4", 2, "a SPEC alone is varied"),
        (f"estimate {SPEC} --spec {SPEC}", 2, "for a file of samples"),
    ):
        found = hardness(*words.split())
        assert (found.code, Path("x.npz").exists()) == (code, False)
        found.one_line(said)
    with pytest.raises(ToolkitError, match="says itself"):
        front.samples(path, spec=SPEC, ring=16)


def test_a_claim_on_samples_of_a_ring_is_none_on_labels_of_chance(hardness):
    _, a, b, _ = polynomials("made")
    np.savez("x.npz", A=a, b=np.random.default_rng(5).integers(0, 842779, b.shape))
    for learner in ("mitm", "bruteforce", "primal"):
        found = hardness("attack", "x.npz", "--spec", SPEC, "--learner", learner, "--json")
        assert (
            json.loads(found.out)["attacks"][0]["runs"][0]["details"].get("claimed_secret") is None
        )


@pytest.mark.parametrize(("degree", "rank"), [(128, 1), (64, 2), (80, 1)])
def test_a_file_of_the_benchmarks_form_is_attacked_to_its_secret(hardness, degree, rank):
    path, secret = write("made", degree=degree, rank=rank, weight=6)
    if rank > 1:
        np.savez("x.npz", A=np.load("made/orig_A.npy"), b=np.load(path), ring=degree)
        path = "x.npz"
    spec = f"lwe:n={degree * rank},q=842779,sigma=3,secret=binary,h=6"
    assert f"x^{degree} + 1" in hardness("estimate", str(path), "--spec", spec).out
    found = hardness("attack", str(path), "--spec", spec, "--learner", "mitm", "--json")
    [run] = json.loads(found.out)["attacks"][0]["runs"]
    assert run["details"]["claimed_secret"] == secret.tolist()
    assert run["details"]["fit"]["coins"] < 2**-30
