"""The words that claims about named learners share: whose they are, and when there is no claim."""

from hardness.claims.words import Quantity

SCOPE = (
    "Each claim is about the learners that its words name, under its conditions, on average over a "
    "uniformly drawn member; none is about other learners. Gaussian elimination over GF(2), on all "
    "places or on a few that are guessed, is none of them. The information floor alone is about "
    "every learner."
)

FAMILY = (
    "tokens uniform on {-1,+1}^(2 x d); the hidden set uniform among all m-subsets of d-1",
    "heads solved exactly, so the factor of a label where z_0 = -1 is g(h) and nothing else; noise "
    "reflects it in the middle of the values",
)
GOAL = (
    "risk is E||F - hypothesis||^2, F = E[Y|X], over that of the mean of F over all members, for "
    "parities over that of labels that are fair coins",
)

# Reasons for which one of the bounds makes no claim about a family.
MANY_VALUES = {
    "gd": "labels take more than two values, and a gradient that is clipped may single one out: "
    "that is a general query, about which there is no theorem here",
    "low-degree": "labels take more than two values, and the ratio here is that of labels of two "
    "values",
}

FLOOR = Quantity(
    meaning="any learner whatever needs at least this many examples: once it is known which labels "
    "the noise reflects, a label takes one of L values, so K L^examples >= success N, K how many "
    "members one hypothesis can fit",
    source="information",
    assumptions=FAMILY + GOAL,
    parameters=("risk", "success", "levels"),
)
