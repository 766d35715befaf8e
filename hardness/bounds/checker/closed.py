"""Closed forms, once: the checker computes them with integers, `bound` with symbols.

Each function takes what it computes with, as `EXACT`, then its numbers. Its docstring is its form.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any


def least(holds: Callable[[int], bool]) -> int:
    """The least number of at least 1 for which a condition holds that holds for all above it."""
    few, enough = 0, 1
    while not holds(enough):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if holds(middle) else (middle, enough)
    return enough


def examples(levels: int, needed: Fraction | int) -> int:
    """The least integer n of at least 0 with levels^n of at least a number."""
    return 0 if needed <= 1 else least(lambda n: levels**n >= needed)


EXACT: Any = SimpleNamespace(floor=math.floor, ceil=math.ceil, larger=max, examples=examples)
# What to compute with, of members and of a continuum, whose shares are not rounded.
NUMBERS: Any = {False: EXACT, True: SimpleNamespace(**{**vars(EXACT), "floor": Fraction})}


def fitted(of: Any, lam: Any, b: Any, c: Any, epsilon: Any) -> Any:
    """floor(lam / (b - epsilon c))"""
    return of.floor(lam / (b - epsilon * c))


def ruled_out_by_stat(of: Any, v: Any, tau: Any) -> Any:
    """floor(v / tau^2)"""
    return of.floor(v / tau**2)


def ruled_out_by_vstat(of: Any, w: Any, t: Any) -> Any:
    """floor(3 t w)"""
    return of.floor(3 * t * w)


def queries(of: Any, T: Any, K: Any, r: Any) -> Any:
    """max(0, ceil((T - K) / r))"""
    return of.larger(0, of.ceil((T - K) / r))


def information_floor(of: Any, T: Any, K: Any, L: Any) -> Any:
    """ceil(log_L(T / K)), at least 0"""
    return of.examples(L, T / K)
