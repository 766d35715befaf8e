"""SQ-DIM of listed members: the largest N' such that N' of them are pairwise within 1/N'.

For each pair its cap is the largest N' at which one set may hold both, floor(1/|correlation|). At
N' the members that may be together are a graph: an edge where the cap is at least N'. SQ-DIM is the
largest N' whose graph has a clique of N' vertices; a colouring with fewer classes shows that there
is none.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hardness.lower.clique import Clique, dense_first, find_clique

Caps = NDArray[np.int64]
Classes = tuple[tuple[int, ...], ...]


def caps(products: NDArray[Any]) -> Caps:
    """Compute the caps of integer inner products (M, M): 1..M, M on the diagonal.

    >>> caps(np.array([[9, 3, 0], [3, 9, 3], [0, 3, 4]])).tolist()
    [[3, 3, 3], [3, 3, 2], [3, 2, 3]]
    """
    members, norms = len(products), np.diagonal(products)
    if len(set(norms.tolist())) == 1:
        size = np.abs(products)
        found = np.where(size > 0, norms[0] // np.maximum(size, 1), members)
    else:
        found = np.full((members, members), members)
        for i, j in np.argwhere(np.triu(products, 1)).tolist():
            square = int(norms[i]) * int(norms[j]) // int(products[i, j]) ** 2
            found[i, j] = found[j, i] = math.isqrt(square)
    found = np.minimum(found, members)
    np.fill_diagonal(found, members)
    return found


@dataclass(kw_only=True)
class Ends:
    """SQ-DIM is at least the number of `members`, and at most `high`, as `classes` show.

    members: ascending, pairwise within one over their number. classes: every member in one; any two
    of a class have a cap of at most `high`. searched: the least number of which a search found no
    members, for which classes may be too few.

    >>> found = Ends(caps=np.array([[3, 3, 3], [3, 3, 2], [3, 2, 3]]))
    >>> found.narrow(100)
    >>> found.members, found.high, found.classes
    ((0, 1), 2, ((0,), (1, 2)))
    """

    caps: Caps
    members: tuple[int, ...] = (0,)
    high: int = field(init=False)
    classes: Classes = field(init=False)
    searched: int | None = None
    asked: dict[tuple[int, int], Clique] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.high = len(self.caps)
        self.classes = tuple((v,) for v in range(self.high))

    @property
    def most(self) -> int:
        """How many there are at most, by classes or by a search."""
        return self.high if self.searched is None else min(self.high, self.searched - 1)

    def narrow(self, steps: int) -> None:
        """Move both ends by bisection, with at most `steps` steps of search for each question.

        A set of N' within 1/N' contains one of N'-1, within 1/N' <= 1/(N'-1): "there is such a set"
        is monotone in N', so one answer settles all sizes on its side. A question that stays open
        settles none: it counts as yes for the upper end and as no for the lower.
        """
        least, most = len(self.members), self.most
        while least < most:
            middle = (least + most + 1) // 2
            if self._ask(middle, steps).none:
                most = middle - 1
            else:
                least = max(middle, len(self.members))
        least, most = len(self.members), self.most
        while least < most:
            middle = (least + most + 1) // 2
            self._ask(middle, steps)
            least = max(least, len(self.members))
            most = most if least >= middle else middle - 1

    def _ask(self, at: int, steps: int) -> Clique:
        """Look for `at` members of pairwise caps `at`, and move the ends by what is found."""
        if (at, steps) not in self.asked:
            found = self.asked[at, steps] = find_clique(self.caps >= at, at, steps)
            chosen = self.caps[np.ix_(found.members, found.members)].copy()
            size = min(len(found.members), int(chosen.min()))
            if size > len(self.members):
                self.members = found.members[:size]
            if found.none and at <= self.high and len(found.colouring) < at:
                self.high, self.classes = at - 1, found.colouring
            elif found.none:
                self.searched = min(at, self.searched or at)
        return self.asked[at, steps]

    def order(self) -> list[int]:
        """Members in the order in which a search for `searched` of them finds none soon."""
        return dense_first(self.caps >= (self.searched or 1))
