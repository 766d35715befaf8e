"""Listed functions of values -1 and +1 on n fair signs, by their tables."""

import math
import re
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

from .core import (
    ALL,
    FAMILY,
    SQ_DIM,
    Claims,
    Fact,
    between,
    listed,
    need,
    problem,
    rule,
    short,
    small,
    written,
)


@problem("functions")
def functions(given: dict[str, Any]) -> Any:
    """Read the problem: a table is hexadecimal, bit i of it is 1 where point i has the value -1."""
    need(set(given) == {"kind", "signs", "tables"}, "fields of the problem")
    n, rows = small(given["signs"], 1, 20, "signs"), listed(given["tables"])
    need(2 <= len(rows) <= 64, "members are not 2 to 64")
    need(all(re.fullmatch("0|[1-9a-f][0-9a-f]*", r) for r in rows), "a table is no hexadecimal")
    tables = [int(r, 16) for r in rows]
    need(max(tables) < 1 << (1 << n), "a table has more than 2^n points")
    text = (
        f"Members are {len(rows)} functions of {n} fair signs with the values -1 and +1, by their "
        "tables, all as likely; labels are their values. "
        f"{FAMILY}"
    )
    return SimpleNamespace(n=n, tables=tables, levels=2, conditions=text + ALL)


@rule("functions")
def products(problem: Any) -> Fact:
    """The inner products, 2^n - 2 (points where two tables differ)."""
    norm, rows = 1 << problem.n, problem.tables
    gram = [[norm - 2 * (a ^ b).bit_count() for b in rows] for a in rows]
    most = max(abs(v) for i, row in enumerate(gram) for v in row[:i])
    total = sum(abs(v) for row in gram for v in row)
    largest, mean = Fraction(most, norm), Fraction(total, norm * len(rows) ** 2)
    near = short(largest, up=True)
    text = f"two different members have correlation at most {near}, in absolute value"
    average = f"the average of the absolute correlations of all pairs is {short(mean)}"
    claims: Claims = {
        "largest-correlation": (largest, {}, text),
        "average-correlation": (mean, {}, average),
    }
    return Fact("members", claims, count=len(rows), gram=gram, norm=norm)


def definite(matrix: list[list[int]]) -> bool:
    """Whether a symmetric integer matrix is positive definite: all leading minors are above 0.

    They are the pivots of elimination without fractions. [Bareiss; Sylvester]
    """
    rows, last = [row[:] for row in matrix], 1
    for k, pivot_row in enumerate(rows):
        pivot = pivot_row[k]
        if pivot <= 0:
            return False
        for row in rows[k + 1 :]:
            lead = row[k]
            for j in range(k + 1, len(rows)):
                row[j] = (row[j] * pivot - lead * pivot_row[j]) // last
        last = pivot
    return True


@rule("functions", "members", top="rational")
def spread(problem: Any, members: Fact, top: Fraction) -> Fact:
    """No eigenvalue of the members less their mean is `top` or above. The reference is the mean.

    Labels are +-1, so a query is phi0 + phi1 b, |phi1| <= 1: its means move by E[phi1 f], less
    their mean, and Bessel adds the squares up to top.
    """
    count, norm, gram = members.count, members.norm, members.gram
    sums = [sum(row) for row in gram]
    less = [
        [count**2 * g - count * (a + b) + sum(sums) for g, b in zip(row, sums, strict=True)]
        for row, a in zip(gram, sums, strict=True)
    ]  # count^2 norm times the inner products
    unit = count**2 * norm
    wanted = [
        [(top.numerator * unit if i == j else 0) - top.denominator * v for j, v in enumerate(row)]
        for i, row in enumerate(less)
    ]
    need(definite(wanted), "an eigenvalue is not below top")
    squares = [Fraction(less[i][i], unit) for i in range(count)]
    full, rest = divmod(sum(squares), top)
    return Fact("gram", top=top, least=min(squares), scale=sum(squares) / count, alike=1,
                general=True, moves=top, moves01=None, mean=sum(squares) / count,
                spectrum=[(top, int(full)), (rest, 1)])  # fmt: skip


@rule("functions", "members", top="rational")
def weighted(problem: Any, members: Fact, top: Fraction) -> Fact:
    """As `mixture`: no eigenvalue of members less their mean b, weighed by 1/(1-|b|), is >= top."""
    count, rows, scale = members.count, problem.tables, math.lcm(*range(1, members.count + 1))
    less, unit = [[0] * count for _ in rows], count * scale << problem.n
    for point in range(1 << problem.n):
        down = [row >> point & 1 for row in rows]
        minus, fewer = sum(down), min(sum(down), count - sum(down))
        if fewer:  # f - b is 2 minus/count or 2 (minus - count)/count, 1 - |b| = 2 fewer/count
            f = [minus - count if d else minus for d in down]
            for i, row in enumerate(less):
                for j in range(count):
                    row[j] += 2 * scale // fewer * f[i] * f[j]
    wanted = [[(top.numerator * unit if i == j else 0) - top.denominator * v
               for j, v in enumerate(row)] for i, row in enumerate(less)]  # fmt: skip
    need(definite(wanted), "a weighted eigenvalue is not below top")
    return Fact("gram", moves=None, moves01=top / 2, general=True)


@rule("functions", "members", chosen="json", classes="json", upper="positive")
def apart(_: Any, members: Fact, chosen: Any, classes: Any, upper: int) -> Fact:
    """SQ-DIM is at least the number of members chosen, and at most `upper`.

    Those chosen have pairwise correlations of at most one over their number. Of more than `upper`
    members, two are in one of as many classes, where all correlations are above 1/(upper + 1).
    """
    gram, norm, every = members.gram, members.norm, sorted(i for one in classes for i in one)
    few = [small(i, 0, members.count - 1, "a member") for i in listed(chosen)]
    need(every == list(range(members.count)), "the classes do not hold every member once")
    near = all(abs(gram[i][j]) * len(few) <= norm for i in few for j in few if i != j)
    need(near and len(set(few)) == len(few) > 0, "two of those chosen are too near")
    far = all(abs(gram[i][j]) * (upper + 1) > norm for c in classes for i in c for j in c)
    need(far and len(classes) <= upper, "two members of a class may be apart, or classes are many")
    text = SQ_DIM.format(between(len(few), upper))
    return Fact("bound", {"sq-dimension": (len(few), {"upper": written(upper)}, text)})
