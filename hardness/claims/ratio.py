"""The words of claims about low-degree polynomials of labelled examples."""

from hardness.claims.named import FAMILY
from hardness.claims.words import Quantity

_GAME = (
    "labels of a uniformly drawn member, one for all examples, against a null in which the unknown "
    "part of every label is a coin of the same mean, independent of everything; labels have two "
    "values",
    "a polynomial is real, of the degree given, and no monomial looks at more than sample_degree "
    "different examples",
    "a statement about polynomials of this degree and no other test: that efficient tests do no "
    "better is a conjecture with known counterexamples, and is not claimed here",
    "Gaussian elimination over GF(2) is no polynomial of low degree: it finds parities without "
    "noise from about d examples, and with little noise on places that are guessed",
)
_LAYER = (
    "examples of the layer, half of which have z_0 = +1 and say nothing; the degree counts bits of "
    "z = X_1*X_2, z_0 among them, and the label's unknown part, 0 where z_0 = +1. A polynomial of "
    "degree 2 D + 1 in the entries of X and Y does no better than one of degree D in these",
)
_OPEN = (
    "examples with z_0 = -1 only, as in the literature on noisy parities; the degree counts bits "
    "of z and the label's unknown sign",
)
_ADVANTAGE = (
    "any polynomial f of this degree in so many examples has |E f - E_null f| <= sqrt(value) times "
    "the standard deviation of f under the null, and the best f attains it: value = "
    "||L^{<=D}||^2 - 1, L the likelihood ratio. From 1 on the bound is vacuous"
)
_EXAMPLES = (
    "the least number of examples at which ||L^{<=D}||^2 - 1 reaches 1: with fewer, no polynomial "
    "of this degree has its two means a standard deviation of the null apart; 0 means that the "
    "ratio of this degree is 1 for any number of examples"
)

QUANTITIES: dict[str, Quantity] = {
    "low-degree-advantage": Quantity(
        meaning=_ADVANTAGE,
        source="Hop18",
        assumptions=FAMILY + _GAME + _LAYER,
        parameters=("degree", "examples", "sample_degree"),
    ),
    "low-degree-examples": Quantity(
        meaning=_EXAMPLES,
        source="Hop18",
        assumptions=FAMILY + _GAME + _LAYER,
        parameters=("degree", "sample_degree"),
    ),
    "low-degree-advantage-open": Quantity(
        meaning=_ADVANTAGE,
        source="Hop18",
        assumptions=FAMILY + _GAME + _OPEN,
        parameters=("degree", "examples", "sample_degree"),
    ),
    "low-degree-examples-open": Quantity(
        meaning=_EXAMPLES,
        source="Hop18",
        assumptions=FAMILY + _GAME + _OPEN,
        parameters=("degree", "sample_degree"),
    ),
}
