"""Listed functions of fair signs, by their tables: up to 5000 of them.

Correlations are exact. Eigenvalues are not computed but bounded: a certificate shows a matrix that
is almost a factor, or weights, and what remains is compared row by row.
"""

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import mul
from types import SimpleNamespace
from typing import Any

from .core import (
    ALL,
    FAMILY,
    FIELDS,
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

MEMBERS, SIGNS, VALUES, LARGEST = 5000, 20, 1 << 22, 1 << 31
UNIT, GRID = 1 << 40, 10**9  # of correlations that are no rationals, and of what is said of them
MOST, CALLS = 500, 100_000  # members that are searched for, and steps of a search
Rows = Sequence[Sequence[int]]


@problem("functions")
def functions(given: dict[str, Any]) -> Any:
    """Read the problem: at point i of k signs, sign j is -1 where bit j of i is 1.

    Tables are hexadecimal, of functions of all signs: bit i is 1 where point i has the value -1, 0
    where it has 1; or they are pairs: the signs that a function depends on, and integers, its
    values at the points of these. centred: members are the functions less their mean.
    """
    need(set(given) == {"kind", "signs", "centred", "tables"}, FIELDS)
    rows, centred = listed(given["tables"]), given["centred"]
    need(2 <= len(rows) <= MEMBERS, f"members are not 2 to {MEMBERS}")
    need(type(centred) is bool, "centred is neither true nor false")
    bits = all(type(row) is str for row in rows)
    n = small(given["signs"], 1, SIGNS if bits else 1 << 16, "signs")
    tables: Any = [table(row, n) for row in ([] if bits else rows)]
    need(sum(len(values) for _, values in tables) <= VALUES, f"values are over {VALUES}")
    two = all(v in (-1, 1) for _, values in tables for v in values)
    if bits:
        need(all(re.fullmatch("0|[1-9a-f][0-9a-f]*", r) for r in rows), "a table is no hexadecimal")
        tables = [int(row, 16) for row in rows]
        need(max(tables) < 1 << (1 << n), "a table has more than 2^n points")
    what = "with the values -1 and +1, by their tables" if two else "by their tables"
    if not two:
        what += f"{', each less the mean of all' if centred else ''}, scaled to norm 1"
    text = (
        f"Members are {len(rows)} functions of {n} fair signs {what}, all as likely; labels are "
        f"their values. {FAMILY}"
    )
    if two and centred:
        text += "Correlations, SQ-DIM and SDA are of members less the mean of all. "
    scaled = {} if two else {"scaled": "norm 1 with h, E h^2 <= 1"}
    return SimpleNamespace(n=n, tables=tables, bits=bits, two=two, centred=centred,
                           levels=2 if two else None, conditions=text + ALL, **scaled)  # fmt: skip


def table(given: Any, n: int) -> tuple[list[int], list[int]]:
    """Read a table by values: which signs, ascending, and the values at their points."""
    need(len(listed(given)) == 2, "a table is a pair")
    on = [small(j, 0, n - 1, "a sign") for j in listed(given[0])]
    values = [small(v, -LARGEST, LARGEST, "a value") for v in listed(given[1])]
    need(len(on) <= SIGNS and on == sorted(set(on)), "signs are not ascending, or too many")
    need(len(values) == 1 << len(on), "a table has other values than one a point")
    return on, values


def spectrum(on: list[int], values: list[int]) -> dict[int, int]:
    """2^k times the means of f times products of signs, those that are not 0, by which signs."""
    sets = [0]
    for j in on:
        values = [a + b for a, b in zip(values[::2], values[1::2], strict=True)] + [
            a - b for a, b in zip(values[::2], values[1::2], strict=True)
        ]
        sets += [one | 1 << j for one in sets]
    return {one: v for one, v in zip(sets, values, strict=False) if v}


def squares(rows: list[dict[int, int]]) -> Iterator[list[int]]:
    """The rows of V V^T, V by its rows, one after the other: each is one sum of long integers.

    A column is one integer, with so many bytes an entry: by Cauchy and Schwarz no entry of V V^T
    is above the largest squared norm of a row. Half of what the bytes hold is added to each.
    """
    most = max((sum(v * v for v in row.values()) for row in rows), default=0)
    width = most.bit_length() // 8 + 1
    half, columns = 1 << 8 * width - 1, defaultdict[int, int](int)
    for i, row in enumerate(rows):
        for k, v in row.items():
            columns[k] += v << 8 * width * i
    halves = half * (((1 << 8 * width * len(rows)) - 1) // ((1 << 8 * width) - 1))
    for row in rows:
        line = halves + sum(v * columns[k] for k, v in row.items())
        yield parted(line, len(rows), width, half)


def parted(line: int, count: int, width: int, half: int) -> list[int]:
    """Part an integer into entries of so many bytes, each with a half added."""
    data, whole = line.to_bytes(count * width, "little"), int.from_bytes
    return [whole(data[i : i + width], "little") - half for i in range(0, count * width, width)]


def inner(problem: Any) -> tuple[Rows, int]:
    """The inner products, and by what they are to be divided.

    By 2^n - 2 (points where two tables differ), or by Parseval's identity.
    """
    if problem.bits:
        norm, tables = 1 << problem.n, problem.tables
        return [array("q", [norm - 2 * (a ^ b).bit_count() for b in tables]) for a in tables], norm
    most = max(len(on) for on, _ in problem.tables)
    rows = [{one: v << most - len(on) for one, v in spectrum(on, values).items()}
            for on, values in problem.tables]  # fmt: skip
    return [array("q", row) for row in squares(rows)], 1 << 2 * most


def less_mean(rows: Rows) -> Iterator[list[int]]:
    """count^2 times the inner products of functions less their mean, row by row."""
    count, sums = len(rows), [sum(row) for row in rows]
    total = sum(sums)
    for row, a in zip(rows, sums, strict=True):
        yield [count * (count * g - a - b) + total for g, b in zip(row, sums, strict=True)]


def root(square: Fraction) -> tuple[Fraction, Fraction]:
    """Two ends of a square root, the same where it is rational."""
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    low = math.isqrt(square.numerator * GRID**2 // square.denominator)
    return (exact, exact) if exact**2 == square else (Fraction(low, GRID), Fraction(low + 1, GRID))


@rule("functions")
def products(problem: Any) -> Fact:
    """The inner products of all pairs of members, and their correlations.

    Where members have one norm these are rationals of one denominator; else each is rounded to one
    of UNIT, towards 0.
    """
    plain, unit = inner(problem)
    rows: Rows = [array("q", row) for row in less_mean(plain)] if problem.centred else plain
    count, norms = len(rows), [row[i] for i, row in enumerate(rows)]
    need(min(norms) > 0, "a member is 0 everywhere")
    exact = len(set(norms)) == 1
    near, whole = (rows, norms[0]) if exact else (rounded(rows, norms), UNIT)
    most = max(max(map(abs, row[:i]), default=0) for i, row in enumerate(near))
    pairs = ((i, j) for i, row in enumerate(near) for j in range(i) if abs(row[j]) == most)
    if exact:
        largest = root(Fraction(most, whole) ** 2)
    else:
        largest = root(max(Fraction(rows[i][j] ** 2, norms[i] * norms[j]) for i, j in pairs))
    total, many = sum(sum(map(abs, row)) for row in near), count**2
    mean = 2 * (Fraction(total, whole * many),)
    if not exact:
        low, high = GRID * total // (whole * many), -(-GRID * (total + many) // (whole * many))
        mean = Fraction(low, GRID), Fraction(min(GRID, high), GRID)
    if not problem.two:
        plain, unit = near, whole
    ends = [{} if low == high else {"upper": written(high)} for low, high in (largest, mean)]
    least = "" if mean[0] == mean[1] else "at most "
    claims: Claims = {
        "largest-correlation": (
            largest[0], ends[0],
            f"two different members have correlation at most {short(largest[1], up=True)}, in "
            "absolute value",
        ),
        "average-correlation": (
            mean[0], ends[1],
            "the average of |correlation| over all ordered pairs of members, of one with itself "
            f"too, is {least}{short(mean[1], up=bool(least))}",
        ),
    }  # fmt: skip
    return Fact("members", claims, count=count, rows=rows, norms=norms, plain=plain, unit=unit,
                off=int(not exact and not problem.two))  # fmt: skip


def rounded(rows: Rows, norms: list[int]) -> Rows:
    """Correlations in units of 1/UNIT, towards 0."""
    found = []
    for row, a in zip(rows, norms, strict=True):
        sizes = [math.isqrt((v * v << 80) // (a * b)) for v, b in zip(row, norms, strict=True)]
        found.append(array("q", [s if v > 0 else -s for s, v in zip(sizes, row, strict=True)]))
    return found


def bounded(rows: Iterator[list[int]], whole: int, top: Fraction, proof: Any) -> None:
    """No eigenvalue of a symmetric matrix A, its rows over `whole`, is above top.

    By a factor C, a row for each of A, and a scale s: R = s^2 (top - A) - C C^T has no entry R_ii
    below the sum of the other |R_ij|. So R has no eigenvalue below 0 [Gershgorin], nor has R + C
    C^T. By weights w > 0: with sum_j |A_ij| w_j <= top w_i no eigenvalue is above top [Collatz;
    Wielandt].
    """
    p, q = top.numerator, top.denominator
    if set(proof) == {"weights"}:
        weights = [small(w, 1, 1 << 60, "a weight") for w in listed(proof["weights"])]
        for row, own in zip(rows, weights, strict=True):
            reach = q * sum(map(mul, map(abs, row), weights))
            need(reach <= p * whole * own, "an eigenvalue may be above top, by its weights")
        return
    factor, square = scaled(proof)
    for i, (row, part) in enumerate(zip(rows, squares(factor), strict=True)):
        rest = [-square * q * a - q * whole * c for a, c in zip(row, part, strict=True)]
        rest[i] += square * p * whole
        need(2 * rest[i] >= sum(map(abs, rest)), "an eigenvalue may be above top, by its factor")


def scaled(proof: Any) -> tuple[list[dict[int, int]], int]:
    """Read a factor, hexadecimal, a row for each of a matrix, and the square of its scale."""
    need(set(proof) == {"factor", "scale"} and len(listed(proof["factor"])) <= 1024, "no factor")
    factor = [dict(enumerate(int(v, 16) for v in row.split())) for row in proof["factor"]]
    need(all(abs(v) < 1 << 64 for row in factor for v in row.values()), "a factor is too large")
    return factor, small(proof["scale"], 1, 1 << 62, "the scale") ** 2


@rule("functions", "members", top="rational", proof="json")
def spread(problem: Any, members: Fact, top: Fraction, proof: Any) -> Fact:
    """No eigenvalue of the members less their mean is above `top`. The reference is the mean.

    Labels of two values are +-1, so a query is phi0 + phi1 b, |phi1| <= 1: its means move by
    E[phi1 f], less their mean, and Bessel adds the squares up to top. Of other labels a
    correlational query is phi1. Correlations that are rounded are off by less than 1/unit; so the
    matrix less its means is off by less than count/unit in norm, an entry of its diagonal, being 1
    before, by 3/unit and their mean by 1/unit. The k largest eigenvalues add up to no more than k
    top, and than the sum of all, count times `scale`.
    """
    count, unit, rows = members.count, members.unit, members.plain
    off, whole, sums = Fraction(members.off, unit), count**2 * unit, [sum(r) for r in rows]
    norms = [count * (count * rows[i][i] - 2 * sums[i]) + sum(sums) for i in range(count)]
    least, mean = Fraction(min(norms), whole) - 3 * off, Fraction(sum(norms), count * whole) + off
    bounded(less_mean(rows), whole, top - count * off, proof)
    full, rest = divmod(count * mean, top)
    return Fact("gram", top=top, least=least, scale=mean, mean=mean - 2 * off, alike=1,
                general=problem.two, moves=top, moves01=None,
                spectrum=[(top, int(full)), (rest, 1)])  # fmt: skip


def together(near: list[int], left: int, wanted: int, calls: Iterator[int]) -> bool:
    """Whether `wanted` of the members `left` are near in pairs; sets of members are integers.

    Members are put into classes of such as are not near. Each class has at most one of those that
    are wanted, so one of them is beyond the first wanted - 1 classes: the last of these is tried
    first, and left out once it was.
    """
    if not wanted:
        return True
    need(next(calls, None) is not None, "the search takes too long")
    rest, classes, tried = left, 0, []
    while rest:
        free, classes = rest, classes + 1
        while free:
            v = (free & -free).bit_length() - 1
            rest, free = rest ^ 1 << v, free & ~(near[v] | 1 << v)
            if classes >= wanted:
                tried.append(v)
    for v in reversed(tried):
        if together(near, left & near[v], wanted - 1, calls):
            return True
        left ^= 1 << v
    return False


@rule("functions", "members", chosen="json", classes="json", order="json", upper="positive")
def apart(_: Any, members: Fact, chosen: Any, classes: Any, order: Any, upper: int) -> Fact:
    """SQ-DIM is at least the number of members chosen, and at most `upper`.

    Those chosen have pairwise correlations of at most one over their number. Of more than `upper`
    members, two are in one of as many classes, where all correlations are above 1/(upper + 1). Or
    a search among members in some order finds none that are within it.
    """
    rows, norms = members.rows, members.norms
    few = [small(i, 0, members.count - 1, "a member") for i in listed(chosen)]
    near = all((rows[i][j] * len(few)) ** 2 <= norms[i] * norms[j]
               for i in few for j in few if i != j)  # fmt: skip
    need(near and len(set(few)) == len(few) > 0, "two of those chosen are too near")
    every = sorted(order if order is not None else (i for one in classes for i in one))
    need(every == list(range(members.count)), "the classes do not hold every member once")
    if order is None:
        far = all((rows[i][j] * (upper + 1)) ** 2 > norms[i] * norms[j]
                  for one in classes for i in one for j in one)  # fmt: skip
        need(
            far and len(classes) <= upper,
            "two members of a class may be apart, or classes are many",
        )
    else:
        need(upper < MOST, "a search of so many members is too deep")
        graph = [sum(1 << b for b, j in enumerate(order) if j != i
                     and (rows[i][j] * (upper + 1)) ** 2 <= norms[i] * norms[j])
                 for i in order]  # fmt: skip
        found = together(graph, (1 << members.count) - 1, upper + 1, iter(range(CALLS)))
        need(not found, "more members are apart")
    text = SQ_DIM.format(between(len(few), upper))
    return Fact("bound", {"sq-dimension": (len(few), {"upper": written(upper)}, text)})
