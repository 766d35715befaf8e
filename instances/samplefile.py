"""Samples of LWE-style instances on disk: arrays a and b, or challenge files; the secret apart."""

import hashlib
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arrayfile import read_arrays
from instances.capabilities import LINEAR_FORMS
from instances.darmstadt import read_challenge, write_challenge
from instances.disk import (
    damage,
    refuse_existing,
    require_format,
    write_json,
    write_tensors,
)
from instances.errors import DamagedFile, UsageError
from instances.family import Secret
from instances.modular import Modular
from instances.samples import Samples
from instances.spec import parse_stored, require_stored
from instances.strict import one_line, read_text

SAMPLES, SOLUTION = "hardness-samples/1", "hardness-samples-secret/1"
WRITTEN = (".txt", ".npz", ".safetensors")
SUFFIXES = (*WRITTEN, ".csv", ".npy")
_MOST_BYTES = 1 << 26  # of a table in text
_EXACT = 2**53  # below it float64 holds every integer


def write_samples(path: Path, samples: Samples, force: bool = False) -> None:
    """Write samples as .txt, a challenge file, or as arrays a (N, n) and b (N,), their codes.

    Raises UsageError, AlreadyExists.
    """
    _require_suffix(path, WRITTEN)
    if path.suffix == ".txt":
        write_challenge(path, samples, force)
        return
    require_stored(samples.family, "samples of it cannot be stored")
    refuse_existing(path, force)
    meta = {"format": SAMPLES, "spec": samples.family.spec, "sha256": content_hash(samples)}
    write_tensors(path, {"a": samples.a, "b": samples.codes}, meta)


def read_samples(path: Path, family: Modular | None = None) -> Samples:
    """Read samples and check them; raises UsageError, DamagedFile.

    family: of what does not state its own: arrays a or A and b without our metadata, and tables of
    integers as text or .npy, n columns of A and then b. Of a file that states its own, n and q must
    be the same, and the given one, which may say more, is taken.
    """
    _require_suffix(path, SUFFIXES)
    if path.suffix in (".txt", ".csv"):
        text = read_text(path, _MOST_BYTES)
        if path.suffix == ".txt" and (family is None or "[" in text):
            return _taken(path, read_challenge(path), family)
        arrays, meta = _columns(path, _table(path, text)), None
    else:
        arrays, meta = read_arrays(path)
    if meta is None:
        if family is None:
            raise UsageError(
                f"{path} does not say of what family it is: `hardness attack` and `hardness reduce "
                "lwr-to-attention` take it with --spec"
            )
        if path.suffix == ".npy":
            arrays = _columns(path, arrays[""])
        return _checked(path, arrays, family)
    require_format(meta, SAMPLES, path)
    with damage(path):
        found = _checked(path, arrays, LINEAR_FORMS.need(parse_stored(meta["spec"])))
        if content_hash(found) != meta["sha256"]:
            raise DamagedFile(f"{path} has changed: its content does not match its hash")
    return _taken(path, found, family)


def content_hash(samples: Samples) -> str:
    """Hash samples by content: SHA-256 of spec, a and b, as 64-bit little-endian integers."""
    digest = hashlib.sha256(samples.family.spec.encode() + b"\0")
    for value in (samples.a, samples.codes):
        digest.update(np.ascontiguousarray(value, "<i8").tobytes())
    return digest.hexdigest()


def secret_beside(path: Path) -> Path:
    """Name the file of the secret of the samples in a file.

    >>> secret_beside(Path("samples.npz")).name
    'samples.secret.json'
    """
    return path.with_suffix(".secret.json")


def write_secret(
    path: Path, samples: Samples, secret: Secret, seed: int, force: bool = False
) -> None:
    """Write the secret of samples, and the seed of the instance that they are from, as JSON.

    The file is readable by its owner alone. Raises AlreadyExists.
    """
    samples.family.require_member(secret)
    data = {
        "format": SOLUTION,
        "spec": samples.family.spec,
        "samples_sha256": content_hash(samples),
        "secret": list(secret),
        "seed": seed,
    }
    write_json(path, data, force=force, mode=0o600)


def _require_suffix(path: Path, allowed: tuple[str, ...]) -> None:
    if path.suffix not in allowed:
        raise UsageError(f"{path} given: the name of a file of samples ends in {' '.join(allowed)}")


def _table(path: Path, text: str) -> NDArray[Any]:
    """Read numbers with spaces or commas between them, a line a row; whole ones as integers."""
    if not text.strip():
        raise DamagedFile(f"{path} is empty: lines of integers are wanted, a row of A and then b")
    try:
        found = np.loadtxt(StringIO(text.replace(",", " ")), ndmin=2)
    except ValueError as error:
        raise DamagedFile(f"{path} is no table of numbers: {one_line(error, 200)}") from error
    whole = (abs(found) < _EXACT).all() and (found == np.rint(found)).all()
    return found.astype(np.int64) if whole else found


def _columns(path: Path, found: NDArray[Any]) -> dict[str, NDArray[Any]]:
    if found.ndim != 2 or found.shape[1] < 2:
        raise DamagedFile(
            f"{path} holds an array {found.shape}: n columns of A and one of b are wanted"
        )
    return {"a": found[:, :-1], "b": found[:, -1]}


def _taken(path: Path, found: Samples, family: Modular | None) -> Samples:
    if family is None:
        return found
    mine = (found.family.name, found.family.n, found.family.q)
    if (family.name, family.n, family.q) != mine:
        raise UsageError(f"{family.spec} given: {path} is of {found.family.spec}")
    return _checked(path, {"a": found.a, "b": found.codes}, family)


def _checked(path: Path, arrays: dict[str, NDArray[Any]], family: Modular) -> Samples:
    a, b = arrays.get("a", arrays.get("A")), arrays.get("b")
    if a is None or b is None:
        raise DamagedFile(f"{path} holds {', '.join(arrays)[:80] or 'nothing'}: A and b are wanted")
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise DamagedFile(
            f"{path} holds a of {a.dtype} and b of {b.dtype}: integers are wanted, "
            "as of A.astype(int)"
        )
    if a.ndim != 2 or a.shape[1] != family.n or b.shape != a.shape[:1] or not len(a):
        raise DamagedFile(
            f"{path} holds a {a.shape} and b {b.shape}: (N, {family.n}) and (N,) are wanted, N > 0"
        )
    for name, value, bound in (("a", a, family.q), ("b", b, family.outcomes)):
        if value.min() < 0 or value.max() >= bound:
            wrong = value.min() if value.min() < 0 else value.max()
            advice = f", take {name} % {bound}" if bound == family.q else ""
            raise DamagedFile(
                f"{path}: {name} has {wrong}: 0 .. {bound - 1} is what {family.name} has there"
                f"{advice}"
            )
    return Samples(family=family, a=a.astype(np.int64), codes=b.astype(np.int64))
