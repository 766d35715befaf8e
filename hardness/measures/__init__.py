"""Measures of one function that are no bounds: leaps, weights, sensitivity."""

from hardness.measures.leap import information_exponent, leap, leap_of_masks

__all__ = ["information_exponent", "leap", "leap_of_masks"]
