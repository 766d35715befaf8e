"""Learners that are not built in: what a user's object may be, how it is named and loaded."""

from hardness.upper.plugins.estimator import Estimator
from hardness.upper.plugins.load import Adapted, adapt, load, template
from hardness.upper.plugins.module import Module
from hardness.upper.plugins.views import Function, function

__all__ = [
    "Adapted",
    "Estimator",
    "Function",
    "Module",
    "adapt",
    "function",
    "load",
    "template",
]
