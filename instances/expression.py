"""Profiles in words: an arithmetic expression of h and m, evaluated exactly.

The text is parsed by Python's own parser and then walked: what is not in the lists below is
refused, so nothing that a user writes is ever executed.
"""

import ast
import operator
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from instances.errors import UsageError
from instances.parameters import fraction

_MAX_TEXT, _MAX_NODES, _MAX_BITS, _MAX_POWER = 2000, 1000, 4096, 1024

_NAMES: dict[str, Callable[[int, int], int]] = {
    "h": lambda h, m: h,
    "m": lambda h, m: m,
    "parity": lambda h, m: (-1) ** h,
    "majority": lambda h, m: 1 if 2 * h <= m else -1,
}
_FUNCTIONS: dict[str, Callable[..., Fraction | int]] = {
    "threshold": lambda h, t: 1 if h < t else -1,
    "mod": lambda h, r: 1 if h % r == 0 else -1,
    "exactly": lambda h, t: -1 if h == t else 1,
    "abs": lambda h, a: abs(a),
    "min": lambda h, *a: min(a),
    "max": lambda h, *a: max(a),
}
_OPERATORS: dict[type[ast.AST], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = (
    "h, m, numbers, + - * / // % ** and comparisons (1 or 0), parity, majority, threshold(t), "
    "mod(r), exactly(t), abs, min, max, or a list of m+1 numbers"
)


def profile(text: str, m: int) -> tuple[Fraction, ...]:
    """Evaluate a profile at h = 0 .. m, exactly; raises UsageError for what is not allowed.

    >>> [int(v) for v in profile("majority", 4)], [int(v) for v in profile("1-2*(h%3==0)", 3)]
    ([1, 1, 1, -1, -1], [-1, 1, 1, -1])
    >>> [str(v) for v in profile("parity+0.1*majority", 2)]
    ['11/10', '-9/10', '9/10']
    """
    tree = _parse(text)
    if isinstance(tree, ast.List | ast.Tuple):
        if len(tree.elts) != m + 1:
            raise UsageError(
                f"g={text} given with m={m}: a list needs m + 1 = {m + 1} values, one for each "
                f"h = 0..{m}, not {len(tree.elts)}"
            )
        return tuple(_value(node, text, 0, m) for node in tree.elts)
    return tuple(_value(tree, text, h, m) for h in range(m + 1))


def spelling(text: str) -> str:
    """Write an expression in its canonical form: no spaces, no brackets without need.

    >>> spelling(" ( h + 1 ) ** 2 ")
    '(h+1)**2'
    """
    tree = _parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):  # a number keeps its digits: 0.1 is 1/10
            node.value = _Digits(_digits(node, text))
    try:
        return ast.unparse(tree).replace(" ", "")
    except RecursionError as error:
        raise UsageError(f"g={text[:60]} given: it is nested too deeply") from error


class _Digits(str):
    """A number that is written as it was given."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _parse(text: str) -> ast.expr:
    if len(text) > _MAX_TEXT:
        raise UsageError(f"g of {len(text)} characters given: at most {_MAX_TEXT} are allowed")
    text = text.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UsageError(
            f"g={text[:60]} given: it is not an expression; write with {_ALLOWED}"
        ) from error
    if sum(1 for _ in ast.walk(tree)) > _MAX_NODES:
        raise UsageError(f"g={text[:60]} given: it has too many parts")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant):
            _digits(node, text)
    return tree


def _digits(node: ast.Constant, text: str) -> str:
    """The characters of a number as they stand in the text."""
    if isinstance(node.value, _Digits):
        return node.value
    found = ast.get_source_segment(text.strip(), node) or ""
    if type(node.value) not in (int, float) or not found.replace(".", "", 1).isdigit():
        raise UsageError(
            f"g={text[:60]} given: {found[:20]} is not a plain number; write with {_ALLOWED}"
        )
    return found


def _value(node: ast.expr, text: str, h: int, m: int) -> Fraction:
    try:
        found = _walk(node, text, h, m)
    except ZeroDivisionError as error:
        raise UsageError(f"g={text[:60]} given: at h={h}, m={m} it divides by zero") from error
    except RecursionError as error:
        raise UsageError(f"g={text[:60]} given: it is nested too deeply") from error
    return found


def _walk(node: ast.expr, text: str, h: int, m: int) -> Fraction:
    """Evaluate one node at (h, m)."""

    def at(part: ast.expr) -> Fraction:
        return _walk(part, text, h, m)

    match node:
        case ast.Constant():
            out = fraction(_digits(node, text), "g")
        case ast.Name(id=name) if name in _NAMES:
            out = Fraction(_NAMES[name](h, m))
        case ast.UnaryOp(op=ast.USub(), operand=part):
            out = -at(part)
        case ast.UnaryOp(op=ast.UAdd(), operand=part):
            out = at(part)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            out = _power(at(left), at(right))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ) if type(op) in _OPERATORS:
            out = Fraction(_OPERATORS[type(op)](at(left), at(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            if not args or (len(args) > 1 and name not in ("min", "max")):
                raise UsageError(f"g={text[:60]} given: {name} takes one number")
            out = Fraction(_FUNCTIONS[name](Fraction(h), *(at(part) for part in args)))
        case _:
            shown = ast.unparse(node)[:40]
            raise UsageError(
                f"g={text[:60]} given: '{shown}' is not allowed; write with {_ALLOWED}"
            )
    if max(out.numerator.bit_length(), out.denominator.bit_length()) > _MAX_BITS:
        raise UsageError(f"g={text[:60]} given: its values have over {_MAX_BITS} bits")
    return out


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if exponent.denominator != 1 or abs(exponent) > _MAX_POWER:
        raise UsageError(f"an exponent of {exponent} given in g: a whole number up to {_MAX_POWER}")
    size = max(base.numerator.bit_length(), base.denominator.bit_length()) - 1
    if size * abs(exponent) > _MAX_BITS:
        raise UsageError(f"a power of over {_MAX_BITS} bits given in g: take smaller numbers")
    return Fraction(base ** int(exponent))
