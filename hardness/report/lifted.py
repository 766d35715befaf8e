"""What least squares on the features of linear attention found, in words."""

import textwrap
from typing import Any

Data = dict[str, Any]


def lifted_words(details: Data) -> str:
    """Write the features, their rank, what is unexplained, and how many heads there are.

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
    lines = [f"features {first}", f"left     {second}"]
    if "head_count" in details:
        lines.append(_heads(details["head_count"]))
    return "\n".join(lines)


def _heads(found: Data) -> str:
    tried, floor, elbow = len(found["residuals"]) - 1, found["floor"], found["elbow"]
    shares = ", ".join(f"{r:.1g}" for r in found["residuals"])
    noise = f"; noise leaves {floor:.1g}" if floor > 1e-20 else ""
    if elbow is None:
        said = f"no elbow up to {tried} heads"
        if tried >= found["generic"]:
            said += f", where {found['generic']} or a few more fit random coefficients"
    else:
        drop = f", {found['drop']:.2g} times less than one head less" if elbow else ""
        said = f"{elbow} are enough{drop}"
        if elbow >= found["generic"]:
            said += f" (as for random coefficients: {found['generic']} fit, by counting parameters)"
    text = (
        f"{said}; 0, 1, .. heads leave {shares} of the coefficients{noise}. Which heads they are "
        "cannot be told: mixtures of them are the same function"
    )
    return textwrap.fill(text, 80, initial_indent="heads    ", subsequent_indent=" " * 9)
