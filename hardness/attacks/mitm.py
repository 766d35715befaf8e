"""Meet in the middle: sums of half of the secret, matched on a few samples. [HG07]

For every candidate of one half, sums over the samples are computed, and candidates are sorted by
the parts of Z_q that contain the first few sums. Each candidate of the other half determines the
parts where matching sums may lie. Coordinates are cut into a window and its complement; among all n
rotations of the window one has half of the secret's entries [Sti02]. Rare errors are ignored, and
other samples are tried instead. A pair is claimed if all samples confirm it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hardness.attacks.core import SecretSearch, costs, nonzero_values, samples_to_confirm
from hardness.numerics.sparse_search import HalfSums, PairFit, SortedSums
from instances.family import Secret
from instances.limits import require_memory
from instances.lwe import Modular
from instances.samples import Samples

MOST_HALVES = 1 << 30  # half secrets
_BATCH_WORK = 1 << 25  # pairs and parts tried before the best candidate is reported
_RARE_ERRORS = 2.0**-16  # errors of a smaller probability are ignored
_LOG_FAILURE = math.log(
    2.0**-20
)  # ln of the probability to miss the secret in all blocks of samples
_MOST_KEYS = 1 << 22
_MOST_KEYED = 24


@dataclass(frozen=True, kw_only=True)
class MeetInTheMiddle(SecretSearch):
    """Matches halves of the secret, for each rotation of the window and block of samples."""

    name: ClassVar[str] = "mitm"
    about: ClassVar[str] = "meet in the middle: square-root time and memory for sparse secrets"

    def unsupported_reason(self, forms: Modular) -> str | None:
        """Return None if the list of half secrets is small enough, else the reason."""
        size = max(halves(forms))
        if size > MOST_HALVES:
            most = f"at most 2^30 are sorted{_advice(forms)}"
            return f"it has 2^{math.log2(size):.1f} half secrets, {most}"
        return None

    def sample_count(self, forms: Modular) -> int:
        """Return the number of samples for all keys, and to confirm a secret."""
        chosen = plan(forms)
        listed = f"the list of sorted half secrets of {forms.spec}{_advice(forms)}"
        require_memory(2 * chosen.bytes, listed)
        return max(samples_to_confirm(forms), chosen.keyed * chosen.blocks)

    def candidates(self, gathered: Samples, details: dict[str, Any]) -> Iterator[Secret | None]:
        """Match halves for every block of samples and every rotation, in steps."""
        forms = gathered.family
        chosen = plan(forms)
        if len(gathered) < chosen.samples:
            chosen = plan(forms, len(gathered))
        blocks = max(1, min(chosen.blocks, len(gathered) // chosen.keyed))
        step = max(1, min(chosen.left, int(_BATCH_WORK * chosen.left / chosen.work)))
        details |= {"keyed": chosen.keyed, "buckets": chosen.buckets, "list_bytes": chosen.bytes}
        details["tried"] = 0
        for block in range(blocks):
            for rotation in range(forms.n if forms.h else 1):
                for tried, secret in meet(gathered, chosen, rotation, block, step):
                    details["tried"] += tried
                    yield secret


def _advice(forms: Modular) -> str:
    """Return advice on how to shorten the list of half secrets."""
    return "" if forms.h else " (give h, if it is known how many entries are not 0)"


def meet(
    gathered: Samples, chosen: "MiddlePlan", rotation: int, block: int, step: int
) -> Iterator[tuple[int, Secret | None]]:
    """Match the halves of a rotation on a block of samples, `step` left halves at a time.

    Yields the number of pairs tried, and the secret of the cheapest pair or None.
    """
    family, n = gathered.family, gathered.family.n
    turned = (np.arange(n) + rotation * stride(n)) % n
    some = gathered.take(np.roll(np.arange(len(gathered)), -chosen.keyed * block)[: chosen.samples])
    values = np.array(nonzero_values(family), np.int64)
    columns = (values[:, None, None] * some.a.T % family.q).astype(np.uint32)
    places, halves = (turned[: n // 2], turned[n // 2 :]), list[HalfSums]()
    for part, weight in zip(places, (family.h // 2, family.h - family.h // 2), strict=True):
        weights = (weight,) if family.h else tuple(range(len(part) + 1))
        some_columns = np.ascontiguousarray(columns[:, part])
        halves.append(HalfSums(columns=some_columns, q=family.q, weights=weights))
    (left, right), interval = halves, explained(family)
    span: Any = {"low": interval.low, "width": interval.width}
    fit = PairFit(**vars(costs(some)), **span, keyed=chosen.keyed, buckets=chosen.buckets)
    ordered = SortedSums(right.sums(0, len(right)), fit)
    for start in range(0, chosen.left, step):
        tried, pair = ordered.cheapest_pair(left.sums(start, step))
        if pair is None:
            yield tried, None
            continue
        secret = np.zeros(n, np.int64)
        pair_entries = left.entries(start + pair[0]), right.entries(pair[1])
        for half, entries in zip(places, pair_entries, strict=True):
            for j, number in entries:
                secret[half[j]] = values[number]
        yield tried, tuple(secret.tolist())


@dataclass(frozen=True, kw_only=True, eq=False)
class Explained:
    """The interval of sums that explains a label: width[i] numbers from low[i] on, mod q.

    i is the row of the label. share: (rows,), the frequency of each row. hit: the probability that
    the true sum lies in the interval.
    """

    low: NDArray[np.int64]
    width: NDArray[np.int64]
    share: NDArray[np.float64]
    hit: float


class MiddlePlan(NamedTuple):
    """A plan of the search.

    left, right: numbers of half secrets. keyed: samples in a key. buckets: parts of Z_q. blocks: of
    samples that are tried. samples: in a list. work: pairs and parts tried in one rotation, about.
    bytes: of the sorted list.
    """

    left: int
    right: int
    keyed: int
    buckets: int
    blocks: int
    samples: int
    work: float
    bytes: int


def explained(family: Modular) -> Explained:
    """Find the numbers <a, s> (minus the label, if there are errors) that explain a label.

    >>> from instances import parse
    >>> interval = explained(parse("lwr:n=4,q=8,p=4,secret=binary"))
    >>> interval.low.tolist(), interval.width.tolist()
    ([0, 2, 4, 6], [2, 2, 2, 2])
    """
    q = family.q
    if family.errors is None:
        width = np.bincount(family.table, minlength=family.outcomes)
        low = np.array([int(np.argmax(family.table == c)) for c in range(len(width))])
        return Explained(low=low, width=width, share=width / q, hit=1.0)
    by_sum = family.chances[-np.arange(q) % q]
    first = last = int(by_sum.argmax())
    mass = float(by_sum[first])
    while mass < 1 - _RARE_ERRORS and last - first + 1 < max(1, q // 2):
        more = max(last + 1, first - 1, key=lambda t: by_sum[t % q])
        first, last, mass = min(first, more), max(last, more), mass + float(by_sum[more % q])
    low, width = np.array([first % q]), np.array([last - first + 1])
    return Explained(low=low, width=width, share=np.ones(1), hit=min(mass, 1.0))


@cache
def plan(family: Modular, at_most: int | None = None) -> MiddlePlan:
    """Choose the keys of least work; at_most: the number of samples, if it is limited.

    >>> from instances import parse
    >>> plan(parse("lwr:n=40,q=1024,p=4,secret=binary,h=6")).left
    1140
    """
    left, right = halves(family)
    where, count = explained(family), samples_to_confirm(family)
    if at_most is not None:
        count = min(count, at_most)
    buckets = {1 << i for i in range(1, family.q.bit_length())} | {family.q}
    best, wide = None, 2 if family.q <= 1 << 16 else 4
    for many in sorted(buckets):
        spans = np.minimum(many, (where.width - 1) * many / family.q + 1)
        span = float(where.share @ spans)
        for keyed in range(1, _MOST_KEYED + 1):
            if many**keyed > max(_MOST_KEYS, right) or keyed > count:
                break
            blocks = _blocks(where.hit**keyed)
            each = span**keyed * keyed + right * (span / many) ** keyed + count
            if best is None or left * each * blocks < best.work * best.blocks:
                samples, work = max(count, keyed), left * each
                size = right * (wide * samples + 24) + 8 * many**keyed
                best = MiddlePlan(left, right, keyed, many, blocks, samples, work, size)
    assert best is not None
    return best


def stride(n: int) -> int:
    """Return a step coprime to n that spreads the first rotations over all n.

    >>> stride(40), stride(1)
    (17, 1)
    """
    near, steps = round(n * (3 - math.sqrt(5)) / 2), range(1, n + 1)
    return min((s for s in steps if math.gcd(s, n) == 1), key=lambda s: (abs(s - near), -s))


def halves(family: Modular) -> tuple[int, int]:
    """Return the number of candidates for each half."""
    values, n, light = len(nonzero_values(family)), family.n // 2, family.h // 2
    if not family.h:
        return (values + 1) ** n, (values + 1) ** (family.n - n)
    heavy = family.h - light
    return (math.comb(n, light) * values**light, math.comb(family.n - n, heavy) * values**heavy)


def _blocks(hit: float) -> int:
    """Return how many blocks of samples contain, almost surely, one without a rare error."""
    return 1 if hit > 1 - 2.0**-11 else math.ceil(_LOG_FAILURE / math.log1p(-hit))
