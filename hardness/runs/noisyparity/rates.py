"""What one step of each algorithm takes on this machine, measured."""

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from hardness.upper.attack import needed
from hardness.upper.bruteforce import enumeration
from hardness.upper.equations import equations
from hardness.upper.restricted import best_k, work
from instances import tokens
from instances.capabilities import NOISY_PARITIES
from instances.family import Family
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import samples

_LONG = 0.1  # seconds that a rate is measured for, at least
_AT_ONCE = 4096
_QUERY = 1 << 16  # examples of the query that is timed
_PAIRS = 512  # rows of the block of pairs that is timed
_NUMBERS = 1 << 25  # int64 of the samples that candidates are tried on, at most


@dataclass(frozen=True, kw_only=True)
class Rates:
    """Seconds on one core, each from a loop of at least 0.1 s, compiled before it is timed.

    candidate: one of brute force, given up early; word: an operation on a word of restricted
    elimination, as `hardness.upper.restricted.work` counts; group: a word of one group of examples
    in a low-degree test; query: an example of one parity's average, from packed columns; example:
    drawing one of the layer and reading its equation.
    """

    candidate: float
    word: float
    group: float
    query: float
    example: float
    machine: str

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "machine" and not (type(value) is float and 0 < value < 1e6):
                raise ValueError(f"a rate '{field.name}' of {value!r} seconds")


def measure(family: Family, seed: int = 0) -> Rates:
    """Measure all rates on an instance of a parity or of lpn: about a second."""
    lpn = NOISY_PARITIES.need(family)
    instance = family.instance(seed)
    count = min(needed(lpn), max(_AT_ONCE, _NUMBERS // lpn.n))
    drawn = instance.examples(0, 2 * count + 64)
    require_memory(24 * count * lpn.n, f"{count} samples of {lpn.spec}")
    draw = _seconds(lambda: len(equations(instance.examples(0, _AT_ONCE)).words) and _AT_ONCE)
    search = enumeration(samples(drawn).cut(0, count))
    weight = lpn.h or (lpn.n + 1) // 2
    found = equations(drawn)
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2**64, (weight + 1, _QUERY // 64), np.uint64)
    rows = rng.integers(0, 2**64, (2 * _PAIRS, tokens.words_per_token(lpn.d)), np.uint64)
    return Rates(
        candidate=_seconds(partial(_search, search.run, weight)),
        word=_seconds(partial(_trials, found.words, found.codes, lpn)),
        group=_seconds(partial(_groups, rows, rng.random(lpn.d + 64))),
        query=_seconds(partial(_average, columns)),
        example=draw,
        machine=f"{platform.system()} {platform.machine()}",
    )


def _seconds(step: Callable[[], float]) -> float:
    """Time a step again and again: seconds for each of the units that it says it did."""
    step()  # compiles, and is not timed
    done, start = 0.0, time.perf_counter()
    while (passed := time.perf_counter() - start) < _LONG or not done:
        done += step()
    return passed / done


def _search(run: Callable[[int, int, int], tuple[int, object]], weight: int) -> int:
    return run(weight, 0, 1 << 12)[0]


def _trials(words: NDArray[np.uint64], codes: NDArray[np.uint8], lpn: Modular) -> float:
    """Do trials that find nothing, as no number of errors is below 0."""
    from hardness.kernels import _restricted_jit as compiled

    kept = min(best_k(lpn.d, lpn.h or lpn.n, lpn.noise), len(words) - 1)
    each = work(lpn.d, kept)
    count = max(1, int(1e6 / each))
    out = np.zeros(words.shape[1], np.uint64)
    compiled.trials(words, codes, lpn.n, kept, lpn.h, 1, -1, 0, count, out)
    return count * each


def _groups(rows: NDArray[np.uint64], values: NDArray[np.float64]) -> int:
    """Sum a function of the weight of the product over all pairs of two blocks."""
    first, second = rows[:_PAIRS], rows[_PAIRS:]
    weights = np.zeros((_PAIRS, _PAIRS), np.int64)
    for a, b in zip(first.T, second.T, strict=True):
        weights += np.bitwise_count(a[:, None] ^ b)
    values[weights % len(values)].sum()
    return weights.size * rows.shape[1]


def _average(columns: NDArray[np.uint64]) -> int:
    """Count where a parity differs from the labels, which are the last column."""
    np.bitwise_count(np.bitwise_xor.reduce(columns, axis=0)).sum()
    return 64 * columns.shape[1]
