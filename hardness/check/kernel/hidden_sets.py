"""Hidden sets: which of the m-subsets of n places do the labels depend on?

S is one of the m-subsets of n places; a point has n fair signs, h is the number of places of S
where they are -1. Half of the examples, the open ones, show the value g(h), which noise reflects in
the middle of the range of g; the others show nothing of S. Whether an example is open is seen, and
does not depend on the signs. A view says what else an example shows.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import groupby, pairwise
from types import SimpleNamespace
from typing import Any

from .core import (
    ALL,
    FAMILY,
    RISK,
    SQ_DIM,
    Claims,
    Fact,
    between,
    listed,
    need,
    prime,
    problem,
    read,
    rule,
    short,
    small,
    written,
)

ADDED = RISK.format("the best predictor that knows the family and what is added, on average")
HEADS = "Heads of softmax attention on two tokens compute such labels exactly"
SHOWN = "An example has {n} fair signs and, with probability 1/2, shows {g}"
VIEWS = {  # by name: what an example shows, and what computes its label
    "": (SHOWN, HEADS),
    "among-others": (
        SHOWN + "; the same function of the point is added to the labels of all members, and "
        "perhaps noise, neither of which depends on S",
        HEADS + ", beside heads that compute what is added",
    ),
}
GONE = ("hardmax", "one-head", "positions", "three-tokens")  # views of former versions
EVERY = "over all ordered pairs, of one with itself too"


@problem("hidden-set")
def hidden_set(given: dict[str, Any]) -> Any:
    """Read the problem: m + 1 heads of softmax attention compute such labels exactly.

    The second token times the first, place by place, are the signs; one more sign says whether the
    example is open. A head whose logits differ by ln(x/u) there adds a (x-u)/(x+u) to the label,
    x = rho^2h, and a where it is closed; one that counts no sign of S adds a constant. For m
    different thresholds u > 0 these are combinations of 1 and the 1/(x+u), which take any values at
    m + 1 different x: else one would be 0 at all of them, and, times the product of the x+u, have
    more zeros than its degree.
    """
    fields, view = {"kind", "places", "chosen", "values", "noise"}, given.get("view", "")
    need(set(given) == (fields | {"view"} if view else fields), "fields of the problem")
    need(view not in GONE, f"the view {view} is gone: certify parity or profile")
    need(view in VIEWS, "the view is not known")
    shown, layer = VIEWS[view]
    n = small(given["places"], 1, 10**18, "places")
    m = small(given["chosen"], 1, min(n, 128), "chosen")
    g, noise = read("rational*", given["values"]), read("risk", given["noise"])
    need(len(g) == m + 1 and len(set(g)) > 1, "values are not m + 1 numbers, two of them different")
    need(noise < Fraction(1, 2), "noise is not below 1/2")
    runs = [(written(v), len(list(same))) for v, same in groupby(g)]
    values = ", ".join(v if k == 1 else f"{v} ({k} times)" for v, k in runs)
    value = (
        f"g(h), h how many signs of S are -1, g(0..{m}) = {values}, which noise reflects in the "
        f"middle of its range with probability {noise}"
    )
    text = (
        f"Members are the {m}-subsets S of {n} places, all as likely. "
        f"{shown.format(n=n, g=value)}. {layer}. {ADDED if view == 'among-others' else FAMILY}"
        "Correlations, SQ-DIM and SDA are of g less its mean. "
    )
    parity = g == [(-1) ** h for h in range(m + 1)]
    return SimpleNamespace(
        n=n, m=m, g=g, fade=1 - 2 * noise, levels=len(set(g)), parity=parity,
        conditions=text + ALL, half=(max(g) - min(g)) / 2, middle=(max(g) + min(g)) / 2,
        alone=not view, **({"scaled": None} if view else {}),
    )  # fmt: skip


@rule("hidden-set")
def subsets(problem: Any) -> Fact:
    """There are binom(n, m) members, all as likely."""
    return Fact("members", count=math.comb(problem.n, problem.m))


@rule("hidden-set", "members")
def characters(problem: Any, members: Fact) -> Fact:
    """If g(h) = (-1)^h the members are orthogonal, and SQ-DIM is their number.

    Then g(h) is the product b of the signs in S. The product of two of these is that of the signs
    in S xor S', at least two of them unless S = S', so of mean 0. The reference has coins for what
    is shown. A query is phi0 + phi1 b on open examples, half of all, phi1 half of what it changes
    with b, and its mean moves by f E[open phi1 b], f = 1 - 2 noise: by Bessel the squares add up to
    f^2/2 E[open phi1^2] <= f^2/4. For values in [0, 1] phi1^2 <= min(phi0, 1 - phi0) / 2, whose
    mean is at most min(p0, 1 - p0) / 2: f^2/4 times that.
    """
    need(problem.parity, "g is not (-1)^h")
    count, moves = members.count, problem.fade**2 / 4
    claims: Claims = {
        "pairwise-correlation": (0, {}, "any two different members have correlation 0"),
        "sq-dimension": (count, {}, SQ_DIM.format(short(count)) + ": all"),
    }
    more = {"spectrum": [(Fraction(1), count)], "public": 1} if problem.alone else {}
    return Fact("gram", claims, top=Fraction(1), least=Fraction(1), scale=1, alike=1, general=True,
                moves=moves, moves01=moves, **more)  # fmt: skip


@rule("hidden-set")
def overlaps(problem: Any) -> Fact:
    """c(t), the inner product of two members less E g that share t places, over the signs.

    The t common places count i times -1 with probability binom(t, i) / 2^t; the other m - t of each
    are fair coins, over which g is averaged. By the characters of the signs in S, c(t) = sum_k
    binom(t, k) w_k, w_k the squared coefficient of a product of k signs of S, and w_0 = 0 as E g is
    taken away: it grows with t from c(0) = 0.
    """
    m, rows = problem.m, [problem.g]
    while len(rows[-1]) > 1:  # rows[r][i]: the mean of g(i + heads of r coins)
        rows.append([(a + b) / 2 for a, b in pairwise(rows[-1])])
    mean = rows[m][0]
    seen = [sum(math.comb(t, i) * rows[m - t][i] ** 2 for i in range(t + 1)) for t in range(m + 1)]
    c = [value / 2**t - mean**2 for t, value in enumerate(seen)]
    if m == problem.n:
        return Fact("overlaps", c=c, mean=mean)
    text = f"two different members have correlation at most {short(c[m - 1] / c[m], up=True)}"
    return Fact("overlaps", {"largest-correlation": (c[m - 1] / c[m], {}, text)}, c=c, mean=mean)


@cache
def distances(n: int, m: int) -> list[list[int]]:
    """E_i(k): eigenvalues of the 0-1 matrix of m-subsets of n places that share m - i. [Del73]

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
    the members. On open examples, half of all, the label's mean, scaled to [-1, 1], is (1 - 2
    noise) (g - middle) / half, so squares add up to (1 - 2 noise)^2 lambda / (2 half)^2. For two
    values every query is phi0 + phi1 b there, as for characters; for more it need not be.
    """
    m, c, count = problem.m, overlaps.c, members.count
    need(m < problem.n, "there is one member")
    table = distances(problem.n, m)
    values = [sum(c[m - i] * row[k] for i, row in enumerate(table)) for k in range(len(table[0]))]
    spread, less = max(values[1:]), c[m] - values[0] / count
    squares = sum(c[m - i] ** 2 * row[0] for i, row in enumerate(table))
    said = {
        "average-correlation": (values[0] / c[m] / count, f"the average correlation {EVERY}"),
        "operator-norm": (max(values) / c[m], "the largest Gram eigenvalue"),
        "second-eigenvalue": (spread / c[m], "the largest Gram eigenvalue less the mean of all"),
        "cross-predictability": (
            squares / c[m] ** 2 / count,
            f"the average squared correlation {EVERY}",
        ),
    }
    claims: Claims = {
        q: (v, {}, f"{text}, of members moved to mean 0 and scaled to norm 1, is {short(v)}")
        for q, (v, text) in said.items()
    }
    more = {}
    if problem.alone:
        size = [
            math.comb(problem.n, k) - math.comb(problem.n, k - 1) for k in range(1, len(values))
        ]
        more["spectrum"] = sorted(zip(values[1:], size, strict=True), reverse=True)
    return Fact("gram", claims, top=spread, least=less, scale=less, alike=1, moves01=None,
                moves=(problem.fade / problem.half / 2) ** 2 * spread,
                general=problem.levels == 2, eigenvalues=values, **more)  # fmt: skip


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


@rule("hidden-set", "members overlaps code")
def packing(problem: Any, members: Fact, overlaps: Fact, code: Fact) -> Fact:
    """SQ-DIM is at least the size of a code, and at most what Johnson's bound allows. [Joh62]

    Correlations are of members less E g. c(t) grows with t: N members of correlation at most 1/N,
    N > 1, are sets of overlap at most t, for the largest t with c(t) N <= c(m). So N is at most
    floor(c(m)/c(t)), or the number of members where c(t) = 0, and at most A(n, m, t), the most sets
    that meet in t places: the smaller of the two, for the t where that is largest.
    """
    m, c, size, upper = problem.m, overlaps.c, code.size, 1
    need(size == 1 or c[code.overlap] * size <= c[m], "the code's correlations are above 1/size")
    for t in range(m):
        most = c[m] // c[t] if c[t] else members.count
        upper = max(upper, min(most, meeting(problem.n, m, t)))
    text = SQ_DIM.format(between(size, upper))
    return Fact("bound", {"sq-dimension": (size, {"upper": written(upper)}, text)})


def meeting(n: int, m: int, t: int) -> int:
    """Bound A(n, m, t), how many m-subsets of n places may meet in t places at most.

    A(n, m, 0) = floor(n/m); each place is in at most A(n-1, m-1, t-1) of them, so A(n, m, t) is at
    most n/m times that; and M sets have (M m)^2 / n <= M m + M (M-1) t by Cauchy-Schwarz.
    """
    most = 1
    for step in range(t, -1, -1):
        ground, weight, meets = n - step, m - step, t - step
        most = ground * most // weight
        if weight**2 > ground * meets:
            most = min(most, ground * (weight - meets) // (weight**2 - ground * meets))
    return most
