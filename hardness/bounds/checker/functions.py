"""Up to 1000 listed functions of uniform signs, given by their tables."""

import math
import operator
import re
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from . import theorem as core
from .reading import fields, listed, need, small, take
from .theorem import Claim, Gram, Known, Members, Terms, Witness, theorem

MEMBERS, SIGNS, VALUES, LARGEST = 1000, 20, 1 << 22, 1 << 31
UNIT, GRID = 1 << 40, 10**9  # grids of irrational correlations, and of claims about them
_LINE = re.compile("(-?[0-9a-f]{1,16}( -?[0-9a-f]{1,16}){0,999})?")  # of a factor
Rows = list[list[int]]


class Functions(NamedTuple):
    """Tables of functions of n signs: bits at all points, or values at the signs that matter.

    centred: at each point the mean of all functions is subtracted to give the members. levels: 2
    if all values are -1 and +1; labels are then the functions, else the members over their norms.
    """

    n: int
    tables: list[Any]
    bits: bool
    centred: bool
    levels: int | None


def read_problem(data: dict[str, Any]) -> Functions:
    """Read the problem: at point i of k signs, sign j is -1 where bit j of i is 1.

    Tables are hexadecimal: bit i is 1 if point i of all signs has the value -1, 0 if it has 1. Or
    they are pairs: signs that a function depends on, and its values at the points of these.
    """
    _, n, centred, rows = take(data, "the problem", kind=None, signs=(1, 1 << 16),
                               centred=None, tables=listed)  # fmt: skip
    need(2 <= len(rows) <= MEMBERS, f"members are not 2 to {MEMBERS}")
    need(type(centred) is bool, "centred is neither true nor false")
    if all(type(row) is str for row in rows):
        hexadecimal = all(re.fullmatch("0|[1-9a-f][0-9a-f]*", row) for row in rows)
        need(hexadecimal and n <= SIGNS, f"a table is not hexadecimal, or of over {SIGNS} signs")
        tables: list[Any] = [int(row, 16) for row in rows]
        need(max(tables) < 1 << (1 << n), "a table has more than 2^n points")
        return Functions(n, tables, bits=True, centred=centred, levels=2)
    tables = [read_table(row, n) for row in rows]
    need(sum(len(values) for _, values in tables) <= VALUES, f"values are over {VALUES}")
    two = all(v in (-1, 1) for _, values in tables for v in values)
    return Functions(n, tables, bits=False, centred=centred, levels=2 if two else None)


def read_table(data: Any, n: int) -> tuple[list[int], list[int]]:
    """Read a table by values: the signs that matter, ascending, and values at their points."""
    need(len(listed(data)) == 2, "a table is a pair")
    on = [small(j, 0, n - 1, "a sign") for j in listed(data[0])]
    values = [small(v, -LARGEST, LARGEST, "a value") for v in listed(data[1])]
    need(len(on) <= SIGNS and on == sorted(set(on)), "signs are not ascending, or too many")
    need(len(values) == 1 << len(on), "a table has other values than one a point")
    return on, values


