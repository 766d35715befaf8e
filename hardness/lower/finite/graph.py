"""SQ-DIM of any finite family: the largest N' such that N' members are pairwise within 1/N'.

At N' the members that may be together are a graph: an edge where |correlation| <= 1/N', which is
where the pair's cap is at least N'. SQ-DIM is the largest N' whose graph has a clique of N'
vertices. Both ends of what is found have evidence: the members, and why no more of them exist.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hardness.lower.finite.caps import Caps, caps, exact_caps, require_correlations
from hardness.lower.finite.clique import Clique, largest_clique
from hardness.lower.finite.spectrum import Spectrum, refute, upper_ends
from instances.errors import UsageError

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "Bracket",
    "Colouring",
    "Search",
    "Spectrum",
    "bracket",
    "correlation_graph",
    "largest_clique",
    "sq_dimension",
    "sq_dimension_exact",
]
_STEPS = 200_000
_EIGENVALUES = 3000  # members up to which the eigenvalues are computed: it takes M^3


@dataclass(frozen=True, kw_only=True)
class Colouring:
    """No `at` members have pairwise caps of at least `at`: they are in fewer classes of too close.

    classes: every member in one; any two of a class have a cap below `at`.

    >>> Colouring(at=3, classes=((0, 1), (2,))).to_json()
    {'kind': 'colouring', 'at': 3, 'classes': [[0, 1], [2]]}
    """

    at: int
    classes: tuple[tuple[int, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """Write the evidence as JSON."""
        return {"kind": "colouring", "at": self.at, "classes": [list(c) for c in self.classes]}


@dataclass(frozen=True, kw_only=True)
class Search:
    """No `at` members have pairwise caps of at least `at`: a search ended without finding them."""

    at: int
    steps: int  # vertices branched on

    def to_json(self) -> dict[str, Any]:
        """Write the evidence as JSON."""
        return {"kind": "search", "at": self.at, "steps": self.steps}


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

    @property
    def kind(self) -> Literal["exact", "interval"]:
        """Whether the two ends meet."""
        return "exact" if self.lower == self.upper else "interval"

    def to_json(self) -> dict[str, Any]:
        """Write the bracket and its evidence as JSON."""
        return {
            "lower": self.lower,
            "upper": self.upper,
            "kind": self.kind,
            "members": list(self.members),
            "evidence": self.evidence.to_json(),
        }


def correlation_graph(correlations: NDArray[Any], threshold: float) -> "nx.Graph":
    """Build the graph of nearly uncorrelated members: an edge where |correlation| <= threshold.

    correlations: (M, M). The vertices are 0..M-1, and an edge has its `correlation`. Raises
    UsageError where they are no correlations.

    >>> graph = correlation_graph(np.array([[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]), 0.1)
    >>> list(graph.edges(data="correlation"))
    [(0, 2, 0.0), (1, 2, 0.0)]
    """
    import networkx as nx

    given = require_correlations(correlations, 0.0)
    if not threshold >= 0:
        raise UsageError(f"threshold {threshold} given: it must be at least 0")
    graph = nx.Graph()
    graph.add_nodes_from(range(len(given)))
    near = np.argwhere(np.triu(np.abs(given) <= threshold, k=1)).tolist()
    graph.add_edges_from((i, j, {"correlation": float(given[i, j])}) for i, j in near)
    return graph


def sq_dimension(correlations: NDArray[Any], radius: float = 0.0, steps: int = _STEPS) -> Bracket:
    """Bracket SQ-DIM of members whose correlations (M, M) are known to within a radius. [BFJKMR94]

    It holds for every family whose correlations are all within `radius` of the given ones. steps:
    the limit of each clique search. Raises UsageError where they are no correlations, TooLarge
    where the graph does not fit.

    >>> found = sq_dimension(np.array([[1, 0.4, 0], [0.4, 1, 0.2], [0, 0.2, 1]]))
    >>> found.lower, found.upper, found.members
    (2, 2, (1, 2))
    """
    low, high = caps(correlations, radius)
    given = np.asarray(correlations, np.float64)
    return bracket(low, high, steps, lambda: upper_ends(given, radius))


def sq_dimension_exact(gram: NDArray[Any], steps: int = _STEPS) -> Bracket:
    """Bracket SQ-DIM of members with an integer Gram matrix (M, M), compared exactly. [BFJKMR94]

    gram: numpy's integers or (dtype object) Python's, the squared norms on the diagonal. Raises
    UsageError where it is no Gram matrix, TooLarge where the graph does not fit.

    >>> sq_dimension_exact(np.array([[9, 3, 3], [3, 9, 3], [3, 3, 9]])).lower
    3
    """
    found, correlations = exact_caps(gram)
    return bracket(found, found, steps, lambda: upper_ends(correlations))


def bracket(
    lower_caps: Caps,
    upper_caps: Caps,
    steps: int = _STEPS,
    spectrum: Callable[[], tuple[int, ...]] | None = None,
) -> Bracket:
    """Bracket SQ-DIM from caps of all pairs that are certainly not too high, and not too low.

    spectrum gives upper ends of the eigenvalues, as `upper_ends`; it is called where colouring
    leaves a gap. Raises UsageError where the caps are not two symmetric (M, M) of 1..M.

    >>> found = bracket(np.full((3, 3), 2), np.full((3, 3), 3))
    >>> found.lower, found.upper, found.kind
    (2, 3, 'interval')
    """
    for given in (lower_caps, upper_caps):
        if given.ndim != 2 or not len(given) or not np.array_equal(given, given.T):
            raise UsageError("caps are needed as a symmetric (M, M), M at least 1")
    if lower_caps.shape != upper_caps.shape or (lower_caps > upper_caps).any():
        raise UsageError("lower caps must be at most the upper caps, for the same members")
    if lower_caps.min() < 1 or upper_caps.max() > len(upper_caps):
        raise UsageError(f"caps must be from 1 to the {len(upper_caps)} members")
    if steps < 0:
        raise UsageError(f"steps={steps} given: it must be at least 0")
    ends = _Ends(lower_caps=lower_caps, upper_caps=upper_caps)
    ends.narrow(0)
    if ends.low < ends.high and spectrum and len(lower_caps) <= _EIGENVALUES:
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
            if self._ask(self.upper_caps, middle, steps).upper < middle:
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
            found = largest_clique(which >= at, at, steps)
            self.asked[question] = found
            self._raise_low(found.members)
            if which is self.upper_caps and found.upper < at <= self.high:
                self.high = at - 1
                self.evidence = (
                    Colouring(at=at, classes=found.colouring)
                    if len(found.colouring) < at
                    else Search(at=at, steps=found.steps)
                )
        return self.asked[question]

    def _raise_low(self, members: tuple[int, ...]) -> None:
        chosen = self.lower_caps[np.ix_(members, members)].copy()
        np.fill_diagonal(chosen, len(self.lower_caps))
        size = min(len(members), int(chosen.min()))
        if size > self.low:
            self.low, self.members = size, members[:size]
