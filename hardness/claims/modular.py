"""The words of certificates of LWE-style families, whose members are orthogonal."""

from hardness.claims.words import Quantity, with_success

SCOPE = (
    "Statistical-query learners only: algorithms that see expectations of bounded functions of "
    "(X, Y) within a tolerance. Lattice reduction, linear algebra, Arora-Ge, BKW and searches "
    "through secrets look at single examples and are no such algorithms: none of these numbers is "
    "about what they cost, and none is a level of security. The query bounds are on how many "
    "queries a learner must be allowed, when an adversary chooses the answers within the tolerance "
    "and success is averaged over a uniformly drawn one of the members counted; single runs may "
    "end earlier. The information floor alone is about every learner."
)

FAMILY = (
    "tokens uniform on {-1,+1}^(2 x d); a is uniform on Z_q^n for q = 2^l, and for a prime q the "
    "bits of numbers mod q, its density against uniform between least and most, the two ends of "
    "`density` in the evidence",
    "labels follow from the formula, as stored and drawn ones do, and errors have exactly the "
    "probabilities of the evidence, multiples of 2^-64",
)
MEMBERS = (
    "the secret is uniform among N members, any two of them different in the sense of `meaning` of "
    "the evidence and at most `alike` of them multiples of each other by units mod `modulus`, with "
    "entries of size at most `reach` where that is not 0",
)
GOAL = (
    "risk is E||F - hypothesis||^2, F = E[Y|X], over that of the mean of F for a uniform on Z_q^n",
)
_ADVERSARY = ("answers may be any values within the tolerance",)

_QUANTITIES: dict[str, Quantity] = {
    "orthogonal-members": Quantity(
        meaning="N: so many members there are, any two of which are orthogonal where a is uniform "
        "on Z_q^n: E sum_c Pr[c] l l' = 0, l = Pr[c | <a, s>]/Pr[c] - 1 over the labels c; those "
        "that are not `alike` have independent labels; `upper` says how many secrets there are at "
        "most",
        source="Regev05",
        assumptions=FAMILY,
        parameters=("upper", "alike"),
    ),
    "pairwise-correlation": Quantity(
        meaning="the largest correlation, in absolute value, of two of the N members that are not "
        "alike, as E[Y|X] less its mean, scaled to norm 1; it is between the value and `upper`",
        source="CL24",
        assumptions=FAMILY,
        parameters=("upper",),
        fixed={"normalisation": "unit norm under the token distribution"},
    ),
    "sq-dimension": Quantity(
        meaning="the value is certified: so many of the N members, none of them alike, have "
        "correlations that are small enough; `upper` says how many secrets there are at most. The "
        "query bounds rest on N and on the largest eigenvalue of all N as laws of an example, at "
        "most the largest density of a times that for a uniform",
        source="BFJKMR94",
        assumptions=FAMILY,
        parameters=("upper",),
        fixed={"definition": "largest N with N members of correlation at most 1/N"},
    ),
    "stat-queries": Quantity(
        meaning="any learner must be allowed at least this many queries to STAT(tau), "
        "correlational or not, to reach the risk with the success probability: (success N - K) / "
        "r, rounded up, r the whole part of kappa / tau^2, how many members one query "
        "can rule out, kappa = most chi^2 v / 4, chi^2 of a label against labels of no secret, v "
        "the largest variance of a function in [-1,1] of such a label, most the largest density of "
        "a, K = alike floor(most/(least - risk)), least its least density; 0 means that the bound "
        "is vacuous at this tolerance",
        source="BFJKMR94",
        assumptions=FAMILY + MEMBERS + GOAL + _ADVERSARY,
        parameters=("tau", "risk", "success"),
        fixed={"range": "[-1,1]"},
    ),
    "vstat-queries": Quantity(
        meaning="the same for VSTAT(t), whose tolerance is about that of t examples (t = 1/tau^2 "
        "is comparable): (success N - K) / r, rounded up, r the whole part of 3 t "
        "kappa, kappa = most chi^2 (1 - p) / 2, p the probability of the rarest label",
        source="FGRVX17",
        assumptions=FAMILY + MEMBERS + GOAL + _ADVERSARY,
        parameters=("t", "risk", "success"),
        fixed={"range": "[0,1]"},
    ),
    "information-floor": Quantity(
        meaning="any learner whatever, statistical-query or not, needs at least this many "
        "examples: for given errors a label takes one of L values, so K L^examples >= success N",
        source="information",
        assumptions=FAMILY + MEMBERS + GOAL,
        parameters=("risk", "success", "levels"),
    ),
}
QUANTITIES = with_success(_QUANTITIES)
