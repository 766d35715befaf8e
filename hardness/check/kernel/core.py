"""The core of the kernel: how a certificate is read, and the rules that hold for every family.

A certificate (format 2) is a JSON object of

    problem   a family of functions, by its numbers;
    goal      the conditions, and claims, each with the number of the step that proves it;
    steps     numbered from 1: a rule, the numbers of earlier steps that it cites, exact numbers;
    about     what its maker says of the problem: the spec of the family, which is there, not read;
    format, digest (SHA-256 of all the rest).

The rules are functions marked `rule`, here and in the file of each kind of problem, each with its
lemma. A rule reads the facts that it cites and the numbers that it is given, computes with integers
and fractions, and adds a fact. A claim is accepted if its step proves that quantity with that
value, in the words that the rule finds for it. Nothing else in a certificate is trusted.

THE SETTING. An example is a point and a label that depends on one of N members f_1 .. f_N. A
statistical query is a bounded function of (point, label); the oracle answers with a number near its
mean under the member. The adversary answers as if there were no member, with the mean under a
reference that does not depend on it, wherever the tolerance allows that. A query rules out the
members for which it does not. A hypothesis fits a member if its risk there, E|f - hypothesis|^2
over that of the best predictor that knows only the family, on average over members, is at most
`risk`. (Of residues it is over that of the best constant on open examples.)

THEOREM [BFJKMR94]. The member has a law; if nothing else is said each is as likely. If a query
rules out at most r members and a hypothesis fits at most K, a learner of q queries reaches the risk
with every oracle that keeps to the tolerance with a probability, over its coins and the member, of
at most that of the q r + K likeliest members. So if no set of fewer than T members has the
probability `success`, it asks at least (T - K) / r queries; T = success N where each is as likely.
Proof. Fix the coins. The run in which all answers are the reference's does not depend on the
member, nor do its queries and its hypothesis; a member that none of its q queries rules out leads
to exactly this run. So the learner succeeds on at most q r members that are ruled out, and K that
its hypothesis fits. Average over the coins. Members may also be a continuum: then N = 1, and r and
K are shares of a probability measure.

How many members a query rules out follows from what it moves on all of them together. BESSEL: for
functions whose matrix of inner products has no eigenvalue above `top`, the squared inner products
of one function with all of them add up to at most `top` times its squared norm.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, NoReturn

FORMAT = "hardness-certificate/2"
STEPS, DEEP, DIGITS = 1000, 24, 100_000
AGAIN = "make it again with `hardness certify`"
FIELDS = f"fields of the problem are not those of this version: {AGAIN}"
RISK = "Relative risk is E|F - hypothesis|^2, F the mean label at a point, over that of {}. "
FAMILY = RISK.format("the best predictor that knows only the family, on average over members")
ALL = (
    "Answers to queries may be any numbers within the tolerance. A query rules out the members for "
    "which the adversary's answer, the same for all members, is not within it; a hypothesis fits "
    "those for which its relative risk is at most that of the claim. STAT(tau) answers within tau "
    "of the mean, VSTAT(t) within max(1/t, sqrt(p(1-p)/t)) of a mean p. Success is averaged over "
    "the member, drawn as said, and all else that is drawn. Claims on queries do not speak of "
    "learners that look at single examples, as elimination and lattice reduction do, and no claim "
    "is a level of security."
)
EMPTY = "; vacuous: up to 2 rule out nothing but learners that ask or look once"
SQ_DIM = "SQ-DIM, the largest N with N members of absolute correlation at most 1/N, is {}"
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
    """Read a number of a kind from a string, with * a list of them, with ? one or null, for None.

    What is json is read by its rule.
    """
    if kind.endswith("?"):
        return None if text is None else read(kind[:-1], text)
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


def leading(value: Fraction) -> tuple[int, int, bool]:
    """The largest s with 10^s at most a number above 0, its first six digits, and if more follow.

    In integers: a fraction would be brought to lowest terms, which takes a minute of long ones.

    >>> leading(Fraction(10**50, 3))
    (49, 333333, True)
    """
    near = math.floor(math.log10(value.numerator) - math.log10(value.denominator))
    for size in (near, near + 1, near - 1):  # where logarithms round
        up, down = 10 ** max(5 - size, 0), 10 ** max(size - 5, 0)
        digits, rest = divmod(value.numerator * up, value.denominator * down)
        if 10**5 <= digits < 10**6:
            break
    return size, digits, rest > 0


def short(value: Fraction | int, up: bool = False) -> str:
    """Write a number, or the first digits of a long one: rounded down, or `up` as an upper bound.

    >>> short(Fraction(10**50, 3)), short(Fraction(10**50, 3), up=True)
    ('about 3.33333e+49', 'about 3.33334e+49')
    """
    text, value = written(value), Fraction(value)
    if len(text) <= 40:
        return text
    size, digits, more = leading(abs(value))
    digits += more and up != (value < 0)
    if digits == 10**6:
        digits, size = digits // 10, size + 1
    return f"about {'-' * (value < 0)}{digits // 10**5}.{digits % 10**5:05}e{size:+d}"


def between(low: int, high: int) -> str:
    """Write the two ends of a number."""
    return short(low) if low == high else f"between {short(low)} and {short(high, up=True)}"


def goal_of(risk: Fraction, success: Fraction) -> str:
    """Write what a learner has to reach."""
    return f"for relative risk {short(risk)} with probability {short(success, up=True)}"


Claims = dict[str, tuple[Fraction | int, dict[str, str], str]]


class Fact(SimpleNamespace):
    """What a step proved: its kind, numbers, and claims: quantity -> (value, terms, text)."""

    share = False  # of members: N = 1 stands for a continuum
    law = None  # of members: how likely the likeliest are, as `likely` reads it; None: all alike

    def __init__(self, kind: str, claims: Claims | None = None, **numbers: Any) -> None:
        super().__init__(kind=kind, claims=claims or {}, **numbers)


Rule = Callable[..., Fact]
Reader = Callable[[dict[str, Any]], Any]
RULES: dict[str, tuple[str, list[str], dict[str, str], Rule]] = {}
PROBLEMS: dict[str, Reader] = {}


def rule(of: str = "", cites: str = "", /, **takes: str) -> Callable[[Rule], Rule]:
    """Register a rule: of which problem, the kinds of facts it cites, the kinds of its numbers."""

    def register(function: Rule) -> Rule:
        RULES[function.__name__.replace("_", "-")] = of, cites.split(), takes, function
        return function

    return register


def problem(kind: str) -> Callable[[Reader], Reader]:
    """Register the reader of a kind of problem, from the numbers of a certificate."""

    def register(function: Reader) -> Reader:
        PROBLEMS[kind] = function
        return function

    return register


def prime(q: int) -> bool:
    """Whether q is prime, by division."""
    return q > 1 and (q % 2 == 1 or q == 2) and all(q % p for p in range(3, math.isqrt(q) + 1, 2))


# From facts about all members to a bound: the same for every family. A `gram` speaks of what labels
# hide, the members f, perhaps less a function that is the same for all:
#   top, alike  no eigenvalue of the inner products of members is above top, of any of which no two
#               are alike; each is alike to fewer than `alike` others;
#   least       squared norms are at least that, and on average over members that are all as likely
#               at least `mean`, where there is one;
#   scale       a hypothesis p of relative risk r has E|f - p|^2 of at most r scale;
#   moves       what one query of values in [-1, 1] moves: the squared distances of its means under
#               the members from that under the reference add up to at most so much;
#   moves01     the same for values in [0, 1], times min(p0, 1 - p0), p0 that under the reference;
#   general     this holds of all queries, else of correlations of labels alone;
#   spectrum    pairs (value, how many): the k largest eigenvalues of all members add up to no more
#               than the k first of these; less the mean of all members, or `public` is 1;
#   drift       what means of vectors move: see learners.py.


@rule("", "members gram", risk="risk")
def fit(problem: Any, members: Fact, gram: Fact, risk: Fraction) -> Fact:
    """A hypothesis p fits at most alike floor(top / b) members, b = least - risk scale, if b > 0.

    With H = |p|^2 it fits f only if 2<p,f> >= |f|^2 + H - risk scale >= b + H, so H > 0. If that
    holds for k members no two of which are alike, Bessel gives k (b + H)^2 / 4 <= top H, and (b +
    H)^2 >= 4 b H. Of those that it fits one in `alike` can be chosen so: take one, drop those that
    are alike to it, and go on. It is never more than all.
    """
    need(hasattr(gram, "least"), "the norms of members are not known here")
    room = gram.least - risk * gram.scale
    most = gram.alike * problem.down(gram.top / room) if room > 0 else members.count
    return Fact("fit", of=members, most=min(most, members.count), risk=risk)


@rule("", "gram", oracle="json", term="rational")
def ask(problem: Any, gram: Fact, oracle: Any, term: Fraction) -> Fact:
    """How many members a query rules out: at most floor(moves / tau^2) if its tolerance is tau.

    Each member that is ruled out adds more than tau^2 (for a share of directions nothing is rounded
    down). csq: the query is the mean of h(point) times the label, scaled as the problem says.
    VSTAT(t): a member of mean p is ruled out where D = |p - p0| is above max(1/t, sqrt(p (1-p) /
    t)). vstat: then D^2 > min(p0, 1 - p0) / (3t), so at most floor(3 t moves01) are ruled out. Let
    p0 <= 1/2, else take 1 less the query. If p0 <= 3/t, D^2 > 1/t^2 >= p0/(3t). Else if D >= p0/3,
    D^2 >= p0^2/9 > p0/(3t). Else p is between 2 p0/3 and 4 p0/3 <= 2/3, where p (1-p) >= 4 p0/9, so
    D^2 > 4 p0/(9t). [FGRVX17] vstat-least: D > 1/t, and values in [0, 1] move half as much as
    values in [-1, 1].
    """
    need(gram.general or oracle == "csq", "there is no bound on general queries here")
    if oracle in ("csq", "stat"):
        need(0 < term <= 1 and gram.moves is not None, "a tolerance is in (0, 1]")
        most, at = problem.down(gram.moves / term**2), {"tau": written(term)}
        what = f"queries to STAT({short(term, up=True)}), of values in [-1,1]"
        if oracle == "csq":
            need(problem.scaled is not None, "labels show more than what the members differ in")
            within = short(term, up=True)
            what = f"correlations of labels scaled to {problem.scaled}, within {within}"
    else:
        need(oracle in ("vstat", "vstat-least"), "the oracle is not known")
        need(term >= 1 and term.denominator == 1, "t is an integer of at least 1")
        weight = gram.moves01 if oracle == "vstat" else gram.moves
        need(weight is not None, "there is no bound on queries in [0,1] here")
        most = problem.down(3 * term * weight if oracle == "vstat" else term**2 * weight / 4)
        at, what = {"t": written(term)}, f"queries to VSTAT({short(term)}), of values in [0,1]"
    return Fact("cap", most=most, name=oracle.partition("-")[0], what=what, at=at)


def likely(members: Fact, success: Fraction) -> Fraction | int:
    """The least number of members that may have a probability of `success` together: T.

    A law is of vectors, up to `as_one` of which are one member: tiers of so many vectors that weigh
    at most so much each, the heaviest first, after others that weigh `lost` together, of `total`,
    which are taken first and not counted. Every member that is counted is drawn sometimes, so a
    success of 1 takes all of them.
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
    """The largest probability that so many members may have together, and what is lost."""
    if members.law is None:
        return Fraction(count, members.count)
    tiers, weighs, total, as_one = members.law
    left = count * as_one
    for size, weight in tiers:
        weighs, left = weighs + min(left, size) * weight, left - min(left, size)
    return Fraction(min(weighs, total), total)


