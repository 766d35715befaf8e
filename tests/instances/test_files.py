"""Folders of instances and files of arrays: what is written is read, the rest is refused."""

import io
import json
import os
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from instances import (
    AlreadyExists,
    DamagedFile,
    ToolkitError,
    disk,
    files,
    parse,
    read_folder,
    write_folder,
)
from instances.arrayfile import read_arrays, write_tensors


def make(path, count=1000, tensors="safetensors", spec="parity:d=70,m=3,noise=0.1", **more):
    return write_folder(Path(path), parse(spec).instance(0), count, tensors, **more)


def test_shards_read_as_one_stream(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_SHARD_BYTES", 300 * 33)
    folder, other = make(tmp_path / "x"), make(tmp_path / "y", tensors="npz")
    assert [s.sha256 for s in folder.shards] == [s.sha256 for s in other.shards]
    instance = parse("parity:d=70,m=3,noise=0.1").instance(0)
    assert len(folder.shards) == 4
    assert folder.instance == instance
    for start, count in ((0, 1000), (0, 10), (290, 20), (299, 302), (995, 99), (2000, 5)):
        found, made = folder.examples(start, count), instance.examples(start, count)
        wanted = made.cut(0, max(0, min(count, 1000 - start)))
        assert (found.words == wanted.words).all()
        assert (found.codes == wanted.codes).all()


def test_a_folder_is_known_without_reading_it_back(tmp_path, monkeypatch):
    with monkeypatch.context() as unread:
        unread.setattr(files, "read_json", None)
        made = make(tmp_path / "x")
    back = read_folder(tmp_path / "x")
    assert (made.path, made.shards, made.hidden) == (back.path, back.shards, back.hidden)
    assert (made.family, made.public.commitments) == (back.family, back.public.commitments)
    for name, values in made.public.reference.tensors.items():
        assert (values == back.public.reference.tensors[name]).all()


def test_the_public_part_says_nothing_of_the_secret(tmp_path):
    """Two instances of one family differ in public only by commitment and examples."""
    folder = make(tmp_path / "x")
    public = (tmp_path / "x" / "instance.json").read_text()
    hidden = json.loads((tmp_path / "x" / "secret.json").read_text())
    assert hidden["nonce"] not in public
    assert "seed" not in json.loads(public)
    assert json.dumps(hidden["secret"]) not in public
    os.remove(tmp_path / "x" / "secret.json")
    again = read_folder(tmp_path / "x")
    assert again.hidden is None
    assert (again.examples(0, 9).words == folder.examples(0, 9).words).all()


def test_a_folder_in_which_anything_is_foreign_is_kept_though_forced(tmp_path):
    make(tmp_path / "x", count=5)
    assert make(tmp_path / "x", count=7, force=True).count == 7
    (tmp_path / "x" / "notes.txt").write_text("x")
    with pytest.raises(AlreadyExists, match=r"notes\.txt"):
        make(tmp_path / "x", count=9, force=True)
    assert read_folder(tmp_path / "x").count == 7
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (OSError(28, "No space left on device"), ToolkitError),
        (KeyboardInterrupt(), KeyboardInterrupt),
    ],
)
def test_a_folder_that_is_not_replaced_is_put_back(tmp_path, monkeypatch, error, seen):
    make(tmp_path / "x", count=5)
    right = os.replace

    def fail(source, target):
        if str(source).endswith("new"):
            raise error
        right(source, target)

    monkeypatch.setattr(disk.os, "replace", fail)
    with pytest.raises(seen):
        make(tmp_path / "x", count=9, force=True)
    assert read_folder(tmp_path / "x").count == 5
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


def test_a_folder_that_appears_meanwhile_is_kept(tmp_path):
    def appear(done):
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "thesis.tex").write_text("precious")

    with pytest.raises(AlreadyExists, match="kept"):
        make(tmp_path / "x", progress=appear)
    assert [p.name for p in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x" / "thesis.tex").exists()


def test_links_are_kept(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    for name in ("link", "dangling"):
        with pytest.raises(AlreadyExists, match="link"):
            make(tmp_path / name, force=True)
        with pytest.raises(AlreadyExists, match="link"):
            disk.write_text(tmp_path / name, "x", force=True)


def test_what_is_secret_is_for_its_owner_alone(tmp_path):
    make(tmp_path / "x", count=5, spec="parity:d=9,m=3", with_layer=True)
    modes = {p.name: p.stat().st_mode & 0o777 for p in (tmp_path / "x").iterdir()}
    assert modes["secret.json"] == modes["secret-layer.safetensors"] == 0o600
    mask = os.umask(0o077)
    os.umask(mask)
    assert modes["instance.json"] == modes["examples-00000.safetensors"] == 0o666 & ~mask


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("spec"),
        lambda d: d.update(spec="parity:d=9,m=3,noise=0.1,rho=3"),
        lambda d: d.update(revision=99),
        lambda d: d.update(format="hardness-instance/9"),
        lambda d: d["commitments"].update(secret="00"),
        lambda d: d["reference"].update(codes=[1] * 8),
        lambda d: d["examples"].update(count=3),
        lambda d: d["examples"]["shards"][0].update(file="../secret.json"),
        lambda d: d.update(labels="another rule"),
        lambda d: d.clear(),
    ],
)
def test_a_changed_public_part_is_refused(tmp_path, change):
    make(tmp_path / "x", count=5)
    path = tmp_path / "x" / "instance.json"
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(DamagedFile) as found:
        read_folder(tmp_path / "x")
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("tokens", ["boolean", "gaussian"])
@pytest.mark.parametrize("wrong", [1e9, "x"])
def test_real_labels_that_are_not_those_of_the_secret_are_refused(tmp_path, tokens, wrong):
    make(tmp_path / "x", count=5, spec=f"nice:m=1,k=2,d=5,tokens={tokens}")
    path = tmp_path / "x" / "instance.json"
    data = json.loads(path.read_text())
    data["reference"]["y"][0][0][0] = wrong
    path.write_text(json.dumps(data))
    with pytest.raises(DamagedFile, match=r"reference|instance\.json"):
        read_folder(tmp_path / "x")


