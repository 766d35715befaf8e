"""Samples (a, b) of LWE-style instances in files: ours, and the layouts of others, by suffix.

Challenges of TU Darmstadt; tables of integers; lines `a_1 .. a_n ; b` of VERDE's train.prefix, and
with a tab before b of SALSA; the arrays orig_A.npy and orig_b.npy of VERDE, train_A.npy and
train_b_5_0.npy of LWE-benchmarking, where of samples of a ring a row of b is a polynomial. Pickles
beside them are never opened, and no secret. [WCCL22, LWACL23, WSMCL24]
"""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import darmstadt, ring
from instances.arrayfile import read_arrays
from instances.capabilities import LINEAR_FORMS
from instances.disk import damage, refuse_existing, require_format, write_tensors, write_text
from instances.errors import DamagedFile, UsageError
from instances.modular import Modular
from instances.spec import parse_stored, require_stored
from instances.strict import read_text, shown

FORMAT = "hardness-samples/1"
ENDINGS = (".prefix", ".txt", ".npz", ".safetensors")  # of the files that are written
MOST_TEXT = 1 << 26  # bytes of a file of text that is read
_EXACT = 2**53  # below it float64 holds every integer
_PART = re.compile(r"(.*?)_([Ab])((?:_.*)?)")  # names orig_A, orig_b, train_b_5_0
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a file holds, unchecked. family, sha256: what it states; lines: where rows stand."""

    arrays: Mapping[str, NDArray[Any]]
    family: Modular | None = None
    sha256: str | None = None
    lines: Sequence[int] | None = None


def read(path: Path, family: Modular | None = None) -> tuple[Modular, Ints, Ints, tuple[str, ...]]:
    """Read a family, a (N, n), codes (N,) and notes on them; raises UsageError, DamagedFile.

    They are checked. Signs 1, -1 mod 2 are read as bits 0, 1, which a note says.

    family: of what does not state its own: arrays a or A and b without our metadata, and tables of
    integers as text or .npy, n columns of A and then b. Of a file that states its own, n and q must
    be the same, and the given one, which may say more, is taken. Rows of b of n numbers are
    polynomials, or of m where there is a number `ring` = m, and so are those of A, or each is the
    matrix of one: they give m samples.
    """
    layout = LAYOUTS.get(path.suffix)
    if path.suffix == ".specs":
        raise UsageError(f"{path} given: certify each spec of a list by itself")
    if layout is None:
        raise UsageError(f"{path} given: the name of a file of samples ends in {' '.join(LAYOUTS)}")
    found = layout(path, family)
    stated = found.family or _given(path, family)
    a, codes = _checked(path, found, stated)
    if found.sha256 is not None and found.sha256 != digest(stated, a, codes):
        raise DamagedFile(f"{path} has changed: its content does not match its hash")
    signs = stated.q == 2 and any((part == -1).any() for part in found.arrays.values())
    notes = ("entries 1 and -1 are signs: they are read as bits 0 and 1",) if signs else ()
    if family is None or family is stated:
        return stated, a, codes, notes
    if (family.name, family.n, family.q) != (stated.name, stated.n, stated.q):
        raise UsageError(f"{family.spec} given: {path} is of {stated.spec}")
    return family, *_checked(path, found, family), notes


def write(path: Path, family: Modular, a: Ints, codes: Ints, force: bool = False) -> None:
    """Write samples as `Samples.save` says; raises UsageError, AlreadyExists."""
    if path.suffix not in ENDINGS:
        raise UsageError(f"{path} given: end its name in {', '.join(ENDINGS)}")
    refuse_existing(path, force)
    if path.suffix in (".npz", ".safetensors"):
        require_stored(family, "samples of it cannot be stored")
        meta = {"format": FORMAT, "spec": family.spec, "sha256": digest(family, a, codes)}
        return write_tensors(path, {"a": a, "b": codes}, meta)
    if not len(codes):
        raise UsageError(f"{path}: no samples given, a text holds at least one")
    if path.suffix == ".txt" and darmstadt.states(family):
        text = darmstadt.challenge(family, a, codes)
    else:
        rows = zip(a.tolist(), codes.tolist(), strict=True)
        text = "".join(f"{' '.join(map(str, row))} ; {b}\n" for row, b in rows)
    if len(text) > MOST_TEXT:
        raise UsageError(
            f"{path}: {len(text)} bytes of text, of which at most {MOST_TEXT} are read again: "
            "write .npz"
        )
    write_text(path, text, force=force)


def digest(family: Modular, a: Ints, codes: Ints) -> str:
    """Hash samples by content: SHA-256 of spec, a and codes, as 64-bit little-endian integers."""
    found = hashlib.sha256(family.spec.encode() + b"\0")
    for value in (a, codes):
        found.update(np.ascontiguousarray(value, "<i8").tobytes())
    return found.hexdigest()


def _given(path: Path, family: Modular | None) -> Modular:
    if family is None:
        raise UsageError(
            f"{path} does not say of what family it is: `hardness attack`, `estimate`, `learn` and "
            "`reduce lwr-to-attention` take it with --spec"
        )
    return family


def _arrays(path: Path, family: Modular | None) -> Content:
    arrays, meta = read_arrays(path)
    if meta is None:
        if {"x", "y"} <= arrays.keys():
            raise UsageError(f"{path} holds x and y: `hardness learn` takes data of yours")
        return Content(arrays=arrays)
    require_format(meta, FORMAT, path)
    with damage(path):
        stated = LINEAR_FORMS.need(parse_stored(meta["spec"]))
        return Content(arrays=arrays, family=stated, sha256=str(meta["sha256"]))


def _text(path: Path, family: Modular | None) -> Content:
    """Read a challenge, or with a family a table, which has no brackets."""
    text = read_text(path, MOST_TEXT)
    if family is not None and "[" not in text:
        return _table(path, family)
    stated, a, b = darmstadt.read_challenge(path, text)
    return Content(arrays={"a": a, "b": b}, family=stated)


def _table(path: Path, family: Modular | None) -> Content:
    """Read lines of n integers and b: spaces, tabs or commas between them, or ; before b.

    Empty lines are skipped, and those that # begins.
    """
    text, n = read_text(path, MOST_TEXT), _given(path, family).n
    lines, rows = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        a, mark, b = line.replace(",", " ").partition(";")
        if mark and len(b.split()) != 1:
            raise DamagedFile(
                f"{path}: line {number} has {len(b.split())} numbers after ';': samples of one "
                "secret are wanted, one b a line"
            )
        words = a.split() + b.split()
        if len(words) != n + 1:
            raise DamagedFile(
                f"{path}: line {number} has {len(words)} numbers: {n + 1} are wanted, "
                f"n={n} of a and then b"
            )
        row = list(map(_integer, words))
        if None in row:
            raise DamagedFile(
                f"{path}: line {number} has {shown(words[row.index(None)])}: integers are wanted, "
                "as of A.astype(int)"
            )
        lines.append(number)
        rows.append(np.array(row, np.int64))
    if not rows:
        raise DamagedFile(f"{path} is empty: lines of integers are wanted, a row of A and then b")
    table = np.stack(rows)
    return Content(arrays={"a": table[:, :-1], "b": table[:, -1]}, lines=lines)


def _integer(word: str) -> int | None:
    """Read an integer, also one that is written as a float; None for another word."""
    try:
        value = float(word)
    except ValueError:
        return None
    return int(value) if abs(value) < _EXACT and value == int(value) else None


def _columns(path: Path, family: Modular | None) -> Content:
    """Cut a table into a and b, or find the file of A beside one of b, or in the folder above."""
    found, n = read_arrays(path)[0][""], _given(path, family).n
    part = _PART.fullmatch(path.stem)
    if part and part[2] == "b":
        if found.ndim == 2 and found.shape[1] == 1:
            found = found[:, 0]
        if found.ndim != 1 and found.shape[1:] != (n,):
            raise DamagedFile(
                f"{path} holds b {found.shape}: of one secret (N,) is wanted, as of b[:, 0], or "
                f"(N, {n}) of polynomials; polynomials of a degree m below {n} are read of .npz "
                "with A, b and ring=m"
            )
        beside = [folder / f"{part[1]}_A.npy" for folder in (path.parent, path.parent.parent)]
        for one in beside:
            if one.is_file():
                return Content(arrays={"a": read_arrays(one)[0][""], "b": found})
        raise UsageError(f"{path} given: {beside[0].name} is neither beside it nor a folder above")
    if part and found.ndim == 2 and found.shape[1] == n:
        raise UsageError(
            f"{path} given: it holds A alone: give the file of b, as {part[1]}_b.npy, and A is "
            "found beside it or a folder above"
        )
    if found.ndim != 2 or found.shape[1] < 2:
        raise DamagedFile(
            f"{path} holds an array {found.shape}: n columns of A and one of b are wanted"
        )
    return Content(arrays={"a": found[:, :-1], "b": found[:, -1]})


def _checked(path: Path, found: Content, family: Modular) -> tuple[Ints, Ints]:
    """Refuse arrays of other shapes, types and ranges than those of a family."""
    a, b = found.arrays.get("a", found.arrays.get("A")), found.arrays.get("b")
    if a is None or b is None:
        names = ", ".join(found.arrays)[:80] or "nothing"
        raise DamagedFile(f"{path} holds {names}: A and b are wanted")
    if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
        raise DamagedFile(
            f"{path} holds a of {a.dtype} and b of {b.dtype}: integers are wanted, "
            "as of A.astype(int)"
        )
    n, m = family.n, b.shape[1] if b.ndim == 2 else 0
    stated = found.arrays.get("ring", np.array(0)).tolist()
    polynomials = b.ndim == 2 and a.shape == (len(b), n) and m in (n, stated)
    fits = b.ndim in (1, 2) and b.size and (polynomials or a.shape == (*b.shape, n))
    if not fits or (m and n % m):
        raise DamagedFile(
            f"{path} holds a {a.shape} and b {b.shape}: (N, {n}) and (N,) are wanted, N > 0, or of "
            f"polynomials (N, {n}) and (N, {n}); with ring=m, a divisor of {n}, (N, {n}) and (N, "
            f"m), or as matrices (N, m, {n}) and (N, m)"
        )
    if family.q == 2:
        a, b = _bits(path, a, b)
    whole = a.reshape(len(a), -1), b.reshape(len(b), -1)
    for name, value, bound in zip("ab", whole, (family.q, family.rounding.outcomes), strict=True):
        wrong = (value < 0) | (value >= bound)
        if not wrong.any():
            continue
        row, column = np.argwhere(wrong)[0]
        where = f"row {row}" if found.lines is None else f"line {found.lines[row]}"
        advice = ""
        if bound == 2:
            advice = "; signs 1, -1 are read as 0, 1 if all entries are signs"
        elif bound == family.q:
            low = f"take {name} % {bound}"
            advice = f"; {low}" if value[row, column] < 0 else f"; give its q, or {low}"
        raise DamagedFile(
            f"{path}: {where}: {name} has {value[row, column]}: {family.name} with q={family.q} "
            f"has 0 .. {bound - 1}{advice}"
        )
    a, b = a.astype(np.int64), b.astype(np.int64)
    b = b.reshape(-1)
    a = ring.expand(a, m, family.q) if polynomials else a.reshape(-1, n)
    m = m or ring.degree(a, family.q)
    if stated not in (0, m):
        raise DamagedFile(f"{path} says ring={str(stated)[:40]}: its rows are of {m or 'none'}")
    if m and (off := ring.broken(a, m, family.q)):
        where = f"row {off}" if found.lines is None else f"line {found.lines[off]}"
        raise DamagedFile(
            f"{path}: {where}: it is no rotation of the one before, as rows of the ring x^{m} + 1 "
            f"are in blocks of {m}: give whole blocks"
        )
    return a, b


def _bits(path: Path, *parts: NDArray[Any]) -> list[NDArray[Any]]:
    """Read signs 1, -1 as bits 0, 1 in arrays that have a -1; raises DamagedFile for a mixture."""
    signs = [bool((part == -1).any()) for part in parts]
    for name, part, sign in zip("ab", parts, signs, strict=True):
        if any(signs) and set(np.unique(part)) in ({1}, {-1, 0}, {-1, 0, 1}):
            raise DamagedFile(
                f"{path}: {name} has {'0 and -1' if sign else '1 alone'} where others are signs: "
                "write a and b as bits 0, 1, or as signs 1, -1, which are read as 0, 1"
            )
    whole = [sign and bool((abs(part) == 1).all()) for part, sign in zip(parts, signs, strict=True)]
    return [(1 - part) // 2 if signed else part for part, signed in zip(parts, whole, strict=True)]


LAYOUTS: dict[str, Callable[[Path, Modular | None], Content]] = {
    ".prefix": _table,
    ".txt": _text,
    ".npz": _arrays,
    ".safetensors": _arrays,
    ".csv": _table,
    ".npy": _columns,
}
