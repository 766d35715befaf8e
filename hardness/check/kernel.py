"""Checks lower bounds, with nothing but Python: `python kernel.py CERTIFICATE.json`.

This file imports nothing of the project that makes certificates, and trusts nothing in them. A
certificate (format 2) is a JSON object of

    problem   a family of functions, by its numbers;
    goal      the conditions, and claims, each with the number of the step that proves it;
    steps     numbered from 1: a rule, the numbers of earlier steps that it cites, exact numbers;
    about     what its maker says of the problem: the spec of the family, which is there, not read;
    format, digest (SHA-256 of all the rest).

The rules are the functions below, each with its lemma. A rule reads the facts that it cites and the
numbers that it is given, computes with integers and fractions, and adds a fact. A claim is accepted
if its step proves that quantity with that value, in the words that this file finds for it.

THE SETTING. An example is a point and a label that depends on one of N members f_1 .. f_N. A
statistical query is a bounded function of (point, label); the oracle answers with a number near its
mean under the member. The adversary answers as if there were no member, with the mean under a
reference that does not depend on it, wherever the tolerance allows that. A query rules out the
members for which it does not. A hypothesis fits a member if its risk there, E|f - hypothesis|^2
over that of the best predictor that knows only the family, on average over members, is at most
`risk`.

THEOREM [BFJKMR94]. The member has a law; if nothing else is said each is as likely. If a query
rules out at most r members and a hypothesis fits at most K, a learner of q queries reaches the risk
with every oracle that keeps to the tolerance with a probability, over its coins and the member, of
at most that of the q r + K likeliest members. So if fewer than T members have the probability
`success`, it asks at least (T - K) / r queries; T = success N where each is as likely. Proof. Fix
the coins. The run in which all answers are the reference's does not depend on the member, nor do
its queries and its hypothesis; a member that none of its q queries rules out leads to exactly this
run. So the learner succeeds on at most q r members that are ruled out, and K that its hypothesis
fits. Average over the coins. Members may also be a continuum: then N = 1, and r and K are shares of
a probability measure.

How many members a query rules out follows from what it moves on all of them together. BESSEL: for
functions whose matrix of inner products has no eigenvalue above `top`, the squared inner products
of one function with all of them add up to at most `top` times its squared norm.
"""

import hashlib
import json
import math
import os
import re
import sys
import threading
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

FORMAT = "hardness-certificate/2"
SECONDS, MEMORY, BYTES, STEPS, DEEP, DIGITS = 600, 1 << 31, 1 << 26, 1000, 24, 100_000
RISK = "Relative risk is E|F - hypothesis|^2, F the mean label at a point, over that of {}. "
FAMILY = RISK.format("the best predictor that knows only the family, on average over members")
ALL = (
    "Answers may be any numbers within the tolerance, and success is averaged over the member, "
    "drawn as said, and the learner's coins. Learners that look at single examples, as elimination "
    "and lattice reduction do, ask no such queries: only the claim on examples speaks of them, and "
    "no claim is a level of security."
)
EMPTY = "; vacuous: up to 2 rule out nothing but learners that ask or look once"
ADDED = RISK.format("the best predictor that knows the family and what is added, on average")
SQ_DIM = "SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is {}"
AVERAGES = (
    "the largest whole q up to N such that any {} or more have mean |correlation| at most {}, is {}"
)
SDA, PAIRS = f"SDA, {AVERAGES}", f"SDA over pairs, {AVERAGES}"
_WHOLE = "(?:[1-9][0-9]{0,3999}|0x[1-9a-f][0-9a-f]*)"
_RATIONAL = re.compile(f"(0|-?{_WHOLE})(?:/({_WHOLE}))?")
_HOLDS: dict[str, Callable[[Fraction], bool]] = {
    "rational": lambda v: True,
    "share": lambda v: 0 < v <= 1,
    "risk": lambda v: 0 <= v < 1,
    "positive": lambda v: v >= 1 and v.denominator == 1,
}


class Refused(Exception):
    """The certificate does not prove what it claims; says why."""


def refuse(why: str) -> NoReturn:
    """Raise Refused, in one line."""
    raise Refused("".join(c if c.isprintable() else "?" for c in " ".join(why.split()))[:300])


def need(condition: bool, why: str) -> None:
    """Refuse unless a condition holds."""
    if not condition:
        refuse(why)


def written(value: Fraction | int) -> str:
    """Write a number in its one way: "p/q" in lowest terms, a part of over 13,000 bits as "0x..".

    >>> written(Fraction(6, 4)), written(2**13000)[:6]
    ('3/2', '0x1000')
    """
    value = Fraction(value)
    parts = [value.numerator] if value.denominator == 1 else [value.numerator, value.denominator]
    return "/".join(f"{v:#x}" if v.bit_length() > 13_000 else str(v) for v in parts)


def read(kind: str, text: Any) -> Any:
    """Read a number of a kind from a string, or with * a list of them; json is read by its rule."""
    if kind.endswith("*"):
        return [read(kind[:-1], one) for one in listed(text)]
    if kind == "json":
        return text
    need(isinstance(text, str) and len(text) <= DIGITS, "a number is no string, or too long")
    found = _RATIONAL.fullmatch(text)
    need(found is not None, f"{text[:40]!r} is not an integer or p/q")
    value = Fraction(int(found[1], 0), int(found[2] or "1", 0))  # type: ignore[index]
    need(written(value) == text, f"{text[:40]!r} is not in lowest terms, or not written so")
    need(_HOLDS[kind](value), f"{text[:40]} is out of range: {kind}")
    return value.numerator if kind == "positive" else value


def small(value: Any, least: int, most: int, what: str) -> int:
    """Read a JSON integer in a range."""
    need(type(value) is int and least <= value <= most, f"{what} is not in {least}..{most}")
    return value


def listed(value: Any) -> list[Any]:
    """Read a JSON list."""
    need(type(value) is list, "a list is missing")
    return value


def short(value: Fraction | int, up: bool = False) -> str:
    """Write a number, or the first digits of a long one: rounded down, or `up` as an upper bound.

    >>> short(Fraction(10**50, 3)), short(Fraction(10**50, 3), up=True)
    ('about 3.33333e+49', 'about 3.33334e+49')
    """
    text, value = written(value), Fraction(value)
    if len(text) <= 40:
        return text
    size = math.floor(math.log10(abs(value.numerator)) - math.log10(value.denominator))
    size += abs(value) >= Fraction(10) ** (size + 1)  # where logarithms round
    size -= abs(value) < Fraction(10) ** size
    digits = (math.ceil if up else math.floor)(value * Fraction(10) ** (5 - size))
    if abs(digits) == 10**6:
        digits, size = digits // 10, size + 1
    sign, digits = "-" if digits < 0 else "", abs(digits)
    return f"about {sign}{digits // 10**5}.{digits % 10**5:05}e{size:+d}"


def between(low: int, high: int) -> str:
    """Write the two ends of a number."""
    return short(low) if low == high else f"between {short(low)} and {short(high, up=True)}"


def goal_of(risk: Fraction, success: Fraction) -> str:
    """Write what a learner has to reach."""
    return f"for relative risk {short(risk)} with probability {short(success)}"


Claims = dict[str, tuple[Fraction | int, dict[str, str], str]]


class Fact(SimpleNamespace):
    """What a step proved: its kind, numbers, and claims: quantity -> (value, terms, text)."""

    share = False  # of members: N = 1 stands for a continuum
    law = None  # of members: how likely the likeliest are, as `likely` reads it; None: all alike

    def __init__(self, kind: str, claims: Claims | None = None, **numbers: Any) -> None:
        super().__init__(kind=kind, claims=claims or {}, **numbers)


Rule = Callable[..., Fact]
RULES: dict[str, tuple[str, list[str], dict[str, str], Rule]] = {}


def rule(of: str = "", cites: str = "", /, **takes: str) -> Callable[[Rule], Rule]:
    """Register a rule: of which problem, the kinds of facts it cites, the kinds of its numbers."""

    def register(function: Rule) -> Rule:
        RULES[function.__name__.replace("_", "-")] = of, cites.split(), takes, function
        return function

    return register


# 1. From facts about all members to a bound: the same for every family. A `gram` says: members
# have eigenvalues of at most `top` and squared norms of at least `least`, the risk is relative to
# `scale`; the eigenvalues are of members of which each is alike to fewer than `alike` others, not
# counted. The squared distances of a query's means under all members and reference add up to at
# most `moves`, of values in [-1, 1], and to `moves01` min(p0, 1 - p0), of values in [0, 1] and the
# mean p0 under the reference; `general`: of all queries, else of correlational ones.


@rule("", "members gram", risk="risk")
def fit(problem: Any, members: Fact, gram: Fact, risk: Fraction) -> Fact:
    """A hypothesis p fits at most alike floor(top / (least - risk scale)) members, or all.

    With H = |p|^2 it fits f only if 2<p,f> >= |f|^2 + H - risk scale >= b + H, b = least - risk
    scale. If b > 0 and that holds for k members that are not alike, Bessel gives k (b + H)^2 / 4 <=
    top H, and (b + H)^2 >= 4 b H.
    """
    room = gram.least - risk * gram.scale
    most = gram.alike * problem.down(gram.top / room) if room > 0 else members.count
    return Fact("fit", most=min(most, members.count), risk=risk)


