"""Samples of LWE-style instances read from files, and the secret apart.

The layouts of others: challenges of TU Darmstadt; tables of integers; lines `a_1 .. a_n ; b` of
VERDE's train.prefix, and with a tab before b of SALSA; the arrays orig_A.npy and orig_b.npy of
VERDE, train_A.npy and train_b_5_0.npy of LWE-benchmarking. Pickles beside them are never opened,
and no secret. [WCCL22, LWACL23, WSMCL24]
"""

import re
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances.arrayfile import read_arrays
from instances.capabilities import LINEAR_FORMS
from instances.darmstadt import read_challenge
from instances.disk import damage, require_format, write_json
from instances.errors import DamagedFile, UsageError
from instances.family import Secret
from instances.modular import Modular
from instances.samples import ENDINGS, FORMAT, MOST_TEXT, Samples
from instances.spec import parse_stored
from instances.strict import one_line, read_text, shown

SOLUTION = "hardness-samples-secret/1"
SUFFIXES = (*ENDINGS, ".csv", ".npy")
_TEXT = (".txt", ".csv", ".prefix")
_EXACT = 2**53  # below it float64 holds every integer
_PART = re.compile(r"(.*?)_([Ab])((?:_.*)?)")  # names orig_A, orig_b, train_b_5_0


def read_samples(path: Path, family: Modular | None = None) -> Samples:
    """Read samples and check them; raises UsageError, DamagedFile.

    family: of what does not state its own: arrays a or A and b without our metadata, and tables of
    integers as text or .npy, n columns of A and then b. Of a file that states its own, n and q must
    be the same, and the given one, which may say more, is taken.
    """
    if path.suffix not in SUFFIXES:
        raise UsageError(
            f"{path} given: the name of a file of samples ends in {' '.join(SUFFIXES)}"
        )
    if path.suffix in _TEXT:
        text = read_text(path, MOST_TEXT)
        if path.suffix == ".txt" and (family is None or "[" in text):
            stated, a, b = read_challenge(path)
            return _taken(path, Samples(family=stated, a=a, codes=b), family)
        return _table(path, text, _given(path, family))
    arrays, meta = read_arrays(path)
    if meta is None:
        if {"x", "y"} <= arrays.keys():
            raise UsageError(f"{path} holds x and y: `hardness learn` takes data of yours")
        given = _given(path, family)
        if path.suffix == ".npy":
            arrays = _columns(path, arrays[""], given)
        return _checked(path, arrays, given)
    require_format(meta, FORMAT, path)
    with damage(path):
        found = _checked(path, arrays, LINEAR_FORMS.need(parse_stored(meta["spec"])))
        if found.digest != meta["sha256"]:
            raise DamagedFile(f"{path} has changed: its content does not match its hash")
    return _taken(path, found, family)


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
        "samples_sha256": samples.digest,
        "secret": list(secret),
        "seed": seed,
    }
    write_json(path, data, force=force, mode=0o600)


def _given(path: Path, family: Modular | None) -> Modular:
    if family is None:
        raise UsageError(
            f"{path} does not say of what family it is: `hardness attack`, `hardness learn` and "
            "`hardness reduce lwr-to-attention` take it with --spec"
        )
    return family


def _table(path: Path, text: str, family: Modular) -> Samples:
    """Read lines of n integers and b: spaces, tabs or commas between them, or ; before b."""
    lines, rows = [], []
    for number, words in _lines(path, text):
        if len(words) != family.n + 1:
            raise DamagedFile(
                f"{path}: line {number} has {len(words)} numbers: {family.n + 1} are wanted, "
                f"n={family.n} of a and then b"
            )
        lines.append(number)
        rows.append(" ".join(words))
    if not rows:
        raise DamagedFile(f"{path} is empty: lines of integers are wanted, a row of A and then b")
    try:
        found = np.loadtxt(StringIO("\n".join(rows)), ndmin=2, comments=None)
    except ValueError as error:
        raise DamagedFile(f"{path}: {_foreign(lines, rows) or one_line(error)}") from error
    whole = (abs(found) < _EXACT) & (found == np.rint(found))
    if not whole.all():
        row, column = np.argwhere(~whole)[0]
        raise DamagedFile(
            f"{path}: line {lines[row]} has {found[row, column]}: integers are wanted, "
            "as of A.astype(int)"
        )
    table = found.astype(np.int64)
    return _checked(path, {"a": table[:, :-1], "b": table[:, -1]}, family, lines)


def _lines(path: Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Cut lines into words, each with its number; skips empty ones and those that # begins."""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        a, mark, b = line.replace(",", " ").partition(";")
        if mark and len(b.split()) != 1:
            raise DamagedFile(
                f"{path}: line {number} has {len(b.split())} numbers after ';': samples of one "
                "secret are wanted, one b a line"
            )
        yield number, a.split() + b.split()


def _foreign(lines: Sequence[int], rows: Sequence[str]) -> str | None:
    """Name the first word that is no number."""
    for number, row in zip(lines, rows, strict=True):
        for word in row.split():
            try:
                float(word)
            except ValueError:
                return f"line {number} has {shown(word)}: integers are wanted"
    return None


def _columns(path: Path, found: NDArray[Any], family: Modular) -> dict[str, NDArray[Any]]:
    """Cut a table into a and b, or find the file of A beside one of b, or in the folder above."""
    part = _PART.fullmatch(path.stem)
    if part and part[2] == "b":
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.ndim != 1:
            raise DamagedFile(
                f"{path} holds b {found.shape}: of one secret (N,) is wanted, as of b[:, 0]; "
                "samples of rings, b (N, n), are not read"
            )
        beside = [folder / f"{part[1]}_A.npy" for folder in (path.parent, path.parent.parent)]
        for one in beside:
            if one.is_file():
                return {"a": read_arrays(one)[0][""], "b": found}
        raise UsageError(f"{path} given: {beside[0].name} is neither beside it nor a folder above")
    if part and found.ndim == 2 and found.shape[1] == family.n:
        raise UsageError(
            f"{path} given: it holds A alone: give the file of b, as {part[1]}_b.npy, and A is "
            "found beside it or a folder above"
        )
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


def _checked(
    path: Path,
    arrays: dict[str, NDArray[Any]],
    family: Modular,
    lines: Sequence[int] | None = None,
) -> Samples:
    """Refuse arrays of other shapes, types and ranges; lines: where rows stand in a text."""
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
    for name, value, bound in (("a", a, family.q), ("b", b[:, None], family.rounding.outcomes)):
        wrong = (value < 0) | (value >= bound)
        if not wrong.any():
            continue
        row, column = np.argwhere(wrong)[0]
        where = f"row {row}" if lines is None else f"line {lines[row]}"
        advice = ""
        if bound == family.q:
            low = f"take {name} % {bound}"
            advice = f"; {low}" if value[row, column] < 0 else f"; give its q, or {low}"
        raise DamagedFile(
            f"{path}: {where}: {name} has {value[row, column]}: {family.name} with q={family.q} "
            f"has 0 .. {bound - 1}{advice}"
        )
    return Samples(family=family, a=a.astype(np.int64), codes=b.astype(np.int64))
