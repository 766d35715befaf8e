"""The words of certificates of hidden parities, whose members are exactly orthogonal."""

from hardness.claims.words import Quantity, with_success

SCOPE = (
    "Statistical-query learners only: algorithms that see expectations of bounded functions of "
    "(X, Y) within a tolerance. Gaussian elimination over GF(2) is no such algorithm and recovers "
    "a noiseless parity from 2d examples and a few more. The query bounds are on how many queries "
    "a learner must be allowed, when an adversary chooses the answers within the tolerance and "
    "success is averaged over a uniformly drawn member; single runs may end earlier. The "
    "information floor alone is about every learner."
)

_FAMILY = (
    "tokens uniform on {-1,+1}^(2 x d); the hidden set uniform among all m-subsets of d-1",
    "heads solved exactly, so a label has two known values and no member leaks",
)
_GOAL = (
    "risk is E||F - hypothesis||^2, F = E[Y|X], over that of the best predictor that knows only "
    "the family",
)
_ADVERSARY = ("answers may be any values within the tolerance",)


_QUANTITIES: dict[str, Quantity] = {
    "pairwise-correlation": Quantity(
        meaning="any two different members are uncorrelated: E[e_S e_S'] = 0, e_S the unknown "
        "part of the label scaled to norm 1",
        source="CL24",
        assumptions=_FAMILY,
        fixed={"normalisation": "unit norm under the token distribution"},
    ),
    "sq-dimension": Quantity(
        meaning="all C(d-1, m) members are orthogonal, and there are no more",
        source="BFJKMR94",
        assumptions=_FAMILY,
        fixed={"definition": "largest N with N members of correlation at most 1/N"},
    ),
    "stat-queries": Quantity(
        meaning="any learner must be allowed at least this many queries to STAT(tau), "
        "correlational or not, to reach the risk with the success probability: (success N "
        "- K) / r, rounded up, with K = floor(1/(1 - risk)), N the SQ dimension and r the "
        "part of (1 - 2 noise)^2 / (4 tau^2), how many members one query can rule out; "
        "0 means that the bound is vacuous at this tolerance",
        source="BFJKMR94",
        assumptions=_FAMILY + _GOAL + _ADVERSARY,
        parameters=("tau", "risk", "success", "noise"),
        fixed={"range": "[-1,1]"},
    ),
    "vstat-queries": Quantity(
        meaning="the same for VSTAT(t), whose tolerance is about that of t examples (t = 1/tau^2 "
        "is comparable): (success N - K) / r, rounded up, r the whole part of 3 t (1 "
        "- 2 noise)^2 / 4",
        source="FGRVX17",
        assumptions=_FAMILY + _GOAL + _ADVERSARY,
        parameters=("t", "risk", "success", "noise"),
        fixed={"range": "[0,1]"},
    ),
    "information-floor": Quantity(
        meaning="any learner whatever, statistical-query or not, needs at least this many "
        "examples: a label carries at most one unknown bit, so K 2^examples >= success N",
        source="information",
        assumptions=_FAMILY + _GOAL,
        parameters=("risk", "success"),
    ),
}
QUANTITIES = with_success(_QUANTITIES)
