"""Hidden sets: which of the m-subsets of n places do the labels depend on?

S is an m-subset of n places; a point has n fair signs, and h counts the places of S where they are
-1. Half of the examples, the open ones, have the label g(h); with probability `noise` it is
reflected in the middle of its range, which flips a sign. The others have the same label for all S.
A learner sees whether an example is open, which does not depend on the signs. In the view
"among-others" a public function is added after the noise.
"""

import math
import operator
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Any, NamedTuple

from . import theorem as core
from .reading import fields, listed, need, rationals, short, small, take
from .theorem import Claim, Gram, Known, Members, Terms, Witness, theorem

Row = list[Fraction]


class HiddenSets(NamedTuple):
    """n places, m of them hidden, g(0) .. g(m), the rate of the noise, and the view."""

    n: int
    m: int
    g: tuple[Fraction, ...]
    noise: Fraction
    view: str = ""

    @property
    def levels(self) -> int:
        """The number of values of g: the most that a point's label can take for fixed noise."""
        return len(set(self.g))

    @property
    def parity(self) -> bool:
        """Whether g(h) = (-1)^h."""
        return all(v == (-1) ** h for h, v in enumerate(self.g))

    @property
    def half(self) -> Fraction:
        """Half of the range of g."""
        return (max(self.g) - min(self.g)) / 2

    @property
    def lift(self) -> Fraction:
        """Inner products of laws of an open example, over c: (1 - 2 noise)^2 / ((1 - mu^2) half^2).

        The reference is a random sign b of the mean label mu, with Pr[b] = (1 + b mu) / 2.
        """
        mean = sum(math.comb(self.m, h) * v for h, v in enumerate(self.g)) / Fraction(2**self.m)
        fade, middle = 1 - 2 * self.noise, (max(self.g) + min(self.g)) / 2
        return fade**2 / (self.half**2 - fade**2 * (mean - middle) ** 2)


def read_problem(data: dict[str, Any]) -> HiddenSets:
    """Read the numbers of the problem; raises Refused."""
    _, n, m, g, noise, view = take(data, "the problem", kind=None, places=(1, 10**18),
                                   chosen=(1, 128), values=rationals, noise="noise",
                                   view=[None])  # fmt: skip
    need("view" not in data or view == "among-others", "the view is not known")
    need(m <= n, "more places are chosen than there are")
    need(len(g) == m + 1 and len(set(g)) > 1, "values are not m + 1 numbers, two of them different")
    quick = math.lcm(*(v.denominator for v in g)) < 10**1000 and max(map(abs, g)) < 10**1000
    need(quick, "such long values take too long")
    return HiddenSets(n=n, m=m, g=tuple(g), noise=noise, view=view or "")


@theorem
def subsets(problem: HiddenSets) -> Members:
    """There are binom(n, m) members, with a uniform law."""
    return Members(count=math.comb(problem.n, problem.m))


@theorem
def characters(problem: HiddenSets, members: Members) -> tuple[Gram, list[Claim]]:
    """If g(h) = (-1)^h the members are orthogonal, and SQ-DIM is their number.

    g(h) is the product b of the signs in S. The product of two of these is that of the signs in S
    xor S', at least two of them unless S = S', so of mean 0. Under the reference b is a fair coin.
    (scale = 1 is an upper bound.) A query is phi0 + phi1 b on open examples, half of all, phi1 half
    of what it changes with b, and its mean moves by f E[open phi1 b], f = 1 - 2 noise: by Bessel
    the squares add up to f^2/2 E[open phi1^2] <= f^2/4. For values in [0, 1] phi1^2 <= min(phi0,
    1 - phi0) / 2, whose mean is at most min(p0, 1 - p0) / 2: f^2/4 times that.
    """
    need(problem.parity, "g is not (-1)^h")
    count, moves, alone = members.count, (1 - 2 * problem.noise) ** 2 / 4, not problem.view
    one, spectrum = Fraction(1), [(Fraction(1), count)] if alone else None
    gram = Gram(top=one, least=one, scale=1, moves=moves, moves01=moves, general=True,
                spectrum=spectrum, public=int(alone))  # fmt: skip
    source, numbers = "CL24" if alone else "this certificate", {"n": problem.n, "m": problem.m}
    zero = Claim("pairwise-correlation", 0, {}, "0", source, {})
    return gram, [zero, Claim("sq-dimension", count, {}, "binomial(n, m)", "BFJKMR94", numbers)]


