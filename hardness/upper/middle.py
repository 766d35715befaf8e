"""How a meeting in the middle goes: which sums explain a label, and what makes the least work."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hardness.upper.attack import needed
from hardness.upper.search import values_of
from instances.modular import Modular

_RARE = 2.0**-16  # the chance of errors that are passed over where they are few
_SURE = math.log(2.0**-20)  # of passing over the secret in all blocks of samples
_MOST_KEYS = 1 << 22
_MOST_KEYED = 24


@dataclass(frozen=True, kw_only=True, eq=False)
class Explained:
    """Labels of row i are explained by sums in width[i] numbers from low[i] on, mod q.

    share: (rows,), how often each is met; hit: the chance that the true sum lies there.
    """

    low: NDArray[np.int64]
    width: NDArray[np.int64]
    share: NDArray[np.float64]
    hit: float


@dataclass(frozen=True, kw_only=True)
class MiddlePlan:
    """Sizes of the halves, samples in a key, parts of Z_q, blocks of samples, samples in a list.

    work: pairs and parts that are looked at in one rotation, about; bytes: of the sorted list.
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
    """Find the numbers <a, s> (less the label, where there are errors) that explain a label.

    >>> from instances import parse
    >>> found = explained(parse("lwr:n=4,q=8,p=4,secret=binary"))
    >>> found.low.tolist(), found.width.tolist()
    ([0, 2, 4, 6], [2, 2, 2, 2])
    """
    q = family.q
    if family.errors is None:
        width = np.bincount(family.table, minlength=len(family.levels))
        low = np.array([int(np.argmax(family.table == c)) for c in range(len(width))])
        return Explained(low=low, width=width, share=width / q, hit=1.0)
    by_sum = family.chances[-np.arange(q) % q]
    low_end = high_end = int(by_sum.argmax())
    mass = float(by_sum[low_end])
    while mass < 1 - _RARE and high_end - low_end + 1 < max(1, q // 2):
        if by_sum[(low_end - 1) % q] > by_sum[(high_end + 1) % q]:
            low_end -= 1
            mass += float(by_sum[low_end % q])
        else:
            high_end += 1
            mass += float(by_sum[high_end % q])
    return Explained(
        low=np.array([low_end % q]),
        width=np.array([high_end - low_end + 1]),
        share=np.ones(1),
        hit=min(mass, 1.0),
    )


@cache
def plan(family: Modular, given: int | None = None) -> MiddlePlan:
    """Choose the keys that make the least work, on `given` samples where there are no more.

    >>> from instances import parse
    >>> plan(parse("lwr:n=40,q=1024,p=4,secret=binary,h=6")).left
    1140
    """
    left, right = halves(family)
    where, count = explained(family), needed(family)
    if given is not None:
        count = min(count, given)
    buckets = {1 << i for i in range(1, family.q.bit_length())} | {family.q}
    best: tuple[float, int, int, int] | None = None
    for many in sorted(buckets):
        spans = np.minimum(many, (where.width - 1) * many / family.q + 1)
        span = float(where.share @ spans)
        for keyed in range(1, _MOST_KEYED + 1):
            if many**keyed > max(_MOST_KEYS, right) or keyed > count:
                break
            blocks = _blocks(where.hit**keyed)
            each = span**keyed * keyed + right * (span / many) ** keyed + count
            if best is None or left * each * blocks < best[0] * best[3]:
                best = left * each, keyed, many, blocks
    assert best is not None
    work, keyed, many, blocks = best
    return MiddlePlan(
        left=left,
        right=right,
        keyed=keyed,
        buckets=many,
        blocks=blocks,
        samples=max(count, keyed),
        work=work,
        bytes=right * (2 * max(count, keyed) + 24) + 8 * many**keyed,
    )


def stride(n: int) -> int:
    """Return a step, prime to n, that spreads the first rotations over all n.

    >>> stride(40), stride(1)
    (17, 1)
    """
    near = round(n * (3 - math.sqrt(5)) / 2)
    steps = range(1, n + 1)
    return min((s for s in steps if math.gcd(s, n) == 1), key=lambda s: (abs(s - near), -s))


def halves(family: Modular) -> tuple[int, int]:
    """Count the candidates for each half."""
    values, n, light = len(values_of(family)), family.n // 2, family.h // 2
    if not family.h:
        return (values + 1) ** n, (values + 1) ** (family.n - n)
    heavy = family.h - light
    return (
        math.comb(n, light) * values**light,
        math.comb(family.n - n, heavy) * values**heavy,
    )


def _blocks(hit: float) -> int:
    """The blocks of samples of which one has no rare error in its key, almost surely."""
    return 1 if hit > 1 - 2.0**-11 else math.ceil(_SURE / math.log1p(-hit))
