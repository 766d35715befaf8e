"""The words of certificates of symmetric profiles, whose correlations depend on overlaps."""

from hardness.claims.words import Quantity, with_success

_WHO = (
    "algorithms that see expectations of bounded functions of (X, Y) within a tolerance. The query "
    "bounds are on how many queries a learner must be allowed, when an adversary chooses the "
    "answers within the tolerance and success is averaged over a uniformly drawn member; single "
    "runs may end earlier. The information floor alone is about every learner."
)
SCOPE_TWO = (
    "Statistical-query learners only, correlational or not, since labels have two known values: "
    + _WHO
)
SCOPE_MANY = (
    "Correlational statistical-query learners only: labels have more than two values, so a general "
    "query may single out one of them, and there is no claim about general queries. Otherwise: "
    + _WHO
)

_FAMILY = (
    "tokens uniform on {-1,+1}^(2 x d); the hidden set uniform among all m-subsets of d-1",
    "heads solved exactly, so the factor of a label where z_0 = -1 is g(h) and nothing else",
)
_CENTRED = ("the mean of g is taken away: everyone knows it",)
_GOAL = ("risk is E||F - hypothesis||^2, F = E[Y|X], over that of the mean of F over all members",)
_ADVERSARY = ("answers may be any values within the tolerance",)
_TWO = ("g has two values",)
_UNIT = {"normalisation": "centred, unit norm where z_0 = -1"}

_QUANTITIES: dict[str, Quantity] = {
    "largest-correlation": Quantity(
        meaning="the largest correlation of two different members, of m-1 common places",
        source="CL24",
        assumptions=_FAMILY + _CENTRED,
        fixed=_UNIT,
    ),
    "average-correlation": Quantity(
        meaning="the correlation averaged over all ordered pairs of members, equal ones among them",
        source="FGRVX17",
        assumptions=_FAMILY + _CENTRED,
        fixed=_UNIT,
    ),
    "operator-norm": Quantity(
        meaning="the largest eigenvalue of the Gram matrix over all members",
        source="Del73",
        assumptions=_FAMILY + _CENTRED,
        fixed=_UNIT,
    ),
    "second-eigenvalue": Quantity(
        meaning="the largest eigenvalue once the mean over all members is taken away: what bounds "
        "the queries",
        source="Del73",
        assumptions=_FAMILY + _CENTRED,
        fixed=_UNIT,
    ),
    "cross-predictability": Quantity(
        meaning="the squared correlation averaged over all ordered pairs of members",
        source="AS20",
        assumptions=_FAMILY + _CENTRED,
        fixed=_UNIT,
    ),
    "sq-dimension": Quantity(
        meaning="the value is certified: so many members exist; `upper` says how many there are at "
        "most",
        source="BFJKMR94",
        assumptions=_FAMILY + _CENTRED,
        parameters=("upper",),
        fixed={"definition": "largest N with N members of correlation at most 1/N", **_UNIT},
    ),
    "sda-all-subsets": Quantity(
        meaning="the largest q, up to N, such that every set of at least N/q members has average "
        "correlation at most gamma; the value is the lower end, which certifies hardness, `upper` "
        "the other; 0 means that already the set of all members has a larger average",
        source="FGRVX17",
        assumptions=_FAMILY + _CENTRED,
        parameters=("gamma", "upper"),
        fixed={"subsets": "all", **_UNIT},
    ),
    "sda-pair-events": Quantity(
        meaning="the largest q, up to N, such that every set of at least N^2/q^2 ordered pairs of "
        "members has average correlation at most gamma; 0 means that already the set of all pairs "
        "has a larger average",
        source="BBHLS21",
        assumptions=_FAMILY + _CENTRED,
        parameters=("gamma",),
        fixed={"subsets": "pair events", **_UNIT},
    ),
    "csq-queries": Quantity(
        meaning="any learner must be allowed at least this many correlational queries psi(X,Y) "
        "h(X), |h| <= 1, psi the factor of the label with the values of g moved and scaled to "
        "-1 .. 1, within tau, to reach the risk with the success probability: (success N - K) / "
        "r, rounded up, r the whole part of (1 - 2 noise)^2 lambda / (4 tau^2), how "
        "many members one query can rule out, lambda the second eigenvalue for the values so "
        "scaled, K how many members one hypothesis can fit; 0 means that the bound is vacuous at "
        "this tolerance",
        source="BFJKMR94",
        assumptions=_FAMILY + _GOAL + _ADVERSARY,
        parameters=("tau", "risk", "success", "noise"),
        fixed={"range": "h: [-1,1]"},
    ),
    "stat-queries": Quantity(
        meaning="any learner must be allowed at least this many queries to STAT(tau), "
        "correlational or not, to reach the risk with the success probability: (success N - K) / "
        "r, rounded up, r the whole part of (1 - 2 noise)^2 lambda / (4 tau^2), how "
        "many members one query can rule out, lambda the second eigenvalue for the two values "
        "written as +-1; 0 means that the bound is vacuous at this tolerance",
        source="BFJKMR94",
        assumptions=_FAMILY + _TWO + _GOAL + _ADVERSARY,
        parameters=("tau", "risk", "success", "noise"),
        fixed={"range": "[-1,1]"},
    ),
    "vstat-queries": Quantity(
        meaning="the same for VSTAT(t): (success N - K) / r, rounded up, r the smaller of two "
        "numbers. Every set of more than the first has average correlation at most 1/(3t), as "
        "distributions of labelled examples relative to labels that are coins of the mean label. "
        "The second is the whole part of 3 t lambda / 4, lambda at least the largest eigenvalue of "
        "the mean labels, as +-1, less their mean b over all members, a token counting 1/(1 - |b|)",
        source="FGRVX17",
        assumptions=_FAMILY + _TWO + _GOAL + _ADVERSARY,
        parameters=("t", "risk", "success", "noise"),
        fixed={"range": "[0,1]"},
    ),
    "information-floor": Quantity(
        meaning="any learner whatever, statistical-query or not, needs at least this many "
        "examples: once it is known which labels the noise reflects, a label takes one of L "
        "values, so K L^examples >= success N",
        source="information",
        assumptions=_FAMILY + _GOAL,
        parameters=("risk", "success", "levels"),
    ),
}
QUANTITIES = with_success(_QUANTITIES)
