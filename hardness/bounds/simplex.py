"""A linear program over the rationals, solved exactly.

The programs of multipliers have coefficients from 1 to 1e40 and beyond, for which float64 solvers
return wrong bases. They have few variables, so a dense tableau of rationals is fast enough.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import fmpq_mat

from instances.symmetric import python_fraction, rational


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
    the value. A pivot has the largest coefficient, or follows Bland's rule after a degenerate
    pivot; so the method ends.

    >>> solution = maximise([3, 2], [[2, 1]], [2])
    >>> solution.value, solution.x
    (Fraction(7, 2), [Fraction(1, 2), Fraction(1, 1)])
    """
    count, last = len(objective), len(rows) + len(objective)
    lines: list[list[Any]] = [[*row, most] for row, most in zip(rows, right, strict=True)]
    lines += [[int(i == j) for j in range(count)] + [1] for i in range(count)]
    lines.append([*objective, 0])
    # A line writes a basic variable in the nonbasic ones, which are the columns. Variables are
    # numbered: first x, then the slacks.
    table = fmpq_mat(last + 1, count + 1, [rational(v) for line in lines for v in line])
    column, basis, degenerate = list(range(count)), list(range(count, count + last)), False
    while rising := [c for c in range(count) if table[last, c] > 0]:
        if degenerate:
            enter = min(rising, key=lambda c: column[c])
        else:
            enter = max(rising, key=lambda c: table[last, c])
        stops = [k for k in range(last) if table[k, enter] > 0]  # never empty, as x <= 1
        step, _, leave = min((table[k, count] / table[k, enter], basis[k], k) for k in stops)
        degenerate = step == 0
        pivot = table[leave, enter]
        down = fmpq_mat(last + 1, 1, [table[k, enter] for k in range(last + 1)])
        across = fmpq_mat(1, count + 1, [table[leave, c] / pivot for c in range(count + 1)])
        down[leave, 0] -= 1
        table -= down * across
        for k in range(last + 1):
            table[k, enter] = -down[k, 0] / pivot
        table[leave, enter] = 1 / pivot
        basis[leave], column[enter] = column[enter], basis[leave]
    point, prices = [Fraction(0)] * (count + last), [Fraction(0)] * (count + last)
    for k, variable in enumerate(basis):
        point[variable] = python_fraction(table[k, count])
    for c, variable in enumerate(column):
        prices[variable] = python_fraction(-table[last, c])
    y, w = prices[count : count + len(rows)], prices[count + len(rows) :]
    return Solution(value=python_fraction(-table[last, count]), x=point[:count], y=y, w=w)
