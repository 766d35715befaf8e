"""Residues: which secret of Z_q^n do the labels depend on?

A secret s of Z_q^n, q = 2^l or an odd prime; open examples show a vector a of Z_q^n
and a code, one of L levels, of <a, s> + e mod q; the others show nothing of s.
"""

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from .core import (
    ALL,
    RISK,
    SQ_DIM,
    Claims,
    Fact,
    between,
    need,
    prime,
    problem,
    rule,
    short,
    small,
    written,
)
from .secret_laws import drawn_law, residues_of


@problem("residues")
def residues(given: dict[str, Any]) -> Any:
    """Read the problem: labels are residues, or equal intervals of Z_q.

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
    entries, numbers = None, f"uniform on Z_{q}{' without 0' if h else ''}"
    if given["secret"]["entries"] is not None:
        entries = drawn_law(given["secret"]["entries"], "entries")
        gaps = {*range(min(entries), max(entries))} - {*entries} - ({0} if h else set())
        even = len(set(entries.values())) == 1 and not gaps
        law = ", all as likely" if even else f" with {chances(entries)}"
        numbers = (
            f"from {min(entries)} to {max(entries)}{law}" if len(entries) > 1 else str(*entries)
        )
    labels, parts = given["labels"], small(given["parts"], 2, q, "parts")
    need(labels != "window", "labels of a window are gone: certify lwr")
    need(labels in ("residue", "interval") and q % parts == 0, "the parts are not equal")
    need(parts == q or labels != "residue", "a residue is one of q parts")
    bits = small(given["bits"], 1, 1 << 20, "bits")
    errors: Counter[int] | None = None
    drawn = "e = 0"
    need(q % 2 == 0 or 2 * n * q <= 1 << bits, "so few bits leave a far from uniform")
    if given["errors"] is not None:
        counts = drawn_law(given["errors"], "errors")
        need(labels == "residue" and sum(counts.values()) == 1 << 64, "errors add up to 2^64")
        drawn = f"e, independent of a, from {min(counts)} to {max(counts)} with {chances(counts)}"
        errors = residues_of(counts, q)
    modulus = q if q % 2 else 2 * (q // parts)
    differ = q % 2 == 1 or modulus == 4
    shows = {
        "residue": f"<a, s> + e mod {q}, {drawn}",
        "interval": f"which of {parts} equal intervals of Z_{q} has <a, s>",
    }
    text = (
        f"A secret s of Z_{q}^{n} is drawn"
        + (f" with {h} entries that are not 0, at places that are all as likely" if h else "")
        + f", entries {numbers}, again until one is a unit. Members are secrets; those that are "
        + f"the same mod {modulus}{'' if differ else ', but for a factor that is a unit,'} count "
        + "as one. An example has a vector a, "
        + ("uniform" if q % 2 == 0 else f"independent numbers of {bits} bits mod {q}")
        + f", and with probability 1/2 it is open and shows {shows[labels]}, written as any "
        + "numbers. "
        + RISK.format("the best constant where a is uniform, both on open examples")
    )
    return SimpleNamespace(
        n=n, q=q, h=h, entries=entries, levels=parts, parts=parts, bits=bits,
        rarest=Fraction(1, parts), errors=errors, modulus=modulus, differ=differ,
        conditions=text + ALL,
    )  # fmt: skip


def chances(law: Mapping[int, int]) -> str:
    """Write how likely numbers are: the problem has it all, the text the largest."""
    largest = Fraction(max(law.values()), sum(law.values()))
    return f"the probabilities of the problem, the largest {short(largest, up=True)}"


@rule("residues", "members")
def laws(problem: Any, members: Fact) -> Fact:
    """Bounds the inner products of members, and how far a query moves on all of them together.

    What holds where a is uniform holds nearly, by the density of a. Mod an odd q an entry is a
    uniform number below W = 2^bits: with x = W mod q its density against uniform is 1 - x/W or 1 +
    (q - x)/W, and that of n entries, by Bernoulli's inequality, at least `least` = 1 - n x/W and at
    most `most` = 1 / (1 - n (q - x)/W). Orthogonal functions then have eigenvalues between least
    and most times their squared norm, and two of them correlations of at most (most - least) /
    (most + least). f is the mean label, codes written as any numbers, less its mean where a is
    uniform, in units of its norm there: functions of <a, s>, orthogonal for members that are not
    alike. (If it is constant there is nothing to learn, and no risk.) The reference draws codes c
    independently of a. A query moves by E[l phi] there, l = open (Pr[c | <a,s>] / Pr[c] - 1), of
    squared norm half of chi^2 = L - 1, with errors q sum_r Pr[e = r]^2 - 1; l sees of phi its
    variance over the codes at open examples, half of all: at most 4 p (1-p) there for codes of
    probability p as near to 1/2 as can be, and for values in [0, 1], as the variance is convex, at
    most (1 - rarest) min(r, 1 - r) where phi has the mean r, so (1 - rarest) min(p0, 1 - p0) on
    average. Bessel multiplies. Vectors of norm at most 1 have a variance over more than two codes
    of at most 1, which is `drift`. As laws of an example members have the squared norm chi^2 / 2
    there. As each is alike to fewer than `alike` others, the k largest eigenvalues add up to at
    most k alike most, and all to the number of members times most.
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
            0, {"upper": written(apart)},
            f"members that are no multiples of each other by a unit have correlation {near}",
        ),
        "sq-dimension": (
            size, {"upper": written(members.upper)}, SQ_DIM.format(between(size, members.upper))
        ),
    }  # fmt: skip
    spread = part * (1 - part)
    return Fact("gram", claims, top=most, least=least, scale=1, alike=members.alike,
                square=square, moves=most * square * spread,
                drift=most * square * (spread if problem.levels == 2 else Fraction(1, 4)),
                moves01=most * square * (1 - rarest) / 2, general=True,
                spectrum=[(most * members.alike, unlike)], public=1)  # fmt: skip
