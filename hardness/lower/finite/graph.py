"""SQ-DIM of any finite family: the largest N' such that N' members are pairwise within 1/N'.

At N' the members that may be together are a graph: an edge where |correlation| <= 1/N', which is
where the pair's cap is at least N'. SQ-DIM is the largest N' whose graph has a clique of N'
vertices. Both ends of what is found have evidence: the members, and why no more of them exist.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hardness.lower.clique import Clique, find_clique
from hardness.lower.finite.caps import Caps
from hardness.lower.finite.spectrum import Spectrum, refute

_EIGENVALUES = 3000  # members up to which the eigenvalues are computed: it takes M^3


@dataclass(frozen=True, kw_only=True)
class Colouring:
    """No `at` members have pairwise caps of at least `at`: they are in fewer classes of too close.

    classes: every member in one; any two of a class have a cap below `at`.

    >>> Colouring(at=3, classes=((0, 1), (2,))).to_dict()
    {'kind': 'colouring', 'at': 3, 'classes': [[0, 1], [2]]}
    """

    at: int
    classes: tuple[tuple[int, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Write the evidence as JSON."""
        return {"kind": "colouring", "at": self.at, "classes": [list(c) for c in self.classes]}


@dataclass(frozen=True, kw_only=True)
class Search:
    """No `at` members have pairwise caps of at least `at`: a search ended without finding them."""

    at: int

    def to_dict(self) -> dict[str, Any]:
        """Write the evidence as JSON: checkers repeat the search."""
        return {"kind": "search", "at": self.at}


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """SQ-DIM is at least `lower` and at most `upper`.

    members: `lower` of them, ascending, pairwise within 1/lower. evidence: why upper + 1 of them
    with pairwise |correlation| <= 1/(upper + 1) do not exist; its `at` is upper + 1.
    """

    lower: int
    upper: int
    members: tuple[int, ...]
    evidence: Colouring | Spectrum | Search


def bracket(
    lower_caps: Caps,
    upper_caps: Caps,
    steps: int,
    spectrum: Callable[[], tuple[int, ...]],
) -> Bracket:
    """Bracket SQ-DIM from caps of all pairs that are certainly not too high, and not too low.

    spectrum gives upper ends of the eigenvalues, as `upper_ends`; it is called where colouring
    leaves a gap.

    >>> found = bracket(np.full((3, 3), 2), np.full((3, 3), 3), 100, lambda: (1 << 30,) * 3)
    >>> found.lower, found.upper
    (2, 3)
    """
    ends = _Ends(lower_caps=lower_caps, upper_caps=upper_caps)
    ends.narrow(0)
    if ends.low < ends.high and len(lower_caps) <= _EIGENVALUES:
        refuted = refute(spectrum(), ends.low + 1, ends.high)
        if refuted:
            ends.high, ends.evidence = refuted.at - 1, refuted
    ends.narrow(steps)
    return Bracket(lower=ends.low, upper=ends.high, members=ends.members, evidence=ends.evidence)


@dataclass(kw_only=True)
class _Ends:
    """The two ends as they are known so far."""

    lower_caps: Caps
    upper_caps: Caps
    low: int = 1
    members: tuple[int, ...] = (0,)
    high: int = field(init=False)
    evidence: Colouring | Spectrum | Search = field(init=False)
    asked: dict[tuple[bool, int, int], Clique] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if np.array_equal(self.lower_caps, self.upper_caps):
            self.upper_caps = self.lower_caps
        self.high = len(self.lower_caps)
        singles = tuple((v,) for v in range(self.high))
        self.evidence = Colouring(at=self.high + 1, classes=singles)

    def narrow(self, steps: int) -> None:
        """Move both ends by bisection, with at most `steps` steps of search for each question.

        A set of N' within 1/N' contains one of N'-1, within 1/N' <= 1/(N'-1): "there is such a set"
        is monotone in N', so one answer settles all sizes on its side. A question that stays open
        settles none: it counts as yes for the upper end and as no for the lower.
        """
        if self.low < self.high:
            self._ask(self.lower_caps, self.high, 0)
        least, most = self.low, self.high
        while least < most:
            middle = (least + most + 1) // 2
            if self._ask(self.upper_caps, middle, steps).none:
                most = middle - 1
            else:
                least = max(middle, self.low)
        least, most = self.low, self.high
        while least < most:
            middle = (least + most + 1) // 2
            if len(self._ask(self.lower_caps, middle, steps).members) >= middle:
                least = max(middle, self.low)
            else:
                most = middle - 1

    def _ask(self, which: Caps, at: int, steps: int) -> Clique:
        """Look for `at` members of pairwise caps `at`, and move the ends by what is found."""
        question = (which is self.lower_caps, at, steps)
        if question not in self.asked:
            found = find_clique(which >= at, at, steps)
            self.asked[question] = found
            self._raise_low(found.members)
            if which is self.upper_caps and found.none and at <= self.high:
                self.high = at - 1
                self.evidence = (
                    Colouring(at=at, classes=found.colouring)
                    if len(found.colouring) < at
                    else Search(at=at)
                )
        return self.asked[question]

    def _raise_low(self, members: tuple[int, ...]) -> None:
        chosen = self.lower_caps[np.ix_(members, members)].copy()
        np.fill_diagonal(chosen, len(self.lower_caps))
        size = min(len(members), int(chosen.min()))
        if size > self.low:
            self.low, self.members = size, members[:size]
