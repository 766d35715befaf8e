"""Named learners: gradient descent, steps on fresh batches, and regression on fixed features.

A learner sees one answer after the other. Its run under a member is compared with its run under the
reference, where nothing that it sees depends on the member.

RUNS. Let TV be the total variation between the two runs, coins included. A learner reaches the risk
with a probability of at most that of the K likeliest members, K how many a hypothesis fits, and the
mean of TV over the member. Proof. Under the reference the hypothesis is independent of the member,
and fits K members at most; member by member the probability changes by TV at most.

Where members are not all as likely, they have the tiers of `likely`: those that `lost` counts are
given to the learner, and each other one is drawn at most `heaviest` of the time. So squares, one
for each member, that add up to S at most have under their law a mean of at most heaviest S, those
that are lost left out, and for N members that are as likely S / N. A member may be up to `as_one`
vectors, each with a square of its own. Choose one vector for each member, whichever: these squares
add up to S at most. All vectors are `as_one` such choices, so the mean over vectors is at most
as_one S times the heaviest vector.
"""

import math
from fractions import Fraction
from typing import Any

from .core import Claims, Fact, chance, goal_of, likely, need, rule, same, short, written

EMPTY = "; vacuous"
MANY = (
    "labels take more than two values, and a gradient that is clipped may single one out: that is "
    "a general query, about which there is no theorem here"
)
BATCH_BITS = 1 << 18  # of a power, which is a number of the certificate


