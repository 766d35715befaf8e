"""Brute force: every candidate secret against the samples."""

from math import log2

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate


def brute_force(problem: Problem) -> Estimate:
    """Count the candidates, exactly, and the labels that single one out. [information]

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> found = brute_force(problem(parse("parity:d=101,m=4")))
    >>> round(2**found.bits), found.samples
    (3921225, 22)
    """
    return Estimate(
        name="brute-force",
        kind="exact count",
        source="information",
        bits=log2(problem.size),
        sample_bits=log2(problem.unique),
        memory_bits=log2(max(1, problem.n)),
        note="one operation a candidate; the samples are those that leave one candidate on average",
    )
