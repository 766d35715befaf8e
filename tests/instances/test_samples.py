"""Samples: drawn as stated, as arrays and files of every layout, to attention and back."""

import itertools
import json
import sys

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.stats import chi2

import hardness
from instances import (
    AlreadyExists,
    DamagedFile,
    ToolkitError,
    UsageError,
    parse,
    read_folder,
    residues,
)
from instances.files import Held, write_folder
from instances.residues import dot
from instances.samples import Samples, read_samples, samples, to_attention
from tests.conftest import with_bits

SALSA = "lwe:n=30,q=251,sigma=3,secret=binary,h=3"


def even(counts):
    """Whether counts are those of a uniform law, by a chi-squared test."""
    expected = counts.sum() / len(counts)
    return ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, len(counts) - 1)


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=3,q=17,sigma=2",
        "lwe:n=2,q=16,error=uniform,width=3",
        "lwr:n=4,q=16,p=4",
        "lpn:n=5,noise=0.2",
        "parity:d=6,m=2,noise=0.1",
    ],
)
def test_samples_are_drawn_from_the_law_that_the_family_states(spec):
    """A chi-squared test of all (a_0, code less that of <a, s>): a is uniform, e as stated."""
    instance, many = parse(spec).instance(2), 40_000
    found = hardness.samples(spec, many, seed=2)
    family = found.family
    secret = np.array(instance.family.to_linear(instance.hidden.secret))
    clean = family.table[found.a @ secret % family.q]
    levels = family.outcomes
    cells = found.a[:, 0] * levels + (found.codes - clean) % levels
    counts = np.bincount(cells, minlength=family.q * levels)
    chances = family.chances if family.errors else np.eye(levels)[0]
    expected = many * np.tile(chances, family.q) / family.q
    assert not counts[expected == 0].any()
    places = expected > 5
    statistic = ((counts - expected)[places] ** 2 / expected[places]).sum()
    assert statistic < chi2.isf(1e-6, places.sum())
    # And it is not blind: another secret is seen.
    other = (found.a @ np.roll(secret + 1, 1)) % family.q
    assert not np.isclose(found.codes - clean, found.codes - family.table[other]).all()


@pytest.mark.parametrize(
    "spec",
    [
        "lwe:n=256,q=3371164,sigma=3,secret=binary,h=20",
        "lwe:n=64,q=281474976710597,sigma=3",
        "lwr:n=20,q=2097152,p=2048,secret=ternary",
    ],
)
def test_samples_of_a_large_q_need_no_table(spec, tmp_path):
    found = hardness.samples(spec, 300)
    secret = parse(spec).instance(0).hidden.secret
    if spec.startswith("lwe"):
        assert 2.5 < found.residuals(secret).std() < 3.5
    else:
        assert -1024 < found.residuals(secret).min() <= found.residuals(secret).max() <= 0
    found.save(tmp_path / "x.csv")
    again = hardness.samples(tmp_path / "x.csv", spec=spec)
    assert (again.a == found.a).all()
    assert (again.codes == found.codes).all()
    with pytest.raises(ToolkitError, match="need q of at most"):
        to_attention(found, 0)


def test_the_front_door_gives_the_samples_of_specs_files_and_folders(tmp_path):
    found = hardness.samples(SALSA, 200, seed=1)
    instance = parse(SALSA).instance(1)
    assert (found.a.shape, found.b.shape, found.q) == ((200, 30), (200,), 251)
    assert abs(found.residuals(instance.hidden.secret)).max() < 20
    assert str(found) == f"200 samples of {SALSA}"
    found.save(tmp_path / "s.csv")
    found.save(tmp_path / "s.npz")
    write_folder(tmp_path / "it", instance, 100)
    for one in (
        hardness.samples(tmp_path / "s.csv", spec=SALSA),
        hardness.samples(str(tmp_path / "s.npz")),
        hardness.samples(instance.family, 200, seed=1),
        hardness.samples(SALSA, 50, seed=1),
        hardness.samples(tmp_path / "s.npz", 7),
    ):
        assert len(one) in (7, 50, 200)
        assert (one.a == found.a[: len(one)]).all()
        assert (one.b == found.b[: len(one)]).all()
    few = hardness.samples(tmp_path / "it")
    assert 20 < len(few) < 80
    assert abs(few.residuals(instance.hidden.secret)).max() < 20
    for arguments, said in [
        ((SALSA,), "give their count"),
        (("nice:m=1,k=2,d=4", 5), "lacks `linear_forms`"),
        ((tmp_path / "none.npz", 5), "no such file"),
    ]:
        with pytest.raises(UsageError, match=said):
            hardness.samples(*arguments)


