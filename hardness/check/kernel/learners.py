"""Named learners: noisy gradient descent, and regression on fixed features.

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
    return Fact("pace", of=members, pace=pace, what=what, at=at)


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


@rule("", "members fit pace", success="share", steps="positive?")
def descent(
    _: Any, members: Fact, fit: Fact, pace: Fact, success: Fraction, steps: int | None
) -> Fact:
    """The lemma RUNS, the mean of TV at most the root of T pace.

    Claimed is what T steps reach, and the least T for `success`.
    """
    same(pace, members)
    same(fit, members)
    sure, at = most_likely(members, fit.most), {**pace.at, "risk": written(fit.risk)}
    claims: Claims = {}
    if steps is not None:
        most = min(sure + root(pace.pace * steps), Fraction(1))
        text = (
            f"{pace.what}: {short(steps)} of them reach relative risk {short(fit.risk)} with "
            f"probability at most {short(most, up=True)}{EMPTY if most == 1 else ''}"
        )
        claims["gd-noise-success"] = most, at | {"steps": written(steps)}, text
    needed = math.ceil(max(success - sure, Fraction(0)) ** 2 / pace.pace)
    text = f"{pace.what}: at least {short(needed)} are needed {goal_of(fit.risk, success)}"
    text += EMPTY if needed <= 1 else ""
    claims["gd-noise-steps"] = needed, at | {"success": written(success)}, text
    return Fact("bound", claims)


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
