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

_RISK = "Relative risk is E|F - hypothesis|^2, F the mean label at a point, over that of {}. "
_FAMILY = _RISK.format("the best predictor that knows only the family, on average over members")
_ADDED = _RISK.format("the best predictor that knows the family and what is added, on average")
_ALL = (
    "Answers to queries may be any numbers within the tolerance. A query rules out the members for "
    "which the adversary's answer, the same for all members, is not within it; a hypothesis fits "
    "those for which its relative risk is at most that of the claim. STAT(tau) answers within tau "
    "of the mean, VSTAT(t) within max(1/t, sqrt(p(1-p)/t)) of a mean p. Success is averaged over "
    "the member, drawn as said, and all else that is drawn. Claims on queries do not speak of "
    "learners that look at single examples, as elimination and lattice reduction do, and no claim "
    "is a level of security."
)
_EMPTY = "; vacuous: up to 2 rule out nothing but learners that ask or look once"
_SQ_DIM = "SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is {}"
_SDA = (
    "SDA, the largest whole q up to N such that any N/q of N members or more have mean "
    "|correlation| at most {}, over their ordered pairs, of one with itself too, or 0 if there is "
    "none, is {}"
)
_EVERY = "over all ordered pairs, of one with itself too"
_HEADS = "Heads of softmax attention on two tokens compute such labels exactly"
_SHOWN = "An example has {n} fair signs and, with probability 1/2, shows {g}"
_GAME = "all of one member that is drawn,"
_COINS = "its mean where labels are coins of the same mean"


def conditions(certificate: "Certificate") -> str:
    """Say what a certificate is about: its members, examples, risk, and what it does not say.

    >>> import hardness
    >>> conditions(hardness.certify("parity:d=8,m=3"))[:56]
    'Members are the 3-subsets S of 7 places, all as likely. '
    """
    problem = certificate.parsed
    match problem:
        case HiddenSets():
            text = _of_hidden_sets(problem)
        case Residues():
            text = _of_residues(problem, certificate.problem["labels"])
        case Directions():
            text = _of_directions(problem)
        case _:
            text = _of_functions(problem)
    return text + _ALL


def _of_hidden_sets(problem: HiddenSets) -> str:
    runs = [(written(v), len(list(same))) for v, same in groupby(problem.g)]
    values = ", ".join(v if k == 1 else f"{v} ({k} times)" for v, k in runs)
    g = (
        f"g(h), h how many signs of S are -1, g(0..{problem.m}) = {values}, which noise reflects "
        f"in the middle of its range with probability {problem.noise}"
    )
    shown, layer = _SHOWN.format(n=problem.n, g=g), _HEADS
    if problem.view:
        shown += (
            "; the same function of the point is added to the labels of all members, and perhaps "
            "noise, neither of which depends on S"
        )
        layer += ", beside heads that compute what is added"
    return (
        f"Members are the {problem.m}-subsets S of {problem.n} places, all as likely. "
        f"{shown}. {layer}. {_ADDED if problem.view else _FAMILY}"
        "Correlations, SQ-DIM and SDA are of g less its mean. "
    )


def _of_residues(problem: Residues, labels: str) -> str:
    n, q, h, parts, entries = problem.n, problem.q, problem.h, problem.levels, problem.entries
    numbers = f"uniform on Z_{q}{' without 0' if h else ''}"
    if entries is not None:
        gaps = {*range(min(entries), max(entries))} - {*entries} - ({0} if h else set())
        even = len(set(entries.values())) == 1 and not gaps
        law = ", all as likely" if even else f" with {_probabilities(entries)}"
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
        f"A secret s of Z_{q}^{n} is drawn"
        + (f" with {h} entries that are not 0, at places that are all as likely" if h else "")
        + f", entries {numbers}, again until one is a unit. Members are secrets; those that are "
        + f"the same mod {problem.modulus}"
        + f"{'' if problem.differ else ', but for a factor that is a unit,'} count "
        + "as one. An example has a vector a, "
        + ("uniform" if q % 2 == 0 else f"independent numbers of {problem.bits} bits mod {q}")
        + f", and with probability 1/2 it is open and shows {shows}, written as any "
        + "numbers. "
        + _RISK.format("the best constant where a is uniform, both on open examples")
    )


