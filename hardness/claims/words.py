"""Numbers that are claimed, in words."""

from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal, localcontext

from hardness.claims.vacuous import WORD, vacuous
from instances.parameters import whole
from instances.text import decimal, shortened

NONE_ENOUGH = "none enough"


def counted(number: int | str, noun: str) -> str:
    """Write a number of things, whose plural is given and ends in s.

    >>> counted(1, "steps"), counted(20, "steps")
    ('1 step', '20 steps')
    """
    return f"{shortened(number)} {noun.removesuffix('s') if str(number) == '1' else noun}"


def big(value: int) -> str:
    """Write an integer of any size.

    >>> big(455), big(10**50)
    ('455', '1.00e50')
    """
    if value < 10**7:
        return str(value)
    text = decimal(value)
    return f"{text[0]}.{text[1:3]}e{len(text) - 1}"


def digits(value: str, up: bool = False, places: int = 6) -> str:
    """Write a fraction p/q by its first digits, rounded down, or `up` as an upper bound.

    >>> digits("2/3"), digits("2/3", up=True)
    ('0.666666', '0.666667')
    """
    top, _, bottom = value.partition("/")
    with localcontext(Context(places, ROUND_CEILING if up else ROUND_FLOOR, MIN_EMIN, MAX_EMAX)):
        return f"{Decimal(top) / Decimal(bottom or 1):g}"


def is_upper(quantity: str) -> bool:
    """Whether what is claimed of a quantity bounds it from above: it is rounded up.

    >>> is_upper("stat-success"), is_upper("stat-queries")
    (True, False)
    """
    return quantity.startswith("low-degree-advantage") or quantity.endswith(
        ("-success", "-at-most", "-correlation")
    )


def bound(quantity: str, value: int | None) -> str:
    """Write what is certified of a quantity, or that it is vacuous; None: no number is enough.

    >>> bound("stat-queries", 455), bound("stat-queries", 2), bound("stat-queries", None)
    ('455', 'vacuous', 'none enough')
    """
    if value is None:
        return NONE_ENOUGH
    return WORD if vacuous(quantity, value) else big(value)


def chance(value: str) -> str:
    """Write a claimed probability p/q; a long q rounded down, so the probability up.

    >>> chance("1/969"), chance("1/15509838039038279729")
    ('1/969', '1/1.55e19')
    """
    top, slash, bottom = value.partition("/")
    return f"{top}/{big(whole(bottom))}" if slash else value
