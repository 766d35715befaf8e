"""Both sides together: runs of learners, their risks, and bounds over a range of sizes."""

from hardness.compare.both import Comparison, Cut, compare, distinct, values_of
from hardness.compare.game import Game, play
from hardness.compare.results import read_comparison, write_comparison
from hardness.compare.risk import Risk, measure
from hardness.compare.run import Run, run

__all__ = [
    "Comparison",
    "Cut",
    "Game",
    "Risk",
    "Run",
    "compare",
    "distinct",
    "measure",
    "play",
    "read_comparison",
    "run",
    "values_of",
    "write_comparison",
]
