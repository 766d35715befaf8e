"""Measures of one function that are no bounds: leaps, weights, sensitivity."""
