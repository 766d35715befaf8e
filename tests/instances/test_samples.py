"""Samples: drawn as stated, as arrays and files of every layout, to attention and back."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file
from scipy.stats import chi2

import hardness
from instances import AlreadyExists, DamagedFile, ToolkitError, UsageError, parse, read_folder
from instances.files import MemoryFolder, write_folder
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
    expected = many * np.tile(family.chances, family.q) / family.q
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
    for large in (lambda: to_attention(found, 0), lambda: parse(spec).instance(0).examples(0, 10)):
        with pytest.raises(ToolkitError, match=r"need q of at most .* can be estimated"):
            large()


def test_the_front_door_gives_the_samples_of_specs_files_and_folders(tmp_path):
    found = hardness.samples(SALSA, 200, seed=1)
    instance = parse(SALSA).instance(1)
    assert (found.a.shape, found.b.shape, found.q) == ((200, 30), (200,), 251)
    assert abs(found.residuals(instance.hidden.secret)).max() < 20
    assert str(found) == f"200 samples of {SALSA}"
    found.save(tmp_path / "s.npz")
    write_folder(tmp_path / "it", instance, 100)
    for one in (
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
        ((tmp_path / "none.npz", 5), "no such file"),
    ]:
        with pytest.raises(UsageError, match=said):
            hardness.samples(*arguments)


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
    monkeypatch.setattr("instances.samples._BATCH_BITS", at_once)
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


def test_examples_of_nobodys_secret_make_a_folder_without_one(tmp_path):
    given = fresh("lwe:n=3,q=521,sigma=1", 100)
    made = to_attention(given, seed=0)
    folder = write_folder(tmp_path / "all", MemoryFolder.of_examples(tmp_path, made), len(made))
    assert folder.instance is None
    assert folder.public.commitments == {}
    assert folder.examples(0, len(made)).agrees(made)
    held = MemoryFolder.of_examples(tmp_path, to_attention(given.cut(0, 1), seed=0))
    few = write_folder(tmp_path / "few", held, held.count)
    assert len(few.public.reference) == min(few.count, 8)
    (tmp_path / "all" / "secret.json").write_text('{"format": "hardness-secret/1"}')
    with pytest.raises(DamagedFile):
        read_folder(tmp_path / "all")


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
ALPHA = "lwe:n=6,q=17,alpha=0.05"


def make(spec=SPEC, count=50, seed=0):
    return samples(parse(spec).instance(seed).examples(0, count))


def reads(found, spec, *paths):
    """Whether a file, or two, read as these samples."""
    one = read_samples(paths[0], parse(spec) if spec else None, *paths[1:])
    return (
        one.family == found.family
        and one.a.dtype == one.codes.dtype == np.int64
        and np.array_equal(one.a, found.a)
        and np.array_equal(one.codes, found.codes)
    )


def refuses(word, spec, *paths):
    """It is refused in one short line that names the file."""
    with pytest.raises((UsageError, DamagedFile), match=word) as caught:
        read_samples(paths[0], parse(spec) if spec else None, *paths[1:])
    message = str(caught.value)
    assert str(paths[-1]) in message
    assert "\n" not in message
    assert "allow_pickle" not in message
    assert len(message) < 400
    return caught.type


@pytest.mark.parametrize("count", [6, 50])
@pytest.mark.parametrize(
    ("spec", "endings"),
    [
        (SPEC, "npz safetensors csv"),
        (ALPHA, "npz txt"),
        ("lwe:n=3,q=1601,alpha=0.005", "txt"),
        ("lwe:n=1,q=2,alpha=0.01", "txt"),
        ("lwr:n=4,q=16,p=4,secret=ternary,h=2", "npz safetensors csv"),
        ("lpn:n=70,noise=0.1", "npz safetensors csv"),
    ],
)
def test_what_is_written_reads_back(spec, endings, count, tmp_path):
    found = make(spec, count)
    for ending in endings.split():
        path = tmp_path / f"x.{ending}"
        found.save(path)
        assert ending == "csv" or reads(found, None, path)
        assert reads(found, spec, path)
        with pytest.raises(AlreadyExists):
            found.save(path)
        turned = Samples(family=found.family, a=np.asfortranarray(found.a), codes=found.codes)
        turned.save(path, force=True)
        assert reads(found, spec, path)


def table(found):
    return np.column_stack([found.a, found.codes])


def framed(found, path, order=None, **how):
    """Write samples as pandas does, columns in an order."""
    frame = found.to_frame().rename(columns=lambda name: name.upper() if name == "b" else name)
    frame.iloc[:, slice(None) if order is None else order].to_csv(path, **how)


def by_text(found, path):
    """Columns sorted as texts: read so, entries of a secret of 11 or more would change places."""
    columns = found.to_frame().columns
    framed(found, path, sorted(range(len(columns)), key=lambda j: columns[j]), index=False)


def renamed(found, path):
    np.save(path.with_suffix(".npy"), table(found))
    path.with_suffix(".npy").rename(path)


FOREIGN = {  # layouts that do not say of what family they are
    "sorted.csv": by_text,
    "frame.csv, tabs.csv": lambda found, path: framed(found, path, sep="\t"),  # with an index
    "MARKED.CSV": lambda found, path: framed(found, path, index=False, encoding="utf-8-sig"),
    "floats.csv": lambda found, path: np.savetxt(path, table(found)),  # 1.600000000000000000e+01
    "commas.csv": lambda found, path: np.savetxt(path, table(found), fmt="%d", delimiter=" ; "),
    "WIDE.NPY": renamed,
    "plain.npz": lambda found, path: np.savez(path, A=found.a, b=found.codes),
    "floats.npz": lambda found, path: np.savez(path, A=found.a * 1.0, b=found.codes * 1.0),
    "narrow.safetensors": lambda found, path: save_file(
        {"A": found.a.astype(np.int32), "b": found.codes.astype(np.uint8)}, path
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("spec", ["lwe:n=12,q=97,sigma=1", "lwr:n=4,q=16,p=4"])
def test_layouts_of_others_are_read_with_a_spec(spec, name, tmp_path):
    found, path = make(spec), tmp_path / name
    FOREIGN[name](found, path)
    assert reads(found, spec, path)
    refuses("--spec", None, path)


def test_bools_are_numbers_mod_2(tmp_path):
    found = make("lpn:n=7,noise=0.1")
    np.savez(tmp_path / "x.npz", A=found.a.astype(bool), b=found.codes.astype(bool))
    assert reads(found, found.family.spec, tmp_path / "x.npz")


ALONE = {
    "npy": np.save,
    "npz": lambda path, one: np.savez(path, values=one),
    "safetensors": lambda path, one: save_file({"values": one}, path),
    "csv": lambda path, one: np.savetxt(path, one, fmt="%d", delimiter=","),
}


@pytest.mark.parametrize(
    ("a", "b"), [("npy", "npz"), ("npz", "safetensors"), ("safetensors", "csv"), ("csv", "npy")]
)
def test_a_and_b_stand_in_a_file_each(a, b, tmp_path):
    found, files = make(), (tmp_path / f"A.{a}", tmp_path / f"b.{b}")
    for path, ending, values in zip(files, (a, b), (found.a, found.codes), strict=True):
        ALONE[ending](path, values)
    assert reads(found, SPEC, *files)
    assert hardness.samples(a=files[0], b=files[1], spec=SPEC).digest == found.digest
    refuses("--spec", None, *files)
    for more in ({"a": files[0]}, {"b": files[1]}, {"source": SPEC, "a": files[0], "b": files[1]}):
        with pytest.raises(UsageError, match="--a and --b go together, in place of SOURCE"):
            hardness.samples(**more)
    if b == "csv":
        files[1].write_text("# b\n" + "0\n" * (len(found) - 1) + "17\n")
        refuses(f": line {len(found) + 1}: b has 17", SPEC, *files)
    with pytest.raises(UsageError, match="SOURCE is missing"):
        hardness.samples()


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("few.npy", np.zeros(49, int), r"and b \(49,\): "),
        ("large.npy", np.full(50, 17), "b has 17"),
        ("A.npy", np.zeros((50, 6), int), r"and b \(50, 6\)"),
        ("two.npz", {"x": [1], "y": [1]}, "holds x, y: an array b is wanted"),
        ("words.csv", "1,2\n3,x\n", "'x'"),
        ("ragged.csv", "1,2\n3\n", "changed from 2 to 1"),
        ("b.txt", "1", "must end in .npy, .npz, .safetensors or .csv"),
    ],
)
def test_a_file_that_is_no_b_is_refused(name, content, word, tmp_path):
    np.save(tmp_path / "a.npy", make(SPEC, 120).a[:50])
    refuses(word, SPEC, tmp_path / "a.npy", written(tmp_path / name, content))


def written(path, content):
    if isinstance(content, np.ndarray):
        np.save(path, content)
    elif isinstance(content, dict):
        np.savez(path, **{name: np.array(value) for name, value in content.items()})
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


GOOD = "2\n3\n17\n0.005\n[1 2 3]\n[[1 2]\n[3 4]\n[5 16]]\n"


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace(" ", ", ").replace("]\n[", "],\n["),
        GOOD.replace("\n", "\r\n"),
        GOOD.replace("]\n[3", "] [3").rstrip("\n"),
        GOOD.replace("[1 2", "[ 1  2"),
    ],
)
def test_a_challenge_is_read(text, tmp_path):
    family, a = parse("lwe:n=2,q=17,alpha=0.005"), np.array([[1, 2], [3, 4], [5, 16]])
    found = Samples(family=family, a=a, codes=np.array([1, 2, 3]))
    assert reads(found, None, written(tmp_path / "c.txt", text))


def stated(**change):
    meta = {"format": "hardness-samples/1", "spec": SPEC, "sha256": "0" * 64} | change
    return {"hardness": json.dumps(meta), "a": np.zeros((9, 6), int), "b": np.zeros(9, int)}


@pytest.mark.parametrize(
    ("name", "content", "word"),
    [
        ("csv", "\n# a comment\n", "is empty"),
        ("csv", "0 0 0 0 0 0 0\na,b,c,d,e,f,b", "many numbers each are wanted: 'a' is no number"),
        ("csv", "0 0 0 0 0 0 0\n\n1 2 3", "changed from 7 to 3 on line 3$"),
        ("csv", "1,2,,3,4,5,6,7", "'' is no number on line 1, column 3"),
        ("csv", "a,b,c,d,e,f,b\n\n0 0 0 0 0 0 0\n#\nx7 0 0 0 0 0 0", "'x7' .* on line 5, column 1"),
        ("csv", "1 2 3 4 5 6 0.5", "b has 0.5: integers are wanted"),
        ("csv", "1 2 3 4 5 6 nan", "b has nan: integers are wanted"),
        ("csv", "# h\n1 2 3 4 5 6 -8", r"line 2: b has -8: .* 0 \.\. 16; take b % 17"),
        ("csv", "1 2 3 4 5 17 8", "a has 17: .* give its q, or take a % 17"),
        ("csv", "0,1,2,3,4,5,6\n1,2,3,4,5,6,7", "0 .. 6, as pandas names .* header=False"),
        ("csv", "x,y,z,u,v,w,t\n1,2,3,4,5,6,7", "names of n=6 columns of a and of b are wanted"),
        ("csv", "b,b,a2,a3,a4,a5,a6\n1,2,3,4,5,6,7", "names of n=6 columns"),
        ("csv", "a0,a1,a2,a3,a4,a5,b\n1,2,3", "7 names stand above 3 columns"),
        ("csv", "1 2 3 4 5 6 7 8", r"array \(1, 8\): \(N, 7\) is wanted"),
        ("npy", np.zeros((9, 6), int), r"\(N, 7\) is wanted, .* np.column_stack\(\[A, b\]\)"),
        ("npy", np.zeros(9, int), r"\(N, 7\) is wanted"),
        ("npz", {"a": [[0.0, np.nan]], "b": [1]}, "integers"),
        ("npz", {"a": np.array([[2**24]], np.float32), "b": [1]}, "a has 1.67772e.07: integers"),
        ("npz", {"a": np.full((1, 6), 2**63, np.uint64), "b": [1]}, "a has 9223372036854775808"),
        ("npz", {"a": [[0] * 6], "b": [1, 2]}, r"\(2,\)"),
        ("npz", {"a": np.zeros((0, 6), int), "b": np.zeros(0, int)}, "N > 0"),
        ("npz", {"a": [[1, 2]], "c": [1]}, "A and b"),
        ("npz", {"a": np.array([{}], dtype=object), "b": [1]}, "pickle"),
        ("npz", stated(), "hash"),
        ("npz", stated(format="hardness-samples/2"), "this version reads"),
        ("npz", stated(spec="nice:m=1,k=2,d=4"), "lacks `linear_forms`"),
        ("npz", stated(spec="lwr:n=6,q=15,p=3"), "prime"),
        ("npz", stated(spec=7), "damaged"),
        ("npz", b"no zip", "damaged or not ours"),
        ("txt", "", "ends before"),
        ("txt", GOOD.replace("[1 2 3]", "[__import__('os').system('true')]"), "__import__"),
        ("txt", GOOD.replace("0.005", "1e999"), "number"),
        ("txt", GOOD.replace("0.005", "-0.1"), "above 0"),
        ("txt", GOOD.replace("0.005", "0.5"), "below 1/8"),
        ("txt", GOOD.replace("17", "4294967311"), "at most 65536"),
        ("txt", GOOD.replace("16", "17"), r"row 2 of 0 \.\. 2: a has 17: .* has 0 \.\. 16"),
        ("txt", GOOD.replace("16", "9" * 100_000), r"'9{40}\.\.\.' stands where numbers"),
        ("txt", GOOD.replace("16", "1６"), "'６' stands where numbers"),
        ("txt", GOOD.replace("2\n3", "2\n4"), "b has 3 numbers, and A 3 rows of .* m=4"),
        ("txt", GOOD.replace("2\n3", "65536\n99999999999"), "n=65536, m=99999999999 are stated"),
        ("txt", GOOD.replace("[3 4]\n", ""), "A 2 rows of"),
        ("txt", GOOD.replace("[3 4]", "[3 4 4]"), "rows of {2, 3} numbers"),
        ("txt", GOOD + "[1 2]", "in brackets"),
    ],
)
def test_what_is_no_file_of_samples_is_refused(name, content, word, tmp_path):
    spec = None if name == "txt" else SPEC
    assert refuses(word, spec, written(tmp_path / f"x.{name}", content)) is DamagedFile


def test_files_of_other_names_and_other_families_are_refused(tmp_path):
    refuses(r"\.safetensors", None, written(tmp_path / "x.dat", b""))
    refuses("no such file", None, tmp_path / "none.npz")
    refuses("no such file", None, tmp_path / "none.txt")
    table = written(tmp_path / "x.npz", {"a": [[0, 1]], "b": [4]})
    refuses(r"b has 4: lwr with q=16 has 0 \.\. 3$", "lwr:n=2,q=16,p=4", table)
    for spec in (SPEC, f"{ALPHA},secret=binary", "lwe:n=3,q=17,alpha=1/17", "lwr:n=3,q=16,p=4"):
        with pytest.raises(UsageError, match=r"a \.txt is a Darmstadt challenge"):
            make(spec).save(tmp_path / "x.txt")
    make(ALPHA).save(tmp_path / "y.txt")
    known = parse(f"{SPEC},secret=binary")
    assert read_samples(tmp_path / "y.txt", known).family == known
    refuses("of lwe.*, got lwe:alpha=0,", "lwe:n=4,q=17,sigma=1", tmp_path / "y.txt")


def test_a_text_that_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    with pytest.raises(UsageError, match="at least one sample, got none"):
        Samples.none(parse(ALPHA)).save(tmp_path / "none.txt")
    monkeypatch.setattr("instances.samples.MOST_TEXT", 100)
    with pytest.raises(UsageError, match="at most 100 are read again"):
        make().save(tmp_path / "x.csv")
    assert not list(tmp_path.iterdir())