@rule("", "gram", oracle="json", term="rational")
def ask(problem: Any, gram: Fact, oracle: Any, term: Fraction) -> Fact:
    """A query of tolerance tau rules out at most floor(moves / tau^2) members; of VSTAT(t) others.

    Each member that is ruled out adds more than tau^2. csq: the query is the mean of h(point) times
    the label, moved and scaled as the problem says. vstat: a member of mean p is ruled out where
    D = |p - p0| is above max(1/t, sqrt(p (1-p) / t)). Then D^2 > min(p0, 1 - p0) / (3t), so at most
    floor(3 t moves01) members are ruled out: let p0 <= 1/2. If p0 <= 3/t, D^2 > 1/t^2 >= p0/(3t).
    Else if D >= p0/3, D^2 >= p0^2/9 > p0/(3t). Else p is between 2 p0/3 and 4 p0/3 <= 2/3, where
    p (1-p) >= 4 p0/9, so D^2 > 4 p0/(9t). [FGRVX17] vstat-least: D > 1/t, and values in [0, 1] move
    half as much as values in [-1, 1].
    """
    need(gram.general or oracle == "csq", "there is no bound on general queries here")
    if oracle in ("csq", "stat"):
        need(0 < term <= 1 and gram.moves is not None, "a tolerance is in (0, 1]")
        most, at = problem.down(gram.moves / term**2), {"tau": written(term)}
        what = f"queries to STAT({short(term)}), of values in [-1,1]"
        if oracle == "csq":
            what = f"correlations of labels scaled to {problem.scaled}, within {short(term)}"
    else:
        need(oracle in ("vstat", "vstat-least"), "the oracle is not known")
        need(term >= 1 and term.denominator == 1, "t is an integer of at least 1")
        weight = gram.moves01 if oracle == "vstat" else gram.moves
        need(weight is not None, "there is no bound on queries in [0,1] here")
        most = problem.down(3 * term * weight if oracle == "vstat" else term**2 * weight / 4)
        at, what = {"t": written(term)}, f"queries to VSTAT({short(term)}), of values in [0,1]"
    return Fact("cap", most=most, name=oracle.partition("-")[0], what=what, at=at)


