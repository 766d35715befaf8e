"""Files of samples: every layout reads back, and what is damaged or foreign is refused."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file

from instances import AlreadyExists, DamagedFile, UsageError, parse
from instances.samples import Samples, read_samples, samples

SPEC = "lwe:n=6,q=17,sigma=1"
SPECS = [
    SPEC,
    "lwe:n=6,q=17,alpha=0.05",
    "lwe:n=3,q=1601,alpha=0.005",
    "lwe:n=3,q=16,sigma=1,secret=binary",
    "lwr:n=4,q=16,p=4,secret=ternary,h=2",
    "lpn:n=70,noise=0.1",
    "window:n=3,q=8,parts=4",
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


@pytest.mark.parametrize("suffix", [".npz", ".safetensors"])
@pytest.mark.parametrize("spec", SPECS)
def test_what_is_written_reads_back(spec, suffix, tmp_path):
    found, path = make(spec), tmp_path / f"x{suffix}"
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


def lines(path, found, mark):
    rows = zip(found.a.tolist(), found.codes.tolist(), strict=True)
    path.write_text("".join(f"{' '.join(map(str, a))}{mark}{b}\n" for a, b in rows))


FOREIGN = {  # layouts that do not say of what family they are
    "digits.txt": lambda path, found: np.savetxt(path, table(found), fmt="%d"),
    "commas.csv": lambda path, found: np.savetxt(path, table(found), fmt="%d", delimiter=","),
    "default.csv": lambda path, found: np.savetxt(path, table(found)),  # 1.600000000000000000e+01
    "verde.prefix": lambda path, found: lines(path, found, " ; "),  # as its export.py writes it
    "salsa.txt": lambda path, found: lines(path, found, "\t"),  # as its trainer.py writes it
    "wide.npy": lambda path, found: np.save(path, table(found)),
    "narrow.npy": lambda path, found: np.save(path, table(found).astype(np.int16)),
    "plain.npz": lambda path, found: plain(path, A=found.a, b=found.codes),
    "unsigned.npz": lambda path, found: plain(
        path, a=found.a.astype(np.uint64), b=found.codes.astype(np.uint8)
    ),
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
    if name == "verde.prefix":
        for ending in ("prefix", "txt"):
            found.save(tmp_path / f"ours.{ending}")
            assert (tmp_path / f"ours.{ending}").read_text() == path.read_text()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("\n# a comment\n", "is empty"),
        ("0 0 0 0 0 0 0\na,b,c,d,e,f,b", "line 2 has 'a': integers are wanted"),
        ("0 0 0 0 0 0 0\n\n1 2 3", "line 3 has 3 numbers: 7 are wanted, n=6 of a and then b"),
        ("0 0 0 0 0 0 0\n1 2 3 4 5 6 0.5", r"line 2 has '0.5': integers .* A.astype\(int\)"),
        ("1 2 3 4 5 6 nan", "line 1 has 'nan': integers are wanted"),
        ("1 2 3 4 5 6 1e300", "line 1 has '1e300': integers are wanted"),
        ("# h\n1 2 3 4 5 6 -8", r"line 2: b has -8: .* 0 \.\. 16; take b % 17"),
        ("1 2 3 4 5 17 8", "line 1: a has 17: .* give its q, or take a % 17"),
        ("1 2 3 4 5 6 ; 7\n1 2 3 4 5 6 ; 7 8", "line 2 has 2 numbers after ';'.* one secret"),
        ("1 2 3 4 5 6 7 ;", "line 1 has 0 numbers after ';'"),
        ("1 2 3 4 5 6 ; 7 ; 8", "line 1 has 3 numbers after ';'"),
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
        make().save(tmp_path / "x.prefix")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("orig_A.npy", "orig_b.npy"),  # of VERDE
        ("train_A.npy", "binary_secrets_h5_6/train_b_5_0.npy"),  # of LWE-benchmarking
    ],
)
def test_arrays_in_two_files_are_read_by_that_of_b(a, b, tmp_path):
    found, where = make(), tmp_path / b
    where.parent.mkdir(exist_ok=True)
    np.save(tmp_path / a, found.a)
    (where.parent / "params.pkl").write_bytes(b"cos\nsystem\n(S'false'\ntR.")
    np.save(where.parent / "secret.npy", np.array([{}], dtype=object))
    for column in (found.b, found.b[:, None]):
        np.save(where, column)
        assert reads(where, found, SPEC)
    np.save(where, np.stack([found.b, found.b], axis=1))
    refuses(where, r"b \(\d+, 2\): of one secret .* b\[:, 0\]", SPEC)
    refuses(tmp_path / a, "holds A alone: give the file of b", SPEC)
    np.save(where, found.b)
    (tmp_path / a).rename(tmp_path / "x.npy")
    refuses(where, r"_A\.npy is neither beside it nor a folder above", SPEC)


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
    assert reads(tmp_path / "x.txt", found)


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
        ("[" * 100_000, "ends before"),
        (GOOD.replace("[1 2 3]", "[__import__('os').system('true')]"), "__import__"),
        (GOOD.replace("[1 2 3]", "[1 2 3*9**9**9]"), r"\*9\*\*9"),
        (GOOD.replace("3\n17", "exec('1')\n17"), "integer"),
        (GOOD.replace("0.005", "1e999"), "number"),
        (GOOD.replace("0.005", "0"), "sigma"),
        (GOOD.replace("0.005", "-0.1"), "above 0"),
        (GOOD.replace("0.005", "0.5"), "below 1/8"),
        (GOOD.replace("0.005", "0." + "9" * 100_000), "number"),
        (GOOD.replace("17", "4294967311"), "at most 65536"),
        (GOOD.replace("17", "15"), "prime"),
        (GOOD.replace("16", "17"), r"0 \.\. q - 1 = 16"),
        (GOOD.replace("16", "1.5"), "numbers"),
        (GOOD.replace("16", "9" * 100_000), "100000 digits"),
        (GOOD.replace("16", "1６"), "ASCII"),
        (GOOD.replace("2\n3", "2\n4"), "b has 3 numbers"),
        (GOOD.replace("2\n3", "3\n3"), "row 1 of A has 2 numbers"),
        (GOOD.replace("2\n3", "0\n3"), "at least 1"),
        (GOOD.replace("2\n3", "65536\n99999999999"), "more numbers than"),
        (GOOD.replace("[3 4]\n", ""), "A has 2 rows"),
        (GOOD.replace("16]]", "16]"), "in brackets"),
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
        make(spec).save(tmp_path / "x.txt", force=True)
        assert "[" not in (tmp_path / "x.txt").read_text()
    make("lwe:n=3,q=17,alpha=0.05,beta=50,bits=9").save(tmp_path / "y.txt")
    known = parse("lwe:n=3,q=17,sigma=1,secret=binary")
    assert read_samples(tmp_path / "y.txt", known).family == known
    refuses(tmp_path / "y.txt", "is of lwe", "lwe:n=4,q=17,sigma=1")


@pytest.mark.parametrize(
    ("arrays", "word"),
    [
        ({"a": [[0.0, np.nan]], "b": [1]}, "integers"),
        ({"a": [[True, False]], "b": [1]}, "bool"),
        ({"a": [[0, 16]], "b": [1]}, "a has 16"),
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
        ({"format": "hardness-layer/1"}, "is wanted"),
        ({"spec": "nice:m=1,k=2,d=4"}, "it lacks `linear_forms`"),
        ({"spec": "parity:d=8,m=2"}, r"\(N, 7\) and \(N,\) are wanted"),
        ({"spec": "lwe:n=6,q=15,sigma=1"}, "prime"),
        ({"spec": "/etc/x.py:F"}, "unknown family"),
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
    refuses(tmp_path / "x.specs", "certify each spec")
    for name in ("none.npz", "none.txt"):
        refuses(tmp_path / name, "does not exist")
