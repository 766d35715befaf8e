"""Scaling laws: how costs and certified numbers grow over the sizes run."""

from hardness.runs.scaling.certified import Certified, certified
from hardness.runs.scaling.fits import Fit, Scaling, scaling
from hardness.runs.scaling.laws import CONFIDENCE, Growth, Law, growth

__all__ = [
    "CONFIDENCE",
    "Certified",
    "Fit",
    "Growth",
    "Law",
    "Scaling",
    "certified",
    "growth",
    "scaling",
]
