"""BKW: subtract samples that agree in a block of coordinates, until few coordinates are left.

Then a Fourier transform over Z_q^m scores all values of the remaining coordinates. A label enters
as its mean character u = E[w^<a,s> | label], w = exp(2 pi i/q), so LPN, LWE and LWR are one case:
the difference of two samples has u u'*. Known coordinates are then removed, and the others are
found in the same way. A secret is claimed if the samples confirm it, before any subtraction.
[BKW03, LF06, ACFFP15, DTV15]
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.core import SecretSearch, nonzero_values, samples_to_confirm
from hardness.numerics.walsh import walsh_hadamard
from instances.family import Secret
from instances.lwe import Modular
from instances.residues import dot
from instances.samples import Samples
from instances.streams import generator

_MOST_SAMPLES = 1 << 22
_MOST_ENTRIES = 1 << 22  # of a transform
_PEAK_MARGIN = 7.0  # standard deviations between the true peak and the largest other one
_SAMPLES_PER_BUCKET = 3  # which give equally many differences
_MOST_ROUNDS = 8
_MOST_ORDERS = 8  # orders of the coordinates that are tried
_PEAKS = 64  # of the transform that are examined
_BRANCHES = 3  # peaks that are followed: after differences s and -s may be equivalent

Labels = NDArray[np.float64] | NDArray[np.complex128]


class BlocksPlan(NamedTuple):
    """A plan: rounds, coordinates cleared per round (block), coordinates in the transform (last).

    samples: at the start. kept: samples in a round. amplified: whether all pairs of samples are
    combined at the start.
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
    """Compute E[w^t | code], t uniform, scaled to mean square 1: (levels,), and the scale.

    >>> from instances import parse
    >>> labels, gain = character(parse("lpn:n=8,noise=0.1"))
    >>> labels.round(9).tolist(), round(gain, 9)
    ([1.0, -1.0], 0.8)
    """
    q, levels = family.q, family.outcomes
    w = np.exp(2j * np.pi * np.arange(q) / q)
    if family.errors is None:
        share = np.bincount(family.table, minlength=levels) / q
        labels = _added(family.table, w, levels) / (share * q)
    else:
        share = np.full(q, 1 / q)
        labels = w * complex(family.chances @ np.conj(w))
    size = math.sqrt(float(share @ np.abs(labels) ** 2))
    if size < 1e-9:
        return labels, 0.0
    labels = labels / size
    return (labels.real if q == 2 else labels), size


