"""Statistical dimension with average correlation of symmetric families, bracketed and exact.

SDA(gamma) over all subsets [FGRVX17]: the largest q up to N such that every set of at least N/q
members has average correlation at most gamma, over all its ordered pairs, equal ones among them.
From below: Delsarte's linear program [Del73] bounds how large a set of average above gamma can be.
From above: the sets that contain a few fixed places and meet a fixed block often [Fra78].

SDA(gamma) over pair events [BBHLS21]: the largest q up to N such that every set of at least N^2/q^2
ordered pairs of members has average correlation at most gamma. Exact, by sorting overlaps.

Correlations are centred and scaled to norm 1. docs/mathematics.md has the proofs.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpz
from numpy.typing import NDArray

from hardness.lower.johnson import Johnson
from hardness.lower.simplex import maximise
from instances.errors import UsageError
from instances.symmetric import to_float
from instances.threshold import Rational

Array = NDArray[np.float64]
_MANY, _FEW = 48, 32


@dataclass(frozen=True, kw_only=True)
class DualCertificate:
    """No set of `enough` members or more has average correlation above gamma; why.

    inner: y_1 .. y_r >= 0, multipliers of Delsarte's inequalities; average: u >= 0, of the average;
    caps: w_1 .. w_m >= 0, of the valencies. For all i = 1 .. m
    w_i - sum_k y_k E_i(k) - u v_i (c_i - gamma) >= v_i, and enough follows from
    sum y + sum w + u (1 - gamma).
    """

    gamma: Rational
    inner: list[Rational]
    average: Rational
    caps: list[Rational]
    enough: int


@dataclass(frozen=True, kw_only=True)
class CorrelatedSet:
    """The sets that contain a places and meet a block of k others in at least j have an average
    correlation above gamma.

    size: how many they are. k = j = a = 0 stands for any set of `size` members: the pairs of equal
    members alone make its average 1/size.
    """

    a: int
    k: int
    j: int
    size: int
    average: Rational


@dataclass(frozen=True, kw_only=True)
class Bracket:
    """SDA(gamma) over all subsets lies in [lower, upper]; only the lower end certifies hardness."""

    gamma: Rational
    lower: int
    upper: int
    below: DualCertificate
    above: CorrelatedSet | None  # None where the upper end is the number of members

    @property
    def exact(self) -> bool:
        """Whether both ends meet."""
        return self.lower == self.upper


def all_subsets(scheme: Johnson, gamma: Rational) -> Bracket:
    """Bracket SDA(gamma) over all subsets; raises UsageError unless gamma is positive.

    0 says that already the set of all members has a larger average.

    >>> found = all_subsets(Johnson.of([1, -1, 1, -1], n=15), fmpq(1, 10))
    >>> found.lower, found.upper
    (50, 50)
    """
    gamma = fmpq(gamma)
    if gamma <= 0:
        raise UsageError(f"gamma={gamma} given: it must be above 0")
    size = scheme.size
    below = enough(scheme, gamma)
    above = largest_correlated(scheme, gamma)
    return Bracket(
        gamma=gamma,
        lower=_largest_q(size, below.enough - 1),
        upper=_largest_q(size, above.size) if above else size,
        below=below,
        above=above,
    )


def _largest_q(size: int, bad: int) -> int:
    """The largest q with ceil(size/q) > bad, at most `size`."""
    return (size - 1) // bad if bad else size


def enough(scheme: Johnson, gamma: Rational) -> DualCertificate:
    """Bound from above how large a set of members of average correlation above gamma is."""
    m, rank = scheme.m, scheme.rank
    if m > _MANY:  # leaving inequalities out keeps the bound valid, and the rationals short
        rank = min(rank, _FEW)
    if gamma >= 1:
        zero = fmpq(0)
        return DualCertificate(
            gamma=gamma, inner=[zero] * rank, average=zero, caps=[zero] * m, enough=1
        )
    # b_i = a_i/v_i in [0,1], a the inner distribution: its sum over i >= 1 is the size less 1.
    v = [fmpq(x) for x in valencies(scheme)]
    c = [value / scheme.norm for value in reversed(scheme.correlations)]
    average = scheme.average / scheme.norm
    if average >= gamma:
        # u = 1 and the caps prove that only smaller sets can have an average above gamma.
        caps = [value * (1 + near - gamma) for value, near in zip(v[1:], c[1:], strict=True)]
        least = scheme.size + (average > gamma)
        none = [fmpq(0)] * rank
        return DualCertificate(gamma=gamma, inner=none, average=fmpq(1), caps=caps, enough=least)
    eigen = distance_eigenvalues(scheme.n, m, rank)
    rows = [[-fmpq(eigen[i][k]) for i in range(1, m + 1)] for k in range(1, rank + 1)]
    right = [fmpq(1)] * rank
    rows.append([-v[i] * (c[i] - gamma) for i in range(1, m + 1)])
    right.append(1 - gamma)
    found = maximise(v[1:], rows, right)
    # Above gamma the last row has room, so its multiplier makes the bound strict. It is positive:
    # all other rows and caps allow the set of all members, which this row excludes.
    return DualCertificate(
        gamma=gamma,
        inner=found.y[:-1],
        average=found.y[-1],
        caps=found.w,
        enough=_ceiling(found.value + 1),
    )


def valencies(scheme: Johnson) -> list[fmpz]:
    """How many members are at each distance i = m - overlap from one: v_0 .. v_m."""
    n, m = scheme.n, scheme.m
    return [fmpz.bin_uiui(m, i) * fmpz.bin_uiui(n - m, i) for i in range(m + 1)]


def distance_eigenvalues(n: int, m: int, rank: int) -> list[list[fmpz]]:
    """Tabulate E_i(k), the eigenvalues of the graph of distance i: entry [i][k]. [Del73]

    E_i(k) = sum_h (-1)^h C(k,h) C(m-k,i-h) C(n-m-k,i-h).

    >>> distance_eigenvalues(4, 2, 2)
    [[1, 1, 1], [4, 0, -2], [1, -1, 1]]
    """
    table = [[fmpz(0)] * (rank + 1) for _ in range(m + 1)]
    for k in range(rank + 1):
        signed = [(-1) ** h * fmpz.bin_uiui(k, h) for h in range(k + 1)]
        both = [fmpz.bin_uiui(m - k, g) * fmpz.bin_uiui(n - m - k, g) for g in range(m - k + 1)]
        for h, sign in enumerate(signed):
            for g, value in enumerate(both):
                table[h + g][k] += sign * value
    return table


def largest_correlated(scheme: Johnson, gamma: Rational) -> CorrelatedSet | None:
    """Find a large set of members whose average correlation is above gamma."""
    if gamma >= 1:
        return None
    average = scheme.average / scheme.norm
    if average > gamma:  # the set of all members
        return CorrelatedSet(a=0, k=scheme.n, j=scheme.m, size=scheme.size, average=average)
    alone = min(_ceiling(1 / gamma) - 1, scheme.size)  # any so many: their equal pairs are enough
    best = CorrelatedSet(a=0, k=0, j=0, size=alone, average=fmpq(1, alone))
    for a in range(scheme.m if scheme.m <= _MANY else 1):
        block = _Block.of(scheme, a)
        found = _candidates(block, gamma)
        if not found and a > 0:
            break  # containing one place more only makes the sets fewer
        for size, k, j in sorted(found, reverse=True):
            if size <= best.size:
                break
            average = block.average(k, j)
            if average > gamma:  # exact: rounding may have taken a k too large
                best = CorrelatedSet(a=a, k=k, j=j, size=size, average=average)
                break
    return best


def _candidates(block: "_Block", gamma: Rational) -> list[tuple[int, int, int]]:
    """Size, k and j of the largest blocks whose average is above gamma in float64, for each j."""
    out, level = [], to_float(gamma)
    for j in range(1, block.m + 1):
        low, high = j, block.n + 1
        if not block.estimate(j, j) > level:
            continue
        while high - low > 1:  # the average falls with k, or nearly so
            middle = (low + high) // 2
            if block.estimate(middle, j) > level:
                low = middle
            else:
                high = middle
        out += [(block.size(k, j), k, j) for k in range(low, max(j, low - 2) - 1, -1)]
    return out


@dataclass(frozen=True, kw_only=True, eq=False)
class _Block:
    """The members that contain a fixed places: (m-a)-subsets of n-a others, overlaps less a.

    weights: c(a+t)/c(m) = sum_i C(t,i) weights[i].
    """

    a: int
    n: int
    m: int
    weights: list[Rational]

    @staticmethod
    def of(scheme: Johnson, a: int) -> "_Block":
        """Fix a places."""
        column = list(scheme.weights)
        for _ in range(a):
            column = [x + y for x, y in zip(column, [*column[1:], fmpq(0)], strict=True)]
        column = [x / scheme.norm for x in column[: scheme.m - a + 1]]
        return _Block(a=a, n=scheme.n - a, m=scheme.m - a, weights=column)

    def size(self, k: int, j: int) -> int:
        """Count the sets that meet {1..k} in at least j places."""
        return sum(
            math.comb(k, b) * math.comb(self.n - k, self.m - b) for b in range(j, self.m + 1)
        )

    def average(self, k: int, j: int) -> Rational:
        """Compute the average correlation of those sets, exactly.

        With b = |S cap {1..k}| it is sum_i w_i sum_r (E C(b,r) C(m-b,i-r))^2/(C(k,r) C(n-k,i-r)).
        """
        n, m = self.n, self.m
        weight = [
            (b, fmpz(math.comb(k, b) * math.comb(n - k, m - b))) for b in range(j, min(k, m) + 1)
        ]
        total, size = fmpq(0), sum((v for _, v in weight), fmpz(0))
        for i, w in enumerate(self.weights):
            for r in range(i + 1) if w else ():
                pairs = math.comb(k, r) * math.comb(n - k, i - r)
                sets = sum(
                    (v * (math.comb(b, r) * math.comb(m - b, i - r)) for b, v in weight), fmpz(0)
                )
                if sets:
                    total += w * fmpq(sets**2, fmpz(pairs))
        return total / fmpq(size) ** 2

    def estimate(self, k: int, j: int) -> float:
        """Compute it in float64, for the search."""
        n, m = self.n, self.m
        i, r, weights, table = self._tables
        b = np.arange(m + 1)
        logs = np.where(b >= j, _log_binomial(k, b) + _log_binomial(n - k, m - b), -np.inf)
        weight = np.exp(logs - logs.max())
        means = table @ (weight / weight.sum())
        pairs = _log_binomial(k, r) + _log_binomial(n - k, i - r)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.exp(2 * np.log(means) - pairs)
        return float(np.sum(weights * np.where(np.isfinite(pairs), terms, 0.0)))

    @cached_property
    def _tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], Array, Array]:
        from scipy.special import comb

        i, r = np.tril_indices(self.m + 1)
        weights = np.array([to_float(w) for w in self.weights])[i]
        keep = weights > 0
        i, r, b = i[keep], r[keep], np.arange(self.m + 1)
        table = comb(b[None, :], r[:, None]) * comb(self.m - b[None, :], (i - r)[:, None])
        return i, r, weights[keep], table


def _log_binomial(top: int, bottom: NDArray[np.int64]) -> NDArray[np.float64]:
    """ln C(top, bottom) in float64, -inf where it is 0."""
    from scipy.special import gammaln

    inside = (bottom >= 0) & (bottom <= top)
    safe = np.where(inside, bottom, 0).astype(np.float64)
    logs = gammaln(top + 1.0) - gammaln(safe + 1) - gammaln(top - safe + 1)
    return np.where(inside, logs, -np.inf)


def pair_events(scheme: Johnson, gamma: Rational) -> int:
    """Compute SDA(gamma) over pair events exactly; raises UsageError unless gamma is positive.

    >>> pair_events(Johnson.of([1, -1, 1, -1], n=15), fmpq(1, 10))
    6
    """
    gamma = fmpq(gamma)
    if gamma <= 0:
        raise UsageError(f"gamma={gamma} given: it must be above 0")
    size = fmpz(scheme.size)
    pairs, total = fmpz(0), fmpq(0)  # the closest pairs first, per member
    for value, count in zip(reversed(scheme.correlations), valencies(scheme), strict=True):
        c = value / scheme.norm
        if c < gamma:
            # N (total + x/N c) <= gamma (N pairs + x) for x pairs of this distance
            least = max(1, _ceiling(size * (total - gamma * pairs) / (gamma - c)))
            if least <= size * count:
                bad = int(size * pairs) + least - 1
                return math.isqrt((int(size) ** 2 - 1) // bad) if bad else int(size)
        elif total <= gamma * pairs and c == gamma and not pairs:
            return int(size)
        pairs += count
        total += c * count
    return int(size) if total <= gamma * pairs else 0


def _ceiling(value: Rational) -> int:
    return -((-int(value.p)) // int(value.q))