def test_torch_is_asked_for_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.setitem(sys.modules, "torch.utils.data", None)
    with pytest.raises(ToolkitError, match=r"torch, which is not installed: pip install"):
        hardness.samples(SALSA, 3).torch()


@pytest.mark.plugins
def test_a_torch_dataset_gives_rows():
    torch = pytest.importorskip("torch")
    found = hardness.samples(SALSA, 40)
    rows = found.torch()
    assert len(rows) == 40
    a, b = rows[3]
    assert (a.dtype, b.dtype) == (torch.int64, torch.int64)
    assert (a.tolist(), int(b)) == (found.a[3].tolist(), int(found.b[3]))
    batch = next(iter(torch.utils.data.DataLoader(rows, batch_size=8)))
    assert batch[0].shape == (8, 30)


# ---- to attention examples and back


def fresh(spec, count, seed=0):
    """Samples with a uniform on Z_q^n, made without any attention example."""
    family = parse(spec) if isinstance(spec, str) else spec
    rng = np.random.default_rng(seed)
    a = rng.integers(0, family.q, (count, family.n))
    secret = family.draw(rng)
    errors = rng.choice([0, 0, 1], count) if family.errors else 0
    codes = family.table[(a @ np.array(secret) + errors) % family.q]
    return Samples(family=family, a=a, codes=codes)


@pytest.mark.parametrize(
    "spec",
    [
        "lwr:n=4,q=16,p=4",
        "lwr:n=4,q=16,p=2,secret=binary,h=2",
        "lwe:n=3,q=521,sigma=1",
        "lpn:n=20,noise=0.2",
    ],
)
@pytest.mark.parametrize(("count", "at_once"), [(1, 1 << 24), (2, 1 << 24), (300, 1000), (40, 1)])
def test_forward_then_backward_returns_all_samples_in_order(spec, count, at_once, monkeypatch):
    monkeypatch.setattr("instances.samples._NUMBERS", at_once)
    given = fresh(spec, count)
    made = to_attention(given, seed=5)
    back = samples(made)
    assert (back.a == given.a).all()
    assert (back.codes == given.codes).all()
    again = made.family.restore(made.tensors, len(made))  # nothing where labels are known
    assert again.agrees(made)
    assert made.agrees(to_attention(given, 5))
    factor = (made.x * made.y)[:, 0, 0]
    opened = made.x[:, 0, 0] != made.x[:, 1, 0]
    assert (factor[~opened] == 0).all()
    levels = np.array([float(v) for v in made.family.levels])
    assert np.abs(factor[opened] - levels[given.codes]).max() < 1e-15
    assert not made.y[:, :, 1:].any()


@pytest.mark.parametrize(
    ("spec", "bits"),
    [("lwr:n=2,q=4,p=2", 2), ("lwr:n=1,q=16,p=4", 4), ("lwe:n=1,q=3,sigma=0.5", 6)],
)
def test_tokens_are_uniform(spec, bits):
    given = fresh(with_bits(spec, bits), 60_000)
    made = to_attention(given, seed=3)
    assert not made.agrees(to_attention(given, seed=4))
    # Every cell of (z_0, bits, X_1) is as frequent as another.
    first, z = (v.astype(np.int64) for v in (made.words[:, 0, 0], made.words[:, 1, 0]))
    z ^= first
    for cells, many in ((z, 1), (z ^ first, 1), (first, 1), (4 * z + first % 4, 4)):
        assert even(np.bincount(cells, minlength=many << made.family.d))
    if given.q == 16:  # a biased a is seen by the same test
        biased = Samples(family=given.family, a=given.a & 14, codes=given.codes)
        words = to_attention(biased, seed=0).words[:, :, 0].astype(np.int64)
        assert not even(np.bincount(words[:, 0] ^ words[:, 1], minlength=1 << made.family.d))


