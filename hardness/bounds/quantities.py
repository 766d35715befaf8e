"""Claimed quantities in words, and which bounds are trivial (vacuous)."""

import re
from fractions import Fraction
from typing import Any

from instances.numbers import brief, parse, write
from instances.result import Math

VACUOUS = "vacuous"
_FULL_LENGTH = 16  # characters of a number that is written in full
_BRACKETS = {"floor": "⌊⌋", "ceil": "⌈⌉", "sqrt": ("√(", ")")}
_LATEX = {"⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "·": r" \cdot ",
          "√": r"\surd ", "...": r"\ldots "}  # fmt: skip
# By the end of a quantity's name, the largest lower bound that is trivial. Every learner asks a
# query, sees an example, takes a step or has a feature; and a bound of 2 queries or examples only
# excludes learners that use one.
_VACUOUS_UP_TO = {"-queries": 2, "-floor": 2, "-steps": 1, "-features": 1}
NONE_ENOUGH = "none enough"


def is_upper(quantity: str) -> bool:
    """Return whether a claim bounds its quantity from above, so that it is rounded up.

    >>> is_upper("stat-success"), is_upper("stat-queries")
    (True, False)
    """
    return quantity.startswith("low-degree-advantage") or quantity.endswith(
        ("-success", "-at-most", "-correlation")
    )


def bound(quantity: str, value: int | None) -> str:
    """Write a certified bound, or that it is vacuous; value None means that no number is enough.

    >>> bound("stat-queries", 455), bound("stat-queries", 2), bound("stat-queries", None)
    ('455', 'vacuous', 'none enough')
    """
    if value is None:
        return NONE_ENOUGH
    return VACUOUS if vacuous(quantity, value) else brief(value, 3)


def chance(value: str) -> str:
    """Write a claimed probability p/q; a long q is rounded down, so that p/q is rounded up.

    >>> chance("1/969"), chance("1/15509838039038279729")
    ('1/969', '1/1.55e19')
    """
    top, slash, bottom = value.partition("/")
    return f"{top}/{brief(parse(bottom, int, value, any_size=True), 3)}" if slash else value


def vacuous(quantity: str, value: Fraction | int) -> bool:
    """Return whether a claimed bound is trivial, by its quantity and its value.

    Lower bounds on queries and examples are vacuous up to 2, on steps, features and examples of
    low-degree learners up to 1, on an error or a probability at 0. Upper bounds on a success
    probability or an advantage are vacuous from 1 on. Dimensions, members and correlations bound no
    learner, and are never vacuous.

    >>> vacuous("stat-queries", 2), vacuous("stat-queries", 3), vacuous("sq-dimension", 1)
    (True, False, False)
    >>> vacuous("gd-noise-success", 1), vacuous("low-degree-advantage", Fraction(5, 7))
    (True, False)
    """
    if quantity.startswith("low-degree-examples"):
        return value == 1
    if quantity.startswith("low-degree-advantage") or quantity.endswith("-success"):
        return value >= 1
    if quantity.endswith(("-error", "-probability")):
        return value == 0
    return any(value <= limit for end, limit in _VACUOUS_UP_TO.items() if quantity.endswith(end))


def shown_number(value: Fraction | int) -> str:
    """Write a number; a long one by its first digits, followed by three dots.

    >>> shown_number(Fraction(2, 3)), shown_number(10**50), shown_number(Fraction(10**50, 3))
    ('2/3', '1.00...e50', '3.33333...e+49')
    """
    text = write(value := Fraction(value), ratio=True)
    if len(text) <= _FULL_LENGTH:
        return text
    text = brief(int(value), 3) if value.denominator == 1 else brief(value)
    head, _, exponent = text.partition("e")
    return f"{head}...e{exponent}" if exponent else f"{head}..."


def put_in(form: str, numbers: dict[str, Any], value: Fraction) -> Math | None:
    """Insert numbers into a closed form, for people; None if words or a rounded number remain.

    None too if nothing was inserted. A maximum with 0 is left out if the value is not 0.

    >>> numbers = {"success": Fraction(2, 3), "N": 1771, "K": 1, "r": 25}
    >>> formula = put_in("max(0, ceil((success N - K) / r))", numbers, Fraction(48))
    >>> print(formula, formula.latex)
    ⌈(2/3·1771 - 1)/25⌉ \\lceil (2/3 \\cdot 1771 - 1)/25\\rceil
    """
    text = form.partition(", r = ")[0].partition(", or ")[0]
    text = re.sub(r"^max\(0, (.*)\)$", r"\1", text) if value else text
    for name in sorted(numbers, key=len, reverse=True):
        number = numbers[name] if isinstance(numbers[name], str) else shown_number(numbers[name])
        before, put = text, f"({number})" if "/" in number else number
        here = rf"(?<![\w.]){re.escape(name)}"
        text = re.sub(rf"(?<=/ ){re.escape(name)}(?!\w)|{here}(?=\^| /)", put, text)
        text = re.sub(rf"{here}(?![\w(])", number, text)
        text = text.replace("log_L", f"log_{number}") if name == "L" else text
        if text != before and "..." in number and Fraction(numbers[name]).denominator > 1:
            return None
    text = text.replace(" / ", "/").replace("binomial(", "C(")
    text = re.sub(r"(?<=[\w)]) (?=[\w(])", "·", text)
    text = re.sub(r"(·|/)1(?=[) ]|$)", "", text)
    text = re.sub(r"(?<!\w)\((\d+)\)|^\(([\d/]+)\)$", r"\1\2", text)
    while call := re.search(r"(floor|ceil|sqrt)\(", text):
        depth, end = 1, call.end()
        while depth:
            depth, end = depth + {"(": 1, ")": -1}.get(text[end], 0), end + 1
        left, right = _BRACKETS[call[1]]
        text = f"{text[: call.start()]}{left}{text[call.end() : end - 1]}{right}{text[end:]}"
    if text == form or re.search("[a-z]{2}", re.sub("min|max|log", "", text)):
        return None
    latex = re.sub(r"e\+?(-?\d+)", r" \\cdot 10^{\1}", text)
    latex = re.sub(
        r"(\^|_)(\w+)", r"\1{\2}", re.sub(r"C\((.*?), (.*?)\)", r"\\binom{\1}{\2}", latex)
    )
    latex = re.sub(r"(min|max|log)", r"\\\1", latex)
    for symbol, command in _LATEX.items():
        latex = latex.replace(symbol, command)
    return Math(text, latex.strip())
