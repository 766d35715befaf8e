"""Meet in the middle: sums of half of the secret, matched on a few samples. [HG07]

The samples' sums of all candidates for one half are sorted by the parts of Z_q that the first few
lie in; those of each candidate for the other half say which parts the rest may lie in. The places
are cut in a window and its complement; among all n rotations of the window one has half of the
secret's entries [Sti02]. Rare errors are passed over: other samples are tried then.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hardness.kernels.halves import Fit, Half, Sorted
from hardness.oracles import ExampleOracle, Spent
from hardness.upper.attack import needed
from hardness.upper.costs import costs, patience
from hardness.upper.learner import Hypothesis
from hardness.upper.middle import MiddlePlan, explained, halves, plan, stride
from hardness.upper.search import (
    SecretSearch,
    better,
    conclude,
    gather,
    out_of_time,
    values_of,
    wanted,
)
from instances.family import Secret
from instances.limits import require_memory
from instances.modular import Modular
from instances.samples import Samples

MOST = 1 << 30  # half secrets, on any machine
_WORK = 1 << 25  # pairs and parts between looks at the clock


@dataclass(frozen=True, kw_only=True)
class MeetInTheMiddle(SecretSearch):
    """Matches halves of the secret; a step is a part of a rotation of the window."""

    name: ClassVar[str] = "mitm"
    about: ClassVar[str] = "meet in the middle: square-root time and memory for sparse secrets"

    def unfit(self, forms: Modular) -> str | None:
        """Return that the list of half secrets fits on no machine, or None."""
        size = max(halves(forms))
        if size > MOST:
            most = f"at most 2^30 are sorted{_more(forms)}"
            return f"it has 2^{math.log2(size):.1f} half secrets, {most}"
        return None

    def attack(self, oracle: ExampleOracle, forms: Modular, rng: np.random.Generator) -> Hypothesis:
        """Go through the blocks of samples and the rotations, until a secret is believed."""
        how = plan(forms)
        named = f"the list of sorted half secrets of {forms.spec}{_more(forms)}"
        require_memory(2 * how.bytes, named)
        found = gather(oracle, self.samples or max(needed(forms), how.keyed * how.blocks))
        if len(found) < how.samples:
            how = plan(forms, len(found))
        blocks = max(1, min(how.blocks, len(found) // how.keyed))
        turns = forms.n if forms.h else 1
        slow = max(1, patience(costs(found.cut(0, how.samples))) // 8)
        chunk = max(1, min(how.left, int(_WORK * how.left / how.work / slow)))
        chunks = -(-how.left // chunk)
        details: dict[str, Any] = {
            "keyed": how.keyed,
            "buckets": how.buckets,
            "list_bytes": how.bytes,
        }
        tried, total, meeting = 0, turns * blocks * chunks, None
        best: tuple[float, Secret] | None = None
        index = self.start
        try:
            for index in range(self.start, total):
                oracle.meter.require_time()
                turn, part = divmod(index, chunks)
                if meeting is None or not part:
                    check = oracle.meter.require_time
                    meeting = Meeting(found, how, turn % turns, turn // turns, check)
                more, secret = meeting.step(part * chunk, chunk)
                tried += more
                best = better(best, found, secret)
                if best and best[0] >= wanted(forms):
                    break
        except Spent:  # of time: all samples are drawn
            details |= {"tried": tried, "samples": len(found)}
            return out_of_time(oracle.family, index, total, **details)
        secret = best and best[1]
        return conclude(oracle.family, found, secret, steps=total, tried=tried, **details)


def _more(forms: Modular) -> str:
    """Say what makes the list shorter; empty where it is known."""
    return "" if forms.h else " (give h, where it is known how many entries are not 0)"


class Meeting:
    """One rotation of the window, on one block of samples."""

    def __init__(
        self, found: Samples, how: MiddlePlan, rotation: int, block: int, check: Callable[[], None]
    ) -> None:
        """Write down and sort the sums of the right half; what `check` raises passes through."""
        family = found.family
        n, at = family.n, rotation * stride(family.n)
        places = (np.arange(n) + at) % n
        self._places = places[: n // 2], places[n // 2 :]
        self._found = found
        first = np.roll(np.arange(len(found)), -how.keyed * block)[: how.samples]
        values = np.array(values_of(family), np.int64)
        a = found.a[first].T
        columns = (values[:, None, None] * a % family.q).astype(np.uint32)
        light = family.h // 2
        weights = ((light,), (family.h - light,)) if family.h else (None, None)
        self._halves = [
            Half(
                columns=np.ascontiguousarray(columns[:, part]),
                q=family.q,
                weights=weight or tuple(range(len(part) + 1)),
            )
            for part, weight in zip(self._places, weights, strict=True)
        ]
        right = self._halves[1]
        self._sorted = Sorted(right.all(check), _fit(found, first, how), check)

    def step(self, start: int, count: int) -> tuple[int, Secret | None]:
        """Try candidates start .. start+count-1 of the left half: pairs, and the best secret."""
        left = self._halves[0].sums(start, count)
        tried, pair = self._sorted.join(left)
        if pair is None:
            return tried, None
        family = self._found.family
        out, values = [0] * family.n, values_of(family)
        indices = (start + pair[0], pair[1])
        for half, places, index in zip(self._halves, self._places, indices, strict=True):
            for j, v in half.entries(index):
                out[int(places[j])] = values[v]
        return tried, tuple(out)


def _fit(found: Samples, first: NDArray[np.intp], how: MiddlePlan) -> Fit:
    """Say when sums explain some of the samples."""
    chosen = Samples(family=found.family, a=found.a[first], codes=found.codes[first])
    of, where = costs(chosen), explained(found.family)
    return Fit(
        tables=of.tables,
        rows=of.rows,
        shifts=of.shifts,
        limits=of.limits,
        low=where.low,
        width=where.width,
        keyed=how.keyed,
        buckets=how.buckets,
    )
