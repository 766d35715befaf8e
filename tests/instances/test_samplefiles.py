import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from instances import AlreadyExists, DamagedFile, UsageError, parse
from instances.darmstadt import read_challenge
from instances.samples import Samples, read_samples, samples, write_secret

SPECS = [
    "lwe:n=6,q=17,alpha=0.05",
    "lwe:n=3,q=1601,alpha=0.005",
    "lwe:n=3,q=16,sigma=1,secret=binary",
    "lwr:n=4,q=16,p=4,secret=ternary,h=2",
    "lpn:n=70,noise=0.1",
    "window:n=3,q=8,parts=4",
]


def make(spec, count=50, seed=0):
    return samples(parse(spec).instance(seed).examples(0, count))


def same(one, two):
    return (
        one.family == two.family
        and one.a.dtype == two.a.dtype == one.codes.dtype == two.codes.dtype == np.int64
        and np.array_equal(one.a, two.a)
        and np.array_equal(one.codes, two.codes)
    )


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("spec", SPECS)
def test_what_is_written_reads_back(spec, suffix, tmp_path):
    found = make(spec)
    path = tmp_path / f"x{suffix}"
    found.save(path)
    assert same(read_samples(path), found)
    assert same(read_samples(path, found.family), found)
    with pytest.raises(AlreadyExists):
        found.save(path)
    found.cut(0, 3).save(path, force=True)
    assert len(read_samples(path)) == 3


