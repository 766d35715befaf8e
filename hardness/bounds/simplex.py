"""A linear program over the rationals, solved exactly.

The programs of averages.py have coefficients from 1 to 1e40 and beyond, where float64 solvers
return wrong bases. Few variables, so a dense tableau of exact rationals is fast enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from instances.symmetric import Rational, python_fraction, rational


@dataclass(frozen=True, kw_only=True)
class Solution:
    """An optimal point x, and the multipliers that prove it: y of the rows, w of the caps."""

    value: Fraction
    x: list[Fraction]
    y: list[Fraction]
    w: list[Fraction]


def maximise(
    objective: Sequence[Fraction], rows: Sequence[Sequence[Fraction]], right: Sequence[Fraction]
) -> Solution:
    """Maximise objective . x subject to rows x <= right and 0 <= x_i <= 1, exactly.

    right must be nonnegative, so that x = 0 is feasible. The multipliers y, w >= 0 satisfy
    sum_k y_k rows[k][i] + w_i >= objective[i] for every i, and sum_k y_k right[k] + sum_i w_i is
    the value. Pivots go by the largest coefficient, and by Bland's rule after a degenerate one, so
    it ends.

    >>> found = maximise([3, 2], [[2, 1]], [2])
    >>> found.value, found.x
    (Fraction(7, 2), [Fraction(1, 2), Fraction(1, 1)])
    """
    count, height = len(objective), len(rows)
    # Columns 0 .. count-1 are x, count .. the slacks. table[k] is row k in terms of what is not
    # basic; a variable at its cap is replaced by 1 - itself, so that what is not basic is 0.
    table = [[rational(v) for v in row] for row in rows]
    value = [rational(v) for v in right]
    cost = [rational(v) for v in objective]
    basis = [count + k for k in range(height)]
    column = list(range(count))  # the variable that each column stands for
    flipped = [False] * (count + height)
    total = fmpq(0)
    careful = False
    while True:
        rising = [c for c in range(count) if cost[c] > 0]
        if not rising:
            break
        enter = (
            min(rising, key=lambda c: column[c]) if careful else max(rising, key=lambda c: cost[c])
        )
        own = fmpq(1) if column[enter] < count else None
        limit, leave, at_cap = _leaving(table, value, basis, enter, count, own)
        if limit is None:
            raise ArithmeticError("the linear program is unbounded")
        careful = limit == 0
        total += cost[enter] * limit
        if leave < 0:  # the variable goes from 0 to its cap: flip it
            flipped[column[enter]] ^= True
            for k in range(height):
                value[k] -= table[k][enter]
                table[k][enter] = -table[k][enter]
            cost[enter] = -cost[enter]
            continue
        if at_cap:  # what leaves does so at its cap: flip it first
            flipped[basis[leave]] ^= True
            table[leave] = [-v for v in table[leave]]
            value[leave] = 1 - value[leave]
        _pivot(table, value, cost, leave, enter)
        basis[leave], column[enter] = column[enter], basis[leave]
    x = [fmpq(0)] * (count + height)
    for k, v in enumerate(basis):
        x[v] = value[k]
    x = [1 - v if flip else v for v, flip in zip(x, flipped, strict=True)]
    y, w = [fmpq(0)] * height, [fmpq(0)] * count
    for c, v in enumerate(column):
        if v >= count:
            y[v - count] = -cost[c]
        elif flipped[v]:
            w[v] = -cost[c]
    at, rows_of, caps = ([*map(python_fraction, part)] for part in (x[:count], y, w))
    return Solution(value=python_fraction(total), x=at, y=rows_of, w=caps)


def _leaving(
    table: list[list[Rational]],
    value: list[Rational],
    basis: list[int],
    enter: int,
    count: int,
    own: Rational | None,
) -> tuple[Rational | None, int, bool]:
    """How far a column may rise, the row that stops it (-1: its own cap), and whether at its cap.

    Of rows that stop it at once the one with the first variable is taken, as Bland's rule asks.
    """
    limit, leave, at_cap = own, -1, False
    for k, line in enumerate(table):
        step = line[enter]
        if step > 0:
            ratio, cap = value[k] / step, False
        elif step < 0 and basis[k] < count:
            ratio, cap = (value[k] - 1) / step, True
        else:
            continue
        tie = limit is not None and ratio == limit and leave >= 0
        if limit is None or ratio < limit or (tie and basis[k] < basis[leave]):
            limit, leave, at_cap = ratio, k, cap
    return limit, leave, at_cap


def _pivot(
    table: list[list[Rational]],
    value: list[Rational],
    cost: list[Rational],
    row: int,
    enter: int,
) -> None:
    """Exchange the basic variable of a row with that of a column, in place."""
    inverse = 1 / table[row][enter]
    pivot = [v * inverse for v in table[row]]
    pivot[enter] = inverse
    right = value[row] * inverse
    for k, line in enumerate(table):
        if k == row or not line[enter]:
            continue
        factor = line[enter]
        table[k] = [a - factor * b for a, b in zip(line, pivot, strict=True)]
        table[k][enter] = -factor * inverse
        value[k] -= factor * right
    factor = cost[enter]
    cost[:] = [a - factor * b for a, b in zip(cost, pivot, strict=True)]
    cost[enter] = -factor * inverse
    table[row], value[row] = pivot, right
