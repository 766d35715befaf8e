"""The words of certificates of finite families: functions, layers, or members of several specs.

What is known of the members, exactly or not, decides on the assumptions and on the scope.
"""

from typing import Literal

from hardness.claims.words import Quantity

Kind = Literal["functions", "layers", "specs"]
Basis = Literal["specs", "tables", "integers", "floats", "samples"]

_DOMAIN = {
    "functions": "members are functions of a point that is uniform on {-1,+1}^d",
    "layers": "members are the outputs F(X), of shape (2, d), of the layers on two tokens that are "
    "uniform on {-1,+1}^(2 x d); the inner product of two is E sum F_lc F'_lc, over all l and c",
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
_UNIT = {"normalisation": "unit norm"}
_ADVERSARY = "answers may be any values within the tolerance"
_GOAL = (
    "risk is E||f - hypothesis||^2, f the member scaled to norm 1, over the mean of E||f - mean of "
    "the members||^2 over all members"
)


def scope(centred: bool) -> str:
    """Say what learners the claims are about."""
    less = " less the mean of all" if centred else ""
    return (
        f"The finite family of the members that are named{less}, each scaled to norm 1. The query "
        "bound is about correlational statistical-query learners only: algorithms that see "
        "E[<f, h>] within a tolerance, f the member and h a function with E||h||^2 <= 1, when an "
        "adversary chooses the answers within the tolerance and success is averaged over a "
        "uniformly drawn member. There is no claim about general queries, about examples or about "
        "any family that these members are part of."
    )


def quantities(kind: Kind, basis: Basis, centred: bool) -> dict[str, Quantity]:
    """Give the words of each quantity, by what the family is and how it is known.

    >>> quantities("specs", "specs", False)["sq-dimension"].parameters
    ('upper', 'members')
    """
    known = (_DOMAIN[kind], _BASIS[basis], _CENTRED[centred])
    more = ("confidence",) if basis == "samples" else ()
    return {
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
            "E||h||^2 <= 1, within tau, to reach the risk with the success probability: tau^2 "
            "(success M - K) / lambda, rounded up, M the number of members, lambda the upper end "
            "in the evidence of the largest eigenvalue of the members less their mean, K how many "
            "members one hypothesis can fit; 0 means that the bound is vacuous at this tolerance",
            source="BFJKMR94",
            assumptions=(*known, _GOAL, _ADVERSARY),
            parameters=("tau", "risk", "success", *more),
            fixed={"range": "h: E||h||^2 <= 1"},
        ),
    }
