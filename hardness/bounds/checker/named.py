"""Named learners: noisy gradient descent, and regression on fixed features.

A learner receives one answer after the other. Its run under a member is compared with its run under
the reference, where no answer depends on the member.

RUNS. Let TV be the total variation between the two runs, randomness included. A learner reaches the
risk with at most the probability of the K likeliest members, K the number that a hypothesis fits,
plus the mean of TV over the member. Proof. Under the reference the hypothesis is independent of the
member and fits at most K members; for each member the probability changes by at most TV.

MEANS. Let each member have a square, with sum at most S. Their mean is at most `heaviest` S: S / N
for a uniform law, else by the tiers of a `Law`, without lost vectors. (A member is up to `as_one`
vectors, each with its own square. For any choice of one vector of each member squares add up to S;
all vectors are `as_one` such choices: so the mean is at most S as_one times the heaviest vector.)
"""

import math
from fractions import Fraction
from typing import Any

from . import theorem as core
from .reading import need, short, six_digits, take
from .theorem import Claim, Gram, Members, Terms, theorem


def rounded_up(value: Fraction) -> Fraction:
    """Round up to 12 digits or more, as numbers of laws have thousands of digits."""
    bits = value.denominator.bit_length() - value.numerator.bit_length()
    places = 13 + max(0, bits * 30103 // 100_000)
    return Fraction(math.ceil(value * 10**places), 10**places)


def heaviest(members: Members) -> Fraction:
    """An upper bound on the probability of a member among those that are not lost."""
    if members.law is None:
        return Fraction(1, members.count)
    tiers, _, total, as_one = members.law
    need(bool(tiers), "a law has no members")
    return rounded_up(Fraction(max(weight for _, weight in tiers) * as_one, total))


@theorem
def gradients(gram: Gram, clip: Fraction) -> Fraction:
    """Means of a function v of an example, |v| <= clip, move by at most clip^2 drift in all.

    What is bounded is the sum over members of |E_i v - E_0 v|^2; v has any number of coordinates,
    as a gradient that is clipped example by example. That needs more than `moves` says of a query:
    sum_i |E f_i w|^2 <= moves E|w|^2 for all vectors w of functions. Each theorem on a gram has it,
    by Bessel or as an equality of squares, which add up over coordinates: in place of phi1^2 <= 1
    stands |v1|^2 <= clip^2, v1 half of what v changes with a label of two values. So drift is
    `moves`, or for more than two labels what a variance of at most clip^2 gives.
    """
    why = "labels take more than two values, and a gradient that is clipped may single one out"
    need(gram.general, why)
    return clip**2 * (gram.moves if gram.drift is None else gram.drift)


@theorem
def noisy(members: Members, squares: Fraction, std: Fraction) -> Fraction:
    """Normal noise on each coordinate of a mean: after T steps the mean of TV^2 is T pace at most.

    At each step the learner picks v from what it saw, and sees its mean with noise of its own.
    squares: what v moves in all; pace = squares heaviest / (4 std^2). Two normal laws of deviation
    std on each coordinate, of means at the distance d, have the relative entropy d^2 / (2 std^2).
    By the chain rule entropies add up over the steps, the past being that of the reference, where v
    has one law for all members. By Pinsker's inequality TV^2 is at most half of their sum. [AS20]
    """
    return squares * heaviest(members) / (4 * std**2)


def root(square: Fraction) -> Fraction:
    """The square root, exact if it is rational, else rounded up to 12 digits."""
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if exact**2 == square:
        return exact
    places = 11 - six_digits(square, up=False).adjusted() // 2
    whole = math.isqrt(math.ceil(square * Fraction(100) ** places) - 1) + 1
    return whole / Fraction(10) ** places


@theorem
def descent(members: Members, gram: Gram, terms: Terms) -> list[Claim]:
    """T steps reach the risk with a probability of at most guess + sqrt(pace T), or 1.

    guess: the probability of the K likeliest members. By RUNS, the mean of TV being at most the
    root of T pace. Claimed is what T steps reach, and the least T for `success`.
    """
    kinds = {"clip": "above 0", "noise-std": "above 0", "steps": ["positive"]}
    clip, std, steps = take(terms.about["gd"], "gd", **kinds)
    pace = noisy(members, gradients(gram, clip), std)
    need(pace > 0, "no mean depends on the member")
    sure = core.probability_of_members(members, core.hypothesis_fits(members, gram, terms.risk))
    sure = sure if members.law is None else rounded_up(sure)
    at: dict[str, Any] = {"clip": clip, "noise-std": std, "risk": terms.risk}
    numbers, claims = {"guess": sure, "pace": pace}, []
    if steps:
        most, form = min(sure + root(pace * steps), Fraction(1)), "min(1, guess + sqrt(pace steps))"
        claims = [Claim("gd-noise-success", most, {**at, "steps": steps}, form, "AS20", numbers)]
    needed = math.ceil(max(terms.success - sure, Fraction(0)) ** 2 / pace)
    form, at["success"] = "ceil(max(0, success - guess)^2 / pace)", terms.success
    return [*claims, Claim("gd-noise-steps", needed, at, form, "AS20", numbers)]


@theorem
def features(members: Members, gram: Gram, terms: Terms) -> list[Claim]:
    """Regression on F functions chosen without labels has a risk of (mean |f|^2 - S / N) / scale.

    Or more, S the sum of the F largest eigenvalues; kernel machines are such regressions. Each
    place of the output has coefficients of its own; one says what all do if members have the same
    inner products in all but for a factor (of residues: the same bounds on them). There the mean
    label at a point is k + f, with k known to the learner and f the member's. If k is added, as for
    listed members, f is the target. If not, and k is orthogonal to all f, nothing is gained: off k
    combinations are no nearer, and span F functions at most. (Of residues whose points are nearly
    uniform k is not: f is then less its part along k, and inner products are a Schur complement of
    those of k and all f. So `least` and `spectrum` have to bound the eigenvalues of this joint
    matrix; they do, as k is constant.) So the risk is at least (|f|^2 - |P f|^2) / scale, P a
    projection on F functions at most; also if V is above scale = 1, as V <= |f|^2, and 1 - x/least
    >= least - x for x <= least <= 1. [Fan49]: |P f|^2 adds up over members to the F largest
    eigenvalues at most, or what `spectrum` says of their sum, since it is a sum of all of them with
    weights in [0, 1] that add up to F. Its mean over the member is by MEANS, and that of |f|^2 at
    least `mean`. If the risk is reached with probability `success`, then for some coins on T
    members at least, each with |P f|^2 of at least least - risk scale. What the family tells is k,
    and the mean of all f: 0 where it was taken away, else one `public` function beside F.
    """
    [count] = take(terms.about["kernel"], "kernel", features=["positive"])
    need(gram.spectrum is not None, "eigenvalues of what labels hide are not known here")
    many = core.members_of_probability(members, terms.success)
    wanted = max(many * (gram.least - terms.risk * gram.scale), Fraction(0))
    left, seen, used, reached = (count or 0) + gram.public, Fraction(0), 0, Fraction(0)
    for value, size in gram.spectrum or ():
        seen, left = seen + min(left, size) * value, left - min(left, size)
        if reached < wanted and value:
            more = min(size, math.ceil((wanted - reached) / value))
            used, reached = used + more, reached + more * value
    claims, used, law = list[Claim](), max(0, used - gram.public), members.law
    if count is not None:
        need(count <= members.count, f"more features than the {short(members.count)} members")
        mean = gram.mean or gram.least  # no law has a `mean`
        mean *= 1 - min(rounded_up(Fraction(law.lost, law.total)), Fraction(1)) if law else 1
        error = max((mean - heaviest(members) * seen) / gram.scale, Fraction(0))
        form = "((1 - lost) least - heaviest S) / scale" if law else "(mean |f|^2 - S / N) / scale"
        form += f", S of the features{' + 1' * gram.public} largest eigenvalues"
        claims.append(Claim("kernel-error", error, {"features": count}, form, "Fan49", {}))
    form = f"the fewest eigenvalues{', less 1,' * gram.public} that add up to "
    form += f"{'T' if law else 'success N'} (least - risk scale)"
    goal: dict[str, Any] = {"risk": terms.risk, "success": terms.success}
    return [*claims, Claim("kernel-features", used, goal, form, "Fan49", {})]
