"""The words of certificates of finite families: functions, layers, factors of labels, or specs.

What is known of the members, exactly or not, and whether they take the values -1 and +1 alone,
decides on the claims, on their assumptions and on the scope.
"""

from typing import Literal

from hardness.claims.words import Quantity, with_success
from instances import coded

MOST_MEMBERS = coded.MOST_MEMBERS  # of which eigenvalues, or a bound on them, are computed
MOST_FLOATS = 4096  # whose correlations in float64 are part of the certificate
MOST_LISTED, MOST_SPECS = 20_000, 200  # members of a list of specs, and specs in it
MOST_COORDINATES = coded.MOST_COORDINATES  # of a cube that is enumerated
MOST_SPECTRUM = 3000  # members up to which all eigenvalues are computed

Kind = Literal["functions", "layers", "factors", "specs"]
Basis = Literal["specs", "tables", "integers", "floats", "samples"]

_DOMAIN = {
    "functions": "members are functions of a point that is uniform on {-1,+1}^d",
    "layers": "members are the outputs F(X), of shape (2, d), of the layers on two tokens that are "
    "uniform on {-1,+1}^(2 x d); the inner product of two is E sum F_lc F'_lc, over all l and c",
    "factors": "members are the factors of the label where z_0 = -1, functions of the n signs "
    "z_1 .. z_n of z = X_1 * X_2, uniform on {-1,+1}^n, without noise; n is in the evidence, and "
    "the members of the family are named by their secrets",
    "specs": "members are f_S(z) = g(h), h the number of j in S with z_j = -1, S any m-subset of "
    "1 .. d-1, for all specs: functions of z uniform on {-1,+1}^(d-1), without noise",
}
_BASIS = {
    "specs": "the correlations follow from the specs",
    "tables": "the truth tables in the evidence are those of the members that are named",
    "integers": "the Gram matrix in the evidence is that of the members that are named, exactly",
    "floats": "the correlations in the evidence are those of the members that are named, to within "
    "its radius, which bounds the rounding of sums and takes values as float64 computes them",
    "samples": "the correlations in the evidence were computed from as many independent uniform "
    "points as it says, and no member has a norm above its bound at any point: then all are within "
    "its radius at once with the probability `confidence`, by Hoeffding's inequality",
}
_CENTRED = {
    False: "members are taken as they are: their mean is not subtracted",
    True: "the mean of all members is subtracted from each: everyone knows it",
}
_CHOSEN = (
    "the members are those of a larger family whose names have the least SHA-256; nothing is "
    "claimed of a uniform draw from all of it"
)
_UNIT = {"normalisation": "unit norm"}
_ADVERSARY = "answers may be any values within the tolerance"
_GOAL = (
    "risk is E||f - hypothesis||^2, f the member scaled to norm 1, over the mean of E||f - mean of "
    "the members||^2 over all members"
)
_SIGNS = (
    "every member takes the values -1 and +1 alone; labels are these values, without noise, and "
    "queries, hypotheses and risk are about them"
)
_REAL = (
    "The query bound is about correlational statistical-query learners only: algorithms that see "
    "E[<f, h>] within a tolerance, f the member and h a function with E||h||^2 <= 1, when an "
    "adversary chooses the answers within the tolerance and success is averaged over a "
    "uniformly drawn member. There is no claim about general queries, about examples or about "
    "any family that these members are part of."
)
_TWO = (
    "The query bounds are about statistical-query learners, correlational or not, since labels "
    "have two values: algorithms that see expectations of bounded functions of (point, label) "
    "within a tolerance, when an adversary chooses the answers within the tolerance and success is "
    "averaged over a uniformly drawn member. The information floor alone is about every learner. "
    "There is no claim about any family that these members are part of."
)
_SAME = (
    "All members are the same function, which everyone knows, so there is no claim about queries, "
    "about examples or about any family that these members are part of."
)
_SAMPLED = (
    "The correlations were sampled, so they are known with the stated confidence only, and there "
    "is no claim about queries, about examples or about any family that these members are part of."
)


def scope(basis: Basis, centred: bool, signs: bool = False, same: bool = False) -> str:
    """Say what learners the claims are about.

    signs: all members take the values -1 and +1 alone; same: they are one function.
    """
    less = " less the mean of all" if centred else ""
    learners = _SAMPLED if basis == "samples" else _SAME if same else _TWO if signs else _REAL
    return (
        f"The finite family of the members that are named{less}, each scaled to norm 1. {learners}"
    )


