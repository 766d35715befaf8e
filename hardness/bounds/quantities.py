"""What is claimed, in words, and which bounds say nothing."""

from fractions import Fraction

from instances.numbers import brief, parse

WORD = "vacuous"
# By what a quantity's name ends with, the largest bound from below that says nothing: any learner
# asks or sees something, takes a step, has a feature; and of queries and examples one more rules
# out nothing but learners that ask, or look, once.
_NEEDED = {"-queries": 2, "-floor": 2, "-steps": 1, "-features": 1}
NONE_ENOUGH = "none enough"


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
    return WORD if vacuous(quantity, value) else brief(value, 3)


def chance(value: str) -> str:
    """Write a claimed probability p/q; a long q rounded down, so the probability up.

    >>> chance("1/969"), chance("1/15509838039038279729")
    ('1/969', '1/1.55e19')
    """
    top, slash, bottom = value.partition("/")
    return f"{top}/{brief(parse(bottom, int, value, any_size=True), 3)}" if slash else value


def vacuous(quantity: str, value: Fraction | int) -> bool:
    """Return whether a bound says nothing, by its quantity and its value, 0 or more, as in a claim.

    Queries and examples that are needed are vacuous up to 2, steps and features up to 1, a
    probability of success and an advantage from 1 on, an error at 0. Dimensions, members and
    correlations bound no learner, and are never vacuous.

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
    return any(value <= most for end, most in _NEEDED.items() if quantity.endswith(end))
