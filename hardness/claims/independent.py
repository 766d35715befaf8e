"""The words of claims about named learners on LWE-style families, whose members are orthogonal."""

from hardness.claims.descent import BATCH, GRID, NOISE, RULE, WITHIN, Regime
from hardness.claims.kernel import FEATURES
from hardness.claims.words import Quantity

SCOPE = (
    "Each claim is about the learners that its words name, under its conditions, on average over a "
    "uniformly drawn one of the members counted; none is about other learners. Lattice reduction, "
    "linear algebra, Arora-Ge, BKW and searches through secrets are none of them: none of these "
    "numbers is about what they cost, and none is a level of security. The information floor alone "
    "is about every learner."
)

# Why there is no claim about polynomials of low degree.
NO_DEGREE = (
    "labels are functions of residues, and which of their bits a polynomial counts as degree, and "
    "what parts of such degrees rounded labels have, is another question, about which there is no "
    "theorem here"
)

_FAMILY = (
    "tokens uniform on {-1,+1}^(2 x d); a is uniform on Z_q^n for q = 2^l, with least = most = 1, "
    "and for a prime q numbers of b bits mod q, of a density against uniform between least = 1 - n "
    "x/W and most = 1/(1 - n (q - x)/W), W = 2^b, x = W mod q",
    "labels follow from the formula, as stored and drawn ones do, and errors have exactly the "
    "probabilities of the problem in the evidence, multiples of 2^-64",
)
_MEMBERS = (
    "the secret is uniform among the N members that the kernel counts for the problem in the "
    "evidence, at most `alike` of which are multiples of each other by units",
)
_GOAL = (
    "risk is E||F - hypothesis||^2, F = E[Y|X], over that of the mean of F for a uniform on Z_q^n",
)
_COMMON = _FAMILY + _MEMBERS + _GOAL
_ENDS = "least and most the ends of the density of a"
_SHARE = (
    "K = alike floor(most/(least - risk)) how many of the N members counted one hypothesis can "
    "fit, " + _ENDS
)
_SPREAD = (
    "S = most chi^2 V, chi^2 of a label against labels of no secret, V the largest variance of a "
    "vector in the unit ball that is a function of a label: 4 r (1 - r) for two labels, r the "
    "probability of the rarer one, else 1"
)

_REGIMES = (
    Regime(
        name="noise",
        source="AS20",
        law="K/N + (clip/(4 noise-std)) sqrt(steps S/N), " + _SPREAD,
        conditions=RULE + NOISE,
        given=("clip", "noise-std"),
    ),
    Regime(
        name="within",
        source="AKMSS21",
        law="K/N + steps r/N, r the whole part of clip^2 S/(4 within^2), how many "
        "members a step can rule out, " + _SPREAD + "; where r is 0 the steps may be any number",
        conditions=RULE + WITHIN,
        given=("clip", "within"),
    ),
    Regime(
        name="grid",
        source="AKMSS21",
        law="K/N + (steps clip/(2 grid)) sqrt(parameters S/N), " + _SPREAD,
        conditions=RULE + GRID,
        given=("clip", "grid", "parameters"),
    ),
    Regime(
        name="batch",
        source="AKMSS21",
        law="K/N + sqrt(steps min(steps, 14) Q)/2, Q = (2^state-bits - 1) L/N, L = most^batch "
        "((1 + chi^2/2)^batch - 1), chi^2 of a label against labels of no secret",
        conditions=BATCH,
        given=("batch", "state-bits"),
    ),
)

QUANTITIES: dict[str, Quantity] = {
    "kernel-error": Quantity(
        meaning="the relative risk of the best combination of so many fixed features, averaged "
        "over the N members counted, is at least this: least - features alike most/N, or 0 "
        f"where that is less, {_ENDS}; where all three are 1 any so many of the members attain it, "
        "beside what everyone knows of a label; 0 means that the bound is vacuous",
        source="Fan49",
        assumptions=_COMMON + FEATURES,
        parameters=("features",),
    ),
    "kernel-features": Quantity(
        meaning="so many fixed features are needed at least to reach the risk on a share `success` "
        f"of the N members counted: success N (least - risk)/(alike most), rounded up, {_ENDS}; 1 "
        "or 0 means that the bound is vacuous",
        source="Fan49",
        assumptions=_COMMON + FEATURES,
        parameters=("risk", "success"),
    ),
    "information-floor": Quantity(
        meaning="any learner whatever, statistical-query or not, needs at least this many "
        "examples: for given errors a label takes one of L values, so K L^examples >= success N",
        source="information",
        assumptions=_COMMON,
        parameters=("risk", "success", "levels"),
    ),
}
for _regime in _REGIMES:
    QUANTITIES |= _regime.quantities(_COMMON, _SHARE, ("risk",))
