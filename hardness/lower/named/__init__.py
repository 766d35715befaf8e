"""What the bounds say about named learners: kernels, gradient descent, low-degree polynomials.

members → kernel | descent | ratio → certificate
"""

from hardness.lower.named.certificate import Asked, certify_named, certify_unknown
from hardness.lower.named.descent import BatchDescent, NoisyDescent, RoundedDescent, WorstDescent
from hardness.lower.named.kernel import Kernel, filled, least_error, least_features
from hardness.lower.named.members import ListedMembers, Unknown
from hardness.lower.named.ratio import LowDegree, Ratio, thresholds
from hardness.lower.record import NoClaim

__all__ = [
    "Asked",
    "BatchDescent",
    "Kernel",
    "ListedMembers",
    "LowDegree",
    "NoClaim",
    "NoisyDescent",
    "Ratio",
    "RoundedDescent",
    "Unknown",
    "WorstDescent",
    "certify_named",
    "certify_unknown",
    "filled",
    "least_error",
    "least_features",
    "thresholds",
]
