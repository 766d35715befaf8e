"""Finite families given as functions or Gram matrices: SQ-DIM with evidence for both ends."""

from hardness.lower.finite.certificate import How, certify_finite, options
from hardness.lower.finite.gram import Gram, by_enumeration, by_sampling, by_spectra
from hardness.lower.finite.graph import (
    Bracket,
    Colouring,
    Search,
    Spectrum,
    correlation_graph,
    sq_dimension,
    sq_dimension_exact,
)
from hardness.lower.finite.sources import FiniteFamily, functions, layers, read_source
from hardness.lower.finite.unions import Union, read_union

__all__ = [
    "Bracket",
    "Colouring",
    "FiniteFamily",
    "Gram",
    "How",
    "Search",
    "Spectrum",
    "Union",
    "by_enumeration",
    "by_sampling",
    "by_spectra",
    "certify_finite",
    "correlation_graph",
    "functions",
    "layers",
    "options",
    "read_source",
    "read_union",
    "sq_dimension",
    "sq_dimension_exact",
]
