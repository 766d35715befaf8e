"""What the bounds say about named learners: kernels, gradient descent, low-degree polynomials."""

from hardness.lower.named.asked import Asked
from hardness.lower.named.batch import BatchDescent
from hardness.lower.named.certificate import certify_named
from hardness.lower.named.descent import NoisyDescent, RoundedDescent, WorstDescent
from hardness.lower.named.kernel import Kernel, filled, least_error, least_features
from hardness.lower.named.ratio import LowDegree, Ratio, thresholds
from hardness.lower.named.unknown import NoClaim, Unknown

__all__ = [
    "Asked",
    "BatchDescent",
    "Kernel",
    "LowDegree",
    "NoClaim",
    "NoisyDescent",
    "Ratio",
    "RoundedDescent",
    "Unknown",
    "WorstDescent",
    "certify_named",
    "filled",
    "least_error",
    "least_features",
    "thresholds",
]
