"""Laws of secrets: how likely the likeliest vectors of Z_q^n are, where not all are as likely."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

from .core import Claims, Fact, listed, need, read, rule, short, small, written


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


@rule("residues", base="share", cut="json", weights="json")
def secrets(problem: Any, base: Fraction, cut: Any, weights: Any) -> Fact:
    """N secrets whose laws of a label are orthogonal in pairs where a is uniform, and their law.

    <a, s> and <a, s'> are independent unless u s = v s' for some u, v not both 0. Over a prime q
    that says s' is a multiple of s; M = q. Mod q = 2^l, of secrets with an odd entry, u and v have
    the same power 2^k of two. Labels of equal intervals have no frequency u that is a multiple of
    parts, so 2^k < parts, and s' is an odd multiple of s mod 2^(l-k), hence mod M = 2q / parts.
    Such secrets are alike. Where every residue or interval has its own label, members are
    orthogonal already if they differ mod M, for a prime q as <a, s - s'> is uniform, and for M = 4,
    where s' = -s and of the only frequencies with multiples, q/4 and -q/4, the terms cancel,
    (1-i)^2 + (1+i)^2 = 0. Counted are the vectors mod M with a unit among their entries that
    secrets have. At most as many of them are alike as there are units that entries may be: one
    entry says which. What is orthogonal to one secret is so to all that are the same mod M, so a
    vector is ruled out, or fits, if any of these secrets does. If none is left out and all have the
    largest probability that they may have, all are as likely. base, cut and weights: of
    `power_law`.
    """
    n, h, q, entries = problem.n, problem.h, problem.q, problem.entries
    modulus, differ = problem.modulus, problem.differ
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
    but = f", but for up to {alike} that are multiples of each other by units" * (alike > 1)
    text = (
        f"{short(count)} members, of at most {short(upper, up=True)} secrets, are "
        f"{'different' if differ else 'no multiples by a unit'} mod {modulus}: where a is uniform "
        f"their laws of a label are orthogonal{but}"
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
