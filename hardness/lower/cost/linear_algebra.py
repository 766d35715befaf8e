"""Linear algebra: the secret as the solution of linear equations without error."""

from math import log2

from hardness.lower.cost.problem import Problem
from hardness.lower.cost.record import Estimate

NAME = "linear-algebra"


def linear_algebra(problem: Problem) -> Estimate:
    """Count n^3 operations on n samples. [Gaussian elimination: information]

    >>> from instances import parse
    >>> from hardness.lower.cost.problem import problem
    >>> linear_algebra(problem(parse("parity:d=65,m=7"))).bits
    18.0
    """
    if problem.errors is not None:
        return Estimate(
            name=NAME,
            kind="asymptotic formula",
            source="information",
            reason="the labels have errors or are rounded",
        )
    homogeneous = problem.labels > 1
    return Estimate(
        name=NAME,
        kind="asymptotic formula",
        source="information",
        bits=3 * log2(problem.n),
        sample_bits=log2(problem.n * problem.labels),
        memory_bits=2 * log2(problem.n),
        note="n^3 operations on n samples"
        + ("; finds the secret up to a factor" if homogeneous else ""),
    )
