"""Samples (a, b) of LWE-style instances: drawn, from and to attention examples, in files.

To attention: an example has z with z_0 and X_1 uniform, and X_2 = X_1 * z. Where z_0 = -1 it
encodes the next sample: the bits of a go into z, and the label is X_1[0] times the sample's level.
Elsewhere z is drawn anew, and the label is 0. For q = 2^L tokens are exactly uniform if the a of
the samples are. For a prime q an entry of a is written as a random one of the L-bit numbers that
are equal to it mod q. Back: the examples with z_0 = -1 are the samples, in their order.

Files are those of the toolkit, arrays A and b (in one file or two), tables of integers, and
challenges of TU Darmstadt: lines n, m, q and alpha (errors have the standard deviation alpha
q), then b in brackets, m numbers, then A in brackets, m rows in brackets of n numbers each. Foreign
files are parsed strictly, never evaluated, and pickles are never opened. [BBGRS16]
"""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from instances import numbers, residues, tokens
from instances.arguments import located
from instances.arrayfile import SUFFIXES, read_arrays, read_rows, write_tensors
from instances.coded import CodedExamples, as_coded
from instances.disk import (
    damage,
    one_line,
    quoted,
    read_text,
    refuse_existing,
    require_format,
    write_json,
    write_text,
)
from instances.errors import DamagedFile, UsageError
from instances.family import Examples, Instance, Secret
from instances.limits import require_memory
from instances.lwe import Lwe, Modular
from instances.residues import centred, dot
from instances.secrets import Integers, uniform
from instances.spec import parse_stored, require_stored
from instances.streams import BitStream, generator, key

if TYPE_CHECKING:
    from pandas import DataFrame