def test_a_swapped_secret_is_refused(tmp_path):
    make(tmp_path / "x", count=5)
    write_folder(tmp_path / "y", parse("parity:d=70,m=3,noise=0.1").instance(1))
    os.replace(tmp_path / "y" / "secret.json", tmp_path / "x" / "secret.json")
    with pytest.raises(DamagedFile, match="committed"):
        read_folder(tmp_path / "x")


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_what_the_system_refuses_to_write_is_one_line(tmp_path, ending):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    words = np.zeros(100_000, np.uint64)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # as on a disk that is full
    try:
        with pytest.raises(ToolkitError, match=f"t.{ending} cannot be written: ") as refused:
            write_tensors(tmp_path / f"t.{ending}", {"words": words}, {"format": "x"})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


# ---- files of arrays that are not what they say


ENDINGS = ("npz", "safetensors")
TYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("kind", TYPES)
def test_what_is_written_is_read(tmp_path, ending, kind):
    arrays = {
        "b": np.arange(6).astype(kind).reshape(2, 3),
        "a": np.zeros((0, 4), kind),
        "c": np.array(1, kind),
    }
    path = tmp_path / f"x.{ending}"
    write_tensors(path, arrays, {"format": "x", "é": 'q"'})
    found, meta = read_arrays(path)
    assert meta == {"format": "x", "é": 'q"'}
    assert found.keys() == arrays.keys()
    for name, one in arrays.items():
        assert found[name].dtype == one.dtype
        np.testing.assert_array_equal(found[name], one)
    if ending == "safetensors":  # the library reads the same
        for name, one in load_file(path).items():
            np.testing.assert_array_equal(found[name], one)


def safetensors(path, header, body=b"", length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + body)
    return path


F8 = {"dtype": "F64", "shape": [2], "data_offsets": [0, 16]}


@pytest.mark.parametrize(
    ("header", "body"),
    [
        ({"a": F8, "b": F8}, 16),
        ({"a": {**F8, "shape": [2**62, 8], "data_offsets": [0, 0]}}, 0),
        ({"a": {**F8, "dtype": "BF16", "shape": [8]}}, 16),
        ({"a": {**F8, "dtype": "C64"}}, 16),
        ({"a": F8}, 15),
        ({"__metadata__": {"hardness": "[" * 100_000}}, 0),
        ({"__metadata__": {"hardness": "[]"}}, 0),
        (b"[]", 0),
    ],
)
def test_headers_that_are_wrong_are_refused(tmp_path, header, body):
    path = safetensors(tmp_path / "x.safetensors", header, b"\0" * body)
    with pytest.raises(DamagedFile, match=r"x\.safetensors is damaged or not ours: ") as caught:
        read_arrays(path)
    assert str(caught.value).isprintable()
    with pytest.raises(DamagedFile, match="header too large"):
        read_arrays(safetensors(path, {"a": F8}, b"\0" * 16, length=1 << 60))


def npy(shape, kind="<f8", body=b""):
    out = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + body


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([("a.npy", npy((1 << 62, 1 << 62)))], "damaged"),
        ([("a.npy", npy((2,), "|O", b"\0" * 16))], "it holds objects"),
        ([("a.npy", npy((2,), "<M8[s]", b"\0" * 16))], "numbers are wanted"),
        ([("a.npy", npy((1,), body=b"\0" * 8)), ("a", npy((1,), body=b"\1" * 8))], "one name"),
        ([("hardness.npy", npy((), "<i8", b"\0" * 8))], "a table is needed"),
        ([("a.npy", b"")], "damaged"),
        ([("a.npy", 1 << 24)], "unpacks to"),  # so many numbers, made when they are needed
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_are_wrong_are_refused_before_they_are_unpacked(tmp_path, members, said):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            many = content if isinstance(content, int) else 0
            archive.writestr(name, npy((many,), body=bytes(8 * many)) if many else content)
    tracemalloc.start()
    with pytest.raises(DamagedFile, match=said) as caught:
        read_arrays(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()
    assert "\n" not in str(caught.value)
