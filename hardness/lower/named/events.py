"""Statistical dimension over pair events and the low-degree ratio, each bounding the other.

x is the correlation of two random members' labelled examples relative to coins of the same mean,
as in `Overlaps`. SDA(m') is the largest q such that every event of probability at least 1/q^2 over
pairs of members has E[x | event] <= 1/m'. [BBHLS21] The ratio here is that of all degrees in z, on
at most k different ones of n examples: eps^2 = sum_{1<=i<=k} C(n,i) E x^i. The proofs
are in docs/named-mathematics.md.
"""

import math

from flint import fmpq, fmpz

from hardness.lower.named.overlaps import Overlaps
from hardness.lower.named.unknown import Unknown
from hardness.lower.sda import pair_events
from instances.family import require
from instances.threshold import Rational


def dimension(unknown: Unknown, overlaps: Overlaps, level: Rational) -> int:
    """Compute SDA over pair events, up to the number of members: no larger E[x | event] than level.

    level: 1/m', above 0; overlaps: of open examples, or thinned. Exact; 0 where the average over
    all pairs is above the level already. `pair_events` counts in unit-norm correlations c(t)/c(m),
    of which x_t is x_m times as much. Raises UsageError.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=16,m=3,noise=1/10"))
    >>> dimension(unknown, Overlaps.of(unknown), fmpq(1, 100))
    2
    """
    return pair_events(unknown.profile.scheme, level / overlaps.correlations[-1])


def worst_average(overlaps: Overlaps, size: int, q: int) -> Rational:
    """Compute the largest E[x | event] over events of probability at least 1/q^2 of size^2 pairs.

    The closest pairs make it, as many as are needed: SDA(1/level) >= q if and only if this is at
    most the level. Raises UsageError unless 1 <= q <= size.
    """
    require(1 <= q <= size, f"q={q} given: 1 to {size} are allowed, the number of members")
    wanted = fmpz(-(-(size**2) // q**2))
    left, total = wanted, fmpq(0)
    pairs = zip(reversed(overlaps.chances), reversed(overlaps.correlations), strict=True)
    for chance, x in pairs:
        taken = min(left, (chance * fmpz(size) ** 2).p)
        left, total = left - taken, total + taken * x
    return total / wanted


def sample_ratio(overlaps: Overlaps, examples: int, sample_degree: int) -> Rational:
    """Compute eps^2 = sum_{1<=i<=k} C(examples,i) E x^i, the ratio of sample degree k less 1.

    >>> from instances import parse
    >>> unknown = Unknown.of(parse("parity:d=16,m=3"))
    >>> sample_ratio(Overlaps.of(unknown), 10, 2)
    11/91
    """
    return sum(
        (
            math.comb(examples, i) * overlaps.mean_power(i)
            for i in range(1, min(examples, sample_degree) + 1)
        ),
        fmpq(0),
    )


def average_bound(ratio: Rational, examples: int, sample_degree: int, q: int) -> Rational:
    """Bound the k-th power of `worst_average`: q^2 eps^2 (k/n)^k, for k <= n.

    So SDA(n / (k (q eps)^(2/k))) >= q for every q up to the number of members. Its root is
    irrational in general, so it is the power that is returned. After [BBHLS21].
    """
    require(
        1 <= sample_degree <= examples,
        f"sample_degree={sample_degree} given: 1 to {examples} are allowed, the examples",
    )
    return q**2 * ratio * fmpq(sample_degree, examples) ** sample_degree


def ratio_bound(
    overlaps: Overlaps, size: int, level: Rational, q: int, examples: int, sample_degree: int
) -> Rational:
    """Bound eps^2 where SDA(1/level) >= q, 1 <= q <= size.

    With p = ceil(N^2/q^2)/N^2 and x_m the largest correlation it is at most
    sum_{1<=i<=k} C(n,i) ((1-p) level^i + p level x_m^(i-1)).
    """
    require(1 <= q <= size, f"q={q} given: 1 to {size} are allowed, the number of members")
    p, most = fmpq(-(-(size**2) // q**2), size**2), overlaps.correlations[-1]
    return sum(
        (
            math.comb(examples, i) * ((1 - p) * level**i + p * level * most ** (i - 1))
            for i in range(1, min(examples, sample_degree) + 1)
        ),
        fmpq(0),
    )