def test_a_number_mod_a_prime_is_written_as_a_uniform_one_of_its_writings():
    a = np.full((30_000, 1), 2)
    found = residues.write(a, 4, 5, np.random.default_rng(0)) @ (1 << np.arange(4))
    assert set(found.tolist()) == {2, 7, 12}
    assert even(np.bincount(found)[[2, 7, 12]])


def test_examples_of_nobodys_secret_make_a_folder_without_one(tmp_path):
    given = fresh("lwe:n=3,q=521,sigma=1", 100)
    made = to_attention(given, seed=0)
    for tensors in ("npz", "safetensors"):
        folder = write_folder(tmp_path / tensors, Held.of(tmp_path, made), len(made), tensors)
        assert folder.instance is None
        assert folder.public.commitments == {}
        assert folder.examples(0, len(made)).agrees(made)
    held = Held.of(tmp_path, to_attention(given.cut(0, 1), seed=0))
    few = write_folder(tmp_path / "few", held, held.count)
    assert len(few.public.reference) == min(few.count, 8)
    (tmp_path / "npz" / "secret.json").write_text('{"format": "hardness-secret/1"}')
    with pytest.raises(DamagedFile):
        read_folder(tmp_path / "npz")


@pytest.mark.parametrize("q", [2, 17, 3329, (1 << 24) - 3, 1 << 26, (1 << 48) - 59])
def test_inner_products_are_exact_at_any_modulus(q):
    rng = np.random.default_rng(0)
    near = q - 1 - rng.integers(0, 2, (20, 30)), rng.integers(0, 2, 30) - 1
    wide = rng.integers(0, q, (20, 30)), rng.integers(-(q // 2), q // 2 + 1, 30)
    for a, s in (near, wide):
        rows = (sum(x * y for x, y in zip(row, s.tolist(), strict=True)) for row in a.tolist())
        assert dot(a, s, q).tolist() == [row % q for row in rows]


# ---- files: every layout reads back, what is damaged or foreign is refused


SPEC = "lwe:n=6,q=17,sigma=1"
SPECS = [
    SPEC,
    "lwe:n=6,q=17,alpha=0.05",
    "lwe:n=3,q=1601,alpha=0.005",
    "lwe:n=3,q=16,sigma=1,secret=binary",
    "lwr:n=4,q=16,p=4,secret=ternary,h=2",
    "lpn:n=70,noise=0.1",
]


def make(spec=SPEC, count=50, seed=0):
    return samples(parse(spec).instance(seed).examples(0, count))


def reads(path, found, spec=None):
    """Whether a file reads as these samples."""
    one = read_samples(path, parse(spec) if spec else None)
    return (
        one.family == found.family
        and one.a.dtype == one.codes.dtype == np.int64
        and np.array_equal(one.a, found.a)
        and np.array_equal(one.codes, found.codes)
    )


def refuses(path, word, spec=None):
    """It is refused in one short line that names the file."""
    with pytest.raises((UsageError, DamagedFile), match=word) as caught:
        read_samples(path, parse(spec) if spec else None)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 400
    return caught.type


def plain(path, **arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, path)
    return path


CHALLENGES = ("lwe:n=6,q=17,alpha=0.05", "lwe:n=3,q=1601,alpha=0.005", "lwe:n=1,q=2,alpha=0.01")


@pytest.mark.parametrize("count", [6, 50])
@pytest.mark.parametrize(
    ("spec", "suffix"),
    [
        *itertools.product(SPECS, (".npz", ".safetensors")),
        *((spec, ".txt") for spec in CHALLENGES),
    ],
)
def test_what_is_written_reads_back(spec, suffix, count, tmp_path):
    found, path = make(spec, count), tmp_path / f"x{suffix}"
    found.save(path)
    assert reads(path, found)
    assert reads(path, found, spec)
    with pytest.raises(AlreadyExists):
        found.save(path)
    turned = Samples(family=found.family, a=np.asfortranarray(found.a), codes=found.codes)
    turned.save(path, force=True)
    assert reads(path, found)


def table(found):
    return np.column_stack([found.a, found.codes])


def framed(path, found, order=None, **how):
    """Write samples as pandas does, columns in an order."""
    frame = found.to_frame().rename(columns=lambda name: name.upper() if name == "b" else name)
    frame.iloc[:, slice(None) if order is None else order].to_csv(path, **how)


FOREIGN = {  # layouts that do not say of what family they are
    "frame.csv": lambda path, found: framed(path, found, index=False),
    "index.csv": framed,
    "frame.csv, tabs.csv": lambda path, found: framed(path, found, sep="\t"),
    "MARKED.CSV": lambda path, found: framed(path, found, index=False, encoding="utf-8-sig"),
    "marked.csv": lambda path, found: np.savetxt(
        path, table(found), fmt="%d", encoding="utf-8-sig"
    ),
    "WIDE.NPY": lambda path, found: (
        np.save(path.with_suffix(".npy"), table(found)),
        path.with_suffix(".npy").rename(path),
    ),
    "floats.npz": lambda path, found: plain(path, A=found.a.astype(float), b=found.codes * 1.0),
    "commas.csv": lambda path, found: np.savetxt(path, table(found), fmt="%d", delimiter=","),
    "default.csv": lambda path, found: np.savetxt(path, table(found)),  # 1.600000000000000000e+01
    "tabs.csv": lambda path, found: np.savetxt(path, table(found), fmt="%d", delimiter="\t"),
    "wide.npy": lambda path, found: np.save(path, table(found)),
    "plain.npz": lambda path, found: plain(path, A=found.a, b=found.codes),
    "narrow.safetensors": lambda path, found: plain(
        path, A=found.a.astype(np.int32), b=found.codes.astype(np.uint8)
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("spec", [SPEC, "lwr:n=4,q=16,p=4", "lpn:n=7,noise=0.1"])
def test_layouts_of_others_are_read_with_a_spec(spec, name, tmp_path):
    found, path = make(spec), tmp_path / name
    FOREIGN[name](path, found)
    assert reads(path, found, spec)
    refuses(path, "--spec")
    if name == "commas.csv":
        found.save(tmp_path / "ours.csv")
        assert (tmp_path / "ours.csv").read_text() == path.read_text()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("\n# a comment\n", "is empty"),
        ("0 0 0 0 0 0 0\na,b,c,d,e,f,b", "line 2 has 'a': integers are wanted"),
        ("0 0 0 0 0 0 0\n\n1 2 3", "line 3 has 3 numbers: 7 are wanted, n=6 of a and then b"),
        ("0 0 0 0 0 0 0\n1 2 3 4 5 6 0.5", r"line 2 has '0.5': integers .* A.astype\(int\)"),
        ("1 2 3 4 5 6 nan", "line 1 has 'nan': integers are wanted"),
        ("# h\n1 2 3 4 5 6 -8", r"line 2: b has -8: .* 0 \.\. 16; take b % 17"),
        ("1 2 3 4 5 17 8", "line 1: a has 17: .* give its q, or take a % 17"),
        ("0,1,2,3,4,5,6\n1,2,3,4,5,6,7", "0 .. 6, as pandas names columns: .* header=False"),
        ("x,y,z,u,v,w,t\n1,2,3,4,5,6,7", "names of n=6 columns of a and of b are wanted"),
        ("b,b,a2,a3,a4,a5,a6\n1,2,3,4,5,6,7", "names of n=6 columns"),
        ("1 2 3 4 5 6 ; 7\n1 2 3 4 5 6 ; 7 8", "line 2 has 8 numbers: 7 are wanted"),
    ],
)
def test_a_table_that_is_none_is_refused(text, word, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    assert refuses(tmp_path / "x.csv", word, SPEC) is DamagedFile


def test_a_text_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="no samples given"):
        Samples.none(parse("lwe:n=4,q=17,alpha=0.1")).save(tmp_path / "none.txt")
    monkeypatch.setattr("instances.samplefile.MOST_TEXT", 100)
    with pytest.raises(UsageError, match="at most 100 are read again"):
        make().save(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())


ALONE = {
    "npy": np.save,
    "npz": lambda path, one: plain(path, values=one),
    "safetensors": lambda path, one: plain(path, values=one),
    "csv": lambda path, one: np.savetxt(path, one, fmt="%d", delimiter=","),
}


@pytest.mark.parametrize("b", ALONE)
@pytest.mark.parametrize("a", ALONE)
def test_a_and_b_stand_in_a_file_each(a, b, tmp_path):
    found, family = make(), parse(SPEC)
    files = tmp_path / f"A.{a}", tmp_path / f"b.{b}"
    for path, ending, values in zip(files, (a, b), (found.a, found.codes), strict=True):
        ALONE[ending](path, values)
    read = read_samples(files[0], family, files[1])
    assert np.array_equal(read.a, found.a)
    assert np.array_equal(read.codes, found.codes)
    again = hardness.samples(a=files[0], b=files[1], spec=SPEC)
    assert again.digest == read.digest


def test_arrays_in_files_that_are_no_samples_are_refused(tmp_path):
    found, family = make(), parse(SPEC)
    np.save(tmp_path / "A.npy", found.a)
    np.save(tmp_path / "b.npy", found.codes)
    np.save(tmp_path / "few.npy", found.codes[:-1])
    np.save(tmp_path / "large.npy", found.codes + 17)
    np.savez(tmp_path / "two.npz", x=found.codes, y=found.codes)
    (tmp_path / "words.csv").write_text("1,2\n3,x\n")
    (tmp_path / "ragged.csv").write_text("1,2\n3\n")
    for b, word in (
        ("few.npy", r"and b \(\d+,\): "),
        ("large.npy", "b has "),
        ("A.npy", r"and b \(\d+, 6\)"),
        ("two.npz", "an array b is wanted"),
        ("words.csv", "lines of as many integers"),
        ("ragged.csv", "lines of as many integers"),
        ("b.txt", "read from .npy, .npz, .safetensors or .csv"),
    ):
        with pytest.raises((UsageError, DamagedFile), match=word) as refused:
            read_samples(tmp_path / "A.npy", family, tmp_path / b)
        assert b in str(refused.value)
    with pytest.raises(UsageError, match="--spec"):
        read_samples(tmp_path / "A.npy", None, tmp_path / "b.npy")
    for more in ({"a": "A.npy"}, {"b": "b.npy"}, {"source": SPEC, "a": "A.npy", "b": "b.npy"}):
        with pytest.raises(UsageError, match="--a and --b go together, in place of SOURCE"):
            hardness.samples(**more)
    with pytest.raises(UsageError, match="no SOURCE given"):
        hardness.samples()


@pytest.mark.parametrize("name", ["orig_A.npy", "orig_b.npy"])
def test_an_array_alone_is_refused_with_what_to_save(name, tmp_path):
    found, path = make(), tmp_path / name
    np.save(path, found.a if name == "orig_A.npy" else found.b)
    refuses(path, r"\(N, 7\) is wanted, .* np.column_stack\(\[A, b\]\)", SPEC)


GOOD = "2\n3\n17\n0.005\n[1 2 3]\n[[1 2]\n[3 4]\n[5 16]]\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace(" ", ", ").replace("]\n[", "],\n["),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("]\n[3", "] [3").rstrip("\n"),
        GOOD.replace("[1 2", "[ 1  2"),
    ],
)
def test_a_challenge_is_read(text, tmp_path):
    (tmp_path / "c.txt").write_bytes(text.encode())
    family = parse("lwe:n=2,q=17,alpha=0.005")
    a = np.array([[1, 2], [3, 4], [5, 16]])
    assert reads(tmp_path / "c.txt", Samples(family=family, a=a, codes=np.array([1, 2, 3])))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "ends before"),
        (GOOD.replace("[1 2 3]", "[__import__('os').system('true')]"), "__import__"),
        (GOOD.replace("0.005", "1e999"), "number"),
        (GOOD.replace("0.005", "-0.1"), "above 0"),
        (GOOD.replace("0.005", "0.5"), "below 1/8"),
        (GOOD.replace("17", "4294967311"), "at most 65536"),
        (GOOD.replace("16", "17"), r"0 \.\. q - 1 = 16"),
        (GOOD.replace("16", "9" * 100_000), "100000 digits"),
        (GOOD.replace("16", "1６"), "ASCII"),
        (GOOD.replace("2\n3", "2\n4"), "b has 3 numbers"),
        (GOOD.replace("2\n3", "65536\n99999999999"), "more numbers than"),
        (GOOD.replace("[3 4]\n", ""), "A has 2 rows"),
        (GOOD + "[1 2]", "in brackets"),
    ],
)
def test_hostile_challenges_are_refused_with_one_line(text, word, tmp_path):
    (tmp_path / "c.txt").write_bytes(text.encode())
    assert refuses(tmp_path / "c.txt", word) is DamagedFile