@theorem
def overlaps(problem: HiddenSets) -> tuple[Row, list[Claim]]:
    """c(0) .. c(m): c(t) is the covariance over the signs of two members that share t places.

    The t common places count i times -1 with probability binom(t, i) / 2^t; the other m - t of each
    are fair coins, over which g is averaged. By the characters of the signs in S, c(t) = sum_k
    binom(t, k) w_k, w_k the squared coefficient of a product of k signs of S, and w_0 = 0 as E g is
    taken away: it never decreases with t, from c(0) = 0.
    """
    m, rows = problem.m, [list(problem.g)]
    while len(rows[-1]) > 1:  # rows[r][i]: the mean of g(i + heads of r coins)
        rows.append([(a + b) / 2 for a, b in pairwise(rows[-1])])
    seen = [sum(math.comb(t, i) * rows[m - t][i] ** 2 for i in range(t + 1)) for t in range(m + 1)]
    c = [value / 2**t - rows[m][0] ** 2 for t, value in enumerate(seen)]
    form, numbers = "c(m-1) / c(m)", {"c(m-1)": c[m - 1], "c(m)": c[m]}
    near = Claim("largest-correlation", c[m - 1] / c[m], {}, form, "this certificate", numbers)
    return c, [near] if m < problem.n else []


@cache
def distances(n: int, m: int) -> list[list[int]]:
    """E_i(k): eigenvalues of the 0-1 matrix of m-subsets of n places that share m - i. [Del73]

    The matrices whose entries depend on |S & S'| alone have common eigenspaces V_0 .. V_r, r =
    min(m, n - m), and on V_k the pairs at distance i have the eigenvalue sum_h (-1)^(i-h)
    binom(m-h, i-h) binom(m-k, h) binom(n-m+h-k, h). On V_0, the constants, it counts these pairs.
    """
    comb, ks = math.comb, range(min(m, n - m) + 1)
    return [[sum((-1) ** (i - h) * comb(m - h, i - h) * comb(m - k, h) * comb(n - m + h - k, h)
                 for h in range(min(i, m - k) + 1)) for k in ks] for i in range(m + 1)]  # fmt: skip


def eigenvalues(problem: HiddenSets, c: Row) -> list[Fraction]:
    """The matrix of entries c(|S & S'|) has the eigenvalue sum_i c(m - i) E_i(k) on V_k."""
    columns = zip(*distances(problem.n, problem.m), strict=True)
    return [Fraction(sum(map(operator.mul, c[::-1], column))) for column in columns]


@theorem
def johnson(problem: HiddenSets, members: Members, c: Row) -> tuple[Gram, list[Claim]]:
    """The eigenvalues of the Gram matrix are lambda_k = sum_i c(m - i) E_i(k) on V_k.

    The mean of all members is in V_0: less their mean, members have the squared norm c(m) -
    lambda_0 / N and no eigenvalue above the largest other lambda_k. The reference is the mean over
    the members. On open examples, half of all, the label's mean, scaled to [-1, 1], is (1 - 2
    noise) (g - middle) / half. So by Bessel the squares of what a query moves, its factor on the
    label being at most 1, add up to (1 - 2 noise)^2 lambda / (2 half)^2. For two values every query
    is phi0 + phi1 b there, as for characters; for more it need not be.
    """
    m, n, count = problem.m, problem.n, members.count
    need(m < n, "there is one member")
    values = eigenvalues(problem, c)
    spread, less = max(values[1:]), c[m] - values[0] / count
    squares = eigenvalues(problem, [value**2 for value in c])[0] / c[m]
    numbers = {"N": count, "c(m)": c[m], "lambda_0": values[0], "lambda": spread}
    claims = [Claim(quantity, value / c[m], {}, form, source, numbers)
              for quantity, value, form, source in (
                  ("average-correlation", values[0] / count, "lambda_0 / (N c(m))", "FGRVX17"),
                  ("operator-norm", max(values), "max(lambda_0, lambda) / c(m)", "Del73"),
                  ("second-eigenvalue", spread, "lambda / c(m)", "Del73"),
                  ("cross-predictability", squares / count, "the mean of (c / c(m))^2", "AS20"),
              )]  # fmt: skip
    sizes = [math.comb(n, k) - math.comb(n, k - 1) for k in range(1, len(values))]
    spectrum = sorted(zip(values[1:], sizes, strict=True), reverse=True)
    gram = Gram(top=spread, least=less, scale=less, moves01=None, general=problem.levels == 2,
                moves=((1 - 2 * problem.noise) / problem.half / 2) ** 2 * spread,
                spectrum=spectrum if not problem.view else None)  # fmt: skip
    return gram, claims


