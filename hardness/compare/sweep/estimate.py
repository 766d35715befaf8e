"""What runs may take: measured, probed, interpolated between those, or what budgets allow.

A line is what costs are interpolated along: the cells of one learner in one family within one
budget, by the log2 of the family's number of members; of a continuum, of the numbers in a layer.
Costs that are powers of the number of members are straight lines there, and so are nearly those
that are powers of d at a fixed m.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hardness.compare.jobs import Job
from instances.family import Family

# measured: in a store. probed: done for the plan. interpolated: between such. at least: not below
# what a probe that was cut, or one of a smaller size, says. at most: by the budget or limits alone.
Basis = Literal["measured", "probed", "interpolated", "at least", "at most"]
# Heuristic: how far a run may be from what a single one, or its neighbours, took; seeds differ.
_SPREAD: dict[Basis, float] = {"measured": 1.5, "probed": 2.0, "interpolated": 4.0, "at least": 4.0}
MOST_PROBES = 20


@dataclass(frozen=True, kw_only=True)
class Point:
    """What a run of one cell took, in seconds; at least, where it was `cut`."""

    seconds: float
    basis: Literal["measured", "probed"]
    cut: bool = False
    peak_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Cost:
    """A range for the seconds of one run, and how it is known."""

    low: float
    high: float  # inf where nothing says
    basis: Basis


@dataclass(frozen=True, kw_only=True, eq=False)
class Line:
    """Cells in growing size. part: which part of the plan they are in. runs: of each cell.

    job: makes the job of a cell. most: seconds of a run by its budget or the hard limit.
    """

    part: int
    specs: Sequence[str]
    sizes: Sequence[float]
    runs: int
    most: float
    job: Callable[[str], Job]
    measured: Mapping[int, Point]


def size(family: Family) -> float:
    """Measure a family: log2 of its members, of a continuum of the numbers in a layer.

    >>> from instances import parse
    >>> round(size(parse("parity:d=16,m=3")), 2), size(parse("nice:m=2,k=2,d=4"))
    (8.83, 6.0)
    """
    if family.size is not None:
        return math.log2(max(1, family.size))
    return math.log2(2 * family.layer_heads * family.d**2)


def chosen(lines: Sequence[Line], most: int = MOST_PROBES) -> list[list[int]]:
    """Choose cells to probe, of each line its last, then its first, then its middle one.

    What is measured needs none. Where lines are too many, some spread over all of them are probed.
    """
    wanted = []
    for line in lines:
        last = len(line.specs) - 1
        ends = dict.fromkeys((last, 0, last // 2))
        wanted.append([i for i in ends if i not in line.measured])
    if len(lines) > most:
        kept = {round(i * (len(lines) - 1) / (most - 1)) for i in range(most)}
        wanted = [places if i in kept else [] for i, places in enumerate(wanted)]
    left, taken = most, [0] * len(lines)
    for turn in range(3):
        for i, places in enumerate(wanted):
            if left and len(places) > turn:
                taken[i], left = turn + 1, left - 1
    return [sorted(places[:n]) for places, n in zip(wanted, taken, strict=True)]


def costs(line: Line, probed: Mapping[int, Point]) -> list[Cost]:
    """Estimate a run of every cell of a line from the cells that are known.

    >>> line = Line(part=0, specs="abc", sizes=[1, 2, 3], runs=1, most=60, job=None, measured={})
    >>> known = {0: Point(seconds=1, basis="probed"), 2: Point(seconds=4, basis="probed")}
    >>> [(c.low, c.high, c.basis) for c in costs(line, known)][1]
    (0.5, 8.0, 'interpolated')
    """
    known = {**line.measured, **probed}
    if not known:
        return [Cost(low=0.0, high=line.most, basis="at most")] * len(line.specs)
    places = sorted(known)
    x = np.array([line.sizes[i] for i in places], dtype=float)
    y = np.log([max(known[i].seconds, 1e-6) for i in places])
    ends = np.unique(x)  # cells of one size may cost different times: their mean stands for them
    means = [float(y[x == end].mean()) for end in ends]
    cut = [any(known[i].cut for i, at in zip(places, x, strict=True) if at == end) for end in ends]
    between = np.exp(np.interp(np.asarray(line.sizes, dtype=float), ends, means))
    over = np.searchsorted(ends, line.sizes)  # the first known size that is not below
    found = []
    for i, guess in enumerate(between):
        if i in known:
            found.append(_known(known[i], line.most))
            continue
        above = int(over[i])
        inside = above < len(ends) and (above > 0 or line.sizes[i] == ends[0])
        found.append(_between(float(guess), above, inside, cut, line.most))
    return found


def _known(point: Point, most: float) -> Cost:
    if point.cut:
        low = min(point.seconds, most)
        return Cost(low=low, high=most, basis="at least")
    spread = _SPREAD[point.basis]
    high = min(spread * point.seconds, max(most, point.seconds))
    return Cost(low=point.seconds / spread, high=high, basis=point.basis)


def _between(guess: float, above: int, inside: bool, cut: Sequence[bool], most: float) -> Cost:
    """Cost a cell by its neighbours: `above` is the place of the first that is not smaller."""
    spread = _SPREAD["interpolated"]
    if above == len(cut):  # larger than all that is known
        return Cost(low=min(guess / spread, most), high=most, basis="at least")
    if cut[above] or (inside and above > 0 and cut[above - 1]):
        # Of a neighbour that was cut only a lower end is known, so the guess is one as well.
        low = guess / spread if inside else 0.0
        return Cost(low=min(low, most), high=most, basis="at least" if inside else "at most")
    high = min(spread * guess, most)
    if not inside:  # smaller than all that is known
        return Cost(low=0.0, high=high, basis="interpolated")
    return Cost(low=min(guess / spread, most), high=high, basis="interpolated")


def counted(found: Sequence[Cost]) -> dict[str, int]:
    """Count cells by how their cost is known.

    >>> counted([Cost(low=0, high=1, basis="at most")] * 2)
    {'at most': 2}
    """
    return dict(Counter(cost.basis for cost in found))
