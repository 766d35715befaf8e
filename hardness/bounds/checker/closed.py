"""Closed forms, once: the checker computes them with integers, `bound` with symbols.

Each function takes the operations that it computes with, as those of `Exact`, then its numbers. Its
docstring is the formula, in the names of its parameters.
"""

import math
from collections.abc import Callable
from fractions import Fraction
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


class Exact:
    """Integers and fractions."""

    binomial, larger, smaller = staticmethod(math.comb), staticmethod(max), staticmethod(min)
    floor: Any = staticmethod(math.floor)
    ceil = staticmethod(math.ceil)

    @staticmethod
    def examples(levels: int, needed: Fraction | int) -> int:
        """The least integer n of at least 0 with levels^n of at least a number."""
        return 0 if needed <= 1 else least(lambda n: levels**n >= needed)


class Shares(Exact):
    """Shares of a continuum: nothing is rounded down."""

    floor: Any = staticmethod(Fraction)


EXACT, SHARES = Exact(), Shares()


def hidden_sets(of: Any, n: Any, m: Any) -> Any:
    """binomial(n, m)"""
    return of.binomial(n, m)


def parity_moves(of: Any, eta: Any) -> Any:
    """(1 - 2 eta)^2 / 4"""
    return (1 - 2 * eta) ** 2 / 4


def fitted(of: Any, lam: Any, b: Any, c: Any, epsilon: Any) -> Any:
    """floor(lam / (b - epsilon c))"""
    return of.floor(lam / (b - epsilon * c))


def ruled_out_by_stat(of: Any, v: Any, tau: Any) -> Any:
    """floor(v / tau^2)"""
    return of.floor(v / tau**2)


def ruled_out_by_vstat(of: Any, w: Any, t: Any) -> Any:
    """floor(3 t w)"""
    return of.floor(3 * t * w)


def ruled_out_within_one_over_t(of: Any, v: Any, t: Any) -> Any:
    """floor(t^2 v / 4)"""
    return of.floor(t**2 * v / 4)


def queries(of: Any, T: Any, K: Any, r: Any) -> Any:
    """max(0, ceil((T - K) / r))"""
    return of.larger(0, of.ceil((T - K) / r))


def information_floor(of: Any, T: Any, K: Any, L: Any) -> Any:
    """ceil(log_L(T / K)), at least 0"""
    return of.examples(L, T / K)


def statistical_dimension(of: Any, N: Any, s: Any) -> Any:
    """floor((N - 1) / (s - 1)), or N if s = 1"""
    return of.floor((N - 1) / (s - 1))
