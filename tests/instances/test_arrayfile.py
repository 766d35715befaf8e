"""Files of arrays that are not what they say: refused before any number is read."""

import contextlib
import io
import json
import os
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from instances.arrayfile import array_file, read_arrays
from instances.disk import write_tensors
from instances.errors import DamagedFile

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
    ("header", "body", "said"),
    [
        (b'{"a": %s, "a": %s}' % ((json.dumps(F8).encode(),) * 2), 16, "twice"),
        (b'{"a": {"dtype": "F64", "dtype": "F32", "shape": [], "data_offsets": []}}', 0, "twice"),
        ({"a": F8, "b": F8}, 16, "does not lie where"),
        ({"a": F8, "b": {**F8, "data_offsets": [8, 24]}}, 24, "does not lie where"),
        ({"a": {**F8, "data_offsets": [8, 24]}}, 24, "does not lie where"),
        ({"a": {**F8, "shape": [2**62, 8], "data_offsets": [0, 0]}}, 0, "does not lie where"),
        ({"a": {**F8, "shape": [-1, -2]}}, 16, "no shape"),
        ({"a": {**F8, "shape": [True, 2]}}, 16, "no shape"),
        ({"a": {**F8, "dtype": "C64"}}, 16, "not described"),
        ({"a": {**F8, "more": 1}}, 16, "not described"),
        ({"a": F8}, 15, "bytes: its header describes"),
        ({"a": F8}, 17, "bytes: its header describes"),
        ({f"a{i}": {**F8, "shape": [0], "data_offsets": [0, 0]} for i in range(99)}, 0, "over 64"),
        ({"__metadata__": {"hardness": '{"a": 1, "a": 2}'}}, 0, "twice"),
        ({"__metadata__": {"hardness": "[" * 100}}, 0, "nested"),
        ({"__metadata__": {"hardness": "[]"}}, 0, "no object"),
        ({"__metadata__": 5}, 0, "no object"),
        (b"[" * 1000, 0, "nested"),
        (b"[]", 0, "no object"),
        (b'{"a": NaN}', 0, "'NaN' is no number"),
        (b"", 0, "damaged"),
    ],
)
def test_headers_that_are_wrong_are_refused(tmp_path, header, body, said):
    path = safetensors(tmp_path / "x.safetensors", header, b"\0" * body)
    with pytest.raises(DamagedFile, match=said) as caught:
        read_arrays(path)
    assert str(caught.value).isprintable()
    with pytest.raises(DamagedFile, match="header claims"):
        read_arrays(safetensors(path, {"a": F8}, b"\0" * 16, length=1 << 60))


def npy(shape, kind="<f8", body=b""):
    out = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(out, header)
    return out.getvalue() + body


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([("a.npy", npy((1 << 40,)))], "too few for what it says"),
        ([("a.npy", npy((1 << 62, 1 << 62)))], "too few for what it says"),
        ([("a.npy", npy((2,), "|O", b"\0" * 16))], "objects"),
        ([("a.npy", npy((2,), "<M8[s]", b"\0" * 16))], "numbers are wanted"),
        ([("a.npy", npy((2,), "<c16", b"\0" * 32))], "numbers are wanted"),
        ([("a.npy", npy((1,), [("x", "<f8")], b"\0" * 8))], "numbers are wanted"),
        ([("a.npy", npy((1,), body=b"\0" * 8)), ("a.npy", npy((1,), body=b"\1" * 8))], "one name"),
        ([("a.npy", npy((1,), body=b"\0" * 8)), ("a", npy((1,), body=b"\1" * 8))], "one name"),
        ([(f"a{i}.npy", npy((0,))) for i in range(65)], "over 64"),
        ([("hardness.npy", npy((), "<i8", b"\0" * 8))], "metadata is no text"),
        ([("a.npy", b"\x93NUMPY\x03\x00" + b"\0" * 100)], "version"),
        ([("a.npy", b"")], "damaged"),
        ([("a.npy", npy((1 << 24,), body=bytes(1 << 27)))], "unpacks to"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_that_are_wrong_are_refused_before_they_are_unpacked(tmp_path, members, said):
    path = tmp_path / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    del members
    tracemalloc.start()
    with pytest.raises(DamagedFile, match=said) as caught:
        read_arrays(path)
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", [*ENDINGS, "npy"])
def test_pipes_folders_and_long_files_are_refused(tmp_path, ending):
    os.mkfifo(tmp_path / f"fifo.{ending}")
    with pytest.raises(DamagedFile, match="no regular file"):
        read_arrays(tmp_path / f"fifo.{ending}")
    (tmp_path / f"long.{ending}").write_bytes(bytes(100))
    with pytest.raises(DamagedFile, match="has 100 bytes: what belongs here has at most 99"):
        read_arrays(tmp_path / f"long.{ending}", 99)


@settings(max_examples=150, deadline=None)
@given(st.data())
@pytest.mark.parametrize("ending", ENDINGS)
def test_any_change_of_a_byte_is_refused_or_read_within_the_file(tmp_path_factory, ending, data):
    """Never anything but a DamagedFile, or arrays no larger than the file."""
    path = tmp_path_factory.mktemp("x") / f"x.{ending}"
    write_tensors(path, {"a": np.arange(4.0), "b": np.arange(3, dtype="i2")}, {"format": "x"})
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(len(content) - 3, len(content)))]))
    with contextlib.suppress(DamagedFile), array_file(path) as found:
        assert sum(one.read().nbytes for one in found.arrays.values()) <= len(content)