def _of_directions(problem: Directions) -> str:
    shown = f"s(u), of values -1 and +1, whose sign noise flips with probability {problem.noise}"
    return (
        f"Members are the unit vectors w of {problem.n} dimensions, drawn uniformly. u, the inner "
        f"product of w with {problem.n} numbers of the point, is standard normal, and an example "
        f"shows {shown}. The squared Hermite coefficients of s of degree below {problem.m} are at "
        f"most {', '.join(map(short, problem.low_at_most))}. {_FAMILY}"
    )


def _of_functions(problem: Functions) -> str:
    two = problem.levels == 2
    what = "with the values -1 and +1, by their tables" if two else "by their tables"
    if not two:
        less = ", each less the mean of all" if problem.centred else ""
        what += f"{less}, scaled to norm 1"
    text = (
        f"Members are {len(problem.tables)} functions of {problem.n} fair signs {what}, all as "
        f"likely; labels are their values. {_FAMILY}"
    )
    if two and problem.centred:
        text += "Correlations, SQ-DIM and SDA are of members less the mean of all. "
    return text


def _probabilities(law: Mapping[int, int]) -> str:
    """Write how likely numbers are: the problem has it all, the text the largest."""
    largest = Fraction(max(law.values()), sum(law.values()))
    return f"the probabilities of the problem, the largest {short(largest, up=True)}"


def sentence(certificate: "Certificate", claim: "Claim") -> str:
    """Say what a claim says.

    >>> import hardness
    >>> made = hardness.certify("parity:d=8,m=3")
    >>> sentence(made, made["sq-dimension"])
    'SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is 35: all'
    """
    return _SENTENCES[claim.quantity](certificate, claim)


# Correlations and dimensions.


def _between(low: Fraction, high: Fraction) -> str:
    """Write the two ends of a number."""
    return short(low) if low == high else f"between {short(low)} and {short(high, up=True)}"


def _pairwise(certificate: "Certificate", claim: "Claim") -> str:
    if certificate.problem["kind"] == "hidden-set":
        return "any two different members have correlation 0"
    near = f"at most {short(claim.upper, up=True)}" if claim.upper else "0"
    return f"members that are no multiples of each other by a unit have correlation {near}"


def _largest(certificate: "Certificate", claim: "Claim") -> str:
    text = f"two different members have correlation at most {short(claim.upper, up=True)}"
    return text + ", in absolute value" * (certificate.problem["kind"] == "functions")


def _spectral(what: str) -> Callable[..., str]:
    def words(certificate: "Certificate", claim: "Claim") -> str:
        return f"{what}, of members moved to mean 0 and scaled to norm 1, is {short(claim.value)}"

    return words


def _average(certificate: "Certificate", claim: "Claim") -> str:
    if certificate.problem["kind"] != "functions":
        return _spectral(f"the average correlation {_EVERY}")(certificate, claim)
    least = "" if claim.value == claim.upper else "at most "
    return (
        "the average of |correlation| over all ordered pairs of members, of one with itself "
        f"too, is {least}{short(claim.upper, up=bool(least))}"
    )


def _dimension(certificate: "Certificate", claim: "Claim") -> str:
    if "upper" not in claim.terms:
        return _SQ_DIM.format(short(claim.value)) + ": all"
    return _SQ_DIM.format(_between(claim.value, claim.upper))


def _orthogonal(certificate: "Certificate", claim: "Claim") -> str:
    problem, alike = certificate.parsed, Fraction(claim.terms["alike"])
    but = f", but for up to {alike} that are multiples of each other by units" * (alike > 1)
    return (
        f"{short(claim.value)} members, of at most {short(claim.upper, up=True)} secrets, are "
        f"{'different' if problem.differ else 'no multiples by a unit'} mod {problem.modulus}: "
        f"where a is uniform their laws of a label are orthogonal{but}"
    )


