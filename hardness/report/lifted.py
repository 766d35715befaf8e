"""What least squares on the features of linear attention found, in words."""

from typing import Any

Data = dict[str, Any]


def lifted_words(details: Data) -> str:
    """Write the features, their rank, and what is unexplained.

    >>> print(lifted_words({"features": 18, "rank": 12, "expected_rank": 18, "examples_given": 6,
    ...     "examples_needed": 9, "unexplained": None}))
    features 18, their rank 12 of 18: 6 examples given, 9 needed at least
    left     not known: no more rows than the rank, so any labels would be fitted
    """
    rank, expected, count = (details[n] for n in ("rank", "expected_rank", "features"))
    given, needed = details["examples_given"], details["examples_needed"]
    few = f"{given} examples given, {needed} needed at least"
    if rank < expected:
        first = f"{count}, their rank {rank} of {expected}: {few}"
    else:
        first = f"{count}, their rank {rank}: all that the tokens can tell; {few}"
    left = details["unexplained"]
    second = (
        "not known: no more rows than the rank, so any labels would be fitted"
        if left is None
        else f"{left:.2g} of the labels' second moment, per degree of freedom of the rows"
    )
    return f"features {first}\nleft     {second}"
