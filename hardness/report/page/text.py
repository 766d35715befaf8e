"""Texts of a page: what anybody wrote shows as text, never steers the line, and is never too long.

Markup is made here and in the templates alone, and all that comes in is escaped.
"""

import json
import unicodedata
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from hardness.report.page.material import Cell
from hardness.report.text import number
from hardness.runs.names import brief_spec
from instances.numbers import brief, write

if TYPE_CHECKING:
    from pandas import DataFrame

_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, bidi and zero-width, surrogates, separators
_NAME, _PROSE = 56, 1200  # characters that stand in a line, and in a paragraph
_EXACT = 2**53  # integers that a browser's numbers hold


def harmless(text: str, keep: str = "") -> str:
    """Spell out the characters that hide or steer a line, other than those to keep.

    >>> harmless("a\\u202eb\\x00"), harmless("a\\nb", keep="\\n")
    ('a‹U+202E›b‹U+0000›', 'a\\nb')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        f"‹U+{ord(c):04X}›" if unicodedata.category(c) in _HIDDEN and c not in keep else c
        for c in text
    )


def short(text: str, limit: int = _NAME) -> str:
    """Shorten a text for a place that holds one line, with what it is short of.

    >>> short("mlp"), short("x" * 100, 10)
    ('mlp', 'xxxxxxxxxx… (100 characters)')
    """
    text = harmless(text)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters)"


def name(text: str) -> Markup:
    """Give a name apart from the direction of its line; one that is long folds."""
    return _folded(harmless(text), _NAME, "name")


def head(text: str) -> Markup:
    """Give a name where one line is all there is: what is long is shortened, and whole as title."""
    whole = harmless(text)
    if len(whole) <= _NAME:
        return Markup("<bdi>{}</bdi>").format(whole)
    return Markup('<bdi title="{}">{}</bdi>').format(whole, short(text))


def prose(text: str) -> Markup:
    """Give sentences apart from the direction of others; what is long folds."""
    return _folded(harmless(text, keep="\n"), _PROSE, "prose")


def _folded(text: str, limit: int, kind: str) -> Markup:
    if len(text) <= limit:
        return Markup('<bdi class="{}">{}</bdi>').format(kind, text)
    whole = Markup('<details class="long"><summary>{}</summary>{}</details>')
    head = Markup('<bdi class="{}">{}</bdi>').format(kind, f"{text[:limit]}…")
    body = Markup('<bdi class="{} whole">{}</bdi>').format(kind, text)
    return whole.format(head, body)


def value(given: Cell) -> Markup:
    """Give a cell of a table: a name, a number with its digits in threes, – for nothing."""
    if given is None or (isinstance(given, float) and given != given):
        return Markup("–")
    if isinstance(given, str):
        is_plain = len(given) <= _NAME and given.isascii() and given.isprintable()
        return escape(given) if is_plain else name(given)
    return Markup(figures(given))


def figures(given: float) -> str:
    """Write a number for a table; integers are exact.

    >>> figures(1234567), figures(2026), figures(0.012345), figures(2.0), figures(1.5e-9)
    ('1,234,567', '2026', '0.01235', '2', '1.5e-09')
    """
    whole = isinstance(given, int) or (given.is_integer() and abs(given) < _EXACT)
    if not whole:
        return f"{given:.4g}"
    if abs(given) >= 10**15:
        return str(given) if abs(given) < 10**40 else brief(int(given), 3)
    return f"{int(given):,}" if abs(given) >= 10_000 else str(int(given))


def filled(table: "DataFrame") -> "DataFrame":
    """Leave out the columns in which nothing stands."""
    return table.loc[:, (table.notna() & (table != "")).any()]


def numeric(table: "DataFrame") -> list[bool]:
    """Say of each column whether it holds numbers and no text: those stand to the right."""
    every = (table.iloc[:, i].dropna().tolist() for i in range(table.shape[1]))
    return [bool(found) and not any(isinstance(one, str) for one in found) for found in every]


def embedded(data: Any) -> Markup:
    """Write JSON that stands in a script element: nothing in it ends the element or opens one.

    >>> embedded(["</script>", "<!--"])
    Markup('["\\\\u003c/script\\\\u003e","\\\\u003c!--"]')
    """
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def columns(table: "DataFrame") -> list[dict[str, Any]]:
    """Lay a table out by columns for the script: texts by their number in a list of them."""
    found = []
    for name in table:
        cells = [_safe(one) for one in table[name]]
        held: dict[str, Any] = {"values": cells}
        if any(isinstance(one, str) for one in cells):
            places = {one: place for place, one in enumerate(dict.fromkeys(cells))}
            held = {"texts": list(places), "places": [places[one] for one in cells]}
        found.append({"name": name, **held})
    return found


def _safe(one: Cell) -> Cell:
    """Write as text the numbers that JSON, or a browser, does not hold."""
    if isinstance(one, str):
        return harmless(one)
    if isinstance(one, bool) or one is None:
        return str(one).lower() if isinstance(one, bool) else one
    if isinstance(one, int):
        return one if abs(one) < _EXACT else figures(one)
    return one if one - one == 0 else None if one != one else str(one)


def problem(text: str) -> Markup:
    """Give a spec without its defaults."""
    return name(brief_spec(text))


FILTERS = (name, head, prose, short, value, numeric, filled, problem, number, brief, write)
