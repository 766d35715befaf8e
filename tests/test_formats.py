"""Files of every kind: what is written reads back; cut, changed, foreign, a pipe: one line."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hardness as h
from hardness.runs import Comparison, Run
from hardness.runs.own import read_data
from hardness.runs.sweep import read_sweep
from instances import (
    AttentionLayer,
    ToolkitError,
    load_layer,
    parse,
    read_folder,
)
from instances.arrayfile import read_arrays, write_tensors
from instances.files import write_folder
from instances.samples import read_samples, samples

SPEC = "parity:d=8,m=2"
LWE = parse("lwe:n=3,q=17,alpha=0.05")
RNG = np.random.default_rng(0)
ARRAYS = {"a": RNG.normal(size=(2, 4, 4)), "b": np.arange(3, dtype="i2")}
LAYER = AttentionLayer(theta=ARRAYS["a"], w=2 * ARRAYS["a"])
X, Y = RNG.normal(size=(2, 60, 3, 4))
SWEEP = 'format = "hardness-sweep/2"\nname = "few"\n[[grid]]\nspecs = "parity:d=8,m=2"\nlearners = '
SWEEP += '["queries"]\nseeds = 1\n'


@dataclass(kw_only=True)
class Kind:
    """A kind of file, how one is made and read; sealed: no change of a bit changes what is read."""

    write: Callable[[Path], Any]  # returns what was written
    read: Callable[[Path], Any]
    sealed: bool = False


def _saved(kind: type, make: Callable[[], Any]) -> Kind:
    def write(path: Path) -> Any:
        made = make()
        made.save(path)
        return made

    return Kind(write=write, read=kind.load)


def _numbers(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    return {name: (one.dtype.str, one.tolist()) for name, one in arrays.items()}


def _read_arrays(path: Path) -> Any:
    arrays = read_arrays(path)[0]
    assert sum(one.nbytes for one in arrays.values()) <= path.stat().st_size
    return _numbers(arrays)


def _write_arrays(path: Path) -> Any:
    write_tensors(path, ARRAYS, {"format": "x"})
    return _numbers(ARRAYS)


def _layer(found: AttentionLayer) -> Any:
    return found.kind, found.theta.tolist(), found.w.tolist()


def _write_layer(path: Path) -> Any:
    LAYER.save(path)
    return _layer(LAYER)


def _samples(found: Any) -> Any:
    return found.family.spec, found.a.tolist(), found.codes.tolist()


def _write_samples(path: Path) -> Any:
    found = samples(LWE.instance(0).examples(0, 30))
    found.save(path)
    return _samples(found)


def _examples(found: Any) -> Any:
    return {name: one.tolist() for name, one in found.tensors.items()}


def _write_folder(path: Path) -> Any:
    instance = parse("parity:d=70,m=3,noise=0.1").instance(0)
    write_folder(
        path.parent, instance, 50, path.suffix[1:] if path.stem[:8] == "examples" else "npz"
    )
    return _examples(instance.examples(0, 50))


def _savez(read: Callable[[Path], Any], **arrays: np.ndarray) -> Kind:
    """A file that users make: it reads the same twice."""

    def write(path: Path) -> Any:
        np.savez(path, **arrays)
        return read(path)

    return Kind(write=write, read=read)


OF_ARRAYS = Kind(write=_write_arrays, read=_read_arrays)
OF_LAYERS = Kind(write=_write_layer, read=lambda path: _layer(load_layer(path)))
OF_SAMPLES = Kind(write=_write_samples, read=lambda path: _samples(read_samples(path)))
OF_FOLDERS = Kind(
    write=_write_folder,
    read=lambda path: _examples(read_folder(path.parent).examples(0, 50)),
    sealed=True,
)
KINDS = {
    "certificate.json": _saved(h.Certificate, lambda: h.certify(SPEC)),
    "results.json": _saved(
        Comparison,
        lambda: h.compare("parity:m=2", "d=6,8", ["elimination", "trivial"], seeds=2, jobs=1),
    ),
    "run.json": _saved(Run, lambda: h.learn("elimination", SPEC)),
    "arrays.npz": OF_ARRAYS,
    "arrays.safetensors": OF_ARRAYS,
    "layer.npz": OF_LAYERS,
    "layer.safetensors": OF_LAYERS,
    "samples.npz": Kind(write=OF_SAMPLES.write, read=OF_SAMPLES.read, sealed=True),
    "samples.safetensors": Kind(write=OF_SAMPLES.write, read=OF_SAMPLES.read, sealed=True),
    "challenge.txt": OF_SAMPLES,
    "rows.csv": Kind(write=_write_samples, read=lambda path: _samples(read_samples(path, LWE))),
    "x/instance.json": OF_FOLDERS,
    "x/secret.json": OF_FOLDERS,
    "x/examples-00000.npz": OF_FOLDERS,
    "x/examples-00000.safetensors": OF_FOLDERS,
    "heads.npz": _savez(
        lambda path: _numbers({"w": load_layer(path).w}),
        **dict.fromkeys("qkv", LAYER.theta),
        o=LAYER.w,
    ),
    "data.npz": _savez(lambda path: _examples(read_data(path).loaded), x=X, y=Y),
    "sweep.toml": Kind(
        write=lambda path: path.write_text(SWEEP) and read_sweep(path), read=read_sweep
    ),
}
FOREIGN = [
    *(b"", b"\0", b"junk", b"null", b"[]", b"{}", b'{"format": 7}', b"\xff\xfe", b"[" * 100_000),
    *(b'{"format": "hardness-results/99"}', b'{"a": 1, "a": 2}', b"PK\3\4" + bytes(90), bytes(90)),
    (100).to_bytes(8, "little") + b"{}",
]


def damaged(content: bytes, rng: np.random.Generator) -> list[bytes]:
    """Cut a file, change some of its bytes, and put others in its place."""
    found = [content[:at] for at in (1, 8, 10, len(content) // 2, len(content) - 3)]
    for _ in range(40):
        changed = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            changed[rng.integers(len(changed))] ^= 1 << int(rng.integers(8))
        found.append(bytes(changed))
    return [*found, content + b"\0", *FOREIGN]


@pytest.mark.parametrize("name", KINDS)
def test_what_is_written_reads_back_and_what_is_damaged_is_one_line(name, tmp_path):
    kind, path = KINDS[name], tmp_path / name
    made = kind.write(path)
    assert kind.read(path) == made
    whole, told = path.read_bytes(), 0
    for content in damaged(whole, np.random.default_rng(1)):
        path.write_bytes(content)
        try:
            found = kind.read(path)
        except ToolkitError as refused:
            one_short_line(refused)
            told += 1
        else:
            assert content not in FOREIGN, content
            assert found == made or not kind.sealed
    assert told > len(FOREIGN)
    path.unlink()
    if path.name == "secret.json":  # what is public is read without it
        assert kind.read(path) == made
    else:
        refuses(kind, path)
    path.mkdir()
    refuses(kind, path)
    path.rmdir()
    os.mkfifo(path)
    refuses(kind, path)


def refuses(kind: Kind, path: Path) -> None:
    with pytest.raises(ToolkitError) as error:
        kind.read(path)
    one_short_line(error.value)


def one_short_line(refused: ToolkitError) -> None:
    assert str(refused).isprintable()
    assert len(str(refused)) < 500
