"""What closed forms compute with beside exact numbers: symbols of sympy, and what people read."""

import math
import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.bounds.checker.closed import Exact
from instances.numbers import brief, write

LONG = 16  # characters of a number that is written in full


class ExactRelations:
    """Integers and fractions, and whether relations hold of them."""

    @staticmethod
    def binomial(n: Any, k: Any) -> Fraction:
        """In how many ways k of n are chosen."""
        return Fraction(math.comb(int(n), int(k)))

    @staticmethod
    def floor(value: Any) -> Fraction:
        """The largest integer that is not above a number."""
        return Fraction(math.floor(value))

    @staticmethod
    def ceil(value: Any) -> Fraction:
        """The least integer that is not below a number."""
        return Fraction(math.ceil(value))

    larger, smaller = staticmethod(max), staticmethod(min)
    examples = staticmethod(Exact.examples)
    equal, different = staticmethod(operator.eq), staticmethod(operator.ne)
    above, at_most = staticmethod(operator.gt), staticmethod(operator.le)
    modulo = staticmethod(operator.mod)


EXACT = ExactRelations()


class Symbolic:
    """Expressions and relations of sympy.

    >>> from sympy import Symbol
    >>> Symbolic().binomial(Symbol("d") - 1, 3)
    binomial(d - 1, 3)
    """

    def __init__(self) -> None:
        import sympy

        self.binomial, self.floor, self.ceil = sympy.binomial, sympy.floor, sympy.ceiling
        self.larger, self.smaller, self.modulo = sympy.Max, sympy.Min, sympy.Mod
        self.equal, self.different, self.above, self.at_most = (
            sympy.Eq, sympy.Ne, sympy.Gt, sympy.Le
        )  # fmt: skip
        self._log = sympy.log

    def examples(self, levels: Any, needed: Any) -> Any:
        """The least integer n of at least 0 with levels^n of at least a number."""
        return self.larger(0, self.ceil(self._log(needed, levels)))


def relation(condition: Any) -> str:
    """Write a relation of sympy as Python does.

    >>> import sympy
    >>> relation(sympy.Ne(sympy.Symbol("q"), 2 * sympy.Symbol("p")))
    'q != 2*p'
    """
    return f"{condition.lhs} {condition.rel_op} {condition.rhs}"


@dataclass(frozen=True)
class Shown:
    """What people read: text and LaTeX; firm: how it holds together, 1 a sum .. 5 one thing."""

    text: str
    latex: str
    firm: int = 5

    def within(self, least: int) -> "Shown":
        """In brackets, unless it is at least so firm."""
        if self.firm >= least:
            return self
        return Shown(f"({self.text})", rf"\left({self.latex}\right)")

    def __add__(self, other: "Shown | int") -> "Shown":
        more = shown_number(other)
        return Shown(f"{self.text} + {more.text}", f"{self.latex} + {more.latex}", 1)

    def __radd__(self, other: int) -> "Shown":
        return shown_number(other) + self

    def __sub__(self, other: "Shown | int") -> "Shown":
        less = shown_number(other).within(2)
        return Shown(f"{self.text} - {less.text}", f"{self.latex} - {less.latex}", 1)

    def __rsub__(self, other: int) -> "Shown":
        return shown_number(other) - self

    def __mul__(self, other: "Shown | int") -> "Shown":
        factor = shown_number(other)
        if "1" in (self.text, factor.text):
            return factor if self.text == "1" else self
        a, b = self.within(2), factor.within(2)
        return Shown(f"{a.text}·{b.text}", rf"{a.latex} \cdot {b.latex}", 2)

    def __rmul__(self, other: int) -> "Shown":
        return shown_number(other) * self

    def __truediv__(self, other: "Shown | int") -> "Shown":
        below = shown_number(other)
        if below.text == "1":
            return self
        a, b = self.within(5 if "/" in self.text and self.firm == 2 else 2), below.within(3)
        return Shown(f"{a.text}/{b.text}", rf"\frac{{{self.latex}}}{{{below.latex}}}", 2)

    def __rtruediv__(self, other: int) -> "Shown":
        return shown_number(other) / self

    def __pow__(self, other: "Shown | int") -> "Shown":
        exponent = shown_number(other)
        a, b = self.within(5), exponent.within(5)
        text = f"{a.text}²" if b.text == "2" else f"{a.text}^{b.text}"
        return Shown(text, f"{a.latex}^{{{exponent.latex}}}", 4)

    def __rpow__(self, other: int) -> "Shown":
        return shown_number(other) ** self


def shown_number(value: "Shown | Fraction | int") -> Shown:
    """Write a number, a long one by its first digits and ... after them."""
    if isinstance(value, Shown):
        return value
    value = Fraction(value)
    text = write(value, ratio=True)
    if len(text) > LONG:
        text = brief(int(value), 3) if value.denominator == 1 else brief(value)
        head, _, exponent = text.partition("e")
        latex = rf"{head}\ldots" + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")
        return Shown(f"{head}...{text[len(head) :]}", latex, 2 if exponent else 5)
    top, slash, bottom = text.partition("/")
    return Shown(text, rf"\frac{{{top}}}{{{bottom}}}" if slash else text, 2 if slash else 5)


class Written:
    r"""Closed forms as people read them.

    >>> eight = Written().floor(shown_number(8) ** 2 / 4)
    >>> print(eight.text, eight.latex)
    ⌊8²/4⌋ \left\lfloor \frac{8^{2}}{4} \right\rfloor
    """

    def __init__(self, positive: bool = True) -> None:
        """Write of a value above 0, of which an idle maximum is not shown, or of another."""
        self._positive = positive

    @staticmethod
    def _called(text: str, latex: str, *values: Any) -> Shown:
        shown = [shown_number(value) for value in values]
        return Shown(text.format(*(v.text for v in shown)), latex.format(*(v.latex for v in shown)))

    @staticmethod
    def binomial(n: Any, k: Any) -> Shown:
        """C(n, k)."""
        return Written._called("C({}, {})", r"\binom{{{}}}{{{}}}", n, k)

    @staticmethod
    def floor(value: Any) -> Shown:
        """⌊value⌋."""
        return Written._called("⌊{}⌋", r"\left\lfloor {} \right\rfloor", value)

    @staticmethod
    def ceil(value: Any) -> Shown:
        """⌈value⌉."""
        return Written._called("⌈{}⌉", r"\left\lceil {} \right\rceil", value)

    def larger(self, one: Any, other: Any) -> Shown:
        """The larger of two numbers; of 0 and a value above 0 that value."""
        if self._positive and one == 0:
            return shown_number(other)
        return Written._called("max({}, {})", r"\max\left({}, {}\right)", one, other)

    @staticmethod
    def smaller(one: Any, other: Any) -> Shown:
        """The smaller of two numbers."""
        return Written._called("min({}, {})", r"\min\left({}, {}\right)", one, other)

    @staticmethod
    def modulo(one: Any, other: Any) -> Shown:
        """The rest of a division."""
        return Written._called("({} mod {})", r"\left({} \bmod {}\right)", one, other)

    @staticmethod
    def examples(levels: Any, needed: Any) -> Shown:
        """⌈log_levels(needed)⌉."""
        return Written._called(
            "⌈log_{}({})⌉", r"\left\lceil \log_{{{}}}\left({}\right) \right\rceil", levels, needed
        )
