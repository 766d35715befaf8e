"""Finite families given as functions or Gram matrices: SQ-DIM with evidence for both ends."""

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

__all__ = [
    "Bracket",
    "Colouring",
    "Gram",
    "Search",
    "Spectrum",
    "by_enumeration",
    "by_sampling",
    "by_spectra",
    "correlation_graph",
    "sq_dimension",
    "sq_dimension_exact",
]