def gram_of_rows(rows: list[dict[int, int]]) -> Iterator[list[int]]:
    """The rows of V V^T for V given by sparse rows; each is one sum of long integers.

    A column of V is one integer, with `width` bytes per entry: by Cauchy-Schwarz no entry of V V^T
    is above the largest squared norm of a row. `half` is added to entries to keep them positive.
    """
    most = max((sum(v * v for v in row.values()) for row in rows), default=0)
    width = most.bit_length() // 8 + 1
    whole, half, columns = len(rows) * width, 1 << 8 * width - 1, defaultdict[int, int](int)
    for i, row in enumerate(rows):
        for k, v in row.items():
            columns[k] += v << 8 * width * i
    halves = half * (((1 << 8 * whole) - 1) // ((1 << 8 * width) - 1))
    for row in rows:
        line = halves + sum(v * columns[k] for k, v in row.items())
        data = line.to_bytes(whole, "little")
        parts = (data[i : i + width] for i in range(0, whole, width))
        yield [int.from_bytes(part, "little") - half for part in parts]


def inner_products(problem: Functions) -> tuple[Rows, int]:
    """Inner products and their denominator, by 2^n - 2 (number of differences) or Parseval."""
    if problem.bits:
        norm, tables = 1 << problem.n, problem.tables
        return [[norm - 2 * (a ^ b).bit_count() for b in tables] for a in tables], norm
    rows, most = [], max(len(on) for on, _ in problem.tables)
    for on, values in problem.tables:
        sets, sums = [0], [v << most - len(on) for v in values]
        for j in on:  # 2^most times the Walsh coefficients of f
            even, odd = sums[::2], sums[1::2]
            sums = [*map(operator.add, even, odd), *map(operator.sub, even, odd)]
            sets += [subset | 1 << j for subset in sets]
        rows.append({subset: v for subset, v in zip(sets, sums, strict=True) if v})
    return list(gram_of_rows(rows)), 1 << 2 * most


def less_mean(rows: Rows) -> Iterator[list[int]]:
    """count^2 times the inner products of functions minus their mean, row by row."""
    count, sums = len(rows), [sum(row) for row in rows]
    total = sum(sums)
    for row, a in zip(rows, sums, strict=True):
        yield [count * (count * g - a - b) + total for g, b in zip(row, sums, strict=True)]


def root_ends(square: Fraction) -> tuple[Fraction, Fraction]:
    """Lower and upper end of a square root; equal if it is rational."""
    exact = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    low = math.isqrt(square.numerator * GRID**2 // square.denominator)
    return (exact, exact) if exact**2 == square else (Fraction(low, GRID), Fraction(low + 1, GRID))


class Products(NamedTuple):
    """Inner products of all pairs of members, `rows`; norms: their diagonal, squared norms.

    plain: inner products of labels, times `unit`. For values +-1 these are the functions, not
    centred, else the members scaled to norm 1. off: entries of `plain` have errors below it.
    """

    rows: Rows
    norms: list[int]
    plain: Rows
    unit: int
    off: int


@theorem
def products(problem: Functions) -> tuple[Members, Products, list[Claim]]:
    """The inner products of all pairs of members, and their correlations.

    Correlations of members of one norm have one denominator; others UNIT, rounded towards 0.
    """
    plain, unit = inner_products(problem)
    rows = list(less_mean(plain)) if problem.centred else plain
    count, norms = len(rows), [row[i] for i, row in enumerate(rows)]
    need(min(norms) > 0, "a member is 0 everywhere")
    exact = len(set(norms)) == 1
    near, whole = rows, norms[0]
    if not exact:
        near, whole = [], UNIT
        for row, a in zip(rows, norms, strict=True):
            sizes = [math.isqrt((v * v << 80) // (a * b)) for v, b in zip(row, norms, strict=True)]
            near.append([s if v > 0 else -s for s, v in zip(sizes, row, strict=True)])
    most = max(max(map(abs, row[:i]), default=0) for i, row in enumerate(near))
    pairs = ((i, j) for i, row in enumerate(near) for j in range(i) if abs(row[j]) == most)
    total, many = sum(sum(map(abs, row)) for row in near), count**2
    square = Fraction(most, whole) ** 2
    low = high = Fraction(total, whole * many)
    if not exact:
        square = max(Fraction(rows[i][j] ** 2, norms[i] * norms[j]) for i, j in pairs)
        low = Fraction(GRID * total // (whole * many), GRID)
        high = Fraction(min(GRID, -(-GRID * (total + many) // (whole * many))), GRID)
    made = [("largest-correlation", *root_ends(square), "the largest", "this certificate"),
            ("average-correlation", low, high, "the mean of", "FGRVX17")]  # fmt: skip
    claims = [Claim(quantity, low, {"upper": high} if low < high else {},
                    f"{which} |correlation|", source, {})
              for quantity, low, high, which, source in made]  # fmt: skip
    if problem.levels != 2:
        plain, unit = near, whole
    known = Products(rows, norms, plain, unit, off=int(not exact and problem.levels != 2))
    return Members(count=count), known, claims


@theorem
def spread(problem: Functions, members: Members, known: Products, witness: Any) -> Gram:
    """No eigenvalue of the members less their mean is above `top`. The reference is the mean.

    Let A be the matrix of inner products less the mean, C a factor, its lines in hexadecimal, and s
    its scale. R = s^2 (top - A) - C C^T has no entry R_ii below the sum of the other |R_ij|: so
    neither R [Gershgorin] nor R + C C^T has an eigenvalue below 0. Labels of two values are +-1, so
    a query is phi0 + phi1 b, |phi1| <= 1: its means move by E[phi1 f], less their mean, and Bessel
    adds the squares up to top. Of other labels a correlational query is phi1, and they are scaled
    to norm 1 before their mean is taken away. Correlations that are rounded are off by less than e
    = 1/unit, 1 on the diagonal by nothing: less the means no eigenvalue moves by more than count e,
    an entry of the diagonal by 3 e, and their mean by e. The k largest eigenvalues add up to at
    most k top, and all to count `scale`.
    """
    top, lines, scale = take(witness, "the bound on eigenvalues", top="above 0", factor=listed,
                             scale=(1, 1 << 62))  # fmt: skip
    count, rows = members.count, list(less_mean(known.plain))
    need(len(lines) == count, "the factor has not a line for each member")
    right = all(type(line) is str and _LINE.fullmatch(line) for line in lines)
    need(right, "a line of the factor is not hexadecimal, or has over 16 digits a number")
    factor = [dict(enumerate(int(v, 16) for v in line.split())) for line in lines]
    off, whole = Fraction(known.off, known.unit), count**2 * known.unit
    p, q = (top - count * off).as_integer_ratio()
    for i, (row, part) in enumerate(zip(rows, gram_of_rows(factor), strict=True)):
        left = [-(scale**2) * q * a - q * whole * c for a, c in zip(row, part, strict=True)]
        left[i] += scale**2 * p * whole
        need(2 * left[i] >= sum(map(abs, left)), "an eigenvalue may be above top, by its factor")
    norms = [row[i] for i, row in enumerate(rows)]
    least, mean = Fraction(min(norms), whole) - 3 * off, Fraction(sum(norms), count * whole) + off
    full, rest = divmod(count * mean, top)
    return Gram(top=top, least=least, scale=mean, mean=mean - 2 * off, general=problem.levels == 2,
                moves=top, moves01=None, spectrum=[(top, int(full)), (rest, 1)])  # fmt: skip


@theorem
def apart(members: Members, known: Products, witness: Any) -> Claim:
    """SQ-DIM is at least the number of members chosen, and at most `upper`.

    The chosen ones have pairwise correlations of at most one over their number. Among more than
    `upper` members two are in one of `upper` classes, with a correlation above 1/(upper + 1).
    """
    rows, norms, count = known.rows, known.norms, members.count

    def some(data: Any) -> list[int]:
        return [small(i, 0, count - 1, "a member") for i in listed(data)]

    def far(i: int, j: int, size: int) -> bool:
        return bool((rows[i][j] * size) ** 2 <= norms[i] * norms[j])

    few, groups, upper = take(witness, "members that are apart", chosen=some, classes=listed,
                              upper=(1, count))  # fmt: skip
    need(len(set(few)) == len(few) > 0, "a member is chosen twice, or none is")
    right = all(far(i, j, len(few)) for i in few for j in few if i != j)
    need(right, "two of those chosen are too near")
    classes = [some(group) for group in groups]
    every = sorted(i for group in classes for i in group)
    need(every == list(range(count)), "the classes do not hold every member once")
    near = not any(far(i, j, upper + 1) for group in classes for i in group for j in group)
    need(near and len(classes) <= upper, "two members of a class may be apart, or classes are many")
    form = f"members {', '.join(map(str, few))}" if len(few) < 10 else "the members that are chosen"
    return Claim("sq-dimension", len(few), {"upper": upper}, form, "BFJKMR94", {})


@theorem
def every_set(members: Members, known: Products, gamma: Fraction, witness: Any) -> int:
    """Every set of `enough` members or more has average correlation at most gamma.

    Members have one norm, and correlations are in absolute value. A set of s members has an average
    of at most B(s) = 1/s^2 times the s largest sums of s entries of a row. B does not increase, as
    neither does the mean of the s largest entries of a row, nor that of the s largest such means.
    """
    [enough] = take(witness, "sets of members", enough="positive")
    need(len(set(known.norms)) == 1, "members are of different norms")
    closest = [sum(sorted(map(abs, row), reverse=True)[:enough]) for row in known.rows]
    most = sum(sorted(closest, reverse=True)[:enough])
    within = enough > members.count or most <= gamma * known.norms[0] * enough**2
    need(within, "sets of so many may be above gamma")
    return enough


def know(problem: Functions, witness: Witness) -> Known:
    """Facts about the members: inner products, and a bound on eigenvalues if they differ."""
    members, known, near = products(problem)
    if all(v == known.plain[0][0] for row in known.plain for v in row):
        return Known(members, None, near, products=known)
    need("eigenvalue" in witness, "the witness lacks eigenvalue")
    gram = spread(problem, members, known, witness["eigenvalue"])
    return Known(members, gram, near, products=known)


def claims(problem: Functions, terms: Terms, witness: Witness, known: Known) -> list[Claim]:
    """Claims: SQ-DIM, SDA for equal norms, and about learners unless all are one function."""
    members, gram, one_norm = known.members, known.gram, len(set(known.products.norms)) == 1
    names = [("eigenvalue", gram), ("apart", True), ("sda", one_norm)]
    fields(witness, {name for name, there in names if there}, "the witness")
    made = [apart(members, known.products, witness["apart"]), *known.claims]
    if one_norm:
        enough = every_set(members, known.products, terms.gamma, witness["sda"])
        made.append(core.sda(members, terms.gamma, enough))
    if gram is None:
        return made
    asked = [core.stat_rules_out(members, gram, terms.tau, "csq")]
    if problem.levels == 2:
        asked.append(core.stat_rules_out(members, gram, terms.tau))
        asked.append(core.vstat_rules_out_at_least_one_over_t(members, gram, terms.t))
    return made + core.needed_by_learners(problem, terms, known, asked)
