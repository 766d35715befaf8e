"""Residues: which secret of Z_q^n do the labels depend on?

A secret s of Z_q^n, q = 2^l or an odd prime, has a unit among its entries: a draw without one is
repeated. Half of the examples, the open ones, contain a vector a of Z_q^n and a code, one of L
labels, of <a, s> + e mod q. The law of the others does not depend on s.
"""

import math
from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

from . import theorem as core
from .hidden_sets import prime
from .reading import fields, listed, need, rationals, short, small, take
from .theorem import Claim, Gram, Known, Law, Members, Terms, Witness, theorem

SLACK = Fraction(1, 1 << 40)  # the chance that decoding fails
Groups = list[tuple[int, int, int, int]]
Bounds = tuple[list[tuple[int, int]], int, int]  # tiers, lost, total of a `Law`
_WIDE, _DEEP = 128, 1 << 18  # bits of a mantissa, and of the least number that is written


class Residues(NamedTuple):
    """LWE, LWR and noisy parities, by their numbers.

    h: the number of nonzero entries of s, at uniform places, or 0 for any number. entries: their
    law, counts in proportion to probabilities; None: uniform on Z_q, or on its nonzero part with h.
    levels: the number of equal intervals of Z_q that are labels, or q for residues. errors: the law
    of e, counts that add up to 2^64; None: e = 0. bits: an entry of a is an independent uniform
    number of so many bits, mod q; it is uniform for q = 2^l, as bits >= l. modulus: M, secrets that
    are equal mod M are one member. differ: whether secrets that differ mod M are orthogonal.
    """

    n: int
    q: int
    bits: int
    h: int
    entries: dict[int, int] | None
    levels: int
    errors: dict[int, int] | None
    modulus: int
    differ: bool


