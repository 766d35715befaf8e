"""The theorem on statistical queries, once for every family, and what it needs to be told.

THE SETTING. An example is a point and a label that depends on one of N members f_1 .. f_N. A
statistical query is a bounded function of (point, label); an oracle answers near its mean under the
member: STAT(tau) within tau, of values in [-1, 1]; VSTAT(t) within max(1/t, sqrt(p (1-p) / t)) of a
mean p of values in [0, 1]. One such oracle, the adversary, answers with the mean under a reference,
which does not depend on the member, if the tolerance allows that, and else with the mean under the
member: then the query rules the member out. A hypothesis h fits a member f if its relative risk,
E|f - h|^2 / V, is at most `risk`. V is the E|f - h|^2 of the best h that knows only the family, on
average over the members; of residues that of the best constant.

THEOREM [BFJKMR94]. The member has a law; if nothing else is said each is as likely. If a query
rules out at most r members and a hypothesis fits at most K, there is an oracle, the adversary, with
which a learner of q queries reaches the risk with a probability, over its coins and the member, of
at most that of the q r + K likeliest members. So if no set of fewer than T members has the
probability `success`, a learner that reaches the risk so often with every oracle asks at least (T -
K) / r queries; T = success N if each is as likely. Proof. Fix the coins. If no query rules the
member out, all answers are the reference's, and lead to one run, with its queries and its
hypothesis, whatever the member. So the learner succeeds on at most q r members that this run rules
out, and K that its hypothesis fits. Average over the coins. Members may also be a continuum: then N
= 1, and r and K are shares of a probability measure.

BESSEL says how many a query rules out, from what it moves on all of them together: for functions
whose matrix of inner products has no eigenvalue above `top`, the squared inner products of one
function with all of them add up to at most `top` times its squared norm, as the map to these
products has `top` as its squared norm. (Of a continuum the sum is a mean over members.)

A correlation of two members is their inner product over their norms, of hidden sets and residues
each less its mean. SQ-DIM is the largest D for which D members have pairwise |correlation| of at
most 1/D. Averages over a set are over its ordered pairs, of a member with itself too.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NamedTuple, TypeVar

from .reading import need, take

Number = Fraction | int
Witness = dict[str, Any]
Proof = TypeVar("Proof")
USED: dict[Callable[..., Any], None] = {}  # theorems, in the order of their first use


def theorem(function: Callable[..., Proof]) -> Callable[..., Proof]:
    """Mark a function as a theorem, whose docstring is its proof, and note in USED when it runs."""

    @functools.wraps(function)
    def proved(*arguments: Any, **named: Any) -> Proof:
        USED[function] = None
        return function(*arguments, **named)

    return proved


class Claim(NamedTuple):
    """What a theorem proves: a quantity, for parameters, has a value. A certificate holds these.

    What learners need, errors, members, dimensions, SDA and lwe-probability are at least the value;
    success, advantages and -at-most at most; all else is that, or up to `upper`. closed_form: as a
    short text, or how it is computed; numbers: what stands in it, and what else a sentence quotes;
    source: whom it is after, in docs/references.md.
    """

    quantity: str
    value: Number
    parameters: dict[str, Number | str]
    closed_form: str
    source: str
    numbers: dict[str, Any]


class Law(NamedTuple):
    """How likely the likeliest members are, if they are not all as likely.

    tiers: of all vectors, up to `as_one` of which are one member, (how many, weight), the heaviest
    first: the probability of each is above 0, so success = 1 takes all, and at most weight / total.
    Of likelier vectors `lost` / total is what they have together: granted to the learner.
    """

    tiers: list[tuple[int, int]]
    lost: int
    total: int
    as_one: int


@dataclass(frozen=True, kw_only=True)
class Members:
    """The members: `count` of them, or a continuum, of which shares are counted.

    alike: each is alike (see the kind of problem) to fewer than so many; upper: how many at most.
    """

    count: int
    continuum: bool = False
    alike: int = 1
    upper: int | None = None
    law: Law | None = None


class Gram(NamedTuple):
    """What is known of the members f, from all of which one function may be taken, 0 or public.

    It is the same function in all fields. All but top, least and scale are about all N members.

    top       the inner products of members no two of which are alike have no eigenvalue above it
    least     squared norms are at least that, and on average `mean`, if known (not with a `Law`)
    scale     a hypothesis p of relative risk r has E|f - p|^2 of at most r scale
    moves     what one query of values in [-1, 1] moves: the squared distances of its means under
              the members from that under the reference add up to at most so much
    moves01   of values in [0, 1], of mean p0 under the reference: at most moves01 min(p0, 1 - p0)
    general   whether this holds of all queries, or of correlations of labels alone
    spectrum  pairs (value, how many), 0 after the last: the k largest eigenvalues of members, less
              their mean if `public` is 0, add up to no more than the k first of these
    drift     what means of vectors move: see `named.gradients`; `moves` if it is not said
    """

    top: Fraction
    least: Fraction
    scale: Number
    moves: Fraction
    moves01: Fraction | None
    general: bool
    mean: Fraction | None = None
    spectrum: list[tuple[Fraction, int]] | None = None
    public: int = 0
    drift: Fraction | None = None


class Terms(NamedTuple):
    """Tolerances, the risk to reach with which probability, gamma of SDA, learners by name."""

    tau: Fraction
    t: int
    risk: Fraction
    success: Fraction
    gamma: Fraction
    about: dict[str, dict[str, Any]]


def read_terms(data: Any) -> Terms:
    """Read the terms of a certificate; raises Refused."""
    tau, t, risk, success, gamma, about = take(
        data, "terms", tau="share", t="positive", risk="risk", success="share", gamma="share",
        about=[None])  # fmt: skip
    named = isinstance(about, dict) and about and all(isinstance(v, dict) for v in about.values())
    need(bool(named or "about" not in data), "the terms name no learner")
    return Terms(tau, t, risk, success, gamma, about or {})


class Known(NamedTuple):
    """What is known of the members of a problem, before anything is claimed of learners.

    gram: a Gram, or None if all members are the same function; claims: about the members alone;
    rare: the members by a law that gives fewer of the likeliest away; more: overlaps, or products.
    """

    members: Members
    gram: Any
    claims: list[Claim]
    rare: Members | None = None
    more: Any = None


def first_reaching(rising: Callable[[int], Number], bound: Number) -> int:
    """The least number of at least 1 at which a function that never falls reaches a bound."""
    few, enough = 0, 1
    while rising(enough) < bound:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if rising(middle) < bound else (few, middle)
    return enough


def examples(levels: int, needed: Fraction | int) -> int:
    """The least integer n of at least 0 with levels^n of at least a number."""
    return 0 if needed <= 1 else first_reaching(lambda n: levels**n, needed)


# What closed forms, whose docstrings say them, compute with; shares of a continuum are not rounded.
EXACT: Any = SimpleNamespace(floor=math.floor, ceil=math.ceil, larger=max, examples=examples)
NUMBERS: Any = {False: EXACT, True: SimpleNamespace(**{**vars(EXACT), "floor": Fraction})}


def fitted(arithmetic: Any, lam: Any, b: Any, c: Any, epsilon: Any) -> Any:
    """floor(lam / (b - epsilon c))"""
    return arithmetic.floor(lam / (b - epsilon * c))


def ruled_out_by_stat(arithmetic: Any, v: Any, tau: Any) -> Any:
    """floor(v / tau^2)"""
    return arithmetic.floor(v / tau**2)


def ruled_out_by_vstat(arithmetic: Any, w: Any, t: Any) -> Any:
    """floor(3 t w)"""
    return arithmetic.floor(3 * t * w)


def least_queries(arithmetic: Any, T: Any, K: Any, r: Any) -> Any:
    """max(0, ceil((T - K) / r))"""
    return arithmetic.larger(0, arithmetic.ceil((T - K) / r))


def least_examples(arithmetic: Any, T: Any, K: Any, L: Any) -> Any:
    """ceil(log_L(T / K)), at least 0"""
    return arithmetic.examples(L, T / K)


@theorem
def hypothesis_fits(members: Members, gram: Gram, risk: Fraction) -> Number:
    """A hypothesis p fits at most alike floor(top / b) members, b = least - risk scale, if b > 0.

    With H = |p|^2 it fits f only if 2<p,f> >= |f|^2 + H - risk scale >= b + H, so H > 0. If that
    holds for k members no two of which are alike, Bessel gives k (b + H)^2 / 4 <= top H, and (b +
    H)^2 >= 4 b H. Of those that it fits one in `alike` can be chosen so: take one, drop those that
    are alike to it, and go on. (Shares are not rounded down.) A risk relative to |f|^2 itself asks
    for as much if least <= scale: then 2<p,f> >= |f|^2 (1 - risk) + H >= b + H.
    """
    if gram.least <= risk * gram.scale:
        return members.count
    most = fitted(NUMBERS[members.continuum], gram.top, gram.least, gram.scale, risk)
    return min(members.alike * most, members.count)


@theorem
def stat_rules_out(members: Members, gram: Gram, tau: Fraction, oracle: str = "stat") -> Claim:
    """A query of values in [-1, 1], answered within tau, rules out at most v / tau^2 members.

    Each that is ruled out adds more than tau^2 to v, that is `moves`. csq: the query is the mean of
    h(point) times the label, within tau. For it labels of hidden sets are moved and scaled to
    [-1, 1], and |h| <= 1; listed functions are scaled to norm 1, and E h^2 <= 1.
    """
    most = ruled_out_by_stat(NUMBERS[members.continuum], gram.moves, tau)
    return Claim(oracle, most, {"tau": tau}, "floor(v / tau^2)", "BFJKMR94", {"v": gram.moves})


@theorem
def vstat_rules_out(members: Members, gram: Gram, t: int) -> Claim:
    """A query to VSTAT(t), of values in [0, 1], rules out at most 3 t w members, w = moves01.

    A member of mean p is ruled out where D = |p - p0| is above max(1/t, sqrt(p (1-p) / t)). Then
    D^2 > min(p0, 1 - p0) / (3t): let p0 <= 1/2, else take 1 less the query. If p0 <= 3/t, D^2 >
    1/t^2 >= p0/(3t). Else if D >= p0/3, D^2 >= p0^2/9 > p0/(3t). Else p is between 2 p0/3 and 4
    p0/3 <= 2/3, where p (1-p) >= 4 p0/9, so D^2 > 4 p0/(9t). All D^2 add up to at most w times this
    minimum; if it is 0 no mean moves. [FGRVX17]
    """
    need(gram.moves01 is not None, "there is no bound on queries in [0,1] here")
    most = ruled_out_by_vstat(NUMBERS[members.continuum], gram.moves01, t)
    return Claim("vstat", most, {"t": t}, "floor(3 t w)", "FGRVX17", {"w": gram.moves01})


@theorem
def vstat_rules_out_at_least_one_over_t(members: Members, gram: Gram, t: int) -> Claim:
    """A query to VSTAT(t) rules out at most t^2 v / 4 members, v = moves.

    A mean in [0, 1] is off by more than 1/t then, so twice the query, less 1, by more than 2/t.
    """
    most = stat_rules_out(members, gram, Fraction(2, t)).value
    return Claim("vstat", most, {"t": t}, "floor(t^2 v / 4)", "FGRVX17", {"v": gram.moves})


def members_of_probability(members: Members, success: Fraction) -> Number:
    """T: how many members at least have the probability `success` together; for 1, all of them."""
    if members.law is None or success == 1:
        return success * members.count
    tiers, lost, total, as_one = members.law
    vectors, missing = 0, success.numerator * total - success.denominator * lost
    for size, weight in tiers:
        here = min(size, max(0, -(-missing // (success.denominator * weight))))
        vectors, missing = vectors + here, missing - here * success.denominator * weight
    return -(-vectors // as_one)


def probability_of_members(members: Members, count: Number) -> Fraction:
    """The largest probability that so many members may have together, and what is lost."""
    if members.law is None:
        return Fraction(count, members.count)
    tiers, lost, total, as_one = members.law
    weighs, left = lost, int(count) * as_one
    for size, weight in tiers:
        weighs, left = weighs + min(left, size) * weight, left - min(left, size)
    return Fraction(min(weighs, total), total)


@theorem
def queries_needed(query: Claim, members: Members, fits: Number, terms: Terms) -> Claim:
    """A learner asks at least ceil((T - K) / r) queries, K = fits, r what one rules out: THEOREM.

    If it rules out none, success is at most the probability of the K likeliest, at any number.
    """
    oracle, ruled_out, tolerance, form, source, numbers = query
    r, at = min(ruled_out, members.count), {**tolerance, "risk": terms.risk}
    numbers = {"N": members.count, "K": fits, "r": r, **numbers}
    rule = form[len("floor(") : -1] if members.continuum else form  # shares
    if not r:
        value = probability_of_members(members, fits)
        form = "K / N" if members.law is None else "the probability of the K likeliest members"
        return Claim(f"{oracle}-success", value, at, form, source, numbers)
    needed, wanted = members_of_probability(members, terms.success), "success N"
    if members.law is not None:
        numbers["T"], wanted = needed, "T"
    least = least_queries(EXACT, needed, fits, Fraction(r))
    form, at["success"] = f"max(0, ceil(({wanted} - K) / r)), r = min(N, {rule})", terms.success
    return Claim(f"{oracle}-queries", least, at, form, source, numbers)


@theorem
def sda(members: Members, gamma: Fraction, enough: int) -> Claim:
    """SDA(gamma) is at least floor((N-1)/(enough-1)), and N for enough = 1. [FGRVX17]

    SDA(gamma) is the largest whole q up to N such that any N/q of N members or more have an average
    |correlation| of at most gamma, as any `enough` or more have. A value of 0 says nothing.
    """
    count, at, form = members.count, {"gamma": gamma}, "floor((N - 1) / (s - 1))"
    least = (count - 1) // (enough - 1) if enough > 1 else count
    if enough == 1:
        at["upper"], form = Fraction(count), "N"
    return Claim("sda-all-subsets", least, {**at}, form, "FGRVX17", {"N": count, "s": enough})


@theorem
def information_floor(levels: int, members: Members, fits: Number, terms: Terms) -> Claim:
    """Any learner needs the least n with K L^n >= T examples, L the number of labels.

    Points have the same law for all members. Fix the learner's coins, the points that are drawn,
    and what noise does to each example. A label branches the run in L ways at most, also if the
    learner chooses points: there are L^n runs, and each ends in one hypothesis, which fits K.
    """
    need(fits > 0, "a hypothesis fits no member")
    needed, wanted = members_of_probability(members, terms.success), "success N"
    numbers: dict[str, Any] = {"N": members.count, "K": fits, "L": levels}
    if members.law is not None:
        numbers["T"], wanted = needed, "T"
    form = f"max(0, ceil(log_L({wanted} / K)))"
    value = least_examples(EXACT, Fraction(needed), fits, levels)
    at: dict[str, Any] = {"risk": terms.risk, "success": terms.success, "levels": levels}
    return Claim("information-floor", value, at, form, "information", numbers)


def needed_by_learners(problem: Any, terms: Terms, known: Known, kinds: list[Claim]) -> list[Claim]:
    """The queries of each kind that is asked, and the examples, that a learner needs."""
    general = known.gram.general or all(query.quantity == "csq" for query in kinds)
    need(general, "there is no bound on general queries here")
    fits = hypothesis_fits(known.members, known.gram, terms.risk)
    claims = [queries_needed(query, known.members, fits, terms) for query in kinds]
    if problem.levels is not None:
        claims.append(information_floor(problem.levels, known.members, fits, terms))
    return claims
