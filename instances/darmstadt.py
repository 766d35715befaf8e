"""The text format of the TU Darmstadt LWE challenge: parsed strictly, never evaluated.

Lines n, m, q and alpha (errors have the standard deviation alpha q), then b in brackets, m numbers,
then A in brackets, m rows in brackets of n numbers each. [BBGRS16]
"""

import re
from fractions import Fraction
from pathlib import Path
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from instances import numbers
from instances.errors import DamagedFile, UsageError
from instances.families.lwe import Lwe
from instances.modular import Modular
from instances.numbers import write
from instances.strict import one_line

_MAX_Q = 1 << 16
_MAX_ALPHA = Fraction(1, 8)  # above it labels say next to nothing
_DIGITS = 15  # of a number; more than q has
_BODY = re.compile(r"\s*\[([^\[\]]*)\][\s,]*\[\s*((?:\[[^\[\]]*\][\s,]*)*)\]\s*")
_ROW = re.compile(r"\[([^\[\]]*)\]")
_FOREIGN = re.compile(r"[^0-9\[\],\s][^\[\],\s]{0,20}")
_LONG = re.compile(rf"[0-9]{{{_DIGITS + 1},}}")
Challenge = tuple[Lwe, NDArray[np.int64], NDArray[np.int64]]  # of samples a (N, n), b (N,)


def read_challenge(path: Path, text: str) -> Challenge:
    """Read the text of a challenge, of the family lwe:n=..,q=..,alpha=..; raises DamagedFile."""
    try:
        return _parse(text)
    except (ValueError, UsageError) as error:
        raise DamagedFile(
            f"{path} is no LWE challenge: {one_line(error, 300)}; a table of integers, n "
            "columns of A and one of b, is read from .csv with its --spec"
        ) from error


def states(family: Modular) -> TypeGuard[Lwe]:
    """Return whether a challenge file can say a family: lwe with alpha, a decimal, and no more."""
    if not isinstance(family, Lwe) or not family.alpha or "/" in write(family.alpha):
        return False
    return family == Lwe(n=family.n, q=family.q, alpha=family.alpha)


def challenge(family: Lwe, a: NDArray[np.int64], b: NDArray[np.int64]) -> str:
    """Write samples of a family that `states` takes, at least one, as the text of a challenge."""
    first, *rows = (f"[{' '.join(map(str, row))}]" for row in (b.tolist(), *a.tolist()))
    head = (family.n, len(b), family.q, write(family.alpha), first)
    return "\n".join((*map(str, head), f"[{rows[0]}", *rows[1:])) + "]\n"


def _parse(text: str) -> Challenge:
    if not text.isascii():
        raise ValueError("it is no ASCII text")
    head = text.split("\n", 4)
    if len(head) < 5:
        raise ValueError("it ends before b and A, after lines n, m, q and alpha")
    n, m, q = (_count(line, name) for line, name in zip(head, "nmq", strict=False))
    alpha = numbers.parse(head[3][:100], Fraction, "alpha")
    if q > _MAX_Q or alpha >= _MAX_ALPHA:  # a table of errors takes its time
        raise ValueError(
            f"q={q}, alpha={write(alpha)} stated: at most {_MAX_Q}, below {_MAX_ALPHA}"
        )
    family = Lwe(n=n, q=q, alpha=alpha)
    body = head[4]
    if found := _FOREIGN.search(body):
        raise ValueError(f"{found[0]!r} stands where numbers of 0 .. q - 1 are wanted")
    if found := _LONG.search(body):
        raise ValueError(f"a number of {len(found[0])} digits: at most {_DIGITS} are read")
    if m * n > len(body):
        raise ValueError(f"m={m} and n={n} stated, more numbers than the file has bytes")
    parts = _BODY.fullmatch(body)
    if parts is None:
        raise ValueError("b in brackets, then A in brackets with its rows in brackets are wanted")
    b = _numbers(parts[1], "b", m, q)
    rows = _ROW.findall(parts[2])
    if len(rows) != m:
        raise ValueError(f"A has {len(rows)} rows, m={m} is stated")
    a = np.array([_numbers(row, f"row {i + 1} of A", n, q) for i, row in enumerate(rows)])
    return family, a, b


def _count(line: str, name: str) -> int:
    found = numbers.parse(line[:40], int, name)
    if found < 1:
        raise ValueError(f"{name}={found} stated: at least 1")
    return found


def _numbers(text: str, what: str, count: int, q: int) -> NDArray[np.int64]:
    words = text.replace(",", " ").split()
    if len(words) != count:
        raise ValueError(f"{what} has {len(words)} numbers, {count} are stated")
    out = np.array([int(w) for w in words], np.int64)
    if (out >= q).any():
        raise ValueError(f"{what} has {int(out.max())}: values are 0 .. q - 1 = {q - 1}")
    return out