def cut(value: Fraction) -> Fraction:
    """Round up to 12 digits or more: numbers of laws have thousands."""
    bits = value.denominator.bit_length() - value.numerator.bit_length()
    places = 13 + max(0, bits * 30103 // 100_000)
    return Fraction(math.ceil(value * 10**places), 10**places)


def heaviest(members: Fact) -> Fraction:
    """How likely a member is at most, of those that are not lost."""
    if members.law is None:
        return Fraction(1, members.count)
    tiers, _, total, as_one = members.law
    return cut(Fraction(max(weight for _, weight in tiers) * as_one, total))


def most_likely(members: Fact, count: Fraction | int) -> Fraction:
    """How likely so many members are together at most."""
    found = chance(members, min(count, members.count))
    return found if members.law is None else cut(found)


@rule("", "gram", clip="rational")
def gradients(_: Any, gram: Fact, clip: Fraction) -> Fact:
    """Means of a function v of an example, |v| <= clip, move by at most clip^2 drift in all.

    What is bounded is the sum over members of |E_i v - E_0 v|^2; v has any number of coordinates,
    as a gradient that is clipped example by example. By Bessel the rules of grams bound the moves
    of a query by a mean of squares, and squares of coordinates add up: in place of phi1^2 <= 1
    stands |v1|^2 <= clip^2, v1 half of what v changes with a label of two values, and in place of a
    mean square over coins that of |v|. So drift is `moves`, but where those are of the variance of
    numbers in [-1, 1] over more than two labels: that of vectors is at most clip^2.
    """
    need(clip > 0, "the norm is not above 0")
    need(gram.general, MANY)
    need(gram.moves is not None, "there is no bound on means of vectors here")
    drift = getattr(gram, "drift", gram.moves)
    what = (
        "steps of any rule, each of which sees one expectation, over the law of an example, of a "
        "function of its choice, as a gradient, that is clipped to Euclidean norm "
        f"{short(clip)} on each example"
    )
    return Fact("means", squares=clip**2 * drift, what=what, at={"clip": written(clip)})


@rule("", "members means", std="rational")
def noisy(_: Any, members: Fact, means: Fact, std: Fraction) -> Fact:
    """Normal noise on each coordinate of a mean: after T steps the mean of TV^2 is T pace at most.

    Two normal laws of deviation std on each coordinate, of means at the distance d, have the
    relative entropy d^2 / (2 std^2). By the chain rule entropies add up over the steps, the past
    being that of the reference, where v has one law for all members; by Pinsker's inequality TV^2
    is at most half of their sum. [AS20]
    """
    need(std > 0, "the deviation is not above 0")
    pace = means.squares * heaviest(members) / (4 * std**2)
    noise = f"fresh independent normal noise of deviation {short(std, up=True)} on each coordinate"
    what, at = f"{means.what}, with {noise}", {**means.at, "noise-std": written(std)}
    return Fact("pace", of=members, pace=pace, bend=1, regime="noise", what=what, at=at)


@rule("", "members means", grid="rational", parameters="positive")
def rounded(_: Any, members: Fact, means: Fact, grid: Fraction, parameters: int) -> Fact:
    """Dither rounds P coordinates to a grid: after T steps the mean of TV is T sqrt(pace) at most.

    Coordinates are rounded up or down to a multiple of `grid` next to them, each independently and
    such that the mean is right. Two numbers then differ with probability at most their distance /
    grid: within a cell, and across cells by adding up over the points of the grid between. The
    distances of P coordinates add up to sqrt(P) d at most. Steps are replaced one by one, the past
    being that of the reference. The square of a mean is at most the mean of the squares. [AKMSS21]
    """
    need(grid > 0, "the grid is not above 0")
    pace = parameters * means.squares * heaviest(members) / grid**2
    what = (
        f"{means.what}, with each of its {short(parameters)} coordinates rounded up or down to a "
        f"multiple of {short(grid, up=True)} by fresh independent dither that keeps its mean"
    )
    at = {**means.at, "grid": written(grid), "parameters": written(parameters)}
    return Fact("pace", of=members, pace=pace, bend=None, regime="grid", what=what, at=at)


@rule("", "members gram", batch="positive", bits="positive")
def batches(_: Any, members: Fact, gram: Fact, batch: int, bits: int) -> Fact:
    """Steps on fresh batches hand on a few bits: the mean of TV^2 is T min(T, 14) pace at most.

    Members as laws of an example have, against the reference, a density 1 + g_i, E_0 g_i g_j = c,
    with the row sums of `example`: pairs (how many j, c >= 0), the points at most `dense` as likely
    as there. Laws of a batch then have (1 + c)^batch - 1, whose row sum times dense^batch is L, no
    less than an eigenvalue of entries that are not negative. For a state w the next one is w' with
    a probability that moves, on all members, by squares that add up to L p (1-p), p that under the
    reference: over p, and summed over w', L (2^bits - 1) bounds the sum of the chi^2 distances.

    TV is at most half of the root of chi^2, and adds up over steps, the past being that of the
    reference: in T steps pace = L (2^bits - 1) heaviest / 4 becomes T^2 pace. Or T 14 pace: 1 -
    sum sqrt(P Q), h^2, is at most chi^2 / 2 for one step. For the runs P_A with the steps of A as
    under the member, the others as under the reference, sqrt(P_A P_B) depends on the union and the
    cut of A and B alone. So for disjoint A_1 .. A_r, r a power of 2, the sum of h^2(P_0, P_A) is
    by the best centre at least 1/r that over pairs of h^2(P_0, P_(A + B)), which are r - 1
    matchings; by induction h^2(P_0, P_all) is at most 1 / prod (1 - 2^-j) < 7/2 times the sum over
    single steps, and TV^2 <= 2 h^2. [Jay09, AKMSS21]
    """
    need(hasattr(gram, "example"), MANY if not gram.general else "laws of an example are not known")
    row, dense, often = gram.example, getattr(gram, "dense", Fraction(1)), heaviest(members)
    same = max(c for _, c in row)
    turns = min(batch // math.ceil(1 / same), 2 * (1 / often).__ceil__().bit_length())
    least = max(batch * same, Fraction(2**turns - 1))  # of L, by Bernoulli
    states = (1 << min(bits, math.ceil(4 / (same * often)).bit_length() + 1)) - 1
    pace = Fraction(1)
    if least * states * often < 4:  # else more than 1
        bottom = math.lcm(*(c.denominator for _, c in row))
        long = batch * (bottom.bit_length() + dense.denominator.bit_length())
        need(long <= BATCH_BITS, f"a batch of {batch} takes too long: its powers have {long} bits")
        total = sum(v * ((bottom + int(c * bottom)) ** batch - bottom**batch) for v, c in row)
        pace = min(pace, dense**batch * Fraction(total, bottom**batch) * states * often / 4)
    what = (
        f"steps of any kind on {short(batch)} fresh examples each, which hand on a state of "
        f"{short(bits)} bits, weights and all else, and see no example again"
    )
    at = {"batch": written(batch), "state-bits": written(bits)}
    return Fact("pace", of=members, pace=pace, bend=14, regime="batch", what=what, at=at)


def root(square: Fraction) -> Fraction:
    """The root of a number: as it is if it is rational, else its 12 first digits, up."""
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if exact**2 == square:
        return exact
    bits = square.denominator.bit_length() - square.numerator.bit_length()
    places = 14 + math.ceil((bits + 2) * 0.1505149978319906)  # at least as many as are needed
    while True:
        whole = math.isqrt(math.ceil(square * Fraction(100) ** places) - 1) + 1
        if whole <= 10**12:
            return whole / Fraction(10) ** places
        places -= 1


def learned(
    pace: Fact, fit: Fact, success: Fraction, steps: int | None, after: Any, needed: int | None
) -> Fact:
    """Claim what so many steps reach, and how many are needed, None where no number is enough.

    after: the probability that the risk is reached with so many steps at most.
    """
    at, name = {**pace.at, "risk": written(fit.risk)}, f"gd-{pace.regime}"
    reach = f"relative risk {short(fit.risk)} with probability at most"
    if needed is None:
        sure = after(0)
        text = f"{pace.what}: however many, they reach {reach} {short(sure, up=True)}"
        return Fact("bound", {f"{name}-success": (sure, at | {"steps": "any"}, text)})
    claims: Claims = {}
    if steps is not None:
        most, said = after(steps), at | {"steps": written(steps)}
        text = f"{pace.what}: {short(steps)} of them reach {reach} {short(most, up=True)}"
        claims[f"{name}-success"] = most, said, text + (EMPTY if most == 1 else "")
    text = f"{pace.what}: at least {short(needed)} are needed {goal_of(fit.risk, success)}"
    text += EMPTY if needed <= 1 else ""
    claims[f"{name}-steps"] = needed, at | {"success": written(success)}, text
    return Fact("bound", claims)


@rule("", "members fit pace", success="share", steps="positive?")
def descent(
    _: Any, members: Fact, fit: Fact, pace: Fact, success: Fraction, steps: int | None
) -> Fact:
    """The lemma RUNS, the mean of TV at most the root of T min(T, bend) pace.

    Without a bend it is the root of T^2 pace. Claimed is what T steps reach, and the least T.
    """
    same(pace, members)
    same(fit, members)
    sure, bend = most_likely(members, fit.most), pace.bend

    def after(t: int) -> Fraction:
        square = pace.pace * t * (t if bend is None else min(t, bend))
        return min(sure + root(square), Fraction(1))

    ratio = max(success - sure, Fraction(0)) ** 2 / pace.pace
    needed = math.isqrt(math.ceil(ratio) - 1) + 1 if ratio else 0
    if bend is not None and needed > bend:
        needed = math.ceil(ratio / bend)
    return learned(pace, fit, success, steps, after, needed)


@rule("", "members fit means", within="rational", success="share", steps="positive?")
def nearby(
    problem: Any, members: Fact, fit: Fact, means: Fact, within: Fraction, success: Fraction,
    steps: int | None,
) -> Fact:  # fmt: skip
    """Answers anywhere within a distance of the mean: the theorem of queries.

    The adversary answers with the mean under the reference wherever that is as near. It is not for
    r = floor(squares / within^2) members at most, each of which adds more than within^2. So T
    steps reach the risk for T r + K members at most, whatever the learner does. [AKMSS21]
    """
    need(within > 0, "the distance is not above 0")
    same(fit, members)
    most, wanted = problem.down(means.squares / within**2), likely(members, success)
    what = (
        f"{means.what}, or, as an adversary likes, any vector within Euclidean distance "
        f"{short(within, up=True)} of it"
    )
    at = {**means.at, "within": written(within)}

    def after(t: int) -> Fraction:
        return most_likely(members, fit.most + t * most)

    needed = max(0, -int((fit.most - wanted) // most)) if most else None
    pace = Fact("pace", regime="within", what=what, at=at)
    return learned(pace, fit, success, steps, after, needed)


@rule("", "members gram", features="positive?", risk="risk", success="share")
def features(
    problem: Any, members: Fact, gram: Fact, features: int | None, risk: Fraction, success: Fraction
) -> Fact:
    """Regression on F functions that are chosen without labels, kernel machines among them.

    In each place of the output a combination has its own coefficients, chosen in any way. The mean
    label at a point is k + f or k - f, or k alone, with k known to the learner and f the member's.
    If k is added, f is the target. If not, and k is orthogonal to all f, nothing is gained:
    off k combinations are no nearer, and span F functions at most. (If points are nearly uniform,
    the f less their part along k have a Schur complement for their inner products, whose
    eigenvalues are between those of the matrix.) For listed members k is added. So the risk is at
    least (|f|^2 - |P f|^2) / scale, P a projection on F functions at most. [Fan49]: |P f|^2 adds up
    over members to the F largest eigenvalues at most, or what `spectrum` says of their sum, since
    it is a sum of all of them with weights in [0, 1] that add up to F. In the mean over the member
    it is at most `heaviest` times that, and |f|^2 at least `mean`, of members that are not lost. If
    the risk is reached with probability `success`, then for some coins on T members or more, T of
    the theorem, each with |P f|^2 of at least least - risk scale. What the family tells is k, and
    the mean of all f: that is 0 where it was taken away, else one `public` function beside F.
    """
    need(hasattr(gram, "spectrum"), "eigenvalues of what labels hide are not known here")
    lost = Fraction(0)
    claims: Claims = {}
    if members.law is not None:
        lost = min(cut(Fraction(members.law[1], members.law[2])), Fraction(1))
    wanted = max(likely(members, success) * (gram.least - risk * gram.scale), Fraction(0))
    public = getattr(gram, "public", 0)
    left, found, used, reached = (features or 0) + public, Fraction(0), 0, Fraction(0)
    for value, many in gram.spectrum:
        found, left = found + min(left, many) * value, left - min(left, many)
        if reached < wanted and value:
            more = min(many, math.ceil((wanted - reached) / value))
            used, reached = used + more, reached + more * value
    used = max(0, used - public)
    what = "functions of the point, or a kernel machine on as many inputs, an intercept counted as"
    so = "if functions, kernel and inputs are chosen without labels, before predictions are "
    so += "clipped, what the family tells of labels added"
    so += "" if problem.kind == "functions" else " or not"
    if features is not None:
        need(features <= members.count, f"more features than the {short(members.count)} members")
        norm = getattr(gram, "mean", gram.least)
        mean = (1 - lost) * norm - heaviest(members) * found
        error = max(mean / gram.scale, Fraction(0))
        text = (
            f"regression on up to {short(features)} {what} one, has on average over members "
            f"a relative risk of at least {short(error)}, {so}{'' if error else EMPTY}"
        )
        claims["kernel-error"] = error, {"features": written(features)}, text
    least = f"needs at least {short(used)}" if used else "may need none"
    text = (
        f"regression on {what} one, {least} of them "
        f"{goal_of(risk, success)}, {so}{EMPTY if used <= 1 else ''}"
    )
    claims["kernel-features"] = used, {"risk": written(risk), "success": written(success)}, text
    return Fact("bound", claims)