def test_a_challenge_file_states_lwe_with_alpha_alone(tmp_path):
    for spec in [
        "lwe:n=3,q=17,sigma=1",
        "lwe:n=3,q=17,alpha=1/17",
        "lwe:n=3,q=17,alpha=0.05,secret=binary",
        "lwe:n=3,q=17,error=uniform,width=2",
        "lwr:n=3,q=16,p=4",
    ]:
        with pytest.raises(UsageError, match=r"a \.txt is a Darmstadt challenge"):
            make(spec).save(tmp_path / "x.txt")
    make("lwe:n=3,q=17,alpha=0.05").save(tmp_path / "y.txt")
    known = parse("lwe:n=3,q=17,sigma=1,secret=binary")
    assert read_samples(tmp_path / "y.txt", known).family == known
    refuses(tmp_path / "y.txt", "is of lwe", "lwe:n=4,q=17,sigma=1")


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"a": [[0.0, np.nan]], "b": [1]}, "integers"),
        ({"a": np.array([[0, 2**24]], np.float32), "b": [1]}, "a of float32: integers"),
        ({"a": [[0, 1]], "b": [0.5]}, "b of float64: integers"),
        ({"a": [[0, -1]], "b": [1]}, "a has -1"),
        ({"a": [[0, 1]], "b": [4]}, r"b has 4: lwr with q=16 has 0 \.\. 3$"),  # of p = 4 levels
        ({"a": np.array([[0, 2**63]], np.uint64), "b": [1]}, "a has 9223372036854775808"),
        ({"a": [[0, 1]], "b": [1, 2]}, r"\(2,\)"),
        ({"a": np.zeros((0, 2), int), "b": np.zeros(0, int)}, "N > 0"),
        ({"a": [[1, 2]], "c": [1]}, "A and b"),
        ({"a": np.array([{}], dtype=object), "b": [1]}, "pickle"),
    ],
)
def test_arrays_that_are_no_samples_are_refused(arrays, word, tmp_path):
    path = plain(tmp_path / "x.npz", **{name: np.array(value) for name, value in arrays.items()})
    assert refuses(path, word, "lwr:n=2,q=16,p=4") is DamagedFile


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({}, "hash"),
        ({"format": "hardness-samples/2"}, "this version reads"),
        ({"spec": "nice:m=1,k=2,d=4"}, "it lacks `linear_forms`"),
        ({"spec": "lwr:n=6,q=15,p=3"}, "prime"),
        ({"spec": 7}, "damaged"),
    ],
)
def test_what_a_file_states_has_to_hold(change, word, tmp_path):
    found, path = make(), tmp_path / "x.npz"
    meta = {"format": "hardness-samples/1", "spec": found.family.spec, "sha256": "0" * 64} | change
    np.savez(path, hardness=np.array(json.dumps(meta)), a=found.a, b=found.b)
    assert refuses(path, word) is DamagedFile


def test_what_is_no_file_of_samples_is_refused(tmp_path):
    (tmp_path / "x.npz").write_bytes(b"no zip")
    refuses(tmp_path / "x.npz", "damaged or not ours")
    refuses(tmp_path / "x.dat", r"\.safetensors")
    for name in ("none.npz", "none.txt"):
        refuses(tmp_path / name, "does not exist")


def test_columns_are_ordered_by_the_numbers_in_their_names(tmp_path):
    """Sorted as texts a10 comes before a2: read so, the secret's entries would change places."""
    found = make("lwe:n=12,q=97,sigma=1")
    order = sorted(range(13), key=lambda column: str(found.to_frame().columns[column]))
    framed(tmp_path / "x.csv", found, order, index=False)
    assert (tmp_path / "x.csv").read_text().startswith("a0,a1,a10,a11,a2,")
    assert reads(tmp_path / "x.csv", found, found.family.spec)


def test_bools_are_numbers_mod_2(tmp_path):
    found = make("lpn:n=7,noise=0.1")
    path = plain(tmp_path / "x.npz", A=found.a.astype(bool), b=found.codes.astype(bool))
    assert reads(path, found, found.family.spec)