def prime(q: int) -> bool:
    """Whether q is prime, by division."""
    return q > 1 and (q % 2 == 1 or q == 2) and all(q % p for p in range(3, math.isqrt(q) + 1, 2))


def polynomials(n: int, m: int, q: int, t: int) -> int:
    """The number of m-subsets of n places from polynomials, any two sharing at most t. [RS60]

    They are {(i, p(i)) : i < m}, deg p <= t, over the field of a prime q >= m with q m <= n.
    """
    need(prime(q) and m <= q and q * m <= n, "there are not so many places")
    return int(q ** (t + 1))


@theorem
def code(problem: HiddenSets, witness: Any) -> tuple[int, int]:
    """There are `size` members of which any two share at most `overlap` places: a code.

    The sets are listed; or all sets, with overlap m - 1; disjoint ones; or those of `polynomials`.
    """
    n, m = problem.n, problem.m
    t, size, sets = take(witness, "a code", overlap=(0, m - 1), size="positive", sets=None)
    if isinstance(sets, list):
        places = [{small(j, 0, n - 1, "a place") for j in listed(chosen)} for chosen in sets]
        right = all(len(a) == m == len(b) for a, b in zip(places, sets, strict=True))
        need(right and len(sets) == size <= 2048, "sets are not as many as claimed, or over 2048")
        near = all(len(a & b) <= t for i, a in enumerate(places) for b in places[:i])
        need(near, "two sets share more places")
        return size, t
    if isinstance(sets, dict):
        [q] = take(sets, "a code", field=(2, 10**6))
        fits = size <= polynomials(n, m, q, t)
    elif sets == "disjoint":
        fits = size * m <= n
    else:
        fits = sets == "all" and t == m - 1 and size <= math.comb(n, m)
    need(fits, "there are not so many sets")
    return size, t


@theorem
def packing(problem: HiddenSets, members: Members, c: Row, witness: Any) -> Claim:
    """SQ-DIM is at least the size of a code, and at most what Johnson's bound allows. [Joh62]

    The size s of a code of overlap t counts if c(t) s <= c(m), or s = 1. Correlations are of
    members less E g. c(t) grows with t: N members of correlation at most 1/N, N > 1, are sets of
    overlap at most t, for the largest t with c(t) N <= c(m). So N is at most floor(c(m)/c(t)), or
    all members if c(t) = 0, and at most A(n, m, t): the smaller, for the t where that is largest.
    """
    (size, overlap), m, upper = code(problem, witness), problem.m, 1
    need(size == 1 or c[overlap] * size <= c[m], "the code's correlations are above 1/size")
    for t in range(m):
        most = c[m] // c[t] if c[t] else members.count
        upper = max(upper, min(most, meeting(problem.n, m, t)))
    form = f"the size of a code of {m}-subsets that share at most {overlap} places"
    return Claim("sq-dimension", size, {"upper": upper}, form, "BFJKMR94", {})