@pytest.mark.parametrize("name", ["x.txt", "x.csv", "x.npy", "y.npy"])
def test_a_table_of_integers_is_read_with_its_spec(name, tmp_path):
    found = make("lwe:n=6,q=17,sigma=1")
    table, path = np.column_stack([found.a, found.b]), tmp_path / name
    if name == "x.npy":
        np.save(path, table)
    elif name == "y.npy":
        np.save(path, table.astype(np.int16))
    else:
        np.savetxt(path, table, fmt="%d", delimiter="," if name == "x.csv" else " ")
    assert same(read_samples(path, found.family), found)
    with pytest.raises((UsageError, DamagedFile), match="--spec"):
        read_samples(path)
    if not name.endswith("npy"):  # the default of savetxt: 1.600000000000000000e+01
        np.savetxt(path, table)
        assert same(read_samples(path, found.family), found)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "is empty"),
        ("\n# a comment\n", "is empty"),
        ("0 0 0 0 0 0 0\na,b,c,d,e,f,b", "line 2 has 'a': integers are wanted"),
        ("0 0 0 0 0 0 0\n\n1 2 3", "line 3 has 3 numbers: 7 are wanted, n=6 of a and then b"),
        ("5", "line 1 has 1 numbers: 7 are wanted"),
        ("0 0 0 0 0 0 0\n1 2 3 4 5 6 0.5", r"line 2 has 0.5: integers .* A.astype\(int\)"),
        ("1 2 3 4 5 6 nan", "line 1 has nan: integers are wanted"),
        ("1 2 3 4 5 6 1e300", "line 1 has 1e.300: integers are wanted"),
        ("# h\n1 2 3 4 5 6 -8", r"line 2: b has -8: .* 0 \.\. 16; take b % 17"),
        ("1 2 3 4 5 17 8", "line 1: a has 17: .* give its q, or take a % 17"),
        ("1 2 3 4 5 6 ; 7\n1 2 3 4 5 6 ; 7 8", "line 2 has 2 numbers after ';'.* one secret"),
        ("1 2 3 4 5 6 7 ;", "line 1 has 0 numbers after ';'"),
        ("1 2 3 4 5 6 ; 7 ; 8", "line 1 has 3 numbers after ';'"),
    ],
)
def test_a_table_that_is_none_is_refused(text, word, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(DamagedFile, match=word) as caught:
        read_samples(tmp_path / "x.csv", parse("lwe:n=6,q=17,sigma=1"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.prefix", "x.txt"])
@pytest.mark.parametrize("spec", ["lwe:n=6,q=17,sigma=1", "lwr:n=4,q=16,p=4", "lpn:n=7,noise=0.1"])
def test_lines_read_back(spec, name, tmp_path):
    found, path = make(spec), tmp_path / name
    found.save(path)
    first = path.read_text().splitlines()[0]
    assert first == f"{' '.join(map(str, found.a[0]))} ; {found.codes[0]}"  # as VERDE's export.py
    assert same(read_samples(path, found.family), found)
    # A tab before b, as SALSA's trainer.py writes it.
    path.write_text(path.read_text().replace(" ; ", "\t"))
    assert same(read_samples(path, found.family), found)
    with pytest.raises((UsageError, DamagedFile), match="--spec"):
        read_samples(path)


def test_a_text_that_is_too_long_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("instances.samplefile.MOST_TEXT", 100)
    with pytest.raises(UsageError, match="at most 100 are read again"):
        make("lwe:n=6,q=17,sigma=1").save(tmp_path / "x.prefix")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("orig_A.npy", "orig_b.npy"),  # of VERDE
        ("train_A.npy", "binary_secrets_h5_6/train_b_5_0.npy"),  # of LWE-benchmarking
    ],
)
def test_arrays_in_two_files_are_read_by_that_of_b(a, b, tmp_path):
    found, where = make("lwe:n=6,q=17,sigma=1"), tmp_path / b
    where.parent.mkdir(exist_ok=True)
    np.save(tmp_path / a, found.a)
    (where.parent / "params.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    np.save(where.parent / "secret.npy", np.array([{}], dtype=object))
    for column in (found.b, found.b[:, None]):
        np.save(where, column)
        assert same(read_samples(where, found.family), found)
    np.save(where, np.stack([found.b, found.b], axis=1))
    with pytest.raises(DamagedFile, match=r"b \(\d+, 2\): of one secret .* b\[:, 0\]"):
        read_samples(where, found.family)
    with pytest.raises(UsageError, match="holds A alone: give the file of b"):
        read_samples(tmp_path / a, found.family)
    np.save(where, found.b)
    (tmp_path / a).rename(tmp_path / "x.npy")
    with pytest.raises(UsageError, match=r"_A\.npy is neither beside it nor a folder above"):
        read_samples(where, found.family)


def test_arrays_in_any_memory_order_are_kept(tmp_path):
    found = make("lwe:n=6,q=17,sigma=1")
    turned = Samples(family=found.family, a=np.asfortranarray(found.a), codes=found.codes)
    turned.save(tmp_path / "x.safetensors")
    assert same(read_samples(tmp_path / "x.safetensors"), found)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    n=st.integers(1, 8),
    m=st.integers(1, 8),
    q=st.sampled_from([2, 17, 1601, 1024]),
    alpha=st.sampled_from(["0.005", "0.01"]),
    seed=st.integers(0, 99),
)
def test_challenges_read_back(n, m, q, alpha, seed, tmp_path):
    rng = np.random.default_rng(seed)
    found = Samples(
        family=parse(f"lwe:n={n},q={q},alpha={alpha}"),
        a=rng.integers(0, q, (m, n)),
        codes=rng.integers(0, q, m),
    )
    found.save(tmp_path / "x.txt", force=True)
    assert "[" in (tmp_path / "x.txt").read_text()
    assert same(read_samples(tmp_path / "x.txt"), found)


GOOD = "2\n3\n17\n0.005\n[1 2 3]\n[[1 2]\n[3 4]\n[5 16]]\n"


def challenge(tmp_path, text):
    path = tmp_path / "c.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


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
    family, a, b = read_challenge(challenge(tmp_path, text))
    assert family.spec == parse("lwe:n=2,q=17,alpha=0.005").spec
    assert a.tolist() == [[1, 2], [3, 4], [5, 16]]
    assert b.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "ends before"),
        ("2\n3\n17\n0.005", "ends before"),
        (GOOD.replace("[1 2 3]", "[__import__('os').system('true')]"), "__import__"),
        (GOOD.replace("[1 2 3]", "[1 2 3][0]"), "in brackets"),
        (GOOD.replace("[1 2 3]", "[1 2 3*9**9**9]"), r"\*9\*\*9"),
        (GOOD.replace("3\n17", "exec('1')\n17"), "integer"),
        (GOOD.replace("0.005", "1e999"), "number"),
        (GOOD.replace("0.005", "nan"), "number"),
        (GOOD.replace("0.005", "0"), "sigma"),
        (GOOD.replace("0.005", "-0.1"), "above 0"),
        (GOOD.replace("17", "4294967311"), "at most 65536"),
        (GOOD.replace("0.005", "0.5"), "below 1/8"),
        (GOOD.replace("16", "nan"), "'nan'"),
        (GOOD.replace("16", "-1"), "'-1'"),
        (GOOD.replace("16", "17"), r"0 \.\. q - 1 = 16"),
        (GOOD.replace("16", "1.5"), "numbers"),
        (GOOD.replace("16", "9" * 100_000), "100000 digits"),
        (GOOD.replace("17", "9" * 100_000), "integer"),
        (GOOD.replace("0.005", "0." + "9" * 100_000), "number"),
        (GOOD.replace("17", "15"), "prime"),
        (GOOD.replace("2\n3", "2\n4"), "b has 3 numbers"),
        (GOOD.replace("2\n3", "3\n3"), "row 1 of A has 2 numbers"),
        (GOOD.replace("2\n3", "0\n3"), "at least 1"),
        (GOOD.replace("2\n3", "65536\n99999999999"), "more numbers than"),
        (GOOD.replace("[3 4]\n", ""), "A has 2 rows"),
        (GOOD.replace("[3 4]", "[3 4 5]"), "row 2 of A has 3"),
        (GOOD.replace("[3 4]", "[[3 4]]"), "in brackets"),
        (GOOD.replace("16]]", "16]"), "in brackets"),
        (GOOD + "[1 2]", "in brackets"),
        (GOOD + "import os", "'import'"),
        (GOOD.replace("16", "1６"), "ASCII"),
        (b"\xff\xfe\x00", "ASCII"),
        ("[" * 100_000, "ends before"),
        ("2\n3\n17\n0.005\n" + "[" * 100_000, "in brackets"),
    ],
)
def test_hostile_challenges_are_refused_with_one_line(text, word, tmp_path):
    path = challenge(tmp_path, text)
    with pytest.raises(DamagedFile, match=word) as caught:
        read_challenge(path)
    message = str(caught.value)
    assert str(path) in message
    assert "\n" not in message
    assert len(message) < 400