def likely(members: Fact, success: Fraction) -> Fraction | int:
    """How many members have a probability of `success` at least: T of the theorem.

    A law is of vectors, up to `as_one` of which are one member: tiers of so many vectors that weigh
    at most so much each, the heaviest first, after others that weigh `lost` together, of `total`.
    None that are counted are never drawn, so for a success of 1 it is all of them.
    """
    if members.law is None or success == 1:
        return success * members.count
    tiers, lost, total, as_one = members.law
    found, missing = 0, success.numerator * total - success.denominator * lost
    for size, weight in tiers:
        here = min(size, max(0, -(-missing // (success.denominator * weight))))
        found, missing = found + here, missing - here * success.denominator * weight
    return -(-found // as_one)


def chance(members: Fact, count: Fraction | int) -> Fraction:
    """The largest probability that so many members may have."""
    if members.law is None:
        return Fraction(count, members.count)
    tiers, weighs, total, as_one = members.law
    left = count * as_one
    for size, weight in tiers:
        weighs, left = weighs + min(left, size) * weight, left - min(left, size)
    return Fraction(min(weighs, total), total)


@rule("", "members fit cap", success="share")
def queries(_: Any, members: Fact, fit: Fact, cap: Fact, success: Fraction) -> Fact:
    """The theorem at the head of this file, with the least whole number of queries."""
    count, at = members.count, {**cap.at, "risk": written(fit.risk)}
    every = "all directions" if members.share else f"{short(count)} members"
    fits = f"a hypothesis fits at most {short(fit.most, up=True)}"
    if not cap.most:
        guess = chance(members, fit.most)
        text = (
            f"{cap.what}: however many, a learner reaches relative risk {short(fit.risk)} with "
            f"probability at most {short(guess, up=True)}, as one rules out none of {every}, "
            f"and {fits}"
        )
        return Fact("bound", {f"{cap.name}-success": (guess, at, text)})
    most, wanted = min(cap.most, count), likely(members, success)
    least = max(0, -int((fit.most - wanted) // most))
    text = (
        f"{cap.what}: a learner needs at least {short(least)} {goal_of(fit.risk, success)}, as one "
        f"rules out at most {short(most, up=True)} of {every}, and {fits}{weighed(members, wanted)}"
    )
    text += EMPTY if least <= 2 else ""
    at["success"] = written(success)
    return Fact("bound", {f"{cap.name}-queries": (least, at, text)})


def weighed(members: Fact, wanted: Fraction | int) -> str:
    """Write how many members are needed, where they are not all as likely."""
    if members.law is None:
        return ""
    return f"; no fewer than {short(wanted)} members have that probability together"


@rule("", "members fit", success="share")
def information(problem: Any, members: Fact, fit: Fact, success: Fraction) -> Fact:
    """Any learner needs the least n with K L^n >= T examples, L the number of labels.

    Fix its coins, the points that are drawn, and what noise does to each example. A label branches
    the run in L ways at most, also if the learner chooses the next point: there are L^n runs.
    """
    levels, wanted = problem.levels, likely(members, success)
    need(levels is not None, "labels are real numbers")
    need(fit.most > 0, "a hypothesis fits no member")
    bits = (math.ceil(wanted) // max(fit.most, 1)).bit_length()
    n = max(0, int((bits - 2) / math.log2(levels) * (1 - 1e-12)) - 2)  # no more than is needed
    need(n == 0 or fit.most * levels ** (n - 1) < wanted, "the floor was not found")
    while fit.most * levels**n < wanted:
        n += 1
    at = {"risk": written(fit.risk), "success": written(success), "levels": written(levels)}
    text = (
        f"examples, drawn or chosen: any learner whatever needs at least {n} "
        f"{goal_of(fit.risk, success)}, as each has one of {levels} labels, its noise given"
        f"{weighed(members, wanted)}"
    )
    text += EMPTY if n <= 2 else ""
    return Fact("bound", {"information-floor": (n, at, text)})


# 2. Hidden sets. S is one of the m-subsets of n places; a point has n fair signs, h is the number
# of places of S where they are -1. Half of the examples, the open ones, show the value g(h), which
# noise reflects in the middle of the range of g; the others show nothing of S. A view says where
# examples show it otherwise, or other layers compute it: how it is shown, what computes it, the
# share of open examples, how many bits an open one shows.

HEADS = "Heads of softmax attention on two tokens compute such labels exactly"
HALF = "An example has {n} fair signs and, with probability 1/2, shows {g}"
VIEWS = {
    "": (HALF, HEADS, Fraction(1, 2), 1),
    "hardmax": (HALF, HEADS.replace("softmax", "hardmax"), Fraction(1, 2), 1),
    "one-head": (
        HALF,
        "One head of softmax attention on two tokens, and a public odd piecewise-linear map after "
        "it, compute such labels exactly",
        Fraction(1, 2), 1,
    ),
    "among-others": (
        HALF + "; the same function of the point is added to the labels of all members, and "
        "perhaps noise, neither of which depends on S",
        HEADS + ", beside heads that compute what is added",
        Fraction(1, 2), 1,
    ),
    "positions": (
        "An example has {n} fair signs and always shows {g}, times a public vector of the tokens "
        "whose mean squared length, given the signs, is a constant plus a weighted sum of them",
        HEADS + ", with output matrices that are multiples of any one; a public place of the "
        "tokens says which is the first",
        Fraction(1), 1,
    ),
    "three-tokens": (
        "An example has two independent sets of {n} fair signs and, with probability 3/4, shows "
        "three numbers: {g} for each set, noise apart, and the product of the two",
        HEADS.replace("two", "three"),
        Fraction(3, 4), 2,
    ),
}  # fmt: skip


def hidden_set(given: dict[str, Any]) -> Any:
    """Read the problem: m + 1 heads of softmax attention compute such labels exactly.

    The second token times the first, place by place, are the signs; one more sign says whether the
    example is open. A head whose logits differ by ln(x/u) there adds a (x-u)/(x+u) to the label,
    x = rho^2h, and a where it is closed; one that counts no sign of S adds a constant. For m
    different thresholds u > 0 these are combinations of 1 and the 1/(x+u), which take any values at
    m + 1 different x: else one would be 0 at all of them, and, times the product of the x+u, have
    more zeros than its degree. Positions: the one more sign is public and always open; an output
    matrix W makes it (x-u)/(x+u) times a vector. One head: for u < 1 its values at the h are
    different numbers in (0, 1). Hardmax: heads add a sign(h - t), t = 1/2, 3/2, .., or a constant:
    any staircase. Three tokens: a head adds a (p-u)/(p+u), where p is (1 + 1/x') x if
    the token of x alone is odd, and x x'/(x + x') if the first is: M different numbers for rho = 3.
    M thresholds give any values at them if their product is not that of all p, as above.
    """
    fields, view = {"kind", "places", "chosen", "values", "noise"}, given.get("view", "")
    need(set(given) == (fields | {"view"} if view else fields), "fields of the problem")
    need(view in VIEWS, "the view is not known")
    shown, layer, part, bits = VIEWS[view]
    n = small(given["places"], 1, 10**18, "places")
    m = small(given["chosen"], 1, min(n, 128), "chosen")
    g, noise = read("rational*", given["values"]), read("risk", given["noise"])
    need(len(g) == m + 1 and len(set(g)) > 1, "values are not m + 1 numbers, two of them different")
    need(noise < Fraction(1, 2), "noise is not below 1/2")
    runs = [(short(v), len(list(same))) for v, same in groupby(g)]
    values = ", ".join(v if k == 1 else f"{v} ({k} times)" for v, k in runs)
    value = (
        f"g(h), h how many signs of S are -1, g(0..{m}) = {values}, which noise reflects in the "
        f"middle of its range with probability {noise}"
    )
    text = (
        f"Members are the {m}-subsets S of {n} places, all as likely. "
        f"{shown.format(n=n, g=value)}. {layer}. {ADDED if view == 'among-others' else FAMILY}"
    )
    return SimpleNamespace(
        n=n, m=m, g=g, fade=1 - 2 * noise, levels=2**bits if bits > 1 else len(set(g)),
        conditions=text + ALL, half=(max(g) - min(g)) / 2, middle=(max(g) + min(g)) / 2,
        parity=g == [(-1) ** h for h in range(m + 1)], part=part, bits=bits,
    )  # fmt: skip


@rule("hidden-set")
def subsets(problem: Any) -> Fact:
    """There are binom(n, m) members."""
    return Fact("members", count=math.comb(problem.n, problem.m))


@rule("hidden-set", "members")
def characters(problem: Any, members: Fact) -> Fact:
    """If g(h) = (-1)^h the members are orthogonal, and SQ-DIM is their number.

    Then g(h) is the product b of the signs in S. The product of two of these is that of the signs
    in S xor S', an even number of them, so of mean 0 unless S = S', also if weighed by a constant
    plus a weighted sum of single signs. The reference has coins for what is shown. A query is phi0
    + phi1 b on open examples, p of all, |phi1| <= 1, and its mean moves by f E[open phi1 b], f =
    1 - 2 noise: by Bessel the squares add up to f^2 p E[open phi1^2] <= f^2 p^2. For values in
    [0, 1] phi1^2 <= min(phi0, 1 - phi0) / 2, hence f^2 p/2 times min(p0, 1 - p0). Two bits b, b'
    and their product: phi0 + phi1 b + phi2 b' + phi3 bb', whose squares add up to the mean of its
    square over coins, at most 1, and phi0 for values in [0, 1]. The square of a sum of three moves
    is at most three times their squares': 3 f^2 p^2, and 3 f^2 p times min(p0, 1 - p0).
    """
    need(problem.parity, "g is not (-1)^h")
    part, count, two = problem.part, members.count, problem.bits == 2
    moves = problem.fade**2 * part**2 * (3 if two else 1)
    moves01 = problem.fade**2 * part * (3 if two else Fraction(1, 2))
    claims: Claims = {
        "pairwise-correlation": (0, {}, "any two different members have correlation 0"),
        "sq-dimension": (count, {}, SQ_DIM.format(short(count)) + ": all"),
    }
    return Fact("gram", claims, top=Fraction(1), least=Fraction(1), scale=1, alike=1, general=True,
                moves=moves, moves01=moves01)  # fmt: skip


@rule("hidden-set")
def overlaps(problem: Any) -> Fact:
    """c(t), the inner product of two members less E g that share t places.

    The t common places count i times -1 with probability binom(t, i) / 2^t; the other m - t of each
    are fair coins of its own, over which g is averaged. By the characters of the signs in S, c(t) =
    sum_k binom(t, k) w_k, w_k >= 0 and w_0 = 0: it grows with t from c(0) = 0.
    """
    need(problem.part == Fraction(1, 2), "this rule is of examples half of which are open")
    m, rows = problem.m, [problem.g]
    while len(rows[-1]) > 1:  # rows[r][i]: the mean of g(i + heads of r coins)
        rows.append([(a + b) / 2 for a, b in pairwise(rows[-1])])
    mean = rows[m][0]
    seen = [sum(math.comb(t, i) * rows[m - t][i] ** 2 for i in range(t + 1)) for t in range(m + 1)]
    c = [value / 2**t - mean**2 for t, value in enumerate(seen)]
    need(m < problem.n, "there is one member")
    text = f"two different members have correlation at most {short(c[m - 1] / c[m], up=True)}"
    return Fact("overlaps", {"largest-correlation": (c[m - 1] / c[m], {}, text)}, c=c, mean=mean)


@cache
def distances(n: int, m: int) -> list[list[int]]:
    """E_i(k): eigenvalues of the pairs of m-subsets of n places that share m - i. [Del73]

    The matrices whose entries depend on |S & S'| alone have common eigenspaces V_0 .. V_r, r =
    min(m, n - m), and on V_k the pairs at distance i have the eigenvalue sum_h (-1)^(i-h)
    binom(m-h, i-h) binom(m-k, h) binom(n-m+h-k, h). V_0 holds the constant vector, and E_i(0) is
    how many sets are at distance i from one.
    """
    comb = math.comb
    return [
        [
            sum((-1) ** (i - h) * comb(m - h, i - h) * comb(m - k, h) * comb(n - m + h - k, h)
                for h in range(min(i, m - k) + 1))
            for k in range(min(m, n - m) + 1)
        ]
        for i in range(m + 1)
    ]  # fmt: skip


@rule("hidden-set", "members overlaps")
def johnson(problem: Any, members: Fact, overlaps: Fact) -> Fact:
    """The eigenvalues of the Gram matrix, lambda_k = sum_i c(m - i) E_i(k) on V_k.

    The mean of all members is in V_0: less their mean, members have the squared norm c(m) -
    lambda_0 / N and no eigenvalue above the largest other lambda_k. The reference is the mean over
    the members. On open examples the label's mean, scaled to [-1, 1], is (1 - 2 noise) (g - middle)
    / half, so squares add up to (1 - 2 noise)^2 lambda / (4 half^2). For two values every query is
    phi0 + phi1 b there, as for characters; for more it need not be.
    """
    m, c, count = problem.m, overlaps.c, members.count
    table = distances(problem.n, m)
    values = [sum(c[m - i] * row[k] for i, row in enumerate(table)) for k in range(len(table[0]))]
    spread, less = max(values[1:]), c[m] - values[0] / count
    squares = sum(c[m - i] ** 2 * row[0] for i, row in enumerate(table))
    said = {
        "average-correlation": (values[0] / c[m] / count, "the average correlation of a pair"),
        "operator-norm": (max(values) / c[m], "the largest Gram eigenvalue"),
        "second-eigenvalue": (spread / c[m], "the largest less the mean member"),
        "cross-predictability": (squares / c[m] ** 2 / count, "the average squared correlation"),
    }
    claims: Claims = {
        q: (v, {}, f"{text}, of members moved to mean 0 and scaled to norm 1, is {short(v)}")
        for q, (v, text) in said.items()
    }
    moves = problem.fade**2 * spread / (4 * problem.half**2)
    return Fact("gram", claims, top=spread, least=less, scale=less, alike=1, moves=moves,
                moves01=None, general=problem.levels == 2, eigenvalues=values)  # fmt: skip


@rule("hidden-set", overlap="json", size="positive", code="json", data="json")
def code(problem: Any, overlap: Any, size: int, code: Any, data: Any) -> Fact:
    """So many members exist of which any two share at most `overlap` places.

    Listed; all; disjoint ones; or the sets {(i, p(i)) : i < m} for polynomials p of degree at most
    `overlap` over the field of a prime q >= m, q m <= n: two agree so often at most. [RS60]
    """
    n, m = problem.n, problem.m
    t = small(overlap, 0, m - 1, "overlap")
    if code == "listed":
        sets = [{small(j, 0, n - 1, "a place") for j in listed(one)} for one in listed(data)]
        right = all(len(one) == m == len(given) for one, given in zip(sets, data, strict=True))
        need(right and len(sets) == size <= 2048, "sets are not as many as claimed, or over 2048")
        near = all(len(one & other) <= t for i, one in enumerate(sets) for other in sets[:i])
        need(near, "two sets share more places")
    elif code == "reed-solomon":
        q = small(data, 2, 10**6, "q")
        fits = prime(q) and m <= q and q * m <= n and size <= q ** (t + 1)
        need(fits, "there are not so many polynomials")
    else:
        few = size * m <= n if code == "disjoint" else t == m - 1 and size <= math.comb(n, m)
        need(code in ("disjoint", "all") and few, "there are not so many sets")
    return Fact("code", size=size, overlap=t)


@rule("hidden-set", "members overlaps code", upper="positive")
def packing(problem: Any, members: Fact, overlaps: Fact, code: Fact, upper: int) -> Fact:
    """SQ-DIM is at least the size of a code, and at most `upper`, by Johnson's bound. [Joh62]

    c(t) grows with t: members of correlation at most 1/N are sets of overlap at most some t with
    c(t) N <= c(m). At most A(n, m, t) sets meet in t places: A(n, m, 0) = floor(n/m); each place is
    in at most A(n-1, m-1, t-1) of them; and (M m)^2 / n <= M m + M (M-1) t by Cauchy-Schwarz.
    """
    n, m, c, size = problem.n, problem.m, overlaps.c, code.size
    need(size == 1 or c[code.overlap] * size <= c[m], "the code's correlations are above 1/size")
    meet, most = max(t for t in range(m) if c[t] * (upper + 1) <= c[m]), 1
    for step in range(meet, -1, -1):
        ground, weight, meets = n - step, m - step, meet - step
        most = ground * most // weight
        if weight**2 > ground * meets:
            bound = ground * (weight - meets) // (weight**2 - ground * meets)
            most = min(most, bound)
    need(size <= upper and most <= upper, f"more than {short(upper)} members are not ruled out")
    text = SQ_DIM.format(between(size, upper))
    return Fact("bound", {"sq-dimension": (size, {"upper": written(upper)}, text)})


@rule("hidden-set", "members overlaps", gamma="rational", inner="rational*", average="rational",
      caps="rational*", enough="positive")  # fmt: skip
def every_set(
    problem: Any, members: Fact, overlaps: Fact, gamma: Fraction, inner: list[Fraction],
    average: Fraction, caps: list[Fraction], enough: int,
) -> Fact:  # fmt: skip
    """Every set of `enough` members has average correlation at most gamma: weak duality.

    In a set of s members let s a_i ordered pairs be at distance i, of v_i that could be. Then a_0 =
    1, sum a = s, b_i = a_i / v_i <= 1, and sum_i b_i E_i(k) >= 0, for it is a squared length in V_k
    [Del73]. Take y, u, w >= 0 with, for i >= 1 and c_i = c(m-i)/c(m),
        w_i - sum_k y_k E_i(k) - u v_i (c_i - gamma) >= v_i.
    Multiply by b_i and add: s - 1 <= sum w + sum y + u (1 - gamma) if the average is above gamma,
    and less if u > 0.
    """
    m, c = problem.m, overlaps.c
    if gamma < 1 and enough <= members.count:
        table = distances(problem.n, m)
        need(len(caps) == m and len(inner) < len(table[0]), "multipliers are missing or too many")
        need(min([average, *inner, *caps]) >= 0, "a multiplier is negative")
        for i in range(1, m + 1):
            v = table[i][0]
            left = caps[i - 1] - average * v * (c[m - i] / c[m] - gamma)
            left -= sum(y * e for y, e in zip(inner, table[i][1:], strict=False))
            need(left >= v, f"the multipliers fail at distance {i}")
        most = 1 + sum(inner) + sum(caps) + average * (1 - gamma)
        need(enough >= most if average else enough > most, "smaller sets are not ruled out")
    return Fact("sets", gamma=gamma, enough=enough)


@rule("hidden-set", "members overlaps", gamma="rational", shape="json", size="positive")
def some_set(
    problem: Any, members: Fact, overlaps: Fact, gamma: Fraction, shape: Any, size: int
) -> Fact:
    """A set of `size` members has average correlation above gamma.

    shape a, k, j: all that contain a places and meet a block of k others in j or more; 0, 0, 0: any
    members, whose equal pairs alone make an average of 1/size.
    """
    n, m, c, count, pairs = problem.n, problem.m, overlaps.c, 0, [0] * (problem.m + 1)
    a, k, j = (small(v, 0, n, "a number of the shape") for v in listed(shape))
    if a == k == j == 0:
        need(size <= members.count and gamma * size < 1, "equal pairs make no such average")
        return Fact("some", gamma=gamma, size=size)
    places = [b for b in range(j, min(k, m - a) + 1) if m - a - b <= n - a - k]
    for x in places:
        sets = math.comb(k, x) * math.comb(n - a - k, m - a - x)
        count += sets
        for y in places:
            inside, outside = _meetings(k, x, y), _meetings(n - a - k, m - a - x, m - a - y)
            for p, one in enumerate(inside):
                for r, other in enumerate(outside):
                    if one and other:
                        pairs[a + p + r] += sets * one * other
    need(count == size, f"the sets are {short(count)}, not {short(size)}")
    total = sum(p * v for p, v in zip(pairs, c, strict=True))
    need(total > gamma * c[m] * count**2, "their average is not above gamma")
    return Fact("some", gamma=gamma, size=size)


def _meetings(ground: int, one: int, two: int) -> list[int]:
    """How many sets of `two` of `ground` places meet a set of `one` in 0, 1, .. places."""
    both = range(min(one, two) + 1)
    return [math.comb(one, p) * math.comb(ground - one, two - p) for p in both]


@rule("", "members sets some?")
def sda(_: Any, members: Fact, sets: Fact, some: Fact | None) -> Fact:
    """SDA(gamma), the largest q <= N such that sets of N/q members or more have such averages.

    Averages are over all ordered pairs, of a member and itself as well. If the largest set above
    gamma has b members it is floor((N-1)/b), and N for b = 0. [FGRVX17]
    """
    count, bad = members.count, sets.enough - 1
    lower = count if bad == 0 else (count - 1) // bad
    upper = (count - 1) // some.size if some else count
    need(some is None or some.gamma == sets.gamma, "the two averages are not the same")
    need(lower <= upper, "the two ends contradict each other")
    text = SDA.format("N/q members", short(sets.gamma), between(lower, upper))
    at = {"gamma": written(sets.gamma), "upper": written(upper)}
    return Fact("bound", {"sda-all-subsets": (lower, at, text)})


@rule("hidden-set", "members overlaps", gamma="share")
def closest_pairs(problem: Any, members: Fact, overlaps: Fact, gamma: Fraction) -> Fact:
    """SDA over pair events: the largest q <= N such that N^2/q^2 pairs or more never exceed gamma.

    The worst events take the closest pairs first, N v_i of them at distance i. [BBHLS21]
    """
    n, m, c, count = problem.n, problem.m, overlaps.c, members.count
    pairs, total, bad = 0, Fraction(0), 0  # bad: most pairs whose closest are above gamma
    for i in range(m + 1):
        more, each = count * math.comb(m, i) * math.comb(n - m, i), c[m - i] / c[m] - gamma
        if total + more * each > 0:
            bad = pairs + more
        elif total > 0:
            bad = pairs + math.ceil(total / -each) - 1
        pairs, total = pairs + more, total + more * each
    q = count if not bad else math.isqrt((count**2 - 1) // bad)
    text = PAIRS.format("N^2/q^2 pairs", short(gamma), short(q))
    return Fact("bound", {"sda-pair-events": (q, {"gamma": written(gamma)}, text)})


@rule("hidden-set", "overlaps sets", t="positive")
def vstat_sets(problem: Any, overlaps: Fact, sets: Fact, t: int) -> Fact:
    """A query to VSTAT(t) rules out fewer members than are enough for an average of gamma(t).

    The reference has a coin of the mean label mu for the open value; against it, members as laws of
    an example have correlations (1 - 2 noise)^2 c / (2 (1 - mu^2) half^2), none of them negative.
    For the s members that a query rules out, with signs, Cauchy-Schwarz bounds the sum of their
    distances; as in `ask` each squared one is above min(p0, 1 - p0) / (3t), so that the average
    correlation of these members passes 1 / (3t). [FGRVX17]
    """
    need(problem.levels == 2, "labels have more than two values")
    mu = problem.fade * (overlaps.mean - problem.middle) / problem.half
    gamma = 2 * (1 - mu**2) * problem.half**2 / (3 * t * problem.fade**2 * overlaps.c[-1])
    need(sets.gamma == gamma, "gamma is not that of VSTAT(t)")
    what = f"queries to VSTAT({short(t)}), of values in [0,1]"
    return Fact("cap", most=sets.enough - 1, name="vstat", what=what, at={"t": written(t)})


@rule("hidden-set", "members", bound="rational")
def mixture(problem: Any, members: Fact, bound: Fraction) -> Fact:
    """With the mean member as reference, squared moves add up to bound/4 times min(p0, 1 - p0).

    Let b be the mean label, as +-1, of all members at a point; it depends on the number w of -1
    there. `bound` is at least the largest eigenvalue of the members less b, weighed by 1/(1 - |b|),
    points of |b| = 1 left out: a query in [0,1] has (1 - |b|) phi1^2 <= min(r, 1 - r) / 2, r its
    mean at the point, and Bessel does the rest. The weighted products of two members are added up
    over points by overlap, with weights rounded down to 2^-bits and what that may add to the sum;
    to take b away sets the eigenvalue on V_0 to 0 and changes no other.
    """
    n, m, fade = problem.n, problem.m, problem.fade
    need(problem.levels == 2 and m < n, "labels have more than two values")
    need(problem.part * 2 == 1, "this rule is of examples half of which are open")
    need(m <= 48 and n * (m + 4) ** 2 <= 3 * 10**6, "there are too many places for this rule")
    signs = [1 if v == max(problem.g) else -1 for v in problem.g]
    bits, first = 192 + 8 * m + 4 * members.count.bit_length(), max(0, 2 * m - n)
    weights = []
    for w in range(n + 1):
        counts = {1: 0, -1: 0}
        for h in range(max(0, m - n + w), min(m, w) + 1):
            counts[signs[h]] += math.comb(w, h) * math.comb(n - w, m - h)
        fewer = Fraction(min(counts.values()), sum(counts.values()))
        weights.append(math.floor(2**bits / (1 - fade + 2 * fade * fewer)) if fewer else 0)
    free = n - 2 * m + first  # places outside of two members that share `first`
    tails, choose = [0] * (n - free + 1), 1
    for i in range(free + 1):
        tails = [sum_ + choose * weight for sum_, weight in zip(tails, weights[i:], strict=False)]
        choose = choose * (free - i) // (i + 1)
    sums, off = {}, 2**free  # off: by which a tail is too small at most
    for t in range(first, m + 1):
        alone, total, wrong = [math.comb(m - t, i) for i in range(m - t + 1)], 0, 0
        for a in range(t + 1):
            products = [0] * (2 * (m - t) + 1)
            for i, one in enumerate(alone):
                for j, other in enumerate(alone):
                    products[i + j] += signs[a + i] * signs[a + j] * one * other
            total += math.comb(t, a) * sum(p * tails[a + s] for s, p in enumerate(products))
            wrong += math.comb(t, a) * sum(map(abs, products)) * off
        sums[t], tails, off = (total, wrong), [x + y for x, y in pairwise(tails)], 2 * off
    table = distances(n, m)
    for k in range(1, len(table[0])):
        at = [(v, wrong, table[m - t][k]) for t, (v, wrong) in sums.items()]
        found = sum(v * e + wrong * abs(e) for v, wrong, e in at)
        need(fade**2 * found <= bound * 2 ** (n + bits), "an eigenvalue is above the bound")
    return Fact("gram", moves=None, moves01=bound / 4, general=True)


# 3. Residues. A secret s of Z_q^n, q = 2^l or an odd prime; open examples show a vector a of Z_q^n
# and a code, one of L levels, of <a, s> + e mod q; the others show nothing of s.


def residues(given: dict[str, Any]) -> Any:
    """Read the problem: labels are residues, intervals, or one of equal parts of Z_q (a window).

    The secret has `weight` entries that are not 0 (0: any number), at any places as likely. Laws of
    `entries`, and of errors, are the least and counts of it and those that follow, in proportion to
    their probabilities; null: entries are uniform on Z_q, or what is not 0 of it, and no errors.
    """
    need(
        set(given) == {"kind", "n", "q", "bits", "secret", "labels", "parts", "errors"},
        "its fields",
    )
    n, q = small(given["n"], 1, 1 << 20, "n"), small(given["q"], 2, 1 << 48, "q")
    need(q & (q - 1) == 0 or prime(q), "q is neither a power of two nor prime")
    need(set(given["secret"]) == {"weight", "entries"}, "the secret has no law: make it again")
    h = small(given["secret"]["weight"], 0, n, "weight")
    entries, numbers = None, f"uniform on Z_{q}"
    if given["secret"]["entries"] is not None:
        entries = drawn_law(given["secret"]["entries"], "entries")
        gaps = {*range(min(entries), max(entries))} - {*entries} - ({0} if h else set())
        even = len(set(entries.values())) == 1 and not gaps
        law = ", all as likely" if even else " with the probabilities of the problem"
        numbers = (
            f"from {min(entries)} to {max(entries)}{law}" if len(entries) > 1 else str(*entries)
        )
    labels, parts = given["labels"], small(given["parts"], 2, q, "parts")
    need(labels in ("residue", "interval", "window") and q % parts == 0, "the parts are not equal")
    need(parts == q or labels != "residue", "a residue is one of q parts")
    bits = small(given["bits"], 1, 1 << 20, "bits")
    errors: Counter[int] | None = None
    drawn = "e = 0"
    need(q % 2 == 0 or 2 * n * q <= 1 << bits, "so few bits leave a far from uniform")
    if given["errors"] is not None:
        counts = drawn_law(given["errors"], "errors")
        need(labels == "residue" and sum(counts.values()) == 1 << 64, "errors add up to 2^64")
        drawn = f"e from {min(counts)} to {max(counts)} with the probabilities of the problem"
        errors = residues_of(counts, q)
    levels = 2 if labels == "window" else parts
    shows = {
        "residue": f"<a, s> + e mod {q}, {drawn}",
        "interval": f"which of {parts} equal intervals of Z_{q} has <a, s>",
        "window": f"whether <a, s> is in one of {parts} equal intervals of Z_{q}, always the same",
    }
    text = (
        f"Members are the secrets s of Z_{q}^{n}"
        + (f" with {h} entries that are not 0, at places that are all as likely" if h else "")
        + f", entries {numbers}, drawn again until one is a unit. An example has a vector a, "
        + ("uniform" if q % 2 == 0 else f"numbers of {bits} bits mod {q}")
        + f", and shows with probability 1/2 {shows[labels]}. "
        + RISK.format("the best constant where a is uniform")
    )
    return SimpleNamespace(
        n=n, q=q, h=h, entries=entries, levels=levels, parts=parts, bits=bits,
        rarest=Fraction(1, parts), errors=errors, conditions=text + ALL,
    )  # fmt: skip


def drawn_law(given: Any, what: str) -> dict[int, int]:
    """Read a law of integers: counts in proportion to probabilities."""
    need(len(listed(given)) == 2, f"{what} are the least and a list")
    first, counts = small(given[0], -(1 << 40), 1 << 40, f"the least of {what}"), given[1]
    counts = read("rational*", counts)
    need(0 < len(counts) <= 1 << 15, f"{what} have no value, or over 2^15")
    fit = all(c >= 0 and c.denominator == 1 for c in counts) and counts[0] and counts[-1]
    need(bool(fit), f"counts of {what} are no whole numbers, or the first or the last is 0")
    return {first + i: int(c) for i, c in enumerate(counts) if c}


def residues_of(law: dict[int, int], q: int) -> Counter[int]:
    """Add up the counts of each residue."""
    out: Counter[int] = Counter()
    for value, count in law.items():
        out[value % q] += count
    return out


def below(counts: Counter[int], many: int, cut: int) -> int:
    """Sum the coefficients below x^cut of the power (sum of counts[w] x^w)^many.

    By the recurrence of a power: with F = f^many, f F' = many f' F, term by term.
    """
    if not counts:
        return 0
    first = min(counts)
    rest = [(w - first, count) for w, count in counts.items() if w > first]
    found = [counts[first] ** many] if cut > many * first else []
    for j in range(1, cut - many * first):
        terms = ((many * w - (j - w)) * count * found[j - w] for w, count in rest if w <= j)
        found.append(sum(terms) // (j * counts[first]))
    return sum(found)


def prime(q: int) -> bool:
    """Whether q is prime, by division."""
    return q > 1 and (q % 2 == 1 or q == 2) and all(q % p for p in range(3, math.isqrt(q) + 1, 2))


@rule("residues", base="share", cut="json", weights="json")
def secrets(problem: Any, base: Fraction, cut: Any, weights: Any) -> Fact:
    """N secrets whose laws of a label are orthogonal in pairs where a is uniform, and their law.

    <a, s> and <a, s'> are independent unless u s = v s' for some u, v not both 0. Over a prime that
    says s' is a multiple of s; mod 2^l, of secrets with an odd entry, that s' = u s mod M for an
    odd u, M = 2q / parts, as labels of equal intervals have no frequency that is a multiple of
    their number, so that u and v are as often even: such secrets are alike. Members are orthogonal
    already if they differ mod M where every residue of a prime has its own label, as <a, s - s'> is
    uniform, and for M = 4, where s' = -s and the terms of the frequencies q/4 and -q/4 cancel.
    Counted are the vectors mod M with a unit among their entries that secrets have. As many of them
    are alike as there are units that entries may be: one entry says which. What is orthogonal to
    one secret is so to all that are the same mod M, so a vector is ruled out, or fits, as one. If
    none is left out and all have the largest probability that they may have, all are as likely.
    """
    n, h, q, entries = problem.n, problem.h, problem.q, problem.entries
    modulus = q if q % 2 else 2 * (q // problem.parts)
    differ = problem.levels == problem.parts and (q % 2 == 1 or modulus == 4)
    cut, weights = small(cut, 0, 1 << 16, "the cut"), listed(weights)
    numbers, values = [small(w, 0, 1 << 16, "a weight") for w in weights], q - (h > 0)
    if entries is None:
        units, none = (modulus - 1 if modulus % 2 else modulus // 2), True
        groups = [Group(0, 1, units, modulus - units - (h > 0))]
        need(not numbers, "uniform entries have no weights")
    else:
        folded, values = residues_of(entries, modulus), len(residues_of(entries, q))
        need(len(numbers) in (0, len(folded)), "there is not a weight for each residue")
        pairs = zip(numbers or [0] * len(folded), sorted(folded.items()), strict=False)
        groups = [Group(w, c, unit := math.gcd(v, modulus) == 1, not unit) for w, (v, c) in pairs]
        units, none = sum(group.units for group in groups), any(v % q == 0 for v in entries)
        need(units > 0, "no entry is a unit")
        need(not h or not folded[0], "the law of entries that may be 0 mod M is not known")
    if entries is None and h and modulus < q:
        tiers, lost, total = lifted_law(n, h, modulus, q // modulus)
    else:
        places, many = math.comb(n, h) if h else 1, h or n
        tiers, lost, total = power_law(groups, places, many, base, cut)
    vectors = sum(size for size, _ in tiers)
    alike, as_one = (units, 1) if differ else (1, units)
    even = not lost and total == vectors * tiers[0][1]
    count = vectors // as_one  # with no rest: u units, d others, (u + d)^n - d^n
    upper = math.comb(n, h) * values**h if h else values**n - none
    text = (
        f"{short(count)} secrets, of at most {short(upper, up=True)}, are "
        f"{'different' if differ else 'no multiples by a unit'} mod {modulus}, at most {alike} "
        "alike: where a is uniform their laws of a label are orthogonal"
    )
    at = {"upper": written(upper), "alike": str(alike)}
    claims: Claims = {"orthogonal-members": (count, at, text)}
    return Fact("members", claims, count=count, alike=alike, upper=upper,
                law=None if even else (tiers, lost, total, as_one))  # fmt: skip


class Group(NamedTuple):
    """Residues of one weight and one mass: how many are units, how many are not."""

    weight: int
    mass: int  # of each, in proportion to its probability
    units: int
    others: int


def power_law(
    groups: list[Group], places: int, many: int, base: Fraction, cut: int
) -> tuple[list[tuple[int, int]], int, int]:
    """Bound the law of vectors of independent entries, one of which is a unit: as `likely` says.

    Of `many` entries, with counts m_i of W and weights w_i, m_i <= max m base^w_i: so a vector of
    the weight w, the sum of its entries', is drawn at most (max m / W)^many base^w of the time.
    Those of a weight below `cut` have the coefficients below x^cut of (sum of m_i x^w_i)^many, less
    those without a unit, over W^many, and each other one at most what `cut` allows. Draws without a
    unit are drawn again. Each vector may be at any of so many `places`, all as likely.
    """
    every, without, most = Counter[int](), Counter[int](), Counter[int]()
    for weight, mass, units, others in groups:
        every[weight] += mass * (units + others)
        without[weight] += mass * others
        most[weight] = max(most[weight], mass)
    top, low, likeliest = base.numerator, base.denominator, max(most.values())
    long, digits = many * sum(every.values()).bit_length(), low.bit_length()
    quick = long + digits * (cut + max(most)) < 1 << 24 and digits * sum(most) < 1 << 29
    quick = quick and cut * long < 1 << 31 and cut * long * len(every) < 1 << 37
    need(quick, "so long a law takes too long")
    bounded = all(mass * low**w <= likeliest * top**w for w, mass in most.items())
    need(bounded, "an entry is likelier than its weight says")
    values, dull = (sum(g.units + g.others for g in groups), sum(g.others for g in groups))
    size, scale = places * (values**many - dull**many), places * low**cut
    lost = below(every, many, cut) - below(+without, many, cut)
    total = sum(every.values()) ** many - sum(without.values()) ** many
    return [(size, likeliest**many * top**cut)], lost * scale, total * scale


def lifted_law(n: int, h: int, modulus: int, lifts: int) -> tuple[list[tuple[int, int]], int, int]:
    """The law mod M of h uniform entries that are not 0 mod q = M lifts, one a unit: exactly.

    A vector with j entries that are not 0 mod M comes from binom(n-j, h-j) (lifts-1)^(h-j) lifts^j.
    """
    sizes = (math.comb(n, j) * ((modulus - 1) ** j - (modulus // 2 - 1) ** j)
             for j in range(1, h + 1))  # fmt: skip
    weights = (math.comb(n - j, h - j) * (lifts - 1) ** (h - j) * lifts**j for j in range(1, h + 1))
    tiers = sorted(zip(sizes, weights, strict=True), key=lambda tier: -tier[1])
    return tiers, 0, sum(size * weight for size, weight in tiers)


@rule("residues", "members")
def laws(problem: Any, members: Fact) -> Fact:
    """What all members move; what holds where a is uniform holds nearly, by the density of a.

    Mod an odd q an entry is a uniform number below W = 2^bits: with x = W mod q its density
    against uniform is 1 - x/W or 1 + (q - x)/W, and that of n entries, by Bernoulli's
    inequality, at least `least` = 1 - n x/W and at most `most` = 1 / (1 - n (q - x)/W).
    Orthogonal functions then have eigenvalues between least and most times their squared norm,
    and two of them correlations of at most (most - least) / (most + least). f is the mean
    label, codes written as any numbers, less its mean where a is uniform, in units of its norm
    there: a function of <a, s>, independent for members that are not alike. The reference draws
    codes c independently of a. A query moves by E[l phi] there, l = open (Pr[c | <a,s>] / Pr[c]
    - 1), of squared norm half of chi^2 = L - 1, with errors q sum_r Pr[e = r]^2 - 1; l sees of
    phi its variance over the codes alone, at most 4 p (1-p) for codes of probability p as near
    to 1/2 as can be, and for values in [0, 1] (1 - rarest) min(p0, 1 - p0), half of all
    examples being open. Bessel multiplies.
    """
    n, q, whole, rarest = problem.n, problem.q, 1 << problem.bits, problem.rarest
    x = whole % q
    least = 1 - Fraction(n * x, whole) if q % 2 else Fraction(1)
    most = 1 / (1 - Fraction(n * (q - x), whole)) if q % 2 else Fraction(1)
    square = Fraction(problem.levels - 1)
    if problem.errors is not None:
        square = q * Fraction(sum(c * c for c in problem.errors.values()), 1 << 128) - 1
    need(square > 0, "labels do not depend on the secret")
    part = rarest if problem.levels == 2 else Fraction(problem.levels // 2, problem.levels)
    apart, unlike = (most - least) / (most + least), -(-members.count // members.alike)
    size = min(unlike, math.floor(1 / apart)) if apart else unlike
    near = f"at most {short(apart, up=True)}" if apart else "0"
    claims: Claims = {
        "pairwise-correlation": (
            0, {"upper": written(apart)}, f"members that are not alike have correlation {near}"
        ),
        "sq-dimension": (
            size, {"upper": written(members.upper)}, SQ_DIM.format(between(size, members.upper))
        ),
    }  # fmt: skip
    return Fact("gram", claims, top=most, least=least, scale=1, alike=members.alike,
                square=square, moves=most * square * part * (1 - part),
                moves01=most * square * (1 - rarest) / 2, general=True)  # fmt: skip


# 4. Listed functions of values -1 and +1 on n fair signs, by their tables.


def functions(given: dict[str, Any]) -> Any:
    """Read the problem: a table is hexadecimal, bit i of it is 1 where point i has the value -1."""
    need(set(given) == {"kind", "signs", "tables"}, "fields of the problem")
    n, rows = small(given["signs"], 1, 20, "signs"), listed(given["tables"])
    need(2 <= len(rows) <= 64, "members are not 2 to 64")
    need(all(re.fullmatch("0|[1-9a-f][0-9a-f]*", r) for r in rows), "a table is no hexadecimal")
    tables = [int(r, 16) for r in rows]
    need(max(tables) < 1 << (1 << n), "a table has more than 2^n points")
    text = (
        f"Members are {len(rows)} functions of {n} fair signs with the values -1 and +1, by their "
        "tables, all as likely; labels are their values. "
        f"{FAMILY}"
    )
    return SimpleNamespace(n=n, tables=tables, levels=2, conditions=text + ALL)


@rule("functions")
def products(problem: Any) -> Fact:
    """The inner products, 2^n - 2 (points where two tables differ)."""
    norm, rows = 1 << problem.n, problem.tables
    gram = [[norm - 2 * (a ^ b).bit_count() for b in rows] for a in rows]
    most = max(abs(v) for i, row in enumerate(gram) for v in row[:i])
    total = sum(abs(v) for row in gram for v in row)
    largest, mean = Fraction(most, norm), Fraction(total, norm * len(rows) ** 2)
    near = short(largest, up=True)
    text = f"two different members have correlation at most {near}, in absolute value"
    average = f"the average of the absolute correlations of all pairs is {short(mean)}"
    claims: Claims = {
        "largest-correlation": (largest, {}, text),
        "average-correlation": (mean, {}, average),
    }
    return Fact("members", claims, count=len(rows), gram=gram, norm=norm)


def definite(matrix: list[list[int]]) -> bool:
    """Whether a symmetric integer matrix is positive definite: all leading minors are above 0.

    They are the pivots of elimination without fractions. [Bareiss; Sylvester]
    """
    rows, last = [row[:] for row in matrix], 1
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot <= 0:
            return False
        for row in rows[k + 1 :]:
            lead = row[k]
            for j in range(k + 1, len(rows)):
                row[j] = (row[j] * pivot - lead * pivot_row[j]) // last
        last = pivot
    return True


@rule("functions", "members", top="rational")
def spread(problem: Any, members: Fact, top: Fraction) -> Fact:
    """No eigenvalue of the members less their mean is `top` or above. The reference is the mean.

    Labels are +-1, so a query is phi0 + phi1 b, |phi1| <= 1: its means move by E[phi1 f], less
    their mean, and Bessel adds the squares up to top.
    """
    count, norm, gram = members.count, members.norm, members.gram
    sums = [sum(row) for row in gram]
    less = [
        [count**2 * g - count * (a + b) + sum(sums) for g, b in zip(row, sums, strict=True)]
        for row, a in zip(gram, sums, strict=True)
    ]  # count^2 norm times the inner products
    unit = count**2 * norm
    wanted = [
        [(top.numerator * unit if i == j else 0) - top.denominator * v for j, v in enumerate(row)]
        for i, row in enumerate(less)
    ]
    need(definite(wanted), "an eigenvalue is not below top")
    squares = [Fraction(less[i][i], unit) for i in range(count)]
    return Fact("gram", top=top, least=min(squares), scale=sum(squares) / count, alike=1,
                general=True, moves=top, moves01=None)  # fmt: skip


@rule("functions", "members", top="rational")
def weighted(problem: Any, members: Fact, top: Fraction) -> Fact:
    """As `mixture`: no eigenvalue of members less their mean b, weighed by 1/(1-|b|), is >= top."""
    count, rows, scale = members.count, problem.tables, math.lcm(*range(1, members.count + 1))
    less, unit = [[0] * count for _ in rows], count * scale << problem.n
    for point in range(1 << problem.n):
        down = [row >> point & 1 for row in rows]
        minus, fewer = sum(down), min(sum(down), count - sum(down))
        if fewer:  # f - b is 2 minus/count or 2 (minus - count)/count, 1 - |b| = 2 fewer/count
            f = [minus - count if d else minus for d in down]
            for i, row in enumerate(less):
                for j in range(count):
                    row[j] += 2 * scale // fewer * f[i] * f[j]
    wanted = [[(top.numerator * unit if i == j else 0) - top.denominator * v
               for j, v in enumerate(row)] for i, row in enumerate(less)]  # fmt: skip
    need(definite(wanted), "a weighted eigenvalue is not below top")
    return Fact("gram", moves=None, moves01=top / 2, general=True)


@rule("functions", "members", chosen="json", classes="json", upper="positive")
def apart(_: Any, members: Fact, chosen: Any, classes: Any, upper: int) -> Fact:
    """SQ-DIM is at least the number of members chosen, and at most `upper`.

    Those chosen have pairwise correlations of at most one over their number. Of more than `upper`
    members, two are in one of as many classes, where all correlations are above 1/(upper + 1).
    """
    gram, norm, every = members.gram, members.norm, sorted(i for one in classes for i in one)
    few = [small(i, 0, members.count - 1, "a member") for i in listed(chosen)]
    need(every == list(range(members.count)), "the classes do not hold every member once")
    near = all(abs(gram[i][j]) * len(few) <= norm for i in few for j in few if i != j)
    need(near and len(set(few)) == len(few) > 0, "two of those chosen are too near")
    far = all(abs(gram[i][j]) * (upper + 1) > norm for c in classes for i in c for j in c)
    need(far and len(classes) <= upper, "two members of a class may be apart, or classes are many")
    text = SQ_DIM.format(between(len(few), upper))
    return Fact("bound", {"sq-dimension": (len(few), {"upper": written(upper)}, text)})


@rule("functions", "members", gamma="share", above="json")
def sums(_: Any, members: Fact, gamma: Fraction, above: Any) -> Fact:
    """SDA(gamma) of listed members, in absolute values, over sets and over pairs.

    A set of s members has an average of at most the s largest sums of s entries of a row, over s^2;
    those in `above`, if any, have a larger one than gamma. Pairs: the largest entries first.
    """
    count, norm = members.count, members.norm
    sizes = [sorted((abs(v) for v in row), reverse=True) for row in members.gram]
    few = [small(i, 0, count - 1, "a member") for i in listed(above)]
    reach = 0  # the most members whose sums allow an average above gamma
    for s in range(1, count + 1):
        closest = sorted((sum(row[:s]) for row in sizes), reverse=True)
        reach = s if sum(closest[:s]) > gamma * norm * s**2 else reach
    total = sum(abs(members.gram[i][j]) for i in few for j in few)
    need(len(set(few)) == len(few), "a member stands twice in a set")
    need(not few or total > gamma * norm * len(few) ** 2, "not above gamma")
    lower = (count - 1) // reach if reach else count
    upper = (count - 1) // len(few) if few else count
    flat, bad, seen = sorted((v for row in sizes for v in row), reverse=True), 0, Fraction(0)
    for i, v in enumerate(flat, 1):
        seen += v
        bad = i if seen > gamma * norm * i else bad
    pairs = count if not bad else math.isqrt((count**2 - 1) // bad)
    at, both = {"gamma": written(gamma)}, {"gamma": written(gamma), "upper": written(upper)}
    text = SDA.format("N/q members", short(gamma), between(lower, upper))
    other = PAIRS.format("N^2/q^2 pairs", short(gamma), pairs)
    return Fact(
        "bound", {"sda-all-subsets": (lower, both, text), "sda-pair-events": (pairs, at, other)}
    )


# 5. A hidden direction. w is a uniform unit vector of n dimensions; a point has normal numbers, u
# the inner product of n of them with w, and what an example shows of w is a function s(u), E s^2 =
# 1. By Mehler's formula E s(u) s(u') = sum_k g_k^2 r^k for two directions of cosine r, g_k the
# coefficients of s in normalised Hermite polynomials, sum_k g_k^2 = 1.


def direction(given: dict[str, Any]) -> Any:
    """Read the problem: squares of g_0 .. g_(m-1) are at most those in `low`."""
    fields = {"kind", "dimension", "degree", "low", "labels", "noise"}
    need(set(given) == fields, "fields of the problem")
    n = small(given["dimension"], 2, 10**9, "dimension")
    m, labels = small(given["degree"], 1, 64, "degree"), given["labels"]
    low, noise = read("rational*", given["low"]), read("risk", given["noise"])
    need(len(low) == m and all(0 <= g <= 1 for g in low), "squares are not m numbers in 0..1")
    need(max(g.denominator for g in low) < 10**100, "a square has over 100 digits")
    need(labels in ("two", "real") and noise < Fraction(1, 2), "labels, or noise of 1/2")
    need(labels == "two" or noise == 0, "noise of real labels is no number of the problem")
    shown = (
        f"s(u), of values -1 and +1, whose sign noise flips with probability {noise}"
        if labels == "two"
        else "s(u), of mean square 1, times a public function of the point that is independent of "
        "u, and noise that does not depend on w may be added"
    )
    text = (
        f"Members are the unit vectors w of {n} dimensions, drawn uniformly. u, the inner product "
        f"of w with {n} numbers of the point, is standard normal, and an example shows {shown}. "
        f"The squared Hermite coefficients of s of degree below {m} are at most "
        f"{', '.join(map(short, low))}. {FAMILY}"
    )
    return SimpleNamespace(n=n, m=m, low=low, fade=1 - 2 * noise, conditions=text + ALL,
                           levels=2 if labels == "two" else None, down=Fraction,
                           scaled="mean square 1 with h, E h^2 <= 1")  # fmt: skip


def power_norm(n: int, k: int) -> Fraction:
    """The norm of the operator of the kernel r^k, r the cosine, under a uniform direction.

    On harmonics of degree l <= k, k - l even, its eigenvalue is k! Gamma(n/2) / (2^k ((k-l)/2)!
    Gamma((n+k+l)/2)), which falls as l grows [Mul66]. So it is E r^k for even k, of l = 0, and
    E r^(k+1) for odd k, of l = 1; E r^k = 1 3 .. (k-1) / (n (n+2) .. (n+k-2)), k even.
    """
    k += k % 2
    return Fraction(math.prod(range(1, k, 2)), math.prod(range(n, n + k, 2)))


@rule("direction", top="rational", rest="rational")
def sphere(problem: Any, top: Fraction, rest: Fraction) -> Fact:
    """The operator of inner products of members, on functions of w, has a norm of at most `top`.

    It is the sum of g_k^2 times that of r^k; norms of r^k fall as k grows, and those from m on
    weigh at most 1 together. Less the mean member, it is at most `rest`: constant functions of w
    are gone, and of r^k is left that of l = 1 for odd k, and for even k that of l = 2, E r^k
    k/(n+k), at most E r^(k+2): in both cases at most the norm of r^(k+1). So for a function of
    squared norm H its squared inner products with all members, less their mean, have a mean of at
    most rest H: Bessel, in shares of directions. Their squared norm is at least 1 - top. The
    reference is the mean over all directions, so that a query moves by (1 - 2 noise) E[phi1 (s -
    its mean)], |phi1| <= 1; for values in [0, 1] it has a coin for s, and phi1^2 <= min(phi0, 1 -
    phi0) / 2.
    """
    n, m = problem.n, problem.m
    least = sum((g * power_norm(n, k) for k, g in enumerate(problem.low)), power_norm(n, m))
    need(top >= least, f"the norm may be {short(least)}")
    parts = [g * power_norm(n, k + 1) for k, g in enumerate(problem.low) if k]
    least = sum(parts, power_norm(n, m + 1))
    need(rest >= least, f"the norm less the mean member may be {short(least)}")
    two, fade = problem.levels == 2, problem.fade**2
    said = "the norm of the members' inner products, over a uniform direction"
    claims: Claims = {
        "operator-norm-at-most": (top, {}, f"{said}, is at most {short(top, up=True)}"),
        "second-eigenvalue-at-most": (
            rest,
            {},
            f"{said}, less their mean, is at most {short(rest, up=True)}",
        ),
    }
    return Fact("gram", claims, top=rest, least=1 - top, scale=1, alike=1, general=two,
                moves=fade * rest, moves01=fade * top / 2 if two else None)  # fmt: skip


@rule("direction")
def directions(_: Any) -> Fact:
    """All of them, a share of 1."""
    return Fact("members", count=1, share=True)


def correlation(problem: Any, cosine: Fraction) -> Fraction:
    """Bound the correlation of two members of such a cosine at most, in absolute value."""
    return Fraction(sum(g * cosine**k for k, g in enumerate(problem.low)) + cosine**problem.m)


@rule("direction", size="positive", cosine="share", power="json")
def drawn(problem: Any, size: int, cosine: Fraction, power: Any) -> Fact:
    """So many uniform directions have cosines of at most `cosine`, with a probability.

    Pr[|r| > c] <= E r^(2j) / c^(2j) for a pair, and there are size (size - 1) / 2 pairs. Two
    directions are uniform relative to each other.
    """
    j = small(power, 1, 1000, "the power")
    need(cosine.denominator <= 10**6, "the cosine has a denominator above 10^6")
    fails = Fraction(size * (size - 1), 2) * power_norm(problem.n, 2 * j) / cosine ** (2 * j)
    sure = Fraction(math.floor((1 - fails) * 10**6), 10**6)
    need(sure > 0, "a pair may be nearer with probability 1")
    need(correlation(problem, cosine) * size <= 1, "correlations may be above 1/size")
    text = (
        f"{short(size)} directions drawn uniformly have correlations of at most 1/{short(size)} "
        f"with probability at least {short(sure)}: so there are such directions"
    )
    return Fact("bound", {"random-members": (size, {"probability": written(sure)}, text)})


@rule("direction", q="json", points="json", degree="json", size="positive")
def polynomials(problem: Any, q: Any, points: Any, degree: Any, size: int) -> Fact:
    """SQ-DIM is at least `size`, by polynomials p of a degree over the field of a prime q.

    The direction of p has entries 1/sqrt(l) at the places (i, p(i)), i < l = points <= q: two agree
    at `degree` points at most. [RS60]
    """
    q, points = small(q, 2, 10**6, "q"), small(points, 1, 10**6, "points")
    t = small(degree, 0, points, "the degree")
    need(prime(q) and points <= q and points * q <= problem.n, "there are not so many places")
    need(size <= q ** (t + 1), "there are not so many polynomials")
    near = correlation(problem, Fraction(t, points))
    need(size == 1 or near * size <= 1, "correlations may be above 1/size")
    text = SQ_DIM.format(f"at least {short(size)}")
    return Fact("bound", {"sq-dimension-at-least": (size, {}, text)})


# 6. Reading a certificate.

PROBLEMS = {
    "hidden-set": hidden_set,
    "residues": residues,
    "functions": functions,
    "direction": direction,
}


def posed(given: dict[str, Any]) -> Any:
    """Read a problem; raises Refused."""
    need(given["kind"] in PROBLEMS, "the kind of problem is not known")
    problem = PROBLEMS[given["kind"]](given)
    problem.kind = given["kind"]
    known = {"down": math.floor, "scaled": "[-1,1] with h, |h| <= 1"}
    return SimpleNamespace(**known | vars(problem))


def intact(data: Any) -> None:
    """Refuse a file of another format, with other fields, or changed since its digest."""
    need(isinstance(data, dict) and data.get("format") == FORMAT, f"its format is not {FORMAT}")
    fields = {"format", "about", "problem", "goal", "steps", "digest"}
    need(set(data) == fields, "fields of the file")
    named = isinstance(data["about"], dict) and str(data["about"].get("spec") or "").strip()
    need(bool(named), "about names no family by its spec")
    body = {name: part for name, part in data.items() if name != "digest"}
    text = json.dumps(body, sort_keys=True, separators=(",", ":"))
    same = hashlib.sha256(text.encode()).hexdigest() == data["digest"]
    need(same, "its content does not match its digest")


def check(data: Any) -> list[str]:
    """Return what a certificate proves, the conditions first; raises Refused."""
    intact(data)
    try:
        problem = posed(data["problem"])
        return goals(problem, data["goal"], prove(problem, data["steps"]))
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        refuse(f"something is missing or malformed ({type(error).__name__})")


def prove(problem: Any, steps: list[Any]) -> list[Fact]:
    """Take steps one after the other; raises Refused with the number of the first that fails."""
    facts: list[Fact] = []
    need(len(listed(steps)) <= STEPS, f"there are over {STEPS} steps")
    for number, step in enumerate(steps, 1):
        try:
            facts.append(take(problem, step, facts))
        except Refused as reason:
            refuse(f"step {number}: {reason}")
    return facts


def take(problem: Any, step: dict[str, Any], facts: list[Fact]) -> Fact:
    """Take one step after others; raises Refused."""
    need(step.get("rule") in RULES, "the rule is not known")
    of, cites, takes, apply = RULES[step["rule"]]
    need(of in ("", problem.kind), "the rule is of another problem")
    need(set(step) == {"rule", "from", *takes}, "the numbers of the rule are others")
    cited = [facts[small(i, 1, len(facts), "a step cited") - 1] for i in listed(step["from"])]
    wanted = [name.rstrip("?") for name in cites][: len(cited)]
    need([fact.kind for fact in cited] == wanted, f"it must cite {', '.join(cites)}")
    missing = cites[len(cited) :]
    need(all(name.endswith("?") for name in missing), f"it must cite {', '.join(cites)}")
    numbers = {name: read(of, step[name]) for name, of in takes.items()}
    return apply(problem, *cited, *[None] * len(missing), **numbers)


def goals(problem: Any, goal: Any, facts: list[Fact]) -> list[str]:
    """Hold the conditions and claims of a goal against what was proved."""
    need(set(goal) == {"conditions", "claims"} and len(listed(goal["claims"])) > 0, "the goal")
    same = goal["conditions"] == problem.conditions
    need(same, "its conditions are others, or in words of another version: make it again")
    for claim in goal["claims"]:
        name, step = claim["quantity"], claim["step"]
        need(set(claim) == {"quantity", "value", "terms", "step", "says"}, "fields of a claim")
        proved = facts[small(step, 1, len(facts), "the step of a claim") - 1].claims
        need(name in proved, f"step {step} does not prove {name}")
        value, terms, text = proved[name]
        exact = claim["value"] == written(value) and claim["terms"] == terms
        need(exact and claim["says"] == text, f"{name} is not as claimed: {text}")
    names = {claim["quantity"] for claim in goal["claims"]}
    need(len(names) == len(goal["claims"]), "a quantity is claimed twice")
    return [problem.conditions, *(claim["says"] for claim in goal["claims"])]


def load(text: str) -> Any:
    """Read JSON without floats, long numbers, deep nesting or a name twice; raises Refused."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        need(len({name for name, _ in pairs}) == len(pairs), "a name stands twice in an object")
        return dict(pairs)

    def whole(digits: str) -> int:
        need(len(digits) <= 20, "a JSON number has over 20 digits")
        return int(digits)

    depth = most = 0
    for part in re.findall(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', text):
        depth += (part in "[{") - (part in "]}")
        most = max(most, depth)
    need(most <= DEEP, f"it is nested over {DEEP} deep")
    try:
        return json.loads(text, object_pairs_hook=once, parse_int=whole,
                          parse_float=lambda _: refuse("a JSON number is no integer"),
                          parse_constant=lambda _: refuse("a JSON number is none"))  # fmt: skip
    except ValueError as error:
        refuse(f"it is no JSON ({error})")


def main(paths: list[str]) -> int:
    """Check files within limits of time and memory: 0 accepted, 3 refused, 1 not checked."""

    def late() -> None:
        print(f"not checked: over {SECONDS} seconds", file=sys.stderr, flush=True)
        os._exit(1)

    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # not on this system
    clock = threading.Timer(SECONDS, late)
    clock.daemon = True
    clock.start()
    worst = 0 if paths else 2
    for path in paths:
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read(BYTES + 1)
            need(len(text) <= BYTES, f"it is longer than {BYTES} characters")
            print("\n  ".join([f"accepted: {path}", *check(load(text))]))
        except Refused as reason:
            print(f"REFUSED: {path}: {reason}", file=sys.stderr)
            worst = 3
        except (OSError, UnicodeDecodeError, MemoryError, RecursionError) as error:
            print(f"not checked: {path}: {type(error).__name__} {error}"[:300], file=sys.stderr)
            worst = worst or 1
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
