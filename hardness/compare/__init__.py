"""Both sides together: runs of learners, their risks, and bounds over a range of sizes."""

from hardness.compare.both import Comparison, Interrupted, compare, values_of
from hardness.compare.results import read_comparison, write_comparison
from hardness.compare.risk import Risk, measure
from hardness.compare.run import Run, run

__all__ = [
    "Comparison",
    "Interrupted",
    "Risk",
    "Run",
    "compare",
    "measure",
    "read_comparison",
    "run",
    "values_of",
    "write_comparison",
]
