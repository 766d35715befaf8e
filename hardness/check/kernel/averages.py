"""SDA, the statistical dimension with average correlation of sets of members."""

from fractions import Fraction
from typing import Any

from .core import Fact, between, listed, need, rule, short, small, written
from .hidden_sets import distances

SDA = (
    "SDA, the largest whole q up to N such that any N/q of N members or more have mean "
    "|correlation| at most {}, over their ordered pairs, of one with itself too, or 0 if there is "
    "none, is {}"
)


@rule("hidden-set", "members overlaps", gamma="rational", inner="rational*", average="rational",
      caps="rational*", enough="positive")  # fmt: skip
def every_set(
    problem: Any, members: Fact, overlaps: Fact, gamma: Fraction, inner: list[Fraction],
    average: Fraction, caps: list[Fraction], enough: int,
) -> Fact:  # fmt: skip
    """Every set of `enough` members or more has average correlation at most gamma: weak duality.

    In a set of s members let s a_i ordered pairs be at distance i, of v_i that could be. Then a_0 =
    1, sum a = s, b_i = a_i / v_i <= 1, and sum_i b_i E_i(k) >= 0, for it is a squared length in V_k
    [Del73]. (b_i = 0 where v_i = 0.) Take y, u, w >= 0, the multipliers `inner`, `average` and
    `caps`, with, for i >= 1 and c_i = c(m-i)/c(m),
        w_i - sum_k y_k E_i(k) - u v_i (c_i - gamma) >= v_i.
    Multiply by b_i and add: s - 1 <= sum w + sum y + u (1 - gamma) if the average is above gamma,
    and < if u > 0. Nothing is to be shown for gamma >= 1, or for more than all members.
    """
    m, c = problem.m, overlaps.c
    if gamma < 1 and enough <= members.count:
        table = distances(problem.n, m)
        need(len(caps) == m and len(inner) < len(table[0]), "multipliers are missing or too many")
        need(min([average, *inner, *caps]) >= 0, "a multiplier is negative")
        for i in range(1, m + 1):
            v = table[i][0]
            left = caps[i - 1] - average * v * (c[m - i] / c[m] - gamma)
            left -= sum(y * e for y, e in zip(inner, table[i][1:], strict=False))
            need(left >= v, f"the multipliers fail at distance {i}")
        most = 1 + sum(inner) + sum(caps) + average * (1 - gamma)
        need(enough >= most if average else enough > most, "smaller sets are not ruled out")
    return Fact("sets", gamma=gamma, enough=enough)


@rule("", "members sets")
def sda(_: Any, members: Fact, sets: Fact) -> Fact:
    """SDA(gamma), the largest q <= N such that sets of N/q members or more average at most gamma.

    Averages are over all ordered pairs, of a member and itself as well. If no set of `enough`
    members or more is above gamma it is at least floor((N-1)/(enough-1)), and N for enough = 1.
    [FGRVX17]
    """
    count, bad, at = members.count, sets.enough - 1, {"gamma": written(sets.gamma)}
    least = (count - 1) // bad if bad else count
    text = SDA.format(at["gamma"], f"{'at least ' if bad else ''}{short(least)}")
    at |= {} if bad else {"upper": written(least)}
    return Fact("bound", {"sda-all-subsets": (least, at, text)})


def vstat_gamma(problem: Any, overlaps: Fact, t: int) -> Fraction:
    """The average of c/c(m) at which laws of an example have the average correlation 1/(3t)."""
    mu = problem.fade * (overlaps.mean - problem.middle) / problem.half
    unit = problem.fade**2 / problem.half**2 / 2
    return Fraction((1 - mu**2) / (3 * t * unit * overlaps.c[-1]))


@rule("hidden-set", "overlaps sets", t="positive")
def vstat_sets(problem: Any, overlaps: Fact, sets: Fact, t: int) -> Fact:
    """A query to VSTAT(t) rules out fewer members than are enough for an average of gamma(t).

    The reference has a coin of the mean label mu for the open value; against it, members as laws of
    an example, half of which are open, have correlations (1 - 2 noise)^2 c / (2 (1 - mu^2) half^2),
    1 / (1 - mu^2) being the mean of one over a coin's probability, for signs; none is negative. For
    the s members that a query rules out, by Cauchy-Schwarz: the square of the sum of their
    distances |p - p0| is at most min(p0, 1 - p0) times the sum of the correlations of all ordered
    pairs of them, each with the signs of both distances, and so without. As in `ask` each squared
    distance is above min(p0, 1 - p0) / (3t): so their average correlation is above 1 / (3t).
    [FGRVX17]
    """
    need(problem.levels == 2, "labels have more than two values")
    need(sets.gamma == vstat_gamma(problem, overlaps, t), "gamma is not that of VSTAT(t)")
    what = f"queries to VSTAT({short(t)}), of values in [0,1]"
    return Fact("cap", most=sets.enough - 1, name="vstat", what=what, at={"t": written(t)})


@rule("functions", "members", gamma="share", above="json", enough="positive")
def sums(_: Any, members: Fact, gamma: Fraction, above: Any, enough: int) -> Fact:
    """SDA(gamma) of listed members of one norm, in absolute values.

    A set of s members has an average of at most B(s) = 1/s^2 times the s largest sums of s entries
    of a row. B does not increase: neither does the mean of the s largest entries of a row with s,
    nor that of the s largest such means. So sets of `enough` members or more are not above gamma if
    B(enough) is not; those in `above`, if any, are.
    """
    count, rows, norm = members.count, members.rows, members.norms[0]
    need(len(set(members.norms)) == 1, "members are of different norms")
    few = [small(i, 0, count - 1, "a member") for i in listed(above)]
    total = sum(abs(rows[i][j]) for i in few for j in few)
    need(len(set(few)) == len(few), "a member stands twice in a set")
    need(not few or total > gamma * norm * len(few) ** 2, "not above gamma")
    closest = [sum(sorted(map(abs, row), reverse=True)[:enough]) for row in rows]
    if enough <= count:
        most = sum(sorted(closest, reverse=True)[:enough])
        need(most <= gamma * norm * enough**2, "sets of so many may be above gamma")
    lower = (count - 1) // (enough - 1) if enough > 1 else count
    upper = (count - 1) // len(few) if few else count
    at = {"gamma": written(gamma), "upper": written(upper)}
    text = SDA.format(written(gamma), between(lower, upper))
    return Fact("bound", {"sda-all-subsets": (lower, at, text)})
