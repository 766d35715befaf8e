"""The problem that a family's certificate is about, in the numbers that the checker reads.

Makers pose it, and a certificate has to pose that of the spec that it names.
"""

from fractions import Fraction
from typing import Any

from hardness.bounds.checker import written
from instances.family import Family
from instances.spec import built_in


def certified_problem(family: Family) -> tuple[Family, dict[str, Any]] | None:
    """Find the family that a certificate names, and its problem; None if no theorem is about it.

    A certificate names a family of the package: one of a user's file as it is written without that
    file. Raises UsageError for parameters of which nothing is proved.

    >>> from instances import parse
    >>> about, problem = certified_problem(parse("parity:d=8,m=3"))
    >>> about.spec, problem["values"]
    ('parity:d=8,m=3,noise=0,rho=3', ['1', '-1', '1', '-1'])
    """
    about = family.certified_as()
    problem = about.problem() if built_in(about) else None
    return (about, in_numbers(problem)) if problem else None


def in_numbers(data: Any) -> Any:
    """Write the fractions of a problem as a certificate holds them."""
    if isinstance(data, dict):
        return {key: in_numbers(value) for key, value in data.items()}
    if isinstance(data, list):
        return [in_numbers(value) for value in data]
    return written(data) if isinstance(data, Fraction) else data