def choose(q: int, n: int, gain: float, have: int | None = None) -> BlocksPlan | None:
    """Find the plan of least work; have: the number of samples, None if it is free.

    gain: the mean of a label times the conjugate of its true character; a round squares it. None if
    no plan fits.

    >>> choose(2, 32, 0.8)
    BlocksPlan(rounds=2, block=10, last=12, samples=3075, kept=3075, amplified=False)
    """
    plans = list[BlocksPlan]()
    for last in range(1, n + 1):
        if q**last > _MOST_ENTRIES:
            break
        for rounds in range(0 if last == n else 1, _MOST_ROUNDS + 1 if last < n else 1):
            block = -(-(n - last) // rounds) if rounds else 0
            for amplified in (False, True) if have else (False,):
                plan = _plan(q, last, rounds, block, gain, amplified)
                plans += [plan] if plan and plan.samples <= (have or 2**62) else []

    def work(p: BlocksPlan) -> int:
        return (p.rounds + p.amplified + 1) * p.kept * n + p.last * q**p.last

    return min(plans, key=work, default=None)


def _plan(
    q: int, last: int, rounds: int, block: int, gain: float, amplified: bool
) -> BlocksPlan | None:
    final_gain = gain ** (2 ** (rounds + amplified))
    if final_gain < 1e-3 or q**block > _MOST_SAMPLES:
        return None
    peak = (math.sqrt(2 * last * math.log(q)) + _PEAK_MARGIN) / final_gain
    buckets = q**block // (1 if q == 2 else 2) + 1
    kept = max(math.ceil(peak**2), _SAMPLES_PER_BUCKET * buckets if rounds else 0)
    if kept > _MOST_SAMPLES:
        return None
    samples = math.ceil(math.sqrt(2 * kept)) + 1 if amplified else kept
    return BlocksPlan(rounds, block, last, samples, kept, amplified)


def clear(rows: Rows, block: int, count: int) -> Rows:
    """Clear and remove the first `block` coordinates by up to `count` differences. [LF06]"""
    q, block = rows.q, min(block, rows.a.shape[1])
    first = rows.a[:, :block]
    key, mirror = _numbered(first, q), _numbered((q - first) % q, q)
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

    They are divided by the root of the number of samples, so wrong values have a size of about 1.
    """
    q, n = rows.q, rows.a.shape[1]
    place = _numbered(rows.a, q)
    root = math.sqrt(max(1, len(place)))
    if q == 2:
        out = np.bincount(place, np.real(rows.labels), 2**n) / root
        walsh_hadamard(out)
        return out
    from scipy.fft import fftn

    values = _added(place, rows.labels, q**n).reshape((q,) * n)
    return np.asarray(fftn(values).real.reshape(-1) / root)


def _numbered(a: NDArray[np.unsignedinteger], q: int) -> NDArray[np.int64]:
    """Read rows (N, n) as numbers in base q: (N,)."""
    return a.astype(np.int64) @ q ** np.arange(a.shape[1])[::-1]


def _added(places: NDArray[np.integer[Any]], values: Labels, size: int) -> Labels:
    """Sum complex values by place: (size,)."""
    return np.bincount(places, values.real, size) + 1j * np.bincount(places, values.imag, size)


@dataclass(frozen=True, kw_only=True)
class Bkw(SecretSearch):
    """Runs BKW for several fixed orders of the coordinates; with few samples it amplifies them."""

    name: ClassVar[str] = "bkw"
    about: ClassVar[str] = "BKW with a Fourier transform at the end: LPN, LWE and LWR of small size"

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return None if there is a plan, else the reason."""
        if choose(forms.q, forms.n, character(forms)[1]) is None:
            return "it takes more than 2^22 samples, or labels say nothing of <a, s>"
        return None

    def sample_count(self, forms: Modular) -> int:
        """Return the number of samples of the plan without amplification."""
        plan = choose(forms.q, forms.n, character(forms)[1])
        return max(samples_to_confirm(forms), plan.samples if plan else 0)

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret | None]:
        """Propose secrets for each order of the coordinates."""
        forms = gathered.family
        plan = choose(forms.q, forms.n, character(forms)[1], len(gathered))
        if plan is None:
            return
        details |= {"rounds": plan.rounds, "block": plan.block, "amplified": plan.amplified}
        for index in range(_MOST_ORDERS):
            details["order"] = index
            yield from by_order(gathered, generator(0, "bkw", "order", index).permutation(forms.n))


def by_order(gathered: Samples, order: NDArray[np.intp]) -> Iterator[Secret | None]:
    """Find secrets by the peaks of transforms, largest peaks first."""
    family, q = gathered.family, gathered.q
    labels, gain = character(family)
    labels = labels[gathered.codes]
    narrow = np.uint8 if q <= 128 else np.uint32
    allowed = np.zeros(q, np.bool_)
    allowed[[0, *(v % q for v in nonzero_values(family))]] = True
    known: list[tuple[int, ...]] = [
        ()
    ]  # values of the coordinates order[n - len:], still to be extended
    while known:
        tail = known.pop()
        missing = family.n - len(tail)
        if not missing:
            entries = np.zeros(family.n, np.int64)
            entries[order] = tail
            yield family.secrets.lift(entries.tolist())
            continue
        plan = choose(q, missing, gain, len(gathered))
        if plan is None:
            continue
        partial = np.zeros(family.n, np.int64)
        partial[order[missing:]] = tail
        turned = labels * np.exp(-2j * np.pi * dot(gathered.a, partial, q) / q)
        left: Any = gathered.a[:, order[:missing]].astype(narrow)
        rows = Rows(q=q, a=left, labels=turned.real if q == 2 else turned)
        if plan.amplified:
            rows = clear(rows, 0, plan.kept)  # differences of all pairs
        for _ in range(plan.rounds):
            rows = clear(rows, min(plan.block, rows.a.shape[1] - plan.last), plan.kept)
        known += [(*peak, *tail) for peak in peaks(rows, allowed)[::-1]]


def peaks(rows: Rows, allowed: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the allowed values of the coordinates with the highest scores, a few."""
    total, n = scores(rows), rows.a.shape[1]
    some = np.argpartition(total, -min(_PEAKS, len(total)))[-_PEAKS:]
    top = some[np.argsort(total[some])[::-1]]
    values = np.array(np.unravel_index(top, (rows.q,) * n)).T
    good = values[allowed[values].all(axis=1)]
    return [tuple(map(int, row)) for row in good[:_BRANCHES]]
