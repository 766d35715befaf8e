"""Re-derives claims about low-degree polynomials by a recurrence, not by powers.

T = sum_{i<=k} C(n,i) P^i satisfies (1 + P) T' = n P' T - C(n,k+1) (P^(k+1))', and without the last
term it is (1 + P)^n: coefficients one after the other, in integers once x is scaled.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

from flint import fmpq, fmpz

from hardness.check.named.members import Members
from hardness.check.reading import integer, refuse
from hardness.claims.words import counted

_MOST = 10_000_000  # products of long integers in one recurrence for all overlaps
_MOST_BITS = 1 << 33  # of all coefficients of one recurrence

Given = dict[str, str]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """Which polynomials are meant: their degree, and on how many examples a monomial may be."""

    members: Members
    degree: int
    sample_degree: int | None
    share: int  # one in so many examples is open

    @staticmethod
    def read(members: Members, given: Given, share: int) -> "Reach":
        """Read the degree and the sample degree."""
        degree = integer(given["degree"])
        named = given["sample_degree"]
        k = None if named == "any" else integer(named)
        m = members.scheme.chosen
        if m * min(m, degree) * degree > _MOST:
            refuse(f"degree {degree} takes too long to verify")
        if not members.two_valued:
            refuse("labels take more than two values: there is no such claim")
        return Reach(members=members, degree=degree, sample_degree=k, share=share)

    def value(self, examples: int) -> fmpq:
        """The squared norm of the ratio less 1."""
        family = self.members.scheme
        n, m, total = family.ground, family.chosen, fmpz(0)
        # sum_{i<=k} C(examples,i) P^i has no more parts than that
        most = examples if self.sample_degree is None else min(self.sample_degree, examples)
        degree = min(self.degree, most * (m + 1))
        weights = _weights(self.members)[:degree]
        scale = fmpz(1)
        for w in weights:
            scale = scale.lcm(fmpq(w / self.share).q)
        parts = degree // (1 + next((a for a, w in enumerate(weights) if w), degree))
        if parts * (degree * scale.bit_length() + parts * examples.bit_length()) > _MOST_BITS:
            refuse(f"degree {self.degree} takes too much memory to verify")
        for t in range(1, m + 1):
            # P(scale x) has integer coefficients, and so have all its powers
            terms = [
                (a + 1, (w * math.comb(t, a) * scale ** (a + 1) / self.share).p)
                for a, w in enumerate(weights[: t + 1])
                if w
            ]
            if terms:
                found = _truncated(terms, examples, self.sample_degree, degree)
                total += math.comb(m, t) * math.comb(n - m, m - t) * _sum_scaled(found, scale)
        return fmpq(total, scale**degree * self.members.size)

    @property
    def words(self) -> str:
        """The polynomials."""
        degree = f"of degree at most {self.degree}"
        if self.sample_degree is None:
            return degree
        return f"{degree}, each monomial on at most {counted(self.sample_degree, 'examples')},"

    @property
    def kind(self) -> str:
        """The examples."""
        return "examples" if self.share == 2 else "open examples"


def advantage(members: Members, value: fmpq, given: Given) -> str:
    """The squared norm less 1 for examples of the layer."""
    return _advantage(Reach.read(members, given, 2), value, given)


def advantage_open(members: Members, value: fmpq, given: Given) -> str:
    """The squared norm less 1 for open examples."""
    return _advantage(Reach.read(members, given, 1), value, given)


def least(members: Members, value: fmpq, given: Given) -> str:
    """The least number of examples of the layer at which it reaches 1."""
    return _least(Reach.read(members, given, 2), value)


def least_open(members: Members, value: fmpq, given: Given) -> str:
    """The least number of open examples at which it reaches 1."""
    return _least(Reach.read(members, given, 1), value)


def _advantage(reach: Reach, value: fmpq, given: Given) -> str:
    examples, k = integer(given["examples"]), reach.sample_degree
    if k is not None and k > examples:
        refuse("there are fewer examples than the sample degree")
    if reach.degree > examples * (reach.members.scheme.chosen + 1):
        refuse("the degree is beyond that of the whole ratio")
    if value != reach.value(examples):
        refuse(f"the advantage of polynomials {reach.words} is not the one claimed")
    some = counted(examples, reach.kind)
    if value == 0:
        return (
            f"no polynomial {reach.words} in {some} tells labels of a random "
            "member from coins by its mean"
        )
    if value >= 1:
        return f"polynomials {reach.words} in {some}: the bound is vacuous"
    return (
        f"no polynomial {reach.words} in {some} of a random member has its mean "
        f"more than about {_root(value)} standard deviations from that with coins for labels"
    )


def _least(reach: Reach, value: fmpq) -> str:
    if value.q != 1 or value < 0:
        refuse("a number of examples is an integer, and not negative")
    examples = int(value.p)
    if examples == 0:
        if any(_weights(reach.members)[: reach.degree]):
            refuse(f"polynomials {reach.words} do tell some number of examples apart")
        return (
            f"no polynomial {reach.words} in any number of {reach.kind} tells labels of a "
            "random member from coins by its mean"
        )
    if reach.value(examples) < 1 or reach.value(examples - 1) >= 1:
        refuse(f"{examples} is not the least number of examples for polynomials {reach.words}")
    if examples == 1:
        return f"polynomials {reach.words} in {counted(1, reach.kind)}: the bound is vacuous"
    return (
        f"polynomials {reach.words} need at least {examples} {reach.kind} to move their mean by a "
        "standard deviation"
    )


def _root(value: fmpq) -> str:
    """Four digits of the square root, of any size."""
    with localcontext(Context(prec=4, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return f"{(Decimal(int(value.p)) / Decimal(int(value.q))).sqrt():g}"


def _weights(members: Members) -> list[fmpq]:
    """What degree a in z adds to the correlation of two members: differences of it at 0."""
    scheme, noise = members.scheme, members.noise
    fade = fmpq(noise.denominator - 2 * noise.numerator, noise.denominator)
    middle = (max(scheme.values) + min(scheme.values)) / 2
    mu = fade * (scheme.mean - middle) / scheme.half
    column = [fade**2 * c / scheme.half**2 / (1 - mu**2) for c in scheme.c]
    out = []
    while column:
        out.append(column[0])
        column = [b - a for a, b in itertools.pairwise(column)]
    return out


def _truncated(
    terms: list[tuple[int, fmpz]], examples: int, most: int | None, degree: int
) -> list[fmpz]:
    """Coefficients 0 .. degree of sum_{i<=most} C(examples,i) P^i, P = sum of terms p x^e."""
    low, lead = terms[0]
    left = [fmpz(0)] * (degree + 1)
    if most is not None and most < examples and low * (most + 1) <= degree:
        rest = [(e - low, p) for e, p in terms[1:]]
        start = low * (most + 1)
        choices = math.comb(examples, most + 1)
        power = _power(lead, rest, most + 1, degree - start)
        left[start:] = [choices * c for c in power]
    out = [fmpz(1)]
    for j in range(1, degree + 1):
        total = fmpz(0)
        for e, p in terms:
            if e > j:
                break
            total += ((examples + 1) * e - j) * p * out[j - e]
        out.append(total // j - left[j])
    return out


def _power(lead: fmpz, terms: list[tuple[int, fmpz]], exponent: int, degree: int) -> list[fmpz]:
    """Coefficients 0 .. degree of (lead + sum of terms p x^e)^exponent, e >= 1."""
    out = [lead**exponent]
    for j in range(1, degree + 1):
        total = fmpz(0)
        for e, p in terms:
            if e > j:
                break
            total += ((exponent + 1) * e - j) * p * out[j - e]
        out.append(total // (j * lead))
    return out


def _sum_scaled(coefficients: list[fmpz], scale: fmpz) -> fmpz:
    """The sum of c_j scale^(D-j) over j = 1 .. D, by Horner's rule."""
    total = fmpz(0)
    for c in coefficients[1:]:
        total = total * scale + c
    return total


CLAIMS: dict[str, Callable[[Members, fmpq, Given], str]] = {
    "low-degree-advantage": advantage,
    "low-degree-advantage-open": advantage_open,
    "low-degree-examples": least,
    "low-degree-examples-open": least_open,
}
