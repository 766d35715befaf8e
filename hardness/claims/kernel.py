"""The words of claims about fixed features and kernels."""

from hardness.claims.named import FAMILY, GOAL
from hardness.claims.words import Quantity

FEATURES = (
    "features are real functions of the tokens, any whatever, chosen without the labels; every "
    "entry of the output has coefficients of its own, chosen in any way, the labels known or not; "
    "what is known of every label may be added, another fixed function counts as one feature more",
    "a kernel machine of N inputs is such a learner, with the N functions k(x_i, .), where kernel, "
    "its parameters and inputs are chosen without the labels",
    "squared loss of the combination as it is: clipped to the range of labels, as `learn` does "
    "before it judges, or rounded to a sign, it is no combination any more and may be nearer",
)

QUANTITIES: dict[str, Quantity] = {
    "kernel-error": Quantity(
        meaning="the relative risk of the best combination of so many fixed features, averaged "
        "over all members, is at least this: 1 - (sum of as many of the largest eigenvalues of the "
        "Gram matrix)/(sum of all). Beside what everyone knows of a label, the best features "
        "attain it: sums of members with the entries of eigenvectors; 0 means that the bound is "
        "vacuous",
        source="Fan49",
        assumptions=FAMILY + GOAL + FEATURES,
        parameters=("features",),
    ),
    "kernel-features": Quantity(
        meaning="so many fixed features are needed at least to reach the risk on a share `success` "
        "of the members: the least number whose largest eigenvalues add up to success (1 - risk) "
        "of the sum of all; 1 or 0 means that the bound is vacuous",
        source="Fan49",
        assumptions=FAMILY + GOAL + FEATURES,
        parameters=("risk", "success"),
    ),
}