def _operator(less: str) -> Callable[..., str]:
    def words(certificate: "Certificate", claim: "Claim") -> str:
        norm = "the norm of the members' inner products, over a uniform direction"
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
    """Write what a learner has to reach."""
    risk, success = Fraction(terms["risk"]), Fraction(terms["success"])
    return f"for relative risk {short(risk)} with probability {short(success, up=True)}"


def _weighed(claim: "Claim") -> str:
    """Write how many members are needed, if they are not all as likely."""
    if "T" not in claim.numbers:
        return ""
    needed = short(claim.numbers["T"])
    return f"; no fewer than {needed} members have that probability together"


def _queries(certificate: "Certificate", claim: "Claim") -> str:
    oracle, continuum = claim.quantity.partition("-")[0], certificate.problem["kind"] == "direction"
    if oracle == "vstat":
        t = short(Fraction(claim.terms["t"]))
        what = f"queries to VSTAT({t}), of values in [0,1]"
    else:
        tau = short(Fraction(claim.terms["tau"]), up=True)
        what = f"queries to STAT({tau}), of values in [-1,1]"
        if oracle == "csq":
            listed = certificate.parsed
            real = isinstance(listed, Functions) and listed.levels != 2
            scaled = "norm 1 with h, E h^2 <= 1" if real else "[-1,1] with h, |h| <= 1"
            what = f"correlations of labels scaled to {scaled}, within {tau}"
    numbers = claim.numbers
    every = "all directions" if continuum else f"{short(numbers['N'])} members"
    fits = f"a hypothesis fits at most {short(numbers['K'], up=True)}{' of them' * continuum}"
    if claim.quantity.endswith("-success"):
        risk = short(Fraction(claim.terms["risk"]))
        return (
            f"{what}: however many, a learner reaches relative risk {risk} with "
            f"probability at most {short(claim.value, up=True)}, as one rules out none of {every}, "
            f"and {fits}"
        )
    text = (
        f"{what}: a learner needs at least {short(claim.value)} {_goal(claim.terms)}, as one "
        f"rules out at most {short(numbers['r'], up=True)} of {every}, and {fits}{_weighed(claim)}"
    )
    return text + (_EMPTY if claim.value <= 2 else "")


def _information(certificate: "Certificate", claim: "Claim") -> str:
    text = (
        f"examples, drawn or chosen: any learner whatever needs at least {claim.value} "
        f"{_goal(claim.terms)}, as each has one of {claim.terms['levels']} labels, its noise given"
        f"{_weighed(claim)}"
    )
    return text + (_EMPTY if claim.value <= 2 else "")


# Named learners.


def _steps(certificate: "Certificate", claim: "Claim") -> str:
    terms = claim.terms
    clip, std = short(Fraction(terms["clip"])), short(Fraction(terms["noise-std"]), up=True)
    what = (
        "steps of any rule, each of which sees one expectation, over the law of an example, of a "
        f"function of its choice, as a gradient, that is clipped to Euclidean norm {clip} on each "
        f"example, with fresh independent normal noise of deviation {std} on each coordinate"
    )
    if claim.quantity == "gd-noise-success":
        vacuous = "; vacuous" * (claim.value == 1)
        return (
            f"{what}: {short(Fraction(terms['steps']))} of them reach relative risk "
            f"{short(Fraction(terms['risk']))} with probability at most "
            f"{short(claim.value, up=True)}{vacuous}"
        )
    vacuous = "; vacuous" * (claim.value <= 1)
    return f"{what}: at least {short(claim.value)} are needed {_goal(terms)}{vacuous}"