def read_problem(data: dict[str, Any]) -> Residues:
    """Read the numbers of the problem; raises Refused."""
    _, n, q, bits, secret, labels, parts, errors = take(
        data, "the problem", kind=None, n=(1, 1 << 20), q=(2, 1 << 48), bits=(1, 1 << 20),
        secret=None, labels=None, parts=(2, 1 << 48), errors=read_law)  # fmt: skip
    need(q & (q - 1) == 0 or prime(q), "q is neither a power of two nor prime")
    h, entries = take(secret, "the secret", weight=(0, n), entries=read_law)
    need(labels in ("residue", "interval") and q % parts == 0, "the parts are not equal")
    need(parts == q or labels != "residue", "a residue is one of q parts")
    need(q * (2 * n if q % 2 else 1) <= 1 << bits, "so few bits leave a far from uniform")
    right = not errors or (labels == "residue" and sum(errors.values()) == 1 << 64)
    need(right, "errors add up to 2^64, of residues")
    modulus = q if q % 2 else 2 * (q // parts)
    return Residues(n, q, bits, h, entries, parts, errors, modulus, q % 2 == 1 or modulus == 4)


def read_law(data: Any) -> dict[int, int] | None:
    """Read a law of integers, counts in proportion to probabilities; None stays None."""
    if data is None:
        return None
    need(len(listed(data)) == 2, "a law is the least value and a list")
    first, counts = small(data[0], -(1 << 40), 1 << 40, "the least value"), rationals(data[1])
    need(0 < len(counts) <= 1 << 15, "a law has no value, or over 2^15")
    fit = all(c >= 0 and c.denominator == 1 for c in counts) and counts[0] * counts[-1] > 0
    need(fit, "counts of a law are no whole numbers, or the first or the last is 0")
    return {first + i: int(c) for i, c in enumerate(counts) if c}


def residues_of(law: dict[int, int], q: int) -> Counter[int]:
    """Add up the counts of each residue."""
    out = Counter[int]()
    for value, count in law.items():
        out[value % q] += count
    return out


def below(counts: Counter[int], many: int, cut: int) -> int:
    """Sum the coefficients below x^cut of the power (sum of counts[w] x^w)^many.

    By the recurrence of a power: with F = f^many, f F' = many f' F, term by term.
    """
    first = min(counts, default=cut)
    rest = [(w - first, count) for w, count in counts.items() if w > first]
    powers = [counts[first] ** many] if cut > many * first else []
    for j in range(1, cut - many * first):
        terms = ((many * w - (j - w)) * count * powers[j - w] for w, count in rest if w <= j)
        powers.append(sum(terms) // (j * counts[first]))
    return sum(powers)


def power_law(groups: Groups, places: int, many: int, base: Fraction, cut: int) -> Bounds:
    """Bound the law of vectors of `many` independent entries, conditioned on having a unit.

    groups: residues of one weight w_i and one mass m_i, the probability of each over W: (weight,
    mass, how many are units, how many are not). As m_i <= max m base^w_i, a vector of the weight w,
    the sum of its entries', is drawn at most (max m / W)^many base^w of the time. Those of a weight
    below `cut` have the coefficients below x^cut of (sum of m_i x^w_i)^many, less those without a
    unit, over W^many, and each other one at most what `cut` allows. places: where the vector is.
    """
    every, without, most = Counter[int](), Counter[int](), Counter[int]()
    for weight, mass, units, others in groups:
        every[weight] += mass * (units + others)
        without[weight] += mass * others
        most[weight] = max(most[weight], mass)
    top, low, likeliest = base.numerator, base.denominator, max(most.values())
    long, digits = many * sum(every.values()).bit_length(), low.bit_length()
    quick = long + digits * (cut + max(most)) < 1 << 24 and digits * sum(most) < 1 << 29
    quick = quick and max(cut * long << 6, cut * long * len(every)) < 1 << 37
    need(quick, "so long a law takes too long")
    bounded = all(mass * low**w <= likeliest * top**w for w, mass in most.items())
    need(bounded, "an entry is likelier than its weight says")
    values, dull = sum(g[2] + g[3] for g in groups), sum(g[3] for g in groups)
    size, scale = places * (values**many - dull**many), places * low**cut
    lost = below(every, many, cut) - below(+without, many, cut)
    total = sum(every.values()) ** many - sum(without.values()) ** many
    return [(size, likeliest**many * top**cut)], lost * scale, total * scale


def lifted_law(n: int, h: int, modulus: int, lifts: int) -> Bounds:
    """The law mod M of h uniform entries that are not 0 mod q = M lifts, one a unit: exactly.

    A vector with j entries that are not 0 mod M comes from binom(n-j, h-j) (lifts-1)^(h-j) lifts^j.
    """
    need(h * h * (n * modulus * lifts).bit_length() < 1 << 28, "so long a law takes too long")
    tiers = sorted(((math.comb(n, j) * ((modulus - 1) ** j - (modulus // 2 - 1) ** j),
                     math.comb(n - j, h - j) * (lifts - 1) ** (h - j) * lifts**j)
                    for j in range(1, h + 1)), key=lambda tier: -tier[1])  # fmt: skip
    return tiers, 0, sum(size * weight for size, weight in tiers)


@theorem
def secrets(problem: Residues, witness: Any) -> tuple[Members, list[Claim]]:
    """N secrets whose laws of a label are orthogonal in pairs where a is uniform, and their law.

    <a, s> and <a, s'> are independent unless u s = v s' for some u, v not both 0. Over a prime q
    that says s' is a multiple of s; M = q. Mod q = 2^l, as both have an odd entry, u and v have the
    same power 2^k of two. Labels of L intervals have no frequency u that is a multiple of L, so 2^k
    < L, and s' is an odd multiple of s mod 2^(l-k), hence mod M = 2q / L. Such secrets are alike.
    As laws, against codes that are independent of a, members have inner products L Pr[same label] -
    1. That is 0 if they differ mod M for a prime q, where <a, s - s'> is uniform, and for M = 4: if
    s' = -s mod 4, s' - s is twice a vector with an odd entry, <a, s'> - <a, s> is uniform on even
    residues. Labels agree where that is 0 alone, with probability 2/q = 1/L.

    Counted are the vectors mod M with a unit among their entries that secrets have. At most as many
    of them are alike as there are units that entries may be: one entry says which. What is
    orthogonal to one secret is so to all that are the same mod M, so a vector is ruled out, or
    fits, if any of these secrets does. If none is left out and all have the largest probability
    that they may have, all are as likely. base, cut and weights: of `power_law`.
    """
    base, cut, weights = take(witness, "the bound on the law of a secret", base="share",
                              cut=(0, 1 << 16), weights=listed)  # fmt: skip
    n, q, _, h, entries, levels, _, modulus, differ = problem
    numbers = [small(w, 0, 1 << 16, "a weight") for w in weights]
    values, dull = q - (h > 0), (1 if q % 2 else q // 2) - (h > 0)  # residues mod q, and no units
    if entries is None:
        units = modulus - 1 if modulus % 2 else modulus // 2
        groups = [(0, 1, units, modulus - units - (h > 0))]
        need(not numbers, "uniform entries have no weights")
    else:
        folded, residues = residues_of(entries, modulus), residues_of(entries, q)
        values, dull = len(residues), sum(math.gcd(v, q) > 1 for v in residues)
        need(len(numbers) in (0, len(folded)), "there is not a weight for each residue")
        pairs = zip(numbers or [0] * len(folded), sorted(folded.items()), strict=False)
        unit = {v: math.gcd(v, modulus) == 1 for v in folded}
        groups = [(w, count, int(unit[v]), int(not unit[v])) for w, (v, count) in pairs]
        units = sum(unit.values())
        need(units > 0, "no entry is a unit")
        need(not h or not folded[0], "the law of entries that may be 0 mod M is not known")
    places, many = math.comb(n, h) if h else 1, h or n
    if entries is None and h and modulus < q:
        tiers, lost, total = lifted_law(n, h, modulus, q // modulus)
    else:
        tiers, lost, total = power_law(groups, places, many, base, cut)
    vectors, (alike, as_one) = sum(size for size, _ in tiers), (units, 1) if differ else (1, units)
    even = not lost and total == vectors * tiers[0][1]
    count = vectors // as_one  # with no rest: u units, d others, (u + d)^n - d^n
    upper = places * (values**many - dull**many)  # secrets with a unit, as all are drawn
    law = None if even else Law(tiers, lost, total, as_one)
    members = Members(count=count, alike=alike, upper=upper, law=law)
    form = "vectors mod M with a unit among their entries"
    form += "" if differ else ", over how many are multiples of each other by a unit"
    source = "Regev05" if levels == q > 2 and problem.errors else "this certificate"
    at = {"upper": upper, "alike": alike}
    return members, [Claim("orthogonal-members", count, at, form, source, {"M": modulus})]


@theorem
def laws(problem: Residues, members: Members) -> tuple[Gram, list[Claim]]:
    """Bounds the inner products of members, and how far a query moves on all of them together.

    THE DENSITY OF a. Mod an odd q an entry is a uniform number below W = 2^bits: with x = W mod q
    its density against uniform is 1 - x/W or 1 + (q - x)/W. By Bernoulli's inequality that of n
    entries is at least `least` = 1 - n x/W and at most `most` = 1 / (1 - n (q - x)/W). Mod an even
    q both are 1. So functions that are orthogonal where a is uniform have eigenvalues between least
    and most times their squared norm there. Two of them have correlations of at most (most - least)
    / (most + least), by Wielandt's inequality.

    MEMBERS. f is the mean label, codes written as any numbers, less its mean and over its norm,
    both where a is uniform: a function of <a, s>, orthogonal for members that are not alike. (If it
    is constant there is nothing to learn, and no risk.) The best constant has a risk V of at most
    |f|^2, so |f|^2 - r V >= (1-r) least >= least - r scale, also if V is above scale = 1. As each
    is alike to fewer than `alike` others, no eigenvalue is above alike most; all add up to N most.

    QUERIES. The reference draws codes c independently of a. A query phi moves by E[l phi] there, l
    = open (Pr[c | <a, s>] / Pr[c] - 1). These l are the members as laws of an example, orthogonal
    as the f are, of squared norm chi^2 / 2: half of the examples are open, and chi^2 = L - 1, with
    errors q sum_r Pr[e = r]^2 - 1. Over the codes l has the mean 0, and sees of phi its variance
    over them alone, at open examples. For values in [-1, 1] that is at most 4 p (1-p), p the
    probability of some codes that is nearest to 1/2, on half of all examples. For values in [0, 1]
    of mean r over the codes it is at most (1 - 1/L) min(r, 1 - r), as the variance is convex, so on
    average at most (1 - 1/L) min(p0, 1 - p0). For vectors of norm at most 1 it is at most 1, over
    two codes as for numbers: that is `drift`. Bessel multiplies each by most chi^2 / 2.
    """
    n, q, whole, levels = problem.n, problem.q, 1 << problem.bits, problem.levels
    x, odd, square = whole % q, q % 2, Fraction(levels - 1)
    least, most = 1 - Fraction(odd * n * x, whole), 1 / (1 - Fraction(odd * n * (q - x), whole))
    if problem.errors is not None:
        folded = residues_of(problem.errors, q)
        square = q * Fraction(sum(c * c for c in folded.values()), 1 << 128) - 1
    need(square > 0, "labels do not depend on the secret")
    apart, unlike = (most - least) / (most + least), -(-members.count // members.alike)
    size = min(unlike, math.floor(1 / apart)) if apart else unlike
    all_of_them, numbers = "the members of which no two are alike", {"most": most, "least": least}
    form = "floor((most + least) / (most - least))" if size < unlike else all_of_them
    at, near = {"upper": int(members.upper or 0)}, "0 if a is uniform"
    zero = Claim("pairwise-correlation", 0, {"upper": apart}, near, "this certificate", numbers)
    dimension = Claim("sq-dimension", size, {**at}, form, "BFJKMR94", numbers)
    nearest, wide = Fraction(levels // 2, levels), most * square
    gram = Gram(top=most, least=least, scale=1, general=True, moves=wide * nearest * (1 - nearest),
                moves01=wide * Fraction(levels - 1, levels) / 2, drift=wide / 4, public=1,
                spectrum=[(most * members.alike, unlike)])  # fmt: skip
    return gram, [zero, dimension]


def power(base: Fraction, exponent: int) -> Fraction:
    """A power of a number in (0, 1], to about 128 bits, rounded down; 0 below 2^-(2^18)."""
    up, down = base.numerator, base.denominator
    mantissa, shift = 1, 0
    for bit in bin(exponent)[2:]:
        mantissa, shift = mantissa**2, 2 * shift
        if bit == "1":
            mantissa, shift = (mantissa << _WIDE) * up // down, shift + _WIDE
        spare = max(0, mantissa.bit_length() - _WIDE)
        mantissa, shift = mantissa >> spare, shift - spare
        if shift - mantissa.bit_length() > _DEEP:
            return Fraction(0)
    return Fraction(mantissa, 1 << shift)


def guess(problem: Residues) -> Fraction:
    """The exact probability of the likeliest s mod 2.

    Of k places, all n or h that are drawn, each has an odd entry with the same probability, a / b,
    independently, but for draws without any, which are drawn again. So a vector mod 2 with j ones,
    j = 1 .. k, has the probability binom(n-j, k-j) / binom(n, k) a^j (b-a)^(k-j) / (b^k -
    (b-a)^k). From j to j + 1 it changes by the factor (k-j)/(n-j) a/(b-a), which never grows with
    j: it is largest at the least j >= 1 of which this is at most 1, j (2a-b) >= k a - n (b-a).
    """
    n, k = problem.n, problem.h or problem.n
    law = problem.entries or {0: problem.q // 2 - bool(problem.h), 1: problem.q // 2}
    odd = sum(c for e, c in law.items() if e % 2)
    a, b = Fraction(odd, sum(law.values())).as_integer_ratio()
    ones = max(1, -((n * (b - a) - k * a) // (2 * a - b))) if 2 * a > b else 1
    ways = math.comb(n - ones, k - ones) * a**ones * (b - a) ** (k - ones)
    return Fraction(ways, math.comb(n, k) * (b**k - (b - a) ** k))


@theorem
def lwe(problem: Residues, terms: Terms) -> Claim:
    """A learner of rounded residues gives a solver of LWE, every number of it explicit. [BGMRR16]

    Let q be a power of two, p even, q >= 2 p B, s drawn by the law of the family, a uniform, and e
    an integer, independent of a, s and of other samples, |e| <= B, that is at most 0, and at least
    0, with probability 1/2 or more each. A learner that from N examples of the family reaches the
    relative risk with probability S gives a solver of LWE: from N samples (a, <a, s> + e mod q) it
    finds s mod 2 with probability at least (S - 2^-40)^2 / (1 + p B / q)^N. (Where guessing is as
    likely, beyond the horizon, the value is 0.) Proof. The solver rounds each sample, shows it with
    probability 1/2 as an open example, else a closed one, runs the learner, and decodes.

    One example. t = <a, s> is uniform. Where no interval ends within B of t, rounding t + e gives
    that of t. Elsewhere, at 2 B residues for each of p ends, one end alone is as near, as q/p >=
    2B, and e of one sign keeps the label. So it is that of t with probability 1/2 at least. The sum
    of P^2 / Q, P the law of (a, label of t), Q that of (a, label of t + e), is the mean of 1 /
    Pr[same label], at most 1 + 2 p B / q, and of an example, half of which are closed and alike, at
    most 1 + p B / q. For N independent examples such sums multiply: by Cauchy's inequality an event
    has probability at least P^2 / (1 + p B / q)^N under Q, by Jensen's also on average over s.

    Decoding. Let labels be equally spaced numbers, in the order of intervals; their variance is
    (p^2 - 1) / 12 gaps^2. A hypothesis of relative risk R, rounded to the nearest label, is wrong
    where it is half a gap off or more, so at a share of at most w = R (p^2 - 1) / 3 of a. As q/2 is
    p/2 intervals, the label at a + (q/2) e_i is that at a, moved on by p/2 if s_i is odd and not
    moved if it is even. Read at both, the hypothesis tells which but for a share of 2 w, below 1/2.
    By Hoeffding's inequality the majority of T uniform points is wrong with probability at most
    exp(-2 T (1/2 - 2w)^2), for any of n entries at most 2^-40.
    """
    examples, bound = take(terms.about["lwe"], "lwe", examples="positive", bound="positive")
    n, q, p, risk, success = problem.n, problem.q, problem.levels, terms.risk, terms.success
    need(p < q, "the reduction is about labels of lwr, and these are not")  # powers of two, e = 0
    need(bound <= q // (2 * p), f"errors of {bound}: at most q/(2p) = {q // (2 * p)} is allowed")
    wrong, most = risk * (p * p - 1) / 3, Fraction(3, 4 * (p * p - 1))
    need(risk < most, f"the risk must be below {short(most)} for {p} labels, not {short(risk)}")
    need(success > SLACK, "success is not above 2^-40")
    need(n < _DEEP, "so long a secret takes too long")
    apart = 2 * (Fraction(1, 2) - 2 * wrong) ** 2 * Fraction(14426, 10_000)  # e > 2^1.4426
    points = math.ceil((40 + n.bit_length()) / apart) * (n + 1)
    first, ratio, chance = (success - SLACK) ** 2, Fraction(q, q + p * bound), guess(problem)
    last = core.first_reaching(lambda count: -first * power(ratio, count), -chance) - 1
    shown = first * power(ratio, examples)
    at: dict[str, Any] = {"bound": bound, "examples": examples, "risk": risk, "success": success}
    form = "(success - 2^-40)^2 / (1 + p bound / q)^examples down, or 0 beyond the horizon"
    numbers = {"p": p, "q": q, "guess": chance, "points": points, "shown": shown}
    value, at["horizon"] = shown if examples <= last else 0, last
    return Claim("lwe-probability", value, at, form, "BGMRR16", numbers)


def know(problem: Residues, witness: Witness) -> Known:
    """Facts about the secrets, also with the law bounded by the witness `rare`."""
    members, counted = secrets(problem, witness["law"])
    gram, near = laws(problem, members)
    rare = secrets(problem, witness["rare"])[0] if "rare" in witness else None
    return Known(members, gram, counted + near, rare)


def claims(problem: Residues, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    """Claims about learners that use queries or examples."""
    fields(witness, {"law"}, "the witness")
    asked = [core.stat_rules_out(known.members, known.gram, terms.tau),
             core.vstat_rules_out(known.members, known.gram, terms.t)]  # fmt: skip
    return known.claims + core.needed_by_learners(problem, terms, known, asked)
