"""Samples (a, b) of LWE-style instances in files: ours, arrays A and b, tables of integers.

And challenges of TU Darmstadt. A and b may stand in a file each. Pickles are never opened.
"""

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from instances import darmstadt
from instances.arrayfile import SUFFIXES, read_arrays
from instances.disk import damage, refuse_existing, require_format, write_tensors, write_text
from instances.errors import DamagedFile, UsageError
from instances.modular import Modular
from instances.spec import parse_stored, require_stored
from instances.strict import read_text, shown

FORMAT = "hardness-samples/1"
ENDINGS = (".csv", ".txt", ".npz", ".safetensors")  # of the files that are written
MOST_TEXT = 1 << 26  # bytes of a file of text that is read
_EXACT = 2**53  # below it float64 holds every integer
_SURE = 20  # bits by which a row 0 .. n is no sample
_BETWEEN = re.compile(r"\s*[,;]\s*|\s+")  # numbers of a table
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Content:
    """What a file holds, unchecked. family, sha256: what it states; lines: where rows stand."""

    arrays: Mapping[str, NDArray[Any]]
    family: Modular | None = None
    sha256: str | None = None
    lines: Sequence[int] | None = None


def read(
    path: Path, family: Modular | None = None, beside: Path | None = None
) -> tuple[Modular, Ints, Ints, tuple[str, ...]]:
    """Read a family, a (N, n), codes (N,) and notes on them; raises UsageError, DamagedFile.

    They are checked. Signs 1, -1 mod 2 are read as bits 0, 1, which a note says.

    family: of what does not state its own: arrays a or A and b without our metadata, and tables of
    integers as .csv or .npy, n columns of A and then b. If a file states its own, n and q must be
    the same, and the given one is taken, which may say more. beside: the file of b, if path is
    that of A alone.
    """
    layout = LAYOUTS.get(path.suffix.lower())
    if beside is not None:
        content = Content(arrays={"a": _array(path, "a"), "b": _vector(beside)})
    elif layout is None:
        raise UsageError(f"{path} given: the name of a file of samples ends in {' '.join(LAYOUTS)}")
    else:
        content = layout(path, family)
    where = path if beside is None else Path(f"{path} and {beside}")
    stated = content.family or _given(where, family)
    a, codes = _checked(where, content, stated)
    if content.sha256 is not None and content.sha256 != digest(stated, a, codes):
        raise DamagedFile(f"{path} has changed: its content does not match its hash")
    signs = stated.q == 2 and any((part == -1).any() for part in content.arrays.values())
    notes = ("entries 1 and -1 are signs: they are read as bits 0 and 1",) if signs else ()
    if family is None or family is stated:
        return stated, a, codes, notes
    if (family.name, family.n, family.q) != (stated.name, stated.n, stated.q):
        raise UsageError(f"{family.spec} given: {path} is of {stated.spec}")
    return family, *_checked(path, content, family), notes


