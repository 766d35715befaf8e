"""The parts of BKW: how many rounds of which blocks, one round, and the transform at the end."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hardness.kernels import walsh
from instances.modular import Modular

MOST_SAMPLES = 1 << 22
MOST_ENTRIES = 1 << 22  # of a transform
_MARGIN = 7.0  # standard deviations by which the true peak stands above the largest other one
_PER_BUCKET = 3  # samples, which make as many differences within buckets
_MOST_ROUNDS = 8

Labels = NDArray[np.float64] | NDArray[np.complex128]


@dataclass(frozen=True, kw_only=True)
class BlocksPlan:
    """Rounds, coordinates that a round clears, coordinates in the transform, samples to start with.

    kept: samples in a round; amplified: whether sums of pairs of the samples start it.
    """

    rounds: int
    block: int
    last: int
    samples: int
    kept: int
    amplified: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Samples on some coordinates: a (N, n) in 0 .. q-1, labels (N,), of mean square 1."""

    q: int
    a: NDArray[np.unsignedinteger]
    labels: Labels

    def difference(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> "Rows":
        """Subtract samples j from samples i."""
        left = self.a[i]
        left += self.a.dtype.type(self.q) - self.a[j]
        left %= self.a.dtype.type(self.q)
        return Rows(q=self.q, a=left, labels=self.labels[i] * np.conj(self.labels[j]))


def character(family: Modular) -> tuple[Labels, float]:
    """Compute E[w^t | code], t uniform, to mean square 1: (levels,), and its size before that.

    >>> from instances import parse
    >>> found, gain = character(parse("lpn:n=8,noise=0.1"))
    >>> found.round(9).tolist(), round(gain, 9)
    ([1.0, -1.0], 0.8)
    """
    q, levels = family.q, len(family.levels)
    w = np.exp(2j * np.pi * np.arange(q) / q)
    if family.errors is None:
        share = np.bincount(family.table, minlength=levels) / q
        mean = np.bincount(family.table, w.real, levels) + 1j * np.bincount(
            family.table, w.imag, levels
        )
        found = mean / (share * q)
    else:
        share = np.full(q, 1 / q)
        found = w * complex(family.chances @ np.conj(w))
    size = math.sqrt(float(share @ np.abs(found) ** 2))
    if size < 1e-9:
        return found, 0.0
    found = found / size
    return (found.real if q == 2 else found), size


def choose(q: int, n: int, gain: float, have: int | None = None) -> BlocksPlan | None:
    """Find the rounds and blocks with the least work, for as many samples as there are.

    gain: the mean of a sample's label times the conjugate of its true character, which a round
    squares. None where nothing fits.

    >>> choose(2, 32, 0.8)
    BlocksPlan(rounds=2, block=10, last=12, samples=3075, kept=3075, amplified=False)
    """
    best: tuple[float, BlocksPlan] | None = None
    for last in range(1, n + 1):
        if q**last > MOST_ENTRIES:
            break
        for rounds in range(0 if last == n else 1, _MOST_ROUNDS + 1 if last < n else 1):
            block = -(-(n - last) // rounds) if rounds else 0
            for amplified in (False, True):
                plan = _plan(q, last, rounds, block, gain, amplified)
                if plan is None or (have is None and amplified) or plan.samples > (have or 2**62):
                    continue
                work = (rounds + amplified + 1) * plan.kept * n + last * q**last
                if best is None or work < best[0]:
                    best = work, plan
    return best and best[1]


def _plan(
    q: int, last: int, rounds: int, block: int, gain: float, amplified: bool
) -> BlocksPlan | None:
    left = gain ** (2 ** (rounds + amplified))
    if left < 1e-3 or q**block > MOST_SAMPLES:
        return None
    peak = (math.sqrt(2 * last * math.log(q)) + _MARGIN) / left
    buckets = q**block // (1 if q == 2 else 2) + 1
    kept = max(math.ceil(peak**2), _PER_BUCKET * buckets if rounds else 0)
    if kept > MOST_SAMPLES:
        return None
    samples = math.ceil(math.sqrt(2 * kept)) + 1 if amplified else kept
    return BlocksPlan(
        rounds=rounds, block=block, last=last, samples=samples, kept=kept, amplified=amplified
    )


def amplify(rows: Rows, count: int) -> Rows:
    """Make `count` samples of the differences of pairs, near pairs first."""
    size = len(rows.labels)
    left, right, lag, made = [], [], 1, 0
    while made < count and lag < size:
        left.append(np.arange(size - lag))
        right.append(left[-1] + lag)
        made, lag = made + size - lag, lag + 1
    return rows.difference(np.concatenate(left)[:count], np.concatenate(right)[:count])


def clear(rows: Rows, block: int, count: int) -> Rows:
    """Clear the first coordinates: differences of samples, or sums, that agree in them. [LF06]

    At most `count`, near pairs first. The cleared coordinates are cut off.
    """
    q, block = rows.q, min(block, rows.a.shape[1])
    key = np.zeros(len(rows.a), np.int64)
    mirror = np.zeros(len(rows.a), np.int64)
    for j in range(block):
        column = rows.a[:, j].astype(np.int64)
        key, mirror = key * q + column, mirror * q + (q - column) % q
    a, labels = rows.a, rows.labels
    flip = mirror < key
    if flip.any():
        a, labels = a.copy(), labels.copy()
        a[flip] = (q - a[flip]) % q
        labels[flip] = np.conj(labels[flip])
    order = np.argsort(np.minimum(key, mirror), kind="stable")
    sorted_key = np.minimum(key, mirror)[order]
    left, right, lag, made = [order[:0]], [order[:0]], 1, 0
    while made < count and lag < len(order):
        same = np.flatnonzero(sorted_key[lag:] == sorted_key[:-lag])
        if not len(same):
            break
        left.append(order[same + lag])
        right.append(order[same])
        made, lag = made + len(same), lag + 1
    kept = Rows(q=q, a=a[:, block:], labels=labels)
    return kept.difference(np.concatenate(left)[:count], np.concatenate(right)[:count])


def scores(rows: Rows) -> NDArray[np.float64]:
    """Score all values of the coordinates: sum of labels times w^-<a, s>, real part, (q^n,).

    Divided by the root of the number of samples, so that all but the true one are about 1 in size.
    """
    q, n = rows.q, rows.a.shape[1]
    place = np.zeros(len(rows.a), np.int64)
    for j in range(n):
        place = place * q + rows.a[:, j]
    root = math.sqrt(max(1, len(place)))
    if q == 2:
        out = np.bincount(place, np.real(rows.labels), 2**n) / root
        walsh.transform(out)
        return out
    from scipy.fft import fftn

    values = np.bincount(place, rows.labels.real, q**n) + 1j * np.bincount(
        place, rows.labels.imag, q**n
    )
    return np.asarray(fftn(values.reshape((q,) * n)).real.reshape(-1) / root)
