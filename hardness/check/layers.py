"""Do the heads of the layer that a spec builds compute the labels of its hidden sets, exactly?"""

import itertools
from fractions import Fraction
from typing import Any

from flint import fmpq

from hardness.check.verdict import refuse
from instances.capabilities import PROVED_AS, SCHEME
from instances.errors import ToolkitError
from instances.family import Family
from instances.threshold import rational


def check_layer(family: Family) -> None:
    """Evaluate the exact heads of a family of hidden sets in every case; raises Refuted."""
    twin, view, _ = PROVED_AS.of(family) or (SCHEME.need(family), "", family)
    if view == "one-head":
        _check_map(family, [rational(Fraction(v)) for v in twin.values])
    elif view == "three-tokens":
        _check_three_tokens(family, twin.m)
    else:
        _check_heads(twin if view == "among-others" else family)


def _check_heads(family: Any) -> None:
    """B(h) = sum_i a_i (x_h - u_i)/(x_h + u_i), x_h = rho^2h, is g(h) for every h.

    Of hardmax attention, sum_i a_i sign(h - u_i). h = 0 where a head counts nothing.
    """
    rho, hard = rational(family.rho), family.kind == "hardmax"
    for h, value in enumerate(family.values):
        total = fmpq(0)
        for head in family.heads:
            count = h * head.slope
            x = fmpq(count) if hard else rho ** (2 * count)
            total += head.a * (x - head.u) / (abs(x - head.u) if hard else x + head.u)
        if total != rational(Fraction(value)):
            refuse(f"the heads of its spec do not compute its labels: B({h}) is not {value}")


def _check_map(family: Any, values: list[fmpq]) -> None:
    """The public map is odd, and takes the one head's values, which rise in (0, 1), to the labels.

    They are r(h) = (x_h - u)/(x_h + u), and 1 on closed examples.
    """
    (head,), (start, *nodes, end) = family.heads, family.nodes
    rho = rational(family.rho)
    wanted = [(rho ** (2 * h) - head.u) / (rho ** (2 * h) + head.u) for h in range(len(values))]
    at = [rational(place) for place, _ in nodes]
    rising = all(a < b for a, b in itertools.pairwise([fmpq(0), *at, fmpq(1)]))
    kept = (start, end[0], head.a, head.slope) == ((0, 0), 1, 1, 1)
    if not rising or not kept or at != wanted or [rational(v) for _, v in nodes] != values:
        refuse("the head of its spec and the map after it do not compute its labels")


def _check_three_tokens(family: Any, m: int) -> None:
    """Evaluate sum_i a_i (p - u_i)/(p + u_i) in every case of a row, where the spec builds a layer.

    One other token is odd, at h places, and the next differs at g: p = (1 + x_g)/x_h, the label is
    (-1)^h. The row is odd: p = 1/(x_h + x_g), the label (-1)^(h+g). x_h = rho^(-2 slope h).
    """
    try:
        heads = family.heads
    except ToolkitError:
        return  # too many digits for float64: that there are such heads is a lemma of the kernel
    rho = rational(family.rho)
    for h, g in itertools.product(range(m + 1), repeat=2):
        sums = [fmpq(0), fmpq(0)]
        for head in heads:
            steps = int(2 * head.slope)
            x, y = rho ** (-steps * h), rho ** (-steps * g)
            for i, p in enumerate(((1 + y) / x, 1 / (x + y))):
                sums[i] += head.a * (p - head.u) / (p + head.u)
        if sums != [(-1) ** h, (-1) ** (h + g)] or sum(head.a for head in heads):
            refuse(f"the heads of its spec do not compute its labels where h = {h}, {g}")