def quantities(
    kind: Kind, basis: Basis, centred: bool, signs: bool = False, chosen: bool = False
) -> dict[str, Quantity]:
    """Give the words of each quantity, by what the family is and how it is known.

    signs: as in `scope`; chosen: the members are part of a larger family, picked by their names.

    >>> quantities("specs", "specs", False)["sq-dimension"].parameters
    ('upper', 'members')
    >>> "stat-queries" in quantities("functions", "tables", False, signs=True)
    True
    """
    source = (_DOMAIN[kind], _BASIS[basis], *((_CHOSEN,) if chosen else ()))
    known = (*source, _CENTRED[centred])
    queried = (*source, _SIGNS, _GOAL) if signs else (*known, _GOAL)
    more = ("confidence",) if basis == "samples" else ()
    found = {
        "sq-dimension": Quantity(
            meaning="the value is certified: so many members exist; `upper` says how many there "
            "are at most; `members` is the number of all members",
            source="BFJKMR94",
            assumptions=known,
            parameters=("upper", "members", *more),
            fixed={"definition": "largest N with N members of correlation at most 1/N", **_UNIT},
        ),
        "largest-correlation": Quantity(
            meaning="the largest correlation of two different members in absolute value; it is "
            "between the value and `upper`; 0 where there is one member",
            source="CL24",
            assumptions=known,
            parameters=("upper", *more),
            fixed=_UNIT,
        ),
        "average-correlation": Quantity(
            meaning="the absolute value of the correlation averaged over all ordered pairs of "
            "members, equal ones among them; it is between the value and `upper`",
            source="FGRVX17",
            assumptions=known,
            parameters=("upper", *more),
            fixed=_UNIT,
        ),
        "csq-queries": Quantity(
            meaning="any learner must be allowed at least this many correlational queries <f, h>, "
            "E||h||^2 <= 1, within tau, to reach the risk with the success probability: "
            "(success N - K) / r, rounded up, N the number of members, r the whole part of "
            "lambda / tau^2, how many members one query can rule out, lambda the upper end "
            "in the evidence of the largest eigenvalue of the members less their mean, K how many "
            "members one hypothesis can fit; 0 means that the bound is vacuous at this tolerance",
            source="BFJKMR94",
            assumptions=(*queried, _ADVERSARY),
            parameters=("tau", "risk", "success"),
            fixed={"range": "h: E||h||^2 <= 1"},
        ),
    }
    if basis == "samples":
        del found["csq-queries"]
    return with_success(found | (_of_signs(known, queried) if signs else {}))


def _of_signs(known: tuple[str, ...], queried: tuple[str, ...]) -> dict[str, Quantity]:
    """The words of what follows where labels have two values."""
    return {
        "sda-all-subsets": Quantity(
            meaning="the largest q, up to N, such that every set of at least N/q members has an "
            "average correlation of at most gamma, in absolute value, over all ordered pairs, "
            "equal ones among them; the value is the lower end, which certifies hardness, `upper` "
            "the other; 0 means that already the set of all members may have a larger average",
            source="FGRVX17",
            assumptions=known,
            parameters=("gamma", "upper"),
            fixed={"subsets": "all", **_UNIT},
        ),
        "sda-pair-events": Quantity(
            meaning="the largest q, up to N, such that every set of at least N^2/q^2 ordered pairs "
            "of members has an average correlation of at most gamma, in absolute value; 0 means "
            "that already the set of all pairs has a larger average",
            source="BBHLS21",
            assumptions=known,
            parameters=("gamma",),
            fixed={"subsets": "pair events", **_UNIT},
        ),
        "stat-queries": Quantity(
            meaning="any learner must be allowed at least this many queries to STAT(tau), "
            "correlational or not, to reach the risk with the success probability: (success N - "
            "K) / r, rounded up, r the whole part of lambda / tau^2 and K as for correlational "
            "queries; 0 means that the bound is vacuous at this tolerance",
            source="BFJKMR94",
            assumptions=(*queried, _ADVERSARY),
            parameters=("tau", "risk", "success"),
            fixed={"range": "[-1,1]"},
        ),
        "vstat-queries": Quantity(
            meaning="the same for VSTAT(t): (success N - K) / r, rounded up, r the whole part of "
            "t^2 lambda / 4 or, where the evidence has truth tables, of 3 t w / 2 if that is less, "
            "w the upper end in the evidence of the largest eigenvalue of the members less their "
            "mean b, a point counting 1/(1 - |b|)",
            source="FGRVX17",
            assumptions=(*queried, _ADVERSARY),
            parameters=("t", "risk", "success"),
            fixed={"range": "[0,1]"},
        ),
        "information-floor": Quantity(
            meaning="any learner whatever, statistical-query or not, needs at least this many "
            "examples: a label takes one of L = 2 values, so K L^examples >= success N",
            source="information",
            assumptions=queried,
            parameters=("risk", "success", "levels"),
        ),
    }
