"""Formulas as Python texts, computed in three ways: exactly, by sympy, and as what people read."""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hardness.claims import big, digits
from instances.text import exact

LONG = 16  # characters of a number that is written in full
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


def power(base: Any, value: Any) -> int:
    """The least n of at least 0 with base^n >= value."""
    n = max(0, int(math.ceil(value).bit_length() / math.log2(base) * (1 - 1e-12)) - 3)
    while base**n < value:
        n += 1
    return n


_EXACT: dict[str, Callable[..., Any]] = {
    "binomial": lambda n, k: Fraction(math.comb(int(n), int(k))),
    "floor": lambda x: Fraction(math.floor(x)),
    "ceiling": lambda x: Fraction(math.ceil(x)),
    "Max": max,
    "Min": min,
    "Mod": lambda a, b: a % b,
    "power": lambda base, x: Fraction(power(base, x)),
    "Eq": operator.eq,
    "Ne": operator.ne,
    "Gt": operator.gt,
    "Le": operator.le,
}


def names(formula: str) -> list[str]:
    """The names in a formula that are no functions, each once.

    >>> names("floor(v/tau**2) + v")
    ['v', 'tau']
    """
    return [name for name in dict.fromkeys(_NAME.findall(formula)) if name not in _EXACT]


def compute(
    formula: str,
    at: Mapping[str, Any],
    number: Callable[[int], Any] = Fraction,
    functions: Mapping[str, Callable[..., Any]] = _EXACT,
) -> Any:
    """Compute a formula of ours: numbers, names and functions are of one kind, here fractions.

    >>> compute("ceiling((delta*binomial(23, 3) - 1)/25)", {"delta": Fraction(2, 3)})
    Fraction(48, 1)
    """

    def value(node: ast.expr) -> Any:
        match node:
            case ast.BinOp(left, op, right):
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.Call(ast.Name(name), args):
                return functions[name](*map(value, args))
            case ast.Constant(int(written)):
                return number(written)
            case ast.Name(name):
                return at[name]
        raise ValueError(f"{formula}: {ast.dump(node)} is no part of a formula")

    return value(ast.parse(formula, mode="eval").body)


def symbolic(formula: str, at: Mapping[str, Any]) -> Any:
    """Compute a formula by sympy."""
    import sympy

    functions = {name: getattr(sympy, name) for name in _EXACT if name != "power"}
    functions["power"] = lambda base, x: sympy.Max(0, sympy.ceiling(sympy.log(x, base)))
    return compute(formula, at, sympy.Integer, functions)


def relation(condition: Any) -> str:
    """Write a relation of sympy as Python does.

    >>> import sympy
    >>> relation(symbolic("Ne(q, 2*p)", {"q": sympy.Symbol("q"), "p": sympy.Symbol("p")}))
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

    def __add__(self, other: "Shown") -> "Shown":
        return Shown(f"{self.text} + {other.text}", f"{self.latex} + {other.latex}", 1)

    def __sub__(self, other: "Shown") -> "Shown":
        less = other.within(2)
        return Shown(f"{self.text} - {less.text}", f"{self.latex} - {less.latex}", 1)

    def __mul__(self, other: "Shown") -> "Shown":
        if "1" in (self.text, other.text):
            return other if self.text == "1" else self
        a, b = self.within(2), other.within(2)
        return Shown(f"{a.text}·{b.text}", rf"{a.latex} \cdot {b.latex}", 2)

    def __truediv__(self, other: "Shown") -> "Shown":
        if other.text == "1":
            return self
        a, b = self.within(5 if "/" in self.text and self.firm == 2 else 2), other.within(3)
        return Shown(f"{a.text}/{b.text}", rf"\frac{{{self.latex}}}{{{other.latex}}}", 2)

    def __pow__(self, other: "Shown") -> "Shown":
        a, b = self.within(5), other.within(5)
        text = f"{a.text}²" if b.text == "2" else f"{a.text}^{b.text}"
        return Shown(text, f"{a.latex}^{{{other.latex}}}", 4)


def _called(text: str, latex: str) -> Callable[..., Shown]:
    return lambda *args: Shown(
        text.format(*(one.text for one in args)), latex.format(*(one.latex for one in args))
    )


_SHOWN = {
    "binomial": _called("C({}, {})", r"\binom{{{}}}{{{}}}"),
    "floor": _called("⌊{}⌋", r"\left\lfloor {} \right\rfloor"),
    "ceiling": _called("⌈{}⌉", r"\left\lceil {} \right\rceil"),
    "Max": _called("max({}, {})", r"\max\left({}, {}\right)"),
    "Min": _called("min({}, {})", r"\min\left({}, {}\right)"),
    "Mod": _called("({} mod {})", r"\left({} \bmod {}\right)"),
    "power": _called("⌈log_{}({})⌉", r"\left\lceil \log_{{{}}}\left({}\right) \right\rceil"),
}


def shown(formula: str, at: Mapping[str, Shown]) -> Shown:
    r"""Write a formula for people.

    >>> found = shown("floor((a + b)**2/(4*v))", {"a": number(3), "b": number(5), "v": number(1)})
    >>> print(found.text, found.latex)
    ⌊(3 + 5)²/4⌋ \left\lfloor \frac{\left(3 + 5\right)^{2}}{4} \right\rfloor
    """
    return compute(formula, at, number, _SHOWN)


def number(value: Fraction | int) -> Shown:
    """Write a number, a long one by its first digits and ... after them."""
    value, text = Fraction(value), exact(value)
    if len(text) > LONG:
        text = big(int(value)) if value.denominator == 1 else digits(value)
        head, _, exponent = text.partition("e")
        latex = rf"{head}\ldots" + (rf" \cdot 10^{{{int(exponent)}}}" if exponent else "")
        return Shown(f"{head}...{text[len(head) :]}", latex, 2 if exponent else 5)
    top, slash, bottom = text.partition("/")
    return Shown(text, rf"\frac{{{top}}}{{{bottom}}}" if slash else text, 2 if slash else 5)
