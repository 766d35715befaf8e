"""What an instance costs to break: exact counts and the literature's formulas."""

from hardness.lower.cost.attacks import estimate
from hardness.lower.cost.record import Estimate, Estimates

__all__ = ["Estimate", "Estimates", "estimate"]
