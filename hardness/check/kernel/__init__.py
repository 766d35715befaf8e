"""The kernel is the one checker of proofs: `python -I -S hardness/check/kernel FILE`."""

from . import functions as functions
from . import rules as rules
from .core import (
    FORMAT,
    RULES,
    Fact,
    Refused,
    chance,
    check,
    intact,
    likely,
    load,
    prove,
    read,
    read_problem,
    short,
    take,
    written,
)
from .secret_laws import residues_of

__all__ = [
    "FORMAT",
    "RULES",
    "Fact",
    "Refused",
    "chance",
    "check",
    "intact",
    "likely",
    "load",
    "prove",
    "read",
    "read_problem",
    "residues_of",
    "short",
    "take",
    "written",
]
