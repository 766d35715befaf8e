"""Both sides together: runs of learners, their risks, and bounds over a range of sizes."""

from typing import TYPE_CHECKING

from instances.lazy import lazily

if TYPE_CHECKING:
    from hardness.runs.attack import AttackResult, attack, attacks_on
    from hardness.runs.columns import table
    from hardness.runs.comparison import (
        Comparison,
        compare,
        distinct,
        usual,
        values_of,
    )
    from hardness.runs.distinguish import Distinction, distinguish
    from hardness.runs.game import Game, play
    from hardness.runs.growth import Scaling
    from hardness.runs.least import Least, LeastCell, Threshold, least
    from hardness.runs.planned import Cut
    from hardness.runs.risk import Risk, measure
    from hardness.runs.run import Run, learn_once, require_support, run
    from hardness.runs.spectrum import Attempt, Spectra, spectra
    from hardness.runs.stress import Climb, Stress, stress

__all__ = [
    "AttackResult",
    "Attempt",
    "Climb",
    "Comparison",
    "Cut",
    "Distinction",
    "Game",
    "Least",
    "LeastCell",
    "Risk",
    "Run",
    "Scaling",
    "Spectra",
    "Stress",
    "Threshold",
    "attack",
    "attacks_on",
    "compare",
    "distinct",
    "distinguish",
    "learn_once",
    "least",
    "measure",
    "play",
    "require_support",
    "run",
    "spectra",
    "stress",
    "table",
    "usual",
    "values_of",
]

lazily(__name__)
