"""Finite families given as functions, tables or lists of specs: bounds from their Gram matrix.

members, unions → gram → known (caps, graph, clique, spectrum) → certificate
"""

from hardness.lower.finite.certificate import How, certify_finite, options, read_source
from hardness.lower.finite.unions import Union, read_union
from hardness.lower.members import (
    Members,
    functions,
    layers,
    of_family,
)

__all__ = [
    "How",
    "Members",
    "Union",
    "certify_finite",
    "functions",
    "layers",
    "of_family",
    "options",
    "read_source",
    "read_union",
]