FORMAT, SOLUTION = "hardness-samples/1", "hardness-samples-secret/1"
SAMPLE_SUFFIXES = (".csv", ".txt", ".npz", ".safetensors")  # of the files that are written
MOST_TEXT = 1 << 26  # bytes of a file of text that is read
_BATCH_BITS = 1 << 24  # bits of z that are made at once
_UNLIKELY_BITS = 20  # a row 0 .. n whose chance is below 2^-20 is a header
_SEPARATOR, _DIGIT = re.compile(r"\s*[,;]\s*|\s+"), re.compile("[-+.]?[0-9]")  # of a table
_MAX_Q, _MAX_ALPHA = 1 << 16, Fraction(1, 8)  # limits of a challenge
_BODY = re.compile(r"\s*\[[^\[\]]*\][\s,]*\[\s*((?:\[[^\[\]]*\][\s,]*)*)\]\s*")  # of a challenge
_ROW = re.compile(r"\[([^\[\]]*)\]")
_FOREIGN = re.compile(r"[^0-9\[\],\s][^\[\],\s]{0,20}|[0-9]{16,}")
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Samples:
    """Samples of a family: a (N, n) int64 in 0 .. q-1, codes (N,) int64, numbers of levels.

    For LWE a code is b itself. The secret is not stored. notes: how a file was read, in words.

    >>> from instances import parse
    >>> instance = parse("lwe:n=8,q=17,sigma=1").instance(0)
    >>> drawn = samples(instance.examples(0, 100))
    >>> drawn.a.shape == (len(drawn), 8)
    True
    >>> int(abs(drawn.residuals(instance.hidden.secret)).max()) < 8
    True
    """

    family: Modular
    a: Ints
    codes: Ints
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        return f"{len(self)} samples of {self.family}"

    @property
    def q(self) -> int:
        """The modulus."""
        return self.family.q

    @staticmethod
    def join(parts: "Sequence[Samples]") -> "Samples":
        """Concatenate samples of one family; raises IndexError for an empty sequence."""
        return Samples(
            family=parts[0].family,
            a=np.concatenate([part.a for part in parts]),
            codes=np.concatenate([part.codes for part in parts]),
        )

    @staticmethod
    def none(family: Modular) -> "Samples":
        """Make no samples of a family."""
        a = np.zeros((0, family.n), np.int64)
        return Samples(family=family, a=a, codes=a[:, 0])

    def take(self, rows: "NDArray[np.intp] | slice") -> "Samples":
        """Return some of the samples."""
        return replace(self, a=self.a[rows], codes=self.codes[rows])

    def cut(self, start: int, stop: int) -> "Samples":
        """Return samples start .. stop-1."""
        return self.take(slice(start, stop))

    @cached_property
    def b(self) -> Ints:
        """<a, s> + e mod q, (N,), e distributed as `error`; of a rounding interval its low end."""
        return self.codes * self.family.interval

    @property
    def error(self) -> Integers | None:
        """The distribution of b - <a, s> mod q; None if it is 0."""
        wide = self.family.interval
        return uniform(range(1 - wide, 1)) if wide > 1 else self.family.errors

    def residuals(self, secret: Secret) -> Ints:
        """Compute b - <a, s> mod q, centred: (N,)."""
        return centred(self.b - dot(self.a, np.array(secret, np.int64), self.q), self.q)

    def evidence(self, secret: Secret) -> float:
        """Compute log2 of the likelihood ratio of a secret and uniformly random labels.

        It is minus infinity if the secret makes a label impossible. Random labels reach L bits with
        probability at most 2^-L.
        """
        t = dot(self.a, np.array(secret, np.int64), self.q)
        return float(self.family.log_ratios(t, self.codes).sum())

    def to_frame(self) -> "DataFrame":
        """Make a pandas DataFrame with columns a0, a1, ... and b, the codes; a row per sample."""
        import pandas as pd

        frame = pd.DataFrame(self.a, columns=[f"a{j}" for j in range(self.family.n)])
        return frame.assign(b=self.codes)

    @property
    def digest(self) -> str:
        """The SHA-256 of spec, a and codes, as 64-bit little-endian integers."""
        parts = (np.ascontiguousarray(value, "<i8").tobytes() for value in (self.a, self.codes))
        return hashlib.sha256(b"\0".join((self.family.spec.encode(), b"".join(parts)))).hexdigest()

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write a file by the ending of its name, without the secret.

        .npz, .safetensors: arrays a and b, where b holds the codes, and the spec. .csv: a line per
        sample, `a_1,..,a_n,b`. .txt: a Darmstadt challenge, for lwe with alpha alone. Raises
        UsageError, AlreadyExists.
        """
        path = Path(located("path", path))
        ending = path.suffix.lower()
        if ending not in SAMPLE_SUFFIXES:
            endings = ", ".join(SAMPLE_SUFFIXES)
            raise UsageError(f"a file of samples must end in {endings}, got {path}")
        refuse_existing(path, force)
        if ending in (".npz", ".safetensors"):
            require_stored(self.family, "samples of it cannot be stored")
            meta = {"format": FORMAT, "spec": self.family.spec, "sha256": self.digest}
            return write_tensors(path, {"a": self.a, "b": self.codes}, meta)
        if not len(self):
            raise UsageError(f"{path} must hold at least one sample, got none")
        if ending == ".txt":
            text = self._challenge(path)
        else:
            rows = np.column_stack([self.a, self.codes]).tolist()
            text = "".join(f"{','.join(map(str, row))}\n" for row in rows)
        if len(text) > MOST_TEXT:
            raise UsageError(
                f"{path}: {len(text)} bytes of text, of which at most {MOST_TEXT} are read again: "
                "write .npz"
            )
        write_text(path, text, force=force)

    def _challenge(self, path: Path) -> str:
        """Write a Darmstadt challenge; raises UsageError."""
        n, q, alpha = self.family.n, self.q, getattr(self.family, "alpha", Fraction(0))
        if "/" in numbers.write(alpha) or not alpha or self.family != Lwe(n=n, q=q, alpha=alpha):
            raise UsageError(
                f"{path} must end in .csv or .npz: a .txt is a Darmstadt challenge, which can "
                "state lwe with alpha alone"
            )
        b, *rows = (f"[{' '.join(map(str, row))}]" for row in (self.b.tolist(), *self.a.tolist()))
        head = (n, len(self), q, numbers.write(alpha), b)
        return "\n".join((*map(str, head), f"[{rows[0]}", *rows[1:])) + "]\n"


def write_secret(
    path: Path, samples: Samples, secret: Secret, seed: int, force: bool = False
) -> None:
    """Write the secret of samples, and the seed of their instance, as JSON.

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