def meeting(n: int, m: int, t: int) -> int:
    """Bound A(n, m, t), the most m-subsets of n places of which any two share at most t.

    A(n, m, 0) = floor(n/m). Each place is in at most A(n-1, m-1, t-1) of them, so A(n, m, t) is at
    most n/m times that. And M sets have (M m)^2 / n <= M m + M (M-1) t by Cauchy-Schwarz.
    """
    most = 1
    for step in range(t, -1, -1):
        ground, weight, meets = n - step, m - step, t - step
        most = ground * most // weight
        if weight**2 > ground * meets:
            most = min(most, ground * (weight - meets) // (weight**2 - ground * meets))
    return most


@theorem
def every_set(problem: HiddenSets, c: Row, gamma: Fraction, witness: Any) -> int:
    """Every set of `enough` members or more has average correlation at most gamma: weak duality.

    In a set of s members let a_i be the mean number of its members at distance i from one of them,
    and v_i that number among all members. Then a_0 = 1, sum a = s, b_i = a_i / v_i <= 1, and sum_i
    b_i E_i(k) >= 0 [Del73]: it is N / (s dim V_k) times the squared length of the projection to V_k
    of the set's indicator. (b_i = 0 where v_i = 0.) Take y, u, w >= 0, the multipliers `inner`,
    `average` and `caps`, y_k of k = 1 .. r, 0 if not given, with, for i >= 1, c_i = c(m-i)/c(m),
        w_i - sum_k y_k E_i(k) - u v_i (c_i - gamma) >= v_i.
    Multiply by b_i and add: s - 1 <= sum w + sum y + u (1 - gamma) if the average is above gamma,
    and < if u > 0: so `enough` is at least 1 more than this sum if u > 0, else above that.
    """
    inner, average, caps, enough = take(witness, "the multipliers", inner=rationals,
                                        average="rational", caps=rationals,
                                        enough="positive")  # fmt: skip
    m = problem.m
    if gamma < 1 and enough <= math.comb(problem.n, m):
        table = distances(problem.n, m)
        need(len(caps) == m and len(inner) < len(table[0]), "multipliers are missing or too many")
        need(min([average, *inner, *caps]) >= 0, "a multiplier is negative")
        for i, (w, (v, *row)) in enumerate(zip(caps, table[1:], strict=True), 1):
            left = w - average * v * (c[m - i] / c[m] - gamma) - sum(map(operator.mul, inner, row))
            need(left >= v, f"the multipliers fail at distance {i}")
        most = 1 + sum(inner) + sum(caps) + average * (1 - gamma)
        need(enough >= most if average else enough > most, "smaller sets are not ruled out")
    return int(enough)


def vstat_gamma(problem: HiddenSets, c: Row, t: int) -> Fraction:
    """The average of c/c(m) at which laws of an example have the average correlation 1/(3t)."""
    return 2 / (3 * t * problem.lift * c[-1])


@theorem
def vstat_rules_out_fewer(problem: HiddenSets, c: Row, t: int, witness: Any) -> Claim:
    """A query to VSTAT(t) rules out fewer members than are enough for an average of gamma(t).

    The reference has a coin of the mean label for the open value; against it, members as laws of an
    example, half of which are open, have inner products `lift` c / 2, none negative. For the s
    members that a query rules out, by Cauchy-Schwarz: the square of the sum of their distances |p -
    p0| is at most min(p0, 1 - p0) times the sum of the correlations of all ordered pairs of them,
    each with the signs of both distances, and so without. As in `theorem.vstat_rules_out` each
    squared distance is above min(p0, 1 - p0) / (3t): so their average correlation is above 1 /
    (3t), that of c/c(m) above `vstat_gamma`. [FGRVX17]
    """
    need(problem.levels == 2, "labels have more than two values")
    enough = every_set(problem, c, vstat_gamma(problem, c, t), witness)
    return Claim("vstat", enough - 1, {"t": t}, "s - 1", "FGRVX17", {"s": enough})


def moments(weights: Row, pairs: list[int], degree: int, highest: int) -> tuple[list[int], int]:
    """s_1, s_2, .. of `low_degree` for open examples, and their common denominator.

    weights: omega_0 = 0, omega_1, .., omega_m; pairs: the number of pairs that share t places, t =
    0 .. m; highest: the most examples in a monomial. Integers are omega times a common denominator.
    A polynomial is one integer, with `wide` bits for each coefficient from y^(first) on.
    """
    unit = math.lcm(*(w.denominator for w in weights))
    used = [a for a, w in enumerate(weights) if w]  # some are: g is not constant
    first, spread, m = used[0] + 1, used[-1] - used[0], len(weights) - 1
    count = min(highest, degree // first)
    quick = m * len(used) * count * min(degree, spread * count + 1) * degree <= 10**9
    quick = quick and m * min(m, degree) * degree <= 10**7 and count <= 2000
    quick = quick and count * (count * unit.bit_length()) ** 2 <= 10**13
    need(quick, f"a degree of {short(degree)} takes too long")
    total = [0] * count
    for t, count_of_pairs in enumerate(pairs):
        terms = [int(weights[a] * unit) * math.comb(t, a) for a in used]
        wide, power = sum(terms).bit_length() * count + 1, 1
        base = sum(term << wide * (a + 1 - first) for a, term in zip(used, terms, strict=True))
        for i in range(count):
            room = min(degree - (i + 1) * first, (i + 1) * spread) + 1
            power = power * base & (1 << wide * room) - 1
            total[i] += count_of_pairs * (power % ((1 << wide) - 1))
    return [v * unit ** (count - i) for i, v in enumerate(total, 1)], sum(pairs) * unit**count


def series(tops: Sequence[int], examples: int) -> int:
    """The sum of binom(examples, i) top_i, i = 1, 2, ..: it rises with the number of examples."""
    total, choices = 0, 1
    for i, top in enumerate(tops):
        choices = choices * (examples - i) // (i + 1)
        total += choices * top
    return total


@theorem
def low_degree(problem: HiddenSets, c: Row, terms: Terms) -> list[Claim]:
    """A polynomial of degree D moves its mean by the root of `series` times its deviation at most.

    Its mean if labels are of a member, drawn once for all examples, against that of coins of the
    mean label mu, as +-1. An open example is n signs z and b = +-1, and has for S the density 1 +
    b' sum over T in S, not empty, of v_|T| chi_T(z) against coins, b' = (b - mu) / sqrt(1 - mu^2),
    and omega_a = v_a^2 = w_a `lift`, w_a the a-th differences of `overlaps` at 0. Products of
    chi_T(z) and b' chi_T(z), one for each example, are an orthonormal basis, graded by |T|, and |T|
    + 1. So the density of all examples has on b'_i chi_(T_i)(z_i), i in A, the coefficient E_S prod
    v 1[T_i in S]. The squares of those of degree D at most, of at most k examples in A, add up to

        sum_(i <= k) binom(examples, i) s_i,  s_i = E sum_(j <= D) [y^j] (sum_a omega_a binom(t, a)
        y^(a+1))^i,

    t how many places two members share: both hold all T_i. For every such polynomial f, E_S f - E f
    is its inner product with the density less 1: at most the root of this sum times the deviation
    of f, and attained. So the sum, which is claimed, is the SQUARE of the advantage. If half of the
    examples are closed: 1, z_0, which says so, and sqrt(2) b', 0 if closed, are orthonormal, of
    degree 0, 1 and 1; omega_a is half as large. They span what labels do, and the bound is
    attained, if closed examples show one constant label. [Hop18, KWB19, BBHLS21]
    """
    need(problem.levels == 2, "labels take more than two values, the ratio here is of two")
    need(not problem.view, "labels show more than g: which degree that has is not known here")
    degree, examples, most = take(terms.about["low-degree"], "low-degree", degree="positive",
                                  examples=["positive"], sample_degree=["positive"])  # fmt: skip
    n, m, weights, column = problem.n, problem.m, Row(), c
    while column:
        weights.append(problem.lift * column[0])
        column = [b - a for a, b in pairwise(column)]
    pairs = [math.comb(m, t) * math.comb(n - m, m - t) for t in range(m + 1)]
    tops, bottom = moments(weights, pairs, degree, most or degree)
    thinned = [top << len(tops) - i for i, top in enumerate(tops, 1)]
    at: dict[str, Any] = {"degree": degree, "sample_degree": most or "any"}
    form, many = "sum_i binom(examples, i) s_i", examples if any(tops) else "any"
    square, least, claims = f"the advantage squared: {form}", f"the least with {form} >= 1", []
    for end, s, over in (("", thinned, bottom << len(tops)), ("-open", tops, bottom)):
        if many:
            name, value = f"low-degree-advantage{end}", Fraction(series(s, examples or 0), over)
            claims.append(Claim(name, value, {**at, "examples": many}, square, "Hop18", {}))
        if any(s):
            few = core.first_reaching(partial(series, s), over)
            claims.append(Claim(f"low-degree-examples{end}", few, at, least, "Hop18", {}))
    return claims


def know(problem: HiddenSets, witness: Witness) -> Known:
    """Facts about the members: that they are characters, or inner products by overlap."""
    members = subsets(problem)
    if problem.parity and not witness:
        return Known(members, *characters(problem, members))
    shared, near = overlaps(problem)
    gram, spectrum = johnson(problem, members, shared)
    return Known(members, gram, near + spectrum, products=shared)


def claims(problem: HiddenSets, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    """Claims about learners that use queries or examples; for profiles also SQ-DIM and SDA."""
    members, gram, c, two = known.members, known.gram, known.products, problem.levels == 2
    stat = core.stat_rules_out(members, gram, terms.tau)
    if c is None:
        asked, sets = [stat, core.vstat_rules_out(members, gram, terms.t)], []
    else:
        fields(witness, {"code", "sda"} | ({"vstat"} if two else set()), "the witness")
        packed = packing(problem, members, c, witness["code"])
        enough = every_set(problem, c, terms.gamma, witness["sda"])
        sets = [packed, core.sda(members, terms.gamma, enough)]
        asked = [] if problem.view else [core.stat_rules_out(members, gram, terms.tau, "csq")]
        if two:
            asked += [stat, vstat_rules_out_fewer(problem, c, terms.t, witness["vstat"])]
    return known.claims + sets + core.needed_by_learners(problem, terms, known, asked)