def test_a_challenge_file_states_lwe_with_alpha_alone(tmp_path):
    for spec in [
        "lwe:n=3,q=17,sigma=1",
        "lwe:n=3,q=17,alpha=1/17",
        "lwe:n=3,q=17,alpha=0.05,secret=binary",
        "lwe:n=3,q=17,error=uniform,width=2",
        "lwr:n=3,q=16,p=4",
    ]:
        make(spec).save(tmp_path / "x.txt", force=True)
        assert "[" not in (tmp_path / "x.txt").read_text()
    with pytest.raises(DamagedFile, match="does not exist"):
        read_challenge(tmp_path / "none.txt")
    make("lwe:n=3,q=17,alpha=0.05,beta=50,bits=9").save(tmp_path / "y.txt")
    known = parse("lwe:n=3,q=17,sigma=1,secret=binary")
    assert read_samples(tmp_path / "y.txt", known).family == known
    with pytest.raises(UsageError, match="is of lwe"):
        read_samples(tmp_path / "y.txt", parse("lwe:n=4,q=17,sigma=1"))


def plain(path, **arrays):
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        save_file({k: np.ascontiguousarray(v) for k, v in arrays.items()}, path)
    return path


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.uint64, np.int64])
def test_plain_arrays_are_read_where_the_family_is_given(suffix, kind, tmp_path):
    found = make("lwe:n=6,q=17,sigma=1")
    path = plain(tmp_path / f"x{suffix}", A=found.a.astype(kind), b=found.b.astype(kind))
    assert same(read_samples(path, found.family), found)
    with pytest.raises(UsageError, match="spec"):
        read_samples(path)


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        ([[0.0, np.nan]], [1], "integers"),
        ([[0, 1]], [np.nan], "integers"),
        ([[0, 17]], [1], "a has 17"),
        ([[0, -1]], [1], "a has -1"),
        ([[0, 1]], [17], "b has 17"),
        (np.array([[0, 2**63]], np.uint64), [1], "a has 9223372036854775808"),
        ([[0, 1, 2]], [1], r"\(1, 3\)"),
        ([[0, 1]], [1, 2], r"\(2,\)"),
        ([0, 1], [1], r"\(2,\)"),
        (np.zeros((0, 2), np.int64), np.zeros(0, np.int64), "N > 0"),
        ([[True, False]], [1], "bool"),
    ],
)
def test_arrays_out_of_range_are_refused(a, b, word, tmp_path):
    path = plain(tmp_path / "x.npz", a=np.array(a), b=np.array(b))
    with pytest.raises(DamagedFile, match=word):
        read_samples(path, parse("lwe:n=2,q=17,sigma=1"))


