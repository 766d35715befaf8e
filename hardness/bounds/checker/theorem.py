"""The theorem on statistical queries, for every family, and the records that it needs.

THE SETTING. An example is a point and a label that depends on one of N members f_1 .. f_N. A
statistical query is a bounded function of (point, label); an oracle answers near its mean under the
member: STAT(tau) within tau, of values in [-1, 1]; VSTAT(t) within max(1/t, sqrt(p (1-p) / t)) of a
mean p of values in [0, 1]. One such oracle, the adversary, answers with the mean under a reference,
which does not depend on the member, if the tolerance allows that, and else with the mean under the
member: then the query rules the member out. A hypothesis h fits a member f if its relative risk,
E|f - h|^2 / V, is at most `risk`. V is the average over members of the E|f - h|^2 of the h that is
their mean; of parities that of h = 0, of residues that of the best constant.

THEOREM [BFJKMR94]. The member has a law, uniform unless stated. Let a query rule out at most r
members, and a hypothesis fit at most K. With the adversary as oracle, a learner of q queries then
reaches the risk at most with the probability of the q r + K likeliest members, over its randomness
and the member. So if no set of fewer than T members has the probability `success`, a learner that
reaches the risk so often with every oracle asks at least (T - K) / r queries. T = success N if the
law is uniform. Proof. Fix the randomness. If no query rules out the member, all answers are the
reference's, and lead to one run, with one hypothesis, for any such member. So the learner succeeds
on at most q r members that this run rules out, and K that its hypothesis fits. Average over the
randomness. For a continuum of members N = 1, and r and K are shares of a probability measure.

BESSEL bounds how many members a query rules out, by its effect on all of them together. Let the
matrix of inner products of functions have no eigenvalue above `top`. Then the squared inner
products of one function with all of them add up to at most `top` times its squared norm: the map
to these products has a squared norm of at most `top`. (For a continuum the sum is a mean.)

A correlation of two members is their inner product over their norms; members of hidden sets and
residues are taken without their mean. SQ-DIM is the largest D for which D members have pairwise
|correlation| of at most 1/D. Averages over a set are over ordered pairs, equal members included.
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
    """What a theorem proves: the value of a quantity at parameters. A certificate lists claims.

    The value is a lower bound for what learners need, errors, members, dimensions, SDA and
    lwe-probability. It is an upper bound for success, advantages and -at-most. Else it is exact, or
    the lower end of an interval up to `upper`. closed_form: a formula, or how the value is
    computed; numbers: its symbols, and others to quote; source: the method's key in
    docs/references.md.
    """

    quantity: str
    value: Number
    parameters: dict[str, Number | str]
    closed_form: str
    source: str
    numbers: dict[str, Any]


class Law(NamedTuple):
    """Bounds on the probabilities of members, if these are not uniform.

    Up to `as_one` vectors are one member. tiers: pairs (how many vectors, weight), the heaviest
    first; a vector has a probability above 0, so success = 1 takes all, and at most weight / total.
    Likelier vectors have the probability `lost` / total together, which is granted to the learner.
    """

    tiers: list[tuple[int, int]]
    lost: int
    total: int
    as_one: int


@dataclass(frozen=True, kw_only=True)
class Members:
    """The members: `count` of them, or a continuum, whose shares are counted.

    alike: a member is alike (see residues) to fewer others; upper: an upper bound on the count.
    """

    count: int
    continuum: bool = False
    alike: int = 1
    upper: int | None = None
    law: Law | None = None


class Gram(NamedTuple):
    """Bounds on the members f, after one function, 0 or a public one, is subtracted from each.

    It is the same function in all fields. All but top, least and scale are about all N members.

    top       bounds the eigenvalues of inner products of members no two of which are alike
    least     bounds squared norms from below; `mean` bounds their mean, if known (not with a `Law`)
    scale     a hypothesis p of relative risk r has E|f - p|^2 of at most r scale
    moves     bounds the sum over members of squared distances between a query's mean under the
              member and under the reference, for values in [-1, 1]
    moves01   the same for values in [0, 1] of reference mean p0, divided by min(p0, 1 - p0)
    general   whether this holds for all queries, or for correlations with labels alone
    spectrum  pairs (value, how many), 0 after the last: the k largest eigenvalues of members, less
              their mean if `public` is 0, add up to at most the sum of the first k of these
    drift     bounds how means of vectors move: see `named.gradients`; None: equal to `moves`
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
    """Tolerances, the risk to reach, with which probability, gamma of SDA, named learners."""

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
    """Facts about the members of a problem, from which claims about learners follow.

    gram: a Gram, or None if all members are one function; claims: about members alone; rare: the
    members by a law that grants fewer likely ones; products: inner products of pairs, if needed.
    """

    members: Members
    gram: Any
    claims: list[Claim]
    rare: Members | None = None
    products: Any = None


def first_reaching(rising: Callable[[int], Number], bound: Number) -> int:
    """The least integer n >= 1 at which a nondecreasing function reaches a bound."""
    few, enough = 0, 1
    while rising(enough) < bound:
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (middle, enough) if rising(middle) < bound else (few, middle)
    return enough


def examples(levels: int, needed: Fraction | int) -> int:
    """The least integer n >= 0 with levels^n >= needed."""
    return 0 if needed <= 1 else first_reaching(lambda n: levels**n, needed)


# The arithmetic of closed forms, whose docstrings are the formulas; shares are not rounded.
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
    """T: the least number of members of probability `success` together; for success 1, all."""
    if members.law is None or success == 1:
        return success * members.count
    tiers, lost, total, as_one = members.law
    vectors, missing = 0, success.numerator * total - success.denominator * lost
    for size, weight in tiers:
        here = min(size, max(0, -(-missing // (success.denominator * weight))))
        vectors, missing = vectors + here, missing - here * success.denominator * weight
    return -(-vectors // as_one)


def probability_of_members(members: Members, count: Number) -> Fraction:
    """The largest probability of `count` members together, with what is lost."""
    if members.law is None:
        return Fraction(count, members.count)
    tiers, lost, total, as_one = members.law
    weighs, left = lost, int(count) * as_one
    for size, weight in tiers:
        weighs, left = weighs + min(left, size) * weight, left - min(left, size)
    return Fraction(min(weighs, total), total)


@theorem
def queries_needed(query: Claim, members: Members, fits: Number, terms: Terms) -> Claim:
    """A learner asks at least ceil((T - K) / r) queries, K = fits, r ruled out by one: THEOREM.

    For r = 0, success is at most the probability of the K likeliest, for any number of queries.
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

    Points have the same law for all members. Fix the learner's randomness, the points, and the
    noise of each example. A label branches the run in at most L ways, also if the learner chooses
    points: there are at most L^n runs, and each ends in one hypothesis, which fits K members.
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
    """The claims about learners: queries of each kind, and examples, that they need."""
    general = known.gram.general or all(query.quantity == "csq" for query in kinds)
    need(general, "there is no bound on general queries here")
    fits = hypothesis_fits(known.members, known.gram, terms.risk)
    claims = [queries_needed(query, known.members, fits, terms) for query in kinds]
    if problem.levels is not None:
        claims.append(information_floor(problem.levels, known.members, fits, terms))
    return claims
