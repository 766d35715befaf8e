"""Measures of one function that are no bounds: leaps, weights, sensitivity."""

from hardness.measures.approximate import approximate_values
from hardness.measures.leap import information_exponent, leap, leap_of_masks
from hardness.measures.levels import level_weights, sq_leap
from hardness.measures.sensitivity import average_sensitivity, noise_sensitivity
from hardness.measures.weights import (
    degree,
    least_degree,
    shares,
    stability,
    total_influence,
    weights,
)

__all__ = [
    "approximate_values",
    "average_sensitivity",
    "degree",
    "information_exponent",
    "leap",
    "leap_of_masks",
    "least_degree",
    "level_weights",
    "noise_sensitivity",
    "shares",
    "sq_leap",
    "stability",
    "total_influence",
    "weights",
]