def write(path: Path, family: Modular, a: Ints, codes: Ints, force: bool = False) -> None:
    """Write samples as `Samples.save` says; raises UsageError, AlreadyExists."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"{path} given: end its name in {', '.join(ENDINGS)}")
    refuse_existing(path, force)
    if ending in (".npz", ".safetensors"):
        require_stored(family, "samples of it cannot be stored")
        meta = {"format": FORMAT, "spec": family.spec, "sha256": digest(family, a, codes)}
        return write_tensors(path, {"a": a, "b": codes}, meta)
    if not len(codes):
        raise UsageError(f"{path}: no samples given, a text holds at least one")
    if ending == ".txt" and darmstadt.states(family):
        text = darmstadt.challenge(family, a, codes)
    else:
        if ending == ".txt":
            raise UsageError(
                f"{path} given: a .txt is a Darmstadt challenge, which can state lwe with alpha "
                "alone: end the name in .csv or .npz"
            )
        rows = np.column_stack([a, codes]).tolist()
        text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
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
        named = parse_stored(meta["spec"])
        stated = named.linear_forms or named.refuse("linear_forms")
        return Content(arrays=arrays, family=stated, sha256=str(meta["sha256"]))


def _text(path: Path, family: Modular | None) -> Content:
    """Read a challenge."""
    stated, a, b = darmstadt.read_challenge(path, read_text(path, MOST_TEXT))
    return Content(arrays={"a": a, "b": b}, family=stated)


def _table(path: Path, family: Modular | None) -> Content:
    """Read lines of n integers and b: spaces, tabs, commas or semicolons between them.

    Empty lines are skipped, and those that # begins. A first line may name the columns, as pandas
    writes it: one is b, those of a are ordered by the numbers in their names.
    """
    stated, text = _given(path, family), read_text(path, MOST_TEXT).removeprefix("\ufeff")
    n, order = stated.n, list(range(stated.n + 1))
    width, lines, rows = n + 1, list[int](), list[Ints]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = _BETWEEN.split(line.strip(" "))
        if not rows and not any(_integer(word) is not None for word in words):
            order, width = _order(path, words, n), len(words)
            continue
        if len(words) != width:
            raise DamagedFile(
                f"{path}: line {number} has {len(words)} numbers: {width} are wanted, "
                f"n={n} of a and then b"
            )
        words = [words[column] for column in order]
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
    if (table[0] == np.arange(n + 1)).all() and (n + 1) * math.log2(stated.q) > _SURE:
        raise DamagedFile(
            f"{path}: line {lines[0]} is 0 .. {n}, as pandas names columns: save it with "
            "header=False, or name them a0 .. and b"
        )
    return Content(arrays={"a": table[:, :-1], "b": table[:, -1]}, lines=lines)


def _order(path: Path, names: Sequence[str], n: int) -> list[int]:
    """Order columns by their names: those of a, then b; one without a name is an index."""
    plain = [name.strip("\"'").lower() for name in names]
    kept = [i for i, name in enumerate(plain) if name and not name.startswith("unnamed")]
    if plain.count("b") != 1 or len(kept) != n + 1:
        raise DamagedFile(
            f"{path}: its first line is {shown(','.join(names))}: the names of n={n} columns of a "
            "and of b are wanted, as a0 .. and b, or none"
        )
    a = [i for i in kept if plain[i] != "b"]
    numbers = [int(digits[0]) for i in a if (digits := re.search("[0-9]{1,9}$", plain[i]))]
    if len(numbers) == n:
        a = [a[i] for i in np.argsort(numbers, kind="stable")]
    return [*a, plain.index("b")]


def _integer(word: str) -> int | None:
    """Read an integer, also one that is written as a float; None for another word."""
    try:
        value = float(word)
    except ValueError:
        return None
    return int(value) if abs(value) < _EXACT and value == int(value) else None


def _columns(path: Path, family: Modular | None) -> Content:
    """Cut a table (N, n + 1) into a and b."""
    table, n = read_arrays(path)[0][""], _given(path, family).n
    if table.ndim != 2 or table.shape[1] != n + 1:
        raise DamagedFile(
            f"{path} holds an array {table.shape}: (N, {n + 1}) is wanted, n={n} columns of A and "
            "one of b, as of np.column_stack([A, b])"
        )
    return Content(arrays={"a": table[:, :-1], "b": table[:, -1]})


def _array(path: Path, name: str) -> NDArray[Any]:
    """Read the one array of a file, or the one that is called a or A, b; raises UsageError."""
    if path.suffix.lower() == ".csv":
        rows = [line.split(",") for line in read_text(path, MOST_TEXT).split()]
        whole = [[_integer(word) for word in row] for row in rows]
        if not whole or len({len(row) for row in whole}) > 1 or any(None in row for row in whole):
            raise DamagedFile(f"{path}: lines of as many integers each are wanted, with commas")
        return np.array(whole, np.int64)
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(f"{path} given: an array is read from .npy, .npz, .safetensors or .csv")
    arrays, _ = read_arrays(path)
    named = [arrays[key] for key in (name, name.upper()) if key in arrays] or list(arrays.values())
    if len(arrays) > 1 and not {name, name.upper()} & arrays.keys():
        raise UsageError(f"{path} holds {', '.join(arrays)[:80]}: an array {name} is wanted")
    if not named:
        raise UsageError(f"{path} holds no array")
    return named[0]


def _vector(path: Path) -> NDArray[Any]:
    """Read b: (N,), or one row or column of N."""
    values = _array(path, "b")
    return values.ravel() if values.ndim == 2 and 1 in values.shape else values


def _checked(path: Path, found: Content, family: Modular) -> tuple[Ints, Ints]:
    """Refuse arrays of other shapes, types and ranges than those of a family."""
    a, b = found.arrays.get("a", found.arrays.get("A")), found.arrays.get("b")
    if a is None or b is None:
        names = ", ".join(found.arrays)[:80] or "nothing"
        raise DamagedFile(f"{path} holds {names}: A and b are wanted")
    a, b = _whole(path, "a", a), _whole(path, "b", b)
    n = family.n
    if b.ndim != 1 or not b.size or a.shape != (len(b), n):
        raise DamagedFile(
            f"{path} holds a {a.shape} and b {b.shape}: (N, {n}) and (N,) are wanted, N > 0"
        )
    if family.q == 2:
        a, b = _bits(path, a, b)
    whole = a, b[:, None]
    for name, value, bound in zip("ab", whole, (family.q, family.outcomes), strict=True):
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
    return a.astype(np.int64), b.astype(np.int64)


def _whole(path: Path, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Read integers, also as bools and as floats that hold them exactly; raises DamagedFile."""
    if values.dtype.kind == "f":
        exact = 2.0 ** (np.finfo(values.dtype).nmant + 1)
        if ((abs(values) < exact) & (values == np.rint(values))).all():
            return values.astype(np.int64)
    if values.dtype.kind not in "biu":
        raise DamagedFile(
            f"{path} holds {name} of {values.dtype}: integers are wanted, as of A.astype(int)"
        )
    return values.astype(np.int64) if values.dtype.kind == "b" else values


def _bits(path: Path, *parts: NDArray[Any]) -> list[NDArray[Any]]:
    """Read signs 1, -1 as bits 0, 1 in arrays that have a -1; raises DamagedFile for a mixture."""
    signs = [bool((part == -1).any()) for part in parts]
    for name, part, sign in zip("ab", parts, signs, strict=True):
        if any(signs) and set(np.unique(part)) in ({1}, {-1, 0}, {-1, 0, 1}):
            raise DamagedFile(
                f"{path}: {name} has {'0 and -1' if sign else '1 alone'}, other entries are signs: "
                "write a and b as bits 0, 1, or as signs 1, -1, which are read as 0, 1"
            )
    whole = [sign and bool((abs(part) == 1).all()) for part, sign in zip(parts, signs, strict=True)]
    return [(1 - part) // 2 if signed else part for part, signed in zip(parts, whole, strict=True)]


LAYOUTS: dict[str, Callable[[Path, Modular | None], Content]] = {
    ".txt": _text,
    ".npz": _arrays,
    ".safetensors": _arrays,
    ".csv": _table,
    ".npy": _columns,
}