def same(fact: Fact, members: Fact) -> None:
    """Refuse a fact about members by another law."""
    need(fact.of is members, "a fact that is cited is of members by another law")


@rule("", "members fit cap", success="share")
def queries(_: Any, members: Fact, fit: Fact, cap: Fact, success: Fraction) -> Fact:
    """The theorem at the head of this file, with the least whole number of queries.

    If a query rules out no member, success is at most the probability of the K likeliest.
    """
    same(fit, members)
    count, at = members.count, {**cap.at, "risk": written(fit.risk)}
    every = "all directions" if members.share else f"{short(count)} members"
    fits = f"a hypothesis fits at most {short(fit.most, up=True)}{' of them' * members.share}"
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

    Points have the same law for all members. Fix the learner's coins, the points that are drawn,
    and what noise does to each example. A label branches the run in L ways at most, also if the
    learner chooses the next point: there are L^n runs, and each ends in one hypothesis, which fits
    K members. T as in the theorem.
    """
    same(fit, members)
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


# Reading a certificate.


def read_problem(given: dict[str, Any]) -> Any:
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
        problem = read_problem(data["problem"])
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
    need(
        step.get("rule") in RULES, f"the rule {str(step.get('rule'))[:40]!r} is not known: {AGAIN}"
    )
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
        need(exact, f"{name} is not as claimed: {text}")
        need(claim["says"] == text, f"{name} is in words of another version: make it again")
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
