"""Finite families given as functions, tables or lists of specs: bounds from their Gram matrix.

sources, unions → gram → known (caps, graph, clique, spectrum) → certificate
"""

from hardness.lower.finite.certificate import How, certify_finite, options, read_source
from hardness.lower.finite.sources import (
    FiniteFamily,
    functions,
    layers,
    of_family,
)
from hardness.lower.finite.unions import Union, read_union

__all__ = [
    "FiniteFamily",
    "How",
    "Union",
    "certify_finite",
    "functions",
    "layers",
    "of_family",
    "options",
    "read_source",
    "read_union",
]