def test_codes_are_those_of_levels(tmp_path):
    family = parse("lwr:n=2,q=16,p=4")
    path = plain(tmp_path / "x.npz", a=np.array([[15, 15]]), b=np.array([4]))
    with pytest.raises(DamagedFile, match=r"b has 4: lwr with q=16 has 0 \.\. 3$"):
        read_samples(path, family)


def test_damaged_and_foreign_files_are_refused(tmp_path):
    found = make("lwe:n=6,q=17,sigma=1")
    spec = found.family.spec
    path = tmp_path / "x.npz"

    def write(**meta):
        arrays = {"a": found.a, "b": found.b}
        np.savez(path, hardness=np.array(json.dumps(meta)), **arrays)

    good = {"format": "hardness-samples/1", "spec": spec, "sha256": "0" * 64}
    for meta, word in [
        (good, "hash"),
        ({**good, "format": "hardness-samples/2"}, "this version reads"),
        ({**good, "format": "hardness-layer/1"}, "is wanted"),
        ({**good, "spec": "nice:m=1,k=2,d=4"}, "it lacks `linear_forms`"),
        ({**good, "spec": "parity:d=8,m=2"}, r"\(N, 7\) and \(N,\) are wanted"),
        ({**good, "spec": "lwe:n=6,q=15,sigma=1"}, "prime"),
        ({**good, "spec": "/etc/x.py:F"}, "unknown family"),
        ({**good, "spec": 7}, "damaged"),
        ({"format": good["format"]}, "spec"),
    ]:
        write(**meta)
        with pytest.raises(DamagedFile, match=word) as caught:
            read_samples(path)
        assert "\n" not in str(caught.value)
    plain(path, a=np.array([[1]]), c=np.array([1]))
    with pytest.raises(DamagedFile, match="A and b"):
        read_samples(path, parse("lwe:n=1,q=17,sigma=1"))
    np.savez(path, a=np.array([{}], dtype=object), b=np.array([1]))  # pickled within
    with pytest.raises(DamagedFile, match="pickle"):
        read_samples(path, found.family)
    path.write_bytes(b"no zip")
    with pytest.raises(DamagedFile):
        read_samples(path)
    with pytest.raises(UsageError, match=r"\.safetensors"):
        read_samples(tmp_path / "x.dat")
    with pytest.raises(DamagedFile, match="does not exist"):
        read_samples(tmp_path / "none.npz")


def test_the_secret_stands_apart(tmp_path):
    instance = parse("lwe:n=6,q=17,alpha=0.05").instance(0)
    found, path = samples(instance.examples(0, 50)), tmp_path / "s.json"
    write_secret(path, found, instance.hidden.secret, seed=0)
    assert path.stat().st_mode & 0o77 == 0
    data = json.loads(path.read_text())
    assert (tuple(data["secret"]), data["seed"]) == (instance.hidden.secret, 0)
    found.save(tmp_path / "x.npz")
    assert data["samples_sha256"] == read_samples(tmp_path / "x.npz").digest
    with pytest.raises(UsageError):
        write_secret(tmp_path / "t.json", found, (0,) * 6, seed=0)


def test_a_text_of_no_samples_is_not_written(tmp_path):
    with pytest.raises(UsageError, match="no samples given"):
        Samples.none(parse("lwe:n=4,q=17,alpha=0.1")).save(tmp_path / "none.txt")
    assert not (tmp_path / "none.txt").exists()
