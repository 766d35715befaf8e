"""Which certified bounds say nothing: what any learner needs, and what everything satisfies."""

WORD = "vacuous"
# By what a quantity's name ends with, the largest bound from below that says nothing: any learner
# asks or sees something, takes a step, has a feature; and of queries and examples one more rules
# out nothing but learners that ask, or look, once.
_NEEDED = {"-queries": 2, "-floor": 2, "-steps": 1, "-features": 1}


def vacuous(quantity: str, value: int | str) -> bool:
    """Return whether a bound says nothing, by its quantity and its value, 0 or more, as in a claim.

    Queries and examples that are needed are vacuous up to 2, steps and features up to 1, a
    probability of success and an advantage from 1 on, an error at 0. A low-degree test that needs 0
    examples needs more than any number. Dimensions, members and correlations bound no learner, and
    are never vacuous.

    >>> vacuous("stat-queries", 2), vacuous("stat-queries", 3), vacuous("sq-dimension", 1)
    (True, False, False)
    >>> vacuous("gd-noise-success", "1"), vacuous("low-degree-advantage", "5/7")
    (True, False)
    """
    text = value if isinstance(value, str) else str(min(value, 10))  # of any number of digits
    if quantity.startswith("low-degree-examples"):
        return text == "1"
    if quantity.startswith("low-degree-advantage") or quantity.endswith("-success"):
        top, _, bottom = text.partition("/")
        return (len(top), top) >= (len(bottom or "1"), bottom or "1")
    if quantity.endswith("-error"):
        return text == "0"
    most = next((most for end, most in _NEEDED.items() if quantity.endswith(end)), -1)
    return len(text) == 1 and int(text) <= most