# ---- drawn, from and to attention examples


def draw_samples(instance: Instance, count: int) -> Samples:
    """Draw `count` samples of an instance, a uniform on Z_q^n; a smaller count gives a prefix.

    They differ from the samples in its attention examples. Raises UsageError without
    `linear_forms`.

    >>> from instances import parse
    >>> draw_samples(parse("lwe:n=256,q=842779,sigma=3,secret=binary,h=20").instance(0), 1000)
    1000 samples of lwe:n=256,q=842779,sigma=3,secret=binary,h=20
    """
    family = instance.family.linear_forms or instance.family.refuse("linear_forms")
    seed = instance.hidden.seed
    require_memory(24 * count * (family.n + 1), f"{count} samples of {family}")
    a = generator(seed, "samples", family.seed_spec).integers(0, family.q, (count, family.n))
    secret = instance.family.to_linear(instance.hidden.secret)
    t = dot(a, np.array(secret, np.int64), family.q)
    errors = family.disturb(BitStream(key(seed, "errors of samples", family.seed_spec)), 0, count)
    return Samples(family=family, a=a, codes=(t + errors) % family.q // family.interval)


def samples(examples: Examples) -> Samples:
    """Read the samples off the examples with z_0 = -1; raises UsageError without `linear_forms`."""
    family = examples.family.linear_forms or examples.family.refuse("linear_forms")
    packed = as_coded(examples)
    opened = family.open(packed.words)
    codes = packed.codes[opened].astype(np.int64)
    return Samples(family=family, a=family.vectors(packed.words[opened]), codes=codes)


def to_attention(drawn: Samples, seed: int) -> CodedExamples:
    """Turn N samples into about 2 N examples; the last example encodes the last sample.

    The label of an example reveals no more than its sample does. Raises ToolkitError for a large q.

    >>> from instances import parse
    >>> first = samples(parse("lwr:n=4,q=16,p=4").instance(0).examples(0, 100))
    >>> again = samples(to_attention(first, seed=1))
    >>> bool((again.a == first.a).all() and (again.codes == first.codes).all())
    True
    """
    family, rng = drawn.family, generator(seed, "reduce", drawn.family.seed_spec)
    family.require_table()
    opened = _places(len(drawn), rng)
    require_memory(
        2 * len(opened) * family.bytes_per_example, f"{len(opened)} examples of {family.spec}"
    )
    rows, used = max(1, _BATCH_BITS // family.d), 0
    words = np.empty((len(opened), 2, tokens.words_per_token(family.d)), np.uint64)
    for start in range(0, len(opened), rows):
        part = opened[start : start + rows]
        a = drawn.a[used : used + int(part.sum())]
        used += len(a)
        z = rng.integers(0, 2, (len(part), family.d), dtype=np.uint8)
        z[:, 0] = part
        z[part, 1:] = residues.write(a, family.length, family.q, rng)
        first = rng.integers(0, 2, z.shape, dtype=np.uint8)
        signs = 1 - 2 * np.stack([first, first ^ z], axis=1).astype(np.int8)
        words[start : start + rows] = tokens.pack(signs)
    codes = np.zeros(len(opened), family.code_type)
    codes[opened] = drawn.codes
    return CodedExamples(family=family, words=words, codes=codes)


def _places(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw z_0 of examples until `count` of them are -1: True where z_0 = -1."""
    tosses = np.zeros(0, np.bool_)
    while (missing := count - int(tosses.sum())) > 0:
        tosses = np.concatenate([tosses, rng.integers(0, 2, 2 * missing + 8).astype(np.bool_)])
    ends = np.flatnonzero(tosses)
    return tosses[: ends[count - 1] + 1] if count else tosses


# ---- read from files


def read_samples(path: Path, family: Modular | None = None, beside: Path | None = None) -> Samples:
    """Read samples, checked; raises UsageError, DamagedFile.

    Mod 2, signs 1, -1 are read as bits 0, 1, and a note says so.

    family: needed for files that do not state one: arrays a or A and b without our metadata, and
    tables of integers as .csv or .npy, n columns of A and then b. If a file states a family, n and
    q must agree, and `family` is used, as it may have more parameters. beside: the file of b, if
    `path` contains A alone.
    """
    ending, stated, sha256 = path.suffix.lower(), None, None
    lines = dict[str, list[int]]()  # of the arrays that are read from lines of text
    where = path if beside is None else Path(f"{path} and {beside}")
    if beside is not None:
        (a, lines["a"]), (b, lines["b"]) = _array(path, "a"), _array(beside, "b")
        arrays = {"a": a, "b": b.ravel() if b.ndim == 2 and 1 in b.shape else b}
    elif ending in (".npz", ".safetensors"):
        arrays, meta = read_arrays(path)
        if meta is None and {"x", "y"} <= arrays.keys():
            raise UsageError(f"{path} holds x and y: `hardness learn` takes data of yours")
        if meta is not None:
            require_format(meta, FORMAT, path)
            with damage(path):
                named, sha256 = parse_stored(meta["spec"]), str(meta["sha256"])
                stated = named.linear_forms or named.refuse("linear_forms")
    elif ending == ".txt":
        stated, arrays = _read_challenge(path)
    elif ending in (".csv", ".npy"):
        table, numbered = _table(path, _named_family(path, family))
        lines = {"a": numbered, "b": numbered}
        arrays = {"a": table[:, :-1], "b": table[:, -1]}
    else:
        endings = ".txt .npz .safetensors .csv .npy"
        raise UsageError(f"a file of samples must end in one of {endings}, got {path}")
    stated = stated or _named_family(where, family)
    family = family or stated
    if (family.name, family.n, family.q) != (stated.name, stated.n, stated.q):
        raise UsageError(f"--spec must fit {path}, of {stated.spec}, got {family.spec}")
    read = _checked(where, arrays, family, lines)
    if sha256 is not None and sha256 != replace(read, family=stated).digest:
        raise DamagedFile(f"{path} has changed: its content does not match its hash")
    return read


def _named_family(path: Path, family: Modular | None) -> Modular:
    """Return the family that --spec names; raises UsageError without one."""
    if family is None:
        raise UsageError(
            f"no family is stated in {path}: `hardness attack`, `estimate`, `learn` and "
            "`reduce lwr-to-attention` take it with --spec"
        )
    return family


def _table(path: Path, family: Modular) -> tuple[NDArray[Any], list[int]]:
    """Read a table of n columns of A and one of b, (N, n + 1), and the lines of its rows."""
    n, text = family.n, path.suffix.lower() == ".csv"
    names, table, lines = _numbers(path) if text else ([], read_arrays(path)[0][""], [])
    if names:
        table = table[:, _order(path, names, n)]
    if table.ndim != 2 or table.shape[1] != n + 1:
        raise DamagedFile(
            f"{path} holds an array {table.shape}: (N, {n + 1}) is wanted, n={n} columns of A and "
            "one of b, as of np.column_stack([A, b])"
        )
    counting = (table[0] == np.arange(n + 1)).all()
    if text and counting and (n + 1) * math.log2(family.q) > _UNLIKELY_BITS:
        raise DamagedFile(
            f"{path}: its first line is 0 .. {n}, as pandas names columns: save it with "
            "header=False, or name them a0 .. and b"
        )
    return table, lines


def _numbers(path: Path) -> tuple[list[str], NDArray[np.float64], list[int]]:
    """Read lines of equally many numbers.

    Returns the names in the first line, if any, the table, and the line of each row, counted in
    the file from 1. Numbers are separated by spaces, tabs, commas or semicolons. Empty lines are
    skipped, and lines that begin with #.
    """
    text = read_text(path, MOST_TEXT).removeprefix("\ufeff")
    numbered = enumerate(text.splitlines(), 1)
    lines = [(i, line) for i, line in numbered if line.strip() and line.lstrip()[0] != "#"]
    names = _SEPARATOR.split(lines[0][1].strip(" ")) if lines else []
    if any(_DIGIT.match(word) for word in names):
        names = []
    rows = {i: _SEPARATOR.sub(",", line.strip(" ")) for i, line in lines[bool(names) :]}
    if not rows:
        raise DamagedFile(f"{path} is empty: lines of integers are wanted, a row of A and then b")
    table = read_rows(path, rows, ",")
    if names and len(names) != table.shape[1]:
        raise DamagedFile(f"{path}: {len(names)} names stand above {table.shape[1]} columns")
    return names, table, [*rows]


def _order(path: Path, names: Sequence[str], n: int) -> list[int]:
    """Order columns by name: those of a, then b; a column without a name is an index, left out."""
    plain = [name.strip("\"'").lower() for name in names]
    kept = [i for i, name in enumerate(plain) if name and not name.startswith("unnamed")]
    if plain.count("b") != 1 or len(kept) != n + 1:
        raise DamagedFile(
            f"{path}: its first line is {quoted(','.join(names))}: the names of n={n} columns of a "
            "and of b are wanted, as a0 .. and b, or none"
        )
    a = [i for i in kept if plain[i] != "b"]
    digits = [int(digits[0]) for i in a if (digits := re.search("[0-9]{1,9}$", plain[i]))]
    if len(digits) == n:
        a = [a[i] for i in np.argsort(digits, kind="stable")]
    return [*a, plain.index("b")]


def _array(path: Path, name: str) -> tuple[NDArray[Any], list[int]]:
    """Read the only array of a file, or the one with the name or its capital; raises UsageError.

    Also returns the lines of its rows in a file of text.
    """
    if path.suffix.lower() == ".csv":
        return _numbers(path)[1:]
    if path.suffix.lower() not in SUFFIXES:
        raise UsageError(
            f"an array's file must end in .npy, .npz, .safetensors or .csv, got {path}"
        )
    arrays, _ = read_arrays(path)
    named = [arrays[key] for key in (name, name.upper()) if key in arrays]
    if not named and len(arrays) != 1:
        names = ", ".join(arrays)[:80] or "nothing"
        raise UsageError(f"{path} holds {names}: an array {name} is wanted")
    return (named or list(arrays.values()))[0], []


def _read_challenge(path: Path) -> tuple[Lwe, dict[str, Ints]]:
    """Read a challenge of TU Darmstadt: its family, and its arrays a and b; raises DamagedFile."""
    head = read_text(path, MOST_TEXT).split("\n", 4)
    try:
        if len(head) < 5:
            raise ValueError("it ends before b and A, after lines n, m, q and alpha")
        n, m, q = (numbers.parse(head[i][:40], int, "nmq"[i]) for i in range(3))
        alpha, body = numbers.parse(head[3][:100], Fraction, "alpha"), head[4]
        if q > _MAX_Q or alpha >= _MAX_ALPHA:
            raise ValueError(
                f"q={q}, alpha={numbers.write(alpha)} stated: at most {_MAX_Q}, below {_MAX_ALPHA}"
            )
        family = Lwe(n=n, q=q, alpha=alpha)
        if foreign := _FOREIGN.search(body):
            raise ValueError(f"{quoted(foreign[0])} stands where numbers of 0 .. q - 1 are wanted")
        if not _BODY.fullmatch(body):
            raise ValueError("b in brackets, then A in brackets, its rows in brackets, are wanted")
        parts = [[int(v) for v in row.replace(",", " ").split()] for row in _ROW.findall(body)]
        sizes = [len(part) for part in parts]
        if len(sizes) != m + 1 or sizes != [m] + [n] * m:
            raise ValueError(
                f"b has {sizes[0]} numbers, and A {len(sizes) - 1} rows of {set(sizes[1:]) or 0} "
                f"numbers: n={n}, m={m} are stated"
            )
    except (ValueError, UsageError) as error:
        raise DamagedFile(
            f"{path} is no LWE challenge: {one_line(error, 300)}; a table of integers, n "
            "columns of A and one of b, is read from .csv with its --spec"
        ) from error
    return family, {"a": np.array(parts[1:], np.int64), "b": np.array(parts[0], np.int64)}


def _checked(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    family: Modular,
    lines: Mapping[str, Sequence[int]],
) -> Samples:
    """Make samples from arrays; raises DamagedFile for other shapes, types or ranges.

    lines: for `a` and `b`, the lines of a file of text that have their rows.
    """
    a, b = arrays.get("a", arrays.get("A")), arrays.get("b")
    if a is None or b is None:
        names = ", ".join(arrays)[:80] or "nothing"
        raise DamagedFile(f"{path} holds {names}: A and b are wanted")
    parts = {"a": _whole(path, "a", a), "b": _whole(path, "b", b)}
    n, notes = family.n, list[str]()
    if b.ndim != 1 or not b.size or a.shape != (len(b), n):
        raise DamagedFile(
            f"{path}: a is {a.shape} and b {b.shape}: (N, {n}) and (N,) are wanted, N > 0"
        )
    if family.q == 2 and any((part == -1).any() for part in parts.values()):
        parts = {name: _bits(path, name, part) for name, part in parts.items()}
        notes.append("entries 1 and -1 are signs: they are read as bits 0 and 1")
    for (name, value), bound in zip(parts.items(), (family.q, family.outcomes), strict=True):
        wrong = np.argwhere((value < 0) | (value >= bound))
        if not len(wrong):
            continue
        bad, advice, row = value[tuple(wrong[0])], "", wrong[0][0]
        numbered = lines.get(name)
        place = f"line {numbered[row]}" if numbered else f"row {row} of 0 .. {len(value) - 1}"
        if bound == family.q > 2:  # mod 2 it may be a sign
            low = f"take {name} % {bound}"
            advice = f"; {low}" if bad < 0 else f"; give its q, or {low}"
        raise DamagedFile(
            f"{path}: {place}: {name} has {bad}: {family.name} with q={family.q} has "
            f"0 .. {bound - 1}{advice}"
        )
    a, b = (part.astype(np.int64) for part in parts.values())
    return Samples(family=family, a=a, codes=b, notes=tuple(notes))


def _whole(path: Path, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Read integers, also stored as bools or as exact floats; raises DamagedFile."""
    if values.dtype.kind == "f":
        exact = 2.0 ** (np.finfo(values.dtype).nmant + 1)
        broken = values[~((abs(values) < exact) & (values == np.rint(values)))]
        if broken.size:
            raise DamagedFile(f"{path}: {name} has {broken[0]:g}: integers are wanted")
        return values.astype(np.int64)
    return values.astype(np.int64) if values.dtype.kind == "b" else values


def _bits(path: Path, name: str, part: NDArray[Any]) -> NDArray[Any]:
    """Read signs 1, -1 as bits 0, 1; bits stay. Raises DamagedFile for a mixture of both."""
    signed = bool((part == -1).any())
    if (abs(part) != 1).any() if signed else (part == 1).all():
        raise DamagedFile(
            f"{path}: {name} has {'-1 among bits' if signed else '1 alone'}, other entries are "
            "signs: write a and b as bits 0, 1, or as signs 1, -1, which are read as 0, 1"
        )
    return (1 - part) // 2 if signed else part
