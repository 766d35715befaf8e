"""Learners that users define: their kinds, names and loading."""

from hardness.learners.plugins.estimator import Estimator
from hardness.learners.plugins.load import Adapted, adapt, load, template
from hardness.learners.plugins.module import Module
from hardness.learners.plugins.views import Function, function

__all__ = ["Adapted", "Estimator", "Function", "Module", "adapt", "function", "load", "template"]