def _features(certificate: "Certificate", claim: "Claim") -> str:
    what = "functions of the point, or a kernel machine on as many inputs, an intercept counted as"
    so = "if functions, kernel and inputs are chosen without labels, before predictions are "
    so += "clipped, what the family tells of labels added"
    so += "" if certificate.problem["kind"] == "functions" else " or not"
    if claim.quantity == "kernel-error":
        vacuous = "" if claim.value else "; vacuous"
        return (
            f"regression on up to {short(Fraction(claim.terms['features']))} {what} one, has on "
            f"average over members a relative risk of at least {short(claim.value)}, {so}{vacuous}"
        )
    least = f"needs at least {short(claim.value)}" if claim.value else "may need none"
    vacuous = "; vacuous" * (claim.value <= 1)
    return f"regression on {what} one, {least} of them {_goal(claim.terms)}, {so}{vacuous}"


def _counted(number: Fraction) -> str:
    """Write a number of examples."""
    return f"{short(number)} example{'s' * (number != 1)}"


def _low_degree(certificate: "Certificate", claim: "Claim") -> str:
    terms, most = claim.terms, claim.terms["sample_degree"]
    few = ""
    if most != "any":
        few = f", no monomial of which looks at more than {_counted(Fraction(most))}"
    reach = f"polynomials of degree at most {short(Fraction(terms['degree']))}"
    reach += f"{few}, in the signs of "
    kind = "open examples alone"
    if not claim.quantity.endswith("-open"):
        kind = "examples, whether they are open among them,"
    what = f"{reach}{kind} and what labels show of S"
    if terms.get("examples") == "any":
        return (
            f"{what}: over any number of examples, {_GAME} the mean of each is {_COINS}; no "
            "other tests are meant"
        )
    if claim.quantity.startswith("low-degree-advantage"):
        root = short(claim.value, up=True)
        return (
            f"{what}: the mean of one over {_counted(Fraction(terms['examples']))}, {_GAME} "
            f"differs from {_COINS} by at most the root of {root}, the squared advantage, times "
            f"its deviation there{', which one attains' if root == written(claim.value) else ''}; "
            f"no other tests are meant{'; vacuous' if claim.value >= 1 else ''}"
        )
    return (
        f"{what}: at least {_counted(claim.value)}, {_GAME} {'are' if claim.value > 1 else 'is'} "
        f"needed for the mean of one to differ from {_COINS} by its deviation there; no other "
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
        f"reduction: a learner that reaches relative risk {short(Fraction(terms['risk']))}"
        f"{', labels equally spaced in their order,' if p > 2 else ''} with probability "
        f"{short(Fraction(terms['success']))} from {short(examples)} examples gives a solver of "
        f"LWE. From as many samples (a, <a, s> + e mod {q}), secrets by the same law, it finds "
        f"{'s' if binary else 's mod 2'} with probability at least {short(value)}. This holds for "
        f"every law of integers e, independent of a, with |e| <= {bound} and with e <= 0, and e >= "
        f"0, of probability 1/2 or more each. The solver reads the hypothesis at "
        f"{short(numbers['points'])} points and does not know the law. The assumption is "
        f"LWE(n={n}, q={q}, |e| <= {bound}) for some such law: if that law alone has no solver so "
        f"good and so quick, there is no such learner. The bound on the probability halves about "
        f"every {tenths // 10}.{tenths % 10} examples. It is vacuous beyond {last} examples, where "
        f"the likeliest guess is as good: that is right with probability "
        f"{short(numbers['guess'], up=True)}"
    )
    if examples > last:
        text = f"{text}. So it is here: {examples} examples are beyond"
    return text


_SENTENCES: dict[str, Callable[..., str]] = {
    "pairwise-correlation": _pairwise,
    "largest-correlation": _largest,
    "average-correlation": _average,
    "operator-norm": _spectral("the largest Gram eigenvalue"),
    "second-eigenvalue": _spectral("the largest Gram eigenvalue less the mean of all"),
    "cross-predictability": _spectral(f"the average squared correlation {_EVERY}"),
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
