"""Claims and their conditions in words: the one place where a certificate becomes sentences."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any

from hardness.bounds.checker import short, written
from hardness.bounds.checker.directions import Directions
from hardness.bounds.checker.functions import Functions
from hardness.bounds.checker.hidden_sets import HiddenSets
from hardness.bounds.checker.residues import Residues

if TYPE_CHECKING:
    from hardness.bounds.certificate import Certificate, Claim

_RISK = "Relative risk is E|F - hypothesis|^2, F the member's mean label at a point, over {}. "
_FAMILY = _RISK.format("the same error of the mean of all members, averaged over members")
_SIGN = _RISK.format("the same error of predicting 0 for the hidden sign")
_ORACLE = (
    "STAT(tau) answers within tau of the mean, VSTAT(t) within max(1/t, sqrt(p(1-p)/t)) of a mean "
    "p; any such answer is admissible. A query eliminates the members for which the adversary's "
    "answer, the same for all members, is not admissible."
)
_SCOPE = (
    "A hypothesis is accurate for the members for which its relative risk is at most that of the "
    "claim. Success is averaged over the member and all else that is drawn. Bounds on queries do "
    "not apply to learners that use individual examples, such as elimination and lattice "
    "reduction, and no claim is a level of security."
)
_EMPTY = "; vacuous: a bound of at most 2 only excludes learners that ask or look at most once"
_SQ_DIM = "SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is {}"
_SDA = (
    "SDA at gamma = {} is {}: the largest integer q, up to the number N of members, such that "
    "every set of N/q members or more has average |correlation| at most gamma, over all ordered "
    "pairs of the set, those of a member with itself included; 0 if there is no such q"
)
_ALL_PAIRS = "over all ordered pairs, of one with itself too"
_HEADS = "Heads of softmax attention on two tokens compute such labels exactly"
_LABEL = "{n} uniform signs; with probability 1/2 the label shows {g}"
_GAME = "all of one random member,"
_CHANCE = "its mean if labels are random with the same mean"


def conditions(certificate: "Certificate") -> str:
    """Describe the terms of a certificate in four lines: members, examples, oracle, scope.

    >>> import hardness
    >>> conditions(hardness.certify("parity:d=8,m=3")).partition(chr(10))[0]
    'Members: the 3-subsets S of 7 coordinates, uniformly distributed.'
    """
    problem = certificate.parsed
    match problem:
        case HiddenSets():
            members, examples, risk = _of_hidden_sets(problem)
        case Residues():
            members, examples, risk = _of_residues(problem, certificate.problem["labels"])
        case Directions():
            members, examples, risk = _of_directions(problem)
        case _:
            members, examples, risk = _of_functions(problem)
    return f"Members: {members}\nExamples: {examples}\nOracle: {_ORACLE}\nScope: {risk}{_SCOPE}"


def _of_hidden_sets(problem: HiddenSets) -> tuple[str, str, str]:
    runs = [(written(v), len(list(same))) for v, same in groupby(problem.g)]
    values = ", ".join(v if k == 1 else f"{v} ({k} times)" for v, k in runs)
    g = f"g(h), h the number of signs of S that are -1, g(0..{problem.m}) = {values}"
    if problem.noise:
        g += f"; noise reflects it in the middle of its range with probability {problem.noise}"
    label, layer, added = _LABEL.format(n=problem.n, g=g), _HEADS, ""
    if problem.view:
        label += (
            "; the same function of the point is added to the labels of all members, and perhaps "
            "noise, neither of which depends on S"
        )
        layer += ", next to heads that compute what is added"
        added = "This baseline also knows what is added. "
    return (
        f"the {problem.m}-subsets S of {problem.n} coordinates, uniformly distributed.",
        f"{label}. {layer}.",
        f"{_SIGN if problem.parity else _FAMILY}{added}"
        "Correlations, SQ-DIM and SDA are of g less its mean. ",
    )


def _of_residues(problem: Residues, labels: str) -> tuple[str, str, str]:
    n, q, h, parts, entries = problem.n, problem.q, problem.h, problem.levels, problem.entries
    numbers = f"uniform on Z_{q}{' without 0' if h else ''}"
    if entries is not None:
        gaps = {*range(min(entries), max(entries))} - {*entries} - ({0} if h else set())
        even = len(set(entries.values())) == 1 and not gaps
        law = ", uniformly" if even else f" with {_probabilities(entries)}"
        numbers = (
            f"from {min(entries)} to {max(entries)}{law}" if len(entries) > 1 else str(*entries)
        )
    drawn = "e = 0"
    if errors := problem.errors:
        drawn = f"e, independent of a, from {min(errors)} to {max(errors)} with "
        drawn += _probabilities(errors)
    shows = f"which of {parts} equal intervals of Z_{q} has <a, s>"
    if labels == "residue":
        shows = f"<a, s> + e mod {q}, {drawn}"
    return (
        f"secrets s of Z_{q}^{n}"
        + (f" with {h} nonzero entries, whose positions are uniform" if h else "")
        + f", entries {numbers}, drawn again until one is a unit; secrets that are equal mod "
        + f"{problem.modulus}{'' if problem.differ else ', but for a unit factor,'} count as one.",
        "a vector a of "
        + (
            "uniform numbers"
            if q % 2 == 0
            else f"independent numbers of {problem.bits} bits mod {q}"
        )
        + f"; with probability 1/2 the example is informative and its label shows {shows}.",
        _RISK.format(
            "the same error of the best constant if a is uniform, both on informative examples"
        ),
    )


def _of_directions(problem: Directions) -> tuple[str, str, str]:
    label = f"s(u), of values -1 and +1, whose sign noise flips with probability {problem.noise}"
    return (
        f"the unit vectors w of {problem.n} dimensions, uniformly distributed.",
        f"{problem.n} numbers of the point, whose inner product u with w is standard normal; the "
        f"label shows {label}. The squared Hermite coefficients of s of degree below {problem.m} "
        f"are at most {', '.join(map(short, problem.low_at_most))}.",
        _FAMILY,
    )


def _of_functions(problem: Functions) -> tuple[str, str, str]:
    two = problem.levels == 2
    tables = "with the values -1 and +1, by their tables" if two else "by their tables"
    if not two:
        less = ", each less the mean of all" if problem.centred else ""
        tables += f"{less}, scaled to norm 1"
    risk = _FAMILY
    if two and problem.centred:
        risk += "Correlations, SQ-DIM and SDA are of members less the mean of all. "
    return (
        f"{len(problem.tables)} functions of {problem.n} uniform signs {tables}, uniformly "
        "distributed.",
        "a point of these signs, uniform, and the member's value there.",
        risk,
    )


def _probabilities(law: Mapping[int, int]) -> str:
    """Write the largest probability of a distribution; the problem has all of them."""
    largest = Fraction(max(law.values()), sum(law.values()))
    return f"the probabilities of the problem, the largest {short(largest, up=True)}"


def sentence(certificate: "Certificate", claim: "Claim") -> str:
    """Write a claim as a sentence, without a full stop.

    >>> import hardness
    >>> certificate = hardness.certify("parity:d=8,m=3")
    >>> sentence(certificate, certificate["sq-dimension"])
    'SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is 35, all members'
    """
    return _SENTENCES[claim.quantity](certificate, claim)


# Correlations and dimensions.


def _between(low: Fraction, high: Fraction) -> str:
    """Write a number that is known to be between two ends."""
    return short(low) if low == high else f"between {short(low)} and {short(high, up=True)}"


def _pairwise(certificate: "Certificate", claim: "Claim") -> str:
    if certificate.problem["kind"] == "hidden-set":
        return "Any two different members have correlation 0"
    near = f"at most {short(claim.upper, up=True)}" if claim.upper else "0"
    return f"Members that are not multiples of each other by a unit have correlation {near}"


def _largest(certificate: "Certificate", claim: "Claim") -> str:
    text = f"Two different members have correlation at most {short(claim.upper, up=True)}"
    return text + ", in absolute value" * (certificate.problem["kind"] == "functions")


def _spectral(quantity: str) -> Callable[..., str]:
    def words(certificate: "Certificate", claim: "Claim") -> str:
        return (
            f"{quantity}, of members moved to mean 0 and scaled to norm 1, is {short(claim.value)}"
        )

    return words


def _average(certificate: "Certificate", claim: "Claim") -> str:
    if certificate.problem["kind"] != "functions":
        return _spectral(f"The average correlation {_ALL_PAIRS}")(certificate, claim)
    least = "" if claim.value == claim.upper else "at most "
    return (
        "The average of |correlation| over all ordered pairs of members, of one with itself "
        f"too, is {least}{short(claim.upper, up=bool(least))}"
    )


def _dimension(certificate: "Certificate", claim: "Claim") -> str:
    if "upper" not in claim.terms:
        return _SQ_DIM.format(short(claim.value)) + ", all members"
    return _SQ_DIM.format(_between(claim.value, claim.upper))


def _orthogonal(certificate: "Certificate", claim: "Claim") -> str:
    problem, alike = certificate.parsed, Fraction(claim.terms["alike"])
    but = f", but for up to {alike} that are multiples of each other by units" * (alike > 1)
    return (
        f"{short(claim.value)} members, of at most {short(claim.upper, up=True)} secrets, are "
        f"{'different' if problem.differ else 'not multiples by a unit'} mod {problem.modulus}: "
        f"if a is uniform their distributions of a label are orthogonal{but}"
    )


def _operator(less: str) -> Callable[..., str]:
    def words(certificate: "Certificate", claim: "Claim") -> str:
        norm = "The norm of the members' inner products, over a uniform direction"
        return f"{norm}{less}, is at most {short(claim.value, up=True)}"

    return words


def _random(certificate: "Certificate", claim: "Claim") -> str:
    size = short(claim.value)
    return (
        f"{size} directions drawn uniformly have correlations of at most 1/{size} "
        f"with probability at least {short(Fraction(claim.terms['probability']))}: so there are "
        "such directions"
    )


def _sda(certificate: "Certificate", claim: "Claim") -> str:
    value = _between(claim.value, claim.upper)
    if "upper" not in claim.terms:
        value = f"at least {short(claim.value)}"
    return _SDA.format(claim.parameters["gamma"], value)


# Queries and examples.


def _goal(terms: Mapping[str, Any]) -> str:
    """Write the risk and the probability that a learner has to reach."""
    risk, success = Fraction(terms["risk"]), Fraction(terms["success"])
    return (
        f"to reach relative risk {short(risk)} with probability {short(success, up=True)} over a "
        "random member"
    )


def _weighed(claim: "Claim") -> str:
    """Write how many members are needed, if they are not uniformly distributed."""
    if "T" not in claim.numbers:
        return ""
    needed = short(claim.numbers["T"])
    return f"; at least {needed} members together have that probability"


def _queries(certificate: "Certificate", claim: "Claim") -> str:
    oracle, continuum = claim.quantity.partition("-")[0], certificate.problem["kind"] == "direction"
    learner = "SQ learner"
    if oracle == "vstat":
        what = f"queries to VSTAT({short(Fraction(claim.terms['t']))})"
    else:
        tau = short(Fraction(claim.terms["tau"]), up=True)
        what = f"queries to STAT({tau})"
        if oracle == "csq":
            listed, learner = certificate.parsed, "correlational SQ learner"
            real = isinstance(listed, Functions) and listed.levels != 2
            scaled = "norm 1 with h, E h^2 <= 1" if real else "[-1,1] with h, |h| <= 1"
            what = f"correlations of labels scaled to {scaled}, each within {tau}"
    numbers = claim.numbers
    every = "all directions" if continuum else f"{short(numbers['N'])} members"
    fits = (
        f"a hypothesis is accurate for at most {short(numbers['K'], up=True)}"
        f"{' of them' * continuum}"
    )
    if claim.quantity.endswith("-success"):
        risk = short(Fraction(claim.terms["risk"]))
        return (
            f"However many {what} it asks, every {learner} reaches relative risk {risk} with "
            f"probability at most {short(claim.value, up=True)} over a random member, in the worst "
            f"case over admissible answers: a query eliminates none of {every}, and {fits}"
        )
    text = (
        f"Every {learner} needs at least {short(claim.value)} {what} {_goal(claim.terms)}, in the "
        f"worst case over admissible answers: a query eliminates at most "
        f"{short(numbers['r'], up=True)} of {every}, and {fits}{_weighed(claim)}"
    )
    return text + (_EMPTY if claim.value <= 2 else "")


def _information(certificate: "Certificate", claim: "Claim") -> str:
    text = (
        f"Every learner, SQ or not, needs at least {claim.value} labelled examples, drawn or "
        f"chosen, {_goal(claim.terms)}: a label has one of {claim.terms['levels']} values, "
        f"given its point and its noise, which such a learner may know{_weighed(claim)}"
    )
    return text + (_EMPTY if claim.value <= 2 else "")


# Named learners.


def _steps(certificate: "Certificate", claim: "Claim") -> str:
    terms = claim.terms
    clip, std = short(Fraction(terms["clip"])), short(Fraction(terms["noise-std"]), up=True)
    what = (
        "each the expectation of a function of its choice, as a gradient, clipped to Euclidean "
        f"norm {clip} on each example, with fresh independent normal noise of deviation {std} on "
        "each coordinate"
    )
    if claim.quantity == "gd-noise-success":
        vacuous = "; vacuous" * (claim.value == 1)
        return (
            f"{short(Fraction(terms['steps']))} noisy steps reach relative risk "
            f"{short(Fraction(terms['risk']))} with probability at most "
            f"{short(claim.value, up=True)} over a random member: steps of any rule, "
            f"{what}{vacuous}"
        )
    vacuous = "; vacuous" * (claim.value <= 1)
    return (
        f"At least {short(claim.value)} noisy steps of any rule are needed {_goal(terms)}, {what}"
        f"{vacuous}"
    )


def _features(certificate: "Certificate", claim: "Claim") -> str:
    what = "functions of the point, or a kernel machine on as many inputs (an intercept counts as"
    so = "if functions, kernel and inputs are chosen without labels, before predictions are "
    so += "clipped, with the known part of labels added"
    so += "" if certificate.problem["kind"] == "functions" else " or not"
    if claim.quantity == "kernel-error":
        vacuous = "" if claim.value else "; vacuous"
        return (
            f"Regression on up to {short(Fraction(claim.terms['features']))} {what} one) has on "
            f"average over members a relative risk of at least {short(claim.value)}, {so}{vacuous}"
        )
    least = f"needs at least {short(claim.value)}" if claim.value else "may need none"
    vacuous = "; vacuous" * (claim.value <= 1)
    return f"Regression on {what} one) {least} of them {_goal(claim.terms)}, {so}{vacuous}"


def _counted(number: Fraction) -> str:
    """Write a number of examples."""
    return f"{short(number)} example{'s' * (number != 1)}"


def _low_degree(certificate: "Certificate", claim: "Claim") -> str:
    terms, most = claim.terms, claim.terms["sample_degree"]
    few = ""
    if most != "any":
        few = f", no monomial of which looks at more than {_counted(Fraction(most))}"
    reach = f"Polynomials of degree at most {short(Fraction(terms['degree']))}"
    reach += f"{few}, in the signs of "
    kind = "informative examples alone"
    if not claim.quantity.endswith("-open"):
        kind = "examples, whether they are informative,"
    what = f"{reach}{kind} and what labels show of S"
    if terms.get("examples") == "any":
        return (
            f"{what}: over any number of examples, {_GAME} the mean of each is {_CHANCE}; no "
            "other tests are meant"
        )
    if claim.quantity.startswith("low-degree-advantage"):
        root = short(claim.value, up=True)
        return (
            f"{what}: the mean of one over {_counted(Fraction(terms['examples']))}, {_GAME} "
            f"differs from {_CHANCE} by at most the root of {root}, the squared advantage, times "
            f"its deviation there{', which one attains' if root == written(claim.value) else ''}; "
            f"no other tests are meant{'; vacuous' if claim.value >= 1 else ''}"
        )
    return (
        f"{what}: at least {_counted(claim.value)}, {_GAME} {'are' if claim.value > 1 else 'is'} "
        f"needed for the mean of one to differ from {_CHANCE} by its deviation there; no other "
        f"tests are meant{'; vacuous' if claim.value == 1 else ''}"
    )


def _reduction(certificate: "Certificate", claim: "Claim") -> str:
    problem, terms, numbers = certificate.parsed, claim.terms, claim.numbers
    n, q, p = problem.n, problem.q, problem.levels
    bound, examples, last = (int(Fraction(terms[k])) for k in ("bound", "examples", "horizon"))
    binary = problem.entries is not None and set(problem.entries) <= {0, 1}
    lost = Fraction(p * bound, q)  # at most 1/2: 1 / ln(1 + lost) is 1/lost + 1/2 - lost/12 + ..
    tenths = round(Fraction(6_931_472, 10**6) * (1 / lost + Fraction(1, 2) - lost / 12))  # 10 ln 2
    value = numbers["shown"]
    text = (
        f"A learner that reaches relative risk {short(Fraction(terms['risk']))}"
        f"{', labels equally spaced in their order,' if p > 2 else ''} with probability "
        f"{short(Fraction(terms['success']))} from {short(examples)} examples gives a solver of "
        f"LWE. From as many samples (a, <a, s> + e mod {q}), secrets of the same distribution, it "
        f"finds {'s' if binary else 's mod 2'} with probability at least {short(value)}. This "
        f"holds for every distribution of integers e, independent of a, with |e| <= {bound} and "
        f"with 0 as a median. The solver reads the "
        f"hypothesis at {short(numbers['points'])} points and does not know the distribution. The "
        "assumption is "
        f"LWE(n={n}, q={q}, |e| <= {bound}) for some such distribution: if it alone has no solver "
        f"so good and so quick, there is no such learner. The bound on the probability halves "
        f"about every {tenths // 10}.{tenths % 10} examples. It is vacuous beyond {last} examples, "
        f"where the likeliest guess is as good: that is right with probability "
        f"{short(numbers['guess'], up=True)}"
    )
    if examples > last:
        text = f"{text}. So it is here: {examples} examples are beyond"
    return text


_SENTENCES: dict[str, Callable[..., str]] = {
    "pairwise-correlation": _pairwise,
    "largest-correlation": _largest,
    "average-correlation": _average,
    "operator-norm": _spectral("The largest Gram eigenvalue"),
    "second-eigenvalue": _spectral("The largest Gram eigenvalue less the mean of all"),
    "cross-predictability": _spectral(f"The average squared correlation {_ALL_PAIRS}"),
    "orthogonal-members": _orthogonal,
    "operator-norm-at-most": _operator(""),
    "second-eigenvalue-at-most": _operator(", less the mean of all"),
    "random-members": _random,
    "sq-dimension": _dimension,
    "sq-dimension-at-least": lambda made, claim: _SQ_DIM.format(f"at least {short(claim.value)}"),
    "sda-all-subsets": _sda,
    **dict.fromkeys(("stat-queries", "csq-queries", "vstat-queries"), _queries),
    **dict.fromkeys(("stat-success", "csq-success", "vstat-success"), _queries),
    "information-floor": _information,
    **dict.fromkeys(("gd-noise-steps", "gd-noise-success"), _steps),
    **dict.fromkeys(("kernel-error", "kernel-features"), _features),
    **dict.fromkeys(("low-degree-advantage", "low-degree-advantage-open"), _low_degree),
    **dict.fromkeys(("low-degree-examples", "low-degree-examples-open"), _low_degree),
    "lwe-probability": _reduction,
}
